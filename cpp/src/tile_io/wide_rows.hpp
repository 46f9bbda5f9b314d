// tile_io/wide_rows.hpp -- stage: store of one bin, whole cache lines, with AVX-512. In: blocks of a plane side by side. Out: their
// four rows, with 8-bit UNORM samples averaged on the way where there are several.
//
// The same bits as the loops of tile_copy.cpp, which take what is left over: cut blocks, short texels, fields, other reductions.
#pragma once

#include "tile_io/tile_copy.hpp"

namespace tilegpu::tile_io {

/// Whether write_wide_rows is for these texels and this reduction: 8 or 16 bytes and none, or 4 bytes and the average of 8-bit UNORM.
bool has_wide_rows(const PlaneView& plane, const RowsView& rows, const resolve::Reducer* reducer);
/// Blocks whose rows fill one cache line.
constexpr uint32_t blocks_per_line(uint32_t texel_B) { return 16 / texel_B; }

/// `count` blocks (a multiple of blocks_per_line) from (column, row) on; all of their pixels are written.
void write_wide_rows(const PlaneView& plane, uint32_t column, uint32_t row, uint32_t count, const resolve::Reducer* reducer, bool stream,
                     const RowsView& rows);

}  // namespace tilegpu::tile_io
