// pipeline/kernel.hpp -- vkCreateComputePipelines: a program of one stage, and its machine code.
//
// In: ComputePipelineCreateInfo. Out: ComputePipeline. Source: Vulkan specification, "Compute Pipelines".
#pragma once

#include "pipeline/coming_code.hpp"
#include "pipeline/program.hpp"
#include "tilegpu/compute.hpp"

namespace tilegpu::pipeline {

struct Kernel {
  shader::Code<shader::ComputeFunction> code;
  uint32_t lanes = 0;  // invocations at a time
  ComingCode coming;
};

Expected<Ptr<ComputePipeline>> create_compute_pipeline(shader::Jit& jit, ComputePipelineCreateInfo info, const Leniency& leniency);

}  // namespace tilegpu::pipeline
