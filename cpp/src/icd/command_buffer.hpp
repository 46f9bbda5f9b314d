// icd/command_buffer.hpp -- recording through Vulkan's commands: errors are said at once, and given by vkEndCommandBuffer.
// In: results of recording. Out: messages.
#pragma once

#include "icd/debug_utils.hpp"

namespace tilegpu::icd {

/// The first error of a recording stays; each is said.
inline void record(VkCommandBuffer commands, const Status& status) {
  if (status) return;
  assert(commands->device && commands->core);
  const VkResult result = fail(commands->device, status.error(), VK_ERROR_VALIDATION_FAILED_EXT);
  if (commands->result == VK_SUCCESS) commands->result = result;
}
/// Of VK_KHR_maintenance6: the bind points that have any of the stages.
template <class Bind>
void for_each_bind_point(VkShaderStageFlags stages, Bind bind) {
  if (stages & VK_SHADER_STAGE_ALL_GRAPHICS) bind(VK_PIPELINE_BIND_POINT_GRAPHICS);
  if (stages & VK_SHADER_STAGE_COMPUTE_BIT) bind(VK_PIPELINE_BIND_POINT_COMPUTE);
}

inline void record_missing(VkCommandBuffer commands, const std::string& what) {
  record(commands, Error{VK_ERROR_FEATURE_NOT_PRESENT, what});
}

}  // namespace tilegpu::icd
