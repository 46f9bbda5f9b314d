// resource/texel_rows.hpp -- any image as rows of texels: linear ones directly, block-compressed ones through a decoded copy.
//
// In: one sample, level and layer of an aspect. Out: Rows to read or write; `close` puts a written copy back.
#pragma once

#include <vector>

#include "resource/image_layout.hpp"

namespace tilegpu::resource {

/// D24S8 keeps two aspects in one word: an aspect is a field of it. mask 0: the texel is the aspect's alone.
struct AspectField {
  uint32_t mask = 0;
  int shift = 0;
  uint32_t buffer_B = 0;  // of a texel in a buffer
};
AspectField aspect_field(const vk::FormatInfo& format, VkImageAspectFlags aspect);

struct TexelRows {
  Rows rows;
  std::vector<uint8_t> decoded;  // empty for linear images
  SubresourceLayout layout;
  uint8_t* image_data = nullptr;
  uint32_t sample = 0;
};

TexelRows open_texels(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer, uint32_t sample);
/// After writing: encodes the superblocks again. Linear: nothing to do.
void close_texels(TexelRows& texels);

}  // namespace tilegpu::resource
