// geometry/cull.cpp -- see cull.hpp: sixteen triangles at a time.
#include "geometry/cull.hpp"

#include "base/simd.hpp"

namespace tilegpu::geometry {

#if TILEGPU_HAS_WIDE
namespace {

// Bits of the even and of the odd lanes.
TILEGPU_WIDE inline __mmask16 interleave(__mmask8 even, __mmask8 odd) {
  return static_cast<__mmask16>(_pdep_u32(even, 0x5555) | _pdep_u32(odd, 0xaaaa));
}

struct Pairs {
  __m512i x, y;
};
TILEGPU_WIDE inline Pairs gather_pairs(const PostVertex* post, __m512i slot) {
  static_assert(sizeof(PostVertex) == 16);
  const __m512i at = _mm512_slli_epi32(slot, 1);
  const __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), post, 8);
  const __m512i high = _mm512_i32gather_epi64(_mm512_extracti32x8_epi32(at, 1), post, 8);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return {_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high)};
}

// A triangle's vertices 1 and 2 in the order that makes its area positive.
TILEGPU_WIDE inline __mmask16 outside_all_points(const Pairs& a, const Pairs& b, const Pairs& c, __mmask16 exchanged, __m512i first_x,
                                                 __m512i first_y) {
  const __m512i half = _mm512_set1_epi32(128), zero = _mm512_setzero_si512();
  const __m512i at_x = _mm512_add_epi32(_mm512_slli_epi32(first_x, 8), half), at_y = _mm512_add_epi32(_mm512_slli_epi32(first_y, 8), half);
  const __m512i x[3] = {_mm512_sub_epi32(a.x, at_x), _mm512_sub_epi32(_mm512_mask_mov_epi32(b.x, exchanged, c.x), at_x),
                        _mm512_sub_epi32(_mm512_mask_mov_epi32(c.x, exchanged, b.x), at_x)};
  const __m512i y[3] = {_mm512_sub_epi32(a.y, at_y), _mm512_sub_epi32(_mm512_mask_mov_epi32(b.y, exchanged, c.y), at_y),
                        _mm512_sub_epi32(_mm512_mask_mov_epi32(c.y, exchanged, b.y), at_y)};
  __m512i outside[4] = {zero, zero, zero, zero};
  for (int k = 0; k < 3; k++) {
    const int n = k == 2 ? 0 : k + 1;
    const __m512i dx = _mm512_sub_epi32(x[n], x[k]), dy = _mm512_sub_epi32(y[n], y[k]);
    const auto level = _mm512_cmpeq_epi32_mask(dy, zero);
    const auto top_left = static_cast<__mmask16>(_mm512_movepi32_mask(dy) | _mm512_mask_cmpgt_epi32_mask(level, dx, zero));
    const __m512i value = _mm512_sub_epi32(_mm512_mullo_epi32(x[k], y[n]), _mm512_mullo_epi32(x[n], y[k]));
    const __m512i e = _mm512_mask_sub_epi32(value, static_cast<__mmask16>(~top_left), value, _mm512_set1_epi32(1));
    const __m512i right = _mm512_sub_epi32(e, _mm512_slli_epi32(dy, 8)), down = _mm512_slli_epi32(dx, 8);
    outside[0] = _mm512_or_si512(outside[0], e);
    outside[1] = _mm512_or_si512(outside[1], right);
    outside[2] = _mm512_or_si512(outside[2], _mm512_add_epi32(e, down));
    outside[3] = _mm512_or_si512(outside[3], _mm512_add_epi32(right, down));
  }
  return _mm512_movepi32_mask(_mm512_and_si512(_mm512_and_si512(outside[0], outside[1]), _mm512_and_si512(outside[2], outside[3])));
}

