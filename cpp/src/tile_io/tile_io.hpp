// tile_io/tile_io.hpp -- the way between images and tile memory: load, resolve, store of one bin.
//
// In: the five pieces (layout.hpp, load.hpp, store.hpp, resolve.hpp, desc_info.hpp) and a bin. Out: tile memory, or images.
// Between load and store no other code touches an attachment's image. Every byte goes into the worker's ledger.
#pragma once

#include <array>
#include <span>

#include "framebuffer/tile_memory.hpp"
#include "stats/ledger.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::framebuffer {
struct Framebuffer;         // framebuffer/framebuffer.hpp: the five pieces of one pass
enum class Part : uint8_t;  // framebuffer/framebuffer.hpp: which part of a split pass; 0 is a pass that is not split
}  // namespace tilegpu::framebuffer

namespace tilegpu::tile_io {

using namespace framebuffer;  // the pieces that say what is loaded and stored

/// The host's tile: planes of a bin in the worker's buffer. Made from the layout piece.
struct HostTile {
  uint32_t bin_px = 64;                    // side of the square that lies in the buffer: a power of two, 32 or more
  uint32_t width_px = 64, height_px = 64;  // of the bin, in the square's corner: powers of two, 4 or more
  uint32_t samples = 1;
  std::array<TilePlane, kMaxColorAttachments> color{};
  TilePlane depth, stencil;  // words == 0: absent
  std::array<VkFormat, kMaxColorAttachments> color_format{};
  VkFormat depth_format = VK_FORMAT_UNDEFINED;  // aspects apart in the tile: depth word (float bits or UNORM), stencil word
  VkFormat stencil_format = VK_FORMAT_UNDEFINED;
  bool unrestricted_depth = false;  // floats that may lie outside of 0..1
  /// Results of resolves whose samples are stored too (hardware takes a second render target for them); words == 0: absent. One sample.
  std::array<TilePlane, kMaxColorAttachments> resolved_color{};
  TilePlane resolved_depth, resolved_stencil;
  uint32_t equal_quads_B = 0;  // offset of the blocks' bytes of equal_quads.hpp; 0: samples are never kept once
  uint32_t size_B = 0;
  bool wide = false;  // loops with AVX-512 may run (TILEGPU_WIDE of base/simd.hpp)
  /// Of the target with transaction elimination, by block: framebuffer::begin_contents. Empty: its blocks are all written.
  std::span<uint64_t> signatures;
};

/// Bins are a profile's tiles where it has a tile buffer, squares of 64 px on a GPU without tiles; else of `forced_bin_px`, or of 0 what
/// the layout and half of L2 allow. `keep_once`: equal samples are kept once (equal_quads.hpp).
HostTile make_host_tile(const Framebuffer& framebuffer, uint32_t forced_bin_px, uint32_t l2_B, bool keep_once = false);

struct TileRegion {
  int32_t x_px = 0, y_px = 0;  // framebuffer coordinates of the bin's first pixel
  uint32_t layer = 0;
  bool has_primitives = true;
  bool clears_depth = true;  // false: who draws in the bin starts from DeferredDepth::background
  uint32_t columns = 1;      // bins side by side; more than one only for store_tile where stores_clear_values holds
};

/// Whether bins without primitives need nothing but that their clear values (or zeros) are stored, by rows of pixels: then bins side by
/// side may be stored at once.
bool stores_clear_values(const Framebuffer& framebuffer, const HostTile& tile, Part part);

/// Depth may start as one value for the whole bin; where there are several samples nobody writes it to the plane.
struct DeferredDepth {
  bool possible = false;    // there is no depth, or it is cleared everywhere
  uint32_t background = 0;  // the word
  bool kept = true;         // depth is stored or resolved after drawing
};
DeferredDepth defers_depth(const Framebuffer& framebuffer, const HostTile& tile, Part part);

/// Colours (bit i) whose 8-bit UNORM samples are averaged on the way out, if that is all that is done with samples of any colour after
/// drawing; else 0.
uint32_t averaged_colors(const Framebuffer& framebuffer, const HostTile& tile, Part part);

void load_tile(const Framebuffer& framebuffer, const HostTile& tile, const TileRegion& region, uint8_t* memory, stats::Ledger& ledger,
               Part part = Part{});
void store_tile(const Framebuffer& framebuffer, const HostTile& tile, const TileRegion& region, uint8_t* memory, stats::Ledger& ledger,
                Part part = Part{});
/// True when the bin needs no work at all: no primitives, and no load or store that is `always`.
bool tile_is_clean(const Framebuffer& framebuffer, const TileRegion& region, Part part = Part{});
/// What skipping a clean bin saved, by attachment (saved_clean_tile); stored targets that begin with "don't care" are zero there.
void skip_clean_tile(const Framebuffer& framebuffer, const HostTile& tile, const TileRegion& region, stats::Ledger& ledger,
                     Part part = Part{});
/// Fills a rectangle (framebuffer coordinates) of the tile with a clear value: vkCmdClearAttachments.
void clear_in_tile(const HostTile& tile, const TileRegion& region, int attachment, VkImageAspectFlags aspects, const VkClearValue& value,
                   const VkRect2D& rect, uint8_t* memory);

}  // namespace tilegpu::tile_io
