// tile/depth_stencil/batch_tests.cpp -- see batch_tests.hpp.
#include "tile/depth_stencil/batch_tests.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/simd.hpp"

namespace tilegpu::tile {

#if TILEGPU_HAS_WIDE
namespace {

// Blocks that are looked at together: `columns` side by side, `groups` vectors of sixteen.
template <uint32_t kColumns, uint32_t kGroups>
struct Shape {
  static constexpr uint32_t kRows = kGroups * 16 / kColumns, kShift = kColumns == 4 ? 2 : kColumns == 8 ? 3 : 4;
  alignas(64) uint32_t steps[kGroups][16] = {};  // of each block from the first one, pairs of 16 bits
  constexpr Shape() {
    for (uint32_t i = 0; i < kGroups * 16; i++) steps[i / 16][i % 16] = i % kColumns * 1024 | i / kColumns * 1024 << 16;
  }
};
template <uint32_t kColumns, uint32_t kGroups>
constexpr Shape<kColumns, kGroups> kShape;

// Windows of 1 to 4 by 1 to 4 blocks.
struct PresentBlocks {
  uint16_t at[4][4] = {};  // [rows - 1][columns - 1]
  constexpr PresentBlocks() {
    for (uint32_t i = 0; i < 16; i++) at[i / 4][i % 4] = static_cast<uint16_t>(((2u << i % 4) - 1) * 0x1111u & ((16u << i / 4 * 4) - 1));
  }
};
constexpr PresentBlocks kPresent;

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

  // What stays the same for a batch.
  struct Batch {
    const TestState& state;
    const TriangleBatch& triangles;
    const BinPlace& bin;
    const HeldBlocks& held;
    uint8_t* stale;
    alignas(32) int32_t reach[3][8];  // how far a block's sample points lie inside of each edge at most, from its first one
  };

