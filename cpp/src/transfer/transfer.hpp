// transfer/transfer.hpp -- what stands behind the transfer commands: checks at
// record time, work at execution.
//
// In: images, buffers, and regions as Vulkan's copy_commands2 structures (their
// sType and pNext are not read). Out: Status of a check, which names command,
// region and field; or images and buffers changed. Work expects checked
// parameters, does regions in order, and gives the rows of each to `share`,
// which may call back from any thread. What was written is told to the memory
// (resource/memory_contents.hpp). Where Vulkan counts layers, a 3D image has
// slices: offset.z and extent.depth. layerCount and levelCount may be
// VK_REMAINING. Source: Vulkan specification, "Copy Commands", "Clear
// Commands".
#pragma once

#include <functional>
#include <span>

#include "tilegpu/resource.hpp"

namespace tilegpu::transfer {

using namespace resource;  // what is copied

struct RowRange {
  uint32_t begin = 0, end = 0;
};
/// Calls `work` for all of `rows`, in pieces, on any threads; returns when all
/// are done.
using ShareRows = std::function<void(uint32_t rows, const std::function<void(RowRange)>& work)>;

Status check_copy_buffer(const Buffer& source, const Buffer& destination, std::span<const VkBufferCopy2> regions);
void copy_buffer(const Buffer& source, const Buffer& destination, std::span<const VkBufferCopy2> regions, const ShareRows& share);
/// Words of 32 bits; VK_WHOLE_SIZE: as many as there are to the end.
Status check_fill_buffer(const Buffer& buffer, uint64_t offset_B, uint64_t size_B);
void fill_buffer(const Buffer& buffer, uint64_t offset_B, uint64_t size_B, uint32_t word, const ShareRows& share);
inline constexpr uint64_t kMostUpdate_B = 65536;
Status check_update_buffer(const Buffer& buffer, uint64_t offset_B, uint64_t size_B);
void update_buffer(const Buffer& buffer, uint64_t offset_B, std::span<const uint8_t> bytes);

/// Texels in buffers: the format's; depth 2 or 4 bytes, stencil 1.
Status check_copy_buffer_to_image(const Buffer& source, const Image& destination, std::span<const VkBufferImageCopy2> regions);
void copy_buffer_to_image(const Buffer& source, const Image& destination, std::span<const VkBufferImageCopy2> regions,
                          const ShareRows& share);
Status check_copy_image_to_buffer(const Image& source, const Buffer& destination, std::span<const VkBufferImageCopy2> regions);
void copy_image_to_buffer(const Image& source, const Buffer& destination, std::span<const VkBufferImageCopy2> regions,
                          const ShareRows& share);
/// Without conversion: colour formats of the same texel size; layers of one
/// side may be slices of the other.
Status check_copy_image(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions);
void copy_image(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions, const ShareRows& share);

/// Its destination has no texels, which Vulkan allows. Such regions are not given to blit_image.
bool blits_nothing(const VkImageBlit2& region);
Status check_blit_image(const Image& source, const Image& destination, std::span<const VkImageBlit2> regions, VkFilter filter);
void blit_image(const Image& source, const Image& destination, std::span<const VkImageBlit2> regions, VkFilter filter,
                const ShareRows& share);
/// All levels but the first, of all layers.
Status check_generate_mipmaps(const Image& image);
/// Level by level: 8-bit UNORM of even size is the 2x2 box (sum + 2) / 4 in
/// integers, everything else a linear blit (integers: nearest).
void generate_mipmaps(const Image& image, const ShareRows& share);

/// Colour; average (integers: sample zero).
Status check_resolve_image(const Image& source, const Image& destination, std::span<const VkImageResolve2> regions);
void resolve_image(const Image& source, const Image& destination, std::span<const VkImageResolve2> regions, const ShareRows& share);

/// Of a 3D image all slices of the levels.
Status check_clear_color_image(const Image& image, std::span<const VkImageSubresourceRange> ranges);
void clear_color_image(const Image& image, const VkClearColorValue& value, std::span<const VkImageSubresourceRange> ranges,
                       const ShareRows& share);
Status check_clear_depth_stencil_image(const Image& image, std::span<const VkImageSubresourceRange> ranges);
void clear_depth_stencil_image(const Image& image, const VkClearDepthStencilValue& value, std::span<const VkImageSubresourceRange> ranges,
                               const ShareRows& share);

}  // namespace tilegpu::transfer
