// benchmarks/cpp/bench_scene_kernel.hpp -- the two halves that bench_scenes.cpp puts together: a scene's data, and the shading of sixteen
// fragments of shaders/multisampling.frag with a trilinear sampler, by hand in AVX-512.
//
// Precision is tilegpu's: perspective barycentrics in float from the vertex with the least 1/w, level of detail from 2x2 quads by the
// same polynomial, filter weights in float, RGBA8 rounded to nearest. What is special to the scene is used: sizes are powers of two, both
// look-ups share one level of detail, nothing is clipped, constants are multiplied beforehand.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kernel {

using F = __m512;
using I = __m512i;
using Mask = __mmask16;

#define KERNEL_INLINE inline __attribute__((always_inline))

KERNEL_INLINE F all(float v) { return _mm512_set1_ps(v); }
KERNEL_INLINE I all(int32_t v) { return _mm512_set1_epi32(v); }
KERNEL_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
KERNEL_INLINE F operator_add(F a, F b) { return _mm512_add_ps(a, b); }
KERNEL_INLINE I bits(F v) { return _mm512_castps_si512(v); }
KERNEL_INLINE F floats(I v) { return _mm512_castsi512_ps(v); }

/// The texture as it is uploaded: all levels beside and below each other in rows of kPitch_texels, each with one column and one row more
/// (repeat addressing), so that the four texels of a look-up are two pairs in rows one pitch apart.
constexpr int32_t kPitch_texels = 784, kRows = 514;
struct Texture {
  alignas(64) int32_t first[16];  // texel (0, 0) of a level
  alignas(64) int32_t mask[16];   // size - 1
  alignas(64) float size[16];
  alignas(64) uint32_t texels[kPitch_texels * kRows + 16];
};

constexpr uint32_t kNothing = 0xffffffffu;

/// A triangle that may be seen. Positions have 8 subpixel bits and are wound so that the area is positive.
struct alignas(64) Primitive {
  int32_t x[3], y[3];
  float z0, zx, zy, anchor_x, anchor_y, lo, hi, unused[3];
  // As groups of four, for packets of several primitives: anchor x, y, q0, qx | qy, ix, iy, jx | jy, n0 | dn1, dn2.x | dn2.yz, u0, du1 |
  // du2, v0, dv1, dv2
  float shade[32];
};
static_assert(sizeof(Primitive) == 192);
enum Coefficient {
  kAnchorX,
  kAnchorY,
  kQ0,
  kQx,
  kQy,
  kIx,
  kIy,
  kJx,
  kJy,
  kN0,
  kN1 = 12,
  kN2 = 15,
  kU0 = 18,
  kU1,
  kU2,
  kV0,
  kV1,
  kV2,
  kCoefficients
};

/// Coefficients of one primitive for all lanes.
struct OnePrimitive {
  const float* c;
  template <int k>
  KERNEL_INLINE F get() const {
    return all(c[k]);
  }
};
/// Of a primitive for each quad.
struct FourPrimitives {
  F groups[6];
  KERNEL_INLINE explicit FourPrimitives(const float* const* c) {
    for (int g = 0; g < 6; g++) {
      F v = _mm512_castps128_ps512(_mm_load_ps(c[0] + 4 * g));
      v = _mm512_insertf32x4(v, _mm_load_ps(c[1] + 4 * g), 1);
      v = _mm512_insertf32x4(v, _mm_load_ps(c[2] + 4 * g), 2);
      groups[g] = _mm512_insertf32x4(v, _mm_load_ps(c[3] + 4 * g), 3);
    }
  }
  template <int k>
  KERNEL_INLINE F get() const {
    return _mm512_permute_ps(groups[k / 4], (k & 3) * 0x55);
  }
};

/// What is constant for the draw. Colours are those of p2 with the two look-ups' shares.
struct Shading {
  const Texture* texture;
  float light[3], first[3], second[3];
};

struct Rgb {
  F r, g, b;
};

// Bytes 0, 1 and 2 of texels as floats 2^23 + byte, 2^23 + 256 * byte and 2^23 + byte: their differences are exact.
KERNEL_INLINE F red(I t) { return floats(_mm512_ternarylogic_epi32(t, all(0xff), all(0x4b000000), 0xea)); }
KERNEL_INLINE F green(I t) { return floats(_mm512_ternarylogic_epi32(t, all(0xff00), all(0x4b000000), 0xea)); }
KERNEL_INLINE F blue(I t) {
  const I from = _mm512_set1_epi32(0x00000002), each = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  return floats(_mm512_mask_shuffle_epi8(all(0x4b000000), 0x1111111111111111ull, t, _mm512_add_epi32(from, each)));
}

KERNEL_INLINE F lerp2(F a, F b, F c, F d, F x, F y) {
  const F upper = fma(_mm512_sub_ps(b, a), x, _mm512_sub_ps(a, all(0x1p23f))),
          lower = fma(_mm512_sub_ps(d, c), x, _mm512_sub_ps(c, all(0x1p23f)));
  return fma(_mm512_sub_ps(lower, upper), y, upper);
}

