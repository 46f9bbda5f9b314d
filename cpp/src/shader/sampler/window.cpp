// shader/sampler/window.cpp -- texels of a block of 4x4 pixels that lie in rows, within eight columns: what passes over whole pictures
// read (blurs, tone curves, chains of half sizes, whatever resolves and composes), and most axis-aligned rectangles.
//
// In: a packet's texels by column and row, before wrapping. Out: whether the columns are the same in each row of pixels, the rows in each
// column, and all of them inside of the level; then eight texels of each row, by one load. Columns need not be consecutive: at centres of
// texels, where a pass of a picture's own size samples, rounding takes now this texel and now the one before.
// Eight loads take the place of two for each lane; the texels are the same ones, so the bits are.
// Source: Vulkan specification, "Texel Filtering"; own.
#include <cassert>

#include "shader/ir/lane_range.hpp"
#include "shader/sampler/internal.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kSide = 4, kLanes = kSide * kSide;

/// Of lane 4q+p, pixel p of quad q.
uint32_t column_of(uint32_t lane) { return (lane >> 2 & 1) * 2 + (lane & 1); }
uint32_t row_of(uint32_t lane) { return (lane >> 3 & 1) * 2 + (lane >> 1 & 1); }
uint32_t lane_at(uint32_t column, uint32_t row) { return (row >> 1) * 8 + (column >> 1) * 4 + (row & 1) * 2 + (column & 1); }

/// <16 x i32>, by lane.
template <class Number>
Value by_lane(const Ir& ir, Number&& number) {
  Value elements[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) elements[lane] = ir.c32(number(lane));
  return LLVMConstVector(elements, kLanes);
}

/// `v` of the lane that `from` says.
template <class Number>
Value permuted(const Ir& ir, Value v, Number&& from) {
  std::vector<int> order;
  for (uint32_t lane = 0; lane < kLanes; ++lane) order.push_back(static_cast<int>(from(lane)));
  Value bits = ir.bits(v);
  return ir.bitcast(ir.permute_16(bits, bits, order), Ir::type_of(v));
}

/// Two rows of eight i32 as one vector.
Value two_rows(const Ir& ir, Value first, Value second) {
  assert(Ir::lanes_of(first) == kWindowColumns && Ir::bits_of(first) == 32);
  return ir.shuffle(first, second, lane_range(0, 2 * kWindowColumns));
}

/// The lower halves of both, the upper ones.
std::array<Value, 2> halves_joined(const Ir& ir, Value a, Value b) {
  std::array<Value, 2> result;
  for (uint32_t k = 0; k < 2; ++k) {
    std::vector<int> part = lane_range(8 * k, 8), rest = lane_range(kLanes + 8 * k, 8);
    part.insert(part.end(), rest.begin(), rest.end());
    result[k] = ir.shuffle(a, b, part);
  }
  return result;
}

Value is_small_offset(const Ir& ir, Value offset) { return ir.ult(ir.add(offset, ir.c32(kMostOffset)), ir.c32(2 * kMostOffset + 1)); }

Value permute_by(const Ir& ir, Value v, Value order, Value other) {
  return ir.call_intrinsic("llvm.x86.avx512.vpermi2var.d.512", {}, {v, order, other});
}

}  // namespace

bool asks_window(const SamplerContext& c) {
  const Ir& ir = c.ir;
  const uint32_t B = c.plan.texel_B;
  return ir.wide && ir.lanes == kLanes && !ir.quick && (B == 1 || B == 2 || B == 4 || B == 8) && !c.plan.format->is_compressed() &&
         !c.plan.array && !c.plan.cube && !c.plan.volume && !c.plan.one_dimensional && !c.plan.planes && !c.plan.key.multisampled;
}

TexelWindow find_window(const SamplerContext& c, const WindowLevel& level, Value x, Value y, uint32_t reach, bool with_offsets) {
  const Ir& ir = c.ir;
  assert(asks_window(c) && reach <= 1 && Ir::type_of(x) == ir.vi32 && Ir::type_of(y) == ir.vi32 && Ir::type_of(level.width) == ir.i32);
  TexelWindow w;
  w.first_column = ir.extract(x, 0);
  w.columns = ir.sub(x, ir.splat(w.first_column));
  Value last_row = ir.sub(level.height, ir.c32(reach));
  Value allowed = ir.sge(level.width, ir.c32(kWindowColumns));
  if (with_offsets) {
    assert(c.offset_x && Ir::lanes_of(c.offset_x) == 1);
    allowed = ir.and_(allowed, ir.and_(is_small_offset(ir, c.offset_x), is_small_offset(ir, c.offset_y)));
    w.first_column = ir.add(w.first_column, c.offset_x), y = ir.add(y, ir.splat(c.offset_y));
  }
  w.rows = y;
  allowed = ir.and_(allowed, ir.ule(w.first_column, ir.sub(level.width, ir.c32(kWindowColumns))));
  Value in_rows = ir.eq(x, permuted(ir, x, [](uint32_t lane) { return lane_at(column_of(lane), 0); }));
  Value in_columns = ir.eq(y, permuted(ir, y, [](uint32_t lane) { return lane_at(0, row_of(lane)); }));
  Value inside = ir.and_(ir.ult(w.columns, ir.ik(kWindowColumns - reach)), ir.ult(y, ir.splat(last_row)));
  w.there = ir.and_(allowed, ir.all(ir.and_(ir.and_(in_rows, in_columns), inside)));
  return w;
}

