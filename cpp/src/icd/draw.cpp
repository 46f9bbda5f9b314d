// icd/draw.cpp -- what is bound for draws, and draws; what is set for them: icd/dynamic_state.cpp.
//
// In: Vulkan's commands. Out: the core's, of the same names. Source: Vulkan specification, "Drawing Commands", "Mesh Shading", "Dynamic
// State".
#include "icd/generated/commands.hpp"
#include "icd/shader_pipelines.hpp"

namespace tilegpu::icd {

void VKAPI_CALL CmdBindPipeline(VkCommandBuffer commandBuffer, VkPipelineBindPoint, VkPipeline pipeline) {
  tilegpu::CommandBuffer& core = *commandBuffer->core;
  BoundShaders& shaders = commandBuffer->shaders;
  if (pipeline->compute) {
    shaders.no_compute = false;
    return core.bind_pipeline(pipeline->compute);
  }
  if (!pipeline->core)
    return record(commandBuffer,
                  Error{VK_ERROR_VALIDATION_FAILED_EXT, "vkCmdBindPipeline: the pipeline is a library; link a pipeline of it"});
  core.bind_pipeline(pipeline->core);
  commandBuffer->colors.pipeline_takes = pipeline->dynamic_colors;
  if (shaders.in_use) shaders.graphics = {}, shaders.in_use = false;  // none is bound any more
  shaders.colors_lost = true;
  shaders.given.bits &= pipeline->core->dynamic().bits;  // of others its own values hold
  if (pipeline->optional.bits & ~shaders.given.bits) set_defaults(commandBuffer, {pipeline->optional.bits & ~shaders.given.bits});
  shaders.viewports_fixed |= !pipeline->viewports.empty(), shaders.scissors_fixed |= !pipeline->scissors.empty();
  if (!pipeline->viewports.empty()) record(commandBuffer, core.set_viewport_with_count(pipeline->viewports));
  if (!pipeline->scissors.empty()) record(commandBuffer, core.set_scissor_with_count(pipeline->scissors));
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

void VKAPI_CALL CmdBindIndexBuffer2(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                    VkIndexType indexType) {
  record(commandBuffer, commandBuffer->core->bind_index_buffer2(buffer ? buffer->core : nullptr, offset, buffer ? size : 0, indexType));
}

void VKAPI_CALL CmdBindDescriptorSets(VkCommandBuffer commandBuffer, VkPipelineBindPoint pipelineBindPoint, VkPipelineLayout,
                                      uint32_t firstSet, uint32_t descriptorSetCount, const VkDescriptorSet* pDescriptorSets,
                                      uint32_t dynamicOffsetCount, const uint32_t* pDynamicOffsets) {
  if (pipelineBindPoint != VK_PIPELINE_BIND_POINT_GRAPHICS && pipelineBindPoint != VK_PIPELINE_BIND_POINT_COMPUTE) return;
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
    commandBuffer->core->bind_descriptor_set(firstSet + i, set, {pDynamicOffsets, pDynamicOffsets + dynamic}, pipelineBindPoint);
    pDynamicOffsets += dynamic;
  }
}

void VKAPI_CALL CmdBindDescriptorSets2(VkCommandBuffer commandBuffer, const VkBindDescriptorSetsInfo* info) {
  for_each_bind_point(info->stageFlags, [&](VkPipelineBindPoint point) {
    CmdBindDescriptorSets(commandBuffer, point, info->layout, info->firstSet, info->descriptorSetCount, info->pDescriptorSets,
                          info->dynamicOffsetCount, info->pDynamicOffsets);
  });
}

void VKAPI_CALL CmdPushConstants2(VkCommandBuffer commandBuffer, const VkPushConstantsInfo* info) {
  record(commandBuffer, commandBuffer->core->push_constants(info->offset, info->pValues, info->size));
}

void VKAPI_CALL CmdPushConstants(VkCommandBuffer commandBuffer, VkPipelineLayout, VkShaderStageFlags, uint32_t offset, uint32_t size,
                                 const void* pValues) {
  record(commandBuffer, commandBuffer->core->push_constants(offset, pValues, size));
}

// --- draws

void VKAPI_CALL CmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount, uint32_t instanceCount, uint32_t firstVertex,
                        uint32_t firstInstance) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw(vertexCount, instanceCount, firstVertex, firstInstance));
}
void VKAPI_CALL CmdDrawIndexed(VkCommandBuffer commandBuffer, uint32_t indexCount, uint32_t instanceCount, uint32_t firstIndex,
                               int32_t vertexOffset, uint32_t firstInstance) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_indexed(indexCount, instanceCount, firstIndex, vertexOffset, firstInstance));
}
// VK_EXT_multi_draw: one draw after the other, each with its number.
template <class Info, class Draw>
static void draw_each(VkCommandBuffer commands, const char* command, uint32_t count, const Info* infos, uint32_t stride_B,
                      const Draw& draw) {
  if (count > 1 && (stride_B < sizeof(Info) || stride_B % 4))
    return record(commands,
                  Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(command) + ": stride is " + std::to_string(stride_B) +
                                                            "; it must be a multiple of 4, at least " + std::to_string(sizeof(Info))});
  if (!prepare_draw(commands)) return;
  const auto* at = reinterpret_cast<const uint8_t*>(infos);
  for (uint32_t i = 0; i < count; ++i, at += stride_B) record(commands, draw(*reinterpret_cast<const Info*>(at), i));
}

