// capture/collect.cpp -- see collect.hpp.
#include "capture/collect.hpp"

#include <cassert>
#include <unordered_set>

#include "device/device_state.hpp"
#include "pipeline/program.hpp"

namespace tilegpu::capture {
namespace {

using command::Pass;
using descriptor::SetMemory;

struct Collector {
  Device& device;
  Objects& objects;
  std::unordered_map<const DeviceMemory*, const uint8_t*>& contents;
  BoundMemories& bound_memories;
  std::unordered_set<const command::Recording*>* visited;

  void add(const Ptr<Buffer>& buffer) {
    if (!buffer) return;
    if (objects.memories.add(buffer->memory())) contents[buffer->memory().get()] = buffer->data() - buffer->memory_offset_B();
    objects.buffers.add(buffer);
  }
  void add_memory(const Image& image) {
    if (objects.memories.add(image.memory())) contents[image.memory().get()] = image.data() - image.memory_offset_B();
  }
  /// A plane that is viewed alone is an image like others: its memory says that it is a part of another.
  void add(const Ptr<Image>& image) {
    if (!image) return;
    for (const Ptr<Image>& plane : image->planes()) add_memory(*plane);
    add_memory(*image);
    objects.images.add(image);
  }
  void add(const Ptr<ImageView>& view) {
    if (!view) return;
    add(view->image());
    objects.views.add(view);
  }
  void add(const Ptr<BufferView>& view) {
    if (!view) return;
    add(view->buffer());
    objects.buffer_views.add(view);
  }
  void add(const command::Bound& bound) {
    assert(bound.pipeline);
    const GraphicsPipelineCreateInfo& info = bound.pipeline->info();
    if (objects.pipelines.add(bound.pipeline)) {
      for (const ShaderStage& stage : info.stages) objects.modules.add(stage.module);
      add(info.layout);
    }
    add(bound.index_buffer);
    for (uint32_t i = 0; bound.sets && i < kMaxDescriptorSets; i++) add(bound_memories.take(*bound.sets, i));
  }
  void add(const Ptr<const PipelineLayout>& layout) {
    if (!layout || !objects.layouts.add(layout)) return;
    for (const auto& set : layout->sets) add(set);
  }
  void add(const command::Dispatch& dispatch) {
    const ComputePipelineCreateInfo& info = dispatch.pipeline->info();
    if (objects.compute_pipelines.add(dispatch.pipeline)) objects.modules.add(info.stage.module), add(info.layout);
    add(dispatch.indirect);
    if (dispatch.condition) add(dispatch.condition->buffer);
    for (uint32_t i = 0; dispatch.sets && i < kMaxDescriptorSets; i++) add(bound_memories.take(dispatch.sets->bound, i));
    if (dispatch.pipeline->program().uses_addresses) add_addressed();
  }
  void add(const Ptr<const DescriptorSetLayout>& layout) {
    if (!layout || !objects.set_layouts.add(layout)) return;
    for (const DescriptorBinding& binding : layout->bindings())
      for (const Ptr<Sampler>& sampler : binding.immutable_samplers) objects.samplers.add(sampler);
  }
  void add(const Ptr<const SetMemory>& memory) {
    if (!memory || !objects.set_memories.add(memory)) return;
    add(memory->layout);
    for (const descriptor::Element& e : memory->elements) {
      add(e.buffer);
      if (e.view) add(e.view->view), add(e.view->texels);
      if (e.sampler) objects.samplers.add(e.sampler->sampler);
    }
  }
  void add(const RenderingAttachment& attachment) {
    add(attachment.view), add(attachment.resolve_view);
    if (const auto& p = attachment.pieces) add(p->load_view), add(p->store_view), add(p->resolve_view);
  }
  void add(const Pass& pass) {
    for (const RenderingAttachment& color : pass.info.color) add(color);
    add(pass.info.depth), add(pass.info.stencil), add(pass.info.shading_rate.view);
    for (const command::Bound& bound : pass.bound) add(bound);
    for (const command::BoundVertexBuffer& bound : pass.vertex_buffers) add(bound.buffer);
    for (const command::IndirectDraw& indirect : pass.indirects) add(indirect.buffer), add(indirect.draws_in.buffer);
    for (const command::ActiveQuery& query : pass.queries) objects.pools.add(query.pool);
    for (const command::ActiveQuery& query : pass.counting) objects.pools.add(query.pool);
    for (const command::TransformFeedback& t : pass.transform_feedback)
      for (const auto* places : {&t.bound, &t.resumed, &t.kept})
        for (const BufferPlace& place : *places) add(place.buffer);
    for (const command::Condition& condition : pass.conditions) add(condition.buffer);
    for (const command::ExecutedPart& part : pass.executed) add(part.recording);
    if (pass.uses_addresses) add_addressed();
  }
  // Whatever can be reached: which of it is known to the shaders alone.
  void add_addressed() {
    if (objects.addressed) return;
    objects.addressed = true;
    for (const Ptr<Buffer>& buffer : device.state().addresses->buffers()) add(buffer);
  }
  void add(const Ptr<const command::Recording>& secondary) {
    assert(secondary && secondary->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    if (!visited->insert(secondary.get()).second) return;
    if (secondary->part) add(*secondary->part);
    for (const command::Command& command : secondary->commands) std::visit(*this, command);
    objects.secondaries.add(secondary);  // behind those that it executes, as they are read
  }
  void operator()(const Ptr<const Pass>& c) { add(*c); }
  void operator()(const command::CopyBuffer& c) { add(c.source), add(c.destination); }
  void operator()(const command::FillBuffer& c) { add(c.buffer); }
  void operator()(const command::UpdateBuffer& c) { add(c.buffer); }
  void operator()(const command::CopyBufferToImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::CopyImageToBuffer& c) { add(c.source), add(c.destination); }
  void operator()(const command::CopyImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::BlitImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::ResolveImage& c) { add(c.source), add(c.destination); }
  void operator()(const command::ClearColorImage& c) { add(c.image); }
  void operator()(const command::ClearDepthStencilImage& c) { add(c.image); }
  void operator()(const command::GenerateMipmaps& c) { add(c.image); }
  void operator()(const command::ResetQueryPool& c) { objects.pools.add(c.pool); }
  void operator()(const command::BeginQuery& c) { objects.pools.add(c.pool); }
  void operator()(const command::EndQuery& c) { objects.pools.add(c.pool); }
  // No command reads more of an event than that it is set at last, as everything before it is in a replay: one command after the other.
  void operator()(const command::SetEvent&) {}
  void operator()(const command::WaitEvents&) {}
  void operator()(const command::WriteTimestamp& c) { objects.pools.add(c.pool); }
  void operator()(const command::CopyQueryPoolResults& c) { objects.pools.add(c.pool), add(c.destination); }
  void operator()(const command::ExecuteCommands& c) {
    add(c.recording);
    if (c.condition) add(c.condition->buffer);
  }
  void operator()(const Ptr<const command::Dispatch>& c) { add(*c); }
};

}  // namespace

Collected collect(Device& device, const std::vector<Ptr<const command::Recording>>& recordings) {
  Collected out;
  std::unordered_set<const command::Recording*> visited;
  Collector collector{device, out.objects, out.contents, out.bound_memories, &visited};
  for (const auto& recording : recordings) {
    assert(recording && recording->device.get() == &device);
    for (const command::Command& command : recording->commands) std::visit(collector, command);
  }
  return out;
}

}  // namespace tilegpu::capture
