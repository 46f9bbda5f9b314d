// tile/coverage/batch_setup.cpp -- see batch_setup.hpp.
#include "tile/coverage/batch_setup.hpp"

#include <bit>
#include <cassert>
#include <cstddef>

#include "base/prefetch.hpp"
#include "records/primitive_setup.hpp"

namespace tilegpu::tile {

namespace {

using records::TriangleRecord;

static_assert(records::kDeferred << 7 == 1u << 31);
static_assert(offsetof(TriangleRecord, y) == 12 && offsetof(TriangleRecord, z) == 24 && offsetof(TriangleRecord, q) == 36 &&
              offsetof(TriangleRecord, vertex) == 48 && offsetof(TriangleRecord, draw_flags) == 60);
static_assert(offsetof(shader::PrimitiveSetup, anchor_x) == 0 && offsetof(shader::PrimitiveSetup, q0) == 8 &&
              offsetof(shader::PrimitiveSetup, i0) == 20 && offsetof(shader::PrimitiveSetup, j0) == 32 &&
              offsetof(shader::PrimitiveSetup, z0) == 44 && offsetof(shader::PrimitiveSetup, w1) == 56);

using tilegpu::maximum;
using tilegpu::minimum;
inline f32x8 minimum(f32x8 a, f32x8 b) { return (f32x8)_mm256_min_ps((__m256)a, (__m256)b); }  // a < b ? a : b
inline f32x8 maximum(f32x8 a, f32x8 b) { return (f32x8)_mm256_max_ps((__m256)a, (__m256)b); }  // a > b ? a : b
inline f32x8 pick(i32x8 mask, f32x8 yes, f32x8 no) { return (f32x8)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask); }
inline i32x8 pick(i32x8 mask, i32x8 yes, i32x8 no) { return (i32x8)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)mask); }
inline f32x8 to_float(i32x8 v) { return __builtin_convertvector(v, f32x8); }
inline f32x8 splat(float v) { return f32x8{} + v; }

inline void transpose(__m256* rows) {
  const __m256 a0 = _mm256_unpacklo_ps(rows[0], rows[1]), a1 = _mm256_unpackhi_ps(rows[0], rows[1]);
  const __m256 a2 = _mm256_unpacklo_ps(rows[2], rows[3]), a3 = _mm256_unpackhi_ps(rows[2], rows[3]);
  const __m256 a4 = _mm256_unpacklo_ps(rows[4], rows[5]), a5 = _mm256_unpackhi_ps(rows[4], rows[5]);
  const __m256 a6 = _mm256_unpacklo_ps(rows[6], rows[7]), a7 = _mm256_unpackhi_ps(rows[6], rows[7]);
  const __m256 b0 = _mm256_shuffle_ps(a0, a2, 0x44), b1 = _mm256_shuffle_ps(a0, a2, 0xee);
  const __m256 b2 = _mm256_shuffle_ps(a1, a3, 0x44), b3 = _mm256_shuffle_ps(a1, a3, 0xee);
  const __m256 b4 = _mm256_shuffle_ps(a4, a6, 0x44), b5 = _mm256_shuffle_ps(a4, a6, 0xee);
  const __m256 b6 = _mm256_shuffle_ps(a5, a7, 0x44), b7 = _mm256_shuffle_ps(a5, a7, 0xee);
  rows[0] = _mm256_permute2f128_ps(b0, b4, 0x20);
  rows[1] = _mm256_permute2f128_ps(b1, b5, 0x20);
  rows[2] = _mm256_permute2f128_ps(b2, b6, 0x20);
  rows[3] = _mm256_permute2f128_ps(b3, b7, 0x20);
  rows[4] = _mm256_permute2f128_ps(b0, b4, 0x31);
  rows[5] = _mm256_permute2f128_ps(b1, b5, 0x31);
  rows[6] = _mm256_permute2f128_ps(b2, b6, 0x31);
  rows[7] = _mm256_permute2f128_ps(b3, b7, 0x31);
}

struct Records8 {
  i32x8 x[3], y[3], vertex[3], flags;
  f32x8 z[3], q[3];
};

