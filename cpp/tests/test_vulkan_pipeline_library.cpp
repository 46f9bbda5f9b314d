// tests/test_vulkan_pipeline_library.cpp -- VK_EXT_graphics_pipeline_library: pipelines linked of parts draw what whole ones draw, whatever
// the parts are; parts of others in the create info are not read; what is missing or comes twice is refused.
#include <cmath>
#include <functional>
#include <memory>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr VkGraphicsPipelineLibraryFlagsEXT kInput = VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT,
                                            kPre = VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
                                            kFragment = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
                                            kOutput = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;

const char* const kVertex = R"(#version 450
layout(location = 0) in vec4 at; layout(location = 1) in vec4 tint; layout(location = 0) out vec4 v;
layout(set = 0, binding = 0) uniform U { vec4 scale; };
void main() { gl_Position = at * scale; v = tint; })";
const char* const kShade = R"(#version 450
layout(location = 0) in vec4 v; layout(location = 0) out vec4 o;
layout(set = 1, binding = 0) uniform U { vec4 add; };
layout(push_constant) uniform P { float factor; };
void main() { o = v * factor + add; })";

struct Vertex {
  float at[4], tint[4];
};
// A fan of two triangles, the second one behind the first one, and one turned away.
constexpr Vertex kVertices[] = {{{-1, -1, 0.25F, 1}, {1, 0, 0, 1}},   {{1, -1, 0.25F, 1}, {0, 1, 0, 1}}, {{-1, 1, 0.25F, 1}, {0, 0, 1, 1}},
                                {{-1, -1, 0.5F, 1}, {1, 1, 0, 0.5F}}, {{1, -1, 0.5F, 1}, {1, 1, 1, 1}},  {{1, 1, 0.5F, 1}, {0, 1, 1, 0.5F}},
                                {{-1, -1, 0.1F, 1}, {1, 1, 1, 1}},    {{-1, 1, 0.1F, 1}, {1, 1, 1, 1}},  {{1, -1, 0.1F, 1}, {1, 1, 1, 1}}};

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  VkPipelineLayout whole = nullptr, first = nullptr, second = nullptr;  // the latter two leave sets out
  VkDescriptorSet sets[2] = {};
  BoundImage color{}, depth{};
  MappedBuffer vertices{}, uniforms[2]{}, out{};
  VkShaderModule modules[2] = {};

  Scene() {
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT library{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT,
                                                               nullptr, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &library, VK_TRUE};
    remake_device({"VK_KHR_dynamic_rendering", "VK_KHR_pipeline_library", "VK_EXT_graphics_pipeline_library"}, &dynamic);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    const VkDescriptorSetLayout one = set_layout({{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr}});
    const VkPushConstantRange range{VK_SHADER_STAGE_FRAGMENT_BIT, 0, 4};
    constexpr VkPipelineLayoutCreateFlags kIndependent = VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT;
    whole = pipeline_layout({one, one}, {range});
    first = pipeline_layout({one, nullptr}, {}, kIndependent);
    second = pipeline_layout({nullptr, one}, {range}, kIndependent);
    for (VkDescriptorSet& set : sets) set = descriptor_set(one);
    const float values[2][4] = {{0.75F, 0.875F, 1, 1}, {0.125F, 0, 0.25F, 0}};
    for (int i = 0; i < 2; ++i) {
      uniforms[i] = buffer(16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
      std::memcpy(uniforms[i].data, values[i], 16);
      const VkDescriptorBufferInfo of{uniforms[i].buffer, 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, sets[i], 0, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER};
      write.pBufferInfo = &of;
      UpdateDescriptorSets(device, 1, &write, 0, nullptr);
    }
    vertices = buffer(sizeof kVertices, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(vertices.data, kVertices, sizeof kVertices);
    out = buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    color = image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    depth = image(VK_FORMAT_D32_SFLOAT, kSide_px, kSide_px, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
    modules[0] = shader(kVertex, VK_SHADER_STAGE_VERTEX_BIT), modules[1] = shader(kShade, VK_SHADER_STAGE_FRAGMENT_BIT);
  }
};

/// All state that a pipeline of the scene has.
struct State {
  VkPipelineShaderStageCreateInfo stages[2];
  VkVertexInputBindingDescription binding{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX};
  VkVertexInputAttributeDescription attributes[2] = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16}};
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  VkRect2D scissor{{4, 0}, {kSide_px - 4, kSide_px}};
  VkPipelineViewportStateCreateInfo area{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  VkPipelineDepthStencilStateCreateInfo tests{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  VkPipelineColorBlendAttachmentState blend{};
  VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  std::vector<VkDynamicState> states;
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
  VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  VkGraphicsPipelineLibraryCreateInfoEXT parts{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT};
  VkPipelineLibraryCreateInfoKHR libraries{VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR};
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};

  State(const Scene& p, VkPipelineLayout layout, bool depth_is_dynamic) {
    for (int i = 0; i < 2; ++i)
      stages[i] = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                   nullptr,
                   0,
                   i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
                   p.modules[i],
                   "main",
                   nullptr};
    input.vertexBindingDescriptionCount = 1, input.pVertexBindingDescriptions = &binding;
    input.vertexAttributeDescriptionCount = 2, input.pVertexAttributeDescriptions = attributes;
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    area.viewportCount = area.scissorCount = 1, area.pViewports = &viewport, area.pScissors = &scissor;
    raster.lineWidth = 1, raster.cullMode = VK_CULL_MODE_BACK_BIT, raster.frontFace = VK_FRONT_FACE_CLOCKWISE;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    tests.depthTestEnable = tests.depthWriteEnable = VK_TRUE, tests.depthCompareOp = VK_COMPARE_OP_LESS;
    blend = {VK_TRUE,
             VK_BLEND_FACTOR_SRC_ALPHA,
             VK_BLEND_FACTOR_ONE,
             VK_BLEND_OP_ADD,
             VK_BLEND_FACTOR_ONE,
             VK_BLEND_FACTOR_ZERO,
             VK_BLEND_OP_ADD,
             0xd};
    blending.attachmentCount = 1, blending.pAttachments = &blend;
    states = {VK_DYNAMIC_STATE_STENCIL_REFERENCE};
    if (depth_is_dynamic) states.push_back(VK_DYNAMIC_STATE_DEPTH_BIAS), states.push_back(VK_DYNAMIC_STATE_BLEND_CONSTANTS);
    dynamic.dynamicStateCount = static_cast<uint32_t>(states.size()), dynamic.pDynamicStates = states.data();
    rendering.colorAttachmentCount = 1, rendering.pColorAttachmentFormats = &format, rendering.depthAttachmentFormat = VK_FORMAT_D32_SFLOAT;
    info.pNext = &rendering;
    info.stageCount = 2, info.pStages = stages, info.pVertexInputState = &input, info.pInputAssemblyState = &assembly;
    info.pViewportState = &area, info.pRasterizationState = &raster, info.pMultisampleState = &samples, info.pDepthStencilState = &tests;
    info.pColorBlendState = &blending, info.pDynamicState = &dynamic, info.layout = layout;
  }
};

