// geometry/vertex_fetch.hpp -- stage: vertex fetch of a modelled GPU. In: the vertices that are shaded, in order. Out: bytes of vertex
// buffers that its input cache had to fetch.
//
// The cache is 16 KiB of 64-byte lines, four ways, the line used longest ago is replaced; it is empty at the beginning of a chunk, so
// that the count is the same for any number of threads. Buffers are taken to begin on a line. Source: Giesen, "A trip through the
// Graphics Pipeline 2011", part 3 (vertices are fetched through a cache); sizes: a model, no vendor publishes them (docs/costs.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "command/draw.hpp"

namespace tilegpu::geometry {

class VertexFetch {
 public:
  static constexpr uint32_t kLine_B = 64, kWays = 4, kSets = 64, kSize_B = kLine_B * kWays * kSets;

  void begin_chunk();
  void begin_draw(const command::DrawCall& draw);
  /// Vertices by index (with the vertex offset added) that one call of the shader fetches.
  void fetch(const uint32_t* vertices, uint32_t count, uint32_t vertex_offset = 0);
  /// What goes by instance, of the instance behind so many.
  void fetch_instance(uint32_t first_instance, uint32_t instance);
  /// Since the chunk began.
  uint64_t fetched_B() const { return missed_ * kLine_B; }

 private:
  /// What is read of each element of a vertex buffer.
  struct Stream {
    uint64_t buffer = 0, size_B = 0;  // its address tells buffers apart, nothing else
    uint32_t stride_B = 0, low_B = 0, high_B = 0, divisor = 0;
    bool by_instance = false;
  };
  struct Way {
    uint64_t buffer = 0, line = 0, used = 0;  // used 0: empty
  };
  void read(const Stream& stream, uint64_t element);
  std::vector<Stream> streams_;
  std::array<Way, size_t{kWays} * kSets> ways_;
  uint64_t clock_ = 0, missed_ = 0;
};

}  // namespace tilegpu::geometry
