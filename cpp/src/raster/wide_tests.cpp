// raster/wide_tests.cpp -- see wide_tests.hpp.
#include "raster/wide_tests.hpp"

#include <bit>

#include "hsr/block_cover.hpp"
#include "raster/simd.hpp"
#include "raster/wide.hpp"

namespace tilegpu::raster {

namespace {

// Of a block's pixels in tile order.
alignas(64) constexpr float kX[16] = {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3};
alignas(64) constexpr float kY[16] = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};
// Pairs (x, y) of 16 bits, in subpixels.
alignas(64) constexpr int16_t kPairs[32] = {0, 0,   256, 0,   0, 256, 256, 256, 512, 0,   768, 0,   512, 256, 768, 256,
                                            0, 512, 256, 512, 0, 768, 256, 768, 512, 512, 768, 512, 512, 768, 768, 768};

struct Edges {
  __m512i at[3];
};
TILEGPU_WIDE inline Edges load_edges(const TriangleBatch& b, uint32_t lane) {
  const __m512i pairs = _mm512_load_si512(kPairs);
  Edges e;
  for (int k = 0; k < 3; k++)
    e.at[k] = _mm512_add_epi32(_mm512_madd_epi16(pairs, _mm512_set1_epi32(b.pair[k][lane])), _mm512_set1_epi32(b.at[k][lane]));
  return e;
}
TILEGPU_WIDE inline uint32_t covered_by(const Edges& e) {
  return static_cast<uint16_t>(~_mm512_movepi32_mask(_mm512_ternarylogic_epi32(e.at[0], e.at[1], e.at[2], 0xfe)));
}

// Terms of the depth plane, as in depth_plane.hpp.
TILEGPU_WIDE inline __m512 term_x(const TriangleBatch& b, uint32_t lane, int32_t x_px) {
  const __m512 x = _mm512_add_ps(_mm512_load_ps(kX), _mm512_set1_ps(static_cast<float>(x_px) + 0.5f));
  return _mm512_add_ps(_mm512_set1_ps(b.z0[lane]),
                       _mm512_mul_ps(_mm512_set1_ps(b.zx[lane]), _mm512_sub_ps(x, _mm512_set1_ps(b.anchor_x[lane]))));
}
TILEGPU_WIDE inline __m512 term_y(const TriangleBatch& b, uint32_t lane, int32_t y_px) {
  const __m512 y = _mm512_add_ps(_mm512_load_ps(kY), _mm512_set1_ps(static_cast<float>(y_px) + 0.5f));
  return _mm512_mul_ps(_mm512_set1_ps(b.zy[lane]), _mm512_sub_ps(y, _mm512_set1_ps(b.anchor_y[lane])));
}

template <VkCompareOp kOp, bool kUnorm, bool kWrite>
struct WideKernel {
  static constexpr bool kBounds = kWrite && (kOp == VK_COMPARE_OP_LESS || kOp == VK_COMPARE_OP_LESS_OR_EQUAL);
  static constexpr int kFloatOp = kOp == VK_COMPARE_OP_LESS            ? _CMP_LT_OS
                                  : kOp == VK_COMPARE_OP_LESS_OR_EQUAL ? _CMP_LE_OS
                                  : kOp == VK_COMPARE_OP_GREATER       ? _CMP_GT_OS
                                                                       : _CMP_GE_OS;
  static constexpr int kWordOp = kOp == VK_COMPARE_OP_LESS            ? _MM_CMPINT_LT
                                 : kOp == VK_COMPARE_OP_LESS_OR_EQUAL ? _MM_CMPINT_LE
                                 : kOp == VK_COMPARE_OP_GREATER       ? _MM_CMPINT_NLE
                                                                      : _MM_CMPINT_NLT;

