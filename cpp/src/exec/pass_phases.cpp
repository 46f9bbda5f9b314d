// exec/pass_phases.cpp -- stage: execution of a render pass, geometry in waves of chunks, tiles in parts. In: chunk plans. Out: images.
//
// When the chunks' records no longer fit the tiler's heap, what there is is rendered and spilled, and the pass goes on from there
// (incremental rendering): the heap is counted in primitive order, chunk by chunk, so that the splits are the same for any number of
// threads. Source: docs/decisions.md, 27.
#include <algorithm>
#include <cassert>

#include "exec/pass_run.hpp"
#include "exec/stream_out.hpp"

namespace tilegpu::exec {

namespace {

// At most this many chunks are in memory beyond the heap, and fewer where they are large: of a patch or a workgroup come up to thousands of
// primitives, of which a plan knows nothing. The first wave of a pass that may make such is small. How many there are changes no result but
// peak_arena_B.
constexpr uint32_t kWaveChunks = 64, kFewChunks = 8;
constexpr uint64_t kMostWave_B = uint64_t{512} << 20;
// What small triangles take of this program, and what low-resolution Z rejected while binning, is no part of a modelled heap; it ends here,
// by count as the heap does.
constexpr uint64_t kMostArena_B = uint64_t{1} << 30;

void add_geometry_counters(PassStats& sum, const PassStats& part) {
  sum.indices += part.indices;
  sum.vertices_shaded += part.vertices_shaded;
  sum.patches += part.patches, sum.control_invocations += part.control_invocations;
  sum.evaluation_invocations += part.evaluation_invocations, sum.geometry_invocations += part.geometry_invocations;
  sum.geometry_primitives += part.geometry_primitives;
  sum.task_workgroups += part.task_workgroups, sum.task_invocations += part.task_invocations;
  sum.mesh_workgroups += part.mesh_workgroups, sum.mesh_invocations += part.mesh_invocations;
  sum.mesh_vertices += part.mesh_vertices, sum.mesh_primitives += part.mesh_primitives;
  sum.mesh_primitives_culled += part.mesh_primitives_culled;
  sum.vertex_batches += part.vertex_batches;
  sum.primitives_in += part.primitives_in;
  sum.primitives_culled += part.primitives_culled;
  sum.primitives_clipped += part.primitives_clipped;
  sum.primitives_out += part.primitives_out;
  sum.bin_entries += part.bin_entries;
  sum.lrz_primitives_rejected_in_binning += part.lrz_primitives_rejected_in_binning;
  sum.visibility_stream_B += part.visibility_stream_B;
  sum.tiler_heap_B += part.tiler_heap_B;
  sum.vertices_position_shaded += part.vertices_position_shaded;
  sum.primitives_deferred += part.primitives_deferred;
  sum.varyings_deferred_B += part.varyings_deferred_B;
  sum.draw_vertices.insert(sum.draw_vertices.end(), part.draw_vertices.begin(), part.draw_vertices.end());
}

void add_counts(records::StageCounts& sum, const records::StageCounts& part) {
  sum.vertices += part.vertices;
  sum.primitives += part.primitives;
  sum.vertex_invocations += part.vertex_invocations;
  sum.patches += part.patches, sum.evaluation_invocations += part.evaluation_invocations;
  sum.geometry_invocations += part.geometry_invocations, sum.geometry_primitives += part.geometry_primitives;
  sum.task_invocations += part.task_invocations, sum.mesh_invocations += part.mesh_invocations;
  sum.mesh_primitives += part.mesh_primitives;
  for (uint32_t k = 0; k < 4; k++) sum.generated[k] += part.generated[k];
  sum.clipped_in += part.clipped_in;
  sum.clipped_away += part.clipped_away;
}

// The geometry phase's progress, and what it holds.
struct Progress {
  uint64_t used_B = 0;     // of the heap
  uint64_t kept_B = 0;     // of this program's memory, by chunks of the part that is being gathered
  uint64_t waiting_B = 0;  // the same by chunks of the wave that are not
  uint64_t largest_B = 0;  // chunk of the last wave
  bool ends_part = false;  // the draws so far are all that a part takes
};

// Chunks [first, first + count) of the plan, behind those that are held.
void process_wave(PassRun& run, size_t first, uint32_t count, Progress& progress) {
  PassExecutor::State& s = run.kept;
  const geometry::ChunkPlans& plans = *run.chunks;
  assert(count >= 1 && first + count <= plans.size());
  const size_t held = s.used_chunks.size();
  while (s.chunks.size() < held + count) s.chunks.push_back(std::make_unique<records::Chunk>());
  s.rests.resize(std::max<size_t>(s.rests.size(), count));
  const auto next_of = [&](size_t i) { return i + 1 < plans.size() ? &plans[i + 1] : nullptr; };
  s.pool.run("geometry", count, [&](uint32_t worker, uint32_t i) {
    s.rests[i].clear();
    if (!run.cancelled.load(std::memory_order_relaxed))
      s.geometry_workers[worker].process_chunk(run.geometry, plans[first + i], *s.chunks[held + i], s.rests[i], next_of(first + i));
  });
  progress.waiting_B = 0, progress.largest_B = 1;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t chunk_B = s.chunks[held + i]->stats.peak_arena_B;
    progress.waiting_B += chunk_B, progress.largest_B = std::max(progress.largest_B, chunk_B);
  }
}

// Chunks of the next wave, by the largest of the last one (0: there was none).
uint32_t wave_of(const PassRun& run, uint64_t largest_B) {
  if (largest_B) return static_cast<uint32_t>(std::clamp<uint64_t>(kMostWave_B / largest_B, 1, kWaveChunks));
  const bool makes = std::any_of(run.pass.states.begin(), run.pass.states.end(),
                                 [](const command::DrawState& state) { return state.resolved->primitives.any(); });
  return makes ? kFewChunks : kWaveChunks;
}

// The tile phase of what was gathered.
void flush(PassRun& run, framebuffer::Part part) {
  PassExecutor::State& s = run.kept;
  geometry::gather_bins(run.geometry, s.used_chunks, s.binned);
  const double before_ms = now_ms();
  s.phase = "the tile phase";
  render_part(run, part);
  run.tiles_ms += now_ms() - before_ms;
  s.phase = "the geometry phase";
}

// The heap is full: a part is rendered, and its chunks are free.
Status split(PassRun& run) {
  PassStats& stats = run.out.stats;
  if (stats.splits == 0)
    if (Status ok = framebuffer::ensure_spill_memory(run.pass.framebuffer); !ok) return ok;
  flush(run, stats.splits == 0 ? framebuffer::Part::first : framebuffer::Part::middle);
  stats.splits++;
  run.kept.used_chunks.clear();
  return Ok{};
}

// What was rendered gives its arenas to the next wave: chunks still in use move to the front.
void move_used_chunks_to_front(PassExecutor::State& s) {
  for (size_t i = 0; i < s.used_chunks.size(); i++) {
    size_t at = i;
    while (s.chunks[at].get() != s.used_chunks[i]) {
      at++;
      assert(at < s.chunks.size());
    }
    std::swap(s.chunks[i], s.chunks[at]);
  }
}

// One chunk, binned, joins the part that is being gathered; where it does not fit, the part is rendered before.
Status take(PassRun& run, const records::Chunk* chunk, bool begins_part, Progress& progress) {
  PassExecutor::State& s = run.kept;
  PassStats& stats = run.out.stats;
  add_geometry_counters(stats, chunk->stats);
  if (!chunk->captured.empty() && !run.dry) write_captured(run, *chunk);  // a trace of what was executed writes nothing again
  for (const records::StageCounts& counts : chunk->counts) add_counts(run.counts[counts.counted], counts);
  progress.ends_part |= begins_part;
  const uint64_t heap_B = chunk->stats.tiler_heap_B, chunk_B = chunk->stats.peak_arena_B;
  assert(progress.waiting_B >= chunk_B);
  progress.waiting_B -= chunk_B;
  const bool rejected = chunk->stats.lrz_primitives_rejected_in_binning && !chunk->stats.bin_entries;  // all of it
  if (rejected && chunk->runs.empty()) return Ok{};
  const bool ends = run.has_parts && (progress.used_B + heap_B > run.heap_B || progress.ends_part);
  const bool full = progress.kept_B + chunk_B > std::max(run.heap_B, kMostArena_B);
  if (!s.used_chunks.empty() && !rejected && (ends || full)) {
    if (Status ok = split(run); !ok) return ok;
    progress.used_B = progress.kept_B = 0;
  }
  s.used_chunks.push_back(chunk);
  if (rejected) return Ok{};  // there for a trace
  progress.ends_part = false;
  progress.used_B += heap_B, progress.kept_B += chunk_B;
  return Ok{};
}

// A chunk that nobody uses comes to stand before number `at`: number `at` is then what the result says.
size_t free_chunk_before(PassExecutor::State& s, size_t at) {
  const auto is_used = [&](const std::unique_ptr<records::Chunk>& chunk) {
    return std::find(s.used_chunks.begin(), s.used_chunks.end(), chunk.get()) != s.used_chunks.end();
  };
  const auto begin = s.chunks.begin(), end = begin + static_cast<ptrdiff_t>(at), free = std::find_if_not(begin, end, is_used);
  if (free == end) {
    s.chunks.insert(end, std::make_unique<records::Chunk>());
    return at + 1;
  }
  std::rotate(free, free + 1, end);
  return at;
}

// What a chunk has left comes before the next chunk of the plan, piece after piece of bounded memory, on one thread: such draws are rare.
Status take_rest(PassRun& run, size_t& at, std::vector<geometry::ChunkPiece>& rest, Progress& progress) {
  PassExecutor::State& s = run.kept;
  std::vector<geometry::ChunkPiece> pieces;
  while (!rest.empty() && !run.cancelled) {
    pieces.swap(rest);
    at = free_chunk_before(s, at);
    records::Chunk& chunk = *s.chunks[at - 1];
    const geometry::ChunkPlan plan{pieces, nullptr, false};
    s.pool.run("geometry", 1,
               [&](uint32_t worker, uint32_t) { s.geometry_workers[worker].process_chunk(run.geometry, plan, chunk, rest); });
    progress.waiting_B += chunk.stats.peak_arena_B;
    run.out.stats.peak_arena_B = std::max(run.out.stats.peak_arena_B, progress.kept_B + progress.waiting_B);
    finish_binning(run, at - 1, 1);
    if (Status ok = take(run, &chunk, false, progress); !ok) return ok;
  }
  return Ok{};
}

}  // namespace

