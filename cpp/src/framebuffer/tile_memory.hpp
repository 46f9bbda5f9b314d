// framebuffer/tile_memory.hpp -- how a tile lies in the worker's buffer while it is rendered.
// In: a pixel and a sample. Out: the place of their word.
// A square of bin_px x bin_px pixels (powers of two, 32 or more), whose corner a smaller bin takes, is rows of 4x4-pixel blocks; in a block
// four 2x2 quads (left-top, right-top, left-bottom, right-bottom), inside a quad four pixels. A pixel's index is block * 16 + quad * 4 +
// pixel, and a quad is one contiguous access. An attachment is a plane of 32-bit words: a sample of up to 4 bytes is one word (narrower
// formats use its low bits), wider ones are 2 or 4 words. Word w of sample s of pixel p of block b is at
//   ((b * samples + s) * words + w) * 16 + p            (in words)
// Values are in the attachment's format, quantised at every write, so that spills and loads change nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilegpu::framebuffer {

inline constexpr uint32_t kBlock_px = 4;
inline constexpr uint32_t kPixelsPerBlock = 16;
inline constexpr uint32_t kMostTile_px = 64;  // side of a bin that is a profile's tile or a part of it
inline constexpr uint32_t kLeastBin_px = 32;  // side of the square: rows of eight blocks are taken at once

/// Pixel's index in a bin whose width is bin_width_px.
constexpr uint32_t tile_pixel_index(uint32_t x, uint32_t y, uint32_t bin_width_px) {
  const uint32_t block = (y >> 2) * (bin_width_px >> 2) + (x >> 2);
  const uint32_t quad = ((y >> 1) & 1) * 2 + ((x >> 1) & 1);
  return block * kPixelsPerBlock + quad * 4 + (y & 1) * 2 + (x & 1);
}

/// One attachment's plane.
struct TilePlane {
  uint32_t offset_B = 0;  // in the worker's buffer, multiple of 64
  uint32_t words = 0;     // per sample: 1, 2, 4; 0: no attachment
  uint32_t block_B = 0;   // samples * words * 64
};

constexpr size_t tile_word_index(uint32_t pixel_index, uint32_t sample, uint32_t word, uint32_t samples, uint32_t words) {
  const size_t block = pixel_index >> 4;
  return ((block * samples + sample) * words + word) * kPixelsPerBlock + (pixel_index & 15);
}

}  // namespace tilegpu::framebuffer
