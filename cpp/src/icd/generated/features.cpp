// icd/generated/features.cpp -- Vulkan's structures of features: filled, and compared with what is wanted.
//
// Made by scripts/generate_icd.py from the Vulkan registry, header version 309; not edited by hand.
#include "icd/generated/features.hpp"

#include "vk/given.hpp"

namespace tilegpu::icd {

static void take(VkBool32 wanted, bool have, bool& enabled, const char* name, MissingFeatures& missing) {
  if (!wanted) return;
  enabled = have;
  if (!have) missing.emplace_back(name);
}

void fill(VkPhysicalDeviceFeatures& out, const Features& have) {
  out.robustBufferAccess = have.robustBufferAccess;
  out.fullDrawIndexUint32 = have.fullDrawIndexUint32;
  out.imageCubeArray = have.imageCubeArray;
  out.independentBlend = have.independentBlend;
  out.geometryShader = have.geometryShader;
  out.tessellationShader = have.tessellationShader;
  out.sampleRateShading = have.sampleRateShading;
  out.dualSrcBlend = have.dualSrcBlend;
  out.logicOp = have.logicOp;
  out.multiDrawIndirect = have.multiDrawIndirect;
  out.drawIndirectFirstInstance = have.drawIndirectFirstInstance;
  out.depthClamp = have.depthClamp;
  out.depthBiasClamp = have.depthBiasClamp;
  out.fillModeNonSolid = have.fillModeNonSolid;
  out.depthBounds = have.depthBounds;
  out.wideLines = have.wideLines;
  out.largePoints = have.largePoints;
  out.alphaToOne = have.alphaToOne;
  out.multiViewport = have.multiViewport;
  out.samplerAnisotropy = have.samplerAnisotropy;
  out.textureCompressionETC2 = have.textureCompressionETC2;
  out.textureCompressionASTC_LDR = have.textureCompressionASTC_LDR;
  out.textureCompressionBC = have.textureCompressionBC;
  out.occlusionQueryPrecise = have.occlusionQueryPrecise;
  out.pipelineStatisticsQuery = have.pipelineStatisticsQuery;
  out.vertexPipelineStoresAndAtomics = have.vertexPipelineStoresAndAtomics;
  out.fragmentStoresAndAtomics = have.fragmentStoresAndAtomics;
  out.shaderTessellationAndGeometryPointSize = have.shaderTessellationAndGeometryPointSize;
  out.shaderImageGatherExtended = have.shaderImageGatherExtended;
  out.shaderStorageImageExtendedFormats = have.shaderStorageImageExtendedFormats;
  out.shaderStorageImageMultisample = have.shaderStorageImageMultisample;
  out.shaderStorageImageReadWithoutFormat = have.shaderStorageImageReadWithoutFormat;
  out.shaderStorageImageWriteWithoutFormat = have.shaderStorageImageWriteWithoutFormat;
  out.shaderUniformBufferArrayDynamicIndexing = have.shaderUniformBufferArrayDynamicIndexing;
  out.shaderSampledImageArrayDynamicIndexing = have.shaderSampledImageArrayDynamicIndexing;
  out.shaderStorageBufferArrayDynamicIndexing = have.shaderStorageBufferArrayDynamicIndexing;
  out.shaderStorageImageArrayDynamicIndexing = have.shaderStorageImageArrayDynamicIndexing;
  out.shaderClipDistance = have.shaderClipDistance;
  out.shaderCullDistance = have.shaderCullDistance;
  out.shaderFloat64 = have.shaderFloat64;
  out.shaderInt64 = have.shaderInt64;
  out.shaderInt16 = have.shaderInt16;
  out.shaderResourceResidency = have.shaderResourceResidency;
  out.shaderResourceMinLod = have.shaderResourceMinLod;
  out.sparseBinding = have.sparseBinding;
  out.sparseResidencyBuffer = have.sparseResidencyBuffer;
  out.sparseResidencyImage2D = have.sparseResidencyImage2D;
  out.sparseResidencyImage3D = have.sparseResidencyImage3D;
  out.sparseResidency2Samples = have.sparseResidency2Samples;
  out.sparseResidency4Samples = have.sparseResidency4Samples;
  out.sparseResidency8Samples = have.sparseResidency8Samples;
  out.sparseResidency16Samples = have.sparseResidency16Samples;
  out.sparseResidencyAliased = have.sparseResidencyAliased;
  out.variableMultisampleRate = have.variableMultisampleRate;
  out.inheritedQueries = have.inheritedQueries;
}

void enable(const VkPhysicalDeviceFeatures& wanted, const Features& have, Features& enabled, MissingFeatures& missing) {
  take(wanted.robustBufferAccess, have.robustBufferAccess, enabled.robustBufferAccess, "robustBufferAccess", missing);
  take(wanted.fullDrawIndexUint32, have.fullDrawIndexUint32, enabled.fullDrawIndexUint32, "fullDrawIndexUint32", missing);
  take(wanted.imageCubeArray, have.imageCubeArray, enabled.imageCubeArray, "imageCubeArray", missing);
  take(wanted.independentBlend, have.independentBlend, enabled.independentBlend, "independentBlend", missing);
  take(wanted.geometryShader, have.geometryShader, enabled.geometryShader, "geometryShader", missing);
  take(wanted.tessellationShader, have.tessellationShader, enabled.tessellationShader, "tessellationShader", missing);
  take(wanted.sampleRateShading, have.sampleRateShading, enabled.sampleRateShading, "sampleRateShading", missing);
  take(wanted.dualSrcBlend, have.dualSrcBlend, enabled.dualSrcBlend, "dualSrcBlend", missing);
  take(wanted.logicOp, have.logicOp, enabled.logicOp, "logicOp", missing);
  take(wanted.multiDrawIndirect, have.multiDrawIndirect, enabled.multiDrawIndirect, "multiDrawIndirect", missing);
  take(wanted.drawIndirectFirstInstance, have.drawIndirectFirstInstance, enabled.drawIndirectFirstInstance, "drawIndirectFirstInstance", missing);
  take(wanted.depthClamp, have.depthClamp, enabled.depthClamp, "depthClamp", missing);
  take(wanted.depthBiasClamp, have.depthBiasClamp, enabled.depthBiasClamp, "depthBiasClamp", missing);
  take(wanted.fillModeNonSolid, have.fillModeNonSolid, enabled.fillModeNonSolid, "fillModeNonSolid", missing);
  take(wanted.depthBounds, have.depthBounds, enabled.depthBounds, "depthBounds", missing);
  take(wanted.wideLines, have.wideLines, enabled.wideLines, "wideLines", missing);
  take(wanted.largePoints, have.largePoints, enabled.largePoints, "largePoints", missing);
  take(wanted.alphaToOne, have.alphaToOne, enabled.alphaToOne, "alphaToOne", missing);
  take(wanted.multiViewport, have.multiViewport, enabled.multiViewport, "multiViewport", missing);
  take(wanted.samplerAnisotropy, have.samplerAnisotropy, enabled.samplerAnisotropy, "samplerAnisotropy", missing);
  take(wanted.textureCompressionETC2, have.textureCompressionETC2, enabled.textureCompressionETC2, "textureCompressionETC2", missing);
  take(wanted.textureCompressionASTC_LDR, have.textureCompressionASTC_LDR, enabled.textureCompressionASTC_LDR, "textureCompressionASTC_LDR", missing);
  take(wanted.textureCompressionBC, have.textureCompressionBC, enabled.textureCompressionBC, "textureCompressionBC", missing);
  take(wanted.occlusionQueryPrecise, have.occlusionQueryPrecise, enabled.occlusionQueryPrecise, "occlusionQueryPrecise", missing);
  take(wanted.pipelineStatisticsQuery, have.pipelineStatisticsQuery, enabled.pipelineStatisticsQuery, "pipelineStatisticsQuery", missing);
  take(wanted.vertexPipelineStoresAndAtomics, have.vertexPipelineStoresAndAtomics, enabled.vertexPipelineStoresAndAtomics, "vertexPipelineStoresAndAtomics", missing);
  take(wanted.fragmentStoresAndAtomics, have.fragmentStoresAndAtomics, enabled.fragmentStoresAndAtomics, "fragmentStoresAndAtomics", missing);
  take(wanted.shaderTessellationAndGeometryPointSize, have.shaderTessellationAndGeometryPointSize, enabled.shaderTessellationAndGeometryPointSize, "shaderTessellationAndGeometryPointSize", missing);
  take(wanted.shaderImageGatherExtended, have.shaderImageGatherExtended, enabled.shaderImageGatherExtended, "shaderImageGatherExtended", missing);
  take(wanted.shaderStorageImageExtendedFormats, have.shaderStorageImageExtendedFormats, enabled.shaderStorageImageExtendedFormats, "shaderStorageImageExtendedFormats", missing);
  take(wanted.shaderStorageImageMultisample, have.shaderStorageImageMultisample, enabled.shaderStorageImageMultisample, "shaderStorageImageMultisample", missing);
  take(wanted.shaderStorageImageReadWithoutFormat, have.shaderStorageImageReadWithoutFormat, enabled.shaderStorageImageReadWithoutFormat, "shaderStorageImageReadWithoutFormat", missing);
  take(wanted.shaderStorageImageWriteWithoutFormat, have.shaderStorageImageWriteWithoutFormat, enabled.shaderStorageImageWriteWithoutFormat, "shaderStorageImageWriteWithoutFormat", missing);
  take(wanted.shaderUniformBufferArrayDynamicIndexing, have.shaderUniformBufferArrayDynamicIndexing, enabled.shaderUniformBufferArrayDynamicIndexing, "shaderUniformBufferArrayDynamicIndexing", missing);
  take(wanted.shaderSampledImageArrayDynamicIndexing, have.shaderSampledImageArrayDynamicIndexing, enabled.shaderSampledImageArrayDynamicIndexing, "shaderSampledImageArrayDynamicIndexing", missing);
  take(wanted.shaderStorageBufferArrayDynamicIndexing, have.shaderStorageBufferArrayDynamicIndexing, enabled.shaderStorageBufferArrayDynamicIndexing, "shaderStorageBufferArrayDynamicIndexing", missing);
  take(wanted.shaderStorageImageArrayDynamicIndexing, have.shaderStorageImageArrayDynamicIndexing, enabled.shaderStorageImageArrayDynamicIndexing, "shaderStorageImageArrayDynamicIndexing", missing);
  take(wanted.shaderClipDistance, have.shaderClipDistance, enabled.shaderClipDistance, "shaderClipDistance", missing);
  take(wanted.shaderCullDistance, have.shaderCullDistance, enabled.shaderCullDistance, "shaderCullDistance", missing);
  take(wanted.shaderFloat64, have.shaderFloat64, enabled.shaderFloat64, "shaderFloat64", missing);
  take(wanted.shaderInt64, have.shaderInt64, enabled.shaderInt64, "shaderInt64", missing);
  take(wanted.shaderInt16, have.shaderInt16, enabled.shaderInt16, "shaderInt16", missing);
  take(wanted.shaderResourceResidency, have.shaderResourceResidency, enabled.shaderResourceResidency, "shaderResourceResidency", missing);
  take(wanted.shaderResourceMinLod, have.shaderResourceMinLod, enabled.shaderResourceMinLod, "shaderResourceMinLod", missing);
  take(wanted.sparseBinding, have.sparseBinding, enabled.sparseBinding, "sparseBinding", missing);
  take(wanted.sparseResidencyBuffer, have.sparseResidencyBuffer, enabled.sparseResidencyBuffer, "sparseResidencyBuffer", missing);
  take(wanted.sparseResidencyImage2D, have.sparseResidencyImage2D, enabled.sparseResidencyImage2D, "sparseResidencyImage2D", missing);
  take(wanted.sparseResidencyImage3D, have.sparseResidencyImage3D, enabled.sparseResidencyImage3D, "sparseResidencyImage3D", missing);
  take(wanted.sparseResidency2Samples, have.sparseResidency2Samples, enabled.sparseResidency2Samples, "sparseResidency2Samples", missing);
  take(wanted.sparseResidency4Samples, have.sparseResidency4Samples, enabled.sparseResidency4Samples, "sparseResidency4Samples", missing);
  take(wanted.sparseResidency8Samples, have.sparseResidency8Samples, enabled.sparseResidency8Samples, "sparseResidency8Samples", missing);
  take(wanted.sparseResidency16Samples, have.sparseResidency16Samples, enabled.sparseResidency16Samples, "sparseResidency16Samples", missing);
  take(wanted.sparseResidencyAliased, have.sparseResidencyAliased, enabled.sparseResidencyAliased, "sparseResidencyAliased", missing);
  take(wanted.variableMultisampleRate, have.variableMultisampleRate, enabled.variableMultisampleRate, "variableMultisampleRate", missing);
  take(wanted.inheritedQueries, have.inheritedQueries, enabled.inheritedQueries, "inheritedQueries", missing);
}

// NOLINTNEXTLINE(readability-function-size): one switch
void fill(void* next, const Features& have) {
  for (auto* base = static_cast<VkBaseOutStructure*>(next); base; base = base->pNext) {
    switch (vk::given(base->sType)) {
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDevice16BitStorageFeatures*>(base);
        out->storageBuffer16BitAccess = have.storageBuffer16BitAccess;
        out->uniformAndStorageBuffer16BitAccess = have.uniformAndStorageBuffer16BitAccess;
        out->storagePushConstant16 = have.storagePushConstant16;
        out->storageInputOutput16 = have.storageInputOutput16;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_4444_FORMATS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevice4444FormatsFeaturesEXT*>(base);
        out->formatA4R4G4B4 = have.formatA4R4G4B4;
        out->formatA4B4G4R4 = have.formatA4B4G4R4;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDevice8BitStorageFeatures*>(base);
        out->storageBuffer8BitAccess = have.storageBuffer8BitAccess;
        out->uniformAndStorageBuffer8BitAccess = have.uniformAndStorageBuffer8BitAccess;
        out->storagePushConstant8 = have.storagePushConstant8;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ASTC_DECODE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceASTCDecodeFeaturesEXT*>(base);
        out->decodeModeSharedExponent = have.decodeModeSharedExponent;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceAccelerationStructureFeaturesKHR*>(base);
        out->accelerationStructure = have.accelerationStructure;
        out->accelerationStructureCaptureReplay = have.accelerationStructureCaptureReplay;
        out->accelerationStructureIndirectBuild = have.accelerationStructureIndirectBuild;
        out->accelerationStructureHostCommands = have.accelerationStructureHostCommands;
        out->descriptorBindingAccelerationStructureUpdateAfterBind = have.descriptorBindingAccelerationStructureUpdateAfterBind;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceAddressBindingReportFeaturesEXT*>(base);
        out->reportAddressBinding = have.reportAddressBinding;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_DYNAMIC_STATE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT*>(base);
        out->attachmentFeedbackLoopDynamicState = have.attachmentFeedbackLoopDynamicState;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT*>(base);
        out->attachmentFeedbackLoopLayout = have.attachmentFeedbackLoopLayout;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceBlendOperationAdvancedFeaturesEXT*>(base);
        out->advancedBlendCoherentOperations = have.advancedBlendCoherentOperations;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceBorderColorSwizzleFeaturesEXT*>(base);
        out->borderColorSwizzle = have.borderColorSwizzle;
        out->borderColorSwizzleFromImage = have.borderColorSwizzleFromImage;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceBufferDeviceAddressFeatures*>(base);
        out->bufferDeviceAddress = have.bufferDeviceAddress;
        out->bufferDeviceAddressCaptureReplay = have.bufferDeviceAddressCaptureReplay;
        out->bufferDeviceAddressMultiDevice = have.bufferDeviceAddressMultiDevice;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceBufferDeviceAddressFeaturesEXT*>(base);
        out->bufferDeviceAddress = have.bufferDeviceAddress;
        out->bufferDeviceAddressCaptureReplay = have.bufferDeviceAddressCaptureReplay;
        out->bufferDeviceAddressMultiDevice = have.bufferDeviceAddressMultiDevice;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COLOR_WRITE_ENABLE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceColorWriteEnableFeaturesEXT*>(base);
        out->colorWriteEnable = have.colorWriteEnable;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceComputeShaderDerivativesFeaturesKHR*>(base);
        out->computeDerivativeGroupQuads = have.computeDerivativeGroupQuads;
        out->computeDerivativeGroupLinear = have.computeDerivativeGroupLinear;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceConditionalRenderingFeaturesEXT*>(base);
        out->conditionalRendering = have.conditionalRendering;
        out->inheritedConditionalRendering = have.inheritedConditionalRendering;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceCooperativeMatrixFeaturesKHR*>(base);
        out->cooperativeMatrix = have.cooperativeMatrix;
        out->cooperativeMatrixRobustBufferAccess = have.cooperativeMatrixRobustBufferAccess;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceCustomBorderColorFeaturesEXT*>(base);
        out->customBorderColors = have.customBorderColors;
        out->customBorderColorWithoutFormat = have.customBorderColorWithoutFormat;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_BIAS_CONTROL_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDepthBiasControlFeaturesEXT*>(base);
        out->depthBiasControl = have.depthBiasControl;
        out->leastRepresentableValueForceUnormRepresentation = have.leastRepresentableValueForceUnormRepresentation;
        out->floatRepresentation = have.floatRepresentation;
        out->depthBiasExact = have.depthBiasExact;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_CONTROL_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDepthClampControlFeaturesEXT*>(base);
        out->depthClampControl = have.depthClampControl;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_ZERO_ONE_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDepthClampZeroOneFeaturesKHR*>(base);
        out->depthClampZeroOne = have.depthClampZeroOne;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_CONTROL_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDepthClipControlFeaturesEXT*>(base);
        out->depthClipControl = have.depthClipControl;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDepthClipEnableFeaturesEXT*>(base);
        out->depthClipEnable = have.depthClipEnable;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDescriptorBufferFeaturesEXT*>(base);
        out->descriptorBuffer = have.descriptorBuffer;
        out->descriptorBufferCaptureReplay = have.descriptorBufferCaptureReplay;
        out->descriptorBufferImageLayoutIgnored = have.descriptorBufferImageLayoutIgnored;
        out->descriptorBufferPushDescriptors = have.descriptorBufferPushDescriptors;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDescriptorIndexingFeatures*>(base);
        out->shaderInputAttachmentArrayDynamicIndexing = have.shaderInputAttachmentArrayDynamicIndexing;
        out->shaderUniformTexelBufferArrayDynamicIndexing = have.shaderUniformTexelBufferArrayDynamicIndexing;
        out->shaderStorageTexelBufferArrayDynamicIndexing = have.shaderStorageTexelBufferArrayDynamicIndexing;
        out->shaderUniformBufferArrayNonUniformIndexing = have.shaderUniformBufferArrayNonUniformIndexing;
        out->shaderSampledImageArrayNonUniformIndexing = have.shaderSampledImageArrayNonUniformIndexing;
        out->shaderStorageBufferArrayNonUniformIndexing = have.shaderStorageBufferArrayNonUniformIndexing;
        out->shaderStorageImageArrayNonUniformIndexing = have.shaderStorageImageArrayNonUniformIndexing;
        out->shaderInputAttachmentArrayNonUniformIndexing = have.shaderInputAttachmentArrayNonUniformIndexing;
        out->shaderUniformTexelBufferArrayNonUniformIndexing = have.shaderUniformTexelBufferArrayNonUniformIndexing;
        out->shaderStorageTexelBufferArrayNonUniformIndexing = have.shaderStorageTexelBufferArrayNonUniformIndexing;
        out->descriptorBindingUniformBufferUpdateAfterBind = have.descriptorBindingUniformBufferUpdateAfterBind;
        out->descriptorBindingSampledImageUpdateAfterBind = have.descriptorBindingSampledImageUpdateAfterBind;
        out->descriptorBindingStorageImageUpdateAfterBind = have.descriptorBindingStorageImageUpdateAfterBind;
        out->descriptorBindingStorageBufferUpdateAfterBind = have.descriptorBindingStorageBufferUpdateAfterBind;
        out->descriptorBindingUniformTexelBufferUpdateAfterBind = have.descriptorBindingUniformTexelBufferUpdateAfterBind;
        out->descriptorBindingStorageTexelBufferUpdateAfterBind = have.descriptorBindingStorageTexelBufferUpdateAfterBind;
        out->descriptorBindingUpdateUnusedWhilePending = have.descriptorBindingUpdateUnusedWhilePending;
        out->descriptorBindingPartiallyBound = have.descriptorBindingPartiallyBound;
        out->descriptorBindingVariableDescriptorCount = have.descriptorBindingVariableDescriptorCount;
        out->runtimeDescriptorArray = have.runtimeDescriptorArray;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_GENERATED_COMMANDS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDeviceGeneratedCommandsFeaturesEXT*>(base);
        out->deviceGeneratedCommands = have.deviceGeneratedCommands;
        out->dynamicGeneratedPipelineLayout = have.dynamicGeneratedPipelineLayout;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_MEMORY_REPORT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDeviceMemoryReportFeaturesEXT*>(base);
        out->deviceMemoryReport = have.deviceMemoryReport;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDynamicRenderingFeatures*>(base);
        out->dynamicRendering = have.dynamicRendering;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDynamicRenderingLocalReadFeatures*>(base);
        out->dynamicRenderingLocalRead = have.dynamicRenderingLocalRead;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_UNUSED_ATTACHMENTS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT*>(base);
        out->dynamicRenderingUnusedAttachments = have.dynamicRenderingUnusedAttachments;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_2_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceExtendedDynamicState2FeaturesEXT*>(base);
        out->extendedDynamicState2 = have.extendedDynamicState2;
        out->extendedDynamicState2LogicOp = have.extendedDynamicState2LogicOp;
        out->extendedDynamicState2PatchControlPoints = have.extendedDynamicState2PatchControlPoints;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceExtendedDynamicState3FeaturesEXT*>(base);
        out->extendedDynamicState3TessellationDomainOrigin = have.extendedDynamicState3TessellationDomainOrigin;
        out->extendedDynamicState3DepthClampEnable = have.extendedDynamicState3DepthClampEnable;
        out->extendedDynamicState3PolygonMode = have.extendedDynamicState3PolygonMode;
        out->extendedDynamicState3RasterizationSamples = have.extendedDynamicState3RasterizationSamples;
        out->extendedDynamicState3SampleMask = have.extendedDynamicState3SampleMask;
        out->extendedDynamicState3AlphaToCoverageEnable = have.extendedDynamicState3AlphaToCoverageEnable;
        out->extendedDynamicState3AlphaToOneEnable = have.extendedDynamicState3AlphaToOneEnable;
        out->extendedDynamicState3LogicOpEnable = have.extendedDynamicState3LogicOpEnable;
        out->extendedDynamicState3ColorBlendEnable = have.extendedDynamicState3ColorBlendEnable;
        out->extendedDynamicState3ColorBlendEquation = have.extendedDynamicState3ColorBlendEquation;
        out->extendedDynamicState3ColorWriteMask = have.extendedDynamicState3ColorWriteMask;
        out->extendedDynamicState3RasterizationStream = have.extendedDynamicState3RasterizationStream;
        out->extendedDynamicState3ConservativeRasterizationMode = have.extendedDynamicState3ConservativeRasterizationMode;
        out->extendedDynamicState3ExtraPrimitiveOverestimationSize = have.extendedDynamicState3ExtraPrimitiveOverestimationSize;
        out->extendedDynamicState3DepthClipEnable = have.extendedDynamicState3DepthClipEnable;
        out->extendedDynamicState3SampleLocationsEnable = have.extendedDynamicState3SampleLocationsEnable;
        out->extendedDynamicState3ColorBlendAdvanced = have.extendedDynamicState3ColorBlendAdvanced;
        out->extendedDynamicState3ProvokingVertexMode = have.extendedDynamicState3ProvokingVertexMode;
        out->extendedDynamicState3LineRasterizationMode = have.extendedDynamicState3LineRasterizationMode;
        out->extendedDynamicState3LineStippleEnable = have.extendedDynamicState3LineStippleEnable;
        out->extendedDynamicState3DepthClipNegativeOneToOne = have.extendedDynamicState3DepthClipNegativeOneToOne;
        out->extendedDynamicState3ViewportWScalingEnable = have.extendedDynamicState3ViewportWScalingEnable;
        out->extendedDynamicState3ViewportSwizzle = have.extendedDynamicState3ViewportSwizzle;
        out->extendedDynamicState3CoverageToColorEnable = have.extendedDynamicState3CoverageToColorEnable;
        out->extendedDynamicState3CoverageToColorLocation = have.extendedDynamicState3CoverageToColorLocation;
        out->extendedDynamicState3CoverageModulationMode = have.extendedDynamicState3CoverageModulationMode;
        out->extendedDynamicState3CoverageModulationTableEnable = have.extendedDynamicState3CoverageModulationTableEnable;
        out->extendedDynamicState3CoverageModulationTable = have.extendedDynamicState3CoverageModulationTable;
        out->extendedDynamicState3CoverageReductionMode = have.extendedDynamicState3CoverageReductionMode;
        out->extendedDynamicState3RepresentativeFragmentTestEnable = have.extendedDynamicState3RepresentativeFragmentTestEnable;
        out->extendedDynamicState3ShadingRateImageEnable = have.extendedDynamicState3ShadingRateImageEnable;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceExtendedDynamicStateFeaturesEXT*>(base);
        out->extendedDynamicState = have.extendedDynamicState;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFaultFeaturesEXT*>(base);
        out->deviceFault = have.deviceFault;
        out->deviceFaultVendorBinary = have.deviceFaultVendorBinary;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_2_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentDensityMap2FeaturesEXT*>(base);
        out->fragmentDensityMapDeferred = have.fragmentDensityMapDeferred;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentDensityMapFeaturesEXT*>(base);
        out->fragmentDensityMap = have.fragmentDensityMap;
        out->fragmentDensityMapDynamic = have.fragmentDensityMapDynamic;
        out->fragmentDensityMapNonSubsampledImages = have.fragmentDensityMapNonSubsampledImages;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_BARYCENTRIC_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR*>(base);
        out->fragmentShaderBarycentric = have.fragmentShaderBarycentric;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_INTERLOCK_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT*>(base);
        out->fragmentShaderSampleInterlock = have.fragmentShaderSampleInterlock;
        out->fragmentShaderPixelInterlock = have.fragmentShaderPixelInterlock;
        out->fragmentShaderShadingRateInterlock = have.fragmentShaderShadingRateInterlock;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentShadingRateFeaturesKHR*>(base);
        out->pipelineFragmentShadingRate = have.pipelineFragmentShadingRate;
        out->primitiveFragmentShadingRate = have.primitiveFragmentShadingRate;
        out->attachmentFragmentShadingRate = have.attachmentFragmentShadingRate;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAME_BOUNDARY_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFrameBoundaryFeaturesEXT*>(base);
        out->frameBoundary = have.frameBoundary;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GLOBAL_PRIORITY_QUERY_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceGlobalPriorityQueryFeatures*>(base);
        out->globalPriorityQuery = have.globalPriorityQuery;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT*>(base);
        out->graphicsPipelineLibrary = have.graphicsPipelineLibrary;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceHostImageCopyFeatures*>(base);
        out->hostImageCopy = have.hostImageCopy;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceHostQueryResetFeatures*>(base);
        out->hostQueryReset = have.hostQueryReset;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_2D_VIEW_OF_3D_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImage2DViewOf3DFeaturesEXT*>(base);
        out->image2DViewOf3D = have.image2DViewOf3D;
        out->sampler2DViewOf3D = have.sampler2DViewOf3D;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_COMPRESSION_CONTROL_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImageCompressionControlFeaturesEXT*>(base);
        out->imageCompressionControl = have.imageCompressionControl;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_COMPRESSION_CONTROL_SWAPCHAIN_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImageCompressionControlSwapchainFeaturesEXT*>(base);
        out->imageCompressionControlSwapchain = have.imageCompressionControlSwapchain;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImageRobustnessFeatures*>(base);
        out->robustImageAccess = have.robustImageAccess;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_SLICED_VIEW_OF_3D_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImageSlicedViewOf3DFeaturesEXT*>(base);
        out->imageSlicedViewOf3D = have.imageSlicedViewOf3D;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_MIN_LOD_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImageViewMinLodFeaturesEXT*>(base);
        out->minLod = have.minLod;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGELESS_FRAMEBUFFER_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceImagelessFramebufferFeatures*>(base);
        out->imagelessFramebuffer = have.imagelessFramebuffer;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceIndexTypeUint8Features*>(base);
        out->indexTypeUint8 = have.indexTypeUint8;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceInlineUniformBlockFeatures*>(base);
        out->inlineUniformBlock = have.inlineUniformBlock;
        out->descriptorBindingInlineUniformBlockUpdateAfterBind = have.descriptorBindingInlineUniformBlockUpdateAfterBind;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LEGACY_DITHERING_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceLegacyDitheringFeaturesEXT*>(base);
        out->legacyDithering = have.legacyDithering;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LEGACY_VERTEX_ATTRIBUTES_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceLegacyVertexAttributesFeaturesEXT*>(base);
        out->legacyVertexAttributes = have.legacyVertexAttributes;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceLineRasterizationFeatures*>(base);
        out->rectangularLines = have.rectangularLines;
        out->bresenhamLines = have.bresenhamLines;
        out->smoothLines = have.smoothLines;
        out->stippledRectangularLines = have.stippledRectangularLines;
        out->stippledBresenhamLines = have.stippledBresenhamLines;
        out->stippledSmoothLines = have.stippledSmoothLines;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance4Features*>(base);
        out->maintenance4 = have.maintenance4;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance5Features*>(base);
        out->maintenance5 = have.maintenance5;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_6_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance6Features*>(base);
        out->maintenance6 = have.maintenance6;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_7_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance7FeaturesKHR*>(base);
        out->maintenance7 = have.maintenance7;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_8_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance8FeaturesKHR*>(base);
        out->maintenance8 = have.maintenance8;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAP_MEMORY_PLACED_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMapMemoryPlacedFeaturesEXT*>(base);
        out->memoryMapPlaced = have.memoryMapPlaced;
        out->memoryMapRangePlaced = have.memoryMapRangePlaced;
        out->memoryUnmapReserve = have.memoryUnmapReserve;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMemoryPriorityFeaturesEXT*>(base);
        out->memoryPriority = have.memoryPriority;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMeshShaderFeaturesEXT*>(base);
        out->taskShader = have.taskShader;
        out->meshShader = have.meshShader;
        out->multiviewMeshShader = have.multiviewMeshShader;
        out->primitiveFragmentShadingRateMeshShader = have.primitiveFragmentShadingRateMeshShader;
        out->meshShaderQueries = have.meshShaderQueries;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMultiDrawFeaturesEXT*>(base);
        out->multiDraw = have.multiDraw;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT*>(base);
        out->multisampledRenderToSingleSampled = have.multisampledRenderToSingleSampled;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMultiviewFeatures*>(base);
        out->multiview = have.multiview;
        out->multiviewGeometryShader = have.multiviewGeometryShader;
        out->multiviewTessellationShader = have.multiviewTessellationShader;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MUTABLE_DESCRIPTOR_TYPE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT*>(base);
        out->mutableDescriptorType = have.mutableDescriptorType;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceNestedCommandBufferFeaturesEXT*>(base);
        out->nestedCommandBuffer = have.nestedCommandBuffer;
        out->nestedCommandBufferRendering = have.nestedCommandBufferRendering;
        out->nestedCommandBufferSimultaneousUse = have.nestedCommandBufferSimultaneousUse;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT*>(base);
        out->nonSeamlessCubeMap = have.nonSeamlessCubeMap;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_OPACITY_MICROMAP_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceOpacityMicromapFeaturesEXT*>(base);
        out->micromap = have.micromap;
        out->micromapCaptureReplay = have.micromapCaptureReplay;
        out->micromapHostCommands = have.micromapHostCommands;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PAGEABLE_DEVICE_LOCAL_MEMORY_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT*>(base);
        out->pageableDeviceLocalMemory = have.pageableDeviceLocalMemory;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePerformanceQueryFeaturesKHR*>(base);
        out->performanceCounterQueryPools = have.performanceCounterQueryPools;
        out->performanceCounterMultipleQueryPools = have.performanceCounterMultipleQueryPools;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_BINARY_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineBinaryFeaturesKHR*>(base);
        out->pipelineBinaries = have.pipelineBinaries;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineCreationCacheControlFeatures*>(base);
        out->pipelineCreationCacheControl = have.pipelineCreationCacheControl;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR*>(base);
        out->pipelineExecutableInfo = have.pipelineExecutableInfo;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_LIBRARY_GROUP_HANDLES_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineLibraryGroupHandlesFeaturesEXT*>(base);
        out->pipelineLibraryGroupHandles = have.pipelineLibraryGroupHandles;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_PROPERTIES_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelinePropertiesFeaturesEXT*>(base);
        out->pipelinePropertiesIdentifier = have.pipelinePropertiesIdentifier;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_PROTECTED_ACCESS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineProtectedAccessFeatures*>(base);
        out->pipelineProtectedAccess = have.pipelineProtectedAccess;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineRobustnessFeatures*>(base);
        out->pipelineRobustness = have.pipelineRobustness;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePresentIdFeaturesKHR*>(base);
        out->presentId = have.presentId;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_MODE_FIFO_LATEST_READY_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePresentModeFifoLatestReadyFeaturesEXT*>(base);
        out->presentModeFifoLatestReady = have.presentModeFifoLatestReady;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePresentWaitFeaturesKHR*>(base);
        out->presentWait = have.presentWait;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVE_TOPOLOGY_LIST_RESTART_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePrimitiveTopologyListRestartFeaturesEXT*>(base);
        out->primitiveTopologyListRestart = have.primitiveTopologyListRestart;
        out->primitiveTopologyPatchListRestart = have.primitiveTopologyPatchListRestart;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVES_GENERATED_QUERY_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePrimitivesGeneratedQueryFeaturesEXT*>(base);
        out->primitivesGeneratedQuery = have.primitivesGeneratedQuery;
        out->primitivesGeneratedQueryWithRasterizerDiscard = have.primitivesGeneratedQueryWithRasterizerDiscard;
        out->primitivesGeneratedQueryWithNonZeroStreams = have.primitivesGeneratedQueryWithNonZeroStreams;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIVATE_DATA_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePrivateDataFeatures*>(base);
        out->privateData = have.privateData;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceProtectedMemoryFeatures*>(base);
        out->protectedMemory = have.protectedMemory;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceProvokingVertexFeaturesEXT*>(base);
        out->provokingVertexLast = have.provokingVertexLast;
        out->transformFeedbackPreservesProvokingVertex = have.transformFeedbackPreservesProvokingVertex;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RGBA10X6_FORMATS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRGBA10X6FormatsFeaturesEXT*>(base);
        out->formatRgba10x6WithoutYCbCrSampler = have.formatRgba10x6WithoutYCbCrSampler;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RASTERIZATION_ORDER_ATTACHMENT_ACCESS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRasterizationOrderAttachmentAccessFeaturesEXT*>(base);
        out->rasterizationOrderColorAttachmentAccess = have.rasterizationOrderColorAttachmentAccess;
        out->rasterizationOrderDepthAttachmentAccess = have.rasterizationOrderDepthAttachmentAccess;
        out->rasterizationOrderStencilAttachmentAccess = have.rasterizationOrderStencilAttachmentAccess;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRayQueryFeaturesKHR*>(base);
        out->rayQuery = have.rayQuery;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_MAINTENANCE_1_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR*>(base);
        out->rayTracingMaintenance1 = have.rayTracingMaintenance1;
        out->rayTracingPipelineTraceRaysIndirect2 = have.rayTracingPipelineTraceRaysIndirect2;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRayTracingPipelineFeaturesKHR*>(base);
        out->rayTracingPipeline = have.rayTracingPipeline;
        out->rayTracingPipelineShaderGroupHandleCaptureReplay = have.rayTracingPipelineShaderGroupHandleCaptureReplay;
        out->rayTracingPipelineShaderGroupHandleCaptureReplayMixed = have.rayTracingPipelineShaderGroupHandleCaptureReplayMixed;
        out->rayTracingPipelineTraceRaysIndirect = have.rayTracingPipelineTraceRaysIndirect;
        out->rayTraversalPrimitiveCulling = have.rayTraversalPrimitiveCulling;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_POSITION_FETCH_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRayTracingPositionFetchFeaturesKHR*>(base);
        out->rayTracingPositionFetch = have.rayTracingPositionFetch;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRobustness2FeaturesEXT*>(base);
        out->robustBufferAccess2 = have.robustBufferAccess2;
        out->robustImageAccess2 = have.robustImageAccess2;
        out->nullDescriptor = have.nullDescriptor;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSamplerYcbcrConversionFeatures*>(base);
        out->samplerYcbcrConversion = have.samplerYcbcrConversion;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceScalarBlockLayoutFeatures*>(base);
        out->scalarBlockLayout = have.scalarBlockLayout;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSeparateDepthStencilLayoutsFeatures*>(base);
        out->separateDepthStencilLayouts = have.separateDepthStencilLayouts;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT*>(base);
        out->shaderBufferFloat16Atomics = have.shaderBufferFloat16Atomics;
        out->shaderBufferFloat16AtomicAdd = have.shaderBufferFloat16AtomicAdd;
        out->shaderBufferFloat16AtomicMinMax = have.shaderBufferFloat16AtomicMinMax;
        out->shaderBufferFloat32AtomicMinMax = have.shaderBufferFloat32AtomicMinMax;
        out->shaderBufferFloat64AtomicMinMax = have.shaderBufferFloat64AtomicMinMax;
        out->shaderSharedFloat16Atomics = have.shaderSharedFloat16Atomics;
        out->shaderSharedFloat16AtomicAdd = have.shaderSharedFloat16AtomicAdd;
        out->shaderSharedFloat16AtomicMinMax = have.shaderSharedFloat16AtomicMinMax;
        out->shaderSharedFloat32AtomicMinMax = have.shaderSharedFloat32AtomicMinMax;
        out->shaderSharedFloat64AtomicMinMax = have.shaderSharedFloat64AtomicMinMax;
        out->shaderImageFloat32AtomicMinMax = have.shaderImageFloat32AtomicMinMax;
        out->sparseImageFloat32AtomicMinMax = have.sparseImageFloat32AtomicMinMax;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT*>(base);
        out->shaderBufferFloat32Atomics = have.shaderBufferFloat32Atomics;
        out->shaderBufferFloat32AtomicAdd = have.shaderBufferFloat32AtomicAdd;
        out->shaderBufferFloat64Atomics = have.shaderBufferFloat64Atomics;
        out->shaderBufferFloat64AtomicAdd = have.shaderBufferFloat64AtomicAdd;
        out->shaderSharedFloat32Atomics = have.shaderSharedFloat32Atomics;
        out->shaderSharedFloat32AtomicAdd = have.shaderSharedFloat32AtomicAdd;
        out->shaderSharedFloat64Atomics = have.shaderSharedFloat64Atomics;
        out->shaderSharedFloat64AtomicAdd = have.shaderSharedFloat64AtomicAdd;
        out->shaderImageFloat32Atomics = have.shaderImageFloat32Atomics;
        out->shaderImageFloat32AtomicAdd = have.shaderImageFloat32AtomicAdd;
        out->sparseImageFloat32Atomics = have.sparseImageFloat32Atomics;
        out->sparseImageFloat32AtomicAdd = have.sparseImageFloat32AtomicAdd;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderAtomicInt64Features*>(base);
        out->shaderBufferInt64Atomics = have.shaderBufferInt64Atomics;
        out->shaderSharedInt64Atomics = have.shaderSharedInt64Atomics;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderClockFeaturesKHR*>(base);
        out->shaderSubgroupClock = have.shaderSubgroupClock;
        out->shaderDeviceClock = have.shaderDeviceClock;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_DEMOTE_TO_HELPER_INVOCATION_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderDemoteToHelperInvocationFeatures*>(base);
        out->shaderDemoteToHelperInvocation = have.shaderDemoteToHelperInvocation;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_DRAW_PARAMETERS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderDrawParametersFeatures*>(base);
        out->shaderDrawParameters = have.shaderDrawParameters;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_EXPECT_ASSUME_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderExpectAssumeFeatures*>(base);
        out->shaderExpectAssume = have.shaderExpectAssume;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderFloat16Int8Features*>(base);
        out->shaderFloat16 = have.shaderFloat16;
        out->shaderInt8 = have.shaderInt8;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT_CONTROLS_2_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderFloatControls2Features*>(base);
        out->shaderFloatControls2 = have.shaderFloatControls2;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT*>(base);
        out->shaderImageInt64Atomics = have.shaderImageInt64Atomics;
        out->sparseImageInt64Atomics = have.sparseImageInt64Atomics;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderIntegerDotProductFeatures*>(base);
        out->shaderIntegerDotProduct = have.shaderIntegerDotProduct;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR*>(base);
        out->shaderMaximalReconvergence = have.shaderMaximalReconvergence;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MODULE_IDENTIFIER_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderModuleIdentifierFeaturesEXT*>(base);
        out->shaderModuleIdentifier = have.shaderModuleIdentifier;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderObjectFeaturesEXT*>(base);
        out->shaderObject = have.shaderObject;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_QUAD_CONTROL_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderQuadControlFeaturesKHR*>(base);
        out->shaderQuadControl = have.shaderQuadControl;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_RELAXED_EXTENDED_INSTRUCTION_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR*>(base);
        out->shaderRelaxedExtendedInstruction = have.shaderRelaxedExtendedInstruction;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_REPLICATED_COMPOSITES_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT*>(base);
        out->shaderReplicatedComposites = have.shaderReplicatedComposites;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures*>(base);
        out->shaderSubgroupExtendedTypes = have.shaderSubgroupExtendedTypes;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderSubgroupRotateFeatures*>(base);
        out->shaderSubgroupRotate = have.shaderSubgroupRotate;
        out->shaderSubgroupRotateClustered = have.shaderSubgroupRotateClustered;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR*>(base);
        out->shaderSubgroupUniformControlFlow = have.shaderSubgroupUniformControlFlow;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TERMINATE_INVOCATION_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderTerminateInvocationFeatures*>(base);
        out->shaderTerminateInvocation = have.shaderTerminateInvocation;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TILE_IMAGE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderTileImageFeaturesEXT*>(base);
        out->shaderTileImageColorReadAccess = have.shaderTileImageColorReadAccess;
        out->shaderTileImageDepthReadAccess = have.shaderTileImageDepthReadAccess;
        out->shaderTileImageStencilReadAccess = have.shaderTileImageStencilReadAccess;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlFeatures*>(base);
        out->subgroupSizeControl = have.subgroupSizeControl;
        out->computeFullSubgroups = have.computeFullSubgroups;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBPASS_MERGE_FEEDBACK_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSubpassMergeFeedbackFeaturesEXT*>(base);
        out->subpassMergeFeedback = have.subpassMergeFeedback;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSwapchainMaintenance1FeaturesEXT*>(base);
        out->swapchainMaintenance1 = have.swapchainMaintenance1;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSynchronization2Features*>(base);
        out->synchronization2 = have.synchronization2;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT*>(base);
        out->texelBufferAlignment = have.texelBufferAlignment;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXTURE_COMPRESSION_ASTC_HDR_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTextureCompressionASTCHDRFeatures*>(base);
        out->textureCompressionASTC_HDR = have.textureCompressionASTC_HDR;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTimelineSemaphoreFeatures*>(base);
        out->timelineSemaphore = have.timelineSemaphore;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTransformFeedbackFeaturesEXT*>(base);
        out->transformFeedback = have.transformFeedback;
        out->geometryStreams = have.geometryStreams;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceUniformBufferStandardLayoutFeatures*>(base);
        out->uniformBufferStandardLayout = have.uniformBufferStandardLayout;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVariablePointersFeatures*>(base);
        out->variablePointersStorageBuffer = have.variablePointersStorageBuffer;
        out->variablePointers = have.variablePointers;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVertexAttributeDivisorFeatures*>(base);
        out->vertexAttributeInstanceRateDivisor = have.vertexAttributeInstanceRateDivisor;
        out->vertexAttributeInstanceRateZeroDivisor = have.vertexAttributeInstanceRateZeroDivisor;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_ROBUSTNESS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVertexAttributeRobustnessFeaturesEXT*>(base);
        out->vertexAttributeRobustness = have.vertexAttributeRobustness;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_INPUT_DYNAMIC_STATE_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVertexInputDynamicStateFeaturesEXT*>(base);
        out->vertexInputDynamicState = have.vertexInputDynamicState;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_ENCODE_AV1_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVideoEncodeAV1FeaturesKHR*>(base);
        out->videoEncodeAV1 = have.videoEncodeAV1;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_ENCODE_QUANTIZATION_MAP_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVideoEncodeQuantizationMapFeaturesKHR*>(base);
        out->videoEncodeQuantizationMap = have.videoEncodeQuantizationMap;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_MAINTENANCE_1_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVideoMaintenance1FeaturesKHR*>(base);
        out->videoMaintenance1 = have.videoMaintenance1;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_MAINTENANCE_2_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVideoMaintenance2FeaturesKHR*>(base);
        out->videoMaintenance2 = have.videoMaintenance2;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan11Features*>(base);
        out->storageBuffer16BitAccess = have.storageBuffer16BitAccess;
        out->uniformAndStorageBuffer16BitAccess = have.uniformAndStorageBuffer16BitAccess;
        out->storagePushConstant16 = have.storagePushConstant16;
        out->storageInputOutput16 = have.storageInputOutput16;
        out->multiview = have.multiview;
        out->multiviewGeometryShader = have.multiviewGeometryShader;
        out->multiviewTessellationShader = have.multiviewTessellationShader;
        out->variablePointersStorageBuffer = have.variablePointersStorageBuffer;
        out->variablePointers = have.variablePointers;
        out->protectedMemory = have.protectedMemory;
        out->samplerYcbcrConversion = have.samplerYcbcrConversion;
        out->shaderDrawParameters = have.shaderDrawParameters;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(base);
        out->samplerMirrorClampToEdge = have.samplerMirrorClampToEdge;
        out->drawIndirectCount = have.drawIndirectCount;
        out->storageBuffer8BitAccess = have.storageBuffer8BitAccess;
        out->uniformAndStorageBuffer8BitAccess = have.uniformAndStorageBuffer8BitAccess;
        out->storagePushConstant8 = have.storagePushConstant8;
        out->shaderBufferInt64Atomics = have.shaderBufferInt64Atomics;
        out->shaderSharedInt64Atomics = have.shaderSharedInt64Atomics;
        out->shaderFloat16 = have.shaderFloat16;
        out->shaderInt8 = have.shaderInt8;
        out->descriptorIndexing = have.descriptorIndexing;
        out->shaderInputAttachmentArrayDynamicIndexing = have.shaderInputAttachmentArrayDynamicIndexing;
        out->shaderUniformTexelBufferArrayDynamicIndexing = have.shaderUniformTexelBufferArrayDynamicIndexing;
        out->shaderStorageTexelBufferArrayDynamicIndexing = have.shaderStorageTexelBufferArrayDynamicIndexing;
        out->shaderUniformBufferArrayNonUniformIndexing = have.shaderUniformBufferArrayNonUniformIndexing;
        out->shaderSampledImageArrayNonUniformIndexing = have.shaderSampledImageArrayNonUniformIndexing;
        out->shaderStorageBufferArrayNonUniformIndexing = have.shaderStorageBufferArrayNonUniformIndexing;
        out->shaderStorageImageArrayNonUniformIndexing = have.shaderStorageImageArrayNonUniformIndexing;
        out->shaderInputAttachmentArrayNonUniformIndexing = have.shaderInputAttachmentArrayNonUniformIndexing;
        out->shaderUniformTexelBufferArrayNonUniformIndexing = have.shaderUniformTexelBufferArrayNonUniformIndexing;
        out->shaderStorageTexelBufferArrayNonUniformIndexing = have.shaderStorageTexelBufferArrayNonUniformIndexing;
        out->descriptorBindingUniformBufferUpdateAfterBind = have.descriptorBindingUniformBufferUpdateAfterBind;
        out->descriptorBindingSampledImageUpdateAfterBind = have.descriptorBindingSampledImageUpdateAfterBind;
        out->descriptorBindingStorageImageUpdateAfterBind = have.descriptorBindingStorageImageUpdateAfterBind;
        out->descriptorBindingStorageBufferUpdateAfterBind = have.descriptorBindingStorageBufferUpdateAfterBind;
        out->descriptorBindingUniformTexelBufferUpdateAfterBind = have.descriptorBindingUniformTexelBufferUpdateAfterBind;
        out->descriptorBindingStorageTexelBufferUpdateAfterBind = have.descriptorBindingStorageTexelBufferUpdateAfterBind;
        out->descriptorBindingUpdateUnusedWhilePending = have.descriptorBindingUpdateUnusedWhilePending;
        out->descriptorBindingPartiallyBound = have.descriptorBindingPartiallyBound;
        out->descriptorBindingVariableDescriptorCount = have.descriptorBindingVariableDescriptorCount;
        out->runtimeDescriptorArray = have.runtimeDescriptorArray;
        out->samplerFilterMinmax = have.samplerFilterMinmax;
        out->scalarBlockLayout = have.scalarBlockLayout;
        out->imagelessFramebuffer = have.imagelessFramebuffer;
        out->uniformBufferStandardLayout = have.uniformBufferStandardLayout;
        out->shaderSubgroupExtendedTypes = have.shaderSubgroupExtendedTypes;
        out->separateDepthStencilLayouts = have.separateDepthStencilLayouts;
        out->hostQueryReset = have.hostQueryReset;
        out->timelineSemaphore = have.timelineSemaphore;
        out->bufferDeviceAddress = have.bufferDeviceAddress;
        out->bufferDeviceAddressCaptureReplay = have.bufferDeviceAddressCaptureReplay;
        out->bufferDeviceAddressMultiDevice = have.bufferDeviceAddressMultiDevice;
        out->vulkanMemoryModel = have.vulkanMemoryModel;
        out->vulkanMemoryModelDeviceScope = have.vulkanMemoryModelDeviceScope;
        out->vulkanMemoryModelAvailabilityVisibilityChains = have.vulkanMemoryModelAvailabilityVisibilityChains;
        out->shaderOutputViewportIndex = have.shaderOutputViewportIndex;
        out->shaderOutputLayer = have.shaderOutputLayer;
        out->subgroupBroadcastDynamicId = have.subgroupBroadcastDynamicId;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan13Features*>(base);
        out->robustImageAccess = have.robustImageAccess;
        out->inlineUniformBlock = have.inlineUniformBlock;
        out->descriptorBindingInlineUniformBlockUpdateAfterBind = have.descriptorBindingInlineUniformBlockUpdateAfterBind;
        out->pipelineCreationCacheControl = have.pipelineCreationCacheControl;
        out->privateData = have.privateData;
        out->shaderDemoteToHelperInvocation = have.shaderDemoteToHelperInvocation;
        out->shaderTerminateInvocation = have.shaderTerminateInvocation;
        out->subgroupSizeControl = have.subgroupSizeControl;
        out->computeFullSubgroups = have.computeFullSubgroups;
        out->synchronization2 = have.synchronization2;
        out->textureCompressionASTC_HDR = have.textureCompressionASTC_HDR;
        out->shaderZeroInitializeWorkgroupMemory = have.shaderZeroInitializeWorkgroupMemory;
        out->dynamicRendering = have.dynamicRendering;
        out->shaderIntegerDotProduct = have.shaderIntegerDotProduct;
        out->maintenance4 = have.maintenance4;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan14Features*>(base);
        out->globalPriorityQuery = have.globalPriorityQuery;
        out->shaderSubgroupRotate = have.shaderSubgroupRotate;
        out->shaderSubgroupRotateClustered = have.shaderSubgroupRotateClustered;
        out->shaderFloatControls2 = have.shaderFloatControls2;
        out->shaderExpectAssume = have.shaderExpectAssume;
        out->rectangularLines = have.rectangularLines;
        out->bresenhamLines = have.bresenhamLines;
        out->smoothLines = have.smoothLines;
        out->stippledRectangularLines = have.stippledRectangularLines;
        out->stippledBresenhamLines = have.stippledBresenhamLines;
        out->stippledSmoothLines = have.stippledSmoothLines;
        out->vertexAttributeInstanceRateDivisor = have.vertexAttributeInstanceRateDivisor;
        out->vertexAttributeInstanceRateZeroDivisor = have.vertexAttributeInstanceRateZeroDivisor;
        out->indexTypeUint8 = have.indexTypeUint8;
        out->dynamicRenderingLocalRead = have.dynamicRenderingLocalRead;
        out->maintenance5 = have.maintenance5;
        out->maintenance6 = have.maintenance6;
        out->pipelineProtectedAccess = have.pipelineProtectedAccess;
        out->pipelineRobustness = have.pipelineRobustness;
        out->hostImageCopy = have.hostImageCopy;
        out->pushDescriptor = have.pushDescriptor;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkanMemoryModelFeatures*>(base);
        out->vulkanMemoryModel = have.vulkanMemoryModel;
        out->vulkanMemoryModelDeviceScope = have.vulkanMemoryModelDeviceScope;
        out->vulkanMemoryModelAvailabilityVisibilityChains = have.vulkanMemoryModelAvailabilityVisibilityChains;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR*>(base);
        out->workgroupMemoryExplicitLayout = have.workgroupMemoryExplicitLayout;
        out->workgroupMemoryExplicitLayoutScalarBlockLayout = have.workgroupMemoryExplicitLayoutScalarBlockLayout;
        out->workgroupMemoryExplicitLayout8BitAccess = have.workgroupMemoryExplicitLayout8BitAccess;
        out->workgroupMemoryExplicitLayout16BitAccess = have.workgroupMemoryExplicitLayout16BitAccess;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_YCBCR_2_PLANE_444_FORMATS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT*>(base);
        out->ycbcr2plane444Formats = have.ycbcr2plane444Formats;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_YCBCR_IMAGE_ARRAYS_FEATURES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceYcbcrImageArraysFeaturesEXT*>(base);
        out->ycbcrImageArrays = have.ycbcrImageArrays;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures*>(base);
        out->shaderZeroInitializeWorkgroupMemory = have.shaderZeroInitializeWorkgroupMemory;
        break;
      }
      default:
        break;
    }
  }
}