Status run_phases(PassRun& run) {
  PassExecutor::State& s = run.kept;
  PassStats& stats = run.out.stats;
  assert(run.chunks);
  Progress progress;
  s.used_chunks.clear();
  for (size_t done = 0; done < run.chunks->size();) {
    size_t at = s.used_chunks.size();
    const auto wave = static_cast<uint32_t>(std::min<size_t>(wave_of(run, progress.largest_B), run.chunks->size() - done));
    process_wave(run, done, wave, progress);
    stats.peak_arena_B = std::max(stats.peak_arena_B, progress.kept_B + progress.waiting_B);
    for (uint32_t i = 0; i < wave && !run.cancelled;) {
      uint32_t end = i + 1;  // up to one that has a rest, which is binned before what follows
      while (end < wave && s.rests[end - 1].empty()) end++;
      finish_binning(run, at, end - i);
      for (; i < end; i++)
        if (Status ok = take(run, s.chunks[at++].get(), (*run.chunks)[done + i].begins_part, progress); !ok) return ok;
      if (Status ok = take_rest(run, at, s.rests[end - 1], progress); !ok) return ok;
    }
    if (run.cancelled) return Ok{};
    done += wave;
    move_used_chunks_to_front(s);
  }
  if (!run.dry) finish_captured(run);
  if (!run.cancelled) flush(run, stats.splits ? framebuffer::Part::last : framebuffer::Part::normal);
  return Ok{};
}

}  // namespace tilegpu::exec
