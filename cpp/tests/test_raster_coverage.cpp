// test_raster_coverage.cpp -- coverage of random triangles equals a brute-force reference in 128-bit integers, at all sample
// counts, bin by bin, with scissor; shared edges are covered once.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "base/intrinsics.hpp"
#include "check.hpp"
#include "records/primitive_setup.hpp"
#include "tile/coverage/batch_coverage.hpp"
#include "tile/coverage/coverage.hpp"

using namespace tilegpu;
using namespace tilegpu::tile;

namespace {

constexpr int32_t kBin = 64;

/// Remembers each sample of a bin; a sample that is covered twice by one triangle is an error.
struct Recorder {
  uint32_t samples;
  std::vector<uint8_t> hits;
  bool twice = false, outside = false;
  explicit Recorder(uint32_t n) : samples(n), hits(static_cast<size_t>(kBin * kBin) * n) {}
  void add(int32_t x, int32_t y, uint32_t s) {
    if (x < 0 || y < 0 || x >= kBin || y >= kBin) {
      outside = true;
      return;
    }
    uint8_t& h = hits[static_cast<size_t>(y * kBin + x) * samples + s];
    twice |= h != 0;
    h = 1;
  }
  void full_span(int32_t bx, int32_t by, int32_t count) {
    for (int32_t i = 0; i < count * 16; i++)
      for (uint32_t s = 0; s < samples; s++) add(bx * 4 + i % (count * 4), by * 4 + i / (count * 4), s);
  }
  void block(int32_t bx, int32_t by, const uint16_t* masks) {
    for (uint32_t s = 0; s < samples; s++)
      for (int32_t p = 0; p < 16; p++)
        if (masks[s] >> p & 1) add(bx * 4 + (p >> 2 & 1) * 2 + (p & 1), by * 4 + (p >> 3) * 2 + (p >> 1 & 1), s);
  }
  // Some are called hidden: they come as hidden_part.
  uint32_t window_blocks(int32_t bx, int32_t by, uint32_t full, uint32_t part) {
    outside |= bx % 4 || by % 4 || (full & part);
    for (uint32_t b = 0; b < 16; b++)
      if (full >> b & 1) full_span(bx + static_cast<int32_t>(b & 3), by + static_cast<int32_t>(b >> 2), 1);
    return part & 0x8421;
  }
  bool prefers_windows() const { return true; }
  void hidden_part(int32_t bx, int32_t by, uint32_t mask) {
    const uint16_t one = static_cast<uint16_t>(mask);
    block(bx, by, &one);
  }
  void quad(int32_t x, int32_t y, uint64_t coverage) {
    for (uint32_t s = 0; s < samples; s++)
      for (int32_t p = 0; p < 4; p++)
        if (coverage >> (4 * s + static_cast<uint32_t>(p)) & 1) add(x + (p & 1), y + (p >> 1), s);
  }
};

bool reference(const records::TriangleRecord& r, int32_t x_px, int32_t y_px, vk::SampleLocation at) {
  const __int128 px = static_cast<__int128>(x_px) * 256 + at.x * 16, py = static_cast<__int128>(y_px) * 256 + at.y * 16;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3;
    const __int128 dx = static_cast<__int128>(r.x[b]) - r.x[a], dy = static_cast<__int128>(r.y[b]) - r.y[a];
    const __int128 e = dx * (py - r.y[a]) - dy * (px - r.x[a]);
    const bool left = dy < 0, top = dy == 0 && dx > 0;
    if (e < 0 || (e == 0 && !left && !top)) return false;
  }
  return true;
}

int64_t area(const records::TriangleRecord& r) {
  return int64_t{r.x[1] - r.x[0]} * (r.y[2] - r.y[0]) - int64_t{r.x[2] - r.x[0]} * (r.y[1] - r.y[0]);
}

/// A triangle wound so that its area is positive; false when it has none.
bool wind(records::TriangleRecord& r) {
  if (area(r) < 0) {
    std::swap(r.x[1], r.x[2]);
    std::swap(r.y[1], r.y[2]);
  }
  return area(r) > 0;
}

uint64_t covered_total = 0;

void check_bin(const records::TriangleRecord& r, int32_t ox, int32_t oy, const PixelRect& rect, uint32_t samples) {
  Recorder recorder(samples);
  cover_triangle(r, ox, oy, rect, samples, recorder);
  CHECK(!recorder.twice);
  CHECK(!recorder.outside);
  const vk::SampleLocation* at = vk::sample_locations(samples);
  bool equal = true;
  for (int32_t y = 0; y < kBin; y++)
    for (int32_t x = 0; x < kBin; x++)
      for (uint32_t s = 0; s < samples; s++) {
        const bool in_rect = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
        const bool expected = in_rect && reference(r, ox + x, oy + y, at[s]);
        equal &= expected == (recorder.hits[static_cast<size_t>(y * kBin + x) * samples + s] != 0);
        covered_total += expected;
      }
  if (!equal && test::failures < 5)
    std::printf("samples %u bin (%d,%d): (%d,%d) (%d,%d) (%d,%d)\n", samples, ox, oy, r.x[0], r.y[0], r.x[1], r.y[1], r.x[2], r.y[2]);
  CHECK(equal);
}

