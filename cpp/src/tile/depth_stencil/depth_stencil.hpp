// tile/depth_stencil/depth_stencil.hpp -- stage: tile phase, depth and stencil tests. In: a primitive's depth plane, coverage, the tile.
// Out: the samples that pass; depth, stencil (and, for hidden-surface removal, the primitive's number) written for them.
//
// A sample's depth is (z0 + zx * (x - anchor_x)) + zy * (y - anchor_y), clamped to the vertices' depths (what exact arithmetic
// would give inside the triangle: slivers with steep planes stay sane) and to the allowed range; NaN becomes the lower bound.
// The order is Vulkan's: depth bounds, stencil, depth. The common case (no stencil, no bounds) is a template on comparison,
// format and write, sixteen pixels at a time; everything else goes through one general function.
// Source: Vulkan specification, "Fragment Operations": "Depth Bounds Test", "Stencil Test", "Depth Test".
#pragma once

#include <cassert>
#include <cstdint>

#include "hsr/depth_filter.hpp"
#include "tile/plan/test_rules.hpp"

namespace tilegpu::tile {

using records::PrimitiveDepth;

/// A bound that nothing is in front of, as a float and as a signed number: the block's nearest depth is not known.
inline constexpr int32_t kNearUnknown = static_cast<int32_t>(0xff800000u);

/// Blocks whose bounds of depth are to be found again before someone asks them (tile::refresh_bounds): where small triangles meet, finding
/// them after each would take as long as the test.
struct StaleBounds {
  static constexpr uint32_t kMost = 1024;  // blocks of a bin of 128 pixels
  bool any = false;
  uint8_t block[kMost] = {};

  void add(uint32_t b) {
    assert(b < kMost);
    any = true;
    block[b] = 1;
  }
  void clear() {
    if (any) *this = {};
  }
};

struct TestState;
struct TriangleBatch;  // batch_setup.hpp

/// `pass`: a mask for each sample of each block; bit = pixel in tile order. Positions are framebuffer pixels.
struct TestFunctions {
  /// Whole blocks side by side; returns how many pixels have a sample that passes.
  uint32_t (*span)(const TestState&, const PrimitiveDepth&, uint32_t first_block, uint32_t count, int32_t x_px, int32_t y_px,
                   uint16_t* pass) = nullptr;
  void (*block)(const TestState&, const PrimitiveDepth&, uint32_t block, int32_t x_px, int32_t y_px, const uint16_t* covered,
                uint16_t* pass) = nullptr;
  /// The same with one sample; returns the pixels that pass.
  uint32_t (*single)(const TestState&, const PrimitiveDepth&, uint32_t block, int32_t x_px, int32_t y_px, uint32_t covered) = nullptr;
  uint64_t (*quad)(const TestState&, const PrimitiveDepth&, uint32_t tile_pixel, int32_t x_px, int32_t y_px, uint64_t covered) = nullptr;
  /// The window of a small triangle (one sample): a lane of a batch, the tile pixels of its four quads, `covered` as in a block.
  uint32_t (*window)(const TestState&, const TriangleBatch&, uint32_t lane, uint32_t id, uint32_t face, const uint32_t* tile_pixels,
                     int32_t x_px, int32_t y_px, uint32_t covered) = nullptr;
};

/// A draw's tests, with the tile's planes.
struct TestState : TestRules {
  uint32_t* depth = nullptr;  // null: no depth attachment
  uint32_t* stencil = nullptr;
  uint32_t* ids = nullptr;        // visibility plane, laid out as a plane of one word; null: not written
  uint8_t* dirty = nullptr;       // with ids: a byte for each block, set where a number was written
  int32_t* far = nullptr;         // where the rules are bounded: a bound of each block's depth words, see hidden_blocks
  int32_t* near = nullptr;        // with far: the other bound, while visibility/whole_blocks.hpp asks for it
  int32_t* window_far = nullptr;  // with far, one sample: the same of windows of 16x16 pixels
  uint32_t samples = 1;
  const float* positions = nullptr;  // x, y in 0..1 of each sample
  StaleBounds* stale = nullptr;      // with `far`, one sample: blocks whose bounds are to be found again
  bool any_order = false;            // with ids, LESS or LESS_OR_EQUAL: of equal depths the number decides, see near_to_far.hpp
  TestFunctions functions;
  // With a depth filter `functions` are those of filtered_tests.hpp, which ask the filter and then these:
  hsr::TileFilter* filter = nullptr;
  TestFunctions unfiltered;
  bool filter_rejects = false;
};

/// Blocks of up to eight side by side (bit: block) of which nothing can pass: their smallest depth of the primitive is not in
/// front of the bound in `far`, which is at least every depth word of the block (compared as signed integers: the order of floats
/// from 0 on; negative words and NaNs only arise from loaded images and never make a bound too small for a depth from 0 on to
/// be wrongly hidden). The expression of depth is monotone in x and in y, rounding included, so that its least value over
/// a block is its value at a corner.
uint32_t hidden_blocks(const TestState& state, const PrimitiveDepth& primitive, uint32_t first_block, int32_t x_px, int32_t y_px);

/// The rules with the tile in `memory`. `ids`, `dirty`: visibility plane or null; `far`: bounds or null.
TestState make_test_state(const TestRules& rules, const tile_io::HostTile& tile, uint8_t* memory, uint32_t* ids, uint8_t* dirty,
                          int32_t* far);

/// One sample, ids, depth written, LESS or LESS_OR_EQUAL: the same tests for primitives that come in any order.
TestFunctions any_order_functions(const TestState& state);

/// Tests and writes a quad after shading. `depth` and `stencil_reference`: a value for each of the four pixels, or null for the
/// primitive's plane and the state's reference. Returns the samples that pass.
uint64_t test_late(const TestState& state, const PrimitiveDepth& primitive, uint32_t tile_pixel, int32_t x_px, int32_t y_px,
                   uint64_t covered, const float* depth, const uint32_t* stencil_reference);

/// The same where nothing but the depth of the primitive's plane is tested, without a filter: by the functions of early tests.
inline uint64_t test_late_depth(const TestState& state, const PrimitiveDepth& primitive, uint32_t tile_pixel, int32_t x_px, int32_t y_px,
                                uint64_t covered) {
  assert(!state.ids && !state.stencil_test && !state.bounds_test && !state.filter);
  const uint64_t pass = state.functions.quad(state, primitive, tile_pixel, x_px, y_px, covered);
  if (pass && state.far && state.depth_write) state.stale->add(tile_pixel >> 4);
  return pass;
}

/// x, y pairs of the standard locations in pixels.
const float* sample_positions(uint32_t samples);

/// Bit 4 * s + p of the samples' masks of a block, for one of its quads; and back.
inline uint64_t gather_quad(const uint16_t* masks, uint32_t samples, uint32_t quad) {
  uint64_t bits = 0;
  for (uint32_t s = 0; s < samples; s++) bits |= static_cast<uint64_t>(masks[s] >> 4 * quad & 0xf) << 4 * s;
  return bits;
}
/// Pixels (4 bits) with any sample in a quad's coverage.
inline uint32_t covered_pixels(uint64_t coverage) {
  coverage |= coverage >> 32;
  coverage |= coverage >> 16;
  coverage |= coverage >> 8;
  coverage |= coverage >> 4;
  return static_cast<uint32_t>(coverage & 0xf);
}

}  // namespace tilegpu::tile
