// shader/lower/reach.cpp -- see reach.hpp.
//
// A block always runs where every way from the function's entry to an exit leads through it: in a topological order of the graph, where
// no edge leads past it and no exit stands before it. In place of a loop's back edge there is one to its end, by which a later round
// leaves; of a loop that is known to run once, it is the only one of the condition.
#include "shader/lower/reach.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <unordered_map>

#include "shader/lower/block_order.hpp"
#include "shader/lower/counted_loops.hpp"

namespace tilegpu::shader {
namespace {

/// The only way that a branch by a constant takes; nothing where both are open.
std::optional<uint32_t> only_way(const Module& m, const Constants& constants, const Instruction& t) {
  if (t.op == spv::OpBranch) return m.operand(t, 0);
  if (t.op != spv::OpBranchConditional && t.op != spv::OpSwitch) return std::nullopt;
  const Constant* by = constants.find(m.operand(t, 0));
  if (!by || by->words.size() != 1) return std::nullopt;
  if (t.op == spv::OpBranchConditional) return m.operand(t, by->words[0] ? 1 : 2);
  const std::vector<Module::Case> cases = m.cases(t);  // the default is the first
  const auto same = [&](const Module::Case& one) { return one.literal == by->words[0]; };
  const auto found = std::find_if(cases.begin() + 1, cases.end(), same);
  return found == cases.end() ? cases[0].label : found->label;
}

Edges live_edges(const Module& m, const Constants& constants, const Function& f) {
  Edges next(f.blocks.size());
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    const Instruction& t = m.instructions[f.blocks[b].terminator];
    const auto add = [&](uint32_t label) { next[b].push_back(f.block_of_label.at(label)); };
    if (const auto one = only_way(m, constants, t))
      add(*one);
    else
      for (uint32_t label : successors(m, f.blocks[b])) add(label);
  }
  return next;
}

/// The block whose branch ends a loop by its condition, where the first round is known not to; else nothing.
std::optional<uint32_t> first_test(const Module& m, const Constants& constants, const Function& f, const Edges& next, uint32_t header) {
  const BasicBlock& h = f.blocks[header];
  assert(h.merge == spv::OpLoopMerge);
  uint32_t before = kNone;
  for (uint32_t b = 0; b < header; ++b)  // a block stands behind what dominates it
    if (std::count(next[b].begin(), next[b].end(), header)) before = before == kNone ? b : header;
  if (before >= header) return std::nullopt;
  uint32_t at = header;
  if (m.instructions[h.terminator].op == spv::OpBranch) at = next[header][0];
  const BasicBlock& tests = f.blocks[at];
  const Instruction& branch = m.instructions[tests.terminator];
  if (branch.op != spv::OpBranchConditional || next[at].size() != 2) return std::nullopt;
  const bool ends_when = m.operand(branch, 1) == h.merge_block;
  if (!ends_when && m.operand(branch, 2) != h.merge_block) return std::nullopt;
  const Instruction* condition = m.find(m.operand(branch, 0));
  if (!condition || !compare_words(condition->op, 0, 0) || m.type(m.type_of(m.operand(*condition, 0))).width_bits != 32)
    return std::nullopt;
  const auto a = first_value(m, constants, f.blocks[before], h, tests, m.operand(*condition, 0));
  const auto b = first_value(m, constants, f.blocks[before], h, tests, m.operand(*condition, 1));
  if (!a || !b) return std::nullopt;
  const auto holds = compare_words(condition->op, *a, *b);
  return holds && *holds != ends_when ? std::optional(at) : std::nullopt;
}

/// Loops end where a round ends too; those that are known to run once don't end at their first condition.
void delay_ends(const Module& m, const Constants& constants, const Function& f, Edges& next) {
  const Edges all = next;
  std::vector<bool> live(f.blocks.size(), false);
  for (uint32_t b : topological_order(all)) live[b] = true;
  for (uint32_t header = 0; header < f.blocks.size(); ++header) {
    if (f.blocks[header].merge != spv::OpLoopMerge) continue;
    const uint32_t end = f.block_of_label.at(f.blocks[header].merge_block);
    if (!live[end]) continue;
    if (const auto test = first_test(m, constants, f, all, header)) std::erase(next[*test], end);
    for (uint32_t b = header; b < f.blocks.size(); ++b)
      if (std::count(all[b].begin(), all[b].end(), header)) next[b].push_back(end);
  }
}

struct Walk {
  const Module& m;
  const Constants& constants;
  Reach reach = Reach(m.instructions.size(), Runs::never);
  std::unordered_map<uint32_t, Runs> visited{};  // functions, by how surely they are called
  std::unordered_map<uint32_t, bool> killing{};  // functions that may end the invocation

