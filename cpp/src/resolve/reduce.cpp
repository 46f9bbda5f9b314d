// resolve/reduce.cpp -- the kernels behind reduce.hpp: 32 bytes of every sample at a time.
//
// In: samples. Out: one sample. Source: Vulkan specification, "Render Pass Multisample Resolve Operations"; rules in reduce.hpp.
#include "resolve/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/intrinsics.hpp"

namespace tilegpu::resolve {
namespace {

constexpr size_t kStep_B = 32;
constexpr uint32_t kMaxSamples = 16;

__m256i load32(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
void store32(uint8_t* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

struct Samples {
  const uint8_t* source;
  size_t stride_B;
  uint32_t count;
  int log2;
  __m256i at(uint32_t s, size_t offset) const { return load32(source + s * stride_B + offset); }
};

/// floor((s + N/2 - 1 + bit log2 of s) / N): to nearest even, for signed sums too.
__m256i round_shift16(__m256i sum, int log2, bool is_signed) {
  const __m128i shift = _mm_cvtsi32_si128(log2);
  const __m256i odd = _mm256_and_si256(_mm256_srl_epi16(sum, shift), _mm256_set1_epi16(1));
  const __m256i biased = _mm256_add_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(static_cast<int16_t>((1 << log2) / 2 - 1))), odd);
  return is_signed ? _mm256_sra_epi16(biased, shift) : _mm256_srl_epi16(biased, shift);
}

__m256i round_shift32(__m256i sum, int log2, bool is_signed) {
  const __m128i shift = _mm_cvtsi32_si128(log2);
  const __m256i odd = _mm256_and_si256(_mm256_srl_epi32(sum, shift), _mm256_set1_epi32(1));
  const __m256i biased = _mm256_add_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32((1 << log2) / 2 - 1)), odd);
  return is_signed ? _mm256_sra_epi32(biased, shift) : _mm256_srl_epi32(biased, shift);
}

/// The usual case, with the number of samples known: nothing is left but loads, adds and shifts.
template <uint32_t kSamples>
__m256i average_unorm8(const Samples& in, size_t offset) {
  constexpr int kLog2 = std::bit_width(kSamples) - 1;
  const __m256i zero = _mm256_setzero_si256(), bias = _mm256_set1_epi16(kSamples / 2 - 1), one = _mm256_set1_epi16(1);
  __m256i low = bias, high = bias;
  for (uint32_t s = 0; s < kSamples; ++s) {
    const __m256i v = in.at(s, offset);
    low = _mm256_add_epi16(low, _mm256_unpacklo_epi8(v, zero));
    high = _mm256_add_epi16(high, _mm256_unpackhi_epi8(v, zero));
  }
  const auto round = [&](__m256i biased) {
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(_mm256_sub_epi16(biased, bias), kLog2), one);
    return _mm256_srli_epi16(_mm256_add_epi16(biased, odd), kLog2);
  };
  return _mm256_packus_epi16(round(low), round(high));
}

template <uint32_t kSamples>
__m256i average_snorm8(const Samples& in, size_t offset) {
  const __m256i least = _mm256_set1_epi8(-127), zero = _mm256_setzero_si256();
  __m256i low = zero, high = zero;
  for (uint32_t s = 0; s < kSamples; ++s) {
    const __m256i v = _mm256_max_epi8(in.at(s, offset), least);  // -128 and -127 are both -1.0
    low = _mm256_add_epi16(low, _mm256_srai_epi16(_mm256_unpacklo_epi8(zero, v), 8));
    high = _mm256_add_epi16(high, _mm256_srai_epi16(_mm256_unpackhi_epi8(zero, v), 8));
  }
  return _mm256_packs_epi16(round_shift16(low, in.log2, true), round_shift16(high, in.log2, true));
}

template <uint32_t kSamples>
__m256i average_unorm16(const Samples& in, size_t offset) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i low = zero, high = zero;
  for (uint32_t s = 0; s < kSamples; ++s) {
    const __m256i v = in.at(s, offset);
    low = _mm256_add_epi32(low, _mm256_unpacklo_epi16(v, zero));
    high = _mm256_add_epi32(high, _mm256_unpackhi_epi16(v, zero));
  }
  return _mm256_packus_epi32(round_shift32(low, in.log2, false), round_shift32(high, in.log2, false));
}

