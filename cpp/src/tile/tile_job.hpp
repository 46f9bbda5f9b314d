// tile/tile_job.hpp -- the tile phase's entry: everything drawn in one bin, in order, into tile memory.
//
// In: binned geometry, the pass's draws, a worker with its tile buffer (already loaded). Out: tile memory, counters, query sums.
// Stages behind it, a file each: primitive_setup (edges, planes), coverage (which samples), depth_stencil (early and late
// tests), quad_queue (packing), shade (body, late tests, epilogue).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "hsr/depth_filter.hpp"
#include "stats/ledger.hpp"
#include "tile/plan/pass_context.hpp"
#include "tile/worker/deferred_census.hpp"

namespace tilegpu::tile {

/// One for each thread; made once, kept by the pool. Owns the tile buffer, the quad queue, setup arenas and counters.
/// kWithTrace: the second build of the tile phase (variant.hpp), which also notes what becomes of each fragment.
template <bool kWithTrace>
class BasicTileWorker {
 public:
  BasicTileWorker();
  ~BasicTileWorker();
  BasicTileWorker(BasicTileWorker&&) noexcept;
  /// Makes room for this pass (tile.size_B bytes, query_count sums) and clears the counters. `number`: the pass's, not 0.
  void begin_pass(const PassContext& pass, uint64_t number);
  /// Whether the last pass that it began has this number.
  bool has_begun(uint64_t number) const;
  /// Draws the bin; memory was loaded by the caller.
  void run(const PassContext& pass, uint32_t bin);
  uint8_t* memory();  // 64-byte aligned, tile.size_B
  stats::FragmentCounters& counters();
  stats::Ledger& ledger();
  const hsr::FilterCounters& filter_counters() const;
  const shader::LoopBudget& loops() const;
  /// By draw; empty: nobody counts, or no vertices are deferred.
  std::span<const DeferredCensus::Counts> deferred_vertices() const;
  uint64_t query_samples(uint32_t query) const;
  uint64_t counted_fragments(uint32_t counted) const;
  /// Adds this worker's part to the pass's list, by draw.
  void add_prepass_stops(PassStats& stats) const;
  /// Of a traced worker: what it noted for the pass.
  void add_trace(trace::State& pass, trace::Covers& covers) const;
  /// The same of lines of textures (texel_trace.hpp).
  void add_texels(std::unordered_set<uint64_t>& pass, std::vector<uint64_t>& of_bins) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
using TileWorker = BasicTileWorker<false>;
using TracedTileWorker = BasicTileWorker<true>;

}  // namespace tilegpu::tile
