// tile/coverage/batch_coverage.cpp -- see batch_coverage.hpp.
#include "tile/coverage/batch_coverage.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>

#include "base/simd.hpp"

namespace tilegpu::tile {

namespace {

// Of a block's pixels in tile order.
alignas(64) constexpr int32_t kX[16] = {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3};
alignas(64) constexpr int32_t kY[16] = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};

}  // namespace

void BinPlace::place(int32_t origin_x_px, int32_t origin_y_px, uint32_t blocks) {
  assert(blocks <= kMostBlocks);
  blocks_per_row = blocks;
  for (int32_t b = 0; b < static_cast<int32_t>(blocks); b++)
    for (uint32_t p = 0; p < 16; p++) {
      x[b][p] = static_cast<float>(origin_x_px + b * 4 + kX[p]) + 0.5f;
      y[b][p] = static_cast<float>(origin_y_px + b * 4 + kY[p]) + 0.5f;
    }
}

void BinPlace::cut(const PixelRect& rect) {
  for (int32_t b = 0; b < static_cast<int32_t>(blocks_per_row); b++) {
    const PixelRect all{INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX};
    columns[b] = detail::rect_bits({rect.x0, all.y0, rect.x1, all.y1}, b * 4, 0);
    rows[b] = detail::rect_bits({all.x0, rect.y0, all.x1, rect.y1}, 0, b * 4);
  }
}

void cover_blocks(const TriangleBatch& b, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out) {
  assert(samples > 1 && samples <= kMaxSamples && !(lanes & ~b.medium));
  uint32_t count = 0;
  out.words = std::max(samples, 4u);
  for (; lanes; lanes &= lanes - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
    const bool cut = b.cut >> lane & 1;
    const int32_t x0 = b.window_x[lane], y0 = b.window_y[lane], x1 = b.end_x[lane], y1 = b.end_y[lane];
    const SampleEdges edges(b, lane, samples);
    i32x4 row = edges.corner;
    for (int32_t y = y0; y < y1; y += 4, row += edges.step_y) {
      i32x4 corner = row;
      for (int32_t x = x0; x < x1; x += 4, corner += edges.step_x) {
        if (sign_bits(corner + edges.most) & 7) continue;  // all of the block is outside an edge
        const uint32_t allowed = cut ? bin.columns[x >> 2] & bin.rows[y >> 2] : 0xffffu;
        assert(count < CoveredBlocks::kMost);
        uint16_t* const masks = out.masks_of(count);
        std::memset(masks, 0, 8);
        out.lane[count] = static_cast<uint8_t>(lane);
        out.x[count] = static_cast<uint8_t>(x >> 2);
        out.y[count] = static_cast<uint8_t>(y >> 2);
        count += edges.cover(corner, samples, allowed * 0x10001u, masks) != 0;
      }
    }
  }
  out.count = count;
}

