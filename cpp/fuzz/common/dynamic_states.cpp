// fuzz/common/dynamic_states.cpp -- see dynamic_states.hpp.
#include "common/dynamic_states.hpp"

#include <vector>

namespace tilegpu::fuzz {
namespace {

struct Open {
  VkDynamicState state;
  Status (*say)(CommandBuffer& cb, const GraphicsState& s);
  void (*forget)(GraphicsState& s);
};

VkPipelineColorBlendAttachmentState without_equation(VkPipelineColorBlendAttachmentState a) {
  return {.blendEnable = a.blendEnable, .colorWriteMask = a.colorWriteMask};
}

Status say_stencil(CommandBuffer& cb, const GraphicsState& s) {
  for (const auto& [face, of] :
       {std::pair{VK_STENCIL_FACE_FRONT_BIT, s.depth_stencil.front}, {VK_STENCIL_FACE_BACK_BIT, s.depth_stencil.back}})
    cb.set_stencil_op(face, of.failOp, of.passOp, of.depthFailOp, of.compareOp);
  return Ok{};
}

template <void (CommandBuffer::*set)(VkStencilFaceFlags, uint32_t), uint32_t VkStencilOpState::* field>
Status say_face(CommandBuffer& cb, const GraphicsState& s) {
  (cb.*set)(VK_STENCIL_FACE_FRONT_BIT, s.depth_stencil.front.*field), (cb.*set)(VK_STENCIL_FACE_BACK_BIT, s.depth_stencil.back.*field);
  return Ok{};
}

/// One for each attachment that there may be: those beyond the list are not blended, and written whole.
template <class T, class F>
std::vector<T> of_each(const GraphicsState& s, F&& f) {
  std::vector<T> all;
  for (uint32_t k = 0; k < kMaxColorAttachments; k++)
    all.push_back(f(k < s.blend.attachments.size() ? s.blend.attachments[k] : VkPipelineColorBlendAttachmentState{.colorWriteMask = 15}));
  return all;
}

Status say_enables(CommandBuffer& cb, const GraphicsState& s) {
  return cb.set_color_blend_enable(0, of_each<VkBool32>(s, [](const auto& a) { return a.blendEnable; }));
}

Status say_masks(CommandBuffer& cb, const GraphicsState& s) {
  return cb.set_color_write_mask(0, of_each<VkColorComponentFlags>(s, [](const auto& a) { return a.colorWriteMask; }));
}

/// Each by the command that its operator wants; advanced ones are the later.
Status say_equations(CommandBuffer& cb, const GraphicsState& s) {
  const auto equations = of_each<VkColorBlendEquationEXT>(s, [](const auto& a) {
    return VkColorBlendEquationEXT{a.srcColorBlendFactor, a.dstColorBlendFactor, a.colorBlendOp,
                                   a.srcAlphaBlendFactor, a.dstAlphaBlendFactor, a.alphaBlendOp};
  });
  for (uint32_t k = 0; k < kMaxColorAttachments; k++) {
    const AdvancedBlend& extra = s.blend.advanced[k];
    const VkColorBlendAdvancedEXT advanced{equations[k].colorBlendOp, extra.src_premultiplied, extra.dst_premultiplied, extra.overlap,
                                           extra.clamp_results};
    const bool is_advanced = equations[k].colorBlendOp >= VK_BLEND_OP_ZERO_EXT;
    if (Status ok = is_advanced ? cb.set_color_blend_advanced(k, {&advanced, 1}) : cb.set_color_blend_equation(k, {&equations[k], 1}); !ok)
      return ok;
  }
  return Ok{};
}

Status say_rectangles(CommandBuffer& cb, const GraphicsState& s) {
  const auto& list = s.discard_rectangles.rectangles;
  return cb.set_discard_rectangles(0, {list.begin(), list.end()});
}

const GraphicsState kFresh;

#define OPEN(name, call, reset)                                                                                        \
  {VK_DYNAMIC_STATE_##name, [](CommandBuffer& cb, [[maybe_unused]] const GraphicsState& s) -> Status { return call; }, \
   [](GraphicsState& s) { reset; }}
#define SET(name, command, field) OPEN(name, (cb.command(s.field), Status(Ok{})), s.field = kFresh.field)

const Open kOpen[] = {
    SET(LINE_WIDTH, set_line_width, rasterization.line_width),
    SET(CULL_MODE, set_cull_mode, rasterization.cull_mode),
    SET(FRONT_FACE, set_front_face, rasterization.front_face),
    OPEN(PRIMITIVE_TOPOLOGY, (cb.set_primitive_topology(s.topology), Status(Ok{})), (void)s),  // its class stays the pipeline's
    SET(PRIMITIVE_RESTART_ENABLE, set_primitive_restart_enable, primitive_restart),
    SET(RASTERIZER_DISCARD_ENABLE, set_rasterizer_discard_enable, rasterization.rasterizer_discard),
    SET(POLYGON_MODE_EXT, set_polygon_mode, rasterization.polygon_mode),
    SET(DEPTH_CLAMP_ENABLE_EXT, set_depth_clamp_enable, rasterization.depth_clamp),
    SET(DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT, set_depth_clip_negative_one_to_one, rasterization.depth_clip_negative_one_to_one),
    OPEN(DEPTH_CLIP_ENABLE_EXT, (cb.set_depth_clip_enable(s.rasterization.clips_depth()), Status(Ok{})), (void)s),
    SET(DEPTH_BIAS_ENABLE, set_depth_bias_enable, rasterization.depth_bias_enable),
    OPEN(DEPTH_BIAS,
         (cb.set_depth_bias(s.rasterization.depth_bias_constant, s.rasterization.depth_bias_clamp, s.rasterization.depth_bias_slope,
                            s.rasterization.depth_bias_representation),
          Status(Ok{})),
         (s.rasterization.depth_bias_constant = s.rasterization.depth_bias_clamp = s.rasterization.depth_bias_slope = 0,
          s.rasterization.depth_bias_representation = {})),
    OPEN(DEPTH_CLAMP_RANGE_EXT,
         (cb.set_depth_clamp_range(s.rasterization.depth_clamp_user, s.rasterization.min_depth_clamp, s.rasterization.max_depth_clamp),
          Status(Ok{})),
         s.rasterization.depth_clamp_user = false),
    OPEN(PROVOKING_VERTEX_MODE_EXT,
         (cb.set_provoking_vertex_mode(s.rasterization.provoking_vertex_last ? VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT
                                                                             : VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT),
          Status(Ok{})),
         s.rasterization.provoking_vertex_last = false),
    SET(CONSERVATIVE_RASTERIZATION_MODE_EXT, set_conservative_rasterization_mode, rasterization.conservative_mode),
    OPEN(EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT, cb.set_extra_primitive_overestimation_size(s.rasterization.extra_overestimation_px),
         s.rasterization.extra_overestimation_px = 0),
    SET(LINE_RASTERIZATION_MODE_EXT, set_line_rasterization_mode, rasterization.line_mode),
    SET(LINE_STIPPLE_ENABLE_EXT, set_line_stipple_enable, rasterization.line_stipple),
    OPEN(LINE_STIPPLE_EXT, cb.set_line_stipple(s.rasterization.line_stipple_factor, s.rasterization.line_stipple_pattern),
         (s.rasterization.line_stipple_factor = 1, s.rasterization.line_stipple_pattern = 0xffff)),
    SET(DEPTH_TEST_ENABLE, set_depth_test_enable, depth_stencil.depth_test),
    SET(DEPTH_WRITE_ENABLE, set_depth_write_enable, depth_stencil.depth_write),
    SET(DEPTH_COMPARE_OP, set_depth_compare_op, depth_stencil.depth_compare),
    SET(DEPTH_BOUNDS_TEST_ENABLE, set_depth_bounds_test_enable, depth_stencil.depth_bounds_test),
    OPEN(DEPTH_BOUNDS, (cb.set_depth_bounds(s.depth_stencil.min_depth_bounds, s.depth_stencil.max_depth_bounds), Status(Ok{})),
         (s.depth_stencil.min_depth_bounds = 0, s.depth_stencil.max_depth_bounds = 1)),
    SET(STENCIL_TEST_ENABLE, set_stencil_test_enable, depth_stencil.stencil_test),
    OPEN(STENCIL_OP, say_stencil(cb, s), (void)s),
    OPEN(STENCIL_COMPARE_MASK, (say_face<&CommandBuffer::set_stencil_compare_mask, &VkStencilOpState::compareMask>(cb, s)),
         s.depth_stencil.front.compareMask = s.depth_stencil.back.compareMask = 0),
    OPEN(STENCIL_WRITE_MASK, (say_face<&CommandBuffer::set_stencil_write_mask, &VkStencilOpState::writeMask>(cb, s)),
         s.depth_stencil.front.writeMask = s.depth_stencil.back.writeMask = 0),
    OPEN(STENCIL_REFERENCE, (say_face<&CommandBuffer::set_stencil_reference, &VkStencilOpState::reference>(cb, s)),
         s.depth_stencil.front.reference = s.depth_stencil.back.reference = 0),
    SET(SAMPLE_MASK_EXT, set_sample_mask, multisample.sample_mask),
    SET(ALPHA_TO_COVERAGE_ENABLE_EXT, set_alpha_to_coverage_enable, multisample.alpha_to_coverage),
    SET(ALPHA_TO_ONE_ENABLE_EXT, set_alpha_to_one_enable, multisample.alpha_to_one),
    SET(LOGIC_OP_ENABLE_EXT, set_logic_op_enable, blend.logic_op_enable),
    SET(LOGIC_OP_EXT, set_logic_op, blend.logic_op),
    OPEN(COLOR_BLEND_ENABLE_EXT, say_enables(cb, s), for (auto& a : s.blend.attachments) a.blendEnable = false),
    OPEN(COLOR_BLEND_EQUATION_EXT, say_equations(cb, s), for (auto& a : s.blend.attachments) a = without_equation(a)),
    OPEN(COLOR_WRITE_MASK_EXT, say_masks(cb, s), for (auto& a : s.blend.attachments) a.colorWriteMask = 0),
    OPEN(DISCARD_RECTANGLE_EXT, say_rectangles(cb, s), s.discard_rectangles.rectangles.clear()),
    SET(DISCARD_RECTANGLE_ENABLE_EXT, set_discard_rectangle_enable, discard_rectangles.enable),
    SET(DISCARD_RECTANGLE_MODE_EXT, set_discard_rectangle_mode, discard_rectangles.mode),
    OPEN(FRAGMENT_SHADING_RATE_KHR,
         cb.set_fragment_shading_rate({s.shading_rate.width_px, s.shading_rate.height_px}, s.shading_rate.combiner_ops),
         s.shading_rate = kFresh.shading_rate),
};

#undef SET
#undef OPEN

}  // namespace

void leave_open(uint64_t chosen, GraphicsPipelineCreateInfo& info) {
  for (const Open& open : kOpen) {
    if (chosen & 1) info.dynamic_states.push_back(open.state), open.forget(info);
    if (chosen & 1 && open.state == VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT)  // the one or the other says it
      info.dynamic_states.push_back(VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT);
    chosen >>= 1;
  }
}

Status say_open(CommandBuffer& cb, const GraphicsPipelineCreateInfo& info, const GraphicsState& wanted) {
  for (VkDynamicState state : info.dynamic_states)
    for (const Open& open : kOpen)
      if (open.state == state)
        if (Status ok = open.say(cb, wanted); !ok) return ok;
  return Ok{};
}

}  // namespace tilegpu::fuzz
