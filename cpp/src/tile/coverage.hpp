// tile/coverage.hpp -- stage: tile phase, coverage. In: a TriangleRecord, a bin, a rectangle. Out: the covered samples, as
// rows of wholly covered 4x4 blocks, partly covered blocks, or loose quads, handed to a sink.
//
// A sample is inside where all three edge functions are >= 0 after the top-left rule took 1 from the edges that are neither top
// nor left; everything is exact integer arithmetic at 8 subpixel bits. With one sample all sample points are a whole pixel
// apart, so that floor(E / 256) decides; with more they lie on a grid of 1/16 pixel and floor(E / 16) does. After the edges that
// decide the whole region are dropped, the others fit 32 bits (checked; else 64 bits are used).
// Source: Vulkan specification, "Polygon Rasterization"; Abrash, "Rasterization on Larrabee" (trivial accept and reject).
#pragma once

#include <algorithm>
#include <bit>
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
//   quad(x_px, y_px, coverage)                 even bin coordinates; bit 4 * sample + pixel
// it may have, for several samples:
//   takes_parts()            whether it covers the partly covered blocks of a window itself:
//   window_parts(at, x_step, y_step, samples, edges, block_x, block_y, part)  edges at the window's corner, steps of a pixel, of each
//   sample
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

template <class T, bool kMulti, class Sink>
void traverse(const UnitEdge* edges, uint32_t edge_count, const PixelRect& region, const PixelRect& clip, bool clipped, uint32_t samples,
              Sink& sink) {
  using V = typename VectorOf<T>::Type;
  constexpr T kUnits = kMulti ? 16 : 1;  // a pixel
  constexpr bool kPairs = kMulti && sizeof(T) == 4;
  const int32_t width = region.x1 - region.x0, height = region.y1 - region.y0;
  V block_offset[3][2], pixel_offset[3][2];
  T block_max[3], block_min[3], window_max[3], window_min[3], x_step[3], y_step[3];
  T sample_offset[3][kMaxSamples];
  const V lane_x = {0, 1, 0, 1, 2, 3, 2, 3}, lane_y = {0, 0, 1, 1, 0, 0, 1, 1};
  const V column = {0, 1, 2, 3, 0, 1, 2, 3}, row = {0, 0, 0, 0, 1, 1, 1, 1};
  for (uint32_t e = 0; e < edge_count; e++) {
    const T ux = edges[e].ux, uy = edges[e].uy;
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
      const vk::SampleLocation* at = vk::sample_locations(samples);
      for (uint32_t s = 0; s < samples; s++) sample_offset[e][s] = ux * at[s].x + uy * at[s].y;
    }
  }

  // Windows of 4x4 blocks.
  for (int32_t wy = 0; wy < height; wy += 16) {
    const int32_t rows = std::min((height - wy + 3) >> 2, 4);
    for (int32_t wx = 0; wx < width; wx += 16) {
      T at[3];
      bool outside = false, inside = true;
      for (uint32_t e = 0; e < edge_count; e++) {
        at[e] = static_cast<T>(edges[e].c) + x_step[e] * wx + y_step[e] * wy;
        outside |= at[e] + window_max[e] < 0;
        inside &= at[e] + window_min[e] >= 0;
      }
      if (outside) continue;
      const int32_t columns = std::min((width - wx + 3) >> 2, 4);
      const uint32_t present = (0x1111u * ((1u << columns) - 1)) & ((1u << 4 * rows) - 1);
      uint32_t full = present, part = 0, edge_cuts[3] = {};  // blocks by edge
      if (!inside) {
        V out0{}, out1{}, cut0{}, cut1{};
        for (uint32_t e = 0; e < edge_count; e++) {
          const V v0 = block_offset[e][0] + at[e], v1 = block_offset[e][1] + at[e];
          out0 |= v0 + block_max[e];
          out1 |= v1 + block_max[e];
          if constexpr (kPairs) {
            edge_cuts[e] = sign_bits(v0 + block_min[e]) | sign_bits(v1 + block_min[e]) << 8;
          } else {
            cut0 |= v0 + block_min[e];
            cut1 |= v1 + block_min[e];
          }
        }
        const uint32_t live = present & ~(sign_bits(out0) | sign_bits(out1) << 8);
        uint32_t cut = sign_bits(cut0) | sign_bits(cut1) << 8;
        if constexpr (kPairs) cut = edge_cuts[0] | edge_cuts[1] | edge_cuts[2];
        full = live & ~cut;
        part = live & cut;
      }
      const int32_t base_x = region.x0 + wx, base_y = region.y0 + wy;
      uint16_t masks[kMaxSamples] = {};
      if (clipped) {
        // Blocks that the scissor cuts leave the set of full ones.
        for (uint32_t bits = full | part; bits; bits &= bits - 1) {
          const int32_t b = std::countr_zero(bits), x = base_x + (b & 3) * 4, y = base_y + (b >> 2) * 4;
          const uint16_t allowed = rect_bits(clip, x, y);
          if (allowed == 0xffff) continue;
          if (full >> b & 1) {
            full &= ~(1u << b);
            if (allowed) {
              std::fill_n(masks, samples, allowed);
              sink.block(x >> 2, y >> 2, masks);
            }
          } else if (!allowed) {
            part &= ~(1u << b);
          }
        }
      }
      uint32_t hidden = 0;
      if constexpr (!kMulti) {
        hidden = sink.window_blocks(base_x >> 2, base_y >> 2, full, part);
        full = 0;
      }
      while (full) {
        const int32_t b = std::countr_zero(full);
        const int32_t run = std::countr_one((full >> b) & ((1u << (4 - (b & 3))) - 1));
        full &= ~(((1u << run) - 1) << b);
        sink.full_span((base_x >> 2) + (b & 3), (base_y >> 2) + (b >> 2), run);
      }
      if constexpr (kPairs && requires { sink.takes_parts(); })
        if (part && sink.takes_parts()) {
          sink.window_parts(at, x_step, y_step, sample_offset, edge_count, base_x >> 2, base_y >> 2, part);
          part = 0;
        }
      for (; part; part &= part - 1) {
        const int32_t b = std::countr_zero(part), bx = (b & 3) * 4, by = (b >> 2) * 4;
        const uint16_t allowed = clipped ? rect_bits(clip, base_x + bx, base_y + by) : uint16_t{0xffff};
        T corner[3];
        for (uint32_t e = 0; e < edge_count; e++) corner[e] = at[e] + x_step[e] * bx + y_step[e] * by;
        if constexpr (!kMulti) {
          V out0{}, out1{};
          for (uint32_t e = 0; e < edge_count; e++) {
            out0 |= pixel_offset[e][0] + corner[e];
            out1 |= pixel_offset[e][1] + corner[e];
          }
          masks[0] = static_cast<uint16_t>(~(sign_bits(out0) | sign_bits(out1) << 8) & allowed);
          if (hidden >> b & 1)
            sink.hidden_part((base_x + bx) >> 2, (base_y + by) >> 2, masks[0]);
          else if (masks[0])
            sink.block((base_x + bx) >> 2, (base_y + by) >> 2, masks);
        } else if constexpr (kPairs) {
          // Only the edges that cut this block.
          i32x8 base[3][2];
          const int32_t* offsets[3];
          uint32_t used = 0;
          for (uint32_t e = 0; e < edge_count; e++) {
            if (!(edge_cuts[e] >> b & 1)) continue;
            base[used][0] = pixel_offset[e][0] + corner[e];
            base[used][1] = pixel_offset[e][1] + corner[e];
            offsets[used++] = sample_offset[e];
          }
          if (cover_samples(used, base, offsets, samples, allowed * 0x10001u, masks))
            sink.block((base_x + bx) >> 2, (base_y + by) >> 2, masks);
        } else {
          uint32_t any = 0;
          for (uint32_t s = 0; s < samples; s++) {
            V out0{}, out1{};
            for (uint32_t e = 0; e < edge_count; e++) {
              const T v = corner[e] + sample_offset[e][s];
              out0 |= pixel_offset[e][0] + v;
              out1 |= pixel_offset[e][1] + v;
            }
            masks[s] = static_cast<uint16_t>(~(sign_bits(out0) | sign_bits(out1) << 8) & allowed);
            any |= masks[s];
          }
          if (any) sink.block((base_x + bx) >> 2, (base_y + by) >> 2, masks);
        }
      }
    }
  }
}

