// shader/lower/lane_memory.cpp -- memory of compute shaders that lanes reach in order: one wide load or store for all of them.
//
// In: a Pointer whose offset varies, the scalars of its type. Out: vectors. Elements of up to four words may follow one another (vec2,
// vec4, float): their words are put in order by shuffles. Where lanes don't reach memory in order, or not all of it is inside of the bound
// range, buffers.cpp goes lane by lane. Source: own; ir/lane_access.hpp says when.
#include <algorithm>
#include <cassert>

#include "shader/ir/lane_access.hpp"
#include "shader/lower/context.hpp"

namespace tilegpu::shader {

uint32_t Lowering::lane_step_B(const Pointer& p, const BufferAddress& a, const std::vector<uint32_t>& offsets,
                               const std::vector<Base>& kinds) const {
  assert(offsets.size() == kinds.size());
  if (!compute || !p.offset_dynamic || !is_varying(p.offset_dynamic) || is_varying(a.data) || offsets.empty() || offsets.size() > 4)
    return 0;
  const uint32_t own_B = size_B(kinds[0]);
  for (size_t k = 0; k < offsets.size(); ++k)
    if (offsets[k] != offsets[0] + own_B * k || size_B(kinds[k]) != own_B) return 0;
  return p.step_B >= own_B * offsets.size() && p.step_B <= 4 * own_B && p.step_B % own_B == 0 ? p.step_B : 0;
}

Value Lowering::reaches_in_order(const BufferAddress& a, Value dynamic, Value mask, uint32_t step_B, uint32_t offset_B) {
  assert(step_B && is_varying(dynamic));
  Value in_order = ask_lane_step(ir, dynamic, mask, step_B);
  Value first = ir.extract(dynamic, 0);
  if (a.inside) return in_order;
  Value end = ir.add(ir.zext(first, ir.i64), ir.c64(uint64_t{offset_B} + uint64_t{step_B} * ir.lanes));
  return ir.and_(in_order, ir.ule(end, a.whole ? ir.c64(a.static_size_B) : a.size_B));
}

/// The words of all lanes where they are the same for all that run, else what `otherwise` gives.
std::vector<Value> Lowering::load_same(const BufferAddress& a, Value dynamic, const std::vector<uint32_t>& offsets,
                                       const std::vector<Base>& kinds, const std::function<std::vector<Value>()>& otherwise) {
  assert(offsets.size() == kinds.size());
  return ir.if_else(
      ask_lane_step(ir, dynamic, exec, 0),
      [&] {
        std::vector<Value> words;
        for (size_t k = 0; k < offsets.size(); ++k) words.push_back(vary(load_word(a, kinds[k], offsets[k], ir.extract(dynamic, 0))));
        return words;
      },
      otherwise);
}

/// As integers of `own_B` bytes. Of elements with a gap at their end the gap is read too: it is inside.
std::vector<Value> Lowering::load_in_order(const BufferAddress& a, Value dynamic, uint32_t step_B, const std::vector<uint32_t>& offsets,
                                           uint32_t own_B) {
  const uint32_t per_lane = step_B / own_B;
  assert(offsets.size() <= per_lane);
  Value at = ir.offset(a.data, ir.add(ir.zext(ir.extract(dynamic, 0), ir.i64), ir.c64(offsets[0])));
  Value all = ir.load(Ir::vec(LLVMIntTypeInContext(ir.context, 8 * own_B), ir.lanes * per_lane), at, a.inside ? std::min(own_B, 4u) : 1);
  std::vector<Value> words;
  for (uint32_t k = 0; k < offsets.size(); ++k) {
    std::vector<int> places;
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) places.push_back(static_cast<int>(lane * per_lane + k));
    words.push_back(per_lane == 1 ? all : ir.shuffle(all, all, places));
  }
  return words;
}

/// Scalars as memory has them, all of one size; several for each lane: of all lanes.
void Lowering::store_in_order(const BufferAddress& a, Value dynamic, uint32_t offset_B, const std::vector<Value>& words, Value mask) {
  assert(!words.empty() && words.size() <= 4);
  Value at = ir.offset(a.data, ir.add(ir.zext(ir.extract(dynamic, 0), ir.i64), ir.c64(offset_B)));
  const uint32_t own_B = Ir::bits_of(words[0]) / 8, aligned_B = a.inside ? std::min(own_B, 4u) : 1;
  const Type whole = ir.vec(LLVMIntTypeInContext(ir.context, 8 * own_B));
  std::vector<Value> bits;
  for (Value w : words) bits.push_back(ir.bitcast(vary(w), whole));
  const auto n = static_cast<int>(ir.lanes);
  if (bits.size() == 1) {
    if (!mask) return ir.store(bits[0], at, aligned_B);
    ir.call_intrinsic("llvm.masked.store", {whole, ir.ptr}, {bits[0], at, ir.c32(aligned_B), mask});
    return;
  }
  // Two and two side by side, then in the order of memory.
  const auto beside = [&](Value x, Value y) {
    std::vector<int> both;
    for (int k = 0; k < 2 * n; ++k) both.push_back(k);
    return ir.shuffle(x, y, both);
  };
  Value low = beside(bits[0], bits[1]), high = bits.size() == 4   ? beside(bits[2], bits[3])
                                               : bits.size() == 3 ? beside(bits[2], bits[2])
                                                                  : low;
  std::vector<int> order;
  for (int lane = 0; lane < n; ++lane)
    for (int k = 0; k < static_cast<int>(bits.size()); ++k) order.push_back(k * n + lane);
  ir.store(ir.shuffle(low, high, order), at, aligned_B);
}

}  // namespace tilegpu::shader
