// transfer/regions.hpp -- regions of transfer commands: one way to check them,
// and to walk over their rows.
//
// In: a side of a region (image, subresource layers, offset, extent). Out: the
// first error, with command, region, field, value, what is allowed and the fix;
// slabs (layers or slices) and rows for the work. Source: Vulkan specification,
// valid usage of the copy commands.
#pragma once

#include <algorithm>
#include <string>

#include "base/field_error.hpp"
#include "resource/memory_contents.hpp"
#include "resource/texel_rows.hpp"
#include "transfer/transfer.hpp"

namespace tilegpu::transfer {

/// Layers of an array, or slices of a 3D image.
struct Slabs {
  uint32_t first = 0, count = 0;
};

/// One side of a region.
struct Side {
  const char* command;
  size_t region;
  const char* name;  // "src", "dst", "image": how Vulkan's fields begin
  const Image& image;
  VkImageSubresourceLayers part;
  VkOffset3D offset;
  VkExtent3D extent;
  bool is_3d() const { return image.info().type == VK_IMAGE_TYPE_3D; }
};

/// Of a plane of a multi-planar image, where the aspect says so: positions and sizes are the plane's.
inline Side side_of_part(const char* command, size_t region, const char* name, const Image& image, VkImageSubresourceLayers part,
                         VkOffset3D offset, VkExtent3D extent) {
  const Image& of = resource::part_of(image, part.aspectMask);
  return {command, region, name, of, part, offset, extent};
}

/// A side's box in texel blocks, which are texels but for compressed formats; blocks that an edge cuts are whole.
struct BlockBox {
  uint32_t x = 0, y = 0, columns = 0, rows = 0;
};

inline std::string number(int64_t value) { return std::to_string(value); }
inline std::string offset_text(const VkOffset3D& o) {
  std::string text = "(";
  return text.append(number(o.x)).append(", ").append(number(o.y)).append(", ").append(number(o.z)).append(")");
}
inline std::string extent_text(const VkExtent3D& e) {
  std::string text = number(e.width);
  return text.append("x").append(number(e.height)).append("x").append(number(e.depth)).append(" px");
}

/// "copy_image: regions[2].srcOffset is ...".
Error region_error(const char* command, size_t region, const std::string& field, const std::string& value, const std::string& allowed,
                   const std::string& fix, VkResult code = VK_ERROR_VALIDATION_FAILED_EXT);
Error multisampled_error(const char* command, const Image& image, const char* fix);
Status check_regions(const char* command, size_t count);
Status check_has_memory(const char* command, const Image& image);
Status check_has_memory(const char* command, const Buffer& buffer);
/// Bytes [offset, offset + size) of region number `region`; `name`: "src",
/// "dst", "buffer".
Status check_bytes(const char* command, size_t region, const char* name, const Buffer& buffer, uint64_t offset_B, uint64_t size_B);

/// Aspects, level and layers are there; of a 3D image layer 0 alone.
Status check_part(const Side& side);
/// The part, and the box within the level, which cuts no texel block. Depth counts slices of a 3D image;
/// elsewhere offset.z is 0.
Status check_box(const Side& side);
Slabs slabs_of(const Side& side);
/// Of a side that was checked.
BlockBox blocks_of(const Side& side);
/// layerCount and levelCount without VK_REMAINING; false: there is nothing of
/// the kind.
bool resolve_range(const Image& image, VkImageSubresourceRange& range);
/// What is written of the image.
ImageBox box_of(const Side& side, VkImageAspectFlags aspects);

/// Whether bytes of the two boxes may be the same. Of one image: texels; of two
/// on one memory: rows.
bool overlap(const Side& a, const Side& b);
/// Whether the bytes of a buffer are those of the box.
bool overlap(const Side& side, const Buffer& buffer, uint64_t offset_B, uint64_t size_B);

/// Names both regions, and the source's image. `fix`: "copy through another image".
Error overlap_error(const Side& source, const Side& destination, const char* fix);
/// No source box shares bytes with a destination box: from(i) and to(i) are the sides of region i.
template <class From, class To>
Status check_apart(const Image& source, const Image& destination, size_t regions, From from, To to, const char* fix) {
  // Planes may have memories of their own.
  if (source.memory() != destination.memory() && source.planes().empty() && destination.planes().empty()) return Ok{};
  for (size_t i = 0; i < regions; ++i)
    for (size_t j = 0; j < regions; ++j)
      if (overlap(from(i), to(j))) return overlap_error(from(i), to(j), fix);
  return Ok{};
}

/// Rows [y0, y1) of `height` in each slab in turn: work(slab, y0, y1). A block-compressed
/// destination is shared by whole slabs: its superblocks span rows.
template <class Work>
void run_slabs(const ShareRows& share, const Image* destination, uint32_t slabs, uint32_t height, Work work) {
  if (slabs == 0 || height == 0) return;
  if (destination && destination->info().tiling == ImageTiling::block_compressed) {
    share(slabs, [&](RowRange range) {
      for (uint32_t slab = range.begin; slab < range.end; ++slab) work(slab, 0u, height);
    });
    return;
  }
  share(slabs * height, [&](RowRange range) {
    assert(range.begin <= range.end && range.end <= slabs * height);
    for (uint32_t row = range.begin; row < range.end;) {
      const uint32_t slab = row / height, y0 = row % height, y1 = std::min(height, y0 + range.end - row);
      work(slab, y0, y1);
      row += y1 - y0;
    }
  });
}

inline const vk::FormatInfo& format_of(const Image& image) { return *vk::find_format(image.info().format); }

}  // namespace tilegpu::transfer
