// pipeline/create.hpp -- vkCreateGraphicsPipelines: checks, classification, machine code.
#pragma once

#include "pipeline/resolved.hpp"

namespace tilegpu::shader {
class Jit;
}

namespace tilegpu::pipeline {

class ResolveCache;

/// What has to be compiled is compiled by up to `threads` threads: all of it where the pipeline fixes what code depends on, else what
/// its own state would take, so that the first draws find most of it.
Expected<Ptr<Pipeline>> create_pipeline(shader::Jit& jit, ResolveCache& cache, GraphicsPipelineCreateInfo info, uint32_t threads = 1);

/// As the front end calls it.
const char* descriptor_name(VkDescriptorType type);

/// The vertex shader cut down to gl_Position, clip and cull distances; compiled at the first request.
Status position_shader(shader::Jit& jit, const Resolved& resolved);

}  // namespace tilegpu::pipeline
