// tests/test_vulkan_depth_control.cpp -- VK_EXT_depth_clamp_control and VK_EXT_depth_bias_control: clamps to a range of the program's own,
// biases that are multiples of 2^e, of a constant and of 1; of pipelines and dynamic. Oracle: the depth of each pixel by the equations.
#include <algorithm>
#include <cmath>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 32;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};

// z = x along the row, from -0.5 to 1.5, or all of it `depth`.
const char* const kPlane = R"(#version 450
layout(push_constant) uniform P { float sloped; float depth; };
void main() {
  vec2 p = vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1);
  gl_Position = vec4(p, sloped != 0 ? p.x + 0.5 : depth, 1);
})";
const char* const kWhite = R"(#version 450
layout(location = 0) out vec4 o; void main() { o = vec4(1); })";

struct State {
  bool dynamic = false, user = false;
  float least = 0, most = 1;
  float constant = 0, clamp = 0, slope = 0;
  VkDepthBiasRepresentationEXT representation = VK_DEPTH_BIAS_REPRESENTATION_LEAST_REPRESENTABLE_VALUE_FORMAT_EXT;
  bool exact = false;
  VkFormat format = VK_FORMAT_D32_SFLOAT;
  VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  float sloped = 1, depth = 0;
};

struct Scene : Program {
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCmdSetDepthBias2EXT set_bias = nullptr;
  PFN_vkCmdSetDepthClampRangeEXT set_range = nullptr;
  VkPipelineLayout layout = nullptr;
  MappedBuffer out{};

