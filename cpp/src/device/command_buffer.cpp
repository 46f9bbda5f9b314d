// device/command_buffer.cpp -- stage: recording. In: begin/end of passes, state, draws. Out: PassRecords with every draw's state resolved.
//
// Validation happens here, before any work: what can't be drawn is an Error that names the pass, the pipeline and the field.
// Source: Vulkan specification, "Render Pass" (dynamic rendering), "Drawing Commands", "Queries".
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/binding_tables.hpp"
#include "framebuffer/describe.hpp"
#include "framebuffer/framebuffer.hpp"
#include "hsr/explain.hpp"
#include "pipeline/create.hpp"

namespace tilegpu {

using exec::PassRecord;
using exec::RecordedCommand;
using exec::Recording;

namespace {

Error invalid(std::string message) { return {VK_ERROR_INITIALIZATION_FAILED, std::move(message)}; }

std::string pass_name(const PassRecord& pass) { return "pass '" + pass.info.label + "'"; }

// A scissor or area cut with another; an empty result has extent 0.
VkRect2D intersect(const VkRect2D& a, const VkRect2D& b) {
  const int64_t x0 = std::max<int64_t>(a.offset.x, b.offset.x), y0 = std::max<int64_t>(a.offset.y, b.offset.y);
  const int64_t x1 = std::min<int64_t>(int64_t{a.offset.x} + a.extent.width, int64_t{b.offset.x} + b.extent.width);
  const int64_t y1 = std::min<int64_t>(int64_t{a.offset.y} + a.extent.height, int64_t{b.offset.y} + b.extent.height);
  if (x1 <= x0 || y1 <= y0) return {{a.offset.x, a.offset.y}, {0, 0}};
  return {{static_cast<int32_t>(x0), static_cast<int32_t>(y0)}, {static_cast<uint32_t>(x1 - x0), static_cast<uint32_t>(y1 - y0)}};
}

Status check_targets(const PassRecord& pass, const Pipeline& pipeline) {
  const GraphicsPipelineCreateInfo& info = pipeline.info();
  const std::string who = pass_name(pass) + ", pipeline '" + info.label + "': ";
  if (static_cast<uint32_t>(info.multisample.samples) != pass.samples)
    return invalid(who + "the pipeline is made for " + std::to_string(info.multisample.samples) + " samples, the pass has " +
                   std::to_string(pass.samples) + "; create the pipeline with rasterizationSamples " + std::to_string(pass.samples));
  const auto format_of = [](const RenderingAttachment& a) {
    if (!a.view) return VK_FORMAT_UNDEFINED;
    return a.view->info().format != VK_FORMAT_UNDEFINED ? a.view->info().format : a.view->image()->info().format;
  };
  const size_t count = std::max(info.color_formats.size(), pass.info.color.size());
  for (size_t i = 0; i < count; i++) {
    const VkFormat of_pipeline = i < info.color_formats.size() ? info.color_formats[i] : VK_FORMAT_UNDEFINED;
    const VkFormat of_pass = i < pass.info.color.size() ? format_of(pass.info.color[i]) : VK_FORMAT_UNDEFINED;
    if (of_pipeline != of_pass)
      return invalid(who + "color[" + std::to_string(i) + "] has format " + format_name(of_pass) + " in the pass and " +
                     format_name(of_pipeline) + " in the pipeline; they must be the same");
  }
  const VkFormat depth = format_of(pass.info.depth), stencil = format_of(pass.info.stencil);
  if (info.depth_stencil.depth_test && depth == VK_FORMAT_UNDEFINED)
    return invalid(who +
                   "the pipeline tests depth, but the pass has no depth attachment; begin rendering with pDepthAttachment, or create the "
                   "pipeline without depthTestEnable");
  if (info.depth_stencil.stencil_test && stencil == VK_FORMAT_UNDEFINED)
    return invalid(who +
                   "the pipeline tests stencil, but the pass has no stencil attachment; begin rendering with pStencilAttachment, or create "
                   "the pipeline without stencilTestEnable");
  if (depth != VK_FORMAT_UNDEFINED && info.depth_format != depth)
    return invalid(who + "depth has format " + format_name(depth) + " in the pass and " + format_name(info.depth_format) +
                   " in the pipeline; they must be the same");
  if (info.depth_stencil.stencil_test && info.stencil_format != stencil)
    return invalid(who + "stencil has format " + format_name(stencil) + " in the pass and " + format_name(info.stencil_format) +
                   " in the pipeline; they must be the same");
  for (const shader::InputSource& input : pipeline.resolved()->inputs) {
    const bool of_depth = input.target == shader::kInputDepth;
    if (!of_depth && input.target != shader::kInputStencil) continue;
    const VkFormat of_pass = of_depth ? depth : stencil;
    if (of_pass != input.format)
      return invalid(who + "the fragment shader reads " + (of_depth ? "depth" : "stencil") + " as an input attachment; its format is " +
                     format_name(of_pass) + " in the pass and " + format_name(input.format) + " in the pipeline; they must be the same");
  }
  return Ok{};
}

// The state of the next draw, made anew only where something changed since the last one.
Expected<command::DrawCall> resolve_draw(Recording& r, bool indexed) {
  if (!r.open) return invalid("draw: no pass is open; call begin_rendering first");
  PassRecord& pass = *r.open;
  if (!r.pipeline) return invalid(pass_name(pass) + ": draw without a pipeline; call bind_pipeline first");
  const Pipeline& pipeline = *r.pipeline;
  for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
    if (r.sets[i] && r.sets[i]->version() != r.set_versions[i]) r.tables_dirty = true;
  if (r.state_dirty) {
    if (Status ok = check_targets(pass, pipeline); !ok) return ok.error();
    for (const auto& binding : pipeline.info().vertex_bindings)
      if (!r.vertex_buffers[binding.binding])
        return invalid(pass_name(pass) + ", pipeline '" + pipeline.info().label + "': vertex buffer binding " +
                       std::to_string(binding.binding) + " is not bound");
    if (pass.info.hsr.value_or(r.device->hsr()).deferred_vertex_shading && !hsr::deferral_obstacle(r.state))
      if (auto slice = pipeline::position_shader(*r.device->state().jit, pipeline); !slice) return slice.error();
  }
  if (indexed && !r.state.index_data)
    return invalid(pass_name(pass) + ": indexed draw without an index buffer; call bind_index_buffer first");
  if (r.state_dirty || r.tables_dirty) {
    if (r.tables_dirty) {
      if (Status ok = exec::build_tables(r.device->state(), pass, pipeline, r.sets, r.state); !ok) return ok.error();
      for (uint32_t i = 0; i < kMaxDescriptorSets; i++) r.set_versions[i] = r.sets[i] ? r.sets[i]->version() : 0;
    }
    const VkRect2D frame{{0, 0}, {pass.width_px, pass.height_px}};
    if (!r.viewport_set) r.state.viewport = {0, 0, static_cast<float>(pass.width_px), static_cast<float>(pass.height_px), 0, 1};
    r.state.scissor = intersect(intersect(r.scissor_set ? r.scissor : frame, frame), pass.render_area);
    pass.states.push_back(r.state);
    for (const auto& buffer : r.vertex_buffers)
      if (buffer) pass.keep_alive.push_back(buffer);
    if (r.index_buffer) pass.keep_alive.push_back(r.index_buffer);
    r.state_dirty = r.tables_dirty = false;
  }
  if (r.push_dirty) {
    pass.pushes.push_back(r.push);
    r.push_dirty = false;
  }
  command::DrawCall draw;
  draw.state = &pass.states.back();
  draw.push_constants = pass.pushes.back().bytes;
  draw.indexed = indexed;
  draw.query = r.active_query;
  return draw;
}

Status add_draw(Recording& r, command::DrawCall draw) {
  PassRecord& pass = *r.open;
  if (pass.draws.size() >= records::kDrawMask)
    return invalid(pass_name(pass) + ": more than " + std::to_string(records::kDrawMask) + " draws in one pass");
  if (uint64_t{draw.count} * draw.instance_count > command::kMaxDrawVertices)
    return invalid(pass_name(pass) + ": a draw of " + std::to_string(draw.count) + " vertices in " + std::to_string(draw.instance_count) +
                   " instances; at most 2^36 vertices in all are allowed");
  pass.commands.push_back({RecordedCommand::Kind::draw, static_cast<uint32_t>(pass.draws.size())});
  pass.draws.push_back(draw);
  return Ok{};
}

Status add_indirect(Recording& r, bool indexed, Ptr<Buffer> buffer, uint64_t offset_B, uint32_t count, uint32_t stride_B) {
  const uint64_t command_B = indexed ? 20 : 16;
  if (!buffer || !buffer->data()) return invalid("draw_indirect: the buffer is null or has no memory bound");
  if (offset_B % 4) return invalid("draw_indirect: offset_B is " + std::to_string(offset_B) + "; it must be a multiple of 4");
  if (count > 1 && (stride_B % 4 || stride_B < command_B))
    return invalid("draw_indirect: stride_B is " + std::to_string(stride_B) + "; it must be a multiple of 4 and at least " +
                   std::to_string(command_B));
  const uint64_t end = count == 0 ? offset_B : offset_B + uint64_t{count - 1} * stride_B + command_B;
  if (end > buffer->size_B())
    return invalid("draw_indirect: " + std::to_string(count) + " commands from byte " + std::to_string(offset_B) + " end at byte " +
                   std::to_string(end) + ", buffer '" + buffer->info().label + "' has " + std::to_string(buffer->size_B()));
  auto base = resolve_draw(r, indexed);
  if (!base) return base.error();
  PassRecord& pass = *r.open;
  pass.commands.push_back({RecordedCommand::Kind::indirect, static_cast<uint32_t>(pass.indirects.size())});
  pass.indirects.push_back({*base, std::move(buffer), offset_B, count, stride_B});
  return Ok{};
}

}  // namespace

CommandBuffer::CommandBuffer(Ptr<Device> device) : recording_(std::make_unique<Recording>()) { recording_->device = std::move(device); }
CommandBuffer::~CommandBuffer() = default;

Status CommandBuffer::begin_rendering(const RenderingInfo& info) {
  Recording& r = *recording_;
  if (r.open)
    return invalid("begin_rendering of pass '" + info.label + "': " + pass_name(*r.open) + " is still open; call end_rendering first");
  auto pass = std::make_unique<PassRecord>();
  pass->info = info;
  auto framebuffer = framebuffer::make_framebuffer(info, r.device->state().info.profile);
  if (!framebuffer) return framebuffer.error();
  pass->framebuffer = std::move(*framebuffer);
  const framebuffer::Layout& layout = pass->framebuffer.layout;
  pass->width_px = layout.width_px;
  pass->height_px = layout.height_px;
  pass->samples = layout.sample_count;
  const auto& area = layout.render_area_px;
  pass->render_area = {{area.min_x, area.min_y},
                       {static_cast<uint32_t>(area.max_x - area.min_x + 1), static_cast<uint32_t>(area.max_y - area.min_y + 1)}};
  r.open = std::move(pass);
  r.state_dirty = r.push_dirty = r.tables_dirty = true;
  r.active_query = -1;
  return Ok{};
}

Status CommandBuffer::end_rendering() {
  Recording& r = *recording_;
  if (!r.open) return invalid("end_rendering: no pass is open");
  if (r.active_query >= 0) return invalid(pass_name(*r.open) + ": end_rendering while a query is active; call end_query first");
  r.finished_passes.push_back(r.open.get());
  r.commands.push_back({std::move(r.open), nullptr});
  return Ok{};
}

void CommandBuffer::discard_rendering() { recording_->open.reset(); }

void CommandBuffer::bind_pipeline(Ptr<Pipeline> pipeline) {
  Recording& r = *recording_;
  if (r.pipeline == pipeline) return;
  const VkViewport viewport = r.state.viewport;
  static_cast<FixedFunctionState&>(r.state) = pipeline->info();
  r.state.viewport = viewport;
  r.state.resolved = pipeline->resolved();
  r.pipeline = std::move(pipeline);
  r.state_dirty = r.tables_dirty = true;
}

void CommandBuffer::bind_vertex_buffer(uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B) {
  Recording& r = *recording_;
  assert(binding < kMaxVertexBindings);
  const uint64_t size_B = buffer && offset_B < buffer->size_B() ? buffer->size_B() - offset_B : 0;
  r.state.vertex_bindings[binding] = {size_B ? buffer->data() + offset_B : nullptr, buffer && buffer->data() ? size_B : 0};
  r.vertex_buffers[binding] = std::move(buffer);
  r.state_dirty = true;
}

void CommandBuffer::bind_index_buffer(Ptr<Buffer> buffer, uint64_t offset_B, VkIndexType type) {
  Recording& r = *recording_;
  static const uint8_t kNoIndices[4] = {};
  const uint64_t size_B = buffer && buffer->data() && offset_B < buffer->size_B() ? buffer->size_B() - offset_B : 0;
  r.state.index_data = size_B ? buffer->data() + offset_B : kNoIndices;
  r.state.index_size_B = size_B;
  r.state.index_type = type;
  r.index_buffer = std::move(buffer);
  r.state_dirty = true;
}

void CommandBuffer::bind_descriptor_set(uint32_t set, Ptr<DescriptorSet> descriptors) {
  assert(set < kMaxDescriptorSets);
  recording_->sets[set] = std::move(descriptors);
  recording_->tables_dirty = true;
}

Status CommandBuffer::push_constants(uint32_t offset_B, const void* data, uint32_t size_B) {
  if (offset_B > kMaxPushConstants_B || size_B > kMaxPushConstants_B - offset_B)
    return invalid("push_constants: bytes " + std::to_string(offset_B) + " to " + std::to_string(uint64_t{offset_B} + size_B) +
                   "; at most " + std::to_string(kMaxPushConstants_B) + " are allowed");
  if (std::memcmp(recording_->push.bytes + offset_B, data, size_B) == 0) return Ok{};  // zero before the first
  std::memcpy(recording_->push.bytes + offset_B, data, size_B);
  recording_->push_dirty = true;
  return Ok{};
}

void CommandBuffer::set_viewport(const VkViewport& viewport) {
  recording_->state.viewport = viewport;
  recording_->viewport_set = recording_->state_dirty = true;
}
void CommandBuffer::set_scissor(const VkRect2D& scissor) {
  recording_->scissor = scissor;
  recording_->scissor_set = recording_->state_dirty = true;
}
void CommandBuffer::set_blend_constants(const std::array<float, 4>& constants) {
  recording_->state.blend_constants = constants;
  recording_->state_dirty = true;
}
void CommandBuffer::set_stencil_reference(VkStencilFaceFlags faces, uint32_t reference) {
  if (faces & VK_STENCIL_FACE_FRONT_BIT) recording_->state.depth_stencil.front.reference = reference;
  if (faces & VK_STENCIL_FACE_BACK_BIT) recording_->state.depth_stencil.back.reference = reference;
  recording_->state_dirty = true;
}
void CommandBuffer::set_depth_bias(float constant, float clamp, float slope) {
  recording_->state.rasterization.depth_bias_constant = constant;
  recording_->state.rasterization.depth_bias_clamp = clamp;
  recording_->state.rasterization.depth_bias_slope = slope;
  recording_->state_dirty = true;
}

Status CommandBuffer::draw(uint32_t vertex_count, uint32_t instance_count, uint32_t first_vertex, uint32_t first_instance) {
  auto call = resolve_draw(*recording_, false);
  if (!call) return call.error();
  call->first = first_vertex;
  call->count = vertex_count;
  call->instance_count = instance_count;
  call->first_instance = first_instance;
  return add_draw(*recording_, *call);
}

Status CommandBuffer::draw_indexed(uint32_t index_count, uint32_t instance_count, uint32_t first_index, int32_t vertex_offset,
                                   uint32_t first_instance) {
  auto call = resolve_draw(*recording_, true);
  if (!call) return call.error();
  call->first = first_index;
  call->count = index_count;
  call->instance_count = instance_count;
  call->vertex_offset = vertex_offset;
  call->first_instance = first_instance;
  return add_draw(*recording_, *call);
}

Status CommandBuffer::draw_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B) {
  return add_indirect(*recording_, false, std::move(buffer), offset_B, draw_count, stride_B);
}
Status CommandBuffer::draw_indexed_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B) {
  return add_indirect(*recording_, true, std::move(buffer), offset_B, draw_count, stride_B);
}

