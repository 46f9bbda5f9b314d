// shader/lower/glsl450.cpp -- the extended instructions of GLSL.std.450 on 32-bit types.
//
// In: OpExtInst. Out: values, by the emitters of math.hpp and short formulas; the same bits on every lane and for uniform values.
// Source: SPIR-V Extended Instructions for GLSL, 1.00; Vulkan, "Precision and Operation of SPIR-V Instructions".
#include <spirv/unified1/GLSL.std.450.h>

#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"

namespace tilegpu::shader {
namespace {

constexpr float kPi = 3.14159265358979f;

/// Index of the highest set bit; -1 for zero.
Value find_high_bit(const Ir& ir, Value x) {
  Value zeros = ir.call_intrinsic("llvm.ctlz", {Ir::type_of(x)}, {x, ir.c1(false)});
  return ir.sub(Ir::same(x, 31), zeros);
}

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

/// By cofactors; column-major, n = 2, 3, 4.
Val Lowering::determinant_or_inverse(const Instruction& i, bool inverse) {
  Val a = value(m.operand(i, 2));
  const uint32_t n = m.type(m.type_of(m.operand(i, 2))).count;
  bool varying = false;
  for (Value x : a.c) varying = varying || is_varying(x);
  for (Value& x : a.c) x = varying ? vary(x) : x;
  // Determinant of the submatrix of the given rows and columns.
  std::function<Value(std::vector<uint32_t>, std::vector<uint32_t>)> minor = [&](std::vector<uint32_t> rows,
                                                                                 std::vector<uint32_t> columns) -> Value {
    if (rows.size() == 1) return a.c[columns[0] * n + rows[0]];
    Value sum = nullptr;
    for (size_t k = 0; k < columns.size(); ++k) {
      std::vector<uint32_t> rest = columns;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      Value factor = a.c[columns[k] * n + rows[0]];
      Value part = minor({rows.begin() + 1, rows.end()}, rest);
      if (!sum)
        sum = ir.fmul(factor, part);
      else
        sum = ir.fma(k & 1 ? ir.fneg(factor) : factor, part, sum);
    }
    return sum;
  };
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < n; ++k) all.push_back(k);
  Value determinant = minor(all, all);
  if (!inverse) return {i.type, {determinant}};
  Value scale = ir.fdiv(ir.fk(determinant, 1.0f), determinant);
  Val r{i.type, {}};
  for (uint32_t column = 0; column < n; ++column) {
    for (uint32_t row = 0; row < n; ++row) {
      std::vector<uint32_t> rows = all, columns = all;  // the transposed cofactor
      rows.erase(rows.begin() + column);
      columns.erase(columns.begin() + row);
      Value x = ir.fmul(minor(rows, columns), scale);
      r.c.push_back((row + column) & 1 ? ir.fneg(x) : x);
    }
  }
  return r;
}

/// pow(x, n) with a constant n = 1, 2, ... 16 as products: exacter and quicker than the general way. Empty: not of that kind.
Val Lowering::constant_power(const Instruction& i) {
  const Constant* exponent = constants.find(m.operand(i, 3));
  Val none, r{i.type, {}};
  if (!exponent || exponent->words.empty()) return none;
  uint32_t n = 0;
  for (uint32_t k = 1; k <= 16; ++k) {
    const float f = static_cast<float>(k);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if (bits == exponent->words[0]) n = k;
  }
  for (uint32_t word : exponent->words) {
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

Val Lowering::glsl450(const Instruction& i) {
  const uint32_t op = m.operand(i, 1);
  const auto arg = [&](uint32_t k) { return value(m.operand(i, k + 2)); };
  const auto map1 = [&](auto&& f) {
    Val a = arg(0), r{i.type, {}};
    for (Value x : a.c) r.c.push_back(f(x));
    return r;
  };
  const auto map2 = [&](auto&& f) {
    Val a = arg(0), b = arg(1), r{i.type, {}};
    for (size_t k = 0; k < a.c.size() && k < b.c.size(); ++k) {
      unify(a.c[k], b.c[k]);
      r.c.push_back(f(a.c[k], b.c[k]));
    }
    return r;
  };
  const auto map3 = [&](auto&& f) {
    Val a = arg(0), b = arg(1), c = arg(2), r{i.type, {}};
    for (size_t k = 0; k < a.c.size() && k < b.c.size() && k < c.c.size(); ++k) {
      Value x = a.c[k], y = b.c[k], z = c.c[k];
      if (is_varying(x) || is_varying(y) || is_varying(z)) x = vary(x), y = vary(y), z = vary(z);
      r.c.push_back(f(x, y, z));
    }
    return r;
  };
  const auto k = [&](Value shape, float x) { return ir.fk(shape, x); };
  const auto scaled = [&](const Val& v, Value s, uint32_t type) {
    Val r{type, {}};
    for (Value x : v.c) {
      Value y = s;
      unify(x, y);
      r.c.push_back(ir.fmul(x, y));
    }
    return r;
  };
  const auto inverse_sqrt = [&](Value x) { return ir.fdiv(k(x, 1.0f), ir.sqrt(x)); };
  switch (op) {
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
      return map1([&](Value x) { return ir.round_even(x); });
    case GLSLstd450Trunc:
      return map1([&](Value x) { return ir.ftrunc(x); });
    case GLSLstd450FAbs:
      return map1([&](Value x) { return ir.fabs(x); });
    case GLSLstd450SAbs:
      return map1([&](Value x) { return ir.select(ir.slt(x, Ir::same(x, 0)), ir.neg(x), x); });
    case GLSLstd450FSign:
      return map1([&](Value x) { return emit_fsign(ir, x); });
    case GLSLstd450SSign:
      return map1([&](Value x) { return ir.or_(ir.ashr(x, 31), ir.lshr(ir.neg(x), 31)); });
    case GLSLstd450Floor:
      return map1([&](Value x) { return ir.floor(x); });
    case GLSLstd450Ceil:
      return map1([&](Value x) { return ir.ceil(x); });
    case GLSLstd450Fract:
      return map1([&](Value x) { return emit_fract(ir, x); });
    case GLSLstd450Radians:
      return map1([&](Value x) { return ir.fmul(x, k(x, kPi / 180.0f)); });
    case GLSLstd450Degrees:
      return map1([&](Value x) { return ir.fmul(x, k(x, 180.0f / kPi)); });
    case GLSLstd450Sin:
      return map1([&](Value x) { return emit_sin(ir, x); });
    case GLSLstd450Cos:
      return map1([&](Value x) { return emit_cos(ir, x); });
    case GLSLstd450Tan:
      return map1([&](Value x) { return emit_tan(ir, x); });
    case GLSLstd450Asin:
      return map1([&](Value x) { return emit_asin(ir, x); });
    case GLSLstd450Acos:
      return map1([&](Value x) { return emit_acos(ir, x); });
    case GLSLstd450Atan:
      return map1([&](Value x) { return emit_atan(ir, x); });
    case GLSLstd450Sinh:
      return map1([&](Value x) { return emit_sinh(ir, x); });
    case GLSLstd450Cosh:
      return map1([&](Value x) { return emit_cosh(ir, x); });
    case GLSLstd450Tanh:
      return map1([&](Value x) { return emit_tanh(ir, x); });
    case GLSLstd450Asinh:
      return map1([&](Value x) { return emit_asinh(ir, x); });
    case GLSLstd450Acosh:
      return map1([&](Value x) { return emit_acosh(ir, x); });
    case GLSLstd450Atanh:
      return map1([&](Value x) { return emit_atanh(ir, x); });
    case GLSLstd450Atan2:
      return map2([&](Value y, Value x) { return emit_atan2(ir, y, x); });
    case GLSLstd450Pow:
      if (Val power = constant_power(i); !power.c.empty()) return power;
      return map2([&](Value x, Value y) { return emit_pow(ir, x, y); });
    case GLSLstd450Exp:
      return map1([&](Value x) { return emit_exp(ir, x); });
    case GLSLstd450Log:
      return map1([&](Value x) { return emit_log(ir, x); });
    case GLSLstd450Exp2:
      return map1([&](Value x) { return emit_exp2(ir, x); });
    case GLSLstd450Log2:
      return map1([&](Value x) { return emit_log2(ir, x); });
    case GLSLstd450Sqrt:
      return map1([&](Value x) { return ir.sqrt(x); });
    case GLSLstd450InverseSqrt:
      return map1(inverse_sqrt);
    case GLSLstd450Determinant:
      return determinant_or_inverse(i, false);
    case GLSLstd450MatrixInverse:
      return determinant_or_inverse(i, true);
    case GLSLstd450Modf:
    case GLSLstd450ModfStruct: {
      Val whole = map1([&](Value x) { return ir.ftrunc(x); });
      Val part = map1([&](Value x) {
        // Infinite numbers have no fraction; the sign is kept.
        Value infinite = ir.feq(ir.fabs(x), ir.as_float(Ir::same(ir.bits(x), 0x7f800000u)));
        return ir.copysign(ir.select(infinite, k(x, 0.0f), ir.fsub(x, ir.ftrunc(x))), x);
      });
      if (op == GLSLstd450Modf) {
        store(pointer(m.operand(i, 3)), whole, true);
      } else {
        part.c.insert(part.c.end(), whole.c.begin(), whole.c.end());
      }
      return part;
    }
    case GLSLstd450FMin:
    case GLSLstd450NMin:
      return map2([&](Value x, Value y) { return emit_fmin(ir, x, y); });
    case GLSLstd450FMax:
    case GLSLstd450NMax:
      return map2([&](Value x, Value y) { return emit_fmax(ir, x, y); });
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
      return map3([&](Value x, Value low, Value high) { return emit_fclamp(ir, x, low, high); });
    case GLSLstd450UMin:
      return map2([&](Value x, Value y) { return ir.umin(x, y); });
    case GLSLstd450SMin:
      return map2([&](Value x, Value y) { return ir.smin(x, y); });
    case GLSLstd450UMax:
      return map2([&](Value x, Value y) { return ir.umax(x, y); });
    case GLSLstd450SMax:
      return map2([&](Value x, Value y) { return ir.smax(x, y); });
    case GLSLstd450UClamp:
      return map3([&](Value x, Value low, Value high) { return ir.umin(ir.umax(x, low), high); });
    case GLSLstd450SClamp:
      return map3([&](Value x, Value low, Value high) { return ir.smin(ir.smax(x, low), high); });
    // Exact at both ends: a = 0 gives x, a = 1 gives y.
    case GLSLstd450FMix:
      return map3([&](Value x, Value y, Value a) { return ir.fma(a, y, ir.fma(ir.fneg(a), x, x)); });
    case GLSLstd450Step:
      return map2([&](Value edge, Value x) { return ir.select(ir.flt(x, edge), k(x, 0.0f), k(x, 1.0f)); });
    case GLSLstd450SmoothStep:
      return map3([&](Value e0, Value e1, Value x) {
        Value t = emit_fclamp(ir, ir.fdiv(ir.fsub(x, e0), ir.fsub(e1, e0)), k(x, 0.0f), k(x, 1.0f));
        return ir.fmul(ir.fmul(t, t), ir.fma(k(x, -2.0f), t, k(x, 3.0f)));
      });
    case GLSLstd450Fma:
      return map3([&](Value x, Value y, Value z) { return ir.fma(x, y, z); });
    case GLSLstd450Frexp:
    case GLSLstd450FrexpStruct: {
      Val a = arg(0), significand{i.type, {}}, exponent;
      for (Value x : a.c) {
        const Frexp f = emit_frexp(ir, x);
        significand.c.push_back(f.significand), exponent.c.push_back(f.exponent);
      }
      if (op == GLSLstd450Frexp) {
        store(pointer(m.operand(i, 3)), exponent, true);
      } else {
        significand.c.insert(significand.c.end(), exponent.c.begin(), exponent.c.end());
      }
      return significand;
    }
    case GLSLstd450Ldexp:
      return map2([&](Value x, Value n) { return emit_ldexp(ir, x, n); });
    case GLSLstd450PackSnorm4x8:
    case GLSLstd450PackUnorm4x8:
    case GLSLstd450PackSnorm2x16:
    case GLSLstd450PackUnorm2x16:
    case GLSLstd450PackHalf2x16:
    case GLSLstd450UnpackSnorm2x16:
    case GLSLstd450UnpackUnorm2x16:
    case GLSLstd450UnpackHalf2x16:
    case GLSLstd450UnpackSnorm4x8:
    case GLSLstd450UnpackUnorm4x8:
      return pack(op, arg(0), i.type);
    case GLSLstd450Length: {
      const Val a = arg(0);
      if (a.c.size() == 1) return {i.type, {ir.fabs(a.c[0])}};
      return {i.type, {ir.sqrt(dot(a, a, 0).c[0])}};
    }
    case GLSLstd450Distance: {
      Val a = arg(0), b = arg(1), difference;
      for (size_t n = 0; n < a.c.size(); ++n) {
        unify(a.c[n], b.c[n]);
        difference.c.push_back(ir.fsub(a.c[n], b.c[n]));
      }
      if (a.c.size() == 1) return {i.type, {ir.fabs(difference.c[0])}};
      return {i.type, {ir.sqrt(dot(difference, difference, 0).c[0])}};
    }
    case GLSLstd450Cross: {
      Val a = arg(0), b = arg(1), r{i.type, {}};
      for (Value& x : a.c) unify(x, b.c[0]), unify(x, b.c[1]), unify(x, b.c[2]);
      for (Value& x : a.c) unify(x, b.c[0]), unify(x, b.c[1]), unify(x, b.c[2]);
      for (uint32_t n = 0; n < 3; ++n) {
        const uint32_t p = (n + 1) % 3, q = (n + 2) % 3;
        r.c.push_back(ir.fma(a.c[p], b.c[q], ir.fneg(ir.fmul(a.c[q], b.c[p]))));
      }
      return r;
    }
    case GLSLstd450Normalize: {
      const Val a = arg(0);
      if (a.c.size() == 1) return {i.type, {emit_fsign(ir, a.c[0])}};
      return scaled(a, inverse_sqrt(dot(a, a, 0).c[0]), i.type);
    }
    case GLSLstd450FaceForward: {
      const Val n = arg(0);
      Value d2 = dot(arg(2), arg(1), 0).c[0];
      Value keep = ir.flt(d2, k(d2, 0.0f));
      Val r{i.type, {}};
      for (Value x : n.c) r.c.push_back(select(keep, x, ir.fneg(x)));
      return r;
    }
    case GLSLstd450Reflect: {
      const Val incident = arg(0), n = arg(1);
      Value d2 = dot(n, incident, 0).c[0];
      Value twice = ir.fmul(d2, k(d2, -2.0f));
      Val r{i.type, {}};
      for (size_t c = 0; c < n.c.size(); ++c) {
        Value a = twice, b = n.c[c], sum = incident.c[c];
        if (is_varying(a) || is_varying(b) || is_varying(sum)) a = vary(a), b = vary(b), sum = vary(sum);
        r.c.push_back(ir.fma(a, b, sum));
      }
      return r;
    }
    case GLSLstd450Refract: {
      const Val incident = arg(0), n = arg(1);
      Value eta = arg(2).c[0], d2 = dot(n, incident, 0).c[0];
      unify(eta, d2);
      Value one = k(eta, 1.0f);
      Value rest = ir.fma(ir.fneg(ir.fmul(eta, eta)), ir.fma(ir.fneg(d2), d2, one), one);
      Value none = ir.flt(rest, k(rest, 0.0f));
      Value along = ir.fma(eta, d2, ir.sqrt(rest));
      Val r{i.type, {}};
      for (size_t c = 0; c < n.c.size(); ++c) {
        Value e = eta, a = along, x = incident.c[c], y = n.c[c];
        if (is_varying(e) || is_varying(x) || is_varying(y)) e = vary(e), a = vary(a), x = vary(x), y = vary(y);
        Value result = ir.fma(e, x, ir.fneg(ir.fmul(a, y)));
        r.c.push_back(select(none, k(result, 0.0f), result));
      }
      return r;
    }
    case GLSLstd450FindILsb:
      return map1([&](Value x) {
        Value zeros = ir.call_intrinsic("llvm.cttz", {Ir::type_of(x)}, {x, ir.c1(false)});
        return ir.select(ir.eq(x, Ir::same(x, 0)), Ir::same(x, ~0ull), zeros);
      });
    case GLSLstd450FindSMsb:
      return map1([&](Value x) { return find_high_bit(ir, ir.xor_(x, ir.ashr(x, 31))); });
    case GLSLstd450FindUMsb:
      return map1([&](Value x) { return find_high_bit(ir, x); });
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
