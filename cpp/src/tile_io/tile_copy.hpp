// tile_io/tile_copy.hpp -- a box of pixels between one sample of a tile's plane and rows of texels.
//
// In: plane, rows, box (framebuffer coordinates). Out: the box copied; nothing outside it is written. The only code that knows both
// layouts; loads, stores, resolves and block compression are calls of it.
#pragma once

#include "framebuffer/layout.hpp"
#include "resolve/reduce.hpp"
#include "tile_io/block_rows.hpp"

namespace tilegpu::tile_io {

/// One sample of a plane in the worker's buffer, or all of them together with a reducer.
struct PlaneView {
  uint8_t* data = nullptr;  // of block 0 and the sample
  uint32_t block_B = 0;     // from block to block
  uint32_t words = 1;
  uint32_t bin_px = 64;
  int32_t x_px = 0, y_px = 0;  // framebuffer coordinates of the bin
  // Reading only: bytes of equal_quads.hpp; equal samples are kept in sample 0, which is so far before `data`. Null: none. Bytes are 0 or
  // 0xf, unless the samples are reduced to one by a reducer that keeps what is equal, or sample 0 is read.
  const uint8_t* equal = nullptr;
  size_t to_first_B = 0;
  bool wide = false;  // rows may be written with AVX-512 (wide_rows.hpp)
  uint32_t equal_quads(uint32_t column, uint32_t row) const { return equal ? equal[row * (bin_px / kBlock_px) + column] : 0; }
  bool is_equal(uint32_t column, uint32_t row) const { return equal_quads(column, row) == 0xf; }
  uint8_t* block(uint32_t column, uint32_t row) const {
    return data + (static_cast<size_t>(row) * (bin_px / kBlock_px) + column) * block_B;
  }
};

/// Rows of texels whose first texel is framebuffer pixel (x_px, y_px).
struct RowsView {
  uint8_t* data = nullptr;
  size_t pitch_B = 0;
  uint32_t texel_B = 4;
  int32_t x_px = 0, y_px = 0;
  WordField field;
  uint8_t* at(int32_t x, int32_t y) const {
    return data + static_cast<size_t>(y - y_px) * pitch_B + static_cast<size_t>(x - x_px) * texel_B;
  }
};

void copy_from_rows(const RowsView& rows, const Box& box, const PlaneView& plane);
/// The block's sample, or sample 0 in its place.
inline const uint8_t* source_block(const PlaneView& plane, uint32_t column, uint32_t row) {
  const uint8_t* own = plane.block(column, row);
  return plane.is_equal(column, row) ? own - plane.to_first_B : own;
}

/// With a reducer, `plane` is sample 0 and the samples are words * 64 bytes apart. `stream`: past the caches, for whole lines.
void copy_to_rows(const PlaneView& plane, const Box& box, const resolve::Reducer* reducer, bool stream, const RowsView& rows);
/// One value in every texel of the box of the rows (what storing a cleared tile comes to).
void fill_rows(const RowsView& rows, const Box& box, const uint32_t* words, bool stream);

}  // namespace tilegpu::tile_io
