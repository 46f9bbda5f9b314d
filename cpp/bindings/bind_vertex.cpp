// bindings/bind_vertex.cpp -- vertex input by name: the fields of NumPy dtypes to Vulkan's attributes.
//
// In: dtypes and the vertex shader's reflection. Out: attributes; or what does not fit, and what
// would. A part of the front end (python/tilegpu/vertex.py) that is here because every pipeline waits for it. Source: Vulkan specification,
// "Vertex Input Description"; the matching is our own: by name, or by order = location where
// the fields (or the inputs) have no names of their own; NumPy's f0, f1, ... are none. Names of which none matches are an error.
#include <algorithm>
#include <functional>

#include "bindings.hpp"
#include "tilegpu/format.hpp"

namespace tilegpu::bindings {
namespace {

struct VertexField {
  uint32_t binding = 0;
  std::string name;     // "": the data has no fields
  char kind = 'f';      // NumPy's: f, i, u or b; anything else can't be vertex data
  uint32_t size_B = 0;  // of a component
  std::vector<uint32_t> shape;
  uint32_t offset_B = 0;
};

struct VertexMatch {
  std::vector<VkVertexInputAttributeDescription> attributes;
};

Error invalid(const std::string& text) { return {VK_ERROR_VALIDATION_FAILED_EXT, text}; }

std::string tuple_text(const std::vector<uint32_t>& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); k++) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool reads_floats(ReflectedType::Base base) {
  return base == ReflectedType::Base::f32 || base == ReflectedType::Base::f16 || base == ReflectedType::Base::f64;
}

/// UNDEFINED: Vulkan has none, or converts otherwise than the shader asks.
VkFormat format_of(const VertexField& field, uint32_t components, ReflectedType::Base base) {
  const bool floats = field.kind == 'f', to_float = reads_floats(base), is_signed = field.kind == 'i';
  if (floats ? !to_float : field.kind != 'i' && field.kind != 'u' && field.kind != 'b') return VK_FORMAT_UNDEFINED;
  if (base_size_B(base) == 8 ? field.size_B != 8 || floats != to_float : field.size_B > (floats || !to_float ? 4 : 2))
    return VK_FORMAT_UNDEFINED;
  std::string name;
  for (uint32_t c = 0; c < components; c++) name += "rgba"[c] + std::to_string(8 * field.size_B);
  name += floats ? "_sfloat" : to_float ? (is_signed ? "_snorm" : "_unorm") : (is_signed ? "_sint" : "_uint");
  const vk::FormatInfo* info = vk::find_format(name);
  return info ? info->format : VK_FORMAT_UNDEFINED;
}

/// Letters that are to be changed, left out, put in or exchanged with the next one.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); i++) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); j++) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); i++)
    for (size_t j = 1; j <= b.size(); j++) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// Whether one may be meant by the other: spelt much alike but for case and _, or the one a part of the other.
bool is_near(const std::string& a, const std::string& b) {
  const auto bare = [](const std::string& text) {
    std::string out;
    for (char c : text)
      if (c != '_') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
  };
  const std::string x = bare(a), y = bare(b);
  const size_t shorter = std::min(x.size(), y.size());
  if (shorter >= 3 && (x.find(y) != std::string::npos || y.find(x) != std::string::npos)) return true;
  return edits(x, y) <= std::max(x.size(), y.size()) / 3;
}

bool has_own_name(const VertexField& f) {
  return !f.name.empty() && (f.name[0] != 'f' || f.name.size() == 1 || f.name.find_first_not_of("0123456789", 1) != std::string::npos);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// "; did you mean 'b' by 'a'?" for the first pair that is near; ";" for none.
std::string near_pair(const std::vector<std::string>& given, const std::vector<std::string>& inputs) {
  for (const std::string& a : given)
    for (const std::string& b : inputs)
      if (is_near(a, b)) return "; did you mean '" + b + "' by '" + a + "'?";
  return ";";
}

/// Fields that have names, and inputs that have, and none is the same: fed by order, one would get another's data without a word.
Status check_names(const std::vector<VertexField>& fields, const std::vector<const ReflectedVariable*>& wanted, const std::string& who) {
  std::vector<std::string> given, inputs;
  for (const VertexField& f : fields)
    if (has_own_name(f)) given.push_back(f.name);
  bool used = false;
  for (const ReflectedVariable* input : wanted)
    if (!input->name.empty()) inputs.push_back(input->name), used |= input->used;
  if (given.empty() || !used) return Ok{};
  return invalid(who + ": no field of vertex= (" + joined(given) + ") has the name of an input of the vertex shader (" + joined(inputs) +
                 ")" + near_pair(given, inputs) +
                 " name the fields as the inputs, or give plain arrays, which feed inputs by their locations");
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
    const bool integers = f.kind == 'i' || f.kind == 'u' || f.kind == 'b', to_float = reads_floats(input.type.base);
    if (base_size_B(input.type.base) == 8) {
      const char* const wanted = to_float ? "f8" : input.type.base == ReflectedType::Base::i64 ? "i8" : "u8";
      return invalid(where + ": the shader's '" + input.name + "' is " + type_name(input.type) + "; use '" + wanted + "' (array.astype)");
    }
    if (f.kind == 'f' && f.size_B == 8)
      return invalid(where + ": the shader's '" + input.name + "' is " + type_name(input.type) + ", which 64-bit floats can't feed; use " +
                     (to_float ? "'f4' (array.astype), or declare a double in the shader" : "an integer field"));
    if (integers && to_float && f.size_B == 4)
      return invalid(where + ": the shader's '" + input.name +
                     "' is a float, and 32-bit integers can't be converted to it; use 'f4', or declare an int in the shader");
    if (integers && f.size_B == 8)
      return invalid(where + ": the shader's '" + input.name + "' is " + type_name(input.type) +
                     ", which 64-bit integers can't feed; use 'i4' or 'u4' (array.astype)");
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
    if (base_size_B(input.type.base) == 8 && components < rows) return wrong(type_name(input.type) + ", which takes all of its numbers");
    const uint32_t step = locations_of(input.type) / columns;  // of a column of more than 16 bytes 2
    for (uint32_t column = 0; column < columns; column++)
      match.attributes.push_back({input.location + column * step, f.binding, format, f.offset_B + column * rows * f.size_B});
    return Ok{};
  }
};

/// `locations`: those that attributes given outright feed already. `type_of(k)`: what messages call the type of fields[k].
Expected<VertexMatch> match_fields(const std::vector<VertexField>& fields, const std::vector<ReflectedVariable>& inputs,
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
  if (Status named = by_name ? Status(Ok{}) : check_names(fields, wanted, who); !named) return named.error();
  for (size_t k = 0; !by_name && k < std::min(fields.size(), wanted.size()); k++) feeds[k] = wanted[k];

  Matcher matcher{fields, who, type_of, {}};
  std::vector<std::string> unused;  // names of fields that feed nothing, for messages
  for (size_t k = 0; k < fields.size(); k++) {
    if (!feeds[k]) {
      unused.push_back(fields[k].name.empty() ? "field " + std::to_string(k) : fields[k].name);
    } else if (!feeds[k]->used) {
      continue;
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
    if (std::all_of(fields.begin(), fields.end(), [](const VertexField& field) { return field.name.empty(); }))
      return invalid(text + "but what vertex= has is an array without names; give a dtype with fields, such as [('" + input->name +
                     "', 'f4', 3)]");
    return invalid(text + "but no field of vertex= feeds it" + near_pair(unused, {input->name}) +
                   " fields left are: " + (unused.empty() ? "none" : joined(unused)));
  }
  return std::move(matcher.match);
}

/// The fields of a NumPy dtype, or its one column without a name.
void add_fields(std::vector<VertexField>& fields, std::vector<py::object>& types, uint32_t binding, const py::object& dtype) {
  const auto add = [&](const py::object& type, std::string name, uint32_t offset_B) {
    VertexField& f = fields.emplace_back();
    const py::object base = type.attr("base");  // py::dtype would load NumPy's C interface, which takes as long as all the rest
    f.binding = binding, f.name = std::move(name), f.offset_B = offset_B;
    f.kind = base.attr("kind").cast<std::string>()[0];
    f.size_B = base.attr("itemsize").cast<uint32_t>();
    if (!type.is(base)) f.shape = type.attr("shape").cast<std::vector<uint32_t>>();
    types.push_back(base);
  };
  const py::object names = dtype.attr("names");
  if (names.is_none() || py::len(names) == 0) return add(dtype, "", 0);
  const py::object table = dtype.attr("fields");
  for (const py::handle name : names) {
    const py::tuple field = table[name];
    add(field[0], name.cast<std::string>(), field[1].cast<uint32_t>());
  }
}

/// `dtypes`: (binding, dtype). Returns the attributes as (location, binding, format, offset in bytes).
py::list match_vertex_fields(const std::vector<std::pair<uint32_t, py::object>>& dtypes, const Reflection& vertex,
                             const std::vector<uint32_t>& locations, bool has_bindings, const std::string& who) {
  std::vector<VertexField> fields;
  std::vector<py::object> types;
  for (const auto& [binding, dtype] : dtypes) add_fields(fields, types, binding, dtype);
  const auto type_of = [&](size_t k) { return py::str(types[k]).cast<std::string>(); };
  const VertexMatch match = unwrap(match_fields(fields, vertex.inputs, locations, has_bindings, who, type_of));
  py::list attributes;
  for (const auto& a : match.attributes) attributes.append(py::make_tuple(a.location, a.binding, static_cast<int>(a.format), a.offset));
  return attributes;
}

}  // namespace

void bind_vertex(py::module_& m) {
  m.def("match_vertex_fields", &match_vertex_fields, py::arg("dtypes"), py::arg("vertex"), py::arg("locations"), py::arg("has_bindings"),
        py::arg("who"));
}

}  // namespace tilegpu::bindings
