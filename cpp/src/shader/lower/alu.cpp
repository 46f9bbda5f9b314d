// shader/lower/alu.cpp -- arithmetic, comparison, conversion, composites, derivatives: one LLVM instruction for each scalar.
//
// In: instructions without side effects. Out: values. Everything is defined on every lane: division by zero gives zero (all ones for
// no operation of Vulkan), shifts take 5 bits, conversions saturate. Dot and matrix products are chains of fused multiply-adds.
// Source: SPIR-V specification 1.6, sections 3.32.11 "Conversion" to 3.32.16 "Derivative"; Vulkan, "Precision and Operation".
#include <algorithm>

#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"

namespace tilegpu::shader {

Value Lowering::divide(spv::Op op, Value a, Value b) {
  unify(a, b);
  const bool is_signed = op != spv::OpUDiv && op != spv::OpUMod;
  Value zero = Ir::same(b, 0);
  Value bad = ir.eq(b, zero);
  if (is_signed) bad = ir.or_(bad, ir.and_(ir.eq(a, Ir::same(a, 0x80000000u)), ir.eq(b, Ir::same(b, 0xffffffffu))));
  Value safe = ir.select(bad, Ir::same(b, 1), b);
  Value by_zero = ir.eq(b, zero);
  switch (op) {
    case spv::OpUDiv:
      return ir.select(by_zero, zero, LLVMBuildUDiv(ir.builder, a, safe, ""));
    case spv::OpSDiv:
      return ir.select(by_zero, zero, LLVMBuildSDiv(ir.builder, a, safe, ""));
    case spv::OpUMod:
      return ir.select(by_zero, zero, LLVMBuildURem(ir.builder, a, safe, ""));
    default:
      break;
  }
  Value r = LLVMBuildSRem(ir.builder, a, safe, "");  // 0 where bad
  if (op == spv::OpSRem) return r;
  Value turn = ir.and_(ir.ne(r, zero), ir.slt(ir.xor_(r, safe), zero));
  return ir.select(turn, ir.add(r, safe), r);
}

/// Differences within the quad of lanes 4q..4q+3: (x,y), (x+1,y), (x,y+1), (x+1,y+1).
Value Lowering::pick_pixel(Value v, int p) const {
  std::vector<int> mask;
  for (int lane = 0; lane < static_cast<int>(ir.lanes); ++lane) mask.push_back((lane & ~3) + p);
  return ir.shuffle(v, mask);
}

Value Lowering::derivative(spv::Op op, Value v) {
  if (!is_varying(v)) return Ir::zero(ir.f32);
  const auto pick = [&](int a, int b, int c, int e) {
    std::vector<int> mask;
    for (int q = 0; q < static_cast<int>(ir.lanes); q += 4) mask.insert(mask.end(), {q + a, q + b, q + c, q + e});
    return ir.shuffle(v, mask);
  };
  switch (op) {
    case spv::OpDPdxFine:
      return ir.fsub(pick(1, 1, 3, 3), pick(0, 0, 2, 2));
    case spv::OpDPdyFine:
      return ir.fsub(pick(2, 3, 2, 3), pick(0, 1, 0, 1));
    case spv::OpDPdy:
    case spv::OpDPdyCoarse:
      return ir.fsub(pick(2, 2, 2, 2), pick(0, 0, 0, 0));
    default:
      return ir.fsub(pick(1, 1, 1, 1), pick(0, 0, 0, 0));
  }
}

/// The value that `id` has at a pixel of the lane's quad: the instructions that make it once more, of that pixel's inputs.
Val Lowering::at_corner(uint32_t id, uint32_t corner) {
  const PixelSlices::Slice& slice = pixel_slices->of.at(id);
  const auto swap_inputs = [&] {
    for (auto& [variable, slots] : corner_inputs[corner]) std::swap(globals.at(variable)->slots, slots);
  };
  const Instruction* here = current;
  std::vector<std::pair<uint32_t, Val>> kept;
  std::vector<std::pair<Variable*, Val>> kept_locals;
  for (uint32_t local : slice.locals) {
    Variable& v = *frame().variables.at(local);
    kept_locals.emplace_back(&v, load_variable(v, v.type, 0, nullptr));
  }
  swap_inputs();
  for (uint32_t k : slice.instructions) {
    const Instruction& i = m.instructions[k];
    if (frame().delayed.count(i.id)) continue;
    if (auto known = frame().values.find(i.id); i.id && known != frame().values.end()) kept.emplace_back(i.id, known->second);
    current = &i;
    instruction(i, k);
  }
  Val result = value(id);
  for (auto& [changed, v] : kept) frame().values[changed] = std::move(v);
  for (auto& [variable, v] : kept_locals) store_variable(*variable, v, 0, nullptr, nullptr);
  swap_inputs();
  current = here;
  return result;
}

/// Coarse derivatives. The differences are those of `derivative`, of the same values.
Lowering::Gradient Lowering::gradient(uint32_t id) {
  Gradient g;
  const Val v = value(id);
  if (!pixel_slices) {
    for (Value c : v.c) g.x.push_back(derivative(spv::OpDPdx, c)), g.y.push_back(derivative(spv::OpDPdy, c));
    return g;
  }
  const Val corner = at_corner(id, 0), right = at_corner(id, 1), below = at_corner(id, 2);
  for (size_t k = 0; k < v.c.size(); ++k) {
    const bool same = !is_varying(v.c[k]);
    g.x.push_back(same ? Ir::zero(ir.f32) : ir.fsub(vary(right.c[k]), vary(corner.c[k])));
    g.y.push_back(same ? Ir::zero(ir.f32) : ir.fsub(vary(below.c[k]), vary(corner.c[k])));
  }
  return g;
}

Val Lowering::dot(const Val& a, const Val& b, uint32_t type) {
  Value sum = nullptr;
  for (size_t k = 0; k < a.c.size() && k < b.c.size(); ++k) {
    Value x = a.c[k], y = b.c[k];
    unify(x, y);
    if (!sum) {
      sum = ir.fmul(x, y);
      continue;
    }
    if (is_varying(sum) != is_varying(x)) sum = vary(sum), x = vary(x), y = vary(y);
    sum = ir.fma(x, y, sum);
  }
  return {type, {sum}};
}

/// Columns of `rows` scalars times a vector: sums over columns, first column first.
Val Lowering::matrix_times_vector(const Val& matrix, const Val& vector, uint32_t rows, uint32_t columns, uint32_t type) {
  Val result{type, {}};
  for (uint32_t r = 0; r < rows; ++r) {
    Val row;
    for (uint32_t c = 0; c < columns; ++c) row.c.push_back(matrix.c[c * rows + r]);
    result.c.push_back(dot(row, vector, 0).c[0]);
  }
  return result;
}

/// A sum one of whose terms is a delayed product.
bool Lowering::fused_sum(const Instruction& i) {
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
    for (size_t k = 0; k < u.c.size(); ++k) {
      unify(u.c[k], v.c[k]);
      other.c.push_back(ir.fmul(u.c[k], v.c[k]));
    }
  } else {
    other = value(other_id);
  }
  Val result{i.type, {}};
  for (size_t k = 0; k < x.c.size(); ++k) {
    Value a = x.c[k], b = y.c[k], c = other.c[k];
    if (is_varying(a) || is_varying(b) || is_varying(c)) a = vary(a), b = vary(b), c = vary(c);
    if (subtract && product == 0) c = ir.fneg(c);
    if (subtract && product == 1) a = ir.fneg(a);
    result.c.push_back(ir.fma(a, b, c));
  }
  define(i.id, result);
  return true;
}

