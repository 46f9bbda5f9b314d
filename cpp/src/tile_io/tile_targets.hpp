// tile_io/tile_targets.hpp -- what load, resolve and store of a bin share: a target of all pieces, its part of the bin, its image.
//
// In: Framebuffer, HostTile, TileRegion. Out: small structs by value; nothing is allocated.
#pragma once

#include "framebuffer/framebuffer.hpp"
#include "resource/block_compression.hpp"
#include "tile_io/tile_copy.hpp"
#include "tile_io/tile_io.hpp"

namespace tilegpu::tile_io {

inline constexpr uint32_t kTargets = kMaxColorAttachments + 2;  // colours, depth, stencil: the ledger's order
inline constexpr uint32_t kDepthTarget = kMaxColorAttachments, kStencilTarget = kMaxColorAttachments + 1;

/// One attachment aspect with its share of every piece, for the part of the pass that is rendered.
struct Target {
  uint32_t index;
  const LoadTarget* load;
  const StoreTarget* store;
  const StoreTarget* resolved;
  const ResolveTarget* resolve;
  const TilePlane* plane;
  const TilePlane* resolved_plane;
  VkFormat format;
  VkImageAspectFlagBits aspect;
  bool present() const { return plane->words != 0; }
};

/// Whether the pass has the target at all.
inline bool is_present(const HostTile& tile, uint32_t index) {
  const TilePlane& plane = index < kMaxColorAttachments ? tile.color[index] : index == kDepthTarget ? tile.depth : tile.stencil;
  return plane.words != 0;
}
Target target_at(const Framebuffer& f, const HostTile& tile, uint32_t index, Part part);
/// False: the bin's pixels of this target need neither load nor store.
bool is_active(const Framebuffer& f, const Target& t, const TileRegion& region, Part part);
/// An untouched bin that is cleared and stored: its value goes to the image without a detour through tile memory.
bool stores_clear_value(const Framebuffer& f, const Target& t, const TileRegion& region);

/// The bin's share of the areas. The border is the tiling area without the render area: at most four boxes.
struct BinAreas {
  Box tiling, inside;
  std::array<Box, 4> border;
};
BinAreas bin_areas(const Layout& layout, const HostTile& tile, const TileRegion& region);

/// An image as an attachment: one level, one layer, one aspect.
struct ImageAccess {
  uint8_t* data = nullptr;  // of the image; null: no memory
  SubresourceLayout layout;
  WordField field;
  uint32_t counted_B = 0;      // of a texel, for the ledger: D24S8 is 3 of depth and 1 of stencil
  bool blocks = false;         // block-compressed
  int32_t x_px = 0, y_px = 0;  // the framebuffer's pixel that texel (0, 0) is
  RowsView rows(uint32_t sample) const {
    return {data + layout.offset_B + layout.sample_pitch_B * sample, layout.row_pitch_B, layout.texel_B, x_px, y_px, field};
  }
};
ImageAccess image_access(const Layout& layout, const ImageView& view, VkImageAspectFlagBits aspect, uint32_t layer);

PlaneView plane_view(const HostTile& tile, const TilePlane& plane, const TileRegion& region, uint8_t* memory, uint32_t sample);
/// The same of a colour plane with all samples, for reading after settle_quads.
PlaneView color_view(const HostTile& tile, const TilePlane& plane, const TileRegion& region, uint8_t* memory, uint32_t sample);
/// A clear value as the words of a sample.
struct ClearWords {
  uint32_t words[4];
};
ClearWords clear_words(VkFormat format, VkImageAspectFlagBits aspect, const VkClearValue& value);
/// The reducer of a copy from all samples to one; kind copy for sample_zero.
resolve::Reducer tile_reducer(VkFormat format, VkImageAspectFlagBits aspect, MsaaCopy copy, uint32_t samples);

}  // namespace tilegpu::tile_io
