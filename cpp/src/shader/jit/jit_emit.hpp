// shader/jit/jit_emit.hpp -- from a module of IR to an object file: LLVM's passes and code generation.
//
// In: a verified module in a context of its own, a target machine that nobody else uses at the moment. Out: the object's bytes, which refer
// to nothing but memset, memcpy and memmove. Source: docs/decisions.md, 40.
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <cstdint>
#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

enum class Tier : uint8_t { quick, optimised };

/// Errors of LLVM are kept as text; without a handler LLVM ends the process at the first.
struct ContextHolder {
  LLVMContextRef context = LLVMContextCreate();
  std::string messages;
  ContextHolder();
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
};

/// `name`: of the function, `kind`: for messages, dumps and what kinds of functions are treated differently.
Expected<std::string> emit_object(Work& work, Tier of, LLVMTargetMachineRef machine, const std::string& name, const char* kind,
                                  const EmitOptions& options);
/// Of optimised code, as text: what determines it beside the module and the target.
std::string pass_pipelines();

}  // namespace tilegpu::shader
