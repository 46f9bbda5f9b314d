// geometry/draw_setup.cpp -- stage: before vertices. In: a draw's state. Out: DrawSetup, the same numbers in the form that the
// stages use. Source: Vulkan specification, "Controlling the Viewport", "Primitive Clipping", "Basic Polygon Rasterization",
// "Depth Bias".
#include "geometry/draw_setup.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tilegpu::geometry {

namespace {

// Nothing is cut in x and y as long as the scissor keeps it inside the viewport anyway; where the viewport ends within the
// scissor, the view volume's plane takes the guard band's place.
void side_planes(float scale, float offset, float band_px, float low_px, float high_px, int32_t first_px, int32_t end_px, SidePlane* low,
                 SidePlane* high) {
  const float direction = scale < 0 ? -1.0f : 1.0f;
  if (low_px <= static_cast<float>(first_px))
    *low = {scale, offset + (kGuardBand_px - band_px)};
  else
    *low = {direction, 1.0f};
  if (high_px >= static_cast<float>(end_px))
    *high = {-scale, (kGuardBand_px + band_px) - offset};
  else
    *high = {-direction, 1.0f};
}

// All that is smaller has its band where it always was.
float band_middle(uint32_t size_px) {
  assert(size_px <= kMaxFramebufferSize_px);
  return static_cast<float>(size_px) <= kGuardBand_px ? 0.0f : static_cast<float>(size_px / 2);
}

// Both ends of what two ranges share, the last inclusive.
void cut(int64_t a0, int64_t a1, int64_t b0, int64_t b1, int32_t* first, int32_t* last) {
  *first = static_cast<int32_t>(std::max(a0, b0));
  *last = static_cast<int32_t>(std::min(a1, b1) - 1);
}
int64_t end(int32_t offset, uint32_t extent) { return std::min<int64_t>(int64_t{offset} + extent, 1 << 24); }
int64_t begin(int32_t offset) { return std::clamp<int64_t>(offset, -(1 << 24), 1 << 24); }

// The guard band, or the view volume where the viewport ends within the scissor; in a window as in the whole framebuffer.
void set_side_planes(const GeometryPass& pass, const command::DrawState& state, DrawSetup& out) {
  out.band_x = band_middle(pass.width_px), out.band_y = band_middle(pass.height_px);
  int32_t first_x = out.x0_px, last_x = out.x1_px, first_y = out.y0_px, last_y = out.y1_px;
  if (pass.window) {
    const VkRect2D& s = state.scissor;
    cut(begin(s.offset.x), end(s.offset.x, s.extent.width), 0, pass.width_px, &first_x, &last_x);
    cut(begin(s.offset.y), end(s.offset.y, s.extent.height), 0, pass.height_px, &first_y, &last_y);
  }
  const auto edges = [](float start, float size, float* low, float* high) {
    *low = std::min(start, start + size);
    *high = std::max(start, start + size);
  };
  const VkViewport& viewport = state.viewport;
  float low, high;
  edges(viewport.x, viewport.width, &low, &high);
  side_planes(out.scale_x, out.offset_x, out.band_x, low, high, first_x, last_x + 1, &out.side[0], &out.side[1]);
  edges(viewport.y, viewport.height, &low, &high);
  side_planes(out.scale_y, out.offset_y, out.band_y, low, high, first_y, last_y + 1, &out.side[2], &out.side[3]);
}

}  // namespace

SampleGrid sample_grid(uint32_t samples) {
  assert(samples >= 1 && samples <= 16 && (samples & (samples - 1)) == 0);
  int32_t log2_count = 0;
  while ((2u << log2_count) <= samples && log2_count < 4) log2_count++;
  const int32_t first = log2_count == 4 ? 0 : 128 >> log2_count, shift = 8 - log2_count, step = 1 << shift;
  return {step - 1 - first, -1 - first, shift, log2_count, first, 256 - step + first, log2_count == 0};
}

SampleGrid sample_grid(uint32_t samples, const records::CoverageRule& rule) {
  if (!rule.conservative()) return sample_grid(rule.standard ? samples : 16);
  // Pixels, grown by `extra`, that touch [low, high].
  return {-1 - rule.extra, rule.extra, 8, 0, -rule.extra, 256 + rule.extra, false};
}

