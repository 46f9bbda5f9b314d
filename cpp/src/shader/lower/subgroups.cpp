// shader/lower/subgroups.cpp -- operations among the invocations of a subgroup: four lanes side by side, for any number of lanes.
//
// In: OpGroupNonUniform*. Out: shuffles within groups of four. A subgroup is a quad. Lanes that don't run take no part; what a shuffle
// takes from them is what their registers hold. Sums of floats go by pairs, then pairs of pairs.
// Vertices, evaluated points and primitives of geometry shaders are in lanes as batches, chunks and deferred shading bring them there,
// which depends on the device: neighbours would be others elsewhere. So each is alone in its subgroup, the first of four of which the
// others don't run, and what a shuffle takes from these is its own value. Source: SPIR-V specification 1.6, section 3.32.24 "Non-Uniform
// Instructions"; Vulkan specification, "Group Operations", "Subgroups" (how invocations are assigned to them is the implementation's).
#include <algorithm>
#include <cassert>

#include "shader/lower/context.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kLast = kSubgroupSize - 1;

/// Of one instruction.
struct Subgroup {
  Lowering& l;
  const Ir& ir = l.ir;
  /// Lanes that take part; null: all. Helper invocations don't, as what they computed would be nobody's, where a shader does not ask for
  /// full quads.
  Value active = l.m.entry.has_mode(kExecutionModeRequireFullQuads) ? l.quad_mask() : l.write_mask();
  bool alone = !l.compute && !l.fragment;

  /// Each lane takes the lane of its group that `from` says of its place in it.
  template <class From>
  Value permute(Value v, From from) const {
    assert(!alone);
    std::vector<int> places;
    for (uint32_t k = 0; k < ir.lanes; ++k) places.push_back(static_cast<int>(k / kSubgroupSize * kSubgroupSize + from(k % kSubgroupSize)));
    return ir.shuffle(v, places);
  }
  Value place() const { return alone ? ir.ik(0) : ir.and_(ir.lane_index(), ir.ik(kLast)); }
  Value swapped(Value v, uint32_t bit) const {
    return permute(v, [bit](uint32_t k) { return k ^ bit; });
  }
  /// `which`: 0 to 3 for each lane, taken modulo 4.
  Value take(Value v, Value which) const {
    if (alone) return v;
    which = ir.and_(l.vary(which), ir.ik(kLast));
    Value result = permute(v, [](uint32_t) { return kLast; });
    for (uint32_t k = kLast; k-- > 0;) result = ir.select(ir.eq(which, ir.ik(k)), permute(v, [k](uint32_t) { return k; }), result);
    return result;
  }
  Val take(const Val& v, Value which) const {
    Val r{v.type, {}};
    for (Value x : v.c) r.c.push_back(take(l.vary(x), which));
    return r;
  }
  /// A bit for each lane of the group that runs and of which it holds.
  Value ballot(Value holds) const {
    Value bits = ir.shl(ir.zext(l.and_masks(active, l.vary(holds)), ir.i32), place());
    if (alone) return bits;
    bits = ir.or_(bits, swapped(bits, 1));
    return ir.or_(bits, swapped(bits, 2));
  }
  Value running() const { return ballot(ir.true_mask()); }
  Value below() const { return ir.sub(ir.shl(ir.ik(1), place()), ir.ik(1)); }
  Value lowest(Value bits) const { return ir.call_intrinsic("llvm.cttz", {ir.vi32}, {bits, ir.c1(false)}); }
  /// Of a ballot: bits of invocations that there are.
  Value invocations_of(const Val& ballot) const { return ir.and_(l.vary(ballot.c[0]), ir.ik((1u << kSubgroupSize) - 1)); }
  Value count(Value bits) const { return ir.unary("llvm.ctpop", bits); }

  Value combine(spv::Op op, Value a, Value b) const;
  Value neutral(spv::Op op, Value like) const;
  Val reduce(const Instruction& i) const;
  Val count_bits(const Instruction& i) const;
  Value all_equal(const Val& v) const;
};

