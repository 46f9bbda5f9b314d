// icd/dynamic_state.cpp -- vkCmdSet*: Vulkan 1.0 and 1.3, VK_EXT_extended_dynamic_state 1 to 3, VK_EXT_vertex_input_dynamic_state,
// VK_EXT_color_write_enable, VK_EXT_line_rasterization, VK_EXT_sample_locations, VK_EXT_discard_rectangles,
// VK_EXT_attachment_feedback_loop_dynamic_state.
//
// In: Vulkan's commands. Out: the core's, of the same names.
// Source: Vulkan specification, "Dynamic State".
#include "icd/dynamic_state.hpp"

#include <cassert>

#include "icd/generated/commands.hpp"
#include "icd/subpass.hpp"

namespace tilegpu::icd {

// Of states that draws with shader objects need not have (icd/shader_pipelines.cpp): that this one is set.
static void note_given(VkCommandBuffer commands, DynamicState state) { commands->shaders.given.add(state); }

// Whether it is one of an enumeration's first `count` values; else that is said, and the buffer is invalid.
template <class Value>
static bool is_one(VkCommandBuffer commands, const char* command, Value value, uint32_t count) {
  assert(commands && command && count > 0);
  if (static_cast<uint32_t>(value) < count) return true;
  record(commands, Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(command) + ": the value is " + std::to_string(value) +
                                                             "; there are 0 to " + std::to_string(count - 1)});
  return false;
}

