// bindings/bind_state.cpp -- dynamic state for Python: the names that there are, and CommandBuffer.set_*.
#include "bindings.hpp"
#include "tilegpu/device_info.hpp"

namespace tilegpu::bindings {

namespace {

template <class T>
std::vector<VkBool32> flags_of(const std::vector<T>& values) {
  std::vector<VkBool32> flags;
  for (const T& value : values) flags.push_back(value ? VK_TRUE : VK_FALSE);
  return flags;
}

// Setters whose one argument is an enumeration or flags of Vulkan: Python hands numbers.
template <class E>
auto by_number(void (CommandBuffer::*set)(E)) {
  return [set](CommandBuffer& cb, int64_t value) { (cb.*set)(static_cast<E>(value)); };
}

// Of conservative rasterization, lines, sample locations, advanced blending.
void bind_primitive_state(py::class_<CommandBuffer, Ptr<CommandBuffer>>& cb) {
  using CB = CommandBuffer;
  const py::arg enable("enable"), value("value");
  cb.def("set_conservative_rasterization_mode", by_number(&CB::set_conservative_rasterization_mode), value)
      .def(
          "set_extra_primitive_overestimation_size",
          [](CB& c, float size_px) { unwrap(c.set_extra_primitive_overestimation_size(size_px)); }, py::arg("size_px"))
      .def("set_line_rasterization_mode", by_number(&CB::set_line_rasterization_mode), value)
      .def("set_line_stipple_enable", &CB::set_line_stipple_enable, enable)
      .def(
          "set_line_stipple", [](CB& c, uint32_t factor, uint16_t pattern) { unwrap(c.set_line_stipple(factor, pattern)); },
          py::arg("factor"), py::arg("pattern"))
      .def(
          "set_fragment_shading_rate",
          [](CB& c, uint32_t width_px, uint32_t height_px, int with_primitive, int with_attachment) {
            unwrap(c.set_fragment_shading_rate({width_px, height_px}, {static_cast<VkFragmentShadingRateCombinerOpKHR>(with_primitive),
                                                                       static_cast<VkFragmentShadingRateCombinerOpKHR>(with_attachment)}));
          },
          py::arg("width_px"), py::arg("height_px"), py::arg("with_primitive"), py::arg("with_attachment"))
      .def(
          "set_discard_rectangles",
          [](CB& c, const std::vector<std::array<int64_t, 4>>& rects) {
            std::vector<VkRect2D> list;
            for (const std::array<int64_t, 4>& rect : rects) list.push_back(rect_of(rect));
            unwrap(c.set_discard_rectangles(0, list));
          },
          py::arg("rects"))
      .def("set_discard_rectangle_enable", &CB::set_discard_rectangle_enable, enable)
      .def("set_discard_rectangle_mode", by_number(&CB::set_discard_rectangle_mode), value)
      .def("set_sample_locations_enable", &CB::set_sample_locations_enable, enable)
      .def(
          "set_sample_locations",
          [](CB& c, const std::vector<std::array<float, 2>>& places) { unwrap(c.set_sample_locations(SampleLocationsInfo(places).info)); },
          py::arg("places"))
      .def(
          "set_color_blend_advanced",
          [](CB& c, uint32_t first, const std::vector<std::tuple<int, bool, bool, int, bool>>& blends) {
            std::vector<VkColorBlendAdvancedEXT> given;
            for (const auto& [op, source, destination, overlap, clamp] : blends)
              given.push_back({static_cast<VkBlendOp>(op), source, destination, static_cast<VkBlendOverlapEXT>(overlap), clamp});
            unwrap(c.set_color_blend_advanced(first, given));
          },
          py::arg("first"), py::arg("blends"));
}

}  // namespace

void bind_state(py::module_& m) {
  py::dict known;
  for (uint32_t i = 0; i < kDynamicStates; i++) {
    const DynamicStateInfo& info = dynamic_state_info(static_cast<DynamicState>(i));
    known[py::str(info.name)] = static_cast<int>(info.vulkan);
  }
  m.attr("DYNAMIC_STATES") = known;
  py::list rates;  // width, height, counts of samples as bits
  for (const FragmentShadingRate& rate : fragment_shading_rates())
    rates.append(py::make_tuple(rate.width_px, rate.height_px, rate.sample_counts));
  m.attr("SHADING_RATES") = rates;
  py::list products;  // m, n, k, numbers of the component types of A, B and C, whether it saturates
  for (const CooperativeMatrixProduct& p : cooperative_matrix_products())
    products.append(py::make_tuple(p.m, p.n, p.k, static_cast<int>(p.a), static_cast<int>(p.b), static_cast<int>(p.c), p.saturates));
  m.attr("COOPERATIVE_MATRICES") = products;
  m.attr("SHADING_RATE_TEXEL_PX") = std::pair(kMinShadingRateTexel_px, kMaxShadingRateTexel_px);
  m.attr("MAX_DISCARD_RECTANGLES") = kMaxDiscardRectangles;
  m.attr("MAX_LINE_STIPPLE_FACTOR") = kMaxLineStippleFactor;
  m.attr("MAX_EXTRA_OVERESTIMATION_PX") = kMaxExtraOverestimation_px;

  using CB = CommandBuffer;
  const py::arg enable("enable"), value("value");
  py::class_<CommandBuffer, Ptr<CommandBuffer>> cb(m.attr("CommandBuffer"));
  cb.def("set_stencil_compare_mask", &CB::set_stencil_compare_mask, py::arg("faces"), py::arg("mask"))
      .def("set_stencil_write_mask", &CB::set_stencil_write_mask, py::arg("faces"), py::arg("mask"))
      .def(
          "set_stencil_op",
          [](CB& c, uint32_t faces, int fail, int pass, int depth_fail, int compare) {
            c.set_stencil_op(faces, static_cast<VkStencilOp>(fail), static_cast<VkStencilOp>(pass), static_cast<VkStencilOp>(depth_fail),
                             static_cast<VkCompareOp>(compare));
          },
          py::arg("faces"), py::arg("fail_op"), py::arg("pass_op"), py::arg("depth_fail_op"), py::arg("compare_op"))
      .def("set_stencil_test_enable", &CB::set_stencil_test_enable, enable)
      .def("set_depth_bias_enable", &CB::set_depth_bias_enable, enable)
      .def("set_depth_bounds", &CB::set_depth_bounds, py::arg("min_depth_bounds"), py::arg("max_depth_bounds"))
      .def("set_depth_bounds_test_enable", &CB::set_depth_bounds_test_enable, enable)
      .def("set_depth_test_enable", &CB::set_depth_test_enable, enable)
      .def("set_depth_write_enable", &CB::set_depth_write_enable, enable)
      .def("set_depth_compare_op", by_number(&CB::set_depth_compare_op), value)
      .def("set_depth_clamp_enable", &CB::set_depth_clamp_enable, enable)
      .def("set_depth_clamp_range", &CB::set_depth_clamp_range, py::arg("user"), py::arg("min_depth_clamp"), py::arg("max_depth_clamp"))
      .def("set_depth_clip_enable", &CB::set_depth_clip_enable, enable)
      .def("set_depth_clip_negative_one_to_one", &CB::set_depth_clip_negative_one_to_one, py::arg("negative_one_to_one"))
      .def(
          "set_rasterization_stream", [](CB& c, uint32_t stream) { unwrap(c.set_rasterization_stream(stream)); }, py::arg("stream"))
      .def("set_cull_mode", by_number(&CB::set_cull_mode), value)
      .def("set_front_face", by_number(&CB::set_front_face), value)
      .def("set_primitive_topology", by_number(&CB::set_primitive_topology), value)
      .def("set_primitive_restart_enable", &CB::set_primitive_restart_enable, enable)
      .def("set_patch_control_points", &CB::set_patch_control_points, py::arg("count"))
      .def("set_tessellation_domain_origin", by_number(&CB::set_tessellation_domain_origin), value)
      .def("set_rasterizer_discard_enable", &CB::set_rasterizer_discard_enable, enable)
      .def("set_line_width", &CB::set_line_width, py::arg("width"))
      .def("set_polygon_mode", by_number(&CB::set_polygon_mode), value)
      .def("set_provoking_vertex_mode", by_number(&CB::set_provoking_vertex_mode), value)
      .def("set_rasterization_samples", by_number(&CB::set_rasterization_samples), value)
      .def("set_sample_mask", &CB::set_sample_mask, py::arg("mask"))
      .def("set_alpha_to_coverage_enable", &CB::set_alpha_to_coverage_enable, enable)
      .def("set_alpha_to_one_enable", &CB::set_alpha_to_one_enable, enable)
      .def("set_logic_op_enable", &CB::set_logic_op_enable, enable)
      .def("set_logic_op", by_number(&CB::set_logic_op), value)
      .def(
          "set_color_blend_enable",
          [](CB& c, uint32_t first, const std::vector<bool>& enables) { unwrap(c.set_color_blend_enable(first, flags_of(enables))); },
          py::arg("first"), py::arg("enables"))
      .def(
          "set_color_blend_equation",
          [](CB& c, uint32_t first, const std::vector<VkPipelineColorBlendAttachmentState>& states) {
            std::vector<VkColorBlendEquationEXT> equations;
            for (const VkPipelineColorBlendAttachmentState& a : states)
              equations.push_back({a.srcColorBlendFactor, a.dstColorBlendFactor, a.colorBlendOp, a.srcAlphaBlendFactor,
                                   a.dstAlphaBlendFactor, a.alphaBlendOp});
            unwrap(c.set_color_blend_equation(first, equations));
          },
          py::arg("first"), py::arg("equations"))
      .def(
          "set_color_write_mask",
          [](CB& c, uint32_t first, const std::vector<uint32_t>& masks) { unwrap(c.set_color_write_mask(first, masks)); }, py::arg("first"),
          py::arg("masks"))
      .def(
          "set_color_write_enable", [](CB& c, const std::vector<bool>& enables) { unwrap(c.set_color_write_enable(flags_of(enables))); },
          py::arg("enables"))
      .def(
          "set_vertex_input",
          [](CB& c, const std::vector<std::array<uint32_t, 4>>& bindings, const std::vector<std::array<uint32_t, 4>>& attributes) {
            std::vector<VkVertexInputBindingDescription2EXT> b;
            std::vector<VkVertexInputAttributeDescription2EXT> a;
            for (const auto& [binding, stride_B, rate, divisor] : bindings)
              b.push_back({VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, binding, stride_B,
                           static_cast<VkVertexInputRate>(rate), divisor});
            for (const auto& [location, binding, format, offset_B] : attributes)
              a.push_back({VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, location, binding,
                           static_cast<VkFormat>(format), offset_B});
            unwrap(c.set_vertex_input(b, a));
          },
          py::arg("bindings"), py::arg("attributes"))
      .def(
          "bind_vertex_buffer2",
          [](CB& c, uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B, std::optional<uint64_t> size_B, uint32_t stride_B) {
            unwrap(c.bind_vertex_buffer2(binding, std::move(buffer), offset_B, size_B.value_or(VK_WHOLE_SIZE), stride_B));
          },
          py::arg("binding"), py::arg("buffer"), py::arg("offset_B"), py::arg("size_B"), py::arg("stride_B"));
  bind_primitive_state(cb);
}

}  // namespace tilegpu::bindings
