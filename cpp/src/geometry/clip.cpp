// geometry/clip.cpp -- stage: clipping. In: primitives with a vertex outside near, far, w > 0, a side (guard band, or a viewport
// that ends within the scissor) or a user distance. Out: records of what is left.
//
// Sutherland and Hodgman, "Reentrant Polygon Clipping", in homogeneous coordinates. A cut is computed from the inner vertex to
// the outer one whichever way the edge runs, and the distances to later planes are interpolated along with the position, so that
// two triangles cut their common edge at the same point, to the bit.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

namespace {

struct ClipVertex {
  float position[4];
  float weight[3];              // of the primitive's vertices
  float distance[kClipPlanes];  // to the planes at hand
  int slot;                     // in the batch; -1: made here
};

// The same expressions as in transform_batch, so that the sign agrees with the outcode.
float plane_distance(const DrawSetup& draw, const Batch& batch, uint32_t slot, uint32_t plane) {
  const float x = batch.position[slot], y = batch.position[kBatchStride + slot];
  const float z = batch.position[2 * kBatchStride + slot], w = batch.position[3 * kBatchStride + slot];
  switch (plane) {
    case 0:
      return draw.near_at_minus_w ? z + w : z;
    case 1:
      return w - z;
    case 2:
      return w - kMinW;
    case 3:
      return draw.side[0].a * x + draw.side[0].b * w;
    case 4:
      return draw.side[1].a * x + draw.side[1].b * w;
    case 5:
      return draw.side[2].a * y + draw.side[2].b * w;
    case 6:
      return draw.side[3].a * y + draw.side[3].b * w;
    default:
      return batch.clip_distance[(plane - 7) * kBatchStride + slot];
  }
}

ClipVertex cut_edge(const DrawSetup& draw, const ClipVertex& in, const ClipVertex& out, uint32_t plane_index, uint32_t plane,
                    uint32_t plane_count) {
  ClipVertex made;
  const float d_in = in.distance[plane_index], d_out = out.distance[plane_index];
  const float t = d_in / (d_in - d_out), s = 1.0f - t;
  for (int i = 0; i < 4; i++) made.position[i] = in.position[i] * s + out.position[i] * t;
  for (int i = 0; i < 3; i++) made.weight[i] = in.weight[i] * s + out.weight[i] * t;
  for (uint32_t i = 0; i < plane_count; i++) made.distance[i] = in.distance[i] * s + out.distance[i] * t;
  made.distance[plane_index] = 0;
  if (plane == 0) made.position[2] = draw.near_at_minus_w ? -made.position[3] : 0;
  if (plane == 1) made.position[2] = made.position[3];
  if (plane == 2) made.position[3] = kMinW;
  made.slot = -1;
  return made;
}

}  // namespace

void clip_polygon(const DrawSetup& draw, const Batch& batch, const uint32_t* slot, uint32_t corners, ClippedPolygon& out) {
  assert(corners == 2 || corners == 3);
  out.count = 0;
  uint32_t any = 0;
  for (uint32_t i = 0; i < corners; i++) any |= batch.code[slot[i]];
  // Outcode bits of the planes in order, cull distances and view volume left out.
  uint32_t planes[kClipPlanes], plane_count = 0;
  for (uint32_t bits = any & 0x7fu * kOutPlane0; bits; bits &= bits - 1)
    planes[plane_count++] = static_cast<uint32_t>(std::countr_zero(bits) - std::countr_zero(uint32_t{kOutPlane0}));
  for (uint32_t bits = any & 0xffu * kOutClipDistance0; bits; bits &= bits - 1)
    planes[plane_count++] = 7 + static_cast<uint32_t>(std::countr_zero(bits) - std::countr_zero(uint32_t{kOutClipDistance0}));

  ClipVertex buffer[2][kMaxPolygon];
  ClipVertex *from = buffer[0], *to = buffer[1];
  uint32_t count = corners;
  for (uint32_t i = 0; i < corners; i++) {
    for (uint32_t c = 0; c < 4; c++) from[i].position[c] = batch.position[c * kBatchStride + slot[i]];
    for (uint32_t c = 0; c < 3; c++) from[i].weight[c] = c == i ? 1.0f : 0.0f;
    for (uint32_t p = 0; p < plane_count; p++) from[i].distance[p] = plane_distance(draw, batch, slot[i], planes[p]);
    from[i].slot = static_cast<int>(slot[i]);
  }
  for (uint32_t p = 0; p < plane_count; p++) {
    uint32_t kept = 0;
    const uint32_t edges = corners == 2 ? 1 : count;
    if (corners == 2 && from[0].distance[p] >= 0) to[kept++] = from[0];
    for (uint32_t i = 0; i < edges; i++) {
      const ClipVertex& a = from[i];
      const ClipVertex& b = from[i + 1 == count ? 0 : i + 1];
      const bool a_in = a.distance[p] >= 0, b_in = b.distance[p] >= 0;
      if (a_in != b_in && kept < kMaxPolygon)
        to[kept++] = a_in ? cut_edge(draw, a, b, p, planes[p], plane_count) : cut_edge(draw, b, a, p, planes[p], plane_count);
      if (b_in && kept < kMaxPolygon) to[kept++] = b;
    }
    std::swap(from, to);
    count = kept;
    if (count < corners) return;
  }
  for (uint32_t i = 0; i < count; i++) {
    const ClipVertex& v = from[i];
    out.made[i] = v.slot < 0;
    out.slot[i] = static_cast<uint8_t>(v.slot < 0 ? 0 : v.slot);
    if (v.slot >= 0) {
      out.vertex[i] = {batch.post[v.slot], batch.varyings_of(static_cast<uint32_t>(v.slot))};
      continue;
    }
    if (!transform_vertex(draw, v.position, out.vertex[i].post)) return;
    out.vertex[i].varyings = 0;
    for (int c = 0; c < 3; c++) out.weight[i][c] = v.weight[c];
    out.w[i] = v.position[3];
  }
  out.count = count;
}

