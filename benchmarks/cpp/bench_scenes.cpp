// benchmarks/cpp/bench_scenes.cpp -- what the machine allows: the scene multisampling1 and nothing else, by hand in AVX-512.
//
// Everything that a frame of tilegpu does is done, every frame and from the vertices on: transform, culling, setup, binning by all threads;
// then tiles: coverage and depth at 8 subpixel bits, each visible fragment shaded once (bench_scene_kernel.hpp), colours streamed to the
// image. benchmarks/kernel.py (`make bench-kernel`) compares picture and time with tilegpu's in one run.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench_scene_kernel.hpp"

namespace kernel {

constexpr int kWidth_px = 1920, kHeight_px = 1080, kTile_px = 64;
constexpr int kColumns = kWidth_px / kTile_px, kLines = (kHeight_px + kTile_px - 1) / kTile_px, kTiles = kColumns * kLines;
constexpr int kBlocks = kTile_px * kTile_px / 16;
constexpr int kLargest_subpixels = 80 * 256;  // of a triangle: edges then fit in 32 bits
constexpr uint32_t kClear = 0xff4d331au;      // (0.1, 0.2, 0.3, 1)

enum Stage { kFrontEnd, kCoverage, kInterpolation, kLookUps, kStore, kStages };

// Pixels of a 4x4 block in quads, and of a quad.
const I kLaneX = _mm512_setr_epi32(0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3);
const I kLaneY = _mm512_setr_epi32(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3);

struct Entry {
  uint32_t primitive;
  uint16_t block;
  uint8_t quad, pixels;
};

struct Worker {
  std::vector<uint32_t> bins[kTiles];
  alignas(64) float depth[kBlocks][16];
  alignas(64) uint32_t id[kBlocks][16];
  alignas(64) uint32_t color[kBlocks][16];
  Entry queue[8 + 16];
  uint32_t queued = 0;
  Fragments fragments;
  struct Packet {
    uint32_t* quad[4];
    uint32_t pixels;
  } packets[kBatch];
  uint32_t packet_count = 0;
  uint32_t failed = 0;
  uint64_t ticks[kStages] = {};
};

struct Scene {
  std::vector<float> vertices;  // position, normal, uv: 8 floats
  std::vector<uint32_t> indices;
  uint32_t vertex_count, triangle_count;
  float mvp[16], p2[3];  // column-major
  Shading shading;
  std::unique_ptr<Texture> texture;
  uint32_t threads;
  int32_t *screen_x, *screen_y;
  float *depth, *q;
  Primitive* primitives;
  uint8_t* image;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> pool;
  std::unique_ptr<std::barrier<>> barrier;
  std::atomic<uint32_t> frame{0}, next_tile{0}, running{0};
  bool stop = false;
};

template <class T>
T* aligned(size_t count) {
  return static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 4095) / 64 * 64));
}

uint32_t share(uint32_t count, uint32_t thread, uint32_t threads) {
  return static_cast<uint32_t>(uint64_t{count} * thread / threads) / 16 * 16;
}

void transform_vertices(Scene& s, uint32_t from, uint32_t to) {
  const float* m = s.mvp;
  const I stride = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), all(8));
  for (uint32_t v = from; v < to; v += 16) {
    const float* at = s.vertices.data() + size_t{8} * v;
    const F x = _mm512_i32gather_ps(stride, at, 4), y = _mm512_i32gather_ps(stride, at + 1, 4), z = _mm512_i32gather_ps(stride, at + 2, 4);
    F clip[4];
    for (int k = 0; k < 4; k++)
      clip[k] = _mm512_add_ps(all(m[12 + k]), fma(all(m[8 + k]), z, fma(all(m[4 + k]), y, _mm512_mul_ps(all(m[k]), x))));
    const F sx = _mm512_add_ps(_mm512_mul_ps(all(kWidth_px * 0.5f), _mm512_div_ps(clip[0], clip[3])), all(kWidth_px * 0.5f));
    const F sy = _mm512_add_ps(_mm512_mul_ps(all(kHeight_px * 0.5f), _mm512_div_ps(clip[1], clip[3])), all(kHeight_px * 0.5f));
    _mm512_store_si512(s.screen_x + v, _mm512_cvtps_epi32(_mm512_mul_ps(sx, all(256.0f))));
    _mm512_store_si512(s.screen_y + v, _mm512_cvtps_epi32(_mm512_mul_ps(sy, all(256.0f))));
    _mm512_store_ps(s.depth + v, _mm512_div_ps(clip[2], clip[3]));
    _mm512_store_ps(s.q + v, _mm512_div_ps(all(1.0f), clip[3]));
  }
}