Value Subgroup::combine(spv::Op op, Value a, Value b) const {
  switch (op) {
    case spv::OpGroupNonUniformIAdd:
      return ir.add(a, b);
    case spv::OpGroupNonUniformFAdd:
      return ir.fadd(a, b);
    case spv::OpGroupNonUniformIMul:
      return ir.mul(a, b);
    case spv::OpGroupNonUniformFMul:
      return ir.fmul(a, b);
    case spv::OpGroupNonUniformSMin:
      return ir.smin(a, b);
    case spv::OpGroupNonUniformUMin:
      return ir.umin(a, b);
    case spv::OpGroupNonUniformSMax:
      return ir.smax(a, b);
    case spv::OpGroupNonUniformUMax:
      return ir.umax(a, b);
    // Of a number and a NaN the number, as with lanes that take no part.
    case spv::OpGroupNonUniformFMin:
      return ir.select(ir.or_(ir.fcmp(LLVMRealOLT, b, a), ir.fcmp(LLVMRealUNO, a, a)), b, a);
    case spv::OpGroupNonUniformFMax:
      return ir.select(ir.or_(ir.fcmp(LLVMRealOGT, b, a), ir.fcmp(LLVMRealUNO, a, a)), b, a);
    case spv::OpGroupNonUniformBitwiseAnd:
    case spv::OpGroupNonUniformLogicalAnd:
      return ir.and_(a, b);
    case spv::OpGroupNonUniformBitwiseOr:
    case spv::OpGroupNonUniformLogicalOr:
      return ir.or_(a, b);
    default:
      assert(op == spv::OpGroupNonUniformBitwiseXor || op == spv::OpGroupNonUniformLogicalXor);
      return ir.xor_(a, b);
  }
}

/// What changes nothing, of the kind of `like`.
Value Subgroup::neutral(spv::Op op, Value like) const {
  const uint64_t top = uint64_t{1} << (Ir::bits_of(like) - 1);
  switch (op) {
    case spv::OpGroupNonUniformFAdd:
      return ir.number(like, -0.0);
    case spv::OpGroupNonUniformIMul:
      return Ir::same(like, 1);
    case spv::OpGroupNonUniformFMul:
      return ir.number(like, 1);
    case spv::OpGroupNonUniformSMin:
      return Ir::same(like, top - 1);
    case spv::OpGroupNonUniformSMax:
      return Ir::same(like, top);
    case spv::OpGroupNonUniformUMin:
    case spv::OpGroupNonUniformBitwiseAnd:
      return Ir::same(like, ~0ull);
    case spv::OpGroupNonUniformFMin:
      return ir.infinity(like);
    case spv::OpGroupNonUniformFMax:
      return ir.fneg(ir.infinity(like));
    case spv::OpGroupNonUniformLogicalAnd:
      return ir.true_mask();
    case spv::OpGroupNonUniformLogicalOr:
    case spv::OpGroupNonUniformLogicalXor:
      return ir.false_mask();
    default:  // IAdd, UMax, BitwiseOr, BitwiseXor
      return Ir::same(like, 0);
  }
}

Val Subgroup::reduce(const Instruction& i) const {
  const auto operation = static_cast<spv::GroupOperation>(l.m.operand(i, 1));
  const Val given = l.value(l.m.operand(i, 2));
  const uint32_t cluster = operation == spv::GroupOperationClusteredReduce ? l.constants.word(l.m.operand(i, 3)) : kSubgroupSize;
  Val result{i.type, {}};
  for (Value x : given.c) {
    x = l.vary(x);
    Value none = neutral(i.op, x);
    if (active) x = ir.select(active, x, none);
    if (alone) {
      if (operation == spv::GroupOperationExclusiveScan) x = none;
    } else if (operation == spv::GroupOperationInclusiveScan || operation == spv::GroupOperationExclusiveScan) {
      // What is `reach` lanes before, or nothing.
      const auto before = [&](Value v, uint32_t reach) {
        return ir.select(ir.ult(place(), ir.ik(reach)), none, permute(v, [reach](uint32_t k) { return k >= reach ? k - reach : k; }));
      };
      for (uint32_t reach : {1u, 2u}) x = combine(i.op, before(x, reach), x);
      if (operation == spv::GroupOperationExclusiveScan) x = before(x, 1);
    } else {
      for (uint32_t bit : {1u, 2u})
        if (bit < cluster) {
          // The lower lane's comes first on both sides: minimum and maximum of equal zeros, and NaN, are the same for all.
          Value other = swapped(x, bit);
          Value upper = ir.ne(ir.and_(place(), ir.ik(bit)), ir.ik(0));
          x = combine(i.op, ir.select(upper, other, x), ir.select(upper, x, other));
        }
    }
    result.c.push_back(x);
  }
  return result;
}

