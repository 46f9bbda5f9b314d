// tile/shading/numbers.hpp -- the plane of numbers, asked by quads. In: the visibility buffer. Out: which samples a primitive has there.
#pragma once

#include <cstdint>

namespace tilegpu::tile {

/// Samples of a quad whose visible primitive is `id`; whose visible primitive came after the first `count`. `ids`: the plane of numbers.
uint64_t owned_samples(const uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t id);
uint64_t overdrawn_samples(const uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t count);

}  // namespace tilegpu::tile
