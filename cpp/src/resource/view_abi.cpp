// resource/view_abi.cpp -- fills the structs through which generated code reads images and samplers.
//
// In: ImageView, BufferView, Sampler. Out: shader::ImageViewAbi, shader::SamplerAbi.
#include "resource/view_abi.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "vk/compressed/texels.hpp"

namespace tilegpu::resource {
namespace {

// Read by code that samples a null view; large enough for the widest texel and a whole vector of over-read.
alignas(64) constexpr uint8_t kZeroTexel[128] = {};

// Where bytes of texels are codes, and of which component: see ImageViewAbi.
uint32_t code_bytes_of(const ImageViewCreateInfo& info, const Image& image) {
  const vk::FormatInfo& format = *vk::find_format(info.format);
  const bool plain = info.type == VK_IMAGE_VIEW_TYPE_2D && image.sample_count() == 1 && info.image->planes().empty() && !info.ycbcr &&
                     !format.is_compressed() && format.texel_B <= 4 && !format.depth_bits && !format.stencil_bits &&
                     (format.numeric == vk::Numeric::unorm || format.numeric == vk::Numeric::srgb);
  if (!plain) return 0;
  uint32_t codes = format.texel_B << 16;
  const VkComponentSwizzle swizzles[] = {info.swizzle.r, info.swizzle.g, info.swizzle.b, info.swizzle.a};
  for (uint32_t c = 0; c < 4; ++c) {
    const VkComponentSwizzle s = swizzles[c];
    const bool constant = s == VK_COMPONENT_SWIZZLE_ZERO || s == VK_COMPONENT_SWIZZLE_ONE;
    const uint32_t from = s == VK_COMPONENT_SWIZZLE_IDENTITY ? c : static_cast<uint32_t>(s) - VK_COMPONENT_SWIZZLE_R;
    if (constant || from > 3 || format.rgba[from].bits != 8 || format.rgba[from].shift % 8) continue;
    codes |= (1u + format.rgba[from].shift / 8) << 4 * c;
  }
  return codes;
}

// Filters that take two texels on each axis, at normalised coordinates.
bool takes_two_texels(const SamplerCreateInfo& info) {
  const auto two = [](VkFilter filter) { return filter == VK_FILTER_NEAREST || filter == VK_FILTER_LINEAR; };
  return two(info.mag_filter) && two(info.min_filter) && !(info.max_anisotropy > 1) && !info.unnormalized_coordinates &&
         !info.compare_enable && !info.ycbcr;
}

}  // namespace

const char* view_type_name(VkImageViewType type) {
  constexpr const char* kNames[] = {"1d", "2d", "3d", "cube", "1d_array", "2d_array", "cube_array"};
  return type >= 0 && static_cast<size_t>(type) < std::size(kNames) ? kNames[type] : "unknown";
}

VkImageAspectFlagBits sampled_aspect(VkImageAspectFlags aspects) {
  if (aspects & VK_IMAGE_ASPECT_COLOR_BIT) return VK_IMAGE_ASPECT_COLOR_BIT;
  return aspects & VK_IMAGE_ASPECT_DEPTH_BIT ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_STENCIL_BIT;
}

void fill_null_view_abi(shader::ImageViewAbi& abi) {
  abi = {};
  for (shader::ViewLevel& level : abi.level) level = {kZeroTexel, 0, 1, 1, 1};
  abi.level_count = abi.layer_count = abi.sample_count = 1;
  shader::fill_level_tables(abi);
}

void fill_view_abi(const ImageView& view, shader::ImageViewAbi& abi, uint32_t plane) {
  const ImageViewCreateInfo& info = view.info();
  const Image& image = info.image->planes().empty() ? *info.image : *info.image->planes()[plane];
  if (!image.data() || image.info().tiling != ImageTiling::linear) {
    fill_null_view_abi(abi);
    assert(!vk::find_format(info.format)->is_compressed());
    return;
  }
  abi = {};
  const VkImageAspectFlagBits aspect = sampled_aspect(info.aspects);
  for (uint32_t i = 0; i < std::size(abi.level); ++i) {
    // Levels beyond the last repeat it, so that a level clamped too late still reads the image.
    const uint32_t level = info.base_level + std::min(i, info.level_count - 1);
    const bool volume = info.type == VK_IMAGE_VIEW_TYPE_3D;
    const SubresourceLayout layout = image.layout(aspect, level, volume ? info.first_slice : info.base_layer);
    const uint32_t slices = volume ? std::min(info.slice_count, image.layer_count(level) - info.first_slice) : 1;
    assert(layout.row_pitch_B <= UINT32_MAX);  // 2^14 texels of 16 bytes
    abi.level[i] = {image.data() + layout.offset_B, static_cast<uint32_t>(layout.row_pitch_B), static_cast<int32_t>(layout.width_px),
                    static_cast<int32_t>(layout.height_px), static_cast<int32_t>(slices)};
    abi.layer_pitch_B[i] = layout.size_B;
    abi.sample_pitch_B = layout.sample_pitch_B;
  }
  abi.level_count = static_cast<int32_t>(info.level_count);
  shader::fill_level_tables(abi);
  abi.layer_count = static_cast<int32_t>(info.layer_count);
  abi.sample_count = static_cast<int32_t>(image.sample_count());
  abi.min_lod = std::max(info.min_lod - static_cast<float>(info.base_level), 0.0f);
  abi.min_level = static_cast<int32_t>(abi.min_lod);
  abi.code_bytes = code_bytes_of(info, image);
  if (const vk::FormatInfo& format = *vk::find_format(info.format); format.is_compressed()) abi.decoder = &vk::texel_decoder(format);
}

void fill_view_abi(const BufferView& view, shader::ImageViewAbi& abi) {
  const BufferViewCreateInfo& info = view.info();
  const uint64_t texels = info.range_B / vk::find_format(info.format)->texel_B;
  assert(texels >= 1 && texels <= kMaxTexelBufferElements);
  abi = {};
  for (shader::ViewLevel& level : abi.level) level = {info.buffer->data() + info.offset_B, 0, static_cast<int32_t>(texels), 1, 1};
  abi.level_count = abi.layer_count = abi.sample_count = 1;
  shader::fill_level_tables(abi);
}

void fill_null_sampler_abi(shader::SamplerAbi& abi) {
  abi = {};
  shader::fill_lod_limits(abi);
}

void fill_sampler_abi(const SamplerCreateInfo& info, bool integer, const vk::FormatInfo& format, shader::SamplerAbi& abi) {
  abi = {};
  abi.mip_lod_bias = info.mip_lod_bias;
  abi.min_lod = info.min_lod;
  abi.max_lod = info.max_lod;
  abi.max_anisotropy = info.max_anisotropy;
  abi.takes_two_texels = takes_two_texels(info);
  shader::fill_lod_limits(abi);
  if (info.border_color == VK_BORDER_COLOR_INT_CUSTOM_EXT || info.border_color == VK_BORDER_COLOR_FLOAT_CUSTOM_EXT) {
    const bool fixed_point =
        format.numeric == vk::Numeric::unorm || format.numeric == vk::Numeric::srgb || format.numeric == vk::Numeric::snorm;
    const float low = format.numeric == vk::Numeric::snorm ? -1.0f : 0.0f;
    for (int c = 0; c < 4; ++c) {
      const float value = info.custom_border_color.float32[c];
      const float above = value > low ? value : low;  // NaN: the lower one
      abi.border[c] = !integer && fixed_point ? std::min(above, 1.0f) : value;
    }
    return;
  }
  const bool white = info.border_color == VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE || info.border_color == VK_BORDER_COLOR_INT_OPAQUE_WHITE;
  const bool transparent =
      info.border_color == VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK || info.border_color == VK_BORDER_COLOR_INT_TRANSPARENT_BLACK;
  const float one = integer ? std::bit_cast<float>(1u) : 1.0f;
  for (int c = 0; c < 3; ++c) abi.border[c] = white ? one : 0.0f;
  abi.border[3] = transparent ? 0.0f : one;
}

}  // namespace tilegpu::resource
