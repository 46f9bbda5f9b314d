// device/pass_targets.hpp -- what a pass has of what a pipeline draws to.
//
// In: the targets of a pass, or of a part of one; a pipeline and the state of a draw. Out: what does not fit; and what the draw runs where
// the pass lacks targets that the pipeline has: the same program, whose writes to them go nowhere. Source: Vulkan specification,
// VK_EXT_dynamic_rendering_unused_attachments.
#pragma once

#include <map>

#include "command/pass.hpp"
#include "device/recorder.hpp"

namespace tilegpu::device {

/// Targets that the pipeline has and the pass lacks: bits as of FragmentOutput::written_targets.
uint32_t absent_targets(const command::Targets& of_pass, const GraphicsPipelineCreateInfo& info);
/// Depth and stencil that a draw leaves alone: one of the two has none.
VkImageAspectFlags unused_aspects(const command::Targets& of_pass, const GraphicsPipelineCreateInfo& info);

/// Samples and formats; and usages of what the tile is read as.
Status check_targets(const Recorder& recorder, const command::Pass& pass, const Pipeline& pipeline, const GraphicsState& state);
/// Of a secondary's part, by its inheritance info.
Status check_part_targets(const Recorder& recorder, const command::Pass& pass, const command::Pass& part);

/// What the state of a part becomes in a pass that lacks targets which the part has.
struct Refit {
  uint32_t absent = 0;
  VkImageAspectFlags unused_aspects = 0;
  Ptr<const pipeline::Resolved> resolved;
};
/// By the place of the state in the part; those that stay as they are are not in it.
using Refits = std::map<size_t, Refit>;
Expected<Refits> refit_states(const Recorder& recorder, const command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