// NOLINTNEXTLINE(readability-function-size): one switch
void enable(const void* next, const Features& have, Features& enabled, MissingFeatures& missing) {
  for (auto* base = static_cast<const VkBaseInStructure*>(next); base; base = base->pNext) {
    switch (vk::given(base->sType)) {
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevice16BitStorageFeatures*>(base);
        take(wanted->storageBuffer16BitAccess, have.storageBuffer16BitAccess, enabled.storageBuffer16BitAccess, "storageBuffer16BitAccess", missing);
        take(wanted->uniformAndStorageBuffer16BitAccess, have.uniformAndStorageBuffer16BitAccess, enabled.uniformAndStorageBuffer16BitAccess, "uniformAndStorageBuffer16BitAccess", missing);
        take(wanted->storagePushConstant16, have.storagePushConstant16, enabled.storagePushConstant16, "storagePushConstant16", missing);
        take(wanted->storageInputOutput16, have.storageInputOutput16, enabled.storageInputOutput16, "storageInputOutput16", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_4444_FORMATS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevice4444FormatsFeaturesEXT*>(base);
        take(wanted->formatA4R4G4B4, have.formatA4R4G4B4, enabled.formatA4R4G4B4, "formatA4R4G4B4", missing);
        take(wanted->formatA4B4G4R4, have.formatA4B4G4R4, enabled.formatA4B4G4R4, "formatA4B4G4R4", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevice8BitStorageFeatures*>(base);
        take(wanted->storageBuffer8BitAccess, have.storageBuffer8BitAccess, enabled.storageBuffer8BitAccess, "storageBuffer8BitAccess", missing);
        take(wanted->uniformAndStorageBuffer8BitAccess, have.uniformAndStorageBuffer8BitAccess, enabled.uniformAndStorageBuffer8BitAccess, "uniformAndStorageBuffer8BitAccess", missing);
        take(wanted->storagePushConstant8, have.storagePushConstant8, enabled.storagePushConstant8, "storagePushConstant8", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ASTC_DECODE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceASTCDecodeFeaturesEXT*>(base);
        take(wanted->decodeModeSharedExponent, have.decodeModeSharedExponent, enabled.decodeModeSharedExponent, "decodeModeSharedExponent", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceAccelerationStructureFeaturesKHR*>(base);
        take(wanted->accelerationStructure, have.accelerationStructure, enabled.accelerationStructure, "accelerationStructure", missing);
        take(wanted->accelerationStructureCaptureReplay, have.accelerationStructureCaptureReplay, enabled.accelerationStructureCaptureReplay, "accelerationStructureCaptureReplay", missing);
        take(wanted->accelerationStructureIndirectBuild, have.accelerationStructureIndirectBuild, enabled.accelerationStructureIndirectBuild, "accelerationStructureIndirectBuild", missing);
        take(wanted->accelerationStructureHostCommands, have.accelerationStructureHostCommands, enabled.accelerationStructureHostCommands, "accelerationStructureHostCommands", missing);
        take(wanted->descriptorBindingAccelerationStructureUpdateAfterBind, have.descriptorBindingAccelerationStructureUpdateAfterBind, enabled.descriptorBindingAccelerationStructureUpdateAfterBind, "descriptorBindingAccelerationStructureUpdateAfterBind", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceAddressBindingReportFeaturesEXT*>(base);
        take(wanted->reportAddressBinding, have.reportAddressBinding, enabled.reportAddressBinding, "reportAddressBinding", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_DYNAMIC_STATE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT*>(base);
        take(wanted->attachmentFeedbackLoopDynamicState, have.attachmentFeedbackLoopDynamicState, enabled.attachmentFeedbackLoopDynamicState, "attachmentFeedbackLoopDynamicState", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT*>(base);
        take(wanted->attachmentFeedbackLoopLayout, have.attachmentFeedbackLoopLayout, enabled.attachmentFeedbackLoopLayout, "attachmentFeedbackLoopLayout", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceBlendOperationAdvancedFeaturesEXT*>(base);
        take(wanted->advancedBlendCoherentOperations, have.advancedBlendCoherentOperations, enabled.advancedBlendCoherentOperations, "advancedBlendCoherentOperations", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceBorderColorSwizzleFeaturesEXT*>(base);
        take(wanted->borderColorSwizzle, have.borderColorSwizzle, enabled.borderColorSwizzle, "borderColorSwizzle", missing);
        take(wanted->borderColorSwizzleFromImage, have.borderColorSwizzleFromImage, enabled.borderColorSwizzleFromImage, "borderColorSwizzleFromImage", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(base);
        take(wanted->bufferDeviceAddress, have.bufferDeviceAddress, enabled.bufferDeviceAddress, "bufferDeviceAddress", missing);
        take(wanted->bufferDeviceAddressCaptureReplay, have.bufferDeviceAddressCaptureReplay, enabled.bufferDeviceAddressCaptureReplay, "bufferDeviceAddressCaptureReplay", missing);
        take(wanted->bufferDeviceAddressMultiDevice, have.bufferDeviceAddressMultiDevice, enabled.bufferDeviceAddressMultiDevice, "bufferDeviceAddressMultiDevice", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeaturesEXT*>(base);
        take(wanted->bufferDeviceAddress, have.bufferDeviceAddress, enabled.bufferDeviceAddress, "bufferDeviceAddress", missing);
        take(wanted->bufferDeviceAddressCaptureReplay, have.bufferDeviceAddressCaptureReplay, enabled.bufferDeviceAddressCaptureReplay, "bufferDeviceAddressCaptureReplay", missing);
        take(wanted->bufferDeviceAddressMultiDevice, have.bufferDeviceAddressMultiDevice, enabled.bufferDeviceAddressMultiDevice, "bufferDeviceAddressMultiDevice", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COLOR_WRITE_ENABLE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceColorWriteEnableFeaturesEXT*>(base);
        take(wanted->colorWriteEnable, have.colorWriteEnable, enabled.colorWriteEnable, "colorWriteEnable", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceComputeShaderDerivativesFeaturesKHR*>(base);
        take(wanted->computeDerivativeGroupQuads, have.computeDerivativeGroupQuads, enabled.computeDerivativeGroupQuads, "computeDerivativeGroupQuads", missing);
        take(wanted->computeDerivativeGroupLinear, have.computeDerivativeGroupLinear, enabled.computeDerivativeGroupLinear, "computeDerivativeGroupLinear", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceConditionalRenderingFeaturesEXT*>(base);
        take(wanted->conditionalRendering, have.conditionalRendering, enabled.conditionalRendering, "conditionalRendering", missing);
        take(wanted->inheritedConditionalRendering, have.inheritedConditionalRendering, enabled.inheritedConditionalRendering, "inheritedConditionalRendering", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceCooperativeMatrixFeaturesKHR*>(base);
        take(wanted->cooperativeMatrix, have.cooperativeMatrix, enabled.cooperativeMatrix, "cooperativeMatrix", missing);
        take(wanted->cooperativeMatrixRobustBufferAccess, have.cooperativeMatrixRobustBufferAccess, enabled.cooperativeMatrixRobustBufferAccess, "cooperativeMatrixRobustBufferAccess", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceCustomBorderColorFeaturesEXT*>(base);
        take(wanted->customBorderColors, have.customBorderColors, enabled.customBorderColors, "customBorderColors", missing);
        take(wanted->customBorderColorWithoutFormat, have.customBorderColorWithoutFormat, enabled.customBorderColorWithoutFormat, "customBorderColorWithoutFormat", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_BIAS_CONTROL_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDepthBiasControlFeaturesEXT*>(base);
        take(wanted->depthBiasControl, have.depthBiasControl, enabled.depthBiasControl, "depthBiasControl", missing);
        take(wanted->leastRepresentableValueForceUnormRepresentation, have.leastRepresentableValueForceUnormRepresentation, enabled.leastRepresentableValueForceUnormRepresentation, "leastRepresentableValueForceUnormRepresentation", missing);
        take(wanted->floatRepresentation, have.floatRepresentation, enabled.floatRepresentation, "floatRepresentation", missing);
        take(wanted->depthBiasExact, have.depthBiasExact, enabled.depthBiasExact, "depthBiasExact", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_CONTROL_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDepthClampControlFeaturesEXT*>(base);
        take(wanted->depthClampControl, have.depthClampControl, enabled.depthClampControl, "depthClampControl", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_ZERO_ONE_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDepthClampZeroOneFeaturesKHR*>(base);
        take(wanted->depthClampZeroOne, have.depthClampZeroOne, enabled.depthClampZeroOne, "depthClampZeroOne", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_CONTROL_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDepthClipControlFeaturesEXT*>(base);
        take(wanted->depthClipControl, have.depthClipControl, enabled.depthClipControl, "depthClipControl", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDepthClipEnableFeaturesEXT*>(base);
        take(wanted->depthClipEnable, have.depthClipEnable, enabled.depthClipEnable, "depthClipEnable", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDescriptorBufferFeaturesEXT*>(base);
        take(wanted->descriptorBuffer, have.descriptorBuffer, enabled.descriptorBuffer, "descriptorBuffer", missing);
        take(wanted->descriptorBufferCaptureReplay, have.descriptorBufferCaptureReplay, enabled.descriptorBufferCaptureReplay, "descriptorBufferCaptureReplay", missing);
        take(wanted->descriptorBufferImageLayoutIgnored, have.descriptorBufferImageLayoutIgnored, enabled.descriptorBufferImageLayoutIgnored, "descriptorBufferImageLayoutIgnored", missing);
        take(wanted->descriptorBufferPushDescriptors, have.descriptorBufferPushDescriptors, enabled.descriptorBufferPushDescriptors, "descriptorBufferPushDescriptors", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDescriptorIndexingFeatures*>(base);
        take(wanted->shaderInputAttachmentArrayDynamicIndexing, have.shaderInputAttachmentArrayDynamicIndexing, enabled.shaderInputAttachmentArrayDynamicIndexing, "shaderInputAttachmentArrayDynamicIndexing", missing);
        take(wanted->shaderUniformTexelBufferArrayDynamicIndexing, have.shaderUniformTexelBufferArrayDynamicIndexing, enabled.shaderUniformTexelBufferArrayDynamicIndexing, "shaderUniformTexelBufferArrayDynamicIndexing", missing);
        take(wanted->shaderStorageTexelBufferArrayDynamicIndexing, have.shaderStorageTexelBufferArrayDynamicIndexing, enabled.shaderStorageTexelBufferArrayDynamicIndexing, "shaderStorageTexelBufferArrayDynamicIndexing", missing);
        take(wanted->shaderUniformBufferArrayNonUniformIndexing, have.shaderUniformBufferArrayNonUniformIndexing, enabled.shaderUniformBufferArrayNonUniformIndexing, "shaderUniformBufferArrayNonUniformIndexing", missing);
        take(wanted->shaderSampledImageArrayNonUniformIndexing, have.shaderSampledImageArrayNonUniformIndexing, enabled.shaderSampledImageArrayNonUniformIndexing, "shaderSampledImageArrayNonUniformIndexing", missing);
        take(wanted->shaderStorageBufferArrayNonUniformIndexing, have.shaderStorageBufferArrayNonUniformIndexing, enabled.shaderStorageBufferArrayNonUniformIndexing, "shaderStorageBufferArrayNonUniformIndexing", missing);
        take(wanted->shaderStorageImageArrayNonUniformIndexing, have.shaderStorageImageArrayNonUniformIndexing, enabled.shaderStorageImageArrayNonUniformIndexing, "shaderStorageImageArrayNonUniformIndexing", missing);
        take(wanted->shaderInputAttachmentArrayNonUniformIndexing, have.shaderInputAttachmentArrayNonUniformIndexing, enabled.shaderInputAttachmentArrayNonUniformIndexing, "shaderInputAttachmentArrayNonUniformIndexing", missing);
        take(wanted->shaderUniformTexelBufferArrayNonUniformIndexing, have.shaderUniformTexelBufferArrayNonUniformIndexing, enabled.shaderUniformTexelBufferArrayNonUniformIndexing, "shaderUniformTexelBufferArrayNonUniformIndexing", missing);
        take(wanted->shaderStorageTexelBufferArrayNonUniformIndexing, have.shaderStorageTexelBufferArrayNonUniformIndexing, enabled.shaderStorageTexelBufferArrayNonUniformIndexing, "shaderStorageTexelBufferArrayNonUniformIndexing", missing);
        take(wanted->descriptorBindingUniformBufferUpdateAfterBind, have.descriptorBindingUniformBufferUpdateAfterBind, enabled.descriptorBindingUniformBufferUpdateAfterBind, "descriptorBindingUniformBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingSampledImageUpdateAfterBind, have.descriptorBindingSampledImageUpdateAfterBind, enabled.descriptorBindingSampledImageUpdateAfterBind, "descriptorBindingSampledImageUpdateAfterBind", missing);
        take(wanted->descriptorBindingStorageImageUpdateAfterBind, have.descriptorBindingStorageImageUpdateAfterBind, enabled.descriptorBindingStorageImageUpdateAfterBind, "descriptorBindingStorageImageUpdateAfterBind", missing);
        take(wanted->descriptorBindingStorageBufferUpdateAfterBind, have.descriptorBindingStorageBufferUpdateAfterBind, enabled.descriptorBindingStorageBufferUpdateAfterBind, "descriptorBindingStorageBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingUniformTexelBufferUpdateAfterBind, have.descriptorBindingUniformTexelBufferUpdateAfterBind, enabled.descriptorBindingUniformTexelBufferUpdateAfterBind, "descriptorBindingUniformTexelBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingStorageTexelBufferUpdateAfterBind, have.descriptorBindingStorageTexelBufferUpdateAfterBind, enabled.descriptorBindingStorageTexelBufferUpdateAfterBind, "descriptorBindingStorageTexelBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingUpdateUnusedWhilePending, have.descriptorBindingUpdateUnusedWhilePending, enabled.descriptorBindingUpdateUnusedWhilePending, "descriptorBindingUpdateUnusedWhilePending", missing);
        take(wanted->descriptorBindingPartiallyBound, have.descriptorBindingPartiallyBound, enabled.descriptorBindingPartiallyBound, "descriptorBindingPartiallyBound", missing);
        take(wanted->descriptorBindingVariableDescriptorCount, have.descriptorBindingVariableDescriptorCount, enabled.descriptorBindingVariableDescriptorCount, "descriptorBindingVariableDescriptorCount", missing);
        take(wanted->runtimeDescriptorArray, have.runtimeDescriptorArray, enabled.runtimeDescriptorArray, "runtimeDescriptorArray", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_GENERATED_COMMANDS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDeviceGeneratedCommandsFeaturesEXT*>(base);
        take(wanted->deviceGeneratedCommands, have.deviceGeneratedCommands, enabled.deviceGeneratedCommands, "deviceGeneratedCommands", missing);
        take(wanted->dynamicGeneratedPipelineLayout, have.dynamicGeneratedPipelineLayout, enabled.dynamicGeneratedPipelineLayout, "dynamicGeneratedPipelineLayout", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_MEMORY_REPORT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDeviceMemoryReportFeaturesEXT*>(base);
        take(wanted->deviceMemoryReport, have.deviceMemoryReport, enabled.deviceMemoryReport, "deviceMemoryReport", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDynamicRenderingFeatures*>(base);
        take(wanted->dynamicRendering, have.dynamicRendering, enabled.dynamicRendering, "dynamicRendering", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDynamicRenderingLocalReadFeatures*>(base);
        take(wanted->dynamicRenderingLocalRead, have.dynamicRenderingLocalRead, enabled.dynamicRenderingLocalRead, "dynamicRenderingLocalRead", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_UNUSED_ATTACHMENTS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT*>(base);
        take(wanted->dynamicRenderingUnusedAttachments, have.dynamicRenderingUnusedAttachments, enabled.dynamicRenderingUnusedAttachments, "dynamicRenderingUnusedAttachments", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_2_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceExtendedDynamicState2FeaturesEXT*>(base);
        take(wanted->extendedDynamicState2, have.extendedDynamicState2, enabled.extendedDynamicState2, "extendedDynamicState2", missing);
        take(wanted->extendedDynamicState2LogicOp, have.extendedDynamicState2LogicOp, enabled.extendedDynamicState2LogicOp, "extendedDynamicState2LogicOp", missing);
        take(wanted->extendedDynamicState2PatchControlPoints, have.extendedDynamicState2PatchControlPoints, enabled.extendedDynamicState2PatchControlPoints, "extendedDynamicState2PatchControlPoints", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceExtendedDynamicState3FeaturesEXT*>(base);
        take(wanted->extendedDynamicState3TessellationDomainOrigin, have.extendedDynamicState3TessellationDomainOrigin, enabled.extendedDynamicState3TessellationDomainOrigin, "extendedDynamicState3TessellationDomainOrigin", missing);
        take(wanted->extendedDynamicState3DepthClampEnable, have.extendedDynamicState3DepthClampEnable, enabled.extendedDynamicState3DepthClampEnable, "extendedDynamicState3DepthClampEnable", missing);
        take(wanted->extendedDynamicState3PolygonMode, have.extendedDynamicState3PolygonMode, enabled.extendedDynamicState3PolygonMode, "extendedDynamicState3PolygonMode", missing);
        take(wanted->extendedDynamicState3RasterizationSamples, have.extendedDynamicState3RasterizationSamples, enabled.extendedDynamicState3RasterizationSamples, "extendedDynamicState3RasterizationSamples", missing);
        take(wanted->extendedDynamicState3SampleMask, have.extendedDynamicState3SampleMask, enabled.extendedDynamicState3SampleMask, "extendedDynamicState3SampleMask", missing);
        take(wanted->extendedDynamicState3AlphaToCoverageEnable, have.extendedDynamicState3AlphaToCoverageEnable, enabled.extendedDynamicState3AlphaToCoverageEnable, "extendedDynamicState3AlphaToCoverageEnable", missing);
        take(wanted->extendedDynamicState3AlphaToOneEnable, have.extendedDynamicState3AlphaToOneEnable, enabled.extendedDynamicState3AlphaToOneEnable, "extendedDynamicState3AlphaToOneEnable", missing);
        take(wanted->extendedDynamicState3LogicOpEnable, have.extendedDynamicState3LogicOpEnable, enabled.extendedDynamicState3LogicOpEnable, "extendedDynamicState3LogicOpEnable", missing);
        take(wanted->extendedDynamicState3ColorBlendEnable, have.extendedDynamicState3ColorBlendEnable, enabled.extendedDynamicState3ColorBlendEnable, "extendedDynamicState3ColorBlendEnable", missing);
        take(wanted->extendedDynamicState3ColorBlendEquation, have.extendedDynamicState3ColorBlendEquation, enabled.extendedDynamicState3ColorBlendEquation, "extendedDynamicState3ColorBlendEquation", missing);
        take(wanted->extendedDynamicState3ColorWriteMask, have.extendedDynamicState3ColorWriteMask, enabled.extendedDynamicState3ColorWriteMask, "extendedDynamicState3ColorWriteMask", missing);
        take(wanted->extendedDynamicState3RasterizationStream, have.extendedDynamicState3RasterizationStream, enabled.extendedDynamicState3RasterizationStream, "extendedDynamicState3RasterizationStream", missing);
        take(wanted->extendedDynamicState3ConservativeRasterizationMode, have.extendedDynamicState3ConservativeRasterizationMode, enabled.extendedDynamicState3ConservativeRasterizationMode, "extendedDynamicState3ConservativeRasterizationMode", missing);
        take(wanted->extendedDynamicState3ExtraPrimitiveOverestimationSize, have.extendedDynamicState3ExtraPrimitiveOverestimationSize, enabled.extendedDynamicState3ExtraPrimitiveOverestimationSize, "extendedDynamicState3ExtraPrimitiveOverestimationSize", missing);
        take(wanted->extendedDynamicState3DepthClipEnable, have.extendedDynamicState3DepthClipEnable, enabled.extendedDynamicState3DepthClipEnable, "extendedDynamicState3DepthClipEnable", missing);
        take(wanted->extendedDynamicState3SampleLocationsEnable, have.extendedDynamicState3SampleLocationsEnable, enabled.extendedDynamicState3SampleLocationsEnable, "extendedDynamicState3SampleLocationsEnable", missing);
        take(wanted->extendedDynamicState3ColorBlendAdvanced, have.extendedDynamicState3ColorBlendAdvanced, enabled.extendedDynamicState3ColorBlendAdvanced, "extendedDynamicState3ColorBlendAdvanced", missing);
        take(wanted->extendedDynamicState3ProvokingVertexMode, have.extendedDynamicState3ProvokingVertexMode, enabled.extendedDynamicState3ProvokingVertexMode, "extendedDynamicState3ProvokingVertexMode", missing);
        take(wanted->extendedDynamicState3LineRasterizationMode, have.extendedDynamicState3LineRasterizationMode, enabled.extendedDynamicState3LineRasterizationMode, "extendedDynamicState3LineRasterizationMode", missing);
        take(wanted->extendedDynamicState3LineStippleEnable, have.extendedDynamicState3LineStippleEnable, enabled.extendedDynamicState3LineStippleEnable, "extendedDynamicState3LineStippleEnable", missing);
        take(wanted->extendedDynamicState3DepthClipNegativeOneToOne, have.extendedDynamicState3DepthClipNegativeOneToOne, enabled.extendedDynamicState3DepthClipNegativeOneToOne, "extendedDynamicState3DepthClipNegativeOneToOne", missing);
        take(wanted->extendedDynamicState3ViewportWScalingEnable, have.extendedDynamicState3ViewportWScalingEnable, enabled.extendedDynamicState3ViewportWScalingEnable, "extendedDynamicState3ViewportWScalingEnable", missing);
        take(wanted->extendedDynamicState3ViewportSwizzle, have.extendedDynamicState3ViewportSwizzle, enabled.extendedDynamicState3ViewportSwizzle, "extendedDynamicState3ViewportSwizzle", missing);
        take(wanted->extendedDynamicState3CoverageToColorEnable, have.extendedDynamicState3CoverageToColorEnable, enabled.extendedDynamicState3CoverageToColorEnable, "extendedDynamicState3CoverageToColorEnable", missing);
        take(wanted->extendedDynamicState3CoverageToColorLocation, have.extendedDynamicState3CoverageToColorLocation, enabled.extendedDynamicState3CoverageToColorLocation, "extendedDynamicState3CoverageToColorLocation", missing);
        take(wanted->extendedDynamicState3CoverageModulationMode, have.extendedDynamicState3CoverageModulationMode, enabled.extendedDynamicState3CoverageModulationMode, "extendedDynamicState3CoverageModulationMode", missing);
        take(wanted->extendedDynamicState3CoverageModulationTableEnable, have.extendedDynamicState3CoverageModulationTableEnable, enabled.extendedDynamicState3CoverageModulationTableEnable, "extendedDynamicState3CoverageModulationTableEnable", missing);
        take(wanted->extendedDynamicState3CoverageModulationTable, have.extendedDynamicState3CoverageModulationTable, enabled.extendedDynamicState3CoverageModulationTable, "extendedDynamicState3CoverageModulationTable", missing);
        take(wanted->extendedDynamicState3CoverageReductionMode, have.extendedDynamicState3CoverageReductionMode, enabled.extendedDynamicState3CoverageReductionMode, "extendedDynamicState3CoverageReductionMode", missing);
        take(wanted->extendedDynamicState3RepresentativeFragmentTestEnable, have.extendedDynamicState3RepresentativeFragmentTestEnable, enabled.extendedDynamicState3RepresentativeFragmentTestEnable, "extendedDynamicState3RepresentativeFragmentTestEnable", missing);
        take(wanted->extendedDynamicState3ShadingRateImageEnable, have.extendedDynamicState3ShadingRateImageEnable, enabled.extendedDynamicState3ShadingRateImageEnable, "extendedDynamicState3ShadingRateImageEnable", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceExtendedDynamicStateFeaturesEXT*>(base);
        take(wanted->extendedDynamicState, have.extendedDynamicState, enabled.extendedDynamicState, "extendedDynamicState", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFaultFeaturesEXT*>(base);
        take(wanted->deviceFault, have.deviceFault, enabled.deviceFault, "deviceFault", missing);
        take(wanted->deviceFaultVendorBinary, have.deviceFaultVendorBinary, enabled.deviceFaultVendorBinary, "deviceFaultVendorBinary", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_2_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFragmentDensityMap2FeaturesEXT*>(base);
        take(wanted->fragmentDensityMapDeferred, have.fragmentDensityMapDeferred, enabled.fragmentDensityMapDeferred, "fragmentDensityMapDeferred", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFragmentDensityMapFeaturesEXT*>(base);
        take(wanted->fragmentDensityMap, have.fragmentDensityMap, enabled.fragmentDensityMap, "fragmentDensityMap", missing);
        take(wanted->fragmentDensityMapDynamic, have.fragmentDensityMapDynamic, enabled.fragmentDensityMapDynamic, "fragmentDensityMapDynamic", missing);
        take(wanted->fragmentDensityMapNonSubsampledImages, have.fragmentDensityMapNonSubsampledImages, enabled.fragmentDensityMapNonSubsampledImages, "fragmentDensityMapNonSubsampledImages", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_BARYCENTRIC_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR*>(base);
        take(wanted->fragmentShaderBarycentric, have.fragmentShaderBarycentric, enabled.fragmentShaderBarycentric, "fragmentShaderBarycentric", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_INTERLOCK_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT*>(base);
        take(wanted->fragmentShaderSampleInterlock, have.fragmentShaderSampleInterlock, enabled.fragmentShaderSampleInterlock, "fragmentShaderSampleInterlock", missing);
        take(wanted->fragmentShaderPixelInterlock, have.fragmentShaderPixelInterlock, enabled.fragmentShaderPixelInterlock, "fragmentShaderPixelInterlock", missing);
        take(wanted->fragmentShaderShadingRateInterlock, have.fragmentShaderShadingRateInterlock, enabled.fragmentShaderShadingRateInterlock, "fragmentShaderShadingRateInterlock", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFragmentShadingRateFeaturesKHR*>(base);
        take(wanted->pipelineFragmentShadingRate, have.pipelineFragmentShadingRate, enabled.pipelineFragmentShadingRate, "pipelineFragmentShadingRate", missing);
        take(wanted->primitiveFragmentShadingRate, have.primitiveFragmentShadingRate, enabled.primitiveFragmentShadingRate, "primitiveFragmentShadingRate", missing);
        take(wanted->attachmentFragmentShadingRate, have.attachmentFragmentShadingRate, enabled.attachmentFragmentShadingRate, "attachmentFragmentShadingRate", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAME_BOUNDARY_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceFrameBoundaryFeaturesEXT*>(base);
        take(wanted->frameBoundary, have.frameBoundary, enabled.frameBoundary, "frameBoundary", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GLOBAL_PRIORITY_QUERY_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceGlobalPriorityQueryFeatures*>(base);
        take(wanted->globalPriorityQuery, have.globalPriorityQuery, enabled.globalPriorityQuery, "globalPriorityQuery", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT*>(base);
        take(wanted->graphicsPipelineLibrary, have.graphicsPipelineLibrary, enabled.graphicsPipelineLibrary, "graphicsPipelineLibrary", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceHostImageCopyFeatures*>(base);
        take(wanted->hostImageCopy, have.hostImageCopy, enabled.hostImageCopy, "hostImageCopy", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceHostQueryResetFeatures*>(base);
        take(wanted->hostQueryReset, have.hostQueryReset, enabled.hostQueryReset, "hostQueryReset", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_2D_VIEW_OF_3D_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImage2DViewOf3DFeaturesEXT*>(base);
        take(wanted->image2DViewOf3D, have.image2DViewOf3D, enabled.image2DViewOf3D, "image2DViewOf3D", missing);
        take(wanted->sampler2DViewOf3D, have.sampler2DViewOf3D, enabled.sampler2DViewOf3D, "sampler2DViewOf3D", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_COMPRESSION_CONTROL_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImageCompressionControlFeaturesEXT*>(base);
        take(wanted->imageCompressionControl, have.imageCompressionControl, enabled.imageCompressionControl, "imageCompressionControl", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_COMPRESSION_CONTROL_SWAPCHAIN_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImageCompressionControlSwapchainFeaturesEXT*>(base);
        take(wanted->imageCompressionControlSwapchain, have.imageCompressionControlSwapchain, enabled.imageCompressionControlSwapchain, "imageCompressionControlSwapchain", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImageRobustnessFeatures*>(base);
        take(wanted->robustImageAccess, have.robustImageAccess, enabled.robustImageAccess, "robustImageAccess", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_SLICED_VIEW_OF_3D_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImageSlicedViewOf3DFeaturesEXT*>(base);
        take(wanted->imageSlicedViewOf3D, have.imageSlicedViewOf3D, enabled.imageSlicedViewOf3D, "imageSlicedViewOf3D", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_MIN_LOD_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImageViewMinLodFeaturesEXT*>(base);
        take(wanted->minLod, have.minLod, enabled.minLod, "minLod", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGELESS_FRAMEBUFFER_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceImagelessFramebufferFeatures*>(base);
        take(wanted->imagelessFramebuffer, have.imagelessFramebuffer, enabled.imagelessFramebuffer, "imagelessFramebuffer", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceIndexTypeUint8Features*>(base);
        take(wanted->indexTypeUint8, have.indexTypeUint8, enabled.indexTypeUint8, "indexTypeUint8", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceInlineUniformBlockFeatures*>(base);
        take(wanted->inlineUniformBlock, have.inlineUniformBlock, enabled.inlineUniformBlock, "inlineUniformBlock", missing);
        take(wanted->descriptorBindingInlineUniformBlockUpdateAfterBind, have.descriptorBindingInlineUniformBlockUpdateAfterBind, enabled.descriptorBindingInlineUniformBlockUpdateAfterBind, "descriptorBindingInlineUniformBlockUpdateAfterBind", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LEGACY_DITHERING_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceLegacyDitheringFeaturesEXT*>(base);
        take(wanted->legacyDithering, have.legacyDithering, enabled.legacyDithering, "legacyDithering", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LEGACY_VERTEX_ATTRIBUTES_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceLegacyVertexAttributesFeaturesEXT*>(base);
        take(wanted->legacyVertexAttributes, have.legacyVertexAttributes, enabled.legacyVertexAttributes, "legacyVertexAttributes", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceLineRasterizationFeatures*>(base);
        take(wanted->rectangularLines, have.rectangularLines, enabled.rectangularLines, "rectangularLines", missing);
        take(wanted->bresenhamLines, have.bresenhamLines, enabled.bresenhamLines, "bresenhamLines", missing);
        take(wanted->smoothLines, have.smoothLines, enabled.smoothLines, "smoothLines", missing);
        take(wanted->stippledRectangularLines, have.stippledRectangularLines, enabled.stippledRectangularLines, "stippledRectangularLines", missing);
        take(wanted->stippledBresenhamLines, have.stippledBresenhamLines, enabled.stippledBresenhamLines, "stippledBresenhamLines", missing);
        take(wanted->stippledSmoothLines, have.stippledSmoothLines, enabled.stippledSmoothLines, "stippledSmoothLines", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMaintenance4Features*>(base);
        take(wanted->maintenance4, have.maintenance4, enabled.maintenance4, "maintenance4", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMaintenance5Features*>(base);
        take(wanted->maintenance5, have.maintenance5, enabled.maintenance5, "maintenance5", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_6_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMaintenance6Features*>(base);
        take(wanted->maintenance6, have.maintenance6, enabled.maintenance6, "maintenance6", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_7_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMaintenance7FeaturesKHR*>(base);
        take(wanted->maintenance7, have.maintenance7, enabled.maintenance7, "maintenance7", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_8_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMaintenance8FeaturesKHR*>(base);
        take(wanted->maintenance8, have.maintenance8, enabled.maintenance8, "maintenance8", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAP_MEMORY_PLACED_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMapMemoryPlacedFeaturesEXT*>(base);
        take(wanted->memoryMapPlaced, have.memoryMapPlaced, enabled.memoryMapPlaced, "memoryMapPlaced", missing);
        take(wanted->memoryMapRangePlaced, have.memoryMapRangePlaced, enabled.memoryMapRangePlaced, "memoryMapRangePlaced", missing);
        take(wanted->memoryUnmapReserve, have.memoryUnmapReserve, enabled.memoryUnmapReserve, "memoryUnmapReserve", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMemoryPriorityFeaturesEXT*>(base);
        take(wanted->memoryPriority, have.memoryPriority, enabled.memoryPriority, "memoryPriority", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMeshShaderFeaturesEXT*>(base);
        take(wanted->taskShader, have.taskShader, enabled.taskShader, "taskShader", missing);
        take(wanted->meshShader, have.meshShader, enabled.meshShader, "meshShader", missing);
        take(wanted->multiviewMeshShader, have.multiviewMeshShader, enabled.multiviewMeshShader, "multiviewMeshShader", missing);
        take(wanted->primitiveFragmentShadingRateMeshShader, have.primitiveFragmentShadingRateMeshShader, enabled.primitiveFragmentShadingRateMeshShader, "primitiveFragmentShadingRateMeshShader", missing);
        take(wanted->meshShaderQueries, have.meshShaderQueries, enabled.meshShaderQueries, "meshShaderQueries", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMultiDrawFeaturesEXT*>(base);
        take(wanted->multiDraw, have.multiDraw, enabled.multiDraw, "multiDraw", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT*>(base);
        take(wanted->multisampledRenderToSingleSampled, have.multisampledRenderToSingleSampled, enabled.multisampledRenderToSingleSampled, "multisampledRenderToSingleSampled", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMultiviewFeatures*>(base);
        take(wanted->multiview, have.multiview, enabled.multiview, "multiview", missing);
        take(wanted->multiviewGeometryShader, have.multiviewGeometryShader, enabled.multiviewGeometryShader, "multiviewGeometryShader", missing);
        take(wanted->multiviewTessellationShader, have.multiviewTessellationShader, enabled.multiviewTessellationShader, "multiviewTessellationShader", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MUTABLE_DESCRIPTOR_TYPE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT*>(base);
        take(wanted->mutableDescriptorType, have.mutableDescriptorType, enabled.mutableDescriptorType, "mutableDescriptorType", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceNestedCommandBufferFeaturesEXT*>(base);
        take(wanted->nestedCommandBuffer, have.nestedCommandBuffer, enabled.nestedCommandBuffer, "nestedCommandBuffer", missing);
        take(wanted->nestedCommandBufferRendering, have.nestedCommandBufferRendering, enabled.nestedCommandBufferRendering, "nestedCommandBufferRendering", missing);
        take(wanted->nestedCommandBufferSimultaneousUse, have.nestedCommandBufferSimultaneousUse, enabled.nestedCommandBufferSimultaneousUse, "nestedCommandBufferSimultaneousUse", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT*>(base);
        take(wanted->nonSeamlessCubeMap, have.nonSeamlessCubeMap, enabled.nonSeamlessCubeMap, "nonSeamlessCubeMap", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_OPACITY_MICROMAP_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceOpacityMicromapFeaturesEXT*>(base);
        take(wanted->micromap, have.micromap, enabled.micromap, "micromap", missing);
        take(wanted->micromapCaptureReplay, have.micromapCaptureReplay, enabled.micromapCaptureReplay, "micromapCaptureReplay", missing);
        take(wanted->micromapHostCommands, have.micromapHostCommands, enabled.micromapHostCommands, "micromapHostCommands", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PAGEABLE_DEVICE_LOCAL_MEMORY_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT*>(base);
        take(wanted->pageableDeviceLocalMemory, have.pageableDeviceLocalMemory, enabled.pageableDeviceLocalMemory, "pageableDeviceLocalMemory", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePerformanceQueryFeaturesKHR*>(base);
        take(wanted->performanceCounterQueryPools, have.performanceCounterQueryPools, enabled.performanceCounterQueryPools, "performanceCounterQueryPools", missing);
        take(wanted->performanceCounterMultipleQueryPools, have.performanceCounterMultipleQueryPools, enabled.performanceCounterMultipleQueryPools, "performanceCounterMultipleQueryPools", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_BINARY_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelineBinaryFeaturesKHR*>(base);
        take(wanted->pipelineBinaries, have.pipelineBinaries, enabled.pipelineBinaries, "pipelineBinaries", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelineCreationCacheControlFeatures*>(base);
        take(wanted->pipelineCreationCacheControl, have.pipelineCreationCacheControl, enabled.pipelineCreationCacheControl, "pipelineCreationCacheControl", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR*>(base);
        take(wanted->pipelineExecutableInfo, have.pipelineExecutableInfo, enabled.pipelineExecutableInfo, "pipelineExecutableInfo", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_LIBRARY_GROUP_HANDLES_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelineLibraryGroupHandlesFeaturesEXT*>(base);
        take(wanted->pipelineLibraryGroupHandles, have.pipelineLibraryGroupHandles, enabled.pipelineLibraryGroupHandles, "pipelineLibraryGroupHandles", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_PROPERTIES_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelinePropertiesFeaturesEXT*>(base);
        take(wanted->pipelinePropertiesIdentifier, have.pipelinePropertiesIdentifier, enabled.pipelinePropertiesIdentifier, "pipelinePropertiesIdentifier", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_PROTECTED_ACCESS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelineProtectedAccessFeatures*>(base);
        take(wanted->pipelineProtectedAccess, have.pipelineProtectedAccess, enabled.pipelineProtectedAccess, "pipelineProtectedAccess", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePipelineRobustnessFeatures*>(base);
        take(wanted->pipelineRobustness, have.pipelineRobustness, enabled.pipelineRobustness, "pipelineRobustness", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePresentIdFeaturesKHR*>(base);
        take(wanted->presentId, have.presentId, enabled.presentId, "presentId", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_MODE_FIFO_LATEST_READY_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePresentModeFifoLatestReadyFeaturesEXT*>(base);
        take(wanted->presentModeFifoLatestReady, have.presentModeFifoLatestReady, enabled.presentModeFifoLatestReady, "presentModeFifoLatestReady", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePresentWaitFeaturesKHR*>(base);
        take(wanted->presentWait, have.presentWait, enabled.presentWait, "presentWait", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVE_TOPOLOGY_LIST_RESTART_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePrimitiveTopologyListRestartFeaturesEXT*>(base);
        take(wanted->primitiveTopologyListRestart, have.primitiveTopologyListRestart, enabled.primitiveTopologyListRestart, "primitiveTopologyListRestart", missing);
        take(wanted->primitiveTopologyPatchListRestart, have.primitiveTopologyPatchListRestart, enabled.primitiveTopologyPatchListRestart, "primitiveTopologyPatchListRestart", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVES_GENERATED_QUERY_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePrimitivesGeneratedQueryFeaturesEXT*>(base);
        take(wanted->primitivesGeneratedQuery, have.primitivesGeneratedQuery, enabled.primitivesGeneratedQuery, "primitivesGeneratedQuery", missing);
        take(wanted->primitivesGeneratedQueryWithRasterizerDiscard, have.primitivesGeneratedQueryWithRasterizerDiscard, enabled.primitivesGeneratedQueryWithRasterizerDiscard, "primitivesGeneratedQueryWithRasterizerDiscard", missing);
        take(wanted->primitivesGeneratedQueryWithNonZeroStreams, have.primitivesGeneratedQueryWithNonZeroStreams, enabled.primitivesGeneratedQueryWithNonZeroStreams, "primitivesGeneratedQueryWithNonZeroStreams", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIVATE_DATA_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDevicePrivateDataFeatures*>(base);
        take(wanted->privateData, have.privateData, enabled.privateData, "privateData", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceProtectedMemoryFeatures*>(base);
        take(wanted->protectedMemory, have.protectedMemory, enabled.protectedMemory, "protectedMemory", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceProvokingVertexFeaturesEXT*>(base);
        take(wanted->provokingVertexLast, have.provokingVertexLast, enabled.provokingVertexLast, "provokingVertexLast", missing);
        take(wanted->transformFeedbackPreservesProvokingVertex, have.transformFeedbackPreservesProvokingVertex, enabled.transformFeedbackPreservesProvokingVertex, "transformFeedbackPreservesProvokingVertex", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RGBA10X6_FORMATS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRGBA10X6FormatsFeaturesEXT*>(base);
        take(wanted->formatRgba10x6WithoutYCbCrSampler, have.formatRgba10x6WithoutYCbCrSampler, enabled.formatRgba10x6WithoutYCbCrSampler, "formatRgba10x6WithoutYCbCrSampler", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RASTERIZATION_ORDER_ATTACHMENT_ACCESS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRasterizationOrderAttachmentAccessFeaturesEXT*>(base);
        take(wanted->rasterizationOrderColorAttachmentAccess, have.rasterizationOrderColorAttachmentAccess, enabled.rasterizationOrderColorAttachmentAccess, "rasterizationOrderColorAttachmentAccess", missing);
        take(wanted->rasterizationOrderDepthAttachmentAccess, have.rasterizationOrderDepthAttachmentAccess, enabled.rasterizationOrderDepthAttachmentAccess, "rasterizationOrderDepthAttachmentAccess", missing);
        take(wanted->rasterizationOrderStencilAttachmentAccess, have.rasterizationOrderStencilAttachmentAccess, enabled.rasterizationOrderStencilAttachmentAccess, "rasterizationOrderStencilAttachmentAccess", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRayQueryFeaturesKHR*>(base);
        take(wanted->rayQuery, have.rayQuery, enabled.rayQuery, "rayQuery", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_MAINTENANCE_1_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR*>(base);
        take(wanted->rayTracingMaintenance1, have.rayTracingMaintenance1, enabled.rayTracingMaintenance1, "rayTracingMaintenance1", missing);
        take(wanted->rayTracingPipelineTraceRaysIndirect2, have.rayTracingPipelineTraceRaysIndirect2, enabled.rayTracingPipelineTraceRaysIndirect2, "rayTracingPipelineTraceRaysIndirect2", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRayTracingPipelineFeaturesKHR*>(base);
        take(wanted->rayTracingPipeline, have.rayTracingPipeline, enabled.rayTracingPipeline, "rayTracingPipeline", missing);
        take(wanted->rayTracingPipelineShaderGroupHandleCaptureReplay, have.rayTracingPipelineShaderGroupHandleCaptureReplay, enabled.rayTracingPipelineShaderGroupHandleCaptureReplay, "rayTracingPipelineShaderGroupHandleCaptureReplay", missing);
        take(wanted->rayTracingPipelineShaderGroupHandleCaptureReplayMixed, have.rayTracingPipelineShaderGroupHandleCaptureReplayMixed, enabled.rayTracingPipelineShaderGroupHandleCaptureReplayMixed, "rayTracingPipelineShaderGroupHandleCaptureReplayMixed", missing);
        take(wanted->rayTracingPipelineTraceRaysIndirect, have.rayTracingPipelineTraceRaysIndirect, enabled.rayTracingPipelineTraceRaysIndirect, "rayTracingPipelineTraceRaysIndirect", missing);
        take(wanted->rayTraversalPrimitiveCulling, have.rayTraversalPrimitiveCulling, enabled.rayTraversalPrimitiveCulling, "rayTraversalPrimitiveCulling", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_POSITION_FETCH_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRayTracingPositionFetchFeaturesKHR*>(base);
        take(wanted->rayTracingPositionFetch, have.rayTracingPositionFetch, enabled.rayTracingPositionFetch, "rayTracingPositionFetch", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceRobustness2FeaturesEXT*>(base);
        take(wanted->robustBufferAccess2, have.robustBufferAccess2, enabled.robustBufferAccess2, "robustBufferAccess2", missing);
        take(wanted->robustImageAccess2, have.robustImageAccess2, enabled.robustImageAccess2, "robustImageAccess2", missing);
        take(wanted->nullDescriptor, have.nullDescriptor, enabled.nullDescriptor, "nullDescriptor", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceSamplerYcbcrConversionFeatures*>(base);
        take(wanted->samplerYcbcrConversion, have.samplerYcbcrConversion, enabled.samplerYcbcrConversion, "samplerYcbcrConversion", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceScalarBlockLayoutFeatures*>(base);
        take(wanted->scalarBlockLayout, have.scalarBlockLayout, enabled.scalarBlockLayout, "scalarBlockLayout", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceSeparateDepthStencilLayoutsFeatures*>(base);
        take(wanted->separateDepthStencilLayouts, have.separateDepthStencilLayouts, enabled.separateDepthStencilLayouts, "separateDepthStencilLayouts", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT*>(base);
        take(wanted->shaderBufferFloat16Atomics, have.shaderBufferFloat16Atomics, enabled.shaderBufferFloat16Atomics, "shaderBufferFloat16Atomics", missing);
        take(wanted->shaderBufferFloat16AtomicAdd, have.shaderBufferFloat16AtomicAdd, enabled.shaderBufferFloat16AtomicAdd, "shaderBufferFloat16AtomicAdd", missing);
        take(wanted->shaderBufferFloat16AtomicMinMax, have.shaderBufferFloat16AtomicMinMax, enabled.shaderBufferFloat16AtomicMinMax, "shaderBufferFloat16AtomicMinMax", missing);
        take(wanted->shaderBufferFloat32AtomicMinMax, have.shaderBufferFloat32AtomicMinMax, enabled.shaderBufferFloat32AtomicMinMax, "shaderBufferFloat32AtomicMinMax", missing);
        take(wanted->shaderBufferFloat64AtomicMinMax, have.shaderBufferFloat64AtomicMinMax, enabled.shaderBufferFloat64AtomicMinMax, "shaderBufferFloat64AtomicMinMax", missing);
        take(wanted->shaderSharedFloat16Atomics, have.shaderSharedFloat16Atomics, enabled.shaderSharedFloat16Atomics, "shaderSharedFloat16Atomics", missing);
        take(wanted->shaderSharedFloat16AtomicAdd, have.shaderSharedFloat16AtomicAdd, enabled.shaderSharedFloat16AtomicAdd, "shaderSharedFloat16AtomicAdd", missing);
        take(wanted->shaderSharedFloat16AtomicMinMax, have.shaderSharedFloat16AtomicMinMax, enabled.shaderSharedFloat16AtomicMinMax, "shaderSharedFloat16AtomicMinMax", missing);
        take(wanted->shaderSharedFloat32AtomicMinMax, have.shaderSharedFloat32AtomicMinMax, enabled.shaderSharedFloat32AtomicMinMax, "shaderSharedFloat32AtomicMinMax", missing);
        take(wanted->shaderSharedFloat64AtomicMinMax, have.shaderSharedFloat64AtomicMinMax, enabled.shaderSharedFloat64AtomicMinMax, "shaderSharedFloat64AtomicMinMax", missing);
        take(wanted->shaderImageFloat32AtomicMinMax, have.shaderImageFloat32AtomicMinMax, enabled.shaderImageFloat32AtomicMinMax, "shaderImageFloat32AtomicMinMax", missing);
        take(wanted->sparseImageFloat32AtomicMinMax, have.sparseImageFloat32AtomicMinMax, enabled.sparseImageFloat32AtomicMinMax, "sparseImageFloat32AtomicMinMax", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderAtomicFloatFeaturesEXT*>(base);
        take(wanted->shaderBufferFloat32Atomics, have.shaderBufferFloat32Atomics, enabled.shaderBufferFloat32Atomics, "shaderBufferFloat32Atomics", missing);
        take(wanted->shaderBufferFloat32AtomicAdd, have.shaderBufferFloat32AtomicAdd, enabled.shaderBufferFloat32AtomicAdd, "shaderBufferFloat32AtomicAdd", missing);
        take(wanted->shaderBufferFloat64Atomics, have.shaderBufferFloat64Atomics, enabled.shaderBufferFloat64Atomics, "shaderBufferFloat64Atomics", missing);
        take(wanted->shaderBufferFloat64AtomicAdd, have.shaderBufferFloat64AtomicAdd, enabled.shaderBufferFloat64AtomicAdd, "shaderBufferFloat64AtomicAdd", missing);
        take(wanted->shaderSharedFloat32Atomics, have.shaderSharedFloat32Atomics, enabled.shaderSharedFloat32Atomics, "shaderSharedFloat32Atomics", missing);
        take(wanted->shaderSharedFloat32AtomicAdd, have.shaderSharedFloat32AtomicAdd, enabled.shaderSharedFloat32AtomicAdd, "shaderSharedFloat32AtomicAdd", missing);
        take(wanted->shaderSharedFloat64Atomics, have.shaderSharedFloat64Atomics, enabled.shaderSharedFloat64Atomics, "shaderSharedFloat64Atomics", missing);
        take(wanted->shaderSharedFloat64AtomicAdd, have.shaderSharedFloat64AtomicAdd, enabled.shaderSharedFloat64AtomicAdd, "shaderSharedFloat64AtomicAdd", missing);
        take(wanted->shaderImageFloat32Atomics, have.shaderImageFloat32Atomics, enabled.shaderImageFloat32Atomics, "shaderImageFloat32Atomics", missing);
        take(wanted->shaderImageFloat32AtomicAdd, have.shaderImageFloat32AtomicAdd, enabled.shaderImageFloat32AtomicAdd, "shaderImageFloat32AtomicAdd", missing);
        take(wanted->sparseImageFloat32Atomics, have.sparseImageFloat32Atomics, enabled.sparseImageFloat32Atomics, "sparseImageFloat32Atomics", missing);
        take(wanted->sparseImageFloat32AtomicAdd, have.sparseImageFloat32AtomicAdd, enabled.sparseImageFloat32AtomicAdd, "sparseImageFloat32AtomicAdd", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderAtomicInt64Features*>(base);
        take(wanted->shaderBufferInt64Atomics, have.shaderBufferInt64Atomics, enabled.shaderBufferInt64Atomics, "shaderBufferInt64Atomics", missing);
        take(wanted->shaderSharedInt64Atomics, have.shaderSharedInt64Atomics, enabled.shaderSharedInt64Atomics, "shaderSharedInt64Atomics", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderClockFeaturesKHR*>(base);
        take(wanted->shaderSubgroupClock, have.shaderSubgroupClock, enabled.shaderSubgroupClock, "shaderSubgroupClock", missing);
        take(wanted->shaderDeviceClock, have.shaderDeviceClock, enabled.shaderDeviceClock, "shaderDeviceClock", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_DEMOTE_TO_HELPER_INVOCATION_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderDemoteToHelperInvocationFeatures*>(base);
        take(wanted->shaderDemoteToHelperInvocation, have.shaderDemoteToHelperInvocation, enabled.shaderDemoteToHelperInvocation, "shaderDemoteToHelperInvocation", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_DRAW_PARAMETERS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderDrawParametersFeatures*>(base);
        take(wanted->shaderDrawParameters, have.shaderDrawParameters, enabled.shaderDrawParameters, "shaderDrawParameters", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_EXPECT_ASSUME_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderExpectAssumeFeatures*>(base);
        take(wanted->shaderExpectAssume, have.shaderExpectAssume, enabled.shaderExpectAssume, "shaderExpectAssume", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderFloat16Int8Features*>(base);
        take(wanted->shaderFloat16, have.shaderFloat16, enabled.shaderFloat16, "shaderFloat16", missing);
        take(wanted->shaderInt8, have.shaderInt8, enabled.shaderInt8, "shaderInt8", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT_CONTROLS_2_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderFloatControls2Features*>(base);
        take(wanted->shaderFloatControls2, have.shaderFloatControls2, enabled.shaderFloatControls2, "shaderFloatControls2", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT*>(base);
        take(wanted->shaderImageInt64Atomics, have.shaderImageInt64Atomics, enabled.shaderImageInt64Atomics, "shaderImageInt64Atomics", missing);
        take(wanted->sparseImageInt64Atomics, have.sparseImageInt64Atomics, enabled.sparseImageInt64Atomics, "sparseImageInt64Atomics", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderIntegerDotProductFeatures*>(base);
        take(wanted->shaderIntegerDotProduct, have.shaderIntegerDotProduct, enabled.shaderIntegerDotProduct, "shaderIntegerDotProduct", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR*>(base);
        take(wanted->shaderMaximalReconvergence, have.shaderMaximalReconvergence, enabled.shaderMaximalReconvergence, "shaderMaximalReconvergence", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MODULE_IDENTIFIER_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderModuleIdentifierFeaturesEXT*>(base);
        take(wanted->shaderModuleIdentifier, have.shaderModuleIdentifier, enabled.shaderModuleIdentifier, "shaderModuleIdentifier", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderObjectFeaturesEXT*>(base);
        take(wanted->shaderObject, have.shaderObject, enabled.shaderObject, "shaderObject", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_QUAD_CONTROL_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderQuadControlFeaturesKHR*>(base);
        take(wanted->shaderQuadControl, have.shaderQuadControl, enabled.shaderQuadControl, "shaderQuadControl", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_RELAXED_EXTENDED_INSTRUCTION_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR*>(base);
        take(wanted->shaderRelaxedExtendedInstruction, have.shaderRelaxedExtendedInstruction, enabled.shaderRelaxedExtendedInstruction, "shaderRelaxedExtendedInstruction", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_REPLICATED_COMPOSITES_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderReplicatedCompositesFeaturesEXT*>(base);
        take(wanted->shaderReplicatedComposites, have.shaderReplicatedComposites, enabled.shaderReplicatedComposites, "shaderReplicatedComposites", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures*>(base);
        take(wanted->shaderSubgroupExtendedTypes, have.shaderSubgroupExtendedTypes, enabled.shaderSubgroupExtendedTypes, "shaderSubgroupExtendedTypes", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderSubgroupRotateFeatures*>(base);
        take(wanted->shaderSubgroupRotate, have.shaderSubgroupRotate, enabled.shaderSubgroupRotate, "shaderSubgroupRotate", missing);
        take(wanted->shaderSubgroupRotateClustered, have.shaderSubgroupRotateClustered, enabled.shaderSubgroupRotateClustered, "shaderSubgroupRotateClustered", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR*>(base);
        take(wanted->shaderSubgroupUniformControlFlow, have.shaderSubgroupUniformControlFlow, enabled.shaderSubgroupUniformControlFlow, "shaderSubgroupUniformControlFlow", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TERMINATE_INVOCATION_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderTerminateInvocationFeatures*>(base);
        take(wanted->shaderTerminateInvocation, have.shaderTerminateInvocation, enabled.shaderTerminateInvocation, "shaderTerminateInvocation", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TILE_IMAGE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceShaderTileImageFeaturesEXT*>(base);
        take(wanted->shaderTileImageColorReadAccess, have.shaderTileImageColorReadAccess, enabled.shaderTileImageColorReadAccess, "shaderTileImageColorReadAccess", missing);
        take(wanted->shaderTileImageDepthReadAccess, have.shaderTileImageDepthReadAccess, enabled.shaderTileImageDepthReadAccess, "shaderTileImageDepthReadAccess", missing);
        take(wanted->shaderTileImageStencilReadAccess, have.shaderTileImageStencilReadAccess, enabled.shaderTileImageStencilReadAccess, "shaderTileImageStencilReadAccess", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceSubgroupSizeControlFeatures*>(base);
        take(wanted->subgroupSizeControl, have.subgroupSizeControl, enabled.subgroupSizeControl, "subgroupSizeControl", missing);
        take(wanted->computeFullSubgroups, have.computeFullSubgroups, enabled.computeFullSubgroups, "computeFullSubgroups", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBPASS_MERGE_FEEDBACK_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceSubpassMergeFeedbackFeaturesEXT*>(base);
        take(wanted->subpassMergeFeedback, have.subpassMergeFeedback, enabled.subpassMergeFeedback, "subpassMergeFeedback", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceSwapchainMaintenance1FeaturesEXT*>(base);
        take(wanted->swapchainMaintenance1, have.swapchainMaintenance1, enabled.swapchainMaintenance1, "swapchainMaintenance1", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceSynchronization2Features*>(base);
        take(wanted->synchronization2, have.synchronization2, enabled.synchronization2, "synchronization2", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT*>(base);
        take(wanted->texelBufferAlignment, have.texelBufferAlignment, enabled.texelBufferAlignment, "texelBufferAlignment", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXTURE_COMPRESSION_ASTC_HDR_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceTextureCompressionASTCHDRFeatures*>(base);
        take(wanted->textureCompressionASTC_HDR, have.textureCompressionASTC_HDR, enabled.textureCompressionASTC_HDR, "textureCompressionASTC_HDR", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceTimelineSemaphoreFeatures*>(base);
        take(wanted->timelineSemaphore, have.timelineSemaphore, enabled.timelineSemaphore, "timelineSemaphore", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceTransformFeedbackFeaturesEXT*>(base);
        take(wanted->transformFeedback, have.transformFeedback, enabled.transformFeedback, "transformFeedback", missing);
        take(wanted->geometryStreams, have.geometryStreams, enabled.geometryStreams, "geometryStreams", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceUniformBufferStandardLayoutFeatures*>(base);
        take(wanted->uniformBufferStandardLayout, have.uniformBufferStandardLayout, enabled.uniformBufferStandardLayout, "uniformBufferStandardLayout", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVariablePointersFeatures*>(base);
        take(wanted->variablePointersStorageBuffer, have.variablePointersStorageBuffer, enabled.variablePointersStorageBuffer, "variablePointersStorageBuffer", missing);
        take(wanted->variablePointers, have.variablePointers, enabled.variablePointers, "variablePointers", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVertexAttributeDivisorFeatures*>(base);
        take(wanted->vertexAttributeInstanceRateDivisor, have.vertexAttributeInstanceRateDivisor, enabled.vertexAttributeInstanceRateDivisor, "vertexAttributeInstanceRateDivisor", missing);
        take(wanted->vertexAttributeInstanceRateZeroDivisor, have.vertexAttributeInstanceRateZeroDivisor, enabled.vertexAttributeInstanceRateZeroDivisor, "vertexAttributeInstanceRateZeroDivisor", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_ROBUSTNESS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVertexAttributeRobustnessFeaturesEXT*>(base);
        take(wanted->vertexAttributeRobustness, have.vertexAttributeRobustness, enabled.vertexAttributeRobustness, "vertexAttributeRobustness", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_INPUT_DYNAMIC_STATE_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVertexInputDynamicStateFeaturesEXT*>(base);
        take(wanted->vertexInputDynamicState, have.vertexInputDynamicState, enabled.vertexInputDynamicState, "vertexInputDynamicState", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_ENCODE_AV1_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVideoEncodeAV1FeaturesKHR*>(base);
        take(wanted->videoEncodeAV1, have.videoEncodeAV1, enabled.videoEncodeAV1, "videoEncodeAV1", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_ENCODE_QUANTIZATION_MAP_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVideoEncodeQuantizationMapFeaturesKHR*>(base);
        take(wanted->videoEncodeQuantizationMap, have.videoEncodeQuantizationMap, enabled.videoEncodeQuantizationMap, "videoEncodeQuantizationMap", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_MAINTENANCE_1_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVideoMaintenance1FeaturesKHR*>(base);
        take(wanted->videoMaintenance1, have.videoMaintenance1, enabled.videoMaintenance1, "videoMaintenance1", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_MAINTENANCE_2_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVideoMaintenance2FeaturesKHR*>(base);
        take(wanted->videoMaintenance2, have.videoMaintenance2, enabled.videoMaintenance2, "videoMaintenance2", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVulkan11Features*>(base);
        take(wanted->storageBuffer16BitAccess, have.storageBuffer16BitAccess, enabled.storageBuffer16BitAccess, "storageBuffer16BitAccess", missing);
        take(wanted->uniformAndStorageBuffer16BitAccess, have.uniformAndStorageBuffer16BitAccess, enabled.uniformAndStorageBuffer16BitAccess, "uniformAndStorageBuffer16BitAccess", missing);
        take(wanted->storagePushConstant16, have.storagePushConstant16, enabled.storagePushConstant16, "storagePushConstant16", missing);
        take(wanted->storageInputOutput16, have.storageInputOutput16, enabled.storageInputOutput16, "storageInputOutput16", missing);
        take(wanted->multiview, have.multiview, enabled.multiview, "multiview", missing);
        take(wanted->multiviewGeometryShader, have.multiviewGeometryShader, enabled.multiviewGeometryShader, "multiviewGeometryShader", missing);
        take(wanted->multiviewTessellationShader, have.multiviewTessellationShader, enabled.multiviewTessellationShader, "multiviewTessellationShader", missing);
        take(wanted->variablePointersStorageBuffer, have.variablePointersStorageBuffer, enabled.variablePointersStorageBuffer, "variablePointersStorageBuffer", missing);
        take(wanted->variablePointers, have.variablePointers, enabled.variablePointers, "variablePointers", missing);
        take(wanted->protectedMemory, have.protectedMemory, enabled.protectedMemory, "protectedMemory", missing);
        take(wanted->samplerYcbcrConversion, have.samplerYcbcrConversion, enabled.samplerYcbcrConversion, "samplerYcbcrConversion", missing);
        take(wanted->shaderDrawParameters, have.shaderDrawParameters, enabled.shaderDrawParameters, "shaderDrawParameters", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(base);
        take(wanted->samplerMirrorClampToEdge, have.samplerMirrorClampToEdge, enabled.samplerMirrorClampToEdge, "samplerMirrorClampToEdge", missing);
        take(wanted->drawIndirectCount, have.drawIndirectCount, enabled.drawIndirectCount, "drawIndirectCount", missing);
        take(wanted->storageBuffer8BitAccess, have.storageBuffer8BitAccess, enabled.storageBuffer8BitAccess, "storageBuffer8BitAccess", missing);
        take(wanted->uniformAndStorageBuffer8BitAccess, have.uniformAndStorageBuffer8BitAccess, enabled.uniformAndStorageBuffer8BitAccess, "uniformAndStorageBuffer8BitAccess", missing);
        take(wanted->storagePushConstant8, have.storagePushConstant8, enabled.storagePushConstant8, "storagePushConstant8", missing);
        take(wanted->shaderBufferInt64Atomics, have.shaderBufferInt64Atomics, enabled.shaderBufferInt64Atomics, "shaderBufferInt64Atomics", missing);
        take(wanted->shaderSharedInt64Atomics, have.shaderSharedInt64Atomics, enabled.shaderSharedInt64Atomics, "shaderSharedInt64Atomics", missing);
        take(wanted->shaderFloat16, have.shaderFloat16, enabled.shaderFloat16, "shaderFloat16", missing);
        take(wanted->shaderInt8, have.shaderInt8, enabled.shaderInt8, "shaderInt8", missing);
        take(wanted->descriptorIndexing, have.descriptorIndexing, enabled.descriptorIndexing, "descriptorIndexing", missing);
        take(wanted->shaderInputAttachmentArrayDynamicIndexing, have.shaderInputAttachmentArrayDynamicIndexing, enabled.shaderInputAttachmentArrayDynamicIndexing, "shaderInputAttachmentArrayDynamicIndexing", missing);
        take(wanted->shaderUniformTexelBufferArrayDynamicIndexing, have.shaderUniformTexelBufferArrayDynamicIndexing, enabled.shaderUniformTexelBufferArrayDynamicIndexing, "shaderUniformTexelBufferArrayDynamicIndexing", missing);
        take(wanted->shaderStorageTexelBufferArrayDynamicIndexing, have.shaderStorageTexelBufferArrayDynamicIndexing, enabled.shaderStorageTexelBufferArrayDynamicIndexing, "shaderStorageTexelBufferArrayDynamicIndexing", missing);
        take(wanted->shaderUniformBufferArrayNonUniformIndexing, have.shaderUniformBufferArrayNonUniformIndexing, enabled.shaderUniformBufferArrayNonUniformIndexing, "shaderUniformBufferArrayNonUniformIndexing", missing);
        take(wanted->shaderSampledImageArrayNonUniformIndexing, have.shaderSampledImageArrayNonUniformIndexing, enabled.shaderSampledImageArrayNonUniformIndexing, "shaderSampledImageArrayNonUniformIndexing", missing);
        take(wanted->shaderStorageBufferArrayNonUniformIndexing, have.shaderStorageBufferArrayNonUniformIndexing, enabled.shaderStorageBufferArrayNonUniformIndexing, "shaderStorageBufferArrayNonUniformIndexing", missing);
        take(wanted->shaderStorageImageArrayNonUniformIndexing, have.shaderStorageImageArrayNonUniformIndexing, enabled.shaderStorageImageArrayNonUniformIndexing, "shaderStorageImageArrayNonUniformIndexing", missing);
        take(wanted->shaderInputAttachmentArrayNonUniformIndexing, have.shaderInputAttachmentArrayNonUniformIndexing, enabled.shaderInputAttachmentArrayNonUniformIndexing, "shaderInputAttachmentArrayNonUniformIndexing", missing);
        take(wanted->shaderUniformTexelBufferArrayNonUniformIndexing, have.shaderUniformTexelBufferArrayNonUniformIndexing, enabled.shaderUniformTexelBufferArrayNonUniformIndexing, "shaderUniformTexelBufferArrayNonUniformIndexing", missing);
        take(wanted->shaderStorageTexelBufferArrayNonUniformIndexing, have.shaderStorageTexelBufferArrayNonUniformIndexing, enabled.shaderStorageTexelBufferArrayNonUniformIndexing, "shaderStorageTexelBufferArrayNonUniformIndexing", missing);
        take(wanted->descriptorBindingUniformBufferUpdateAfterBind, have.descriptorBindingUniformBufferUpdateAfterBind, enabled.descriptorBindingUniformBufferUpdateAfterBind, "descriptorBindingUniformBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingSampledImageUpdateAfterBind, have.descriptorBindingSampledImageUpdateAfterBind, enabled.descriptorBindingSampledImageUpdateAfterBind, "descriptorBindingSampledImageUpdateAfterBind", missing);
        take(wanted->descriptorBindingStorageImageUpdateAfterBind, have.descriptorBindingStorageImageUpdateAfterBind, enabled.descriptorBindingStorageImageUpdateAfterBind, "descriptorBindingStorageImageUpdateAfterBind", missing);
        take(wanted->descriptorBindingStorageBufferUpdateAfterBind, have.descriptorBindingStorageBufferUpdateAfterBind, enabled.descriptorBindingStorageBufferUpdateAfterBind, "descriptorBindingStorageBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingUniformTexelBufferUpdateAfterBind, have.descriptorBindingUniformTexelBufferUpdateAfterBind, enabled.descriptorBindingUniformTexelBufferUpdateAfterBind, "descriptorBindingUniformTexelBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingStorageTexelBufferUpdateAfterBind, have.descriptorBindingStorageTexelBufferUpdateAfterBind, enabled.descriptorBindingStorageTexelBufferUpdateAfterBind, "descriptorBindingStorageTexelBufferUpdateAfterBind", missing);
        take(wanted->descriptorBindingUpdateUnusedWhilePending, have.descriptorBindingUpdateUnusedWhilePending, enabled.descriptorBindingUpdateUnusedWhilePending, "descriptorBindingUpdateUnusedWhilePending", missing);
        take(wanted->descriptorBindingPartiallyBound, have.descriptorBindingPartiallyBound, enabled.descriptorBindingPartiallyBound, "descriptorBindingPartiallyBound", missing);
        take(wanted->descriptorBindingVariableDescriptorCount, have.descriptorBindingVariableDescriptorCount, enabled.descriptorBindingVariableDescriptorCount, "descriptorBindingVariableDescriptorCount", missing);
        take(wanted->runtimeDescriptorArray, have.runtimeDescriptorArray, enabled.runtimeDescriptorArray, "runtimeDescriptorArray", missing);
        take(wanted->samplerFilterMinmax, have.samplerFilterMinmax, enabled.samplerFilterMinmax, "samplerFilterMinmax", missing);
        take(wanted->scalarBlockLayout, have.scalarBlockLayout, enabled.scalarBlockLayout, "scalarBlockLayout", missing);
        take(wanted->imagelessFramebuffer, have.imagelessFramebuffer, enabled.imagelessFramebuffer, "imagelessFramebuffer", missing);
        take(wanted->uniformBufferStandardLayout, have.uniformBufferStandardLayout, enabled.uniformBufferStandardLayout, "uniformBufferStandardLayout", missing);
        take(wanted->shaderSubgroupExtendedTypes, have.shaderSubgroupExtendedTypes, enabled.shaderSubgroupExtendedTypes, "shaderSubgroupExtendedTypes", missing);
        take(wanted->separateDepthStencilLayouts, have.separateDepthStencilLayouts, enabled.separateDepthStencilLayouts, "separateDepthStencilLayouts", missing);
        take(wanted->hostQueryReset, have.hostQueryReset, enabled.hostQueryReset, "hostQueryReset", missing);
        take(wanted->timelineSemaphore, have.timelineSemaphore, enabled.timelineSemaphore, "timelineSemaphore", missing);
        take(wanted->bufferDeviceAddress, have.bufferDeviceAddress, enabled.bufferDeviceAddress, "bufferDeviceAddress", missing);
        take(wanted->bufferDeviceAddressCaptureReplay, have.bufferDeviceAddressCaptureReplay, enabled.bufferDeviceAddressCaptureReplay, "bufferDeviceAddressCaptureReplay", missing);
        take(wanted->bufferDeviceAddressMultiDevice, have.bufferDeviceAddressMultiDevice, enabled.bufferDeviceAddressMultiDevice, "bufferDeviceAddressMultiDevice", missing);
        take(wanted->vulkanMemoryModel, have.vulkanMemoryModel, enabled.vulkanMemoryModel, "vulkanMemoryModel", missing);
        take(wanted->vulkanMemoryModelDeviceScope, have.vulkanMemoryModelDeviceScope, enabled.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope", missing);
        take(wanted->vulkanMemoryModelAvailabilityVisibilityChains, have.vulkanMemoryModelAvailabilityVisibilityChains, enabled.vulkanMemoryModelAvailabilityVisibilityChains, "vulkanMemoryModelAvailabilityVisibilityChains", missing);
        take(wanted->shaderOutputViewportIndex, have.shaderOutputViewportIndex, enabled.shaderOutputViewportIndex, "shaderOutputViewportIndex", missing);
        take(wanted->shaderOutputLayer, have.shaderOutputLayer, enabled.shaderOutputLayer, "shaderOutputLayer", missing);
        take(wanted->subgroupBroadcastDynamicId, have.subgroupBroadcastDynamicId, enabled.subgroupBroadcastDynamicId, "subgroupBroadcastDynamicId", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVulkan13Features*>(base);
        take(wanted->robustImageAccess, have.robustImageAccess, enabled.robustImageAccess, "robustImageAccess", missing);
        take(wanted->inlineUniformBlock, have.inlineUniformBlock, enabled.inlineUniformBlock, "inlineUniformBlock", missing);
        take(wanted->descriptorBindingInlineUniformBlockUpdateAfterBind, have.descriptorBindingInlineUniformBlockUpdateAfterBind, enabled.descriptorBindingInlineUniformBlockUpdateAfterBind, "descriptorBindingInlineUniformBlockUpdateAfterBind", missing);
        take(wanted->pipelineCreationCacheControl, have.pipelineCreationCacheControl, enabled.pipelineCreationCacheControl, "pipelineCreationCacheControl", missing);
        take(wanted->privateData, have.privateData, enabled.privateData, "privateData", missing);
        take(wanted->shaderDemoteToHelperInvocation, have.shaderDemoteToHelperInvocation, enabled.shaderDemoteToHelperInvocation, "shaderDemoteToHelperInvocation", missing);
        take(wanted->shaderTerminateInvocation, have.shaderTerminateInvocation, enabled.shaderTerminateInvocation, "shaderTerminateInvocation", missing);
        take(wanted->subgroupSizeControl, have.subgroupSizeControl, enabled.subgroupSizeControl, "subgroupSizeControl", missing);
        take(wanted->computeFullSubgroups, have.computeFullSubgroups, enabled.computeFullSubgroups, "computeFullSubgroups", missing);
        take(wanted->synchronization2, have.synchronization2, enabled.synchronization2, "synchronization2", missing);
        take(wanted->textureCompressionASTC_HDR, have.textureCompressionASTC_HDR, enabled.textureCompressionASTC_HDR, "textureCompressionASTC_HDR", missing);
        take(wanted->shaderZeroInitializeWorkgroupMemory, have.shaderZeroInitializeWorkgroupMemory, enabled.shaderZeroInitializeWorkgroupMemory, "shaderZeroInitializeWorkgroupMemory", missing);
        take(wanted->dynamicRendering, have.dynamicRendering, enabled.dynamicRendering, "dynamicRendering", missing);
        take(wanted->shaderIntegerDotProduct, have.shaderIntegerDotProduct, enabled.shaderIntegerDotProduct, "shaderIntegerDotProduct", missing);
        take(wanted->maintenance4, have.maintenance4, enabled.maintenance4, "maintenance4", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVulkan14Features*>(base);
        take(wanted->globalPriorityQuery, have.globalPriorityQuery, enabled.globalPriorityQuery, "globalPriorityQuery", missing);
        take(wanted->shaderSubgroupRotate, have.shaderSubgroupRotate, enabled.shaderSubgroupRotate, "shaderSubgroupRotate", missing);
        take(wanted->shaderSubgroupRotateClustered, have.shaderSubgroupRotateClustered, enabled.shaderSubgroupRotateClustered, "shaderSubgroupRotateClustered", missing);
        take(wanted->shaderFloatControls2, have.shaderFloatControls2, enabled.shaderFloatControls2, "shaderFloatControls2", missing);
        take(wanted->shaderExpectAssume, have.shaderExpectAssume, enabled.shaderExpectAssume, "shaderExpectAssume", missing);
        take(wanted->rectangularLines, have.rectangularLines, enabled.rectangularLines, "rectangularLines", missing);
        take(wanted->bresenhamLines, have.bresenhamLines, enabled.bresenhamLines, "bresenhamLines", missing);
        take(wanted->smoothLines, have.smoothLines, enabled.smoothLines, "smoothLines", missing);
        take(wanted->stippledRectangularLines, have.stippledRectangularLines, enabled.stippledRectangularLines, "stippledRectangularLines", missing);
        take(wanted->stippledBresenhamLines, have.stippledBresenhamLines, enabled.stippledBresenhamLines, "stippledBresenhamLines", missing);
        take(wanted->stippledSmoothLines, have.stippledSmoothLines, enabled.stippledSmoothLines, "stippledSmoothLines", missing);
        take(wanted->vertexAttributeInstanceRateDivisor, have.vertexAttributeInstanceRateDivisor, enabled.vertexAttributeInstanceRateDivisor, "vertexAttributeInstanceRateDivisor", missing);
        take(wanted->vertexAttributeInstanceRateZeroDivisor, have.vertexAttributeInstanceRateZeroDivisor, enabled.vertexAttributeInstanceRateZeroDivisor, "vertexAttributeInstanceRateZeroDivisor", missing);
        take(wanted->indexTypeUint8, have.indexTypeUint8, enabled.indexTypeUint8, "indexTypeUint8", missing);
        take(wanted->dynamicRenderingLocalRead, have.dynamicRenderingLocalRead, enabled.dynamicRenderingLocalRead, "dynamicRenderingLocalRead", missing);
        take(wanted->maintenance5, have.maintenance5, enabled.maintenance5, "maintenance5", missing);
        take(wanted->maintenance6, have.maintenance6, enabled.maintenance6, "maintenance6", missing);
        take(wanted->pipelineProtectedAccess, have.pipelineProtectedAccess, enabled.pipelineProtectedAccess, "pipelineProtectedAccess", missing);
        take(wanted->pipelineRobustness, have.pipelineRobustness, enabled.pipelineRobustness, "pipelineRobustness", missing);
        take(wanted->hostImageCopy, have.hostImageCopy, enabled.hostImageCopy, "hostImageCopy", missing);
        take(wanted->pushDescriptor, have.pushDescriptor, enabled.pushDescriptor, "pushDescriptor", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceVulkanMemoryModelFeatures*>(base);
        take(wanted->vulkanMemoryModel, have.vulkanMemoryModel, enabled.vulkanMemoryModel, "vulkanMemoryModel", missing);
        take(wanted->vulkanMemoryModelDeviceScope, have.vulkanMemoryModelDeviceScope, enabled.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope", missing);
        take(wanted->vulkanMemoryModelAvailabilityVisibilityChains, have.vulkanMemoryModelAvailabilityVisibilityChains, enabled.vulkanMemoryModelAvailabilityVisibilityChains, "vulkanMemoryModelAvailabilityVisibilityChains", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR*>(base);
        take(wanted->workgroupMemoryExplicitLayout, have.workgroupMemoryExplicitLayout, enabled.workgroupMemoryExplicitLayout, "workgroupMemoryExplicitLayout", missing);
        take(wanted->workgroupMemoryExplicitLayoutScalarBlockLayout, have.workgroupMemoryExplicitLayoutScalarBlockLayout, enabled.workgroupMemoryExplicitLayoutScalarBlockLayout, "workgroupMemoryExplicitLayoutScalarBlockLayout", missing);
        take(wanted->workgroupMemoryExplicitLayout8BitAccess, have.workgroupMemoryExplicitLayout8BitAccess, enabled.workgroupMemoryExplicitLayout8BitAccess, "workgroupMemoryExplicitLayout8BitAccess", missing);
        take(wanted->workgroupMemoryExplicitLayout16BitAccess, have.workgroupMemoryExplicitLayout16BitAccess, enabled.workgroupMemoryExplicitLayout16BitAccess, "workgroupMemoryExplicitLayout16BitAccess", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_YCBCR_2_PLANE_444_FORMATS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT*>(base);
        take(wanted->ycbcr2plane444Formats, have.ycbcr2plane444Formats, enabled.ycbcr2plane444Formats, "ycbcr2plane444Formats", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_YCBCR_IMAGE_ARRAYS_FEATURES_EXT: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceYcbcrImageArraysFeaturesEXT*>(base);
        take(wanted->ycbcrImageArrays, have.ycbcrImageArrays, enabled.ycbcrImageArrays, "ycbcrImageArrays", missing);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES: {
        auto* wanted = reinterpret_cast<const VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures*>(base);
        take(wanted->shaderZeroInitializeWorkgroupMemory, have.shaderZeroInitializeWorkgroupMemory, enabled.shaderZeroInitializeWorkgroupMemory, "shaderZeroInitializeWorkgroupMemory", missing);
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace tilegpu::icd
