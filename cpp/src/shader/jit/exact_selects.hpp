// shader/jit/exact_selects.hpp -- a choice between two floats by a comparison stays one.
//
// In: a module after its last pass. Out: the same code; what a comparison of floats chooses between is integers of the same bits.
// LLVM takes `x < c ? x : c` for a minimum where c is no NaN, and where the processor has one: AArch64's fminnm and fmaxnm, which make a
// quiet NaN of a signalling one and take -0 for less than +0. x86's minps is the choice itself, bit for bit, so x86 has no need of this. A
// vector of either type is chosen by the same instruction. Source: LLVM 19, SelectionDAGBuilder::visitSelect and matchSelectPattern; Arm
// Architecture Reference Manual, FMINNM (FPMinNum).
#pragma once

#include <llvm-c/Types.h>

namespace tilegpu::shader {

void choose_by_bits(LLVMModuleRef module);

}  // namespace tilegpu::shader
