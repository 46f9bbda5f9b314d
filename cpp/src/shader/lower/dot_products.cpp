// shader/lower/dot_products.cpp -- dot products of integers: vectors of 8, 16, 32 and 64 bits, and four bytes in a word.
//
// In: OpSDot, OpUDot, OpSUDot and those that add to a number and stop at its type's ends. Out: values; what overflows before that addition
// is taken modulo the result's size (undefined in SPIR-V). Source: SPIR-V specification 1.6, section 3.32.13 "Arithmetic Instructions".
#include <cassert>

#include "shader/lower/context.hpp"

namespace tilegpu::shader {
namespace {

/// Of a vector its components; of a word its bytes, the lowest first, as wide as `type`.
std::vector<Value> components(const Ir& ir, const Val& v, bool packed, bool is_signed, Type type) {
  std::vector<Value> parts;
  for (Value x : v.c) {
    for (uint32_t byte = 0; byte < (packed ? 4 : 1); ++byte) {
      Value part = packed ? ir.trunc(ir.lshr(x, 8 * byte), ir.i8) : x;
      if (Ir::bits_of(part) > Ir::bits_of(type))
        part = ir.trunc(part, type);
      else
        part = is_signed ? ir.sext(part, type) : ir.zext(part, type);
      parts.push_back(part);
    }
  }
  return parts;
}

}  // namespace

bool Lowering::integer_dot(const Instruction& i) {
  if (i.op < spv::OpSDot || i.op > spv::OpSUDotAccSat) return false;
  const bool accumulates = i.op >= spv::OpSDotAccSat;
  const auto kind = static_cast<spv::Op>(accumulates ? i.op - spv::OpSDotAccSat + spv::OpSDot : i.op);
  const bool signed_a = kind != spv::OpUDot, signed_b = kind == spv::OpSDot;
  const Val a = value(m.operand(i, 0)), b = value(m.operand(i, 1));
  const bool packed = a.c.size() == 1;  // the validator wants a format then, and there is one
  const Type type = scalar_type(bases(i.type).front());
  const std::vector<Value> x = components(ir, a, packed, signed_a, type), y = components(ir, b, packed, signed_b, type);
  assert(x.size() == y.size());
  Value sum = nullptr;
  for (size_t k = 0; k < x.size() && k < y.size(); ++k) {
    Value p = x[k], q = y[k];
    unify(p, q);
    Value product = ir.mul(p, q);
    if (sum) unify(sum, product);
    sum = sum ? ir.add(sum, product) : product;
  }
  if (accumulates) {
    Value start = scalar(m.operand(i, 2));
    unify(sum, start);
    sum = ir.call_intrinsic(signed_a ? "llvm.sadd.sat" : "llvm.uadd.sat", {Ir::type_of(sum)}, {sum, start});
  }
  define(i.id, {i.type, {sum}});
  return true;
}

}  // namespace tilegpu::shader