void VKAPI_CALL CmdDrawMultiEXT(VkCommandBuffer commandBuffer, uint32_t drawCount, const VkMultiDrawInfoEXT* pVertexInfo,
                                uint32_t instanceCount, uint32_t firstInstance, uint32_t stride) {
  draw_each(commandBuffer, "vkCmdDrawMultiEXT", drawCount, pVertexInfo, stride, [&](const VkMultiDrawInfoEXT& info, uint32_t i) {
    return commandBuffer->core->draw(info.vertexCount, instanceCount, info.firstVertex, firstInstance, i);
  });
}

void VKAPI_CALL CmdDrawMultiIndexedEXT(VkCommandBuffer commandBuffer, uint32_t drawCount, const VkMultiDrawIndexedInfoEXT* pIndexInfo,
                                       uint32_t instanceCount, uint32_t firstInstance, uint32_t stride, const int32_t* pVertexOffset) {
  draw_each(commandBuffer, "vkCmdDrawMultiIndexedEXT", drawCount, pIndexInfo, stride,
            [&](const VkMultiDrawIndexedInfoEXT& info, uint32_t i) {
              const int32_t offset = pVertexOffset ? *pVertexOffset : info.vertexOffset;
              return commandBuffer->core->draw_indexed(info.indexCount, instanceCount, info.firstIndex, offset, firstInstance, i);
            });
}

void VKAPI_CALL CmdDrawIndirectCount(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, VkBuffer countBuffer,
                                     VkDeviceSize countBufferOffset, uint32_t maxDrawCount, uint32_t stride) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer,
         commandBuffer->core->draw_indirect_count(buffer->core, offset, {countBuffer->core, countBufferOffset}, maxDrawCount, stride));
}

void VKAPI_CALL CmdDrawIndexedIndirectCount(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, VkBuffer countBuffer,
                                            VkDeviceSize countBufferOffset, uint32_t maxDrawCount, uint32_t stride) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_indexed_indirect_count(buffer->core, offset, {countBuffer->core, countBufferOffset},
                                                                         maxDrawCount, stride));
}

void VKAPI_CALL CmdDrawIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount, uint32_t stride) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_indirect(buffer->core, offset, drawCount, stride));
}
void VKAPI_CALL CmdDrawIndexedIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount,
                                       uint32_t stride) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_indexed_indirect(buffer->core, offset, drawCount, stride));
}

// --- VK_EXT_mesh_shader

void VKAPI_CALL CmdDrawMeshTasksEXT(VkCommandBuffer commandBuffer, uint32_t groupCountX, uint32_t groupCountY, uint32_t groupCountZ) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_mesh_tasks(groupCountX, groupCountY, groupCountZ));
}

void VKAPI_CALL CmdDrawMeshTasksIndirectEXT(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount,
                                            uint32_t stride) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_mesh_tasks_indirect(buffer->core, offset, drawCount, stride));
}

void VKAPI_CALL CmdDrawMeshTasksIndirectCountEXT(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset, VkBuffer countBuffer,
                                                 VkDeviceSize countBufferOffset, uint32_t maxDrawCount, uint32_t stride) {
  if (!prepare_draw(commandBuffer)) return;
  record(commandBuffer, commandBuffer->core->draw_mesh_tasks_indirect_count(buffer->core, offset, {countBuffer->core, countBufferOffset},
                                                                            maxDrawCount, stride));
}

}  // namespace tilegpu::icd
