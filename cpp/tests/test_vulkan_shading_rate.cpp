// tests/test_vulkan_shading_rate.cpp -- VK_KHR_fragment_shading_rate of the driver: what it says of itself, its list of rates, rates of
// pipelines, of the dynamic state, of primitives and of attachments in render passes and in dynamic rendering; subpasses whose attachments
// of rates differ. The rules themselves: tests/test_fragment_shading_rate.py.
#include <cmath>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 32;

const char* const kVertex = R"(#version 450
#extension GL_EXT_fragment_shading_rate : require
layout(constant_id = 0) const int rate = 0;
void main() {
  gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0);
  gl_PrimitiveShadingRateEXT = 1;
})";
// The rate, and the fragment's centre in half pixels.
const char* const kFragment = R"(#version 450
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 o;
void main() { o = vec4(float(gl_ShadingRateEXT), gl_FragCoord.xy * 2.0, 255.0) / 255.0; })";

constexpr auto kKeep = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR, kReplace = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_REPLACE_KHR,
               kMax = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MAX_KHR;

void what_it_says() {
  Program p;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  PFN_vkGetPhysicalDeviceFragmentShadingRatesKHR list = nullptr;
  p.load(features2, "vkGetPhysicalDeviceFeatures2"), p.load(properties2, "vkGetPhysicalDeviceProperties2");
  p.load(list, "vkGetPhysicalDeviceFragmentShadingRatesKHR");
  VkPhysicalDeviceFragmentShadingRateFeaturesKHR has{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_FEATURES_KHR};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &has};
  features2(p.physical_device, &features);
  CHECK(has.pipelineFragmentShadingRate && has.primitiveFragmentShadingRate && has.attachmentFragmentShadingRate);
  VkPhysicalDeviceFragmentShadingRatePropertiesKHR is{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_PROPERTIES_KHR};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &is};
  properties2(p.physical_device, &properties);
  CHECK(is.minFragmentShadingRateAttachmentTexelSize.width == 8 && is.maxFragmentShadingRateAttachmentTexelSize.height == 64);
  CHECK(is.maxFragmentShadingRateAttachmentTexelSizeAspectRatio == 8 && is.layeredShadingRateAttachments);
  CHECK(is.maxFragmentSize.width == 4 && is.maxFragmentSize.height == 4 && is.maxFragmentSizeAspectRatio == 2);
  CHECK(is.maxFragmentShadingRateCoverageSamples == 32 && is.maxFragmentShadingRateRasterizationSamples == VK_SAMPLE_COUNT_4_BIT);
  CHECK(is.fragmentShadingRateWithShaderDepthStencilWrites && is.fragmentShadingRateWithShaderSampleMask);
  CHECK(!is.fragmentShadingRateWithConservativeRasterization && !is.fragmentShadingRateWithCustomSampleLocations);
  CHECK(!is.fragmentShadingRateWithFragmentShaderInterlock && is.fragmentShadingRateStrictMultiplyCombiner);
  uint32_t count = 0;
  CHECK(list(p.physical_device, &count, nullptr) == VK_SUCCESS && count == 7);
  std::vector<VkPhysicalDeviceFragmentShadingRateKHR> rates(count, {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_KHR});
  CHECK(list(p.physical_device, &count, rates.data()) == VK_SUCCESS && count == 7);
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  for (uint32_t i = 0; i < count; i++) {
    const VkExtent2D a = rates[i].fragmentSize;
    CHECK(rates[i].sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_KHR);
    CHECK(a.width <= is.maxFragmentSize.width && a.height <= is.maxFragmentSize.height);
    if (a.width * a.height == 1) {
      CHECK(rates[i].sampleCounts == ~0u);
      continue;
    }
    CHECK((rates[i].sampleCounts & ~limits.framebufferColorSampleCounts) == 0);
    CHECK(a.width * a.height * (rates[i].sampleCounts & 4 ? 4 : 2) <= is.maxFragmentShadingRateCoverageSamples);
    if (i == 0) continue;
    const VkExtent2D before = rates[i - 1].fragmentSize;
    CHECK(before.width > a.width || (before.width == a.width && before.height > a.height));
  }
  count = 3;
  CHECK(list(p.physical_device, &count, rates.data()) == VK_INCOMPLETE && count == 3);
  VkFormatProperties format;
  p.GetPhysicalDeviceFormatProperties(p.physical_device, VK_FORMAT_R8_UINT, &format);
  CHECK(format.optimalTilingFeatures & VK_FORMAT_FEATURE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR);
  p.GetPhysicalDeviceFormatProperties(p.physical_device, VK_FORMAT_R8_UNORM, &format);
  CHECK(!(format.optimalTilingFeatures & VK_FORMAT_FEATURE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR));
}

struct Rate {
  VkExtent2D size;
  VkFragmentShadingRateCombinerOpKHR primitive, attachment;
};

