// shader/spirv/constants.cpp -- constants of a module with a specialisation applied.
//
// In: a Module, (constant_id, word) pairs. Out: the value of every constant as flat words, OpSpecConstantOp evaluated; array lengths.
// Types are measured beside, in the module's order: each is made of types before it, so none is walked through twice.
// Source: SPIR-V specification 1.6, sections 3.32.7 "Constant-Creation Instructions", 2.9 "Specialization".
#include <algorithm>
#include <cassert>
#include <optional>

#include "shader/spirv/constant_ops.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {
namespace {

// All constants together; more are refused, so that nested array types cannot ask for the machine's memory.
constexpr uint64_t kMaxConstantWords = 1u << 20;
constexpr uint64_t kTooMany = 1ull << 40;  // counts saturate there

Error error(const std::string& message) { return {VK_ERROR_INVALID_SHADER_NV, "SPIR-V: " + message}; }

struct Evaluator {
  const Module& m;
  const Specialization& specialization;
  Constants out;
  uint64_t words = 0;           // of all constants
  std::vector<uint8_t> depths;  // of types

  Status measure(uint32_t type);
  uint32_t scalar_of(uint32_t type) const { return m.type(type).kind == Kind::vector ? m.type(type).element : type; }
  Status evaluate(const Instruction& i);
  Status spec_op(const Instruction& i, Constant& c);
  /// First word and type of the part at a path of literal indices.
  Status walk(uint32_t type, const Instruction& i, uint32_t first_index, uint64_t& offset, uint32_t& part_type) const;
};

Status Evaluator::walk(uint32_t type, const Instruction& i, uint32_t first_index, uint64_t& offset, uint32_t& part_type) const {
  offset = 0;
  for (uint32_t k = first_index; k < i.count; ++k) {
    const TypeInfo& t = m.type(type);
    const uint32_t index = m.operand(i, k);
    if (t.kind == Kind::structure) {
      if (index >= t.members.size()) return error("a constant's index is out of range");
      for (uint32_t n = 0; n < index; ++n) offset += scalar_count(out, t.members[n]);
      type = t.members[index];
    } else if (t.kind == Kind::vector || t.kind == Kind::matrix || t.kind == Kind::array || t.kind == Kind::cooperative_matrix) {
      if (index >= (t.kind == Kind::array || t.kind == Kind::cooperative_matrix ? array_length(out, type) : t.count))
        return error("a constant's index is out of range");
      offset += index * scalar_count(out, t.element);
      type = t.element;
    } else {
      return error("a constant is indexed that has no parts");
    }
  }
  part_type = type;
  return Ok{};
}

Status Evaluator::spec_op(const Instruction& i, Constant& c) {
  assert(i.op == spv::OpSpecConstantOp && c.words.empty());
  const auto op = static_cast<spv::Op>(m.operand(i, 0));
  static const Constant kEmpty;
  const auto part = [&](uint32_t k) -> const Constant& {
    const Constant* found = out.find(m.operand(i, k));
    return found ? *found : kEmpty;
  };
  const Constant &a = part(1), &b = part(2), &d = part(3);
  const uint64_t count = scalar_count(out, i.type);
  if (op == spv::OpVectorShuffle) {
    for (uint32_t k = 3; k < i.count; ++k) {
      const uint32_t index = m.operand(i, k);
      const size_t from = index;
      c.words.push_back(from < a.words.size()                    ? a.words[from]
                        : from - a.words.size() < b.words.size() ? b.words[from - a.words.size()]
                                                                 : 0);
    }
    return Ok{};
  }
  if (op == kOpCooperativeMatrixLength) {
    c.words = {out.size(m.operand(i, 1)).length};
    return Ok{};
  }
  uint64_t offset = 0;
  uint32_t part_type = 0;
  if (op == spv::OpCompositeExtract) {
    if (Status s = walk(a.type, i, 2, offset, part_type); !s) return s;
    for (uint64_t k = 0; k < count; ++k) c.words.push_back(offset + k < a.words.size() ? a.words[offset + k] : 0);
    return Ok{};
  }
  if (op == spv::OpCompositeInsert) {
    if (Status s = walk(b.type, i, 3, offset, part_type); !s) return s;
    c.words = b.words;
    for (size_t k = 0; k < a.words.size() && offset + k < c.words.size(); ++k) c.words[offset + k] = a.words[k];
    return Ok{};
  }
  const auto bits_of = [&](uint32_t type) { return m.type(scalar_of(type)).width_bits; };
  for (uint64_t k = 0; k < count; ++k) {
    const auto word = [&](const Constant& x) -> uint64_t {
      return x.words.empty() ? 0u : x.words[x.words.size() == 1 ? 0 : std::min<size_t>(k, x.words.size() - 1)];
    };
    const std::optional<uint64_t> r = evaluate_scalar({op, word(a), word(b), word(d), bits_of(a.type), bits_of(i.type)});
    if (!r) return Error{VK_ERROR_FEATURE_NOT_PRESENT, "SPIR-V: OpSpecConstantOp with " + op_name(op) + " is not supported"};
    c.words.push_back(*r);
  }
  return Ok{};
}

Status Evaluator::measure(uint32_t type) {
  const TypeInfo& t = m.type(type);
  assert(t.kind != Kind::none && type < m.bound);
  if (out.sizes.size() <= type) out.sizes.resize(type + 1), depths.resize(type + 1);
  TypeSize& size = out.sizes[type];
  uint32_t depth = 0;
  const auto add = [&](uint32_t part, uint64_t times) {
    static const TypeSize kAddress = {1, 1, 0, 8};  // which may be declared behind what holds it
    const TypeSize& one = is_address(m.type(part)) ? kAddress : out.size(part);
    assert(is_address(m.type(part)) || part < type || part < out.sizes.size());
    // Both factors are below 2^40 and 2^32: the smaller one decides whether their product is.
    const auto product = [&](uint64_t count) { return times && count > kTooMany / times ? kTooMany : count * times; };
    size.scalars = std::min(kTooMany, size.scalars + product(one.scalars));
    size.parts = std::min(kTooMany, size.parts + product(one.parts));
    size.widest_B = std::max(size.widest_B, one.widest_B);
    depth = std::max(depth, part < depths.size() ? depths[part] + 1u : 1u);
  };
  switch (t.kind) {
    case Kind::boolean:
      size.scalars = 1, size.widest_B = 4;
      break;
    case Kind::integer:
    case Kind::floating:
      size.scalars = 1, size.widest_B = t.width_bits / 8;
      break;
    case Kind::vector:
    case Kind::matrix:
      size.parts = 0;
      add(t.element, t.count);
      break;
    case Kind::array:
      size.parts = 0;
      size.length = out.word(t.length_id);
      add(t.element, size.length);
      break;
    case Kind::cooperative_matrix:  // other sizes than are offered are refused by check_cooperative
      size.parts = 0;
      size.length = shape_of(m, out, type).components();
      add(t.element, size.length);
      break;
    case Kind::structure:
      for (uint32_t member : t.members) add(member, 1);
      break;
    case Kind::pointer:
      if (is_address(t)) size.scalars = 1, size.widest_B = 8;
      // Three of a storage buffer, one of shared memory: lower/variable_pointers.cpp.
      if (t.variable_pointer) size.scalars = t.storage == spv::StorageClassWorkgroup ? 1 : 3;
      if (t.variable_pointer) size.widest_B = t.storage == spv::StorageClassWorkgroup ? 4 : 8;
      break;
    case Kind::runtime_array: {
      TypeSize none;
      add(t.element, 1);
      size = none;
      break;
    }
    default:
      break;
  }
  if (depth > kMaxTypeDepth)
    return error("type " + std::to_string(type) + " nests more than " + std::to_string(kMaxTypeDepth) + " types, the limit");
  assert(size.scalars <= kTooMany && size.parts <= kTooMany);
  static_assert(kMaxTypeDepth <= UINT8_MAX);
  depths[type] = static_cast<uint8_t>(depth);
  return Ok{};
}

Status Evaluator::evaluate(const Instruction& i) {
  Constant c;
  c.type = i.type;
  const uint64_t count = scalar_count(out, i.type);
  words += count;
  if (words > kMaxConstantWords)
    return error("constant " + std::to_string(i.id) + " has " + std::to_string(count) + " scalars, all constants up to it " +
                 std::to_string(words) + "; the limit is " + std::to_string(kMaxConstantWords));
  switch (static_cast<uint32_t>(i.op)) {  // some are of no enumeration that the headers have
    case spv::OpConstantTrue:
    case spv::OpSpecConstantTrue:
      c.words = {1};
      break;
    case spv::OpConstantFalse:
    case spv::OpSpecConstantFalse:
      c.words = {0};
      break;
    case spv::OpConstant:
    case spv::OpSpecConstant:
      c.words = {low_bits(m.operand(i, 0) | (i.count > 1 ? uint64_t{m.operand(i, 1)} << 32 : 0), m.type(i.type).width_bits)};
      break;
    case spv::OpConstantNull:
    case spv::OpUndef:
      c.words.assign(count, 0);
      break;
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
      for (uint32_t part : m.operands(i)) {
        const Constant* p = out.find(part);
        if (!p) return error("constant " + std::to_string(i.id) + " has a part that is no constant before it");
        c.words.insert(c.words.end(), p->words.begin(), p->words.end());
        if (c.words.size() > count) break;
      }
      if (m.type(i.type).kind == Kind::cooperative_matrix && c.words.size() == 1) c.words.assign(count, c.words[0]);
      if (c.words.size() != count) return error("constant " + std::to_string(i.id) + " has the wrong number of parts");
      break;
    case kOpConstantCompositeReplicate:
    case kOpSpecConstantCompositeReplicate: {
      const Constant* p = i.count == 1 ? out.find(m.operand(i, 0)) : nullptr;
      if (!p || p->words.empty() || count % p->words.size())
        return error("constant " + std::to_string(i.id) + " has a part that is no constant before it");
      while (c.words.size() < count) c.words.insert(c.words.end(), p->words.begin(), p->words.end());
      break;
    }
    case spv::OpSpecConstantOp:
      if (Status s = spec_op(i, c); !s) return s;
      break;
    default:
      return Ok{};
  }
  const uint32_t spec_id = m.decoration(i.id).spec_id;
  if (spec_id != kNone && c.words.size() == 1) {
    for (auto [id, bits] : specialization) {
      if (id == spec_id) c.words[0] = m.type(i.type).kind == Kind::boolean ? bits != 0 : low_bits(bits, m.type(i.type).width_bits);
    }
  }
  assert(i.id != 0 && c.words.size() == count);
  out.by_id[i.id] = std::move(c);
  return Ok{};
}

}  // namespace

