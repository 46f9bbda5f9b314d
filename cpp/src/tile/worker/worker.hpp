// tile/worker/worker.hpp -- the state of one thread in the tile phase, a plain struct for each stage. Everything allocated is kept from bin
// to bin; what begins with a pass or a bin begins here, by begin_pass and begin_bin of each struct.
// In: a pass. Out: for the stages of a bin.
// Stages are free functions that take the structs that they touch, beside what all stand on: the TileContext (pass, sizes, buffers, bin),
// as a constant. The whole Worker is for those that lead a primitive or a bin through all stages, and say in which order:
//   tile_job.cpp      begin_pass, run and their steps: a bin from its first segment to the last flush
//   draw_entries.cpp  a draw becomes the current one (select_draw); entries and batches of it are covered, tested and handed on
//   coverage_sink.hpp, record_tests.hpp, record_route.hpp  a record's coverage: tests, then the queue, the visibility buffer, or nowhere
//   near_to_far.cpp, prepass.cpp  entries in another order, and twice: what calls draw_entries
//   visibility.cpp    flush_visibility, which gathers from ids, lists and covers, and shades
// and for the trace of the second build (fragment_trace.hpp), which looks at all of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <memory>
#include <vector>

#include "tile/worker/variant.hpp"

#include "base/aligned_buffer.hpp"
#include "base/simd.hpp"
#include "hsr/prepass_rules.hpp"
#include "records/primitive_setup.hpp"
#include "tile/coverage/batch_coverage.hpp"
#include "tile/depth_stencil/batch_tests.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"
#include "tile/depth_stencil/lrz_test.hpp"
#include "tile/plan/clear_texels.hpp"
#include "tile/plan/kept_plans.hpp"
#include "tile/plan/pass_context.hpp"
#include "tile/worker/deferred_census.hpp"
#include "tile/worker/fragment_trace.hpp"
#include "tile/worker/packets.hpp"
#include "tile/worker/vertex_store.hpp"
#include "tile/worker/visible.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Entries of a draw that the main phase rasterizes again.
struct Replay {
  const records::BinSegment* segment;
  uint32_t first, count, draw;
  uint32_t ids;             // primitives recorded before it
  bool rasterized, opaque;  // rasterized: in the pre-pass too
};
struct PrepassStopCount {
  uint32_t draw;
  hsr::Verdict verdict;
  uint64_t tiles;
};

/// The fragment pre-pass of the bin.
struct PrePass {
  bool enabled = false;
  hsr::TileHistory history;
  hsr::Verdict verdict;  // pre: of the current draw
  bool skips = false;    // pre: nothing to find out about the current draw
  bool replays_draw = false;
  bool runs_all = false;   // pre: all fragments of the current draw run in the main phase, whatever is seen of them: none is killed
  uint64_t recorded = 0;   // pre, with runs_all: Results::recorded without the draw
  bool stopped = false;    // a draw that it can't hold follows, which others may follow that kill what it found
  bool keeps_ids = false;  // draws of the main phase that wait ask the numbers: they are cleared when the bin ends
  std::vector<Replay> replays;
  uint32_t replay_ids = 0, replay_next = 0;  // main
  bool opaque_replay = false;
  DeferredCensus census;  // begun with the pass's results
  std::vector<PrepassStopCount> stops;
  uint64_t tiles = 0;

  void begin_pass(bool on) {
    enabled = on;
    stops.clear();
    tiles = 0;
  }
};

// -- what all stages stand on; they take it as constant (the planes that it points to are what they write)

