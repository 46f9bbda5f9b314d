// tests/test_vulkan_attachments.cpp -- attachments of the driver as the specification has them where nothing of a tile forces it: colours
// that a pipeline doesn't write, the area of one device, views of one aspect, usage of stencil alone, clears of what no view is behind,
// both aspects under one input index, passes without attachments, aspects that no resolve writes, images that are only read. Source: Vulkan
// specification, "Render Pass", VK_EXT_color_write_enable, VK_EXT_separate_stencil_usage, VK_KHR_depth_stencil_resolve.
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 8, kPixels = kSide_px * kSide_px;
constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM, kDepthStencil = VK_FORMAT_D32_SFLOAT_S8_UINT;
constexpr VkImageLayout kGeneral = VK_IMAGE_LAYOUT_GENERAL;

constexpr const char* kVertex = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); })";
constexpr const char* kRed = R"(#version 450
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
void main() { a = b = vec4(1, 0, 0, 1); })";

/// Commands that the fixture has not.
struct More {
  PFN_vkCreateRenderPass2KHR CreateRenderPass2 = nullptr;
  PFN_vkCmdBeginRenderingKHR CmdBeginRendering = nullptr;
  PFN_vkCmdEndRenderingKHR CmdEndRendering = nullptr;
  PFN_vkCmdClearColorImage CmdClearColorImage = nullptr;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 GetPhysicalDeviceImageFormatProperties2 = nullptr;
  explicit More(Program& p) {
    p.load(CreateRenderPass2, "vkCreateRenderPass2KHR");
    p.load(CmdBeginRendering, "vkCmdBeginRenderingKHR");
    p.load(CmdEndRendering, "vkCmdEndRenderingKHR");
    p.load(CmdClearColorImage, "vkCmdClearColorImage");
    p.load(GetPhysicalDeviceImageFormatProperties2, "vkGetPhysicalDeviceImageFormatProperties2");
  }
};

VkAttachmentDescription2 description(VkFormat format, VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
  VkAttachmentDescription2 out{VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2};
  out.format = format, out.samples = samples;
  out.loadOp = out.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, out.storeOp = out.stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE;
  out.finalLayout = kGeneral;
  return out;
}

VkAttachmentReference2 reference(uint32_t attachment, VkImageAspectFlags aspects = VK_IMAGE_ASPECT_COLOR_BIT) {
  return {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, nullptr, attachment, kGeneral, aspects};
}

VkRenderPass make_pass(Program& p, const More& more, const std::vector<VkAttachmentDescription2>& attachments,
                       const VkSubpassDescription2& subpass) {
  VkRenderPassCreateInfo2 info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2};
  info.attachmentCount = static_cast<uint32_t>(attachments.size()), info.pAttachments = attachments.data();
  info.subpassCount = 1, info.pSubpasses = &subpass;
  VkRenderPass out = nullptr;
  CHECK_MESSAGE(more.CreateRenderPass2(p.device, &info, nullptr, &out) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
  return out;
}

void begin_pass(Program& p, VkCommandBuffer c, VkRenderPass pass, VkFramebuffer framebuffer, const std::vector<VkClearValue>& clears,
                const void* next = nullptr) {
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, next};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = static_cast<uint32_t>(clears.size()), begin.pClearValues = clears.data();
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
}

void set_area(Program& p, VkCommandBuffer c) {
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
  p.CmdSetViewport(c, 0, 1, &viewport);
  p.CmdSetScissor(c, 0, 1, &scissor);
}

Program::MappedBuffer copy_out(Program& p, VkCommandBuffer c, const Program::BoundImage& image, VkImageAspectFlags aspect) {
  const auto out = p.buffer(kPixels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  VkBufferImageCopy region{};
  region.imageSubresource = {aspect, 0, 0, 1};
  region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, image.image, kGeneral, out.buffer, 1, &region);
  return out;
}

