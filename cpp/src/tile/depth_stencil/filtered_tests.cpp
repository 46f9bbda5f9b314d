// tile/depth_stencil/filtered_tests.cpp -- see filtered_tests.hpp.
#include "tile/depth_stencil/filtered_tests.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "tile/depth_stencil/depth_plane.hpp"
#include "tile/depth_stencil/quad_tests.hpp"

namespace tilegpu::tile {

namespace {

// One sample each of four pixels, all of which certainly pass: written without a look at what was there.
void write_unread(const TestState& state, size_t word, i32x4 now, uint32_t id, uint32_t lanes) {
  const i32x4 mask = expand4(lanes);
  if (state.depth_write) _mm_maskstore_epi32(reinterpret_cast<int*>(state.depth + word), (__m128i)mask, (__m128i)now);
  if (state.ids) _mm_maskstore_epi32(reinterpret_cast<int*>(state.ids + word), (__m128i)mask, _mm_set1_epi32(static_cast<int32_t>(id)));
}

uint64_t quad(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) {
  assert(state.filter && state.unfiltered.quad && covered);
  hsr::TileFilter& filter = *state.filter;
  const uint32_t samples = state.samples;
  const size_t first = size_t{tile_pixel >> 4} * samples * 16 + (tile_pixel & 15);
  i32x4 now[16];
  uint64_t admitted = covered, sure = 0;
  for (uint32_t s = 0; s < samples; s++) {
    const uint32_t bits = covered >> 4 * s & 0xf;
    if (!bits) continue;
    now[s] = quad_depth_words(state, p, x_px, y_px, s);
    if (!state.filter_rejects) continue;
    const size_t word = first + 16 * s;
    uint32_t certain = 0;
    const uint32_t left = filter.admit(word, reinterpret_cast<const int32_t*>(&now[s]), bits, certain);
    if (certain) write_unread(state, word, now[s], p.id, certain);
    admitted &= ~(uint64_t{bits & ~left} << 4 * s);
    sure |= uint64_t{certain} << 4 * s;
  }
  uint64_t pass = sure;
  if (const uint64_t tested = admitted & ~sure) {
    const uint64_t passed = state.unfiltered.quad(state, p, tile_pixel, x_px, y_px, tested);
    if (state.filter_rejects) filter.count_failed(static_cast<uint32_t>(std::popcount(tested & ~passed)));
    pass |= passed;
  }
  if (state.ids && sure) state.dirty[tile_pixel >> 4] = 1;
  if (state.depth_write)
    for (uint32_t s = 0; s < samples; s++)
      if (const uint32_t bits = pass >> 4 * s & 0xf) filter.raise(first + 16 * s, reinterpret_cast<const int32_t*>(&now[s]), bits);
  return pass;
}

}  // namespace

void install_filter(TestState& state, hsr::TileFilter& filter) {
  assert(filter.on());
  state.filter = &filter;
  state.filter_rejects = !filter_obstacle(state, filter.reverse());
  state.unfiltered = state.functions;
  if (state.filter_rejects || state.depth_write) state.functions = by_quads<quad>();
}

}  // namespace tilegpu::tile
