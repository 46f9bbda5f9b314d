// tests/test_vulkan_shader_object_uses.cpp -- VK_EXT_shader_object beside all else: binaries that are damaged or foreign, what Vulkan
// forbids, secondary command buffers, descriptors, compute, local read, pipelines that go with their shaders, several threads, captures and
// reports.
#include <fstream>
#include <iterator>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "icd/objects.hpp"
#include "icd/shader_pipelines.hpp"
#include "shader_object_fixture.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

const Stages kBoth = {{kVert, kVertexText}, {kFrag, kFragmentText}};

std::vector<uint8_t> binary_of(const ShaderObjectScene& s, VkShaderEXT shader) {
  size_t size_B = 0;
  CHECK(s.GetShaderBinaryDataEXT(s.device, shader, &size_B, nullptr) == VK_SUCCESS);
  std::vector<uint8_t> out(size_B);
  CHECK(s.GetShaderBinaryDataEXT(s.device, shader, &size_B, out.data()) == VK_SUCCESS);
  return out;
}

// --- binaries

void test_binaries(ShaderObjectScene& s) {
  PFN_vkGetPhysicalDeviceProperties2 properties = nullptr;
  s.load(properties, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceShaderObjectPropertiesEXT has{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &has};
  properties(s.physical_device, &all);
  CHECK(std::memcmp(has.shaderBinaryUUID, "tilegpu shaders ", VK_UUID_SIZE) == 0 && has.shaderBinaryVersion == 1);

  const char* const text = R"(#version 450
layout(constant_id = 3) const float kRed = 0.25; layout(constant_id = 9) const int kGreen = 0;
layout(location = 0) in vec4 v; layout(location = 1) flat in vec4 f;
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = vec4(kRed, float(kGreen) / 4, v.z, 1), b = f; })";
  const float red = 0.75F;
  const int green = 3;
  uint8_t data[8];
  std::memcpy(data, &green, 4), std::memcpy(data + 4, &red, 4);
  const VkSpecializationMapEntry entries[] = {{3, 4, 4}, {9, 0, 4}};
  const VkSpecializationInfo constants{2, entries, 8, data};
  VkShaderCreateInfoEXT info = s.shader_info(kFrag, 0, s.spirv(kFrag, text));
  info.pSpecializationInfo = &constants;
  VkShaderEXT shader = nullptr, again = nullptr;
  CHECK(s.CreateShadersEXT(s.device, 1, &info, nullptr, &shader) == VK_SUCCESS);
  const std::vector<uint8_t> binary = binary_of(s, shader);
  CHECK(binary == binary_of(s, shader));
  size_t small_B = binary.size() - 1;
  std::vector<uint8_t> untouched(binary.size(), 0xaa);
  CHECK(s.GetShaderBinaryDataEXT(s.device, shader, &small_B, untouched.data()) == VK_INCOMPLETE && small_B == 0);
  CHECK(untouched == std::vector<uint8_t>(binary.size(), 0xaa));

  info.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT;
  const auto taken = [&](const std::vector<uint8_t>& bytes) {
    again = shader;
    info.codeSize = bytes.size(), info.pCode = bytes.data();
    const VkResult r = s.CreateShadersEXT(s.device, 1, &info, nullptr, &again);
    CHECK((r == VK_SUCCESS) == (again != nullptr));
    return r;
  };
  // The constants are the binary's.
  CHECK(taken(binary) == VK_SUCCESS);
  const auto vertex = s.shaders({{kVert, kVertexText}}, false, [](VkShaderCreateInfoEXT& i) { i.nextStage = kFrag; });
  const auto want = s.by_shaders(kBoth, {vertex[0], shader}, {});
  CHECK(s.by_shaders(kBoth, {vertex[0], again}, {}) == want && want[0] != want[kPicture_B / 2 + 4 * kSide_px / 2]);
  s.DestroyShaderEXT(s.device, again, nullptr);

  // Any byte, any length; another shader's; none of ours.
  for (size_t i = 0; i < binary.size(); i += i < 200 ? 1 : 37) {
    std::vector<uint8_t> bytes = binary;
    bytes[i] ^= static_cast<uint8_t>(1U << i % 8);
    CHECK(taken(bytes) == VK_INCOMPATIBLE_SHADER_BINARY_EXT, "byte %zu", i);
    bytes = binary;
    bytes.resize(i + 1);
    CHECK(taken(bytes) == VK_INCOMPATIBLE_SHADER_BINARY_EXT, "%zu bytes", i + 1);
  }
  std::vector<uint8_t> longer = binary;
  longer.push_back(0);
  CHECK(taken(longer) == VK_INCOMPATIBLE_SHADER_BINARY_EXT);
  CHECK(taken(binary_of(s, vertex[0])) == VK_INCOMPATIBLE_SHADER_BINARY_EXT);
  info.pName = "other";
  CHECK(taken(binary) == VK_INCOMPATIBLE_SHADER_BINARY_EXT);
  info.pName = "main";
  for (const uint8_t value : {0, 255}) CHECK(taken(std::vector<uint8_t>(4096, value)) == VK_INCOMPATIBLE_SHADER_BINARY_EXT);
  // Counts that lie, with a sum that is right: SPIR-V of zeros, and one of no words.
  for (const size_t words : {size_t{0}, size_t{100}}) {
    icd::ShaderBinary made{kFrag, "main", {{1, 2}}, std::vector<uint32_t>(words)};
    CHECK(taken(icd::write_binary(made)) == VK_INCOMPATIBLE_SHADER_BINARY_EXT);
  }
  CHECK(s.said.empty());  // it is no error: programs go on with SPIR-V
  s.destroy({shader, vertex[0]});
}

