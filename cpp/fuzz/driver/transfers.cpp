// fuzz/driver/transfers.cpp -- copies, blits, resolves, clears, fills and updates outside of passes, and copies by the host: regions that
// Vulkan allows.
//
// In: choices. Out: commands. Source: Vulkan specification, "Copy Commands", "Clear Commands", "Copying Data Between Images and Memory".
#include <algorithm>
#include <cstring>

#include "driver/formats.hpp"
#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr VkImageLayout kLayout = VK_IMAGE_LAYOUT_GENERAL;

uint32_t blocks(uint32_t size_px, uint32_t block_px) { return (size_px + block_px - 1) / block_px; }

/// A part of an image: whole blocks, or as far as the level goes.
struct Part {
  VkImageSubresourceLayers of{};
  VkOffset3D offset{};
  VkExtent3D extent{};
  const vk::FormatInfo* format = nullptr;  ///< of the plane
};

/// `plane`: 0 to 2 where there are planes.
Part part_of(Choices& c, const ImageModel& image) {
  Part out;
  const uint32_t level = c.below(image.info.mipLevels), layer = c.below(image.info.arrayLayers);
  out.format = image.format;
  VkImageAspectFlags aspect = first_aspect(*image.format);
  VkExtent3D whole = image.extent(level);
  if (image.format->is_multi_planar()) {
    const uint32_t plane = c.below(image.format->plane_count);
    const vk::Plane& of = image.format->planes[plane];
    aspect = VK_IMAGE_ASPECT_PLANE_0_BIT << plane;
    out.format = vk::find_format(of.format);
    whole.width >>= of.x_log2, whole.height >>= of.y_log2;
  } else if (image.format->depth_bits && image.format->stencil_bits && c.coin()) {
    aspect = VK_IMAGE_ASPECT_STENCIL_BIT;
  }
  out.of = {aspect, level, layer, 1 + c.below(image.info.arrayLayers - layer)};
  const auto range = [&](uint32_t size_px, uint32_t block_px, int32_t& from, uint32_t& extent) {
    const uint32_t all = blocks(size_px, block_px), first = c.coin() ? 0 : c.below(all);
    const uint32_t count = c.coin() ? all - first : 1 + c.below(all - first);
    from = static_cast<int32_t>(first * block_px);
    extent = std::min(count * block_px, size_px - first * block_px);
  };
  range(whole.width, out.format->block_width_px, out.offset.x, out.extent.width);
  range(whole.height, out.format->block_height_px, out.offset.y, out.extent.height);
  range(whole.depth, 1, out.offset.z, out.extent.depth);
  return out;
}

uint32_t texel_B(const Part& part) {
  if (part.of.aspectMask == VK_IMAGE_ASPECT_STENCIL_BIT) return 1;
  if (part.of.aspectMask != VK_IMAGE_ASPECT_DEPTH_BIT) return part.format->texel_B;
  return part.format->depth_bits == 16 ? 2 : 4;
}

/// What the part takes in a buffer, with rows and layers of these lengths (0: no gaps).
uint64_t packed_B(const Part& part, uint32_t row_px, uint32_t image_px) {
  const vk::FormatInfo& f = *part.format;
  const uint64_t columns = blocks(row_px ? row_px : part.extent.width, f.block_width_px);
  const uint64_t rows = blocks(image_px ? image_px : part.extent.height, f.block_height_px);
  return columns * rows * texel_B(part) * part.extent.depth * part.of.layerCount;
}

bool has(VkFlags usage, VkFlags bit) { return usage & bit; }

bool transfers_from(const ImageModel& i) { return has(i.info.usage, VK_IMAGE_USAGE_TRANSFER_SRC_BIT); }
bool transfers_to(const ImageModel& i) { return has(i.info.usage, VK_IMAGE_USAGE_TRANSFER_DST_BIT); }

