// shader/lower/counted_loops.cpp -- see counted_loops.hpp: the loop's variable is an OpPhi of its header or a local variable, which one
// instruction of the continue construct advances; its rounds are counted by doing what the shader would.
#include "shader/lower/counted_loops.hpp"

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {

std::optional<bool> compare_words(spv::Op op, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  const auto f = std::bit_cast<float>(a), g = std::bit_cast<float>(b);
  switch (op) {
    case spv::OpSLessThan:
      return x < y;
    case spv::OpSLessThanEqual:
      return x <= y;
    case spv::OpSGreaterThan:
      return x > y;
    case spv::OpSGreaterThanEqual:
      return x >= y;
    case spv::OpULessThan:
      return a < b;
    case spv::OpULessThanEqual:
      return a <= b;
    case spv::OpUGreaterThan:
      return a > b;
    case spv::OpUGreaterThanEqual:
      return a >= b;
    case spv::OpINotEqual:
      return a != b;
    case spv::OpFOrdLessThan:
      return f < g;
    case spv::OpFOrdLessThanEqual:
      return f <= g;
    case spv::OpFOrdGreaterThan:
      return f > g;
    case spv::OpFOrdGreaterThanEqual:
      return f >= g;
    default:
      return std::nullopt;
  }
}

std::optional<uint32_t> first_value(const Module& m, const Constants& constants, const BasicBlock& before, const BasicBlock& header,
                                    const BasicBlock& tests, uint32_t id) {
  if (constants.find(id)) return constants.word(id);
  const Instruction* i = m.find(id);
  if (!i) return std::nullopt;
  if (i->op == spv::OpPhi) {
    for (uint32_t k = 0; k + 1 < m.operands(*i).size(); k += 2)
      if (m.operand(*i, k + 1) == before.label && constants.find(m.operand(*i, k))) return constants.word(m.operand(*i, k));
    return std::nullopt;
  }
  if (i->op != spv::OpLoad) return std::nullopt;
  const uint32_t variable = m.operand(*i, 0);
  const auto last_store = [&](const BasicBlock& b) -> const Instruction* {
    for (uint32_t k = b.end; k-- > b.first;)
      if (m.instructions[k].op == spv::OpFunctionCall ||
          (m.instructions[k].op == spv::OpStore && m.operand(m.instructions[k], 0) == variable))
        return &m.instructions[k];
    return nullptr;
  };
  if (m.storage_of(variable) != spv::StorageClassFunction || last_store(header) || last_store(tests)) return std::nullopt;
  const Instruction* store = last_store(before);
  if (!store || store->op != spv::OpStore || !constants.find(m.operand(*store, 1))) return std::nullopt;
  return constants.word(m.operand(*store, 1));
}

namespace {

struct Counter {
  const Module& m;
  const Constants& constants;
  const Divergence& d;
  const FunctionFacts& facts;
  uint32_t loop;

  const FunctionTree& tree() const { return facts.tree; }
  const Construct& construct() const { return tree().constructs[loop]; }
  const Function& function() const { return *tree().function; }

  bool is_inside(uint32_t block) const {
    const uint32_t r = tree().region_of_block[block];
    return r != kNone && (tree().encloses(construct().regions[0], r) || tree().encloses(construct().regions[1], r));
  }

  /// The selection that alone jumps to the loop's end; true where there is one and nothing else does.
  bool find_test(CountedLoop& found) const {
    uint32_t jumps = 0;
    // The loop's regions were made one after the other; only from within is its end jumped to.
    const uint32_t first = construct().regions[0], tail = construct().regions[1];
    for (uint32_t r = first; r < tree().regions.size(); ++r) {
      if (!tree().encloses(first, r) && !tree().encloses(tail, r)) break;
      for (const Item& item : tree().regions[r].items) {
        if ((item.kind == ItemKind::return_ || item.kind == ItemKind::kill || item.kind == ItemKind::unreachable)) return false;
        if (item.kind == ItemKind::jump && item.construct == loop && item.jump == JumpKind::merge) {
          ++jumps;
          found.test = tree().regions[r].construct, found.leaving_arm = tree().regions[r].arm;
        }
      }
    }
    if (jumps != 1) return false;
    const Construct& test = tree().constructs[found.test];
    for (const Item& item : tree().regions[construct().regions[0]].items) {
      if (item.kind == ItemKind::construct && item.construct == found.test) break;
      if (item.kind == ItemKind::construct) return false;  // lanes may go round before the test
    }
    return test.kind == ConstructKind::selection && test.merge == 0 && test.regions.size() == 2 &&
           !facts.constructs[found.test].divergent && test.parent_region == construct().regions[0] &&
           tree().regions[test.regions[found.leaving_arm]].items.size() == 1 &&
           tree().regions[test.regions[1 - found.leaving_arm]].items.empty();
  }

  /// Of the instruction that makes the next round's value: constant `step`, negative where it is subtracted.
  const Instruction* advance_of(uint32_t next, uint32_t counted, uint32_t& step) const {
    const Instruction* add = m.find(next);
    if (!add) return nullptr;
    const bool sum = add->op == spv::OpIAdd || add->op == spv::OpFAdd, difference = add->op == spv::OpISub || add->op == spv::OpFSub;
    if (!sum && !difference) return nullptr;
    const auto is_counted = [&](uint32_t id) {
      const Instruction* i = m.find(id);
      return id == counted || (i && i->op == spv::OpLoad && m.operand(*i, 0) == counted);
    };
    uint32_t by = 0;
    if (is_counted(m.operand(*add, 0)))
      by = m.operand(*add, 1);
    else if (sum && is_counted(m.operand(*add, 1)))
      by = m.operand(*add, 0);
    if (!by || !constants.find(by)) return nullptr;
    step = constants.word(by);
    return add;
  }

  /// Of an OpPhi of the header.
  const Instruction* advance_of_phi(const Instruction& phi, const BasicBlock& before, uint32_t& step) const {
    if (m.operands(phi).size() != 4) return nullptr;
    const uint32_t n = m.operand(phi, 1) == before.label ? 2 : 0;
    return advance_of(m.operand(phi, n), phi.id, step);
  }

  /// Of a local variable: its one store in the loop, in a block that each round ends with. No other pointer leads to it.
  const Instruction* advance_of_variable(uint32_t variable, uint32_t& step) const {
    const Instruction *advance = nullptr, *declared = m.find(variable);
    const auto uses = facts.uses.find(variable);
    if (!declared || declared->op != spv::OpVariable || uses == facts.uses.end()) return nullptr;
    for (const FunctionFacts::Use& use : uses->second) {
      const Instruction& i = m.instructions[use.instruction];
      if (i.op == spv::OpLoad) continue;
      if (!is_inside(use.block) && (i.op == spv::OpStore || i.op == spv::OpFunctionCall)) continue;
      if (i.op != spv::OpStore || m.operand(i, 0) != variable || advance || tree().region_of_block[use.block] != construct().regions[1])
        return nullptr;
      advance = advance_of(m.operand(i, 1), variable, step);
      if (!advance) return nullptr;
    }
    return advance;
  }

  std::optional<uint32_t> rounds(const CountedLoop& found, uint32_t from) const {
    const BasicBlock& before = function().blocks[function().block_of_label.at(from)];
    const BasicBlock& header = function().blocks[function().block_of_label.at(construct().header)];
    const BasicBlock& tests = function().blocks[function().block_of_label.at(tree().constructs[found.test].header)];
    const Instruction* condition = m.find(tree().constructs[found.test].condition);
    if (!condition || !compare_words(condition->op, 0, 0) || m.type(m.type_of(m.operand(*condition, 0))).width_bits != 32)
      return std::nullopt;
    const uint32_t side = constants.find(m.operand(*condition, 0)) ? 1 : 0;
    const uint32_t counted = m.operand(*condition, side), bound = m.operand(*condition, 1 - side);
    const Instruction* i = m.find(counted);
    if (!i || !constants.find(bound)) return std::nullopt;
    const auto first = first_value(m, constants, before, header, tests, counted);
    uint32_t step = 0;
    const Instruction* advance = i->op == spv::OpPhi    ? advance_of_phi(*i, before, step)
                                 : i->op == spv::OpLoad ? advance_of_variable(m.operand(*i, 0), step)
                                                        : nullptr;
    if (!first || !advance) return std::nullopt;
    uint32_t word = *first;
    for (uint32_t round = 0; round <= kMostRounds; ++round) {
      const bool holds = *compare_words(condition->op, side ? constants.word(bound) : word, side ? word : constants.word(bound));
      if (holds == (found.leaving_arm == 0)) return round;
      const float value = std::bit_cast<float>(word), by = std::bit_cast<float>(step);
      word = advance->op == spv::OpIAdd   ? word + step
             : advance->op == spv::OpISub ? word - step
                                          : std::bit_cast<uint32_t>(advance->op == spv::OpFAdd ? value + by : value - by);
    }
    return std::nullopt;
  }
};

bool is_long(uint32_t op) { return op >= GLSLstd450Sin && op <= GLSLstd450Log2; }

/// How much is emitted. What it looks at is bounded: nested loops and trees of calls would be walked again for each level around them.
struct Size {
  const Module& m;
  const Constants& constants;
  const Divergence& d;
  uint64_t left = 16 * kMostUnrolled;  // of what may be looked at
  uint32_t depth = 0;
  bool costs = false;  // not what is emitted: what a round takes

  static constexpr uint64_t kTooLarge = kMostUnrolled + 1, kLoop = 256;  // a loop's test and step are searched in the whole function
  bool take(uint64_t work) {
    left -= std::min(left, work);
    return left > 0;
  }

  uint64_t of_function(uint32_t id) {
    const auto found = d.functions.find(id);
    return found == d.functions.end() ? kTooLarge : of_region(found->second, 0);
  }

  /// Mathematics takes dozens of instructions; that of sines, written out, ran slower than in a loop (1.10 of the time).
  uint64_t of_block(const BasicBlock& b) {
    uint64_t sum = 0;
    for (uint32_t k = b.first; k < b.end && sum <= kMostUnrolled; ++k) {
      const Instruction& i = m.instructions[k];
      if (!take(1)) return kTooLarge;
      sum += i.op == spv::OpExtInst && m.operand(i, 0) == m.glsl450 && is_long(m.operand(i, 1)) ? 40 : 1;
      if (costs) sum += beyond_one(i);
      if (i.op == spv::OpFunctionCall) sum += of_function(m.operand(i, 0));
    }
    return sum;
  }

  /// What goes lane by lane: divisions of integers, words of 64 bits (half as many a register), and memory, which no number of packets
  /// makes up for.
  uint64_t beyond_one(const Instruction& i) const {
    constexpr uint64_t kDivision = 100, kLong = 12, kMemory = kMostUnrolled;
    switch (i.op) {
      case spv::OpUDiv:
      case spv::OpSDiv:
      case spv::OpUMod:
      case spv::OpSMod:
      case spv::OpSRem:
        return kDivision;
      case spv::OpStore: {
        const spv::StorageClass to = m.type(m.type_of(m.operand(i, 0))).storage;
        return to == spv::StorageClassFunction || to == spv::StorageClassPrivate || to == spv::StorageClassOutput ? 0 : kMemory;
      }
      default:
        if (is_atomic(i.op)) return kMemory;
        return i.type && m.type(i.type).width_bits == 64 ? kLong : 0;
    }
  }

  /// Instructions of the blocks in `region` and what it holds, calls included, loops as often as they are written out.
  uint64_t of_region(const FunctionFacts& facts, uint32_t region) {
    if (depth > 16) return kTooLarge;
    ++depth;
    uint64_t sum = 0;
    for (const Item& item : facts.tree.regions[region].items) {
      if (sum > kMostUnrolled || !take(1)) break;
      if (item.kind == ItemKind::block) sum += of_block(facts.tree.function->blocks[item.block]);
      if (item.kind == ItemKind::construct) sum += of_construct(facts, item);
    }
    --depth;
    return left > 0 ? sum : kTooLarge;
  }

  uint64_t of_construct(const FunctionFacts& facts, const Item& item);
  std::optional<CountedLoop> of_loop(const FunctionFacts& facts, uint32_t loop, uint32_t from);
};

uint64_t Size::of_construct(const FunctionFacts& facts, const Item& item) {
  const Construct& inner = facts.tree.constructs[item.construct];
  if (inner.kind == ConstructKind::loop) {
    if (const auto counted = of_loop(facts, item.construct, item.from)) return counted->instructions;
  }
  uint64_t sum = 0;
  for (uint32_t r : inner.regions) sum += of_region(facts, r);
  return sum;
}

std::optional<CountedLoop> Size::of_loop(const FunctionFacts& facts, uint32_t loop, uint32_t from) {
  const Construct& construct = facts.tree.constructs[loop];
  const ConstructFacts& of = facts.constructs[loop];
  assert(construct.kind == ConstructKind::loop && construct.regions.size() == 2);
  if (!take(kLoop) || !from || of.node || of.continue_node || !of.outer_jumps.empty() || construct.contains_kill) return std::nullopt;
  const Counter counter{m, constants, d, facts, loop};
  CountedLoop found;
  if (!counter.find_test(found)) return std::nullopt;
  const auto rounds = counter.rounds(found, from);
  if (!rounds) return std::nullopt;
  found.rounds = *rounds;
  for (uint32_t r : construct.regions) found.instructions += of_region(facts, r);
  found.instructions *= found.rounds + 1;
  if (found.instructions > kMostUnrolled) return std::nullopt;
  return found;
}

}  // namespace

std::optional<CountedLoop> count_rounds(const Module& m, const Constants& constants, const Divergence& d, const FunctionFacts& facts,
                                        uint32_t loop, uint32_t from) {
  return Size{m, constants, d}.of_loop(facts, loop, from);
}

uint32_t largest_open_loop(const Module& m, const Constants& constants, const Divergence& d) {
  uint64_t most = 0;
  for (const auto& [id, facts] : d.functions) {
    for (const Region& region : facts.tree.regions) {
      for (const Item& item : region.items) {
        const bool is_loop = item.kind == ItemKind::construct && facts.tree.constructs[item.construct].kind == ConstructKind::loop;
        if (!is_loop || count_rounds(m, constants, d, facts, item.construct, item.from)) continue;
        Size size{m, constants, d};
        size.costs = true;
        for (uint32_t r : facts.tree.constructs[item.construct].regions) most = std::max(most, size.of_region(facts, r));
        most = std::max<uint64_t>(most, 1);
      }
    }
  }
  return static_cast<uint32_t>(std::min<uint64_t>(most, ~0u));
}

}  // namespace tilegpu::shader