/// Triangles of a few pixels: one window of 4x4 pixels from an even pixel on, all edges at once in 32 bits.
template <bool kMulti, class Sink>
void cover_window(const int32_t* x, const int32_t* y, int32_t window_x, int32_t window_y, const PixelRect& rect, uint32_t samples,
                  Sink& sink) {
  // Pairs (x, y) of 16 bits for a multiply-add: dx * y - dy * x, in subpixels.
  const __m256i lane = _mm256_setr_epi16(0, 0, 256, 0, 0, 256, 256, 256, 512, 0, 768, 0, 512, 256, 768, 256);
  const int32_t centre = kMulti ? 0 : 128;
  const int32_t px = window_x * 256 + centre, py = window_y * 256 + centre;
  i32x8 e0[3], e1[3];
  int32_t dx[3], dy[3];
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    dx[k] = x[n] - x[k];
    dy[k] = y[n] - y[k];
    const int32_t bias = -static_cast<int32_t>(!(dy[k] < 0 || (dy[k] == 0 && dx[k] > 0)));
    const int32_t at = dx[k] * (py - y[k]) - dy[k] * (px - x[k]) + bias;
    const uint32_t pair = (static_cast<uint32_t>(-dy[k]) & 0xffff) | static_cast<uint32_t>(dx[k]) << 16;
    e0[k] = (i32x8)_mm256_madd_epi16(lane, _mm256_set1_epi32(static_cast<int32_t>(pair))) + at;
    e1[k] = e0[k] + dx[k] * 512;
  }
  // What the rectangle allows of the window; it cuts rarely.
  const uint32_t allowed = rect_bits(rect, window_x, window_y);
  if constexpr (!kMulti) {
    const uint32_t mask = ~(sign_bits(e0[0] | e0[1] | e0[2]) | sign_bits(e1[0] | e1[1] | e1[2]) << 8) & allowed;
    if (!mask) return;
    if (mask & 0xf) sink.quad(window_x, window_y, mask & 0xf);
    if (mask & 0xf0) sink.quad(window_x + 2, window_y, mask >> 4 & 0xf);
    if (mask & 0xf00) sink.quad(window_x, window_y + 2, mask >> 8 & 0xf);
    if (mask & 0xf000) sink.quad(window_x + 2, window_y + 2, mask >> 12 & 0xf);
  } else {
    const vk::SampleLocation* at = vk::sample_locations(samples);
    uint64_t quad[4] = {};
    for (uint32_t s = 0; s < samples; s++) {
      i32x8 out0{}, out1{};
      for (int k = 0; k < 3; k++) {
        const int32_t offset = (dx[k] * at[s].y - dy[k] * at[s].x) * 16;
        out0 |= e0[k] + offset;
        out1 |= e1[k] + offset;
      }
      const uint64_t mask = ~(sign_bits(out0) | sign_bits(out1) << 8) & allowed;
      for (int q = 0; q < 4; q++) quad[q] |= (mask >> 4 * q & 0xf) << 4 * s;
    }
    for (int q = 0; q < 4; q++)
      if (quad[q]) sink.quad(window_x + (q & 1) * 2, window_y + (q >> 1) * 2, quad[q]);
  }
}

template <bool kMulti, class Sink>
void cover_large(const int32_t* x, const int32_t* y, const PixelRect& box, const PixelRect& rect, uint32_t samples, Sink& sink) {
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
    const int64_t bias = dy < 0 || (dy == 0 && dx > 0) ? 0 : -1;
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
    traverse<int32_t, kMulti>(edges, count, region, rect, clipped, samples, sink);
  else
    traverse<int64_t, kMulti>(edges, count, region, rect, clipped, samples, sink);
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
  const int32_t window_x = box.x0 & ~1, window_y = box.y0 & ~1;
  if (box.x1 - window_x <= 4 && box.y1 - window_y <= 4 && max_x - min_x < detail::kSmallTriangle &&
      max_y - min_y < detail::kSmallTriangle) {
    if (samples == 1)
      detail::cover_window<false>(x, y, window_x, window_y, rect, samples, sink);
    else
      detail::cover_window<true>(x, y, window_x, window_y, rect, samples, sink);
  } else if (samples == 1) {
    detail::cover_large<false>(x, y, box, rect, samples, sink);
  } else {
    detail::cover_large<true>(x, y, box, rect, samples, sink);
  }
}

}  // namespace tilegpu::tile
