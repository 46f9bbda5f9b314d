// benchmarks/cpp/bench_scene_tile.hpp -- the tile phase of bench_scenes.cpp, for one or four samples: coverage and depth by sample, then
// each primitive seen in a quad shaded there once, then colours to the image.
//
// With four samples a 4x4 block is nothing, one primitive that covers all its samples, or depths and numbers of all samples (written when a
// second primitive or an edge comes), and they are averaged as they are shaded: a colour times the samples that it has in a pixel is added
// to the pixel.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench_scene_kernel.hpp"

namespace kernel {

constexpr int kWidth_px = 1920, kHeight_px = 1080, kTile_px = 64;
constexpr int kColumns = kWidth_px / kTile_px, kLines = (kHeight_px + kTile_px - 1) / kTile_px, kTiles = kColumns * kLines;
constexpr int kBlocks = kTile_px * kTile_px / 16;
constexpr uint32_t kClear = 0xff4d331au;  // (0.1, 0.2, 0.3, 1)
constexpr uint32_t kQueue = 256;          // entries: quads that wait
constexpr uint32_t kSamplewise = kNothing - 1;
constexpr uint64_t kInterrupted_ticks = 1 << 19;  // a tile takes a tenth: another process had the processor, the figures do not count
constexpr size_t kPitch_B = size_t{kWidth_px} * 4;

enum Stage { kFrontEnd, kCoverage, kInterpolation, kLookUps, kStore, kStages };

// Pixels of a 4x4 block in quads.
const I kLaneX = _mm512_setr_epi32(0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3);
const I kLaneY = _mm512_setr_epi32(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3);

template <int S>
struct Samples {
  static constexpr int32_t x[1] = {128}, y[1] = {128};  // subpixels
};
template <>
struct Samples<4> {
  static constexpr int32_t x[4] = {6 * 16, 14 * 16, 2 * 16, 10 * 16}, y[4] = {2 * 16, 6 * 16, 10 * 16, 14 * 16};
};

struct Worker {
  std::vector<uint32_t> bins[kTiles];
  // By block: the primitive that covers all of it, kNothing or kSamplewise.
  uint32_t held[kBlocks];
  alignas(64) float depth[kBlocks * 4][16];  // by block and sample
  alignas(64) uint32_t id[kBlocks * 4][16];
  alignas(64) uint32_t color[kBlocks][16];
  alignas(64) uint32_t sums[kBlocks][2][16];  // four samples: red and blue, green and alpha
  struct Entry {
    uint32_t primitive, samples;  // how many of each pixel's, a byte each
    uint16_t block;
    uint8_t quad, pixels;
  } queue[kQueue];
  uint32_t queued = 0;
  Fragments fragments;
  struct Packet {
    alignas(64) uint32_t samples[16];
    uint32_t* quad[4];  // the first alone: of a whole block
    uint32_t pixels;
    bool sums;
  } packets[kBatch];
  uint32_t packet_count = 0, failed = 0;
  uint64_t ticks[kStages] = {};
};

struct Draw {
  Shading shading;
  const Primitive* primitives;
  uint8_t* image;
};

inline void block_place(uint32_t block, int32_t* x, int32_t* y) {
  *x = static_cast<int32_t>(16 * (block >> 4 & 3) + 4 * (block & 3));
  *y = static_cast<int32_t>(16 * (block >> 6) + 4 * (block >> 2 & 3));
}

// Depth of sample s of a block whose first pixel is (x, y).
template <int S>
KERNEL_INLINE F depth_x(const Primitive& p, float x, int s) {
  const F at = _mm512_add_ps(_mm512_cvtepi32_ps(kLaneX), all(x + static_cast<float>(Samples<S>::x[s]) * (1.0f / 256)));
  return _mm512_add_ps(all(p.z0), _mm512_mul_ps(all(p.zx), _mm512_sub_ps(at, all(p.anchor_x))));
}
template <int S>
KERNEL_INLINE F depth_y(const Primitive& p, float y, int s) {
  const F at = _mm512_add_ps(_mm512_cvtepi32_ps(kLaneY), all(y + static_cast<float>(Samples<S>::y[s]) * (1.0f / 256)));
  return _mm512_mul_ps(all(p.zy), _mm512_sub_ps(at, all(p.anchor_y)));
}
KERNEL_INLINE F limit_depth(F z, const Primitive& p) { return _mm512_min_ps(_mm512_max_ps(z, all(p.lo)), all(p.hi)); }

// Depths and numbers of a block that was held as a whole, or empty.
template <int S>
__attribute__((noinline)) void write_samples(Worker& w, const Primitive* primitives, uint32_t block, int32_t tile_x_px, int32_t tile_y_px) {
  const uint32_t held = w.held[block];
  w.held[block] = kSamplewise;
  int32_t x, y;
  block_place(block, &x, &y);
  for (int s = 0; s < S; s++) {
    F z = all(1.0f);
    if (held != kNothing) {
      const Primitive& p = primitives[held];
      z = limit_depth(
          _mm512_add_ps(depth_x<S>(p, static_cast<float>(tile_x_px + x), s), depth_y<S>(p, static_cast<float>(tile_y_px + y), s)), p);
    }
    _mm512_store_ps(w.depth[block * S + static_cast<uint32_t>(s)], z);
    _mm512_store_si512(w.id[block * S + static_cast<uint32_t>(s)], all(static_cast<int32_t>(held)));
  }
}

// Coverage and depth of a triangle in a tile, window of 16x16 pixels by window, 4x4 block by block.
template <int S>
void rasterize(Worker& w, const Draw& draw, uint32_t number, int32_t tile_x_px, int32_t tile_y_px) {
  constexpr int32_t kLow = S == 1 ? 127 : 0, kHigh = S == 1 ? 129 : 1;
  const Primitive& p = draw.primitives[number];
  int32_t x[3], y[3];
  for (int k = 0; k < 3; k++) x[k] = p.x[k] - tile_x_px * 256, y[k] = p.y[k] - tile_y_px * 256;
  const auto least = [](const int32_t* v) { return std::min(v[0], std::min(v[1], v[2])); };
  const auto most = [](const int32_t* v) { return std::max(v[0], std::max(v[1], v[2])); };
  const int32_t end = std::min(kTile_px, kHeight_px - tile_y_px);
  const int32_t x0 = std::max((least(x) + kLow) >> 8, 0), x1 = std::min((most(x) - kHigh) >> 8, kTile_px - 1);
  const int32_t y0 = std::max((least(y) + kLow) >> 8, 0), y1 = std::min((most(y) - kHigh) >> 8, end - 1);
  if (x0 > x1 || y0 > y1) return;
  const I block_x = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  const I block_y = _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  I in_block[3], in_window[3];  // edges: at the pixels of a block, at the blocks of a window
  int32_t right[3], down[3], origin[3], best[3], worst[3], offset[3][S];
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    const int32_t dx = x[n] - x[k], dy = y[n] - y[k];
    const bool top_left = dy < 0 || (dy == 0 && dx > 0);
    constexpr int32_t kCentre = S > 1 ? 0 : 128;  // the one sample's place is in the edge
    origin[k] = dx * (kCentre - y[k]) - dy * (kCentre - x[k]) - !top_left;
    right[k] = -dy * 256, down[k] = dx * 256;
    for (int s = 0; s < S; s++) offset[k][s] = S > 1 ? dx * Samples<S>::y[s] - dy * Samples<S>::x[s] : 0;
    in_block[k] = _mm512_add_epi32(_mm512_mullo_epi32(all(right[k]), kLaneX), _mm512_mullo_epi32(all(down[k]), kLaneY));
    in_window[k] = _mm512_add_epi32(_mm512_mullo_epi32(all(right[k]), block_x), _mm512_mullo_epi32(all(down[k]), block_y));
    best[k] = 3 * (std::max(right[k], 0) + std::max(down[k], 0)) + *std::max_element(offset[k], offset[k] + S);
    worst[k] = 3 * (std::min(right[k], 0) + std::min(down[k], 0)) + *std::min_element(offset[k], offset[k] + S);
  }
  const I name = all(static_cast<int32_t>(number));
  for (int32_t wy = y0 >> 4; wy <= y1 >> 4; wy++)
    for (int32_t wx = x0 >> 4; wx <= x1 >> 4; wx++) {
      alignas(64) int32_t at[3][16];
      I outside = _mm512_setzero_si512(), partial = outside;
      for (int k = 0; k < 3; k++) {
        const I edge = _mm512_add_epi32(in_window[k], all(origin[k] + 16 * (wx * right[k] + wy * down[k])));
        _mm512_store_si512(at[k], edge);
        outside = _mm512_or_si512(outside, _mm512_add_epi32(edge, all(best[k])));
        partial = _mm512_or_si512(partial, _mm512_add_epi32(edge, all(worst[k])));
      }
      // Rows and columns of blocks that the bounding box has in this window.
      const int32_t bx0 = std::max((x0 >> 2) - 4 * wx, 0), bx1 = std::min((x1 >> 2) - 4 * wx, 3);
      const int32_t by0 = std::max((y0 >> 2) - 4 * wy, 0), by1 = std::min((y1 >> 2) - 4 * wy, 3);
      const uint32_t in_box = (0xfu >> (3 - bx1) & 0xfu << bx0) * 0x1111u & (0xffffu >> 4 * (3 - by1) & 0xffffu << 4 * by0);
      const uint32_t touched = ~static_cast<uint32_t>(_mm512_movepi32_mask(outside)) & in_box;
      if (!touched) continue;
      const uint32_t cut = touched & _mm512_movepi32_mask(partial);
      const uint32_t first = 16 * static_cast<uint32_t>(wy * 4 + wx);
      alignas(64) F term_x[4][S], term_y[4][S];
      for (int b = 0; b < 4; b++)
        for (int s = 0; s < S; s++) {
          term_x[b][s] = depth_x<S>(p, static_cast<float>(tile_x_px + 16 * wx + 4 * b), s);
          term_y[b][s] = depth_y<S>(p, static_cast<float>(tile_y_px + 16 * wy + 4 * b), s);
        }
      const auto test = [&](uint32_t b, int s, Mask covered) __attribute__((always_inline)) {
        const uint32_t row = (first + b) * S + static_cast<uint32_t>(s);
        const F z = limit_depth(_mm512_add_ps(term_x[b & 3][s], term_y[b >> 2][s]), p);
        const Mask seen = _mm512_mask_cmp_ps_mask(covered, z, _mm512_load_ps(w.depth[row]), _CMP_LT_OQ);
        _mm512_mask_store_ps(w.depth[row], seen, z);
        _mm512_mask_store_epi32(w.id[row], seen, name);
      };
      for (uint32_t left = touched & ~cut; left; left &= left - 1) {
        const auto b = static_cast<uint32_t>(__builtin_ctz(left));
        if (S > 1 && w.held[first + b] == kNothing && p.hi < 1.0f) {
          w.held[first + b] = number;
          continue;
        }
        if (S > 1 && w.held[first + b] != kSamplewise) write_samples<S>(w, draw.primitives, first + b, tile_x_px, tile_y_px);
        for (int s = 0; s < S; s++) test(b, s, 0xffff);
      }
      for (uint32_t left = cut; left; left &= left - 1) {
        const auto b = static_cast<uint32_t>(__builtin_ctz(left));
        I e[3];
        for (int k = 0; k < 3; k++) e[k] = _mm512_add_epi32(in_block[k], all(at[k][b]));
        Mask covered[S];
        uint32_t any = 0;
        for (int s = 0; s < S; s++) {
          const auto edge = [&](int k) __attribute__((always_inline)) { return S > 1 ? _mm512_add_epi32(e[k], all(offset[k][s])) : e[k]; };
          any |= covered[s] = static_cast<Mask>(~_mm512_movepi32_mask(_mm512_ternarylogic_epi32(edge(0), edge(1), edge(2), 0xfe)));
        }
        if (!any) continue;
        if (S > 1 && w.held[first + b] != kSamplewise) write_samples<S>(w, draw.primitives, first + b, tile_x_px, tile_y_px);
        for (int s = 0; s < S; s++) test(b, s, covered[s]);
      }
    }
}