inline Records8 load(const TriangleRecord* const* records) {
  __m256 low[8], high[8];
  for (int i = 0; i < 8; i++) {
    const float* words = reinterpret_cast<const float*>(records[i]);
    low[i] = _mm256_loadu_ps(words);
    high[i] = _mm256_loadu_ps(words + 8);
  }
  transpose(low);
  transpose(high);
  Records8 r;
  for (int k = 0; k < 3; k++) {
    r.x[k] = (i32x8)low[k];
    r.y[k] = (i32x8)low[3 + k];
    r.q[k] = (f32x8)high[1 + k];
    r.vertex[k] = (i32x8)high[4 + k];
  }
  r.z[0] = (f32x8)low[6];
  r.z[1] = (f32x8)low[7];
  r.z[2] = (f32x8)high[0];
  r.flags = (i32x8)high[7];
  return r;
}

/// The lower or the upper four.
inline __m256d half(i32x8 v, int part) {
  return _mm256_cvtepi32_pd(part ? _mm256_extracti128_si256((__m256i)v, 1) : _mm256_castsi256_si128((__m256i)v));
}
/// Rounded once.
inline f32x8 product(i32x8 a, i32x8 b) {
  const auto part = [&](int k) { return _mm256_cvtpd_ps(_mm256_mul_pd(half(a, k), half(b, k))); };
  return (f32x8)_mm256_set_m128(part(1), part(0));
}

/// Vertices from the anchor on, and the gradients of lambda1 and lambda2: make_barycentrics.
struct Anchored8 {
  i32x8 x0, y0;
  f32x8 z0, z1, z2, q0, q1, q2;
  f32x8 l1x, l1y, l2x, l2y;
  i32x8 vertex0, vertex1, vertex2;
};

template <bool kShaded>
inline Anchored8 anchor(const Records8& r) {
  const i32x8 second = r.q[1] < r.q[0];
  const i32x8 third = r.q[2] < pick(second, r.q[1], r.q[0]);
  const auto v0 = [&](const auto* v) { return pick(third, v[2], pick(second, v[1], v[0])); };
  const auto v1 = [&](const auto* v) { return pick(third, v[0], pick(second, v[2], v[1])); };
  const auto v2 = [&](const auto* v) { return pick(third, v[1], pick(second, v[0], v[2])); };
  Anchored8 a;
  a.x0 = v0(r.x);
  a.y0 = v0(r.y);
  const i32x8 x1 = v1(r.x) - a.x0, y1 = v1(r.y) - a.y0, x2 = v2(r.x) - a.x0, y2 = v2(r.y) - a.y0;
  const auto area = [&](int part) {
    return _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_mul_pd(half(x1, part), half(y2, part)), _mm256_mul_pd(half(x2, part), half(y1, part))));
  };
  const f32x8 scale = 256.0f / (f32x8)_mm256_set_m128(area(1), area(0));
  a.l1x = to_float(y2) * scale;
  a.l1y = -to_float(x2) * scale;
  a.l2x = -to_float(y1) * scale;
  a.l2y = to_float(x1) * scale;
  a.z0 = v0(r.z);
  a.z1 = v1(r.z);
  a.z2 = v2(r.z);
  if constexpr (kShaded) {
    a.vertex0 = v0(r.vertex);
    a.vertex1 = v1(r.vertex);
    a.vertex2 = v2(r.vertex);
    a.q0 = v0(r.q);
    a.q1 = v1(r.q);
    a.q2 = v2(r.q);
  }
  return a;
}

/// Lanes whose bit is set.
inline i32x8 mask_of(uint32_t bits) {
  constexpr i32x8 kBit = {1, 2, 4, 8, 16, 32, 64, 128};
  return ((i32x8{} + static_cast<int32_t>(bits)) & kBit) == kBit;
}

inline i32x8 longest(const i32x8* v) { return maximum(maximum(v[0], v[1]), v[2]) - minimum(minimum(v[0], v[1]), v[2]); }

