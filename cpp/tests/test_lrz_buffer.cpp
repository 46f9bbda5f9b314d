// test_lrz_buffer.cpp -- low-resolution Z, the buffer: rounding in every depth format, under every compare operation; layout and fast
// clear; triangles against every sample point of the texels; the precision experiment of Mesa's lrz.rst.
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

float random_depth(std::mt19937& random, int i) {
  float z = static_cast<float>(random()) * 0x1p-32f;
  if (i % 3 == 0) z = std::ldexp(z, -static_cast<int>(random() % 140));
  if (i % 7 == 0) z = static_cast<float>(random() % 65536) / 65535.0f;
  return i < 2 ? static_cast<float>(i) : z;
}

bool behind(LrzDepth depth, LrzDirection direction, uint16_t texel, int32_t word) {
  const int32_t threshold = lrz_threshold(depth, direction, texel);
  return direction == kGreater ? word < threshold : word > threshold;
}

// Down, by less than a step; and words are compared with a threshold as rounded depths are with the texel: the tile phase does the former,
// binning the latter.
void test_rounding() {
  std::mt19937 random(7);
  for (VkFormat format : kFormats) {
    const LrzDepth depth = lrz_depth(format);
    for (int i = 0; i < 40000; i++) {
      const float z = random_depth(random, i);
      const int32_t word = lrz_word(depth, z), other = lrz_word(depth, random_depth(random, i + 1));
      const uint16_t texel = lrz_round(depth, word);
      const double exact = depth.unorm ? static_cast<double>(word) / depth.most : static_cast<double>(z);
      CHECK(texel <= exact * 65535 && exact * 65535 < texel + 1);
      const int32_t beside = std::max(0, word + static_cast<int32_t>(random() % 5) - 2);
      for (int32_t w : {word, other, std::min(beside, lrz_word(depth, 1))})
        for (LrzDirection direction : {kLess, kGreater}) {
          const uint16_t rounded = lrz_round(depth, w);
          CHECK(behind(depth, direction, texel, w) == (direction == kGreater ? rounded < texel : rounded > texel));
        }
      CHECK(!behind(depth, kLess, 65535, word) && !behind(depth, kGreater, 0, word));  // the open ends
      if (z < 0.99f) CHECK(behind(depth, kLess, texel, lrz_word(depth, z + 1.5f / 65535)));
      if (z > 0.01f) CHECK(behind(depth, kGreater, texel, lrz_word(depth, z - 1.5f / 65535)));
    }
  }
}

bool passes(VkCompareOp compare, int32_t fragment, int32_t stored) {
  switch (compare) {
    case VK_COMPARE_OP_LESS:
      return fragment < stored;
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return fragment <= stored;
    case VK_COMPARE_OP_GREATER:
      return fragment > stored;
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return fragment >= stored;
    default:
      return false;
  }
}

