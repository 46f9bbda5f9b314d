// shader/lower/faint_samples.cpp -- see faint_samples.hpp: a walk from the first block on, as far as branches are known, with what is
// known of each scalar; once to find look-ups, then under the assumption that one component of one of them is small.
#include "shader/lower/faint_samples.hpp"

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>
#include <unordered_map>

#include "shader/lower/value_range.hpp"
#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

/// A look-up and one of its components, by its place among those that were found.
struct Part {
  uint32_t sample, component;
  bool operator==(const Part&) const = default;
};

/// What is known of a number, or of a truth (0 or 1).
struct Scalar {
  std::vector<Part> factors;     // where one of them is 0, it is 0 or no number
  uint32_t input = 0, word = 0;  // an interpolated input as it is, and which of its components; 0: none
  Range range;
};
using Scalars = std::vector<Scalar>;

bool is_derivative(spv::Op op) { return op >= spv::OpDPdx && op <= spv::OpFwidthCoarse; }

/// Look-ups that are tried and that are told apart, blocks and instructions that are walked through: a shader is walked some hundred times.
constexpr uint32_t kMostSamples = 4, kMostFound = 16, kMostBlocks = 64, kMostInstructions = 2000;

class Walk {
 public:
  Walk(const Module& m, const Constants& constants) : m_(m), constants_(constants) {}
  std::vector<FaintSample> run();

 private:
  enum class End { kept, gone, unknown };
  End walk();
  End block(const BasicBlock& block, uint32_t& next);
  void add_products(std::vector<FaintSample>& out) const;
  void add_bounded(Part part, std::vector<FaintSample>& out);
  bool has_no_alpha() const;
  uint32_t components(uint32_t type) const;
  bool has_ranges(uint32_t type) const;
  Range range(uint32_t id, uint32_t k = 0) const;
  Range range_of(const Instruction& i, uint32_t k) const;
  Range range_of_call(const Instruction& i, uint32_t k) const;
  void join(const Instruction& i);
  Scalars value(uint32_t id) const;
  Scalars* variable(uint32_t pointer, uint32_t& word, bool& whole);
  void load(const Instruction& i);
  void store(const Instruction& i);
  void sample(const Instruction& i);
  void step(const Instruction& i);
  bool is_plain_input(uint32_t id) const;
  bool takes_pointers(const Instruction& i) const;

  const Module& m_;
  const Constants& constants_;
  // Assumed: the component of the look-up is between 0 and this.
  Part assumed_{kNone, 0};
  double most_ = 0;
  // Of one walk.
  std::unordered_map<uint32_t, Scalars> values_, variables_;
  std::unordered_map<uint32_t, uint32_t> images_;  // loaded: their variables
  std::vector<FaintSample> found_;
  uint32_t label_ = 0, label_before_ = 0, walked_ = 0;  // instructions
  bool neighbours_ = false;                             // some range is known by what lanes beside it have
};

/// Of floats and vectors of them, and of Booleans; 0: of another type.
uint32_t Walk::components(uint32_t type) const {
  const TypeInfo& t = m_.type(type);
  if (t.kind == Kind::floating || t.kind == Kind::boolean) return 1;
  return t.kind == Kind::vector && m_.type(t.element).kind == Kind::floating ? t.count : 0;
}

/// Those that round as value_range.hpp says.
bool Walk::has_ranges(uint32_t type) const {
  const TypeInfo& t = m_.type(type);
  return t.kind == Kind::boolean || (t.kind == Kind::vector ? m_.type(t.element) : t).width_bits == 32;
}

Scalars Walk::value(uint32_t id) const {
  const auto found = values_.find(id);
  if (found != values_.end()) return found->second;
  const uint32_t type = m_.type_of(id), count = components(type);
  Scalars result(count);
  const Constant* const constant = constants_.find(id);
  for (uint32_t k = 0; constant && has_ranges(type) && k < count && k < constant->words.size(); k++) {
    const auto word = static_cast<uint32_t>(constant->words[k]);
    if (m_.type(type).kind == Kind::boolean)
      result[k].range = truth(word);
    else if (const double number = std::bit_cast<float>(word); std::isfinite(number))
      result[k].range = between(number, number);
  }
  return result;
}

