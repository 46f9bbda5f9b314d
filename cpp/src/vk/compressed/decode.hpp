// vk/compressed/decode.hpp -- what the decoders of compressed formats share: a square of texels, bits of a block.
//
// In: a texel block. Out: 4x4 of its texels. Source: Khronos Data Format Specification 1.3, "Compressed Texture Image Formats".
#pragma once

#include <cassert>
#include <cstring>

#include "vk/compressed/texels.hpp"

namespace tilegpu::vk {

inline constexpr uint32_t kSquare_px = 4;

/// Texels of a block, from a position on whose coordinates are multiples of 4, row by row; behind the block's edge they are unspecified.
struct alignas(64) TexelSquare {
  RawTexel texel[kSquare_px * kSquare_px];
};

/// Any bits are a block: reserved ones decode to what the specification says, or to what the decoder's head does.
using DecodeSquare = decltype(TexelDecoder::decode);

/// Null where the format is none of the file's.
DecodeSquare s3tc_decoder(const FormatInfo& format);
DecodeSquare bptc_decoder(const FormatInfo& format);
DecodeSquare etc2_decoder(const FormatInfo& format);
DecodeSquare astc_decoder(const FormatInfo& format);

inline uint64_t read_64(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, 8);
  return value;
}

/// A block of 128 bits; bit 0 is the lowest of the first byte.
struct Bits128 {
  uint64_t low, high;
  explicit Bits128(const uint8_t* block) : low(read_64(block)), high(read_64(block + 8)) {}
  /// Fewer than 32 bits.
  uint32_t get(uint32_t first, uint32_t count) const {
    assert(count < 32 && first + count <= 128);
    const uint64_t from = first >= 64 ? high >> (first - 64) : first == 0 ? low : low >> first | high << (64 - first);
    return static_cast<uint32_t>(from) & ((1u << count) - 1);
  }
};

/// Fields of a block, one behind the other.
struct BitReader {
  Bits128 bits;
  uint32_t at = 0;
  uint32_t take(uint32_t count) {
    const uint32_t value = bits.get(at, count);
    at += count;
    return value;
  }
};

extern const float kSrgbOf186[187], kSrgbOf378[379];  // linear light of k / 186 and k / 378, correctly rounded

}  // namespace tilegpu::vk
