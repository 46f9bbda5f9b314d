// vk/compressed/texels.hpp -- texels of compressed formats, decoded where they are read.
//
// In: texel blocks in memory. Out: raw components, as samplers filter them, or finished ones.
// Nobody keeps a decoded copy of an image: its memory may be another image's or a buffer's too, and the host may write it at any time.
// What a thread keeps are decoded blocks by their bytes (texels.cpp), which can't become wrong.
#pragma once

#include "vk/format.hpp"

namespace tilegpu::vk {

/// By component: its code, a whole number (FormatInfo::code_maximum), or the value. Components that the format has not are unspecified.
struct alignas(16) RawTexel {
  float c[4];
};

struct TexelDecoder;
/// For `count` texels: the block at data + offsets_B[i], and in it the texel at x = positions[i] & 255, y = positions[i] >> 8. `raw`:
/// component c of texel i at [c * count + i]. Generated code calls it.
using ReadTexels = void (*)(const TexelDecoder* decoder, const uint8_t* data, const uint64_t* offsets_B, const uint32_t* positions,
                            uint32_t count, float* raw);

struct TexelSquare;
/// Of a compressed format.
struct TexelDecoder {
  ReadTexels read = nullptr;
  void (*decode)(const uint8_t* block, uint32_t x_px, uint32_t y_px, TexelSquare& square) = nullptr;
};
const TexelDecoder& texel_decoder(const FormatInfo& format);

}  // namespace tilegpu::vk
