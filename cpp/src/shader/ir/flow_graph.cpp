// shader/ir/flow_graph.cpp -- see flow_graph.hpp.
#include "shader/ir/flow_graph.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tilegpu::shader {

FlowGraph::FlowGraph(LLVMValueRef function) {
  assert(LLVMCountBasicBlocks(function));
  blocks.resize(LLVMCountBasicBlocks(function));
  LLVMGetBasicBlocks(function, blocks.data());
  number_blocks(function);
  find_dominators();
  find_frontiers();
}

/// Reverse postorder of a walk in depth.
void FlowGraph::number_blocks([[maybe_unused]] LLVMValueRef function) {
  const auto count = static_cast<uint32_t>(blocks.size());
  number.reserve(count);
  for (uint32_t b = 0; b < count; ++b) number.emplace(blocks[b], b);
  from.resize(count);
  assert(blocks[0] == LLVMGetEntryBasicBlock(function));
  std::vector<std::vector<uint32_t>> to(count);
  for (uint32_t b = 0; b < count; ++b) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(blocks[b]);
    for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); ++k) to[b].push_back(number.at(LLVMGetSuccessor(end, k)));
  }
  std::vector<bool> seen(count, false);
  std::vector<std::pair<uint32_t, size_t>> walk{{0, 0}};
  seen[0] = true;
  while (!walk.empty()) {
    auto& [b, next] = walk.back();
    if (next == to[b].size()) {
      order_.push_back(b);
      walk.pop_back();
      continue;
    }
    const uint32_t reached = to[b][next++];
    if (!seen[reached]) seen[reached] = true, walk.emplace_back(reached, 0);
  }
  std::reverse(order_.begin(), order_.end());
  place_.assign(count, kNoBlock);
  for (uint32_t k = 0; k < order_.size(); ++k) place_[order_[k]] = k;
  for (uint32_t b = 0; b < count; ++b)
    for (const uint32_t reached : to[b]) from[reached].push_back(b);
}

uint32_t FlowGraph::nearest(uint32_t a, uint32_t b) const {
  while (a != b) {
    while (place_[a] > place_[b]) a = dominator[a];
    while (place_[b] > place_[a]) b = dominator[b];
  }
  return a;
}

void FlowGraph::find_dominators() {
  dominator.assign(blocks.size(), kNoBlock);
  dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 1; k < order_.size(); ++k) {
      uint32_t found = kNoBlock;
      for (const uint32_t before : from[order_[k]])
        if (dominator[before] != kNoBlock) found = found == kNoBlock ? before : nearest(found, before);
      assert(found != kNoBlock);  // one of them stands before it
      if (std::exchange(dominator[order_[k]], found) != found) changed = true;
    }
  }
}

void FlowGraph::find_frontiers() {
  frontier.resize(blocks.size());
  for (const uint32_t meeting : order_) {
    if (from[meeting].size() < 2) continue;
    for (uint32_t before : from[meeting]) {
      if (!is_reached(before)) continue;
      // Where it is known already, it is for all that dominates.
      for (; before != dominator[meeting] && (frontier[before].empty() || frontier[before].back() != meeting); before = dominator[before])
        frontier[before].push_back(meeting);
    }
  }
}

}  // namespace tilegpu::shader
