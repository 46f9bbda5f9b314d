// shader/ir/math_trigonometry.cpp -- sin, cos, tan and their inverses.
//
// In and out: see math.hpp. The argument is reduced in float, by pi or pi/2 in three parts (Cody and Waite, "Software Manual for the
// Elementary Functions"; with fused multiply-adds the first product is exact). Lanes of |x| >= 2^18, where the number of turns would not
// be, are reduced in double behind one branch: exact enough up to |x| = 2^30 or so; far beyond, results stay within -1..1 but say nothing.
// Where code is for several packets that is a loop over one at a time, through memory: what is hardly ever run shall not take registers
// from what stands around it.
// Largest errors measured by tests/test_math.cpp against double precision, in ulp (Vulkan's limit in parentheses): sin, cos 2.1 for
// |x| < 2^20 (absolute 2^-11 where |x| <= pi); tan 2.9; asin 1.9, acos 1.3, atan 1.4, atan2 1.5 (4096).
#include <string_view>

#include "shader/ir/math.hpp"
#include "shader/ir/polynomial.hpp"

namespace tilegpu::shader {
namespace {

constexpr float kHalfPiHigh = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;
constexpr float kPiHigh = 0x1.921fb6p+1f, kPiLow = -0x1.777a5cp-24f;

struct Angle {
  Value r, square;  // what is left of x, at most half a step and a little, and its square
  Value steps;      // i32, low two bits count
};

constexpr float kReducedInFloat = 0x1p18f;

/// x - (n + offset) * step, n the integer that leaves least. `step`: pi or pi/2, `per_x`: 1 / step.
Angle reduce_wide(const Ir& ir, Value x, double per_x, double step, double step_low, float offset) {
  Value wide = ir.to_double(x);
  // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
  Value sum = ir.fadd(ir.fma(wide, ir.dk(wide, per_x), ir.dk(wide, -static_cast<double>(offset))), ir.dk(wide, 0x1.8p52));
  Value n = ir.fsub(sum, ir.dk(wide, 0x1.8p52));
  if (offset != 0) n = ir.fadd(n, ir.dk(wide, static_cast<double>(offset)));
  Value r = ir.fma(n, ir.dk(wide, -step), wide);
  r = ir.fma(n, ir.dk(wide, -step_low), r);
  Value narrow = ir.to_float(r);
  // Arguments too large to reduce; NaN and infinity (whose remainder is NaN) go through.
  Value r_f = ir.select(ir.fgt(ir.fabs(narrow), ir.fk(x, static_cast<float>(step) * 0.51f)), ir.fk(x, 0), narrow);
  return {r_f, nullptr, ir.trunc(LLVMBuildBitCast(ir.builder, sum, Ir::like(x, ir.i64), ""), ir.i32)};
}

/// condition ? rare() : usual, with control flow whose first way is unlikely.
template <class Rare>
std::vector<Value> unlikely(const Ir& ir, Value condition, Rare&& rare, const std::vector<Value>& usual) {
  Block before = ir.current_block(), then = ir.block("rare"), after = ir.block("usual");
  ir.br(condition, then, after);
  LLVMMetadataRef weights[3] = {LLVMMDStringInContext2(ir.context, "branch_weights", 14), LLVMValueAsMetadata(ir.c32(1)),
                                LLVMValueAsMetadata(ir.c32(2000))};
  LLVMSetMetadata(LLVMGetBasicBlockTerminator(before), LLVMGetMDKindIDInContext(ir.context, "prof", 4),
                  LLVMMetadataAsValue(ir.context, LLVMMDNodeInContext2(ir.context, weights, 3)));
  ir.at(then);
  const std::vector<Value> values = rare();
  Block end = ir.current_block();
  ir.br(after);
  ir.at(after);
  std::vector<Value> result;
  assert(values.size() == usual.size());
  for (size_t k = 0; k < values.size(); ++k) result.push_back(ir.phi(Ir::type_of(values[k]), {{values[k], end}, {usual[k], before}}));
  return result;
}

/// Memory on the function's stack for three vectors, the same for all angles of as many lanes.
Value angle_memory(const Ir& ir, uint32_t lanes) {
  constexpr const char kName[] = "angles";
  const Type type = LLVMArrayType2(ir.f32, uint64_t{3} * lanes);
  Block entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(ir.current_block()));
  Value first = LLVMGetFirstInstruction(entry);
  size_t length = 0;
  if (first && LLVMIsAAllocaInst(first) && LLVMGetAllocatedType(first) == type &&
      std::string_view(LLVMGetValueName2(first, &length)).starts_with(kName))
    return first;
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(ir.context);
  if (first)
    LLVMPositionBuilderBefore(builder, first);
  else
    LLVMPositionBuilderAtEnd(builder, entry);
  Value memory = LLVMBuildAlloca(builder, type, kName);
  LLVMSetAlignment(memory, 64);
  LLVMDisposeBuilder(builder);
  return memory;
}

/// reduce_wide of all lanes, those of one packet at a time.
Angle reduce_wide_apart(const Ir& ir, Value x, double per_x, double step, double step_low, float offset) {
  const uint32_t lanes = Ir::lanes_of(x), at_once = ir.wide ? 16 : 8;
  assert(Ir::bits_of(x) == 32);
  if (lanes <= at_once) return reduce_wide(ir, x, per_x, step, step_low, offset);
  assert(lanes % at_once == 0);
  Value from = angle_memory(ir, lanes), to = ir.offset(from, uint64_t{4} * lanes), to_steps = ir.offset(to, uint64_t{4} * lanes);
  ir.store(x, from, 4);
  Block before = ir.current_block(), loop = ir.block("wide"), after = ir.block("wide_end");
  ir.br(loop);
  ir.at(loop);
  Value at_B = LLVMBuildPhi(ir.builder, ir.i64, "");
  const Angle some = reduce_wide(ir, ir.load(Ir::vec(ir.f32, at_once), ir.offset(from, at_B), 4), per_x, step, step_low, offset);
  ir.store(some.r, ir.offset(to, at_B), 4);
  ir.store(some.steps, ir.offset(to_steps, at_B), 4);
  Value next_B = ir.add(at_B, ir.c64(uint64_t{4} * at_once)), zero = ir.c64(0);
  Block end = ir.current_block();
  LLVMAddIncoming(at_B, &zero, &before, 1);
  LLVMAddIncoming(at_B, &next_B, &end, 1);
  ir.br(ir.ult(next_B, ir.c64(uint64_t{4} * lanes)), loop, after);
  ir.at(after);
  return {ir.load(Ir::type_of(x), to, 4), nullptr, ir.load(Ir::like(x, ir.i32), to_steps, 4)};
}

/// By steps of pi (`half_steps` false) or pi/2.
Angle reduce(const Ir& ir, Value x, bool half_steps, float offset) {
  assert(offset == 0 || offset == 0.5f);
  const float scale = half_steps ? 0.5f : 1;
  // pi = 0x1.921fb4p+1 + 0x1.4442dp-23 + 0x1.846ap-47 - 2^-66 or so; all parts have the sign of pi.
  const float parts[3] = {0x1.921fb4p+1f * scale, 0x1.4442dp-23f * scale, 0x1.846ap-47f * scale};
  Value sum = ir.fma(x, ir.fk(x, 0x1.45f306p-2f / scale), ir.fk(x, offset == 0 ? 0x1.8p23f : -offset));
  if (offset != 0) sum = ir.fadd(sum, ir.fk(x, 0x1.8p23f));  // rounds to an integer, in the low bits
  Value n = ir.fsub(sum, ir.fk(x, 0x1.8p23f));
  if (offset != 0) n = ir.fadd(n, ir.fk(x, offset));
  Value r = x;
  for (float part : parts) r = ir.fma(n, ir.fk(x, -part), r);
  Value large = ir.not_(ir.flt(ir.fabs(x), ir.fk(x, kReducedInFloat)));  // NaN too
  const std::vector<Value> reduced =
      unlikely(ir, ir.any(large),
               [&] {
                 const double wide_scale = static_cast<double>(scale);
                 const Angle w = reduce_wide_apart(ir, x, 0x1.45f306dc9c883p-2 / wide_scale, 0x1.921fb54442d18p+1 * wide_scale,
                                                   0x1.1a62633145c07p-53 * wide_scale, offset);
                 return std::vector<Value>{ir.select(large, w.r, r), ir.select(large, w.steps, ir.bits(sum))};
               },
               {r, ir.bits(sum)});
  return {reduced[0], ir.fmul(reduced[0], reduced[0]), reduced[1]};
}

/// sin(r), |r| up to 1.585; 7e-9 relative, never above 1, and 1 at both floats beside pi/2.
Value sine_of_half_turn(const Ir& ir, const Angle& a) {
  Value q = horner(ir, a.square, {-0x1.555548p-3f, 0x1.110e98p-7f, -0x1.9f6af2p-13f, 0x1.5d8fbap-19f});
  return ir.fma(ir.fmul(a.r, a.square), q, a.r);
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

Value odd(const Ir& ir, Value steps) { return ir.ne(ir.and_(steps, ir.ik(steps, 1)), ir.ik(steps, 0)); }
Value flip_where_odd(const Ir& ir, Value x, Value steps) { return ir.as_float(ir.xor_(ir.bits(x), ir.shl(steps, 31))); }

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
  const Angle a = reduce(ir, x, false, 0);
  Value result = flip_where_odd(ir, sine_of_half_turn(ir, a), a.steps);
  return ir.select(ir.fne(x, ir.fk(x, 0)), result, x);  // -0 stays
}

Value emit_cos(const Ir& ir, Value x) {
  // cos(r + (n + 1/2) pi) is -sin(r), times -1 for odd n.
  const Angle a = reduce(ir, x, false, 0.5f);
  // A selection, not a change of bits, whose NaN a store would take for one that the program made of an integer, and keep.
  const Value s = sine_of_half_turn(ir, a);
  return ir.select(odd(ir, a.steps), s, ir.fneg(s));
}

Value emit_tan(const Ir& ir, Value x) {
  const Angle a = reduce(ir, x, true, 0);
  Value swap = odd(ir, a.steps), s = sine(ir, a), c = cosine(ir, a);
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