TILEGPU_WIDE inline void cull16(const CullSetup& s, const PostVertex* post, __m512i slot0, __m512i slot1, __m512i slot2, uint32_t lanes,
                                TriangleGroup& g) {
  _mm512_store_si512(g.slot[0], slot0);
  _mm512_store_si512(g.slot[1], slot1);
  _mm512_store_si512(g.slot[2], slot2);
  const Pairs a = gather_pairs(post, slot0), b = gather_pairs(post, slot1), c = gather_pairs(post, slot2);
  const __m512i x1 = _mm512_sub_epi32(b.x, a.x), y1 = _mm512_sub_epi32(b.y, a.y);
  const __m512i x2 = _mm512_sub_epi32(c.x, a.x), y2 = _mm512_sub_epi32(c.y, a.y);
  const auto odd = [](__m512i v) TILEGPU_WIDE { return _mm512_srli_epi64(v, 32); };
  const __m512i area0 = _mm512_sub_epi64(_mm512_mul_epi32(x1, y2), _mm512_mul_epi32(x2, y1));
  const __m512i area1 = _mm512_sub_epi64(_mm512_mul_epi32(odd(x1), odd(y2)), _mm512_mul_epi32(odd(x2), odd(y1)));
  const __m512i zero = _mm512_setzero_si512();
  const __mmask16 negative = interleave(_mm512_movepi64_mask(area0), _mm512_movepi64_mask(area1));
  const __mmask16 positive = interleave(_mm512_cmpgt_epi64_mask(area0, zero), _mm512_cmpgt_epi64_mask(area1, zero));
  g.exchanged = negative;
  g.visible = g.one_bin = 0;
  g.same_bin = false;
  uint32_t keep = ((s.keep_positive ? positive : 0u) | (s.keep_negative ? negative : 0u)) & lanes;
  if (!keep) return;
  const auto all = [](int32_t v) TILEGPU_WIDE { return _mm512_set1_epi32(v); };
  const auto down = [](__m512i v, int32_t by) TILEGPU_WIDE { return _mm512_sra_epi32(v, _mm_cvtsi32_si128(by)); };
  const __m512i low_x = _mm512_min_epi32(a.x, _mm512_min_epi32(b.x, c.x)), high_x = _mm512_max_epi32(a.x, _mm512_max_epi32(b.x, c.x));
  const __m512i low_y = _mm512_min_epi32(a.y, _mm512_min_epi32(b.y, c.y)), high_y = _mm512_max_epi32(a.y, _mm512_max_epi32(b.y, c.y));
  const __m512i first_x = down(_mm512_add_epi32(low_x, all(s.to_first)), s.sample_shift);
  const __m512i first_y = down(_mm512_add_epi32(low_y, all(s.to_first)), s.sample_shift);
  const __m512i last_x = down(_mm512_add_epi32(high_x, all(s.to_last)), s.sample_shift);
  const __m512i last_y = down(_mm512_add_epi32(high_y, all(s.to_last)), s.sample_shift);
  keep &= _mm512_cmple_epi32_mask(first_x, last_x) & _mm512_cmple_epi32_mask(first_y, last_y);
  const __m512i px0 = _mm512_max_epi32(down(first_x, s.sample_log2), all(s.x0_px));
  const __m512i px1 = _mm512_min_epi32(down(last_x, s.sample_log2), all(s.x1_px));
  const __m512i py0 = _mm512_max_epi32(down(first_y, s.sample_log2), all(s.y0_px));
  const __m512i py1 = _mm512_min_epi32(down(last_y, s.sample_log2), all(s.y1_px));
  keep &= _mm512_cmple_epi32_mask(px0, px1) & _mm512_cmple_epi32_mask(py0, py1);
  if (s.points && keep) {
    const __m512i one = all(1);
    const uint32_t few = keep & _mm512_cmple_epi32_mask(_mm512_sub_epi32(last_x, first_x), one) &
                         _mm512_cmple_epi32_mask(_mm512_sub_epi32(last_y, first_y), one);
    if (few) keep &= ~(few & outside_all_points(a, b, c, negative, first_x, first_y));
  }
  g.visible = keep;
  if (!keep) return;
  const __m512i bx0 = down(_mm512_sub_epi32(px0, all(s.origin_x_px)), s.bin_shift_x);
  const __m512i bx1 = down(_mm512_sub_epi32(px1, all(s.origin_x_px)), s.bin_shift_x);
  const __m512i by0 = down(_mm512_sub_epi32(py0, all(s.origin_y_px)), s.bin_shift_y);
  const __m512i by1 = down(_mm512_sub_epi32(py1, all(s.origin_y_px)), s.bin_shift_y);
  g.one_bin = _mm512_cmpeq_epi32_mask(bx0, bx1) & _mm512_cmpeq_epi32_mask(by0, by1);
  const __m512i bin = _mm512_add_epi32(_mm512_mullo_epi32(by0, all(s.columns)), bx0);
  _mm512_store_si512(g.bin, bin);
  const __m512i first_bin = _mm512_permutexvar_epi32(all(__builtin_ctz(keep)), bin);
  g.same_bin = !((keep & ~g.one_bin) | _mm512_mask_cmpneq_epi32_mask(static_cast<__mmask16>(keep), bin, first_bin));
  if (keep & ~g.one_bin) {
    _mm512_store_si512(g.box[0], bx0);
    _mm512_store_si512(g.box[1], bx1);
    _mm512_store_si512(g.box[2], by0);
    _mm512_store_si512(g.box[3], by1);
  }
}

}  // namespace

TILEGPU_WIDE void cull_batch_wide(const CullSetup& c, const PostVertex* post, const uint8_t* const slot[3], uint32_t lanes,
                                  TriangleGroup& g) {
  const auto slots = [](const uint8_t* p)
                         TILEGPU_WIDE { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); };
  cull16(c, post, slots(slot[0]), slots(slot[1]), slots(slot[2]), lanes, g);
}

TILEGPU_WIDE void cull_range_wide(const CullSetup& c, const PostVertex* post, const uint8_t* triples, uint32_t first_index, uint32_t lanes,
                                  TriangleGroup& g) {
  const __m512i base = _mm512_set1_epi32(static_cast<int32_t>(first_index));
  // 48 indices; those of the lanes that are not meant may lie outside of the buffer.
  const uint64_t words = lanes == 0xffff ? 0xffffffffffffu : (uint64_t{1} << 3 * __builtin_popcount(lanes)) - 1;
  __m512i v[3];
  for (int i = 0; i < 3; i++)
    v[i] = _mm512_sub_epi32(_mm512_mask_loadu_epi32(base, static_cast<__mmask16>(words >> 16 * i), triples + 64 * i), base);
  const auto every_third = [&](__m512i in_two, __m512i with_last) TILEGPU_WIDE {
    return _mm512_permutex2var_epi32(_mm512_permutex2var_epi32(v[0], in_two, v[1]), with_last, v[2]);
  };
  const __m512i slot0 = every_third(_mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0),
                                    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29));
  const __m512i slot1 = every_third(_mm512_setr_epi32(1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0),
                                    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30));
  const __m512i slot2 = every_third(_mm512_setr_epi32(2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0),
                                    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31));
  cull16(c, post, slot0, slot1, slot2, lanes, g);
}
#else
void cull_batch_wide(const CullSetup&, const PostVertex*, const uint8_t* const[3], uint32_t, TriangleGroup&) { no_wide_vectors(); }
void cull_range_wide(const CullSetup&, const PostVertex*, const uint8_t*, uint32_t, uint32_t, TriangleGroup&) { no_wide_vectors(); }
#endif

}  // namespace tilegpu::geometry
