// shader/lower/structure.hpp -- a function's structured control flow as a tree: sequences of blocks, selections, switches, loops.
//
// In: a Function of the Module, which of its branches are decided. Out: FunctionTree: regions (sequences of items) and the constructs that
// own them. Jumps name the construct that they leave, so that divergence analysis and code generation need no graph. A decided branch is
// no selection: its one arm stands in a construct of kind `block`, and what is not reached stands nowhere.
// Source: SPIR-V specification 1.6, section 2.11 "Structured Control Flow".
#pragma once

#include "shader/lower/decided_branches.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

enum class ItemKind : uint8_t { block, construct, edge, jump, return_, kill, unreachable };
enum class JumpKind : uint8_t { merge, continue_, back, fallthrough };  // merge: end of a selection, break of a switch or loop

struct Item {
  ItemKind kind = ItemKind::block;
  uint32_t block = 0;      // block: index in Function::blocks; return_, kill: the block that it ends
  uint32_t construct = 0;  // construct: which; jump: whose join
  JumpKind jump = JumpKind::merge;
  uint32_t case_index = 0;    // fallthrough: the case's position in regions
  uint32_t from = 0, to = 0;  // labels of the edge, for OpPhi: jump, edge; construct: into the loop's header (from 0: none)
};

/// A straight sequence (`edge`: into the next block, which has OpPhi); its last item is a jump, return, kill or unreachable, or a construct
/// none of whose arms comes to its end.
struct Region {
  std::vector<Item> items;
  uint32_t parent = kNone;  // region that holds the construct
  uint32_t construct = 0;   // that this region is an arm of
  uint32_t arm = 0;         // selection: 0 then, 1 else; switch: case; loop: 0 body, 1 continue
};

/// block: one arm, which jumps leave for the code behind it. Selections whose arms meet before the merge block stand in such.
enum class ConstructKind : uint8_t { function, block, selection, switch_, loop };

struct Case {
  std::vector<uint64_t> literals;
  bool is_default = false;
  uint32_t label = 0;
};

struct Construct {
  ConstructKind kind = ConstructKind::function;
  uint32_t parent_region = kNone;  // where it stands; kNone: the function
  std::vector<uint32_t> regions;   // arms
  uint32_t condition = 0;          // id; selection, switch
  uint32_t header = 0;             // label of the block that branches
  uint32_t merge = 0;              // label; 0: a selection without merge (an arm or both leave)
  uint32_t continue_label = 0;
  std::vector<Case> cases;     // switch, one for each region
  bool contains_kill = false;  // filled by analysis, calls included
};

struct FunctionTree {
  const Function* function = nullptr;
  std::vector<Region> regions;            // [0]: the body
  std::vector<Construct> constructs;      // [0]: the function
  std::vector<uint32_t> region_of_block;  // kNone: unreachable block, or one that decided branches pass by
  std::vector<uint32_t> order_of_block;   // position in emission order

  /// Is `outer` the region `inner`, or does it enclose it?
  bool encloses(uint32_t outer, uint32_t inner) const {
    for (; inner != kNone; inner = regions[inner].parent) {
      if (inner == outer) return true;
    }
    return false;
  }
  /// Innermost loop construct around a region; kNone: none.
  uint32_t loop_around(uint32_t region) const;
};

Expected<FunctionTree> build_tree(const Module& module, const Function& function, const DecidedBranches& decided);

}  // namespace tilegpu::shader
