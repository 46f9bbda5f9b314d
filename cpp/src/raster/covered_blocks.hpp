// raster/covered_blocks.hpp -- stage: tile phase. In: the small and medium triangles of a batch. Out: every 4x4 block where one of them
// covers a sample, in order of the triangles, in one list: what tests them runs through one loop, whose end is foretold, instead of
// two short ones for each triangle.
#pragma once

#include "raster/setup_batch.hpp"

namespace tilegpu::raster {

/// Blocks of a triangle of TriangleBatch::medium at most.
inline constexpr uint32_t kMediumBlocks = 25;
static_assert((detail::kSmallTriangle / 256 / 4 + 1) * (detail::kSmallTriangle / 256 / 4 + 1) == kMediumBlocks);

struct CoveredBlocks {
  static constexpr uint32_t kMost = kBatch * kMediumBlocks;
  uint32_t count = 0;
  // Of each: its triangle in the batch; its place in the bin, in blocks.
  uint8_t lane[kMost + 32], x[kMost + 32], y[kMost + 32];  // 32 are written at once
  /// Bit: pixel in tile order; one word for each sample. Samples beyond the pass's are 0, up to four; with one sample the rest is not set.
  alignas(64) uint16_t masks[kMost + 1][kMaxSamples];
  /// cover_blocks_wide: from the window's corner of `at` to the block's, a pair (x, y) of 16 bits in subpixels.
  alignas(64) uint32_t steps[kMost + 32];
};

/// Where a bin's blocks are, and what may be drawn of them.
struct BinPlace {
  static constexpr uint32_t kMostBlocks = 32;  // side by side
  uint32_t blocks_per_row = 0;
  /// Pixel centres of each column and row of blocks in the framebuffer, in tile order.
  alignas(64) float x[kMostBlocks][16], y[kMostBlocks][16];
  /// The pixels of each column and row that are inside of a rectangle.
  uint16_t columns[kMostBlocks], rows[kMostBlocks];

  void place(int32_t origin_x_px, int32_t origin_y_px, uint32_t blocks_per_row);
  void cut(const PixelRect& rect);
};

/// For `lanes` of the batch, none of them outside, large or (without AVX-512) small. Several samples, or AVX-512.
void cover_blocks(const TriangleBatch& batch, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out);
void cover_blocks_wide(const TriangleBatch& batch, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out);

}  // namespace tilegpu::raster
