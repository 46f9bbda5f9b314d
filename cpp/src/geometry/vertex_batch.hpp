// geometry/vertex_batch.hpp -- batches of unique vertices: which triangles fit with at most `limit` different indices.
#pragma once

#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

/// Tags of the batch at hand: vertex index -> slot. Emptied by a new generation, not by writing.
class TagStore {
 public:
  TagStore();
  /// Takes primitives from `triples` (3 indices each, unaligned) until one more would need more than `limit` vertices; fills
  /// batch.vertex_index (padded by repetition, `vertex_offset` added), slot, vertex_count, primitive_count. Returns how many.
  uint32_t fill(const uint8_t* triples, uint32_t count, uint32_t limit, uint32_t vertex_offset, Batch& batch);

 private:
  static constexpr uint32_t kLog2Entries = 8;
  uint64_t entry_[1u << kLog2Entries];  // generation (24 bits), index (32 bits), slot (8 bits)
  uint64_t generation_ = 0;
};

}  // namespace tilegpu::geometry