/// records::may_be_half.
inline i32x8 halves_of(const Records8& r) {
  const auto same = [](f32x8 a, f32x8 b) { return (i32x8)a == (i32x8)b; };
  const auto pair = [](const i32x8* v) { return (v[0] == v[1]) | (v[1] == v[2]) | (v[2] == v[0]); };
  const i32x8 upright = same(r.q[0], r.q[1]) & same(r.q[1], r.q[2]) & same(r.z[0], r.z[1]) & same(r.z[1], r.z[2]) & pair(r.x) & pair(r.y);
  if (!sign_bits(upright)) return upright;
  // One leg by the other; rounded beyond 2^24 alone.
  const f32x8 area = product(longest(r.x), longest(r.y));
  return upright & (area >= static_cast<float>(records::kLeastRectangle));
}

/// records::set_up_half: of halves of upright rectangles, the anchor at the corner. Returns PrimitiveSetup::completes.
__attribute__((noinline)) i32x8 anchor_halves(const Records8& r, i32x8 halves, Anchored8& a) {
  const auto least = [](const i32x8* v) { return minimum(minimum(v[0], v[1]), v[2]); };
  const auto most = [](const i32x8* v) { return maximum(maximum(v[0], v[1]), v[2]); };
  const i32x8 x[2] = {least(r.x), most(r.x)}, y[2] = {least(r.y), most(r.y)}, width = x[1] - x[0], height = y[1] - y[0];
  const f32x8 scale = 256.0f / product(width, height), zero = -f32x8{};
  a.x0 = pick(halves, x[0], a.x0), a.y0 = pick(halves, y[0], a.y0);
  a.l1x = pick(halves, to_float(height) * scale, a.l1x), a.l1y = pick(halves, zero, a.l1y);
  a.l2x = pick(halves, zero, a.l2x), a.l2y = pick(halves, to_float(width) * scale, a.l2y);
  // Of the four corners one has no vertex.
  i32x8 vertex[4], there[4];
  for (int corner = 3; corner >= 0; corner--) {
    const auto lies = [&](int v) { return (r.x[v] == x[corner & 1]) & (r.y[v] == y[corner >> 1]); };
    const i32x8 other = corner == 3 ? r.vertex[2] : vertex[3];
    vertex[corner] = pick(lies(0), r.vertex[0], pick(lies(1), r.vertex[1], pick(lies(2), r.vertex[2], other)));
    there[corner] = lies(0) | lies(1) | lies(2);
  }
  a.vertex0 = pick(halves, vertex[records::kUpperLeft], a.vertex0);
  a.vertex1 = pick(halves, vertex[records::kUpperRight], a.vertex1);
  a.vertex2 = pick(halves, vertex[records::kLowerLeft], a.vertex2);
  return halves & ((~there[records::kUpperLeft] & 1) | (~there[records::kUpperRight] & 2) | (~there[records::kLowerLeft] & 3));
}

inline void keep(int32_t* to, i32x8 v) { _mm256_store_si256(reinterpret_cast<__m256i*>(to), (__m256i)v); }
inline void keep(float* to, f32x8 v) { _mm256_store_ps(to, (__m256)v); }