// What is left to do for the packets that were interpolated.
template <int S>
__attribute__((noinline)) void finish_packets(const Draw& draw, Worker& w) {
  const uint64_t start = __builtin_ia32_rdtsc();
  for (uint32_t i = 0; i < w.packet_count; i++) first_look_up(draw.shading, w.fragments, i);
  const I bytes = all(0x00ff00ff);
  for (uint32_t i = 0; i < w.packet_count; i++) {
    const I color = finish(draw.shading, w.fragments, i);
    const Worker::Packet& p = w.packets[i];
    if (S > 1 && p.sums) {
      const I samples = _mm512_load_si512(p.samples);
      const I rb = _mm512_mullo_epi16(_mm512_and_si512(color, bytes), samples);
      const I ga = _mm512_mullo_epi16(_mm512_and_si512(_mm512_srli_epi32(color, 8), bytes), samples);
      const auto add4 = [](uint32_t* to, __m128i rb4, __m128i ga4) __attribute__((always_inline)) {
        auto* at = reinterpret_cast<__m128i*>(to);
        _mm_store_si128(at, _mm_add_epi32(_mm_load_si128(at), rb4));
        _mm_store_si128(at + 4, _mm_add_epi32(_mm_load_si128(at + 4), ga4));
      };
      if (!p.quad[1]) {
        _mm512_store_si512(p.quad[0], _mm512_add_epi32(_mm512_load_si512(p.quad[0]), rb));
        _mm512_store_si512(p.quad[0] + 16, _mm512_add_epi32(_mm512_load_si512(p.quad[0] + 16), ga));
        continue;
      }
      add4(p.quad[0], _mm512_castsi512_si128(rb), _mm512_castsi512_si128(ga));
      add4(p.quad[1], _mm512_extracti32x4_epi32(rb, 1), _mm512_extracti32x4_epi32(ga, 1));
      add4(p.quad[2], _mm512_extracti32x4_epi32(rb, 2), _mm512_extracti32x4_epi32(ga, 2));
      add4(p.quad[3], _mm512_extracti32x4_epi32(rb, 3), _mm512_extracti32x4_epi32(ga, 3));
      continue;
    }
    if (!p.quad[1]) {
      _mm512_mask_store_epi32(p.quad[0], static_cast<Mask>(p.pixels), color);
      continue;
    }
    _mm_mask_store_epi32(p.quad[0], static_cast<__mmask8>(p.pixels & 15), _mm512_castsi512_si128(color));
    _mm_mask_store_epi32(p.quad[1], static_cast<__mmask8>(p.pixels >> 4 & 15), _mm512_extracti32x4_epi32(color, 1));
    _mm_mask_store_epi32(p.quad[2], static_cast<__mmask8>(p.pixels >> 8 & 15), _mm512_extracti32x4_epi32(color, 2));
    _mm_mask_store_epi32(p.quad[3], static_cast<__mmask8>(p.pixels >> 12 & 15), _mm512_extracti32x4_epi32(color, 3));
  }
  w.packet_count = 0;
  const uint64_t ticks = __builtin_ia32_rdtsc() - start;
  w.ticks[kLookUps] += ticks;
  w.ticks[kInterpolation] -= ticks;  // within shade_tile
}

