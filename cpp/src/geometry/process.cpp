// geometry/process.cpp -- the geometry phase of one chunk, all its stages in turn. In: a chunk plan. Out: a Chunk.
#include <algorithm>
#include <cassert>
#include <utility>

#include "base/default_floats.hpp"
#include "geometry/census.hpp"
#include "geometry/deferred.hpp"
#include "geometry/worker_state.hpp"
#include "hsr/vertex_deferral.hpp"

namespace tilegpu::geometry {

// Triangles of a range between two looks at the chunk's memory: whole groups of those that are culled together.
static constexpr uint32_t kRangeSlice = 16 * 16;

// A record is in all bins at most: of 8192x8192 pixels these take 4 MB.
static size_t records_between_looks(const GeometryPass& pass) { return pass.most_chunk_B < kMostChunk_B ? 1 : 64; }

// A shader writes whole vectors, and a block's rows follow each other: past the last vertex they must end in the row.
static bool needs_block(uint32_t used, uint32_t vertices) {
  return used + (vertices + shader::kMaxLanes - 1) / shader::kMaxLanes * shader::kMaxLanes > kBatchStride;
}

GeometryWorker::GeometryWorker() : state_(std::make_unique<State>()) {}
GeometryWorker::~GeometryWorker() = default;

// What a piece changes beside its worker: varyings are given back where nothing of a batch is left.
static void forget_varyings(Output& out, size_t varyings_before, uint32_t shared_before) {
  assert(varyings_before <= out.chunk->varyings.size());
  out.chunk->varyings.resize(varyings_before);
  out.shared_used = out.shared_varyings >= varyings_before ? kBatchStride : shared_before;
}

// What all pieces of a state have in common, among it the shader's arguments that don't change: a chunk may be ten thousand draws of one.
[[gnu::noinline]] void GeometryWorker::State::begin_state(const GeometryPass& pass, const command::DrawState& state, Output& out) {
  setup_draw(pass, state, draw);
  out.grid = draw.grid;
  binner.set_samples(draw.grid.first_sample, draw.grid.last_sample);
  strip_starts.clear(), batch.begins_strip = nullptr;
  scratch.resize(draw.shade_memory_B);
  const bool filled = draw.kind == PrimitiveKind::triangle && draw.polygon_mode == VK_POLYGON_MODE_FILL;
  common.stages = draw.resolved->primitives.any();
  common.draws = draws_anything();
  common.has_effect = common.draws || draw.shade_has_effect;
  common.chooses = draw.writes_layer || draw.writes_viewport_index || draw.writes_primitive_id || draw.writes_shading_rate;
  common.sequences = state.topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  common.distances = draw.clip_distances + draw.cull_distances > 0;
  common.only_triangles = common.draws && filled && !draw.shade_has_effect && !common.distances && !common.chooses;
  common.usual = common.draws && filled && !common.chooses && !pass.vertex_group && !pass.census && !pass.counts_draws && !pass.traced;
  common.limit = std::clamp(pass.vertex_batch, 3u, kBatchStride);
  shader::VertexArgs& a = args = {};
  a.bindings = state.vertex_bindings.data();
  a.sets = state.sets;
  a.clip_distance = common.distances ? batch.clip_distance : nullptr;
  a.layer = batch.layer;
  a.point_size = batch.point_size;
  a.shading_rate = batch.shading_rate;
  a.scratch = scratch.data();
  a.loops = &loops;
}

// The output and the shader's arguments, for all batches and instances.
[[gnu::always_inline]] inline void GeometryWorker::State::begin_piece(Piece& p) {
  const command::DrawCall& call = p.call;
  Output& out = p.out;
  if (out.components != draw.components) {
    out.components = draw.components;
    out.extra_used = out.shared_used = out.deferred_used = kBatchStride;
  }
  args.vertex_index = batch.vertex_index, args.position = batch.position;  // a range has its own
  args.push_constants = call.push_constants;
  args.first_instance = call.first_instance;
  args.base_vertex = call.indexed ? static_cast<uint32_t>(call.vertex_offset) : call.first;
  args.draw_index = call.draw_index;
  args.view_index = call.view;
  binner.set_layer(call.view);
  loops.draw = p.piece.draw;
}

// Whether nothing but filled triangles comes of the piece's vertices, so that they need not lie in one batch.
[[gnu::always_inline]] inline bool GeometryWorker::State::only_triangles(const Piece& p) const {
  return common.only_triangles && !p.captures && p.call.indexed && !p.position;
}

// Whether they are shaded as a range, each once: their indices are dense.
[[gnu::always_inline]] inline bool GeometryWorker::State::takes_range(const Piece& p) {
  return p.pass.vertex_ranges && only_triangles(p) && range.begin(p.triples.bytes, p.piece.primitive_count);
}

// What the chunk takes, or will at most.
[[gnu::always_inline]] inline uint64_t GeometryWorker::State::made_B(const Chunk& chunk) const {
  const size_t records = chunk.records.size();
  return records * sizeof(TriangleRecord) + chunk.varyings.size() * sizeof(float) + chunk.captured_words.size() * sizeof(uint32_t) +
         binner.most_entries(records) * sizeof(uint32_t);
}

// Asked behind each batch, `done` primitives of the instance with it: whether the rest is for another chunk. That is looked at after some
// records; a stipple that runs on from line to line is not cut.
[[gnu::always_inline]] inline bool GeometryWorker::State::stops(Piece& p, uint32_t done) {
  return __builtin_expect(p.chunk.records.size() >= next_look, 0) && stops_if_full(p, done);
}

[[gnu::noinline]] bool GeometryWorker::State::stops_if_full(Piece& p, uint32_t done) {
  next_look = p.chunk.records.size() + records_between_looks(p.pass);
  if (made_B(p.chunk) <= p.pass.most_chunk_B || !strip_starts.empty()) return false;
  p.primitives_done = done;
  return p.stopped = true;
}

// The same behind each patch, primitive or workgroup of draws whose shaders may make much of each, and be long about it.
bool GeometryWorker::State::stops_stages(Piece& p, uint32_t done) {
  if (!is_cancelled(*p.pass.cancelled)) return stops_if_full(p, done);
  p.primitives_done = done;
  return p.stopped = true;
}

// Within one patch, primitive or workgroup nothing is cut.
void GeometryWorker::State::check_room(const Piece& p) const {
  const uint64_t taken_B = made_B(p.chunk);
  if (taken_B > kMostOfOne_B)
    throw OutOfMemory("what shaders make of one patch, primitive or workgroup", taken_B, OutOfMemory::By::one, kMostOfOne_B);
}

// The piece's last instance so far is not done, or only that is: what is left of it, and of all, is for another chunk.
[[gnu::noinline]] void GeometryWorker::State::leave_rest(const Piece& p, uint32_t instances_begun) {
  stopped = true;
  assert(rest && instances_begun >= 1 && instances_begun <= p.piece.instance_count);
  const bool restarts = p.call.state->primitive_restart && p.call.indexed;
  ChunkPiece left = p.piece;
  left.instance += instances_begun - 1, left.instance_count = 1;
  left.first_primitive += p.primitives_done, left.primitive_count -= p.primitives_done;
  if (restarts) left.restart_skip += p.primitives_done;
  if (left.primitive_count) rest->push_back(left);
  ChunkPiece others = p.piece;
  others.instance += instances_begun, others.instance_count -= instances_begun;
  if (others.instance_count) rest->push_back(others);
  whole_instances_left = others.instance_count;
  unfinished = uint64_t{others.instance_count} * p.piece.primitive_count + left.primitive_count;
}

void GeometryWorker::State::draw_range(Piece& p) {
  assert(draw.kind == PrimitiveKind::triangle && p.triples.bytes);
  const VertexRange::Shaded shaded = range.shade(draw, p.args, p.vertex_offset, std::exchange(ahead, {}));
  p.stats.vertices_shaded += shaded.vertices;
  if (p.pass.counts_draws) p.stats.draw_vertices.back().vertices_in_batches += shaded.vertices;
  p.stats.vertex_batches += shaded.calls;
  for (uint32_t done = 0; done < p.piece.primitive_count && !p.stopped;) {
    const uint32_t count = std::min(p.piece.primitive_count - done, kRangeSlice);
    assemble_range(draw, p.piece.draw, p.triples.bytes + size_t{done} * 12, count, p.piece.first_primitive + done, range, p.out);
    done += count;
    p.stats.indices += count * 3;
    stops(p, done);
  }
}

// Batches of more vertices than the shader takes in one call.
void GeometryWorker::State::draw_wide_batches(Piece& p, uint32_t instance) {
  const bool cached = p.pass.vertex_group > 0;
  if (cached) cache.begin(p.pass.vertex_batch, p.pass.vertex_group);
  for (uint32_t done = 0; done < p.piece.primitive_count;) {
    const uint8_t* const triples = p.triples.bytes + size_t{done} * 12;
    const uint32_t count = range.begin_batch(triples, p.piece.primitive_count - done, p.pass.vertex_batch);
    assert(count > 0 && range.size <= p.pass.vertex_batch);
    if (p.pass.census && instance == 0) p.pass.census->mark(p.piece.draw, range.list(), range.size, 0);
    if (cached) cache.ask(triples, count);
    const auto asked = static_cast<uint32_t>(cache.shaded().size());
    if (p.pass.counts_draws) {
      fetched.fetch(cached ? cache.shaded().data() : range.list(), cached ? asked : range.size, p.vertex_offset);
      p.stats.draw_vertices.back().vertices_in_batches += range.size;
    }
    const uint32_t shaded = range.shade(draw, p.args, p.vertex_offset, {}).vertices;
    p.stats.vertices_shaded += cached ? asked : shaded;
    p.stats.vertex_batches++;
    p.stats.indices += count * 3;
    assemble_range(draw, p.piece.draw, range.slots(), count, p.piece.first_primitive + done, range, p.out);
    done += count;
    if (stops(p, done)) return;
  }
}

// The next primitives after `done` and their unique vertices; returns how many primitives.
[[gnu::always_inline]] inline uint32_t GeometryWorker::State::fill_batch(const Piece& p, uint32_t done) {
  assert(done < p.piece.primitive_count);
  batch.first_primitive = p.piece.first_primitive + done;
  if (__builtin_expect(!strip_starts.empty(), 0)) batch.begins_strip = strip_starts.data() + done;
  const uint32_t left = p.piece.primitive_count - done;
  if (p.sequence) return TagStore::fill_sequence(p.call.first + 3 * batch.first_primitive, left, p.limit, batch);
  return tags.fill(p.triples.bytes + size_t{done} * 12, left, p.limit, p.vertex_offset, batch);
}

// What a GPU with a cache of vertices shades for the batch; without indices the batch is that.
[[gnu::noinline]] void GeometryWorker::State::ask_cache(const Piece& p, uint32_t done) {
  if (p.sequence) return;
  if (done == 0) cache.begin(p.limit, p.pass.vertex_group);
  cache.ask(p.triples.bytes + size_t{done} * 12, batch.primitive_count);
  batch.shaded_count = static_cast<uint32_t>(cache.shaded().size());
}

// What the input cache of a modelled GPU sees of the batch.
[[gnu::noinline]] void GeometryWorker::State::note_fetches(const Piece& p) {
  p.stats.draw_vertices.back().vertices_in_batches += batch.vertex_count;
  if (p.pass.vertex_group && !p.sequence)
    fetched.fetch(cache.shaded().data(), batch.shaded_count, p.vertex_offset);
  else
    fetched.fetch(batch.vertex_index, batch.vertex_count);
}

// Room in the chunk for the batch's varyings: where the shader leaves them.
[[gnu::always_inline]] static inline void take_room(Piece& p, Batch& batch, float* no_varyings, size_t varyings_before) {
  assert(batch.vertex_count >= 1 && batch.vertex_count <= kBatchStride);
  Output& out = p.out;
  if (needs_block(out.shared_used, batch.vertex_count)) {
    out.shared_varyings = static_cast<uint32_t>(varyings_before);
    p.chunk.varyings.extend(p.varying_floats);
    out.shared_used = 0;
  }
  batch.varyings = out.shared_varyings + out.shared_used;
  p.args.varyings = p.varying_floats ? p.chunk.varyings.data() + batch.varyings : no_varyings;
  out.shared_used += batch.vertex_count;
}

void GeometryWorker::State::place_varyings(Piece& p, size_t varyings_before) { take_room(p, batch, no_varyings, varyings_before); }

[[gnu::always_inline]] inline void GeometryWorker::State::shade_whole(Piece& p, size_t varyings_before) {
  take_room(p, batch, no_varyings, varyings_before);
  p.shade(&p.args);
  p.stats.vertices_shaded += batch.shaded_count;
}

// Deferred vertex shading: positions first. True: the batch is done; false: it is shaded whole, and to be assembled.
bool GeometryWorker::State::draw_positions(Piece& p, size_t records_before, size_t varyings_before) {
  Chunk& chunk = p.chunk;
  p.position(&p.args);
  p.stats.vertices_position_shaded += batch.shaded_count;
  transform_batch(draw, batch);
  if (cuts_triangles(batch)) {
    shade_whole(p, varyings_before);
    return false;
  }
  batch.varyings = 0;
  assemble_triangles(draw, p.piece.draw, batch, all_of(batch), p.out);
  const size_t made = chunk.records.size() - records_before;
  if (!all_small(chunk, records_before, p.pass.deferred_triangle_px2)) {
    shade_whole(p, varyings_before);
    for (size_t i = records_before; i < chunk.records.size(); i++)
      for (uint32_t& vertex : chunk.records[i].vertex) vertex += batch.varyings;
    return true;
  }
  if (!made) return true;
  defer_records(chunk, records_before, batch, p.args.instance_index);
  p.stats.primitives_deferred += made;
  if (needs_block(p.out.deferred_used, batch.vertex_count)) {
    p.stats.varyings_deferred_B += p.varying_floats * sizeof(float);
    p.out.deferred_used = 0;
  }
  p.out.deferred_used += batch.vertex_count;
  return true;
}

[[gnu::always_inline]] inline void GeometryWorker::State::assemble(Piece& p) {
  if (__builtin_expect(p.chooses, 0)) return assemble_runs(p);
  if (draw.kind == PrimitiveKind::triangle && draw.polygon_mode == VK_POLYGON_MODE_FILL)
    assemble_triangles(draw, p.piece.draw, batch, all_of(batch), p.out);
  else
    assemble_lines_and_points(draw, p.piece.draw, batch, all_of(batch), p.out);
}

// Viewports are draws of their own to all that follows: with their scissors and depth ranges.
const DrawSetup& GeometryWorker::State::setup_of(const Piece& p, uint32_t viewport) {
  if (viewport == 0) return draw;
  if (others.size() < viewport) others.resize(kMaxViewports - 1);
  DrawSetup& setup = others[viewport - 1];
  const command::DrawState& state = *p.pass.draws[p.call.viewport_draws + viewport - 1].state;
  if (setup.state != &state) setup_draw(p.pass, state, setup);
  return setup;
}

// Layer, viewport and shading rate of each primitive are those of its provoking vertex. What goes to the same is assembled together, in
// order; where there is no such layer or viewport, nothing is drawn. Source: Vulkan specification, "Layer", "ViewportIndex", "Primitive
// Fragment Shading Rate".
void GeometryWorker::State::assemble_runs(Piece& p) {
  const uint32_t last = draw.kind == PrimitiveKind::triangle ? 2 : draw.kind == PrimitiveKind::line ? 1 : 0;
  const uint8_t* const provoking = batch.slot[draw.provoking_last ? last : 0];
  const uint32_t viewports = p.call.state->all ? p.call.state->all->count : 1, layers = p.pass.grid.layers;
  const auto layer_of = [&](uint32_t i) { return draw.writes_layer ? batch.layer[provoking[i]] : p.call.view; };
  const auto viewport_of = [&](uint32_t i) { return draw.writes_viewport_index ? batch.viewport[provoking[i]] : 0; };
  const auto id_of = [&](uint32_t i) { return draw.writes_primitive_id ? batch.primitive_id[provoking[i]] : batch.first_primitive; };
  const auto rate_of = [&](uint32_t i) { return draw.writes_shading_rate ? batch.shading_rate[provoking[i]] & records::kRateMask : 0; };
  uint32_t transformed = 0;  // viewport that the batch's vertices are transformed to
  for (PrimitiveRun run{0, 0}; run.first < batch.primitive_count; run.first = run.end) {
    const uint32_t layer = layer_of(run.first), viewport = viewport_of(run.first), id = id_of(run.first);
    const uint32_t rate = rate_of(run.first);
    do run.end++;
    while (run.end < batch.primitive_count && layer_of(run.end) == layer && viewport_of(run.end) == viewport && id_of(run.end) == id &&
           rate_of(run.end) == rate);
    batch.first_primitive = id;
    const bool nowhere = layer >= layers || viewport >= viewports;
    if (nowhere || setup_of(p, viewport).empty) {  // a strip that begins there begins all the same
      for (uint32_t i = run.first; batch.begins_strip && i < run.end; i++)
        if (batch.begins_strip[i]) p.out.stipple = 0;
      continue;
    }
    const DrawSetup& setup = setup_of(p, viewport);
    if (transformed != viewport) transform_batch(setup, batch);
    transformed = viewport;
    binner.set_layer(layer);
    const uint32_t number = (viewport ? p.call.viewport_draws + viewport - 1 : p.piece.draw) | rate << records::kRateShift;
    if (draw.kind == PrimitiveKind::triangle && draw.polygon_mode == VK_POLYGON_MODE_FILL)
      assemble_triangles(setup, number, batch, run, p.out);
    else
      assemble_lines_and_points(setup, number, batch, run, p.out);
  }
}

GeometryWorker::State::Before GeometryWorker::State::begin_batch(Piece& p) {
  check_room(p);
  return {p.chunk.varyings.size(), p.chunk.records.size(), p.out.shared_used};
}

// A batch whose vertices are shaded.
void GeometryWorker::State::end_batch(Piece& p, const Before& before) {
  p.out.assembled += batch.primitive_count;
  if (!draw.resolved->primitives.makes_primitives && !draw.resolved->primitives.meshes) {
    p.out.generated[0] += batch.primitive_count;
    if (p.captures) capture_batch(p);
  }
  if (p.draws) {
    transform_batch(draw, batch);
    assemble(p);
    if (p.chunk.records.size() > before.records) return;
  }
  // Nothing was left of the batch: its vertices need not be kept.
  forget_varyings(p.out, before.varyings, before.shared);
  if (p.out.extra_varyings >= before.varyings) p.out.extra_used = kBatchStride;
}

// One instance, batch by batch. kUsual: filled triangles are drawn, and nobody looks on.
template <bool kUsual>
[[gnu::always_inline]] inline void GeometryWorker::State::draw_batches(Piece& p, uint32_t instance) {
  assert(!kUsual || is_usual(p));
  const uint32_t per_primitive = kUsual || draw.kind == PrimitiveKind::triangle ? 3 : draw.kind == PrimitiveKind::line ? 2 : 1;
  for (uint32_t done = 0; done < p.piece.primitive_count;) {
    const uint32_t begin = done;
    done += fill_batch(p, done);
    assert(batch.vertex_count <= p.limit && batch.primitive_count > 0);
    if (!kUsual && p.pass.vertex_group) ask_cache(p, begin);
    if (!kUsual && p.pass.census && p.call.indexed && instance == 0)
      p.pass.census->mark(p.piece.draw, batch.vertex_index, batch.vertex_count, p.vertex_offset);
    if (!kUsual && p.pass.counts_draws) note_fetches(p);
    p.args.count = batch.vertex_count;
    p.stats.vertex_batches++;
    p.stats.indices += batch.primitive_count * per_primitive;
    const size_t varyings_before = p.chunk.varyings.size(), records_before = p.chunk.records.size();
    const uint32_t shared_before = p.out.shared_used;
    if (!kUsual && p.position) {
      if (draw_positions(p, records_before, varyings_before)) continue;
    } else {
      shade_whole(p, varyings_before);
      if (!kUsual && p.captures) capture_batch(p);
      if (!kUsual && !p.draws) {
        forget_varyings(p.out, varyings_before, shared_before);
        continue;
      }
      transform_batch(draw, batch);
    }
    if constexpr (kUsual)
      assemble_triangles(draw, p.piece.draw, batch, all_of(batch), p.out);
    else
      assemble(p);
    if (p.chunk.records.size() > records_before) {
      if (stops(p, done)) return;
      continue;
    }
    // Nothing was left of the batch: its vertices need not be kept.
    forget_varyings(p.out, varyings_before, shared_before);
    if (p.out.extra_varyings >= varyings_before) p.out.extra_used = kBatchStride;
  }
}

// Whether anything comes of the draw: pictures, what shaders write, captured vertices, or counts of what shaders do, for which they run.
[[gnu::always_inline]] inline bool GeometryWorker::State::has_effect(const command::DrawCall& call) const {
  return common.has_effect || call.transform_feedback >= 0 || call.counted;
}

// Without a geometry shader all that there is is stream 0.
[[gnu::always_inline]] inline bool rasterizes(const command::DrawState& state) {
  const RasterizationState& raster = state.rasterization;
  return !raster.rasterizer_discard && (raster.rasterization_stream == 0 || state.resolved->primitives.makes_primitives);
}

inline bool GeometryWorker::State::draws_anything() const { return (!draw.empty || draw.writes_viewport_index) && rasterizes(*draw.state); }

// Of a rest of strips with restarts those before it are fetched too: where strips begin is known by them.
[[gnu::always_inline]] inline IndexTriples GeometryWorker::State::fetch_triples(const command::DrawCall& call, const ChunkPiece& piece) {
  if (__builtin_expect(piece.restart_skip == 0, 1)) return fetch_indices(call, piece, indices);
  IndexTriples triples = fetch_indices(call, with_skipped(piece), indices);
  triples.bytes += size_t{piece.restart_skip} * 12;
  return triples;
}

// Indices are fetched here, but for draws whose stages find their own.
[[gnu::always_inline]] inline Piece GeometryWorker::State::fetch_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out) {
  const command::DrawCall& call = pass.draws[piece.draw];
  const bool sequence = !call.indexed && common.sequences;
  return {.pass = pass,
          .piece = piece,
          .call = call,
          .out = out,
          .chunk = *out.chunk,
          .stats = out.chunk->stats,
          .shade = draw.shade,
          .position = pass.deferral.empty() ? nullptr : pass.deferral[piece.draw].position,
          .varying_floats = size_t{draw.components} * kBatchStride,
          .limit = common.limit,
          .vertex_offset = call.indexed ? static_cast<uint32_t>(call.vertex_offset) : 0,
          .draws = common.draws,
          .captures = call.transform_feedback >= 0,
          .chooses = common.chooses,
          .sequence = sequence,
          .triples = sequence || common.stages ? IndexTriples{} : fetch_triples(call, piece),
          .args = args};
}