Status CommandBuffer::clear_attachment(int attachment, VkImageAspectFlags aspects, const VkClearValue& value, const VkRect2D& rect) {
  Recording& r = *recording_;
  if (!r.open) return invalid("clear_attachment: no pass is open");
  PassRecord& pass = *r.open;
  const int colors = static_cast<int>(pass.info.color.size());
  if (attachment >= colors || (attachment >= 0 && !pass.info.color[attachment].view))
    return invalid(pass_name(pass) + ": clear_attachment " + std::to_string(attachment) + ": the pass has " + std::to_string(colors) +
                   " colour attachments");
  if (attachment < 0 && (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) && !pass.info.depth.view)
    return invalid(pass_name(pass) + ": clear_attachment of depth: the pass has no depth attachment");
  if (attachment < 0 && (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) && !pass.info.stencil.view)
    return invalid(pass_name(pass) + ": clear_attachment of stencil: the pass has no stencil attachment");
  command::ClearCall clear{attachment, aspects, value, intersect(rect, pass.render_area)};
  pass.commands.push_back({RecordedCommand::Kind::clear, static_cast<uint32_t>(pass.clears.size())});
  pass.clears.push_back(clear);
  return Ok{};
}

Status CommandBuffer::begin_query(Ptr<QueryPool> pool, uint32_t query, bool precise) {
  (void)precise;  // counts are exact either way
  Recording& r = *recording_;
  if (!r.open) return invalid("begin_query: no pass is open");
  if (query >= pool->values.size())
    return invalid(pass_name(*r.open) + ": begin_query " + std::to_string(query) + ": the pool has " + std::to_string(pool->values.size()) +
                   " queries");
  if (r.active_query >= 0)
    return invalid(pass_name(*r.open) + ": begin_query while another occlusion query is active; call end_query first");
  r.active_query = static_cast<int32_t>(r.open->queries.size());
  r.open->queries.push_back({std::move(pool), query});
  return Ok{};
}

