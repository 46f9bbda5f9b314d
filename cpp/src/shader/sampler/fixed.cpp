// shader/sampler/fixed.cpp -- linear filters of 8-bit codes by integers: multiplications of words, four for sixteen texels' two components.
//
// In: folded coordinates, a level. Out: sums of codes times weights of 15 bits, which are exact. The rule, lane by lane:
//   u = floor(65536 * (coordinate * size - 1/2 + 1/512)), one rounding before the floor; index u >> 16, fraction fx = u & 0xff00: the
//   nearest of 256 places between two texels (kSubTexelBits). v, fy likewise.
//   Where coordinates repeat: m = coordinate - 1/2 less the nearest integer, u = floor(65536 * (m * size + (size - 1) / 2 + 1/512))
//   levels: l = floor(32768 * fraction of the level); weight L = 32767 - l of the first level, l of the second
//   columns: h = L * fx >> 16; L - h and h. Rows: each column's weight w gives w * fy >> 16 to the lower row and keeps the rest.
// All weights together are 32767, so that a constant image stays what it is. A weight is off by 2^-14 at most; a device's
// subTexelPrecisionBits and mipmapPrecisionBits are mostly 8. Source: Vulkan specification, "Texel Filtering", and the arithmetic above.
#include <algorithm>
#include <cassert>

#include "shader/sampler/internal.hpp"

