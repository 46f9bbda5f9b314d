// resource/block_compression.cpp -- encoder and decoder of block_compression.hpp.
//
// In: 256 texels, or header and payload. Out: the other, bit for bit. Robust: a payload that lies about its size decodes to something
// within its slot, never outside.
#include "resource/block_compression.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tilegpu::resource {
namespace {

constexpr uint32_t kModeSolid = 0, kModeDelta = 1, kModeRaw = 2;
constexpr uint32_t kBurst_B = 16;
constexpr uint32_t kBlocks = 16, kBlockTexels = 16;
constexpr uint32_t kHeaderValue_B = 8;  // offset of the solid value

struct Header {
  uint32_t payload_B, mode;
};

/// 0, 1, 2, 4, 8 bits as code 0 to 4.
uint32_t width_code(uint32_t range) {
  if (range == 0) return 0;
  if (range < 2) return 1;
  if (range < 4) return 2;
  return range < 16 ? 3 : 4;
}
uint32_t code_bits(uint32_t code) { return code == 0 ? 0 : 1u << (std::min(code, 4u) - 1); }

size_t texel_offset(uint32_t block, uint32_t texel, uint32_t texel_B) {
  const uint32_t x = (block & 3) * 4 + (texel & 3), y = (block >> 2) * 4 + (texel >> 2);
  return (y * kSuperblock_px + x) * static_cast<size_t>(texel_B);
}

bool is_solid(const Superblock& in, uint32_t texel_B) {
  // Every texel equals its predecessor.
  return std::memcmp(in.texels, in.texels + texel_B, (kSuperblockTexels - 1) * static_cast<size_t>(texel_B)) == 0;
}

/// One byte of the texels of a 4x4 block: code, base, residuals. Returns the bytes written.
uint32_t encode_byte(const Superblock& in, uint32_t block, uint32_t byte, uint32_t texel_B, uint8_t* out) {
  assert(block < kBlocks && byte < texel_B);
  uint8_t values[kBlockTexels];
  uint8_t low = 255, high = 0;
  for (uint32_t t = 0; t < kBlockTexels; ++t) {
    values[t] = in.texels[texel_offset(block, t, texel_B) + byte];
    low = std::min(low, values[t]);
    high = std::max(high, values[t]);
  }
  const uint32_t code = width_code(static_cast<uint32_t>(high - low)), bits = code_bits(code);
  out[0] = static_cast<uint8_t>(code);
  out[1] = low;
  const uint32_t size_B = bits * kBlockTexels / 8;
  std::memset(out + 2, 0, size_B);
  for (uint32_t t = 0; t < kBlockTexels && bits; ++t) out[2 + t * bits / 8] |= static_cast<uint8_t>((values[t] - low) << (t * bits % 8));
  return 2 + size_B;
}

uint32_t bursts(uint32_t size_B) { return (size_B + kBurst_B - 1) / kBurst_B * kBurst_B; }

}  // namespace

SuperblockAddress superblock_address(uint8_t* image_data, const SubresourceLayout& layout, uint32_t sample, uint32_t column, uint32_t row) {
  assert(column < layout.superblocks_x && row < layout.superblocks_y);
  uint8_t* base = image_data + layout.offset_B + layout.sample_pitch_B * sample;
  const size_t index = static_cast<size_t>(row) * layout.superblocks_x + column;
  return {base + index * layout.header_B, base + layout.payload_offset_B + index * layout.payload_slot_B};
}

uint32_t encode_superblock(const Superblock& in, uint32_t texel_B, uint8_t* header, uint8_t* payload) {
  assert(texel_B >= 1 && texel_B <= 16);
  const uint32_t header_B = texel_B > 8 ? 32 : 16;
  Header h = {0, kModeSolid};
  if (is_solid(in, texel_B)) {
    std::memset(header, 0, header_B);
    std::memcpy(header + kHeaderValue_B, in.texels, texel_B);
    return header_B;
  }
  // The worst case of the encoding is longer than the slot: it is built aside.
  uint8_t encoded[kBlocks * 16 * (2 + kBlockTexels)];
  const uint32_t raw_B = kSuperblockTexels * texel_B;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    for (uint32_t byte = 0; byte < texel_B; ++byte) h.payload_B += encode_byte(in, block, byte, texel_B, encoded + h.payload_B);
  }
  if (h.payload_B < raw_B) {
    h.mode = kModeDelta;
    std::memcpy(payload, encoded, h.payload_B);
  } else {
    h = {raw_B, kModeRaw};
    std::memcpy(payload, in.texels, raw_B);
  }
  std::memset(header, 0, header_B);
  std::memcpy(header, &h, sizeof h);
  return header_B + bursts(h.payload_B);
}

uint32_t decode_superblock(const uint8_t* header, const uint8_t* payload, uint32_t texel_B, Superblock& out) {
  const uint32_t header_B = texel_B > 8 ? 32 : 16, raw_B = kSuperblockTexels * texel_B;
  Header h;
  std::memcpy(&h, header, sizeof h);
  if (h.payload_B == 0 || h.mode == kModeSolid) {
    for (uint32_t t = 0; t < kSuperblockTexels; ++t)
      std::memcpy(out.texels + t * static_cast<size_t>(texel_B), header + kHeaderValue_B, texel_B);
    return header_B;
  }
  const uint32_t payload_B = std::min(h.payload_B, raw_B);
  if (h.mode != kModeDelta) {
    std::memcpy(out.texels, payload, raw_B);
    return header_B + bursts(raw_B);
  }
  uint32_t at = 0;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    for (uint32_t byte = 0; byte < texel_B; ++byte) {
      const bool readable = at + 2 <= payload_B;
      const uint32_t bits = readable ? code_bits(payload[at]) : 0, low = readable ? payload[at + 1] : 0;
      at += 2;
      const uint32_t size_B = bits * kBlockTexels / 8;
      const bool whole = at + size_B <= payload_B;
      for (uint32_t t = 0; t < kBlockTexels; ++t) {
        const uint32_t residual = bits && whole ? (payload[at + t * bits / 8] >> (t * bits % 8)) & ((1u << bits) - 1) : 0;
        out.texels[texel_offset(block, t, texel_B) + byte] = static_cast<uint8_t>(low + residual);
      }
      at += size_B;
    }
  }
  return header_B + bursts(payload_B);
}

}  // namespace tilegpu::resource