void VKAPI_CALL CmdSetViewport(VkCommandBuffer commandBuffer, uint32_t firstViewport, uint32_t viewportCount,
                               const VkViewport* pViewports) {
  commandBuffer->shaders.viewports_fixed = false;
  record(commandBuffer, commandBuffer->core->set_viewports(firstViewport, {pViewports, viewportCount}));
}
void VKAPI_CALL CmdSetScissor(VkCommandBuffer commandBuffer, uint32_t firstScissor, uint32_t scissorCount, const VkRect2D* pScissors) {
  commandBuffer->shaders.scissors_fixed = false;
  record(commandBuffer, commandBuffer->core->set_scissors(firstScissor, {pScissors, scissorCount}));
}
void VKAPI_CALL CmdSetViewportWithCount(VkCommandBuffer commandBuffer, uint32_t viewportCount, const VkViewport* pViewports) {
  commandBuffer->shaders.viewports_fixed = false;
  record(commandBuffer, commandBuffer->core->set_viewport_with_count({pViewports, viewportCount}));
}
void VKAPI_CALL CmdSetScissorWithCount(VkCommandBuffer commandBuffer, uint32_t scissorCount, const VkRect2D* pScissors) {
  commandBuffer->shaders.scissors_fixed = false;
  record(commandBuffer, commandBuffer->core->set_scissor_with_count({pScissors, scissorCount}));
}
void VKAPI_CALL CmdSetLineWidth(VkCommandBuffer commandBuffer, float lineWidth) { commandBuffer->core->set_line_width(lineWidth); }
void VKAPI_CALL CmdSetDepthBias(VkCommandBuffer commandBuffer, float constant, float clamp, float slope) {
  commandBuffer->core->set_depth_bias(constant, clamp, slope);
}
void VKAPI_CALL CmdSetDepthBias2EXT(VkCommandBuffer commandBuffer, const VkDepthBiasInfoEXT* info) {
  using Representation = VkDepthBiasRepresentationInfoEXT;
  const auto* as = find_next<Representation>(info->pNext, VK_STRUCTURE_TYPE_DEPTH_BIAS_REPRESENTATION_INFO_EXT);
  commandBuffer->core->set_depth_bias(
      info->depthBiasConstantFactor, info->depthBiasClamp, info->depthBiasSlopeFactor,
      as ? static_cast<DepthBiasRepresentation>(given(as->depthBiasRepresentation)) : DepthBiasRepresentation());
}
void VKAPI_CALL CmdSetDepthClampRangeEXT(VkCommandBuffer commandBuffer, VkDepthClampModeEXT mode, const VkDepthClampRangeEXT* range) {
  if (!is_one(commandBuffer, "vkCmdSetDepthClampRangeEXT", mode, 2)) return;
  note_given(commandBuffer, DynamicState::depth_clamp_range);
  const bool user = mode == VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT && range;
  commandBuffer->core->set_depth_clamp_range(user, user ? range->minDepthClamp : 0, user ? range->maxDepthClamp : 1);
}
void VKAPI_CALL CmdSetBlendConstants(VkCommandBuffer commandBuffer, const float blendConstants[4]) {
  commandBuffer->core->set_blend_constants({blendConstants[0], blendConstants[1], blendConstants[2], blendConstants[3]});
}
void VKAPI_CALL CmdSetDepthBounds(VkCommandBuffer commandBuffer, float minDepthBounds, float maxDepthBounds) {
  note_given(commandBuffer, DynamicState::depth_bounds);
  commandBuffer->core->set_depth_bounds(minDepthBounds, maxDepthBounds);
}
void VKAPI_CALL CmdSetStencilCompareMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, uint32_t compareMask) {
  commandBuffer->core->set_stencil_compare_mask(faceMask, compareMask);
}
void VKAPI_CALL CmdSetStencilWriteMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, uint32_t writeMask) {
  commandBuffer->core->set_stencil_write_mask(faceMask, writeMask);
}
void VKAPI_CALL CmdSetStencilReference(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, uint32_t reference) {
  commandBuffer->core->set_stencil_reference(faceMask, reference);
}
void VKAPI_CALL CmdSetCullMode(VkCommandBuffer commandBuffer, VkCullModeFlags cullMode) {
  if (!is_one(commandBuffer, "vkCmdSetCullMode", cullMode, 4)) return;
  commandBuffer->core->set_cull_mode(cullMode);
}
void VKAPI_CALL CmdSetFrontFace(VkCommandBuffer commandBuffer, VkFrontFace frontFace) {
  if (!is_one(commandBuffer, "vkCmdSetFrontFace", frontFace, 2)) return;
  commandBuffer->core->set_front_face(frontFace);
}
void VKAPI_CALL CmdSetPrimitiveTopology(VkCommandBuffer commandBuffer, VkPrimitiveTopology primitiveTopology) {
  if (!is_one(commandBuffer, "vkCmdSetPrimitiveTopology", primitiveTopology, 11)) return;
  commandBuffer->core->set_primitive_topology(primitiveTopology);
}
void VKAPI_CALL CmdSetDepthTestEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_test_enable(enable);
}
void VKAPI_CALL CmdSetDepthWriteEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_write_enable(enable);
}
void VKAPI_CALL CmdSetDepthCompareOp(VkCommandBuffer commandBuffer, VkCompareOp op) {
  if (!is_one(commandBuffer, "vkCmdSetDepthCompareOp", op, 8)) return;
  commandBuffer->core->set_depth_compare_op(op);
}
void VKAPI_CALL CmdSetDepthBoundsTestEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::depth_bounds_test_enable);
  commandBuffer->core->set_depth_bounds_test_enable(enable);
}
void VKAPI_CALL CmdSetStencilTestEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_stencil_test_enable(enable);
}
void VKAPI_CALL CmdSetStencilOp(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask, VkStencilOp failOp, VkStencilOp passOp,
                                VkStencilOp depthFailOp, VkCompareOp compareOp) {
  for (const uint32_t value :
       {static_cast<uint32_t>(failOp), static_cast<uint32_t>(passOp), static_cast<uint32_t>(depthFailOp), static_cast<uint32_t>(compareOp)})
    if (!is_one(commandBuffer, "vkCmdSetStencilOp", value, 8)) return;
  commandBuffer->core->set_stencil_op(faceMask, failOp, passOp, depthFailOp, compareOp);
}
void VKAPI_CALL CmdSetRasterizerDiscardEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_rasterizer_discard_enable(enable);
}
void VKAPI_CALL CmdSetDepthBiasEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_depth_bias_enable(enable);
}
void VKAPI_CALL CmdSetPrimitiveRestartEnable(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_primitive_restart_enable(enable);
}

