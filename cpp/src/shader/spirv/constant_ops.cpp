// shader/spirv/constant_ops.cpp -- see constant_ops.hpp. Integer division by zero gives 0 and shifts take the amount modulo the width, as
// the generated code does.
#include "shader/spirv/constant_ops.hpp"

#include <cassert>
#include <cmath>
#include <cstring>

#include "vk/format.hpp"

namespace tilegpu::shader {
namespace {

/// With the sign of the divisor; 0 where there is no quotient.
int64_t modulo(int64_t a, int64_t b) {
  const int64_t rest = b == 0 || b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// To the next float whose last bit is one, where `x` is none: what is rounded again to fewer bits is rounded once.
float rounded_to_odd(double x) {
  float near = static_cast<float>(x);
  if (std::isnan(x) || static_cast<double>(near) == x) return near;
  if (std::fabs(static_cast<double>(near)) > std::fabs(x)) near = std::nextafter(near, 0.0F);
  return bits_as<float>(bits_as<uint32_t>(near) | 1);
}

uint64_t convert_float(uint64_t bits, uint32_t from, uint32_t to) {
  if (from == to) return bits;
  const double x = from == 64   ? bits_as<double>(bits)
                   : from == 32 ? static_cast<double>(bits_as<float>(static_cast<uint32_t>(bits)))
                                : static_cast<double>(vk::half_to_float(static_cast<uint16_t>(bits)));
  if (to == 64) return bits_as<uint64_t>(x);
  if (to == 32) return bits_as<uint32_t>(static_cast<float>(x));
  return vk::float_to_half(rounded_to_odd(x));
}

std::optional<bool> compare(spv::Op op, uint64_t a, uint64_t b, int64_t sa, int64_t sb) {
  switch (op) {
    case spv::OpLogicalEqual:
    case spv::OpIEqual:
      return a == b;
    case spv::OpLogicalNotEqual:
    case spv::OpINotEqual:
      return a != b;
    case spv::OpULessThan:
      return a < b;
    case spv::OpSLessThan:
      return sa < sb;
    case spv::OpUGreaterThan:
      return a > b;
    case spv::OpSGreaterThan:
      return sa > sb;
    case spv::OpULessThanEqual:
      return a <= b;
    case spv::OpSLessThanEqual:
      return sa <= sb;
    case spv::OpUGreaterThanEqual:
      return a >= b;
    case spv::OpSGreaterThanEqual:
      return sa >= sb;
    case spv::OpLogicalNot:
      return a == 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<uint64_t> evaluate_scalar(const ScalarOperation& given) {
  const auto& [op, a, b, c, operand_bits, result_bits] = given;
  assert(operand_bits <= 64 && result_bits <= 64);
  const int64_t sa = sign_extended(a, operand_bits), sb = sign_extended(b, operand_bits);
  if (const std::optional<bool> holds = compare(op, a, b, sa, sb)) return *holds;
  const uint64_t shift = b & (operand_bits - 1);
  const auto result = [bits = result_bits](auto x) { return low_bits(static_cast<uint64_t>(x), bits); };
  switch (op) {
    case spv::OpSNegate:
      return result(0 - a);
    case spv::OpNot:
      return result(~a);
    case spv::OpIAdd:
      return result(a + b);
    case spv::OpISub:
      return result(a - b);
    case spv::OpIMul:
      return result(a * b);
    case spv::OpUDiv:
      return b ? a / b : 0;
    case spv::OpUMod:
      return b ? a % b : 0;
    case spv::OpSDiv:
      return result(sb == 0 ? 0 : sb == -1 ? 0 - a : static_cast<uint64_t>(sa / sb));
    case spv::OpSRem:
      return result(sb == 0 || sb == -1 ? 0 : sa % sb);
    case spv::OpSMod:
      return result(modulo(sa, sb));
    case spv::OpShiftRightLogical:
      return a >> shift;
    case spv::OpShiftRightArithmetic:
      return result(sa >> shift);
    case spv::OpShiftLeftLogical:
      return result(a << shift);
    case spv::OpBitwiseOr:
    case spv::OpLogicalOr:
      return a | b;
    case spv::OpBitwiseXor:
      return a ^ b;
    case spv::OpBitwiseAnd:
    case spv::OpLogicalAnd:
      return a & b;
    case spv::OpSelect:
      return a ? b : c;
    case spv::OpSConvert:
      return result(sa);
    case spv::OpUConvert:
      return result(a);
    case spv::OpFConvert:
      return convert_float(a, operand_bits, result_bits);
    case spv::OpQuantizeToF16: {
      const uint64_t half = convert_float(a, 32, 16);
      return convert_float((half & 0x7c00) == 0 ? half & 0x8000 : half, 16, 32);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace tilegpu::shader
