// shader/jit/sve_code.hpp -- code for SVE's registers of a length that is known: what LLVM is told before, and what it doesn't tell after.
//
// In: a module, the registers' length; an object. Out: attributes; bytes of stack. Vectors stay of a fixed number of lanes: with a length
// LLVM makes one of SVE's instructions, for as many lanes, where it makes several of NEON's otherwise. Source: LLVM Language Reference,
// vscale_range; Arm Architecture Reference Manual, ADDVL; docs/decisions.md, 436.
#pragma once

#include <llvm-c/Types.h>

#include <cstdint>
#include <string>

namespace tilegpu::shader {

/// All functions of the module may use registers of so many bits, a multiple of 128.
void set_register_bits(LLVMModuleRef module, uint32_t sve_bits);
/// What LLVM 19 does lane by lane in vectors that are longer than NEON's: conversions of floats to integers that saturate, and masks as
/// words. After all passes.
void use_whole_registers(LLVMModuleRef module, uint32_t sve_bits);
/// Stack of whole registers, as they are spilled: an upper bound over the functions of the object. LLVM leaves them out of the size that it
/// warns by.
uint64_t spilled_registers_B(const std::string& object, uint32_t sve_bits);

}  // namespace tilegpu::shader