#if TILEGPU_HAS_WIDE
namespace {

template <uint32_t kSamples>
struct SamplePairs {
  alignas(64) int32_t at[kSamples] = {};  // (x, y) in subpixels
  constexpr SamplePairs() {
    for (uint32_t s = 0; s < kSamples; s++)
      at[s] = vk::sample_locations(kSamples)[s].x * 16 | vk::sample_locations(kSamples)[s].y * 16 << 16;
  }
};

// The blocks of windows of 1 to 5 by 1 to 5, row by row.
constexpr int32_t kTable = 5;
struct WindowBlocks {
  alignas(64) uint8_t x[5][5][32] = {}, y[5][5][32] = {};  // [rows - 1][columns - 1]
  alignas(64) uint32_t steps[5][5][32] = {};
  constexpr WindowBlocks() {
    for (uint32_t rows = 1; rows <= 5; rows++)
      for (uint32_t columns = 1; columns <= 5; columns++)
        for (uint32_t i = 0; i < rows * columns; i++) {
          x[rows - 1][columns - 1][i] = static_cast<uint8_t>(i % columns);
          y[rows - 1][columns - 1][i] = static_cast<uint8_t>(i / columns);
          steps[rows - 1][columns - 1][i] = i % columns * 1024 | i / columns * 1024 << 16;
        }
  }
};
constexpr WindowBlocks kWindowBlocks;

// How far a block's sample points reach from its corner, in subpixels: they lie on a grid of 1/16 pixel.
constexpr int32_t kReach = 3 * 256 + 15 * 16;

// The blocks of a row that no edge leaves outside, of up to 16 side by side.
TILEGPU_WIDE inline uint32_t list_row(__m512i steps, const __m512i* pairs, const __m512i* at, uint32_t present, uint32_t lane, int32_t x,
                                      int32_t y, uint32_t count, CoveredBlocks& out) {
  const auto edge = [&](int k) TILEGPU_WIDE { return _mm512_add_epi32(_mm512_madd_epi16(steps, pairs[k]), at[k]); };
  const __m512i all = _mm512_ternarylogic_epi32(edge(0), edge(1), edge(2), 0xfe);
  const __mmask16 live = static_cast<__mmask16>(present & ~static_cast<uint32_t>(_mm512_movepi32_mask(all)));
  const __m512i kept = _mm512_maskz_compress_epi32(live, steps);
  const auto put = [&](uint8_t* to, __m128i v) TILEGPU_WIDE { _mm_storeu_si128(reinterpret_cast<__m128i*>(to + count), v); };
  const __m512i columns = _mm512_srli_epi32(_mm512_and_si512(kept, _mm512_set1_epi32(0xffff)), 10);
  put(out.x, _mm512_cvtepi32_epi8(_mm512_add_epi32(columns, _mm512_set1_epi32(x))));
  put(out.y, _mm_set1_epi8(static_cast<char>(y)));
  put(out.lane, _mm_set1_epi8(static_cast<char>(lane)));
  _mm512_storeu_si512(out.steps + count, kept);
  return count + static_cast<uint32_t>(std::popcount(static_cast<uint32_t>(live)));
}

// The blocks that a bounding box touches, of larger triangles those that no edge leaves outside. Written in whole vectors: how many they
// are is hard to foretell.
TILEGPU_WIDE uint32_t list_blocks(const TriangleBatch& b, uint32_t lanes, CoveredBlocks& out) {
  uint32_t count = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
    const int32_t x = b.window_x[lane] >> 2, y = b.window_y[lane] >> 2;
    const int32_t columns = ((b.end_x[lane] - 1) >> 2) - x, rows = ((b.end_y[lane] - 1) >> 2) - y;  // less one
    if (columns >= kTable || rows >= kTable) {
      const __m512i along = _mm512_slli_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), 10);
      __m512i pairs[3], at[3];
      for (int k = 0; k < 3; k++) {
        const int32_t pair = b.pair[k][lane], right = static_cast<int16_t>(pair), down = pair >> 16;
        pairs[k] = _mm512_set1_epi32(pair);
        at[k] = _mm512_set1_epi32(b.at[k][lane] + kReach * (std::max(right, 0) + std::max(down, 0)));
      }
      for (int32_t row = 0; row <= rows; row++)
        for (int32_t first = 0; first <= columns; first += 16) {
          const __m512i steps = _mm512_add_epi32(along, _mm512_set1_epi32(row << 26 | first << 10));
          const uint32_t present = columns - first >= 15 ? 0xffffu : (2u << (columns - first)) - 1;
          count = list_row(steps, pairs, at, present, lane, x, y + row, count, out);
        }
      continue;
    }
    const auto put = [&](uint8_t* to, const uint8_t* steps, int32_t first) TILEGPU_WIDE {
      const __m256i v = _mm256_load_si256(reinterpret_cast<const __m256i*>(steps));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + count), _mm256_add_epi8(v, _mm256_set1_epi8(static_cast<char>(first))));
    };
    put(out.x, kWindowBlocks.x[rows][columns], x);
    put(out.y, kWindowBlocks.y[rows][columns], y);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.lane + count), _mm256_set1_epi8(static_cast<char>(lane)));
    const auto put_steps = [&](uint32_t first) TILEGPU_WIDE {
      _mm512_storeu_si512(out.steps + count + first, _mm512_load_si512(kWindowBlocks.steps[rows][columns] + first));
    };
    put_steps(0);
    const uint32_t more = static_cast<uint32_t>((columns + 1) * (rows + 1));
    if (more > 16) put_steps(16);
    count += more;
  }
  return count;
}

// Of a block in CoveredBlocks::masks.
template <uint32_t kSamples>
constexpr uint32_t kWords = kSamples > 4 ? kSamples : 4;