template <uint32_t kSamples>
__m256i average_snorm16(const Samples& in, size_t offset) {
  const __m256i least = _mm256_set1_epi16(-32767), zero = _mm256_setzero_si256();
  __m256i low = zero, high = zero;
  for (uint32_t s = 0; s < kSamples; ++s) {
    const __m256i v = _mm256_max_epi16(in.at(s, offset), least);
    low = _mm256_add_epi32(low, _mm256_srai_epi32(_mm256_unpacklo_epi16(zero, v), 16));
    high = _mm256_add_epi32(high, _mm256_srai_epi32(_mm256_unpackhi_epi16(zero, v), 16));
  }
  return _mm256_packs_epi32(round_shift32(low, in.log2, true), round_shift32(high, in.log2, true));
}

/// Values of at most 24 bits in 32-bit words (depth): 16 of them do not overflow.
template <uint32_t kSamples>
__m256i average_unorm32(const Samples& in, size_t offset) {
  __m256i sum = _mm256_setzero_si256();
  for (uint32_t s = 0; s < kSamples; ++s) sum = _mm256_add_epi32(sum, in.at(s, offset));
  return round_shift32(sum, in.log2, false);
}

/// (0 + 1) + (2 + 3) + ...: the pairwise tree.
template <class Vector, class Add>
Vector tree_sum(Vector* v, uint32_t count, Add add) {
  for (uint32_t n = count; n > 1; n /= 2) {
    for (uint32_t i = 0; i < n / 2; ++i) v[i] = add(v[2 * i], v[2 * i + 1]);
  }
  return v[0];
}

/// The same tree over value(first), ..., value(first + kCount - 1), in registers.
template <uint32_t kCount, class Value, class Add>
auto tree(Value value, Add add, uint32_t first = 0) {
  if constexpr (kCount == 1) {
    return value(first);
  } else {
    const auto left = tree<kCount / 2>(value, add, first);
    return add(left, tree<kCount / 2>(value, add, first + kCount / 2));
  }
}

__m256 canonical(__m256 v) {
  const __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
  return _mm256_blendv_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)), nan);
}

__m128i half_bits(__m256 v) { return _mm256_cvtps_ph(canonical(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

template <uint32_t kSamples>
__m256i average_half(const Samples& in, size_t offset) {
  const __m256 scale = _mm256_set1_ps(1.0f / kSamples);
  __m128i halves[2];
  for (int part = 0; part < 2; ++part) {
    const auto value = [&](uint32_t s) {
      return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in.source + s * in.stride_B + offset + 16 * part)));
    };
    halves[part] = half_bits(_mm256_mul_ps(tree<kSamples>(value, [](__m256 a, __m256 b) { return _mm256_add_ps(a, b); }), scale));
  }
  return _mm256_setr_m128i(halves[0], halves[1]);
}

template <uint32_t kSamples>
__m256i average_float32(const Samples& in, size_t offset) {
  const __m256d scale = _mm256_set1_pd(1.0 / kSamples);
  __m128 halves[2];
  for (int part = 0; part < 2; ++part) {
    const auto value = [&](uint32_t s) {
      return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(in.source + s * in.stride_B + offset + 16 * part)));
    };
    halves[part] = _mm256_cvtpd_ps(_mm256_mul_pd(tree<kSamples>(value, [](__m256d a, __m256d b) { return _mm256_add_pd(a, b); }), scale));
  }
  return _mm256_castps_si256(canonical(_mm256_setr_m128(halves[0], halves[1])));
}

/// vk::linear_to_srgb, eight at a time: guess by the octave's line, corrected against the exact thresholds.
__m256i encode_srgb(__m256 linear) {
  const __m256 low = _mm256_max_ps(linear, _mm256_set1_ps(0x1p-13f));  // NaN gives the second operand
  const __m256 clamped = _mm256_min_ps(low, _mm256_set1_ps(0x1.fffffep-1f));
  const __m256i bits = _mm256_castps_si256(clamped);
  const __m256i bucket = _mm256_sub_epi32(_mm256_srli_epi32(bits, 20), _mm256_set1_epi32(912));
  const __m256 along = _mm256_cvtepi32_ps(_mm256_and_si256(bits, _mm256_set1_epi32(0xfffff)));
  const __m256 base = _mm256_i32gather_ps(vk::kLinearToSrgbBase, bucket, 4), slope = _mm256_i32gather_ps(vk::kLinearToSrgbSlope, bucket, 4);
  __m256i code = _mm256_cvttps_epi32(_mm256_add_ps(base, _mm256_mul_ps(along, slope)));
  const __m256 threshold = _mm256_i32gather_ps(vk::kLinearToSrgbThreshold, code, 4);
  code = _mm256_add_epi32(code, _mm256_castps_si256(_mm256_cmp_ps(clamped, threshold, _CMP_LT_OQ)));
  const __m256 next = _mm256_i32gather_ps(vk::kLinearToSrgbThreshold, _mm256_add_epi32(code, _mm256_set1_epi32(1)), 4);
  return _mm256_sub_epi32(code, _mm256_castps_si256(_mm256_cmp_ps(clamped, next, _CMP_GE_OQ)));
}

