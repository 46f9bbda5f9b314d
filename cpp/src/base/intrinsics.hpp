// base/intrinsics.hpp -- the vector instructions that the core is written in, on either processor: the one place that asks which it is.
//
// In, out: registers. On x86-64 Intel's own header. On aarch64 the same names from SIMDe, which makes each of NEON's instructions with the
// same bits (NaN, out of range and signed zeros as on x86; cpp/tests/test_intrinsics.cpp holds them to what x86 gives), and here what it
// lacks. There is no AVX-512 there: what is marked TILEGPU_WIDE exists a second time in narrower vectors anyway. Source: Intel Intrinsics
// Guide; SIMDe 0.7.4; Arm Architecture Reference Manual, FPCR.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)

#include <immintrin.h>

#define TILEGPU_HAS_WIDE 1
#define TILEGPU_WIDE __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))

namespace tilegpu {

/// Whether this CPU runs what is marked TILEGPU_WIDE.
inline bool has_wide_vectors() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// Waits a moment in a loop that asks again.
inline void spin_pause() { _mm_pause(); }

/// `count` words, by the processor's own fill.
inline void fill_words(uint8_t* out, uint64_t word, size_t count) {
  asm volatile("rep stosq" : "+D"(out), "+c"(count) : "a"(word) : "memory");
}

/// The register that says how floats are calculated; the value that rounds to nearest even, keeps denormals and traps nothing.
using FloatControl = uint32_t;
inline constexpr FloatControl kDefaultFloatControl = 0x1f80;
inline FloatControl float_control() { return _mm_getcsr(); }
inline void set_float_control(FloatControl control) { _mm_setcsr(control); }

}  // namespace tilegpu

#elif defined(__aarch64__)

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/fma.h>

#include <bit>
#include <cstring>

#ifndef _MM_FROUND_NO_EXC
#define _MM_FROUND_TO_NEAREST_INT SIMDE_MM_FROUND_TO_NEAREST_INT
#define _MM_FROUND_NO_EXC SIMDE_MM_FROUND_NO_EXC
#endif

#define TILEGPU_HAS_WIDE 0

namespace tilegpu {

inline bool has_wide_vectors() { return false; }
/// What stands for a function marked TILEGPU_WIDE that has no narrower one of the same form: nobody is to come there.
[[noreturn]] inline void no_wide_vectors() { __builtin_trap(); }

inline void spin_pause() { asm volatile("yield" ::: "memory"); }

inline void fill_words(uint8_t* out, uint64_t word, size_t count) {
  for (size_t i = 0; i < count; ++i) std::memcpy(out + i * sizeof word, &word, sizeof word);
}

using FloatControl = uint64_t;
inline constexpr FloatControl kDefaultFloatControl = 0;
inline FloatControl float_control() {
  FloatControl control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void set_float_control(FloatControl control) { asm volatile("msr fpcr, %0" : : "r"(control) : "memory"); }

}  // namespace tilegpu

// Names of the language's implementation, as SIMDe's aliases are: code is written once.
inline uint64_t _pdep_u64(uint64_t bits, uint64_t mask) {
  uint64_t result = 0;
  for (; mask; mask &= mask - 1, bits >>= 1) result |= (mask & (0 - mask)) & (0 - (bits & 1));
  return result;
}
inline uint64_t _pext_u64(uint64_t bits, uint64_t mask) {
  uint64_t result = 0;
  for (uint32_t k = 0; mask; mask &= mask - 1, ++k) result |= uint64_t{(bits & mask & (0 - mask)) != 0} << k;
  return result;
}

// Halves: the processor's own conversion; SIMDe goes by integers. Rounded to nearest even, the one way that is asked for.
inline float _cvtsh_ss(uint16_t bits) { return static_cast<float>(std::bit_cast<__fp16>(bits)); }
inline uint16_t _cvtss_sh(float value, int) { return std::bit_cast<uint16_t>(static_cast<__fp16>(value)); }
inline __m256 _mm256_cvtph_ps(__m128i halves) {
  const float16x8_t h = vreinterpretq_f16_s64(halves);
  return _mm256_set_m128(vcvt_high_f32_f16(h), vcvt_f32_f16(vget_low_f16(h)));
}
inline __m128i _mm256_cvtps_ph(__m256 values, int) {
  return vreinterpretq_s64_f16(vcvt_high_f16_f32(vcvt_f16_f32(_mm256_extractf128_ps(values, 0)), _mm256_extractf128_ps(values, 1)));
}

// Conversions to integers: what none can hold becomes the least one, NaN too; NEON's saturate. SIMDe leaves that open.
#undef _mm256_cvtps_epi32
#undef _mm256_cvttps_epi32
#undef _mm256_cvtpd_epi32
#undef _mm_cvtss_si32
#undef _mm_cvtsd_si64
namespace tilegpu::neon {
inline int32x4_t or_least(int32x4_t converted, float32x4_t from) {
  return vbslq_s32(vcltq_f32(from, vdupq_n_f32(0x1p31f)), converted, vdupq_n_s32(INT32_MIN));
}
inline __m256i joined(int32x4_t low, int32x4_t high) { return _mm256_set_m128i(vreinterpretq_s64_s32(high), vreinterpretq_s64_s32(low)); }
inline int32x2_t rounded(float64x2_t from) {
  const int64x2_t whole = vcvtnq_s64_f64(from);
  const int32x2_t narrow = vmovn_s64(whole);
  const uint64x2_t fits = vandq_u64(vceqq_s64(vmovl_s32(narrow), whole), vceqq_f64(from, from));
  return vbsl_s32(vmovn_u64(fits), narrow, vdup_n_s32(INT32_MIN));
}
}  // namespace tilegpu::neon
inline __m256i _mm256_cvtps_epi32(__m256 v) {
  const float32x4_t low = _mm256_extractf128_ps(v, 0), high = _mm256_extractf128_ps(v, 1);
  return tilegpu::neon::joined(tilegpu::neon::or_least(vcvtnq_s32_f32(low), low), tilegpu::neon::or_least(vcvtnq_s32_f32(high), high));
}
inline __m256i _mm256_cvttps_epi32(__m256 v) {
  const float32x4_t low = _mm256_extractf128_ps(v, 0), high = _mm256_extractf128_ps(v, 1);
  return tilegpu::neon::joined(tilegpu::neon::or_least(vcvtq_s32_f32(low), low), tilegpu::neon::or_least(vcvtq_s32_f32(high), high));
}
inline __m128i _mm256_cvtpd_epi32(__m256d v) {
  const float64x2_t low = _mm256_extractf128_pd(v, 0), high = _mm256_extractf128_pd(v, 1);
  return vreinterpretq_s64_s32(vcombine_s32(tilegpu::neon::rounded(low), tilegpu::neon::rounded(high)));
}
inline int32_t _mm_cvtss_si32(__m128 v) {
  const float x = vgetq_lane_f32(v, 0);
  return x < 0x1p31f ? vcvtns_s32_f32(x) : INT32_MIN;
}
inline int64_t _mm_cvtsd_si64(__m128d v) {
  const double x = vgetq_lane_f64(v, 0);
  return x < 0x1p63 ? vcvtnd_s64_f64(x) : INT64_MIN;
}

#else
#error "tilegpu is for x86-64 (v3 and up) and aarch64"
#endif
