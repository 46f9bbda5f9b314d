// tests/test_vulkan_merge_feedback.cpp -- VK_EXT_subpass_merge_feedback: which subpasses are one tile pass, what kept each apart, and
// passes whose subpasses may not be joined.
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kUnused = VK_ATTACHMENT_UNUSED;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kDepth = VK_FORMAT_D16_UNORM;

struct Subpass {
  std::vector<uint32_t> color, inputs, resolve;
  uint32_t depth = kUnused, view_mask = 0;
  bool apart = false;
};
struct Description {
  std::vector<VkFormat> attachments = std::vector<VkFormat>(4, kColor);
  std::vector<Subpass> subpasses = {{{0}, {}, {}}, {{1}, {0}, {}}};
  VkSampleCountFlagBits samples_of_1 = VK_SAMPLE_COUNT_1_BIT;
  VkDependencyFlags dependency = VK_DEPENDENCY_BY_REGION_BIT;
  bool aliases = false, apart = false;
};

struct Told {
  uint32_t count = 99;
  std::vector<VkRenderPassSubpassFeedbackInfoEXT> subpasses;
};

struct Feedback : Program {
  PFN_vkCreateRenderPass2 create2 = nullptr;

  Feedback() {
    VkPhysicalDeviceSubpassMergeFeedbackFeaturesEXT feature{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBPASS_MERGE_FEEDBACK_FEATURES_EXT, nullptr,
                                                            VK_TRUE};
    remake_device({"VK_KHR_create_renderpass2", "VK_EXT_subpass_merge_feedback"}, &feature);
    load(create2, "vkCreateRenderPass2");
  }

  VkRenderPass make(const Description& d, Told& told) {
    std::vector<VkAttachmentDescription2> attachments;
    for (size_t i = 0; i < d.attachments.size(); ++i) {
      VkAttachmentDescription2& a = attachments.emplace_back(VkAttachmentDescription2{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2});
      a.format = d.attachments[i], a.samples = i == 1 ? d.samples_of_1 : VK_SAMPLE_COUNT_1_BIT;
      a.storeOp = VK_ATTACHMENT_STORE_OP_STORE, a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, a.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
      if (d.aliases) a.flags = VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT;
    }
    const size_t n = d.subpasses.size();
    told.subpasses.assign(n, {});
    std::vector<std::vector<VkAttachmentReference2>> references(4 * n);
    std::vector<VkRenderPassSubpassFeedbackCreateInfoEXT> asked(n);
    std::vector<VkRenderPassCreationControlEXT> controls(n);
    std::vector<VkSubpassDescription2> subpasses(n);
    const auto list = [](const std::vector<uint32_t>& numbers, std::vector<VkAttachmentReference2>& out) {
      for (const uint32_t a : numbers)
        out.push_back({VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, a, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_ASPECT_COLOR_BIT});
      return out.data();
    };
    for (size_t s = 0; s < n; ++s) {
      const Subpass& in = d.subpasses[s];
      controls[s] = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_CONTROL_EXT, nullptr, in.apart};
      asked[s] = {VK_STRUCTURE_TYPE_RENDER_PASS_SUBPASS_FEEDBACK_CREATE_INFO_EXT, &controls[s], &told.subpasses[s]};
      subpasses[s] = {VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2, &asked[s]};
      subpasses[s].viewMask = in.view_mask;
      subpasses[s].colorAttachmentCount = static_cast<uint32_t>(in.color.size());
      subpasses[s].inputAttachmentCount = static_cast<uint32_t>(in.inputs.size());
      subpasses[s].pColorAttachments = list(in.color, references[4 * s]);
      subpasses[s].pInputAttachments = list(in.inputs, references[4 * s + 1]);
      if (!in.resolve.empty()) subpasses[s].pResolveAttachments = list(in.resolve, references[4 * s + 2]);
      if (in.depth != kUnused) subpasses[s].pDepthStencilAttachment = list({in.depth}, references[4 * s + 3]);
    }
    std::vector<VkSubpassDependency2> dependencies;
    for (uint32_t s = 1; s < n; ++s)
      dependencies.push_back({VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2, nullptr, s - 1, s, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                              VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                              VK_ACCESS_INPUT_ATTACHMENT_READ_BIT, d.dependency, 0});
    VkRenderPassCreationFeedbackInfoEXT of_pass{};
    VkRenderPassCreationControlEXT control{VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_CONTROL_EXT, nullptr, d.apart};
    VkRenderPassCreationFeedbackCreateInfoEXT feedback{VK_STRUCTURE_TYPE_RENDER_PASS_CREATION_FEEDBACK_CREATE_INFO_EXT, &control, &of_pass};
    VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2, &feedback};
    info.attachmentCount = static_cast<uint32_t>(attachments.size()), info.pAttachments = attachments.data();
    info.subpassCount = static_cast<uint32_t>(n), info.pSubpasses = subpasses.data();
    info.dependencyCount = static_cast<uint32_t>(dependencies.size()), info.pDependencies = dependencies.data();
    VkRenderPass pass = nullptr;
    CHECK(create2(device, &info, nullptr, &pass) == VK_SUCCESS);
    told.count = of_pass.postMergeSubpassCount;
    return pass;
  }

  /// The last subpass's status and words; the pass has `count` tile passes.
  void expect(const Description& d, VkSubpassMergeStatusEXT status, uint32_t count, const char* words) {
    Told told;
    const VkRenderPass pass = make(d, told);
    const auto& last = told.subpasses.back();
    CHECK_MESSAGE(last.subpassMergeStatus == status, std::to_string(last.subpassMergeStatus) + " " + last.description);
    CHECK_MESSAGE(std::strstr(last.description, words) != nullptr, last.description);
    CHECK(told.count == count && last.postMergeIndex == count - 1 && told.subpasses[0].postMergeIndex == 0);
    DestroyRenderPass(device, pass, nullptr);
  }
};

