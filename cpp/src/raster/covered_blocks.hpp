// raster/covered_blocks.hpp -- stage: tile phase. In: the small and medium triangles of a batch. Out: every 4x4 block where one of them
// covers a sample, in order of the triangles, in one list: what tests them runs through one loop, whose end is foretold, instead of
// two short ones for each triangle.
#pragma once

#include "raster/setup_batch.hpp"

namespace tilegpu::raster {

struct CoveredBlocks {
  static constexpr uint32_t kWindow = detail::kWideTriangle / 256 / 4 + 1;  // blocks of a window side by side
  static constexpr uint32_t kMost = kBatch * kWindow * kWindow;
  uint32_t count = 0;
  uint32_t words;  // of a block: samples, at least 4 if there are several
  // Of each: its triangle in the batch; its place in the bin, in blocks.
  uint8_t lane[kMost + 32], x[kMost + 32], y[kMost + 32];  // 32 are written at once
  /// Bit: pixel in tile order; one word for each sample. Samples beyond the pass's are 0.
  alignas(64) uint16_t masks[(kMost + 1) * kMaxSamples];
  const uint16_t* masks_of(uint32_t i) const { return masks + size_t{i} * words; }
  uint16_t* masks_of(uint32_t i) { return masks + size_t{i} * words; }
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

/// For `lanes` of the batch that are of TriangleBatch::medium. Several samples.
void cover_blocks(const TriangleBatch& batch, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out);
/// AVX-512; for lanes of TriangleBatch::wide and small ones.
void cover_blocks_wide(const TriangleBatch& batch, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out);

}  // namespace tilegpu::raster
