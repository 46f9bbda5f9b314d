// shader/jit/quick_constants.cpp -- see quick_constants.hpp.
#include "shader/jit/quick_constants.hpp"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <cassert>
#include <unordered_map>

namespace tilegpu::shader {
namespace {

/// Operations that every operand may reach in a register. Not divisions of integers: those by constants become multiplications, and no CPU
/// divides vectors of them.
bool takes_registers(LLVMValueRef instruction) {
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMStore:
      return true;
    case LLVMCall:  // immediate operands of intrinsics are scalars
      return LLVMIsAFunction(LLVMGetCalledValue(instruction)) != nullptr;
    default:
      return false;
  }
}

}  // namespace

void load_constants(LLVMModuleRef module) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  std::unordered_map<LLVMValueRef, LLVMValueRef> places;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (!takes_registers(i)) continue;
        for (int k = 0; k < LLVMGetNumOperands(i); ++k) {
          LLVMValueRef constant = LLVMGetOperand(i, static_cast<unsigned>(k));
          if (!LLVMIsAConstantDataVector(constant)) continue;
          LLVMTypeRef type = LLVMTypeOf(constant);
          const auto align_B = static_cast<unsigned>(LLVMABIAlignmentOfType(layout, type));
          LLVMValueRef& place = places[constant];
          if (!place) {
            place = LLVMAddGlobal(module, type, "constant");
            LLVMSetInitializer(place, constant);
            LLVMSetLinkage(place, LLVMPrivateLinkage);
            LLVMSetGlobalConstant(place, 1);
            LLVMSetAlignment(place, align_B);
          }
          LLVMPositionBuilderBefore(builder, i);
          LLVMValueRef loaded = LLVMBuildLoad2(builder, type, place, "");
          LLVMSetAlignment(loaded, align_B);
          LLVMSetOperand(i, static_cast<unsigned>(k), loaded);
        }
      }
    }
  }
  LLVMDisposeBuilder(builder);
}

}  // namespace tilegpu::shader
