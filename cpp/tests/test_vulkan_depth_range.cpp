// tests/test_vulkan_depth_range.cpp -- VK_EXT_depth_range_unrestricted, and VK_KHR_depth_clamp_zero_one: viewports, clears, bounds,
// shaders' depths and clamps beyond 0..1 in formats of floats; limited to 0..1 in others, and without the extension. Oracle: planes and
// their nearest one, pixel by pixel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 100;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr float kNear = -2, kFar = 3;  // of the viewport

const char* const kPlane = R"(#version 450
layout(push_constant) uniform P { vec4 plane; uint number; float depth; };
void main() {
  vec2 p = vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1);
  gl_Position = vec4(p, plane.x * p.x + plane.y * p.y + plane.z, 1);
})";
const char* const kNumber = R"(#version 450
layout(push_constant) uniform P { vec4 plane; uint number; float depth; };
layout(location = 0) out uint o; void main() { o = number; })";
const char* const kDepthOut = R"(#version 450
layout(push_constant) uniform P { vec4 plane; uint number; float depth; };
layout(location = 0) out uint o; void main() { o = number; gl_FragDepth = depth; })";

struct Push {
  float x, y, z, w;
  uint32_t number;
  float depth;
};

struct State {
  VkCompareOp compare = VK_COMPARE_OP_LESS;
  bool clamps = false, bounds = false, writes_depth = false;
  float least = 0, most = 0;
  VkFormat format = VK_FORMAT_D32_SFLOAT;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
};

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCmdPushConstants push = nullptr;
  PFN_vkCmdClearAttachments clear_attachments = nullptr;
  PFN_vkCmdClearDepthStencilImage clear_image = nullptr;
  VkPipelineLayout layout = nullptr;
  MappedBuffer out{};

  explicit Scene(bool unrestricted) {
    VkPhysicalDeviceDepthClampZeroOneFeaturesKHR zero_one{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_ZERO_ONE_FEATURES_KHR, nullptr,
                                                          VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &zero_one, VK_TRUE};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &dynamic};
    features.features.depthClamp = features.features.depthBounds = VK_TRUE;
    std::vector<const char*> extensions{"VK_KHR_dynamic_rendering", "VK_KHR_depth_clamp_zero_one"};
    if (unrestricted) extensions.push_back("VK_EXT_depth_range_unrestricted");
    remake_device(extensions, &features);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering"), load(push, "vkCmdPushConstants");
    load(clear_attachments, "vkCmdClearAttachments"), load(clear_image, "vkCmdClearDepthStencilImage");
    layout = pipeline_layout({}, {{VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(Push)}});
    out = buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }
  VkPipeline pipeline(const State& state) {
    return make_pipeline(
        *this, kPlane, state.writes_depth ? kDepthOut : kNumber, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
          static const VkFormat color = VK_FORMAT_R32_UINT;
          static VkPipelineRenderingCreateInfo rendering;
          rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 1, &color, state.format};
          info.pNext = &rendering;
          const_cast<VkPipelineMultisampleStateCreateInfo*>(info.pMultisampleState)->rasterizationSamples = state.samples;
          const_cast<VkPipelineRasterizationStateCreateInfo*>(info.pRasterizationState)->depthClampEnable = state.clamps;
          auto* depth = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
          depth->depthTestEnable = depth->depthWriteEnable = VK_TRUE, depth->depthCompareOp = state.compare;
          depth->depthBoundsTestEnable = state.bounds, depth->minDepthBounds = state.least, depth->maxDepthBounds = state.most;
        });
  }
  BoundImage target(VkFormat format, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    const bool color = format == VK_FORMAT_R32_UINT;
    return image(format, kSide_px, kSide_px,
                 (color ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) |
                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                 false, samples);
  }
  void begin_pass(VkCommandBuffer c, VkImageView color, VkImageView depth, float clear, VkImageView resolve = nullptr,
                  VkAttachmentLoadOp load = VK_ATTACHMENT_LOAD_OP_CLEAR) {
    VkRenderingAttachmentInfo a{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO}, d = a;
    a.imageView = color, a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    a.clearValue.color.uint32[0] = 99;
    if (resolve) a.resolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, a.resolveImageView = resolve;
    d.imageView = depth, d.loadOp = load, d.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    d.clearValue.depthStencil.depth = clear;
    const VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, 0, kArea, 1, 0, 1, &a, &d};
    begin_rendering(c, &info);
    const VkViewport viewport{0, 0, kSide_px, kSide_px, kNear, kFar};
    CmdSetViewport(c, 0, 1, &viewport), CmdSetScissor(c, 0, 1, &kArea);
  }
  void draw(VkCommandBuffer c, VkPipeline with, const Push& values) {
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    push(c, layout, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof values, &values);
    CmdDraw(c, 3, 1, 0, 0);
  }
  void copy(VkCommandBuffer c, const BoundImage& from, VkImageAspectFlags aspect) {
    VkBufferImageCopy region{};
    region.imageSubresource = {aspect, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    CmdCopyImageToBuffer(c, from.image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
    run(c);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
  }
  template <class T>
  T at(uint32_t x, uint32_t y) const {
    T value;
    std::memcpy(&value, out.data + (size_t{y} * kSide_px + x) * sizeof value, sizeof value);
    return value;
  }
  /// Every pixel's depth.
  void expect_depth(VkCommandBuffer c, const BoundImage& depth, float value, const char* what) {
    copy(c, depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    uint32_t wrong = 0;
    for (uint32_t y = 0; y < kSide_px; ++y)
      for (uint32_t x = 0; x < kSide_px; ++x) wrong += at<float>(x, y) != value;
    CHECK_MESSAGE(wrong == 0, std::string(what) + ": " + std::to_string(at<float>(3, 3)) + ", want " + std::to_string(value));
  }
};

float depth_of(const Push& p, uint32_t px, uint32_t py) {
  const float x = (static_cast<float>(px) + 0.5F) / kSide_px * 2 - 1, y = (static_cast<float>(py) + 0.5F) / kSide_px * 2 - 1;
  return kNear + (p.x * x + p.y * y + p.z) * (kFar - kNear);
}

// Planes through the whole range in any order: the nearest is seen, or the farthest, as depths of negative numbers too have an order.
void test_planes(VkCompareOp compare, VkSampleCountFlagBits samples) {
  Scene s(true);
  std::mt19937 random(static_cast<uint32_t>(compare) * 31 + samples);
  std::uniform_real_distribution<float> slope(-0.2F, 0.2F), middle(0.45F, 0.55F);
  std::vector<Push> planes;
  for (uint32_t i = 0; i < 12; ++i) planes.push_back({slope(random), slope(random), middle(random), 0, i, 0});
  const bool less = compare == VK_COMPARE_OP_LESS || compare == VK_COMPARE_OP_LESS_OR_EQUAL;
  const auto color = s.target(VK_FORMAT_R32_UINT, samples), depth = s.target(VK_FORMAT_D32_SFLOAT, samples);
  const bool several = samples > 1;
  const auto one = several ? s.target(VK_FORMAT_R32_UINT) : color;
  const VkPipeline pipeline = s.pipeline({.compare = compare, .samples = samples});
  const auto drawn = [&] {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c, color.view, depth.view, less ? 1e9F : -1e9F, several ? one.view : nullptr);
    for (const Push& p : planes) s.draw(c, pipeline, p);
    s.end_rendering(c);
    return c;
  };
  s.copy(drawn(), one, VK_IMAGE_ASPECT_COLOR_BIT);
  uint32_t wrong = 0, below = 0;
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      const uint32_t got = s.at<uint32_t>(x, y);
      float best = less ? 1e9F : -1e9F;
      for (const Push& p : planes) best = less ? std::min(best, depth_of(p, x, y)) : std::max(best, depth_of(p, x, y));
      // Another sample's place is up to half a pixel away, and two planes may be as near as their rounding.
      const float slack = several ? 0.06F : 1e-4F;
      wrong += got >= planes.size() || std::fabs(depth_of(planes[got], x, y) - best) > slack;
      below += best < 0;
    }
  CHECK_MESSAGE(wrong == 0, std::to_string(wrong) + " pixels differ");
  CHECK(!less || below > 1000);  // it is not the ordinary range that was tried
  if (several) return;
  s.copy(drawn(), depth, VK_IMAGE_ASPECT_DEPTH_BIT);
  wrong = 0;
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      float best = less ? 1e9F : -1e9F;
      for (const Push& p : planes) best = less ? std::min(best, depth_of(p, x, y)) : std::max(best, depth_of(p, x, y));
      wrong += std::fabs(s.at<float>(x, y) - best) > 1e-4F;
    }
  CHECK_MESSAGE(wrong == 0, std::to_string(wrong) + " depths differ");
}