template <class T>
T at(const Program::MappedBuffer& buffer, uint32_t x, uint32_t y) {
  T value;
  std::memcpy(&value, buffer.data + (size_t{y} * kSide_px + x) * sizeof(T), sizeof(T));
  return value;
}

/// VkPipelineColorWriteCreateInfoEXT, for each of two colours on and off.
void test_fixed_color_writes() {
  Program p;
  const VkPhysicalDeviceColorWriteEnableFeaturesEXT feature{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COLOR_WRITE_ENABLE_FEATURES_EXT, nullptr,
                                                            VK_TRUE};
  p.remake_device({"VK_EXT_color_write_enable", "VK_KHR_create_renderpass2"}, &feature);
  const More more(p);
  const VkAttachmentReference2 colors[] = {reference(0), reference(1)};
  VkSubpassDescription2 subpass{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
  subpass.colorAttachmentCount = 2, subpass.pColorAttachments = colors;
  const VkRenderPass pass = make_pass(p, more, {description(kColor), description(kColor)}, subpass);
  const VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  const VkImageUsageFlags usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  const Program::BoundImage images[] = {p.image(kColor, kSide_px, kSide_px, usage), p.image(kColor, kSide_px, kSide_px, usage)};
  const VkFramebuffer framebuffer = p.framebuffer(pass, {images[0].view, images[1].view}, kSide_px);
  for (uint32_t bits = 0; bits < 4; ++bits) {
    const VkBool32 enables[] = {bits & 1, bits >> 1};
    VkPipelineColorBlendAttachmentState blends[2]{};
    blends[0].colorWriteMask = blends[1].colorWriteMask = 15;
    const VkPipelineColorWriteCreateInfoEXT write{VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, nullptr, 2, enables};
    VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, &write};
    blending.attachmentCount = 2, blending.pAttachments = blends;
    const VkPipeline pipeline = make_pipeline(p, kVertex, kRed, layout, pass, 0, [&](auto& info) { info.pColorBlendState = &blending; });
    const VkCommandBuffer c = p.begin();
    begin_pass(p, c, pass, framebuffer, std::vector<VkClearValue>(2));
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    set_area(p, c);
    p.CmdDraw(c, 3, 1, 0, 0);
    p.CmdEndRenderPass(c);
    const Program::MappedBuffer seen[] = {copy_out(p, c, images[0], VK_IMAGE_ASPECT_COLOR_BIT),
                                          copy_out(p, c, images[1], VK_IMAGE_ASPECT_COLOR_BIT)};
    p.run(c);
    for (uint32_t i = 0; i < 2; ++i) {
      for (uint32_t k = 0; k < kPixels; ++k) CHECK(at<uint32_t>(seen[i], k % kSide_px, k / kSide_px) == (bits >> i & 1 ? 0xff0000ffU : 0U));
      p.destroy(seen[i]);
    }
    p.DestroyPipeline(p.device, pipeline, nullptr);
  }
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  for (const auto& image : images) p.destroy(image);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  CHECK(p.said.empty());
}

