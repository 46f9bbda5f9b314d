// shader/sampler/side_by_side.cpp -- linear filters of a block of 4x4 pixels whose texels lie as the pixels do: in four rows of four,
// beside each other. So it is where a pass goes over a picture of its own size: blurs, tone curves, whatever resolves and composes.
//
// In: a packet's texels, by byte offsets of the upper left ones. Out: whether they lie so; five rows of five texels, and of these the four
// of each lane. Five loads take the place of two for each lane; the texels are the same ones, so the bits are.
// Source: Vulkan specification, "Texel Filtering"; own.
#include <cassert>

#include "shader/ir/lane_range.hpp"
#include "shader/sampler/internal.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kSide = 4;

/// Of lane 4q+p, pixel p of quad q.
uint32_t column_of(uint32_t lane) { return (lane >> 2 & 1) * 2 + (lane & 1); }
uint32_t row_of(uint32_t lane) { return (lane >> 3 & 1) * 2 + (lane >> 1 & 1); }

}  // namespace

bool asks_side_by_side(const SamplerContext& c, const Level& level) {
  const Ir& ir = c.ir;
  return ir.wide && ir.lanes == kSide * kSide && !ir.quick && c.plan.level_0_alone && !level.layer_offset && !level.start &&
         (c.plan.texel_B == 4 || c.plan.texel_B == 8);
}

Value lie_side_by_side(const SamplerContext& c, const Level& level, Value offsets_B) {
  const Ir& ir = c.ir;
  assert(asks_side_by_side(c, level) && Ir::type_of(offsets_B) == ir.vi32);
  std::vector<Value> columns, rows;
  for (uint32_t lane = 0; lane < ir.lanes; ++lane)
    columns.push_back(ir.c32(column_of(lane) * c.plan.texel_B)), rows.push_back(ir.c32(row_of(lane)));
  Value first = ir.splat(ir.extract(offsets_B, 0));
  Value rows_B = ir.mul(ir.splat(level.pitch), LLVMConstVector(rows.data(), ir.lanes));
  return ir.all(ir.eq(offsets_B, ir.add(ir.add(first, rows_B), LLVMConstVector(columns.data(), ir.lanes))));
}

std::array<Value, kSide + 1> load_side_by_side(const SamplerContext& c, const Level& level, Value offsets_B, bool ahead) {
  const Ir& ir = c.ir;
  constexpr uint32_t kRead = kSide + 1, kAhead_B = 256;
  const Type type = Ir::vec(c.plan.texel_B == 8 ? ir.i64 : ir.i32, 8);
  // Texels beyond the fifth may lie outside of the image.
  std::vector<Value> read;
  for (uint32_t k = 0; k < 8; ++k) read.push_back(ir.c1(k < kRead));
  Value at = ir.offset(level.data, ir.zext(ir.extract(offsets_B, 0), ir.i64)), pitch_B = ir.zext(level.pitch, ir.i64);
  std::array<Value, kRead> rows;
  for (uint32_t k = 0; k < kRead; ++k) {
    if (ahead) ir.call_intrinsic("llvm.prefetch", {ir.ptr}, {ir.offset(at, uint64_t{kAhead_B}), ir.c32(0), ir.c32(3), ir.c32(1)});
    rows[k] = ir.call_intrinsic("llvm.masked.load", {type, ir.ptr}, {at, ir.c32(4), LLVMConstVector(read.data(), 8), Ir::zero(type)});
    at = ir.offset(at, pitch_B);
  }
  return rows;
}

std::array<Value, 4> words_side_by_side(const Ir& ir, const std::array<Value, kSide + 1>& rows) {
  assert(Ir::lanes_of(rows[0]) == 8 && Ir::bits_of(rows[0]) == 32);
  const auto taken = [&](uint32_t down, uint32_t right) {
    std::vector<int> order;
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) order.push_back(static_cast<int>(8 * row_of(lane) + column_of(lane) + right));
    const auto both = [&](uint32_t row) { return ir.shuffle(rows[row], rows[row + 1], lane_range(0, 16)); };
    return ir.permute_16(both(down), both(down + 2), order);
  };
  return {taken(0, 0), taken(0, 1), taken(1, 0), taken(1, 1)};
}

std::array<std::array<Value, 2>, 4> halves_side_by_side(const Ir& ir, const std::array<Value, kSide + 1>& rows) {
  assert(Ir::lanes_of(rows[0]) == 8 && Ir::bits_of(rows[0]) == 64);
  constexpr uint32_t kWords = 32;  // of eight texels
  std::array<Value, kSide + 1> words;
  for (size_t k = 0; k < rows.size(); ++k) words[k] = ir.bitcast(rows[k], Ir::vec(ir.i16, kWords));
  const auto taken = [&](uint32_t down, uint32_t right) {
    // Of eight lanes, which two rows have: red and green of four, of four more; blue and alpha likewise.
    std::vector<int> order;
    for (uint32_t pair = 0; pair < 2; ++pair)
      for (uint32_t first = 0; first < 8; first += 4)
        for (uint32_t component = 2 * pair; component < 2 * pair + 2; ++component)
          for (uint32_t lane = first; lane < first + 4; ++lane)
            order.push_back(static_cast<int>(kWords * row_of(lane) + 4 * (column_of(lane) + right) + component));
    Value upper = ir.shuffle(words[down], words[down + 1], order), lower = ir.shuffle(words[down + 2], words[down + 3], order);
    std::array<Value, 2> texel;
    for (uint32_t pair = 0; pair < 2; ++pair) {
      std::vector<int> half = lane_range(16 * pair, 16), rest = lane_range(kWords + 16 * pair, 16);
      half.insert(half.end(), rest.begin(), rest.end());
      texel[pair] = ir.shuffle(upper, lower, half);
    }
    return texel;
  };
  return {taken(0, 0), taken(0, 1), taken(1, 0), taken(1, 1)};
}

}  // namespace tilegpu::shader
