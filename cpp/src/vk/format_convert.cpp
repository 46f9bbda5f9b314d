// vk/format_convert.cpp -- texels to four components and back, one at a time and by rows.
//
// In: bytes in a format. Out: floats or integers, and the way back. Source: Vulkan specification, "Fixed-Point Data Conversions",
// "Numeric Representation and Computation" (16-, 11- and 10-bit floats), "sRGB", "Shared Exponent". Every conversion gives the float
// or code nearest to the real value, ties to even; the products of fixed point are exact in double (24 + 24 bits).
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/intrinsics.hpp"
#include "vk/format.hpp"

namespace tilegpu::vk {
namespace {

constexpr uint32_t kCanonicalNan = 0x7fc00000u;

/// Round to nearest even of a double in [-2^31, 2^32); independent of the rounding mode's API, one instruction.
int64_t round_even(double value) { return _mm_cvtsd_si64(_mm_set_sd(value)); }

uint32_t low_mask(int bits) { return bits >= 32 ? 0xffffffffu : (1u << bits) - 1; }

struct Words {
  uint32_t w[4] = {};
};

uint32_t extract(const Words& words, Component c) { return (words.w[c.shift >> 5] >> (c.shift & 31)) & low_mask(c.bits); }
void insert(Words& words, Component c, uint32_t value) { words.w[c.shift >> 5] |= (value & low_mask(c.bits)) << (c.shift & 31); }

int32_t sign_extend(uint32_t value, int bits) { return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits); }

uint32_t float_to_unorm(float value, int bits) {
  assert(bits >= 1 && bits <= 32);
  // NaN fails both comparisons.
  const double clamped = value >= 1.0f ? 1.0 : value > 0.0f ? static_cast<double>(value) : 0.0;
  return static_cast<uint32_t>(round_even(clamped * static_cast<double>(low_mask(bits))));
}

float unorm_to_float(uint32_t value, int bits) {
  assert(bits >= 1 && bits <= 32 && value <= low_mask(bits));
  // One rounding: both operands are exact up to 24 bits.
  return static_cast<float>(value) / static_cast<float>(low_mask(bits));
}

uint32_t float_to_snorm(float value, int bits) {
  assert(bits >= 2 && bits <= 32);  // a sign and something
  const double clamped = value >= 1.0f ? 1.0 : value <= -1.0f ? -1.0 : value == value ? static_cast<double>(value) : 0.0;
  return static_cast<uint32_t>(round_even(clamped * static_cast<double>(low_mask(bits - 1))));
}

float snorm_to_float(uint32_t value, int bits) {
  assert(bits >= 2 && bits <= 32);
  return std::max(static_cast<float>(sign_extend(value, bits)) / static_cast<float>(low_mask(bits - 1)), -1.0f);
}

uint32_t saturate_uint(uint32_t value, int bits) { return std::min(value, low_mask(bits)); }
uint32_t saturate_sint(int32_t value, int bits) {
  assert(bits >= 2 && bits <= 32);
  const auto high = static_cast<int32_t>(low_mask(bits - 1));
  return static_cast<uint32_t>(std::clamp(value, -high - 1, high));
}

uint32_t canonical_float(float value) { return value == value ? std::bit_cast<uint32_t>(value) : kCanonicalNan; }

float component_to_float(Numeric numeric, uint32_t raw, int bits, bool alpha) {
  switch (numeric) {
    case Numeric::unorm:
      return unorm_to_float(raw, bits);
    case Numeric::snorm:
      return snorm_to_float(raw, bits);
    case Numeric::uscaled:
      return static_cast<float>(raw);
    case Numeric::sscaled:
      return static_cast<float>(sign_extend(raw, bits));
    case Numeric::sfloat:
      return bits == 16 ? half_to_float(static_cast<uint16_t>(raw)) : std::bit_cast<float>(raw);
    case Numeric::ufloat:
      return ufloat_to_float(raw, bits - 5);
    case Numeric::srgb:
      return alpha ? unorm_to_float(raw, bits) : srgb_to_linear(static_cast<uint8_t>(raw));
    default:
      return 0;
  }
}

uint32_t float_to_component(Numeric numeric, float value, int bits, bool alpha) {
  switch (numeric) {
    case Numeric::unorm:
      return float_to_unorm(value, bits);
    case Numeric::snorm:
      return float_to_snorm(value, bits);
    case Numeric::uscaled: {
      const double top = low_mask(bits);
      return static_cast<uint32_t>(round_even(value > 0 ? std::min<double>(value, top) : 0.0));
    }
    case Numeric::sscaled: {
      const double top = low_mask(bits - 1);
      return static_cast<uint32_t>(round_even(value == value ? std::clamp<double>(value, -top - 1, top) : 0.0));
    }
    case Numeric::sfloat:
      return bits == 16 ? float_to_half(value) : canonical_float(value);
    case Numeric::ufloat:
      return float_to_ufloat(value, bits - 5);
    case Numeric::srgb:
      return alpha ? float_to_unorm(value, bits) : linear_to_srgb(value);
    default:
      return 0;
  }
}

/// 2^exponent as a double, for normal exponents.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

void unpack_shared_exponent(uint32_t bits, Texel& texel) {
  const double scale = power_of_two(static_cast<int>(bits >> 27) - 15 - 9);
  for (int c = 0; c < 3; ++c) texel.f[c] = static_cast<float>(static_cast<double>((bits >> (9 * c)) & 511) * scale);
  texel.f[3] = 1;
}

uint32_t pack_shared_exponent(const Texel& texel) {
  constexpr double kLargest = 511.0 / 512.0 * 65536.0;
  double rgb[3], largest = 0;
  for (int c = 0; c < 3; ++c) {
    rgb[c] = texel.f[c] > 0 ? std::min<double>(texel.f[c], kLargest) : 0.0;
    largest = std::max(largest, rgb[c]);
  }
  // floor(log2(largest)) from the exponent field; 0 gives a very small number and the lower limit.
  const int log2_floor = static_cast<int>(std::bit_cast<uint64_t>(largest) >> 52) - 1023;
  int exponent = std::max(-16, log2_floor) + 16;
  if (round_even(std::floor(largest / power_of_two(exponent - 24) + 0.5)) == 512) ++exponent;
  uint32_t bits = static_cast<uint32_t>(exponent) << 27;
  for (int c = 0; c < 3; ++c) bits |= static_cast<uint32_t>(round_even(std::floor(rgb[c] / power_of_two(exponent - 24) + 0.5))) << (9 * c);
  return bits;
}

/// Numbers of 64 bits as a Texel has them: integers saturate, floats are rounded once.
Texel unpack_longs(const FormatInfo& format, const uint8_t* bytes) {
  Texel texel{};
  const bool integer = format.is_integer();
  integer ? texel.u[3] = 1 : texel.f[3] = 1;
  for (int c = 0; c < format.component_count; ++c) {
    uint64_t raw;
    std::memcpy(&raw, bytes + size_t{8} * static_cast<size_t>(c), 8);
    if (format.numeric == Numeric::uint)
      texel.u[c] = static_cast<uint32_t>(std::min<uint64_t>(raw, 0xffffffffu));
    else if (integer)
      texel.i[c] = static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(raw), INT32_MIN, INT32_MAX));
    else
      texel.f[c] = std::bit_cast<float>(canonical_float(static_cast<float>(std::bit_cast<double>(raw))));
  }
  return texel;
}

