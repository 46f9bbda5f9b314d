// shader/lower/glsl450.cpp -- the extended instructions of GLSL.std.450; trigonometry and exponentials on floats of up to 32 bits.
//
// In: OpExtInst. Out: values, by the emitters of math.hpp and short formulas; the same bits on every lane and for uniform values. What
// works on each scalar alone stands in three tables, by its number of operands. Matrices: matrices.cpp.
// Source: SPIR-V Extended Instructions for GLSL, 1.00; Vulkan, "Precision and Operation of SPIR-V Instructions".
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <cassert>

#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"
#include "shader/lower/elementwise.hpp"

namespace tilegpu::shader {
namespace {

constexpr float kPi = 3.14159265358979f;

/// Index of the highest set bit; -1 for zero.
Value find_high_bit(const Ir& ir, Value x) {
  Value zeros = ir.call_intrinsic("llvm.ctlz", {Ir::type_of(x)}, {x, ir.c1(false)});
  return ir.sub(Ir::same(x, Ir::bits_of(x) - 1), zeros);
}

/// Index of the lowest set bit; -1 for zero.
Value find_low_bit(const Ir& ir, Value x) {
  Value zeros = ir.call_intrinsic("llvm.cttz", {Ir::type_of(x)}, {x, ir.c1(false)});
  return ir.select(ir.eq(x, Ir::same(x, 0)), Ir::same(x, ~0ull), zeros);
}

Value inverse_sqrt(const Ir& ir, Value x) { return ir.fdiv(ir.number(x, 1), ir.sqrt(x)); }

/// What modf leaves. Infinite numbers have no fraction; the sign is kept.
Value fraction_with_sign(const Ir& ir, Value x) {
  Value infinite = ir.feq(ir.fabs(x), ir.infinity(x));
  return ir.copysign(ir.select(infinite, ir.number(x, 0), ir.fsub(x, ir.ftrunc(x))), x);
}

Value smooth_step(const Ir& ir, Value low, Value high, Value x) {
  Value t = emit_fclamp(ir, ir.fdiv(ir.fsub(x, low), ir.fsub(high, low)), ir.number(x, 0), ir.number(x, 1));
  return ir.fmul(ir.fmul(t, t), ir.fma(ir.number(x, -2), t, ir.number(x, 3)));
}

/// An integer of any width as i32; beyond its range all results are the same.
Value as_exponent(const Ir& ir, Value n) {
  if (Ir::bits_of(n) <= 32) return Ir::bits_of(n) < 32 ? ir.sext(n, ir.i32) : n;
  return ir.trunc(ir.sclamp(n, Ir::same(n, static_cast<uint64_t>(-100000)), Ir::same(n, 100000)), ir.i32);
}

/// Sines and the like of 64 bits, which Vulkan has not.
bool takes_doubles(uint32_t op) {
  return !(op >= GLSLstd450Radians && op <= GLSLstd450Log2) && op != GLSLstd450Atan2 && op != GLSLstd450Pow;
}

constexpr Unary<uint32_t> kUnary[] = {
    {GLSLstd450Round, [](const Ir& ir, Value x) { return ir.round_even(x); }},
    {GLSLstd450RoundEven, [](const Ir& ir, Value x) { return ir.round_even(x); }},
    {GLSLstd450Trunc, [](const Ir& ir, Value x) { return ir.ftrunc(x); }},
    {GLSLstd450FAbs, [](const Ir& ir, Value x) { return ir.fabs(x); }},
    {GLSLstd450SAbs, [](const Ir& ir, Value x) { return ir.select(ir.slt(x, Ir::same(x, 0)), ir.neg(x), x); }},
    {GLSLstd450FSign, emit_fsign},
    {GLSLstd450SSign, [](const Ir& ir, Value x) { return ir.or_(ir.ashr(x, Ir::bits_of(x) - 1), ir.lshr(ir.neg(x), Ir::bits_of(x) - 1)); }},
    {GLSLstd450Floor, [](const Ir& ir, Value x) { return ir.floor(x); }},
    {GLSLstd450Ceil, [](const Ir& ir, Value x) { return ir.ceil(x); }},
    {GLSLstd450Fract, emit_fract},
    {GLSLstd450Radians, [](const Ir& ir, Value x) { return ir.fmul(x, ir.fk(x, kPi / 180.0f)); }},
    {GLSLstd450Degrees, [](const Ir& ir, Value x) { return ir.fmul(x, ir.fk(x, 180.0f / kPi)); }},
    {GLSLstd450Sin, emit_sin},
    {GLSLstd450Cos, emit_cos},
    {GLSLstd450Tan, emit_tan},
    {GLSLstd450Asin, emit_asin},
    {GLSLstd450Acos, emit_acos},
    {GLSLstd450Atan, emit_atan},
    {GLSLstd450Sinh, emit_sinh},
    {GLSLstd450Cosh, emit_cosh},
    {GLSLstd450Tanh, emit_tanh},
    {GLSLstd450Asinh, emit_asinh},
    {GLSLstd450Acosh, emit_acosh},
    {GLSLstd450Atanh, emit_atanh},
    {GLSLstd450Exp, emit_exp},
    {GLSLstd450Log, emit_log},
    {GLSLstd450Exp2, emit_exp2},
    {GLSLstd450Log2, emit_log2},
    {GLSLstd450Sqrt, [](const Ir& ir, Value x) { return ir.sqrt(x); }},
    {GLSLstd450InverseSqrt, inverse_sqrt},
    {GLSLstd450FindILsb, find_low_bit},
    {GLSLstd450FindSMsb, [](const Ir& ir, Value x) { return find_high_bit(ir, ir.xor_(x, ir.ashr(x, Ir::bits_of(x) - 1))); }},
    {GLSLstd450FindUMsb, find_high_bit},
};

constexpr Binary<uint32_t> kBinary[] = {
    {GLSLstd450Atan2, emit_atan2},
    {GLSLstd450Pow, emit_pow},
    {GLSLstd450FMin, emit_fmin},
    {GLSLstd450NMin, emit_nmin},
    {GLSLstd450FMax, emit_fmax},
    {GLSLstd450NMax, emit_nmax},
    {GLSLstd450UMin, [](const Ir& ir, Value x, Value y) { return ir.umin(x, y); }},
    {GLSLstd450SMin, [](const Ir& ir, Value x, Value y) { return ir.smin(x, y); }},
    {GLSLstd450UMax, [](const Ir& ir, Value x, Value y) { return ir.umax(x, y); }},
    {GLSLstd450SMax, [](const Ir& ir, Value x, Value y) { return ir.smax(x, y); }},
    {GLSLstd450Step, [](const Ir& ir, Value edge, Value x) { return ir.select(ir.flt(x, edge), ir.number(x, 0), ir.number(x, 1)); }},
    {GLSLstd450Ldexp, [](const Ir& ir, Value x, Value n) { return emit_ldexp(ir, x, as_exponent(ir, n)); }},
};

constexpr Ternary<uint32_t> kTernary[] = {
    {GLSLstd450FClamp, emit_fclamp},
    {GLSLstd450NClamp, emit_nclamp},
    {GLSLstd450UClamp, [](const Ir& ir, Value x, Value low, Value high) { return ir.umin(ir.umax(x, low), high); }},
    {GLSLstd450SClamp, [](const Ir& ir, Value x, Value low, Value high) { return ir.smin(ir.smax(x, low), high); }},
    // Exact at both ends: a = 0 gives x, a = 1 gives y.
    {GLSLstd450FMix, [](const Ir& ir, Value x, Value y, Value a) { return ir.fma(a, y, ir.fma(ir.fneg(a), x, x)); }},
    {GLSLstd450SmoothStep, smooth_step},
    {GLSLstd450Fma, [](const Ir& ir, Value x, Value y, Value z) { return ir.fma(x, y, z); }},
};

}  // namespace

/// Fixed-point and half packing, least significant component first.
Val Lowering::pack(uint32_t op, const Val& v, uint32_t type) {
  const auto to_fixed = [&](Value x, float scale, float low) {
    Value limited = emit_fclamp(ir, x, ir.fk(x, low), ir.fk(x, 1.0f));
    return emit_float_to_int(ir, ir.round_even(ir.fmul(limited, ir.fk(limited, scale))));
  };
  const auto from_fixed = [&](Value word, uint32_t bits, uint32_t k, bool is_signed) {
    Value x = ir.shl(word, 32 - bits * (k + 1));
    x = is_signed ? ir.ashr(x, 32 - bits) : ir.lshr(x, 32 - bits);
    Value f = ir.fdiv(ir.sitofp(x), ir.fk(x, static_cast<float>((1u << (is_signed ? bits - 1 : bits)) - 1)));
    return is_signed ? emit_fmax(ir, f, ir.fk(f, -1.0f)) : f;
  };
  const bool is_signed =
      op == GLSLstd450PackSnorm4x8 || op == GLSLstd450PackSnorm2x16 || op == GLSLstd450UnpackSnorm4x8 || op == GLSLstd450UnpackSnorm2x16;
  const bool bytes =
      op == GLSLstd450PackSnorm4x8 || op == GLSLstd450PackUnorm4x8 || op == GLSLstd450UnpackSnorm4x8 || op == GLSLstd450UnpackUnorm4x8;
  const uint32_t bits = bytes ? 8 : 16, parts = bytes ? 4 : 2;
  assert(v.c.size() == (op >= GLSLstd450UnpackSnorm2x16 ? 1 : parts));
  Val r{type, {}};
  if (op == GLSLstd450UnpackHalf2x16) {
    for (uint32_t k = 0; k < 2; ++k)
      r.c.push_back(emit_half_to_float(ir, k ? ir.lshr(v.c[0], 16) : ir.and_(v.c[0], Ir::same(v.c[0], 0xffff))));
    return r;
  }
  if (op >= GLSLstd450UnpackSnorm2x16) {
    for (uint32_t k = 0; k < parts; ++k) r.c.push_back(from_fixed(v.c[0], bits, k, is_signed));
    return r;
  }
  Value word = nullptr;
  for (uint32_t k = 0; k < parts && k < v.c.size(); ++k) {
    Value x = op == GLSLstd450PackHalf2x16
                  ? emit_float_to_half(ir, v.c[k])
                  : to_fixed(v.c[k], static_cast<float>((1u << (is_signed ? bits - 1 : bits)) - 1), is_signed ? -1.0f : 0.0f);
    x = ir.shl(ir.and_(x, Ir::same(x, (1u << bits) - 1)), bits * k);
    if (word) unify(word, x);
    word = word ? ir.or_(word, x) : x;
  }
  r.c = {word};
  return r;
}

/// pow(x, n) with a constant n = 1, 2, ... 16 as products: exacter and quicker than the general way. Empty: not of that kind.
Val Lowering::constant_power(const Instruction& i) {
  const Constant* exponent = constants.find(m.operand(i, 3));
  Val none, r{i.type, {}};
  if (!exponent || exponent->words.empty() || bases(i.type).front() != Base::f32) return none;
  uint32_t n = 0;
  for (uint32_t k = 1; k <= 16; ++k) {
    const float f = static_cast<float>(k);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if (bits == exponent->words[0]) n = k;
  }
  for (uint64_t word : exponent->words) {
    if (n == 0 || word != exponent->words[0]) return none;
  }
  for (Value x : value(m.operand(i, 2)).c) {
    Value result = nullptr;
    for (uint32_t rest = n; rest; rest >>= 1) {
      if (rest & 1) result = result ? ir.fmul(result, x) : x;
      if (rest > 1) x = ir.fmul(x, x);
    }
    r.c.push_back(result);
  }
  return r;
}

/// Length, Distance, Normalize: what is made of a sum of squares. A vector of one is its own length, but for the sign.
Val Lowering::by_length(uint32_t op, const Val& v, uint32_t type) {
  assert(op == GLSLstd450Length || op == GLSLstd450Distance || op == GLSLstd450Normalize);
  assert(!v.c.empty() && v.c.size() <= 4);
  if (op == GLSLstd450Normalize) {
    if (v.c.size() == 1) return {type, {emit_fsign(ir, v.c[0])}};
    return scaled(v, inverse_sqrt(ir, dot(v, v, 0).c[0]), type);
  }
  return {type, {v.c.size() == 1 ? ir.fabs(v.c[0]) : ir.sqrt(dot(v, v, 0).c[0])}};
}

Val Lowering::cross(Val a, Val b, uint32_t type) {
  assert(a.c.size() == 3 && b.c.size() == 3);
  unify(a.c[0], a.c[1], a.c[2], b.c[0], b.c[1], b.c[2]);
  Val r{type, {}};
  for (uint32_t n = 0; n < 3; ++n) {
    const uint32_t p = (n + 1) % 3, q = (n + 2) % 3;
    r.c.push_back(ir.fma(a.c[p], b.c[q], ir.fneg(ir.fmul(a.c[q], b.c[p]))));
  }
  return r;
}

Val Lowering::refract(const Val& incident, const Val& normal, Value eta, uint32_t type) {
  Value d = dot(normal, incident, 0).c[0];
  unify(eta, d);
  if (Ir::bits_of(eta) < Ir::bits_of(d)) eta = ir.to_double(eta);
  if (Ir::bits_of(eta) > Ir::bits_of(d)) eta = ir.to_float(eta);
  Value one = ir.number(eta, 1);
  Value rest = ir.fma(ir.fneg(ir.fmul(eta, eta)), ir.fma(ir.fneg(d), d, one), one);
  Value none = ir.flt(rest, ir.number(rest, 0));
  Value along = ir.fma(eta, d, ir.sqrt(rest));
  return map(type, incident, normal, [&](const Ir&, Value x, Value y) {
    Value e = eta, a = along;
    unify(e, a, x, y);
    Value result = ir.fma(e, x, ir.fneg(ir.fmul(a, y)));
    return select(none, ir.number(result, 0), result);
  });
}

/// FaceForward, Reflect, Refract: vectors and their normal.
Val Lowering::by_normal(const Instruction& i) {
  const auto arg = [&](uint32_t k) { return value(m.operand(i, k + 2)); };
  const uint32_t op = m.operand(i, 1);
  const Val first = arg(0), second = arg(1);
  if (op == GLSLstd450Refract) return refract(first, second, arg(2).c[0], i.type);
  if (op == GLSLstd450Reflect) {  // incident, normal
    Value d = dot(second, first, 0).c[0];
    Value twice = ir.fmul(d, ir.number(d, -2));
    return map(i.type, second, first, [&](const Ir&, Value n, Value incident) {
      Value a = twice;
      unify(a, n, incident);
      return ir.fma(a, n, incident);
    });
  }
  assert(op == GLSLstd450FaceForward);  // vector, incident, reference
  Value d = dot(arg(2), second, 0).c[0];
  Value keep = ir.flt(d, ir.number(d, 0));
  return map(i.type, first, [&](const Ir&, Value x) { return select(keep, x, ir.fneg(x)); });
}

/// Of what Frexp gives for its exponent.
uint32_t Lowering::exponent_bits(const Instruction& i) {
  const uint32_t op = m.operand(i, 1);
  if (op != GLSLstd450Frexp && op != GLSLstd450FrexpStruct) return 32;
  const uint32_t type = op == GLSLstd450Frexp ? m.type(m.type_of(m.operand(i, 3))).element : m.type(i.type).members.back();
  return 8 * size_B(bases(type).front());
}

/// Modf and Frexp: two results, of which the second is stored, or joins the first in a structure.
Val Lowering::in_two_parts(const Instruction& i) {
  const uint32_t op = m.operand(i, 1);
  const Val a = value(m.operand(i, 2));
  Val first{i.type, {}}, second;
  for (Value x : a.c) {
    if (op == GLSLstd450Modf || op == GLSLstd450ModfStruct) {
      first.c.push_back(fraction_with_sign(ir, x)), second.c.push_back(ir.ftrunc(x));
    } else {
      const Frexp f = emit_frexp(ir, x);
      first.c.push_back(f.significand), second.c.push_back(f.exponent);
    }
  }
  const uint32_t width_bits = exponent_bits(i);
  for (Value& x : second.c) {
    if (!Ir::is_integer(x)) continue;
    const Type own = LLVMIntTypeInContext(ir.context, width_bits);
    x = width_bits > 32 ? ir.sext(x, own) : width_bits < 32 ? ir.trunc(x, own) : x;
  }
  if (is_nan_seen(i.id))  // what is stored, too
    for (Value& x : second.c)
      if (Ir::is_float(x)) x = emit_canonical_nan(ir, x);
  if (op == GLSLstd450Modf || op == GLSLstd450Frexp) {
    store(pointer(m.operand(i, 3)), second, true);
  } else {
    first.c.insert(first.c.end(), second.c.begin(), second.c.end());
  }
  return first;
}

Val Lowering::glsl450(const Instruction& i) {
  const uint32_t op = m.operand(i, 1);
  const auto arg = [&](uint32_t k) { return value(m.operand(i, k + 2)); };
  if (!takes_doubles(op) && constants.size(i.type).widest_B > 4) {
    unsupported("instruction " + std::to_string(op) + " of GLSL.std.450 is not there for 64-bit floats (Vulkan has it for 16 and 32)");
    return zero(i.type);
  }
  if (op == GLSLstd450Pow) {
    if (Val power = constant_power(i); !power.c.empty()) return power;
  }
  if (op == GLSLstd450Fract && bases(i.type).front() == Base::f16) {
    // What rounds to 1 in a half stays below it, as with wider floats.
    return map(i.type, arg(0), [](const Ir& ir, Value x) {
      Value part = emit_fract(ir, x), most = ir.number(x, 0x1.ffcp-1);
      return ir.select(ir.fgt(part, most), most, part);
    });
  }
  if (const auto* unary = row_of(kUnary, op)) return map(i.type, arg(0), unary->emit);
  if (const auto* binary = row_of(kBinary, op)) {
    const Val a = arg(0);
    return map(i.type, a, arg(1), binary->emit);
  }
  if (const auto* ternary = row_of(kTernary, op)) {
    const Val a = arg(0), b = arg(1);
    return map(i.type, a, b, arg(2), ternary->emit);
  }
  if (op == GLSLstd450PackDouble2x32 || op == GLSLstd450UnpackDouble2x32) return reinterpreted(arg(0), i.type);
  if (op >= GLSLstd450PackSnorm4x8 && op <= GLSLstd450UnpackUnorm4x8) return pack(op, arg(0), i.type);
  switch (op) {
    case GLSLstd450Determinant:
    case GLSLstd450MatrixInverse:
      return determinant_or_inverse(i, op == GLSLstd450MatrixInverse);
    case GLSLstd450Modf:
    case GLSLstd450ModfStruct:
    case GLSLstd450Frexp:
    case GLSLstd450FrexpStruct:
      return in_two_parts(i);
    case GLSLstd450Length:
    case GLSLstd450Normalize:
      return by_length(op, arg(0), i.type);
    case GLSLstd450Distance: {
      const Val a = arg(0);
      return by_length(op, map(0, a, arg(1), [](const Ir& ir, Value x, Value y) { return ir.fsub(x, y); }), i.type);
    }
    case GLSLstd450Cross: {
      const Val a = arg(0);
      return cross(a, arg(1), i.type);
    }
    case GLSLstd450FaceForward:
    case GLSLstd450Reflect:
    case GLSLstd450Refract:
      return by_normal(i);
    case GLSLstd450InterpolateAtCentroid:
    case GLSLstd450InterpolateAtSample:
    case GLSLstd450InterpolateAtOffset:
      if (interpolate_at) return interpolate_at(i);
      break;
    default:
      break;
  }
  unsupported("instruction " + std::to_string(op) + " of GLSL.std.450 is not supported");
  return zero(i.type);
}

}  // namespace tilegpu::shader
