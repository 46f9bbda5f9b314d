// fuzz/driver/shader_objects.cpp -- draws and dispatches with shader objects: made apart or linked, of SPIR-V or of what
// vkGetShaderBinaryDataEXT gave, bound in place of pipelines, with every state that they ask for.
//
// In: choices, an open pass. Out: commands. Source: Vulkan specification, "Shader Objects", "Setting State".
#include <algorithm>

#include "driver/formats.hpp"
#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr size_t kMostShaders = 24;

VkShaderCreateInfoEXT info_of(World& w, VkShaderStageFlagBits stage, const std::vector<uint32_t>& words, const VkPushConstantRange& range,
                              const VkDescriptorSetLayout* sets) {
  VkShaderCreateInfoEXT info{VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT};
  info.stage = stage, info.codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT, info.codeSize = words.size() * 4, info.pCode = words.data();
  info.pName = "main", info.setLayoutCount = 2, info.pSetLayouts = sets;
  info.pushConstantRangeCount = 1, info.pPushConstantRanges = &range;
  if (stage == VK_SHADER_STAGE_VERTEX_BIT && w.c.coin()) info.nextStage = VK_SHADER_STAGE_FRAGMENT_BIT;
  return info;
}

/// The same shader out of its own binary.
VkShaderEXT remake(World& w, VkShaderEXT shader, VkShaderCreateInfoEXT info) {
  size_t size_B = 0;
  TILEGPU_MUST(w, GetShaderBinaryDataEXT, w.device, shader, &size_B, nullptr);
  std::vector<uint8_t> data(size_B);
  if (size_t few_B = size_B / 2; w.vk.GetShaderBinaryDataEXT(w.device, shader, &few_B, data.data()) != VK_INCOMPLETE || few_B)
    w.fail("vkGetShaderBinaryDataEXT wrote where there was no room");
  TILEGPU_MUST(w, GetShaderBinaryDataEXT, w.device, shader, &size_B, data.data());
  info.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT, info.codeSize = size_B, info.pCode = data.data(), info.flags = 0;
  VkShaderEXT out = nullptr;
  TILEGPU_MUST(w, CreateShadersEXT, w.device, 1, &info, nullptr, &out);
  w.shaders.push_back(out);
  // A byte of it is another: it is made of what it says, or refused.
  data[w.c.half() % size_B] ^= static_cast<uint8_t>(1 << w.c.below(8));
  VkShaderEXT damaged = nullptr;
  const VkResult r = w.vk.CreateShadersEXT(w.device, 1, &info, nullptr, &damaged);
  if (r == VK_SUCCESS && damaged) w.vk.DestroyShaderEXT(w.device, damaged, nullptr);
  if (r != VK_SUCCESS && damaged) w.fail("vkCreateShadersEXT gave an error and a shader");
  return out;
}

