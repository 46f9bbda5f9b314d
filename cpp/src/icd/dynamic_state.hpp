// icd/dynamic_state.hpp -- dynamic state of colours, which the core has by the attachments of a tile pass.
// In: states by location. Out: states by attachment.
// A program sets it by the locations of a subpass, at any time. It is kept, and given to the core before a draw whose pipeline takes it.
#pragma once

#include "icd/command_buffer.hpp"

namespace tilegpu::icd {

void take_colors(VkCommandBuffer commands);

/// What was set of the first `count` locations of dynamic rendering, as a pipeline has it; the defaults where nothing was.
ColorBlendState blend_state(const ColorStates& colors, uint32_t count);

/// Before each draw.
inline void set_colors(VkCommandBuffer commands) {
  const ColorStates& colors = commands->colors;
  if (!colors.pipeline_takes.bits) return;
  if (colors.changed || colors.subpass != commands->pass.subpass || colors.taken.bits != colors.pipeline_takes.bits) take_colors(commands);
}

}  // namespace tilegpu::icd