// Up to four quads of the queue.
template <int S>
KERNEL_INLINE void shade_quads(const Draw& draw, Worker& w, const Worker::Entry* entries, uint32_t count, int32_t tile_x_px,
                               int32_t tile_y_px) {
  const float* c[4];
  alignas(16) int32_t x[4], y[4];
  alignas(16) uint32_t samples[4];
  Worker::Packet& p = w.packets[w.packet_count];
  p.pixels = 0;
  p.sums = S > 1;
  for (uint32_t i = 0; i < 4; i++) {
    const Worker::Entry& e = entries[i < count ? i : 0];
    c[i] = draw.primitives[e.primitive].shade;
    block_place(e.block, &x[i], &y[i]);
    x[i] += tile_x_px + 2 * (e.quad & 1), y[i] += tile_y_px + 2 * (e.quad >> 1);
    p.quad[i] = S > 1 ? w.sums[e.block][0] + 4 * e.quad : w.color[e.block] + 4 * e.quad;
    p.pixels |= static_cast<uint32_t>(e.pixels) << 4 * i;
    samples[i] = i < count ? e.samples : 0;
  }
  if constexpr (S > 1) {
    const I each = _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(samples)));
    _mm512_store_si512(p.samples, _mm512_or_si512(each, _mm512_slli_epi32(each, 16)));
  }
  const I each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const I quad_x = _mm512_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1);
  const I quad_y = _mm512_setr_epi32(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1);
  const auto centres = [&](const int32_t* v, I in_quad) {
    const I places = _mm512_permutexvar_epi32(each, _mm512_castsi128_si512(_mm_load_si128(reinterpret_cast<const __m128i*>(v))));
    return _mm512_add_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(places, in_quad)), all(0.5f));
  };
  interpolate(FourPrimitives(c), draw.shading, centres(x, quad_x), centres(y, quad_y), w.fragments, w.packet_count);
  if (++w.packet_count == kBatch) finish_packets<S>(draw, w);
}

