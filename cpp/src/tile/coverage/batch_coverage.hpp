// tile/coverage/batch_coverage.hpp -- stage: tile phase, several samples. In: the medium triangles of a batch. Out: every 4x4 block where
// one of them covers a sample, in order of the triangles, in one list: what tests them runs through one loop, whose end is foretold,
// instead of two short ones for each triangle. One sample: batch_tests.hpp, and for triangles that go one by one a list of each.
#pragma once

#include <cassert>
#include <cstring>

#include "tile/coverage/batch_setup.hpp"

namespace tilegpu::tile {

/// The pixels of a block in tile order, pairs (x, y) of 16 bits in subpixels.
alignas(64) inline constexpr int16_t kBlockPixels[32] = {0, 0,   256, 0,   0, 256, 256, 256, 512, 0,   768, 0,   512, 256, 768, 256,
                                                         0, 512, 256, 512, 0, 768, 256, 768, 512, 512, 768, 512, 512, 768, 768, 768};

struct CoveredBlocks {
  static constexpr uint32_t kWindow = detail::kSmallTriangle / 256 / 4 + 1;  // blocks of a window side by side
  static constexpr uint32_t kMost = kBatch * kWindow * kWindow;
  uint32_t count = 0;
  uint32_t words;  // of a block: samples, at least 4
  // Of each: its triangle in the batch; its place in the bin, in blocks.
  uint8_t lane[kMost + 32], x[kMost + 32], y[kMost + 32];  // 32 are written at once
  /// Bit: pixel in tile order; one word for each sample. Samples beyond the pass's are 0.
  alignas(64) uint16_t masks[(kMost + 1) * kMaxSamples];
  const uint16_t* masks_of(uint32_t i) const { return masks + size_t{i} * words; }
  uint16_t* masks_of(uint32_t i) { return masks + size_t{i} * words; }
  void add(uint32_t of, int32_t block_x, int32_t block_y, const uint16_t* samples) {
    assert(count < kMost && of < kBatch);
    lane[count] = static_cast<uint8_t>(of);
    x[count] = static_cast<uint8_t>(block_x);
    y[count] = static_cast<uint8_t>(block_y);
    std::memcpy(masks_of(count++), samples, size_t{words} * 2);
  }
  /// cover_blocks_wide: from the window's corner of `at` to the block's, a pair (x, y) of 16 bits in subpixels.
  alignas(64) uint32_t steps[kMost + 32];
};

/// Where a bin's blocks are, and what may be drawn of them.
struct BinPlace {
  static constexpr uint32_t kMostBlocks = 32;  // side by side
  uint32_t blocks_per_row = 0;
  /// Pixel centres of each column and row of blocks in the framebuffer, in tile order.
  alignas(64) float x[kMostBlocks + 16][16], y[kMostBlocks + 16][16];  // sixteen are read at once
  /// The pixels of each column and row that are inside of a rectangle.
  uint16_t columns[kMostBlocks], rows[kMostBlocks];

  void place(int32_t origin_x_px, int32_t origin_y_px, uint32_t blocks_per_row);
  void cut(const PixelRect& rect);
};

/// For `lanes` of the batch that are of TriangleBatch::medium.
void cover_blocks(const TriangleBatch& batch, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out);
/// AVX-512.
void cover_blocks_wide(const TriangleBatch& batch, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out);

/// One sample: the blocks of one triangle that have covered pixels, row by row.
struct CoveredOfOne {
  uint32_t count = 0;
  uint8_t x[CoveredBlocks::kWindow * CoveredBlocks::kWindow + 1], y[CoveredBlocks::kWindow * CoveredBlocks::kWindow + 1];
  uint16_t masks[CoveredBlocks::kWindow * CoveredBlocks::kWindow + 1];  // bit: pixel in tile order
};
/// `lane`: of TriangleBatch::medium. AVX-512.
void cover_one_wide(const TriangleBatch& batch, uint32_t lane, const BinPlace& bin, CoveredOfOne& out);

}  // namespace tilegpu::tile
