// pipeline/create.hpp -- vkCreateGraphicsPipelines: checks, classification, machine code. In: GraphicsPipelineCreateInfo. Out: Pipeline.
#pragma once

#include <string>

#include "pipeline/program.hpp"
#include "pipeline/resolved.hpp"

namespace tilegpu::shader {
class Jit;
}

namespace tilegpu::pipeline {

class ResolveCache;
struct Program;

/// maxCombinedClipAndCullDistances of the driver's limits.
inline constexpr uint32_t kMaxClipAndCullDistances = 8;

/// What has to be compiled is compiled by up to `threads` threads: all of it where the pipeline fixes what code depends on, else what
/// its own state would take, so that the first draws find most of it.
Expected<Ptr<Pipeline>> create_pipeline(shader::Jit& jit, ResolveCache& cache, GraphicsPipelineCreateInfo info, uint32_t threads = 1,
                                        const Leniency& leniency = {});

/// What Vulkan forbids of a pipeline that could be made.
Status forbidden_of(const GraphicsPipelineCreateInfo& info);
Status forbidden_of(const Program& program);

/// Depth, stencil: no test and no write (GraphicsPipelineCreateInfo::untested_aspects).
void leave_out_tests(VkImageAspectFlags aspects, DepthStencilState& state);

/// Gives the descriptors in a stage's table their places in the sets' memory; an error where the layout has no place.
Status place(shader::ResourceTable& table, const PipelineLayout& layout);
/// Number of the first dynamic buffer of a set among those of the layout.
uint32_t first_dynamic_buffer(const PipelineLayout& layout, uint32_t set);

/// Makes the code of Resolved::position, the vertex shader cut down to gl_Position, clip and cull distances, where it isn't there yet.
Status position_shader(shader::Jit& jit, const Resolved& resolved);

}  // namespace tilegpu::pipeline
