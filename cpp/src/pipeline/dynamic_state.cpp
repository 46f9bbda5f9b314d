// pipeline/dynamic_state.cpp -- see dynamic_state.hpp.
#include "pipeline/dynamic_state.hpp"

#include <cctype>

namespace tilegpu {

namespace {

constexpr const char* kNoTessellation = "tessellation shaders";
constexpr const char* kOneStream = "transform feedback streams";
constexpr const char* kConservative = "conservative rasterization";
constexpr const char* kSampleLocations = "sample locations other than the standard ones";
constexpr const char* kLineModes = "line rasterization modes other than the default, and stipple";

#define STATE(field, vulkan, missing) \
  DynamicStateInfo { DynamicState::field, VK_DYNAMIC_STATE_##vulkan, #field, missing }
constexpr DynamicStateInfo kStates[] = {
    STATE(viewport, VIEWPORT, nullptr),
    STATE(scissor, SCISSOR, nullptr),
    STATE(line_width, LINE_WIDTH, nullptr),
    STATE(depth_bias, DEPTH_BIAS, nullptr),
    STATE(blend_constants, BLEND_CONSTANTS, nullptr),
    STATE(depth_bounds, DEPTH_BOUNDS, nullptr),
    STATE(stencil_compare_mask, STENCIL_COMPARE_MASK, nullptr),
    STATE(stencil_write_mask, STENCIL_WRITE_MASK, nullptr),
    STATE(stencil_reference, STENCIL_REFERENCE, nullptr),
    STATE(cull_mode, CULL_MODE, nullptr),
    STATE(front_face, FRONT_FACE, nullptr),
    STATE(primitive_topology, PRIMITIVE_TOPOLOGY, nullptr),
    STATE(viewport_with_count, VIEWPORT_WITH_COUNT, nullptr),
    STATE(scissor_with_count, SCISSOR_WITH_COUNT, nullptr),
    STATE(vertex_input_binding_stride, VERTEX_INPUT_BINDING_STRIDE, nullptr),
    STATE(depth_test_enable, DEPTH_TEST_ENABLE, nullptr),
    STATE(depth_write_enable, DEPTH_WRITE_ENABLE, nullptr),
    STATE(depth_compare_op, DEPTH_COMPARE_OP, nullptr),
    STATE(depth_bounds_test_enable, DEPTH_BOUNDS_TEST_ENABLE, nullptr),
    STATE(stencil_test_enable, STENCIL_TEST_ENABLE, nullptr),
    STATE(stencil_op, STENCIL_OP, nullptr),
    STATE(rasterizer_discard_enable, RASTERIZER_DISCARD_ENABLE, nullptr),
    STATE(depth_bias_enable, DEPTH_BIAS_ENABLE, nullptr),
    STATE(primitive_restart_enable, PRIMITIVE_RESTART_ENABLE, nullptr),
    STATE(patch_control_points, PATCH_CONTROL_POINTS_EXT, kNoTessellation),
    STATE(logic_op, LOGIC_OP_EXT, nullptr),
    STATE(vertex_input, VERTEX_INPUT_EXT, nullptr),
    STATE(color_write_enable, COLOR_WRITE_ENABLE_EXT, nullptr),
    STATE(tessellation_domain_origin, TESSELLATION_DOMAIN_ORIGIN_EXT, kNoTessellation),
    STATE(depth_clamp_enable, DEPTH_CLAMP_ENABLE_EXT, nullptr),
    STATE(polygon_mode, POLYGON_MODE_EXT, nullptr),
    STATE(rasterization_samples, RASTERIZATION_SAMPLES_EXT, nullptr),
    STATE(sample_mask, SAMPLE_MASK_EXT, nullptr),
    STATE(alpha_to_coverage_enable, ALPHA_TO_COVERAGE_ENABLE_EXT, nullptr),
    STATE(alpha_to_one_enable, ALPHA_TO_ONE_ENABLE_EXT, nullptr),
    STATE(logic_op_enable, LOGIC_OP_ENABLE_EXT, nullptr),
    STATE(color_blend_enable, COLOR_BLEND_ENABLE_EXT, nullptr),
    STATE(color_blend_equation, COLOR_BLEND_EQUATION_EXT, nullptr),
    STATE(color_write_mask, COLOR_WRITE_MASK_EXT, nullptr),
    STATE(rasterization_stream, RASTERIZATION_STREAM_EXT, kOneStream),
    STATE(conservative_rasterization_mode, CONSERVATIVE_RASTERIZATION_MODE_EXT, kConservative),
    STATE(extra_primitive_overestimation_size, EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT, kConservative),
    STATE(depth_clip_enable, DEPTH_CLIP_ENABLE_EXT, nullptr),
    STATE(sample_locations_enable, SAMPLE_LOCATIONS_ENABLE_EXT, kSampleLocations),
    STATE(sample_locations, SAMPLE_LOCATIONS_EXT, kSampleLocations),
    STATE(color_blend_advanced, COLOR_BLEND_ADVANCED_EXT, "advanced blend equations"),
    STATE(provoking_vertex_mode, PROVOKING_VERTEX_MODE_EXT, nullptr),
    STATE(line_rasterization_mode, LINE_RASTERIZATION_MODE_EXT, kLineModes),
    STATE(line_stipple_enable, LINE_STIPPLE_ENABLE_EXT, kLineModes),
    STATE(line_stipple, LINE_STIPPLE_EXT, kLineModes),
    STATE(depth_clip_negative_one_to_one, DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT, "clip volumes with depth from -w on"),
};
#undef STATE

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kStates); i++)
    if (kStates[i].state != static_cast<DynamicState>(i)) return false;
  return std::size(kStates) == kDynamicStates;
}
static_assert(in_order());

}  // namespace

