// benchmarks/cpp/bench_effect_toys.cpp -- kernels by hand of toy_noise (clouds of value noise, 28 octaves a pixel) and toy_fractal (the
// Mandelbrot set): arithmetic alone.
//
// In: the size, the time. Out: the picture. What the kernels know beyond the shaders: cells of the noise are small numbers, so that the
// neighbour's product is this one's and a constant; hashes are left as integers until they are mixed, and scaled once (a power of two).
#include "bench_effect_math.hpp"

namespace effect {
namespace {

constexpr int32_t kHashX = 1597334677, kHashY = static_cast<int32_t>(3812015801u), kHashMix = 739982445;

/// 2^24 times the hash of a cell.
EFFECT_INLINE F hash(I x, I y) {
  const I h = _mm512_xor_si512(x, y);
  return _mm512_cvtepi32_ps(_mm512_srli_epi32(_mm512_mullo_epi32(_mm512_xor_si512(h, _mm512_srli_epi32(h, 15)), all(kHashMix)), 8));
}

/// 2^24 times value noise.
EFFECT_INLINE F noise24(F x, F y) {
  const F cell_x = floor_of(x), cell_y = floor_of(y);
  const F part_x = x - cell_x, part_y = y - cell_y;
  const F fx = (part_x * part_x) * _mm512_fnmadd_ps(part_x, all(2.0f), all(3.0f));
  const F fy = (part_y * part_y) * _mm512_fnmadd_ps(part_y, all(2.0f), all(3.0f));
  const I x0 = _mm512_mullo_epi32(_mm512_cvttps_epi32(cell_x), all(kHashX)), x1 = _mm512_add_epi32(x0, all(kHashX));
  const I y0 = _mm512_mullo_epi32(_mm512_cvttps_epi32(cell_y), all(kHashY)), y1 = _mm512_add_epi32(y0, all(kHashY));
  return mix(mix(hash(x0, y0), hash(x1, y0), fx), mix(hash(x0, y1), hash(x1, y1), fx), fy);
}

EFFECT_INLINE F octaves(F x, F y) {
  F sum = _mm512_setzero_ps();
  float weight = 0x1p-25f;  // half, of 2^24 times the noise
#pragma GCC unroll 7
  for (int k = 0; k < 7; k++) {
    sum = k ? fma(noise24(x, y), weight, sum) : noise24(x, y) * weight;
    const F next_x = fma(y, -1.2f, x * 1.6f) + 3.1f;
    y = fma(y, 1.6f, x * 1.2f) + 3.1f;
    x = next_x;
    weight *= 0.5f;
  }
  return sum;
}

/// smoothstep, with the divisions that the shaders' has.
EFFECT_INLINE F smooth_step(float low, float high, F x) {
  const F t = clamp01((x - low) / all(high - low));
  return (t * t) * fma(t, -2.0f, 3.0f);
}

class Noise : public Effect {
 public:
  explicit Noise(const Given& given) : Effect(given), aspect(given.numbers[0] / given.numbers[1]), time(given.numbers[2]) {
    steps.push_back({height, 8, [this](uint32_t first, uint32_t last) { rows(first, last); }});
  }

 private:
  float aspect, time;

  EFFECT_INLINE I shade(F u, float v) const;
  void rows(uint32_t first, uint32_t last) const;
};

EFFECT_INLINE Rgb water(F qx, float v, float time) {
  const float deep = (v - 0.80f) * 5.0f, far = deep + 0.15f, root = __builtin_sqrtf(deep);
  const F wave_a = noise24((qx * 14.0f) / all(far), all(__builtin_fmaf(root, 22.0f, time))) * 0x1p-24f;
  const F wave_b = noise24((qx * 40.0f) / all(far), all(root * 60.0f)) * 0x1p-24f;
  const F wave = fma(wave_b, 0.5f, wave_a);
  const F t = clamp01(fma(all(deep), 0.9f, wave * 0.35f));
  const F glow = exponential((magnitude(qx - 0.25f) * -26.0f) / all(deep + 0.5f)), shine = smooth_step(0.6f, 1.0f, wave);
  return {fma(glow * 1.2f, shine, mix(0.95f, 0.06f, t)), fma(glow * 0.7f, shine, mix(0.50f, 0.07f, t)),
          fma(glow * 0.35f, shine, mix(0.26f, 0.16f, t))};
}

EFFECT_INLINE I Noise::shade(F u, float v) const {
  const F qx = (u - 0.5f) * aspect;
  if (v > 0.80f) return rgba8(water(qx, v, time));  // nothing else is seen there
  const float qy = v - 0.72f, high = 0.78f - v, far = high + 0.35f;
  const F px = fma(qx / all(far), 2.3f, all(0.04f * time)), py = fma(all(1.6f / far), 2.3f, all(0.0f));
  const F warp_x = octaves(px, py), warp_y = octaves(px + 5.2f, py + 5.2f);
  const F x = fma(warp_x, 1.9f, px), y = fma(warp_y, 1.9f, py);
  const F cloud = octaves(x, y), lit = octaves(x + 0.10f, y - 0.16f);

  const F h = all(high), upper = smooth_step(0.15f, 0.75f, h), lower = smooth_step(-0.05f, 0.3f, h);
  Rgb sky = {mix(1.0f, mix(0.72f, 0.12f, upper), lower), mix(0.55f, mix(0.32f, 0.16f, upper), lower),
             mix(0.25f, mix(0.38f, 0.38f, upper), lower)};
  const F sun_x = qx - 0.25f;
  const float sun_y = qy - -0.02f;
  const F sun = root(fma(all(sun_y), all(sun_y), sun_x * sun_x));
  const F glow = fma(exponential(sun * -5.0f), 0.35f, smooth_step(0.075f, 0.068f, sun));
  sky = {fma(glow, 1.2f, sky.r), fma(glow, 0.7f, sky.g), fma(glow, 0.3f, sky.b)};

  const F cover = smooth_step(0.42f, 0.72f, cloud);
  const F shade = clamp01(fma(cover, 0.7f, fma(lit - cloud, 3.5f, 0.5f)));
  const F warm = exponential(sun * -4.0f), share = cover * smooth_step(-0.02f, 0.2f, h);
  return rgba8({mix(sky.r, fma(warm, 0.5f, mix(1.05f, 0.30f, shade)), share), mix(sky.g, fma(warm, 0.25f, mix(0.72f, 0.20f, shade)), share),
                mix(sky.b, fma(warm, 0.1f, mix(0.50f, 0.30f, shade)), share)});
}

void Noise::rows(uint32_t first, uint32_t last) const {
  const float per_x = 1.0f / (2.0f * static_cast<float>(width)), per_y = 1.0f / (2.0f * static_cast<float>(height));
  for (uint32_t y = first; y < last; y++) {
    const float share = (static_cast<float>(y) + 0.5f) * per_y;
    for (uint32_t x = 0; x < width; x += 16) store_row(image.get() + size_t{y} * width + x, shade(unit_of(row_x(x), per_x), share + share));
  }
}

/// Some blocks of 4x4 pixels at once: each round of one waits for its last, and the others fill the gaps.
constexpr uint32_t kAtOnce = 6;

class Fractal : public Effect {
 public:
  explicit Fractal(const Given& given)
      : Effect(given), aspect(given.numbers[0] / given.numbers[1]), scale(1.0f / __builtin_fmaf(given.numbers[2], 0.2f, 1.0f)) {
    steps.push_back({height / 4, 2, [this](uint32_t first, uint32_t last) { rows(first, last); }});
  }

