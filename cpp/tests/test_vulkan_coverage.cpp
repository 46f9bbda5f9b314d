// tests/test_vulkan_coverage.cpp -- VK_EXT_conservative_rasterization and VK_EXT_sample_locations of the driver: what it says of itself,
// pipelines that fix them, and vkCmdSet*: the pixels that the specification's rules cover.
#include <array>
#include <functional>
#include <string>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;
// Covers x < 4 + 5/16 px and more, for every y.
const char* const kVertex = R"(#version 450
void main() {
  float edge = (4.0 + 5.0 / 16.0) / 4.0 - 1.0;
  gl_Position = vec4(gl_VertexIndex == 0 ? -3.0 : edge, gl_VertexIndex == 0 ? 0.0 : gl_VertexIndex == 1 ? -9.0 : 9.0, 0.5, 1.0);
})";
const char* const kFragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1.0); }";

using Create = VkGraphicsPipelineCreateInfo;
using Change = std::function<void(Create&)>;
using Set = std::function<void(VkCommandBuffer)>;
using Row = std::array<int, kSide_px>;

struct Scene {
  Program p;
  PFN_vkCmdSetConservativeRasterizationModeEXT set_mode = nullptr;
  PFN_vkCmdSetExtraPrimitiveOverestimationSizeEXT set_extra = nullptr;
  PFN_vkCmdSetSampleLocationsEnableEXT set_enable = nullptr;
  PFN_vkCmdSetSampleLocationsEXT set_locations = nullptr;
  VkRenderPass pass = nullptr;
  VkPipelineLayout layout = nullptr;
  Program::BoundImage many{}, target{};
  Program::MappedBuffer out{};
  VkFramebuffer framebuffer = nullptr;

  Scene() {
    VkPhysicalDeviceExtendedDynamicState3FeaturesEXT dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT};
    dynamic.extendedDynamicState3ConservativeRasterizationMode = dynamic.extendedDynamicState3ExtraPrimitiveOverestimationSize = VK_TRUE;
    dynamic.extendedDynamicState3SampleLocationsEnable = VK_TRUE;
    p.remake_device({"VK_EXT_conservative_rasterization", "VK_EXT_sample_locations", "VK_EXT_extended_dynamic_state3"}, &dynamic);
    p.load(set_mode, "vkCmdSetConservativeRasterizationModeEXT"), p.load(set_extra, "vkCmdSetExtraPrimitiveOverestimationSizeEXT");
    p.load(set_enable, "vkCmdSetSampleLocationsEnableEXT"), p.load(set_locations, "vkCmdSetSampleLocationsEXT");
    make_pass();
    const VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) == VK_SUCCESS);
    constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
    many = p.image(kFormat, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, false, VK_SAMPLE_COUNT_4_BIT);
    target = p.image(kFormat, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    framebuffer = p.framebuffer(pass, {many.view, target.view}, kSide_px);
  }

  // Four samples, resolved.
  void make_pass() {
    VkAttachmentDescription of[2]{};
    of[0].format = of[1].format = VK_FORMAT_R8G8B8A8_UNORM;
    of[0].samples = VK_SAMPLE_COUNT_4_BIT, of[1].samples = VK_SAMPLE_COUNT_1_BIT;
    of[0].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, of[1].loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    of[0].storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE, of[1].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    of[0].finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, of[1].finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference color{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL}, resolve{1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1, subpass.pColorAttachments = &color, subpass.pResolveAttachments = &resolve;
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = 2, info.pAttachments = of, info.subpassCount = 1, info.pSubpasses = &subpass;
    CHECK(p.CreateRenderPass(p.device, &info, nullptr, &pass) == VK_SUCCESS);
  }

  VkPipeline pipeline(const Change& change) {
    return make_pipeline(p, kVertex, kFragment, layout, pass, 0, [&](Create& info) {
      const_cast<VkPipelineMultisampleStateCreateInfo*>(info.pMultisampleState)->rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
      change(info);
    });
  }

  /// Any row of the picture: they are all alike.
  Row draw(VkPipeline with, const Set& set = [](VkCommandBuffer) {}) {
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
    p.CmdDraw(c, 3, 1, 0, 0);
    p.CmdEndRenderPass(c);
    p.run_and_read(c, target, kSide_px, out.buffer);
    Row row{};
    for (uint32_t y = 0; y < kSide_px; y++)
      for (uint32_t x = 0; x < kSide_px; x++) {
        const int value = out.data[size_t{4} * (y * kSide_px + x)];
        CHECK(y == 0 || row[x] == value);
        row[x] = value;
      }
    return row;
  }
};

