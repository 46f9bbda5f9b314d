// hsr/vertex_deferral.cpp -- see vertex_deferral.hpp.
#include "hsr/vertex_deferral.hpp"

#include <algorithm>
#include <cassert>

#include "hsr/bound_memory.hpp"

namespace tilegpu::hsr {

namespace {

struct Written {
  Bytes bytes;
  int32_t draw;  // -1: an attachment
};

// What the pass may write: attachments when tiles are stored, storage buffers, storage images and texel buffers.
std::vector<Written> written_memory(std::span<const command::DrawCall> draws, const RenderingInfo& pass) {
  std::vector<Written> written;
  const auto add_view = [&](const Ptr<ImageView>& view) {
    if (view && view->image()->data()) written.push_back({{view->image()->data(), view->image()->required_B()}, -1});
  };
  const auto add_bytes = [&](const uint8_t* data, uint64_t size_B, size_t draw) {
    const auto known = [&](const Written& w) { return w.bytes == Bytes{data, size_B}; };
    if (size_B && std::none_of(written.begin(), written.end(), known)) written.push_back({{data, size_B}, static_cast<int32_t>(draw)});
  };
  const auto add = [&](const RenderingAttachment& a) {
    add_view(a.view), add_view(a.resolve_view);
    if (a.pieces) add_view(a.pieces->store_view);
  };
  for (const RenderingAttachment& color : pass.color) add(color);
  add(pass.depth);
  add(pass.stencil);
  const command::DrawState* last = nullptr;
  for (size_t i = 0; i < draws.size(); i++) {
    const command::DrawState& state = *draws[i].state;
    if (&state == last) continue;
    last = &state;
    for (const shader::BufferSlot& slot : state.resolved->written_buffers)
      for (uint32_t k = 0; k < elements_of(state, slot.set, slot.at, slot.count); k++) {
        const shader::BufferDescriptor& buffer = buffer_at(state, slot, k);
        add_bytes(buffer.data, buffer.size_B, i);
      }
    for (const shader::TextureSlot& slot : state.resolved->written_images)
      for (uint32_t k = 0; k < elements_of(state, slot.image_set, slot.image, slot.image_count); k++) {
        const shader::ImageViewAbi& view = *image_at(state, slot, k).alone.view;
        add_bytes(view.level[0].data, level_size_B(view, 0), i);
      }
  }
  return written;
}

/// The first draw whose shaders write memory by address, which may be any; -1: none.
int32_t writes_anywhere(std::span<const command::DrawCall> draws) {
  for (size_t i = 0; i < draws.size(); i++)
    for (const pipeline::ResolvedStage& stage : draws[i].state->resolved->stages)
      if (stage.traits.writes_addresses) return static_cast<int32_t>(i);
  return -1;
}

VertexDeferral decide(const command::DrawState& state, std::span<const Written> written, int32_t anywhere) {
  const pipeline::Resolved& resolved = *state.resolved;
  VertexDeferral decision;
  if (const char* obstacle = deferral_obstacle(state)) {
    decision.reason = obstacle;
    return decision;
  }
  if (anywhere >= 0) {
    decision.reason = "a shader of the pass writes memory by address, which may be what the vertex shader reads";
    decision.by_draw = anywhere;
    return decision;
  }
  const auto refuse = [&](const char* reason, const uint8_t* data, uint64_t size_B) {
    for (const Written& w : written)
      if (w.bytes.overlaps({data, size_B})) {
        decision.reason = w.draw < 0 ? "the vertex shader reads memory that an attachment of the pass is stored to" : reason;
        decision.by_draw = w.draw;
        return true;
      }
    return false;
  };
  for (const VertexInputBinding& binding : resolved.vertex_input) {
    const shader::VertexBinding& bound = state.vertex_bindings[binding.binding];
    if (refuse("a vertex buffer is memory that a shader of the pass may write", bound.data, bound.size_B)) return decision;
  }
  const pipeline::ResolvedStage* vertex = resolved.stages.find(VK_SHADER_STAGE_VERTEX_BIT);
  assert(vertex);
  for (const shader::BufferSlot& slot : vertex->resources.buffers)
    for (uint32_t k = 0; k < elements_of(state, slot.set, slot.at, slot.count); k++) {
      const shader::BufferDescriptor& buffer = buffer_at(state, slot, k);
      if (refuse("the vertex shader reads a buffer that a shader of the pass may write", buffer.data, buffer.size_B)) return decision;
    }
  for (const shader::TextureSlot& slot : vertex->resources.textures)
    for (uint32_t k = 0; k < elements_of(state, slot.image_set, slot.image, slot.image_count); k++) {
      const shader::ImageViewAbi& view = *image_at(state, slot, k).alone.view;
      for (int32_t level = 0; level < view.level_count; level++)
        if (refuse("the vertex shader reads a texture in memory that a shader of the pass may write", view.level[level].data,
                   level_size_B(view, level)))
          return decision;
    }
  decision.position = resolved.position.code;
  if (!decision.position) decision.reason = "the pipeline has no slice of its vertex shader";
  return decision;
}

}  // namespace

const char* deferral_obstacle(const command::DrawState& state) {
  const pipeline::Resolved& resolved = *state.resolved;
  if (resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).writes_memory)
    return "the vertex shader writes memory: each vertex is shaded as the API says";
  if (resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).reads_addresses)
    return "the vertex shader reads memory by address: what else of the pass lies there is not known";
  if (resolved.primitives.meshes) return "a mesh shader makes the vertices";
  if (resolved.primitives.any()) return "tessellation and geometry shaders make the vertices";
  if (!resolved.primitives.captured.words.empty()) return "transform feedback captures vertices";
  if (state.rasterization.rasterizer_discard) return "nothing is rasterized";
  if (resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).writes_layer || resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).writes_viewport_index)
    return "the vertex shader chooses layers or viewports";
  if (resolved.classification.coarse) return "fragments of several pixels (fragment shading rate)";
  const bool lines =
      state.topology == VK_PRIMITIVE_TOPOLOGY_POINT_LIST || state.topology == VK_PRIMITIVE_TOPOLOGY_LINE_LIST ||
      state.topology == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP || state.topology == VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY ||
      state.topology == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY || state.rasterization.polygon_mode != VK_POLYGON_MODE_FILL;
  if (lines) return "points and lines: only filled triangles are deferred";
  if (resolved.has_own_vertices) return "the fragment shader reads barycentrics: each primitive has vertices of its own";
  if (resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).crosses_lanes) return "the vertex shader looks at other vertices (subgroup operations)";
  return nullptr;
}

void decide_deferral(std::span<const command::DrawCall> draws, const RenderingInfo& pass, std::vector<VertexDeferral>& out) {
  out.clear();
  const std::vector<Written> written = written_memory(draws, pass);
  const int32_t anywhere = writes_anywhere(draws);
  const command::DrawState* last = nullptr;
  for (const command::DrawCall& draw : draws) {
    out.push_back(draw.state == last ? out.back() : decide(*draw.state, written, anywhere));
    last = draw.state;
  }
}

TechniqueExplanation explain_deferral(std::span<const VertexDeferral> decisions, uint32_t draw, const command::DrawState& state,
                                      const char* off) {
  constexpr const char* kName = "deferred_vertex_shading";
  if (off) return {kName, "off", "", off, -1};
  if (draw < decisions.size()) {
    const VertexDeferral& d = decisions[draw];
    if (d.position) return {kName, "on", "", "", -1};
    return {kName, "off", "", d.by_draw < 0 ? d.reason : d.reason + (" (draw " + std::to_string(d.by_draw) + ")"), d.by_draw};
  }
  const char* obstacle = deferral_obstacle(state);
  return {kName, "off", "", obstacle ? obstacle : "not executed yet", -1};
}

}  // namespace tilegpu::hsr
