// geometry/mesh_stages.cpp -- stage: in place of vertices. In: a piece of a draw with a mesh shader: workgroups of its task shader, or of
// the mesh shader where there is none. Out: batches of what the mesh shader makes, assembled as those of any other draw.
//
// Workgroups run one after the other on the thread that has the piece, as a dispatch's do, each in memory of its own: its shared variables,
// its outputs, and the payload that its task shader left. So what comes of them is in the order of the API: workgroup after workgroup, and
// in each primitive after primitive. What is the primitive's, and not a vertex's, goes with the vertex that provokes it, which that
// primitive then has for itself. What a shader says too much of (vertices, primitives, indices, workgroups) is cut or left out, as
// docs/undefined.md says; nothing of it is used as an address before.
// Source: Vulkan specification, "Mesh Shading"; SPV_EXT_mesh_shader.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/host_memory.hpp"
#include "geometry/worker_state.hpp"

namespace tilegpu::geometry {

using pipeline::PrimitiveStages;
using shader::InterfaceWord;

namespace {

/// Slots of vertices that one primitive has for itself come behind those of all vertices.
constexpr uint32_t kOwnVertices = kMaxMeshVertices;

uint64_t invocations_of(const shader::StageTraits& traits) {
  return uint64_t{traits.workgroup_size[0]} * traits.workgroup_size[1] * traits.workgroup_size[2];
}

/// How many of a kind each array of the shader has room for, if fewer than it says at most.
uint32_t room_of(const shader::InterfaceMemory& made, bool primitive, uint32_t most) {
  for (const InterfaceWord& word : made.words)
    if (word.primitive == primitive) most = std::min(most, word.vertices);
  return most;
}

}  // namespace

// Memory that all workgroups of the piece use in turn, and where the fixed functions' words lie in it.
void GeometryWorker::State::begin_meshes() {
  MeshScratch& s = meshes;
  const PrimitiveStages& stages = draw.resolved->primitives;
  size_t scratch_B = 64;
  for (const auto& [which, memory] :
       {std::pair(VK_SHADER_STAGE_TASK_BIT_EXT, &s.task_memory), {VK_SHADER_STAGE_MESH_BIT_EXT, &s.mesh_memory}}) {
    const shader::StageTraits& traits = draw.resolved->traits(which);
    const uint64_t vectors = traits.waits ? (invocations_of(traits) + 3) / 4 : 1;
    memory->reserve(traits.reads.size_B + size_t{shader::kSharedReadBehind_B});
    std::memset(memory->data(), 0, traits.reads.size_B + size_t{shader::kSharedReadBehind_B});
    scratch_B = std::max<size_t>(scratch_B, traits.private_memory_B * vectors);
  }
  s.scratch.reserve(scratch_B);
  s.vertex_room = room_of(stages.mesh_made, false, stages.mesh.output_vertices);
  s.primitive_room = room_of(stages.mesh_made, true, stages.mesh.output_primitives);
  s.wanted.clear();
  std::fill_n(s.index, 3, nullptr);
  s.culled = nullptr;
  const auto want = [&](const InterfaceWord& word, auto* rows, uint32_t row) {
    s.wanted.push_back({&word, reinterpret_cast<uint8_t*>(rows + row * kBatchStride)});
  };
  for (const InterfaceWord& word : stages.mesh_made.words) {
    const uint32_t c = word.component;
    if (word.location == shader::kPrimitiveIndicesLocation && c < 3) s.index[c] = &word;
    if (word.location == shader::kCullPrimitiveLocation) s.culled = &word;
    if (word.location == shader::kPositionLocation && c < 4) want(word, batch.position, c);
    if (word.location == shader::kClipDistanceLocation && c < draw.clip_distances) want(word, batch.clip_distance, c);
    if (word.location == shader::kCullDistanceLocation && c < draw.cull_distances) want(word, batch.clip_distance, draw.clip_distances + c);
    if (word.location == shader::kPointSizeLocation) want(word, batch.point_size, 0);
    if (word.location == shader::kLayerLocation) want(word, batch.layer, 0);
    if (word.location == shader::kViewportLocation) want(word, batch.viewport, 0);
    if (word.location == shader::kPrimitiveIdLocation) want(word, batch.primitive_id, 0);
    if (word.location == shader::kShadingRateLocation) want(word, batch.shading_rate, 0);
  }
}

// One workgroup of a stage, number `at` of `groups`; what it said of itself is in `args`.
void GeometryWorker::State::run_workgroup(Piece& p, const pipeline::ResolvedStage& stage, const std::array<uint32_t, 3>& groups,
                                          uint64_t at, uint8_t* memory, shader::ComputeArgs& args) {
  MeshScratch& s = meshes;
  assert(at < uint64_t{groups[0]} * groups[1] * groups[2]);
  args = {};
  args.push_constants = p.args.push_constants, args.sets = p.args.sets;
  args.shared = memory, args.scratch = s.scratch.data();
  args.loops = &loops;
  args.first = at, args.count = 1;
  std::copy_n(groups.begin(), 3, args.groups);
  args.view_index = p.call.view, args.draw_index = p.call.draw_index;
  const auto code = stage.code.as<shader::ComputeFunction>();
  do {
    if (args.frames_needed_B) s.frames.reserve(args.frames_needed_B);
    args.frames = s.frames.data(), args.frames_B = s.frames.size_B(), args.frames_needed_B = 0;
    args.made_by = shader::kNobody, args.made[0] = args.made[1] = args.made[2] = 0;
    code(&args);
  } while (args.frames_needed_B);
}

// Which primitives are drawn, of which vertices. Three slots each, as the batches take them.
void GeometryWorker::State::collect_mesh(Piece& p, uint32_t vertices, uint32_t primitives) {
  MeshScratch& s = meshes;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const uint8_t* const memory = s.mesh_memory.data();
  const uint32_t corners = stages.mesh.made_vertices, provoking = draw.provoking_last ? corners - 1 : 0;
  s.triples.clear();
  const auto word_at = [&](const InterfaceWord* word, uint32_t i) {
    uint32_t value = 0;
    if (word) std::memcpy(&value, memory + word->offset_B + word->half_B + size_t{i} * word->vertex_step_B, 4);
    return value;
  };
  for (uint32_t i = 0; i < primitives; ++i) {
    uint32_t corner[3] = {};
    bool there = true;
    for (uint32_t k = 0; k < corners; ++k) {
      corner[k] = word_at(s.index[k], i);
      there &= corner[k] < vertices;
    }
    const bool culled = there && word_at(s.culled, i) != 0;
    p.stats.mesh_primitives_culled += culled || !there;
    if (!there || culled) continue;
    if (stages.mesh_of_primitives) {
      s.own_vertex[i] = static_cast<uint16_t>(corner[provoking]);
      corner[provoking] = kOwnVertices + i;
    }
    for (uint32_t k = corners; k < 3; ++k) corner[k] = corner[corners - 1];
    s.triples.insert(s.triples.end(), corner, corner + 3);
  }
}

// What one word of the batch's vertices is: of the vertex, or of the primitive that has it for itself.
void GeometryWorker::State::take_words(const InterfaceWord& word, uint8_t* to) const {
  const MeshScratch& s = meshes;
  const uint8_t* const from = s.mesh_memory.data() + word.offset_B + word.half_B;
  for (uint32_t i = 0; i < batch.vertex_count; ++i) {
    const uint32_t slot = batch.vertex_index[i];
    const bool own = slot >= kOwnVertices;
    if (word.primitive && !own) {
      std::memset(to + size_t{i} * 4, 0, 4);
      continue;
    }
    const uint32_t number = word.primitive ? slot - kOwnVertices : own ? s.own_vertex[slot - kOwnVertices] : slot;
    assert(number < word.vertices);
    std::memcpy(to + size_t{i} * 4, from + size_t{number} * word.vertex_step_B, 4);
  }
}

// Batches of what a workgroup made.
void GeometryWorker::State::draw_mesh(Piece& p, uint32_t workgroup) {
  MeshScratch& s = meshes;
  const PrimitiveStages& stages = draw.resolved->primitives;
  const auto count = static_cast<uint32_t>(s.triples.size() / 3);
  const bool all_written = stages.mesh_rows.size() == draw.components;
  p.out.primitive_id_step = 0;
  for (uint32_t done = 0; done < count && p.draws;) {
    done += tags.fill(reinterpret_cast<const uint8_t*>(s.triples.data() + size_t{done} * 3), count - done, p.limit, 0, batch);
    batch.first_primitive = workgroup;
    batch.begins_strip = nullptr;
    const Before before = begin_batch(p);
    place_varyings(p, before.varyings);
    float* const varyings = p.varying_floats ? p.chunk.varyings.data() + batch.varyings : no_varyings;
    for (uint32_t k = 0; k < draw.components && !all_written; ++k) std::fill_n(varyings + k * kBatchStride, batch.vertex_count, 0.0f);
    for (const pipeline::MadeWord& word : stages.mesh_rows)
      take_words(word.from, reinterpret_cast<uint8_t*>(varyings + word.row * kBatchStride));
    for (const MeshScratch::Wanted& w : s.wanted) take_words(*w.from, w.to);
    end_batch(p, before);
  }
}

// One workgroup of the mesh shader.
void GeometryWorker::State::run_mesh(Piece& p, const std::array<uint32_t, 3>& groups, uint64_t at, uint32_t drawn_as) {
  MeshScratch& s = meshes;
  const pipeline::ResolvedStage& stage = *draw.resolved->stages.find(VK_SHADER_STAGE_MESH_BIT_EXT);
  const shader::StageTraits& traits = stage.traits;
  if (traits.payload_B) {
    const shader::StageTraits& task = draw.resolved->traits(VK_SHADER_STAGE_TASK_BIT_EXT);
    // What there is not stays 0.
    std::memcpy(s.mesh_memory.data() + traits.payload_offset_B, s.task_memory.data() + task.payload_offset_B,
                std::min(traits.payload_B, task.payload_B));
  }
  shader::ComputeArgs args;
  run_workgroup(p, stage, groups, at, s.mesh_memory.data(), args);
  const uint32_t vertices = std::min(args.made[0], s.vertex_room), primitives = std::min(args.made[1], s.primitive_room);
  p.stats.mesh_workgroups++;
  p.stats.mesh_invocations += invocations_of(traits);
  p.stats.mesh_vertices += vertices, p.stats.mesh_primitives += primitives;
  collect_mesh(p, vertices, primitives);
  draw_mesh(p, drawn_as);
}

// The piece's workgroups, in order.
void GeometryWorker::State::draw_meshes(Piece& p) {
  MeshScratch& s = meshes;
  const pipeline::ResolvedStage* const task = draw.resolved->stages.find(VK_SHADER_STAGE_TASK_BIT_EXT);
  for (uint32_t i = 0; i < p.piece.primitive_count && !loops.spent_stage && !p.stopped; stops_stages(p, ++i)) {
    const uint32_t at = p.piece.first_primitive + i;
    if (!task) {
      run_mesh(p, p.call.groups, at, at);
      continue;
    }
    shader::ComputeArgs args;
    run_workgroup(p, *task, p.call.groups, at, s.task_memory.data(), args);
    p.stats.task_workgroups++;
    p.stats.task_invocations += invocations_of(task->traits);
    const std::array<uint32_t, 3> groups = {args.made[0], args.made[1], args.made[2]};
    const uint64_t count = command::mesh_workgroups(groups);
    for (uint64_t k = 0; k < count && !loops.spent_stage && !is_cancelled(*p.pass.cancelled); ++k) run_mesh(p, groups, k, at);
  }
}

}  // namespace tilegpu::geometry
