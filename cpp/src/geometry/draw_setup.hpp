// geometry/draw_setup.hpp -- what the stages of the geometry phase need of a draw's state, worked out once for each state; the
// batch of vertices that they hand on; the place to which records go. In: a DrawState. Out: DrawSetup.
#pragma once

#include "geometry/bin_records.hpp"
#include "geometry/geometry.hpp"
#include "records/coverage_rule.hpp"
#include "records/line_segment.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::geometry {

using shader::kBatchStride;

inline constexpr uint32_t kMaxBatchPrimitives = 256;  // a batch ends here even if it could take more with the same vertices
inline constexpr uint32_t kMaxClipComponents = shader::kMaxClipDistances + shader::kMaxCullDistances;
/// x and y are cut so far from the band's middle and nowhere nearer: every image fits (16384 px) round 0, larger framebuffers
/// (kMaxFramebufferSize_px) round their own middle, and differences of positions keep room in 32 bits of 24.8 fixed point.
inline constexpr float kGuardBand_px = 32767.0f;
/// Vertices with less w are cut off. 1/w stays finite.
inline constexpr float kMinW = 0x1p-120f;

/// Outcodes of a vertex.
enum : uint32_t {
  kOutViewLeft = 1u << 0,
  kOutViewRight = 1u << 1,
  kOutViewTop = 1u << 2,
  kOutViewBottom = 1u << 3,  // of the view volume
  kOutPlane0 = 1u << 4,      // clip planes: near, far, w, then left, right, top, bottom of the guard band
  kOutNear = kOutPlane0,
  kOutFar = kOutPlane0 << 1,
  kOutW = kOutPlane0 << 2,
  kOutSide0 = kOutPlane0 << 3,
  kOutBad = 1u << 11,            // a NaN or an infinity among the position or the distances
  kOutClipDistance0 = 1u << 12,  // up to 8
  kOutCullDistance0 = 1u << 20,  // up to 8
};
inline constexpr uint32_t kOutAllPlanes = 0x7fu * kOutPlane0 | 0xffu * kOutClipDistance0;
/// All three vertices have it: nothing can be seen.
inline constexpr uint32_t kRejectIfAll = 0xfu | 0x7u * kOutPlane0 | 0xffu * kOutClipDistance0 | 0xffu * kOutCullDistance0;
inline constexpr uint32_t kClipPlanes = 7 + 8;
/// Whether clipping or cull distances leave nothing of a primitive, by what all and any of its vertices have. Not by the sides of the view:
/// outcodes of those are looked at only where another plane matters, and what queries count must not go by what a batch holds. The
/// specification lets such primitives count ("Pipeline Statistics Queries").
constexpr bool is_clipped_away(uint32_t all, uint32_t any) { return (all & kRejectIfAll & ~0xfu) || (any & kOutBad); }

/// Plane of the guard band or the viewport's edge: a * coordinate + b * w >= 0 is inside.
struct SidePlane {
  float a = 0, b = 0;
};

using records::PrimitiveKind;

/// Where samples lie on one axis, as whoever culls and bins needs it. With the standard locations they are a regular grid; else they are
/// anywhere on a grid of 1/16 pixel, and what a conservative rule covers goes by pixels.
struct SampleGrid {
  int32_t to_first = 127, to_last = -129;         // of [low, high] subpixels: (low + to_first) >> shift is the first sample point in
  int32_t shift = 8, log2_count = 0;              // it, (high + to_last) >> shift the last; so many of them are a pixel
  int32_t first_sample = 128, last_sample = 128;  // of a pixel, in subpixels: nothing of it outside of these matters
  bool centres = true;                            // the points are pixels' only samples
};
SampleGrid sample_grid(uint32_t samples);
SampleGrid sample_grid(uint32_t samples, const records::CoverageRule& rule);

