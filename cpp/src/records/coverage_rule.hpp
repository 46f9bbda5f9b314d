// records/coverage_rule.hpp -- by which rule a draw's filled triangles cover samples: the specification's ordinary one, at other sample
// locations, or conservatively. In: a draw's state. Out: a CoverageRule, which geometry/ bins by and tile/coverage/ covers by.
// Source: Vulkan specification, "Basic Polygon Rasterization", "Conservative Rasterization", "Custom Sample Locations".
#pragma once

#include <array>
#include <cstdint>

#include "command/draw.hpp"
#include "records/line_segment.hpp"
#include "vk/sample_locations.hpp"

namespace tilegpu::records {

struct TriangleRecord;

/// Vertices of one primitive, as the rasterizer gets it.
enum class PrimitiveKind : uint8_t { point, line, triangle };
PrimitiveKind primitive_kind(const command::DrawState& state);

/// What of a pixel or of its samples a triangle must hold.
enum class CoverageKind : uint8_t {
  samples,        // each sample by itself
  overestimate,   // all samples of pixels that it touches, edges and corners included
  underestimate,  // all samples of pixels that lie in it, edges and corners included
  square,         // of a point: each sample in the box of the record, whose corners are three of the square's
};

struct CoverageRule {
  CoverageKind kind = CoverageKind::samples;
  int32_t extra = 0;             // overestimate: a pixel is so much larger on each side, in 1/256 px
  bool standard = true;          // the standard sample locations; else `locations`
  const float* at_px = nullptr;  // of each sample, x and y, as SampleLocations::at_px
  std::array<vk::SampleLocation, 16> locations{};
  const DiscardRectangleState* discard = nullptr;  // pixels where nothing is covered
  LineRule line;                                   // of draws whose records are lines that are no polygons

  bool conservative() const { return kind == CoverageKind::overestimate || kind == CoverageKind::underestimate; }
  bool lines() const { return line.kind != LineKind::triangles; }
  const vk::SampleLocation* places(uint32_t samples) const { return standard ? vk::sample_locations(samples) : locations.data(); }
  /// Nothing but what all the fast ways do.
  bool plain() const { return kind == CoverageKind::samples && standard && !lines() && !discard; }
};
/// The pointers are into `state`. Points and lines are never conservative (conservativePointAndLineRasterization).
CoverageRule coverage_rule(const command::DrawState& state);

/// Covered samples of one quad (framebuffer pixel of its corner), exactly as cover_triangle finds them without scissor and discard
/// rectangles.
uint64_t cover_quad(const TriangleRecord& record, const CoverageRule& rule, int32_t x_px, int32_t y_px, uint32_t samples);

}  // namespace tilegpu::records