uint32_t lists = 0;

/// The same by the list of one triangle's blocks, where it has one (AVX-512).
void check_list(const records::TriangleRecord& r, int32_t ox, int32_t oy, const PixelRect& rect) {
  if (!has_wide_vectors()) return;
  const records::TriangleRecord* records[kBatch];
  std::fill(records, records + kBatch, &r);
  TriangleBatch batch;
  prepare_batch(records, 1, ox, oy, rect, 1, detail::kSmallTriangle, 0, 1, batch);
  if (!(batch.medium & 1) || (batch.outside & 1)) return;
  lists++;
  auto place = std::make_unique<BinPlace>();
  place->place(ox, oy, kBin / 4);
  place->cut(rect);
  CoveredOfOne found;
  cover_one_wide(batch, 0, *place, found);
  std::vector<uint8_t> hits(static_cast<size_t>(kBin * kBin));
  bool good = true;
  for (uint32_t i = 0; i < found.count; i++)
    for (int p = 0; p < 16; p++) {
      const int x = found.x[i] * 4 + (p & 1) + (p >> 2 & 1) * 2, y = found.y[i] * 4 + (p >> 1 & 1) + (p >> 3) * 2;
      good &= x < kBin && y < kBin && found.masks[i] != 0;
      if (good && found.masks[i] >> p & 1) good &= !hits[static_cast<size_t>(y * kBin + x)]++;
    }
  for (int32_t y = 0; y < kBin; y++)
    for (int32_t x = 0; x < kBin; x++) {
      const bool in_rect = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
      good &= (in_rect && reference(r, ox + x, oy + y, vk::sample_locations(1)[0])) == (hits[static_cast<size_t>(y * kBin + x)] != 0);
    }
  CHECK(good);
}

void random_triangles() {
  std::mt19937 rng(7);
  const auto between = [&](int32_t lo, int32_t hi) { return std::uniform_int_distribution<int32_t>(lo, hi)(rng); };
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u}) {
    const int rounds = samples >= 8 ? 700 : 1500;
    for (int i = 0; i < rounds; i++) {
      const int32_t ox = between(0, 3) * 64, oy = between(0, 3) * 64;
      records::TriangleRecord r{};
      const int kind = i % 9;
      const int32_t cx = (ox + between(-8, 72)) * 256 + between(0, 255), cy = (oy + between(-8, 72)) * 256 + between(0, 255);
      for (int k = 0; k < 3; k++) {
        int32_t reach_x = 0, reach_y = 0;
        switch (kind) {
          case 0:
            reach_x = reach_y = 300;
            break;  // about a pixel
          case 1:
            reach_x = reach_y = 900;
            break;  // a few pixels
          case 2:
            reach_x = reach_y = 3000;
            break;
          case 3:
            reach_x = reach_y = 64 * 256;
            break;
          case 4:
            reach_x = 64 * 256, reach_y = 40;
            break;  // thin
          case 5:
            reach_x = 60, reach_y = 64 * 256;
            break;
          case 6:
            reach_x = reach_y = 4000 * 256;
            break;  // large
          case 7:
            reach_x = reach_y = 32767 * 256;
            break;  // guard band
          default:
            reach_x = reach_y = 2000;
            break;  // on the grid of pixels, below
        }
        r.x[k] = cx + between(-reach_x, reach_x);
        r.y[k] = cy + between(-reach_y, reach_y);
        if (kind == 8) {
          r.x[k] = (r.x[k] & ~127);
          r.y[k] = (r.y[k] & ~127);
        }
        if (kind == 7 && k < 2 && (i & 1)) {  // an edge near the bin
          r.x[k] = (k ? 32767 : -32768) * 256 + between(0, 255);
          r.y[k] = cy + between(-64 * 256, 64 * 256);
        }
      }
      if (!wind(r) && i % 7) continue;  // some without area stay: they cover nothing
      PixelRect rect{0, 0, kBin, kBin};
      if (i % 3 == 0) rect = {between(0, 30), between(0, 30), between(31, 64), between(31, 64)};
      check_bin(r, ox, oy, rect, samples);
      if (samples == 1 && area(r) > 0) check_list(r, ox, oy, rect);
    }
  }
}