struct Corner {
  I x, y, vertex;
};

// Sixteen triangles that are seen: planes, coefficients, bins.
void set_up(Scene& s, const I* index, uint32_t count, uint32_t first) {
  const auto lanes = static_cast<Mask>((1u << count) - 1);
  Corner c[3];
  F z[3], q[3];
  for (int k = 0; k < 3; k++) {
    c[k].vertex = index[k];
    c[k].x = _mm512_i32gather_epi32(index[k], s.screen_x, 4);
    c[k].y = _mm512_i32gather_epi32(index[k], s.screen_y, 4);
    z[k] = _mm512_i32gather_ps(index[k], s.depth, 4);
    q[k] = _mm512_i32gather_ps(index[k], s.q, 4);
  }
  constexpr int kWords = sizeof(Primitive) / 4;
  const I to = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), all(kWords));
  Primitive* out = s.primitives + first;
  const auto put_int = [&](int word, I v) { _mm512_mask_i32scatter_epi32(reinterpret_cast<int32_t*>(out) + word, lanes, to, v, 4); };
  const auto put = [&](int word, F v) { put_int(word, bits(v)); };
  for (int k = 0; k < 3; k++) {
    put_int(k, c[k].x);
    put_int(3 + k, c[k].y);
  }
  const F low = _mm512_min_ps(_mm512_min_ps(z[0], z[1]), z[2]), high = _mm512_max_ps(_mm512_max_ps(z[0], z[1]), z[2]);
  // From the vertex with the least 1/w on, in winding order.
  const Mask second = _mm512_cmp_ps_mask(q[1], q[0], _CMP_LT_OQ);
  const Mask third = _mm512_cmp_ps_mask(q[2], _mm512_mask_mov_ps(q[0], second, q[1]), _CMP_LT_OQ);
  const auto turn = [&](I a, I b, I d) { return _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(a, second, b), third, d); };
  const auto turn_f = [&](F a, F b, F d) { return _mm512_mask_mov_ps(_mm512_mask_mov_ps(a, second, b), third, d); };
  const I x0 = turn(c[0].x, c[1].x, c[2].x), x1 = turn(c[1].x, c[2].x, c[0].x), x2 = turn(c[2].x, c[0].x, c[1].x);
  const I y0 = turn(c[0].y, c[1].y, c[2].y), y1 = turn(c[1].y, c[2].y, c[0].y), y2 = turn(c[2].y, c[0].y, c[1].y);
  const F z0 = turn_f(z[0], z[1], z[2]), z1 = turn_f(z[1], z[2], z[0]), z2 = turn_f(z[2], z[0], z[1]);
  const F q0 = turn_f(q[0], q[1], q[2]), q1 = turn_f(q[1], q[2], q[0]), q2 = turn_f(q[2], q[0], q[1]);
  const I v0 = turn(index[0], index[1], index[2]), v1 = turn(index[1], index[2], index[0]), v2 = turn(index[2], index[0], index[1]);
  const I dx1 = _mm512_sub_epi32(x1, x0), dy1 = _mm512_sub_epi32(y1, y0), dx2 = _mm512_sub_epi32(x2, x0), dy2 = _mm512_sub_epi32(y2, y0);
  const I area = _mm512_sub_epi32(_mm512_mullo_epi32(dx1, dy2), _mm512_mullo_epi32(dx2, dy1));
  const F scale = _mm512_div_ps(all(256.0f), _mm512_cvtepi32_ps(area)), zero = _mm512_setzero_ps();
  const auto times = [&](I d) { return _mm512_mul_ps(_mm512_cvtepi32_ps(d), scale); };
  const F l1x = times(dy2), l1y = _mm512_sub_ps(zero, times(dx2)), l2x = _mm512_sub_ps(zero, times(dy1)), l2y = times(dx1);
  const auto plane = [&](F d1, F d2, F g1, F g2) { return _mm512_add_ps(_mm512_mul_ps(d1, g1), _mm512_mul_ps(d2, g2)); };
  const F dz1 = _mm512_sub_ps(z1, z0), dz2 = _mm512_sub_ps(z2, z0), dq1 = _mm512_sub_ps(q1, q0), dq2 = _mm512_sub_ps(q2, q0);
  const F anchor_x = _mm512_mul_ps(_mm512_cvtepi32_ps(x0), all(1.0f / 256)),
          anchor_y = _mm512_mul_ps(_mm512_cvtepi32_ps(y0), all(1.0f / 256));
  const F raster[7] = {z0,       plane(dz1, dz2, l1x, l2x), plane(dz1, dz2, l1y, l2y),     anchor_x,
                       anchor_y, _mm512_max_ps(low, zero),  _mm512_min_ps(high, all(1.0f))};
  for (int k = 0; k < 7; k++) put(6 + k, raster[k]);
  const F planes[9] = {anchor_x,
                       anchor_y,
                       q0,
                       plane(dq1, dq2, l1x, l2x),
                       plane(dq1, dq2, l1y, l2y),
                       _mm512_mul_ps(q1, l1x),
                       _mm512_mul_ps(q1, l1y),
                       _mm512_mul_ps(q2, l2x),
                       _mm512_mul_ps(q2, l2y)};
  for (int k = 0; k < 9; k++) put(16 + k, planes[k]);
  const float* vertices = s.vertices.data();
  for (int k = 0; k < 5; k++) {  // normal, uv
    const auto varying = [&](I v) { return _mm512_i32gather_ps(_mm512_slli_epi32(v, 3), vertices + 3 + k, 4); };
    const F a = varying(v0), d1 = _mm512_sub_ps(varying(v1), a), d2 = _mm512_sub_ps(varying(v2), a);
    const int base[3] = {k < 3 ? kN0 + k : kU0 + 3 * (k - 3), k < 3 ? kN1 + k : kU1 + 3 * (k - 3), k < 3 ? kN2 + k : kU2 + 3 * (k - 3)};
    put(16 + base[0], a);
    put(16 + base[1], d1);
    put(16 + base[2], d2);
  }
}