// Pixels where no edge is negative.
TILEGPU_WIDE inline __mmask16 covered_wide(__m512i e0, __m512i e1, __m512i e2, __mmask16 allowed) {
  return _mm512_mask_cmpge_epi32_mask(allowed, _mm512_ternarylogic_epi32(e0, e1, e2, 0xfe), _mm512_setzero_si512());
}
// Masks of a block; covered(sample): the pixels where it is. Any of their bits.
template <uint32_t kSamples, class Covered>
TILEGPU_WIDE inline __attribute__((always_inline)) uint64_t put_samples(Covered&& covered, uint16_t* masks) {
  constexpr uint32_t kInWord = kSamples < 4 ? kSamples : 4;
  uint64_t any = 0;
  for (uint32_t s = 0; s < kSamples; s += kInWord) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < kInWord; i++) word |= uint64_t{covered(s + i)} << 16 * i;
    any |= word;
    std::memcpy(masks + s, &word, 8);
  }
  return any;
}
// From edges at the pixels' corners; offset(edge, sample): to each sample.
template <uint32_t kSamples, class Offset>
TILEGPU_WIDE inline __attribute__((always_inline)) uint64_t cover_samples_wide(const __m512i* edges, Offset&& offset, __mmask16 allowed,
                                                                               uint16_t* masks) {
  const auto covered = [&](uint32_t s) TILEGPU_WIDE {
    const auto at = [&](int k) TILEGPU_WIDE { return _mm512_add_epi32(edges[k], _mm512_set1_epi32(offset(k, s))); };
    return covered_wide(at(0), at(1), at(2), allowed);
  };
  return put_samples<kSamples>(covered, masks);
}

// In place of an edge of the triangle.
constexpr uint8_t kSeveral = 3;

// Of candidates those that no edge leaves outside; cut: for each the edge that alone may leave something of it outside, or kSeveral. A
// third of the blocks of triangles of some size lies wholly inside, half is cut by one edge. Sixteen at a time, so that asking costs
// little.
TILEGPU_WIDE uint32_t sift(const TriangleBatch& b, uint32_t candidates, CoveredBlocks& out, uint8_t* cut) {
  const auto of_lanes = [](const int32_t* values)
                            TILEGPU_WIDE { return _mm512_castsi256_si512(_mm256_load_si256(reinterpret_cast<const __m256i*>(values))); };
  const __m512i zero = _mm512_setzero_si512(), reach = _mm512_set1_epi32(kReach);
  __m512i pairs[3], at[3], most[3], least[3];  // by lane: as `at`, at the points of a block that are farthest inside and outside
  for (int k = 0; k < 3; k++) {
    pairs[k] = of_lanes(b.pair[k]);
    at[k] = of_lanes(b.at[k]);
    const __m512i right = _mm512_srai_epi32(_mm512_slli_epi32(pairs[k], 16), 16), down = _mm512_srai_epi32(pairs[k], 16);
    most[k] =
        _mm512_add_epi32(at[k], _mm512_mullo_epi32(reach, _mm512_add_epi32(_mm512_max_epi32(right, zero), _mm512_max_epi32(down, zero))));
    least[k] =
        _mm512_add_epi32(at[k], _mm512_mullo_epi32(reach, _mm512_add_epi32(_mm512_min_epi32(right, zero), _mm512_min_epi32(down, zero))));
  }
  const auto load = [](const uint8_t* from) TILEGPU_WIDE { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  uint32_t count = 0;
  for (uint32_t i = 0; i < candidates; i += 16) {
    const __m512i lane = _mm512_cvtepu8_epi32(load(out.lane + i)), steps = _mm512_loadu_si512(out.steps + i);
    __mmask16 cuts[3];
    __m512i outside = zero;
    for (int k = 0; k < 3; k++) {
      const __m512i moved = _mm512_madd_epi16(steps, _mm512_permutexvar_epi32(lane, pairs[k]));
      outside = _mm512_or_si512(outside, _mm512_add_epi32(moved, _mm512_permutexvar_epi32(lane, most[k])));
      cuts[k] = _mm512_movepi32_mask(_mm512_add_epi32(moved, _mm512_permutexvar_epi32(lane, least[k])));
    }
    const uint32_t present = candidates - i >= 16 ? 0xffffu : (1u << (candidates - i)) - 1;
    const __mmask16 live = static_cast<__mmask16>(present & ~static_cast<uint32_t>(_mm512_movepi32_mask(outside)));
    const __mmask16 several = static_cast<__mmask16>((cuts[0] & (cuts[1] | cuts[2])) | (cuts[1] & cuts[2]));
    __m512i edge = _mm512_maskz_set1_epi32(cuts[1], 1);
    edge = _mm512_mask_set1_epi32(edge, cuts[2], 2);
    edge = _mm512_mask_set1_epi32(edge, several, kSeveral);
    const auto put = [&](uint8_t* to, __m512i v) TILEGPU_WIDE {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + count), _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(live, v)));
    };
    const __m512i x = _mm512_cvtepu8_epi32(load(out.x + i)), y = _mm512_cvtepu8_epi32(load(out.y + i));
    put(out.lane, lane);
    put(out.x, x);
    put(out.y, y);
    put(cut, edge);
    _mm512_storeu_si512(out.steps + count, _mm512_maskz_compress_epi32(live, steps));
    count += static_cast<uint32_t>(std::popcount(static_cast<uint32_t>(live)));
  }
  return count;
}