Status CommandBuffer::end_query(Ptr<QueryPool> pool, uint32_t query) {
  Recording& r = *recording_;
  if (!r.open || r.active_query < 0 || r.open->queries[r.active_query].pool != pool || r.open->queries[r.active_query].query != query)
    return invalid("end_query " + std::to_string(query) + ": this query is not active");
  r.active_query = -1;
  return Ok{};
}

size_t CommandBuffer::pass_count() const { return recording_->finished_passes.size(); }
const PassStats& CommandBuffer::pass_stats(size_t pass) const {
  assert(pass < recording_->finished_passes.size());
  return recording_->finished_passes[pass]->stats;
}

const std::vector<TileTrace>& CommandBuffer::tile_trace(size_t pass) const {
  assert(pass < recording_->finished_passes.size());
  return recording_->finished_passes[pass]->tile_trace;
}

Status CommandBuffer::trace_fragments(size_t pass, const TraceRequest& request) {
  assert(pass < recording_->finished_passes.size());
  PassRecord& record = *recording_->finished_passes[pass];
  if (request.dry) {
    const auto refuse = [&](const std::string& why) {
      return invalid(pass_name(record) + " cannot be traced after its end: " + why + "; request the trace before the pass is executed");
    };
    const framebuffer::Framebuffer& f = record.framebuffer;
    const auto loads = [](const framebuffer::LoadTarget& t) {
      return t.in_bounds == framebuffer::LoadOp::image || t.border == framebuffer::LoadOp::image;
    };
    for (size_t i = 0; i < f.load.rts.size(); i++)
      if (loads(f.load.rts[i]))
        return refuse("it begins with what color[" + std::to_string(i) + "] held (load), and that is not there any more");
    if (loads(f.load.z)) return refuse("it begins with the depth that the image held (load), and that is not there any more");
    if (loads(f.load.s)) return refuse("it begins with the stencil that the image held (load), and that is not there any more");
    if (record.stats.splits) return refuse("the tiler's heap was full and the pass was split");
    const auto writes = [](const command::DrawCall& draw) {
      const pipeline::Resolved& resolved = *draw.state->resolved;
      return resolved.fragment_traits.writes_memory || resolved.vertex_traits.writes_memory;
    };
    for (const command::DrawCall& draw : record.draws)
      if (writes(draw)) return refuse("the shaders of pipeline '" + draw.state->resolved->label + "' write memory, and would again");
    for (const exec::IndirectDraw& draw : record.indirects)
      if (writes(draw.base))
        return refuse("the shaders of pipeline '" + draw.base.state->resolved->label + "' write memory, and would again");
  }
  record.trace_request = request;
  record.trace.reset();
  return Ok{};
}

