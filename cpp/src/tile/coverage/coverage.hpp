// tile/coverage/coverage.hpp -- stage: tile phase, coverage. In: a TriangleRecord, a bin, a rectangle. Out: the covered samples, as
// rows of wholly covered 4x4 blocks, or partly covered blocks, handed to a sink.
//
// A sample is inside where all three edge functions are >= 0 after the top-left rule took 1 from the edges that are neither top
// nor left; everything is exact integer arithmetic at 8 subpixel bits. With one sample all sample points are a whole pixel
// apart, so that floor(E / 256) decides; with more they lie on a grid of 1/16 pixel and floor(E / 16) does. After the edges that
// decide the whole region are dropped, the others fit 32 bits (checked; else 64 bits are used).
// Source: Vulkan specification, "Polygon Rasterization"; Abrash, "Rasterization on Larrabee" (trivial accept and reject).
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/simd.hpp"
#include "records/records.hpp"
#include "vk/sample_locations.hpp"

namespace tilegpu::tile {

inline constexpr uint32_t kMaxSamples = 16;

/// Half-open, pixels, relative to the bin.
struct PixelRect {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool empty() const { return x0 >= x1 || y0 >= y1; }
};

// A sink has:
//   full_span(block_x, block_y, count)         `count` wholly covered blocks side by side (block coordinates in the bin)
//   block(block_x, block_y, const uint16_t*)   a mask for each sample; bit = pixel in tile order
// and for one sample:
//   prefers_windows()                            whether window_blocks is better than full_span where all of a window is covered
//   window_blocks(block_x, block_y, full, part)  four by four blocks, wholly and partly covered ones (bits); draws the former, returns
//                                                which of the latter are hidden: for them hidden_part(block_x, block_y, mask) instead

namespace detail {

/// Extent in subpixels below which a triangle may go block by block with others of its batch: its edges fit 16 bits (128 px would not do:
/// edges at a block of the window must fit 32), and most of its blocks are partly covered, so that windows gain nothing.
inline constexpr int32_t kSmallTriangle = 80 * 256;
/// The same in bins that are several layers deep, one sample: windows that are hidden are rejected as one.
inline constexpr int32_t kSmallInDeepBins = 32 * 256;

// x and y in a block of the lanes of the first vector; the second is two rows down.
inline constexpr int32_t kLaneX[8] = {0, 1, 0, 1, 2, 3, 2, 3};
inline constexpr int32_t kLaneY[8] = {0, 0, 1, 1, 0, 0, 1, 1};

constexpr uint16_t column_bits(int32_t x) {  // of one column of a block
  uint16_t bits = 0;
  for (int32_t p = 0; p < 16; p++)
    if (((p >> 2 & 1) * 2 + (p & 1)) == x) bits = static_cast<uint16_t>(bits | 1u << p);
  return bits;
}
constexpr uint16_t row_bits(int32_t y) {
  uint16_t bits = 0;
  for (int32_t p = 0; p < 16; p++)
    if (((p >> 3) * 2 + (p >> 1 & 1)) == y) bits = static_cast<uint16_t>(bits | 1u << p);
  return bits;
}
struct RangeTable {
  uint16_t columns[5][5] = {}, rows[5][5] = {};  // [first][end]
};
constexpr RangeTable make_range_table() {
  RangeTable t;
  for (int32_t a = 0; a < 5; a++)
    for (int32_t b = 0; b < 5; b++)
      for (int32_t i = a; i < b; i++) {
        t.columns[a][b] = static_cast<uint16_t>(t.columns[a][b] | column_bits(i));
        t.rows[a][b] = static_cast<uint16_t>(t.rows[a][b] | row_bits(i));
      }
  return t;
}
inline constexpr RangeTable kRange = make_range_table();

/// Pixels of the block at (x, y) that lie in the rectangle.
inline uint16_t rect_bits(const PixelRect& rect, int32_t x, int32_t y) {
  const auto cut = [](int32_t v) { return std::clamp(v, 0, 4); };
  return static_cast<uint16_t>(kRange.columns[cut(rect.x0 - x)][cut(rect.x1 - x)] & kRange.rows[cut(rect.y0 - y)][cut(rect.y1 - y)]);
}

template <class Sink>
void fill_blocks(const PixelRect& rect, uint32_t samples, Sink& sink) {
  uint16_t masks[kMaxSamples] = {};
  const auto part = [&](int32_t x, int32_t y) {
    std::fill_n(masks, samples, rect_bits(rect, x, y));
    sink.block(x >> 2, y >> 2, masks);
  };
  const int32_t full_x0 = (rect.x0 + 3) & ~3, full_x1 = rect.x1 & ~3;
  for (int32_t y = rect.y0 & ~3; y < rect.y1; y += 4) {
    if (y < rect.y0 || y + 4 > rect.y1 || full_x0 >= full_x1) {
      for (int32_t x = rect.x0 & ~3; x < rect.x1; x += 4)
        if (rect_bits(rect, x, y) == 0xffff)
          sink.full_span(x >> 2, y >> 2, 1);
        else
          part(x, y);
      continue;
    }
    if (rect.x0 < full_x0) part(full_x0 - 4, y);
    sink.full_span(full_x0 >> 2, y >> 2, (full_x1 - full_x0) >> 2);
    if (full_x1 < rect.x1) part(full_x1, y);
  }
}

/// Everything in the rectangle is covered. With one sample whole windows of 16x16 pixels go together.
template <class Sink>
void fill_rect(const PixelRect& rect, uint32_t samples, Sink& sink) {
  assert(!rect.empty() && samples <= kMaxSamples);
  const PixelRect inner{(rect.x0 + 15) & ~15, (rect.y0 + 15) & ~15, rect.x1 & ~15, rect.y1 & ~15};
  if (samples > 1 || inner.empty() || !sink.prefers_windows()) {
    fill_blocks(rect, samples, sink);
    return;
  }
  const PixelRect edges[4] = {{rect.x0, rect.y0, rect.x1, inner.y0},
                              {rect.x0, inner.y0, inner.x0, inner.y1},
                              {inner.x1, inner.y0, rect.x1, inner.y1},
                              {rect.x0, inner.y1, rect.x1, rect.y1}};
  for (const PixelRect& edge : edges)
    if (!edge.empty()) fill_blocks(edge, samples, sink);
  for (int32_t y = inner.y0; y < inner.y1; y += 16)
    for (int32_t x = inner.x0; x < inner.x1; x += 16) sink.window_blocks(x >> 2, y >> 2, 0xffff, 0);
}

// x and y of the lanes where two vectors hold quads 0 and 2, and 1 and 3 (two columns on).
inline constexpr int32_t kPairX[8] = {0, 1, 0, 1, 0, 1, 0, 1};
inline constexpr int32_t kPairY[8] = {0, 0, 1, 1, 2, 2, 3, 3};

/// Masks of all samples of a block, two samples at a time. `base`: kEdges edges at the pixels' corners, in the order above;
/// `offsets`: to each sample. Returns any of the masks' bits (in the low or the high half). `allowed`: the same mask in both halves.
template <int kEdges>
inline uint32_t cover_samples(const i32x8 (*base)[2], const int32_t* const* offsets, uint32_t samples, uint32_t allowed, uint16_t* masks) {
  assert(samples >= 2 && samples % 2 == 0);
  uint32_t any = 0;
  for (uint32_t s = 0; s < samples; s += 2) {
    i32x8 out[2][2] = {};
    for (uint32_t i = 0; i < 2; i++)
      for (int e = 0; e < kEdges; e++) {
        const int32_t offset = offsets[e][s + i];
        out[i][0] |= base[e][0] + offset;
        out[i][1] |= base[e][1] + offset;
      }
    const __m256i first = _mm256_packs_epi32((__m256i)out[0][0], (__m256i)out[0][1]);
    const __m256i second = _mm256_packs_epi32((__m256i)out[1][0], (__m256i)out[1][1]);
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), _MM_SHUFFLE(3, 1, 2, 0));
    const uint32_t two = ~static_cast<uint32_t>(_mm256_movemask_epi8(both)) & allowed;
    std::memcpy(masks + s, &two, 4);
    any |= two;
  }
  return any;
}
/// The same for 0 to 3 edges.
inline uint32_t cover_samples(uint32_t edges, const i32x8 (*base)[2], const int32_t* const* offsets, uint32_t samples, uint32_t allowed,
                              uint16_t* masks) {
  switch (edges) {
    case 1:
      return cover_samples<1>(base, offsets, samples, allowed, masks);
    case 2:
      return cover_samples<2>(base, offsets, samples, allowed, masks);
    case 3:
      return cover_samples<3>(base, offsets, samples, allowed, masks);
    default:
      std::fill_n(masks, samples, static_cast<uint16_t>(allowed));
      return allowed;
  }
}

