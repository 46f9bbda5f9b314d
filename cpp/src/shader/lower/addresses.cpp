// shader/lower/addresses.cpp -- pointers of the PhysicalStorageBuffer class: numbers of 64 bits, each access checked against the ranges
// that have an address.
//
// In: addresses, of any origin; the AddressTable of the device. Out: loads that give zeros and stores that vanish where a scalar is not
// wholly in a range. A value that is an address is one scalar (i64), so that variables, OpPhi, OpSelect and memory hold it as any other;
// what an access chain adds is kept beside it. Lanes that lie in one window, which is nearly always, are checked together and go on as in
// a bound buffer (buffers.cpp); others look for their windows one by one.
// Source: SPIR-V specification 1.6, "Memory Object Pointers", OpConvertUToPtr, OpPtrAccessChain; Vulkan specification, "Buffer Device
// Addresses"; the table is own.
#include <algorithm>
#include <cassert>

#include "shader/lower/context.hpp"
#include "shader/spirv/constant_ops.hpp"

namespace tilegpu::shader {

namespace {

constexpr uint64_t kOffsetMask = (uint64_t{1} << kAddressOffsetBits) - 1;
/// Offsets of lanes are sums of at most so much in either direction, so that 32 bits hold them.
constexpr uint64_t kMostOffset_B = uint64_t{1} << 30;
/// More scalars are not written twice.
constexpr size_t kMostAtOnce = 16;
constexpr uint32_t kWord_B = 8;  // of the largest scalar

uint64_t span_of(const std::vector<uint32_t>& offsets, const std::vector<Base>& kinds) {
  uint64_t end_B = 0;
  for (size_t k = 0; k < offsets.size(); ++k) end_B = std::max(end_B, uint64_t{offsets[k]} + size_B(kinds[k]));
  return end_B;
}

}  // namespace

// ---- values

/// The number alone.
Value Lowering::address_of(uint32_t id) {
  const Val v = known_value(id);
  if (v.c.size() == 1) return v.c[0];
  if (!failed()) fail("id " + std::to_string(id) + " is no address");
  return ir.c64(0);
}

Pointer Lowering::address_pointer(uint32_t id) {
  const auto known = frame().pointers.find(id);
  const bool found = known != frame().pointers.end();
  const bool escapes = id < d.escape.size() && d.escape[id];
  if (found && !escapes) return known->second;
  Pointer p = found ? known->second : Pointer{};
  p.space = Pointer::Space::address;
  p.type = m.type(m.type_of(id)).element;
  p.address = address_of(id), p.address_B = 0, p.terms.clear(), p.step_B = 0;
  return p;
}

/// Adds an index, which counts up and down.
void Lowering::address_step(Pointer& p, uint32_t index_id, uint64_t stride_B) {
  assert(p.space == Pointer::Space::address);
  if (const Constant* c = constants.find(index_id)) {
    if (c->words.size() != 1) return fail("an address is indexed by what is no integer");
    p.address_B += static_cast<uint64_t>(sign_extended(c->words[0], m.type(c->type).width_bits)) * stride_B;
    return;
  }
  Value index = scalar(index_id);
  if (!Ir::is_integer(index)) return fail("an address is indexed by what is no integer");
  if (is_varying(index)) p.step_B = static_cast<uint32_t>(std::min<uint64_t>(stride_B, UINT32_MAX));
  p.terms.push_back({index, stride_B});
}

/// The sum of what a pointer is made of.
Value Lowering::exact_address(const Pointer& p) const {
  assert(p.space == Pointer::Space::address && Ir::element_of(Ir::type_of(p.address)) == ir.i64);
  Value sum = p.address;
  for (const AddressTerm& term : p.terms) {
    Value index = Ir::bits_of(term.index) < 64 ? ir.sext(term.index, ir.i64) : term.index;
    sum = add_index(sum, ir.mul(index, Ir::same(index, term.stride_B)));
  }
  return p.address_B ? ir.add(sum, Ir::same(sum, p.address_B)) : sum;
}

void Lowering::define_address(const Instruction& i, const Pointer& p) {
  define(i.id, {i.type, {exact_address(p)}});
  frame().pointers[i.id] = p;
}

bool Lowering::address(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  const auto of_width = [&](Value x, uint32_t bits) {
    const Type type = LLVMIntTypeInContext(ir.context, bits);
    return Ir::bits_of(x) > bits ? ir.trunc(x, type) : Ir::bits_of(x) < bits ? ir.zext(x, type) : x;
  };
  switch (i.op) {
    case spv::OpConvertPtrToU:
    case spv::OpConvertUToPtr: {
      const bool to_pointer = i.op == spv::OpConvertUToPtr;
      Value x = m.holds_address(to_pointer ? i.id : o(0)) ? (to_pointer ? scalar(o(0)) : address_of(o(0))) : nullptr;
      if (!x || !Ir::is_integer(x)) {
        fail(op_name(i.op) + " is of no pointer to the PhysicalStorageBuffer class");
        return true;
      }
      define(i.id, {i.type, {of_width(x, to_pointer ? 64 : m.type(i.type).width_bits)}});
      return true;
    }
    case spv::OpPtrEqual:
    case spv::OpPtrNotEqual:
    case spv::OpPtrDiff: {
      if (!m.holds_address(o(0)) || !m.holds_address(o(1))) return false;
      Value a = address_of(o(0)), b = address_of(o(1));
      unify(a, b);
      Value result = i.op == spv::OpPtrEqual ? ir.eq(a, b) : i.op == spv::OpPtrNotEqual ? ir.ne(a, b) : nullptr;
      if (!result) {
        const uint64_t stride_B = stride_between(o(0), o(1));
        if (failed()) return true;
        result = of_width(LLVMBuildSDiv(ir.builder, ir.sub(a, b), Ir::same(a, stride_B), ""), m.type(i.type).width_bits);
      }
      define(i.id, {i.type, {result}});
      return true;
    }
    case spv::OpPtrAccessChain:
    case spv::OpInBoundsPtrAccessChain: {
      if (!m.holds_address(i.id) || i.count < 2) return false;
      const uint32_t stride_B = m.decoration(m.type_of(o(0))).array_stride_B;
      if (!stride_B) {
        fail(op_name(i.op) + " of a pointer whose type has no ArrayStride");
        return true;
      }
      Pointer p = pointer(o(0));
      address_step(p, o(1), stride_B);
      for (uint32_t k = 2; k < i.count && !failed(); ++k) access_step(p, o(k));
      if (!failed()) define_address(i, p);
      return true;
    }
    default:
      return false;
  }
}

// ---- where addresses lead

/// The window of an address, a scalar; a null one, of no bytes, where there is none.
Lowering::BufferAddress Lowering::window_of(Value address) const {
  assert(!is_varying(address) && set_memory[kAddressSet]);
  Value table = set_memory[kAddressSet];
  Value count = ir.constant_field(ir.i64, table, offsetof(AddressTable, count), 8);
  Value number = ir.lshr(address, kAddressOffsetBits);
  number = ir.select(ir.ult(number, count), number, ir.c64(0));  // the first window is null
  Value at =
      ir.offset(ir.constant_field(ir.ptr, table, offsetof(AddressTable, windows), 8), ir.mul(number, ir.c64(sizeof(BufferDescriptor))));
  BufferAddress a;
  a.data = ir.constant_field(ir.ptr, at, offsetof(BufferDescriptor, data), 8);
  a.size_B = ir.constant_field(ir.i64, at, offsetof(BufferDescriptor, size_B), 8);
  return a;
}

std::pair<Value, Value> Lowering::place_of(Value address, uint32_t own_B) const {
  const BufferAddress window = window_of(address);
  Value at = ir.and_(address, ir.c64(kOffsetMask));
  return {ir.offset(window.data, at), ir.ule(ir.add(at, ir.c64(own_B)), window.size_B)};
}

Lowering::Near Lowering::near_address(const Pointer& p, uint64_t span_B, Value mask) {
  assert(span_B > 0 && span_B <= kMostOffset_B);
  Near near;
  Pointer base = p;
  base.terms.clear();
  std::vector<AddressTerm> by_lane;
  for (const AddressTerm& term : p.terms) (is_varying(term.index) && term.stride_B ? by_lane : base.terms).push_back(term);
  Value begin = exact_address(base), running = ir.movemask(mask ? mask : ir.true_mask()), ok = nullptr, room = nullptr;
  uint64_t most = kOffsetMask - span_B;
  if (!is_varying(begin)) {
    near.window = window_of(begin);
    near.offset = ir.splat(ir.trunc(begin, ir.i32));
    for (const AddressTerm& term : by_lane) {
      Value index = Ir::bits_of(term.index) < 32 ? ir.sext(term.index, ir.i32) : term.index;
      const uint64_t limit = kMostOffset_B / by_lane.size() / term.stride_B;
      Value within = ir.ule(ir.add(index, Ir::same(index, limit)), Ir::same(index, 2 * limit));
      if (Ir::bits_of(index) > 32) index = ir.trunc(index, ir.i32);
      near.offset = ir.add(near.offset, ir.mul(index, ir.ik(static_cast<uint32_t>(term.stride_B))));
      ok = ok ? ir.and_(ok, within) : within;
    }
    // The base lies below 2 GiB in its window: sums below it wrap around to what is too large.
    room = ir.ult(ir.and_(begin, ir.c64(kOffsetMask)), ir.c64(uint64_t{1} << 31));
    most = (uint64_t{1} << 31) - 1;
  } else {
    Value exact = exact_address(p);
    Value first_lane = ir.call_intrinsic("llvm.cttz", {ir.i32}, {ir.or_(running, ir.c32(1u << (ir.lanes - 1))), ir.c1(true)});
    Value first = LLVMBuildExtractElement(ir.builder, exact, first_lane, "");
    near.window = window_of(first);
    near.offset = ir.trunc(exact, ir.i32);
    ok = ir.eq(ir.trunc(ir.lshr(exact, kAddressOffsetBits), ir.i32), ir.splat(ir.trunc(ir.lshr(first, kAddressOffsetBits), ir.i32)));
  }
  Value enough = ir.uge(near.window.size_B, ir.c64(span_B));
  room = room ? ir.and_(room, enough) : enough;
  Value last = ir.trunc(ir.umin(ir.sub(near.window.size_B, ir.c64(span_B)), ir.c64(most)), ir.i32);
  Value inside = ir.ule(near.offset, ir.splat(last));
  ok = ok ? ir.and_(ok, inside) : inside;
  // Some lane runs, and those that do are inside: the first of them has an offset that can be read.
  near.all = ir.eq(ir.and_(ir.movemask(ok), running), running);
  near.all = ir.and_(ir.and_(near.all, ir.ne(running, ir.c32(0))), room);
  near.window.checked = true;
  near.window.safe = mask ? ir.select(mask, near.offset, ir.ik(0)) : near.offset;
  return near;
}

/// Matrices lie as the member of a structure says that holds them.
bool Lowering::has_layout(const Pointer& p) {
  uint32_t type = p.type;
  while (is_array(m.type(type).kind)) type = m.type(type).element;
  if (m.type(type).kind != Kind::matrix || p.matrix_stride_B) return true;
  unsupported(
      "a matrix is reached by a pointer that went through OpPhi, OpSelect or memory, where its layout is lost: point to the structure "
      "that it is a member of");
  return false;
}

/// Once for each lane of the mask (null: all), in order.
void Lowering::each_lane(Value mask, const std::function<void(Value lane)>& body) {
  Value left = alloca_of(ir.i32, "left", 4);
  ir.store(ir.movemask(mask ? mask : ir.true_mask()), left, 4);
  Block head = ir.block("lanes"), one = ir.block("lane"), end = ir.block("lanes_end");
  ir.br(head);
  ir.at(head);
  Value bits = ir.load(ir.i32, left, 4);
  ir.br(ir.ne(bits, ir.c32(0)), one, end);
  ir.at(one);
  body(ir.zext(ir.call_intrinsic("llvm.cttz", {ir.i32}, {bits, ir.c1(true)}), ir.i64));
  ir.store(ir.and_(bits, ir.sub(bits, ir.c32(1))), left, 4);
  ir.br(head);
  ir.at(end);
}

// ---- loads

/// Where lanes leave what each of them looks up by itself: their addresses, then up to kMostAtOnce scalars of each. One for all accesses,
/// so that their number does not ask for stack.
Value Lowering::apart_memory() {
  const uint32_t all_B = ir.lanes * kWord_B;
  if (!apart_) apart_ = alloca_of(LLVMArrayType2(ir.i8, uint64_t{all_B} * (1 + kMostAtOnce)), "apart", all_B);
  return apart_;
}

/// Stores go there that lead nowhere.
Value Lowering::sink() {
  if (!sink_) sink_ = alloca_of(ir.i64, "sink", kWord_B);
  return sink_;
}

/// Each lane by itself, each scalar by itself.
std::vector<Value> Lowering::load_apart(Value exact, const Scalars& scalars) {
  const uint32_t all_B = ir.lanes * kWord_B;
  Value addresses = apart_memory(), zeros = zero_page(64);
  std::vector<Value> words;
  for (size_t first = 0; first < scalars.kinds.size(); first += kMostAtOnce) {
    const size_t count = std::min(kMostAtOnce, scalars.kinds.size() - first);
    const auto slot = [&](size_t k) { return ir.offset(addresses, (1 + k) * all_B); };
    ir.store(vary(exact), addresses, all_B);
    for (size_t k = 0; k < count; ++k) ir.store(Ir::zero(ir.vec(memory_type(scalars.kinds[first + k]))), slot(k), all_B);
    each_lane(exec, [&](Value lane) {
      Value address = ir.load(ir.i64, ir.offset(addresses, ir.mul(lane, ir.c64(kWord_B))), kWord_B);
      for (size_t k = 0; k < count; ++k) {
        const Base kind = scalars.kinds[first + k];
        const auto [data, there] = place_of(ir.add(address, ir.c64(scalars.offsets[first + k])), size_B(kind));
        Value x = ir.load(memory_type(kind), ir.select(there, data, zeros), 1);
        ir.store(x, ir.offset(slot(k), ir.mul(lane, ir.c64(size_B(kind)))), 1);
      }
    });
    for (size_t k = 0; k < count; ++k) {
      const Base kind = scalars.kinds[first + k];
      words.push_back(from_memory(kind, ir.load(ir.vec(memory_type(kind)), slot(k), all_B)));
    }
  }
  return words;
}

Val Lowering::load_address(const Pointer& p) {
  assert(p.space == Pointer::Space::address);
  if (!has_layout(p)) return zero(p.type);
  const Scalars scalars = layout_of(p);
  const auto& [offsets, kinds] = scalars;
  const uint64_t span_B = span_of(offsets, kinds);
  const bool at_once = offsets.size() <= kMostAtOnce && span_B <= kMostOffset_B;
  Value exact = exact_address(p);
  Val result{p.type, {}};
  if (offsets.empty() || failed()) return result;
  if (is_varying(exact)) {
    const auto apart = [&] { return load_apart(exact, scalars); };
    if (!at_once) return {p.type, apart()};
    const Near near = near_address(p, span_B, exec);
    Pointer at = p;
    at.offset_dynamic = near.offset;
    return {p.type, ir.if_else(near.all, [&] { return load_scalars(near.window, at, scalars); }, apart)};
  }
  // The same for all lanes: once.
  const auto one_by_one = [&] {
    std::vector<Value> words;
    for (size_t k = 0; k < scalars.offsets.size(); ++k) {
      const auto [data, there] = place_of(ir.add(exact, ir.c64(scalars.offsets[k])), size_B(scalars.kinds[k]));
      Value x = ir.load(memory_type(scalars.kinds[k]), ir.select(there, data, zero_page(64)), 1);
      words.push_back(from_memory(scalars.kinds[k], x));
    }
    return words;
  };
  if (!at_once || offsets.size() == 1) return {p.type, one_by_one()};
  const auto [data, there] = place_of(exact, static_cast<uint32_t>(span_B));
  const auto whole = [&, from = data] {
    std::vector<Value> words;
    for (size_t k = 0; k < scalars.offsets.size(); ++k)
      words.push_back(from_memory(scalars.kinds[k], ir.load(memory_type(scalars.kinds[k]), ir.offset(from, scalars.offsets[k]), 1)));
    return words;
  };
  return {p.type, ir.if_else(there, whole, one_by_one)};
}

// ---- stores

void Lowering::store_apart(Value exact, const Scalars& scalars, const std::vector<Value>& words, Value mask) {
  const uint32_t all_B = ir.lanes * kWord_B;
  Value addresses = apart_memory(), nowhere = sink();
  for (size_t first = 0; first < words.size(); first += kMostAtOnce) {
    const size_t count = std::min(kMostAtOnce, words.size() - first);
    const auto slot = [&](size_t k) { return ir.offset(addresses, (1 + k) * all_B); };
    ir.store(vary(exact), addresses, all_B);
    for (size_t k = 0; k < count; ++k) ir.store(vary(words[first + k]), slot(k), all_B);
    each_lane(mask, [&](Value lane) {
      Value address = ir.load(ir.i64, ir.offset(addresses, ir.mul(lane, ir.c64(kWord_B))), kWord_B);
      for (size_t k = 0; k < count; ++k) {
        const Base kind = scalars.kinds[first + k];
        Value x = ir.load(memory_type(kind), ir.offset(slot(k), ir.mul(lane, ir.c64(size_B(kind)))), 1);
        const auto [data, there] = place_of(ir.add(address, ir.c64(scalars.offsets[first + k])), size_B(kind));
        ir.store(x, ir.select(there, data, nowhere), 1);
      }
    });
  }
}

void Lowering::store_address(const Pointer& p, const Val& v, const std::vector<bool>& given) {
  assert(p.space == Pointer::Space::address);
  if (slice || !has_layout(p)) return;
  const Scalars scalars = layout_of(p);
  if (scalars.offsets.empty() || failed()) return;
  const uint64_t span_B = span_of(scalars.offsets, scalars.kinds);
  const std::vector<Value> words = stored_words(v, scalars, given);
  Value mask = write_mask(), exact = exact_address(p);
  bool same_everywhere = !is_varying(exact);
  for (Value word : words) same_everywhere = same_everywhere && !is_varying(word);
  if (same_everywhere) {
    Value nowhere = sink();
    ir.if_then(mask ? ir.any(mask) : ir.c1(true), [&] {
      for (size_t k = 0; k < words.size(); ++k) {
        const auto [data, there] = place_of(ir.add(exact, ir.c64(scalars.offsets[k])), size_B(scalars.kinds[k]));
        ir.store(words[k], ir.select(there, data, nowhere), 1);
      }
    });
    return;
  }
  if (scalars.offsets.size() > kMostAtOnce || span_B > kMostOffset_B || !is_varying(exact)) return store_apart(exact, scalars, words, mask);
  const Near near = near_address(p, span_B, mask);
  Pointer at = p;
  at.offset_dynamic = near.offset;
  ir.if_else(
      near.all,
      [&] {
        store_scalars(near.window, at, scalars, words, mask);
        return std::vector<Value>();
      },
      [&] {
        store_apart(exact, scalars, words, mask);
        return std::vector<Value>();
      });
}

}  // namespace tilegpu::shader