bool Lowering::composite(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  switch (i.op) {
    case spv::OpCompositeConstruct: {
      Val v{i.type, {}};
      for (uint32_t part : m.operands(i)) {
        const Val p = value(part);
        v.c.insert(v.c.end(), p.c.begin(), p.c.end());
      }
      define(i.id, v);
      return true;
    }
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert: {
      const bool insert = i.op == spv::OpCompositeInsert;
      Val whole = value(o(insert ? 1 : 0));
      uint32_t type = m.type_of(o(insert ? 1 : 0)), offset = 0;
      for (uint32_t k = insert ? 2 : 1; k < i.count; ++k) {
        offset += part_offset(type, o(k));
        type = part_type(type, o(k));
      }
      const uint32_t count = width(type);
      if (offset + count > whole.c.size()) {
        fail("a composite is indexed out of range");
        define(i.id, zero(i.type));
        return true;
      }
      if (insert) {
        const Val part = value(o(0));
        for (uint32_t k = 0; k < count && k < part.c.size(); ++k) whole.c[offset + k] = part.c[k];
        define(i.id, whole);
      } else {
        define(i.id, {i.type, {whole.c.begin() + offset, whole.c.begin() + offset + count}});
      }
      return true;
    }
    case spv::OpVectorShuffle: {
      const Val a = value(o(0)), b = value(o(1));
      Val v{i.type, {}};
      const auto& kinds = bases(i.type);
      for (uint32_t k = 2; k < i.count; ++k) {
        const size_t from = o(k);
        if (from < a.c.size())
          v.c.push_back(a.c[from]);
        else if (from - a.c.size() < b.c.size())
          v.c.push_back(b.c[from - a.c.size()]);
        else
          v.c.push_back(Ir::zero(scalar_type(kinds[0])));
      }
      define(i.id, v);
      return true;
    }
    case spv::OpVectorExtractDynamic: {
      const Val v = value(o(0));
      Value index = scalar(o(1)), result = v.c.back();
      for (size_t k = v.c.size() - 1; k-- > 0;) result = select(ir.eq(index, Ir::same(index, k)), v.c[k], result);
      define(i.id, {i.type, {result}});
      return true;
    }
    case spv::OpVectorInsertDynamic: {
      Val v = value(o(0));
      Value x = scalar(o(1)), index = scalar(o(2));
      for (size_t k = 0; k < v.c.size(); ++k) v.c[k] = select(ir.eq(index, Ir::same(index, k)), x, v.c[k]);
      define(i.id, v);
      return true;
    }
    case spv::OpTranspose: {
      const Val v = value(o(0));
      const TypeInfo& matrix = m.type(m.type_of(o(0)));
      const uint32_t columns = matrix.count, rows = width(matrix.element);
      Val r{i.type, {}};
      for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t c = 0; c < columns; ++c) r.c.push_back(v.c[c * rows + row]);
      }
      define(i.id, r);
      return true;
    }
    default:
      return false;
  }
}

