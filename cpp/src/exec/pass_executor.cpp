// exec/pass_executor.cpp -- stage: execution of a render pass. In: PassRecord. Out: images, PassStats, query sums.
//
// Two phases, each spread over all workers by chunk and by bin number. Nothing depends on who does what: chunks are cut by
// primitive count, bins are independent, and counters are sums. When the chunks' records no longer fit the tiler's heap, what
// there is is rendered and spilled, and the pass goes on from there (incremental rendering): the heap is counted in primitive
// order, chunk by chunk, so that the splits are the same for any number of threads.
// Source: docs/architecture.md, "The way of the data"; docs/decisions.md, 27.
#include "exec/pass_executor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <tuple>

#include "base/host_memory.hpp"
#include "base/wide.hpp"
#include "exec/depth_filter_positions.hpp"
#include "exec/pass_plan.hpp"
#include "exec/pass_record.hpp"
#include "exec/thread_pool.hpp"
#include "geometry/census.hpp"
#include "hsr/lrz_pass.hpp"
#include "hsr/vertex_deferral.hpp"
#include "tile/fragment_trace.hpp"
#include "tile/lrz_test.hpp"

namespace tilegpu::exec {

struct PassExecutor::State {
  ThreadPool& pool;
  std::deque<geometry::GeometryWorker> geometry_workers;  // one for each thread
  std::deque<tile::TileWorker> tile_workers;
  std::deque<tile::TracedTileWorker> traced_workers;  // while a pass is traced
  std::unique_ptr<tile::trace::State> trace;          // of that pass
  bool dry = false, timed = false;
  std::vector<std::unique_ptr<records::Chunk>> chunks;  // arenas keep their capacity
  std::vector<const records::Chunk*> used_chunks;       // of the part that is being gathered, in order
  records::BinnedGeometry binned;
  std::vector<uint8_t> bin_drawn;  // by any part
  struct BinRun {
    uint32_t first, columns;
  };
  std::vector<BinRun> bin_runs;  // of a layer
  geometry::VertexCensus census;
  FilterPositions filter_positions;
  hsr::LrzCache lrz_cache;
  hsr::LrzPass lrz;
  const char* phase = "";  // for the message when memory runs out

