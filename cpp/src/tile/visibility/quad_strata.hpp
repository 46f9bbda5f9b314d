// tile/visibility/quad_strata.hpp -- stage: tile phase, flush of the visibility buffer. In: numbers or lists of touched blocks. Out: the
// quads to shade, in strata: a place (quad of the tile) occurs once in each but the last, so that a packet can be cut out anywhere.
//
// The first primitive found at a place goes to the first stratum, the next one to the second, and so on. Where all four places of a block
// have one, those are put apart, four together: their packets are whole blocks in the tile, which are written as one.
#pragma once

#include "tile/worker/visible.hpp"

namespace tilegpu::tile {

/// The quads of a block from its numbers (16 for each sample, not all equal).
void gather_numbers(const uint32_t* ids, uint32_t samples, uint32_t block, QuadStrata& out);
/// One sample, AVX-512: also whole blocks, and nothing. The same quads in the same order.
void gather_numbers_wide(const uint32_t* ids, uint32_t block, QuadStrata& out);
/// From a list of primitives and their samples.
void gather_entries(const BlockEntry* list, uint32_t count, uint32_t samples, uint32_t block, QuadStrata& out);
void gather_entries_wide(const BlockEntry* list, uint32_t count, uint32_t samples, uint32_t block, QuadStrata& out);

}  // namespace tilegpu::tile
