// shader/sampler/halves.cpp -- linear filters of four halves a texel (rgba16f): two neighbours by one load of 128 bits a lane.
//
// In: a level, coordinates before wrapping. Out: the mix of four texels, by component and lane, with the bits that load_texel and
// mix_texels give. Components are filtered by twos, four lanes of the one beside four of the other, as transposing words leaves them. The
// NaN of a half becomes the canonical one only where some result is NaN: else no texel had one. Source: Vulkan specification, "Texel
// Filtering"; Intel's intrinsics guide (unpack).
#include <cassert>

#include "shader/sampler/internal.hpp"

namespace tilegpu::shader {
namespace {

/// A row's two neighbours: of each four lanes the first, second, third and fourth, words (r, g, b, a) twice; <2N x i16>.
using Row = std::array<Value, 4>;
/// Of a texel: red and green, then blue and alpha; <2N x i16>, four lanes of the one, the same four of the other.
using Texel = std::array<Value, 2>;

/// `low` and `high`: addresses by lane; `high` empty: the neighbour lies behind.
Row load_row(const Ir& ir, const std::vector<Value>& low, const std::vector<Value>& high) {
  assert(low.size() == ir.lanes && (high.empty() || high.size() == ir.lanes));
  const Type words = Ir::vec(ir.i16, 8);
  Row row;
  for (uint32_t k = 0; k < 4; ++k) {
    std::vector<Value> parts;
    for (uint32_t lane = k; lane < ir.lanes; lane += 4) {
      if (high.empty()) {
        parts.push_back(ir.load(words, low[lane], 4));
      } else {
        Value both = ir.insert(Ir::poison(Ir::vec(ir.i64, 2)), ir.load(ir.i64, low[lane], 4), 0);
        parts.push_back(ir.bitcast(ir.insert(both, ir.load(ir.i64, high[lane], 4), 1), words));
      }
    }
    row[k] = joined(ir, parts);
  }
  return row;
}

/// Elements of `a` and `b` by turns, the lower or the upper half of each 128 bits.
Value unpack(const Ir& ir, Value a, Value b, bool upper) {
  const auto n = static_cast<int>(Ir::lanes_of(a)), in_register = static_cast<int>(128 / Ir::bits_of(a));
  std::vector<int> order;
  for (int first = 0; first < n; first += in_register)
    for (int k = 0; k < in_register / 2; ++k) {
      const int from = first + k + (upper ? in_register / 2 : 0);
      order.push_back(from), order.push_back(from + n);
    }
  return ir.shuffle(a, b, order);
}

/// The left texel, then the right one.
std::array<Texel, 2> transpose(const Ir& ir, const Row& row) {
  const Type dwords = Ir::vec(ir.i32, ir.lanes), words = Ir::vec(ir.i16, 2 * ir.lanes);
  std::array<Texel, 2> texels;
  for (size_t t = 0; t < 2; ++t) {
    Value first = ir.bitcast(unpack(ir, row[0], row[1], t == 1), dwords), second = ir.bitcast(unpack(ir, row[2], row[3], t == 1), dwords);
    for (size_t k = 0; k < 2; ++k) texels[t][k] = ir.bitcast(unpack(ir, first, second, k == 1), words);
  }
  return texels;
}

Value to_floats(const Ir& ir, Value words, bool canonical) {
  Value halves = ir.bitcast(words, Ir::like(words, ir.f16));
  Value floats = LLVMBuildFPExt(ir.builder, halves, Ir::like(words, ir.f32), "");
  if (!canonical) return floats;
  // In the integers: a comparison of floats would be turned into one of halves, which x86-64-v3 does lane by lane.
  Value nan = ir.ugt(ir.and_(words, Ir::same(words, 0x7fff)), Ir::same(words, 0x7c00));
  return ir.select(nan, ir.as_float(ir.ik(floats, 0x7fc00000u)), floats);
}

Value mix(const Ir& ir, Value a, Value b, Value weight) { return ir.fma(ir.fsub(b, a), weight, a); }

/// Two components of the four texels, mixed.
Value mixed(const Ir& ir, const std::array<Value, 4>& words, Value fx, Value fy, bool canonical) {
  const auto mix_some = [&](Value a, Value b, Value weight) {
    Value sum = mix(ir, a, b, weight);
    if (!canonical) return sum;
    // What has no weight takes no part; a sum that is a number stays as it is without this.
    Value none = ir.and_(ir.fcmp(LLVMRealUNO, sum, sum), ir.feq(weight, ir.fk(weight, 0)));
    return ir.select(none, a, sum);
  };
  Value f[4];
  for (size_t k = 0; k < 4; ++k) f[k] = to_floats(ir, words[k], canonical);
  return mix_some(mix_some(f[0], f[1], fx), mix_some(f[2], f[3], fx), fy);
}

/// Asks memory for what lies to the right of each row of a packet's pixels, and below the last: passes over whole pictures read it soon,
/// and rows of so many bytes are too far apart for the processor to foresee. `at`: addresses by lane; `below`: the last lane's lower texel.
/// Texels of 4 bytes gain and lose by it (0.98 to 1.02).
void prefetch_rows(const SamplerContext& c, const std::vector<Value>& at, Value below) {
  const Ir& ir = c.ir;
  assert(at.size() == ir.lanes);
  if (ir.quick || !c.plan.level_0_alone) return;
  constexpr uint64_t kAhead_B = 256;
  const auto ask = [&](Value address) {
    ir.call_intrinsic("llvm.prefetch", {ir.ptr}, {ir.offset(address, kAhead_B), ir.c32(0), ir.c32(3), ir.c32(1)});
  };
  // The last lanes of a packet's rows; quads of four lanes, two beside each other.
  for (uint32_t lane = 0; lane < ir.lanes; ++lane)
    if (lane % 8 == 5 || lane % 8 == 7 || (ir.lanes == 4 && lane % 2 == 1)) ask(at[lane]);
  ask(below);
}

struct FourTexels {
  std::array<Texel, 2> top, bottom;
};

/// As Ir::if_else takes and gives them.
std::vector<Value> flat(const FourTexels& t) {
  std::vector<Value> v;
  for (const auto& row : {t.top, t.bottom})
    for (const Texel& texel : row) v.insert(v.end(), texel.begin(), texel.end());
  return v;
}

FourTexels load_texels(const SamplerContext& c, const Level& level, const AxisPosition& x, const AxisPosition& y) {
  const Ir& ir = c.ir;
  const SamplerCreateInfo& s = c.plan.key.sampler;
  const auto at = [&](Value base, Value column, Value row) {
    return ir.lane_addresses(base, texel_offsets(c, level, column, row, nullptr), 1);
  };
  const auto both = [&](const Row& top, const Row& bottom) { return flat({transpose(ir, top), transpose(ir, bottom)}); };
  const auto has_next = [&](Value index, Value size) { return ir.ult(index, ir.splat(ir.sub(size, ir.c32(1)))); };
  Value inside = ir.all(ir.and_(has_next(x.low, level.width), has_next(y.low, level.height)));
  const std::vector<Value> all = ir.if_else(
      ir.and_(inside, ir.eq(ir.or_(c.offset_x, c.offset_y), ir.c32(0))),
      [&] {
        Value offsets = texel_offsets(c, level, x.low, y.low, nullptr), next = ir.offset(level.data, ir.zext(level.pitch, ir.i64));
        const std::vector<Value> upper = ir.lane_addresses(level.data, offsets, 1), lower = ir.lane_addresses(next, offsets, 1);
        prefetch_rows(c, upper, lower.back());
        return both(load_row(ir, upper, {}), load_row(ir, lower, {}));
      },
      [&] {
        const Axis ax = wrap_axis(c, s.address_u, x, level.width, c.offset_x), ay = wrap_axis(c, s.address_v, y, level.height, c.offset_y);
        return both(load_row(ir, at(level.data, ax.low, ay.low), at(level.data, ax.high, ay.low)),
                    load_row(ir, at(level.data, ax.low, ay.high), at(level.data, ax.high, ay.high)));
      });
  return {{Texel{all[0], all[1]}, Texel{all[2], all[3]}}, {Texel{all[4], all[5]}, Texel{all[6], all[7]}}};
}

}  // namespace

bool filters_halves(const SamplerPlan& plan) {
  if (plan.texel_B != 8 || plan.format->numeric != vk::Numeric::sfloat || plan.format->is_compressed()) return false;
  for (uint32_t k = 0; k < 4; ++k)
    if (plan.format->rgba[k].bits != 16 || plan.format->rgba[k].shift != 16 * k) return false;
  return !plan.cube && !plan.one_dimensional && !plan.volume && !plan.uses_border && !plan.compare && !plan.planes &&
         plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
}

namespace {

/// The components that the plan needs.
std::vector<Value> needed(const SamplerPlan& plan, const std::array<Value, 4>& components) {
  std::vector<Value> v;
  for (uint32_t k = 0; k < 4; ++k)
    if (plan.needed[k]) v.push_back(components[k]);
  return v;
}

std::vector<Value> filter_lanes(const SamplerContext& c, const Level& level, const AxisPosition& x, const AxisPosition& y) {
  const Ir& ir = c.ir;
  const FourTexels four = load_texels(c, level, x, y);
  const std::array<Texel, 2>&upper = four.top, &lower = four.bottom;
  // Lanes 0 to 3 twice, lanes 4 to 7 twice, ...
  std::vector<int> twice;
  for (int k = 0; k < static_cast<int>(2 * ir.lanes); ++k) twice.push_back(k / 8 * 4 + k % 4);
  Value fx = ir.shuffle(x.fraction, twice), fy = ir.shuffle(y.fraction, twice);
  const auto filtered = [&](bool canonical) {
    std::vector<Value> pairs;
    for (size_t k = 0; k < 2; ++k) pairs.push_back(mixed(ir, {upper[0][k], upper[1][k], lower[0][k], lower[1][k]}, fx, fy, canonical));
    return pairs;
  };
  const std::vector<Value> plain = filtered(false);
  const std::vector<Value> pairs =
      ir.if_else(ir.any(ir.fcmp(LLVMRealUNO, plain[0], plain[1])), [&] { return filtered(true); }, [&] { return plain; });
  std::array<Value, 4> components;
  for (uint32_t k = 0; k < 4; ++k) {
    std::vector<int> order;
    for (int lane = 0; lane < static_cast<int>(ir.lanes); ++lane) order.push_back(lane / 4 * 8 + lane % 4 + 4 * static_cast<int>(k % 2));
    components[k] = ir.shuffle(pairs[k / 2], order);
  }
  return needed(c.plan, components);
}

}  // namespace

void prefetch_window(const Ir& ir, const WindowRows& rows) {
  constexpr uint64_t kAhead_B = 256;
  const auto ask = [&](Value address) {
    ir.call_intrinsic("llvm.prefetch", {ir.ptr}, {ir.offset(address, kAhead_B), ir.c32(0), ir.c32(3), ir.c32(1)});
  };
  for (Value row : rows.upper_at) ask(row);
}

/// Rows of pixels, components side by side, as conversion leaves them.
std::array<Value, 4> filter_window(const SamplerContext& c, const TexelWindow& w, const WindowRows& rows, Value fx, Value fy) {
  const Ir& ir = c.ir;
  const auto upper = window_halves(c, w, rows, false), lower = window_halves(c, w, rows, true);
  std::array<Value, 4> result;
  for (uint32_t row = 0; row < 4; ++row) {
    Value across = spread_row(ir, fx, row), down = spread_row(ir, fy, row);
    result[row] = mix(ir, mix(ir, upper[row][0], upper[row][1], across), mix(ir, lower[row][0], lower[row][1], across), down);
  }
  return result;
}

std::array<Value, 4> filter_step(const SamplerContext& c, const WindowRows& rows, Value fx, Value fy) {
  const Ir& ir = c.ir;
  assert(rows.in_step && c.plan.texel_B == 8);
  const auto texels = [&](Value at) { return LLVMBuildFPExt(ir.builder, ir.load(Ir::vec(ir.f16, ir.lanes), at, 4), ir.vf32, ""); };
  const auto across = [&](Value at) {
    Value left = texels(at);
    return fx ? mix(ir, left, texels(ir.offset(at, uint64_t{8})), fx) : left;
  };
  std::array<Value, 4> result;
  for (uint32_t row = 0; row < 4; ++row) result[row] = across(rows.upper_at[row]);
  if (!fy) return result;
  Value last = across(ir.offset(rows.upper_at[3], rows.pitch_B));
  for (uint32_t row = 0; row < 4; ++row) result[row] = mix(ir, result[row], row < 3 ? result[row + 1] : last, fy);
  return result;
}

TexelValues filter_halves(const SamplerContext& c, const Level& level, Value s, Value t) {
  const Ir& ir = c.ir;
  assert(c.plan.halves && Ir::lanes_of(c.offset_x) == 1);
  const VkSamplerAddressMode u = c.plan.key.sampler.address_u, v = c.plan.key.sampler.address_v;
  const auto by_lane = [&] {
    return filter_lanes(c, level, place_on_axis(c, u, s, level.width_f, true), place_on_axis(c, v, t, level.height_f, true));
  };
  std::vector<Value> values;
  if (c.plan.level_0_alone && !level.layer_offset && !level.start && asks_window(c)) {
    // Where some result is NaN, lane by lane again, where NaNs are made canonical.
    const AxisPosition x = place_in_window(c, u, s, level.width_f, true), y = place_in_window(c, v, t, level.height_f, true);
    const TexelWindow w = find_window(c, level, x.low, y.low, 1, true);
    Block window = ir.block("window"), lanes = ir.block("lanes"), done = ir.block("filtered");
    ir.br(w.there, window, lanes);
    ir.at(window);
    const WindowRows rows = find_rows(c, level, w);
    prefetch_window(ir, rows);
    const std::array<Value, 4> filtered = filter_window(c, w, rows, x.fraction, y.fraction);
    const std::vector<Value> of_window = needed(c.plan, components_of_rows(ir, filtered));
    Block window_end = ir.current_block();
    const auto unordered = [&](Value a, Value b) { return ir.fcmp(LLVMRealUNO, a, b); };
    ir.br(ir.any(ir.or_(unordered(filtered[0], filtered[1]), unordered(filtered[2], filtered[3]))), lanes, done);
    ir.at(lanes);
    const std::vector<Value> of_lanes = by_lane();
    Block lanes_end = ir.current_block();
    ir.br(done);
    ir.at(done);
    for (size_t k = 0; k < of_lanes.size(); ++k) values.push_back(ir.phi(ir.vf32, {{of_window[k], window_end}, {of_lanes[k], lanes_end}}));
  } else {
    values = by_lane();
  }
  TexelValues texel{};
  size_t next = 0;
  for (uint32_t k = 0; k < 4; ++k)
    if (c.plan.needed[k]) texel[k] = values[next++];
  return texel;
}

}  // namespace tilegpu::shader
