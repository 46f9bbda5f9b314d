// resource/texel_rows.cpp -- see texel_rows.hpp.
//
// In: an image. Out: rows of its texels.
#include "resource/texel_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "resource/block_compression.hpp"

namespace tilegpu::resource {
namespace {

/// Rows of one superblock that lie inside the image; calls `row(texels in the superblock, rows' address, bytes)`.
template <class Row>
void for_superblock_rows(const TexelRows& t, uint32_t column, uint32_t row, uint8_t* superblock, Row visit) {
  const uint32_t x = column * kSuperblock_px, y = row * kSuperblock_px, texel_B = t.layout.texel_B;
  const uint32_t width = std::min(kSuperblock_px, t.layout.width_px - x), height = std::min(kSuperblock_px, t.layout.height_px - y);
  for (uint32_t i = 0; i < height; ++i)
    visit(superblock + static_cast<size_t>(i) * kSuperblock_px * texel_B, t.rows.at(x, y + i), static_cast<size_t>(width) * texel_B);
}

}  // namespace

AspectField aspect_field(const vk::FormatInfo& format, VkImageAspectFlags aspect) {
  if (format.format == VK_FORMAT_D24_UNORM_S8_UINT) {
    if (aspect & VK_IMAGE_ASPECT_STENCIL_BIT) return {0xff000000u, 24, 1};
    return {0x00ffffffu, 0, 4};
  }
  return {0, 0, plane_texel_B(format, plane_of(format, aspect))};
}

TexelRows open_texels(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer, uint32_t sample) {
  assert(image.data() && sample < image.sample_count());
  TexelRows t;
  t.layout = image.layout(aspect, level, layer);
  t.image_data = image.data();
  t.sample = sample;
  if (image.info().tiling == ImageTiling::linear) {
    t.rows = rows_of(image, aspect, level, layer, sample);
    return t;
  }
  const size_t pitch_B = static_cast<size_t>(t.layout.width_px) * t.layout.texel_B;
  t.decoded.resize(pitch_B * t.layout.height_px);
  t.rows = {t.decoded.data(), pitch_B, t.layout.width_px, t.layout.height_px, t.layout.texel_B};
  Superblock block;
  for (uint32_t row = 0; row < t.layout.superblocks_y; ++row) {
    for (uint32_t column = 0; column < t.layout.superblocks_x; ++column) {
      const SuperblockAddress address = superblock_address(t.image_data, t.layout, sample, column, row);
      decode_superblock(address.header, address.payload, t.layout.texel_B, block);
      for_superblock_rows(t, column, row, block.texels,
                          [](uint8_t* in_block, uint8_t* in_rows, size_t size_B) { std::memcpy(in_rows, in_block, size_B); });
    }
  }
  return t;
}

void close_texels(TexelRows& t) {
  if (t.decoded.empty()) return;
  Superblock block;
  for (uint32_t row = 0; row < t.layout.superblocks_y; ++row) {
    for (uint32_t column = 0; column < t.layout.superblocks_x; ++column) {
      const SuperblockAddress address = superblock_address(t.image_data, t.layout, t.sample, column, row);
      decode_superblock(address.header, address.payload, t.layout.texel_B, block);
      for_superblock_rows(t, column, row, block.texels,
                          [](uint8_t* in_block, uint8_t* in_rows, size_t size_B) { std::memcpy(in_block, in_rows, size_B); });
      encode_superblock(block, t.layout.texel_B, address.header, address.payload);
    }
  }
}

}  // namespace tilegpu::resource
