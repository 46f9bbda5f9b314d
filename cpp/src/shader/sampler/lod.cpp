// shader/sampler/lod.cpp -- level of detail: from gradients or explicit, bias, clamps, choice of levels and filter.
//
// In: scaled coordinates' derivatives or a LOD. Out: level, fraction, magnified or not, lane by lane. Source: Vulkan specification,
// "Scale Factor Operation, LOD Operation and Image Level(s) Selection"; rho is the longer of the two derivatives' lengths.
#include "shader/sampler/internal.hpp"

#include <cassert>

namespace tilegpu::shader {
Value clamp_lod(const SamplerContext& c, Value lambda) {
  const Ir& ir = c.ir;
  Value low = ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, min_lod))),
        high = ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, max_lod)));
  if (c.min_lod) low = ir.fmax_second(c.min_lod, low);  // NaN: the sampler's
  return ir.fclamp(lambda, low, high);                  // NaN becomes the lower limit
}

namespace {

/// `bias`: null: the sampler's alone.
Value clamped_bias(const SamplerContext& c, Value bias, float scale = 1) {
  const Ir& ir = c.ir;
  if (!bias && scale == kFixedOne + 1) return ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, bias_fixed)));
  Value sampler_bias = ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, mip_lod_bias));
  if (scale != 1) sampler_bias = ir.fmul(sampler_bias, ir.cf(scale));
  sampler_bias = ir.splat(sampler_bias);
  Value sum = !bias ? sampler_bias : scale == 1 ? ir.fadd(bias, sampler_bias) : ir.fma(bias, ir.fk(scale), sampler_bias);
  return ir.fclamp(sum, ir.fk(-kMaxLodBias * scale), ir.fk(kMaxLodBias * scale));
}

LevelChoice split_level(const Ir& ir, Value scaled) {
  static_assert(kFixedOne == (1u << 15) - 1);
  LevelChoice choice{};
  choice.level = ir.lshr(scaled, 15), choice.weight = ir.and_(scaled, ir.ik(kFixedOne));
  return choice;
}

}  // namespace

Value length_squared(const Ir& ir, Value view, Value ds, Value dt, Value dr) {
  Value u = ir.fmul(ds, ir.splat(ir.field(ir.f32, view, offsetof(ImageViewAbi, width_f))));
  if (!dt) return ir.fmul(u, u);
  Value v = ir.fmul(dt, ir.splat(ir.field(ir.f32, view, offsetof(ImageViewAbi, height_f))));
  Value squares = ir.fma(u, u, ir.fmul(v, v));
  if (!dr) return squares;
  Value depth = ir.sitofp(ir.field(ir.i32, view, offsetof(ImageViewAbi, level) + offsetof(ViewLevel, depth_px)));
  Value w = ir.fmul(dr, ir.splat(depth));
  return ir.fma(w, w, squares);
}

Value longer_squared(const Ir& ir, Value x, Value y) {
  // The last maximum makes NaN 0: the logarithm works on bits, and a NaN's sign is nobody's to know.
  return ir.fmax_second(ir.fmax_second(x, y), ir.fk(0));
}

Value rho_squared(const SamplerContext& c, const Value x[3], const Value y[3]) {
  const auto squared = [&](const Value d[3]) {
    return length_squared(c.ir, c.view, d[0], c.plan.one_dimensional ? nullptr : d[1], c.plan.volume ? d[2] : nullptr);
  };
  return longer_squared(c.ir, squared(x), squared(y));
}

Value lod_of_rho_squared(const SamplerContext& c, Value rho_squared, Value bias, float scale) {
  const Ir& ir = c.ir;
  assert(Ir::type_of(rho_squared) == ir.vf32 && scale > 0);
  // log2 within 2e-5, exact for powers of two; 0 gives about -127, infinity 128. Addresses wait for this: the polynomial by Estrin's
  // scheme, its half and the scale in the coefficients.
  Value pattern = ir.bits(rho_squared);
  Value exponent = ir.ashr(ir.sub(pattern, ir.ik(0x3f3504f3u)), 23);
  Value f = ir.fsub(ir.as_float(ir.sub(pattern, ir.shl(exponent, 23))), ir.fk(1)), f2 = ir.fmul(f, f);
  const auto k = [&](float coefficient) { return ir.fk(0.5f * scale * coefficient); };
  Value low = ir.fma(f, k(-0x1.70c388p-1f), k(0x1.714ccap+0f)), high = ir.fma(f, k(-0x1.940b98p-2f), k(0x1.f25ddcp-2f));
  Value p = ir.fma(f2, ir.fma(f2, k(0x1.02b964p-2f), high), low);
  return ir.fma(f, p, ir.fma(ir.sitofp(exponent), k(1), clamped_bias(c, bias, scale)));
}

