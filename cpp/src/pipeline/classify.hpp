// pipeline/classify.hpp -- what a program's draws may do early with a state, and which hidden-surface removal may touch them.
// In: traits, a state. Out: Classification.
#pragma once

#include "pipeline/program.hpp"
#include "pipeline/resolved.hpp"

namespace tilegpu::pipeline {

Classification classify(const Program& program, const GraphicsState& state);

/// FragmentOutput::written_targets.
uint32_t written_targets(const Program& program, const GraphicsState& state);

/// The same state as the epilogue needs it: unused attachments, formats, blend defaults filled in.
shader::EpilogueKey epilogue_key(const Program& program, const GraphicsState& state, const Classification& classification);

/// Blend states, one for each colour format, in one form for all that mean the same: where the application gave none, no blending, all
/// components written, of those that the format has; nothing else where blending is off, or gives the source as it is; no mask where colour
/// writes are off.
std::vector<VkPipelineColorBlendAttachmentState> blend_attachments(const Program& program, const GraphicsState& state);
/// COPY where there is none, and on formats that take none (float, sRGB).
VkLogicOp logic_op_of(const ColorBlendState& blend, VkFormat format);
/// What one of blend_attachments, or the logic operation, makes of the components that are written depends on what they held.
bool reads_color(const VkPipelineColorBlendAttachmentState& blend, VkLogicOp op);
/// What goes with advanced operators, the default where an attachment has none.
std::array<AdvancedBlend, kMaxColorAttachments> advanced_blends(const Program& program, const GraphicsState& state);

bool writes_stencil(const DepthStencilState& state);

/// Classification::coarse.
bool shades_coarsely(const Program& program, const GraphicsState& state);

/// What the alpha of the fragment shader's output at location 0 is made of, where it has one: alpha to coverage, and smooth lines, ask.
enum class AlphaOutput : uint8_t { none, floats, integers };
AlphaOutput alpha_output(const Program& program);
/// Alpha to coverage is on, and has an effect.
bool alpha_covers(const Program& program, const MultisampleState& state);
/// If lines are drawn, their fragments' areas go into alpha.
bool smooth_lines(const Program& program, const GraphicsState& state);

}  // namespace tilegpu::pipeline