template <class T>
const T* nowhere() {
  return reinterpret_cast<const T*>(uintptr_t{64});  // read by nobody, or the test ends
}

/// A library of some parts. State of the others leads nowhere.
VkPipeline library(Scene& p, VkGraphicsPipelineLibraryFlagsEXT parts, VkPipelineLayout layout, const std::vector<VkPipeline>& of = {}) {
  State s(p, layout, true);
  s.info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR | VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT;
  s.parts.flags = parts, s.parts.pNext = s.info.pNext, s.info.pNext = &s.parts;
  s.libraries.libraryCount = static_cast<uint32_t>(of.size()), s.libraries.pLibraries = of.data();
  s.libraries.pNext = s.info.pNext, s.info.pNext = &s.libraries;
  if (!(parts & kInput))
    s.info.pVertexInputState = nowhere<VkPipelineVertexInputStateCreateInfo>(),
    s.info.pInputAssemblyState = nowhere<VkPipelineInputAssemblyStateCreateInfo>();
  if (!(parts & kPre))
    s.info.pViewportState = nowhere<VkPipelineViewportStateCreateInfo>(),
    s.info.pTessellationState = nowhere<VkPipelineTessellationStateCreateInfo>();
  if (!(parts & kPre)) s.info.pRasterizationState = nowhere<VkPipelineRasterizationStateCreateInfo>();
  if (!(parts & kFragment)) s.info.pDepthStencilState = nowhere<VkPipelineDepthStencilStateCreateInfo>();
  if (!(parts & kOutput))
    s.info.pColorBlendState = nowhere<VkPipelineColorBlendStateCreateInfo>(), s.rendering.pColorAttachmentFormats = nowhere<VkFormat>();
  if (!(parts & (kFragment | kOutput))) s.info.pMultisampleState = nowhere<VkPipelineMultisampleStateCreateInfo>();
  VkPipeline out = nullptr;
  CHECK_MESSAGE(p.CreateGraphicsPipelines(p.device, nullptr, 1, &s.info, nullptr, &out) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
  return out;
}

/// Linked of libraries, with `own` parts given beside them (0: none; then all state leads nowhere).
VkResult link(Scene& p, const std::vector<VkPipeline>& of, VkPipelineLayout layout, VkPipeline& out,
              VkGraphicsPipelineLibraryFlagsEXT own = 0) {
  State s(p, layout, true);
  s.libraries.libraryCount = static_cast<uint32_t>(of.size()), s.libraries.pLibraries = of.data();
  if (own) {
    s.parts.flags = own, s.parts.pNext = &s.rendering, s.libraries.pNext = &s.parts;
  } else {
    const VkPipelineLayout with = s.info.layout;
    s.info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    s.info.layout = with, s.info.flags = VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT;
  }
  s.info.pNext = &s.libraries;
  return p.CreateGraphicsPipelines(p.device, nullptr, 1, &s.info, nullptr, &out);
}

std::vector<uint8_t> picture(Scene& p, VkPipeline with, bool sets_dynamic) {
  VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO}, depth{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  color.imageView = p.color.view, color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  color.clearValue.color = {{0.25F, 0.5F, 0.125F, 1}};
  depth.imageView = p.depth.view, depth.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, depth.clearValue.depthStencil.depth = 1;
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, 0, {{0, 0}, {kSide_px, kSide_px}}, 1, 0, 1, &color, &depth, nullptr};
  PFN_vkCmdSetDepthBias bias = nullptr;
  PFN_vkCmdSetBlendConstants constants = nullptr;
  p.load(bias, "vkCmdSetDepthBias"), p.load(constants, "vkCmdSetBlendConstants");
  const VkDeviceSize zero = 0;
  const float factor = 0.5F, none[4] = {};
  const VkCommandBuffer c = p.begin();
  p.begin_rendering(c, &info);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
  if (sets_dynamic) bias(c, 0, 0, 0), constants(c, none);
  p.CmdBindVertexBuffers(c, 0, 1, &p.vertices.buffer, &zero);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, p.whole, 0, 2, p.sets, 0, nullptr);
  p.CmdPushConstants(c, p.whole, VK_SHADER_STAGE_FRAGMENT_BIT, 0, 4, &factor);
  p.CmdDraw(c, 9, 1, 0, 0);
  p.end_rendering(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, p.color.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, p.out.buffer, 1, &region);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  p.said.clear();
  return {p.out.data, p.out.data + kSide_px * kSide_px * 4};
}

