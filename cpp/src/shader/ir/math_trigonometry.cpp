// shader/ir/math_trigonometry.cpp -- sin, cos, tan and their inverses.
//
// In and out: see math.hpp. The argument is reduced in double (pi/2 as two doubles): exact enough up to |x| = 2^30 or so; far beyond,
// results stay within -1..1 but say nothing. Largest errors measured by tests/test_math.cpp against double precision, in ulp
// (Vulkan's limit in parentheses): sin, cos 1.5 for |x| < 2^20 (absolute 2^-11); tan 2.9; asin 1.9, acos 1.3, atan 1.4, atan2 1.5 (4096).
#include "shader/ir/math.hpp"
#include "shader/ir/polynomial.hpp"

namespace tilegpu::shader {
namespace {

constexpr float kHalfPiHigh = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;
constexpr float kPiHigh = 0x1.921fb6p+1f, kPiLow = -0x1.777a5cp-24f;

struct Angle {
  Value r, square;  // in [-pi/4, pi/4]
  Value quadrant;   // i32, low two bits count
};

Angle reduce(const Ir& ir, Value x) {
  Value wide = ir.to_double(x);
  // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
  Value sum = ir.fma(wide, ir.dk(wide, 0x1.45f306dc9c883p-1), ir.dk(wide, 0x1.8p52));
  Value n = ir.fsub(sum, ir.dk(wide, 0x1.8p52));
  Value r = ir.fma(n, ir.dk(wide, -0x1.921fb54442d18p+0), wide);
  r = ir.fma(n, ir.dk(wide, -0x1.1a62633145c07p-54), r);
  Angle angle;
  Value quadrant = LLVMBuildBitCast(ir.builder, sum, Ir::like(x, ir.i64), "");
  angle.quadrant = ir.trunc(quadrant, ir.i32);
  Value narrow = ir.to_float(r);
  // Arguments too large to reduce; NaN and infinity (whose remainder is NaN) go through.
  angle.r = ir.select(ir.fgt(ir.fabs(narrow), ir.fk(x, 0.8f)), ir.fk(x, 0), narrow);
  angle.square = ir.fmul(angle.r, angle.r);
  return angle;
}

Value sine(const Ir& ir, const Angle& a) {  // 3e-11 relative
  Value q = horner(ir, a.square, {-0x1.555556p-3f, 0x1.11110ep-7f, -0x1.a013a6p-13f, 0x1.6dbdc6p-19f});
  return ir.fma(ir.fmul(a.r, a.square), q, a.r);
}

Value cosine(const Ir& ir, const Angle& a) {  // 2e-9 * r^4
  Value q = horner(ir, a.square, {0x1.555554p-5f, -0x1.6c12d2p-10f, 0x1.9bd858p-16f});
  Value half = ir.fmul(a.square, ir.fk(a.r, 0.5f));
  Value w = ir.fsub(ir.fk(a.r, 1), half);
  Value lost = ir.fsub(ir.fsub(ir.fk(a.r, 1), w), half);  // of the subtraction
  return ir.fadd(w, ir.fma(ir.fmul(a.square, a.square), q, lost));
}

Value odd(const Ir& ir, Value quadrant) { return ir.ne(ir.and_(quadrant, ir.ik(quadrant, 1)), ir.ik(quadrant, 0)); }
Value flip_sign(const Ir& ir, Value x, Value quadrant) {  // negative where bit 1 is set
  return ir.as_float(ir.xor_(ir.bits(x), ir.shl(ir.and_(quadrant, ir.ik(quadrant, 2)), 30)));
}

/// atan(t) for t in [0, 1]; 2.5e-9.
Value atan_unit(const Ir& ir, Value t) {
  Value square = ir.fmul(t, t);
  Value q = horner(ir, square,
                   {-0x1.555556p-2f, 0x1.999956p-3f, -0x1.248952p-3f, 0x1.c62cdap-4f, -0x1.6dd8fep-4f, 0x1.2006f8p-4f, -0x1.9115a4p-5f,
                    0x1.aefb2cp-6f, -0x1.2ba6b6p-7f, 0x1.86406cp-10f});
  return ir.fma(ir.fmul(t, square), q, t);
}

/// asin(a) for a in [0, 0.5]; 4e-9.
Value asin_half(const Ir& ir, Value a) {
  Value square = ir.fmul(a, a);
  Value q = horner(ir, square, {0x1.555554p-3f, 0x1.333430p-4f, 0x1.6d5bbap-5f, 0x1.fd8da2p-6f, 0x1.18f91ep-6f, 0x1.13fed4p-5f});
  return ir.fma(ir.fmul(a, square), q, a);
}

/// sqrt((1 - a) / 2): NaN for a > 1.
Value half_angle(const Ir& ir, Value a) { return ir.sqrt(ir.fmul(ir.fsub(ir.fk(a, 1), a), ir.fk(a, 0.5f))); }

/// high + low - v, rounded nearly once.
Value minus(const Ir& ir, float high, float low, Value v) { return ir.fadd(ir.fsub(ir.fk(v, high), v), ir.fk(v, low)); }

}  // namespace

Value emit_sin(const Ir& ir, Value x) {
  const Angle a = reduce(ir, x);
  Value result = flip_sign(ir, ir.select(odd(ir, a.quadrant), cosine(ir, a), sine(ir, a)), a.quadrant);
  return ir.select(ir.feq(x, ir.fk(x, 0)), x, result);  // -0 stays
}

Value emit_cos(const Ir& ir, Value x) {
  const Angle a = reduce(ir, x);
  Value result = ir.select(odd(ir, a.quadrant), sine(ir, a), cosine(ir, a));
  return flip_sign(ir, result, ir.add(a.quadrant, ir.ik(a.quadrant, 1)));
}

Value emit_tan(const Ir& ir, Value x) {
  const Angle a = reduce(ir, x);
  Value swap = odd(ir, a.quadrant), s = sine(ir, a), c = cosine(ir, a);
  Value result = ir.fdiv(ir.select(swap, ir.fneg(c), s), ir.select(swap, s, c));
  return ir.select(ir.feq(x, ir.fk(x, 0)), x, result);
}

Value emit_asin(const Ir& ir, Value x) {
  Value a = ir.fabs(x), small = ir.fle(a, ir.fk(x, 0.5f));
  Value part = asin_half(ir, ir.select(small, a, half_angle(ir, a)));
  Value large = minus(ir, kHalfPiHigh, kHalfPiLow, ir.fadd(part, part));
  return ir.copysign(ir.select(small, part, large), x);
}

Value emit_acos(const Ir& ir, Value x) {
  Value a = ir.fabs(x), small = ir.fle(a, ir.fk(x, 0.5f));
  Value part = asin_half(ir, ir.select(small, a, half_angle(ir, a)));
  Value twice = ir.fadd(part, part);
  Value negative = ir.flt(x, ir.fk(x, 0));
  Value large = ir.select(negative, minus(ir, kPiHigh, kPiLow, twice), twice);
  Value near_zero = ir.fadd(ir.fsub(ir.fk(x, kHalfPiHigh), ir.copysign(part, x)), ir.fk(x, kHalfPiLow));
  return ir.select(small, near_zero, large);
}

Value emit_atan(const Ir& ir, Value x) {
  Value a = ir.fabs(x), large = ir.fgt(a, ir.fk(x, 1));
  Value r = atan_unit(ir, ir.select(large, ir.fdiv(ir.fk(x, 1), a), a));
  return ir.copysign(ir.select(large, minus(ir, kHalfPiHigh, kHalfPiLow, r), r), x);
}

Value emit_atan2(const Ir& ir, Value y, Value x) {
  Value a = ir.fabs(y), b = ir.fabs(x);
  Value steep = ir.fgt(a, b);
  Value numerator = ir.select(steep, b, a), denominator = ir.select(steep, a, b);
  Value infinity = ir.fk(x, __builtin_inff());
  Value t = ir.fdiv(numerator, denominator);
  t = ir.select(ir.feq(numerator, infinity), ir.fk(x, 1), t);       // both infinite
  t = ir.select(ir.feq(denominator, ir.fk(x, 0)), ir.fk(x, 0), t);  // both zero
  Value r = atan_unit(ir, t);
  r = ir.select(steep, minus(ir, kHalfPiHigh, kHalfPiLow, r), r);
  Value left = ir.slt(ir.bits(x), ir.ik(x, 0));  // -0 too
  r = ir.select(left, minus(ir, kPiHigh, kPiLow, r), r);
  r = ir.select(ir.or_(ir.is_nan(x), ir.is_nan(y)), ir.as_float(ir.ik(x, 0x7fc00000u)), r);
  return ir.copysign(r, y);
}

}  // namespace tilegpu::shader
