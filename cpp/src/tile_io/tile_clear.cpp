// tile_io/tile_clear.cpp -- clears inside the pass (vkCmdClearAttachments). In: a rectangle, a value. Out: tile memory.
//
// Source: Vulkan specification, "Clearing Images Inside a Render Pass Instance": not affected by masks, tests or the scissor.
#include "tile_io/tile_targets.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::tile_io {
namespace {

void clear_plane(const HostTile& tile, const TilePlane& plane, const TileRegion& region, const Box& box, const ClearWords& clear,
                 uint8_t* memory) {
  const PlaneView view = plane_view(tile, plane, region, memory, 0);
  const auto column = [&](int32_t x) { return static_cast<uint32_t>(x - region.x_px) / kBlock_px; };
  const auto row = [&](int32_t y) { return static_cast<uint32_t>(y - region.y_px) / kBlock_px; };
  for (uint32_t by = row(box.min_y); by <= row(box.max_y); ++by) {
    for (uint32_t bx = column(box.min_x); bx <= column(box.max_x); ++bx) {
      const int32_t x0 = region.x_px + static_cast<int32_t>(bx * kBlock_px), y0 = region.y_px + static_cast<int32_t>(by * kBlock_px);
      // Pixels of the block that lie in the box, in the block's own order.
      alignas(32) uint32_t inside[kPixelsPerBlock];
      for (uint32_t p = 0; p < kPixelsPerBlock; ++p) {
        const int32_t x = x0 + static_cast<int32_t>(((p >> 2) & 1) * 2 + (p & 1)),
                      y = y0 + static_cast<int32_t>((p >> 3) * 2 + ((p >> 1) & 1));
        inside[p] = x >= box.min_x && x <= box.max_x && y >= box.min_y && y <= box.max_y ? ~0u : 0u;
      }
      auto* words = reinterpret_cast<__m256i*>(view.block(bx, by));
      for (uint32_t s = 0; s < tile.samples; ++s) {
        for (uint32_t w = 0; w < plane.words; ++w, words += 2) {
          const __m256i value = _mm256_set1_epi32(static_cast<int>(clear.words[w]));
          for (int half = 0; half < 2; ++half) {
            const __m256i mask = _mm256_load_si256(reinterpret_cast<const __m256i*>(inside) + half);
            _mm256_store_si256(words + half, _mm256_blendv_epi8(_mm256_load_si256(words + half), value, mask));
          }
        }
      }
    }
  }
}

}  // namespace

void clear_in_tile(const HostTile& tile, const TileRegion& region, int attachment, VkImageAspectFlags aspects, const VkClearValue& value,
                   const VkRect2D& rect, uint8_t* memory) {
  assert(attachment < static_cast<int>(kMaxColorAttachments) && (attachment >= 0 || aspects));
  const Box bin = {region.x_px, region.y_px, region.x_px + static_cast<int32_t>(tile.width_px) - 1,
                   region.y_px + static_cast<int32_t>(tile.height_px) - 1};
  const int64_t end_x = static_cast<int64_t>(rect.offset.x) + rect.extent.width - 1,
                end_y = static_cast<int64_t>(rect.offset.y) + rect.extent.height - 1;
  if (end_x < bin.min_x || end_y < bin.min_y) return;
  const Box box = {std::max(rect.offset.x, bin.min_x), std::max(rect.offset.y, bin.min_y),
                   static_cast<int32_t>(std::min<int64_t>(end_x, bin.max_x)), static_cast<int32_t>(std::min<int64_t>(end_y, bin.max_y))};
  if (box.empty()) return;
  if (attachment >= 0) {
    if (static_cast<uint32_t>(attachment) >= kMaxColorAttachments || tile.color[attachment].words == 0) return;
    clear_plane(tile, tile.color[attachment], region, box, clear_words(tile.color_format[attachment], VK_IMAGE_ASPECT_COLOR_BIT, value),
                memory);
    return;
  }
  if ((aspects & VK_IMAGE_ASPECT_DEPTH_BIT) && tile.depth.words) {
    clear_plane(tile, tile.depth, region, box, clear_words(tile.depth_format, VK_IMAGE_ASPECT_DEPTH_BIT, value), memory);
  }
  if ((aspects & VK_IMAGE_ASPECT_STENCIL_BIT) && tile.stencil.words) {
    clear_plane(tile, tile.stencil, region, box, clear_words(tile.stencil_format, VK_IMAGE_ASPECT_STENCIL_BIT, value), memory);
  }
}

}  // namespace tilegpu::tile_io
