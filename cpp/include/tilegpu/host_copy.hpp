// tilegpu/host_copy.hpp -- copies between images and memory of the host, and between images, done at once by the thread that asks.
// In: host memory, images, regions. Out: images, host memory. No queue is asked: what uses the images must have ended before.
// Source: Vulkan specification, "Copying Data Between Images and Memory", VK_EXT_host_image_copy.
#pragma once

#include <span>

#include "tilegpu/resource.hpp"

namespace tilegpu {

/// VkMemoryToImageCopy, VkImageToMemoryCopy. Texels lie in the host's memory as they do in a buffer: rows of texel blocks, slabs of rows.
struct HostRegion {
  void* memory = nullptr;                           ///< only read where it is the source
  uint32_t row_length_px = 0, image_height_px = 0;  ///< 0: the extent's
  VkImageSubresourceLayers part = {};
  VkOffset3D offset = {};
  VkExtent3D extent = {};
};

TILEGPU_API Status copy_memory_to_image(const Image& destination, std::span<const HostRegion> regions);
TILEGPU_API Status copy_image_to_memory(const Image& source, std::span<const HostRegion> regions);
TILEGPU_API Status copy_image_to_image(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions);

/// Bytes of one layer of a level in the host's memory, rows and slabs without gaps.
TILEGPU_API uint64_t packed_size_B(const Image& image, VkImageAspectFlagBits aspect, uint32_t level);

}  // namespace tilegpu
