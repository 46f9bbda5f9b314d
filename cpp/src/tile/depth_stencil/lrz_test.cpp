// tile/depth_stencil/lrz_test.cpp -- see lrz_test.hpp. Source: lrz.rst, "Low Resolution Z Buffer", "LRZ Feedback".
#include "tile/depth_stencil/lrz_test.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/simd.hpp"
#include "records/primitive_setup.hpp"

namespace tilegpu::tile {

namespace {

int32_t key_of(const hsr::LrzBuffer& b, uint16_t value) {
  const int32_t word = hsr::lrz_threshold(b.depth, b.direction, value);
  return b.direction == hsr::LrzDirection::greater ? -word : word;
}

void begin_side(LrzBinSide& side, const hsr::LrzBuffer& b, LrzBin& bin, const tile_io::HostTile& tile, int32_t x_px, int32_t y_px) {
  side.useful = false;
  const uint32_t column0 = static_cast<uint32_t>(x_px) >> b.texel.shift_x, row0 = static_cast<uint32_t>(y_px) >> b.texel.shift_y;
  // Of the bin alone: feedback moves its neighbours' meanwhile.
  const uint32_t in_x = static_cast<uint32_t>(bin.in_texel_x_px), in_y = static_cast<uint32_t>(bin.in_texel_y_px);
  const uint32_t across = (in_x + tile.width_px + b.texel.width_px() - 1) >> b.texel.shift_x,
                 down = (in_y + tile.height_px + b.texel.height_px() - 1) >> b.texel.shift_y;
  const uint32_t columns = std::min(across, b.columns - std::min(column0, b.columns));
  const uint32_t rows = std::min(down, b.rows - std::min(row0, b.rows));
  // No threshold rejects more than the open end's: that is worth a look before anything is converted.
  const uint16_t open = b.direction == hsr::LrzDirection::greater ? 0 : 65535;
  bool any = false;
  for (uint32_t y = 0; y < rows && !any; y++)
    for (uint32_t x = 0; x < columns && !any; x += hsr::kLrzClearBlockX) any = b.is_touched(column0 + x, row0 + y) || b.cleared != open;
  if (!any) return;
  side.texel.assign(size_t{bin.pitch} * bin.rows, INT32_MIN);
  side.tightest = INT32_MAX;
  side.loosest = INT32_MIN;
  bool useful = false;
  uint16_t last = 0;
  int32_t last_key = key_of(b, 0);
  for (uint32_t y = 0; y < rows; y++)
    for (uint32_t x = 0; x < columns; x++) {
      const uint16_t value = b.value(column0 + x, row0 + y);
      if (value != last) last = value, last_key = key_of(b, value);
      useful |= value != open;
      side.texel[size_t{y} * bin.pitch + x] = last_key;
      side.tightest = std::min(side.tightest, last_key);
      side.loosest = std::max(side.loosest, last_key);
    }
  side.useful = useful;
  if (!useful) return;
  const uint32_t blocks = tile.bin_px / 4;
  side.block.resize(size_t{blocks} * blocks + 8);  // eight are read at once
  for (uint32_t y = 0; y < blocks; y++)
    for (uint32_t x = 0; x < blocks; x++) {
      int32_t most = INT32_MIN;
      const uint32_t x0 = 4 * x + in_x, y0 = 4 * y + in_y;
      for (uint32_t ty = y0 >> b.texel.shift_y; ty <= (y0 + 3) >> b.texel.shift_y; ty++)
        for (uint32_t tx = x0 >> b.texel.shift_x; tx <= (x0 + 3) >> b.texel.shift_x; tx++)
          most = std::max(most, side.texel[size_t{ty} * bin.pitch + tx]);
      side.block[size_t{y} * blocks + x] = most;
    }
}

}  // namespace

void lrz_begin_bin(LrzBin& bin, const hsr::LrzPass* pass, const tile_io::HostTile& tile, int32_t x_px, int32_t y_px) {
  bin.pass = pass && pass->view ? pass : nullptr;
  bin.now = nullptr;
  if (!bin.pass) return;
  for (uint32_t i = 0; i < 2; i++) {
    const hsr::LrzBuffer* b = pass->buffer[i];
    bin.side[i].useful = false;
    if (!b) continue;
    bin.shift = b->texel;
    bin.depth = b->depth;
    bin.pitch = ((tile.bin_px >> b->texel.shift_x) + 7) & ~7u;
    bin.in_texel_x_px = x_px & static_cast<int32_t>(b->texel.width_px() - 1);
    bin.in_texel_y_px = y_px & static_cast<int32_t>(b->texel.height_px() - 1);
    bin.rows = (tile.bin_px >> b->texel.shift_y) + (bin.in_texel_y_px ? 1 : 0);
    begin_side(bin.side[i], *b, bin, tile, x_px, y_px);
  }
}

void lrz_select_draw(LrzBin& bin, uint32_t draw) {
  bin.now = nullptr;
  if (!bin.pass) return;
  assert(draw < bin.pass->decisions.size());
  const hsr::LrzDecision& d = bin.pass->decisions[draw];
  if (!d.test || d.direction == hsr::LrzDirection::unknown) return;
  const LrzBinSide& side = bin.side[hsr::lrz_index(d.direction)];
  if (!side.useful || !bin.pass->buffer[hsr::lrz_index(d.direction)]) return;
  bin.now = &side;
  bin.greater = d.direction == hsr::LrzDirection::greater;
}

bool lrz_hides(const LrzBin& bin, const records::TriangleRecord& r, const TestState& range, int32_t origin_x_px, int32_t origin_y_px,
               const PixelRect& rect) {
  assert(bin.now && bin.now->useful);
  const LrzBinSide& side = *bin.now;
  float lo, hi;
  records::limit_depth(r.z[0], r.z[1], r.z[2], range, lo, hi);
  const int32_t key = bin.greater ? -hsr::lrz_word(bin.depth, hi) : hsr::lrz_word(bin.depth, lo);
  if (key <= side.tightest) return false;
  if (key > side.loosest) return true;
  const int32_t min_x = std::min(std::min(r.x[0], r.x[1]), r.x[2]), max_x = std::max(std::max(r.x[0], r.x[1]), r.x[2]);
  const int32_t min_y = std::min(std::min(r.y[0], r.y[1]), r.y[2]), max_y = std::max(std::max(r.y[0], r.y[1]), r.y[2]);
  const int32_t x0 = std::max((min_x >> 8) - origin_x_px, rect.x0), x1 = std::min((max_x >> 8) - origin_x_px, rect.x1 - 1);
  const int32_t y0 = std::max((min_y >> 8) - origin_y_px, rect.y0), y1 = std::min((max_y >> 8) - origin_y_px, rect.y1 - 1);
  if (x0 > x1 || y0 > y1) return false;  // nothing is covered: coverage finds that out
  const int32_t column0 = (x0 + bin.in_texel_x_px) >> bin.shift.shift_x, column1 = (x1 + bin.in_texel_x_px) >> bin.shift.shift_x;
  const int32_t row0 = (y0 + bin.in_texel_y_px) >> bin.shift.shift_y, row1 = (y1 + bin.in_texel_y_px) >> bin.shift.shift_y;
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int32_t x = column0 & ~7; x <= column1; x += 8) {
    const i32x8 column = lane + x;
    i32x8 most = i32x8{} + INT32_MIN;
    for (int32_t y = row0; y <= row1; y++)
      most =
          maximum(most, load8(reinterpret_cast<const uint32_t*>(&side.texel[static_cast<size_t>(y) * bin.pitch + static_cast<size_t>(x)])));
    if (sign_bits((column >= column0) & (column <= column1) & (most >= key))) return false;
  }
  return true;
}