namespace tilegpu::shader {

Value joined(const Ir& ir, std::vector<Value> parts) {
  assert(!parts.empty() && (parts.size() & (parts.size() - 1)) == 0);
  while (parts.size() > 1) {
    const uint32_t n = 2 * Ir::lanes_of(parts[0]);
    std::vector<int> both(n);
    for (uint32_t k = 0; k < n; ++k) both[k] = static_cast<int>(k);
    std::vector<Value> pairs;
    for (size_t k = 0; k < parts.size(); k += 2) pairs.push_back(ir.shuffle(parts[k], parts[k + 1], both));
    parts = pairs;
  }
  return parts[0];
}

namespace {

// Beyond this no level has texels, whatever the offset; as a fixed number it fits 31 bits.
constexpr float kFar = 30000.0f * 65536.0f;

Value piece(const Ir& ir, Value v, uint32_t first, uint32_t count) {
  assert(first + count <= Ir::lanes_of(v));
  if (Ir::lanes_of(v) == count) return v;
  std::vector<int> lanes(count);
  for (uint32_t k = 0; k < count; ++k) lanes[k] = static_cast<int>(first + k);
  return ir.shuffle(v, lanes);
}

/// An instruction of one operand or two (`b`: or null) on registers of 512 (null: not those), 256 and 128 bits.
Value in_pieces(const Ir& ir, Value a, Value b, const char* of_512, const char* of_256, const char* of_128) {
  const uint32_t n = Ir::lanes_of(a), of_256_bits = Ir::element_of(Ir::type_of(a)) == ir.i16 ? 16 : 8;
  assert(n % 4 == 0 && (!b || Ir::type_of(a) == Ir::type_of(b)));
  const uint32_t count = std::min(n, ir.wide && of_512 ? 2 * of_256_bits : of_256_bits);
  const char* name = count > of_256_bits ? of_512 : count == of_256_bits ? of_256 : of_128;
  std::vector<Value> parts;
  for (uint32_t first = 0; first < n; first += count) {
    Value part = piece(ir, a, first, count);
    parts.push_back(b ? ir.call_intrinsic(name, {}, {part, piece(ir, b, first, count)}) : ir.call_intrinsic(name, {}, {part}));
  }
  return joined(ir, parts);
}

/// Of vectors of i16: the upper words of unsigned products.
Value multiply_high(const Ir& ir, Value a, Value b) {
  if (!kX86) return ir.trunc(ir.lshr(ir.mul(ir.zext(a, ir.i32), ir.zext(b, ir.i32)), 16), ir.i16);
  return in_pieces(ir, a, b, "llvm.x86.avx512.pmulhu.w.512", "llvm.x86.avx2.pmulhu.w", "llvm.x86.sse2.pmulhu.w");
}

/// Of vectors of i16, signed: sums of the products of two neighbours, as i32.
Value multiply_pairs(const Ir& ir, Value a, Value b) {
  if (!kX86) {
    const auto words = [&](Value v, int first) {
      std::vector<int> order(Ir::lanes_of(v) / 2);
      for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(2 * k) + first;
      return ir.sext(ir.shuffle(v, order), ir.i32);
    };
    return ir.add(ir.mul(words(a, 0), words(b, 0)), ir.mul(words(a, 1), words(b, 1)));
  }
  return in_pieces(ir, a, b, "llvm.x86.avx512.pmaddw.d.512", "llvm.x86.avx2.pmadd.wd", "llvm.x86.sse2.pmadd.wd");
}

Value words_of(const Ir& ir, Value v) { return ir.bitcast(v, Ir::vec(ir.i16, 2 * Ir::lanes_of(v))); }
Value dwords_of(const Ir& ir, Value v) { return ir.bitcast(v, Ir::vec(ir.i32, Ir::lanes_of(v) / 2)); }

/// The low word of each i32 in both of its words.
Value twice(const Ir& ir, Value v) {
  std::vector<int> order(2 * Ir::lanes_of(v));
  for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k & ~size_t{1});
  return ir.shuffle(words_of(ir, v), order);
}

/// The same of a position's fraction, of which the lower byte is not kept.
Value fraction_twice(const Ir& ir, Value position) {
  static_assert(kSubTexelBits == 8);
  const auto n = static_cast<int>(4 * Ir::lanes_of(position));
  std::vector<int> order;
  for (int k = 0; k < n; k += 4) order.insert(order.end(), {n, k + 1, n, k + 1});
  Value bytes = ir.bitcast(position, Ir::vec(ir.i8, static_cast<uint32_t>(n)));
  return ir.bitcast(ir.shuffle(bytes, Ir::zero(Ir::type_of(bytes)), order), Ir::vec(ir.i16, static_cast<uint32_t>(n) / 2));
}

/// Which lane is at a place of a vector of pairs: in an order that needs shuffles within 128 bits only, where pairs are loaded one by one.
std::vector<int> pair_order(const Ir& ir) {
  const bool in_order = ir.lanes == 4 || (ir.gathers && ir.lanes >= 8);
  const uint32_t half = in_order ? 0 : ir.wide && ir.lanes == 16 ? 8 : 4;
  std::vector<int> order(ir.lanes);
  for (uint32_t k = 0; k < ir.lanes; ++k) {
    if (in_order) {
      order[k] = static_cast<int>(k);
      continue;
    }
    const uint32_t base = k / (2 * half) * 2 * half, second = k / half & 1, in = k % half;
    order[k] = static_cast<int>(base + in / 2 * 4 + 2 * second + in % 2);
  }
  return order;
}

/// One 64-bit load for each lane, as <2N x i32> in that order.
Value load_pairs(const Ir& ir, Value pointer, Value offsets, uint32_t unit_B) {
  const uint32_t n = ir.lanes;
  std::vector<Value> parts;
  if (ir.gathers_lanes(ir.i64, offsets)) {
    for (uint32_t first = 0; first < n; first += 8) {
      Value part = piece(ir, offsets, first, 8);
      // The plain gather would extend indices to 64 bits first.
      parts.push_back(unit_B == 4
                          ? ir.call_intrinsic("llvm.x86.avx512.mask.gather.dpq.512", {},
                                              {Ir::zero(Ir::vec(ir.i64, 8)), pointer, part, Ir::splat_constant(ir.c1(true), 8), ir.c32(4)})
                          : ir.gather(ir.i64, pointer, part, 4));
    }
  } else {
    const std::vector<int> order = pair_order(ir);
    // Numbers of texels are positive: as unsigned ones two lanes leave a register by an instruction less.
    std::vector<Value> at = ir.lanes_as_i64(offsets);
    for (Value& a : at) a = LLVMBuildGEP2(ir.builder, unit_B == 4 ? ir.i32 : ir.i8, pointer, &a, 1, "");
    for (uint32_t first = 0; first < n; first += 4) {
      Value part = Ir::poison(Ir::vec(ir.i64, 4));
      for (uint32_t k = 0; k < 4; ++k) part = ir.insert(part, ir.load(ir.i64, at[static_cast<size_t>(order[first + k])], 4), k);
      parts.push_back(part);
    }
  }
  return ir.bitcast(joined(ir, parts), Ir::vec(ir.i32, 2 * n));
}

struct Rows {
  Value top, bottom;
};

bool repeats_plainly(const SamplerContext& c, VkSamplerAddressMode mode) {
  return mode == VK_SAMPLER_ADDRESS_MODE_REPEAT && !c.plan.key.sampler.unnormalized_coordinates;
}

/// Rounds down; NaN becomes -2^31 on every CPU.
Value floor_to_int(const Ir& ir, Value u) {
  if (!kX86) {
    Value whole = ir.floor(u), index = ir.call_intrinsic("llvm.fptosi.sat", {Ir::like(u, ir.i32), Ir::type_of(u)}, {whole});
    return ir.select(ir.flt(whole, ir.fk(u, 0x1p31f)), index, ir.ik(u, 0x80000000u));
  }
  if (ir.wide && ir.lanes == 16) return ir.floor_and_index(u).index;
  return in_pieces(ir, ir.floor(u), nullptr, nullptr, "llvm.x86.avx.cvtt.ps2dq.256", "llvm.x86.sse2.cvttps2dq");
}

/// 16 and 16 bits; `coordinate` as fold_fixed left it. Not `bounded`: beyond what fits, the least number.
Value fixed_position(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value scale, Value middle, bool bounded) {
  const Ir& ir = c.ir;
  // The distance from the middle of a period, as which a coordinate keeps its bits: half a size less half a texel is added.
  if (repeats_plainly(c, mode))
    return floor_to_int(ir, ir.fma(coordinate, scale, middle ? middle : ir.fma(scale, ir.fk(0.5f), ir.fk(-65536 * kHalfLessRounding))));
  const bool unnormalized = c.plan.key.sampler.unnormalized_coordinates;
  Value u = ir.fma(coordinate, unnormalized ? ir.fk(65536) : scale, ir.fk(-65536 * kHalfLessRounding));
  const bool repeats = !unnormalized && (mode == VK_SAMPLER_ADDRESS_MODE_REPEAT || mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT);
  if (!repeats && bounded) u = ir.fclamp(u, ir.fk(-kFar), ir.fk(kFar));
  return floor_to_int(ir, u);
}

Value rows_and_columns(const Ir& ir, Value u, Value v) {
  Value column_mask = ir.ik(0xffff0000u), row = ir.lshr(v, 16);
  if (!ir.wide || ir.lanes != 16) return ir.or_(ir.and_(u, column_mask), row);
  // (u & mask) | row; LLVM would make a permutation of words of it, which takes three instructions' time.
  return ir.call_intrinsic("llvm.x86.avx512.pternlog.d.512", {}, {u, column_mask, row, ir.c32(0xea)});
}

/// Of both axes, as fixed_position has them.
struct FixedPosition {
  Value u, v;
};

FixedPosition position_in(const SamplerContext& c, const FixedLevel& level, Value s, Value t, bool bounded) {
  const SamplerCreateInfo& sampler = c.plan.key.sampler;
  return {fixed_position(c, sampler.address_u, s, level.scale_x, level.middle_x, bounded),
          fixed_position(c, sampler.address_v, t, level.scale_y, level.middle_y, bounded)};
}

/// The columns' texels of both rows, each lane by itself.
std::vector<Value> load_rows_by_lane(const SamplerContext& c, const FixedLevel& level, Value u, Value v) {
  const Ir& ir = c.ir;
  const bool in_texels = !level.layer_offset;
  // The row in the low word, the column in the high one.
  Value at = rows_and_columns(ir, u, v);
  auto offsets = [&](Value texels) { return in_texels ? texels : ir.add(ir.zext(ir.shl(texels, 2), ir.i64), level.layer_offset); };
  auto from_start = [&](Value texels) { return level.start ? ir.add(texels, level.start) : texels; };
  auto wrapped = [&] {
    const SamplerCreateInfo& s = c.plan.key.sampler;
    Value width = ir.add(ir.lshr(level.last, 16), ir.ik(1)), height = ir.add(ir.and_(level.last, ir.ik(0xffff)), ir.ik(1));
    // Where it repeats plainly, NaN is far below -1, which else is the lowest.
    auto low = [&](VkSamplerAddressMode mode, Value at_axis) {
      Value index = ir.ashr(at_axis, 16);
      return AxisPosition{repeats_plainly(c, mode) ? ir.smax(index, ir.ik(~0u)) : index, at_axis};
    };
    const Axis ax = wrap_axis(c, s.address_u, low(s.address_u, u), width, c.offset_x),
               ay = wrap_axis(c, s.address_v, low(s.address_v, v), height, c.offset_y);
    auto row = [&](Value y) {
      return from_start(multiply_pairs(ir, words_of(ir, ir.or_(y, ir.shl(ax.low, 16))), words_of(ir, level.pitch)));
    };
    Value top = row(ay.low), bottom = row(ay.high);
    return ir.if_else(
        ir.all(ir.eq(ax.high, ir.add(ax.low, ir.ik(1)))),
        [&] {
          const uint32_t unit_B = in_texels ? 4 : 1;
          return std::vector<Value>{load_pairs(ir, level.data, offsets(top), unit_B), load_pairs(ir, level.data, offsets(bottom), unit_B)};
        },
        [&] {
          Value step = ir.sub(ax.high, ax.low);
          const std::vector<int> order = pair_order(ir);
          auto load = [&](Value texels) {
            return in_texels ? ir.load_lane_words(level.data, texels) : ir.load_lanes(ir.i32, level.data, offsets(texels), 4);
          };
          auto both = [&](Value texels) {
            std::vector<int> interleaved;
            for (int lane : order) interleaved.push_back(lane), interleaved.push_back(lane + static_cast<int>(ir.lanes));
            return ir.shuffle(load(texels), load(ir.add(texels, step)), interleaved);
          };
          return std::vector<Value>{both(top), both(bottom)};
        });
  };
  if (ir.lanes_of(c.offset_x) > 1) return wrapped();
  Value inside = ir.all(ir.ult(words_of(ir, at), words_of(ir, level.last)));
  return ir.if_else(
      ir.and_(inside, ir.eq(ir.or_(c.offset_x, c.offset_y), ir.c32(0))),
      [&] {
        Value top = from_start(multiply_pairs(ir, words_of(ir, at), words_of(ir, level.pitch)));
        if (level.row_B) {  // the lower row at the same offsets from another pointer
          const uint32_t unit_B = in_texels ? 4 : 1;
          Value at_lanes = offsets(top);
          return std::vector<Value>{load_pairs(ir, level.data, at_lanes, unit_B),
                                    load_pairs(ir, ir.offset(level.data, level.row_B), at_lanes, unit_B)};
        }
        assert(in_texels);
        // The pitch's other word, 1, adds 65536 texels: less one instruction, they are taken from the pointer.
        Value below = ir.offset(level.data, ir.c64(static_cast<uint64_t>(int64_t{-4} * 65536)));
        return std::vector<Value>{load_pairs(ir, level.data, top, 4), load_pairs(ir, below, ir.add(top, level.pitch), 4)};
      },
      wrapped);
}

/// The columns' texels of both rows, and where they are.
std::pair<Rows, FixedPosition> load_rows(const SamplerContext& c, const FixedLevel& level, Value s, Value t) {
  const Ir& ir = c.ir;
  const auto by_lane = [&] {
    const FixedPosition at = position_in(c, level, s, t, true);
    std::vector<Value> found = load_rows_by_lane(c, level, at.u, at.v);
    found.insert(found.end(), {at.u, at.v});
    return found;
  };
  std::vector<Value> found;
  if (c.plan.level_0_alone && level.width && !level.layer_offset && ir.lanes_of(c.offset_x) == 1 && asks_window(c)) {
    const WindowLevel plain = {level.data, level.pitch_B, level.width, level.height};
    const FixedPosition at = position_in(c, level, s, t, false);
    const TexelWindow w = find_window(c, plain, ir.ashr(at.u, 16), ir.ashr(at.v, 16), 1, true);
    found = ir.if_else(
        w.there,
        [&] {
          const WindowRows eight = load_window(c, plain, w, 1);
          const auto pairs = [&](const std::array<Value, 4>& r) {
            const std::array<Value, 2> halves = window_pairs(ir, w, r, pair_order(ir));
            return joined(ir, {halves[0], halves[1]});
          };
          return std::vector<Value>{pairs(eight.upper), pairs(eight.lower), at.u, at.v};
        },
        by_lane);
  } else {
    found = by_lane();
  }
  return {{found[0], found[1]}, {found[2], found[3]}};
}

}  // namespace

