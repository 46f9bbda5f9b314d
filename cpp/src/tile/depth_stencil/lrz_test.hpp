// tile/depth_stencil/lrz_test.hpp -- stage: tile phase, the test against low-resolution Z: whole primitives before they are set up,
// 4x4-pixel blocks before they are tested and shaded. In: the pass's buffers (complete: all draws were binned). Out: what may be skipped.
//
// A bin's texels are turned into depth words once; a primitive that lies strictly behind every texel of its bounding box is left
// out of the bin. Signs: thresholds and depths of the greater direction are negated, so that "behind" is always ">".
#pragma once

#include <array>
#include <vector>

#include "hsr/lrz_pass.hpp"
#include "tile/coverage/coverage.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"
#include "tile_io/tile_io.hpp"

namespace tilegpu::tile {

/// The bin's part of one direction's buffer.
struct LrzBinSide {
  bool useful = false;           // some threshold can reject something
  int32_t tightest = INT32_MAX;  // the least threshold of the bin, and the greatest
  int32_t loosest = INT32_MAX;
  std::vector<int32_t> texel;  // rows of `pitch` texels, a multiple of 8; beyond the image INT32_MIN
  std::vector<int32_t> block;  // for each 4x4 block of the bin the greatest threshold of its texels
  bool learns = false;         // depth was written that the buffer does not know, since feedback came last
};

struct LrzBin {
  const hsr::LrzPass* pass = nullptr;  // null: off
  hsr::LrzTexel shift;
  int32_t in_texel_x_px = 0, in_texel_y_px = 0;  // where the bin begins in its first texel: bins may be smaller than texels
  uint32_t pitch = 8, rows = 8;
  LrzBinSide side[2];
  hsr::LrzDepth depth;
  // The current draw.
  const LrzBinSide* now = nullptr;  // null: not tested here
  bool greater = false;
};

void lrz_begin_bin(LrzBin& bin, const hsr::LrzPass* pass, const tile_io::HostTile& tile, int32_t x_px, int32_t y_px);
void lrz_select_draw(LrzBin& bin, uint32_t draw);

/// The record (origin: of the bin) can leave no sample in the rectangle that is seen in the end. Only where bin.now is set.
bool lrz_hides(const LrzBin& bin, const records::TriangleRecord& record, const TestState& range, int32_t origin_x_px, int32_t origin_y_px,
               const PixelRect& rect);
/// The same for up to eight 4x4 blocks side by side, by the primitive's plane: bit i is block `first_block` + i.
uint32_t lrz_hidden_blocks(const LrzBin& bin, const PrimitiveDepth& primitive, uint32_t samples, uint32_t first_block, int32_t x_px,
                           int32_t y_px);

/// The current draw has written depth that the buffer does not know: its feedback comes before a draw that is tested.
void lrz_note_feedback(LrzBin& bin, uint32_t draw);
/// Whether feedback comes before this draw.
bool lrz_wants_feedback(const LrzBin& bin, uint32_t draw);
/// Feedback within the pass: the depth in the tile moves the bin's thresholds, for the draws that follow. Returns how many it moved.
uint32_t lrz_learn(LrzBin& bin, uint32_t draw, const tile_io::HostTile& tile, const uint8_t* memory, int32_t x_px, int32_t y_px);
/// Feedback at the end: what the finished tile's depth says about the bin's texels goes back to the buffer, for later passes. Returns how
/// many texels moved.
uint32_t lrz_feedback(const hsr::LrzPass& pass, const tile_io::HostTile& tile, const uint8_t* memory, int32_t x_px, int32_t y_px);

}  // namespace tilegpu::tile
