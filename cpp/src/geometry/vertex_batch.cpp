// geometry/vertex_batch.cpp -- stage: vertex reuse. In: indices of primitives. Out: a batch of up to 32 different vertices and the
// primitives among them. Each batch begins with an empty store, so batches are independent and every thread can make its own.
// Source: Giesen, "A trip through the Graphics Pipeline 2011", part 3 ("Vertex Caching and Shading").
#include "geometry/vertex_batch.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/simd.hpp"

namespace tilegpu::geometry {

namespace {
constexpr uint32_t kHashFactor = 0x9e3779b1u;  // odd: multiplication is a permutation, consecutive indices spread evenly
constexpr uint32_t kHashInverse = 0x0e8b2f51u;
static_assert(kHashFactor * kHashInverse == 1);

// Indices are unsigned and wrap, as Vulkan's vertex offset does.
i32x8 wrapping_sum(i32x8 a, i32x8 b) {
  return reinterpret_cast<i32x8>(_mm256_add_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
}  // namespace

TagStore::TagStore() {
  // A free entry points to an index that has another hash: one that hashes to 0, and for entry 0 one that hashes to 1.
  std::memset(all_free_, kFree, sizeof all_free_);
  all_free_[0] = kFree + 1;
  index_[kFree] = 0;
  index_[kFree + 1] = (1u << (32 - kLog2Entries)) * kHashInverse;
}

uint32_t TagStore::fill(const uint8_t* triples, uint32_t count, uint32_t limit, uint32_t vertex_offset, Batch& batch) {
  assert(limit >= 3 && limit <= kBatchStride && count);
  assert(limit >= 3 && limit <= kBatchStride);
  if (count > kMaxBatchPrimitives) count = kMaxBatchPrimitives;
  std::memcpy(slot_, all_free_, sizeof all_free_);
  uint8_t* __restrict const slots = slot_;
  uint32_t* __restrict const indices = index_;
  uint8_t* __restrict const out = batch.slot[0];
  constexpr size_t kRow = sizeof batch.slot[0];

  // A branch, although whether an index is new can be hard to predict: without one each look-up waits for the store of the one
  // before, and that costs more (8 to 11 ns a triangle of a grid instead of 6, 21 instead of 18 in random order).
  uint32_t vertices = 0, done = 0;
  const auto take = [&](uint32_t index) -> uint32_t {
    uint32_t at = (index * kHashFactor) >> (32 - kLog2Entries);
    uint32_t slot = slots[at];
    if (indices[slot] == index) return slot;
    while (__builtin_expect(slot < kFree, 0)) {
      at = (at + 1) & ((1u << kLog2Entries) - 1);
      slot = slots[at];
      if (slot < kFree && indices[slot] == index) return slot;
    }
    slots[at] = static_cast<uint8_t>(vertices);
    indices[vertices] = index;
    return vertices++;
  };
  for (; done < count; done++) {
    uint32_t index[3];
    std::memcpy(index, triples + size_t{done} * 12, 12);
    const uint32_t before = vertices;
    out[done] = static_cast<uint8_t>(take(index[0]));
    out[kRow + done] = static_cast<uint8_t>(take(index[1]));
    out[2 * kRow + done] = static_cast<uint8_t>(take(index[2]));
    if (__builtin_expect(vertices > limit, 0)) {
      vertices = before;  // this one begins the next batch
      break;
    }
  }
  for (uint32_t k = 0; k < 3; k++) std::memset(out + k * kRow + done, 0, 16);
  const i32x8 offset = splat8(static_cast<int32_t>(vertex_offset));
  for (uint32_t v = vertices; v < kBatchStride; v++) indices[v] = indices[0];
  for (uint32_t v = 0; v < kBatchStride; v += 8) {
    i32x8 index;
    std::memcpy(&index, indices + v, sizeof index);
    store(batch.vertex_index + v, wrapping_sum(index, offset));
  }
  batch.vertex_count = batch.shaded_count = vertices;
  assert(vertices <= kBatchStride);
  batch.primitive_count = done;
  return done;
}

uint32_t TagStore::fill_sequence(uint32_t first, uint32_t count, uint32_t limit, Batch& batch) {
  assert(limit >= 3 && limit <= kBatchStride && count);
  assert(limit >= 3 && limit <= kBatchStride);
  if (count > limit / 3) count = limit / 3;
  const uint32_t vertices = count * 3;
  // Whole vectors of any shader's width; behind the last vertex it is repeated.
  const i32x8 last = splat8(static_cast<int32_t>(vertices - 1)), base = splat8(static_cast<int32_t>(first));
  static_assert(kBatchStride % shader::kMaxLanes == 0);
  for (uint32_t v = 0; v < vertices; v += shader::kMaxLanes)
    for (uint32_t half = v; half < v + shader::kMaxLanes; half += 8)
      store(batch.vertex_index + half, wrapping_sum(base, minimum(kIota8 + splat8(static_cast<int32_t>(half)), last)));
  // Slots in order, then sixteen zeros, as whoever reads sixteen at once wants them.
  using Slots = uint8_t __attribute__((vector_size(16)));
  static_assert(kBatchStride / 3 <= sizeof(Slots) && kMaxBatchPrimitives >= sizeof(Slots));
  constexpr Slots kNumber = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Slots there = reinterpret_cast<Slots>(kNumber < static_cast<uint8_t>(count)), none{};
  for (uint32_t k = 0; k < 3; k++) {
    const Slots slots = (kNumber * 3 + static_cast<uint8_t>(k)) & there;
    std::memcpy(batch.slot[k], &slots, sizeof slots);
    std::memcpy(batch.slot[k] + sizeof slots, &none, sizeof none);
  }
  batch.vertex_count = batch.shaded_count = vertices;
  batch.primitive_count = count;
  return count;
}

void VertexCache::begin(uint32_t vertices, uint32_t size) {
  assert(size > 0 && vertices <= kMaxVertexBatch);
  room_ = std::max(1u, vertices / size), size_ = size, oldest_ = 0;
  std::fill(held_, held_ + room_, kNone);
}

void VertexCache::ask(const uint8_t* triples, uint32_t count) {
  shaded_.clear();
  for (uint32_t i = 0; i < 3 * count; i++) {
    uint32_t index;
    std::memcpy(&index, triples + size_t{i} * 4, 4);
    const uint32_t request = index / size_;
    if (std::find(held_, held_ + room_, request) != held_ + room_ && request != kNone) continue;
    held_[oldest_] = request;
    oldest_ = (oldest_ + 1) % room_;
    for (uint32_t k = 0; k < size_; k++) shaded_.push_back(request * size_ + k);
  }
}

}  // namespace tilegpu::geometry