template <class Step>
[[gnu::always_inline]] inline void GeometryWorker::State::each_instance(Piece& p, const Step& step) {
  for (uint32_t i = 0; i < p.piece.instance_count; i++) {
    p.args.instance_index = p.call.first_instance + p.piece.instance + i;
    if (p.pass.traced) p.chunk.instances.push_back({static_cast<uint32_t>(p.chunk.records.size()), p.piece.instance + i});
    if (__builtin_expect(p.pass.counts_draws, 0)) fetched.fetch_instance(p.call.first_instance, p.piece.instance + i);
    step(p.piece.instance + i);
    if (__builtin_expect(p.stopped, 0)) return leave_rest(p, i + 1);
  }
}

// Where the strips of the piece begin.
[[gnu::noinline]] void GeometryWorker::State::begin_stipple(const command::DrawCall& call, const ChunkPiece& piece) {
  assert(draw.line.stippled);
  strip_starts.clear(), batch.begins_strip = nullptr;
  if (runs_stipple(*call.state)) find_strip_starts(call, piece, strip_starts);
}

// A piece that may go in batches wider than a call of the shader goes so. Apart: what it is made of would be in every piece's way.
[[gnu::noinline]] bool GeometryWorker::State::takes_wide_batches(Piece& p) {
  if (!only_triangles(p)) return false;
  each_instance(p, [&](uint32_t instance) { draw_wide_batches(p, instance); });
  return true;
}