/// vk::srgb_to_linear, eight at a time.
__m256 decode_srgb(__m256i code) {
  const __m256 c = _mm256_cvtepi32_ps(code);
  __m256 curve = _mm256_set1_ps(vk::kSrgbPolynomial[7]);
  for (int k = 6; k >= 0; --k) curve = _mm256_fmadd_ps(curve, c, _mm256_set1_ps(vk::kSrgbPolynomial[k]));
  const __m256 above = _mm256_cmp_ps(c, _mm256_set1_ps(static_cast<float>(vk::kSrgbLastLinearCode)), _CMP_GT_OQ);
  return _mm256_blendv_ps(_mm256_mul_ps(c, _mm256_set1_ps(vk::kSrgbLinearScale)), curve, above);
}

/// Four 8-bit components, alpha in the high byte, the others as sRGB; eight texels.
template <uint32_t kSamples>
__m256i average_srgb8(const Samples& in, size_t offset) {
  __m256i difference = _mm256_setzero_si256();
  const __m256i first = in.at(0, offset);
  for (uint32_t s = 1; s < kSamples; ++s) difference = _mm256_or_si256(difference, _mm256_xor_si256(first, in.at(s, offset)));
  if (_mm256_testz_si256(difference, difference)) return first;
  const __m256 scale = _mm256_set1_ps(1.0f / kSamples);
  const __m256i byte = _mm256_set1_epi32(255);
  __m256i result = _mm256_setzero_si256();
  for (int c = 0; c < 3; ++c) {
    const __m128i shift = _mm_cvtsi32_si128(8 * c);
    const auto value = [&](uint32_t s) { return decode_srgb(_mm256_and_si256(_mm256_srl_epi32(in.at(s, offset), shift), byte)); };
    const __m256i code = encode_srgb(_mm256_mul_ps(tree<kSamples>(value, [](__m256 a, __m256 b) { return _mm256_add_ps(a, b); }), scale));
    result = _mm256_or_si256(result, _mm256_sll_epi32(code, shift));
  }
  __m256i alpha = _mm256_setzero_si256();
  for (uint32_t s = 0; s < kSamples; ++s) alpha = _mm256_add_epi32(alpha, _mm256_srli_epi32(in.at(s, offset), 24));
  return _mm256_or_si256(result, _mm256_slli_epi32(round_shift32(alpha, in.log2, false), 24));
}

/// NaN loses against any number.
__m256 extreme_ps(__m256 a, __m256 b, bool is_max) {
  const __m256 m = is_max ? _mm256_max_ps(b, a) : _mm256_min_ps(b, a);  // a where either is NaN
  return _mm256_blendv_ps(m, b, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

__m256i extreme(ReduceKind kind, __m256i a, __m256i b, bool is_max) {
  switch (kind) {
    case ReduceKind::unorm8:
    case ReduceKind::srgb8:
    case ReduceKind::uint8:
      return is_max ? _mm256_max_epu8(a, b) : _mm256_min_epu8(a, b);
    case ReduceKind::snorm8:
    case ReduceKind::sint8:
      return is_max ? _mm256_max_epi8(a, b) : _mm256_min_epi8(a, b);
    case ReduceKind::unorm16:
    case ReduceKind::uint16:
      return is_max ? _mm256_max_epu16(a, b) : _mm256_min_epu16(a, b);
    case ReduceKind::snorm16:
    case ReduceKind::sint16:
      return is_max ? _mm256_max_epi16(a, b) : _mm256_min_epi16(a, b);
    case ReduceKind::unorm32:
    case ReduceKind::uint32:
      return is_max ? _mm256_max_epu32(a, b) : _mm256_min_epu32(a, b);
    case ReduceKind::sint32:
      return is_max ? _mm256_max_epi32(a, b) : _mm256_min_epi32(a, b);
    case ReduceKind::float32:
      return _mm256_castps_si256(extreme_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), is_max));
    case ReduceKind::half: {
      const auto half = [&](__m128i x, __m128i y) { return half_bits(extreme_ps(_mm256_cvtph_ps(x), _mm256_cvtph_ps(y), is_max)); };
      return _mm256_setr_m128i(half(_mm256_castsi256_si128(a), _mm256_castsi256_si128(b)),
                               half(_mm256_extracti128_si256(a, 1), _mm256_extracti128_si256(b, 1)));
    }
    default:
      return a;
  }
}