template <int S>
__attribute__((noinline)) void shade_queue(const Draw& draw, Worker& w, int32_t tile_x_px, int32_t tile_y_px) {
  uint32_t i = 0;
  for (; i + 4 <= w.queued; i += 4) shade_quads<S>(draw, w, w.queue + i, 4, tile_x_px, tile_y_px);
  if (i < w.queued) shade_quads<S>(draw, w, w.queue + i, w.queued - i, tile_x_px, tile_y_px);
  w.queued = 0;
}

template <int S>
__attribute__((noinline)) void shade_tile(const Draw& draw, Worker& w, int32_t tile_x_px, int32_t tile_y_px) {
  const F half = all(0.5f);
  const F lane_x = _mm512_add_ps(_mm512_cvtepi32_ps(kLaneX), half), lane_y = _mm512_add_ps(_mm512_cvtepi32_ps(kLaneY), half);
  w.queued = 0;
  for (uint32_t block = 0; block < kBlocks; block++) {
    int32_t x, y;
    block_place(block, &x, &y);
    const auto whole = [&](uint32_t primitive) __attribute__((always_inline)) {
      const F px = _mm512_add_ps(lane_x, all(static_cast<float>(tile_x_px + x)));
      const F py = _mm512_add_ps(lane_y, all(static_cast<float>(tile_y_px + y)));
      interpolate(OnePrimitive{draw.primitives[primitive].shade}, draw.shading, px, py, w.fragments, w.packet_count);
      if (++w.packet_count == kBatch) finish_packets<S>(draw, w);
    };
    const uint32_t held = S > 1 ? w.held[block] : kSamplewise;
    if (held == kNothing) {
      _mm512_store_si512(w.color[block], all(static_cast<int32_t>(kClear)));
      continue;
    }
    Worker::Packet* p = &w.packets[w.packet_count];
    if (held != kSamplewise) {
      p->quad[0] = w.color[block], p->quad[1] = nullptr, p->pixels = 0xffff, p->sums = false;
      whole(held);
      continue;
    }
    I ids[S];
    Mask left[S];
    I empty = _mm512_setzero_si512();
    for (int s = 0; s < S; s++) {
      ids[s] = _mm512_load_si512(w.id[block * S + static_cast<uint32_t>(s)]);
      left[s] = _mm512_cmpneq_epi32_mask(ids[s], all(-1));
      if constexpr (S > 1) empty = _mm512_mask_add_epi32(empty, static_cast<Mask>(~left[s]), empty, all(0x00010001));
    }
    if constexpr (S > 1) {
      _mm512_store_si512(w.sums[block][0], _mm512_mullo_epi16(empty, all(static_cast<int32_t>(kClear & 0x00ff00ff))));
      _mm512_store_si512(w.sums[block][1], _mm512_mullo_epi16(empty, all(static_cast<int32_t>(kClear >> 8 & 0x00ff00ff))));
    } else if (left[0] != 0xffff) {
      _mm512_store_si512(w.color[block], all(static_cast<int32_t>(kClear)));
    }
    for (int s = 0; s < S; s++)
      while (left[s]) {
        const uint32_t primitive = w.id[block * S + static_cast<uint32_t>(s)][__builtin_ctz(left[s])];
        Mask pixels = 0;
        I samples = _mm512_setzero_si512();
        for (int t = s; t < S; t++) {
          const Mask its = _mm512_cmpeq_epi32_mask(ids[t], all(static_cast<int32_t>(primitive)));
          pixels = static_cast<Mask>(pixels | its);
          left[t] = static_cast<Mask>(left[t] & ~its);
          if constexpr (S > 1) samples = _mm512_mask_add_epi32(samples, its, samples, all(0x00010001));
        }
        uint32_t quads = pixels | pixels >> 1;
        quads = (quads | quads >> 2) & 0x1111;
        if (quads == 0x1111) {
          p = &w.packets[w.packet_count];
          p->quad[0] = S > 1 ? w.sums[block][0] : w.color[block], p->quad[1] = nullptr, p->pixels = pixels, p->sums = S > 1;
          if constexpr (S > 1) _mm512_store_si512(p->samples, samples);
          whole(primitive);
          continue;
        }
        alignas(16) uint8_t bytes[16];
        if constexpr (S > 1) _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm512_cvtepi32_epi8(samples));
        for (; quads; quads &= quads - 1) {
          const auto bit = static_cast<uint32_t>(__builtin_ctz(quads));
          Worker::Entry& e = w.queue[w.queued++];
          e = {primitive, 0, static_cast<uint16_t>(block), static_cast<uint8_t>(bit >> 2), static_cast<uint8_t>(pixels >> bit & 15)};
          if constexpr (S > 1) std::memcpy(&e.samples, bytes + bit, 4);
        }
        if (w.queued > kQueue - 4) shade_queue<S>(draw, w, tile_x_px, tile_y_px);
      }
  }
  shade_queue<S>(draw, w, tile_x_px, tile_y_px);
  finish_packets<S>(draw, w);
  if constexpr (S > 1)
    for (uint32_t block = 0; block < kBlocks; block++)
      if (w.held[block] == kSamplewise) {
        const auto average = [&](int k) __attribute__((always_inline)) {
          const I sum = _mm512_load_si512(w.sums[block][k]), odd = _mm512_and_si512(_mm512_srli_epi32(sum, 2), all(0x00010001));
          return _mm512_and_si512(_mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(sum, all(0x00010001)), odd), 2), all(0x00ff00ff));
        };
        _mm512_store_si512(w.color[block], _mm512_or_si512(average(0), _mm512_slli_epi32(average(1), 8)));
      }
}