template <uint32_t kSamples>
TILEGPU_WIDE void cover(const TriangleBatch& __restrict b, const BinPlace& __restrict bin, uint32_t candidates,
                        CoveredBlocks& __restrict out) {
  static constexpr SamplePairs<kSamples> kSamplePairs;
  // Edges at the samples, from the pixel's corner.
  alignas(32) int32_t offsets[3][kSamples][8];
  for (int k = 0; k < 3; k++) {
    const __m256i pairs = _mm256_load_si256(reinterpret_cast<const __m256i*>(b.pair[k]));
    for (uint32_t s = 0; s < kSamples; s++)
      _mm256_store_si256(reinterpret_cast<__m256i*>(offsets[k][s]), _mm256_madd_epi16(pairs, _mm256_set1_epi32(kSamplePairs.at[s])));
  }
  // With few samples asking costs as much as it saves.
  constexpr bool kSifts = kSamples >= 8;
  uint8_t cut[kSifts ? CoveredBlocks::kMost + 32 : 1];
  if constexpr (kSifts) candidates = sift(b, candidates, out, cut);
  const __m512i pixels = _mm512_load_si512(kBlockPixels);
  uint32_t count = 0;
  for (uint32_t i = 0; i < candidates; i++) {
    const uint8_t lane = out.lane[i], x = out.x[i], y = out.y[i];
    const __mmask16 allowed = static_cast<__mmask16>(bin.columns[x] & bin.rows[y]);
    const __m512i at_pixels = _mm512_add_epi16(pixels, _mm512_set1_epi32(static_cast<int32_t>(out.steps[i])));
    uint16_t* const masks = out.masks + count * kWords<kSamples>;
    uint64_t any = 0;
    if (kSifts && cut[i] != kSeveral) {
      const uint32_t k = cut[i];
      const __m512i edge =
          _mm512_add_epi32(_mm512_madd_epi16(at_pixels, _mm512_set1_epi32(b.pair[k][lane])), _mm512_set1_epi32(b.at[k][lane]));
      const auto covered = [&](uint32_t s) TILEGPU_WIDE {
        return _mm512_mask_cmpge_epi32_mask(allowed, _mm512_add_epi32(edge, _mm512_set1_epi32(offsets[k][s][lane])),
                                            _mm512_setzero_si512());
      };
      any = put_samples<kSamples>(covered, masks);
    } else {
      __m512i edges[3];
      for (int k = 0; k < 3; k++)
        edges[k] = _mm512_add_epi32(_mm512_madd_epi16(at_pixels, _mm512_set1_epi32(b.pair[k][lane])), _mm512_set1_epi32(b.at[k][lane]));
      any = cover_samples_wide<kSamples>(edges, [&](int k, uint32_t s) { return offsets[k][s][lane]; }, allowed, masks);
    }
    out.lane[count] = lane;
    out.x[count] = x;
    out.y[count] = y;
    count += any != 0;
  }
  out.count = count;
}

}  // namespace