// --- what is refused

void expect(ShaderObjectScene& s, const char* part, const std::function<void(VkCommandBuffer)>& body) {
  const VkCommandBuffer c = s.begin();
  body(c);
  CHECK_MESSAGE(s.EndCommandBuffer(c) != VK_SUCCESS, part);
  CHECK(s.heard(part), "%s: %s", part, s.said.empty() ? "nothing was said" : s.said.back().c_str());
  s.said.clear();
}

// Each state that a draw needs, left out once.
void test_missing_states(ShaderObjectScene& s) {
  const auto list = s.shaders(kBoth, false);
  Look look;
  look.stencil_test = look.logic = true;
  look.blend[0].blendEnable = look.blend[1].blendEnable = VK_TRUE;
  const auto without = [&](auto& command, const char* state) {
    // A command of the same signature that does nothing stands in for it.
    auto kept = command;
    command = [](auto...) {};
    expect(s, state, [&](VkCommandBuffer c) {
      s.begin_pass(c);
      s.set(c, look), s.bind(c, kBoth, list), s.draw(c, kBoth, look);
      s.CmdEndRenderingKHR(c);
    });
    command = kept;
  };
#define WITHOUT(command, state) without(s.command, "VK_DYNAMIC_STATE_" #state)
  WITHOUT(CmdSetViewportWithCountEXT, VIEWPORT_WITH_COUNT);
  WITHOUT(CmdSetScissorWithCountEXT, SCISSOR_WITH_COUNT);
  WITHOUT(CmdSetRasterizerDiscardEnableEXT, RASTERIZER_DISCARD_ENABLE);
  WITHOUT(CmdSetPolygonModeEXT, POLYGON_MODE_EXT);
  WITHOUT(CmdSetCullModeEXT, CULL_MODE);
  WITHOUT(CmdSetFrontFaceEXT, FRONT_FACE);
  WITHOUT(CmdSetDepthBiasEnableEXT, DEPTH_BIAS_ENABLE);
  WITHOUT(CmdSetDepthClampEnableEXT, DEPTH_CLAMP_ENABLE_EXT);
  WITHOUT(CmdSetDepthClipEnableEXT, DEPTH_CLIP_ENABLE_EXT);
  WITHOUT(CmdSetDepthClipNegativeOneToOneEXT, DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT);
  WITHOUT(CmdSetProvokingVertexModeEXT, PROVOKING_VERTEX_MODE_EXT);
  WITHOUT(CmdSetConservativeRasterizationModeEXT, CONSERVATIVE_RASTERIZATION_MODE_EXT);
  WITHOUT(CmdSetRasterizationSamplesEXT, RASTERIZATION_SAMPLES_EXT);
  WITHOUT(CmdSetSampleMaskEXT, SAMPLE_MASK_EXT);
  WITHOUT(CmdSetAlphaToCoverageEnableEXT, ALPHA_TO_COVERAGE_ENABLE_EXT);
  WITHOUT(CmdSetAlphaToOneEnableEXT, ALPHA_TO_ONE_ENABLE_EXT);
  WITHOUT(CmdSetSampleLocationsEnableEXT, SAMPLE_LOCATIONS_ENABLE_EXT);
  WITHOUT(CmdSetFragmentShadingRateKHR, FRAGMENT_SHADING_RATE_KHR);
  WITHOUT(CmdSetDepthTestEnableEXT, DEPTH_TEST_ENABLE);
  WITHOUT(CmdSetDepthWriteEnableEXT, DEPTH_WRITE_ENABLE);
  WITHOUT(CmdSetDepthCompareOpEXT, DEPTH_COMPARE_OP);
  WITHOUT(CmdSetDepthBoundsTestEnableEXT, DEPTH_BOUNDS_TEST_ENABLE);
  WITHOUT(CmdSetStencilTestEnableEXT, STENCIL_TEST_ENABLE);
  WITHOUT(CmdSetStencilOpEXT, STENCIL_OP);
  WITHOUT(CmdSetStencilCompareMask, STENCIL_COMPARE_MASK);
  WITHOUT(CmdSetStencilWriteMask, STENCIL_WRITE_MASK);
  WITHOUT(CmdSetStencilReference, STENCIL_REFERENCE);
  WITHOUT(CmdSetLogicOpEnableEXT, LOGIC_OP_ENABLE_EXT);
  WITHOUT(CmdSetLogicOpEXT, LOGIC_OP_EXT);
  WITHOUT(CmdSetColorBlendEnableEXT, COLOR_BLEND_ENABLE_EXT);
  WITHOUT(CmdSetColorBlendEquationEXT, COLOR_BLEND_EQUATION_EXT);
  WITHOUT(CmdSetColorWriteMaskEXT, COLOR_WRITE_MASK_EXT);
  WITHOUT(CmdSetBlendConstants, BLEND_CONSTANTS);
  WITHOUT(CmdSetVertexInputEXT, VERTEX_INPUT_EXT);
  WITHOUT(CmdSetPrimitiveTopologyEXT, PRIMITIVE_TOPOLOGY);
  WITHOUT(CmdSetPrimitiveRestartEnableEXT, PRIMITIVE_RESTART_ENABLE);
  look.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST, look.depth_bias = look.bounds_test = look.depth_clamp = true;
  look.conservative = VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT;
  WITHOUT(CmdSetLineWidth, LINE_WIDTH);
  WITHOUT(CmdSetLineRasterizationModeEXT, LINE_RASTERIZATION_MODE_EXT);
  WITHOUT(CmdSetLineStippleEnableEXT, LINE_STIPPLE_ENABLE_EXT);
  WITHOUT(CmdSetDepthBias, DEPTH_BIAS);
  WITHOUT(CmdSetDepthBounds, DEPTH_BOUNDS);
  WITHOUT(CmdSetDepthClampRangeEXT, DEPTH_CLAMP_RANGE_EXT);
  WITHOUT(CmdSetExtraPrimitiveOverestimationSizeEXT, EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT);
#undef WITHOUT
  s.destroy(list);
}

