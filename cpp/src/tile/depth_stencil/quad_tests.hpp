// tile/depth_stencil/quad_tests.hpp -- the depth and stencil tests of a draw, all five shapes, from the one of a quad. In: a function that
// tests four pixels. Out: TestFunctions that take windows, blocks and rows of blocks apart into quads; for tests that are rare enough.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>

#include "tile/coverage/batch_setup.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"

namespace tilegpu::tile {

using TestQuad = uint64_t (*)(const TestState&, const PrimitiveDepth&, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered);

template <TestQuad kQuad>
struct ByQuads {
  static int32_t x_of(int32_t x_px, uint32_t quad) { return x_px + static_cast<int32_t>(quad & 1) * 2; }
  static int32_t y_of(int32_t y_px, uint32_t quad) { return y_px + static_cast<int32_t>(quad >> 1) * 2; }

  // One sample; `tile_pixel`: the first one of a quad.
  template <class TilePixel>
  static uint32_t pixels(const TestState& state, const PrimitiveDepth& p, TilePixel&& tile_pixel, int32_t x_px, int32_t y_px,
                         uint32_t covered) {
    assert(state.samples == 1);
    uint32_t pass = 0;
    for (uint32_t q = 0; q < 4; q++)
      if (const uint32_t bits = covered >> 4 * q & 0xf)
        pass |= static_cast<uint32_t>(kQuad(state, p, tile_pixel(q), x_of(x_px, q), y_of(y_px, q), bits)) << 4 * q;
    return pass;
  }
  static uint32_t window(const TestState& state, const TriangleBatch& batch, uint32_t lane, uint32_t id, uint32_t face,
                         const uint32_t* tile_pixels, int32_t x_px, int32_t y_px, uint32_t covered) {
    return pixels(state, batch_depth(batch, lane, id, face), [&](uint32_t q) { return tile_pixels[q]; }, x_px, y_px, covered);
  }
  static uint32_t single(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, uint32_t covered) {
    return pixels(state, p, [&](uint32_t q) { return block * 16 + q * 4; }, x_px, y_px, covered);
  }

  static void block(const TestState& state, const PrimitiveDepth& p, uint32_t block, int32_t x_px, int32_t y_px, const uint16_t* covered,
                    uint16_t* pass) {
    std::fill_n(pass, state.samples, uint16_t{0});
    for (uint32_t q = 0; q < 4; q++) {
      const uint64_t bits = gather_quad(covered, state.samples, q);
      if (!bits) continue;
      const uint64_t passed = kQuad(state, p, block * 16 + q * 4, x_of(x_px, q), y_of(y_px, q), bits);
      for (uint32_t s = 0; s < state.samples; s++) pass[s] = static_cast<uint16_t>(pass[s] | (passed >> 4 * s & 0xf) << 4 * q);
    }
  }

  static uint32_t span(const TestState& state, const PrimitiveDepth& p, uint32_t first_block, uint32_t count, int32_t x_px, int32_t y_px,
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
};

template <TestQuad kQuad>
TestFunctions by_quads() {
  using Tests = ByQuads<kQuad>;
  return {Tests::span, Tests::block, Tests::single, kQuad, Tests::window};
}

}  // namespace tilegpu::tile
