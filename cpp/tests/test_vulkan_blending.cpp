// tests/test_vulkan_blending.cpp -- VK_EXT_blend_operation_advanced of the driver: what it says of itself, pipelines that fix an operation,
// and vkCmdSetColorBlendAdvancedEXT: the same bytes, and those that the specification's equations give.
#include <array>
#include <cmath>
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;
constexpr std::array<float, 4> kSource = {0.5F, 0.25F, 0.125F, 0.5F}, kDestination = {0.2F, 0.4F, 0.6F, 0.8F};

const char* const kVertex = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); })";
const char* const kFragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0.5, 0.25, 0.125, 0.5); }";

using Pixel = std::array<int, 4>;
using Create = VkGraphicsPipelineCreateInfo;

VkPipelineColorBlendAttachmentState attachment(VkBlendOp color, VkBlendOp alpha) {
  return {VK_TRUE, VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ZERO, color, VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ZERO, alpha, 15};
}

struct Scene {
  Program p;
  PFN_vkCmdSetColorBlendEnableEXT set_enable = nullptr;
  PFN_vkCmdSetColorBlendEquationEXT set_equation = nullptr;
  PFN_vkCmdSetColorBlendAdvancedEXT set_advanced = nullptr;
  PFN_vkCmdSetColorWriteMaskEXT set_mask = nullptr;
  VkRenderPass pass = nullptr;
  VkPipelineLayout layout = nullptr;
  Program::BoundImage target{};
  Program::MappedBuffer out{};
  VkFramebuffer framebuffer = nullptr;

  Scene() {
    VkPhysicalDeviceBlendOperationAdvancedFeaturesEXT advanced{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_FEATURES_EXT};
    advanced.advancedBlendCoherentOperations = VK_TRUE;
    VkPhysicalDeviceExtendedDynamicState3FeaturesEXT dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT,
                                                             &advanced};
    dynamic.extendedDynamicState3ColorBlendAdvanced = dynamic.extendedDynamicState3ColorBlendEnable = VK_TRUE;
    dynamic.extendedDynamicState3ColorBlendEquation = dynamic.extendedDynamicState3ColorWriteMask = VK_TRUE;
    p.remake_device({"VK_EXT_blend_operation_advanced", "VK_EXT_extended_dynamic_state3"}, &dynamic);
    p.load(set_enable, "vkCmdSetColorBlendEnableEXT"), p.load(set_equation, "vkCmdSetColorBlendEquationEXT");
    p.load(set_advanced, "vkCmdSetColorBlendAdvancedEXT"), p.load(set_mask, "vkCmdSetColorWriteMaskEXT");
    pass = p.one_subpass();
    const VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) == VK_SUCCESS);
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  }

  VkPipeline pipeline(const std::function<void(Create&)>& change) { return make_pipeline(p, kVertex, kFragment, layout, pass, 0, change); }

  VkPipeline fixed(const VkPipelineColorBlendAttachmentState& blend, const VkPipelineColorBlendAdvancedStateCreateInfoEXT* how) {
    return pipeline([&](Create& info) {
      static VkPipelineColorBlendStateCreateInfo blending;
      blending = {VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, how};
      blending.attachmentCount = 1, blending.pAttachments = &blend;
      info.pColorBlendState = &blending;
    });
  }

  Pixel draw(VkPipeline with, const std::function<void(VkCommandBuffer)>& set = [](VkCommandBuffer) {}) {
    VkClearValue clear{};
    std::copy(kDestination.begin(), kDestination.end(), clear.color.float32);
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    const VkCommandBuffer c = p.begin();
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &begin.renderArea);
    set(c);
    p.CmdDraw(c, 3, 1, 0, 0);
    p.CmdEndRenderPass(c);
    p.run_and_read(c, target, kSide_px, out.buffer);
    CHECK(std::memcmp(out.data, out.data + size_t{4} * (kSide_px * kSide_px - 1), 4) == 0);
    return {out.data[0], out.data[1], out.data[2], out.data[3]};
  }
};

void what_it_says() {
  Program p;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  p.load(features2, "vkGetPhysicalDeviceFeatures2"), p.load(properties2, "vkGetPhysicalDeviceProperties2");
  VkPhysicalDeviceBlendOperationAdvancedFeaturesEXT advanced{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &advanced};
  features2(p.physical_device, &features);
  CHECK(advanced.advancedBlendCoherentOperations);
  VkPhysicalDeviceBlendOperationAdvancedPropertiesEXT limits{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BLEND_OPERATION_ADVANCED_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &limits};
  properties2(p.physical_device, &properties);
  CHECK(limits.advancedBlendMaxColorAttachments == properties.properties.limits.maxColorAttachments);
  CHECK(limits.advancedBlendIndependentBlend && limits.advancedBlendNonPremultipliedSrcColor);
  CHECK(limits.advancedBlendNonPremultipliedDstColor && limits.advancedBlendCorrelatedOverlap && limits.advancedBlendAllOperations);
}

