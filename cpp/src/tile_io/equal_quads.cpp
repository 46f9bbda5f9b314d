// tile_io/equal_quads.cpp -- whole tiles of equal_quads.hpp: eight blocks' bytes at a time. In, out: tile memory.
#include "tile_io/equal_quads.hpp"

#include <cassert>

namespace tilegpu::tile_io {
namespace {

/// `whole`: expand blocks that are wholly equal, too.
void expand(const HostTile& tile, uint8_t* memory, bool whole) {
  const uint8_t* equal = equal_quads(tile, memory);
  if (!equal) return;
  const uint32_t blocks = (tile.bin_px / kBlock_px) * (tile.bin_px / kBlock_px);  // 64 or more
  assert(tile.samples > 1 && blocks >= 64);                                       // one sample has nothing to keep once
  for (uint32_t first = 0; first < blocks; first += 8) {
    uint64_t bytes;
    std::memcpy(&bytes, equal + first, 8);
    if (bytes == 0 || (!whole && bytes == 0x0f0f0f0f0f0f0f0full)) continue;
    for (uint32_t b = first; b < first + 8; ++b)
      if (equal[b] && (whole || equal[b] != 0xf)) expand_block(tile, b, memory);
  }
}

}  // namespace

void expand_quads(const HostTile& tile, uint8_t* memory) { expand(tile, memory, true); }
void settle_quads(const HostTile& tile, uint8_t* memory) { expand(tile, memory, false); }

}  // namespace tilegpu::tile_io
