// raster/depth_plane.hpp -- the one expression of a sample's depth, and its word in the attachment; every path evaluates it in
// this order. In: a primitive's plane, a position. Out: depth before clamping, and its word.
#pragma once

#include "raster/depth_stencil.hpp"
#include "raster/simd.hpp"

namespace tilegpu::raster {

template <class F>
inline F depth_term_x(const PrimitiveDepth& p, F pixel_x) {
  return p.z0 + p.zx * (pixel_x - p.anchor_x);
}
template <class F>
inline F depth_term_y(const PrimitiveDepth& p, F pixel_y) {
  return p.zy * (pixel_y - p.anchor_y);
}

/// The depth words of one sample of a quad's four pixels.
inline i32x4 quad_depth_words(const TestState& state, const PrimitiveDepth& p, int32_t x_px, int32_t y_px, uint32_t sample) {
  const f32x4 quad_x = {0, 1, 0, 1}, quad_y = {0, 0, 1, 1};
  const float sample_x = state.positions[2 * sample], sample_y = state.positions[2 * sample + 1];
  const f32x4 z = clamp(
      depth_term_x(p, quad_x + (static_cast<float>(x_px) + sample_x)) + depth_term_y(p, quad_y + (static_cast<float>(y_px) + sample_y)),
      p.lo, p.hi);
  return state.unorm ? to_unorm(z, state.unorm_scale) : (i32x4)z;
}

}  // namespace tilegpu::raster
