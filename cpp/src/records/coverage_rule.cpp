// records/coverage_rule.cpp -- see coverage_rule.hpp.
#include "records/coverage_rule.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "records/primitive_setup.hpp"

namespace tilegpu::records {

PrimitiveKind primitive_kind(const command::DrawState& state) {
  assert(state.resolved);
  const uint32_t made = state.resolved->primitives.made_vertices();
  if (made) return made == 1 ? PrimitiveKind::point : made == 2 ? PrimitiveKind::line : PrimitiveKind::triangle;
  switch (state.topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return PrimitiveKind::point;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
      return PrimitiveKind::line;
    default:
      return PrimitiveKind::triangle;
  }
}

CoverageRule coverage_rule(const command::DrawState& state) {
  const RasterizationState& raster = state.rasterization;
  CoverageRule rule;
  if (state.discard_rectangles.acts()) rule.discard = &state.discard_rectangles;
  const PrimitiveKind primitive = primitive_kind(state);
  if (primitive == PrimitiveKind::point || (primitive == PrimitiveKind::triangle && raster.polygon_mode == VK_POLYGON_MODE_POINT))
    rule.kind = CoverageKind::square;
  if (primitive == PrimitiveKind::line || (primitive == PrimitiveKind::triangle && raster.polygon_mode == VK_POLYGON_MODE_LINE))
    rule.line = line_rule(raster);
  if (raster.conservative_mode != VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT && raster.polygon_mode == VK_POLYGON_MODE_FILL &&
      primitive == PrimitiveKind::triangle) {
    const bool over = raster.conservative_mode == VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT;
    rule.kind = over ? CoverageKind::overestimate : CoverageKind::underestimate;
    const float extra_px = raster.extra_overestimation_px;
    if (over && extra_px > 0) rule.extra = static_cast<int32_t>(std::ceil(std::min(extra_px, kMaxExtraOverestimation_px) * 256));
  }
  const MultisampleState& multisample = state.multisample;
  if (!multisample.sample_locations_enable || !multisample.sample_locations.count) return rule;
  assert(multisample.sample_locations.count <= rule.locations.size());
  rule.at_px = multisample.sample_locations.at_px.data();
  const vk::SampleLocation* const standard = vk::sample_locations(multisample.sample_locations.count);
  for (uint32_t s = 0; s < multisample.sample_locations.count; s++) {
    rule.locations[s] = {static_cast<uint8_t>(rule.at_px[2 * s] * 16), static_cast<uint8_t>(rule.at_px[2 * s + 1] * 16)};
    rule.standard &= rule.locations[s].x == standard[s].x && rule.locations[s].y == standard[s].y;
  }
  if (rule.standard) rule.at_px = nullptr;
  return rule;
}

namespace {

bool covers_sample(const TriangleRecord& r, const CoverageRule& rule, int64_t x, int64_t y) {
  if (rule.kind == CoverageKind::square) {  // left and top edges are its own
    const auto [min_x, max_x] = std::minmax({r.x[0], r.x[1], r.x[2]});
    const auto [min_y, max_y] = std::minmax({r.y[0], r.y[1], r.y[2]});
    return x >= min_x && x < max_x && y >= min_y && y < max_y;
  }
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    const int64_t dx = r.x[n] - r.x[k], dy = r.y[n] - r.y[k];
    const bool top_left = dy < 0 || (dy == 0 && dx > 0);
    inside &= dx * (y - r.y[k]) - dy * (x - r.x[k]) - !top_left >= 0;
  }
  return inside;
}

// The pixel's square, grown by `extra`, against the triangle: two convex shapes meet where no edge of either lies between them.
bool covers_pixel(const TriangleRecord& r, const CoverageRule& rule, int32_t x_px, int32_t y_px) {
  const bool over = rule.kind == CoverageKind::overestimate;
  const int64_t half = 128 + rule.extra, x = int64_t{x_px} * 256 + 128, y = int64_t{y_px} * 256 + 128;
  const auto [min_x, max_x] = std::minmax({r.x[0], r.x[1], r.x[2]});
  const auto [min_y, max_y] = std::minmax({r.y[0], r.y[1], r.y[2]});
  bool covered = x + half >= min_x && x - half <= max_x && y + half >= min_y && y - half <= max_y;
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    const int64_t dx = r.x[n] - r.x[k], dy = r.y[n] - r.y[k], reach = (std::abs(dx) + std::abs(dy)) * half;
    covered &= dx * (y - r.y[k]) - dy * (x - r.x[k]) + (over ? reach : -reach) >= 0;
  }
  return covered;
}

}  // namespace

uint64_t cover_quad(const TriangleRecord& r, const CoverageRule& rule, int32_t x_px, int32_t y_px, uint32_t samples) {
  assert(samples >= 1 && samples <= 16);  // four bits each
  uint64_t coverage = 0;
  const vk::SampleLocation* const at = rule.standard ? vk::sample_locations(samples) : rule.locations.data();
  for (int32_t p = 0; p < 4; p++) {
    const int32_t x = x_px + (p & 1), y = y_px + (p >> 1);
    const bool whole = rule.conservative() && covers_pixel(r, rule, x, y);
    for (uint32_t s = 0; s < samples; s++) {
      const bool covered =
          rule.conservative() ? whole : covers_sample(r, rule, int64_t{x} * 256 + at[s].x * 16, int64_t{y} * 256 + at[s].y * 16);
      coverage |= static_cast<uint64_t>(covered) << (4 * s + static_cast<uint32_t>(p));
    }
  }
  return coverage;
}

uint64_t cover_quad(const TriangleRecord& r, int32_t x_px, int32_t y_px, uint32_t samples) {
  return cover_quad(r, CoverageRule{}, x_px, y_px, samples);
}

}  // namespace tilegpu::records