// Triangles [from, to) of the mesh: those that face the viewer and have a sample's place in their bounding box.
void assemble(Scene& s, Worker& worker, uint32_t from, uint32_t to) {
  alignas(64) int32_t seen[3][32] = {};
  uint32_t waiting = 0, first = from;
  const I three = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), all(3));
  alignas(64) int32_t box[4][32];
  const auto flush = [&](uint32_t count) {
    const I index[3] = {_mm512_load_si512(seen[0]), _mm512_load_si512(seen[1]), _mm512_load_si512(seen[2])};
    set_up(s, index, count, first);
    for (uint32_t i = 0; i < count; i++)
      for (int32_t ty = box[2][i]; ty <= box[3][i]; ty++)
        for (int32_t tx = box[0][i]; tx <= box[1][i]; tx++) worker.bins[ty * kColumns + tx].push_back(first + i);
    first += count;
    for (auto& row : seen) std::memcpy(row, row + 16, 64);
    for (auto& row : box) std::memcpy(row, row + 16, 64);
    waiting -= count;
  };
  for (uint32_t t = from; t < to; t += 16) {
    const auto lanes = static_cast<Mask>(to - t >= 16 ? 0xffff : (1u << (to - t)) - 1);
    I index[3], x[3], y[3];
    for (int k = 0; k < 3; k++) {
      // Exchanged, the winding that is kept is positive.
      const int from_k = k == 0 ? 0 : 3 - k;
      index[k] = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, three, s.indices.data() + size_t{3} * t + from_k, 4);
      x[k] = _mm512_i32gather_epi32(index[k], s.screen_x, 4);
      y[k] = _mm512_i32gather_epi32(index[k], s.screen_y, 4);
    }
    const I low_x = _mm512_min_epi32(x[0], _mm512_min_epi32(x[1], x[2])), high_x = _mm512_max_epi32(x[0], _mm512_max_epi32(x[1], x[2]));
    const I low_y = _mm512_min_epi32(y[0], _mm512_min_epi32(y[1], y[2])), high_y = _mm512_max_epi32(y[0], _mm512_max_epi32(y[1], y[2]));
    const I extent = _mm512_max_epi32(_mm512_sub_epi32(high_x, low_x), _mm512_sub_epi32(high_y, low_y));
    worker.failed |= _mm512_mask_cmpgt_epi32_mask(lanes, extent, all(kLargest_subpixels));
    const I area = _mm512_sub_epi32(_mm512_mullo_epi32(_mm512_sub_epi32(x[1], x[0]), _mm512_sub_epi32(y[2], y[0])),
                                    _mm512_mullo_epi32(_mm512_sub_epi32(x[2], x[0]), _mm512_sub_epi32(y[1], y[0])));
    const I px0 = _mm512_max_epi32(_mm512_srai_epi32(_mm512_add_epi32(low_x, all(127)), 8), all(0));
    const I py0 = _mm512_max_epi32(_mm512_srai_epi32(_mm512_add_epi32(low_y, all(127)), 8), all(0));
    const I px1 = _mm512_min_epi32(_mm512_srai_epi32(_mm512_sub_epi32(high_x, all(129)), 8), all(kWidth_px - 1));
    const I py1 = _mm512_min_epi32(_mm512_srai_epi32(_mm512_sub_epi32(high_y, all(129)), 8), all(kHeight_px - 1));
    const Mask keep =
        _mm512_mask_cmpgt_epi32_mask(lanes, area, all(0)) & _mm512_cmple_epi32_mask(px0, px1) & _mm512_cmple_epi32_mask(py0, py1);
    if (!keep) continue;
    for (int k = 0; k < 3; k++) _mm512_storeu_si512(seen[k] + waiting, _mm512_maskz_compress_epi32(keep, index[k]));
    const I tiles[4] = {_mm512_srai_epi32(px0, 6), _mm512_srai_epi32(px1, 6), _mm512_srai_epi32(py0, 6), _mm512_srai_epi32(py1, 6)};
    for (int k = 0; k < 4; k++) _mm512_storeu_si512(box[k] + waiting, _mm512_maskz_compress_epi32(keep, tiles[k]));
    waiting += static_cast<uint32_t>(__builtin_popcount(keep));
    if (waiting >= 16) flush(16);
  }
  if (waiting) flush(waiting);
}