bool has_average(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::unorm8:
    case ReduceKind::snorm8:
    case ReduceKind::unorm16:
    case ReduceKind::snorm16:
    case ReduceKind::unorm32:
    case ReduceKind::half:
    case ReduceKind::float32:
    case ReduceKind::srgb8:
      return true;
    default:
      return false;
  }
}

/// Pieces of bytes (a multiple of 32) each.
struct Pieces {
  size_t bytes, stride_B;
  uint32_t count;
};

template <__m256i (*kAverage)(const Samples&, size_t)>
void average_all(Samples in, const Pieces& pieces, uint8_t* out) {
  for (uint32_t i = 0; i < pieces.count; ++i, in.source += pieces.stride_B, out += pieces.bytes) {
    for (size_t offset = 0; offset < pieces.bytes; offset += kStep_B) store32(out + offset, kAverage(in, offset));
  }
}

void extreme_all(ReduceKind kind, bool is_max, Samples in, const Pieces& pieces, uint8_t* out) {
  for (uint32_t i = 0; i < pieces.count; ++i, in.source += pieces.stride_B, out += pieces.bytes) {
    for (size_t offset = 0; offset < pieces.bytes; offset += kStep_B) {
      __m256i v = in.at(0, offset);
      for (uint32_t s = 1; s < in.count; ++s) v = extreme(kind, v, in.at(s, offset), is_max);
      store32(out + offset, v);
    }
  }
}

template <uint32_t kSamples>
void average_elements(ReduceKind kind, const Samples& in, const Pieces& pieces, uint8_t* out) {
  switch (kind) {
    case ReduceKind::unorm8:
      return average_all<average_unorm8<kSamples>>(in, pieces, out);
    case ReduceKind::snorm8:
      return average_all<average_snorm8<kSamples>>(in, pieces, out);
    case ReduceKind::unorm16:
      return average_all<average_unorm16<kSamples>>(in, pieces, out);
    case ReduceKind::snorm16:
      return average_all<average_snorm16<kSamples>>(in, pieces, out);
    case ReduceKind::unorm32:
      return average_all<average_unorm32<kSamples>>(in, pieces, out);
    case ReduceKind::half:
      return average_all<average_half<kSamples>>(in, pieces, out);
    case ReduceKind::srgb8:
      return average_all<average_srgb8<kSamples>>(in, pieces, out);
    default:
      return average_all<average_float32<kSamples>>(in, pieces, out);
  }
}

void reduce_elements(const Reducer& r, const Samples& in, const Pieces& pieces, uint8_t* out) {
  assert(pieces.bytes % kStep_B == 0 && in.count == r.samples);
  if (r.mode != ReduceMode::average) return extreme_all(r.kind, r.mode == ReduceMode::max, in, pieces, out);
  switch (in.count) {
    case 2:
      return average_elements<2>(r.kind, in, pieces, out);
    case 4:
      return average_elements<4>(r.kind, in, pieces, out);
    case 8:
      return average_elements<8>(r.kind, in, pieces, out);
    default:
      return average_elements<16>(r.kind, in, pieces, out);
  }
}

uint32_t field(uint32_t word, vk::Component c) { return (word >> c.shift) & ((1u << c.bits) - 1); }

