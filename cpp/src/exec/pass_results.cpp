// exec/pass_results.cpp -- stage: execution of a render pass, what was found. In: the workers' counters, ledgers, traces and sums.
// Out: PassExecution, query pools, what the next pass on the same depth image may know.
#include <algorithm>
#include <bit>
#include <chrono>
#include <tuple>
#include <utility>

#include "exec/commands.hpp"
#include "exec/pass_run.hpp"
#include "exec/render_mode.hpp"

namespace tilegpu::exec {

namespace {

constexpr const char* kAttachmentNames[stats::kLedgerAttachments] = {"color0", "color1", "color2", "color3", "color4",
                                                                     "color5", "color6", "color7", "depth",  "stencil"};

void add_fragment_counters(PassStats& sum, const stats::FragmentCounters& part) {
  sum.fragments_rasterized += part.fragments_rasterized;
  sum.fragments_early_killed += part.fragments_early_killed;
  sum.fragments_shaded += part.fragments_shaded;
  sum.fragments_discarded += part.fragments_discarded;
  sum.fragments_late_killed += part.fragments_late_killed;
  sum.lrz_primitives_tested += part.lrz_primitives_tested;
  sum.lrz_primitives_rejected += part.lrz_primitives_rejected;
  sum.lrz_blocks_rejected += part.lrz_blocks_rejected;
  sum.lrz_feedback_texels += part.lrz_feedback_texels;
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
  sum.coarse_fragments += part.coarse_fragments;
  sum.coarse_pixels += part.coarse_pixels;
}

void fill_traffic(const command::Pass& pass, const stats::Ledger& total, PassStats& stats) {
  for (uint32_t a = 0; a < stats::kLedgerAttachments; a++) {
    if (!is_bound(pass, a)) continue;
    AttachmentTraffic& row = stats.traffic.emplace_back();
    row.attachment = kAttachmentNames[a];
    for (size_t cause = 0; cause < row.bytes.size(); cause++) row.bytes[cause] = total.bytes[a][cause];
  }
}

// Of the tile workers those that had a bin, and those that trace.
template <class Visit>
void for_each_worker(PassRun& run, Visit visit) {
  for (tile::TileWorker& worker : run.kept.tile_workers)
    if (worker.has_begun(run.number)) visit(worker);
  for (tile::TracedTileWorker& worker : run.traced_workers) visit(worker);
}

}  // namespace

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool is_bound(const command::Pass& pass, uint32_t attachment) {
  assert(attachment < stats::kLedgerAttachments);
  if (attachment < 8) return attachment < pass.info.color.size() && pass.info.color[attachment].view;
  return !!(attachment == stats::kLedgerDepth ? pass.info.depth.view : pass.info.stencil.view);
}

void finish_trace(PassRun& run) {
  assert(run.trace);
  tile::trace::Covers covers;
  for (const tile::TracedTileWorker& worker : run.traced_workers) worker.add_trace(*run.trace, covers);
  tile::trace::finish_pass(*run.trace, covers);
  if (run.texture_trace) {
    std::unordered_set<uint64_t> of_pass;
    std::vector<uint64_t> of_bins;
    for (const tile::TracedTileWorker& worker : run.traced_workers) worker.add_texels(of_pass, of_bins);
    run.trace->result.textures = tile::trace::texture_lines(of_pass, of_bins, run.texture_trace->images());
  }
  run.out.trace = std::move(run.trace->result);
}

void keep_contents(PassRun& run, bool done) {
  assert(!run.dry);
  const RenderingAttachment& depth = run.pass.info.depth;
  if (done) framebuffer::end_contents(run.pass.framebuffer, run.plan->written_targets, run.pass.info.label, run.signatures.get());
  const framebuffer::StoreTarget& store = run.pass.framebuffer.store.z;
  const bool stored = store.store && store.msaa == framebuffer::MsaaCopy::all && store.view == depth.view;
  if (run.hsr.low_resolution_z) {
    const bool renumbered = !run.plan->expanded.empty();
    run.kept.lrz_cache.end(run.lrz_info, run.kept.lrz, stored && done,
                           renumbered ? draw_numbers(*run.plan, run.context.draws.size()) : std::vector<uint32_t>());
    run.out.low_resolution_z = hsr::describe(run.kept.lrz);
    run.out.low_resolution_z->concurrent_binning_off = run.out.concurrent_binning_off;
  }
  run.kept.binned_before = {true, writes_memory(run.pass)};
  for (const Ptr<Buffer>& buffer : run.pass.written_buffers) resource::mark_written(*buffer, 0, buffer->size_B(), resource::Writer::shader);
  for (const Ptr<ImageView>& view : run.pass.written_views) resource::mark_level_written(*view, resource::Writer::shader);
}

static void add_row(DrawVertices& sum, const DrawVertices& part) {
  sum.indices += part.indices;
  sum.vertices_shaded += part.vertices_shaded, sum.vertices_position_shaded += part.vertices_position_shaded;
  sum.vertices_fetched_B += part.vertices_fetched_B, sum.indices_fetched_B += part.indices_fetched_B;
  sum.primitives_in += part.primitives_in, sum.primitives_out += part.primitives_out, sum.bin_entries += part.bin_entries;
  sum.vertices_in_batches += part.vertices_in_batches;
  sum.vertices_kept += part.vertices_kept, sum.vertices_kept_in_tiles += part.vertices_kept_in_tiles;
}

// What chunks and tiles counted of each draw, once a draw; and the sums.
static void sum_draw_vertices(PassRun& run) {
  PassStats& stats = run.out.stats;
  std::vector<DrawVertices> by_draw(run.context.draws.size());
  for (const DrawVertices& part : stats.draw_vertices) add_row(by_draw[part.draw], part);
  // What a draw sends to its other viewports is the draw's.
  for (size_t draw = 0; draw < by_draw.size(); draw++) {
    const command::DrawCall& call = run.context.draws[draw];
    for (uint32_t v = 1; call.viewport_draws && call.state->all && v < call.state->all->count; v++)
      add_row(by_draw[draw], std::exchange(by_draw[call.viewport_draws + v - 1], {}));
  }
  for_each_worker(run, [&](auto& worker) {
    const std::span<const tile::DeferredCensus::Counts> counts = worker.deferred_vertices();
    for (size_t draw = 0; draw < counts.size() && draw < by_draw.size(); draw++) {
      by_draw[draw].vertices_in_tiles += counts[draw].in_tiles;
      by_draw[draw].vertices_positioned_in_prepass += counts[draw].positioned;
      by_draw[draw].vertices_shaded_in_prepass += counts[draw].shaded;
      by_draw[draw].vertices_shaded_after_prepass += counts[draw].shaded_after;
    }
  });
  stats.draw_vertices.clear();
  for (size_t draw = 0; draw < by_draw.size(); draw++) {
    DrawVertices& sum = by_draw[draw];
    if (!sum.indices) continue;
    sum.draw = static_cast<uint32_t>(draw);
    stats.draw_vertices.push_back(sum);
    stats.vertices_in_tiles += sum.vertices_in_tiles;
    stats.vertices_positioned_in_prepass += sum.vertices_positioned_in_prepass;
    stats.vertices_shaded_in_prepass += sum.vertices_shaded_in_prepass;
    stats.vertices_fetched_B += sum.vertices_fetched_B, stats.indices_fetched_B += sum.indices_fetched_B;
  }
}

void sum_counters(PassRun& run) {
  PassExecutor::State& s = run.kept;
  PassStats& stats = run.out.stats;
  if (run.context.counts_draws) sum_draw_vertices(run);
  stats.vertices_unique_requested = s.census.count(share_census(s.pool));
  stats.bins = s.drawn_ever.size();
  stats.bins_with_primitives = static_cast<uint64_t>(std::count(s.drawn_ever.begin(), s.drawn_ever.end(), 1));
  stats::Ledger total;
  for_each_worker(run, [&](auto& worker) {
    add_fragment_counters(stats, worker.counters());
    worker.add_prepass_stops(stats);
    for (uint32_t a = 0; a < stats::kLedgerAttachments; a++) {
      if (!is_bound(run.pass, a)) continue;  // each row is lines of another core's cache
      for (size_t cause = 0; cause < static_cast<size_t>(TrafficCause::count); cause++)
        total.bytes[a][cause] += worker.ledger().bytes[a][cause];
    }
  });
  if (run.pass.framebuffer.layout.profile->tile_model == framebuffer::TileModel::immediate) {
    // Nothing is binned, loaded or stored there: what the host does so that this pass runs is its own business.
    stats.bins = stats.bins_with_primitives = stats.bin_entries = stats.tiler_heap_B = stats.peak_arena_B = stats.splits = 0;
    for (DrawVertices& draw : stats.draw_vertices) draw.bin_entries = draw.vertices_kept_in_tiles = 0;
    total = {};
  }
  fill_traffic(run.pass, total, stats);
}

void finish_render_mode(PassRun& run) {
  if (run.pass.framebuffer.layout.profile->tile_model != framebuffer::TileModel::gmem) return;
  constexpr size_t kMostPasses = 1024;  // whose samples are remembered
  PassStats& stats = run.out.stats;
  const uint64_t lost = stats.fragments_early_killed + stats.fragments_discarded + stats.fragments_late_killed +
                        stats.fragments_killed_by_prepass + stats.fragments_killed_by_fpk;
  const uint64_t passed = (stats.fragments_rasterized - std::min(lost, stats.fragments_rasterized)) * run.pass.samples;
  const RenderBandwidth bytes = render_bandwidth(run.pass, run.context.draws, passed);
  stats.gmem_bandwidth_B = bytes.gmem_B, stats.sysmem_bandwidth_B = bytes.sysmem_B;
  stats.rendered_in_sysmem = run.sysmem;
  if (run.sysmem) {
    // Nothing is binned, no tile is loaded or stored: what the host does so that this pass runs is its own business.
    stats.bins = stats.bins_with_primitives = stats.bin_entries = stats.tiler_heap_B = stats.peak_arena_B = stats.splits = 0;
    for (DrawVertices& draw : stats.draw_vertices) draw.bin_entries = draw.vertices_kept_in_tiles = 0;
    for (AttachmentTraffic& row : stats.traffic) row.bytes = {};
    for (TileTrace& tile : run.out.tile_trace) std::fill(tile.bytes.begin(), tile.bytes.end(), decltype(tile.bytes)::value_type{});
  }
  if (run.dry || run.options.render_mode != RenderMode::autotune) return;
  if (run.kept.samples_passed.size() >= kMostPasses) run.kept.samples_passed.clear();
  run.kept.samples_passed[render_key(run.pass)] = passed;
}

// Indirect draws stand behind the others in the execution's list; people count in the order of commands.
void number_draws(PassRun& run) {
  PassStats& stats = run.out.stats;
  if (!run.plan->expanded.empty()) {
    const std::vector<uint32_t> numbers = draw_numbers(*run.plan, run.context.draws.size());
    for (PrepassStop& stop : stats.prepass_stops) {
      if (stop.draw < numbers.size()) stop.draw = numbers[stop.draw];
      if (stop.because_of >= 0) stop.because_of = static_cast<int32_t>(numbers[static_cast<size_t>(stop.because_of)]);
    }
    for (DrawVertices& draw : stats.draw_vertices) draw.draw = numbers[draw.draw];
    for (hsr::LrzDecision& decision : run.out.lrz_decisions)
      if (decision.cause >= 0 && !decision.cause_before)
        decision.cause = static_cast<int32_t>(numbers[static_cast<size_t>(decision.cause)]);
  }
  std::stable_sort(stats.draw_vertices.begin(), stats.draw_vertices.end(),
                   [](const DrawVertices& a, const DrawVertices& b) { return a.draw < b.draw; });
  std::sort(stats.prepass_stops.begin(), stats.prepass_stops.end(), [](const PrepassStop& a, const PrepassStop& b) {
    return std::tie(a.draw, a.rule, a.because_of, a.reason) < std::tie(b.draw, b.rule, b.because_of, b.reason);
  });
}

// Results of one query's bits, in their order.
static void add_results(QueryPool& pool, uint32_t query, uint32_t stream, const records::StageCounts& counts, uint64_t fragments) {
  std::atomic<uint64_t>* to = pool.values.data() + size_t{query} * pool.results;
  if (pool.type == QueryType::primitives_generated) {
    *to += counts.generated[stream];
    return;
  }
  if (pool.type == QueryType::mesh_primitives_generated) {
    *to += counts.mesh_primitives;
    return;
  }
  if (pool.type == QueryType::transform_feedback_stream) {
    to[0] += counts.captured[stream], to[1] += counts.capturable[stream];
    return;
  }
  for (uint32_t left = pool.statistics; left; left &= left - 1) {
    switch (left & (~left + 1)) {
      case VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT:
        *to += counts.vertices;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT:
        *to += counts.primitives;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT:
        *to += counts.vertex_invocations;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_INVOCATIONS_BIT:
        *to += counts.geometry_invocations;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_BIT:
        *to += counts.geometry_primitives;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_CONTROL_SHADER_PATCHES_BIT:
        *to += counts.patches;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_EVALUATION_SHADER_INVOCATIONS_BIT:
        *to += counts.evaluation_invocations;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT:
        *to += counts.clipped_in;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT:
        *to += counts.clipped_in - counts.clipped_away;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT:
        *to += fragments;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_TASK_SHADER_INVOCATIONS_BIT_EXT:
        *to += counts.task_invocations;
        break;
      case VK_QUERY_PIPELINE_STATISTIC_MESH_SHADER_INVOCATIONS_BIT_EXT:
        *to += counts.mesh_invocations;
        break;
      default:
        break;
    }
    to++;
  }
}

void finish_counting(PassRun& run) {
  const uint32_t views = views_of(run.pass);
  for (const command::ActiveQuery& query : run.pass.counting)
    for (uint32_t v = 0; v < views && !query.outer; v++) reset_query(*query.pool, query.query + v);
  for (size_t slot = 0; slot < run.plan->counting.size(); slot++)
    for (uint32_t v = 0; v < views; v++) {
      const auto counted = static_cast<uint32_t>(slot * views + v + 1);
      uint64_t fragments = 0;
      for_each_worker(run, [&](auto& worker) { fragments += worker.counted_fragments(counted); });
      for (const uint32_t i : run.plan->counting[slot]) {
        const command::ActiveQuery& query = run.pass.counting[i];
        add_results(*query.pool, query.query + (query.outer ? 0 : v), query.stream, run.counts[counted], fragments);
      }
    }
  for (const command::ActiveQuery& query : run.pass.counting)
    for (uint32_t v = 0; v < views && !query.outer; v++) query.pool->available[query.query + v] = true;
}

void finish_depth_filter(PassRun& run) {
  if (!run.filter_position) return;
  hsr::FilterCounters sum;
  for_each_worker(run, [&](auto& worker) { sum.add(worker.filter_counters()); });
  run.out.stats.depth_filter = {
      run.filter_position->position, sum.front, sum.survived, sum.rejected, sum.failed, sum.reads_skipped, sum.lines};
  if (run.hsr.depth_filter_counters)
    run.filter_position->adapt_by_leading_ones(sum);
  else
    run.filter_position->adapt(sum);
}

uint32_t views_of(const command::Pass& pass) { return std::max(1u, static_cast<uint32_t>(std::popcount(pass.info.view_mask))); }

// A query that was begun in a pass with views has a result for each, in those that follow it; one around passes has one.
void finish_queries(PassRun& run) {
  const uint32_t views = views_of(run.pass);
  const auto results_of = [&](const command::ActiveQuery& query) { return query.outer ? 0 : views; };
  for (const command::ActiveQuery& query : run.pass.queries)
    for (uint32_t v = 0; v < results_of(query); v++)
      query.pool->available[query.query + v] = false, query.pool->values[query.query + v] = 0;
  for (size_t q = 0; q < run.pass.queries.size(); q++) {
    const command::ActiveQuery& query = run.pass.queries[q];
    for (uint32_t v = 0; v < views; v++) {
      const uint32_t to = query.query + (query.outer ? 0 : v);
      for_each_worker(run, [&](auto& worker) { query.pool->values[to] += worker.query_samples(static_cast<uint32_t>(q * views + v)); });
    }
    for (uint32_t v = 0; v < results_of(query); v++) query.pool->available[query.query + v] = true;
  }
}

}  // namespace tilegpu::exec