// State, indices, then each instance: its vertices in ranges, batches or patches (fetch, shade), what is made of them (assemble: clip,
// cull, snap, bin).
void GeometryWorker::State::process_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out) {
  assert(piece.draw < pass.draws.size() && out.chunk && out.binner == &binner);
  const command::DrawCall& call = pass.draws[piece.draw];
  if (draw.state != call.state) begin_state(pass, *call.state, out);  // so it is of each chunk's first piece
  const bool stages = common.stages;
  const uint64_t primitives = uint64_t{piece.primitive_count} * piece.instance_count;
  out.chunk->stats.primitives_in += primitives;
  if (stages) out.went_in += primitives;
  if (!has_effect(call)) return;
  draw_piece(pass, piece, out);
  if (__builtin_expect(unfinished != 0, 0)) {
    out.chunk->stats.primitives_in -= unfinished;
    if (stages) out.went_in -= unfinished;
  }
}

[[gnu::always_inline]] inline void GeometryWorker::State::draw_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out) {
  const command::DrawCall& call = pass.draws[piece.draw];
  Piece p = fetch_piece(pass, piece, out);
  begin_piece(p);
  out.primitive_id_step = 1;
  if (__builtin_expect(draw.line.stippled, 0)) begin_stipple(call, piece);
  if (__builtin_expect(common.stages, 0)) {
    if (draw.resolved->primitives.meshes) {
      begin_meshes();
      return each_instance(p, [&](uint32_t) { draw_meshes(p); });
    }
    begin_primitives(p);
    return each_instance(p, [&](uint32_t) { draw_primitives(p); });
  }
  if (__builtin_expect(pass.vertex_batch > kBatchStride, 0) && takes_wide_batches(p)) return;
  const bool ranged = takes_range(p);
  if (ranged && pass.census && piece.instance == 0) range.mark(*pass.census, piece.draw);
  if (ranged) return each_instance(p, [&](uint32_t) { draw_range(p); });
  if (is_usual(p)) return each_instance(p, [&](uint32_t instance) { draw_batches<true>(p, instance); });
  each_instance(p, [&](uint32_t instance) { draw_batches<false>(p, instance); });
}