void test_misuse(ShaderObjectScene& s) {
  const auto list = s.shaders(kBoth, false), linked = s.shaders(kBoth, true);
  const Look look;
  const VkShaderStageFlagBits vert = kVert, frag = kFrag, mesh_bit = VK_SHADER_STAGE_MESH_BIT_EXT;
  const auto in_pass = [&](const auto& body) {
    return [&](VkCommandBuffer c) {
      s.begin_pass(c);
      s.set(c, look);
      body(c);
      s.draw(c, kBoth, look);
      s.CmdEndRenderingKHR(c);
    };
  };
  expect(s, "neither a vertex nor a mesh shader is bound", in_pass([&](VkCommandBuffer c) { s.CmdBindShadersEXT(c, 1, &frag, &list[1]); }));
  expect(s, "neither a vertex nor a mesh shader is bound", in_pass([&](VkCommandBuffer c) {
           s.bind(c, kBoth, list);
           s.CmdBindShadersEXT(c, 1, &vert, nullptr);
         }));
  expect(s, "was linked with a fragment shader, which is not bound",
         in_pass([&](VkCommandBuffer c) { s.bind(c, kBoth, {linked[0], list[1]}); }));
  expect(s, "was linked with a vertex shader, which is not bound",
         in_pass([&](VkCommandBuffer c) { s.bind(c, kBoth, {list[0], linked[1]}); }));
  const Stages geometry = {{VK_SHADER_STAGE_GEOMETRY_BIT, kGeometryText}};
  const auto between = s.shaders(geometry, false, [](VkShaderCreateInfoEXT& i) { i.nextStage = kFrag; });
  expect(s, "is bound between the", in_pass([&](VkCommandBuffer c) {
           s.bind(c, kBoth, linked);
           const VkShaderStageFlagBits bit = VK_SHADER_STAGE_GEOMETRY_BIT;
           s.CmdBindShadersEXT(c, 1, &bit, between.data());
         }));
  std::string alone = kMeshText;
  for (size_t at; (at = alone.find("ROW")) != std::string::npos;) alone.replace(at, 3, "0");
  alone.replace(alone.find("PAYLOAD"), 7, "");
  const auto mesh = s.shaders({{mesh_bit, alone.c_str()}}, false, [](VkShaderCreateInfoEXT& i) { i.nextStage = kFrag; });
  expect(s, "are bound; unbind one of both", in_pass([&](VkCommandBuffer c) {
           s.bind(c, kBoth, list);
           s.CmdBindShadersEXT(c, 1, &mesh_bit, mesh.data());
         }));
  expect(s, "a draw of vertices, and it has a mesh shader",
         in_pass([&](VkCommandBuffer c) { s.bind(c, {{mesh_bit, ""}, {kFrag, ""}}, {mesh[0], list[1]}); }));
  expect(s, "pShaders[0] is a fragment shader, and pStages says vertex",
         in_pass([&](VkCommandBuffer c) { s.CmdBindShadersEXT(c, 1, &vert, &list[1]); }));
  expect(s, "which is no stage of shader objects", in_pass([&](VkCommandBuffer c) {
           const VkShaderStageFlagBits all = VK_SHADER_STAGE_ALL_GRAPHICS;
           s.CmdBindShadersEXT(c, 1, &all, nullptr);
         }));
  // A pipeline that is bound afterwards fixes what was set.
  const VkPipeline fixed = s.pipeline(kBoth, look);
  expect(s, "VK_DYNAMIC_STATE_CULL_MODE", in_pass([&](VkCommandBuffer c) {
           s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fixed);
           s.bind(c, kBoth, list);
           s.CmdSetViewportWithCountEXT(c, 1, look.viewports.data()), s.CmdSetScissorWithCountEXT(c, 1, look.scissors.data());
         }));
  expect(s, "VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT was fixed by a pipeline", in_pass([&](VkCommandBuffer c) {
           s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fixed);
           s.bind(c, kBoth, list);
         }));
  // And shader objects take its place: it has to be bound again.
  expect(s, "neither a vertex nor a mesh shader is bound", in_pass([&](VkCommandBuffer c) {
           s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fixed);
           s.CmdBindShadersEXT(c, 1, &vert, nullptr);
           s.set(c, look);
         }));
  s.DestroyPipeline(s.device, fixed, nullptr);
  expect(s, "no render pass is open", [&](VkCommandBuffer c) { s.set(c, look), s.bind(c, kBoth, list), s.draw(c, kBoth, look); });
  const VkRenderPass classic = s.one_subpass();
  const VkFramebuffer view = s.framebuffer(classic, {s.color[0][0].view}, kSide_px);
  expect(s, "the pass was begun by vkCmdBeginRenderPass", [&](VkCommandBuffer c) {
    const VkClearValue clear{};
    const VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, classic, view, kArea, 1, &clear};
    s.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    s.set(c, look), s.bind(c, kBoth, list), s.draw(c, kBoth, look);
    s.CmdEndRenderPass(c);
  });
  s.destroy(list), s.destroy(linked), s.destroy(between), s.destroy(mesh);
}

