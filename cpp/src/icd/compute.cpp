// icd/compute.cpp -- compute pipelines and dispatches.
//
// In: Vulkan's create infos and commands. Out: the core's, of the same names. Source: Vulkan specification, "Compute Pipelines",
// "Dispatching Commands".
#include "tilegpu/compute.hpp"
#include "icd/command_buffer.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/shader_stage.hpp"

namespace tilegpu::icd {

namespace {

VkResult create(VkDevice device, const VkComputePipelineCreateInfo& in, VkPipeline* out) {
  auto stage = stage_of(device, in.stage);
  if (!stage) return fail(device, stage.error(), VK_ERROR_INITIALIZATION_FAILED);
  ComputePipelineCreateInfo info{std::move(*stage), in.layout ? in.layout->core : nullptr, next_label()};
  auto core = device->core->create_pipeline(std::move(info));
  if (!core) return fail(device, core.error(), VK_ERROR_INITIALIZATION_FAILED);
  *out = new VkPipeline_T{nullptr, *core, {}, {}, {}};
  return VK_SUCCESS;
}

}  // namespace

VkResult VKAPI_CALL CreateComputePipelines(VkDevice device, VkPipelineCache, uint32_t createInfoCount,
                                           const VkComputePipelineCreateInfo* pCreateInfos, const VkAllocationCallbacks*,
                                           VkPipeline* pPipelines) {
  return create_each(createInfoCount, pCreateInfos, pPipelines, [&](const auto& in, VkPipeline* out) { return create(device, in, out); });
}

void VKAPI_CALL CmdDispatch(VkCommandBuffer commandBuffer, uint32_t groupCountX, uint32_t groupCountY, uint32_t groupCountZ) {
  record(commandBuffer, commandBuffer->core->dispatch(groupCountX, groupCountY, groupCountZ));
}

void VKAPI_CALL CmdDispatchBase(VkCommandBuffer commandBuffer, uint32_t baseGroupX, uint32_t baseGroupY, uint32_t baseGroupZ,
                                uint32_t groupCountX, uint32_t groupCountY, uint32_t groupCountZ) {
  record(commandBuffer, commandBuffer->core->dispatch_base(baseGroupX, baseGroupY, baseGroupZ, groupCountX, groupCountY, groupCountZ));
}

void VKAPI_CALL CmdDispatchIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset) {
  record(commandBuffer, commandBuffer->core->dispatch_indirect(buffer->core, offset));
}

}  // namespace tilegpu::icd
