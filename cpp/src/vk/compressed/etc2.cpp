// vk/compressed/etc2.cpp -- ETC2 and EAC: a block's texels are few base colours, moved along the grey axis by tables; or a plane.
//
// In: a block of 8 or 16 bytes, whose bits are counted from its last byte on. Out: its texels. Every block has a meaning: what would
// overflow in one mode chooses another. Source: Khronos Data Format Specification 1.3, "ETC2 Compressed Texture Image Formats".
#include <algorithm>
#include <bit>
#include <cassert>

#include "vk/compressed/decode.hpp"

namespace tilegpu::vk {
namespace {

/// The first byte is the highest.
uint64_t read_big_endian(const uint8_t* block) { return __builtin_bswap64(read_64(block)); }

struct Rgb {
  int32_t c[3];
};

constexpr int32_t kDistances[8] = {3, 6, 11, 16, 23, 32, 41, 64};
/// The smaller and the larger one.
constexpr int32_t kModifiers[8][2] = {{2, 8}, {5, 17}, {9, 29}, {13, 42}, {18, 60}, {24, 80}, {33, 106}, {47, 183}};
/// By the index of a texel; the other four are -1 less these.
constexpr int32_t kComponentModifiers[16][4] = {{-3, -6, -9, -15}, {-3, -7, -10, -13}, {-2, -5, -8, -13}, {-2, -4, -6, -13},
                                                {-3, -6, -8, -12}, {-3, -7, -9, -11},  {-4, -7, -8, -11}, {-3, -5, -8, -11},
                                                {-2, -6, -8, -10}, {-2, -5, -8, -10},  {-2, -4, -8, -10}, {-2, -5, -7, -10},
                                                {-3, -4, -7, -10}, {-1, -2, -3, -10},  {-4, -6, -8, -9},  {-3, -5, -7, -9}};

struct Word {
  uint64_t bits;
  uint32_t get(uint32_t high, uint32_t low) const {
    assert(high >= low && high - low < 31 && high < 64);
    return static_cast<uint32_t>(bits >> low) & ((1u << (high - low + 1)) - 1);
  }
  int32_t value(uint32_t high, uint32_t low) const { return static_cast<int32_t>(get(high, low)); }
  int32_t signed_3(uint32_t low) const { return value(low + 2, low) - (get(low + 2, low + 2) ? 8 : 0); }
  /// Texels are counted by columns.
  uint32_t index(uint32_t x, uint32_t y) const {
    assert(x < 4 && y < 4);
    const uint32_t texel = x * 4 + y;
    return get(16 + texel, 16 + texel) * 2 + get(texel, texel);
  }
};

int32_t widen_4(int32_t v) { return v * 17; }
int32_t widen_5(int32_t v) { return v << 3 | v >> 2; }
int32_t widen_6(int32_t v) { return v << 2 | v >> 4; }
int32_t widen_7(int32_t v) { return v << 1 | v >> 6; }

Rgb moved(const Rgb& color, int32_t distance) {
  Rgb out;
  for (int c = 0; c < 3; ++c) out.c[c] = std::clamp(color.c[c] + distance, 0, 255);
  return out;
}

template <bool kSrgb>
RawTexel raw_of(const Rgb& color, float alpha) {
  RawTexel raw = {{0, 0, 0, alpha}};
  for (int c = 0; c < 3; ++c) raw.c[c] = kSrgb ? kSrgbToLinear[color.c[c]] : static_cast<float>(color.c[c]);
  return raw;
}

template <bool kSrgb>
void decode_planar(const Word& w, TexelSquare& square) {
  const Rgb origin = {{widen_6(w.value(62, 57)), widen_7(w.value(56, 56) << 6 | w.value(54, 49)),
                       widen_6(w.value(48, 48) << 5 | w.value(44, 43) << 3 | w.value(41, 39))}};
  const Rgb right = {{widen_6(w.value(38, 34) << 1 | w.value(32, 32)), widen_7(w.value(31, 25)), widen_6(w.value(24, 19))}};
  const Rgb below = {{widen_6(w.value(18, 13)), widen_7(w.value(12, 6)), widen_6(w.value(5, 0))}};
  for (int32_t y = 0; y < 4; ++y) {
    for (int32_t x = 0; x < 4; ++x) {
      Rgb color;
      for (int c = 0; c < 3; ++c) {
        const int32_t o = origin.c[c];
        color.c[c] = std::clamp((x * (right.c[c] - o) + y * (below.c[c] - o) + 4 * o + 2) >> 2, 0, 255);
      }
      square.texel[4 * y + x] = raw_of<kSrgb>(color, 1);
    }
  }
}

/// Colours by index: of all texels, or of the block's halves.
struct Palettes {
  Rgb color[2][4];
  bool halves = false, flipped = false;  // flipped: one above the other
};

Palettes palettes_of_t(const Word& w) {
  const Rgb first = {{widen_4(w.value(60, 59) << 2 | w.value(57, 56)), widen_4(w.value(55, 52)), widen_4(w.value(51, 48))}};
  const Rgb second = {{widen_4(w.value(47, 44)), widen_4(w.value(43, 40)), widen_4(w.value(39, 36))}};
  const int32_t distance = kDistances[w.get(35, 34) << 1 | w.get(32, 32)];
  return {{{first, moved(second, distance), second, moved(second, -distance)}, {}}};
}

Palettes palettes_of_h(const Word& w) {
  const Rgb first = {
      {widen_4(w.value(62, 59)), widen_4(w.value(58, 56) << 1 | w.value(52, 52)), widen_4(w.value(51, 51) << 3 | w.value(49, 47))}};
  const Rgb second = {{widen_4(w.value(46, 43)), widen_4(w.value(42, 39)), widen_4(w.value(38, 35))}};
  const auto rank = [](const Rgb& color) { return color.c[0] << 16 | color.c[1] << 8 | color.c[2]; };
  const uint32_t order = rank(first) >= rank(second);
  const int32_t distance = kDistances[w.get(34, 34) << 2 | w.get(32, 32) << 1 | order];
  return {{{moved(first, distance), moved(first, -distance), moved(second, distance), moved(second, -distance)}, {}}};
}

Palettes palettes_of_halves(const Word& w, const Rgb& first, const Rgb& second, bool without_small) {
  Palettes out;
  out.halves = true, out.flipped = w.get(32, 32);
  for (uint32_t half = 0; half < 2; ++half) {
    const auto& [small, large] = kModifiers[half ? w.get(36, 34) : w.get(39, 37)];
    const Rgb& base = half ? second : first;
    const int32_t near = without_small ? 0 : small;
    out.color[half][0] = moved(base, near), out.color[half][1] = moved(base, large);
    out.color[half][2] = moved(base, -near), out.color[half][3] = moved(base, -large);
  }
  return out;
}

/// `kHoles`: of the formats with one bit of alpha, whose bit for individual base colours says instead that there are no holes.
template <bool kSrgb, bool kHoles>
void decode_color(uint64_t block, TexelSquare& square) {
  const Word w = {block};
  const bool bit_33 = w.get(33, 33), holes = kHoles && !bit_33;
  int32_t base[3], sum[3];
  for (uint32_t c = 0; c < 3; ++c) base[c] = w.value(63 - 8 * c, 59 - 8 * c), sum[c] = base[c] + w.signed_3(56 - 8 * c);
  const auto overflows = [&](int c) { return sum[c] < 0 || sum[c] > 31; };
  Palettes palettes;
  if (!kHoles && !bit_33) {
    const Rgb first = {{widen_4(w.value(63, 60)), widen_4(w.value(55, 52)), widen_4(w.value(47, 44))}};
    const Rgb second = {{widen_4(w.value(59, 56)), widen_4(w.value(51, 48)), widen_4(w.value(43, 40))}};
    palettes = palettes_of_halves(w, first, second, false);
  } else if (overflows(0)) {
    palettes = palettes_of_t(w);
  } else if (overflows(1)) {
    palettes = palettes_of_h(w);
  } else if (overflows(2)) {
    return decode_planar<kSrgb>(w, square);
  } else {
    const Rgb first = {{widen_5(base[0]), widen_5(base[1]), widen_5(base[2])}},
              second = {{widen_5(sum[0]), widen_5(sum[1]), widen_5(sum[2])}};
    palettes = palettes_of_halves(w, first, second, holes);
  }
  for (uint32_t y = 0; y < 4; ++y) {
    for (uint32_t x = 0; x < 4; ++x) {
      const uint32_t index = w.index(x, y), half = palettes.halves ? (palettes.flipped ? y : x) / 2 : 0;
      square.texel[4 * y + x] = holes && index == 2 ? RawTexel{{0, 0, 0, 0}} : raw_of<kSrgb>(palettes.color[half][index], 1);
    }
  }
}

enum class Kind { alpha8, unsigned11, signed11 };

template <Kind kKind>
void decode_component(const uint8_t* block, uint32_t component, TexelSquare& square) {
  const Word w = {read_big_endian(block)};
  int32_t base = w.value(63, 56), multiplier = w.value(55, 52);
  const int32_t* modifiers = kComponentModifiers[w.get(51, 48)];
  int32_t low = 0, high = 255;
  if constexpr (kKind == Kind::alpha8) {
    // As it is.
  } else if constexpr (kKind == Kind::unsigned11) {
    base = base * 8 + 4, high = 2047;
    multiplier = multiplier ? multiplier * 8 : 1;
  } else {
    base = std::max(base - (base > 127 ? 256 : 0), -127) * 8, low = -1023, high = 1023;
    multiplier = multiplier ? multiplier * 8 : 1;
  }
  float palette[8];
  for (uint32_t k = 0; k < 8; ++k) {
    const int32_t modifier = k < 4 ? modifiers[k] : -1 - modifiers[k - 4];
    palette[k] = static_cast<float>(std::clamp(base + modifier * multiplier, low, high));
  }
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 4; ++x) square.texel[4 * y + x].c[component] = palette[w.bits >> (45 - 3 * (x * 4 + y)) & 7];
}

template <bool kSrgb, bool kHoles>
void decode_rgb(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  decode_color<kSrgb, kHoles>(read_big_endian(block), square);
}

template <bool kSrgb>
void decode_rgba(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  decode_color<kSrgb, false>(read_big_endian(block + 8), square);
  decode_component<Kind::alpha8>(block, 3, square);
}

template <Kind kKind>
void decode_r11(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  square = {};
  decode_component<kKind>(block, 0, square);
}

template <Kind kKind>
void decode_r11g11(const uint8_t* block, uint32_t, uint32_t, TexelSquare& square) {
  square = {};
  decode_component<kKind>(block, 0, square);
  decode_component<kKind>(block + 8, 1, square);
}

}  // namespace

DecodeSquare etc2_decoder(const FormatInfo& format) {
  const bool srgb = format.numeric == Numeric::srgb, is_signed = format.numeric == Numeric::snorm;
  switch (format.compression) {
    case Compression::etc2_rgb:
      return srgb ? decode_rgb<true, false> : decode_rgb<false, false>;
    case Compression::etc2_rgb_a1:
      return srgb ? decode_rgb<true, true> : decode_rgb<false, true>;
    case Compression::etc2_rgba:
      return srgb ? decode_rgba<true> : decode_rgba<false>;
    case Compression::eac_r11:
      return is_signed ? decode_r11<Kind::signed11> : decode_r11<Kind::unsigned11>;
    case Compression::eac_r11g11:
      return is_signed ? decode_r11g11<Kind::signed11> : decode_r11g11<Kind::unsigned11>;
    default:
      return nullptr;
  }
}

}  // namespace tilegpu::vk
