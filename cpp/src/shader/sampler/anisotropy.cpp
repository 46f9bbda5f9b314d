// shader/sampler/anisotropy.cpp -- anisotropic filtering: several samples along the longer derivative, at the level of the shorter one; and
// queries of the LOD, which follow the same rules.
//
// In: coordinates and both derivatives, by lane. Out: the samples' mean (or least, or greatest), in the order of their numbers, so that the
// bits are the same everywhere. Source: Vulkan specification, "Scale Factor Operation, LOD Operation and Image Level(s) Selection"
// (rho_max, rho_min, eta, N) and "Texel Anisotropic Filtering", "LOD Query"; N is eta rounded up. A cube moves its direction.
#include <cassert>
#include <cmath>

#include "shader/sampler/function.hpp"

namespace tilegpu::shader {

SamplerFunctionBuilder::Anisotropy SamplerFunctionBuilder::anisotropy_of(const Footprint& of, Value bias) const {
  Value x2, y2;
  if (plan.cube) {
    const CubeCoordinates on_face = cube_face(ir, of.at, of.dx, of.dy);
    x2 = length_squared(ir, c.view, on_face.dsdx, on_face.dtdx), y2 = length_squared(ir, c.view, on_face.dsdy, on_face.dtdy);
  } else {
    const auto squared = [&](const Value d[3]) {
      return length_squared(ir, c.view, d[0], plan.one_dimensional ? nullptr : d[1], plan.volume ? d[2] : nullptr);
    };
    x2 = squared(of.dx), y2 = squared(of.dy);
  }
  x2 = ir.fmax_second(x2, ir.fk(0)), y2 = ir.fmax_second(y2, ir.fk(0));  // NaN: 0
  Anisotropy a;
  a.along_x = ir.fgt(x2, y2);
  Value longer = ir.select(a.along_x, x2, y2), shorter = ir.select(a.along_x, y2, x2);
  Value ratio = ir.fk(1);
  if (plan.anisotropic) {
    Value most = ir.splat(ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, max_anisotropy)));
    ratio = ir.fclamp(ir.sqrt(ir.fdiv(longer, shorter)), ir.fk(1), most);  // no derivative at all: 1
  }
  a.count = ir.ceil(ratio);
  a.lambda = lod_of_rho_squared(c, ir.fdiv(longer, ir.fmul(ratio, ratio)), bias);
  a.choice = choose_level(c, a.lambda);
  return a;
}

void SamplerFunctionBuilder::sample_along(const Footprint& of, Value bias, Value mask) {
  assert(plan.anisotropic && !plan.fixed && !plan.key.sampler.unnormalized_coordinates);
  mask = ir.and_(mask, ir.c32((1u << ir.lanes) - 1));  // alpha is always made
  const Anisotropy a = anisotropy_of(of, bias);
  const uint32_t axes = plan.cube || plan.volume ? 3 : plan.one_dimensional ? 1 : 2;
  Value step[3] = {};
  for (uint32_t k = 0; k < axes; ++k) step[k] = ir.select(a.along_x, of.dx[k], of.dy[k]);
  const bool average = plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE,
             least = plan.reduction == VK_SAMPLER_REDUCTION_MODE_MIN;
  const std::vector<Value> initial = pack(like_texel(ir.fk(average ? 0.0f : least ? HUGE_VALF : -HUGE_VALF)));

  Block before = ir.current_block(), loop = ir.block("along"), done = ir.block("along_done");
  ir.br(loop);
  ir.at(loop);
  Value number = LLVMBuildPhi(ir.builder, ir.f32, "");
  std::vector<Value> sums;
  for (size_t k = 0; k < initial.size(); ++k) sums.push_back(LLVMBuildPhi(ir.builder, ir.vf32, ""));
  Value i = ir.splat(number), wanted = ir.fle(i, a.count);
  // From -1/2 to 1/2 of the derivative, the ends left out.
  Value place = ir.fsub(ir.fdiv(i, ir.fadd(a.count, ir.fk(1))), ir.fk(0.5f));
  Value at[3] = {of.at[0], of.at[1], of.at[2]}, face = nullptr;
  for (uint32_t k = 0; k < axes; ++k) at[k] = ir.fma(step[k], place, at[k]);
  if (plan.cube) {
    const CubeCoordinates on_face = cube_face(ir, at, nullptr, nullptr);
    at[0] = on_face.s, at[1] = on_face.t, face = on_face.face;
  }
  if (plan.volume) c.r = at[2];
  fold(at[0], at[1]);
  Value bits = ir.and_(ir.movemask(wanted), mask);
  const std::vector<Value> values =
      levels_by_lane() ? sample_lanes(at[0], at[1], a.choice, bits) : sample_groups(at[0], at[1], face, a.choice, bits);
  Value next = ir.fadd(number, ir.cf(1)), first = ir.cf(1);
  std::vector<Value> then;
  for (size_t k = 0; k < values.size(); ++k) {
    Value both = average ? ir.fadd(sums[k], values[k]) : least ? ir.fmin_second(values[k], sums[k]) : ir.fmax_second(values[k], sums[k]);
    then.push_back(ir.select(wanted, both, sums[k]));
  }
  Block last = ir.current_block();
  ir.br(ir.ne(ir.and_(ir.movemask(ir.fle(ir.splat(next), a.count)), mask), ir.c32(0)), loop, done);
  LLVMAddIncoming(number, &first, &before, 1), LLVMAddIncoming(number, &next, &last, 1);
  for (size_t k = 0; k < sums.size(); ++k) {
    Value start = initial[k];
    LLVMAddIncoming(sums[k], &start, &before, 1), LLVMAddIncoming(sums[k], &then[k], &last, 1);
  }
  ir.at(done);
  if (average)
    for (Value& v : then) v = ir.fdiv(v, a.count);
  finish(unpack(then));
}

void SamplerFunctionBuilder::query_lod() {
  using namespace gradient_arg;
  load_context(LLVMGetParam(fn, descriptor), nullptr);
  const auto p = [&](uint32_t k) { return LLVMGetParam(fn, k); };
  const Anisotropy a = anisotropy_of({{p(s), p(t), p(r)}, {p(dsdx), p(dtdx), p(drdx)}, {p(dsdy), p(dtdy), p(drdy)}}, nullptr);
  // The level (or between which two) that would be read, from the view's first on; and lambda' without the sampler's limits.
  const LevelChoice choice = plan.key.sampler.unnormalized_coordinates ? choose_level(c, ir.fk(0)) : a.choice;
  Value level = plan.mip_linear ? choice.d : ir.sitofp(choice.level);
  return_values({level, a.lambda, ir.fk(0), ir.fk(0)});
}

}  // namespace tilegpu::shader