// Coverage and depth of a triangle in a tile, window of 16x16 pixels by window, 4x4 block by block.
void rasterize(Worker& w, const Primitive& p, uint32_t number, int32_t tile_x_px, int32_t tile_y_px) {
  int32_t x[3], y[3];
  for (int k = 0; k < 3; k++) x[k] = p.x[k] - tile_x_px * 256, y[k] = p.y[k] - tile_y_px * 256;
  const auto least = [](const int32_t* v) { return std::min(v[0], std::min(v[1], v[2])); };
  const auto most = [](const int32_t* v) { return std::max(v[0], std::max(v[1], v[2])); };
  const int32_t end = std::min(kTile_px, kHeight_px - tile_y_px);
  const int32_t x0 = std::max((least(x) + 127) >> 8, 0), x1 = std::min((most(x) - 129) >> 8, kTile_px - 1);
  const int32_t y0 = std::max((least(y) + 127) >> 8, 0), y1 = std::min((most(y) - 129) >> 8, end - 1);
  if (x0 > x1 || y0 > y1) return;
  const I block_x = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  const I block_y = _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  I in_block[3], in_window[3];  // edges: at the pixels of a block, at the blocks of a window
  int32_t right[3], down[3], origin[3], best[3], worst[3];
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    const int32_t dx = x[n] - x[k], dy = y[n] - y[k];
    const bool top_left = dy < 0 || (dy == 0 && dx > 0);
    origin[k] = dx * (128 - y[k]) - dy * (128 - x[k]) - !top_left;
    right[k] = -dy * 256, down[k] = dx * 256;
    in_block[k] = _mm512_add_epi32(_mm512_mullo_epi32(all(right[k]), kLaneX), _mm512_mullo_epi32(all(down[k]), kLaneY));
    in_window[k] = _mm512_slli_epi32(_mm512_add_epi32(_mm512_mullo_epi32(all(right[k]), _mm512_srli_epi32(block_x, 2)),
                                                      _mm512_mullo_epi32(all(down[k]), _mm512_srli_epi32(block_y, 2))),
                                     2);
    best[k] = 3 * (std::max(right[k], 0) + std::max(down[k], 0));
    worst[k] = 3 * (std::min(right[k], 0) + std::min(down[k], 0));
  }
  const F lane_x = _mm512_cvtepi32_ps(kLaneX), lane_y = _mm512_cvtepi32_ps(kLaneY);
  const F lo = all(p.lo), hi = all(p.hi);
  const I name = all(static_cast<int32_t>(number));
  for (int32_t wy = y0 >> 4; wy <= y1 >> 4; wy++)
    for (int32_t wx = x0 >> 4; wx <= x1 >> 4; wx++) {
      alignas(64) int32_t at[3][16];
      I edge[3], outside = _mm512_setzero_si512(), partial = outside;
      for (int k = 0; k < 3; k++) {
        edge[k] = _mm512_add_epi32(in_window[k], all(origin[k] + 16 * (wx * right[k] + wy * down[k])));
        _mm512_store_si512(at[k], edge[k]);
        outside = _mm512_or_si512(outside, _mm512_add_epi32(edge[k], all(best[k])));
        partial = _mm512_or_si512(partial, _mm512_add_epi32(edge[k], all(worst[k])));
      }
      // Rows and columns of blocks that the bounding box has in this window.
      const int32_t bx0 = std::max((x0 >> 2) - 4 * wx, 0), bx1 = std::min((x1 >> 2) - 4 * wx, 3), by0 = std::max((y0 >> 2) - 4 * wy, 0),
                    by1 = std::min((y1 >> 2) - 4 * wy, 3);
      const uint32_t in_box = (0xfu >> (3 - bx1) & 0xfu << bx0) * 0x1111u & (0xffffu >> 4 * (3 - by1) & 0xffffu << 4 * by0);
      const uint32_t touched = ~_mm512_movepi32_mask(outside) & in_box;
      if (!touched) continue;
      const uint32_t cut = touched & _mm512_movepi32_mask(partial);
      alignas(64) F term_x[4], term_y[4];
      for (int b = 0; b < 4; b++) {
        const F px = _mm512_add_ps(lane_x, all(static_cast<float>(tile_x_px + 16 * wx + 4 * b) + 0.5f));
        const F py = _mm512_add_ps(lane_y, all(static_cast<float>(tile_y_px + 16 * wy + 4 * b) + 0.5f));
        term_x[b] = _mm512_add_ps(all(p.z0), _mm512_mul_ps(all(p.zx), _mm512_sub_ps(px, all(p.anchor_x))));
        term_y[b] = _mm512_mul_ps(all(p.zy), _mm512_sub_ps(py, all(p.anchor_y)));
      }
      const uint32_t first = 16 * static_cast<uint32_t>(wy * 4 + wx);
      const auto test = [&](uint32_t b, Mask covered) __attribute__((always_inline)) {
        const F z = _mm512_min_ps(_mm512_max_ps(_mm512_add_ps(term_x[b & 3], term_y[b >> 2]), lo), hi);
        const Mask seen = _mm512_mask_cmp_ps_mask(covered, z, _mm512_load_ps(w.depth[first + b]), _CMP_LT_OQ);
        _mm512_mask_store_ps(w.depth[first + b], seen, z);
        _mm512_mask_store_epi32(w.id[first + b], seen, name);
      };
      for (uint32_t left = touched & ~cut; left; left &= left - 1) test(static_cast<uint32_t>(__builtin_ctz(left)), 0xffff);
      for (uint32_t left = cut; left; left &= left - 1) {
        const auto b = static_cast<uint32_t>(__builtin_ctz(left));
        const I e0 = _mm512_add_epi32(in_block[0], all(at[0][b])), e1 = _mm512_add_epi32(in_block[1], all(at[1][b])),
                e2 = _mm512_add_epi32(in_block[2], all(at[2][b]));
        test(b, static_cast<Mask>(~_mm512_movepi32_mask(_mm512_ternarylogic_epi32(e0, e1, e2, 0xfe))));
      }
    }
}

