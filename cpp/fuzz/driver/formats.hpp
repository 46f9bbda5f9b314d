// fuzz/driver/formats.hpp -- formats that worlds use, and what their texels are made of.
// In: formats. Out: aspects, words of GLSL. Source: Vulkan specification, "Formats".
#pragma once

#include "tilegpu/format.hpp"

namespace tilegpu::fuzz {

inline constexpr VkFormat kColorFormats[] = {VK_FORMAT_R8G8B8A8_UNORM,
                                             VK_FORMAT_R8G8B8A8_UNORM,
                                             VK_FORMAT_B8G8R8A8_SRGB,
                                             VK_FORMAT_R16G16B16A16_SFLOAT,
                                             VK_FORMAT_R32G32B32A32_SFLOAT,
                                             VK_FORMAT_R5G6B5_UNORM_PACK16,
                                             VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                                             VK_FORMAT_R8_UINT,
                                             VK_FORMAT_R32_UINT,
                                             VK_FORMAT_R16G16_SINT,
                                             VK_FORMAT_R8_UNORM,
                                             VK_FORMAT_B10G11R11_UFLOAT_PACK32};
inline constexpr VkFormat kDepthFormats[] = {VK_FORMAT_D16_UNORM, VK_FORMAT_D32_SFLOAT, VK_FORMAT_D24_UNORM_S8_UINT,
                                             VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_S8_UINT};
inline constexpr VkFormat kImageFormats[] = {VK_FORMAT_R8G8B8A8_UNORM,
                                             VK_FORMAT_R8G8B8A8_SRGB,
                                             VK_FORMAT_B8G8R8A8_UNORM,
                                             VK_FORMAT_R16G16B16A16_SFLOAT,
                                             VK_FORMAT_R32G32B32A32_SFLOAT,
                                             VK_FORMAT_R32G32B32A32_UINT,
                                             VK_FORMAT_R32_UINT,
                                             VK_FORMAT_R16G16_SINT,
                                             VK_FORMAT_R8_UNORM,
                                             VK_FORMAT_R8_SNORM,
                                             VK_FORMAT_R5G6B5_UNORM_PACK16,
                                             VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                                             VK_FORMAT_E5B9G9R9_UFLOAT_PACK32,
                                             VK_FORMAT_R64_UINT,
                                             VK_FORMAT_R8G8B8_UNORM,
                                             VK_FORMAT_D16_UNORM,
                                             VK_FORMAT_D32_SFLOAT,
                                             VK_FORMAT_D24_UNORM_S8_UINT,
                                             VK_FORMAT_S8_UINT,
                                             VK_FORMAT_D32_SFLOAT_S8_UINT,
                                             VK_FORMAT_BC1_RGB_UNORM_BLOCK,
                                             VK_FORMAT_BC7_SRGB_BLOCK,
                                             VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK,
                                             VK_FORMAT_ASTC_6x5_UNORM_BLOCK,
                                             VK_FORMAT_EAC_R11_UNORM_BLOCK,
                                             VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
                                             VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM,
                                             VK_FORMAT_G8B8G8R8_422_UNORM};

inline VkImageAspectFlags aspects_of(const vk::FormatInfo& format) {
  if (!format.is_depth_stencil()) return VK_IMAGE_ASPECT_COLOR_BIT;
  return (format.depth_bits ? VK_IMAGE_ASPECT_DEPTH_BIT : 0) | (format.stencil_bits ? VK_IMAGE_ASPECT_STENCIL_BIT : 0);
}
inline VkImageAspectFlags first_aspect(const vk::FormatInfo& format) {
  if (format.is_multi_planar()) return VK_IMAGE_ASPECT_PLANE_0_BIT;
  const VkImageAspectFlags all = aspects_of(format);
  return all & (~all + 1);
}
/// "", "u" or "i": of vec4 and its kind.
inline const char* prefix_of(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info) return "";
  if (info->is_depth_stencil() && !info->depth_bits) return "u";
  return info->numeric == vk::Numeric::uint ? "u" : info->numeric == vk::Numeric::sint ? "i" : "";
}

}  // namespace tilegpu::fuzz