  bool kills(uint32_t id) {
    if (const auto known = killing.find(id); known != killing.end()) return known->second;
    const Function& f = m.functions.at(id);
    const Edges next = live_edges(m, constants, f);
    bool any = false;
    for (uint32_t b : topological_order(next)) any = any || killing_from(f.blocks[b]) != f.blocks[b].end;
    return killing[id] = any;
  }

  /// The block's first instruction that may end the invocation; its end where none does.
  uint32_t killing_from(const BasicBlock& b) {
    const spv::Op op = m.instructions[b.terminator].op;
    for (uint32_t k = b.first; k < b.end; ++k)
      if (m.instructions[k].op == spv::OpFunctionCall && kills(m.operand(m.instructions[k], 0))) return k;
    return op == spv::OpKill || op == spv::OpTerminateInvocation || op == spv::OpEmitMeshTasksEXT ? b.terminator : b.end;
  }

  /// By the order of blocks that are not dead.
  std::vector<std::pair<uint32_t, Runs>> blocks_of(const Function& f) {
    Edges next = live_edges(m, constants, f);
    delay_ends(m, constants, f, next);
    const std::vector<uint32_t> order = topological_order(next);
    std::vector<uint32_t> place(f.blocks.size(), kNone);
    for (uint32_t p = 0; p < order.size(); ++p) place[order[p]] = p;
    std::vector<int32_t> past(order.size() + 1, 0);  // differences: edges that lead past a place
    for (uint32_t b : order)
      for (uint32_t to : next[b])
        if (place[to] > place[b] + 1) ++past[place[b] + 1], --past[place[to]];
    std::vector<std::pair<uint32_t, Runs>> runs;
    bool left = false;
    int32_t edges = 0;
    for (uint32_t p = 0; p < order.size(); ++p) {
      const BasicBlock& b = f.blocks[order[p]];
      edges += past[p];
      assert(edges >= 0);
      runs.emplace_back(order[p], edges || left ? Runs::maybe : Runs::always);
      const spv::Op op = m.instructions[b.terminator].op;
      left = left || op == spv::OpReturn || op == spv::OpReturnValue || killing_from(b) != b.end;
    }
    return runs;
  }

  void visit(uint32_t id, Runs called) {
    assert(called != Runs::never);
    const Function& f = m.functions.at(id);
    Runs& known = visited[id];
    if (known >= called) return;
    known = called;
    for (const auto& [number, runs] : blocks_of(f)) {
      const BasicBlock& b = f.blocks[number];
      const uint32_t sure = killing_from(b);
      for (uint32_t k = b.first; k < b.end; ++k) {
        reach[k] = std::max(reach[k], std::min({called, runs, k <= sure ? Runs::always : Runs::maybe}));
        if (m.instructions[k].op == spv::OpFunctionCall) visit(m.operand(m.instructions[k], 0), reach[k]);
      }
    }
  }
};

}  // namespace

Reach find_reach(const Module& module, const Constants& constants) {
  assert(!module.reachable.empty());
  Walk walk{module, constants};
  walk.visit(module.entry.function, Runs::always);
  return std::move(walk.reach);
}

}  // namespace tilegpu::shader
