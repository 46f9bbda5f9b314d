// bindings/bind_format.cpp -- vk/format.hpp: what formats are, by name.
#include "bindings.hpp"
#include "tilegpu/format.hpp"

namespace tilegpu::bindings {
namespace {

using vk::FormatInfo;

const char* numeric_name(const FormatInfo& f) {
  static constexpr const char* kNames[] = {"none", "unorm", "snorm", "uscaled", "sscaled", "uint", "sint", "sfloat", "ufloat", "srgb"};
  return kNames[static_cast<size_t>(f.numeric)];
}

/// What images have of this format: colour, or which of depth and stencil.
py::list aspects(const FormatInfo& f) {
  py::list names;
  if (f.depth_bits) names.append("depth");
  if (f.stencil_bits) names.append("stencil");
  if (names.empty()) names.append("color");
  return names;
}

}  // namespace

void bind_format(py::module_& m) {
  py::class_<FormatInfo, std::unique_ptr<FormatInfo, py::nodelete>>(m, "FormatInfo", "What a format is; see Vulkan's chapter \"Formats\".")
      .def_property_readonly("number", [](const FormatInfo& f) { return static_cast<int>(f.format); })
      .def_property_readonly("name", [](const FormatInfo& f) { return f.name; })
      .def_property_readonly("numeric", &numeric_name)
      .def_property_readonly("component_bits", [](const FormatInfo& f) { return f.rgba[0].bits; })
      .def_readonly("texel_B", &FormatInfo::texel_B)
      .def_readonly("component_count", &FormatInfo::component_count)
      .def_readonly("depth_bits", &FormatInfo::depth_bits)
      .def_readonly("stencil_bits", &FormatInfo::stencil_bits)
      .def_readonly("vertex", &FormatInfo::vertex)
      .def_readonly("sampled", &FormatInfo::sampled)
      .def_readonly("linear_filter", &FormatInfo::linear_filter)
      .def_property_readonly("cubic_filter", &FormatInfo::filters_cubic)
      .def_readonly("color_attachment", &FormatInfo::color_attachment)
      .def_readonly("blend", &FormatInfo::blend)
      .def_readonly("storage", &FormatInfo::storage)
      .def_property_readonly(
          "block_px", [](const FormatInfo& f) { return py::make_tuple(f.block_width_px, f.block_height_px); },
          "Width and height of a texel block, which has texel_B bytes: (1, 1), but for compressed and packed 4:2:2 formats.")
      .def_property_readonly(
          "planes",
          [](const FormatInfo& f) {
            py::list planes;
            for (uint32_t k = 0; f.is_multi_planar() && k < f.plane_count; ++k)
              planes.append(py::cast(vk::find_format(f.planes[k].format), py::return_value_policy::reference));
            return planes;
          },
          "Formats of the planes of a multi-planar format; else [].")
      .def_property_readonly(
          "chroma_px", [](const FormatInfo& f) { return py::make_tuple(1 << f.chroma_x_log2, 1 << f.chroma_y_log2); },
          "Columns and rows that share their chroma: (1, 1), but for 4:2:2 and 4:2:0.")
      .def_property_readonly("needs_conversion", &FormatInfo::needs_conversion,
                             "Luma and chroma lie apart: only sampled with a sampler Y'CbCr conversion.")
      .def_property_readonly("is_compressed", &FormatInfo::is_compressed, "Texels are compressed in blocks.")
      .def_property_readonly("is_depth_stencil", &FormatInfo::is_depth_stencil, "The format has depth or stencil.")
      .def_property_readonly("is_atomic", &FormatInfo::is_atomic, "Shaders may do atomic operations on its texels.")
      .def_property_readonly("is_integer", &FormatInfo::is_integer, "The format's colour is integers, not normalised.")
      .def_property_readonly("aspects", &aspects, "[\"color\"], or which of \"depth\" and \"stencil\" there are.")
      .def("__repr__", [](const FormatInfo& f) { return std::string("<tilegpu.FormatInfo ") + f.name + ">"; });
  m.def("find_format", [](const std::string& name) { return vk::find_format(name); }, py::arg("name"), py::return_value_policy::reference);
  m.def("format_names", [] {
    py::list names;
    for (const FormatInfo& f : vk::all_formats()) names.append(f.name);
    return names;
  });
}

}  // namespace tilegpu::bindings