template <bool kSquares>
inline void prepare(const TriangleRecord* const* records, uint32_t count, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect,
                    uint32_t samples, int32_t block_limit, float range_lo, float range_hi, TriangleBatch& out) {
  assert(count >= 1 && count <= kBatch && block_limit <= detail::kSmallTriangle);
  const Records8 r = load(records);
  i32x8 x[3], y[3];
  for (int k = 0; k < 3; k++) {
    x[k] = r.x[k] - origin_x_px * 256;
    y[k] = r.y[k] - origin_y_px * 256;
  }
  const i32x8 min_x = minimum(minimum(x[0], x[1]), x[2]), max_x = maximum(maximum(x[0], x[1]), x[2]);
  const i32x8 min_y = minimum(minimum(y[0], y[1]), y[2]), max_y = maximum(maximum(y[0], y[1]), y[2]);
  // As in cover_triangle; the right and lower edges of a square are not its own.
  const int32_t low = samples == 1 ? 127 : 0, high = kSquares ? 129 : samples == 1 ? 128 : 0, centre = samples == 1 ? 128 : 0;
  const i32x8 box_x0 = maximum((min_x + low) >> 8, i32x8{} + rect.x0), box_x1 = minimum(((max_x - high) >> 8) + 1, i32x8{} + rect.x1);
  const i32x8 box_y0 = maximum((min_y + low) >> 8, i32x8{} + rect.y0), box_y1 = minimum(((max_y - high) >> 8) + 1, i32x8{} + rect.y1);
  i32x8 window_x = box_x0 & ~1, window_y = box_y0 & ~1;
  const uint32_t used = (1u << count) - 1;
  out.outside = sign_bits((box_x0 >= box_x1) | (box_y0 >= box_y1)) & used;
  const i32x8 extent = i32x8{} + block_limit;
  const i32x8 compact = (max_x - min_x < extent) & (max_y - min_y < extent);
  i32x8 small = (box_x1 - window_x <= 4) & (box_y1 - window_y <= 4) & compact;
  if (samples > 1) small = i32x8{};
  window_x &= small | ~3;
  window_y &= small | ~3;
  out.small = sign_bits(small) & used & ~out.outside;
  out.medium = sign_bits(compact) & used & ~out.outside & ~out.small;
  keep(out.end_x, box_x1);
  keep(out.end_y, box_y1);
  // The last block may end beyond the box.
  const i32x8 last_x = window_x + ((box_x1 - window_x + 3) & ~3), last_y = window_y + ((box_y1 - window_y + 3) & ~3);
  out.cut = sign_bits((window_x < rect.x0) | (window_y < rect.y0) | (last_x > rect.x1) | (last_y > rect.y1));
  keep(out.window_x, window_x);
  keep(out.window_y, window_y);
  if constexpr (kSquares) {
    keep(out.from_x, box_x0);
    keep(out.from_y, box_y0);
  }
  const i32x8 px = window_x * 256 + centre, py = window_y * 256 + centre;
  for (int k = 0; k < (kSquares ? 0 : 3); k++) {
    const int n = k == 2 ? 0 : k + 1;
    const i32x8 dx = x[n] - x[k], dy = y[n] - y[k];
    const i32x8 top_left = (dy < 0) | ((dy == 0) & (dx > 0));
    // Unsigned: lanes that are not small may wrap, and are not used.
    const u32x8 udx = (u32x8)dx, udy = (u32x8)dy;
    keep(out.at[k], (i32x8)(udx * (u32x8)(py - y[k]) - udy * (u32x8)(px - x[k]) + (u32x8)~top_left));
    keep(out.pair[k], (i32x8)((-udy & 0xffff) | udx << 16));
  }

  const Anchored8 a = anchor<false>(r);
  const f32x8 dz1 = a.z1 - a.z0, dz2 = a.z2 - a.z0;
  keep(out.z0, a.z0);
  keep(out.zx, dz1 * a.l1x + dz2 * a.l2x);
  keep(out.zy, dz1 * a.l1y + dz2 * a.l2y);
  keep(out.anchor_x, to_float(a.x0) * (1.0f / 256));
  keep(out.anchor_y, to_float(a.y0) * (1.0f / 256));
  keep(out.lo, clamp(minimum(minimum(a.z0, a.z1), a.z2), range_lo, range_hi));
  keep(out.hi, clamp(maximum(maximum(a.z0, a.z1), a.z2), range_lo, range_hi));
}

}  // namespace

void prepare_batch(const TriangleRecord* const* records, uint32_t count, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect,
                   uint32_t samples, int32_t block_limit, float range_lo, float range_hi, TriangleBatch& out) {
  prepare<false>(records, count, origin_x_px, origin_y_px, rect, samples, block_limit, range_lo, range_hi, out);
}

void prepare_squares(const TriangleRecord* const* records, uint32_t count, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect,
                     int32_t block_limit, float range_lo, float range_hi, TriangleBatch& out) {
  prepare<true>(records, count, origin_x_px, origin_y_px, rect, 1, block_limit, range_lo, range_hi, out);
}

