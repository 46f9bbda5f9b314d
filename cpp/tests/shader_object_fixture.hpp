// tests/shader_object_fixture.hpp -- one scene drawn by a pipeline that fixes all of its state, and by shader objects whose state commands
// set. In: a look (all of the state), shaders. Out: pictures of two colours.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "vulkan_fixture.hpp"

namespace tilegpu::test {

constexpr uint32_t kSide_px = 32;
constexpr size_t kPicture_B = size_t{kSide_px} * kSide_px * 4;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kDepth = VK_FORMAT_D32_SFLOAT_S8_UINT;

// clang-format off
/// Commands of the extension, all by the names that it gives them.
#define TILEGPU_SHADER_OBJECT_COMMANDS(X) \
  X(CreateShadersEXT) X(DestroyShaderEXT) X(GetShaderBinaryDataEXT) X(CmdBindShadersEXT) X(CmdBindVertexBuffers2EXT) \
  X(CmdSetAlphaToCoverageEnableEXT) X(CmdSetAlphaToOneEnableEXT) X(CmdSetColorBlendAdvancedEXT) X(CmdSetColorBlendEnableEXT) \
  X(CmdSetColorBlendEquationEXT) X(CmdSetColorWriteMaskEXT) X(CmdSetConservativeRasterizationModeEXT) X(CmdSetCullModeEXT) \
  X(CmdSetDepthBiasEnableEXT) X(CmdSetDepthBoundsTestEnableEXT) X(CmdSetDepthClampEnableEXT) X(CmdSetDepthClampRangeEXT) \
  X(CmdSetDepthClipEnableEXT) X(CmdSetDepthClipNegativeOneToOneEXT) X(CmdSetDepthCompareOpEXT) X(CmdSetDepthTestEnableEXT) \
  X(CmdSetDepthWriteEnableEXT) X(CmdSetExtraPrimitiveOverestimationSizeEXT) X(CmdSetFrontFaceEXT) X(CmdSetLineRasterizationModeEXT) \
  X(CmdSetLineStippleEnableEXT) X(CmdSetLogicOpEXT) X(CmdSetLogicOpEnableEXT) X(CmdSetPatchControlPointsEXT) X(CmdSetPolygonModeEXT) \
  X(CmdSetPrimitiveRestartEnableEXT) X(CmdSetPrimitiveTopologyEXT) X(CmdSetProvokingVertexModeEXT) X(CmdSetRasterizationSamplesEXT) \
  X(CmdSetRasterizationStreamEXT) X(CmdSetRasterizerDiscardEnableEXT) X(CmdSetSampleLocationsEnableEXT) X(CmdSetSampleMaskEXT) \
  X(CmdSetScissorWithCountEXT) X(CmdSetStencilOpEXT) X(CmdSetStencilTestEnableEXT) X(CmdSetTessellationDomainOriginEXT) \
  X(CmdSetVertexInputEXT) X(CmdSetViewportWithCountEXT)
/// What belongs to other extensions, or to Vulkan 1.0.
#define TILEGPU_OTHER_COMMANDS(X) \
  X(CmdBeginRenderingKHR) X(CmdEndRenderingKHR) X(CmdSetLineWidth) X(CmdSetDepthBias) X(CmdSetBlendConstants) X(CmdSetDepthBounds) \
  X(CmdSetStencilCompareMask) X(CmdSetStencilWriteMask) X(CmdSetStencilReference) X(CmdSetLineStippleEXT) X(CmdSetSampleLocationsEXT) \
  X(CmdSetColorWriteEnableEXT) X(CmdSetFragmentShadingRateKHR) X(CmdDrawMeshTasksEXT) X(CmdDrawIndexed) X(CmdBindIndexBuffer) \
  X(CmdSetDiscardRectangleEXT) X(CmdSetDiscardRectangleEnableEXT) X(CmdSetDiscardRectangleModeEXT)
// clang-format on

struct Vertex {
  float at[4];
  float tint[4];
};
// Three triangles that overlap; the second reaches before the near and behind the far plane, the third faces away.
constexpr Vertex kVertices[] = {
    {{-0.9F, -0.8F, 0.3F, 1}, {1, 0.25F, 0, 0.75F}},
    {{0.8F, -0.9F, 0.5F, 1}, {0, 1, 0.25F, 0.5F}},
    {{-0.2F, 0.9F, 0.7F, 1}, {0.25F, 0, 1, 1}},
    {{-0.95F, 0.6F, -0.4F, 1}, {1, 1, 0, 0.25F}},
    {{0.1F, -0.7F, 0.4F, 1}, {0, 0.5F, 1, 1}},
    {{0.95F, 0.7F, 1.3F, 1}, {0.75F, 0, 0.5F, 0.5F}},
    {{-0.5F, -0.95F, 0.6F, 1}, {0.5F, 0.5F, 0.5F, 1}},
    {{-0.6F, 0.4F, 0.2F, 1}, {0.9F, 0.8F, 0.1F, 0.5F}},
    {{0.9F, 0.1F, 0.45F, 1}, {0.1F, 0.3F, 0.9F, 0.125F}},
};
constexpr uint32_t kVertexCount = 9;
constexpr uint16_t kIndices[] = {0, 1, 2, 0xffff, 3, 4, 5, 6, 7, 8};

constexpr const char* kVertexText = R"(#version 450
layout(location = 0) in vec4 at; layout(location = 1) in vec4 tint; layout(location = 2) in vec2 shift;
layout(location = 0) out vec4 v; layout(location = 1) flat out vec4 f;
void main() { gl_Position = at + vec4(shift, 0, 0); v = tint; f = tint.bgra; gl_PointSize = 5; })";
constexpr const char* kControlText = R"(#version 450
layout(vertices = 3) out;
layout(location = 0) in vec4 v[]; layout(location = 1) flat in vec4 f[];
layout(location = 0) out vec4 cv[]; layout(location = 1) out vec4 cf[];
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  cv[gl_InvocationID] = v[gl_InvocationID], cf[gl_InvocationID] = f[gl_InvocationID];
  gl_TessLevelOuter[0] = 2, gl_TessLevelOuter[1] = 3, gl_TessLevelOuter[2] = 1, gl_TessLevelInner[0] = 2;
})";
constexpr const char* kEvaluationText = R"(#version 450
layout(triangles) in;
layout(location = 0) in vec4 cv[]; layout(location = 1) in vec4 cf[];
layout(location = 0) out vec4 v; layout(location = 1) flat out vec4 f;
void main() {
  const vec3 t = gl_TessCoord;
  gl_Position = gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y + gl_in[2].gl_Position * t.z;
  gl_Position.x += 0.2 * t.x * t.y;
  v = cv[0] * t.x + cv[1] * t.y + cv[2] * t.z, f = cf[0] * t.y + cf[2] * t.z;
})";
constexpr const char* kGeometryText = R"(#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 v[]; layout(location = 1) flat in vec4 f[];
layout(location = 0) out vec4 gv; layout(location = 1) flat out vec4 gf;
void main() {
  const vec4 middle = (gl_in[0].gl_Position + gl_in[1].gl_Position + gl_in[2].gl_Position) / 3;
  for (int i = 0; i < 3; i++) {
    gl_Position = mix(gl_in[i].gl_Position, middle, 0.2), gv = v[i], gf = f[(i + 1) % 3];
    EmitVertex();
  }
})";
constexpr const char* kTaskText = R"(#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
struct Row { uint row; }; taskPayloadSharedEXT Row chosen;
void main() { chosen.row = gl_WorkGroupID.x; EmitMeshTasksEXT(3, 1, 1); })";
/// ROW: of the task shader, or of the workgroup.
constexpr const char* kMeshText = R"(#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(location = 0) out vec4 v[]; layout(location = 1) flat out vec4 f[];
PAYLOAD
void main() {
  SetMeshOutputsEXT(3, 1);
  for (int i = 0; i < 3; i++) {
    gl_MeshVerticesEXT[i].gl_Position = vec4((vec2(gl_WorkGroupID.x + (i & 1), ROW + (i >> 1)) - 1.5) / 2, 0.25 * float(i), 1);
    v[i] = vec4(0.25 * float(i), 0.5, 0.25 * float(ROW), 0.5), f[i] = vec4(0.125 * float(gl_WorkGroupID.x));
  }
  gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
})";
constexpr const char* kFragmentText = R"(#version 450
layout(location = 0) in vec4 v; layout(location = 1) flat in vec4 f;
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = gl_FrontFacing ? v : v * 0.5; b = vec4(f.rgb, v.a); })";

