// shader/lower/buffers.cpp -- uniform and storage buffers, push constants: robust loads and stores of scalars.
//
// In: Pointers into blocks, the memory of the bound sets. Out: loads that give zero and stores that vanish outside of [0, size_B). Uniform
// buffers whose size is known and that are as large as their block are read without checks (a copy stands in for smaller ones).
// Source: Vulkan specification, "Robust Buffer Access", VK_EXT_robustness2; "Offset and Stride Assignment".
#include "shader/lower/context.hpp"

#include <algorithm>

#include "shader/ir/math.hpp"

namespace tilegpu::shader {

const BufferSlot* Lowering::buffer_slot(uint32_t variable) const {
  const Decorations& deco = m.decoration(variable);
  const VkDescriptorType type = descriptor_type_of(m, variable);
  for (const BufferSlot& s : resources.buffers) {
    if (s.set == (deco.set == kNone ? 0 : deco.set) && s.binding == deco.binding && s.type == type) return &s;
  }
  return nullptr;
}

/// Constant zero bytes to read from instead of what is out of range.
Value Lowering::zero_page(uint32_t size_B) {
  const std::string name = "zero" + std::to_string(size_B);
  if (Value known = LLVMGetNamedGlobal(ir.module, name.c_str())) return known;
  const Type type = LLVMArrayType2(ir.i8, size_B);
  Value page = LLVMAddGlobal(ir.module, type, name.c_str());
  LLVMSetInitializer(page, LLVMConstNull(type));
  LLVMSetGlobalConstant(page, 1);
  LLVMSetLinkage(page, LLVMPrivateLinkage);
  LLVMSetAlignment(page, 16);
  return page;
}

Lowering::BufferAddress Lowering::buffer_address(const Pointer& p) {
  BufferAddress a;
  if (p.space == Pointer::Space::workgroup) {
    assert(shared && workgroup);
    a.data = shared, a.whole = a.inside = true, a.static_size_B = workgroup->shared_B + workgroup->inputs_B;
    return a;
  }
  if (p.held_data) {
    assert(p.space == Pointer::Space::buffer && p.held_size_B);
    a.data = is_varying(p.held_data) ? p.held_data : LLVMBuildIntToPtr(ir.builder, p.held_data, ir.ptr, "");
    a.size_B = p.held_size_B;
    return a;
  }
  if (p.space == Pointer::Space::push_constants) {
    a.data = push_constants, a.whole = true, a.static_size_B = kMaxPushConstants_B;
    return a;
  }
  if (auto whole = whole_buffers.find(p.resource); whole != whole_buffers.end()) {
    a.data = whole->second.first, a.whole = true, a.static_size_B = whole->second.second;
    return a;
  }
  const BufferSlot* slot = buffer_slot(p.resource);
  if (!slot) {
    fail("buffer '" + m.name(p.resource) + "' is not in the resource table");
    a.data = zero_page(64), a.size_B = ir.c64(0);
    return a;
  }
  Value first = ir.offset(set_memory[slot->table], slot->at.offset_B);
  Value number = p.element ? clamp_descriptor(p.element, slot->set, slot->at, slot->count) : nullptr;
  if (number && is_varying(number)) {
    // Descriptors by lane: addresses as integers, so that they fit a vector.
    Value at = ir.mul(number, ir.ik(slot->at.stride_B));
    a.data = ir.load_lanes(ir.i64, ir.offset(first, offsetof(BufferDescriptor, data)), at, 8);
    a.size_B = ir.load_lanes(ir.i64, ir.offset(first, offsetof(BufferDescriptor, size_B)), at, 8);
    return a;
  }
  Value at = number ? ir.offset(first, ir.mul(ir.zext(number, ir.i64), ir.c64(slot->at.stride_B))) : first;
  a.data = ir.constant_field(ir.ptr, at, offsetof(BufferDescriptor, data), 8);
  a.size_B = ir.constant_field(ir.i64, at, offsetof(BufferDescriptor, size_B), 8);
  return a;
}

/// One scalar, or one for each lane where the offset or the descriptor varies.
Value Lowering::load_word(const BufferAddress& a, Base base, uint32_t offset_B, Value dynamic) {
  const Type type = memory_type(base);
  const uint64_t own_B = size_B(base);
  const auto aligned_B = static_cast<uint32_t>(std::min<uint64_t>(own_B, 4));
  const auto finish = [&](Value x) { return from_memory(base, x); };
  if (a.whole && !dynamic) {
    if (offset_B + own_B > a.static_size_B) return finish(Ir::zero(type));
    return finish(ir.load(type, ir.offset(a.data, offset_B), aligned_B));
  }
  if (a.inside || a.checked) {
    Value at = ir.add(dynamic, Ir::same(dynamic, offset_B));
    const uint32_t sure_B = a.checked ? 1 : aligned_B;
    return finish(is_varying(at) ? ir.load_lanes(type, a.data, at, sure_B) : ir.load(type, ir.offset(a.data, ir.zext(at, ir.i64)), sure_B));
  }
  const bool by_lane = is_varying(a.data);
  Value offset = dynamic ? ir.add(dynamic, Ir::same(dynamic, offset_B)) : ir.c32(offset_B);
  if (by_lane) {
    offset = vary(offset);
    Value result = Ir::zero(ir.vec(type));
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      Value at = ir.zext(ir.extract(offset, lane), ir.i64);
      Value ok = ir.ule(ir.add(at, ir.c64(own_B)), ir.extract(a.size_B, lane));
      Value pointer = LLVMBuildIntToPtr(ir.builder, ir.add(ir.extract(a.data, lane), at), ir.ptr, "");
      result = ir.insert(result, ir.load(type, ir.select(ok, pointer, zero_page(64)), 1), lane);
    }
    return finish(result);
  }
  Value room_B = a.whole ? ir.c64(a.static_size_B) : a.size_B;
  if (!is_varying(offset)) {
    Value at = ir.zext(offset, ir.i64);
    Value ok = ir.ule(ir.add(at, ir.c64(own_B)), room_B);
    return finish(ir.load(type, ir.select(ok, ir.offset(a.data, at), zero_page(64)), 1));
  }
  Value any = ir.uge(room_B, ir.c64(own_B));
  Value last = ir.trunc(ir.umin(ir.sub(room_B, ir.c64(own_B)), ir.c64(0xffffffffu)), ir.i32);
  Value ok = ir.and_(ir.ule(offset, ir.splat(last)), ir.splat(any));
  Value safe = ir.select(ok, offset, ir.ik(0));
  Value data = ir.select(any, a.data, zero_page(64));
  Value x = ir.load_lanes(type, data, safe, 1);
  return finish(ir.select(ok, x, Ir::zero(Ir::type_of(x))));
}