// A fan of triangles round a point: each sample of the disc in exactly one of them.
void shared_edges() {
  std::mt19937 rng(11);
  for (uint32_t samples : {1u, 4u, 16u})
    for (int i = 0; i < 60; i++) {
      const auto point = [&] {
        const int32_t grid = i & 1 ? 128 : 1;
        return static_cast<int32_t>(rng() % (64 * 256)) / grid * grid;
      };
      std::vector<uint8_t> count(static_cast<size_t>(kBin * kBin) * samples);
      // A quad split along both diagonals through a random inner point.
      const int32_t cx = point() / 4 + 24 * 256, cy = point() / 4 + 24 * 256;
      const int32_t corner[4][2] = {{0, 0}, {64 * 256, 0}, {64 * 256, 64 * 256}, {0, 64 * 256}};
      for (int k = 0; k < 4; k++) {
        records::TriangleRecord r{};
        r.x[0] = cx, r.y[0] = cy;
        r.x[1] = corner[k][0], r.y[1] = corner[k][1];
        r.x[2] = corner[(k + 1) % 4][0], r.y[2] = corner[(k + 1) % 4][1];
        CHECK(wind(r));
        Recorder recorder(samples);
        cover_triangle(r, 0, 0, {0, 0, kBin, kBin}, samples, recorder);
        for (size_t n = 0; n < count.size(); n++) count[n] = static_cast<uint8_t>(count[n] + recorder.hits[n]);
      }
      bool once = true;
      for (uint8_t c : count) once &= c == 1;
      CHECK(once);
    }
}

void single_quads() {
  std::mt19937 rng(3);
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u})
    for (int i = 0; i < 200; i++) {
      records::TriangleRecord r{};
      for (int k = 0; k < 3; k++) r.x[k] = static_cast<int32_t>(rng() % 2000), r.y[k] = static_cast<int32_t>(rng() % 2000);
      if (!wind(r)) continue;
      Recorder recorder(samples);
      cover_triangle(r, 0, 0, {0, 0, kBin, kBin}, samples, recorder);
      for (int32_t y = 0; y < 8; y += 2)
        for (int32_t x = 0; x < 8; x += 2) {
          uint64_t expected = 0;
          for (uint32_t s = 0; s < samples; s++)
            for (int32_t p = 0; p < 4; p++)
              if (recorder.hits[static_cast<size_t>((y + (p >> 1)) * kBin + x + (p & 1)) * samples + s])
                expected |= uint64_t{1} << (4 * s + static_cast<uint32_t>(p));
          CHECK(cover_quad(r, x, y, samples) == expected);
        }
    }
}

// -- eight at once

bool same_float(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b); }

/// Small squares of points: their masks are the pixels whose centres lie in them, left and top edges being their own.
void random_squares() {
  std::mt19937 rng(19);
  const auto between = [&](int32_t lo, int32_t hi) { return std::uniform_int_distribution<int32_t>(lo, hi)(rng); };
  uint32_t small = 0, edges = 0;
  for (int i = 0; i < 4000; i++) {
    records::TriangleRecord r[kBatch]{};
    const records::TriangleRecord* records[kBatch];
    const auto count = static_cast<uint32_t>(between(1, kBatch));
    const int32_t ox = between(0, 3) * 64, oy = between(0, 3) * 64;
    for (uint32_t k = 0; k < kBatch; k++) {
      const int32_t half = i % 3 ? between(1, 600) : between(1, 9) * 64;
      int32_t x = (ox + between(-3, 67)) * 256 + between(0, 255), y = (oy + between(-3, 67)) * 256 + between(0, 255);
      if (i % 2) x &= ~63, y &= ~63;
      r[k] = {{x - half, x + half, x - half}, {y - half, y - half, y + half}, {}, {1, 1, 1}, {}, 0};
      std::fill_n(r[k].z, 3, static_cast<float>(between(-8, 40)) / 32);
      records[k] = &r[k < count ? k : 0];
    }
    PixelRect rect{0, 0, kBin, kBin};
    if (i % 3 == 1) rect = {between(0, 30), between(0, 30), between(31, 64), between(31, 64)};
    TriangleBatch batch;
    prepare_squares(records, count, ox, oy, rect, detail::kSmallTriangle, 0, 1, batch);
    for (uint32_t k = 0; k < count; k++) {
      const auto inside = [&](int32_t x, int32_t y) {
        const int32_t px = (ox + x) * 256 + 128, py = (oy + y) * 256 + 128;
        return x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1 && px >= r[k].x[0] && px < r[k].x[1] && py >= r[k].y[0] &&
               py < r[k].y[2];
      };
      uint32_t all = 0, found = 0;
      for (int32_t y = 0; y < kBin; y++)
        for (int32_t x = 0; x < kBin; x++) all += inside(x, y);
      edges += (r[k].x[1] & 255) == 128;
      CHECK((batch.outside >> k & 1) == (all == 0));
      records::PrimitiveDepth depth;
      records::set_up_depth(r[k], {0, 1}, depth);
      CHECK(same_float(depth.z0, batch.z0[k]) && same_float(depth.zx, batch.zx[k]) && same_float(depth.lo, batch.lo[k]));
      if (!(batch.small >> k & 1)) continue;
      small++;
      const PixelRect box{batch.from_x[k], batch.from_y[k], batch.end_x[k], batch.end_y[k]};
      const uint32_t mask = detail::rect_bits(box, batch.window_x[k], batch.window_y[k]);
      bool good = true;
      for (int32_t p = 0; p < 16; p++)
        if (mask >> p & 1) {
          found++;
          good &= inside(batch.window_x[k] + (p >> 2 & 1) * 2 + (p & 1), batch.window_y[k] + (p >> 3) * 2 + (p >> 1 & 1));
        }
      CHECK(good && found == all);
    }
  }
  CHECK(small > 3000 && edges > 100);
}

