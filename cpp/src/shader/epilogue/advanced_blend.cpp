// shader/epilogue/advanced_blend.cpp -- VK_EXT_blend_operation_advanced; see advanced_blend.hpp.
// In, out: see advanced_blend.hpp.
// Three kinds of operators. Those of a function f, and those of hue, saturation and luminosity, weigh f of the base colours, the source and
// the destination by the parts of the pixel that both, one and the other cover (p0, p1, p2, by overlap); "additional" ones take
// premultiplied colours as they are. All results are premultiplied, and divided by their alpha where the attachment is not. What the
// specification leaves undefined is defined here: a base colour over alpha 0 is 0, a result over alpha 0 is not divided, a grey of
// luminosity beyond [0, 1] is its limit. Nothing depends on the number of lanes. Source: Vulkan specification, "Advanced Blend Operations",
// its three tables.
#include "shader/epilogue/advanced_blend.hpp"

#include <cassert>

#include "vk/blend_op.hpp"

namespace tilegpu::shader {
namespace {

using Rgb = std::array<Value, 3>;

class Blender {
 public:
  Blender(const Ir& ir_, const AdvancedBlend& how_, const std::array<Value, 4>& s_, const std::array<Value, 4>& d_)
      : ir(ir_), how(how_), s(s_), d(d_), one(ir_.fk(s_[3], 1)), zero(ir_.fk(s_[3], 0)) {}

  std::array<Value, 4> result(VkBlendOp op) const;

 private:
  Value k(float x) const { return ir.fk(one, x); }
  Value one_minus(Value v) const { return ir.fsub(one, v); }
  Value min1(Value v) const { return ir.fmin_second(v, one); }
  Value max0(Value v) const { return ir.fmax_second(v, zero); }
  Value twice(Value v) const { return ir.fadd(v, v); }
  Value where_zero(Value alpha, Value then, Value otherwise) const { return ir.select(ir.feq(alpha, zero), then, otherwise); }

  Rgb base(const std::array<Value, 4>& color, bool premultiplied) const;
  Rgb multiplied(const std::array<Value, 4>& color, bool premultiplied) const;
  std::array<Value, 4> of_source() const;
  Value separable(VkBlendOp op, Value cs, Value cd) const;
  Value light(VkBlendOp op, Value cs, Value cd) const;
  Value minimum(const Rgb& c) const { return ir.fmin_second(ir.fmin_second(c[0], c[1]), c[2]); }
  Value maximum(const Rgb& c) const { return ir.fmax_second(ir.fmax_second(c[0], c[1]), c[2]); }
  Value luminosity(const Rgb& c) const { return ir.fma(k(0.30f), c[0], ir.fma(k(0.59f), c[1], ir.fmul(k(0.11f), c[2]))); }
  Rgb set_luminosity(const Rgb& base_color, Value wanted) const;
  Rgb set_saturation(const Rgb& base_color, const Rgb& saturated) const;
  Rgb hsl(VkBlendOp op, const Rgb& cs, const Rgb& cd) const;
  std::array<Value, 3> weights() const;
  std::array<Value, 4> weighed(VkBlendOp op) const;
  std::array<Value, 4> additional(VkBlendOp op) const;

