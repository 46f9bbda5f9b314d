// geometry/vertex_post.cpp -- stage: after the vertex shader, eight vertices at a time. In: clip-space positions and distances of
// a batch. Out: outcodes; framebuffer position snapped to 8 subpixel bits, depth, 1/w. Source: Vulkan specification, "Coordinate
// Transformations", "Controlling the Viewport", "Primitive Clipping".
#include <cassert>
#include <cmath>

#include "base/simd.hpp"
#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

namespace {
constexpr float kMaxDepth = 0x1p40f;

/// NaN for NaN and the infinities.
inline f32x8 zero_if_finite(f32x8 v) {
  return v - v;  // NOLINT(misc-redundant-expression): that is how IEEE 754 tells them
}

/// Eight rows {x, y, z, q} from four columns.
inline void store_rows(void* rows, i32x8 x, i32x8 y, f32x8 z, f32x8 q) {
  const auto xf = reinterpret_cast<__m256>(x), yf = reinterpret_cast<__m256>(y);
  const auto zf = reinterpret_cast<__m256>(z), qf = reinterpret_cast<__m256>(q);
  const __m256 xy_low = _mm256_unpacklo_ps(xf, yf), xy_high = _mm256_unpackhi_ps(xf, yf);
  const __m256 zq_low = _mm256_unpacklo_ps(zf, qf), zq_high = _mm256_unpackhi_ps(zf, qf);
  const __m256 r04 = _mm256_shuffle_ps(xy_low, zq_low, 0x44), r15 = _mm256_shuffle_ps(xy_low, zq_low, 0xee);
  const __m256 r26 = _mm256_shuffle_ps(xy_high, zq_high, 0x44), r37 = _mm256_shuffle_ps(xy_high, zq_high, 0xee);
  float* out = static_cast<float*>(rows);
  _mm256_storeu_ps(out, _mm256_permute2f128_ps(r04, r15, 0x20));
  _mm256_storeu_ps(out + 8, _mm256_permute2f128_ps(r26, r37, 0x20));
  _mm256_storeu_ps(out + 16, _mm256_permute2f128_ps(r04, r15, 0x31));
  _mm256_storeu_ps(out + 24, _mm256_permute2f128_ps(r26, r37, 0x31));
}

inline uint32_t transform(const DrawSetup& draw, const float* position, const float* distances, uint32_t vertex_count, PostVertex* post,
                          uint32_t* codes) {
  assert(vertex_count >= 1 && vertex_count <= kBatchStride);
  const f32x8 zero = splat8(0.0f), one = splat8(1.0f), subpixels = splat8(256.0f);
  const i32x8 count = splat8(static_cast<int32_t>(vertex_count));
  const i32x8 nothing = splat8(0);
  const auto bit = [](i32x8 outside, uint32_t code) { return outside & splat8(static_cast<int32_t>(code)); };
  const auto plane = [](const SidePlane& p, f32x8 coordinate, f32x8 w) { return splat8(p.a) * coordinate + splat8(p.b) * w; };
  i32x8 any = nothing;
  for (uint32_t v = 0; v < vertex_count; v += 8) {
    const float* p = position + v;
    const f32x8 x = load8(p), y = load8(p + kBatchStride), z = load8(p + 2 * kBatchStride), w = load8(p + 3 * kBatchStride);
    // Each test is written as "not inside", so that NaN is outside.
    i32x8 code = bit(~(x + w >= zero), kOutViewLeft) | bit(~(w - x >= zero), kOutViewRight) | bit(~(y + w >= zero), kOutViewTop) |
                 bit(~(w - y >= zero), kOutViewBottom) | bit(~(w - splat8(kMinW) >= zero), kOutW) |
                 bit(~(plane(draw.side[0], x, w) >= zero), kOutSide0) | bit(~(plane(draw.side[1], x, w) >= zero), kOutSide0 << 1) |
                 bit(~(plane(draw.side[2], y, w) >= zero), kOutSide0 << 2) | bit(~(plane(draw.side[3], y, w) >= zero), kOutSide0 << 3);
    if (draw.clip_depth) code |= bit(~((draw.near_at_minus_w ? z + w : z) >= zero), kOutNear) | bit(~(w - z >= zero), kOutFar);
    f32x8 finite = zero_if_finite(x) + zero_if_finite(y) + zero_if_finite(z) + zero_if_finite(w);
    for (uint32_t i = 0; distances && i < draw.clip_distances + draw.cull_distances; i++) {
      const f32x8 distance = load8(distances + i * kBatchStride + v);
      finite += zero_if_finite(distance);
      code |= bit(~(distance >= zero), i < draw.clip_distances ? kOutClipDistance0 << i : kOutCullDistance0 << (i - draw.clip_distances));
    }
    code |= bit(~(finite == zero), kOutBad);
    any |= code & (kIota8 + splat8(static_cast<int32_t>(v)) < count);
    store(codes + v, code);

    const f32x8 screen_x = splat8(draw.scale_x) * (x / w) + splat8(draw.offset_x);
    const f32x8 screen_y = splat8(draw.scale_y) * (y / w) + splat8(draw.offset_y);
    f32x8 depth = splat8(draw.scale_z) * (z / w) + splat8(draw.offset_z);
    // Without near and far planes depth may overflow; planes through it must stay finite.
    depth = depth > splat8(kMaxDepth) ? splat8(kMaxDepth) : depth < splat8(-kMaxDepth) ? splat8(-kMaxDepth) : depth;
    // Positions outside a plane mean nothing; what is stored for them only has to be small.
    const i32x8 valid = (code & splat8(static_cast<int32_t>(kOutAllPlanes | kOutBad))) == nothing;
    store_rows(post + v, round_to_int(screen_x * subpixels) & valid, round_to_int(screen_y * subpixels) & valid, depth, one / w);
  }
  i32x4 four;
  std::memcpy(&four, &any, sizeof four);
  i32x4 rest;
  std::memcpy(&rest, reinterpret_cast<const char*>(&any) + sizeof four, sizeof rest);
  four |= rest;
  uint64_t two[2];
  std::memcpy(two, &four, sizeof two);
  const uint64_t one_of = two[0] | two[1];
  return static_cast<uint32_t>(one_of | one_of >> 32);
}
}  // namespace

void transform_batch(const DrawSetup& draw, Batch& batch) {
  batch.code_or = transform(draw, batch.position, batch.clip_distance, batch.vertex_count, batch.post, batch.code);
}
uint32_t transform_block(const DrawSetup& draw, const float* position, uint32_t count, PostVertex* post, uint32_t* code) {
  return transform(draw, position, nullptr, count, post, code);
}

bool transform_vertex(const DrawSetup& draw, const float position[4], PostVertex& out) {
  const float w = position[3];
  const float x = draw.scale_x * (position[0] / w) + draw.offset_x;
  const float y = draw.scale_y * (position[1] / w) + draw.offset_y;
  out.z = draw.scale_z * (position[2] / w) + draw.offset_z;
  out.z = out.z > kMaxDepth ? kMaxDepth : out.z < -kMaxDepth ? -kMaxDepth : out.z;
  out.q = 1.0f / w;
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(out.z) || !std::isfinite(out.q)) return false;
  // Rounding can put a point of the guard band's edge a little outside.
  const auto clamp = [](float v, float band) { return v < band - 32768.0f ? band - 32768.0f : v > band + 32768.0f ? band + 32768.0f : v; };
  out.x = round_to_int(clamp(x, draw.band_x) * 256.0f);
  out.y = round_to_int(clamp(y, draw.band_y) * 256.0f);
  return true;
}

}  // namespace tilegpu::geometry
