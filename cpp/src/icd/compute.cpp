// icd/compute.cpp -- compute pipelines and dispatches.
//
// In: Vulkan's create infos and commands. Out: the core's, of the same names. Source: Vulkan specification, "Compute Pipelines",
// "Dispatching Commands".
#include "tilegpu/compute.hpp"

#include <cassert>

#include "icd/command_buffer.hpp"
#include "icd/debug_utils.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/shader_stage.hpp"

namespace tilegpu::icd {

Status check_subgroups(VkDevice device, const char* who, const void* next, bool wants_full, const tilegpu::ComputePipeline& made) {
  using Required = VkPipelineShaderStageRequiredSubgroupSizeCreateInfo;
  const auto* size = find_next<Required>(next, VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
  if (size && size->requiredSubgroupSize != kSubgroupSize)
    return Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(who) + ": requiredSubgroupSize is " +
                                                     std::to_string(size->requiredSubgroupSize) + "; subgroups have 4 invocations"};
  const uint32_t row = made.workgroup_size()[0];
  assert(row > 0);
  if (wants_full && row % kSubgroupSize)
    say_misuse(device, std::string(who) + ": full subgroups are required of workgroups whose rows have " + std::to_string(row) +
                           " invocations; make it a multiple of 4");
  return Ok{};
}

namespace {

VkResult create(VkDevice device, const VkComputePipelineCreateInfo& in, VkPipeline* out) {
  auto stage = stage_of(device, in.stage);
  if (!stage) return fail(device, stage.error(), VK_ERROR_INITIALIZATION_FAILED);
  ComputePipelineCreateInfo info{std::move(*stage), in.layout ? in.layout->core : nullptr, next_label()};
  auto core = device->core->create_pipeline(std::move(info));
  if (!core) return fail(device, core.error(), VK_ERROR_INITIALIZATION_FAILED);
  if (Status ok = check_subgroups(device, "compute pipeline", in.stage.pNext,
                                  in.stage.flags & VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT, **core);
      !ok)
    return fail(device, ok.error(), VK_ERROR_INITIALIZATION_FAILED);
  *out = new VkPipeline_T{nullptr, *core, {}, {}, {}};
  return VK_SUCCESS;
}

}  // namespace

VkResult VKAPI_CALL CreateComputePipelines(VkDevice device, VkPipelineCache, uint32_t createInfoCount,
                                           const VkComputePipelineCreateInfo* pCreateInfos, const VkAllocationCallbacks*,
                                           VkPipeline* pPipelines) {
  return create_each(createInfoCount, pCreateInfos, pPipelines, [&](const auto& in, VkPipeline* out) { return create(device, in, out); });
}

// False: a compute shader was unbound since, which is said.
static bool has_compute(VkCommandBuffer commands) {
  if (!commands->shaders.no_compute) return true;
  record(commands, Error{VK_ERROR_VALIDATION_FAILED_EXT,
                         "dispatch without a compute shader: vkCmdBindShadersEXT unbound it; bind one, or a compute pipeline"});
  return false;
}

void VKAPI_CALL CmdDispatch(VkCommandBuffer commandBuffer, uint32_t groupCountX, uint32_t groupCountY, uint32_t groupCountZ) {
  if (!has_compute(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->dispatch(groupCountX, groupCountY, groupCountZ));
}

void VKAPI_CALL CmdDispatchBase(VkCommandBuffer commandBuffer, uint32_t baseGroupX, uint32_t baseGroupY, uint32_t baseGroupZ,
                                uint32_t groupCountX, uint32_t groupCountY, uint32_t groupCountZ) {
  if (!has_compute(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->dispatch_base(baseGroupX, baseGroupY, baseGroupZ, groupCountX, groupCountY, groupCountZ));
}

void VKAPI_CALL CmdDispatchIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset) {
  if (!has_compute(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->dispatch_indirect(buffer->core, offset));
}

}  // namespace tilegpu::icd