  // One triangle, not small, in `columns` (at most kColumns) by `rows` blocks from (block_x, block_y) on, `from_x` subpixels from its
  // window's left.
  template <uint32_t kColumns, uint32_t kGroups, bool kCut>
  TILEGPU_WIDE static inline __attribute__((always_inline)) void draw(const Batch& batch, uint32_t lane, uint32_t number, uint32_t block_x,
                                                                      uint32_t block_y, uint32_t columns, uint32_t rows, int32_t from_x,
                                                                      TestedBlocks& done) {
    using S = Shape<kColumns, kGroups>;
    const TriangleBatch& b = batch.triangles;
    assert(columns >= 1 && columns <= kColumns && rows >= 1 && block_y + rows <= batch.bin.blocks_per_row);
    const BinPlace& bin = batch.bin;
    __m512i pair[3], first[3], reach[3];
    for (int k = 0; k < 3; k++) {
      pair[k] = _mm512_set1_epi32(b.pair[k][lane]);
      first[k] = _mm512_set1_epi32(b.at[k][lane]);
      reach[k] = _mm512_set1_epi32(batch.reach[k][lane]);
    }
    alignas(64) int32_t at[3][kGroups * 16];
    alignas(64) float terms_x[kColumns][16], terms_y[S::kRows][16];
    const auto set_columns = [&](uint32_t from, uint32_t end) TILEGPU_WIDE {
      for (uint32_t c = from; c < end; c++) _mm512_store_ps(terms_x[c], term_x(b, lane, bin.x[block_x + c]));
    };
    set_columns(0, std::min(kColumns, 12u));
    if (kColumns > 12 && columns > 12) set_columns(12, kColumns);
    __m512i pixels[3];
    for (int k = 0; k < 3; k++) pixels[k] = _mm512_madd_epi16(_mm512_load_si512(kBlockPixels), pair[k]);
    const __m512i name = _mm512_set1_epi32(static_cast<int32_t>(number));
    const float lo = b.lo[lane], hi = b.hi[lane];
    constexpr uint64_t kEachRow = kColumns == 4 ? 0x1111111111111111u : kColumns == 8 ? 0x0101010101010101u : 0x0001000100010001u;
    const uint64_t in_columns = ((2u << (columns - 1)) - 1) * kEachRow;
    const uint32_t next_row = bin.blocks_per_row - kColumns;
    uint32_t *const depth = batch.state.depth, *const ids = batch.state.ids;
    uint8_t *const dirty = batch.state.dirty, *const stale = batch.stale;
    uint32_t covered_count = 0, passed_count = 0;
    for (uint32_t row = 0;; row += S::kRows) {
      uint64_t live = 0;
      const __m512i origin = _mm512_set1_epi32(from_x | static_cast<int32_t>(row) << 26);
      for (uint32_t g = 0; g < kGroups; g++) {
        const __m512i steps = _mm512_add_epi16(_mm512_load_si512(kShape<kColumns, kGroups>.steps[g]), origin);
        __m512i best[3];
        for (int k = 0; k < 3; k++) {
          const __m512i edge = _mm512_add_epi32(_mm512_madd_epi16(steps, pair[k]), first[k]);
          _mm512_store_si512(at[k] + 16 * g, edge);
          best[k] = _mm512_add_epi32(edge, reach[k]);
        }
        const __m512i outside = _mm512_ternarylogic_epi32(best[0], best[1], best[2], 0xfe);
        live |= uint64_t{static_cast<uint16_t>(~_mm512_movepi32_mask(outside))} << 16 * g;
      }
      live &= in_columns & ~uint64_t{0} >> (64 - kColumns * std::min(rows - row, S::kRows));
      const uint32_t first_block = (block_y + row) * bin.blocks_per_row + block_x;
      const auto block_of = [&](uint32_t i) { return first_block + i + (i >> S::kShift) * next_row; };
      if (batch.held.plane) [[unlikely]]
        for (uint64_t left = live; left; left &= left - 1) {
          const uint32_t block = block_of(static_cast<uint32_t>(std::countr_zero(left)));
          if (batch.held.plane[block]) batch.held.expand(batch.held.worker, block);
        }
      for (uint32_t r = 0; r < S::kRows; r++) _mm512_store_ps(terms_y[r], term_y(b, lane, bin.y[block_y + row + r]));
      for (; live; live &= live - 1) {
        const uint64_t i = static_cast<uint64_t>(std::countr_zero(live)), x = i & (kColumns - 1), y = i >> S::kShift;
        const auto edge = [&](int k) TILEGPU_WIDE { return _mm512_add_epi32(pixels[k], _mm512_set1_epi32(at[k][i])); };
        const __m512i outside = _mm512_ternarylogic_epi32(edge(0), edge(1), edge(2), 0xfe);
        __mmask16 covered;
        if constexpr (kCut)
          covered = _mm512_mask_cmpge_epi32_mask(static_cast<__mmask16>(bin.columns[block_x + x] & bin.rows[block_y + row + y]), outside,
                                                 _mm512_setzero_si512());
        else
          covered = _mm512_cmpge_epi32_mask(outside, _mm512_setzero_si512());
        const uint32_t block = block_of(static_cast<uint32_t>(i));
        const size_t word = size_t{block} * 16;
        const __m512i old = _mm512_load_si512(depth + word);
        const __m512 z = _mm512_add_ps(_mm512_load_ps(terms_x[x]), _mm512_load_ps(terms_y[y]));
        __m512i after;
        const __mmask16 pass = test(batch.state, z, lo, hi, old, covered, after);
        if constexpr (kWrite) _mm512_store_si512(depth + word, after);
        _mm512_mask_store_epi32(ids + word, pass, name);
        covered_count += static_cast<uint32_t>(_mm_popcnt_u32(covered));
        passed_count += static_cast<uint32_t>(_mm_popcnt_u32(pass));
        const uint8_t any = pass != 0;
        dirty[block] |= any;
        if constexpr (kBounds) stale[block] |= any;
      }
      if (row + S::kRows >= rows) break;
    }
    done.covered += covered_count;
    done.passed += passed_count;
    done.seen |= uint32_t{passed_count != 0} << lane;
  }

