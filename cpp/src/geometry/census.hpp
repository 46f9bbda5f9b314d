// geometry/census.hpp -- how many different vertices the draws of a pass name: the least that any batching could shade.
// In: indices. Out: a count for each draw.
// One byte for each vertex of an indexed draw; a batch stores 1 for each of its vertices, whatever the thread. Statistics only.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/arena.hpp"
#include "base/intrinsics.hpp"
#include "geometry/geometry.hpp"

namespace tilegpu::geometry {

/// Which bytes are whose; follows from the draws alone, so that a pass that is executed again keeps it.
struct CensusLayout {
  struct Range {
    uint64_t first = 0;
    uint32_t size = 0;  // 0: not counted here
  };
  struct Run {
    uint64_t first, end;
    uint32_t instances;
  };
  std::vector<Range> ranges;  // one a draw
  std::vector<Run> runs;      // of ranges that follow one another, of draws with as many instances
  uint64_t uncounted = 0;     // vertices of the draws without a range
  uint64_t bytes = 0;
};
void lay_out_census(const GeometryPass& pass, CensusLayout& out);

class VertexCensus {
 public:
  /// Calls its function for each of so many pieces, on any threads.
  using Share = std::function<void(uint32_t pieces, const std::function<void(uint32_t piece)>&)>;
  /// Before the chunks of the pass are processed. The layout must stay until count().
  void begin(const CensusLayout& layout, const Share& share);
  /// Vertices of instance 0 of a draw, as indices before the vertex offset.
  void mark(uint32_t draw, const uint32_t* indices, uint32_t count, uint32_t vertex_offset) {
    const CensusLayout::Range range = layout_->ranges[draw];
    if (!range.size) return;
    uint8_t* seen = seen_.data() + range.first;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t index = indices[i] - vertex_offset;
      // Indices beyond the vertex buffers count as one vertex. Plain stores of the same value from several threads.
      __atomic_store_n(&seen[index < range.size - 1 ? index : range.size - 1], 1, __ATOMIC_RELAXED);
    }
  }
  /// The same for indices `first` to `first` + 31, those whose byte is 1.
  void mark_block(uint32_t draw, uint32_t first, const uint8_t* named) {
    const CensusLayout::Range range = layout_->ranges[draw];
    if (!range.size) return;
    uint8_t* seen = seen_.data() + range.first;
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(named));
    if (first < range.size && range.size - first > 32 && _mm256_testc_si256(bytes, _mm256_set1_epi8(1))) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(seen + first), bytes);
      return;
    }
    for (uint32_t i = 0; i < 32; i++)
      if (named[i]) __atomic_store_n(&seen[std::min(first + i, range.size - 1)], 1, __ATOMIC_RELAXED);
  }
  /// After the chunks: different vertices, times instances, of all draws.
  uint64_t count(const Share& share) const;

 private:
  const CensusLayout* layout_ = nullptr;
  Arena<uint8_t> seen_;
};

}  // namespace tilegpu::geometry