/// The first `full` pixels, and then one with a value.
Row row_of(uint32_t full, int next) {
  Row row{};
  std::fill_n(row.begin(), full, 255);
  row[full] = next;
  return row;
}

void what_it_says() {
  Program p;
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  PFN_vkGetPhysicalDeviceMultisamplePropertiesEXT multisample = nullptr;
  p.load(properties2, "vkGetPhysicalDeviceProperties2"), p.load(multisample, "vkGetPhysicalDeviceMultisamplePropertiesEXT");
  VkPhysicalDeviceSampleLocationsPropertiesEXT locations{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLE_LOCATIONS_PROPERTIES_EXT};
  VkPhysicalDeviceConservativeRasterizationPropertiesEXT conservative{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONSERVATIVE_RASTERIZATION_PROPERTIES_EXT, &locations};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &conservative};
  properties2(p.physical_device, &properties);
  CHECK(conservative.primitiveOverestimationSize == 0 && conservative.maxExtraPrimitiveOverestimationSize == 0.75F);
  CHECK(conservative.extraPrimitiveOverestimationSizeGranularity == 1.0F / 256 && conservative.primitiveUnderestimation);
  CHECK(!conservative.conservativePointAndLineRasterization && !conservative.degenerateTrianglesRasterized);
  CHECK(locations.sampleLocationSampleCounts == 30 && locations.sampleLocationSubPixelBits == 4);
  CHECK(locations.sampleLocationCoordinateRange[0] == 0 && locations.sampleLocationCoordinateRange[1] == 0.9375F);
  VkMultisamplePropertiesEXT of{VK_STRUCTURE_TYPE_MULTISAMPLE_PROPERTIES_EXT};
  multisample(p.physical_device, VK_SAMPLE_COUNT_4_BIT, &of);
  CHECK(of.maxSampleLocationGridSize.width == 1 && of.maxSampleLocationGridSize.height == 1);
  multisample(p.physical_device, VK_SAMPLE_COUNT_1_BIT, &of);
  CHECK(of.maxSampleLocationGridSize.width == 0);
}

Change with_conservative(VkPipelineRasterizationConservativeStateCreateInfoEXT& state, VkConservativeRasterizationModeEXT mode,
                         float extra) {
  state = {VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT, nullptr, 0, mode, extra};
  return [&state](Create& info) { const_cast<VkPipelineRasterizationStateCreateInfo*>(info.pRasterizationState)->pNext = &state; };
}

void conservative() {
  Scene s;
  VkPipelineRasterizationConservativeStateCreateInfoEXT state;
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR,
                                   VK_DYNAMIC_STATE_CONSERVATIVE_RASTERIZATION_MODE_EXT,
                                   VK_DYNAMIC_STATE_EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT};
  const VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 4, states};
  const VkPipeline takes = s.pipeline([&](Create& info) { info.pDynamicState = &dynamic; });
  struct Case {
    VkConservativeRasterizationModeEXT mode;
    float extra;
    Row want;
  };
  // x < 4 5/16: of the standard four samples those at 2/16 are in it; an extra 0.7 reaches the next pixel but one's edge.
  const Case cases[] = {{VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT, 0, row_of(4, 64)},
                        {VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT, 0, row_of(4, 255)},
                        {VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT, 0.6875F, row_of(5, 255)},
                        {VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT, 0.68F, row_of(5, 0)},
                        {VK_CONSERVATIVE_RASTERIZATION_MODE_UNDERESTIMATE_EXT, 0, row_of(4, 0)}};
  for (const Case& c : cases) {
    const VkPipeline fixed = s.pipeline(with_conservative(state, c.mode, c.extra));
    Row got = s.draw(fixed);
    const int given = c.extra == 0 && c.mode == VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT ? got[4] : c.want[4];
    Row want = c.want;
    want[4] = given;  // how many of the standard samples: asked of sample locations below
    CHECK(got == want);
    const Row set = s.draw(takes, [&](VkCommandBuffer b) { s.set_mode(b, c.mode), s.set_extra(b, c.extra); });
    CHECK(set == got);
    s.p.DestroyPipeline(s.p.device, fixed, nullptr);
  }
}

