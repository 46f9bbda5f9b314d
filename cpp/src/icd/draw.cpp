// icd/draw.cpp -- what is bound and set for draws, and draws.
//
// In: Vulkan's commands. Out: the core's, of the same names. Source: Vulkan specification, "Drawing Commands", "Dynamic State".
#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

void VKAPI_CALL CmdBindPipeline(VkCommandBuffer commandBuffer, VkPipelineBindPoint, VkPipeline pipeline) {
  if (!pipeline->core) return;  // compute
  tilegpu::CommandBuffer& core = *commandBuffer->core;
  core.bind_pipeline(pipeline->core);
  if (pipeline->viewport) core.set_viewport(*pipeline->viewport);
  if (pipeline->scissor) core.set_scissor(*pipeline->scissor);
}

void VKAPI_CALL CmdBindVertexBuffers(VkCommandBuffer commandBuffer, uint32_t firstBinding, uint32_t bindingCount, const VkBuffer* pBuffers,
                                     const VkDeviceSize* pOffsets) {
  if (firstBinding > kMaxVertexBindings || bindingCount > kMaxVertexBindings - firstBinding)
    return record(commandBuffer,
                  Error{VK_ERROR_VALIDATION_FAILED_EXT, "vkCmdBindVertexBuffers: bindings " + std::to_string(firstBinding) + " to " +
                                                            std::to_string(uint64_t{firstBinding} + bindingCount) +
                                                            "; maxVertexInputBindings is " + std::to_string(kMaxVertexBindings)});
  for (uint32_t i = 0; i < bindingCount; ++i)
    commandBuffer->core->bind_vertex_buffer(firstBinding + i, pBuffers[i] ? pBuffers[i]->core : nullptr, pOffsets[i]);
}

void VKAPI_CALL CmdBindVertexBuffers2(VkCommandBuffer commandBuffer, uint32_t firstBinding, uint32_t bindingCount, const VkBuffer* pBuffers,
                                      const VkDeviceSize* pOffsets, const VkDeviceSize* pSizes, const VkDeviceSize* pStrides) {
  if (!pStrides && !pSizes) return CmdBindVertexBuffers(commandBuffer, firstBinding, bindingCount, pBuffers, pOffsets);
  for (uint32_t i = 0; i < bindingCount; ++i)
    record(commandBuffer, commandBuffer->core->bind_vertex_buffer2(
                              firstBinding + i, pBuffers[i] ? pBuffers[i]->core : nullptr, pOffsets[i], pSizes ? pSizes[i] : VK_WHOLE_SIZE,
                              pStrides ? std::optional(static_cast<uint32_t>(pStrides[i])) : std::nullopt));
}

void VKAPI_CALL CmdBindIndexBuffer(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, VkIndexType indexType) {
  commandBuffer->core->bind_index_buffer(buffer ? buffer->core : nullptr, offset, indexType);
}

void VKAPI_CALL CmdBindDescriptorSets(VkCommandBuffer commandBuffer, VkPipelineBindPoint pipelineBindPoint, VkPipelineLayout,
                                      uint32_t firstSet, uint32_t descriptorSetCount, const VkDescriptorSet* pDescriptorSets,
                                      uint32_t dynamicOffsetCount, const uint32_t* pDynamicOffsets) {
  if (pipelineBindPoint != VK_PIPELINE_BIND_POINT_GRAPHICS) return;
  if (firstSet > kMaxDescriptorSets || descriptorSetCount > kMaxDescriptorSets - firstSet)
    return record(commandBuffer,
                  Error{VK_ERROR_VALIDATION_FAILED_EXT, "vkCmdBindDescriptorSets: sets " + std::to_string(firstSet) + " to " +
                                                            std::to_string(uint64_t{firstSet} + descriptorSetCount) +
                                                            "; maxBoundDescriptorSets is " + std::to_string(kMaxDescriptorSets)});
  for (uint32_t i = 0; i < descriptorSetCount; ++i) {
    if (!pDescriptorSets[i]) continue;
    const Ptr<tilegpu::DescriptorSet>& set = pDescriptorSets[i]->core;
    const uint32_t dynamic = set->layout().dynamic_buffers();
    if (dynamic > dynamicOffsetCount)
      return record(commandBuffer, Error{VK_ERROR_VALIDATION_FAILED_EXT,
                                         "vkCmdBindDescriptorSets: dynamicOffsetCount is less than the sets' dynamic buffers"});
    dynamicOffsetCount -= dynamic;
    commandBuffer->core->bind_descriptor_set(firstSet + i, set, {pDynamicOffsets, pDynamicOffsets + dynamic});
    pDynamicOffsets += dynamic;
  }
}

void VKAPI_CALL CmdPushConstants(VkCommandBuffer commandBuffer, VkPipelineLayout, VkShaderStageFlags, uint32_t offset, uint32_t size,
                                 const void* pValues) {
  record(commandBuffer, commandBuffer->core->push_constants(offset, pValues, size));
}

// --- state