/// All that a draw without a pipeline must be told.
void set_states(World& w, VkCommandBuffer b, const PassShape& shape) {
  Choices& c = w.c;
  const auto& vk = w.vk;
  const VkViewport viewport{0, 0, static_cast<float>(w.width_px), static_cast<float>(1 + c.below(60)), 0, 1};
  const VkRect2D scissor{{static_cast<int32_t>(c.below(4)), 0}, {c.below(60), w.height_px}};
  vk.CmdSetViewportWithCount(b, 1, &viewport), vk.CmdSetScissorWithCount(b, 1, &scissor);
  vk.CmdSetRasterizerDiscardEnable(b, c.seldom(24)), vk.CmdSetPrimitiveRestartEnable(b, VK_FALSE);
  vk.CmdSetPrimitiveTopology(b, c.seldom(3) ? static_cast<VkPrimitiveTopology>(c.below(6)) : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
  const VkSampleMask mask = c.seldom(8) ? c.half() : ~0U;
  vk.CmdSetRasterizationSamplesEXT(b, shape.samples), vk.CmdSetSampleMaskEXT(b, shape.samples, &mask);
  const bool covers = !shape.colors.empty() && shape.colors[0] && !*prefix_of(shape.colors[0]);
  vk.CmdSetAlphaToCoverageEnableEXT(b, covers && c.seldom(8)), vk.CmdSetAlphaToOneEnableEXT(b, covers && c.seldom(8));
  vk.CmdSetPolygonModeEXT(b, c.seldom(8) ? static_cast<VkPolygonMode>(c.below(3)) : VK_POLYGON_MODE_FILL);
  vk.CmdSetCullMode(b, c.seldom(4) ? c.below(3) : 0), vk.CmdSetFrontFace(b, static_cast<VkFrontFace>(c.below(2)));
  const uint8_t tests = c.byte();
  vk.CmdSetDepthTestEnable(b, tests & 1), vk.CmdSetDepthWriteEnable(b, tests >> 1 & 1);
  vk.CmdSetDepthCompareOp(b, static_cast<VkCompareOp>(tests >> 2 & 7)), vk.CmdSetDepthBoundsTestEnable(b, (tests & 96) == 96);
  vk.CmdSetDepthBounds(b, 0, 0.75f), vk.CmdSetDepthBiasEnable(b, c.seldom(4));
  if (c.coin()) {
    vk.CmdSetDepthBias(b, c.unit() * 4, 0, c.unit());
  } else {
    const VkDepthBiasInfoEXT bias{VK_STRUCTURE_TYPE_DEPTH_BIAS_INFO_EXT, nullptr, c.unit(), 0, c.unit()};
    vk.CmdSetDepthBias2EXT(b, &bias);
  }
  vk.CmdSetDepthClampEnableEXT(b, c.seldom(4)), vk.CmdSetDepthClipEnableEXT(b, !c.seldom(4));
  vk.CmdSetDepthClipNegativeOneToOneEXT(b, c.seldom(8)), vk.CmdSetDepthClampRangeEXT(b, VK_DEPTH_CLAMP_MODE_VIEWPORT_RANGE_EXT, nullptr);
  constexpr VkStencilFaceFlags kBoth = VK_STENCIL_FACE_FRONT_AND_BACK;
  const auto op = [&] { return static_cast<VkStencilOp>(c.below(8)); };
  vk.CmdSetStencilTestEnable(b, tests >> 7), vk.CmdSetStencilOp(b, kBoth, op(), op(), op(), static_cast<VkCompareOp>(c.below(8)));
  vk.CmdSetStencilCompareMask(b, kBoth, c.byte()), vk.CmdSetStencilWriteMask(b, kBoth, c.byte());
  vk.CmdSetStencilReference(b, kBoth, c.byte());
  vk.CmdSetLineWidth(b, 1 + c.unit()),
      vk.CmdSetLineRasterizationModeEXT(b, static_cast<VkLineRasterizationModeEXT>(c.below(covers ? 2 : 3)));
  vk.CmdSetLineStippleEnableEXT(b, VK_FALSE), vk.CmdSetLineStipple(b, 2, 0x5555);
  vk.CmdSetProvokingVertexModeEXT(b, static_cast<VkProvokingVertexModeEXT>(c.below(2)));
  vk.CmdSetConservativeRasterizationModeEXT(b, VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT);
  vk.CmdSetExtraPrimitiveOverestimationSizeEXT(b, 0.25f), vk.CmdSetRasterizationStreamEXT(b, 0);
  vk.CmdSetSampleLocationsEnableEXT(b, VK_FALSE), vk.CmdSetAttachmentFeedbackLoopEnableEXT(b, 0);
  vk.CmdSetTessellationDomainOriginEXT(b, static_cast<VkTessellationDomainOrigin>(c.below(2))), vk.CmdSetPatchControlPointsEXT(b, 3);
  vk.CmdSetDiscardRectangleEnableEXT(b, VK_FALSE);
  const VkExtent2D rate{1, 1};
  constexpr VkFragmentShadingRateCombinerOpKHR kKeep[2] = {VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR,
                                                           VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR};
  vk.CmdSetFragmentShadingRateKHR(b, &rate, kKeep);
}

void set_colors(World& w, VkCommandBuffer b, const PassShape& shape) {
  Choices& c = w.c;
  const auto count = static_cast<uint32_t>(shape.colors.size());
  const float constants[4] = {c.unit(), 0.5f, c.unit(), 1};
  w.vk.CmdSetLogicOpEnableEXT(b, c.seldom(12)), w.vk.CmdSetLogicOpEXT(b, static_cast<VkLogicOp>(c.below(16)));
  w.vk.CmdSetBlendConstants(b, constants);
  const auto factor = [&] { return static_cast<VkBlendFactor>(c.below(VK_BLEND_FACTOR_SRC_ALPHA_SATURATE + 1)); };
  for (uint32_t i = 0; i < count; ++i) {
    const vk::FormatInfo* const format = vk::find_format(shape.colors[i]);
    const VkBool32 blends = format && format->blend && c.coin();
    const VkColorBlendEquationEXT equation{factor(), factor(), static_cast<VkBlendOp>(c.below(5)),
                                           factor(), factor(), static_cast<VkBlendOp>(c.below(5))};
    const VkColorComponentFlags mask = c.seldom(4) ? c.below(16) : 15;
    w.vk.CmdSetColorBlendEnableEXT(b, i, 1, &blends), w.vk.CmdSetColorBlendEquationEXT(b, i, 1, &equation);
    w.vk.CmdSetColorWriteMaskEXT(b, i, 1, &mask);
  }
  const VkBool32 writes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (count) w.vk.CmdSetColorWriteEnableEXT(b, count, writes);
}

void set_vertices(World& w, VkCommandBuffer b, bool attributes) {
  const VkVertexInputBindingDescription2EXT binding{
      VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 0, 32, VK_VERTEX_INPUT_RATE_VERTEX, 1};
  VkVertexInputAttributeDescription2EXT both[2];
  for (uint32_t i = 0; i < 2; ++i)
    both[i] = {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, i, 0, VK_FORMAT_R32G32B32A32_SFLOAT, i * 16};
  w.vk.CmdSetVertexInputEXT(b, attributes ? 1 : 0, &binding, attributes ? 2 : 0, both);
  const VkDeviceSize offset_B = 32 * w.c.below(4);
  if (attributes) w.vk.CmdBindVertexBuffers(b, 0, 1, &w.arena->handle, &offset_B);
}

/// A kernel without a pipeline.
void dispatch(World& w, Recording& r, const VkPushConstantRange& range, const VkDescriptorSetLayout* sets) {
  bool reads = false;
  const std::vector<uint32_t>& words = w.shader_words(VK_SHADER_STAGE_COMPUTE_BIT, {}, false, reads);
  const uint32_t size = 1 + w.c.below(40);
  const VkSpecializationMapEntry entry{0, 0, 4};
  const VkSpecializationInfo constants{1, &entry, 4, &size};
  VkShaderCreateInfoEXT info = info_of(w, VK_SHADER_STAGE_COMPUTE_BIT, words, range, sets);
  info.pSpecializationInfo = &constants;
  VkShaderEXT shader = nullptr;
  TILEGPU_MUST(w, CreateShadersEXT, w.device, 1, &info, nullptr, &shader);
  if (w.lost) return;
  w.shaders.push_back(shader);
  const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
  w.vk.CmdBindShadersEXT(r.handle, 1, &stage, &shader);
  w.bind_sets(r, VK_PIPELINE_BIND_POINT_COMPUTE, w.layout, false);
  const uint32_t data[8] = {0x3f800000, 0, 0, 0, w.c.byte(), 1, 0, 1};
  const VkPushConstantsInfo push{VK_STRUCTURE_TYPE_PUSH_CONSTANTS_INFO, nullptr, w.layout, VK_SHADER_STAGE_ALL, 0, 32, data};
  w.vk.CmdPushConstants2(r.handle, &push);
  w.vk.CmdDispatch(r.handle, 1 + w.c.below(2), 1, 1);
}

}  // namespace

