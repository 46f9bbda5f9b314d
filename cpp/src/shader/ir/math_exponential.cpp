// shader/ir/math_exponential.cpp -- exp2, exp, log2, log, pow, the hyperbolic functions and their inverses.
//
// In and out: see math.hpp. Coefficients are Chebyshev fits made with 40 digits. Largest errors measured by tests/test_math.cpp
// against double precision over all signs and exponents, denormal results included, in ulp (Vulkan's limit in parentheses):
//   exp2 0.9, exp 1.1 (3 + 2|x|); log2 1.2, log 0.9 (3); pow at most 0.54 of what Vulkan allows (that of exp2(y * log2(x)), 20 ulp at
//   0.1^2.2 and hundreds at the ends of the range), and exact for exponents of 1 to 8 but for the products' rounding; sinh 1.6, cosh 1.5,
//   tanh 1.4, asinh 1.8, acosh 2.1, atanh 1.9 (inherited, thousands of ulp).
#include "shader/ir/math.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>

#include "shader/ir/lane_range.hpp"
#include "shader/ir/polynomial.hpp"

namespace tilegpu::shader {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr float kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

/// 2^n of an integral n in [-126, 127] as i32.
Value power_of_two(const Ir& ir, Value n) { return ir.as_float(ir.shl(ir.add(n, ir.ik(n, 127)), 23)); }

/// p * 2^n for p near 1 and n in [-250, 250]: two steps, so that only the last one can round (to a denormal).
Value scale(const Ir& ir, Value p, Value n) {
  assert(Ir::is_float(p) && Ir::is_integer(n));
  Value half = ir.ashr(n, 1);
  return ir.fmul(ir.fmul(p, power_of_two(ir, half)), power_of_two(ir, ir.sub(n, half)));
}

/// The same of an integral n as f32: one instruction of AVX-512, which rounds once, too.
Value scale_by_float(const Ir& ir, Value p, Value n) {
  const uint32_t lanes = Ir::lanes_of(p);
  assert(Ir::type_of(p) == Ir::type_of(n) && Ir::bits_of(p) == 32);
  if (!ir.wide || lanes < 16) return scale(ir, p, ir.fptosi(n));
  if (lanes == 16) {
    constexpr uint32_t kRoundAsSet = 4;
    return ir.call_intrinsic("llvm.x86.avx512.mask.scalef.ps.512", {},
                             {p, n, Ir::zero(Ir::type_of(p)), LLVMConstInt(ir.i16, 0xffff, 0), ir.c32(kRoundAsSet)});
  }
  Value halves[2];
  for (uint32_t k = 0; k < 2; ++k) {
    const std::vector<int> half = lane_range(k * lanes / 2, lanes / 2);
    halves[k] = scale_by_float(ir, ir.shuffle(p, half), ir.shuffle(n, half));
  }
  return ir.shuffle(halves[0], halves[1], lane_range(0, lanes));
}

/// 2^r for r in [-0.5, 0.5]; 8e-9.
Value exp2_fraction(const Ir& ir, Value r) {
  Value q = horner(ir, r, {0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6af6cp-5f, 0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f});
  return ir.fma(q, r, ir.fk(r, 1));
}

/// e^x * 2^shift.
Value exp_scaled(const Ir& ir, Value x, int shift) {
  assert(shift >= -1 && shift <= 1);  // so that the sum of powers stays within scale()'s
  Value clamped = ir.fclamp(x, ir.fk(x, -110), ir.fk(x, 100));
  Value n = ir.round_even(ir.fmul(clamped, ir.fk(x, 0x1.715476p+0f)));
  Value r = ir.fma(n, ir.fk(x, -kLn2High), clamped);
  r = ir.fma(n, ir.fk(x, -kLn2Low), r);
  Value q = horner(ir, r, {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b9p-7f, 0x1.6d112cp-10f});
  Value p = ir.fadd(ir.fma(ir.fmul(r, r), q, r), ir.fk(x, 1));
  Value result = scale_by_float(ir, p, shift ? ir.fadd(n, ir.fk(x, static_cast<float>(shift))) : n);
  return ir.select(ir.is_nan(x), x, result);
}

struct Reduced {
  Value f;  // x = 2^e * (1 + f), f in [-0.293, 0.414], exact
  Value e;  // f32
};

/// Finite results for every x, also where they mean nothing (x below 0, infinite, NaN).
Reduced reduce_log(const Ir& ir, Value x) {
  assert(Ir::bits_of(x) == 32 && Ir::is_float(x));
  Value denormal = ir.flt(x, ir.fk(x, 0x1p-126f));
  Value pattern = ir.bits(ir.select(denormal, ir.fmul(x, ir.fk(x, 0x1p24f)), x));
  Value exponent = ir.ashr(ir.sub(pattern, ir.ik(x, 0x3f3504f3u)), 23);
  Value m = ir.as_float(ir.sub(pattern, ir.shl(exponent, 23)));
  exponent = ir.sub(exponent, ir.select(denormal, ir.ik(x, 24), ir.ik(x, 0)));
  return {ir.fsub(m, ir.fk(x, 1)), ir.sitofp(exponent)};
}

/// (ln(1 + f) - f) / f^2; 3e-8.
Value log_tail(const Ir& ir, Value f) {
  return horner(ir, f,
                {-0x1.fffffep-2f, 0x1.555554p-2f, -0x1.00020cp-2f, 0x1.99a012p-3f, -0x1.54837ep-3f, 0x1.22ea4ap-3f, -0x1.0cda54p-3f,
                 0x1.049008p-3f, -0x1.3a50c2p-4f});
}

/// 2^23 log2(1 + f) / f; 5.3e-8 2^23 in the product with f.
Value log2_quotient(const Ir& ir, Value f) {
  return horner(ir, f,
                {0x1.715472p+23f, -0x1.7155bap+22f, 0x1.ec7b64p+21f, -0x1.70babap+21f, 0x1.2596aap+21f, -0x1.0011e4p+21f, 0x1.e52662p+20f,
                 -0x1.2a7cccp+20f});
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

/// A function of the module that gives make(parameters), and a call of it with these arguments (of one type, which is the result's).
template <class Make>
Value call_shared(const Ir& ir, const std::string& name, std::initializer_list<Value> arguments, Make&& make) {
  const auto count = static_cast<unsigned>(arguments.size());
  std::vector<Value> values(arguments);
  assert(count && Ir::type_of(values[0]) == Ir::type_of(values[count - 1]));
  const std::vector<Type> types(count, Ir::type_of(values[0]));
  Type signature = LLVMFunctionType(types[0], const_cast<Type*>(types.data()), count, 0);
  Value fn = LLVMGetNamedFunction(ir.module, name.c_str());
  if (!fn) {
    Block here = ir.current_block();
    fn = ir.function(name.c_str(), signature);
    LLVMSetLinkage(fn, LLVMPrivateLinkage);
    ir.at(ir.block(fn, "entry"));
    LLVMBuildRet(ir.builder, make(fn));
    ir.at(here);
  }
  return LLVMBuildCall2(ir.builder, signature, fn, values.data(), count, "");
}

}  // namespace

static Value general_pow(const Ir& ir, Value x, Value y, bool known, float exponent);

Value emit_exp2(const Ir& ir, Value x) {
  Value clamped = ir.fclamp(x, ir.fk(x, -160), ir.fk(x, 130));
  Value n = ir.round_even(clamped);
  Value result = scale_by_float(ir, exp2_fraction(ir, ir.fsub(clamped, n)), n);
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
  float exponent = 0;
  const bool known = Ir::constant_float(y, exponent);
  if (known && exponent == 0) return ir.fk(x, 1);
  if (known && exponent == 0.5f) return ir.sqrt(x);
  if (known && exponent >= 1 && exponent <= 8 && exponent == static_cast<float>(static_cast<int>(exponent))) {
    return small_integer_power(ir, x, static_cast<int>(exponent));
  }
  if (!ir.quick || Ir::lanes_of(x) == 1) return general_pow(ir, x, y, known, exponent);
  // Once for all components of a color.
  if (known) {
    return call_shared(ir, "pow_" + std::to_string(std::bit_cast<uint32_t>(exponent)), {x},
                       [&](Value fn) { return general_pow(ir, LLVMGetParam(fn, 0), y, true, exponent); });
  }
  return call_shared(ir, "pow", {x, y},
                     [&](Value fn) { return general_pow(ir, LLVMGetParam(fn, 0), LLVMGetParam(fn, 1), false, exponent); });
}

static Value general_pow(const Ir& ir, Value x, Value y, bool known, float exponent) {
  // L = 2^23 log2(x): the exponent stays where it is in the pattern. Of positive normal x; other patterns give some L in [-128, 130] 2^23.
  // Denormal x count as 0, and denormal results become 0, as Vulkan allows.
  constexpr float kOne = 0x1p23f, kMinimum = 0x1p-126f, kMaximum = 0x1.fffffep127f, kRound = 0x1.8p23f;
  constexpr float kHighest = 128.49f, kLowest = -190;             // of y log2(x): beyond them all is infinity, or 0
  const bool narrow = known && exponent > 0 && exponent < 0.99f;  // |t| < 126 for all x: no end of the range is reached
  const bool positive = narrow || (known && exponent > 1 && exponent < 0x1p14f);
  Value zero = ir.fk(x, 0), infinity = ir.fk(x, kInfinity), nan = ir.as_float(ir.ik(x, 0x7fc00000u)), pattern = ir.bits(x);
  if (!narrow) pattern = ir.smax(pattern, ir.ik(x, 0));  // negative numbers, and -0
  Value e = ir.and_(ir.sub(pattern, ir.ik(x, 0x3f3504f3u)), ir.ik(x, 0xff800000u));
  Value f = ir.fsub(ir.as_float(ir.sub(pattern, e)), ir.fk(x, 1));
  Value l = ir.fma(f, log2_quotient(ir, f), ir.sitofp(e));
  // t = y log2(x) = n + r. The sum with 1.5 * 2^23 rounds to the whole number n and leaves it in the low bits.
  Value t = nullptr, shifted = nullptr, r = nullptr;
  if (positive) {
    Value scaled = ir.fk(x, exponent / kOne);
    if (exponent > 1) l = ir.fmin_second(l, ir.fk(x, kHighest / exponent * kOne));
    if (exponent * -128 < kLowest) l = ir.fmax_second(l, ir.fk(x, kLowest / exponent * kOne));
    shifted = ir.fma(scaled, l, ir.fk(x, kRound));
    r = ir.fma(scaled, l, ir.fneg(ir.fsub(shifted, ir.fk(x, kRound))));
  } else {
    t = ir.fclamp(ir.fmul(y, ir.fmul(l, ir.fk(x, 1 / kOne))), ir.fk(x, kLowest), ir.fk(x, kHighest));
    shifted = ir.fadd(t, ir.fk(x, kRound));
    r = ir.fsub(t, ir.fsub(shifted, ir.fk(x, kRound)));
  }
  Value p =
      ir.fma(horner(ir, r, {0x1.62e42ap-1f, 0x1.ebf9bcp-3f, 0x1.c6b752p-5f, 0x1.3cea84p-7f, 0x1.5bba58p-10f}), r, ir.fk(x, 1));  // 1.1e-7
  Value scaled = ir.add(ir.bits(p), ir.shl(ir.bits(shifted), 23));
  if (narrow) {
    Value result = ir.select(ir.flt(x, ir.fk(x, kMinimum)), zero, ir.as_float(scaled));
    result = ir.select(ir.fcmp(LLVMRealUGT, x, ir.fk(x, kMaximum)), x, result);  // infinity, NaN
    return ir.select(ir.flt(x, zero), nan, result);
  }
  // Exponents from 255 on become infinity, those up to 0 (as signed numbers) zero.
  Value result = ir.as_float(ir.select(ir.slt(scaled, ir.ik(x, 0x00800000u)), ir.ik(x, 0), ir.smin(scaled, ir.ik(x, 0x7f800000u))));
  if (positive) return ir.select(ir.fcmp(LLVMRealULT, x, zero), nan, result);  // 0 and infinity came out by themselves
  Value grows = ir.fgt(y, zero);
  result = ir.select(ir.flt(x, ir.fk(x, kMinimum)), ir.select(grows, zero, infinity), result);
  result = ir.select(ir.feq(x, infinity), ir.select(grows, infinity, zero), result);
  result = ir.select(ir.or_(ir.fcmp(LLVMRealULT, x, zero), ir.is_nan(y)), nan, result);
  return ir.select(ir.or_(ir.feq(y, zero), ir.feq(x, ir.fk(x, 1))), ir.fk(x, 1), result);
}

// e^a / 2. Vulkan defines the hyperbolic functions by e^a, and is infinite where that is, though their values go on to 89.4.
static Value half_exp(const Ir& ir, Value a) {
  constexpr float kLargest = 0x1.62e42ep+6f;  // of which the exponential is finite
  return ir.select(ir.fgt(a, ir.fk(a, kLargest)), ir.fk(a, std::numeric_limits<float>::infinity()), exp_scaled(ir, a, -1));
}

Value emit_sinh(const Ir& ir, Value x) {
  Value a = ir.fabs(x), square = ir.fmul(x, x);
  Value small = ir.fma(ir.fmul(a, square), horner(ir, square, {0x1.555556p-3f, 0x1.11111ep-7f, 0x1.a009p-13f, 0x1.78a70ep-19f}), a);
  Value half = half_exp(ir, a);
  Value large = ir.fsub(half, ir.fdiv(ir.fk(x, 0.25f), half));
  return ir.copysign(ir.select(ir.flt(a, ir.fk(x, 1)), small, large), x);
}

Value emit_cosh(const Ir& ir, Value x) {
  Value half = half_exp(ir, ir.fabs(x));
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
