// pipeline/vertex_fields.cpp -- see vertex_fields.hpp.
#include "pipeline/vertex_fields.hpp"

#include <algorithm>

#include "vk/format.hpp"

namespace tilegpu::pipeline {

namespace {

Error invalid(const std::string& text) { return {VK_ERROR_VALIDATION_FAILED_EXT, text}; }

std::string tuple_text(const std::vector<uint32_t>& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); k++) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// UNDEFINED: Vulkan has none, or converts otherwise than the shader asks.
VkFormat format_of(const VertexField& field, uint32_t components, ReflectedType::Base base) {
  const bool floats = field.kind == 'f', to_float = base == ReflectedType::Base::f32, is_signed = field.kind == 'i';
  if (floats ? !to_float : field.kind != 'i' && field.kind != 'u' && field.kind != 'b') return VK_FORMAT_UNDEFINED;
  if (field.size_B > (floats || !to_float ? 4 : 2)) return VK_FORMAT_UNDEFINED;
  std::string name;
  for (uint32_t c = 0; c < components; c++) name += "rgba"[c] + std::to_string(8 * field.size_B);
  name += floats ? "_sfloat" : to_float ? (is_signed ? "_snorm" : "_unorm") : (is_signed ? "_sint" : "_uint");
  const vk::FormatInfo* info = vk::find_format(name);
  return info ? info->format : VK_FORMAT_UNDEFINED;
}

struct Matcher {
  const std::vector<VertexField>& fields;
  const std::string& who;
  const std::function<std::string(size_t)>& type_of;
  VertexMatch match;

  std::string name_of(size_t k, const ReflectedVariable& input) const { return fields[k].name.empty() ? input.name : fields[k].name; }

  /// Why format_of() found none.
  Error no_format(size_t k, const ReflectedVariable& input) const {
    const VertexField& f = fields[k];
    const std::string where = who + ": vertex field '" + name_of(k, input) + "' of dtype " + type_of(k);
    const bool integers = f.kind == 'i' || f.kind == 'u' || f.kind == 'b', to_float = input.type.base == ReflectedType::Base::f32;
    if (f.kind == 'f' && f.size_B == 8) return invalid(where + ": 64-bit floats can't be vertex data; use 'f4' (array.astype)");
    if (integers && to_float && f.size_B == 4)
      return invalid(where + ": the shader's '" + input.name +
                     "' is a float, and 32-bit integers can't be converted to it; use 'f4', or declare an int in the shader");
    if (integers && f.size_B == 8) return invalid(where + ": 64-bit integers can't be vertex data; use 'i4' or 'u4' (array.astype)");
    if (f.kind == 'f' && !to_float)
      return invalid(where + ": the shader's '" + input.name + "' is " + type_name(input.type) + "; use an integer field");
    return invalid(where + " can't be vertex data; use 'f4', 'f2', 'i1' to 'i4' or 'u1' to 'u4'");
  }

  Status add(size_t k, const ReflectedVariable& input) {
    using Kind = ReflectedType::Kind;
    const VertexField& f = fields[k];
    const auto wrong = [&](const std::string& text) {
      return invalid(who + ": vertex field '" + name_of(k, input) + "' of shape " + (f.shape.empty() ? "()" : tuple_text(f.shape)) +
                     ": the shader's '" + input.name + "' is " + text);
    };
    const uint32_t rows = input.type.rows, columns = input.type.kind == Kind::matrix ? input.type.columns : 1;
    uint32_t components = f.shape.empty() ? 1 : f.shape[0];
    if (input.type.kind == Kind::array) return wrong("an array; describe it with tilegpu.VertexBinding");
    if (input.type.kind == Kind::matrix) {
      const std::vector<uint32_t> wanted = {rows, columns};
      if (f.shape != wanted) return wrong(type_name(input.type) + ", which takes a field of shape " + tuple_text(wanted));
      components = rows;
    } else if (f.shape.size() > 1) {
      return wrong(type_name(input.type) + ", which takes a field of shape " + tuple_text({rows}));
    } else if (components < 1 || components > 4) {
      return wrong(type_name(input.type) + "; 1 to 4 components are allowed");
    }
    const VkFormat format = format_of(f, components, input.type.base);
    if (format == VK_FORMAT_UNDEFINED) return no_format(k, input);
    for (uint32_t column = 0; column < columns; column++)
      match.attributes.push_back({input.location + column, f.binding, format, f.offset_B + column * rows * f.size_B});
    return Ok{};
  }
};

}  // namespace

Expected<VertexMatch> match_vertex_fields(const std::vector<VertexField>& fields, const std::vector<ReflectedVariable>& inputs,
                                          const std::vector<uint32_t>& locations, bool has_bindings, const std::string& who,
                                          const std::function<std::string(size_t)>& type_of) {
  std::vector<const ReflectedVariable*> wanted;
  for (const ReflectedVariable& input : inputs)
    if (std::find(locations.begin(), locations.end(), input.location) == locations.end()) wanted.push_back(&input);
  std::vector<const ReflectedVariable*> feeds(fields.size(), nullptr);
  bool by_name = false;
  for (size_t k = 0; k < fields.size(); k++) {
    for (const ReflectedVariable* input : wanted)
      if (!input->name.empty() && input->name == fields[k].name) feeds[k] = input, by_name = true;
  }
  for (size_t k = 0; !by_name && k < std::min(fields.size(), wanted.size()); k++) feeds[k] = wanted[k];

  Matcher matcher{fields, who, type_of, {}};
  std::vector<std::string> idle;
  for (size_t k = 0; k < fields.size(); k++) {
    if (!feeds[k]) {
      matcher.match.unused.push_back(fields[k].name.empty() ? "field " + std::to_string(k) : fields[k].name);
    } else if (!feeds[k]->used) {
      if (!fields[k].name.empty()) idle.push_back(fields[k].name);
    } else if (Status added = matcher.add(k, *feeds[k]); !added) {
      return added.error();
    }
  }
  for (const ReflectedVariable* input : wanted) {
    const auto same_place = [&](const ReflectedVariable* fed) { return fed && fed->location == input->location; };
    if (!input->used || std::any_of(feeds.begin(), feeds.end(), same_place)) continue;
    const std::string text = who + ": the vertex shader reads '" + input->name + "' (" + type_name(input->type) + ", location " +
                             std::to_string(input->location) + "), ";
    if (!has_bindings) return invalid(text + "but no vertex= was given; give the dtype of the vertex array");
    std::string left;
    for (const std::string& name : matcher.match.unused) left += (left.empty() ? "" : ", ") + name;
    return invalid(text + "but no field of vertex= feeds it; fields left are: " + (left.empty() ? "none" : left));
  }
  matcher.match.unused.insert(matcher.match.unused.end(), idle.begin(), idle.end());
  return std::move(matcher.match);
}

}  // namespace tilegpu::pipeline
