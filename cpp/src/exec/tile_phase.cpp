// exec/tile_phase.cpp -- stage: execution of a render pass, the tile phase of one part: all bins, from load to store.
//
// In: gathered bins, the framebuffer's pieces. Out: images, the workers' counters, traces of tiles. A bin is one job on one thread.
#include <algorithm>
#include <cassert>
#include <optional>

#include "exec/pass_run.hpp"
#include "tile/depth_stencil/lrz_test.hpp"
#include "tile_io/tile_resolve.hpp"

namespace tilegpu::exec {

namespace {

// Runs of bins that only get their clear value are cut so that threads end together: half a run waits on average.
constexpr uint32_t kClearRunsPerThread = 8;

bool drawn(const PassRun& run, uint32_t bin) {
  assert(bin + 1 < run.kept.binned.first_segment.size());
  return run.kept.binned.first_segment[bin] != run.kept.binned.first_segment[bin + 1];
}

// A pass with views leaves other layers as they are.
bool renders(const PassRun& run, uint32_t layer) { return !run.pass.info.view_mask || run.pass.info.view_mask >> layer & 1; }

tile_io::TileRegion region_of(const PassRun& run, uint32_t bin) {
  const records::BinGrid& grid = run.kept.binned.grid;
  assert(bin < grid.bins());
  const uint32_t in_layer = bin % grid.bins_of_layer();
  tile_io::TileRegion region;
  region.x_px = grid.origin_x_px + static_cast<int32_t>(in_layer % grid.columns * grid.bin_px);
  region.y_px = grid.origin_y_px + static_cast<int32_t>(in_layer / grid.columns * grid.bin_px);
  region.layer = bin / grid.bins_of_layer();
  return region;
}

// What holds for every bin of this part.
void set_up_part(PassRun& run, framebuffer::Part part) {
  const command::Pass& pass = run.pass;
  tile::PassContext& context = run.context;
  context.geometry = &run.kept.binned;
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
  TileTrace trace{region.x_px,           region.y_px, run.kept.binned.grid.bin_px, region.layer, static_cast<uint32_t>(part),
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
void finish_bin(const PassRun& run, const tile_io::TileRegion& region, framebuffer::Part part, Worker& worker) {
  const tile::PassContext& context = run.context;
  if (framebuffer::resolves_in(part) && context.lrz && region.layer == 0 && region.has_primitives)
    tile::lrz_feedback(*context.lrz, context.tile, worker.memory(), region.x_px, region.y_px);
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
  region.has_primitives = drawn(run, bin);
  std::optional<stats::Ledger> before;
  if (moved) before = worker.ledger();
  const auto keep_trace = [&] {
    if (moved) *moved = trace_of(run, region, part, *before, worker.ledger());
  };
  if (!run.dry && tile_io::tile_is_clean(pass.framebuffer, region, part)) {
    tile_io::count_clean_tile(pass.framebuffer, context.tile, region, worker.ledger(), part);
    keep_trace();
    return;
  }
  region.clears_depth = !(context.keeps.lists && region.has_primitives);
  tile_io::load_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
  if (region.has_primitives) {
    run.kept.bin_drawn[bin] = 1;
    worker.run(context, bin);
  }
  if (run.dry) return;
  finish_bin(run, region, part, worker);
  keep_trace();
}

// Bins side by side that only get their clear value are filled by whole rows of pixels.
void render_in_runs(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  const records::BinGrid& grid = s.binned.grid;
  const auto bins = static_cast<uint32_t>(grid.bins());
  s.bin_runs.clear();
  const uint32_t longest = bins / (kClearRunsPerThread * s.pool.threads()) + 1;
  for (uint32_t bin = 0; bin < bins; bin++) {
    const bool goes_on = bin % grid.columns && !drawn(run, bin) && !drawn(run, bin - 1) && s.bin_runs.back().columns < longest;
    if (goes_on)
      s.bin_runs.back().columns++;
    else
      s.bin_runs.push_back({bin, 1});
  }
  s.pool.run(static_cast<uint32_t>(s.bin_runs.size()), [&](uint32_t w, uint32_t i) {
    const auto [bin, columns] = s.bin_runs[i];
    if (columns == 1) return render_bin(run, part, bin, s.tile_workers[w], nullptr);
    if (run.cancelled.load(std::memory_order_relaxed)) return;
    tile_io::TileRegion region = region_of(run, bin);
    if (!renders(run, region.layer)) return;
    region.columns = columns;
    region.has_primitives = false;
    tile::TileWorker& worker = s.tile_workers[w];
    tile_io::store_tile(run.pass.framebuffer, run.context.tile, region, worker.memory(), worker.ledger(), part);
  });
}

// All bins, in whatever order.
void render_bins(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  s.pool.run(static_cast<uint32_t>(s.binned.grid.bins()),
             [&](uint32_t w, uint32_t bin) { render_bin(run, part, bin, s.tile_workers[w], nullptr); });
}

// A bin of a pass that is traced, by the worker that notes, or timed. `moved`: see render_bin.
void render_traced(PassRun& run, framebuffer::Part part, uint32_t bin, uint32_t w, TileTrace* moved) {
  assert(run.trace);
  PassExecutor::State& s = run.kept;
  tile::trace::State& trace = *run.trace;
  if (run.timed) {
    const double begin_ms = now_ms();
    render_bin(run, part, bin, s.tile_workers[w], nullptr);
    trace.result.tile_ms[bin % s.binned.grid.bins_of_layer()].ms += now_ms() - begin_ms;
    return;
  }
  const tile_io::TileRegion region = region_of(run, bin);
  if (trace.maps || !run.dry || tile::trace::watches(trace, region.layer, region.x_px, region.y_px))
    render_bin(run, part, bin, run.traced_workers[w], moved);
}

// The same where something is noted of each bin. Layer by layer: maps are sums over layers.
void render_noted(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  const uint32_t bins = s.binned.grid.bins_of_layer();
  for (uint32_t layer = 0; layer < s.binned.grid.layers; layer++) {
    if (!renders(run, layer)) continue;
    std::vector<TileTrace>& noted = run.out.tile_trace;
    const size_t first = noted.size();
    if (run.pass.info.trace_tiles) noted.resize(first + bins);
    s.pool.run(bins, [&](uint32_t w, uint32_t in_layer) {
      TileTrace* const moved = run.pass.info.trace_tiles ? &noted[first + in_layer] : nullptr;
      const uint32_t bin = layer * bins + in_layer;
      if (run.trace)
        render_traced(run, part, bin, w, moved);
      else
        render_bin(run, part, bin, s.tile_workers[w], moved);
    });
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