/// Sizes of the pass's bins and packets.
struct TileShape {
  uint32_t bin_px = 0, blocks_per_row = 0, row_shift = 0, samples = 1, quads_per_packet = 2;
  uint32_t width_px = 0, height_px = 0;  // of the bin, in the corner of bin_px squared
  uint64_t all_samples = 0xf;            // coverage of a whole quad
  bool wide = false;                     // AVX-512
  const float* positions = nullptr;      // of the standard sample locations: x and y of each
  PassTraits traits;
  void begin_pass(const PassContext& pass);
  uint32_t blocks() const { return blocks_per_row * blocks_per_row; }
  uint32_t block_of(int32_t block_x, int32_t block_y) const {
    assert(static_cast<uint32_t>(block_x) < blocks_per_row && static_cast<uint32_t>(block_y) < blocks_per_row);
    return static_cast<uint32_t>(block_y) * blocks_per_row + static_cast<uint32_t>(block_x);
  }
  /// Place of a block's first pixel in the bin.
  int32_t x_px(uint32_t block) const { return static_cast<int32_t>(block & (blocks_per_row - 1)) * 4; }
  int32_t y_px(uint32_t block) const { return static_cast<int32_t>(block >> row_shift) * 4; }
};

/// What tests and shaders write to.
struct TileBuffers {
  AlignedBuffer memory, ids_memory, dirty_memory;
  uint32_t* ids = nullptr;   // the visibility buffer's plane: a number for each sample
  uint8_t* dirty = nullptr;  // with it: 1 for each block with a number; and eight more
  uint8_t* equal = nullptr;  // tile_io/equal_quads.hpp; null: every sample is always there

  void begin_pass(const PassContext& pass, const TileShape& shape);
};

/// The bin that is drawn.
struct Bin {
  int32_t origin_x_px = 0, origin_y_px = 0;
  uint32_t layer = 0;
  BinPlace place{};
  Phase phase = Phase::ordinary;
  bool last_flush = false;  // nothing is drawn in the bin any more

  void begin_bin(const records::BinGrid& grid, uint32_t bin, const TileShape& shape);
};

struct TileContext {
  const PassContext* pass = nullptr;
  TileShape shape;
  TileBuffers buffers;
  Bin bin;
  Worker* traced = nullptr;  // null but in the traced build, whose notes are about all stages
};

// -- a struct for each stage, so that a function's arguments say what it may touch

/// The draw whose primitives are tested.
struct CurrentDraw {
  uint32_t number = ~0u;
  const command::DrawState* state = nullptr;
  TilePlan plan;
  PixelRect rect;
  TestState test, late_test;
  int32_t early_query = -1;
  Coverage coverage = Coverage::each;      // coverage_of_draw
  WideTriangles wide_triangles = nullptr;  // of `test`, for Coverage::at_once; else null
  bool takes_lists = false;                // its plan has lists, and so has the bin
  bool takes_covers = false;               // the same of covers
  bool follows_late = false;               // bounds of depth know what is written after shading
  bool joins_halves = false;               // halves of a rectangle may be one primitive (batch_setups.hpp)
  ShadeMoment moment;                      // of its quads, where they go to the queue
  uint32_t replay_ids = 0;                 // main phase: primitives that the pre-pass recorded before it

  void begin_bin() {
    takes_lists = takes_covers = false;
    forget();
  }
  LateTests late() const { return {state, &late_test, replay_ids}; }
  /// The next one is selected whatever it is.
  void forget() {
    number = ~0u;
    state = nullptr;
  }
};

using StatePlans = KeptPlans<StatePlan>;
inline const StatePlan& plan_of(const TileContext& t, StatePlans& plans, const command::DrawState& state) {
  return plans.of(state, {}, [&] { return plan_state(t.shape.traits, state, t.pass->tile); });
}

/// Hierarchical depth.
struct DepthBounds {
  bool enabled = false;
  int32_t block_limit = 0;          // extent in subpixels below which triangles of the bin go block by block
  std::vector<int32_t> far;         // per block, INT32_MAX: unknown; see hidden_blocks
  StaleBounds stale;                // of far and BlockCovers::near
  std::vector<int32_t> window_far;  // one sample, per window of 16x16 pixels: not below any of them
  bool broken = false;              // the current draw may make depth grow: the bounds end with it

