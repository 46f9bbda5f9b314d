// records/primitive_setup.cpp -- see primitive_setup.hpp.
#include "records/primitive_setup.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::records {

void set_up_primitive(const TriangleRecord& r, const Chunk& chunk, const DepthLimits& limits, uint32_t order, shader::PrimitiveSetup& out) {
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
  out.deferred = 0;
  if (r.draw_flags & kDeferred) {
    defer_vertices(r, chunk, out);
  } else {
    // As numbers: without varyings there is nothing that an address could be of.
    const auto varyings = reinterpret_cast<uintptr_t>(chunk.varyings.data());
    const auto at = [&](uint32_t vertex) { return reinterpret_cast<const float*>(varyings + sizeof(float) * r.vertex[vertex]); };
    out.varying[0] = at(b.v0);
    out.varying[1] = at(b.v1);
    out.varying[2] = at(b.v2);
    const uint32_t provoking = r.draw_flags >> kProvokingShift & 3;
    out.provoking = at(provoking < 3 ? provoking : 0);
  }
  const size_t index = static_cast<size_t>(&r - chunk.records.data());
  assert(index < chunk.records.size());
  out.primitive_id = index < chunk.primitive_id.size() ? chunk.primitive_id[index] : 0;
  out.front_facing = r.draw_flags & kFrontFacing ? 1 : 0;
  out.draw = r.draw_flags & kDrawMask;
  out.order = order;
}

void defer_vertices(const TriangleRecord& r, const Chunk& chunk, shader::PrimitiveSetup& out) {
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
}

}  // namespace tilegpu::records
