// benchmarks/cpp/bench_effect_math.hpp -- sines, arcs, powers for the kernels of whole pictures: tilegpu's polynomials, so that the bits
// are the same, without what only arguments need that no scene has (NaN, infinities, more than 2^18 radians, -0, denormals).
//
// In: sixteen arguments, or some packets of sixteen (Floats) whose chains of dependent operations fill each other's gaps. Out: results.
// Source: cpp/src/shader/ir/math_*.cpp.
#pragma once

#include "bench_effect.hpp"

namespace effect {

/// Some packets side by side.
template <int N>
struct Floats {
  F v[N];
  Floats() = default;
  EFFECT_INLINE Floats(float x) {  // NOLINT: as a number
#pragma GCC unroll 8
    for (F& one : v) one = all(x);
  }
};
template <int N>
struct Masks {
  Mask v[N];
};

template <int N, class Make, class... Rest>
EFFECT_INLINE Floats<N> each(Make&& make, const Rest&... of) {
  Floats<N> r;
#pragma GCC unroll 8
  for (int k = 0; k < N; k++) r.v[k] = make(of.v[k]...);
  return r;
}
#define EFFECT_BINARY(name, expression)                                                         \
  template <int N>                                                                              \
  EFFECT_INLINE Floats<N> name(const Floats<N>& a, const Floats<N>& b) {                        \
    return each<N>([](F x, F y) __attribute__((always_inline)) { return expression; }, a, b);   \
  }                                                                                             \
  template <int N>                                                                              \
  EFFECT_INLINE Floats<N> name(const Floats<N>& a, float b) {                                   \
    return each<N>([y = all(b)](F x) __attribute__((always_inline)) { return expression; }, a); \
  }                                                                                             \
  template <int N>                                                                              \
  EFFECT_INLINE Floats<N> name(float a, const Floats<N>& b) {                                   \
    return each<N>([x = all(a)](F y) __attribute__((always_inline)) { return expression; }, b); \
  }
EFFECT_BINARY(operator+, x + y)
EFFECT_BINARY(operator-, x - y)
EFFECT_BINARY(operator*, x* y)
EFFECT_BINARY(operator/, x / y)
EFFECT_BINARY(min, min(x, y))
EFFECT_BINARY(max, max(x, y))
#define EFFECT_UNARY(name)                                                         \
  template <int N>                                                                 \
  EFFECT_INLINE Floats<N> name(const Floats<N>& a) {                               \
    return each<N>([](F x) __attribute__((always_inline)) { return name(x); }, a); \
  }
EFFECT_UNARY(root)
EFFECT_UNARY(magnitude)
EFFECT_UNARY(floor_of)
EFFECT_UNARY(clamp01)
template <int N>
EFFECT_INLINE Floats<N> fma(const Floats<N>& a, const Floats<N>& b, const Floats<N>& c) {
  return each<N>([](F x, F y, F z) __attribute__((always_inline)) { return fma(x, y, z); }, a, b, c);
}
template <int N>
EFFECT_INLINE Floats<N> fma(const Floats<N>& a, float b, const Floats<N>& c) {
  return fma(a, Floats<N>(b), c);
}
template <int N>
EFFECT_INLINE Floats<N> fma(const Floats<N>& a, const Floats<N>& b, float c) {
  return fma(a, b, Floats<N>(c));
}
template <int N>
EFFECT_INLINE Floats<N> fma(const Floats<N>& a, float b, float c) {
  return fma(a, Floats<N>(b), Floats<N>(c));
}
template <int N>
EFFECT_INLINE Floats<N> fms(const Floats<N>& a, float b, const Floats<N>& c) {
  return each<N>([y = all(b)](F x, F z) __attribute__((always_inline)) { return fms(x, y, z); }, a, c);
}
template <int N>
EFFECT_INLINE Masks<N> less(const Floats<N>& a, const Floats<N>& b) {
  Masks<N> r;
#pragma GCC unroll 8
  for (int k = 0; k < N; k++) r.v[k] = less(a.v[k], b.v[k]);
  return r;
}
template <int N>
EFFECT_INLINE Floats<N> choose(const Masks<N>& m, const Floats<N>& yes, const Floats<N>& no) {
  Floats<N> r;
#pragma GCC unroll 8
  for (int k = 0; k < N; k++) r.v[k] = choose(m.v[k], yes.v[k], no.v[k]);
  return r;
}
/// mix of two numbers, or of a number of each pixel and another.
template <int N>
EFFECT_INLINE Floats<N> mix(float x, float y, const Floats<N>& t) {
  return each<N>([=](F share) __attribute__((always_inline)) { return mix(x, y, share); }, t);
}
template <int N>
EFFECT_INLINE Floats<N> mix(const Floats<N>& x, const Floats<N>& y, const Floats<N>& t) {
  return each<N>([](F a, F b, F share) __attribute__((always_inline)) { return mix(a, b, share); }, x, y, t);
}

EFFECT_INLINE F number(F, float x) { return all(x); }
template <int N>
EFFECT_INLINE Floats<N> number(const Floats<N>&, float x) {
  return {x};
}
/// The highest power first.
template <class T, class... Rest>
EFFECT_INLINE T polynomial(const T& x, float first, Rest... rest) {
  T sum = number(x, first);
  ((sum = fma(sum, x, rest)), ...);
  return sum;
}

template <class T>
EFFECT_INLINE T sine_of_half_turn(const T& r) {
  const T square = r * r;
  return fma(r * square, polynomial(square, 0x1.5d8fbap-19f, -0x1.9f6af2p-13f, 0x1.110e98p-7f, -0x1.555548p-3f), r);
}
template <class T>
EFFECT_INLINE T less_turns(const T& x, const T& n) {
  return fma(n, -0x1.846ap-47f, fma(n, -0x1.4442dp-23f, fma(n, -0x1.921fb4p+1f, x)));
}
/// `x` with its sign changed where the last bit of `steps` is set.
EFFECT_INLINE F turned(F x, F steps) { return floats(_mm512_xor_si512(bits(x), _mm512_slli_epi32(bits(steps), 31))); }
template <int N>
EFFECT_INLINE Floats<N> turned(const Floats<N>& x, const Floats<N>& steps) {
  return each<N>([](F a, F b) __attribute__((always_inline)) { return turned(a, b); }, x, steps);
}
template <class T>
EFFECT_INLINE T sine(const T& x) {
  const T sum = fma(x, 0x1.45f306p-2f, 0x1.8p23f);
  return turned(sine_of_half_turn(less_turns(x, sum - 0x1.8p23f)), sum);
}
EFFECT_INLINE F cosine(F x) {
  const F sum = fma(x, 0x1.45f306p-2f, -0.5f) + 0x1.8p23f;
  const F s = sine_of_half_turn(less_turns(x, (sum - 0x1.8p23f) + 0.5f));
  // Times -1 where the number of half turns is even.
  return floats(_mm512_ternarylogic_epi32(bits(s), _mm512_slli_epi32(bits(sum), 31), all(static_cast<int32_t>(0x80000000u)), 0x96));
}

/// The angle of (x, y), neither 0 nor infinite.
EFFECT_INLINE F arc(F y, F x) {
  const F a = magnitude(y), b = magnitude(x);
  const Mask steep = less(b, a);
  const F t = min(a, b) / max(a, b), square = t * t;
  const F q = polynomial(square, 0x1.86406cp-10f, -0x1.2ba6b6p-7f, 0x1.aefb2cp-6f, -0x1.9115a4p-5f, 0x1.2006f8p-4f, -0x1.6dd8fep-4f,
                         0x1.c62cdap-4f, -0x1.248952p-3f, 0x1.999956p-3f, -0x1.555556p-2f);
  F r = fma(t * square, q, t);
  r = _mm512_mask_add_ps(r, steep, all(0x1.921fb6p+0f) - r, all(-0x1.777a5cp-25f));
  const Mask left = _mm512_movepi32_mask(bits(x));
  r = _mm512_mask_add_ps(r, left, all(0x1.921fb6p+1f) - r, all(-0x1.777a5cp-24f));
  return floats(
      _mm512_ternarylogic_epi32(bits(r), bits(y), all(static_cast<int32_t>(0x80000000u)), 0xf8));  // r is positive: r | (y & sign)
}
template <int N>
EFFECT_INLINE Floats<N> arc(const Floats<N>& y, const Floats<N>& x) {
  return each<N>([](F a, F b) __attribute__((always_inline)) { return arc(a, b); }, y, x);
}

/// e^x for x from -87 to 88: one step of scaling is exact.
EFFECT_INLINE F exponential(F x) {
  const F n = _mm512_roundscale_ps(x * 0x1.715476p+0f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const F r = fma(n, 0x1.05c61p-29f, fma(n, -0x1.62e43p-1f, x));
  const F q = polynomial(r, 0x1.6d112cp-10f, 0x1.120b9p-7f, 0x1.55551ap-5f, 0x1.5554dcp-3f, 0x1p-1f);
  return _mm512_scalef_ps(fma(r * r, q, r) + 1.0f, n);
}

/// 2^e times 1 + f, f from -0.293 to 0.414; of a positive normal number. The exponent stays where it is in the pattern.
struct Parts {
  F f;
  I e;
};
EFFECT_INLINE Parts parts_of(F x) {
  const I e = _mm512_and_si512(_mm512_sub_epi32(bits(x), all(0x3f3504f3)), all(static_cast<int32_t>(0xff800000u)));
  return {floats(_mm512_sub_epi32(bits(x), e)) - 1.0f, e};
}

EFFECT_INLINE F logarithm2(F x) {
  const Parts p = parts_of(x);
  const F high = p.f * 0x1.715476p+0f;
  const F low = fma(p.f, 0x1.4ae0cp-26f, fms(p.f, all(0x1.715476p+0f), high));
  const F tail = (p.f * p.f) * polynomial(p.f, -0x1.3a50c2p-4f, 0x1.049008p-3f, -0x1.0cda54p-3f, 0x1.22ea4ap-3f, -0x1.54837ep-3f,
                                          0x1.99a012p-3f, -0x1.00020cp-2f, 0x1.555554p-2f, -0x1.fffffep-2f);
  return _mm512_cvtepi32_ps(_mm512_srai_epi32(p.e, 23)) + (high + fma(tail, 0x1.715476p+0f, low));
}

/// x^y for x from 0 to 1, y positive; 0 where x is no normal number.
EFFECT_INLINE F power(F x, F y) {
  const Parts p = parts_of(x);
  const F q = polynomial(p.f, -0x1.2a7cccp+20f, 0x1.e52662p+20f, -0x1.0011e4p+21f, 0x1.2596aap+21f, -0x1.70babap+21f, 0x1.ec7b64p+21f,
                         -0x1.7155bap+22f, 0x1.715472p+23f);
  const F t = max(y * (fma(p.f, q, _mm512_cvtepi32_ps(p.e)) * 0x1p-23f), all(-190.0f));
  const F shifted = t + 0x1.8p23f, r = t - (shifted - 0x1.8p23f);
  const F scaled = fma(polynomial(r, 0x1.5bba58p-10f, 0x1.3cea84p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f), r, 1.0f);
  const I sum = _mm512_add_epi32(bits(scaled), _mm512_slli_epi32(bits(shifted), 23));
  const Mask normal = _mm512_cmp_ps_mask(x, all(0x1p-126f), _CMP_GE_OQ) & _mm512_cmpge_epi32_mask(sum, all(0x00800000));
  return floats(_mm512_maskz_mov_epi32(normal, sum));
}
template <int N>
EFFECT_INLINE Floats<N> power(const Floats<N>& x, const Floats<N>& y) {
  return each<N>([](F a, F b) __attribute__((always_inline)) { return power(a, b); }, x, y);
}

}  // namespace effect
