// hsr/explain.hpp -- which hidden-surface removal a pipeline's draws get on `host`, and the state that keeps them from it.
//
// In: pipeline. Out: a reason in words, or null where the technique is on. The tile phase asks the same functions, so that what is
// explained is what is done.
#pragma once

#include "command/draw.hpp"
#include "tilegpu/explanation.hpp"
#include "tilegpu/stats.hpp"

namespace tilegpu::hsr {

/// Why the draws do not go through the visibility buffer (shaded once, when the tile's visible primitives are known).
const char* visibility_obstacle(const command::DrawState& state, bool enabled);
/// Why depth and stencil are not both tested and written before shading.
const char* early_test_obstacle(const command::DrawState& state);

/// Why the draws' quads neither kill those that wait nor are killed; null where they do both; `half`: they do one of the two.
const char* forward_kill_obstacle(const command::DrawState& state, bool& half);
/// The pre-pass and consecutive draws, from what became of it in the tiles; `stats` of a pass that was executed.
TechniqueExplanation explain_prepass(const PassStats& stats, uint32_t first_draw, uint32_t count, bool enabled);
TechniqueExplanation explain_forward_kill(const command::DrawState& state, bool enabled);

}  // namespace tilegpu::hsr
