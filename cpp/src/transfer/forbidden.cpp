// transfer/forbidden.cpp -- see forbidden.hpp. In: an image; regions between buffers and images. Out: the first thing that is
// wrong: several samples, an offset off the grid.
#include "transfer/forbidden.hpp"

#include "transfer/regions.hpp"

namespace tilegpu::transfer {

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