/// The scalars of `type` at the pointer, in order, with their offsets.
void Lowering::walk_layout(const Pointer& p, uint32_t type, const std::function<void(uint32_t, Base)>& visit) {
  struct Walk {
    Lowering& l;
    const std::function<void(uint32_t, Base)>& visit;
    void go(uint32_t type, uint64_t at, bool row_major, uint32_t matrix_stride_B, uint32_t component_stride_B) {
      const TypeInfo& t = l.m.type(type);
      at = std::min<uint64_t>(at, kFarthest_B);
      switch (t.kind) {
        case Kind::boolean:
        case Kind::integer:
        case Kind::floating:
          visit(static_cast<uint32_t>(at), base_of(t));
          break;
        case Kind::pointer:  // an address
          visit(static_cast<uint32_t>(at), Base::i64);
          break;
        case Kind::vector: {
          const uint32_t step_B = component_stride_B ? component_stride_B : l.constants.size(type).widest_B;
          for (uint32_t k = 0; k < t.count; ++k) go(t.element, at + uint64_t{k} * step_B, false, 0, 0);
          break;
        }
        case Kind::matrix:
          for (uint32_t k = 0; k < t.count; ++k)
            go(t.element, at + uint64_t{k} * (row_major ? l.constants.size(type).widest_B : matrix_stride_B), false, 0,
               row_major ? matrix_stride_B : 0);
          break;
        case Kind::array: {
          const uint32_t stride_B = l.m.decorations_array_stride(type), length = array_length(l.constants, type);
          for (uint32_t k = 0; k < length; ++k) go(t.element, at + static_cast<uint64_t>(k) * stride_B, row_major, matrix_stride_B, 0);
          break;
        }
        case Kind::structure:
          for (uint32_t k = 0; k < t.members.size(); ++k) {
            const Decorations& member = l.m.member(type, k);
            go(t.members[k], at + (member.offset_B == kNone ? 0 : member.offset_B), member.row_major, member.matrix_stride_B, 0);
          }
          break;
        default:
          break;
      }
    }
  };
  if (!lies_as_decorated(p)) {
    uint32_t at = p.offset_B;
    for (Base base : bases(type)) visit(at, base), at += workgroup->scalar_B(p.resource);
    return;
  }
  if (scalar_count(constants, type) > 65536) return fail("a buffer's content of more than 65536 scalars is used as one value");
  Walk{*this, visit}.go(type, p.offset_B, p.row_major, p.matrix_stride_B, p.component_stride_B);
}

