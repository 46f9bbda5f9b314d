// device/command_draw.cpp -- stage: recording, draws. In: the Recorder's state. Out: draws with their state resolved, in the open pass.
//
// Source: Vulkan specification, "Drawing Commands", "Mesh Shading".
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>

#include "command/same_state.hpp"
#include "device/binding_tables.hpp"
#include "device/feedback_loops.hpp"
#include "device/pass_targets.hpp"
#include "device/recorder.hpp"
#include "device/transform_feedback_targets.hpp"
#include "hsr/vertex_deferral.hpp"
#include "pipeline/classify.hpp"
#include "pipeline/create.hpp"
#include "records/records.hpp"
#include "resource/usage.hpp"

namespace tilegpu {

using device::intersect;
using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

// The bound pipeline and what was set, as one: what fixed functions read, and what the draw runs.
Status take_state(Recorder& r, command::Pass& pass) {
  const Pipeline& pipeline = *r.dynamic.pipeline();
  const auto named = [&](const Error& error) { return Error{error.code, pass_name(pass) + ", " + error.message}; };
  if (Status ok = r.dynamic.take(); !ok) return named(ok.error());
  std::optional<GraphicsState> without_tests;
  const auto leave_out = [&](VkImageAspectFlags aspects) {
    if (!aspects) return;
    if (!without_tests) without_tests.emplace(r.dynamic.state());
    pipeline::leave_out_tests(aspects, without_tests->depth_stencil);
  };
  leave_out(pipeline.info().untested_aspects);
  if (const GraphicsState& asked = without_tests ? *without_tests : r.dynamic.state(); !asked.rasterization.rasterizer_discard)
    if (Status ok = device::adopt_samples(r, static_cast<uint32_t>(asked.multisample.samples)); !ok) return ok.error();
  if (Status ok = device::check_targets(r, pass, pipeline, without_tests ? *without_tests : r.dynamic.state()); !ok) return ok.error();
  leave_out(device::unused_aspects(pass.targets, pipeline.info()));
  const GraphicsState& state = without_tests ? *without_tests : r.dynamic.state();
  if (Status ok = pipeline::check_topology(pipeline.program(), state); !ok) return named(ok.error());
  if (Status ok = pipeline::check_drawn_lines(pipeline.program(), state); !ok) return named(ok.error());
  const uint32_t absent = device::absent_targets(pass.targets, pipeline.info());
  if (r.dynamic.needs_resolving() || absent != r.absent_targets) {
    r.absent_targets = absent;
    if (pipeline.resolved() && !absent) {
      r.state.resolved = pipeline.resolved();
    } else {
      device::DeviceState& device = r.device->state();
      auto program = pipeline.without(absent);
      if (!program) return named(program.error());
      if (const auto* known = r.resolved_lately.find(**program, state)) {
        r.state.resolved = *known;
      } else {
        auto resolved = device.resolved.find(*device.jit, *program, state, device.threads);
        if (!resolved) return named(resolved.error());
        r.state.resolved = std::move(*resolved);
        r.resolved_lately.add(**program, state, r.state.resolved);
      }
    }
    r.dynamic.was_resolved();
    if (!r.state.resolved->coming.is_there()) pass.coming.push_back(r.state.resolved);
  }
  assert(r.state.resolved);
  static_cast<FixedFunctionState&>(r.state) = static_cast<const FixedFunctionState&>(state);
  r.state.multisample.alpha_to_coverage = pipeline::alpha_covers(pipeline.program(), state.multisample);
  return Ok{};
}

// What the newest state was resolved from stays alive with it.
void keep_bound(const Recorder& r, command::Pass& pass) {
  command::Bound& bound = pass.bound.emplace_back();
  bound.pipeline = r.dynamic.pipeline();
  if (bound.pipeline->dynamic().bits) bound.state = std::make_shared<const GraphicsState>(r.dynamic.state());
  bound.index_buffer = r.index_buffer;
  bound.sets = r.bound_sets;
  bound.feedback_loops = pass.feedback.loops;
  bound.absent = r.absent_targets;
  bound.first_vertex_buffer = static_cast<uint32_t>(pass.vertex_buffers.size());
  for (uint32_t left = r.bound_vertex_buffers; left; left &= left - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(left));
    if (r.vertex_buffers[i]) pass.vertex_buffers.push_back({i, r.vertex_buffers[i]});
  }
  bound.vertex_buffers = static_cast<uint32_t>(pass.vertex_buffers.size()) - bound.first_vertex_buffer;
}

