// shader/ir/math_convert.cpp -- min and max, rounding helpers, conversions between floats, integers and halves, ldexp and frexp.
//
// In and out: see math.hpp. Everything is exact or correctly rounded; NaN, infinity, signed zero and overflow are defined and the same on
// every lane count. Source: Vulkan specification, "Precision and Operation of SPIR-V Instructions"; IEEE 754-2019, 9.6.
#include "shader/ir/math.hpp"

#include <cassert>
#include <cmath>
#include <vector>

namespace tilegpu::shader {
namespace {

constexpr uint32_t kCanonicalNan = 0x7fc00000u;
constexpr uint64_t kCanonicalNan64 = 0x7ff8000000000000u;

}  // namespace

Value emit_canonical_nan(const Ir& ir, Value x) {
  Value nan = Ir::bits_of(x) == 64 ? ir.bitcast(Ir::splat_constant(ir.c64(kCanonicalNan64), Ir::lanes_of(x)), Ir::type_of(x))
                                   : ir.as_float(ir.ik(x, kCanonicalNan));
  return ir.select(ir.is_nan(x), nan, x);
}

Value emit_fdiv(const Ir& ir, Value x, Value y, bool shared) {
  float divisor = 0;
  if (Ir::bits_of(x) == 64) return ir.fdiv(x, y);
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

/// What a constant says of its numbers, in every lane.
enum class Numbers { may_be_nan, numbers, numbers_beside_zero };

static Numbers numbers_of(Value v) {
  if (!LLVMIsConstant(v)) return Numbers::may_be_nan;
  Numbers all = Numbers::numbers_beside_zero;
  const uint32_t lanes = Ir::lanes_of(v);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    const Value one = lanes > 1 ? LLVMGetAggregateElement(v, lane) : v;
    if (!one || !LLVMIsAConstantFP(one)) return Numbers::may_be_nan;  // undef, or an expression
    LLVMBool loses = 0;
    const double number = LLVMConstRealGetDouble(one, &loses);
    if (std::isnan(number)) return Numbers::may_be_nan;
    if (number == 0) all = Numbers::numbers;
  }
  return all;
}

/// The second operand, unless the first is less (or more), or a number beside a NaN: what minps or maxps do for nothing where one of both
/// is a constant, and with a test and a choice more elsewhere.
static Value number_or_second(const Ir& ir, Value a, Value b, bool least) {
  const auto choose = [&](Value x, Value y) { return least ? ir.fmin_second(x, y) : ir.fmax_second(x, y); };
  if (numbers_of(b) != Numbers::may_be_nan) return choose(a, b);
  const Numbers first = numbers_of(a);
  if (first == Numbers::numbers_beside_zero) return choose(b, a);  // equal ones are the same bits
  if (first == Numbers::numbers) return ir.select(least ? ir.fle(b, a) : ir.fge(b, a), b, a);
  return ir.select(ir.is_nan(b), a, choose(a, b));
}

Value emit_fmin(const Ir& ir, Value a, Value b) { return number_or_second(ir, a, b, true); }
Value emit_fmax(const Ir& ir, Value a, Value b) { return number_or_second(ir, a, b, false); }
Value emit_fclamp(const Ir& ir, Value x, Value low, Value high) { return emit_fmin(ir, emit_fmax(ir, x, low), high); }

static bool is_beside_zero(Value v) { return numbers_of(v) == Numbers::numbers_beside_zero; }

static Value is_negative(const Ir& ir, Value v) {
  const Type bits = Ir::bits_of(v) == 64 ? ir.i64 : Ir::bits_of(v) == 16 ? ir.i16 : ir.i32;
  Value word = ir.bitcast(v, Ir::like(v, bits));
  return ir.slt(word, Ir::zero(Ir::type_of(word)));
}

// The number beside NaN; of zeros the one whose sign says so (SPV_KHR_float_controls2 lets a module ask for signs of zeros).
Value emit_nmin(const Ir& ir, Value a, Value b) {
  Value first = ir.flt(a, b);
  if (!is_beside_zero(a) && !is_beside_zero(b)) first = ir.select(is_negative(ir, b), first, ir.fle(a, b));
  return ir.select(ir.is_nan(b), a, ir.select(first, a, b));
}
Value emit_nmax(const Ir& ir, Value a, Value b) {
  Value first = ir.fgt(a, b);
  if (!is_beside_zero(a) && !is_beside_zero(b)) first = ir.select(is_negative(ir, b), ir.fge(a, b), first);
  return ir.select(ir.is_nan(b), a, ir.select(first, a, b));
}
Value emit_nclamp(const Ir& ir, Value x, Value low, Value high) { return emit_nmin(ir, emit_nmax(ir, x, low), high); }

Value emit_fsign(const Ir& ir, Value x) {
  Value zero = ir.number(x, 0), one = ir.copysign(ir.number(x, 1), x);
  return ir.select(ir.fcmp(LLVMRealONE, x, zero), one, ir.select(ir.is_nan(x), zero, x));
}

Value emit_fract(const Ir& ir, Value x) {
  // For tiny negative x the difference rounds to 1; Vulkan wants a result below 1. Infinities give NaN by the subtraction.
  Value below_one = ir.number(x, Ir::bits_of(x) == 64 ? 0x1.fffffffffffffp-1 : 0x1.fffffep-1);
  return ir.fmin_second(below_one, ir.fsub(x, ir.floor(x)));  // NaN stays
}

static Value by_halves(const Ir& ir, Value x, Value (*convert)(const Ir&, Value)) {
  const uint32_t lanes = Ir::lanes_of(x);
  std::vector<int> both(lanes);
  for (uint32_t k = 0; k < lanes; ++k) both[k] = static_cast<int>(k);
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(lanes / 2);
  const std::vector<int> low(both.begin(), middle), high(middle, both.end());
  return ir.shuffle(convert(ir, ir.shuffle(x, low)), convert(ir, ir.shuffle(x, high)), both);
}

/// As the CPU converts 4, 8, 16 or 32 floats: what no int32 can hold, NaN too, becomes 0x80000000. Null for other counts.
static Value convert_as_the_cpu(const Ir& ir, Value x) {
  const uint32_t lanes = Ir::lanes_of(x);
  if (lanes == 4) return ir.call_intrinsic("llvm.x86.sse2.cvttps2dq", {}, {x});
  if (lanes == 8) return ir.call_intrinsic("llvm.x86.avx.cvtt.ps2dq.256", {}, {x});
  return lanes > 8 ? by_halves(ir, x, convert_as_the_cpu) : nullptr;
}

/// By AVX-512: `instruction` converts lanes of `mask` (i16), the others are `otherwise`'s.
static Value convert_wide(const Ir& ir, const char* instruction, Value x, Value mask, Value otherwise) {
  constexpr uint32_t kNoExceptions = 8;
  assert(ir.wide && Ir::lanes_of(x) == 16 && Ir::type_of(mask) == ir.i16);
  return ir.call_intrinsic(instruction, {}, {x, otherwise, mask, ir.c32(kNoExceptions)});
}

/// By AVX-512, of lanes that no int32 can hold, but for those below: 0 where x is NaN, else the largest. Two of these instructions and a
/// comparison are the whole conversion, and unseen_sums.cpp knows what they do not see.
static Value beyond_int32(const Ir& ir, Value x) {
  // A response for each class of numbers, of 4 bits: +0 for quiet and signalling NaN, the first operand for all others.
  constexpr uint32_t kZeroForNan = 0x88, kNoExceptions = 8;
  return ir.bits(ir.call_intrinsic(
      "llvm.x86.avx512.mask.fixupimm.ps.512", {},
      {ir.as_float(ir.ik(x, 0x7fffffffu)), x, ir.ik(x, kZeroForNan), ir.c32(0), LLVMConstInt(ir.i16, 0xffff, 0), ir.c32(kNoExceptions)}));
}

Value emit_float_to_int(const Ir& ir, Value x) {
  if (!kX86) return ir.call_intrinsic("llvm.fptosi.sat", {Ir::like(x, ir.i32), Ir::type_of(x)}, {x});  // an instruction, and the same
  if (ir.wide && Ir::lanes_of(x) > 16) return by_halves(ir, x, emit_float_to_int);
  if (ir.wide && Ir::lanes_of(x) == 16) {  // what is too low becomes the least by itself
    Value holds = LLVMBuildBitCast(ir.builder, ir.flt(x, ir.fk(x, 0x1p31f)), ir.i16, "");
    return convert_wide(ir, "llvm.x86.avx512.mask.cvttps2dq.512", x, holds, beyond_int32(ir, x));
  }
  if (Value raw = convert_as_the_cpu(ir, x)) {
    // Below, 0x80000000 is right; above, all bits turned round are.
    Value result = ir.xor_(raw, ir.sext(ir.fge(x, ir.fk(x, 0x1p31f)), ir.i32));
    return ir.select(ir.is_nan(x), ir.ik(x, 0), result);
  }
  // In range by clamping (the largest float below 2^31 for the conversion), then the upper end is put right.
  Value in_range = ir.fclamp(x, ir.fk(x, -0x1p31f), ir.fk(x, 0x1.fffffep30f));
  Value result = ir.fptosi(in_range);
  result = ir.select(ir.fge(x, ir.fk(x, 0x1p31f)), ir.ik(x, 0x7fffffffu), result);
  return ir.select(ir.is_nan(x), ir.ik(x, 0), result);
}

Value emit_float_to_uint(const Ir& ir, Value x) {
  if (ir.wide && Ir::lanes_of(x) > 16) return by_halves(ir, x, emit_float_to_uint);
  if (ir.wide && Ir::lanes_of(x) == 16) {             // beyond the range it is ~0
    Value positive = ir.fmax_second(x, ir.fk(x, 0));  // NaN to 0
    return convert_wide(ir, "llvm.x86.avx512.mask.cvttps2udq.512", positive, LLVMConstInt(ir.i16, 0xffff, 0),
                        Ir::zero(Ir::vec(ir.i32, 16)));
  }
  Value clamped = ir.fclamp(x, ir.fk(x, 0), ir.fk(x, 0x1.fffffep31f));  // NaN to 0
  Value upper = ir.fge(clamped, ir.fk(x, 0x1p31f));
  Value low = ir.select(upper, ir.fsub(clamped, ir.fk(x, 0x1p31f)), clamped);  // exact
  Value result = ir.xor_(ir.fptosi(low), ir.select(upper, ir.ik(x, 0x80000000u), ir.ik(x, 0)));
  return ir.select(ir.fge(x, ir.fk(x, 0x1p32f)), ir.ik(x, ~0u), result);
}

Value emit_int_to_float(const Ir& ir, Value x) { return ir.sitofp(x); }

Value emit_uint_to_float(const Ir& ir, Value x) {
  // LLVM's own way rounds once, too, and is one instruction where the sign is known to be 0 (x >> 8), or with AVX-512.
  return ir.uitofp(x);
}

// For vectors of AArch64 LLVM goes by way of doubles and rounds twice. There what has more than 53 bits loses its lowest twelve first: the
// last that stays is 1 where any of them was, so that the double is exact and the float is rounded as if all were there.
Value emit_long_to_float(const Ir& ir, Value x, bool is_signed) {
  assert(Ir::bits_of(x) == 64);
  if (kX86)
    return is_signed ? LLVMBuildSIToFP(ir.builder, x, Ir::like(x, ir.f32), "") : LLVMBuildUIToFP(ir.builder, x, Ir::like(x, ir.f32), "");
  constexpr uint32_t kDropped = 12;
  Value negative = is_signed ? ir.slt(x, Ir::same(x, 0)) : nullptr;
  Value size = is_signed ? ir.select(negative, ir.sub(Ir::same(x, 0), x), x) : x;  // of the least number 2^63, which it is without a sign
  Value sticky = ir.zext(ir.ne(ir.and_(size, Ir::same(size, (1u << kDropped) - 1)), Ir::same(size, 0)), ir.i64);
  Value large = ir.ne(ir.lshr(size, 53), Ir::same(size, 0));
  Value exact = ir.select(large, ir.or_(ir.lshr(size, kDropped), sticky), size);
  Value rounded = ir.to_float(LLVMBuildUIToFP(ir.builder, exact, Ir::like(x, ir.f64), ""));
  Value result = ir.select(large, ir.fmul(rounded, ir.fk(rounded, 0x1p12f)), rounded);
  return is_signed ? ir.select(negative, ir.fneg(result), result) : result;
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

Value emit_round_to_half(const Ir& ir, Value x) {
  assert(Ir::bits_of(x) == 32);
  Value half = LLVMBuildFPTrunc(ir.builder, x, Ir::like(x, ir.f16), "");
  Value wide = LLVMBuildFPExt(ir.builder, half, Ir::type_of(x), "");
  // Or LLVM computes with halves what is computed with it, which x86-64-v3 does lane by lane.
  return ir.unary("llvm.arithmetic.fence", wide);
}

Value emit_round_to_odd(const Ir& ir, Value x) {
  assert(Ir::bits_of(x) == 64);
  Value near = ir.to_float(x), back = ir.to_double(near), pattern = ir.bits(near);
  Value inexact = ir.fcmp(LLVMRealONE, back, x);  // not of NaN
  Value larger = ir.fgt(ir.fabs(back), ir.fabs(x));
  Value towards_zero = ir.sub(pattern, ir.zext(larger, ir.i32));
  return ir.as_float(ir.select(inexact, ir.or_(towards_zero, ir.ik(pattern, 1)), pattern));
}

Value emit_convert_towards_zero(const Ir& ir, Value x, bool to_half) {
  if (Ir::bits_of(x) == 64) {
    Value near = ir.to_float(x);
    Value larger = ir.fgt(ir.fabs(ir.to_double(near)), ir.fabs(x));  // not of NaN, nor of infinity itself
    x = ir.as_float(ir.sub(ir.bits(near), ir.zext(larger, ir.i32)));
  }
  if (!to_half) return x;
  Value size = ir.fabs(x), pattern = ir.bits(x);
  Value normal = ir.as_float(ir.and_(pattern, ir.ik(pattern, ~0x1fffu)));
  Value small = ir.fmul(ir.ftrunc(ir.fmul(x, ir.fk(x, 0x1p24f))), ir.fk(x, 0x1p-24f));  // multiples of the least half
  Value most = ir.copysign(ir.fk(x, 65504.0f), x);
  Value finite = ir.select(ir.fgt(size, ir.fk(x, 65504.0f)), most, ir.select(ir.flt(size, ir.fk(x, 0x1p-14f)), small, normal));
  return ir.select(ir.flt(size, ir.infinity(x)), finite, x);  // infinity and NaN stay
}

Value emit_float_to_integer(const Ir& ir, Value x, Type to, bool is_signed) {
  if (to == ir.i32 && Ir::bits_of(x) == 32) return is_signed ? emit_float_to_int(ir, x) : emit_float_to_uint(ir, x);
  return ir.call_intrinsic(is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", {Ir::like(x, to), Ir::type_of(x)}, {x});
}

/// Two steps that no number needs to be rounded after, and the rest.
static Value ldexp_of_double(const Ir& ir, Value x, Value n) {
  n = ir.sext(ir.sclamp(n, ir.ik(n, static_cast<uint32_t>(-2200)), ir.ik(n, 2200)), ir.i64);
  const auto power = [&](Value e) { return ir.bitcast(ir.shl(ir.add(e, Ir::same(e, 1023)), 52), Ir::type_of(x)); };
  const auto k = [&](int64_t number) { return Ir::same(n, static_cast<uint64_t>(number)); };
  for (int step = 0; step < 2; ++step) {
    // Down by less than the exponents' range: the significand keeps its 53 bits.
    Value by = ir.select(ir.sgt(n, k(1023)), k(1023), ir.select(ir.slt(n, k(-1022)), k(-969), k(0)));
    x = ir.fmul(x, power(by));
    n = ir.sub(n, by);
  }
  return ir.fmul(x, power(ir.sclamp(n, k(-1022), k(1023))));
}

Value emit_ldexp(const Ir& ir, Value x, Value n) {
  if (Ir::bits_of(x) == 64) return ldexp_of_double(ir, x, n);
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

static Frexp frexp_of_double(const Ir& ir, Value x) {
  Value magnitude = ir.fabs(x);
  Value small = ir.flt(magnitude, ir.number(x, 0x1p-1022));
  Value scaled = ir.select(small, ir.fmul(x, ir.number(x, 0x1p53)), x);
  Value pattern = ir.bitcast(scaled, Ir::like(x, ir.i64));
  const auto k = [&](uint64_t number) { return Ir::same(pattern, number); };
  Value exponent = ir.sub(ir.and_(ir.lshr(pattern, 52), k(2047)), ir.select(small, k(1022 + 53), k(1022)));
  Value significand = ir.bitcast(ir.or_(ir.and_(pattern, k(0x800fffffffffffffu)), k(uint64_t{1022} << 52)), Ir::type_of(x));
  Value special = ir.or_(ir.feq(x, ir.number(x, 0)), ir.or_(ir.is_nan(x), ir.feq(magnitude, ir.infinity(x))));
  return {ir.select(special, x, significand), ir.trunc(ir.select(special, k(0), exponent), ir.i32)};
}

Frexp emit_frexp(const Ir& ir, Value x) {
  if (Ir::bits_of(x) == 64) return frexp_of_double(ir, x);
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
