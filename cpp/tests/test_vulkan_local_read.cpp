// tests/test_vulkan_local_read.cpp -- VK_KHR_dynamic_rendering_local_read: what dynamic rendering wrote is read in the tile as subpasses
// read it. Oracle: a render pass with two subpasses, and the closed form of what the shaders write.
#include <cmath>
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;
constexpr size_t kPicture_B = size_t{kSide_px} * kSide_px * 4;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kDepth = VK_FORMAT_D32_SFLOAT_S8_UINT;

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5 * float((gl_VertexIndex & 1)), 1); })";
const char* const kTwo = R"(#version 450
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = vec4(gl_FragCoord.x / 16, 0.25, 0, 1); b = vec4(0, gl_FragCoord.y / 16, 0.5, 1); })";
const char* const kSum = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput a;
layout(input_attachment_index = 3, set = 0, binding = 1) uniform subpassInput b;
layout(location = 0) out vec4 o; void main() { o = subpassLoad(a) * 0.5 + subpassLoad(b) * 0.5; })";
const char* const kDepthRead = R"(#version 450
layout(input_attachment_index = INDEX, set = 0, binding = 0) uniform subpassInput d;
layout(input_attachment_index = INDEX, set = 0, binding = 1) uniform usubpassInput s;
layout(location = 0) out vec4 o; void main() { o = vec4(subpassLoad(d).x, float(subpassLoad(s).x) / 255, 0, 1); })";

struct Features {
  VkPhysicalDeviceDynamicRenderingLocalReadFeatures local{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES, nullptr,
                                                          VK_TRUE};
};

struct Scene : Features, RenderingScene {
  PFN_vkCmdSetRenderingAttachmentLocations set_locations = nullptr;
  PFN_vkCmdSetRenderingInputAttachmentIndices set_indices = nullptr;
  VkDescriptorSetLayout set_layout = nullptr;
  VkPipelineLayout layout = nullptr;

  Scene() : RenderingScene(kSide_px, 4, {"VK_KHR_dynamic_rendering_local_read"}, &local) {
    p.load(set_locations, "vkCmdSetRenderingAttachmentLocations"), p.load(set_indices, "vkCmdSetRenderingInputAttachmentIndices");
    const auto input = [](uint32_t i) {
      return VkDescriptorSetLayoutBinding{i, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
    };
    set_layout = p.set_layout({input(0), input(1)});
    layout = p.pipeline_layout({set_layout});
  }

  VkDescriptorSet inputs(VkImageView a, VkImageView b) {
    const VkDescriptorSet set = p.descriptor_set(set_layout);
    const VkDescriptorImageInfo views[2] = {{nullptr, a, VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ},
                                            {nullptr, b, VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ}};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, 2, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT};
    write.pImageInfo = views;
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
    return set;
  }

