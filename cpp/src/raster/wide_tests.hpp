// raster/wide_tests.hpp -- stage: tile phase, one sample, AVX-512: depth test and numbers of the covered blocks of a batch in one go. In: a
// TriangleBatch, its blocks, the tile's planes. Out: depth, numbers and bounds written; counts of pixels; which triangles are seen.
//
// For draws that go to the visibility buffer, with the common depth tests. Operation by operation what the functions of depth_stencil.cpp
// do, sixteen pixels at a time.
#pragma once

#include "raster/covered_blocks.hpp"

namespace tilegpu::raster {

struct TestedBlocks {
  uint32_t covered, passed;  // pixels
  uint32_t seen;             // bit: lane of the batch; they have the numbers from the first one on, in their order
};
using WideBlocks = TestedBlocks (*)(const TestState&, const TriangleBatch&, const CoveredBlocks&, uint32_t first_number, const BinPlace&);
/// Null: there is none for these tests.
WideBlocks wide_blocks(const TestState& state);

}  // namespace tilegpu::raster
