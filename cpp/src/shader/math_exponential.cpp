// shader/math_exponential.cpp -- exp2, exp, log2, log, pow, the hyperbolic functions and their inverses.
//
// In and out: see math.hpp. Coefficients are Chebyshev fits made with 40 digits. Largest errors measured by tests/test_math.cpp
// against double precision over all signs and exponents, denormal results included, in ulp (Vulkan's limit in parentheses):
//   exp2 0.9, exp 1.1 (3 + 2|x|); log2 1.2, log 0.9 (3); pow 1.1 for exponents like 2.2, 5 for 32, 8 at the ends of the range
//   (that of exp2(y * log2(x)), hundreds);
//   sinh 1.6, cosh 1.5, tanh 1.4, asinh 1.8, acosh 2.1, atanh 1.9 (inherited, thousands of ulp).
#include "shader/math.hpp"

#include <cmath>
#include <iterator>

namespace tilegpu::shader {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr float kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

Value horner(const Ir& ir, Value x, std::initializer_list<float> coefficients) {  // lowest power first
  Value sum = nullptr;
  for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) sum = sum ? ir.fma(sum, x, ir.fk(x, *c)) : ir.fk(x, *c);
  return sum;
}

/// 2^n of an integral n in [-126, 127] as i32.
Value power_of_two(const Ir& ir, Value n) { return ir.as_float(ir.shl(ir.add(n, ir.ik(n, 127)), 23)); }

/// p * 2^n for p near 1 and n in [-250, 250]: two steps, so that only the last one can round (to a denormal).
Value scale(const Ir& ir, Value p, Value n) {
  Value half = ir.ashr(n, 1);
  return ir.fmul(ir.fmul(p, power_of_two(ir, half)), power_of_two(ir, ir.sub(n, half)));
}

/// 2^r for r in [-0.5, 0.5]; 8e-9.
Value exp2_fraction(const Ir& ir, Value r) {
  Value q = horner(ir, r, {0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6af6cp-5f, 0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f});
  return ir.fma(q, r, ir.fk(r, 1));
}

/// e^x * 2^shift.
Value exp_scaled(const Ir& ir, Value x, int shift) {
  Value clamped = ir.fclamp(x, ir.fk(x, -110), ir.fk(x, 100));
  Value n = ir.round_even(ir.fmul(clamped, ir.fk(x, 0x1.715476p+0f)));
  Value r = ir.fma(n, ir.fk(x, -kLn2High), clamped);
  r = ir.fma(n, ir.fk(x, -kLn2Low), r);
  Value q = horner(ir, r, {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b9p-7f, 0x1.6d112cp-10f});
  Value p = ir.fadd(ir.fma(ir.fmul(r, r), q, r), ir.fk(x, 1));
  Value result = scale(ir, p, ir.add(ir.fptosi(n), ir.ik(x, static_cast<uint32_t>(shift))));
  return ir.select(ir.is_nan(x), x, result);
}

struct Reduced {
  Value f;  // x = 2^e * (1 + f), f in [-0.293, 0.414], exact
  Value e;  // f32
};

/// Finite results for every x, also where they mean nothing (x below 0, infinite, NaN; denormal without `denormals`).
Reduced reduce_log(const Ir& ir, Value x, bool denormals = true) {
  Value denormal = denormals ? ir.flt(x, ir.fk(x, 0x1p-126f)) : nullptr;
  Value pattern = ir.bits(denormals ? ir.select(denormal, ir.fmul(x, ir.fk(x, 0x1p24f)), x) : x);
  Value exponent = ir.ashr(ir.sub(pattern, ir.ik(x, 0x3f3504f3u)), 23);
  Value m = ir.as_float(ir.sub(pattern, ir.shl(exponent, 23)));
  if (denormals) exponent = ir.sub(exponent, ir.select(denormal, ir.ik(x, 24), ir.ik(x, 0)));
  return {ir.fsub(m, ir.fk(x, 1)), ir.sitofp(exponent)};
}

/// (ln(1 + f) - f) / f^2; 3e-8.
Value log_tail(const Ir& ir, Value f) {
  return horner(ir, f,
                {-0x1.fffffep-2f, 0x1.555554p-2f, -0x1.00020cp-2f, 0x1.99a012p-3f, -0x1.54837ep-3f, 0x1.22ea4ap-3f, -0x1.0cda54p-3f,
                 0x1.049008p-3f, -0x1.3a50c2p-4f});
}

/// Zero, negative, infinite and NaN arguments of a logarithm.
Value log_special(const Ir& ir, Value x, Value result) {
  result = ir.select(ir.feq(x, ir.fk(x, kInfinity)), x, result);
  result = ir.select(ir.feq(x, ir.fk(x, 0)), ir.fk(x, -kInfinity), result);
  Value nan = ir.fcmp(LLVMRealULT, x, ir.fk(x, 0));  // below zero or NaN
  return ir.select(nan, ir.as_float(ir.ik(x, 0x7fc00000u)), result);
}