// A texel is the farthest of 64 random depths, some of them neighbours of each other: no fragment that would pass the exact test against
// any of them is rejected. The other compare operations are not tested against the buffer (test_lrz_state).
void test_never_rejects_what_passes() {
  std::mt19937 random(11);
  size_t rejected = 0, kept = 0;
  for (VkFormat format : kFormats) {
    const LrzDepth depth = lrz_depth(format);
    const int32_t most = lrz_word(depth, 1);
    for (int i = 0; i < 4000; i++) {
      const int32_t centre = lrz_word(depth, random_depth(random, i));
      const int64_t spread = int64_t{1} << random() % 24;
      const auto near = [&](int64_t wide = 1) {
        const int64_t within = wide * spread;
        const int64_t word = centre + static_cast<int64_t>(random() % static_cast<uint64_t>(2 * within + 1)) - within;
        return static_cast<int32_t>(std::clamp<int64_t>(word, 0, most));
      };
      int32_t stored[64], nearest = most, farthest = 0;
      for (int32_t& word : stored) word = near(), nearest = std::min(nearest, word), farthest = std::max(farthest, word);
      for (VkCompareOp compare : {VK_COMPARE_OP_LESS, VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER, VK_COMPARE_OP_GREATER_OR_EQUAL}) {
        const bool less = compare == VK_COMPARE_OP_LESS || compare == VK_COMPARE_OP_LESS_OR_EQUAL;
        const uint16_t texel = lrz_round(depth, less ? farthest : nearest);
        for (int n = 0; n < 16; n++) {
          const int32_t fragment = n < 8 ? near(4) : stored[random() % 64];
          if (!behind(depth, less ? kLess : kGreater, texel, fragment)) {
            kept++;
            continue;
          }
          rejected++;
          for (int32_t word : stored) CHECK(!passes(compare, fragment, word));
        }
      }
    }
  }
  CHECK_MESSAGE(rejected > 20000 && kept > 200000, std::to_string(rejected) + " and " + std::to_string(kept));
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
  lrz_clear(b, 3, kLess, VK_FORMAT_D32_SFLOAT, 1, 1920, 1080, &one);
  CHECK(b.columns == 240 && b.rows == 135 && b.pitch == 256 && b.texels.size() == 256 * 144 && b.fast_clear);
  CHECK(b.value(0, 0) == 65535 && !b.is_touched(0, 0));
  // One bit a block of 16x4 texels; it says nothing of its neighbours.
  CHECK(b.improve(17, 5, 100) && !b.improve(17, 5, 100) && !b.improve(17, 5, 101) && b.improve(17, 5, 99));
  CHECK(b.value(17, 5) == 99 && b.is_touched(31, 7) && !b.is_touched(32, 7) && !b.is_touched(15, 7) && !b.is_touched(17, 8));
  CHECK(b.value(18, 5) == 65535);
  // a6xx: a cleared block counts as 0.0 for GREATER and 1.0 for LESS; other values are cleared slowly. a7xx keeps any value.
  lrz_clear(b, 3, kGreater, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &one);
  CHECK(b.fast_clear && b.value(0, 0) == 0);
  // The first two generations' drivers use no fast clear.
  lrz_clear(b, 1, kGreater, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &one);
  CHECK(!b.fast_clear && b.value(0, 0) == lrz_round(b.depth, bits(one)) && b.is_touched(0, 0));
  lrz_clear(b, 3, kLess, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &some);
  CHECK(!b.fast_clear && b.value(0, 0) == lrz_round(b.depth, bits(some)) && b.is_touched(0, 0));
  lrz_clear(b, 4, kLess, VK_FORMAT_D32_SFLOAT, 1, 64, 64, &some);
  CHECK(b.fast_clear && b.value(0, 0) == lrz_round(b.depth, bits(some)) && !b.is_touched(0, 0));
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
        if (samples == 1 && any && covered) CHECK(value == lrz_round(b.depth, extreme));
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
      for (uint32_t column = 0; column < b.columns; column++) CHECK(b.value(column, row) == 32767);
  }
}

// lrz.rst, "LRZ Precision": a clear value below the buffer's epsilon, and draws one float above and below. The buffer is all zeroes after
// the clear and after each draw, and nothing is rejected that the exact test would pass.
void test_precision_experiment() {
  const float clear = 1.0f / (1 << 17);
  const float above = std::nextafter(clear, 1.0f), below = std::nextafter(clear, 0.0f);
  for (uint32_t generation : {1u, 3u, 4u})
    for (LrzDirection direction : {kLess, kGreater}) {
      LrzBuffer b;
      lrz_clear(b, generation, direction, VK_FORMAT_D32_SFLOAT, 1, 8, 8, &clear);
      CHECK(b.value(0, 0) == 0);
      for (float z : {below, clear, above}) {
        CHECK(!behind(b.depth, direction, b.value(0, 0), bits(z)));  // what fails the exact test is left to it: that is the slack
        LrzWriter w;
        w.buffer = &b;
        w.x1 = w.area_x1 = 8, w.y1 = w.area_y1 = 8;
        lrz_insert(w, {{0, 64 * 256, 0}, {0, 0, 64 * 256}, {z, z, z}, {1, 1, 1}, {}, 0});
        CHECK(b.value(0, 0) == 0);
      }
      CHECK(behind(b.depth, direction, b.value(0, 0), bits(3.0f / 65536)) == (direction == kLess));
    }
}

}  // namespace

int main() {
  test_rounding();
  test_never_rejects_what_passes();
  test_layout();
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u})
    for (LrzDirection direction : {kLess, kGreater})
      for (VkFormat format : kFormats) test_triangles(samples, direction, format);
  test_full_screen();
  test_precision_experiment();
  return test::finish("lrz_buffer");
}
