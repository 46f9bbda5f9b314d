// hsr/lrz_binning.cpp -- see lrz_binning.hpp.
#include "hsr/lrz_binning.hpp"

#include <algorithm>
#include <cassert>

#include "records/primitive_setup.hpp"

namespace tilegpu::hsr {

namespace {

struct Extent {
  int32_t low, high;
};
Extent extent_px(const int32_t at[3]) {
  return {std::min(std::min(at[0], at[1]), at[2]) >> records::kSubpixelBits,
          std::max(std::max(at[0], at[1]), at[2]) >> records::kSubpixelBits};
}

}  // namespace

bool lrz_rejects(const LrzBinDraw& draw, const records::TriangleRecord& r, const LrzRect& rect) {
  assert(draw.tested);
  const LrzBuffer& b = *draw.tested;
  const LrzWriter& w = draw.writer;
  const bool greater = b.direction == LrzDirection::greater;
  float lo, hi;
  records::limit_depth(r.z[0], r.z[1], r.z[2], {w.range_lo, w.range_hi}, lo, hi);
  // Rounded as farthest depths are when they are written: a texel that is nearer was so before rounding.
  const uint16_t nearest = lrz_round(b.depth, lrz_word(b.depth, greater ? hi : lo));
  const Extent x = extent_px(r.x), y = extent_px(r.y);
  const int32_t x0 = std::max({x.low, rect.x0, w.x0}), x1 = std::min({x.high + 1, rect.x1, w.x1});
  const int32_t y0 = std::max({y.low, rect.y0, w.y0}), y1 = std::min({y.high + 1, rect.y1, w.y1});
  if (x0 >= x1 || y0 >= y1) return false;  // nothing is covered: the tile phase finds that out
  const auto column0 = static_cast<uint32_t>(x0 >> b.texel.shift_x), column1 = static_cast<uint32_t>((x1 - 1) >> b.texel.shift_x);
  const auto row0 = static_cast<uint32_t>(y0 >> b.texel.shift_y), row1 = static_cast<uint32_t>((y1 - 1) >> b.texel.shift_y);
  assert(column1 < b.columns && row1 < b.rows);
  for (uint32_t row = row0; row <= row1; row++) {
    const uint16_t* const texels = b.texels.data() + size_t{row} * b.pitch;
    for (uint32_t column = column0; column <= column1; column++)
      if (greater ? texels[column] <= nearest : texels[column] >= nearest) return false;
  }
  return true;
}

void lrz_write(const LrzBinDraw& draw, const records::TriangleRecord& r, const LrzRect& rect) {
  assert(draw.writer.buffer);
  const LrzTexel& texel = draw.writer.buffer->texel;
  const Extent x = extent_px(r.x), y = extent_px(r.y);
  // A texel that the render area cuts may be narrow; those on its edge are left to records that cover more.
  if (x.high - x.low < static_cast<int32_t>(texel.width_px()) - 1 || y.high - y.low < static_cast<int32_t>(texel.height_px()) - 1) return;
  LrzWriter w = draw.writer;
  w.x0 = std::max(w.x0, rect.x0), w.x1 = std::min(w.x1, rect.x1);
  w.y0 = std::max(w.y0, rect.y0), w.y1 = std::min(w.y1, rect.y1);
  if (w.x0 >= w.x1 || w.y0 >= w.y1) return;
  lrz_insert(w, r);
  if (!draw.square) return;
  // A point's record has three corners of its square: the other half.
  records::TriangleRecord other = r;
  other.x[0] = r.x[1], other.y[0] = r.y[2], other.x[1] = r.x[0], other.y[1] = r.y[2], other.x[2] = r.x[1], other.y[2] = r.y[0];
  lrz_insert(w, other);
}

}  // namespace tilegpu::hsr