// Draws that change a state and change it back share the records of both. Each more that is asked costs those who never come back.
constexpr size_t kLately = 4;

// The state of the next draw among the last ones; null: it is new. What an equal one keeps alive is what this one wants.
const command::DrawState* find_lately(const Recorder& r, const command::Pass& pass) {
  assert(pass.states.size() == pass.bound.size());
  for (size_t left = pass.states.size(), asked = 0; left > 0 && asked < kLately; asked++) {
    left--;
    if (pass.bound[left].pipeline == r.dynamic.pipeline() && pass.bound[left].feedback_loops == pass.feedback.loops &&
        command::is_same(pass.states[left], r.state))
      return &pass.states[left];
  }
  return nullptr;
}

// Viewports and scissors, cut with the framebuffer and the render area.
void take_viewports(Recorder& r, const command::Pass& pass) {
  command::DrawState& state = r.state;
  const GraphicsState& set = r.dynamic.state();
  const VkRect2D frame{{0, 0}, {pass.width_px, pass.height_px}};
  const bool has_scissors = r.dynamic.is_set(DynamicState::scissor);
  const auto scissor = [&](uint32_t i) { return intersect(intersect(has_scissors ? set.scissors[i] : frame, frame), pass.scissor_area()); };
  state.whole_viewport = !r.dynamic.is_set(DynamicState::viewport);
  state.viewport = state.whole_viewport ? device::viewport_of(pass) : set.viewports[0];
  state.scissor = scissor(0);
  state.all = nullptr;
  if (!state.resolved->last_traits().writes_viewport_index) return;
  command::Viewports all;
  all.count = std::min(state.whole_viewport ? 1 : set.viewports.size(), has_scissors ? set.scissors.size() : kMaxViewports);
  for (uint32_t i = 0; i < all.count; i++) {
    all.viewport[i] = state.whole_viewport ? state.viewport : set.viewports[i];
    all.scissor[i] = scissor(i);
  }
  state.all = std::make_shared<const command::Viewports>(all);
}

Status forbid_use(const Recorder& r, const Pipeline& pipeline, const char* what, const Buffer& buffer, VkBufferUsageFlagBits use) {
  return device::forbid(r, resource::usage_error(pass_name(*r.open) + ", pipeline '" + pipeline.info().label + "': " + what, buffer, use));
}

// Of the bound index buffer. The memory of buffers begins at multiples of any index.
Status check_indices(const Recorder& r, const Pipeline& pipeline) {
  if (resource::lacks(*r.index_buffer, VK_BUFFER_USAGE_INDEX_BUFFER_BIT))
    if (Status ok = forbid_use(r, pipeline, "indices", *r.index_buffer, VK_BUFFER_USAGE_INDEX_BUFFER_BIT); !ok) return ok;
  const uint32_t index_B = r.state.index_type == VK_INDEX_TYPE_UINT32 ? 4 : r.state.index_type == VK_INDEX_TYPE_UINT16 ? 2 : 1;
  const uint64_t offset_B = r.state.index_size_B ? static_cast<uint64_t>(r.state.index_data - r.index_buffer->data()) : 0;
  if (offset_B % index_B == 0) return Ok{};
  return device::forbid(r, invalid(pass_name(*r.open) + ", pipeline '" + pipeline.info().label + "': indices begin at byte " +
                                   std::to_string(offset_B) + " of buffer '" + r.index_buffer->info().label +
                                   "'; it must be a multiple of an index's " + std::to_string(index_B) + " bytes"));
}

// What a draw while transform feedback is active captures must have buffers to go to.
Status check_captured(const Recorder& r, const Pipeline& pipeline) {
  const auto& words = r.state.resolved->primitives.captured.words;
  const auto who = [&] { return pass_name(*r.open) + ", pipeline '" + pipeline.info().label + "': transform feedback is active, and "; };
  if (words.empty())
    return invalid(who() + "no shader of the pipeline says what is captured; declare outputs with layout(xfb_buffer = 0, xfb_offset = 0)");
  const command::TransformFeedback& to = r.open->transform_feedback[static_cast<size_t>(r.transform_feedback)];
  for (const shader::CapturedWord& word : words)
    if (!to.bound[word.buffer].buffer)
      return invalid(who() + "the shader captures to xfb_buffer " + std::to_string(word.buffer) + ", and no buffer is bound there");
  return Ok{};
}