/// x^n by squaring, n in 1..8; defined below 0 too.
Value small_integer_power(const Ir& ir, Value x, int n) {
  Value result = nullptr;
  for (Value square = x;; square = ir.fmul(square, square)) {
    if (n & 1) result = result ? ir.fmul(result, square) : square;
    n >>= 1;
    if (!n) return result;
  }
}

/// ln(1 + u) for u >= -1, accurate near 0.
Value log1p(const Ir& ir, Value u) {
  Value w = ir.fadd(ir.fk(u, 1), u);
  Value lost = ir.fdiv(ir.fsub(u, ir.fsub(w, ir.fk(u, 1))), w);
  Value exact = ir.fadd(emit_log(ir, w), lost);
  // w - 1 is the whole of u only while w is finite; at -1 the quotient is 0/0.
  Value plain = ir.or_(ir.fge(u, ir.fk(u, 0x1p30f)), ir.fcmp(LLVMRealULE, u, ir.fk(u, -1)));
  return ir.select(plain, emit_log(ir, w), exact);
}

}  // namespace

Value emit_exp2(const Ir& ir, Value x) {
  Value clamped = ir.fclamp(x, ir.fk(x, -160), ir.fk(x, 130));
  Value n = ir.round_even(clamped);
  Value result = scale(ir, exp2_fraction(ir, ir.fsub(clamped, n)), ir.fptosi(n));
  return ir.select(ir.is_nan(x), x, result);
}

Value emit_exp(const Ir& ir, Value x) { return exp_scaled(ir, x, 0); }

Value emit_log2(const Ir& ir, Value x) {
  const Reduced r = reduce_log(ir, x);
  Value high = ir.fmul(r.f, ir.fk(x, 0x1.715476p+0f));
  Value low = ir.fma(r.f, ir.fk(x, 0x1.715476p+0f), ir.fneg(high));
  low = ir.fma(r.f, ir.fk(x, 0x1.4ae0cp-26f), low);
  Value tail = ir.fmul(ir.fmul(r.f, r.f), log_tail(ir, r.f));
  low = ir.fma(tail, ir.fk(x, 0x1.715476p+0f), low);
  return log_special(ir, x, ir.fadd(r.e, ir.fadd(high, low)));
}

Value emit_log(const Ir& ir, Value x) {
  const Reduced r = reduce_log(ir, x);
  Value low = ir.fma(ir.fmul(r.f, r.f), log_tail(ir, r.f), ir.fmul(r.e, ir.fk(x, kLn2Low)));
  return log_special(ir, x, ir.fma(r.e, ir.fk(x, kLn2High), ir.fadd(r.f, low)));
}

Value emit_pow(const Ir& ir, Value x, Value y) {
  const Value original = y;
  float exponent = 0;
  const bool known = Ir::constant_float(y, exponent);
  if (known && exponent == 0) return ir.fk(x, 1);
  if (known && exponent >= 1 && exponent <= 8 && exponent == static_cast<float>(static_cast<int>(exponent))) {
    return small_integer_power(ir, x, static_cast<int>(exponent));
  }
  // Denormal x count as 0, as Vulkan allows. log2(x) = e + high + low: the product f / ln 2 and the sum with e are carried in two floats,
  // since an error in the last place of one float would be multiplied by y.
  const Reduced r = reduce_log(ir, x, false);
  Value product = ir.fmul(r.f, ir.fk(x, 0x1.715476p+0f));
  Value low = ir.fma(r.f, ir.fk(x, 0x1.715476p+0f), ir.fneg(product));
  low = ir.fma(r.f, ir.fk(x, 0x1.4ae0cp-26f), low);
  Value tail = horner(ir, r.f,
                      {-0x1.715476p-1f, 0x1.ec7094p-2f, -0x1.71548p-2f, 0x1.277c3ep-2f, -0x1.ec7734p-3f, 0x1.a48376p-3f, -0x1.6efd68p-3f,
                       0x1.5d01c4p-3f, -0x1.557ac8p-3f, 0x1.900146p-4f});
  low = ir.fma(ir.fmul(r.f, r.f), tail, low);
  Value high = ir.fadd(r.e, product);
  low = ir.fadd(low, ir.fsub(product, ir.fsub(high, r.e)));  // |e| is above |product| or 0
  // t = y * log2(x), again in two floats. Finite y only: infinities are far beyond every limit.
  if (!known) y = ir.fclamp(y, ir.fk(x, -0x1p100f), ir.fk(x, 0x1p100f));
  Value t = ir.fmul(y, high);
  Value t_low = ir.fma(y, low, ir.fma(y, high, ir.fneg(t)));
  Value sum = ir.fadd(t, t_low), n, fraction;
  if (known && std::fabs(exponent) < 1024) {
    // |t| < 2^18: the fraction needs no clamp, and n only where it can leave the exponents.
    n = ir.round_even(sum);
    fraction = ir.fadd(ir.fsub(t, n), t_low);
    if (!(std::fabs(exponent) < 0.8f)) n = ir.fclamp(n, ir.fk(x, -160), ir.fk(x, 130));
  } else {
    n = ir.round_even(ir.fclamp(sum, ir.fk(x, -160), ir.fk(x, 130)));
    fraction = ir.fclamp(ir.fadd(ir.fsub(t, n), t_low), ir.fk(x, -1), ir.fk(x, 1));  // beyond +-0.5 only where n was clamped
  }
  Value p = exp2_fraction(ir, fraction), result;
  if (known && std::fabs(exponent) < 0.8f) {
    result = ir.as_float(ir.add(ir.bits(p), ir.shl(ir.fptosi(n), 23)));  // |t| < 104: never denormal
  } else {
    result = scale(ir, p, ir.fptosi(n));
  }
  Value zero = ir.fk(x, 0), infinity = ir.fk(x, kInfinity), positive = ir.fgt(y, zero);
  result = ir.select(ir.flt(x, ir.fk(x, 0x1p-126f)), ir.select(positive, zero, infinity), result);
  result = ir.select(ir.feq(x, infinity), ir.select(positive, infinity, zero), result);
  result = ir.select(ir.fcmp(LLVMRealULT, x, zero), ir.as_float(ir.ik(x, 0x7fc00000u)), result);
  if (known) return result;
  result = ir.select(ir.is_nan(original), ir.as_float(ir.ik(x, 0x7fc00000u)), result);
  return ir.select(ir.or_(ir.feq(original, zero), ir.feq(x, ir.fk(x, 1))), ir.fk(x, 1), result);
}

