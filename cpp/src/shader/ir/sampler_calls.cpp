// shader/ir/sampler_calls.cpp -- sampler calls of optimised code: alpha that nobody uses is not asked for.
//
// In: a module after its passes, when variables have become values and unused ones are gone. Out: the same module; calls whose result's
// alpha has no use have kWithoutAlpha in their mask.
#include <cstring>
#include <string>

#include "shader/ir/sampler_types.hpp"

namespace tilegpu::shader {
namespace {

constexpr const char* kMaskAttribute = "tilegpu-mask";
constexpr auto kOfFunction = static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex);

bool uses_alpha(Value call) {
  for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use)) {
    Value user = LLVMGetUser(use);
    if (!LLVMIsAExtractValueInst(user) || LLVMGetIndices(user)[0] == 3) return true;
  }
  return false;
}

}  // namespace

void mark_alpha_optional(const Ir& ir, Value call, uint32_t mask_index) {
  const std::string index = std::to_string(mask_index);
  LLVMAddCallSiteAttribute(call, kOfFunction,
                           LLVMCreateStringAttribute(ir.context, kMaskAttribute, static_cast<unsigned>(std::strlen(kMaskAttribute)),
                                                     index.c_str(), static_cast<unsigned>(index.size())));
}

void leave_out_alpha(LLVMModuleRef module) {
  LLVMBuilderRef builder = nullptr;
  for (Value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (Block b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      for (Value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsACallInst(i)) continue;
        LLVMAttributeRef mark =
            LLVMGetCallSiteStringAttribute(i, kOfFunction, kMaskAttribute, static_cast<unsigned>(std::strlen(kMaskAttribute)));
        if (!mark || uses_alpha(i)) continue;
        unsigned length = 0;
        const char* text = LLVMGetStringAttributeValue(mark, &length);
        const auto index = static_cast<unsigned>(std::stoul(std::string(text, length)));
        if (!builder) builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
        LLVMPositionBuilderBefore(builder, i);
        Value mask = LLVMGetOperand(i, index);
        LLVMSetOperand(i, index, LLVMBuildOr(builder, mask, LLVMConstInt(LLVMTypeOf(mask), kWithoutAlpha, 0), ""));
      }
    }
  }
  if (builder) LLVMDisposeBuilder(builder);
}

}  // namespace tilegpu::shader
