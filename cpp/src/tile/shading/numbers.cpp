// tile/shading/numbers.cpp -- see numbers.hpp.
#include "tile/shading/numbers.hpp"

#include <cassert>

#include "base/simd.hpp"

namespace tilegpu::tile {

uint64_t owned_samples(const uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t id) {
  if (!id) return 0;
  ids += size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  uint64_t owned = 0;
  for (uint32_t s = 0; s < samples; s++, ids += 16)
    if (live >> 4 * s & 0xf) owned |= static_cast<uint64_t>(sign_bits(load4(ids) == static_cast<int32_t>(id))) << 4 * s;
  return owned;
}

uint64_t overdrawn_samples(const uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t count) {
  assert(ids && (live >> 4 * (samples - 1) >> 4) == 0);
  ids += size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  uint64_t later = 0;
  for (uint32_t s = 0; s < samples; s++, ids += 16)
    if (live >> 4 * s & 0xf) later |= static_cast<uint64_t>(sign_bits(load4(ids) > static_cast<int32_t>(count))) << 4 * s;
  return later;
}

}  // namespace tilegpu::tile
