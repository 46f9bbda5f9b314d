// records/primitive_setup.cpp -- see primitive_setup.hpp.
#include "records/primitive_setup.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::records {

void set_up_primitive(const TriangleRecord& r, const Chunk& chunk, const DepthLimits& limits, uint32_t order, bool corners,
                      shader::PrimitiveSetup& out) {
  const Barycentrics b = make_barycentrics(r);
  const float q0 = r.q[b.v0], q1 = r.q[b.v1], q2 = r.q[b.v2];
  const float z0 = r.z[b.v0], z1 = r.z[b.v1], z2 = r.z[b.v2];
  const float dq1 = q1 - q0, dq2 = q2 - q0, dz1 = z1 - z0, dz2 = z2 - z0;
  out.anchor_x = static_cast<float>(r.x[b.v0]) * (1.0f / 256);
  out.anchor_y = static_cast<float>(r.y[b.v0]) * (1.0f / 256);
  out.q0 = q0;
  out.qx = dq1 * b.l1x + dq2 * b.l2x;
  out.qy = dq1 * b.l1y + dq2 * b.l2y;
  out.i0 = 0;
  out.ix = q1 * b.l1x;
  out.iy = q1 * b.l1y;
  out.j0 = 0;
  out.jx = q2 * b.l2x;
  out.jy = q2 * b.l2y;
  out.z0 = z0;
  out.zx = dz1 * b.l1x + dz2 * b.l2x;
  out.zy = dz1 * b.l1y + dz2 * b.l2y;
  out.w1 = 1.0f / q1;
  out.w2 = 1.0f / q2;
  limit_depth(z0, z1, z2, limits, out.z_lo, out.z_hi);
  out.deferred = out.completes = out.upright = 0;
  if (r.draw_flags & kDeferred) {
    defer_vertices(r, chunk, corners, out);
  } else {
    // As numbers: without varyings there is nothing that an address could be of.
    const auto varyings = reinterpret_cast<uintptr_t>(chunk.varyings.data());
    const auto at = [&](uint32_t vertex) { return reinterpret_cast<const float*>(varyings + sizeof(float) * r.vertex[vertex]); };
    out.varying[0] = at(b.v0);
    out.varying[1] = at(b.v1);
    out.varying[2] = at(b.v2);
    const uint32_t provoking = r.draw_flags >> kProvokingShift & 3;
    out.provoking = at(provoking < 3 ? provoking : 0);
    if (corners) set_up_half(r, varyings, out);
  }
  const size_t index = static_cast<size_t>(&r - chunk.records.data());
  assert(index < chunk.records.size());
  out.primitive_id = index < chunk.primitive_id.size() ? chunk.primitive_id[index] : 0;
  out.front_facing = r.draw_flags & kFrontFacing ? 1 : 0;
  out.draw = r.draw_flags & kDrawMask;
  out.order = order;
}

void defer_vertices(const TriangleRecord& r, const Chunk& chunk, bool corners, shader::PrimitiveSetup& out) {
  assert((r.draw_flags & kDeferred) && !chunk.deferred_instances.empty());
  const AnchorOrder b = anchor_order(r);
  const auto name = [&](uint32_t vertex) { return reinterpret_cast<const float*>(uintptr_t{r.vertex[vertex]}); };
  out.varying[0] = name(b.v0);
  out.varying[1] = name(b.v1);
  out.varying[2] = name(b.v2);
  const uint32_t provoking = r.draw_flags >> kProvokingShift & 3;
  out.provoking = name(provoking < 3 ? provoking : 0);
  const auto index = static_cast<uint32_t>(&r - chunk.records.data());
  const auto after = std::upper_bound(chunk.deferred_instances.begin(), chunk.deferred_instances.end(), index,
                                      [](uint32_t at, const DeferredRun& run) { return at < run.first; });
  out.instance = after[-1].instance;
  out.deferred = 1;
  if (corners) set_up_half(r, 0, out);
}

void set_up_half(const TriangleRecord& r, uintptr_t varyings, shader::PrimitiveSetup& out) {
  if (!may_be_half(r)) return;
  out.upright = 1;
  if (begins_upper_left(r)) return;
  RectangleHalf half;
  [[maybe_unused]] const bool found = half_of(r, half);
  assert(found && half.x1 > half.x0 && half.y1 > half.y0 && half.missing <= kLowerRight);
  const float q = r.q[0];
  out.anchor_x = static_cast<float>(half.x0) * (1.0f / 256);
  out.anchor_y = static_cast<float>(half.y0) * (1.0f / 256);
  // As make_barycentrics would, zeros' signs too.
  const int32_t width = half.x1 - half.x0, height = half.y1 - half.y0;
  const float scale = 256.0f / static_cast<float>(int64_t{width} * height);
  // Numbers that are none stay so.
  out.q0 = q, out.qx = out.qy = q - q;
  out.i0 = out.j0 = 0, out.iy = out.jx = -0.0f;
  out.ix = q * (static_cast<float>(height) * scale);
  out.jy = q * (static_cast<float>(width) * scale);
  out.z0 = r.z[0], out.zx = out.zy = r.z[0] - r.z[0];
  out.w1 = out.w2 = 1.0f / q;
  // Names of deferred vertices are numbers of their own.
  const uintptr_t step_B = r.draw_flags & kDeferred ? 1 : sizeof(float);
  for (uint32_t corner = 0; corner < 3; corner++)
    out.varying[corner] = reinterpret_cast<const float*>(varyings + step_B * r.vertex[half.vertex[corner]]);
  out.completes = static_cast<uint8_t>(half.missing == kLowerRight ? 0 : 1 + half.missing);
}

}  // namespace tilegpu::records
