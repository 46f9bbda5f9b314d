// tile/coverage/ruled_coverage.hpp -- stage: tile phase, coverage by a draw's own rule: custom sample locations, conservative, or the
// square of a point. In: a TriangleRecord, a rule, a bin, a rectangle. Out: the covered samples, handed to a sink as coverage.hpp does.
//
// A pixel's square touches a triangle where no edge of either has the other outside: the triangle's box, and its edges' functions at the
// square's corner that lies farthest in, which is the function at the centre and a constant. A square lies in it where the corner farthest
// out does. So conservative rules are the ordinary traversal of one sample with other constants; the samples of a pixel go together.
// Source: Vulkan specification, "Conservative Rasterization", "Custom Sample Locations".
#pragma once

#include "records/coverage_rule.hpp"
#include "tile/coverage/coverage.hpp"

namespace tilegpu::tile {

namespace detail {

/// Edges through the corners of pixels' squares, closed.
struct SquareEdges {
  int64_t reach = 128;  // from the centre, subpixels; negative: to the corner farthest out

  int64_t least(int64_t dx, int64_t dy) const { return (std::abs(dx) + std::abs(dy)) * reach; }
};

/// Hands coverage of one sample on as that of all samples.
template <class Sink>
struct AllSamples {
  Sink& sink;
  uint32_t samples;

  void full_span(int32_t block_x, int32_t block_y, int32_t count) { sink.full_span(block_x, block_y, count); }
  void block(int32_t block_x, int32_t block_y, const uint16_t* mask) {
    uint16_t masks[kMaxSamples] = {};
    std::fill_n(masks, samples, mask[0]);
    sink.block(block_x, block_y, masks);
  }
  bool prefers_windows() const { return false; }
  uint32_t window_blocks(int32_t block_x, int32_t block_y, uint32_t full, uint32_t) {
    each_run(full, [&](int32_t x, int32_t y, int32_t count) { sink.full_span(block_x + x, block_y + y, count); });
    return 0;
  }
  void hidden_part(int32_t, int32_t, uint32_t) { assert(!"no block was hidden"); }
};

// Not inlined: rules are rare, and the sinks' ways for one and for several samples stay apart.
template <class Sink>
[[gnu::noinline]] void cover_squares(const int32_t* x, const int32_t* y, const records::CoverageRule& rule, const PixelRect& rect,
                                     uint32_t samples, Sink& sink) {
  const auto [min_x, max_x] = std::minmax({x[0], x[1], x[2]});
  const auto [min_y, max_y] = std::minmax({y[0], y[1], y[2]});
  PixelRect box;
  SquareEdges edges;
  if (rule.kind == records::CoverageKind::overestimate) {
    edges.reach = 128 + rule.extra;
    box = {(min_x - rule.extra - 1) >> 8, (min_y - rule.extra - 1) >> 8, ((max_x + rule.extra) >> 8) + 1, ((max_y + rule.extra) >> 8) + 1};
  } else {
    edges.reach = -128;
    box = {(min_x + 255) >> 8, (min_y + 255) >> 8, max_x >> 8, max_y >> 8};
  }
  box = {std::max(box.x0, rect.x0), std::max(box.y0, rect.y0), std::min(box.x1, rect.x1), std::min(box.y1, rect.y1)};
  if (box.empty()) return;
  if (samples == 1) {
    cover_large<false>(x, y, box, box, 1, nullptr, sink, edges);
  } else {
    AllSamples<Sink> all{sink, samples};
    cover_large<false>(x, y, box, box, 1, nullptr, all, edges);
  }
}

/// Samples in the box of three corners of a square; left and top edges are its own.
template <class Sink>
void cover_box(const int32_t* x, const int32_t* y, const records::CoverageRule& rule, const PixelRect& rect, uint32_t samples, Sink& sink) {
  const auto [min_x, max_x] = std::minmax({x[0], x[1], x[2]});
  const auto [min_y, max_y] = std::minmax({y[0], y[1], y[2]});
  // Pixels whose sample at (at_x, at_y) subpixels lies in it.
  const auto pixels = [&](int32_t at_x, int32_t at_y) {
    const auto first = [](int32_t low, int32_t at) { return (low - at + 255) >> 8; };
    return PixelRect{std::max(first(min_x, at_x), rect.x0), std::max(first(min_y, at_y), rect.y0), std::min(first(max_x, at_x), rect.x1),
                     std::min(first(max_y, at_y), rect.y1)};
  };
  if (samples == 1) {
    if (const PixelRect box = pixels(128, 128); !box.empty()) fill_rect(box, 1, sink);
    return;
  }
  PixelRect of_sample[kMaxSamples], any{INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN};
  const vk::SampleLocation* const places = rule.places(samples);
  for (uint32_t s = 0; s < samples; s++) {
    const PixelRect& box = of_sample[s] = pixels(places[s].x * 16, places[s].y * 16);
    if (box.empty()) continue;
    any = {std::min(any.x0, box.x0), std::min(any.y0, box.y0), std::max(any.x1, box.x1), std::max(any.y1, box.y1)};
  }
  for (int32_t block_y = any.y0 & ~3; block_y < any.y1; block_y += 4)
    for (int32_t block_x = any.x0 & ~3; block_x < any.x1; block_x += 4) {
      uint16_t masks[kMaxSamples] = {};
      uint32_t all = 0xffff, some = 0;
      for (uint32_t s = 0; s < samples; s++) {
        masks[s] = of_sample[s].empty() ? 0 : rect_bits(of_sample[s], block_x, block_y);
        all &= masks[s], some |= masks[s];
      }
      if (all == 0xffff)
        sink.full_span(block_x >> 2, block_y >> 2, 1);
      else if (some)
        sink.block(block_x >> 2, block_y >> 2, masks);
    }
}

}  // namespace detail

/// As cover_triangle, by a rule that is not plain().
template <class Sink>
void cover_ruled(const records::TriangleRecord& record, const records::CoverageRule& rule, int32_t origin_x_px, int32_t origin_y_px,
                 const PixelRect& rect, uint32_t samples, Sink& sink) {
  assert(!rule.plain() && samples >= 1 && samples <= kMaxSamples);
  if (rule.kind == records::CoverageKind::samples && rule.standard)  // its discard rectangles are the sink's
    return cover_triangle(record, origin_x_px, origin_y_px, rect, samples, sink);
  const int32_t ox = origin_x_px * 256, oy = origin_y_px * 256;
  const int32_t x[3] = {record.x[0] - ox, record.x[1] - ox, record.x[2] - ox},
                y[3] = {record.y[0] - oy, record.y[1] - oy, record.y[2] - oy};
  if (rule.conservative()) return detail::cover_squares(x, y, rule, rect, samples, sink);
  if (rule.kind == records::CoverageKind::square) return detail::cover_box(x, y, rule, rect, samples, sink);
  assert(samples > 1);  // one sample has its standard place
  const auto [min_x, max_x] = std::minmax({x[0], x[1], x[2]});
  const auto [min_y, max_y] = std::minmax({y[0], y[1], y[2]});
  const PixelRect box{std::max(min_x >> 8, rect.x0), std::max(min_y >> 8, rect.y0), std::min((max_x >> 8) + 1, rect.x1),
                      std::min((max_y >> 8) + 1, rect.y1)};
  if (!box.empty()) detail::cover_large<true>(x, y, box, rect, samples, rule.locations.data(), sink);
}

}  // namespace tilegpu::tile
