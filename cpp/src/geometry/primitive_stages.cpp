// geometry/primitive_stages.cpp -- stage: between the vertex shader and the rasterizer. In: a piece of a draw with tessellation or geometry
// shaders. Out: batches of what they make, assembled as those of any other draw; what transform feedback captures.
//
// Each vertex that the piece names is shaded once. A patch is a workgroup of its control shader; the points that the tessellator makes of
// it are shaded in batches of unique ones, as vertices are. A geometry shader runs for as many primitives at once as it has lanes; what it
// emits is put in the order of the API: primitive after primitive, of each invocation after invocation.
// Source: Vulkan specification, "Tessellation", "Geometry Shading", "Transform Feedback".
#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>

#include "geometry/worker_state.hpp"

namespace tilegpu::geometry {

using pipeline::PrimitiveStages;
using shader::InterfaceWord;

namespace {

constexpr uint32_t kLanes = shader::kMaxLanes;

uint32_t bits_of(float word) {
  uint32_t bits;
  std::memcpy(&bits, &word, 4);
  return bits;
}

void put_word(uint8_t* memory, float word) { std::memcpy(memory, &word, 4); }

TessellationModes modes_of(const PrimitiveStages& stages, const command::DrawState& state) {
  using Modes = shader::PrimitiveModes;
  const Modes& m = stages.modes;
  assert(m.domain != Modes::Domain::none && m.spacing != Modes::Spacing::none);
  return {static_cast<TessellationDomain>(static_cast<uint8_t>(m.domain) - 1),
          static_cast<TessellationSpacing>(static_cast<uint8_t>(m.spacing) - 1), m.order == Modes::Order::clockwise, m.point_mode,
          state.domain_origin == VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT};
}

}  // namespace

void NamedVertices::find(const uint32_t* indices, size_t count) {
  size_t entries = 64;
  while (entries < 2 * count) entries *= 2;
  table.assign(entries, 0);
  index.clear(), slot.resize(count);
  for (size_t i = 0; i < count; ++i) {
    size_t at = (indices[i] * 0x9e3779b1u) & (entries - 1);
    while (table[at] && index[table[at] - 1] != indices[i]) at = (at + 1) & (entries - 1);
    if (!table[at]) {
      index.push_back(indices[i]);
      table[at] = static_cast<uint32_t>(index.size());
    }
    slot[i] = table[at] - 1;
  }
}

void GeometryWorker::State::shade_vertices(Piece& p) {
  PrimitiveScratch& s = primitives;
  const auto count = static_cast<uint32_t>(s.named.index.size());
  s.vertices.reset(static_cast<uint32_t>(draw.resolved->primitives.of_vertices.components.size()), count);
  for (uint32_t first = 0; first < count; first += kBatchStride) {
    const uint32_t n = std::min(count - first, kBatchStride);
    for (uint32_t i = 0; i < kBatchStride; ++i) batch.vertex_index[i] = s.named.index[first + std::min(i, n - 1)] + p.vertex_offset;
    if (p.pass.counts_draws) {
      fetched.fetch(batch.vertex_index, n);
      p.stats.draw_vertices.back().vertices_in_batches += n;
    }
    p.args.count = n;
    p.args.varyings = s.vertices.words ? s.vertices.block(first) : no_varyings;
    p.shade(&p.args);
    p.stats.vertex_batches++;
  }
  p.stats.vertices_shaded += count;
}

void GeometryWorker::State::run_control(Piece& p, uint32_t first_slot, uint32_t primitive) {
  PrimitiveScratch& s = primitives;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const pipeline::ResolvedStage& stage = *draw.resolved->stages.find(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT);
  const uint32_t control_points = p.call.state->patch_control_points;
  uint8_t* memory = s.control_memory.data();
  for (const pipeline::RowWord& word : stages.control_inputs)
    for (uint32_t v = 0; v < std::min(control_points, word.to.vertices); ++v)
      put_word(memory + word.to.offset_B + word.to.half_B + size_t{v} * word.to.vertex_step_B,
               s.vertices.word(s.named.slot[first_slot + v], word.row));
  shader::ComputeArgs args{};
  args.push_constants = p.args.push_constants, args.sets = p.args.sets;
  args.shared = memory, args.scratch = s.control_scratch.data();
  args.loops = &loops;
  args.count = 1;
  std::fill_n(args.groups, 3, 1u);
  args.primitive_id = primitive, args.patch_vertices = control_points, args.view_index = p.call.view;
  const auto code = stage.code.as<shader::ComputeFunction>();
  do {
    if (args.frames_needed_B) s.control_frames.reserve(args.frames_needed_B);
    args.frames = s.control_frames.data(), args.frames_B = s.control_frames.size_B(), args.frames_needed_B = 0;
    code(&args);
  } while (args.frames_needed_B);
  p.stats.control_invocations += stages.modes.output_vertices;
}

// One patch: its control shader, the tessellator, and what comes of the points.
void GeometryWorker::State::tessellate_patch(Piece& p, uint32_t first_slot, uint32_t primitive) {
  PrimitiveScratch& s = primitives;
  const PrimitiveStages& stages = draw.resolved->primitives;
  run_control(p, first_slot, primitive);
  TessellationLevels levels;
  const auto level = [&](uint32_t k, float& out) {
    if (stages.level_offset_B[k] >= 0) std::memcpy(&out, s.control_memory.data() + stages.level_offset_B[k], 4);
  };
  for (uint32_t k = 0; k < 4; ++k) level(k, levels.outer[k]);
  for (uint32_t k = 0; k < 2; ++k) level(4 + k, levels.inner[k]);
  tessellate(modes_of(stages, *p.call.state), levels, s.patch);
  p.stats.patches++;
  if (s.patch.indices.empty()) return;
  uint8_t* const memory = s.evaluation_memory.data();
  for (const pipeline::PatchWord& word : stages.evaluation_inputs) {
    const InterfaceWord &from = word.from, &to = word.to;
    const uint32_t vertices = std::min({stages.modes.output_vertices, from.vertices, to.vertices});  // one, of the patch
    for (uint32_t v = 0; v < vertices; ++v)
      std::memcpy(memory + to.offset_B + to.half_B + size_t{v} * to.vertex_step_B,
                  s.control_memory.data() + from.offset_B + from.half_B + size_t{v} * from.vertex_step_B, 4);
  }
  p.args.inputs = memory, p.args.tess_coord = s.tess_coord;
  p.args.primitive_id = primitive, p.args.patch_vertices = stages.modes.output_vertices;
  if (!stages.makes_primitives) return draw_domain(p, primitive);
  shade_domain(p);
  const auto count = static_cast<uint32_t>(s.patch.indices.size() / 3);
  s.ids.assign(count, primitive);
  run_geometry(p, s.domain, s.patch.indices.data(), 3, s.ids.data(), count);
}

// Points `at`, the last one again up to a whole batch, through the evaluation shader.
void GeometryWorker::State::evaluate(Piece& p, const uint32_t* at, uint32_t count, float* varyings) {
  PrimitiveScratch& s = primitives;
  assert(count >= 1 && count <= kBatchStride);
  for (uint32_t i = 0; i < kBatchStride; ++i) {
    const uint32_t point = at[std::min(i, count - 1)];
    s.tess_coord[i] = s.patch.u[point];
    s.tess_coord[kBatchStride + i] = s.patch.v[point];
    s.tess_coord[2 * kBatchStride + i] = s.patch.w[point];
  }
  p.args.count = count;
  p.args.varyings = varyings;
  draw.resolved->stages.find(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT)->code.as<shader::VertexFunction>()(&p.args);
  p.stats.evaluation_invocations += count;
  p.stats.vertex_batches++;
}

// The tessellator's primitives in batches of unique points.
void GeometryWorker::State::draw_domain(Piece& p, uint32_t primitive) {
  const TessellatedPatch& patch = primitives.patch;
  const auto count = static_cast<uint32_t>(patch.indices.size() / 3);
  p.out.primitive_id_step = 0;
  for (uint32_t done = 0; done < count;) {
    done += tags.fill(reinterpret_cast<const uint8_t*>(patch.indices.data() + size_t{done} * 3), count - done, p.limit, 0, batch);
    batch.first_primitive = primitive;
    const Before before = begin_batch(p);
    place_varyings(p, before.varyings);
    evaluate(p, batch.vertex_index, batch.vertex_count, p.varying_floats ? p.chunk.varyings.data() + batch.varyings : no_varyings);
    end_batch(p, before);
  }
}

// All points, for a geometry shader.
void GeometryWorker::State::shade_domain(Piece& p) {
  PrimitiveScratch& s = primitives;
  const auto count = static_cast<uint32_t>(s.patch.u.size());
  s.domain.reset(static_cast<uint32_t>(draw.resolved->primitives.of_evaluation.components.size()), count);
  for (uint32_t first = 0; first < count; first += kBatchStride) {
    uint32_t at[kBatchStride];
    const uint32_t n = std::min(count - first, kBatchStride);
    for (uint32_t i = 0; i < n; ++i) at[i] = first + i;
    evaluate(p, at, n, s.domain.words ? s.domain.block(first) : no_varyings);
  }
}

// Primitives of `from` by a geometry shader: vertex v of the i-th is slots[i * step + v].
void GeometryWorker::State::run_geometry(Piece& p, const StageVertices& from, const uint32_t* slots, uint32_t step, const uint32_t* ids,
                                         uint32_t count) {
  PrimitiveScratch& s = primitives;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const shader::PrimitiveModes& modes = stages.geometry;
  const uint32_t lanes = draw.resolved->lanes, words = static_cast<uint32_t>(stages.emits.components.size());
  const auto code = draw.resolved->code<shader::GeometryFunction>();
  const size_t words_of_run = size_t{modes.output_vertices} * words * kLanes, ends_of_run = size_t{modes.output_vertices} * kLanes;
  s.emitted_words.resize(words_of_run * modes.invocations), s.emitted_ends.resize(ends_of_run * modes.invocations);
  s.emitted.resize(size_t{modes.invocations} * kLanes);
  uint8_t* const memory = s.geometry_memory.data();
  for (uint32_t first = 0; first < count && !is_cancelled(*p.pass.cancelled); first += lanes) {
    const uint32_t n = std::min(lanes, count - first);
    for (const pipeline::RowWord& word : stages.geometry_inputs)
      for (uint32_t v = 0; v < std::min(modes.input_vertices, word.to.vertices); ++v) {
        uint8_t* row = memory + (word.to.offset_B + size_t{v} * word.to.vertex_step_B) * lanes + word.to.half_B;
        for (uint32_t lane = 0; lane < n; ++lane)
          put_word(row + size_t{lane} * word.to.scalar_B, from.word(slots[size_t{first + lane} * step + v], word.row));
      }
    uint32_t lane_ids[kLanes] = {};
    std::copy_n(ids + first, n, lane_ids);
    for (uint32_t invocation = 0; invocation < modes.invocations; ++invocation) {
      shader::GeometryArgs args{};
      args.push_constants = p.args.push_constants, args.sets = p.args.sets;
      args.inputs = memory, args.primitive_id = lane_ids;
      args.count = n, args.invocation = invocation, args.view_index = p.call.view;
      args.vertices = s.emitted_words.data() + words_of_run * invocation, args.ends = s.emitted_ends.data() + ends_of_run * invocation;
      args.scratch = scratch.data(), args.loops = &loops;
      code(&args);
      std::copy_n(args.emitted, kLanes, s.emitted.data() + size_t{invocation} * kLanes);
    }
    p.stats.geometry_invocations += uint64_t{n} * modes.invocations;
    collect_primitives(p, n);
    draw_made(p);
  }
}

// What the lanes have emitted, in order: strips, of each stream its own, cut into primitives.
void GeometryWorker::State::collect_primitives(Piece& p, uint32_t count) {
  PrimitiveScratch& s = primitives;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const uint32_t words = static_cast<uint32_t>(stages.emits.components.size()), most = stages.geometry.output_vertices;
  const uint32_t vertices = stages.geometry.made_vertices, rasterized = draw.state->rasterization.rasterization_stream;
  s.made.words = words, s.made.count = 0, s.made.data.clear();
  s.triples.clear(), s.begins_strip.clear();
  for (uint32_t lane = 0; lane < count; ++lane) {
    for (uint32_t invocation = 0; invocation < stages.geometry.invocations; ++invocation) {
      const uint32_t* run = s.emitted_words.data() + size_t{most} * words * kLanes * invocation;
      const uint32_t* ends = s.emitted_ends.data() + size_t{most} * kLanes * invocation;
      const uint32_t emitted = std::min(s.emitted[size_t{invocation} * kLanes + lane], most);
      uint32_t in_strip[kMaxStreams] = {}, last[kMaxStreams] = {}, before_last[kMaxStreams] = {};
      for (uint32_t v = 0; v < emitted; ++v) {
        const uint32_t slot = s.made.add();
        for (uint32_t k = 0; k < words; ++k) std::memcpy(&s.made.word(slot, k), &run[(size_t{v} * words + k) * kLanes + lane], 4);
        const uint32_t end = ends[size_t{v} * kLanes + lane], stream = end & (shader::kEndsStrip - 1);
        const uint32_t in = ++in_strip[stream];
        if (in >= vertices || vertices == 1) {
          uint32_t triple[3] = {slot, slot, slot};
          if (vertices == 2) triple[0] = last[stream];
          if (vertices == 3) strip_triangle(before_last[stream], last[stream], slot, (in - vertices) & 1, draw.provoking_last, triple);
          if (stream == rasterized) {
            s.triples.insert(s.triples.end(), triple, triple + 3);
            s.begins_strip.push_back(in == vertices);
          }
          p.stats.geometry_primitives++, p.out.generated[stream]++;
          capture(p, stream, s.made, triple, vertices);
        }
        before_last[stream] = last[stream], last[stream] = slot;
        for (uint32_t of = 0; of < kMaxStreams; ++of)
          if (end & shader::kEndsStrip << of) in_strip[of] = 0;
      }
    }
  }
}

// Batches of what the geometry shader emitted to the stream that is rasterized.
void GeometryWorker::State::draw_made(Piece& p) {
  PrimitiveScratch& s = primitives;
  const shader::VaryingLayout& emits = draw.resolved->primitives.emits;
  const auto count = static_cast<uint32_t>(s.triples.size() / 3);
  // Where each word that the fixed functions want stands in a vertex; -1: it was not emitted.
  struct Wanted {
    uint8_t* to;  // the batch's, of vertex 0
    int row;
  };
  std::array<Wanted, 4 + kMaxClipComponents + 5> wanted;
  size_t wants = 0;
  const auto want = [&](auto* to, uint32_t location, uint32_t component = 0) {
    wanted[wants++] = {reinterpret_cast<uint8_t*>(to), emits.find(location, component)};
  };
  for (uint32_t c = 0; c < 4; ++c) want(batch.position + c * kBatchStride, shader::kPositionLocation, c);
  for (uint32_t c = 0; c < draw.clip_distances; ++c) want(batch.clip_distance + c * kBatchStride, shader::kClipDistanceLocation, c);
  for (uint32_t c = 0; c < draw.cull_distances; ++c)
    want(batch.clip_distance + (draw.clip_distances + c) * kBatchStride, shader::kCullDistanceLocation, c);
  want(batch.layer, shader::kLayerLocation), want(batch.viewport, shader::kViewportLocation);
  want(batch.primitive_id, shader::kPrimitiveIdLocation), want(batch.point_size, shader::kPointSizeLocation);
  want(batch.shading_rate, shader::kShadingRateLocation);
  p.out.primitive_id_step = 0;
  for (uint32_t done = 0; done < count && p.draws;) {
    const uint32_t first = done;
    done += tags.fill(reinterpret_cast<const uint8_t*>(s.triples.data() + size_t{done} * 3), count - done, p.limit, 0, batch);
    batch.first_primitive = 0;
    batch.begins_strip = draw.line.stippled ? s.begins_strip.data() + first : nullptr;
    const Before before = begin_batch(p);
    place_varyings(p, before.varyings);
    float* const varyings = p.varying_floats ? p.chunk.varyings.data() + batch.varyings : no_varyings;
    for (uint32_t i = 0; i < batch.vertex_count; ++i) {
      const uint32_t slot = batch.vertex_index[i];
      for (uint32_t k = 0; k < draw.components; ++k) varyings[k * kBatchStride + i] = s.made.word(slot, k);
      for (const Wanted& w : std::span(wanted.data(), wants)) {
        const float word = w.row < 0 ? 0.0f : s.made.word(slot, static_cast<uint32_t>(w.row));
        std::memcpy(w.to + size_t{i} * 4, &word, 4);
      }
    }
    end_batch(p, before);
  }
}

// A primitive as transform feedback has it: vertex after vertex, the captured words of its stream.
void GeometryWorker::State::capture(Piece& p, uint32_t stream, const StageVertices& from, const uint32_t* slots, uint32_t vertices) {
  if (p.call.transform_feedback < 0) return;
  const std::vector<uint32_t>& rows = draw.resolved->primitives.captured_rows[stream];
  records::CapturedRun& run = captured_run(p, stream, vertices);
  uint32_t* words = p.chunk.captured_words.extend(rows.size() * vertices);
  for (uint32_t v = 0; v < vertices; ++v)
    for (uint32_t row : rows) *words++ = bits_of(from.word(slots[v], row));
  run.primitives++;
}

// The same of a batch, whose varyings lie in the chunk.
void GeometryWorker::State::capture_batch(Piece& p) {
  const std::vector<uint32_t>& rows = draw.resolved->primitives.captured_rows[0];
  const uint32_t vertices = draw.kind == PrimitiveKind::triangle ? 3 : draw.kind == PrimitiveKind::line ? 2 : 1;
  records::CapturedRun& run = captured_run(p, 0, vertices);
  uint32_t* words = p.chunk.captured_words.extend(rows.size() * vertices * batch.primitive_count);
  for (uint32_t i = 0; i < batch.primitive_count; ++i)
    for (uint32_t v = 0; v < vertices; ++v)
      for (uint32_t row : rows) *words++ = bits_of(p.chunk.varyings.data()[batch.varyings + row * kBatchStride + batch.slot[v][i]]);
  run.primitives += batch.primitive_count;
}

records::CapturedRun& GeometryWorker::State::captured_run(Piece& p, uint32_t stream, uint32_t vertices) {
  const auto interval = static_cast<uint32_t>(p.call.transform_feedback);
  auto& runs = p.chunk.captured;
  if (runs.empty() || runs.back().draw != p.piece.draw || runs.back().stream != stream)
    runs.push_back({interval, p.piece.draw, stream, vertices, 0, p.chunk.captured_words.size()});
  return runs.back();
}

// One instance.
void GeometryWorker::State::draw_primitives(Piece& p) {
  PrimitiveScratch& s = primitives;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const uint32_t vertices = stages.tessellates ? p.call.state->patch_control_points : stages.geometry.input_vertices;
  shade_vertices(p);
  p.stats.indices += uint64_t{p.piece.primitive_count} * vertices;
  if (stages.tessellates) {
    for (uint32_t i = 0; i < p.piece.primitive_count && !p.stopped; ++i) {
      tessellate_patch(p, i * vertices, p.piece.first_primitive + i);
      stops_stages(p, i + 1);
    }
    if (p.stopped) p.stats.indices -= uint64_t{p.piece.primitive_count - p.primitives_done} * vertices;
    return;
  }
  s.ids.resize(p.piece.primitive_count);
  for (uint32_t i = 0; i < p.piece.primitive_count; ++i) s.ids[i] = p.piece.first_primitive + i;
  for (uint32_t done = 0; done < p.piece.primitive_count && !p.stopped;) {
    const uint32_t count = std::min(p.piece.primitive_count - done, draw.resolved->lanes);
    run_geometry(p, s.vertices, s.named.slot.data() + size_t{done} * vertices, vertices, s.ids.data() + done, count);
    done += count;
    stops_stages(p, done);
  }
  if (p.stopped) p.stats.indices -= uint64_t{p.piece.primitive_count - p.primitives_done} * vertices;
}

// Vertices and memory that all instances of the piece share.
void GeometryWorker::State::begin_primitives(Piece& p) {
  PrimitiveScratch& s = primitives;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const uint32_t fetched = fetch_primitives(p.call, with_skipped(p.piece), p.call.state->rasterization.provoking_vertex_last, s.indices);
  assert(fetched == (stages.tessellates ? p.call.state->patch_control_points : stages.geometry.input_vertices));
  s.named.find(s.indices.data() + size_t{p.piece.restart_skip} * fetched, size_t{p.piece.primitive_count} * fetched);
  p.args.clip_distance = batch.clip_distance;
  if (stages.tessellates) {
    const auto& control = draw.resolved->traits(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT);
    constexpr size_t kVectors = (kMaxPatchVertices + 3) / 4;
    s.control_memory.reserve(std::max(stages.control_memory.size_B, stages.control_outputs_B) + size_t{shader::kSharedReadBehind_B});
    s.control_scratch.reserve(std::max<size_t>(control.private_memory_B * kVectors, 64));
    s.evaluation_memory.reserve(stages.evaluation_memory.size_B + size_t{64});
    std::memset(s.evaluation_memory.data(), 0, stages.evaluation_memory.size_B + size_t{64});
    std::memset(s.control_memory.data(), 0, std::max(stages.control_memory.size_B, stages.control_outputs_B));
  }
  if (stages.makes_primitives) {
    const size_t size_B = size_t{stages.geometry_memory.size_B} * draw.resolved->lanes + 64;
    s.geometry_memory.reserve(size_B);
    std::memset(s.geometry_memory.data(), 0, size_B);
  }
}

}  // namespace tilegpu::geometry
