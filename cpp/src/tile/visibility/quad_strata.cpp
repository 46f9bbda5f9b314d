// tile/visibility/quad_strata.cpp -- see quad_strata.hpp.
#include "tile/visibility/quad_strata.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/simd.hpp"

namespace tilegpu::tile {

namespace {

constexpr uint32_t kPlaces = 4;

// Where the next primitive at each place goes.
class Cursors {
 public:
  Cursors(QuadStrata& out, bool all_places, uint32_t most_rest) : out_(out) {
    for (uint32_t s = QuadStrata::first; s <= QuadStrata::third; s++) to_[s] = room(s, kPlaces);
    to_[QuadStrata::rest] = room(QuadStrata::rest, most_rest);
    VisibleQuad* aligned = room(QuadStrata::aligned, kPlaces);
    if (all_places) out.of[QuadStrata::aligned].extend_reserved(kPlaces);
    for (uint32_t q = 0; q < kPlaces; q++) place_[q] = all_places ? aligned + q : nullptr;
  }
  // Does nothing where `live` is 0, without a branch.
  void add(uint32_t q, const VisibleQuad& quad) {
    VisibleQuad*& cursor = to_[at_[q]];
    VisibleQuad* to = place_[q] ? place_[q] : cursor;
    *to = quad;
    const bool some = quad.live != 0;
    cursor += some && !place_[q];
    if (some) place_[q] = nullptr;
    at_[q] = std::min<uint32_t>(at_[q] + some, QuadStrata::rest);
  }
  void finish() {
    for (uint32_t s = QuadStrata::first; s <= QuadStrata::rest; s++)
      out_.of[s].extend_reserved(static_cast<size_t>(to_[s] - (out_.of[s].data() + out_.of[s].size())));
  }

 private:
  // One more: `add` writes before it knows.
  VisibleQuad* room(uint32_t stratum, uint32_t count) {
    auto& quads = out_.of[stratum];
    quads.reserve(quads.size() + count + 1);
    return quads.data() + quads.size();
  }

  QuadStrata& out_;
  VisibleQuad* to_[QuadStrata::kCount] = {};
  VisibleQuad* place_[kPlaces];
  uint32_t at_[kPlaces] = {QuadStrata::first, QuadStrata::first, QuadStrata::first, QuadStrata::first};
};

// Bits 4 * sample + pixel for each of the four quads.
void quads_of(SampleMasks masks, uint32_t samples, uint64_t* quads) {
  if (samples <= 4) {
    const uint64_t words = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128((__m256i)masks)));
    for (uint32_t q = 0; q < kPlaces; q++) quads[q] = _pext_u64(words, 0x000f000f000f000full << 4 * q);
    return;
  }
  const __m256i nibble = _mm256_set1_epi16(15), weight = _mm256_set1_epi32(1 | 16 << 16);
  __m256i left = (__m256i)masks;
  for (uint32_t q = 0; q < kPlaces; q++, left = _mm256_srli_epi16(left, 4)) {
    const __m256i pairs = _mm256_madd_epi16(_mm256_and_si256(left, nibble), weight);
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    quads[q] = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(words, words)));
  }
}

bool all_places(uint32_t pixels) {
  pixels |= pixels >> 2;
  pixels |= pixels >> 1;
  return (pixels & 0x1111) == 0x1111;
}

}  // namespace

void gather_numbers(const uint32_t* ids, uint32_t samples, uint32_t block, QuadStrata& out) {
  uint32_t pixels = 0;
  for (uint32_t s = 0; s < samples; s++)
    for (uint32_t half = 0; half < 2; half++) pixels |= (~sign_bits(load8(ids + 16 * s + 8 * half) == 0) & 0xff) << 8 * half;
  Cursors cursors(out, all_places(pixels), 64 * kPlaces);
  for (uint32_t q = 0; q < kPlaces; q++) {
    const uint32_t* at_place = ids + 4 * q;
    uint64_t left = 0;
    for (uint32_t s = 0; s < samples; s++) left |= static_cast<uint64_t>(~sign_bits(load4(at_place + 16 * s) == 0) & 0xf) << 4 * s;
    while (left) {
      const int at = std::countr_zero(left);
      const uint32_t id = at_place[16 * (at >> 2) + (at & 3)];
      uint64_t same = 0;
      for (uint32_t s = static_cast<uint32_t>(at >> 2); s < samples; s++)
        same |= static_cast<uint64_t>(sign_bits(load4(at_place + 16 * s) == static_cast<int32_t>(id))) << 4 * s;
      cursors.add(q, {id, block * 16 + 4 * q, same});
      left &= ~same;
    }
  }
  cursors.finish();
}

void gather_entries(const BlockEntry* list, uint32_t count, uint32_t samples, uint32_t block, QuadStrata& out) {
  assert(count <= kBlockEntries && samples > 1);
  SampleMasks any{};
  for (uint32_t i = 0; i < count; i++) any |= list[i].masks;
  Cursors cursors(out, all_places(pixels_of(any)), count * kPlaces);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t live[kPlaces];
    quads_of(list[i].masks, samples, live);
    for (uint32_t q = 0; q < kPlaces; q++) cursors.add(q, {list[i].id, block * 16 + 4 * q, live[q]});
  }
  cursors.finish();
}

