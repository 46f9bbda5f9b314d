// transfer/clear.cpp -- clears outside passes: ranges of levels and layers, all
// samples, all slices of a 3D image.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Clearing Images
// Outside a Render Pass Instance".
#include <cstring>

#include "transfer/regions.hpp"

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

void clear_level(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, Slabs slabs, const uint8_t* texel,
                 const ShareRows& share) {
  const AspectField field = aspect_field(format_of(image), aspect);
  run_slabs(share, &image, slabs.count, image.extent(level).height, [&](uint32_t slab, uint32_t y0, uint32_t y1) {
    for (uint32_t s = 0; s < image.sample_count(); ++s) {
      TexelRows texels = open_texels(image, aspect, level, slabs.first + slab, s);
      const Rows& rows = texels.rows;
      assert(y1 <= rows.texel_blocks_y);
      for (uint32_t y = y0; y < y1; ++y) {
        if (y == y0 || field.mask) {
          fill_row(rows.at(0, y), rows.texel_blocks_x, texel, rows.texel_B, field);
        } else {
          std::memcpy(rows.at(0, y), rows.at(0, y0), static_cast<size_t>(rows.texel_blocks_x) * rows.texel_B);
        }
      }
      close_texels(texels);
    }
  });
}

void clear_aspect(const Image& image, VkImageAspectFlagBits aspect, const uint8_t* texel, std::span<const VkImageSubresourceRange> ranges,
                  const ShareRows& share) {
  for (VkImageSubresourceRange range : ranges) {
    if (!(range.aspectMask & aspect)) continue;
    [[maybe_unused]] const bool there = resolve_range(image, range);
    assert(there);
    for (uint32_t level = range.baseMipLevel; level < range.baseMipLevel + range.levelCount; ++level) {
      const bool is_3d = image.info().type == VK_IMAGE_TYPE_3D;
      const Slabs slabs = is_3d ? Slabs{0, image.layer_count(level)} : Slabs{range.baseArrayLayer, range.layerCount};
      clear_level(image, aspect, level, slabs, texel, share);
      mark_written(image, {static_cast<VkImageAspectFlags>(aspect), level, 1, slabs.first, slabs.count}, Writer::transfer);
    }
  }
}

Status check_ranges(const char* command, const Image& image, std::span<const VkImageSubresourceRange> ranges, VkImageAspectFlags allowed) {
  if (Status memory = check_has_memory(command, image); !memory) return memory;
  if (ranges.empty()) return field_error(command, "rangeCount", "0", "1 or more", "record no command where there is nothing to do");
  const std::string of = " of " + object_name("image", image.info().label);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto name = [i, &of](const char* field) { return "ranges[" + std::to_string(i) + "]." + field + of; };
    VkImageSubresourceRange range = ranges[i];
    if (range.aspectMask == 0 || (range.aspectMask & ~allowed))
      return field_error(command, name("aspectMask"), number(range.aspectMask), "aspects of the format (mask " + number(allowed) + ")", "");
    if (resolve_range(image, range)) continue;
    const ImageCreateInfo& info = image.info();
    return field_error(command, name("levels and layers"),
                       number(range.levelCount) + " levels from " + number(range.baseMipLevel) + ", " + number(range.layerCount) +
                           " layers from " + number(range.baseArrayLayer),
                       "at least one each within " + number(info.mip_levels) + " levels and " + number(info.array_layers) + " layers", "");
  }
  return Ok{};
}

}  // namespace

Status check_clear_color_image(const Image& image, std::span<const VkImageSubresourceRange> ranges) {
  if (format_of(image).is_depth_stencil()) {
    return field_error("clear_color_image", object_name("image", image.info().label) + ".format", format_of(image).name, "a colour format",
                       "use clear_depth_stencil_image");
  }
  if (format_of(image).needs_conversion()) {
    return field_error(
        "clear_color_image", object_name("image", image.info().label) + ".format", format_of(image).name,
        "a format that needs no sampler Y'CbCr conversion",
        format_of(image).is_multi_planar() ? "clear the planes in a pass, by views of them" : "copy texel blocks from a buffer");
  }
  if (format_of(image).is_compressed()) {
    return field_error("clear_color_image", object_name("image", image.info().label) + ".format", format_of(image).name,
                       "a format that is not compressed", "copy texel blocks from a buffer");
  }
  return check_ranges("clear_color_image", image, ranges, VK_IMAGE_ASPECT_COLOR_BIT);
}

void clear_color_image(const Image& image, const VkClearColorValue& value, std::span<const VkImageSubresourceRange> ranges,
                       const ShareRows& share) {
  vk::Texel texel;
  static_assert(sizeof texel == sizeof value);
  std::memcpy(&texel, &value, sizeof texel);
  uint8_t bytes[16] = {};
  if (format_of(image).rgba[0].bits == 64)  // the first two words are red
    std::memcpy(bytes, &value, 8);
  else
    vk::pack_texel(format_of(image), texel, bytes);
  clear_aspect(image, VK_IMAGE_ASPECT_COLOR_BIT, bytes, ranges, share);
}

Status check_clear_depth_stencil_image(const Image& image, std::span<const VkImageSubresourceRange> ranges) {
  if (!format_of(image).is_depth_stencil()) {
    return field_error("clear_depth_stencil_image", object_name("image", image.info().label) + ".format", format_of(image).name,
                       "a depth or stencil format", "use clear_color_image for colour");
  }
  return check_ranges("clear_depth_stencil_image", image, ranges, format_aspects(format_of(image)));
}

void clear_depth_stencil_image(const Image& image, const VkClearDepthStencilValue& value, std::span<const VkImageSubresourceRange> ranges,
                               const ShareRows& share) {
  vk::Texel texel{};
  // Floats: as it was recorded, limited or not.
  texel.f[0] = format_of(image).depth_bits == 32 ? value.depth : value.depth > 0 ? std::min(value.depth, 1.0f) : 0.0f;
  uint8_t depth[16] = {}, stencil[16] = {};
  if (format_of(image).depth_bits) vk::pack_texel(format_of(image), texel, depth);
  const uint32_t low = value.stencil & 0xff;
  std::memcpy(stencil, &low, 4);
  clear_aspect(image, VK_IMAGE_ASPECT_DEPTH_BIT, depth, ranges, share);
  clear_aspect(image, VK_IMAGE_ASPECT_STENCIL_BIT, stencil, ranges, share);
}

}  // namespace tilegpu::transfer