// Blocks in quads to rows of the image, past the caches.
inline void store_tile(const Draw& draw, const Worker& w, int32_t tile_x_px, int32_t tile_y_px) {
  const I upper = _mm512_setr_epi64(0, 2, 8, 10, 1, 3, 9, 11), lower = _mm512_setr_epi64(4, 6, 12, 14, 5, 7, 13, 15);
  const int32_t rows = std::min(kTile_px, kHeight_px - tile_y_px);
  for (int32_t y = 0; y < rows; y += 4) {
    uint8_t* out = draw.image + kPitch_B * static_cast<size_t>(tile_y_px + y) + static_cast<size_t>(tile_x_px) * 4;
    for (int32_t wx = 0; wx < 4; wx++, out += 64) {
      const uint32_t(*b)[16] = w.color + 16 * ((y >> 4) * 4 + wx) + (y >> 2 & 3) * 4;
      const I b0 = _mm512_load_si512(b[0]), b1 = _mm512_load_si512(b[1]), b2 = _mm512_load_si512(b[2]), b3 = _mm512_load_si512(b[3]);
      const I left = _mm512_permutex2var_epi64(b0, upper, b1), right = _mm512_permutex2var_epi64(b2, upper, b3);
      const I left2 = _mm512_permutex2var_epi64(b0, lower, b1), right2 = _mm512_permutex2var_epi64(b2, lower, b3);
      const auto row = [&](size_t r, I v) { _mm512_stream_si512(reinterpret_cast<I*>(out + kPitch_B * r), v); };
      row(0, _mm512_shuffle_i64x2(left, right, 0x44));
      row(1, _mm512_shuffle_i64x2(left, right, 0xee));
      row(2, _mm512_shuffle_i64x2(left2, right2, 0x44));
      row(3, _mm512_shuffle_i64x2(left2, right2, 0xee));
    }
  }
}

