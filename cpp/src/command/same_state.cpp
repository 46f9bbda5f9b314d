// command/same_state.cpp -- see same_state.hpp.
//
// Structs are taken apart by structured bindings, so that a new field that is forgotten here does not compile.
#include "command/same_state.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilegpu::command {

namespace {

/// Without padding and without numbers that have several forms.
template <class T>
  requires std::has_unique_object_representations_v<T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

bool same(const VkViewport& a, const VkViewport& b) {
  const auto& [x, y, width, height, near_z, far_z] = a;
  return same(x, b.x) && same(y, b.y) && same(width, b.width) && same(height, b.height) && same(near_z, b.minDepth) &&
         same(far_z, b.maxDepth);
}

template <class T, size_t N>
bool same(const std::array<T, N>& a, const std::array<T, N>& b) {
  for (size_t i = 0; i < N; i++)
    if (!same(a[i], b[i])) return false;
  return true;
}

bool same(const SampleLocations& a, const SampleLocations& b) {
  const auto& [count, at] = a;
  return count == b.count && same(at, b.at_px);
}

bool same(const RasterizationState& a, const RasterizationState& b) {
  const auto& [clamp, clamp_user, least, most, clip, negative, discard, polygon, cull, front, bias, constant, bias_clamp, slope,
               representation, width, provoking, stream, conservative, extra, line_mode, stipple, pattern, factor] = a;
  return clamp == b.depth_clamp && clamp_user == b.depth_clamp_user && same(least, b.min_depth_clamp) && same(most, b.max_depth_clamp) &&
         representation == b.depth_bias_representation && clip == b.depth_clip && negative == b.depth_clip_negative_one_to_one &&
         discard == b.rasterizer_discard && polygon == b.polygon_mode && cull == b.cull_mode && front == b.front_face &&
         bias == b.depth_bias_enable && same(constant, b.depth_bias_constant) && same(bias_clamp, b.depth_bias_clamp) &&
         same(slope, b.depth_bias_slope) && same(width, b.line_width) && provoking == b.provoking_vertex_last &&
         stream == b.rasterization_stream && conservative == b.conservative_mode && same(extra, b.extra_overestimation_px) &&
         line_mode == b.line_mode && stipple == b.line_stipple && pattern == b.line_stipple_pattern && factor == b.line_stipple_factor;
}

bool same(const MultisampleState& a, const MultisampleState& b) {
  const auto& [samples, shading, least_shading, mask, to_coverage, to_one, located, locations] = a;
  return samples == b.samples && shading == b.sample_shading && same(least_shading, b.min_sample_shading) && mask == b.sample_mask &&
         to_coverage == b.alpha_to_coverage && to_one == b.alpha_to_one && located == b.sample_locations_enable &&
         same(locations, b.sample_locations);
}

bool same(const DepthStencilState& a, const DepthStencilState& b) {
  const auto& [depth, write, compare, bounds, least, most, stencil, front, back] = a;
  return depth == b.depth_test && write == b.depth_write && compare == b.depth_compare && bounds == b.depth_bounds_test &&
         same(least, b.min_depth_bounds) && same(most, b.max_depth_bounds) && stencil == b.stencil_test && same(front, b.front) &&
         same(back, b.back);
}

bool same(const FragmentShadingRateState& a, const FragmentShadingRateState& b) {
  const auto& [width, height, ops] = a;
  return width == b.width_px && height == b.height_px && ops == b.combiner_ops;
}

bool same(const DiscardRectangleState& a, const DiscardRectangleState& b) {
  const auto& [enable, mode, count, rectangles] = a;
  return enable == b.enable && mode == b.mode && count == b.count && rectangles.size() == b.rectangles.size() &&
         std::equal(rectangles.begin(), rectangles.end(), b.rectangles.begin(), [](const auto& r, const auto& s) { return same(r, s); });
}

bool same(const FixedFunctionState& a, const FixedFunctionState& b) {
  const auto& [topology, restart, points, origin, rasterization, multisample, depth_stencil, constants, rate, discard] = a;
  return topology == b.topology && restart == b.primitive_restart && points == b.patch_control_points && origin == b.domain_origin &&
         same(rasterization, b.rasterization) && same(multisample, b.multisample) && same(depth_stencil, b.depth_stencil) &&
         same(constants, b.blend_constants) && same(rate, b.shading_rate) && same(discard, b.discard_rectangles);
}

bool same(const Viewports* a, const Viewports* b) {
  if (!a || !b) return a == b;
  const auto& [count, viewport, scissor] = *a;
  return count == b->count && same(viewport, b->viewport) && same(scissor, b->scissor);
}

}  // namespace

bool is_same(const DrawState& a, const DrawState& b) {
  assert(a.viewport_index == 0 && b.viewport_index == 0);  // others are the plan's
  return a.resolved == b.resolved && same(a.vertex_bindings, b.vertex_bindings) &&
         same(static_cast<const FixedFunctionState&>(a), static_cast<const FixedFunctionState&>(b)) && same(a.viewport, b.viewport) &&
         same(a.scissor, b.scissor) && a.whole_viewport == b.whole_viewport && same(a.all.get(), b.all.get()) &&
         a.index_data == b.index_data && a.index_size_B == b.index_size_B && a.index_type == b.index_type && a.sets == b.sets &&
         a.anisotropic == b.anisotropic;
}

}  // namespace tilegpu::command
