// shader/jit/jit_emit.cpp -- see jit_emit.hpp.
#include "shader/jit/jit_emit.hpp"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#include "shader/ir/ir_builder.hpp"
#include "shader/ir/lane_access.hpp"
#include "shader/ir/promote.hpp"
#include "shader/ir/sampler_types.hpp"
#include "shader/ir/split_packets.hpp"
#include "shader/ir/unkept_values.hpp"
#include "shader/ir/unseen_sums.hpp"
#include "shader/jit/checked_code.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/deep_frame.hpp"
#include "shader/jit/exact_selects.hpp"
#include "shader/jit/jit.hpp"
#include "shader/jit/jit_schedule.hpp"
#include "shader/jit/jit_target.hpp"
#include "shader/jit/object_file.hpp"
#include "shader/jit/quick_constants.hpp"
#include "shader/jit/sve_code.hpp"

namespace tilegpu::shader {
namespace {

// SPIR-V-shaped IR is variables and redundant scalar code; vectorisers, loop and inter-procedural passes find nothing in it.
// instcombine's fixpoint check is a fatal error in LLVM 19 unless it is turned off. Between the two variables become values.
constexpr const char* kInlinePasses = "always-inline";
constexpr const char* kPasses = "function(sroa,early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,simplifycfg,early-cse,dce)";
constexpr const char* kSlicePasses =
    "function(adce,simplifycfg,loop(loop-deletion),instcombine<no-verify-fixpoint;max-iterations=1>,adce,simplifycfg<no-keep-loops>)";
constexpr const char* kSplitPasses = "function(early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,dce)";
constexpr const char* kMergePasses = "function(early-cse,dce)";  // after skip_unseen_sums
constexpr const char* kHoistPasses = "function(loop-mssa(licm))";
// With code generation that optimises nothing these pay for themselves. What a shader's variables are made of is scalars and vectors: sroa
// finds no more than promote_variables(), in several times the time.
constexpr const char* kQuickPasses = "function(early-cse,dce)";

// Once it is known which lanes reach memory in order, one of the two ways is left. Coroutines are split last: what is a value by then needs
// no place in their frames, and what is left of their frames' loads and stores is tidied up.
constexpr const char* kAnsweredPasses = "function(simplifycfg,early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,dce)";
constexpr const char* kCoroutinePasses = "coro-early,cgscc(coro-split),coro-cleanup,globaldce";
constexpr const char* kResumedPasses = "function(sroa,early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,simplifycfg,dce)";

// LLVM's DiagnosticInfoStackSize ("warn-stack-size").
constexpr const char* kFrameText = "stack frame size (";

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

std::string take_error(LLVMErrorRef e) {
  char* message = LLVMGetErrorMessage(e);
  std::string text = message;
  LLVMDisposeErrorMessage(message);
  return text;
}

}  // namespace

ContextHolder::ContextHolder() {
  LLVMContextSetDiagnosticHandler(
      context,
      [](LLVMDiagnosticInfoRef info, void* self) {
        ContextHolder& holder = *static_cast<ContextHolder*>(self);
        const std::string text = take_message(LLVMGetDiagInfoDescription(info));
        if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) holder.messages += text + "; ";
        const size_t frame = text.find(kFrameText);
        if (LLVMGetDiagInfoSeverity(info) == LLVMDSWarning && frame != std::string::npos)
          holder.add_frame(std::strtoull(text.c_str() + frame + std::strlen(kFrameText), nullptr, 10));
      },
      this);
}

/// Of variables, and of every value if it has a place of `value_B`.
static uint64_t places_B(LLVMModuleRef module, uint64_t value_B) {
  assert(module);
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  uint64_t frame_B = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        frame_B += LLVMIsAAllocaInst(i) ? LLVMABISizeOfType(layout, LLVMGetAllocatedType(i)) : value_B;
  return frame_B;
}