const PassTrace* CommandBuffer::fragment_trace(size_t pass) const {
  assert(pass < recording_->finished_passes.size());
  const std::optional<PassTrace>& trace = recording_->finished_passes[pass]->trace;
  return trace ? &*trace : nullptr;
}

std::vector<DrawExplanation> CommandBuffer::explain(size_t pass) const {
  assert(pass < recording_->finished_passes.size());
  const PassRecord& record = *recording_->finished_passes[pass];
  const HiddenSurfaceRemoval chosen = record.info.hsr.value_or(recording_->device->hsr());
  std::vector<DrawExplanation> rows;
  const pipeline::Resolved* last = nullptr;
  uint32_t number = 0;
  // `index`: of the draw when the pass is executed; that is what the rules of low-resolution Z count.
  const auto add = [&](const command::DrawCall& draw, uint32_t index, uint32_t count) {
    const pipeline::Resolved* resolved = draw.state->resolved.get();
    const bool stops = std::any_of(record.stats.prepass_stops.begin(), record.stats.prepass_stops.end(),
                                   [&](const PrepassStop& stop) { return stop.draw == number || stop.draw + 1 == number; });
    const std::string low = index < record.lrz_decisions.size()
                                ? hsr::describe(record.lrz_decisions[index], static_cast<int32_t>(number))
                                : std::string(chosen.low_resolution_z ? "off: not executed yet" : "off: switched off (hsr)");
    TechniqueExplanation deferral =
        hsr::explain_deferral(record.vertex_deferral, index, *draw.state, chosen.deferred_vertex_shading);
    number += count;
    if (resolved == last && !stops && rows.back().low_resolution_z_off == low && rows.back().techniques.back().reason == deferral.reason) {
      rows.back().draw_count += count;
      return;
    }
    last = resolved;
    const char* early = hsr::early_test_obstacle(*draw.state);
    const char* visibility = hsr::visibility_obstacle(*draw.state, chosen.visibility_buffer);
    rows.push_back({number - count, count, resolved->label, early ? early : "", visibility ? visibility : "", {}, low});
    rows.back().techniques.push_back(hsr::explain_forward_kill(*draw.state, chosen.forward_pixel_kill));
    rows.back().techniques.push_back(std::move(deferral));
  };
  uint32_t expanded = static_cast<uint32_t>(record.draws.size());
  for (const RecordedCommand& command : record.commands) {
    if (command.kind == RecordedCommand::Kind::draw) add(record.draws[command.index], command.index, 1);
    if (command.kind != RecordedCommand::Kind::indirect) continue;
    const exec::IndirectDraw& indirect = record.indirects[command.index];
    for (uint32_t i = 0; i < indirect.count; i++) add(indirect.base, expanded++, 1);
  }
  for (DrawExplanation& row : rows)
    row.techniques.insert(row.techniques.begin(), hsr::explain_prepass(record.stats, row.first_draw, row.draw_count, chosen.pre_pass));
  return rows;
}