inline void store_clear(const Draw& draw, int32_t tile_x_px, int32_t tile_y_px) {
  const int32_t rows = std::min(kTile_px, kHeight_px - tile_y_px);
  for (int32_t r = 0; r < rows; r++) {
    auto* out = reinterpret_cast<I*>(draw.image + kPitch_B * static_cast<size_t>(tile_y_px + r) + static_cast<size_t>(tile_x_px) * 4);
    for (int32_t i = 0; i < kTile_px / 16; i++) _mm512_stream_si512(out + i, all(static_cast<int32_t>(kClear)));
  }
}

/// A tile with the primitives of all threads' bins.
template <int S, class Workers>
void draw_tile(const Draw& draw, const Workers& workers, Worker& w, uint32_t tile) {
  const auto x = static_cast<int32_t>(tile % kColumns) * kTile_px, y = static_cast<int32_t>(tile / kColumns) * kTile_px;
  uint64_t before[kStages];
  std::copy(w.ticks, w.ticks + kStages, before);
  const uint64_t t0 = __builtin_ia32_rdtsc();
  bool any = false;
  for (const auto& worker : workers) any |= !worker->bins[tile].empty();
  if (!any) {
    store_clear(draw, x, y);
    w.ticks[kStore] += __builtin_ia32_rdtsc() - t0;
    return;
  }
  if constexpr (S > 1) {
    std::fill_n(w.held, kBlocks, kNothing);
  } else {
    for (int b = 0; b < kBlocks; b++) {
      _mm512_store_ps(w.depth[b], all(1.0f));
      _mm512_store_si512(w.id[b], all(-1));
    }
  }
  for (const auto& worker : workers)
    for (const uint32_t number : worker->bins[tile]) rasterize<S>(w, draw, number, x, y);
  const uint64_t t1 = __builtin_ia32_rdtsc();
  shade_tile<S>(draw, w, x, y);
  const uint64_t t2 = __builtin_ia32_rdtsc();
  store_tile(draw, w, x, y);
  w.ticks[kCoverage] += t1 - t0;
  w.ticks[kInterpolation] += t2 - t1;
  const uint64_t t3 = __builtin_ia32_rdtsc();
  w.ticks[kStore] += t3 - t2;
  if (t3 - t0 > kInterrupted_ticks) std::copy(before, before + kStages, w.ticks);
}

}  // namespace kernel