const DynamicStateInfo& dynamic_state_info(DynamicState state) {
  assert(state < DynamicState::count);
  return kStates[static_cast<size_t>(state)];
}

const DynamicStateInfo* find_dynamic_state(VkDynamicState state) {
  for (const DynamicStateInfo& info : kStates)
    if (info.vulkan == state) return &info;
  return nullptr;
}

const DynamicStateInfo* find_dynamic_state(const std::string& name) {
  std::string key;
  for (const char c : name) key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (key.starts_with("vk_dynamic_state_")) key.erase(0, 17);
  if (key.ends_with("_ext")) key.erase(key.size() - 4);
  for (const DynamicStateInfo& info : kStates)
    if (key == info.name) return &info;
  return nullptr;
}

}  // namespace tilegpu

namespace tilegpu::pipeline {

namespace {

using S = DynamicState;

template <class... T>
constexpr DynamicStates mask_of(T... states) {
  DynamicStates mask;
  (mask.add(states), ...);
  return mask;
}

constexpr DynamicStates kAlways = mask_of(S::viewport, S::scissor, S::viewport_with_count, S::scissor_with_count, S::blend_constants,
                                          S::stencil_reference, S::depth_bias);
constexpr DynamicStates kResolving =
    mask_of(S::vertex_input, S::vertex_input_binding_stride, S::depth_test_enable, S::depth_write_enable, S::stencil_test_enable,
            S::stencil_op, S::stencil_write_mask, S::rasterization_samples, S::alpha_to_coverage_enable, S::alpha_to_one_enable,
            S::logic_op, S::logic_op_enable, S::color_blend_enable, S::color_blend_equation, S::color_write_mask, S::color_write_enable);
// Nothing else is read where nothing is rasterized.
constexpr DynamicStates kBeforeRasterization =
    mask_of(S::vertex_input, S::vertex_input_binding_stride, S::primitive_topology, S::primitive_restart_enable,
            S::rasterizer_discard_enable, S::viewport, S::viewport_with_count, S::rasterization_samples);

bool uses_constant(VkBlendFactor factor) {
  return factor == VK_BLEND_FACTOR_CONSTANT_COLOR || factor == VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR ||
         factor == VK_BLEND_FACTOR_CONSTANT_ALPHA || factor == VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
}

bool draws_lines(const GraphicsState& state) {
  const VkPrimitiveTopology t = state.topology;
  return t == VK_PRIMITIVE_TOPOLOGY_LINE_LIST || t == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP ||
         t == VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY || t == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY ||
         state.rasterization.polygon_mode == VK_POLYGON_MODE_LINE;
}

// Equations and masks meet in one struct; lists grow to the longer one.
void copy_attachments(DynamicState which, const ColorBlendState& from, ColorBlendState& to) {
  VkPipelineColorBlendAttachmentState plain{};
  plain.colorWriteMask = 0xf;
  while (to.attachments.size() < from.attachments.size()) to.attachments.push_back(plain);
  for (size_t i = 0; i < to.attachments.size(); i++) {
    VkPipelineColorBlendAttachmentState& a = to.attachments[i];
    const VkPipelineColorBlendAttachmentState& b = i < from.attachments.size() ? from.attachments[i] : plain;
    if (which == S::color_blend_enable) a.blendEnable = b.blendEnable;
    if (which == S::color_write_mask) a.colorWriteMask = b.colorWriteMask;
    if (which != S::color_blend_equation) continue;
    const VkBool32 enable = a.blendEnable;
    const VkColorComponentFlags mask = a.colorWriteMask;
    a = b;
    a.blendEnable = enable, a.colorWriteMask = mask;
  }
}

}  // namespace

Expected<DynamicStates> dynamic_states(const std::vector<VkDynamicState>& states) {
  DynamicStates mask;
  for (const VkDynamicState state : states) {
    const DynamicStateInfo* info = find_dynamic_state(state);
    if (!info)
      return Error{VK_ERROR_FEATURE_NOT_PRESENT,
                   "dynamic_states has VkDynamicState " + std::to_string(static_cast<int>(state)) + ", which tilegpu does not know"};
    if (info->missing)
      return Error{VK_ERROR_FEATURE_NOT_PRESENT,
                   "dynamic_states has " + names_of(mask_of(info->state)) + "; tilegpu does not have " + info->missing};
    mask.add(info->state);
  }
  return mask;
}

DynamicStates always_settable() { return kAlways; }
DynamicStates resolving_states() { return kResolving; }

DynamicStates needed_states(const GraphicsState& state, DynamicStates dynamic) {
  const auto drop = [&](DynamicStates mask) { dynamic.bits &= ~mask.bits; };
  if (dynamic.has(S::vertex_input)) drop(mask_of(S::vertex_input_binding_stride));  // it comes with the whole
  if (state.vertex_bindings.empty()) drop(mask_of(S::vertex_input_binding_stride));
  if (state.rasterization.rasterizer_discard) return {dynamic.bits & kBeforeRasterization.bits};
  const DepthStencilState& ds = state.depth_stencil;
  if (!ds.depth_test) drop(mask_of(S::depth_write_enable, S::depth_compare_op));
  if (!ds.depth_bounds_test) drop(mask_of(S::depth_bounds));
  if (!ds.stencil_test) drop(mask_of(S::stencil_op, S::stencil_compare_mask, S::stencil_write_mask, S::stencil_reference));
  if (!state.rasterization.depth_bias_enable) drop(mask_of(S::depth_bias));
  if (!draws_lines(state)) drop(mask_of(S::line_width));
  if (!state.blend.logic_op_enable) drop(mask_of(S::logic_op));
  bool blends = false, constants = false;
  for (const VkPipelineColorBlendAttachmentState& a : state.blend.attachments) {
    if (!a.blendEnable) continue;
    blends = true;
    constants |= uses_constant(a.srcColorBlendFactor) || uses_constant(a.dstColorBlendFactor) || uses_constant(a.srcAlphaBlendFactor) ||
                 uses_constant(a.dstAlphaBlendFactor);
  }
  if (!blends) drop(mask_of(S::color_blend_equation));
  if (!constants) drop(mask_of(S::blend_constants));
  return dynamic;
}

void copy_state(DynamicState which, const GraphicsState& from, GraphicsState& to) {
  RasterizationState& r = to.rasterization;
  DepthStencilState& ds = to.depth_stencil;
  const auto faces = [&](auto copy) { copy(from.depth_stencil.front, ds.front), copy(from.depth_stencil.back, ds.back); };
  switch (which) {
    case S::viewport:
    case S::viewport_with_count:
      to.viewport = from.viewport;
      return;
    case S::scissor:
    case S::scissor_with_count:
      to.scissor = from.scissor;
      return;
    case S::line_width:
      r.line_width = from.rasterization.line_width;
      return;
    case S::depth_bias:
      r.depth_bias_constant = from.rasterization.depth_bias_constant;
      r.depth_bias_clamp = from.rasterization.depth_bias_clamp;
      r.depth_bias_slope = from.rasterization.depth_bias_slope;
      return;
    case S::blend_constants:
      to.blend_constants = from.blend_constants;
      return;
    case S::depth_bounds:
      ds.min_depth_bounds = from.depth_stencil.min_depth_bounds;
      ds.max_depth_bounds = from.depth_stencil.max_depth_bounds;
      return;
    case S::stencil_compare_mask:
      return faces([](const VkStencilOpState& a, VkStencilOpState& b) { b.compareMask = a.compareMask; });
    case S::stencil_write_mask:
      return faces([](const VkStencilOpState& a, VkStencilOpState& b) { b.writeMask = a.writeMask; });
    case S::stencil_reference:
      return faces([](const VkStencilOpState& a, VkStencilOpState& b) { b.reference = a.reference; });
    case S::stencil_op:
      return faces([](const VkStencilOpState& a, VkStencilOpState& b) {
        b.failOp = a.failOp, b.passOp = a.passOp, b.depthFailOp = a.depthFailOp, b.compareOp = a.compareOp;
      });
    case S::cull_mode:
      r.cull_mode = from.rasterization.cull_mode;
      return;
    case S::front_face:
      r.front_face = from.rasterization.front_face;
      return;
    case S::primitive_topology:
      to.topology = from.topology;
      return;
    case S::primitive_restart_enable:
      to.primitive_restart = from.primitive_restart;
      return;
    case S::vertex_input:
      to.vertex_bindings = from.vertex_bindings;
      to.vertex_attributes = from.vertex_attributes;
      return;
    case S::vertex_input_binding_stride:
      for (VkVertexInputBindingDescription& binding : to.vertex_bindings)
        for (const VkVertexInputBindingDescription& given : from.vertex_bindings)
          if (given.binding == binding.binding) binding.stride = given.stride;
      return;
    case S::depth_test_enable:
      ds.depth_test = from.depth_stencil.depth_test;
      return;
    case S::depth_write_enable:
      ds.depth_write = from.depth_stencil.depth_write;
      return;
    case S::depth_compare_op:
      ds.depth_compare = from.depth_stencil.depth_compare;
      return;
    case S::depth_bounds_test_enable:
      ds.depth_bounds_test = from.depth_stencil.depth_bounds_test;
      return;
    case S::stencil_test_enable:
      ds.stencil_test = from.depth_stencil.stencil_test;
      return;
    case S::rasterizer_discard_enable:
      r.rasterizer_discard = from.rasterization.rasterizer_discard;
      return;
    case S::depth_bias_enable:
      r.depth_bias_enable = from.rasterization.depth_bias_enable;
      return;
    case S::depth_clamp_enable:
      r.depth_clamp = from.rasterization.depth_clamp;
      return;
    case S::depth_clip_enable:
      r.depth_clip = from.rasterization.depth_clip;
      return;
    case S::polygon_mode:
      r.polygon_mode = from.rasterization.polygon_mode;
      return;
    case S::provoking_vertex_mode:
      r.provoking_vertex_last = from.rasterization.provoking_vertex_last;
      return;
    case S::rasterization_samples:
      to.multisample.samples = from.multisample.samples;
      return;
    case S::sample_mask:
      to.multisample.sample_mask = from.multisample.sample_mask;
      return;
    case S::alpha_to_coverage_enable:
      to.multisample.alpha_to_coverage = from.multisample.alpha_to_coverage;
      return;
    case S::alpha_to_one_enable:
      to.multisample.alpha_to_one = from.multisample.alpha_to_one;
      return;
    case S::logic_op:
      to.blend.logic_op = from.blend.logic_op;
      return;
    case S::logic_op_enable:
      to.blend.logic_op_enable = from.blend.logic_op_enable;
      return;
    case S::color_write_enable:
      to.blend.color_write_enables = from.blend.color_write_enables;
      return;
    case S::color_blend_enable:
    case S::color_blend_equation:
    case S::color_write_mask:
      return copy_attachments(which, from.blend, to.blend);
    default:
      assert(dynamic_state_info(which).missing);  // refused when it was asked for
  }
}

std::string names_of(DynamicStates states) {
  std::string text;
  for (uint32_t i = 0; i < kDynamicStates; i++) {
    const auto state = static_cast<DynamicState>(i);
    if (!states.has(state)) continue;
    const DynamicStateInfo& info = dynamic_state_info(state);
    if (!text.empty()) text += ", ";
    text += "VK_DYNAMIC_STATE_";
    for (const char* c = info.name; *c; c++) text += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
    const bool extension = info.vulkan >= VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT &&
                           !(info.vulkan >= VK_DYNAMIC_STATE_CULL_MODE && info.vulkan <= VK_DYNAMIC_STATE_STENCIL_OP) &&
                           info.vulkan != VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE && info.vulkan != VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE &&
                           info.vulkan != VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE;
    if (extension) text += "_EXT";
  }
  return text;
}

}  // namespace tilegpu::pipeline