// What a warning tells of is drawn all the same.
void test_tolerated(ShaderObjectScene& s) {
  const auto fragment = s.shaders({{kFrag, kFragmentText}}, false), vertex = s.shaders({{kVert, kVertexText}}, false);  // nextStage: 0
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c);
  s.set(c, {}), s.bind(c, kBoth, {vertex[0], fragment[0]}), s.draw(c, kBoth, {});
  s.CmdEndRenderingKHR(c);
  CHECK(s.heard("is followed by a fragment shader, which its nextStage does not have"));
  s.said.clear();
  CHECK(s.picture(c) == s.by_pipeline(kBoth, {}));
  s.destroy({vertex[0], fragment[0]});
}

void test_refused_creation(ShaderObjectScene& s) {
  const auto refuse = [&](const char* part, const std::vector<VkShaderCreateInfoEXT>& infos, size_t made = 0) {
    std::vector<VkShaderEXT> out(infos.size(), reinterpret_cast<VkShaderEXT>(uintptr_t{16}));
    CHECK(s.CreateShadersEXT(s.device, static_cast<uint32_t>(infos.size()), infos.data(), nullptr, out.data()) < 0);
    CHECK(s.heard(part), "%s: %s", part, s.said.empty() ? "nothing was said" : s.said.back().c_str());
    for (size_t i = 0; i < out.size(); ++i) CHECK((out[i] != nullptr) == (i < made));
    for (size_t i = 0; i < made; ++i) s.DestroyShaderEXT(s.device, out[i], nullptr);
    s.said.clear();
  };
  const VkShaderCreateInfoEXT good = s.shader_info(kVert, kFrag, s.spirv(kVert, kVertexText));
  const auto with = [&](const std::function<void(VkShaderCreateInfoEXT&)>& change) {
    VkShaderCreateInfoEXT info = good;
    change(info);
    return info;
  };
  constexpr VkShaderCreateFlagsEXT kLink = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT;
  refuse("codeSize is 6", {with([](auto& i) { i.codeSize = 6; })});
  refuse("there is no code", {with([](auto& i) { i.codeSize = 0; })});
  refuse("flags have", {with([](auto& i) { i.flags = 1U << 20; })});
  refuse("stage is 4096", {with([](auto& i) { i.stage = static_cast<VkShaderStageFlagBits>(4096); })});
  refuse("'main' is a vertex shader, and stage is that of a fragment shader", {with([](auto& i) { i.stage = kFrag; })});
  refuse("two linked vertex shaders", {with([](auto& i) { i.flags = kLink; }), with([](auto& i) { i.flags = kLink; })});
  refuse("is linked with a stage of vertices",
         {with([](auto& i) { i.flags = kLink; }), with([](auto& i) { i.flags = kLink, i.stage = VK_SHADER_STAGE_MESH_BIT_EXT; })});
  refuse("binaries are linked with SPIR-V", {with([](auto& i) { i.flags = kLink; }), with([](auto& i) {
                                               i.flags = kLink, i.stage = kFrag, i.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT;
                                             })});
  refuse("entry point", {with([](auto& i) { i.pName = "nobody"; })});
  refuse("codeSize is 6", {good, with([](auto& i) { i.codeSize = 6; }), good}, 1);  // the first null is the one that is wrong
  refuse("setLayoutCount", {with([](auto& i) { i.setLayoutCount = 99; })});
  // Descriptors that no layout has are told of at once.
  const auto& reads = s.spirv(kFrag, R"(#version 450
layout(set = 0, binding = 2) uniform U { vec4 u; }; layout(location = 0) out vec4 o; void main() { o = u; })");
  refuse("binding 2", {s.shader_info(kFrag, 0, reads)});
  std::vector<uint32_t> noise(64, 0x12345678);
  refuse("SPIR-V", {s.shader_info(kVert, 0, noise)});
}