// Outputs and inputs of a control shader lie where invocations share them, in words.
bool Lowering::is_of_interface(const Pointer& p) const {
  return p.space == Pointer::Space::workgroup && p.resource && m.storage_of(p.resource) != spv::StorageClassWorkgroup;
}

Lowering::Scalars Lowering::layout_of(const Pointer& p) {
  Scalars scalars;
  const bool words = is_of_interface(p);
  walk_layout(p, p.type, [&](uint32_t offset_B, Base base) {
    scalars.offsets.push_back(offset_B), scalars.kinds.push_back(words ? word_base(base) : base);
  });
  return scalars;
}

Val Lowering::load_buffer(const Pointer& p) {
  Val v{p.type, load_scalars(buffer_address(p), p, layout_of(p))};
  const auto& kinds = bases(p.type);
  if (is_of_interface(p))
    for (size_t k = 0; k < v.c.size(); ++k)
      if (kinds[k] == Base::i16) v.c[k] = ir.trunc(v.c[k], ir.i16);
  return v;
}

std::vector<Value> Lowering::load_scalars(const BufferAddress& a, const Pointer& p, const Scalars& scalars) {
  const auto& [offsets, kinds] = scalars;
  const auto one_by_one = [&] {
    std::vector<Value> words;
    for (size_t k = 0; k < scalars.offsets.size(); ++k)
      words.push_back(load_word(a, scalars.kinds[k], scalars.offsets[k], a.safe ? a.safe : p.offset_dynamic));
    return words;
  };
  constexpr size_t kMostAtOnce = 16;  // more are not written twice
  const bool by_lane = compute && p.offset_dynamic && is_varying(p.offset_dynamic) && !is_varying(a.data) && offsets.size() <= kMostAtOnce;
  if (!by_lane) return one_by_one();
  const auto same_or_one_by_one = [&] { return load_same(a, p.offset_dynamic, scalars.offsets, scalars.kinds, one_by_one); };
  const uint32_t step_B = lane_step_B(p, a, offsets, kinds);
  if (!step_B) return same_or_one_by_one();
  return ir.if_else(
      reaches_in_order(a, p.offset_dynamic, exec, step_B, offsets[0]),
      [&] {
        std::vector<Value> words = load_in_order(a, p.offset_dynamic, step_B, scalars.offsets, size_B(scalars.kinds[0]));
        for (size_t k = 0; k < words.size(); ++k)
          words[k] = from_memory(scalars.kinds[k], ir.bitcast(words[k], ir.vec(memory_type(scalars.kinds[k]))));
        return words;
      },
      same_or_one_by_one);
}

// Which NaN an operation gives depends on the order that LLVM chose for its operands: one is stored. Bits that the shader was given stay.
std::vector<Value> Lowering::stored_words(const Val& v, const Scalars& scalars, const std::vector<bool>& given) const {
  assert(failed() || scalars.kinds.size() == v.c.size());
  std::vector<Value> words = v.c;
  words.resize(std::min(words.size(), scalars.kinds.size()));
  for (size_t k = 0; k < words.size(); ++k) {
    const Base kind = scalars.kinds[k];
    Value& x = words[k];
    if (kind == Base::i32 && Ir::bits_of(x) < 32) x = ir.zext(x, ir.i32);
    const bool stays = k < given.size() && given[k];
    if ((kind == Base::f32 || kind == Base::f64) && !stays) x = emit_canonical_nan(ir, x);
    x = to_memory(kind, x);
  }
  return words;
}