  explicit State(ThreadPool& p) : pool(p) {}
  /// Gives everything back; takes no memory itself.
  void release() {
    geometry_workers.clear(), tile_workers.clear(), chunks.clear(), used_chunks.clear();
    binned = records::BinnedGeometry();
    bin_drawn.clear();
    census = geometry::VertexCensus();
    filter_positions = FilterPositions();
    lrz_cache = hsr::LrzCache();
    lrz = hsr::LrzPass();
  }
};

namespace {

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr const char* kAttachmentNames[stats::kLedgerAttachments] = {"color0", "color1", "color2", "color3", "color4",
                                                                     "color5", "color6", "color7", "depth",  "stencil"};

void add_geometry_counters(PassStats& sum, const PassStats& part) {
  sum.indices += part.indices;
  sum.vertices_shaded += part.vertices_shaded;
  sum.vertex_batches += part.vertex_batches;
  sum.primitives_in += part.primitives_in;
  sum.primitives_culled += part.primitives_culled;
  sum.primitives_clipped += part.primitives_clipped;
  sum.primitives_out += part.primitives_out;
  sum.bin_entries += part.bin_entries;
  sum.tiler_heap_B += part.tiler_heap_B;
  sum.vertices_position_shaded += part.vertices_position_shaded;
  sum.primitives_deferred += part.primitives_deferred;
  sum.varyings_deferred_B += part.varyings_deferred_B;
}

void add_fragment_counters(PassStats& sum, const stats::FragmentCounters& part) {
  sum.fragments_rasterized += part.fragments_rasterized;
  sum.fragments_early_killed += part.fragments_early_killed;
  sum.fragments_shaded += part.fragments_shaded;
  sum.fragments_discarded += part.fragments_discarded;
  sum.fragments_late_killed += part.fragments_late_killed;
  sum.lrz_primitives_tested += part.lrz_primitives_tested;
  sum.lrz_primitives_rejected += part.lrz_primitives_rejected;
  sum.lrz_blocks_rejected += part.lrz_blocks_rejected;
  sum.helper_lanes += part.helper_lanes;
  sum.idle_lanes += part.idle_lanes;
  sum.packets += part.packets;
  sum.samples_written += part.samples_written;
  sum.primitives_culled_by_prepass += part.primitives_culled_by_prepass;
  sum.fragments_killed_by_prepass += part.fragments_killed_by_prepass;
  sum.fragments_killed_by_fpk += part.fragments_killed_by_fpk;
  sum.fragments_killed_by_hierarchical_z += part.fragments_killed_by_hierarchical_z;
  sum.sliced_invocations += part.sliced_invocations;
  sum.vertices_shaded_in_tiles += part.vertices_shaded_in_tiles;
}

records::BinGrid bin_grid(const PassRecord& pass, uint32_t bin_px) {
  records::BinGrid grid;
  grid.bin_px = bin_px;
  const int32_t side = static_cast<int32_t>(bin_px);
  // Over the tiling area: it contains the render area, and only its bins are loaded and stored.
  const auto& area = pass.framebuffer.layout.tiling_area_px;
  grid.origin_x_px = area.min_x / side * side;
  grid.origin_y_px = area.min_y / side * side;
  grid.columns = (area.max_x - grid.origin_x_px) / bin_px + 1;
  grid.rows = (area.max_y - grid.origin_y_px) / bin_px + 1;
  return grid;
}

/// Which attachments have a row in PassStats::traffic.
bool is_bound(const PassRecord& pass, uint32_t attachment) {
  if (attachment < 8) return attachment < pass.info.color.size() && pass.info.color[attachment].view;
  return !!(attachment == stats::kLedgerDepth ? pass.info.depth.view : pass.info.stencil.view);
}

void fill_traffic(const PassRecord& pass, const stats::Ledger& total, PassStats& stats) {
  for (uint32_t a = 0; a < stats::kLedgerAttachments; a++) {
    if (!is_bound(pass, a)) continue;
    AttachmentTraffic& row = stats.traffic.emplace_back();
    row.attachment = kAttachmentNames[a];
    for (size_t cause = 0; cause < row.bytes.size(); cause++) row.bytes[cause] = total.bytes[a][cause];
  }
}

/// What a bin added to its worker's ledger.
TileTrace trace_of(const PassRecord& pass, const tile_io::TileRegion& region, uint32_t bin_px, framebuffer::Part part,
                   const stats::Ledger& before, const stats::Ledger& after) {
  TileTrace trace{region.x_px, region.y_px, bin_px, region.layer, static_cast<uint32_t>(part), region.has_primitives, {}};
  for (uint32_t a = 0; a < stats::kLedgerAttachments; a++) {
    if (!is_bound(pass, a)) continue;
    auto& bytes = trace.bytes.emplace_back();
    for (size_t cause = 0; cause < bytes.size(); cause++) bytes[cause] = after.bytes[a][cause] - before.bytes[a][cause];
  }
  return trace;
}

// Profiles without low-resolution Z get the newest when it is asked for.
uint32_t lrz_generation_of(const framebuffer::Profile& profile) {
  return profile.lrz_generation ? profile.lrz_generation : hsr::kLrzBidirectional;
}

// At most this many chunks are in memory beyond the heap: the bound of the geometry phase's memory.
constexpr uint32_t kWaveChunks = 64;
// Chunks shrink with the heap, so that a small one is split where it is full and not 4096 primitives later.
constexpr uint64_t kHeapPerPrimitive_B = 1024;
// With this heap a wave of the largest chunks is still less than half of it.
constexpr uint64_t kHeapOfLargeChunks_B = uint64_t{256} << 20;

// Runs of bins that only get their clear value are cut so that threads end together: half a run waits on average.
constexpr uint32_t kClearRunsPerThread = 8;

}  // namespace

PassExecutor::PassExecutor(ThreadPool& pool) : state_(new State{pool}) {}
PassExecutor::~PassExecutor() = default;

// The tile phase of one part of the pass: all bins, from load to store.
void PassExecutor::render_part(PassRecord& pass, tile::PassContext& context, framebuffer::Part part, const std::atomic<bool>& cancelled) {
  State& s = *state_;
  const records::BinGrid& grid = s.binned.grid;
  const uint32_t bins = grid.columns * grid.rows;
  context.geometry = &s.binned;
  if (s.trace) s.trace->keeps_bins = part == framebuffer::Part::first || part == framebuffer::Part::middle;
  if (part == framebuffer::Part::middle || part == framebuffer::Part::last) context.depth_holds_far = false;
  const tile_io::DeferredDepth deferred = tile_io::defers_depth(pass.framebuffer, context.tile, part);
  const bool keeps_blocks =
      context.compress_samples && context.hsr.visibility_buffer && !context.hsr.pre_pass && !context.filter_planes.count;
  context.block_lists = keeps_blocks && deferred.possible && context.samples > 1;
  context.block_covers = keeps_blocks && context.hsr.hierarchical_z && context.samples == 1 && context.tile.depth.words;
  context.depth_known = deferred.possible;
  context.depth_background = deferred.background;
  context.keeps_depth = deferred.kept || context.lrz;
  context.averaged_colors = tile_io::averaged_colors(pass.framebuffer, context.tile, part);
  for (uint32_t layer = 0; layer < std::max(1u, pass.info.layer_count); layer++) {
    context.layer = layer;
    const size_t first_trace = pass.tile_trace.size();
    if (pass.info.trace_tiles) pass.tile_trace.resize(first_trace + bins);
    const auto render_bin = [&](auto& worker, uint32_t bin) {
      if (cancelled.load(std::memory_order_relaxed)) return;
      tile_io::TileRegion region;
      region.x_px = grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px);
      region.y_px = grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px);
      region.layer = layer;
      // Without a layer output every primitive goes to layer 0; clears inside the pass reach all layers.
      const bool drawn = s.binned.first_segment[bin] != s.binned.first_segment[bin + 1];
      const bool only_clears = layer > 0 && drawn && !pass.clears.empty();
      region.has_primitives = (drawn && layer == 0) || only_clears;
      std::optional<stats::Ledger> before;
      if (pass.info.trace_tiles) before = worker.ledger();
      const auto keep_trace = [&] {
        if (before) pass.tile_trace[first_trace + bin] = trace_of(pass, region, grid.bin_px, part, *before, worker.ledger());
      };
      if (!s.dry && tile_io::tile_is_clean(pass.framebuffer, region, part)) {
        tile_io::count_clean_tile(pass.framebuffer, context.tile, region, worker.ledger(), part);
        keep_trace();
        return;
      }
      region.clears_depth = !(context.block_lists && region.has_primitives && !only_clears);
      tile_io::load_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
      if (only_clears) {
        for (uint32_t i = s.binned.first_segment[bin]; i < s.binned.first_segment[bin + 1]; i++)
          if (const ClearCall* clear = s.binned.segments[i].chunk->clear)
            tile_io::clear_in_tile(context.tile, region, clear->attachment, clear->aspects, clear->value, clear->rect, worker.memory());
      } else if (region.has_primitives) {
        s.bin_drawn[bin] = 1;
        worker.run(context, bin);
      }
      if (s.dry) return;
      if (framebuffer::resolves_in(part) && context.lrz && layer == 0 && region.has_primitives)
        tile::lrz_feedback(*context.lrz, context.tile, worker.memory(), region.x_px, region.y_px);
      if (framebuffer::resolves_in(part))
        tile_io::resolve_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
      tile_io::store_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
      keep_trace();
    };
    if (!s.trace && !pass.info.trace_tiles && tile_io::stores_clear_values(pass.framebuffer, context.tile, part)) {
      // Bins side by side that only get their clear value are filled by whole rows of pixels.
      const auto drawn = [&](uint32_t bin) { return s.binned.first_segment[bin] != s.binned.first_segment[bin + 1]; };
      s.bin_runs.clear();
      const uint32_t longest = bins / (kClearRunsPerThread * s.pool.threads()) + 1;
      for (uint32_t bin = 0; bin < bins; bin++) {
        const bool goes_on = bin % grid.columns && !drawn(bin) && !drawn(bin - 1) && s.bin_runs.back().columns < longest;
        if (goes_on)
          s.bin_runs.back().columns++;
        else
          s.bin_runs.push_back({bin, 1});
      }
      s.pool.run(static_cast<uint32_t>(s.bin_runs.size()), [&](uint32_t w, uint32_t run) {
        const auto [bin, columns] = s.bin_runs[run];
        if (columns == 1) return render_bin(s.tile_workers[w], bin);
        if (cancelled.load(std::memory_order_relaxed)) return;
        tile_io::TileRegion region;
        region.x_px = grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px);
        region.y_px = grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px);
        region.layer = layer;
        region.columns = columns;
        region.has_primitives = false;
        tile::TileWorker& worker = s.tile_workers[w];
        tile_io::store_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger(), part);
      });
      continue;
    }
    s.pool.run(bins, [&](uint32_t w, uint32_t bin) {
      if (!s.trace) {
        render_bin(s.tile_workers[w], bin);
      } else if (s.timed) {
        const double begin_ms = now_ms();
        render_bin(s.tile_workers[w], bin);
        s.trace->result.tile_ms[bin].ms += now_ms() - begin_ms;
      } else if (s.trace->maps || !s.dry ||
                 tile::trace::watches(*s.trace, grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px),
                                      grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px))) {
        render_bin(s.traced_workers[w], bin);
      }
    });
  }
}

