// tile_io/block_rows.hpp -- one 4x4 block of tile memory to four rows of texels, and back.
//
// In: a block's words (quad-major) or rows of an image. Out: the other. Widths of texels are template parameters, so that a plane's loop
// holds no branch. See tile_memory.hpp for the order of pixels.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/intrinsics.hpp"
#include "framebuffer/tile_memory.hpp"

namespace tilegpu::tile_io {

using namespace framebuffer;  // the layout of tile memory

inline constexpr uint32_t kWordPlane_B = 64;  // 16 pixels of one word

/// Rows of 4 words each of one word plane.
struct WordRows {
  __m128i row[4];
};

inline WordRows rows_of_block(const uint8_t* words) {
  const auto quad = [&](int q) { return _mm_load_si128(reinterpret_cast<const __m128i*>(words) + q); };
  const __m128i q0 = quad(0), q1 = quad(1), q2 = quad(2), q3 = quad(3);
  return {{_mm_unpacklo_epi64(q0, q1), _mm_unpackhi_epi64(q0, q1), _mm_unpacklo_epi64(q2, q3), _mm_unpackhi_epi64(q2, q3)}};
}

inline void block_of_rows(const WordRows& rows, uint8_t* words) {
  const auto put = [&](int q, __m128i v) { _mm_store_si128(reinterpret_cast<__m128i*>(words) + q, v); };
  put(0, _mm_unpacklo_epi64(rows.row[0], rows.row[1]));
  put(1, _mm_unpackhi_epi64(rows.row[0], rows.row[1]));
  put(2, _mm_unpacklo_epi64(rows.row[2], rows.row[3]));
  put(3, _mm_unpackhi_epi64(rows.row[2], rows.row[3]));
}

inline void store16(uint8_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
inline __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

/// Four words for each of the four word planes, turned into four texels of 16 bytes, or back.
inline void transpose(__m128i v[4]) {
  const __m128i a = _mm_unpacklo_epi32(v[0], v[1]), b = _mm_unpacklo_epi32(v[2], v[3]);
  const __m128i c = _mm_unpackhi_epi32(v[0], v[1]), d = _mm_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm_unpacklo_epi64(a, b);
  v[1] = _mm_unpackhi_epi64(a, b);
  v[2] = _mm_unpacklo_epi64(c, d);
  v[3] = _mm_unpackhi_epi64(c, d);
}

/// Part of a 32-bit image word that a plane owns (depth or stencil of D24S8). mask 0: the texel is the plane's alone.
struct WordField {
  uint32_t mask = 0;  // in the image's word
  int shift = 0;      // of the plane's value
};

/// kStream: texels of 8 and 16 bytes go past the caches; their rows fill lines (16 bytes) or half lines next to each other (8 bytes).
template <uint32_t kTexel_B, bool kStream = false>
inline void write_block(const uint8_t* block, uint8_t* out, size_t pitch_B) {
  const auto put = [](uint8_t* p, __m128i v) {
    if constexpr (kStream) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(p), v);
    } else {
      store16(p, v);
    }
  };
  const WordRows w0 = rows_of_block(block);
  if constexpr (kTexel_B == 1) {
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    for (int y = 0; y < 4; ++y) {
      const int32_t texels = _mm_cvtsi128_si32(_mm_shuffle_epi8(w0.row[y], order));
      std::memcpy(out + y * pitch_B, &texels, 4);
    }
  } else if constexpr (kTexel_B == 2) {
    const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    for (int y = 0; y < 4; ++y) _mm_storel_epi64(reinterpret_cast<__m128i*>(out + y * pitch_B), _mm_shuffle_epi8(w0.row[y], order));
  } else if constexpr (kTexel_B == 4) {
    for (int y = 0; y < 4; ++y) store16(out + y * pitch_B, w0.row[y]);
  } else if constexpr (kTexel_B == 8) {
    const WordRows w1 = rows_of_block(block + kWordPlane_B);
    for (int y = 0; y < 4; ++y) {
      put(out + y * pitch_B, _mm_unpacklo_epi32(w0.row[y], w1.row[y]));
      put(out + y * pitch_B + 16, _mm_unpackhi_epi32(w0.row[y], w1.row[y]));
    }
  } else {
    const WordRows w1 = rows_of_block(block + kWordPlane_B), w2 = rows_of_block(block + 2 * kWordPlane_B),
                   w3 = rows_of_block(block + 3 * kWordPlane_B);
    for (int y = 0; y < 4; ++y) {
      __m128i v[4] = {w0.row[y], w1.row[y], w2.row[y], w3.row[y]};
      transpose(v);
      for (int x = 0; x < 4; ++x) put(out + y * pitch_B + 16 * x, v[x]);
    }
  }
}

template <uint32_t kTexel_B>
inline void read_block(const uint8_t* in, size_t pitch_B, uint8_t* block) {
  WordRows w0;
  if constexpr (kTexel_B == 1) {
    for (int y = 0; y < 4; ++y) {
      int32_t texels;
      std::memcpy(&texels, in + y * pitch_B, 4);
      w0.row[y] = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(texels));
    }
  } else if constexpr (kTexel_B == 2) {
    for (int y = 0; y < 4; ++y) w0.row[y] = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + y * pitch_B)));
  } else if constexpr (kTexel_B == 4) {
    for (int y = 0; y < 4; ++y) w0.row[y] = load16(in + y * pitch_B);
  } else if constexpr (kTexel_B == 8) {
    WordRows w1;
    for (int y = 0; y < 4; ++y) {
      const __m128 a = _mm_castsi128_ps(load16(in + y * pitch_B)), b = _mm_castsi128_ps(load16(in + y * pitch_B + 16));
      w0.row[y] = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
      w1.row[y] = _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
    }
    block_of_rows(w1, block + kWordPlane_B);
  } else {
    WordRows w[3];
    for (int y = 0; y < 4; ++y) {
      __m128i v[4];
      for (int x = 0; x < 4; ++x) v[x] = load16(in + y * pitch_B + 16 * x);
      transpose(v);
      w0.row[y] = v[0];
      for (int i = 0; i < 3; ++i) w[i].row[y] = v[i + 1];
    }
    for (int i = 0; i < 3; ++i) block_of_rows(w[i], block + (i + 1) * kWordPlane_B);
  }
  block_of_rows(w0, block);
}

/// The plane's field of 32-bit words; the other aspect's bits stay.
inline void write_block_field(const uint8_t* block, WordField field, uint8_t* out, size_t pitch_B) {
  const WordRows w = rows_of_block(block);
  const __m128i mask = _mm_set1_epi32(static_cast<int>(field.mask)), shift = _mm_cvtsi32_si128(field.shift);
  for (int y = 0; y < 4; ++y) {
    const __m128i value = _mm_and_si128(_mm_sll_epi32(w.row[y], shift), mask);
    store16(out + y * pitch_B, _mm_or_si128(_mm_andnot_si128(mask, load16(out + y * pitch_B)), value));
  }
}

inline void read_block_field(const uint8_t* in, size_t pitch_B, WordField field, uint8_t* block) {
  WordRows w;
  const __m128i mask = _mm_set1_epi32(static_cast<int>(field.mask)), shift = _mm_cvtsi32_si128(field.shift);
  for (int y = 0; y < 4; ++y) w.row[y] = _mm_srl_epi32(_mm_and_si128(load16(in + y * pitch_B), mask), shift);
  block_of_rows(w, block);
}

}  // namespace tilegpu::tile_io
