// tile/visibility/pixel_colors.hpp -- stage: tile phase, flush of the visibility buffer, AVX-512, many samples. In: the colours of pixel
// packets (pixel_groups.hpp), left apart by shader code, and which samples of which pixel each is for. Out: tile memory.
//
// A packet that writes to the tile scatters once for each sample, to lines all over the bin. What it leaves apart is written here block by
// block: a store under a mask for each entry and sample. Where nothing is left to do in the bin but to average the samples of a block that
// its entries cover (or whose background is one colour), they are averaged here, each entry's colour by how many samples it has: the
// samples themselves are never made. The sums are the integers that the store would have added up, so the bits are the same.
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// What becomes of the blocks in PixelGroups, as groups of pixels, and what is kept of the colours that they have.
void choose_colors(const TileContext& t, Visibility& v);
/// After the groups are made: room for their colours.
void reserve_colors(const tile_io::HostTile& tile, PixelGroups& groups);
/// After all groups are shaded.
void write_colors(const TileContext& t, const PixelGroups& groups);

}  // namespace tilegpu::TILEGPU_TILE
