// capture/draw_state.cpp -- see draw_state.hpp.
#include "capture/draw_state.hpp"

#include <algorithm>

#include "vk/blend_op.hpp"

namespace tilegpu::capture {

namespace {

using S = DynamicState;

void set_stencil(CommandBuffer& commands, S which, const DepthStencilState& ds) {
  for (const auto& [face, bit] : {std::pair(&ds.front, VK_STENCIL_FACE_FRONT_BIT), std::pair(&ds.back, VK_STENCIL_FACE_BACK_BIT)}) {
    if (which == S::stencil_compare_mask) commands.set_stencil_compare_mask(bit, face->compareMask);
    if (which == S::stencil_write_mask) commands.set_stencil_write_mask(bit, face->writeMask);
    if (which == S::stencil_reference) commands.set_stencil_reference(bit, face->reference);
    if (which == S::stencil_op) commands.set_stencil_op(bit, face->failOp, face->passOp, face->depthFailOp, face->compareOp);
  }
}

// Of an attachment that has both, the one that was set last holds; what the other said is there all the same.
Status set_blending(CommandBuffer& commands, S which, uint32_t i, VkColorBlendEquationEXT equation, VkColorBlendAdvancedEXT advanced) {
  const bool holds = vk::is_advanced(advanced.advancedBlendOp);
  if (which == S::color_blend_equation) {
    if (holds) equation.colorBlendOp = equation.alphaBlendOp = VK_BLEND_OP_ADD;
    return commands.set_color_blend_equation(i, {&equation, 1});
  }
  if (holds) return commands.set_color_blend_advanced(i, {&advanced, 1});
  advanced.advancedBlendOp = VK_BLEND_OP_ZERO_EXT;
  if (Status ok = commands.set_color_blend_advanced(i, {&advanced, 1}); !ok) return ok;
  return commands.set_color_blend_equation(i, {&equation, 1});
}

Status set_attachments(CommandBuffer& commands, S which, const ColorBlendState& blend) {
  std::vector<VkBool32> enables;
  std::vector<VkColorBlendEquationEXT> equations;
  std::vector<VkColorComponentFlags> masks;
  std::vector<VkColorBlendAdvancedEXT> advanced;
  for (const VkPipelineColorBlendAttachmentState& a : blend.attachments) {
    enables.push_back(a.blendEnable);
    equations.push_back(
        {a.srcColorBlendFactor, a.dstColorBlendFactor, a.colorBlendOp, a.srcAlphaBlendFactor, a.dstAlphaBlendFactor, a.alphaBlendOp});
    masks.push_back(a.colorWriteMask);
    const AdvancedBlend& b = blend.advanced[advanced.size()];
    advanced.push_back({a.colorBlendOp, b.src_premultiplied, b.dst_premultiplied, b.overlap, b.clamp_results});
  }
  if (which == S::color_blend_enable) return commands.set_color_blend_enable(0, enables);
  if (which == S::color_blend_equation || which == S::color_blend_advanced) {
    for (uint32_t i = 0; i < equations.size(); i++)
      if (Status ok = set_blending(commands, which, i, equations[i], advanced[i]); !ok) return ok;
    return Ok{};
  }
  assert(which == S::color_write_mask);
  return commands.set_color_write_mask(0, masks);
}

Status set_locations(CommandBuffer& commands, const SampleLocations& locations) {
  if (!locations.count) return Ok{};  // never set
  std::vector<VkSampleLocationEXT> places;
  for (uint32_t s = 0; s < locations.count; s++) places.push_back({locations.at_px[2 * s], locations.at_px[2 * s + 1]});
  return commands.set_sample_locations({VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT,
                                        nullptr,
                                        static_cast<VkSampleCountFlagBits>(locations.count),
                                        {1, 1},
                                        locations.count,
                                        places.data()});
}

Status set_color_writes(CommandBuffer& commands, uint32_t bits) {
  std::array<VkBool32, kMaxColorAttachments> enables{};
  for (uint32_t i = 0; i < kMaxColorAttachments; i++) enables[i] = bits >> i & 1;
  return commands.set_color_write_enable(enables);
}

Status set_input(CommandBuffer& commands, const GraphicsState& s) {
  std::vector<VkVertexInputBindingDescription2EXT> bindings;
  std::vector<VkVertexInputAttributeDescription2EXT> attributes;
  for (const VertexInputBinding& b : s.vertex_bindings)
    bindings.push_back({VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, b.binding, b.stride, b.inputRate, b.divisor});
  for (const VkVertexInputAttributeDescription& v : s.vertex_attributes)
    attributes.push_back({VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, v.location, v.binding, v.format, v.offset});
  return commands.set_vertex_input(bindings, attributes);
}

// States of one value, or of a few that are set at once.
struct Setter {
  S which;
  void (*set)(CommandBuffer& c, const GraphicsState& s);
};
using Commands = CommandBuffer;
using State = GraphicsState;
constexpr Setter kSetters[] = {
    {S::blend_constants, [](Commands& c, const State& s) { c.set_blend_constants(s.blend_constants); }},
    {S::line_width, [](Commands& c, const State& s) { c.set_line_width(s.rasterization.line_width); }},
    {S::depth_bias,
     [](Commands& c, const State& s) {
       const RasterizationState& r = s.rasterization;
       c.set_depth_bias(r.depth_bias_constant, r.depth_bias_clamp, r.depth_bias_slope, r.depth_bias_representation);
     }},
    {S::depth_clamp_range,
     [](Commands& c, const State& s) {
       const RasterizationState& r = s.rasterization;
       c.set_depth_clamp_range(r.depth_clamp_user, r.min_depth_clamp, r.max_depth_clamp);
     }},
    {S::depth_bounds,
     [](Commands& c, const State& s) { c.set_depth_bounds(s.depth_stencil.min_depth_bounds, s.depth_stencil.max_depth_bounds); }},
    {S::cull_mode, [](Commands& c, const State& s) { c.set_cull_mode(s.rasterization.cull_mode); }},
    {S::front_face, [](Commands& c, const State& s) { c.set_front_face(s.rasterization.front_face); }},
    {S::primitive_topology, [](Commands& c, const State& s) { c.set_primitive_topology(s.topology); }},
    {S::patch_control_points, [](Commands& c, const State& s) { c.set_patch_control_points(s.patch_control_points); }},
    {S::tessellation_domain_origin, [](Commands& c, const State& s) { c.set_tessellation_domain_origin(s.domain_origin); }},
    {S::primitive_restart_enable, [](Commands& c, const State& s) { c.set_primitive_restart_enable(s.primitive_restart); }},
    {S::depth_test_enable, [](Commands& c, const State& s) { c.set_depth_test_enable(s.depth_stencil.depth_test); }},
    {S::depth_write_enable, [](Commands& c, const State& s) { c.set_depth_write_enable(s.depth_stencil.depth_write); }},
    {S::depth_compare_op, [](Commands& c, const State& s) { c.set_depth_compare_op(s.depth_stencil.depth_compare); }},
    {S::depth_bounds_test_enable, [](Commands& c, const State& s) { c.set_depth_bounds_test_enable(s.depth_stencil.depth_bounds_test); }},
    {S::stencil_test_enable, [](Commands& c, const State& s) { c.set_stencil_test_enable(s.depth_stencil.stencil_test); }},
    {S::rasterizer_discard_enable,
     [](Commands& c, const State& s) { c.set_rasterizer_discard_enable(s.rasterization.rasterizer_discard); }},
    {S::depth_bias_enable, [](Commands& c, const State& s) { c.set_depth_bias_enable(s.rasterization.depth_bias_enable); }},
    {S::depth_clamp_enable, [](Commands& c, const State& s) { c.set_depth_clamp_enable(s.rasterization.depth_clamp); }},
    {S::depth_clip_enable,
     [](Commands& c, const State& s) {  // what only a pipeline can say was never set
       const DepthClip clip = s.rasterization.depth_clip;
       if (clip != DepthClip::unless_clamped) c.set_depth_clip_enable(clip == DepthClip::enabled);
     }},
    {S::depth_clip_negative_one_to_one,
     [](Commands& c, const State& s) { c.set_depth_clip_negative_one_to_one(s.rasterization.depth_clip_negative_one_to_one); }},
    {S::conservative_rasterization_mode,
     [](Commands& c, const State& s) { c.set_conservative_rasterization_mode(s.rasterization.conservative_mode); }},
    {S::discard_rectangle_enable, [](Commands& c, const State& s) { c.set_discard_rectangle_enable(s.discard_rectangles.enable); }},
    {S::discard_rectangle_mode, [](Commands& c, const State& s) { c.set_discard_rectangle_mode(s.discard_rectangles.mode); }},
    {S::sample_locations_enable, [](Commands& c, const State& s) { c.set_sample_locations_enable(s.multisample.sample_locations_enable); }},
    {S::line_rasterization_mode, [](Commands& c, const State& s) { c.set_line_rasterization_mode(s.rasterization.line_mode); }},
    {S::line_stipple_enable, [](Commands& c, const State& s) { c.set_line_stipple_enable(s.rasterization.line_stipple); }},
    {S::polygon_mode, [](Commands& c, const State& s) { c.set_polygon_mode(s.rasterization.polygon_mode); }},
    {S::provoking_vertex_mode,
     [](Commands& c, const State& s) {
       c.set_provoking_vertex_mode(s.rasterization.provoking_vertex_last ? VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT
                                                                         : VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT);
     }},
    {S::rasterization_samples, [](Commands& c, const State& s) { c.set_rasterization_samples(s.multisample.samples); }},
    {S::sample_mask, [](Commands& c, const State& s) { c.set_sample_mask(s.multisample.sample_mask); }},
    {S::alpha_to_coverage_enable, [](Commands& c, const State& s) { c.set_alpha_to_coverage_enable(s.multisample.alpha_to_coverage); }},
    {S::alpha_to_one_enable, [](Commands& c, const State& s) { c.set_alpha_to_one_enable(s.multisample.alpha_to_one); }},
    {S::logic_op, [](Commands& c, const State& s) { c.set_logic_op(s.blend.logic_op); }},
    {S::logic_op_enable, [](Commands& c, const State& s) { c.set_logic_op_enable(s.blend.logic_op_enable); }},
};

}  // namespace

DynamicStates kept_states(const Pipeline& pipeline) {
  DynamicStates kept{pipeline.dynamic().bits | pipeline::always_settable().bits};
  const auto drop = [&](S which) { kept.bits &= ~DynamicStates::bit(which); };
  drop(S::viewport_with_count), drop(S::scissor_with_count);
  if (kept.has(S::vertex_input)) drop(S::vertex_input_binding_stride);
  return kept;
}

std::optional<uint32_t> stride_of(const Pipeline& pipeline, const GraphicsState& state, uint32_t binding) {
  if (!kept_states(pipeline).has(S::vertex_input_binding_stride)) return std::nullopt;
  for (const VertexInputBinding& b : state.vertex_bindings)
    if (b.binding == binding) return b.stride;
  return std::nullopt;
}

Status set_state(CommandBuffer& commands, S which, const GraphicsState& state) {
  assert(which < S::count);
  switch (which) {
    case S::stencil_compare_mask:
    case S::stencil_write_mask:
    case S::stencil_reference:
    case S::stencil_op:
      set_stencil(commands, which, state.depth_stencil);
      return Ok{};
    case S::color_blend_enable:
    case S::color_blend_equation:
    case S::color_blend_advanced:
    case S::color_write_mask:
      return set_attachments(commands, which, state.blend);
    case S::color_write_enable:
      return set_color_writes(commands, state.blend.color_write_enables);
    case S::sample_locations:
      return set_locations(commands, state.multisample.sample_locations);
    case S::extra_primitive_overestimation_size:
      return commands.set_extra_primitive_overestimation_size(state.rasterization.extra_overestimation_px);
    case S::fragment_shading_rate:
      return commands.set_fragment_shading_rate({state.shading_rate.width_px, state.shading_rate.height_px},
                                                state.shading_rate.combiner_ops);
    case S::discard_rectangle: {
      const auto& list = state.discard_rectangles.rectangles;
      if (Status ok = commands.set_discard_rectangles(0, {}); !ok || list.empty()) return ok;
      return commands.set_discard_rectangles(0, {list.begin(), list.end()});
    }
    case S::line_stipple:
      return commands.set_line_stipple(state.rasterization.line_stipple_factor, state.rasterization.line_stipple_pattern);
    case S::rasterization_stream:
      return commands.set_rasterization_stream(state.rasterization.rasterization_stream);
    case S::viewport:
      return state.viewports.empty() ? Status(Ok{}) : commands.set_viewport_with_count({state.viewports.begin(), state.viewports.end()});
    case S::scissor:
      return state.scissors.empty() ? Status(Ok{}) : commands.set_scissor_with_count({state.scissors.begin(), state.scissors.end()});
    case S::vertex_input:
      return set_input(commands, state);
    case S::vertex_input_binding_stride:
      return Ok{};  // with the buffers
    default:
      break;
  }
  const auto* setter = std::find_if(std::begin(kSetters), std::end(kSetters), [&](const Setter& s) { return s.which == which; });
  assert(setter != std::end(kSetters));  // else it is written for another
  setter->set(commands, state);
  return Ok{};
}

}  // namespace tilegpu::capture