/// A component of a packed texel (up to 4 bytes) over its samples.
uint32_t reduce_component(const vk::FormatInfo& format, ReduceMode mode, const uint32_t* words, uint32_t samples, int index) {
  assert(samples >= 2 && format.rgba[index].bits > 0 && format.rgba[index].bits < 32);
  const vk::Component c = format.rgba[index];
  const uint32_t mask = (1u << c.bits) - 1;
  const bool linear_light = format.numeric == vk::Numeric::srgb && index < 3;
  const bool is_signed = format.numeric == vk::Numeric::snorm || format.numeric == vk::Numeric::sint;
  const bool is_float = format.numeric == vk::Numeric::ufloat;
  const int log2 = static_cast<int>(std::bit_width(samples)) - 1;
  const auto code = [&](uint32_t s) -> int32_t {
    const uint32_t raw = field(words[s], c);
    if (!is_signed) return static_cast<int32_t>(raw);
    const int32_t value = static_cast<int32_t>(raw << (32 - c.bits)) >> (32 - c.bits);
    return format.numeric == vk::Numeric::snorm ? std::max(value, -static_cast<int32_t>(mask >> 1)) : value;
  };
  if (mode != ReduceMode::average) {
    // Codes grow with values in fixed point, in sRGB and in unsigned floats below NaN.
    const uint32_t infinity = is_float ? 31u << (c.bits - 5) : 0;
    int32_t best = code(0);
    for (uint32_t s = 1; s < samples; ++s) {
      const int32_t value = code(s);
      if (is_float && static_cast<uint32_t>(value) > infinity) continue;
      const bool best_is_nan = is_float && static_cast<uint32_t>(best) > infinity;
      if (best_is_nan || (mode == ReduceMode::max ? value > best : value < best)) best = value;
    }
    return static_cast<uint32_t>(best) & mask;
  }
  if (linear_light || is_float) {
    float v[kMaxSamples];
    for (uint32_t s = 0; s < samples; ++s) {
      const uint32_t raw = field(words[s], c);
      v[s] = linear_light ? vk::kSrgbToLinear[raw] : vk::ufloat_to_float(raw, c.bits - 5);
    }
    const float mean = tree_sum(v, samples, [](float a, float b) { return a + b; }) * (1.0f / static_cast<float>(samples));
    return linear_light ? vk::linear_to_srgb(mean) : vk::float_to_ufloat(mean, c.bits - 5);
  }
  int32_t sum = 0;
  for (uint32_t s = 0; s < samples; ++s) sum += code(s);
  return static_cast<uint32_t>((sum + (1 << log2) / 2 - 1 + ((sum >> log2) & 1)) >> log2) & mask;
}

void reduce_texels(const Reducer& r, const uint8_t* source, size_t sample_stride_B, size_t bytes, uint8_t* out) {
  assert(r.samples <= kMaxSamples);
  const vk::FormatInfo& format = *r.format;
  const size_t texel_B = format.texel_B, stride_B = r.texel_stride_B;
  const bool keeps_equal = format.numeric != vk::Numeric::snorm;
  assert(texel_B <= sizeof(uint32_t) && stride_B <= sizeof(uint32_t));  // wider texels are of equal elements
  for (size_t at = 0; at < bytes;) {
    if (keeps_equal && bytes - at >= kStep_B) {
      const __m256i first = load32(source + at);
      __m256i difference = _mm256_setzero_si256();
      for (uint32_t s = 1; s < r.samples; ++s)
        difference = _mm256_or_si256(difference, _mm256_xor_si256(first, load32(source + s * sample_stride_B + at)));
      if (_mm256_testz_si256(difference, difference)) {
        store32(out + at, first);
        at += kStep_B;
        continue;
      }
    }
    const size_t end = std::min(bytes, at + kStep_B);
    for (; at < end; at += stride_B) {
      uint32_t words[kMaxSamples] = {};
      bool equal = keeps_equal;
      for (uint32_t s = 0; s < r.samples; ++s) {
        std::memcpy(&words[s], source + s * sample_stride_B + at, texel_B);
        equal = equal && words[s] == words[0];
      }
      uint32_t result = equal ? words[0] : 0;
      for (int c = 0; c < 4 && !equal; ++c) {
        if (format.rgba[c].bits) result |= reduce_component(format, r.mode, words, r.samples, c) << format.rgba[c].shift;
      }
      // In tile memory a texel is a word whose high bits are zero.
      std::memcpy(out + at, &result, stride_B);
    }
  }
}

ReduceKind integer_kind(uint32_t bits, bool is_signed) {
  if (bits == 8) return is_signed ? ReduceKind::sint8 : ReduceKind::uint8;
  if (bits == 16) return is_signed ? ReduceKind::sint16 : ReduceKind::uint16;
  return is_signed ? ReduceKind::sint32 : ReduceKind::uint32;
}