/// E(x, y) = c + ux * x + uy * y in units of one pixel (one sample) or 1/16 pixel, relative to the region's corner.
struct UnitEdge {
  int64_t c;
  int32_t ux, uy;
};

template <class T>
struct VectorOf;
template <>
struct VectorOf<int32_t> {
  using Type = i32x8;
};
template <>
struct VectorOf<int64_t> {
  using Type = i64x8;
};

/// The edges that decide a region, as its traversal needs them. T: 32 bits where they fit. Multi: several samples.
template <class T, bool kMulti>
struct RegionEdges {
  using V = typename VectorOf<T>::Type;
  static constexpr T kUnits = kMulti ? 16 : 1;  // a pixel
  static constexpr bool kPairs = kMulti && sizeof(T) == 4;

  uint32_t count;
  T at_corner[3], x_step[3], y_step[3];      // of the region; from pixel to pixel
  T block_max[3], block_min[3];              // from a block's corner to the sample points where the edge is most and least
  T window_max[3], window_min[3];            // the same of a window
  V block_offset[3][2], pixel_offset[3][2];  // to the blocks of a window, to the pixels of a block
  T sample_offset[3][kMaxSamples];           // several samples: from a pixel's corner

  /// `at`: several samples, their places.
  [[gnu::always_inline]] inline RegionEdges(const UnitEdge* edges, uint32_t edge_count, uint32_t samples, const vk::SampleLocation* at)
      : count(edge_count) {
    const V lane_x = {0, 1, 0, 1, 2, 3, 2, 3}, lane_y = {0, 0, 1, 1, 0, 0, 1, 1};
    const V column = {0, 1, 2, 3, 0, 1, 2, 3}, row = {0, 0, 0, 0, 1, 1, 1, 1};
    for (uint32_t e = 0; e < edge_count; e++) {
      const T ux = edges[e].ux, uy = edges[e].uy;
      at_corner[e] = static_cast<T>(edges[e].c);
      x_step[e] = ux * kUnits;
      y_step[e] = uy * kUnits;
      const V px = lane_x * x_step[e], py = lane_y * y_step[e];
      pixel_offset[e][0] = px + py;
      pixel_offset[e][1] = pixel_offset[e][0] + 2 * y_step[e];
      if constexpr (kPairs) {
        for (int lane = 0; lane < 8; lane++) pixel_offset[e][0][lane] = kPairX[lane] * x_step[e] + kPairY[lane] * y_step[e];
        pixel_offset[e][1] = pixel_offset[e][0] + 2 * x_step[e];
      }
      block_offset[e][0] = (column * x_step[e] + row * y_step[e]) * 4;
      block_offset[e][1] = block_offset[e][0] + 8 * y_step[e];
      constexpr T kBlockReach = kMulti ? 63 : 3, kWindowReach = kMulti ? 255 : 15;
      const T up = std::max<T>(ux, 0) + std::max<T>(uy, 0), down = std::min<T>(ux, 0) + std::min<T>(uy, 0);
      block_max[e] = kBlockReach * up;
      block_min[e] = kBlockReach * down;
      window_max[e] = kWindowReach * up;
      window_min[e] = kWindowReach * down;
      if constexpr (kMulti) {
        for (uint32_t s = 0; s < samples; s++) sample_offset[e][s] = ux * at[s].x + uy * at[s].y;
      }
    }
  }
};