#if TILEGPU_HAS_WIDE
TILEGPU_WIDE void gather_numbers_wide(const uint32_t* ids, uint32_t block, QuadStrata& out) {
  const __m512i numbers = _mm512_load_si512(ids);
  const uint32_t differ = _mm512_cmpneq_epi32_mask(numbers, _mm512_broadcastd_epi32(_mm512_castsi512_si128(numbers)));
  if (!differ) {
    if (ids[0]) out.add_whole(ids[0], block);
    return;
  }
  // Bit: the pixel's number is that of the place's first, second, third, fourth pixel.
  const __mmask16 e0 = _mm512_cmpeq_epi32_mask(numbers, _mm512_shuffle_epi32(numbers, _MM_PERM_AAAA));
  const __mmask16 e1 = _mm512_cmpeq_epi32_mask(numbers, _mm512_shuffle_epi32(numbers, _MM_PERM_BBBB));
  const __mmask16 e2 = _mm512_cmpeq_epi32_mask(numbers, _mm512_shuffle_epi32(numbers, _MM_PERM_CCCC));
  const __mmask16 e3 = _mm512_cmpeq_epi32_mask(numbers, _mm512_shuffle_epi32(numbers, _MM_PERM_DDDD));
  __m512i same = _mm512_maskz_set1_epi32(e0, 1);
  same = _mm512_mask_or_epi32(same, e1, same, _mm512_set1_epi32(2));
  same = _mm512_mask_or_epi32(same, e2, same, _mm512_set1_epi32(4));
  same = _mm512_mask_or_epi32(same, e3, same, _mm512_set1_epi32(8));
  const uint32_t known = (uint32_t{e0} & 0xeeee) | (uint32_t{e1} & 0xcccc) | (uint32_t{e2} & 0x8888);
  const uint32_t some = _mm512_test_epi32_mask(numbers, numbers) & ~known;
  // A row of 16 bytes for each quad; in all words of it: the pixels where a number comes first, of those that are left.
  const __m512i quad = _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
  __m512i left = _mm512_and_si512(_mm512_srlv_epi32(_mm512_set1_epi32(static_cast<int32_t>(some)), quad), _mm512_set1_epi32(15));
  const __m512i places = _mm512_maskz_add_epi32(0x2222, quad, _mm512_set1_epi32(static_cast<int32_t>(block * 16)));
  for (uint32_t stratum = QuadStrata::first;; stratum++) {
    const __mmask16 rows = _mm512_test_epi32_mask(left, left);
    if (!rows) return;
    const __m512i lowest = _mm512_and_si512(left, _mm512_sub_epi32(_mm512_setzero_si512(), left));
    const __m512i at = _mm512_add_epi32(quad, _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(lowest)));
    left = _mm512_xor_si512(left, lowest);
    __m512i quads = _mm512_mask_permutexvar_epi32(places, 0x1111, at, numbers);
    quads = _mm512_mask_permutexvar_epi32(quads, 0x4444, at, same);
    const uint32_t found = static_cast<uint32_t>(std::popcount(uint32_t{rows})) / 4;
    auto& to = out.of[stratum == QuadStrata::first && found == kPlaces ? QuadStrata::aligned : stratum];
    to.reserve(to.size() + kPlaces);
    _mm512_storeu_si512(to.data() + to.size(), _mm512_maskz_compress_epi32(rows, quads));
    to.extend_reserved(found);
  }
}

