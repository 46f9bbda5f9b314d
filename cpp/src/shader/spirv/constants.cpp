// shader/spirv/constants.cpp -- constants of a module with a specialisation applied.
//
// In: a Module, (constant_id, word) pairs. Out: the value of every constant as flat words, OpSpecConstantOp evaluated; array lengths.
// Integer division by zero gives 0 and shifts take the amount modulo 32, as the generated code does.
// Types are measured beside, in the module's order: each is made of types before it, so none is walked through twice.
// Source: SPIR-V specification 1.6, sections 3.32.7 "Constant-Creation Instructions", 2.9 "Specialization".
#include <algorithm>
#include <cassert>
#include <optional>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {
namespace {

// All constants together; more are refused, so that nested array types cannot ask for the machine's memory.
constexpr uint64_t kMaxConstantWords = 1u << 20;
// Deeper types are refused: walks through types are recursive.
constexpr uint32_t kMaxTypeDepth = 128;
constexpr uint64_t kTooMany = 1ull << 40;  // counts saturate there

Error error(const std::string& message) { return {VK_ERROR_INVALID_SHADER_NV, "SPIR-V: " + message}; }

/// With the sign of the divisor; 0 where there is no quotient.
uint32_t modulo(int32_t a, int32_t b) {
  const int32_t rest = b == 0 || b == -1 ? 0 : a % b;
  return static_cast<uint32_t>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

/// One scalar of an integer or Boolean operation; a, b, c are its operands. Empty: not an operation on scalars.
std::optional<uint32_t> scalar_op(spv::Op op, uint32_t a, uint32_t b, uint32_t c) {
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (op) {
    case spv::OpSNegate:
      return 0u - a;
    case spv::OpNot:
      return ~a;
    case spv::OpIAdd:
      return a + b;
    case spv::OpISub:
      return a - b;
    case spv::OpIMul:
      return a * b;
    case spv::OpUDiv:
      return b ? a / b : 0;
    case spv::OpUMod:
      return b ? a % b : 0;
    case spv::OpSDiv:
      return b == 0 ? 0 : b == ~0u ? 0u - a : static_cast<uint32_t>(sa / sb);
    case spv::OpSRem:
      return b == 0 || b == ~0u ? 0 : static_cast<uint32_t>(sa % sb);
    case spv::OpSMod:
      return modulo(sa, sb);
    case spv::OpShiftRightLogical:
      return a >> (b & 31);
    case spv::OpShiftRightArithmetic:
      return static_cast<uint32_t>(sa >> (b & 31));
    case spv::OpShiftLeftLogical:
      return a << (b & 31);
    case spv::OpBitwiseOr:
      return a | b;
    case spv::OpBitwiseXor:
      return a ^ b;
    case spv::OpBitwiseAnd:
      return a & b;
    case spv::OpLogicalOr:
      return a | b;
    case spv::OpLogicalAnd:
      return a & b;
    case spv::OpLogicalNot:
      return !a;
    case spv::OpLogicalEqual:
      return a == b;
    case spv::OpLogicalNotEqual:
      return a != b;
    case spv::OpSelect:
      return a ? b : c;
    case spv::OpIEqual:
      return a == b;
    case spv::OpINotEqual:
      return a != b;
    case spv::OpULessThan:
      return a < b;
    case spv::OpSLessThan:
      return sa < sb;
    case spv::OpUGreaterThan:
      return a > b;
    case spv::OpSGreaterThan:
      return sa > sb;
    case spv::OpULessThanEqual:
      return a <= b;
    case spv::OpSLessThanEqual:
      return sa <= sb;
    case spv::OpUGreaterThanEqual:
      return a >= b;
    case spv::OpSGreaterThanEqual:
      return sa >= sb;
    case spv::OpSConvert:
    case spv::OpUConvert:
    case spv::OpFConvert:
      return a;
    default:
      return std::nullopt;
  }
}

struct Evaluator {
  const Module& m;
  const Specialization& specialization;
  Constants out;
  uint64_t words = 0;           // of all constants
  std::vector<uint8_t> depths;  // of types

  Status measure(uint32_t type);
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
    } else if (t.kind == Kind::vector || t.kind == Kind::matrix || t.kind == Kind::array) {
      if (index >= (t.kind == Kind::array ? array_length(out, type) : t.count)) return error("a constant's index is out of range");
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
  for (uint64_t k = 0; k < count; ++k) {
    const auto word = [&](const Constant& x) {
      return x.words.empty() ? 0u : x.words[x.words.size() == 1 ? 0 : std::min<size_t>(k, x.words.size() - 1)];
    };
    const std::optional<uint32_t> r = scalar_op(op, word(a), word(b), word(d));
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
    assert(part < type || part < out.sizes.size());
    const TypeSize& one = out.size(part);
    // Both factors are below 2^40 and 2^32: the smaller one decides whether their product is.
    const auto product = [&](uint64_t count) { return times && count > kTooMany / times ? kTooMany : count * times; };
    size.scalars = std::min(kTooMany, size.scalars + product(one.scalars));
    size.parts = std::min(kTooMany, size.parts + product(one.parts));
    depth = std::max(depth, part < depths.size() ? depths[part] + 1u : 1u);
  };
  switch (t.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::floating:
      size.scalars = 1;
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
    case Kind::structure:
      for (uint32_t member : t.members) add(member, 1);
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
  switch (i.op) {
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
      c.words = {m.operand(i, 0)};
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
      if (c.words.size() != count) return error("constant " + std::to_string(i.id) + " has the wrong number of parts");
      break;
    case spv::OpSpecConstantOp:
      if (Status s = spec_op(i, c); !s) return s;
      break;
    default:
      return Ok{};
  }
  const uint32_t spec_id = m.decoration(i.id).spec_id;
  if (spec_id != kNone && c.words.size() == 1) {
    for (auto [id, bits] : specialization) {
      if (id == spec_id) c.words[0] = m.type(i.type).kind == Kind::boolean ? bits != 0 : bits;
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
  return c && c->words.size() == 1 ? c->words[0] : 0;
}

const TypeSize& Constants::size(uint32_t type) const {
  static const TypeSize kNothing;
  return type < sizes.size() ? sizes[type] : kNothing;
}

Expected<Constants> evaluate_constants(const Module& module, const Specialization& specialization) {
  Evaluator evaluator{module, specialization, {}, 0, {}};
  for (const Instruction& i : module.instructions) {
    if (i.op == spv::OpFunction) break;
    if (!i.id) continue;
    const bool is_type = module.type(i.id).kind != Kind::none;
    if (Status s = is_type ? evaluator.measure(i.id) : evaluator.evaluate(i); !s) return s.error();
  }
  return std::move(evaluator.out);
}

}  // namespace tilegpu::shader
