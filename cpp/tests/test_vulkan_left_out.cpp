// tests/test_vulkan_left_out.cpp -- what Vulkan lets a program leave out, or say again: dynamic states that nothing asks for, and such as
// belong to a feature that is off; pushes of samplers that the layout has; a subpass that reads several samples and draws to nothing;
// copies between compressed images of one and two dimensions; how many descriptors a variable count may be, asked with any; resolves
// of one aspect of two. Oracle: pixels and words that are known. Source: Vulkan specification, valid usage of vkCmdDraw and
// vkCmdCopyImage, "Push Descriptor Updates", "Size Compatibility".
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM;
constexpr const char* kVertex = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); })";
constexpr const char* kWhite = R"(#version 450
layout(location = 0) out vec4 o; void main() { o = vec4(1); })";
constexpr const char* kSides = R"(#version 450
layout(location = 0) out vec4 o; void main() { o = gl_FrontFacing ? vec4(1) : vec4(0, 0, 0, 1); })";

void set_area(Program& p, VkCommandBuffer c) {
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
  p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &scissor);
}

void begin_pass(Program& p, VkCommandBuffer c, VkRenderPass pass, VkFramebuffer framebuffer) {
  const VkClearValue clear{};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
}

/// The pass of one colour, drawn with all of these left to the command buffer, and only the cull mode set.
struct Unset : Program {
  PFN_vkCmdSetCullModeEXT cull = nullptr;
  PFN_vkCmdSetFrontFaceEXT face = nullptr;
  PFN_vkCmdSetDepthBoundsTestEnableEXT bounds = nullptr;
  VkRenderPass pass = nullptr;
  VkPipelineLayout layout = nullptr;
  BoundImage color{};
  MappedBuffer out{};
  VkFramebuffer target = nullptr;

  explicit Unset(bool depth_bounds) {
    VkPhysicalDeviceExtendedDynamicStateFeaturesEXT one{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_FEATURES_EXT, nullptr,
                                                        VK_TRUE};
    VkPhysicalDeviceExtendedDynamicState3FeaturesEXT three{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT, &one};
    three.extendedDynamicState3LogicOpEnable = three.extendedDynamicState3RasterizationStream = VK_TRUE;
    three.extendedDynamicState3DepthClampEnable = three.extendedDynamicState3AlphaToOneEnable = VK_TRUE;
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &three};
    features.features.depthBounds = depth_bounds;
    remake_device({"VK_EXT_extended_dynamic_state", "VK_EXT_extended_dynamic_state3"}, &features);
    load(cull, "vkCmdSetCullModeEXT"), load(face, "vkCmdSetFrontFaceEXT"), load(bounds, "vkCmdSetDepthBoundsTestEnableEXT");
    pass = one_subpass(), layout = pipeline_layout({});
    color = image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    target = framebuffer(pass, {color.view}, kSide_px);
    out = buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }
  ~Unset() {
    DestroyFramebuffer(device, target, nullptr), DestroyRenderPass(device, pass, nullptr);
    DestroyPipelineLayout(device, layout, nullptr);
    destroy(color), destroy(out);
  }
  VkPipeline pipeline(const char* fragment) {
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT,
                                     VK_DYNAMIC_STATE_SCISSOR,
                                     VK_DYNAMIC_STATE_CULL_MODE,
                                     VK_DYNAMIC_STATE_FRONT_FACE,
                                     VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE,
                                     VK_DYNAMIC_STATE_LOGIC_OP_ENABLE_EXT,
                                     VK_DYNAMIC_STATE_RASTERIZATION_STREAM_EXT,
                                     VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT,
                                     VK_DYNAMIC_STATE_ALPHA_TO_ONE_ENABLE_EXT};
    const VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0,
                                                   static_cast<uint32_t>(std::size(states)), states};
    return make_pipeline(*this, kVertex, fragment, layout, pass, 0,
                         [&](VkGraphicsPipelineCreateInfo& info) { info.pDynamicState = &dynamic; });
  }
  /// What is wrong; empty: all is white.
  std::string draw(const char* fragment, VkCullModeFlags culled, const std::function<void(VkCommandBuffer)>& set) {
    const VkPipeline made = pipeline(fragment);
    const VkCommandBuffer c = begin();
    begin_pass(*this, c, pass, target);
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, made);
    set_area(*this, c), cull(c, culled), set(c);
    CmdDraw(c, 3, 1, 0, 0);
    CmdEndRenderPass(c);
    std::string wrong;
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    CmdCopyImageToBuffer(c, color.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
    if (EndCommandBuffer(c) == VK_SUCCESS) {
      VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
      info.commandBufferCount = 1, info.pCommandBuffers = &c;
      CHECK(QueueSubmit(queue, 1, &info, nullptr) == VK_SUCCESS && QueueWaitIdle(queue) == VK_SUCCESS);
      for (uint32_t i = 0; i < kSide_px * kSide_px * 4; ++i)
        if (out.data[i] != 255) wrong = "a pixel is not white";
    }
    for (const std::string& text : said) wrong += text;
    said.clear();
    DestroyPipeline(device, made, nullptr);
    return wrong;
  }
};