  // Triangles whose windows are at most four by four blocks: those blocks of all of them that no edge leaves outside, in one loop. How many
  // each has is hard to foretell.
  TILEGPU_WIDE static inline __attribute__((always_inline)) void draw_small(const Batch& batch, uint32_t lanes, uint32_t first_number,
                                                                            TestedBlocks& done) {
    const TriangleBatch& b = batch.triangles;
    const BinPlace& bin = batch.bin;
    alignas(64) int32_t at[kBatch][3][16];
    alignas(8) uint16_t masks[kBatch] = {};
    uint8_t block_x[kBatch], block_y[kBatch];
    for (; lanes; lanes &= lanes - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
      const int32_t x = b.window_x[lane], y = b.window_y[lane];
      block_x[lane] = static_cast<uint8_t>(x >> 2);
      block_y[lane] = static_cast<uint8_t>(y >> 2);
      const uint32_t columns = static_cast<uint32_t>(((b.end_x[lane] - 1) >> 2) - (x >> 2)),
                     rows = static_cast<uint32_t>(((b.end_y[lane] - 1) >> 2) - (y >> 2));  // less one
      // A small triangle's window may begin within the block.
      const __m512i before = _mm512_set1_epi32((x & 3) * 256 | (y & 3) << 24);
      const __m512i steps = _mm512_sub_epi16(_mm512_load_si512(kShape<4, 1>.steps[0]), before);
      const auto edge = [&](int k) TILEGPU_WIDE {
        const __m512i e = _mm512_add_epi32(_mm512_madd_epi16(steps, _mm512_set1_epi32(b.pair[k][lane])), _mm512_set1_epi32(b.at[k][lane]));
        _mm512_store_si512(at[lane][k], e);
        return _mm512_add_epi32(e, _mm512_set1_epi32(batch.reach[k][lane]));
      };
      const uint32_t outside = _mm512_movepi32_mask(_mm512_ternarylogic_epi32(edge(0), edge(1), edge(2), 0xfe));
      masks[lane] = static_cast<uint16_t>(~outside & kPresent.at[rows][columns]);
    }
    const auto block_of = [&](uint32_t lane, uint32_t i) {
      return (block_y[lane] + (i >> 2 & 3)) * bin.blocks_per_row + block_x[lane] + (i & 3);
    };
    uint32_t *const depth = batch.state.depth, *const ids = batch.state.ids;
    uint8_t *const dirty = batch.state.dirty, *const stale = batch.stale;
    uint32_t covered_count = 0, passed_count = 0, seen = done.seen;
    for (uint32_t first = 0; first < kBatch; first += 4) {
      uint64_t live;
      std::memcpy(&live, masks + first, 8);
      if (batch.held.plane) [[unlikely]]
        for (uint64_t left = live; left; left &= left - 1) {
          const auto i = static_cast<uint32_t>(std::countr_zero(left));
          const uint32_t block = block_of(first + (i >> 4), i);
          if (batch.held.plane[block]) batch.held.expand(batch.held.worker, block);
        }
      for (; live; live &= live - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(live));
        const uint32_t lane = first + (i >> 4), x = block_x[lane] + (i & 3), y = block_y[lane] + (i >> 2 & 3);
        const auto edge = [&](int k) TILEGPU_WIDE {
          return _mm512_add_epi32(_mm512_madd_epi16(_mm512_load_si512(kBlockPixels), _mm512_set1_epi32(b.pair[k][lane])),
                                  _mm512_set1_epi32(at[lane][k][i & 15]));
        };
        const __m512i outside = _mm512_ternarylogic_epi32(edge(0), edge(1), edge(2), 0xfe);
        const __mmask16 covered =
            _mm512_mask_cmpge_epi32_mask(static_cast<__mmask16>(bin.columns[x] & bin.rows[y]), outside, _mm512_setzero_si512());
        const uint32_t block = y * bin.blocks_per_row + x;
        const size_t word = size_t{block} * 16;
        const __m512i old = _mm512_load_si512(depth + word);
        const __m512 z = _mm512_add_ps(term_x(b, lane, bin.x[x]), term_y(b, lane, bin.y[y]));
        __m512i after;
        const __mmask16 pass = test(batch.state, z, b.lo[lane], b.hi[lane], old, covered, after);
        if constexpr (kWrite) _mm512_store_si512(depth + word, after);
        // Those that are seen are numbered in their order.
        const auto number = first_number + static_cast<uint32_t>(_mm_popcnt_u32(seen & ((1u << lane) - 1)));
        _mm512_mask_store_epi32(ids + word, pass, _mm512_set1_epi32(static_cast<int32_t>(number)));
        covered_count += static_cast<uint32_t>(_mm_popcnt_u32(covered));
        passed_count += static_cast<uint32_t>(_mm_popcnt_u32(pass));
        const uint8_t any = pass != 0;
        seen |= uint32_t{any} << lane;
        dirty[block] |= any;
        if constexpr (kBounds) stale[block] |= any;
      }
    }
    done.covered += covered_count;
    done.passed += passed_count;
    done.seen = seen;
  }

