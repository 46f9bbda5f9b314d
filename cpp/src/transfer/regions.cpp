// transfer/regions.cpp -- see regions.hpp.
//
// In: sides of regions. Out: errors, slabs, overlaps.
#include "transfer/regions.hpp"

namespace tilegpu::transfer {
namespace {

std::string field(const Side& side, const char* rest) { return std::string(side.name) + rest; }

Error error_of(const Side& side, const char* rest, const std::string& value, const std::string& allowed, const std::string& fix) {
  return region_error(side.command, side.region, field(side, rest) + " of " + object_name("image", side.image.info().label), value, allowed,
                      fix);
}

/// Rows of the box, from the first slab's first to the last slab's last.
MemoryRange rows_range(const Side& side, VkImageAspectFlagBits aspect) {
  const Slabs slabs = slabs_of(side);
  assert(slabs.count > 0 && side.extent.height > 0);
  const MemoryRange whole = range_of(side.image, aspect, side.part.mipLevel, slabs.first, slabs.count);
  if (side.image.info().tiling != ImageTiling::linear || side.image.sample_count() > 1) return whole;
  const SubresourceLayout layout = side.image.layout(aspect, side.part.mipLevel, slabs.first);
  const BlockBox box = blocks_of(side);
  return {whole.begin_B + layout.row_pitch_B * box.y,
          whole.end_B - layout.size_B + layout.row_pitch_B * (box.y + box.rows - 1) + (uint64_t{box.x} + box.columns) * layout.texel_B};
}

bool meet(int64_t a, int64_t a_size, int64_t b, int64_t b_size) { return a < b + b_size && b < a + a_size; }

}  // namespace

Error region_error(const char* command, size_t region, const std::string& field, const std::string& value, const std::string& allowed,
                   const std::string& fix, VkResult code) {
  return field_error(command, "regions[" + std::to_string(region) + "]." + field, value, allowed, fix, code);
}

Error multisampled_error(const char* command, const Image& image, const char* fix) {
  return field_error(command, object_name("image", image.info().label) + ".samples", number(image.sample_count()), "1", fix);
}

Status check_regions(const char* command, size_t count) {
  if (count) return Ok{};
  return field_error(command, "regionCount", "0", "1 or more", "record no command where there is nothing to do");
}

Status check_has_memory(const char* command, const Image& image) {
  if (image.data()) return Ok{};
  const bool transient = image.info().usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
  const char* const why = transient ? " has no memory, as it is transient; let a pass clear or draw it, or create it without transient"
                                    : " has no memory; bind memory first";
  return Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(command) + ": " + object_name("image", image.info().label) + why};
}

Status check_has_memory(const char* command, const Buffer& buffer) {
  if (buffer.data()) return Ok{};
  return Error{VK_ERROR_VALIDATION_FAILED_EXT,
               std::string(command) + ": " + object_name("buffer", buffer.info().label) + " has no memory; bind memory first"};
}

Status check_bytes(const char* command, size_t region, const char* name, const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  if (buffer.holds(offset_B, size_B)) return Ok{};
  return region_error(command, region, std::string(name) + " bytes of " + object_name("buffer", buffer.info().label),
                      std::to_string(size_B) + " bytes from byte " + std::to_string(offset_B),
                      "within its " + std::to_string(buffer.size_B()) + " bytes", "make the buffer larger or copy less");
}

Status check_part(const Side& side) {
  const VkImageAspectFlags all = format_aspects(format_of(side.image));
  const VkImageSubresourceLayers& part = side.part;
  if (!side.image.planes().empty())  // else the side would be the plane's
    return error_of(side, "Subresource.aspectMask", number(part.aspectMask),
                    side.image.planes().size() == 2 ? "plane_0 or plane_1, one of them" : "plane_0, plane_1 or plane_2, one of them",
                    "planes are copied one by one");
  if (part.aspectMask == 0 || (part.aspectMask & ~all)) {
    return error_of(side, "Subresource.aspectMask", number(part.aspectMask), "aspects of the format (mask " + number(all) + ")", "");
  }
  const ImageCreateInfo& info = side.image.info();
  if (part.mipLevel >= info.mip_levels)
    return error_of(side, "Subresource.mipLevel", number(part.mipLevel), "0 to " + number(info.mip_levels - 1), "");
  if (part.baseArrayLayer >= info.array_layers)
    return error_of(side, "Subresource.baseArrayLayer", number(part.baseArrayLayer), "0 to " + number(info.array_layers - 1),
                    side.is_3d() ? "slices of a 3d image are offset.z and extent.depth" : "");
  const uint32_t most = info.array_layers - part.baseArrayLayer;
  if (part.layerCount != VK_REMAINING_ARRAY_LAYERS && (part.layerCount == 0 || part.layerCount > most))
    return error_of(side, "Subresource.layerCount", number(part.layerCount), "1 to " + number(most),
                    side.is_3d() ? "slices of a 3d image are offset.z and extent.depth" : "");
  return Ok{};
}

