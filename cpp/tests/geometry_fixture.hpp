// tests/geometry_fixture.hpp -- a pass of hand-made draws for the tests of the geometry phase: the vertex shader is a C++ function
// that copies vec4 positions from binding 0 and derives varyings from them, so no code generator is needed.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <random>

#include "check.hpp"
#include "geometry/geometry.hpp"
#include "vk/sample_locations.hpp"

namespace fixture {

using namespace tilegpu;
using namespace tilegpu::geometry;

struct Vec4 {
  float x, y, z, w;
};

/// Of the census, whose work a pass gives to its threads.
inline void on_this_thread(uint32_t pieces, const std::function<void(uint32_t)>& work) {
  for (uint32_t piece = 0; piece < pieces; piece++) work(piece);
}

/// What the stand-in shader does besides positions.
struct ShaderConfig {
  uint32_t components = 0;
  uint32_t distances = 0;                // clip and cull distances, from binding 1: 4 floats a vertex
  std::vector<uint32_t>* log = nullptr;  // vertex indices in the order of shading
};
inline ShaderConfig shader_config;

inline Vec4 fetch(const shader::VertexBinding& binding, uint32_t index) {
  Vec4 v{};
  const uint64_t at = uint64_t{index} * sizeof(Vec4);
  if (at + sizeof(Vec4) <= binding.size_B) std::memcpy(&v, binding.data + at, sizeof(Vec4));
  return v;
}

/// Varying c of a vertex (4: from binding 1, any): linear in its clip-space position, so that interpolation can be checked anywhere.
inline float varying_of(const Vec4& p, uint32_t c) {
  switch (c % 4) {
    case 0:
      return p.x;
    case 1:
      return p.y;
    case 2:
      return p.z;
    default:
      return p.w;
  }
}

inline void vertex_function(shader::VertexArgs* a) {
  for (uint32_t v = 0; v < a->count; v++) {
    Vec4 p = fetch(a->bindings[0], a->vertex_index[v]);
    p.x += static_cast<float>(a->instance_index) * p.w;
    const float position[4] = {p.x, p.y, p.z, p.w};
    for (int c = 0; c < 4; c++) a->position[c * shader::kBatchStride + v] = position[c];
    for (uint32_t c = 0; c < shader_config.components; c++)
      a->varyings[c * shader::kBatchStride + v] = c == 4 ? fetch(a->bindings[1], a->vertex_index[v]).w : varying_of(p, c);
    if (a->clip_distance) {
      const Vec4 d = fetch(a->bindings[1], a->vertex_index[v]);
      const float distance[4] = {d.x, d.y, d.z, d.w};
      for (uint32_t c = 0; c < shader_config.distances; c++) a->clip_distance[c * shader::kBatchStride + v] = distance[c & 3];
    }
    if (shader_config.log) shader_config.log->push_back(a->vertex_index[v]);
  }
}

struct Scene {
  uint32_t width_px = 64, height_px = 64, samples = 1, bin_px = 32, bin_height_px = 0, vertex_batch = 32;  // height 0: squares
  bool vertex_ranges = false, wide = false;
  std::vector<Vec4> positions, distances;
  std::deque<command::DrawState> states;
  std::vector<command::DrawCall> draws;
  std::vector<PassCommand> commands;
  ChunkPlans plans;
  std::vector<std::unique_ptr<Chunk>> chunks;
  BinnedGeometry bins;
  GraphicsPipelineCreateInfo info;  // of the next draw
  pipeline::Resolved resolved;
  std::deque<std::vector<uint8_t>> index_memory;

