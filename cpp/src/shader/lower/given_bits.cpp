// shader/lower/given_bits.cpp -- floats whose bits are not arithmetic's, and which are only moved.
//
// In: instructions as they are lowered. Out: for each value, which of its scalars an OpBitcast (or packDouble2x32) or a load from a buffer
// gave, and what takes composites apart and puts them together has moved since. Programs carry integers in floats: stores keep those bits,
// where of a NaN of anything else they make the one NaN. By SPIR-V's instructions alone, so that no optimisation decides.
// Source: docs/undefined.md; SPIR-V specification 1.6, section 3.32.12 "Composite Instructions".
#include <spirv/unified1/GLSL.std.450.h>
#include <algorithm>
#include <cassert>

#include "shader/lower/context.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {

const std::vector<bool>& Lowering::given_bits(uint32_t id) {
  static const std::vector<bool> none;
  const auto found = frame().given_bits.find(id);
  return found == frame().given_bits.end() ? none : found->second;
}

std::vector<bool> Lowering::all_given(uint32_t type) {
  const std::vector<Base>& kinds = bases(type);
  const bool any = std::any_of(kinds.begin(), kinds.end(), [](Base kind) { return kind == Base::f32 || kind == Base::f64; });
  return std::vector<bool>(any ? kinds.size() : 0, true);
}

std::vector<bool> Lowering::bits_of_memory(const Pointer& p) {
  const bool memory = p.space == Pointer::Space::buffer || p.space == Pointer::Space::push_constants || p.space == Pointer::Space::address;
  return memory ? all_given(p.type) : std::vector<bool>();
}

void Lowering::note_given_bits(const Instruction& i) {
  assert(i.id != 0);
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  std::vector<bool> given;
  /// Of an operand, as long as it is wide.
  const auto of = [&](uint32_t id) {
    std::vector<bool> part = given_bits(id);
    part.resize(width(m.type_of(id)));
    return part;
  };
  switch (static_cast<uint32_t>(i.op)) {
    case spv::OpBitcast:
      if (m.type(i.type).kind != Kind::pointer) given = all_given(i.type);
      break;
    case spv::OpExtInst:
      if (o(0) == m.glsl450 && o(1) == GLSLstd450PackDouble2x32) given = all_given(i.type);
      break;
    case spv::OpLoad:
      if (const auto at = frame().values.find(i.id); at != frame().values.end()) given = bits_of_memory(pointer(o(0)));
      break;
    case spv::OpCopyObject:
    case spv::OpCopyLogical:
      given = given_bits(o(0));
      break;
    case spv::OpCompositeConstruct:
      if (const auto parts = m.operands(i); std::all_of(parts.begin(), parts.end(), [&](uint32_t id) { return given_bits(id).empty(); }))
        break;
      for (const uint32_t part : m.operands(i)) {
        const std::vector<bool> bits = of(part);
        given.insert(given.end(), bits.begin(), bits.end());
      }
      break;
    case kOpCompositeConstructReplicate:
      if (const std::vector<bool>& part = given_bits(o(0)); !part.empty())
        while (given.size() < width(i.type)) given.insert(given.end(), part.begin(), part.end());
      break;
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert: {
      const bool insert = i.op == spv::OpCompositeInsert;
      const uint32_t whole = o(insert ? 1 : 0);
      if (given_bits(whole).empty() && !(insert && !given_bits(o(0)).empty())) break;
      uint32_t type = m.type_of(whole), offset = 0;
      for (uint32_t k = insert ? 2 : 1; k < i.count; ++k) {
        offset += part_offset(type, o(k));
        type = part_type(type, o(k));
      }
      given = of(whole);
      const uint32_t count = width(type);
      assert(offset + count <= given.size());
      if (insert) {
        const std::vector<bool> part = of(o(0));
        std::copy_n(part.begin(), std::min<size_t>(count, part.size()), given.begin() + offset);
      } else {
        given = {given.begin() + offset, given.begin() + offset + count};
      }
      break;
    }
    case spv::OpVectorShuffle: {
      if (given_bits(o(0)).empty() && given_bits(o(1)).empty()) break;
      std::vector<bool> both = of(o(0));
      const std::vector<bool> second = of(o(1));
      both.insert(both.end(), second.begin(), second.end());
      for (uint32_t k = 2; k < i.count; ++k) given.push_back(o(k) < both.size() && both[o(k)]);
      break;
    }
    default:
      break;
  }
  if (std::find(given.begin(), given.end(), true) != given.end())
    frame().given_bits[i.id] = std::move(given);
  else
    frame().given_bits.erase(i.id);
}

}  // namespace tilegpu::shader
