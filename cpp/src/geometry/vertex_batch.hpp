// geometry/vertex_batch.hpp -- batches of unique vertices: which triangles fit with at most `limit` different indices; and what a GPU
// shades for them that has a cache of vertices. In: indices. Out: batches.
#pragma once

#include <vector>

#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

/// Tags of the batch at hand: vertex index -> slot, a hash table of one byte an entry that points into the list of indices.
class TagStore {
 public:
  TagStore();
  /// Takes primitives from `triples` (3 indices each, unaligned) until one more would need more than `limit` vertices; fills
  /// batch.vertex_index (padded by repetition, `vertex_offset` added), slot, vertex_count, primitive_count. Returns how many.
  uint32_t fill(const uint8_t* triples, uint32_t count, uint32_t limit, uint32_t vertex_offset, Batch& batch);
  /// Lists without indices: vertices `first`, first + 1, ... share nothing and need no store.
  static uint32_t fill_sequence(uint32_t first, uint32_t count, uint32_t limit, Batch& batch);

 private:
  static constexpr uint32_t kLog2Entries = 8;
  static constexpr uint32_t kFree = kBatchStride + 8;  // slots from here on mean "free"
  alignas(64) uint8_t slot_[1u << kLog2Entries];
  alignas(64) uint8_t all_free_[1u << kLog2Entries];
  alignas(64) uint32_t index_[kFree + 2];  // of slots; the last two are never equal to what is looked up
};

/// What a GPU shades that has a cache of shaded vertices, by requests of `size` of them from an aligned index on: whoever is asked for
/// brings along its neighbours. The last `room` requests are held. They are counted, and what they fetch is; nothing is executed for them,
/// as batches have what primitives need. Source: Arm, performance counter references ("Position shading requests").
class VertexCache {
 public:
  /// Empty, for the next piece of a draw; room for `vertices` of them.
  void begin(uint32_t vertices, uint32_t size);
  /// The indices of the next primitives (3 each, unaligned).
  void ask(const uint8_t* triples, uint32_t count);
  /// Vertices that the last call of ask() had shaded.
  const std::vector<uint32_t>& shaded() const { return shaded_; }

 private:
  uint32_t room_ = 1, size_ = 1, oldest_ = 0;
  uint32_t held_[kMaxVertexBatch];  // numbers of requests, kNone: free
  std::vector<uint32_t> shaded_;
  static constexpr uint32_t kNone = ~0u;
};

}  // namespace tilegpu::geometry
