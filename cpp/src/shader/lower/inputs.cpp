// shader/lower/inputs.cpp -- interpolation of fragment inputs from PrimitiveSetup.
//
// In: FragmentArgs (quads, primitives, coverage). Out: values of inputs at the pixel's centre, at a sample, at the centroid, or anywhere.
// Planes are evaluated from the primitive's anchor, never accumulated, so that a pixel's value does not depend on its packet.
// Source: Vulkan specification, "Polygon Rasterization" (interpolation), "Multisampling" (centroid); abi.hpp for the formulas.
#include <spirv/unified1/GLSL.std.450.h>

#include "shader/lower/entry.hpp"

#include <cassert>

namespace tilegpu::shader {

Value Interpolator::quads_to_lanes(Value by_quad) {
  std::vector<int> mask;
  for (uint32_t lane = 0; lane < l.ir.lanes; ++lane) mask.push_back(static_cast<int>(lane / 4));
  assert(l.ir.lanes % 4 == 0 && Ir::lanes_of(by_quad) == l.ir.lanes / 4);
  if (l.ir.lanes == 4 && !Lowering::is_varying(by_quad)) return l.ir.splat(by_quad);
  return l.ir.shuffle(by_quad, mask);
}

// Four floats of every quad's setup at once: quad q's are in lanes 4q to 4q + 3, where one shuffle within 128 bits spreads each of them.
// Loads of single floats would take as many instructions for each of the four as this takes for all.
Value Interpolator::four_fields(size_t offset_B) {
  const Ir& ir = l.ir;
  const LLVMBasicBlockRef here = ir.current_block();
  assert(offset_B % 16 == 0 && offset_B / 16 < sizeof(four_fields_) / sizeof(four_fields_[0]));
  FourFields& kept = four_fields_[offset_B / 16];
  if (kept.block == here) return kept.values;
  std::vector<Value> parts;
  for (uint32_t quad = 0; quad < ir.lanes / 4; ++quad) {
    Value setup = ir.field(ir.ptr, l.args, offsetof(FragmentArgs, primitive) + quad * 8, 8);
    parts.push_back(ir.field(Ir::vec(ir.f32, 4), setup, offset_B, 16));
  }
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    std::vector<int> both;
    for (uint32_t lane = 0; lane < ir.lanes / parts.size() * 2; ++lane) both.push_back(static_cast<int>(lane));
    for (size_t k = 0; k < parts.size() / 2; ++k) parts[k] = ir.shuffle(parts[2 * k], parts[2 * k + 1], both);
  }
  kept = {here, parts[0]};
  return parts[0];
}

Value Interpolator::field(Type type, size_t offset_B, bool uniform) {
  const Ir& ir = l.ir;
  assert(offset_B % 4 == 0 && offset_B + 4 <= sizeof(PrimitiveSetup));
  if (!uniform && ir.lanes > 4 && type == ir.f32 && offset_B < sizeof(four_fields_) / sizeof(four_fields_[0]) * 16) {
    std::vector<int> mask;
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) mask.push_back(static_cast<int>(lane & ~3u) + static_cast<int>(offset_B % 16 / 4));
    return ir.shuffle(four_fields(offset_B & ~size_t{15}), mask);
  }
  const auto of_quad = [&](uint32_t quad) {
    return ir.field(type, ir.field(ir.ptr, l.args, offsetof(FragmentArgs, primitive) + quad * 8, 8), offset_B);
  };
  if (uniform || ir.lanes == 4) return uniform ? of_quad(0) : ir.splat(of_quad(0));
  Value quads = LLVMGetPoison(Ir::vec(type, ir.lanes / 4));
  for (uint32_t quad = 0; quad < ir.lanes / 4; ++quad) quads = ir.insert(quads, of_quad(quad), quad);
  return quads_to_lanes(quads);
}

