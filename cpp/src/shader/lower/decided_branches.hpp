// shader/lower/decided_branches.hpp -- branches that always go one way in a specialised module: what is never reached need not be compiled.
//
// In: the Module, its constants. Out: for each function, where blocks go on whose condition or selector is known. Kernels that are one
// text for all operations and types are specialised to one of dozens: nine tenths of their code go.
// Source: Wegman and Zadeck, "Constant Propagation with Conditional Branches" (TOPLAS 13, 1991); here in one pass, so that what a loop
// changes is not known.
#pragma once

#include <map>
#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

struct DecidedBranches {
  /// By function: [blocks] label of the one block that is branched to; 0: more than one, or the branch is no choice. Functions without any
  /// such branch are absent.
  std::map<uint32_t, std::vector<uint32_t>> taken;
  uint64_t visited = 0;  // instructions and edges that were looked at

  uint32_t of(uint32_t function, uint32_t block) const {
    const auto found = taken.find(function);
    return found == taken.end() ? 0 : found->second[block];
  }
};

DecidedBranches decide_branches(const Module& module, const Constants& constants);

}  // namespace tilegpu::shader
