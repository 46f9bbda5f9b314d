// shader/lower/quick_inputs.cpp -- see quick_inputs.hpp.
#include "shader/lower/quick_inputs.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "base/intrinsics.hpp"
#include "vk/format.hpp"

namespace tilegpu::shader {
namespace {

struct Place {
  __m128 x, y;  // framebuffer coordinates of the quad's four pixels
};

__m128 all(float x) { return _mm_set1_ps(x); }

__m128 plane(const PrimitiveSetup& s, const float* first, const Place& p) {
  const __m128 dx = _mm_sub_ps(p.x, all(s.anchor_x)), dy = _mm_sub_ps(p.y, all(s.anchor_y));
  return _mm_fmadd_ps(all(first[2]), dy, _mm_fmadd_ps(all(first[1]), dx, all(first[0])));
}

/// See FragmentBuilder::builtin.
__m128 point_coordinate(const PrimitiveSetup& s, const Place& p, bool along_x) {
  const __m128 distance = _mm_sub_ps(along_x ? p.x : p.y, all(along_x ? s.anchor_x : s.anchor_y));
  return _mm_mul_ps(distance, _mm_mul_ps(all(s.ix), all(s.w1)));
}

/// Of each quad: Interpolator::Barycentrics (entry.hpp).
struct Weights {
  bool known = false;
  __m128 q[kMaxQuads], b1[kMaxQuads], b2[kMaxQuads], l1[kMaxQuads], l2[kMaxQuads];
  void of(uint32_t k, const PrimitiveSetup& s, const Place& p) {
    q[k] = plane(s, &s.q0, p);
    const __m128 i = plane(s, &s.i0, p), j = plane(s, &s.j0, p), inverse = _mm_div_ps(all(1.0f), q[k]);
    b1[k] = _mm_mul_ps(i, inverse), b2[k] = _mm_mul_ps(j, inverse);
    l1[k] = _mm_mul_ps(i, all(s.w1)), l2[k] = _mm_mul_ps(j, all(s.w2));
  }
};

Place centre(const Place& corner) { return {_mm_add_ps(corner.x, all(0.5f)), _mm_add_ps(corner.y, all(0.5f))}; }

Place sample_place(const FragmentArgs& args, const Place& corner, uint32_t sample, uint32_t samples) {
  const float* position = args.sample_positions + size_t{2} * std::min(sample, samples - 1);
  return {_mm_add_ps(corner.x, all(position[0])), _mm_add_ps(corner.y, all(position[1]))};
}

/// The centre where all samples are covered, or none; else the first covered one.
Place centroid(const FragmentArgs& args, const Place& corner, uint64_t coverage, uint32_t samples) {
  const Place middle = centre(corner);
  alignas(16) float x[4], y[4];
  _mm_store_ps(x, middle.x), _mm_store_ps(y, middle.y);
  alignas(16) float corner_x[4], corner_y[4];
  _mm_store_ps(corner_x, corner.x), _mm_store_ps(corner_y, corner.y);
  for (uint32_t pixel = 0; pixel < 4; ++pixel) {
    uint32_t covered = 0, first = 0;
    for (uint32_t s = samples; s-- > 0;)
      if (coverage >> (4 * s + pixel) & 1) covered++, first = s;
    if (covered == 0 || covered == samples) continue;
    x[pixel] = corner_x[pixel] + args.sample_positions[2 * first];
    y[pixel] = corner_y[pixel] + args.sample_positions[2 * first + 1];
  }
  return {_mm_load_ps(x), _mm_load_ps(y)};
}

}  // namespace

namespace {

template <uint32_t quads>
void find_inputs(const FragmentArgs* args, const uint32_t* words, float* __restrict out) {
  constexpr uint32_t lanes = 4 * quads;
  const uint32_t samples = words[1], count = words[3];
  assert(words[0] == lanes && samples >= 1 && samples <= 16);
  const bool per_sample = words[2] != 0, shared = args->uniform_primitive != 0;
  const PrimitiveSetup* setup[quads];
  const float* vertex[3][quads];
  Place corner[quads], own[quads];
  for (uint32_t q = 0; q < quads; ++q) {
    setup[q] = args->primitive[shared ? 0 : q];
    for (uint32_t k = 0; k < 3; ++k) vertex[k][q] = setup[q]->varying[k];
    corner[q] = {_mm_cvtepi32_ps(_mm_add_epi32(_mm_set1_epi32(args->x_px[q]), _mm_setr_epi32(0, 1, 0, 1))),
                 _mm_cvtepi32_ps(_mm_add_epi32(_mm_set1_epi32(args->y_px[q]), _mm_setr_epi32(0, 0, 1, 1)))};
    own[q] = per_sample ? sample_place(*args, corner[q], args->sample_index, samples) : centre(corner[q]);
  }
  Weights weights[2];  // there, and at the centroid
  const auto find_weights = [&](uint32_t elsewhere) {
    Weights& w = weights[elsewhere];
    if (w.known) return;
    w.known = true;
    for (uint32_t q = 0; q < quads; ++q)
      w.of(q, *setup[q], elsewhere && samples > 1 ? centroid(*args, corner[q], args->raster_coverage[q], samples) : own[q]);
  };
  for (uint32_t k = 0; k < count; ++k, out += lanes) {
    const uint32_t request = words[4 + k], elsewhere = request >> 8 & 1;
    const size_t at = size_t{request >> 16} * kBatchStride;
    const auto each = [&](auto&& find) {
      for (uint32_t q = 0; q < quads; ++q) _mm_storeu_ps(out + 4 * q, find(q));
    };
    const auto what = static_cast<QuickInput>(request & 0xff);
    switch (what) {
      case QuickInput::x:
        each([&](uint32_t q) { return own[q].x; });
        break;
      case QuickInput::y:
        each([&](uint32_t q) { return own[q].y; });
        break;
      case QuickInput::z:
        each([&](uint32_t q) { return plane(*setup[q], &setup[q]->z0, own[q]); });
        break;
      case QuickInput::w:
        find_weights(0);
        each([&](uint32_t q) { return weights[0].q[q]; });
        break;
      case QuickInput::front_facing:
        each([&](uint32_t q) { return all(std::bit_cast<float>(uint32_t{setup[q]->front_facing != 0})); });
        break;
      case QuickInput::primitive_id:
        each([&](uint32_t q) { return all(std::bit_cast<float>(setup[q]->primitive_id)); });
        break;
      case QuickInput::point_x:
      case QuickInput::point_y:
        each([&](uint32_t q) { return point_coordinate(*setup[q], own[q], what == QuickInput::point_x); });
        break;
      case QuickInput::flat:
        each([&](uint32_t q) { return all(setup[q]->provoking[at]); });
        break;
      case QuickInput::smooth:
      case QuickInput::noperspective: {
        find_weights(elsewhere);
        const Weights& w = weights[elsewhere];
        const __m128 *w1 = what == QuickInput::smooth ? w.b1 : w.l1, *w2 = what == QuickInput::smooth ? w.b2 : w.l2;
        if (shared) {
          const float v0 = vertex[0][0][at];
          const __m128 first = all(v0), d1 = all(vertex[1][0][at] - v0), d2 = all(vertex[2][0][at] - v0);
          each([&](uint32_t q) { return _mm_fmadd_ps(w2[q], d2, _mm_fmadd_ps(w1[q], d1, first)); });
        } else {
          each([&](uint32_t q) {
            const __m128 v0 = all(vertex[0][q][at]), d1 = _mm_sub_ps(all(vertex[1][q][at]), v0), d2 = _mm_sub_ps(all(vertex[2][q][at]), v0);
            return _mm_fmadd_ps(w2[q], d2, _mm_fmadd_ps(w1[q], d1, v0));
          });
        }
      }
    }
  }
}

}  // namespace

void quick_fragment_inputs(const FragmentArgs* args, const uint32_t* words, float* out) {
  words[0] == 16 ? find_inputs<4>(args, words, out) : words[0] == 8 ? find_inputs<2>(args, words, out) : find_inputs<1>(args, words, out);
}

void quick_attribute(const VertexBinding* binding, const uint32_t* index, const uint32_t* words, uint32_t* out) {
  const uint32_t lanes = words[0], stride_B = words[1], offset_B = words[2];
  assert(lanes == 4 || lanes == 8 || lanes == 16);
  const vk::FormatInfo& format = *vk::find_format(static_cast<VkFormat>(words[3]));
  assert(format.texel_B > 0 && format.texel_B <= 32);  // one page of zeros stands for any element
  const uint64_t end_B = uint64_t{offset_B} + format.texel_B;
  const bool any = binding->size_B >= end_B;
  const uint64_t last = !any ? 0 : stride_B ? std::min<uint64_t>((binding->size_B - end_B) / stride_B, ~0u) : ~0u;
  const bool is_signed =
      format.numeric == vk::Numeric::sint || format.numeric == vk::Numeric::snorm || format.numeric == vk::Numeric::sscaled;
  alignas(16) static constexpr uint8_t kOutside[32] = {};
  const auto element_of = [&](uint32_t lane) {
    return any && index[lane] <= last ? binding->data + offset_B + uint64_t{index[lane]} * stride_B : kOutside;
  };
  // Whole words in order: what most attributes are.
  const auto copy_words = [&](auto count) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const uint8_t* element = element_of(lane);
      for (uint32_t k = 0; k < count(); ++k) std::memcpy(out + k * lanes + lane, element + 4 * k, 4);
    }
  };
  const bool longs = format.rgba[0].bits == 64;  // two words each
  if (longs || (format.texel_B == 4 * format.component_count && format.rgba[0].bits == 32 && format.rgba[0].shift == 0)) {
    switch (format.texel_B / 4) {
      case 1:
        return copy_words(std::integral_constant<uint32_t, 1>{});
      case 2:
        return copy_words(std::integral_constant<uint32_t, 2>{});
      case 3:
        return copy_words(std::integral_constant<uint32_t, 3>{});
      case 6:
        return copy_words(std::integral_constant<uint32_t, 6>{});
      case 8:
        return copy_words(std::integral_constant<uint32_t, 8>{});
      default:
        return copy_words(std::integral_constant<uint32_t, 4>{});
    }
  }
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    const uint8_t* element = element_of(lane);
    for (uint32_t k = 0; k < 4; ++k) {
      const vk::Component& c = format.rgba[k];
      if (!c.bits) continue;
      // The bytes that hold the component: at most four of them.
      const uint32_t first_B = c.shift / 8, shift = c.shift % 8, bytes = (shift + c.bits + 7) / 8;
      uint32_t x = 0;
      std::memcpy(&x, element + first_B, bytes);
      x = x << (32 - c.bits - shift);
      x = is_signed ? static_cast<uint32_t>(static_cast<int32_t>(x) >> (32 - c.bits)) : x >> (32 - c.bits);
      const auto f = [&] { return static_cast<float>(static_cast<int32_t>(x)); };
      switch (format.numeric) {
        case vk::Numeric::unorm:
          x = std::bit_cast<uint32_t>(f() / static_cast<float>((1ull << c.bits) - 1));
          break;
        case vk::Numeric::snorm: {
          const float v = f() / static_cast<float>((1ull << (c.bits - 1)) - 1);
          x = std::bit_cast<uint32_t>(v > -1.0f ? v : -1.0f);
          break;
        }
        case vk::Numeric::uscaled:
        case vk::Numeric::sscaled:
          x = std::bit_cast<uint32_t>(f());
          break;
        case vk::Numeric::sfloat:
          if (c.bits == 16) x = std::bit_cast<uint32_t>(vk::half_to_float(static_cast<uint16_t>(x)));
          break;
        case vk::Numeric::ufloat:
          x = std::bit_cast<uint32_t>(vk::ufloat_to_float(x, c.bits - 5));
          break;
        default:
          break;
      }
      out[k * lanes + lane] = x;
    }
  }
}

}  // namespace tilegpu::shader
