// shader/lower/alu.cpp -- arithmetic, logic, comparison, conversion: one LLVM instruction for each scalar.
//
// In: instructions without side effects. Out: values. Everything is defined on every lane: division by zero gives zero (all ones for
// no operation of Vulkan), shifts take 5 bits, conversions saturate. What works on each scalar alone stands in three tables, by its
// number of operands. Matrices and dot products: matrices.cpp; composites: composites.cpp; derivatives: derivatives.cpp.
// Source: SPIR-V specification 1.6, sections 3.32.11 "Conversion" to 3.32.15 "Relational and Logical"; Vulkan, "Precision and Operation".
#include <algorithm>
#include <cassert>

#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"
#include "shader/lower/elementwise.hpp"

namespace tilegpu::shader {
namespace {

Value emit_fmul(const Ir& ir, Value x, Value y) { return ir.fmul(x, y); }

/// An amount of any width for a shift of `x`, modulo the bits of `x`.
Value finite_shift(const Ir& ir, Value x, Value by) {
  by = ir.and_(by, Ir::same(by, Ir::bits_of(x) - 1));
  const Type element = Ir::element_of(Ir::type_of(x));
  if (Ir::bits_of(by) == Ir::bits_of(x)) return by;
  return Ir::bits_of(by) < Ir::bits_of(x) ? ir.zext(by, element) : ir.trunc(by, element);
}

template <LLVMRealPredicate predicate>
Value compare_floats(const Ir& ir, Value x, Value y) {
  return ir.fcmp(predicate, x, y);
}

template <LLVMIntPredicate predicate>
Value compare_integers(const Ir& ir, Value x, Value y) {
  return ir.icmp(predicate, x, y);
}

/// By zero: zero. The most negative number by -1, whose quotient has no place: itself, rest zero.
template <spv::Op op>
Value divide(const Ir& ir, Value a, Value b) {
  constexpr bool is_signed = op != spv::OpUDiv && op != spv::OpUMod;
  Value zero = Ir::same(b, 0);
  Value bad = ir.eq(b, zero);
  if (is_signed) bad = ir.or_(bad, ir.and_(ir.eq(a, Ir::same(a, uint64_t{1} << (Ir::bits_of(a) - 1))), ir.eq(b, Ir::same(b, ~0ull))));
  Value safe = ir.select(bad, Ir::same(b, 1), b);
  Value by_zero = ir.eq(b, zero);
  if (op == spv::OpUDiv) return ir.select(by_zero, zero, LLVMBuildUDiv(ir.builder, a, safe, ""));
  if (op == spv::OpSDiv) return ir.select(by_zero, zero, LLVMBuildSDiv(ir.builder, a, safe, ""));
  if (op == spv::OpUMod) return ir.select(by_zero, zero, LLVMBuildURem(ir.builder, a, safe, ""));
  Value r = LLVMBuildSRem(ir.builder, a, safe, "");  // 0 where bad
  if (op == spv::OpSRem) return r;
  Value turn = ir.and_(ir.ne(r, zero), ir.slt(ir.xor_(r, safe), zero));
  return ir.select(turn, ir.add(r, safe), r);
}

/// Denormal halves are flushed to zero, with their sign.
Value quantize_to_half(const Ir& ir, Value x) {
  Value half = emit_float_to_half(ir, x);
  Value tiny = ir.eq(ir.and_(half, Ir::same(half, 0x7c00)), Ir::same(half, 0));
  return emit_half_to_float(ir, ir.select(tiny, ir.and_(half, Ir::same(half, 0x8000)), half));
}

constexpr Unary<spv::Op> kUnary[] = {
    {spv::OpFNegate, [](const Ir& ir, Value x) { return ir.fneg(x); }},
    {spv::OpSNegate, [](const Ir& ir, Value x) { return ir.neg(x); }},
    {spv::OpNot, [](const Ir& ir, Value x) { return ir.not_(x); }},
    {spv::OpLogicalNot, [](const Ir& ir, Value x) { return ir.not_(x); }},
    {spv::OpBitReverse, [](const Ir& ir, Value x) { return ir.unary("llvm.bitreverse", x); }},
    {spv::OpQuantizeToF16, quantize_to_half},
    {spv::OpIsNan, [](const Ir& ir, Value x) { return ir.is_nan(x); }},
    {spv::OpIsInf, [](const Ir& ir, Value x) { return ir.feq(ir.fabs(x), ir.infinity(x)); }},
};

constexpr Binary<spv::Op> kBinary[] = {
    {spv::OpFAdd, [](const Ir& ir, Value x, Value y) { return ir.fadd(x, y); }},
    {spv::OpFSub, [](const Ir& ir, Value x, Value y) { return ir.fsub(x, y); }},
    {spv::OpFMul, emit_fmul},
    {spv::OpFRem, [](const Ir& ir, Value x, Value y) { return ir.fma(ir.fneg(ir.ftrunc(ir.fdiv(x, y))), y, x); }},
    {spv::OpFMod, [](const Ir& ir, Value x, Value y) { return ir.fma(ir.fneg(ir.floor(ir.fdiv(x, y))), y, x); }},
    {spv::OpIAdd, [](const Ir& ir, Value x, Value y) { return ir.add(x, y); }},
    {spv::OpISub, [](const Ir& ir, Value x, Value y) { return ir.sub(x, y); }},
    {spv::OpIMul, [](const Ir& ir, Value x, Value y) { return ir.mul(x, y); }},
    {spv::OpUDiv, divide<spv::OpUDiv>},
    {spv::OpSDiv, divide<spv::OpSDiv>},
    {spv::OpUMod, divide<spv::OpUMod>},
    {spv::OpSRem, divide<spv::OpSRem>},
    {spv::OpSMod, divide<spv::OpSMod>},
    {spv::OpShiftLeftLogical, [](const Ir& ir, Value x, Value by) { return ir.shl(x, finite_shift(ir, x, by)); }},
    {spv::OpShiftRightLogical, [](const Ir& ir, Value x, Value by) { return ir.lshr(x, finite_shift(ir, x, by)); }},
    {spv::OpShiftRightArithmetic, [](const Ir& ir, Value x, Value by) { return ir.ashr(x, finite_shift(ir, x, by)); }},
    {spv::OpBitwiseOr, [](const Ir& ir, Value x, Value y) { return ir.or_(x, y); }},
    {spv::OpLogicalOr, [](const Ir& ir, Value x, Value y) { return ir.or_(x, y); }},
    {spv::OpBitwiseAnd, [](const Ir& ir, Value x, Value y) { return ir.and_(x, y); }},
    {spv::OpLogicalAnd, [](const Ir& ir, Value x, Value y) { return ir.and_(x, y); }},
    {spv::OpBitwiseXor, [](const Ir& ir, Value x, Value y) { return ir.xor_(x, y); }},
    {spv::OpLogicalNotEqual, [](const Ir& ir, Value x, Value y) { return ir.xor_(x, y); }},
    {spv::OpLogicalEqual, [](const Ir& ir, Value x, Value y) { return ir.not_(ir.xor_(x, y)); }},
    {spv::OpFOrdEqual, compare_floats<LLVMRealOEQ>},
    {spv::OpFUnordEqual, compare_floats<LLVMRealUEQ>},
    {spv::OpFOrdNotEqual, compare_floats<LLVMRealONE>},
    {spv::OpFUnordNotEqual, compare_floats<LLVMRealUNE>},
    {spv::OpFOrdLessThan, compare_floats<LLVMRealOLT>},
    {spv::OpFUnordLessThan, compare_floats<LLVMRealULT>},
    {spv::OpFOrdGreaterThan, compare_floats<LLVMRealOGT>},
    {spv::OpFUnordGreaterThan, compare_floats<LLVMRealUGT>},
    {spv::OpFOrdLessThanEqual, compare_floats<LLVMRealOLE>},
    {spv::OpFUnordLessThanEqual, compare_floats<LLVMRealULE>},
    {spv::OpFOrdGreaterThanEqual, compare_floats<LLVMRealOGE>},
    {spv::OpFUnordGreaterThanEqual, compare_floats<LLVMRealUGE>},
    {spv::OpIEqual, compare_integers<LLVMIntEQ>},
    {spv::OpINotEqual, compare_integers<LLVMIntNE>},
    {spv::OpUGreaterThan, compare_integers<LLVMIntUGT>},
    {spv::OpSGreaterThan, compare_integers<LLVMIntSGT>},
    {spv::OpUGreaterThanEqual, compare_integers<LLVMIntUGE>},
    {spv::OpSGreaterThanEqual, compare_integers<LLVMIntSGE>},
    {spv::OpULessThan, compare_integers<LLVMIntULT>},
    {spv::OpSLessThan, compare_integers<LLVMIntSLT>},
    {spv::OpULessThanEqual, compare_integers<LLVMIntULE>},
    {spv::OpSLessThanEqual, compare_integers<LLVMIntSLE>},
};

/// Two results: low and high half, or sum and carry.
struct Wide {
  spv::Op op;
  std::pair<Value, Value> (*emit)(const Ir& ir, Value x, Value y);
};

std::pair<Value, Value> halves(const Ir& ir, Value x, Value y, bool is_signed) {
  const uint32_t bits = Ir::bits_of(x);
  const Type own = Ir::element_of(Ir::type_of(x)), twice = LLVMIntTypeInContext(ir.context, 2 * bits);
  const auto wide = [&](Value v) { return is_signed ? ir.sext(v, twice) : ir.zext(v, twice); };
  Value product = ir.mul(wide(x), wide(y));
  return {ir.trunc(product, own), ir.trunc(ir.lshr(product, bits), own)};
}

constexpr Wide kWide[] = {
    {spv::OpIAddCarry,
     [](const Ir& ir, Value x, Value y) {
       Value sum = ir.add(x, y);
       return std::pair{sum, ir.zext(ir.ult(sum, x), Ir::element_of(Ir::type_of(x)))};
     }},
    {spv::OpISubBorrow,
     [](const Ir& ir, Value x, Value y) {
       Value difference = ir.sub(x, y);
       return std::pair{difference, ir.zext(ir.ult(x, y), Ir::element_of(Ir::type_of(x)))};
     }},
    {spv::OpUMulExtended, [](const Ir& ir, Value x, Value y) { return halves(ir, x, y, false); }},
    {spv::OpSMulExtended, [](const Ir& ir, Value x, Value y) { return halves(ir, x, y, true); }},
};

}  // namespace

/// A sum one of whose terms is a delayed product.
bool Lowering::fused_sum(const Instruction& i) {
  assert(i.op == spv::OpFAdd || i.op == spv::OpFSub);
  const uint32_t terms[2] = {m.operand(i, 0), m.operand(i, 1)};
  int product = -1;
  for (int k = 0; k < 2 && product < 0; ++k) {
    if (frame().delayed.count(terms[k])) product = k;
  }
  if (product < 0) return false;
  const bool subtract = i.op == spv::OpFSub;
  const auto factors = [&](uint32_t id, Val& x, Val& y) {
    const Instruction& p = *frame().delayed.at(id);
    x = value(m.operand(p, 0)), y = value(m.operand(p, 1));
    if (p.op == spv::OpVectorTimesScalar) y.c.assign(x.c.size(), y.c[0]);
  };
  Val x, y, other;
  factors(terms[product], x, y);
  const uint32_t other_id = terms[1 - product];
  if (frame().delayed.count(other_id)) {  // both are products: the first is fused, the second rounded
    Val u, v;
    factors(other_id, u, v);
    other = map(i.type, u, v, emit_fmul);
  } else {
    other = value(other_id);
  }
  assert(x.c.size() == y.c.size() && x.c.size() == other.c.size());
  Val result{i.type, {}};
  for (size_t k = 0; k < x.c.size(); ++k) {
    Value a = x.c[k], b = y.c[k], c = other.c[k];
    unify(a, b, c);
    if (subtract && product == 0) c = ir.fneg(c);
    if (subtract && product == 1) a = ir.fneg(a);
    result.c.push_back(ir.fma(a, b, c));
  }
  define_rounded(i.id, result);
  return true;
}

/// OpBitFieldInsert and -Extract of one scalar. `count` is 0 to its bits; a mask of so many ones is made in two steps, so that no shift is
/// by all of them.
Value Lowering::bit_field(spv::Op op, Value base, Value insert, Value offset, Value count) const {
  unify(base, insert, offset, count);
  const uint32_t bits = Ir::bits_of(base);
  count = ir.umin(count, Ir::same(count, bits));
  const Type own = Ir::element_of(Ir::type_of(base));
  Value n = Ir::bits_of(count) > bits ? ir.trunc(count, own) : ir.zext(count, own), from = finite_shift(ir, base, offset);
  Value some = ir.ne(n, Ir::same(n, 0));
  Value mask = ir.select(some, ir.lshr(Ir::same(n, ~0ull), finite_shift(ir, n, ir.sub(Ir::same(n, bits), n))), Ir::same(n, 0));
  if (op == spv::OpBitFieldInsert) {
    Value placed = ir.shl(mask, from);
    return ir.or_(ir.and_(base, ir.not_(placed)), ir.and_(ir.shl(insert, from), placed));
  }
  Value field = ir.and_(ir.lshr(base, from), mask);
  if (op == spv::OpBitFieldUExtract) return field;
  Value top = ir.select(some, ir.shl(Ir::same(n, 1), finite_shift(ir, n, ir.sub(n, Ir::same(n, 1)))), Ir::same(n, 0));
  return ir.sub(ir.xor_(field, top), top);
}

/// What isn't the same for each scalar. Empty: none of these.
Val Lowering::alu_of_whole(const Instruction& i) {
  const auto o = [&](uint32_t k) { return value(m.operand(i, k)); };
  Val r{i.type, {}};
  switch (i.op) {
    case spv::OpFDiv: {
      const Val a = o(0), b = o(1);
      const bool shared = b.c.size() > 1 && std::all_of(b.c.begin(), b.c.end(), [&](Value v) { return v == b.c[0]; });
      return map(i.type, a, b, [&](const Ir&, Value x, Value y) { return emit_fdiv(ir, x, y, shared); });
    }
    case spv::OpBitFieldInsert:
    case spv::OpBitFieldSExtract:
    case spv::OpBitFieldUExtract: {
      const bool insert = i.op == spv::OpBitFieldInsert;
      const Val base = o(0), other = insert ? o(1) : base;
      Value offset = scalar(m.operand(i, insert ? 2 : 1)), count = scalar(m.operand(i, insert ? 3 : 2));
      return map(i.type, base, other, [&](const Ir&, Value x, Value y) { return bit_field(i.op, x, y, offset, count); });
    }
    case spv::OpBitCount: {  // of any width, as any other
      const Type type = scalar_type(bases(i.type).front());
      return map(i.type, o(0), [&](const Ir&, Value x) {
        Value count = ir.unary("llvm.ctpop", x);
        const uint32_t bits = Ir::bits_of(x), wanted = Ir::bits_of(type);
        return bits < wanted ? ir.zext(count, type) : bits > wanted ? ir.trunc(count, type) : count;
      });
    }
    case spv::OpBitcast:  // the validator lets pointers of any class pass
      for (uint32_t type : {i.type, m.type_of(m.operand(i, 0))})
        if (m.type(type).kind == Kind::pointer && !is_address(m.type(type))) return r;
      return reinterpreted(o(0), i.type, is_nan_seen(m.operand(i, 0)));
    case spv::OpSelect: {
      const Val c = o(0), a = o(1), b = o(2);
      assert(a.c.size() == b.c.size() && (c.c.size() == 1 || c.c.size() == a.c.size()));
      for (size_t k = 0; k < a.c.size(); ++k) r.c.push_back(select(c.c[c.c.size() == 1 ? 0 : k], a.c[k], b.c[k]));
      return r;
    }
    case spv::OpAny:
    case spv::OpAll:
      for (Value x : o(0).c) {
        if (!r.c.empty()) unify(r.c[0], x);
        r.c = {r.c.empty() ? x : i.op == spv::OpAny ? ir.or_(r.c[0], x) : ir.and_(r.c[0], x)};
      }
      return r;
    default:
      return r;
  }
}

/// The bits of a float. What arithmetic made of a NaN is the one NaN already (nan_bits.hpp); another stage's, or a filter's, has the sign
/// that the CPU thinks of. Other bits that are no number are what the shader was given, and stay.
static Value bits_as_integer(const Ir& ir, Value x, bool has_one_nan) {
  Value word = ir.bitcast(x, Ir::like(x, LLVMIntTypeInContext(ir.context, Ir::bits_of(x))));
  if (!Ir::is_float(x) || has_one_nan) return word;
  const uint64_t nan = Ir::bits_of(x) == 64 ? 0x7ff8000000000000u : 0x7fc00000u, sign = uint64_t{1} << (Ir::bits_of(x) - 1);
  return ir.select(ir.eq(word, Ir::same(word, nan | sign)), Ir::same(word, nan), word);
}

/// The bits of scalars as scalars of another kind (`has_one_nan`: they have no other), which may be of another width: the lowest bits are
/// those of the first.
Val Lowering::reinterpreted(const Val& v, uint32_t type, bool has_one_nan) {
  const auto& from = bases(v.type);
  const auto& to = bases(type);
  assert(!to.empty() && from.size() == v.c.size());
  Val r{type, {}};
  std::vector<Value> words;  // integers
  for (size_t k = 0; k < v.c.size(); ++k) words.push_back(bits_as_integer(ir, to_memory(from[k], v.c[k]), has_one_nan));
  const uint32_t from_bits = 8 * size_B(from[0]), to_bits = 8 * size_B(to[0]);
  const Type own = LLVMIntTypeInContext(ir.context, to_bits);
  for (size_t k = 0; k < to.size(); ++k) {
    Value x = nullptr;
    if (to_bits <= from_bits) {
      const uint32_t per_word = from_bits / to_bits;
      Value word = words[std::min(k / per_word, words.size() - 1)];
      x = ir.lshr(word, static_cast<uint32_t>(k % per_word) * to_bits);
      if (to_bits < from_bits) x = ir.trunc(x, own);
    } else {
      const uint32_t parts = to_bits / from_bits;
      for (uint32_t part = 0; part < parts; ++part) {
        Value bits = ir.shl(ir.zext(words[std::min<size_t>(k * parts + part, words.size() - 1)], own), part * from_bits);
        if (x) unify(x, bits);
        x = x ? ir.or_(x, bits) : bits;
      }
    }
    r.c.push_back(from_memory(to[k], ir.bitcast(x, Ir::like(x, memory_type(to[k])))));
  }
  return r;
}

/// Between kinds and widths of numbers. Towards integers: towards zero, saturating; NaN gives 0.
bool Lowering::conversion(const Instruction& i) {
  const bool to_integer = i.op == spv::OpConvertFToS || i.op == spv::OpConvertFToU;
  const bool from_integer = i.op == spv::OpConvertSToF || i.op == spv::OpConvertUToF;
  if (!to_integer && !from_integer && i.op != spv::OpUConvert && i.op != spv::OpSConvert && i.op != spv::OpFConvert) return false;
  const Base to = bases(i.type).front();
  const Type type = scalar_type(to);
  if (const uint32_t mode = m.decoration(i.id).fp_rounding_mode; mode == spv::FPRoundingModeRTP || mode == spv::FPRoundingModeRTN) {
    unsupported("a conversion that is rounded upwards or downwards (FPRoundingMode RTP, RTN) is not supported; use RTE or RTZ");
    define(i.id, zero(i.type));
    return true;
  }
  const bool is_signed = i.op == spv::OpConvertFToS || i.op == spv::OpConvertSToF || i.op == spv::OpSConvert;
  const Val given = value(m.operand(i, 0));
  const auto convert = [&](const Ir&, Value x) {
    const uint32_t bits = Ir::bits_of(x);
    if (to_integer) return emit_float_to_integer(ir, x, type, is_signed);
    if (from_integer) {
      if (bits < 32) x = is_signed ? ir.sext(x, ir.i32) : ir.zext(x, ir.i32);
      if (to != Base::f64)
        return bits > 32 ? emit_long_to_float(ir, x, is_signed) : is_signed ? emit_int_to_float(ir, x) : emit_uint_to_float(ir, x);
      const Type floats = Ir::like(x, type);
      return is_signed ? LLVMBuildSIToFP(ir.builder, x, floats, "") : LLVMBuildUIToFP(ir.builder, x, floats, "");
    }
    if (i.op == spv::OpFConvert) {
      if (m.decoration(i.id).fp_rounding_mode == spv::FPRoundingModeRTZ) return emit_convert_towards_zero(ir, x, to == Base::f16);
      if (to == Base::f64) return bits == 64 ? x : ir.to_double(x);
      if (bits == 64) return to == Base::f16 ? emit_round_to_odd(ir, x) : ir.to_float(x);
      return x;  // halves are rounded below
    }
    const uint32_t to_bits = Ir::bits_of(type);
    if (bits >= to_bits) return bits > to_bits ? ir.trunc(x, type) : x;
    return is_signed ? ir.sext(x, type) : ir.zext(x, type);
  };
  define_rounded(i.id, map(i.type, given, convert));
  return true;
}

bool Lowering::alu(const Instruction& i) {
  const auto o = [&](uint32_t k) { return value(m.operand(i, k)); };
  if ((i.op == spv::OpFAdd || i.op == spv::OpFSub) && fused_sum(i)) return true;
  if (conversion(i)) return true;
  if (const auto* unary = row_of(kUnary, i.op)) {
    define_rounded(i.id, map(i.type, o(0), unary->emit));
  } else if (const auto* binary = row_of(kBinary, i.op)) {
    const Val a = o(0);
    define_rounded(i.id, map(i.type, a, o(1), binary->emit));
  } else if (const auto* wide = row_of(kWide, i.op)) {
    std::vector<Value> high;
    const Val a = o(0);
    Val both = map(i.type, a, o(1), [&](const Ir&, Value x, Value y) {
      const auto [first, second] = wide->emit(ir, x, y);
      high.push_back(second);
      return first;
    });
    both.c.insert(both.c.end(), high.begin(), high.end());
    define(i.id, both);
  } else if (Val whole = alu_of_whole(i); !whole.c.empty()) {
    if (i.op == spv::OpFDiv)
      define_rounded(i.id, whole);
    else
      define(i.id, whole);
  } else {
    return false;
  }
  return true;
}

}  // namespace tilegpu::shader
