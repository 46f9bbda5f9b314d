// shader/lower/variable_pointers.cpp -- variable pointers: to storage buffers and shared memory, chosen while the shader runs.
//
// In: OpSelect, OpPhi, OpLoad, OpFunctionCall, OpPtrAccessChain of pointers, in modules that declare VariablePointers. Out: values of three
// scalars (of a storage buffer: where its data begin and how many bytes they are, as the descriptor said; an offset) or of one (shared
// memory: an offset), which variables and OpPhi hold as any others. The first two come from one descriptor together, so that each access is
// checked against the range that was bound. Shared memory is one room: what leads out of it leads to its last place, where it is followed;
// the pointer itself may stand behind the last element, or before the first, and come back.
// Source: SPIR-V specification 1.6, "Memory Object Pointers" (variable pointers), OpPtrAccessChain, OpPtrEqual, OpPtrDiff; Vulkan
// specification, VkPhysicalDeviceVariablePointersFeatures, "Robust Buffer Access".
#include <cassert>
#include <set>

#include "shader/lower/context.hpp"
#include "shader/spirv/interface.hpp"
#include "shader/spirv/limits.hpp"

namespace tilegpu::shader {

namespace {

/// Offsets in shared memory are kept with one added, so that the null pointer, which is zeros as every null is, is none of them.
constexpr uint32_t kNotNull = 1;

Value as_number(const Ir& ir, Value data) { return Lowering::is_varying(data) ? data : LLVMBuildPtrToInt(ir.builder, data, ir.i64, ""); }

}  // namespace

/// A layout that a pointer's value does not hold, an address neither: pointers to matrices, and to columns of row-major ones, stay where
/// they were made.
bool Lowering::value_has_layout(const Pointer& p) {
  uint32_t type = p.type;
  while (is_array(m.type(type).kind)) type = m.type(type).element;
  const bool is_shared = p.space == Pointer::Space::workgroup && lies_as_decorated(p),
             is_buffer = p.space == Pointer::Space::buffer || is_shared;
  if (is_buffer && !is_shared && is_array(m.type(p.type).kind) && !p.held_data && p.type == m.pointee(p.resource)) {
    fail("a variable pointer is to an array of blocks; it must be to one of them, or to what is in it");
    return false;
  }
  // An address of a matrix: has_layout, where it is read.
  const bool is_address = p.space == Pointer::Space::address;
  if ((!is_buffer || m.type(type).kind != Kind::matrix) && (!(is_buffer || is_address) || !p.component_stride_B)) return true;
  unsupported(
      "a pointer to a matrix, or to a column of a row-major one, goes through OpPhi, OpSelect or a variable, where its layout is lost: "
      "point "
      "to the structure that the matrix is a member of");
  return false;
}

/// The scalars that a pointer's value is made of.
Val Lowering::held_value(const Pointer& p, uint32_t type) {
  assert(m.type(type).variable_pointer && (p.space == Pointer::Space::buffer || p.space == Pointer::Space::workgroup));
  Value offset = p.offset_dynamic ? ir.add(p.offset_dynamic, Ir::same(p.offset_dynamic, p.offset_B)) : ir.c32(p.offset_B);
  if (p.space == Pointer::Space::workgroup) return {type, {ir.add(offset, Ir::same(offset, kNotNull))}};
  const BufferAddress a = buffer_address(p);
  return {type, {as_number(ir, a.data), a.whole ? ir.c64(a.static_size_B) : a.size_B, offset}};
}

/// Does a pointer to shared memory have a value beside its place, which may lead out of it, where the place was made to stay inside?
bool Lowering::is_followed(uint32_t id) const {
  return m.type(m.type_of(id)).storage == spv::StorageClassWorkgroup && frames.back()->values.count(id) != 0;
}

/// Of any pointer to storage buffers or shared memory, made in whatever way.
Val Lowering::pointer_value(uint32_t id) {
  const uint32_t type = m.type_of(id);
  assert(m.type(type).variable_pointer);
  const Instruction* i = m.find(id);
  const bool is_place = frame().pointers.count(id) || (i && i->op == spv::OpVariable);
  if (!is_place || is_followed(id)) return known_value(id);
  const Pointer p = pointer(id);
  return failed() || !value_has_layout(p) ? zero(type) : held_value(p, type);
}

/// Offsets in shared memory that keep the whole of `type` inside.
Value Lowering::shared_offset(Value offset, uint32_t type) {
  assert(workgroup && Ir::element_of(Ir::type_of(offset)) == ir.i32);
  const uint64_t own_B = workgroup->has_layout ? block_size_B(m, constants, type) : uint64_t{width(type)} * workgroup->scalar_B(0);
  if (own_B > workgroup->shared_B) {
    fail("a variable pointer to shared memory is to more bytes than all of it has");
    return offset;
  }
  return ir.umin(offset, Ir::same(offset, workgroup->shared_B - own_B));
}

/// What a value points to. `place`: what is known of it beside (the layout of a matrix).
Pointer Lowering::held_pointer(uint32_t id, Pointer place) {
  const Val v = known_value(id);
  const bool is_shared = m.type(m.type_of(id)).storage == spv::StorageClassWorkgroup;
  place.type = m.type(m.type_of(id)).element, place.resource = 0, place.element = nullptr;
  place.offset_B = 0, place.step_B = 0;
  if (failed() || v.c.size() != (is_shared ? 1 : 3)) {
    if (!failed()) fail("pointer " + std::to_string(id) + " has no value here");
    place.space = Pointer::Space::none;
    return place;
  }
  if (is_shared) {
    place.space = Pointer::Space::workgroup;
    place.offset_dynamic = shared_offset(ir.sub(v.c[0], Ir::same(v.c[0], kNotNull)), place.type);
    return place;
  }
  place.space = Pointer::Space::buffer;
  place.held_data = v.c[0], place.held_size_B = v.c[1], place.offset_dynamic = v.c[2];
  unify(place.held_data, place.held_size_B);
  return place;
}

void Lowering::define_held(const Instruction& i, const Pointer& p) {
  if (p.space == Pointer::Space::none) return;
  define(i.id, held_value(p, i.type));
  frame().pointers[i.id] = p;
}

namespace {

/// An index of any width that counts up and down, as i32 within `limit`; what is beyond is `limit`.
Value step_index(const Ir& ir, Value index, uint32_t limit) {
  if (Ir::bits_of(index) < 32) index = ir.sext(index, ir.i32);
  Value within = ir.ule(ir.add(index, Ir::same(index, limit)), Ir::same(index, uint64_t{2} * limit));
  index = ir.select(within, index, Ir::same(index, limit));
  return Ir::bits_of(index) > 32 ? ir.trunc(index, ir.i32) : index;
}

}  // namespace

/// A pointer to shared memory as it was counted, which may lead out of it.
Pointer Lowering::followed_pointer(uint32_t id) {
  assert(is_followed(id));
  Pointer p = pointer(id);
  if (failed()) return p;
  const Value from = known_value(id).c[0];
  p.offset_dynamic = ir.sub(from, Ir::same(from, kNotNull)), p.offset_B = 0;
  return p;
}

/// The value as it was counted; the place, which is read and written, inside.
void Lowering::define_followed(const Instruction& i, Pointer p) {
  assert(p.space == Pointer::Space::workgroup && p.offset_dynamic);
  define_held(i, p);
  p.offset_dynamic = shared_offset(ir.add(p.offset_dynamic, Ir::same(p.offset_dynamic, p.offset_B)), p.type);
  p.offset_B = 0;
  frame().pointers[i.id] = p;
}

/// OpAccessChain and OpCopyObject of a pointer that is followed; false: it is none.
bool Lowering::follows(const Instruction& i) {
  if (!m.type(i.type).variable_pointer || !is_followed(m.operand(i, 0))) return false;
  Pointer p = followed_pointer(m.operand(i, 0));
  for (uint32_t k = 1; k < i.count && !failed(); ++k) access_step(p, m.operand(i, k));
  if (!failed()) define_followed(i, p);
  return true;
}

/// OpPtrAccessChain: base, element, indices.
void Lowering::pointer_chain(const Instruction& i) {
  Pointer p = is_followed(m.operand(i, 0)) ? followed_pointer(m.operand(i, 0)) : pointer(m.operand(i, 0));
  Value index = scalar(m.operand(i, 1));
  if (failed()) return;
  if (!Ir::is_integer(index)) return fail(op_name(i.op) + " has an element that is no integer");
  const bool is_shared = p.space == Pointer::Space::workgroup;
  const uint64_t stride_B = !lies_as_decorated(p) ? uint64_t{width(p.type)} * workgroup->scalar_B(p.resource)
                                                  : m.decoration(m.type_of(m.operand(i, 0))).array_stride_B;
  if (!stride_B || stride_B > kFarthest_B) return fail(op_name(i.op) + " of a pointer whose type has no ArrayStride, or one beyond 1 GiB");
  index = step_index(ir, index, static_cast<uint32_t>(kFarthest_B / stride_B));
  const Value step = ir.mul(index, Ir::same(index, stride_B));
  if (is_varying(index)) p.step_B = static_cast<uint32_t>(stride_B);
  p.offset_dynamic = add_index(p.offset_dynamic, step);
  for (uint32_t k = 2; k < i.count && !failed(); ++k) access_step(p, m.operand(i, k));
  if (!failed()) is_shared ? define_followed(i, p) : define_held(i, p);
}

namespace {

/// The type that the last of a chain's indices is an index into; 0: there is none. `first`: of the operands that are indices.
uint32_t indexed_last(const Module& m, const Constants& constants, const Instruction& chain, uint32_t first) {
  uint32_t type = m.type(m.type_of(m.operand(chain, 0))).element, last = 0;
  for (uint32_t k = first; k < chain.count; ++k) {
    const TypeInfo& t = m.type(last = type);
    const uint32_t member = constants.word(m.operand(chain, k));
    if (t.kind == Kind::structure && member >= t.members.size()) return 0;
    type = t.kind == Kind::structure ? t.members[member] : t.element;
  }
  return last;
}

/// From an element to the next in the array that a pointer points into, by its type or by the chain that made it; 0: nothing says so.
uint64_t element_stride(const Module& m, const Constants& constants, uint32_t id, std::set<uint32_t>& seen) {
  const Instruction* i = m.find(id);
  if (const uint32_t stride_B = m.decoration(m.type_of(id)).array_stride_B) return stride_B;
  if (!i || !seen.insert(id).second) return 0;
  const auto of_any = [&](const std::vector<uint32_t>& ids) {
    for (uint32_t one : ids)
      if (const uint64_t stride_B = element_stride(m, constants, one, seen)) return stride_B;
    return uint64_t{0};
  };
  switch (i->op) {
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpPtrAccessChain:
    case spv::OpInBoundsPtrAccessChain: {
      const bool is_step = i->op == spv::OpPtrAccessChain || i->op == spv::OpInBoundsPtrAccessChain;
      const uint32_t type = indexed_last(m, constants, *i, is_step ? 2 : 1);
      if (!type) return of_any({m.operand(*i, 0)});
      return is_array(m.type(type).kind) ? m.decorations_array_stride(type) : 0;
    }
    case spv::OpCopyObject:
      return of_any({m.operand(*i, 0)});
    case spv::OpSelect:
      return of_any({m.operand(*i, 1), m.operand(*i, 2)});
    case spv::OpPhi: {
      std::vector<uint32_t> values;
      for (uint32_t k = 0; k < i->count; k += 2) values.push_back(m.operand(*i, k));
      return of_any(values);
    }
    case spv::OpFunctionParameter: {
      const auto passed = m.arguments.find(id);
      return passed == m.arguments.end() ? 0 : of_any(passed->second);
    }
    default:
      return 0;
  }
}

/// Pointers of a type that came from a variable, a call or a structure were chains once: where all of its chains into arrays have one
/// stride, it is that. 0: there are none, or several.
uint64_t stride_of_chains(const Module& m, const Constants& constants, uint32_t type) {
  std::set<uint64_t> strides;
  for (const Instruction& i : m.instructions) {
    const bool is_chain = i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain,
               is_step = i.op == spv::OpPtrAccessChain || i.op == spv::OpInBoundsPtrAccessChain;
    if (i.type != type || (!is_chain && !is_step)) continue;
    const uint32_t into = indexed_last(m, constants, i, is_step ? 2 : 1);
    if (into && is_array(m.type(into).kind)) strides.insert(m.decorations_array_stride(into));
  }
  return strides.size() == 1 ? *strides.begin() : 0;
}

}  // namespace

/// OpPtrDiff: how far the elements that two pointers are to lie apart. 0, and an error: nothing says so.
uint64_t Lowering::stride_between(uint32_t a, uint32_t b) {
  std::set<uint32_t> seen;
  uint64_t stride_B = element_stride(m, constants, a, seen);
  if (!stride_B) stride_B = element_stride(m, constants, b, seen);
  if (!stride_B) stride_B = stride_of_chains(m, constants, m.type_of(a));
  if (!stride_B) fail("OpPtrDiff of pointers that no array with an ArrayStride, and no pointer type that has one, is known of");
  return stride_B;
}

/// What a pointer is compared by: of a matrix, whose layout a value does not hold, too.
Val Lowering::compared_pointer(uint32_t id) {
  const uint32_t type = m.type_of(id);
  const auto place = frame().pointers.find(id);
  if (place == frame().pointers.end() || is_followed(id)) return value(id);
  const Pointer p = pointer(id);
  const bool is_variable = p.resource && p.type == m.pointee(p.resource);
  return failed() || is_variable ? value(id) : held_value(p, type);
}

bool Lowering::variable_pointer(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  const auto is_held = [&](uint32_t id) { return m.type(m.type_of(id)).variable_pointer; };
  switch (i.op) {
    case spv::OpPtrAccessChain:
    case spv::OpInBoundsPtrAccessChain:
      if (!m.type(i.type).variable_pointer || i.count < 2) return false;
      pointer_chain(i);
      return true;
    case spv::OpPtrEqual:
    case spv::OpPtrNotEqual:
    case spv::OpPtrDiff: {
      if (!is_held(o(0)) || !is_held(o(1))) return false;
      const Val a = compared_pointer(o(0)), b = compared_pointer(o(1));
      if (failed()) return true;
      // Of storage buffers: addresses.
      const auto place = [&](const Val& v) {
        if (v.c.size() == 1) return ir.sext(v.c[0], ir.i64);
        Value data = v.c[0], offset = v.c[2];
        unify(data, offset);
        return ir.add(data, ir.zext(offset, ir.i64));
      };
      Value x = place(a), y = place(b);
      unify(x, y);
      if (i.op != spv::OpPtrDiff) {
        define(i.id, {i.type, {i.op == spv::OpPtrEqual ? ir.eq(x, y) : ir.ne(x, y)}});
        return true;
      }
      const uint32_t type = m.type_of(o(0));
      const uint64_t stride_B = a.c.size() == 1 && !workgroup->has_layout ? uint64_t{width(m.type(type).element)} * workgroup->scalar_B(0)
                                                                          : stride_between(o(0), o(1));
      if (failed()) return true;
      Value count = LLVMBuildSDiv(ir.builder, ir.sub(x, y), Ir::same(x, stride_B), "");
      const Type wanted = scalar_type(bases(i.type).front());
      define(i.id, {i.type, {Ir::bits_of(wanted) < 64 ? ir.trunc(count, wanted) : count}});
      return true;
    }
    default:
      return false;
  }
}

}  // namespace tilegpu::shader
