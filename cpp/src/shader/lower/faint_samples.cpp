// shader/lower/faint_samples.cpp -- see faint_samples.hpp: a walk through the only block, with what is known of each scalar.
#include "shader/lower/faint_samples.hpp"

#include <algorithm>
#include <cassert>

#include <tuple>
#include <unordered_map>

#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

/// A look-up and one of its components, by its place among those that were found.
struct Part {
  uint32_t sample, component;
  bool operator==(const Part&) const = default;
};

/// What is known of a number.
struct Scalar {
  std::vector<Part> factors;     // where one of them is 0, it is 0 or no number
  uint32_t input = 0, word = 0;  // an interpolated input as it is, and which of its components; 0: none
};
using Scalars = std::vector<Scalar>;

class Walk {
 public:
  explicit Walk(const Module& m) : m_(m) {}
  std::vector<FaintSample> run();

 private:
  uint32_t components(uint32_t type) const;
  Scalars value(uint32_t id) const;
  Scalars* variable(uint32_t pointer, uint32_t& word, bool& whole);
  void load(const Instruction& i);
  void store(const Instruction& i);
  void sample(const Instruction& i);
  void step(const Instruction& i);
  bool is_plain_input(uint32_t id) const;
  bool takes_pointers(const Instruction& i) const;

  const Module& m_;
  std::unordered_map<uint32_t, Scalars> values_, variables_;
  std::unordered_map<uint32_t, uint32_t> images_;  // loaded: their variables
  std::vector<FaintSample> found_;
};

/// Of floats and vectors of them; 0: of another type.
uint32_t Walk::components(uint32_t type) const {
  const TypeInfo& t = m_.type(type);
  if (t.kind == Kind::floating) return 1;
  return t.kind == Kind::vector && m_.type(t.element).kind == Kind::floating ? t.count : 0;
}

Scalars Walk::value(uint32_t id) const {
  const auto found = values_.find(id);
  return found != values_.end() ? found->second : Scalars(components(m_.type_of(id)));
}

/// Interpolated at the pixel's centre, as a coordinate may be.
bool Walk::is_plain_input(uint32_t id) const {
  const Decorations& d = m_.decoration(id);
  return m_.storage_of(id) == spv::StorageClassInput && d.location != kNone && d.builtin == kNone && !d.flat && !d.noperspective &&
         !d.centroid && !d.sample && !d.of_corners && !d.of_primitive;
}

/// Of floats: what is known of its components; `whole`, or one of them. Null: nothing is known.
Scalars* Walk::variable(uint32_t pointer, uint32_t& word, bool& whole) {
  whole = true, word = 0;
  const Instruction* at = m_.find(pointer);
  if (at && (at->op == spv::OpAccessChain || at->op == spv::OpInBoundsAccessChain)) {
    const Instruction* const index = at->count == 2 ? m_.find(m_.operand(*at, 1)) : nullptr;
    if (!index || index->op != spv::OpConstant || !components(m_.pointee(m_.operand(*at, 0)))) return nullptr;
    whole = false, word = m_.operand(*index, 0), pointer = m_.operand(*at, 0);
    at = m_.find(pointer);
  }
  if (!at || at->op != spv::OpVariable) return nullptr;
  const uint32_t count = components(m_.pointee(pointer));
  if (!count || word >= count) return nullptr;
  const auto [entry, made] = variables_.try_emplace(pointer, Scalars(count));
  if (made && is_plain_input(pointer))
    for (uint32_t k = 0; k < count; k++) entry->second[k].input = pointer, entry->second[k].word = k;
  return &entry->second;
}

void Walk::load(const Instruction& i) {
  const uint32_t pointer = m_.operand(i, 0);
  if (m_.type(i.type).kind == Kind::sampled_image) {
    const Instruction* const from = m_.find(pointer);
    if (from && from->op == spv::OpVariable) images_[i.id] = pointer;
    return;
  }
  uint32_t word;
  bool whole;
  const Scalars* const known = components(i.type) ? variable(pointer, word, whole) : nullptr;
  if (known) values_[i.id] = whole ? *known : Scalars{(*known)[word]};
}

/// Of parts of what is not a vector of floats nothing is ever known.
void Walk::store(const Instruction& i) {
  uint32_t word;
  bool whole;
  Scalars* const known = variable(m_.operand(i, 0), word, whole);
  if (!known) {  // some component, nobody knows which
    const auto changed = variables_.find(m_.origin_of(m_.operand(i, 0)));
    if (changed != variables_.end()) changed->second = Scalars(changed->second.size());
    return;
  }
  const Scalars now = value(m_.operand(i, 1));
  if (whole)
    *known = now;
  else
    (*known)[word] = now.empty() ? Scalar{} : now[0];
}

void Walk::sample(const Instruction& i) {
  const auto image = images_.find(m_.operand(i, 0));
  const Scalars at = value(m_.operand(i, 1));
  if (i.count != 2 || image == images_.end() || at.size() != 2 || !at[0].input || !at[1].input || components(i.type) != 4) return;
  const TypeInfo& type = m_.type(m_.type(m_.pointee(image->second)).element);
  if (type.kind != Kind::image || type.dim != spv::Dim2D || type.arrayed || type.multisampled) return;
  const Decorations& of = m_.decoration(image->second);
  FaintSample s;
  s.set = of.set == kNone ? 0 : of.set, s.binding = of.binding == kNone ? 0 : of.binding;
  for (uint32_t axis = 0; axis < 2; axis++) {
    const Decorations& input = m_.decoration(at[axis].input);
    s.location[axis] = input.location;
    s.word[axis] = (input.component == kNone ? 0 : input.component) + at[axis].word;
  }
  Scalars result(4);
  for (uint32_t c = 0; c < 4; c++) result[c].factors = {{static_cast<uint32_t>(found_.size()), c}};
  found_.push_back(s);
  values_[i.id] = std::move(result);
}

