// resource/usage.cpp -- see usage.hpp. In: uses. Out: their names, as Vulkan has them.
#include "resource/usage.hpp"

namespace tilegpu::resource {

const char* usage_name(VkBufferUsageFlagBits use) {
  switch (use) {
    case VK_BUFFER_USAGE_TRANSFER_SRC_BIT:
      return "transfer_src";
    case VK_BUFFER_USAGE_TRANSFER_DST_BIT:
      return "transfer_dst";
    case VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT:
      return "uniform_buffer";
    case VK_BUFFER_USAGE_STORAGE_BUFFER_BIT:
      return "storage_buffer";
    case VK_BUFFER_USAGE_INDEX_BUFFER_BIT:
      return "index_buffer";
    case VK_BUFFER_USAGE_VERTEX_BUFFER_BIT:
      return "vertex_buffer";
    case VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT:
      return "indirect_buffer";
    case VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT:
      return "conditional_rendering";
    case VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT:
      return "transform_feedback_buffer";
    case VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT:
      return "transform_feedback_counter_buffer";
    default:
      return "that flag";
  }
}

const char* usage_name(VkImageUsageFlagBits use) {
  switch (use) {
    case VK_IMAGE_USAGE_TRANSFER_SRC_BIT:
      return "transfer_src";
    case VK_IMAGE_USAGE_TRANSFER_DST_BIT:
      return "transfer_dst";
    case VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT:
      return "input_attachment";
    default:
      return "that flag";
  }
}

}  // namespace tilegpu::resource
