// hsr/explain.hpp -- which hidden-surface removal a pipeline's draws get on `host`, and the state that keeps them from it.
//
// In: pipeline. Out: a reason in words, or null where the technique is on. The tile phase asks the same functions, so that what is
// explained is what is done.
#pragma once

#include "pipeline/compiled.hpp"

namespace tilegpu::hsr {

/// Why the draws do not go through the visibility buffer (shaded once, when the tile's visible primitives are known).
const char* visibility_obstacle(const GraphicsPipelineCreateInfo& info, const pipeline::Compiled& compiled, bool enabled);
/// Why depth and stencil are not both tested and written before shading.
const char* early_test_obstacle(const GraphicsPipelineCreateInfo& info, const pipeline::Compiled& compiled);

}  // namespace tilegpu::hsr
