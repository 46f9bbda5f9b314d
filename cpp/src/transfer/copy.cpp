// transfer/copy.cpp -- copies between images, and between buffers and images,
// without conversion.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Copying Data
// Between Images", "Copying Data Between Buffers and Images".
#include <bit>
#include <cstring>

#include "transfer/regions.hpp"

namespace tilegpu::transfer {
namespace {

/// A region's texels in a buffer, by rows of texel blocks.
struct BufferShape {
  uint64_t row_B, slab_B, size_B;
};

// Pitches are the program's: what 64 bits don't hold is the largest number, which no buffer has room for.
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}
uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

BufferShape buffer_shape(const VkBufferImageCopy2& r, const vk::FormatInfo& format, uint32_t slabs, uint32_t texel_B) {
  const VkExtent3D& e = r.imageExtent;
  assert(e.width && e.height && slabs);
  const uint64_t row_B = static_cast<uint64_t>(format.blocks_x(r.bufferRowLength ? r.bufferRowLength : e.width)) * texel_B;
  const uint64_t slab_B = product(row_B, format.blocks_y(r.bufferImageHeight ? r.bufferImageHeight : e.height));
  const uint64_t last_B = row_B * (format.blocks_y(e.height) - 1) + static_cast<uint64_t>(format.blocks_x(e.width)) * texel_B;
  return {row_B, slab_B, sum(product(slab_B, slabs - 1), last_B)};
}

Side image_side(const char* command, size_t i, const Image& image, const VkBufferImageCopy2& r) {
  return side_of_part(command, i, "image", image, r.imageSubresource, r.imageOffset, r.imageExtent);
}

VkImageAspectFlagBits aspect_of(const Side& side) {
  assert(std::has_single_bit(side.part.aspectMask));
  return static_cast<VkImageAspectFlagBits>(side.part.aspectMask);
}

Status check_buffer_image(const char* command, const Buffer& buffer, const Image& image, std::span<const VkBufferImageCopy2> regions) {
  if (Status ok = check_regions(command, regions.size()); !ok) return ok;
  if (Status ok = check_has_memory(command, buffer); !ok) return ok;
  if (Status ok = check_has_memory(command, image); !ok) return ok;
  for (size_t i = 0; i < regions.size(); ++i) {
    const VkBufferImageCopy2& r = regions[i];
    const Side side = image_side(command, i, image, r);
    if (Status ok = check_box(side); !ok) return ok;
    if (!std::has_single_bit(r.imageSubresource.aspectMask))
      return region_error(command, i, "imageSubresource.aspectMask", number(r.imageSubresource.aspectMask), "one aspect",
                          "copy depth and stencil one after the other");
    if (!side.is_3d() && r.imageExtent.depth != 1)
      return region_error(command, i, "imageExtent.depth", number(r.imageExtent.depth), "1 where the image is not 3d",
                          "layers are layerCount");
    if (r.bufferRowLength && r.bufferRowLength < r.imageExtent.width)
      return region_error(command, i, "bufferRowLength", number(r.bufferRowLength),
                          "0 or at least the extent's width, " + number(r.imageExtent.width), "");
    if (r.bufferImageHeight && r.bufferImageHeight < r.imageExtent.height)
      return region_error(command, i, "bufferImageHeight", number(r.bufferImageHeight),
                          "0 or at least the extent's height, " + number(r.imageExtent.height), "");
    const vk::FormatInfo& format = format_of(side.image);
    if (r.bufferRowLength % format.block_width_px || r.bufferImageHeight % format.block_height_px)
      return region_error(command, i, "bufferRowLength and bufferImageHeight",
                          number(r.bufferRowLength) + " and " + number(r.bufferImageHeight),
                          std::string("multiples of the texel block of ") + format.name + ", " + number(format.block_width_px) + " and " +
                              number(format.block_height_px),
                          "0 takes the extent's");
    const BufferShape shape = buffer_shape(r, format, slabs_of(side).count, aspect_field(format, aspect_of(side)).buffer_B);
    if (Status ok = check_bytes(command, i, "buffer", buffer, r.bufferOffset, shape.size_B); !ok) return ok;
    if (overlap(side, buffer, r.bufferOffset, shape.size_B))
      return Error{VK_ERROR_VALIDATION_FAILED_EXT,
                   std::string(command) + ": regions[" + std::to_string(i) + "]: " + object_name("buffer", buffer.info().label) + " and " +
                       object_name("image", image.info().label) + " overlap in their memory; copy through another buffer"};
  }
  return Ok{};
}

/// One row from or to a field of 32-bit words.
void field_to_buffer(const uint8_t* texels, AspectField field, uint32_t count, uint8_t* out) {
  for (uint32_t x = 0; x < count; ++x) {
    uint32_t word;
    std::memcpy(&word, texels + 4 * x, 4);
    word = (word & field.mask) >> field.shift;
    std::memcpy(out + static_cast<size_t>(x) * field.buffer_B, &word, field.buffer_B);
  }
}

void field_from_buffer(const uint8_t* in, AspectField field, uint32_t count, uint8_t* texels) {
  for (uint32_t x = 0; x < count; ++x) {
    uint32_t value = 0, word;
    std::memcpy(&value, in + static_cast<size_t>(x) * field.buffer_B, field.buffer_B);
    std::memcpy(&word, texels + 4 * x, 4);
    word = (word & ~field.mask) | ((value << field.shift) & field.mask);
    std::memcpy(texels + 4 * x, &word, 4);
  }
}

void field_to_field(const uint8_t* in, AspectField field, uint32_t count, uint8_t* out) {
  for (uint32_t x = 0; x < count; ++x) {
    uint32_t from, word;
    std::memcpy(&from, in + 4 * x, 4);
    std::memcpy(&word, out + 4 * x, 4);
    word = (word & ~field.mask) | (from & field.mask);
    std::memcpy(out + 4 * x, &word, 4);
  }
}

Side source_side(size_t i, const Image& image, const VkImageCopy2& r) {
  return side_of_part("copy_image", i, "src", image, r.srcSubresource, r.srcOffset, r.extent);
}
/// The extent is in texels of the source: as many texel blocks of the destination, of which an edge may cut the last ones. An image of one
/// dimension is a row of blocks, each cut to one texel's height.
VkExtent3D destination_extent(const Image& source, const Image& destination, const VkImageCopy2& r) {
  const vk::FormatInfo &a = format_of(source), &b = format_of(destination);
  const auto is_texel = [](const vk::FormatInfo& format) { return format.block_width_px == 1 && format.block_height_px == 1; };
  if (is_texel(a) && is_texel(b)) return r.extent;
  if (r.dstSubresource.mipLevel >= destination.info().mip_levels || r.dstOffset.x < 0 || r.dstOffset.y < 0) return r.extent;  // refused
  const VkExtent3D level = destination.extent(r.dstSubresource.mipLevel);
  const auto cut = [](uint64_t size_px, uint32_t block_px, uint32_t left_px) {
    return static_cast<uint32_t>(size_px > left_px && size_px - left_px < block_px ? left_px : std::min<uint64_t>(size_px, UINT32_MAX));
  };
  const auto left = [](uint32_t limit, int32_t offset) {
    return limit > static_cast<uint32_t>(offset) ? limit - static_cast<uint32_t>(offset) : 0;
  };
  return {cut(uint64_t{a.blocks_x(r.extent.width)} * b.block_width_px, b.block_width_px, left(level.width, r.dstOffset.x)),
          cut(uint64_t{a.blocks_y(r.extent.height)} * b.block_height_px, b.block_height_px, left(level.height, r.dstOffset.y)),
          r.extent.depth};
}

Side destination_side(size_t i, const Image& source, const Image& image, const VkImageCopy2& r) {
  Side side = side_of_part("copy_image", i, "dst", image, r.dstSubresource, r.dstOffset, r.extent);
  side.extent = destination_extent(source_side(i, source, r).image, side.image, r);
  return side;
}

/// Formats that are copied bit by bit: the same, or colour whose texels, or texel blocks, are of one size.
Status check_formats(const Image& source, const Image& destination) {
  const vk::FormatInfo &a = format_of(source), &b = format_of(destination);
  const bool colors = !a.is_depth_stencil() && !b.is_depth_stencil();
  if (a.format == b.format || (colors && a.texel_B == b.texel_B)) return Ok{};
  return field_error("copy_image", "destination format", b.name,
                     std::string("a format of the same texel size as ") + a.name + " (depth and stencil: the same format)",
                     "use blit_image to convert");
}

/// What the two sides of a region must have in common.
Status check_pair(const Side& from, const Side& to) {
  const char* command = from.command;
  if (from.part.aspectMask != to.part.aspectMask)
    return region_error(command, from.region, "dstSubresource.aspectMask", number(to.part.aspectMask),
                        number(from.part.aspectMask) + " as the source", "");
  if (!from.is_3d() && !to.is_3d() && from.extent.depth != 1)
    return region_error(command, from.region, "extent.depth", number(from.extent.depth), "1 where no image is 3d", "layers are layerCount");
  const uint32_t a = slabs_of(from).count, b = slabs_of(to).count;
  if (a != b)
    return region_error(command, from.region, to.is_3d() ? "extent.depth" : "dstSubresource.layerCount", number(b),
                        number(a) + " as the source's " + (from.is_3d() ? "slices" : "layers"), "");
  return Ok{};
}

// Rows of texel blocks of a region, and of the buffer: visit(texels, bytes, field, columns). Returns the bytes of the buffer that it spans.
template <class Visit>
uint64_t each_row(const Side& side, const VkBufferImageCopy2& r, uint8_t* data, const ShareRows& share, bool writes, Visit visit) {
  const VkImageAspectFlagBits aspect = aspect_of(side);
  const AspectField field = aspect_field(format_of(side.image), aspect);
  const Slabs slabs = slabs_of(side);
  const BufferShape shape = buffer_shape(r, format_of(side.image), slabs.count, field.buffer_B);
  const BlockBox box = blocks_of(side);
  // A compressed source is shared like a destination: each slab is decoded once.
  run_slabs(share, &side.image, slabs.count, box.rows, [&](uint32_t slab, uint32_t y0, uint32_t y1) {
    TexelRows texels = open_texels(side.image, aspect, r.imageSubresource.mipLevel, slabs.first + slab, 0);
    assert(box.x + box.columns <= texels.rows.texel_blocks_x && box.y + y1 <= texels.rows.texel_blocks_y);
    for (uint32_t y = y0; y < y1; ++y)
      visit(texels.rows.at(box.x, box.y + y), data + r.bufferOffset + shape.slab_B * slab + shape.row_B * y, field, box.columns);
    if (writes) close_texels(texels);
  });
  return shape.size_B;
}

}  // namespace