Value emit_sinh(const Ir& ir, Value x) {
  Value a = ir.fabs(x), square = ir.fmul(x, x);
  Value small = ir.fma(ir.fmul(a, square), horner(ir, square, {0x1.555556p-3f, 0x1.11111ep-7f, 0x1.a009p-13f, 0x1.78a70ep-19f}), a);
  Value half = exp_scaled(ir, a, -1);  // e^a / 2: finite where sinh is
  Value large = ir.fsub(half, ir.fdiv(ir.fk(x, 0.25f), half));
  return ir.copysign(ir.select(ir.flt(a, ir.fk(x, 1)), small, large), x);
}

Value emit_cosh(const Ir& ir, Value x) {
  Value half = exp_scaled(ir, ir.fabs(x), -1);
  return ir.fadd(half, ir.fdiv(ir.fk(x, 0.25f), half));
}

Value emit_tanh(const Ir& ir, Value x) {
  Value a = ir.fabs(x), square = ir.fmul(x, x);
  Value small =
      ir.fma(ir.fmul(a, square),
             horner(ir, square, {-0x1.555556p-2f, 0x1.1110eap-3f, -0x1.ba08c4p-5f, 0x1.64a976p-6f, -0x1.116a16p-7f, 0x1.2c83cp-9f}), a);
  Value e = exp_scaled(ir, ir.fadd(a, a), 0);
  Value large = ir.fsub(ir.fk(x, 1), ir.fdiv(ir.fk(x, 2), ir.fadd(e, ir.fk(x, 1))));
  return ir.copysign(ir.select(ir.flt(a, ir.fk(x, 0.625f)), small, large), x);
}

Value emit_asinh(const Ir& ir, Value x) {
  Value a = ir.fabs(x), square = ir.fmul(a, a);
  Value u = ir.fadd(a, ir.fdiv(square, ir.fadd(ir.fk(x, 1), ir.sqrt(ir.fadd(square, ir.fk(x, 1))))));
  Value large = ir.fadd(emit_log(ir, a), ir.fk(x, kLn2High));
  return ir.copysign(ir.select(ir.fgt(a, ir.fk(x, 0x1p20f)), large, log1p(ir, u)), x);
}

Value emit_acosh(const Ir& ir, Value x) {
  Value t = ir.fsub(x, ir.fk(x, 1));
  Value u = ir.fadd(t, ir.sqrt(ir.fma(t, t, ir.fadd(t, t))));
  Value large = ir.fadd(emit_log(ir, x), ir.fk(x, kLn2High));
  Value result = ir.select(ir.fgt(x, ir.fk(x, 0x1p20f)), large, log1p(ir, u));
  return ir.select(ir.fcmp(LLVMRealULT, x, ir.fk(x, 1)), ir.as_float(ir.ik(x, 0x7fc00000u)), result);
}

Value emit_atanh(const Ir& ir, Value x) {
  Value a = ir.fabs(x);
  Value u = ir.fdiv(ir.fadd(a, a), ir.fsub(ir.fk(x, 1), a));
  Value result = ir.fmul(ir.fk(x, 0.5f), log1p(ir, u));
  result = ir.select(ir.flt(a, ir.fk(x, 0x1p-13f)), a, result);
  return ir.copysign(ir.select(ir.fcmp(LLVMRealUGT, a, ir.fk(x, 1)), ir.as_float(ir.ik(x, 0x7fc00000u)), result), x);
}

}  // namespace tilegpu::shader
