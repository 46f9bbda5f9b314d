// tile_io/wide_rows.cpp -- see wide_rows.hpp. A register holds a word of a block's 16 pixels: four quads of 16 bytes.
#include "tile_io/wide_rows.hpp"

#include <cassert>

#include "base/intrinsics.hpp"
#include "resolve/mean.hpp"

namespace tilegpu::tile_io {
#if TILEGPU_HAS_WIDE
namespace {

/// Mask of the 64-bit halves of the quads in a set of quads.
constexpr uint8_t kQuadHalves[16] = {0x00, 0x03, 0x0c, 0x0f, 0x30, 0x33, 0x3c, 0x3f, 0xc0, 0xc3, 0xcc, 0xcf, 0xf0, 0xf3, 0xfc, 0xff};

/// One word of a block's pixels: as it is in the first sample, or the mean of its samples' bytes. Of quads whose samples are equal only the
/// first sample is there.
template <uint32_t kSamples>
TILEGPU_WIDE inline __m512i word_of_block(const uint8_t* words, size_t sample_B, uint32_t equal_quads) {
  const __m512i first = _mm512_load_si512(words);
  if constexpr (kSamples == 1) {
    return first;
  } else {
    if (equal_quads == 0xf) return first;
    return _mm512_mask_mov_epi64(resolve::mean_of_samples<kSamples>(first, words, sample_B), kQuadHalves[equal_quads], first);
  }
}

template <bool kStream>
TILEGPU_WIDE inline void put_line(uint8_t* to, __m512i line) {
  if constexpr (kStream) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  } else {
    _mm512_storeu_si512(to, line);
  }
}

/// The first two quads' 16 bytes of a, then those of b; or the last two.
TILEGPU_WIDE inline __m512i upper_quads(__m512i a, __m512i b) { return _mm512_shuffle_i64x2(a, b, 0x44); }
TILEGPU_WIDE inline __m512i lower_quads(__m512i a, __m512i b) { return _mm512_shuffle_i64x2(a, b, 0xee); }

template <uint32_t kTexel_B, uint32_t kSamples, bool kStream>
TILEGPU_WIDE void write_lines(const PlaneView& plane, uint32_t column, uint32_t row, uint32_t count, uint8_t* out, size_t pitch_B) {
  constexpr uint32_t kWords = kTexel_B / 4, kBlocks = 16 / kTexel_B;
  assert(count % kBlocks == 0 && plane.words == kWords);
  const size_t sample_B = static_cast<size_t>(plane.words) * kWordPlane_B;
  __m512i words[4];  // of one block, or of four
  const auto read = [&](uint32_t block, __m512i* to) TILEGPU_WIDE {
    const uint32_t equal = plane.equal_quads(column + block, row);
    const uint8_t* from = kSamples == 1 ? source_block(plane, column + block, row) : plane.block(column + block, row);
    for (uint32_t w = 0; w < kWords; ++w) to[w] = word_of_block<kSamples>(from + w * kWordPlane_B, sample_B, equal);
  };
  const auto put = [&](__m512i r0, __m512i r1, __m512i r2, __m512i r3) TILEGPU_WIDE {
    put_line<kStream>(out, r0);
    put_line<kStream>(out + pitch_B, r1);
    put_line<kStream>(out + 2 * pitch_B, r2);
    put_line<kStream>(out + 3 * pitch_B, r3);
    out += 64;
  };
  // Upper rows of the quads of two blocks, then lower ones.
  const __m512i top = _mm512_setr_epi64(0, 2, 8, 10, 1, 3, 9, 11), bottom = _mm512_setr_epi64(4, 6, 12, 14, 5, 7, 13, 15);
  const __m512i middle_swapped = _mm512_setr_epi64(0, 1, 4, 5, 2, 3, 6, 7);
  for (uint32_t i = 0; i < count; i += kBlocks) {
    if constexpr (kTexel_B == 4) {
      for (uint32_t b = 0; b < 4; ++b) read(i + b, words + b);
      const __m512i top_ab = _mm512_permutex2var_epi64(words[0], top, words[1]),
                    top_cd = _mm512_permutex2var_epi64(words[2], top, words[3]);
      const __m512i low_ab = _mm512_permutex2var_epi64(words[0], bottom, words[1]);
      const __m512i low_cd = _mm512_permutex2var_epi64(words[2], bottom, words[3]);
      put(upper_quads(top_ab, top_cd), lower_quads(top_ab, top_cd), upper_quads(low_ab, low_cd), lower_quads(low_ab, low_cd));
    } else if constexpr (kTexel_B == 8) {
      for (uint32_t b = 0; b < 2; ++b) read(i + b, words + 2 * b);
      // Two pixels of each quad's upper row, and of its lower one.
      const __m512i up_a = _mm512_unpacklo_epi32(words[0], words[1]), down_a = _mm512_unpackhi_epi32(words[0], words[1]);
      const __m512i up_b = _mm512_unpacklo_epi32(words[2], words[3]), down_b = _mm512_unpackhi_epi32(words[2], words[3]);
      put(upper_quads(up_a, up_b), upper_quads(down_a, down_b), lower_quads(up_a, up_b), lower_quads(down_a, down_b));
    } else {
      read(i, words);
      const __m512i a = _mm512_unpacklo_epi32(words[0], words[1]), b = _mm512_unpacklo_epi32(words[2], words[3]);
      const __m512i c = _mm512_unpackhi_epi32(words[0], words[1]), d = _mm512_unpackhi_epi32(words[2], words[3]);
      const __m512i pixel[4] = {_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b), _mm512_unpacklo_epi64(c, d),
                                _mm512_unpackhi_epi64(c, d)};  // of each quad
      const auto in_order = [&](__m512i line) TILEGPU_WIDE { return _mm512_permutexvar_epi64(middle_swapped, line); };
      put(in_order(upper_quads(pixel[0], pixel[1])), in_order(upper_quads(pixel[2], pixel[3])), in_order(lower_quads(pixel[0], pixel[1])),
          in_order(lower_quads(pixel[2], pixel[3])));
    }
  }
}