  // Depth words of pixels, clamped; compares and returns what passes of `covered`; `after`: words to store.
  TILEGPU_WIDE static inline uint32_t test(const TestState& state, __m512 z, float lo, float hi, __m512i old, uint32_t covered,
                                           __m512i& after) {
    z = _mm512_min_ps(_mm512_max_ps(z, _mm512_set1_ps(lo)), _mm512_set1_ps(hi));
    const __mmask16 mask = static_cast<__mmask16>(covered);
    if constexpr (kUnorm) {
      const __m512d scale = _mm512_set1_pd(state.unorm_scale);
      const __m256i low = _mm512_cvtpd_epi32(_mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(z)), scale));
      const __m256i high = _mm512_cvtpd_epi32(_mm512_mul_pd(_mm512_cvtps_pd(_mm512_extractf32x8_ps(z, 1)), scale));
      const __m512i now = _mm512_inserti32x8(_mm512_castsi256_si512(low), high, 1);
      const __mmask16 pass = _mm512_mask_cmp_epi32_mask(mask, now, old, kWordOp);
      after = _mm512_mask_mov_epi32(old, pass, now);
      return pass;
    } else {
      const __mmask16 pass = _mm512_mask_cmp_ps_mask(mask, z, _mm512_castsi512_ps(old), kFloatOp);
      after = _mm512_mask_mov_epi32(old, pass, _mm512_castps_si512(z));
      return pass;
    }
  }

  TILEGPU_WIDE static PixelCounts blocks(const TestState& state, const TriangleBatch& b, uint32_t lane, uint32_t id, const BinPlace& bin) {
    const bool cut = b.cut >> lane & 1;
    const int32_t x0 = b.window_x[lane], y0 = b.window_y[lane], x1 = b.end_x[lane], y1 = b.end_y[lane];
    Edges row = load_edges(b, lane);
    __m512i step_x[3], step_y[3];
    for (int k = 0; k < 3; k++) {
      const int32_t pair = b.pair[k][lane];
      step_x[k] = _mm512_set1_epi32(static_cast<int16_t>(pair) * 1024);
      step_y[k] = _mm512_set1_epi32((pair >> 16) * 1024);
    }
    const __m512i number = _mm512_set1_epi32(static_cast<int32_t>(id));
    PixelCounts counts{0, 0};
    for (int32_t y = y0; y < y1; y += 4) {
      const __m512 by_y = term_y(b, lane, bin.origin_y_px + y);
      uint32_t block = static_cast<uint32_t>(y >> 2) * bin.blocks_per_row + static_cast<uint32_t>(x0 >> 2);
      Edges edges = row;
      for (int32_t x = x0; x < x1; x += 4, block++) {
        uint32_t covered = covered_by(edges);
        for (int k = 0; k < 3; k++) edges.at[k] = _mm512_add_epi32(edges.at[k], step_x[k]);
        if (cut) covered &= detail::rect_bits(bin.rect, x, y);
        if (!covered) continue;
        counts.covered += static_cast<uint32_t>(std::popcount(covered));
        const size_t word = size_t{block} * 16;
        const __m512i old = _mm512_loadu_si512(state.depth + word);
        const __m512 z = _mm512_add_ps(term_x(b, lane, bin.origin_x_px + x), by_y);
        __m512i after;
        const uint32_t pass = test(state, z, b.lo[lane], b.hi[lane], old, covered, after);
        if (!pass) continue;
        counts.passed += static_cast<uint32_t>(std::popcount(pass));
        if constexpr (kWrite) _mm512_storeu_si512(state.depth + word, after);
        if constexpr (kBounds)
          if (state.far) {
            const Ends both = ends((i32x8)_mm512_castsi512_si256(after), (i32x8)_mm512_extracti32x8_epi32(after, 1));
            if (state.near) state.near[block] = both.least;
            state.far[block] = both.most;
          }
        uint32_t* const ids = state.ids + word;
        _mm512_storeu_si512(ids, _mm512_mask_mov_epi32(_mm512_loadu_si512(ids), static_cast<__mmask16>(pass), number));
        state.dirty[block] = 1;
      }
      for (int k = 0; k < 3; k++) row.at[k] = _mm512_add_epi32(row.at[k], step_y[k]);
    }
    return counts;
  }
};

template <VkCompareOp kOp>
WideBlocks choose(const TestState& state) {
  if (state.unorm) return state.depth_write ? WideKernel<kOp, true, true>::blocks : WideKernel<kOp, true, false>::blocks;
  return state.depth_write ? WideKernel<kOp, false, true>::blocks : WideKernel<kOp, false, false>::blocks;
}

