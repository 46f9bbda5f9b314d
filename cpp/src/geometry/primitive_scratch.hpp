// geometry/primitive_scratch.hpp -- memory of one thread between the stages of draws with tessellation, geometry or mesh shaders.
// In: a stage. Out: for the next.
#pragma once

#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/arena.hpp"
#include "geometry/tessellator.hpp"
#include "shader/compiler.hpp"

namespace tilegpu::geometry {

/// Vertices that a stage has made, `words` each: blocks of kBatchStride, component-major, as shaders leave them.
struct StageVertices {
  static constexpr uint32_t kStride = shader::kBatchStride;
  uint32_t words = 0, count = 0;
  std::vector<float> data;

  void reset(uint32_t words_of_one, uint32_t vertices) {
    words = words_of_one, count = vertices;
    data.resize((size_t{vertices} + kStride - 1) / kStride * kStride * words);
  }
  float* block(uint32_t first) {
    assert(first % kStride == 0 && first < count);
    return data.data() + size_t{first} * words;
  }
  float& word(uint32_t vertex, uint32_t row) { return data[place(vertex, row)]; }
  float word(uint32_t vertex, uint32_t row) const { return data[place(vertex, row)]; }
  /// One more; returns its number.
  uint32_t add() {
    if (count % kStride == 0) data.resize(data.size() + size_t{kStride} * words);
    return count++;
  }

 private:
  size_t place(uint32_t vertex, uint32_t row) const {
    assert(vertex < count && row < words);
    return (size_t{vertex / kStride} * words + row) * kStride + vertex % kStride;
  }
};

/// Which vertices a piece names, each once, and where.
struct NamedVertices {
  std::vector<uint32_t> index;  // gl_VertexIndex without the vertex offset
  std::vector<uint32_t> slot;   // of each vertex of each primitive: in `index`
  std::vector<uint32_t> table;  // open addressing, of numbers in `index` + 1
  void find(const uint32_t* indices, size_t count);
};

struct PrimitiveScratch {
  Arena<uint32_t> indices;  // of the piece's primitives, all vertices of each
  NamedVertices named;
  StageVertices vertices, domain, made;  // of the vertex, the evaluation and the geometry shader
  TessellatedPatch patch;
  AlignedBuffer control_memory, control_scratch, control_frames, evaluation_memory, geometry_memory;
  std::vector<uint32_t> emitted_words, emitted_ends;  // of each invocation of a geometry shader
  std::vector<uint32_t> emitted;                      // vertices, by invocation and lane
  std::vector<uint32_t> triples;                      // primitives among `made`
  std::vector<uint8_t> begins_strip;                  // the same: 1 where a strip begins
  std::vector<uint32_t> ids;                          // gl_PrimitiveID of each primitive that goes into a geometry shader
  alignas(64) float tess_coord[3 * shader::kBatchStride];
};

/// Of draws with mesh shaders.
struct MeshScratch {
  AlignedBuffer task_memory, mesh_memory, scratch, frames;
  uint32_t vertex_room = 0, primitive_room = 0;  // of the shader's arrays
  const shader::InterfaceWord* index[3] = {};    // words that the fixed functions read; null: they are not written
  const shader::InterfaceWord* culled = nullptr;
  struct Wanted {
    const shader::InterfaceWord* from;
    uint8_t* to;  // the batch's, of vertex 0
  };
  std::vector<Wanted> wanted;
  std::vector<uint32_t> triples;            // primitives of a workgroup
  uint16_t own_vertex[kMaxMeshPrimitives];  // which vertex that is that a primitive has for itself
};

}  // namespace tilegpu::geometry