template <uint32_t kTexel_B, uint32_t kSamples>
void write_rows(const PlaneView& plane, uint32_t column, uint32_t row, uint32_t count, bool stream, uint8_t* out, size_t pitch_B) {
  if (stream && ((reinterpret_cast<uintptr_t>(out) | pitch_B) & 63) == 0) {
    write_lines<kTexel_B, kSamples, true>(plane, column, row, count, out, pitch_B);
  } else {
    write_lines<kTexel_B, kSamples, false>(plane, column, row, count, out, pitch_B);
  }
}

}  // namespace
#endif

bool has_wide_rows(const PlaneView& plane, const RowsView& rows, const resolve::Reducer* reducer) {
  if (!TILEGPU_HAS_WIDE || !plane.wide || rows.field.mask || rows.texel_B < 4) return false;
  // One sample of four bytes goes as fast with half registers: memory is what it waits for.
  if (rows.texel_B > 4) return !reducer;
  return reducer && reducer->kind == resolve::ReduceKind::unorm8 && reducer->mode == resolve::ReduceMode::average;
}

#if TILEGPU_HAS_WIDE
void write_wide_rows(const PlaneView& plane, uint32_t column, uint32_t row, uint32_t count, const resolve::Reducer* reducer, bool stream,
                     const RowsView& rows) {
  assert(count % blocks_per_line(rows.texel_B) == 0);
  uint8_t* out = rows.at(plane.x_px + static_cast<int32_t>(column * kBlock_px), plane.y_px + static_cast<int32_t>(row * kBlock_px));
  if (rows.texel_B == 8) return write_rows<8, 1>(plane, column, row, count, stream, out, rows.pitch_B);
  if (rows.texel_B == 16) return write_rows<16, 1>(plane, column, row, count, stream, out, rows.pitch_B);
  switch (reducer->samples) {
    case 2:
      return write_rows<4, 2>(plane, column, row, count, stream, out, rows.pitch_B);
    case 4:
      return write_rows<4, 4>(plane, column, row, count, stream, out, rows.pitch_B);
    case 8:
      return write_rows<4, 8>(plane, column, row, count, stream, out, rows.pitch_B);
    default:
      return write_rows<4, 16>(plane, column, row, count, stream, out, rows.pitch_B);
  }
}
#else
void write_wide_rows(const PlaneView&, uint32_t, uint32_t, uint32_t, const resolve::Reducer*, bool, const RowsView&) { no_wide_vectors(); }
#endif

}  // namespace tilegpu::tile_io