// --- beside others

void test_secondaries(ShaderObjectScene& s) {
  const auto list = s.shaders(kBoth, true);
  Look look;
  look.blend[0].blendEnable = VK_TRUE;
  const auto want = s.by_pipeline(kBoth, look);
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, s.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                       1};
  VkCommandBuffer part = nullptr;
  CHECK(s.AllocateCommandBuffers(s.device, &allocate, &part) == VK_SUCCESS);
  const VkFormat formats[] = {kColor, kColor};
  VkCommandBufferInheritanceRenderingInfo rendering{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  rendering.colorAttachmentCount = 2, rendering.pColorAttachmentFormats = formats;
  rendering.depthAttachmentFormat = rendering.stencilAttachmentFormat = kDepth;
  rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  const VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, &rendering};
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                       VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, &inherited};
  CHECK(s.BeginCommandBuffer(part, &begin) == VK_SUCCESS);
  s.set(part, look), s.bind(part, kBoth, list), s.draw(part, kBoth, look);
  CHECK(s.EndCommandBuffer(part) == VK_SUCCESS);
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c, false, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
  s.CmdExecuteCommands(c, 1, &part);
  s.CmdEndRenderingKHR(c);
  CHECK(s.picture(c) == want);
  // Nothing that was bound before it begins is bound in it.
  CHECK(s.BeginCommandBuffer(part, &begin) == VK_SUCCESS);
  s.set(part, look), s.draw(part, kBoth, look);
  CHECK(s.EndCommandBuffer(part) != VK_SUCCESS);
  s.said.clear();
  s.destroy(list);
}