uint32_t lrz_hidden_blocks(const LrzBin& bin, const PrimitiveDepth& p, uint32_t samples, uint32_t first_block, int32_t x_px, int32_t y_px) {
  if (!std::isfinite(p.z0) || !std::isfinite(p.zx) || !std::isfinite(p.zy)) return 0;
  assert(bin.now && first_block + 8 <= bin.now->block.size());  // eight are read
  const float near = samples == 1 ? 0.5f : 0.0f, wide = samples == 1 ? 3.5f : 4.0f;
  const f32x8 block_x = {0, 4, 8, 12, 16, 20, 24, 28};
  const f32x8 x = block_x + (static_cast<float>(x_px) + ((p.zx >= 0) != bin.greater ? near : wide));
  const float y = static_cast<float>(y_px) + ((p.zy >= 0) != bin.greater ? near : wide);
  const f32x8 z = clamp((p.z0 + p.zx * (x - p.anchor_x)) + p.zy * (y - p.anchor_y), p.lo, p.hi);
  i32x8 key = bin.depth.unorm ? to_unorm(z, bin.depth.most) : (i32x8)z;
  if (bin.greater) key = -key;
  const i32x8 bound = load8(reinterpret_cast<const uint32_t*>(bin.now->block.data() + first_block));
  return sign_bits(key > bound);
}