Val Subgroup::count_bits(const Instruction& i) const {
  Value bits = invocations_of(l.value(l.m.operand(i, 2)));
  const auto operation = static_cast<spv::GroupOperation>(l.m.operand(i, 1));
  if (operation == spv::GroupOperationExclusiveScan) bits = ir.and_(bits, below());
  if (operation == spv::GroupOperationInclusiveScan) bits = ir.and_(bits, ir.or_(below(), ir.shl(ir.ik(1), place())));
  return {i.type, {count(bits)}};
}

Value Subgroup::all_equal(const Val& v) const {
  Value differs = ir.false_mask(), first = lowest(running());
  for (Value x : v.c) {
    x = l.vary(x);
    Value other = take(x, first);
    differs = ir.or_(differs, Ir::is_float(x) ? ir.fcmp(LLVMRealUNE, x, other) : ir.ne(x, other));
  }
  return ir.eq(ballot(differs), ir.ik(0));
}

/// The first word of gl_SubgroupEqMask and its like. Who is alone has one place: the same word for all lanes.
Value subgroup_mask(const Ir& ir, uint32_t builtin, bool alone) {
  std::vector<Value> bits;
  for (uint32_t k = 0; k < (alone ? 1 : ir.lanes); ++k) {
    const uint32_t own = 1u << k % kSubgroupSize, below = own - 1, all = (1u << kSubgroupSize) - 1;
    bits.push_back(ir.c32(builtin == spv::BuiltInSubgroupEqMask   ? own
                          : builtin == spv::BuiltInSubgroupGeMask ? all & ~below
                          : builtin == spv::BuiltInSubgroupGtMask ? all & ~below & ~own
                          : builtin == spv::BuiltInSubgroupLeMask ? below | own
                                                                  : below));
  }
  return alone ? bits.front() : LLVMConstVector(bits.data(), ir.lanes);
}

}  // namespace

Value subgroup_builtin(const Ir& ir, const InterfaceScalar& s, bool alone) {
  switch (static_cast<spv::BuiltIn>(s.builtin)) {
    case spv::BuiltInSubgroupSize:
      return ir.c32(kSubgroupSize);
    case spv::BuiltInSubgroupLocalInvocationId:
      return alone ? ir.c32(0) : ir.and_(ir.lane_index(), ir.ik(kSubgroupSize - 1));
    case spv::BuiltInSubgroupEqMask:
    case spv::BuiltInSubgroupGeMask:
    case spv::BuiltInSubgroupGtMask:
    case spv::BuiltInSubgroupLeMask:
    case spv::BuiltInSubgroupLtMask:
      return s.element == 0 ? subgroup_mask(ir, s.builtin, alone) : ir.c32(0);
    default:
      return nullptr;
  }
}