Value Interpolator::varying_row(uint32_t vertex, uint32_t row, bool uniform) {
  const Ir& ir = l.ir;
  assert(vertex <= 3 && row < key.varyings.components.size());
  const size_t pointer_B = vertex == 3 ? offsetof(PrimitiveSetup, provoking) : offsetof(PrimitiveSetup, varying) + vertex * 8;
  const auto of_quad = [&](uint32_t quad) {
    Value setup = ir.field(ir.ptr, l.args, offsetof(FragmentArgs, primitive) + quad * 8, 8);
    return ir.field(ir.f32, ir.field(ir.ptr, setup, pointer_B, 8), static_cast<size_t>(row) * kBatchStride * 4);
  };
  if (uniform || ir.lanes == 4) return uniform ? of_quad(0) : ir.splat(of_quad(0));
  Value quads = LLVMGetPoison(Ir::vec(ir.f32, ir.lanes / 4));
  for (uint32_t quad = 0; quad < ir.lanes / 4; ++quad) quads = ir.insert(quads, of_quad(quad), quad);
  return quads_to_lanes(quads);
}

Value Interpolator::lane_pixel(bool is_y) {
  return l.ir.field(l.ir.vi32, l.args, is_y ? offsetof(FragmentArgs, lane_y_px) : offsetof(FragmentArgs, lane_x_px), 64);
}

Interpolator::Position Interpolator::corner(uint32_t pixel) {
  const Ir& ir = l.ir;
  assert(by_lane && pixel < 3);
  const auto axis = [&](bool is_y, bool second) {
    Value first = ir.and_(lane_pixel(is_y), ir.ik(~1u));  // quads begin at even pixels
    return ir.fadd(ir.sitofp(second ? ir.or_(first, ir.ik(1)) : first), ir.fk(0.5f));
  };
  return {axis(false, pixel & 1), axis(true, pixel & 2)};
}

Value Interpolator::pixel(size_t offset_B) {
  const Ir& ir = l.ir;
  assert(offset_B == offsetof(FragmentArgs, x_px) || offset_B == offsetof(FragmentArgs, y_px));
  const bool is_y = offset_B == offsetof(FragmentArgs, y_px);
  if (once) return ir.fsub(is_y ? place.y : place.x, ir.fk(0.5f));
  if (by_lane || key.coarse) return ir.sitofp(lane_pixel(is_y));
  Value corner = ir.field(Ir::vec(ir.i32, ir.lanes / 4), l.args, offset_B);
  Value steps[kMaxLanes];
  for (uint32_t lane = 0; lane < ir.lanes; ++lane) steps[lane] = ir.c32(is_y ? (lane >> 1) & 1 : lane & 1);
  return ir.sitofp(ir.add(quads_to_lanes(corner), LLVMConstVector(steps, ir.lanes)));
}

/// A quad's fragments side by side, each of several pixels: integers until the last step, so that the centre is exact.
Value Interpolator::coarse_centre(bool is_y) {
  const Ir& ir = l.ir;
  assert(key.coarse && !once && !by_lane);
  const auto by_quad = [&](size_t offset_B) { return quads_to_lanes(ir.field(Ir::vec(ir.i32, ir.lanes / 4), l.args, offset_B)); };
  Value size = by_quad(offsetof(FragmentArgs, fragment_size));
  Value halves[kMaxLanes];  // of the fragment's side, from the quad's corner
  for (uint32_t lane = 0; lane < ir.lanes; ++lane) halves[lane] = ir.c32((is_y ? (lane >> 1) & 1 : lane & 1) ? 3 : 1);
  Value log2 = is_y ? ir.and_(size, ir.ik(3)) : ir.lshr(size, 2);
  Value half_px = ir.shl(LLVMConstVector(halves, ir.lanes), log2);
  Value corner = by_quad(is_y ? offsetof(FragmentArgs, y_px) : offsetof(FragmentArgs, x_px));
  return ir.fmul(ir.sitofp(ir.add(ir.shl(corner, 1), half_px)), ir.fk(0.5f));
}

Interpolator::Position Interpolator::centre() {
  if (once) return place;
  if (key.coarse) return {coarse_centre(false), coarse_centre(true)};
  return {l.ir.fadd(pixel(offsetof(FragmentArgs, x_px)), l.ir.fk(0.5f)), l.ir.fadd(pixel(offsetof(FragmentArgs, y_px)), l.ir.fk(0.5f))};
}

