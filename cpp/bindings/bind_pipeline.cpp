// bindings/bind_pipeline.cpp -- tilegpu/pipeline.hpp: descriptor sets and graphics pipelines. The create-info is filled field by
// field from Python; its layout is made by the core from the shaders' reflection.
#include "bindings.hpp"

namespace tilegpu::bindings {
namespace {

template <class Class, class Object, class Member>
void bind_enum_field(Class& c, const char* name, Member Object::* field) {
  c.def_property(
      name, [field](const Object& o) { return static_cast<int>(o.*field); },
      [field](Object& o, int value) { o.*field = static_cast<Member>(value); });
}

VkStencilOpState stencil_state(int fail, int pass, int depth_fail, int compare, uint32_t compare_mask, uint32_t write_mask,
                               uint32_t reference) {
  return {static_cast<VkStencilOp>(fail),
          static_cast<VkStencilOp>(pass),
          static_cast<VkStencilOp>(depth_fail),
          static_cast<VkCompareOp>(compare),
          compare_mask,
          write_mask,
          reference};
}

VkPipelineColorBlendAttachmentState blend_state(bool enable, int src_color, int dst_color, int color_op, int src_alpha, int dst_alpha,
                                                int alpha_op, uint32_t write_mask) {
  return {enable,
          static_cast<VkBlendFactor>(src_color),
          static_cast<VkBlendFactor>(dst_color),
          static_cast<VkBlendOp>(color_op),
          static_cast<VkBlendFactor>(src_alpha),
          static_cast<VkBlendFactor>(dst_alpha),
          static_cast<VkBlendOp>(alpha_op),
          write_mask};
}

void bind_sets(py::module_& m) {
  py::class_<DescriptorSetLayout, Ptr<DescriptorSetLayout>>(m, "DescriptorSetLayout")
      .def(py::init([](const std::vector<std::tuple<uint32_t, int, uint32_t>>& bindings, uint32_t flags) {
             std::vector<DescriptorBinding> all;
             for (const auto& [binding, type, count] : bindings)
               all.push_back({binding, static_cast<VkDescriptorType>(type), count, VK_SHADER_STAGE_ALL_GRAPHICS, flags, {}});
             return std::const_pointer_cast<DescriptorSetLayout>(unwrap(DescriptorSetLayout::create(std::move(all))));
           }),
           py::arg("bindings"), py::arg("flags"))
      .def_property_readonly("bindings", [](const DescriptorSetLayout& layout) {
        py::list list;
        for (const DescriptorBinding& b : layout.bindings()) list.append(py::make_tuple(b.binding, static_cast<int>(b.type), b.count));
        return list;
      });

  py::class_<DescriptorSet, Ptr<DescriptorSet>>(m, "DescriptorSet")
      .def(
          py::init([](Device& device, Ptr<DescriptorSetLayout> layout) { return unwrap(device.create_descriptor_set(std::move(layout))); }),
          py::arg("device"), py::arg("layout").none(false))
      .def(
          "write_buffer",
          [](DescriptorSet& set, uint32_t binding, uint32_t element, Ptr<Buffer> buffer, uint64_t offset_B, uint64_t range_B) {
            unwrap(set.write(binding, element, {std::move(buffer), offset_B, range_B, nullptr, nullptr, nullptr}));
          },
          py::arg("binding"), py::arg("element"), py::arg("buffer").none(false), py::arg("offset_B"), py::arg("range_B"))
      .def(
          "write_image",
          [](DescriptorSet& set, uint32_t binding, uint32_t element, Ptr<ImageView> view, Ptr<Sampler> sampler) {
            Descriptor descriptor;
            descriptor.view = std::move(view);
            descriptor.sampler = std::move(sampler);
            unwrap(set.write(binding, element, descriptor));
          },
          py::arg("binding"), py::arg("element"), py::arg("view"), py::arg("sampler"))
      .def(
          "write_texels",
          [](DescriptorSet& set, uint32_t binding, uint32_t element, Ptr<BufferView> texels) {
            Descriptor descriptor;
            descriptor.texels = std::move(texels);
            unwrap(set.write(binding, element, descriptor));
          },
          py::arg("binding"), py::arg("element"), py::arg("texels").none(false))
      .def(
          "write_null", [](DescriptorSet& set, uint32_t binding, uint32_t element) { unwrap(set.write(binding, element, {})); },
          py::arg("binding"), py::arg("element"));
}

void bind_depth_stencil(py::module_& m) {
  py::class_<VkStencilOpState>(m, "StencilOpState")
      .def(py::init(&stencil_state), py::arg("fail_op"), py::arg("pass_op"), py::arg("depth_fail_op"), py::arg("compare_op"),
           py::arg("compare_mask"), py::arg("write_mask"), py::arg("reference"));

  py::class_<DepthStencilState> depth_stencil(m, "DepthStencilState");
  depth_stencil.def_readwrite("depth_test", &DepthStencilState::depth_test)
      .def_readwrite("depth_write", &DepthStencilState::depth_write)
      .def_readwrite("depth_bounds_test", &DepthStencilState::depth_bounds_test)
      .def_readwrite("min_depth_bounds", &DepthStencilState::min_depth_bounds)
      .def_readwrite("max_depth_bounds", &DepthStencilState::max_depth_bounds)
      .def_readwrite("stencil_test", &DepthStencilState::stencil_test)
      .def_readwrite("front", &DepthStencilState::front)
      .def_readwrite("back", &DepthStencilState::back);
  bind_enum_field(depth_stencil, "depth_compare", &DepthStencilState::depth_compare);
}

void bind_rasterization(py::module_& m) {
  py::class_<RasterizationState> rasterization(m, "RasterizationState");
  rasterization.def_readwrite("depth_clamp", &RasterizationState::depth_clamp)
      .def_readwrite("depth_clamp_user", &RasterizationState::depth_clamp_user)
      .def_readwrite("min_depth_clamp", &RasterizationState::min_depth_clamp)
      .def_readwrite("max_depth_clamp", &RasterizationState::max_depth_clamp)
      .def_property(
          "depth_clip", [](const RasterizationState& r) { return r.clips_depth(); },
          [](RasterizationState& r, bool clip) { r.depth_clip = clip ? DepthClip::enabled : DepthClip::disabled; })
      .def_readwrite("depth_clip_negative_one_to_one", &RasterizationState::depth_clip_negative_one_to_one)
      .def_readwrite("rasterization_stream", &RasterizationState::rasterization_stream)
      .def_readwrite("rasterizer_discard", &RasterizationState::rasterizer_discard)
      .def_readwrite("cull_mode", &RasterizationState::cull_mode)
      .def_readwrite("depth_bias_enable", &RasterizationState::depth_bias_enable)
      .def_readwrite("depth_bias_constant", &RasterizationState::depth_bias_constant)
      .def_readwrite("depth_bias_clamp", &RasterizationState::depth_bias_clamp)
      .def_readwrite("depth_bias_slope", &RasterizationState::depth_bias_slope)
      .def_readwrite("line_width", &RasterizationState::line_width)
      .def_readwrite("provoking_vertex_last", &RasterizationState::provoking_vertex_last)
      .def_readwrite("extra_overestimation_px", &RasterizationState::extra_overestimation_px)
      .def_readwrite("line_stipple", &RasterizationState::line_stipple)
      .def_readwrite("line_stipple_factor", &RasterizationState::line_stipple_factor)
      .def_readwrite("line_stipple_pattern", &RasterizationState::line_stipple_pattern);
  bind_enum_field(rasterization, "conservative_mode", &RasterizationState::conservative_mode);
  bind_enum_field(rasterization, "line_mode", &RasterizationState::line_mode);
  bind_enum_field(rasterization, "polygon_mode", &RasterizationState::polygon_mode);
  bind_enum_field(rasterization, "front_face", &RasterizationState::front_face);

  py::class_<MultisampleState> multisample(m, "MultisampleState");
  multisample.def_readwrite("sample_shading", &MultisampleState::sample_shading)
      .def_readwrite("min_sample_shading", &MultisampleState::min_sample_shading)
      .def_readwrite("sample_mask", &MultisampleState::sample_mask)
      .def_readwrite("alpha_to_coverage", &MultisampleState::alpha_to_coverage)
      .def_readwrite("alpha_to_one", &MultisampleState::alpha_to_one)
      .def(
          "set_sample_locations",
          [](MultisampleState& m, const std::vector<std::array<float, 2>>& places) {
            m.sample_locations = unwrap(sample_locations_of(SampleLocationsInfo(places).info, "sample_locations"));
            m.sample_locations_enable = true;
          },
          py::arg("places"));
  bind_enum_field(multisample, "samples", &MultisampleState::samples);
}

void bind_blending(py::module_& m) {
  py::class_<VkPipelineColorBlendAttachmentState>(m, "ColorBlendAttachmentState")
      .def(py::init(&blend_state), py::arg("enable"), py::arg("src_color_factor"), py::arg("dst_color_factor"), py::arg("color_op"),
           py::arg("src_alpha_factor"), py::arg("dst_alpha_factor"), py::arg("alpha_op"), py::arg("write_mask"));

  py::class_<ColorBlendState> blend(m, "ColorBlendState");
  blend.def_readwrite("logic_op_enable", &ColorBlendState::logic_op_enable)
      .def_property(
          "attachments",
          [](const ColorBlendState& b) {
            return std::vector<VkPipelineColorBlendAttachmentState>(b.attachments.begin(), b.attachments.end());
          },
          [](ColorBlendState& b, const std::vector<VkPipelineColorBlendAttachmentState>& states) {
            b.attachments.assign(states.begin(), states.end());
          });
  blend.def(
      "set_advanced",
      [](ColorBlendState& b, uint32_t attachment, bool src_premultiplied, bool dst_premultiplied, int overlap, bool clamp_results) {
        b.advanced.at(attachment) = {src_premultiplied, dst_premultiplied, clamp_results, static_cast<VkBlendOverlapEXT>(overlap)};
      },
      py::arg("attachment"), py::arg("src_premultiplied"), py::arg("dst_premultiplied"), py::arg("overlap"), py::arg("clamp_results"));
  bind_enum_field(blend, "logic_op", &ColorBlendState::logic_op);
}

using Info = GraphicsPipelineCreateInfo;

// Shaders and what they read of vertices.
void bind_stages(py::class_<Info>& info) {
  info.def(
          "set_stage",
          [](Info& i, Ptr<ShaderModule> module, std::vector<std::pair<uint32_t, uint64_t>> specialization) {
            i.stages.push_back({std::move(module), std::move(specialization)});
          },
          py::arg("module").none(false), py::arg("specialization"))
      .def(
          "set_dynamic_states",
          [](Info& i, const std::vector<int>& states) {
            i.dynamic_states.clear();
            for (int state : states) i.dynamic_states.push_back(static_cast<VkDynamicState>(state));
          },
          py::arg("states"))
      .def(
          "set_pipeline_layout", [](Info& i, const std::vector<Ptr<DescriptorSetLayout>>& sets) { i.layout = shared_layout(sets); },
          py::arg("sets"))
      .def(
          "add_vertex_binding",
          [](Info& i, uint32_t binding, uint32_t stride_B, int rate, uint32_t divisor) {
            i.vertex_bindings.push_back({{binding, stride_B, static_cast<VkVertexInputRate>(rate)}, divisor});
          },
          py::arg("binding"), py::arg("stride_B"), py::arg("rate"), py::arg("divisor") = 1)
      .def(
          "add_vertex_attribute",
          [](Info& i, uint32_t location, uint32_t binding, int format, uint32_t offset_B) {
            i.vertex_attributes.push_back({location, binding, static_cast<VkFormat>(format), offset_B});
          },
          py::arg("location"), py::arg("binding"), py::arg("format"), py::arg("offset_B"));
}

void bind_fixed_functions(py::class_<Info>& info) {
  info.def_property(
          "topology", [](const Info& i) { return static_cast<int>(i.topology); },
          [](Info& i, int topology) { i.topology = static_cast<VkPrimitiveTopology>(topology); })
      .def_property(
          "primitive_restart", [](const Info& i) { return i.primitive_restart; }, [](Info& i, bool on) { i.primitive_restart = on; })
      .def_property(
          "patch_control_points", [](const Info& i) { return i.patch_control_points; },
          [](Info& i, uint32_t count) { i.patch_control_points = count; })
      .def_property(
          "domain_origin", [](const Info& i) { return static_cast<int>(i.domain_origin); },
          [](Info& i, int origin) { i.domain_origin = static_cast<VkTessellationDomainOrigin>(origin); })
      .def(
          "set_fragment_shading_rate",
          [](Info& i, uint32_t width_px, uint32_t height_px, int with_primitive, int with_attachment) {
            i.shading_rate = {width_px,
                              height_px,
                              {static_cast<VkFragmentShadingRateCombinerOpKHR>(with_primitive),
                               static_cast<VkFragmentShadingRateCombinerOpKHR>(with_attachment)}};
          },
          py::arg("width_px"), py::arg("height_px"), py::arg("with_primitive"), py::arg("with_attachment"))
      .def(
          "set_discard_rectangles",
          [](Info& i, const std::vector<std::array<int64_t, 4>>& rects, int mode) {
            DiscardRectangleState& state = i.discard_rectangles;
            state = {.enable = true, .mode = static_cast<VkDiscardRectangleModeEXT>(mode), .count = static_cast<uint32_t>(rects.size())};
            for (const std::array<int64_t, 4>& rect : rects) state.rectangles.push_back(rect_of(rect));
          },
          py::arg("rects"), py::arg("mode"))
      .def_property_readonly(
          "rasterization", [](Info& i) { return &i.rasterization; }, py::return_value_policy::reference_internal)
      .def_property_readonly(
          "multisample", [](Info& i) { return &i.multisample; }, py::return_value_policy::reference_internal)
      .def_property_readonly(
          "depth_stencil", [](Info& i) { return &i.depth_stencil; }, py::return_value_policy::reference_internal)
      .def_property_readonly(
          "blend", [](Info& i) { return &i.blend; }, py::return_value_policy::reference_internal)
      .def_property(
          "blend_constants", [](const Info& i) { return i.blend_constants; },
          [](Info& i, const std::array<float, 4>& constants) { i.blend_constants = constants; });
}

void bind_targets(py::class_<Info>& info) {
  info.def_property(
          "color_formats",
          [](const Info& i) {
            std::vector<int> formats;
            for (VkFormat f : i.color_formats) formats.push_back(f);
            return formats;
          },
          [](Info& i, const std::vector<int>& formats) {
            i.color_formats.clear();
            for (int f : formats) i.color_formats.push_back(static_cast<VkFormat>(f));
          })
      .def(
          "set_input_attachments",
          [](Info& i, const std::vector<std::optional<uint32_t>>& color, std::optional<uint32_t> depth, std::optional<uint32_t> stencil) {
            i.input_attachments.color.fill(VK_ATTACHMENT_UNUSED);
            for (size_t k = 0; k < color.size() && k < kMaxColorAttachments; k++)
              if (color[k]) i.input_attachments.color[k] = *color[k];
            i.input_attachments.depth = depth.value_or(VK_ATTACHMENT_UNUSED);
            i.input_attachments.stencil = stencil.value_or(VK_ATTACHMENT_UNUSED);
          },
          py::arg("color"), py::arg("depth"), py::arg("stencil"));
  info.def(
      "set_attachment_locations",
      [](Info& i, const std::vector<std::optional<uint32_t>>& locations) {
        i.attachment_locations.fill(VK_ATTACHMENT_UNUSED);
        for (size_t k = 0; k < locations.size() && k < kMaxColorAttachments; k++)
          if (locations[k]) i.attachment_locations[k] = *locations[k];
      },
      py::arg("locations"));
  bind_enum_field(info, "depth_format", &Info::depth_format);
  bind_enum_field(info, "stencil_format", &Info::stencil_format);
}

void bind_finished(py::module_& m) {
  py::class_<Pipeline, Ptr<Pipeline>>(m, "Pipeline")
      .def_property_readonly("label", [](const Pipeline& p) { return p.info().label; })
      .def_property_readonly("dynamic_states",
                             [](const Pipeline& p) {
                               std::vector<std::string> names;
                               for (uint32_t i = 0; i < kDynamicStates; i++)
                                 if (p.dynamic().has(static_cast<DynamicState>(i)))
                                   names.emplace_back(dynamic_state_info(static_cast<DynamicState>(i)).name);
                               return names;
                             })
      .def_property_readonly("push_constants_B", [](const Pipeline& p) { return p.info().layout ? p.info().layout->push_constants_B : 0; })
      .def_property_readonly("set_layouts", [](const Pipeline& p) {
        std::vector<Ptr<DescriptorSetLayout>> layouts;
        if (p.info().layout)
          for (const auto& set : p.info().layout->sets) layouts.push_back(std::const_pointer_cast<DescriptorSetLayout>(set));
        return layouts;
      });
}

}  // namespace

void bind_pipeline(py::module_& m) {
  m.attr("MAX_COLOR_ATTACHMENTS") = kMaxColorAttachments;
  m.attr("MAX_VIEWPORTS") = kMaxViewports;
  m.attr("MAX_DESCRIPTOR_SETS") = kMaxDescriptorSets;
  m.attr("MAX_VERTEX_BINDINGS") = kMaxVertexBindings;
  m.attr("MAX_PUSH_CONSTANTS_B") = kMaxPushConstants_B;
  m.attr("MAX_IMAGE_SIZE_PX") = kMaxImageSize_px;
  m.attr("MAX_FRAMEBUFFER_SIZE_PX") = kMaxFramebufferSize_px;
  bind_sets(m);
  bind_depth_stencil(m);
  bind_rasterization(m);
  bind_blending(m);
  py::class_<Info> info(m, "GraphicsPipelineCreateInfo");
  info.def(py::init<>()).def_readwrite("label", &Info::label);
  bind_stages(info);
  bind_fixed_functions(info);
  bind_targets(info);
  bind_finished(m);
}

}  // namespace tilegpu::bindings
