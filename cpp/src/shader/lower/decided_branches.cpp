// shader/lower/decided_branches.cpp -- see decided_branches.hpp.
#include "shader/lower/decided_branches.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "shader/lower/block_order.hpp"
#include "shader/spirv/constant_ops.hpp"

namespace tilegpu::shader {
namespace {

/// Operations on integers and Booleans alone, whose results generated code has bit for bit (constant_ops.hpp). Not of floats: their code
/// rounds and compares by rules of its own.
bool is_exact(spv::Op op) {
  switch (op) {
    case spv::OpSNegate:
    case spv::OpNot:
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
    case spv::OpUDiv:
    case spv::OpUMod:
    case spv::OpSDiv:
    case spv::OpSRem:
    case spv::OpSMod:
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
    case spv::OpShiftLeftLogical:
    case spv::OpBitwiseOr:
    case spv::OpBitwiseXor:
    case spv::OpBitwiseAnd:
    case spv::OpLogicalOr:
    case spv::OpLogicalAnd:
    case spv::OpLogicalNot:
    case spv::OpLogicalEqual:
    case spv::OpLogicalNotEqual:
    case spv::OpIEqual:
    case spv::OpINotEqual:
    case spv::OpULessThan:
    case spv::OpSLessThan:
    case spv::OpUGreaterThan:
    case spv::OpSGreaterThan:
    case spv::OpULessThanEqual:
    case spv::OpSLessThanEqual:
    case spv::OpUGreaterThanEqual:
    case spv::OpSGreaterThanEqual:
    case spv::OpSelect:
    case spv::OpSConvert:
    case spv::OpUConvert:
      return true;
    default:
      return false;
  }
}

struct Decider {
  const Module& m;
  const Constants& constants;
  DecidedBranches out;
  std::vector<std::optional<uint64_t>> known;  // [bound] bits of scalars
  std::vector<bool> passed;                    // [bound] parameters that a call has passed a value for

  bool is_whole(uint32_t type) const { return m.type(type).kind == Kind::integer || m.type(type).kind == Kind::boolean; }