Status check_copy_buffer_to_image(const Buffer& source, const Image& destination, std::span<const VkBufferImageCopy2> regions) {
  constexpr const char* kCommand = "copy_buffer_to_image";
  if (destination.sample_count() != 1) return multisampled_error(kCommand, destination, "draw to it, or clear it");
  return check_buffer_image(kCommand, source, destination, regions);
}

void copy_buffer_to_image(const Buffer& source, const Image& destination, std::span<const VkBufferImageCopy2> regions,
                          const ShareRows& share) {
  const auto put = [](uint8_t* out, const uint8_t* in, const AspectField& field, uint32_t columns) {
    if (field.mask)
      field_from_buffer(in, field, columns, out);
    else
      std::memcpy(out, in, static_cast<size_t>(columns) * field.buffer_B);
  };
  for (const VkBufferImageCopy2& r : regions) {
    const Side side = image_side("copy_buffer_to_image", 0, destination, r);
    each_row(side, r, source.data(), share, true, put);
    mark_box_written(side.image, box_of(side, aspect_of(side)), Writer::transfer);
  }
}

// Of several samples the first: whether a program may ask for it is forbidden.hpp's.
Status check_copy_image_to_buffer(const Image& source, const Buffer& destination, std::span<const VkBufferImageCopy2> regions) {
  return check_buffer_image("copy_image_to_buffer", destination, source, regions);
}

