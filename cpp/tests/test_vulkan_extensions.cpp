// tests/test_vulkan_extensions.cpp -- the same picture by the plain way of Vulkan 1.0 and by extensions: the same bytes. Dynamic rendering,
// imageless framebuffers, renderpass2, pushed descriptors, inline uniform blocks, descriptor indexing, all state dynamic, scalar layouts.
#include <functional>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 24;
constexpr size_t kPicture_B = size_t{kSide_px} * kSide_px * 4;
constexpr VkClearValue kClear = {{{0.25F, 0.5F, 0.75F, 1}}};
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};

const char* const kVertex = R"(#version 450
layout(location = 0) in vec2 at; layout(location = 1) in vec4 tint; layout(location = 0) out vec4 v;
void main() { gl_Position = vec4(at, 0.5, 1); v = tint; })";
const char* const kFragment = R"(#version 450
layout(location = 0) in vec4 v; layout(location = 0) out vec4 o; void main() { o = v; })";

struct Vertex {
  float at[2];
  float tint[4];
};
constexpr Vertex kTriangles[] = {{{-1, -1}, {1, 0, 0, 0.5F}}, {{1, -1}, {0, 1, 0, 0.5F}}, {{-1, 1}, {0, 0, 1, 0.5F}},
                                 {{1, 1}, {1, 1, 0, 0.7F}},   {{1, -1}, {0, 1, 1, 0.7F}}, {{-1, 0.5F}, {1, 0, 1, 0.7F}}};

using Pipelines = VkGraphicsPipelineCreateInfo;

/// What all ways of drawing share.
struct Scene {
  Program p;
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  PFN_vkCreateRenderPass2 create_render_pass2 = nullptr;
  PFN_vkCmdBeginRenderPass2 begin_render_pass2 = nullptr;
  PFN_vkCmdEndRenderPass2 end_render_pass2 = nullptr;
  VkRenderPass pass = nullptr;
  Program::BoundImage target{};
  Program::MappedBuffer out{}, vertices{};