void setup_draw(const GeometryPass& pass, const command::DrawState& state, DrawSetup& out) {
  assert(state.resolved);
  const pipeline::Resolved& resolved = *state.resolved;
  const RasterizationState& raster = state.rasterization;
  const VkViewport& viewport = state.viewport;
  out.state = &state;
  out.resolved = &resolved;
  out.kind = records::primitive_kind(state);
  out.polygon_mode = raster.polygon_mode;

  out.scale_x = viewport.width * 0.5f;
  out.offset_x = viewport.x + out.scale_x;
  out.scale_y = viewport.height * 0.5f;
  out.offset_y = viewport.y + out.scale_y;
  out.near_at_minus_w = raster.depth_clip_negative_one_to_one;
  out.scale_z = viewport.maxDepth - viewport.minDepth;
  out.offset_z = viewport.minDepth;
  if (out.near_at_minus_w) out.scale_z *= 0.5f, out.offset_z = (viewport.minDepth + viewport.maxDepth) * 0.5f;

  const VkRect2D &s = state.scissor, &r = pass.render_area;
  cut(begin(s.offset.x), end(s.offset.x, s.extent.width), begin(r.offset.x), end(r.offset.x, r.extent.width), &out.x0_px, &out.x1_px);
  cut(begin(s.offset.y), end(s.offset.y, s.extent.height), begin(r.offset.y), end(r.offset.y, r.extent.height), &out.y0_px, &out.y1_px);
  // The grid covers the render area; what lies outside it has no bin.
  cut(out.x0_px, int64_t{out.x1_px} + 1, pass.grid.origin_x_px, pass.grid.origin_x_px + int64_t{pass.grid.columns} * pass.grid.width_px,
      &out.x0_px, &out.x1_px);
  cut(out.y0_px, int64_t{out.y1_px} + 1, pass.grid.origin_y_px, pass.grid.origin_y_px + int64_t{pass.grid.rows} * pass.grid.height_px,
      &out.y0_px, &out.y1_px);
  out.empty = out.x1_px < out.x0_px || out.y1_px < out.y0_px;
  assert(out.empty || (out.x0_px >= pass.grid.origin_x_px && out.y0_px >= pass.grid.origin_y_px));

  // A viewport of NaN or infinities shows nothing.
  for (const float value : {out.scale_x, out.scale_y, out.scale_z, out.offset_x, out.offset_y, out.offset_z})
    out.empty |= !std::isfinite(value);

  set_side_planes(pass, state, out);

  out.clip_depth = raster.clips_depth();
  const shader::StageTraits& traits = resolved.last_traits();
  out.shade = resolved.code<shader::VertexFunction>();
  out.shade_memory_B = 0, out.shade_has_effect = false;
  for (const pipeline::ResolvedStage& stage : resolved.stages) {
    if (stage.stage == VK_SHADER_STAGE_FRAGMENT_BIT) continue;
    out.shade_memory_B = std::max(out.shade_memory_B, stage.traits.private_memory_B);
    out.shade_has_effect |= stage.traits.writes_memory;
  }
  out.writes_layer = traits.writes_layer, out.writes_viewport_index = traits.writes_viewport_index;
  out.writes_primitive_id = traits.writes_primitive_id, out.writes_point_size = traits.writes_point_size;
  out.writes_shading_rate = traits.writes_shading_rate && resolved.classification.coarse;
  out.clip_distances = traits.clip_distances, out.cull_distances = traits.cull_distances;
  assert(out.clip_distances <= shader::kMaxClipDistances && out.cull_distances <= shader::kMaxCullDistances);
  out.components = static_cast<uint32_t>(resolved.varyings.components.size());
  out.has_flat = resolved.has_flat, out.own_vertices = resolved.has_own_vertices;

  // The specification's area has the other sign: counter-clockwise (positive there) is negative here.
  out.positive_is_front = raster.front_face == VK_FRONT_FACE_CLOCKWISE;
  const bool cull_front = raster.cull_mode & VK_CULL_MODE_FRONT_BIT, cull_back = raster.cull_mode & VK_CULL_MODE_BACK_BIT;
  out.keep_positive = !(out.positive_is_front ? cull_front : cull_back);
  out.keep_negative = !(out.positive_is_front ? cull_back : cull_front);
  out.provoking_last = raster.provoking_vertex_last;

  out.bias = raster.depth_bias_enable && (raster.depth_bias_constant != 0 || raster.depth_bias_slope != 0);
  out.amends_records = out.bias || out.own_vertices;
  out.bias_float = false;
  out.bias_unit = 0;
  switch (resolved.depth_format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
      out.bias_unit = 0x1p-16f;
      break;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
      out.bias_unit = 0x1p-24f;
      break;
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
      out.bias_float = true;
      break;
    default:
      out.bias = false;
  }
  if (raster.depth_bias_representation == DepthBiasRepresentation::floating) out.bias_float = false, out.bias_unit = 1;
  // As if it were fixed, a float has a bit more than its fraction: "the number of mantissa bits plus one".
  if (raster.depth_bias_representation == DepthBiasRepresentation::least_representable_value_force_unorm && out.bias_float)
    out.bias_float = false, out.bias_unit = 0x1p-24f;
  out.half_line_px = raster.allowed_line_width_px() * 0.5f;
  out.grid = sample_grid(pass.samples, records::coverage_rule(state));
  out.line = line_rule(raster);
}

}  // namespace tilegpu::geometry