// --- VK_EXT_extended_dynamic_state2 and 3

void VKAPI_CALL CmdSetLogicOpEXT(VkCommandBuffer commandBuffer, VkLogicOp logicOp) {
  if (!is_one(commandBuffer, "vkCmdSetLogicOpEXT", logicOp, 16)) return;
  note_given(commandBuffer, DynamicState::logic_op);
  commandBuffer->core->set_logic_op(logicOp);
}
void VKAPI_CALL CmdSetLogicOpEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::logic_op_enable);
  commandBuffer->core->set_logic_op_enable(enable);
}
void VKAPI_CALL CmdSetDepthClampEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::depth_clamp_enable);
  commandBuffer->core->set_depth_clamp_enable(enable);
}
void VKAPI_CALL CmdSetDepthClipEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::depth_clip_enable);
  commandBuffer->core->set_depth_clip_enable(enable);
}
void VKAPI_CALL CmdSetDepthClipNegativeOneToOneEXT(VkCommandBuffer commandBuffer, VkBool32 negativeOneToOne) {
  note_given(commandBuffer, DynamicState::depth_clip_negative_one_to_one);
  commandBuffer->core->set_depth_clip_negative_one_to_one(negativeOneToOne);
}
void VKAPI_CALL CmdSetRasterizationStreamEXT(VkCommandBuffer commandBuffer, uint32_t rasterizationStream) {
  note_given(commandBuffer, DynamicState::rasterization_stream);
  record(commandBuffer, commandBuffer->core->set_rasterization_stream(rasterizationStream));
}
void VKAPI_CALL CmdSetPolygonModeEXT(VkCommandBuffer commandBuffer, VkPolygonMode mode) {
  if (!is_one(commandBuffer, "vkCmdSetPolygonModeEXT", mode, 3)) return;
  commandBuffer->core->set_polygon_mode(mode);
}
void VKAPI_CALL CmdSetRasterizationSamplesEXT(VkCommandBuffer commandBuffer, VkSampleCountFlagBits samples) {
  commandBuffer->shaders.samples = samples;
  commandBuffer->core->set_rasterization_samples(samples);
}
void VKAPI_CALL CmdSetSampleMaskEXT(VkCommandBuffer commandBuffer, VkSampleCountFlagBits, const VkSampleMask* pSampleMask) {
  commandBuffer->core->set_sample_mask(pSampleMask ? pSampleMask[0] : ~0U);
}
void VKAPI_CALL CmdSetAlphaToCoverageEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  commandBuffer->core->set_alpha_to_coverage_enable(enable);
}
void VKAPI_CALL CmdSetAlphaToOneEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::alpha_to_one_enable);
  commandBuffer->core->set_alpha_to_one_enable(enable);
}
void VKAPI_CALL CmdSetProvokingVertexModeEXT(VkCommandBuffer commandBuffer, VkProvokingVertexModeEXT mode) {
  if (!is_one(commandBuffer, "vkCmdSetProvokingVertexModeEXT", mode, 2)) return;
  note_given(commandBuffer, DynamicState::provoking_vertex_mode);
  commandBuffer->core->set_provoking_vertex_mode(mode);
}
void VKAPI_CALL CmdSetVertexInputEXT(VkCommandBuffer commandBuffer, uint32_t vertexBindingDescriptionCount,
                                     const VkVertexInputBindingDescription2EXT* pVertexBindingDescriptions,
                                     uint32_t vertexAttributeDescriptionCount,
                                     const VkVertexInputAttributeDescription2EXT* pVertexAttributeDescriptions) {
  record(commandBuffer, commandBuffer->core->set_vertex_input(given(pVertexBindingDescriptions, vertexBindingDescriptionCount),
                                                              given(pVertexAttributeDescriptions, vertexAttributeDescriptionCount)));
}