struct Scene {
  Program p;
  VkPipelineLayout layout = nullptr;
  Program::BoundImage target{}, rates{};
  Program::MappedBuffer out{};
  PFN_vkCmdSetFragmentShadingRateKHR set_rate = nullptr;
  PFN_vkCreateRenderPass2KHR create_pass = nullptr;
  PFN_vkCmdBeginRenderingKHR begin_rendering = nullptr;
  PFN_vkCmdEndRenderingKHR end_rendering = nullptr;

  Scene() {
    VkPhysicalDeviceDynamicRenderingFeatures rendering{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
    VkPhysicalDeviceFragmentShadingRateFeaturesKHR features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_FEATURES_KHR,
                                                            &rendering, VK_TRUE, VK_TRUE, VK_TRUE};
    p.remake_device({"VK_KHR_fragment_shading_rate", "VK_KHR_create_renderpass2", "VK_KHR_dynamic_rendering"}, &features);
    p.load(set_rate, "vkCmdSetFragmentShadingRateKHR"), p.load(create_pass, "vkCreateRenderPass2KHR");
    p.load(begin_rendering, "vkCmdBeginRenderingKHR"), p.load(end_rendering, "vkCmdEndRenderingKHR");
    layout = p.pipeline_layout({});
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    rates = p.image(VK_FORMAT_R8_UINT, 2, 2, VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    // 1x1, 2x2; 4x2, 4x4.
    const Program::MappedBuffer texels = p.buffer(4, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    const uint8_t bytes[4] = {0, 5, 9, 10};
    std::memcpy(texels.data, bytes, 4);
    PFN_vkCmdCopyBufferToImage copy = nullptr;
    p.load(copy, "vkCmdCopyBufferToImage");
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {2, 2, 1};
    const VkCommandBuffer c = p.begin();
    copy(c, texels.buffer, rates.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    p.run(c);
    p.destroy(texels);
  }

  VkPipeline pipeline(VkRenderPass pass, uint32_t subpass, const Rate* rate) {
    return make_pipeline(p, kVertex, kFragment, layout, pass, subpass, [&](VkGraphicsPipelineCreateInfo& info) {
      static VkPipelineFragmentShadingRateStateCreateInfoKHR state{VK_STRUCTURE_TYPE_PIPELINE_FRAGMENT_SHADING_RATE_STATE_CREATE_INFO_KHR};
      static VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
      static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
      static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR,
                                              VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR};
      static VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 3, states};
      rendering.colorAttachmentCount = 1, rendering.pColorAttachmentFormats = &format;
      if (rate) {
        state.fragmentSize = rate->size, state.combinerOps[0] = rate->primitive, state.combinerOps[1] = rate->attachment;
        state.pNext = pass ? nullptr : &rendering;
        info.pNext = &state;
      } else {
        info.pDynamicState = &dynamic;
        info.pNext = pass ? nullptr : &rendering;
      }
    });
  }

  void draw(VkCommandBuffer c, VkPipeline with) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    const VkRect2D area{{0, 0}, {kSide_px, kSide_px}};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &area);
    p.CmdDraw(c, 3, 1, 0, 0);
  }

  void read(VkCommandBuffer c) { p.run_and_read(c, target, kSide_px, out.buffer); }

  /// That every pixel has the rate, and the centre of its fragment. `size`: of the 16x16 pixels from (x, y) on.
  template <class Size>
  void check(Size size) {
    uint32_t wrong = 0;
    for (uint32_t y = 0; y < kSide_px; y++)
      for (uint32_t x = 0; x < kSide_px; x++) {
        const VkExtent2D s = size(x / 16, y / 16);
        const auto log2 = [](uint32_t v) { return v == 4 ? 2u : v - 1; };
        const uint8_t* pixel = out.data + 4 * (y * kSide_px + x);
        wrong += pixel[0] != log2(s.width) * 4 + log2(s.height) || pixel[1] != x / s.width * s.width * 2 + s.width ||
                 pixel[2] != y / s.height * s.height * 2 + s.height || pixel[3] != 255;
      }
    CHECK_MESSAGE(wrong == 0, std::to_string(wrong) + " pixels");
  }

  VkRenderPass pass_with_rates(bool second_without) {
    VkAttachmentDescription2 attachments[2] = {{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2}, {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2}};
    attachments[0].format = VK_FORMAT_R8G8B8A8_UNORM, attachments[1].format = VK_FORMAT_R8_UINT;
    for (VkAttachmentDescription2& a : attachments) a.samples = VK_SAMPLE_COUNT_1_BIT;
    attachments[0].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, attachments[0].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    attachments[1].loadOp = VK_ATTACHMENT_LOAD_OP_LOAD, attachments[1].storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    const VkAttachmentReference2 color{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, 0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                       VK_IMAGE_ASPECT_COLOR_BIT};
    const VkAttachmentReference2 rate{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, 1,
                                      VK_IMAGE_LAYOUT_FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR, VK_IMAGE_ASPECT_COLOR_BIT};
    const VkFragmentShadingRateAttachmentInfoKHR info{
        VK_STRUCTURE_TYPE_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR, nullptr, &rate, {16, 16}};
    VkSubpassDescription2 subpasses[2] = {{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2, &info}, {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2}};
    for (VkSubpassDescription2& s : subpasses) s.colorAttachmentCount = 1, s.pColorAttachments = &color;
    VkRenderPassCreateInfo2 create{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
    create.attachmentCount = 2, create.pAttachments = attachments;
    create.subpassCount = second_without ? 2 : 1, create.pSubpasses = subpasses;
    VkRenderPass made = nullptr;
    CHECK(create_pass(p.device, &create, nullptr, &made) == VK_SUCCESS);
    return made;
  }

  void begin_pass(VkCommandBuffer c, VkRenderPass pass) {
    const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view, rates.view}, kSide_px);
    const VkClearValue clear{};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  }
};