/// The way back, which loses nothing.
void pack_longs(const FormatInfo& format, const Texel& texel, uint8_t* bytes) {
  for (int c = 0; c < format.component_count; ++c) {
    const double real = texel.f[c] == texel.f[c] ? static_cast<double>(texel.f[c]) : std::bit_cast<double>(0x7ff8000000000000ull);
    const uint64_t raw = format.numeric == Numeric::uint   ? texel.u[c]
                         : format.numeric == Numeric::sint ? static_cast<uint64_t>(int64_t{texel.i[c]})
                                                           : std::bit_cast<uint64_t>(real);
    std::memcpy(bytes + size_t{8} * static_cast<size_t>(c), &raw, 8);
  }
}

}  // namespace

float half_to_float(uint16_t bits) {
  const float value = _cvtsh_ss(bits);
  return value == value ? value : std::bit_cast<float>(kCanonicalNan);
}

uint16_t float_to_half(float value) {
  if (value != value) return 0x7e00;
  return static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

float ufloat_to_float(uint32_t bits, int mantissa_bits) {
  assert(mantissa_bits == 5 || mantissa_bits == 6);  // 10 or 11 bits, 5 of them exponent
  const uint32_t exponent = (bits >> mantissa_bits) & 31, mantissa = bits & low_mask(mantissa_bits);
  if (exponent == 31) return std::bit_cast<float>(mantissa ? kCanonicalNan : 0x7f800000u);
  if (exponent == 0) return static_cast<float>(static_cast<double>(mantissa) * power_of_two(-14 - mantissa_bits));
  return std::bit_cast<float>(((exponent + 112) << 23) | (mantissa << (23 - mantissa_bits)));
}

uint32_t float_to_ufloat(float value, int mantissa_bits) {
  assert(mantissa_bits == 5 || mantissa_bits == 6);
  const uint32_t infinity = 31u << mantissa_bits;
  if (value != value) return infinity | 1;
  if (!(value > 0)) return 0;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (bits == 0x7f800000u) return infinity;
  if (value < 0x1p-14f) return static_cast<uint32_t>(round_even(static_cast<double>(value) * power_of_two(14 + mantissa_bits)));
  // Rounds the mantissa to even in the integer; a carry walks into the exponent as it should.
  const int drop = 23 - mantissa_bits;
  const uint32_t rounded = (bits + (1u << (drop - 1)) - 1 + ((bits >> drop) & 1)) >> drop;
  // Finite values stay finite: above the largest comes the largest (as GL_EXT_packed_float says).
  return std::min(rounded - (112u << mantissa_bits), infinity - 1);
}

uint32_t depth_to_unorm(float depth, int bits) { return float_to_unorm(depth, bits); }
float unorm_to_depth(uint32_t value, int bits) { return unorm_to_float(value, bits); }

Texel unpack_texel(const FormatInfo& format, const uint8_t* bytes) {
  if (format.rgba[0].bits == 64) return unpack_longs(format, bytes);
  assert(format.texel_B >= 1 && format.texel_B <= 16);
  Texel texel{};
  if (format.depth_bits) {
    uint32_t word = 0;
    std::memcpy(&word, bytes, format.depth_bits == 16 ? 2 : 4);
    texel.f[0] =
        format.depth_bits == 32 ? std::bit_cast<float>(word) : unorm_to_depth(word & low_mask(format.depth_bits), format.depth_bits);
    texel.f[3] = 1;
    return texel;
  }
  Words words;
  std::memcpy(words.w, bytes, format.texel_B);
  if (format.format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
    unpack_shared_exponent(words.w[0], texel);
    return texel;
  }
  if (format.is_integer()) {
    texel.u[3] = 1;
    for (int c = 0; c < 4; ++c) {
      const Component component = format.rgba[c];
      if (!component.bits) continue;
      const uint32_t raw = extract(words, component);
      texel.u[c] = format.numeric == Numeric::sint ? static_cast<uint32_t>(sign_extend(raw, component.bits)) : raw;
    }
    return texel;
  }
  texel.f[3] = 1;
  for (int c = 0; c < 4; ++c) {
    const Component component = format.rgba[c];
    if (component.bits) texel.f[c] = component_to_float(format.numeric, extract(words, component), component.bits, c == 3);
  }
  return texel;
}

void pack_texel(const FormatInfo& format, const Texel& texel, uint8_t* bytes) {
  if (format.rgba[0].bits == 64) return pack_longs(format, texel, bytes);
  assert(format.texel_B >= 1 && format.texel_B <= 16);
  if (format.depth_bits == 32) {
    const uint32_t word = canonical_float(texel.f[0]);
    std::memcpy(bytes, &word, 4);
    return;
  }
  if (format.depth_bits) {
    uint32_t word = 0;
    const size_t size_B = format.depth_bits == 16 ? 2 : 4;
    std::memcpy(&word, bytes, size_B);
    word = (word & ~low_mask(format.depth_bits)) | depth_to_unorm(texel.f[0], format.depth_bits);
    std::memcpy(bytes, &word, size_B);
    return;
  }
  Words words;
  if (format.format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
    words.w[0] = pack_shared_exponent(texel);
  } else {
    for (int c = 0; c < 4; ++c) {
      const Component component = format.rgba[c];
      if (!component.bits) continue;
      uint32_t raw;
      if (format.numeric == Numeric::uint) {
        raw = saturate_uint(texel.u[c], component.bits);
      } else if (format.numeric == Numeric::sint) {
        raw = saturate_sint(texel.i[c], component.bits);
      } else {
        raw = float_to_component(format.numeric, texel.f[c], component.bits, c == 3);
      }
      insert(words, component, raw);
    }
  }
  std::memcpy(bytes, words.w, format.texel_B);
}

void unpack_row(const FormatInfo& format, const uint8_t* bytes, uint32_t count, Texel* texels) {
  const bool bytes4 = format.texel_B == 4 && format.component_count == 4 && format.rgba[0].bits == 8;
  if (bytes4 && (format.numeric == Numeric::unorm || format.numeric == Numeric::srgb)) {
    const int r = format.rgba[0].shift / 8, b = format.rgba[2].shift / 8;
    const bool srgb = format.numeric == Numeric::srgb;
    const __m128 scale = _mm_set1_ps(255.0f);
    const __m128i order = r == 0 ? _mm_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1)
                                 : _mm_setr_epi8(2, -1, -1, -1, 1, -1, -1, -1, 0, -1, -1, -1, 3, -1, -1, -1);
    for (uint32_t i = 0; i < count; ++i, bytes += 4) {
      if (srgb) {
        texels[i].f[0] = kSrgbToLinear[bytes[r]];
        texels[i].f[1] = kSrgbToLinear[bytes[1]];
        texels[i].f[2] = kSrgbToLinear[bytes[b]];
        texels[i].f[3] = unorm_to_float(bytes[3], 8);
      } else {
        int32_t word;
        std::memcpy(&word, bytes, 4);
        _mm_storeu_ps(texels[i].f, _mm_div_ps(_mm_cvtepi32_ps(_mm_shuffle_epi8(_mm_cvtsi32_si128(word), order)), scale));
      }
    }
    return;
  }
  if (format.texel_B == 16 && format.rgba[0].bits == 32) {
    std::memcpy(texels, bytes, static_cast<size_t>(count) * 16);
    return;
  }
  const size_t stride_B = format.format == VK_FORMAT_D32_SFLOAT_S8_UINT ? 4 : format.texel_B;
  for (uint32_t i = 0; i < count; ++i) texels[i] = unpack_texel(format, bytes + i * stride_B);
}

void pack_row(const FormatInfo& format, const Texel* texels, uint32_t count, uint8_t* bytes) {
  assert(format.texel_B > 0 && (count == 0 || (texels && bytes)));
  const size_t stride_B = format.format == VK_FORMAT_D32_SFLOAT_S8_UINT ? 4 : format.texel_B;
  for (uint32_t i = 0; i < count; ++i) pack_texel(format, texels[i], bytes + i * stride_B);
}

}  // namespace tilegpu::vk