Status check_box(const Side& side) {
  if (Status part = check_part(side); !part) return part;
  const VkExtent3D level = side.image.extent(side.part.mipLevel);
  const VkOffset3D& o = side.offset;
  const VkExtent3D& e = side.extent;
  const auto inside = [](int32_t from, uint32_t size, uint32_t limit) { return from >= 0 && size > 0 && int64_t{from} + size <= limit; };
  if (!inside(o.x, e.width, level.width) || !inside(o.y, e.height, level.height) || (side.is_3d() && !inside(o.z, e.depth, level.depth)))
    return error_of(side, "Offset and extent", extent_text(e) + " at " + offset_text(o),
                    "at least 1x1x1 px within the level's " + extent_text(level), "cut it with the image");
  if (!side.is_3d() && o.z != 0) return error_of(side, "Offset.z", number(o.z), "0 where the image is not 3d", "layers are baseArrayLayer");
  const vk::FormatInfo& format = format_of(side.image);
  const auto whole_blocks = [](int32_t from, uint32_t size, uint32_t block_px, uint32_t limit) {
    const uint32_t begin = static_cast<uint32_t>(from), end = begin + size;
    return begin % block_px == 0 && (end % block_px == 0 || end == limit);
  };
  if (!whole_blocks(o.x, e.width, format.block_width_px, level.width) || !whole_blocks(o.y, e.height, format.block_height_px, level.height))
    return error_of(side, "Offset and extent", extent_text(e) + " at " + offset_text(o),
                    std::string("whole texel blocks of ") + format.name + ", " + number(format.block_width_px) + "x" +
                        number(format.block_height_px) + " px, or to the level's edge (" + extent_text(level) + ")",
                    "begin and end between blocks");
  return Ok{};
}

Slabs slabs_of(const Side& side) {
  if (side.is_3d()) return {static_cast<uint32_t>(side.offset.z), side.extent.depth};
  const uint32_t count = side.part.layerCount;
  return {side.part.baseArrayLayer, count == VK_REMAINING_ARRAY_LAYERS ? side.image.info().array_layers - side.part.baseArrayLayer : count};
}

BlockBox blocks_of(const Side& side) {
  const vk::FormatInfo& format = format_of(side.image);
  const auto x = static_cast<uint32_t>(side.offset.x), y = static_cast<uint32_t>(side.offset.y);
  const uint32_t first_x = x / format.block_width_px, first_y = y / format.block_height_px;  // a blit's corners lie anywhere in blocks
  return {first_x, first_y, format.blocks_x(x + side.extent.width) - first_x, format.blocks_y(y + side.extent.height) - first_y};
}

bool resolve_range(const Image& image, VkImageSubresourceRange& range) {
  const ImageCreateInfo& info = image.info();
  if (range.baseMipLevel >= info.mip_levels || range.baseArrayLayer >= info.array_layers) return false;
  const uint32_t levels = info.mip_levels - range.baseMipLevel, layers = info.array_layers - range.baseArrayLayer;
  if (range.levelCount == VK_REMAINING_MIP_LEVELS) range.levelCount = levels;
  if (range.layerCount == VK_REMAINING_ARRAY_LAYERS) range.layerCount = layers;
  return range.levelCount > 0 && range.levelCount <= levels && range.layerCount > 0 && range.layerCount <= layers;
}

ImageBox box_of(const Side& side, VkImageAspectFlags aspects) {
  const Slabs slabs = slabs_of(side);
  return {aspects,
          side.part.mipLevel,
          slabs.first,
          slabs.count,
          static_cast<uint32_t>(side.offset.x),
          static_cast<uint32_t>(side.offset.y),
          side.extent.width,
          side.extent.height};
}

bool overlap(const Side& a, const Side& b) {
  if (&a.image == &b.image) {
    const Slabs p = slabs_of(a), q = slabs_of(b);
    return (a.part.aspectMask & b.part.aspectMask) && a.part.mipLevel == b.part.mipLevel && meet(p.first, p.count, q.first, q.count) &&
           meet(a.offset.x, a.extent.width, b.offset.x, b.extent.width) && meet(a.offset.y, a.extent.height, b.offset.y, b.extent.height);
  }
  if (a.image.memory() != b.image.memory()) return false;
  bool met = false;
  for_each_aspect(a.part.aspectMask, [&](VkImageAspectFlagBits x) {
    for_each_aspect(b.part.aspectMask, [&](VkImageAspectFlagBits y) {
      met |= (fields_of(a.image, x) & fields_of(b.image, y)) && overlap(rows_range(a, x), rows_range(b, y));
    });
  });
  return met;
}

Error overlap_error(const Side& source, const Side& destination, const char* fix) {
  return {VK_ERROR_VALIDATION_FAILED_EXT, std::string(source.command) + ": the source of regions[" + std::to_string(source.region) +
                                              "] and the destination of regions[" + std::to_string(destination.region) + "] overlap in " +
                                              object_name("image", source.image.info().label) + "; " + fix};
}

bool overlap(const Side& side, const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  if (side.image.memory() != buffer.memory()) return false;
  const MemoryRange bytes = {buffer.memory_offset_B() + offset_B, buffer.memory_offset_B() + offset_B + size_B};
  bool met = false;
  for_each_aspect(side.part.aspectMask, [&](VkImageAspectFlagBits aspect) { met |= overlap(rows_range(side, aspect), bytes); });
  return met;
}

}  // namespace tilegpu::transfer
