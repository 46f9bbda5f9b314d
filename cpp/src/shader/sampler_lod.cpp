// shader/sampler_lod.cpp -- level of detail: from gradients or explicit, bias, clamps, choice of levels and filter.
//
// In: scaled coordinates' derivatives or a LOD. Out: level, fraction, magnified or not, lane by lane. Source: Vulkan specification,
// "Scale Factor Operation, LOD Operation and Image Level(s) Selection"; rho is the longer of the two derivatives' lengths.
#include <iterator>

#include "shader/sampler_internal.hpp"

namespace tilegpu::shader {
namespace {

constexpr float kMaxLodBias = 16;  // maxSamplerLodBias

/// log2 within 1e-5, exact for powers of two; 0 gives about -127, infinity 128.
Value approximate_log2(const Ir& ir, Value x) {
  Value pattern = ir.bits(x);
  Value exponent = ir.ashr(ir.sub(pattern, ir.ik(x, 0x3f3504f3u)), 23);
  Value f = ir.fsub(ir.as_float(ir.sub(pattern, ir.shl(exponent, 23))), ir.fk(x, 1));
  constexpr float kPolynomial[] = {0x1.7154dp+0f, -0x1.714092p-1f, 0x1.eb7194p-2f, -0x1.77bb74p-2f, 0x1.448162p-2f, -0x1.9e4a76p-3f};
  Value p = ir.fk(x, kPolynomial[std::size(kPolynomial) - 1]);
  for (size_t k = std::size(kPolynomial) - 1; k-- > 0;) p = ir.fma(p, f, ir.fk(x, kPolynomial[k]));
  return ir.fma(p, f, ir.sitofp(exponent));
}

Value clamp_lod(const SamplerContext& c, Value lambda) {
  const Ir& ir = c.ir;
  Value low = ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, min_lod))),
        high = ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, max_lod)));
  return ir.fclamp(lambda, low, high);  // NaN becomes the lower limit
}

Value clamped_bias(const SamplerContext& c, Value bias) {
  const Ir& ir = c.ir;
  Value sampler_bias = ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, mip_lod_bias)));
  Value sum = bias ? ir.fadd(sampler_bias, bias) : sampler_bias;
  return ir.fclamp(sum, ir.fk(-kMaxLodBias), ir.fk(kMaxLodBias));
}

}  // namespace

Value rho_squared(const SamplerContext& c, Value dsdx, Value dtdx, Value dsdy, Value dtdy) {
  const Ir& ir = c.ir;
  Value width = ir.splat(ir.sitofp(ir.field(ir.i32, c.view, offsetof(ImageViewAbi, level) + offsetof(ViewLevel, width_px))));
  Value height = ir.splat(ir.sitofp(ir.field(ir.i32, c.view, offsetof(ImageViewAbi, level) + offsetof(ViewLevel, height_px))));
  auto length_squared = [&](Value ds, Value dt) {
    Value u = ir.fmul(ds, width);
    if (c.plan.one_dimensional) return ir.fmul(u, u);
    Value v = ir.fmul(dt, height);
    return ir.fma(u, u, ir.fmul(v, v));
  };
  // The last maximum makes NaN 0: the logarithm works on bits, and a NaN's sign is nobody's to know.
  return ir.fmax_second(ir.fmax_second(length_squared(dsdx, dtdx), length_squared(dsdy, dtdy)), ir.fk(0));
}

Value lod_of_rho_squared(const SamplerContext& c, Value rho_squared, Value bias) {
  return c.ir.fma(approximate_log2(c.ir, rho_squared), c.ir.fk(0.5f), clamped_bias(c, bias));
}

Value lod_of_gradients(const SamplerContext& c, Value dsdx, Value dtdx, Value dsdy, Value dtdy, Value bias) {
  return lod_of_rho_squared(c, rho_squared(c, dsdx, dtdx, dsdy, dtdy), bias);
}

Value magnified_for_sure(const SamplerContext& c, Value rho_squared, Value bias) {
  const Ir& ir = c.ir;
  // The approximate logarithm of 1 and less is 0 and less.
  const auto at_most_0 = [&](size_t offset_B) { return ir.fle(ir.field(ir.f32, c.sampler, offset_B), ir.cf(0)); };
  Value none_above = ir.and_(at_most_0(offsetof(SamplerAbi, mip_lod_bias)), at_most_0(offsetof(SamplerAbi, min_lod)));
  Value limit = ir.select(none_above, ir.cf(1), ir.cf(-1));
  return ir.and_(ir.fle(rho_squared, ir.splat(limit)), ir.fle(bias, ir.fk(0)));
}

Value lod_explicit(const SamplerContext& c, Value lod) { return c.ir.fadd(lod, clamped_bias(c, nullptr)); }

LevelChoice choose_level(const SamplerContext& c, Value lambda) {
  const Ir& ir = c.ir;
  LevelChoice choice;
  choice.magnified = c.plan.linear_mag != c.plan.linear_min ? ir.fle(clamp_lod(c, lambda), ir.fk(0)) : nullptr;
  // The sampler's limits and the levels' in one clamp: everything waits for this.
  const auto limit = [&](size_t offset_B) { return ir.fmax_second(ir.field(ir.f32, c.sampler, offset_B), ir.cf(0)); };
  Value last = ir.sitofp(ir.sub(c.level_count, ir.c32(1)));
  Value high = ir.fmin_second(limit(offsetof(SamplerAbi, max_lod)), last);
  Value d = ir.fclamp(lambda, ir.splat(limit(offsetof(SamplerAbi, min_lod))), ir.splat(high));
  choice.d = d;
  if (c.plan.mip_linear) {
    choice.level = ir.fptosi(d);
    choice.fraction = ir.fsub(d, ir.sitofp(choice.level));
  } else {
    choice.level = ir.fptosi(ir.fmax_second(ir.fsub(ir.ceil(ir.fadd(d, ir.fk(0.5f))), ir.fk(1)), ir.fk(0)));
    choice.fraction = nullptr;
  }
  return choice;
}

}  // namespace tilegpu::shader
