// geometry/process.cpp -- the geometry phase of one chunk, all its stages in turn. In: a chunk plan. Out: a Chunk.
#include <immintrin.h>

#include <cassert>
#include <utility>

#include "geometry/census.hpp"
#include "geometry/deferred.hpp"
#include "geometry/draw_setup.hpp"
#include "geometry/index_fetch.hpp"
#include "geometry/vertex_batch.hpp"
#include "geometry/vertex_range.hpp"
#include "hsr/lrz_pass.hpp"
#include "hsr/vertex_deferral.hpp"

namespace tilegpu::geometry {

struct GeometryWorker::State {
  TagStore tags;
  Batch batch;
  VertexRange range;
  DrawSetup draw;
  Binner binner;
  Arena<uint32_t> indices;
  VertexRange::Ahead ahead;  // of the next chunk
  Arena<uint8_t> scratch;
  alignas(64) float no_varyings[kBatchStride];

  void process_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out);
};

// A shader writes whole vectors, and a block's rows follow each other: past the last vertex they must end in the row.
static bool needs_block(uint32_t used, uint32_t vertices) {
  return used + (vertices + shader::kMaxLanes - 1) / shader::kMaxLanes * shader::kMaxLanes > kBatchStride;
}

GeometryWorker::GeometryWorker() : state_(std::make_unique<State>()) {}
GeometryWorker::~GeometryWorker() = default;

void GeometryWorker::State::process_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out) {
  const command::DrawCall& call = pass.draws[piece.draw];
  assert(call.state && call.state->pipeline);
  const command::DrawState& state = *call.state;
  if (draw.state != &state) setup_draw(pass, state, draw);
  Chunk& chunk = *out.chunk;
  PassStats& stats = chunk.stats;
  stats.primitives_in += uint64_t{piece.primitive_count} * piece.instance_count;
  const bool draws = !draw.empty && !draw.state->rasterization.rasterizer_discard;
  if (!draws && !draw.resolved->vertex_traits.writes_memory) return;

  const shader::VertexFunction shade = draw.resolved->vertex;
  const shader::VertexFunction position = pass.deferral.empty() ? nullptr : pass.deferral[piece.draw].position;
  const size_t varying_floats = size_t{draw.components} * kBatchStride;
  const uint32_t limit = pass.vertex_batch < 3 ? 3 : pass.vertex_batch > kBatchStride ? kBatchStride : pass.vertex_batch;
  const bool sequence = !call.indexed && draw.state->topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  const IndexTriples triples = sequence ? IndexTriples{} : fetch_indices(call, piece, indices);
  scratch.resize(draw.resolved->vertex_traits.private_memory_B);
  if (out.components != draw.components) {
    out.components = draw.components;
    out.extra_used = out.shared_used = out.deferred_used = kBatchStride;
  }
  out.lrz = pass.lrz ? pass.lrz->writer(call, piece.draw) : hsr::LrzWriter{};
  if (out.lrz.buffer) {
    // A texel that the render area cuts may be narrow; those on its edge are left to triangles that cover more.
    out.lrz_reach_x = static_cast<int32_t>(out.lrz.buffer->texel.width_px()) - 1;
    out.lrz_reach_y = static_cast<int32_t>(out.lrz.buffer->texel.height_px()) - 1;
  }

  shader::VertexArgs args{};
  args.bindings = state.vertex_bindings.data();
  args.push_constants = call.push_constants;
  args.buffers = state.buffers;
  args.textures = state.textures;
  args.vertex_index = batch.vertex_index;
  args.first_instance = call.first_instance;
  args.base_vertex = call.indexed ? static_cast<uint32_t>(call.vertex_offset) : call.first;
  args.draw_index = call.draw_index;
  args.position = batch.position;
  args.clip_distance = draw.clip_distances + draw.cull_distances ? batch.clip_distance : nullptr;
  args.scratch = scratch.data();

  const uint32_t vertex_offset = call.indexed ? static_cast<uint32_t>(call.vertex_offset) : 0;
  const uint32_t per_primitive = draw.kind == PrimitiveKind::triangle ? 3 : draw.kind == PrimitiveKind::line ? 2 : 1;
  const bool ranged = pass.vertex_ranges && draws && call.indexed && !position && !draw.resolved->vertex_traits.writes_memory &&
                      !draw.clip_distances && !draw.cull_distances && draw.kind == PrimitiveKind::triangle &&
                      draw.polygon_mode == VK_POLYGON_MODE_FILL && range.begin(triples.bytes, piece.primitive_count);
  if (ranged && pass.census && piece.instance == 0) range.mark(*pass.census, piece.draw);
  for (uint32_t i = 0; i < piece.instance_count; i++) {
    args.instance_index = call.first_instance + piece.instance + i;
    if (pass.traced) chunk.instances.push_back({static_cast<uint32_t>(chunk.records.size()), piece.instance + i});
    if (ranged) {
      const VertexRange::Shaded shaded = range.shade(draw, args, pass.loop_budget, vertex_offset, std::exchange(ahead, {}));
      stats.vertices_shaded += shaded.vertices;
      stats.vertex_batches += shaded.calls;
      stats.indices += piece.primitive_count * 3;
      assemble_range(draw, piece.draw, triples.bytes, piece.primitive_count, piece.first_primitive, range, out);
      continue;
    }
    for (uint32_t done = 0; done < piece.primitive_count;) {
      batch.first_primitive = piece.first_primitive + done;
      if (sequence)
        done += TagStore::fill_sequence(call.first + 3 * batch.first_primitive, piece.primitive_count - done, limit, batch);
      else
        done += tags.fill(triples.bytes + size_t{done} * 12, piece.primitive_count - done, limit, vertex_offset, batch);
      if (pass.census && call.indexed && piece.instance + i == 0)
        pass.census->mark(piece.draw, batch.vertex_index, batch.vertex_count, vertex_offset);
      const size_t varyings_before = chunk.varyings.size();
      assert(batch.vertex_count >= 1 && batch.vertex_count <= limit && batch.primitive_count >= 1);
      const uint32_t shared_before = out.shared_used;
      args.count = batch.vertex_count;
      args.loop_budget = pass.loop_budget;
      const auto shade_whole = [&] {
        if (needs_block(out.shared_used, batch.vertex_count)) {
          out.shared_varyings = static_cast<uint32_t>(varyings_before);
          chunk.varyings.extend(varying_floats);
          out.shared_used = 0;
        }
        batch.varyings = out.shared_varyings + out.shared_used;
        args.varyings = varying_floats ? chunk.varyings.data() + batch.varyings : no_varyings;
        out.shared_used += batch.vertex_count;
        args.loop_budget = pass.loop_budget;
        shade(&args);
        stats.vertices_shaded += batch.vertex_count;
      };
      const auto forget_varyings = [&] {
        chunk.varyings.resize(varyings_before);
        if (out.shared_varyings >= varyings_before)
          out.shared_used = kBatchStride;
        else
          out.shared_used = shared_before;
      };
      stats.vertex_batches++;
      stats.indices += batch.primitive_count * per_primitive;
      const size_t records_before = chunk.records.size();
      if (position) {
        position(&args);
        stats.vertices_position_shaded += batch.vertex_count;
        transform_batch(draw, batch);
        if (!cuts_triangles(batch)) {
          batch.varyings = 0;
          assemble_triangles(draw, piece.draw, batch, out);
          const size_t made = chunk.records.size() - records_before;
          if (all_small(chunk, records_before, pass.deferred_triangle_px2)) {
            if (!made) continue;
            defer_records(chunk, records_before, batch, args.instance_index);
            stats.primitives_deferred += made;
            if (needs_block(out.deferred_used, batch.vertex_count)) {
              stats.varyings_deferred_B += varying_floats * sizeof(float);
              out.deferred_used = 0;
            }
            out.deferred_used += batch.vertex_count;
            continue;
          }
          shade_whole();
          for (size_t i = records_before; i < chunk.records.size(); i++)
            for (uint32_t& vertex : chunk.records[i].vertex) vertex += batch.varyings;
          continue;
        }
        shade_whole();
      } else {
        shade_whole();
        if (!draws) {
          forget_varyings();
          continue;
        }
        transform_batch(draw, batch);
      }
      if (draw.kind == PrimitiveKind::triangle && draw.polygon_mode == VK_POLYGON_MODE_FILL)
        assemble_triangles(draw, piece.draw, batch, out);
      else
        assemble_lines_and_points(draw, piece.draw, batch, out);
      // Nothing was left of the batch: its vertices need not be kept.
      if (chunk.records.size() == records_before) {
        forget_varyings();
        if (out.extra_varyings >= varyings_before) out.extra_used = kBatchStride;
      }
    }
  }
}

