// shader/sampler/cubic.cpp -- cubic filters: four texels along each axis, with Catmull-Rom weights.
//
// In: a level, folded coordinates by lane. Out: a value by component and lane. Texels are read as every other filter reads them, with
// border and comparison in their place. The rule, lane by lane, along x, then y, then z:
//   a = frac(u - 1/2), texels t0 to t3 from floor(u - 3/2) on; w0 = a * (a * (1 - a/2) - 1/2), w2 = a * (a * (2 - 3a/2) + 1/2),
//   w3 = a * a * (a/2 - 1/2); the value is t1 + w0 * (t0 - t1) + w2 * (t2 - t1) + w3 * (t3 - t1), in that order, each step fused.
// Weights have the sum 1, so that this is their weighted average, and a constant image stays what it is. Source: Vulkan specification,
// "Unnormalized Texel Coordinate Operations", "Texel Cubic Filtering".
#include <cassert>

#include "shader/sampler/function.hpp"

namespace tilegpu::shader {
namespace {

// The second texel first: the others are added to it.
constexpr uint32_t kOrder[4] = {1, 0, 2, 3};

void set_weights(const Ir& ir, CubicAxis& axis) {
  Value a = axis.fraction;
  axis.weight[0] = ir.fmul(a, ir.fma(a, ir.fma(a, ir.fk(-0.5f), ir.fk(1)), ir.fk(-0.5f)));
  axis.weight[2] = ir.fmul(a, ir.fma(a, ir.fma(a, ir.fk(-1.5f), ir.fk(2)), ir.fk(0.5f)));
  axis.weight[3] = ir.fmul(ir.fmul(a, a), ir.fma(a, ir.fk(0.5f), ir.fk(-0.5f)));
}

CubicAxis cubic_axis(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size, Value size_f, Value offset) {
  CubicAxis axis = wrap_cubic_axis(c, mode, place_on_axis(c, mode, coordinate, size_f, true), size, offset);
  set_weights(c.ir, axis);
  return axis;
}

Value either(const Ir& ir, Value a, Value b) { return a && b ? ir.or_(a, b) : a ? a : b; }

/// One more texel (`now`) beside the second (`first`).
Value add_texel(const SamplerContext& c, const CubicAxis& axis, Value weight, Value first, Value now, Value sum) {
  const Ir& ir = c.ir;
  if (c.plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE) return ir.fma(ir.fsub(now, first), weight, sum);
  // Of those that have weight: without a fraction the second alone.
  const bool least = c.plan.reduction == VK_SAMPLER_REDUCTION_MODE_MIN;
  return ir.select(ir.fgt(axis.fraction, ir.fk(0)), least ? ir.fmin_second(now, sum) : ir.fmax_second(now, sum), sum);
}

}  // namespace

/// The four texels along x in the row `y`, reduced to one.
TexelValues SamplerFunctionBuilder::cubic_row(const Level& level, const CubicAxis& x, Value y, Value outside) {
  TexelValues texels[4];
  if (plan.format->is_compressed()) {
    const TexelPosition at[4] = {{x.at[0], y}, {x.at[1], y}, {x.at[2], y}, {x.at[3], y}};
    load_compressed(c, level, 4, at, texels);
    for (size_t k = 0; k < 4; ++k)
      if (Value border = either(ir, x.outside[k], outside)) texels[k] = replace_border(c, texels[k], border);
    for (size_t k = 0; k < 4 && plan.compare; ++k) texels[k] = compare_depth(c, texels[k]);
  } else {
    for (size_t k = 0; k < 4; ++k) texels[k] = read(level, x.at[k], y, nullptr, either(ir, x.outside[k], outside));
  }
  TexelValues sum = texels[kOrder[0]];
  for (uint32_t n = 1; n < 4; ++n)
    for (size_t k = 0; k < 4; ++k)
      if (sum[k]) sum[k] = add_texel(c, x, x.weight[kOrder[n]], texels[1][k], texels[kOrder[n]][k], sum[k]);
  return sum;
}

/// `one`: what lies at an index of the axis; emitted once, run four times.
TexelValues SamplerFunctionBuilder::sum_of_four(const CubicAxis& axis, const std::function<TexelValues(Value index, Value outside)>& one) {
  Block before = ir.current_block(), loop = ir.block("cubic"), done = ir.block("cubic_done");
  ir.br(loop);
  ir.at(loop);
  Value round = LLVMBuildPhi(ir.builder, ir.i32, "");
  const size_t count = pack(like_texel(ir.fk(0))).size();
  std::vector<Value> first, sum;
  for (size_t k = 0; k < count; ++k)
    first.push_back(LLVMBuildPhi(ir.builder, ir.vf32, "")), sum.push_back(LLVMBuildPhi(ir.builder, ir.vf32, ""));
  const auto of_round = [&](const std::array<Value, 4>& values) {
    Value chosen = values[kOrder[3]];
    for (uint32_t n = 3; n-- > 0;)
      if (values[kOrder[n]]) chosen = ir.select(ir.eq(round, ir.c32(n)), values[kOrder[n]], chosen);
    return chosen;
  };
  Value begins = ir.eq(round, ir.c32(0)), weight = of_round(axis.weight);
  const std::vector<Value> now = pack(one(of_round(axis.at), axis.outside[0] ? of_round(axis.outside) : nullptr));
  assert(now.size() == count);
  Value next = ir.add(round, ir.c32(1)), zero = ir.c32(0), none = ir.fk(0);
  Block last = ir.current_block();
  std::vector<Value> result;
  for (size_t k = 0; k < count; ++k) {
    Value second = ir.select(begins, now[k], first[k]);
    result.push_back(ir.select(begins, now[k], add_texel(c, axis, weight, second, now[k], sum[k])));
    LLVMAddIncoming(first[k], &none, &before, 1), LLVMAddIncoming(first[k], &second, &last, 1);
    LLVMAddIncoming(sum[k], &none, &before, 1), LLVMAddIncoming(sum[k], &result[k], &last, 1);
  }
  LLVMAddIncoming(round, &zero, &before, 1), LLVMAddIncoming(round, &next, &last, 1);
  ir.br(ir.eq(next, ir.c32(4)), done, loop);
  ir.at(done);
  return unpack(result);
}

/// 4, 16 or 64 texels of a level.
TexelValues SamplerFunctionBuilder::filter_cubic(const Level& level, Value s, Value t) {
  assert(!plan.cube && !plan.fixed && !plan.planes);
  const SamplerCreateInfo& how = plan.key.sampler;
  const CubicAxis x = cubic_axis(c, how.address_u, s, level.width, level.width_f, c.offset_x);
  if (plan.one_dimensional) return cubic_row(level, x, ir.ik(0), nullptr);
  const CubicAxis y = cubic_axis(c, how.address_v, t, level.height, level.height_f, c.offset_y);
  const auto slice = [&](const Level& of, Value beside) {
    return sum_of_four(y, [&](Value row, Value outside) { return cubic_row(of, x, row, either(ir, outside, beside)); });
  };
  if (!plan.volume) return slice(level, nullptr);
  const CubicAxis z = cubic_axis(c, how.address_w, c.r, level.depth, ir.sitofp(ir.splat(level.depth)), c.offset_z);
  return sum_of_four(z, [&](Value index, Value outside) { return slice(slice_of(level, index), outside); });
}

}  // namespace tilegpu::shader
