// tile/worker/deferred_census.hpp -- stage: deferred vertex shading, for the model of its costs. In: a bin's entries. Out: how many
// different vertices of deferred primitives are in each tile, how many of them the pre-pass needs, and how many of those are seen after
// it, by draw.
//
// The host keeps what it knows of a vertex; the hardware knows nothing of it when a tile begins, and in each of its passes over the
// tile it shades again what it needs: positions, or whole vertices where the fragment shader decides about coverage. Source: Arm,
// "Hidden Surface Removal in Immortalis-G925: The Fragment Prepass" ("Avoid expensive computation of position in vertex shaders").
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "records/records.hpp"

namespace tilegpu::tile {

enum class VertexNeed : uint8_t { in_tile = 1, position = 2, whole = 4 };

class DeferredCensus {
 public:
  struct Counts {
    uint64_t in_tiles = 0, positioned = 0, shaded = 0, shaded_after = 0;
  };
  /// `draws`: of the pass; 0: nothing is counted.
  void begin_pass(size_t draws);
  bool on() const { return !counts_.empty(); }
  /// All of a bin, before anything else of it.
  void begin_bin(std::span<const records::BinSegment> segments);
  /// What the pre-pass goes over: entries of a segment from `first` to `end`; `entered`: its draws in order, and what it needs of each.
  void pass_over(const records::BinSegment& segment, uint32_t first, uint32_t end);
  /// The pre-pass begins with a draw; nothing: it skips it.
  void enter(uint32_t draw, bool skipped, bool whole) {
    if (on()) entered_.emplace_back(draw, skipped ? 0 : static_cast<uint8_t>(whole ? VertexNeed::whole : VertexNeed::position));
  }
  /// Whole vertices that are shaded in the tile, each once; `whole`: the fragment shader decides about coverage.
  void shaded(uint64_t owner, std::span<const uint32_t> vertices, bool whole);
  void begin_prepass() { entered_.clear(), at_ = 0; }
  std::span<const Counts> counts() const { return counts_; }

 private:
  struct Entry {
    uint64_t owner = 0;  // draw and instance
    uint32_t vertex = 0, age = 0;
    uint8_t needs = 0;
  };
  void count(const records::Chunk& chunk, uint32_t record, uint8_t need);
  Entry& find(uint64_t owner, uint32_t vertex);
  std::vector<Entry> table_;  // open addressing, a power of two
  uint32_t used_ = 0, age_ = 0;
  std::vector<Counts> counts_;  // by draw
  std::vector<std::pair<uint32_t, uint8_t>> entered_;
  size_t at_ = 0;
};

}  // namespace tilegpu::tile