/// A window of 4x4 blocks (bit: row-major). (x, y): its first pixel in the bin.
template <class T>
struct CoverWindow {
  int32_t x, y;
  T at[3];                // edges at its corner
  T at_block[3][16];      // and at those of its blocks, where some are covered partly
  uint32_t full, part;    // blocks wholly covered; perhaps partly
  uint32_t edge_cuts[3];  // pairs: blocks that each edge cuts
};

/// Finds the window's blocks; false: nothing of it is covered. (wx, wy): from the region's corner.
template <class T, bool kMulti>
[[gnu::always_inline]] inline bool find_blocks(const RegionEdges<T, kMulti>& edges, const PixelRect& region, int32_t wx, int32_t wy,
                                               CoverWindow<T>& window) {
  using Edges = RegionEdges<T, kMulti>;
  using V = typename Edges::V;
  bool outside = false, inside = true;
  for (uint32_t e = 0; e < edges.count; e++) {
    window.at[e] = edges.at_corner[e] + edges.x_step[e] * wx + edges.y_step[e] * wy;
    outside |= window.at[e] + edges.window_max[e] < 0;
    inside &= window.at[e] + edges.window_min[e] >= 0;
  }
  if (outside) return false;
  const int32_t columns = std::min((region.x1 - region.x0 - wx + 3) >> 2, 4), rows = std::min((region.y1 - region.y0 - wy + 3) >> 2, 4);
  const uint32_t present = (0x1111u * ((1u << columns) - 1)) & ((1u << 4 * rows) - 1);
  window.x = region.x0 + wx;
  window.y = region.y0 + wy;
  window.full = present;
  window.part = 0;
  if constexpr (Edges::kPairs) window.edge_cuts[0] = window.edge_cuts[1] = window.edge_cuts[2] = 0;
  if (inside) return true;
  V out0{}, out1{}, cut0{}, cut1{};
  for (uint32_t e = 0; e < edges.count; e++) {
    const V v0 = edges.block_offset[e][0] + window.at[e], v1 = edges.block_offset[e][1] + window.at[e];
    std::memcpy(window.at_block[e], &v0, sizeof v0);
    std::memcpy(window.at_block[e] + 8, &v1, sizeof v1);
    out0 |= v0 + edges.block_max[e];
    out1 |= v1 + edges.block_max[e];
    if constexpr (Edges::kPairs) {
      window.edge_cuts[e] = sign_bits(v0 + edges.block_min[e]) | sign_bits(v1 + edges.block_min[e]) << 8;
    } else {
      cut0 |= v0 + edges.block_min[e];
      cut1 |= v1 + edges.block_min[e];
    }
  }
  const uint32_t live = present & ~(sign_bits(out0) | sign_bits(out1) << 8);
  uint32_t cut = sign_bits(cut0) | sign_bits(cut1) << 8;
  if constexpr (Edges::kPairs) cut = window.edge_cuts[0] | window.edge_cuts[1] | window.edge_cuts[2];
  window.full = live & ~cut;
  window.part = live & cut;
  return true;
}

