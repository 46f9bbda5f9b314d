// icd/events.cpp -- events, and barriers. In: handles. Out: the core's events; commands.
//
// Commands are executed one after the other, and all memory is coherent: a barrier has nothing to do, and an event is its state alone.
// Source: Vulkan specification, "Events", "Pipeline Barriers".
#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

VkResult VKAPI_CALL CreateEvent(VkDevice, const VkEventCreateInfo*, const VkAllocationCallbacks*, VkEvent* pEvent) {
  *pEvent = new VkEvent_T{std::make_shared<tilegpu::Event>()};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyEvent(VkDevice device, VkEvent event, const VkAllocationCallbacks*) { discard(device, event); }

VkResult VKAPI_CALL GetEventStatus(VkDevice device, VkEvent event) {
  if (device->lost) return VK_ERROR_DEVICE_LOST;
  return event->core->is_set() ? VK_EVENT_SET : VK_EVENT_RESET;
}

VkResult VKAPI_CALL SetEvent(VkDevice, VkEvent event) {
  event->core->set();
  return VK_SUCCESS;
}

VkResult VKAPI_CALL ResetEvent(VkDevice, VkEvent event) {
  event->core->reset();
  return VK_SUCCESS;
}

void VKAPI_CALL CmdSetEvent2(VkCommandBuffer commandBuffer, VkEvent event, const VkDependencyInfo*) {
  record(commandBuffer, commandBuffer->core->set_event(event->core));
}
void VKAPI_CALL CmdSetEvent(VkCommandBuffer commandBuffer, VkEvent event, VkPipelineStageFlags) {
  CmdSetEvent2(commandBuffer, event, nullptr);
}

void VKAPI_CALL CmdResetEvent2(VkCommandBuffer commandBuffer, VkEvent event, VkPipelineStageFlags2) {
  record(commandBuffer, commandBuffer->core->reset_event(event->core));
}
void VKAPI_CALL CmdResetEvent(VkCommandBuffer commandBuffer, VkEvent event, VkPipelineStageFlags) {
  CmdResetEvent2(commandBuffer, event, 0);
}

void VKAPI_CALL CmdWaitEvents2(VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent* pEvents, const VkDependencyInfo*) {
  std::vector<Ptr<tilegpu::Event>> events;
  for (uint32_t i = 0; i < eventCount; ++i) events.push_back(pEvents[i]->core);
  record(commandBuffer, commandBuffer->core->wait_events(std::move(events)));
}
void VKAPI_CALL CmdWaitEvents(VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent* pEvents, VkPipelineStageFlags,
                              VkPipelineStageFlags, uint32_t, const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*, uint32_t,
                              const VkImageMemoryBarrier*) {
  CmdWaitEvents2(commandBuffer, eventCount, pEvents, nullptr);
}

void VKAPI_CALL CmdPipelineBarrier(VkCommandBuffer commandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags, uint32_t,
                                   const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*) {
  commandBuffer->core->pipeline_barrier();
}
void VKAPI_CALL CmdPipelineBarrier2(VkCommandBuffer commandBuffer, const VkDependencyInfo*) { commandBuffer->core->pipeline_barrier(); }

}  // namespace tilegpu::icd
