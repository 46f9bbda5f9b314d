// icd/formats.cpp -- what each format can do, and how large images of it may be: from the core's own table of formats.
//
// In: VkFormat, VkPhysicalDeviceImageFormatInfo2. Out: VkFormatFeatureFlags2, VkImageFormatProperties.
// Source: Vulkan specification, "Format Properties", "Additional Image Capabilities".
#include <algorithm>
#include <bit>
#include <cassert>

#include "icd/capabilities.hpp"
#include "icd/objects.hpp"
#include "tilegpu/pipeline.hpp"
#include "vk/ycbcr.hpp"

namespace tilegpu::icd {

VkFormatFeatureFlags2 image_features(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info) return 0;
  assert((!info->blend || info->color_attachment) && (!info->linear_filter || info->sampled));
  assert(!info->is_depth_stencil() || !info->color_attachment);
  VkFormatFeatureFlags2 flags = 0;
  if (info->sampled) flags |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT;
  if (info->sampled && !info->needs_conversion()) flags |= VK_FORMAT_FEATURE_2_BLIT_SRC_BIT;
  // Reconstruction is implicit, and explicit where it is forced; any filters go together.
  if (vk::can_be_converted(*info))
    flags |= VK_FORMAT_FEATURE_2_MIDPOINT_CHROMA_SAMPLES_BIT | VK_FORMAT_FEATURE_2_COSITED_CHROMA_SAMPLES_BIT |
             VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER_BIT |
             VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER_BIT |
             VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE_BIT;
  if (info->is_multi_planar()) flags |= VK_FORMAT_FEATURE_2_DISJOINT_BIT;
  if (info->linear_filter) flags |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
  if (info->linear_filter && !info->needs_conversion()) flags |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_MINMAX_BIT;
  if (info->filters_cubic()) flags |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_CUBIC_BIT;
  if (info->color_attachment) flags |= VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_BLIT_DST_BIT;
  if (info->blend) flags |= VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BLEND_BIT;
  if (info->is_depth_stencil()) flags |= VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_BLIT_DST_BIT;
  if (info->storage)
    flags |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT |
             VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;
  if (info->is_atomic()) flags |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_ATOMIC_BIT;
  if (format == VK_FORMAT_R8_UINT) flags |= VK_FORMAT_FEATURE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR;
  // Of colours too: the first component is compared.
  const bool compares = info->sampled && !info->is_integer() && !info->needs_conversion() && (info->depth_bits || info->rgba[0].bits);
  if (compares) flags |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_DEPTH_COMPARISON_BIT;
  if (flags)
    flags |= VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT | VK_FORMAT_FEATURE_2_HOST_IMAGE_TRANSFER_BIT;
  return flags;
}

VkFormatFeatureFlags2 buffer_features(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info) return 0;
  VkFormatFeatureFlags2 flags = info->vertex ? VK_FORMAT_FEATURE_2_VERTEX_BUFFER_BIT : 0;
  if (info->storage)
    flags |= VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT | VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_BIT |
             VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT | VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;
  if (info->is_texel_buffer()) flags |= VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT;
  if (info->is_atomic()) flags |= VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_ATOMIC_BIT;
  return flags;
}

void say_uncompressed(void* next) {
  if (auto* out = find_next<VkImageCompressionPropertiesEXT>(next, VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_PROPERTIES_EXT))
    out->imageCompressionFlags = VK_IMAGE_COMPRESSION_DISABLED_EXT,
    out->imageCompressionFixedRateFlags = VK_IMAGE_COMPRESSION_FIXED_RATE_NONE_EXT;
}