void Walk::step(const Instruction& i) {
  const auto all_of = [](Scalar a, const Scalar& b) {
    a.input = 0;
    for (const Part& part : b.factors)
      if (std::find(a.factors.begin(), a.factors.end(), part) == a.factors.end()) a.factors.push_back(part);
    return a;
  };
  const uint32_t count = i.id ? components(i.type) : 0;
  Scalars result(count);
  switch (i.op) {
    case spv::OpLoad:
      return load(i);
    case spv::OpStore:
      return store(i);
    case spv::OpImageSampleImplicitLod:
      return sample(i);
    case spv::OpCopyObject:
      result = value(m_.operand(i, 0));
      break;
    case spv::OpFMul: {
      const Scalars a = value(m_.operand(i, 0)), b = value(m_.operand(i, 1));
      for (uint32_t k = 0; k < count && k < a.size() && k < b.size(); k++) result[k] = all_of(a[k], b[k]);
      break;
    }
    case spv::OpVectorTimesScalar: {
      const Scalars a = value(m_.operand(i, 0)), b = value(m_.operand(i, 1));
      for (uint32_t k = 0; k < count && k < a.size() && !b.empty(); k++) result[k] = all_of(a[k], b[0]);
      break;
    }
    case spv::OpCompositeExtract: {
      const Scalars from = value(m_.operand(i, 0));
      if (i.count == 2 && count == 1 && m_.operand(i, 1) < from.size()) result = {from[m_.operand(i, 1)]};
      break;
    }
    case spv::OpCompositeConstruct: {
      Scalars parts;
      for (uint32_t id : m_.operands(i))
        for (Scalar& one : value(id)) parts.push_back(std::move(one));
      if (count && parts.size() == count) result = std::move(parts);
      break;
    }
    case spv::OpVectorShuffle: {
      Scalars both = value(m_.operand(i, 0));
      for (Scalar& one : value(m_.operand(i, 1))) both.push_back(std::move(one));
      for (uint32_t k = 0; k < count && k + 2 < i.count; k++)
        if (m_.operand(i, k + 2) < both.size()) result[k] = both[m_.operand(i, k + 2)];
      break;
    }
    default:
      break;  // of other results nothing is known
  }
  if (count && result.size() == count) values_[i.id] = std::move(result);
}

/// But for those that are looked at.
bool Walk::takes_pointers(const Instruction& i) const {
  if (i.op == spv::OpLoad || i.op == spv::OpStore || i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain) return false;
  return any_id(m_, i, [&](uint32_t id) { return m_.type(m_.type_of(id)).kind == Kind::pointer; });
}

std::vector<FaintSample> Walk::run() {
  const auto entry = m_.functions.find(m_.entry.function);
  if (m_.reachable.size() != 1 || entry == m_.functions.end() || entry->second.blocks.size() != 1) return {};
  const BasicBlock& block = entry->second.blocks.front();
  for (uint32_t k = block.first; k < block.end; ++k) {
    if (takes_pointers(m_.instructions[k])) return {};  // copies of memory, and what else might write a variable unseen
    step(m_.instructions[k]);
  }
  if (m_.instructions[block.terminator].op != spv::OpReturn) return {};
  std::vector<FaintSample> out;
  for (const auto& [id, scalars] : variables_) {
    const Decorations& d = m_.decoration(id);
    if (m_.storage_of(id) != spv::StorageClassOutput || d.location != 0 || d.index != 0 || d.builtin != kNone) continue;
    const uint32_t first = d.component == kNone ? 0 : d.component;
    for (uint32_t s = 0; s < found_.size(); s++)
      for (uint32_t c = 0; c < 4; c++) {
        uint32_t colors = 0;
        for (uint32_t k = 0; k < scalars.size() && first + k < 4; k++) {
          const std::vector<Part>& factors = scalars[k].factors;
          if (std::find(factors.begin(), factors.end(), Part{s, c}) != factors.end()) colors |= 1u << (first + k);
        }
        if (!colors) continue;
        FaintSample one = found_[s];
        one.component = c, one.colors = colors;
        out.push_back(one);
      }
  }
  // Several variables may have parts of the colour: one entry for what one look-up's component decides, in a fixed order.
  std::sort(out.begin(), out.end(), [](const FaintSample& a, const FaintSample& b) {
    return std::tie(a.set, a.binding, a.location, a.word, a.component, a.colors) <
           std::tie(b.set, b.binding, b.location, b.word, b.component, b.colors);
  });
  return out;
}

}  // namespace

std::vector<FaintSample> find_faint_samples(const Module& m) { return Walk(m).run(); }

Expected<FaintSamples> faint_samples(const ShaderModule& module, const Specialization& specialization) {
  // No constant has a part in it; errors of specialisation were said before.
  return known_or(module.facts(), &ModuleFacts::faint, specialization, [&]() -> Expected<FaintSamples> {
    Expected<Constants> constants = specialise(module, specialization);  // parses the module, if need be
    if (!constants) return constants.error();
    return FaintSamples{find_faint_samples(module.module())};
  });
}

}  // namespace tilegpu::shader