  std::optional<uint64_t> value(uint32_t id) const {
    if (id < known.size() && known[id]) return known[id];
    const Constant* constant = constants.find(id);
    if (constant && constant->words.size() == 1 && is_whole(constant->type)) return constant->words[0];
    return std::nullopt;
  }
  std::optional<uint64_t> result(const Instruction& i) const;
  void call(const Instruction& i);
  uint32_t target(const Instruction& terminator) const;
  void function(const Function& f);
  std::vector<uint32_t> callers_first() const;
};

std::optional<uint64_t> Decider::result(const Instruction& i) const {
  if (!i.id || !is_whole(i.type)) return std::nullopt;
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  if (i.op == spv::OpCompositeExtract && i.count == 2) {
    const Constant* whole = constants.find(o(0));
    if (!whole || m.type(whole->type).kind != Kind::vector || o(1) >= whole->words.size()) return std::nullopt;
    return whole->words[o(1)];
  }
  const bool is_copy = i.op == spv::OpCopyObject || (i.op == spv::OpBitcast && is_whole(m.type_of(o(0))) &&
                                                     m.type(m.type_of(o(0))).width_bits == m.type(i.type).width_bits);
  if (is_copy) return value(o(0));
  if (!is_exact(i.op) || !is_whole(m.type_of(o(0)))) return std::nullopt;
  const auto a = value(o(0)), b = i.count > 1 ? value(o(1)) : 0, c = i.count > 2 ? value(o(2)) : 0;
  // One of the operands may do.
  if (i.op == spv::OpSelect && a) return *a ? b : c;
  if (i.op == spv::OpLogicalAnd && ((a && !*a) || (b && !*b))) return 0;
  if (i.op == spv::OpLogicalOr && ((a && *a) || (b && *b))) return 1;
  if (!a || !b || !c) return std::nullopt;
  return evaluate_scalar({i.op, *a, *b, *c, m.type(m.type_of(o(0))).width_bits, m.type(i.type).width_bits});
}

/// Parameters are known where all calls that are reached agree.
void Decider::call(const Instruction& i) {
  const Function& callee = m.functions.at(m.operand(i, 0));
  for (uint32_t n = 0; n < callee.parameters.size() && n + 1 < i.count; ++n) {
    const uint32_t parameter = callee.parameters[n];
    const auto argument = is_whole(m.type_of(parameter)) ? value(m.operand(i, n + 1)) : std::nullopt;
    if (!passed[parameter])
      known[parameter] = argument;
    else if (known[parameter] != argument)
      known[parameter] = std::nullopt;
    passed[parameter] = true;
  }
}

uint32_t Decider::target(const Instruction& t) const {
  if (t.op != spv::OpBranchConditional && t.op != spv::OpSwitch) return 0;
  const auto chosen = value(m.operand(t, 0));
  if (!chosen) return 0;
  if (t.op == spv::OpBranchConditional) return m.operand(t, *chosen ? 1 : 2);
  const uint32_t width_bits = m.type(m.type_of(m.operand(t, 0))).width_bits;
  const std::vector<Module::Case> cases = m.cases(t);
  for (size_t k = 1; k < cases.size(); ++k)
    if (low_bits(cases[k].literal, width_bits) == low_bits(*chosen, width_bits)) return cases[k].label;
  return cases[0].label;
}

void Decider::function(const Function& f) {
  const size_t count = f.blocks.size();
  Edges next(count);
  for (size_t b = 0; b < count; ++b)
    for (uint32_t label : successors(m, f.blocks[b])) next[b].push_back(f.block_of_label.at(label));
  const std::vector<uint32_t> order = topological_order(next);
  std::vector<bool> reached(count, false), coming(count, false);  // coming: has its turn yet
  for (uint32_t b : order) coming[b] = true;
  std::vector<uint32_t> taken(count, 0);
  reached[0] = true;
  bool any = false;
  // What an OpPhi gets by ways that are not closed.
  const auto phi = [&](const Instruction& i, uint32_t label) {
    std::optional<uint64_t> all;
    bool first = true;
    for (uint32_t k = 0; k + 1 < i.count; k += 2) {
      const auto from = f.block_of_label.find(m.operand(i, k + 1));
      if (from == f.block_of_label.end()) continue;
      const uint32_t b = from->second;
      if (!coming[b] && (!reached[b] || (taken[b] && taken[b] != label))) continue;
      const auto one = value(m.operand(i, k));
      if (!one || (!first && one != all)) return std::optional<uint64_t>();
      all = one, first = false;
    }
    return all;
  };
  for (const uint32_t b : order) {
    coming[b] = false;
    if (!reached[b]) continue;
    const BasicBlock& block = f.blocks[b];
    for (uint32_t n = block.first; n < block.end; ++n, ++out.visited) {
      const Instruction& i = m.instructions[n];
      if (i.op == spv::OpFunctionCall) call(i);
      if (i.id && i.id < known.size()) known[i.id] = i.op == spv::OpPhi && is_whole(i.type) ? phi(i, block.label) : result(i);
    }
    taken[b] = target(m.instructions[block.terminator]);
    any = any || taken[b];
    out.visited += next[b].size();
    if (taken[b]) reached[f.block_of_label.at(taken[b])] = true;
    for (size_t n = 0; n < next[b].size() && !taken[b]; ++n) reached[next[b][n]] = true;
  }
  assert(taken.size() == count);
  if (any) out.taken[f.id] = std::move(taken);
}

/// Functions that the entry point calls, each behind all that call it. Vulkan has no recursion.
std::vector<uint32_t> Decider::callers_first() const {
  Edges calls(m.reachable.size());
  std::map<uint32_t, uint32_t> index;
  for (uint32_t k = 0; k < m.reachable.size(); ++k) index[m.reachable[k]] = k;
  for (uint32_t k = 0; k < m.reachable.size(); ++k)
    for (const BasicBlock& b : m.functions.at(m.reachable[k]).blocks)
      for (uint32_t n = b.first; n < b.end; ++n)
        if (m.instructions[n].op == spv::OpFunctionCall) calls[k].push_back(index.at(m.operand(m.instructions[n], 0)));
  std::vector<uint32_t> order = topological_order(calls);
  for (uint32_t& k : order) k = m.reachable[k];
  return order;
}

}  // namespace

DecidedBranches decide_branches(const Module& module, const Constants& constants) {
  Decider decider{module, constants, {}, {}, {}};
  const auto chooses = [&](const Instruction& i) { return i.op == spv::OpBranchConditional || i.op == spv::OpSwitch; };
  if (std::none_of(module.instructions.begin(), module.instructions.end(), chooses)) return {};
  decider.known.resize(module.bound), decider.passed.resize(module.bound);
  for (uint32_t id : decider.callers_first()) decider.function(module.functions.at(id));
  return std::move(decider.out);
}

}  // namespace tilegpu::shader
