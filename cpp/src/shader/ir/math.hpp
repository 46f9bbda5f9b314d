// shader/ir/math.hpp -- emitters of the mathematics that shaders, samplers and the epilogue need: own polynomials, no libm.
//
// In: f32 (or i32) values, scalar or vector; division, min, max, sign, fract, ldexp and frexp take f64 too. Out: values of the same shape,
// with the same bits for any number of lanes and any target (x86-64-v3 and up; fused multiply-adds are explicit). Each file states its
// measured bounds; Vulkan's limits are in its appendix "Precision and Operation of SPIR-V Instructions".
//   math_exponential.cpp    exp2, exp, log2, log, pow, sinh, cosh, tanh and their inverses
//   math_trigonometry.cpp   sin, cos, tan, asin, acos, atan, atan2
//   math_convert.cpp        half floats, saturating conversions, min and max, ldexp, frexp
#pragma once

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

// -- trigonometry (radians) ------------------------------------------------------------------------------------------------------
Value emit_sin(const Ir& ir, Value x);
Value emit_cos(const Ir& ir, Value x);
Value emit_tan(const Ir& ir, Value x);
Value emit_asin(const Ir& ir, Value x);  // NaN outside -1..1
Value emit_acos(const Ir& ir, Value x);
Value emit_atan(const Ir& ir, Value x);
Value emit_atan2(const Ir& ir, Value y, Value x);

// -- exponentials ----------------------------------------------------------------------------------------------------------------
Value emit_exp2(const Ir& ir, Value x);
Value emit_exp(const Ir& ir, Value x);
Value emit_log2(const Ir& ir, Value x);  // -inf at 0, NaN below
Value emit_log(const Ir& ir, Value x);
Value emit_pow(const Ir& ir, Value x,
               Value y);  // x < 0: NaN; x == 0: 0 or inf by y; pow(x, 0) = 1. Constant y of 1..8: products, x < 0 too
Value emit_sinh(const Ir& ir, Value x);
Value emit_cosh(const Ir& ir, Value x);
Value emit_tanh(const Ir& ir, Value x);
Value emit_asinh(const Ir& ir, Value x);
Value emit_acosh(const Ir& ir, Value x);
Value emit_atanh(const Ir& ir, Value x);

// -- division ---------------------------------------------------------------------------------------------------------------------
/// x / y. IEEE, but for two cases (Vulkan allows 2.5 ulp): constants y are multiplied by their reciprocal in two floats (0.51 ulp),
/// and `shared` divisors (a vector divided by a scalar) by one reciprocal (1.5 ulp), which is the same value for every component.
Value emit_fdiv(const Ir& ir, Value x, Value y, bool shared);

// -- min, max, rounding ----------------------------------------------------------------------------------------------------------
/// FMin and FMax: a number beside a NaN, and the second operand where they are equal (-0 and +0 too).
Value emit_fmin(const Ir& ir, Value a, Value b);
Value emit_fmax(const Ir& ir, Value a, Value b);
/// min(max(x, low), high) of these: NaN becomes low.
Value emit_fclamp(const Ir& ir, Value x, Value low, Value high);
/// NMin, NMax, NClamp: the same, but of zeros the one whose sign is less, or more.
Value emit_nmin(const Ir& ir, Value a, Value b);
Value emit_nmax(const Ir& ir, Value a, Value b);
Value emit_nclamp(const Ir& ir, Value x, Value low, Value high);
/// -1, 0, +1; NaN gives 0.
Value emit_fsign(const Ir& ir, Value x);
/// x - floor(x), below 1 also for tiny negative x.
Value emit_fract(const Ir& ir, Value x);
/// Every NaN becomes 0x7fc00000: signs and payloads differ from machine to machine.
Value emit_canonical_nan(const Ir& ir, Value x);

// -- conversions -----------------------------------------------------------------------------------------------------------------
Value emit_float_to_int(const Ir& ir, Value x);  // towards zero, saturating, NaN to 0
Value emit_float_to_uint(const Ir& ir, Value x);
Value emit_int_to_float(const Ir& ir, Value x);  // round to nearest even
Value emit_uint_to_float(const Ir& ir, Value x);
Value emit_long_to_float(const Ir& ir, Value x, bool is_signed);  // 64 bits to f32, rounded once
/// Half bits in the low 16 bits of i32. Round to nearest even, overflow to infinity, NaN to 0x7e00, denormals kept.
Value emit_float_to_half(const Ir& ir, Value x);
Value emit_half_to_float(const Ir& ir, Value bits);
/// f32 to the nearest half, as f32.
Value emit_round_to_half(const Ir& ir, Value x);
/// f32 or f64 towards zero: to f32, or to a value of a half, as f32. What is too large becomes the largest.
Value emit_convert_towards_zero(const Ir& ir, Value x, bool to_half);
/// f64 to f32 that may be rounded again to a half: where it is inexact, the neighbour whose last bit is one.
Value emit_round_to_odd(const Ir& ir, Value x);
/// Towards zero, saturating at `to`'s range, NaN to 0; `to` has 8, 16, 32 or 64 bits.
Value emit_float_to_integer(const Ir& ir, Value x, Type to, bool is_signed);
/// x * 2^n for any n (i32), one rounding where the result is denormal.
Value emit_ldexp(const Ir& ir, Value x, Value n);
struct Frexp {
  Value significand, exponent;  // magnitude in [0.5, 1); 0, inf and NaN give themselves and 0
};
Frexp emit_frexp(const Ir& ir, Value x);

}  // namespace tilegpu::shader