  void begin_pass(bool on, uint32_t blocks) {
    enabled = on;
    far.resize(size_t{blocks} + 8);  // eight are read at once
    window_far.resize(blocks / 16);
  }
  void begin_bin(uint32_t samples) {
    broken = false;
    block_limit = samples > 1 ? detail::kSmallTriangle : detail::kSmallInDeepBins;  // one sample: near_to_far.cpp may raise it
    reset(INT32_MAX);
  }
  /// They begin anew: nothing is known (INT32_MAX), or all is `depth`.
  void reset(int32_t depth) {
    std::fill(far.begin(), far.end(), depth);
    std::fill(window_far.begin(), window_far.end(), depth);
    stale.clear();
  }
};

/// The adaptive depth filter.
struct BinFilter {
  hsr::TileFilter tile;
  bool broken = false;  // the current draw may move depth away from near: what it knows ends with it

  void begin_bin(bool depth_holds_far) {
    broken = false;
    tile.begin_bin(depth_holds_far);
  }
  void forget() {
    broken = false;
    if (tile.on()) tile.forget();
  }
};

/// What is counted, and results of tests on their way.
struct Results {
  stats::FragmentCounters counters;
  stats::Ledger ledger;
  std::vector<uint64_t> query_samples;
  std::vector<uint64_t> counted_fragments;  // by DrawCall::counted; 0: of draws that no query counts
  uint32_t counted = 0;                     // of the draw that is bound ...
  uint64_t counted_from = 0;                // ... and fragments_shaded when that came to be
  std::vector<uint16_t> pass_masks;         // of tests over a row of blocks
  uint64_t recorded = 0;                    // fragments with a number, since the bin's pre-pass began

  void begin_pass(const PassContext& pass, const TileShape& shape);
};

struct Worker : TileContext {
  CurrentDraw draw;
  StatePlans plans;  // of this part of the pass
  Packets packets;
  PrePass prepass;
  KillQueue kill;
  Visibility visibility;
  BlockLists lists;    // several samples: what is seen of a block as a list of primitives
  BlockCovers covers;  // one sample: blocks that one primitive holds
  std::unique_ptr<CoveredBlocks> waiting_blocks = std::make_unique<CoveredBlocks>();  // of a batch
  DepthBounds bounds;
  BinFilter filter;
  LrzBin lrz;
  Results results;
  FaintDraw faint;                        // what may say that nothing is seen of a block of the current draw
  KeptPlans<FaintDraw, uint64_t> faints;  // of this part of the pass, by state and vertices
  ClearTexels clear_texels;               // of the pass
#ifdef TILEGPU_TRACED
  trace::WorkerTrace trace;
#endif
};

/// Entry of a bin's segment; the draw that it is of.
inline const records::TriangleRecord& record_of(const records::BinSegment& segment, uint32_t entry) {
  assert(entry < segment.count && !segment.chunk->clear);
  return segment.chunk->records.data()[segment.chunk->entries.data()[segment.first + entry]];
}
inline uint32_t draw_of(const records::TriangleRecord& record) { return record.draw_flags & records::kDrawMask; }
/// Where a draw with this state may write in the bin.
PixelRect draw_rect(const TileContext& t, const command::DrawState& state);
/// Of each sample, x and y in the pixel, with this state.
inline const float* positions_of(const TileContext& t, const command::DrawState& state) {
  const MultisampleState& m = state.multisample;
  return m.sample_locations_enable && m.sample_locations.count ? m.sample_locations.at_px.data() : t.shape.positions;
}
/// What a primitive covers of a quad (bin coordinates), as the plain path would have recorded it.
uint64_t raster_coverage(const TileContext& t, uint32_t draw, const records::TriangleRecord& record, const records::Chunk& chunk,
                         int32_t x_px, int32_t y_px);

}  // namespace tilegpu::TILEGPU_TILE
