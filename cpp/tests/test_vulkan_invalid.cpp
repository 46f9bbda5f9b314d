// tests/test_vulkan_invalid.cpp -- invalid use where a check is cheap: a number that leads nowhere is an error that names it, in a build
// without validation layers, and nothing is read or written there.
#include "base/json.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16;

void render_passes_name_attachments_that_are_there() {
  Program p;
  VkAttachmentDescription color{};
  color.format = VK_FORMAT_R8G8B8A8_UNORM, color.samples = VK_SAMPLE_COUNT_1_BIT;
  const VkAttachmentReference there{0, VK_IMAGE_LAYOUT_GENERAL}, beyond{7, VK_IMAGE_LAYOUT_GENERAL};
  for (int kind = 0; kind < 4; ++kind) {
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1, subpass.pColorAttachments = kind == 0 ? &beyond : &there;
    if (kind == 1) subpass.pResolveAttachments = &beyond;
    if (kind == 2) subpass.inputAttachmentCount = 1, subpass.pInputAttachments = &beyond;
    if (kind == 3) subpass.pDepthStencilAttachment = &beyond;
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = 1, info.pAttachments = &color, info.subpassCount = 1, info.pSubpasses = &subpass;
    VkRenderPass out = nullptr;
    CHECK(p.CreateRenderPass(p.device, &info, nullptr, &out) != VK_SUCCESS && !out);
    CHECK(p.heard("subpass 0 names attachment 7; there are 1"));
    p.said.clear();
  }
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  VkRenderPass out = nullptr;
  CHECK(p.CreateRenderPass(p.device, &info, nullptr, &out) != VK_SUCCESS);
  CHECK(p.heard("subpassCount is 0"));
}

void framebuffers_have_a_view_for_each_attachment() {
  Program p;
  const VkRenderPass pass = p.one_subpass();
  const VkFramebuffer empty = p.framebuffer(pass, {}, kSide_px);
  const VkCommandBuffer c = p.begin();
  const VkClearValue clear{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = empty, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  const VkClearAttachment attachment{VK_IMAGE_ASPECT_COLOR_BIT, 3, {}};
  const VkClearRect rect{{{0, 0}, {4, 4}}, 0, 1};
  p.CmdClearAttachments(c, 1, &attachment, 1, &rect);
  p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdEndRenderPass(c);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
  CHECK(p.heard("the framebuffer has no view for attachment 0 of 1") && p.heard("there is no next subpass"));
  p.DestroyFramebuffer(p.device, empty, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
}

void subpasses_are_of_the_render_pass() {
  Program p;
  const VkRenderPass pass = p.one_subpass();
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                       1};
  VkCommandBuffer secondary = nullptr;
  CHECK(p.AllocateCommandBuffers(p.device, &allocate, &secondary) == VK_SUCCESS);
  VkCommandBufferInheritanceInfo inherits{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  inherits.renderPass = pass, inherits.subpass = 9;
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, begin.pInheritanceInfo = &inherits;
  CHECK(p.BeginCommandBuffer(secondary, &begin) != VK_SUCCESS);
  CHECK(p.heard("subpass is 9; the inherited render pass has 1"));
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.renderPass = pass, info.subpass = 9;
  VkPipeline pipeline = nullptr;
  CHECK(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &pipeline) != VK_SUCCESS && !pipeline);
  CHECK(p.heard("pipeline: subpass is 9; the render pass has 1"));
  info.subpass = 0;
  VkPipelineShaderStageCreateInfo stage{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  const uint32_t word = 1;
  const VkSpecializationMapEntry entries[] = {{0, 4, 4}, {1, 0xfffffff0, 4}, {2, 0, SIZE_MAX}};
  stage.stage = VK_SHADER_STAGE_VERTEX_BIT, stage.pName = "main";
  stage.module = p.shader("#version 450\nvoid main() { gl_Position = vec4(0); }", VK_SHADER_STAGE_VERTEX_BIT);
  info.stageCount = 1, info.pStages = &stage;
  for (const VkSpecializationMapEntry& entry : entries) {
    const VkSpecializationInfo data{1, &entry, 4, &word};
    stage.pSpecializationInfo = &data;
    CHECK(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &pipeline) != VK_SUCCESS);
    CHECK(p.heard("lies beyond its 4 bytes of data"));
    p.said.clear();
  }
  const VkSpecializationMapEntry word_of{0, 0, 4};
  for (const VkSpecializationInfo& data : {VkSpecializationInfo{1, &word_of, 4, nullptr}, VkSpecializationInfo{1, nullptr, 4, &word}}) {
    stage.pSpecializationInfo = &data;
    CHECK(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &pipeline) != VK_SUCCESS);
    CHECK(p.heard("pMapEntries or pData is null"));
    p.said.clear();
  }
  // Two that fail: both are tried, or the first alone; handles are null, feedback is there.
  const VkSpecializationInfo beyond{1, &entries[1], 4, &word};
  stage.pSpecializationInfo = &beyond;
  const std::pair<VkPipelineCreateFlags, size_t> asked[] = {{0, 2}, {VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT, 1}};
  for (const auto& [flags, messages] : asked) {
    VkPipelineCreationFeedback told{VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT, 7};
    const VkPipelineCreationFeedbackCreateInfo feedback{VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO, nullptr, &told, 0,
                                                        nullptr};
    info.pNext = &feedback, info.flags = flags;
    const VkGraphicsPipelineCreateInfo two[] = {info, info};
    VkPipeline pipelines[] = {reinterpret_cast<VkPipeline>(1), reinterpret_cast<VkPipeline>(1)};
    CHECK(p.CreateGraphicsPipelines(p.device, nullptr, 2, two, nullptr, pipelines) != VK_SUCCESS);
    CHECK(!pipelines[0] && !pipelines[1] && told.flags == 0 && p.said.size() == messages);
    p.said.clear();
  }
  p.DestroyShaderModule(p.device, stage.module, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
}

void queries_are_of_the_pool() {
  Program p;
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_OCCLUSION, info.queryCount = 2;
  VkQueryPool pool = nullptr;
  CHECK(p.CreateQueryPool(p.device, &info, nullptr, &pool) == VK_SUCCESS);
  uint64_t values[8];
  for (const auto& [first, count] : {std::pair<uint32_t, uint32_t>{2, 1}, {0, 3}, {0xffffffff, 2}, {1, 0xffffffff}}) {
    CHECK(p.GetQueryPoolResults(p.device, pool, first, count, sizeof values, values, 8, VK_QUERY_RESULT_64_BIT) != VK_SUCCESS);
    CHECK(p.heard("; it has 2"));
    p.said.clear();
    const VkCommandBuffer c = p.begin();
    p.CmdResetQueryPool(c, pool, first, count);
    CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
    p.said.clear();
  }
  p.DestroyQueryPool(p.device, pool, nullptr);
}

void dynamic_offsets_are_as_many_as_buffers() {
  Program p;
  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 2, VK_SHADER_STAGE_VERTEX_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = 1, info.pBindings = &binding;
  VkDescriptorSetLayout layout = nullptr;
  CHECK(p.CreateDescriptorSetLayout(p.device, &info, nullptr, &layout) == VK_SUCCESS);
  VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  VkDescriptorPool pool = nullptr;
  CHECK(p.CreateDescriptorPool(p.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool, 1, &layout};
  VkDescriptorSet set = nullptr;
  CHECK(p.AllocateDescriptorSets(p.device, &allocate, &set) == VK_SUCCESS);
  const VkCommandBuffer c = p.begin();
  const uint32_t offset = 0;
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, nullptr, 0, 1, &set, 1, &offset);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("dynamicOffsetCount is less than the sets' dynamic buffers"));
  p.DestroyDescriptorPool(p.device, pool, nullptr);
  p.DestroyDescriptorSetLayout(p.device, layout, nullptr);
}