/// One bilinear look-up in a level of each lane; green is 256 times too large.
KERNEL_INLINE Rgb bilinear(const Texture& texture, F u, F v, F size, I mask, I first) {
  const F half = all(-0.5f);
  const F x = fma(u, size, half), y = fma(v, size, half);
  const I column = _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const I row = _mm512_cvt_roundps_epi32(y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const F weight_x = _mm512_sub_ps(x, _mm512_cvtepi32_ps(column)), weight_y = _mm512_sub_ps(y, _mm512_cvtepi32_ps(row));
  const I line = _mm512_madd_epi16(_mm512_and_si512(row, mask), all(kPitch_texels));
  const I at = _mm512_add_epi32(_mm512_add_epi32(_mm512_and_si512(column, mask), first), line);
  const __m256i low = _mm512_castsi512_si256(at), high = _mm512_extracti32x8_epi32(at, 1);
  const uint32_t* texels = texture.texels;
  const I upper0 = _mm512_i32gather_epi64(low, texels, 4), upper1 = _mm512_i32gather_epi64(high, texels, 4);
  const I lower0 = _mm512_i32gather_epi64(low, texels + kPitch_texels, 4), lower1 = _mm512_i32gather_epi64(high, texels + kPitch_texels, 4);
  const I even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const I odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  const I a = _mm512_permutex2var_epi32(upper0, even, upper1), b = _mm512_permutex2var_epi32(upper0, odd, upper1);
  const I c = _mm512_permutex2var_epi32(lower0, even, lower1), d = _mm512_permutex2var_epi32(lower0, odd, lower1);
  return {lerp2(red(a), red(b), red(c), red(d), weight_x, weight_y), lerp2(green(a), green(b), green(c), green(d), weight_x, weight_y),
          lerp2(blue(a), blue(b), blue(c), blue(d), weight_x, weight_y)};
}

/// A trilinear look-up; `lod` is clamped to 0 .. 9. The level above the last has weight 0.
KERNEL_INLINE Rgb trilinear(const Texture& texture, F u, F v, F lod) {
  const I level = _mm512_cvttps_epi32(lod);
  const F size = _mm512_permutexvar_ps(level, _mm512_load_ps(texture.size));
  const I mask = _mm512_permutexvar_epi32(level, _mm512_load_si512(texture.mask));
  const I first = _mm512_permutexvar_epi32(level, _mm512_load_si512(texture.first));
  const Rgb near = bilinear(texture, u, v, size, mask, first);
  const I next = _mm512_permutexvar_epi32(_mm512_add_epi32(level, all(1)), _mm512_load_si512(texture.first));
  const Rgb far = bilinear(texture, u, v, _mm512_mul_ps(size, all(0.5f)), _mm512_srli_epi32(mask, 1), next);
  const F share = _mm512_sub_ps(lod, _mm512_cvtepi32_ps(level));
  return {fma(_mm512_sub_ps(far.r, near.r), share, near.r), fma(_mm512_sub_ps(far.g, near.g), share, near.g),
          fma(_mm512_sub_ps(far.b, near.b), share, near.b)};
}
KERNEL_INLINE Rgb look_up(const Texture& texture, F u, F v, F lod) {
  const F zero = _mm512_setzero_ps();
  if (!_mm512_cmp_ps_mask(lod, zero, _CMP_GT_OQ))
    return bilinear(texture, u, v, all(texture.size[0]), all(texture.mask[0]), all(texture.first[0]));
  return trilinear(texture, u, v, _mm512_min_ps(_mm512_max_ps(lod, zero), all(9.0f)));
}

/// Half the logarithm of a positive number: tilegpu's polynomial.
KERNEL_INLINE F half_log2(F v) {
  const I moved = _mm512_add_epi32(bits(v), all(-1060439283));
  const F m = _mm512_sub_ps(floats(_mm512_sub_epi32(bits(v), _mm512_and_si512(moved, all(-8388608)))), all(1.0f));
  const F exponent = _mm512_cvtepi32_ps(_mm512_srai_epi32(moved, 23));
  const auto constant = [](uint64_t pattern) {
    double d;
    __builtin_memcpy(&d, &pattern, 8);
    return all(static_cast<float>(d));
  };
  F p = fma(m, constant(0xBFC9E4A760000000), constant(0x3FD4481620000000));
  p = fma(p, m, constant(0xBFD77BB740000000));
  p = fma(p, m, constant(0x3FDEB71940000000));
  p = fma(p, m, constant(0xBFE7140920000000));
  p = fma(p, m, constant(0x3FF7154D00000000));
  return _mm512_mul_ps(fma(p, m, exponent), all(0.5f));
}

/// Fragments between the steps of shading. Each step runs over some packets before the next begins: one packet's chain of dependent
/// operations is longer than what the processor looks ahead, the chains of neighbours in one step fill the gaps.
constexpr uint32_t kBatch = 8;
struct Fragments {
  F u[kBatch], v[kBatch], lod[kBatch], lit[kBatch], r[kBatch], g[kBatch], b[kBatch];
};

/// First step: interpolation, level of detail, light. x, y: pixel centres of sixteen fragments in quads.
template <class Source>
KERNEL_INLINE void interpolate(const Source& s, const Shading& shading, F x, F y, Fragments& out, uint32_t slot) {
  const F at_x = _mm512_sub_ps(x, s.template get<kAnchorX>()), at_y = _mm512_sub_ps(y, s.template get<kAnchorY>());
  const F q = fma(s.template get<kQy>(), at_y, fma(s.template get<kQx>(), at_x, s.template get<kQ0>()));
  const F w = _mm512_div_ps(all(1.0f), q);
  const F i = _mm512_mul_ps(fma(s.template get<kIy>(), at_y, _mm512_mul_ps(s.template get<kIx>(), at_x)), w);
  const F j = _mm512_mul_ps(fma(s.template get<kJy>(), at_y, _mm512_mul_ps(s.template get<kJx>(), at_x)), w);
  const F u = fma(j, s.template get<kU2>(), fma(i, s.template get<kU1>(), s.template get<kU0>()));
  const F v = fma(j, s.template get<kV2>(), fma(i, s.template get<kV1>(), s.template get<kV0>()));
  const F nx = fma(j, s.template get<kN2>(), fma(i, s.template get<kN1>(), s.template get<kN0>()));
  const F ny = fma(j, s.template get<kN2 + 1>(), fma(i, s.template get<kN1 + 1>(), s.template get<kN0 + 1>()));
  const F nz = fma(j, s.template get<kN2 + 2>(), fma(i, s.template get<kN1 + 2>(), s.template get<kN0 + 2>()));
  out.u[slot] = u;
  out.v[slot] = v;

  // Differences to the quad's first pixel: lane 1 has those along x, lane 2 along y; of u * 8 and v * 4 in texels.
  const F du = _mm512_mul_ps(_mm512_sub_ps(u, _mm512_permute_ps(u, 0)), all(8.0f * 512));
  const F dv = _mm512_mul_ps(_mm512_sub_ps(v, _mm512_permute_ps(v, 0)), all(4.0f * 512));
  const F rho2 = fma(du, du, _mm512_mul_ps(dv, dv));
  out.lod[slot] = half_log2(_mm512_max_ps(_mm512_permute_ps(rho2, 0x55), _mm512_permute_ps(rho2, 0xaa)));

  const F square = fma(nz, nz, fma(ny, ny, _mm512_mul_ps(nx, nx)));
  const F inverse = _mm512_div_ps(all(1.0f), _mm512_sqrt_ps(square));
  const F along = fma(nz, all(shading.light[2]), fma(ny, all(shading.light[1]), _mm512_mul_ps(nx, all(shading.light[0]))));
  out.lit[slot] = fma(_mm512_max_ps(_mm512_mul_ps(along, inverse), _mm512_setzero_ps()), all(0.85f), all(0.15f));
}

/// Second step: the look-up at 8 and 4 times the coordinates, with its share.
KERNEL_INLINE void first_look_up(const Shading& shading, Fragments& f, uint32_t slot) {
  const Rgb c = look_up(*shading.texture, _mm512_mul_ps(f.u[slot], all(8.0f)), _mm512_mul_ps(f.v[slot], all(4.0f)), f.lod[slot]);
  f.r[slot] = _mm512_mul_ps(c.r, all(shading.first[0]));
  f.g[slot] = _mm512_mul_ps(c.g, all(shading.first[1]));
  f.b[slot] = _mm512_mul_ps(c.b, all(shading.first[2]));
}

/// Third step: the look-up at 2 and 1 times the coordinates, two levels lower; the colour as RGBA8.
KERNEL_INLINE I finish(const Shading& shading, const Fragments& f, uint32_t slot) {
  const Rgb c = look_up(*shading.texture, _mm512_mul_ps(f.u[slot], all(2.0f)), f.v[slot], _mm512_sub_ps(f.lod[slot], all(2.0f)));
  const auto channel = [&](F a, F b, int k) __attribute__((always_inline)) {
    const F v = _mm512_mul_ps(fma(b, all(shading.second[k]), a), f.lit[slot]);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(v, _mm512_setzero_ps()), all(255.0f)));
  };
  const I rg = _mm512_or_si512(channel(f.r[slot], c.r, 0), _mm512_slli_epi32(channel(f.g[slot], c.g, 1), 8));
  return _mm512_ternarylogic_epi32(rg, _mm512_slli_epi32(channel(f.b[slot], c.b, 2), 16), all(static_cast<int32_t>(0xff000000u)), 0xfe);
}

}  // namespace kernel