  Scene() {
    info.multisample.samples = VK_SAMPLE_COUNT_1_BIT;
    resolved.stages.add({VK_SHADER_STAGE_VERTEX_BIT, {}, {}, shader::Code(vertex_function).as<shader::AnyFunction>()});
    resolved.stages.add({VK_SHADER_STAGE_FRAGMENT_BIT, {}, {}, {}});
  }
  void varyings(uint32_t count, std::vector<shader::Interpolation> modes = {}) {
    resolved.varyings.components.assign(count, {});
    for (uint32_t i = 0; i < count && i < modes.size(); i++) resolved.varyings.components[i].interpolation = modes[i];
    for (const auto& c : resolved.varyings.components) resolved.has_flat |= c.interpolation == shader::Interpolation::flat;
    shader_config.components = count;
  }
  command::DrawState& new_state() {
    command::DrawState state;
    static_cast<FixedFunctionState&>(state) = static_cast<const FixedFunctionState&>(info);
    resolved.vertex_input = info.vertex_bindings;
    resolved.depth_format = info.depth_format;
    state.resolved = std::make_shared<pipeline::Resolved>(resolved);
    state.viewport = {0, 0, static_cast<float>(width_px), static_cast<float>(height_px), 0, 1};
    state.scissor = {{0, 0}, {width_px, height_px}};
    states.push_back(state);
    return states.back();
  }
  command::DrawCall& draw(uint32_t count, uint32_t first = 0, uint32_t instances = 1) {
    command::DrawCall call;
    call.state = &new_state();
    call.count = count;
    call.first = first;
    call.instance_count = instances;
    PassCommand command;
    command.draw = static_cast<uint32_t>(draws.size());
    draws.push_back(call);
    commands.push_back(command);
    return draws.back();
  }
  template <class T>
  command::DrawCall& draw_indexed(const std::vector<T>& indices, uint32_t instances = 1) {
    command::DrawCall& call = draw(static_cast<uint32_t>(indices.size()), 0, instances);
    call.indexed = true;
    std::vector<uint8_t> bytes(indices.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), indices.data(), bytes.size());
    index_memory.push_back(std::move(bytes));
    command::DrawState& state = states.back();
    state.index_data = index_memory.back().data();
    state.index_size_B = index_memory.back().size();
    state.index_type = sizeof(T) == 1 ? VK_INDEX_TYPE_UINT8_EXT : sizeof(T) == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32;
    return call;
  }
  GeometryPass pass() {
    for (command::DrawState& state : states) {
      state.vertex_bindings[0] = {reinterpret_cast<const uint8_t*>(positions.data()), positions.size() * sizeof(Vec4)};
      state.vertex_bindings[1] = {reinterpret_cast<const uint8_t*>(distances.data()), distances.size() * sizeof(Vec4)};
    }
    GeometryPass pass;
    pass.draws = draws;
    pass.commands = commands;
    pass.grid.width_px = bin_px, pass.grid.height_px = bin_height_px ? bin_height_px : bin_px;
    pass.grid.columns = (width_px + bin_px - 1) / bin_px;
    pass.grid.rows = (height_px + pass.grid.height_px - 1) / pass.grid.height_px;
    pass.render_area = {{0, 0}, {width_px, height_px}};
    pass.samples = samples;
    pass.vertex_batch = vertex_batch;
    pass.vertex_ranges = vertex_ranges;
    pass.wide = wide;
    return pass;
  }
  void run() {
    const GeometryPass p = pass();
    plan_chunks(p, plans);
    chunks.clear();
    GeometryWorker worker;
    std::vector<ChunkPiece> rest;
    for (const ChunkPlan& plan : plans) {
      chunks.push_back(std::make_unique<Chunk>());
      worker.process_chunk(p, plan, *chunks.back(), rest);
    }
    std::vector<const Chunk*> pointers;
    for (const auto& chunk : chunks) pointers.push_back(chunk.get());
    gather_bins(p, pointers, bins);
  }
  std::vector<TriangleRecord> records() const {
    std::vector<TriangleRecord> all;
    for (const auto& chunk : chunks) all.insert(all.end(), chunk->records.begin(), chunk->records.end());
    return all;
  }
  PassStats stats() const {
    PassStats sum;
    for (const auto& chunk : chunks) {
      const PassStats& s = chunk->stats;
      sum.indices += s.indices;
      sum.vertices_shaded += s.vertices_shaded;
      sum.vertex_batches += s.vertex_batches;
      sum.primitives_in += s.primitives_in;
      sum.primitives_culled += s.primitives_culled;
      sum.primitives_clipped += s.primitives_clipped;
      sum.primitives_out += s.primitives_out;
      sum.bin_entries += s.bin_entries;
      sum.tiler_heap_B += s.tiler_heap_B;
    }
    return sum;
  }
};

inline int64_t edge(const TriangleRecord& t, int a, int b, int64_t x, int64_t y) {
  return (int64_t{t.x[b]} - t.x[a]) * (y - t.y[a]) - (int64_t{t.y[b]} - t.y[a]) * (x - t.x[a]);
}
inline int64_t area(const TriangleRecord& t) { return edge(t, 0, 1, t.x[2], t.y[2]); }

/// A point in 1/256 px is covered, by the top-left rule.
inline bool covers(const TriangleRecord& t, int64_t x, int64_t y) {
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3;
    const int64_t e = edge(t, a, b, x, y);
    const int64_t dx = int64_t{t.x[b]} - t.x[a], dy = int64_t{t.y[b]} - t.y[a];
    if (e < 0 || (e == 0 && !(dy < 0 || (dy == 0 && dx > 0)))) return false;
  }
  return true;
}

/// Clip-space position of a point of a 64x64 (or width x height) picture, w = 1.
inline Vec4 at_px(float x, float y, float z = 0.5f, float width = 64, float height = 64) {
  return {x / (width * 0.5f) - 1, y / (height * 0.5f) - 1, z, 1};
}

}  // namespace fixture