void copy_image_to_buffer(const Image& source, const Buffer& destination, std::span<const VkBufferImageCopy2> regions,
                          const ShareRows& share) {
  const auto put = [](const uint8_t* in, uint8_t* out, const AspectField& field, uint32_t columns) {
    if (field.mask)
      field_to_buffer(in, field, columns, out);
    else
      std::memcpy(out, in, static_cast<size_t>(columns) * field.buffer_B);
  };
  for (const VkBufferImageCopy2& r : regions) {
    const Side side = image_side("copy_image_to_buffer", 0, source, r);
    mark_written(destination, r.bufferOffset, each_row(side, r, destination.data(), share, false, put), Writer::transfer);
  }
}

Status check_copy_image(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions) {
  constexpr const char* kCommand = "copy_image";
  if (Status ok = check_regions(kCommand, regions.size()); !ok) return ok;
  for (const Image* image : {&source, &destination})
    if (Status ok = check_has_memory(kCommand, *image); !ok) return ok;
  const bool planes = !source.planes().empty() || !destination.planes().empty();
  if (!planes)
    if (Status ok = check_formats(source, destination); !ok) return ok;
  if (source.sample_count() != destination.sample_count()) {
    return field_error(kCommand, "destination samples", number(destination.sample_count()),
                       number(source.sample_count()) + " as the source", "use resolve_image");
  }
  for (size_t i = 0; i < regions.size(); ++i) {
    const Side from = source_side(i, source, regions[i]), to = destination_side(i, source, destination, regions[i]);
    if (planes) {
      for (const Side* side : {&from, &to})
        if (Status ok = check_part(*side); !ok) return ok;
      if (Status ok = check_formats(from.image, to.image); !ok) return ok;
    }
    for (const Side* side : {&from, &to})
      if (Status ok = check_box(*side); !ok) return ok;
    if (Status ok = check_pair(from, to); !ok) return ok;
  }
  return check_apart(
      source, destination, regions.size(), [&](size_t i) { return source_side(i, source, regions[i]); },
      [&](size_t i) { return destination_side(i, source, destination, regions[i]); }, "copy through another image");
}

