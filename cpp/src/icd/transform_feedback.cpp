// icd/transform_feedback.cpp -- VK_EXT_transform_feedback. In: Vulkan's commands. Out: the core's, of the same names. Source: Vulkan
// specification, "Transform Feedback", "Queries".
#include "icd/generated/commands.hpp"
#include "icd/shader_pipelines.hpp"

namespace tilegpu::icd {

namespace {

/// Null buffers: no counter.
std::vector<BufferPlace> counters_of(uint32_t count, const VkBuffer* buffers, const VkDeviceSize* offsets) {
  std::vector<BufferPlace> out(buffers ? count : 0);
  for (size_t i = 0; i < out.size(); ++i)
    if (buffers[i]) out[i] = {buffers[i]->core, offsets ? offsets[i] : 0};
  return out;
}

}  // namespace

void VKAPI_CALL CmdBindTransformFeedbackBuffersEXT(VkCommandBuffer commandBuffer, uint32_t firstBinding, uint32_t bindingCount,
                                                   const VkBuffer* pBuffers, const VkDeviceSize* pOffsets, const VkDeviceSize* pSizes) {
  std::vector<BufferPlace> places;
  for (uint32_t i = 0; i < bindingCount; ++i)
    places.push_back({pBuffers[i] ? pBuffers[i]->core : nullptr, pOffsets[i], pSizes ? pSizes[i] : VK_WHOLE_SIZE});
  record(commandBuffer, commandBuffer->core->bind_transform_feedback_buffers(firstBinding, places));
}

void VKAPI_CALL CmdBeginTransformFeedbackEXT(VkCommandBuffer commandBuffer, uint32_t firstCounterBuffer, uint32_t counterBufferCount,
                                             const VkBuffer* pCounterBuffers, const VkDeviceSize* pCounterBufferOffsets) {
  const auto counters = counters_of(counterBufferCount, pCounterBuffers, pCounterBufferOffsets);
  record(commandBuffer, commandBuffer->core->begin_transform_feedback(firstCounterBuffer, counters));
}

void VKAPI_CALL CmdEndTransformFeedbackEXT(VkCommandBuffer commandBuffer, uint32_t firstCounterBuffer, uint32_t counterBufferCount,
                                           const VkBuffer* pCounterBuffers, const VkDeviceSize* pCounterBufferOffsets) {
  const auto counters = counters_of(counterBufferCount, pCounterBuffers, pCounterBufferOffsets);
  OpenPass& pass = commandBuffer->pass;
  if (pass.rendering && pCounterBuffers) pass.counters.insert(pass.counters.end(), pCounterBuffers, pCounterBuffers + counterBufferCount);
  record(commandBuffer, commandBuffer->core->end_transform_feedback(firstCounterBuffer, counters));
}

void VKAPI_CALL CmdBeginQueryIndexedEXT(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query, VkQueryControlFlags flags,
                                        uint32_t index) {
  record(commandBuffer, commandBuffer->core->begin_query_indexed(queryPool->core, query, flags & VK_QUERY_CONTROL_PRECISE_BIT, index));
}

void VKAPI_CALL CmdEndQueryIndexedEXT(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query, uint32_t) {
  record(commandBuffer, commandBuffer->core->end_query(queryPool->core, query));
}

void VKAPI_CALL CmdDrawIndirectByteCountEXT(VkCommandBuffer commandBuffer, uint32_t instanceCount, uint32_t firstInstance,
                                            VkBuffer counterBuffer, VkDeviceSize counterBufferOffset, uint32_t counterOffset,
                                            uint32_t vertexStride) {
  if (!prepare_draw(commandBuffer)) return;
  const std::vector<VkBuffer>& ended = commandBuffer->pass.counters;
  if (commandBuffer->pass.rendering && std::find(ended.begin(), ended.end(), counterBuffer) != ended.end())
    say(commandBuffer->device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        "vkCmdDrawIndirectByteCountEXT: transform feedback ended with this counter in the same render pass, whose draws have the number "
        "from before the pass; end the render pass between the two (docs/undefined.md, exceptions)");
  record(commandBuffer, commandBuffer->core->draw_indirect_byte_count(instanceCount, firstInstance, counterBuffer->core,
                                                                      counterBufferOffset, counterOffset, vertexStride));
}

}  // namespace tilegpu::icd
