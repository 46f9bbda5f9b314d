// vk/blend_op.hpp -- which of Vulkan's blend operations are advanced ones, and which blending asks what the attachment holds.
// In: VkBlendOp, or an attachment's blending. Out: yes or no. Source: Vulkan specification, "Blend Factors", "Blend Operations",
// "Advanced Blend Operations".
#pragma once

#include <vulkan/vulkan_core.h>

#include <string>

namespace tilegpu::vk {

/// One that takes the place of both equations: factors count for nothing.
constexpr bool is_advanced(VkBlendOp op) { return op >= VK_BLEND_OP_ZERO_EXT && op <= VK_BLEND_OP_BLUE_EXT; }
/// No value above and between those that there are.
constexpr bool is_blend_op(VkBlendOp op) { return (op >= VK_BLEND_OP_ADD && op <= VK_BLEND_OP_MAX) || is_advanced(op); }
/// Of sums and differences; MIN, MAX and advanced ones take the operands as they are.
constexpr bool uses_factors(VkBlendOp op) {
  return op == VK_BLEND_OP_ADD || op == VK_BLEND_OP_SUBTRACT || op == VK_BLEND_OP_REVERSE_SUBTRACT;
}
/// ZERO and SRC give the same over everything; ordinary operations ask, as far as this tells.
constexpr bool reads_destination(VkBlendOp op) { return op != VK_BLEND_OP_ZERO_EXT && op != VK_BLEND_OP_SRC_EXT; }

/// Enabled blending of the components that are written: the source as it is; and whether it depends on what the attachment holds (a
/// destination factor of zero leaves that out, also where it is infinite or no number).
bool blend_is_copy(const VkPipelineColorBlendAttachmentState& blend);
bool blend_reads_destination(const VkPipelineColorBlendAttachmentState& blend);

/// Vulkan's name, or the number of what is none.
std::string blend_op_name(VkBlendOp op);

}  // namespace tilegpu::vk