enum class DrawKind : uint8_t { vertices, indices, meshes };

// Draws of vertices and of mesh shaders' workgroups have pipelines of their own.
Status check_kind(const Recorder& r, const Pipeline& pipeline, DrawKind kind) {
  const bool has_mesh = pipeline.program().primitives.meshes, meshes = kind == DrawKind::meshes;
  const auto who = [&] { return pass_name(*r.open) + ", pipeline '" + pipeline.info().label + "': "; };
  if (has_mesh != meshes)
    return invalid(who() +
                   (meshes ? "draw_mesh_tasks, and it has no mesh shader; draw vertices (draw, draw_indexed), or bind a pipeline with a "
                             "mesh shader"
                           : "a draw of vertices, and it has a mesh shader, which has none; draw its workgroups (draw_mesh_tasks)"));
  if (!meshes || r.transform_feedback < 0) return Ok{};
  return device::forbid(
      r, invalid(who() + "draw_mesh_tasks while transform feedback is active, which captures nothing of mesh shaders; end it before"));
}

// The state of the next draw, made anew only where something changed since the last one.
Expected<command::DrawCall> resolve_draw(Recorder& r, DrawKind kind) {
  const bool indexed = kind == DrawKind::indices;
  if (!r.open) return invalid("draw: no pass is open; call begin_rendering first");
  command::Pass& pass = *r.open;
  if (!r.dynamic.pipeline()) return invalid(pass_name(pass) + ": draw without a pipeline; call bind_pipeline first");
  const Pipeline& pipeline = *r.dynamic.pipeline();
  if (Status ok = check_kind(r, pipeline, kind); !ok) return ok.error();
  for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
    if (r.sets.set[i] && r.sets.set[i]->version() != r.sets.version[i]) r.sets.dirty = true;
  if (r.state_dirty) {
    if (pipeline.made_by.is_another(r.device))
      return invalid(pass_name(pass) + ": pipeline '" + pipeline.info().label + "' was made by another device; make one with this device");
    if (Status ok = take_state(r, pass); !ok) return ok.error();
    if (const uint32_t written = r.state.resolved->output.written_targets; written & ~pass.feedback.written) {
      Status noted = framebuffer::note_written(pass.feedback, written, "pipeline '" + pipeline.info().label + "'");
      if (Status ok = device::allow_loops(r.device->state(), pass.feedback, std::move(noted)); !ok) return ok.error();
    }
  }
  if (r.state_dirty || r.buffers_dirty) {
    for (const auto& binding : r.state.resolved->vertex_input)
      if (!(r.bound_vertex_buffers >> binding.binding & 1))
        return invalid(pass_name(pass) + ", pipeline '" + pipeline.info().label + "': vertex buffer binding " +
                       std::to_string(binding.binding) + " is not bound");
    for (const auto& binding : r.state.resolved->vertex_input) {
      const shader::VertexBinding& at = r.state.vertex_bindings[binding.binding];
      const Buffer* buffer = r.vertex_buffers[binding.binding].get();
      if (!buffer) continue;  // bound as null: zeros
      if (resource::lacks(*buffer, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT))
        if (Status ok = forbid_use(r, pipeline, "vertex buffer", *buffer, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT); !ok) return ok.error();
      if (Status ok = device::note_buffer(pass, pipeline, "vertex buffer", *buffer, at.data, at.size_B); !ok) return ok.error();
    }
  }
  if (r.state_dirty)
    if (Status ok = device::prepare_deferral(r, pass, r.state); !ok) return ok.error();
  if (indexed && !r.state.index_data)
    return invalid(pass_name(pass) + ": indexed draw without an index buffer; call bind_index_buffer first");
  if (indexed && r.index_buffer)
    if (Status ok = check_indices(r, pipeline); !ok) return ok.error();
  if (indexed && r.index_buffer)
    if (Status ok = device::note_buffer(pass, pipeline, "index buffer", *r.index_buffer, r.state.index_data, r.state.index_size_B); !ok)
      return ok.error();
  if (r.state_dirty || r.buffers_dirty || r.sets.dirty) {
    if (r.sets.dirty) {
      for (uint32_t i = 0; i < kMaxDescriptorSets; i++) r.sets.version[i] = r.sets.set[i] ? r.sets.set[i]->version() : 0;
      device::begin_loops(r);
      if (Status ok = device::bind_sets_of_draw(r); !ok) return ok.error();
      if (device::wants_split(r, r.bound_sets)) {
        if (Status ok = device::split_pass(r, "pipeline '" + pipeline.info().label + "'"); !ok) return ok.error();
        return resolve_draw(r, kind);  // of the pass that goes on, where nothing stands behind a barrier
      }
    }
    if (r.state_dirty) take_viewports(r, pass);
    r.drawn = find_lately(r, pass);
    if (!r.drawn) {
      r.drawn = &pass.states.emplace_back(r.state);
      keep_bound(r, pass);
    }
    r.state_dirty = r.buffers_dirty = r.sets.dirty = false;
  }
  if (r.push_dirty) {
    pass.pushes.push_back(r.push);
    r.push_dirty = false;
  }
  command::DrawCall draw;
  draw.state = r.drawn;
  draw.push_constants = pass.pushes.back().bytes;
  draw.indexed = indexed;
  draw.query = r.active_query;
  if (r.transform_feedback >= 0)
    if (Status ok = device::forbid(r, check_captured(r, pipeline)); !ok) return ok.error();
  if (!r.state.resolved->primitives.captured.words.empty()) draw.transform_feedback = r.transform_feedback;
  if (draw.transform_feedback >= 0)
    if (Status ok = device::note_captured(pass, pipeline, r.state, pass.transform_feedback[static_cast<size_t>(r.transform_feedback)]); !ok)
      return ok.error();
  return draw;
}

