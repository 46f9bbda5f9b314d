// vk/compressed/s3tc.cpp -- BC1 to BC5: two endpoints of a block, and 2 or 3 bits a texel that say how they are mixed.
//
// In: a block of 8 or 16 bytes. Out: its texels. Mixes are exact: codes count the fractions that can come out (31 * 6 of red, 255 * 35 of
// alpha). Source: Khronos Data Format Specification 1.3, "S3TC" and "RGTC Compressed Texture Image Formats".
// Signed endpoints of -128 are compared as such, and mixed as -127.
#include <algorithm>

#include "vk/compressed/decode.hpp"

namespace tilegpu::vk {
namespace {

enum class Transparency { by_order, none };  // by_order: a first endpoint that is not the higher one makes the last code transparent black

struct Rgb {
  uint32_t r, g, b;
};

/// Times 6.
Rgb endpoint(uint32_t color) { return {(color >> 11) * 6, (color >> 5 & 63) * 6, (color & 31) * 6}; }

template <bool kSrgb, Transparency kTransparency>
void decode_color(const uint8_t* block, TexelSquare& square) {
  const uint64_t bits = read_64(block);
  const uint32_t first = bits & 0xffff, second = bits >> 16 & 0xffff;
  const bool thirds = kTransparency == Transparency::none || first > second;
  const Rgb a = endpoint(first), b = endpoint(second);
  const auto mix = [&](uint32_t of_a, uint32_t of_b, uint32_t parts) {
    const auto one = [&](uint32_t x, uint32_t y) { return (of_a * x + of_b * y) / parts; };  // without remainder
    return Rgb{one(a.r, b.r), one(a.g, b.g), one(a.b, b.b)};
  };
  const Rgb colors[4] = {a, b, thirds ? mix(2, 1, 3) : mix(1, 1, 2), thirds ? mix(1, 2, 3) : Rgb{0, 0, 0}};
  RawTexel palette[4];
  for (uint32_t k = 0; k < 4; ++k) {
    const Rgb& c = colors[k];
    const float alpha = !thirds && k == 3 ? 0.0f : 1.0f;
    if constexpr (kSrgb)
      palette[k] = {{kSrgbOf186[c.r], kSrgbOf378[c.g], kSrgbOf186[c.b], alpha}};
    else
      palette[k] = {{static_cast<float>(c.r), static_cast<float>(c.g), static_cast<float>(c.b), alpha}};
  }
  for (uint32_t i = 0; i < 16; ++i) square.texel[i] = palette[bits >> (32 + 2 * i) & 3];
}

/// BC3's alpha, and the components of BC4 and BC5.
template <bool kSigned>
void decode_component(const uint8_t* block, uint32_t component, TexelSquare& square) {
  const uint64_t bits = read_64(block);
  const auto end = [&](uint32_t shift) {
    const auto byte = static_cast<uint8_t>(bits >> shift);
    return kSigned ? static_cast<int32_t>(static_cast<int8_t>(byte)) : static_cast<int32_t>(byte);
  };
  const bool sevenths = end(0) > end(8);
  const int32_t low = kSigned ? -127 : 0, high = kSigned ? 127 : 255, a = std::max(end(0), low), b = std::max(end(8), low);
  float palette[8] = {static_cast<float>(35 * a), static_cast<float>(35 * b)};
  const int32_t parts = sevenths ? 7 : 5, weight = sevenths ? 5 : 7;  // in 35ths
  for (int32_t k = 1; k < parts; ++k) palette[k + 1] = static_cast<float>(weight * ((parts - k) * a + k * b));
  if (!sevenths) palette[6] = static_cast<float>(35 * low), palette[7] = static_cast<float>(35 * high);
  for (uint32_t i = 0; i < 16; ++i) square.texel[i].c[component] = palette[bits >> (16 + 3 * i) & 7];
}

template <bool kSrgb>
void decode_bc1(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  decode_color<kSrgb, Transparency::by_order>(block, square);
}

template <bool kSrgb>
void decode_bc2(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  decode_color<kSrgb, Transparency::none>(block + 8, square);
  const uint64_t alpha = read_64(block);
  for (uint32_t i = 0; i < 16; ++i) square.texel[i].c[3] = static_cast<float>(alpha >> (4 * i) & 15);
}

template <bool kSrgb>
void decode_bc3(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  decode_color<kSrgb, Transparency::none>(block + 8, square);
  decode_component<false>(block, 3, square);
}

template <bool kSigned>
void decode_bc4(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  square = {};
  decode_component<kSigned>(block, 0, square);
}

template <bool kSigned>
void decode_bc5(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  square = {};
  decode_component<kSigned>(block, 0, square);
  decode_component<kSigned>(block + 8, 1, square);
}

}  // namespace

DecodeSquare s3tc_decoder(const FormatInfo& format) {
  const bool srgb = format.numeric == Numeric::srgb, is_signed = format.numeric == Numeric::snorm;
  switch (format.compression) {
    case Compression::bc1_rgb:  // whose alpha nobody reads
    case Compression::bc1_rgba:
      return srgb ? decode_bc1<true> : decode_bc1<false>;
    case Compression::bc2:
      return srgb ? decode_bc2<true> : decode_bc2<false>;
    case Compression::bc3:
      return srgb ? decode_bc3<true> : decode_bc3<false>;
    case Compression::bc4:
      return is_signed ? decode_bc4<true> : decode_bc4<false>;
    case Compression::bc5:
      return is_signed ? decode_bc5<true> : decode_bc5<false>;
    default:
      return nullptr;
  }
}

}  // namespace tilegpu::vk