ReduceKind kind_of(const vk::FormatInfo& format, VkImageAspectFlags aspect, bool words) {
  if (aspect & VK_IMAGE_ASPECT_STENCIL_BIT) return words ? ReduceKind::uint32 : ReduceKind::uint8;
  if (aspect & VK_IMAGE_ASPECT_DEPTH_BIT) {
    if (format.depth_bits == 32) return ReduceKind::float32;
    return words ? ReduceKind::unorm32 : ReduceKind::unorm16;
  }
  const uint32_t bits = format.rgba[0].bits;
  for (const vk::Component& c : format.rgba) {
    if (c.bits && (c.bits != bits || c.shift % bits)) return ReduceKind::texel;
  }
  if (bits != 8 && bits != 16 && bits != 32) return ReduceKind::texel;
  if (format.numeric == vk::Numeric::srgb && format.texel_B == 4) return ReduceKind::srgb8;  // alpha is the high byte in RGBA and BGRA
  switch (format.numeric) {
    case vk::Numeric::unorm:
      return bits == 8 ? ReduceKind::unorm8 : ReduceKind::unorm16;
    case vk::Numeric::snorm:
      return bits == 8 ? ReduceKind::snorm8 : ReduceKind::snorm16;
    case vk::Numeric::sfloat:
      return bits == 16 ? ReduceKind::half : ReduceKind::float32;
    case vk::Numeric::uint:
      return integer_kind(bits, false);
    case vk::Numeric::sint:
      return integer_kind(bits, true);
    default:
      return ReduceKind::texel;
  }
}

}  // namespace

Reducer make_reducer(const vk::FormatInfo& format, VkImageAspectFlags aspect, ReduceMode mode, uint32_t samples, bool words) {
  assert(samples >= 1 && samples <= 16 && (samples & (samples - 1)) == 0);
  Reducer reducer;
  reducer.format = &format;
  reducer.samples = samples;
  reducer.mode = mode;
  reducer.texel_stride_B = words ? 4 : format.texel_B;
  reducer.kind = kind_of(format, aspect, words);
  // Integers have no average; Vulkan takes sample zero.
  const bool averages = has_average(reducer.kind) || (reducer.kind == ReduceKind::texel && !format.is_integer());
  if (samples == 1 || mode == ReduceMode::sample_zero || (mode == ReduceMode::average && !averages)) reducer.kind = ReduceKind::copy;
  return reducer;
}

void reduce(const Reducer& r, const uint8_t* source, size_t sample_stride_B, size_t bytes, uint8_t* out) {
  assert(r.samples >= 1 && r.samples <= 16);
  assert(r.samples == 1 || sample_stride_B == 0 || sample_stride_B >= bytes);  // 0: every sample is the first one
  if (r.kind == ReduceKind::copy) {
    std::memcpy(out, source, bytes);
    return;
  }
  if (r.kind == ReduceKind::texel) return reduce_texels(r, source, sample_stride_B, bytes, out);
  assert(std::has_single_bit(r.samples) && r.samples <= kMaxSamples);
  const Samples in = {source, sample_stride_B, r.samples, static_cast<int>(std::bit_width(r.samples)) - 1};
  const size_t whole_B = bytes / kStep_B * kStep_B;
  reduce_elements(r, in, {whole_B, 0, 1}, out);
  const size_t rest_B = bytes - whole_B;
  if (rest_B == 0) return;
  alignas(32) uint8_t rest[kMaxSamples * kStep_B] = {}, result[kStep_B];
  for (uint32_t s = 0; s < r.samples; ++s) std::memcpy(rest + s * kStep_B, source + s * sample_stride_B + whole_B, rest_B);
  reduce_elements(r, {rest, kStep_B, r.samples, in.log2}, {kStep_B, 0, 1}, result);
  std::memcpy(out + whole_B, result, rest_B);
}

void reduce_pieces(const Reducer& r, const uint8_t* source, size_t sample_stride_B, size_t bytes, size_t piece_stride_B, uint32_t count,
                   uint8_t* out) {
  assert(bytes % 32 == 0 && (count <= 1 || piece_stride_B >= bytes));
  if (r.kind == ReduceKind::copy || r.kind == ReduceKind::texel) {
    for (uint32_t i = 0; i < count; ++i) reduce(r, source + i * piece_stride_B, sample_stride_B, bytes, out + i * bytes);
    return;
  }
  reduce_elements(r, {source, sample_stride_B, r.samples, static_cast<int>(std::bit_width(r.samples)) - 1}, {bytes, piece_stride_B, count},
                  out);
}

}  // namespace tilegpu::resolve
