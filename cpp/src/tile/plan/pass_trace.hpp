// tile/plan/pass_trace.hpp -- what is kept of a pass while it is traced. In: what the traced tile phase notes (worker/fragment_trace.hpp).
// Out: maps, sums for each draw, the histories of chosen pixels (tilegpu/trace.hpp).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tilegpu/trace.hpp"

namespace tilegpu::tile::trace {

struct Id {
  uint32_t draw = ~0u, primitive = 0, instance = 0;  // draw: index in the execution's draws; ~0: nobody
  bool operator==(const Id&) const = default;
};

/// A shaded fragment of which something is left in a pixel.
struct Contributor {
  Id id;
  uint16_t samples[8];  // by colour attachment
};

/// Of the pass.
struct State {
  PassTrace result;
  bool maps = false;
  bool has_tiles = true;                              // of the GPU that is modelled
  bool texels = false;                                // lines of textures are noted
  bool keeps_bins = false;                            // the pass is split: bins come again
  uint32_t width_px = 0, height_px = 0, columns = 0;  // of bins
  int32_t origin_x_px = 0, origin_y_px = 0;
  int32_t map_x_px = 0, map_y_px = 0;  // of a map's first pixel: a window of a larger framebuffer has maps of what it holds
  std::vector<uint32_t> draw_number;   // by index: in the order of commands
  std::vector<std::vector<std::vector<Contributor>>> contributors;  // [bin][pixel]
};

/// What hid fragments of a draw: for each pair how many.
struct Cover {
  uint32_t draw;
  Id by;
  bool operator==(const Cover&) const = default;
};
struct CoverHash {
  size_t operator()(const Cover& c) const {
    uint64_t h = c.draw * 0x9e3779b97f4a7c15ull;
    for (uint32_t v : {c.by.draw, c.by.primitive, c.by.instance}) h = (h ^ v) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
  }
};

struct Covers : std::unordered_map<Cover, uint64_t, CoverHash> {};

}  // namespace tilegpu::tile::trace
