// device/command_dynamic_state.cpp -- stage: recording, dynamic state. In: vkCmdSet*. Out: what the next draws take
// (command/state_recorder.hpp).
//
// A value that repeats the last one leaves no trace: draws go on with the state that they share. Source: Vulkan specification, "Dynamic
// State"; VK_EXT_extended_dynamic_state, 2 and 3, VK_EXT_vertex_input_dynamic_state, VK_EXT_color_write_enable.
#include <cstring>
#include <utility>

#include "device/recorder.hpp"
#include "pipeline/shading_rate.hpp"
#include "vk/blend_op.hpp"

namespace tilegpu {

using device::invalid;
using device::Recorder;
using S = DynamicState;

namespace {

// Of the call that sets it, whose name only misuse wants.
Recorder& at(const std::unique_ptr<Recorder>& recorder, S which) {
  recorder->turn.await();
  if (device::is_outside(*recorder)) device::note_misuse(*recorder, "set_" + std::string(dynamic_state_info(which).name));
  return *recorder;
}

template <class T>
void put(const std::unique_ptr<Recorder>& recorder, S which, T& field, const T& value) {
  Recorder& r = at(recorder, which);
  if (r.dynamic.set(which, field, value)) r.state_dirty = true;
}

// One field of a face or of both.
template <class T>
void put_faces(const std::unique_ptr<Recorder>& recorder, S which, VkStencilFaceFlags faces, T VkStencilOpState::* field, T value) {
  Recorder& r = at(recorder, which);
  DepthStencilState& ds = r.dynamic.given().depth_stencil;
  bool changed = !r.dynamic.is_set(which);
  if (faces & VK_STENCIL_FACE_FRONT_BIT) changed |= std::exchange(ds.front.*field, value) != value;
  if (faces & VK_STENCIL_FACE_BACK_BIT) changed |= std::exchange(ds.back.*field, value) != value;
  if (r.dynamic.note(which, changed)) r.state_dirty = true;
}

// Of colour attachments: `change` says whether it changed one.
template <class T, class F>
Status put_attachments(const std::unique_ptr<Recorder>& recorder, S which, uint32_t first, std::span<const T> values, F change) {
  if (first > kMaxColorAttachments || values.size() > kMaxColorAttachments - first)
    return invalid("set_" + std::string(dynamic_state_info(which).name) + ": attachments " + std::to_string(first) + " to " +
                   std::to_string(first + values.size()) + "; at most " + std::to_string(kMaxColorAttachments) + " are allowed");
  Recorder& r = at(recorder, which);
  auto& attachments = r.dynamic.given().blend.attachments;
  VkPipelineColorBlendAttachmentState plain{};
  plain.colorWriteMask = 0xf;
  bool changed = !r.dynamic.is_set(which);
  while (attachments.size() < first + values.size()) attachments.push_back(plain), changed = true;
  for (size_t i = 0; i < values.size(); i++) changed |= change(attachments[first + i], values[i]);
  if (r.dynamic.note_attachments(which, first, static_cast<uint32_t>(values.size()), changed)) r.state_dirty = true;
  return Ok{};
}

// Viewports or scissors from `first` on; both commands that set them set both states. Numbers between that nobody sets show nothing.
template <class T>
void put_numbered(const std::unique_ptr<Recorder>& recorder, S which, FixedList<T, kMaxViewports>& list, uint32_t first,
                  std::span<const T> values) {
  assert(first + values.size() <= kMaxViewports);
  const S with_count = which == S::viewport ? S::viewport_with_count : S::scissor_with_count;
  Recorder& r = at(recorder, which);
  bool changed = !r.dynamic.is_set(which);
  if (changed) list.clear();
  while (list.size() < first + values.size()) list.push_back(T{}), changed = true;
  for (size_t i = 0; i < values.size(); i++)
    if (std::memcmp(&list[first + i], &values[i], sizeof(T)) != 0) list[first + i] = values[i], changed = true;
  if (r.dynamic.note(which, changed)) r.state_dirty = true;
  r.dynamic.note(with_count, !r.dynamic.is_set(with_count));
}

template <class T>
void shorten(const std::unique_ptr<Recorder>& recorder, S which, FixedList<T, kMaxViewports>& list, size_t count) {
  if (list.size() <= count) return;
  const FixedList<T, kMaxViewports> before = list;
  list.assign(before.begin(), before.begin() + count);
  Recorder& r = *recorder;
  if (r.dynamic.is_set(which) && r.dynamic.note(which, true)) r.state_dirty = true;
}

Status check_numbers(S which, uint32_t first, size_t count, size_t least) {
  if (count >= least && first <= kMaxViewports && count <= kMaxViewports - first) return Ok{};
  return invalid("set_" + std::string(dynamic_state_info(which).name) + ": numbers " + std::to_string(first) + " to " +
                 std::to_string(first + count) + "; " + std::to_string(least) + " to " + std::to_string(kMaxViewports) + " are allowed");
}

Status refuse(S which, const std::string& why) {
  const DynamicStateInfo& info = dynamic_state_info(which);
  return Error{VK_ERROR_FEATURE_NOT_PRESENT,
               "set_" + std::string(info.name) + " (VkDynamicState " + std::to_string(static_cast<int>(info.vulkan)) + "): " + why};
}

}  // namespace

void CommandBuffer::set_viewport(const VkViewport& viewport) {
  put_numbered(recorder_, S::viewport, recorder_->dynamic.given().viewports, 0, std::span(&viewport, 1));
}
void CommandBuffer::set_scissor(const VkRect2D& scissor) {
  put_numbered(recorder_, S::scissor, recorder_->dynamic.given().scissors, 0, std::span(&scissor, 1));
}
void CommandBuffer::reset_viewport() {
  Recorder& r = at(recorder_, S::viewport);
  r.state_dirty |= r.dynamic.is_set(S::viewport);
  r.dynamic.unset(S::viewport), r.dynamic.unset(S::viewport_with_count);
  r.dynamic.given().viewports.clear();
}
Status CommandBuffer::set_viewports(uint32_t first, std::span<const VkViewport> viewports) {
  if (Status ok = check_numbers(S::viewport, first, viewports.size(), 0); !ok) return ok;
  put_numbered(recorder_, S::viewport, recorder_->dynamic.given().viewports, first, viewports);
  return Ok{};
}
Status CommandBuffer::set_scissors(uint32_t first, std::span<const VkRect2D> scissors) {
  if (Status ok = check_numbers(S::scissor, first, scissors.size(), 0); !ok) return ok;
  put_numbered(recorder_, S::scissor, recorder_->dynamic.given().scissors, first, scissors);
  return Ok{};
}
Status CommandBuffer::set_viewport_with_count(std::span<const VkViewport> viewports) {
  if (Status ok = check_numbers(S::viewport_with_count, 0, viewports.size(), 1); !ok) return ok;
  shorten(recorder_, S::viewport, recorder_->dynamic.given().viewports, viewports.size());
  put_numbered(recorder_, S::viewport, recorder_->dynamic.given().viewports, 0, viewports);
  return Ok{};
}
Status CommandBuffer::set_scissor_with_count(std::span<const VkRect2D> scissors) {
  if (Status ok = check_numbers(S::scissor_with_count, 0, scissors.size(), 1); !ok) return ok;
  shorten(recorder_, S::scissor, recorder_->dynamic.given().scissors, scissors.size());
  put_numbered(recorder_, S::scissor, recorder_->dynamic.given().scissors, 0, scissors);
  return Ok{};
}
void CommandBuffer::set_blend_constants(const std::array<float, 4>& constants) {
  put(recorder_, S::blend_constants, recorder_->dynamic.given().blend_constants, constants);
}

void CommandBuffer::set_stencil_reference(VkStencilFaceFlags faces, uint32_t reference) {
  put_faces(recorder_, S::stencil_reference, faces, &VkStencilOpState::reference, reference);
}
void CommandBuffer::set_stencil_compare_mask(VkStencilFaceFlags faces, uint32_t mask) {
  put_faces(recorder_, S::stencil_compare_mask, faces, &VkStencilOpState::compareMask, mask);
}
void CommandBuffer::set_stencil_write_mask(VkStencilFaceFlags faces, uint32_t mask) {
  put_faces(recorder_, S::stencil_write_mask, faces, &VkStencilOpState::writeMask, mask);
}
void CommandBuffer::set_stencil_op(VkStencilFaceFlags faces, VkStencilOp fail_op, VkStencilOp pass_op, VkStencilOp depth_fail_op,
                                   VkCompareOp compare_op) {
  put_faces(recorder_, S::stencil_op, faces, &VkStencilOpState::failOp, fail_op);
  put_faces(recorder_, S::stencil_op, faces, &VkStencilOpState::passOp, pass_op);
  put_faces(recorder_, S::stencil_op, faces, &VkStencilOpState::depthFailOp, depth_fail_op);
  put_faces(recorder_, S::stencil_op, faces, &VkStencilOpState::compareOp, compare_op);
}
void CommandBuffer::set_stencil_test_enable(bool enable) {
  put(recorder_, S::stencil_test_enable, recorder_->dynamic.given().depth_stencil.stencil_test, enable);
}

void CommandBuffer::set_depth_clamp_range(bool user, float min_depth_clamp, float max_depth_clamp) {
  RasterizationState& raster = recorder_->dynamic.given().rasterization;
  put(recorder_, S::depth_clamp_range, raster.depth_clamp_user, user);
  put(recorder_, S::depth_clamp_range, raster.min_depth_clamp, min_depth_clamp);
  put(recorder_, S::depth_clamp_range, raster.max_depth_clamp, max_depth_clamp);
}
void CommandBuffer::set_depth_bias(float constant, float clamp, float slope, DepthBiasRepresentation representation) {
  RasterizationState& raster = recorder_->dynamic.given().rasterization;
  put(recorder_, S::depth_bias, raster.depth_bias_constant, constant);
  put(recorder_, S::depth_bias, raster.depth_bias_clamp, clamp);
  put(recorder_, S::depth_bias, raster.depth_bias_slope, slope);
  put(recorder_, S::depth_bias, raster.depth_bias_representation, representation);
}
void CommandBuffer::set_depth_bias_enable(bool enable) {
  put(recorder_, S::depth_bias_enable, recorder_->dynamic.given().rasterization.depth_bias_enable, enable);
}
void CommandBuffer::set_depth_bounds(float min_depth_bounds, float max_depth_bounds) {
  DepthStencilState& ds = recorder_->dynamic.given().depth_stencil;
  put(recorder_, S::depth_bounds, ds.min_depth_bounds, min_depth_bounds);
  put(recorder_, S::depth_bounds, ds.max_depth_bounds, max_depth_bounds);
}
void CommandBuffer::set_depth_bounds_test_enable(bool enable) {
  put(recorder_, S::depth_bounds_test_enable, recorder_->dynamic.given().depth_stencil.depth_bounds_test, enable);
}
void CommandBuffer::set_depth_test_enable(bool enable) {
  put(recorder_, S::depth_test_enable, recorder_->dynamic.given().depth_stencil.depth_test, enable);
}
void CommandBuffer::set_depth_write_enable(bool enable) {
  put(recorder_, S::depth_write_enable, recorder_->dynamic.given().depth_stencil.depth_write, enable);
}
void CommandBuffer::set_depth_compare_op(VkCompareOp op) {
  put(recorder_, S::depth_compare_op, recorder_->dynamic.given().depth_stencil.depth_compare, op);
}
void CommandBuffer::set_depth_clamp_enable(bool enable) {
  put(recorder_, S::depth_clamp_enable, recorder_->dynamic.given().rasterization.depth_clamp, enable);
}
void CommandBuffer::set_depth_clip_enable(bool enable) {
  put(recorder_, S::depth_clip_enable, recorder_->dynamic.given().rasterization.depth_clip,
      enable ? DepthClip::enabled : DepthClip::disabled);
}
void CommandBuffer::set_depth_clip_negative_one_to_one(bool negative_one_to_one) {
  put(recorder_, S::depth_clip_negative_one_to_one, recorder_->dynamic.given().rasterization.depth_clip_negative_one_to_one,
      negative_one_to_one);
}

Status CommandBuffer::set_fragment_shading_rate(VkExtent2D size_px, const std::array<VkFragmentShadingRateCombinerOpKHR, 2>& combiner_ops) {
  FragmentShadingRateState rate{size_px.width, size_px.height, combiner_ops};
  if (Status ok = pipeline::check_shading_rate(rate, "set_fragment_shading_rate"); !ok) return ok;
  FragmentShadingRateState& given = recorder_->dynamic.given().shading_rate;
  put(recorder_, S::fragment_shading_rate, given.width_px, rate.width_px);
  put(recorder_, S::fragment_shading_rate, given.height_px, rate.height_px);
  put(recorder_, S::fragment_shading_rate, given.combiner_ops, rate.combiner_ops);
  return Ok{};
}

void CommandBuffer::set_cull_mode(VkCullModeFlags mode) {
  put(recorder_, S::cull_mode, recorder_->dynamic.given().rasterization.cull_mode, mode);
}
void CommandBuffer::set_front_face(VkFrontFace face) {
  put(recorder_, S::front_face, recorder_->dynamic.given().rasterization.front_face, face);
}
void CommandBuffer::set_primitive_topology(VkPrimitiveTopology topology) {
  put(recorder_, S::primitive_topology, recorder_->dynamic.given().topology, topology);
}
Status CommandBuffer::set_rasterization_stream(uint32_t stream) {
  if (stream >= kMaxStreams)
    return invalid("set_rasterization_stream: stream is " + std::to_string(stream) + "; there are 0 to " + std::to_string(kMaxStreams - 1));
  put(recorder_, S::rasterization_stream, recorder_->dynamic.given().rasterization.rasterization_stream, stream);
  return Ok{};
}
void CommandBuffer::set_patch_control_points(uint32_t count) {
  put(recorder_, S::patch_control_points, recorder_->dynamic.given().patch_control_points, count);
}
void CommandBuffer::set_tessellation_domain_origin(VkTessellationDomainOrigin origin) {
  put(recorder_, S::tessellation_domain_origin, recorder_->dynamic.given().domain_origin, origin);
}
void CommandBuffer::set_primitive_restart_enable(bool enable) {
  put(recorder_, S::primitive_restart_enable, recorder_->dynamic.given().primitive_restart, enable);
}
void CommandBuffer::set_rasterizer_discard_enable(bool enable) {
  put(recorder_, S::rasterizer_discard_enable, recorder_->dynamic.given().rasterization.rasterizer_discard, enable);
}
void CommandBuffer::set_line_width(float width) {
  put(recorder_, S::line_width, recorder_->dynamic.given().rasterization.line_width, width);
}
void CommandBuffer::set_line_rasterization_mode(VkLineRasterizationModeEXT mode) {
  put(recorder_, S::line_rasterization_mode, recorder_->dynamic.given().rasterization.line_mode, mode);
}
void CommandBuffer::set_line_stipple_enable(bool enable) {
  put(recorder_, S::line_stipple_enable, recorder_->dynamic.given().rasterization.line_stipple, enable);
}
Status CommandBuffer::set_line_stipple(uint32_t factor, uint16_t pattern) {
  if (factor == 0 || factor > kMaxLineStippleFactor)
    return invalid("set_line_stipple: factor is " + std::to_string(factor) + "; it must be 1 to " + std::to_string(kMaxLineStippleFactor));
  RasterizationState& raster = recorder_->dynamic.given().rasterization;
  put(recorder_, S::line_stipple, raster.line_stipple_factor, factor);
  put(recorder_, S::line_stipple, raster.line_stipple_pattern, pattern);
  return Ok{};
}
void CommandBuffer::set_conservative_rasterization_mode(VkConservativeRasterizationModeEXT mode) {
  put(recorder_, S::conservative_rasterization_mode, recorder_->dynamic.given().rasterization.conservative_mode, mode);
}
Status CommandBuffer::set_extra_primitive_overestimation_size(float size_px) {
  if (!(size_px >= 0 && size_px <= kMaxExtraOverestimation_px))
    return invalid("set_extra_primitive_overestimation_size: size is " + std::to_string(size_px) + " px; it must be 0 to " +
                   std::to_string(kMaxExtraOverestimation_px));
  put(recorder_, S::extra_primitive_overestimation_size, recorder_->dynamic.given().rasterization.extra_overestimation_px, size_px);
  return Ok{};
}
void CommandBuffer::set_polygon_mode(VkPolygonMode mode) {
  put(recorder_, S::polygon_mode, recorder_->dynamic.given().rasterization.polygon_mode, mode);
}
void CommandBuffer::set_provoking_vertex_mode(VkProvokingVertexModeEXT mode) {
  put(recorder_, S::provoking_vertex_mode, recorder_->dynamic.given().rasterization.provoking_vertex_last,
      mode == VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT);
}

void CommandBuffer::set_rasterization_samples(VkSampleCountFlagBits samples) {
  put(recorder_, S::rasterization_samples, recorder_->dynamic.given().multisample.samples, samples);
}
void CommandBuffer::set_sample_mask(uint32_t mask) {
  put(recorder_, S::sample_mask, recorder_->dynamic.given().multisample.sample_mask, mask);
}
Status CommandBuffer::set_discard_rectangles(uint32_t first, std::span<const VkRect2D> rectangles) {
  if (first > kMaxDiscardRectangles || rectangles.size() > kMaxDiscardRectangles - first)
    return invalid("set_discard_rectangle: numbers " + std::to_string(first) + " to " + std::to_string(first + rectangles.size()) +
                   "; 0 to " + std::to_string(kMaxDiscardRectangles) + " are allowed");
  for (const VkRect2D& rectangle : rectangles)
    if (Status ok = check_discard_rectangle(rectangle, "set_discard_rectangle"); !ok) return ok;
  Recorder& r = at(recorder_, S::discard_rectangle);
  auto& list = r.dynamic.given().discard_rectangles.rectangles;
  bool changed = !r.dynamic.is_set(S::discard_rectangle);
  if (rectangles.empty()) changed |= !list.empty();
  if (changed) list.clear();
  while (list.size() < first + rectangles.size()) list.push_back(VkRect2D{}), changed = true;
  for (size_t i = 0; i < rectangles.size(); i++)
    if (std::memcmp(&list[first + i], &rectangles[i], sizeof(VkRect2D)) != 0) list[first + i] = rectangles[i], changed = true;
  if (r.dynamic.note(S::discard_rectangle, changed)) r.state_dirty = true;
  return Ok{};
}
void CommandBuffer::set_discard_rectangle_enable(bool enable) {
  put(recorder_, S::discard_rectangle_enable, recorder_->dynamic.given().discard_rectangles.enable, enable);
}
void CommandBuffer::set_discard_rectangle_mode(VkDiscardRectangleModeEXT mode) {
  put(recorder_, S::discard_rectangle_mode, recorder_->dynamic.given().discard_rectangles.mode, mode);
}

void CommandBuffer::set_sample_locations_enable(bool enable) {
  put(recorder_, S::sample_locations_enable, recorder_->dynamic.given().multisample.sample_locations_enable, enable);
}
Status CommandBuffer::set_sample_locations(const VkSampleLocationsInfoEXT& info) {
  Expected<SampleLocations> locations = sample_locations_of(info, "set_sample_locations");
  if (!locations) return locations.error();
  put(recorder_, S::sample_locations, recorder_->dynamic.given().multisample.sample_locations, *locations);
  return Ok{};
}
void CommandBuffer::set_alpha_to_coverage_enable(bool enable) {
  put(recorder_, S::alpha_to_coverage_enable, recorder_->dynamic.given().multisample.alpha_to_coverage, enable);
}
void CommandBuffer::set_alpha_to_one_enable(bool enable) {
  put(recorder_, S::alpha_to_one_enable, recorder_->dynamic.given().multisample.alpha_to_one, enable);
}
void CommandBuffer::set_logic_op_enable(bool enable) {
  put(recorder_, S::logic_op_enable, recorder_->dynamic.given().blend.logic_op_enable, enable);
}
void CommandBuffer::set_logic_op(VkLogicOp op) { put(recorder_, S::logic_op, recorder_->dynamic.given().blend.logic_op, op); }

Status CommandBuffer::set_color_blend_enable(uint32_t first, std::span<const VkBool32> enables) {
  return put_attachments(recorder_, S::color_blend_enable, first, enables,
                         [](auto& a, VkBool32 enable) { return std::exchange(a.blendEnable, enable) != enable; });
}
Status CommandBuffer::set_color_blend_equation(uint32_t first, std::span<const VkColorBlendEquationEXT> equations) {
  for (const VkColorBlendEquationEXT& e : equations)
    for (const auto& [name, op] : {std::pair("colorBlendOp", e.colorBlendOp), std::pair("alphaBlendOp", e.alphaBlendOp)})
      if (vk::is_advanced(op))
        return invalid(std::string("set_color_blend_equation: ") + name + " is " + vk::blend_op_name(op) +
                       ", an advanced operation; set it by set_color_blend_advanced");
  return put_attachments(recorder_, S::color_blend_equation, first, equations, [](auto& a, const VkColorBlendEquationEXT& e) {
    const VkPipelineColorBlendAttachmentState before = a;
    a.srcColorBlendFactor = e.srcColorBlendFactor, a.dstColorBlendFactor = e.dstColorBlendFactor, a.colorBlendOp = e.colorBlendOp;
    a.srcAlphaBlendFactor = e.srcAlphaBlendFactor, a.dstAlphaBlendFactor = e.dstAlphaBlendFactor, a.alphaBlendOp = e.alphaBlendOp;
    return std::memcmp(&before, &a, sizeof a) != 0;
  });
}
Status CommandBuffer::set_color_blend_advanced(uint32_t first, std::span<const VkColorBlendAdvancedEXT> blends) {
  return put_attachments(recorder_, S::color_blend_advanced, first, blends, [&](auto& a, const VkColorBlendAdvancedEXT& b) {
    ColorBlendState& state = recorder_->dynamic.given().blend;
    AdvancedBlend& advanced = state.advanced[static_cast<size_t>(&a - state.attachments.begin())];
    const AdvancedBlend given{b.srcPremultiplied != 0, b.dstPremultiplied != 0, b.clampResults != 0, b.blendOverlap};
    const bool same = a.colorBlendOp == b.advancedBlendOp && a.alphaBlendOp == b.advancedBlendOp && advanced == given;
    a.colorBlendOp = a.alphaBlendOp = b.advancedBlendOp, advanced = given;
    return !same;
  });
}
Status CommandBuffer::set_color_write_mask(uint32_t first, std::span<const VkColorComponentFlags> masks) {
  return put_attachments(recorder_, S::color_write_mask, first, masks,
                         [](auto& a, VkColorComponentFlags mask) { return std::exchange(a.colorWriteMask, mask) != mask; });
}
Status CommandBuffer::set_color_write_enable(std::span<const VkBool32> enables) {
  if (enables.size() > kMaxColorAttachments)
    return refuse(S::color_write_enable, std::to_string(enables.size()) + " attachments; at most 8 are allowed");
  uint32_t bits = ~0u;
  for (size_t i = 0; i < enables.size(); i++)
    if (!enables[i]) bits &= ~(1u << i);
  put(recorder_, S::color_write_enable, recorder_->dynamic.given().blend.color_write_enables, bits);
  return Ok{};
}

Status CommandBuffer::set_vertex_input(std::span<const VkVertexInputBindingDescription2EXT> bindings,
                                       std::span<const VkVertexInputAttributeDescription2EXT> attributes) {
  if (bindings.size() > kMaxVertexBindings || attributes.size() > kMaxVertexAttributes)
    return refuse(S::vertex_input, std::to_string(bindings.size()) + " bindings and " + std::to_string(attributes.size()) +
                                       " attributes; at most 16 of each are allowed");
  if (at(recorder_, S::vertex_input).dynamic.set_vertex_input(bindings, attributes)) recorder_->state_dirty = true;
  return Ok{};
}

Status CommandBuffer::bind_vertex_buffer2(uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B,
                                          std::optional<uint32_t> stride_B) {
  if (binding >= kMaxVertexBindings)
    return invalid("bind_vertex_buffer2: binding " + std::to_string(binding) + "; numbers go from 0 to " +
                   std::to_string(kMaxVertexBindings - 1));
  bind_vertex_buffer(binding, std::move(buffer), offset_B);
  shader::VertexBinding& bound = recorder_->state.vertex_bindings[binding];
  if (size_B != VK_WHOLE_SIZE && size_B > bound.size_B)
    return invalid("bind_vertex_buffer2: binding " + std::to_string(binding) + " has size " + std::to_string(size_B) +
                   " B; behind its offset the buffer has " + std::to_string(bound.size_B) + " B");
  if (size_B != VK_WHOLE_SIZE) bound.size_B = size_B;
  if (stride_B && recorder_->dynamic.set_stride(binding, *stride_B)) recorder_->state_dirty = true;
  return Ok{};
}

}  // namespace tilegpu
