// shader/lower/atomics.cpp -- atomic operations, lane after lane: on storage buffers, storage images and texel buffers atomic between
// threads; on shared memory, which is one thread's, plain loads and stores.
//
// In: OpAtomic*. Out: LLVM atomicrmw and cmpxchg; lanes that are inactive, dead or out of range read zero and change nothing.
// Source: SPIR-V specification 1.6, section 3.32.18 "Atomic Instructions".
#include "shader/lower/context.hpp"

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

/// What an instruction does to a word. A load is an OR of nothing; an exchange by comparison has no operation of its own.
struct AtomicWork {
  LLVMAtomicRMWBinOp op;
  Value operand, comparator = nullptr;
};

std::optional<AtomicWork> work_of(Lowering& l, const Instruction& i, Type word) {
  const auto operand = [&](uint32_t k) { return l.scalar(l.m.operand(i, k)); };
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
  const bool has_width = target.width_bits == 32 || (target.width_bits == 64 && !texel);
  if (!has_place || target.kind != Kind::integer || !has_width) {
    fail(op_name(i.op) +
         " is supported on integers of 32 bits in storage buffers, storage images, texel buffers and shared memory, and of "
         "64 bits in storage buffers and shared memory; addresses are of storage buffers");
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
  const auto [op, operand, comparator] = *work;
  const bool is_load = i.op == spv::OpAtomicLoad;
  assert(failed() || (operand && Ir::element_of(Ir::type_of(operand)) == word));
  assert(!comparator || Ir::element_of(Ir::type_of(comparator)) == word);
  Value mask = is_load ? exec : write_mask();
  Value bits = ir.movemask(mask ? mask : ir.true_mask());
  Value result = alloca_of(words, "atomic", all_B);
  ir.store(Ir::zero(words), result, all_B);
  const BufferAddress a = texel || by_address ? BufferAddress{} : buffer_address(p);
  Value addresses = by_address ? exact_address(p) : nullptr;
  Value texels = texel ? texel_addresses(*texel, mask) : nullptr;
  for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
    Value address, ok;
    Value runs = ir.ne(ir.and_(bits, ir.c32(1u << lane)), ir.c32(0));
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
        next = comparator ? ir.select(ir.eq(old, ir.extract(comparator, lane)), next, old) : changed(ir, op, old, next);
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
      } else {
        old = LLVMBuildAtomicRMW(ir.builder, op, address, ir.extract(operand, lane), LLVMAtomicOrderingMonotonic, 0);
      }
      ir.store(old, ir.offset(result, lane * word_B), word_B);
    });
  }
  return {i.type, {ir.load(words, result, all_B)}};
}

}  // namespace tilegpu::shader
