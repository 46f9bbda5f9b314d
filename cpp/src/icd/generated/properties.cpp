// icd/generated/properties.cpp -- Vulkan's structures of properties, filled.
//
// Made by scripts/generate_icd.py from the Vulkan registry, header version 309; not edited by hand.
#include "icd/generated/properties.hpp"

#include <cstring>

#include "vk/given.hpp"

namespace tilegpu::icd {

// NOLINTNEXTLINE(readability-function-size): one switch
void fill(void* next, const Properties& have) {
  for (auto* base = static_cast<VkBaseOutStructure*>(next); base; base = base->pNext) {
    switch (vk::given(base->sType)) {
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceAccelerationStructurePropertiesKHR*>(base);
        out->maxGeometryCount = have.maxGeometryCount;
        out->maxInstanceCount = have.maxInstanceCount;
        out->maxPrimitiveCount = have.maxPrimitiveCount;
        out->maxPerStageDescriptorAccelerationStructures = have.maxPerStageDescriptorAccelerationStructures;
        out->maxPerStageDescriptorUpdateAfterBindAccelerationStructures = have.maxPerStageDescriptorUpdateAfterBindAccelerationStructures;
        out->maxDescriptorSetAccelerationStructures = have.maxDescriptorSetAccelerationStructures;
        out->maxDescriptorSetUpdateAfterBindAccelerationStructures = have.maxDescriptorSetUpdateAfterBindAccelerationStructures;
        out->minAccelerationStructureScratchOffsetAlignment = have.minAccelerationStructureScratchOffsetAlignment;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceBlendOperationAdvancedPropertiesEXT*>(base);
        out->advancedBlendMaxColorAttachments = have.advancedBlendMaxColorAttachments;
        out->advancedBlendIndependentBlend = have.advancedBlendIndependentBlend;
        out->advancedBlendNonPremultipliedSrcColor = have.advancedBlendNonPremultipliedSrcColor;
        out->advancedBlendNonPremultipliedDstColor = have.advancedBlendNonPremultipliedDstColor;
        out->advancedBlendCorrelatedOverlap = have.advancedBlendCorrelatedOverlap;
        out->advancedBlendAllOperations = have.advancedBlendAllOperations;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceComputeShaderDerivativesPropertiesKHR*>(base);
        out->meshAndTaskShaderDerivatives = have.meshAndTaskShaderDerivatives;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONSERVATIVE_RASTERIZATION_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceConservativeRasterizationPropertiesEXT*>(base);
        out->primitiveOverestimationSize = have.primitiveOverestimationSize;
        out->maxExtraPrimitiveOverestimationSize = have.maxExtraPrimitiveOverestimationSize;
        out->extraPrimitiveOverestimationSizeGranularity = have.extraPrimitiveOverestimationSizeGranularity;
        out->primitiveUnderestimation = have.primitiveUnderestimation;
        out->conservativePointAndLineRasterization = have.conservativePointAndLineRasterization;
        out->degenerateTrianglesRasterized = have.degenerateTrianglesRasterized;
        out->degenerateLinesRasterized = have.degenerateLinesRasterized;
        out->fullyCoveredFragmentShaderInputVariable = have.fullyCoveredFragmentShaderInputVariable;
        out->conservativeRasterizationPostDepthCoverage = have.conservativeRasterizationPostDepthCoverage;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceCooperativeMatrixPropertiesKHR*>(base);
        out->cooperativeMatrixSupportedStages = have.cooperativeMatrixSupportedStages;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceCustomBorderColorPropertiesEXT*>(base);
        out->maxCustomBorderColorSamplers = have.maxCustomBorderColorSamplers;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_STENCIL_RESOLVE_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDepthStencilResolveProperties*>(base);
        out->supportedDepthResolveModes = have.supportedDepthResolveModes;
        out->supportedStencilResolveModes = have.supportedStencilResolveModes;
        out->independentResolveNone = have.independentResolveNone;
        out->independentResolve = have.independentResolve;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_DENSITY_MAP_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDescriptorBufferDensityMapPropertiesEXT*>(base);
        out->combinedImageSamplerDensityMapDescriptorSize = have.combinedImageSamplerDensityMapDescriptorSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDescriptorBufferPropertiesEXT*>(base);
        out->combinedImageSamplerDescriptorSingleArray = have.combinedImageSamplerDescriptorSingleArray;
        out->bufferlessPushDescriptors = have.bufferlessPushDescriptors;
        out->allowSamplerImageViewPostSubmitCreation = have.allowSamplerImageViewPostSubmitCreation;
        out->descriptorBufferOffsetAlignment = have.descriptorBufferOffsetAlignment;
        out->maxDescriptorBufferBindings = have.maxDescriptorBufferBindings;
        out->maxResourceDescriptorBufferBindings = have.maxResourceDescriptorBufferBindings;
        out->maxSamplerDescriptorBufferBindings = have.maxSamplerDescriptorBufferBindings;
        out->maxEmbeddedImmutableSamplerBindings = have.maxEmbeddedImmutableSamplerBindings;
        out->maxEmbeddedImmutableSamplers = have.maxEmbeddedImmutableSamplers;
        out->bufferCaptureReplayDescriptorDataSize = have.bufferCaptureReplayDescriptorDataSize;
        out->imageCaptureReplayDescriptorDataSize = have.imageCaptureReplayDescriptorDataSize;
        out->imageViewCaptureReplayDescriptorDataSize = have.imageViewCaptureReplayDescriptorDataSize;
        out->samplerCaptureReplayDescriptorDataSize = have.samplerCaptureReplayDescriptorDataSize;
        out->accelerationStructureCaptureReplayDescriptorDataSize = have.accelerationStructureCaptureReplayDescriptorDataSize;
        out->samplerDescriptorSize = have.samplerDescriptorSize;
        out->combinedImageSamplerDescriptorSize = have.combinedImageSamplerDescriptorSize;
        out->sampledImageDescriptorSize = have.sampledImageDescriptorSize;
        out->storageImageDescriptorSize = have.storageImageDescriptorSize;
        out->uniformTexelBufferDescriptorSize = have.uniformTexelBufferDescriptorSize;
        out->robustUniformTexelBufferDescriptorSize = have.robustUniformTexelBufferDescriptorSize;
        out->storageTexelBufferDescriptorSize = have.storageTexelBufferDescriptorSize;
        out->robustStorageTexelBufferDescriptorSize = have.robustStorageTexelBufferDescriptorSize;
        out->uniformBufferDescriptorSize = have.uniformBufferDescriptorSize;
        out->robustUniformBufferDescriptorSize = have.robustUniformBufferDescriptorSize;
        out->storageBufferDescriptorSize = have.storageBufferDescriptorSize;
        out->robustStorageBufferDescriptorSize = have.robustStorageBufferDescriptorSize;
        out->inputAttachmentDescriptorSize = have.inputAttachmentDescriptorSize;
        out->accelerationStructureDescriptorSize = have.accelerationStructureDescriptorSize;
        out->maxSamplerDescriptorBufferRange = have.maxSamplerDescriptorBufferRange;
        out->maxResourceDescriptorBufferRange = have.maxResourceDescriptorBufferRange;
        out->samplerDescriptorBufferAddressSpaceSize = have.samplerDescriptorBufferAddressSpaceSize;
        out->resourceDescriptorBufferAddressSpaceSize = have.resourceDescriptorBufferAddressSpaceSize;
        out->descriptorBufferAddressSpaceSize = have.descriptorBufferAddressSpaceSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDescriptorIndexingProperties*>(base);
        out->maxUpdateAfterBindDescriptorsInAllPools = have.maxUpdateAfterBindDescriptorsInAllPools;
        out->shaderUniformBufferArrayNonUniformIndexingNative = have.shaderUniformBufferArrayNonUniformIndexingNative;
        out->shaderSampledImageArrayNonUniformIndexingNative = have.shaderSampledImageArrayNonUniformIndexingNative;
        out->shaderStorageBufferArrayNonUniformIndexingNative = have.shaderStorageBufferArrayNonUniformIndexingNative;
        out->shaderStorageImageArrayNonUniformIndexingNative = have.shaderStorageImageArrayNonUniformIndexingNative;
        out->shaderInputAttachmentArrayNonUniformIndexingNative = have.shaderInputAttachmentArrayNonUniformIndexingNative;
        out->robustBufferAccessUpdateAfterBind = have.robustBufferAccessUpdateAfterBind;
        out->quadDivergentImplicitLod = have.quadDivergentImplicitLod;
        out->maxPerStageDescriptorUpdateAfterBindSamplers = have.maxPerStageDescriptorUpdateAfterBindSamplers;
        out->maxPerStageDescriptorUpdateAfterBindUniformBuffers = have.maxPerStageDescriptorUpdateAfterBindUniformBuffers;
        out->maxPerStageDescriptorUpdateAfterBindStorageBuffers = have.maxPerStageDescriptorUpdateAfterBindStorageBuffers;
        out->maxPerStageDescriptorUpdateAfterBindSampledImages = have.maxPerStageDescriptorUpdateAfterBindSampledImages;
        out->maxPerStageDescriptorUpdateAfterBindStorageImages = have.maxPerStageDescriptorUpdateAfterBindStorageImages;
        out->maxPerStageDescriptorUpdateAfterBindInputAttachments = have.maxPerStageDescriptorUpdateAfterBindInputAttachments;
        out->maxPerStageUpdateAfterBindResources = have.maxPerStageUpdateAfterBindResources;
        out->maxDescriptorSetUpdateAfterBindSamplers = have.maxDescriptorSetUpdateAfterBindSamplers;
        out->maxDescriptorSetUpdateAfterBindUniformBuffers = have.maxDescriptorSetUpdateAfterBindUniformBuffers;
        out->maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = have.maxDescriptorSetUpdateAfterBindUniformBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindStorageBuffers = have.maxDescriptorSetUpdateAfterBindStorageBuffers;
        out->maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = have.maxDescriptorSetUpdateAfterBindStorageBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindSampledImages = have.maxDescriptorSetUpdateAfterBindSampledImages;
        out->maxDescriptorSetUpdateAfterBindStorageImages = have.maxDescriptorSetUpdateAfterBindStorageImages;
        out->maxDescriptorSetUpdateAfterBindInputAttachments = have.maxDescriptorSetUpdateAfterBindInputAttachments;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_GENERATED_COMMANDS_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDeviceGeneratedCommandsPropertiesEXT*>(base);
        out->maxIndirectPipelineCount = have.maxIndirectPipelineCount;
        out->maxIndirectShaderObjectCount = have.maxIndirectShaderObjectCount;
        out->maxIndirectSequenceCount = have.maxIndirectSequenceCount;
        out->maxIndirectCommandsTokenCount = have.maxIndirectCommandsTokenCount;
        out->maxIndirectCommandsTokenOffset = have.maxIndirectCommandsTokenOffset;
        out->maxIndirectCommandsIndirectStride = have.maxIndirectCommandsIndirectStride;
        out->supportedIndirectCommandsInputModes = have.supportedIndirectCommandsInputModes;
        out->supportedIndirectCommandsShaderStages = have.supportedIndirectCommandsShaderStages;
        out->supportedIndirectCommandsShaderStagesPipelineBinding = have.supportedIndirectCommandsShaderStagesPipelineBinding;
        out->supportedIndirectCommandsShaderStagesShaderBinding = have.supportedIndirectCommandsShaderStagesShaderBinding;
        out->deviceGeneratedCommandsTransformFeedback = have.deviceGeneratedCommandsTransformFeedback;
        out->deviceGeneratedCommandsMultiDrawIndirectCount = have.deviceGeneratedCommandsMultiDrawIndirectCount;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DISCARD_RECTANGLE_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDiscardRectanglePropertiesEXT*>(base);
        out->maxDiscardRectangles = have.maxDiscardRectangles;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDriverProperties*>(base);
        out->driverID = have.driverID;
        std::memcpy(out->driverName, have.driverName, sizeof out->driverName);
        std::memcpy(out->driverInfo, have.driverInfo, sizeof out->driverInfo);
        out->conformanceVersion = have.conformanceVersion;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceDrmPropertiesEXT*>(base);
        out->hasPrimary = have.hasPrimary;
        out->hasRender = have.hasRender;
        out->primaryMajor = have.primaryMajor;
        out->primaryMinor = have.primaryMinor;
        out->renderMajor = have.renderMajor;
        out->renderMinor = have.renderMinor;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceExtendedDynamicState3PropertiesEXT*>(base);
        out->dynamicPrimitiveTopologyUnrestricted = have.dynamicPrimitiveTopologyUnrestricted;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceExternalMemoryHostPropertiesEXT*>(base);
        out->minImportedHostPointerAlignment = have.minImportedHostPointerAlignment;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFloatControlsProperties*>(base);
        out->denormBehaviorIndependence = have.denormBehaviorIndependence;
        out->roundingModeIndependence = have.roundingModeIndependence;
        out->shaderSignedZeroInfNanPreserveFloat16 = have.shaderSignedZeroInfNanPreserveFloat16;
        out->shaderSignedZeroInfNanPreserveFloat32 = have.shaderSignedZeroInfNanPreserveFloat32;
        out->shaderSignedZeroInfNanPreserveFloat64 = have.shaderSignedZeroInfNanPreserveFloat64;
        out->shaderDenormPreserveFloat16 = have.shaderDenormPreserveFloat16;
        out->shaderDenormPreserveFloat32 = have.shaderDenormPreserveFloat32;
        out->shaderDenormPreserveFloat64 = have.shaderDenormPreserveFloat64;
        out->shaderDenormFlushToZeroFloat16 = have.shaderDenormFlushToZeroFloat16;
        out->shaderDenormFlushToZeroFloat32 = have.shaderDenormFlushToZeroFloat32;
        out->shaderDenormFlushToZeroFloat64 = have.shaderDenormFlushToZeroFloat64;
        out->shaderRoundingModeRTEFloat16 = have.shaderRoundingModeRTEFloat16;
        out->shaderRoundingModeRTEFloat32 = have.shaderRoundingModeRTEFloat32;
        out->shaderRoundingModeRTEFloat64 = have.shaderRoundingModeRTEFloat64;
        out->shaderRoundingModeRTZFloat16 = have.shaderRoundingModeRTZFloat16;
        out->shaderRoundingModeRTZFloat32 = have.shaderRoundingModeRTZFloat32;
        out->shaderRoundingModeRTZFloat64 = have.shaderRoundingModeRTZFloat64;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_2_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentDensityMap2PropertiesEXT*>(base);
        out->subsampledLoads = have.subsampledLoads;
        out->subsampledCoarseReconstructionEarlyAccess = have.subsampledCoarseReconstructionEarlyAccess;
        out->maxSubsampledArrayLayers = have.maxSubsampledArrayLayers;
        out->maxDescriptorSetSubsampledSamplers = have.maxDescriptorSetSubsampledSamplers;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentDensityMapPropertiesEXT*>(base);
        out->minFragmentDensityTexelSize = have.minFragmentDensityTexelSize;
        out->maxFragmentDensityTexelSize = have.maxFragmentDensityTexelSize;
        out->fragmentDensityInvocations = have.fragmentDensityInvocations;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_BARYCENTRIC_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentShaderBarycentricPropertiesKHR*>(base);
        out->triStripVertexOrderIndependentOfProvokingVertex = have.triStripVertexOrderIndependentOfProvokingVertex;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceFragmentShadingRatePropertiesKHR*>(base);
        out->minFragmentShadingRateAttachmentTexelSize = have.minFragmentShadingRateAttachmentTexelSize;
        out->maxFragmentShadingRateAttachmentTexelSize = have.maxFragmentShadingRateAttachmentTexelSize;
        out->maxFragmentShadingRateAttachmentTexelSizeAspectRatio = have.maxFragmentShadingRateAttachmentTexelSizeAspectRatio;
        out->primitiveFragmentShadingRateWithMultipleViewports = have.primitiveFragmentShadingRateWithMultipleViewports;
        out->layeredShadingRateAttachments = have.layeredShadingRateAttachments;
        out->fragmentShadingRateNonTrivialCombinerOps = have.fragmentShadingRateNonTrivialCombinerOps;
        out->maxFragmentSize = have.maxFragmentSize;
        out->maxFragmentSizeAspectRatio = have.maxFragmentSizeAspectRatio;
        out->maxFragmentShadingRateCoverageSamples = have.maxFragmentShadingRateCoverageSamples;
        out->maxFragmentShadingRateRasterizationSamples = have.maxFragmentShadingRateRasterizationSamples;
        out->fragmentShadingRateWithShaderDepthStencilWrites = have.fragmentShadingRateWithShaderDepthStencilWrites;
        out->fragmentShadingRateWithSampleMask = have.fragmentShadingRateWithSampleMask;
        out->fragmentShadingRateWithShaderSampleMask = have.fragmentShadingRateWithShaderSampleMask;
        out->fragmentShadingRateWithConservativeRasterization = have.fragmentShadingRateWithConservativeRasterization;
        out->fragmentShadingRateWithFragmentShaderInterlock = have.fragmentShadingRateWithFragmentShaderInterlock;
        out->fragmentShadingRateWithCustomSampleLocations = have.fragmentShadingRateWithCustomSampleLocations;
        out->fragmentShadingRateStrictMultiplyCombiner = have.fragmentShadingRateStrictMultiplyCombiner;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceGraphicsPipelineLibraryPropertiesEXT*>(base);
        out->graphicsPipelineLibraryFastLinking = have.graphicsPipelineLibraryFastLinking;
        out->graphicsPipelineLibraryIndependentInterpolationDecoration = have.graphicsPipelineLibraryIndependentInterpolationDecoration;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceHostImageCopyProperties*>(base);
        std::memcpy(out->optimalTilingLayoutUUID, have.optimalTilingLayoutUUID, sizeof out->optimalTilingLayoutUUID);
        out->identicalMemoryTypeRequirements = have.identicalMemoryTypeRequirements;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceIDProperties*>(base);
        std::memcpy(out->deviceUUID, have.deviceUUID, sizeof out->deviceUUID);
        std::memcpy(out->driverUUID, have.driverUUID, sizeof out->driverUUID);
        std::memcpy(out->deviceLUID, have.deviceLUID, sizeof out->deviceLUID);
        out->deviceNodeMask = have.deviceNodeMask;
        out->deviceLUIDValid = have.deviceLUIDValid;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceInlineUniformBlockProperties*>(base);
        out->maxInlineUniformBlockSize = have.maxInlineUniformBlockSize;
        out->maxPerStageDescriptorInlineUniformBlocks = have.maxPerStageDescriptorInlineUniformBlocks;
        out->maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks = have.maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks;
        out->maxDescriptorSetInlineUniformBlocks = have.maxDescriptorSetInlineUniformBlocks;
        out->maxDescriptorSetUpdateAfterBindInlineUniformBlocks = have.maxDescriptorSetUpdateAfterBindInlineUniformBlocks;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LEGACY_VERTEX_ATTRIBUTES_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceLegacyVertexAttributesPropertiesEXT*>(base);
        out->nativeUnalignedPerformance = have.nativeUnalignedPerformance;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceLineRasterizationProperties*>(base);
        out->lineSubPixelPrecisionBits = have.lineSubPixelPrecisionBits;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(base);
        out->maxPerSetDescriptors = have.maxPerSetDescriptors;
        out->maxMemoryAllocationSize = have.maxMemoryAllocationSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance4Properties*>(base);
        out->maxBufferSize = have.maxBufferSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance5Properties*>(base);
        out->earlyFragmentMultisampleCoverageAfterSampleCounting = have.earlyFragmentMultisampleCoverageAfterSampleCounting;
        out->earlyFragmentSampleMaskTestBeforeSampleCounting = have.earlyFragmentSampleMaskTestBeforeSampleCounting;
        out->depthStencilSwizzleOneSupport = have.depthStencilSwizzleOneSupport;
        out->polygonModePointSize = have.polygonModePointSize;
        out->nonStrictSinglePixelWideLinesUseParallelogram = have.nonStrictSinglePixelWideLinesUseParallelogram;
        out->nonStrictWideLinesUseParallelogram = have.nonStrictWideLinesUseParallelogram;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_6_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance6Properties*>(base);
        out->blockTexelViewCompatibleMultipleLayers = have.blockTexelViewCompatibleMultipleLayers;
        out->maxCombinedImageSamplerDescriptorCount = have.maxCombinedImageSamplerDescriptorCount;
        out->fragmentShadingRateClampCombinerInputs = have.fragmentShadingRateClampCombinerInputs;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_7_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMaintenance7PropertiesKHR*>(base);
        out->robustFragmentShadingRateAttachmentAccess = have.robustFragmentShadingRateAttachmentAccess;
        out->separateDepthStencilAttachmentAccess = have.separateDepthStencilAttachmentAccess;
        out->maxDescriptorSetTotalUniformBuffersDynamic = have.maxDescriptorSetTotalUniformBuffersDynamic;
        out->maxDescriptorSetTotalStorageBuffersDynamic = have.maxDescriptorSetTotalStorageBuffersDynamic;
        out->maxDescriptorSetTotalBuffersDynamic = have.maxDescriptorSetTotalBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindTotalUniformBuffersDynamic = have.maxDescriptorSetUpdateAfterBindTotalUniformBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindTotalStorageBuffersDynamic = have.maxDescriptorSetUpdateAfterBindTotalStorageBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindTotalBuffersDynamic = have.maxDescriptorSetUpdateAfterBindTotalBuffersDynamic;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAP_MEMORY_PLACED_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMapMemoryPlacedPropertiesEXT*>(base);
        out->minPlacedMemoryMapAlignment = have.minPlacedMemoryMapAlignment;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMeshShaderPropertiesEXT*>(base);
        out->maxTaskWorkGroupTotalCount = have.maxTaskWorkGroupTotalCount;
        std::memcpy(out->maxTaskWorkGroupCount, have.maxTaskWorkGroupCount, sizeof out->maxTaskWorkGroupCount);
        out->maxTaskWorkGroupInvocations = have.maxTaskWorkGroupInvocations;
        std::memcpy(out->maxTaskWorkGroupSize, have.maxTaskWorkGroupSize, sizeof out->maxTaskWorkGroupSize);
        out->maxTaskPayloadSize = have.maxTaskPayloadSize;
        out->maxTaskSharedMemorySize = have.maxTaskSharedMemorySize;
        out->maxTaskPayloadAndSharedMemorySize = have.maxTaskPayloadAndSharedMemorySize;
        out->maxMeshWorkGroupTotalCount = have.maxMeshWorkGroupTotalCount;
        std::memcpy(out->maxMeshWorkGroupCount, have.maxMeshWorkGroupCount, sizeof out->maxMeshWorkGroupCount);
        out->maxMeshWorkGroupInvocations = have.maxMeshWorkGroupInvocations;
        std::memcpy(out->maxMeshWorkGroupSize, have.maxMeshWorkGroupSize, sizeof out->maxMeshWorkGroupSize);
        out->maxMeshSharedMemorySize = have.maxMeshSharedMemorySize;
        out->maxMeshPayloadAndSharedMemorySize = have.maxMeshPayloadAndSharedMemorySize;
        out->maxMeshOutputMemorySize = have.maxMeshOutputMemorySize;
        out->maxMeshPayloadAndOutputMemorySize = have.maxMeshPayloadAndOutputMemorySize;
        out->maxMeshOutputComponents = have.maxMeshOutputComponents;
        out->maxMeshOutputVertices = have.maxMeshOutputVertices;
        out->maxMeshOutputPrimitives = have.maxMeshOutputPrimitives;
        out->maxMeshOutputLayers = have.maxMeshOutputLayers;
        out->maxMeshMultiviewViewCount = have.maxMeshMultiviewViewCount;
        out->meshOutputPerVertexGranularity = have.meshOutputPerVertexGranularity;
        out->meshOutputPerPrimitiveGranularity = have.meshOutputPerPrimitiveGranularity;
        out->maxPreferredTaskWorkGroupInvocations = have.maxPreferredTaskWorkGroupInvocations;
        out->maxPreferredMeshWorkGroupInvocations = have.maxPreferredMeshWorkGroupInvocations;
        out->prefersLocalInvocationVertexOutput = have.prefersLocalInvocationVertexOutput;
        out->prefersLocalInvocationPrimitiveOutput = have.prefersLocalInvocationPrimitiveOutput;
        out->prefersCompactVertexOutput = have.prefersCompactVertexOutput;
        out->prefersCompactPrimitiveOutput = have.prefersCompactPrimitiveOutput;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMultiDrawPropertiesEXT*>(base);
        out->maxMultiDrawCount = have.maxMultiDrawCount;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceMultiviewProperties*>(base);
        out->maxMultiviewViewCount = have.maxMultiviewViewCount;
        out->maxMultiviewInstanceIndex = have.maxMultiviewInstanceIndex;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceNestedCommandBufferPropertiesEXT*>(base);
        out->maxCommandBufferNestingLevel = have.maxCommandBufferNestingLevel;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_OPACITY_MICROMAP_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceOpacityMicromapPropertiesEXT*>(base);
        out->maxOpacity2StateSubdivisionLevel = have.maxOpacity2StateSubdivisionLevel;
        out->maxOpacity4StateSubdivisionLevel = have.maxOpacity4StateSubdivisionLevel;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDevicePCIBusInfoPropertiesEXT*>(base);
        out->pciDomain = have.pciDomain;
        out->pciBus = have.pciBus;
        out->pciDevice = have.pciDevice;
        out->pciFunction = have.pciFunction;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePerformanceQueryPropertiesKHR*>(base);
        out->allowCommandBufferQueryCopies = have.allowCommandBufferQueryCopies;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_BINARY_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineBinaryPropertiesKHR*>(base);
        out->pipelineBinaryInternalCache = have.pipelineBinaryInternalCache;
        out->pipelineBinaryInternalCacheControl = have.pipelineBinaryInternalCacheControl;
        out->pipelineBinaryPrefersInternalCache = have.pipelineBinaryPrefersInternalCache;
        out->pipelineBinaryPrecompiledInternalCache = have.pipelineBinaryPrecompiledInternalCache;
        out->pipelineBinaryCompressedData = have.pipelineBinaryCompressedData;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePipelineRobustnessProperties*>(base);
        out->defaultRobustnessStorageBuffers = have.defaultRobustnessStorageBuffers;
        out->defaultRobustnessUniformBuffers = have.defaultRobustnessUniformBuffers;
        out->defaultRobustnessVertexInputs = have.defaultRobustnessVertexInputs;
        out->defaultRobustnessImages = have.defaultRobustnessImages;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_POINT_CLIPPING_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePointClippingProperties*>(base);
        out->pointClippingBehavior = have.pointClippingBehavior;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceProtectedMemoryProperties*>(base);
        out->protectedNoFault = have.protectedNoFault;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceProvokingVertexPropertiesEXT*>(base);
        out->provokingVertexModePerPipeline = have.provokingVertexModePerPipeline;
        out->transformFeedbackPreservesTriangleFanProvokingVertex = have.transformFeedbackPreservesTriangleFanProvokingVertex;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDevicePushDescriptorProperties*>(base);
        out->maxPushDescriptors = have.maxPushDescriptors;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRayTracingPipelinePropertiesKHR*>(base);
        out->shaderGroupHandleSize = have.shaderGroupHandleSize;
        out->maxRayRecursionDepth = have.maxRayRecursionDepth;
        out->maxShaderGroupStride = have.maxShaderGroupStride;
        out->shaderGroupBaseAlignment = have.shaderGroupBaseAlignment;
        out->shaderGroupHandleCaptureReplaySize = have.shaderGroupHandleCaptureReplaySize;
        out->maxRayDispatchInvocationCount = have.maxRayDispatchInvocationCount;
        out->shaderGroupHandleAlignment = have.shaderGroupHandleAlignment;
        out->maxRayHitAttributeSize = have.maxRayHitAttributeSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceRobustness2PropertiesEXT*>(base);
        out->robustStorageBufferAccessSizeAlignment = have.robustStorageBufferAccessSizeAlignment;
        out->robustUniformBufferAccessSizeAlignment = have.robustUniformBufferAccessSizeAlignment;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLE_LOCATIONS_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSampleLocationsPropertiesEXT*>(base);
        out->sampleLocationSampleCounts = have.sampleLocationSampleCounts;
        out->maxSampleLocationGridSize = have.maxSampleLocationGridSize;
        std::memcpy(out->sampleLocationCoordinateRange, have.sampleLocationCoordinateRange, sizeof out->sampleLocationCoordinateRange);
        out->sampleLocationSubPixelBits = have.sampleLocationSubPixelBits;
        out->variableSampleLocations = have.variableSampleLocations;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_FILTER_MINMAX_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSamplerFilterMinmaxProperties*>(base);
        out->filterMinmaxSingleComponentFormats = have.filterMinmaxSingleComponentFormats;
        out->filterMinmaxImageComponentMapping = have.filterMinmaxImageComponentMapping;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderIntegerDotProductProperties*>(base);
        out->integerDotProduct8BitUnsignedAccelerated = have.integerDotProduct8BitUnsignedAccelerated;
        out->integerDotProduct8BitSignedAccelerated = have.integerDotProduct8BitSignedAccelerated;
        out->integerDotProduct8BitMixedSignednessAccelerated = have.integerDotProduct8BitMixedSignednessAccelerated;
        out->integerDotProduct4x8BitPackedUnsignedAccelerated = have.integerDotProduct4x8BitPackedUnsignedAccelerated;
        out->integerDotProduct4x8BitPackedSignedAccelerated = have.integerDotProduct4x8BitPackedSignedAccelerated;
        out->integerDotProduct4x8BitPackedMixedSignednessAccelerated = have.integerDotProduct4x8BitPackedMixedSignednessAccelerated;
        out->integerDotProduct16BitUnsignedAccelerated = have.integerDotProduct16BitUnsignedAccelerated;
        out->integerDotProduct16BitSignedAccelerated = have.integerDotProduct16BitSignedAccelerated;
        out->integerDotProduct16BitMixedSignednessAccelerated = have.integerDotProduct16BitMixedSignednessAccelerated;
        out->integerDotProduct32BitUnsignedAccelerated = have.integerDotProduct32BitUnsignedAccelerated;
        out->integerDotProduct32BitSignedAccelerated = have.integerDotProduct32BitSignedAccelerated;
        out->integerDotProduct32BitMixedSignednessAccelerated = have.integerDotProduct32BitMixedSignednessAccelerated;
        out->integerDotProduct64BitUnsignedAccelerated = have.integerDotProduct64BitUnsignedAccelerated;
        out->integerDotProduct64BitSignedAccelerated = have.integerDotProduct64BitSignedAccelerated;
        out->integerDotProduct64BitMixedSignednessAccelerated = have.integerDotProduct64BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating8BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating8BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating8BitSignedAccelerated = have.integerDotProductAccumulatingSaturating8BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated = have.integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated = have.integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated;
        out->integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating16BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating16BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating16BitSignedAccelerated = have.integerDotProductAccumulatingSaturating16BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating32BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating32BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating32BitSignedAccelerated = have.integerDotProductAccumulatingSaturating32BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating64BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating64BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating64BitSignedAccelerated = have.integerDotProductAccumulatingSaturating64BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MODULE_IDENTIFIER_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderModuleIdentifierPropertiesEXT*>(base);
        std::memcpy(out->shaderModuleIdentifierAlgorithmUUID, have.shaderModuleIdentifierAlgorithmUUID, sizeof out->shaderModuleIdentifierAlgorithmUUID);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderObjectPropertiesEXT*>(base);
        std::memcpy(out->shaderBinaryUUID, have.shaderBinaryUUID, sizeof out->shaderBinaryUUID);
        out->shaderBinaryVersion = have.shaderBinaryVersion;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_TILE_IMAGE_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceShaderTileImagePropertiesEXT*>(base);
        out->shaderTileImageCoherentReadAccelerated = have.shaderTileImageCoherentReadAccelerated;
        out->shaderTileImageReadSampleFromPixelRateInvocation = have.shaderTileImageReadSampleFromPixelRateInvocation;
        out->shaderTileImageReadFromHelperInvocation = have.shaderTileImageReadFromHelperInvocation;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(base);
        out->subgroupSize = have.subgroupSize;
        out->supportedStages = have.subgroupSupportedStages;
        out->supportedOperations = have.subgroupSupportedOperations;
        out->quadOperationsInAllStages = have.subgroupQuadOperationsInAllStages;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(base);
        out->minSubgroupSize = have.minSubgroupSize;
        out->maxSubgroupSize = have.maxSubgroupSize;
        out->maxComputeWorkgroupSubgroups = have.maxComputeWorkgroupSubgroups;
        out->requiredSubgroupSizeStages = have.requiredSubgroupSizeStages;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTexelBufferAlignmentProperties*>(base);
        out->storageTexelBufferOffsetAlignmentBytes = have.storageTexelBufferOffsetAlignmentBytes;
        out->storageTexelBufferOffsetSingleTexelAlignment = have.storageTexelBufferOffsetSingleTexelAlignment;
        out->uniformTexelBufferOffsetAlignmentBytes = have.uniformTexelBufferOffsetAlignmentBytes;
        out->uniformTexelBufferOffsetSingleTexelAlignment = have.uniformTexelBufferOffsetSingleTexelAlignment;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTimelineSemaphoreProperties*>(base);
        out->maxTimelineSemaphoreValueDifference = have.maxTimelineSemaphoreValueDifference;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceTransformFeedbackPropertiesEXT*>(base);
        out->maxTransformFeedbackStreams = have.maxTransformFeedbackStreams;
        out->maxTransformFeedbackBuffers = have.maxTransformFeedbackBuffers;
        out->maxTransformFeedbackBufferSize = have.maxTransformFeedbackBufferSize;
        out->maxTransformFeedbackStreamDataSize = have.maxTransformFeedbackStreamDataSize;
        out->maxTransformFeedbackBufferDataSize = have.maxTransformFeedbackBufferDataSize;
        out->maxTransformFeedbackBufferDataStride = have.maxTransformFeedbackBufferDataStride;
        out->transformFeedbackQueries = have.transformFeedbackQueries;
        out->transformFeedbackStreamsLinesTriangles = have.transformFeedbackStreamsLinesTriangles;
        out->transformFeedbackRasterizationStreamSelect = have.transformFeedbackRasterizationStreamSelect;
        out->transformFeedbackDraw = have.transformFeedbackDraw;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVertexAttributeDivisorProperties*>(base);
        out->maxVertexAttribDivisor = have.maxVertexAttribDivisor;
        out->supportsNonZeroFirstInstance = have.supportsNonZeroFirstInstance;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_PROPERTIES_EXT: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVertexAttributeDivisorPropertiesEXT*>(base);
        out->maxVertexAttribDivisor = have.maxVertexAttribDivisor;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(base);
        std::memcpy(out->deviceUUID, have.deviceUUID, sizeof out->deviceUUID);
        std::memcpy(out->driverUUID, have.driverUUID, sizeof out->driverUUID);
        std::memcpy(out->deviceLUID, have.deviceLUID, sizeof out->deviceLUID);
        out->deviceNodeMask = have.deviceNodeMask;
        out->deviceLUIDValid = have.deviceLUIDValid;
        out->subgroupSize = have.subgroupSize;
        out->subgroupSupportedStages = have.subgroupSupportedStages;
        out->subgroupSupportedOperations = have.subgroupSupportedOperations;
        out->subgroupQuadOperationsInAllStages = have.subgroupQuadOperationsInAllStages;
        out->pointClippingBehavior = have.pointClippingBehavior;
        out->maxMultiviewViewCount = have.maxMultiviewViewCount;
        out->maxMultiviewInstanceIndex = have.maxMultiviewInstanceIndex;
        out->protectedNoFault = have.protectedNoFault;
        out->maxPerSetDescriptors = have.maxPerSetDescriptors;
        out->maxMemoryAllocationSize = have.maxMemoryAllocationSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan12Properties*>(base);
        out->driverID = have.driverID;
        std::memcpy(out->driverName, have.driverName, sizeof out->driverName);
        std::memcpy(out->driverInfo, have.driverInfo, sizeof out->driverInfo);
        out->conformanceVersion = have.conformanceVersion;
        out->denormBehaviorIndependence = have.denormBehaviorIndependence;
        out->roundingModeIndependence = have.roundingModeIndependence;
        out->shaderSignedZeroInfNanPreserveFloat16 = have.shaderSignedZeroInfNanPreserveFloat16;
        out->shaderSignedZeroInfNanPreserveFloat32 = have.shaderSignedZeroInfNanPreserveFloat32;
        out->shaderSignedZeroInfNanPreserveFloat64 = have.shaderSignedZeroInfNanPreserveFloat64;
        out->shaderDenormPreserveFloat16 = have.shaderDenormPreserveFloat16;
        out->shaderDenormPreserveFloat32 = have.shaderDenormPreserveFloat32;
        out->shaderDenormPreserveFloat64 = have.shaderDenormPreserveFloat64;
        out->shaderDenormFlushToZeroFloat16 = have.shaderDenormFlushToZeroFloat16;
        out->shaderDenormFlushToZeroFloat32 = have.shaderDenormFlushToZeroFloat32;
        out->shaderDenormFlushToZeroFloat64 = have.shaderDenormFlushToZeroFloat64;
        out->shaderRoundingModeRTEFloat16 = have.shaderRoundingModeRTEFloat16;
        out->shaderRoundingModeRTEFloat32 = have.shaderRoundingModeRTEFloat32;
        out->shaderRoundingModeRTEFloat64 = have.shaderRoundingModeRTEFloat64;
        out->shaderRoundingModeRTZFloat16 = have.shaderRoundingModeRTZFloat16;
        out->shaderRoundingModeRTZFloat32 = have.shaderRoundingModeRTZFloat32;
        out->shaderRoundingModeRTZFloat64 = have.shaderRoundingModeRTZFloat64;
        out->maxUpdateAfterBindDescriptorsInAllPools = have.maxUpdateAfterBindDescriptorsInAllPools;
        out->shaderUniformBufferArrayNonUniformIndexingNative = have.shaderUniformBufferArrayNonUniformIndexingNative;
        out->shaderSampledImageArrayNonUniformIndexingNative = have.shaderSampledImageArrayNonUniformIndexingNative;
        out->shaderStorageBufferArrayNonUniformIndexingNative = have.shaderStorageBufferArrayNonUniformIndexingNative;
        out->shaderStorageImageArrayNonUniformIndexingNative = have.shaderStorageImageArrayNonUniformIndexingNative;
        out->shaderInputAttachmentArrayNonUniformIndexingNative = have.shaderInputAttachmentArrayNonUniformIndexingNative;
        out->robustBufferAccessUpdateAfterBind = have.robustBufferAccessUpdateAfterBind;
        out->quadDivergentImplicitLod = have.quadDivergentImplicitLod;
        out->maxPerStageDescriptorUpdateAfterBindSamplers = have.maxPerStageDescriptorUpdateAfterBindSamplers;
        out->maxPerStageDescriptorUpdateAfterBindUniformBuffers = have.maxPerStageDescriptorUpdateAfterBindUniformBuffers;
        out->maxPerStageDescriptorUpdateAfterBindStorageBuffers = have.maxPerStageDescriptorUpdateAfterBindStorageBuffers;
        out->maxPerStageDescriptorUpdateAfterBindSampledImages = have.maxPerStageDescriptorUpdateAfterBindSampledImages;
        out->maxPerStageDescriptorUpdateAfterBindStorageImages = have.maxPerStageDescriptorUpdateAfterBindStorageImages;
        out->maxPerStageDescriptorUpdateAfterBindInputAttachments = have.maxPerStageDescriptorUpdateAfterBindInputAttachments;
        out->maxPerStageUpdateAfterBindResources = have.maxPerStageUpdateAfterBindResources;
        out->maxDescriptorSetUpdateAfterBindSamplers = have.maxDescriptorSetUpdateAfterBindSamplers;
        out->maxDescriptorSetUpdateAfterBindUniformBuffers = have.maxDescriptorSetUpdateAfterBindUniformBuffers;
        out->maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = have.maxDescriptorSetUpdateAfterBindUniformBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindStorageBuffers = have.maxDescriptorSetUpdateAfterBindStorageBuffers;
        out->maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = have.maxDescriptorSetUpdateAfterBindStorageBuffersDynamic;
        out->maxDescriptorSetUpdateAfterBindSampledImages = have.maxDescriptorSetUpdateAfterBindSampledImages;
        out->maxDescriptorSetUpdateAfterBindStorageImages = have.maxDescriptorSetUpdateAfterBindStorageImages;
        out->maxDescriptorSetUpdateAfterBindInputAttachments = have.maxDescriptorSetUpdateAfterBindInputAttachments;
        out->supportedDepthResolveModes = have.supportedDepthResolveModes;
        out->supportedStencilResolveModes = have.supportedStencilResolveModes;
        out->independentResolveNone = have.independentResolveNone;
        out->independentResolve = have.independentResolve;
        out->filterMinmaxSingleComponentFormats = have.filterMinmaxSingleComponentFormats;
        out->filterMinmaxImageComponentMapping = have.filterMinmaxImageComponentMapping;
        out->maxTimelineSemaphoreValueDifference = have.maxTimelineSemaphoreValueDifference;
        out->framebufferIntegerColorSampleCounts = have.framebufferIntegerColorSampleCounts;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan13Properties*>(base);
        out->minSubgroupSize = have.minSubgroupSize;
        out->maxSubgroupSize = have.maxSubgroupSize;
        out->maxComputeWorkgroupSubgroups = have.maxComputeWorkgroupSubgroups;
        out->requiredSubgroupSizeStages = have.requiredSubgroupSizeStages;
        out->maxInlineUniformBlockSize = have.maxInlineUniformBlockSize;
        out->maxPerStageDescriptorInlineUniformBlocks = have.maxPerStageDescriptorInlineUniformBlocks;
        out->maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks = have.maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks;
        out->maxDescriptorSetInlineUniformBlocks = have.maxDescriptorSetInlineUniformBlocks;
        out->maxDescriptorSetUpdateAfterBindInlineUniformBlocks = have.maxDescriptorSetUpdateAfterBindInlineUniformBlocks;
        out->maxInlineUniformTotalSize = have.maxInlineUniformTotalSize;
        out->integerDotProduct8BitUnsignedAccelerated = have.integerDotProduct8BitUnsignedAccelerated;
        out->integerDotProduct8BitSignedAccelerated = have.integerDotProduct8BitSignedAccelerated;
        out->integerDotProduct8BitMixedSignednessAccelerated = have.integerDotProduct8BitMixedSignednessAccelerated;
        out->integerDotProduct4x8BitPackedUnsignedAccelerated = have.integerDotProduct4x8BitPackedUnsignedAccelerated;
        out->integerDotProduct4x8BitPackedSignedAccelerated = have.integerDotProduct4x8BitPackedSignedAccelerated;
        out->integerDotProduct4x8BitPackedMixedSignednessAccelerated = have.integerDotProduct4x8BitPackedMixedSignednessAccelerated;
        out->integerDotProduct16BitUnsignedAccelerated = have.integerDotProduct16BitUnsignedAccelerated;
        out->integerDotProduct16BitSignedAccelerated = have.integerDotProduct16BitSignedAccelerated;
        out->integerDotProduct16BitMixedSignednessAccelerated = have.integerDotProduct16BitMixedSignednessAccelerated;
        out->integerDotProduct32BitUnsignedAccelerated = have.integerDotProduct32BitUnsignedAccelerated;
        out->integerDotProduct32BitSignedAccelerated = have.integerDotProduct32BitSignedAccelerated;
        out->integerDotProduct32BitMixedSignednessAccelerated = have.integerDotProduct32BitMixedSignednessAccelerated;
        out->integerDotProduct64BitUnsignedAccelerated = have.integerDotProduct64BitUnsignedAccelerated;
        out->integerDotProduct64BitSignedAccelerated = have.integerDotProduct64BitSignedAccelerated;
        out->integerDotProduct64BitMixedSignednessAccelerated = have.integerDotProduct64BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating8BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating8BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating8BitSignedAccelerated = have.integerDotProductAccumulatingSaturating8BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated = have.integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated = have.integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated;
        out->integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating16BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating16BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating16BitSignedAccelerated = have.integerDotProductAccumulatingSaturating16BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating32BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating32BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating32BitSignedAccelerated = have.integerDotProductAccumulatingSaturating32BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated;
        out->integerDotProductAccumulatingSaturating64BitUnsignedAccelerated = have.integerDotProductAccumulatingSaturating64BitUnsignedAccelerated;
        out->integerDotProductAccumulatingSaturating64BitSignedAccelerated = have.integerDotProductAccumulatingSaturating64BitSignedAccelerated;
        out->integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated = have.integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated;
        out->storageTexelBufferOffsetAlignmentBytes = have.storageTexelBufferOffsetAlignmentBytes;
        out->storageTexelBufferOffsetSingleTexelAlignment = have.storageTexelBufferOffsetSingleTexelAlignment;
        out->uniformTexelBufferOffsetAlignmentBytes = have.uniformTexelBufferOffsetAlignmentBytes;
        out->uniformTexelBufferOffsetSingleTexelAlignment = have.uniformTexelBufferOffsetSingleTexelAlignment;
        out->maxBufferSize = have.maxBufferSize;
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_PROPERTIES: {
        auto* out = reinterpret_cast<VkPhysicalDeviceVulkan14Properties*>(base);
        out->lineSubPixelPrecisionBits = have.lineSubPixelPrecisionBits;
        out->maxVertexAttribDivisor = have.maxVertexAttribDivisor;
        out->supportsNonZeroFirstInstance = have.supportsNonZeroFirstInstance;
        out->maxPushDescriptors = have.maxPushDescriptors;
        out->dynamicRenderingLocalReadDepthStencilAttachments = have.dynamicRenderingLocalReadDepthStencilAttachments;
        out->dynamicRenderingLocalReadMultisampledAttachments = have.dynamicRenderingLocalReadMultisampledAttachments;
        out->earlyFragmentMultisampleCoverageAfterSampleCounting = have.earlyFragmentMultisampleCoverageAfterSampleCounting;
        out->earlyFragmentSampleMaskTestBeforeSampleCounting = have.earlyFragmentSampleMaskTestBeforeSampleCounting;
        out->depthStencilSwizzleOneSupport = have.depthStencilSwizzleOneSupport;
        out->polygonModePointSize = have.polygonModePointSize;
        out->nonStrictSinglePixelWideLinesUseParallelogram = have.nonStrictSinglePixelWideLinesUseParallelogram;
        out->nonStrictWideLinesUseParallelogram = have.nonStrictWideLinesUseParallelogram;
        out->blockTexelViewCompatibleMultipleLayers = have.blockTexelViewCompatibleMultipleLayers;
        out->maxCombinedImageSamplerDescriptorCount = have.maxCombinedImageSamplerDescriptorCount;
        out->fragmentShadingRateClampCombinerInputs = have.fragmentShadingRateClampCombinerInputs;
        out->defaultRobustnessStorageBuffers = have.defaultRobustnessStorageBuffers;
        out->defaultRobustnessUniformBuffers = have.defaultRobustnessUniformBuffers;
        out->defaultRobustnessVertexInputs = have.defaultRobustnessVertexInputs;
        out->defaultRobustnessImages = have.defaultRobustnessImages;
        std::memcpy(out->optimalTilingLayoutUUID, have.optimalTilingLayoutUUID, sizeof out->optimalTilingLayoutUUID);
        out->identicalMemoryTypeRequirements = have.identicalMemoryTypeRequirements;
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace tilegpu::icd