namespace {

// Two or four samples, 16 entries at most: words of four nibbles are turned so that each has a quad's samples, all entries at once; then
// each place gives its first entry, its second one, and so on.
TILEGPU_WIDE void gather_few_samples(const BlockEntry* list, uint32_t count, uint32_t block, QuadStrata& out) {
  static_assert(kBlockEntries <= 16 && sizeof(BlockEntry) == 64);
  const __m512i steps = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
  const __m512i words = _mm512_setr_epi32(0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240);
  const uint32_t present = (1u << count) - 1;
  const __m512i ids = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), static_cast<__mmask16>(present), words, &list->id, 4);
  __m512i lives[2] = {};
  uint64_t some = 0;  // bit: 4 * entry + quad
  for (uint32_t half = 0; half < 2 && present >> 8 * half; half++) {
    const __mmask8 these = static_cast<__mmask8>(present >> 8 * half);
    const auto swap = [](__m512i v, int shift, int64_t mask) TILEGPU_WIDE {
      const __m512i t = _mm512_and_si512(_mm512_xor_si512(v, _mm512_srli_epi64(v, static_cast<uint32_t>(shift))), _mm512_set1_epi64(mask));
      return _mm512_xor_si512(_mm512_xor_si512(v, t), _mm512_slli_epi64(t, static_cast<uint32_t>(shift)));
    };
    const __m512i masks = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), these, steps, list + 8 * half, 8);
    lives[half] = swap(swap(masks, 12, 0x0000f0f00000f0f0), 24, 0x00000000ff00ff00);
    some |= uint64_t{_mm512_test_epi16_mask(lives[half], lives[half])} << 32 * half;
  }
  // A row of 16 bytes for each quad. In both halves of it: the bits of its entries that are left, 4 apart.
  const __m512i quad = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
  __m512i left =
      _mm512_and_si512(_mm512_srlv_epi64(_mm512_set1_epi64(static_cast<int64_t>(some)), quad), _mm512_set1_epi64(0x1111111111111111));
  const int32_t place = static_cast<int32_t>(block * 16);
  const __m512i places = _mm512_setr_epi32(0, place, 0, 0, 0, place + 4, 0, 0, 0, place + 8, 0, 0, 0, place + 12, 0, 0);
  for (uint32_t stratum = QuadStrata::first;; stratum = std::min<uint32_t>(stratum + 1, QuadStrata::rest)) {
    const __mmask8 rows = _mm512_test_epi64_mask(left, left);
    if (!rows) return;
    const __m512i lowest = _mm512_and_si512(left, _mm512_sub_epi64(_mm512_setzero_si512(), left));
    const __m512i at = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(lowest));
    left = _mm512_xor_si512(left, lowest);
    __m512i quads = _mm512_mask_permutexvar_epi32(places, 0x1111, _mm512_srli_epi64(at, 2), ids);
    quads = _mm512_or_si512(quads, _mm512_maskz_permutex2var_epi16(0x10101010, lives[0], _mm512_add_epi64(at, quad), lives[1]));
    const uint32_t found = static_cast<uint32_t>(std::popcount(uint32_t{rows})) / 2;
    auto& to = out.of[stratum == QuadStrata::first && found == kPlaces ? QuadStrata::aligned : stratum];
    to.reserve(to.size() + kPlaces);
    _mm512_storeu_si512(to.data() + to.size(), _mm512_maskz_compress_epi64(rows, quads));
    to.extend_reserved(found);
  }
}

}  // namespace

TILEGPU_WIDE void gather_entries_wide(const BlockEntry* list, uint32_t count, uint32_t samples, uint32_t block, QuadStrata& out) {
  assert(count <= kBlockEntries && samples > 1);
  if (samples <= 4) return gather_few_samples(list, count, block, out);
  SampleMasks any{};
  for (uint32_t i = 0; i < count; i++) any |= list[i].masks;
  VisibleQuad* to[QuadStrata::kCount];
  for (uint32_t s = QuadStrata::aligned; s <= QuadStrata::rest; s++) {
    auto& quads = out.of[s];
    quads.reserve(quads.size() + (s == QuadStrata::rest ? count + 1 : 2) * kPlaces);  // rows of four are stored
    to[s] = quads.data() + quads.size();
  }
  const bool whole = all_places(pixels_of(any));
  const __m256i places = _mm256_setr_epi64x(int64_t{block} << 36, (int64_t{block} * 16 + 4) << 32, (int64_t{block} * 16 + 8) << 32,
                                            (int64_t{block} * 16 + 12) << 32);
  const __m512i rows_of = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  uint32_t at[QuadStrata::kCount + 1] = {};  // places (by bit) whose next primitive goes to the stratum
  at[QuadStrata::first] = 0xf;
  for (uint32_t i = 0; i < count; i++) {
    alignas(32) uint64_t live[kPlaces];
    quads_of(list[i].masks, samples, live);
    const __m256i lives = _mm256_load_si256(reinterpret_cast<const __m256i*>(live));
    const __m256i names = _mm256_or_si256(places, _mm256_set1_epi64x(int64_t{list[i].id}));
    const __m512i rows = _mm512_permutex2var_epi64(_mm512_castsi256_si512(names), rows_of, _mm512_castsi256_si512(lives));
    uint32_t left = _mm256_test_epi64_mask(lives, lives), moved = 0;
    uint32_t s = QuadStrata::first;
    for (; left; s++) {
      const uint32_t now = s == QuadStrata::rest ? left : left & at[s];
      left &= ~now;
      at[s] = (at[s] & ~now) | moved;
      moved = now;
      if (!now) continue;
      const __mmask8 pairs = static_cast<__mmask8>(_pdep_u32(now, 0x55) * 3);
      if (s == QuadStrata::first && whole) {
        _mm512_mask_storeu_epi64(to[QuadStrata::aligned], pairs, rows);
      } else {
        _mm512_storeu_si512(to[s], _mm512_maskz_compress_epi64(pairs, rows));
        to[s] += std::popcount(now);
      }
    }
    at[s] |= moved;
  }
  if (whole) out.of[QuadStrata::aligned].extend_reserved(kPlaces);
  for (uint32_t s = QuadStrata::first; s <= QuadStrata::rest; s++)
    out.of[s].extend_reserved(static_cast<size_t>(to[s] - (out.of[s].data() + out.of[s].size())));
}
#else
void gather_numbers_wide(const uint32_t*, uint32_t, QuadStrata&) { no_wide_vectors(); }
void gather_entries_wide(const BlockEntry* list, uint32_t count, uint32_t samples, uint32_t block, QuadStrata& out) {
  gather_entries(list, count, samples, block, out);
}
#endif

}  // namespace tilegpu::tile
