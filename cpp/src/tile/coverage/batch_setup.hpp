// tile/coverage/batch_setup.hpp -- stage: tile phase, setup of eight triangles at once, a lane each. In: eight records. Out: for the
// small ones everything that coverage needs, for all the depth plane; or, for those that are shaded, their PrimitiveSetup.
//
// The arithmetic is that of primitive_setup.hpp, operation by operation, so that both give the same bits: differences of
// coordinates fit 25 bits, so that the area is exact in double precision and is rounded to float once, as from 64-bit integers.
#pragma once

#include "records/primitive_setup.hpp"
#include "shader_abi/abi.hpp"
#include "tile/coverage/coverage.hpp"

namespace tilegpu::tile {

using records::PrimitiveDepth;

inline constexpr uint32_t kBatch = 8;

struct alignas(32) TriangleBatch {
  uint32_t outside = 0;             // bit: no sample point of the rectangle in the bounding box
  uint32_t small = 0;               // bit: fits a window of 4x4 pixels from an even pixel on (one sample only)
  uint32_t medium = 0;              // bit: not small, below `block_limit`; the window is whole blocks from a multiple of 4 on
  uint32_t cut = 0;                 // bit: the rectangle cuts the window
  alignas(32) int32_t window_x[8];  // relative to the bin
  int32_t window_y[8];
  int32_t end_x[8], end_y[8];    // of the bounding box, cut with the rectangle
  int32_t at[3][8], pair[3][8];  // edges at the window's first sample point, in subpixels; steps as 16-bit (-dy, dx)
  int32_t from_x[8], from_y[8];  // of squares: the bounding box, cut with the rectangle, begins there; they have no edges
  float z0[8], zx[8], zy[8], anchor_x[8], anchor_y[8], lo[8], hi[8];
};

inline PrimitiveDepth batch_depth(const TriangleBatch& b, uint32_t lane, uint32_t id, uint32_t face) {
  return {b.z0[lane], b.zx[lane], b.zy[lane], b.anchor_x[lane], b.anchor_y[lane], b.lo[lane], b.hi[lane], id, face};
}

/// `count` of the eight records are meant; the others repeat one of them. `block_limit`: extent in subpixels, kSmallTriangle at most.
void prepare_batch(const records::TriangleRecord* const* records, uint32_t count, int32_t origin_x_px, int32_t origin_y_px,
                   const PixelRect& rect, uint32_t samples, int32_t block_limit, float range_lo, float range_hi, TriangleBatch& out);

/// The same of squares of points (records/coverage_rule.hpp), one sample: their boxes are what they cover.
void prepare_squares(const records::TriangleRecord* const* records, uint32_t count, int32_t origin_x_px, int32_t origin_y_px,
                     const PixelRect& rect, int32_t block_limit, float range_lo, float range_hi, TriangleBatch& out);

/// The edges of one triangle of a batch, ready for 4x4 pixels at a time.
struct BatchEdges {
  __m256i pair[3], at[3];

  BatchEdges(const TriangleBatch& b, uint32_t lane) {
    for (int k = 0; k < 3; k++) {
      pair[k] = _mm256_set1_epi32(b.pair[k][lane]);
      at[k] = _mm256_set1_epi32(b.at[k][lane]);
    }
  }
  /// Pixels whose sample point at (x, y) subpixels from the window's first one, and on from there, is inside. x, y >= 0.
  uint32_t covered(int32_t x, int32_t y) const {
    assert(x >= 0 && y >= 0 && std::max(x, y) + 768 <= INT16_MAX);
    // Pairs (x, y) of 16 bits for a multiply-add: dx * y - dy * x.
    const __m256i upper = _mm256_setr_epi16(0, 0, 256, 0, 0, 256, 256, 256, 512, 0, 768, 0, 512, 256, 768, 256);
    const __m256i lower = _mm256_setr_epi16(0, 512, 256, 512, 0, 768, 256, 768, 512, 512, 768, 512, 512, 768, 768, 768);
    const __m256i from = _mm256_set1_epi32(x | y << 16);
    const __m256i p0 = _mm256_add_epi16(upper, from), p1 = _mm256_add_epi16(lower, from);
    i32x8 out0{}, out1{};
    for (int k = 0; k < 3; k++) {
      out0 |= (i32x8)_mm256_add_epi32(_mm256_madd_epi16(p0, pair[k]), at[k]);
      out1 |= (i32x8)_mm256_add_epi32(_mm256_madd_epi16(p1, pair[k]), at[k]);
    }
    return ~(sign_bits(out0) | sign_bits(out1) << 8) & 0xffff;
  }
};

/// The same for several samples, block by block of the window.
struct SampleEdges {
  i32x4 corner, step_x, step_y;  // lanes 0 to 2: each edge at a block's corner, and to the next block
  i32x4 most, least;             // how far its samples' values reach from there; lane 3 of `least`: 0
  i32x8 pixels[3][2];            // detail::kPairX, kPairY
  int32_t offsets[3][kMaxSamples];

  SampleEdges(const TriangleBatch& b, uint32_t lane, uint32_t samples) {
    i32x4 ux{}, uy{};
    corner = i32x4{};
    const vk::SampleLocation* at = vk::sample_locations(samples);
    for (int k = 0; k < 3; k++) {
      const int32_t pair = b.pair[k][lane];
      ux[k] = static_cast<int16_t>(pair);
      uy[k] = pair >> 16;
      corner[k] = b.at[k][lane];
      // Pairs (x, y) of 16 bits for a multiply-add.
      const __m256i edge = _mm256_set1_epi32(pair);
      const __m256i left = _mm256_setr_epi16(0, 0, 256, 0, 0, 256, 256, 256, 0, 512, 256, 512, 0, 768, 256, 768);
      pixels[k][0] = (i32x8)_mm256_madd_epi16(left, edge);
      pixels[k][1] = pixels[k][0] + ux[k] * 512;
      for (uint32_t s = 0; s < samples; s++) offsets[k][s] = (ux[k] * at[s].x + uy[k] * at[s].y) * 16;
    }
    step_x = ux * 1024;
    step_y = uy * 1024;
    constexpr int32_t kReach = 3 * 256 + 15 * 16;  // sample points lie on a grid of 1/16
    const i32x4 right = (i32x4)_mm_max_epi32((__m128i)ux, _mm_setzero_si128()),
                down = (i32x4)_mm_max_epi32((__m128i)uy, _mm_setzero_si128());
    most = (right + down) * kReach;
    least = (ux + uy - right - down) * kReach;
  }
  /// Masks of the block; any bit.
  uint32_t cover(i32x4 at, uint32_t samples, uint32_t allowed, uint16_t* masks) const {
    i32x8 base[3][2];
    const int32_t* used[3];
    uint32_t count = 0;
    for (uint32_t cuts = sign_bits(at + least) & 7; cuts; cuts &= cuts - 1) {
      const int k = std::countr_zero(cuts);
      base[count][0] = pixels[k][0] + at[k];
      base[count][1] = pixels[k][1] + at[k];
      used[count++] = offsets[k];
    }
    return detail::cover_samples(count, base, used, samples, allowed, masks);
  }
};

/// Eight PrimitiveSetups, as set_up_primitive makes them; chunks[i] is the chunk of records[i]; `corners`: bit i, takes_corners of its
/// draw.
void set_up_primitives(const records::TriangleRecord* const* records, const records::Chunk* const* chunks, const uint32_t* orders,
                       float range_lo, float range_hi, uint32_t corners, shader::PrimitiveSetup* const* out);

}  // namespace tilegpu::tile