/// VkDeviceGroupRenderPassBeginInfo: the area of this device alone is cleared; in render passes and in dynamic rendering.
void test_area_of_device() {
  Program p;
  const VkPhysicalDeviceDynamicRenderingFeatures feature{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
  p.remake_device({"VK_KHR_dynamic_rendering"}, &feature);
  const More more(p);
  const VkRenderPass pass = p.one_subpass();
  const auto image = p.image(kColor, kSide_px, kSide_px,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {image.view}, kSide_px);
  const VkRect2D area{{2, 1}, {3, 5}};
  const VkDeviceGroupRenderPassBeginInfo group{VK_STRUCTURE_TYPE_DEVICE_GROUP_RENDER_PASS_BEGIN_INFO, nullptr, 1, 1, &area};
  const VkClearValue white{.color = {{1, 1, 1, 1}}};
  for (const bool dynamic : {false, true}) {
    const VkCommandBuffer c = p.begin();
    const VkClearColorValue black{{0, 0, 0, 0}};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    more.CmdClearColorImage(c, image.image, kGeneral, &black, 1, &all);
    if (dynamic) {
      VkRenderingAttachmentInfo color{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
      color.imageView = image.view, color.imageLayout = kGeneral, color.clearValue = white;
      color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
      VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO, &group};
      info.layerCount = 1, info.colorAttachmentCount = 1, info.pColorAttachments = &color;
      info.renderArea = {{0, 0}, {kSide_px, kSide_px}};
      more.CmdBeginRendering(c, &info);
      more.CmdEndRendering(c);
    } else {
      begin_pass(p, c, pass, framebuffer, {white}, &group);
      p.CmdEndRenderPass(c);
    }
    const auto seen = copy_out(p, c, image, VK_IMAGE_ASPECT_COLOR_BIT);
    p.run(c);
    for (int32_t y = 0; y < static_cast<int32_t>(kSide_px); ++y)
      for (int32_t x = 0; x < static_cast<int32_t>(kSide_px); ++x) {
        const bool inside = x >= 2 && x < 5 && y >= 1 && y < 6;
        CHECK(at<uint32_t>(seen, static_cast<uint32_t>(x), static_cast<uint32_t>(y)) == (inside ? ~0U : 0U));
      }
    p.destroy(seen);
  }
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.destroy(image);
  p.DestroyRenderPass(p.device, pass, nullptr);
  CHECK(p.said.empty());
}

VkImageView view_of(Program& p, VkImage image, VkFormat format, VkImageAspectFlags aspects) {
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  info.image = image, info.viewType = VK_IMAGE_VIEW_TYPE_2D, info.format = format;
  info.subresourceRange = {aspects, 0, 1, 0, 1};
  VkImageView out = nullptr;
  CHECK(p.CreateImageView(p.device, &info, nullptr, &out) == VK_SUCCESS);
  return out;
}

/// Input attachments of a fragment shader, bindings 0 and up of set 0.
struct Inputs {
  Program& p;
  VkDescriptorSetLayout set_layout = nullptr;
  VkPipelineLayout layout = nullptr;
  VkDescriptorPool pool = nullptr;
  VkDescriptorSet set = nullptr;

  Inputs(Program& program, const std::vector<VkImageView>& views) : p(program) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (uint32_t i = 0; i < views.size(); ++i)
      bindings.push_back({i, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set_info.bindingCount = static_cast<uint32_t>(bindings.size()), set_info.pBindings = bindings.data();
    CHECK(p.CreateDescriptorSetLayout(p.device, &set_info, nullptr, &set_layout) == VK_SUCCESS);
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layout;
    CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
    VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    CHECK(p.CreateDescriptorPool(p.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool, 1, &set_layout};
    CHECK(p.AllocateDescriptorSets(p.device, &allocate, &set) == VK_SUCCESS);
    for (uint32_t i = 0; i < views.size(); ++i) {
      const VkDescriptorImageInfo read{nullptr, views[i], kGeneral};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = set, write.dstBinding = i, write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, write.pImageInfo = &read;
      p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
    }
  }
  ~Inputs() {
    p.DestroyPipelineLayout(p.device, layout, nullptr);
    p.DestroyDescriptorPool(p.device, pool, nullptr);
    p.DestroyDescriptorSetLayout(p.device, set_layout, nullptr);
  }
  Inputs(const Inputs&) = delete;

  void bind(VkCommandBuffer c) const { p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr); }
};

enum class Read { one_input, two_inputs, from_memory };

/// A view's aspects are ignored where it is an attachment: both are cleared through a view of either; then a shader reads both as one
/// input, or as an input for each, or as such in a subpass whose tile has another depth.
void test_aspects(Read how) {
  Program p;
  p.remake_device({"VK_KHR_create_renderpass2"}, nullptr);
  const More more(p);
  const VkAttachmentReference2 depth = reference(0, 0);
  VkSubpassDescription2 clears{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
  clears.pDepthStencilAttachment = &depth;
  const VkRenderPass clearing = make_pass(p, more, {description(kDepthStencil)}, clears);

  VkAttachmentDescription2 kept = description(kDepthStencil);
  kept.loadOp = kept.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  const bool both = how == Read::one_input;
  const VkAttachmentReference2 input[2] = {
      reference(0, both ? VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_DEPTH_BIT),
      reference(0, VK_IMAGE_ASPECT_STENCIL_BIT)};
  const VkAttachmentReference2 color = reference(1), other_depth = reference(2);
  VkSubpassDescription2 reads{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
  reads.inputAttachmentCount = both ? 1 : 2, reads.pInputAttachments = input;
  reads.colorAttachmentCount = 1, reads.pColorAttachments = &color;
  if (how == Read::from_memory) reads.pDepthStencilAttachment = &other_depth;
  const VkRenderPass reading = make_pass(p, more, {kept, description(kColor), description(kDepthStencil)}, reads);

  const VkImageUsageFlags usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  const auto image = p.image(kDepthStencil, kSide_px, kSide_px, usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const auto target = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const auto other = p.image(kDepthStencil, kSide_px, kSide_px, usage);
  const VkImageView views[] = {view_of(p, image.image, kDepthStencil, VK_IMAGE_ASPECT_DEPTH_BIT),
                               view_of(p, image.image, kDepthStencil, VK_IMAGE_ASPECT_STENCIL_BIT),
                               view_of(p, image.image, kDepthStencil, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT)};
  const Inputs inputs(p, {views[0], views[1]});
  const std::string fragment = std::string(R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput d;
layout(input_attachment_index = )") +
                               (both ? "0" : "1") + R"(, set = 0, binding = 1) uniform usubpassInput s;
layout(location = 0) out vec4 color;
void main() { color = vec4(subpassLoad(d).x, float(subpassLoad(s).x) / 255.0, 0, 1); })";
  VkPipelineDepthStencilStateCreateInfo passes{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  passes.depthTestEnable = how == Read::from_memory, passes.depthCompareOp = VK_COMPARE_OP_ALWAYS;
  const VkPipeline pipeline =
      make_pipeline(p, kVertex, fragment.c_str(), inputs.layout, reading, 0, [&](auto& info) { info.pDepthStencilState = &passes; });
  for (uint32_t i = 0; i < 3; ++i) {
    const VkFramebuffer first = p.framebuffer(clearing, {views[i]}, kSide_px);
    const VkFramebuffer second = p.framebuffer(reading, {views[i], target.view, other.view}, kSide_px);
    const float value = 0.2F * static_cast<float>(i + 1);
    const VkCommandBuffer c = p.begin();
    begin_pass(p, c, clearing, first, {{.depthStencil = {value, 51 * (i + 1)}}});
    p.CmdEndRenderPass(c);
    begin_pass(p, c, reading, second, {{}, {}, {.depthStencil = {1, 0}}});
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    inputs.bind(c);
    set_area(p, c);
    p.CmdDraw(c, 3, 1, 0, 0);
    p.CmdEndRenderPass(c);
    const auto depths = copy_out(p, c, image, VK_IMAGE_ASPECT_DEPTH_BIT), stencils = copy_out(p, c, image, VK_IMAGE_ASPECT_STENCIL_BIT),
               seen = copy_out(p, c, target, VK_IMAGE_ASPECT_COLOR_BIT);
    p.run(c);
    for (uint32_t k = 0; k < kPixels; ++k) {
      const uint32_t x = k % kSide_px, y = k / kSide_px;
      CHECK(at<float>(depths, x, y) == value);
      CHECK(at<uint8_t>(stencils, x, y) == 51 * (i + 1));
      CHECK(at<uint32_t>(seen, x, y) == (0xff000000U | (51 * (i + 1)) << 8 | 51 * (i + 1)));
    }
    for (const auto& buffer : {depths, stencils, seen}) p.destroy(buffer);
    p.DestroyFramebuffer(p.device, first, nullptr);
    p.DestroyFramebuffer(p.device, second, nullptr);
  }
  for (const VkImageView view : views) p.DestroyImageView(p.device, view, nullptr);
  p.destroy(image);
  p.destroy(other);
  p.destroy(target);
  p.DestroyPipeline(p.device, pipeline, nullptr);
  p.DestroyRenderPass(p.device, clearing, nullptr);
  p.DestroyRenderPass(p.device, reading, nullptr);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
}

/// VkImageStencilUsageCreateInfo counts: what stencil is used for must be possible.
void test_stencil_usage() {
  Program p;
  p.remake_device({"VK_EXT_separate_stencil_usage"}, nullptr);
  const More more(p);
  const auto asked = [&](VkImageUsageFlags stencil, VkImageUsageFlags usage) {
    const VkImageStencilUsageCreateInfo of_stencil{VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO, nullptr, stencil};
    VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &of_stencil};
    info.format = kDepthStencil, info.type = VK_IMAGE_TYPE_2D, info.usage = usage;
    VkImageFormatProperties2 out{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    const VkResult can = more.GetPhysicalDeviceImageFormatProperties2(p.physical_device, &info, &out);
    VkImageCreateInfo image_info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, &of_stencil};
    image_info.imageType = VK_IMAGE_TYPE_2D, image_info.format = kDepthStencil, image_info.extent = {kSide_px, kSide_px, 1};
    image_info.mipLevels = image_info.arrayLayers = 1, image_info.samples = VK_SAMPLE_COUNT_1_BIT, image_info.usage = usage;
    VkImage image = nullptr;
    CHECK(p.CreateImage(p.device, &image_info, nullptr, &image) == can);
    if (image) p.DestroyImage(p.device, image, nullptr);
    return can;
  };
  CHECK(asked(VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) ==
        VK_SUCCESS);
  CHECK(asked(VK_IMAGE_USAGE_STORAGE_BIT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) == VK_ERROR_FORMAT_NOT_SUPPORTED);
}

/// vkCmdClearAttachments of colours, depth and stencil that have no view does nothing.
void test_clears_of_nothing() {
  Program p;
  const VkPhysicalDeviceDynamicRenderingFeatures feature{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, nullptr, VK_TRUE};
  p.remake_device({"VK_KHR_dynamic_rendering"}, &feature);
  const More more(p);
  const auto image = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  VkRenderingAttachmentInfo colors[2] = {{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO}, {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO}};
  colors[1].imageView = image.view, colors[1].imageLayout = kGeneral;
  colors[1].loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, colors[1].storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.layerCount = 1, info.colorAttachmentCount = 2, info.pColorAttachments = colors, info.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  const VkCommandBuffer c = p.begin();
  more.CmdBeginRendering(c, &info);
  const VkClearAttachment clears[] = {
      {VK_IMAGE_ASPECT_COLOR_BIT, 0, {.color = {{1, 1, 1, 1}}}},
      {VK_IMAGE_ASPECT_COLOR_BIT, 1, {.color = {{0, 1, 0, 1}}}},
      {VK_IMAGE_ASPECT_COLOR_BIT, VK_ATTACHMENT_UNUSED, {.color = {{1, 1, 1, 1}}}},
      {VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT, 0, {.depthStencil = {0.5F, 7}}},
  };
  const VkClearRect rect{{{0, 0}, {kSide_px, kSide_px}}, 0, 1};
  p.CmdClearAttachments(c, 4, clears, 1, &rect);
  more.CmdEndRendering(c);
  const auto seen = copy_out(p, c, image, VK_IMAGE_ASPECT_COLOR_BIT);
  p.run(c);
  for (uint32_t k = 0; k < kPixels; ++k) CHECK(at<uint32_t>(seen, k % kSide_px, k / kSide_px) == 0xff00ff00U);
  p.destroy(seen);
  p.destroy(image);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
}

/// Without attachments a subpass has the samples of its pipelines: an occlusion query counts them.
void test_no_attachments() {
  Program p;
  const VkSubpassDescription subpass{};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.subpassCount = 1, info.pSubpasses = &subpass;
  VkRenderPass pass = nullptr;
  CHECK(p.CreateRenderPass(p.device, &info, nullptr, &pass) == VK_SUCCESS);
  const VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {}, kSide_px);
  VkQueryPoolCreateInfo query_info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  query_info.queryType = VK_QUERY_TYPE_OCCLUSION, query_info.queryCount = 1;
  VkQueryPool queries = nullptr;
  CHECK(p.CreateQueryPool(p.device, &query_info, nullptr, &queries) == VK_SUCCESS);
  for (const VkSampleCountFlagBits count : {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_16_BIT})
    for (const bool secondary : {false, true}) {
      VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
      samples.rasterizationSamples = count;
      const VkPipeline pipeline = make_pipeline(p, kVertex, "#version 450\nvoid main() {}", layout, pass, 0,
                                                [&](auto& made) { made.pMultisampleState = &samples; });
      VkCommandBuffer part = nullptr;
      if (secondary) {
        const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool,
                                                   VK_COMMAND_BUFFER_LEVEL_SECONDARY, 1};
        CHECK(p.AllocateCommandBuffers(p.device, &allocate, &part) == VK_SUCCESS);
        VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
        inherited.renderPass = pass, inherited.occlusionQueryEnable = VK_TRUE;
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                             VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, &inherited};
        CHECK(p.BeginCommandBuffer(part, &begin) == VK_SUCCESS);
      }
      const VkCommandBuffer c = p.begin(), draws = secondary ? part : c;
      p.CmdResetQueryPool(c, queries, 0, 1);
      VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
      begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
      p.CmdBeginQuery(c, queries, 0, VK_QUERY_CONTROL_PRECISE_BIT);
      p.CmdBeginRenderPass(c, &begin, secondary ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE);
      p.CmdBindPipeline(draws, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      set_area(p, draws);
      p.CmdDraw(draws, 3, 1, 0, 0);
      if (secondary) {
        CHECK_MESSAGE(p.EndCommandBuffer(part) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
        p.CmdExecuteCommands(c, 1, &part);
      }
      p.CmdEndRenderPass(c);
      p.CmdEndQuery(c, queries, 0);
      p.run(c);
      uint64_t counted = 0;
      CHECK(p.GetQueryPoolResults(p.device, queries, 0, 1, 8, &counted, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
      CHECK(counted == uint64_t{kPixels} * count);
      p.DestroyPipeline(p.device, pipeline, nullptr);
    }
  p.DestroyQueryPool(p.device, queries, nullptr);
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
}

/// The aspect of a resolve's target whose mode is NONE is cleared as its load operation says, the other is the resolve's.
void test_unresolved_aspects() {
  Program p;
  p.remake_device({"VK_KHR_create_renderpass2", "VK_KHR_depth_stencil_resolve"}, nullptr);
  const More more(p);
  for (const bool depth_resolved : {false, true}) {
    const VkAttachmentReference2 depth = reference(0, 0), target = reference(1, 0);
    VkSubpassDescriptionDepthStencilResolve resolve{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE};
    resolve.depthResolveMode = depth_resolved ? VK_RESOLVE_MODE_SAMPLE_ZERO_BIT : VK_RESOLVE_MODE_NONE;
    resolve.stencilResolveMode = depth_resolved ? VK_RESOLVE_MODE_NONE : VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
    resolve.pDepthStencilResolveAttachment = &target;
    VkSubpassDescription2 subpass{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2, &resolve};
    subpass.pDepthStencilAttachment = &depth;
    const VkRenderPass pass = make_pass(p, more, {description(kDepthStencil, VK_SAMPLE_COUNT_4_BIT), description(kDepthStencil)}, subpass);
    const VkImageUsageFlags usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    const auto many = p.image(kDepthStencil, kSide_px, kSide_px, usage, false, VK_SAMPLE_COUNT_4_BIT),
               one = p.image(kDepthStencil, kSide_px, kSide_px, usage);
    const VkFramebuffer framebuffer = p.framebuffer(pass, {many.view, one.view}, kSide_px);
    const VkCommandBuffer c = p.begin();
    begin_pass(p, c, pass, framebuffer, {{.depthStencil = {0.25F, 11}}, {.depthStencil = {0.75F, 22}}});
    p.CmdEndRenderPass(c);
    const auto depths = copy_out(p, c, one, VK_IMAGE_ASPECT_DEPTH_BIT), stencils = copy_out(p, c, one, VK_IMAGE_ASPECT_STENCIL_BIT);
    p.run(c);
    for (uint32_t k = 0; k < kPixels; ++k) {
      CHECK(at<float>(depths, k % kSide_px, k / kSide_px) == (depth_resolved ? 0.25F : 0.75F));
      CHECK(at<uint8_t>(stencils, k % kSide_px, k / kSide_px) == (depth_resolved ? 22 : 11));
    }
    p.destroy(depths);
    p.destroy(stencils);
    p.DestroyFramebuffer(p.device, framebuffer, nullptr);
    p.destroy(many);
    p.destroy(one);
    p.DestroyRenderPass(p.device, pass, nullptr);
  }
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
}

/// An image that is an input attachment and nothing else that is drawn to: loaded, read in the tile, stored as it was.
void test_input_only() {
  Program p;
  p.remake_device({"VK_KHR_create_renderpass2"}, nullptr);
  const More more(p);
  VkAttachmentDescription2 kept = description(kColor);
  kept.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  const VkAttachmentReference2 input = reference(0), color = reference(1);
  VkSubpassDescription2 subpass{VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
  subpass.inputAttachmentCount = 1, subpass.pInputAttachments = &input;
  subpass.colorAttachmentCount = 1, subpass.pColorAttachments = &color;
  const VkRenderPass pass = make_pass(p, more, {kept, description(kColor)}, subpass);
  const VkImageUsageFlags copies = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  const auto image = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | copies);
  const auto target = p.image(kColor, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const Inputs inputs(p, {image.view});
  const VkPipeline pipeline = make_pipeline(p, kVertex, R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput i;
layout(location = 0) out vec4 color;
void main() { color = subpassLoad(i).yxzw; })",
                                            inputs.layout, pass, 0);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {image.view, target.view}, kSide_px);
  const VkCommandBuffer c = p.begin();
  const VkClearColorValue value{{1, 0, 0.2F, 1}};
  const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  more.CmdClearColorImage(c, image.image, kGeneral, &value, 1, &all);
  begin_pass(p, c, pass, framebuffer, std::vector<VkClearValue>(2));
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  inputs.bind(c);
  set_area(p, c);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndRenderPass(c);
  const auto seen = copy_out(p, c, target, VK_IMAGE_ASPECT_COLOR_BIT), same = copy_out(p, c, image, VK_IMAGE_ASPECT_COLOR_BIT);
  p.run(c);
  for (uint32_t k = 0; k < kPixels; ++k) {
    CHECK(at<uint32_t>(seen, k % kSide_px, k / kSide_px) == 0xff33ff00U);
    CHECK(at<uint32_t>(same, k % kSide_px, k / kSide_px) == 0xff3300ffU);
  }
  p.destroy(seen);
  p.destroy(same);
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.destroy(image);
  p.destroy(target);
  p.DestroyPipeline(p.device, pipeline, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
}

}  // namespace

int main() {
  test_input_only();
  test_fixed_color_writes();
  test_area_of_device();
  for (const Read how : {Read::one_input, Read::two_inputs, Read::from_memory}) test_aspects(how);
  test_stencil_usage();
  test_clears_of_nothing();
  test_no_attachments();
  test_unresolved_aspects();
  return finish("test_vulkan_attachments");
}
