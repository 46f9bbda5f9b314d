// tile/draw_entries.hpp -- stage: tile phase, the draws of a bin in order. In: entries of the bin's segments. Out: each covered, tested,
// and in the queue, in the visibility buffer, or nowhere, as its plan says (plan/plan.hpp).
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Makes a draw the current one: its tests, where its fragments go.
void select_draw(Worker& w, uint32_t draw);
/// Up to kBatch records that have their numbers in the visibility buffer already; w.draw.test is that of any order (near_to_far.hpp).
void draw_any_order(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                    uint32_t count);
/// Draws entries [from, to) of a segment. Pre-pass: stops at the first that it cannot hold. Returns where it stopped.
uint32_t draw_entries(Worker& w, const records::BinSegment& segment, uint32_t from, uint32_t to);

}  // namespace tilegpu::TILEGPU_TILE
