// icd/shader_stage.hpp -- a stage of a pipeline: its module by entry point, its specialization constants.
#pragma once

#include "icd/objects.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::icd {

Expected<ShaderStage> stage_of(VkDevice device, const VkPipelineShaderStageCreateInfo& in);

}  // namespace tilegpu::icd
