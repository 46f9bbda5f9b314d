// shader/lower/block_order.hpp -- where blocks lead, and orders of what leads to what, without recursion: modules of strangers decide how
// deep it would be.
//
// In: a block; or edges. Out: labels; indices in order.
#pragma once

#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

using Edges = std::vector<std::vector<uint32_t>>;  // [from]: to

/// Labels that a block's terminator names, in its order; an OpSwitch's default first.
std::vector<uint32_t> successors(const Module& module, const BasicBlock& block);

/// Nodes that node 0 reaches, each behind all that it leads to but by a way back.
std::vector<uint32_t> postorder(const Edges& next);
/// The same, each before all that it leads to.
std::vector<uint32_t> topological_order(const Edges& next);

}  // namespace tilegpu::shader
