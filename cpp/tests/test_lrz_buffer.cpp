// test_lrz_buffer.cpp -- low-resolution Z, the buffer: outward rounding in every depth format; layout and fast clear; triangles against
// every sample point of the texels; the precision experiment of Mesa's lrz.rst.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "check.hpp"
#include "hsr/lrz_buffer.hpp"
#include "records/primitive_setup.hpp"
#include "vk/sample_locations.hpp"

using namespace tilegpu;
using namespace tilegpu::hsr;

namespace {

constexpr VkFormat kFormats[] = {VK_FORMAT_D16_UNORM, VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT};
constexpr LrzDirection kLess = LrzDirection::less, kGreater = LrzDirection::greater;

int32_t bits(float f) {
  int32_t i;
  std::memcpy(&i, &f, 4);
  return i;
}

// For random depths: the texel's threshold never lies inside of a word that went in, and is at most a 16-bit step away.
void test_rounding() {
  std::mt19937 random(7);
  for (VkFormat format : kFormats) {
    const LrzDepth depth = lrz_depth(format);
    for (int i = 0; i < 40000; i++) {
      float z = static_cast<float>(random()) * 0x1p-32f;
      if (i % 3 == 0) z = std::ldexp(z, -static_cast<int>(random() % 140));
      if (i % 7 == 0) z = static_cast<float>(random() % 65536) / 65535.0f;
      if (i < 2) z = static_cast<float>(i);
      const int32_t word = lrz_word(depth, z);
      const uint16_t up = lrz_round(depth, kLess, word), down = lrz_round(depth, kGreater, word);
      CHECK(lrz_threshold(depth, kLess, up) >= word);
      CHECK(lrz_threshold(depth, kGreater, down) <= word);
      CHECK(up - down <= 1 && up >= down);
      if (up > 0) CHECK(lrz_threshold(depth, kLess, static_cast<uint16_t>(up - 1)) <= word + 1);
      const int32_t further = lrz_word(depth, z + 2.5f / 65535);
      if (z < 0.99f) CHECK(further > lrz_threshold(depth, kLess, up));  // two steps behind is rejected
    }
  }
}

void test_layout() {
  struct {
    uint32_t samples, width, height;
  } cases[] = {{1, 8, 8}, {2, 8, 4}, {4, 4, 4}, {8, 4, 2}, {16, 2, 2}};
  for (const auto& c : cases) {
    CHECK(lrz_texel(c.samples).width_px() == c.width && lrz_texel(c.samples).height_px() == c.height);
    CHECK(c.width * c.height * c.samples == 64);  // 8x8 samples
  }
  LrzBuffer b;
  const float one = 1, some = 0.25f;
  lrz_clear(b, 1, kLess, VK_FORMAT_D32_SFLOAT, 1, 1920, 1080, &one);
  CHECK(b.columns == 240 && b.rows == 135 && b.pitch == 256 && b.texels.size() == 256 * 144 && b.fast_clear);
  CHECK(b.value(0, 0) == 65535 && !b.is_touched(0, 0));
  // One bit a block of 16x4 texels; it says nothing of its neighbours.
  CHECK(b.improve(17, 5, 100) && !b.improve(17, 5, 100) && !b.improve(17, 5, 101) && b.improve(17, 5, 99));
  CHECK(b.value(17, 5) == 99 && b.is_touched(31, 7) && !b.is_touched(32, 7) && !b.is_touched(15, 7) && !b.is_touched(17, 8));
  CHECK(b.value(18, 5) == 65535);
  // a6xx: a cleared block counts as 0.0 for GREATER and 1.0 for LESS; other values are cleared slowly. a7xx keeps any value.
  lrz_clear(b, 1, kGreater, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &one);
  CHECK(b.fast_clear && b.value(0, 0) == 0);
  lrz_clear(b, 3, kLess, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &some);
  CHECK(!b.fast_clear && b.value(0, 0) == lrz_round(b.depth, kLess, bits(some)) && b.is_touched(0, 0));
  lrz_clear(b, 4, kLess, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &some);
  CHECK(b.fast_clear && b.value(0, 0) == lrz_round(b.depth, kLess, bits(some)) && !b.is_touched(0, 0));
  lrz_clear(b, 4, kGreater, VK_FORMAT_D32_SFLOAT, 1, 64, 64, nullptr);
  CHECK(b.value(3, 3) == 0);
  // At most 512 bytes of bits, 1024 on a7xx: 4096 blocks of 128x32 pixels.
  lrz_clear(b, 3, kLess, VK_FORMAT_D32_SFLOAT, 1, 4096, 4096, &one);
  CHECK(b.fast_clear);
  lrz_clear(b, 3, kLess, VK_FORMAT_D32_SFLOAT, 1, 4096, 8192, &one);
  CHECK(!b.fast_clear);
  lrz_clear(b, 4, kLess, VK_FORMAT_D32_SFLOAT, 1, 4096, 8192, &one);
  CHECK(b.fast_clear);
}

records::TriangleRecord random_triangle(std::mt19937& random, int32_t size_px) {
  records::TriangleRecord r{};
  const auto coordinate = [&] { return static_cast<int32_t>(random() % static_cast<uint32_t>(size_px * 256 * 3)) - size_px * 256; };
  for (;;) {
    for (int k = 0; k < 3; k++) {
      r.x[k] = coordinate();
      r.y[k] = coordinate();
      r.z[k] = static_cast<float>(random()) * 0x1.8p-32f - 0.2f;
      r.q[k] = 0.1f + static_cast<float>(random()) * 0x1p-32f;
    }
    const int64_t area = int64_t{r.x[1] - r.x[0]} * (r.y[2] - r.y[0]) - int64_t{r.x[2] - r.x[0]} * (r.y[1] - r.y[0]);
    if (area == 0) continue;
    if (area < 0) std::swap(r.x[1], r.x[2]), std::swap(r.y[1], r.y[2]), std::swap(r.z[1], r.z[2]), std::swap(r.q[1], r.q[2]);
    return r;
  }
}

// A texel moves only if every sample of it in the render area is covered, and then bounds the depth of each, in the same arithmetic
// as the tile's. With one sample each wholly covered texel moves, exactly to the extreme of its depths; with more the corners of the
// samples' square decide, which may lie outside where no sample does.
void test_triangles(uint32_t samples, LrzDirection direction, VkFormat format) {
  std::mt19937 random(samples * 100 + static_cast<uint32_t>(format) * 7 + lrz_index(direction));
  constexpr int32_t kWidth = 75, kHeight = 53;  // ends inside a texel
  const float open = direction == kGreater ? 0.0f : 1.0f;
  int moved = 0;
  for (int i = 0; i < 80; i++) {
    LrzBuffer b;
    lrz_clear(b, 1 + random() % 4, direction, format, samples, kWidth, kHeight, &open);
    LrzWriter w;
    w.buffer = &b;
    w.area_x1 = kWidth;
    w.area_y1 = kHeight;
    if (i % 4 == 1) w.area_x0 = 5, w.area_y0 = 3, w.area_x1 = 61, w.area_y1 = 50;
    w.x0 = w.area_x0, w.y0 = w.area_y0, w.x1 = w.area_x1, w.y1 = w.area_y1;
    if (i % 4 == 2) w.x0 = 9, w.y0 = 6, w.x1 = 40, w.y1 = 47;
    if (i % 5 == 0) w.range_lo = 0.25f, w.range_hi = 0.75f;
    if (samples > 1) w.first_sample = 0, w.last_sample = 255;
    const records::TriangleRecord r = random_triangle(random, 64);
    lrz_insert(w, r);
    records::DepthLimits range;
    range.range_lo = w.range_lo, range.range_hi = w.range_hi;
    records::PrimitiveDepth p;
    records::set_up_depth(r, range, p);
    for (uint32_t row = 0; row < b.rows; row++)
      for (uint32_t column = 0; column < b.columns; column++) {
        const uint16_t value = b.value(column, row);
        const int32_t x0 = static_cast<int32_t>(column << b.texel.shift_x), y0 = static_cast<int32_t>(row << b.texel.shift_y);
        bool covered = true, any = false, whole = true;
        int32_t extreme = direction == kGreater ? INT32_MAX : 0;
        const int32_t threshold = lrz_threshold(b.depth, direction, value);
        for (int32_t y = y0; y < y0 + static_cast<int32_t>(b.texel.height_px()); y++)
          for (int32_t x = x0; x < x0 + static_cast<int32_t>(b.texel.width_px()); x++) {
            if (x < w.area_x0 || x >= w.area_x1 || y < w.area_y0 || y >= w.area_y1) continue;
            any = true;
            const uint64_t quad = records::cover_quad(r, x, y, samples);
            for (uint32_t s = 0; s < samples; s++) {
              const bool in = (quad >> 4 * s & 1) && x >= w.x0 && x < w.x1 && y >= w.y0 && y < w.y1;
              covered &= in;
              const float px = static_cast<float>(x) + vk::sample_locations(samples)[s].x / 16.0f;
              const float py = static_cast<float>(y) + vk::sample_locations(samples)[s].y / 16.0f;
              const float z = (p.z0 + p.zx * (px - p.anchor_x)) + p.zy * (py - p.anchor_y);
              const float clamped = std::min(std::max(z, p.lo), p.hi);
              const int32_t word = lrz_word(b.depth, clamped);
              whole &= direction == kGreater ? word >= threshold : word <= threshold;
              extreme = direction == kGreater ? std::min(extreme, word) : std::max(extreme, word);
            }
          }
        if (samples == 1 && any && covered) CHECK(value == lrz_round(b.depth, direction, extreme));
        if (value == (direction == kGreater ? 0 : 65535)) continue;
        moved++;
        CHECK(any && covered);
        CHECK(whole);
      }
  }
  CHECK_MESSAGE(moved > 150, std::to_string(moved));
}

void test_full_screen() {
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u}) {
    LrzBuffer b;
    const float one = 1;
    lrz_clear(b, 4, kLess, VK_FORMAT_D32_SFLOAT, samples, 75, 53, &one);
    LrzWriter w;
    w.buffer = &b;
    w.x1 = w.area_x1 = 75, w.y1 = w.area_y1 = 53;
    if (samples > 1) w.first_sample = 0, w.last_sample = 255;
    records::TriangleRecord r{{0, 400 * 256, 0}, {0, 0, 400 * 256}, {0.5f, 0.5f, 0.5f}, {1, 1, 1}, {}, 0};
    lrz_insert(w, r);
    for (uint32_t row = 0; row < b.rows; row++)
      for (uint32_t column = 0; column < b.columns; column++) CHECK(b.value(column, row) == 32768);
  }
}

