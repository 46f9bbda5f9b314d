// icd/capabilities.cpp -- version, extensions, features, limits, queues and memory of the device.
//
// In: the environment (wanted.hpp), the machine's memory. Out: the table that every query answers from and creation checks against.
// Source: Vulkan specification, "Required Limits", "Features", "Device Memory"; which clients want what: docs/vulkan.md.
#include "icd/capabilities.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "base/memory_budget.hpp"
#include "command/recording.hpp"
#include "icd/shader_object.hpp"
#include "icd/wanted.hpp"
#include "shader_abi/abi.hpp"
#include "tilegpu/device.hpp"
#include "vk/shading_rates.hpp"

namespace tilegpu::icd {
namespace {

/// Without VK_KHR_driver_properties: wgpu hides a device that says by it (or by Vulkan 1.2) that its conformance version is 0.0.0.0.
constexpr Extension kExtensions[] = {
    // instance
    Extension::KHR_get_physical_device_properties2,
    Extension::KHR_external_memory_capabilities,
    Extension::KHR_external_fence_capabilities,
    Extension::KHR_external_semaphore_capabilities,
    Extension::KHR_device_group_creation,
    Extension::KHR_surface,
    Extension::KHR_get_surface_capabilities2,
    Extension::KHR_xcb_surface,
    Extension::KHR_xlib_surface,
    Extension::KHR_wayland_surface,
    Extension::EXT_headless_surface,
    Extension::EXT_surface_maintenance1,
    Extension::EXT_swapchain_colorspace,  // names of more spaces, of which windows have the one that all have
    Extension::EXT_debug_utils,
    Extension::EXT_debug_report,
    // device
    Extension::KHR_swapchain,
    Extension::KHR_swapchain_mutable_format,
    Extension::EXT_swapchain_maintenance1,
    Extension::KHR_maintenance1,
    Extension::KHR_maintenance2,
    Extension::KHR_maintenance3,
    Extension::KHR_maintenance4,
    Extension::KHR_multiview,
    Extension::KHR_cooperative_matrix,
    Extension::KHR_bind_memory2,
    Extension::KHR_buffer_device_address,
    Extension::KHR_compute_shader_derivatives,
    Extension::KHR_get_memory_requirements2,
    Extension::KHR_dedicated_allocation,
    Extension::KHR_device_group,
    Extension::KHR_image_format_list,
    Extension::KHR_storage_buffer_storage_class,
    Extension::KHR_variable_pointers,
    Extension::KHR_relaxed_block_layout,
    Extension::KHR_uniform_buffer_standard_layout,
    Extension::KHR_shader_draw_parameters,
    Extension::KHR_copy_commands2,
    Extension::KHR_timeline_semaphore,
    Extension::KHR_synchronization2,
    Extension::KHR_format_feature_flags2,
    Extension::KHR_external_memory,
    Extension::KHR_external_memory_fd,
    Extension::EXT_external_memory_host,
    Extension::KHR_external_fence,
    Extension::KHR_external_semaphore,
    Extension::KHR_external_semaphore_fd,
    Extension::KHR_spirv_1_4,
    Extension::KHR_shader_float_controls,
    Extension::KHR_16bit_storage,
    Extension::KHR_8bit_storage,
    Extension::KHR_shader_float16_int8,
    Extension::KHR_shader_atomic_int64,
    Extension::KHR_shader_integer_dot_product,
    Extension::KHR_shader_subgroup_extended_types,
    Extension::KHR_shader_non_semantic_info,
    Extension::KHR_shader_terminate_invocation,
    Extension::EXT_shader_atomic_float,
    Extension::EXT_shader_atomic_float2,
    Extension::EXT_shader_image_atomic_int64,
    Extension::EXT_shader_demote_to_helper_invocation,
    Extension::EXT_shader_object,
    Extension::KHR_create_renderpass2,
    Extension::KHR_depth_stencil_resolve,
    Extension::KHR_descriptor_update_template,
    Extension::KHR_dynamic_rendering,
    Extension::KHR_imageless_framebuffer,
    Extension::KHR_fragment_shader_barycentric,
    Extension::KHR_fragment_shading_rate,
    Extension::KHR_push_descriptor,
    Extension::KHR_sampler_mirror_clamp_to_edge,
    Extension::KHR_sampler_ycbcr_conversion,
    Extension::KHR_separate_depth_stencil_layouts,
    Extension::EXT_attachment_feedback_loop_dynamic_state,
    Extension::EXT_attachment_feedback_loop_layout,
    Extension::EXT_blend_operation_advanced,
    Extension::EXT_buffer_device_address,
    Extension::EXT_color_write_enable,
    Extension::EXT_conditional_rendering,
    Extension::EXT_conservative_rasterization,
    Extension::EXT_sample_locations,
    Extension::KHR_depth_clamp_zero_one,
    Extension::EXT_depth_clamp_zero_one,
    Extension::EXT_depth_bias_control,
    Extension::EXT_depth_clamp_control,
    Extension::EXT_depth_clip_control,
    Extension::EXT_depth_clip_enable,
    Extension::EXT_depth_range_unrestricted,
    Extension::EXT_descriptor_indexing,
    Extension::EXT_discard_rectangles,
    Extension::EXT_dynamic_rendering_unused_attachments,
    Extension::EXT_extended_dynamic_state,
    Extension::EXT_extended_dynamic_state2,
    Extension::EXT_extended_dynamic_state3,
    Extension::EXT_fragment_shader_interlock,
    Extension::EXT_graphics_pipeline_library,
    Extension::KHR_pipeline_library,
    Extension::EXT_index_type_uint8,
    Extension::EXT_inline_uniform_block,
    Extension::EXT_load_store_op_none,
    Extension::EXT_pipeline_creation_cache_control,
    Extension::EXT_pipeline_creation_feedback,
    Extension::EXT_line_rasterization,
    Extension::EXT_mesh_shader,
    Extension::EXT_post_depth_coverage,
    Extension::EXT_provoking_vertex,
    Extension::EXT_scalar_block_layout,
    Extension::EXT_separate_stencil_usage,
    Extension::EXT_shader_stencil_export,
    Extension::EXT_shader_tile_image,
    Extension::EXT_shader_subgroup_ballot,
    Extension::EXT_shader_subgroup_vote,
    Extension::KHR_shader_expect_assume,
    Extension::KHR_shader_float_controls2,
    Extension::KHR_shader_maximal_reconvergence,
    Extension::KHR_shader_quad_control,
    Extension::KHR_shader_relaxed_extended_instruction,
    Extension::EXT_shader_replicated_composites,
    Extension::KHR_shader_subgroup_rotate,
    Extension::KHR_shader_subgroup_uniform_control_flow,
    Extension::EXT_shader_viewport_index_layer,
    Extension::EXT_vertex_input_dynamic_state,
    Extension::EXT_primitives_generated_query,
    Extension::EXT_transform_feedback,
    Extension::KHR_draw_indirect_count,
    Extension::EXT_legacy_vertex_attributes,
    Extension::EXT_vertex_attribute_divisor,
    Extension::EXT_vertex_attribute_robustness,
    Extension::KHR_workgroup_memory_explicit_layout,
    Extension::KHR_zero_initialize_workgroup_memory,
    Extension::EXT_private_data,
    Extension::EXT_image_robustness,
    Extension::EXT_robustness2,
    Extension::EXT_sampler_filter_minmax,
    Extension::EXT_filter_cubic,
    Extension::EXT_image_view_min_lod,
    Extension::EXT_nested_command_buffer,
    Extension::EXT_non_seamless_cube_map,
    Extension::EXT_border_color_swizzle,
    Extension::EXT_custom_border_color,
    Extension::EXT_rgba10x6_formats,
    Extension::EXT_ycbcr_2plane_444_formats,
    Extension::EXT_ycbcr_image_arrays,
    Extension::EXT_host_query_reset,
    Extension::EXT_tooling_info,
    Extension::EXT_subgroup_size_control,
    Extension::EXT_subpass_merge_feedback,
    Extension::KHR_map_memory2,
    Extension::KHR_maintenance5,
    Extension::KHR_maintenance6,
    Extension::KHR_maintenance7,
    Extension::KHR_dynamic_rendering_local_read,
    Extension::EXT_rasterization_order_attachment_access,
    Extension::KHR_index_type_uint8,
    Extension::KHR_line_rasterization,
    Extension::KHR_load_store_op_none,
    Extension::KHR_vertex_attribute_divisor,
    Extension::KHR_calibrated_timestamps,
    Extension::EXT_calibrated_timestamps,
    Extension::KHR_incremental_present,
    Extension::EXT_hdr_metadata,  // which nothing is made of: windows have sRGB alone
    Extension::EXT_device_fault,
    Extension::EXT_present_mode_fifo_latest_ready,
    Extension::KHR_present_id,
    Extension::KHR_present_wait,
    Extension::EXT_host_image_copy,
    Extension::EXT_4444_formats,
    Extension::EXT_memory_budget,
    Extension::EXT_multi_draw,
    Extension::EXT_multisampled_render_to_single_sampled,
    Extension::EXT_mutable_descriptor_type,
    Extension::VALVE_mutable_descriptor_type,
    Extension::GOOGLE_decorate_string,  // what DXC's modules declare: nothing that code is made of
    Extension::GOOGLE_hlsl_functionality1,
    Extension::GOOGLE_user_type,
    Extension::KHR_pipeline_executable_properties,
    Extension::EXT_primitive_topology_list_restart,
    Extension::EXT_image_2d_view_of_3d,
    Extension::EXT_image_compression_control,  // nothing is compressed, which is what it says
    Extension::EXT_image_sliced_view_of_3d,
    Extension::EXT_memory_priority,
    Extension::EXT_pageable_device_local_memory,
    Extension::EXT_pipeline_protected_access,  // no memory is protected
    Extension::EXT_pipeline_robustness,
    Extension::EXT_queue_family_foreign,
    Extension::EXT_external_memory_acquire_unmodified,
    Extension::EXT_texel_buffer_alignment,
    Extension::KHR_global_priority,
    Extension::EXT_global_priority,
    Extension::EXT_global_priority_query,
};

constexpr bool each_once() {
  for (const Extension& e : kExtensions)
    for (const Extension* other = &e + 1; other != std::end(kExtensions); ++other)
      if (*other == e) return false;
  return true;
}
static_assert(each_once());

void set_state_features(Features& f) {
  f.imagelessFramebuffer = true;
  f.deviceFault = true;
  f.pipelineProtectedAccess = f.pipelineExecutableInfo = f.imageCompressionControl = true;
  f.separateDepthStencilLayouts = true;
  f.samplerMirrorClampToEdge = true;
  f.scalarBlockLayout = true;
  f.dynamicRendering = f.dynamicRenderingUnusedAttachments = true;
  f.inlineUniformBlock = true;
  f.pipelineCreationCacheControl = true;
  f.advancedBlendCoherentOperations = true;  // draws blend in order anyway
  f.attachmentFeedbackLoopLayout = f.attachmentFeedbackLoopDynamicState = true;
  f.colorWriteEnable = true;
  f.multisampledRenderToSingleSampled = true;
  f.depthBiasControl = f.leastRepresentableValueForceUnormRepresentation = f.floatRepresentation = f.depthBiasExact = true;
  f.depthClampControl = true;
  f.depthClipControl = true;
  f.depthClipEnable = true;
  f.indexTypeUint8 = true;
  f.provokingVertexLast = true;
  f.rectangularLines = f.bresenhamLines = f.smoothLines = true;
  f.stippledRectangularLines = f.stippledBresenhamLines = f.stippledSmoothLines = true;
  f.vertexInputDynamicState = f.vertexAttributeRobustness = f.legacyVertexAttributes = true;
  f.shaderObject = true;
  f.extendedDynamicState = true;
  f.extendedDynamicState2 = true;
  f.extendedDynamicState2LogicOp = true;
  f.extendedDynamicState3AlphaToCoverageEnable = true;
  f.extendedDynamicState3AlphaToOneEnable = true;
  f.extendedDynamicState3ColorBlendEnable = true;
  f.extendedDynamicState3ColorBlendEquation = true;
  f.extendedDynamicState3ColorWriteMask = true;
  f.extendedDynamicState3ColorBlendAdvanced = true;
  f.extendedDynamicState3ConservativeRasterizationMode = f.extendedDynamicState3ExtraPrimitiveOverestimationSize = true;
  f.extendedDynamicState3SampleLocationsEnable = true;
  f.extendedDynamicState3LineRasterizationMode = f.extendedDynamicState3LineStippleEnable = true;
  f.extendedDynamicState3DepthClampEnable = true;
  f.extendedDynamicState3DepthClipEnable = true;
  f.extendedDynamicState3DepthClipNegativeOneToOne = true;
  f.extendedDynamicState3LogicOpEnable = true;
  f.extendedDynamicState3PolygonMode = true;
  f.extendedDynamicState3ProvokingVertexMode = true;
  f.extendedDynamicState3RasterizationSamples = true;
  f.extendedDynamicState3RasterizationStream = true;
  f.extendedDynamicState3SampleMask = true;
}

/// Of VK_EXT_descriptor_indexing, all of it; of VK_EXT_robustness2.
void set_descriptor_features(Features& f) {
  f.descriptorBindingPartiallyBound = true;
  f.mutableDescriptorType = true;
  f.descriptorBindingVariableDescriptorCount = true;
  f.descriptorBindingUpdateUnusedWhilePending = true;
  f.descriptorBindingUniformBufferUpdateAfterBind = true;
  f.descriptorBindingStorageBufferUpdateAfterBind = true;
  f.descriptorBindingSampledImageUpdateAfterBind = true;
  f.descriptorBindingStorageImageUpdateAfterBind = true;
  f.descriptorBindingUniformTexelBufferUpdateAfterBind = true;
  f.descriptorBindingStorageTexelBufferUpdateAfterBind = true;
  f.descriptorBindingInlineUniformBlockUpdateAfterBind = true;
  f.runtimeDescriptorArray = true;
  f.descriptorIndexing = true;
  f.nullDescriptor = true;
  f.shaderUniformBufferArrayNonUniformIndexing = true;
  f.shaderSampledImageArrayNonUniformIndexing = true;
  f.shaderStorageBufferArrayNonUniformIndexing = true;
  f.shaderStorageImageArrayNonUniformIndexing = true;
  f.shaderUniformTexelBufferArrayDynamicIndexing = true;
  f.shaderStorageTexelBufferArrayDynamicIndexing = true;
  f.shaderUniformTexelBufferArrayNonUniformIndexing = true;
  f.shaderStorageTexelBufferArrayNonUniformIndexing = true;
}

/// Integers and floats of 8, 16 and 64 bits in arithmetic, buffers and push constants; those of 16 and 64 between stages.
void set_number_features(Features& f) {
  f.shaderInt8 = f.shaderInt16 = f.shaderInt64 = true;
  f.shaderFloat16 = f.shaderFloat64 = true;
  f.storageBuffer8BitAccess = f.uniformAndStorageBuffer8BitAccess = f.storagePushConstant8 = true;
  f.storageBuffer16BitAccess = f.uniformAndStorageBuffer16BitAccess = f.storagePushConstant16 = f.storageInputOutput16 = true;
  f.workgroupMemoryExplicitLayout = f.workgroupMemoryExplicitLayoutScalarBlockLayout = true;
  f.workgroupMemoryExplicitLayout8BitAccess = f.workgroupMemoryExplicitLayout16BitAccess = true;
  f.shaderBufferInt64Atomics = f.shaderSharedInt64Atomics = true;
  f.shaderBufferFloat32Atomics = f.shaderBufferFloat32AtomicAdd = f.shaderBufferFloat32AtomicMinMax = true;
  f.shaderBufferFloat64Atomics = f.shaderBufferFloat64AtomicAdd = f.shaderBufferFloat64AtomicMinMax = true;
  f.shaderSharedFloat32Atomics = f.shaderSharedFloat32AtomicAdd = f.shaderSharedFloat32AtomicMinMax = true;
  f.shaderSharedFloat64Atomics = f.shaderSharedFloat64AtomicAdd = f.shaderSharedFloat64AtomicMinMax = true;
  f.shaderImageInt64Atomics = true;
  f.shaderImageFloat32Atomics = f.shaderImageFloat32AtomicAdd = f.shaderImageFloat32AtomicMinMax = true;
  f.shaderIntegerDotProduct = true;
  f.computeDerivativeGroupQuads = f.computeDerivativeGroupLinear = true;
  f.cooperativeMatrix = f.cooperativeMatrixRobustBufferAccess = true;
  f.shaderSubgroupExtendedTypes = true;
  f.shaderSubgroupRotate = f.shaderSubgroupRotateClustered = true;
  f.shaderSubgroupUniformControlFlow = true;  // lanes come together where a construct ends
  f.shaderExpectAssume = true;
  f.shaderFloatControls2 = true;                              // what may not be contracted; nothing else is ever done
  f.shaderMaximalReconvergence = f.shaderQuadControl = true;  // the same of loops' rounds; a subgroup is a quad
  f.shaderRelaxedExtendedInstruction = f.shaderReplicatedComposites = true;
  f.variablePointersStorageBuffer = f.variablePointers = true;
}

Features make_features() {
  Features f;
  set_number_features(f);
  set_state_features(f);
  set_descriptor_features(f);
  f.robustBufferAccess = true;
  f.fullDrawIndexUint32 = true;
  f.imageCubeArray = true;
  f.independentBlend = true;
  f.sampleRateShading = true;
  f.dualSrcBlend = true;
  f.multiViewport = true;
  f.shaderOutputLayer = f.shaderOutputViewportIndex = true;
  f.multiview = true;
  f.logicOp = true;
  f.multiDrawIndirect = f.multiDraw = true;
  f.primitiveTopologyListRestart = f.primitiveTopologyPatchListRestart = true;
  f.imageSlicedViewOf3D = true;
  f.image2DViewOf3D = f.sampler2DViewOf3D = true;
  f.conditionalRendering = f.inheritedConditionalRendering = true;
  f.drawIndirectFirstInstance = true;
  f.drawIndirectCount = true;
  f.depthClamp = true;
  f.depthClampZeroOne = true;  // depth is limited to 0..1 anyway
  f.depthBiasClamp = true;
  f.depthBounds = true;
  f.alphaToOne = true;
  f.occlusionQueryPrecise = true;
  f.pipelineStatisticsQuery = f.inheritedQueries = true;
  f.geometryShader = f.tessellationShader = true;
  f.taskShader = f.meshShader = f.meshShaderQueries = true;
  f.multiviewMeshShader = f.primitiveFragmentShadingRateMeshShader = true;  // a view is a draw; a rate goes with its primitive
  f.fragmentShaderBarycentric = true;
  f.pipelineFragmentShadingRate = f.primitiveFragmentShadingRate = f.attachmentFragmentShadingRate = true;
  f.fragmentShaderPixelInterlock = f.fragmentShaderSampleInterlock = true;
  f.shaderTessellationAndGeometryPointSize = true;
  f.largePoints = f.wideLines = true;
  f.vertexAttributeInstanceRateDivisor = f.vertexAttributeInstanceRateZeroDivisor = true;
  f.fillModeNonSolid = true;
  f.transformFeedback = f.geometryStreams = true;
  // Of 1.2 and later only: told of the extension, Mesa 22.3's Zink asks for the capability without declaring SPIR-V's extension of it.
  f.vulkanMemoryModel = f.vulkanMemoryModelDeviceScope = true;
  f.shaderZeroInitializeWorkgroupMemory = true;  // it is zeros anyway
  f.primitivesGeneratedQueryWithNonZeroStreams = true;
  f.multiviewGeometryShader = f.multiviewTessellationShader = true;
  f.extendedDynamicState2PatchControlPoints = f.extendedDynamicState3TessellationDomainOrigin = true;
  f.primitivesGeneratedQuery = f.primitivesGeneratedQueryWithRasterizerDiscard = true;
  f.bufferDeviceAddress = f.bufferDeviceAddressCaptureReplay = true;
  f.vertexPipelineStoresAndAtomics = true;
  f.fragmentStoresAndAtomics = true;
  f.samplerAnisotropy = true;
  f.textureCompressionBC = f.textureCompressionETC2 = f.textureCompressionASTC_LDR = true;
  f.nestedCommandBuffer = f.nestedCommandBufferRendering = f.nestedCommandBufferSimultaneousUse = true;
  f.presentId = f.presentWait = f.swapchainMaintenance1 = true;
  f.samplerFilterMinmax = true;
  f.minLod = f.shaderResourceMinLod = true;
  f.nonSeamlessCubeMap = true;
  f.customBorderColors = f.customBorderColorWithoutFormat = true;
  f.borderColorSwizzle = f.borderColorSwizzleFromImage = true;  // views swizzle what a sampler gives, a border too
  f.samplerYcbcrConversion = f.ycbcr2plane444Formats = f.ycbcrImageArrays = f.formatRgba10x6WithoutYCbCrSampler = true;
  f.shaderImageGatherExtended = true;
  f.shaderStorageImageExtendedFormats = true;
  f.shaderStorageImageMultisample = true;
  f.shaderStorageImageReadWithoutFormat = true;
  f.shaderStorageImageWriteWithoutFormat = true;
  f.shaderUniformBufferArrayDynamicIndexing = true;
  f.shaderSampledImageArrayDynamicIndexing = true;
  f.shaderStorageBufferArrayDynamicIndexing = true;
  f.shaderStorageImageArrayDynamicIndexing = true;
  f.shaderClipDistance = true;
  f.shaderCullDistance = true;
  f.shaderDrawParameters = true;
  f.uniformBufferStandardLayout = true;
  f.timelineSemaphore = true;
  f.subgroupSizeControl = f.computeFullSubgroups = f.subgroupBroadcastDynamicId = true;
  f.globalPriorityQuery = true;
  f.synchronization2 = true;
  f.hostQueryReset = true;
  f.privateData = true;
  // Texels outside are zeros, and 1 where the format has no alpha; words of buffers, each by itself, zeros; stores there do nothing.
  f.robustImageAccess = true;
  f.robustImageAccess2 = f.robustBufferAccess2 = true;
  f.maintenance4 = f.maintenance5 = f.maintenance6 = f.maintenance7 = true;
  f.dynamicRenderingLocalRead = true;
  // Fragments of a place are shaded in the order of their primitives, whether a pipeline or a subpass asks for it or not.
  f.shaderTileImageColorReadAccess = f.shaderTileImageDepthReadAccess = f.shaderTileImageStencilReadAccess = true;
  f.rasterizationOrderColorAttachmentAccess = f.rasterizationOrderDepthAttachmentAccess = f.rasterizationOrderStencilAttachmentAccess =
      true;
  f.hostImageCopy = f.presentModeFifoLatestReady = true;
  f.subpassMergeFeedback = true;
  f.pushDescriptor = true;
  f.memoryPriority = f.pageableDeviceLocalMemory = true;  // taken, and without effect: there is one memory
  f.graphicsPipelineLibrary = true;
  f.pipelineRobustness = true;  // whatever is asked for, accesses are checked
  f.formatA4R4G4B4 = f.formatA4B4G4R4 = true;
  f.texelBufferAlignment = true;
  f.shaderTerminateInvocation = true;
  f.shaderDemoteToHelperInvocation = true;
  return f;
}

void set_sizes(VkPhysicalDeviceLimits& l) {
  l.maxImageDimension1D = l.maxImageDimension2D = l.maxImageDimensionCube = kMaxImageSize_px;
  l.maxImageDimension3D = 2048;
  l.maxImageArrayLayers = 2048;
  l.maxTexelBufferElements = kMaxTexelBufferElements;
  l.maxUniformBufferRange = shader::kMaxBufferRange_B;
  l.maxStorageBufferRange = shader::kMaxBufferRange_B;
  l.maxPushConstantsSize = kMaxPushConstants_B;
  l.maxMemoryAllocationCount = 1 << 20;
  l.maxSamplerAllocationCount = 1 << 16;
  l.bufferImageGranularity = 64;
  l.sparseAddressSpaceSize = 0;
  l.minMemoryMapAlignment = 4096;
  l.minTexelBufferOffsetAlignment = kTexelBufferAlignment_B;
  l.minUniformBufferOffsetAlignment = 16;
  l.minStorageBufferOffsetAlignment = 16;
  l.optimalBufferCopyOffsetAlignment = 64;
  l.optimalBufferCopyRowPitchAlignment = 64;
  l.nonCoherentAtomSize = 64;
}

void set_descriptors(VkPhysicalDeviceLimits& l) {
  constexpr uint32_t kMany = 1 << 16;
  l.maxBoundDescriptorSets = kMaxDescriptorSets;
  l.maxPerStageDescriptorSamplers = l.maxPerStageDescriptorUniformBuffers = l.maxPerStageDescriptorStorageBuffers = kMany;
  l.maxPerStageDescriptorSampledImages = l.maxPerStageDescriptorStorageImages = l.maxPerStageResources = kMany;
  l.maxPerStageDescriptorInputAttachments = kMaxColorAttachments;
  l.maxDescriptorSetSamplers = l.maxDescriptorSetUniformBuffers = l.maxDescriptorSetStorageBuffers = kMany;
  l.maxDescriptorSetSampledImages = l.maxDescriptorSetStorageImages = kMany;
  l.maxDescriptorSetUniformBuffersDynamic = l.maxDescriptorSetStorageBuffersDynamic = 16;
  l.maxDescriptorSetInputAttachments = kMaxColorAttachments;
}

void set_stages(VkPhysicalDeviceLimits& l) {
  l.maxVertexInputAttributes = kMaxVertexAttributes;
  l.maxVertexInputBindings = kMaxVertexBindings;
  l.maxVertexInputAttributeOffset = 2047;
  l.maxVertexInputBindingStride = 2048;
  l.maxVertexOutputComponents = l.maxFragmentInputComponents = kMaxVaryingComponents;
  l.maxFragmentOutputAttachments = kMaxColorAttachments;
  l.maxFragmentDualSrcAttachments = 1;
  l.maxFragmentCombinedOutputResources = 1 << 16;
  l.maxComputeSharedMemorySize = kMaxSharedMemory_B;
  l.maxComputeWorkGroupCount[0] = l.maxComputeWorkGroupCount[1] = l.maxComputeWorkGroupCount[2] = kMaxWorkgroups;
  l.maxComputeWorkGroupInvocations = kMaxWorkgroupInvocations;
  l.maxComputeWorkGroupSize[0] = l.maxComputeWorkGroupSize[1] = l.maxComputeWorkGroupSize[2] = kMaxWorkgroupInvocations;
  l.maxTessellationGenerationLevel = 64;
  l.maxTessellationPatchSize = kMaxPatchVertices;
  l.maxTessellationControlPerVertexInputComponents = l.maxTessellationControlPerVertexOutputComponents = kMaxVaryingComponents;
  l.maxTessellationControlPerPatchOutputComponents = 120;
  l.maxTessellationControlTotalOutputComponents = kMaxPatchVertices * kMaxVaryingComponents;
  l.maxTessellationEvaluationInputComponents = l.maxTessellationEvaluationOutputComponents = kMaxVaryingComponents;
  l.maxGeometryShaderInvocations = kMaxGeometryInvocations;
  l.maxGeometryInputComponents = l.maxGeometryOutputComponents = kMaxVaryingComponents;
  l.maxGeometryOutputVertices = kMaxEmittedVertices;
  l.maxGeometryTotalOutputComponents = kMaxEmittedComponents;
  l.maxClipDistances = l.maxCullDistances = l.maxCombinedClipAndCullDistances = 8;
}

/// VK_EXT_mesh_shader. Of memory what the extension asks for at least, so that what it does not count (indices, alignment) fits too.
void set_mesh_shaders(Properties& p) {
  for (uint32_t k = 0; k < 3; ++k) {
    p.maxTaskWorkGroupCount[k] = p.maxMeshWorkGroupCount[k] = kMaxWorkgroups;
    p.maxTaskWorkGroupSize[k] = p.maxMeshWorkGroupSize[k] = kMaxWorkgroupInvocations;
  }
  p.maxTaskWorkGroupTotalCount = p.maxMeshWorkGroupTotalCount = kMaxMeshWorkgroups;
  p.maxTaskWorkGroupInvocations = p.maxMeshWorkGroupInvocations = kMaxWorkgroupInvocations;
  p.maxTaskPayloadSize = kMaxTaskPayload_B;
  p.maxTaskSharedMemorySize = p.maxMeshSharedMemorySize = kMaxSharedMemory_B;
  p.maxTaskPayloadAndSharedMemorySize = p.maxMeshPayloadAndSharedMemorySize = kMaxSharedMemory_B + kMaxTaskPayload_B;
  p.maxMeshOutputMemorySize = kMaxMeshOutput_B / 2;
  p.maxMeshPayloadAndOutputMemorySize = kMaxMeshOutput_B / 2 + kMaxTaskPayload_B;
  p.maxMeshOutputComponents = kMaxVaryingComponents;
  p.maxMeshOutputVertices = kMaxMeshVertices, p.maxMeshOutputPrimitives = kMaxMeshPrimitives;
  p.maxMeshOutputLayers = 1024;      // maxFramebufferLayers
  p.maxMeshMultiviewViewCount = 16;  // Khronos's test of it makes a mask by a shift, which of 32 is none
  p.meshOutputPerVertexGranularity = p.meshOutputPerPrimitiveGranularity = 1;
  p.maxPreferredTaskWorkGroupInvocations = p.maxPreferredMeshWorkGroupInvocations = 128;
  // Outputs are memory of the workgroup: who writes which is all the same.
  p.prefersLocalInvocationVertexOutput = p.prefersLocalInvocationPrimitiveOutput = VK_FALSE;
  p.prefersCompactVertexOutput = p.prefersCompactPrimitiveOutput = VK_FALSE;
}

void set_rasterization(VkPhysicalDeviceLimits& l) {
  constexpr VkSampleCountFlags kSamples =
      VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_2_BIT | VK_SAMPLE_COUNT_4_BIT | VK_SAMPLE_COUNT_8_BIT | VK_SAMPLE_COUNT_16_BIT;
  l.subPixelPrecisionBits = 8;
  l.subTexelPrecisionBits = 8;
  l.mipmapPrecisionBits = 8;
  l.maxDrawIndexedIndexValue = 0xffffffff;
  l.maxDrawIndirectCount = 0xffffffff;
  l.maxSamplerLodBias = 16;
  l.maxSamplerAnisotropy = 16;
  l.maxViewports = kMaxViewports;
  l.maxViewportDimensions[0] = l.maxViewportDimensions[1] = kMaxImageSize_px;
  l.viewportBoundsRange[0] = -2.0F * kMaxImageSize_px;
  l.viewportBoundsRange[1] = 2.0F * kMaxImageSize_px - 1;
  l.viewportSubPixelBits = 8;
  l.minTexelOffset = l.minTexelGatherOffset = -8;
  l.maxTexelOffset = l.maxTexelGatherOffset = 7;
  l.minInterpolationOffset = -0.5F;
  l.maxInterpolationOffset = 0.4375F;
  l.subPixelInterpolationOffsetBits = 4;
  l.maxFramebufferWidth = l.maxFramebufferHeight = kMaxImageSize_px;
  l.maxFramebufferLayers = 1024;
  l.framebufferColorSampleCounts = l.framebufferDepthSampleCounts = l.framebufferStencilSampleCounts = kSamples;
  l.framebufferNoAttachmentsSampleCounts = kSamples;
  l.maxColorAttachments = kMaxColorAttachments;
  l.sampledImageColorSampleCounts = l.sampledImageIntegerSampleCounts = kSamples;
  l.sampledImageDepthSampleCounts = l.sampledImageStencilSampleCounts = kSamples;
  l.storageImageSampleCounts = kSamples;
  l.maxSampleMaskWords = 1;
  l.timestampComputeAndGraphics = VK_TRUE;
  l.timestampPeriod = 1;
  l.discreteQueuePriorities = 2;
  l.pointSizeRange[0] = kMinPointSize_px, l.pointSizeRange[1] = kMaxPointSize_px;
  l.lineWidthRange[0] = 1, l.lineWidthRange[1] = kMaxLineWidth_px;
  l.pointSizeGranularity = l.lineWidthGranularity = 1.0F / 128;
  l.strictLines = VK_FALSE;
  l.standardSampleLocations = VK_TRUE;
}

void set_versions(Properties& p) {
  std::snprintf(p.driverName, sizeof p.driverName, "tilegpu");
  std::snprintf(p.driverInfo, sizeof p.driverInfo, "tilegpu %s", version());
  // Never submitted for conformance: 0.0.0.0 says so. The driver ID is not one that Khronos gave.
  p.conformanceVersion = {0, 0, 0, 0};
  std::memcpy(p.driverUUID, "tilegpu driver ", sizeof p.driverUUID);
  std::memcpy(p.deviceUUID, "tilegpu software", sizeof p.deviceUUID);
  std::memcpy(p.shaderBinaryUUID, kShaderBinaryUUID, sizeof p.shaderBinaryUUID);
  p.shaderBinaryVersion = kShaderBinaryVersion;
  std::memcpy(p.optimalTilingLayoutUUID, "tilegpu: packed ", sizeof p.optimalTilingLayoutUUID);
  p.identicalMemoryTypeRequirements = p.nativeUnalignedPerformance = VK_TRUE;
  // Reads are of the tile, in the order of primitives, of any sample, and a helper reads its own pixel.
  p.shaderTileImageCoherentReadAccelerated = p.shaderTileImageReadSampleFromPixelRateInvocation = VK_TRUE;
  p.shaderTileImageReadFromHelperInvocation = VK_TRUE;
}

/// Sets hold kMaxDescriptorsOfSet elements, of any kinds, whenever they are written.
void set_descriptor_properties(Properties& p) {
  constexpr uint32_t kAll = kMaxDescriptorsOfSet;
  p.maxPerSetDescriptors = kAll;
  p.maxUpdateAfterBindDescriptorsInAllPools = ~0U;
  p.maxPerStageUpdateAfterBindResources = kAll;
  p.maxPerStageDescriptorUpdateAfterBindSamplers = p.maxDescriptorSetUpdateAfterBindSamplers = kAll;
  p.maxPerStageDescriptorUpdateAfterBindUniformBuffers = p.maxDescriptorSetUpdateAfterBindUniformBuffers = kAll;
  p.maxPerStageDescriptorUpdateAfterBindStorageBuffers = p.maxDescriptorSetUpdateAfterBindStorageBuffers = kAll;
  p.maxPerStageDescriptorUpdateAfterBindSampledImages = p.maxDescriptorSetUpdateAfterBindSampledImages = kAll;
  p.maxPerStageDescriptorUpdateAfterBindStorageImages = p.maxDescriptorSetUpdateAfterBindStorageImages = kAll;
  p.maxPerStageDescriptorUpdateAfterBindInputAttachments = p.maxDescriptorSetUpdateAfterBindInputAttachments = kMaxColorAttachments;
  p.maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = p.maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = 16;
  p.robustBufferAccessUpdateAfterBind = VK_TRUE;
  p.quadDivergentImplicitLod = VK_TRUE;
  p.shaderUniformBufferArrayNonUniformIndexingNative = p.shaderStorageBufferArrayNonUniformIndexingNative = VK_TRUE;
  p.maxInlineUniformBlockSize = kMaxInlineUniformBlock_B;
  p.maxInlineUniformTotalSize = 1 << 16;
  p.maxPerStageDescriptorInlineUniformBlocks = p.maxDescriptorSetInlineUniformBlocks = 16;
  p.maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks = p.maxDescriptorSetUpdateAfterBindInlineUniformBlocks = 16;
  p.maxDescriptorSetTotalUniformBuffersDynamic = p.maxDescriptorSetTotalStorageBuffersDynamic = 16;
  p.maxDescriptorSetTotalBuffersDynamic = 32;
  p.maxDescriptorSetUpdateAfterBindTotalUniformBuffersDynamic = p.maxDescriptorSetUpdateAfterBindTotalStorageBuffersDynamic = 16;
  p.maxDescriptorSetUpdateAfterBindTotalBuffersDynamic = 32;
  p.maxPushDescriptors = 1 << 8;
  p.defaultRobustnessStorageBuffers = p.defaultRobustnessUniformBuffers = p.defaultRobustnessVertexInputs =
      VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS;
  p.defaultRobustnessImages = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_ROBUST_IMAGE_ACCESS_2;
  p.storageTexelBufferOffsetAlignmentBytes = p.uniformTexelBufferOffsetAlignmentBytes = kTexelBufferAlignment_B;
  p.storageTexelBufferOffsetSingleTexelAlignment = p.uniformTexelBufferOffsetSingleTexelAlignment = VK_FALSE;
}

/// Conservative rasterization, custom sample locations and interlock leave fragments at one pixel.
void set_shading_rates(Properties& p) {
  p.minFragmentShadingRateAttachmentTexelSize = {kMinShadingRateTexel_px, kMinShadingRateTexel_px};
  p.maxFragmentShadingRateAttachmentTexelSize = {kMaxShadingRateTexel_px, kMaxShadingRateTexel_px};
  p.maxFragmentShadingRateAttachmentTexelSizeAspectRatio = kMaxShadingRateTexel_px / kMinShadingRateTexel_px;
  p.primitiveFragmentShadingRateWithMultipleViewports = p.layeredShadingRateAttachments = VK_TRUE;
  p.fragmentShadingRateNonTrivialCombinerOps = p.fragmentShadingRateStrictMultiplyCombiner = VK_TRUE;
  p.fragmentShadingRateClampCombinerInputs = VK_TRUE;
  p.maxFragmentSize = {vk::kMaxFragmentSize_px, vk::kMaxFragmentSize_px};
  p.maxFragmentSizeAspectRatio = vk::kMaxFragmentAspectRatio;
  p.maxFragmentShadingRateCoverageSamples = vk::kMaxFragmentCoverageSamples;
  p.maxFragmentShadingRateRasterizationSamples = static_cast<VkSampleCountFlagBits>(vk::kMaxShadingRateSamples);
  p.fragmentShadingRateWithShaderDepthStencilWrites = VK_TRUE;
  p.fragmentShadingRateWithSampleMask = p.fragmentShadingRateWithShaderSampleMask = VK_TRUE;
}

Properties make_properties() {
  Properties p;
  set_shading_rates(p);
  p.cooperativeMatrixSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  set_versions(p);
  set_descriptor_properties(p);
  p.advancedBlendMaxColorAttachments = kMaxColorAttachments;
  p.advancedBlendIndependentBlend = p.advancedBlendAllOperations = p.advancedBlendCorrelatedOverlap = VK_TRUE;
  p.advancedBlendNonPremultipliedSrcColor = p.advancedBlendNonPremultipliedDstColor = VK_TRUE;
  p.maxExtraPrimitiveOverestimationSize = kMaxExtraOverestimation_px;
  p.extraPrimitiveOverestimationSizeGranularity = 1.0F / 256;
  p.primitiveUnderestimation = VK_TRUE;
  p.maxDiscardRectangles = kMaxDiscardRectangles;
  p.sampleLocationSampleCounts = VK_SAMPLE_COUNT_2_BIT | VK_SAMPLE_COUNT_4_BIT | VK_SAMPLE_COUNT_8_BIT | VK_SAMPLE_COUNT_16_BIT;
  p.maxSampleLocationGridSize = {1, 1};
  p.sampleLocationCoordinateRange[1] = 0.9375F;
  p.sampleLocationSubPixelBits = 4;
  p.variableSampleLocations = VK_TRUE;
  p.graphicsPipelineLibraryFastLinking = VK_TRUE;  // creating waits for no compiler
  p.supportsNonZeroFirstInstance = VK_TRUE;
  p.maxMultiDrawCount = 1 << 16;
  p.dynamicRenderingLocalReadDepthStencilAttachments = p.dynamicRenderingLocalReadMultisampledAttachments = VK_TRUE;
  p.earlyFragmentMultisampleCoverageAfterSampleCounting = p.earlyFragmentSampleMaskTestBeforeSampleCounting = VK_TRUE;
  p.depthStencilSwizzleOneSupport = VK_TRUE;
  p.polygonModePointSize = VK_TRUE;
  p.nonStrictSinglePixelWideLinesUseParallelogram = p.nonStrictWideLinesUseParallelogram = VK_TRUE;
  p.maxCombinedImageSamplerDescriptorCount = 1;
  p.blockTexelViewCompatibleMultipleLayers = VK_TRUE;
  p.provokingVertexModePerPipeline = VK_TRUE;
  p.triStripVertexOrderIndependentOfProvokingVertex = VK_FALSE;  // the table of the last vertex holds
  p.lineSubPixelPrecisionBits = 8;                               // as subPixelPrecisionBits
  // One size, whatever the lanes: what a program sees of it is the same everywhere.
  p.maxCommandBufferNestingLevel = command::kMaxNesting;
  p.minImportedHostPointerAlignment = DeviceMemory::host_alignment_B();
  p.subgroupSize = p.minSubgroupSize = p.maxSubgroupSize = kSubgroupSize;
  p.maxComputeWorkgroupSubgroups = kMaxWorkgroupInvocations / kSubgroupSize;
  constexpr VkShaderStageFlags kWorkgroups = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT;
  p.requiredSubgroupSizeStages = kWorkgroups;
  p.subgroupSupportedStages = kWorkgroups | VK_SHADER_STAGE_ALL_GRAPHICS;
  p.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                  VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                  VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT | VK_SUBGROUP_FEATURE_CLUSTERED_BIT |
                                  VK_SUBGROUP_FEATURE_QUAD_BIT | VK_SUBGROUP_FEATURE_ROTATE_BIT | VK_SUBGROUP_FEATURE_ROTATE_CLUSTERED_BIT;
  p.pointClippingBehavior = VK_POINT_CLIPPING_BEHAVIOR_ALL_CLIP_PLANES;
  p.maxMultiviewViewCount = 32;
  set_mesh_shaders(p);
  p.maxVertexAttribDivisor = ~0U;
  p.maxTransformFeedbackStreams = kMaxStreams, p.maxTransformFeedbackBuffers = kMaxTransformFeedbackBuffers;
  p.maxTransformFeedbackBufferSize = ~uint32_t{0};  // counters have 32 bits
  p.maxTransformFeedbackStreamDataSize = 4 * kMaxVaryingComponents;
  p.maxTransformFeedbackBufferDataSize = 4 * kMaxVaryingComponents;
  p.maxTransformFeedbackBufferDataStride = kMaxTransformFeedbackStride_B;
  p.transformFeedbackQueries = p.transformFeedbackDraw = VK_TRUE;
  p.transformFeedbackStreamsLinesTriangles = p.transformFeedbackRasterizationStreamSelect = VK_TRUE;
  p.maxMultiviewInstanceIndex = (1u << 27) - 1;
  p.robustStorageBufferAccessSizeAlignment = p.robustUniformBufferAccessSizeAlignment = 4;
  p.maxMemoryAllocationSize = memory_limit_B();
  p.maxBufferSize = p.maxMemoryAllocationSize;
  p.maxTimelineSemaphoreValueDifference = ~uint64_t{0};
  p.framebufferIntegerColorSampleCounts = VK_SAMPLE_COUNT_1_BIT;
  p.supportedDepthResolveModes =
      VK_RESOLVE_MODE_SAMPLE_ZERO_BIT | VK_RESOLVE_MODE_AVERAGE_BIT | VK_RESOLVE_MODE_MIN_BIT | VK_RESOLVE_MODE_MAX_BIT;
  p.supportedStencilResolveModes = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT | VK_RESOLVE_MODE_MIN_BIT | VK_RESOLVE_MODE_MAX_BIT;
  p.filterMinmaxSingleComponentFormats = p.filterMinmaxImageComponentMapping = VK_TRUE;
  p.maxCustomBorderColorSamplers = shader::kMaxSamplers;
  p.independentResolve = p.independentResolveNone = VK_TRUE;
  p.shaderSignedZeroInfNanPreserveFloat16 = p.shaderSignedZeroInfNanPreserveFloat32 = p.shaderSignedZeroInfNanPreserveFloat64 = VK_TRUE;
  p.shaderDenormPreserveFloat16 = p.shaderDenormPreserveFloat32 = p.shaderDenormPreserveFloat64 = VK_TRUE;
  p.shaderRoundingModeRTEFloat16 = p.shaderRoundingModeRTEFloat32 = p.shaderRoundingModeRTEFloat64 = VK_TRUE;
  p.denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  p.roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  return p;
}

// What the specification wants of limits beside their least values, and of the order of memory types.
void check(const Capabilities& c) {
  [[maybe_unused]] const VkPhysicalDeviceLimits& l = c.core.limits;
  assert(l.maxViewportDimensions[0] >= l.maxFramebufferWidth && l.maxViewportDimensions[1] >= l.maxFramebufferHeight);
  assert(l.viewportBoundsRange[0] <= -2.0F * static_cast<float>(l.maxViewportDimensions[0]));
  assert(l.maxFramebufferLayers <= l.maxImageArrayLayers && l.maxImageDimension3D <= l.maxImageDimension2D);
  assert(std::has_single_bit(l.minUniformBufferOffsetAlignment) && std::has_single_bit(l.minStorageBufferOffsetAlignment));
  assert(std::has_single_bit(l.nonCoherentAtomSize) && std::has_single_bit(l.minMemoryMapAlignment));
  assert(l.maxCombinedClipAndCullDistances >= std::max(l.maxClipDistances, l.maxCullDistances));
  assert(c.memory.memoryTypeCount == std::max(kTypeHost, kTypeLazy) + 1);
  for (uint32_t later = 1; later < c.memory.memoryTypeCount; ++later)
    for (uint32_t before = 0; before < later; ++before) {
      [[maybe_unused]] const VkMemoryPropertyFlags a = c.memory.memoryTypes[before].propertyFlags;
      [[maybe_unused]] const VkMemoryPropertyFlags b = c.memory.memoryTypes[later].propertyFlags;
      assert((a & b) != b);  // a type that has less comes first
    }
}

Capabilities make() {
  Capabilities c{};
  c.api_version = wanted_version();
  const ExtensionSet without = unwanted_extensions();
  for (const Extension e : kExtensions) {
    assert(!c.extensions.has(e));
    // Before 1.2 it wants VK_KHR_vulkan_memory_model, which is not listed.
    if (e == Extension::KHR_shader_quad_control && c.api_version < VK_API_VERSION_1_2) continue;
    if (!without.has(e)) c.extensions.add(e);
  }
  c.features = make_features();
  c.features.shaderQuadControl = c.extensions.has(Extension::KHR_shader_quad_control);
  c.properties = make_properties();
  c.core.apiVersion = c.api_version + VK_HEADER_VERSION;
  c.core.driverVersion = VK_MAKE_API_VERSION(0, 0, 1, 0);
  c.core.vendorID = VK_VENDOR_ID_MESA + 0x1000;  // not a PCI vendor, and none that Khronos gave
  c.core.deviceID = 1;
  c.core.deviceType = wanted_type();
  std::snprintf(c.core.deviceName, sizeof c.core.deviceName, "tilegpu %s (software)", version());
  std::snprintf(reinterpret_cast<char*>(c.core.pipelineCacheUUID), VK_UUID_SIZE, "tilegpu %.7s", version());
  set_sizes(c.core.limits);
  set_descriptors(c.core.limits);
  set_stages(c.core.limits);
  set_rasterization(c.core.limits);
  c.queue_family = {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 1, 64, {1, 1, 1}};
  c.memory.memoryHeapCount = 1;
  c.memory.memoryHeaps[kHeap] = {memory_limit_B(), VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  c.memory.memoryTypeCount = 2;
  c.memory.memoryTypes[kTypeHost] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                     kHeap};
  c.memory.memoryTypes[kTypeLazy] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, kHeap};
  check(c);
  return c;
}

}  // namespace

const Capabilities& capabilities() {
  static const Capabilities all = make();
  return all;
}

}  // namespace tilegpu::icd