const Constant* Constants::find(uint32_t id) const {
  auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : &found->second;
}

uint32_t Constants::word(uint32_t id) const {
  const Constant* c = find(id);
  if (!c || c->words.size() != 1 || !module) return 0;
  const TypeInfo& t = module->type(c->type);
  if (t.kind == Kind::integer && t.is_signed && t.width_bits < 32) return static_cast<uint32_t>(sign_extended(c->words[0], t.width_bits));
  return static_cast<uint32_t>(std::min<uint64_t>(c->words[0], UINT32_MAX));
}

const TypeSize& Constants::size(uint32_t type) const {
  static const TypeSize kNothing;
  return type < sizes.size() ? sizes[type] : kNothing;
}

Expected<Constants> evaluate_constants(const Module& module, const Specialization& specialization) {
  Evaluator evaluator{module, specialization, {}, 0, {}};
  evaluator.out.module = &module;
  for (const Instruction& i : module.instructions) {
    if (i.op == spv::OpFunction) break;
    if (!i.id) continue;
    const bool is_type = module.type(i.id).kind != Kind::none;
    if (Status s = is_type ? evaluator.measure(i.id) : evaluator.evaluate(i); !s) return s.error();
  }
  return std::move(evaluator.out);
}

}  // namespace tilegpu::shader