// One draw over a clear: what lies in the image then.
void test_values(bool unrestricted) {
  Scene s(unrestricted);
  const auto limited = [&](float value) { return unrestricted ? value : std::clamp(value, 0.0F, 1.0F); };
  const auto color = s.target(VK_FORMAT_R32_UINT), depth = s.target(VK_FORMAT_D32_SFLOAT);
  const auto after = [&](float clear, const State& state, const Push& values) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c, color.view, depth.view, clear);
    s.draw(c, s.pipeline(state), values);
    s.end_rendering(c);
    return c;
  };
  constexpr auto kAlways = VK_COMPARE_OP_ALWAYS;
  s.expect_depth(after(7.5F, {.compare = VK_COMPARE_OP_NEVER}, {}), depth, limited(7.5F), "a clear");
  s.expect_depth(after(0, {.compare = kAlways}, {0, 0, 0.125F}), depth, limited(kNear + 0.125F * 5), "a viewport");
  for (const float value : {-7.5F, 7.5F, 0.5F})
    s.expect_depth(after(0, {.compare = kAlways, .writes_depth = true}, {0, 0, 0.5F, 0, 0, value}), depth, limited(value), "gl_FragDepth");
  s.expect_depth(after(0, {.compare = kAlways, .clamps = true}, {0, 0, 1.5F}), depth, limited(kFar), "depth clamp, far");
  s.expect_depth(after(0, {.compare = kAlways, .clamps = true, .writes_depth = true}, {0, 0, 0.5F, 0, 0, -9}), depth, limited(kNear),
                 "depth clamp of gl_FragDepth");
  // Bounds: what is stored decides.
  s.expect_depth(after(-0.75F, {.compare = kAlways, .bounds = true, .least = -1, .most = -0.5F}, {0, 0, 0.5F}), depth,
                 unrestricted ? 0.5F : 0.0F, "bounds that hold");
  s.expect_depth(after(-0.25F, {.compare = kAlways, .bounds = true, .least = -1, .most = -0.5F}, {0, 0, 0.5F}), depth, limited(-0.25F),
                 "bounds that don't");
  VkCommandBuffer c = s.begin();
  s.begin_pass(c, color.view, depth.view, 0);
  const VkClearAttachment clear{VK_IMAGE_ASPECT_DEPTH_BIT, 0, {.depthStencil = {-3, 0}}};
  const VkClearRect all{kArea, 0, 1};
  s.clear_attachments(c, 1, &clear, 1, &all);
  s.end_rendering(c);
  s.expect_depth(c, depth, limited(-3), "vkCmdClearAttachments");
  c = s.begin();
  const VkClearDepthStencilValue value{42, 0};
  const VkImageSubresourceRange whole{VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1};
  s.clear_image(c, depth.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &whole);
  s.expect_depth(c, depth, limited(42), "vkCmdClearDepthStencilImage");
  // Loaded, and tested against.
  c = s.begin();
  s.begin_pass(c, color.view, depth.view, 0, nullptr, VK_ATTACHMENT_LOAD_OP_LOAD);
  s.draw(c, s.pipeline({.compare = VK_COMPARE_OP_LESS}), {0, 0, 0.25F, 0, 5});
  s.end_rendering(c);
  s.expect_depth(c, depth, limited(kNear + 0.25F * 5), "what was loaded");
}

