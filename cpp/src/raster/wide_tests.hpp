// raster/wide_tests.hpp -- stage: tile phase, one sample, AVX-512: coverage, depth test and numbers of a medium triangle of a batch in one
// go. In: a lane of a TriangleBatch, the tile's planes. Out: depth, numbers and bounds written; counts of pixels.
//
// For draws that go to the visibility buffer, with the common depth tests. Operation by operation what BatchEdges and the functions of
// depth_stencil.cpp do, sixteen pixels at a time. (Small
// triangles are not faster so: most touch one or two quads.)
#pragma once

#include "raster/setup_batch.hpp"

namespace tilegpu::raster {

/// Where a bin's blocks are.
struct BinPlace {
  int32_t origin_x_px, origin_y_px;
  uint32_t blocks_per_row;
  PixelRect rect;
};
struct PixelCounts {
  uint32_t covered, passed;
};

/// A triangle of TriangleBatch::medium.
using WideBlocks = PixelCounts (*)(const TestState&, const TriangleBatch&, uint32_t lane, uint32_t id, const BinPlace&);
/// Null: there is none for these tests.
WideBlocks wide_blocks(const TestState& state);

/// Several samples: the blocks of a triangle of TriangleBatch::medium that have a covered one, at most kMediumBlocks.
struct alignas(64) CoveredBlock {
  alignas(32) uint16_t masks[kMaxSamples];  // bit: pixel in tile order; written as whole vectors, as they are read
  int32_t x, y;                             // of the block in the bin
};
inline constexpr uint32_t kMediumBlocks = 25;
static_assert((detail::kSmallTriangle / 256 / 4 + 1) * (detail::kSmallTriangle / 256 / 4 + 1) == kMediumBlocks);
uint32_t cover_samples_wide(const TriangleBatch& batch, uint32_t lane, uint32_t samples, const PixelRect& rect, CoveredBlock* out);

}  // namespace tilegpu::raster