Status add_draw(Recorder& r, command::DrawCall draw) {
  command::Pass& pass = *r.open;
  if (Status ok = device::count_draws(pass, *draw.state, 1); !ok) return ok;
  if (uint64_t{draw.count} * draw.instance_count > command::kMaxDrawVertices)
    return invalid(pass_name(pass) + ": a draw of " + std::to_string(draw.count) + " vertices in " + std::to_string(draw.instance_count) +
                   " instances; at most 2^36 vertices in all are allowed");
  pass.commands.push_back({command::RecordedCommand::Kind::draw, static_cast<uint32_t>(pass.draws.size())});
  pass.draws.push_back(draw);
  return Ok{};
}

Status add_indirect(Recorder& r, DrawKind kind, Ptr<Buffer> buffer, uint64_t offset_B, uint32_t count, uint32_t stride_B,
                    const BufferPlace& draws = {}) {
  const uint64_t command_B = kind == DrawKind::meshes ? 12 : kind == DrawKind::indices ? 20 : 16;
  if (!buffer || !buffer->data()) return invalid("draw_indirect: the buffer is null or has no memory bound");
  if (offset_B % 4) return invalid("draw_indirect: offset_B is " + std::to_string(offset_B) + "; it must be a multiple of 4");
  if (count > 1 && (stride_B % 4 || stride_B < command_B))
    return invalid("draw_indirect: stride_B is " + std::to_string(stride_B) + "; it must be a multiple of 4 and at least " +
                   std::to_string(command_B));
  const uint64_t span_B = count == 0 ? 0 : uint64_t{count - 1} * stride_B + command_B;
  if (!buffer->holds(offset_B, span_B))
    return invalid("draw_indirect: " + std::to_string(count) + " commands take " + std::to_string(span_B) + " bytes from byte " +
                   std::to_string(offset_B) + " on, buffer '" + buffer->info().label + "' has " + std::to_string(buffer->size_B()));
  if (draws.buffer && (!draws.buffer->data() || draws.offset_B % 4 || !draws.buffer->holds(draws.offset_B, 4)))
    return invalid("draw_indirect_count: the number of draws lies at byte " + std::to_string(draws.offset_B) + " of buffer '" +
                   draws.buffer->info().label + "', which has " + std::to_string(draws.buffer->size_B()) +
                   "; it takes 4, at a multiple of 4");
  for (const Buffer* read : {static_cast<const Buffer*>(buffer.get()), static_cast<const Buffer*>(draws.buffer.get())})
    if (read)
      if (Status ok = device::forbid(r, resource::check_usage("draw_indirect", *read, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT)); !ok) return ok;
  auto base = resolve_draw(r, kind);
  if (!base) return base.error();
  command::Pass& pass = *r.open;
  if (Status ok = device::count_draws(pass, *base->state, count); !ok) return ok;
  if (draws.buffer)
    if (Status ok =
            device::note_buffer(pass, *r.dynamic.pipeline(), "indirect buffer", *draws.buffer, draws.buffer->data() + draws.offset_B, 4);
        !ok)
      return ok;
  if (Status ok = device::note_buffer(pass, *r.dynamic.pipeline(), "indirect buffer", *buffer, buffer->data() + offset_B, span_B); !ok)
    return ok;
  pass.commands.push_back({command::RecordedCommand::Kind::indirect, static_cast<uint32_t>(pass.indirects.size())});
  pass.indirects.push_back({*base, std::move(buffer), offset_B, count, stride_B, false, 0, draws});
  return Ok{};
}

}  // namespace

