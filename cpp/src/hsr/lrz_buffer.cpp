// hsr/lrz_buffer.cpp -- see lrz_buffer.hpp.
#include "hsr/lrz_buffer.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "records/primitive_setup.hpp"

namespace tilegpu::hsr {

LrzDepth lrz_depth(VkFormat format) {
  switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
      return {true, 65535};
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
      return {true, 16777215};
    default:
      return {};
  }
}

int32_t lrz_word(LrzDepth depth, float z) {
  assert(!depth.unorm || depth.most > 0);
  z = z > 0 ? (z < 1 ? z : 1.0f) : 0.0f;
  if (depth.unorm) return static_cast<int32_t>(std::nearbyint(double{z} * depth.most));
  int32_t word;
  std::memcpy(&word, &z, 4);
  return word;
}

uint16_t lrz_round(LrzDepth depth, int32_t word) {
  if (word <= 0) return 0;
  if (depth.unorm) {
    assert(static_cast<uint32_t>(word) <= depth.most);
    return static_cast<uint16_t>(static_cast<uint64_t>(word) * kLrzMost / depth.most);
  }
  float z;
  std::memcpy(&z, &word, 4);
  return z < 1 ? static_cast<uint16_t>(double{z} * kLrzMost) : kLrzMost;  // the product is exact: 24 and 16 bits
}

namespace {

// The least word that goes to `value`.
int32_t least_word(LrzDepth depth, uint16_t value) {
  if (depth.unorm) return static_cast<int32_t>((uint64_t{value} * depth.most + kLrzMost - 1) / kLrzMost);
  float z = static_cast<float>(value / double{kLrzMost});  // of two neighbours at most the wrong one
  if (double{z} * kLrzMost < value) z = std::nextafter(z, 2.0f);
  int32_t word;
  std::memcpy(&word, &z, 4);
  assert(lrz_round(depth, word) == value && (value == 0 || lrz_round(depth, word - 1) < value));
  return word;
}

}  // namespace

int32_t lrz_threshold(LrzDepth depth, LrzDirection direction, uint16_t value) {
  if (direction == LrzDirection::greater) return least_word(depth, value);
  return value == kLrzMost ? least_word(depth, value) : least_word(depth, static_cast<uint16_t>(value + 1)) - 1;
}

LrzTexel lrz_texel(uint32_t samples) {
  switch (samples) {
    case 2:
      return {3, 2};
    case 4:
      return {2, 2};
    case 8:
      return {2, 1};
    case 16:
      return {1, 1};
    default:
      return {3, 3};
  }
}

bool LrzBuffer::improve(uint32_t column, uint32_t row, uint16_t next) {
  assert(column < columns && row < rows);
  std::atomic_ref<uint16_t> texel(texels[size_t{row} * pitch + column]);
  const bool less = direction != LrzDirection::greater;
  uint16_t old = texel.load(std::memory_order_relaxed);
  do {
    if (less ? next >= old : next <= old) return false;
  } while (!texel.compare_exchange_weak(old, next, std::memory_order_relaxed));
  const uint32_t bit = clear_bit(column, row);
  std::atomic_ref<uint64_t> word(touched[bit >> 6]);
  const uint64_t mask = uint64_t{1} << (bit & 63);
  if (!(word.load(std::memory_order_relaxed) & mask)) word.fetch_or(mask, std::memory_order_relaxed);
  return true;
}

void lrz_clear(LrzBuffer& b, uint32_t generation, LrzDirection direction, VkFormat format, uint32_t samples, uint32_t width_px,
               uint32_t height_px, const float* clear) {
  b.direction = direction;
  assert(direction != LrzDirection::unknown && generation > 0);
  b.depth = lrz_depth(format);
  b.texel = lrz_texel(samples);
  b.samples = samples;
  b.columns = (width_px + b.texel.width_px() - 1) >> b.texel.shift_x;
  b.rows = (height_px + b.texel.height_px() - 1) >> b.texel.shift_y;
  b.pitch = (b.columns + 31) & ~31u;
  const uint32_t height = (b.rows + 15) & ~15u;
  b.clear_pitch = b.pitch / kLrzClearBlockX;
  const uint32_t bits = b.clear_pitch * (height / kLrzClearBlockY);
  const uint16_t open = direction == LrzDirection::greater ? 0 : kLrzMost;  // says nothing, so always holds
  // The a6xx keep only whether a block is cleared, to 0.0 or 1.0: the end that is right for the direction whichever of both it was.
  const bool kept = generation >= kLrzBidirectional;
  b.fast_clear =
      generation >= kLrzFastClear && bits <= 8 * lrz_fast_clear_limit_B(generation) && (kept || !clear || *clear == 0.0f || *clear == 1.0f);
  b.cleared = open;
  if (clear && (kept || !b.fast_clear)) b.cleared = lrz_round(b.depth, lrz_word(b.depth, *clear));
  b.texels.assign(size_t{b.pitch} * height, b.cleared);
  b.touched.assign((bits + 63) / 64, b.fast_clear ? 0 : ~uint64_t{0});
}

namespace {

int64_t floor_quotient(int64_t a, int64_t positive) {
  assert(positive > 0);
  const int64_t quotient = a / positive;
  return quotient - (a % positive < 0);
}

}  // namespace

