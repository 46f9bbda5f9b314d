// device/transform_feedback_targets.hpp -- memory that transform feedback reads and writes beside a pass's targets. In: the open pass,
// places in buffers. Out: what the pass's feedback knows of them; an error where they meet. Source: Vulkan specification, "Transform
// Feedback", "Render Pass Feedback Loop".
#pragma once

#include "device/recorder.hpp"

namespace tilegpu::device {

/// Draws of this state are captured to these buffers: as what shaders write.
Status note_captured(command::Pass& pass, const Pipeline& pipeline, const command::DrawState& state, const command::TransformFeedback& to);
/// All intervals of a secondary's part, which was recorded without knowing the pass's targets.
Status note_transform_feedback(command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