void Lowering::store_buffer(const Pointer& p, const Val& v, const std::vector<bool>& given) {
  if (slice) return;
  const BufferAddress a = buffer_address(p);
  Value mask = write_mask();
  const Scalars scalars = layout_of(p);
  store_scalars(a, p, scalars, stored_words(v, scalars, given), mask);
}

/// Lanes write one after the other; those that are inactive, dead or helpers do not.
void Lowering::store_scalars(const BufferAddress& a, const Pointer& p, const Scalars& scalars, const std::vector<Value>& words,
                             Value mask) {
  const std::vector<uint32_t>& offsets = scalars.offsets;
  Value dynamic = p.offset_dynamic;
  bool same_everywhere = !is_varying(a.data) && !(dynamic && is_varying(dynamic));
  for (Value x : words) same_everywhere = same_everywhere && !is_varying(x);
  Value nowhere = a.inside || a.checked ? nullptr : sink();
  const auto write = [&](uint32_t lane) {
    Value data = is_varying(a.data) ? LLVMBuildIntToPtr(ir.builder, ir.extract(a.data, lane), ir.ptr, "") : a.data;
    Value room_B = a.inside || a.checked ? nullptr : ir.extract(a.size_B, lane);
    for (size_t k = 0; k < words.size(); ++k) {
      Value offset = dynamic ? ir.add(ir.extract(dynamic, lane), ir.c32(offsets[k])) : ir.c32(offsets[k]);
      Value at = ir.zext(offset, ir.i64), to = ir.offset(data, at);
      const uint32_t own_B = size_B(scalars.kinds[k]);
      if (room_B) to = ir.select(ir.ule(ir.add(at, ir.c64(own_B)), room_B), to, nowhere);
      ir.store(ir.extract(words[k], lane), to, a.inside ? std::min(own_B, 4u) : 1);
    }
  };
  if (same_everywhere) {
    ir.if_then(mask ? ir.any(mask) : ir.c1(true), [&] { write(0); });
    return;
  }
  const auto lane_by_lane = [&] {
    Value bits = mask ? ir.zext(ir.mask_bits(mask), ir.i64) : nullptr;
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      if (!bits) {
        write(lane);
        continue;
      }
      ir.if_then(ir.ne(ir.and_(bits, ir.c64(uint64_t{1} << lane)), ir.c64(0)), [&] { write(lane); });
    }
  };
  const uint32_t step_B = lane_step_B(p, a, offsets, scalars.kinds);
  if (!step_B || step_B != size_B(scalars.kinds[0]) * offsets.size()) return lane_by_lane();  // or something lies between
  Value in_order = reaches_in_order(a, dynamic, mask, step_B, offsets[0]);
  if (mask && offsets.size() > 1) in_order = ir.and_(in_order, ir.all(mask));
  ir.if_else(
      in_order,
      [&] {
        store_in_order(a, dynamic, offsets[0], words, mask);
        return std::vector<Value>();
      },
      [&] {
        lane_by_lane();
        return std::vector<Value>();
      });
}

/// Length of the run-time array that ends a storage block.
Val Lowering::array_length_of(const Instruction& i) {
  Pointer p = pointer(m.operand(i, 0));
  const uint32_t member = m.operand(i, 1);
  const TypeInfo& block = m.type(p.type);
  if (p.space != Pointer::Space::buffer || member >= block.members.size()) {
    fail("OpArrayLength of what is no storage block");
    return zero(i.type);
  }
  const uint32_t offset_B = m.member(p.type, member).offset_B, stride_B = std::max(1u, m.decorations_array_stride(block.members[member]));
  const BufferAddress a = buffer_address(p);
  Value room =
      ir.select(ir.ugt(a.size_B, Ir::same(a.size_B, offset_B)), ir.sub(a.size_B, Ir::same(a.size_B, offset_B)), Ir::same(a.size_B, 0));
  return {i.type, {ir.trunc(LLVMBuildUDiv(ir.builder, room, Ir::same(room, stride_B), ""), ir.i32)}};
}

}  // namespace tilegpu::shader
