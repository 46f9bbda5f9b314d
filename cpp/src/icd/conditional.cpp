// icd/conditional.cpp -- VK_EXT_conditional_rendering. In: Vulkan's commands. Out: the core's. Source: Vulkan specification, "Conditional
// Rendering".
//
// The core has a condition that is begun outside of passes in each pass from its begin to its end. What the driver clears there as load
// operations is not conditional: such a condition ends before a pass begins, and begins again in it (suspend, resume).
#include "icd/conditional.hpp"

#include <cassert>

#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

void suspend_condition(VkCommandBuffer commands) {
  assert(commands->core);
  if (commands->condition) record(commands, commands->core->end_conditional_rendering());
}

void resume_condition(VkCommandBuffer commands) {
  if (!commands->condition) return;
  const OpenCondition& condition = *commands->condition;
  assert(condition.place.buffer);  // the core took it when it was begun
  record(commands, commands->core->begin_conditional_rendering(condition.place, condition.inverted));
}

void VKAPI_CALL CmdBeginConditionalRenderingEXT(VkCommandBuffer commandBuffer, const VkConditionalRenderingBeginInfoEXT* begin) {
  const BufferPlace place{begin->buffer ? begin->buffer->core : nullptr, begin->offset};
  const bool inverted = begin->flags & VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT;
  record(commandBuffer, commandBuffer->core->begin_conditional_rendering(place, inverted));
  if (!commandBuffer->pass.rendering && commandBuffer->result == VK_SUCCESS) commandBuffer->condition = {place, inverted};
}

void VKAPI_CALL CmdEndConditionalRenderingEXT(VkCommandBuffer commandBuffer) {
  if (commandBuffer->condition && commandBuffer->pass.rendering)
    return record(commandBuffer, Error{VK_ERROR_VALIDATION_FAILED_EXT,
                                       "vkCmdEndConditionalRenderingEXT: it was begun outside of the render pass; end it there"});
  record(commandBuffer, commandBuffer->core->end_conditional_rendering());
  commandBuffer->condition.reset();
}

}  // namespace tilegpu::icd