  const Ir& ir;
  const AdvancedBlend& how;
  const std::array<Value, 4>&s, &d;
  Value one, zero;
};

/// Not premultiplied.
Rgb Blender::base(const std::array<Value, 4>& color, bool premultiplied) const {
  if (!premultiplied) return {color[0], color[1], color[2]};
  Rgb c;
  for (uint32_t i = 0; i < 3; ++i) c[i] = where_zero(color[3], zero, ir.fdiv(color[i], color[3]));
  return c;
}

Rgb Blender::multiplied(const std::array<Value, 4>& color, bool premultiplied) const {
  if (premultiplied) return {color[0], color[1], color[2]};
  return {ir.fmul(color[0], color[3]), ir.fmul(color[1], color[3]), ir.fmul(color[2], color[3])};
}

/// SRC, premultiplied as the destination is. Its weights p0 + p1 are the alpha whatever the overlap, so that nothing else is read.
std::array<Value, 4> Blender::of_source() const {
  const Rgb c = how.dst_premultiplied ? multiplied(s, how.src_premultiplied) : base(s, how.src_premultiplied);
  std::array<Value, 4> r = {c[0], c[1], c[2], s[3]};
  for (uint32_t i = 0; i < 3; ++i) r[i] = where_zero(s[3], zero, r[i]);
  return r;
}

/// The operators from VIVIDLIGHT to HARDMIX, and SOFTLIGHT.
Value Blender::light(VkBlendOp op, Value cs, Value cd) const {
  Value half = k(0.5f), cs2 = twice(cs);
  switch (op) {
    case VK_BLEND_OP_SOFTLIGHT_EXT: {
      Value dark = ir.fsub(cd, ir.fmul(ir.fmul(one_minus(cs2), cd), one_minus(cd)));
      Value up = ir.fsub(cs2, one);
      Value cubic = ir.fmul(cd, ir.fma(ir.fma(k(16), cd, k(-12)), cd, k(3)));
      Value root = ir.fsub(ir.sqrt(cd), cd);
      return ir.select(ir.fle(cs, half), dark, ir.fma(up, ir.select(ir.fle(cd, k(0.25f)), cubic, root), cd));
    }
    case VK_BLEND_OP_VIVIDLIGHT_EXT: {
      Value burn = one_minus(min1(ir.fdiv(one_minus(cd), cs2)));
      Value dodge = min1(ir.fdiv(cd, twice(one_minus(cs))));
      Value inside = ir.select(ir.flt(cs, half), burn, dodge);
      return ir.select(ir.fle(cs, zero), zero, ir.select(ir.flt(cs, one), inside, one));
    }
    case VK_BLEND_OP_LINEARLIGHT_EXT: {
      Value sum = ir.fadd(cs2, cd);
      return ir.select(ir.fgt(sum, k(2)), one, ir.select(ir.fgt(sum, one), ir.fsub(sum, one), zero));
    }
    case VK_BLEND_OP_PINLIGHT_EXT: {
      Value up = ir.fsub(cs2, one);
      Value above = ir.select(ir.flt(cs, half), zero, up);
      Value below = ir.select(ir.flt(cs, ir.fmul(half, cd)), cs2, cd);
      return ir.select(ir.fgt(up, cd), above, below);
    }
    default:
      assert(op == VK_BLEND_OP_HARDMIX_EXT);
      return ir.select(ir.flt(ir.fadd(cs, cd), one), zero, one);
  }
}

/// f of one component; null: 0.
Value Blender::separable(VkBlendOp op, Value cs, Value cd) const {
  const auto screen2 = [&] { return one_minus(ir.fmul(twice(one_minus(cs)), one_minus(cd))); };
  const auto multiply2 = [&] { return ir.fmul(twice(cs), cd); };
  switch (op) {
    case VK_BLEND_OP_SRC_OUT_EXT:
    case VK_BLEND_OP_DST_OUT_EXT:
    case VK_BLEND_OP_XOR_EXT:
      return nullptr;
    case VK_BLEND_OP_SRC_OVER_EXT:
    case VK_BLEND_OP_SRC_IN_EXT:
    case VK_BLEND_OP_SRC_ATOP_EXT:
      return cs;
    case VK_BLEND_OP_DST_OVER_EXT:
    case VK_BLEND_OP_DST_IN_EXT:
    case VK_BLEND_OP_DST_ATOP_EXT:
      return cd;
    case VK_BLEND_OP_MULTIPLY_EXT:
      return ir.fmul(cs, cd);
    case VK_BLEND_OP_SCREEN_EXT:
      return ir.fsub(ir.fadd(cs, cd), ir.fmul(cs, cd));
    case VK_BLEND_OP_OVERLAY_EXT:
      return ir.select(ir.fle(cd, k(0.5f)), multiply2(), screen2());
    case VK_BLEND_OP_HARDLIGHT_EXT:
      return ir.select(ir.fle(cs, k(0.5f)), multiply2(), screen2());
    case VK_BLEND_OP_DARKEN_EXT:
      return ir.fmin_second(cs, cd);
    case VK_BLEND_OP_LIGHTEN_EXT:
      return ir.fmax_second(cs, cd);
    case VK_BLEND_OP_COLORDODGE_EXT: {
      Value dodge = ir.select(ir.flt(cs, one), min1(ir.fdiv(cd, one_minus(cs))), one);
      return ir.select(ir.fle(cd, zero), zero, dodge);
    }
    case VK_BLEND_OP_COLORBURN_EXT: {
      Value burn = ir.select(ir.fgt(cs, zero), one_minus(min1(ir.fdiv(one_minus(cd), cs))), zero);
      return ir.select(ir.fge(cd, one), one, burn);
    }
    case VK_BLEND_OP_DIFFERENCE_EXT:
      return ir.fabs(ir.fsub(cd, cs));
    case VK_BLEND_OP_EXCLUSION_EXT:
      return ir.fsub(ir.fadd(cs, cd), multiply2());
    case VK_BLEND_OP_INVERT_EXT:
      return one_minus(cd);
    case VK_BLEND_OP_INVERT_RGB_EXT:
      return ir.fmul(cs, one_minus(cd));
    case VK_BLEND_OP_LINEARDODGE_EXT:
      return min1(ir.fadd(cs, cd));
    case VK_BLEND_OP_LINEARBURN_EXT:
      return max0(ir.fsub(ir.fadd(cs, cd), one));
    default:
      return light(op, cs, cd);
  }
}

/// The base colour moved to a luminosity, then towards that grey until it is in [0, 1].
Rgb Blender::set_luminosity(const Rgb& base_color, Value wanted) const {
  Rgb c = base_color;
  Value difference = ir.fsub(wanted, luminosity(base_color));
  for (Value& v : c) v = ir.fadd(v, difference);
  Value grey = luminosity(c);
  const auto towards_grey = [&](Value outside, Value room, Value span, Value limit) {
    Value is_grey = ir.feq(span, zero);  // all the same: no way towards it, but what rounding would make of it is the limit
    for (Value& v : c) {
      Value moved = ir.fadd(grey, ir.fdiv(ir.fmul(ir.fsub(v, grey), room), span));
      v = ir.select(outside, ir.select(is_grey, limit, moved), v);
    }
  };
  Value lowest = minimum(c), highest = maximum(c);
  towards_grey(ir.flt(lowest, zero), grey, ir.fsub(grey, lowest), zero);
  towards_grey(ir.fgt(highest, one), one_minus(grey), ir.fsub(highest, grey), one);
  return c;
}

/// The base colour's least component to 0, its greatest to the other's saturation.
Rgb Blender::set_saturation(const Rgb& base_color, const Rgb& saturated) const {
  Value lowest = minimum(base_color), own = ir.fsub(maximum(base_color), lowest);
  Value wanted = ir.fsub(maximum(saturated), minimum(saturated));
  Rgb c;
  for (uint32_t i = 0; i < 3; ++i) c[i] = ir.select(ir.fgt(own, zero), ir.fdiv(ir.fmul(ir.fsub(base_color[i], lowest), wanted), own), zero);
  return c;
}

Rgb Blender::hsl(VkBlendOp op, const Rgb& cs, const Rgb& cd) const {
  switch (op) {
    case VK_BLEND_OP_HSL_HUE_EXT:
      return set_luminosity(set_saturation(cs, cd), luminosity(cd));
    case VK_BLEND_OP_HSL_SATURATION_EXT:
      return set_luminosity(set_saturation(cd, cs), luminosity(cd));
    case VK_BLEND_OP_HSL_COLOR_EXT:
      return set_luminosity(cs, luminosity(cd));
    default:
      assert(op == VK_BLEND_OP_HSL_LUMINOSITY_EXT);
      return set_luminosity(cd, luminosity(cs));
  }
}

/// Parts of the pixel: of both, of the source alone, of the destination alone.
std::array<Value, 3> Blender::weights() const {
  switch (how.overlap) {
    case VK_BLEND_OVERLAP_CONJOINT_EXT:
      return {ir.fmin_second(s[3], d[3]), max0(ir.fsub(s[3], d[3])), max0(ir.fsub(d[3], s[3]))};
    case VK_BLEND_OVERLAP_DISJOINT_EXT:
      return {max0(ir.fsub(ir.fadd(s[3], d[3]), one)), ir.fmin_second(s[3], one_minus(d[3])), ir.fmin_second(d[3], one_minus(s[3]))};
    default:
      return {ir.fmul(s[3], d[3]), ir.fmul(s[3], one_minus(d[3])), ir.fmul(d[3], one_minus(s[3]))};
  }
}

/// X, Y, Z of the specification's tables: which of the three parts an operator keeps.
struct Parts {
  bool both = true, source = true, destination = true;
};

Parts parts_of(VkBlendOp op) {
  switch (op) {
    case VK_BLEND_OP_SRC_IN_EXT:
    case VK_BLEND_OP_DST_IN_EXT:
      return {true, false, false};
    case VK_BLEND_OP_SRC_OUT_EXT:
      return {false, true, false};
    case VK_BLEND_OP_DST_OUT_EXT:
      return {false, false, true};
    case VK_BLEND_OP_DST_ATOP_EXT:
      return {true, true, false};
    case VK_BLEND_OP_SRC_ATOP_EXT:
    case VK_BLEND_OP_INVERT_EXT:
    case VK_BLEND_OP_INVERT_RGB_EXT:
      return {true, false, true};
    case VK_BLEND_OP_XOR_EXT:
      return {false, true, true};
    default:
      return {};
  }
}

std::array<Value, 4> Blender::weighed(VkBlendOp op) const {
  const Rgb cs = base(s, how.src_premultiplied), cd = base(d, how.dst_premultiplied);
  const std::array<Value, 3> p = weights();
  const Parts parts = parts_of(op);
  Rgb f{};
  if (op >= VK_BLEND_OP_HSL_HUE_EXT && op <= VK_BLEND_OP_HSL_LUMINOSITY_EXT) {
    f = hsl(op, cs, cd);
  } else {
    for (uint32_t i = 0; i < 3; ++i) f[i] = separable(op, cs[i], cd[i]);
  }
  assert(parts.both == (f[0] != nullptr));  // f is 0 where X is
  const auto sum = [&](Value of_both, Value of_source, Value of_destination) {
    Value r = nullptr;
    const auto add = [&](bool keeps, Value v, Value weight) {
      if (keeps) r = r ? ir.fma(v, weight, r) : ir.fmul(v, weight);
    };
    add(parts.destination, of_destination, p[2]);
    add(parts.source, of_source, p[1]);
    add(parts.both, of_both, p[0]);
    return r;
  };
  std::array<Value, 4> r;
  for (uint32_t i = 0; i < 3; ++i) r[i] = sum(f[i], cs[i], cd[i]);
  r[3] = sum(one, one, one);
  return r;
}

std::array<Value, 4> Blender::additional(VkBlendOp op) const {
  const Rgb cs = multiplied(s, how.src_premultiplied), cd = multiplied(d, how.dst_premultiplied);
  Value as = s[3], ad = d[3], alphas = ir.fadd(as, ad), alphas1 = min1(alphas);
  const auto each = [&](Value alpha, auto&& f) { return std::array<Value, 4>{f(cs[0], cd[0]), f(cs[1], cd[1]), f(cs[2], cd[2]), alpha}; };
  switch (op) {
    case VK_BLEND_OP_PLUS_EXT:
      return each(alphas, [&](Value a, Value b) { return ir.fadd(a, b); });
    case VK_BLEND_OP_PLUS_CLAMPED_EXT:
      return each(alphas1, [&](Value a, Value b) { return min1(ir.fadd(a, b)); });
    case VK_BLEND_OP_PLUS_CLAMPED_ALPHA_EXT:
      return each(alphas1, [&](Value a, Value b) { return ir.fmin_second(ir.fadd(a, b), alphas1); });
    case VK_BLEND_OP_PLUS_DARKER_EXT:
      return each(alphas1, [&](Value a, Value b) { return max0(ir.fsub(alphas1, ir.fadd(ir.fsub(as, a), ir.fsub(ad, b)))); });
    case VK_BLEND_OP_MINUS_EXT:
      return each(ir.fsub(ad, as), [&](Value a, Value b) { return ir.fsub(b, a); });
    case VK_BLEND_OP_MINUS_CLAMPED_EXT:
      return each(max0(ir.fsub(ad, as)), [&](Value a, Value b) { return max0(ir.fsub(b, a)); });
    case VK_BLEND_OP_CONTRAST_EXT: {
      Value half_s = ir.fmul(as, k(0.5f)), half_d = ir.fmul(ad, k(0.5f));
      return each(ad, [&](Value a, Value b) { return ir.fma(twice(ir.fsub(b, half_d)), ir.fsub(a, half_s), half_d); });
    }
    case VK_BLEND_OP_INVERT_OVG_EXT:
      return each(ir.fsub(alphas, ir.fmul(as, ad)), [&](Value, Value b) { return ir.fma(as, one_minus(b), ir.fmul(one_minus(as), b)); });
    default: {
      assert(op >= VK_BLEND_OP_RED_EXT && op <= VK_BLEND_OP_BLUE_EXT);
      std::array<Value, 4> r = {cd[0], cd[1], cd[2], ad};
      const auto channel = static_cast<uint32_t>(op - VK_BLEND_OP_RED_EXT);
      r[channel] = cs[channel];
      return r;
    }
  }
}

std::array<Value, 4> Blender::result(VkBlendOp op) const {
  std::array<Value, 4> r;
  if (op == VK_BLEND_OP_ZERO_EXT) {
    r = {zero, zero, zero, zero};
  } else if (op == VK_BLEND_OP_SRC_EXT) {
    r = of_source();
  } else if (op == VK_BLEND_OP_DST_EXT) {
    r = {where_zero(d[3], zero, d[0]), where_zero(d[3], zero, d[1]), where_zero(d[3], zero, d[2]), d[3]};  // p0 + p2 is the alpha
  } else {
    r = op < VK_BLEND_OP_PLUS_EXT ? weighed(op) : additional(op);
    if (!how.dst_premultiplied)
      for (uint32_t i = 0; i < 3; ++i) r[i] = where_zero(r[3], r[i], ir.fdiv(r[i], r[3]));
  }
  if (how.clamp_results)
    for (Value& v : r) v = ir.fclamp(v, zero, one);
  return r;
}

}  // namespace

std::array<Value, 4> emit_advanced_blend(const Ir& ir, VkBlendOp op, const AdvancedBlend& how, const std::array<Value, 4>& source,
                                         const std::array<Value, 4>& destination) {
  assert(vk::is_advanced(op));
  assert(source[0] && source[3] && (!vk::reads_destination(op) || (destination[0] && destination[3])));
  return Blender(ir, how, source, destination).result(op);
}

}  // namespace tilegpu::shader
