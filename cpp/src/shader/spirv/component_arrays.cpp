// shader/spirv/component_arrays.cpp -- see component_arrays.hpp.
#include "shader/spirv/component_arrays.hpp"

#include <cassert>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "shader/spirv/interface.hpp"
#include "shader/spirv/words.hpp"

namespace tilegpu::shader {
namespace {

using Words = std::span<const uint32_t>;

/// What the decorations of one module are of. Words of strangers: ids may be of anything, and be declared twice.
struct Types {
  std::map<uint32_t, Words> types, variables;

  void note(Words i) {
    const spv::Op op = op_of(i);
    const bool of_part = op == spv::OpTypeVector || op == spv::OpTypePointer;  // words: id, part or storage class, count or part
    const bool scalar = op == spv::OpTypeInt || op == spv::OpTypeFloat, array = op == spv::OpTypeArray;
    if ((scalar && i.size() > 2) || ((of_part || array) && i.size() == 4)) types[i[1]] = i;
    if (op == spv::OpVariable && i.size() > 3) variables[i[2]] = i;
  }
  const Words* find(uint32_t id, spv::Op op) const {
    const auto found = types.find(id);
    return found != types.end() && op_of(found->second) == op ? &found->second : nullptr;
  }
  /// Whether the variable is an array of arrays of what fits a location from this component on.
  bool fits(uint32_t id, uint32_t component) const {
    const auto variable = variables.find(id);
    const Words* const pointer = variable != variables.end() ? find(variable->second[1], spv::OpTypePointer) : nullptr;
    if (!pointer) return false;
    const uint32_t storage = (*pointer)[2];
    if (storage != spv::StorageClassInput && storage != spv::StorageClassOutput) return false;
    uint32_t arrays = 0, type = (*pointer)[3];
    for (const Words* array = nullptr; arrays < 8 && (array = find(type, spv::OpTypeArray)); ++arrays) type = (*array)[2];
    uint32_t count = 1;
    if (const Words* const vector = find(type, spv::OpTypeVector)) type = (*vector)[2], count = (*vector)[3];
    const Words* const integer = find(type, spv::OpTypeInt);
    const Words* const scalar = integer ? integer : find(type, spv::OpTypeFloat);
    if (!scalar || arrays < 2 || count > 4 || component > 3) return false;
    const bool wide = (*scalar)[2] == 64;
    return component + count * (wide ? 2 : 1) <= 4 && !(wide && component % 2);
  }
};

/// Of a variable; other instructions: nothing.
std::optional<uint32_t> decoration_of(Words i, spv::Decoration which) {
  if (op_of(i) != spv::OpDecorate || i.size() != 4 || i[2] != static_cast<uint32_t>(which)) return std::nullopt;
  return i[3];
}

constexpr uint32_t kNoComponent = 4;
constexpr uint32_t kFirstFree = 1024, kStep = 64, kMostHidden = 32;  // locations behind all that there are; the validator counts to 4,095

}  // namespace

std::vector<uint32_t> without_array_components(const std::vector<uint32_t>& words) {
  std::map<uint32_t, uint32_t> components;  // by variable
  Types types;
  each_instruction(words, [&](Words i) {
    if (const auto component = decoration_of(i, spv::DecorationComponent)) {
      const auto [of, is_first] = components.emplace(i[1], *component);
      if (!is_first) of->second = kNoComponent;  // the validator says that there are two
    }
    if (!components.empty()) types.note(i);  // decorations come before types
    return op_of(i) != spv::OpFunction;
  });
  std::erase_if(components, [&](const auto& of) { return !types.fits(of.first, of.second); });
  if (components.empty() || components.size() > kMostHidden) return words;
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeader_words);
  const bool whole = each_instruction(words, [&](Words i) {
    const auto hidden = i.size() > 1 ? components.find(i[1]) : components.end();
    if (hidden != components.end() && decoration_of(i, spv::DecorationComponent)) return true;
    out.insert(out.end(), i.begin(), i.end());
    if (hidden != components.end() && decoration_of(i, spv::DecorationLocation))
      out.back() = kFirstFree + kStep * static_cast<uint32_t>(std::distance(components.begin(), hidden));
    return true;
  });
  return whole ? out : words;  // the validator says what is wrong
}

std::string check_shared_places(const Module& m, const Constants& constants) {
  assert(m.entry.function != 0);
  for (const spv::StorageClass storage : {spv::StorageClassInput, spv::StorageClassOutput}) {
    if (m.entry.model == spv::ExecutionModelFragment && storage == spv::StorageClassOutput) continue;  // two sources share a place
    std::set<std::pair<uint32_t, uint32_t>> taken;
    for (const uint32_t id : used_variables(m, storage))
      for (const InterfaceScalar& s : interface_of(m, constants, id))
        if (s.builtin == kNone && !taken.insert({s.location, s.component}).second)
          return std::string(storage == spv::StorageClassInput ? "input" : "output") + " location " + std::to_string(s.location) +
                 ", component " + std::to_string(s.component) + " is of two variables";
  }
  return {};
}

}  // namespace tilegpu::shader
