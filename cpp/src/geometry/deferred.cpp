// geometry/deferred.cpp -- see deferred.hpp.
#include "geometry/deferred.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::geometry {

bool cuts_triangles(const Batch& batch) {
  if (!(batch.code_or & kOutAllPlanes)) return false;
  for (uint32_t i = 0; i < batch.primitive_count; i++) {
    const uint32_t a = batch.code[batch.slot[0][i]], b = batch.code[batch.slot[1][i]], c = batch.code[batch.slot[2][i]];
    const uint32_t any = a | b | c;
    if ((any & kOutAllPlanes) && !(a & b & c & kRejectIfAll) && !(any & kOutBad)) return true;
  }
  return false;
}

bool all_small(const Chunk& chunk, size_t first, float limit_px2) {
  assert(first <= chunk.records.size());
  const auto limit = static_cast<int64_t>(static_cast<double>(limit_px2) * 65536);
  const size_t end = chunk.records.size();
  for (size_t i = first; i < end; i++) {
    const TriangleRecord& r = chunk.records[i];
    const int64_t width = std::max({r.x[0], r.x[1], r.x[2]}) - int64_t{std::min({r.x[0], r.x[1], r.x[2]})};
    const int64_t height = std::max({r.y[0], r.y[1], r.y[2]}) - int64_t{std::min({r.y[0], r.y[1], r.y[2]})};
    if (width * height > limit) return false;
  }
  return true;
}

void defer_records(Chunk& chunk, size_t first, const Batch& batch, uint32_t instance) {
  assert(first < chunk.records.size());
  const size_t end = chunk.records.size();
  for (size_t i = first; i < end; i++) {
    TriangleRecord& r = chunk.records[i];
    for (uint32_t& vertex : r.vertex) vertex = batch.vertex_index[vertex];
    r.draw_flags |= kDeferred;
  }
  if (chunk.deferred_instances.empty() || chunk.deferred_instances.back().instance != instance)
    chunk.deferred_instances.push_back({static_cast<uint32_t>(first), instance});
}

}  // namespace tilegpu::geometry