void states_that_nothing_asks_for() {
  Unset without(false);
  const auto nothing = [](VkCommandBuffer) {};
  const auto says = [](const std::string& wrong, const char* part) { CHECK_MESSAGE(wrong.find(part) != std::string::npos, wrong); };
  CHECK_MESSAGE(without.draw(kWhite, VK_CULL_MODE_NONE, nothing).empty(), "a state is asked for that need not be set");
  says(without.draw(kWhite, VK_CULL_MODE_FRONT_AND_BACK, nothing), "not white");
  says(without.draw(kWhite, VK_CULL_MODE_BACK_BIT, nothing), "leaves VK_DYNAMIC_STATE_FRONT_FACE to");
  says(without.draw(kWhite, VK_CULL_MODE_FRONT_BIT, nothing), "leaves VK_DYNAMIC_STATE_FRONT_FACE to");
  says(without.draw(kSides, VK_CULL_MODE_NONE, nothing), "leaves VK_DYNAMIC_STATE_FRONT_FACE to");
  for (const VkFrontFace given : {VK_FRONT_FACE_CLOCKWISE, VK_FRONT_FACE_COUNTER_CLOCKWISE}) {
    const auto set = [&](VkCommandBuffer c) { without.face(c, given); };
    const bool culled = !without.draw(kWhite, VK_CULL_MODE_BACK_BIT, set).empty();
    CHECK(culled == without.draw(kWhite, VK_CULL_MODE_FRONT_BIT, set).empty());
  }
  Unset with(true);  // the feature is on: Vulkan wants its state
  says(with.draw(kWhite, VK_CULL_MODE_NONE, nothing), "leaves VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE to");
  CHECK(with.draw(kWhite, VK_CULL_MODE_NONE, [&](VkCommandBuffer c) { with.bounds(c, VK_FALSE); }).empty());
}