  Scene() {
    p.load(begin_rendering, "vkCmdBeginRendering"), p.load(end_rendering, "vkCmdEndRendering");
    p.load(create_render_pass2, "vkCreateRenderPass2"), p.load(begin_render_pass2, "vkCmdBeginRenderPass2");
    p.load(end_render_pass2, "vkCmdEndRenderPass2");
    pass = p.one_subpass();
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    out = p.buffer(kPicture_B, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    vertices = p.buffer(sizeof kTriangles, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    std::memcpy(vertices.data, kTriangles, sizeof kTriangles);
  }

  VkPipelineLayout layout(const std::vector<VkDescriptorSetLayout>& sets = {}) {
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = static_cast<uint32_t>(sets.size()), info.pSetLayouts = sets.data();
    VkPipelineLayout made = nullptr;
    CHECK(p.CreatePipelineLayout(p.device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }

  /// Two triangles that blend; `change` has the last word.
  VkPipeline pipeline(VkPipelineLayout layout, const char* fragment, const std::function<void(Pipelines&)>& change = [](Pipelines&) {}) {
    VkPipelineShaderStageCreateInfo stages[2] = {{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO},
                                                 {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO}};
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT, stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[0].module = p.shader(kVertex, stages[0].stage), stages[1].module = p.shader(fragment, stages[1].stage);
    stages[0].pName = stages[1].pName = "main";
    const VkVertexInputBindingDescription binding{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attributes[] = {{0, 0, VK_FORMAT_R32G32_SFLOAT, 0}, {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 8}};
    VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    input.vertexBindingDescriptionCount = 1, input.pVertexBindingDescriptions = &binding;
    input.vertexAttributeDescriptionCount = 2, input.pVertexAttributeDescriptions = attributes;
    VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    VkPipelineViewportStateCreateInfo area{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    area.viewportCount = area.scissorCount = 1, area.pViewports = &viewport, area.pScissors = &kArea;
    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    const VkPipelineColorBlendAttachmentState blend{VK_TRUE,
                                                    VK_BLEND_FACTOR_SRC_ALPHA,
                                                    VK_BLEND_FACTOR_ONE,
                                                    VK_BLEND_OP_ADD,
                                                    VK_BLEND_FACTOR_ONE,
                                                    VK_BLEND_FACTOR_ZERO,
                                                    VK_BLEND_OP_ADD,
                                                    0xb};
    VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = 1, blending.pAttachments = &blend;
    Pipelines info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.stageCount = 2, info.pStages = stages, info.pVertexInputState = &input, info.pInputAssemblyState = &assembly;
    info.pViewportState = &area, info.pRasterizationState = &raster, info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth, info.pColorBlendState = &blending, info.layout = layout, info.renderPass = pass;
    change(info);
    VkPipeline made = nullptr;
    CHECK_MESSAGE(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &made) == VK_SUCCESS,
                  p.said.empty() ? "" : p.said.back());
    for (const auto& stage : stages) p.DestroyShaderModule(p.device, stage.module, nullptr);
    return made;
  }

  void draw(VkCommandBuffer c, VkPipeline with) {
    const VkDeviceSize zero = 0;
    if (with) p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
    p.CmdBindVertexBuffers(c, 0, 1, &vertices.buffer, &zero);
    p.CmdDraw(c, 6, 1, 0, 0);
  }

  using Body = std::function<void(VkCommandBuffer)>;
  std::vector<uint8_t> submitted(VkCommandBuffer c) {
    p.run_and_read(c, target, kSide_px, out.buffer);
    return {out.data, out.data + kPicture_B};
  }
  /// In the render pass of one subpass. `before`: between the recording and its submission.
  std::vector<uint8_t> picture(const Body& body, const std::function<void()>& before = [] {}) {
    const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = kArea;
    begin.clearValueCount = 1, begin.pClearValues = &kClear;
    const VkCommandBuffer c = p.begin();
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    body(c);
    p.CmdEndRenderPass(c);
    before();
    auto bytes = submitted(c);
    p.DestroyFramebuffer(p.device, framebuffer, nullptr);
    return bytes;
  }
  std::vector<uint8_t> plain(const char* fragment = kFragment) {
    const VkPipeline with = pipeline(layout(), fragment);
    auto bytes = picture([&](VkCommandBuffer c) { draw(c, with); });
    CHECK(bytes[0] != 0x40 || bytes[1] != 0x80);  // something was drawn
    p.DestroyPipeline(p.device, with, nullptr);
    return bytes;
  }
};

void passes_of_other_makes() {
  Scene s;
  Program& p = s.p;
  const auto want = s.plain();
  const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
  {
    VkPipelineRenderingCreateInfo formats{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    formats.colorAttachmentCount = 1, formats.pColorAttachmentFormats = &format;
    const VkPipeline with = s.pipeline(s.layout(), kFragment, [&](Pipelines& info) { info.pNext = &formats, info.renderPass = nullptr; });
    VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    color.imageView = s.target.view, color.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE, color.clearValue = kClear;
    VkEvent event = nullptr;
    const VkEventCreateInfo event_info{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkQueryPool stamps = nullptr;
    VkQueryPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    pool_info.queryType = VK_QUERY_TYPE_TIMESTAMP, pool_info.queryCount = 1;
    CHECK(p.CreateEvent(p.device, &event_info, nullptr, &event) == VK_SUCCESS && p.SetEvent(p.device, event) == VK_SUCCESS);
    CHECK(p.CreateQueryPool(p.device, &pool_info, nullptr, &stamps) == VK_SUCCESS);
    for (const bool suspends : {false, true}) {
      VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
      info.renderArea = kArea, info.layerCount = 1, info.colorAttachmentCount = 1, info.pColorAttachments = &color;
      const VkCommandBuffer c = p.begin();
      info.flags = suspends ? VK_RENDERING_SUSPENDING_BIT : 0;
      s.begin_rendering(c, &info);
      if (!suspends) s.draw(c, with);
      p.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, 0);
      s.end_rendering(c);
      if (suspends) {
        info.flags = VK_RENDERING_RESUMING_BIT;
        s.begin_rendering(c, &info);
        s.draw(c, with);
        p.CmdWaitEvents(c, 1, &event, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, 0, nullptr, 0, nullptr, 0,
                        nullptr);
        s.end_rendering(c);
      }
      CHECK(s.submitted(c) == want);
    }
    p.DestroyEvent(p.device, event, nullptr), p.DestroyQueryPool(p.device, stamps, nullptr);
  }
  const VkPipeline with = s.pipeline(s.layout(), kFragment);
  VkFramebufferAttachmentImageInfo image{VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO};
  image.width = image.height = kSide_px, image.layerCount = 1, image.viewFormatCount = 1, image.pViewFormats = &format;
  const VkFramebufferAttachmentsCreateInfo images{VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO, nullptr, 1, &image};
  VkFramebufferCreateInfo imageless{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO, &images, VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT};
  imageless.renderPass = s.pass, imageless.attachmentCount = 1;
  imageless.width = imageless.height = kSide_px, imageless.layers = 1;
  VkFramebuffer framebuffer = nullptr;
  CHECK(p.CreateFramebuffer(p.device, &imageless, nullptr, &framebuffer) == VK_SUCCESS);
  VkRenderPassAttachmentBeginInfo views{VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO, nullptr, 1, &s.target.view};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, &views};
  begin.renderPass = s.pass, begin.framebuffer = framebuffer, begin.renderArea = kArea, begin.clearValueCount = 1;
  begin.pClearValues = &kClear;
  VkCommandBuffer c = p.begin();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  s.draw(c, with);
  p.CmdEndRenderPass(c);
  CHECK(s.submitted(c) == want);

  VkAttachmentDescription2 color{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
  color.format = format, color.samples = VK_SAMPLE_COUNT_1_BIT, color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  color.storeOp = VK_ATTACHMENT_STORE_OP_STORE, color.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  VkAttachmentReference2 reference{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2};
  reference.layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  VkSubpassDescription2 subpass{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
  subpass.colorAttachmentCount = 1, subpass.pColorAttachments = &reference;
  VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = 1, info.pAttachments = &color, info.subpassCount = 1, info.pSubpasses = &subpass;
  VkRenderPass pass2 = nullptr;
  CHECK(s.create_render_pass2(p.device, &info, nullptr, &pass2) == VK_SUCCESS);
  begin.renderPass = pass2;
  const VkSubpassBeginInfo begins{VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
  const VkSubpassEndInfo ends{VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
  c = p.begin();
  s.begin_render_pass2(c, &begin, &begins);
  s.draw(c, with);
  s.end_render_pass2(c, &ends);
  CHECK(s.submitted(c) == want);
}

/// Where colours come from: the shader's constants (`want`), or descriptors with the same numbers.
struct OtherDescriptors {
  static constexpr float kColor[] = {0.5F, 0.25F, 1, 0.75F};
  static constexpr const char* kFragment = R"(#version 450
layout(set = 0, binding = 0) uniform B { vec4 color; }; layout(location = 0) out vec4 o; void main() { o = color; })";

  Scene s;
  Program& p = s.p;
  const std::vector<uint8_t> want = s.plain("#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0.5, 0.25, 1, 0.75); }");
  const Program::MappedBuffer buffer = p.buffer(4 * 256, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
  const VkDescriptorBufferInfo at{buffer.buffer, 512, 16};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  VkDescriptorPool pool = nullptr;

  OtherDescriptors() {
    std::memcpy(buffer.data + 512, kColor, sizeof kColor);
    write.descriptorCount = 1, write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, write.pBufferInfo = &at;
    const VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    CHECK(p.CreateDescriptorPool(p.device, &info, nullptr, &pool) == VK_SUCCESS);
  }

  VkDescriptorSetLayout set_layout(VkDescriptorType type, uint32_t count, VkDescriptorSetLayoutCreateFlags flags,
                                   VkDescriptorBindingFlags of) {
    const VkDescriptorSetLayoutBinding binding{0, type, count, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
    const VkDescriptorSetLayoutBindingFlagsCreateInfo binding_flags{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
                                                                    nullptr, 1, &of};
    const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &binding_flags, flags, 1, &binding};
    VkDescriptorSetLayout made = nullptr;
    CHECK(p.CreateDescriptorSetLayout(p.device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }
  VkDescriptorSet set_of(VkDescriptorSetLayout of, uint32_t variable) {
    const VkDescriptorSetVariableDescriptorCountAllocateInfo counts{
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO, nullptr, 1, &variable};
    const VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, variable ? &counts : nullptr, pool, 1, &of};
    VkDescriptorSet made = nullptr;
    CHECK(p.AllocateDescriptorSets(p.device, &allocate, &made) == VK_SUCCESS);
    return made;
  }

  void pushed_ones() {
    PFN_vkCmdPushDescriptorSetKHR push = nullptr;
    PFN_vkCmdPushDescriptorSetWithTemplateKHR push_template = nullptr;
    p.load(push, "vkCmdPushDescriptorSetKHR"), p.load(push_template, "vkCmdPushDescriptorSetWithTemplateKHR");
    const auto pushed = set_layout(write.descriptorType, 1, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, 0);
    const VkPipelineLayout layout = s.layout({pushed});
    const VkPipeline with = s.pipeline(layout, kFragment);
    CHECK(s.picture([&](VkCommandBuffer c) {
      push(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &write);
      s.draw(c, with);
    }) == want);
    const VkDescriptorUpdateTemplateEntry entry{0, 0, 1, write.descriptorType, 8, sizeof at};
    VkDescriptorUpdateTemplateCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
    info.descriptorUpdateEntryCount = 1, info.pDescriptorUpdateEntries = &entry;
    info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR, info.pipelineLayout = layout;
    VkDescriptorUpdateTemplate made = nullptr;
    CHECK(p.CreateDescriptorUpdateTemplate(p.device, &info, nullptr, &made) == VK_SUCCESS);
    struct {
      uint64_t before;
      VkDescriptorBufferInfo buffer;
    } const data{7, at};
    CHECK(s.picture([&](VkCommandBuffer c) {
      push_template(c, made, layout, 0, &data);
      s.draw(c, with);
    }) == want);
    p.DestroyDescriptorUpdateTemplate(p.device, made, nullptr);
    const VkCommandBuffer c = p.begin();  // a set that the layout has not
    push(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 3, 1, &write);
    CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("set is 3; the layout has 1"));
    p.said.clear();
  }

  void inline_block() {
    const auto block_layout = set_layout(VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 16, 0, 0);
    const VkPipelineLayout layout = s.layout({block_layout});
    const VkDescriptorSet set = set_of(block_layout, 0);
    const VkWriteDescriptorSetInlineUniformBlock block{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK, nullptr, 16, kColor};
    VkWriteDescriptorSet inline_write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, &block, set, 0, 0, 16};
    inline_write.descriptorType = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
    p.UpdateDescriptorSets(p.device, 1, &inline_write, 0, nullptr);
    const VkPipeline with = s.pipeline(layout, kFragment);
    CHECK(s.picture([&](VkCommandBuffer c) {
      p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
      s.draw(c, with);
    }) == want);
  }

  // One of eight elements is there, written after the set was bound; the index differs from pixel to pixel as far as the compiler knows.
  void indexed_late() {
    const auto indexed = set_layout(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 8, VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT,
                                    VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
                                        VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT);
    const VkPipelineLayout layout = s.layout({indexed});
    const VkDescriptorSet set = set_of(indexed, 6);
    const VkPipeline with = s.pipeline(layout, R"(#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform B { vec4 color; } b[8]; layout(location = 0) out vec4 o;
void main() { o = b[nonuniformEXT(5 - int(gl_FragCoord.x) / 1000)].color; })");
    CHECK(s.picture(
              [&](VkCommandBuffer c) {
                p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
                s.draw(c, with);
              },
              [&] {
                write.dstSet = set, write.dstArrayElement = 5;
                p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
              }) == want);
    // The same without a length: elements beyond the six are null, and so is what a null write leaves.
    const VkPipeline unbounded = s.pipeline(layout, R"(#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform B { vec4 color; } b[]; layout(location = 0) out vec4 o;
void main() { o = b[nonuniformEXT(5 + 1000 * (int(gl_FragCoord.x) & 1))].color; })");
    const auto drawn_unbounded = [&] {
      return s.picture([&](VkCommandBuffer c) {
        p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
        s.draw(c, unbounded);
      });
    };
    const auto plain_picture = [&](const char* text) {
      const VkPipeline made = s.pipeline(layout, text);
      return s.picture([&](VkCommandBuffer c) { s.draw(c, made); });
    };
    CHECK(drawn_unbounded() == plain_picture(R"(#version 450
layout(location = 0) out vec4 o; void main() { o = (int(gl_FragCoord.x) & 1) != 0 ? vec4(0) : vec4(0.5, 0.25, 1, 0.75); })"));
    const VkDescriptorBufferInfo none{nullptr, 0, VK_WHOLE_SIZE};
    write.pBufferInfo = &none;
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
    CHECK(drawn_unbounded() == plain_picture("#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0); }"));
  }

  // VK_EXT_scalar_block_layout: the vector lies at a multiple of 4.
  void scalar_layout() {
    const float odd[] = {9, 0.5F, 0.25F, 1, 9, 9, 0.75F};
    std::memcpy(buffer.data + 512, odd, sizeof odd);
    const auto one = set_layout(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, 0, 0);
    const VkPipelineLayout layout_of_it = s.layout({one});
    const VkDescriptorBufferInfo all{buffer.buffer, 512, sizeof odd};
    write.dstSet = set_of(one, 0), write.dstArrayElement = 0, write.pBufferInfo = &all;
    p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
    const VkPipeline scalar = s.pipeline(layout_of_it, R"(#version 450
#extension GL_EXT_scalar_block_layout : require
struct Odd { vec3 rgb; float gap[2]; }; layout(location = 0) out vec4 o;
layout(scalar, set = 0, binding = 0) uniform B { float first; Odd odd; float alpha; }; void main() { o = vec4(odd.rgb, alpha); })");
    CHECK(s.picture([&](VkCommandBuffer c) {
      p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_of_it, 0, 1, &write.dstSet, 0, nullptr);
      s.draw(c, scalar);
    }) == want);
  }
};

void descriptors_of_other_makes() {
  OtherDescriptors o;
  o.pushed_ones();
  o.inline_block();
  o.indexed_late();
  o.scalar_layout();
}

// clang-format off
#define FOR_DYNAMIC_COMMANDS(X) \
  X(CmdSetViewportWithCount) X(CmdSetScissorWithCount) X(CmdSetCullMode) X(CmdSetFrontFace) X(CmdSetPrimitiveTopology) \
  X(CmdSetDepthTestEnable) X(CmdSetDepthWriteEnable) X(CmdSetDepthCompareOp) X(CmdSetDepthBoundsTestEnable) X(CmdSetStencilTestEnable) \
  X(CmdSetStencilOp) X(CmdSetRasterizerDiscardEnable) X(CmdSetDepthBiasEnable) X(CmdSetPrimitiveRestartEnable) X(CmdSetLogicOpEXT) \
  X(CmdSetVertexInputEXT) X(CmdSetColorWriteEnableEXT) X(CmdSetDepthClampEnableEXT) X(CmdSetPolygonModeEXT) \
  X(CmdSetRasterizationSamplesEXT) X(CmdSetSampleMaskEXT) X(CmdSetAlphaToCoverageEnableEXT) X(CmdSetAlphaToOneEnableEXT) \
  X(CmdSetLogicOpEnableEXT) X(CmdSetColorBlendEnableEXT) X(CmdSetColorBlendEquationEXT) X(CmdSetColorWriteMaskEXT) \
  X(CmdSetDepthClipEnableEXT) X(CmdSetProvokingVertexModeEXT) X(CmdSetLineStippleEnableEXT) \
  X(CmdSetDepthClipNegativeOneToOneEXT) X(CmdSetRasterizationStreamEXT)
// clang-format on

struct DynamicCommands {
#define MEMBER(name) PFN_vk##name name = nullptr;
  FOR_DYNAMIC_COMMANDS(MEMBER)
#undef MEMBER
  explicit DynamicCommands(Program& p) {
    // Those of 1.3 have the extension's suffix at 1.1.
#define LOAD(name)                                                                                           \
  name = reinterpret_cast<PFN_vk##name>(vk_icdGetInstanceProcAddr(p.instance, "vk" #name));                  \
  if (!name) name = reinterpret_cast<PFN_vk##name>(vk_icdGetInstanceProcAddr(p.instance, "vk" #name "EXT")); \
  CHECK_MESSAGE(name, #name);
    FOR_DYNAMIC_COMMANDS(LOAD)
#undef LOAD
  }
};

constexpr VkDynamicState kAllStates[] = {VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT,
                                         VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT,
                                         VK_DYNAMIC_STATE_CULL_MODE,
                                         VK_DYNAMIC_STATE_FRONT_FACE,
                                         VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY,
                                         VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
                                         VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
                                         VK_DYNAMIC_STATE_DEPTH_COMPARE_OP,
                                         VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE,
                                         VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE,
                                         VK_DYNAMIC_STATE_STENCIL_OP,
                                         VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE,
                                         VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE,
                                         VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE,
                                         VK_DYNAMIC_STATE_LOGIC_OP_EXT,
                                         VK_DYNAMIC_STATE_VERTEX_INPUT_EXT,
                                         VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_POLYGON_MODE_EXT,
                                         VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT,
                                         VK_DYNAMIC_STATE_SAMPLE_MASK_EXT,
                                         VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_ALPHA_TO_ONE_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_LOGIC_OP_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT,
                                         VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT,
                                         VK_DYNAMIC_STATE_DEPTH_CLIP_ENABLE_EXT,
                                         VK_DYNAMIC_STATE_PROVOKING_VERTEX_MODE_EXT,
                                         VK_DYNAMIC_STATE_DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT,
                                         VK_DYNAMIC_STATE_RASTERIZATION_STREAM_EXT};

void set_all(const DynamicCommands& d, VkCommandBuffer c) {
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  d.CmdSetViewportWithCount(c, 1, &viewport), d.CmdSetScissorWithCount(c, 1, &kArea);
  d.CmdSetCullMode(c, VK_CULL_MODE_NONE), d.CmdSetFrontFace(c, VK_FRONT_FACE_COUNTER_CLOCKWISE);
  d.CmdSetPrimitiveTopology(c, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST), d.CmdSetPrimitiveRestartEnable(c, VK_FALSE);
  d.CmdSetDepthTestEnable(c, VK_FALSE), d.CmdSetDepthWriteEnable(c, VK_FALSE), d.CmdSetDepthCompareOp(c, VK_COMPARE_OP_NEVER);
  d.CmdSetDepthBoundsTestEnable(c, VK_FALSE), d.CmdSetStencilTestEnable(c, VK_FALSE);
  d.CmdSetStencilOp(c, VK_STENCIL_FACE_FRONT_AND_BACK, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, VK_STENCIL_OP_KEEP, VK_COMPARE_OP_ALWAYS);
  d.CmdSetRasterizerDiscardEnable(c, VK_FALSE), d.CmdSetDepthBiasEnable(c, VK_FALSE);
  d.CmdSetLogicOpEXT(c, VK_LOGIC_OP_COPY), d.CmdSetLogicOpEnableEXT(c, VK_FALSE);
  VkVertexInputBindingDescription2EXT binding{VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT};
  binding.stride = sizeof(Vertex), binding.divisor = 1;
  VkVertexInputAttributeDescription2EXT attributes[2] = {{VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT},
                                                         {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT}};
  attributes[0].format = VK_FORMAT_R32G32_SFLOAT;
  attributes[1].location = 1, attributes[1].format = VK_FORMAT_R32G32B32A32_SFLOAT, attributes[1].offset = 8;
  d.CmdSetVertexInputEXT(c, 1, &binding, 2, attributes);
  d.CmdSetDepthClampEnableEXT(c, VK_FALSE), d.CmdSetDepthClipEnableEXT(c, VK_TRUE), d.CmdSetPolygonModeEXT(c, VK_POLYGON_MODE_FILL);
  const VkSampleMask mask = ~0U;
  d.CmdSetRasterizationSamplesEXT(c, VK_SAMPLE_COUNT_1_BIT), d.CmdSetSampleMaskEXT(c, VK_SAMPLE_COUNT_1_BIT, &mask);
  d.CmdSetAlphaToCoverageEnableEXT(c, VK_FALSE), d.CmdSetAlphaToOneEnableEXT(c, VK_FALSE);
  d.CmdSetProvokingVertexModeEXT(c, VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT);
  d.CmdSetDepthClipNegativeOneToOneEXT(c, VK_FALSE), d.CmdSetRasterizationStreamEXT(c, 0);
}

void set_colors(const DynamicCommands& d, VkCommandBuffer c, uint32_t first, VkColorComponentFlags mask) {
  const VkBool32 yes = VK_TRUE, all[] = {VK_TRUE, VK_TRUE};
  const VkColorBlendEquationEXT equation{VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE,  VK_BLEND_OP_ADD,
                                         VK_BLEND_FACTOR_ONE,       VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD};
  d.CmdSetColorBlendEnableEXT(c, first, 1, &yes), d.CmdSetColorBlendEquationEXT(c, first, 1, &equation);
  d.CmdSetColorWriteMaskEXT(c, first, 1, &mask), d.CmdSetColorWriteEnableEXT(c, first + 1, all);
}

void make_dynamic(Pipelines& info, const VkPipelineDynamicStateCreateInfo& states) {
  info.pDynamicState = &states;
  info.pVertexInputState = nullptr;
}

void all_state_is_dynamic() {
  Scene s;
  Program& p = s.p;
  const DynamicCommands d(p);
  const auto want = s.plain();
  VkPipelineDynamicStateCreateInfo states{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  states.dynamicStateCount = static_cast<uint32_t>(std::size(kAllStates)), states.pDynamicStates = kAllStates;
  const VkPipeline fixed = s.pipeline(s.layout(), kFragment);
  const VkPipeline with = s.pipeline(s.layout(), kFragment, [&](Pipelines& info) {
    make_dynamic(info, states);
    // All of this must be ignored.
    static const VkPipelineColorBlendAttachmentState none{};
    static VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blending.attachmentCount = 1, blending.pAttachments = &none;
    info.pColorBlendState = &blending;
  });
  // Set before the pass, before and after the pipeline is bound, and with a pipeline between that fixes it.
  for (int order = 0; order < 3; ++order) {
    CHECK(s.picture([&](VkCommandBuffer c) {
      if (order < 2) set_all(d, c), set_colors(d, c, 0, 0xb);
      p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
      if (order == 1) {
        p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, fixed);
        p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
        set_all(d, c);
      }
      if (order == 2) set_all(d, c), set_colors(d, c, 0, 0xb);
      s.draw(c, nullptr);
    }) == want);
  }
  const VkCommandBuffer beyond = p.begin();
  set_colors(d, beyond, 8, 0xf);
  CHECK(p.EndCommandBuffer(beyond) != VK_SUCCESS && p.heard("maxColorAttachments is 8"));
}

/// Depth from -1 on, and the stream that is rasterized, as a pipeline fixes them and as commands set them.
void depth_clip_control_and_streams() {
  Scene s;
  Program& p = s.p;
  const DynamicCommands d(p);
  const char* const depth = R"(#version 450
layout(location = 0) out vec4 color;
void main() { color = vec4(gl_FragCoord.z, 0.25, 0.5, 1.0); })";
  VkPipelineDynamicStateCreateInfo states{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  states.dynamicStateCount = static_cast<uint32_t>(std::size(kAllStates)), states.pDynamicStates = kAllStates;
  VkPipelineViewportDepthClipControlCreateInfoEXT control{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT};
  VkPipelineRasterizationStateStreamCreateInfoEXT stream{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_STREAM_CREATE_INFO_EXT};
  VkPipelineViewportStateCreateInfo viewport{};
  VkPipelineRasterizationStateCreateInfo rasterization{};
  const auto fixed = [&](VkBool32 negative, uint32_t rasterized) {
    control.negativeOneToOne = negative, stream.rasterizationStream = rasterized;
    const VkPipeline with = s.pipeline(s.layout(), depth, [&](Pipelines& info) {
      viewport = *info.pViewportState, viewport.pNext = &control, info.pViewportState = &viewport;
      rasterization = *info.pRasterizationState, rasterization.pNext = &stream, info.pRasterizationState = &rasterization;
    });
    return s.picture([&](VkCommandBuffer c) {
      p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
      s.draw(c, nullptr);
    });
  };
  const VkPipeline with = s.pipeline(s.layout(), depth, [&](Pipelines& info) { make_dynamic(info, states); });
  const auto dynamic = [&](VkBool32 negative, uint32_t rasterized) {
    return s.picture([&](VkCommandBuffer c) {
      set_all(d, c), set_colors(d, c, 0, 0xb);
      d.CmdSetDepthClipNegativeOneToOneEXT(c, negative), d.CmdSetRasterizationStreamEXT(c, rasterized);
      p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, with);
      s.draw(c, nullptr);
    });
  };
  const auto zero = fixed(VK_FALSE, 0), half = fixed(VK_TRUE, 0), nothing = fixed(VK_FALSE, 1);
  CHECK(zero != half && zero != nothing && half != nothing);
  CHECK(dynamic(VK_FALSE, 0) == zero && dynamic(VK_TRUE, 0) == half && dynamic(VK_TRUE, 1) == nothing);
  const VkCommandBuffer c = p.begin();
  d.CmdSetRasterizationStreamEXT(c, 4);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("stream is 4; there are 0 to 3"));
  p.said.clear();
}

/// Two subpasses that are one tile pass, the second with the colours the other way round: state goes by the subpass's locations.
void colors_go_by_location() {
  Scene s;
  Program& p = s.p;
  const DynamicCommands d(p);
  VkAttachmentDescription attachments[2] = {};
  for (auto& a : attachments) {
    a.format = VK_FORMAT_R8G8B8A8_UNORM, a.samples = VK_SAMPLE_COUNT_1_BIT, a.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    a.storeOp = VK_ATTACHMENT_STORE_OP_STORE, a.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  }
  const VkAttachmentReference forth[] = {{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL}, {1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL}};
  const VkAttachmentReference back[] = {forth[1], forth[0]};
  VkSubpassDescription subpasses[2] = {};
  subpasses[0].colorAttachmentCount = subpasses[1].colorAttachmentCount = 2;
  subpasses[0].pColorAttachments = forth, subpasses[1].pColorAttachments = back;
  const VkSubpassDependency region{0,
                                   1,
                                   VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                   VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                   VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                   VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                   VK_DEPENDENCY_BY_REGION_BIT};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 2, info.pAttachments = attachments, info.subpassCount = 2, info.pSubpasses = subpasses;
  info.dependencyCount = 1, info.pDependencies = &region;
  CHECK(p.CreateRenderPass(p.device, &info, nullptr, &s.pass) == VK_SUCCESS);
  const auto other =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const VkFramebuffer framebuffer = p.framebuffer(s.pass, {s.target.view, other.view}, kSide_px);
  const char* const two = R"(#version 450
layout(location = 0) in vec4 v; layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = v; b = v.gbra; })";
  VkPipelineDynamicStateCreateInfo states{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  states.dynamicStateCount = static_cast<uint32_t>(std::size(kAllStates)), states.pDynamicStates = kAllStates;
  VkPipeline fixed[2], dynamic[2];
  const VkColorComponentFlags masks[2][2] = {{0x7, 0xd}, {0xe, 0x3}};  // by subpass and location
  for (uint32_t subpass = 0; subpass < 2; ++subpass) {
    const auto two_colors = [&](Pipelines& pipeline) {
      static VkPipelineColorBlendAttachmentState blends[2];
      static VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
      for (uint32_t k = 0; k < 2; ++k) blends[k] = *pipeline.pColorBlendState->pAttachments, blends[k].colorWriteMask = masks[subpass][k];
      blending.attachmentCount = 2, blending.pAttachments = blends;
      pipeline.pColorBlendState = &blending, pipeline.subpass = subpass;
    };
    fixed[subpass] = s.pipeline(s.layout(), two, two_colors);
    dynamic[subpass] = s.pipeline(s.layout(), two, [&](Pipelines& pipeline) { two_colors(pipeline), make_dynamic(pipeline, states); });
  }
  const auto drawn = [&](const VkPipeline* with, bool sets) {
    const VkClearValue clears[] = {kClear, kClear};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = s.pass, begin.framebuffer = framebuffer, begin.renderArea = kArea;
    begin.clearValueCount = 2, begin.pClearValues = clears;
    const VkCommandBuffer c = p.begin();
    if (sets) set_all(d, c);
    p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    for (uint32_t subpass = 0; subpass < 2; ++subpass) {
      if (subpass) p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
      for (uint32_t k = 0; sets && k < 2; ++k) set_colors(d, c, k, masks[subpass][k]);
      s.draw(c, with[subpass]);
    }
    p.CmdEndRenderPass(c);
    return s.submitted(c);
  };
  const auto want = drawn(fixed, false);
  CHECK(drawn(dynamic, true) == want);
  std::swap(s.target, const_cast<Program::BoundImage&>(other));  // and the other colour
  const auto want_other = drawn(fixed, false);
  CHECK(drawn(dynamic, true) == want_other && want != want_other);
}

}  // namespace

int main() {
  passes_of_other_makes();
  descriptors_of_other_makes();
  all_state_is_dynamic();
  depth_clip_control_and_streams();
  colors_go_by_location();
  return finish("test_vulkan_extensions");
}
