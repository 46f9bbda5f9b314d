// tile/filtered_tests.cpp -- see filtered_tests.hpp.
#include "tile/filtered_tests.hpp"

#include <algorithm>
#include <bit>

#include "tile/depth_plane.hpp"
#include "tile/setup_batch.hpp"

namespace tilegpu::tile {

namespace {

// One sample each of four pixels, all of which certainly pass: written without a look at what was there.
void write_unread(const TestState& state, size_t word, i32x4 now, uint32_t id, uint32_t lanes) {
  const i32x4 mask = expand4(lanes);
  if (state.depth_write) _mm_maskstore_epi32(reinterpret_cast<int*>(state.depth + word), (__m128i)mask, (__m128i)now);
  if (state.ids) _mm_maskstore_epi32(reinterpret_cast<int*>(state.ids + word), (__m128i)mask, _mm_set1_epi32(static_cast<int32_t>(id)));
}

uint64_t quad(const TestState& state, const PrimitiveDepth& p, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) {
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

uint32_t window(const TestState& state, const TriangleBatch& batch, uint32_t lane, uint32_t id, uint32_t face, const uint32_t* tile_pixels,
                int32_t x_px, int32_t y_px, uint32_t covered) {
  const PrimitiveDepth p = batch_depth(batch, lane, id, face);
  uint32_t pass = 0;
  for (uint32_t q = 0; q < 4; q++)
    if (const uint32_t bits = covered >> 4 * q & 0xf)
      pass |= static_cast<uint32_t>(
                  quad(state, p, tile_pixels[q], x_px + static_cast<int32_t>(q & 1) * 2, y_px + static_cast<int32_t>(q >> 1) * 2, bits))
              << 4 * q;
  return pass;
}

void block(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, const uint16_t* covered,
           uint16_t* pass) {
  std::fill_n(pass, state.samples, uint16_t{0});
  for (uint32_t q = 0; q < 4; q++) {
    const uint64_t bits = gather_quad(covered, state.samples, q);
    if (!bits) continue;
    const uint64_t passed =
        quad(state, p, block * 16 + q * 4, x_px + static_cast<int32_t>(q & 1) * 2, y_px + static_cast<int32_t>(q >> 1) * 2, bits);
    for (uint32_t s = 0; s < state.samples; s++) pass[s] = static_cast<uint16_t>(pass[s] | (passed >> 4 * s & 0xf) << 4 * q);
  }
}

uint32_t single(const TestState& state, const PrimitiveDepth& p, uint32_t block_index, int32_t x_px, int32_t y_px, uint32_t covered) {
  const uint16_t mask = static_cast<uint16_t>(covered);
  uint16_t pass;
  block(state, p, block_index, x_px, y_px, &mask, &pass);
  return pass;
}

uint32_t span(const TestState& state, const PrimitiveDepth& p, uint32_t first_block, uint32_t count, int32_t x_px, int32_t y_px,
              uint16_t* pass) {
  uint16_t covered[16];
  std::fill_n(covered, 16, uint16_t{0xffff});
  uint32_t passed = 0;
  for (uint32_t b = 0; b < count; b++, pass += state.samples) {
    block(state, p, first_block + b, x_px + static_cast<int32_t>(b) * 4, y_px, covered, pass);
    uint32_t any = 0;
    for (uint32_t s = 0; s < state.samples; s++) any |= pass[s];
    passed += static_cast<uint32_t>(std::popcount(any));
  }
  return passed;
}

}  // namespace

const char* filter_obstacle(const TestState& state) {
  if (!state.depth_test || !state.depth) return "no depth test";
  if (state.compare != VK_COMPARE_OP_LESS && state.compare != VK_COMPARE_OP_LESS_OR_EQUAL)
    return "depth compare is neither LESS nor LESS_OR_EQUAL: being behind a plane does not mean being hidden";
  if (state.stencil_test) return "stencil test: a sample that fails may still change the stencil";
  if (state.bounds_test) return "depth bounds test: it looks at the stored depth";
  return nullptr;
}

bool breaks_filter(const TestState& state) { return state.breaks_far(); }

void install_filter(TestState& state, hsr::TileFilter& filter) {
  state.filter = &filter;
  state.filter_rejects = !filter_obstacle(state);
  state.unfiltered = state.functions;
  if (state.filter_rejects || state.depth_write) state.functions = {span, block, single, quad, window};
}

}  // namespace tilegpu::tile