bool Lowering::subgroup(const Instruction& i) {
  const bool rotates = i.op == spv::OpGroupNonUniformRotateKHR;
  if (!rotates && !is_quad_vote(i.op) && (i.op < spv::OpGroupNonUniformElect || i.op > spv::OpGroupNonUniformQuadSwap)) return false;
  const bool of_quads = is_quad_vote(i.op) || i.op == spv::OpGroupNonUniformQuadBroadcast || i.op == spv::OpGroupNonUniformQuadSwap;
  if (of_quads && !compute && !fragment) {
    unsupported(op_name(i.op) + " is supported in compute and fragment shaders only");
    define(i.id, zero(i.type));
    return true;
  }
  Subgroup s{*this};
  if (is_quad_vote(i.op)) s.active = quad_mask();  // a quad's helper invocations vote, whatever the shader asks for
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  const auto yes = [&](Value v) { define(i.id, {i.type, {v}}); };
  const auto taken = [&](Value which) {
    Val r = s.take(value(o(1)), which);
    r.type = i.type;
    define(i.id, r);
  };
  switch (static_cast<uint32_t>(i.op)) {  // some are of no enumeration that the headers have
    case kOpGroupNonUniformQuadAll:
      yes(ir.eq(s.ballot(ir.not_(vary(scalar(o(0))))), ir.ik(0)));
      return true;
    case kOpGroupNonUniformQuadAny:
      yes(ir.ne(s.ballot(scalar(o(0))), ir.ik(0)));
      return true;
    case spv::OpGroupNonUniformElect:
      yes(and_masks(s.active, ir.eq(ir.and_(s.running(), s.below()), ir.ik(0))));
      return true;
    case spv::OpGroupNonUniformAll:
      yes(ir.eq(s.ballot(ir.not_(vary(scalar(o(1))))), ir.ik(0)));
      return true;
    case spv::OpGroupNonUniformAny:
      yes(ir.ne(s.ballot(scalar(o(1))), ir.ik(0)));
      return true;
    case spv::OpGroupNonUniformAllEqual:
      yes(s.all_equal(value(o(1))));
      return true;
    case spv::OpGroupNonUniformBallot:
      define(i.id, {i.type, {s.ballot(scalar(o(1))), ir.ik(0), ir.ik(0), ir.ik(0)}});
      return true;
    case spv::OpGroupNonUniformInverseBallot:
      yes(ir.ne(ir.and_(ir.lshr(vary(value(o(1)).c[0]), s.place()), ir.ik(1)), ir.ik(0)));
      return true;
    case spv::OpGroupNonUniformBallotBitExtract: {
      // Words behind the first are of invocations that there are not.
      Value index = vary(scalar(o(2)));
      Value bit = ir.and_(ir.lshr(vary(value(o(1)).c[0]), ir.and_(index, ir.ik(31))), ir.ik(1));
      yes(ir.and_(ir.ne(bit, ir.ik(0)), ir.ult(index, ir.ik(32))));
      return true;
    }
    case spv::OpGroupNonUniformBallotBitCount:
      define(i.id, s.count_bits(i));
      return true;
    case spv::OpGroupNonUniformBallotFindLSB:
      yes(s.lowest(s.invocations_of(value(o(1)))));
      return true;
    case spv::OpGroupNonUniformBallotFindMSB:
      yes(ir.sub(ir.ik(31), ir.call_intrinsic("llvm.ctlz", {ir.vi32}, {s.invocations_of(value(o(1))), ir.c1(false)})));
      return true;
    case spv::OpGroupNonUniformBroadcastFirst:
      taken(s.lowest(s.running()));
      return true;
    case spv::OpGroupNonUniformBroadcast:
    case spv::OpGroupNonUniformShuffle:
    case spv::OpGroupNonUniformQuadBroadcast:
      taken(scalar(o(2)));
      return true;
    case spv::OpGroupNonUniformShuffleXor:
      taken(ir.xor_(s.place(), vary(scalar(o(2)))));
      return true;
    case spv::OpGroupNonUniformShuffleUp:
      taken(ir.sub(s.place(), vary(scalar(o(2)))));
      return true;
    case spv::OpGroupNonUniformShuffleDown:
      taken(ir.add(s.place(), vary(scalar(o(2)))));
      return true;
    case spv::OpGroupNonUniformQuadSwap:
      taken(ir.xor_(s.place(), ir.add(vary(scalar(o(2))), ir.ik(1))));
      return true;
    case spv::OpGroupNonUniformRotateKHR: {
      // Within its cluster, whose size is a power of two.
      const uint32_t cluster = i.count > 3 ? std::min(constants.word(o(3)), kSubgroupSize) : kSubgroupSize;
      Value inside = ir.ik(cluster ? cluster - 1 : 0), at = ir.and_(ir.add(s.place(), vary(scalar(o(2)))), inside);
      taken(ir.or_(ir.and_(s.place(), ir.not_(inside)), at));
      return true;
    }
    default:
      define_rounded(i.id, s.reduce(i));
      return true;
  }
}

}  // namespace tilegpu::shader
