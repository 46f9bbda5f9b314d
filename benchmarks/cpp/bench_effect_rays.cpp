// benchmarks/cpp/bench_effect_rays.cpp -- kernel by hand of toy_ray_march: distance fields, up to 80 steps a ray, four distances more for
// the normal, up to 14 steps towards the lamp.
//
// In: the size, the time. Out: the picture. Blocks of 4x4 pixels go kAtOnce at a time. What the kernel knows beyond the shader: where rays
// go, so that no sine needs its argument reduced in double; what has its colour from the distance alone is not asked.
#include "bench_effect_math.hpp"

namespace effect {
namespace {

constexpr int kAtOnce = 4;
using V = Floats<kAtOnce>;
using M = Masks<kAtOnce>;

struct Place {
  V x, y, z;
};
EFFECT_INLINE Place along(const Place& from, const Place& way, const V& far) {
  return {fma(way.x, far, from.x), fma(way.y, far, from.y), fma(way.z, far, from.z)};
}
EFFECT_INLINE V dot(const Place& a, const Place& b) { return fma(a.z, b.z, fma(a.y, b.y, a.x * b.x)); }

EFFECT_INLINE unsigned any(const M& m) {
  unsigned all_of = 0;
#pragma GCC unroll 8
  for (Mask one : m.v) all_of |= one;
  return all_of;
}
EFFECT_INLINE M both(const M& a, const M& b) {
  M r;
#pragma GCC unroll 8
  for (int k = 0; k < kAtOnce; k++) r.v[k] = a.v[k] & b.v[k];
  return r;
}
EFFECT_INLINE M without(const M& a, const M& b) {
  M r;
#pragma GCC unroll 8
  for (int k = 0; k < kAtOnce; k++) r.v[k] = a.v[k] & static_cast<Mask>(~b.v[k]);
  return r;
}

class RayMarch : public Effect {
 public:
  explicit RayMarch(const Given& given) : Effect(given), aspect(given.numbers[0] / given.numbers[1]), time(given.numbers[2]) {
    const F swing = sine(all(0.4f * time));
    eye_x = __builtin_fmaf(swing[0], 0.12f, 1.06f), eye_z = __builtin_fmaf(time, 0.6f, 1.6f);
    steps.push_back({height / 4, 2, [this](uint32_t first, uint32_t last) { rows(first, last); }});
  }

 private:
  float aspect, time, eye_x = 0, eye_z = 0;

