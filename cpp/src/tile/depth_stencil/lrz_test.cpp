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

// Texels of the bin: columns and rows of the buffer from its first one on.
struct BinTexels {
  uint32_t column0, row0, columns, rows;
};
BinTexels texels_of(const hsr::LrzBuffer& b, const LrzBin& bin, const tile_io::HostTile& tile, int32_t x_px, int32_t y_px) {
  BinTexels out;
  out.column0 = static_cast<uint32_t>(x_px) >> b.texel.shift_x, out.row0 = static_cast<uint32_t>(y_px) >> b.texel.shift_y;
  // Of the bin alone: feedback moves its neighbours' meanwhile.
  const uint32_t in_x = static_cast<uint32_t>(bin.in_texel_x_px), in_y = static_cast<uint32_t>(bin.in_texel_y_px);
  const uint32_t across = (in_x + tile.width_px + b.texel.width_px() - 1) >> b.texel.shift_x,
                 down = (in_y + tile.height_px + b.texel.height_px() - 1) >> b.texel.shift_y;
  out.columns = std::min(across, b.columns - std::min(out.column0, b.columns));
  out.rows = std::min(down, b.rows - std::min(out.row0, b.rows));
  return out;
}

// Of thresholds that are there: their range, and those of 4x4 blocks.
void summarize(LrzBinSide& side, const hsr::LrzBuffer& b, const LrzBin& bin, const tile_io::HostTile& tile, const BinTexels& texels) {
  side.tightest = INT32_MAX;
  side.loosest = INT32_MIN;
  for (uint32_t y = 0; y < texels.rows; y++)
    for (uint32_t x = 0; x < texels.columns; x++) {
      const int32_t key = side.texel[size_t{y} * bin.pitch + x];
      side.tightest = std::min(side.tightest, key);
      side.loosest = std::max(side.loosest, key);
    }
  const uint32_t blocks = tile.bin_px / 4;
  const uint32_t in_x = static_cast<uint32_t>(bin.in_texel_x_px), in_y = static_cast<uint32_t>(bin.in_texel_y_px);
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

uint16_t open_value(const hsr::LrzBuffer& b) { return b.direction == hsr::LrzDirection::greater ? 0 : hsr::kLrzMost; }

// Thresholds from the buffer. Returns whether one can reject something.
bool fill_side(LrzBinSide& side, const hsr::LrzBuffer& b, const LrzBin& bin, const BinTexels& texels) {
  side.texel.assign(size_t{bin.pitch} * bin.rows, INT32_MIN);
  bool useful = false;
  uint16_t last = 0;
  int32_t last_key = key_of(b, 0);
  for (uint32_t y = 0; y < texels.rows; y++)
    for (uint32_t x = 0; x < texels.columns; x++) {
      const uint16_t value = b.value(texels.column0 + x, texels.row0 + y);
      if (value != last) last = value, last_key = key_of(b, value);
      useful |= value != open_value(b);
      side.texel[size_t{y} * bin.pitch + x] = last_key;
    }
  return useful;
}

void begin_side(LrzBinSide& side, const hsr::LrzBuffer& b, LrzBin& bin, const tile_io::HostTile& tile, int32_t x_px, int32_t y_px) {
  side.useful = side.learns = false;
  const BinTexels texels = texels_of(b, bin, tile, x_px, y_px);
  // No threshold rejects more than the open end's: that is worth a look before anything is converted.
  bool any = false;
  for (uint32_t y = 0; y < texels.rows && !any; y++)
    for (uint32_t x = 0; x < texels.columns && !any; x += hsr::kLrzClearBlockX)
      any = b.is_touched(texels.column0 + x, texels.row0 + y) || b.cleared != open_value(b);
  if (!any) return;
  side.useful = fill_side(side, b, bin, texels);
  if (side.useful) summarize(side, b, bin, tile, texels);
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

namespace {

// What of a bin's texel lies in the render area. Px in the bin.
struct TexelRect {
  int32_t x0, y0, x1, y1;
  bool whole;
};
TexelRect texel_rect(const hsr::LrzWriter& area, const hsr::LrzTexel& texel, uint32_t column, uint32_t row, int32_t x_px, int32_t y_px) {
  const auto x = static_cast<int32_t>(column << texel.shift_x), y = static_cast<int32_t>(row << texel.shift_y);
  const auto width = static_cast<int32_t>(texel.width_px()), height = static_cast<int32_t>(texel.height_px());
  TexelRect r{std::max(x, area.area_x0 - x_px), std::max(y, area.area_y0 - y_px), std::min(x + width, area.area_x1 - x_px),
              std::min(y + height, area.area_y1 - y_px), false};
  r.whole = r.x1 - r.x0 == width && r.y1 - r.y0 == height;
  return r;
}

// The farthest depth word of a rectangle of the tile; nothing: INT32_MIN (less), INT32_MAX.
int32_t farthest_word(const int32_t* words, const TexelRect& r, uint32_t samples, uint32_t bin_px, bool less) {
  int32_t bound = less ? INT32_MIN : INT32_MAX;
  if (r.whole && (r.x0 | r.y0 | r.x1 | r.y1) % 4 == 0) {  // whole blocks, whose words are together
    i32x8 most = i32x8{} + bound;
    for (int32_t y = r.y0; y < r.y1; y += 4)
      for (int32_t x = r.x0; x < r.x1; x += 4) {
        const uint32_t pixel = framebuffer::tile_pixel_index(static_cast<uint32_t>(x), static_cast<uint32_t>(y), bin_px);
        const int32_t* const block = words + framebuffer::tile_word_index(pixel, 0, 0, samples, 1);
        for (uint32_t i = 0; i < 16 * samples; i += 8) {
          const i32x8 now = load8(reinterpret_cast<const uint32_t*>(block + i));
          most = less ? maximum(most, now) : minimum(most, now);
        }
      }
    for (int i = 0; i < 8; i++) bound = less ? std::max(bound, most[i]) : std::min(bound, most[i]);
    return bound;
  }
  for (int32_t y = r.y0; y < r.y1; y++)
    for (int32_t x = r.x0; x < r.x1; x++) {
      const uint32_t pixel = framebuffer::tile_pixel_index(static_cast<uint32_t>(x), static_cast<uint32_t>(y), bin_px);
      for (uint32_t s = 0; s < samples; s++) {
        const int32_t word = words[framebuffer::tile_word_index(pixel, s, 0, samples, 1)];
        bound = less ? std::max(bound, word) : std::min(bound, word);
      }
    }
  return bound;
}

// `f` of each texel of the bin that the finished or the present depth says something about: column, row, bound in 16 bits. Texels that
// are several bins' have none.
template <class F>
void each_bound(const hsr::LrzBuffer& b, const hsr::LrzWriter& area, const tile_io::HostTile& tile, const uint8_t* memory, int32_t x_px,
                int32_t y_px, F&& f) {
  const bool less = b.direction != hsr::LrzDirection::greater;
  const int32_t* words = reinterpret_cast<const int32_t*>(memory + tile.depth.offset_B);
  const uint32_t across = tile.width_px >> b.texel.shift_x, down = tile.height_px >> b.texel.shift_y;
  for (uint32_t row = 0; row < down; row++)
    for (uint32_t column = 0; column < across; column++) {
      // As far as the texel lies in the render area.
      const int32_t bound = farthest_word(words, texel_rect(area, b.texel, column, row, x_px, y_px), tile.samples, tile.bin_px, less);
      // Outside 0..1 (loaded floats) nothing is known.
      if (bound == INT32_MIN || bound == INT32_MAX || bound < 0) continue;
      if (less && !b.depth.unorm && bound > 0x3f800000) continue;
      f(column, row, hsr::lrz_round(b.depth, bound));
    }
}

}  // namespace

void lrz_note_feedback(LrzBin& bin, uint32_t draw) {
  if (!bin.pass) return;
  const hsr::LrzDecision& d = bin.pass->decisions[draw];
  if ((d.feedback || (bin.pass->in_order && d.write)) && d.direction != hsr::LrzDirection::unknown)
    bin.side[hsr::lrz_index(d.direction)].learns = true;
}

bool lrz_wants_feedback(const LrzBin& bin, uint32_t draw) {
  if (!bin.pass) return false;
  const hsr::LrzDecision& d = bin.pass->decisions[draw];
  return d.test && d.direction != hsr::LrzDirection::unknown && bin.side[hsr::lrz_index(d.direction)].learns &&
         bin.pass->buffer[hsr::lrz_index(d.direction)];
}

uint32_t lrz_learn(LrzBin& bin, uint32_t draw, const tile_io::HostTile& tile, const uint8_t* memory, int32_t x_px, int32_t y_px) {
  assert(lrz_wants_feedback(bin, draw));
  const uint32_t index = hsr::lrz_index(bin.pass->decisions[draw].direction);
  LrzBinSide& side = bin.side[index];
  const hsr::LrzBuffer& b = *bin.pass->buffer[index];
  const BinTexels texels = texels_of(b, bin, tile, x_px, y_px);
  side.learns = false;
  if (!side.useful) fill_side(side, b, bin, texels);
  uint32_t moved = 0;
  each_bound(b, bin.pass->writer_base, tile, memory, x_px, y_px, [&](uint32_t column, uint32_t row, uint16_t bound) {
    if (column >= texels.columns || row >= texels.rows) return;
    int32_t& threshold = side.texel[size_t{row} * bin.pitch + column];
    const int32_t key = key_of(b, bound);
    if (key >= threshold) return;
    threshold = key;
    moved++;
  });
  if (moved) summarize(side, b, bin, tile, texels);
  side.useful |= moved != 0;
  return moved;
}

uint32_t lrz_feedback(const hsr::LrzPass& pass, const tile_io::HostTile& tile, const uint8_t* memory, int32_t x_px, int32_t y_px) {
  if (!pass.feedback || !pass.view->state.valid) return 0;
  hsr::LrzBuffer* b = pass.buffer[hsr::lrz_index(pass.view->state.direction)];
  if (!b || pass.view->state.direction == hsr::LrzDirection::unknown) return 0;
  uint32_t moved = 0;
  const uint32_t column0 = static_cast<uint32_t>(x_px) >> b->texel.shift_x, row0 = static_cast<uint32_t>(y_px) >> b->texel.shift_y;
  each_bound(*b, pass.writer_base, tile, memory, x_px, y_px,
             [&](uint32_t column, uint32_t row, uint16_t bound) { moved += b->improve(column0 + column, row0 + row, bound); });
  return moved;
}

}  // namespace tilegpu::tile
