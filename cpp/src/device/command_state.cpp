// device/command_state.cpp -- stage: recording, what is bound for the draws that follow. In: objects, values. Out: the Recorder's
// state. Source: Vulkan specification, "Pipelines", "Resource Descriptors", "Fixed-Function Vertex Processing".
#include <cstring>

#include "base/host_memory.hpp"
#include "descriptor/set_memory.hpp"
#include "device/recorder.hpp"

namespace tilegpu {

using device::invalid;
using device::Recorder;
using device::recorder_for;

void CommandBuffer::bind_pipeline(Ptr<Pipeline> pipeline) {
  Recorder& r = recorder_for(*recorder_, "bind_pipeline");
  if (r.dynamic.bind(std::move(pipeline))) r.state_dirty = r.sets.dirty = true;
}

void CommandBuffer::bind_vertex_buffer(uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B) {
  Recorder& r = recorder_for(*recorder_, "bind_vertex_buffer");
  assert(binding < kMaxVertexBindings);
  const uint64_t size_B = buffer && offset_B < buffer->size_B() ? buffer->size_B() - offset_B : 0;
  r.state.vertex_bindings[binding] = {size_B ? buffer->data() + offset_B : nullptr, buffer && buffer->data() ? size_B : 0};
  r.vertex_buffers[binding] = std::move(buffer);
  r.bound_vertex_buffers |= 1u << binding;
  r.buffers_dirty = true;
}

void CommandBuffer::bind_index_buffer(Ptr<Buffer> buffer, uint64_t offset_B, VkIndexType type) {
  Recorder& r = recorder_for(*recorder_, "bind_index_buffer");
  static const uint8_t kNoIndices[4] = {};
  const uint64_t size_B = buffer && buffer->data() && offset_B < buffer->size_B() ? buffer->size_B() - offset_B : 0;
  r.state.index_data = size_B ? buffer->data() + offset_B : kNoIndices;
  r.state.index_size_B = size_B;
  r.state.index_type = type;
  r.index_buffer = std::move(buffer);
  r.buffers_dirty = true;
}

Status CommandBuffer::bind_index_buffer2(Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B, VkIndexType type) {
  bind_index_buffer(std::move(buffer), offset_B, type);
  uint64_t& bound_B = recorder_->state.index_size_B;
  if (size_B == VK_WHOLE_SIZE) return Ok{};
  if (size_B > bound_B)
    return invalid("bind_index_buffer2: size is " + std::to_string(size_B) + " B; behind its offset the buffer has " +
                   std::to_string(bound_B) + " B");
  bound_B = size_B;
  return Ok{};
}

namespace {

device::SetBindings& sets_of(Recorder& r, VkPipelineBindPoint point) {
  assert(point == VK_PIPELINE_BIND_POINT_GRAPHICS || point == VK_PIPELINE_BIND_POINT_COMPUTE);
  return point == VK_PIPELINE_BIND_POINT_COMPUTE ? r.compute.sets : r.sets;
}

}  // namespace

void CommandBuffer::bind_descriptor_set(uint32_t set, Ptr<DescriptorSet> descriptors, std::vector<uint32_t> dynamic_offsets_B,
                                        VkPipelineBindPoint point) {
  Recorder& r = recorder_for(*recorder_, "bind_descriptor_set");
  assert(set < kMaxDescriptorSets);
  device::SetBindings& sets = sets_of(r, point);
  sets.set[set] = std::move(descriptors);
  sets.dynamic_offsets_B[set] = std::move(dynamic_offsets_B);
  sets.dirty = true;
}

Status CommandBuffer::push_descriptor(const Ptr<const PipelineLayout>& layout, uint32_t set, uint32_t binding, uint32_t element,
                                      const Descriptor& descriptor, VkPipelineBindPoint point) {
  Recorder& r = *recorder_;
  if (Status ok = device::require_recording(r, "push_descriptor"); !ok) return ok;
  assert(layout);
  const Ptr<const DescriptorSetLayout> of_set = set < layout->sets.size() ? layout->sets[set] : nullptr;
  if (!of_set || !of_set->is_push())
    return invalid("push_descriptor: set " + std::to_string(set) +
                   " of the pipeline layout is not for push descriptors; create its layout with PUSH_DESCRIPTOR");
  device::SetBindings& sets = sets_of(r, point);
  Ptr<DescriptorSet>& pushed = sets.pushed[set];
  if (!pushed || !pushed->layout().is_compatible(*of_set)) {
    try {
      auto memory = descriptor::SetMemory::create(of_set, r.device->state().textures, 0);
      if (!memory) return memory.error();
      pushed = std::make_shared<DescriptorSet>(std::move(*memory));
    } catch (const std::bad_alloc& refused) {
      return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "push_descriptor: " + refused_text(refused, "the set")};
    }
  }
  // A sampler that the layout has is pushed too, and the layout's is the one that is meant, whatever is given.
  const DescriptorBinding* const of = of_set->find(binding);
  const bool is_there =
      of && of->type == VK_DESCRIPTOR_TYPE_SAMPLER && descriptor.type == of->type && element < of->count && !of->immutable_samplers.empty();
  // Draws that were recorded keep the memory that they have; the set goes on with a copy.
  if (!is_there)
    if (Status ok = pushed->write(binding, element, descriptor); !ok) return ok;
  if (sets.set[set] != pushed) bind_descriptor_set(set, pushed, {}, point);
  return Ok{};
}

Status CommandBuffer::push_constants(uint32_t offset_B, const void* data, uint32_t size_B) {
  if (Status ok = device::require_recording(*recorder_, "push_constants"); !ok) return ok;
  if (offset_B > kMaxPushConstants_B || size_B > kMaxPushConstants_B - offset_B)
    return invalid("push_constants: bytes " + std::to_string(offset_B) + " to " + std::to_string(uint64_t{offset_B} + size_B) +
                   "; at most " + std::to_string(kMaxPushConstants_B) + " are allowed");
  if (std::memcmp(recorder_->push.bytes + offset_B, data, size_B) == 0) return Ok{};  // zero before the first
  std::memcpy(recorder_->push.bytes + offset_B, data, size_B);
  recorder_->push_dirty = true;
  return Ok{};
}

}  // namespace tilegpu