// In closed form, with all of the state: the whole pipeline goes through the same parts.
void check_first_triangle(const std::vector<uint8_t>& seen) {
  uint32_t inside = 0;
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      const float u = ((static_cast<float>(x) + 0.5F) / 8 - 1 + 0.75F) / 1.5F,
                  v = ((static_cast<float>(y) + 0.5F) / 8 - 1 + 0.875F) / 1.75F;
      if (u < 0.05F || v < 0.05F || u + v > 0.9F) continue;
      const float red = (1 - u - v) * 0.5F + 0.125F, blue = v * 0.5F + 0.25F;
      const uint8_t* texel = seen.data() + (y * kSide_px + x) * 4;
      if (x < 4) {  // behind the scissor
        CHECK(texel[0] == 64 && texel[1] == 128 && texel[2] == 32);
        continue;
      }
      CHECK(std::abs(texel[0] - (red * 0.5F + 0.25F) * 255) <= 1 && texel[1] == 128);  // green is not written
      CHECK(std::abs(texel[2] - (blue * 0.5F + 0.125F) * 255) <= 1 && texel[3] == 128);
      ++inside;
    }
  CHECK(inside > 25);
}

// All ways to have four parts in libraries, with independent layouts and with one.
void test_partitions(Scene& p, const std::vector<uint8_t>& want) {
  const VkGraphicsPipelineLibraryFlagsEXT parts[] = {kInput, kPre, kFragment, kOutput};
  uint32_t ways = 0;
  // Part i is in group code[i]; groups are numbered in the order of their first part.
  for (uint32_t code = 0; code < 64; ++code) {
    const uint32_t group[] = {0, code & 3, code >> 2 & 3, code >> 4 & 3};
    uint32_t most = 0;
    bool ordered = true;
    for (const uint32_t g : group) ordered = ordered && g <= most, most = std::max(most, g + 1);
    if (!ordered) continue;
    std::vector<VkPipeline> libraries;
    for (uint32_t g = 0; g < most; ++g) {
      VkGraphicsPipelineLibraryFlagsEXT of = 0;
      for (int i = 0; i < 4; ++i) of |= group[i] == g ? parts[i] : 0;
      const bool both = (of & (kPre | kFragment)) == (kPre | kFragment);
      libraries.push_back(library(p, of, both ? p.whole : of & kPre ? p.first : p.second));
    }
    for (const bool reversed : {false, true}) {
      std::vector<VkPipeline> list = libraries;
      if (reversed) list.assign(libraries.rbegin(), libraries.rend());
      VkPipeline linked = nullptr;
      CHECK_MESSAGE(link(p, list, reversed ? nullptr : p.whole, linked) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
      if (linked) CHECK(picture(p, linked, true) == want);
      p.DestroyPipeline(p.device, linked, nullptr);
    }
    for (const VkPipeline l : libraries) p.DestroyPipeline(p.device, l, nullptr);
    ++ways;
  }
  CHECK(ways == 15);
}

// Parts beside libraries, libraries of libraries, libraries that are gone when the pipeline draws.
void test_mixed(Scene& p, const std::vector<uint8_t>& want) {
  const VkPipeline front = library(p, kInput | kPre, p.whole), output = library(p, kOutput, p.whole);
  VkPipeline linked = nullptr;
  CHECK_MESSAGE(link(p, {front, output}, p.whole, linked, kFragment) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
  const VkPipeline three = library(p, kFragment, p.whole, {front});
  VkPipeline second = nullptr;
  CHECK_MESSAGE(link(p, {output, three}, p.whole, second) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
  for (const VkPipeline l : {front, output, three}) p.DestroyPipeline(p.device, l, nullptr);
  CHECK(picture(p, linked, true) == want && picture(p, second, true) == want);
}

void test_refused(Scene& p) {
  const VkPipeline front = library(p, kInput | kPre, p.whole), fragment = library(p, kFragment, p.whole);
  VkPipeline linked = nullptr;
  CHECK(link(p, {front, fragment}, p.whole, linked) != VK_SUCCESS && !linked && p.heard("parts are missing: FRAGMENT_OUTPUT_INTERFACE;"));
  CHECK(link(p, {front, fragment, front}, p.whole, linked) != VK_SUCCESS &&
        p.heard("pLibraries[2] has parts that a library before it has too: VERTEX_INPUT_INTERFACE, PRE_RASTERIZATION_SHADERS"));
  CHECK(link(p, {front, fragment}, p.whole, linked, kFragment | kOutput) != VK_SUCCESS &&
        p.heard("a library has parts that the create info has too: FRAGMENT_SHADER"));
  const VkPipeline output = library(p, kOutput, p.whole);
  CHECK(link(p, {front, fragment, output}, p.whole, linked) == VK_SUCCESS);
  VkPipeline other = nullptr;
  CHECK(link(p, {linked}, p.whole, other) != VK_SUCCESS && p.heard("is no pipeline library"));
  const VkCommandBuffer c = p.begin();
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, front);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("the pipeline is a library"));
  p.said.clear();
}

}  // namespace

int main() {
  Scene p;
  State whole(p, p.whole, false);
  VkPipeline plain = nullptr;
  CHECK(p.CreateGraphicsPipelines(p.device, nullptr, 1, &whole.info, nullptr, &plain) == VK_SUCCESS);
  const std::vector<uint8_t> want = picture(p, plain, false);
  check_first_triangle(want);
  test_partitions(p, want);
  test_mixed(p, want);
  test_refused(p);
  return finish("test_vulkan_pipeline_library");
}