FixedPlace place_fixed(const SamplerContext& c, const FixedLevel& level, Value s, Value t, bool bounded) {
  const FixedPosition at = position_in(c, level, s, t, bounded);
  return {at.u, at.v};
}

Value pairs_of_window(const Ir& ir, const TexelWindow& w, const std::array<Value, 4>& rows) {
  const std::array<Value, 2> halves = window_pairs(ir, w, rows, pair_order(ir));
  return joined(ir, {halves[0], halves[1]});
}

FixedLevel load_fixed_level(const SamplerContext& c, Value level) {
  const Ir& ir = c.ir;
  assert(Ir::element_of(Ir::type_of(level)) == ir.i32 && (Ir::lanes_of(level) == 1 || !c.layer));
  FixedLevel l;
  if (Ir::lanes_of(level) > 1) {
    const auto look_up = [&](size_t table_B) { return ir.look_up_16(ir.offset(c.view, table_B), level); };
    l.data = ir.field(ir.ptr, c.view, offsetof(ImageViewAbi, level) + offsetof(ViewLevel, data), 8);
    l.scale_x = ir.as_float(look_up(offsetof(ImageViewAbi, width_scaled))),
    l.scale_y = ir.as_float(look_up(offsetof(ImageViewAbi, height_scaled)));
    l.last = look_up(offsetof(ImageViewAbi, last_texel)), l.pitch = look_up(offsetof(ImageViewAbi, pitch_and_one));
    l.start = look_up(offsetof(ImageViewAbi, start_texels));
    return l;
  }
  Value index = ir.zext(level, ir.i64);
  const auto look_up = [&](Type type, size_t table_B) {
    return ir.splat(ir.load(type, ir.offset(ir.offset(c.view, ir.shl(index, 2)), table_B), 4));
  };
  Value entry = ir.offset(ir.offset(c.view, ir.mul(index, ir.c64(sizeof(ViewLevel)))), offsetof(ImageViewAbi, level));
  l.data = ir.field(ir.ptr, entry, offsetof(ViewLevel, data), 8);
  l.pitch_B = ir.field(ir.i32, entry, offsetof(ViewLevel, row_pitch_B)), l.row_B = ir.zext(l.pitch_B, ir.i64);
  l.width = ir.field(ir.i32, entry, offsetof(ViewLevel, width_px)), l.height = ir.field(ir.i32, entry, offsetof(ViewLevel, height_px));
  l.scale_x = look_up(ir.f32, offsetof(ImageViewAbi, width_scaled)), l.scale_y = look_up(ir.f32, offsetof(ImageViewAbi, height_scaled));
  l.last = look_up(ir.i32, offsetof(ImageViewAbi, last_texel)), l.pitch = look_up(ir.i32, offsetof(ImageViewAbi, pitch_and_one));
  l.middle_x = look_up(ir.f32, offsetof(ImageViewAbi, middle_x)), l.middle_y = look_up(ir.f32, offsetof(ImageViewAbi, middle_y));
  if (c.layer) l.layer_offset = ir.mul(ir.zext(c.layer, ir.i64), ir.splat(ir.load(ir.i64, ir.offset(c.view, ir.shl(index, 3)), 8)));
  return l;
}

