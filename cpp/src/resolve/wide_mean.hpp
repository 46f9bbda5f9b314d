// resolve/wide_mean.hpp -- the average of 8-bit UNORM samples, from their sums, with AVX-512.
#pragma once

#include <bit>

#include "base/simd.hpp"

namespace tilegpu::resolve {

/// Sums of the bytes of `kSamples` samples, those of _mm512_unpacklo_epi8 and _mm512_unpackhi_epi8, rounded to nearest even as in
/// resolve/reduce.cpp.
template <uint32_t kSamples>
TILEGPU_WIDE inline __m512i mean_of_bytes(__m512i low, __m512i high) {
  constexpr int kLog2 = std::bit_width(kSamples) - 1;
  const __m512i bias = _mm512_set1_epi16(static_cast<int16_t>(kSamples) / 2 - 1), one = _mm512_set1_epi16(1);
  const auto mean = [&](__m512i sum) TILEGPU_WIDE {
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(sum, kLog2), one);
    return _mm512_srli_epi16(_mm512_add_epi16(_mm512_add_epi16(sum, bias), odd), kLog2);
  };
  return _mm512_packus_epi16(mean(low), mean(high));
}

}  // namespace tilegpu::resolve
