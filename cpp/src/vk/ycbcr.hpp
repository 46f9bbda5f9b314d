// vk/ycbcr.hpp -- formats whose luma and chroma lie apart: the texels of each, and the numbers of the conversion to RGB.
// In: a format, a model and a range. Out: its planes; the coefficients of the conversion.
// Source: Vulkan specification, "Formats Requiring Sampler Y'CbCr Conversion", "Compatible Formats of Planes of Multi-Planar Formats",
// "Sampler Y'CbCr Range Expansion", "Sampler Y'CbCr Model Conversion".
#pragma once

#include <span>

#include "vk/format.hpp"

namespace tilegpu::vk {

/// What a sampler reads as a texture of its own: a plane, or of packed 4:2:2 formats all that is luma, or chroma.
struct SampledPlane {
  FormatInfo texel;   // rgba: the components that are there, by what they are of the whole
  uint8_t plane = 0;  // whose rows they lie in
  uint8_t x_log2 = 0, y_log2 = 0;
  bool is_subsampled() const { return x_log2 != 0; }
};
/// Formats that a sampler Y'CbCr conversion can be of: all that need one, and others of normalised numbers.
inline bool can_be_converted(const FormatInfo& format) {
  return format.sampled && format.numeric == Numeric::unorm && !format.is_depth_stencil() && !format.is_compressed();
}
/// Of a format that needs a conversion.
std::span<const SampledPlane> sampled_planes(const FormatInfo& format);

/// R = Y + r_of_cr * Cr; G = Y - g_of_cb * Cb - g_of_cr * Cr; B = Y + b_of_cb * Cb.
struct YcbcrModel {
  float r_of_cr, g_of_cb, g_of_cr, b_of_cb;
};
/// Of YCBCR_709, YCBCR_601, YCBCR_2020.
YcbcrModel ycbcr_model(VkSamplerYcbcrModelConversion model);

/// A component's value is (code - zero) / one.
struct YcbcrRange {
  uint32_t zero, one;
};
/// Of components with so many bits, 8 or more where the range is narrow.
YcbcrRange luma_range(VkSamplerYcbcrRange range, uint32_t bits);
YcbcrRange chroma_range(VkSamplerYcbcrRange range, uint32_t bits);

/// The plane that PLANE_0 to PLANE_2 is; -1 for other aspects, and several.
inline int plane_number(VkImageAspectFlags aspects) {
  switch (aspects) {
    case VK_IMAGE_ASPECT_PLANE_0_BIT:
      return 0;
    case VK_IMAGE_ASPECT_PLANE_1_BIT:
      return 1;
    case VK_IMAGE_ASPECT_PLANE_2_BIT:
      return 2;
    default:
      return -1;
  }
}
inline constexpr VkImageAspectFlags kPlaneAspects = VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT | VK_IMAGE_ASPECT_PLANE_2_BIT;

}  // namespace tilegpu::vk
