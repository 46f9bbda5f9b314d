// tile/depth_stencil/depth_plane.hpp -- the one expression of a sample's depth, and its word in the attachment; every path evaluates it in
// this order. In: a primitive's plane, a position. Out: depth before clamping, and its word.
#pragma once

#include <cmath>

#include "base/simd.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"

namespace tilegpu::tile {

// Of the pixels of a block's upper half (the lower one is two rows down), and of a quad.
inline const f32x8 kBlockX = {0, 1, 0, 1, 2, 3, 2, 3};
inline const f32x8 kBlockY = {0, 0, 1, 1, 0, 0, 1, 1};
inline const f32x4 kQuadX = {0, 1, 0, 1};
inline const f32x4 kQuadY = {0, 0, 1, 1};

template <class F>
inline F depth_term_x(const PrimitiveDepth& p, F pixel_x) {
  return p.z0 + p.zx * (pixel_x - p.anchor_x);
}
template <class F>
inline F depth_term_y(const PrimitiveDepth& p, F pixel_y) {
  return p.zy * (pixel_y - p.anchor_y);
}

/// Depth of one sample of a quad's four pixels, clamped; and its words.
inline f32x4 quad_depth(const TestState& state, const PrimitiveDepth& p, int32_t x_px, int32_t y_px, uint32_t sample) {
  const float sample_x = state.positions[2 * sample], sample_y = state.positions[2 * sample + 1];
  return clamp(
      depth_term_x(p, kQuadX + (static_cast<float>(x_px) + sample_x)) + depth_term_y(p, kQuadY + (static_cast<float>(y_px) + sample_y)),
      p.lo, p.hi);
}
inline i32x4 quad_depth_words(const TestState& state, const PrimitiveDepth& p, int32_t x_px, int32_t y_px, uint32_t sample) {
  const f32x4 z = quad_depth(state, p, x_px, y_px, sample);
  return state.unorm ? to_unorm(z, state.unorm_scale) : (i32x4)z;
}

struct BlockDepth {
  i32x8 upper, lower;
};
/// The words of one sample of a block; (x, y): its sample point's place in the first pixel.
inline BlockDepth block_depth(const PrimitiveDepth& p, float x, float y, float lower_y, bool unorm, double scale) {
  const f32x8 term_x = depth_term_x(p, kBlockX + x);
  const f32x8 z0 = clamp(term_x + depth_term_y(p, kBlockY + y), p.lo, p.hi);
  const f32x8 z1 = clamp(term_x + depth_term_y(p, kBlockY + lower_y), p.lo, p.hi);
  if (unorm) return {to_unorm(z0, scale), to_unorm(z1, scale)};
  return {(i32x8)z0, (i32x8)z1};
}

struct DepthRange {
  int32_t near, far;
};
/// What the words of a block of several samples lie between. Depth grows evenly in x and in y, rounding included, so that its
/// extremes are at corners.
inline DepthRange depth_range(const PrimitiveDepth& p, int32_t x_px, int32_t y_px, bool unorm, double scale) {
  f32x4 z = {p.lo, p.hi, 0, 0};
  if (std::isfinite(p.z0) && std::isfinite(p.zx) && std::isfinite(p.zy)) {
    const float x = static_cast<float>(x_px), y = static_cast<float>(y_px);
    const f32x4 at_x = p.zx >= 0 ? f32x4{x, x + 4, x, x} : f32x4{x + 4, x, x, x};
    const f32x4 at_y = p.zy >= 0 ? f32x4{y, y + 4, y, y} : f32x4{y + 4, y, y, y};
    z = clamp(depth_term_x(p, at_x) + depth_term_y(p, at_y), p.lo, p.hi);
  }
  const i32x4 words = unorm ? to_unorm(z, scale) : (i32x4)z;
  return {words[0], words[1]};
}

}  // namespace tilegpu::tile
