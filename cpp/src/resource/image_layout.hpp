// resource/image_layout.hpp -- planes, aspects and the memory of one level: what images, copies and the framebuffer share.
//
// In: create info and format. Out: sizes and offsets. A plane is here one aspect stored apart (D32S8 has two); those of multi-planar
// formats are images of their own.
#pragma once

#include "tilegpu/resource.hpp"
#include "vk/format.hpp"

namespace tilegpu::resource {

inline constexpr uint32_t kSuperblock_px = 16;
/// Of an image, and of a pass.
inline constexpr uint32_t kMaxImageLayers = 2048;

uint32_t plane_count(const vk::FormatInfo& format);
uint32_t plane_texel_B(const vk::FormatInfo& format, uint32_t plane);
uint32_t plane_of(const vk::FormatInfo& format, VkImageAspectFlags aspect);
VkImageAspectFlags format_aspects(const vk::FormatInfo& format);
/// The image that an aspect is of: a plane, where it is PLANE_0 to PLANE_2 of a multi-planar image, and then COLOR of it; else the image.
const Image& part_of(const Image& image, VkImageAspectFlags& aspects);
/// One layer of a level; offset_B is left 0.
SubresourceLayout level_layout(const ImageCreateInfo& info, uint32_t plane, uint32_t level);

/// Texel blocks (texels, but for compressed formats) of one sample, level and layer of a linear image, as rows. Null data: no memory bound.
struct Rows {
  uint8_t* data = nullptr;
  uint64_t pitch_B = 0;
  uint32_t texel_blocks_x = 0, texel_blocks_y = 0, texel_B = 0;
  uint8_t* at(uint32_t x, uint32_t y) const { return data + y * pitch_B + static_cast<uint64_t>(x) * texel_B; }
};

inline Rows rows_of(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer, uint32_t sample) {
  const SubresourceLayout layout = image.layout(aspect, level, layer);
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  return {image.data() ? image.data() + layout.offset_B + layout.sample_pitch_B * sample : nullptr, layout.row_pitch_B,
          format.blocks_x(layout.width_px), format.blocks_y(layout.height_px), layout.texel_B};
}

}  // namespace tilegpu::resource
