// tile/visibility/sample_lists.hpp -- stage: tile phase, several samples. What is seen of a 4x4 block as a short list: for each primitive
// its number, its depth plane and a mask of its samples, instead of a depth and a number for every sample.
//
// In: coverage of a primitive in a block. Out: what of it passes the depth test; the list brought up to date. Most tests are decided
// by bounds of the planes over the block; where two planes may cross, both are evaluated at the samples concerned, by the expression
// that all tests use, so that results are those of the plain buffers, bit for bit. Depth starts as the clear value; the plain
// buffers are written (expand) when a draw comes that lists don't serve, when a block's list is full, or when depth leaves the tile.
// Sources: docs/decisions.md, 6; Jouppi and Chang, "Z3: an economical hardware technique for antialiasing and transparency".
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Before the first draw of a bin. `background`: the depth word that the plane was not cleared to.
void begin_lists(const TileContext& t, uint32_t background, DepthBounds& bounds, BlockLists& lists);
/// Tests `covered` (not none) of a primitive of the draw that the lists are set to, and puts what passes into the list of a block that has
/// one.
SampleMasks insert(BlockLists& lists, const PrimitiveDepth& p, uint32_t plane, uint32_t block, int32_t x_px, int32_t y_px,
                   SampleMasks covered);
uint32_t count_samples(SampleMasks m);
/// What was done of the blocks of a batch, in pixels with any sample.
struct ListedBlocks {
  uint32_t covered, passed;
  uint32_t hidden;  // by the bound of their block: hierarchical Z
  uint32_t seen;    // bit: lane of the batch; they have the numbers from the first one on, in their order
};
/// What is done with blocks of a batch that have no list (any more): draws block i, of the triangle with this number. Whether anything of
/// it is seen.
struct UnlistedBlocks {
  bool (*draw)(void* context, const TriangleBatch& batch, const CoveredBlocks& blocks, uint32_t i, uint32_t number) = nullptr;
  void* context = nullptr;
};
/// `insert` for the blocks of a batch.
ListedBlocks insert_blocks(const TileContext& t, BlockLists& lists, const TriangleBatch& batch, const CoveredBlocks& blocks,
                           uint32_t first_number, const UnlistedBlocks& unlisted);
/// Writes one block's depth and numbers to the plain buffers.
void expand_list(const TileContext& t, BlockLists& lists, uint32_t block);
/// Ends the lists of the bin: all blocks are in the plain buffers.
void expand_lists(const TileContext& t, BlockLists& lists);

}  // namespace tilegpu::TILEGPU_TILE