 private:
  float aspect, scale;
  void rows(uint32_t first, uint32_t last) const;
};

EFFECT_INLINE I fractal_color(F rounds, F size) {
  const F smooth = rounds - logarithm2(logarithm2(max(size, all(2.0f))) * 0.5f) + 3.0f;
  const F dark = clamp01(smooth / all(60.0f));
  const F light = fma((dark * dark) * fma(dark, -2.0f, 3.0f), 0.65f, 0.35f);
  const auto channel = [&](float phase)
                           __attribute__((always_inline)) { return fma(cosine((smooth * 0.022f + phase) * 6.2832f), 0.5f, 0.5f) * light; };
  const Mask inside = _mm512_cmp_ps_mask(rounds, all(219.5f), _CMP_GE_OQ);
  return rgba8(
      {choose(inside, all(0.01f), channel(0.60f)), choose(inside, all(0.01f), channel(0.70f)), choose(inside, all(0.02f), channel(0.85f))});
}

void Fractal::rows(uint32_t first, uint32_t last) const {
  const float per_x = 1.0f / (2.0f * static_cast<float>(width)), per_y = 1.0f / (2.0f * static_cast<float>(height));
  for (uint32_t row = first; row < last; row++) {
    const F qy = -fms(unit_of(block_y(4 * row), per_y), all(2.0f), all(1.0f));
    const F cy = (qy * 0.0052f) * scale + 0.1131f;
    for (uint32_t x = 0; x < width; x += 4 * kAtOnce) {
      F cx[kAtOnce], zx[kAtOnce], zy[kAtOnce], rounds[kAtOnce], size[kAtOnce];
      Mask runs[kAtOnce];
#pragma GCC unroll 8
      for (uint32_t k = 0; k < kAtOnce; k++) {
        cx[k] = ((fms(unit_of(block_x(x + 4 * k), per_x), all(2.0f), all(1.0f)) * aspect) * 0.0052f) * scale + -0.74515f;
        zx[k] = zy[k] = rounds[k] = size[k] = _mm512_setzero_ps(), runs[k] = 0xffff;
      }
      for (int round = 0; round < 220; round++) {
        unsigned any = 0;
#pragma GCC unroll 8
        for (uint32_t k = 0; k < kAtOnce; k++) {
          const F real = fms(zx[k], zx[k], zy[k] * zy[k]) + cx[k];
          zy[k] = (zx[k] + zx[k]) * zy[k] + cy, zx[k] = real;
          size[k] = _mm512_mask_mul_ps(size[k], runs[k], zx[k], zx[k]);
          size[k] = _mm512_mask3_fmadd_ps(zy[k], zy[k], size[k], runs[k]);
          runs[k] = _mm512_mask_cmp_ps_mask(runs[k], size[k], all(256.0f), _CMP_LE_OQ);
          rounds[k] = _mm512_mask_add_ps(rounds[k], runs[k], rounds[k], all(1.0f));
          any |= runs[k];
        }
        if (!any) break;
      }
#pragma GCC unroll 8
      for (uint32_t k = 0; k < kAtOnce; k++)
        store_block(image.get() + size_t{4} * row * width + x + 4 * k, width, fractal_color(rounds[k], size[k]));
    }
  }
}

}  // namespace

std::unique_ptr<Effect> make_noise(const Given& given) { return std::make_unique<Noise>(given); }
std::unique_ptr<Effect> make_fractal(const Given& given) { return std::make_unique<Fractal>(given); }

}  // namespace effect
