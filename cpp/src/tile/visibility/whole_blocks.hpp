// tile/visibility/whole_blocks.hpp -- stage: tile phase, one sample. A 4x4 block that one primitive covers whole, in front of all that was
// there, is kept as that primitive's number instead of 16 depths and 16 numbers: up to eight blocks side by side by a few instructions.
//
// In: wholly covered blocks, in a row or in a window of four by four. Out: which of them are hidden, which are held by the primitive now;
// the others take the plain tests. Near and far bounds of a block's depth words decide, and they are exact: depth is monotone in x and in
// y, rounding included, so that its extremes over a block are its words at two corners. A held block's depths and numbers are written
// (expanded) when anything else comes to it. The results are those of the plain buffers, bit for bit. Sources: docs/decisions.md, 6;
// Greene, Kass and Miller, "Hierarchical Z-buffer visibility".
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Before the first draw of a bin. `known`: every depth word is `background`.
void begin_covers(const TileContext& t, bool known, uint32_t background, DepthBounds& bounds, BlockCovers& covers);
/// Up to eight blocks side by side (bit: block).
struct CoverSides {
  uint32_t hidden, held;
};
/// Tests `present` blocks, from (block_x, block_y) of the bin on, that the primitive covers whole; those that it wins are held by it from
/// now on: it has a number. `test`: with both bounds.
CoverSides hold_blocks(const TileContext& t, const TestState& test, BlockCovers& covers, const PrimitiveDepth& p, int32_t block_x,
                       int32_t block_y, uint32_t present);

/// The same for a window of 16x16 pixels (bit: row-major block in it; in `hidden` of partly covered ones too), for one sample and any
/// test with bounds; nothing is held where `test` has no near ones. A bound of the window's own comes first.
CoverSides cover_window(const TileContext& t, const TestState& test, BlockCovers& covers, const PrimitiveDepth& p, int32_t block_x,
                        int32_t block_y, uint32_t full, uint32_t part);
/// Bounds of the blocks that small and medium triangles of one sample wrote to, and that were written after shading, before a large one
/// asks them.
void find_bounds(const TileShape& shape, const TestState& test, DepthBounds& bounds, BlockCovers& covers);
inline void refresh_bounds(const TileShape& shape, const TestState& test, DepthBounds& bounds, BlockCovers& covers) {
  if (bounds.stale.any) find_bounds(shape, test, bounds, covers);
}

/// Writes a held block's depths and numbers to the plain buffers.
void expand_cover(const TileContext& t, BlockCovers& covers, uint32_t block);
/// The same for all that are held.
void expand_covers(const TileContext& t, BlockCovers& covers);
/// At a flush: the number of the primitive that holds the block, which it does no more; 0: none. Depth is written if it is still needed.
uint32_t release_cover(const TileContext& t, BlockCovers& covers, uint32_t block);

}  // namespace tilegpu::TILEGPU_TILE
