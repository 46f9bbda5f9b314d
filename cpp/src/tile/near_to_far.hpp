// tile/near_to_far.hpp -- stage: tile phase, one sample. Large triangles of a bin are drawn near ones first, whatever the order of the
// draws, so that what is hidden is rejected by blocks and windows before anything of it is tested.
//
// In: entries of a bin, from one on. Out: the longest run of them that may change places, drawn; or nothing, where this is not worth it.
// They may change places where every draw of the run only writes depth (LESS or LESS_OR_EQUAL) and its number, is tested alike and counts
// nothing. Of equal depths the earlier primitive wins with LESS, the later with LESS_OR_EQUAL: its number, given in API order before the
// first is drawn, says which (TestState::any_order). The bits are those of API order. Sources: docs/decisions.md, 8; Greene, Kass and
// Miller, "Hierarchical Z-buffer visibility" (near objects first).
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Whether the bin may hold such a run; before its first draw and after a clear.
bool begin_any_order(const TileContext& t, const BlockCovers& covers, const BinFilter& filter);
/// From entry `at`, which is there, of segment `segment` on (both move); `end`: segments of the bin. False: nothing was drawn. Where
/// `again` becomes false the rest of the bin is not worth asking for.
bool draw_near_to_far(Worker& w, uint32_t& segment, uint32_t& at, uint32_t end, bool& again);

}  // namespace tilegpu::TILEGPU_TILE
