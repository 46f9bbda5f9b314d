// records/primitive_setup.hpp -- stage: tile phase, setup. In: a 64-byte TriangleRecord. Out: the depth plane for the tests and,
// only for primitives that are shaded, the planes of 1/w and of the perspective barycentrics.
//
// Planes are anchored at the vertex with the smallest 1/w (the farthest), where relative precision is needed most; the other two
// follow in winding order, so lambda1 and lambda2 are 0 at the anchor. Halves of upright rectangles are anchored at its corner
// (rectangle_half.hpp). All from the record alone: the same in every bin.
// Source: Olano and Greer, "Triangle Scan Conversion using 2D Homogeneous Coordinates"; Vulkan specification, "Polygon
// Rasterization" (perspective interpolation).
#pragma once

#include <cstdint>

#include "records/rectangle_half.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::records {

/// What the tests know of a primitive.
struct PrimitiveDepth {
  float z0, zx, zy, anchor_x, anchor_y;
  float lo, hi;   // clamp: vertices' range cut with the allowed one
  uint32_t id;    // number in the visibility buffer, not 0
  uint32_t face;  // 0 front, 1 back
};

/// Depth that the viewport and the attachment's format allow.
struct DepthLimits {
  float range_lo = 0, range_hi = 1;
};

/// Vertices from the anchor on.
struct AnchorOrder {
  uint32_t v0, v1, v2;
};
inline AnchorOrder anchor_order(const TriangleRecord& r) {
  AnchorOrder b;
  b.v0 = r.q[1] < r.q[0] ? 1u : 0u;
  if (r.q[2] < r.q[b.v0]) b.v0 = 2;
  b.v1 = b.v0 == 2 ? 0 : b.v0 + 1;
  b.v2 = b.v1 == 2 ? 0 : b.v1 + 1;
  return b;
}

/// And the screen-space gradients of lambda1 and lambda2, per pixel.
struct Barycentrics : AnchorOrder {
  float l1x, l1y, l2x, l2y;
};

inline Barycentrics make_barycentrics(const TriangleRecord& r) {
  Barycentrics b{anchor_order(r), 0, 0, 0, 0};
  const int32_t x1 = r.x[b.v1] - r.x[b.v0], y1 = r.y[b.v1] - r.y[b.v0], x2 = r.x[b.v2] - r.x[b.v0], y2 = r.y[b.v2] - r.y[b.v0];
  const float scale = 256.0f / static_cast<float>(int64_t{x1} * y2 - int64_t{x2} * y1);
  b.l1x = static_cast<float>(y2) * scale;
  b.l1y = -static_cast<float>(x2) * scale;
  b.l2x = -static_cast<float>(y1) * scale;
  b.l2y = static_cast<float>(x1) * scale;
  return b;
}

/// The vertices' range of depth within the limits; NaN becomes the lower bound.
inline void limit_depth(float z0, float z1, float z2, const DepthLimits& limits, float& lo, float& hi) {
  const auto limit = [&](float v) {
    const float above = v > limits.range_lo ? v : limits.range_lo;
    return above < limits.range_hi ? above : limits.range_hi;
  };
  const float lo01 = z0 < z1 ? z0 : z1, hi01 = z0 > z1 ? z0 : z1;
  lo = limit(lo01 < z2 ? lo01 : z2);
  hi = limit(hi01 > z2 ? hi01 : z2);
}

/// The depth plane; `limits`: the allowed range. id is left alone.
inline void set_up_depth(const TriangleRecord& r, const DepthLimits& limits, PrimitiveDepth& out) {
  const Barycentrics b = make_barycentrics(r);
  const float z0 = r.z[b.v0], z1 = r.z[b.v1], z2 = r.z[b.v2];
  const float dz1 = z1 - z0, dz2 = z2 - z0;
  out.z0 = z0;
  out.zx = dz1 * b.l1x + dz2 * b.l2x;
  out.zy = dz1 * b.l1y + dz2 * b.l2y;
  out.anchor_x = static_cast<float>(r.x[b.v0]) * (1.0f / 256);
  out.anchor_y = static_cast<float>(r.y[b.v0]) * (1.0f / 256);
  limit_depth(z0, z1, z2, limits, out.lo, out.hi);
  out.face = r.draw_flags & kFrontFacing ? 0 : 1;
}

/// Everything that interpolation and late tests need. `record` is in chunk.records; `limits`: the allowed depth; `corners`: takes_corners
/// of its draw.
void set_up_primitive(const TriangleRecord& record, const Chunk& chunk, const DepthLimits& limits, uint32_t order, bool corners,
                      shader::PrimitiveSetup& out);

/// Of a record whose vertices are deferred: names instead of addresses, until tile/worker/vertex_store.hpp has shaded them.
void defer_vertices(const TriangleRecord& record, const Chunk& chunk, bool corners, shader::PrimitiveSetup& out);

/// Where it is half of an upright rectangle, over what other triangles have: planes from its corner on, and the corners' vertices. A corner
/// that is missing is tile/worker/vertex_store.hpp's to complete. `varyings`: the address that offsets of vertices count from; 0 where they
/// are deferred.
void set_up_half(const TriangleRecord& record, uintptr_t varyings, shader::PrimitiveSetup& out);

/// Covered samples of one quad (framebuffer pixel of its corner), exactly as cover_triangle finds them without scissor. By other rules:
/// coverage_rule.hpp.
uint64_t cover_quad(const TriangleRecord& record, int32_t x_px, int32_t y_px, uint32_t samples);

}  // namespace tilegpu::records
