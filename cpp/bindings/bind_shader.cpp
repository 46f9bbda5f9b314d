// bindings/bind_shader.cpp -- tilegpu/shader.hpp: compile_glsl, shader modules, reflection.
#include <cstring>

#include "bindings.hpp"
#include "tilegpu/binding_accesses.hpp"
#include "tilegpu/image_reads.hpp"

namespace tilegpu::bindings {
namespace {

const char* kind_name(ReflectedType::Kind kind) {
  switch (kind) {
    case ReflectedType::Kind::scalar:
      return "scalar";
    case ReflectedType::Kind::vector:
      return "vector";
    case ReflectedType::Kind::matrix:
      return "matrix";
    case ReflectedType::Kind::array:
      return "array";
    case ReflectedType::Kind::structure:
      return "structure";
    case ReflectedType::Kind::image:
      return "image";
    case ReflectedType::Kind::sampler:
      return "sampler";
    case ReflectedType::Kind::sampled_image:
      return "sampled_image";
  }
  return "";
}

// Returns (words as bytes or None, error message, messages): the front end raises ShaderError with the single messages.
py::tuple compile(std::string glsl, std::string file, int stage, std::map<std::string, std::string> defines,
                  std::vector<std::string> include_dirs, Device* device) {
  GlslSource source{std::move(glsl), std::move(file), static_cast<VkShaderStageFlagBits>(stage), std::move(defines),
                    std::move(include_dirs)};
  std::vector<ShaderMessage> messages;
  Expected<std::vector<uint32_t>> words = [&] {
    ReleasedGil release;
    return device ? device->compile_glsl(source, &messages) : compile_glsl(source, &messages);
  }();
  if (words) return py::make_tuple(py::bytes(reinterpret_cast<const char*>((*words).data()), (*words).size() * 4), "", py::list());
  if (words.error().code != VK_ERROR_INVALID_SHADER_NV) throw CoreError{words.error()};  // not the shader's fault
  py::list list;
  for (const ShaderMessage& message : messages)
    list.append(py::make_tuple(text(message.file), message.line, text(message.text), text(message.source_line)));
  return py::make_tuple(py::none(), text(words.error().message), list);
}

Ptr<ShaderModule> create_module(const py::bytes& code, std::string label, const std::string& entry_point, Device* device) {
  char* data = nullptr;
  Py_ssize_t size_B = 0;
  if (PyBytes_AsStringAndSize(code.ptr(), &data, &size_B) != 0) throw py::error_already_set();
  if (size_B % 4 != 0)
    throw CoreError{{VK_ERROR_INVALID_SHADER_NV, "shader '" + label + "': SPIR-V is made of 4-byte words, but there are " +
                                                     std::to_string(size_B) + " bytes; the file is truncated or is no SPIR-V"}};
  std::vector<uint32_t> words(static_cast<size_t>(size_B) / 4);
  if (size_B) std::memcpy(words.data(), data, static_cast<size_t>(size_B));
  ReleasedGil release;
  if (device) return unwrap(device->create_shader_module(std::move(words), std::move(label), entry_point));
  return unwrap(ShaderModule::create(std::move(words), std::move(label), entry_point));
}

}  // namespace

void bind_shader(py::module_& m) {
  m.def("compile_glsl", &compile, py::arg("text"), py::arg("file"), py::arg("stage"), py::arg("defines"), py::arg("include_dirs"),
        py::arg("device") = py::none());

  m.def("type_name", [](const ReflectedType& type) { return type_name(type); }, py::arg("type"));
  py::class_<ReflectedType>(m, "ReflectedType")
      .def_property_readonly("kind", [](const ReflectedType& t) { return kind_name(t.kind); })
      .def_property_readonly("base", [](const ReflectedType& t) { return base_name(t.base); })
      .def_readonly("rows", &ReflectedType::rows)
      .def_readonly("columns", &ReflectedType::columns)
      .def_property_readonly("locations", [](const ReflectedType& t) { return locations_of(t); })
      .def_readonly("array_length", &ReflectedType::array_length)
      .def_readonly("array_stride_B", &ReflectedType::array_stride_B)
      .def_readonly("matrix_stride_B", &ReflectedType::matrix_stride_B)
      .def_readonly("row_major", &ReflectedType::row_major)
      .def_readonly("size_B", &ReflectedType::size_B)
      .def_property_readonly("dim", [](const ReflectedType& t) { return static_cast<int>(t.dim); })
      .def_readonly("multisampled", &ReflectedType::multisampled)
      .def_readonly("depth_compare", &ReflectedType::depth_compare)
      .def_property_readonly("format", [](const ReflectedType& t) { return static_cast<int>(t.format); })
      .def_property_readonly("members", [](const ReflectedType& t) {
        py::list members;
        for (const ReflectedType::Member& member : t.members)
          members.append(py::make_tuple(text(member.name), member.offset_B, member.type));
        return members;
      });
  py::class_<ReflectedVariable>(m, "ReflectedVariable")
      .def_property_readonly("name", [](const ReflectedVariable& r) { return text(r.name); })
      .def_readonly("location", &ReflectedVariable::location)
      .def_readonly("component", &ReflectedVariable::component)
      .def_readonly("patch", &ReflectedVariable::patch)
      .def_readonly("primitive", &ReflectedVariable::primitive)
      .def_readonly("type", &ReflectedVariable::type)
      .def_readonly("used", &ReflectedVariable::used);
  py::class_<ReflectedBinding>(m, "ReflectedBinding")
      .def_property_readonly("name", [](const ReflectedBinding& r) { return text(r.name); })
      .def_property_readonly("block_name", [](const ReflectedBinding& r) { return text(r.block_name); })
      .def_readonly("set", &ReflectedBinding::set)
      .def_readonly("binding", &ReflectedBinding::binding)
      .def_property_readonly("descriptor", [](const ReflectedBinding& b) { return static_cast<int>(b.descriptor); })
      .def_readonly("count", &ReflectedBinding::count)
      .def_readonly("input_attachment_index", &ReflectedBinding::input_attachment_index)
      .def_readonly("readonly", &ReflectedBinding::readonly)
      .def_readonly("writeonly", &ReflectedBinding::writeonly)
      .def_readonly("used", &ReflectedBinding::used)
      .def_readonly("type", &ReflectedBinding::type);
  py::class_<ReflectedConstant>(m, "ReflectedConstant")
      .def_property_readonly("name", [](const ReflectedConstant& r) { return text(r.name); })
      .def_readonly("constant_id", &ReflectedConstant::constant_id)
      .def_readonly("type", &ReflectedConstant::type)
      .def_readonly("default_bits", &ReflectedConstant::default_bits);
  py::class_<Reflection>(m, "Reflection")
      .def_property_readonly("stage", [](const Reflection& r) { return static_cast<int>(r.stage); })
      .def_property_readonly("entry_point", [](const Reflection& r) { return text(r.entry_point); })
      .def_readonly("inputs", &Reflection::inputs)
      .def_readonly("outputs", &Reflection::outputs)
      .def_readonly("bindings", &Reflection::bindings)
      .def_readonly("has_push_constants", &Reflection::has_push_constants)
      .def_property_readonly(
          "push_constants",
          [](const Reflection& r) -> py::object { return r.has_push_constants ? py::cast(r.push_constants) : py::none(); })
      .def_readonly("constants", &Reflection::constants)
      .def_readonly("workgroup_size", &Reflection::workgroup_size);

  py::class_<ShaderModule, Ptr<ShaderModule>>(m, "ShaderModule")
      .def(py::init(&create_module), py::arg("code"), py::arg("label"), py::arg("entry_point") = "main", py::arg("device") = py::none())
      .def_property_readonly("label", &ShaderModule::label)
      .def_property_readonly("reflection", &ShaderModule::reflection, py::return_value_policy::reference_internal)
      .def(
          "reflect",
          [](const ShaderModule& s, const std::vector<std::pair<uint32_t, uint64_t>>& specialization) {
            return Reflection(*unwrap(s.reflect(specialization)));
          },
          py::arg("specialization"))
      .def(
          "image_reads",
          [](const ShaderModule& s, uint32_t set, uint32_t binding, const std::vector<std::pair<uint32_t, uint64_t>>& specialization) {
            unwrap(s.parse());
            const ImageReads r = image_reads(s, set, binding, specialization);
            py::dict d;
            d["samples"] = r.samples;
            d["lods"] = r.samples_constant ? py::object(py::make_tuple(r.least_lod, r.greatest_lod)) : py::object(py::none());
            d["gathers"] = r.gathers;
            d["fetched_levels"] = r.fetched_levels;
            d["loads"] = r.loads;
            d["stores"] = r.stores;
            return d;
          },
          py::arg("set"), py::arg("binding"), py::arg("specialization"))
      .def(
          "binding_accesses",
          [](const ShaderModule& s, const std::vector<std::pair<uint32_t, uint64_t>>& specialization) {
            unwrap(s.parse());
            py::dict d;
            for (const auto& [place, a] : binding_accesses(s, specialization))
              d[py::make_tuple(place.first, place.second)] = py::make_tuple(a.reads, a.writes, a.atomics);
            return d;
          },
          py::arg("specialization"))
      .def_property_readonly(
          "spirv", [](const ShaderModule& s) { return py::bytes(reinterpret_cast<const char*>(s.words().data()), s.words().size() * 4); });
}

}  // namespace tilegpu::bindings