std::string CommandBuffer::describe_framebuffer(size_t pass) const {
  assert(pass < recording_->finished_passes.size());
  return framebuffer::describe(recording_->finished_passes[pass]->framebuffer);
}

std::vector<std::string> CommandBuffer::lint(size_t pass) const {
  assert(pass < recording_->finished_passes.size());
  const PassRecord& record = *recording_->finished_passes[pass];
  // Whole targets that a command clears before any draw: bit i for colour i, 8 depth, 9 stencil.
  uint32_t cleared = 0;
  for (const RecordedCommand& command : record.commands) {
    if (command.kind != RecordedCommand::Kind::clear) break;
    const command::ClearCall& clear = record.clears[command.index];
    const bool whole = clear.rect.offset.x <= record.render_area.offset.x && clear.rect.offset.y <= record.render_area.offset.y &&
                       clear.rect.extent.width >= record.render_area.extent.width &&
                       clear.rect.extent.height >= record.render_area.extent.height;
    if (!whole) continue;
    if (clear.attachment >= 0) cleared |= 1u << clear.attachment;
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_DEPTH_BIT)) cleared |= 1u << 8;
    if (clear.attachment < 0 && (clear.aspects & VK_IMAGE_ASPECT_STENCIL_BIT)) cleared |= 1u << 9;
  }
  return framebuffer::lint(record.framebuffer, record.stats, cleared);
}

}  // namespace tilegpu