/// MULTIPLY and SCREEN for three overlaps, of colours that are premultiplied or not, in doubles.
Pixel expected(VkBlendOp op, const VkPipelineColorBlendAdvancedStateCreateInfoEXT& how) {
  const double as = kSource[3], ad = std::round(kDestination[3] * 255.0) / 255;
  double p[3] = {as * ad, as * (1 - ad), ad * (1 - as)};
  if (how.blendOverlap == VK_BLEND_OVERLAP_CONJOINT_EXT)
    p[0] = std::min(as, ad), p[1] = std::max(as - ad, 0.0), p[2] = std::max(ad - as, 0.0);
  if (how.blendOverlap == VK_BLEND_OVERLAP_DISJOINT_EXT)
    p[0] = std::max(as + ad - 1, 0.0), p[1] = std::min(as, 1 - ad), p[2] = std::min(ad, 1 - as);
  const double alpha = p[0] + p[1] + p[2];
  Pixel pixel{};
  for (size_t c = 0; c < 3; c++) {
    const double s = how.srcPremultiplied ? kSource[c] / as : kSource[c];
    const double stored = std::round(kDestination[c] * 255.0) / 255, d = how.dstPremultiplied ? stored / ad : stored;
    const double f = op == VK_BLEND_OP_MULTIPLY_EXT ? s * d : s + d - s * d;
    const double sum = f * p[0] + s * p[1] + d * p[2];
    pixel[c] = static_cast<int>(std::lround(255 * std::min(how.dstPremultiplied ? sum : sum / alpha, 1.0)));
  }
  pixel[3] = static_cast<int>(std::lround(255 * alpha));
  return pixel;
}

bool near(const Pixel& a, const Pixel& b) {
  for (size_t c = 0; c < 4; c++)
    if (std::abs(a[c] - b[c]) > 1) return false;
  return true;
}

void fixed_and_dynamic() {
  Scene s;
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = 3, dynamic.pDynamicStates = states;
  const VkPipelineColorBlendAttachmentState ignored = attachment(VK_BLEND_OP_MAX, VK_BLEND_OP_MAX);
  const VkPipeline takes = s.pipeline([&](Create& info) {
    static VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = 1, blending.pAttachments = &ignored;
    info.pColorBlendState = &blending, info.pDynamicState = &dynamic;
  });
  for (int variant = 0; variant < 24; variant++) {
    const VkBlendOp op = variant & 1 ? VK_BLEND_OP_SCREEN_EXT : VK_BLEND_OP_MULTIPLY_EXT;
    VkPipelineColorBlendAdvancedStateCreateInfoEXT how{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT};
    how.srcPremultiplied = variant >> 1 & 1, how.dstPremultiplied = variant >> 2 & 1;
    how.blendOverlap = static_cast<VkBlendOverlapEXT>(variant >> 3);
    const Pixel want = expected(op, how), fixed = s.draw(s.fixed(attachment(op, op), &how));
    const std::string what = "variant " + std::to_string(variant);
    CHECK_MESSAGE(near(fixed, want), what);
    const VkColorBlendAdvancedEXT given{op, how.srcPremultiplied, how.dstPremultiplied, how.blendOverlap, VK_FALSE};
    CHECK_MESSAGE(s.draw(takes, [&](VkCommandBuffer c) { s.set_advanced(c, 0, 1, &given); }) == fixed, what + ", dynamic");
    if (how.srcPremultiplied && how.dstPremultiplied && how.blendOverlap == VK_BLEND_OVERLAP_UNCORRELATED_EXT)
      CHECK_MESSAGE(s.draw(s.fixed(attachment(op, op), nullptr)) == fixed, what + ", the defaults");
  }
}

/// All that blending is set by commands; pAttachments is nothing, as Vulkan allows then.
void the_later_command_holds() {
  Scene s;
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT,
                                   VK_DYNAMIC_STATE_SCISSOR,
                                   VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT,
                                   VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT,
                                   VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT,
                                   VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = 6, dynamic.pDynamicStates = states;
  const VkPipeline takes = s.pipeline([&](Create& info) {
    static VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = 1, blending.pAttachments = nullptr;
    info.pColorBlendState = &blending, info.pDynamicState = &dynamic;
  });
  const VkColorBlendEquationEXT sum{VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD,
                                    VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD};
  const VkColorBlendAdvancedEXT red{VK_BLEND_OP_RED_EXT, VK_TRUE, VK_TRUE, VK_BLEND_OVERLAP_UNCORRELATED_EXT, VK_FALSE};
  const VkBool32 yes = VK_TRUE;
  const VkColorComponentFlags all = 15;
  for (const bool last : {false, true}) {
    const Pixel got = s.draw(takes, [&](VkCommandBuffer c) {
      s.set_enable(c, 0, 1, &yes), s.set_mask(c, 0, 1, &all);
      if (!last) s.set_advanced(c, 0, 1, &red);
      s.set_equation(c, 0, 1, &sum);
      if (last) s.set_advanced(c, 0, 1, &red);
    });
    CHECK_MESSAGE(near(got, last ? Pixel{128, 102, 153, 204} : Pixel{179, 166, 185, 255}), last ? "advanced" : "equation");
  }
}

void refusals() {
  Scene s;
  s.pipeline([&](Create& info) {
    const VkPipelineColorBlendAttachmentState blend = attachment(VK_BLEND_OP_MULTIPLY_EXT, VK_BLEND_OP_ADD);
    VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = 1, blending.pAttachments = &blend;
    Create bad = info;
    bad.pColorBlendState = &blending;
    VkPipeline made = nullptr;
    CHECK(s.p.CreateGraphicsPipelines(s.p.device, nullptr, 1, &bad, nullptr, &made) != VK_SUCCESS);
    CHECK(s.p.heard("colorBlendOp is VK_BLEND_OP_MULTIPLY_EXT and alphaBlendOp is VK_BLEND_OP_ADD"));
    s.p.said.clear();
  });
}

}  // namespace

int main() {
  what_it_says();
  fixed_and_dynamic();
  the_later_command_holds();
  refusals();
  return test::finish("test_vulkan_blending");
}