void block_place(uint32_t block, int32_t* x, int32_t* y) {
  *x = static_cast<int32_t>(16 * (block >> 4 & 3) + 4 * (block & 3));
  *y = static_cast<int32_t>(16 * (block >> 6) + 4 * (block >> 2 & 3));
}

// What is left to do for the packets that were interpolated.
__attribute__((noinline)) void finish_packets(const Scene& s, Worker& w) {
  const uint64_t start = __builtin_ia32_rdtsc();
  for (uint32_t i = 0; i < w.packet_count; i++) first_look_up(s.shading, w.fragments, i);
  for (uint32_t i = 0; i < w.packet_count; i++) {
    const I color = finish(s.shading, w.fragments, i);
    const Worker::Packet& p = w.packets[i];
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

// Four quads of the queue's front.
__attribute__((noinline)) void shade_mixed(const Scene& s, Worker& w, const Entry* entries, int32_t tile_x_px, int32_t tile_y_px) {
  const float* c[4];
  alignas(16) int32_t x[4], y[4];
  Worker::Packet& p = w.packets[w.packet_count];
  p.pixels = 0;
  for (int i = 0; i < 4; i++) {
    c[i] = s.primitives[entries[i].primitive].shade;
    block_place(entries[i].block, &x[i], &y[i]);
    x[i] += tile_x_px + 2 * (entries[i].quad & 1), y[i] += tile_y_px + 2 * (entries[i].quad >> 1);
    p.quad[i] = w.color[entries[i].block] + 4 * entries[i].quad;
    p.pixels |= static_cast<uint32_t>(entries[i].pixels) << 4 * i;
  }
  const I each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const I quad_x = _mm512_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1),
          quad_y = _mm512_setr_epi32(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1);
  const auto places = [&](const int32_t* v) {
    return _mm512_permutexvar_epi32(each, _mm512_castsi128_si512(_mm_load_si128(reinterpret_cast<const __m128i*>(v))));
  };
  const F half = all(0.5f);
  const F px = _mm512_add_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(places(x), quad_x)), half);
  const F py = _mm512_add_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(places(y), quad_y)), half);
  interpolate(FourPrimitives(c), s.shading, px, py, w.fragments, w.packet_count);
  if (++w.packet_count == kBatch) finish_packets(s, w);
}

