// tests/test_vulkan_input_indices.cpp -- attachments that a subpass names as inputs more than once: colours, depth and stencil at several
// input_attachment_index, in arrays, in one tile pass and in two; recorded in captures. Oracle: the closed form of what is drawn.
#include <unistd.h>

#include <array>
#include <cstring>

#include "icd/objects.hpp"
#include "tilegpu/capture.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 20;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr VkFormat kColor = VK_FORMAT_R32_UINT, kDepth = VK_FORMAT_D32_SFLOAT_S8_UINT;

const char* const kWhole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0.5, 1); })";
const char* const kFirst = R"(#version 450
layout(location = 0) out uint o; void main() { o = 3 + uint(gl_FragCoord.x); })";
// Indices: 0 and 1 the colour, 2 the depth, 3 both aspects, 4 the stencil, 5 the colour.
const char* const kSecond = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput colors[2];
layout(input_attachment_index = 2, set = 0, binding = 1) uniform subpassInput depth;
layout(input_attachment_index = 3, set = 0, binding = 2) uniform subpassInput depth_too;
layout(input_attachment_index = 3, set = 0, binding = 3) uniform usubpassInput stencil_too;
layout(input_attachment_index = 4, set = 0, binding = 4) uniform usubpassInput stencil;
layout(input_attachment_index = 5, set = 0, binding = 5) uniform usubpassInput color;
layout(location = 0) out uint o;
void main() {
  const uint chosen = uint(gl_FragCoord.y) & 1u;
  o = subpassLoad(colors[0]).x + 100 * subpassLoad(colors[1]).x + 10000 * subpassLoad(color).x + 1000000 * subpassLoad(colors[chosen]).x;
  o += subpassLoad(depth).x == 0.5 && subpassLoad(depth_too).x == 0.5 ? 100000000 : 0;
  o += subpassLoad(stencil).x == 77 && subpassLoad(stencil_too).x == 77 ? 200000000 : 0;
})";

struct Scene : Program {
  PFN_vkCreateRenderPass2 create_pass = nullptr;
  VkDescriptorSetLayout sets = nullptr;
  VkPipelineLayout layout = nullptr;
  MappedBuffer out{};
  BoundImage first{}, depth{}, second{};