namespace device {

VkViewport viewport_of(const command::Pass& pass) {
  return {0, 0, static_cast<float>(pass.width_px), static_cast<float>(pass.height_px), 0, 1};
}

Status count_draws(command::Pass& pass, const command::DrawState& state, uint32_t count) {
  const uint64_t each = uint64_t{state.all ? state.all->count : 1} * std::max(1, std::popcount(pass.info.view_mask));
  pass.executed_draws += each * count;
  if (pass.executed_draws <= records::kDrawMask) return Ok{};
  return invalid(pass_name(pass) + ": more than " + std::to_string(records::kDrawMask) +
                 " draws in one pass, those for each view and viewport counted");
}

Status prepare_deferral(const Recorder& recorder, const command::Pass& pass, const command::DrawState& state) {
  if (!pass.info.hsr.value_or(recorder.device->hsr()).deferred_vertex_shading) return Ok{};
  if (hsr::deferral_obstacle(state)) return Ok{};
  if (auto slice = pipeline::position_shader(*recorder.device->state().jit, *state.resolved); !slice) return slice.error();
  return Ok{};
}

}  // namespace device

Status CommandBuffer::draw_indirect_byte_count(uint32_t instance_count, uint32_t first_instance, Ptr<Buffer> counter, uint64_t offset_B,
                                               uint32_t counter_offset_B, uint32_t vertex_stride_B) {
  return device::record(*recorder_, "draw_indirect_byte_count", [&]() -> Status {
    const std::string who = "draw_indirect_byte_count: ";
    if (!counter || !counter->data()) return invalid(who + "the buffer is null or has no memory bound");
    if (offset_B % 4 || !counter->holds(offset_B, 4))
      return invalid(who + "offset_B is " + std::to_string(offset_B) + "; the counter takes 4 bytes at a multiple of 4 of " +
                     std::to_string(counter->size_B()));
    if (vertex_stride_B == 0 || vertex_stride_B > kMaxTransformFeedbackStride_B)
      return invalid(who + "vertex_stride_B is " + std::to_string(vertex_stride_B) + "; 1 to " +
                     std::to_string(kMaxTransformFeedbackStride_B) + " are allowed");
    if (Status ok =
            device::forbid(*recorder_, resource::check_usage("draw_indirect_byte_count", *counter, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT));
        !ok)
      return ok;
    auto base = resolve_draw(*recorder_, DrawKind::vertices);
    if (!base) return base.error();
    command::Pass& pass = *recorder_->open;
    if (Status ok = device::count_draws(pass, *base->state, 1); !ok) return ok;
    if (Status ok = device::note_buffer(pass, *recorder_->dynamic.pipeline(), "indirect buffer", *counter, counter->data() + offset_B, 4);
        !ok)
      return ok;
    base->instance_count = instance_count, base->first_instance = first_instance;
    pass.commands.push_back({command::RecordedCommand::Kind::indirect, static_cast<uint32_t>(pass.indirects.size())});
    pass.indirects.push_back({*base, std::move(counter), offset_B, 1, vertex_stride_B, true, counter_offset_B});
    return Ok{};
  });
}

Status CommandBuffer::draw(uint32_t vertex_count, uint32_t instance_count, uint32_t first_vertex, uint32_t first_instance,
                           uint32_t draw_index) {
  return device::record(*recorder_, "draw", [&]() -> Status {
    auto call = resolve_draw(*recorder_, DrawKind::vertices);
    if (!call) return call.error();
    call->first = first_vertex;
    call->count = vertex_count;
    call->instance_count = instance_count;
    call->first_instance = first_instance;
    call->draw_index = draw_index;
    return add_draw(*recorder_, *call);
  });
}

