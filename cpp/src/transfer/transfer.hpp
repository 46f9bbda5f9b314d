// transfer/transfer.hpp -- what stands behind the transfer commands: checks at record time, work at execution.
//
// In: images, buffers and the parameters of command.hpp. Out: Status of a check, or images and buffers changed. Work functions
// expect checked parameters and take a range of destination rows (buffer rows for copies to buffers), so that threads can share them.
// They tell the destination's memory what they wrote. Source: Vulkan specification, "Copy Commands", "Clear Commands".
#pragma once

#include "tilegpu/rendering.hpp"

namespace tilegpu::resource {}

namespace tilegpu::transfer {

using namespace resource;  // what is copied

struct RowRange {
  uint32_t begin = 0, end = ~0u;  // cut with the rows there are
};

Status check_copy_buffer(const Buffer& source, const Buffer& destination, uint64_t source_offset_B, uint64_t destination_offset_B,
                         uint64_t size_B);
void copy_buffer(const Buffer& source, const Buffer& destination, uint64_t source_offset_B, uint64_t destination_offset_B, uint64_t size_B);

/// row_length_px 0: tightly packed. Texels in buffers: the format's; depth 2 or 4 bytes, stencil 1.
Status check_copy_buffer_to_image(const Buffer& source, uint64_t offset_B, uint32_t row_length_px, const Image& destination,
                                  const ImageRegion& region, uint32_t width_px, uint32_t height_px);
void copy_buffer_to_image(const Buffer& source, uint64_t offset_B, uint32_t row_length_px, Image& destination, const ImageRegion& region,
                          uint32_t width_px, uint32_t height_px, RowRange rows = {});
Status check_copy_image_to_buffer(const Image& source, const ImageRegion& region, uint32_t width_px, uint32_t height_px,
                                  const Buffer& destination, uint64_t offset_B, uint32_t row_length_px);
void copy_image_to_buffer(const Image& source, const ImageRegion& region, uint32_t width_px, uint32_t height_px, const Buffer& destination,
                          uint64_t offset_B, uint32_t row_length_px, RowRange rows = {});
Status check_copy_image(const Image& source, const ImageRegion& from, const Image& destination, const ImageRegion& to, uint32_t width_px,
                        uint32_t height_px);
void copy_image(const Image& source, const ImageRegion& from, Image& destination, const ImageRegion& to, uint32_t width_px,
                uint32_t height_px, RowRange rows = {});

Status check_blit_image(const Image& source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2],
                        const Image& destination, uint32_t destination_level, uint32_t destination_layer,
                        const VkOffset3D destination_corners[2], VkFilter filter);
void blit_image(const Image& source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2], Image& destination,
                uint32_t destination_level, uint32_t destination_layer, const VkOffset3D destination_corners[2], VkFilter filter,
                RowRange rows = {});

Status check_generate_mipmaps(const Image& image);
/// Level by level: 8-bit UNORM of even size is the 2x2 box (sum + 2) / 4 in integers, everything else a linear blit (integers: nearest).
void generate_mipmaps(Image& image);

Status check_resolve_image(const Image& source, const Image& destination);
/// Level 0, all layers; average (integers: sample zero).
void resolve_image(const Image& source, Image& destination, RowRange rows = {});

Status check_clear_color_image(const Image& image);
void clear_color_image(Image& image, const VkClearColorValue& value);
Status check_clear_depth_stencil_image(const Image& image, VkImageAspectFlags aspects);
void clear_depth_stencil_image(Image& image, const VkClearDepthStencilValue& value, VkImageAspectFlags aspects);

}  // namespace tilegpu::transfer