/// Blocks that the scissor cuts leave the set of full ones and are drawn.
template <class T, class Sink>
[[gnu::always_inline]] inline void clip_blocks(const PixelRect& clip, uint32_t samples, CoverWindow<T>& window, Sink& sink) {
  assert(!(window.full & window.part));
  for (uint32_t bits = window.full | window.part; bits; bits &= bits - 1) {
    const int32_t b = std::countr_zero(bits), x = window.x + (b & 3) * 4, y = window.y + (b >> 2) * 4;
    const uint16_t allowed = rect_bits(clip, x, y);
    if (allowed == 0xffff) continue;
    if (!(window.full >> b & 1)) {
      if (!allowed) window.part &= ~(1u << b);
      continue;
    }
    window.full &= ~(1u << b);
    if (!allowed) continue;
    uint16_t masks[kMaxSamples] = {};
    std::fill_n(masks, samples, allowed);
    sink.block(x >> 2, y >> 2, masks);
  }
}

/// run(x, y, count) for runs of bits in the rows of a window.
template <class Run>
[[gnu::always_inline]] inline void each_run(uint32_t blocks, Run&& run) {
  while (blocks) {
    const int32_t b = std::countr_zero(blocks);
    const int32_t count = std::countr_one((blocks >> b) & ((1u << (4 - (b & 3))) - 1));
    blocks &= ~(((1u << count) - 1) << b);
    run(b & 3, b >> 2, count);
  }
}

