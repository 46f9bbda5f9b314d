// shader/spirv/constant_ops.hpp -- one scalar of an operation on constants.
//
// In: the operation, bits and types of its operands. Out: bits. Source: SPIR-V specification 1.6, OpSpecConstantOp.
#pragma once

#include <cstdint>
#include <optional>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// The lowest `width_bits` bits.
inline uint64_t low_bits(uint64_t bits, uint32_t width_bits) { return width_bits >= 64 ? bits : bits & ((uint64_t{1} << width_bits) - 1); }
/// With copies of the highest of `width_bits` bits above it.
inline int64_t sign_extended(uint64_t bits, uint32_t width_bits) {
  return width_bits >= 64 || width_bits == 0 ? static_cast<int64_t>(bits)
                                             : static_cast<int64_t>(bits << (64 - width_bits)) >> (64 - width_bits);
}

/// Bits of the operands, their width (of a shift's amount and a selection's condition: any), and the width of the result. Empty: no
/// operation on scalars.
struct ScalarOperation {
  spv::Op op = spv::OpNop;
  uint64_t a = 0, b = 0, c = 0;
  uint32_t operand_bits = 32, result_bits = 32;
};
std::optional<uint64_t> evaluate_scalar(const ScalarOperation& operation);

}  // namespace tilegpu::shader
