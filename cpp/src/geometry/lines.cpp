// geometry/lines.cpp -- stage: primitive assembly of points and lines, and of triangles in polygon mode line or point. In: a
// transformed batch. Out: a record for each point (a square), two triangle records for each line (a parallelogram), or one
// record for each line that is covered by a rule of its own (line_records.cpp).
//
// A line is as wide as line_width along the axis on which it advances less ("non-strict" lines): one pixel wide lines cover one
// pixel in each column or row. Source: Vulkan specification, "Basic Line Segment Rasterization",
// "Line Stipple", "Polygon Mode".
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

namespace {

RecordVertex moved(const RecordVertex& v, int32_t dx, int32_t dy) {
  RecordVertex m = v;
  m.post.x += dx;
  m.post.y += dy;
  return m;
}

uint32_t emit_quad(const DrawSetup& draw, uint32_t flags, const RecordVertex& a0, const RecordVertex& a1, const RecordVertex& b1,
                   const RecordVertex& b0, bool provoking_is_b, uint32_t primitive_id, Output& out) {
  const RecordVertex first[3] = {a0, a1, b1}, second[3] = {a0, b1, b0};
  uint32_t emitted = emit_triangle(draw, flags, first, provoking_is_b ? 2 : 0, primitive_id, out);
  emitted += emit_triangle(draw, flags, second, provoking_is_b ? 2 : 0, primitive_id, out);
  return emitted;
}

void add_bias(RecordVertex& v, float bias) { v.post.z += bias; }

// Both ends exist already as vertices of the batch: as a polygon of two, optionally as copies that take another vertex's flat values.
void whole_line(const Batch& batch, const uint32_t slot[2], bool copy, ClippedPolygon& line) {
  line.count = 2;
  for (uint32_t i = 0; i < 2; i++) {
    line.vertex[i] = {batch.post[slot[i]], batch.varyings + slot[i]};
    line.slot[i] = static_cast<uint8_t>(slot[i]);
    line.made[i] = copy;
    for (uint32_t k = 0; k < 3; k++) line.weight[i][k] = k == i ? 1.0f : 0.0f;
    line.w[i] = batch.position[3 * kBatchStride + slot[i]];
  }
}

uint32_t emit_line(const DrawSetup& draw, uint32_t flags, const Batch& batch, const uint32_t slot[2], uint32_t provoking_slot, float bias,
                   uint32_t primitive_id, Output& out) {
  const uint32_t a = batch.code[slot[0]], b = batch.code[slot[1]];
  if ((a & b & kRejectIfAll) || ((a | b) & kOutBad)) {
    if (draw.line.stippled && !((a | b) & (kOutAllPlanes | kOutBad))) skip_line(draw, batch.post[slot[0]], batch.post[slot[1]], out);
    return 0;
  }
  ClippedPolygon line;
  const bool foreign = draw.has_flat && slot[0] != provoking_slot && slot[1] != provoking_slot;
  if ((a | b) & kOutAllPlanes) {
    clip_polygon(draw, batch, slot, 2, line);
    if (line.count != 2) return 0;
    if (!line.made[0] && !line.made[1] && foreign) whole_line(batch, slot, true, line);
    out.chunk->stats.primitives_clipped++;
  } else {
    whole_line(batch, slot, foreign, line);
  }
  write_made_vertices(draw, batch, slot, 2, provoking_slot, line, out);
  RecordVertex &p = line.vertex[0], &q = line.vertex[1];
  add_bias(p, bias);
  add_bias(q, bias);
  const bool provoking_is_b = !line.made[0] && (line.made[1] || line.slot[1] == provoking_slot) && line.slot[0] != provoking_slot;
  if (draw.line.kind != LineKind::triangles) return emit_segment(draw, flags, p, q, provoking_is_b, primitive_id, out);
  const auto width = static_cast<int32_t>(std::lrint(draw.half_line_px * 512.0f));
  const int32_t low = -(width / 2), high = width + low;
  const int64_t dx = std::llabs(int64_t{q.post.x} - p.post.x), dy = std::llabs(int64_t{q.post.y} - p.post.y);
  const bool along_x = dx >= dy;
  const auto side = [&](const RecordVertex& v, int32_t d) { return along_x ? moved(v, 0, d) : moved(v, d, 0); };
  return emit_quad(draw, flags, side(p, low), side(p, high), side(q, high), side(q, low), provoking_is_b, primitive_id, out);
}

// Of its square, in subpixels: sizes are multiples of 1/128 px within kMinPointSize_px and kMaxPointSize_px. No number: the least.
int32_t half_point(const DrawSetup& draw, const Batch& batch, uint32_t slot) {
  if (!draw.writes_point_size) return 128;
  const float size_px = batch.point_size[slot];
  if (!(size_px > kMinPointSize_px)) return static_cast<int32_t>(kMinPointSize_px * 128);
  return static_cast<int32_t>(std::lrint(std::min(size_px, kMaxPointSize_px) * 128));
}

uint32_t emit_point(const DrawSetup& draw, uint32_t flags, const Batch& batch, uint32_t slot, uint32_t provoking_slot, float bias,
                    uint32_t primitive_id, Output& out) {
  constexpr uint32_t kSides = 0xfu * kOutSide0;
  if (batch.code[slot] & (kRejectIfAll | kSides | kOutBad)) return 0;
  ClippedPolygon point;
  const uint32_t slots[2] = {slot, slot};
  whole_line(batch, slots, draw.has_flat && slot != provoking_slot, point);
  point.count = 1;
  write_made_vertices(draw, batch, slots, 1, provoking_slot, point, out);
  RecordVertex& v = point.vertex[0];
  add_bias(v, bias);
  return emit_square(draw, flags, v, half_point(draw, batch, slot), primitive_id, out);
}

}  // namespace