void copy_image(const Image& source, const Image& destination, std::span<const VkImageCopy2> regions, const ShareRows& share) {
  for (const VkImageCopy2& r : regions) {
    const Side from = source_side(0, source, r), to = destination_side(0, source, destination, r);
    const Slabs in_slabs = slabs_of(from), out_slabs = slabs_of(to);
    const BlockBox in_box = blocks_of(from), out_box = blocks_of(to);
    assert(in_slabs.count == out_slabs.count && source.sample_count() == destination.sample_count());
    assert(in_box.columns == out_box.columns && in_box.rows == out_box.rows);
    for_each_aspect(from.part.aspectMask, [&](VkImageAspectFlagBits aspect) {
      const AspectField field = aspect_field(format_of(from.image), aspect);
      run_slabs(share, &to.image, out_slabs.count, out_box.rows, [&](uint32_t slab, uint32_t y0, uint32_t y1) {
        for (uint32_t s = 0; s < source.sample_count(); ++s) {
          const TexelRows in = open_texels(from.image, aspect, r.srcSubresource.mipLevel, in_slabs.first + slab, s);
          TexelRows out = open_texels(to.image, aspect, r.dstSubresource.mipLevel, out_slabs.first + slab, s);
          assert(in.rows.texel_B == out.rows.texel_B && (!field.mask || in.rows.texel_B == 4));
          assert(in_box.x + in_box.columns <= in.rows.texel_blocks_x && out_box.x + out_box.columns <= out.rows.texel_blocks_x);
          for (uint32_t y = y0; y < y1; ++y) {
            const uint8_t* a = in.rows.at(in_box.x, in_box.y + y);
            uint8_t* b = out.rows.at(out_box.x, out_box.y + y);
            if (field.mask) {
              field_to_field(a, field, out_box.columns, b);
            } else {
              std::memcpy(b, a, static_cast<size_t>(out_box.columns) * in.rows.texel_B);
            }
          }
          close_texels(out);
        }
      });
    });
    mark_box_written(to.image, box_of(to, to.part.aspectMask), Writer::transfer);
  }
}

}  // namespace tilegpu::transfer