// Sets, push constants; set layouts that are null where a stage has none; compute by a shader object between pipelines.
void test_descriptors_and_compute(ShaderObjectScene& s) {
  const VkDescriptorSetLayout one = s.set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr}});
  const VkPushConstantRange range{VK_SHADER_STAGE_ALL, 0, 8};
  const VkPipelineLayout with = s.pipeline_layout({one, one}, {range});
  const Program::MappedBuffer words[2] = {s.buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT),
                                          s.buffer(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)};
  VkDescriptorSet sets[2];
  for (int i = 0; i < 2; ++i) {
    sets[i] = s.descriptor_set(one);
    const VkDescriptorBufferInfo of{words[i].buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, sets[i], 0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    write.pBufferInfo = &of;
    s.UpdateDescriptorSets(s.device, 1, &write, 0, nullptr);
  }
  const char* const compute = R"(#version 450
layout(local_size_x = 4) in; layout(set = 1, binding = 0) buffer B { uint b[]; };
layout(push_constant) uniform P { uint first, step; };
void main() { b[gl_GlobalInvocationID.x] = first + step * gl_GlobalInvocationID.x; })";
  const char* const fragment = R"(#version 450
layout(set = 1, binding = 0) readonly buffer B { uint b[]; }; layout(push_constant) uniform P { layout(offset = 4) uint step; };
layout(location = 0) out vec4 o; layout(location = 1) out vec4 p;
void main() { o = vec4(float(b[5] * step) / 255, float(b[2]) / 255, 0, 1), p = o; })";
  const Stages stages = {{kVert, kVertexText}, {kFrag, fragment}};
  const auto lists = [&](VkShaderCreateInfoEXT& info, const VkDescriptorSetLayout* of) {
    info.setLayoutCount = 2, info.pSetLayouts = of, info.pushConstantRangeCount = 1, info.pPushConstantRanges = &range;
  };
  const VkDescriptorSetLayout both[] = {one, one};
  const auto graphics = s.shaders(stages, false, [&](auto& info) { lists(info, both); });
  const auto kernel = s.shaders({{VK_SHADER_STAGE_COMPUTE_BIT, compute}}, false, [&](auto& info) { lists(info, both); });
  const VkPipeline pipeline = s.pipeline(stages, {}, with), kernel_pipeline = s.compute_pipeline(compute, with);
  const uint32_t pushed[] = {7, 3};
  const VkShaderStageFlagBits compute_bit = VK_SHADER_STAGE_COMPUTE_BIT;
  const auto picture = [&](bool objects, bool compute_objects) {
    std::memset(words[1].data, 0, 64);
    const VkCommandBuffer c = s.begin();
    s.CmdPushConstants(c, with, VK_SHADER_STAGE_ALL, 0, 8, pushed);
    for (const auto point : {VK_PIPELINE_BIND_POINT_GRAPHICS, VK_PIPELINE_BIND_POINT_COMPUTE})
      s.CmdBindDescriptorSets(c, point, with, 0, 2, sets, 0, nullptr);
    if (compute_objects)
      s.CmdBindShadersEXT(c, 1, &compute_bit, kernel.data());
    else
      s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, kernel_pipeline);
    s.CmdDispatch(c, 3, 1, 1);
    s.begin_pass(c);
    if (objects)
      s.set(c, {}), s.bind(c, stages, graphics);
    else
      s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    s.draw(c, stages, {});
    s.CmdEndRenderingKHR(c);
    auto out = s.picture(c);
    for (uint32_t i = 0; i < 12; ++i) CHECK(reinterpret_cast<const uint32_t*>(words[1].data)[i] == 7 + 3 * i);
    return out;
  };
  const auto want = picture(false, false);
  CHECK(picture(true, false) == want && picture(false, true) == want && picture(true, true) == want);
  // Unbound: no dispatch. A pipeline may follow.
  expect(s, "dispatch without a compute shader", [&](VkCommandBuffer c) {
    s.CmdBindShadersEXT(c, 1, &compute_bit, kernel.data());
    s.CmdBindShadersEXT(c, 1, &compute_bit, nullptr);
    s.CmdDispatch(c, 1, 1, 1);
  });
  const VkCommandBuffer c = s.begin();
  s.CmdBindShadersEXT(c, 1, &compute_bit, nullptr);
  s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, kernel_pipeline);
  s.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, with, 0, 2, sets, 0, nullptr);
  s.CmdDispatch(c, 1, 1, 1);
  s.run(c);
  CHECK(s.said.empty());
  // One draw, two layouts of a set.
  const VkDescriptorSetLayout other = s.set_layout({{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr}});
  const VkDescriptorSetLayout different[] = {other, one};
  const auto vertex = s.shaders({{kVert, kVertexText}}, false, [&](auto& info) { lists(info, different), info.nextStage = kFrag; });
  expect(s, "have different layouts for set 0", [&](VkCommandBuffer d) {
    s.begin_pass(d);
    s.set(d, {}), s.bind(d, stages, {vertex[0], graphics[1]}), s.draw(d, stages, {});
    s.CmdEndRenderingKHR(d);
  });
  s.destroy(graphics), s.destroy(kernel), s.destroy(vertex);
  s.DestroyPipeline(s.device, pipeline, nullptr), s.DestroyPipeline(s.device, kernel_pipeline, nullptr);
}

