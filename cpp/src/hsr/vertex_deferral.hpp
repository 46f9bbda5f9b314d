// hsr/vertex_deferral.hpp -- deferred vertex shading: which draws of a pass have their vertices shaded in two parts, and why not.
//
// In: a pass's draws, and the memory that the pass may write. Out: a decision for each draw; the geometry phase, the tile phase and the
// explanations ask the same one. A draw whose vertices are deferred runs its vertex shader later than in the order of the API, more
// than once for a vertex, or not at all: nobody may notice that. The size of a triangle decides beside it (geometry/process.cpp).
// Source: Arm, "Hidden Surface Removal in Immortalis-G925: The Fragment Prepass" (deferred vertex shading).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "command/draw.hpp"
#include "tilegpu/explanation.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::hsr {

struct VertexDeferral {
  shader::VertexFunction position = nullptr;  // the slice that the geometry phase runs; null: it runs the whole shader
  const char* reason = "";                    // where it is null
  int32_t by_draw = -1;                       // the first draw that writes what the vertex shader reads
};

/// Why no draw with this pipeline is deferred, whatever the pass writes; null: nothing is in the way.
const char* deferral_obstacle(const command::DrawState& state);
/// A decision for each draw. Pipelines without an obstacle have their slice (pipeline::position_shader).
void decide_deferral(std::span<const command::DrawCall> draws, const RenderingInfo& pass, std::vector<VertexDeferral>& out);

/// `decisions` of the last execution, empty: none yet.
TechniqueExplanation explain_deferral(std::span<const VertexDeferral> decisions, uint32_t draw, const command::DrawState& state,
                                      const char* off);

}  // namespace tilegpu::hsr
