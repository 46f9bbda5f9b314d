// pipeline/classify.hpp -- what a pipeline's draws may do early, and which hidden-surface removal may touch them.
#pragma once

#include "pipeline/resolved.hpp"

namespace tilegpu::pipeline {

/// `inputs`: what input_sources made of the fragment stage's input attachments.
Classification classify(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment,
                        const std::vector<shader::InputSource>& inputs = {});

/// Resolved::written_targets.
uint32_t written_targets(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment);

/// The same state as the epilogue needs it: unused attachments, formats, blend defaults filled in.
shader::EpilogueKey epilogue_key(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment,
                                 const Classification& classification);

/// Blend states, one for each colour format; where the application gave none: no blending, all components written.
std::vector<VkPipelineColorBlendAttachmentState> blend_attachments(const GraphicsPipelineCreateInfo& info);

}  // namespace tilegpu::pipeline
