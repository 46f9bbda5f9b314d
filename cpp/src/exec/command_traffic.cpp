// exec/command_traffic.cpp -- see command_traffic.hpp.
#include "exec/command_traffic.hpp"

#include <algorithm>
#include <cassert>
#include <variant>

#include "transfer/regions.hpp"

namespace tilegpu::exec {
namespace {

/// A texel block of a part's aspects, of one sample; of one aspect of two what a buffer has of it.
uint64_t texel_B(const Image& image, VkImageAspectFlags aspects) {
  constexpr VkImageAspectFlags kBoth = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  if (aspects == VK_IMAGE_ASPECT_STENCIL_BIT) return 1;
  if (aspects & kBoth) {
    const vk::FormatInfo& format = *vk::find_format(image.info().format);
    const uint64_t depth_B = format.depth_bits == 16 ? 2 : format.depth_bits ? 4 : 0;
    return aspects == kBoth && format.depth_bits != 24 ? depth_B + (format.stencil_bits ? 1 : 0) : depth_B;
  }
  return image.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0).texel_B;
}

/// A region's box on one side, all slabs and samples.
uint64_t side_B(const Image& whole, VkImageSubresourceLayers part, VkOffset3D offset, VkExtent3D extent) {
  const transfer::Side side = transfer::side_of_part("", 0, "", whole, part, offset, extent);
  const transfer::BlockBox box = transfer::blocks_of(side);
  const bool plane = &side.image != &whole;
  const uint64_t texels = uint64_t{box.columns} * box.rows * transfer::slabs_of(side).count;
  return texels * texel_B(side.image, plane ? VkImageAspectFlags{VK_IMAGE_ASPECT_COLOR_BIT} : part.aspectMask) * side.image.sample_count();
}

/// Of corners in any order.
uint64_t corners_B(const Image& image, const VkImageSubresourceLayers& part, const VkOffset3D (&corners)[2]) {
  const VkOffset3D low = {std::min(corners[0].x, corners[1].x), std::min(corners[0].y, corners[1].y), std::min(corners[0].z, corners[1].z)};
  const VkOffset3D high = {std::max(corners[0].x, corners[1].x), std::max(corners[0].y, corners[1].y),
                           std::max(corners[0].z, corners[1].z)};
  return side_B(image, part, low,
                {static_cast<uint32_t>(high.x - low.x), static_cast<uint32_t>(high.y - low.y), static_cast<uint32_t>(high.z - low.z)});
}

uint64_t ranges_B(const Image& image, const HostVector<VkImageSubresourceRange>& ranges) {
  uint64_t bytes = 0;
  for (VkImageSubresourceRange range : ranges) {
    if (!transfer::resolve_range(image, range)) continue;
    for (uint32_t level = range.baseMipLevel; level < range.baseMipLevel + range.levelCount; ++level)
      bytes += side_B(image, {range.aspectMask, level, range.baseArrayLayer, range.layerCount}, {}, image.extent(level));
  }
  return bytes;
}

struct Visitor {
  using Traffic = std::optional<CommandTraffic>;

  Traffic operator()(const command::CopyBuffer& c) const {
    CommandTraffic t{"copy_buffer"};
    for (const VkBufferCopy2& r : c.regions) t.read_B += r.size, t.written_B += r.size;
    return t;
  }
  Traffic operator()(const command::FillBuffer& c) const { return CommandTraffic{"fill_buffer", 0, c.size_B}; }
  Traffic operator()(const command::UpdateBuffer& c) const { return CommandTraffic{"update_buffer", 0, c.bytes.size()}; }
  Traffic operator()(const command::CopyBufferToImage& c) const {
    CommandTraffic t{"copy_buffer_to_image"};
    for (const VkBufferImageCopy2& r : c.regions) t.read_B += side_B(*c.destination, r.imageSubresource, r.imageOffset, r.imageExtent);
    t.written_B = t.read_B;
    return t;
  }
  Traffic operator()(const command::CopyImageToBuffer& c) const {
    CommandTraffic t{"copy_image_to_buffer"};
    for (const VkBufferImageCopy2& r : c.regions) t.read_B += side_B(*c.source, r.imageSubresource, r.imageOffset, r.imageExtent);
    t.written_B = t.read_B;
    return t;
  }
  Traffic operator()(const command::CopyImage& c) const {
    CommandTraffic t{"copy_image"};
    for (const VkImageCopy2& r : c.regions) t.read_B += side_B(*c.source, r.srcSubresource, r.srcOffset, r.extent);
    t.written_B = t.read_B;  // texel blocks of one size, as many
    return t;
  }
  Traffic operator()(const command::BlitImage& c) const {
    CommandTraffic t{"blit_image"};
    for (const VkImageBlit2& r : c.regions) {
      t.read_B += corners_B(*c.source, r.srcSubresource, r.srcOffsets);
      t.written_B += corners_B(*c.destination, r.dstSubresource, r.dstOffsets);
    }
    return t;
  }
  Traffic operator()(const command::ResolveImage& c) const {
    CommandTraffic t{"resolve_image"};
    for (const VkImageResolve2& r : c.regions) {
      t.read_B += side_B(*c.source, r.srcSubresource, r.srcOffset, r.extent);
      t.written_B += side_B(*c.destination, r.dstSubresource, r.dstOffset, r.extent);
    }
    return t;
  }
  Traffic operator()(const command::ClearColorImage& c) const {
    return CommandTraffic{"clear_color_image", 0, ranges_B(*c.image, c.ranges)};
  }
  Traffic operator()(const command::ClearDepthStencilImage& c) const {
    return CommandTraffic{"clear_depth_stencil_image", 0, ranges_B(*c.image, c.ranges)};
  }
  Traffic operator()(const command::GenerateMipmaps& c) const {
    CommandTraffic t{"generate_mipmaps"};
    const auto level_B = [&](uint32_t level) {
      return ranges_B(*c.image, {{VK_IMAGE_ASPECT_COLOR_BIT, level, 1, 0, VK_REMAINING_ARRAY_LAYERS}});
    };
    for (uint32_t level = 1; level < c.image->info().mip_levels; ++level) t.read_B += level_B(level - 1), t.written_B += level_B(level);
    return t;
  }
  template <class Other>
  Traffic operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<CommandTraffic> traffic_of(const command::Command& command) { return std::visit(Visitor{}, command); }

}  // namespace tilegpu::exec
