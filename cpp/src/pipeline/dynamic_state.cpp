// pipeline/dynamic_state.cpp -- see dynamic_state.hpp.
#include "pipeline/dynamic_state.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cstring>
#include "vk/given.hpp"

namespace tilegpu {

namespace {

#define STATE(field, vulkan) \
  DynamicStateInfo { DynamicState::field, VK_DYNAMIC_STATE_##vulkan, #field }
constexpr DynamicStateInfo kStates[] = {
    STATE(viewport, VIEWPORT),
    STATE(scissor, SCISSOR),
    STATE(line_width, LINE_WIDTH),
    STATE(depth_bias, DEPTH_BIAS),
    STATE(blend_constants, BLEND_CONSTANTS),
    STATE(depth_bounds, DEPTH_BOUNDS),
    STATE(stencil_compare_mask, STENCIL_COMPARE_MASK),
    STATE(stencil_write_mask, STENCIL_WRITE_MASK),
    STATE(stencil_reference, STENCIL_REFERENCE),
    STATE(cull_mode, CULL_MODE),
    STATE(front_face, FRONT_FACE),
    STATE(primitive_topology, PRIMITIVE_TOPOLOGY),
    STATE(viewport_with_count, VIEWPORT_WITH_COUNT),
    STATE(scissor_with_count, SCISSOR_WITH_COUNT),
    STATE(vertex_input_binding_stride, VERTEX_INPUT_BINDING_STRIDE),
    STATE(depth_test_enable, DEPTH_TEST_ENABLE),
    STATE(depth_write_enable, DEPTH_WRITE_ENABLE),
    STATE(depth_compare_op, DEPTH_COMPARE_OP),
    STATE(depth_bounds_test_enable, DEPTH_BOUNDS_TEST_ENABLE),
    STATE(stencil_test_enable, STENCIL_TEST_ENABLE),
    STATE(stencil_op, STENCIL_OP),
    STATE(rasterizer_discard_enable, RASTERIZER_DISCARD_ENABLE),
    STATE(depth_bias_enable, DEPTH_BIAS_ENABLE),
    STATE(primitive_restart_enable, PRIMITIVE_RESTART_ENABLE),
    STATE(patch_control_points, PATCH_CONTROL_POINTS_EXT),
    STATE(logic_op, LOGIC_OP_EXT),
    STATE(vertex_input, VERTEX_INPUT_EXT),
    STATE(color_write_enable, COLOR_WRITE_ENABLE_EXT),
    STATE(tessellation_domain_origin, TESSELLATION_DOMAIN_ORIGIN_EXT),
    STATE(depth_clamp_enable, DEPTH_CLAMP_ENABLE_EXT),
    STATE(polygon_mode, POLYGON_MODE_EXT),
    STATE(rasterization_samples, RASTERIZATION_SAMPLES_EXT),
    STATE(sample_mask, SAMPLE_MASK_EXT),
    STATE(alpha_to_coverage_enable, ALPHA_TO_COVERAGE_ENABLE_EXT),
    STATE(alpha_to_one_enable, ALPHA_TO_ONE_ENABLE_EXT),
    STATE(logic_op_enable, LOGIC_OP_ENABLE_EXT),
    STATE(color_blend_enable, COLOR_BLEND_ENABLE_EXT),
    STATE(color_blend_equation, COLOR_BLEND_EQUATION_EXT),
    STATE(color_write_mask, COLOR_WRITE_MASK_EXT),
    STATE(rasterization_stream, RASTERIZATION_STREAM_EXT),
    STATE(conservative_rasterization_mode, CONSERVATIVE_RASTERIZATION_MODE_EXT),
    STATE(extra_primitive_overestimation_size, EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT),
    STATE(depth_clip_enable, DEPTH_CLIP_ENABLE_EXT),
    STATE(sample_locations_enable, SAMPLE_LOCATIONS_ENABLE_EXT),
    STATE(sample_locations, SAMPLE_LOCATIONS_EXT),
    STATE(color_blend_advanced, COLOR_BLEND_ADVANCED_EXT),
    STATE(provoking_vertex_mode, PROVOKING_VERTEX_MODE_EXT),
    STATE(line_rasterization_mode, LINE_RASTERIZATION_MODE_EXT),
    STATE(line_stipple_enable, LINE_STIPPLE_ENABLE_EXT),
    STATE(line_stipple, LINE_STIPPLE_EXT),
    STATE(depth_clip_negative_one_to_one, DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT),
    STATE(depth_clamp_range, DEPTH_CLAMP_RANGE_EXT),
    STATE(fragment_shading_rate, FRAGMENT_SHADING_RATE_KHR),
    STATE(discard_rectangle, DISCARD_RECTANGLE_EXT),
    STATE(discard_rectangle_enable, DISCARD_RECTANGLE_ENABLE_EXT),
    STATE(discard_rectangle_mode, DISCARD_RECTANGLE_MODE_EXT),
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
  if (key.ends_with("_ext") || key.ends_with("_khr")) key.erase(key.size() - 4);
  for (const DynamicStateInfo& info : kStates)
    if (key == info.name) return &info;
  return nullptr;
}

Status check_discard_rectangle(const VkRect2D& r, const std::string& what) {
  assert(!what.empty());
  const auto fits = [](int32_t offset, uint32_t extent) { return offset >= 0 && int64_t{offset} + extent <= INT32_MAX; };
  if (fits(r.offset.x, r.extent.width) && fits(r.offset.y, r.extent.height)) return Ok{};
  return Error{VK_ERROR_INITIALIZATION_FAILED, what + ": the rectangle at (" + std::to_string(r.offset.x) + ", " +
                                                   std::to_string(r.offset.y) + ") of " + std::to_string(r.extent.width) + "x" +
                                                   std::to_string(r.extent.height) +
                                                   " px must begin at no negative pixel and end within 31 bits"};
}

Expected<SampleLocations> sample_locations_of(const VkSampleLocationsInfoEXT& info, const std::string& what) {
  const auto invalid = [&](const std::string& text) { return Error{VK_ERROR_VALIDATION_FAILED_EXT, what + ": " + text}; };
  const uint32_t count = vk::given(info.sampleLocationsPerPixel);
  if (info.sampleLocationGridSize.width != 1 || info.sampleLocationGridSize.height != 1)
    return invalid("sampleLocationGridSize is " + std::to_string(info.sampleLocationGridSize.width) + " x " +
                   std::to_string(info.sampleLocationGridSize.height) + "; maxSampleLocationGridSize is 1 x 1");
  if (count == 0 || count > 16 || (count & (count - 1)))
    return invalid("sampleLocationsPerPixel is " + std::to_string(count) + "; allowed are 1, 2, 4, 8 and 16");
  if (info.sampleLocationsCount != count)
    return invalid("sampleLocationsCount is " + std::to_string(info.sampleLocationsCount) + "; it must be sampleLocationsPerPixel, " +
                   std::to_string(count) + ", times the grid's size, 1 x 1");
  SampleLocations out;
  out.count = count;
  // NaN is 0. Halves go to the greater sixteenth.
  const auto place = [](float v) { return v > 0 ? static_cast<float>(static_cast<int32_t>(std::min(v, 0.9375f) * 16 + 0.5f)) / 16 : 0; };
  for (uint32_t s = 0; s < count; s++) {
    out.at_px[2 * s] = place(info.pSampleLocations[s].x);
    out.at_px[2 * s + 1] = place(info.pSampleLocations[s].y);
  }
  return out;
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
constexpr DynamicStates kResolving = mask_of(
    S::vertex_input, S::vertex_input_binding_stride, S::depth_test_enable, S::depth_write_enable, S::stencil_test_enable, S::stencil_op,
    S::stencil_write_mask, S::rasterization_samples, S::alpha_to_coverage_enable, S::alpha_to_one_enable, S::logic_op, S::logic_op_enable,
    S::color_blend_enable, S::color_blend_equation, S::color_blend_advanced, S::color_write_mask, S::color_write_enable,
    S::line_rasterization_mode, S::fragment_shading_rate, S::conservative_rasterization_mode, S::sample_locations_enable);
// Nothing else is read where nothing is rasterized.
constexpr DynamicStates kBeforeRasterization =
    mask_of(S::vertex_input, S::vertex_input_binding_stride, S::primitive_topology, S::primitive_restart_enable,
            S::rasterizer_discard_enable, S::viewport, S::viewport_with_count, S::patch_control_points, S::tessellation_domain_origin);

bool uses_constant(VkBlendFactor factor) {
  return factor == VK_BLEND_FACTOR_CONSTANT_COLOR || factor == VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR ||
         factor == VK_BLEND_FACTOR_CONSTANT_ALPHA || factor == VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
}

// Equations and masks meet in one struct; lists grow to the longer one.
VkPipelineColorBlendAttachmentState unblended() {
  VkPipelineColorBlendAttachmentState plain{};
  plain.colorWriteMask = 0xf;
  return plain;
}
template <DynamicState which>
void copy_attachments(const GraphicsState& given, GraphicsState& state) {
  const ColorBlendState& from = given.blend;
  ColorBlendState& to = state.blend;
  const VkPipelineColorBlendAttachmentState plain = unblended();
  while (to.attachments.size() < from.attachments.size()) to.attachments.push_back(plain);
  for (size_t i = 0; i < to.attachments.size(); i++) {
    VkPipelineColorBlendAttachmentState& a = to.attachments[i];
    const VkPipelineColorBlendAttachmentState& b = i < from.attachments.size() ? from.attachments[i] : plain;
    if (which == S::color_blend_enable) a.blendEnable = b.blendEnable;
    if (which == S::color_write_mask) a.colorWriteMask = b.colorWriteMask;
    if (which == S::color_blend_advanced) a.colorBlendOp = b.colorBlendOp, a.alphaBlendOp = b.alphaBlendOp;
    if (which != S::color_blend_equation) continue;
    const VkBool32 enable = a.blendEnable;
    const VkColorComponentFlags mask = a.colorWriteMask;
    a = b;
    a.blendEnable = enable, a.colorWriteMask = mask;
  }
  if (which == S::color_blend_advanced) to.advanced = from.advanced;
}

using Copy = void (*)(const GraphicsState& from, GraphicsState& to);

/// Members of the state itself.
template <auto... members>
void copy_members(const GraphicsState& from, GraphicsState& to) {
  ((to.*members = from.*members), ...);
}

/// Members of one of its parts.
template <auto part, auto... members>
void copy_part(const GraphicsState& from, GraphicsState& to) {
  (((to.*part).*members = (from.*part).*members), ...);
}

/// Members of both faces' stencil state.
template <auto... members>
void copy_faces(const GraphicsState& from, GraphicsState& to) {
  ((to.depth_stencil.front.*members = from.depth_stencil.front.*members), ...);
  ((to.depth_stencil.back.*members = from.depth_stencil.back.*members), ...);
}

void copy_strides(const GraphicsState& from, GraphicsState& to) {
  for (VertexInputBinding& binding : to.vertex_bindings)
    for (const VertexInputBinding& given : from.vertex_bindings)
      if (given.binding == binding.binding) binding.stride = given.stride;
}

/// How each state is copied.
struct Copies {
  std::array<Copy, kDynamicStates> of{};
  std::array<bool, kDynamicStates> given{};  // GCC 12 with UBSan can't compare functions' addresses with null in a constant expression
  constexpr Copy& operator[](DynamicState state) {
    given[static_cast<size_t>(state)] = true;
    return of[static_cast<size_t>(state)];
  }
};

constexpr Copies kCopies = [] {
  using G = GraphicsState;
  using R = RasterizationState;
  using D = DepthStencilState;
  using M = MultisampleState;
  using B = ColorBlendState;
  using X = DiscardRectangleState;
  constexpr auto raster = &G::rasterization;
  constexpr auto depth = &G::depth_stencil;
  constexpr auto multi = &G::multisample;
  constexpr auto blend = &G::blend;
  constexpr auto discard = &G::discard_rectangles;
  Copies c;
  c[S::viewport] = c[S::viewport_with_count] = copy_members<&G::viewports>;
  c[S::scissor] = c[S::scissor_with_count] = copy_members<&G::scissors>;
  c[S::line_width] = copy_part<raster, &R::line_width>;
  c[S::depth_bias] = copy_part<raster, &R::depth_bias_constant, &R::depth_bias_clamp, &R::depth_bias_slope, &R::depth_bias_representation>;
  c[S::blend_constants] = copy_members<&G::blend_constants>;
  c[S::depth_bounds] = copy_part<depth, &D::min_depth_bounds, &D::max_depth_bounds>;
  c[S::stencil_compare_mask] = copy_faces<&VkStencilOpState::compareMask>;
  c[S::stencil_write_mask] = copy_faces<&VkStencilOpState::writeMask>;
  c[S::stencil_reference] = copy_faces<&VkStencilOpState::reference>;
  c[S::stencil_op] =
      copy_faces<&VkStencilOpState::failOp, &VkStencilOpState::passOp, &VkStencilOpState::depthFailOp, &VkStencilOpState::compareOp>;
  c[S::cull_mode] = copy_part<raster, &R::cull_mode>;
  c[S::front_face] = copy_part<raster, &R::front_face>;
  c[S::primitive_topology] = copy_members<&G::topology>;
  c[S::primitive_restart_enable] = copy_members<&G::primitive_restart>;
  c[S::patch_control_points] = copy_members<&G::patch_control_points>;
  c[S::tessellation_domain_origin] = copy_members<&G::domain_origin>;
  c[S::vertex_input] = copy_members<&G::vertex_bindings, &G::vertex_attributes>;
  c[S::vertex_input_binding_stride] = copy_strides;
  c[S::depth_test_enable] = copy_part<depth, &D::depth_test>;
  c[S::depth_write_enable] = copy_part<depth, &D::depth_write>;
  c[S::depth_compare_op] = copy_part<depth, &D::depth_compare>;
  c[S::depth_bounds_test_enable] = copy_part<depth, &D::depth_bounds_test>;
  c[S::stencil_test_enable] = copy_part<depth, &D::stencil_test>;
  c[S::rasterizer_discard_enable] = copy_part<raster, &R::rasterizer_discard>;
  c[S::depth_bias_enable] = copy_part<raster, &R::depth_bias_enable>;
  c[S::depth_clamp_enable] = copy_part<raster, &R::depth_clamp>;
  c[S::depth_clamp_range] = copy_part<raster, &R::depth_clamp_user, &R::min_depth_clamp, &R::max_depth_clamp>;
  c[S::depth_clip_enable] = copy_part<raster, &R::depth_clip>;
  c[S::depth_clip_negative_one_to_one] = copy_part<raster, &R::depth_clip_negative_one_to_one>;
  c[S::rasterization_stream] = copy_part<raster, &R::rasterization_stream>;
  c[S::polygon_mode] = copy_part<raster, &R::polygon_mode>;
  c[S::provoking_vertex_mode] = copy_part<raster, &R::provoking_vertex_last>;
  c[S::rasterization_samples] = copy_part<multi, &M::samples>;
  c[S::sample_mask] = copy_part<multi, &M::sample_mask>;
  c[S::alpha_to_coverage_enable] = copy_part<multi, &M::alpha_to_coverage>;
  c[S::alpha_to_one_enable] = copy_part<multi, &M::alpha_to_one>;
  c[S::logic_op] = copy_part<blend, &B::logic_op>;
  c[S::logic_op_enable] = copy_part<blend, &B::logic_op_enable>;
  c[S::color_write_enable] = copy_part<blend, &B::color_write_enables>;
  c[S::color_blend_enable] = copy_attachments<S::color_blend_enable>;
  c[S::color_blend_equation] = copy_attachments<S::color_blend_equation>;
  c[S::color_write_mask] = copy_attachments<S::color_write_mask>;
  c[S::color_blend_advanced] = copy_attachments<S::color_blend_advanced>;
  c[S::conservative_rasterization_mode] = copy_part<raster, &R::conservative_mode>;
  c[S::extra_primitive_overestimation_size] = copy_part<raster, &R::extra_overestimation_px>;
  c[S::sample_locations_enable] = copy_part<multi, &M::sample_locations_enable>;
  c[S::sample_locations] = copy_part<multi, &M::sample_locations>;
  c[S::line_rasterization_mode] = copy_part<raster, &R::line_mode>;
  c[S::fragment_shading_rate] = copy_members<&G::shading_rate>;
  c[S::discard_rectangle] = copy_part<discard, &X::rectangles>;
  c[S::discard_rectangle_enable] = copy_part<discard, &X::enable>;
  c[S::discard_rectangle_mode] = copy_part<discard, &X::mode>;
  c[S::line_stipple_enable] = copy_part<raster, &R::line_stipple>;
  c[S::line_stipple] = copy_part<raster, &R::line_stipple_factor, &R::line_stipple_pattern>;
  return c;
}();
static_assert([] {
  for (uint32_t i = 0; i < kDynamicStates; i++)
    if (!kCopies.given[i]) return false;
  return true;
}());

}  // namespace

Expected<DynamicStates> dynamic_states(const std::vector<VkDynamicState>& states) {
  DynamicStates mask;
  for (const VkDynamicState state : states) {
    const DynamicStateInfo* info = find_dynamic_state(state);
    if (!info)
      return Error{VK_ERROR_FEATURE_NOT_PRESENT,
                   "dynamic_states has VkDynamicState " + std::to_string(static_cast<int>(state)) + ", which tilegpu does not know"};
    mask.add(info->state);
  }
  return mask;
}

DynamicStates always_settable() { return kAlways; }
DynamicStates resolving_states() { return kResolving; }
DynamicStates ignored_by_meshes() {
  return mask_of(S::vertex_input, S::vertex_input_binding_stride, S::primitive_topology, S::primitive_restart_enable,
                 S::patch_control_points, S::tessellation_domain_origin);
}

bool draws_lines(const FixedFunctionState& state, uint32_t made_vertices) {
  switch (state.topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      if (made_vertices == 0) return false;
      break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
      if (made_vertices == 0) return true;
      break;
    default:
      break;
  }
  return made_vertices == 2 || (made_vertices != 1 && state.rasterization.polygon_mode == VK_POLYGON_MODE_LINE);
}

/// Is one side culled, or its stencil tested in another way than the other's?
static bool asks_for_sides(const GraphicsState& state) {
  const VkCullModeFlags culled = state.rasterization.cull_mode;
  if (culled == VK_CULL_MODE_FRONT_BIT || culled == VK_CULL_MODE_BACK_BIT) return true;
  static_assert(std::has_unique_object_representations_v<VkStencilOpState>);
  const DepthStencilState& ds = state.depth_stencil;
  return ds.stencil_test && std::memcmp(&ds.front, &ds.back, sizeof ds.front) != 0;
}

DynamicStates needed_states(const GraphicsState& state, DynamicStates dynamic, const PrimitiveStages& stages, bool reads_front_facing) {
  const auto drop = [&](DynamicStates mask) { dynamic.bits &= ~mask.bits; };
  if (dynamic.has(S::vertex_input)) drop(mask_of(S::vertex_input_binding_stride));  // it comes with the whole
  if (state.vertex_bindings.empty()) drop(mask_of(S::vertex_input_binding_stride));
  if (state.topology != VK_PRIMITIVE_TOPOLOGY_PATCH_LIST) drop(mask_of(S::patch_control_points, S::tessellation_domain_origin));
  if (stages.meshes) drop(ignored_by_meshes());
  if (state.rasterization.rasterizer_discard) return {dynamic.bits & kBeforeRasterization.bits};
  const DepthStencilState& ds = state.depth_stencil;
  if (!ds.depth_test) drop(mask_of(S::depth_write_enable, S::depth_compare_op));
  if (!ds.depth_bounds_test) drop(mask_of(S::depth_bounds));
  if (!ds.stencil_test) drop(mask_of(S::stencil_op, S::stencil_compare_mask, S::stencil_write_mask, S::stencil_reference));
  if (!asks_for_sides(state) && !reads_front_facing) drop(mask_of(S::front_face));
  if (!state.rasterization.depth_bias_enable) drop(mask_of(S::depth_bias));
  if (!state.rasterization.depth_clamp) drop(mask_of(S::depth_clamp_range));
  if (!draws_lines(state, stages.made_vertices()))
    drop(mask_of(S::line_width, S::line_rasterization_mode, S::line_stipple_enable, S::line_stipple));
  if (!state.rasterization.line_stipple) drop(mask_of(S::line_stipple));
  if (state.rasterization.conservative_mode != VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT)
    drop(mask_of(S::extra_primitive_overestimation_size));
  // Where nobody said that there are any, there are none: states that came late to "all that are dynamic".
  drop(mask_of(S::discard_rectangle_enable));
  if (!state.discard_rectangles.enable) drop(mask_of(S::discard_rectangle, S::discard_rectangle_mode));
  if (!state.multisample.sample_locations_enable) drop(mask_of(S::sample_locations));
  if (!state.blend.logic_op_enable) drop(mask_of(S::logic_op));
  bool blends = false, constants = false;
  for (const VkPipelineColorBlendAttachmentState& a : state.blend.attachments) {
    if (!a.blendEnable) continue;
    blends = true;
    constants |= uses_constant(a.srcColorBlendFactor) || uses_constant(a.dstColorBlendFactor) || uses_constant(a.srcAlphaBlendFactor) ||
                 uses_constant(a.dstAlphaBlendFactor);
  }
  if (!blends) drop(mask_of(S::color_blend_equation, S::color_blend_advanced));
  if (!constants) drop(mask_of(S::blend_constants));
  return dynamic;
}

void copy_state(DynamicState which, const GraphicsState& from, GraphicsState& to) {
  const Copy copy = kCopies.of[static_cast<size_t>(which)];
  assert(copy);
  copy(from, to);
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
    if (extension) text += info.vulkan == VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR ? "_KHR" : "_EXT";
  }
  return text;
}

}  // namespace tilegpu::pipeline
