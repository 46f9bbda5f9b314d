// resolve/mean.hpp -- the average of 8-bit UNORM samples with AVX-512, a word of 16 pixels (a block) at a time: of samples as they lie in
// tile memory, and of colours that hold several samples each, which are never made.
//
// In: samples, or colours and how many samples have them. Out: one sample; the same integers, and so the same bits, as average_unorm8 of
// reduce.cpp.
#pragma once

#include <bit>
#include <cstddef>

#include "base/simd.hpp"

#if TILEGPU_HAS_WIDE

namespace tilegpu::resolve {

/// Sixteen bits for each byte of a word of 16 pixels: those of the first two pixels of each quad, those of the others.
struct ByteSums {
  __m512i first, others;
};
TILEGPU_WIDE inline ByteSums widen_bytes(__m512i pixels) {
  const __m512i zero = _mm512_setzero_si512();
  return {_mm512_unpacklo_epi8(pixels, zero), _mm512_unpackhi_epi8(pixels, zero)};
}

/// Sums of the bytes of `kSamples` samples, rounded to nearest even.
template <uint32_t kSamples>
TILEGPU_WIDE inline __m512i mean_of_bytes(const ByteSums& sums) {
  static_assert(std::has_single_bit(kSamples) && kSamples >= 2 && kSamples <= 16);
  constexpr int kLog2 = std::bit_width(kSamples) - 1;
  const __m512i bias = _mm512_set1_epi16(static_cast<int16_t>(kSamples) / 2 - 1), one = _mm512_set1_epi16(1);
  const auto mean = [&](__m512i sum) TILEGPU_WIDE {
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(sum, kLog2), one);
    return _mm512_srli_epi16(_mm512_add_epi16(_mm512_add_epi16(sum, bias), odd), kLog2);
  };
  return _mm512_packus_epi16(mean(sums.first), mean(sums.others));
}

/// Of samples that are sample_B apart; `first` is the first of them, loaded already.
template <uint32_t kSamples>
TILEGPU_WIDE inline __m512i mean_of_samples(__m512i first, const uint8_t* words, size_t sample_B) {
  ByteSums sum = widen_bytes(first);
  for (uint32_t s = 1; s < kSamples; ++s) {
    const ByteSums more = widen_bytes(_mm512_load_si512(words + s * sample_B));
    sum.first = _mm512_add_epi16(sum.first, more.first);
    sum.others = _mm512_add_epi16(sum.others, more.others);
  }
  return mean_of_bytes<kSamples>(sum);
}

/// The mean of a block that begins as all samples of a background, of which colours replace a share each.
template <uint32_t kSamples>
class SharedMean {
 public:
  /// `begins`: all ones for the first colour of a block, else none; `background`: of that block. `samples`: how many of each pixel have the
  /// colour, in 32 bits. Returns the mean so far.
  TILEGPU_WIDE __m512i add(__mmask32 begins, __m512i background, __m512i color, __m512i samples) {
    constexpr int kLog2 = std::bit_width(kSamples) - 1;
    // A pixel's count to its four components: of the first two pixels of a quad, of the others.
    const __m512i first_pixels = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 4, 5, 4, 5, 4, 5, 4, 5));
    const __m512i last_pixels = _mm512_broadcast_i32x4(_mm_setr_epi8(8, 9, 8, 9, 8, 9, 8, 9, 12, 13, 12, 13, 12, 13, 12, 13));
    const ByteSums old = widen_bytes(background), now = widen_bytes(color);
    const auto exchange = [&](__m512i& behind, __m512i& sum, __m512i before, __m512i after, __m512i share) TILEGPU_WIDE {
      behind = _mm512_mask_mov_epi16(behind, begins, before);
      sum = _mm512_mask_slli_epi16(sum, begins, before, kLog2);
      sum = _mm512_add_epi16(sum, _mm512_mullo_epi16(share, _mm512_sub_epi16(after, behind)));
    };
    exchange(background_.first, sum_.first, old.first, now.first, _mm512_shuffle_epi8(samples, first_pixels));
    exchange(background_.others, sum_.others, old.others, now.others, _mm512_shuffle_epi8(samples, last_pixels));
    return mean_of_bytes<kSamples>(sum_);
  }

 private:
  ByteSums background_{}, sum_{};
};

}  // namespace tilegpu::resolve

#endif
