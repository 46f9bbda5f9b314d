// base/simd_geometry.hpp -- eight-lane vectors of the geometry phase: GCC vector extensions, and the few operations that they lack.
//
// The baseline is x86-64-v3. Every operation is exact or IEEE-rounded per lane, so the scalar form gives the same bits.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace tilegpu {

using Float8 = float __attribute__((vector_size(32)));
using Int8 = int32_t __attribute__((vector_size(32)));
using Uint8 = uint32_t __attribute__((vector_size(32)));
using Int4 = int32_t __attribute__((vector_size(16)));

inline constexpr Int8 kIota8 = {0, 1, 2, 3, 4, 5, 6, 7};

inline Float8 splat8(float v) { return Float8{v, v, v, v, v, v, v, v}; }
inline Int8 splat8(int32_t v) { return Int8{v, v, v, v, v, v, v, v}; }

inline Float8 load8(const float* p) { return reinterpret_cast<Float8>(_mm256_loadu_ps(p)); }
inline void store8(int32_t* p, Int8 v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), reinterpret_cast<__m256i>(v)); }
inline void store8(uint32_t* p, Int8 v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), reinterpret_cast<__m256i>(v)); }
inline void store8(float* p, Float8 v) { _mm256_storeu_ps(p, reinterpret_cast<__m256>(v)); }

inline Int8 min8(Int8 a, Int8 b) {
  return reinterpret_cast<Int8>(_mm256_min_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
inline Int8 max8(Int8 a, Int8 b) {
  return reinterpret_cast<Int8>(_mm256_max_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

/// Round to nearest even; out of range and NaN give INT32_MIN.
inline Int8 round_to_int8(Float8 v) { return reinterpret_cast<Int8>(_mm256_cvtps_epi32(reinterpret_cast<__m256>(v))); }
inline int32_t round_to_int(float v) { return _mm_cvtss_si32(_mm_set_ss(v)); }

/// One bit a lane from lanes of all ones or all zeros.
inline uint32_t mask_bits8(Int8 mask) { return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask))); }

/// Sign of the 64-bit value a*b - c*d in each lane: `positive` and `negative` get all ones. Exact for |operand| < 2^31 as long
/// as the difference fits in 64 bits.
inline void sign_of_cross8(Int8 a8, Int8 b8, Int8 c8, Int8 d8, Int8* positive, Int8* negative) {
  const auto a = reinterpret_cast<__m256i>(a8), b = reinterpret_cast<__m256i>(b8);
  const auto c = reinterpret_cast<__m256i>(c8), d = reinterpret_cast<__m256i>(d8);
  const __m256i even = _mm256_sub_epi64(_mm256_mul_epi32(a, b), _mm256_mul_epi32(c, d));
  const __m256i odd = _mm256_sub_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)),
                                       _mm256_mul_epi32(_mm256_srli_epi64(c, 32), _mm256_srli_epi64(d, 32)));
  const __m256i zero = _mm256_setzero_si256();
  *positive = reinterpret_cast<Int8>(_mm256_blend_epi32(_mm256_cmpgt_epi64(even, zero), _mm256_cmpgt_epi64(odd, zero), 0xaa));
  *negative = reinterpret_cast<Int8>(_mm256_blend_epi32(_mm256_cmpgt_epi64(zero, even), _mm256_cmpgt_epi64(zero, odd), 0xaa));
}

inline Int8 pick8(Int8 mask, Int8 a, Int8 b) { return (mask & a) | (~mask & b); }

/// Lane i of x and y is the pair at base + 16 * slot[i] bytes.
inline void gather_pairs8(const void* base, const int32_t* slot, Int8* x, Int8* y) {
  const auto pair = [&](int i) {
    const char* b = static_cast<const char*>(base);
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b + 16 * slot[i]));
    return _mm_loadh_pi(_mm_castsi128_ps(low), reinterpret_cast<const __m64*>(b + 16 * slot[i + 1]));
  };
  const __m256 p = _mm256_insertf128_ps(_mm256_castps128_ps256(pair(0)), pair(4), 1);
  const __m256 q = _mm256_insertf128_ps(_mm256_castps128_ps256(pair(2)), pair(6), 1);
  *x = reinterpret_cast<Int8>(_mm256_shuffle_ps(p, q, 0x88));
  *y = reinterpret_cast<Int8>(_mm256_shuffle_ps(p, q, 0xdd));
}

/// Eight rows {x, y, z, q} from four columns.
inline void store_rows8(void* rows, Int8 x, Int8 y, Float8 z, Float8 q) {
  const auto xf = reinterpret_cast<__m256>(x), yf = reinterpret_cast<__m256>(y);
  const auto zf = reinterpret_cast<__m256>(z), qf = reinterpret_cast<__m256>(q);
  const __m256 xy_low = _mm256_unpacklo_ps(xf, yf), xy_high = _mm256_unpackhi_ps(xf, yf);
  const __m256 zq_low = _mm256_unpacklo_ps(zf, qf), zq_high = _mm256_unpackhi_ps(zf, qf);
  const __m256 r04 = _mm256_shuffle_ps(xy_low, zq_low, 0x44), r15 = _mm256_shuffle_ps(xy_low, zq_low, 0xee);
  const __m256 r26 = _mm256_shuffle_ps(xy_high, zq_high, 0x44), r37 = _mm256_shuffle_ps(xy_high, zq_high, 0xee);
  float* out = static_cast<float*>(rows);
  _mm256_storeu_ps(out, _mm256_permute2f128_ps(r04, r15, 0x20));
  _mm256_storeu_ps(out + 8, _mm256_permute2f128_ps(r26, r37, 0x20));
  _mm256_storeu_ps(out + 16, _mm256_permute2f128_ps(r04, r15, 0x31));
  _mm256_storeu_ps(out + 24, _mm256_permute2f128_ps(r26, r37, 0x31));
}

/// Rows v0, v1, v2 = {x, y, z, q} become {x0 x1 x2 y0}, {y1 y2 z0 z1}, {z2 q0 q1 q2}: the head of a TriangleRecord.
inline void store_transposed3(void* record, const void* row0, const void* row1, const void* row2) {
  const __m128 a = _mm_load_ps(static_cast<const float*>(row0)), b = _mm_load_ps(static_cast<const float*>(row1));
  const __m128 c = _mm_load_ps(static_cast<const float*>(row2));
  const __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);  // x0 x1 y0 y1, z0 z1 q0 q1
  const __m128 x2_y0 = _mm_shuffle_ps(c, low, _MM_SHUFFLE(2, 2, 0, 0));
  const __m128 y1_y2 = _mm_shuffle_ps(low, c, _MM_SHUFFLE(1, 1, 3, 3));
  const __m128 z2_q0 = _mm_shuffle_ps(c, high, _MM_SHUFFLE(2, 2, 2, 2));
  const __m128 q1_q2 = _mm_shuffle_ps(high, c, _MM_SHUFFLE(3, 3, 3, 3));
  float* out = static_cast<float*>(record);
  _mm_storeu_ps(out, _mm_shuffle_ps(low, x2_y0, _MM_SHUFFLE(2, 0, 1, 0)));
  _mm_storeu_ps(out + 4, _mm_shuffle_ps(y1_y2, high, _MM_SHUFFLE(1, 0, 2, 0)));
  _mm_storeu_ps(out + 8, _mm_shuffle_ps(z2_q0, q1_q2, _MM_SHUFFLE(2, 0, 2, 0)));
}

}  // namespace tilegpu
