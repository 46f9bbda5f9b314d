// icd/subpass.hpp -- what a subpass draws to. Source: Vulkan specification, "Render Pass".
#pragma once

#include "icd/objects.hpp"

namespace tilegpu::icd {

/// Formats of a subpass's attachments, as a pipeline or a part of a pass must have them; UNDEFINED where there is none.
struct SubpassTargets {
  std::vector<VkFormat> color;
  VkFormat depth = VK_FORMAT_UNDEFINED, stencil = VK_FORMAT_UNDEFINED;
  uint32_t samples = 1;
};
SubpassTargets targets_of(const VkRenderPass_T& pass, uint32_t subpass);

/// The InputAttachmentIndex that reads an attachment; VK_ATTACHMENT_UNUSED: none.
uint32_t input_of(const Subpass& subpass, uint32_t attachment);

}  // namespace tilegpu::icd
