// geometry/triangles.cpp -- stage: primitive assembly of filled triangles, eight at a time. In: a transformed batch and its
// triangles' slots. Out: records and bins of those that may cover a sample. Culled: outside, facing away, without area, between
// the samples, outside scissor and render area. Source: Vulkan specification, "Basic Polygon Rasterization", "Depth Bias".
#include <algorithm>
#include <cmath>

#include "geometry/draw_setup.hpp"
#include "geometry/simd.hpp"

namespace tilegpu::geometry {

namespace {

// Which of the three vertices provokes, once 1 and 2 may have changed places.
uint32_t provoking_flag(uint32_t provoking, bool exchanged) {
  return (exchanged && provoking ? 3 - provoking : provoking) << kProvokingShift;
}

struct PixelBox {
  int32_t x0, x1, y0, y1;
};

// Pixels on one axis that have a sample in [low, high); the high end is no sample's, because right and bottom edges are not
// their triangle's.
void sample_range(const SampleGrid& grid, int32_t low, int32_t high, int32_t* first_px, int32_t* last_px, bool* none) {
  const int32_t first = (low - grid.first + (1 << grid.shift) - 1) >> grid.shift;
  const int32_t last = (high - 1 - grid.first) >> grid.shift;
  *none = last < first;
  *first_px = first >> grid.log2_count;
  *last_px = last >> grid.log2_count;
}

}  // namespace

float depth_bias(const DrawSetup& draw, const PostVertex& a, const PostVertex& b, const PostVertex& c) {
  if (!draw.bias) return 0;
  const double scale = 1.0 / 256.0;
  const double dx1 = (b.x - a.x) * scale, dy1 = (b.y - a.y) * scale, dx2 = (c.x - a.x) * scale, dy2 = (c.y - a.y) * scale;
  const double dz1 = double{b.z} - a.z, dz2 = double{c.z} - a.z;
  const double area = dx1 * dy2 - dx2 * dy1;
  float slope = 0;
  if (area != 0) {
    const double zx = std::fabs((dz1 * dy2 - dz2 * dy1) / area), zy = std::fabs((dz2 * dx1 - dz1 * dx2) / area);
    slope = static_cast<float>(zx > zy ? zx : zy);
  }
  float unit = draw.bias_unit;
  if (draw.bias_float) {
    float largest = std::fabs(a.z);
    if (std::fabs(b.z) > largest) largest = std::fabs(b.z);
    if (std::fabs(c.z) > largest) largest = std::fabs(c.z);
    uint32_t bits;
    std::memcpy(&bits, &largest, 4);
    bits &= 0x7f800000u;
    std::memcpy(&unit, &bits, 4);  // 2^e
    unit *= 0x1p-23f;
  }
  const exec::DrawState& state = *draw.state;
  const float constant = state.depth_bias_constant * unit;
  const float sloped = slope * state.depth_bias_slope;
  float bias = constant + sloped;
  const float clamp = state.depth_bias_clamp;
  if (clamp > 0 && bias > clamp) bias = clamp;
  if (clamp < 0 && bias < clamp) bias = clamp;
  return std::isfinite(bias) ? bias : 0.0f;
}

uint32_t emit_triangle(const DrawSetup& draw, uint32_t flags, const RecordVertex v[3], uint32_t provoking, uint32_t primitive_id,
                       Output& out) {
  const int64_t area = signed_area(v[0].post, v[1].post, v[2].post);
  if (area == 0) return 0;
  const bool exchange = area < 0;
  const RecordVertex *a = &v[0], *b = &v[exchange ? 2 : 1], *c = &v[exchange ? 1 : 2];
  const auto low = [](int32_t p, int32_t q, int32_t r) { return std::min(p, std::min(q, r)); };
  const auto high = [](int32_t p, int32_t q, int32_t r) { return std::max(p, std::max(q, r)); };
  PixelBox box;
  bool no_x, no_y;
  sample_range(out.grid, low(a->post.x, b->post.x, c->post.x), high(a->post.x, b->post.x, c->post.x), &box.x0, &box.x1, &no_x);
  sample_range(out.grid, low(a->post.y, b->post.y, c->post.y), high(a->post.y, b->post.y, c->post.y), &box.y0, &box.y1, &no_y);
  box.x0 = std::max(box.x0, draw.x0_px);
  box.x1 = std::min(box.x1, draw.x1_px);
  box.y0 = std::max(box.y0, draw.y0_px);
  box.y1 = std::min(box.y1, draw.y1_px);
  if (no_x || no_y || box.x1 < box.x0 || box.y1 < box.y0) return 0;

  Chunk& chunk = *out.chunk;
  const auto index = static_cast<uint32_t>(chunk.records.size());
  TriangleRecord& record = *chunk.records.extend(1);
  store_transposed3(&record, &a->post, &b->post, &c->post);
  record.vertex[0] = a->varyings;
  record.vertex[1] = b->varyings;
  record.vertex[2] = c->varyings;
  record.draw_flags = flags | provoking_flag(provoking, exchange);
  if (out.primitive_ids) chunk.primitive_id.push_back(primitive_id);
  if (out.lrz.buffer && box.x1 - box.x0 >= out.lrz_reach_x && box.y1 - box.y0 >= out.lrz_reach_y) hsr::lrz_insert(out.lrz, record);

  const BinGrid& grid = out.binner->grid();
  const uint32_t shift = out.binner->shift();
  const int32_t bx0 = (box.x0 - grid.origin_x_px) >> shift, bx1 = (box.x1 - grid.origin_x_px) >> shift;
  const int32_t by0 = (box.y0 - grid.origin_y_px) >> shift, by1 = (box.y1 - grid.origin_y_px) >> shift;
  if (bx0 == bx1 && by0 == by1)
    out.binner->add(index, static_cast<uint32_t>(by0) * grid.columns + static_cast<uint32_t>(bx0));
  else
    out.binner->add_box(index, record, bx0, bx1, by0, by1);
  return 1;
}

void assemble_triangles(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, Output& out) {
  Chunk& chunk = *out.chunk;
  const BinGrid& grid = out.binner->grid();
  const int shift = static_cast<int>(out.binner->shift());
  const uint32_t provoking = draw.provoking_last ? 2 : 0;
  // Without vertices outside a plane, no outcode matters here: what is off the screen has no pixel.
  const bool codes = batch.code_or & (kOutAllPlanes | kOutBad | 0xffu * kOutCullDistance0);
  const uint32_t front_if_negative = draw.positive_is_front ? 0 : kFrontFacing;
  const uint32_t flags[2] = {draw_index | provoking_flag(provoking, false) | (kFrontFacing ^ front_if_negative),
                             draw_index | provoking_flag(provoking, true) | front_if_negative};
  const Int8 keep_positive = splat8(draw.keep_positive ? -1 : 0), keep_negative = splat8(draw.keep_negative ? -1 : 0);
  const Int8 to_first = splat8((1 << out.grid.shift) - 1 - out.grid.first), to_last = splat8(-1 - out.grid.first);
  const int sample_shift = out.grid.shift, sample_log2 = out.grid.log2_count;
  const Int8 x0_px = splat8(draw.x0_px), x1_px = splat8(draw.x1_px), y0_px = splat8(draw.y0_px), y1_px = splat8(draw.y1_px);
  const Int8 origin_x = splat8(grid.origin_x_px), origin_y = splat8(grid.origin_y_px), columns = splat8(static_cast<int32_t>(grid.columns));

  chunk.records.reserve(chunk.records.size() + batch.primitive_count);
  for (uint32_t first = 0; first < batch.primitive_count; first += 8) {
    const uint8_t *slot0 = batch.slot[0] + first, *slot1 = batch.slot[1] + first, *slot2 = batch.slot[2] + first;
    const uint32_t lanes = batch.primitive_count - first >= 8 ? 0xffu : (1u << (batch.primitive_count - first)) - 1;
    Int8 xa, ya, xb, yb, xc, yc;
    gather_pairs8(batch.post, slot0, &xa, &ya);
    gather_pairs8(batch.post, slot1, &xb, &yb);
    gather_pairs8(batch.post, slot2, &xc, &yc);

    Int8 positive, negative;
    sign_of_cross8(xb - xa, yc - ya, xc - xa, yb - ya, &positive, &negative);
    Int8 keep = (positive & keep_positive) | (negative & keep_negative);
    const Int8 low_x = min8(xa, min8(xb, xc)), high_x = max8(xa, max8(xb, xc));
    const Int8 low_y = min8(ya, min8(yb, yc)), high_y = max8(ya, max8(yb, yc));
    const Int8 first_x = (low_x + to_first) >> sample_shift, last_x = (high_x + to_last) >> sample_shift;
    const Int8 first_y = (low_y + to_first) >> sample_shift, last_y = (high_y + to_last) >> sample_shift;
    keep &= (first_x <= last_x) & (first_y <= last_y);
    const Int8 px0 = max8(first_x >> sample_log2, x0_px), px1 = min8(last_x >> sample_log2, x1_px);
    const Int8 py0 = max8(first_y >> sample_log2, y0_px), py1 = min8(last_y >> sample_log2, y1_px);
    keep &= (px0 <= px1) & (py0 <= py1);
    uint32_t visible = mask_bits8(keep) & lanes;
    const uint32_t exchanged = mask_bits8(negative);

    uint32_t cut = 0;
    if (codes) {
      for (uint32_t bits = lanes; bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        const uint32_t a = batch.code[slot0[i]], b = batch.code[slot1[i]], c = batch.code[slot2[i]];
        const uint32_t any = a | b | c;
        if ((a & b & c & kRejectIfAll) || (any & kOutBad))
          visible &= ~(1u << i);
        else if (any & kOutAllPlanes)
          cut |= 1u << i;
      }
    }
    uint32_t bits = visible | cut;
    if (!bits) continue;
    visible &= ~cut;
    out.survivors += static_cast<uint32_t>(__builtin_popcount(visible));

    const Int8 bx0 = (px0 - origin_x) >> shift, bx1 = (px1 - origin_x) >> shift;
    const Int8 by0 = (py0 - origin_y) >> shift, by1 = (py1 - origin_y) >> shift;
    const uint32_t one_bin = mask_bits8((bx0 == bx1) & (by0 == by1));
    uint32_t wide = 0;  // may cover a texel of low-resolution Z
    if (out.lrz.buffer) wide = mask_bits8((px1 - px0 >= splat8(out.lrz_reach_x)) & (py1 - py0 >= splat8(out.lrz_reach_y)));
    alignas(32) int32_t bin[8], box[4][8];
    store8(bin, by0 * columns + bx0);
    if (bits & ~one_bin) {
      store8(box[0], bx0);
      store8(box[1], bx1);
      store8(box[2], by0);
      store8(box[3], by1);
    }
    for (; bits; bits &= bits - 1) {
      const int i = __builtin_ctz(bits);
      const uint32_t a = slot0[i];
      if (__builtin_expect(cut >> i & 1, 0)) {
        const uint32_t slots[3] = {a, slot1[i], slot2[i]};
        clip_triangle(draw, draw_index, batch, slots, batch.first_primitive + first + static_cast<uint32_t>(i), out);
        chunk.records.reserve(chunk.records.size() + batch.primitive_count - first);
        continue;
      }
      const uint32_t exchange = exchanged >> i & 1;
      const uint32_t b = exchange ? slot2[i] : slot1[i], c = exchange ? slot1[i] : slot2[i];
      const auto index = static_cast<uint32_t>(chunk.records.size());
      TriangleRecord& record = *chunk.records.extend_reserved(1);
      store_transposed3(&record, &batch.post[a], &batch.post[b], &batch.post[c]);
      record.vertex[0] = batch.varyings + a;
      record.vertex[1] = batch.varyings + b;
      record.vertex[2] = batch.varyings + c;
      record.draw_flags = flags[exchange];
      if (draw.bias) {
        const float bias = depth_bias(draw, batch.post[a], batch.post[b], batch.post[c]);
        for (float& z : record.z) z += bias;
      }
      if (out.primitive_ids) chunk.primitive_id.push_back(batch.first_primitive + first + static_cast<uint32_t>(i));
      if (wide >> i & 1) hsr::lrz_insert(out.lrz, record);
      if (one_bin >> i & 1)
        out.binner->add(index, static_cast<uint32_t>(bin[i]));
      else
        out.binner->add_box(index, record, box[0][i], box[1][i], box[2][i], box[3][i]);
    }
  }
}

}  // namespace tilegpu::geometry
