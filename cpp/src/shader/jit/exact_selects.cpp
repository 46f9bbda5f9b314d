// shader/jit/exact_selects.cpp -- see exact_selects.hpp.
#include "shader/jit/exact_selects.hpp"

#include <llvm-c/Core.h>

namespace tilegpu::shader {
namespace {

/// Integers of as many bits, in as many lanes; null: no floats.
LLVMTypeRef bits_of(LLVMContextRef context, LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
      return LLVMInt16TypeInContext(context);
    case LLVMFloatTypeKind:
      return LLVMInt32TypeInContext(context);
    case LLVMDoubleTypeKind:
      return LLVMInt64TypeInContext(context);
    case LLVMVectorTypeKind:
      if (LLVMTypeRef lane = bits_of(context, LLVMGetElementType(type))) return LLVMVectorType(lane, LLVMGetVectorSize(type));
      return nullptr;
    default:
      return nullptr;
  }
}

void choose_by_bits(LLVMContextRef context, LLVMBuilderRef builder, LLVMValueRef choice) {
  LLVMValueRef condition = LLVMGetOperand(choice, 0);
  LLVMTypeRef type = LLVMTypeOf(choice), bits = bits_of(context, type);
  if (!bits || !LLVMIsAFCmpInst(condition)) return;
  LLVMPositionBuilderBefore(builder, choice);
  LLVMValueRef yes = LLVMBuildBitCast(builder, LLVMGetOperand(choice, 1), bits, "");
  LLVMValueRef no = LLVMBuildBitCast(builder, LLVMGetOperand(choice, 2), bits, "");
  LLVMValueRef same = LLVMBuildBitCast(builder, LLVMBuildSelect(builder, condition, yes, no, ""), type, "");
  LLVMReplaceAllUsesWith(choice, same);
  LLVMInstructionEraseFromParent(choice);
}

}  // namespace

void choose_by_bits(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
      for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;) {
        LLVMValueRef next = LLVMGetNextInstruction(at);
        if (LLVMIsASelectInst(at)) choose_by_bits(context, builder, at);
        at = next;
      }
    }
  }
  LLVMDisposeBuilder(builder);
}

}  // namespace tilegpu::shader
