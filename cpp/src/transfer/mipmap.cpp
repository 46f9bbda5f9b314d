// transfer/mipmap.cpp -- levels of an image from level 0.
//
// In, out: see transfer.hpp. 8-bit UNORM of even size: the 2x2 box with integer rounding (sum + 2) / 4 for each byte; everything else
// is a linear blit from level to level (integers: nearest).
#include <algorithm>
#include <cassert>

#include "transfer/transfer.hpp"
#include "transfer/transfer_checks.hpp"

namespace tilegpu::transfer {
namespace {

bool is_unorm8(const vk::FormatInfo& format) {
  if (format.numeric != vk::Numeric::unorm || format.is_depth_stencil()) return false;
  return std::all_of(format.rgba.begin(), format.rgba.end(), [](vk::Component c) { return c.bits == 0 || c.bits == 8; });
}

template <uint32_t kTexel_B>
void box_row(const uint8_t* top, const uint8_t* bottom, uint32_t width_px, uint8_t* out) {
  for (uint32_t x = 0; x < width_px; ++x) {
    for (uint32_t c = 0; c < kTexel_B; ++c) {
      const size_t at = static_cast<size_t>(x) * 2 * kTexel_B + c;
      out[x * kTexel_B + c] = static_cast<uint8_t>((top[at] + top[at + kTexel_B] + bottom[at] + bottom[at + kTexel_B] + 2) / 4);
    }
  }
}

void box_level(const Rows& in, const Rows& out) {
  assert(in.texel_B == out.texel_B && in.width_px >= 2 * out.width_px && in.height_px >= 2 * out.height_px);
  for (uint32_t y = 0; y < out.height_px; ++y) {
    const uint8_t *top = in.at(0, 2 * y), *bottom = in.at(0, 2 * y + 1);
    switch (in.texel_B) {
      case 1:
        box_row<1>(top, bottom, out.width_px, out.at(0, y));
        break;
      case 2:
        box_row<2>(top, bottom, out.width_px, out.at(0, y));
        break;
      default:
        box_row<4>(top, bottom, out.width_px, out.at(0, y));
        break;
    }
  }
}

}  // namespace

Status check_generate_mipmaps(const Image& image) {
  constexpr const char* kCommand = "generate_mipmaps";
  if (Status ok = check_has_memory(kCommand, image); !ok) return ok.error();
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  if (format.is_depth_stencil() || !format.color_attachment) {
    return field_error(kCommand, object_name("image", image.info().label) + ".format", format.name,
                       "a colour format that can be rendered to", "upload the levels yourself", VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  return Ok{};
}

void generate_mipmaps(Image& image) {
  const ImageCreateInfo& info = image.info();
  const vk::FormatInfo& format = *vk::find_format(info.format);
  const bool linear_tiling = info.tiling == ImageTiling::linear;
  for (uint32_t layer = 0; layer < info.array_layers; ++layer) {
    for (uint32_t level = 1; level < info.mip_levels; ++level) {
      const SubresourceLayout from = image.layout(VK_IMAGE_ASPECT_COLOR_BIT, level - 1, layer),
                              to = image.layout(VK_IMAGE_ASPECT_COLOR_BIT, level, layer);
      if (linear_tiling && is_unorm8(format) && from.width_px % 2 == 0 && from.height_px % 2 == 0) {
        box_level(rows_of(image, VK_IMAGE_ASPECT_COLOR_BIT, level - 1, layer, 0),
                  rows_of(image, VK_IMAGE_ASPECT_COLOR_BIT, level, layer, 0));
        mark_written(image, {VK_IMAGE_ASPECT_COLOR_BIT, level, 1, layer, 1}, Writer::transfer);
        continue;
      }
      const VkOffset3D source[2] = {{0, 0, 0}, {static_cast<int32_t>(from.width_px), static_cast<int32_t>(from.height_px), 1}};
      const VkOffset3D destination[2] = {{0, 0, 0}, {static_cast<int32_t>(to.width_px), static_cast<int32_t>(to.height_px), 1}};
      blit_image(image, level - 1, layer, source, image, level, layer, destination,
                 format.is_integer() ? VK_FILTER_NEAREST : VK_FILTER_LINEAR);
    }
  }
}

}  // namespace tilegpu::transfer