void lrz_feedback(const hsr::LrzPass& pass, const tile_io::HostTile& tile, const uint8_t* memory, int32_t x_px, int32_t y_px) {
  if (!pass.feedback || !pass.view->state.valid) return;
  hsr::LrzBuffer* b = pass.buffer[hsr::lrz_index(pass.view->state.direction)];
  if (!b || pass.view->state.direction == hsr::LrzDirection::unknown) return;
  const bool less = b->direction != hsr::LrzDirection::greater;
  const uint32_t samples = tile.samples, bin_px = tile.bin_px;
  const int32_t* words = reinterpret_cast<const int32_t*>(memory + tile.depth.offset_B);
  const uint32_t across = tile.width_px >> b->texel.shift_x, down = tile.height_px >> b->texel.shift_y;  // none: a texel is several bins'
  const hsr::LrzWriter& area = pass.writer_base;
  for (uint32_t row = 0; row < down; row++)
    for (uint32_t column = 0; column < across; column++) {
      const int32_t x0 = static_cast<int32_t>(column << b->texel.shift_x), y0 = static_cast<int32_t>(row << b->texel.shift_y);
      // Only texels that lie in the render area as a whole or as far as the image goes: the pass covers the view if this is kept.
      int32_t bound = less ? INT32_MIN : INT32_MAX;
      for (int32_t y = y0; y < y0 + static_cast<int32_t>(b->texel.height_px()); y++)
        for (int32_t x = x0; x < x0 + static_cast<int32_t>(b->texel.width_px()); x++) {
          if (x_px + x < area.area_x0 || x_px + x >= area.area_x1 || y_px + y < area.area_y0 || y_px + y >= area.area_y1) continue;
          const uint32_t pixel = framebuffer::tile_pixel_index(static_cast<uint32_t>(x), static_cast<uint32_t>(y), bin_px);
          for (uint32_t s = 0; s < samples; s++) {
            const int32_t word = words[framebuffer::tile_word_index(pixel, s, 0, samples, 1)];
            bound = less ? std::max(bound, word) : std::min(bound, word);
          }
        }
      // Outside 0..1 (loaded floats) nothing is known.
      if (bound == INT32_MIN || bound == INT32_MAX || bound < 0) continue;
      if (less && !b->depth.unorm && bound > 0x3f800000) continue;
      b->improve((static_cast<uint32_t>(x_px) >> b->texel.shift_x) + column, (static_cast<uint32_t>(y_px) >> b->texel.shift_y) + row,
                 hsr::lrz_round(b->depth, b->direction, bound));
    }
}

}  // namespace tilegpu::tile