// What a chunk has counted so far; of draws without tessellation and geometry shaders their primitives are not among it.
static records::StageCounts counted_so_far(const PassStats& stats, const Output& out) {
  records::StageCounts counts;
  counts.vertex_invocations = stats.vertices_shaded + stats.vertices_position_shaded;
  counts.patches = stats.patches, counts.evaluation_invocations = stats.evaluation_invocations;
  counts.geometry_invocations = stats.geometry_invocations, counts.geometry_primitives = stats.geometry_primitives;
  counts.task_invocations = stats.task_invocations, counts.mesh_invocations = stats.mesh_invocations;
  counts.mesh_primitives = stats.mesh_primitives;
  counts.clipped_in = out.assembled, counts.clipped_away = out.clipped_away;
  std::copy_n(out.generated, std::size(counts.generated), counts.generated);
  return counts;
}

// The same for a draw that queries count. Its vertices are noted with its first primitive.
void GeometryWorker::State::count_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out) {
  const command::DrawCall& call = pass.draws[piece.draw];
  const records::StageCounts before = counted_so_far(out.chunk->stats, out);
  process_piece(pass, piece, out);
  records::StageCounts counts = counted_so_far(out.chunk->stats, out);
  counts.counted = call.counted;
  const bool meshes = call.state->resolved->primitives.meshes;  // nothing is assembled before them
  if (!meshes) counts.primitives = uint64_t{piece.primitive_count} * piece.instance_count - unfinished;
  if (piece.first_primitive == 0 && !meshes) counts.vertices = assembled_vertices(call) * (piece.instance_count - whole_instances_left);
  counts.vertex_invocations -= before.vertex_invocations;
  counts.patches -= before.patches, counts.evaluation_invocations -= before.evaluation_invocations;
  counts.geometry_invocations -= before.geometry_invocations, counts.geometry_primitives -= before.geometry_primitives;
  counts.task_invocations -= before.task_invocations, counts.mesh_invocations -= before.mesh_invocations;
  counts.mesh_primitives -= before.mesh_primitives;
  counts.clipped_in -= before.clipped_in, counts.clipped_away -= before.clipped_away;
  for (size_t k = 0; k < std::size(counts.generated); k++) counts.generated[k] -= before.generated[k];
  if (!call.state->resolved->primitives.any()) counts.generated[0] = counts.clipped_in = counts.primitives;
  if (!rasterizes(*call.state)) counts.clipped_in = counts.clipped_away = 0;
  out.chunk->counts.push_back(counts);
}

