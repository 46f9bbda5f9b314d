// transfer/forbidden.cpp -- see forbidden.hpp. In: an image; regions of copies. Out: the first thing that is wrong: several samples,
// an offset off the grid; regions of whole texel blocks.
#include "transfer/forbidden.hpp"

#include <algorithm>

#include "transfer/regions.hpp"

namespace tilegpu::transfer {

namespace {

/// One axis; what lies beyond the level is left as it is, for others to refuse.
void to_blocks(int32_t& offset, uint32_t& size, uint32_t block_px, uint32_t level_px) {
  if (block_px <= 1 || offset < 0 || static_cast<uint32_t>(offset) >= level_px || size > level_px) return;
  offset -= static_cast<int32_t>(static_cast<uint32_t>(offset) % block_px);
  size = std::min((size + block_px - 1) / block_px * block_px, level_px - static_cast<uint32_t>(offset));
}

void to_blocks(const Image& image, VkImageSubresourceLayers part, VkOffset3D& offset, VkExtent3D& extent) {
  const Image& of = resource::part_of(image, part.aspectMask);
  if (part.mipLevel >= of.info().mip_levels) return;
  const vk::FormatInfo& format = format_of(of);
  const VkExtent3D level = of.extent(part.mipLevel);
  to_blocks(offset.x, extent.width, format.block_width_px, level.width);
  to_blocks(offset.y, extent.height, format.block_height_px, level.height);
}

}  // namespace

std::vector<VkBufferImageCopy2> in_whole_blocks(const Image& image, std::span<const VkBufferImageCopy2> regions) {
  std::vector<VkBufferImageCopy2> whole(regions.begin(), regions.end());
  for (VkBufferImageCopy2& r : whole) to_blocks(image, r.imageSubresource, r.imageOffset, r.imageExtent);
  return whole;
}

std::vector<VkImageCopy2> in_whole_blocks(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions) {
  std::vector<VkImageCopy2> whole(regions.begin(), regions.end());
  for (VkImageCopy2& r : whole) {
    to_blocks(source, r.srcSubresource, r.srcOffset, r.extent);
    VkExtent3D as_source = r.extent;  // the destination's follows from the source's
    to_blocks(destination, r.dstSubresource, r.dstOffset, as_source);
  }
  return whole;
}

Status check_one_sample(const char* command, const Image& source) {
  if (source.sample_count() == 1) return Ok{};
  return multisampled_error(command, source, "resolve it first: of several samples the first of each texel is copied");
}

Status check_buffer_offsets(const char* command, const Image& image, std::span<const VkBufferImageCopy2> regions) {
  for (size_t i = 0; i < regions.size(); ++i) {
    VkImageAspectFlags aspects = regions[i].imageSubresource.aspectMask;
    const vk::FormatInfo& format = format_of(resource::part_of(image, aspects));
    const uint32_t grid_B = format.is_depth_stencil() ? 4 : format.texel_B;
    if (regions[i].bufferOffset % grid_B == 0) continue;
    return region_error(
        command, i, "bufferOffset", std::to_string(regions[i].bufferOffset),
        "a multiple of " + number(grid_B) +
            (format.is_depth_stencil() ? ", for depth and stencil" : std::string(", the bytes of a texel of ") + format.name),
        "");
  }
  return Ok{};
}

}  // namespace tilegpu::transfer