Range Walk::range(uint32_t id, uint32_t k) const {
  const Scalars known = value(id);
  return k < known.size() ? known[k].range : Range{};
}

Range Walk::range_of_call(const Instruction& i, uint32_t k) const {
  if (m_.operand(i, 0) != m_.glsl450) return {};
  const auto of = [&](uint32_t n) { return range(m_.operand(i, n + 2), k); };
  switch (m_.operand(i, 1)) {
    case GLSLstd450FAbs:
      return magnitude(of(0));
    case GLSLstd450FMin:
    case GLSLstd450NMin:
      return least(of(0), of(1));
    case GLSLstd450FMax:
    case GLSLstd450NMax:
      return greatest(of(0), of(1));
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
      return least(greatest(of(0), of(1)), of(2));
    case GLSLstd450Step:
      return negation(less(of(1), of(0)));
    case GLSLstd450SmoothStep:
      return smooth_step(of(0), of(1), of(2));
    default:
      return {};
  }
}

/// Of component k of a result.
Range Walk::range_of(const Instruction& i, uint32_t k) const {
  const auto of = [&](uint32_t n) { return range(m_.operand(i, n), k); };
  switch (i.op) {
    case spv::OpFNegate:
      return negated(of(0));
    case spv::OpFAdd:
      return sum(of(0), of(1));
    case spv::OpFSub:
      return difference(of(0), of(1));
    case spv::OpFMul:
      return product(of(0), of(1));
    case spv::OpVectorTimesScalar:
      return product(of(0), range(m_.operand(i, 1)));
    case spv::OpFDiv:
      return quotient(of(0), of(1));
    case spv::OpExtInst:
      return range_of_call(i, k);
    case spv::OpDPdx:
    case spv::OpDPdy:
    case spv::OpDPdxFine:
    case spv::OpDPdyFine:
    case spv::OpDPdxCoarse:
    case spv::OpDPdyCoarse:
      return slope(of(0));
    case spv::OpFwidth:
    case spv::OpFwidthFine:
    case spv::OpFwidthCoarse:
      return sum(magnitude(slope(of(0))), magnitude(slope(of(0))));
    case spv::OpFOrdLessThan:
    case spv::OpFUnordLessThan:
      return less(of(0), of(1));
    case spv::OpFOrdGreaterThan:
    case spv::OpFUnordGreaterThan:
      return less(of(1), of(0));
    case spv::OpFOrdLessThanEqual:
    case spv::OpFUnordLessThanEqual:
      return negation(less(of(1), of(0)));
    case spv::OpFOrdGreaterThanEqual:
    case spv::OpFUnordGreaterThanEqual:
      return negation(less(of(0), of(1)));
    case spv::OpLogicalNot:
      return negation(of(0));
    case spv::OpLogicalAnd:
      return conjunction(of(0), of(1));
    case spv::OpLogicalOr:
      return disjunction(of(0), of(1));
    case spv::OpSelect: {
      const Range which = range(m_.operand(i, 0));
      if (m_.type(m_.type_of(m_.operand(i, 0))).kind != Kind::boolean || !which.known) return {};
      return of(is_true(which) ? 1 : 2);
    }
    default:
      return {};
  }
}

/// A phi takes what came from the block before. Blocks are walked once, so no phi of the same block is among what it takes.
void Walk::join(const Instruction& i) {
  for (uint32_t k = 0; k + 1 < i.count; k += 2)
    if (m_.operand(i, k + 1) == label_before_ && components(i.type)) values_[i.id] = value(m_.operand(i, k));
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
  if (found_.size() == kMostFound || i.count != 2 || image == images_.end() || at.size() != 2 || !at[0].input || !at[1].input ||
      components(i.type) != 4)
    return;
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
  for (uint32_t c = 0; c < 4; c++) {
    const Part part{static_cast<uint32_t>(found_.size()), c};
    result[c].factors = {part};
    if (part == assumed_ && has_ranges(i.type)) result[c].range = between(0, most_);
  }
  found_.push_back(s);
  values_[i.id] = std::move(result);
}

