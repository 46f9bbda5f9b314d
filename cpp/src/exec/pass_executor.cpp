// exec/pass_executor.cpp -- stage: execution of a render pass. In: PassRecord. Out: images, PassStats, query sums.
//
// Two phases, each spread over all workers by chunk and by bin number. Nothing depends on who does what: chunks are cut by
// primitive count, bins are independent, and counters are sums. Source: architecture, "The way of the data".
#include "exec/pass_executor.hpp"

#include <chrono>
#include <cstring>
#include <deque>

#include "exec/pass_record.hpp"
#include "exec/thread_pool.hpp"
#include "geometry/census.hpp"

namespace tilegpu::exec {

struct PassExecutor::State {
  ThreadPool& pool;
  std::deque<geometry::GeometryWorker> geometry_workers;   // one for each thread
  std::deque<raster::TileWorker> tile_workers;
  std::vector<std::unique_ptr<geometry::Chunk>> chunks;   // arenas keep their capacity
  std::vector<const geometry::Chunk*> used_chunks;
  std::vector<exec::DrawCall> expanded_draws;             // only where a pass has indirect draws
  std::vector<geometry::PassCommand> commands;
  geometry::BinnedGeometry binned;
  geometry::VertexCensus census;
};

namespace {

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr const char* kAttachmentNames[stats::kLedgerAttachments] = {"color0", "color1", "color2", "color3", "color4", "color5", "color6", "color7", "depth", "stencil"};

// Reads one VkDraw(Indexed)IndirectCommand; what lies outside the buffer reads zero, that is: draws nothing.
DrawCall read_indirect(const IndirectDraw& indirect, uint32_t i) {
  DrawCall draw = indirect.base;
  uint32_t words[5] = {};
  const uint64_t at = indirect.offset_B + static_cast<uint64_t>(i) * indirect.stride_B;
  const uint64_t size = indirect.base.indexed ? 20 : 16;
  if (at + size <= indirect.buffer->size_B()) std::memcpy(words, indirect.buffer->data() + at, size);
  draw.count = words[0];
  draw.instance_count = words[1];
  draw.first = words[2];
  draw.vertex_offset = indirect.base.indexed ? static_cast<int32_t>(words[3]) : 0;
  draw.first_instance = words[indirect.base.indexed ? 4 : 3];
  draw.draw_index = i;
  return draw;
}

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
  sum.peak_arena_B += part.peak_arena_B;
}

void add_fragment_counters(PassStats& sum, const stats::FragmentCounters& part) {
  sum.fragments_rasterized += part.fragments_rasterized;
  sum.fragments_early_killed += part.fragments_early_killed;
  sum.fragments_shaded += part.fragments_shaded;
  sum.fragments_discarded += part.fragments_discarded;
  sum.fragments_late_killed += part.fragments_late_killed;
  sum.helper_lanes += part.helper_lanes;
  sum.idle_lanes += part.idle_lanes;
  sum.packets += part.packets;
  sum.samples_written += part.samples_written;
}

geometry::BinGrid bin_grid(const PassRecord& pass, uint32_t bin_px) {
  geometry::BinGrid grid;
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

}  // namespace

PassExecutor::PassExecutor(ThreadPool& pool) : state_(new State{pool, {}, {}, {}, {}, {}, {}, {}, {}}) {
  for (uint32_t i = 0; i < pool.threads(); i++) {
    state_->geometry_workers.emplace_back();
    state_->tile_workers.emplace_back();
  }
}
PassExecutor::~PassExecutor() = default;

Status PassExecutor::execute(PassRecord& pass, const PassOptions& options, const std::atomic<bool>& cancelled) {
  State& s = *state_;
  pass.stats = {};
  const double start_ms = now_ms();

  // Commands, with indirect draws read now: their buffers may have been written by earlier work.
  std::span<const DrawCall> draws = pass.draws;
  s.commands.clear();
  if (pass.indirects.empty()) {
    for (const RecordedCommand& c : pass.commands)
      s.commands.push_back(c.kind == RecordedCommand::Kind::clear ? geometry::PassCommand{0, &pass.clears[c.index]} : geometry::PassCommand{c.index, nullptr});
  } else {
    s.expanded_draws = pass.draws;
    for (const RecordedCommand& c : pass.commands) {
      if (c.kind == RecordedCommand::Kind::clear) s.commands.push_back({0, &pass.clears[c.index]});
      if (c.kind == RecordedCommand::Kind::draw) s.commands.push_back({c.index, nullptr});
      if (c.kind != RecordedCommand::Kind::indirect) continue;
      const IndirectDraw& indirect = pass.indirects[c.index];
      for (uint32_t i = 0; i < indirect.count; i++) {
        s.commands.push_back({static_cast<uint32_t>(s.expanded_draws.size()), nullptr});
        s.expanded_draws.push_back(read_indirect(indirect, i));
      }
    }
    draws = s.expanded_draws;
  }
  for (const geometry::PassCommand& c : s.commands) pass.stats.draws += c.clear == nullptr;

  // Geometry phase.
  raster::PassContext context;
  context.draws = draws;
  context.tile = framebuffer::make_host_tile(pass.framebuffer, options.forced_bin_px, options.l2_B);
  context.render_area = pass.render_area;
  context.samples = pass.samples;
  context.query_count = static_cast<uint32_t>(pass.queries.size());
  context.lanes = options.lanes;
  geometry::GeometryPass geometry_pass;
  geometry_pass.draws = draws;
  geometry_pass.commands = s.commands;
  geometry_pass.grid = bin_grid(pass, context.tile.bin_px);
  geometry_pass.render_area = pass.render_area;
  geometry_pass.samples = pass.samples;
  geometry_pass.vertex_batch = options.vertex_batch;
  s.census.begin(geometry_pass);
  geometry_pass.census = &s.census;
  const std::vector<geometry::ChunkPlan> plans = geometry::plan_chunks(geometry_pass);
  while (s.chunks.size() < plans.size()) s.chunks.push_back(std::make_unique<geometry::Chunk>());
  s.pool.run(static_cast<uint32_t>(plans.size()), [&](uint32_t worker, uint32_t i) {
    if (!cancelled.load(std::memory_order_relaxed)) s.geometry_workers[worker].process_chunk(geometry_pass, plans[i], *s.chunks[i]);
  });
  if (cancelled) return Error{VK_ERROR_DEVICE_LOST, "pass '" + pass.info.label + "' was cancelled before its tiles; its images are as they were"};
  s.used_chunks.clear();
  for (size_t i = 0; i < plans.size(); i++) {
    s.used_chunks.push_back(s.chunks[i].get());
    add_geometry_counters(pass.stats, s.chunks[i]->stats);
  }
  pass.stats.vertices_unique_requested = s.census.count(geometry_pass);
  geometry::gather_bins(geometry_pass, s.used_chunks, s.binned);
  const double middle_ms = now_ms();

  // Tile phase.
  framebuffer::prepare_signatures(pass.framebuffer);
  const geometry::BinGrid& grid = s.binned.grid;
  const uint32_t bins = grid.columns * grid.rows;
  context.geometry = &s.binned;
  for (raster::TileWorker& worker : s.tile_workers) worker.begin_pass(context);
  std::atomic<uint32_t> bins_with_primitives{0};
  for (uint32_t layer = 0; layer < std::max(1u, pass.info.layer_count); layer++) {
    context.layer = layer;
    s.pool.run(bins, [&](uint32_t w, uint32_t bin) {
      if (cancelled.load(std::memory_order_relaxed)) return;
      raster::TileWorker& worker = s.tile_workers[w];
      framebuffer::TileRegion region;
      region.x_px = grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px);
      region.y_px = grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px);
      region.layer = layer;
      // Without a layer output every primitive goes to layer 0; a clear of the attachment touches all layers.
      const bool drawn = s.binned.first_segment[bin] != s.binned.first_segment[bin + 1];
      region.has_primitives = drawn && layer == 0;
      if (framebuffer::tile_is_clean(pass.framebuffer, region)) {
        framebuffer::count_clean_tile(pass.framebuffer, context.tile, region, worker.ledger());
        return;
      }
      framebuffer::load_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger());
      if (region.has_primitives) {
        bins_with_primitives.fetch_add(1, std::memory_order_relaxed);
        worker.run(context, bin);
      }
      framebuffer::resolve_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger());
      framebuffer::store_tile(pass.framebuffer, context.tile, region, worker.memory(), worker.ledger());
    });
  }

  PassStats& stats = pass.stats;
  stats.bins = bins;
  stats.bins_with_primitives = bins_with_primitives;
  stats::Ledger total;
  for (raster::TileWorker& worker : s.tile_workers) {
    add_fragment_counters(stats, worker.counters());
    for (uint32_t a = 0; a < stats::kLedgerAttachments; a++)
      for (size_t cause = 0; cause < static_cast<size_t>(TrafficCause::count); cause++) total.bytes[a][cause] += worker.ledger().bytes[a][cause];
  }
  for (uint32_t a = 0; a < stats::kLedgerAttachments; a++) {
    const bool bound = a < 8 ? a < pass.info.color.size() && pass.info.color[a].view : a == stats::kLedgerDepth ? !!pass.info.depth.view : !!pass.info.stencil.view;
    if (!bound) continue;
    AttachmentTraffic& row = stats.traffic.emplace_back();
    row.attachment = kAttachmentNames[a];
    for (size_t cause = 0; cause < row.bytes.size(); cause++) row.bytes[cause] = total.bytes[a][cause];
  }
  for (const ActiveQuery& query : pass.queries) query.pool->values[query.query] = 0;
  for (size_t q = 0; q < pass.queries.size(); q++) {
    uint64_t samples = 0;
    for (raster::TileWorker& worker : s.tile_workers) samples += worker.query_samples(static_cast<uint32_t>(q));
    pass.queries[q].pool->values[pass.queries[q].query] += samples;
    pass.queries[q].pool->available[pass.queries[q].query] = true;
  }
  stats.geometry_ms = middle_ms - start_ms;
  stats.tiles_ms = now_ms() - middle_ms;
  if (cancelled) return Error{VK_ERROR_DEVICE_LOST, "pass '" + pass.info.label + "' was cancelled while its tiles were rendered; part of its images is new"};
  framebuffer::mark_contents(pass.framebuffer, pass.info.label);
  return Ok{};
}

}  // namespace tilegpu::exec