/// A sampler that the layout has is pushed with the image, as Vulkan wants it; what is given in its place is ignored.
void pushes_of_immutable_samplers() {
  Program p;
  p.remake_device({"VK_KHR_push_descriptor"}, nullptr);
  PFN_vkCmdPushDescriptorSetKHR push = nullptr;
  p.load(push, "vkCmdPushDescriptorSetKHR");
  VkSamplerCreateInfo sampling{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  VkSampler sampler = nullptr;
  CHECK(p.CreateSampler(p.device, &sampling, nullptr, &sampler) == VK_SUCCESS);
  const VkDescriptorSetLayout of_set = p.set_layout({{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
                                                     {1, VK_DESCRIPTOR_TYPE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, &sampler},
                                                     {2, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}},
                                                    VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
  const VkPipelineLayout layout = p.pipeline_layout({of_set});
  const VkPipeline pipeline = p.compute_pipeline(R"(#version 450
layout(set = 0, binding = 0) buffer Out { vec4 seen; };
layout(set = 0, binding = 1) uniform sampler s;
layout(set = 0, binding = 2) uniform texture2D t;
void main() { seen = textureLod(sampler2D(t, s), vec2(0.5), 0); })",
                                                 layout);
  const auto out = p.buffer(16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const auto image = p.image(kColor, 1, 1, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
  PFN_vkCmdClearColorImage clear = nullptr;
  p.load(clear, "vkCmdClearColorImage");
  const VkDescriptorBufferInfo buffer{out.buffer, 0, VK_WHOLE_SIZE};
  const VkDescriptorImageInfo ignored{reinterpret_cast<VkSampler>(uintptr_t{0x10}), nullptr, VK_IMAGE_LAYOUT_UNDEFINED};
  const VkDescriptorImageInfo texture{nullptr, image.view, VK_IMAGE_LAYOUT_GENERAL};
  VkWriteDescriptorSet writes[3] = {
      {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}, {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}, {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}};
  for (uint32_t i = 0; i < 3; ++i) writes[i].dstBinding = i, writes[i].descriptorCount = 1;
  writes[0].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, writes[0].pBufferInfo = &buffer;
  writes[1].descriptorType = VK_DESCRIPTOR_TYPE_SAMPLER, writes[1].pImageInfo = &ignored;
  writes[2].descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, writes[2].pImageInfo = &texture;
  const VkCommandBuffer c = p.begin();
  const VkClearColorValue quarter{{0.2F, 0.4F, 0.6F, 1}};
  const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  clear(c, image.image, VK_IMAGE_LAYOUT_GENERAL, &quarter, 1, &all);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  push(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 3, writes);
  p.CmdDispatch(c, 1, 1, 1);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  const auto* seen = reinterpret_cast<const float*>(out.data);
  CHECK(seen[0] == 51 / 255.0F && seen[1] == 102 / 255.0F && seen[2] == 153 / 255.0F && seen[3] == 1);
  const VkCommandBuffer beyond = p.begin();  // there is one
  const VkDescriptorImageInfo real{sampler, nullptr, VK_IMAGE_LAYOUT_UNDEFINED};
  writes[1].dstArrayElement = 3, writes[1].pImageInfo = &real;
  push(beyond, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, writes + 1);
  CHECK(p.EndCommandBuffer(beyond) != VK_SUCCESS);
  p.DestroyPipeline(p.device, pipeline, nullptr), p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyDescriptorSetLayout(p.device, of_set, nullptr), p.DestroySampler(p.device, sampler, nullptr);
  p.destroy(image), p.destroy(out);
}

/// Four samples of an input, by invocations of one sample each, in a pass that has no other attachment.
void samples_of_an_input_alone() {
  Program p;
  constexpr auto kFour = VK_SAMPLE_COUNT_4_BIT;
  VkAttachmentDescription input{};
  input.format = kColor, input.samples = kFour, input.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD, input.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  input.initialLayout = input.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.inputAttachmentCount = 1, subpass.pInputAttachments = &reference;
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 1, info.pAttachments = &input, info.subpassCount = 1, info.pSubpasses = &subpass;
  VkRenderPass pass = nullptr;
  CHECK(p.CreateRenderPass(p.device, &info, nullptr, &pass) == VK_SUCCESS);
  const VkDescriptorSetLayout of_set = p.set_layout({{0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr},
                                                     {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}});
  const VkPipelineLayout layout = p.pipeline_layout({of_set});
  constexpr const char* kReads = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS i;
layout(set = 0, binding = 1) buffer Out { float seen[]; };
void main() { for (int s = 0; s < 4; s++) seen[(int(gl_FragCoord.y) * 8 + int(gl_FragCoord.x)) * 4 + s] = subpassLoad(i, s).y; })";
  const auto image =
      p.image(kColor, kSide_px, kSide_px,
              VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, false, kFour);
  const auto out = p.buffer(kSide_px * kSide_px * 4 * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  const VkFramebuffer target = p.framebuffer(pass, {image.view}, kSide_px);
  const VkDescriptorSet set = p.descriptor_set(of_set);
  const VkDescriptorImageInfo of_image{nullptr, image.view, VK_IMAGE_LAYOUT_GENERAL};
  const VkDescriptorBufferInfo of_buffer{out.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet writes[2] = {{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}, {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}};
  writes[0].dstSet = writes[1].dstSet = set, writes[0].descriptorCount = writes[1].descriptorCount = writes[1].dstBinding = 1;
  writes[0].descriptorType = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, writes[0].pImageInfo = &of_image;
  writes[1].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, writes[1].pBufferInfo = &of_buffer;
  p.UpdateDescriptorSets(p.device, 2, writes, 0, nullptr);
  PFN_vkCmdClearColorImage clear = nullptr;
  p.load(clear, "vkCmdClearColorImage");
  for (const VkSampleCountFlagBits samples : {VK_SAMPLE_COUNT_1_BIT, kFour}) {
    std::fill(out.data, out.data + kSide_px * kSide_px * 16, uint8_t{0});
    VkPipelineMultisampleStateCreateInfo multisample{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    multisample.rasterizationSamples = samples;
    const VkPipeline pipeline = make_pipeline(p, kVertex, kReads, layout, pass, 0, [&](VkGraphicsPipelineCreateInfo& made) {
      made.pMultisampleState = &multisample, made.pColorBlendState = nullptr;
    });
    const VkCommandBuffer c = p.begin();
    const VkClearColorValue value{{0, 0.4F, 0, 1}};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    clear(c, image.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &all);
    begin_pass(p, c, pass, target);
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
    set_area(p, c);
    p.CmdDraw(c, 3, 1, 0, 0);
    p.CmdEndRenderPass(c);
    p.run(c);
    const auto* seen = reinterpret_cast<const float*>(out.data);
    for (uint32_t i = 0; i < kSide_px * kSide_px * 4; ++i) CHECK(seen[i] == 102 / 255.0F);
    p.DestroyPipeline(p.device, pipeline, nullptr);
  }
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  p.DestroyFramebuffer(p.device, target, nullptr), p.DestroyRenderPass(p.device, pass, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr), p.DestroyDescriptorSetLayout(p.device, of_set, nullptr);
  p.destroy(image), p.destroy(out);
}

/// An image of one dimension is a row of texel blocks: two of them go there and back.
void rows_of_blocks() {
  Program p;
  PFN_vkCmdCopyBufferToImage to_image = nullptr;
  PFN_vkCmdCopyImage copy = nullptr;
  p.load(to_image, "vkCmdCopyBufferToImage"), p.load(copy, "vkCmdCopyImage");
  struct {
    VkImage image = nullptr;
    VkDeviceMemory memory = nullptr;
  } images[2];
  for (uint32_t i = 0; i < 2; ++i) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = i ? VK_IMAGE_TYPE_2D : VK_IMAGE_TYPE_1D, info.format = VK_FORMAT_BC1_RGBA_UNORM_BLOCK;
    info.extent = {8, i ? 8U : 1U, 1}, info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    CHECK(p.CreateImage(p.device, &info, nullptr, &images[i].image) == VK_SUCCESS);
    VkMemoryRequirements needs;
    p.GetImageMemoryRequirements(p.device, images[i].image, &needs);
    images[i].memory = p.allocate(needs.size);
    CHECK(p.BindImageMemory(p.device, images[i].image, images[i].memory, 0) == VK_SUCCESS);
  }
  const VkImage row = images[0].image, area = images[1].image;
  const auto in = p.buffer(32, VK_BUFFER_USAGE_TRANSFER_SRC_BIT), out = p.buffer(48, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (uint8_t i = 0; i < 32; ++i) in.data[i] = static_cast<uint8_t>(i * 7 + 1);
  constexpr auto kGeneral = VK_IMAGE_LAYOUT_GENERAL;
  const VkImageSubresourceLayers part{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  const VkCommandBuffer c = p.begin();
  const VkBufferImageCopy all{0, 0, 0, part, {0, 0, 0}, {8, 8, 1}}, of_row{16, 0, 0, part, {0, 0, 0}, {8, 1, 1}};
  to_image(c, in.buffer, area, kGeneral, 1, &all);
  // The second row of blocks becomes the row; then what was the row's, the input's last, becomes the first row of blocks.
  const VkImageCopy down{part, {0, 4, 0}, part, {0, 0, 0}, {8, 4, 1}}, up{part, {0, 0, 0}, part, {0, 0, 0}, {8, 1, 1}};
  copy(c, area, kGeneral, row, kGeneral, 1, &down);
  VkBufferImageCopy seen{0, 0, 0, part, {0, 0, 0}, {8, 1, 1}};
  p.CmdCopyImageToBuffer(c, row, kGeneral, out.buffer, 1, &seen);
  to_image(c, in.buffer, row, kGeneral, 1, &of_row);
  copy(c, row, kGeneral, area, kGeneral, 1, &up);
  seen.bufferOffset = 16, seen.imageExtent = {8, 8, 1};
  p.CmdCopyImageToBuffer(c, area, kGeneral, out.buffer, 1, &seen);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  for (uint32_t i = 0; i < 16; ++i)
    CHECK(out.data[i] == in.data[16 + i] && out.data[16 + i] == in.data[16 + i] && out.data[32 + i] == in.data[16 + i]);
  for (const auto& one : images) p.DestroyImage(p.device, one.image, nullptr), p.FreeMemory(p.device, one.memory, nullptr);
  p.destroy(in), p.destroy(out);
}

/// How many descriptors a binding with a variable count may have is asked for with any count.
void counts_of_variable_bindings() {
  Program p;
  const VkPhysicalDeviceDescriptorIndexingFeatures indexing{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES};
  p.remake_device({"VK_EXT_descriptor_indexing", "VK_EXT_inline_uniform_block"}, &indexing);
  PFN_vkGetDescriptorSetLayoutSupport support = nullptr;
  p.load(support, "vkGetDescriptorSetLayoutSupport");
  for (const VkDescriptorType type : {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK})
    for (const uint32_t others : {1U, 1000U}) {
      std::vector<uint32_t> seen;
      for (const uint32_t count : {0U, 4U, 64U}) {
        const VkDescriptorSetLayoutBinding bindings[] = {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, others, VK_SHADER_STAGE_ALL, nullptr},
                                                         {1, type, count, VK_SHADER_STAGE_ALL, nullptr}};
        const VkDescriptorBindingFlags flags[] = {0, VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT};
        const VkDescriptorSetLayoutBindingFlagsCreateInfo of_bindings{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
                                                                      nullptr, 2, flags};
        const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &of_bindings, 0, 2, bindings};
        VkDescriptorSetVariableDescriptorCountLayoutSupport most{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_LAYOUT_SUPPORT};
        VkDescriptorSetLayoutSupport out{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT, &most};
        support(p.device, &info, &out);
        CHECK(out.supported);
        seen.push_back(most.maxVariableDescriptorCount);
      }
      CHECK(seen[0] == seen[1] && seen[1] == seen[2]);
      CHECK(seen[0] == (type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ? kMaxDescriptorsOfSet - others : kMaxInlineUniformBlock_B));
    }
}

/// Depth and stencil resolved to an image of one of them: the mode of the other is nothing.
void resolve_of_one_aspect(VkFormat from, VkFormat to) {
  Program p;
  p.remake_device({"VK_KHR_create_renderpass2", "VK_KHR_depth_stencil_resolve"}, nullptr);
  PFN_vkCreateRenderPass2KHR create = nullptr;
  p.load(create, "vkCreateRenderPass2KHR");
  constexpr auto kGeneral = VK_IMAGE_LAYOUT_GENERAL;
  const bool stencil = to == VK_FORMAT_S8_UINT;
  const VkFormat formats[] = {from, to};
  VkAttachmentDescription2 attachments[2] = {{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2}, {VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2}};
  VkAttachmentReference2 references[2] = {{VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2}, {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2}};
  for (uint32_t i = 0; i < 2; ++i) {
    attachments[i].format = formats[i], attachments[i].samples = i ? VK_SAMPLE_COUNT_1_BIT : VK_SAMPLE_COUNT_4_BIT;
    attachments[i].loadOp = attachments[i].stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    attachments[i].storeOp = attachments[i].stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE, attachments[i].finalLayout = kGeneral;
    references[i].attachment = i, references[i].layout = kGeneral;
    references[i].aspectMask = !i        ? VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT
                               : stencil ? VkImageAspectFlags{VK_IMAGE_ASPECT_STENCIL_BIT}
                                         : VkImageAspectFlags{VK_IMAGE_ASPECT_DEPTH_BIT};
  }
  const VkSubpassDescriptionDepthStencilResolve resolve{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE, nullptr,
                                                        VK_RESOLVE_MODE_AVERAGE_BIT, VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, &references[1]};
  VkSubpassDescription2 subpass{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2, &resolve};
  subpass.pDepthStencilAttachment = references;
  VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = 2, info.pAttachments = attachments, info.subpassCount = 1, info.pSubpasses = &subpass;
  VkRenderPass pass = nullptr;
  CHECK(create(p.device, &info, nullptr, &pass) == VK_SUCCESS);
  const VkImageUsageFlags usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  Program::BoundImage images[] = {p.image(formats[0], kSide_px, kSide_px, usage, false, VK_SAMPLE_COUNT_4_BIT),
                                  p.image(formats[1], kSide_px, kSide_px, usage)};
  p.DestroyImageView(p.device, images[0].view, nullptr);  // of depth alone
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = images[0].image, view.viewType = VK_IMAGE_VIEW_TYPE_2D, view.format = formats[0];
  view.subresourceRange = {references[0].aspectMask, 0, 1, 0, 1};
  CHECK(p.CreateImageView(p.device, &view, nullptr, &images[0].view) == VK_SUCCESS);
  p.said.clear();
  const VkFramebuffer target = p.framebuffer(pass, {images[0].view, images[1].view}, kSide_px);
  const auto out = p.buffer(4 * kSide_px * kSide_px, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer c = p.begin();
  VkClearValue clears[2]{};
  clears[0].depthStencil = {0.5F, 5}, clears[1].depthStencil = {0.25F, 9};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = target, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 2, begin.pClearValues = clears;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdEndRenderPass(c);
  VkBufferImageCopy region{};
  region.imageSubresource = {references[1].aspectMask, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, images[1].image, kGeneral, out.buffer, 1, &region);
  p.run(c);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  for (uint32_t i = 0; i < kSide_px * kSide_px; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, out.data + 4 * size_t{i}, 4);
    if (stencil)
      CHECK(out.data[i] == 5);
    else if (to == VK_FORMAT_D32_SFLOAT)
      CHECK(word == 0x3f000000);
    else
      CHECK((word & 0xffffff) == 0x800000);
  }
  p.DestroyFramebuffer(p.device, target, nullptr), p.DestroyRenderPass(p.device, pass, nullptr);
  for (const auto& image : images) p.destroy(image);
  p.destroy(out);
}

/// Dynamic rendering wants one format for both views, which is said.
void resolve_to_another_format_in_dynamic_rendering() {
  RenderingScene s(kSide_px, 4, {}, nullptr);
  Program& p = s.p;
  constexpr VkImageUsageFlags kUsage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
  const auto from = p.image(VK_FORMAT_D32_SFLOAT_S8_UINT, kSide_px, kSide_px, kUsage, false, VK_SAMPLE_COUNT_4_BIT);
  for (const VkFormat format : {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT}) {
    const auto to = p.image(format, kSide_px, kSide_px, kUsage);
    VkRenderingAttachmentInfo depth = RenderingScene::attachment(from.view, VK_ATTACHMENT_STORE_OP_STORE);
    depth.resolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, depth.resolveImageView = to.view,
    depth.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = s.area, info.layerCount = 1, info.pDepthAttachment = &depth;
    p.said.clear();
    const VkCommandBuffer c = p.begin();
    s.begin_rendering(c, &info), s.end_rendering(c);
    const bool refused = p.EndCommandBuffer(c) != VK_SUCCESS;
    CHECK(refused == (format == VK_FORMAT_D32_SFLOAT) && p.heard("resolveImageView has the format") == refused);
    p.destroy(to);
  }
  p.destroy(from), p.destroy(s.out);
}

}  // namespace

int main() {
  states_that_nothing_asks_for();
  resolve_to_another_format_in_dynamic_rendering();
  pushes_of_immutable_samplers();
  samples_of_an_input_alone();
  rows_of_blocks();
  counts_of_variable_bindings();
  resolve_of_one_aspect(VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_S8_UINT);
  resolve_of_one_aspect(VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT);
  resolve_of_one_aspect(VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_S8_UINT);
  resolve_of_one_aspect(VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_X8_D24_UNORM_PACK32);
  return finish("vulkan left out");
}