namespace {

/// Of a varying that is the primitive's: where its value comes from.
struct OfPrimitive {
  bool barycentric = false;  // 1 at the primitive's vertex number `corner`, 0 at the others
  uint32_t corner = 0;       // else what that vertex has in the row `source`
  uint32_t source = 0;
};

/// Missing vertices, the third of a line, are the valid one with the highest number. Source: Vulkan specification, "Barycentric
/// Interpolation", whose tables are the order in which primitives are assembled.
OfPrimitive of_primitive(const shader::VaryingLayout& layout, uint32_t row, uint32_t corners) {
  const shader::VaryingComponent& c = layout.components[row];
  assert(c.of_primitive() && corners >= 1 && corners <= 3);
  if (c.corner == 0) return {true, c.component, 0};
  const int source = layout.find(c.location, c.component);
  assert(source >= 0);  // varyings.cpp lists both
  return {false, std::min<uint32_t>(c.corner, corners) - 1, static_cast<uint32_t>(source)};
}

/// All vertices of the polygon are made.
void make_all(const Batch& batch, const uint32_t* slot, uint32_t corners, ClippedPolygon& polygon) {
  for (uint32_t i = 0; i < polygon.count; i++) {
    if (polygon.made[i]) continue;
    polygon.made[i] = 1;
    bool found = false;
    for (uint32_t k = 0; k < 3; k++) {
      polygon.weight[i][k] = !found && k < corners && slot[k] == polygon.slot[i] ? 1.0f : 0.0f;
      found |= polygon.weight[i][k] != 0;
    }
    assert(found);
    polygon.w[i] = batch.position[3 * kBatchStride + polygon.slot[i]];
  }
}

}  // namespace

void write_made_vertices(const DrawSetup& draw, const Batch& batch, const uint32_t* slot, uint32_t corners, uint32_t provoking_slot,
                         ClippedPolygon& polygon, Output& out) {
  if (draw.components == 0) return;
  const shader::VaryingLayout& layout = draw.resolved->varyings;
  if (draw.own_vertices) make_all(batch, slot, corners, polygon);
  for (uint32_t i = 0; i < polygon.count; i++) {
    if (!polygon.made[i]) continue;
    Arena<float>& varyings = out.chunk->varyings;
    if (out.extra_used == kBatchStride) {
      out.extra_varyings = static_cast<uint32_t>(varyings.size());
      // Slots that stay free are never read, but a chunk's bytes are to be the same every time.
      const size_t count = size_t{draw.components} * kBatchStride;
      if (count) std::memset(varyings.extend(count), 0, count * sizeof(float));
      out.extra_used = 0;
    }
    polygon.vertex[i].varyings = out.extra_varyings + out.extra_used++;
    float* to = draw.components ? varyings.data() + polygon.vertex[i].varyings : nullptr;
    for (uint32_t c = 0; c < draw.components; c++) {
      const auto value = [&](uint32_t vertex) -> const float& { return varyings.data()[batch.varyings_of(vertex) + c * kBatchStride]; };
      const shader::Interpolation interpolation = layout.components[c].interpolation;
      float sum = 0;
      const bool own = layout.components[c].of_primitive();
      const OfPrimitive from = own ? of_primitive(layout, c, corners) : OfPrimitive{};
      if (own && !from.barycentric) {
        std::memcpy(&to[c * kBatchStride], varyings.data() + batch.varyings_of(slot[from.corner]) + from.source * kBatchStride, 4);
        continue;
      }
      if (interpolation == shader::Interpolation::flat) {
        std::memcpy(&to[c * kBatchStride], &value(provoking_slot), 4);
        continue;
      }
      bool begun = false;
      for (uint32_t k = 0; k < corners; k++) {
        float weight = polygon.weight[i][k];
        if (weight == 0) continue;
        if (interpolation == shader::Interpolation::noperspective)
          weight = weight * batch.position[3 * kBatchStride + slot[k]] / polygon.w[i];
        const float term = own ? (k == from.corner ? weight : 0) : weight * value(slot[k]);
        sum = begun ? sum + term : term;
        begun = true;
      }
      to[c * kBatchStride] = sum;
    }
  }
}

