// tile/plan/describe.hpp -- the way of a draw through the tile phase, in words. In: what plan.hpp decides by. Out: one line for people.
// Source: plan.hpp; where there is a pre-pass: tile/prepass.cpp.
#pragma once

#include <span>
#include <string>

#include "tile/plan/plan.hpp"

namespace tilegpu::tile {

/// The pre-pass and a draw: by which verdicts tiles may have taken it, the one of most tiles first, and whether some tile did not take it.
struct PrepassWays {
  std::span<const hsr::Verdict> verdicts;
  bool elsewhere = true;
};

/// TilePlan and ShadePlan of each phase that the draw went through: the ordinary one, or (where a pre-pass took it) pre and main. Where
/// `draw` is tested against low-resolution Z, bins in which that can reject nothing draw it as if it weren't.
std::string describe_plan(const PassTraits& pass, const command::DrawState& state, const TestRules& rules, const DrawTraits& draw,
                          const PrepassWays& prepass);

}  // namespace tilegpu::tile
