// resource/texel_blocks.cpp -- see texel_blocks.hpp; and the images that levels of a compressed image are by their blocks.
//
// In: a compressed image. Out: an image for each level, at the level's bytes, with a texel for each block: rows of texels lie as rows of
// blocks do. So whoever reads, renders to, stores or captures texels needs to know nothing of blocks; and as they are images like others,
// what becomes of their bytes is asked of the memory (memory_contents.hpp), which is the compressed image's too.
// Source: Vulkan specification, "Resource Creation" (a view of blocks has a level's size divided by the block's, rounded up).
#include "resource/texel_blocks.hpp"

#include <algorithm>
#include <cassert>

#include "base/field_error.hpp"
#include "base/float_text.hpp"
#include "resource/image_layout.hpp"
#include "resource/view_abi.hpp"

namespace tilegpu {
namespace {

/// What the image of a level's blocks may be as well.
VkImageCreateFlags flags_of_blocks(const ImageCreateInfo& blocks, VkImageCreateFlags of_image) {
  VkImageCreateFlags kept = VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT | VK_IMAGE_CREATE_ALIAS_BIT;
  if (blocks.width_px == blocks.height_px) kept |= VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;  // blocks of ASTC need not be square
  return (of_image & kept) | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
}

}  // namespace

Status Image::make_texel_blocks(const vk::FormatInfo& format) {
  const std::string name = object_name("image", info_.label);
  if (!format.is_compressed())
    return field_error(name, "flags", std::string("block_texel_view_compatible with format ") + format.name, "a compressed format",
                       "drop the flag: mutable_format is enough", VK_ERROR_FORMAT_NOT_SUPPORTED);
  if (!(info_.flags & VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT))
    return field_error(name, "flags", "block_texel_view_compatible without mutable_format", "both", "add mutable_format");
  assert(format.texel_B == 8 || format.texel_B == 16);
  for (uint32_t level = 0; level < info_.mip_levels; ++level) {
    const VkExtent3D size = extent(level);
    ImageCreateInfo blocks = info_;
    blocks.format = format.texel_B == 8 ? VK_FORMAT_R32G32_UINT : VK_FORMAT_R32G32B32A32_UINT;
    blocks.width_px = format.blocks_x(size.width), blocks.height_px = format.blocks_y(size.height), blocks.depth_px = size.depth;
    blocks.mip_levels = 1;
    blocks.flags = flags_of_blocks(blocks, info_.flags);
    blocks.label = (info_.label.empty() ? std::string(format.name) : info_.label) + " (blocks of level " + std::to_string(level) + ")";
    Expected<Ptr<Image>> made = Image::create(blocks);
    if (!made) return made.error();
    [[maybe_unused]] const SubresourceLayout here = layout(VK_IMAGE_ASPECT_COLOR_BIT, level, 0),
                                             there = (*made)->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
    assert(here.row_pitch_B == there.row_pitch_B && here.size_B == there.size_B && here.texel_B == there.texel_B);
    texel_blocks_.push_back(std::move(*made));
  }
  return Ok{};
}

namespace resource {

bool views_texel_blocks(const ImageViewCreateInfo& view) {
  assert(view.image);
  const vk::FormatInfo* format = view.format == VK_FORMAT_UNDEFINED ? nullptr : vk::find_format(view.format);
  return format && !format->is_compressed() && !view.image->texel_blocks().empty() && !format->is_depth_stencil() &&
         format->texel_B == vk::find_format(view.image->info().format)->texel_B;
}

Expected<ImageViewCreateInfo> of_texel_blocks(const ImageViewCreateInfo& view) {
  assert(views_texel_blocks(view));
  const ImageCreateInfo& image = view.image->info();
  const std::string name = "view of " + object_name("image", image.label),
                    of = std::string(" with format ") + vk::find_format(view.format)->name;
  const auto number = [](uint64_t value) { return std::to_string(value); };
  if (view.base_level >= image.mip_levels)
    return field_error(name, "base_level", number(view.base_level), "0 to " + number(image.mip_levels - 1), "");
  const uint32_t levels = view.level_count == VK_REMAINING_MIP_LEVELS ? image.mip_levels - view.base_level : view.level_count;
  if (levels != 1) return field_error(name, "level_count", number(levels), "1" + of, "view texel blocks of each level by itself");
  if (view.type == VK_IMAGE_VIEW_TYPE_3D)
    return field_error(name, "type", view_type_name(view.type), "2d or 2d_array" + of, "view slices of the level's texel blocks");
  if (!view.image->data())
    return field_error(name, "memory of the image", "none", "some where texel blocks are viewed", "bind memory before the view is created");
  if (!(view.min_lod <= static_cast<float>(view.base_level)))
    return field_error(name, "min_lod", float_text(view.min_lod), "at most " + number(view.base_level) + ", the view's level in its image",
                       "a view's least level of detail counts from the image's first level");
  ImageViewCreateInfo out = view;
  out.image = view.image->texel_blocks()[view.base_level];
  out.base_level = 0, out.level_count = 1, out.min_lod = 0;
  return out;
}

std::string views_beside(const Image& image) {
  const std::string same = ", or one of the same compression";
  if (image.texel_blocks().empty()) return same + " (others with block_texel_view_compatible)";
  return same + ", or of colour that is not compressed with " + std::to_string(vk::find_format(image.info().format)->texel_B) + " bytes";
}

}  // namespace resource
}  // namespace tilegpu