  Scene() {
    remake_device({"VK_KHR_create_renderpass2"}, nullptr);
    load(create_pass, "vkCreateRenderPass2");
    const auto input = [](uint32_t i, uint32_t count) {
      return VkDescriptorSetLayoutBinding{i, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, count, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
    };
    sets = set_layout({input(0, 2), input(1, 1), input(2, 1), input(3, 1), input(4, 1), input(5, 1)});
    layout = pipeline_layout({sets});
    out = buffer(size_t{kSide_px} * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    constexpr VkImageUsageFlags kColorUse =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    first = image(kColor, kSide_px, kSide_px, kColorUse), second = image(kColor, kSide_px, kSide_px, kColorUse);
    depth = image(kDepth, kSide_px, kSide_px, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT);
  }

  VkRenderPass pass(bool by_region) {
    VkAttachmentDescription2 attachments[3];
    for (VkAttachmentDescription2& a : attachments) {
      a = {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2, nullptr, 0, kColor, VK_SAMPLE_COUNT_1_BIT};
      a.loadOp = a.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    attachments[1].format = kDepth;
    const auto reference = [](uint32_t a, VkImageAspectFlags aspects) {
      return VkAttachmentReference2{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, a, VK_IMAGE_LAYOUT_GENERAL, aspects};
    };
    constexpr VkImageAspectFlags kBoth = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    const VkAttachmentReference2 color = reference(0, 0), tests = reference(1, 0), last = reference(2, 0);
    const VkAttachmentReference2 inputs[] = {reference(0, VK_IMAGE_ASPECT_COLOR_BIT),   reference(0, VK_IMAGE_ASPECT_COLOR_BIT),
                                             reference(1, VK_IMAGE_ASPECT_DEPTH_BIT),   reference(1, kBoth),
                                             reference(1, VK_IMAGE_ASPECT_STENCIL_BIT), reference(0, VK_IMAGE_ASPECT_COLOR_BIT)};
    VkSubpassDescription2 subpasses[2] = {{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2}, {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2}};
    subpasses[0].colorAttachmentCount = subpasses[1].colorAttachmentCount = 1;
    subpasses[0].pColorAttachments = &color, subpasses[0].pDepthStencilAttachment = &tests;
    subpasses[1].pColorAttachments = &last, subpasses[1].inputAttachmentCount = 6, subpasses[1].pInputAttachments = inputs;
    const VkPipelineStageFlags tested = VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkSubpassDependency2 dependency{VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
                                          nullptr,
                                          0,
                                          1,
                                          tested,
                                          VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                          VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                                          VK_ACCESS_INPUT_ATTACHMENT_READ_BIT,
                                          by_region ? VkDependencyFlags{VK_DEPENDENCY_BY_REGION_BIT} : 0,
                                          0};
    const VkRenderPassCreateInfo2 info{
        VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2, nullptr, 0, 3, attachments, 2, subpasses, 1, &dependency};
    VkRenderPass out = nullptr;
    CHECK(create_pass(device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }
  VkPipeline pipeline(const char* fragment, VkRenderPass pass, uint32_t subpass) {
    return make_pipeline(*this, kWhole, fragment, layout, pass, subpass, [&](VkGraphicsPipelineCreateInfo& info) {
      auto* tests = const_cast<VkPipelineDepthStencilStateCreateInfo*>(info.pDepthStencilState);
      tests->depthTestEnable = tests->depthWriteEnable = tests->stencilTestEnable = VK_TRUE;
      tests->depthCompareOp = VK_COMPARE_OP_ALWAYS;
      tests->front = tests->back = {VK_STENCIL_OP_KEEP, VK_STENCIL_OP_REPLACE, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS, 255, 255, 77};
    });
  }
  VkDescriptorSet inputs() {
    const VkDescriptorSet set = descriptor_set(sets);
    const VkDescriptorImageInfo color{nullptr, first.view, VK_IMAGE_LAYOUT_GENERAL}, tests{nullptr, depth.view, VK_IMAGE_LAYOUT_GENERAL};
    const std::array<VkDescriptorImageInfo, 2> colors = {color, color};
    for (uint32_t i = 0; i < 6; ++i) {
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, i, 0, i ? 1U : 2U,
                                 VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT};
      write.pImageInfo = i == 0 ? colors.data() : i == 5 ? &color : &tests;
      UpdateDescriptorSets(device, 1, &write, 0, nullptr);
    }
    return set;
  }
};

uint32_t expected(uint32_t x) { return (3 + x) * 1010101 + 300000000; }

void check_replayed(const Scene& s, VkCommandBuffer c) {
  char name[] = "/tmp/tilegpu_inputs_XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  close(file);
  CHECK(save_capture(s.device->core, {c->core}, name));
  auto device = Device::create({.threads = 2, .cache_dir = "off"});
  auto loaded = load_capture(*device, name);
  if (CHECK_MESSAGE(loaded, loaded ? "" : loaded.error().message)) {
    CHECK((*device)->submit_and_wait({loaded->command_buffers, {}}, {}));
    uint32_t corner;
    bool found = false;
    for (const Ptr<ImageView>& view : loaded->stored) {
      if (view->info().format != kColor) continue;
      std::memcpy(&corner, view->image()->data(), 4);
      found |= corner == expected(0);
    }
    CHECK(found);
  }
  unlink(name);
}

void test_several_indices(bool by_region) {
  Scene s;
  const VkRenderPass pass = s.pass(by_region);
  const VkPipeline first = s.pipeline(kFirst, pass, 0), second = s.pipeline(kSecond, pass, 1);
  const VkFramebuffer frame = s.framebuffer(pass, {s.first.view, s.depth.view, s.second.view}, kSide_px);
  const VkDescriptorSet set = s.inputs();
  const VkClearValue clears[3]{};
  const VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass, frame, kArea, 3, clears};
  const VkCommandBuffer c = s.begin();
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  s.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  s.CmdSetViewport(c, 0, 1, &viewport), s.CmdSetScissor(c, 0, 1, &kArea);
  s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, first);
  s.CmdDraw(c, 3, 1, 0, 0);
  s.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  s.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, second);
  s.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, s.layout, 0, 1, &set, 0, nullptr);
  s.CmdDraw(c, 3, 1, 0, 0);
  s.CmdEndRenderPass(c);
  s.run_and_read(c, s.second, kSide_px, s.out.buffer);
  for (uint32_t y = 0; y < kSide_px; ++y)
    for (uint32_t x = 0; x < kSide_px; ++x) {
      uint32_t got;
      std::memcpy(&got, s.out.data + (size_t{y} * kSide_px + x) * 4, 4);
      CHECK_MESSAGE(got == expected(x), std::to_string(got) + " at " + std::to_string(x) + ", " + std::to_string(y));
    }
  check_replayed(s, c);
}

}  // namespace

int main() {
  test_several_indices(true);
  test_several_indices(false);
  return test::finish("test_vulkan_input_indices");
}