// VK_KHR_dynamic_rendering_local_read: where a location goes is said by the command alone.
void test_locations(ShaderObjectScene& s) {
  PFN_vkCmdSetRenderingAttachmentLocations set = nullptr;
  s.load(set, "vkCmdSetRenderingAttachmentLocations");
  const auto list = s.shaders(kBoth, false);
  const auto plain = s.by_shaders(kBoth, list, {});
  const uint32_t turned[] = {1, 0};
  const VkRenderingAttachmentLocationInfo info{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO, nullptr, 2, turned};
  const auto picture = [&](bool before) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c);
    s.set(c, {});
    if (before) set(c, &info);
    s.bind(c, kBoth, list);
    if (!before) s.draw(c, kBoth, {}), set(c, &info);
    s.draw(c, kBoth, {});
    s.CmdEndRenderingKHR(c);
    return s.picture(c);
  };
  std::vector<uint8_t> want = plain;
  std::rotate(want.begin(), want.begin() + kPicture_B, want.end());
  CHECK(picture(true) == want && want != plain);
  CHECK(picture(false) == plain);  // the second draw is behind the first one's depth
  s.destroy(list);
}

void test_what_is_kept(ShaderObjectScene& s) {
  const icd::ShaderPipelines& kept = *s.device->shader_pipelines;
  CHECK(kept.size() == 0);  // whatever was made before went with its shaders
  const auto list = s.shaders(kBoth, false), more = s.shaders(kBoth, false);
  const auto draw = [&](VkShaderEXT vertex, VkShaderEXT fragment, const Look& look) {
    (void)s.by_shaders(kBoth, {vertex, fragment}, look);
  };
  Look look;
  draw(list[0], list[1], look);
  look.cull = VK_CULL_MODE_BACK_BIT, look.blend[0].blendEnable = VK_TRUE;
  draw(list[0], list[1], look);
  CHECK(kept.size() == 1);  // state makes no other one
  draw(list[0], more[1], look), draw(more[0], list[1], look);
  CHECK(kept.size() == 3);
  s.DestroyShaderEXT(s.device, list[1], nullptr);
  CHECK(kept.size() == 1);
  s.DestroyShaderEXT(s.device, list[0], nullptr);
  CHECK(kept.size() == 0);
  // A shader may go once it was recorded: what was recorded draws on. (Vulkan wants it to wait, and programs don't always.)
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c);
  s.set(c, {}), s.bind(c, kBoth, more), s.draw(c, kBoth, {});
  s.destroy(more);
  s.draw(c, kBoth, {});
  s.CmdEndRenderingKHR(c);
  CHECK(s.picture(c) == s.by_pipeline(kBoth, {}));
}

