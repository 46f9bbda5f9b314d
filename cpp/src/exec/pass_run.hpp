// exec/pass_run.hpp -- one run of a pass, as the stages of its execution hand it on; and what an executor keeps between runs.
// In: a pass and what an executor keeps. Out: what the stages add to it, one after the other.
// The stages are declared here in the order in which they run; each file of exec/ that implements some says which.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>

#include "descriptor/texture_trace.hpp"
#include "exec/depth_filter_positions.hpp"
#include "exec/execution.hpp"
#include "exec/pass_executor.hpp"
#include "exec/plan_cache.hpp"
#include "exec/thread_pool.hpp"
#include "geometry/census.hpp"
#include "hsr/concurrent_binning.hpp"
#include "hsr/lrz_pass.hpp"
#include "tile/tile_job.hpp"
#include "tile/worker/fragment_trace.hpp"

namespace tilegpu::exec {

/// Records of one chunk in one bin.
struct WaveRun {
  records::Chunk* chunk = nullptr;
  uint32_t run = 0;
};

/// Scratch of pass_binning.cpp: the runs of a wave of chunks, by bins that share texels of low-resolution Z.
struct WaveBinning {
  std::vector<WaveRun> runs;
  std::vector<uint32_t> first, next;
};

/// What is kept from run to run: memory, and what one pass learns for the next.
struct PassExecutor::State {
  ThreadPool& pool;
  std::deque<geometry::GeometryWorker> geometry_workers;  // one for each thread
  std::deque<tile::TileWorker> tile_workers;
  uint64_t runs = 0;                                     // so far
  std::vector<std::unique_ptr<records::Chunk>> chunks;   // arenas keep their capacity
  std::vector<const records::Chunk*> used_chunks;        // of the part that is being gathered, in order
  std::vector<std::vector<geometry::ChunkPiece>> rests;  // of the wave's chunks, where they were full
  records::BinnedGeometry binned;
  WaveBinning wave;
  std::map<std::string, uint64_t> samples_passed;  // of passes by their key: the autotuner's history (render_mode.hpp)
  std::vector<uint8_t> drawn, drawn_ever;          // by tile: whether this part, or any, has primitives there
  struct BinRun {
    uint32_t first, columns;
  };
  std::vector<BinRun> bin_runs;  // of a layer
  geometry::VertexCensus census;
  PlanCache plans;
  PassPlan passing_plan;                // of passes whose draws are known at their execution only
  geometry::ChunkPlans passing_chunks;  // of passes whose chunks are
  FilterPositions filter_positions;
  hsr::LrzCache lrz_cache;
  hsr::BinnedBefore binned_before;
  hsr::LrzPass lrz;
  const char* phase = "";  // for the message when memory runs out

  explicit State(ThreadPool& p) : pool(p) {}
  /// Gives everything back; takes no memory itself.
  void release();
};

/// How far transform feedback has come.
struct CapturedState {
  uint32_t next = 0;  // interval that has not begun
  std::array<uint64_t, kMaxTransformFeedbackBuffers> offset_B{};
};

/// One run of a pass.
struct PassRun {
  PassExecutor::State& kept;
  const command::Pass& pass;
  const PassOptions& options;
  const std::atomic<bool>& cancelled;
  PassExecution& out;
  const TraceRequest* request = nullptr;  // null: not traced
  HiddenSurfaceRemoval hsr;
  bool dry = false, timed = false;
  double start_ms = 0, tiles_ms = 0;

  // Plan: made here, or found.
  std::shared_ptr<PassPlan> made;
  std::shared_ptr<const PassPlan> found;
  const PassPlan* plan = nullptr;
  const geometry::ChunkPlans* chunks = nullptr;

  tile::PassContext context;
  uint64_t number = 0;  // of the run: by it tile workers know whether they have begun
  geometry::GeometryPass geometry;
  bool sysmem = false;  // profiles with GMEM: rendered in memory
  hsr::LrzPassInfo lrz_info;
  hsr::FilterPosition* filter_position = nullptr;
  uint64_t heap_B = 0;                       // of the tiler
  bool has_parts = true;                     // a pass is split where the heap is full, or after so many draws; false: nothing is binned
  std::vector<records::StageCounts> counts;  // by DrawCall::counted
  CapturedState captured;

  std::shared_ptr<resource::BlockSignatures> signatures;  // of the target with transaction elimination; null: there is none
  std::deque<tile::TracedTileWorker> traced_workers;
  std::unique_ptr<tile::trace::State> trace;
  std::unique_ptr<descriptor::TextureTrace> texture_trace;  // of modelled GPUs

  /// Stats of a split are those of the whole pass.
  PassStats& stats() { return out.stats; }
};

/// By shaders.
inline bool writes_memory(const command::Pass& pass) {
  return !pass.written_buffers.empty() || !pass.written_views.empty() || pass.writes_addresses;
}

// Setting up (pass_setup.cpp).
void begin_workers(PassRun& run);
void plan_commands(PassRun& run);
/// An error where the indirect draws ask for more than the device allows.
Status check_indirect(const PassRun& run);
void set_up_tiles(PassRun& run);
/// GMEM or memory.
void choose_render_mode(PassRun& run);
void judge_draws(PassRun& run);
void set_up_geometry(PassRun& run);
Status begin_trace(PassRun& run);
void plan_geometry(PassRun& run);
void begin_pass(PassRun& run);

// The two phases (pass_phases.cpp); the end of binning (pass_binning.cpp); the tile phase of one part (tile_phase.cpp).
Status run_phases(PassRun& run);
/// Of `count` chunks behind those that are held.
void finish_binning(PassRun& run, size_t held, uint32_t count);
void render_part(PassRun& run, framebuffer::Part part);

// What was found (pass_results.cpp).
void finish_trace(PassRun& run);
/// Tells the images' memory, and keeps what low-resolution Z may use in the next pass. `done`: the pass came to its end.
void keep_contents(PassRun& run, bool done);
void sum_counters(PassRun& run);
/// What the autotuner would compare, and what it remembers.
void finish_render_mode(PassRun& run);
void number_draws(PassRun& run);
void finish_depth_filter(PassRun& run);
void finish_queries(PassRun& run);
void finish_counting(PassRun& run);

/// On the pool's threads.
geometry::VertexCensus::Share share_census(ThreadPool& pool);
double now_ms();
/// Results of each query: one for each view.
uint32_t views_of(const command::Pass& pass);
/// Which attachments have a row in PassStats::traffic.
bool is_bound(const command::Pass& pass, uint32_t attachment);

}  // namespace tilegpu::exec
