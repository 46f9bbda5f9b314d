// shader/lower/variables.cpp -- memory of lanes: Function, Private, Output variables; loads and masked stores.
//
// In: variables, pointers, masks. Out: allocas (one for each scalar, which LLVM turns into registers), or arrays of words where the
// shader indexes dynamically: small ones on the stack while it is small, others in the thread's scratch memory. Indices are clamped before.
#include <algorithm>
#include <cassert>

#include "shader/lower/context.hpp"

namespace tilegpu::shader {

/// What memory of lanes has for a scalar.
static Type word_type(const Ir& ir, Type scalar) { return Ir::bits_of(scalar) < 32 ? ir.i32 : scalar; }

Value Lowering::alloca_of(Type type, const char* name, uint32_t align_B) {
  assert(entry && (align_B == 0 || Ir::is_alignment(align_B)));
  Value slot = LLVMBuildAlloca(alloca_builder, type, name);
  if (align_B) LLVMSetAlignment(slot, align_B);
  return slot;
}

std::unique_ptr<Variable> Lowering::new_variable(uint32_t type, bool varying, bool memory, const char* name) {
  auto v = std::make_unique<Variable>();
  v->type = type;
  v->varying = varying;
  v->word_B = constants.size(type).widest_B > 4 ? 8 : 4;
  const auto& kinds = bases(type);
  const auto count = static_cast<uint32_t>(kinds.size());
  if (kept_in_memory(count, memory)) {
    v->form = Variable::Form::memory;
    // By the size for all lanes, so that every version of the code places it alike.
    const uint64_t size_B = uint64_t{std::max(count, 1u)} * v->word_B * kMaxLanes;
    if (size_B > uint64_t{kMaxStackWords} * 4 * kMaxLanes || stack_used_B + size_B > kMaxStackArrays_B) {
      assert(scratch && scratch_used_B % (4 * kMaxLanes) == 0);
      v->memory = ir.offset(scratch, scratch_used_B);
      scratch_used_B += size_B;
      if (scratch_used_B > kMaxPrivateMemory_B) fail("internal: private arrays take more memory than was found before");
    } else {
      v->memory = alloca_of(LLVMArrayType2(ir.i32, std::max(count, 1u) * (v->word_B / 4) * (varying ? ir.lanes : 1)), name, ir.lanes * 4);
      stack_used_B += size_B;
    }
    return v;
  }
  for (Base b : kinds) v->slots.push_back(alloca_of(varying ? ir.vec(scalar_type(b)) : scalar_type(b), name));
  return v;
}

void Lowering::zero_variable(Variable& v) {
  if (v.form == Variable::Form::memory) {
    const uint64_t size_B = static_cast<uint64_t>(width(v.type)) * v.word_B * (v.varying ? ir.lanes : 1);
    LLVMBuildMemSet(ir.builder, v.memory, ir.c8(0), ir.c64(size_B), 4);
    return;
  }
  for (Value slot : v.slots) LLVMBuildStore(ir.builder, LLVMConstNull(LLVMGetAllocatedType(slot)), slot);
}

Val Lowering::load_variable(const Variable& v, uint32_t type, uint32_t word, Value dynamic) {
  Val result{type, {}};
  const auto& kinds = bases(type);
  assert(word + kinds.size() <= width(v.type));
  assert(!dynamic || Ir::element_of(Ir::type_of(dynamic)) == ir.i32);
  if (v.form != Variable::Form::memory) {
    for (uint32_t k = 0; k < kinds.size(); ++k) {
      if (word + k >= v.slots.size() || dynamic) {
        fail("internal: a variable in registers is indexed dynamically");
        return zero(type);
      }
      Value slot = v.slots[word + k];
      result.c.push_back(v.form == Variable::Form::values ? slot : LLVMBuildLoad2(ir.builder, LLVMGetAllocatedType(slot), slot, ""));
    }
    return result;
  }
  const uint32_t step_B = v.word_B * (v.varying ? ir.lanes : 1);
  for (uint32_t k = 0; k < kinds.size(); ++k) {
    const Type element = word_type(ir, scalar_type(kinds[k]));
    const Type whole = v.varying ? ir.vec(element) : element;
    Value x;
    if (!dynamic) {
      x = ir.load(whole, ir.offset(v.memory, static_cast<uint64_t>(word + k) * step_B), 4);
    } else if (!is_varying(dynamic)) {
      Value index = ir.zext(ir.add(dynamic, ir.c32(word + k)), ir.i64);
      x = ir.load(whole, ir.offset(v.memory, ir.mul(index, ir.c64(step_B))), 4);
    } else {
      Value offsets = ir.mul(ir.add(dynamic, ir.ik(word + k)), ir.ik(step_B));
      if (v.varying) offsets = ir.add(offsets, ir.mul(ir.lane_index(), ir.ik(Ir::bits_of(element) / 8)));
      x = ir.load_lanes(element, v.memory, offsets, 4);
    }
    if (kinds[k] == Base::boolean) x = ir.ne(x, Ir::zero(Ir::type_of(x)));
    if (kinds[k] == Base::i8 || kinds[k] == Base::i16) x = ir.trunc(x, scalar_type(kinds[k]));
    result.c.push_back(x);
  }
  return result;
}

void Lowering::store_variable(Variable& v, const Val& value, uint32_t word, Value dynamic, Value mask) {
  const auto& kinds = bases(value.type);
  assert(value.c.size() == kinds.size() && word + kinds.size() <= width(v.type));
  assert(!mask || Ir::type_of(mask) == ir.vi1);
  assert(failed() || v.varying || !dynamic || !is_varying(dynamic));  // lanes would write different words of one array
  if (v.form == Variable::Form::values || (v.form == Variable::Form::registers && (dynamic || word + value.c.size() > v.slots.size()))) {
    fail("internal: a variable cannot be stored to in this way");
    return;
  }
  const uint32_t step_B = v.word_B * (v.varying ? ir.lanes : 1);
  for (uint32_t k = 0; k < value.c.size(); ++k) {
    Value x = v.varying ? vary(value.c[k]) : uniform(value.c[k]);
    if (v.form == Variable::Form::registers) {
      Value slot = v.slots[word + k];
      if (mask && v.varying) x = ir.select(mask, x, LLVMBuildLoad2(ir.builder, LLVMGetAllocatedType(slot), slot, ""));
      LLVMBuildStore(ir.builder, x, slot);
      continue;
    }
    const Type element = word_type(ir, scalar_type(kinds[k]));
    if (Ir::is_integer(x) && Ir::bits_of(x) < 32) x = ir.zext(x, ir.i32);
    if (!dynamic || !is_varying(dynamic)) {
      Value at = ir.offset(v.memory, static_cast<uint64_t>(word + k) * step_B);
      if (dynamic) at = ir.offset(at, ir.mul(ir.zext(dynamic, ir.i64), ir.c64(step_B)));
      if (mask && v.varying) x = ir.select(mask, x, ir.load(Ir::type_of(x), at, 4));
      ir.store(x, at, 4);
      continue;
    }
    Value offsets = ir.mul(ir.add(dynamic, ir.ik(word + k)), ir.ik(step_B));
    if (v.varying) offsets = ir.add(offsets, ir.mul(ir.lane_index(), ir.ik(Ir::bits_of(element) / 8)));
    if (mask) x = ir.select(mask, x, ir.load_lanes(element, v.memory, offsets, 4));
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      ir.store(ir.extract(x, lane), ir.offset(v.memory, ir.zext(ir.extract(offsets, lane), ir.i64)), 4);
    }
  }
}

Val Lowering::load(const Pointer& p) {
  assert(p.space != Pointer::Space::variable || p.variable);
  switch (p.space) {
    case Pointer::Space::variable:
      return load_variable(*p.variable, p.type, p.word, p.word_dynamic);
    case Pointer::Space::buffer:
    case Pointer::Space::push_constants:
    case Pointer::Space::workgroup:
      return load_buffer(p);
    case Pointer::Space::address:
      return load_address(p);
    default:
      fail("a pointer is read that has no memory");
      return zero(p.type);
  }
}

void Lowering::store(const Pointer& p, const Val& v, bool masked, const std::vector<bool>& given) {
  Val typed = v;
  typed.type = p.type;
  if (typed.c.size() != width(p.type)) {
    fail("a store has the wrong type");
    return;
  }
  switch (p.space) {
    case Pointer::Space::variable:
      store_variable(*p.variable, typed, p.word, p.word_dynamic, masked ? exec : nullptr);
      break;
    case Pointer::Space::buffer:
    case Pointer::Space::workgroup:
      store_buffer(p, typed, given);
      break;
    case Pointer::Space::address:
      store_address(p, typed, given);
      break;
    default:
      fail("a pointer is written that has no writable memory");
  }
}

}  // namespace tilegpu::shader