// The same for a model of a GPU: what the piece's vertices cost, by draw.
[[gnu::noinline]] void GeometryWorker::State::note_vertices(const GeometryPass& pass, const ChunkPiece& piece, Output& out) {
  const command::DrawCall& call = pass.draws[piece.draw];
  PassStats& stats = out.chunk->stats;
  const uint64_t indices = stats.indices, shaded = stats.vertices_shaded, positions = stats.vertices_position_shaded,
                 primitives = stats.primitives_in, fetched_B = fetched.fetched_B();
  fetched.begin_draw(call);
  if (stats.draw_vertices.empty() || stats.draw_vertices.back().draw != piece.draw) stats.draw_vertices.push_back({.draw = piece.draw});
  if (call.counted)
    count_piece(pass, piece, out);
  else
    process_piece(pass, piece, out);
  DrawVertices& sum = stats.draw_vertices.back();
  sum.primitives_in += stats.primitives_in - primitives;
  sum.indices += stats.indices - indices;
  sum.vertices_shaded += stats.vertices_shaded - shaded;
  sum.vertices_position_shaded += stats.vertices_position_shaded - positions;
  sum.vertices_fetched_B += fetched.fetched_B() - fetched_B;
  const VkIndexType type = call.state->index_type;
  const uint32_t index_B = !call.indexed ? 0 : type == VK_INDEX_TYPE_UINT8_EXT ? 1 : type == VK_INDEX_TYPE_UINT16 ? 2 : 4;
  sum.indices_fetched_B += (stats.indices - indices) * index_B;
}

