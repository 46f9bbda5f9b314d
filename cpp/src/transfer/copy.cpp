// transfer/copy.cpp -- copies between buffers and images, without conversion.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Copying Data Between Buffers", "... Images", "... Buffers and Images".
#include <algorithm>
#include <cassert>
#include <cstring>

#include "transfer/transfer.hpp"
#include "transfer/transfer_checks.hpp"

namespace tilegpu::transfer {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

struct BufferShape {
  uint64_t pitch_B, size_B;
};

BufferShape buffer_shape(uint32_t row_length_px, uint32_t width_px, uint32_t height_px, uint32_t texel_B) {
  const uint64_t pitch_B = static_cast<uint64_t>(row_length_px ? row_length_px : width_px) * texel_B;
  return {pitch_B, height_px ? pitch_B * (height_px - 1) + static_cast<uint64_t>(width_px) * texel_B : 0};
}

Status check_buffer_image(const char* command, const Buffer& buffer, uint64_t offset_B, uint32_t row_length_px, const Image& image,
                          const ImageRegion& region, uint32_t width_px, uint32_t height_px, const char* side) {
  if (Status ok = check_region(command, image, region, width_px, height_px, side); !ok) return ok.error();
  if (image.sample_count() != 1) return multisampled_error(command, image, "resolve it first");
  if (row_length_px && row_length_px < width_px) {
    return field_error(command, "row_length_px", number(row_length_px), "0 or at least width_px, " + number(width_px), "");
  }
  const BufferShape shape =
      buffer_shape(row_length_px, width_px, height_px, aspect_field(*vk::find_format(image.info().format), region.aspect).buffer_B);
  return check_range(command, buffer, offset_B, shape.size_B);
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

void mark_defined(Image& image, const ImageRegion& region, RowRange rows) {
  if (rows.begin == 0)
    mark_written(image, {static_cast<VkImageAspectFlags>(region.aspect), region.level, 1, region.layer, 1}, Writer::transfer);
}

}  // namespace

Status check_copy_buffer(const Buffer& source, const Buffer& destination, uint64_t source_offset_B, uint64_t destination_offset_B,
                         uint64_t size_B) {
  if (Status ok = check_range("copy_buffer", source, source_offset_B, size_B); !ok) return ok.error();
  if (Status ok = check_range("copy_buffer", destination, destination_offset_B, size_B); !ok) return ok.error();
  const uint64_t distance_B = std::max(source_offset_B, destination_offset_B) - std::min(source_offset_B, destination_offset_B);
  if (&source == &destination && distance_B < size_B) {
    return Error{VK_ERROR_VALIDATION_FAILED_EXT,
                 "copy_buffer: source and destination overlap in " + object_name("buffer", source.info().label) + "; copy in two steps"};
  }
  return Ok{};
}

void copy_buffer(const Buffer& source, const Buffer& destination, uint64_t source_offset_B, uint64_t destination_offset_B,
                 uint64_t size_B) {
  std::memmove(destination.data() + destination_offset_B, source.data() + source_offset_B, size_B);
  mark_written(destination, destination_offset_B, size_B, Writer::transfer);
}

Status check_copy_buffer_to_image(const Buffer& source, uint64_t offset_B, uint32_t row_length_px, const Image& destination,
                                  const ImageRegion& region, uint32_t width_px, uint32_t height_px) {
  return check_buffer_image("copy_buffer_to_image", source, offset_B, row_length_px, destination, region, width_px, height_px,
                            "destination");
}

void copy_buffer_to_image(const Buffer& source, uint64_t offset_B, uint32_t row_length_px, Image& destination, const ImageRegion& region,
                          uint32_t width_px, uint32_t height_px, RowRange range) {
  const RowRange rows = share_of(destination, range, height_px);
  if (rows.begin == rows.end) return;
  const AspectField field = aspect_field(*vk::find_format(destination.info().format), region.aspect);
  const BufferShape shape = buffer_shape(row_length_px, width_px, height_px, field.buffer_B);
  TexelRows texels = open_texels(destination, region.aspect, region.level, region.layer, 0);
  assert(static_cast<uint32_t>(region.x) + width_px <= texels.rows.width_px);
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    const uint8_t* in = source.data() + offset_B + shape.pitch_B * y;
    uint8_t* out = texels.rows.at(static_cast<uint32_t>(region.x), static_cast<uint32_t>(region.y) + y);
    if (field.mask) {
      field_from_buffer(in, field, width_px, out);
    } else {
      std::memcpy(out, in, static_cast<size_t>(width_px) * field.buffer_B);
    }
  }
  close_texels(texels);
  mark_defined(destination, region, rows);
}

