// geometry/vertex_range.hpp -- stage: vertex reuse where a piece's indices are dense. In: indices of the piece's primitives. Out: each
// vertex that they name, shaded once, at the place that its index gives.
//
// Meshes name their vertices more or less in order: the some thousand triangles of a chunk name nearly all of a range of indices that is
// shorter than they are many. Then index less the range's first is the slot: nothing is looked up, no vertex is shaded twice in a chunk
// (a batch of 32 shades each vertex of a grid twice), and the shader reads its attributes one after the other. What is shaded lies in
// blocks of 32 vertices, as batches do; varyings go to the chunk block by block when a record needs them.
//
// The same store serves batches wider than a block: their vertices are a list instead of a range.
#pragma once

#include "geometry/census.hpp"
#include "geometry/draw_setup.hpp"

namespace tilegpu::geometry {

class VertexRange {
 public:
  /// False: the indices (3 a primitive, unaligned) are too far apart; nothing is changed then.
  bool begin(const uint8_t* triples, uint32_t primitive_count);
  /// A batch of more vertices than a block: the primitives from `triples` on that name at most `limit` different ones. Their slots are in
  /// slots(), as indices that begin at `first` = 0. Returns how many primitives.
  uint32_t begin_batch(const uint8_t* triples, uint32_t primitive_count, uint32_t limit);
  const uint8_t* slots() const { return reinterpret_cast<const uint8_t*>(slots_.data()); }
  const uint32_t* list() const { return list_; }
  /// Every block with a vertex that is named; `args` has all but batch, position and varyings. Returns vertices shaded and calls.
  struct Shaded {
    uint32_t vertices, calls;
  };
  /// Bytes that will be read soon, fetched meanwhile.
  struct Ahead {
    const uint8_t* bytes = nullptr;
    size_t size_B = 0;
  };
  Shaded shade(const DrawSetup& draw, shader::VertexArgs& args, uint32_t vertex_offset, Ahead ahead);
  /// For the statistics: the vertices that are named.
  void mark(VertexCensus& census, uint32_t draw) const;

  /// Where a record's vertex has its varyings: in the chunk, its block is put there with the first.
  uint32_t keep(uint32_t slot, Chunk& chunk) {
    const uint32_t block = slot / kBatchStride;
    if (kept_.data()[block] == kNot) keep_block(block, chunk);
    return kept_.data()[block] + slot % kBatchStride;
  }
  /// Three vertices as a batch of their own, for clipping.
  const Batch& corners(const uint32_t slot[3], Chunk& chunk);

  uint32_t first = 0, size = 0;  // indices [first, first + size)
  uint32_t code_or = 0;          // of all vertices
  Arena<PostVertex> post;
  Arena<uint32_t> code;

 private:
  static constexpr uint32_t kNot = ~0u;
  uint32_t blocks() const { return (size + kBatchStride - 1) / kBatchStride; }
  void keep_block(uint32_t block, Chunk& chunk);

  bool listed_ = false;                                        // vertices are those of list_, not first, first + 1, ...
  alignas(64) uint32_t list_[kMaxVertexBatch + kBatchStride];  // whole blocks, and a triangle too many
  Arena<uint32_t> slots_;
  Arena<uint8_t> used_;  // a byte for each vertex, whole blocks
  Arena<float> position_, varyings_;
  Arena<uint32_t> kept_;  // by block: offset in Chunk::varyings
  size_t block_floats_ = 0;
  alignas(64) uint32_t index_[kBatchStride];
  Batch corners_;
  uint32_t corner_varyings_[3];
};

}  // namespace tilegpu::geometry