// --- of colours: by the subpass's locations here, by the attachments of the tile pass in the core

namespace {

template <class T>
void keep(VkCommandBuffer commands, const char* command, uint32_t first, uint32_t count, const T* values,
          std::array<std::optional<T>, kMaxColorAttachments>& kept) {
  if (first > kMaxColorAttachments || count > kMaxColorAttachments - first)
    return record(commands, Error{VK_ERROR_VALIDATION_FAILED_EXT, std::string(command) + ": attachments " + std::to_string(first) + " to " +
                                                                      std::to_string(uint64_t{first} + count) +
                                                                      "; maxColorAttachments is " + std::to_string(kMaxColorAttachments)});
  for (uint32_t i = 0; i < count; ++i) kept[first + i] = given(values[i]);
  commands->colors.changed = true;
}

/// Of the location `k`; none: no attachment of the pass that is open takes it.
std::optional<uint32_t> slot_of_location(const OpenPass& open, uint32_t k) {
  if (!open.render_pass) return k;
  assert(open.subpass < open.render_pass->subpasses.size());
  const Subpass& subpass = open.render_pass->subpasses[open.subpass];
  if (k >= subpass.color.size() || subpass.color[k] == VK_ATTACHMENT_UNUSED) return std::nullopt;
  const uint32_t slot = slot_of(open.render_pass->tile_passes[subpass.tile_pass], subpass.color[k]);
  return slot == VK_ATTACHMENT_UNUSED ? std::nullopt : std::optional(slot);
}

/// The states of an attachment that no location writes: the core wants them, and no program says them.
void fill(VkCommandBuffer commands, uint32_t slot) {
  assert(slot < kMaxColorAttachments);
  tilegpu::CommandBuffer& core = *commands->core;
  const DynamicStates takes = commands->colors.pipeline_takes;
  constexpr VkBool32 kOff = VK_FALSE;
  constexpr VkColorComponentFlags kNone = 0;
  constexpr VkColorBlendEquationEXT kEquation{};
  constexpr VkColorBlendAdvancedEXT kAdvanced{};
  if (takes.has(DynamicState::color_blend_enable)) record(commands, core.set_color_blend_enable(slot, {&kOff, 1}));
  if (takes.has(DynamicState::color_blend_advanced)) record(commands, core.set_color_blend_advanced(slot, {&kAdvanced, 1}));
  if (takes.has(DynamicState::color_blend_equation)) record(commands, core.set_color_blend_equation(slot, {&kEquation, 1}));
  if (takes.has(DynamicState::color_write_mask)) record(commands, core.set_color_write_mask(slot, {&kNone, 1}));
}

/// What the open subpass does not draw to, of a tile pass that it shares. And the last place: where there are no colours, Vulkan wants no
/// state of them set.
void fill_unwritten(VkCommandBuffer commands) {
  const OpenPass& open = commands->pass;
  fill(commands, kMaxColorAttachments - 1);
  if (!open.render_pass) return;
  const Subpass& subpass = open.render_pass->subpasses[open.subpass];
  const std::vector<uint32_t>& tile = open.render_pass->tile_passes[subpass.tile_pass].color;
  for (uint32_t slot = 0; slot < tile.size(); ++slot)
    if (tile[slot] != VK_ATTACHMENT_UNUSED && location_of(subpass, tile[slot]) == VK_ATTACHMENT_UNUSED) fill(commands, slot);
}

}  // namespace

