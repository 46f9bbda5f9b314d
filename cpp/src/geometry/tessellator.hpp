// geometry/tessellator.hpp -- the fixed-function tessellator: a patch's levels in, points of its domain and primitives among them out.
// In: levels. Out: points and their order.
#pragma once

#include <cstdint>
#include <vector>

namespace tilegpu::geometry {

/// maxTessellationGenerationLevel.
inline constexpr uint32_t kMaxTessellationLevel = 64;

enum class TessellationDomain : uint8_t { triangles, quads, isolines };
enum class TessellationSpacing : uint8_t { equal, fractional_even, fractional_odd };

/// Execution modes of the tessellation shaders, and the pipeline's VkTessellationDomainOrigin, which says what is clockwise.
struct TessellationModes {
  TessellationDomain domain = TessellationDomain::triangles;
  TessellationSpacing spacing = TessellationSpacing::equal;
  bool clockwise = false;          // VertexOrderCw; else VertexOrderCcw
  bool points = false;             // PointMode
  bool lower_left_origin = false;  // VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT
};

/// gl_TessLevelOuter and gl_TessLevelInner.
struct TessellationLevels {
  float outer[4]{}, inner[2]{};
};

/// What one patch becomes; memory is kept from patch to patch.
struct TessellatedPatch {
  std::vector<float> u, v, w;     // gl_TessCoord of each point; multiples of 2^-16. w: 1 - u - v of triangles, else 0
  std::vector<uint32_t> indices;  // three for each primitive: a triangle; a line (the last one again); a point (three times the same)
  // What they were made of: the next patch is often the same.
  bool made = false;
  TessellationModes modes;
  TessellationLevels levels;
};

/// A patch with an outer level that counts and is not above 0 (or no number) is discarded: no points, no primitives.
void tessellate(const TessellationModes& modes, const TessellationLevels& levels, TessellatedPatch& out);

}  // namespace tilegpu::geometry