Interpolator::Position Interpolator::at_sample(Value index) {
  const Ir& ir = l.ir;
  assert(key.samples >= 1 && Ir::element_of(Ir::type_of(index)) == ir.i32);
  Value safe = ir.umin(index, Ir::same(index, key.samples - 1));
  Value positions = ir.field(ir.ptr, l.args, offsetof(FragmentArgs, sample_positions), 8);
  Value x, y;
  if (Lowering::is_varying(safe)) {
    x = ir.load_lanes(ir.f32, positions, ir.shl(safe, 3), 4);
    y = ir.load_lanes(ir.f32, ir.offset(positions, uint64_t{4}), ir.shl(safe, 3), 4);
  } else {
    Value at = ir.offset(positions, ir.shl(ir.zext(safe, ir.i64), 3));
    x = ir.splat(ir.load(ir.f32, at, 4)), y = ir.splat(ir.field(ir.f32, at, 4));
  }
  return {ir.fadd(pixel(offsetof(FragmentArgs, x_px)), x), ir.fadd(pixel(offsetof(FragmentArgs, y_px)), y)};
}

Value Interpolator::covered(uint32_t sample, bool tested) {
  const Ir& ir = l.ir;
  assert(sample < key.samples && key.samples <= 16);  // 16 samples of four pixels fill a word
  const size_t field_B = tested ? offsetof(FragmentArgs, live_coverage) : offsetof(FragmentArgs, raster_coverage);
  Value words = quads_to_lanes(ir.field(Ir::vec(ir.i64, ir.lanes / 4), l.args, field_B, 8));
  Value shifts[kMaxLanes];
  for (uint32_t lane = 0; lane < ir.lanes; ++lane) shifts[lane] = ir.c64(1ull << (4 * sample + (lane & 3)));
  return ir.ne(ir.and_(words, LLVMConstVector(shifts, ir.lanes)), Ir::zero(Ir::type_of(words)));
}

/// The centre where all samples are covered (or none: helpers), else the first covered sample.
Interpolator::Position Interpolator::centroid() {
  const Ir& ir = l.ir;
  if (key.coarse)
    return {ir.field(ir.vf32, l.args, offsetof(FragmentArgs, centroid_x)), ir.field(ir.vf32, l.args, offsetof(FragmentArgs, centroid_y))};
  if (key.per_sample) return at_sample(ir.field(ir.i32, l.args, offsetof(FragmentArgs, sample_index)));
  Position result = centre();
  if (key.samples == 1) return result;
  const Position middle = result;
  Value all = ir.true_mask();
  for (uint32_t s = key.samples; s-- > 0;) {
    Value in = covered(s);
    const Position p = at_sample(ir.c32(s));
    result.x = ir.select(in, p.x, result.x), result.y = ir.select(in, p.y, result.y);
    all = ir.and_(all, in);
  }
  return {ir.select(all, middle.x, result.x), ir.select(all, middle.y, result.y)};
}

Value Interpolator::plane(size_t first_B, const Position& p, bool uniform) {
  const Ir& ir = l.ir;
  assert(first_B + 12 <= sizeof(PrimitiveSetup) && Ir::type_of(p.x) == ir.vf32 && Ir::type_of(p.y) == ir.vf32);
  const auto get = [&](size_t at) { return of_primitive([&] { return l.vary(field(ir.f32, at, uniform)); }); };
  Value dx = ir.fsub(p.x, get(offsetof(PrimitiveSetup, anchor_x))), dy = ir.fsub(p.y, get(offsetof(PrimitiveSetup, anchor_y)));
  return ir.fma(get(first_B + 8), dy, ir.fma(get(first_B + 4), dx, get(first_B)));
}

