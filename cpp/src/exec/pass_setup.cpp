// exec/pass_setup.cpp -- stage: execution of a render pass, everything before the first chunk. In: the recorded pass, the device's
// options. Out: in the PassRun the plan, the tile phase's context and the geometry phase's.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>

#include "base/simd.hpp"
#include "exec/pass_run.hpp"
#include "exec/render_mode.hpp"

namespace tilegpu::exec {

namespace {

/// Tests make chunks smaller than any that comes of a pass by itself.
uint64_t most_chunk_B() {
  static const uint64_t most_B = [] {
    const char* const text = std::getenv("TILEGPU_CHUNK_KB");
    const unsigned long given_KB = text ? std::strtoul(text, nullptr, 10) : 0;
    return given_KB ? std::min(uint64_t{given_KB} << 10, geometry::kMostChunk_B) : geometry::kMostChunk_B;
  }();
  return most_B;
}

records::BinGrid bin_grid(const command::Pass& pass, const tile_io::HostTile& tile) {
  records::BinGrid grid;
  grid.width_px = tile.width_px, grid.height_px = tile.height_px;
  const framebuffer::Layout& layout = pass.framebuffer.layout;
  if (framebuffer::has_tiles(*layout.profile))
    grid.tile_across = layout.tile_width_px / grid.width_px, grid.tile_down = layout.tile_height_px / grid.height_px;
  const auto width = static_cast<int32_t>(grid.width_px * grid.tile_across), height = static_cast<int32_t>(grid.height_px * grid.tile_down);
  assert(width > 0 && height > 0);
  // Over the tiling area: it contains the render area, and only its bins are loaded and stored.
  const auto& area = layout.tiling_area_px;
  grid.origin_x_px = area.min_x / width * width;
  grid.origin_y_px = area.min_y / height * height;
  assert(area.min_x >= 0 && area.min_y >= 0 && area.max_x >= area.min_x && area.max_y >= area.min_y);
  grid.columns = static_cast<uint32_t>(area.max_x - grid.origin_x_px) / grid.width_px + 1;
  grid.rows = static_cast<uint32_t>(area.max_y - grid.origin_y_px) / grid.height_px + 1;
  grid.layers = std::max(1u, pass.info.layer_count);
  return grid;
}

// Read while tiles are drawn: what commands before the pass wrote is there.
tile::ShadingRateTexels shading_rate_texels(const ShadingRateAttachment& attachment) {
  tile::ShadingRateTexels texels;
  if (!attachment.view) return texels;
  const ImageViewCreateInfo& view = attachment.view->info();
  const SubresourceLayout layout = view.image->layout(VK_IMAGE_ASPECT_COLOR_BIT, view.base_level, view.base_layer);
  assert(view.image->data() && layout.texel_B == 1 && view.image->info().tiling == ImageTiling::linear);
  texels.data = view.image->data() + layout.offset_B;
  texels.row_pitch_B = layout.row_pitch_B, texels.layer_pitch_B = layout.size_B;
  texels.width = layout.width_px, texels.height = layout.height_px, texels.layers = view.layer_count;
  assert(std::has_single_bit(attachment.texel_size.width) && std::has_single_bit(attachment.texel_size.height));
  texels.log2_x = static_cast<uint32_t>(std::countr_zero(attachment.texel_size.width));
  texels.log2_y = static_cast<uint32_t>(std::countr_zero(attachment.texel_size.height));
  return texels;
}

// Profiles without low-resolution Z get the newest when it is asked for.
uint32_t lrz_generation_of(const framebuffer::Profile& profile) {
  return profile.lrz_generation ? profile.lrz_generation : hsr::kLrzBidirectional;
}

// Chunks shrink with the heap, so that a small one is split where it is full and not 4096 primitives later.
constexpr uint64_t kHeapPerPrimitive_B = 1024;
// A plan of so few draws is made sooner than it is kept and dropped.
constexpr size_t kFewDraws = 256;
// With this heap a wave of the largest chunks is still less than half of it.
constexpr uint64_t kHeapOfLargeChunks_B = uint64_t{256} << 20;

}  // namespace

geometry::VertexCensus::Share share_census(ThreadPool& pool) {
  return [&pool](uint32_t pieces, const std::function<void(uint32_t)>& work) {
    pool.run("census", pieces, [&](uint32_t, uint32_t piece) { work(piece); });
  };
}

void begin_workers(PassRun& run) {
  PassExecutor::State& s = run.kept;
  while (s.geometry_workers.size() < s.pool.threads()) s.geometry_workers.emplace_back();
  while (s.tile_workers.size() < s.pool.threads()) s.tile_workers.emplace_back();
}

void plan_commands(PassRun& run) {
  run.found = run.kept.plans.find(run.pass);
  run.plan = run.found.get();
  if (!run.plan) {
    const bool keeps = run.pass.draws.size() > kFewDraws || run.kept.plans.runs_again(run.pass);
    if (run.pass.indirects.empty() && run.pass.conditions.empty() && keeps) run.made = std::make_shared<PassPlan>();
    PassPlan& plan = run.made ? *run.made : run.kept.passing_plan;
    plan_draws(run.pass, plan);
    run.plan = &plan;
  }
  run.out.stats.draws = run.plan->draw_count;
}

// Invocations of a workgroup of the draw's first stage, a task or mesh shader.
static uint64_t first_invocations(const pipeline::Resolved& resolved) {
  const auto& size = resolved.stages.front().traits.workgroup_size;
  return uint64_t{size[0]} * size[1] * size[2];
}

Status check_indirect(const PassRun& run) {
  const command::Pass& pass = run.pass;
  size_t next = pass.draws.size();  // in the plan: of the first indirect draw, and so on
  uint64_t left = run.options.indirect_vertices;
  for (const command::RecordedCommand& c : pass.commands) {
    if (c.kind != command::RecordedCommand::Kind::indirect) continue;
    for (uint32_t i = 0; i < pass.indirects[c.index].count; i++, next++) {
      assert(next < run.plan->expanded.size());
      const command::DrawCall& draw = run.plan->expanded[next];
      if (!draw.count || !draw.instance_count) continue;
      const pipeline::Resolved& resolved = *draw.state->resolved;
      const bool meshes = resolved.primitives.meshes;
      const uint64_t all = meshes ? draw.count * first_invocations(resolved) : uint64_t{draw.count} * draw.instance_count;
      if (all > left) {
        const std::string what = meshes ? " invocations" : " vertices";
        return Error{VK_ERROR_DEVICE_LOST,
                     "pass '" + pass.info.label + "': an indirect draw of pipeline '" + resolved.label + "' asks for " +
                         (meshes ? std::to_string(all) + what
                                 : std::to_string(draw.count) + what + " in " + std::to_string(draw.instance_count) + " instances") +
                         "; the indirect draws of a pass may have " + std::to_string(run.options.indirect_vertices) + what +
                         " together, nothing was drawn. Write other numbers to the indirect buffer, or give the device a larger "
                         "indirect_budget"};
      }
      left -= all;
    }
  }
  return Ok{};
}

void set_up_tiles(PassRun& run) {
  const PassOptions& options = run.options;
  tile::PassContext& context = run.context;
  context.draws = draws_of(run.pass, *run.plan);
  context.tile = tile_io::make_host_tile(run.pass.framebuffer, options.forced_bin_px, options.l2_B, options.compress_samples);
  context.render_area = run.pass.render_area;
  context.samples = run.pass.samples;
  context.query_count = static_cast<uint32_t>(run.pass.queries.size()) * views_of(run.pass);
  context.counted = static_cast<uint32_t>(run.plan->counting.size()) * views_of(run.pass);
  run.counts.assign(context.counted + 1, {});
  assert(options.lanes == 4 || options.lanes == 8 || options.lanes == 16);
  context.lanes = options.lanes;
  context.tile.wide = wide_vectors(options.lanes);
  context.cancelled = &run.cancelled;
  context.fpk_quads = options.fpk_quads;
  context.loop_iterations = options.loop_iterations;
  context.hsr = run.hsr;
  context.shading_rates = shading_rate_texels(run.pass.info.shading_rate);
  context.compress_samples = options.compress_samples;
  context.counts_draws = run.pass.framebuffer.layout.profile->tile_model != framebuffer::TileModel::host;
  run.filter_position = begin_depth_filter(run.pass, run.kept.filter_positions, context);
}

void choose_render_mode(PassRun& run) {
  const framebuffer::Layout& layout = run.pass.framebuffer.layout;
  if (layout.profile->tile_model != framebuffer::TileModel::gmem) return;
  run.sysmem = run.options.render_mode == RenderMode::sysmem || !layout.fits_gmem;
  if (run.options.render_mode != RenderMode::autotune || !layout.fits_gmem) return;
  const std::map<std::string, uint64_t>& history = run.kept.samples_passed;
  const auto last = history.find(render_key(run.pass));
  run.sysmem = last == history.end() ? prefers_sysmem_unseen(run.pass, run.context.draws.size())
                                     : render_bandwidth(run.pass, run.context.draws, last->second).prefers_sysmem();
}

// Which draws low-resolution Z may use, and which have their vertices shaded in two parts: from states and shaders alone.
void judge_draws(PassRun& run) {
  PassExecutor::State& s = run.kept;
  tile::PassContext& context = run.context;
  const command::Pass& pass = run.pass;
  if (run.hsr.low_resolution_z) {
    run.lrz_info = {lrz_generation_of(*pass.framebuffer.layout.profile),
                    &pass.info,
                    context.tile.depth.words ? context.tile.depth_format : VK_FORMAT_UNDEFINED,
                    context.tile.stencil.words != 0,
                    pass.samples,
                    pass.width_px,
                    pass.height_px,
                    pass.render_area,
                    run.hsr.lrz_bidirectional,
                    run.options.lrz_flush,
                    !pass.executed.empty(),
                    !pass.part_ends.empty(),
                    run.sysmem};
    s.lrz_cache.begin(run.lrz_info, run.plan->commands, context.draws, s.lrz);
    if (s.lrz.view) context.lrz = &s.lrz;
    run.out.lrz_decisions = s.lrz.decisions;
    run.out.lrz_culprit_pass = s.lrz.culprit_pass;
  }
  const RenderingAttachment& depth = pass.info.depth;
  const bool loads = run.hsr.low_resolution_z && depth.view && depth.load_op == VK_ATTACHMENT_LOAD_OP_LOAD;
  const framebuffer::Profile& profile = *pass.framebuffer.layout.profile;
  run.out.concurrent_binning_off =
      hsr::concurrent_binning_obstacle({run.hsr.low_resolution_z ? lrz_generation_of(profile) : profile.lrz_generation, run.sysmem, loads,
                                        !pass.transform_feedback.empty(), writes_memory(pass)},
                                       s.binned_before);
  if (run.hsr.deferred_vertex_shading) hsr::decide_deferral(context.draws, pass.info, run.out.vertex_deferral);
  context.deferral = run.out.vertex_deferral;
}

void set_up_geometry(PassRun& run) {
  const PassOptions& options = run.options;
  geometry::GeometryPass& geometry = run.geometry;
  const framebuffer::DescInfo& desc = run.pass.framebuffer.desc;
  const framebuffer::Profile& profile = *run.pass.framebuffer.layout.profile;
  const bool immediate = profile.tile_model == framebuffer::TileModel::immediate;
  run.has_parts = !immediate && !run.sysmem;
  run.heap_B = options.tiler_heap_B && !desc.own_heap ? options.tiler_heap_B : desc.tiler_heap_B;
  if (!run.has_parts) run.heap_B = profile.heap_B;
  geometry.draws_a_part = desc.draws_a_part;
  geometry.draws = run.context.draws;
  geometry.commands = run.plan->commands;
  geometry.grid = bin_grid(run.pass, run.context.tile);
  geometry.view_mask = run.pass.info.view_mask;
  geometry.render_area = run.pass.render_area;
  geometry.width_px = run.pass.width_px, geometry.height_px = run.pass.height_px;
  geometry.window = run.pass.framebuffer.layout.is_window();
  geometry.samples = run.pass.samples;
  geometry.vertex_batch = options.vertex_batch ? options.vertex_batch : shader::kBatchStride;
  geometry.vertex_ranges = options.vertex_batch == 0;
  geometry.vertex_group = profile.vertex_group;
  geometry.wide = wide_vectors(options.lanes);
  geometry.cancelled = &run.cancelled;
  geometry.most_chunk_B = most_chunk_B();
  // The end of a chunk cuts a batch of vertices: a modelled GPU's are all of one size, whatever its heap.
  const bool small = run.heap_B < kHeapOfLargeChunks_B || immediate;
  const uint64_t most_primitives = small ? geometry::kChunkPrimitives : run.plan->chunk_primitives;
  geometry.chunk_primitives = static_cast<uint32_t>(std::clamp<uint64_t>(run.heap_B / kHeapPerPrimitive_B, 1, most_primitives));
  geometry.deferral = run.context.deferral;
  geometry.deferred_triangle_px2 = options.deferred_triangle_px2;
  geometry.census = &run.kept.census;
  geometry.counts_draws = run.context.counts_draws;
}

Status begin_trace(PassRun& run) {
  run.trace = std::make_unique<tile::trace::State>();
  const framebuffer::Box& held = run.pass.framebuffer.layout.window_px;
  tile::trace::begin_pass(*run.trace, *run.request, {{held.min_x, held.min_y}, {held.width_px(), held.height_px()}}, run.geometry.grid,
                          draw_numbers(*run.plan, run.context.draws.size()));
  run.geometry.traced = !run.timed;
  run.context.trace = run.trace.get();
  while (!run.timed && run.traced_workers.size() < run.kept.pool.threads()) run.traced_workers.emplace_back();
  if (!run.request->maps || run.timed || !run.context.counts_draws) return Ok{};
  assert(run.options.textures);
  auto textures = descriptor::TextureTrace::begin(*run.options.textures, tile::trace::note_texels);
  if (!textures) return textures.error();
  run.texture_trace = std::move(*textures);
  run.trace->texels = true;
  run.trace->has_tiles = run.pass.framebuffer.layout.profile->tile_model != framebuffer::TileModel::immediate;
  return Ok{};
}

void plan_geometry(PassRun& run) {
  PassExecutor::State& s = run.kept;
  if (!run.found) {
    PassPlan& plan = run.made ? *run.made : s.passing_plan;
    plan_chunks(run.geometry, plan);
    run.chunks = &plan.chunks;
    if (run.made) s.plans.keep(run.out.pass, run.made);
  } else if (run.plan->chunks.read_indices() || run.plan->chunks_of != run.geometry.chunk_primitives) {
    // Indices that restart primitives may have been written since; another device may have another heap.
    geometry::plan_chunks(run.geometry, s.passing_chunks);
    run.chunks = &s.passing_chunks;
  } else {
    run.chunks = &run.plan->chunks;
  }
}

void begin_pass(PassRun& run) {
  PassExecutor::State& s = run.kept;
  assert(run.plan && run.chunks && !s.tile_workers.empty());
  s.census.begin(run.plan->census, share_census(s.pool));
  if (!run.dry) run.signatures = framebuffer::begin_contents(run.pass.framebuffer);
  if (run.signatures) run.context.tile.signatures = run.signatures->of_block;
  for (geometry::GeometryWorker& worker : s.geometry_workers) worker.begin_pass(run.options.loop_iterations);
  run.number = ++s.runs;  // tile workers begin with their first bin of it (tile_phase.cpp)
  for (tile::TracedTileWorker& worker : run.traced_workers) worker.begin_pass(run.context, run.number);
  s.drawn_ever.assign(run.geometry.grid.tiles_of_layer() * size_t{run.geometry.grid.layers}, 0);
}

}  // namespace tilegpu::exec