void pipeline_layouts_end_where_they_must() {
  Program p;
  const VkDescriptorSetLayout empty = p.set_layout({});
  const std::vector<VkDescriptorSetLayout> many(100, empty);
  const VkPushConstantRange around{VK_SHADER_STAGE_VERTEX_BIT, 0x80000000, 0x80000004};  // 4 in 32 bits
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkPipelineLayout layout = nullptr;
  info.setLayoutCount = 100, info.pSetLayouts = many.data();
  CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) != VK_SUCCESS &&
        p.heard("setLayoutCount is 100; maxBoundDescriptorSets is "));
  info.setLayoutCount = 0, info.pushConstantRangeCount = 1, info.pPushConstantRanges = &around;
  CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &layout) != VK_SUCCESS && p.heard("push constants end at byte 4294967300"));
  p.DestroyDescriptorSetLayout(p.device, empty, nullptr);
}

/// Names of programs come into reports.
void json_is_json_whatever_a_name_holds() {
  CHECK(json_text("a\"\\\n\x01z") == "\"a\\\"\\\\\\u000a\\u0001z\"");
  CHECK(json_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
  for (const char* wrong : {"\xff", "\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80"}) {
    const std::string text = json_text(std::string("a") + wrong + "b");
    CHECK_MESSAGE(text.find("\\ufffd") != std::string::npos && text.front() == '"' && text.find('b') != std::string::npos, text);
    for (const char c : text) CHECK(static_cast<unsigned char>(c) < 0x80);
  }
  CHECK(JsonObject().real("ms", 1234.5).json() == "{\"ms\": 1234.500000}");
}

}  // namespace

int main() {
  render_passes_name_attachments_that_are_there();
  framebuffers_have_a_view_for_each_attachment();
  subpasses_are_of_the_render_pass();
  queries_are_of_the_pool();
  dynamic_offsets_are_as_many_as_buffers();
  pipeline_layouts_end_where_they_must();
  json_is_json_whatever_a_name_holds();
  return test::finish("test_vulkan_invalid");
}