void VKAPI_CALL CmdSetColorBlendEnableEXT(VkCommandBuffer commandBuffer, uint32_t firstAttachment, uint32_t attachmentCount,
                                          const VkBool32* pColorBlendEnables) {
  keep(commandBuffer, "vkCmdSetColorBlendEnableEXT", firstAttachment, attachmentCount, pColorBlendEnables, commandBuffer->colors.enable);
}
void VKAPI_CALL CmdSetColorBlendEquationEXT(VkCommandBuffer commandBuffer, uint32_t firstAttachment, uint32_t attachmentCount,
                                            const VkColorBlendEquationEXT* pColorBlendEquations) {
  keep(commandBuffer, "vkCmdSetColorBlendEquationEXT", firstAttachment, attachmentCount, pColorBlendEquations,
       commandBuffer->colors.equation);
  for (uint32_t i = 0; i < attachmentCount && firstAttachment + i < kMaxColorAttachments; ++i)
    commandBuffer->colors.advanced_last[firstAttachment + i] = false;
}
void VKAPI_CALL CmdSetColorBlendAdvancedEXT(VkCommandBuffer commandBuffer, uint32_t firstAttachment, uint32_t attachmentCount,
                                            const VkColorBlendAdvancedEXT* pColorBlendAdvanced) {
  keep(commandBuffer, "vkCmdSetColorBlendAdvancedEXT", firstAttachment, attachmentCount, pColorBlendAdvanced,
       commandBuffer->colors.advanced);
  for (uint32_t i = 0; i < attachmentCount && firstAttachment + i < kMaxColorAttachments; ++i)
    commandBuffer->colors.advanced_last[firstAttachment + i] = true;
}
void VKAPI_CALL CmdSetColorWriteMaskEXT(VkCommandBuffer commandBuffer, uint32_t firstAttachment, uint32_t attachmentCount,
                                        const VkColorComponentFlags* pColorWriteMasks) {
  keep(commandBuffer, "vkCmdSetColorWriteMaskEXT", firstAttachment, attachmentCount, pColorWriteMasks, commandBuffer->colors.write_mask);
}
void VKAPI_CALL CmdSetColorWriteEnableEXT(VkCommandBuffer commandBuffer, uint32_t attachmentCount, const VkBool32* pColorWriteEnables) {
  keep(commandBuffer, "vkCmdSetColorWriteEnableEXT", 0, attachmentCount, pColorWriteEnables, commandBuffer->colors.write_enable);
}

void take_colors(VkCommandBuffer commands) {
  ColorStates& colors = commands->colors;
  assert(colors.pipeline_takes.bits);
  tilegpu::CommandBuffer& core = *commands->core;
  std::array<VkBool32, kMaxColorAttachments> write_enable;
  write_enable.fill(VK_TRUE);
  fill_unwritten(commands);
  for (uint32_t k = 0; k < kMaxColorAttachments; ++k) {
    const std::optional<uint32_t> slot = slot_of_location(commands->pass, k);
    if (!slot) continue;
    if (colors.enable[k] && colors.pipeline_takes.has(DynamicState::color_blend_enable))
      record(commands, core.set_color_blend_enable(*slot, {&*colors.enable[k], 1}));
    const auto put_advanced = [&] {
      if (colors.advanced[k] && colors.pipeline_takes.has(DynamicState::color_blend_advanced))
        record(commands, core.set_color_blend_advanced(*slot, {&*colors.advanced[k], 1}));
    };
    if (!colors.advanced_last[k]) put_advanced();
    if (colors.equation[k] && colors.pipeline_takes.has(DynamicState::color_blend_equation))
      record(commands, core.set_color_blend_equation(*slot, {&*colors.equation[k], 1}));
    if (colors.advanced_last[k]) put_advanced();
    if (colors.write_mask[k] && colors.pipeline_takes.has(DynamicState::color_write_mask))
      record(commands, core.set_color_write_mask(*slot, {&*colors.write_mask[k], 1}));
    if (colors.write_enable[k]) write_enable[*slot] = *colors.write_enable[k];
  }
  if (colors.pipeline_takes.has(DynamicState::color_write_enable)) record(commands, core.set_color_write_enable(write_enable));
  colors.changed = false, colors.subpass = commands->pass.subpass, colors.taken = colors.pipeline_takes;
}