void VKAPI_CALL CmdSetViewport(VkCommandBuffer commandBuffer, uint32_t firstViewport, uint32_t viewportCount,
                               const VkViewport* pViewports) {
  if (firstViewport == 0 && viewportCount > 0) commandBuffer->core->set_viewport(pViewports[0]);
}
void VKAPI_CALL CmdSetScissor(VkCommandBuffer commandBuffer, uint32_t firstScissor, uint32_t scissorCount, const VkRect2D* pScissors) {
  if (firstScissor == 0 && scissorCount > 0) commandBuffer->core->set_scissor(pScissors[0]);
}
void VKAPI_CALL CmdSetViewportWithCount(VkCommandBuffer commandBuffer, uint32_t viewportCount, const VkViewport* pViewports) {
  record(commandBuffer, commandBuffer->core->set_viewport_with_count({pViewports, viewportCount}));
}
void VKAPI_CALL CmdSetScissorWithCount(VkCommandBuffer commandBuffer, uint32_t scissorCount, const VkRect2D* pScissors) {
  record(commandBuffer, commandBuffer->core->set_scissor_with_count({pScissors, scissorCount}));
}
void VKAPI_CALL CmdSetLineWidth(VkCommandBuffer commandBuffer, float lineWidth) { commandBuffer->core->set_line_width(lineWidth); }
void VKAPI_CALL CmdSetDepthBias(VkCommandBuffer commandBuffer, float constant, float clamp, float slope) {
  commandBuffer->core->set_depth_bias(constant, clamp, slope);
}
void VKAPI_CALL CmdSetBlendConstants(VkCommandBuffer commandBuffer, const float blendConstants[4]) {
  commandBuffer->core->set_blend_constants({blendConstants[0], blendConstants[1], blendConstants[2], blendConstants[3]});
}
void VKAPI_CALL CmdSetDepthBounds(VkCommandBuffer commandBuffer, float minDepthBounds, float maxDepthBounds) {
  commandBuffer->core->set_depth_bounds(minDepthBounds, maxDepthBounds);
}
void VKAPI_CALL CmdSetStencilCompareMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, uint32_t compareMask) {
  commandBuffer->core->set_stencil_compare_mask(faceMask, compareMask);
}
void VKAPI_CALL CmdSetStencilWriteMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, uint32_t writeMask) {
  commandBuffer->core->set_stencil_write_mask(faceMask, writeMask);
}
void VKAPI_CALL CmdSetStencilReference(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, uint32_t reference) {
  commandBuffer->core->set_stencil_reference(faceMask, reference);
}
void VKAPI_CALL CmdSetCullMode(VkCommandBuffer commandBuffer, VkCullModeFlags cullMode) { commandBuffer->core->set_cull_mode(cullMode); }
void VKAPI_CALL CmdSetFrontFace(VkCommandBuffer commandBuffer, VkFrontFace frontFace) { commandBuffer->core->set_front_face(frontFace); }
void VKAPI_CALL CmdSetPrimitiveTopology(VkCommandBuffer commandBuffer, VkPrimitiveTopology primitiveTopology) {
  commandBuffer->core->set_primitive_topology(primitiveTopology);
}
void VKAPI_CALL CmdSetDepthTestEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_test_enable(enable);
}
void VKAPI_CALL CmdSetDepthWriteEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_write_enable(enable);
}
void VKAPI_CALL CmdSetDepthCompareOp(VkCommandBuffer commandBuffer, VkCompareOp op) { commandBuffer->core->set_depth_compare_op(op); }
void VKAPI_CALL CmdSetDepthBoundsTestEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_bounds_test_enable(enable);
}
void VKAPI_CALL CmdSetStencilTestEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_stencil_test_enable(enable);
}
void VKAPI_CALL CmdSetStencilOp(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, VkStencilOp failOp, VkStencilOp passOp,
                                VkStencilOp depthFailOp, VkCompareOp compareOp) {
  commandBuffer->core->set_stencil_op(faceMask, failOp, passOp, depthFailOp, compareOp);
}
void VKAPI_CALL CmdSetRasterizerDiscardEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_rasterizer_discard_enable(enable);
}
void VKAPI_CALL CmdSetDepthBiasEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_bias_enable(enable);
}
void VKAPI_CALL CmdSetPrimitiveRestartEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_primitive_restart_enable(enable);
}

// --- draws

void VKAPI_CALL CmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount, uint32_t instanceCount, uint32_t firstVertex,
                        uint32_t firstInstance) {
  record(commandBuffer, commandBuffer->core->draw(vertexCount, instanceCount, firstVertex, firstInstance));
}
void VKAPI_CALL CmdDrawIndexed(VkCommandBuffer commandBuffer, uint32_t indexCount, uint32_t instanceCount, uint32_t firstIndex,
                               int32_t vertexOffset, uint32_t firstInstance) {
  record(commandBuffer, commandBuffer->core->draw_indexed(indexCount, instanceCount, firstIndex, vertexOffset, firstInstance));
}
void VKAPI_CALL CmdDrawIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount, uint32_t stride) {
  record(commandBuffer, commandBuffer->core->draw_indirect(buffer->core, offset, drawCount, stride));
}
void VKAPI_CALL CmdDrawIndexedIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount,
                                       uint32_t stride) {
  record(commandBuffer, commandBuffer->core->draw_indexed_indirect(buffer->core, offset, drawCount, stride));
}

static const char* const kNoCompute = "vkCmdDispatch: compute is not there";
void VKAPI_CALL CmdDispatch(VkCommandBuffer commandBuffer, uint32_t, uint32_t, uint32_t) { record_missing(commandBuffer, kNoCompute); }
void VKAPI_CALL CmdDispatchIndirect(VkCommandBuffer commandBuffer, VkBuffer, VkDeviceSize) { record_missing(commandBuffer, kNoCompute); }
void VKAPI_CALL CmdDispatchBase(VkCommandBuffer commandBuffer, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  record_missing(commandBuffer, kNoCompute);
}

}  // namespace tilegpu::icd
