// icd/command_buffer.cpp -- command pools and buffers: their life, and the commands that are the same in and outside of passes.
//
// In: Vulkan's calls. Out: recordings of the core. Source: Vulkan specification, "Command Buffers".
#include "icd/command_buffer.hpp"

#include "icd/generated/commands.hpp"
#include "icd/subpass.hpp"

namespace tilegpu::icd {
namespace {

// What a secondary command buffer knows of the pass that it is part of: a subpass, or dynamic rendering.
InheritedActivity activity_of(const VkCommandBufferInheritanceInfo& in) {
  using Conditional = VkCommandBufferInheritanceConditionalRenderingInfoEXT;
  const auto* conditional = find_next<Conditional>(in.pNext, VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_CONDITIONAL_RENDERING_INFO_EXT);
  return {in.occlusionQueryEnable != VK_FALSE, in.pipelineStatistics, conditional && conditional->conditionalRenderingEnable};
}

InheritanceInfo inheritance_of(const VkCommandBufferInheritanceInfo& in) {
  InheritanceInfo out;
  const InheritedActivity active = activity_of(in);
  out.occlusion_query = active.occlusion_query, out.pipeline_statistics = active.pipeline_statistics;
  out.conditional_rendering = active.conditional_rendering;
  using Rendering = VkCommandBufferInheritanceRenderingInfo;
  if (in.renderPass) {
    const SubpassTargets targets = targets_of(*in.renderPass, in.subpass);
    out.color_formats = targets.color;
    out.depth_format = targets.depth, out.stencil_format = targets.stencil;
    out.samples = targets.samples;
    out.view_mask = in.renderPass->subpasses[in.subpass].view_mask;
  } else if (const auto* rendering = find_next<Rendering>(in.pNext, VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO)) {
    out.color_formats = given(rendering->pColorAttachmentFormats, rendering->colorAttachmentCount);
    out.depth_format = given(rendering->depthAttachmentFormat), out.stencil_format = given(rendering->stencilAttachmentFormat);
    if (const uint32_t samples = given(rendering->rasterizationSamples); samples != 0) out.samples = samples;
    out.view_mask = rendering->viewMask;
  }
  return out;
}

// What is cleared is what has a format.
void inherit(const VkCommandBufferInheritanceRenderingInfo& in, OpenPass& pass) {
  pass.view_mask = in.viewMask;
  for (uint32_t i = 0; i < in.colorAttachmentCount && i < kMaxColorAttachments; ++i)
    if (given(in.pColorAttachmentFormats[i]) == VK_FORMAT_UNDEFINED) pass.unbacked_colors |= 1U << i;
  if (given(in.depthAttachmentFormat) == VK_FORMAT_UNDEFINED) pass.unbacked |= VK_IMAGE_ASPECT_DEPTH_BIT;
  if (given(in.stencilAttachmentFormat) == VK_FORMAT_UNDEFINED) pass.unbacked |= VK_IMAGE_ASPECT_STENCIL_BIT;
  pass.targets.colors = std::min(in.colorAttachmentCount, kMaxColorAttachments);
  for (uint32_t i = 0; i < pass.targets.colors; ++i) pass.targets.color[i] = given(in.pColorAttachmentFormats[i]);
  pass.targets.depth = given(in.depthAttachmentFormat), pass.targets.stencil = given(in.stencilAttachmentFormat);
}

}  // namespace

VkResult VKAPI_CALL CreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*, const VkAllocationCallbacks*, VkCommandPool* pCommandPool) {
  *pCommandPool = new VkCommandPool_T;
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyCommandPool(VkDevice device, VkCommandPool commandPool, const VkAllocationCallbacks*) {
  if (!commandPool) return;
  for (const VkCommandBuffer buffer : commandPool->buffers) discard(device, buffer);
  discard(device, commandPool);
}

VkResult VKAPI_CALL ResetCommandPool(VkDevice device, VkCommandPool commandPool, VkCommandPoolResetFlags) {
  for (const VkCommandBuffer buffer : commandPool->buffers) ResetCommandBuffer(buffer, 0);
  (void)device;
  return VK_SUCCESS;
}

void VKAPI_CALL TrimCommandPool(VkDevice, VkCommandPool, VkCommandPoolTrimFlags) {}

VkResult VKAPI_CALL AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo* pAllocateInfo,
                                           VkCommandBuffer* pCommandBuffers) {
  for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; ++i) {
    auto* commands = new VkCommandBuffer_T;
    commands->device = device;
    commands->pool = pAllocateInfo->commandPool;
    commands->core = std::make_shared<tilegpu::CommandBuffer>(device->core, given(pAllocateInfo->level));
    commands->pool->buffers.insert(commands);
    pCommandBuffers[i] = commands;
  }
  return VK_SUCCESS;
}

