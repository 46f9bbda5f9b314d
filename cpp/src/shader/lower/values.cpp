// shader/lower/values.cpp -- types as lists of scalars, constants, the values of ids; uniform and varying shapes.
//
// In: ids. Out: Val. Source: SPIR-V specification, sections 2.2.1 "Instructions", 3.32.6 "Type-Declaration Instructions".
#include <cassert>

#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"
#include "shader/spirv/limits.hpp"
#include "vk/format.hpp"

namespace tilegpu::shader {

bool flatten(const Module& m, const Constants& constants, uint32_t type, std::vector<Base>& out) {
  const TypeInfo& t = m.type(type);
  switch (t.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::floating:
      out.push_back(base_of(t));
      return true;
    case Kind::pointer:
      if (t.variable_pointer && t.storage == spv::StorageClassStorageBuffer) out.insert(out.end(), {Base::i64, Base::i64});
      if (!is_address(t) && !t.variable_pointer) return false;
      out.push_back(t.variable_pointer ? Base::i32 : Base::i64);
      return true;
    case Kind::vector:
    case Kind::matrix:
      for (uint32_t k = 0; k < t.count; ++k) flatten(m, constants, t.element, out);
      return true;
    case Kind::array:
    case Kind::cooperative_matrix:
      for (uint32_t k = 0; k < array_length(constants, type); ++k) flatten(m, constants, t.element, out);
      return true;
    case Kind::structure: {
      bool all = true;
      for (uint32_t member : t.members) all = flatten(m, constants, member, out) && all;
      return all;
    }
    default:
      return false;
  }
}

void Lowering::fail(const std::string& message, VkResult code) {
  if (!status) return;
  std::string where = current ? m.source_of(*current) : "";
  status = Error{code, "shader '" + m.entry.name + "'" + (where.empty() ? "" : " at " + where) + ": " + message};
}

const std::vector<Base>& Lowering::bases(uint32_t type) {
  auto [found, inserted] = bases_.try_emplace(type);
  assert(constants.size(type).parts <= kMaxValueParts);  // check_limits
  if (inserted && constants.size(type).parts <= kMaxValueParts) flatten(m, constants, type, found->second);
  return found->second;
}

uint32_t Lowering::part_type(uint32_t type, uint32_t index) const {
  const TypeInfo& t = m.type(type);
  if (t.kind == Kind::structure) return index < t.members.size() ? t.members[index] : 0;
  return t.element;
}

uint32_t Lowering::part_offset(uint32_t type, uint32_t index) {
  const TypeInfo& t = m.type(type);
  assert(t.kind != Kind::structure || index <= t.members.size());
  if (t.kind != Kind::structure) return index * width(t.element);
  uint32_t offset = 0;
  for (uint32_t k = 0; k < index && k < t.members.size(); ++k) offset += width(t.members[k]);
  return offset;
}

Val Lowering::constant(uint32_t id) {
  assert(constants.find(id));
  const Constant& c = *constants.find(id);
  Val v{c.type, {}};
  const auto& kinds = bases(c.type);
  assert(c.words.size() == kinds.size());
  for (size_t k = 0; k < kinds.size(); ++k) {
    const uint64_t word = k < c.words.size() ? c.words[k] : 0;
    switch (kinds[k]) {
      case Base::boolean:
        v.c.push_back(ir.c1(word != 0));
        break;
      case Base::f32:
        v.c.push_back(LLVMConstBitCast(ir.c32(static_cast<uint32_t>(word)), ir.f32));
        break;
      case Base::f16:
        v.c.push_back(ir.cf(vk::half_to_float(static_cast<uint16_t>(word))));
        break;
      case Base::f64:
        v.c.push_back(LLVMConstBitCast(ir.c64(word), ir.f64));
        break;
      default:
        v.c.push_back(LLVMConstInt(scalar_type(kinds[k]), word, 0));
    }
  }
  return v;
}

Val Lowering::zero(uint32_t type) {
  Val v{type, {}};
  for (Base b : bases(type)) v.c.push_back(Ir::zero(scalar_type(b)));
  return v;
}

Val Lowering::value(uint32_t id) {
  assert(id != 0 && id < m.bound);
  if (m.type(m.type_of(id)).variable_pointer) return pointer_value(id);
  const auto place = m.holds_address(id) ? frame().pointers.find(id) : frame().pointers.end();
  if (place != frame().pointers.end()) (void)value_has_layout(place->second);
  return known_value(id);
}

Val Lowering::known_value(uint32_t id) {
  if (constants.find(id)) return constant(id);
  if (id < d.escape.size() && d.escape[id]) {
    auto slot = frame().slots.find(~id);
    if (slot != frame().slots.end()) return load_variable(*slot->second, slot->second->type, 0, nullptr);
  }
  auto found = frame().values.find(id);
  if (found != frame().values.end()) return found->second;
  fail("id " + std::to_string(id) + " has no value here");
  return zero(m.type_of(id));
}

Value Lowering::scalar(uint32_t id) {
  Val v = value(id);
  if (v.c.empty()) {
    fail("id " + std::to_string(id) + " is no scalar");
    return ir.c32(0);
  }
  return v.c[0];
}

bool Lowering::holds(const Val& v, bool varying) {
  const auto& kinds = bases(v.type);
  if (v.c.size() != kinds.size()) return false;
  for (size_t k = 0; k < kinds.size(); ++k) {
    const Type scalar = scalar_type(kinds[k]), type = Ir::type_of(v.c[k]);
    if (type != scalar && (type != ir.vec(scalar) || !varying)) return false;
  }
  return true;
}

Type Lowering::scalar_type(Base base) const {
  switch (base) {
    case Base::boolean:
      return ir.i1;
    case Base::i8:
      return ir.i8;
    case Base::i16:
      return ir.i16;
    case Base::i32:
      return ir.i32;
    case Base::i64:
      return ir.i64;
    case Base::f64:
      return ir.f64;
    default:
      return ir.f32;
  }
}

Type Lowering::memory_type(Base base) const { return base == Base::boolean ? ir.i32 : base == Base::f16 ? ir.i16 : scalar_type(base); }

// A half's NaN is one, whatever it was made of: registers hold it as a 32-bit float.
Value Lowering::to_memory(Base base, Value v) const {
  assert(Ir::element_of(Ir::type_of(v)) == scalar_type(base));
  if (base == Base::boolean) return bool_to_int(v);
  return base == Base::f16 ? ir.trunc(emit_float_to_half(ir, v), ir.i16) : v;
}

Value Lowering::from_memory(Base base, Value v) const {
  assert(Ir::element_of(Ir::type_of(v)) == memory_type(base));
  if (base == Base::boolean) return ir.ne(v, Ir::zero(Ir::type_of(v)));
  // Fenced, or LLVM compares halves, which x86-64-v3 does lane by lane.
  return base == Base::f16 ? ir.unary("llvm.arithmetic.fence", emit_half_to_float(ir, ir.zext(v, ir.i32))) : v;
}

void Lowering::define_rounded(uint32_t id, Val v) {
  const auto& kinds = bases(m.type_of(id));
  for (size_t k = 0; k < v.c.size() && k < kinds.size(); ++k)
    if (kinds[k] == Base::f16) v.c[k] = emit_round_to_half(ir, v.c[k]);
  define(id, std::move(v));
}

/// Its floats, with the one NaN.
Val Lowering::with_one_nan(Val v) {
  const auto& kinds = bases(v.type);
  assert(failed() || kinds.size() == v.c.size());
  for (size_t k = 0; k < v.c.size(); ++k)
    if (kinds[k] == Base::f32 || kinds[k] == Base::f64) v.c[k] = emit_canonical_nan(ir, v.c[k]);
  return v;
}

void Lowering::define(uint32_t id, Val v) {
  assert(id != 0 && id < m.bound && current);
  const uint32_t type = m.type_of(id);
  v.type = type;
  if (v.c.size() != bases(type).size()) {
    fail("instruction " + std::to_string(id) + " gives " + std::to_string(v.c.size()) + " scalars for " +
         std::to_string(bases(type).size()));
    v = zero(type);
  }
  if (is_nan_seen(id)) v = with_one_nan(v);
  assert(failed() || holds(v, d.is_varying(id)));  // the analysis and the code agree on what differs between lanes
  if (id < d.escape.size() && d.escape[id]) {
    Variable& slot = slot_of(id, type, true);
    store_variable(slot, v, 0, nullptr, d.escape[id] == 2 ? exec : nullptr);
  }
  frame().values[id] = std::move(v);
}

Value Lowering::vary(Value v) const {
  assert(Ir::lanes_of(v) == 1 || Ir::lanes_of(v) == ir.lanes);
  if (is_varying(v)) return v;
  return LLVMIsConstant(v) ? Ir::splat_constant(v, ir.lanes) : ir.splat(v);
}

Value Lowering::select(Value condition, Value a, Value b) const {
  if (is_varying(condition)) {
    a = vary(a), b = vary(b);
  } else {
    unify(a, b);
  }
  return ir.select(condition, a, b);
}

Value Lowering::uniform(Value v) {
  if (!is_varying(v)) return v;
  fail("internal: a value that was found to be uniform varies");
  return ir.extract(v, 0);
}

}  // namespace tilegpu::shader