void GeometryWorker::process_chunk(const GeometryPass& pass, const ChunkPlan& plan, Chunk& chunk, const ChunkPlan* next) {
  State& s = *state_;
  chunk.clear = plan.clear;
  chunk.records.clear();
  chunk.primitive_id.clear();
  chunk.instances.clear();
  chunk.varyings.clear();
  chunk.deferred_instances.clear();
  chunk.entries.clear();
  chunk.runs.clear();
  chunk.stats = PassStats{};
  if (plan.clear) return;
  const uint32_t mxcsr = _mm_getcsr();
  _mm_setcsr(0x1f80);  // round to nearest even, denormals kept, no traps: whatever the thread's owner set

  Output out;
  out.chunk = &chunk;
  out.binner = &s.binner;
  out.wide = pass.wide;
  out.grid = sample_grid(pass.samples);
  for (const ChunkPiece& piece : plan.pieces)
    out.primitive_ids |= pass.draws[piece.draw].state->resolved->fragment_traits.reads_primitive_id;
  const bool counts_ids = out.primitive_ids;  // the heap is the same whether the pass is traced or not
  out.primitive_ids |= pass.traced;
  s.binner.begin(pass.grid, out.grid.first, 256 - (1 << out.grid.shift) + out.grid.first);
  s.draw.state = nullptr;
  s.ahead = {};
  if (next && !next->pieces.empty()) {
    const ChunkPiece& piece = next->pieces.front();
    s.ahead = {indices_in_place(pass.draws[piece.draw], piece).bytes, size_t{piece.primitive_count} * 12};
  }
  for (const ChunkPiece& piece : plan.pieces) s.process_piece(pass, piece, out);
  s.binner.finish(chunk);
  _mm_setcsr(mxcsr);

  PassStats& stats = chunk.stats;
  stats.primitives_out = chunk.records.size();
  stats.primitives_culled = stats.primitives_in - out.survivors;
  stats.bin_entries = chunk.entries.size();
  stats.tiler_heap_B = chunk.records.size() * sizeof(TriangleRecord) + (counts_ids ? chunk.primitive_id.size() * sizeof(uint32_t) : 0) +
                       chunk.varyings.size() * sizeof(float) + chunk.deferred_instances.size() * sizeof(DeferredRun) +
                       chunk.entries.size() * sizeof(uint32_t) + chunk.runs.size() * sizeof(BinRun);
}

}  // namespace tilegpu::geometry
