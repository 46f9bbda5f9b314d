// vk/compressed/texels.cpp -- reads of single texels and of rows, and what a thread keeps of blocks that it decoded.
//
// In: addresses of blocks, positions in them. Out: raw or finished components. Blocks are kept by their own bytes, not by address: the same
// bytes decode to the same texels wherever they lie, so that nothing has to be told when memory changes. A read takes a block's bytes once,
// and uses only these.
#include "vk/compressed/texels.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "vk/compressed/decode.hpp"

namespace tilegpu::vk {
namespace {

struct BlockKey {
  uint64_t low = 0, high = 0;
  DecodeSquare decode = nullptr;  // null: nothing is kept there
  uint64_t square = 0;            // of the block: its x, and its y from bit 8 on, in squares
  bool operator==(const BlockKey&) const = default;
};

/// Direct-mapped, 72 KiB of each thread that reads compressed texels.
constexpr uint32_t kKeptSquares_log2 = 8;
struct KeptSquares {
  BlockKey key[1 << kKeptSquares_log2];
  TexelSquare square[1 << kKeptSquares_log2];
};
thread_local KeptSquares kept_squares;

/// Bytes of the block are `kBlock_B`; `decode` is one of its format's.
template <uint32_t kBlock_B>
const TexelSquare& find_square(KeptSquares& kept, const uint8_t* block, uint64_t square, DecodeSquare decode) {
  static_assert(kBlock_B == 8 || kBlock_B == 16);
  const BlockKey key = {read_64(block), kBlock_B == 16 ? read_64(block + 8) : 0, decode, square};
  // Odd numbers without pattern: the golden ratio's bits, and their square's.
  const uint64_t hash = (key.low * 0x9e3779b97f4a7c15u ^ (key.high + square) * 0xc6bc279692b5c323u);
  const auto place = static_cast<uint32_t>((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> (64 - kKeptSquares_log2));
  if (!(kept.key[place] == key)) {
    uint8_t bytes[16];
    std::memcpy(bytes, &key.low, 8), std::memcpy(bytes + 8, &key.high, 8);
    decode(bytes, static_cast<uint32_t>(square & 255) * kSquare_px, static_cast<uint32_t>(square >> 8) * kSquare_px, kept.square[place]);
    kept.key[place] = key;
  }
  return kept.square[place];
}

uint64_t square_of(uint32_t position) { return position >> 2 & 0x3f3f; }
uint32_t texel_in_square(uint32_t position) { return (position >> 8 & 3) * kSquare_px + (position & 3); }

template <uint32_t kBlock_B>
void read_texels(const TexelDecoder* decoder, const uint8_t* data, const uint64_t* offsets_B, const uint32_t* positions, uint32_t count,
                 float* raw) {
  assert(decoder && decoder->decode);
  KeptSquares& kept = kept_squares;
  for (uint32_t i = 0; i < count; ++i) {
    const TexelSquare& square = find_square<kBlock_B>(kept, data + offsets_B[i], square_of(positions[i]), decoder->decode);
    const RawTexel& texel = square.texel[texel_in_square(positions[i])];
    for (uint32_t c = 0; c < 4; ++c) raw[c * count + i] = texel.c[c];
  }
}

DecodeSquare find_decoder(const FormatInfo& format) {
  for (const auto find : {s3tc_decoder, bptc_decoder, etc2_decoder, astc_decoder})
    if (const DecodeSquare decode = find(format)) return decode;
  return nullptr;
}

/// By VkFormat, which are small numbers.
using Decoders = std::array<TexelDecoder, 256>;

Decoders make_decoders() {
  Decoders decoders;
  for (const FormatInfo& format : all_formats()) {
    if (!format.is_compressed()) continue;
    assert(static_cast<size_t>(format.format) < decoders.size() && (format.texel_B == 8 || format.texel_B == 16));
    decoders[format.format] = {format.texel_B == 8 ? read_texels<8> : read_texels<16>, find_decoder(format)};
    assert(decoders[format.format].decode);
  }
  return decoders;
}

/// Absent components are 0, 0, 0, 1.
Texel finished(const FormatInfo& format, const RawTexel& raw) {
  assert(format.component_count <= 4);
  Texel texel{};
  texel.f[3] = 1;
  for (uint32_t c = 0; c < format.component_count; ++c)
    texel.f[c] = format.code_maximum[c] ? raw.c[c] / static_cast<float>(format.code_maximum[c]) : raw.c[c];
  return texel;
}

}  // namespace

const TexelDecoder& texel_decoder(const FormatInfo& format) {
  static const Decoders decoders = make_decoders();
  assert(format.is_compressed());
  return decoders[format.format];
}

void unpack_image_row(const FormatInfo& format, const uint8_t* blocks, uint64_t pitch_B, uint32_t y_px, uint32_t count, Texel* texels) {
  if (!format.is_compressed()) return unpack_row(format, blocks + y_px * pitch_B, count, texels);
  const TexelDecoder& decoder = texel_decoder(format);
  const uint32_t width = format.block_width_px, y = y_px % format.block_height_px;
  const uint8_t* row = blocks + y_px / format.block_height_px * pitch_B;
  TexelSquare square;
  for (uint32_t x = 0; x < count; x += width, row += format.texel_B) {
    for (uint32_t at = 0; at < width && x + at < count; at += kSquare_px) {
      decoder.decode(row, at, y / kSquare_px * kSquare_px, square);
      const uint32_t end = std::min({at + kSquare_px, width, count - x});
      for (uint32_t i = at; i < end; ++i) texels[x + i] = finished(format, square.texel[y % kSquare_px * kSquare_px + i - at]);
    }
  }
}

}  // namespace tilegpu::vk