PolygonFacing polygon_facing(const DrawSetup& draw, const ClippedPolygon& polygon) {
  assert(polygon.count <= kMaxPolygon);
  int64_t area = 0, largest = 0;
  uint32_t largest_at = 1;
  for (uint32_t i = 1; i + 1 < polygon.count; i++) {
    const int64_t part = signed_area(polygon.vertex[0].post, polygon.vertex[i].post, polygon.vertex[i + 1].post);
    area += part;
    if (std::llabs(part) > largest) {
      largest = std::llabs(part);
      largest_at = i;
    }
  }
  if (area == 0 || !(area > 0 ? draw.keep_positive : draw.keep_negative)) return {};
  return {area, depth_bias(draw, polygon.vertex[0].post, polygon.vertex[largest_at].post, polygon.vertex[largest_at + 1].post)};
}

void give_own_vertices(const DrawSetup& draw, const Batch& batch, const uint32_t slot[3], bool exchanged, TriangleRecord& record,
                       Output& out) {
  assert(draw.own_vertices);
  ClippedPolygon polygon;
  polygon.count = 3;
  for (uint32_t k = 0; k < 3; k++) {
    polygon.slot[k] = static_cast<uint8_t>(slot[k]), polygon.made[k] = 1, polygon.w[k] = batch.position[3 * kBatchStride + slot[k]];
    for (uint32_t i = 0; i < 3; i++) polygon.weight[k][i] = k == i ? 1.0f : 0.0f;
  }
  write_made_vertices(draw, batch, slot, 3, slot[draw.provoking_last ? 2 : 0], polygon, out);
  record.vertex[0] = polygon.vertex[0].varyings;
  record.vertex[1] = polygon.vertex[exchanged ? 2 : 1].varyings;
  record.vertex[2] = polygon.vertex[exchanged ? 1 : 2].varyings;
}

void clip_triangle(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, const uint32_t slot[3], uint32_t primitive_id,
                   Output& out) {
  ClippedPolygon polygon;
  clip_polygon(draw, batch, slot, 3, polygon);
  if (polygon.count < 3) return;
  const auto [area, bias] = polygon_facing(draw, polygon);
  if (area == 0) return;

  const size_t varyings_before = out.chunk->varyings.size();
  const uint32_t extra_before = out.extra_used, extra_base_before = out.extra_varyings;
  const uint32_t provoking_slot = slot[draw.provoking_last ? 2 : 0];
  write_made_vertices(draw, batch, slot, 3, provoking_slot, polygon, out);
  for (uint32_t i = 0; i < polygon.count; i++) polygon.vertex[i].post.z += bias;
  // A vertex that was made has the provoking one's flat values; a part of the fan has one of either kind.
  const auto provokes = [&](uint32_t i) { return polygon.made[i] || polygon.slot[i] == provoking_slot; };
  const uint32_t flags = draw_index | ((area > 0) == draw.positive_is_front ? kFrontFacing : 0);
  uint32_t emitted = 0;
  for (uint32_t i = 1; i + 1 < polygon.count; i++) {
    const RecordVertex corners[3] = {polygon.vertex[0], polygon.vertex[i], polygon.vertex[i + 1]};
    const uint32_t provoking = provokes(0) ? 0 : provokes(i) ? 1 : 2;
    emitted += emit_triangle(draw, flags, corners, provoking, primitive_id, out);
  }
  if (emitted) {
    out.chunk->stats.primitives_clipped++;
    out.survivors++;
  } else {
    out.chunk->varyings.resize(varyings_before);
    out.extra_used = extra_before;
    out.extra_varyings = extra_base_before;
  }
}

}  // namespace tilegpu::geometry
