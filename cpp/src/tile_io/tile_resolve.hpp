// tile_io/tile_resolve.hpp -- stage: resolve of one bin, in tile memory. In: tile memory, the resolve piece. Out: tile memory.
//
// What is left after folding (resolve/rules.hpp): a parallel copy, block by block (all reads of a block before any write), from any target
// or image to any target, inside the render area and in the border apart.
#pragma once

#include "tile_io/tile_io.hpp"

namespace tilegpu::tile_io {

void resolve_tile(const framebuffer::Framebuffer& framebuffer, const tile_io::HostTile& tile, const tile_io::TileRegion& region,
                  uint8_t* memory, stats::Ledger& ledger, framebuffer::Part part = framebuffer::Part{});

}  // namespace tilegpu::tile_io