void copy_buffers(World& w, VkCommandBuffer commands) {
  const auto from = w.pick(w.buffers, [](const BufferModel& b) { return has(b.usage, VK_BUFFER_USAGE_TRANSFER_SRC_BIT); });
  const auto to =
      w.pick(w.buffers, [&](const BufferModel& b) { return has(b.usage, VK_BUFFER_USAGE_TRANSFER_DST_BIT) && &b != from.get(); });
  if (!from || !to) return;
  const uint64_t most_B = std::min(from->size_B, to->size_B), size_B = 1 + w.c.below(static_cast<uint32_t>(most_B));
  VkBufferCopy2 region{VK_STRUCTURE_TYPE_BUFFER_COPY_2};
  region.size = size_B, region.srcOffset = w.c.below(static_cast<uint32_t>(from->size_B - size_B + 1));
  region.dstOffset = w.c.below(static_cast<uint32_t>(to->size_B - size_B + 1));
  if (to == w.arena) region.dstOffset = kScratch_B, region.size = std::min<uint64_t>(size_B, kArena_B - kScratch_B);
  if (w.c.coin()) {
    const VkBufferCopy old{region.srcOffset, region.dstOffset, region.size};
    return w.vk.CmdCopyBuffer(commands, from->handle, to->handle, 1, &old);
  }
  const VkCopyBufferInfo2 info{VK_STRUCTURE_TYPE_COPY_BUFFER_INFO_2, nullptr, from->handle, to->handle, 1, &region};
  w.vk.CmdCopyBuffer2(commands, &info);
}

void fill_buffer(World& w, VkCommandBuffer commands) {
  const auto to = w.pick(w.buffers, [&](const BufferModel& b) {
    return has(b.usage, VK_BUFFER_USAGE_TRANSFER_DST_BIT) && b.size_B >= 4 && &b != w.arena.get();
  });
  if (!to) return;
  const auto words = static_cast<uint32_t>(to->size_B / 4);
  const uint32_t first = w.c.below(words), count = 1 + w.c.below(words - first);
  if (w.c.coin()) return w.vk.CmdFillBuffer(commands, to->handle, first * 4, w.c.coin() ? VK_WHOLE_SIZE : count * 4, w.c.word());
  std::vector<uint32_t> data(count, w.c.word());
  w.vk.CmdUpdateBuffer(commands, to->handle, first * 4, count * 4, data.data());
}

