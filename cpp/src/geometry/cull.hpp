// geometry/cull.hpp -- stage: primitive assembly, culling. In: the screen positions of eight or sixteen triangles. Out: which may cover a
// sample, their winding, their bins.
//
// Culled: facing away, without area, no sample point in the bounding box, outside scissor and render area; and, with one sample, triangles
// whose box holds at most two by two sample points all of which lie outside: by the rasterizer's own rule, so that nothing else changes.
// The two functions give the same bits (cull.cpp: AVX-512). Source: Vulkan specification, "Basic Polygon Rasterization".
#pragma once

#include "base/simd.hpp"
#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

/// What is constant for a draw.
struct CullSetup {
  bool keep_positive, keep_negative;  // by sign of the area
  bool points;                        // one sample a pixel: few sample points are tested one by one
  int32_t to_first, to_last;          // from subpixels to numbers of sample points
  int32_t sample_shift, sample_log2;
  int32_t x0_px, y0_px, x1_px, y1_px;
  int32_t origin_x_px, origin_y_px, columns, bin_shift_x, bin_shift_y;
};
inline CullSetup cull_setup(const DrawSetup& draw, const Output& out) {
  const BinGrid& grid = out.binner->grid();
  CullSetup c;
  c.keep_positive = draw.keep_positive, c.keep_negative = draw.keep_negative;
  c.points = out.grid.centres;
  c.to_first = out.grid.to_first, c.to_last = out.grid.to_last;
  c.sample_shift = out.grid.shift, c.sample_log2 = out.grid.log2_count;
  c.x0_px = draw.x0_px, c.y0_px = draw.y0_px, c.x1_px = draw.x1_px, c.y1_px = draw.y1_px;
  c.origin_x_px = grid.origin_x_px, c.origin_y_px = grid.origin_y_px;
  c.columns = static_cast<int32_t>(grid.columns);
  c.bin_shift_x = static_cast<int32_t>(out.binner->shift_x()), c.bin_shift_y = static_cast<int32_t>(out.binner->shift_y());
  return c;
}

inline constexpr uint32_t kGroup = 16;

/// Up to sixteen triangles, a bit each.
struct TriangleGroup {
  alignas(64) int32_t slot[3][kGroup];  // vertices
  int32_t bin[kGroup];
  int32_t box[4][kGroup];  // columns and rows of bins: first and last of each
  uint32_t visible, exchanged, one_bin;
  bool same_bin;  // all of `visible` are in bin[first of them] alone; without AVX-512 not looked for
};

/// Sign of the 64-bit value a*b - c*d in each lane: `positive` and `negative` get all ones. Exact for |operand| < 2^31 as long
/// as the difference fits in 64 bits.
inline void sign_of_cross8(i32x8 a8, i32x8 b8, i32x8 c8, i32x8 d8, i32x8* positive, i32x8* negative) {
  const auto a = reinterpret_cast<__m256i>(a8), b = reinterpret_cast<__m256i>(b8);
  const auto c = reinterpret_cast<__m256i>(c8), d = reinterpret_cast<__m256i>(d8);
  const __m256i even = _mm256_sub_epi64(_mm256_mul_epi32(a, b), _mm256_mul_epi32(c, d));
  const __m256i odd = _mm256_sub_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)),
                                       _mm256_mul_epi32(_mm256_srli_epi64(c, 32), _mm256_srli_epi64(d, 32)));
  const __m256i zero = _mm256_setzero_si256();
  *positive = reinterpret_cast<i32x8>(_mm256_blend_epi32(_mm256_cmpgt_epi64(even, zero), _mm256_cmpgt_epi64(odd, zero), 0xaa));
  *negative = reinterpret_cast<i32x8>(_mm256_blend_epi32(_mm256_cmpgt_epi64(zero, even), _mm256_cmpgt_epi64(zero, odd), 0xaa));
}

/// Lane i of x and y is the pair at base + 16 * slot[i] bytes.
inline void gather_pairs8(const void* base, const int32_t* slot, i32x8* x, i32x8* y) {
  const auto pair = [&](int i) {
    const char* b = static_cast<const char*>(base);
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b + 16 * slot[i]));
    return _mm_loadh_pi(_mm_castsi128_ps(low), reinterpret_cast<const __m64*>(b + 16 * slot[i + 1]));
  };
  const __m256 p = _mm256_insertf128_ps(_mm256_castps128_ps256(pair(0)), pair(4), 1);
  const __m256 q = _mm256_insertf128_ps(_mm256_castps128_ps256(pair(2)), pair(6), 1);
  *x = reinterpret_cast<i32x8>(_mm256_shuffle_ps(p, q, 0x88));
  *y = reinterpret_cast<i32x8>(_mm256_shuffle_ps(p, q, 0xdd));
}