struct DrawSetup {
  const command::DrawState* state = nullptr;
  const pipeline::Resolved* resolved = nullptr;
  shader::VertexFunction shade = nullptr;
  uint32_t shade_memory_B = 0;    // VertexArgs::scratch
  bool shade_has_effect = false;  // beside what is drawn
  bool writes_layer = false, writes_viewport_index = false, writes_primitive_id = false, writes_point_size = false;
  bool writes_shading_rate = false;  // and fragments are shaded by it
  PrimitiveKind kind = PrimitiveKind::triangle;
  VkPolygonMode polygon_mode = VK_POLYGON_MODE_FILL;
  float scale_x = 0, scale_y = 0, scale_z = 0, offset_x = 0, offset_y = 0, offset_z = 0;  // viewport transform
  float band_x = 0, band_y = 0;                                                           // the guard band's middle
  SidePlane side[4];                                                                      // left, right, top, bottom
  bool clip_depth = true;                                                                 // near and far planes cut
  bool near_at_minus_w = false;                                                           // the near one is z = -w, not z = 0
  uint32_t clip_distances = 0, cull_distances = 0;
  uint32_t components = 0;  // varyings
  bool has_flat = false;
  bool own_vertices = false;                             // some varyings are the primitive's: its records share no vertex with others
  int32_t x0_px = 0, y0_px = 0, x1_px = -1, y1_px = -1;  // inclusive: what may be drawn to
  bool empty = true;                                     // that is nothing
  bool keep_positive = true, keep_negative = true;       // by sign of the area (y down): not culled
  bool positive_is_front = false;
  bool provoking_last = false;
  bool bias = false;
  bool amends_records = false;  // one of both: triangles are not as their vertices were written
  bool bias_float = false;      // depth format is floating point
  float bias_unit = 0;          // r of a fixed-point depth format
  SampleGrid grid;
  float half_line_px = 0.5f;
  LineRule line;  // of lines that are no polygons
};

void setup_draw(const GeometryPass& pass, const command::DrawState& state, DrawSetup& out);

/// A vertex after the viewport transform.
struct alignas(16) PostVertex {
  int32_t x, y;  // 8 subpixel bits
  float z, q;
};

struct Batch {
  alignas(64) float position[4 * kBatchStride];
  alignas(64) float clip_distance[kMaxClipComponents * kBatchStride];
  alignas(64) PostVertex post[kBatchStride];
  alignas(64) uint32_t code[kBatchStride];
  alignas(64) uint32_t vertex_index[kBatchStride];
  alignas(64) uint32_t layer[kBatchStride], viewport[kBatchStride], primitive_id[kBatchStride];  // only where the shader writes them
  alignas(64) float point_size[kBatchStride];                                                    // the same
  alignas(64) uint32_t shading_rate[kBatchStride];                                               // the same
  alignas(64) uint8_t slot[3][kMaxBatchPrimitives + 16];
  uint32_t vertex_count = 0, primitive_count = 0;
  uint32_t shaded_count = 0;                // vertices that the modelled GPU shades for it: what its cache has not, with their neighbours
  uint32_t first_primitive = 0;             // gl_PrimitiveID of the first
  uint32_t code_or = 0;                     // of all vertices
  uint32_t varyings = 0;                    // offset in Chunk::varyings
  const uint32_t* each_varyings = nullptr;  // set: an offset for each slot, wherever it is
  const uint8_t* begins_strip = nullptr;    // of stippled strips, for each primitive; null: each is by itself
  uint32_t varyings_of(uint32_t vertex) const { return each_varyings ? each_varyings[vertex] : varyings + vertex; }
};
class VertexRange;  // vertex_range.hpp

/// Small batches of draws with the same number of components share a block of varyings. Vertices that clipping made live in blocks of
/// their own, filled one after the other.
struct Output {
  Chunk* chunk = nullptr;
  Binner* binner = nullptr;
  bool primitive_ids = false;
  uint32_t primitive_id_step = 1;  // from each primitive of a batch to the next; 0: they are all of one
  SampleGrid grid;                 // of the draw
  uint32_t components = 0;         // of what is in the blocks that still take vertices
  uint32_t shared_varyings = 0, shared_used = kBatchStride;
  uint32_t deferred_used = kBatchStride;  // of a block that would have been there without deferred vertex shading
  uint32_t extra_varyings = 0, extra_used = kBatchStride;
  uint32_t stipple = 0;        // where that of the strip's next line begins (records/line_segment.hpp)
  uint64_t survivors = 0;      // primitives with a record
  uint64_t clipped_away = 0;   // without, because they are outside
  uint64_t went_in = 0;        // of draws with tessellation or geometry shaders: primitives of the input assembler
  uint64_t assembled = 0;      // of draws with tessellation or geometry shaders: what they gave to the rasterizer
  uint64_t generated[4] = {};  // the same by stream
  bool wide = false;           // AVX-512
};

/// A vertex of a record in the making.
struct RecordVertex {
  PostVertex post;
  uint32_t varyings;
};

/// Outcodes, perspective divide, viewport transform, snapping (vertex_post.cpp).
void transform_batch(const DrawSetup& draw, Batch& batch);
/// The same for `count` vertices anywhere, whole vectors of them; no clip or cull distances. Returns any of their outcodes.
uint32_t transform_block(const DrawSetup& draw, const float* position, uint32_t count, PostVertex* post, uint32_t* code);
/// The same for one vertex that clipping made; false: not a number.
bool transform_vertex(const DrawSetup& draw, const float position[4], PostVertex& out);