void World::step_shader_objects() {
  const VkPushConstantRange range{VK_SHADER_STAGE_ALL, 0, 32};
  const VkDescriptorSetLayout sets[] = {set_layout, input_layout};
  if (shaders.size() > kMostShaders) return;
  if (c.seldom(4)) {
    Recording* const r = outside();
    return r ? dispatch(*this, *r, range, sets) : void();
  }
  if (!recording.in_pass) step_pass();
  Recording& r = recording;
  if (lost || !r.in_pass || !r.dynamic || r.contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS || r.draws > 40 ||
      r.shape->view_mask)  // they draw where it is 0
    return;
  const PassShape& shape = *r.shape;
  const bool attributes = c.coin(), linked = c.coin();
  bool reads_inputs = false;
  const std::vector<uint32_t> vertex = shader_words(VK_SHADER_STAGE_VERTEX_BIT, shape, attributes, reads_inputs);
  const std::vector<uint32_t> fragment = shader_words(VK_SHADER_STAGE_FRAGMENT_BIT, shape, attributes, reads_inputs);
  VkShaderCreateInfoEXT infos[] = {info_of(*this, VK_SHADER_STAGE_VERTEX_BIT, vertex, range, sets),
                                   info_of(*this, VK_SHADER_STAGE_FRAGMENT_BIT, fragment, range, sets)};
  if (linked) {
    infos[0].nextStage = VK_SHADER_STAGE_FRAGMENT_BIT;
    for (VkShaderCreateInfoEXT& info : infos) info.flags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT;
  }
  VkShaderEXT made[2] = {};
  TILEGPU_MUST(*this, CreateShadersEXT, device, 2, infos, nullptr, made);
  if (lost) return;
  shaders.insert(shaders.end(), {made[0], made[1]});
  if (!linked && c.seldom(3)) made[0] = remake(*this, made[0], infos[0]);
  if (lost) return;
  constexpr VkShaderStageFlagBits kStages[] = {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_FRAGMENT_BIT};
  constexpr VkShaderStageFlagBits kNone[] = {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
                                             VK_SHADER_STAGE_GEOMETRY_BIT, VK_SHADER_STAGE_TASK_BIT_EXT, VK_SHADER_STAGE_MESH_BIT_EXT};
  vk.CmdBindShadersEXT(r.handle, 2, kStages, made), vk.CmdBindShadersEXT(r.handle, 5, kNone, nullptr);
  set_states(*this, r.handle, shape), set_colors(*this, r.handle, shape), set_vertices(*this, r.handle, attributes);
  bind_sets(r, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, reads_inputs);
  const uint32_t words[8] = {0x3f800000, 0x3f000000, 0x3f400000, 0x3f800000, c.byte(), c.byte(), 0, 1};
  vk.CmdPushConstants(r.handle, layout, VK_SHADER_STAGE_ALL, 0, 32, words);
  if (reads_inputs) {
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                  VK_ACCESS_INPUT_ATTACHMENT_READ_BIT};
    vk.CmdPipelineBarrier(r.handle, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                          VK_DEPENDENCY_BY_REGION_BIT, 1, &barrier, 0, nullptr, 0, nullptr);
  }
  vk.CmdDraw(r.handle, c.below(25), 1 + c.below(2), c.below(4), 0);
  ++r.draws;
}

}  // namespace tilegpu::fuzz
