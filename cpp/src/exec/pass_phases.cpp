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

// At most this many chunks are in memory beyond the heap: the bound of the geometry phase's memory.
constexpr uint32_t kWaveChunks = 64;
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

// Chunks [first, first + count) of the plan, behind those that are held. The memory that all of them take.
uint64_t process_wave(PassRun& run, size_t first, uint32_t count) {
  PassExecutor::State& s = run.kept;
  const geometry::ChunkPlans& plans = *run.chunks;
  assert(count >= 1 && first + count <= plans.size());
  const size_t held = s.used_chunks.size();
  while (s.chunks.size() < held + count) s.chunks.push_back(std::make_unique<records::Chunk>());
  const auto next_of = [&](size_t i) { return i + 1 < plans.size() ? &plans[i + 1] : nullptr; };
  s.pool.run("geometry", count, [&](uint32_t worker, uint32_t i) {
    if (!run.cancelled.load(std::memory_order_relaxed))
      s.geometry_workers[worker].process_chunk(run.geometry, plans[first + i], *s.chunks[held + i], next_of(first + i));
  });
  uint64_t wave_B = 0;
  for (uint32_t i = 0; i < count; i++) wave_B += s.chunks[held + i]->stats.peak_arena_B;
  finish_binning(run, held, count);
  return wave_B;
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

}  // namespace

Status run_phases(PassRun& run) {
  PassExecutor::State& s = run.kept;
  PassStats& stats = run.out.stats;
  assert(run.chunks);
  uint64_t used_B = 0, kept_B = 0;  // of the heap; of this program's memory
  bool ends_part = false;           // the draws so far are all that a part takes
  s.used_chunks.clear();
  for (size_t done = 0; done < run.chunks->size();) {
    const size_t held = s.used_chunks.size();
    const uint32_t wave = static_cast<uint32_t>(std::min<size_t>(kWaveChunks, run.chunks->size() - done));
    const uint64_t wave_B = process_wave(run, done, wave);
    if (run.cancelled) return Ok{};
    stats.peak_arena_B = std::max(stats.peak_arena_B, kept_B + wave_B);
    for (uint32_t i = 0; i < wave; i++) {
      const records::Chunk* chunk = s.chunks[held + i].get();
      add_geometry_counters(stats, chunk->stats);
      if (!chunk->captured.empty() && !run.dry) write_captured(run, *chunk);  // a trace of what was executed writes nothing again
      for (const records::StageCounts& counts : chunk->counts) add_counts(run.counts[counts.counted], counts);
      ends_part |= (*run.chunks)[done + i].begins_part;
      const bool rejected = chunk->stats.lrz_primitives_rejected_in_binning && !chunk->stats.bin_entries;  // all of it
      if (rejected && chunk->runs.empty()) continue;
      const uint64_t heap_B = chunk->stats.tiler_heap_B, chunk_B = chunk->stats.peak_arena_B;
      const bool ends = run.has_parts && (used_B + heap_B > run.heap_B || ends_part);
      const bool full = kept_B + chunk_B > std::max(run.heap_B, kMostArena_B);
      if (!s.used_chunks.empty() && !rejected && (ends || full)) {
        if (Status ok = split(run); !ok) return ok;
        used_B = kept_B = 0;
      }
      s.used_chunks.push_back(chunk);
      if (rejected) continue;  // there for a trace
      ends_part = false;
      used_B += heap_B, kept_B += chunk_B;
    }
    done += wave;
    move_used_chunks_to_front(s);
  }
  if (!run.dry) finish_captured(run);
  if (!run.cancelled) flush(run, stats.splits ? framebuffer::Part::last : framebuffer::Part::normal);
  return Ok{};
}

}  // namespace tilegpu::exec
