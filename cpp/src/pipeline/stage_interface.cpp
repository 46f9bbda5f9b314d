// pipeline/stage_interface.cpp -- stage: pipeline creation. In: two neighbouring stages. Out: the interface between them, or what the
// second reads and the first does not write. Source: Vulkan specification, "Interface Matching".
#include <algorithm>

#include "pipeline/program.hpp"

namespace tilegpu::pipeline {

namespace {

std::string names_of(const std::vector<ReflectedVariable>& variables) {
  std::string text;
  for (const ReflectedVariable& v : variables)
    text += (text.empty() ? "" : ", ") + (v.name.empty() ? "?" : v.name) + " (location " + std::to_string(v.location) + ")";
  return text.empty() ? "none" : text;
}

}  // namespace

uint32_t locations_of(const ReflectedType& type) {
  if (type.kind == ReflectedType::Kind::array) return type.members.empty() ? 1 : type.array_length * locations_of(type.members[0].type);
  if (type.kind == ReflectedType::Kind::structure) {
    uint32_t n = 0;
    for (const auto& member : type.members) n += locations_of(member.type);
    return n;
  }
  const uint32_t of_vector = base_size_B(type.base) * type.rows > 16 ? 2 : 1;
  return type.kind == ReflectedType::Kind::matrix ? type.columns * of_vector : of_vector;
}

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
  }
  auto layout = shader::varying_layout(*reader.module, reader.specialization);
  if (!layout) return layout.error();
  return StageInterface{writer.stage, reader.stage, std::move(*layout)};
}

}  // namespace tilegpu::pipeline