bool Lowering::alu(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  const auto map1 = [&](auto&& f) {
    const Val a = value(o(0));
    Val r{i.type, {}};
    for (Value x : a.c) r.c.push_back(f(x));
    define(i.id, r);
    return true;
  };
  const auto map2 = [&](auto&& f) {
    const Val a = value(o(0)), b = value(o(1));
    Val r{i.type, {}};
    for (size_t k = 0; k < a.c.size() && k < b.c.size(); ++k) {
      Value x = a.c[k], y = b.c[k];
      unify(x, y);
      r.c.push_back(f(x, y));
    }
    define(i.id, r);
    return true;
  };
  const auto compare_f = [&](LLVMRealPredicate p) { return map2([&](Value x, Value y) { return ir.fcmp(p, x, y); }); };
  const auto compare_i = [&](LLVMIntPredicate p) { return map2([&](Value x, Value y) { return ir.icmp(p, x, y); }); };
  // Two results in a structure: low, then high (or carry).
  const auto wide = [&](bool is_signed, spv::Op op) {
    const Val a = value(o(0)), b = value(o(1));
    std::vector<Value> low, high;
    for (size_t k = 0; k < a.c.size(); ++k) {
      Value x = a.c[k], y = b.c[k];
      unify(x, y);
      if (op == spv::OpIAddCarry) {
        low.push_back(ir.add(x, y)), high.push_back(ir.zext(ir.ult(low.back(), x), ir.i32));
      } else if (op == spv::OpISubBorrow) {
        low.push_back(ir.sub(x, y)), high.push_back(ir.zext(ir.ult(x, y), ir.i32));
      } else {
        Value product = is_signed ? ir.mul(ir.sext(x, ir.i64), ir.sext(y, ir.i64)) : ir.mul(ir.zext(x, ir.i64), ir.zext(y, ir.i64));
        low.push_back(ir.trunc(product, ir.i32)), high.push_back(ir.trunc(ir.lshr(product, 32), ir.i32));
      }
    }
    low.insert(low.end(), high.begin(), high.end());
    define(i.id, {i.type, low});
    return true;
  };
  switch (i.op) {
    case spv::OpFAdd:
    case spv::OpFSub:
      if (fused_sum(i)) return true;
      return map2([&](Value x, Value y) { return i.op == spv::OpFAdd ? ir.fadd(x, y) : ir.fsub(x, y); });
    case spv::OpFMul:
      return map2([&](Value x, Value y) { return ir.fmul(x, y); });
    case spv::OpFDiv: {
      const Val divisor = value(o(1));
      const bool shared =
          divisor.c.size() > 1 && std::all_of(divisor.c.begin(), divisor.c.end(), [&](Value v) { return v == divisor.c[0]; });
      return map2([&](Value x, Value y) { return emit_fdiv(ir, x, y, shared); });
    }
    case spv::OpFNegate:
      return map1([&](Value x) { return ir.fneg(x); });
    case spv::OpFRem:
      return map2([&](Value x, Value y) { return ir.fma(ir.fneg(ir.ftrunc(ir.fdiv(x, y))), y, x); });
    case spv::OpFMod:
      return map2([&](Value x, Value y) { return ir.fma(ir.fneg(ir.floor(ir.fdiv(x, y))), y, x); });
    case spv::OpIAdd:
      return map2([&](Value x, Value y) { return ir.add(x, y); });
    case spv::OpISub:
      return map2([&](Value x, Value y) { return ir.sub(x, y); });
    case spv::OpIMul:
      return map2([&](Value x, Value y) { return ir.mul(x, y); });
    case spv::OpSNegate:
      return map1([&](Value x) { return ir.neg(x); });
    case spv::OpUDiv:
    case spv::OpSDiv:
    case spv::OpUMod:
    case spv::OpSRem:
    case spv::OpSMod:
      return map2([&](Value x, Value y) { return divide(i.op, x, y); });
    case spv::OpIAddCarry:
    case spv::OpISubBorrow:
    case spv::OpUMulExtended:
      return wide(false, i.op);
    case spv::OpSMulExtended:
      return wide(true, i.op);
    case spv::OpShiftLeftLogical:
      return map2([&](Value x, Value y) { return ir.shl(x, finite_shift(y)); });
    case spv::OpShiftRightLogical:
      return map2([&](Value x, Value y) { return ir.lshr(x, finite_shift(y)); });
    case spv::OpShiftRightArithmetic:
      return map2([&](Value x, Value y) { return ir.ashr(x, finite_shift(y)); });
    case spv::OpBitwiseOr:
    case spv::OpLogicalOr:
      return map2([&](Value x, Value y) { return ir.or_(x, y); });
    case spv::OpBitwiseAnd:
    case spv::OpLogicalAnd:
      return map2([&](Value x, Value y) { return ir.and_(x, y); });
    case spv::OpBitwiseXor:
    case spv::OpLogicalNotEqual:
      return map2([&](Value x, Value y) { return ir.xor_(x, y); });
    case spv::OpLogicalEqual:
      return map2([&](Value x, Value y) { return ir.not_(ir.xor_(x, y)); });
    case spv::OpNot:
    case spv::OpLogicalNot:
      return map1([&](Value x) { return ir.not_(x); });
    case spv::OpBitReverse:
      return map1([&](Value x) { return ir.unary("llvm.bitreverse", x); });
    case spv::OpBitCount:
      return map1([&](Value x) { return ir.unary("llvm.ctpop", x); });
    case spv::OpBitFieldInsert:
    case spv::OpBitFieldSExtract:
    case spv::OpBitFieldUExtract: {
      const bool insert = i.op == spv::OpBitFieldInsert;
      const Val base = value(o(0)), other = insert ? value(o(1)) : base;
      Value offset = scalar(o(insert ? 2 : 1)), count = scalar(o(insert ? 3 : 2));
      Val r{i.type, {}};
      for (size_t k = 0; k < base.c.size(); ++k) {
        Value x = base.c[k], y = other.c[k], from = offset, n = count;
        if (is_varying(x) || is_varying(y) || is_varying(from) || is_varying(n)) x = vary(x), y = vary(y), from = vary(from), n = vary(n);
        // count is 0..32; a mask of 32 ones is made in two steps, so that no shift is by 32.
        n = ir.umin(n, Ir::same(n, 32));
        Value some = ir.ne(n, Ir::same(n, 0));
        Value mask = ir.select(some, ir.lshr(Ir::same(n, ~0u), finite_shift(ir.sub(Ir::same(n, 32), n))), Ir::same(n, 0));
        if (insert) {
          Value placed = ir.shl(mask, finite_shift(from));
          r.c.push_back(ir.or_(ir.and_(x, ir.not_(placed)), ir.and_(ir.shl(y, finite_shift(from)), placed)));
          continue;
        }
        Value field = ir.and_(ir.lshr(x, finite_shift(from)), mask);
        if (i.op == spv::OpBitFieldSExtract) {
          Value top = ir.select(some, ir.shl(Ir::same(n, 1), finite_shift(ir.sub(n, Ir::same(n, 1)))), Ir::same(n, 0));
          field = ir.sub(ir.xor_(field, top), top);
        }
        r.c.push_back(field);
      }
      define(i.id, r);
      return true;
    }
    case spv::OpConvertFToS:
      return map1([&](Value x) { return emit_float_to_int(ir, x); });
    case spv::OpConvertFToU:
      return map1([&](Value x) { return emit_float_to_uint(ir, x); });
    case spv::OpConvertSToF:
      return map1([&](Value x) { return emit_int_to_float(ir, x); });
    case spv::OpConvertUToF:
      return map1([&](Value x) { return emit_uint_to_float(ir, x); });
    case spv::OpUConvert:
    case spv::OpSConvert:
    case spv::OpFConvert:
      return map1([&](Value x) { return x; });
    case spv::OpQuantizeToF16:
      return map1([&](Value x) {
        // Denormal halves are flushed to zero, with their sign.
        Value half = emit_float_to_half(ir, x);
        Value tiny = ir.eq(ir.and_(half, Ir::same(half, 0x7c00)), Ir::same(half, 0));
        return emit_half_to_float(ir, ir.select(tiny, ir.and_(half, Ir::same(half, 0x8000)), half));
      });
    case spv::OpBitcast: {
      const Val a = value(o(0));
      const auto& kinds = bases(i.type);
      Val r{i.type, {}};
      for (size_t k = 0; k < a.c.size() && k < kinds.size(); ++k)
        r.c.push_back(kinds[k] == Base::f32 ? ir.as_float(a.c[k]) : ir.bits(a.c[k]));
      define(i.id, r);
      return true;
    }
    case spv::OpSelect: {
      const Val c = value(o(0)), a = value(o(1)), b = value(o(2));
      Val r{i.type, {}};
      for (size_t k = 0; k < a.c.size(); ++k) r.c.push_back(select(c.c[c.c.size() == 1 ? 0 : k], a.c[k], b.c[k]));
      define(i.id, r);
      return true;
    }
    case spv::OpFOrdEqual:
      return compare_f(LLVMRealOEQ);
    case spv::OpFUnordEqual:
      return compare_f(LLVMRealUEQ);
    case spv::OpFOrdNotEqual:
      return compare_f(LLVMRealONE);
    case spv::OpFUnordNotEqual:
      return compare_f(LLVMRealUNE);
    case spv::OpFOrdLessThan:
      return compare_f(LLVMRealOLT);
    case spv::OpFUnordLessThan:
      return compare_f(LLVMRealULT);
    case spv::OpFOrdGreaterThan:
      return compare_f(LLVMRealOGT);
    case spv::OpFUnordGreaterThan:
      return compare_f(LLVMRealUGT);
    case spv::OpFOrdLessThanEqual:
      return compare_f(LLVMRealOLE);
    case spv::OpFUnordLessThanEqual:
      return compare_f(LLVMRealULE);
    case spv::OpFOrdGreaterThanEqual:
      return compare_f(LLVMRealOGE);
    case spv::OpFUnordGreaterThanEqual:
      return compare_f(LLVMRealUGE);
    case spv::OpIEqual:
      return compare_i(LLVMIntEQ);
    case spv::OpINotEqual:
      return compare_i(LLVMIntNE);
    case spv::OpUGreaterThan:
      return compare_i(LLVMIntUGT);
    case spv::OpSGreaterThan:
      return compare_i(LLVMIntSGT);
    case spv::OpUGreaterThanEqual:
      return compare_i(LLVMIntUGE);
    case spv::OpSGreaterThanEqual:
      return compare_i(LLVMIntSGE);
    case spv::OpULessThan:
      return compare_i(LLVMIntULT);
    case spv::OpSLessThan:
      return compare_i(LLVMIntSLT);
    case spv::OpULessThanEqual:
      return compare_i(LLVMIntULE);
    case spv::OpSLessThanEqual:
      return compare_i(LLVMIntSLE);
    case spv::OpIsNan:
      return map1([&](Value x) { return ir.is_nan(x); });
    case spv::OpIsInf:
      return map1([&](Value x) { return ir.feq(ir.fabs(x), ir.as_float(Ir::same(ir.bits(x), 0x7f800000u))); });
    case spv::OpAny:
    case spv::OpAll: {
      const Val a = value(o(0));
      Value r = a.c[0];
      for (size_t k = 1; k < a.c.size(); ++k) {
        Value x = a.c[k];
        unify(r, x);
        r = i.op == spv::OpAny ? ir.or_(r, x) : ir.and_(r, x);
      }
      define(i.id, {i.type, {r}});
      return true;
    }
    case spv::OpDot:
      define(i.id, dot(value(o(0)), value(o(1)), i.type));
      return true;
    case spv::OpVectorTimesScalar:
    case spv::OpMatrixTimesScalar: {
      const Val a = value(o(0));
      Val r{i.type, {}};
      for (Value x : a.c) {
        Value s = scalar(o(1));
        unify(x, s);
        r.c.push_back(ir.fmul(x, s));
      }
      define(i.id, r);
      return true;
    }
    case spv::OpMatrixTimesVector: {
      const TypeInfo& matrix = m.type(m.type_of(o(0)));
      define(i.id, matrix_times_vector(value(o(0)), value(o(1)), width(matrix.element), matrix.count, i.type));
      return true;
    }
    case spv::OpVectorTimesMatrix: {
      const TypeInfo& matrix = m.type(m.type_of(o(1)));
      const Val v = value(o(0)), a = value(o(1));
      const uint32_t rows = width(matrix.element);
      Val r{i.type, {}};
      for (uint32_t c = 0; c < matrix.count; ++c)
        r.c.push_back(dot(v, {0, {a.c.begin() + c * rows, a.c.begin() + (c + 1) * rows}}, 0).c[0]);
      define(i.id, r);
      return true;
    }
    case spv::OpMatrixTimesMatrix: {
      const TypeInfo &left = m.type(m.type_of(o(0))), &right = m.type(m.type_of(o(1)));
      const Val a = value(o(0)), b = value(o(1));
      const uint32_t rows = width(left.element), inner = left.count;
      Val r{i.type, {}};
      for (uint32_t c = 0; c < right.count; ++c) {
        const Val column = matrix_times_vector(a, {0, {b.c.begin() + c * inner, b.c.begin() + (c + 1) * inner}}, rows, inner, 0);
        r.c.insert(r.c.end(), column.c.begin(), column.c.end());
      }
      define(i.id, r);
      return true;
    }
    case spv::OpOuterProduct: {
      const Val a = value(o(0)), b = value(o(1));
      Val r{i.type, {}};
      for (Value y : b.c) {
        for (Value x : a.c) {
          Value u = x, v = y;
          unify(u, v);
          r.c.push_back(ir.fmul(u, v));
        }
      }
      define(i.id, r);
      return true;
    }
    case spv::OpDPdx:
    case spv::OpDPdy:
    case spv::OpDPdxFine:
    case spv::OpDPdyFine:
    case spv::OpDPdxCoarse:
    case spv::OpDPdyCoarse:
      if (pixel_slices) {
        const Gradient g = gradient(o(0));
        define(i.id, {i.type, i.op == spv::OpDPdx || i.op == spv::OpDPdxCoarse ? g.x : g.y});
        return true;
      }
      return map1([&](Value x) { return derivative(i.op, x); });
    case spv::OpFwidth:
    case spv::OpFwidthFine:
    case spv::OpFwidthCoarse: {
      if (pixel_slices) {
        const Gradient g = gradient(o(0));
        Val sum{i.type, {}};
        for (size_t k = 0; k < g.x.size(); ++k) sum.c.push_back(ir.fadd(ir.fabs(g.x[k]), ir.fabs(g.y[k])));
        define(i.id, sum);
        return true;
      }
      const bool fine = i.op == spv::OpFwidthFine;
      return map1([&](Value x) {
        return ir.fadd(ir.fabs(derivative(fine ? spv::OpDPdxFine : spv::OpDPdx, x)),
                       ir.fabs(derivative(fine ? spv::OpDPdyFine : spv::OpDPdy, x)));
      });
    }
    default:
      return false;
  }
}

}  // namespace tilegpu::shader
