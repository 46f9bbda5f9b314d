// shader/sampler/texel.cpp -- texels: addresses, loads, unpacking, border colour, depth comparison, the end of a sample.
//
// In: indices in range, or before wrapping. Out: raw components (see internal.hpp), and from raw ones the function's result. A read
// is a lane's load or gather at an address in range. Source: Vulkan specification, "Texel Input Operations": format conversion, texel
// replacement, depth comparison, conversion to RGBA, component swizzle.
#include "shader/sampler/internal.hpp"

#include <cassert>

namespace tilegpu::shader {
namespace {

uint32_t low_mask(uint32_t bits) { return bits >= 32 ? ~0u : (1u << bits) - 1u; }

Value load_word(const SamplerContext& c, Value base, Value offsets) {
  const Ir& ir = c.ir;
  switch (c.plan.texel_B) {
    case 1:
      return ir.zext(ir.load_lanes(ir.i8, base, offsets, 1), ir.i32);
    case 2:
      return ir.zext(ir.load_lanes(ir.i16, base, offsets, 2), ir.i32);
    default:
      return ir.load_lanes(ir.i32, base, offsets, 4);
  }
}

Value component_bits(const Ir& ir, Value word, vk::Component component) {
  const uint32_t shift = component.shift & 31u;
  assert(component.bits >= 1 && shift + component.bits <= 32);  // no component lies in two words
  Value raw = ir.lshr(word, shift);
  return shift + component.bits < 32 ? ir.and_(raw, ir.ik(low_mask(component.bits))) : raw;
}

}  // namespace

Level load_level(const SamplerContext& c, Value level) {
  const Ir& ir = c.ir;
  assert(c.view && Ir::type_of(level) == ir.i32);
  Value entry = ir.offset(c.view, ir.add(ir.mul(ir.zext(level, ir.i64), ir.c64(sizeof(ViewLevel))), ir.c64(offsetof(ImageViewAbi, level))));
  Level l;
  l.data = ir.field(ir.ptr, entry, offsetof(ViewLevel, data), 8);
  l.pitch = ir.field(ir.i32, entry, offsetof(ViewLevel, row_pitch_B));
  l.width = ir.field(ir.i32, entry, offsetof(ViewLevel, width_px));  // 1 and more, of null views too
  l.height = ir.field(ir.i32, entry, offsetof(ViewLevel, height_px));
  if (c.plan.volume) l.depth = ir.field(ir.i32, entry, offsetof(ViewLevel, depth_px));
  if (LLVMIsConstant(level) && LLVMConstIntGetZExtValue(level) == 0) {
    l.width_f = ir.splat(ir.field(ir.f32, c.view, offsetof(ImageViewAbi, width_f)));
    l.height_f = ir.splat(ir.field(ir.f32, c.view, offsetof(ImageViewAbi, height_f)));
  } else {
    l.width_f = ir.sitofp(ir.splat(l.width));  // in this order: one instruction from memory to all lanes
    l.height_f = ir.sitofp(ir.splat(l.height));
  }
  if (c.layer && !c.plan.cube) {
    Value pitch = ir.load(ir.i64, ir.offset(c.view, ir.shl(ir.zext(level, ir.i64), 3)), 8);  // layer_pitch_B is the first field
    l.layer_offset = ir.mul(ir.zext(c.layer, ir.i64), ir.splat(pitch));
  }
  return l;
}
static_assert(offsetof(ImageViewAbi, layer_pitch_B) == 0);

Level load_level_of_lanes(const SamplerContext& c, Value levels) {
  const Ir& ir = c.ir;
  assert(c.view && c.plan.texel_B == 4 && !c.layer);
  const auto look_up = [&](size_t table_B) { return ir.look_up_16(ir.offset(c.view, table_B), levels); };
  Level l;
  l.data = ir.field(ir.ptr, c.view, offsetof(ImageViewAbi, level) + offsetof(ViewLevel, data), 8);
  l.pitch = look_up(offsetof(ImageViewAbi, row_pitch_texels)), l.start = look_up(offsetof(ImageViewAbi, start_texels));
  l.width = look_up(offsetof(ImageViewAbi, width_px)), l.height = look_up(offsetof(ImageViewAbi, height_px));
  l.width_f = ir.sitofp(l.width), l.height_f = ir.sitofp(l.height);
  return l;
}

Value texel_offsets(const SamplerContext& c, const Level& level, Value x, Value y, Value layer_offset) {
  const Ir& ir = c.ir;
  // A level is at most 4 GB: the offset in it fits 32 unsigned bits.
  Value offsets = ir.mul(x, ir.ik(c.plan.texel_B));
  if (!c.plan.one_dimensional) offsets = ir.add(ir.mul(y, ir.splat(level.pitch)), offsets);
  if (!layer_offset) layer_offset = level.layer_offset;
  return layer_offset ? ir.add(ir.zext(offsets, ir.i64), layer_offset) : offsets;
}

namespace {

/// `word(w)`: the texel's word w.
template <class Word>
TexelValues unpack_raw(const SamplerContext& c, Word&& word, uint32_t components = 15, const std::array<Value, 3>* known = nullptr) {
  const Ir& ir = c.ir;
  const SamplerPlan& plan = c.plan;
  TexelValues texel{};
  if (plan.stencil) {
    texel[0] = ir.as_float(plan.texel_B == 4 ? ir.lshr(word(0), 24) : word(0));
    return texel;
  }
  if (plan.depth) {
    Value bits = word(0);
    if (plan.format->depth_bits == 24) bits = ir.and_(bits, ir.ik(0xffffffu));
    texel[0] = plan.format->depth_bits == 32 ? ir.as_float(bits) : ir.sitofp(bits);
    return texel;
  }
  if (plan.format->format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
    const Value first = word(0);
    const std::array<Value, 4> all = emit_unpack_texel(ir, *plan.format, &first);
    for (uint32_t k = 0; k < 3; ++k) texel[k] = all[k];
    return texel;
  }
  std::array<Value, 3> decoded{};
  if (known)
    decoded = *known;
  else if (components & 7 && plan.format->numeric == vk::Numeric::srgb && has_srgb_tables(ir, *plan.format, word(0)))
    decoded = emit_srgb_texels(ir, *plan.format, word(0));
  for (uint32_t k = 0; k < 4; ++k) {
    const TexelComponent& component = plan.components[k];
    if (!plan.needed[k] || !(components >> k & 1) || component.kind == ComponentKind::zero || component.kind == ComponentKind::one)
      continue;
    if (k < 3 && decoded[k]) {
      texel[k] = decoded[k];
      continue;
    }
    const vk::Component layout = plan.format->rgba[k];
    Value raw = component_bits(ir, word(layout.shift >> 5), layout);
    if (component.kind == ComponentKind::direct) {
      texel[k] = emit_unpack_component(ir, plan.format->numeric, raw, layout.bits, k == 3);
    } else if (component.is_signed) {
      Value code = ir.ashr(ir.shl(raw, 32u - layout.bits), 32u - layout.bits);
      texel[k] = ir.fmax_second(ir.sitofp(code), ir.fk(-static_cast<float>(component.maximum)));
    } else {
      texel[k] = ir.sitofp(raw);
    }
  }
  return texel;
}

}  // namespace

TexelValues load_texel(const SamplerContext& c, const Level& level, Value x, Value y, Value layer_offset) {
  if (c.plan.format->is_compressed()) {
    const TexelPosition at = {x, y, layer_offset};
    TexelValues texel;
    load_compressed(c, level, 1, &at, &texel);
    return texel;
  }
  Value offsets = texel_offsets(c, level, x, y, layer_offset);
  Value words[4] = {};
  return unpack_raw(c, [&](uint32_t w) {
    if (!words[w]) words[w] = load_word(c, c.ir.offset(level.data, 4 * w), offsets);
    return words[w];
  });
}

TexelValues load_window_texel(const SamplerContext& c, const Level& level, const TexelWindow& w) {
  return window_texel(c, w, load_window(c, level, w, 0));
}

TexelValues window_texel(const SamplerContext& c, const TexelWindow& w, const WindowRows& rows) {
  if (c.plan.texel_B < 8) {
    Value words = window_words(c.ir, w, rows, false)[0];
    return unpack_raw(c, [&](uint32_t) { return words; });
  }
  const std::array<Value, 2> words = window_word_pairs(c.ir, w, rows.upper);
  return unpack_raw(c, [&](uint32_t word) { return words[word]; });
}

/// Two neighbours of 1 or 2 bytes by one load a lane.
static std::pair<Value, Value> load_small_pairs(const SamplerContext& c, Value base, Value offsets) {
  const Ir& ir = c.ir;
  assert(c.plan.texel_B == 1 || c.plan.texel_B == 2);
  if (c.plan.texel_B == 1) {
    Value both = ir.zext(ir.load_lanes(ir.i16, base, offsets, 1), ir.i32);
    return {ir.and_(both, ir.ik(0xff)), ir.lshr(both, 8)};
  }
  Value both = ir.load_lanes(ir.i32, base, offsets, 2);
  return {ir.and_(both, ir.ik(0xffff)), ir.lshr(both, 16)};
}

namespace {

/// The four words, fractions, and masks of what is outside of a level with borders, in load_four_words' order; each lane by itself.
std::vector<Value> four_words_by_lane(const SamplerContext& c, const Level& level, Value s_coordinate, Value t_coordinate) {
  const Ir& ir = c.ir;
  const SamplerCreateInfo& s = c.plan.key.sampler;
  const AxisPosition x = place_on_axis(c, s.address_u, s_coordinate, level.width_f, true),
                     y = place_on_axis(c, s.address_v, t_coordinate, level.height_f, true);
  // Without layers in texels, not bytes: their numbers are positive as 32 signed bits, which is what gathers take.
  const bool in_texels = !level.layer_offset && c.plan.texel_B == 4;
  const uint32_t unit_B = in_texels ? 4 : 1;
  Value pitch = level.start ? level.pitch : in_texels ? ir.splat(ir.lshr(level.pitch, 2)) : nullptr;
  auto texel_at = [&](Value column, Value row) {
    if (!in_texels) return texel_offsets(c, level, column, row, nullptr);
    Value at = ir.add(ir.mul(row, pitch), column);
    return level.start ? ir.add(at, level.start) : at;
  };
  auto pairs = [&](Value first_row, Value top, Value second_row, Value bottom) {
    const auto [a, b] = c.plan.texel_B < 4 ? load_small_pairs(c, first_row, top) : ir.load_lane_pairs(first_row, top, unit_B);
    const auto [d, e] = c.plan.texel_B < 4 ? load_small_pairs(c, second_row, bottom) : ir.load_lane_pairs(second_row, bottom, unit_B);
    return std::vector<Value>{a, b, d, e};
  };
  const bool borders[2] = {s.address_u == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, s.address_v == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER};
  auto wrapped = [&] {
    const Axis ax = wrap_axis(c, s.address_u, x, level.width, c.offset_x), ay = wrap_axis(c, s.address_v, y, level.height, c.offset_y);
    Value top = texel_at(ax.low, ay.low), bottom = texel_at(ax.low, ay.high);
    std::vector<Value> v = ir.if_else(
        ir.all(ir.eq(ax.high, ir.add(ax.low, ir.ik(1)))), [&] { return pairs(level.data, top, level.data, bottom); },
        [&] {
          Value step = ir.sub(ax.high, ax.low);
          if (!in_texels) step = ir.mul(step, ir.ik(c.plan.texel_B));
          if (level.layer_offset) step = ir.sext(step, ir.i64);
          auto load = [&](Value at) { return in_texels ? ir.load_lane_words(level.data, at) : load_word(c, level.data, at); };
          return std::vector<Value>{load(top), load(ir.add(top, step)), load(bottom), load(ir.add(bottom, step))};
        });
    if (borders[0]) v.push_back(ax.low_outside), v.push_back(ax.high_outside);
    if (borders[1]) v.push_back(ay.low_outside), v.push_back(ay.high_outside);
    return v;
  };
  const auto within = [&] {
    Value top = texel_at(x.low, y.low);
    std::vector<Value> v = level.start ? pairs(level.data, top, level.data, ir.add(top, pitch))
                                       : pairs(level.data, top, ir.offset(level.data, ir.zext(level.pitch, ir.i64)), top);
    for (bool border : borders) {
      if (border) v.push_back(ir.false_mask()), v.push_back(ir.false_mask());
    }
    return v;
  };
  std::vector<Value> values;
  if (ir.lanes_of(c.offset_x) > 1) {
    values = wrapped();
  } else {
    const auto has_next = [&](Value index, Value size) { return ir.ult(index, ir.sub(level.start ? size : ir.splat(size), ir.ik(1))); };
    Value inside = ir.all(ir.and_(has_next(x.low, level.width), has_next(y.low, level.height)));
    values = ir.if_else(ir.and_(inside, ir.eq(ir.or_(c.offset_x, c.offset_y), ir.c32(0))), within, wrapped);
  }
  values.insert(values.begin() + 4, {x.fraction, y.fraction});
  return values;
}

}  // namespace

FourWords load_four_words(const SamplerContext& c, const Level& level, Value s, Value t) {
  const Ir& ir = c.ir;
  assert(c.plan.texel_B <= 4 && !c.plan.one_dimensional && !c.plan.cube);
  const VkSamplerAddressMode u = c.plan.key.sampler.address_u, v = c.plan.key.sampler.address_v;
  const bool borders[2] = {u == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, v == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER};
  const auto by_lane = [&] { return four_words_by_lane(c, level, s, t); };
  std::vector<Value> values;
  if (c.plan.level_0_alone && !level.start && !level.layer_offset && ir.lanes_of(c.offset_x) == 1 && asks_window(c)) {
    const AxisPosition x = place_in_window(c, u, s, level.width_f, true), y = place_in_window(c, v, t, level.height_f, true);
    const TexelWindow w = find_window(c, level, x.low, y.low, 1, true);
    values = ir.if_else(
        w.there,
        [&] {
          const std::array<Value, 4> four = window_words(ir, w, load_window(c, level, w, 1), true);
          std::vector<Value> found(four.begin(), four.end());
          found.insert(found.end(), {x.fraction, y.fraction});
          found.insert(found.end(), 2 * (borders[0] + borders[1]), ir.false_mask());
          return found;
        },
        by_lane);
  } else {
    values = by_lane();
  }
  FourWords result;
  for (size_t k = 0; k < 4; ++k) result.words[k] = values[k];
  result.x.fraction = values[4], result.y.fraction = values[5];
  size_t next = 6;
  if (borders[0]) result.x.low_outside = values[next], result.x.high_outside = values[next + 1], next += 2;
  if (borders[1]) result.y.low_outside = values[next], result.y.high_outside = values[next + 1];
  return result;
}

void unpack_words(const SamplerContext& c, const std::array<Value, 4>& words, uint32_t components, TexelValues out[4]) {
  const bool together = components & 7 && c.plan.format->numeric == vk::Numeric::srgb && has_srgb_tables(c.ir, *c.plan.format, words[0]);
  std::array<std::array<Value, 3>, 4> decoded;
  if (together) decoded = emit_four_srgb_texels(c.ir, *c.plan.format, words);
  for (size_t k = 0; k < 4; ++k) out[k] = unpack_raw(c, [&](uint32_t) { return words[k]; }, components, together ? &decoded[k] : nullptr);
}

std::array<Value, 2> load_two_words(const SamplerContext& c, const Level& level, Value x, Value y, bool down) {
  const Ir& ir = c.ir;
  assert(c.plan.texel_B <= 4 && !level.start && !level.layer_offset);
  Value offsets = texel_offsets(c, level, x, y, nullptr);
  if (down) return {load_word(c, level.data, offsets), load_word(c, ir.offset(level.data, ir.zext(level.pitch, ir.i64)), offsets)};
  const auto [left, right] = c.plan.texel_B < 4 ? load_small_pairs(c, level.data, offsets) : ir.load_lane_pairs(level.data, offsets);
  return {left, right};
}

void unpack_two_words(const SamplerContext& c, const std::array<Value, 2>& words, uint32_t components, TexelValues out[2]) {
  for (size_t k = 0; k < 2; ++k) out[k] = unpack_raw(c, [&](uint32_t) { return words[k]; }, components);
}

TexelValues replace_border(const SamplerContext& c, const TexelValues& texel, Value outside) {
  TexelValues result{};
  for (uint32_t k = 0; k < 4; ++k) {
    assert(!texel[k] || c.border[k]);
    if (texel[k]) result[k] = c.ir.select(outside, c.border[k], texel[k]);
  }
  return result;
}

namespace {

/// Lanes whose instruction has no reference to compare with (kNoReference).
Value compares_nothing(const SamplerContext& c) {
  assert(c.dref);
  return c.ir.eq(c.ir.bits(c.dref), c.ir.ik(kNoReference));
}

/// 1 where the sampler's comparison of the reference with `depth` is true, else 0.
Value compared(const SamplerContext& c, Value reference, Value depth) {
  const Ir& ir = c.ir;
  Value pass = nullptr;
  switch (c.plan.key.sampler.compare_op) {
    case VK_COMPARE_OP_LESS:
      pass = ir.flt(reference, depth);
      break;
    case VK_COMPARE_OP_EQUAL:
      pass = ir.feq(reference, depth);
      break;
    case VK_COMPARE_OP_LESS_OR_EQUAL:
      pass = ir.fle(reference, depth);
      break;
    case VK_COMPARE_OP_GREATER:
      pass = ir.fgt(reference, depth);
      break;
    case VK_COMPARE_OP_NOT_EQUAL:
      pass = ir.fne(reference, depth);
      break;
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      pass = ir.fge(reference, depth);
      break;
    case VK_COMPARE_OP_ALWAYS:
      pass = ir.true_mask();
      break;
    default:
      pass = ir.false_mask();
      break;
  }
  return ir.select(pass, ir.fk(1), ir.fk(0));
}

}  // namespace

TexelValues compare_depth(const SamplerContext& c, const TexelValues& texel) {
  const Ir& ir = c.ir;
  assert(c.plan.compare && c.dref && texel[0]);
  const TexelComponent& component = c.plan.components[0];
  Value depth = texel[0], reference = c.dref;
  if (component.kind == ComponentKind::code) {
    // Fixed-point depth: codes compare as their values do, and dref is clamped to what they can be.
    depth = emit_divide_by_maximum(ir, depth, component.maximum);
    reference = ir.fclamp(reference, ir.fk(component.is_signed ? -1.0f : 0.0f), ir.fk(1));
  }
  TexelValues result{};
  result[0] = compared(c, reference, depth);
  if (!c.plan.compare_color) return result;
  // Of a colour what compares nothing has the texel.
  TexelValues both = texel;
  both[0] = ir.select(compares_nothing(c), texel[0], result[0]);
  return both;
}

std::array<Value, 4> finish_texel(const SamplerContext& c, const TexelValues& raw, uint32_t one_code) {
  const Ir& ir = c.ir;
  const SamplerPlan& plan = c.plan;
  const Value one = plan.integer ? ir.as_float(ir.ik(1)) : ir.fk(1), zero = ir.fk(0);
  const bool compares = c.dref && (plan.compare || plan.compare_zero);  // a fetch has no reference
  if (compares && plan.depth) return {raw[0], zero, zero, one};
  std::array<Value, 4> rgba;
  for (uint32_t k = 0; k < 4; ++k) {
    const TexelComponent& component = plan.components[k];
    if (component.kind == ComponentKind::zero || component.kind == ComponentKind::one) {
      rgba[k] = component.kind == ComponentKind::one ? one : zero;
    } else if (!raw[k]) {
      rgba[k] = zero;  // the swizzle does not ask for it
    } else {
      rgba[k] = component.kind == ComponentKind::code ? emit_divide_by_maximum(ir, raw[k], component.maximum * one_code) : raw[k];
    }
  }
  std::array<Value, 4> result;
  for (uint32_t k = 0; k < 4; ++k) {
    switch (plan.key.swizzle[k]) {
      case VK_COMPONENT_SWIZZLE_ZERO:
        result[k] = zero;
        break;
      case VK_COMPONENT_SWIZZLE_ONE:
        result[k] = one;
        break;
      case VK_COMPONENT_SWIZZLE_R:
        result[k] = rgba[0];
        break;
      case VK_COMPONENT_SWIZZLE_G:
        result[k] = rgba[1];
        break;
      case VK_COMPONENT_SWIZZLE_B:
        result[k] = rgba[2];
        break;
      case VK_COMPONENT_SWIZZLE_A:
        result[k] = rgba[3];
        break;
      default:
        result[k] = rgba[k];
        break;
    }
  }
  if (compares) {
    const Value nothing = compares_nothing(c);
    const std::array<Value, 4> answer = {plan.compare ? raw[0] : compared(c, c.dref, zero), zero, zero, one};
    for (uint32_t k = 0; k < 4; ++k) result[k] = ir.select(nothing, result[k], answer[k]);
  }
  return plan.convert ? convert_ycbcr(c, raw, result, one_code) : result;
}

TexelValues mix_texels(const SamplerContext& c, const TexelValues& a, const TexelValues& b, Value weight) {
  const Ir& ir = c.ir;
  const bool finite = c.plan.finite || (c.plan.compare && !c.plan.compare_color);
  TexelValues result{};
  for (uint32_t k = 0; k < 4; ++k) {
    if (!a[k]) continue;
    result[k] = ir.fma(ir.fsub(b[k], a[k]), weight, a[k]);
    if (!finite) result[k] = ir.select(ir.fgt(weight, ir.fk(0)), result[k], a[k]);
  }
  return result;
}

TexelValues reduce_texels(const SamplerContext& c, const TexelValues& a, const TexelValues& b, Value weight) {
  const Ir& ir = c.ir;
  if (c.plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE) return mix_texels(c, a, b, weight);
  const bool least = c.plan.reduction == VK_SAMPLER_REDUCTION_MODE_MIN;
  TexelValues result{};
  for (uint32_t k = 0; k < 4; ++k)
    if (a[k]) result[k] = ir.select(ir.fgt(weight, ir.fk(0)), least ? ir.fmin_second(b[k], a[k]) : ir.fmax_second(b[k], a[k]), a[k]);
  return result;
}

TexelValues select_texels(const Ir& ir, Value condition, const TexelValues& a, const TexelValues& b) {
  TexelValues result{};
  for (uint32_t k = 0; k < 4; ++k) {
    if (a[k]) result[k] = ir.select(condition, a[k], b[k]);
  }
  return result;
}

}  // namespace tilegpu::shader
