// command/transfer.hpp -- commands outside passes as data: what they name, and their parameters as they were checked at recording.
//
// Source: Vulkan specification, "Copy Commands", "Clear Commands", "Queries".
#pragma once

#include <array>

#include "tilegpu/rendering.hpp"

namespace tilegpu::command {

struct CopyBuffer {
  Ptr<Buffer> source, destination;
  uint64_t source_offset_B = 0, destination_offset_B = 0, size_B = 0;
};

struct CopyBufferToImage {
  Ptr<Buffer> source;
  uint64_t offset_B = 0;
  uint32_t row_length_px = 0;  // 0: tightly packed
  Ptr<Image> destination;
  ImageRegion region;
  uint32_t width_px = 0, height_px = 0;
};

struct CopyImageToBuffer {
  Ptr<Image> source;
  ImageRegion region;
  uint32_t width_px = 0, height_px = 0;
  Ptr<Buffer> destination;
  uint64_t offset_B = 0;
  uint32_t row_length_px = 0;
};

struct CopyImage {
  Ptr<Image> source;
  ImageRegion from;
  Ptr<Image> destination;
  ImageRegion to;
  uint32_t width_px = 0, height_px = 0;
};

struct BlitImage {
  Ptr<Image> source;
  uint32_t source_level = 0, source_layer = 0;
  std::array<VkOffset3D, 2> source_corners{};
  Ptr<Image> destination;
  uint32_t destination_level = 0, destination_layer = 0;
  std::array<VkOffset3D, 2> destination_corners{};
  VkFilter filter = VK_FILTER_NEAREST;
};

struct ResolveImage {
  Ptr<Image> source, destination;
};

struct ClearColorImage {
  Ptr<Image> image;
  VkClearColorValue value{};
};

struct ClearDepthStencilImage {
  Ptr<Image> image;
  VkClearDepthStencilValue value{};
  VkImageAspectFlags aspects = 0;
};

/// Not Vulkan's: the chain of blits that everybody writes, as one command.
struct GenerateMipmaps {
  Ptr<Image> image;
};

struct ResetQueryPool {
  Ptr<QueryPool> pool;
  uint32_t first = 0, count = 0;
};

struct WriteTimestamp {
  Ptr<QueryPool> pool;
  uint32_t query = 0;
};

struct CopyQueryPoolResults {
  Ptr<QueryPool> pool;
  uint32_t first = 0, count = 0;
  Ptr<Buffer> destination;
  uint64_t offset_B = 0, stride_B = 0;
  VkQueryResultFlags flags = 0;
};

}  // namespace tilegpu::command