void lrz_insert(const LrzWriter& w, const records::TriangleRecord& r) {
  LrzBuffer& b = *w.buffer;
  assert(w.area_x0 <= w.area_x1 && w.area_y0 <= w.area_y1);
  const records::DepthLimits range{w.range_lo, w.range_hi};
  records::PrimitiveDepth p;
  records::set_up_depth(r, range, p);
  if (!std::isfinite(p.z0) || !std::isfinite(p.zx) || !std::isfinite(p.zy)) return;
  const bool less = b.direction != LrzDirection::greater;

  // Pixels whose samples may be covered, cut with the scissor; then the texels that lie in it as far as the render area goes.
  const int32_t min_x = std::min(std::min(r.x[0], r.x[1]), r.x[2]), max_x = std::max(std::max(r.x[0], r.x[1]), r.x[2]);
  const int32_t min_y = std::min(std::min(r.y[0], r.y[1]), r.y[2]), max_y = std::max(std::max(r.y[0], r.y[1]), r.y[2]);
  int32_t x0 = std::max(w.x0, (min_x - w.first_sample + 255) >> 8), x1 = std::min(w.x1, ((max_x - w.last_sample) >> 8) + 1);
  int32_t y0 = std::max(w.y0, (min_y - w.first_sample + 255) >> 8), y1 = std::min(w.y1, ((max_y - w.last_sample) >> 8) + 1);
  if (x0 >= x1 || y0 >= y1) return;
  const auto first = [](int32_t low, int32_t area, uint32_t shift) {
    return low <= area ? area >> shift : (low + (1 << shift) - 1) >> shift;
  };
  const auto end = [](int32_t high, int32_t area, uint32_t shift) {
    return high >= area ? (area + (1 << shift) - 1) >> shift : high >> shift;
  };
  const int32_t column0 = first(x0, w.area_x0, b.texel.shift_x), column1 = end(x1, w.area_x1, b.texel.shift_x);
  const int32_t row0 = first(y0, w.area_y0, b.texel.shift_y), row1 = end(y1, w.area_y1, b.texel.shift_y);
  if (column0 >= column1 || row0 >= row1) return;

  // Edge functions as in the rasterizer; the corner of a texel's sample points that lies farthest outside decides.
  int64_t dx[3], dy[3], bias[3];
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    dx[k] = r.x[n] - r.x[k];
    dy[k] = r.y[n] - r.y[k];
    bias[k] = dy[k] < 0 || (dy[k] == 0 && dx[k] > 0) ? 0 : -1;
  }
  const int32_t width = 1 << b.texel.shift_x, height = 1 << b.texel.shift_y;
  assert(column0 >= 0 && row0 >= 0 && column1 <= static_cast<int32_t>(b.columns) && row1 <= static_cast<int32_t>(b.rows));
  const float scale = 1.0f / 256;
  for (int32_t row = row0; row < row1; row++) {
    // Sample points of the row's texels in the render area, in subpixels.
    const int64_t top = int64_t{std::max(row * height, w.area_y0)} * 256 + w.first_sample;
    const int64_t bottom = int64_t{std::min((row + 1) * height, w.area_y1) - 1} * 256 + w.last_sample;
    const float z_y = static_cast<float>((p.zy >= 0) == less ? bottom : top) * scale;
    const float term_y = p.zy * (z_y - p.anchor_y);
    // Where each edge is crossed in this row bounds the columns; one more on either side, because the render area may cut those.
    int64_t from = column0, to = column1;
    for (int k = 0; k < 3; k++) {
      const int64_t corner = dy[k] > 0 ? int64_t{width - 1} * 256 + w.last_sample : w.first_sample;
      const int64_t at_zero = dx[k] * ((dx[k] > 0 ? top : bottom) - r.y[k]) - dy[k] * (corner - r.x[k]) + bias[k];
      const int64_t step = dy[k] * width * 256;
      if (step > 0) to = std::min(to, floor_quotient(at_zero, step) + 2);
      if (step < 0) from = std::max(from, -floor_quotient(at_zero, -step) - 1);
      if (step == 0 && at_zero < 0) to = from;
    }
    if (from >= to) continue;
    bool was_inside = false;
    for (int32_t column = static_cast<int32_t>(from); column < to; column++) {
      const int64_t left = int64_t{std::max(column * width, w.area_x0)} * 256 + w.first_sample;
      const int64_t right = int64_t{std::min((column + 1) * width, w.area_x1) - 1} * 256 + w.last_sample;
      bool inside = true;
      for (int k = 0; k < 3; k++) {
        const int64_t px = dy[k] > 0 ? right : left, py = dx[k] > 0 ? top : bottom;
        inside &= dx[k] * (py - r.y[k]) - dy[k] * (px - r.x[k]) + bias[k] >= 0;
      }
      if (!inside) {
        if (was_inside) break;  // three half-planes cut a row in one interval
        continue;
      }
      was_inside = true;
      // The expression of depth is monotone in x and in y, rounding included: its extreme is at a corner.
      const float z_x = static_cast<float>((p.zx >= 0) == less ? right : left) * scale;
      const float z = (p.z0 + p.zx * (z_x - p.anchor_x)) + term_y;
      const float above = z > p.lo ? z : p.lo;
      const float clamped = above < p.hi ? above : p.hi;
      b.improve(static_cast<uint32_t>(column), static_cast<uint32_t>(row), lrz_round(b.depth, lrz_word(b.depth, clamped)));
    }
  }
}

}  // namespace tilegpu::hsr
