// tile/pixel_groups.hpp -- stage: tile phase, flush of the visibility buffer, AVX-512. In: the numbers or lists of blocks in which several
// primitives are seen. Out: groups of up to four pixels of one primitive, from anywhere in the bin. With several samples a pixel is in a
// group of each primitive that has some of them, and brings a mask of these.
//
// Where triangles are small a quad of neighbours has one or two pixels of its primitive, and half of the lanes only help to find
// derivatives. Pipelines whose lanes can find these alone (shader/lower/pixel_slices.hpp) are shaded by groups instead: a counting sort by
// number. Compare: Fatahalian et al., "Reducing Shading on GPUs using Quad-Fragment Merging" (2010), which merges quads and changes the
// picture; this does not.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.hpp"
#include "tile/pixel_colors.hpp"
#include "tile/sample_lists.hpp"

namespace tilegpu::tile {
struct Worker;
}

namespace tilegpu::tile {

inline constexpr uint32_t kGroupPixels = 4;

struct PixelGroups {
  Arena<uint32_t> blocks;   // with several primitives, or one and background; what is seen is in the buffer of numbers
  Arena<uint32_t> listed;   // the same, of those with lists
  Arena<uint64_t> of;       // of each group: number, and how many pixels << 32
  Arena<uint32_t> pixels;   // four for each group: tile pixel, its samples << 16; and room for a packet more
  Arena<BlockEntry> found;  // several samples: what is seen in `blocks`, as in lists; `plane` is the block
  // One sample: number, tile pixel << 32; several, of each entry: number, how many pixels << 32, or which (pixel_colors.hpp).
  Arena<uint64_t> loose;
  Arena<uint32_t> words;       // as `pixels`
  Arena<uint32_t> entries;     // several samples: where those of the lists of `listed` are; and room for 16 more
  std::vector<uint32_t> next;  // by number: how many loose pixels, then where the next one goes
  Arena<uint64_t> sorted_of;
  Arena<uint32_t> sorted_pixels;
  PixelColors colors;

  void clear() { blocks.clear(), listed.clear(), of.clear(), pixels.clear(), found.clear(), loose.clear(), entries.clear(); }
};

/// How pixels of `blocks` and `listed` are to be shaded: as groups if all the bin's draws can. Pipelines that could, but have no code for
/// it yet, learn that they are wanted.
bool wants_groups(const Worker& w);
/// Sorts their pixels into groups, marks their primitives in w.visibility.seen, and clears their numbers.
void make_groups(Worker& w);
/// Shades groups [first, end), of the draw that is bound.
void shade_groups(Worker& w, uint32_t first, uint32_t end);

}  // namespace tilegpu::tile