Value lod_of_gradients(const SamplerContext& c, const Value x[3], const Value y[3], Value bias) {
  return lod_of_rho_squared(c, rho_squared(c, x, y), bias);
}

Value magnified_for_sure(const SamplerContext& c, Value rho_squared, Value bias) {
  const Ir& ir = c.ir;
  // The approximate logarithm of 1 and less is 0 and less.
  Value by_derivatives = ir.fle(rho_squared, ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, magnified_below))));
  return bias ? ir.and_(by_derivatives, ir.fle(bias, ir.fk(0))) : by_derivatives;
}

Value lod_explicit(const SamplerContext& c, Value lod) { return c.ir.fadd(lod, clamped_bias(c, nullptr)); }

LevelChoice choose_level(const SamplerContext& c, Value lambda) {
  const Ir& ir = c.ir;
  assert(c.sampler && Ir::type_of(lambda) == ir.vf32);
  LevelChoice choice;
  choice.magnified = c.plan.mag != c.plan.min ? ir.fle(clamp_lod(c, lambda), ir.fk(0)) : nullptr;
  // The sampler's limits and the levels' in one clamp: everything waits for this.
  const auto limit = [&](size_t offset_B) { return ir.fmax_second(ir.field(ir.f32, c.sampler, offset_B), ir.cf(0)); };
  Value last = ir.sitofp(ir.sub(c.level_count, ir.c32(1)));
  Value high = ir.splat(ir.fmin_second(limit(offsetof(SamplerAbi, max_lod)), last)), low = ir.splat(limit(offsetof(SamplerAbi, min_lod)));
  if (c.min_lod) low = ir.fmax_second(c.min_lod, low);
  Value d = ir.fclamp(lambda, low, high);
  if (c.plan.key.min_lod) d = ir.fmax_second(d, ir.splat(ir.field(ir.f32, c.view, offsetof(ImageViewAbi, min_lod))));
  choice.d = d;
  choice.weight = nullptr;
  if (c.plan.mip_linear && c.plan.fixed) {
    choice = split_level(ir, ir.fptosi(ir.fmul(d, ir.fk(kFixedOne + 1))));
    choice.d = d;
  } else if (c.plan.mip_linear) {
    choice.level = ir.fptosi(d);
    choice.fraction = ir.fsub(d, ir.sitofp(choice.level));
  } else {
    choice.level = ir.fptosi(ir.fmax_second(ir.fsub(ir.ceil(ir.fadd(d, ir.fk(0.5f))), ir.fk(1)), ir.fk(0)));
    choice.fraction = nullptr;
  }
  return choice;
}

LevelChoice choose_fixed_level(const SamplerContext& c, Value scaled_lambda) {
  const Ir& ir = c.ir;
  assert(c.plan.fixed && c.plan.mip_linear && !c.min_lod && !c.plan.key.min_lod);
  // The limits as above, after the conversion: integers take a quarter of the time.
  const auto limit = [&](Value from, size_t offset_B) { return ir.splat(ir.field(ir.i32, from, offset_B)); };
  Value scaled = ir.smax(ir.fptosi(scaled_lambda), limit(c.sampler, offsetof(SamplerAbi, min_lod_fixed)));
  scaled = ir.smin(scaled, limit(c.sampler, offsetof(SamplerAbi, max_lod_fixed)));
  return split_level(ir, ir.smin(scaled, limit(c.view, offsetof(ImageViewAbi, last_level_fixed))));
}

}  // namespace tilegpu::shader
