// shader/ir/math_convert.cpp -- min and max, rounding helpers, conversions between floats, integers and halves, ldexp and frexp.
//
// In and out: see math.hpp. Everything is exact or correctly rounded; NaN, infinity, signed zero and overflow are defined and the same on
// every lane count. Source: Vulkan specification, "Precision and Operation of SPIR-V Instructions"; IEEE 754-2019, 9.6.
#include "shader/ir/math.hpp"

#include <cmath>

namespace tilegpu::shader {
namespace {

constexpr uint32_t kCanonicalNan = 0x7fc00000u;

}  // namespace

Value emit_canonical_nan(const Ir& ir, Value x) { return ir.select(ir.is_nan(x), ir.as_float(ir.ik(x, kCanonicalNan)), x); }

Value emit_fdiv(const Ir& ir, Value x, Value y, bool shared) {
  float divisor = 0;
  if (Ir::constant_float(y, divisor) && std::fabs(divisor) > 0x1p-120f && std::fabs(divisor) < 0x1p120f) {
    // High towards zero, so that both parts have one sign: an infinite x would give infinity - infinity.
    const double reciprocal = 1.0 / static_cast<double>(divisor);
    auto high = static_cast<float>(reciprocal);
    if (std::fabs(static_cast<double>(high)) > std::fabs(reciprocal)) high = std::nextafter(high, 0.0f);
    const auto low = static_cast<float>(reciprocal - static_cast<double>(high));
    if (low == 0) return ir.fmul(x, ir.fk(x, high));
    return ir.fma(x, ir.fk(x, high), ir.fmul(x, ir.fk(x, low)));
  }
  if (!shared) return ir.fdiv(x, y);
  return ir.fmul(x, ir.fdiv(ir.fk(y, 1), y));
}

Value emit_fmin(const Ir& ir, Value a, Value b) { return ir.fmin_second(a, b); }
Value emit_fmax(const Ir& ir, Value a, Value b) { return ir.fmax_second(a, b); }
Value emit_fclamp(const Ir& ir, Value x, Value low, Value high) { return emit_fmin(ir, emit_fmax(ir, x, low), high); }

Value emit_nmin(const Ir& ir, Value a, Value b) { return ir.select(ir.is_nan(b), a, ir.fmin_second(a, b)); }
Value emit_nmax(const Ir& ir, Value a, Value b) { return ir.select(ir.is_nan(b), a, ir.fmax_second(a, b)); }
Value emit_nclamp(const Ir& ir, Value x, Value low, Value high) { return emit_nmin(ir, emit_nmax(ir, x, low), high); }

Value emit_fsign(const Ir& ir, Value x) {
  Value one = ir.copysign(ir.fk(x, 1), x);
  return ir.select(ir.fcmp(LLVMRealONE, x, ir.fk(x, 0)), one, ir.select(ir.is_nan(x), ir.fk(x, 0), x));
}

Value emit_fract(const Ir& ir, Value x) {
  // For tiny negative x the difference rounds to 1; Vulkan wants a result below 1. Infinities give NaN by the subtraction.
  return ir.select(ir.fge(ir.fsub(x, ir.floor(x)), ir.fk(x, 1)), ir.fk(x, 0x1.fffffep-1f), ir.fsub(x, ir.floor(x)));
}

Value emit_float_to_int(const Ir& ir, Value x) {
  // In range by clamping (the largest float below 2^31 for the conversion), then the upper end is put right.
  Value in_range = ir.fclamp(x, ir.fk(x, -0x1p31f), ir.fk(x, 0x1.fffffep30f));
  Value result = ir.fptosi(in_range);
  result = ir.select(ir.fge(x, ir.fk(x, 0x1p31f)), ir.ik(x, 0x7fffffffu), result);
  return ir.select(ir.is_nan(x), ir.ik(x, 0), result);
}

Value emit_float_to_uint(const Ir& ir, Value x) {
  Value clamped = ir.fclamp(x, ir.fk(x, 0), ir.fk(x, 0x1.fffffep31f));  // NaN to 0
  Value upper = ir.fge(clamped, ir.fk(x, 0x1p31f));
  Value low = ir.select(upper, ir.fsub(clamped, ir.fk(x, 0x1p31f)), clamped);  // exact
  Value result = ir.xor_(ir.fptosi(low), ir.select(upper, ir.ik(x, 0x80000000u), ir.ik(x, 0)));
  return ir.select(ir.fge(x, ir.fk(x, 0x1p32f)), ir.ik(x, ~0u), result);
}

Value emit_int_to_float(const Ir& ir, Value x) { return ir.sitofp(x); }

Value emit_uint_to_float(const Ir& ir, Value x) {
  // Two halves, each exact: high * 65536 + low in one fused rounding.
  Value high = ir.sitofp(ir.lshr(x, 16)), low = ir.sitofp(ir.and_(x, ir.ik(x, 0xffffu)));
  return ir.fma(high, ir.fk(x, 65536.0f), low);
}

Value emit_float_to_half(const Ir& ir, Value x) {
  Value half = LLVMBuildFPTrunc(ir.builder, x, Ir::like(x, ir.f16), "");  // vcvtps2ph, round to nearest even
  Value result = ir.zext(ir.bitcast(half, Ir::like(x, ir.i16)), ir.i32);
  return ir.select(ir.is_nan(x), ir.ik(x, 0x7e00u), result);
}

Value emit_half_to_float(const Ir& ir, Value bits) {
  Value half = ir.bitcast(ir.trunc(bits, ir.i16), Ir::like(bits, ir.f16));
  Value wide = LLVMBuildFPExt(ir.builder, half, Ir::like(bits, ir.f32), "");
  // NaN is found in the integer: a comparison of the float is turned into one of halves, which x86-64-v3 does lane by lane.
  Value nan = ir.ugt(ir.and_(bits, ir.ik(bits, 0x7fffu)), ir.ik(bits, 0x7c00u));
  return ir.select(nan, ir.as_float(ir.ik(bits, kCanonicalNan)), wide);
}

Value emit_ldexp(const Ir& ir, Value x, Value n) {
  // Beyond these the result is 0 or infinity for every finite x. Three exact powers of two and their product: two normal steps first,
  // so that only the last multiplication can round.
  Value clamped = ir.sclamp(n, ir.ik(n, static_cast<uint32_t>(-300)), ir.ik(n, 300));
  auto power = [&](Value e) { return ir.as_float(ir.shl(ir.add(e, ir.ik(n, 127)), 23)); };
  // n = a + b + c with |each| <= 100 and equal signs. For a negative n the significand must not become denormal before the last step:
  // the product is taken in double, where 2^-149-300 .. 2^128+300 is normal.
  Value a = ir.sclamp(clamped, ir.ik(n, static_cast<uint32_t>(-100)), ir.ik(n, 100));
  Value rest = ir.sub(clamped, a);
  Value b = ir.sclamp(rest, ir.ik(n, static_cast<uint32_t>(-100)), ir.ik(n, 100));
  Value c = ir.sub(rest, b);
  auto wide = [&](Value v) { return ir.to_double(v); };
  Value product = ir.fmul(ir.fmul(ir.fmul(wide(x), wide(power(a))), wide(power(b))), wide(power(c)));
  return ir.to_float(product);
}

Frexp emit_frexp(const Ir& ir, Value x) {
  Value zero = ir.ik(x, 0);
  // Denormals are made normal first.
  Value magnitude = ir.fabs(x);
  Value small = ir.flt(magnitude, ir.fk(x, 0x1p-126f));
  Value scaled = ir.select(small, ir.fmul(x, ir.fk(x, 0x1p24f)), x);
  Value pattern = ir.bits(scaled);
  Value exponent = ir.sub(ir.and_(ir.lshr(pattern, 23), ir.ik(x, 255)), ir.ik(x, 126));
  exponent = ir.sub(exponent, ir.select(small, ir.ik(x, 24), zero));
  Value significand = ir.as_float(ir.or_(ir.and_(pattern, ir.ik(x, 0x807fffffu)), ir.ik(x, 126u << 23)));
  Value special = ir.or_(ir.feq(x, ir.fk(x, 0)), ir.or_(ir.is_nan(x), ir.feq(magnitude, ir.as_float(ir.ik(x, 0x7f800000u)))));
  return {ir.select(special, x, significand), ir.select(special, zero, exponent)};
}

}  // namespace tilegpu::shader