Value fold_fixed(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate) {
  const Ir& ir = c.ir;
  if (!repeats_plainly(c, mode)) return fold_coordinate(c, mode, coordinate);
  Value middle = ir.fsub(coordinate, ir.fk(0.5f));
  constexpr uint32_t kToNearestNoExceptions = 8;
  if (ir.wide && ir.lanes == 16) {
    return ir.call_intrinsic("llvm.x86.avx512.mask.reduce.ps.512", {},
                             {middle, ir.c32(kToNearestNoExceptions), ir.fk(0), LLVMConstInt(ir.i16, 0xffff, 0), ir.c32(4)});
  }
  // Infinity becomes 0, as that instruction has it; NaN stays.
  Value finite = ir.fmin_second(ir.fk(0x1p100f), middle);
  finite = ir.fmax_second(ir.fk(-0x1p100f), finite);
  return ir.fsub(finite, ir.round_even(finite));
}

FixedWeight fixed_weight(const Ir& ir, Value weight) { return {weight, twice(ir, weight)}; }

FixedWeight whole_weight(const Ir& ir) { return {ir.ik(kFixedOne), Ir::splat_constant(LLVMConstInt(ir.i16, kFixedOne, 0), 2 * ir.lanes)}; }

FixedWeight other_weight(const Ir& ir, const FixedWeight& weight) {
  const FixedWeight one = whole_weight(ir);
  return {ir.sub(one.low, weight.low), ir.sub(one.both, weight.both)};
}