  Scene() {
    VkPhysicalDeviceDepthClampControlFeaturesEXT clamps{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLAMP_CONTROL_FEATURES_EXT, nullptr,
                                                        VK_TRUE};
    VkPhysicalDeviceDepthBiasControlFeaturesEXT biases{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_BIAS_CONTROL_FEATURES_EXT, &clamps, VK_TRUE, VK_TRUE, VK_TRUE, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, &biases, VK_TRUE};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &dynamic};
    features.features.depthClamp = features.features.depthBiasClamp = VK_TRUE;
    remake_device({"VK_KHR_dynamic_rendering", "VK_EXT_depth_clamp_control", "VK_EXT_depth_bias_control"}, &features);
    load(begin_rendering, "vkCmdBeginRendering"), load(end_rendering, "vkCmdEndRendering");
    load(set_bias, "vkCmdSetDepthBias2EXT"), load(set_range, "vkCmdSetDepthClampRangeEXT");
    layout = pipeline_layout({}, {{VK_SHADER_STAGE_VERTEX_BIT, 0, 8}});
    out = buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }
  ~Scene() {
    DestroyPipelineLayout(device, layout, nullptr);
    destroy(out);
  }

  VkPipeline pipeline(const State& s) {
    return make_pipeline(*this, kPlane, kWhite, layout, nullptr, 0, [&](VkGraphicsPipelineCreateInfo& info) {
      static VkPipelineRenderingCreateInfo rendering;
      rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, 0, nullptr, s.format};
      info.pNext = &rendering;
      static VkDepthBiasRepresentationInfoEXT as;
      as = {VK_STRUCTURE_TYPE_DEPTH_BIAS_REPRESENTATION_INFO_EXT, nullptr, s.representation, s.exact};
      auto* raster = const_cast<VkPipelineRasterizationStateCreateInfo*>(info.pRasterizationState);
      raster->depthClampEnable = VK_TRUE;
      raster->depthBiasEnable = s.constant != 0;
      if (!s.dynamic) {
        raster->pNext = &as;
        raster->depthBiasConstantFactor = s.constant, raster->depthBiasClamp = s.clamp, raster->depthBiasSlopeFactor = s.slope;
      }
      static VkDepthClampRangeEXT range;
      range = {s.least, s.most};
      static VkPipelineViewportDepthClampControlCreateInfoEXT clamps;
      clamps = {VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLAMP_CONTROL_CREATE_INFO_EXT, nullptr,
                s.user ? VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT : VK_DEPTH_CLAMP_MODE_VIEWPORT_RANGE_EXT, s.user ? &range : nullptr};
      if (!s.dynamic) const_cast<VkPipelineViewportStateCreateInfo*>(info.pViewportState)->pNext = &clamps;
      auto* depth = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
      depth->depthTestEnable = depth->depthWriteEnable = VK_TRUE, depth->depthCompareOp = VK_COMPARE_OP_ALWAYS;
      const_cast<VkPipelineColorBlendStateCreateInfo*>(info.pColorBlendState)->attachmentCount = 0;
      static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_DEPTH_BIAS,
                                              VK_DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT};
      auto* dynamic = const_cast<VkPipelineDynamicStateCreateInfo*>(info.pDynamicState);
      dynamic->dynamicStateCount = s.dynamic ? 4 : 2, dynamic->pDynamicStates = states;
    });
  }

  /// The depth of a row's pixels.
  std::vector<double> draw(const State& s) {
    const BoundImage depth =
        image(s.format, kSide_px, kSide_px, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    const VkPipeline made = pipeline(s);
    VkRenderingAttachmentInfo target{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    target.imageView = depth.view, target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = kArea, info.layerCount = 1, info.pDepthAttachment = &target;
    const VkCommandBuffer c = begin();
    begin_rendering(c, &info);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made);
    CmdSetViewport(c, 0, 1, &s.viewport);
    CmdSetScissor(c, 0, 1, &kArea);
    const float push[2] = {s.sloped, s.depth};
    CmdPushConstants(c, layout, VK_SHADER_STAGE_VERTEX_BIT, 0, 8, push);
    if (s.dynamic) {
      const VkDepthBiasRepresentationInfoEXT as{VK_STRUCTURE_TYPE_DEPTH_BIAS_REPRESENTATION_INFO_EXT, nullptr, s.representation, s.exact};
      const VkDepthBiasInfoEXT bias{VK_STRUCTURE_TYPE_DEPTH_BIAS_INFO_EXT, &as, s.constant, s.clamp, s.slope};
      set_bias(c, &bias);
      const VkDepthClampRangeEXT range{s.least, s.most};
      set_range(c, s.user ? VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT : VK_DEPTH_CLAMP_MODE_VIEWPORT_RANGE_EXT, s.user ? &range : nullptr);
    }
    CmdDraw(c, 3, 1, 0, 0);
    end_rendering(c);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    CmdCopyImageToBuffer(c, depth.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
    run(c);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
    std::vector<double> row(kSide_px);
    for (uint32_t x = 0; x < kSide_px; ++x)
      row[x] = s.format == VK_FORMAT_D16_UNORM ? reinterpret_cast<const uint16_t*>(out.data)[x] / 65535.0
                                               : double{reinterpret_cast<const float*>(out.data)[x]};
    DestroyPipeline(device, made, nullptr);
    destroy(depth);
    return row;
  }
};

void test_clamp() {
  Scene s;
  for (const bool dynamic : {false, true})
    for (const VkFormat format : {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM})
      for (const bool user : {false, true}) {
        State state;
        state.dynamic = dynamic, state.user = user, state.format = format;
        state.least = 0.125, state.most = 0.625;
        state.viewport.minDepth = 0.25, state.viewport.maxDepth = 0.75;
        const std::vector<double> row = s.draw(state);
        const double lo = user ? 0.125 : 0.25, hi = user ? 0.625 : 0.75;
        for (uint32_t x = 0; x < kSide_px; ++x) {
          const double ndc = (x + 0.5) / kSide_px * 2 - 1 + 0.5, window = 0.25 + ndc * 0.5, want = std::clamp(window, lo, hi);
          CHECK(std::fabs(row[x] - want) < 2e-5, "x %u: %g, not %g", x, row[x], want);
        }
        CHECK(std::fabs(row.front() - std::clamp(0.25 + (0.5 / kSide_px * 2 - 0.5) * 0.5, lo, hi)) < 2e-5);
      }
}

void test_bias() {
  Scene s;
  using R = VkDepthBiasRepresentationEXT;
  constexpr R kFormat = VK_DEPTH_BIAS_REPRESENTATION_LEAST_REPRESENTABLE_VALUE_FORMAT_EXT, kFloat = VK_DEPTH_BIAS_REPRESENTATION_FLOAT_EXT,
              kUnorm = VK_DEPTH_BIAS_REPRESENTATION_LEAST_REPRESENTABLE_VALUE_FORCE_UNORM_EXT;
  const struct {
    R representation;
    VkFormat format;
    float constant, clamp;
    double want;
  } cases[] = {
      {kFormat, VK_FORMAT_D32_SFLOAT, 64, 0, 0.25 + 64 * 0x1p-25},
      {kUnorm, VK_FORMAT_D32_SFLOAT, 64, 0, 0.25 + 64 * 0x1p-24},
      {kFloat, VK_FORMAT_D32_SFLOAT, 0.125, 0, 0.375},
      {kFloat, VK_FORMAT_D32_SFLOAT, -0.125, 0, 0.125},
      {kFloat, VK_FORMAT_D32_SFLOAT, 0.5, 0.0625, 0.3125},
      {kFormat, VK_FORMAT_D16_UNORM, 256, 0, 0.25 + 256 * 0x1p-16},
      {kUnorm, VK_FORMAT_D16_UNORM, 256, 0, 0.25 + 256 * 0x1p-16},
      {kFloat, VK_FORMAT_D16_UNORM, 0.125, 0, 0.375},
  };
  for (const bool dynamic : {false, true})
    for (const bool exact : {false, true})
      for (const auto& one : cases) {
        State state;
        state.dynamic = dynamic, state.exact = exact, state.format = one.format, state.sloped = 0, state.depth = 0.25;
        state.representation = one.representation, state.constant = one.constant, state.clamp = one.clamp;
        const double got = s.draw(state)[5], slack = one.format == VK_FORMAT_D16_UNORM ? 1.0 / 65535 : 0;
        CHECK(std::fabs(got - one.want) <= slack, "representation %d, constant %g: %.9g, not %.9g", static_cast<int>(one.representation),
              static_cast<double>(one.constant), got, one.want);
      }
}

}  // namespace

int main() {
  test_clamp();
  test_bias();
  return test::finish("test_vulkan_depth_control");
}
