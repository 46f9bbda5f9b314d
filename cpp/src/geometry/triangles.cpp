// geometry/triangles.cpp -- stage: primitive assembly of filled triangles. In: transformed vertices, a batch or a range of them, and the
// triangles' slots. Out: records and bins of those that may cover a sample. Culled: outside, facing away, without area, between
// the samples, outside scissor and render area. Source: Vulkan specification, "Basic Polygon Rasterization", "Depth Bias".
#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/prefetch.hpp"
#include "geometry/cull.hpp"
#include "geometry/vertex_range.hpp"

namespace tilegpu::geometry {

namespace {

/// Rows v0, v1, v2 = {x, y, z, q} become {x0 x1 x2 y0}, {y1 y2 z0 z1}, {z2 q0 q1 q2}: the head of a TriangleRecord.
inline void store_transposed3(void* record, const void* row0, const void* row1, const void* row2) {
  const __m128 a = _mm_load_ps(static_cast<const float*>(row0)), b = _mm_load_ps(static_cast<const float*>(row1));
  const __m128 c = _mm_load_ps(static_cast<const float*>(row2));
  const __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);  // x0 x1 y0 y1, z0 z1 q0 q1
  const __m128 x2_y0 = _mm_shuffle_ps(c, low, _MM_SHUFFLE(2, 2, 0, 0));
  const __m128 y1_y2 = _mm_shuffle_ps(low, c, _MM_SHUFFLE(1, 1, 3, 3));
  const __m128 z2_q0 = _mm_shuffle_ps(c, high, _MM_SHUFFLE(2, 2, 2, 2));
  const __m128 q1_q2 = _mm_shuffle_ps(high, c, _MM_SHUFFLE(3, 3, 3, 3));
  float* out = static_cast<float*>(record);
  _mm_storeu_ps(out, _mm_shuffle_ps(low, x2_y0, _MM_SHUFFLE(2, 0, 1, 0)));
  _mm_storeu_ps(out + 4, _mm_shuffle_ps(y1_y2, high, _MM_SHUFFLE(1, 0, 2, 0)));
  _mm_storeu_ps(out + 8, _mm_shuffle_ps(z2_q0, q1_q2, _MM_SHUFFLE(2, 0, 2, 0)));
}

// Which of the three vertices provokes, once 1 and 2 may have changed places.
uint32_t provoking_flag(uint32_t provoking, bool exchanged) {
  return (exchanged && provoking ? 3 - provoking : provoking) << kProvokingShift;
}

struct PixelBox {
  int32_t x0, x1, y0, y1;
};

// Pixels on one axis that have a sample in [low, high); the high end is no sample's, because right and bottom edges are not
// their triangle's (but of a conservative rule).
void sample_range(const SampleGrid& grid, int32_t low, int32_t high, int32_t* first_px, int32_t* last_px, bool* none) {
  const int32_t first = (low + grid.to_first) >> grid.shift, last = (high + grid.to_last) >> grid.shift;
  *none = last < first;
  *first_px = first >> grid.log2_count;
  *last_px = last >> grid.log2_count;
}

// Where it may be drawn to, of [low, high] subpixels; false: nothing of it.
bool pixel_box(const DrawSetup& draw, const SampleGrid& grid, int32_t low_x, int32_t high_x, int32_t low_y, int32_t high_y, PixelBox& box) {
  bool no_x, no_y;
  sample_range(grid, low_x, high_x, &box.x0, &box.x1, &no_x);
  sample_range(grid, low_y, high_y, &box.y0, &box.y1, &no_y);
  box.x0 = std::max(box.x0, draw.x0_px);
  box.x1 = std::min(box.x1, draw.x1_px);
  box.y0 = std::max(box.y0, draw.y0_px);
  box.y1 = std::min(box.y1, draw.y1_px);
  return !no_x && !no_y && box.x1 >= box.x0 && box.y1 >= box.y0;
}

struct BinBox {
  int32_t x0, x1, y0, y1;
};
BinBox bins_of(const PixelBox& box, const Binner& binner) {
  const BinGrid& grid = binner.grid();
  const uint32_t x = binner.shift_x(), y = binner.shift_y();
  const BinBox bins{(box.x0 - grid.origin_x_px) >> x, (box.x1 - grid.origin_x_px) >> x, (box.y0 - grid.origin_y_px) >> y,
                    (box.y1 - grid.origin_y_px) >> y};
  assert(bins.x0 >= 0 && bins.y0 >= 0 && bins.x1 < static_cast<int32_t>(grid.columns) && bins.y1 < static_cast<int32_t>(grid.rows));
  return bins;
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
  const command::DrawState& state = *draw.state;
  const float constant = state.rasterization.depth_bias_constant * unit;
  const float sloped = slope * state.rasterization.depth_bias_slope;
  float bias = constant + sloped;
  const float clamp = state.rasterization.depth_bias_clamp;
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
  if (!pixel_box(draw, out.grid, low(a->post.x, b->post.x, c->post.x), high(a->post.x, b->post.x, c->post.x),
                 low(a->post.y, b->post.y, c->post.y), high(a->post.y, b->post.y, c->post.y), box))
    return 0;

  Chunk& chunk = *out.chunk;
  const auto index = static_cast<uint32_t>(chunk.records.size());
  TriangleRecord& record = *chunk.records.extend(1);
  store_transposed3(&record, &a->post, &b->post, &c->post);
  record.vertex[0] = a->varyings;
  record.vertex[1] = b->varyings;
  record.vertex[2] = c->varyings;
  record.draw_flags = flags | provoking_flag(provoking, exchange);
  if (out.primitive_ids) chunk.primitive_id.push_back(primitive_id);

  const BinBox bins = bins_of(box, *out.binner);
  if (bins.x0 == bins.x1 && bins.y0 == bins.y1)
    out.binner->add(index, static_cast<uint32_t>(bins.y0) * out.binner->grid().columns + static_cast<uint32_t>(bins.x0));
  else
    out.binner->add_box(index, record, bins.x0, bins.x1, bins.y0, bins.y1);
  return 1;
}

uint32_t emit_square(const DrawSetup& draw, uint32_t flags, const RecordVertex& v, int32_t half, uint32_t primitive_id, Output& out) {
  assert(half > 0 && half <= static_cast<int32_t>(kMaxPointSize_px) * 128);
  const int32_t x0 = v.post.x - half, x1 = v.post.x + half, y0 = v.post.y - half, y1 = v.post.y + half;
  PixelBox box;
  if (!pixel_box(draw, out.grid, x0, x1, y0, y1, box)) return 0;

  Chunk& chunk = *out.chunk;
  const auto index = static_cast<uint32_t>(chunk.records.size());
  TriangleRecord& record = *chunk.records.extend(1);
  record = {{x0, x1, x0}, {y0, y0, y1}, {}, {}, {}, flags};
  std::fill_n(record.z, 3, v.post.z), std::fill_n(record.q, 3, v.post.q), std::fill_n(record.vertex, 3, v.varyings);
  if (out.primitive_ids) chunk.primitive_id.push_back(primitive_id);

  const BinBox bins = bins_of(box, *out.binner);
  if (bins.x0 == bins.x1 && bins.y0 == bins.y1)
    out.binner->add(index, static_cast<uint32_t>(bins.y0) * out.binner->grid().columns + static_cast<uint32_t>(bins.x0));
  else
    for (int32_t y = bins.y0; y <= bins.y1; y++) out.binner->add_row(index, y, bins.x0, bins.x1);
  return 1;
}

namespace {

template <class Source>
inline TriangleRecord& write_record(Arena<TriangleRecord>& records, Source& source, Chunk& chunk, uint32_t a, uint32_t b, uint32_t c,
                                    uint32_t flags) {
  TriangleRecord& record = *records.extend_reserved(1);
  prefetch_to_write(&record + 16);
  store_transposed3(&record, &source.post[a], &source.post[b], &source.post[c]);
  record.vertex[0] = source.varyings(a, chunk);
  record.vertex[1] = source.varyings(b, chunk);
  record.vertex[2] = source.varyings(c, chunk);
  record.draw_flags = flags;
  return record;
}

// What a record has beside its vertices': vertices of its own, and the bias of its plane.
template <class Source>
void amend_record(const DrawSetup& draw, Source& source, const uint32_t slot[3], bool exchanged, TriangleRecord& record, Output& out) {
  assert(draw.amends_records);
  if (draw.own_vertices) source.own(draw, slot, exchanged, record, out);
  if (!draw.bias) return;
  const float bias = depth_bias(draw, source.post[slot[0]], source.post[slot[exchanged ? 2 : 1]], source.post[slot[exchanged ? 1 : 2]]);
  for (float& z : record.z) z += bias;
}

// Records and bins of a group's triangles. Source: of vertices, see below.
template <class Source>
inline void emit_group(const DrawSetup& draw, uint32_t draw_index, const uint32_t flags[2], TriangleGroup& g, uint32_t lanes,
                       uint32_t first_primitive, Source& source, Output& out) {
  Chunk& chunk = *out.chunk;
  uint32_t visible = g.visible, cut = 0;
  if (source.codes) {
    for (uint32_t bits = lanes; bits; bits &= bits - 1) {
      const int i = __builtin_ctz(bits);
      const uint32_t a = source.code[g.slot[0][i]], b = source.code[g.slot[1][i]], c = source.code[g.slot[2][i]];
      const uint32_t any = a | b | c;
      out.clipped_away += is_clipped_away(a & b & c, any);
      if ((a & b & c & kRejectIfAll) || (any & kOutBad))
        visible &= ~(1u << i);
      else if (any & kOutAllPlanes)
        cut |= 1u << i;
    }
    visible &= ~cut;
  }
  out.survivors += static_cast<uint32_t>(__builtin_popcount(visible));
  chunk.records.reserve(chunk.records.size() + kGroup);
  if (g.same_bin && !source.codes && !draw.amends_records && !out.primitive_ids) {
    const auto index = static_cast<uint32_t>(chunk.records.size());
    for (uint32_t bits = visible; bits; bits &= bits - 1) {
      const int i = __builtin_ctz(bits);
      const uint32_t exchange = g.exchanged >> i & 1;
      write_record(chunk.records, source, chunk, static_cast<uint32_t>(g.slot[0][i]), static_cast<uint32_t>(g.slot[1 + exchange][i]),
                   static_cast<uint32_t>(g.slot[2 - exchange][i]), flags[exchange]);
    }
    out.binner->add_run(index, static_cast<uint32_t>(__builtin_popcount(visible)), static_cast<uint32_t>(g.bin[__builtin_ctz(visible)]));
    return;
  }
  for (uint32_t bits = visible | cut; bits; bits &= bits - 1) {
    const int i = __builtin_ctz(bits);
    const auto a = static_cast<uint32_t>(g.slot[0][i]);
    if (__builtin_expect(cut >> i & 1, 0)) {
      const uint32_t slots[3] = {a, static_cast<uint32_t>(g.slot[1][i]), static_cast<uint32_t>(g.slot[2][i])};
      source.clip(draw, draw_index, slots, first_primitive + static_cast<uint32_t>(i) * out.primitive_id_step, out);
      chunk.records.reserve(chunk.records.size() + kGroup);
      continue;
    }
    const uint32_t exchange = g.exchanged >> i & 1;
    const auto b = static_cast<uint32_t>(g.slot[1 + exchange][i]), c = static_cast<uint32_t>(g.slot[2 - exchange][i]);
    const auto index = static_cast<uint32_t>(chunk.records.size());
    TriangleRecord& record = write_record(chunk.records, source, chunk, a, b, c, flags[exchange]);
    if (draw.amends_records) {
      const uint32_t slots[3] = {a, static_cast<uint32_t>(g.slot[1][i]), static_cast<uint32_t>(g.slot[2][i])};
      amend_record(draw, source, slots, exchange, record, out);
    }
    if (out.primitive_ids) chunk.primitive_id.push_back(first_primitive + static_cast<uint32_t>(i) * out.primitive_id_step);
    if (g.one_bin >> i & 1)
      out.binner->add(index, static_cast<uint32_t>(g.bin[i]));
    else
      out.binner->add_box(index, record, g.box[0][i], g.box[1][i], g.box[2][i], g.box[3][i]);
  }
}

// Without vertices outside a plane, no outcode matters here: what is off the screen has no pixel.
constexpr uint32_t kMatters = kOutAllPlanes | kOutBad | 0xffu * kOutCullDistance0;

struct BatchSource {
  const Batch& batch;
  const PostVertex* post = batch.post;
  const uint32_t* code = batch.code;
  bool codes = batch.code_or & kMatters;
  uint32_t varyings(uint32_t slot, Chunk&) const { return batch.varyings + slot; }
  void clip(const DrawSetup& draw, uint32_t draw_index, const uint32_t slot[3], uint32_t primitive_id, Output& out) {
    clip_triangle(draw, draw_index, batch, slot, primitive_id, out);
  }
  void own(const DrawSetup& draw, const uint32_t slot[3], bool exchanged, TriangleRecord& record, Output& out) {
    give_own_vertices(draw, batch, slot, exchanged, record, out);
  }
};

struct RangeSource {
  VertexRange& range;
  const PostVertex* post = range.post.data();
  const uint32_t* code = range.code.data();
  bool codes = range.code_or & kMatters;
  uint32_t varyings(uint32_t slot, Chunk& chunk) { return range.keep(slot, chunk); }
  void clip(const DrawSetup& draw, uint32_t draw_index, const uint32_t slot[3], uint32_t primitive_id, Output& out) {
    constexpr uint32_t kSlots[3] = {0, 1, 2};
    clip_triangle(draw, draw_index, range.corners(slot, *out.chunk), kSlots, primitive_id, out);
  }
  void own(const DrawSetup& draw, const uint32_t slot[3], bool exchanged, TriangleRecord& record, Output& out) {
    constexpr uint32_t kSlots[3] = {0, 1, 2};
    give_own_vertices(draw, range.corners(slot, *out.chunk), kSlots, exchanged, record, out);
  }
};

struct RecordFlags {
  uint32_t flags[2];  // as it is, exchanged
  RecordFlags(const DrawSetup& draw, uint32_t draw_index) {
    const uint32_t provoking = draw.provoking_last ? 2 : 0;
    const uint32_t front_if_negative = draw.positive_is_front ? 0 : kFrontFacing;
    flags[0] = draw_index | provoking_flag(provoking, false) | (kFrontFacing ^ front_if_negative);
    flags[1] = draw_index | provoking_flag(provoking, true) | front_if_negative;
  }
};

uint32_t lanes_of(uint32_t left) { return left >= kGroup ? (1u << kGroup) - 1 : (1u << left) - 1; }

// The two halves of a group without AVX-512.
inline void cull_halves(const CullSetup& setup, const PostVertex* post, uint32_t lanes, TriangleGroup& g) {
  g.visible = g.exchanged = g.one_bin = 0;
  g.same_bin = false;
  for (uint32_t first = 0; first < kGroup && lanes >> first; first += 8) cull8(setup, post, first, lanes >> first & 0xff, g);
}

}  // namespace

void assemble_triangles(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, PrimitiveRun run, Output& out) {
  assert(draw.kind == PrimitiveKind::triangle && batch.vertex_count <= kBatchStride && run.end <= batch.primitive_count);
  const CullSetup setup = cull_setup(draw, out);
  const RecordFlags flags(draw, draw_index);
  BatchSource source{batch};
  TriangleGroup g;
  for (uint32_t first = run.first; first < run.end; first += kGroup) {
    const uint8_t* const slots[3] = {batch.slot[0] + first, batch.slot[1] + first, batch.slot[2] + first};
    const uint32_t lanes = lanes_of(run.end - first);
    if (out.wide) {
      cull_batch_wide(setup, batch.post, slots, lanes, g);
    } else {
      for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < kGroup; i++) g.slot[k][i] = slots[k][i];
      cull_halves(setup, batch.post, lanes, g);
    }
    if (!g.visible && !source.codes) continue;
    emit_group(draw, draw_index, flags.flags, g, lanes, batch.first_primitive + first * out.primitive_id_step, source, out);
  }
}

void assemble_range(const DrawSetup& draw, uint32_t draw_index, const uint8_t* triples, uint32_t primitive_count, uint32_t first_primitive,
                    VertexRange& range, Output& out) {
  const CullSetup setup = cull_setup(draw, out);
  const RecordFlags flags(draw, draw_index);
  RangeSource source{range};
  TriangleGroup g;
  for (uint32_t first = 0; first < primitive_count; first += kGroup, triples += kGroup * 12) {
    const uint32_t lanes = lanes_of(primitive_count - first);
    if (out.wide) {
      cull_range_wide(setup, source.post, triples, range.first, lanes, g);
    } else {
      for (uint32_t i = 0; i < kGroup; i++) {
        uint32_t index[3] = {range.first, range.first, range.first};
        if (lanes >> i & 1) std::memcpy(index, triples + 12 * i, 12);
        for (uint32_t k = 0; k < 3; k++) g.slot[k][i] = static_cast<int32_t>(index[k] - range.first);
      }
      cull_halves(setup, source.post, lanes, g);
    }
    if (!g.visible && !source.codes) continue;
    emit_group(draw, draw_index, flags.flags, g, lanes, first_primitive + first, source, out);
  }
}

}  // namespace tilegpu::geometry
