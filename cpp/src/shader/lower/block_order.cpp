// shader/lower/block_order.cpp -- see block_order.hpp. In: a block; or edges. Out: labels; indices in order.
#include "shader/lower/block_order.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tilegpu::shader {

std::vector<uint32_t> successors(const Module& m, const BasicBlock& b) {
  const Instruction& t = m.instructions[b.terminator];
  if (t.op == spv::OpBranch) return {m.operand(t, 0)};
  if (t.op == spv::OpBranchConditional) return {m.operand(t, 1), m.operand(t, 2)};
  std::vector<uint32_t> labels;
  if (t.op == spv::OpSwitch)
    for (const Module::Case& one : m.cases(t)) labels.push_back(one.label);
  return labels;
}

std::vector<uint32_t> postorder(const Edges& next) {
  assert(!next.empty());
  std::vector<uint32_t> order;
  std::vector<std::pair<uint32_t, size_t>> path = {{0, 0}};
  std::vector<bool> seen(next.size(), false);
  seen[0] = true;
  while (!path.empty()) {
    auto& [b, at] = path.back();
    if (at < next[b].size()) {
      const uint32_t to = next[b][at++];
      if (!seen[to]) seen[to] = true, path.emplace_back(to, 0);
      continue;
    }
    order.push_back(b);
    path.pop_back();
  }
  return order;
}

std::vector<uint32_t> topological_order(const Edges& next) {
  std::vector<uint32_t> order = postorder(next);
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace tilegpu::shader