  TILEGPU_WIDE static TestedBlocks triangles(const TestState& state, const TriangleBatch& b, uint32_t lanes, uint32_t first_number,
                                             const BinPlace& bin, const HeldBlocks& held) {
    assert(state.samples == 1 && state.ids && state.dirty && state.depth && lanes && !(lanes & ~(b.small | b.medium)));
    uint8_t unused[StaleBounds::kMost];
    Batch batch{state, b, bin, held, kBounds && state.far ? state.stale->block : unused, {}};
    for (int k = 0; k < 3; k++) {
      const __m256i pair = _mm256_load_si256(reinterpret_cast<const __m256i*>(b.pair[k])), zero = _mm256_setzero_si256();
      const __m256i right = _mm256_max_epi32(_mm256_srai_epi32(_mm256_slli_epi32(pair, 16), 16), zero);
      const __m256i down = _mm256_max_epi32(_mm256_srai_epi32(pair, 16), zero);
      const __m256i reach = _mm256_mullo_epi32(_mm256_add_epi32(right, down), _mm256_set1_epi32(3 * 256));
      _mm256_store_si256(reinterpret_cast<__m256i*>(batch.reach[k]), reach);
    }
    const auto blocks = [](const int32_t* from, const int32_t* end) TILEGPU_WIDE {
      const __m256i last = _mm256_sub_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(end)), _mm256_set1_epi32(1));
      return _mm256_sub_epi32(_mm256_srai_epi32(last, 2), _mm256_srai_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)), 2));
    };
    const __m256i columns_less1 = blocks(b.window_x, b.end_x), rows_less1 = blocks(b.window_y, b.end_y);
    const uint32_t large = _mm256_cmpgt_epi32_mask(_mm256_or_si256(columns_less1, rows_less1), _mm256_set1_epi32(3)) & lanes;
    TestedBlocks done{0, 0, 0};
    while (lanes) {
      const uint32_t next = large & lanes, small = lanes & ((next & (0u - next)) - 1);
      if (small) {
        draw_small(batch, small, first_number, done);
        lanes &= ~small;
        continue;
      }
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
      lanes &= lanes - 1;
      const uint32_t number = first_number + static_cast<uint32_t>(std::popcount(done.seen));
      const auto x = static_cast<uint32_t>(b.window_x[lane] >> 2), y = static_cast<uint32_t>(b.window_y[lane] >> 2);
      const uint32_t columns = static_cast<uint32_t>((b.end_x[lane] - 1) >> 2) - x + 1,
                     rows = static_cast<uint32_t>((b.end_y[lane] - 1) >> 2) - y + 1;
      if (columns <= 8 && !(b.cut >> lane & 1)) {
        draw<8, 4, false>(batch, lane, number, x, y, columns, rows, 0, done);
      } else {
        for (uint32_t c = 0; c < columns; c += 16) {
          const auto from_x = static_cast<int32_t>(c) * 1024;
          if (b.cut >> lane & 1) [[unlikely]]
            draw<16, 4, true>(batch, lane, number, x + c, y, std::min(columns - c, 16u), rows, from_x, done);
          else
            draw<16, 4, false>(batch, lane, number, x + c, y, std::min(columns - c, 16u), rows, from_x, done);
        }
      }
    }
    if constexpr (kBounds)
      if (state.far) state.stale->any |= done.seen != 0;
    return done;
  }
};

template <VkCompareOp kOp>
WideTriangles choose(const TestState& state) {
  if (state.unorm) return state.depth_write ? WideKernel<kOp, true, true>::triangles : WideKernel<kOp, true, false>::triangles;
  return state.depth_write ? WideKernel<kOp, false, true>::triangles : WideKernel<kOp, false, false>::triangles;
}

}  // namespace

WideTriangles wide_triangles(const TestState& state) {
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
#else
WideTriangles wide_triangles(const TestState&) { return nullptr; }
#endif

}  // namespace tilegpu::tile