void Walk::step(const Instruction& i) {
  const auto all_of = [](Scalar a, const Scalar& b) {
    a.input = 0, a.range = {};
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
    case spv::OpPhi:
      return join(i);
    default:
      break;  // of other results nothing but their range is known
  }
  if (!count || result.size() != count) return;
  for (uint32_t k = 0; k < count && has_ranges(i.type); k++)
    if (const Range known = range_of(i, k); known.known) result[k].range = known, neighbours_ |= is_derivative(i.op);
  values_[i.id] = std::move(result);
}

/// But for those that are looked at.
bool Walk::takes_pointers(const Instruction& i) const {
  if (i.op == spv::OpLoad || i.op == spv::OpStore || i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain) return false;
  return any_id(m_, i, [&](uint32_t id) { return m_.type(m_.type_of(id)).kind == Kind::pointer; });
}

/// One block, and which label follows. Nothing that a known branch passes by is looked at.
Walk::End Walk::block(const BasicBlock& block, uint32_t& next) {
  for (uint32_t k = block.first; k < block.terminator; ++k) {
    const Instruction& i = m_.instructions[k];
    if (++walked_ > kMostInstructions) return End::unknown;
    if (takes_pointers(i)) return End::unknown;  // copies of memory, and what else might write a variable unseen
    if (i.op == spv::OpDemoteToHelperInvocation) return End::gone;
    step(i);
  }
  const Instruction& last = m_.instructions[block.terminator];
  switch (last.op) {
    case spv::OpReturn:
      return End::kept;
    case spv::OpKill:
    case spv::OpTerminateInvocation:
      return End::gone;
    case spv::OpBranch:
      next = m_.operand(last, 0);
      return End::unknown;
    case spv::OpBranchConditional:
      if (const Range which = range(m_.operand(last, 0)); which.known) next = m_.operand(last, is_true(which) ? 1 : 2);
      return End::unknown;
    default:
      return End::unknown;
  }
}

Walk::End Walk::walk() {
  values_.clear(), variables_.clear(), images_.clear(), found_.clear();
  neighbours_ = false, label_ = label_before_ = walked_ = 0;
  const Function& entry = m_.functions.at(m_.entry.function);
  const BasicBlock* at = &entry.blocks.front();
  std::vector<uint32_t> passed;
  while (passed.size() < kMostBlocks) {
    uint32_t next = 0;
    label_before_ = label_, label_ = at->label;
    // A loop's second turn: what is known of a result would be its last turn's.
    if (std::find(passed.begin(), passed.end(), label_) != passed.end()) return End::unknown;
    passed.push_back(label_);
    const End end = block(*at, next);
    if (end != End::unknown || !next) return end;
    const auto found = entry.block_of_label.find(next);
    if (found == entry.block_of_label.end()) return End::unknown;
    at = &entry.blocks[found->second];
  }
  return End::unknown;
}

bool is_colour(const Module& m, uint32_t id) {
  const Decorations& d = m.decoration(id);
  return m.storage_of(id) == spv::StorageClassOutput && d.location == 0 && d.index == 0 && d.builtin == kNone;
}
uint32_t first_component(const Module& m, uint32_t id) {
  const uint32_t component = m.decoration(id).component;
  return component == kNone ? 0 : component;
}