void set_up_primitives(const TriangleRecord* const* records, const records::Chunk* const* chunks, const uint32_t* orders, float range_lo,
                       float range_hi, uint32_t corners, shader::PrimitiveSetup* const* out) {
  const Records8 r = load(records);
  Anchored8 a = anchor<true>(r);
  i32x8 completes{};
  const i32x8 half = corners ? halves_of(r) & mask_of(corners) : i32x8{};
  const uint32_t halves = sign_bits(half);
  if (halves) completes = anchor_halves(r, half, a);
  const f32x8 dq1 = a.q1 - a.q0, dq2 = a.q2 - a.q0, dz1 = a.z1 - a.z0, dz2 = a.z2 - a.z0, one = splat(1.0f);
  __m256 low[8] = {(__m256)(to_float(a.x0) * (1.0f / 256)),
                   (__m256)(to_float(a.y0) * (1.0f / 256)),
                   (__m256)a.q0,
                   (__m256)(dq1 * a.l1x + dq2 * a.l2x),
                   (__m256)(dq1 * a.l1y + dq2 * a.l2y),
                   _mm256_setzero_ps(),
                   (__m256)(a.q1 * a.l1x),
                   (__m256)(a.q1 * a.l1y)};
  __m256 high[8] = {_mm256_setzero_ps(),
                    (__m256)(a.q2 * a.l2x),
                    (__m256)(a.q2 * a.l2y),
                    (__m256)a.z0,
                    (__m256)(dz1 * a.l1x + dz2 * a.l2x),
                    (__m256)(dz1 * a.l1y + dz2 * a.l2y),
                    (__m256)(one / a.q1),
                    (__m256)(one / a.q2)};
  transpose(low);
  transpose(high);
  alignas(32) int32_t vertex[5][8];
  alignas(32) float lo[8], hi[8];
  keep(vertex[0], a.vertex0);
  keep(vertex[1], a.vertex1);
  keep(vertex[2], a.vertex2);
  const i32x8 provoking = (r.flags >> records::kProvokingShift) & 3;
  keep(vertex[3], pick(provoking == 1, r.vertex[1], pick(provoking == 2, r.vertex[2], r.vertex[0])));
  keep(vertex[4], completes);
  keep(lo, clamp(minimum(minimum(a.z0, a.z1), a.z2), range_lo, range_hi));
  keep(hi, clamp(maximum(maximum(a.z0, a.z1), a.z2), range_lo, range_hi));
  for (int i = 0; i < 8; i++) {
    shader::PrimitiveSetup& setup = *out[i];
    float* words = &setup.anchor_x;
    _mm256_store_ps(words, low[i]);
    _mm256_store_ps(words + 8, high[i]);
    setup.z_lo = lo[i];
    setup.z_hi = hi[i];
    const records::Chunk& chunk = *chunks[i];
    // As numbers: where vertices are deferred, or there are no varyings, these are no addresses; the former are replaced below.
    const auto varyings = reinterpret_cast<uintptr_t>(chunk.varyings.data());
    const auto at = [&](int k) { return varyings + sizeof(float) * static_cast<uint32_t>(vertex[k][i]); };
    for (int k = 0; k < 3; k++) setup.varying[k] = reinterpret_cast<const float*>(at(k));
    setup.provoking = reinterpret_cast<const float*>(at(3));
    for (uintptr_t c = 0; c < 3; c++) prefetch(at(0) + 128 * c);
    const size_t index = static_cast<size_t>(records[i] - chunk.records.data());
    setup.primitive_id = index < chunk.primitive_id.size() ? chunk.primitive_id.data()[index] : 0;
    const uint32_t flags = records[i]->draw_flags;
    setup.front_facing = flags & records::kFrontFacing ? 1 : 0;
    setup.draw = flags & records::kDrawMask;
    setup.order = orders[i];
    setup.deferred = 0;
    setup.upright = halves >> i & 1;
    setup.completes = static_cast<uint8_t>(vertex[4][i]);
  }
  const uint32_t deferred = sign_bits(r.flags << 7);  // kDeferred
  for (uint32_t left = deferred; left; left &= left - 1) {
    const int i = std::countr_zero(left);
    defer_vertices(*records[i], *chunks[i], corners >> i & 1, *out[i]);
  }
}

}  // namespace tilegpu::tile
