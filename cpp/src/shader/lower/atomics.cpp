// shader/lower/atomics.cpp -- atomic operations, lane after lane: on storage buffers, storage images and texel buffers atomic between
// threads; on shared memory, which is one thread's, plain loads and stores.
//
// In: OpAtomic*. Out: LLVM atomicrmw and cmpxchg; lanes that are inactive, dead or out of range read zero and change nothing. Words are
// integers; sums, minima and maxima of floats try until nobody came between.
// Source: SPIR-V specification 1.6, section 3.32.18 "Atomic Instructions"; SPV_EXT_shader_atomic_float_add, _min_max (a minimum leaves NaN
// out, and takes -0 for less than 0, so that it is the same in any order).
#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"
#include "shader/spirv/interface.hpp"

#include <cassert>
#include <tuple>

namespace tilegpu::shader {

namespace {

/// What atomicrmw stores.
Value changed(const Ir& ir, LLVMAtomicRMWBinOp op, Value old, Value operand) {
  switch (op) {
    case LLVMAtomicRMWBinOpXchg:
      return operand;
    case LLVMAtomicRMWBinOpAdd:
      return ir.add(old, operand);
    case LLVMAtomicRMWBinOpSub:
      return ir.sub(old, operand);
    case LLVMAtomicRMWBinOpMin:
      return ir.smin(old, operand);
    case LLVMAtomicRMWBinOpUMin:
      return ir.umin(old, operand);
    case LLVMAtomicRMWBinOpMax:
      return ir.smax(old, operand);
    case LLVMAtomicRMWBinOpUMax:
      return ir.umax(old, operand);
    case LLVMAtomicRMWBinOpAnd:
      return ir.and_(old, operand);
    case LLVMAtomicRMWBinOpOr:
      return ir.or_(old, operand);
    default:
      assert(op == LLVMAtomicRMWBinOpXor);
      return ir.xor_(old, operand);
  }
}

/// What an instruction does to a word. A load is an OR of nothing; an exchange by comparison has no operation of its own, nor have floats.
struct AtomicWork {
  LLVMAtomicRMWBinOp op;
  Value operand, comparator = nullptr;
  spv::Op of_floats = spv::OpNop;
};

bool is_of_floats(spv::Op op) { return op == spv::OpAtomicFAddEXT || op == spv::OpAtomicFMinEXT || op == spv::OpAtomicFMaxEXT; }

/// Of a sum, a minimum or a maximum of floats: words.
Value changed_float(const Ir& ir, spv::Op op, Value old, Value operand) {
  assert(is_of_floats(op) && Ir::is_integer(old));
  const uint32_t bits = Ir::bits_of(old);
  const Type type = bits == 64 ? ir.f64 : ir.f32;
  Value x = ir.bitcast(old, type), y = ir.bitcast(operand, type);
  if (op == spv::OpAtomicFAddEXT) return ir.bitcast(emit_canonical_nan(ir, ir.fadd(x, y)), Ir::type_of(old));
  // As integers, in the order of the numbers.
  const auto key = [&](Value word) { return ir.xor_(word, ir.lshr(ir.ashr(word, bits - 1), 1)); };
  Value a = key(operand), b = key(old);
  Value next = ir.select(op == spv::OpAtomicFMinEXT ? ir.slt(a, b) : ir.sgt(a, b), operand, old);
  return ir.select(ir.is_nan(y), old, ir.select(ir.is_nan(x), operand, next));
}

/// Until nobody changed the word meanwhile. What it was.
Value exchange_float(Lowering& l, spv::Op op, Value address, Value operand, Value expected) {
  const Ir& ir = l.ir;
  const Type word = Ir::type_of(operand);
  const uint32_t word_B = Ir::bits_of(operand) / 8;
  Value first = ir.load(word, address, word_B);
  LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
  ir.store(first, expected, word_B);
  Block again = ir.block("atomic_again"), end = ir.block("atomic_end");
  ir.br(again);
  ir.at(again);
  Value old = ir.load(word, expected, word_B);
  Value pair = LLVMBuildAtomicCmpXchg(ir.builder, address, old, changed_float(ir, op, old, operand), LLVMAtomicOrderingMonotonic,
                                      LLVMAtomicOrderingMonotonic, 0);
  ir.store(ir.extract_value(pair, 0), expected, word_B);
  ir.br(ir.extract_value(pair, 1), end, again);
  ir.at(end);
  return old;
}

std::optional<AtomicWork> work_of(Lowering& l, const Instruction& i, Type word) {
  const auto operand = [&](uint32_t k) {
    Value x = l.scalar(l.m.operand(i, k));
    return Ir::is_integer(x) ? x : l.ir.bitcast(x, Ir::like(x, word));
  };
  if (is_of_floats(i.op)) return AtomicWork{LLVMAtomicRMWBinOpXchg, operand(3), nullptr, i.op};
  switch (i.op) {
    case spv::OpAtomicLoad:
      return AtomicWork{LLVMAtomicRMWBinOpOr, Ir::zero(word)};
    case spv::OpAtomicStore:
    case spv::OpAtomicExchange:
      return AtomicWork{LLVMAtomicRMWBinOpXchg, operand(3)};
    case spv::OpAtomicCompareExchange:
      return AtomicWork{LLVMAtomicRMWBinOpXchg, operand(4), operand(5)};
    case spv::OpAtomicIIncrement:
      return AtomicWork{LLVMAtomicRMWBinOpAdd, LLVMConstInt(word, 1, 0)};
    case spv::OpAtomicIDecrement:
      return AtomicWork{LLVMAtomicRMWBinOpAdd, LLVMConstAllOnes(word)};
    case spv::OpAtomicIAdd:
      return AtomicWork{LLVMAtomicRMWBinOpAdd, operand(3)};
    case spv::OpAtomicISub:
      return AtomicWork{LLVMAtomicRMWBinOpSub, operand(3)};
    case spv::OpAtomicSMin:
      return AtomicWork{LLVMAtomicRMWBinOpMin, operand(3)};
    case spv::OpAtomicUMin:
      return AtomicWork{LLVMAtomicRMWBinOpUMin, operand(3)};
    case spv::OpAtomicSMax:
      return AtomicWork{LLVMAtomicRMWBinOpMax, operand(3)};
    case spv::OpAtomicUMax:
      return AtomicWork{LLVMAtomicRMWBinOpUMax, operand(3)};
    case spv::OpAtomicAnd:
      return AtomicWork{LLVMAtomicRMWBinOpAnd, operand(3)};
    case spv::OpAtomicOr:
      return AtomicWork{LLVMAtomicRMWBinOpOr, operand(3)};
    case spv::OpAtomicXor:
      return AtomicWork{LLVMAtomicRMWBinOpXor, operand(3)};
    default:
      return std::nullopt;
  }
}

Value lane_offset(const Ir& ir, const Pointer& p, uint32_t lane) {
  return p.offset_dynamic ? ir.add(ir.extract(p.offset_dynamic, lane), ir.c32(p.offset_B)) : ir.c32(p.offset_B);
}

}  // namespace

/// A lane's word in a buffer, and whether it is there (i1).
std::pair<Value, Value> Lowering::atomic_word(const Pointer& p, const BufferAddress& a, uint32_t word_B, uint32_t lane) const {
  Value offset = lane_offset(ir, p, lane), at = ir.zext(offset, ir.i64);
  // Misaligned words could be torn (and trap); a block's layout never has them.
  Value aligned = ir.eq(ir.and_(offset, ir.c32(word_B - 1)), ir.c32(0));
  Value ok = ir.and_(aligned, ir.ule(ir.add(at, ir.c64(word_B)), ir.extract(a.size_B, lane)));
  Value data = is_varying(a.data) ? LLVMBuildIntToPtr(ir.builder, ir.extract(a.data, lane), ir.ptr, "") : a.data;
  return {ir.offset(data, at), ok};
}

Val Lowering::atomic(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  const Instruction* texel = m.find(o(0));
  if (texel && texel->op != spv::OpImageTexelPointer) texel = nullptr;
  const Pointer p = texel ? Pointer{} : pointer(o(0));
  Val none = i.type ? zero(i.type) : Val{};
  const TypeInfo& target = m.type(m.type(m.type_of(o(0))).element);
  const bool shared_memory = p.space == Pointer::Space::workgroup;
  const bool by_address = p.space == Pointer::Space::address;
  const bool has_place = texel || shared_memory || by_address || p.space == Pointer::Space::buffer;
  const bool has_width = target.width_bits == 32 || (target.width_bits == 64 && !(texel && target.kind == Kind::floating));
  const bool is_float = target.kind == Kind::floating;
  if (!has_place || (target.kind != Kind::integer && !is_float) || !has_width) {
    fail(op_name(i.op) +
         " is supported on integers and floats of 32 bits in storage buffers, storage images, texel buffers and shared memory, and of "
         "64 bits there too, but for floats in images; addresses are of storage buffers");
    return none;
  }
  if (slice && i.op != spv::OpAtomicLoad) return none;  // results of atomics are never used where a shader is sliced
  const Type word = target.width_bits == 64 ? ir.i64 : ir.i32, words = ir.vec(word);
  const uint32_t word_B = target.width_bits / 8, all_B = ir.lanes * word_B;
  const std::optional<AtomicWork> work = work_of(*this, i, word);
  if (!work) {
    unsupported(op_name(i.op) + " is not supported");
    return none;
  }
  const auto [op, operand, comparator, of_floats] = *work;
  const bool is_load = i.op == spv::OpAtomicLoad;
  assert(failed() || (operand && Ir::element_of(Ir::type_of(operand)) == word));
  assert(!comparator || Ir::element_of(Ir::type_of(comparator)) == word);
  Value mask = is_load ? exec : write_mask();
  Value bits = ir.zext(ir.mask_bits(mask ? mask : ir.true_mask()), ir.i64);
  Value result = alloca_of(words, "atomic", all_B);
  ir.store(Ir::zero(words), result, all_B);
  Value expected = of_floats == spv::OpNop ? nullptr : alloca_of(word, "expected", word_B);
  const BufferAddress a = texel || by_address ? BufferAddress{} : buffer_address(p);
  Value addresses = by_address ? exact_address(p) : nullptr;
  Value texels = texel ? texel_addresses(*texel, mask) : nullptr;
  for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
    Value address, ok;
    Value runs = ir.ne(ir.and_(bits, ir.c64(uint64_t{1} << lane)), ir.c64(0));
    if (texel) {
      Value number = ir.extract(texels, lane);  // of lanes outside of the mask 0 too
      ok = ir.ne(number, ir.c64(0)), address = LLVMBuildIntToPtr(ir.builder, number, ir.ptr, "");
    } else if (by_address) {
      Value number = ir.extract(addresses, lane);
      Value aligned = ir.eq(ir.and_(number, ir.c64(word_B - 1)), ir.c64(0));
      std::tie(address, ok) = place_of(number, word_B);
      ok = ir.and_(ir.and_(ok, aligned), runs);
    } else if (shared_memory) {
      const auto change = [&] {
        address = ir.offset(a.data, ir.zext(lane_offset(ir, p, lane), ir.i64));
        Value old = ir.load(word, address, 4), next = ir.extract(operand, lane);
        next = comparator                ? ir.select(ir.eq(old, ir.extract(comparator, lane)), next, old)
               : of_floats != spv::OpNop ? changed_float(ir, of_floats, old, next)
                                         : changed(ir, op, old, next);
        if (!is_load) ir.store(next, address, 4);
        ir.store(old, ir.offset(result, lane * word_B), word_B);
      };
      if (mask)
        ir.if_then(runs, change);
      else
        change();
      continue;
    } else {
      std::tie(address, ok) = atomic_word(p, a, word_B, lane);
      ok = ir.and_(ok, runs);
    }
    ir.if_then(ok, [&] {
      Value old;
      if (is_load) {
        old = ir.load(word, address, word_B);
        LLVMSetOrdering(old, LLVMAtomicOrderingMonotonic);
      } else if (comparator) {
        Value pair = LLVMBuildAtomicCmpXchg(ir.builder, address, ir.extract(comparator, lane), ir.extract(operand, lane),
                                            LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, 0);
        old = ir.extract_value(pair, 0);
      } else if (expected) {
        old = exchange_float(*this, of_floats, address, ir.extract(operand, lane), expected);
      } else {
        old = LLVMBuildAtomicRMW(ir.builder, op, address, ir.extract(operand, lane), LLVMAtomicOrderingMonotonic, 0);
      }
      ir.store(old, ir.offset(result, lane * word_B), word_B);
    });
  }
  Value before = ir.load(words, result, all_B);
  return {i.type, {is_float ? ir.bitcast(before, ir.vec(target.width_bits == 64 ? ir.f64 : ir.f32)) : before}};
}

}  // namespace tilegpu::shader
