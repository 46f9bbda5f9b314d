// benchmarks/cpp/bench_effect.hpp -- what the kernels by hand of whole pictures share: vectors, images, the coordinates of a triangle over
// the picture, colours as bytes. One file for each class of work: bench_effect_*.cpp; threads: bench_effect.cpp.
//
// A kernel does the work of a scene's shaders to the same picture, with the operations that they are made of in the same order where that
// decides about bits. What is known of the scene and of nothing else is used: arguments are finite and in range, 1/w is 1, every pixel is
// covered, nothing is blended, there is no depth. Sources: shaders/*.frag; docs/performance.md has the figures.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace effect {

using F = __m512;
using I = __m512i;
using Mask = __mmask16;

#define EFFECT_INLINE inline __attribute__((always_inline))

EFFECT_INLINE F all(float v) { return _mm512_set1_ps(v); }
EFFECT_INLINE I all(int32_t v) { return _mm512_set1_epi32(v); }
EFFECT_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
EFFECT_INLINE F fma(F a, float b, F c) { return _mm512_fmadd_ps(a, all(b), c); }
EFFECT_INLINE F fma(F a, float b, float c) { return _mm512_fmadd_ps(a, all(b), all(c)); }
EFFECT_INLINE F fma(F a, F b, float c) { return _mm512_fmadd_ps(a, b, all(c)); }
EFFECT_INLINE F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
EFFECT_INLINE F fms(F a, F b, F c) { return _mm512_fmsub_ps(a, b, c); }
EFFECT_INLINE I bits(F v) { return _mm512_castps_si512(v); }
EFFECT_INLINE F floats(I v) { return _mm512_castsi512_ps(v); }
EFFECT_INLINE F min(F a, F b) { return _mm512_min_ps(a, b); }
EFFECT_INLINE F max(F a, F b) { return _mm512_max_ps(a, b); }
EFFECT_INLINE F clamp01(F a) { return min(max(a, _mm512_setzero_ps()), all(1.0f)); }
EFFECT_INLINE F root(F a) { return _mm512_sqrt_ps(a); }
EFFECT_INLINE F magnitude(F a) { return _mm512_abs_ps(a); }
EFFECT_INLINE F floor_of(F a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
EFFECT_INLINE F choose(Mask m, F yes, F no) { return _mm512_mask_blend_ps(m, no, yes); }
EFFECT_INLINE Mask less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
/// x (1 - t) + y t as the shaders' mix.
EFFECT_INLINE F mix(F x, F y, F t) { return fma(t, y, fnma(t, x, x)); }
EFFECT_INLINE F mix(float x, float y, F t) { return fma(t, all(y), fnma(t, all(x), all(x))); }
EFFECT_INLINE F mix(float x, F y, F t) { return fma(t, y, fnma(t, all(x), all(x))); }
EFFECT_INLINE F dot(F ax, F ay, F az, F bx, F by, F bz) { return fma(az, bz, fma(ay, by, ax * bx)); }

struct Rgb {
  F r, g, b;
};

/// 255 times a colour within 0 to 1, rounded to even, in the low byte: the sum's last bits are the code.
EFFECT_INLINE I code(F x) { return bits(fma(clamp01(x), 255.0f, 0x1p23f)); }
EFFECT_INLINE I rgba8(const Rgb& c) {
  constexpr int kOr = 0xfe;  // of all three; what is above a code is shifted out, or within alpha's ones
  const I rg = _mm512_ternarylogic_epi32(code(c.r), _mm512_slli_epi32(code(c.g), 8), all(static_cast<int32_t>(0xff000000u)), kOr);
  return _mm512_or_si512(rg, _mm512_slli_epi32(code(c.b), 16));
}

template <class T>
struct Freed {
  void operator()(T* p) const { std::free(p); }
};
template <class T>
using Memory = std::unique_ptr<T[], Freed<T>>;
template <class T>
Memory<T> memory(size_t count) {
  return Memory<T>(static_cast<T*>(std::aligned_alloc(4096, (count * sizeof(T) + 8191) / 4096 * 4096)));
}

/// A step of a frame: rows of some image, in pieces that threads take one by one. All is done before the next step begins.
struct Step {
  uint32_t rows, rows_at_once;
  std::function<void(uint32_t first, uint32_t last)> run;
};

/// What a scene gives: its push constants as floats; matrices.
struct Given {
  uint32_t width, height;
  const float* numbers;
  const void* const* arrays;
};

/// One scene's kernel.
class Effect {
 public:
  explicit Effect(const Given& given)
      : width(given.width), height(given.height), image(memory<uint32_t>(size_t{given.width} * given.height)) {}
  virtual ~Effect() = default;
  Effect(const Effect&) = delete;
  Effect& operator=(const Effect&) = delete;

  uint32_t width, height;
  Memory<uint32_t> image;  // RGBA8
  std::vector<Step> steps;
};

/// u of a pixel's centre: the triangle over the picture has u = 0 at x = 0 and 2 at twice the width, and 1/w is 1.
EFFECT_INLINE F unit_of(F centre, float per_pixel) {
  const F share = centre * per_pixel;
  return share + share;
}
/// Sixteen pixels of a row, or of a block of 4x4: their centres.
EFFECT_INLINE F row_x(uint32_t x) {
  return all(static_cast<float>(x)) +
         _mm512_setr_ps(0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f, 9.5f, 10.5f, 11.5f, 12.5f, 13.5f, 14.5f, 15.5f);
}
EFFECT_INLINE F block_x(uint32_t x) {
  return all(static_cast<float>(x)) +
         _mm512_setr_ps(0.5f, 1.5f, 2.5f, 3.5f, 0.5f, 1.5f, 2.5f, 3.5f, 0.5f, 1.5f, 2.5f, 3.5f, 0.5f, 1.5f, 2.5f, 3.5f);
}
EFFECT_INLINE F block_y(uint32_t y) {
  return all(static_cast<float>(y)) +
         _mm512_setr_ps(0.5f, 0.5f, 0.5f, 0.5f, 1.5f, 1.5f, 1.5f, 1.5f, 2.5f, 2.5f, 2.5f, 2.5f, 3.5f, 3.5f, 3.5f, 3.5f);
}
EFFECT_INLINE void store_row(uint32_t* to, I colors) { _mm512_stream_si512(reinterpret_cast<__m512i*>(to), colors); }
EFFECT_INLINE void store_block(uint32_t* to, uint32_t pitch, I colors) {
  _mm_store_si128(reinterpret_cast<__m128i*>(to), _mm512_castsi512_si128(colors));
  _mm_store_si128(reinterpret_cast<__m128i*>(to + pitch), _mm512_extracti32x4_epi32(colors, 1));
  _mm_store_si128(reinterpret_cast<__m128i*>(to + 2 * pitch), _mm512_extracti32x4_epi32(colors, 2));
  _mm_store_si128(reinterpret_cast<__m128i*>(to + 3 * pitch), _mm512_extracti32x4_epi32(colors, 3));
}

std::unique_ptr<Effect> make_noise(const Given& given);
std::unique_ptr<Effect> make_fractal(const Given& given);
std::unique_ptr<Effect> make_ray_march(const Given& given);
std::unique_ptr<Effect> make_matrix_product(const Given& given);

}  // namespace effect