__attribute__((noinline)) void shade_tile(const Scene& s, Worker& w, int32_t tile_x_px, int32_t tile_y_px) {
  const F half = all(0.5f);
  const F lane_x = _mm512_add_ps(_mm512_cvtepi32_ps(kLaneX), half), lane_y = _mm512_add_ps(_mm512_cvtepi32_ps(kLaneY), half);
  w.queued = 0;
  for (uint32_t block = 0; block < kBlocks; block++) {
    int32_t x, y;
    block_place(block, &x, &y);
    x += tile_x_px, y += tile_y_px;
    const I ids = _mm512_load_si512(w.id[block]);
    Mask left = _mm512_cmpneq_epi32_mask(ids, all(-1));
    if (left != 0xffff) _mm512_store_si512(w.color[block], all(static_cast<int32_t>(kClear)));
    while (left) {
      const uint32_t primitive = w.id[block][__builtin_ctz(left)];
      const Mask pixels = _mm512_cmpeq_epi32_mask(ids, all(static_cast<int32_t>(primitive)));
      left = static_cast<Mask>(left & ~pixels);
      uint32_t quads = pixels | pixels >> 1;
      quads = (quads | quads >> 2) & 0x1111;
      if (quads == 0x1111) {
        const F px = _mm512_add_ps(lane_x, all(static_cast<float>(x))), py = _mm512_add_ps(lane_y, all(static_cast<float>(y)));
        w.packets[w.packet_count] = {{w.color[block]}, pixels};
        interpolate(OnePrimitive{s.primitives[primitive].shade}, s.shading, px, py, w.fragments, w.packet_count);
        if (++w.packet_count == kBatch) finish_packets(s, w);
        continue;
      }
      for (; quads; quads &= quads - 1) {
        const auto bit = static_cast<uint32_t>(__builtin_ctz(quads));
        w.queue[w.queued++] = {primitive, static_cast<uint16_t>(block), static_cast<uint8_t>(bit >> 2),
                               static_cast<uint8_t>(pixels >> bit & 15)};
      }
      if (w.queued >= 4) {
        shade_mixed(s, w, w.queue, tile_x_px, tile_y_px);
        w.queued -= 4;
        std::memmove(w.queue, w.queue + 4, 8 * sizeof(Entry));
      }
    }
  }
  if (w.queued) {
    for (uint32_t i = w.queued; i < 4; i++) w.queue[i] = w.queue[0];
    shade_mixed(s, w, w.queue, tile_x_px, tile_y_px);
  }
  finish_packets(s, w);
}

