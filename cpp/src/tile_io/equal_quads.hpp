// tile_io/equal_quads.hpp -- samples of a quad are kept once while all are equal.
// In: tile memory and its bytes. Out: the same, with samples once or all.
// In tile memory, behind the planes, lies a byte for each block; bit q set: in every colour plane the four pixels of quad q have
// equal samples, and only those of sample 0 are there. Loads by clear set the bits, a write to some of a quad's samples expands it
// first, a write to all keeps (or sets) the bit. Load, resolve and store know the bits; who else reads samples calls expand_quads.
// Depth and stencil planes are not concerned. Source: docs/decisions.md, 6.
#pragma once

#include <cassert>
#include <cstring>

#include "base/intrinsics.hpp"
#include "tile_io/block_rows.hpp"
#include "tile_io/tile_io.hpp"

namespace tilegpu::tile_io {

/// The bytes; null: every sample is always there.
inline uint8_t* equal_quads(const HostTile& tile, uint8_t* memory) { return tile.equal_quads_B ? memory + tile.equal_quads_B : nullptr; }

/// Copies sample 0 of one quad to the other samples, in all colour planes.
inline void expand_quad(const HostTile& tile, uint32_t block, uint32_t quad, uint8_t* memory) {
  assert(tile.samples > 1 && quad < 4);
  for (const TilePlane& plane : tile.color) {
    if (!plane.words) continue;
    uint8_t* first = memory + plane.offset_B + size_t{block} * plane.block_B + quad * 16;
    const size_t sample_B = size_t{plane.words} * kWordPlane_B;
    for (uint32_t w = 0; w < plane.words; ++w, first += kWordPlane_B) {
      const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(first));
      for (uint32_t s = 1; s < tile.samples; ++s) _mm_store_si128(reinterpret_cast<__m128i*>(first + s * sample_B), value);
    }
  }
}

/// Every sample of the block is there afterwards.
inline void expand_block(const HostTile& tile, uint32_t block, uint8_t* memory) {
  assert(tile.samples > 1);
  uint8_t& equal = memory[tile.equal_quads_B + block];
  for (uint32_t q = 0; q < 4; ++q)
    if (equal >> q & 1) expand_quad(tile, block, q, memory);
  equal = 0;
}

/// Every sample of the tile is there afterwards.
void expand_quads(const HostTile& tile, uint8_t* memory);
/// The same for blocks that are neither wholly equal nor wholly expanded: afterwards a byte is 0 or 0xf.
void settle_quads(const HostTile& tile, uint8_t* memory);

}  // namespace tilegpu::tile_io