void test_threads(ShaderObjectScene& s) {
  const auto list = s.shaders(kBoth, false);
  constexpr int kThreads = 4;
  VkCommandBuffer recorded[kThreads];
  VkCommandPool pools[kThreads];
  std::vector<std::thread> threads;
  std::vector<Look> looks(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    if (t % 2) looks[t].blend[0].blendEnable = VK_TRUE;
    const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    CHECK(s.CreateCommandPool(s.device, &pool, nullptr, &pools[t]) == VK_SUCCESS);
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pools[t],
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    CHECK(s.AllocateCommandBuffers(s.device, &info, &recorded[t]) == VK_SUCCESS);
    threads.emplace_back([&, t] {
      const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
      CHECK(s.BeginCommandBuffer(recorded[t], &begin) == VK_SUCCESS);
      s.begin_pass(recorded[t]);
      s.set(recorded[t], looks[t]), s.bind(recorded[t], kBoth, list), s.draw(recorded[t], kBoth, looks[t]);
      s.CmdEndRenderingKHR(recorded[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(s.device->shader_pipelines->size() == 1);
  for (int t = 0; t < kThreads; ++t) CHECK(s.picture(recorded[t]) == s.by_pipeline(kBoth, looks[t]));
  for (const VkCommandPool pool : pools) s.DestroyCommandPool(s.device, pool, nullptr);
  s.destroy(list);
}

// --- captures and reports

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr size_t kCaptured = 5;  // looks

/// In a process that is asked to capture its first submission, and to report: the picture to a file.
void draw_captured(const std::string& folder) {
  setenv("TILEGPU_CAPTURE", (folder + "/first.tgcap").c_str(), 1);
  setenv("TILEGPU_REPORT", (folder + "/frames.json").c_str(), 1);
  ShaderObjectScene s;
  const auto list = s.shaders(kBoth, true);
  const auto name = [&](VkShaderEXT shader, const char* text) {
    const VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, nullptr, VK_OBJECT_TYPE_SHADER_EXT,
                                             reinterpret_cast<uint64_t>(shader), text};
    CHECK(s.SetDebugUtilsObjectNameEXT(s.device, &info) == VK_SUCCESS);
  };
  name(list[0], "corners");
  const VkCommandBuffer c = s.begin();
  s.begin_pass(c);
  s.bind(c, kBoth, list);
  for (size_t i = 0; i < kCaptured; ++i) {
    Look look;
    look.cull = i % 2 ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_NONE;
    look.blend[0].blendEnable = i > 1, look.stencil_test = i == 3, look.depth_clamp = i == 2;
    if (i == 4)
      look.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST, look.stipple = true, look.line_mode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
    if (i == 4) look.stipple_pattern = 0xf0f0;
    s.set(c, look), s.draw(c, kBoth, look);
  }
  s.CmdEndRenderingKHR(c);
  const auto seen = s.picture(c);
  name(list[1], "shades");  // also of what was made already
  std::ofstream(folder + "/picture", std::ios::binary).write(reinterpret_cast<const char*>(seen.data()), seen.size());
  s.destroy(list);
}

void test_captures_and_reports() {
  char name[] = "/tmp/tilegpu_shader_objects_XXXXXX";
  CHECK(mkdtemp(name));
  const std::string folder = name;
  if (const pid_t child = fork(); child == 0) {
    draw_captured(folder);
    std::exit(failures ? 1 : 0);
  } else {
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  const std::string report = text_of(folder + "/frames.json"), picture = text_of(folder + "/picture");
  CHECK(report.find("\"corners + shades\"") != std::string::npos && report.find("\"draw_count\"") != std::string::npos);
  CHECK(picture.size() == 2 * kPicture_B);
  auto device = Device::create({});
  CHECK(device);
  auto capture = load_capture(*device, folder + "/first.tgcap");
  if (CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) {
    auto done = (*device)->submit_and_wait({capture->command_buffers, {}}, {});
    CHECK(done && !(*done)->error());
    CHECK(capture->pictures.size() == 2);
    for (size_t i = 0; i < capture->pictures.size(); ++i) {
      const Image& image = *capture->pictures[i]->image();
      const SubresourceLayout layout = image.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
      for (uint32_t y = 0; y < kSide_px; ++y)
        CHECK(std::memcmp(image.data() + layout.offset_B + y * layout.row_pitch_B, picture.data() + i * kPicture_B + y * kSide_px * 4,
                          kSide_px * 4) == 0);
    }
  }
  (void)std::system(("rm -rf " + folder).c_str());
}

}  // namespace

int main() {
  test_captures_and_reports();  // a child by fork, before there are threads
  ShaderObjectScene s;
  test_binaries(s);
  test_missing_states(s);
  test_misuse(s);
  test_tolerated(s);
  test_refused_creation(s);
  test_secondaries(s);
  test_descriptors_and_compute(s);
  test_locations(s);
  test_what_is_kept(s);
  test_threads(s);
  return finish("test_vulkan_shader_object_uses");
}