Status PassExecutor::execute(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled) {
  try {
    if (!pass.trace_request) return run(pass, options, cancelled);
    return run_traced(pass, options, cancelled);
  } catch (const std::bad_alloc& refused) {
    // Half-written arenas mean nothing, and what they hold may be all there was.
    state_->release();
    pass.plan = {};
    pass.stats = {};
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 "pass '" + pass.info.label + "': the system refused " + refused_text(refused, state_->phase) +
                     "; the pass is not done, and its images are as they were, but for tiles that were finished before; draw fewer "
                     "primitives in one pass, use smaller images, or give the process more memory"};
  }
}

// What the traced workers found, in the pass's trace.
void PassExecutor::finish_trace() {
  State& s = *state_;
  tile::trace::Covers covers;
  for (const tile::TracedTileWorker& worker : s.traced_workers) worker.add_trace(*s.trace, covers);
  tile::trace::finish_pass(*s.trace, covers);
}

void PassExecutor::make_workers() {
  State& s = *state_;
  while (s.geometry_workers.size() < s.pool.threads()) s.geometry_workers.emplace_back();
  while (s.tile_workers.size() < s.pool.threads()) s.tile_workers.emplace_back();
}

Status PassExecutor::run_traced(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled) {
  State& s = *state_;
  s.trace = std::make_unique<tile::trace::State>();
  s.dry = pass.trace_request->dry;
  s.timed = pass.trace_request->timed;
  // A dry run is the last one again: the filter stands where it stood, and afterwards everything is as it was.
  struct Before {
    PassStats stats;
    std::vector<TileTrace> tiles;
    std::vector<hsr::LrzDecision> decisions;
    std::optional<HiddenSurfaceRemoval> hsr;
    hsr::LrzCache lrz_cache;
    FilterPositions positions;
  } before;
  const auto exchange = [&] {
    if (!s.dry) return;
    std::swap(before.stats, pass.stats);
    std::swap(before.tiles, pass.tile_trace);
    std::swap(before.decisions, pass.lrz_decisions);
    std::swap(before.hsr, pass.info.hsr);
    std::swap(before.lrz_cache, s.lrz_cache);
    std::swap(before.positions, s.filter_positions);
  };
  before.hsr = pass.info.hsr.value_or(options.hsr);
  if (pass.stats.depth_filter.position) before.hsr->depth_filter_position = pass.stats.depth_filter.position;
  exchange();
  const auto end = [&] {
    exchange();
    if (s.dry) pass.trace_request.reset();
    s.trace.reset();
    s.traced_workers.clear();
    s.dry = s.timed = false;
  };
  try {
    Status done = run(pass, options, cancelled);
    if (done) pass.trace = std::move(s.trace->result);
    end();
    return done;
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
}

Status PassExecutor::run(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled) {
  State& s = *state_;
  s.phase = "setting a pass up";
  make_workers();
  pass.stats = {};
  pass.tile_trace.clear();
  PassStats& stats = pass.stats;
  const double start_ms = now_ms();
  std::erase_if(pass.quick_code, [](const auto& code) {
    const bool last = code.second->last.load(std::memory_order_acquire);
    *code.first = code.second->address.load(std::memory_order_acquire);
    return last;
  });
  const std::span<const DrawCall> draws = plan_draws(pass);
  const std::span<const command::PassCommand> commands = pass.plan.commands;
  stats.draws = pass.plan.draw_count;

  tile::PassContext context;
  context.draws = draws;
  context.tile = tile_io::make_host_tile(pass.framebuffer, options.forced_bin_px, options.l2_B, options.compress_samples);
  context.render_area = pass.render_area;
  context.samples = pass.samples;
  context.query_count = static_cast<uint32_t>(pass.queries.size());
  context.lanes = options.lanes;
  context.tile.wide = wide_vectors(options.lanes);
  context.fpk_quads = options.fpk_quads;
  context.hsr = pass.info.hsr.value_or(options.hsr);
  hsr::FilterPosition* filter_position = begin_depth_filter(pass, s.filter_positions, context);
  context.compress_samples = options.compress_samples;
  hsr::LrzPassInfo lrz_info;
  const uint32_t lrz_generation = context.hsr.low_resolution_z ? lrz_generation_of(*pass.framebuffer.layout.profile) : 0;
  if (lrz_generation) {
    lrz_info = {lrz_generation,
                &pass.info,
                context.tile.depth.words ? context.tile.depth_format : VK_FORMAT_UNDEFINED,
                context.tile.stencil.words != 0,
                pass.samples,
                pass.width_px,
                pass.height_px,
                pass.render_area};
    s.lrz_cache.begin(lrz_info, commands, draws, s.lrz);
    if (s.lrz.view) context.lrz = &s.lrz;
    pass.lrz_decisions = s.lrz.decisions;
  } else {
    pass.lrz_decisions.clear();
  }
  pass.vertex_deferral.clear();
  if (context.hsr.deferred_vertex_shading) hsr::decide_deferral(draws, pass.info, pass.vertex_deferral);
  context.deferral = pass.vertex_deferral;
  const uint64_t heap_B = options.tiler_heap_B ? options.tiler_heap_B : pass.framebuffer.desc.tiler_heap_B;
  geometry::GeometryPass geometry_pass;
  geometry_pass.draws = draws;
  geometry_pass.commands = commands;
  geometry_pass.grid = bin_grid(pass, context.tile.bin_px);
  geometry_pass.render_area = pass.render_area;
  geometry_pass.samples = pass.samples;
  geometry_pass.vertex_batch = options.vertex_batch ? options.vertex_batch : shader::kBatchStride;
  geometry_pass.vertex_ranges = options.vertex_batch == 0;
  geometry_pass.wide = wide_vectors(options.lanes);
  const uint64_t most_primitives = heap_B < kHeapOfLargeChunks_B ? geometry::kChunkPrimitives : pass.plan.chunk_primitives;
  geometry_pass.chunk_primitives = static_cast<uint32_t>(std::clamp<uint64_t>(heap_B / kHeapPerPrimitive_B, 1, most_primitives));
  geometry_pass.lrz = context.lrz;
  geometry_pass.deferral = context.deferral;
  geometry_pass.deferred_triangle_px2 = options.deferred_triangle_px2;
  if (s.trace) {
    tile::trace::begin_pass(*s.trace, *pass.trace_request, pass.width_px, pass.height_px, geometry_pass.grid,
                            draw_numbers(commands, draws.size()));
    geometry_pass.traced = !s.timed;
    context.trace = s.trace.get();
    while (!s.timed && s.traced_workers.size() < s.pool.threads()) s.traced_workers.emplace_back();
  }
  const geometry::ChunkPlans& plans = plan_geometry(pass.plan, geometry_pass);
  s.census.begin(pass.plan.census);
  geometry_pass.census = &s.census;
  for (tile::TileWorker& worker : s.tile_workers) worker.begin_pass(context);
  for (tile::TracedTileWorker& worker : s.traced_workers) worker.begin_pass(context);
  if (!s.dry) tile_io::prepare_signatures(pass.framebuffer);
  s.bin_drawn.assign(size_t{geometry_pass.grid.columns} * geometry_pass.grid.rows, 0);

  // Waves of chunks; a part is rendered whenever the next chunk would not fit the heap.
  s.phase = "the geometry phase";
  uint64_t used_B = 0;
  double tiles_ms = 0;
  s.used_chunks.clear();
  const auto flush = [&](framebuffer::Part part) {
    geometry::gather_bins(geometry_pass, s.used_chunks, s.binned);
    const double before_ms = now_ms();
    s.phase = "the tile phase";
    render_part(pass, context, part, cancelled);
    tiles_ms += now_ms() - before_ms;
    s.phase = "the geometry phase";
  };
  for (size_t done = 0; done < plans.size();) {
    const size_t held = s.used_chunks.size();
    const uint32_t wave = static_cast<uint32_t>(std::min<size_t>(kWaveChunks, plans.size() - done));
    while (s.chunks.size() < held + wave) s.chunks.push_back(std::make_unique<records::Chunk>());
    const auto next_of = [&](size_t i) { return i + 1 < plans.size() ? &plans[i + 1] : nullptr; };
    s.pool.run(wave, [&](uint32_t worker, uint32_t i) {
      if (!cancelled.load(std::memory_order_relaxed))
        s.geometry_workers[worker].process_chunk(geometry_pass, plans[done + i], *s.chunks[held + i], next_of(done + i));
    });
    if (cancelled) break;
    uint64_t in_memory_B = used_B;
    for (uint32_t i = 0; i < wave; i++) in_memory_B += s.chunks[held + i]->stats.tiler_heap_B;
    stats.peak_arena_B = std::max(stats.peak_arena_B, in_memory_B);
    for (uint32_t i = 0; i < wave; i++) {
      const records::Chunk* chunk = s.chunks[held + i].get();
      add_geometry_counters(stats, chunk->stats);
      if (!s.used_chunks.empty() && used_B + chunk->stats.tiler_heap_B > heap_B) {
        if (stats.splits == 0)
          if (Status ok = framebuffer::ensure_spill_memory(pass.framebuffer); !ok) return ok;
        flush(stats.splits == 0 ? framebuffer::Part::first : framebuffer::Part::middle);
        stats.splits++;
        s.used_chunks.clear();
        used_B = 0;
      }
      s.used_chunks.push_back(chunk);
      used_B += chunk->stats.tiler_heap_B;
    }
    done += wave;
    // What was rendered gives its arenas to the next wave: chunks still in use move to the front.
    for (size_t i = 0; i < s.used_chunks.size(); i++) {
      size_t at = i;
      while (s.chunks[at].get() != s.used_chunks[i]) at++;
      std::swap(s.chunks[i], s.chunks[at]);
    }
  }
  if (!cancelled) flush(stats.splits ? framebuffer::Part::last : framebuffer::Part::normal);
  if (s.dry) {
    if (cancelled) return Error{VK_ERROR_DEVICE_LOST, "pass '" + pass.info.label + "' was cancelled while it was traced"};
    finish_trace();
    return Ok{};
  }
  const auto written = [](const Ptr<ImageView>& view) {
    if (view) view->image()->content_version++;
  };
  const framebuffer::StoreTarget& depth_store = pass.framebuffer.store.z;
  const bool stores_depth = depth_store.store && depth_store.msaa == framebuffer::MsaaCopy::all && depth_store.view == pass.info.depth.view;
  written(pass.info.depth.view);
  written(pass.info.depth.resolve_view);
  if (lrz_generation) s.lrz_cache.end(lrz_info, s.lrz, stores_depth && !cancelled);
  if (cancelled)
    return Error{VK_ERROR_DEVICE_LOST,
                 "pass '" + pass.info.label + "' was cancelled; its images are as they were, but for tiles that were finished before"};

  stats.vertices_unique_requested = s.census.count();
  stats.bins = s.bin_drawn.size();
  stats.bins_with_primitives = static_cast<uint64_t>(std::count(s.bin_drawn.begin(), s.bin_drawn.end(), 1));
  stats::Ledger total;
  const auto add = [&](auto& worker) {
    add_fragment_counters(stats, worker.counters());
    worker.add_prepass_stops(stats);
    for (uint32_t a = 0; a < stats::kLedgerAttachments; a++)
      for (size_t cause = 0; cause < static_cast<size_t>(TrafficCause::count); cause++)
        total.bytes[a][cause] += worker.ledger().bytes[a][cause];
  };
  for (tile::TileWorker& worker : s.tile_workers) add(worker);
  for (tile::TracedTileWorker& worker : s.traced_workers) add(worker);
  if (s.trace) finish_trace();
  fill_traffic(pass, total, stats);
  if (!pass.indirects.empty()) {
    const std::vector<uint32_t> numbers = draw_numbers(commands, draws.size());
    for (PrepassStop& stop : stats.prepass_stops) {
      if (stop.draw < numbers.size()) stop.draw = numbers[stop.draw];
      if (stop.because_of >= 0) stop.because_of = static_cast<int32_t>(numbers[static_cast<size_t>(stop.because_of)]);
    }
    for (hsr::LrzDecision& decision : pass.lrz_decisions)
      if (decision.cause >= 0) decision.cause = static_cast<int32_t>(numbers[static_cast<size_t>(decision.cause)]);
  }
  std::sort(stats.prepass_stops.begin(), stats.prepass_stops.end(), [](const PrepassStop& a, const PrepassStop& b) {
    return std::tie(a.draw, a.rule, a.because_of, a.reason) < std::tie(b.draw, b.rule, b.because_of, b.reason);
  });
  if (filter_position) {
    hsr::FilterCounters filtered;
    for (tile::TileWorker& worker : s.tile_workers) filtered.add(worker.filter_counters());
    for (tile::TracedTileWorker& worker : s.traced_workers) filtered.add(worker.filter_counters());
    stats.depth_filter = {filter_position->position, filtered.front,         filtered.survived, filtered.rejected,
                          filtered.failed,           filtered.reads_skipped, filtered.lines};
    filter_position->adapt(filtered);
  }
  for (const ActiveQuery& query : pass.queries) query.pool->values[query.query] = 0;
  for (size_t q = 0; q < pass.queries.size(); q++) {
    for (tile::TracedTileWorker& worker : s.traced_workers)
      pass.queries[q].pool->values[pass.queries[q].query] += worker.query_samples(static_cast<uint32_t>(q));
    for (tile::TileWorker& worker : s.tile_workers)
      pass.queries[q].pool->values[pass.queries[q].query] += worker.query_samples(static_cast<uint32_t>(q));
    pass.queries[q].pool->available[pass.queries[q].query] = true;
  }
  stats.tiles_ms = tiles_ms;
  stats.geometry_ms = now_ms() - start_ms - tiles_ms;
  framebuffer::mark_contents(pass.framebuffer, pass.plan.written_targets, pass.info.label);
  return Ok{};
}

}  // namespace tilegpu::exec