// Blocks in quads to rows of the image, past the caches.
void store_tile(const Scene& s, const Worker& w, int32_t tile_x_px, int32_t tile_y_px) {
  const I upper = _mm512_setr_epi64(0, 2, 8, 10, 1, 3, 9, 11), lower = _mm512_setr_epi64(4, 6, 12, 14, 5, 7, 13, 15);
  const int32_t rows = std::min(kTile_px, kHeight_px - tile_y_px);
  for (int32_t y = 0; y < rows; y += 4) {
    uint8_t* out = s.image + (size_t{kWidth_px} * static_cast<size_t>(tile_y_px + y) + static_cast<size_t>(tile_x_px)) * 4;
    for (int32_t wx = 0; wx < 4; wx++, out += 64) {
      const uint32_t(*b)[16] = w.color + 16 * ((y >> 4) * 4 + wx) + (y >> 2 & 3) * 4;
      const I b0 = _mm512_load_si512(b[0]), b1 = _mm512_load_si512(b[1]), b2 = _mm512_load_si512(b[2]), b3 = _mm512_load_si512(b[3]);
      const I left = _mm512_permutex2var_epi64(b0, upper, b1), right = _mm512_permutex2var_epi64(b2, upper, b3);
      const I left2 = _mm512_permutex2var_epi64(b0, lower, b1), right2 = _mm512_permutex2var_epi64(b2, lower, b3);
      const auto row = [&](int32_t r, I v) {
        _mm512_stream_si512(reinterpret_cast<I*>(out + size_t{kWidth_px} * 4 * static_cast<size_t>(r)), v);
      };
      row(0, _mm512_shuffle_i64x2(left, right, 0x44));
      row(1, _mm512_shuffle_i64x2(left, right, 0xee));
      row(2, _mm512_shuffle_i64x2(left2, right2, 0x44));
      row(3, _mm512_shuffle_i64x2(left2, right2, 0xee));
    }
  }
}

void draw_tile(Scene& s, Worker& w, uint32_t tile) {
  const auto x = static_cast<int32_t>(tile % kColumns) * kTile_px, y = static_cast<int32_t>(tile / kColumns) * kTile_px;
  const uint64_t t0 = __builtin_ia32_rdtsc();
  bool any = false;
  for (const auto& worker : s.workers) any |= !worker->bins[tile].empty();
  if (!any) {
    const int32_t rows = std::min(kTile_px, kHeight_px - y);
    for (int32_t r = 0; r < rows; r++)
      for (int32_t i = 0; i < 4; i++)
        _mm512_stream_si512(reinterpret_cast<I*>(s.image + (size_t{kWidth_px} * static_cast<size_t>(y + r) + static_cast<size_t>(x)) * 4 +
                                                 64 * static_cast<size_t>(i)),
                            all(static_cast<int32_t>(kClear)));
    w.ticks[kStore] += __builtin_ia32_rdtsc() - t0;
    return;
  }
  for (int b = 0; b < kBlocks; b++) {
    _mm512_store_ps(w.depth[b], all(1.0f));
    _mm512_store_si512(w.id[b], all(-1));
  }
  for (const auto& worker : s.workers)
    for (const uint32_t p : worker->bins[tile]) rasterize(w, s.primitives[p], p, x, y);
  const uint64_t t1 = __builtin_ia32_rdtsc();
  shade_tile(s, w, x, y);
  const uint64_t t2 = __builtin_ia32_rdtsc();
  store_tile(s, w, x, y);
  const uint64_t t3 = __builtin_ia32_rdtsc();
  w.ticks[kCoverage] += t1 - t0;
  w.ticks[kInterpolation] += t2 - t1;
  w.ticks[kStore] += t3 - t2;
}

void draw(Scene& s, uint32_t thread) {
  Worker& w = *s.workers[thread];
  const auto part = [&](uint32_t count, uint32_t i) { return i == s.threads ? count : share(count, i, s.threads); };
  const uint64_t t0 = __builtin_ia32_rdtsc();
  transform_vertices(s, part(s.vertex_count, thread), part(s.vertex_count, thread + 1));
  for (auto& bin : w.bins) bin.clear();
  const uint64_t t1 = __builtin_ia32_rdtsc();
  s.barrier->arrive_and_wait();
  const uint64_t t2 = __builtin_ia32_rdtsc();
  assemble(s, w, part(s.triangle_count, thread), part(s.triangle_count, thread + 1));
  w.ticks[kFrontEnd] += t1 - t0 + __builtin_ia32_rdtsc() - t2;
  s.barrier->arrive_and_wait();
  for (uint32_t tile; (tile = s.next_tile.fetch_add(1, std::memory_order_relaxed)) < kTiles;) draw_tile(s, w, tile);
  _mm_sfence();
}

void run_worker(Scene& s, uint32_t thread) {
  for (uint32_t seen = 0;;) {
    s.frame.wait(seen);
    seen = s.frame.load();
    if (s.stop) return;
    draw(s, thread);
    if (s.running.fetch_sub(1) == 1) s.running.notify_one();
  }
}

