// benchmarks/cpp/bench_scenes.cpp -- what the machine allows: the scenes multisampling1 and multisampling4_pass_resolve and
// nothing else, by hand in AVX-512.
//
// Everything that a frame of tilegpu does is done, every frame and from the vertices on: transform, culling, setup, binning by all threads;
// then tiles (bench_scene_tile.hpp): coverage and depth at 8 subpixel bits, each visible fragment shaded once (bench_scene_kernel.hpp),
// colours streamed to the image. benchmarks/kernel.py (`make bench-kernel`) compares picture and time with tilegpu's in one run.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench_scene_tile.hpp"

namespace kernel {

constexpr int kLargest_subpixels = 80 * 256;  // of a triangle: edges then fit in 32 bits

struct Scene {
  std::vector<float> vertices;  // position, normal, uv: 8 floats
  std::vector<uint32_t> indices;
  uint32_t vertex_count, triangle_count;
  float mvp[16], p2[3];  // column-major
  Draw draw;
  std::unique_ptr<Texture> texture;
  uint32_t threads, samples;
  int32_t *screen_x, *screen_y;
  float *depth, *q;
  Primitive* primitives;
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

// Sixteen triangles that are seen: planes, coefficients, bins.
void set_up(Scene& s, const I* index, uint32_t count, uint32_t first) {
  const auto lanes = static_cast<Mask>((1u << count) - 1);
  I x[3], y[3];
  F z[3], q[3];
  for (int k = 0; k < 3; k++) {
    x[k] = _mm512_i32gather_epi32(index[k], s.screen_x, 4);
    y[k] = _mm512_i32gather_epi32(index[k], s.screen_y, 4);
    z[k] = _mm512_i32gather_ps(index[k], s.depth, 4);
    q[k] = _mm512_i32gather_ps(index[k], s.q, 4);
  }
  constexpr int kWords = sizeof(Primitive) / 4;
  const I to = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), all(kWords));
  Primitive* out = s.primitives + first;
  const auto put_int = [&](int word, I v) { _mm512_mask_i32scatter_epi32(reinterpret_cast<int32_t*>(out) + word, lanes, to, v, 4); };
  const auto put = [&](int word, F v) { put_int(word, bits(v)); };
  for (int k = 0; k < 3; k++) {
    put_int(k, x[k]);
    put_int(3 + k, y[k]);
  }
  const F low = _mm512_min_ps(_mm512_min_ps(z[0], z[1]), z[2]), high = _mm512_max_ps(_mm512_max_ps(z[0], z[1]), z[2]);
  // From the vertex with the least 1/w on, in winding order.
  const Mask second = _mm512_cmp_ps_mask(q[1], q[0], _CMP_LT_OQ);
  const Mask third = _mm512_cmp_ps_mask(q[2], _mm512_mask_mov_ps(q[0], second, q[1]), _CMP_LT_OQ);
  const auto turn = [&](I a, I b, I d) { return _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(a, second, b), third, d); };
  const auto turn_f = [&](F a, F b, F d) { return _mm512_mask_mov_ps(_mm512_mask_mov_ps(a, second, b), third, d); };
  const I x0 = turn(x[0], x[1], x[2]), x1 = turn(x[1], x[2], x[0]), x2 = turn(x[2], x[0], x[1]);
  const I y0 = turn(y[0], y[1], y[2]), y1 = turn(y[1], y[2], y[0]), y2 = turn(y[2], y[0], y[1]);
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
  // A pixel's one sample is at its centre; of several, all of the pixel counts.
  const int32_t low = s.samples == 1 ? 127 : 0, high = s.samples == 1 ? 129 : 1;
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
    const I px0 = _mm512_max_epi32(_mm512_srai_epi32(_mm512_add_epi32(low_x, all(low)), 8), all(0));
    const I py0 = _mm512_max_epi32(_mm512_srai_epi32(_mm512_add_epi32(low_y, all(low)), 8), all(0));
    const I px1 = _mm512_min_epi32(_mm512_srai_epi32(_mm512_sub_epi32(high_x, all(high)), 8), all(kWidth_px - 1));
    const I py1 = _mm512_min_epi32(_mm512_srai_epi32(_mm512_sub_epi32(high_y, all(high)), 8), all(kHeight_px - 1));
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
  const auto tile_job = s.samples == 1 ? draw_tile<1, decltype(s.workers)> : draw_tile<4, decltype(s.workers)>;
  for (uint32_t tile; (tile = s.next_tile.fetch_add(1, std::memory_order_relaxed)) < kTiles;) tile_job(s.draw, s.workers, w, tile);
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
  if ((samples != 1 && samples != 4) || index_count % 3) return nullptr;
  auto* s = new Scene;
  s->vertices.assign(vertices, vertices + size_t{8} * vertex_count);
  s->vertices.resize(size_t{8} * (vertex_count + 16), 1.0f);
  s->indices.assign(indices, indices + index_count);
  s->vertex_count = vertex_count, s->triangle_count = index_count / 3, s->threads = threads, s->samples = samples;
  std::memcpy(s->mvp, push, sizeof s->mvp);
  s->texture = std::make_unique<kernel::Texture>();
  kernel::place_levels(*s->texture, levels);
  s->draw.shading.texture = s->texture.get();
  for (int k = 0; k < 3; k++) {
    const float scale = push[24 + k] / (k == 1 ? 256.0f : 1.0f);
    s->draw.shading.light[k] = push[16 + k];
    s->draw.shading.first[k] = scale * 0.7f, s->draw.shading.second[k] = scale * 0.3f;
  }
  s->screen_x = kernel::aligned<int32_t>(vertex_count + 16), s->screen_y = kernel::aligned<int32_t>(vertex_count + 16);
  s->depth = kernel::aligned<float>(vertex_count + 16), s->q = kernel::aligned<float>(vertex_count + 16);
  s->primitives = kernel::aligned<kernel::Primitive>(s->triangle_count + 32 * threads);
  s->draw.primitives = s->primitives;
  s->draw.image = kernel::aligned<uint8_t>(size_t{kernel::kWidth_px} * kernel::kHeight_px * 4);
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
extern "C" __attribute__((visibility("default"))) const uint8_t* kernel_image(const Scene* s) { return s->draw.image; }

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
                  static_cast<void*>(s->primitives), static_cast<void*>(s->draw.image)})
    std::free(p);
  delete s;
}
