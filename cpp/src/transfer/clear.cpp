// transfer/clear.cpp -- clears of whole images outside passes: every level, layer and sample.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Clearing Images Outside a Render Pass Instance".
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "transfer/transfer.hpp"
#include "transfer/transfer_checks.hpp"

namespace tilegpu::transfer {
namespace {

void fill_row(uint8_t* row, uint32_t width_px, const uint8_t* texel, uint32_t texel_B, AspectField field) {
  assert(width_px > 0 && (!field.mask || texel_B == 4));  // a field is a part of a 32-bit word
  if (field.mask) {
    uint32_t value;
    std::memcpy(&value, texel, 4);
    value = (value << field.shift) & field.mask;
    for (uint32_t x = 0; x < width_px; ++x) {
      uint32_t word;
      std::memcpy(&word, row + 4 * x, 4);
      word = (word & ~field.mask) | value;
      std::memcpy(row + 4 * x, &word, 4);
    }
    return;
  }
  // Doubling copies: the first texel, then what is there already.
  const size_t size_B = static_cast<size_t>(width_px) * texel_B;
  std::memcpy(row, texel, texel_B);
  for (size_t done_B = texel_B; done_B < size_B; done_B *= 2) std::memcpy(row + done_B, row, std::min(done_B, size_B - done_B));
}

void clear_aspect(Image& image, VkImageAspectFlagBits aspect, const uint8_t* texel) {
  const ImageCreateInfo& info = image.info();
  const AspectField field = aspect_field(*vk::find_format(info.format), aspect);
  for (uint32_t level = 0; level < info.mip_levels; ++level) {
    for (uint32_t layer = 0; layer < info.array_layers; ++layer) {
      for (uint32_t s = 0; s < image.sample_count(); ++s) {
        TexelRows texels = open_texels(image, aspect, level, layer, s);
        const Rows& rows = texels.rows;
        for (uint32_t y = 0; y < rows.height_px; ++y) {
          if (y == 0 || field.mask) {
            fill_row(rows.at(0, y), rows.width_px, texel, rows.texel_B, field);
          } else {
            std::memcpy(rows.at(0, y), rows.at(0, 0), static_cast<size_t>(rows.width_px) * rows.texel_B);
          }
        }
        close_texels(texels);
      }
    }
  }
  mark_written(image, {static_cast<VkImageAspectFlags>(aspect), 0, info.mip_levels, 0, info.array_layers}, Writer::transfer);
}

}  // namespace

Status check_clear_color_image(const Image& image) {
  if (vk::find_format(image.info().format)->is_depth_stencil()) {
    return field_error("clear_color_image", object_name("image", image.info().label) + ".format",
                       vk::find_format(image.info().format)->name, "a colour format", "use clear_depth_stencil_image");
  }
  return check_has_memory("clear_color_image", image);
}

void clear_color_image(Image& image, const VkClearColorValue& value) {
  vk::Texel texel;
  static_assert(sizeof texel == sizeof value);
  std::memcpy(&texel, &value, sizeof texel);
  uint8_t bytes[16] = {};
  vk::pack_texel(*vk::find_format(image.info().format), texel, bytes);
  clear_aspect(image, VK_IMAGE_ASPECT_COLOR_BIT, bytes);
}

Status check_clear_depth_stencil_image(const Image& image, VkImageAspectFlags aspects) {
  const VkImageAspectFlags all = format_aspects(*vk::find_format(image.info().format));
  if (aspects == 0 || (aspects & ~all) || (all & VK_IMAGE_ASPECT_COLOR_BIT)) {
    return field_error("clear_depth_stencil_image", object_name("image", image.info().label) + ": aspects", std::to_string(aspects),
                       "depth or stencil aspects of the format (mask " + std::to_string(all) + ")", "use clear_color_image for colour");
  }
  return check_has_memory("clear_depth_stencil_image", image);
}

void clear_depth_stencil_image(Image& image, const VkClearDepthStencilValue& value, VkImageAspectFlags aspects) {
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  if (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) {
    vk::Texel texel{};
    texel.f[0] = value.depth > 0 ? std::min(value.depth, 1.0f) : 0.0f;
    uint8_t bytes[16] = {};
    vk::pack_texel(format, texel, bytes);
    clear_aspect(image, VK_IMAGE_ASPECT_DEPTH_BIT, bytes);
  }
  if (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) {
    const uint32_t stencil = value.stencil & 0xff;
    uint8_t bytes[16] = {};
    std::memcpy(bytes, &stencil, 4);
    clear_aspect(image, VK_IMAGE_ASPECT_STENCIL_BIT, bytes);
  }
}

}  // namespace tilegpu::transfer