void VKAPI_CALL FreeCommandBuffers(VkDevice device, VkCommandPool commandPool, uint32_t commandBufferCount,
                                   const VkCommandBuffer* pCommandBuffers) {
  for (uint32_t i = 0; i < commandBufferCount; ++i) {
    if (!pCommandBuffers[i]) continue;
    commandPool->buffers.erase(pCommandBuffers[i]);
    discard(device, pCommandBuffers[i]);
  }
}

VkResult VKAPI_CALL ResetCommandBuffer(VkCommandBuffer commandBuffer, VkCommandBufferResetFlags) {
  commandBuffer->pass = {};
  commandBuffer->condition.reset();
  commandBuffer->core->reset();
  commandBuffer->result = VK_SUCCESS;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo* pBeginInfo) {
  commandBuffer->result = VK_SUCCESS;
  commandBuffer->labels.clear();
  commandBuffer->pass = {};  // of a recording that was given up inside one
  commandBuffer->colors = {};
  commandBuffer->shaders = {};
  commandBuffer->condition.reset();
  commandBuffer->core->reset();
  if (commandBuffer->core->level() == VK_COMMAND_BUFFER_LEVEL_SECONDARY && pBeginInfo->pInheritanceInfo &&
      pBeginInfo->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) {
    const VkCommandBufferInheritanceInfo& inherited = *pBeginInfo->pInheritanceInfo;
    if (inherited.renderPass && inherited.subpass >= inherited.renderPass->subpasses.size())
      return fail(commandBuffer->device, VK_ERROR_VALIDATION_FAILED_EXT,
                  "vkBeginCommandBuffer: subpass is " + std::to_string(inherited.subpass) + "; the inherited render pass has " +
                      std::to_string(inherited.renderPass->subpasses.size()));
    commandBuffer->pass.rendering = true;
    commandBuffer->pass.render_pass = inherited.renderPass;
    commandBuffer->pass.subpass = inherited.subpass;
    using Rendering = VkCommandBufferInheritanceRenderingInfo;
    const auto* rendering = find_next<Rendering>(inherited.pNext, VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO);
    if (!inherited.renderPass && rendering) inherit(*rendering, commandBuffer->pass);
    const Status ok = commandBuffer->core->begin(inheritance_of(*pBeginInfo->pInheritanceInfo));
    return ok ? VK_SUCCESS : fail(commandBuffer->device, ok.error());
  }
  const bool inherits = commandBuffer->core->level() == VK_COMMAND_BUFFER_LEVEL_SECONDARY && pBeginInfo->pInheritanceInfo;
  const Status ok = inherits ? commandBuffer->core->begin(activity_of(*pBeginInfo->pInheritanceInfo)) : commandBuffer->core->begin();
  return ok ? VK_SUCCESS : fail(commandBuffer->device, ok.error());
}

VkResult VKAPI_CALL EndCommandBuffer(VkCommandBuffer commandBuffer) {
  if (commandBuffer->result == VK_SUCCESS) record(commandBuffer, commandBuffer->core->end());
  return commandBuffer->result;
}

void VKAPI_CALL CmdExecuteCommands(VkCommandBuffer commandBuffer, uint32_t commandBufferCount, const VkCommandBuffer* pCommandBuffers) {
  std::vector<Ptr<tilegpu::CommandBuffer>> secondaries;
  for (uint32_t i = 0; i < commandBufferCount; ++i) {
    secondaries.push_back(pCommandBuffers[i]->core);
    auto& timestamps = commandBuffer->pass.timestamps;  // of a part: they follow the pass, too
    if (commandBuffer->pass.rendering)
      timestamps.insert(timestamps.end(), pCommandBuffers[i]->pass.timestamps.begin(), pCommandBuffers[i]->pass.timestamps.end());
  }
  record(commandBuffer, commandBuffer->core->execute_commands(secondaries));
}

void VKAPI_CALL CmdSetDeviceMask(VkCommandBuffer, uint32_t) {}

void VKAPI_CALL CmdBeginDebugUtilsLabelEXT(VkCommandBuffer commandBuffer, const VkDebugUtilsLabelEXT* pLabelInfo) {
  commandBuffer->labels.emplace_back(pLabelInfo->pLabelName ? pLabelInfo->pLabelName : "");
}
void VKAPI_CALL CmdEndDebugUtilsLabelEXT(VkCommandBuffer commandBuffer) {
  if (!commandBuffer->labels.empty()) commandBuffer->labels.pop_back();
}
void VKAPI_CALL CmdInsertDebugUtilsLabelEXT(VkCommandBuffer, const VkDebugUtilsLabelEXT*) {}

}  // namespace tilegpu::icd