WindowRows find_rows(const SamplerContext& c, const WindowLevel& level, const TexelWindow& w) {
  const Ir& ir = c.ir;
  WindowRows rows;
  Value first = ir.offset(level.data, ir.zext(ir.mul(w.first_column, ir.c32(c.plan.texel_B)), ir.i64));
  Value rows_B = ir.mul(w.rows, ir.splat(level.pitch));
  for (uint32_t row = 0; row < kSide; ++row) rows.upper_at[row] = ir.offset(first, ir.zext(ir.extract(rows_B, lane_at(0, row)), ir.i64));
  rows.pitch_B = ir.zext(level.pitch, ir.i64);
  return rows;
}

Value step_columns(const Ir& ir) { return by_lane(ir, column_of); }

TexelWindow find_step(const SamplerContext& c, const WindowLevel& level, Value x, Value y, bool with_offsets) {
  const Ir& ir = c.ir;
  assert(asks_window(c) && Ir::type_of(x) == ir.vi32 && Ir::type_of(y) == ir.vi32 && Ir::type_of(level.width) == ir.i32);
  TexelWindow w;
  w.first_column = ir.extract(x, 0), w.first_row = ir.extract(y, 0), w.columns = step_columns(ir);
  Value steps =
      ir.and_(ir.eq(x, ir.add(ir.splat(w.first_column), w.columns)), ir.eq(y, ir.add(ir.splat(w.first_row), by_lane(ir, row_of))));
  Value allowed = ir.and_(ir.sge(level.width, ir.c32(kWindowColumns)), ir.sge(level.height, ir.c32(kSide + 1)));
  if (with_offsets) {
    allowed = ir.and_(allowed, ir.and_(is_small_offset(ir, c.offset_x), is_small_offset(ir, c.offset_y)));
    w.first_column = ir.add(w.first_column, c.offset_x), w.first_row = ir.add(w.first_row, c.offset_y);
  }
  Value inside = ir.and_(ir.ule(w.first_column, ir.sub(level.width, ir.c32(kWindowColumns))),
                         ir.ule(w.first_row, ir.sub(level.height, ir.c32(kSide + 1))));
  w.there = ir.and_(ir.all(steps), ir.and_(allowed, inside));
  return w;
}

WindowRows step_rows(const SamplerContext& c, const WindowLevel& level, Value first) {
  const Ir& ir = c.ir;
  WindowRows rows;
  rows.in_step = true, rows.pitch_B = ir.zext(level.pitch, ir.i64), rows.upper_at[0] = first;
  for (uint32_t row = 1; row < kSide; ++row) rows.upper_at[row] = ir.offset(rows.upper_at[row - 1], rows.pitch_B);
  return rows;
}

Value step_address(const SamplerContext& c, const WindowLevel& level, const TexelWindow& w) {
  const Ir& ir = c.ir;
  Value row = ir.offset(level.data, ir.zext(ir.mul(w.first_row, level.pitch), ir.i64));
  return ir.offset(row, ir.zext(ir.mul(w.first_column, ir.c32(c.plan.texel_B)), ir.i64));
}

void load_rows_of_window(const SamplerContext& c, WindowRows& rows, uint32_t reach) {
  const Ir& ir = c.ir;
  const uint32_t B = c.plan.texel_B;
  const Type element = B == 1 ? ir.i8 : B == 2 ? ir.i16 : B == 4 ? ir.i32 : ir.i64, type = Ir::vec(element, kWindowColumns);
  const auto load = [&](Value from) {
    Value v = ir.load(type, from, std::min(B, 4u));
    return B < 4 ? ir.zext(v, ir.i32) : v;
  };
  for (uint32_t row = 0; row < kSide; ++row) rows.upper[row] = load(rows.upper_at[row]);
  for (uint32_t row = 0; row < kSide && reach; ++row)
    rows.lower[row] = rows.in_step && row + 1 < kSide ? rows.upper[row + 1] : load(ir.offset(rows.upper_at[row], rows.pitch_B));
}

WindowRows load_window(const SamplerContext& c, const WindowLevel& level, const TexelWindow& w, uint32_t reach) {
  WindowRows rows = find_rows(c, level, w);
  load_rows_of_window(c, rows, reach);
  return rows;
}

