// pipeline/stage_interface.cpp -- stage: pipeline creation. In: two neighbouring stages. Out: the interface between them, or what the
// second reads and the first does not write, or writes as numbers of another kind. Components that the first leaves out of a location
// that it writes are 0. Source: Vulkan specification, "Interface Matching".
#include <algorithm>
#include <cassert>

#include "pipeline/program.hpp"

namespace tilegpu::pipeline {

namespace {

std::string names_of(const std::vector<ReflectedVariable>& variables) {
  std::string text;
  for (const ReflectedVariable& v : variables)
    text += (text.empty() ? "" : ", ") + (v.name.empty() ? "?" : v.name) + " (location " + std::to_string(v.location) + ")";
  return text.empty() ? "none" : text;
}

// One number of an interface, by place.
struct Number {
  uint32_t location, component;
  ReflectedType::Base base;
};

// Numbers of 64 bits take two components, and their vectors go on in the next location.
void list_numbers(const ReflectedType& type, uint32_t location, uint32_t component, std::vector<Number>& numbers) {
  using Kind = ReflectedType::Kind;
  if (type.kind == Kind::array || type.kind == Kind::structure) {
    const size_t parts = type.kind == Kind::array ? type.array_length : type.members.size();
    for (size_t k = 0; k < parts && !type.members.empty(); k++) {
      const ReflectedType& part = type.members[type.kind == Kind::array ? 0 : k].type;
      list_numbers(part, location, component, numbers);
      location += locations_of(part);
    }
    return;
  }
  const uint32_t columns = type.kind == Kind::matrix ? type.columns : 1, words = base_size_B(type.base) > 4 ? 2 : 1;
  for (uint32_t column = 0; column < columns; column++, location += locations_of(type) / columns)
    for (uint32_t row = 0; row < type.rows; row++) {
      const uint32_t word = component + row * words;
      numbers.push_back({location + word / 4, word % 4, type.base});
    }
}

// Signed and unsigned integers are the same bits, which the specification would not ask for.
bool same_kind(ReflectedType::Base a, ReflectedType::Base b) {
  using Base = ReflectedType::Base;
  const auto unsigned_of = [](Base base) {
    return base == Base::i16 ? Base::u16 : base == Base::i32 ? Base::u32 : base == Base::i64 ? Base::u64 : base;
  };
  return unsigned_of(a) == unsigned_of(b);
}

// The output whose numbers at a place of the input are of another kind, or null.
const ReflectedVariable* of_another_kind(const ReflectedVariable& input, const std::vector<ReflectedVariable>& outputs) {
  std::vector<Number> wanted, there;
  list_numbers(input.type, input.location, input.component, wanted);
  for (const ReflectedVariable& output : outputs) {
    if (output.patch != input.patch) continue;
    there.clear();
    list_numbers(output.type, output.location, output.component, there);
    for (const Number& number : wanted)
      for (const Number& other : there)
        if (other.location == number.location && other.component == number.component && !same_kind(number.base, other.base)) return &output;
  }
  return nullptr;
}

}  // namespace

Expected<StageInterface> connect(const Stage& writer, const Stage& reader) {
  assert(writer.reflection && reader.reflection && writer.stage != reader.stage);
  const auto& outputs = writer.reflection->outputs;
  for (const ReflectedVariable& input : reader.reflection->inputs) {
    if (!input.used) continue;
    const uint32_t count = locations_of(input.type);
    for (uint32_t l = input.location; l < input.location + count; l++) {
      const bool fed = std::any_of(outputs.begin(), outputs.end(), [&](const ReflectedVariable& o) {
        return o.patch == input.patch && l >= o.location && l < o.location + locations_of(o.type);
      });
      if (!fed)
        return Error{VK_ERROR_INITIALIZATION_FAILED, std::string("the ") + stage_name(reader.stage) + " shader reads '" + input.name +
                                                         "' (location " + std::to_string(l) + "), which the " + stage_name(writer.stage) +
                                                         " shader does not write; it writes " + names_of(outputs)};
    }
    for (const ReflectedVariable& output : outputs)
      if (output.location == input.location && output.component == input.component && output.primitive != input.primitive)
        return Error{VK_ERROR_INITIALIZATION_FAILED,
                     std::string("the ") + stage_name(reader.stage) + " shader reads '" + input.name + "' (location " +
                         std::to_string(input.location) + ") for each " + (input.primitive ? "primitive" : "vertex") + ", and the " +
                         stage_name(writer.stage) + " shader writes '" + output.name + "' for each " +
                         (output.primitive ? "primitive" : "vertex") + "; declare perprimitiveEXT in both, or in none"};
    if (const ReflectedVariable* output = of_another_kind(input, outputs))
      return Error{VK_ERROR_INITIALIZATION_FAILED, std::string("the ") + stage_name(reader.stage) + " shader reads '" + input.name +
                                                       "' (location " + std::to_string(input.location) + ") as " + type_name(input.type) +
                                                       ", which the " + stage_name(writer.stage) + " shader writes as " +
                                                       type_name(output->type) + " '" + output->name + "'; declare numbers of one kind"};
  }
  auto layout = shader::varying_layout(*reader.module, reader.specialization);
  if (!layout) return layout.error();
  return StageInterface{writer.stage, reader.stage, std::move(*layout)};
}

}  // namespace tilegpu::pipeline
