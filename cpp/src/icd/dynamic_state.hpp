// icd/dynamic_state.hpp -- dynamic state of colours, which the core has by the attachments of a tile pass; states that need not be set.
// In: states by location. Out: states by attachment.
// A program sets it by the locations of a subpass, at any time. It is kept, and given to the core before a draw whose pipeline takes it.
#pragma once

#include "icd/command_buffer.hpp"

namespace tilegpu::icd {

void take_colors(VkCommandBuffer commands);

/// What was set of the first `count` locations of dynamic rendering, as a pipeline has it; the defaults where nothing was.
ColorBlendState blend_state(const ColorStates& colors, uint32_t count);

/// Vulkan asks for some states only where a feature or an extension is enabled, or a stage is there. Else the default holds, unless the
/// command buffer sets another.
DynamicStates optional_states(const VkDevice_T& device, VkShaderStageFlags stages);

/// Gives the core the defaults of such states, which the pipeline leaves to the command buffer and nobody has set.
void set_defaults(VkCommandBuffer commands, DynamicStates which);

/// Before each draw.
inline void set_colors(VkCommandBuffer commands) {
  const ColorStates& colors = commands->colors;
  if (!colors.pipeline_takes.bits) return;
  if (colors.changed || colors.subpass != commands->pass.subpass || colors.taken.bits != colors.pipeline_takes.bits) take_colors(commands);
}

}  // namespace tilegpu::icd