/// Primitives of a batch, the end left out.
struct PrimitiveRun {
  uint32_t first, end;
};
inline PrimitiveRun all_of(const Batch& batch) { return {0, batch.primitive_count}; }

/// Filled triangles of the batch; of a range, whose indices are `triples` (triangles.cpp).
void assemble_triangles(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, PrimitiveRun run, Output& out);
void assemble_range(const DrawSetup& draw, uint32_t draw_index, const uint8_t* triples, uint32_t primitive_count, uint32_t first_primitive,
                    VertexRange& range, Output& out);
/// Triangles of three finished vertices, any winding; tests bounds and area, bins. Returns records written, 0 or 1.
uint32_t emit_triangle(const DrawSetup& draw, uint32_t flags, const RecordVertex v[3], uint32_t provoking, uint32_t primitive_id,
                       Output& out);
/// A point: a square around a vertex, covered by a rule of its own (CoverageKind::square). `half`: of its side, subpixels.
uint32_t emit_square(const DrawSetup& draw, uint32_t flags, const RecordVertex& v, int32_t half, uint32_t primitive_id, Output& out);
/// What depth bias adds, for the plane through three vertices.
float depth_bias(const DrawSetup& draw, const PostVertex& a, const PostVertex& b, const PostVertex& c);
inline int64_t signed_area(const PostVertex& a, const PostVertex& b, const PostVertex& c) {
  return int64_t{b.x - a.x} * (c.y - a.y) - int64_t{c.x - a.x} * (b.y - a.y);
}

/// Cuts and emits a triangle some of whose vertices lie outside a plane (clip.cpp).
void clip_triangle(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, const uint32_t slot[3], uint32_t primitive_id,
                   Output& out);
/// A convex polygon of clipped vertices; `area` is twice its signed area, `bias` what depth bias adds.
inline constexpr uint32_t kMaxPolygon = 3 + kClipPlanes;
struct ClippedPolygon {
  uint32_t count = 0;
  RecordVertex vertex[kMaxPolygon];
  uint8_t made[kMaxPolygon];     // 1: by clipping (or copied with the provoking vertex's flat values)
  uint8_t slot[kMaxPolygon];     // of the batch, where not made
  float weight[kMaxPolygon][3];  // of the primitive's vertices, where made
  float w[kMaxPolygon];          // clip-space w, where made
};
/// Clips `corners` = 2 or 3 vertices; count 0: nothing is left. Varyings of made vertices are not written yet.
void clip_polygon(const DrawSetup& draw, const Batch& batch, const uint32_t* slot, uint32_t corners, ClippedPolygon& out);
/// Facing is the polygon's; depth bias comes from its largest triangle, not from a sliver.
struct PolygonFacing {
  int64_t area = 0;  // signed; 0: nothing is to be seen, or it is culled
  float bias = 0;
};
PolygonFacing polygon_facing(const DrawSetup& draw, const ClippedPolygon& polygon);
/// Writes the varyings of made vertices; flat ones come from `provoking`'s slot. Where the draw's primitives have vertices of their own,
/// all of them are made. `corners`: 1 for points, whose two slots are the same.
void write_made_vertices(const DrawSetup& draw, const Batch& batch, const uint32_t* slot, uint32_t corners, uint32_t provoking_slot,
                         ClippedPolygon& polygon, Output& out);
/// A record of a whole triangle gets vertices that no other record shares, with what is the primitive's.
void give_own_vertices(const DrawSetup& draw, const Batch& batch, const uint32_t slot[3], bool exchanged, TriangleRecord& record,
                       Output& out);

/// One record of a line that is no polygon, and its bins (line_records.cpp); returns records written. The stipple goes on behind it.
uint32_t emit_segment(const DrawSetup& draw, uint32_t flags, const RecordVertex& a, const RecordVertex& b, bool provoking_is_b,
                      uint32_t primitive_id, Output& out);
/// Nothing of the line is seen, but the stipple of its strip goes on behind it.
void skip_line(const DrawSetup& draw, const PostVertex& a, const PostVertex& b, Output& out);
/// Points, lines, and triangles drawn as either (lines.cpp).
void assemble_lines_and_points(const DrawSetup& draw, uint32_t draw_index, const Batch& batch, PrimitiveRun run, Output& out);

}  // namespace tilegpu::geometry
