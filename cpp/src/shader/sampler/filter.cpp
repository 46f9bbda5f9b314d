// shader/sampler/filter.cpp -- a level's texels under a coordinate: read, with border and comparison, and filtered, by floats or by
// integers; or gathered.
//
// In: level, coordinates by lane. Out: a value by component and lane. Source: Vulkan specification, "Image Operations" (Texel Filtering).
#include "shader/sampler/function.hpp"

#include <cassert>

namespace tilegpu::shader {
namespace {

/// Masks, or null where no lane can be outside.
Value either(const Ir& ir, Value a, Value b) { return a && b ? ir.or_(a, b) : a ? a : b; }

Axis axis_of_slices(const SamplerContext& c, const Level& level, bool linear) {
  assert(c.plan.volume && c.r && c.offset_z && level.depth);
  return address_axis(c, c.plan.key.sampler.address_w, c.r, level.depth, c.ir.sitofp(c.ir.splat(level.depth)), c.offset_z, linear);
}

}  // namespace

std::vector<Value> SamplerFunctionBuilder::pack(const TexelValues& t) const {
  std::vector<Value> v;
  for (Value x : t) {
    if (x) v.push_back(x);
  }
  return v;
}

/// Component k exists where load_texel would give one.
TexelValues SamplerFunctionBuilder::unpack(const std::vector<Value>& v, size_t first) const {
  TexelValues t{};
  for (uint32_t k = 0; k < 4; ++k) {
    const bool present =
        plan.needed[k] && (plan.components[k].kind == ComponentKind::code || plan.components[k].kind == ComponentKind::direct);
    assert(!present || first < v.size());
    if (present) t[k] = v[first++];
  }
  return t;
}

TexelValues SamplerFunctionBuilder::like_texel(Value fill) const { return unpack(std::vector<Value>(4, fill)); }

/// One texel: loaded, border in its place, compared. `by_rows`: of blocks of pixels by rows, where they lie so.
TexelValues SamplerFunctionBuilder::read(const Level& level, Value x, Value y, Value face, Value outside, bool by_rows) {
  assert(!plan.cube || (face && c.layer && current_layer_pitch));
  Value layer_offset = nullptr;
  if (plan.cube) layer_offset = ir.mul(ir.zext(ir.add(c.layer, face), ir.i64), ir.splat(current_layer_pitch));
  const auto by_lane = [&] { return pack(load_texel(c, level, x, y, layer_offset)); };
  TexelValues texel;
  if (by_rows && plan.level_0_alone && asks_window(c)) {
    const TexelWindow w = find_window(c, level, x, y, 0, false);
    texel = unpack(ir.if_else(w.there, [&] { return pack(load_window_texel(c, level, w)); }, by_lane));
  } else {
    texel = load_texel(c, level, x, y, layer_offset);
  }
  if (outside) texel = replace_border(c, texel, outside);
  return plan.compare ? compare_depth(c, texel) : texel;
}

void SamplerFunctionBuilder::four_texels(const Level& level, Value s, Value t, Value face, TexelValues out[4], Axis& ax, Axis& ay) {
  // Order: (low, low), (high, low), (low, high), (high, high).
  auto replace_and_compare = [&] {
    Value outside[4] = {either(ir, ax.low_outside, ay.low_outside), either(ir, ax.high_outside, ay.low_outside),
                        either(ir, ax.low_outside, ay.high_outside), either(ir, ax.high_outside, ay.high_outside)};
    for (int k = 0; k < 4; ++k) {
      if (outside[k]) out[k] = replace_border(c, out[k], outside[k]);
      if (plan.compare) out[k] = compare_depth(c, out[k]);
    }
  };
  if (!plan.cube && !plan.one_dimensional && !plan.format->is_compressed() &&
      (plan.texel_B == 1 || plan.texel_B == 2 || plan.texel_B == 4)) {
    const FourWords four = load_four_words(c, level, s, t);
    ax = four.x, ay = four.y;
    unpack_words(c, four.words, 15, out);
    replace_and_compare();
    return;
  }
  if (!plan.cube) {
    ax = address_axis(c, plan.key.sampler.address_u, s, level.width, level.width_f, c.offset_x, true);
    if (plan.one_dimensional) {
      out[0] = read(level, ax.low, ir.ik(0), nullptr, ax.low_outside);
      out[1] = read(level, ax.high, ir.ik(0), nullptr, ax.high_outside);
      ay = {};
      return;
    }
    ay = address_axis(c, plan.key.sampler.address_v, t, level.height, level.height_f, c.offset_y, true);
    const Value xs[4] = {ax.low, ax.high, ax.low, ax.high}, ys[4] = {ay.low, ay.low, ay.high, ay.high};
    if (plan.format->is_compressed()) {
      const TexelPosition at[4] = {{xs[0], ys[0]}, {xs[1], ys[1]}, {xs[2], ys[2]}, {xs[3], ys[3]}};
      load_compressed(c, level, 4, at, out);
    } else {
      for (int k = 0; k < 4; ++k) out[k] = load_texel(c, level, xs[k], ys[k], nullptr);
    }
    replace_and_compare();
    return;
  }
  if (!plan.seamless()) return four_of_face(level, s, t, face, out, ax, ay);
  // Cubes: plain indices first; where one leaves the face, all four go through the neighbour's mapping.
  auto plain = [&](Value coordinate, Value size_f, Axis& axis) {
    Value u = ir.fclamp(ir.fma(coordinate, size_f, ir.fk(-kHalfLessRounding)), ir.fk(-0.5f), ir.fsub(size_f, ir.fk(0.5f)));
    Value whole = ir.floor(u);
    axis.fraction = kept_fraction(ir, ir.fsub(u, whole));
    axis.low = ir.fptosi(whole);
    axis.high = ir.add(axis.low, ir.ik(1));
  };
  plain(s, level.width_f, ax);
  plain(t, level.height_f, ay);
  Value width = ir.splat(level.width);
  Value leaves = ir.or_(ir.or_(ir.slt(ax.low, ir.ik(0)), ir.sge(ax.high, width)), ir.or_(ir.slt(ay.low, ir.ik(0)), ir.sge(ay.high, width)));
  const Value xs[4] = {ax.low, ax.high, ax.low, ax.high}, ys[4] = {ay.low, ay.low, ay.high, ay.high};
  std::vector<Value> mapped = ir.if_else(
      ir.any(leaves),
      [&] {
        std::vector<Value> v;
        for (int k = 0; k < 4; ++k) {
          const CubeTexel n = cube_neighbour(ir, face, xs[k], ys[k], level.width);
          Value inside = ir.and_(ir.ult(xs[k], width), ir.ult(ys[k], width));
          v.push_back(ir.select(inside, face, n.face));
          v.push_back(ir.select(inside, xs[k], n.x));
          v.push_back(ir.select(inside, ys[k], n.y));
          v.push_back(ir.mask_to_int(n.corner));
        }
        return v;
      },
      [&] {
        std::vector<Value> v;
        for (int k = 0; k < 4; ++k) {
          v.push_back(face), v.push_back(xs[k]), v.push_back(ys[k]), v.push_back(ir.ik(0));
        }
        return v;
      });
  std::vector<Value> colors;
  Value any_corner = nullptr;
  for (int k = 0; k < 4; ++k) {
    const TexelValues texel = read(level, mapped[4 * k + 1], mapped[4 * k + 2], mapped[4 * k], nullptr);
    for (Value v : pack(texel)) colors.push_back(v);
    any_corner = any_corner ? ir.or_(any_corner, mapped[4 * k + 3]) : mapped[4 * k + 3];
  }
  assert(colors.size() % 4 == 0);
  const size_t count = colors.size() / 4;
  colors = ir.if_else(
      ir.any(ir.int_to_mask(any_corner)),
      [&] {
        std::vector<Value> v = colors;
        for (size_t k = 0; k < 4; ++k) {
          Value corner = ir.int_to_mask(mapped[4 * k + 3]);
          for (size_t n = 0; n < count; ++n) {
            Value sum = nullptr;
            for (size_t o = 0; o < 4; ++o) {
              if (o != k) sum = sum ? ir.fadd(sum, colors[o * count + n]) : colors[o * count + n];
            }
            v[k * count + n] = ir.select(corner, ir.fdiv(sum, ir.fk(3)), colors[k * count + n]);
          }
        }
        return v;
      },
      [&] { return colors; });
  for (size_t k = 0; k < 4; ++k) out[k] = unpack(colors, k * count);
}

/// Of a cube whose faces are images by themselves: the address modes at its edges. Offsets are not for cubes.
void SamplerFunctionBuilder::four_of_face(const Level& level, Value s, Value t, Value face, TexelValues out[4], Axis& ax, Axis& ay) {
  assert(plan.cube && !plan.seamless() && face);
  ax = address_axis(c, plan.key.sampler.address_u, s, level.width, level.width_f, ir.c32(0), true);
  ay = address_axis(c, plan.key.sampler.address_v, t, level.height, level.height_f, ir.c32(0), true);
  for (uint32_t k = 0; k < 4; ++k) {
    const bool right = k & 1, low = k >> 1;
    out[k] = read(level, right ? ax.high : ax.low, low ? ay.high : ay.low, face,
                  either(ir, right ? ax.high_outside : ax.low_outside, low ? ay.high_outside : ay.low_outside));
  }
}

/// Four texels of level 0, a component of each.
void SamplerFunctionBuilder::gather() {
  using namespace gather_arg;
  load_context(LLVMGetParam(fn, descriptor), LLVMGetParam(fn, layer));
  c.dref = LLVMGetParam(fn, dref);
  c.offset_x = LLVMGetParam(fn, offset_x), c.offset_y = LLVMGetParam(fn, offset_y);
  Value s = LLVMGetParam(fn, gather_arg::s), t = LLVMGetParam(fn, gather_arg::t), face = nullptr;
  if (plan.cube) {
    const Value v[3] = {s, t, LLVMGetParam(fn, r)};
    const CubeCoordinates on_face = cube_face(ir, v, nullptr, nullptr);
    s = on_face.s, t = on_face.t, face = on_face.face;
  }
  const Level level = load_level(c, ir.c32(0));
  if (plan.cube) current_layer_pitch = ir.load(ir.i64, c.view, 8);
  TexelValues texels[4];
  Axis ax, ay;
  fold(s, t);
  four_texels(level, s, t, face, texels, ax, ay);
  if (plan.one_dimensional) texels[2] = texels[0], texels[3] = texels[1];
  if (plan.key.min_lod) {
    // Level 0 may lie before the view's least one: zeros.
    Value there = ir.eq(ir.field(ir.i32, c.view, offsetof(ImageViewAbi, min_level)), ir.c32(0));
    for (TexelValues& texel : texels)
      for (Value& v : texel)
        if (v) v = ir.select(there, v, ir.fk(0));
  }
  Value wanted = LLVMGetParam(fn, component);
  std::array<Value, 4> result;
  const int order[4] = {2, 3, 1, 0};  // (i0 j1), (i1 j1), (i1 j0), (i0 j0)
  for (int k = 0; k < 4; ++k) {
    const std::array<Value, 4> rgba = finish_texel(c, texels[order[k]]);
    result[k] = rgba[0];
    for (uint32_t n = 1; n < 4 && (!plan.compare || plan.compare_color); ++n)
      result[k] = ir.select(ir.eq(wanted, ir.c32(n)), rgba[n], result[k]);
  }
  return_values(result);
}

/// By integers: a level, or where some of the lanes `wanted` (bits) have a `weight` (null: none) of it, the next one too. `level`: one for
/// all or one a lane.
FixedSum SamplerFunctionBuilder::sum_fixed(Value s, Value t, Value level, Value weight, Value wanted) const {
  assert(plan.fixed && (!weight || (Ir::type_of(weight) == ir.vi32 && Ir::type_of(wanted) == ir.i32)));
  FixedSum sum{};
  if (!weight) {
    sum = add_fixed_level(c, load_fixed_level(c, level), s, t, whole_weight(ir), nullptr);
  } else {
    // The body is emitted once and run for the first level, then for the second.
    const FixedWeight of_second = fixed_weight(ir, weight), of_first = other_weight(ir, of_second);
    Value needs_second = ir.ne(ir.and_(ir.movemask(ir.ne(weight, ir.ik(0))), wanted), ir.c32(0));
    Type words = Ir::type_of(of_second.both), pair = Ir::vec(ir.i32, 2 * ir.lanes);
    Value last_level = ir.field(ir.i32, c.view, offsetof(ImageViewAbi, last_level));
    if (Ir::lanes_of(level) > 1) last_level = ir.splat(last_level);
    Block entry = ir.current_block(), levels = ir.block("levels"), done = ir.block("levels_done");
    ir.br(levels);
    ir.at(levels);
    Value index = LLVMBuildPhi(ir.builder, Ir::type_of(level), ""), second = LLVMBuildPhi(ir.builder, ir.i1, "");
    const FixedWeight now{LLVMBuildPhi(ir.builder, ir.vi32, ""), LLVMBuildPhi(ir.builder, words, "")};
    const FixedSum before{{LLVMBuildPhi(ir.builder, pair, ""), LLVMBuildPhi(ir.builder, pair, "")}};
    sum = add_fixed_level(c, load_fixed_level(c, index), s, t, now, &before);
    Value next = ir.smin(ir.add(index, Ir::same(index, 1)), last_level);
    Block end = ir.current_block();
    ir.br(ir.and_(needs_second, ir.xor_(second, ir.c1(true))), levels, done);
    auto incoming = [&](Value phi, Value first_time, Value then) {
      LLVMAddIncoming(phi, &first_time, &entry, 1), LLVMAddIncoming(phi, &then, &end, 1);
    };
    incoming(index, level, next), incoming(second, ir.c1(false), ir.c1(true));
    incoming(now.low, of_first.low, of_second.low), incoming(now.both, of_first.both, of_second.both);
    for (int k = 0; k < 2; ++k) incoming(before.pair[k], Ir::zero(pair), sum.pair[k]);
    ir.at(done);
  }
  return sum;
}

/// Codes times kFixedOne, of the components whose bits are set.
TexelValues SamplerFunctionBuilder::components_of(const FixedSum& sum, uint32_t components) const {
  TexelValues color{};
  for (uint32_t k = 0; k < 4; ++k) {
    if (components >> k & 1 && plan.needed[k] && plan.components[k].kind == ComponentKind::code) color[k] = fixed_component(ir, sum, k);
  }
  return color;
}

std::vector<Value> SamplerFunctionBuilder::sample_fixed(Value s, Value t, Value level, Value weight, Value wanted) const {
  return pack(components_of(sum_fixed(s, t, level, weight, wanted)));
}

void SamplerFunctionBuilder::finish_fixed(const FixedSum& sum) {
  if (!c.wants_alpha) return finish(components_of(sum), true);
  std::array<Value, 4> result = finish_texel(c, components_of(sum, 7), kFixedOne);
  result[3] = ir.if_else(
      c.wants_alpha, [&] { return std::vector<Value>{finish_texel(c, components_of(sum, 8), kFixedOne)[3]}; },
      [&] { return std::vector<Value>{ir.fk(0)}; })[0];
  return_values(result);
}

TexelValues SamplerFunctionBuilder::sample_level(Value level_index, Value s, Value t, Value face, LevelFilter filter) {
  if (plan.fixed) return unpack(sample_fixed(s, t, level_index, nullptr, nullptr));
  const Level level = load_level(c, level_index);
  if (plan.cube || plan.volume) current_layer_pitch = ir.load(ir.i64, ir.offset(c.view, ir.shl(ir.zext(level_index, ir.i64), 3)), 8);
  if (filter == LevelFilter::cubic) return filter_cubic(level, s, t);
  if (filter == LevelFilter::nearest) {
    if (plan.seamless()) {
      auto nearest = [&](Value coordinate, Value size_f) {
        return ir.fptosi(ir.floor(ir.fclamp(ir.fmul(coordinate, size_f), ir.fk(0), ir.fsub(size_f, ir.fk(0.5f)))));
      };
      return read(level, nearest(s, level.width_f), nearest(t, level.height_f), face, nullptr);
    }
    const Value offset_x = plan.cube ? ir.c32(0) : c.offset_x, offset_y = plan.cube ? ir.c32(0) : c.offset_y;
    const Axis ax = address_axis(c, plan.key.sampler.address_u, s, level.width, level.width_f, offset_x, false);
    if (plan.one_dimensional) return read(level, ax.low, ir.ik(0), nullptr, ax.low_outside);
    const Axis ay = address_axis(c, plan.key.sampler.address_v, t, level.height, level.height_f, offset_y, false);
    Value outside = either(ir, ax.low_outside, ay.low_outside);
    if (!plan.volume) return read(level, ax.low, ay.low, face, outside, true);
    const Axis az = axis_of_slices(c, level, false);
    return read(slice_of(level, az.low), ax.low, ay.low, nullptr, either(ir, outside, az.low_outside));
  }
  return plan.volume ? filter_slices(level, s, t) : filter_level(level, s, t, face);
}

Level SamplerFunctionBuilder::slice_of(const Level& level, Value slice) const {
  assert(plan.volume && current_layer_pitch && Ir::type_of(slice) == ir.vi32);
  Level of = level;
  of.layer_offset = ir.mul(ir.zext(slice, ir.i64), ir.splat(current_layer_pitch));
  return of;
}

/// Four texels of each of two slices, mixed.
TexelValues SamplerFunctionBuilder::filter_slices(const Level& level, Value s, Value t) {
  const Axis az = axis_of_slices(c, level, true);
  const auto filtered = [&](Value slice, Value outside) {
    TexelValues texels[4];
    Axis ax, ay;
    four_texels(slice_of(level, slice), s, t, nullptr, texels, ax, ay);
    if (outside)
      for (TexelValues& texel : texels) texel = replace_border(c, texel, outside);
    return reduce_texels(c, reduce_texels(c, texels[0], texels[1], ax.fraction), reduce_texels(c, texels[2], texels[3], ax.fraction),
                         ay.fraction);
  };
  return reduce_texels(c, filtered(az.low, az.low_outside), filtered(az.high, az.high_outside), az.fraction);
}

/// Four texels, mixed.
TexelValues SamplerFunctionBuilder::filter_level(const Level& level, Value s, Value t, Value face) {
  if (plan.halves) return filter_halves(c, level, s, t);
  TexelValues texels[4];
  Axis ax, ay;
  auto filter = [&] {
    const TexelValues top = reduce_texels(c, texels[0], texels[1], ax.fraction);
    if (plan.one_dimensional) return top;
    return reduce_texels(c, top, reduce_texels(c, texels[2], texels[3], ax.fraction), ay.fraction);
  };
  if (!c.wants_alpha) {
    four_texels(level, s, t, face, texels, ax, ay);
    return filter();
  }
  const FourWords four = load_four_words(c, level, s, t);
  ax = four.x, ay = four.y;
  unpack_words(c, four.words, 7, texels);
  TexelValues color = filter();
  color[3] = ir.if_else(
      c.wants_alpha,
      [&] {
        unpack_words(c, four.words, 8, texels);
        return std::vector<Value>{filter()[3]};
      },
      [&] { return std::vector<Value>{ir.fk(0)}; })[0];
  return color;
}

}  // namespace tilegpu::shader
