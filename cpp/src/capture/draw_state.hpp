// capture/draw_state.hpp -- what a draw found set in the command buffer, state by state: in a file, and set again.
// In, out: a state's value, bytes; from a value also the commands that set it.
// A pipeline stands in a file as it was created, with its list of dynamic states; a draw has a value of each of those, and of the few that
// may be set beside any pipeline. What was set and is never read is there too: a capture of a replayed capture is the same file.
// Source: Vulkan specification, "Dynamic State".
#pragma once

#include "capture/fields.hpp"
#include "command/draw.hpp"
#include "pipeline/dynamic_state.hpp"

namespace tilegpu::capture {

/// States of which a draw with this pipeline has a value in a file, each once: what is set by two commands is written for one of them.
DynamicStates kept_states(const Pipeline& pipeline);

/// Sets one of them as an application would; strides are bound with their buffers (stride_of).
Status set_state(CommandBuffer& commands, DynamicState which, const GraphicsState& state);

/// Of a binding, where the command buffer sets it.
std::optional<uint32_t> stride_of(const Pipeline& pipeline, const GraphicsState& state, uint32_t binding);

template <class A>
void color_attachments(A& a, GraphicsState& s) {
  VkPipelineColorBlendAttachmentState plain{};
  plain.colorWriteMask = 0xf;
  auto& list = s.blend.attachments;
  uint32_t count = list.size();
  a.below(count, kMaxColorAttachments + 1, "color attachments");
  while (list.size() < count) list.push_back(plain);
  if (list.size() > count) list.assign(list.begin(), list.begin() + count);
}

/// The value of one state of samples and colours.
template <class A>
void output_state_fields(A& a, DynamicState which, GraphicsState& s) {
  using S = DynamicState;
  MultisampleState& m = s.multisample;
  const auto attachments = [&](auto one) {
    color_attachments(a, s);
    for (VkPipelineColorBlendAttachmentState& b : s.blend.attachments) one(b);
  };
  switch (which) {
    case S::blend_constants:
      for (float& c : s.blend_constants) a.number(c, "blend constant");
      return;
    case S::rasterization_samples:
      return a.among(m.samples, kSampleCounts, "samples");
    case S::sample_mask:
      return a.number(m.sample_mask, "sample mask");
    case S::alpha_to_coverage_enable:
      return a.flag(m.alpha_to_coverage, "alpha to coverage");
    case S::alpha_to_one_enable:
      return a.flag(m.alpha_to_one, "alpha to one");
    case S::logic_op:
      return a.below(s.blend.logic_op, VK_LOGIC_OP_SET + 1, "logic op");
    case S::logic_op_enable:
      return a.flag(s.blend.logic_op_enable, "logic op");
    case S::color_write_enable:
      return a.number(s.blend.color_write_enables, "color write enables");
    case S::color_blend_enable:
      return attachments([&](auto& b) { a.below(b.blendEnable, 2, "blend enable"); });
    case S::color_blend_equation:
      return attachments([&](auto& b) { blend_equation_fields(a, b); });
    case S::color_write_mask:
      return attachments([&](auto& b) { a.below(b.colorWriteMask, 16, "write mask"); });
    case S::color_blend_advanced:
      attachments([&](auto& b) { blend_op_fields(a, b); });
      for (AdvancedBlend& blend : s.blend.advanced) fields(a, blend);
      return;
    case S::sample_locations_enable:
      return a.flag(m.sample_locations_enable, "sample locations");
    case S::sample_locations:
      return fields(a, m.sample_locations);
    default:
      assert(!"a state that is written for another");
  }
}

/// The value of one state. A reader begins with what the pipeline was created with.
template <class A>
void state_fields(A& a, DynamicState which, GraphicsState& s) {
  using S = DynamicState;
  RasterizationState& r = s.rasterization;
  DepthStencilState& d = s.depth_stencil;
  const auto faces = [&](const char* what, auto field) {
    for (VkStencilOpState* face : {&d.front, &d.back}) a.number(face->*field, what);
  };
  switch (which) {
    case S::viewport:
      return fixed_list(a, s.viewports, 24, "viewports", [&](VkViewport& v) { fields(a, v); });
    case S::scissor:
      return fixed_list(a, s.scissors, 16, "scissors", [&](VkRect2D& rect) { fields(a, rect); });
    case S::line_width:
      return a.number(r.line_width, "line width");
    case S::depth_bias:
      return depth_bias_fields(a, r);
    case S::depth_clamp_range:
      return depth_clamp_fields(a, r);
    case S::depth_bounds:
      return a.number(d.min_depth_bounds, "bounds"), a.number(d.max_depth_bounds, "bounds");
    case S::stencil_compare_mask:
      return faces("mask", &VkStencilOpState::compareMask);
    case S::stencil_write_mask:
      return faces("mask", &VkStencilOpState::writeMask);
    case S::stencil_reference:
      return faces("reference", &VkStencilOpState::reference);
    case S::stencil_op:
      for (VkStencilOpState* face : {&d.front, &d.back}) {
        for (VkStencilOp* op : {&face->failOp, &face->passOp, &face->depthFailOp}) a.below(*op, 8, "stencil op");
        a.below(face->compareOp, 8, "stencil compare op");
      }
      return;
    case S::cull_mode:
      return a.below(r.cull_mode, 4, "cull mode");
    case S::front_face:
      return a.below(r.front_face, 2, "front face");
    case S::primitive_topology:
      return a.below(s.topology, VK_PRIMITIVE_TOPOLOGY_PATCH_LIST + 1, "topology");
    case S::patch_control_points:
      return a.number(s.patch_control_points, "patch control points");
    case S::tessellation_domain_origin:
      return a.below(s.domain_origin, VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT + 1, "domain origin");
    case S::primitive_restart_enable:
      return a.flag(s.primitive_restart, "primitive restart");
    case S::vertex_input:
      return vertex_input_fields(a, s);
    case S::vertex_input_binding_stride:
      for (VertexInputBinding& b : s.vertex_bindings) a.number(b.stride, "stride");
      return;
    case S::depth_test_enable:
      return a.flag(d.depth_test, "depth test");
    case S::depth_write_enable:
      return a.flag(d.depth_write, "depth write");
    case S::depth_compare_op:
      return a.below(d.depth_compare, 8, "depth compare op");
    case S::depth_bounds_test_enable:
      return a.flag(d.depth_bounds_test, "depth bounds");
    case S::stencil_test_enable:
      return a.flag(d.stencil_test, "stencil test");
    case S::rasterizer_discard_enable:
      return a.flag(r.rasterizer_discard, "discard");
    case S::depth_bias_enable:
      return a.flag(r.depth_bias_enable, "depth bias");
    case S::depth_clamp_enable:
      return a.flag(r.depth_clamp, "depth clamp");
    case S::depth_clip_enable:
      return a.below(r.depth_clip, 3, "depth clip");
    case S::depth_clip_negative_one_to_one:
      return a.flag(r.depth_clip_negative_one_to_one, "negative one to one");
    case S::rasterization_stream:
      return a.below(r.rasterization_stream, kMaxStreams, "rasterization stream");
    case S::polygon_mode:
      return a.below(r.polygon_mode, 3, "polygon mode");
    case S::provoking_vertex_mode:
      return a.flag(r.provoking_vertex_last, "provoking vertex");
    case S::conservative_rasterization_mode:
    case S::extra_primitive_overestimation_size:
      return conservative_fields(a, r);
    case S::discard_rectangle:
      return rectangle_fields(a, s.discard_rectangles);
    case S::discard_rectangle_enable:
      return a.flag(s.discard_rectangles.enable, "discard rectangles");
    case S::discard_rectangle_mode:
      return a.below(s.discard_rectangles.mode, VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT + 1, "discard rectangle mode");
    case S::fragment_shading_rate:
      return fields(a, s.shading_rate);
    case S::line_rasterization_mode:
    case S::line_stipple_enable:
    case S::line_stipple:
      return line_fields(a, r);
    default:
      return output_state_fields(a, which, s);
  }
}

}  // namespace tilegpu::capture
