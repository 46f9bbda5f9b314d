// exec/tile_phase.cpp -- stage: execution of a render pass, the tile phase of one part: all bins, from load to store.
//
// In: gathered bins, the framebuffer's pieces. Out: images, the workers' counters, traces of tiles. A bin is one job on one thread; bins
// that share a 16x16 superblock of an image are one job together.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <optional>

#include "exec/pass_run.hpp"
#include "resource/block_compression.hpp"
#include "tile/depth_stencil/lrz_test.hpp"
#include "tile_io/tile_resolve.hpp"

namespace tilegpu::exec {

namespace {

// Runs of bins that only get their clear value are cut so that threads end together: half a run waits on average. But not while there is a
// row of them for each thread: whole rows of an image lie behind one another and are written past the caches, in 0.4 of the time.
constexpr uint32_t kClearRunsPerThread = 8;

bool drawn(const PassRun& run, uint32_t bin) {
  assert(bin + 1 < run.kept.binned.first_segment.size());
  return run.kept.binned.first_segment[bin] != run.kept.binned.first_segment[bin + 1];
}

// In a pass that is traced, what low-resolution Z rejected while binning is there, but draws nothing.
bool has_primitives(const PassRun& run, uint32_t bin) {
  const records::BinnedGeometry& binned = run.kept.binned;
  for (uint32_t i = binned.first_segment[bin]; i < binned.first_segment[bin + 1]; i++) {
    const records::BinSegment& segment = binned.segments[i];
    if (segment.chunk->hidden.empty()) return true;
    const uint8_t* const hidden = segment.chunk->hidden.data() + segment.first;
    if (std::find(hidden, hidden + segment.count, 0) != hidden + segment.count) return true;
  }
  return false;
}

// A tile with primitives is loaded and stored in all its bins.
bool tile_drawn(const PassRun& run, uint32_t bin) { return run.kept.drawn[run.kept.binned.grid.tile_of(bin)]; }

// A pass with views leaves other layers as they are.
bool renders(const PassRun& run, uint32_t layer) { return !run.pass.info.view_mask || run.pass.info.view_mask >> layer & 1; }

tile_io::TileRegion region_of(const PassRun& run, uint32_t bin) {
  const records::BinGrid& grid = run.kept.binned.grid;
  assert(bin < grid.bins());
  const uint32_t in_layer = bin % grid.bins_of_layer();
  tile_io::TileRegion region;
  region.x_px = grid.x_px(in_layer);
  region.y_px = grid.y_px(in_layer);
  region.layer = bin / grid.bins_of_layer();
  return region;
}

// Of this thread. It begins with its first bin of the pass: clearing what 128 of them count and note would take one thread longer than all
// of them need for a small pass. Those that have no bin are not in the sums.
tile::TileWorker& worker_of(PassRun& run, uint32_t w) {
  assert(run.number && w < run.kept.tile_workers.size());
  tile::TileWorker& worker = run.kept.tile_workers[w];
  if (!worker.has_begun(run.number)) worker.begin_pass(run.context, run.number);
  return worker;
}

// One thread does it while all others wait, so for tiles that are bins, where nothing was rejected, it is a few instructions for eight.
void find_drawn_tiles(PassRun& run) {
  PassExecutor::State& s = run.kept;
  const records::BinGrid& grid = s.binned.grid;
  s.drawn.assign(s.drawn_ever.size(), 0);
  const bool rejects = std::any_of(s.used_chunks.begin(), s.used_chunks.end(), [](const records::Chunk* c) { return !c->hidden.empty(); });
  if (rejects || !grid.tiles_are_bins()) {
    for (uint32_t bin = 0; bin < grid.bins(); bin++)
      if (has_primitives(run, bin)) s.drawn[grid.tile_of(bin)] = s.drawn_ever[grid.tile_of(bin)] = 1;
    return;
  }
  assert(s.drawn.size() == grid.bins());
  const uint32_t* const first = s.binned.first_segment.data();
  uint8_t *const drawn = s.drawn.data(), *const ever = s.drawn_ever.data();
  const size_t bins = grid.bins();  // not asked of the grid again, which the bytes might be a part of for all that is known
  for (size_t bin = 0; bin < bins; bin++) drawn[bin] = first[bin] != first[bin + 1];
  for (size_t bin = 0; bin < bins; bin++) ever[bin] |= drawn[bin];
}

// What holds for every bin of this part.
void set_up_part(PassRun& run, framebuffer::Part part) {
  const command::Pass& pass = run.pass;
  tile::PassContext& context = run.context;
  context.geometry = &run.kept.binned;
  find_drawn_tiles(run);
  if (run.trace) run.trace->keeps_bins = part == framebuffer::Part::first || part == framebuffer::Part::middle;
  if (part == framebuffer::Part::middle || part == framebuffer::Part::last) context.depth_holds_far = false;
  const tile_io::DeferredDepth deferred = tile_io::defers_depth(pass.framebuffer, context.tile, part);
  context.keeps = tile::keeps_blocks(context.hsr, context.compress_samples, context.filter_planes.count != 0, context.samples,
                                     context.tile.depth.words != 0, deferred.possible);
  const tile::PassTraits traits = tile::traits_of(context, run.trace && !run.timed);
  if (run.out.parts.empty() || !(run.out.parts.back().traits == traits)) run.out.parts.push_back({part, traits});
  run.out.tile = context.tile;
  context.depth_known = deferred.possible;
  context.depth_background = deferred.background;
  context.keeps_depth = deferred.kept || context.lrz;
  context.averaged_colors = tile_io::averaged_colors(pass.framebuffer, context.tile, part);
}

/// What a bin added to its worker's ledger.
TileTrace trace_of(const PassRun& run, const tile_io::TileRegion& region, framebuffer::Part part, const stats::Ledger& before,
                   const stats::Ledger& after) {
  const records::BinGrid& grid = run.kept.binned.grid;
  TileTrace trace{region.x_px,           region.y_px, grid.width_px, grid.height_px, region.layer, static_cast<uint32_t>(part),
                  region.has_primitives, {}};
  for (uint32_t a = 0; a < stats::kLedgerAttachments; a++) {
    if (!is_bound(run.pass, a)) continue;
    auto& bytes = trace.bytes.emplace_back();
    for (size_t cause = 0; cause < bytes.size(); cause++) bytes[cause] = after.bytes[a][cause] - before.bytes[a][cause];
  }
  return trace;
}

// The end of a bin: low-resolution Z learns, samples are resolved, what is stored goes to its image.
template <class Worker>
void finish_bin(const PassRun& run, const tile_io::TileRegion& region, framebuffer::Part part, Worker& worker, bool draws) {
  const tile::PassContext& context = run.context;
  if (framebuffer::resolves_in(part) && context.lrz && region.layer == 0 && draws)
    worker.counters().lrz_feedback_texels += tile::lrz_feedback(*context.lrz, context.tile, worker.memory(), region.x_px, region.y_px);
  if (framebuffer::resolves_in(part))
    tile_io::resolve_tile(run.pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
  tile_io::store_tile(run.pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
}

// One bin. `moved`: where its bytes are noted; null: nobody asks.
template <class Worker>
void render_bin(PassRun& run, framebuffer::Part part, uint32_t bin, Worker& worker, TileTrace* moved) {
  if (run.cancelled.load(std::memory_order_relaxed)) return;
  const command::Pass& pass = run.pass;
  const tile::PassContext& context = run.context;
  tile_io::TileRegion region = region_of(run, bin);
  if (!renders(run, region.layer)) return;
  const bool draws = drawn(run, bin);
  region.has_primitives = tile_drawn(run, bin);
  std::optional<stats::Ledger> before;
  if (moved) before = worker.ledger();
  const auto keep_trace = [&] {
    if (moved) *moved = trace_of(run, region, part, *before, worker.ledger());
  };
  if (!run.dry && tile_io::tile_is_clean(pass.framebuffer, region, part)) {
    tile_io::skip_clean_tile(pass.framebuffer, context.tile, region, worker.ledger(), part);
    keep_trace();
    return;
  }
  region.clears_depth = !(context.keeps.lists && draws);
  tile_io::load_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
  if (draws) worker.run(context, bin);
  if (run.dry || run.cancelled.load(std::memory_order_relaxed)) return;
  finish_bin(run, region, part, worker, draws);
  keep_trace();
}

// Bins side by side that only get their clear value are filled by whole rows of pixels.
void render_in_runs(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  const records::BinGrid& grid = s.binned.grid;
  const auto bins = static_cast<uint32_t>(grid.bins());
  if (s.bin_runs.size() < bins) s.bin_runs.resize(bins);
  PassExecutor::State::BinRun* const runs = s.bin_runs.data();
  const uint8_t* const drawn = s.drawn.data();
  const uint32_t columns = grid.columns, threads = s.pool.threads(), rows = bins / std::max(1u, columns);
  const uint32_t longest = rows >= threads ? columns : bins / (kClearRunsPerThread * threads) + 1;
  const bool same = grid.tiles_are_bins();
  bool drawn_before = true;
  uint32_t count = 0;
  for (uint32_t bin = 0, column = 0; bin < bins; bin++) {  // while all others wait
    const bool drawn_here = drawn[same ? bin : grid.tile_of(bin)];
    if (column && !drawn_here && !drawn_before && runs[count - 1].columns < longest)
      runs[count - 1].columns++;
    else
      runs[count++] = {bin, 1};
    drawn_before = drawn_here;
    column = column + 1 == columns ? 0 : column + 1;
  }
  s.pool.run("tiles", count, [&](uint32_t w, uint32_t i) {
    const auto [bin, columns] = s.bin_runs[i];
    if (columns == 1) return render_bin(run, part, bin, worker_of(run, w), nullptr);
    if (run.cancelled.load(std::memory_order_relaxed)) return;
    tile_io::TileRegion region = region_of(run, bin);
    if (!renders(run, region.layer)) return;
    region.columns = columns;
    region.has_primitives = false;
    tile::TileWorker& worker = worker_of(run, w);
    tile_io::store_tile(run.pass.framebuffer, run.context.tile, region, worker.memory(), worker.ledger(), part);
  });
}

// What one thread takes at once of a layer's bins: those of a superblock, or one.
struct BinJobs {
  uint32_t across = 1, down = 1;                   // bins of a job
  uint32_t skipped_columns = 0, skipped_rows = 0;  // of the first job, before the grid
  uint32_t columns = 0, rows = 0;
  uint32_t of_layer() const { return columns * rows; }
};

BinJobs bin_jobs(const records::BinGrid& grid) {
  constexpr uint32_t kSide_px = resource::kSuperblock_px;
  BinJobs jobs;
  jobs.across = std::max(1u, kSide_px / grid.width_px), jobs.down = std::max(1u, kSide_px / grid.height_px);
  jobs.skipped_columns = static_cast<uint32_t>(grid.origin_x_px) / grid.width_px % jobs.across;
  jobs.skipped_rows = static_cast<uint32_t>(grid.origin_y_px) / grid.height_px % jobs.down;
  jobs.columns = (jobs.skipped_columns + grid.columns + jobs.across - 1) / jobs.across;
  jobs.rows = (jobs.skipped_rows + grid.rows + jobs.down - 1) / jobs.down;
  return jobs;
}

// `f` of each bin of a job.
template <class F>
void each_bin(const records::BinGrid& grid, const BinJobs& jobs, uint32_t job, F&& f) {
  assert(job < jobs.of_layer() * grid.layers);
  const uint32_t layer = job / jobs.of_layer(), in_layer = job % jobs.of_layer();
  const uint32_t first_column = in_layer % jobs.columns * jobs.across, first_row = in_layer / jobs.columns * jobs.down;
  for (uint32_t row = first_row; row < first_row + jobs.down; row++)
    for (uint32_t column = first_column; column < first_column + jobs.across; column++) {
      if (column < jobs.skipped_columns || row < jobs.skipped_rows) continue;
      const uint32_t x = column - jobs.skipped_columns, y = row - jobs.skipped_rows;
      if (x < grid.columns && y < grid.rows) f(layer * grid.bins_of_layer() + y * grid.columns + x);
    }
}

// All bins, in whatever order.
void render_bins(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  const BinJobs jobs = bin_jobs(s.binned.grid);
  s.pool.run("tiles", jobs.of_layer() * s.binned.grid.layers, [&](uint32_t w, uint32_t job) {
    each_bin(s.binned.grid, jobs, job, [&](uint32_t bin) { render_bin(run, part, bin, worker_of(run, w), nullptr); });
  });
}

// A bin of a pass that is traced, by the worker that notes, or timed. `moved`: see render_bin.
void render_traced(PassRun& run, framebuffer::Part part, uint32_t bin, uint32_t w, TileTrace* moved) {
  assert(run.trace);
  PassExecutor::State& s = run.kept;
  tile::trace::State& trace = *run.trace;
  if (run.timed) {
    const double begin_ms = now_ms();
    render_bin(run, part, bin, worker_of(run, w), nullptr);
    trace.result.tile_ms[bin % s.binned.grid.bins_of_layer()].ms += now_ms() - begin_ms;
    return;
  }
  const tile_io::TileRegion region = region_of(run, bin);
  if (trace.maps || !run.dry || tile::trace::watches(trace, region.layer, region.x_px, region.y_px))
    render_bin(run, part, bin, run.traced_workers[w], moved);
}

// What moved for a layer's bins becomes what moved for its tiles.
void add_tiles(const records::BinGrid& grid, std::vector<TileTrace>& bins, std::vector<TileTrace>& out) {
  const size_t first = out.size();
  if (grid.tiles_are_bins()) {
    out.insert(out.end(), std::make_move_iterator(bins.begin()), std::make_move_iterator(bins.end()));
    return;
  }
  if (!bins.empty()) out.resize(first + grid.tiles_of_layer());
  for (size_t bin = 0; bin < bins.size(); bin++) {
    TileTrace& tile = out[first + grid.tile_of(bin)];
    if (tile.width_px == 0) {  // its first bin
      tile = std::move(bins[bin]);
      const auto first_bin = static_cast<uint32_t>(bin % grid.columns / grid.tile_across * grid.tile_across +
                                                   bin / grid.columns / grid.tile_down * grid.tile_down * grid.columns);
      tile.x_px = grid.x_px(first_bin), tile.y_px = grid.y_px(first_bin);
      tile.width_px *= grid.tile_across, tile.height_px *= grid.tile_down;
      continue;
    }
    for (size_t a = 0; a < std::min(tile.bytes.size(), bins[bin].bytes.size()); a++)  // fewer: the pass was cancelled
      for (size_t cause = 0; cause < tile.bytes[a].size(); cause++) tile.bytes[a][cause] += bins[bin].bytes[a][cause];
  }
}

// The same where something is noted of each bin. Layer by layer: maps are sums over layers.
void render_noted(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  const uint32_t bins = s.binned.grid.bins_of_layer();
  const BinJobs jobs = bin_jobs(s.binned.grid);
  for (uint32_t layer = 0; layer < s.binned.grid.layers; layer++) {
    if (!renders(run, layer)) continue;
    std::vector<TileTrace> noted(run.pass.info.trace_tiles ? bins : 0);
    s.pool.run("tiles", jobs.of_layer(), [&](uint32_t w, uint32_t job) {
      each_bin(s.binned.grid, jobs, layer * jobs.of_layer() + job, [&](uint32_t bin) {
        TileTrace* const moved = run.pass.info.trace_tiles ? &noted[bin % bins] : nullptr;
        if (run.trace)
          render_traced(run, part, bin, w, moved);
        else
          render_bin(run, part, bin, worker_of(run, w), moved);
      });
    });
    add_tiles(s.binned.grid, noted, run.out.tile_trace);
  }
}

}  // namespace

void render_part(PassRun& run, framebuffer::Part part) {
  set_up_part(run, part);
  if (run.trace || run.pass.info.trace_tiles)
    render_noted(run, part);
  else if (tile_io::stores_clear_values(run.pass.framebuffer, run.context.tile, part))
    render_in_runs(run, part);
  else
    render_bins(run, part);
}

}  // namespace tilegpu::exec