/// Setups of eight are those of each.
void setups_together() {
  uint32_t upright = 0;
  std::mt19937 rng(23);
  const auto number = [&](float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(rng); };
  records::Chunk chunk;
  chunk.varyings.resize(4096);
  for (int i = 0; i < 3000; i++) {
    chunk.records.resize(kBatch);
    chunk.primitive_id.resize(i % 2 ? kBatch : 0);
    const records::TriangleRecord* records[kBatch];
    const records::Chunk* chunks[kBatch];
    uint32_t orders[kBatch];
    shader::PrimitiveSetup together[kBatch]{}, *out[kBatch];
    for (uint32_t k = 0; k < kBatch; k++) {
      records::TriangleRecord& r = chunk.records[k];
      r = {};
      for (int v = 0; v < 3; v++) {
        r.x[v] = static_cast<int32_t>(rng() % 20000), r.y[v] = static_cast<int32_t>(rng() % 20000);
        r.z[v] = number(-1, 2), r.q[v] = i % 3 ? number(0.1f, 4) : 1.0f;
        r.vertex[v] = rng() % 1024;
      }
      if (i % 5 == 0) r.z[rng() % 3] = std::bit_cast<float>(static_cast<uint32_t>(rng()));
      r.draw_flags = (rng() & records::kDrawMask) | (rng() % 2 ? records::kFrontFacing : 0) | (rng() % 3) << records::kProvokingShift;
      if (rng() % 4 == 0) {  // half of an upright rectangle
        const uint32_t a = rng() % 3, b = (a + 1 + rng() % 2) % 3;
        r.x[b] = r.x[a], r.y[3 - a - b] = r.y[a];
        for (int v = 1; v < 3; v++) r.z[v] = r.z[0], r.q[v] = r.q[0];
      }
      if (!wind(r)) r.x[0] -= 50000, wind(r);
      if (i % 2) chunk.primitive_id[k] = static_cast<uint32_t>(rng());
      records[k] = &r, chunks[k] = &chunk, orders[k] = k + 7, out[k] = &together[k];
    }
    const uint32_t corners = rng() & 0xff;
    set_up_primitives(records, chunks, orders, 0.25f, 0.75f, corners, out);
    for (uint32_t k = 0; k < kBatch; k++) {
      shader::PrimitiveSetup alone{};
      records::set_up_primitive(*records[k], chunk, {0.25f, 0.75f}, orders[k], corners >> k & 1, alone);
      const float *a = &alone.anchor_x, *b = &together[k].anchor_x;
      bool same = true;
      for (size_t n = 0; n < offsetof(shader::PrimitiveSetup, varying) / sizeof(float); n++) same &= same_float(a[n], b[n]);
      for (int v = 0; v < 3; v++) same &= alone.varying[v] == together[k].varying[v];
      CHECK(same && alone.provoking == together[k].provoking && alone.primitive_id == together[k].primitive_id);
      CHECK(alone.front_facing == together[k].front_facing && alone.draw == together[k].draw && alone.order == together[k].order);
      CHECK(alone.deferred == together[k].deferred && alone.upright == together[k].upright && alone.completes == together[k].completes);
      upright += alone.upright;
    }
  }
  CHECK(upright > 2000);
}

}  // namespace

int main() {
  random_triangles();
  random_squares();
  setups_together();
  shared_edges();
  single_quads();
  CHECK(covered_total > 1000000);
  CHECK(lists > 100 || !has_wide_vectors());
  std::printf("%llu samples compared inside\n", static_cast<unsigned long long>(covered_total));
  return test::finish("test_raster_coverage");
}