ColorBlendState blend_state(const ColorStates& colors, uint32_t count) {
  assert(count <= kMaxColorAttachments);
  ColorBlendState out;
  for (uint32_t i = 0; i < count; ++i) {
    const VkColorBlendEquationEXT e = colors.equation[i].value_or(VkColorBlendEquationEXT{});
    VkPipelineColorBlendAttachmentState a{colors.enable[i].value_or(VK_FALSE),
                                          e.srcColorBlendFactor,
                                          e.dstColorBlendFactor,
                                          e.colorBlendOp,
                                          e.srcAlphaBlendFactor,
                                          e.dstAlphaBlendFactor,
                                          e.alphaBlendOp,
                                          colors.write_mask[i].value_or(15)};
    if (colors.advanced[i] && (colors.advanced_last[i] || !colors.equation[i])) {
      const VkColorBlendAdvancedEXT& advanced = *colors.advanced[i];
      a.colorBlendOp = a.alphaBlendOp = advanced.advancedBlendOp;
      out.advanced[i] = {advanced.srcPremultiplied != 0, advanced.dstPremultiplied != 0, advanced.clampResults != 0, advanced.blendOverlap};
    }
    out.attachments.push_back(a);
    if (colors.write_enable[i] == VK_FALSE) out.color_write_enables &= ~(1U << i);
  }
  return out;
}

// --- of tessellation

void VKAPI_CALL CmdSetPatchControlPointsEXT(VkCommandBuffer commandBuffer, uint32_t patchControlPoints) {
  commandBuffer->core->set_patch_control_points(patchControlPoints);
}
void VKAPI_CALL CmdSetTessellationDomainOriginEXT(VkCommandBuffer commandBuffer, VkTessellationDomainOrigin domainOrigin) {
  if (!is_one(commandBuffer, "vkCmdSetTessellationDomainOriginEXT", domainOrigin, 2)) return;
  commandBuffer->core->set_tessellation_domain_origin(domainOrigin);
}

// --- of lines, conservative rasterization, sample locations and discard rectangles

void VKAPI_CALL CmdSetConservativeRasterizationModeEXT(VkCommandBuffer commandBuffer, VkConservativeRasterizationModeEXT mode) {
  if (!is_one(commandBuffer, "vkCmdSetConservativeRasterizationModeEXT", mode, 3)) return;
  note_given(commandBuffer, DynamicState::conservative_rasterization_mode);
  commandBuffer->core->set_conservative_rasterization_mode(mode);
}
void VKAPI_CALL CmdSetExtraPrimitiveOverestimationSizeEXT(VkCommandBuffer commandBuffer, float extraPrimitiveOverestimationSize) {
  note_given(commandBuffer, DynamicState::extra_primitive_overestimation_size);
  record(commandBuffer, commandBuffer->core->set_extra_primitive_overestimation_size(extraPrimitiveOverestimationSize));
}
void VKAPI_CALL CmdSetSampleLocationsEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::sample_locations_enable);
  commandBuffer->core->set_sample_locations_enable(enable);
}
void VKAPI_CALL CmdSetSampleLocationsEXT(VkCommandBuffer commandBuffer, const VkSampleLocationsInfoEXT* pSampleLocationsInfo) {
  note_given(commandBuffer, DynamicState::sample_locations);
  record(commandBuffer, commandBuffer->core->set_sample_locations(*pSampleLocationsInfo));
}
void VKAPI_CALL CmdSetDiscardRectangleEXT(VkCommandBuffer commandBuffer, uint32_t firstDiscardRectangle, uint32_t discardRectangleCount,
                                          const VkRect2D* pDiscardRectangles) {
  if (discardRectangleCount == 0) return;  // which would leave none
  note_given(commandBuffer, DynamicState::discard_rectangle);
  record(commandBuffer, commandBuffer->core->set_discard_rectangles(firstDiscardRectangle, {pDiscardRectangles, discardRectangleCount}));
}
void VKAPI_CALL CmdSetDiscardRectangleEnableEXT(VkCommandBuffer commandBuffer, VkBool32 discardRectangleEnable) {
  note_given(commandBuffer, DynamicState::discard_rectangle_enable);
  commandBuffer->core->set_discard_rectangle_enable(discardRectangleEnable);
}
void VKAPI_CALL CmdSetDiscardRectangleModeEXT(VkCommandBuffer commandBuffer, VkDiscardRectangleModeEXT discardRectangleMode) {
  if (!is_one(commandBuffer, "vkCmdSetDiscardRectangleModeEXT", discardRectangleMode, 2)) return;
  note_given(commandBuffer, DynamicState::discard_rectangle_mode);
  commandBuffer->core->set_discard_rectangle_mode(discardRectangleMode);
}
void VKAPI_CALL CmdSetLineRasterizationModeEXT(VkCommandBuffer commandBuffer, VkLineRasterizationModeEXT mode) {
  if (!is_one(commandBuffer, "vkCmdSetLineRasterizationModeEXT", mode, 4)) return;
  note_given(commandBuffer, DynamicState::line_rasterization_mode);
  commandBuffer->core->set_line_rasterization_mode(mode);
}
void VKAPI_CALL CmdSetLineStippleEnableEXT(VkCommandBuffer commandBuffer, VkBool32 enable) {
  note_given(commandBuffer, DynamicState::line_stipple_enable);
  commandBuffer->core->set_line_stipple_enable(enable);
}
void VKAPI_CALL CmdSetLineStipple(VkCommandBuffer commandBuffer, uint32_t lineStippleFactor, uint16_t lineStipplePattern) {
  note_given(commandBuffer, DynamicState::line_stipple);
  record(commandBuffer, commandBuffer->core->set_line_stipple(lineStippleFactor, lineStipplePattern));
}