std::array<Value, 4> window_words(const Ir& ir, const TexelWindow& w, const WindowRows& rows, bool right) {
  // Rows 0 and 1 in one register, 2 and 3 in the other.
  Value left = ir.add(w.columns, by_lane(ir, [](uint32_t lane) { return kWindowColumns * row_of(lane); }));
  Value next = right ? ir.add(left, ir.ik(1)) : nullptr;
  std::array<Value, 4> words{};
  const auto take = [&](const std::array<Value, kSide>& r, uint32_t first) {
    if (!r[0]) return;
    Value upper = two_rows(ir, r[0], r[1]), lower = two_rows(ir, r[2], r[3]);
    words[first] = permute_by(ir, upper, left, lower);
    if (right) words[first + 1] = permute_by(ir, upper, next, lower);
  };
  take(rows.upper, 0), take(rows.lower, 2);
  return words;
}

std::array<Value, 2> window_word_pairs(const Ir& ir, const TexelWindow& w, const std::array<Value, kSide>& rows) {
  // Of eight lanes, which two rows have, both words.
  const auto lane = [](uint32_t k) { return k % 8; };
  Value order = ir.add(ir.shl(permuted(ir, w.columns, lane), 1),
                       by_lane(ir, [&](uint32_t k) { return 2 * kWindowColumns * row_of(lane(k)) + k / 8; }));
  const auto taken = [&](uint32_t row) {
    const Type words = Ir::vec(ir.i32, 2 * kWindowColumns);
    return permute_by(ir, ir.bitcast(rows[row], words), order, ir.bitcast(rows[row + 1], words));
  };
  return halves_joined(ir, taken(0), taken(2));
}

std::array<Value, 2> window_pairs(const Ir& ir, const TexelWindow& w, const std::array<Value, kSide>& rows, const std::vector<int>& lanes) {
  assert(lanes.size() == kLanes);
  std::array<Value, 2> halves;
  for (uint32_t half = 0; half < 2; ++half) {
    const auto lane = [&](uint32_t k) { return static_cast<uint32_t>(lanes[half * kLanes / 2 + k / 2]); };
    const uint32_t first_row = row_of(lane(0)), second_row = row_of(lane(kLanes - 1));
    Value order = ir.add(permuted(ir, w.columns, lane),
                         by_lane(ir, [&](uint32_t k) { return (row_of(lane(k)) == first_row ? 0 : kWindowColumns) + k % 2; }));
    Value both = two_rows(ir, rows[first_row], rows[second_row]);
    halves[half] = ir.call_intrinsic("llvm.x86.avx512.permvar.si.512", {}, {both, order});
  }
  return halves;
}

std::array<std::array<Value, 2>, kSide> window_halves(const SamplerContext& c, const TexelWindow& w, const WindowRows& rows, bool lower) {
  const Ir& ir = c.ir;
  assert(c.plan.texel_B == 8);
  std::array<std::array<Value, 2>, kSide> texels;
  const auto floats = [&](Value halves) { return LLVMBuildFPExt(ir.builder, halves, ir.vf32, ""); };
  std::vector<int> columns;
  for (uint32_t k = 0; k < 2 * kSide; ++k) columns.push_back(static_cast<int>(lane_at(k % kSide, 0)));
  std::vector<Value> next;
  for (uint32_t k = 0; k < 2 * kSide; ++k) next.push_back(ir.c64(k / kSide));
  Value order = ir.add(ir.zext(ir.shuffle(w.columns, columns), ir.i64), LLVMConstVector(next.data(), 2 * kSide));
  for (uint32_t row = 0; row < kSide; ++row) {
    Value at = lower ? ir.offset(rows.upper_at[row], rows.pitch_B) : rows.upper_at[row];
    Value both = ir.call_intrinsic("llvm.x86.avx512.permvar.di.512", {}, {ir.load(Ir::vec(ir.i64, kWindowColumns), at, 4), order});
    both = ir.bitcast(both, Ir::vec(ir.f16, 2 * kLanes));
    for (uint32_t right = 0; right < 2; ++right) texels[row][right] = floats(ir.shuffle(both, lane_range(right * kLanes, kLanes)));
  }
  return texels;
}

Value spread_row(const Ir& ir, Value v, uint32_t row) {
  return permuted(ir, v, [&](uint32_t k) { return lane_at(k / 4, row); });
}

std::array<Value, 4> components_of_rows(const Ir& ir, const std::array<Value, kSide>& rows) {
  std::array<Value, 4> components;
  for (uint32_t first : {0u, 2u}) {
    std::vector<int> order;
    for (uint32_t k = 0; k < kLanes; ++k) {
      const uint32_t lane = k % 8, component = first + k / 8;
      order.push_back(static_cast<int>(kLanes * row_of(lane) + 4 * column_of(lane) + component));
    }
    const auto half = [&](uint32_t row) { return ir.as_float(ir.permute_16(ir.bits(rows[row]), ir.bits(rows[row + 1]), order)); };
    const std::array<Value, 2> joined = halves_joined(ir, half(0), half(2));
    components[first] = joined[0], components[first + 1] = joined[1];
  }
  return components;
}

}  // namespace tilegpu::shader