VkImageUsageFlags all_usage(VkImageUsageFlags usage, const void* next) {
  const auto* stencil = find_next<VkImageStencilUsageCreateInfo>(next, VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
  return stencil ? usage | stencil->stencilUsage : usage;
}

namespace {

struct Need {
  VkImageUsageFlags usage;
  VkFormatFeatureFlags2 feature;
};

constexpr Need kNeeds[] = {
    {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT},
    {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT},
    {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT},
    {VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR, VK_FORMAT_FEATURE_2_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR},
    {VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT},
    {VK_IMAGE_USAGE_TRANSFER_DST_BIT, VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT},
    {VK_IMAGE_USAGE_HOST_TRANSFER_BIT, VK_FORMAT_FEATURE_2_HOST_IMAGE_TRANSFER_BIT},
};

constexpr VkImageUsageFlags kAttachments = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
constexpr VkImageCreateFlags kFlags =
    VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT | VK_IMAGE_CREATE_ALIAS_BIT |
    VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT | VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT |
    VK_IMAGE_CREATE_DISJOINT_BIT | VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT |
    VK_IMAGE_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT | VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
// What no view of texel blocks can be used for, as no format of their size can.
constexpr VkImageUsageFlags kBeyondBlocks = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT |
                                            VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR;

bool is_attachment(VkFormatFeatureFlags2 features) {
  return features & (VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT);
}

}  // namespace

VkResult image_limits(const VkPhysicalDeviceImageFormatInfo2& asked, VkImageFormatProperties& out) {
  out = {};
  VkPhysicalDeviceImageFormatInfo2 info = asked;
  info.format = given(asked.format), info.type = given(asked.type), info.tiling = given(asked.tiling);
  const VkFormatFeatureFlags2 features = image_features(info.format);
  const VkImageUsageFlags usage = all_usage(info.usage, info.pNext);
  if (!features || info.flags & ~kFlags) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  if (info.flags & VK_IMAGE_CREATE_DISJOINT_BIT && !(features & VK_FORMAT_FEATURE_2_DISJOINT_BIT)) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  if (info.flags & VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT && !vk::find_format(info.format)->depth_bits)
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
  if (info.flags & VK_IMAGE_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT && !is_attachment(features))
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
  constexpr VkImageCreateFlags kOfVolumes = VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT | VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT;
  if (info.flags & kOfVolumes && info.type != VK_IMAGE_TYPE_3D) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  const bool apart = vk::find_format(info.format)->needs_conversion();
  if (info.tiling != VK_IMAGE_TILING_OPTIMAL && info.tiling != VK_IMAGE_TILING_LINEAR) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  const vk::FormatInfo& format = *vk::find_format(info.format);
  const bool blocks = info.flags & VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
  if (blocks && !(format.is_compressed() && info.flags & VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT)) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  // Views of a compressed image are of compressed formats, but for those of texel blocks, and those of depth of their own: they can't do
  // more. No view of a colour is depth.
  const bool beyond_views = usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT || format.is_depth_stencil() ||
                            (format.is_compressed() && (!blocks || usage & kBeyondBlocks));
  if (!(info.flags & VK_IMAGE_CREATE_EXTENDED_USAGE_BIT) || beyond_views) {
    for (const Need& need : kNeeds)
      if (usage & need.usage && !(features & need.feature)) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  }
  const bool cube = info.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
  const bool depth = features & VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT;
  const VkPhysicalDeviceLimits& limits = capabilities().core.limits;
  switch (info.type) {
    case VK_IMAGE_TYPE_1D:
      out.maxExtent = {limits.maxImageDimension1D, 1, 1};
      break;
    case VK_IMAGE_TYPE_2D:
      out.maxExtent = {limits.maxImageDimension2D, limits.maxImageDimension2D, 1};
      break;
    case VK_IMAGE_TYPE_3D:
      if (depth) return VK_ERROR_FORMAT_NOT_SUPPORTED;
      out.maxExtent = {limits.maxImageDimension3D, limits.maxImageDimension3D, limits.maxImageDimension3D};
      break;
    default:
      return VK_ERROR_FORMAT_NOT_SUPPORTED;
  }
  if (cube && info.type != VK_IMAGE_TYPE_2D) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  if (apart && (cube || info.type != VK_IMAGE_TYPE_2D || usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT))
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
  out.maxMipLevels = apart ? 1 : static_cast<uint32_t>(std::bit_width(out.maxExtent.width));
  out.maxArrayLayers = info.type == VK_IMAGE_TYPE_3D ? 1 : limits.maxImageArrayLayers;
  out.sampleCounts = VK_SAMPLE_COUNT_1_BIT;
  if (info.type == VK_IMAGE_TYPE_2D && info.tiling == VK_IMAGE_TILING_OPTIMAL && !cube &&
      usage & (kAttachments | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT) &&
      is_attachment(features))
    out.sampleCounts = limits.framebufferColorSampleCounts;
  out.maxResourceSize = capabilities().properties.maxMemoryAllocationSize;
  return VK_SUCCESS;
}

}  // namespace tilegpu::icd
