// tests/test_vulkan_lines.cpp -- VK_EXT_line_rasterization of the driver: what it says of itself, pipelines that fix a mode and a stipple,
// and the three commands that set them: the same bytes, and the pixels that the specification names.
#include <array>
#include <functional>
#include <set>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;

// From the centre of pixel (2, 3) to that of (12, 8).
const char* const kVertex = R"(#version 450
void main() { vec2 p = gl_VertexIndex == 0 ? vec2(2.5, 3.5) : vec2(12.5, 8.5); gl_Position = vec4(p / 8.0 - 1.0, 0.5, 1.0); })";
const char* const kFragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1.0); }";

using Create = VkGraphicsPipelineCreateInfo;
using LineState = VkPipelineRasterizationLineStateCreateInfoEXT;
using Picture = std::string;  // alpha

LineState line_state(VkLineRasterizationModeEXT mode, bool stipple = false, uint32_t factor = 1, uint16_t pattern = 0xffff) {
  LineState state{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT};
  state.lineRasterizationMode = mode, state.stippledLineEnable = stipple;
  state.lineStippleFactor = factor, state.lineStipplePattern = pattern;
  return state;
}

struct Scene {
  Program p;
  PFN_vkCmdSetLineRasterizationModeEXT set_mode = nullptr;
  PFN_vkCmdSetLineStippleEnableEXT set_enable = nullptr;
  PFN_vkCmdSetLineStippleEXT set_stipple = nullptr;
  VkRenderPass pass = nullptr;
  VkPipelineLayout layout = nullptr;
  Program::BoundImage target{};
  Program::MappedBuffer out{};
  VkFramebuffer framebuffer = nullptr;

  Scene() {
    VkPhysicalDeviceLineRasterizationFeaturesEXT lines{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_EXT};
    lines.rectangularLines = lines.bresenhamLines = lines.smoothLines = VK_TRUE;
    lines.stippledRectangularLines = lines.stippledBresenhamLines = lines.stippledSmoothLines = VK_TRUE;
    VkPhysicalDeviceExtendedDynamicState3FeaturesEXT dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT,
                                                             &lines};
    dynamic.extendedDynamicState3LineRasterizationMode = dynamic.extendedDynamicState3LineStippleEnable = VK_TRUE;
    p.remake_device({"VK_EXT_line_rasterization", "VK_EXT_extended_dynamic_state3"}, &dynamic);
    p.load(set_mode, "vkCmdSetLineRasterizationModeEXT"), p.load(set_enable, "vkCmdSetLineStippleEnableEXT");
    p.load(set_stipple, "vkCmdSetLineStippleEXT");
    pass = p.one_subpass();
    const VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) == VK_SUCCESS);
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  }

  VkPipeline pipeline(const LineState& lines, const VkPipelineDynamicStateCreateInfo* dynamic = nullptr,
                      const VkPipelineMultisampleStateCreateInfo* samples = nullptr) {
    return make_pipeline(p, kVertex, kFragment, layout, pass, 0, [&](Create& info) {
      static VkPipelineInputAssemblyStateCreateInfo assembly;
      static VkPipelineRasterizationStateCreateInfo raster;
      assembly = *info.pInputAssemblyState, raster = *info.pRasterizationState;
      assembly.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST, raster.pNext = &lines;
      info.pInputAssemblyState = &assembly, info.pRasterizationState = &raster;
      if (dynamic) info.pDynamicState = dynamic;
      if (samples) info.pMultisampleState = samples;
    });
  }

  Picture draw(VkPipeline with, const std::function<void(VkCommandBuffer)>& set = [](VkCommandBuffer) {}) {
    const VkClearValue clear{};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    const VkCommandBuffer c = p.begin();
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &begin.renderArea);
    set(c);
    p.CmdDraw(c, 2, 1, 0, 0);
    p.CmdEndRenderPass(c);
    p.run_and_read(c, target, kSide_px, out.buffer);
    Picture alpha;
    for (uint32_t i = 0; i < kSide_px * kSide_px; i++) alpha.push_back(static_cast<char>(out.data[4 * i + 3]));
    return alpha;
  }
};

