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

namespace tilegpu::tile {

/// Before the first draw of a bin. `known`: every depth word is `background`.
void begin_covers(Worker& w, bool known, uint32_t background);
/// Up to eight blocks side by side (bit: block).
struct CoverSides {
  uint32_t hidden, held;
};
/// Tests `present` blocks that the primitive covers whole; those that it wins are held by it from now on: it has a number.
CoverSides hold_blocks(Worker& w, const PrimitiveDepth& p, bool& listed, uint32_t first_block, int32_t x_px, int32_t y_px,
                       uint32_t present);

/// The same for a window of 16x16 pixels (bit: row-major block in it; in `hidden` of partly covered ones too), for one sample and any
/// test with bounds; nothing is held where `w.draw.takes_covers` is false. A bound of the window's own comes first.
CoverSides cover_window(Worker& w, const PrimitiveDepth& p, bool& listed, uint32_t first_block, int32_t x_px, int32_t y_px, uint32_t full,
                        uint32_t part);
/// One sample: bounds of the blocks that small and medium triangles wrote to, before a large one asks them.
void refresh_bounds(Worker& w);

/// Writes a held block's depths and numbers to the plain buffers.
void expand_cover(Worker& w, uint32_t block);
/// The same for all that are held.
void expand_covers(Worker& w);
/// At a flush: the number of the primitive that holds the block, which it does no more; 0: none. Depth is written if it is still needed.
uint32_t release_cover(Worker& w, uint32_t block);

}  // namespace tilegpu::tile
