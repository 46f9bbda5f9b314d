// shader/spirv/stage.hpp -- which of Vulkan's stages an entry point is. In: its execution model. Out: the stage's bit.
// Source: SPIR-V specification 1.6, "Execution Model"; SPV_EXT_mesh_shader.
#pragma once

#include <cassert>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// Both count from the vertex stage on, in the same order, up to compute.
inline VkShaderStageFlagBits stage_of(spv::ExecutionModel model) {
  assert(model <= spv::ExecutionModelGLCompute || is_task_or_mesh(model));
  if (is_task_or_mesh(model)) return model == spv::ExecutionModelTaskEXT ? VK_SHADER_STAGE_TASK_BIT_EXT : VK_SHADER_STAGE_MESH_BIT_EXT;
  return static_cast<VkShaderStageFlagBits>(1u << model);
}

}  // namespace tilegpu::shader