Status check_copy_image_to_buffer(const Image& source, const ImageRegion& region, uint32_t width_px, uint32_t height_px,
                                  const Buffer& destination, uint64_t offset_B, uint32_t row_length_px) {
  return check_buffer_image("copy_image_to_buffer", destination, offset_B, row_length_px, source, region, width_px, height_px, "source");
}

void copy_image_to_buffer(const Image& source, const ImageRegion& region, uint32_t width_px, uint32_t height_px, const Buffer& destination,
                          uint64_t offset_B, uint32_t row_length_px, RowRange range) {
  const AspectField field = aspect_field(*vk::find_format(source.info().format), region.aspect);
  const BufferShape shape = buffer_shape(row_length_px, width_px, height_px, field.buffer_B);
  const TexelRows texels = open_texels(source, region.aspect, region.level, region.layer, 0);
  assert(static_cast<uint32_t>(region.x) + width_px <= texels.rows.width_px);
  const RowRange rows = {std::min(range.begin, height_px), std::min(range.end, height_px)};
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    const uint8_t* in = texels.rows.at(static_cast<uint32_t>(region.x), static_cast<uint32_t>(region.y) + y);
    uint8_t* out = destination.data() + offset_B + shape.pitch_B * y;
    if (field.mask) {
      field_to_buffer(in, field, width_px, out);
    } else {
      std::memcpy(out, in, static_cast<size_t>(width_px) * field.buffer_B);
    }
  }
  if (rows.begin == 0) mark_written(destination, offset_B, shape.size_B, Writer::transfer);
}

Status check_copy_image(const Image& source, const ImageRegion& from, const Image& destination, const ImageRegion& to, uint32_t width_px,
                        uint32_t height_px) {
  constexpr const char* kCommand = "copy_image";
  if (Status ok = check_region(kCommand, source, from, width_px, height_px, "source"); !ok) return ok.error();
  if (Status ok = check_region(kCommand, destination, to, width_px, height_px, "destination"); !ok) return ok.error();
  const vk::FormatInfo &a = *vk::find_format(source.info().format), &b = *vk::find_format(destination.info().format);
  const bool compatible =
      a.is_depth_stencil() || b.is_depth_stencil() ? a.format == b.format && from.aspect == to.aspect : a.texel_B == b.texel_B;
  if (!compatible) {
    return field_error(kCommand, "destination format", b.name,
                       std::string("a format of the same texel size as ") + a.name + " (depth and stencil: the same format)",
                       "use blit_image to convert");
  }
  if (source.sample_count() != destination.sample_count()) {
    return field_error(kCommand, "destination samples", number(destination.sample_count()),
                       number(source.sample_count()) + " as the source", "use resolve_image");
  }
  if (&source == &destination && from.level == to.level && from.layer == to.layer && from.aspect == to.aspect) {
    const auto apart = [](int32_t p, int32_t q, uint32_t size) { return std::abs(static_cast<int64_t>(p) - q) >= size; };
    if (!apart(from.x, to.x, width_px) && !apart(from.y, to.y, height_px)) {
      return Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(kCommand) + ": source and destination overlap in " +
                                                       object_name("image", source.info().label) + "; copy through another image"};
    }
  }
  return Ok{};
}

void copy_image(const Image& source, const ImageRegion& from, Image& destination, const ImageRegion& to, uint32_t width_px,
                uint32_t height_px, RowRange range) {
  const AspectField field = aspect_field(*vk::find_format(source.info().format), from.aspect);
  const RowRange rows = share_of(destination, range, height_px);
  if (rows.begin == rows.end) return;
  for (uint32_t s = 0; s < source.sample_count(); ++s) {
    const TexelRows in = open_texels(source, from.aspect, from.level, from.layer, s);
    TexelRows out = open_texels(destination, to.aspect, to.level, to.layer, s);
    for (uint32_t y = rows.begin; y < rows.end; ++y) {
      const uint8_t* a = in.rows.at(static_cast<uint32_t>(from.x), static_cast<uint32_t>(from.y) + y);
      uint8_t* b = out.rows.at(static_cast<uint32_t>(to.x), static_cast<uint32_t>(to.y) + y);
      if (field.mask) {
        field_to_field(a, field, width_px, b);
      } else {
        std::memmove(b, a, static_cast<size_t>(width_px) * in.rows.texel_B);
      }
    }
    close_texels(out);
  }
  mark_defined(destination, to, rows);
}

}  // namespace tilegpu::transfer