bool has_small_frame(LLVMModuleRef module, uint32_t sve_bits) {
  // Quick code gives nearly every value a place in the frame, of a vector's size at most; registers of SVE are spilled whole.
  return places_B(module, std::max(64u, sve_bits / 8)) < kMaxStackFrame_B;
}

bool has_too_many_blocks(LLVMModuleRef module) {
  assert(module);
  uint64_t blocks = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) blocks += LLVMCountBasicBlocks(f);
  return blocks > kMostOptimisedBlocks;
}

std::string pass_pipelines() {
  std::string all = kPasses;
  for (const char* more :
       {kInlinePasses, kSlicePasses, kMergePasses, kSplitPasses, kHoistPasses, kAnsweredPasses, kCoroutinePasses, kResumedPasses})
    all += std::string(";") + more;
  return all;
}

/// LLVM's and our own, as far as the compile goes on. Code of loops that a slice needs no more, or where much is the same each time, has
/// more.
static LLVMErrorRef run_passes(LLVMModuleRef module, Tier of, LLVMTargetMachineRef machine, const std::string& name, uint32_t lanes) {
  LLVMPassBuilderOptionsRef pass_options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = nullptr;
  const auto run_more = [&](const char* passes) {
    if (!failed && compile_goes_on()) failed = LLVMRunPasses(module, passes, machine, pass_options);
  };
  if (of == Tier::optimised) run_more(kInlinePasses);
  if (!failed) promote_variables(module);
  run_more(of == Tier::quick ? kQuickPasses : kPasses);
  if (!failed && of == Tier::optimised && skip_unseen_sums(module)) run_more(kMergePasses);
  if (!failed && of == Tier::optimised) skip_unkept_values(module);
  if (!failed && answer_lane_steps(module)) run_more(of == Tier::quick ? "function(simplifycfg)" : kAnsweredPasses);
  if (LLVMGetNamedFunction(module, "llvm.coro.begin")) {
    run_more(kCoroutinePasses);
    if (of == Tier::optimised) run_more(kResumedPasses);
  }
  LLVMValueRef function = LLVMGetNamedFunction(module, name.c_str());
  assert(failed || function);  // build_ir has seen it
  constexpr auto kOfFunction = static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex);
  const auto is_marked = [&](const char* mark) {
    return LLVMGetStringAttributeAtIndex(function, kOfFunction, mark, static_cast<unsigned>(std::strlen(mark))) != nullptr;
  };
  // With mask registers: without them a mask is a vector like any other.
  if (!failed && of == Tier::optimised && is_marked(kPacketsMark) && LLVMGetModuleFlag(module, kWideFlag.data(), kWideFlag.size()) &&
      split_packets(function, lanes))
    run_more(kSplitPasses);
  const unsigned slice = LLVMGetEnumAttributeKindForName(kSliceAttribute, std::strlen(kSliceAttribute));
  if (!failed && LLVMGetEnumAttributeAtIndex(function, kOfFunction, slice))
    failed = LLVMRunPasses(module, kSlicePasses, machine, pass_options);
  if (!failed && of == Tier::optimised && is_marked(kHoistMark)) failed = LLVMRunPasses(module, kHoistPasses, machine, pass_options);
  LLVMDisposePassBuilderOptions(pass_options);
  return failed;
}

