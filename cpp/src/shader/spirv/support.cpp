// shader/spirv/support.cpp -- the one list of SPIR-V capabilities that are supported, and names for messages.
// In: a capability, a built-in, an instruction. Out: its name, or null where it is supported.
// Source: SPIR-V specification 1.6, section 3.31 "Capability"; Vulkan specification, "Capabilities".
#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {

namespace {

constexpr spv::Capability kSupported[] = {
    kCapabilityCooperativeMatrix,  // of compute shaders
    spv::CapabilityMatrix,
    spv::CapabilityShader,
    spv::CapabilityInputAttachment,
    spv::CapabilityInputAttachmentArrayDynamicIndexing,
    spv::CapabilitySampled1D,
    spv::CapabilitySampledCubeArray,
    spv::CapabilitySampledBuffer,
    spv::CapabilityImage1D,
    spv::CapabilityImageCubeArray,
    spv::CapabilityImageMSArray,
    spv::CapabilityImageBuffer,
    spv::CapabilityStorageImageExtendedFormats,
    spv::CapabilityStorageImageMultisample,
    spv::CapabilityStorageImageReadWithoutFormat,
    spv::CapabilityStorageImageWriteWithoutFormat,
    spv::CapabilityStorageImageArrayDynamicIndexing,
    spv::CapabilityStorageImageArrayNonUniformIndexing,
    spv::CapabilityUniformTexelBufferArrayDynamicIndexing,
    spv::CapabilityUniformTexelBufferArrayNonUniformIndexing,
    spv::CapabilityStorageTexelBufferArrayDynamicIndexing,
    spv::CapabilityStorageTexelBufferArrayNonUniformIndexing,
    spv::CapabilityImageGatherExtended,
    spv::CapabilityImageQuery,
    spv::CapabilityClipDistance,
    spv::CapabilityCullDistance,
    spv::CapabilitySampleRateShading,
    spv::CapabilitySampleMaskPostDepthCoverage,
    spv::CapabilityInterpolationFunction,
    spv::CapabilityDerivativeControl,
    spv::CapabilityComputeDerivativeGroupQuadsNV,  // the KHR extension's have the same numbers
    spv::CapabilityComputeDerivativeGroupLinearNV,
    spv::CapabilityDrawParameters,
    spv::CapabilityDemoteToHelperInvocation,
    spv::CapabilityUniformBufferArrayDynamicIndexing,
    spv::CapabilitySampledImageArrayDynamicIndexing,
    spv::CapabilityStorageBufferArrayDynamicIndexing,
    spv::CapabilityShaderNonUniform,
    spv::CapabilityRuntimeDescriptorArray,
    spv::CapabilityUniformBufferArrayNonUniformIndexing,
    spv::CapabilitySampledImageArrayNonUniformIndexing,
    spv::CapabilityStorageBufferArrayNonUniformIndexing,
    spv::CapabilitySignedZeroInfNanPreserve,
    spv::CapabilityDenormPreserve,
    spv::CapabilityRoundingModeRTE,
    spv::CapabilityStencilExportEXT,
    spv::CapabilityFragmentBarycentricKHR,
    spv::CapabilityFragmentShaderPixelInterlockEXT,
    spv::CapabilityFragmentShaderSampleInterlockEXT,
    // Memory is coherent, and barriers order all of it: what the model lets a shader leave out is done all the same.
    spv::CapabilityVulkanMemoryModel,
    spv::CapabilityVulkanMemoryModelDeviceScope,
    spv::CapabilityInt8,
    spv::CapabilityInt16,
    spv::CapabilityInt64,
    spv::CapabilityFloat16,
    spv::CapabilityFloat64,
    spv::CapabilityInt64Atomics,
    spv::CapabilityInt64ImageEXT,
    spv::CapabilityPhysicalStorageBufferAddresses,
    spv::CapabilityStorageBuffer8BitAccess,
    spv::CapabilityUniformAndStorageBuffer8BitAccess,
    spv::CapabilityStoragePushConstant8,
    spv::CapabilityStorageBuffer16BitAccess,
    spv::CapabilityUniformAndStorageBuffer16BitAccess,
    spv::CapabilityStoragePushConstant16,
    spv::CapabilityWorkgroupMemoryExplicitLayoutKHR,
    spv::CapabilityWorkgroupMemoryExplicitLayout8BitAccessKHR,
    spv::CapabilityWorkgroupMemoryExplicitLayout16BitAccessKHR,
    spv::CapabilityDotProduct,
    spv::CapabilityDotProductInputAll,
    spv::CapabilityDotProductInput4x8Bit,
    spv::CapabilityDotProductInput4x8BitPacked,
    // Of compute and fragment shaders; vertex shaders refuse the instructions.
    spv::CapabilityGroupNonUniform,
    spv::CapabilityGroupNonUniformVote,
    spv::CapabilityGroupNonUniformArithmetic,
    spv::CapabilityGroupNonUniformBallot,
    spv::CapabilityGroupNonUniformShuffle,
    spv::CapabilityGroupNonUniformShuffleRelative,
    spv::CapabilityGroupNonUniformClustered,
    spv::CapabilityGroupNonUniformQuad,
    spv::CapabilityGroupNonUniformRotateKHR,
    kCapabilityQuadControl,
    kCapabilityReplicatedComposites,
    kCapabilityFloatControls2,  // what may be contracted; nothing else is ever done for speed
    spv::CapabilitySubgroupBallotKHR,
    spv::CapabilitySubgroupVoteKHR,
    spv::CapabilityExpectAssumeKHR,
    spv::CapabilityAtomicFloat32AddEXT,
    spv::CapabilityAtomicFloat32MinMaxEXT,
    spv::CapabilityAtomicFloat64AddEXT,
    spv::CapabilityAtomicFloat64MinMaxEXT,
    spv::CapabilityVariablePointers,
    spv::CapabilityVariablePointersStorageBuffer,
    // glslang asks for some of these where a fragment shader reads gl_PrimitiveID or gl_Layer.
    spv::CapabilityGeometry,
    spv::CapabilityGeometryPointSize,
    spv::CapabilityGeometryStreams,
    spv::CapabilityTessellation,
    spv::CapabilityTessellationPointSize,
    spv::CapabilityTransformFeedback,
    spv::CapabilityShaderLayer,
    spv::CapabilityShaderViewportIndex,
    spv::CapabilityShaderViewportIndexLayerEXT,
    spv::CapabilityMultiViewport,
    spv::CapabilityMinLod,
    spv::CapabilityMultiView,
    spv::CapabilityFragmentShadingRateKHR,
    spv::CapabilityStorageInputOutput16,
    spv::CapabilityMeshShadingEXT,
};

// What a message names; the list is of what shaders of others ask for.
#define TILEGPU_ROW(name) {spv::Capability##name, #name}
constexpr std::pair<spv::Capability, const char*> kNotSupported[] = {
    TILEGPU_ROW(Addresses),
    TILEGPU_ROW(Linkage),
    TILEGPU_ROW(Kernel),
    TILEGPU_ROW(AtomicStorage),
    TILEGPU_ROW(AtomicFloat16AddEXT),
    TILEGPU_ROW(AtomicFloat16MinMaxEXT),
    TILEGPU_ROW(SampledRect),
    TILEGPU_ROW(SparseResidency),
    TILEGPU_ROW(FragmentDensityEXT),
    TILEGPU_ROW(FragmentShaderShadingRateInterlockEXT),
    TILEGPU_ROW(FragmentFullyCoveredEXT),
    TILEGPU_ROW(ShaderClockKHR),
    TILEGPU_ROW(RayTracingKHR),
    TILEGPU_ROW(RayQueryKHR),
    TILEGPU_ROW(MeshShadingNV),
    TILEGPU_ROW(DenormFlushToZero),
    TILEGPU_ROW(RoundingModeRTZ),
};
#undef TILEGPU_ROW

constexpr std::pair<spv::BuiltIn, const char*> kBuiltIns[] = {
    {spv::BuiltInBaryCoordKHR, "BaryCoordKHR (gl_BaryCoordEXT)"},
    {spv::BuiltInBaryCoordNoPerspKHR, "BaryCoordNoPerspKHR (gl_BaryCoordNoPerspEXT)"},
    {spv::BuiltInPosition, "Position (gl_Position)"},
    {spv::BuiltInPointSize, "PointSize (gl_PointSize)"},
    {spv::BuiltInClipDistance, "ClipDistance (gl_ClipDistance)"},
    {spv::BuiltInCullDistance, "CullDistance (gl_CullDistance)"},
    {spv::BuiltInPrimitiveId, "PrimitiveId (gl_PrimitiveID)"},
    {spv::BuiltInInvocationId, "InvocationId (gl_InvocationID)"},
    {spv::BuiltInLayer, "Layer (gl_Layer)"},
    {spv::BuiltInViewportIndex, "ViewportIndex (gl_ViewportIndex)"},
    {spv::BuiltInTessLevelOuter, "TessLevelOuter (gl_TessLevelOuter)"},
    {spv::BuiltInTessLevelInner, "TessLevelInner (gl_TessLevelInner)"},
    {spv::BuiltInTessCoord, "TessCoord (gl_TessCoord)"},
    {spv::BuiltInPatchVertices, "PatchVertices (gl_PatchVerticesIn)"},
    {spv::BuiltInViewIndex, "ViewIndex (gl_ViewIndex)"},
    {spv::BuiltInDeviceIndex, "DeviceIndex (gl_DeviceIndex)"},
    {spv::BuiltInNumWorkgroups, "NumWorkgroups (gl_NumWorkGroups)"},
    {spv::BuiltInWorkgroupId, "WorkgroupId (gl_WorkGroupID)"},
    {spv::BuiltInLocalInvocationId, "LocalInvocationId (gl_LocalInvocationID)"},
    {spv::BuiltInGlobalInvocationId, "GlobalInvocationId (gl_GlobalInvocationID)"},
    {spv::BuiltInLocalInvocationIndex, "LocalInvocationIndex (gl_LocalInvocationIndex)"},
    {spv::BuiltInNumSubgroups, "NumSubgroups (gl_NumSubgroups)"},
    {spv::BuiltInSubgroupId, "SubgroupId (gl_SubgroupID)"},
    {spv::BuiltInSubgroupEqMask, "SubgroupEqMask (gl_SubgroupEqMask)"},
    {spv::BuiltInSubgroupGeMask, "SubgroupGeMask (gl_SubgroupGeMask)"},
    {spv::BuiltInSubgroupGtMask, "SubgroupGtMask (gl_SubgroupGtMask)"},
    {spv::BuiltInSubgroupLeMask, "SubgroupLeMask (gl_SubgroupLeMask)"},
    {spv::BuiltInSubgroupLtMask, "SubgroupLtMask (gl_SubgroupLtMask)"},
    {spv::BuiltInSubgroupSize, "SubgroupSize (gl_SubgroupSize)"},
    {spv::BuiltInSubgroupLocalInvocationId, "SubgroupLocalInvocationId (gl_SubgroupInvocationID)"},
    {spv::BuiltInBaryCoordKHR, "BaryCoordKHR (gl_BaryCoordEXT)"},
    {spv::BuiltInPrimitivePointIndicesEXT, "PrimitivePointIndicesEXT (gl_PrimitivePointIndicesEXT)"},
    {spv::BuiltInPrimitiveLineIndicesEXT, "PrimitiveLineIndicesEXT (gl_PrimitiveLineIndicesEXT)"},
    {spv::BuiltInPrimitiveTriangleIndicesEXT, "PrimitiveTriangleIndicesEXT (gl_PrimitiveTriangleIndicesEXT)"},
    {spv::BuiltInCullPrimitiveEXT, "CullPrimitiveEXT (gl_CullPrimitiveEXT)"},
    {spv::BuiltInDrawIndex, "DrawIndex (gl_DrawID)"},
    {spv::BuiltInFullyCoveredEXT, "FullyCoveredEXT"},
    {spv::BuiltInPrimitiveShadingRateKHR, "PrimitiveShadingRateKHR (gl_PrimitiveShadingRateEXT)"},
    {spv::BuiltInShadingRateKHR, "ShadingRateKHR (gl_ShadingRateEXT)"},
};

/// The name in a table's row, or null.
template <class Key, size_t n>
const char* name_in(const std::pair<Key, const char*> (&table)[n], Key key) {
  for (const auto& [of, name] : table) {
    if (of == key) return name;
  }
  return nullptr;
}

}  // namespace

const char* unsupported_capability(spv::Capability capability) {
  if (std::find(std::begin(kSupported), std::end(kSupported), capability) != std::end(kSupported)) return nullptr;
  const char* name = name_in(kNotSupported, capability);
  return name ? name : "of an extension that tilegpu does not know";
}

std::string builtin_name(uint32_t builtin) {
  const char* name = name_in(kBuiltIns, static_cast<spv::BuiltIn>(builtin));
  return name ? name : "number " + std::to_string(builtin) + " of SPIR-V's list";
}

std::string op_name(spv::Op op) {
  if (const char* own = newer_name(op)) return std::string("Op") + own;
  if (const char* own = cooperative_name(op)) return std::string("Op") + own;
  const char* name = spvOpcodeString(static_cast<uint32_t>(op));
  return name && *name && std::string(name) != "unknown" ? std::string("Op") + name
                                                         : "instruction " + std::to_string(static_cast<uint32_t>(op));
}

}  // namespace tilegpu::shader