#define STATUS(name) VK_SUBPASS_MERGE_STATUS_##name##_EXT

void reasons(Feedback& p) {
  Description d;
  p.expect(d, STATUS(MERGED), 1, "in the tile pass");
  d.subpasses[1].apart = true;
  p.expect(d, STATUS(DISALLOWED), 2, "disallowMerging");
  d = {.apart = true};
  p.expect(d, STATUS(DISALLOWED), 2, "disallowMerging");
  d = {.subpasses = {{{0}, {}, {}}}};
  p.expect(d, STATUS(NOT_MERGED_SINGLE_SUBPASS), 1, "no other subpass");
  d = {.subpasses = {{{0}, {}, {}}, {{1}, {}, {}}}, .samples_of_1 = VK_SAMPLE_COUNT_4_BIT};
  p.expect(d, STATUS(NOT_MERGED_SAMPLES_MISMATCH), 2, "numbers of samples");
  d = {};
  d.subpasses[0].view_mask = 1, d.subpasses[1].view_mask = 3;
  p.expect(d, STATUS(NOT_MERGED_VIEWS_MISMATCH), 2, "viewMask");
  p.expect({.aliases = true}, STATUS(NOT_MERGED_ALIASING), 2, "share memory");
  p.expect({.dependency = 0}, STATUS(NOT_MERGED_DEPENDENCIES), 2, "not by region");
  d = {.attachments = std::vector<VkFormat>(12, kColor)};
  d.subpasses = {{{0, 1, 2, 3, 4, 5}, {}, {}}, {{6, 7, 8}, {0}, {}}};
  p.expect(d, STATUS(NOT_MERGED_TOO_MANY_ATTACHMENTS), 2, "9 colour and input attachments");
  d = {.attachments = {kColor, kColor, kDepth, kDepth}};
  d.subpasses[0].depth = 2, d.subpasses[1].depth = 3;
  p.expect(d, STATUS(NOT_MERGED_DEPTH_STENCIL_COUNT), 2, "a tile has one of them");
  d = {.subpasses = {{{1}, {}, {0}}, {{2}, {0}, {}}}, .samples_of_1 = VK_SAMPLE_COUNT_4_BIT};
  p.expect(d, STATUS(NOT_MERGED_RESOLVE_ATTACHMENT_REUSE), 2, "resolved to");
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
}

constexpr uint32_t kSide_px = 8;

// The second subpass reads what the first one wrote.
std::vector<uint8_t> picture(Feedback& p, const Description& d) {
  Told told;
  const VkRenderPass pass = p.make(d, told);
  const VkImageUsageFlags usage =
      VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  std::vector<Program::BoundImage> images;
  std::vector<VkImageView> views;
  for (size_t i = 0; i < d.attachments.size(); ++i) {
    images.push_back(p.image(kColor, kSide_px, kSide_px, usage));
    views.push_back(images.back().view);
  }
  const VkFramebuffer framebuffer = p.framebuffer(pass, views, kSide_px);
  const VkDescriptorSetLayout set_layout =
      p.set_layout({{0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
  const VkPipelineLayout layout = p.pipeline_layout({set_layout});
  const VkDescriptorSet set = p.descriptor_set(set_layout);
  const VkDescriptorImageInfo view{nullptr, views[0], VK_IMAGE_LAYOUT_GENERAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, 1, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, &view};
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  const char* const whole = R"(#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
  const VkPipeline first = make_pipeline(p, whole, R"(#version 450
layout(location = 0) out vec4 o; void main() { o = gl_FragCoord / 8; })",
                                         layout, pass, 0);
  const VkPipeline second = make_pipeline(p, whole, R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput i;
layout(location = 0) out vec4 o; void main() { o = subpassLoad(i).yxwz; })",
                                          layout, pass, 1);
  const auto out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const std::vector<VkClearValue> clears(d.attachments.size());
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, nullptr, pass, framebuffer, {{0, 0}, {kSide_px, kSide_px}}};
  begin.clearValueCount = static_cast<uint32_t>(clears.size()), begin.pClearValues = clears.data();
  const VkCommandBuffer c = p.begin();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &begin.renderArea);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, first);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, second);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndRenderPass(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, images[1].image, VK_IMAGE_LAYOUT_GENERAL, out.buffer, 1, &region);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  return {out.data, out.data + kSide_px * kSide_px * 4};
}

}  // namespace

int main() {
  Feedback p;
  reasons(p);
  Description joined, apart;
  joined.attachments.resize(2), apart.attachments.resize(2), apart.apart = true;
  const auto a = picture(p, joined), b = picture(p, apart);
  CHECK(a == b && a[0] == 16 && a[4] == 16 && a[5] == 48);  // y, x: half a pixel, one and a half
  return finish("test_vulkan_merge_feedback");
}