Interpolator::Barycentrics Interpolator::barycentrics(const Position& p, bool uniform) {
  const Ir& ir = l.ir;
  Barycentrics b;
  b.q = plane(offsetof(PrimitiveSetup, q0), p, uniform);
  Value i = plane(offsetof(PrimitiveSetup, i0), p, uniform), j = plane(offsetof(PrimitiveSetup, j0), p, uniform);
  Value w = ir.fdiv(ir.fk(1.0f), b.q);
  b.b1 = ir.fmul(i, w), b.b2 = ir.fmul(j, w);
  b.l1 = ir.fmul(i, of_primitive([&] { return l.vary(field(ir.f32, offsetof(PrimitiveSetup, w1), uniform)); }));
  b.l2 = ir.fmul(j, of_primitive([&] { return l.vary(field(ir.f32, offsetof(PrimitiveSetup, w2), uniform)); }));
  return b;
}

Value Interpolator::interpolate(uint32_t row, Interpolation how, const Barycentrics& b, bool uniform) {
  const Ir& ir = l.ir;
  if (how == Interpolation::flat) return of_primitive([&] { return l.vary(varying_row(3, row, uniform)); });
  Value v0 = of_primitive([&] { return varying_row(0, row, uniform); });
  if (constant) return l.vary(v0);
  const auto edge = [&](uint32_t vertex) { return of_primitive([&] { return l.vary(ir.fsub(varying_row(vertex, row, uniform), v0)); }); };
  Value d1 = edge(1), d2 = edge(2);
  const bool smooth = how == Interpolation::smooth;
  return ir.fma(smooth ? b.b2 : b.l2, d2, ir.fma(smooth ? b.b1 : b.l1, d1, of_primitive([&] { return l.vary(v0); })));
}

int Interpolator::row_of(const InterfaceScalar& s) const {
  if (is_interpolated(s.builtin)) return key.varyings.find(builtin_location(s.builtin), s.element);
  return key.varyings.find(s.location, s.component, false, s.corner);
}

/// interpolateAtCentroid, interpolateAtSample, interpolateAtOffset.
Val Interpolator::at_other_position(const Instruction& i) {
  const uint32_t op = l.m.operand(i, 1), root = pointer_root(l.m, l.m.operand(i, 2));
  const Pointer p = l.pointer(l.m.operand(i, 2));
  Val result{i.type, {}};
  const auto scalars = root ? interface_of(l.m, l.constants, root) : std::vector<InterfaceScalar>();
  if (scalars.empty()) {
    l.fail("interpolateAt* needs an input");
    return l.zero(i.type);
  }
  Position at;
  if (op == GLSLstd450InterpolateAtCentroid) {
    at = centroid();
  } else if (op == GLSLstd450InterpolateAtSample) {
    at = at_sample(l.scalar(l.m.operand(i, 3)));
  } else {
    const Val offset = l.value(l.m.operand(i, 3));
    at = centre();
    at.x = l.ir.fadd(at.x, l.vary(offset.c[0])), at.y = l.ir.fadd(at.y, l.vary(offset.c[1]));
  }
  const bool uniform = once != nullptr;
  const Barycentrics b = barycentrics(at, uniform);
  const uint32_t width = l.width(i.type);
  const auto scalar_at = [&](uint32_t word) {
    const int row = row_of(scalars[word]);
    return row < 0 ? l.ir.fk(0.0f) : interpolate(static_cast<uint32_t>(row), scalars[word].interpolation, b, uniform);
  };
  for (uint32_t k = 0; k < width && p.word + k < scalars.size(); ++k) result.c.push_back(scalar_at(p.word + k));
  // An index that is known as the shader runs: of all that it may choose, the one that it does.
  if (!p.word_dynamic) return {i.type, from_words(l, i.type, result.c)};
  assert(result.c.size() == width);
  Value chosen = l.vary(p.word_dynamic);
  for (uint32_t k = 0; k < width; ++k)
    for (uint32_t word = p.word + k + 1; word < scalars.size(); ++word)
      result.c[k] = l.ir.select(l.ir.eq(chosen, l.ir.ik(word - p.word - k)), scalar_at(word), result.c[k]);
  return {i.type, from_words(l, i.type, result.c)};
}

}  // namespace tilegpu::shader