/// All that a draw has of state.
struct Look {
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  bool restart = false, indexed = false, discard = false, depth_bias = false, depth_clamp = false, negative_one = false, user_clamp = false;
  bool provoking_last = false, stipple = false, alpha_to_coverage = false, alpha_to_one = false, locations = false, logic = false;
  bool depth_test = true, depth_write = true, bounds_test = false, stencil_test = false;
  std::optional<bool> depth_clip;  ///< empty: not if it is clamped
  uint32_t patch_points = 3, stipple_factor = 1, instances = 1, divisor = 1, sample_mask = ~0U;
  uint16_t stipple_pattern = 0xffff;
  VkTessellationDomainOrigin origin = VK_TESSELLATION_DOMAIN_ORIGIN_UPPER_LEFT;
  VkCullModeFlags cull = VK_CULL_MODE_NONE;
  VkFrontFace front = VK_FRONT_FACE_CLOCKWISE;
  VkPolygonMode polygon = VK_POLYGON_MODE_FILL;
  float bias[3] = {}, line_width = 1, bounds[2] = {0, 1}, constants[4] = {0.5F, 0.25F, 0.75F, 1}, extra_px = 0, clamp[2] = {0.3F, 0.5F};
  VkLineRasterizationModeEXT line_mode = VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT;
  VkConservativeRasterizationModeEXT conservative = VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  VkCompareOp depth_op = VK_COMPARE_OP_LESS;
  VkStencilOpState stencil = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_INCREMENT_AND_CLAMP, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_EQUAL, 255, 255, 1};
  VkLogicOp logic_op = VK_LOGIC_OP_XOR;
  std::vector<VkRect2D> cut;  ///< discard rectangles: none, or two, as those that others set stay
  VkDiscardRectangleModeEXT cut_mode = VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT;
  std::array<VkPipelineColorBlendAttachmentState, 2> blend = {
      {{0, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD, 15},
       {0, VK_BLEND_FACTOR_DST_COLOR, VK_BLEND_FACTOR_CONSTANT_COLOR, VK_BLEND_OP_SUBTRACT, VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ONE,
        VK_BLEND_OP_MAX, 15}}};
  bool advanced = false;  ///< of the first colour: VK_BLEND_OP_MULTIPLY_EXT, in place of the equation
  VkBool32 write_enable[2] = {VK_TRUE, VK_TRUE};
  VkExtent2D rate = {1, 1};
  std::vector<VkViewport> viewports = {{0, 0, kSide_px, kSide_px, 0, 1}};
  std::vector<VkRect2D> scissors = {kArea};
  uint32_t stride_B = sizeof(Vertex), attribute_offset_B = 16;
  VkFormat tint = VK_FORMAT_R32G32B32A32_SFLOAT;
};