/// Masks of the samples of a block whose corner the edges have the values `corner` at; returns any of their bits.
template <class T, bool kMulti>
[[gnu::always_inline]] inline uint32_t cover_block(const RegionEdges<T, kMulti>& edges, const T* corner, uint32_t cuts, uint32_t samples,
                                                   uint32_t allowed, uint16_t* masks) {
  using V = typename RegionEdges<T, kMulti>::V;
  if constexpr (RegionEdges<T, kMulti>::kPairs) {
    // Only the edges that cut this block.
    i32x8 base[3][2];
    const int32_t* offsets[3];
    uint32_t used = 0;
    for (uint32_t e = 0; e < edges.count; e++) {
      if (!(cuts >> e & 1)) continue;
      base[used][0] = edges.pixel_offset[e][0] + corner[e];
      base[used][1] = edges.pixel_offset[e][1] + corner[e];
      offsets[used++] = edges.sample_offset[e];
    }
    return cover_samples(used, base, offsets, samples, allowed * 0x10001u, masks);
  } else {
    uint32_t any = 0;
    for (uint32_t s = 0; s < (kMulti ? samples : 1); s++) {
      V out0{}, out1{};
      for (uint32_t e = 0; e < edges.count; e++) {
        T v = corner[e];
        if constexpr (kMulti) v += edges.sample_offset[e][s];
        out0 |= edges.pixel_offset[e][0] + v;
        out1 |= edges.pixel_offset[e][1] + v;
      }
      masks[s] = static_cast<uint16_t>(~(sign_bits(out0) | sign_bits(out1) << 8) & allowed);
      any |= masks[s];
    }
    return any;
  }
}

/// The window's partly covered blocks; one sample: of `hidden` ones the sink only wants to know.
template <class T, bool kMulti, class Sink>
[[gnu::always_inline]] inline void cover_parts(const RegionEdges<T, kMulti>& edges, const CoverWindow<T>& window, const PixelRect& clip,
                                               bool clipped, uint32_t samples, uint32_t hidden, Sink& sink) {
  uint16_t masks[kMaxSamples] = {};
  for (uint32_t part = window.part; part; part &= part - 1) {
    const int32_t b = std::countr_zero(part), x = window.x + (b & 3) * 4, y = window.y + (b >> 2) * 4;
    const uint16_t allowed = clipped ? rect_bits(clip, x, y) : uint16_t{0xffff};
    T corner[3];
    uint32_t cuts = 0;
    for (uint32_t e = 0; e < edges.count; e++) {
      corner[e] = window.at_block[e][b];
      if constexpr (RegionEdges<T, kMulti>::kPairs) cuts |= (window.edge_cuts[e] >> b & 1) << e;
    }
    const uint32_t any = cover_block(edges, corner, cuts, samples, allowed, masks);
    if (!kMulti && (hidden >> b & 1))
      sink.hidden_part(x >> 2, y >> 2, masks[0]);
    else if (any)
      sink.block(x >> 2, y >> 2, masks);
  }
}

/// A region's windows, one after the other. `at`: several samples, their places.
template <class T, bool kMulti, class Sink>
void traverse(const UnitEdge* unit_edges, uint32_t edge_count, const PixelRect& region, const PixelRect& clip, bool clipped,
              uint32_t samples, const vk::SampleLocation* at, Sink& sink) {
  assert(edge_count >= 1 && edge_count <= 3 && samples <= kMaxSamples && (kMulti || samples == 1));
  const RegionEdges<T, kMulti> edges(unit_edges, edge_count, samples, at);
  for (int32_t wy = 0; wy < region.y1 - region.y0; wy += 16)
    for (int32_t wx = 0; wx < region.x1 - region.x0; wx += 16) {
      CoverWindow<T> window;
      if (!find_blocks(edges, region, wx, wy, window)) continue;
      if (clipped) clip_blocks(clip, samples, window, sink);
      const int32_t block_x = window.x >> 2, block_y = window.y >> 2;
      uint32_t hidden = 0;
      if constexpr (kMulti)
        each_run(window.full, [&](int32_t x, int32_t y, int32_t count) { sink.full_span(block_x + x, block_y + y, count); });
      else
        hidden = sink.window_blocks(block_x, block_y, window.full, window.part);
      cover_parts(edges, window, clip, clipped, samples, hidden, sink);
    }
}

/// Edges through the sample points, with the top-left rule.
struct PointEdges {
  static int64_t least(int64_t dx, int64_t dy) { return dy < 0 || (dy == 0 && dx > 0) ? 0 : -1; }
};