void what_it_says() {
  Program p;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  p.load(features2, "vkGetPhysicalDeviceFeatures2"), p.load(properties2, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceLineRasterizationFeaturesEXT lines{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &lines};
  features2(p.physical_device, &features);
  CHECK(lines.rectangularLines && lines.bresenhamLines && lines.smoothLines);
  CHECK(lines.stippledRectangularLines && lines.stippledBresenhamLines && lines.stippledSmoothLines);
  VkPhysicalDeviceLineRasterizationPropertiesEXT limits{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &limits};
  properties2(p.physical_device, &properties);
  CHECK(limits.lineSubPixelPrecisionBits == 8 && !properties.properties.limits.strictLines);
}

/// Half a pixel of rise for each of run: rows 3, 3 or 4, 4, ... at centres; where the line passes between two of them the perturbed one,
/// which lies further down, decides. The last pixel is not drawn.
std::set<std::pair<uint32_t, uint32_t>> diamonds(uint32_t factor, uint16_t pattern) {
  std::set<std::pair<uint32_t, uint32_t>> pixels;
  for (uint32_t s = 0; s < 10; s++)
    if (pattern >> (s / factor & 15) & 1) pixels.insert({2 + s, 3 + (s + 1) / 2});
  return pixels;
}

void fixed_and_dynamic() {
  Scene s;
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_LINE_RASTERIZATION_MODE_EXT,
                                   VK_DYNAMIC_STATE_LINE_STIPPLE_ENABLE_EXT, VK_DYNAMIC_STATE_LINE_STIPPLE_EXT};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = 5, dynamic.pDynamicStates = states;
  const LineState ignored = line_state(VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT, true, 0, 0);
  const VkPipeline takes = s.pipeline(ignored, &dynamic);
  // The stipple is fixed, and only then enabled.
  dynamic.dynamicStateCount = 4;
  const VkPipeline takes_enable = s.pipeline(line_state(VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT, false, 3, 0x0005), &dynamic);
  std::set<Picture> different;
  for (const auto mode : {VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT, VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT,
                          VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT, VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT})
    for (const bool stipple : {false, true}) {
      if (stipple && mode == VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT) continue;
      const std::string what = "mode " + std::to_string(mode) + (stipple ? ", stippled" : "");
      const Picture fixed = s.draw(s.pipeline(line_state(mode, stipple, 3, 0x0005)));
      different.insert(fixed);
      const auto set = [&](VkCommandBuffer c) { s.set_mode(c, mode), s.set_enable(c, stipple); };
      CHECK_MESSAGE(s.draw(takes, [&](VkCommandBuffer c) { set(c), s.set_stipple(c, 3, 0x0005); }) == fixed, what + ", dynamic");
      CHECK_MESSAGE(s.draw(takes_enable, set) == fixed, what + ", its stipple fixed");
      if (mode != VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT) continue;
      const auto expected = stipple ? diamonds(3, 0x0005) : diamonds(1, 0xffff);
      for (uint32_t y = 0; y < kSide_px; y++)
        for (uint32_t x = 0; x < kSide_px; x++)
          CHECK_MESSAGE((static_cast<uint8_t>(fixed[y * kSide_px + x]) == 255) == expected.contains({x, y}),
                        what + ": " + std::to_string(x) + ", " + std::to_string(y));
    }
  CHECK(different.size() >= 6);  // parallelogram and rectangle may be alike
}

void refusals() {
  Scene s;
  const auto refused = [&](const LineState& lines, const VkPipelineMultisampleStateCreateInfo* samples, const char* message) {
    make_pipeline(s.p, kVertex, kFragment, s.layout, s.pass, 0, [&](Create& info) {
      VkPipelineRasterizationStateCreateInfo raster = *info.pRasterizationState;
      raster.pNext = &lines;
      Create bad = info;
      bad.pRasterizationState = &raster;
      if (samples) bad.pMultisampleState = samples;
      VkPipeline made = nullptr;
      CHECK(s.p.CreateGraphicsPipelines(s.p.device, nullptr, 1, &bad, nullptr, &made) != VK_SUCCESS);
      CHECK_MESSAGE(s.p.heard(message), s.p.said.empty() ? std::string(message) : s.p.said.back());
      s.p.said.clear();
    });
  };
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT, samples.alphaToCoverageEnable = VK_TRUE;
  refused(line_state(VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT), &samples, "lineRasterizationMode is BRESENHAM and alphaToCoverageEnable");
  refused(line_state(VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT, true), nullptr, "lineRasterizationMode is DEFAULT");
  refused(line_state(VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT, true, 257), nullptr, "lineStippleFactor is 257; it must be 1 to 256");
  refused(line_state(static_cast<VkLineRasterizationModeEXT>(9)), nullptr, "lineRasterizationMode is number 9");
}

}  // namespace

int main() {
  what_it_says();
  fixed_and_dynamic();
  refusals();
  return finish("test_vulkan_lines");
}
