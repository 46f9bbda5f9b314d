// transfer/mipmap.cpp -- levels of an image from level 0.
//
// In, out: see transfer.hpp. 8-bit UNORM of even size: the 2x2 box with integer
// rounding (sum + 2) / 4 for each byte; everything else is a linear blit from
// level to level (integers: nearest).
#include "transfer/regions.hpp"

namespace tilegpu::transfer {
namespace {

constexpr VkImageAspectFlagBits kColor = VK_IMAGE_ASPECT_COLOR_BIT;

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

void box_rows(const Rows& in, const Rows& out, uint32_t y0, uint32_t y1) {
  assert(in.texel_B == out.texel_B && in.texel_blocks_x == 2 * out.texel_blocks_x && in.texel_blocks_y == 2 * out.texel_blocks_y &&
         y1 <= out.texel_blocks_y);
  for (uint32_t y = y0; y < y1; ++y) {
    const uint8_t *top = in.at(0, 2 * y), *bottom = in.at(0, 2 * y + 1);
    switch (in.texel_B) {
      case 1:
        box_row<1>(top, bottom, out.texel_blocks_x, out.at(0, y));
        break;
      case 2:
        box_row<2>(top, bottom, out.texel_blocks_x, out.at(0, y));
        break;
      default:
        box_row<4>(top, bottom, out.texel_blocks_x, out.at(0, y));
        break;
    }
  }
}

void box_level(const Image& image, uint32_t level, const ShareRows& share) {
  const uint32_t layers = image.layer_count(level);
  run_slabs(share, &image, layers, image.extent(level).height, [&](uint32_t layer, uint32_t y0, uint32_t y1) {
    box_rows(rows_of(image, kColor, level - 1, layer, 0), rows_of(image, kColor, level, layer, 0), y0, y1);
  });
  mark_written(image, {kColor, level, 1, 0, layers}, Writer::transfer);
}

void blit_level(const Image& image, uint32_t level, const ShareRows& share) {
  const auto corner = [](const VkExtent3D& e) {
    return VkOffset3D{static_cast<int32_t>(e.width), static_cast<int32_t>(e.height), static_cast<int32_t>(e.depth)};
  };
  VkImageBlit2 region{};
  region.srcSubresource = {kColor, level - 1, 0, VK_REMAINING_ARRAY_LAYERS};
  region.dstSubresource = {kColor, level, 0, VK_REMAINING_ARRAY_LAYERS};
  region.srcOffsets[1] = corner(image.extent(level - 1));
  region.dstOffsets[1] = corner(image.extent(level));
  blit_image(image, image, {&region, 1}, format_of(image).is_integer() ? VK_FILTER_NEAREST : VK_FILTER_LINEAR, share);
}

}  // namespace

Status check_generate_mipmaps(const Image& image) {
  constexpr const char* kCommand = "generate_mipmaps";
  if (Status ok = check_has_memory(kCommand, image); !ok) return ok;
  const vk::FormatInfo& format = format_of(image);
  if (format.is_depth_stencil() || !format.color_attachment) {
    return field_error(kCommand, object_name("image", image.info().label) + ".format", format.name,
                       "a colour format that can be rendered to", "upload the levels yourself", VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
  return Ok{};
}

void generate_mipmaps(const Image& image, const ShareRows& share) {
  const bool boxes = image.info().tiling == ImageTiling::linear && image.info().type == VK_IMAGE_TYPE_2D && is_unorm8(format_of(image));
  for (uint32_t level = 1; level < image.info().mip_levels; ++level) {
    const VkExtent3D from = image.extent(level - 1);
    if (boxes && from.width % 2 == 0 && from.height % 2 == 0) {
      box_level(image, level, share);
    } else {
      blit_level(image, level, share);
    }
  }
}

}  // namespace tilegpu::transfer
