// icd/subpass.hpp -- what a subpass draws to, and which subpasses are one pass of tiles.
// In: subpasses and dependencies. Out: tile passes.
// Subpasses that depend on each other by region are one tile pass: what one wrote the next reads in tile memory, and nothing is stored
// between. Source: Vulkan specification, "Render Pass", "Render Pass Compatibility", VkSubpassDependency.
#pragma once

#include <optional>
#include <string>

#include "icd/objects.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::icd {

/// Why a subpass begins a tile pass of its own.
struct Apart {
  VkSubpassMergeStatusEXT status = VK_SUBPASS_MERGE_STATUS_NOT_MERGED_UNSPECIFIED_EXT;
  std::string why;
};

/// Finds what each subpass reads from memory, as textures are, in place of tile memory: inputs of other samples than what it draws to,
/// those for which its tile has no place (eight colours, one depth and stencil). Fills tile_passes from the subpasses and their
/// dependencies, alone from what compatible render passes have in common, and from VkRenderPassCreationControlEXT. `apart`: for each
/// subpass, empty where it joined the one before. An error names what no pass can have.
Status group_subpasses(VkRenderPass_T& pass, std::vector<std::optional<Apart>>& apart);

/// Formats of a subpass's tile pass, as a pipeline or a part of a pass must have them; UNDEFINED where there is none.
struct SubpassTargets {
  std::vector<VkFormat> color;
  VkFormat depth = VK_FORMAT_UNDEFINED, stencil = VK_FORMAT_UNDEFINED;
  uint32_t samples = 1;
};
SubpassTargets targets_of(const VkRenderPass_T& pass, uint32_t subpass);

/// The location of the subpass's shaders that writes an attachment; the InputAttachmentIndex that reads it. VK_ATTACHMENT_UNUSED: none.
uint32_t location_of(const Subpass& subpass, uint32_t attachment);
uint32_t input_of(const Subpass& subpass, uint32_t attachment);
/// The same of one aspect: depth and stencil of one attachment may be two inputs.
uint32_t input_of(const Subpass& subpass, uint32_t attachment, VkImageAspectFlagBits aspect);
bool is_fetched(const Subpass& subpass, uint32_t attachment);

/// Samples that the subpass has of an attachment: where it renders to images of one with several, these.
uint32_t samples_of(const VkRenderPass_T& pass, const Subpass& subpass, uint32_t attachment);
/// Words of those whose attachments have one sample, and what they don't store; "": none.
std::string explain_single_sampled(const VkRenderPass_T& pass);

/// Why the subpass reads the attachment from memory.
std::string why_fetched(const VkRenderPass_T& pass, const Subpass& subpass, uint32_t attachment);

/// The place of an attachment among the tile pass's colours; VK_ATTACHMENT_UNUSED: it is none of them.
uint32_t slot_of(const TilePass& tiles, uint32_t attachment);

}  // namespace tilegpu::icd
