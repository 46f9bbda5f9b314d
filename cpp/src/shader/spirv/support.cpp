// shader/spirv/support.cpp -- the one list of SPIR-V capabilities that are supported, and names for messages.
//
// Source: SPIR-V specification 1.6, section 3.31 "Capability"; Vulkan specification, "Capabilities".
#include <spirv-tools/libspirv.h>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

const char* unsupported_capability(spv::Capability capability) {
  switch (capability) {
    case spv::CapabilityMatrix:
    case spv::CapabilityShader:
    case spv::CapabilityInputAttachment:
    case spv::CapabilityInputAttachmentArrayDynamicIndexing:
    case spv::CapabilitySampled1D:
    case spv::CapabilitySampledCubeArray:
    case spv::CapabilityImageGatherExtended:
    case spv::CapabilityImageQuery:
    case spv::CapabilityClipDistance:
    case spv::CapabilityCullDistance:
    case spv::CapabilitySampleRateShading:
    case spv::CapabilityInterpolationFunction:
    case spv::CapabilityDerivativeControl:
    case spv::CapabilityDrawParameters:
    case spv::CapabilityDemoteToHelperInvocation:
    case spv::CapabilityUniformBufferArrayDynamicIndexing:
    case spv::CapabilitySampledImageArrayDynamicIndexing:
    case spv::CapabilityStorageBufferArrayDynamicIndexing:
    case spv::CapabilityShaderNonUniform:
    case spv::CapabilityUniformBufferArrayNonUniformIndexing:
    case spv::CapabilitySampledImageArrayNonUniformIndexing:
    case spv::CapabilityStorageBufferArrayNonUniformIndexing:
    case spv::CapabilitySignedZeroInfNanPreserve:
    case spv::CapabilityDenormPreserve:
    case spv::CapabilityRoundingModeRTE:
    case spv::CapabilityStencilExportEXT:
    case spv::CapabilityMinLod:
    // glslang asks for these where a fragment shader reads gl_PrimitiveID or gl_Layer.
    case spv::CapabilityGeometry:
    case spv::CapabilityShaderLayer:
    case spv::CapabilityShaderViewportIndexLayerEXT:
      return nullptr;
    case spv::CapabilityTessellation:
      return "Tessellation";
    case spv::CapabilityAddresses:
      return "Addresses";
    case spv::CapabilityLinkage:
      return "Linkage";
    case spv::CapabilityKernel:
      return "Kernel";
    case spv::CapabilityFloat16:
      return "Float16";
    case spv::CapabilityFloat64:
      return "Float64";
    case spv::CapabilityInt8:
      return "Int8";
    case spv::CapabilityInt16:
      return "Int16";
    case spv::CapabilityInt64:
      return "Int64";
    case spv::CapabilityInt64Atomics:
      return "Int64Atomics";
    case spv::CapabilityAtomicStorage:
      return "AtomicStorage";
    case spv::CapabilityStorageImageExtendedFormats:
      return "StorageImageExtendedFormats";
    case spv::CapabilityStorageImageMultisample:
      return "StorageImageMultisample";
    case spv::CapabilityStorageImageReadWithoutFormat:
      return "StorageImageReadWithoutFormat";
    case spv::CapabilityStorageImageWriteWithoutFormat:
      return "StorageImageWriteWithoutFormat";
    case spv::CapabilityStorageImageArrayDynamicIndexing:
      return "StorageImageArrayDynamicIndexing";
    case spv::CapabilityImageBuffer:
      return "ImageBuffer";
    case spv::CapabilitySampledBuffer:
      return "SampledBuffer";
    case spv::CapabilitySampledRect:
      return "SampledRect";
    case spv::CapabilityImage1D:
      return "Image1D";
    case spv::CapabilityImageCubeArray:
      return "ImageCubeArray";
    case spv::CapabilityImageMSArray:
      return "ImageMSArray";
    case spv::CapabilitySparseResidency:
      return "SparseResidency";
    case spv::CapabilityTransformFeedback:
      return "TransformFeedback";
    case spv::CapabilityGeometryStreams:
      return "GeometryStreams";
    case spv::CapabilityMultiViewport:
      return "MultiViewport";
    case spv::CapabilityMultiView:
      return "MultiView";
    case spv::CapabilityVariablePointers:
      return "VariablePointers";
    case spv::CapabilityVariablePointersStorageBuffer:
      return "VariablePointersStorageBuffer";
    case spv::CapabilityVulkanMemoryModel:
      return "VulkanMemoryModel";
    case spv::CapabilityVulkanMemoryModelDeviceScope:
      return "VulkanMemoryModelDeviceScope";
    case spv::CapabilityPhysicalStorageBufferAddresses:
      return "PhysicalStorageBufferAddresses";
    case spv::CapabilityStorageBuffer16BitAccess:
      return "StorageBuffer16BitAccess";
    case spv::CapabilityUniformAndStorageBuffer16BitAccess:
      return "UniformAndStorageBuffer16BitAccess";
    case spv::CapabilityStoragePushConstant16:
      return "StoragePushConstant16";
    case spv::CapabilityStorageInputOutput16:
      return "StorageInputOutput16";
    case spv::CapabilityStorageBuffer8BitAccess:
      return "StorageBuffer8BitAccess";
    case spv::CapabilityUniformAndStorageBuffer8BitAccess:
      return "UniformAndStorageBuffer8BitAccess";
    case spv::CapabilityRuntimeDescriptorArray:
      return "RuntimeDescriptorArray";
    case spv::CapabilityGroupNonUniform:
      return "GroupNonUniform";
    case spv::CapabilityGroupNonUniformVote:
      return "GroupNonUniformVote";
    case spv::CapabilityGroupNonUniformArithmetic:
      return "GroupNonUniformArithmetic";
    case spv::CapabilityGroupNonUniformBallot:
      return "GroupNonUniformBallot";
    case spv::CapabilityGroupNonUniformShuffle:
      return "GroupNonUniformShuffle";
    case spv::CapabilityGroupNonUniformQuad:
      return "GroupNonUniformQuad";
    case spv::CapabilitySubgroupBallotKHR:
      return "SubgroupBallotKHR";
    case spv::CapabilitySubgroupVoteKHR:
      return "SubgroupVoteKHR";
    case spv::CapabilityFragmentBarycentricKHR:
      return "FragmentBarycentricKHR";
    case spv::CapabilityFragmentShadingRateKHR:
      return "FragmentShadingRateKHR";
    case spv::CapabilityFragmentDensityEXT:
      return "FragmentDensityEXT";
    case spv::CapabilityFragmentShaderPixelInterlockEXT:
      return "FragmentShaderPixelInterlockEXT";
    case spv::CapabilityFragmentShaderSampleInterlockEXT:
      return "FragmentShaderSampleInterlockEXT";
    case spv::CapabilityFragmentFullyCoveredEXT:
      return "FragmentFullyCoveredEXT";
    case spv::CapabilityShaderClockKHR:
      return "ShaderClockKHR";
    case spv::CapabilityRayTracingKHR:
      return "RayTracingKHR";
    case spv::CapabilityRayQueryKHR:
      return "RayQueryKHR";
    case spv::CapabilityMeshShadingEXT:
      return "MeshShadingEXT";
    case spv::CapabilityDenormFlushToZero:
      return "DenormFlushToZero";
    case spv::CapabilityRoundingModeRTZ:
      return "RoundingModeRTZ";
    default:
      return "of an extension that tilegpu does not know";
  }
}