Expected<std::string> emit_object(Work& work, Tier of, LLVMTargetMachineRef machine, const std::string& name, const char* kind,
                                  const EmitOptions& options) {
  LLVMModuleRef module = work.module;
  assert(module && machine && name.size() > 3);
  char* message = nullptr;
  const std::string dump = options.dump_directory.empty()
                               ? ""
                               : options.dump_directory + "/" + kind + "_" + name.substr(3, 12) + "_" + std::to_string(options.lanes);
  auto write_ir = [&](const char* suffix) {
    char* problem = nullptr;
    if (LLVMPrintModuleToFile(module, (dump + suffix).c_str(), &problem) && problem) take_message(problem);
  };
  if (!dump.empty()) write_ir(".before.ll");
  const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f)) continue;
    // No exception passes through generated code: no unwind tables to register.
    LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                            LLVMCreateEnumAttribute(work.holder.context, nounwind, 0));
    // Registers of SVE are added to whatever it is.
    add_text_attribute(f, "warn-stack-size", std::to_string(options.sve_bits ? 0 : kMaxStackFrame_B).c_str());
    add_text_attribute(f, "probe-stack", "inline-asm");
  }
  if (options.sve_bits) set_register_bits(module, options.sve_bits);
  LLVMErrorRef failed = run_passes(module, of, machine, name, options.lanes);
  LLVMValueRef function = LLVMGetNamedFunction(module, name.c_str());
  assert(failed || function);  // build_ir has seen it
  if (!failed && !compile_goes_on()) return compile_interrupted(std::string("the code for ") + kind);
  const auto is = [kind](const char* one) { return !std::strcmp(kind, one); };
  if (options.wide_schedule && of == Tier::optimised && (is("fragment") || is("pixels") || is("sampler")))
    add_text_attribute(function, kWideSchedule);
  // LLVM aligns the stack for vectors that it knows of before it gives out registers. Those that it spills then, as what the loop over
  // blocks keeps around the calls of samplers, would lie across two cache lines each.
  if (of == Tier::optimised && is("blocks")) add_text_attribute(function, "stackrealign");
  if (!failed && of == Tier::optimised) join_samples(module);
  if (!failed) leave_out_alpha(module);
  if (!failed && !kX86) choose_by_bits(module);
  if (!failed && options.sve_bits) use_whole_registers(module, options.sve_bits);
  if (!failed && of == Tier::quick) load_constants(module);
  // Large variables are the shader's own, which is told of them; what quick code spills beside is not its fault.
  const bool is_deep =
      !failed && of == Tier::quick && !options.sve_bits && !has_small_frame(module, 0) && places_B(module, 0) < kMaxStackFrame_B;
  if (is_deep) put_behind_deep_entry(module, function);
  if (!failed && options.checked) failed = add_checks(module, machine);
  if (failed) return error("LLVM passes: " + take_error(failed));
  if (!dump.empty()) {
    write_ir(".after.ll");
    LLVMModuleRef copy = LLVMCloneModule(module);  // code generation changes the module
    if (LLVMTargetMachineEmitToFile(machine, copy, const_cast<char*>((dump + ".s").c_str()), LLVMAssemblyFile, &message))
      take_message(message);
    message = nullptr;
    LLVMDisposeModule(copy);
  }
  LLVMMemoryBufferRef buffer = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &buffer))
    return error("LLVM code generation: " + take_message(message));
  std::string object(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  if (!work.holder.messages.empty()) return error("LLVM code generation: " + work.holder.messages);
  const uint64_t frame_B = work.holder.frame_B + (options.sve_bits ? spilled_registers_B(object, options.sve_bits) : 0);
  if (is_deep) {
    const uint64_t needed_B = work.holder.frames_B + kMaxStackFrame_B;  // those that it has not warned of
    if (needed_B <= kMaxDeepFrame_B && !set_deep_frame(object, needed_B))
      return error("LLVM code generation: no place for the frame's size");
  }
  if (is_deep ? work.holder.frames_B + kMaxStackFrame_B > kMaxDeepFrame_B : frame_B > kMaxStackFrame_B)
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY, std::string("the code for ") + kind + " needs " + std::to_string(frame_B) +
                                                    " bytes of stack, for variables and values that are alive at once; at most " +
                                                    std::to_string(kMaxStackFrame_B) + " are allowed"};
  Expected<std::string> foreign = foreign_symbol(object);
  if (!foreign) return foreign.error();
  if (!foreign->empty())
    return error(std::string("generated code for ") + kind + " calls '" + *foreign + "', which no library of tilegpu provides");
  return object;
}

}  // namespace tilegpu::shader
