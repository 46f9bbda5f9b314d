// fuzz/driver/commands.hpp -- the driver's commands, by vk_icdGetInstanceProcAddr as the loader would get them, and which results Vulkan
// allows of each.
//
// In: an instance. Out: pointers under Vulkan's names without "vk". Source: Vulkan specification, "Command Function Pointers"; the return
// codes of the registry (vk.xml, errorcodes and successcodes).
#pragma once

#include <vulkan/vk_icd.h>

namespace tilegpu::fuzz {

// clang-format off
#define TILEGPU_FUZZED_GLOBALS(X) X(CreateInstance) X(EnumerateInstanceExtensionProperties) X(EnumerateInstanceLayerProperties) \
  X(EnumerateInstanceVersion)
#define TILEGPU_FUZZED_COMMANDS(X) \
  X(DestroyInstance) X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties) X(GetPhysicalDeviceFeatures2) \
  X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceMemoryProperties2) X(GetPhysicalDeviceFormatProperties2) \
  X(GetPhysicalDeviceImageFormatProperties2) X(GetPhysicalDeviceQueueFamilyProperties2) X(CreateDevice) X(DestroyDevice) \
  X(GetDeviceProcAddr) X(GetDeviceQueue) X(DeviceWaitIdle) X(QueueWaitIdle) X(QueueSubmit) X(QueueSubmit2) X(AllocateMemory) \
  X(FreeMemory) X(MapMemory) X(MapMemory2) X(UnmapMemory) X(UnmapMemory2) X(FlushMappedMemoryRanges) X(InvalidateMappedMemoryRanges) \
  X(GetMemoryFdKHR) X(GetDeviceMemoryCommitment) X(SetDeviceMemoryPriorityEXT) X(CreateBuffer) X(DestroyBuffer) \
  X(GetBufferMemoryRequirements2) X(GetDeviceBufferMemoryRequirements) X(BindBufferMemory) X(BindBufferMemory2) \
  X(GetBufferDeviceAddress) X(CreateBufferView) X(DestroyBufferView) X(CreateImage) X(DestroyImage) X(GetImageMemoryRequirements2) \
  X(GetDeviceImageMemoryRequirements) X(BindImageMemory) X(BindImageMemory2) X(GetImageSubresourceLayout2) X(CreateImageView) \
  X(DestroyImageView) X(CreateSampler) X(DestroySampler) X(CreateSamplerYcbcrConversion) X(DestroySamplerYcbcrConversion) \
  X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout) X(GetDescriptorSetLayoutSupport) X(CreateDescriptorPool) \
  X(DestroyDescriptorPool) X(ResetDescriptorPool) X(AllocateDescriptorSets) X(FreeDescriptorSets) X(UpdateDescriptorSets) \
  X(CreateDescriptorUpdateTemplate) X(DestroyDescriptorUpdateTemplate) X(UpdateDescriptorSetWithTemplate) X(CreatePipelineLayout) \
  X(DestroyPipelineLayout) X(CreateShaderModule) X(DestroyShaderModule) X(CreatePipelineCache) X(DestroyPipelineCache) \
  X(GetPipelineCacheData) X(MergePipelineCaches) X(CreateGraphicsPipelines) X(CreateComputePipelines) X(DestroyPipeline) \
  X(CreateRenderPass) X(CreateRenderPass2) X(DestroyRenderPass) X(CreateFramebuffer) X(DestroyFramebuffer) X(CreateCommandPool) \
  X(DestroyCommandPool) X(ResetCommandPool) X(TrimCommandPool) X(AllocateCommandBuffers) X(FreeCommandBuffers) X(BeginCommandBuffer) \
  X(EndCommandBuffer) X(ResetCommandBuffer) X(CreateFence) X(DestroyFence) X(ResetFences) X(GetFenceStatus) X(WaitForFences) \
  X(CreateSemaphore) X(DestroySemaphore) X(GetSemaphoreCounterValue) X(SignalSemaphore) X(WaitSemaphores) X(GetSemaphoreFdKHR) \
  X(ImportSemaphoreFdKHR) X(CreateEvent) X(DestroyEvent) X(GetEventStatus) X(SetEvent) X(ResetEvent) X(CreateQueryPool) \
  X(DestroyQueryPool) X(ResetQueryPool) X(GetQueryPoolResults) X(CreatePrivateDataSlot) X(DestroyPrivateDataSlot) X(SetPrivateData) \
  X(GetPrivateData) X(SetDebugUtilsObjectNameEXT) X(CreateDebugUtilsMessengerEXT) X(DestroyDebugUtilsMessengerEXT) \
  X(CreateHeadlessSurfaceEXT) X(DestroySurfaceKHR) X(GetPhysicalDeviceSurfaceCapabilitiesKHR) X(GetPhysicalDeviceSurfaceFormatsKHR) \
  X(CreateSwapchainKHR) X(DestroySwapchainKHR) X(GetSwapchainImagesKHR) X(AcquireNextImageKHR) X(QueuePresentKHR) X(CopyMemoryToImage) \
  X(CopyImageToMemory) X(CopyImageToImage) X(TransitionImageLayout) \
  X(CmdBeginDebugUtilsLabelEXT) X(CmdEndDebugUtilsLabelEXT) X(CmdBindPipeline) X(CmdBindVertexBuffers) X(CmdBindVertexBuffers2) \
  X(CmdBindIndexBuffer) X(CmdBindIndexBuffer2) X(CmdBindDescriptorSets) X(CmdPushDescriptorSet) X(CmdPushDescriptorSetWithTemplate) \
  X(CmdPushConstants) X(CmdDraw) X(CmdDrawIndexed) X(CmdDrawIndirect) X(CmdDrawIndexedIndirect) X(CmdDrawIndirectCount) \
  X(CmdDrawIndexedIndirectCount) X(CmdDrawMultiEXT) X(CmdDrawMultiIndexedEXT) X(CmdDrawMeshTasksEXT) X(CmdDispatch) X(CmdDispatchBase) \
  X(CmdDispatchIndirect) X(CmdCopyBuffer) X(CmdCopyBuffer2) X(CmdCopyImage) X(CmdCopyImage2) X(CmdBlitImage) X(CmdBlitImage2) \
  X(CmdResolveImage) X(CmdResolveImage2) X(CmdCopyBufferToImage) X(CmdCopyBufferToImage2) X(CmdCopyImageToBuffer) \
  X(CmdCopyImageToBuffer2) X(CmdFillBuffer) X(CmdUpdateBuffer) X(CmdClearColorImage) X(CmdClearDepthStencilImage) \
  X(CmdClearAttachments) X(CmdBeginRenderPass) X(CmdBeginRenderPass2) X(CmdNextSubpass) X(CmdNextSubpass2) X(CmdEndRenderPass) \
  X(CmdEndRenderPass2) X(CmdBeginRendering) X(CmdEndRendering) X(CmdExecuteCommands) X(CmdPipelineBarrier) X(CmdPipelineBarrier2) \
  X(CmdSetEvent) X(CmdSetEvent2) X(CmdResetEvent) X(CmdResetEvent2) X(CmdWaitEvents) X(CmdWaitEvents2) X(CmdResetQueryPool) \
  X(CmdBeginQuery) X(CmdEndQuery) X(CmdBeginQueryIndexedEXT) X(CmdEndQueryIndexedEXT) X(CmdWriteTimestamp) X(CmdWriteTimestamp2) \
  X(CmdCopyQueryPoolResults) X(CmdBeginConditionalRenderingEXT) X(CmdEndConditionalRenderingEXT) X(CmdBindTransformFeedbackBuffersEXT) \
  X(CmdBeginTransformFeedbackEXT) X(CmdEndTransformFeedbackEXT) X(CmdDrawIndirectByteCountEXT) X(CmdSetViewport) X(CmdSetScissor) \
  X(CmdSetViewportWithCount) X(CmdSetScissorWithCount) X(CmdSetLineWidth) X(CmdSetDepthBias) X(CmdSetBlendConstants) \
  X(CmdSetDepthBounds) X(CmdSetStencilCompareMask) X(CmdSetStencilWriteMask) X(CmdSetStencilReference) X(CmdSetCullMode) \
  X(CmdSetFrontFace) X(CmdSetPrimitiveTopology) X(CmdSetDepthTestEnable) X(CmdSetDepthWriteEnable) X(CmdSetDepthCompareOp) \
  X(CmdSetDepthBoundsTestEnable) X(CmdSetStencilTestEnable) X(CmdSetStencilOp) X(CmdSetRasterizerDiscardEnable) \
  X(CmdSetDepthBiasEnable) X(CmdSetPrimitiveRestartEnable) X(CmdSetLogicOpEXT) X(CmdSetLogicOpEnableEXT) X(CmdSetPolygonModeEXT) \
  X(CmdSetDepthClampEnableEXT) X(CmdSetSampleMaskEXT) X(CmdSetAlphaToCoverageEnableEXT) X(CmdSetColorBlendEnableEXT) \
  X(CmdSetColorBlendEquationEXT) X(CmdSetColorWriteMaskEXT) X(CmdSetColorWriteEnableEXT) X(CmdSetVertexInputEXT) \
  X(CmdSetPatchControlPointsEXT) X(CmdSetFragmentShadingRateKHR) X(CmdSetLineStipple) X(CmdSetDiscardRectangleEXT) \
  X(CmdSetDiscardRectangleEnableEXT) X(CmdSetDiscardRectangleModeEXT) \
  X(CmdBindShadersEXT) X(CmdDrawMeshTasksIndirectCountEXT) X(CmdDrawMeshTasksIndirectEXT) X(CmdInsertDebugUtilsLabelEXT) \
  X(CmdPushConstants2) X(CmdSetAlphaToOneEnableEXT) X(CmdSetAttachmentFeedbackLoopEnableEXT) X(CmdSetColorBlendAdvancedEXT) \
  X(CmdSetConservativeRasterizationModeEXT) X(CmdSetCoverageModulationModeNV) X(CmdSetCoverageModulationTableEnableNV) \
  X(CmdSetCoverageModulationTableNV) X(CmdSetCoverageReductionModeNV) X(CmdSetCoverageToColorEnableNV) X(CmdSetCoverageToColorLocationNV) \
  X(CmdSetDepthBias2EXT) X(CmdSetDepthClampRangeEXT) X(CmdSetDepthClipEnableEXT) X(CmdSetDepthClipNegativeOneToOneEXT) \
  X(CmdSetDeviceMask) X(CmdSetExtraPrimitiveOverestimationSizeEXT) X(CmdSetLineRasterizationModeEXT) X(CmdSetLineStippleEnableEXT) \
  X(CmdSetProvokingVertexModeEXT) X(CmdSetRasterizationSamplesEXT) X(CmdSetRasterizationStreamEXT) X(CmdSetRenderingAttachmentLocations) \
  X(CmdSetRenderingInputAttachmentIndices) X(CmdSetRepresentativeFragmentTestEnableNV) X(CmdSetSampleLocationsEXT) \
  X(CmdSetSampleLocationsEnableEXT) X(CmdSetShadingRateImageEnableNV) X(CmdSetTessellationDomainOriginEXT) X(CmdSetViewportSwizzleNV) \
  X(CmdSetViewportWScalingEnableNV) X(CreateShadersEXT) X(DestroyShaderEXT) X(EnumerateDeviceLayerProperties) \
  X(EnumeratePhysicalDeviceGroups) X(GetBufferMemoryRequirements) X(GetBufferOpaqueCaptureAddress) X(GetCalibratedTimestampsKHR) \
  X(GetDeviceFaultInfoEXT) X(GetDeviceGroupPeerMemoryFeatures) X(GetDeviceGroupPresentCapabilitiesKHR) \
  X(GetDeviceGroupSurfacePresentModesKHR) X(GetDeviceImageSparseMemoryRequirements) X(GetDeviceImageSubresourceLayout) \
  X(GetDeviceMemoryOpaqueCaptureAddress) X(GetDeviceQueue2) X(GetImageMemoryRequirements) X(GetImageSparseMemoryRequirements) \
  X(GetImageSparseMemoryRequirements2) X(GetImageSubresourceLayout) X(GetPhysicalDeviceCalibrateableTimeDomainsKHR) \
  X(GetPhysicalDeviceExternalBufferProperties) X(GetPhysicalDeviceExternalFenceProperties) \
  X(GetPhysicalDeviceExternalSemaphoreProperties) X(GetPhysicalDeviceFeatures) X(GetPhysicalDeviceFormatProperties) \
  X(GetPhysicalDeviceFragmentShadingRatesKHR) X(GetPhysicalDeviceImageFormatProperties) X(GetPhysicalDeviceMemoryProperties) \
  X(GetPhysicalDeviceMultisamplePropertiesEXT) X(GetPhysicalDevicePresentRectanglesKHR) X(GetPhysicalDeviceProperties) \
  X(GetPhysicalDeviceQueueFamilyProperties) X(GetPhysicalDeviceSparseImageFormatProperties) \
  X(GetPhysicalDeviceSparseImageFormatProperties2) X(GetPhysicalDeviceSurfaceCapabilities2KHR) X(GetPhysicalDeviceSurfaceFormats2KHR) \
  X(GetPhysicalDeviceSurfacePresentModesKHR) X(GetPhysicalDeviceSurfaceSupportKHR) X(GetPhysicalDeviceToolProperties) \
  X(GetRenderAreaGranularity) X(GetRenderingAreaGranularity) X(GetShaderBinaryDataEXT) X(QueueBeginDebugUtilsLabelEXT) X(QueueBindSparse) \
  X(QueueEndDebugUtilsLabelEXT) X(QueueInsertDebugUtilsLabelEXT) X(ReleaseSwapchainImagesEXT) X(SetDebugUtilsObjectTagEXT) \
  X(SetHdrMetadataEXT) X(SubmitDebugUtilsMessageEXT) X(WaitForPresentKHR) X(AcquireNextImage2KHR) \
  X(CmdBindDescriptorSets2) X(CmdPushDescriptorSet2) X(CmdPushDescriptorSetWithTemplate2) X(GetMemoryFdPropertiesKHR) \
  X(GetMemoryHostPointerPropertiesEXT) X(GetPhysicalDeviceCooperativeMatrixPropertiesKHR) X(CreateDebugReportCallbackEXT) \
  X(DebugReportMessageEXT) X(DestroyDebugReportCallbackEXT)
// clang-format on

struct Commands {
#define TILEGPU_FUZZED(name) PFN_vk##name name = nullptr;
  TILEGPU_FUZZED_GLOBALS(TILEGPU_FUZZED)
  TILEGPU_FUZZED_COMMANDS(TILEGPU_FUZZED)
#undef TILEGPU_FUZZED
};

/// Those that need no instance, and with one all; a command that is missing ends the process.
void load_globals(Commands& to);
void load(Commands& to, VkInstance instance);

/// Whether Vulkan lists the result for the command. Beside the list, for calls that it forbids: whatever is an error.
bool is_allowed(const char* command, VkResult result);

}  // namespace tilegpu::fuzz
