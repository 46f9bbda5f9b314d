// tile/tile_job.hpp -- the tile phase's entry: everything drawn in one bin, in order, into tile memory.
//
// In: binned geometry, the pass's draws, a worker with its tile buffer (already loaded). Out: tile memory, counters, query sums.
// Stages behind it, a file each: primitive_setup (edges, planes), coverage (which samples), depth_stencil (early and late
// tests), quad_queue (packing), shade (body, late tests, epilogue).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "command/draw.hpp"
#include "hsr/depth_filter.hpp"
#include "records/records.hpp"
#include "stats/ledger.hpp"
#include "tile/plan.hpp"
#include "tile_io/tile_io.hpp"

namespace tilegpu::hsr {
struct LrzPass;  // hsr/lrz_pass.hpp
struct VertexDeferral;
}  // namespace tilegpu::hsr
namespace tilegpu::tile::trace {
struct State;  // tile/fragment_trace.hpp
struct Covers;
}  // namespace tilegpu::tile::trace

namespace tilegpu::tile {

/// What is the same for all bins of a pass.
struct PassContext {
  std::span<const command::DrawCall> draws;
  const records::BinnedGeometry* geometry = nullptr;
  tile_io::HostTile tile;
  VkRect2D render_area{};
  uint32_t samples = 1;
  uint32_t layer = 0;
  uint32_t query_count = 0;
  uint32_t lanes = 8;
  uint64_t loop_budget = 1ull << 20;
  HiddenSurfaceRemoval hsr;                       // the same bits whatever it says
  hsr::FilterPlanes filter_planes;                // the depth filter of this frame; none: off
  const hsr::LrzPass* lrz = nullptr;              // low-resolution Z, complete; null: off
  std::span<const hsr::VertexDeferral> deferral;  // deferred vertex shading, by draw; empty: off
  uint32_t fpk_quads = 64;                        // capacity of forward pixel kill's queue
  bool depth_holds_far = false;                   // every bin begins with depth 1: cleared, and nothing loaded
  bool compress_samples = false;                  // may keep what is equal or plane once; the same bits either way
  KeptBlocks keeps;                               // lists: the depth plane was not cleared ...
  uint32_t depth_background = 0;                  // ... to this word
  bool depth_known = false;                       // every depth word was cleared to depth_background
  trace::State* trace = nullptr;                  // of traced workers
  uint32_t averaged_colors = 0;                   // tile_io::averaged_colors
  bool keeps_depth = true;                        // depth leaves the tile, is resolved, or read after drawing
};

/// What the plans of its draws depend on.
PassTraits traits_of(const PassContext& pass, bool traced);

/// One for each thread; made once, kept by the pool. Owns the tile buffer, the quad queue, setup arenas and counters.
/// kWithTrace: the second build of the tile phase (variant.hpp), which also notes what becomes of each fragment.
template <bool kWithTrace>
class BasicTileWorker {
 public:
  BasicTileWorker();
  ~BasicTileWorker();
  BasicTileWorker(BasicTileWorker&&) noexcept;
  /// Makes room for this pass (tile.size_B bytes, query_count sums) and clears the counters.
  void begin_pass(const PassContext& pass);
  /// Draws the bin; memory was loaded by the caller.
  void run(const PassContext& pass, uint32_t bin);
  uint8_t* memory();  // 64-byte aligned, tile.size_B
  stats::FragmentCounters& counters();
  stats::Ledger& ledger();
  const hsr::FilterCounters& filter_counters() const;
  uint64_t query_samples(uint32_t query) const;
  /// Adds this worker's part to the pass's list, by draw.
  void add_prepass_stops(PassStats& stats) const;
  /// Of a traced worker: what it noted for the pass.
  void add_trace(trace::State& pass, trace::Covers& covers) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
using TileWorker = BasicTileWorker<false>;
using TracedTileWorker = BasicTileWorker<true>;

}  // namespace tilegpu::tile