void VKAPI_CALL CmdSetFragmentShadingRateKHR(VkCommandBuffer commandBuffer, const VkExtent2D* pFragmentSize,
                                             const VkFragmentShadingRateCombinerOpKHR combinerOps[2]) {
  note_given(commandBuffer, DynamicState::fragment_shading_rate);
  record(commandBuffer, commandBuffer->core->set_fragment_shading_rate(*pFragmentSize, {given(combinerOps[0]), given(combinerOps[1])}));
}

void VKAPI_CALL CmdSetAttachmentFeedbackLoopEnableEXT(VkCommandBuffer commandBuffer, VkImageAspectFlags aspectMask) {
  commandBuffer->core->set_attachment_feedback_loop_enable(aspectMask);
}

// NVIDIA's, which the extension's list has for drivers with that vendor's extensions.
static void not_ours(VkCommandBuffer commands) {
  record_missing(commands, "vkCmdSet...NV: what it sets belongs to an extension that is not there");
}

void VKAPI_CALL CmdSetViewportWScalingEnableNV(VkCommandBuffer commandBuffer, VkBool32) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetViewportSwizzleNV(VkCommandBuffer commandBuffer, uint32_t, uint32_t, const VkViewportSwizzleNV*) {
  not_ours(commandBuffer);
}
void VKAPI_CALL CmdSetCoverageToColorEnableNV(VkCommandBuffer commandBuffer, VkBool32) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetCoverageToColorLocationNV(VkCommandBuffer commandBuffer, uint32_t) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetCoverageModulationModeNV(VkCommandBuffer commandBuffer, VkCoverageModulationModeNV) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetCoverageModulationTableEnableNV(VkCommandBuffer commandBuffer, VkBool32) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetCoverageModulationTableNV(VkCommandBuffer commandBuffer, uint32_t, const float*) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetShadingRateImageEnableNV(VkCommandBuffer commandBuffer, VkBool32) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetRepresentativeFragmentTestEnableNV(VkCommandBuffer commandBuffer, VkBool32) { not_ours(commandBuffer); }
void VKAPI_CALL CmdSetCoverageReductionModeNV(VkCommandBuffer commandBuffer, VkCoverageReductionModeNV) { not_ours(commandBuffer); }