/// Lanes [first, first + 8) of the group, whose slots are there; bits of the others stay.
inline void cull8(const CullSetup& c, const PostVertex* post, uint32_t first, uint32_t lanes, TriangleGroup& g) {
  i32x8 xa, ya, xb, yb, xc, yc;
  gather_pairs8(post, g.slot[0] + first, &xa, &ya);
  gather_pairs8(post, g.slot[1] + first, &xb, &yb);
  gather_pairs8(post, g.slot[2] + first, &xc, &yc);
  i32x8 positive, negative;
  sign_of_cross8(xb - xa, yc - ya, xc - xa, yb - ya, &positive, &negative);
  g.exchanged |= sign_bits(negative) << first;
  i32x8 keep = (positive & splat8(c.keep_positive ? -1 : 0)) | (negative & splat8(c.keep_negative ? -1 : 0));
  if (!(sign_bits(keep) & lanes)) return;
  const i32x8 low_x = minimum(xa, minimum(xb, xc)), high_x = maximum(xa, maximum(xb, xc));
  const i32x8 low_y = minimum(ya, minimum(yb, yc)), high_y = maximum(ya, maximum(yb, yc));
  const i32x8 first_x = (low_x + splat8(c.to_first)) >> c.sample_shift, last_x = (high_x + splat8(c.to_last)) >> c.sample_shift;
  const i32x8 first_y = (low_y + splat8(c.to_first)) >> c.sample_shift, last_y = (high_y + splat8(c.to_last)) >> c.sample_shift;
  keep &= (first_x <= last_x) & (first_y <= last_y);
  const i32x8 px0 = maximum(first_x >> c.sample_log2, splat8(c.x0_px)), px1 = minimum(last_x >> c.sample_log2, splat8(c.x1_px));
  const i32x8 py0 = maximum(first_y >> c.sample_log2, splat8(c.y0_px)), py1 = minimum(last_y >> c.sample_log2, splat8(c.y1_px));
  keep &= (px0 <= px1) & (py0 <= py1);
  if (c.points) {
    const i32x8 few = (last_x - first_x <= splat8(1)) & (last_y - first_y <= splat8(1)) & keep;
    if (sign_bits(few)) {
      // Edges at the first sample point, wound so that the area is positive; less than 768 subpixels across: 32 bits do.
      const i32x8 at_x = first_x * 256 + 128, at_y = first_y * 256 + 128;
      const i32x8 x[3] = {xa - at_x, select(negative, xc, xb) - at_x, select(negative, xb, xc) - at_x};
      const i32x8 y[3] = {ya - at_y, select(negative, yc, yb) - at_y, select(negative, yb, yc) - at_y};
      u32x8 outside[4] = {};
      for (int k = 0; k < 3; k++) {
        const int n = k == 2 ? 0 : k + 1;
        const i32x8 dx = x[n] - x[k], dy = y[n] - y[k];
        const i32x8 top_left = (dy < 0) | ((dy == 0) & (dx > 0));
        // Unsigned: lanes with more points may wrap, and are not used.
        const u32x8 e = (u32x8)x[k] * (u32x8)y[n] - (u32x8)x[n] * (u32x8)y[k] + (u32x8)~top_left;
        const u32x8 right = e - ((u32x8)dy << 8), down = (u32x8)dx << 8;
        outside[0] |= e;
        outside[1] |= right;
        outside[2] |= e + down;
        outside[3] |= right + down;
      }
      keep &= ~(few & ((i32x8)(outside[0] & outside[1] & outside[2] & outside[3]) >> 31));
    }
  }
  g.visible |= (sign_bits(keep) & lanes) << first;
  const i32x8 bx0 = (px0 - splat8(c.origin_x_px)) >> c.bin_shift_x, bx1 = (px1 - splat8(c.origin_x_px)) >> c.bin_shift_x;
  const i32x8 by0 = (py0 - splat8(c.origin_y_px)) >> c.bin_shift_y, by1 = (py1 - splat8(c.origin_y_px)) >> c.bin_shift_y;
  g.one_bin |= sign_bits((bx0 == bx1) & (by0 == by1)) << first;
  store(g.bin + first, by0 * splat8(c.columns) + bx0);
  store(g.box[0] + first, bx0);
  store(g.box[1] + first, bx1);
  store(g.box[2] + first, by0);
  store(g.box[3] + first, by1);
}

/// The same for all sixteen lanes by AVX-512. Slots come from a batch (`slot[k]`: at least 16 bytes) or are indices, three a triangle,
/// less `first_index`; they are left in the group. `lanes`: those that are meant, from bit 0 on.
void cull_batch_wide(const CullSetup& c, const PostVertex* post, const uint8_t* const slot[3], uint32_t lanes, TriangleGroup& g);
void cull_range_wide(const CullSetup& c, const PostVertex* post, const uint8_t* triples, uint32_t first_index, uint32_t lanes,
                     TriangleGroup& g);

}  // namespace tilegpu::geometry
