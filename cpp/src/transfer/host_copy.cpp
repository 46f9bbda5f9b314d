// transfer/host_copy.cpp -- see tilegpu/host_copy.hpp: the copies of transfer/copy.cpp, with the host's memory in the place of a buffer.
#include "tilegpu/host_copy.hpp"

#include "transfer/forbidden.hpp"
#include "transfer/regions.hpp"

namespace tilegpu {
namespace {

void at_once(uint32_t rows, const std::function<void(transfer::RowRange)>& work) { work({0, rows}); }

VkBufferImageCopy2 in_buffer(const HostRegion& region) {
  VkBufferImageCopy2 out{VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
  out.bufferRowLength = region.row_length_px, out.bufferImageHeight = region.image_height_px;
  out.imageSubresource = region.part, out.imageOffset = region.offset, out.imageExtent = region.extent;
  return out;
}

/// `copy` (buffer, region) for each region, once all were checked: a wrong one leaves everything as it was.
template <class Check, class Copy>
Status copy_each(std::span<const HostRegion> regions, const char* command, const Check& check, const Copy& copy) {
  std::vector<Ptr<Buffer>> buffers;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (!regions[i].memory) return transfer::region_error(command, i, "pHostPointer", "null", "memory of the host", "leave the region out");
    buffers.push_back(resource::buffer_over_host(regions[i].memory));
    const VkBufferImageCopy2 region = in_buffer(regions[i]);
    if (Status ok = check(*buffers.back(), std::span(&region, 1)); !ok)
      return Error{ok.error().code, std::string(command) + ", region " + std::to_string(i) + ": " + ok.error().message};
  }
  for (size_t i = 0; i < regions.size(); ++i) {
    const VkBufferImageCopy2 region = in_buffer(regions[i]);
    copy(*buffers[i], std::span(&region, 1));
  }
  return Ok{};
}

}  // namespace

Status copy_memory_to_image(const Image& destination, std::span<const HostRegion> regions) {
  using Regions = std::span<const VkBufferImageCopy2>;
  return copy_each(
      regions, "copy_memory_to_image",
      [&](const Buffer& from, Regions r) { return transfer::check_copy_buffer_to_image(from, destination, r); },
      [&](const Buffer& from, Regions r) { transfer::copy_buffer_to_image(from, destination, r, at_once); });
}

Status copy_image_to_memory(const Image& source, std::span<const HostRegion> regions) {
  using Regions = std::span<const VkBufferImageCopy2>;
  if (Status ok = transfer::check_one_sample("copy_image_to_memory", source); !ok) return ok;
  return copy_each(
      regions, "copy_image_to_memory", [&](const Buffer& to, Regions r) { return transfer::check_copy_image_to_buffer(source, to, r); },
      [&](const Buffer& to, Regions r) { transfer::copy_image_to_buffer(source, to, r, at_once); });
}

Status copy_image_to_image(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions) {
  if (Status ok = transfer::check_copy_image(source, destination, regions); !ok) return ok;
  transfer::copy_image(source, destination, regions, at_once);
  return Ok{};
}

uint64_t packed_size_B(const Image& image, VkImageAspectFlagBits aspect, uint32_t level) {
  assert(level < image.info().mip_levels);
  VkImageAspectFlags part = aspect;
  const Image& of = resource::part_of(image, part);
  const vk::FormatInfo& format = transfer::format_of(of);
  const VkExtent3D extent = of.extent(level);
  const uint64_t texel_B = resource::aspect_field(format, part).buffer_B;
  return texel_B * format.blocks_x(extent.width) * format.blocks_y(extent.height) * extent.depth;
}

}  // namespace tilegpu