// Fixed point stays within 0..1.
void test_fixed_point() {
  Scene s(true);
  const auto color = s.target(VK_FORMAT_R32_UINT), depth = s.target(VK_FORMAT_D16_UNORM);
  for (const auto& [z, want] : {std::pair(0.125F, 0U), std::pair(0.9F, 65535U), std::pair(0.5F, 32768U)}) {
    const VkCommandBuffer c = s.begin();
    s.begin_pass(c, color.view, depth.view, 0.25F);
    s.draw(c, s.pipeline({.compare = VK_COMPARE_OP_ALWAYS, .format = VK_FORMAT_D16_UNORM}), {0, 0, z});
    s.end_rendering(c);
    s.copy(c, depth, VK_IMAGE_ASPECT_DEPTH_BIT);
    uint32_t wrong = 0;
    for (uint32_t y = 0; y < kSide_px; ++y)
      for (uint32_t x = 0; x < kSide_px; ++x) wrong += s.at<uint16_t>(x, y) != want;
    CHECK_MESSAGE(wrong == 0, std::to_string(s.at<uint16_t>(1, 1)));
  }
}

}  // namespace

int main() {
  for (const VkCompareOp compare : {VK_COMPARE_OP_LESS, VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER, VK_COMPARE_OP_GREATER_OR_EQUAL})
    for (const VkSampleCountFlagBits samples : {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_4_BIT}) test_planes(compare, samples);
  test_values(true), test_values(false);
  test_fixed_point();
  return test::finish("test_vulkan_depth_range");
}