// lrz.rst, "LRZ Precision": a clear value below the buffer's epsilon, and draws one float above and below. What full-resolution depth
// would pass is never rejected; the texels are all zero.
void test_precision_experiment() {
  const float clear = 1.0f / (1 << 17);
  const LrzDepth depth = lrz_depth(VK_FORMAT_D32_SFLOAT);
  const float above = std::nextafter(clear, 1.0f), below = std::nextafter(clear, 0.0f);
  LrzBuffer b;
  lrz_clear(b, 4, kGreater, VK_FORMAT_D32_SFLOAT, 1, 8, 8, &clear);
  CHECK(b.value(0, 0) == 0);
  const auto rejected = [&](LrzDirection direction, uint16_t value, float z) {
    const int32_t threshold = lrz_threshold(depth, direction, value);
    return direction == kGreater ? lrz_word(depth, z) < threshold : lrz_word(depth, z) > threshold;
  };
  CHECK(!rejected(kGreater, b.value(0, 0), above));  // OP_GREATER passes
  lrz_clear(b, 4, kLess, VK_FORMAT_D32_SFLOAT, 1, 8, 8, &clear);
  CHECK(!rejected(kLess, b.value(0, 0), below));  // OP_LESS passes
  CHECK(!rejected(kLess, b.value(0, 0), clear));  // LESS_OR_EQUAL at the value itself
  CHECK(rejected(kLess, b.value(0, 0), 3.0f / 65536));
}

}  // namespace

int main() {
  test_rounding();
  test_layout();
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u})
    for (LrzDirection direction : {kLess, kGreater})
      for (VkFormat format : kFormats) test_triangles(samples, direction, format);
  test_full_screen();
  test_precision_experiment();
  return test::finish("lrz_buffer");
}
