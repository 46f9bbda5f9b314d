// geometry/deferred.hpp -- stage: deferred vertex shading, its half of the geometry phase. In: a batch whose positions alone are shaded,
// and the records that assembly made of it. Out: whether the batch's varyings are left to the tile phase.
//
// The unit is a batch of up to 32 vertices: it is deferred if all of its triangles that are left after culling are small, and none is
// clipped (a vertex that clipping makes is interpolated from whole ones). A deferred record names its vertices by gl_VertexIndex, and
// the chunk remembers gl_InstanceIndex by runs of records; then no varying is kept. Counted per batch, so the same for any number of
// threads. Source: Arm, article on the fragment pre-pass ("for small triangles").
#pragma once

#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

/// Whether assembly will need varyings of the batch (transformed): a triangle that is not rejected has to be cut.
bool cuts_triangles(const Batch& batch);
/// Of the batch's records, chunk.records[first..], whose vertex[] are slots: all of them small?
bool all_small(const Chunk& chunk, size_t first, float limit_px2);
/// Names the vertices of those records by index; `instance` is gl_InstanceIndex.
void defer_records(Chunk& chunk, size_t first, const Batch& batch, uint32_t instance);

}  // namespace tilegpu::geometry
