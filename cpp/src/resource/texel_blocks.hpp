// resource/texel_blocks.hpp -- views of compressed images whose texels are texel blocks: BLOCK_TEXEL_VIEW_COMPATIBLE.
//
// In: what a view of a compressed image is asked for. Out: the same of the image that a level's blocks are (Image::texel_blocks).
// Source: Vulkan specification, "Image Views", VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT; "Size-compatible image formats".
#pragma once

#include <string>

#include "tilegpu/resource.hpp"

namespace tilegpu::resource {

/// The image's blocks, by a format that is not compressed and has texels of their size.
bool views_texel_blocks(const ImageViewCreateInfo& view);
/// Of the level's own image, as its level 0. An error where a view of blocks can't be like this.
Expected<ImageViewCreateInfo> of_texel_blocks(const ImageViewCreateInfo& view);
/// ", or ...": which formats views of a compressed image have beside its own.
std::string views_beside(const Image& image);

}  // namespace tilegpu::resource