using Stages = std::vector<std::pair<VkShaderStageFlagBits, const char*>>;
constexpr VkShaderStageFlagBits kVert = VK_SHADER_STAGE_VERTEX_BIT, kFrag = VK_SHADER_STAGE_FRAGMENT_BIT;

struct ShaderObjectScene : Program {
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_SHADER_OBJECT_COMMANDS(TILEGPU_VK)
  TILEGPU_OTHER_COMMANDS(TILEGPU_VK)
#undef TILEGPU_VK
  BoundImage color[2][2]{}, depth[2]{};  ///< [with four samples][which]
  MappedBuffer pixels[2]{}, vertices{}, instances{}, indices{};
  VkPipelineLayout layout = nullptr;
  std::map<std::pair<VkShaderStageFlagBits, std::string>, std::vector<uint32_t>> words;

  /// With all features, or with that of the extension alone.
  explicit ShaderObjectScene(bool all = true) {
    const auto chain = [](auto& s, void*& next) { s.pNext = next, next = &s; };
    void* next = nullptr;
    VkPhysicalDeviceDynamicRenderingFeatures rendering{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
    VkPhysicalDeviceShaderObjectFeaturesEXT objects{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDeviceMeshShaderFeaturesEXT mesh{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT, nullptr, VK_TRUE, VK_TRUE};
    VkPhysicalDeviceDepthClipEnableFeaturesEXT clip{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDeviceDepthClipControlFeaturesEXT control{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_CONTROL_FEATURES_EXT, nullptr,
                                                        VK_TRUE};
    VkPhysicalDeviceDepthClampControlFeaturesEXT clamp{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_CONTROL_FEATURES_EXT, nullptr,
                                                       VK_TRUE};
    VkPhysicalDeviceLineRasterizationFeaturesEXT lines{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_EXT};
    lines.rectangularLines = lines.bresenhamLines = lines.stippledRectangularLines = lines.stippledBresenhamLines = VK_TRUE;
    VkPhysicalDeviceProvokingVertexFeaturesEXT provoking{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDeviceBlendOperationAdvancedFeaturesEXT advanced{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_FEATURES_EXT,
                                                               nullptr, VK_TRUE};
    VkPhysicalDeviceColorWriteEnableFeaturesEXT writes{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COLOR_WRITE_ENABLE_FEATURES_EXT, nullptr, VK_TRUE};
    VkPhysicalDeviceVertexAttributeDivisorFeaturesEXT divisor{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES_EXT,
                                                              nullptr, VK_TRUE, VK_TRUE};
    VkPhysicalDeviceFragmentShadingRateFeaturesKHR rate{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_FEATURES_KHR, nullptr,
                                                        VK_TRUE};
    VkPhysicalDeviceTransformFeedbackFeaturesEXT streams{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT, nullptr,
                                                         VK_TRUE, VK_TRUE};
    VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    std::vector<const char*> extensions = {"VK_KHR_dynamic_rendering", "VK_EXT_shader_object"};
    chain(rendering, next), chain(objects, next);
    if (all) {
      for (const char* more : {"VK_EXT_mesh_shader", "VK_EXT_depth_clip_enable", "VK_EXT_depth_clip_control", "VK_EXT_depth_clamp_control",
                               "VK_EXT_line_rasterization", "VK_EXT_provoking_vertex", "VK_EXT_conservative_rasterization",
                               "VK_EXT_sample_locations", "VK_EXT_blend_operation_advanced", "VK_EXT_color_write_enable",
                               "VK_EXT_vertex_attribute_divisor", "VK_KHR_fragment_shading_rate", "VK_EXT_transform_feedback",
                               "VK_KHR_dynamic_rendering_local_read", "VK_EXT_discard_rectangles"})
        extensions.push_back(more);
      chain(mesh, next), chain(clip, next), chain(control, next), chain(clamp, next), chain(lines, next), chain(provoking, next);
      chain(advanced, next), chain(writes, next), chain(divisor, next), chain(rate, next), chain(streams, next);
      GetPhysicalDeviceFeatures(physical_device, &core.features);
      chain(core, next);
    }
    remake_device(extensions, next);
    // Of the device: a command is there whose extension is enabled.
    const auto get = [&](auto& function, const char* name, bool wanted) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(GetDeviceProcAddr(device, name));
      CHECK_MESSAGE(function || !wanted, name);
    };
#define TILEGPU_VK(name) get(name, "vk" #name, true);
    TILEGPU_SHADER_OBJECT_COMMANDS(TILEGPU_VK)
#undef TILEGPU_VK
#define TILEGPU_VK(name) get(name, "vk" #name, all);
    TILEGPU_OTHER_COMMANDS(TILEGPU_VK)
#undef TILEGPU_VK
    constexpr VkImageUsageFlags kUse = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    for (const bool four : {false, true}) {
      const VkSampleCountFlagBits samples = four ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT;
      for (BoundImage& i : color[four]) i = image(kColor, kSide_px, kSide_px, kUse, false, samples);
      depth[four] = image(kDepth, kSide_px, kSide_px, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, false, samples);
    }
    for (MappedBuffer& b : pixels) b = buffer(kPicture_B, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    vertices = buffer(sizeof kVertices, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(vertices.data, kVertices, sizeof kVertices);
    const float shifts[] = {0, 0, 0.25F, -0.125F, -0.25F, 0.125F, 0.5F, 0.5F};
    instances = buffer(sizeof shifts, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(instances.data, shifts, sizeof shifts);
    indices = buffer(sizeof kIndices, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
    std::memcpy(indices.data, kIndices, sizeof kIndices);
    layout = pipeline_layout({});
  }

  const std::vector<uint32_t>& spirv(VkShaderStageFlagBits stage, const std::string& text) {
    std::vector<uint32_t>& out = words[{stage, text}];
    if (!out.empty()) return out;
    GlslSource source;
    source.text = text, source.stage = stage;
    auto made = compile_glsl(source);
    if (CHECK(made)) out = *made;
    return out;
  }

  // --- shader objects

  VkShaderCreateInfoEXT shader_info(VkShaderStageFlagBits stage, VkShaderStageFlags next, const std::vector<uint32_t>& code,
                                    VkShaderCreateFlagsEXT flags = 0) {
    VkShaderCreateInfoEXT info{VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT};
    info.flags = flags, info.stage = stage, info.nextStage = next, info.codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT;
    info.codeSize = code.size() * 4, info.pCode = code.data(), info.pName = "main";
    return info;
  }
  /// One each, in the order of the stages; `change` has the last word.
  std::vector<VkShaderEXT> shaders(
      const Stages& stages, bool linked, const std::function<void(VkShaderCreateInfoEXT&)>& change = [](VkShaderCreateInfoEXT&) {}) {
    std::vector<VkShaderCreateInfoEXT> infos;
    for (size_t i = 0; i < stages.size(); ++i) {
      const auto [stage, text] = stages[i];
      VkShaderCreateFlagsEXT flags = linked ? VK_SHADER_CREATE_LINK_STAGE_BIT_EXT : 0;
      if (stage == VK_SHADER_STAGE_MESH_BIT_EXT && (i == 0 || stages[i - 1].first != VK_SHADER_STAGE_TASK_BIT_EXT))
        flags |= VK_SHADER_CREATE_NO_TASK_SHADER_BIT_EXT;
      infos.push_back(shader_info(stage, i + 1 < stages.size() ? stages[i + 1].first : 0, spirv(stage, text), flags));
      change(infos.back());
    }
    std::vector<VkShaderEXT> out(stages.size());
    if (linked) {
      CHECK_MESSAGE(CreateShadersEXT(device, static_cast<uint32_t>(infos.size()), infos.data(), nullptr, out.data()) == VK_SUCCESS,
                    said.empty() ? "" : said.back());
    } else {
      for (size_t i = 0; i < infos.size(); ++i)
        CHECK_MESSAGE(CreateShadersEXT(device, 1, &infos[i], nullptr, &out[i]) == VK_SUCCESS, said.empty() ? "" : said.back());
    }
    return out;
  }
  void destroy(const std::vector<VkShaderEXT>& list) {
    for (const VkShaderEXT shader : list) DestroyShaderEXT(device, shader, nullptr);
  }
  /// These, and no others of graphics.
  void bind(VkCommandBuffer c, const Stages& stages, const std::vector<VkShaderEXT>& list) {
    constexpr VkShaderStageFlagBits kAll[] = {kVert,
                                              VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
                                              VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
                                              VK_SHADER_STAGE_GEOMETRY_BIT,
                                              VK_SHADER_STAGE_TASK_BIT_EXT,
                                              VK_SHADER_STAGE_MESH_BIT_EXT,
                                              kFrag};
    CmdBindShadersEXT(c, 7, kAll, nullptr);
    std::vector<VkShaderStageFlagBits> bits;
    for (const auto& [stage, text] : stages) bits.push_back(stage);
    CmdBindShadersEXT(c, static_cast<uint32_t>(bits.size()), bits.data(), list.data());
  }

  // --- the look, by commands

  void set_rasterization(VkCommandBuffer c, const Look& l) {
    CmdSetViewportWithCountEXT(c, static_cast<uint32_t>(l.viewports.size()), l.viewports.data());
    CmdSetScissorWithCountEXT(c, static_cast<uint32_t>(l.scissors.size()), l.scissors.data());
    CmdSetRasterizerDiscardEnableEXT(c, l.discard);
    CmdSetPolygonModeEXT(c, l.polygon), CmdSetCullModeEXT(c, l.cull), CmdSetFrontFaceEXT(c, l.front);
    CmdSetDepthBiasEnableEXT(c, l.depth_bias), CmdSetDepthBias(c, l.bias[0], l.bias[1], l.bias[2]);
    CmdSetDepthClampEnableEXT(c, l.depth_clamp);
    CmdSetDepthClipEnableEXT(c, l.depth_clip.value_or(!l.depth_clamp));
    CmdSetDepthClipNegativeOneToOneEXT(c, l.negative_one);
    const VkDepthClampRangeEXT range{l.clamp[0], l.clamp[1]};
    CmdSetDepthClampRangeEXT(c, l.user_clamp ? VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT : VK_DEPTH_CLAMP_MODE_VIEWPORT_RANGE_EXT, &range);
    CmdSetLineWidth(c, l.line_width), CmdSetLineRasterizationModeEXT(c, l.line_mode), CmdSetLineStippleEnableEXT(c, l.stipple);
    CmdSetLineStippleEXT(c, l.stipple_factor, l.stipple_pattern);
    CmdSetProvokingVertexModeEXT(c,
                                 l.provoking_last ? VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT : VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT);
    CmdSetConservativeRasterizationModeEXT(c, l.conservative), CmdSetExtraPrimitiveOverestimationSizeEXT(c, l.extra_px);
    CmdSetRasterizationSamplesEXT(c, l.samples), CmdSetSampleMaskEXT(c, l.samples, &l.sample_mask);
    CmdSetAlphaToCoverageEnableEXT(c, l.alpha_to_coverage), CmdSetAlphaToOneEnableEXT(c, l.alpha_to_one);
    const auto places = sample_places();
    CmdSetSampleLocationsEnableEXT(c, l.locations);
    CmdSetSampleLocationsEXT(c, &places);
    const VkFragmentShadingRateCombinerOpKHR keep[2] = {};
    CmdSetFragmentShadingRateKHR(c, &l.rate, keep);
    CmdSetRasterizationStreamEXT(c, 0);
    CmdSetDiscardRectangleEnableEXT(c, !l.cut.empty());
    if (!l.cut.empty()) CmdSetDiscardRectangleEXT(c, 0, static_cast<uint32_t>(l.cut.size()), l.cut.data());
    if (!l.cut.empty()) CmdSetDiscardRectangleModeEXT(c, l.cut_mode);
  }
  void set_tests(VkCommandBuffer c, const Look& l) {
    CmdSetDepthTestEnableEXT(c, l.depth_test), CmdSetDepthWriteEnableEXT(c, l.depth_write), CmdSetDepthCompareOpEXT(c, l.depth_op);
    CmdSetDepthBoundsTestEnableEXT(c, l.bounds_test), CmdSetDepthBounds(c, l.bounds[0], l.bounds[1]);
    CmdSetStencilTestEnableEXT(c, l.stencil_test);
    constexpr VkStencilFaceFlags kBoth = VK_STENCIL_FACE_FRONT_AND_BACK;
    CmdSetStencilOpEXT(c, kBoth, l.stencil.failOp, l.stencil.passOp, l.stencil.depthFailOp, l.stencil.compareOp);
    CmdSetStencilCompareMask(c, kBoth, l.stencil.compareMask), CmdSetStencilWriteMask(c, kBoth, l.stencil.writeMask);
    CmdSetStencilReference(c, kBoth, l.stencil.reference);
  }
  void set_colors(VkCommandBuffer c, const Look& l) {
    CmdSetLogicOpEnableEXT(c, l.logic), CmdSetLogicOpEXT(c, l.logic_op);
    for (uint32_t i = 0; i < 2; ++i) {
      const VkPipelineColorBlendAttachmentState& b = l.blend[i];
      const VkColorBlendEquationEXT equation{b.srcColorBlendFactor, b.dstColorBlendFactor, b.colorBlendOp,
                                             b.srcAlphaBlendFactor, b.dstAlphaBlendFactor, b.alphaBlendOp};
      const VkColorBlendAdvancedEXT advanced{VK_BLEND_OP_MULTIPLY_EXT, VK_TRUE, VK_TRUE, VK_BLEND_OVERLAP_UNCORRELATED_EXT, VK_FALSE};
      CmdSetColorBlendEnableEXT(c, i, 1, &b.blendEnable), CmdSetColorWriteMaskEXT(c, i, 1, &b.colorWriteMask);
      CmdSetColorBlendEquationEXT(c, i, 1, &equation);
      if (l.advanced) CmdSetColorBlendAdvancedEXT(c, i, 1, &advanced);
    }
    CmdSetColorWriteEnableEXT(c, 2, l.write_enable), CmdSetBlendConstants(c, l.constants);
  }
  void set_input(VkCommandBuffer c, const Look& l) {
    const VkVertexInputBindingDescription2EXT bindings[] = {
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 0, l.stride_B, VK_VERTEX_INPUT_RATE_VERTEX, 1},
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT, nullptr, 1, 8, VK_VERTEX_INPUT_RATE_INSTANCE, l.divisor}};
    const VkVertexInputAttributeDescription2EXT attributes[] = {
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, 0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0},
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, 1, 0, l.tint, l.attribute_offset_B},
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, nullptr, 2, 1, VK_FORMAT_R32G32_SFLOAT, 0}};
    CmdSetVertexInputEXT(c, 2, bindings, 3, attributes);
    CmdSetPrimitiveTopologyEXT(c, l.topology), CmdSetPrimitiveRestartEnableEXT(c, l.restart);
    CmdSetPatchControlPointsEXT(c, l.patch_points), CmdSetTessellationDomainOriginEXT(c, l.origin);
  }
  void set(VkCommandBuffer c, const Look& l) { set_rasterization(c, l), set_tests(c, l), set_colors(c, l), set_input(c, l); }

  // --- the look, by a pipeline

  static VkSampleLocationsInfoEXT sample_places() {
    static const VkSampleLocationEXT kPlaces[] = {{0.125F, 0.125F}, {0.25F, 0.875F}, {0.5F, 0.5F}, {0.9375F, 0.0625F}};
    return {VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT, nullptr, VK_SAMPLE_COUNT_4_BIT, {1, 1}, 4, kPlaces};
  }
  VkPipeline pipeline(const Stages& stages, const Look& l, VkPipelineLayout with = nullptr, bool depth_format = true) {
    std::vector<VkPipelineShaderStageCreateInfo> infos;
    for (const auto& [stage, text] : stages) {
      const auto& code = spirv(stage, text);
      const VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, code.size() * 4, code.data()};
      VkShaderModule made = nullptr;
      CHECK(CreateShaderModule(device, &module, nullptr, &made) == VK_SUCCESS);
      infos.push_back({VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, stage, made, "main", nullptr});
    }
    const VkVertexInputBindingDescription bindings[] = {{0, l.stride_B, VK_VERTEX_INPUT_RATE_VERTEX},
                                                        {1, 8, VK_VERTEX_INPUT_RATE_INSTANCE}};
    const VkVertexInputAttributeDescription attributes[] = {
        {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}, {1, 0, l.tint, l.attribute_offset_B}, {2, 1, VK_FORMAT_R32G32_SFLOAT, 0}};
    const VkVertexInputBindingDivisorDescriptionEXT divisor{1, l.divisor};
    const VkPipelineVertexInputDivisorStateCreateInfoEXT divisors{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT,
                                                                  nullptr, 1, &divisor};
    VkPipelineVertexInputStateCreateInfo input{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO, &divisors, 0, 2, bindings, 3, attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, nullptr, 0, l.topology,
                                                    l.restart};
    const VkPipelineTessellationDomainOriginStateCreateInfo origin{VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_DOMAIN_ORIGIN_STATE_CREATE_INFO,
                                                                   nullptr, l.origin};
    const VkPipelineTessellationStateCreateInfo tessellation{VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO, &origin, 0,
                                                             l.patch_points};
    const VkDepthClampRangeEXT range{l.clamp[0], l.clamp[1]};
    const VkPipelineViewportDepthClampControlCreateInfoEXT clamp{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLAMP_CONTROL_CREATE_INFO_EXT, nullptr,
        l.user_clamp ? VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT : VK_DEPTH_CLAMP_MODE_VIEWPORT_RANGE_EXT, &range};
    const VkPipelineViewportDepthClipControlCreateInfoEXT control{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT,
                                                                  &clamp, l.negative_one};
    const VkPipelineViewportStateCreateInfo area{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                                 &control,
                                                 0,
                                                 static_cast<uint32_t>(l.viewports.size()),
                                                 l.viewports.data(),
                                                 static_cast<uint32_t>(l.scissors.size()),
                                                 l.scissors.data()};
    VkPipelineRasterizationLineStateCreateInfoEXT lines{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT};
    lines.lineRasterizationMode = l.line_mode, lines.stippledLineEnable = l.stipple;
    lines.lineStippleFactor = l.stipple_factor, lines.lineStipplePattern = l.stipple_pattern;
    const VkPipelineRasterizationProvokingVertexStateCreateInfoEXT provoking{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT, &lines,
        l.provoking_last ? VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT : VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT};
    const VkPipelineRasterizationConservativeStateCreateInfoEXT conservative{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT, &provoking, 0, l.conservative, l.extra_px};
    const VkPipelineRasterizationDepthClipStateCreateInfoEXT clip{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT,
                                                                  &conservative, 0, l.depth_clip.value_or(!l.depth_clamp)};
    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, &clip};
    raster.depthClampEnable = l.depth_clamp, raster.rasterizerDiscardEnable = l.discard, raster.polygonMode = l.polygon;
    raster.cullMode = l.cull, raster.frontFace = l.front, raster.depthBiasEnable = l.depth_bias, raster.lineWidth = l.line_width;
    raster.depthBiasConstantFactor = l.bias[0], raster.depthBiasClamp = l.bias[1], raster.depthBiasSlopeFactor = l.bias[2];
    const VkPipelineSampleLocationsStateCreateInfoEXT places{VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT, nullptr,
                                                             l.locations, sample_places()};
    VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, &places};
    samples.rasterizationSamples = l.samples, samples.pSampleMask = &l.sample_mask;
    samples.alphaToCoverageEnable = l.alpha_to_coverage, samples.alphaToOneEnable = l.alpha_to_one;
    VkPipelineDepthStencilStateCreateInfo tests{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    tests.depthTestEnable = l.depth_test, tests.depthWriteEnable = l.depth_write, tests.depthCompareOp = l.depth_op;
    tests.depthBoundsTestEnable = l.bounds_test, tests.minDepthBounds = l.bounds[0], tests.maxDepthBounds = l.bounds[1];
    tests.stencilTestEnable = l.stencil_test, tests.front = tests.back = l.stencil;
    auto blend = l.blend;
    if (l.advanced)
      for (auto& b : blend) b.colorBlendOp = b.alphaBlendOp = VK_BLEND_OP_MULTIPLY_EXT;
    const VkPipelineColorWriteCreateInfoEXT writes{VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, nullptr, 2, l.write_enable};
    VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, &writes};
    blending.logicOpEnable = l.logic, blending.logicOp = l.logic_op, blending.attachmentCount = 2, blending.pAttachments = blend.data();
    std::copy(l.constants, l.constants + 4, blending.blendConstants);
    const VkPipelineDiscardRectangleStateCreateInfoEXT cut{VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
                                                           nullptr,
                                                           0,
                                                           l.cut_mode,
                                                           static_cast<uint32_t>(l.cut.size()),
                                                           l.cut.data()};
    const VkPipelineFragmentShadingRateStateCreateInfoKHR rate{VK_STRUCTURE_TYPE_PIPELINE_FRAGMENT_SHADING_RATE_STATE_CREATE_INFO_KHR, &cut,
                                                               l.rate};
    const VkFormat formats[] = {kColor, kColor}, of_depth = depth_format ? kDepth : VK_FORMAT_UNDEFINED;
    const VkPipelineRenderingCreateInfo rendering{
        VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, &rate, 0, 2, formats, of_depth, of_depth};
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering};
    info.stageCount = static_cast<uint32_t>(infos.size()), info.pStages = infos.data(), info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly, info.pTessellationState = &tessellation, info.pViewportState = &area;
    info.pRasterizationState = &raster, info.pMultisampleState = &samples, info.pDepthStencilState = &tests;
    info.pColorBlendState = &blending, info.layout = with ? with : layout;
    VkPipeline out = nullptr;
    CHECK_MESSAGE(CreateGraphicsPipelines(device, nullptr, 1, &info, nullptr, &out) == VK_SUCCESS, said.empty() ? "" : said.back());
    for (const auto& stage : infos) DestroyShaderModule(device, stage.module, nullptr);
    return out;
  }

  // --- passes

  void begin_pass(VkCommandBuffer c, bool four = false, VkRenderingFlags flags = 0, bool with_depth = true) {
    VkRenderingAttachmentInfo colors[2], tests{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    for (int i = 0; i < 2; ++i) {
      colors[i] = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
      colors[i].imageView = color[four][i].view, colors[i].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
      colors[i].storeOp = VK_ATTACHMENT_STORE_OP_STORE, colors[i].clearValue.color = {{0.25F, 0.5F, 0.75F, 1}};
      if (four) colors[i].resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT, colors[i].resolveImageView = color[0][i].view;
    }
    tests.imageView = depth[four].view, tests.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    tests.clearValue.depthStencil = {1, 1};
    const VkRenderingAttachmentInfo* const of = with_depth ? &tests : nullptr;
    const VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, flags, kArea, 1, 0, 2, colors, of, of};
    CmdBeginRenderingKHR(c, &info);
  }
  void draw(VkCommandBuffer c, const Stages& stages, const Look& l) {
    const VkBuffer buffers[] = {vertices.buffer, instances.buffer};
    const VkDeviceSize zeros[2] = {};
    CmdBindVertexBuffers(c, 0, 2, buffers, zeros);
    CmdBindIndexBuffer(c, indices.buffer, 0, VK_INDEX_TYPE_UINT16);
    if (stages.front().first != kVert)
      CmdDrawMeshTasksEXT(c, 3, 1, 1);
    else if (l.indexed)
      CmdDrawIndexed(c, 10, l.instances, 0, 0, 0);
    else
      CmdDraw(c, kVertexCount, l.instances, 0, 0);
  }
  /// Ends, runs, and gives both colours; what the driver said is a failure.
  std::vector<uint8_t> picture(VkCommandBuffer c) {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    for (int i = 0; i < 2; ++i)
      CmdCopyImageToBuffer(c, color[0][i].image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, pixels[i].buffer, 1, &region);
    run(c);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
    std::vector<uint8_t> out(2 * kPicture_B);
    for (int i = 0; i < 2; ++i) std::memcpy(out.data() + i * kPicture_B, pixels[i].data, kPicture_B);
    return out;
  }
  std::vector<uint8_t> by_pipeline(const Stages& stages, const Look& l, bool with_depth = true) {
    const VkPipeline with = pipeline(stages, l, nullptr, with_depth);
    const VkCommandBuffer c = begin();
    begin_pass(c, l.samples != VK_SAMPLE_COUNT_1_BIT, 0, with_depth);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    draw(c, stages, l);
    CmdEndRenderingKHR(c);
    auto out = picture(c);
    DestroyPipeline(device, with, nullptr);
    return out;
  }
  std::vector<uint8_t> by_shaders(const Stages& stages, const std::vector<VkShaderEXT>& list, const Look& l, bool with_depth = true) {
    const VkCommandBuffer c = begin();
    begin_pass(c, l.samples != VK_SAMPLE_COUNT_1_BIT, 0, with_depth);
    set(c, l);
    bind(c, stages, list);
    draw(c, stages, l);
    CmdEndRenderingKHR(c);
    return picture(c);
  }
};

}  // namespace tilegpu::test