void sample_locations() {
  Scene s;
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_ENABLE_EXT,
                                   VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT};
  const VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 4, states};
  const VkPipeline takes = s.pipeline([&](Create& info) { info.pDynamicState = &dynamic; });
  // Not enabled: nobody reads them.
  for (const VkSampleCountFlagBits count : {VkSampleCountFlagBits{}, VK_SAMPLE_COUNT_4_BIT}) {
    VkPipelineSampleLocationsStateCreateInfoEXT off{VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT};
    off.sampleLocationsInfo = {VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT, nullptr, count, {1, 1}, static_cast<uint32_t>(count), nullptr};
    const VkPipeline fixed =
        s.pipeline([&](Create& create) { const_cast<VkPipelineMultisampleStateCreateInfo*>(create.pMultisampleState)->pNext = &off; });
    CHECK(s.draw(fixed)[3] == 255);
    s.p.DestroyPipeline(s.p.device, fixed, nullptr);
  }
  for (int inside = 0; inside <= 4; inside++) {
    VkSampleLocationEXT places[4];
    for (int i = 0; i < 4; i++) places[i] = {i < inside ? 4 / 16.0F : 6 / 16.0F, static_cast<float>(i) / 4};
    const VkSampleLocationsInfoEXT info{VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT, nullptr, VK_SAMPLE_COUNT_4_BIT, {1, 1}, 4, places};
    const VkPipelineSampleLocationsStateCreateInfoEXT state{VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT, nullptr,
                                                            VK_TRUE, info};
    const VkPipeline fixed =
        s.pipeline([&](Create& create) { const_cast<VkPipelineMultisampleStateCreateInfo*>(create.pMultisampleState)->pNext = &state; });
    const int quarters[] = {0, 64, 128, 191, 255};
    const Row got = s.draw(fixed);
    CHECK(got == row_of(4, quarters[inside]));
    const Row set = s.draw(takes, [&](VkCommandBuffer b) { s.set_enable(b, VK_TRUE), s.set_locations(b, &info); });
    CHECK(set == got);
    s.p.DestroyPipeline(s.p.device, fixed, nullptr);
  }
}

// Who may use sample locations says so of its depth images (Zink of all of several samples); they are as any other.
void depth_images_for_locations() {
  Scene s;
  for (const VkFormat format : {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D16_UNORM, VK_FORMAT_D32_SFLOAT_S8_UINT}) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.flags = VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT;
    info.imageType = VK_IMAGE_TYPE_2D, info.format = format, info.extent = {8, 8, 1};
    info.mipLevels = info.arrayLayers = 1, info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    for (const VkSampleCountFlagBits samples : {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_16_BIT}) {
      info.samples = samples;
      VkImage image = nullptr;
      CHECK(s.p.CreateImage(s.p.device, &info, nullptr, &image) == VK_SUCCESS);
      s.p.DestroyImage(s.p.device, image, nullptr);
    }
    info.format = VK_FORMAT_R8G8B8A8_UNORM, info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    VkImage image = nullptr;
    CHECK(s.p.CreateImage(s.p.device, &info, nullptr, &image) == VK_ERROR_FORMAT_NOT_SUPPORTED);
  }
}

}  // namespace

int main() {
  what_it_says();
  depth_images_for_locations();
  conservative();
  sample_locations();
  return test::finish("test_vulkan_coverage");
}
