// transfer/forbidden.hpp -- what Vulkan forbids of commands whose work could be done: uses that no usage names, texels in buffers off their
// own grid, copies of several samples to a buffer, regions that cut texel blocks.
//
// In: commands that passed their checks (transfer.hpp), which guard memory. Out: Ok, or an error of the same form. Source: Vulkan
// specification, valid usage of the copy commands.
#pragma once

#include <vector>

#include "resource/usage.hpp"
#include "transfer/transfer.hpp"

namespace tilegpu::transfer {

/// A source or a destination: a buffer or an image.
template <class Object>
Status check_source(const char* command, const Object& source) {
  if constexpr (std::is_same_v<Object, Buffer>)
    return resource::check_usage(command, source, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  else
    return resource::check_usage(command, source, VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
}
template <class Object>
Status check_destination(const char* command, const Object& destination) {
  if constexpr (std::is_same_v<Object, Buffer>)
    return resource::check_usage(command, destination, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  else
    return resource::check_usage(command, destination, VK_IMAGE_USAGE_TRANSFER_DST_BIT);
}
/// Copies to buffers have images of one sample; of several the first one of each texel is there to copy.
Status check_one_sample(const char* command, const Image& source);
/// bufferOffset: a multiple of the texel block's bytes, of depth and stencil of 4.
Status check_buffer_offsets(const char* command, const Image& image, std::span<const VkBufferImageCopy2> regions);
/// Regions that cut texel blocks have as many whole ones as their extent begins, from the one that the offset lies in on: what of a level
/// is no whole block is at its edge.
std::vector<VkBufferImageCopy2> in_whole_blocks(const Image& image, std::span<const VkBufferImageCopy2> regions);
std::vector<VkImageCopy2> in_whole_blocks(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions);

}  // namespace tilegpu::transfer