// --- states that need not be set

DynamicStates optional_states(const VkDevice_T& device, VkShaderStageFlags stages) {
  using S = DynamicState;
  const Features& f = device.features;
  const ExtensionSet& extensions = device.extensions;
  DynamicStates out;
  const auto unless = [&](bool wanted, std::initializer_list<S> which) {
    for (const S state : which)
      if (!wanted) out.add(state);
  };
  const bool vertex = stages & VK_SHADER_STAGE_VERTEX_BIT, geometry = stages & VK_SHADER_STAGE_GEOMETRY_BIT;
  const bool fragment = stages & VK_SHADER_STAGE_FRAGMENT_BIT;
  unless(f.depthClipEnable, {S::depth_clip_enable});
  unless(f.depthClipControl, {S::depth_clip_negative_one_to_one});
  unless(f.depthClamp, {S::depth_clamp_enable});
  unless(f.depthClampControl, {S::depth_clamp_range});
  unless(f.depthBounds, {S::depth_bounds_test_enable, S::depth_bounds});
  unless(f.alphaToOne, {S::alpha_to_one_enable});
  unless(f.logicOp && fragment, {S::logic_op_enable, S::logic_op});
  unless(extensions.has(Extension::EXT_sample_locations), {S::sample_locations_enable, S::sample_locations});
  unless(extensions.has(Extension::EXT_conservative_rasterization),
         {S::conservative_rasterization_mode, S::extra_primitive_overestimation_size});
  unless(extensions.has(Extension::EXT_provoking_vertex) && vertex, {S::provoking_vertex_mode});
  unless(f.stippledRectangularLines || f.stippledBresenhamLines || f.stippledSmoothLines,
         {S::line_rasterization_mode, S::line_stipple_enable, S::line_stipple});
  unless(f.pipelineFragmentShadingRate && fragment, {S::fragment_shading_rate});
  unless(f.geometryStreams && geometry, {S::rasterization_stream});
  // Those of pipelines are off where nobody set them, too.
  unless(false, {S::discard_rectangle, S::discard_rectangle_enable, S::discard_rectangle_mode});
  return out;
}

void set_defaults(VkCommandBuffer commands, DynamicStates which) {
  using S = DynamicState;
  tilegpu::CommandBuffer& core = *commands->core;
  const auto unset = [&](S state) { return which.has(state); };
  if (unset(S::depth_clip_enable)) core.set_depth_clip_enable(true);
  if (unset(S::depth_clip_negative_one_to_one)) core.set_depth_clip_negative_one_to_one(false);
  if (unset(S::depth_clamp_enable)) core.set_depth_clamp_enable(false);
  if (unset(S::depth_clamp_range)) core.set_depth_clamp_range(false, 0, 1);
  if (unset(S::depth_bounds_test_enable)) core.set_depth_bounds_test_enable(false);
  if (unset(S::alpha_to_one_enable)) core.set_alpha_to_one_enable(false);
  if (unset(S::logic_op_enable)) core.set_logic_op_enable(false);
  if (unset(S::sample_locations_enable)) core.set_sample_locations_enable(false);
  if (unset(S::conservative_rasterization_mode)) core.set_conservative_rasterization_mode(VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT);
  if (unset(S::provoking_vertex_mode)) core.set_provoking_vertex_mode(VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT);
  if (unset(S::line_rasterization_mode)) core.set_line_rasterization_mode(VK_LINE_RASTERIZATION_MODE_DEFAULT);
  if (unset(S::line_stipple_enable)) core.set_line_stipple_enable(false);
  constexpr auto kKeep = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR;
  if (unset(S::fragment_shading_rate)) record(commands, core.set_fragment_shading_rate({1, 1}, {kKeep, kKeep}));
  if (unset(S::rasterization_stream)) record(commands, core.set_rasterization_stream(0));
  // The rest (depth bounds, a logical operation, locations) nobody looks at where its test is off.
}

}  // namespace tilegpu::icd