void GeometryWorker::begin_pass(uint64_t loop_iterations) { state_->loops = {loop_iterations}; }

const shader::LoopBudget& GeometryWorker::loops() const { return state_->loops; }

void GeometryWorker::process_chunk(const GeometryPass& pass, const ChunkPlan& plan, Chunk& chunk, std::vector<ChunkPiece>& rest,
                                   const ChunkPlan* next) {
  assert(pass.cancelled);
  State& s = *state_;
  rest.clear();
  s.rest = &rest, s.stopped = false, s.next_look = records_between_looks(pass), s.unfinished = 0, s.whole_instances_left = 0;
  chunk.clear = plan.clear;
  chunk.records.clear();
  chunk.primitive_id.clear();
  chunk.instances.clear();
  chunk.varyings.clear();
  chunk.deferred_instances.clear();
  chunk.line_starts.clear();
  chunk.entries.clear();
  chunk.runs.clear();
  chunk.hidden.clear();
  chunk.counts.clear();
  chunk.captured.clear();
  chunk.captured_words.clear();
  chunk.stats = PassStats{};
  if (plan.clear) return;
  const DefaultFloats floats;

  Output out;
  out.chunk = &chunk;
  out.binner = &s.binner;
  out.wide = pass.wide;
  const command::DrawState* seen = nullptr;
  for (const ChunkPiece& piece : plan.pieces) {
    const command::DrawState* state = pass.draws[piece.draw].state;
    if (state == seen) continue;
    seen = state;
    out.primitive_ids |= state->resolved->traits(VK_SHADER_STAGE_FRAGMENT_BIT).reads_primitive_id;
  }
  const bool counts_ids = out.primitive_ids;  // the heap is the same whether the pass is traced or not
  out.primitive_ids |= pass.traced;
  s.binner.begin(pass.grid);
  if (pass.counts_draws) s.fetched.begin_chunk();
  s.draw.state = nullptr;
  for (DrawSetup& setup : s.others) setup.state = nullptr;
  s.ahead = {};
  if (next && !next->pieces.empty()) {
    const ChunkPiece& piece = next->pieces.front();
    s.ahead = {indices_in_place(pass.draws[piece.draw], piece).bytes, size_t{piece.primitive_count} * 12};
  }
  for (size_t i = 0; i < plan.pieces.size(); i++) {
    const ChunkPiece& piece = plan.pieces[i];
    const uint32_t counted = pass.draws[piece.draw].counted;
    if (__builtin_expect(pass.counts_draws, 0))
      s.note_vertices(pass, piece, out);
    else if (__builtin_expect(counted != 0, 0))
      s.count_piece(pass, piece, out);
    else
      s.process_piece(pass, piece, out);
    if (__builtin_expect(s.stopped, 0)) {
      rest.insert(rest.end(), plan.pieces.begin() + static_cast<ptrdiff_t>(i + 1), plan.pieces.end());
      break;
    }
  }
  const uint64_t entries = s.binner.finish(chunk);

  PassStats& stats = chunk.stats;
  stats.primitives_out = chunk.records.size();
  stats.primitives_culled = stats.primitives_in - out.went_in + out.assembled - out.survivors;
  stats.bin_entries = entries;
  stats.tiler_heap_B = chunk.records.size() * sizeof(TriangleRecord) + (counts_ids ? chunk.primitive_id.size() * sizeof(uint32_t) : 0) +
                       chunk.varyings.size() * sizeof(float) + chunk.deferred_instances.size() * sizeof(DeferredRun) +
                       chunk.line_starts.size() * sizeof(LineStart) + entries * sizeof(uint32_t) + chunk.runs.size() * sizeof(BinRun);
  stats.peak_arena_B = stats.tiler_heap_B;
  // The modelled GPU forgets small triangles but for their places in the lists: what the host keeps of them is no part of its heap.
  if (pass.counts_draws)
    stats.tiler_heap_B -= stats.primitives_deferred * sizeof(TriangleRecord) + chunk.deferred_instances.size() * sizeof(DeferredRun);
}

}  // namespace tilegpu::geometry
