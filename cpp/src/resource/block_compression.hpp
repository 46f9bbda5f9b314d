// resource/block_compression.hpp -- lossless block-compressed images: headers and 16x16-pixel superblocks, as AFBC has them.
// In: texels of a superblock. Out: header and payload, and back.
// A header is {uint32 payload_B, uint32 mode, value}: payload_B 0 is a solid superblock whose texel is the header's value (all zero
// bytes are a valid image of zeros). Otherwise the superblock's slot holds payload_B bytes: sixteen 4x4 blocks, each byte of a texel as
// base and residuals of 0, 1, 2, 4 or 8 bits; or the raw texels where that is not smaller.
#pragma once

#include "resource/image_layout.hpp"

namespace tilegpu::resource {

inline constexpr uint32_t kSuperblockTexels = kSuperblock_px * kSuperblock_px;
inline constexpr uint32_t kMaxSuperblock_B = kSuperblockTexels * 16;

/// One superblock's texels as rows without padding: pitch 16 * texel_B.
struct Superblock {
  alignas(64) uint8_t texels[kMaxSuperblock_B];
};

/// Bytes that cross the bus: header and payload, the latter in bursts of 16 bytes.
uint32_t encode_superblock(const Superblock& in, uint32_t texel_B, uint8_t* header, uint8_t* payload);
uint32_t decode_superblock(const uint8_t* header, const uint8_t* payload, uint32_t texel_B, Superblock& out);

/// Superblock (column, row) of a sample of a subresource.
struct SuperblockAddress {
  uint8_t* header;
  uint8_t* payload;
};
SuperblockAddress superblock_address(uint8_t* image_data, const SubresourceLayout& layout, uint32_t sample, uint32_t column, uint32_t row);

}  // namespace tilegpu::resource
