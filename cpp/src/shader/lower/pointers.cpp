// shader/lower/pointers.cpp -- logical pointers: variables, access chains. All are known at compile time but for indices.
//
// In: OpVariable, OpAccessChain, OpInBoundsAccessChain. Out: Pointer. Indices into private memory and descriptor arrays are clamped
// here; offsets into buffers are checked at the access.
// Source: SPIR-V specification, OpAccessChain; Vulkan specification, "Offset and Stride Assignment", "Robust Buffer Access".
#include <algorithm>
#include <cassert>

#include "shader/lower/context.hpp"

namespace tilegpu::shader {

Value Lowering::add_index(Value sum, Value term) const {
  if (!sum) return term;
  if (!term) return sum;
  unify(sum, term);
  return ir.add(sum, term);
}

Value Lowering::index_of(uint32_t id) {
  Value index = scalar(id);
  const TypeInfo& t = m.type(m.type_of(id));
  if (!Ir::is_integer(index) || t.width_bits == 32) return index;
  if (t.width_bits > 32) return ir.trunc(ir.umin(index, Ir::same(index, UINT32_MAX)), ir.i32);
  return t.is_signed ? ir.sext(index, ir.i32) : ir.zext(index, ir.i32);
}

/// Unsigned: negative indices become the last element.
Value Lowering::clamp_index(Value index, uint32_t length) const {
  assert(Ir::element_of(Ir::type_of(index)) == ir.i32);
  return ir.umin(index, Ir::same(index, length ? length - 1 : 0));
}

/// Unsigned: negative indices are null descriptors where the set counts, else the last one.
Value Lowering::clamp_descriptor(Value index, uint32_t set, const DescriptorAddress& at, uint32_t count) const {
  if (!at.counted) return clamp_index(index, count);
  Value last = ir.constant_field(ir.i32, set_memory[set], 0, 4);
  return ir.umin(index, is_varying(index) ? ir.splat(last) : last);
}

void Lowering::keep_indices(uint32_t id, std::initializer_list<Value> indices) {
  assert(id < d.escape.size());
  if (!d.escape[id]) return;
  std::vector<Value>& slots = frame().kept[id];
  slots.clear();
  for (Value index : indices) {
    slots.push_back(nullptr);
    if (!index) continue;
    // Lanes that left the loop keep the index of their last iteration.
    if (d.is_varying(id)) index = vary(index);
    slots.back() = alloca_of(Ir::type_of(index), "index");
    LLVMBuildStore(alloca_builder, LLVMConstNull(Ir::type_of(index)), slots.back());
    if (d.escape[id] == 2 && exec) {
      assert(is_varying(index));
      index = ir.select(exec, index, LLVMBuildLoad2(ir.builder, Ir::type_of(index), slots.back(), ""));
    }
    LLVMBuildStore(ir.builder, index, slots.back());
  }
}

void Lowering::kept_indices(uint32_t id, std::initializer_list<Value*> indices) {
  const auto kept = frame().kept.find(id);
  if (kept == frame().kept.end()) return;
  assert(kept->second.size() == indices.size());
  size_t k = 0;
  for (Value* index : indices) {
    if (Value slot = kept->second[k++]) *index = LLVMBuildLoad2(ir.builder, LLVMGetAllocatedType(slot), slot, "");
  }
}

Pointer Lowering::pointer(uint32_t id) {
  assert(m.type(m.type_of(id)).kind == Kind::pointer);
  if (m.holds_address(id)) return address_pointer(id);
  auto known = frame().pointers.find(id);
  const bool is_held = m.type(m.type_of(id)).variable_pointer;
  if (known != frame().pointers.end()) {
    Pointer p = known->second;
    // What it is made of may stand where this code is not dominated by it; its value is kept.
    if (is_held && id < d.escape.size() && d.escape[id] && frame().slots.count(~id)) return held_pointer(id, p);
    kept_indices(id, {&p.word_dynamic, &p.element, &p.offset_dynamic});
    return p;
  }
  Pointer p;
  p.type = m.type(m.type_of(id)).element;
  if (auto local = frame().variables.find(id); local != frame().variables.end()) {
    p.space = Pointer::Space::variable, p.variable = local->second.get();
    return p;
  }
  if (auto global = globals.find(id); global != globals.end()) {
    p.space = Pointer::Space::variable, p.variable = global->second.get();
    return p;
  }
  const Instruction* i = m.find(id);
  const bool is_chain = i && (i->op == spv::OpAccessChain || i->op == spv::OpInBoundsAccessChain);
  if (is_held && i && i->op != spv::OpVariable && !is_chain) return held_pointer(id, p);
  if (i && i->op == spv::OpVariable) {
    p.resource = id;
    switch (m.storage_of(id)) {
      case spv::StorageClassPushConstant:
        p.space = Pointer::Space::push_constants;
        return p;
      case spv::StorageClassUniform:
      case spv::StorageClassStorageBuffer:
        p.space = Pointer::Space::buffer;
        return p;
      case spv::StorageClassUniformConstant:
        p.space = Pointer::Space::resource;
        return p;
      case spv::StorageClassInput:   // of control shaders
      case spv::StorageClassOutput:  // of control and mesh shaders
      case spv::StorageClassTaskPayloadWorkgroupEXT:
      case spv::StorageClassWorkgroup:
        if (!workgroup || !workgroup->find(id)) break;
        p.space = Pointer::Space::workgroup;
        p.offset_B = static_cast<uint32_t>(workgroup->find(id)->offset_B);
        return p;
      default:
        break;
    }
  }
  // A chain of another region of this function, skipped by structure but reached by dominance: made again here.
  if (is_chain) return access_chain(*i);
  fail("pointer " + std::to_string(id) + " is of a storage class or kind that is not supported");
  p.space = Pointer::Space::none;
  return p;
}

/// Follows one index.
void Lowering::access_step(Pointer& p, uint32_t index_id) {
  assert(p.space != Pointer::Space::none && p.type != 0);
  const TypeInfo& t = m.type(p.type);
  const bool in_variable = p.space == Pointer::Space::variable;
  const bool is_constant = constants.find(index_id) != nullptr;
  const uint32_t literal = constants.word(index_id);
  if (t.kind == Kind::structure) {
    if (!is_constant || literal >= t.members.size()) {
      fail("a structure is indexed out of range");
      return;
    }
    if (in_variable) {
      p.word += part_offset(p.type, literal);
    } else if (!lies_as_decorated(p)) {
      p.offset_B += workgroup->scalar_B(p.resource) * part_offset(p.type, literal);
    } else {
      const Decorations& member = m.member(p.type, literal);
      const uint32_t member_B = member.offset_B == kNone ? 0 : member.offset_B;
      if (p.space == Pointer::Space::address)
        p.address_B += member_B;
      else
        add_constant(p, member_B);
      p.row_major = member.row_major, p.matrix_stride_B = member.matrix_stride_B;
    }
    p.type = t.members[literal];
    return;
  }
  const bool cooperative = t.kind == Kind::cooperative_matrix && in_variable;
  if (t.kind != Kind::vector && t.kind != Kind::matrix && t.kind != Kind::array && t.kind != Kind::runtime_array && !cooperative) {
    fail("an access chain indexes what has no parts");
    return;
  }
  uint32_t length = t.kind == Kind::array || cooperative ? array_length(constants, p.type) : t.kind == Kind::runtime_array ? 0 : t.count;
  Value index = is_constant || p.space == Pointer::Space::address ? nullptr : index_of(index_id);
  const uint32_t type = p.type;
  p.type = t.element;
  if (in_variable) {
    const uint32_t stride = width(t.element);
    if (is_constant) {
      p.word += std::min(literal, length ? length - 1 : 0) * stride;
    } else {
      index = clamp_index(index, length);
      p.word_dynamic = add_index(p.word_dynamic, ir.mul(index, Ir::same(index, stride)));
    }
    return;
  }
  if (!lies_as_decorated(p)) {
    const uint32_t stride_B = width(t.element) * workgroup->scalar_B(p.resource);
    if (type == m.pointee(p.resource) && is_per_vertex(m, p.resource)) length = vertex_count(m, constants, p.resource);
    if (is_constant) {
      p.offset_B += std::min(literal, length ? length - 1 : 0) * stride_B;
    } else {
      add_dynamic(p, clamp_index(index, length), stride_B);
    }
    return;
  }
  // The first index into an array of blocks or textures picks the descriptor.
  const bool in_shared = p.space == Pointer::Space::workgroup;
  const bool descriptors = is_array(t.kind) && !p.held_data && !in_shared && type == m.pointee(p.resource) &&
                           p.space != Pointer::Space::push_constants &&
                           (p.space == Pointer::Space::resource || m.type(t.element).kind == Kind::structure);
  if (descriptors && (p.space == Pointer::Space::resource || m.decoration(t.element).block || m.decoration(t.element).buffer_block)) {
    const uint32_t most = t.kind == Kind::runtime_array ? kUnbounded : length;  // what the layout has is asked at the access
    p.element = is_constant ? ir.c32(std::min(literal, most ? most - 1 : 0)) : clamp_index(index, most);
    return;
  }
  uint32_t stride_B = m.decorations_array_stride(type);
  if (t.kind == Kind::matrix) {
    stride_B = p.row_major ? constants.size(t.element).widest_B : p.matrix_stride_B;
    p.component_stride_B = p.row_major ? p.matrix_stride_B : 0;
  } else if (t.kind == Kind::vector) {
    stride_B = p.component_stride_B ? p.component_stride_B : constants.size(t.element).widest_B;
  }
  if (p.space == Pointer::Space::address) return address_step(p, index_id, stride_B);
  if (is_constant) {
    add_constant(p, uint64_t{in_shared ? std::min(literal, length ? length - 1 : 0) : literal} * stride_B);
  } else if (in_shared) {  // as in shared memory without a layout
    add_dynamic(p, clamp_index(index, length), stride_B);
  } else {
    // The first index whose element lies beyond every buffer.
    index = ir.umin(index, Ir::same(index, (kFarthest_B - 1) / std::max(1u, stride_B) + 1));
    add_dynamic(p, index, stride_B);
  }
}

void Lowering::add_constant(Pointer& p, uint64_t offset_B) const {
  p.offset_B = static_cast<uint32_t>(std::min<uint64_t>(p.offset_B + offset_B, kFarthest_B));
}

/// Two terms and a constant stay below 2^32, whatever the indices; before a third one what there is ends beyond every buffer.
void Lowering::add_dynamic(Pointer& p, Value index, uint32_t stride_B) {
  if (is_varying(index)) p.step_B = stride_B;
  Value term = ir.mul(index, Ir::same(index, stride_B));
  const auto limited = [&](Value v) { return ir.umin(v, Ir::same(v, kFarthest_B)); };
  if (stride_B > kFarthest_B / 4) term = limited(term);
  if (p.dynamic_terms == 2 && p.space != Pointer::Space::workgroup) {
    p.offset_dynamic = limited(ir.add(p.offset_dynamic, Ir::same(p.offset_dynamic, p.offset_B)));
    p.offset_B = 0;
    p.dynamic_terms = 1;
  }
  ++p.dynamic_terms;
  p.offset_dynamic = add_index(p.offset_dynamic, term);
}

Pointer Lowering::access_chain(const Instruction& i) {
  assert((i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain) && i.count >= 1);
  Pointer p = pointer(m.operand(i, 0));
  for (uint32_t k = 1; k < i.count && !failed(); ++k) access_step(p, m.operand(i, k));
  return p;
}

}  // namespace tilegpu::shader
