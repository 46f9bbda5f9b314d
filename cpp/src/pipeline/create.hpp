// pipeline/create.hpp -- vkCreateGraphicsPipelines: checks, classification, machine code.
#pragma once

#include "pipeline/resolved.hpp"

namespace tilegpu::shader {
class Jit;
}

namespace tilegpu::pipeline {

/// A null layout is made from the shaders' reflection (one set layout for each set number used).
/// What has to be compiled is compiled by up to `threads` threads.
Expected<Ptr<Pipeline>> create_pipeline(shader::Jit& jit, GraphicsPipelineCreateInfo info, uint32_t threads = 1);

/// Everything that can be said before compiling: stages, vertex input, interface between the stages, targets, layout.
Status validate(GraphicsPipelineCreateInfo& info);

/// As the front end calls it.
const char* descriptor_name(VkDescriptorType type);

/// The vertex shader of a pipeline cut down to gl_Position, clip and cull distances; compiled at the first request.
Status position_shader(shader::Jit& jit, const Pipeline& pipeline);

}  // namespace tilegpu::pipeline