void copy_with_buffer(World& w, VkCommandBuffer commands) {
  const bool to_image = w.c.coin();
  const auto image = w.pick(w.images, [&](const ImageModel& i) {
    return i.info.samples == VK_SAMPLE_COUNT_1_BIT && (to_image ? transfers_to(i) : transfers_from(i));
  });
  if (!image) return;
  const Part part = part_of(w.c, *image);
  VkBufferImageCopy2 region{VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
  region.imageSubresource = part.of, region.imageOffset = part.offset, region.imageExtent = part.extent;
  if (w.c.seldom(3))
    region.bufferRowLength = (blocks(part.extent.width, part.format->block_width_px) + w.c.below(3)) * part.format->block_width_px;
  if (w.c.seldom(3))
    region.bufferImageHeight = (blocks(part.extent.height, part.format->block_height_px) + w.c.below(3)) * part.format->block_height_px;
  const uint64_t size_B = packed_B(part, region.bufferRowLength, region.bufferImageHeight);
  const uint64_t grid_B = part.format->is_depth_stencil() ? 4 : part.format->texel_B;
  region.bufferOffset = grid_B * w.c.below(5);
  const VkBufferUsageFlags use = to_image ? VK_BUFFER_USAGE_TRANSFER_SRC_BIT : VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  auto buffer = w.pick(w.buffers, [&](const BufferModel& b) {
    return has(b.usage, use) && b.size_B >= size_B + region.bufferOffset && &b != w.arena.get();
  });
  if (!buffer) buffer = w.buffer(size_B + region.bufferOffset, use | VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  const VkBufferImageCopy old{region.bufferOffset,     region.bufferRowLength, region.bufferImageHeight,
                              region.imageSubresource, region.imageOffset,     region.imageExtent};
  if (to_image) {
    const VkCopyBufferToImageInfo2 info{
        VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2, nullptr, buffer->handle, image->handle, kLayout, 1, &region};
    return w.c.coin() ? w.vk.CmdCopyBufferToImage(commands, buffer->handle, image->handle, kLayout, 1, &old)
                      : w.vk.CmdCopyBufferToImage2(commands, &info);
  }
  const VkCopyImageToBufferInfo2 info{
      VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2, nullptr, image->handle, kLayout, buffer->handle, 1, &region};
  w.c.coin() ? w.vk.CmdCopyImageToBuffer(commands, image->handle, kLayout, buffer->handle, 1, &old)
             : w.vk.CmdCopyImageToBuffer2(commands, &info);
}

/// Both of the same place in both images; 3D and layers never mixed.
void copy_images(World& w, VkCommandBuffer commands) {
  const auto from = w.pick(w.images, [](const ImageModel& i) { return transfers_from(i); });
  const auto to = w.pick(w.images, [&](const ImageModel& i) {
    return transfers_to(i) && &i != from.get() && from && i.info.format == from->info.format && i.info.samples == from->info.samples &&
           i.info.imageType == from->info.imageType;
  });
  if (!from || !to) return;
  const Part a = part_of(w.c, *from), b = part_of(w.c, *to);
  if (a.of.aspectMask != b.of.aspectMask || a.offset.x || a.offset.y || b.offset.x || b.offset.y) return;
  VkImageCopy2 region{VK_STRUCTURE_TYPE_IMAGE_COPY_2};
  region.srcSubresource = a.of, region.dstSubresource = b.of, region.srcOffset = a.offset, region.dstOffset = b.offset;
  region.srcSubresource.layerCount = region.dstSubresource.layerCount = std::min(a.of.layerCount, b.of.layerCount);
  region.extent = {std::min(a.extent.width, b.extent.width), std::min(a.extent.height, b.extent.height),
                   std::min(a.extent.depth, b.extent.depth)};
  const auto whole = [&](uint32_t size, uint32_t block, uint32_t one, uint32_t other) {
    return size % block == 0 || (size == one && size == other);
  };
  if (!whole(region.extent.width, a.format->block_width_px, a.extent.width, b.extent.width) ||
      !whole(region.extent.height, a.format->block_height_px, a.extent.height, b.extent.height))
    return;
  const VkImageCopy old{region.srcSubresource, region.srcOffset, region.dstSubresource, region.dstOffset, region.extent};
  if (w.c.coin()) return w.vk.CmdCopyImage(commands, from->handle, kLayout, to->handle, kLayout, 1, &old);
  const VkCopyImageInfo2 info{VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2, nullptr, from->handle, kLayout, to->handle, kLayout, 1, &region};
  w.vk.CmdCopyImage2(commands, &info);
}

void blit(World& w, VkCommandBuffer commands) {
  const auto plain = [](const ImageModel& i) {
    return i.info.samples == VK_SAMPLE_COUNT_1_BIT && i.info.imageType == VK_IMAGE_TYPE_2D && !i.format->needs_conversion();
  };
  const auto from = w.pick(w.images, [&](const ImageModel& i) { return plain(i) && transfers_from(i) && i.format->sampled; });
  const auto to = w.pick(w.images, [&](const ImageModel& i) {
    if (!from || !plain(i) || !transfers_to(i) || &i == from.get()) return false;
    if (from->format->is_depth_stencil()) return i.info.format == from->info.format;
    return i.format->color_attachment && i.format->is_integer() == from->format->is_integer() &&
           (!i.format->is_integer() || i.format->numeric == from->format->numeric);
  });
  if (!from || !to) return;
  VkImageBlit2 region{VK_STRUCTURE_TYPE_IMAGE_BLIT_2};
  const auto side = [&](const ImageModel& i, VkImageSubresourceLayers& of, VkOffset3D* offsets) {
    of = {aspects_of(*i.format), w.c.below(i.info.mipLevels), w.c.below(i.info.arrayLayers), 1};
    const VkExtent3D whole = i.extent(of.mipLevel);
    const auto range = [&](uint32_t size, int32_t& from, int32_t& to) {
      from = static_cast<int32_t>(w.c.below(size)), to = from + 1 + static_cast<int32_t>(w.c.below(size - static_cast<uint32_t>(from)));
      if (w.c.coin()) std::swap(from, to);
    };
    range(whole.width, offsets[0].x, offsets[1].x), range(whole.height, offsets[0].y, offsets[1].y);
    offsets[1].z = 1;
  };
  side(*from, region.srcSubresource, region.srcOffsets), side(*to, region.dstSubresource, region.dstOffsets);
  const bool linear = from->format->linear_filter && !from->format->is_depth_stencil() && w.c.coin();
  const VkFilter filter = linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  if (w.c.coin()) {
    VkImageBlit old{region.srcSubresource, {}, region.dstSubresource, {}};
    std::copy_n(region.srcOffsets, 2, old.srcOffsets), std::copy_n(region.dstOffsets, 2, old.dstOffsets);
    return w.vk.CmdBlitImage(commands, from->handle, kLayout, to->handle, kLayout, 1, &old, filter);
  }
  const VkBlitImageInfo2 info{VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2, nullptr, from->handle, kLayout, to->handle, kLayout, 1, &region, filter};
  w.vk.CmdBlitImage2(commands, &info);
}

void resolve(World& w, VkCommandBuffer commands) {
  const auto from = w.pick(w.images, [](const ImageModel& i) {
    return i.info.samples != VK_SAMPLE_COUNT_1_BIT && transfers_from(i) && !i.format->is_depth_stencil();
  });
  const auto to = w.pick(w.images, [&](const ImageModel& i) {
    return from && i.info.samples == VK_SAMPLE_COUNT_1_BIT && transfers_to(i) && i.info.format == from->info.format &&
           i.info.imageType == VK_IMAGE_TYPE_2D;
  });
  if (!from || !to) return;
  const Part a = part_of(w.c, *from), b = part_of(w.c, *to);
  VkImageResolve2 region{VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2};
  region.srcSubresource = a.of, region.dstSubresource = b.of, region.srcOffset = a.offset, region.dstOffset = b.offset;
  region.srcSubresource.layerCount = region.dstSubresource.layerCount = std::min(a.of.layerCount, b.of.layerCount);
  region.extent = {std::min(a.extent.width, b.extent.width), std::min(a.extent.height, b.extent.height), 1};
  const VkImageResolve old{region.srcSubresource, region.srcOffset, region.dstSubresource, region.dstOffset, region.extent};
  if (w.c.coin()) return w.vk.CmdResolveImage(commands, from->handle, kLayout, to->handle, kLayout, 1, &old);
  const VkResolveImageInfo2 info{VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2, nullptr, from->handle, kLayout, to->handle, kLayout, 1, &region};
  w.vk.CmdResolveImage2(commands, &info);
}

void clear(World& w, VkCommandBuffer commands) {
  const auto to =
      w.pick(w.images, [](const ImageModel& i) { return transfers_to(i) && !i.format->is_compressed() && !i.format->needs_conversion(); });
  if (!to) return;
  VkImageSubresourceRange range{aspects_of(*to->format), w.c.below(to->info.mipLevels), VK_REMAINING_MIP_LEVELS,
                                w.c.below(to->info.arrayLayers), VK_REMAINING_ARRAY_LAYERS};
  if (w.c.coin()) range.levelCount = 1 + w.c.below(to->info.mipLevels - range.baseMipLevel);
  if (w.c.coin()) range.layerCount = 1 + w.c.below(to->info.arrayLayers - range.baseArrayLayer);
  if (to->format->is_depth_stencil()) {
    const VkClearDepthStencilValue value{w.c.unit(), w.c.byte()};
    return w.vk.CmdClearDepthStencilImage(commands, to->handle, kLayout, &value, 1, &range);
  }
  VkClearColorValue value{};
  for (uint32_t& word : value.uint32) word = w.c.byte();
  if (!to->format->is_integer())
    for (float& number : value.float32) number = w.c.unit();
  w.vk.CmdClearColorImage(commands, to->handle, kLayout, &value, 1, &range);
}

}  // namespace

void World::step_transfer() {
  Recording* const r = outside();
  if (!r) return;
  switch (c.below(7)) {
    case 0:
      return copy_buffers(*this, r->handle);
    case 1:
      return fill_buffer(*this, r->handle);
    case 2:
      return copy_with_buffer(*this, r->handle);
    case 3:
      return copy_images(*this, r->handle);
    case 4:
      return blit(*this, r->handle);
    case 5:
      return resolve(*this, r->handle);
    default:
      return clear(*this, r->handle);
  }
}

// By the calling thread, of images that nothing that was submitted uses any more.
void World::step_host_copy() {
  const auto image = pick(images, [&](const ImageModel& i) {
    return i.info.usage & VK_IMAGE_USAGE_HOST_TRANSFER_BIT && i.info.samples == VK_SAMPLE_COUNT_1_BIT && is_free(i);
  });
  if (!image) return;
  wait_idle();
  if (lost) return;
  const VkHostImageLayoutTransitionInfo transition{VK_STRUCTURE_TYPE_HOST_IMAGE_LAYOUT_TRANSITION_INFO,
                                                   nullptr,
                                                   image->handle,
                                                   VK_IMAGE_LAYOUT_UNDEFINED,
                                                   kLayout,
                                                   {aspects_of(*image->format), 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}};
  TILEGPU_MUST(*this, TransitionImageLayout, device, 1, &transition);
  const Part part = part_of(c, *image);
  std::vector<uint8_t> bytes(packed_B(part, 0, 0));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
  if (c.coin()) {
    VkMemoryToImageCopy region{VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY};
    region.pHostPointer = bytes.data(), region.imageSubresource = part.of, region.imageOffset = part.offset,
    region.imageExtent = part.extent;
    const VkCopyMemoryToImageInfo info{VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO, nullptr, 0, image->handle, kLayout, 1, &region};
    TILEGPU_MUST(*this, CopyMemoryToImage, device, &info);
    return;
  }
  VkImageToMemoryCopy region{VK_STRUCTURE_TYPE_IMAGE_TO_MEMORY_COPY};
  region.pHostPointer = bytes.data(), region.imageSubresource = part.of, region.imageOffset = part.offset, region.imageExtent = part.extent;
  const VkCopyImageToMemoryInfo info{VK_STRUCTURE_TYPE_COPY_IMAGE_TO_MEMORY_INFO, nullptr, 0, image->handle, kLayout, 1, &region};
  TILEGPU_MUST(*this, CopyImageToMemory, device, &info);
  const auto same = pick(images, [&](const ImageModel& i) {
    return i.info.usage & VK_IMAGE_USAGE_HOST_TRANSFER_BIT && i.info.format == image->info.format &&
           i.info.imageType == image->info.imageType && i.info.samples == image->info.samples && &i != image.get() &&
           i.info.extent.width == image->info.extent.width && i.info.extent.height == image->info.extent.height &&
           i.info.extent.depth == image->info.extent.depth && is_free(i);
  });
  if (!same || same->format->is_multi_planar()) return;
  VkImageCopy2 whole{VK_STRUCTURE_TYPE_IMAGE_COPY_2};
  whole.srcSubresource = whole.dstSubresource = {aspects_of(*image->format), 0, 0, 1};
  whole.extent = image->info.extent;
  const VkCopyImageToImageInfo between{
      VK_STRUCTURE_TYPE_COPY_IMAGE_TO_IMAGE_INFO, nullptr, 0, image->handle, kLayout, same->handle, kLayout, 1, &whole};
  TILEGPU_MUST(*this, CopyImageToImage, device, &between);
}

}  // namespace tilegpu::fuzz
