// tests/test_vulkan_fragments.cpp -- VK_KHR_fragment_shader_barycentric and VK_EXT_fragment_shader_interlock of the driver: what it says of
// itself, devices with the features, weights and per-vertex inputs of a triangle whose pixels are known, a critical section. The rules
// themselves: tests/test_barycentrics.py, tests/test_interlock.py.
#include <cmath>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;

// The upper left half of the picture; both w are 1, so perspective weights are linear ones.
const char* const kVertex = R"(#version 450
layout(location = 0) out float number;
void main() {
  number = float(gl_VertexIndex + 1) / 4.0;
  gl_Position = vec4(gl_VertexIndex == 1 ? 1.0 : -1.0, gl_VertexIndex == 2 ? 1.0 : -1.0, 0.5, 1.0);
})";
const char* const kWeights = R"(#version 450
#extension GL_EXT_fragment_shader_barycentric : require
layout(location = 0) out vec4 o;
void main() { o = vec4(gl_BaryCoordEXT.x, gl_BaryCoordEXT.y, gl_BaryCoordNoPerspEXT.z, 1.0); })";
const char* const kNumbers = R"(#version 450
#extension GL_EXT_fragment_shader_barycentric : require
#extension GL_ARB_fragment_shader_interlock : require
layout(pixel_interlock_ordered) in;
layout(location = 0) pervertexEXT in float number[3];
layout(location = 0) out vec4 o;
void main() {
  beginInvocationInterlockARB();
  o = vec4(number[0], number[1], number[2], 1.0);
  endInvocationInterlockARB();
})";

void what_it_says() {
  Program p;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  p.load(features2, "vkGetPhysicalDeviceFeatures2"), p.load(properties2, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT interlock{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_INTERLOCK_FEATURES_EXT};
  VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR weights{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_BARYCENTRIC_FEATURES_KHR,
                                                               &interlock};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &weights};
  features2(p.physical_device, &features);
  CHECK(weights.fragmentShaderBarycentric);
  CHECK(interlock.fragmentShaderPixelInterlock && interlock.fragmentShaderSampleInterlock && !interlock.fragmentShaderShadingRateInterlock);
  VkPhysicalDeviceFragmentShaderBarycentricPropertiesKHR order{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_BARYCENTRIC_PROPERTIES_KHR};
  order.triStripVertexOrderIndependentOfProvokingVertex = VK_TRUE;
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &order};
  properties2(p.physical_device, &properties);
  CHECK(!order.triStripVertexOrderIndependentOfProvokingVertex);
}

struct Scene {
  Program p;
  VkRenderPass pass = nullptr;
  VkPipelineLayout layout = nullptr;
  Program::BoundImage target{};
  Program::MappedBuffer out{};
  VkFramebuffer framebuffer = nullptr;

  Scene() {
    VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT interlock{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_INTERLOCK_FEATURES_EXT};
    interlock.fragmentShaderPixelInterlock = VK_TRUE;
    VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR weights{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_BARYCENTRIC_FEATURES_KHR,
                                                                 &interlock};
    weights.fragmentShaderBarycentric = VK_TRUE;
    p.remake_device({"VK_KHR_fragment_shader_barycentric", "VK_EXT_fragment_shader_interlock"}, &weights);
    pass = p.one_subpass();
    const VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) == VK_SUCCESS);
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  }

  /// Its bytes are in `out`.
  void draw(const char* fragment) {
    const VkPipeline with = make_pipeline(p, kVertex, fragment, layout, pass, 0, [](VkGraphicsPipelineCreateInfo&) {});
    const VkClearValue clear{};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    const VkCommandBuffer c = p.begin();
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &begin.renderArea);
    p.CmdDraw(c, 3, 1, 0, 0);
    p.CmdEndRenderPass(c);
    p.run_and_read(c, target, kSide_px, out.buffer);
  }
};

void weights_and_numbers() {
  Scene s;
  for (const char* fragment : {kWeights, kNumbers}) {
    s.draw(fragment);
    uint32_t covered = 0;
    for (uint32_t y = 0; y < kSide_px; y++)
      for (uint32_t x = 0; x + y < kSide_px - 1; x++) {
        const double second = (x + 0.5) / kSide_px, third = (y + 0.5) / kSide_px;
        const double weights[3] = {1 - second - third, second, third}, numbers[3] = {0.25, 0.5, 0.75};
        const uint8_t* pixel = reinterpret_cast<const uint8_t*>(s.out.data) + 4 * (y * kSide_px + x);
        covered += pixel[3] == 255;
        for (uint32_t k = 0; k < 3; k++) CHECK(std::fabs(pixel[k] - 255 * (fragment == kWeights ? weights[k] : numbers[k])) <= 0.51);
      }
    CHECK(covered == kSide_px * (kSide_px - 1) / 2);
  }
}

}  // namespace

int main() {
  what_it_says();
  weights_and_numbers();
  return finish("test_vulkan_fragments");
}
