// transfer/transfer_checks.hpp -- checks that the transfer commands share.
#pragma once

#include <algorithm>

#include "base/field_error.hpp"
#include "resource/memory_contents.hpp"
#include "resource/texel_rows.hpp"
#include "transfer/transfer.hpp"

namespace tilegpu::transfer {

/// The rows of the destination that this call does. Superblocks span rows: the call with the first row does a block-compressed image whole.
inline RowRange share_of(const Image& destination, RowRange range, uint32_t rows) {
  if (destination.info().tiling == ImageTiling::block_compressed) return range.begin == 0 ? RowRange{0, rows} : RowRange{0, 0};
  return {std::min(range.begin, rows), std::min(range.end, rows)};
}

inline Error multisampled_error(const std::string& command, const Image& image, const char* fix) {
  return field_error(command, object_name("image", image.info().label) + ".samples", std::to_string(image.sample_count()), "1", fix);
}

inline Status check_has_memory(const std::string& command, const Image& image) {
  if (image.data()) return Ok{};
  return Error{VK_ERROR_VALIDATION_FAILED_EXT, command + ": " + object_name("image", image.info().label) +
                                                   " has no memory; bind memory first (transient images cannot be copied)"};
}

inline Status check_range(const std::string& command, const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  const std::string name = object_name("buffer", buffer.info().label);
  if (!buffer.data()) return Error{VK_ERROR_VALIDATION_FAILED_EXT, command + ": " + name + " has no memory; bind memory first"};
  if (offset_B > buffer.size_B() || size_B > buffer.size_B() - offset_B) {
    return field_error(command, "range of " + name, std::to_string(size_B) + " bytes from byte " + std::to_string(offset_B),
                       "within its " + std::to_string(buffer.size_B()) + " bytes", "make the buffer larger or copy less");
  }
  return Ok{};
}

inline Status check_subresource(const std::string& command, const Image& image, VkImageAspectFlags aspect, uint32_t level, uint32_t layer,
                                const char* side) {
  const std::string name = std::string(side) + " " + object_name("image", image.info().label);
  if (Status memory = check_has_memory(command, image); !memory) return memory.error();
  const VkImageAspectFlags all = format_aspects(*vk::find_format(image.info().format));
  if ((aspect & all) == 0 || (aspect & (aspect - 1)) != 0 || (aspect & ~all) != 0) {
    return field_error(command, name + ": aspect", std::to_string(aspect), "one aspect of the format (mask " + std::to_string(all) + ")",
                       "");
  }
  if (level >= image.info().mip_levels) {
    return field_error(command, name + ": level", std::to_string(level), "0 to " + std::to_string(image.info().mip_levels - 1), "");
  }
  if (layer >= image.info().array_layers) {
    return field_error(command, name + ": layer", std::to_string(layer), "0 to " + std::to_string(image.info().array_layers - 1), "");
  }
  return Ok{};
}

inline Status check_region(const std::string& command, const Image& image, const ImageRegion& region, uint32_t width_px, uint32_t height_px,
                           const char* side) {
  if (Status ok = check_subresource(command, image, region.aspect, region.level, region.layer, side); !ok) return ok.error();
  const SubresourceLayout layout = image.layout(region.aspect, region.level, region.layer);
  const int64_t end_x = static_cast<int64_t>(region.x) + width_px, end_y = static_cast<int64_t>(region.y) + height_px;
  if (width_px == 0 || height_px == 0 || region.x < 0 || region.y < 0 || end_x > layout.width_px || end_y > layout.height_px) {
    return field_error(
        command, std::string(side) + " region of " + object_name("image", image.info().label),
        std::to_string(width_px) + "x" + std::to_string(height_px) + " px at (" + std::to_string(region.x) + ", " +
            std::to_string(region.y) + ")",
        "at least 1x1 px within the level's " + std::to_string(layout.width_px) + "x" + std::to_string(layout.height_px) + " px",
        "cut it with the image");
  }
  return Ok{};
}

}  // namespace tilegpu::transfer
