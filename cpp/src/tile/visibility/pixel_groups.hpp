// tile/visibility/pixel_groups.hpp -- stage: tile phase, flush of the visibility buffer, AVX-512. In: the numbers or lists of blocks in
// which several primitives are seen. Out: groups of up to four pixels of one primitive, from anywhere in the bin. With several samples a
// pixel is in a group of each primitive that has some of them, and brings a mask of these.
//
// Where triangles are small a quad of neighbours has one or two pixels of its primitive, and half of the lanes only help to find
// derivatives. Pipelines whose lanes can find these alone (shader/lower/pixel_slices.hpp) are shaded by groups instead: a counting sort by
// number. Compare: Fatahalian et al., "Reducing Shading on GPUs using Quad-Fragment Merging" (2010), which merges quads and changes the
// picture; this does not.
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// How pixels of `blocks` and `listed` are to be shaded: as groups if all the bin's draws can. Pipelines that could, but have no code for
/// it yet, learn that they are wanted.
bool wants_groups(const TileContext& t, const Visibility& v);
/// Sorts their pixels into groups, marks their primitives in Visibility::seen, and clears their numbers.
void make_groups(const TileContext& t, Visibility& v, BlockLists& lists, stats::FragmentCounters& counters);
/// Shades groups [first, end), of the draw that is bound.
void shade_groups(const TileContext& t, Visibility& v, Packets& p, stats::FragmentCounters& counters, uint32_t first, uint32_t end);

}  // namespace tilegpu::TILEGPU_TILE
