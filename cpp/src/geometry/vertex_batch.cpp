// geometry/vertex_batch.cpp -- stage: vertex reuse. In: indices of primitives. Out: a batch of up to 32 different vertices and the
// primitives among them. Each batch begins with an empty store, so batches are independent and every thread can make its own.
// Source: Giesen, "A trip through the Graphics Pipeline 2011", part 3 ("Vertex Caching and Shading").
#include "geometry/vertex_batch.hpp"

#include <cstring>

namespace tilegpu::geometry {

TagStore::TagStore() { std::memset(entry_, 0, sizeof entry_); }

uint32_t TagStore::fill(const uint8_t* triples, uint32_t count, uint32_t limit, uint32_t vertex_offset, Batch& batch) {
  assert(limit >= 3 && limit <= kBatchStride);
  if (++generation_ == 1u << 24) {
    std::memset(entry_, 0, sizeof entry_);
    generation_ = 1;
  }
  const uint64_t generation = generation_;
  uint32_t vertices = 0, done = 0;
  if (count > kMaxBatchPrimitives) count = kMaxBatchPrimitives;

  // Where the index is, or the free entry that it would take.
  const auto find = [&](uint32_t index) {
    const uint64_t key = generation << 32 | index;
    uint32_t at = (index * 0x9e3779b1u) >> (32 - kLog2Entries);
    while (entry_[at] >> 8 != key && entry_[at] >> 40 == generation) at = (at + 1) & ((1u << kLog2Entries) - 1);
    return at;
  };
  const auto is_free = [&](uint32_t at) { return entry_[at] >> 40 != generation; };
  const auto take = [&](uint32_t index) -> uint8_t {
    const uint32_t at = find(index);
    if (!is_free(at)) return static_cast<uint8_t>(entry_[at]);
    entry_[at] = generation << 40 | uint64_t{index} << 8 | vertices;
    batch.vertex_index[vertices] = index + vertex_offset;
    return static_cast<uint8_t>(vertices++);
  };

  for (; done < count; done++) {
    uint32_t index[3];
    std::memcpy(index, triples + size_t{done} * 12, 12);
    if (vertices + 3 > limit) {
      uint32_t missing = is_free(find(index[0]));
      missing += index[1] != index[0] && is_free(find(index[1]));
      missing += index[2] != index[0] && index[2] != index[1] && is_free(find(index[2]));
      if (vertices + missing > limit) break;
    }
    batch.slot[0][done] = take(index[0]);
    batch.slot[1][done] = take(index[1]);
    batch.slot[2][done] = take(index[2]);
  }
  for (uint32_t i = 0; i < 8; i++) batch.slot[0][done + i] = batch.slot[1][done + i] = batch.slot[2][done + i] = 0;
  for (uint32_t v = vertices; v < kBatchStride; v++) batch.vertex_index[v] = batch.vertex_index[0];
  batch.vertex_count = vertices;
  batch.primitive_count = done;
  return done;
}

}  // namespace tilegpu::geometry
