// shader/sampler/address.cpp -- one axis of a sample: texel indices after wrapping, and the weight between them.
//
// In: a coordinate, the level's size, an integer offset. Out: indices that are in range whatever the coordinate was (NaN and infinity
// too), the fraction, and for the border mode which of them lie outside. Source: Vulkan specification, "(s,t,r,q,a) to (u,v,w,a)
// Transformation", "Integer Texel Coordinate Operations", "Wrapping Operation".
#include "shader/sampler/internal.hpp"

#include <cassert>

namespace tilegpu::shader {
namespace {

Value as_vector(const Ir& ir, Value v) { return Ir::lanes_of(v) == ir.lanes ? v : ir.splat(v); }

/// Adds a texel offset to indices in [-1, period), modulo the period. Behind a branch where the offset is a constant 0, as it mostly is.
Value add_offset(const Ir& ir, Value index, Value offset, Value period) {
  assert(Ir::type_of(index) == ir.vi32 && Ir::element_of(Ir::type_of(period)) == ir.i32);
  Value period_v = ir.smax(as_vector(ir, period), ir.ik(1));
  auto once_less = [&](Value i) { return ir.select(ir.sge(i, period_v), ir.sub(i, period_v), i); };
  auto add_vector = [&](Value offset_v) {
    // No vector division in the hardware: floats are exact for integers of this size, and the quotient's floor is put right by one step
    // each way.
    Value bounded = ir.sclamp(offset_v, ir.ik(static_cast<uint32_t>(-kMostOffset)), ir.ik(kMostOffset));
    Value q = ir.fptosi(ir.floor(ir.fdiv(ir.sitofp(bounded), ir.sitofp(period_v))));
    Value r = ir.sub(bounded, ir.mul(q, period_v));
    r = once_less(ir.select(ir.slt(r, ir.ik(0)), ir.add(r, period_v), r));
    return once_less(ir.add(index, r));
  };
  if (ir.lanes_of(offset) > 1) return add_vector(offset);
  return ir.if_else(
      ir.eq(offset, ir.c32(0)), [&] { return std::vector<Value>{index}; },
      [&] { return std::vector<Value>{add_vector(ir.splat(offset))}; })[0];
}

bool repeats(const SamplerContext& c, VkSamplerAddressMode mode) {
  return !c.plan.key.sampler.unnormalized_coordinates &&
         (mode == VK_SAMPLER_ADDRESS_MODE_REPEAT || mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT);
}

}  // namespace

Value fold_coordinate(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate) {
  const Ir& ir = c.ir;
  if (!repeats(c, mode)) return coordinate;
  const bool mirrors = mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
  Value s = mirrors ? ir.fma(ir.floor(ir.fmul(coordinate, ir.fk(0.5f))), ir.fk(-2), coordinate) : ir.fsub(coordinate, ir.floor(coordinate));
  return ir.fmax_second(s, ir.fk(0));  // at most 1 or 2; NaN becomes 0
}

Value kept_fraction(const Ir& ir, Value fraction) {
  if (ir.wide && Ir::lanes_of(fraction) == 16) {
    constexpr uint32_t kDownNoExceptions = 9;
    return ir.call_intrinsic(
        "llvm.x86.avx512.mask.rndscale.ps.512", {},
        {fraction, ir.c32(kSubTexelBits << 4 | kDownNoExceptions), fraction, LLVMConstInt(ir.i16, 0xffff, 0), ir.c32(4)});
  }
  return ir.fmul(ir.floor(ir.fmul(fraction, ir.fk(kSubTexels))), ir.fk(1 / kSubTexels));
}

namespace {

AxisPosition place(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear, float move,
                   bool bounded) {
  const Ir& ir = c.ir;
  assert(Ir::type_of(coordinate) == ir.vf32 && Ir::type_of(size_f) == ir.vf32);
  const bool unnormalized = c.plan.key.sampler.unnormalized_coordinates, mirrors = mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
  const float before = (linear ? -kHalfLessRounding : 0.0f) + move;
  assert(!unnormalized || move == 0);
  Value half = ir.fk(before);
  Value u = unnormalized  ? (linear ? ir.fadd(coordinate, half) : coordinate)
            : before != 0 ? ir.fma(coordinate, size_f, half)
                          : ir.fmul(coordinate, size_f);
  if (repeats(c, mode)) {
    // Indices -1 to period - 1. With a linear filter they are: a folded coordinate gives -0.5 to period - 0.5, and sizes are exact.
    if (!linear) u = ir.fmin_second(u, ir.fsub(mirrors ? ir.fadd(size_f, size_f) : size_f, ir.fk(0.5f)));
  } else if (bounded) {
    u = ir.fclamp(u, ir.fk(-kFarTexel), ir.fk(kFarTexel));
  }
  const Ir::Floor at = ir.floor_and_index(u);
  return {at.index, linear ? kept_fraction(ir, ir.fsub(u, at.whole)) : nullptr};
}

}  // namespace

AxisPosition place_on_axis(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear, float move) {
  return place(c, mode, coordinate, size_f, linear, move, true);
}

AxisPosition place_bounded(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear) {
  return place(c, mode, coordinate, size_f, linear, 0, true);
}

AxisPosition place_in_window(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear) {
  assert(c.ir.wide && c.ir.lanes == 16);  // the conversion gives -2^31
  return place(c, mode, coordinate, size_f, linear, 0, false);
}

Axis wrap_axis(const SamplerContext& c, VkSamplerAddressMode mode, const AxisPosition& at, Value size, Value offset) {
  const Ir& ir = c.ir;
  assert(Ir::type_of(at.low) == ir.vi32 && Ir::element_of(Ir::type_of(size)) == ir.i32);
  const bool linear = at.fraction;
  Value size_v = as_vector(ir, size), last = ir.sub(size_v, ir.ik(1)), zero = ir.ik(0);
  Value low = at.low, high = nullptr;
  Axis axis;
  axis.fraction = at.fraction;
  if (repeats(c, mode)) {
    const bool mirrors = mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    Value period = mirrors ? ir.add(size, size) : size, period_v = as_vector(ir, period);
    low = add_offset(ir, low, offset, period);  // [-1, period)
    if (linear) high = ir.add(low, ir.ik(1));
    // One step: unsigned minima, since -1 is the largest number.
    auto mirror = [&](Value i) { return mirrors ? ir.smin(i, ir.sub(ir.sub(period_v, ir.ik(1)), i)) : i; };
    low = mirror(ir.umin(low, ir.add(low, period_v)));
    if (linear) high = mirror(ir.umin(high, ir.sub(high, period_v)));
  } else {
    low = ir.add(low, ir.sclamp(as_vector(ir, offset), ir.ik(static_cast<uint32_t>(-kMostOffset)), ir.ik(kMostOffset)));
    if (linear) high = ir.add(low, ir.ik(1));
    if (mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) {
      axis.low_outside = ir.uge(low, size_v);
      if (linear) axis.high_outside = ir.uge(high, size_v);
    }
    auto clamp = [&](Value i) {
      if (mode == VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE) i = ir.xor_(i, ir.ashr(i, 31));  // -1 - i below 0
      return ir.smin(ir.smax(i, zero), last);
    };
    low = clamp(low);
    if (linear) high = clamp(high);
  }
  axis.low = low, axis.high = high;
  return axis;
}

CubicAxis wrap_cubic_axis(const SamplerContext& c, VkSamplerAddressMode mode, const AxisPosition& at, Value size, Value offset) {
  const Ir& ir = c.ir;
  assert(Ir::type_of(at.low) == ir.vi32 && at.fraction && Ir::type_of(size) == ir.i32);
  CubicAxis axis;
  axis.fraction = at.fraction;
  Value size_v = as_vector(ir, size), one = ir.ik(1);
  if (repeats(c, mode)) {
    const bool mirrors = mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    Value period = mirrors ? ir.add(size, size) : size, period_v = as_vector(ir, period);
    // One step at a time, whatever the period: unsigned minima, as in wrap_axis.
    const auto from_below = [&](Value i) { return ir.umin(i, ir.add(i, period_v)); };
    const auto from_above = [&](Value i) { return ir.umin(i, ir.sub(i, period_v)); };
    axis.at[1] = from_below(add_offset(ir, at.low, offset, period));
    axis.at[0] = from_below(ir.sub(axis.at[1], one));
    axis.at[2] = from_above(ir.add(axis.at[1], one)), axis.at[3] = from_above(ir.add(axis.at[2], one));
    if (mirrors)
      for (Value& i : axis.at) i = ir.smin(i, ir.sub(ir.sub(period_v, one), i));
    return axis;
  }
  Value low = ir.add(at.low, ir.sclamp(as_vector(ir, offset), ir.ik(static_cast<uint32_t>(-kMostOffset)), ir.ik(kMostOffset)));
  for (uint32_t k = 0; k < 4; ++k) {
    Value i = ir.add(low, ir.ik(k - 1));
    if (mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) axis.outside[k] = ir.uge(i, size_v);
    if (mode == VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE) i = ir.xor_(i, ir.ashr(i, 31));  // -1 - i below 0
    axis.at[k] = ir.smin(ir.smax(i, ir.ik(0)), ir.sub(size_v, one));
  }
  return axis;
}

Axis address_axis(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size, Value size_f, Value offset,
                  bool linear) {
  return wrap_axis(c, mode, place_on_axis(c, mode, coordinate, size_f, linear), size, offset);
}

}  // namespace tilegpu::shader
