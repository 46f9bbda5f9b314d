// tile/coverage/line_coverage.hpp -- stage: tile phase, coverage of lines that are no polygons. In: a Line, a bin, a rectangle. Out: the
// covered samples, as masks of 4x4 blocks handed to a sink (coverage.hpp). Source: records/line_segment.hpp.
#pragma once

#include <algorithm>
#include <cassert>

#include "records/line_segment.hpp"
#include "tile/coverage/coverage.hpp"

namespace tilegpu::tile {

namespace detail {

constexpr int32_t pixel_x(uint32_t pixel) { return static_cast<int32_t>((pixel >> 2 & 1) * 2 + (pixel & 1)); }
constexpr int32_t pixel_y(uint32_t pixel) { return static_cast<int32_t>((pixel >> 3) * 2 + (pixel >> 1 & 1)); }

/// Four pixels of the major axis at a time, block by block along the minor one.
template <class Sink>
void cover_bresenham(const records::Line& line, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect, uint32_t samples,
                     Sink& sink) {
  const records::BresenhamSegment segment(line.ends, line.rule.width_px);
  if (segment.count() == 0) return;
  const bool along_x = segment.along_x();
  const int32_t major_origin = along_x ? origin_x_px : origin_y_px, minor_origin = along_x ? origin_y_px : origin_x_px;
  const int32_t from = std::max(segment.lowest_major() - major_origin, along_x ? rect.x0 : rect.y0);
  const int32_t to = std::min(segment.highest_major() - major_origin + 1, along_x ? rect.x1 : rect.y1);
  const int32_t least = along_x ? rect.y0 : rect.x0, end = along_x ? rect.y1 : rect.x1, width = static_cast<int32_t>(line.rule.width_px);
  for (int32_t block = from & ~3; block < to; block += 4) {
    int32_t low[4], high[4], lowest = end, highest = least;
    for (int32_t i = 0; i < 4; i++) {
      const int32_t major = block + i;
      low[i] = high[i] = least;
      if (major < from || major >= to || !line.rule.draws(line.start + segment.before(major + major_origin))) continue;
      const int32_t minor = segment.minor(major + major_origin) - minor_origin;
      low[i] = std::max(minor, least), high[i] = std::min(minor + width, end);
      if (low[i] >= high[i]) continue;
      lowest = std::min(lowest, low[i]), highest = std::max(highest, high[i]);
    }
    for (int32_t across = lowest & ~3; across < highest; across += 4) {
      uint32_t covered = 0;
      for (int32_t i = 0; i < 4; i++) {
        const auto first = static_cast<uint32_t>(std::clamp(low[i] - across, 0, 4)),
                   last = static_cast<uint32_t>(std::clamp(high[i] - across, 0, 4));
        covered |= along_x ? kRange.columns[i][i + 1] & kRange.rows[first][last] : kRange.rows[i][i + 1] & kRange.columns[first][last];
      }
      if (!covered) continue;
      uint16_t masks[kMaxSamples] = {};
      std::fill_n(masks, samples, static_cast<uint16_t>(covered));
      sink.block((along_x ? block : across) >> 2, (along_x ? across : block) >> 2, masks);
    }
  }
}

/// Samples of a block in the rectangle; returns any of their bits.
inline uint32_t cover_rectangle_block(const records::LineRectangle& rectangle, bool smooth, int32_t x_px, int32_t y_px, uint32_t allowed,
                                      uint32_t samples, const vk::SampleLocation* at, uint16_t* masks) {
  uint32_t any = 0;
  for (uint32_t bits = allowed; bits; bits &= bits - 1) {
    const auto p = static_cast<uint32_t>(std::countr_zero(bits));
    const int32_t x = x_px + pixel_x(p), y = y_px + pixel_y(p);
    if (smooth) {
      if (rectangle.area(x, y) < records::kLeastArea) continue;
      for (uint32_t s = 0; s < samples; s++) masks[s] = static_cast<uint16_t>(masks[s] | 1u << p);
      any |= 1u << p;
      continue;
    }
    for (uint32_t s = 0; s < samples; s++) {
      if (!rectangle.covers(x * 256 + at[s].x * 16, y * 256 + at[s].y * 16)) continue;
      masks[s] = static_cast<uint16_t>(masks[s] | 1u << p);
      any |= 1u << p;
    }
  }
  return any;
}

template <class Sink>
void cover_rectangle(const records::Line& line, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect, uint32_t samples,
                     const vk::SampleLocation* at, Sink& sink) {
  const records::LineBox box = records::box_of(line);
  if (box.x1 < box.x0) return;
  const records::LineRectangle rectangle(line);
  const bool smooth = line.rule.kind == records::LineKind::smooth;
  const int32_t x0 = std::max(box.x0 - origin_x_px, rect.x0), x1 = std::min(box.x1 - origin_x_px + 1, rect.x1);
  const int32_t y0 = std::max(box.y0 - origin_y_px, rect.y0), y1 = std::min(box.y1 - origin_y_px + 1, rect.y1);
  for (int32_t y = y0 & ~3; y < y1; y += 4)
    for (int32_t x = x0 & ~3; x < x1; x += 4) {
      if (rectangle.misses(x + origin_x_px, y + origin_y_px, 4)) continue;
      uint16_t masks[kMaxSamples] = {};
      if (cover_rectangle_block(rectangle, smooth, x + origin_x_px, y + origin_y_px, rect_bits(rect, x, y), samples, at, masks))
        sink.block(x >> 2, y >> 2, masks);
    }
}

}  // namespace detail

/// Samples of a line that is no polygon. The bin's corner in pixels; `rect`: bin, scissor and render area, cut; `at`: of the samples.
template <class Sink>
inline void cover_line(const records::Line& line, int32_t origin_x_px, int32_t origin_y_px, const PixelRect& rect, uint32_t samples,
                       const vk::SampleLocation* at, Sink& sink) {
  assert(line.rule.kind != records::LineKind::triangles && samples <= kMaxSamples && at);
  if (rect.empty()) return;
  if (line.rule.kind == records::LineKind::bresenham)
    detail::cover_bresenham(line, origin_x_px, origin_y_px, rect, samples, sink);
  else
    detail::cover_rectangle(line, origin_x_px, origin_y_px, rect, samples, at, sink);
}

}  // namespace tilegpu::tile