constexpr VkExtent2D kOfTexels[2][2] = {{{1, 1}, {2, 2}}, {{4, 2}, {4, 4}}};

void render_passes() {
  Scene s;
  const VkRenderPass pass = s.pass_with_rates(false);
  const Rate fixed{{4, 2}, kKeep, kKeep}, of_primitive{{1, 1}, kReplace, kKeep}, of_attachment{{1, 1}, kKeep, kReplace},
      largest{{1, 1}, kReplace, kMax};
  const auto draw_with = [&](const Rate* rate, const Rate* dynamic) {
    const VkCommandBuffer c = s.p.begin();
    s.begin_pass(c, pass);
    if (dynamic) {
      const VkFragmentShadingRateCombinerOpKHR ops[2] = {dynamic->primitive, dynamic->attachment};
      s.set_rate(c, &dynamic->size, ops);
    }
    s.draw(c, s.pipeline(pass, 0, rate));
    s.p.CmdEndRenderPass(c);
    s.read(c);
  };
  for (const bool dynamic : {false, true}) {
    const auto draw = [&](const Rate& rate) { draw_with(dynamic ? nullptr : &rate, dynamic ? &rate : nullptr); };
    draw(fixed), s.check([](uint32_t, uint32_t) { return VkExtent2D{4, 2}; });
    draw(of_primitive), s.check([](uint32_t, uint32_t) { return VkExtent2D{1, 2}; });  // 1: two pixels high
    draw(of_attachment), s.check([](uint32_t x, uint32_t y) { return kOfTexels[y][x]; });
    draw(largest), s.check([](uint32_t x, uint32_t y) { return VkExtent2D{kOfTexels[y][x].width, std::max(2u, kOfTexels[y][x].height)}; });
  }
}

void dynamic_rendering() {
  Scene s;
  const Rate of_attachment{{1, 1}, kKeep, kReplace};
  for (const bool attached : {true, false}) {
    VkRenderingFragmentShadingRateAttachmentInfoKHR rates{VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR};
    rates.imageView = s.rates.view, rates.shadingRateAttachmentTexelSize = {16, 16};
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = s.target.view, color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, attached ? &rates : nullptr};
    info.renderArea = {{0, 0}, {kSide_px, kSide_px}}, info.layerCount = 1;
    info.colorAttachmentCount = 1, info.pColorAttachments = &color;
    const VkCommandBuffer c = s.p.begin();
    s.begin_rendering(c, &info);
    s.draw(c, s.pipeline(nullptr, 0, &of_attachment));
    s.end_rendering(c);
    s.read(c);
    s.check([&](uint32_t x, uint32_t y) { return attached ? kOfTexels[y][x] : VkExtent2D{1, 1}; });
  }
}

// Two subpasses draw the same pixels; the second one has no attachment, and so is another tile pass.
void subpasses() {
  Scene s;
  const VkRenderPass pass = s.pass_with_rates(true);
  const Rate of_attachment{{1, 1}, kKeep, kReplace};
  bool told = false;
  for (const std::string& text : s.p.told) told |= text.find("another attachment of shading rates") != std::string::npos;
  CHECK(told);
  const VkCommandBuffer c = s.p.begin();
  s.begin_pass(c, pass);
  s.draw(c, s.pipeline(pass, 0, &of_attachment));
  s.p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  s.draw(c, s.pipeline(pass, 1, &of_attachment));
  s.p.CmdEndRenderPass(c);
  s.read(c);
  s.check([](uint32_t, uint32_t) { return VkExtent2D{1, 1}; });
}

}  // namespace

int main() {
  what_it_says();
  render_passes();
  dynamic_rendering();
  subpasses();
  return finish("test_vulkan_shading_rate");
}
