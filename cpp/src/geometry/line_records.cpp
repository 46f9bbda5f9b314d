// geometry/line_records.cpp -- stage: primitive assembly of lines that are no polygons (Bresenham's, smooth and stippled ones). In: two
// clipped ends. Out: one record for each line, in the bins that its pixels may lie in; where its stipple begins.
//
// The record's third vertex is the first one moved across the line, with the same values: the planes through all three are those of the
// specification's projection onto the segment. Its coverage is not the triangle's (records/line_segment.hpp).
// Source: Vulkan specification, "Basic Line Segment Rasterization" (interpolation), "Line Stipple".
#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

namespace {

// Bins of a row that the segment may touch: where it crosses the row's pixels, and its width, rounded up.
void add_bins(const Line& line, uint32_t record, const LineBox& box, Output& out) {
  const BinGrid& grid = out.binner->grid();
  const uint32_t shift = out.binner->shift_y();
  const auto column = [&](int32_t x_px) { return (x_px - grid.origin_x_px) >> out.binner->shift_x(); };
  const auto row = [&](int32_t y_px) { return (y_px - grid.origin_y_px) >> shift; };
  const LineEnds& e = line.ends;
  const int64_t dx = int64_t{e.bx} - e.ax, dy = int64_t{e.by} - e.ay;
  // Every pixel's centre is nearer to the segment than half the width and a pixel's diagonal, along either axis.
  const int64_t reach = int64_t{std::max(line.rule.width_px, static_cast<uint32_t>(line.rule.half_px * 2) + 1) + 4} * 256;
  for (int32_t y = row(box.y0); y <= row(box.y1); y++) {
    int32_t x0 = box.x0, x1 = box.x1;
    if (dy != 0) {
      const int64_t top = ((int64_t{y} << shift) + grid.origin_y_px) * 256 - reach, bottom = top + (int64_t{256} << shift) + 2 * reach;
      const auto cut = [&](int64_t to) {  // x of the segment's line at the height `to`, within its ends
        const int64_t at = std::clamp<int64_t>(to, std::min(e.ay, e.by), std::max(e.ay, e.by));
        return e.ax + (at - e.ay) * dx / dy;
      };
      const int64_t one = cut(top), other = cut(bottom);
      x0 = static_cast<int32_t>(std::max<int64_t>(x0, (std::min(one, other) - reach) >> 8));
      x1 = static_cast<int32_t>(std::min<int64_t>(x1, (std::max(one, other) + reach) >> 8));
    }
    if (x0 <= x1) out.binner->add_row(record, y, column(x0), column(x1));
  }
}

}  // namespace

void skip_line(const DrawSetup& draw, const PostVertex& a, const PostVertex& b, Output& out) {
  assert(draw.line.stippled);
  out.stipple = next_start({{a.x, a.y, b.x, b.y}, draw.line, out.stipple});
}

uint32_t emit_segment(const DrawSetup& draw, uint32_t flags, const RecordVertex& a, const RecordVertex& b, bool provoking_is_b,
                      uint32_t primitive_id, Output& out) {
  assert(draw.line.kind != LineKind::triangles);
  const int32_t dx = b.post.x - a.post.x, dy = b.post.y - a.post.y;
  if (dx == 0 && dy == 0) return 0;
  const Line line{{a.post.x, a.post.y, b.post.x, b.post.y}, draw.line, out.stipple};
  if (draw.line.stippled) out.stipple = next_start(line);
  LineBox box = box_of(line);
  box.x0 = std::max(box.x0, draw.x0_px), box.x1 = std::min(box.x1, draw.x1_px);
  box.y0 = std::max(box.y0, draw.y0_px), box.y1 = std::min(box.y1, draw.y1_px);
  if (box.x1 < box.x0 || box.y1 < box.y0) return 0;

  Chunk& chunk = *out.chunk;
  const auto index = static_cast<uint32_t>(chunk.records.size());
  TriangleRecord& record = *chunk.records.extend(1);
  const RecordVertex* const vertices[3] = {&a, &b, &a};
  for (int k = 0; k < 3; k++) {
    const RecordVertex& v = *vertices[k];
    record.x[k] = v.post.x, record.y[k] = v.post.y;
    record.z[k] = v.post.z, record.q[k] = v.post.q;
    record.vertex[k] = v.varyings;
  }
  record.x[2] -= dy, record.y[2] += dx;
  record.draw_flags = flags | (provoking_is_b ? 1u : 0u) << kProvokingShift;
  if (out.primitive_ids) chunk.primitive_id.push_back(primitive_id);
  if (draw.line.stippled) chunk.line_starts.push_back({index, line.start});
  add_bins(line, index, box, out);
  return 1;
}

}  // namespace tilegpu::geometry