  EFFECT_INLINE V column(const Place& p) const;
  EFFECT_INLINE V sea(const Place& p) const;
  EFFECT_INLINE V ball(const Place& p) const;
  EFFECT_INLINE V nearest(const Place& p) const { return min(4.6f - p.y, min(ball(p), min(column(p), sea(p)))); }
  V nearest_apart(const Place& p) const;
  EFFECT_INLINE void march(const Place& eye, const Place& way, V& far, V& what) const;
  EFFECT_INLINE V shadow(const Place& p, const M& hit) const;
  void rows(uint32_t first, uint32_t last) const;
  EFFECT_INLINE void shade(uint32_t x, uint32_t row) const;
};

constexpr float kLamp[3] = {-0.4962916672229767f, 0.4466624855995178f, 0.7444375157356262f};

EFFECT_INLINE V modulo4(const V& x) { return fma(floor_of(x * 0.25f), -4.0f, x); }

EFFECT_INLINE V RayMarch::column(const Place& p) const {
  const V x = modulo4(p.x + 2.0f) - 2.0f, z = modulo4(p.z + 2.0f) - 2.0f;
  const V round = fma(sine(arc(z, x) * 12.0f), -0.03f, root(fma(z, z, x * x)) - 0.42f);
  const V shaft = fma(magnitude(sine(p.y * 0.8f)), 0.05f, round);
  const V foot = max(max(magnitude(x) - 0.62f, magnitude(z) - 0.62f), magnitude(magnitude(p.y - 1.6f) - 2.2f) - 0.28f);
  return min(shaft, foot) * 0.8f;
}

EFFECT_INLINE V RayMarch::sea(const Place& p) const {
  const V first = sine(fma(p.x, 1.7f, V(time))) * 0.10f, second = sine(fma(p.z, 1.3f, V(-(0.8f * time))));
  const V both_waves = fma(first, second, p.y + 0.62f);
  return fma(sine(fma(V(time), 1.4f, fma(p.x, 4.3f, p.z * -3.1f))), 0.04f, both_waves);
}

EFFECT_INLINE V RayMarch::ball(const Place& p) const {
  const V cell_x = floor_of(p.x * 0.25f), cell_z = floor_of(p.z * 0.25f);
  const V x = fma(cell_x, -4.0f, p.x) - 2.0f, z = fma(cell_z, -4.0f, p.z) - 2.0f;
  const V y = fma(sine(fma(cell_x, 2.1f, cell_z * 3.7f) + time), -0.45f, p.y - 0.75f);
  return root(fma(z, z, fma(y, y, x * x))) - 0.5f;
}

__attribute__((noinline)) V RayMarch::nearest_apart(const Place& p) const { return nearest(p); }

EFFECT_INLINE void RayMarch::march(const Place& eye, const Place& way, V& far, V& what) const {
  M runs;
  for (Mask& one : runs.v) one = 0xffff;
  far = V(0.05f), what = V(0.0f);
  for (int step = 0; step < 80; step++) {
    const Place p = along(eye, way, far);
    const V a = column(p), b = sea(p), c = ball(p), roof = 4.6f - p.y;
    const M of_column = less(a, b);
    V d = min(a, b);
    const M of_ball = less(c, d);
    d = min(c, d);
    const M of_roof = less(roof, d);
    d = min(roof, d);
    const V limit = far * 0.001f;
    unsigned left = 0;
#pragma GCC unroll 8
    for (int k = 0; k < kAtOnce; k++) {
      const Mask ends = runs.v[k] & (less(d.v[k], limit.v[k]) | less(all(60.0f), far.v[k]));
      if (ends) {
        F kind = choose(of_column.v[k], all(1.0f), all(2.0f));
        kind = choose(of_roof.v[k], all(4.0f), choose(of_ball.v[k], all(3.0f), kind));
        what.v[k] = choose(ends, kind, what.v[k]);
      }
      runs.v[k] &= static_cast<Mask>(~ends);
      far.v[k] = _mm512_mask3_fmadd_ps(d.v[k], all(0.85f), far.v[k], runs.v[k]);
      left |= runs.v[k];
    }
    if (!left) break;
  }
}

EFFECT_INLINE V RayMarch::shadow(const Place& p, const M& hit) const {
  const Place lamp = {V(kLamp[0]), V(kLamp[1]), V(kLamp[2])};
  V lit(1.0f), t(0.05f);
  M runs = hit;
  for (int step = 0; step < 14; step++) {
    const Place there = along(p, lamp, t);
    const V d = min(column(there), ball(there));
    const V now = min((d * 7.0f) / t, lit);
    lit = choose(runs, now, lit);
    t = choose(runs, t + min(max(d, 0.05f), 0.5f), t);
    runs = without(runs, less(lit, V(0.01f)));
    if (!any(runs)) break;
  }
  return clamp01(lit);
}

EFFECT_INLINE void RayMarch::shade(uint32_t x, uint32_t row) const {
  const float per_x = 1.0f / (2.0f * static_cast<float>(width)), per_y = 1.0f / (2.0f * static_cast<float>(height));
  V u, v;
  for (int k = 0; k < kAtOnce; k++)
    u.v[k] = unit_of(block_x(x + 4 * static_cast<uint32_t>(k)), per_x), v.v[k] = unit_of(block_y(4 * row), per_y);
  const V qx = fms(u, 2.0f, V(1.0f)) * aspect, qy = fms(v, 2.0f, V(1.0f)) * -1.0f;
  const V ahead_x = fma(qx, 0.75f, 0.22f), ahead_y = fma(qy, 0.75f, 0.06f);
  const V inverse = 1.0f / root(fma(ahead_y, ahead_y, ahead_x * ahead_x) + 1.0f);
  const Place eye = {V(eye_x), V(1.1f), V(eye_z)}, way = {ahead_x * inverse, ahead_y * inverse, inverse};
  V far, what;
  march(eye, way, far, what);

  const V height_share = clamp01((qy + 0.2f) / 0.7f), sky = (height_share * height_share) * fma(height_share, -2.0f, 3.0f);
  const V mist[3] = {mix(0.95f, 0.45f, sky), mix(0.66f, 0.42f, sky), mix(0.42f, 0.55f, sky)};
  V color[3] = {mist[0], mist[1], mist[2]};
  const M hit = both(less(far, V(60.0f)), less(V(0.5f), what));
  if (any(hit)) {
    const Place p = along(eye, way, far);
    const V d = nearest_apart(p);
    const Place slope = {nearest_apart({p.x + 0.003f, p.y, p.z}) - d, nearest_apart({p.x, p.y + 0.003f, p.z}) - d,
                         nearest_apart({p.x, p.y, p.z + 0.003f}) - d};
    const V per = 1.0f / root(dot(slope, slope));
    const Place n = {slope.x * per, slope.y * per, slope.z * per}, lamp = {V(kLamp[0]), V(kLamp[1]), V(kLamp[2])};
    const V lit = shadow(p, hit);
    const M is_column = less(what, V(1.5f)), below_ball = less(what, V(2.5f)), below_roof = less(what, V(3.5f));
    const M above_column = less(V(1.5f), what);
    const auto paint = [&](float a, float b, float c, float e) __attribute__((always_inline)) {
      return choose(is_column, V(a), choose(below_ball, V(b), choose(below_roof, V(c), V(e))));
    };
    const V facing = dot(n, way), twice = facing * -2.0f;
    const Place mirrored = {fma(twice, n.x, way.x), fma(twice, n.y, way.y), fma(twice, n.z, way.z)};
    const M is_sea = both(above_column, below_ball);
    const V shine = power(max(dot(mirrored, lamp), 0.0f), choose(is_sea, V(60.0f), V(22.0f)));
    const V there = nearest_apart({fma(n.x, 0.35f, p.x), fma(n.y, 0.35f, p.y), fma(n.z, 0.35f, p.z)});
    const V open = clamp01(fma(there, 2.857142686843872f, there * 2.18955833020118e-07f));
    const V grazing = facing + 1.0f, squared = grazing * grazing, rim = squared * squared;
    const V lamp_share = max(dot(n, lamp), 0.0f), up = fma(n.y, 0.4f, 0.6f), shines = shine * lit;
    const V gloss = choose(both(above_column, below_roof), V(0.9f), V(0.15f)), edge = choose(is_sea, V(0.7f), V(0.1f));
    V fade = (far * -0.0022f) * far;
    for (F& one : fade.v) one = exponential(one);
    constexpr float kLight[3] = {1.5f, 1.15f, 0.8f}, kSky[3] = {0.30f, 0.32f, 0.42f}, kShine[3] = {1.0f, 0.85f, 0.6f};
    const V paints[3] = {paint(0.80f, 0.05f, 0.95f, 0.50f), paint(0.70f, 0.16f, 0.42f, 0.42f), paint(0.58f, 0.20f, 0.16f, 0.36f)};
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++) {
      const V diffuse = paints[c] * fma(lamp_share * kLight[c], lit, (up * kSky[c]) * open);
      const V whole = diffuse + fma(shines * kShine[c], gloss, (mist[c] * rim) * edge);
      color[c] = choose(hit, mix(mist[c], whole, fade), mist[c]);
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < kAtOnce; k++)
    store_block(image.get() + size_t{4} * row * width + x + 4 * static_cast<uint32_t>(k), width,
                rgba8({root(clamp01(color[0].v[k])), root(clamp01(color[1].v[k])), root(clamp01(color[2].v[k]))}));
}

void RayMarch::rows(uint32_t first, uint32_t last) const {
  for (uint32_t row = first; row < last; row++)
    for (uint32_t x = 0; x < width; x += 4 * kAtOnce) shade(x, row);
}

}  // namespace

std::unique_ptr<Effect> make_ray_march(const Given& given) { return std::make_unique<RayMarch>(given); }

}  // namespace effect
