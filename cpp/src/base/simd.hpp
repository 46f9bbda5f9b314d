// base/simd.hpp -- the core's vectors by width: 4 and 8 lanes of 32 bits as GCC vector types with the operations that the language has no
// word for (mask to bits, minimum and maximum with a stated NaN rule, rounding conversion); 16 lanes as AVX-512 intrinsics.
//
// In, out: registers; every operation is exact or IEEE-rounded per lane, so that the scalar form gives the same bits. The core is built for
// x86-64-v3, or aarch64 with NEON (base/intrinsics.hpp). What gains from AVX-512 exists a second time, marked TILEGPU_WIDE, with the same
// bits; a device of 16 lanes takes it where the machine has it, so that devices of 8 and 16 lanes test one against the other. A template
// that is always_inline serves both: the attribute of the function that it ends up in decides how its vectors are compiled.
//
// Lanes of a block are its pixels in tile order (quad-major); a 4x4 block is two vectors of eight: quads 0 and 1, quads 2 and 3.
// Source: GCC manual, "Vector Extensions", "x86 Function Attributes".
#pragma once

#include <cstdint>

#include "base/intrinsics.hpp"

namespace tilegpu {

typedef float f32x4 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef uint32_t u32x8 __attribute__((vector_size(32)));
typedef int64_t i64x8 __attribute__((vector_size(64)));

/// Whether a device of so many lanes runs the functions marked TILEGPU_WIDE.
inline bool wide_vectors(uint32_t lanes) {
  static const bool has = has_wide_vectors();
  return lanes == 16 && has;
}

inline constexpr i32x8 kIota8 = {0, 1, 2, 3, 4, 5, 6, 7};
inline f32x8 splat8(float v) { return f32x8{v, v, v, v, v, v, v, v}; }
inline i32x8 splat8(int32_t v) { return i32x8{v, v, v, v, v, v, v, v}; }

/// One bit a lane: its sign, or a mask's lane of all ones.
inline uint32_t sign_bits(i32x4 v) { return static_cast<uint32_t>(_mm_movemask_ps((__m128)v)); }
inline uint32_t sign_bits(i32x8 v) { return static_cast<uint32_t>(_mm256_movemask_ps((__m256)v)); }
inline uint32_t sign_bits(i64x8 v) { return sign_bits(__builtin_convertvector(v >> 63, i32x8)); }

inline i32x8 load8(const uint32_t* words) { return (i32x8)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)); }
inline i32x4 load4(const uint32_t* words) { return (i32x4)_mm_loadu_si128(reinterpret_cast<const __m128i*>(words)); }
inline f32x8 load8(const float* values) { return (f32x8)_mm256_loadu_ps(values); }
inline void store(float* values, f32x8 v) { _mm256_storeu_ps(values, (__m256)v); }
inline void store(int32_t* words, i32x8 v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), (__m256i)v); }
inline void store(uint32_t* words, i32x8 v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), (__m256i)v); }
inline void store(uint32_t* words, i32x4 v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(words), (__m128i)v); }

template <class V>
struct Lanes;
template <>
struct Lanes<i32x8> {
  using Float = f32x8;
  static i32x8 load(const uint32_t* words) { return load8(words); }
};
template <>
struct Lanes<i32x4> {
  using Float = f32x4;
  static i32x4 load(const uint32_t* words) { return load4(words); }
};

inline i32x8 select(i32x8 mask, i32x8 yes, i32x8 no) { return (i32x8)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)mask); }
inline i32x4 select(i32x4 mask, i32x4 yes, i32x4 no) { return (i32x4)_mm_blendv_epi8((__m128i)no, (__m128i)yes, (__m128i)mask); }

inline i32x8 maximum(i32x8 a, i32x8 b) { return (i32x8)_mm256_max_epi32((__m256i)a, (__m256i)b); }
inline i32x8 minimum(i32x8 a, i32x8 b) { return (i32x8)_mm256_min_epi32((__m256i)a, (__m256i)b); }
/// Of all lanes.
inline int32_t smallest(i32x8 v) {
  __m128i m = _mm_min_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
  m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0xb1));
  return _mm_cvtsi128_si32(m);
}
/// Both ends of all lanes of two vectors at once.
struct Ends {
  int32_t least, most;
};
inline Ends ends(i32x8 a, i32x8 b) {
  // The least is the complement of the most complement.
  const __m256i most = _mm256_max_epi32((__m256i)a, (__m256i)b), least = _mm256_max_epi32((__m256i)~a, (__m256i)~b);
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
  __m128i l = _mm_max_epi32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
  __m128i both = _mm_max_epi32(_mm_unpacklo_epi64(m, l), _mm_unpackhi_epi64(m, l));  // two of the most, two of the least
  both = _mm_max_epi32(both, _mm_shuffle_epi32(both, 0xb1));
  const int64_t pair = _mm_cvtsi128_si64(_mm_shuffle_epi32(both, 0x08));
  return {~static_cast<int32_t>(pair >> 32), static_cast<int32_t>(pair)};
}
inline int32_t largest(i32x8 v) {
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
  return _mm_cvtsi128_si32(m);
}

/// lo where z is NaN or below, hi where above; a zero that meets a zero bound takes the bound's sign.
inline f32x8 clamp(f32x8 z, float lo, float hi) {
  return (f32x8)_mm256_min_ps(_mm256_max_ps((__m256)z, _mm256_set1_ps(lo)), _mm256_set1_ps(hi));
}
inline f32x4 clamp(f32x4 z, float lo, float hi) { return (f32x4)_mm_min_ps(_mm_max_ps((__m128)z, _mm_set1_ps(lo)), _mm_set1_ps(hi)); }

/// To nearest even; out of range and NaN give INT32_MIN.
inline i32x8 round_to_int(f32x8 v) { return (i32x8)_mm256_cvtps_epi32((__m256)v); }
inline int32_t round_to_int(float v) { return _mm_cvtss_si32(_mm_set_ss(v)); }

/// round_to_even(z * scale), without double rounding.
inline i32x4 to_unorm(f32x4 z, double scale) {
  const __m256d wide = _mm256_mul_pd(_mm256_cvtps_pd((__m128)z), _mm256_set1_pd(scale));
  return (i32x4)_mm256_cvtpd_epi32(wide);
}
inline i32x8 to_unorm(f32x8 z, double scale) {
  const i32x4 low = to_unorm((f32x4)_mm256_castps256_ps128((__m256)z), scale);
  const i32x4 high = to_unorm((f32x4)_mm256_extractf128_ps((__m256)z, 1), scale);
  return (i32x8)_mm256_set_m128i((__m128i)high, (__m128i)low);
}

/// Bits 0..7 (0..3) of `bits` as lane masks.
inline i32x8 expand8(uint32_t bits) {
  const i32x8 place = {1, 2, 4, 8, 16, 32, 64, 128};
  const i32x8 all = {static_cast<int>(bits), static_cast<int>(bits), static_cast<int>(bits), static_cast<int>(bits),
                     static_cast<int>(bits), static_cast<int>(bits), static_cast<int>(bits), static_cast<int>(bits)};
  return (all & place) == place;
}
inline i32x4 expand4(uint32_t bits) {
  const i32x4 place = {1, 2, 4, 8};
  const i32x4 all = {static_cast<int>(bits), static_cast<int>(bits), static_cast<int>(bits), static_cast<int>(bits)};
  return (all & place) == place;
}

}  // namespace tilegpu
