// shader/ir/flow_graph.hpp -- the blocks of an LLVM function by number: edges, order, dominators, dominance frontiers.
//
// In: a function. Out: tables, each of about as many entries as there are edges. Source: Cooper, Harvey, Kennedy, "A simple, fast dominance
// algorithm" (2001).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

struct FlowGraph {
  static constexpr uint32_t kNoBlock = ~0u;

  std::vector<LLVMBasicBlockRef> blocks;  // as they stand in the function: the entry is 0
  std::unordered_map<LLVMBasicBlockRef, uint32_t> number;
  std::vector<std::vector<uint32_t>> from;      // an edge each: one block may come twice
  std::vector<uint32_t> dominator;              // the nearest; the entry's is itself, kNoBlock: never reached
  std::vector<std::vector<uint32_t>> frontier;  // where what a block stores meets what others do

  explicit FlowGraph(LLVMValueRef function);
  bool is_reached(uint32_t block) const { return dominator[block] != kNoBlock; }

 private:
  std::vector<uint32_t> order_, place_;  // reached blocks, each behind what dominates it; where each stands there
  void number_blocks(LLVMValueRef function);
  void find_dominators();
  void find_frontiers();
  uint32_t nearest(uint32_t a, uint32_t b) const;
};

}  // namespace tilegpu::shader