void assemble_lines_and_points(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, PrimitiveRun run, Output& out) {
  assert(draw.kind != PrimitiveKind::triangle || draw.polygon_mode != VK_POLYGON_MODE_FILL);
  assert(run.end <= batch.primitive_count);
  for (uint32_t i = run.first; i < run.end; i++) {
    const uint32_t slot[3] = {batch.slot[0][i], batch.slot[1][i], batch.slot[2][i]};
    const uint32_t id = batch.first_primitive + i * out.primitive_id_step;
    uint32_t emitted = 0, all = ~0u, any = 0;
    for (int k = 0; k < static_cast<int>(draw.kind) + 1; k++) all &= batch.code[slot[k]], any |= batch.code[slot[k]];
    out.clipped_away += is_clipped_away(all, any);
    if (draw.kind == PrimitiveKind::point) {
      emitted = emit_point(draw, draw_index | kFrontFacing, batch, slot[0], slot[0], 0, id, out);
    } else if (draw.kind == PrimitiveKind::line) {
      if (!batch.begins_strip || batch.begins_strip[i]) out.stipple = 0;
      emitted = emit_line(draw, draw_index | kFrontFacing, batch, slot, slot[draw.provoking_last ? 1 : 0], 0, id, out);
    } else {
      const uint32_t a = batch.code[slot[0]], b = batch.code[slot[1]], c = batch.code[slot[2]];
      if ((a & b & c & kRejectIfAll) || ((a | b | c) & kOutBad)) continue;
      // Facing and slope are the triangle's, as far as it is inside.
      ClippedPolygon polygon;
      if ((a | b | c) & kOutAllPlanes) {
        clip_polygon(draw, batch, slot, 3, polygon);
      } else {
        polygon.count = 3;
        for (int k = 0; k < 3; k++) polygon.vertex[k].post = batch.post[slot[k]];
      }
      const auto [area, bias] = polygon_facing(draw, polygon);
      if (area == 0) continue;
      const uint32_t flags = draw_index | ((area > 0) == draw.positive_is_front ? kFrontFacing : 0);
      const uint32_t provoking_slot = slot[draw.provoking_last ? 2 : 0];
      for (uint32_t k = 0; k < 3; k++) {
        const uint32_t ends[2] = {slot[k], slot[k == 2 ? 0 : k + 1]};
        if (draw.polygon_mode == VK_POLYGON_MODE_POINT) {
          emitted += emit_point(draw, flags, batch, slot[k], provoking_slot, bias, id, out);
        } else {
          out.stipple = 0;  // edges are lines by themselves
          emitted += emit_line(draw, flags, batch, ends, provoking_slot, bias, id, out);
        }
      }
    }
    if (emitted) out.survivors++;
  }
}

}  // namespace tilegpu::geometry
