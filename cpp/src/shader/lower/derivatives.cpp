// shader/lower/derivatives.cpp -- differences between the pixels of a quad.
//
// In: values whose lanes are quads, or (packets of pixels) slices that make a value once more for a neighbour. Out: OpDPdx and its kind.
// Source: SPIR-V specification 1.6, section 3.32.16 "Derivative Instructions"; Vulkan, "Derivative Operations".
#include "shader/lower/context.hpp"

#include <cassert>

namespace tilegpu::shader {

/// Differences within the quad of lanes 4q..4q+3: (x,y), (x+1,y), (x,y+1), (x+1,y+1).
Value Lowering::pick_pixel(Value v, int p) const {
  assert(p >= 0 && p < 4 && ir.lanes % 4 == 0);
  std::vector<int> mask;
  for (int lane = 0; lane < static_cast<int>(ir.lanes); ++lane) mask.push_back((lane & ~3) + p);
  return ir.shuffle(v, mask);
}

Value Lowering::derivative(spv::Op op, Value v) const {
  assert(!pixel_slices && Ir::element_of(Ir::type_of(v)) == ir.f32);
  if (!is_varying(v)) return Ir::zero(ir.f32);
  const auto pick = [&](int a, int b, int c, int e) {
    std::vector<int> mask;
    for (int q = 0; q < static_cast<int>(ir.lanes); q += 4) mask.insert(mask.end(), {q + a, q + b, q + c, q + e});
    return ir.shuffle(v, mask);
  };
  switch (op) {
    case spv::OpDPdxFine:
      return ir.fsub(pick(1, 1, 3, 3), pick(0, 0, 2, 2));
    case spv::OpDPdyFine:
      return ir.fsub(pick(2, 3, 2, 3), pick(0, 1, 0, 1));
    case spv::OpDPdy:
    case spv::OpDPdyCoarse:
      return ir.fsub(pick(2, 2, 2, 2), pick(0, 0, 0, 0));
    default:
      return ir.fsub(pick(1, 1, 1, 1), pick(0, 0, 0, 0));
  }
}

/// The value that `id` has at a pixel of the lane's quad: the instructions that make it once more, of that pixel's inputs.
Val Lowering::at_corner(uint32_t id, uint32_t corner) {
  assert(pixel_slices && corner < 3);
  const PixelSlices::Slice& slice = pixel_slices->of.at(id);
  const auto swap_inputs = [&] {
    for (auto& [variable, slots] : corner_inputs[corner]) std::swap(globals.at(variable)->slots, slots);
  };
  const Instruction* here = current;
  std::vector<std::pair<uint32_t, Val>> kept;
  std::vector<std::pair<Variable*, Val>> kept_locals;
  for (uint32_t local : slice.locals) {
    Variable& v = *frame().variables.at(local);
    kept_locals.emplace_back(&v, load_variable(v, v.type, 0, nullptr));
  }
  swap_inputs();
  for (uint32_t k : slice.instructions) {
    const Instruction& i = m.instructions[k];
    if (frame().delayed.count(i.id)) continue;
    if (auto known = frame().values.find(i.id); i.id && known != frame().values.end()) kept.emplace_back(i.id, known->second);
    current = &i;
    instruction(i, k);
  }
  Val result = value(id);
  for (auto& [changed, v] : kept) frame().values[changed] = std::move(v);
  for (auto& [variable, v] : kept_locals) store_variable(*variable, v, 0, nullptr, nullptr);
  swap_inputs();
  current = here;
  return result;
}

/// Coarse derivatives. The differences are those of `derivative`, of the same values.
Lowering::Gradient Lowering::gradient(uint32_t id) {
  Gradient g;
  const Val v = value(id);
  if (!pixel_slices) {
    for (Value c : v.c) g.x.push_back(derivative(spv::OpDPdx, c)), g.y.push_back(derivative(spv::OpDPdy, c));
    return g;
  }
  const Val corner = at_corner(id, 0), right = at_corner(id, 1), below = at_corner(id, 2);
  for (size_t k = 0; k < v.c.size(); ++k) {
    const bool same = !is_varying(v.c[k]);
    g.x.push_back(same ? Ir::zero(ir.f32) : ir.fsub(vary(right.c[k]), vary(corner.c[k])));
    g.y.push_back(same ? Ir::zero(ir.f32) : ir.fsub(vary(below.c[k]), vary(corner.c[k])));
  }
  return g;
}

bool Lowering::derivatives(const Instruction& i) {
  const bool along_x = i.op == spv::OpDPdx || i.op == spv::OpDPdxFine || i.op == spv::OpDPdxCoarse;
  const bool along_y = i.op == spv::OpDPdy || i.op == spv::OpDPdyFine || i.op == spv::OpDPdyCoarse;
  const bool both = i.op == spv::OpFwidth || i.op == spv::OpFwidthFine || i.op == spv::OpFwidthCoarse;
  if (!along_x && !along_y && !both) return false;
  const auto sum = [](const Ir& ir, Value x, Value y) { return ir.fadd(ir.fabs(x), ir.fabs(y)); };
  const uint32_t of = m.operand(i, 0);
  // What all lanes have in common has no slope, but where it is no number: infinity less infinity is none either.
  const auto same = [&](Value x) { return ir.fsub(x, x); };
  if (pixel_slices) {
    Gradient g = gradient(of);
    const Val v = value(of);
    for (size_t k = 0; k < v.c.size(); ++k)
      if (!is_varying(v.c[k])) g.x[k] = g.y[k] = same(v.c[k]);
    define(i.id, both ? map(i.type, {0, g.x}, {0, g.y}, sum) : Val{i.type, along_x ? g.x : g.y});
  } else if (both) {
    const bool fine = i.op == spv::OpFwidthFine;
    define(i.id, map(i.type, value(of), [&](const Ir&, Value x) {
             if (!is_varying(x)) return same(x);
             return sum(ir, derivative(fine ? spv::OpDPdxFine : spv::OpDPdx, x), derivative(fine ? spv::OpDPdyFine : spv::OpDPdy, x));
           }));
  } else {
    define(i.id, map(i.type, value(of), [&](const Ir&, Value x) { return is_varying(x) ? derivative(i.op, x) : same(x); }));
  }
  return true;
}

}  // namespace tilegpu::shader