void place_levels(Texture& t, const uint32_t* levels) {
  static constexpr int32_t kColumn[10] = {0, 513, 513, 513, 513, 513, 513, 700, 700, 700},
                           kRow[10] = {0, 0, 257, 386, 451, 484, 501, 300, 310, 320};
  for (int32_t level = 0; level < 16; level++) {
    const int32_t l = std::min(level, 9), size = 512 >> l;
    t.first[level] = kRow[l] * kPitch_texels + kColumn[l], t.mask[level] = size - 1, t.size[level] = static_cast<float>(size);
    if (level > 9) continue;
    for (int32_t y = 0; y <= size; y++)
      for (int32_t x = 0; x <= size; x++)
        t.texels[t.first[level] + y * kPitch_texels + x] = levels[(y & (size - 1)) * size + (x & (size - 1))];
    levels += size * size;
  }
}

}  // namespace kernel

using kernel::Scene;

/// Null where there is no such scene. vertices: 8 floats each; push: the 128 bytes of the scene's push constants; levels: texels of all
/// levels, one after the other.
extern "C" __attribute__((visibility("default"))) Scene* kernel_make(const float* vertices, uint32_t vertex_count, const uint32_t* indices,
                                                                     uint32_t index_count, const float* push, const uint32_t* levels,
                                                                     uint32_t threads, uint32_t samples) {
  if (samples != 1 || index_count % 3) return nullptr;
  auto* s = new Scene;
  s->vertices.assign(vertices, vertices + size_t{8} * vertex_count);
  s->vertices.resize(size_t{8} * (vertex_count + 16), 1.0f);
  s->indices.assign(indices, indices + index_count);
  s->vertex_count = vertex_count, s->triangle_count = index_count / 3, s->threads = threads;
  std::memcpy(s->mvp, push, sizeof s->mvp);
  s->texture = std::make_unique<kernel::Texture>();
  kernel::place_levels(*s->texture, levels);
  s->shading.texture = s->texture.get();
  for (int k = 0; k < 3; k++) {
    const float scale = push[24 + k] / (k == 1 ? 256.0f : 1.0f);
    s->shading.light[k] = push[16 + k];
    s->shading.first[k] = scale * 0.7f, s->shading.second[k] = scale * 0.3f;
  }
  s->screen_x = kernel::aligned<int32_t>(vertex_count + 16), s->screen_y = kernel::aligned<int32_t>(vertex_count + 16);
  s->depth = kernel::aligned<float>(vertex_count + 16), s->q = kernel::aligned<float>(vertex_count + 16);
  s->primitives = kernel::aligned<kernel::Primitive>(s->triangle_count + 32 * threads);
  s->image = kernel::aligned<uint8_t>(size_t{kernel::kWidth_px} * kernel::kHeight_px * 4);
  s->barrier = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(threads));
  for (uint32_t i = 0; i < threads; i++) s->workers.push_back(std::make_unique<kernel::Worker>());
  for (uint32_t i = 1; i < threads; i++) s->pool.emplace_back(kernel::run_worker, std::ref(*s), i);
  return s;
}

/// One frame. Returns 0 where the scene is not what the kernel is made for.
extern "C" __attribute__((visibility("default"))) int kernel_draw(Scene* s) {
  s->next_tile = 0;
  s->running = s->threads - 1;
  s->frame++;
  s->frame.notify_all();
  kernel::draw(*s, 0);
  for (uint32_t left; (left = s->running.load());) s->running.wait(left);
  for (const auto& w : s->workers)
    if (w->failed) return 0;
  return 1;
}
extern "C" __attribute__((visibility("default"))) const uint8_t* kernel_image(const Scene* s) { return s->image; }

/// Time-stamp ticks of all threads since the last call, by stage.
extern "C" __attribute__((visibility("default"))) void kernel_ticks(Scene* s, uint64_t* ticks) {
  for (int k = 0; k < kernel::kStages; k++) {
    ticks[k] = 0;
    for (const auto& w : s->workers) ticks[k] += std::exchange(w->ticks[k], 0);
  }
}

extern "C" __attribute__((visibility("default"))) void kernel_free(Scene* s) {
  s->stop = true;
  s->frame++;
  s->frame.notify_all();
  for (std::thread& t : s->pool) t.join();
  for (void* p : {static_cast<void*>(s->screen_x), static_cast<void*>(s->screen_y), static_cast<void*>(s->depth), static_cast<void*>(s->q),
                  static_cast<void*>(s->primitives), static_cast<void*>(s->image)})
    std::free(p);
  delete s;
}