void cover_blocks_wide(const TriangleBatch& b, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out) {
  assert(samples > 1 && samples <= kMaxSamples && !(lanes & ~b.medium));
  const uint32_t candidates = list_blocks(b, lanes, out);
  assert(candidates <= CoveredBlocks::kMost);
  out.words = std::max(samples, 4u);
  switch (samples) {
    case 2:
      return cover<2>(b, bin, candidates, out);
    case 4:
      return cover<4>(b, bin, candidates, out);
    case 8:
      return cover<8>(b, bin, candidates, out);
    default:
      return cover<16>(b, bin, candidates, out);
  }
}
// Blocks that an edge leaves outside are dropped sixteen at a time: of a thin triangle these are nearly all. Windows of few columns have
// several rows in the sixteen.
TILEGPU_WIDE void cover_one_wide(const TriangleBatch& b, uint32_t lane, const BinPlace& bin, CoveredOfOne& out) {
  assert(b.medium >> lane & 1);
  constexpr int32_t kPixels = 3 * 256;  // from a block's first sample point to its last
  const int32_t x = b.window_x[lane] >> 2, y = b.window_y[lane] >> 2;
  const int32_t columns = (b.end_x[lane] + 3) / 4 - x, rows = (b.end_y[lane] + 3) / 4 - y;
  assert(columns >= 1 && rows >= 1 && columns <= static_cast<int32_t>(CoveredBlocks::kWindow));
  const int32_t shift = columns <= 4 ? 2 : columns <= 8 ? 3 : 4, wide = 1 << shift, high = 16 >> shift;
  const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i across = _mm512_and_si512(number, _mm512_set1_epi32(wide - 1)), down = _mm512_srl_epi32(number, _mm_cvtsi32_si128(shift));
  // Pairs (x, y) of 16 bits in subpixels from the window's corner.
  const __m512i along = _mm512_or_si512(_mm512_slli_epi32(across, 10), _mm512_slli_epi32(down, 26));
  const __m512i pixels = _mm512_load_si512(kBlockPixels);
  __m512i pairs[3], at[3], most[3];
  for (int k = 0; k < 3; k++) {
    const int32_t pair = b.pair[k][lane], right = static_cast<int16_t>(pair), below = pair >> 16;
    pairs[k] = _mm512_set1_epi32(pair);
    at[k] = _mm512_set1_epi32(b.at[k][lane]);
    most[k] = _mm512_set1_epi32(b.at[k][lane] + kPixels * (std::max(right, 0) + std::max(below, 0)));
  }
  const auto outside = [&](__m512i from, const __m512i* edges) TILEGPU_WIDE {
    const auto edge = [&](int k) TILEGPU_WIDE { return _mm512_add_epi32(_mm512_madd_epi16(from, pairs[k]), edges[k]); };
    return static_cast<uint32_t>(_mm512_movepi32_mask(_mm512_ternarylogic_epi32(edge(0), edge(1), edge(2), 0xfe)));
  };
  uint32_t count = 0;
  for (int32_t row = 0; row < rows; row += high)
    for (int32_t first = 0; first < columns; first += 16) {
      const __mmask16 present = _mm512_cmplt_epi32_mask(across, _mm512_set1_epi32(columns - first)) &
                                _mm512_cmplt_epi32_mask(down, _mm512_set1_epi32(rows - row));
      const int32_t corner = row << 26 | first << 10;
      for (uint32_t left = present & ~outside(_mm512_add_epi32(along, _mm512_set1_epi32(corner)), most); left; left &= left - 1) {
        const int32_t i = std::countr_zero(left), column = first + (i & (wide - 1)), line = row + (i >> shift);
        const uint32_t allowed = static_cast<uint32_t>(bin.columns[x + column] & bin.rows[y + line]);
        const uint32_t covered = allowed & ~outside(_mm512_add_epi16(pixels, _mm512_set1_epi32(column << 10 | line << 26)), at);
        out.x[count] = static_cast<uint8_t>(x + column);
        out.y[count] = static_cast<uint8_t>(y + line);
        out.masks[count] = static_cast<uint16_t>(covered);
        count += covered != 0;
      }
    }
  out.count = count;
}
#else
void cover_blocks_wide(const TriangleBatch& b, uint32_t lanes, uint32_t samples, const BinPlace& bin, CoveredBlocks& out) {
  cover_blocks(b, lanes, samples, bin, out);
}
void cover_one_wide(const TriangleBatch&, uint32_t, const BinPlace&, CoveredOfOne&) { no_wide_vectors(); }
#endif

}  // namespace tilegpu::tile