  struct Mapping {
    std::vector<uint32_t> locations, indices;  // empty: not given
    const uint32_t *depth = nullptr, *stencil = nullptr;
  };
  /// For a pass with `colors` attachments; blends[i] is of attachment i.
  VkPipeline pipeline(const char* fragment, const Mapping& mapping, const std::vector<VkPipelineColorBlendAttachmentState>& blends,
                      VkFormat depth = VK_FORMAT_UNDEFINED, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    return make_pipeline(p, kWhole, fragment, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      static VkRenderingAttachmentLocationInfo locations;
      static VkRenderingInputAttachmentIndexInfo indices;
      static VkPipelineRenderingCreateInfo rendering;
      static std::vector<VkFormat> formats;
      formats.assign(blends.size(), kColor);
      locations = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO, nullptr, static_cast<uint32_t>(mapping.locations.size()),
                   mapping.locations.data()};
      indices = {VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO,    nullptr,       static_cast<uint32_t>(mapping.indices.size()),
                 mapping.indices.empty() ? nullptr : mapping.indices.data(), mapping.depth, mapping.stencil};
      rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
      rendering.colorAttachmentCount = static_cast<uint32_t>(formats.size()), rendering.pColorAttachmentFormats = formats.data();
      rendering.depthAttachmentFormat = rendering.stencilAttachmentFormat = depth;
      rendering.pNext = mapping.locations.empty() ? static_cast<void*>(&indices) : &locations;
      locations.pNext = &indices;
      info.pNext = &rendering;
      auto* blend = const_cast<VkPipelineColorBlendStateCreateInfo*>(info.pColorBlendState);
      blend->attachmentCount = static_cast<uint32_t>(blends.size()), blend->pAttachments = blends.data();
      const_cast<VkPipelineMultisampleStateCreateInfo*>(info.pMultisampleState)->rasterizationSamples = samples;
      auto* tests = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
      if (depth == VK_FORMAT_UNDEFINED) return;
      // The first pipeline writes both; the one that reads them tests nothing.
      tests->depthTestEnable = tests->stencilTestEnable = tests->depthWriteEnable = fragment == kTwo;
      tests->depthCompareOp = VK_COMPARE_OP_ALWAYS;
      tests->front = tests->back = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS, 255, 255, 77};
    });
  }

  std::vector<uint8_t> submitted(VkCommandBuffer c, const Program::BoundImage& image) {
    p.run_and_read(c, image, kSide_px, out.buffer);
    return {out.data, out.data + kPicture_B};
  }
};

VkRenderingAttachmentInfo attachment(VkImageView view, VkAttachmentStoreOp store) {
  return Scene::attachment(view, store, VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ);
}

int near(float value) { return static_cast<int>(std::lrint(value * 255)); }

// Two attachments written, a third one made of them; transient memory for the two. `blended`: the third adds to what is there.
void test_colors(bool blended) {
  Scene s;
  Program& p = s.p;
  const VkImageUsageFlags color = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  const auto a = p.image(kColor, kSide_px, kSide_px, color | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT, true);
  const auto b = p.image(kColor, kSide_px, kSide_px, color | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT, true);
  const auto lit = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const VkPipelineColorBlendAttachmentState write{.colorWriteMask = 15};
  VkPipelineColorBlendAttachmentState add{
      VK_TRUE, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD, 15};
  add.blendEnable = blended;
  constexpr uint32_t kNone = VK_ATTACHMENT_UNUSED;
  const Scene::Mapping first_map{{0, kNone, 1}, {kNone, kNone, kNone}}, second_map{{kNone, 0, kNone}, {0, kNone, 3}};
  const VkPipeline first = s.pipeline(kTwo, first_map, {write, write, write});
  const VkPipeline second = s.pipeline(kSum, second_map, {write, add, write});
  const VkDescriptorSet set = s.inputs(a.view, b.view);
  std::vector<VkRenderingAttachmentInfo> colors = {attachment(a.view, VK_ATTACHMENT_STORE_OP_DONT_CARE),
                                                   attachment(lit.view, VK_ATTACHMENT_STORE_OP_STORE),
                                                   attachment(b.view, VK_ATTACHMENT_STORE_OP_DONT_CARE)};
  colors[1].clearValue.color = {{0.125F, 0, 0, 0}};
  const VkCommandBuffer c = p.begin();
  s.begin(c, colors);
  const VkRenderingAttachmentLocationInfo locations{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO, nullptr, 3,
                                                    first_map.locations.data()};
  const VkRenderingInputAttachmentIndexInfo indices{
      VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO, nullptr, 3, second_map.indices.data(), nullptr, nullptr};
  s.set_locations(c, &locations), s.set_indices(c, &indices);
  s.bind(c, first);
  p.CmdDraw(c, 3, 1, 0, 0);
  s.barrier(c, VK_ACCESS_INPUT_ATTACHMENT_READ_BIT);
  s.bind(c, second);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, s.layout, 0, 1, &set, 0, nullptr);
  p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  const std::vector<uint8_t> got = s.submitted(c, lit);
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      const uint8_t* texel = got.data() + (y * kSide_px + x) * 4;
      const float from_a = static_cast<float>(near((static_cast<float>(x) + 0.5F) / 16)) / 255;
      const float from_b = static_cast<float>(near((static_cast<float>(y) + 0.5F) / 16)) / 255;
      const float red = from_a * 0.5F + (blended ? 32.0F / 255 : 0.0F);
      CHECK(std::abs(texel[0] - near(red)) <= 1);
      CHECK(std::abs(texel[1] - near(0.5F * 64 / 255 + from_b * 0.5F)) <= 1);
      CHECK(std::abs(texel[2] - near(0.25F)) <= 1 && texel[3] == 255);
    }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// Depth and stencil as inputs, by an index: GLSL has no inputs without one.