std::string builtin_name(uint32_t builtin) {
  switch (static_cast<spv::BuiltIn>(builtin)) {
    case spv::BuiltInPosition:
      return "Position (gl_Position)";
    case spv::BuiltInPointSize:
      return "PointSize (gl_PointSize)";
    case spv::BuiltInClipDistance:
      return "ClipDistance (gl_ClipDistance)";
    case spv::BuiltInCullDistance:
      return "CullDistance (gl_CullDistance)";
    case spv::BuiltInPrimitiveId:
      return "PrimitiveId (gl_PrimitiveID)";
    case spv::BuiltInLayer:
      return "Layer (gl_Layer)";
    case spv::BuiltInViewportIndex:
      return "ViewportIndex (gl_ViewportIndex)";
    case spv::BuiltInViewIndex:
      return "ViewIndex (gl_ViewIndex)";
    case spv::BuiltInDeviceIndex:
      return "DeviceIndex (gl_DeviceIndex)";
    case spv::BuiltInSubgroupSize:
      return "SubgroupSize (gl_SubgroupSize)";
    case spv::BuiltInSubgroupLocalInvocationId:
      return "SubgroupLocalInvocationId (gl_SubgroupInvocationID)";
    case spv::BuiltInBaryCoordKHR:
      return "BaryCoordKHR (gl_BaryCoordEXT)";
    case spv::BuiltInFullyCoveredEXT:
      return "FullyCoveredEXT";
    case spv::BuiltInPrimitiveShadingRateKHR:
      return "PrimitiveShadingRateKHR";
    case spv::BuiltInShadingRateKHR:
      return "ShadingRateKHR";
    default:
      return "number " + std::to_string(builtin) + " of SPIR-V's list";
  }
}

std::string op_name(spv::Op op) {
  const char* name = spvOpcodeString(static_cast<uint32_t>(op));
  return name && *name && std::string(name) != "unknown" ? std::string("Op") + name
                                                         : "instruction " + std::to_string(static_cast<uint32_t>(op));
}

}  // namespace tilegpu::shader