/// Behind a walk to the end.
void Walk::add_products(std::vector<FaintSample>& out) const {
  for (const auto& [id, scalars] : variables_) {
    if (!is_colour(m_, id)) continue;
    const uint32_t first = first_component(m_, id);
    for (uint32_t s = 0; s < found_.size(); s++)
      for (uint32_t c = 0; c < 4; c++) {
        uint32_t colors = 0;
        for (uint32_t k = 0; k < scalars.size() && first + k < 4; k++) {
          const std::vector<Part>& factors = scalars[k].factors;
          if (std::find(factors.begin(), factors.end(), Part{s, c}) != factors.end()) colors |= 1u << (first + k);
        }
        if (!colors) continue;
        FaintSample one = found_[s];
        one.component = static_cast<uint8_t>(c), one.colors = static_cast<uint8_t>(colors);
        out.push_back(one);
      }
  }
}

bool Walk::has_no_alpha() const {
  return std::any_of(variables_.begin(), variables_.end(), [&](const auto& variable) {
    const auto& [id, scalars] = variable;
    if (!is_colour(m_, id)) return false;
    const uint32_t first = first_component(m_, id);
    if (first > 3 || 3 - first >= scalars.size()) return false;
    const Range& alpha = scalars[3 - first].range;
    return alpha.known && alpha.hi < kNoAlpha;
  });
}

/// The largest codes of 8 bits for which the fragment is discarded, or its alpha nothing. A filter may round up, by less than a code.
void Walk::add_bounded(Part part, std::vector<FaintSample>& out) {
  assumed_ = part;
  const auto becomes = [&](uint32_t code) {
    most_ = code ? (code + 1) / 255.0 : 0;
    const End end = walk();
    return end == End::gone ? Faint::gone : end == End::kept && has_no_alpha() ? Faint::no_alpha : Faint::colors;
  };
  if (const Faint of = becomes(0); of != Faint::colors) {
    uint32_t low = 0, high = 254;  // the more is assumed to be possible, the less is known
    while (low < high) {
      const uint32_t middle = (low + high + 1) / 2;
      if (becomes(middle) == of)
        low = middle;
      else
        high = middle - 1;
    }
    becomes(low);
    FaintSample one = found_[part.sample];
    one.component = static_cast<uint8_t>(part.component), one.most = static_cast<uint8_t>(low), one.becomes = of,
    one.neighbours = neighbours_;
    out.push_back(one);
  }
  assumed_ = {kNone, 0};
}

std::vector<FaintSample> Walk::run() {
  const auto entry = m_.functions.find(m_.entry.function);
  if (m_.reachable.size() != 1 || entry == m_.functions.end() || entry->second.blocks.empty()) return {};
  const End end = walk();
  std::vector<FaintSample> out;
  if (end == End::gone) return out;
  if (end == End::kept) add_products(out);
  const auto count = static_cast<uint32_t>(std::min(found_.size(), size_t{kMostSamples}));
  for (uint32_t s = 0; s < count; s++)
    for (uint32_t c = 0; c < 4; c++) add_bounded({s, c}, out);
  // Several variables may have parts of the colour: one entry for what one look-up's component decides, in a fixed order; of those that
  // decide the same, the one first that takes most texels.
  const auto key = [](const FaintSample& of) {
    return std::tuple(of.becomes, 255 - of.most, of.set, of.binding, of.location, of.word, of.component, of.colors);
  };
  std::sort(out.begin(), out.end(), [&](const FaintSample& a, const FaintSample& b) { return key(a) < key(b); });
  return out;
}

}  // namespace

std::vector<FaintSample> find_faint_samples(const Module& m, const Constants& constants) { return Walk(m, constants).run(); }

Expected<FaintSamples> faint_samples(const ShaderModule& module, const Specialization& specialization) {
  // Errors of specialisation were said before.
  return known_or(module.facts(), &ModuleFacts::faint, specialization, [&]() -> Expected<FaintSamples> {
    Expected<Constants> constants = specialise(module, specialization);  // parses the module, if need be
    if (!constants) return constants.error();
    return FaintSamples{find_faint_samples(module.module(), *constants)};
  });
}

}  // namespace tilegpu::shader