FixedSum add_fixed_level(const SamplerContext& c, const FixedLevel& level, Value s, Value t, const FixedWeight& weight,
                         const FixedSum* sum) {
  const auto [rows, at] = load_rows(c, level, s, t);
  return sum_of_rows(c, rows.top, rows.bottom, at.u, at.v, weight, sum);
}

FixedSum sum_of_rows(const SamplerContext& c, Value top_row, Value bottom_row, Value u, Value v, const FixedWeight& weight,
                     const FixedSum* sum) {
  const Ir& ir = c.ir;
  // (L, 0) - (h, h) = (L - h, -h), and the second without its sign.
  Value h = multiply_high(ir, weight.both, fraction_twice(ir, u)), difference = ir.sub(words_of(ir, weight.low), h);
  Value columns = ir.call_intrinsic("llvm.abs", {Ir::type_of(difference)}, {difference, ir.c1(false)});
  Value bottom = bottom_row ? multiply_high(ir, columns, fraction_twice(ir, v)) : nullptr, top = bottom ? ir.sub(columns, bottom) : columns;
  std::vector<int> spread;
  for (int lane : pair_order(ir)) spread.push_back(lane), spread.push_back(lane);
  const auto middle = spread.begin() + static_cast<std::ptrdiff_t>(ir.lanes);
  auto for_pairs = [&](Value w) {
    Value v = dwords_of(ir, w);
    return words_of(ir, joined(ir, {ir.permute_16(v, v, {spread.begin(), middle}), ir.permute_16(v, v, {middle, spread.end()})}));
  };
  Value top_weight = for_pairs(top), bottom_weight = bottom ? for_pairs(bottom) : nullptr;
  FixedSum result{};
  for (uint32_t pair = 0; pair < 2; ++pair) {
    // Bytes of two texels to words: component, component, next component, next component.
    const auto n = static_cast<int>(ir.lanes * 8);
    std::vector<int> bytes;
    for (int k = 0; k < n; k += 8) {
      for (uint32_t component = 2 * pair; component < 2 * pair + 2; ++component) {
        const int at = k + c.plan.format->rgba[component].shift / 8;
        for (int b : {at, n, at + 4, n}) bytes.push_back(b);
      }
    }
    auto to_words = [&](Value row) {
      Type type = Ir::vec(ir.i8, static_cast<uint32_t>(n));
      return ir.bitcast(ir.shuffle(ir.bitcast(row, type), Ir::zero(type), bytes), Ir::vec(ir.i16, 4 * ir.lanes));
    };
    Value of_top = multiply_pairs(ir, to_words(top_row), top_weight);
    result.pair[pair] = sum ? ir.add(sum->pair[pair], of_top) : of_top;
    if (bottom_row) result.pair[pair] = ir.add(result.pair[pair], multiply_pairs(ir, to_words(bottom_row), bottom_weight));
  }
  return result;
}

FixedSum sum_of_upper_row(const SamplerContext& c, const FixedLevel& level, Value u, Value v) {
  const Ir& ir = c.ir;
  assert(!level.layer_offset && !level.start);
  Value texels = multiply_pairs(ir, words_of(ir, rows_and_columns(ir, u, v)), words_of(ir, level.pitch));
  return sum_of_rows(c, load_pairs(ir, level.data, texels, 4), nullptr, u, v, whole_weight(ir), nullptr);
}

Value fixed_component(const Ir& ir, const FixedSum& sum, uint32_t component) {
  assert(component < 4);
  const std::vector<int> order = pair_order(ir);
  std::vector<int> from(ir.lanes);
  for (uint32_t k = 0; k < ir.lanes; ++k) from[static_cast<size_t>(order[k])] = static_cast<int>(2 * k + component % 2);
  Value pair = sum.pair[component / 2];
  return ir.sitofp(ir.permute_16(piece(ir, pair, 0, ir.lanes), piece(ir, pair, ir.lanes, ir.lanes), from));
}

}  // namespace tilegpu::shader
