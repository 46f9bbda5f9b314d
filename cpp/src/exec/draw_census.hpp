// exec/draw_census.hpp -- stage: execution of a render pass, end of binning, for the model of its costs. In: a chunk with its bins. Out: of
// each of its draws what culling left: primitives, places in tiles, and the different vertices of both.
//
// A GPU that shades nothing twice within a batch shades the varyings of these vertices once (Mali), or whole vertices once in each tile
// that has them (Adreno). Vertices of deferred primitives are tile/worker/deferred_census.hpp's. Chunks are cut the same way whatever the
// bins and threads, and tiles are the profile's, so that the counts are the same everywhere.
#pragma once

#include <span>

#include "command/draw.hpp"
#include "records/records.hpp"

namespace tilegpu::exec {

/// Adds rows to the chunk's draw_vertices. Entries that Chunk::hidden has do not count.
void count_kept_vertices(records::Chunk& chunk, const records::BinGrid& grid, std::span<const command::DrawCall> draws);

}  // namespace tilegpu::exec