template <uint32_t kSamples>
struct SamplePairs {
  alignas(64) int16_t at[32] = {};  // (x, y) in subpixels
  constexpr SamplePairs() {
    for (uint32_t s = 0; s < kSamples; s++) {
      at[2 * s] = static_cast<int16_t>(vk::sample_locations(kSamples)[s].x * 16);
      at[2 * s + 1] = static_cast<int16_t>(vk::sample_locations(kSamples)[s].y * 16);
    }
  }
};

template <uint32_t kSamples>
TILEGPU_WIDE uint32_t cover_samples(const TriangleBatch& b, uint32_t lane, const PixelRect& rect, CoveredBlock* out) {
  static constexpr SamplePairs<kSamples> kSamplePairs;
  constexpr uint32_t kInWord = kSamples < 4 ? kSamples : 4;
  const bool cut = b.cut >> lane & 1;
  const int32_t x0 = b.window_x[lane], y0 = b.window_y[lane], x1 = b.end_x[lane], y1 = b.end_y[lane];
  Edges row = load_edges(b, lane);
  __m512i step_x[3], step_y[3];
  alignas(64) int32_t offsets[3][16];
  for (int k = 0; k < 3; k++) {
    const int32_t pair = b.pair[k][lane];
    step_x[k] = _mm512_set1_epi32(static_cast<int16_t>(pair) * 1024);
    step_y[k] = _mm512_set1_epi32((pair >> 16) * 1024);
    _mm512_store_si512(offsets[k], _mm512_madd_epi16(_mm512_load_si512(kSamplePairs.at), _mm512_set1_epi32(pair)));
  }
  uint32_t count = 0;
  for (int32_t y = y0; y < y1; y += 4) {
    Edges edges = row;
    for (int32_t x = x0; x < x1; x += 4) {
      const uint64_t allowed = (cut ? detail::rect_bits(rect, x, y) : 0xffff) * 0x0001000100010001u;
      uint64_t words[4] = {}, any = 0;
      for (uint32_t s = 0; s < kSamples; s += kInWord) {
        uint64_t word = 0;
        for (uint32_t i = 0; i < kInWord; i++) {
          Edges at;
          for (int k = 0; k < 3; k++) at.at[k] = _mm512_add_epi32(edges.at[k], _mm512_set1_epi32(offsets[k][s + i]));
          word |= uint64_t{covered_by(at)} << 16 * i;
        }
        any |= words[s / 4] = word & allowed;
      }
      for (int k = 0; k < 3; k++) edges.at[k] = _mm512_add_epi32(edges.at[k], step_x[k]);
      CoveredBlock& block = out[count];
      const auto half = [&](int i)
                            TILEGPU_WIDE { return _mm_set_epi64x(static_cast<int64_t>(words[i + 1]), static_cast<int64_t>(words[i])); };
      _mm256_store_si256(reinterpret_cast<__m256i*>(block.masks),
                         kSamples > 8 ? _mm256_set_m128i(half(2), half(0)) : _mm256_zextsi128_si256(half(0)));
      block.x = x >> 2;
      block.y = y >> 2;
      count += any != 0;
    }
    for (int k = 0; k < 3; k++) row.at[k] = _mm512_add_epi32(row.at[k], step_y[k]);
  }
  return count;
}

}  // namespace

WideBlocks wide_blocks(const TestState& state) {
  if (!state.ids || !state.depth || !state.depth_test || state.bounds_test || state.stencil_test || state.filter || state.samples > 1)
    return nullptr;
  switch (state.compare) {
    case VK_COMPARE_OP_LESS:
      return choose<VK_COMPARE_OP_LESS>(state);
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      return choose<VK_COMPARE_OP_LESS_OR_EQUAL>(state);
    case VK_COMPARE_OP_GREATER:
      return choose<VK_COMPARE_OP_GREATER>(state);
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return choose<VK_COMPARE_OP_GREATER_OR_EQUAL>(state);
    default:
      return nullptr;
  }
}

uint32_t cover_samples_wide(const TriangleBatch& b, uint32_t lane, uint32_t samples, const PixelRect& rect, CoveredBlock* out) {
  switch (samples) {
    case 2:
      return cover_samples<2>(b, lane, rect, out);
    case 4:
      return cover_samples<4>(b, lane, rect, out);
    case 8:
      return cover_samples<8>(b, lane, rect, out);
    default:
      return cover_samples<16>(b, lane, rect, out);
  }
}

}  // namespace tilegpu::raster
