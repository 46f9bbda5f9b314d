// raster/wide_tests.cpp -- see wide_tests.hpp.
#include "raster/wide_tests.hpp"

#include <bit>

#include "hsr/block_cover.hpp"
#include "raster/simd.hpp"
#include "raster/wide.hpp"

namespace tilegpu::raster {

namespace {

// Terms of the depth plane, as in depth_plane.hpp.
TILEGPU_WIDE inline __m512 term_x(const TriangleBatch& b, uint32_t lane, const float* x) {
  return _mm512_add_ps(_mm512_set1_ps(b.z0[lane]),
                       _mm512_mul_ps(_mm512_set1_ps(b.zx[lane]), _mm512_sub_ps(_mm512_load_ps(x), _mm512_set1_ps(b.anchor_x[lane]))));
}
TILEGPU_WIDE inline __m512 term_y(const TriangleBatch& b, uint32_t lane, const float* y) {
  return _mm512_mul_ps(_mm512_set1_ps(b.zy[lane]), _mm512_sub_ps(_mm512_load_ps(y), _mm512_set1_ps(b.anchor_y[lane])));
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

  TILEGPU_WIDE static TestedBlocks blocks(const TestState& state, const TriangleBatch& __restrict b, const CoveredBlocks& __restrict blocks,
                                          uint32_t first_number, const BinPlace& __restrict bin) {
    TestedBlocks done{0, 0, 0};
    for (uint32_t i = 0; i < blocks.count; i++) {
      const uint32_t lane = blocks.lane[i], x = blocks.x[i], y = blocks.y[i], covered = blocks.masks[i];
      const uint32_t block = y * bin.blocks_per_row + x;
      done.covered += static_cast<uint32_t>(std::popcount(covered));
      const size_t word = size_t{block} * 16;
      const __m512i old = _mm512_loadu_si512(state.depth + word);
      const __m512 z = _mm512_add_ps(term_x(b, lane, bin.x[x]), term_y(b, lane, bin.y[y]));
      __m512i after;
      const uint32_t pass = test(state, z, b.lo[lane], b.hi[lane], old, covered, after);
      if (!pass) continue;
      done.passed += static_cast<uint32_t>(std::popcount(pass));
      // Those that are seen are numbered in their order.
      const uint32_t number = first_number + static_cast<uint32_t>(std::popcount(done.seen & ((1u << lane) - 1)));
      done.seen |= 1u << lane;
      if constexpr (kWrite) _mm512_storeu_si512(state.depth + word, after);
      if constexpr (kBounds)
        if (state.far) state.stale->add(block);
      uint32_t* const ids = state.ids + word;
      _mm512_mask_storeu_epi32(ids, static_cast<__mmask16>(pass), _mm512_set1_epi32(static_cast<int32_t>(number)));
      state.dirty[block] = 1;
    }
    return done;
  }
};

template <VkCompareOp kOp>
WideBlocks choose(const TestState& state) {
  if (state.unorm) return state.depth_write ? WideKernel<kOp, true, true>::blocks : WideKernel<kOp, true, false>::blocks;
  return state.depth_write ? WideKernel<kOp, false, true>::blocks : WideKernel<kOp, false, false>::blocks;
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

}  // namespace tilegpu::raster
