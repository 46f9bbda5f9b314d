// shader/jit/jit_emit.hpp -- from a module of IR to an object file: LLVM's passes and code generation.
//
// In: a verified module in a context of its own, a target machine that nobody else uses at the moment. Out: the object's bytes, which refer
// to nothing but memset, memcpy and memmove, checked code to its runtime too. Source: docs/decisions.md, 40.
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

enum class Tier : uint8_t { quick, optimised };

/// A function's frame on the stack, what is spilled included. Half of the smallest stack that functions are called on
/// (device/submit.cpp); every page of a frame is touched in order, so that a guard page is met. Variables may not take more; what quick
/// code spills may (deep_frame.hpp).
inline constexpr uint32_t kMaxStackFrame_B = 512u << 10;

/// Errors of LLVM are kept as text; without a handler LLVM ends the process at the first.
struct ContextHolder {
  LLVMContextRef context = LLVMContextCreate();
  std::string messages;
  uint64_t frame_B = 0, frames_B = 0;  // the largest that LLVM has warned of; all of these
  ContextHolder();
  void add_frame(uint64_t size_B) { frame_B = std::max(frame_B, size_B), frames_B += size_B; }
  ContextHolder(const ContextHolder&) = delete;
  ~ContextHolder() { LLVMContextDispose(context); }
};

/// A module in a context of its own.
struct Work {
  ContextHolder holder;
  LLVMModuleRef module = nullptr;
  Work() = default;
  Work(const Work&) = delete;
  ~Work() {
    if (module) LLVMDisposeModule(module);
  }
};

struct EmitOptions {
  std::string dump_directory;  // "": none. Else gets IR before and after the passes, and assembly
  uint32_t lanes = 0;
  bool wide_schedule = false;  // see jit_schedule.hpp
  bool checked = false;        // see checked_code.hpp
  uint32_t sve_bits = 0;       // see jit_target.hpp
};

/// `name`: of the function, `kind`: for messages, dumps and what kinds of functions are treated differently. A frame that is too large is
/// VK_ERROR_OUT_OF_DEVICE_MEMORY.
Expected<std::string> emit_object(Work& work, Tier of, LLVMTargetMachineRef machine, const std::string& name, const char* kind,
                                  const EmitOptions& options);
/// Whether the quick code's frame is far below kMaxStackFrame_B, by what the IR has.
bool has_small_frame(LLVMModuleRef module, uint32_t sve_bits);
/// Whether LLVM's optimised code generation would take minutes: how long values live is worked out by blocks, and its time grows as their
/// square (500 scattered stores in the cases of a switch are 17,000 blocks and 13 s). Quick code does for such.
bool has_too_many_blocks(LLVMModuleRef module);
inline constexpr uint32_t kMostOptimisedBlocks = 8192;
/// Of optimised code, as text: what determines it beside the module and the target.
std::string pass_pipelines();

}  // namespace tilegpu::shader