void test_depth_stencil(VkSampleCountFlagBits samples) {
  Scene s;
  Program& p = s.p;
  const bool many = samples != VK_SAMPLE_COUNT_1_BIT;
  const VkImageUsageFlags usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  const auto depth = p.image(kDepth, kSide_px, kSide_px, usage, false, samples);
  const auto color =
      p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, false, samples);
  const auto flat = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const auto second = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, false, samples);
  VkImageViewCreateInfo views{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  views.image = depth.image, views.viewType = VK_IMAGE_VIEW_TYPE_2D, views.format = kDepth;
  VkImageView of[3] = {};
  for (int i = 0; i < 3; ++i) {
    views.subresourceRange = {static_cast<VkImageAspectFlags>(i == 0   ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                              : i == 1 ? VK_IMAGE_ASPECT_STENCIL_BIT
                                                                       : VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT),
                              0, 1, 0, 1};
    CHECK(p.CreateImageView(p.device, &views, nullptr, &of[i]) == VK_SUCCESS);
  }
  const uint32_t five = 5;
  const VkPipelineColorBlendAttachmentState write{.colorWriteMask = 15};
  std::string text = replaced(kDepthRead, "INDEX", "5");
  if (many) text = replaced(replaced(text, "subpassInput ", "subpassInputMS "), ").x", ", gl_SampleID).x");
  const VkPipeline fill = s.pipeline(kTwo, {}, {write, write}, kDepth, samples);
  const VkPipeline read = s.pipeline(text.c_str(), {{}, {}, &five, &five}, {write, write}, kDepth, samples);
  const VkDescriptorSet set = s.inputs(of[0], of[1]);
  std::vector<VkRenderingAttachmentInfo> colors = {attachment(color.view, VK_ATTACHMENT_STORE_OP_STORE),
                                                   attachment(second.view, VK_ATTACHMENT_STORE_OP_DONT_CARE)};
  if (many) colors[0].resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT, colors[0].resolveImageView = flat.view;
  const VkRenderingAttachmentInfo both = attachment(of[2], VK_ATTACHMENT_STORE_OP_DONT_CARE);
  const VkCommandBuffer c = p.begin();
  s.begin(c, colors, &both);
  s.bind(c, fill);
  p.CmdDraw(c, 3, 1, 0, 0);
  s.barrier(c, VK_ACCESS_INPUT_ATTACHMENT_READ_BIT);
  s.bind(c, read);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, s.layout, 0, 1, &set, 0, nullptr);
  p.CmdDraw(c, 3, 1, 0, 0);
  s.end_rendering(c);
  const std::vector<uint8_t> got = s.submitted(c, many ? flat : color);
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      const uint8_t* texel = got.data() + (y * kSide_px + x) * 4;
      // z grows from 0 at the left edge to 0.25 at the right one: half of the way to the vertex.
      CHECK(std::abs(texel[0] - near((static_cast<float>(x) + 0.5F) / 16 * 0.25F)) <= 1);
      CHECK(texel[1] == 77 && texel[3] == 255);
    }
}

}  // namespace

int main() {
  test_colors(false);
  test_colors(true);
  test_depth_stencil(VK_SAMPLE_COUNT_1_BIT);
  test_depth_stencil(VK_SAMPLE_COUNT_4_BIT);
  return finish("test_vulkan_local_read");
}