Status CommandBuffer::draw_indexed(uint32_t index_count, uint32_t instance_count, uint32_t first_index, int32_t vertex_offset,
                                   uint32_t first_instance, uint32_t draw_index) {
  return device::record(*recorder_, "draw_indexed", [&]() -> Status {
    auto call = resolve_draw(*recorder_, DrawKind::indices);
    if (!call) return call.error();
    call->first = first_index;
    call->count = index_count;
    call->instance_count = instance_count;
    call->vertex_offset = vertex_offset;
    call->first_instance = first_instance;
    call->draw_index = draw_index;
    return add_draw(*recorder_, *call);
  });
}

Status CommandBuffer::draw_mesh_tasks(uint32_t x, uint32_t y, uint32_t z, uint32_t draw_index) {
  return device::record(*recorder_, "draw_mesh_tasks", [&]() -> Status {
    auto call = resolve_draw(*recorder_, DrawKind::meshes);
    if (!call) return call.error();
    const std::string who = pass_name(*recorder_->open) + ": draw_mesh_tasks of " + std::to_string(x) + " x " + std::to_string(y) + " x " +
                            std::to_string(z) + " workgroups; ";
    for (const uint32_t count : {x, y, z})
      if (count > kMaxWorkgroups) return invalid(who + "at most " + std::to_string(kMaxWorkgroups) + " are allowed in each direction");
    call->groups = {x, y, z};
    call->count = static_cast<uint32_t>(command::mesh_workgroups(call->groups));
    if (!call->count && x && y && z) return invalid(who + "at most " + std::to_string(kMaxMeshWorkgroups) + " are allowed in all");
    call->draw_index = draw_index;
    return add_draw(*recorder_, *call);
  });
}

Status CommandBuffer::draw_mesh_tasks_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B) {
  return device::record(*recorder_, "draw_mesh_tasks_indirect",
                        [&] { return add_indirect(*recorder_, DrawKind::meshes, std::move(buffer), offset_B, draw_count, stride_B); });
}

Status CommandBuffer::draw_mesh_tasks_indirect_count(Ptr<Buffer> buffer, uint64_t offset_B, const BufferPlace& draws, uint32_t most,
                                                     uint32_t stride_B) {
  if (!draws.buffer) return invalid("draw_mesh_tasks_indirect_count: the buffer of the number of draws is null");
  return device::record(*recorder_, "draw_mesh_tasks_indirect_count",
                        [&] { return add_indirect(*recorder_, DrawKind::meshes, std::move(buffer), offset_B, most, stride_B, draws); });
}

Status CommandBuffer::draw_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B) {
  return device::record(*recorder_, "draw_indirect",
                        [&] { return add_indirect(*recorder_, DrawKind::vertices, std::move(buffer), offset_B, draw_count, stride_B); });
}
Status CommandBuffer::draw_indexed_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B) {
  return device::record(*recorder_, "draw_indexed_indirect",
                        [&] { return add_indirect(*recorder_, DrawKind::indices, std::move(buffer), offset_B, draw_count, stride_B); });
}

Status CommandBuffer::draw_indirect_count(Ptr<Buffer> buffer, uint64_t offset_B, const BufferPlace& draws, uint32_t most,
                                          uint32_t stride_B) {
  if (!draws.buffer) return invalid("draw_indirect_count: the buffer of the number of draws is null");
  return device::record(*recorder_, "draw_indirect_count",
                        [&] { return add_indirect(*recorder_, DrawKind::vertices, std::move(buffer), offset_B, most, stride_B, draws); });
}
Status CommandBuffer::draw_indexed_indirect_count(Ptr<Buffer> buffer, uint64_t offset_B, const BufferPlace& draws, uint32_t most,
                                                  uint32_t stride_B) {
  if (!draws.buffer) return invalid("draw_indexed_indirect_count: the buffer of the number of draws is null");
  return device::record(*recorder_, "draw_indexed_indirect_count",
                        [&] { return add_indirect(*recorder_, DrawKind::indices, std::move(buffer), offset_B, most, stride_B, draws); });
}

}  // namespace tilegpu
