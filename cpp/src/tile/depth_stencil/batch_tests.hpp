// tile/depth_stencil/batch_tests.hpp -- stage: tile phase, one sample, AVX-512: coverage, depth test and numbers of small and medium
// triangles of a batch, in one go. In: a TriangleBatch, the tile's planes. Out: depth, numbers and bounds written; counts of pixels; which
// triangles are seen.
//
// Triangle by triangle: its edges reject 4x4 blocks sixteen at a time; those that are left are covered, tested and written, one after the
// other, from values that stay in registers. For draws that go to the visibility buffer, with the common depth tests. Operation by
// operation what the functions of coverage.hpp and depth_stencil.cpp do. Source: Abrash, "Rasterization on Larrabee".
#pragma once

#include "tile/coverage/batch_coverage.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"

namespace tilegpu::tile {

/// Blocks that a primitive holds (visibility/whole_blocks.hpp); they are expanded before they are tested.
struct HeldBlocks {
  const uint32_t* plane = nullptr;  // per block: not 0: held; null: none is
  void (*expand)(void* worker, uint32_t block) = nullptr;
  void* worker = nullptr;
};
struct TestedBlocks {
  uint32_t covered, passed;  // pixels
  uint32_t seen;             // bit: lane of the batch; they have the numbers from the first one on, in their order
};
/// For `lanes` of the batch that are medium or small.
using WideTriangles = TestedBlocks (*)(const TestState&, const TriangleBatch&, uint32_t lanes, uint32_t first_number, const BinPlace&,
                                       const HeldBlocks&);
/// Null: there is none for these tests.
WideTriangles wide_triangles(const TestState& state);

}  // namespace tilegpu::tile