/// `offset`: what is added to each edge's function at the sample points.
template <bool kMulti, class Sink, class Offset = PointEdges>
void cover_large(const int32_t* x, const int32_t* y, const PixelRect& box, const PixelRect& rect, uint32_t samples,
                 const vk::SampleLocation* places, Sink& sink, const Offset& offset = {}) {
  assert(!box.empty());
  // The region is the box, grown to whole blocks; with one sample its windows are those that have bounds of depth.
  constexpr int32_t kAlign = kMulti ? 3 : 15;
  const PixelRect region{box.x0 & ~kAlign, box.y0 & ~kAlign, (box.x1 + 3) & ~3, (box.y1 + 3) & ~3};
  constexpr int32_t kShift = kMulti ? 4 : 8, kCentre = kMulti ? 0 : 128;
  const int64_t reach_x = kMulti ? (region.x1 - region.x0) * 16 - 1 : region.x1 - region.x0 - 1;
  const int64_t reach_y = kMulti ? (region.y1 - region.y0) * 16 - 1 : region.y1 - region.y0 - 1;
  UnitEdge edges[3];
  uint32_t count = 0;
  int64_t steepest = 0;
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    const int32_t dx = x[n] - x[k], dy = y[n] - y[k];
    const int64_t bias = offset.least(dx, dy);
    const int64_t at =
        int64_t{dx} * (int64_t{region.y0} * 256 + kCentre - y[k]) - int64_t{dy} * (int64_t{region.x0} * 256 + kCentre - x[k]) + bias;
    const UnitEdge edge{at >> kShift, -dy, dx};
    if (edge.c + reach_x * std::max(edge.ux, 0) + reach_y * std::max(edge.uy, 0) < 0) return;
    if (edge.c + reach_x * std::min(edge.ux, 0) + reach_y * std::min(edge.uy, 0) >= 0) continue;
    steepest = std::max(steepest, std::abs(int64_t{dx}) + std::abs(int64_t{dy}));
    edges[count++] = edge;
  }
  if (count == 0) {
    fill_rect(box, samples, sink);
    return;
  }
  const bool clipped = rect.x0 > region.x0 || rect.y0 > region.y0 || rect.x1 < region.x1 || rect.y1 < region.y1;
  // An edge that cuts the region is at most the region's reach away from zero; a window may go 16 px beyond it.
  const int64_t extent = (std::max(reach_x, reach_y) + 1 + (kMulti ? 256 : 16)) * 2;
  if (steepest * extent <= INT32_MAX)
    traverse<int32_t, kMulti>(edges, count, region, rect, clipped, samples, places, sink);
  else
    traverse<int64_t, kMulti>(edges, count, region, rect, clipped, samples, places, sink);
}

}  // namespace detail

/// Coordinates of the record relative to the bin's corner (origin in pixels). `rect`: bin, scissor and render area, cut.
template <class Sink>
inline void cover_triangle(const records::TriangleRecord& record, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect,
                           uint32_t samples, Sink& sink) {
  const int32_t ox = origin_x_px * 256, oy = origin_y_px * 256;
  const int32_t x[3] = {record.x[0] - ox, record.x[1] - ox, record.x[2] - ox},
                y[3] = {record.y[0] - oy, record.y[1] - oy, record.y[2] - oy};
  const int32_t min_x = std::min(std::min(x[0], x[1]), x[2]), max_x = std::max(std::max(x[0], x[1]), x[2]);
  const int32_t min_y = std::min(std::min(y[0], y[1]), y[2]), max_y = std::max(std::max(y[0], y[1]), y[2]);
  // Pixels with a sample point in the bounding box: the centre, or any of the pixel's points.
  const int32_t low = samples == 1 ? 127 : 0, high = samples == 1 ? 128 : 0;
  PixelRect box;
  box.x0 = std::max((min_x + low) >> 8, rect.x0);
  box.y0 = std::max((min_y + low) >> 8, rect.y0);
  box.x1 = std::min(((max_x - high) >> 8) + 1, rect.x1);
  box.y1 = std::min(((max_y - high) >> 8) + 1, rect.y1);
  if (box.empty()) return;
  if (samples == 1)
    detail::cover_large<false>(x, y, box, rect, samples, nullptr, sink);
  else
    detail::cover_large<true>(x, y, box, rect, samples, vk::sample_locations(samples), sink);
}

}  // namespace tilegpu::tile
