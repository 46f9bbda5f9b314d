// tests/test_vulkan_driver.cpp -- the driver as a program sees it: names, refusals, a triangle, subpasses, timelines, queries.
#include <chrono>
#include <thread>

#include "icd/entry_points.hpp"
#include "icd/generated/commands.hpp"
#include "icd/guard.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 40;

constexpr const char* kVertex = R"(#version 450
layout(push_constant) uniform Push { vec4 color; };
layout(location = 0) out vec4 v_color;
void main() {
  vec2 p = vec2[](vec2(-0.9, -0.8), vec2(0.9, -0.3), vec2(-0.2, 0.9))[gl_VertexIndex];
  v_color = color * float(gl_VertexIndex + 1) / 3.0;
  gl_Position = vec4(p, 0.5, 1);
})";
constexpr const char* kFragment = R"(#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 color;
void main() { color = v_color; })";
constexpr const char* kWhole = R"(#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); })";
constexpr const char* kInput = R"(#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) out vec4 color;
void main() { color = vec4(1) - subpassLoad(before); })";

VkAttachmentDescription attachment(VkAttachmentLoadOp load, VkAttachmentStoreOp store) {
  VkAttachmentDescription a{};
  a.format = VK_FORMAT_R8G8B8A8_UNORM, a.samples = VK_SAMPLE_COUNT_1_BIT, a.loadOp = load, a.storeOp = store;
  a.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  return a;
}

void set_area(Program& p, VkCommandBuffer c) {
  const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
  const VkRect2D scissor{{0, 0}, {kSide_px, kSide_px}};
  p.CmdSetViewport(c, 0, 1, &viewport);
  p.CmdSetScissor(c, 0, 1, &scissor);
}

/// The same triangle by the core's own interface.
std::vector<uint8_t> by_the_core(const float (&color)[4]) {
  auto device = Device::create({});
  ImageCreateInfo image_info;
  image_info.format = VK_FORMAT_R8G8B8A8_UNORM, image_info.width_px = image_info.height_px = kSide_px;
  auto image = Image::create(image_info);
  CHECK((*image)->ensure_memory());
  ImageViewCreateInfo view_info;
  view_info.image = *image;
  GraphicsPipelineCreateInfo info;
  for (const auto& [text, stage] : {std::pair{kVertex, VK_SHADER_STAGE_VERTEX_BIT}, {kFragment, VK_SHADER_STAGE_FRAGMENT_BIT}}) {
    GlslSource source;
    source.text = text, source.stage = stage;
    info.stages.push_back({*(*device)->create_shader_module(*compile_glsl(source), "shader"), {}});
  }
  info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
  auto made = (*device)->create_pipeline(info);
  CommandBuffer commands(*device);
  CHECK(commands.begin());
  RenderingInfo pass;
  RenderingAttachment target;
  target.view = *ImageView::create(view_info), target.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  target.clear.color = {{0.25F, 0.5F, 0.75F, 1}};
  pass.color = {target};
  CHECK(commands.begin_rendering(pass));
  commands.bind_pipeline(*made);
  CHECK(commands.push_constants(0, color, sizeof color));
  CHECK(commands.draw(3, 1, 0, 0));
  CHECK(commands.end_rendering() && commands.end());
  auto shared = std::shared_ptr<CommandBuffer>(&commands, [](CommandBuffer*) {});
  CHECK((*device)->submit_and_wait({{shared}, {}}, {}));
  const SubresourceLayout layout = (*image)->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  std::vector<uint8_t> out;
  for (uint32_t y = 0; y < kSide_px; ++y) {
    const uint8_t* row = (*image)->data() + layout.offset_B + y * layout.row_pitch_B;
    out.insert(out.end(), row, row + size_t{kSide_px} * 4);
  }
  return out;
}

void copy_out(Program& p, VkCommandBuffer c, VkImage image, VkBuffer buffer) {
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {kSide_px, kSide_px, 1};
  p.CmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &region);
}

void names_are_null_or_there() {
  uint32_t version = 4;
  CHECK(vk_icdNegotiateLoaderICDInterfaceVersion(&version) == VK_ERROR_INCOMPATIBLE_DRIVER);
  Program p;
  CHECK(!vk_icdGetInstanceProcAddr(p.instance, "vkNoSuchCommand"));
  CHECK(!vk_icdGetInstanceProcAddr(nullptr, "vkCreateDevice"));
  CHECK(!vk_icdGetInstanceProcAddr(p.instance, "vkCreateRayTracingPipelinesKHR"));
  CHECK(vk_icdGetPhysicalDeviceProcAddr(p.instance, "vkGetPhysicalDeviceFeatures2"));
  CHECK(!vk_icdGetPhysicalDeviceProcAddr(p.instance, "vkCmdDraw"));
  CHECK(p.GetDeviceProcAddr(p.device, "vkCmdDraw"));
  CHECK(p.GetDeviceProcAddr(p.device, "vkWaitSemaphoresKHR"));   // its extension is enabled
  CHECK(!p.GetDeviceProcAddr(p.device, "vkWaitSemaphores"));     // of Vulkan 1.2
  CHECK(!p.GetDeviceProcAddr(p.device, "vkCmdCopyBuffer2KHR"));  // its extension is there, and not enabled
  CHECK(!p.GetDeviceProcAddr(p.device, "vkEnumeratePhysicalDevices"));
}

// "Device-level commands which are part of the core version specified by apiVersion ... will always return a valid function pointer":
// sapien asks for 1.3 and calls them without looking at the device's version.
void commands_of_the_version_that_is_asked_for() {
  Program p;
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  VkInstance instance = nullptr;
  CHECK(p.CreateInstance(&info, nullptr, &instance) == VK_SUCCESS);
  uint32_t one = 1;
  VkPhysicalDevice physical = nullptr;
  CHECK(p.EnumeratePhysicalDevices(instance, &one, &physical) == VK_SUCCESS);
  const float priority = 1;
  const VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, 0, 1, &priority};
  VkDeviceCreateInfo create{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  create.queueCreateInfoCount = 1, create.pQueueCreateInfos = &queues;
  VkDevice device = nullptr;
  CHECK(p.CreateDevice(physical, &create, nullptr, &device) == VK_SUCCESS);
  for (const char* name : {"vkWaitSemaphores", "vkCmdPipelineBarrier2", "vkCmdBeginRendering", "vkGetBufferDeviceAddress"})
    CHECK_MESSAGE(p.GetDeviceProcAddr(device, name) && !p.GetDeviceProcAddr(p.device, name), name);
  CHECK(!p.GetDeviceProcAddr(device, "vkCmdPushConstants2"));  // of 1.4
  p.DestroyDevice(device, nullptr);
  p.DestroyInstance(instance, nullptr);
}

struct Named {
  const char* name;
  icd::Level level;
  uint32_t version;
};
template <auto>
Named row(const char* name, icd::Level level, uint32_t version, icd::ExtensionSet) {
  return {name, level, version};
}

/// Each command of 1.0 and 1.1, whatever the device has: programs ask for all before they look at features.
void commands_of_the_version_are_there() {
  using namespace icd;
  Program p;
  const Named rows[] = {
#include "icd/generated/entry_points.inc"
  };
  uint32_t found = 0;
  for (const Named& r : rows) {
    if (!r.version || r.version > VK_API_VERSION_1_1) continue;
    found++;
    if (r.level == Level::device)
      CHECK_MESSAGE(p.GetDeviceProcAddr(p.device, r.name), r.name);
    else
      CHECK_MESSAGE(vk_icdGetInstanceProcAddr(r.level == Level::global ? nullptr : p.instance, r.name), r.name);
  }
  CHECK(found == 165);
}

void what_is_not_there_is_refused_and_named() {
  Program p;
  const VkPhysicalDeviceFeatures wanted = [] {
    VkPhysicalDeviceFeatures f{};
    f.sparseBinding = f.robustBufferAccess = VK_TRUE;
    return f;
  }();
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pEnabledFeatures = &wanted;
  VkDevice device = nullptr;
  CHECK(p.CreateDevice(p.physical_device, &info, nullptr, &device) == VK_ERROR_FEATURE_NOT_PRESENT);
  CHECK(p.heard("sparseBinding") && !p.heard("robustBufferAccess"));
  const char* extension = "VK_KHR_ray_query";
  info.pEnabledFeatures = nullptr, info.enabledExtensionCount = 1, info.ppEnabledExtensionNames = &extension;
  CHECK(p.CreateDevice(p.physical_device, &info, nullptr, &device) == VK_ERROR_EXTENSION_NOT_PRESENT);
  CHECK(p.heard("VK_KHR_ray_query"));
  VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  image.imageType = VK_IMAGE_TYPE_2D, image.format = VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG, image.extent = {4, 4, 1};
  image.mipLevels = image.arrayLayers = 1, image.samples = VK_SAMPLE_COUNT_1_BIT, image.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  VkImage made = nullptr;
  CHECK(p.CreateImage(p.device, &image, nullptr, &made) == VK_ERROR_FORMAT_NOT_SUPPORTED);
  const VkCommandBuffer c = p.begin();
  p.CmdDispatch(c, 1, 1, 1);
  CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
  CHECK(p.heard("dispatch without a compute pipeline"));
}

void a_triangle_has_the_bits_of_the_core() {
  Program p;
  const float color[4] = {1, 0.7F, 0.3F, 1};
  const VkRenderPass pass = p.one_subpass();
  const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, 16};
  VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.pushConstantRangeCount = 1, layout_info.pPushConstantRanges = &range;
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);
  const VkPipeline draws = make_pipeline(p, kVertex, kFragment, layout, pass, 0);
  const auto target =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const auto out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  VkQueryPoolCreateInfo query_info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  query_info.queryType = VK_QUERY_TYPE_OCCLUSION, query_info.queryCount = 1;
  VkQueryPool queries = nullptr;
  CHECK(p.CreateQueryPool(p.device, &query_info, nullptr, &queries) == VK_SUCCESS);

  const VkCommandBuffer c = p.begin();
  p.CmdResetQueryPool(c, queries, 0, 1);
  VkClearValue clear{};
  clear.color = {{0.25F, 0.5F, 0.75F, 1}};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, draws);
  set_area(p, c);
  p.CmdPushConstants(c, layout, VK_SHADER_STAGE_VERTEX_BIT, 0, 16, color);
  p.CmdBeginQuery(c, queries, 0, VK_QUERY_CONTROL_PRECISE_BIT);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndQuery(c, queries, 0);
  p.CmdEndRenderPass(c);
  copy_out(p, c, target.image, out.buffer);
  p.run(c);
  CHECK(std::memcmp(by_the_core(color).data(), out.data, size_t{kSide_px} * kSide_px * 4) == 0);
  uint64_t samples = 0;
  CHECK(p.GetQueryPoolResults(p.device, queries, 0, 1, 8, &samples, 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) == VK_SUCCESS);
  uint64_t covered = 0;
  for (uint32_t i = 0; i < kSide_px * kSide_px; ++i) covered += std::memcmp(out.data + i * 4, "\x40\x80\xbf\xff", 4) != 0;
  CHECK_MESSAGE(samples == covered && covered > 100, std::to_string(samples) + " " + std::to_string(covered));
  p.DestroyQueryPool(p.device, queries, nullptr);
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.destroy(out);
  p.destroy(target);
  p.DestroyPipeline(p.device, draws, nullptr);
  p.DestroyPipelineLayout(p.device, layout, nullptr);
  p.DestroyRenderPass(p.device, pass, nullptr);
}

void a_subpass_reads_what_the_one_before_drew() {
  Program p;
  const VkAttachmentDescription attachments[] = {attachment(VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_DONT_CARE),
                                                 attachment(VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_STORE)};
  const VkAttachmentReference first{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL}, input{0, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
      second{1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpasses[2] = {};
  subpasses[0].colorAttachmentCount = 1, subpasses[0].pColorAttachments = &first;
  subpasses[1].colorAttachmentCount = 1, subpasses[1].pColorAttachments = &second;
  subpasses[1].inputAttachmentCount = 1, subpasses[1].pInputAttachments = &input;
  VkRenderPassCreateInfo pass_info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  pass_info.attachmentCount = 2, pass_info.pAttachments = attachments, pass_info.subpassCount = 2, pass_info.pSubpasses = subpasses;
  VkRenderPass pass = nullptr;
  CHECK(p.CreateRenderPass(p.device, &pass_info, nullptr, &pass) == VK_SUCCESS);

  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set_info.bindingCount = 1, set_info.pBindings = &binding;
  VkDescriptorSetLayout set_layout = nullptr;
  CHECK(p.CreateDescriptorSetLayout(p.device, &set_info, nullptr, &set_layout) == VK_SUCCESS);
  const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, 16};
  VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout_info.setLayoutCount = 1, layout_info.pSetLayouts = &set_layout;
  layout_info.pushConstantRangeCount = 1, layout_info.pPushConstantRanges = &range;
  VkPipelineLayout layout = nullptr;
  CHECK(p.CreatePipelineLayout(p.device, &layout_info, nullptr, &layout) == VK_SUCCESS);

  const auto between =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px,
              VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT, true);
  const auto target =
      p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  const auto out = p.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {between.view, target.view}, kSide_px);
  VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  VkDescriptorPool pool = nullptr;
  CHECK(p.CreateDescriptorPool(p.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool, 1, &set_layout};
  VkDescriptorSet set = nullptr;
  CHECK(p.AllocateDescriptorSets(p.device, &allocate, &set) == VK_SUCCESS);
  const VkDescriptorImageInfo read{nullptr, between.view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set, write.descriptorCount = 1, write.descriptorType = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, write.pImageInfo = &read;
  p.UpdateDescriptorSets(p.device, 1, &write, 0, nullptr);
  const VkPipeline draws = make_pipeline(p, kVertex, kFragment, layout, pass, 0);
  const VkPipeline inverts = make_pipeline(p, kWhole, kInput, layout, pass, 1);

  const float color[4] = {1, 1, 1, 1};
  const VkCommandBuffer c = p.begin();
  VkClearValue clear{};
  clear.color = {{0.25F, 0.5F, 0.75F, 1}};
  VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin.clearValueCount = 1, begin.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, draws);
  set_area(p, c);
  p.CmdPushConstants(c, layout, VK_SHADER_STAGE_VERTEX_BIT, 0, 16, color);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdNextSubpass(c, VK_SUBPASS_CONTENTS_INLINE);
  p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, inverts);
  p.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, nullptr);
  p.CmdDraw(c, 3, 1, 0, 0);
  p.CmdEndRenderPass(c);
  copy_out(p, c, target.image, out.buffer);
  p.run(c);
  const std::vector<uint8_t> drawn = by_the_core(color);
  bool inverted = true;
  for (size_t i = 0; i < drawn.size(); ++i) inverted &= out.data[i] == 255 - drawn[i];
  CHECK(inverted);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said[0]);
}

/// Those of a secondary follow the pass that executes it; a recording that is given up inside a pass leaves nothing behind.
void timestamps_are_not_lost() {
  Program p;
  const VkRenderPass pass = p.one_subpass();
  const auto target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  const VkFramebuffer framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
  VkQueryPoolCreateInfo query_info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  query_info.queryType = VK_QUERY_TYPE_TIMESTAMP, query_info.queryCount = 2;
  VkQueryPool stamps = nullptr;
  CHECK(p.CreateQueryPool(p.device, &query_info, nullptr, &stamps) == VK_SUCCESS);

  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                       1};
  VkCommandBuffer secondary = nullptr;
  CHECK(p.AllocateCommandBuffers(p.device, &allocate, &secondary) == VK_SUCCESS);
  VkCommandBufferInheritanceInfo inherits{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  inherits.renderPass = pass;
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT, begin.pInheritanceInfo = &inherits;
  CHECK(p.BeginCommandBuffer(secondary, &begin) == VK_SUCCESS);
  p.CmdWriteTimestamp(secondary, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, 0);
  CHECK(p.EndCommandBuffer(secondary) == VK_SUCCESS);

  const VkCommandBuffer c = p.begin();
  const VkClearValue clear{};
  VkRenderPassBeginInfo begin_pass{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  begin_pass.renderPass = pass, begin_pass.framebuffer = framebuffer, begin_pass.renderArea = {{0, 0}, {kSide_px, kSide_px}};
  begin_pass.clearValueCount = 1, begin_pass.pClearValues = &clear;
  p.CmdBeginRenderPass(c, &begin_pass, VK_SUBPASS_CONTENTS_INLINE);  // and given up
  begin.flags = 0, begin.pInheritanceInfo = nullptr;
  CHECK(p.BeginCommandBuffer(c, &begin) == VK_SUCCESS);
  p.CmdResetQueryPool(c, stamps, 0, 2);
  p.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, 1);
  p.CmdBeginRenderPass(c, &begin_pass, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
  p.CmdExecuteCommands(c, 1, &secondary);
  p.CmdEndRenderPass(c);
  p.run(c);
  uint64_t times[2] = {};
  CHECK(p.GetQueryPoolResults(p.device, stamps, 0, 2, 16, times, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
  CHECK(times[1] > 0 && times[0] >= times[1]);
  p.DestroyQueryPool(p.device, stamps, nullptr);
  p.DestroyFramebuffer(p.device, framebuffer, nullptr);
  p.destroy(target);
  p.DestroyRenderPass(p.device, pass, nullptr);
  CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said[0]);
}

VkResult VKAPI_CALL creates(VkDevice) { throw std::bad_alloc(); }
void VKAPI_CALL records(VkCommandBuffer, uint32_t) { throw std::bad_alloc(); }

void refused_memory_is_a_result() {
  CHECK(icd::Guarded<&creates>::call(nullptr) == VK_ERROR_OUT_OF_HOST_MEMORY);
  VkCommandBuffer_T commands;
  icd::Guarded<&records>::call(&commands, 1);
  CHECK(commands.result == VK_ERROR_OUT_OF_HOST_MEMORY);
}

void events_hold_back_what_follows() {
  Program p;
  VkEventCreateInfo info{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
  VkEvent by_host = nullptr, by_queue = nullptr;
  CHECK(p.CreateEvent(p.device, &info, nullptr, &by_host) == VK_SUCCESS);
  CHECK(p.CreateEvent(p.device, &info, nullptr, &by_queue) == VK_SUCCESS);
  CHECK(p.GetEventStatus(p.device, by_host) == VK_EVENT_RESET);
  const auto out = p.buffer(64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer c = p.begin();
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
  p.CmdSetEvent(c, by_queue, stage);
  p.CmdFillBuffer(c, out.buffer, 0, 32, 0x11111111);
  const VkEvent both[] = {by_queue, by_host};
  p.CmdWaitEvents(c, 2, both, stage | VK_PIPELINE_STAGE_HOST_BIT, stage, 0, nullptr, 0, nullptr, 0, nullptr);
  p.CmdFillBuffer(c, out.buffer, 32, 32, 0x22222222);
  p.CmdResetEvent(c, by_queue, stage);
  CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
  VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = nullptr;
  CHECK(p.CreateFence(p.device, &fence_info, nullptr, &fence) == VK_SUCCESS);
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1, submit.pCommandBuffers = &c;
  CHECK(p.QueueSubmit(p.queue, 1, &submit, fence) == VK_SUCCESS);
  CHECK(p.WaitForFences(p.device, 1, &fence, VK_TRUE, 50'000'000) == VK_TIMEOUT);
  CHECK(p.GetEventStatus(p.device, by_queue) == VK_EVENT_SET && out.data[0] == 0x11 && out.data[32] == 0);
  CHECK(p.SetEvent(p.device, by_host) == VK_SUCCESS);
  CHECK(p.WaitForFences(p.device, 1, &fence, VK_TRUE, UINT64_MAX) == VK_SUCCESS);
  CHECK(out.data[32] == 0x22 && p.GetEventStatus(p.device, by_queue) == VK_EVENT_RESET);
  CHECK(p.ResetEvent(p.device, by_host) == VK_SUCCESS && p.GetEventStatus(p.device, by_host) == VK_EVENT_RESET);
  p.DestroyFence(p.device, fence, nullptr);
  p.DestroyEvent(p.device, by_host, nullptr), p.DestroyEvent(p.device, by_queue, nullptr);
  p.destroy(out);
  CHECK(p.said.empty());
}

void a_wait_may_come_before_its_signal() {
  Program p;
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 3};
  VkSemaphoreCreateInfo semaphore_info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  VkSemaphore semaphore = nullptr;
  CHECK(p.CreateSemaphore(p.device, &semaphore_info, nullptr, &semaphore) == VK_SUCCESS);
  const auto out = p.buffer(64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = nullptr;
  CHECK(p.CreateFence(p.device, &fence_info, nullptr, &fence) == VK_SUCCESS);
  const VkCommandBuffer c = p.begin();
  p.CmdFillBuffer(c, out.buffer, 0, 64, 0x11223344);
  CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
  const uint64_t wanted = 5, signaled = 7;
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 1, &wanted, 1, &signaled};
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values, 1, &semaphore, &stage, 1, &c, 1, &semaphore};
  CHECK(p.QueueSubmit(p.queue, 1, &submit, fence) == VK_SUCCESS);
  CHECK(p.WaitForFences(p.device, 1, &fence, VK_TRUE, 20'000'000) == VK_TIMEOUT);
  CHECK(out.data[0] == 0);
  uint64_t value = 0;
  CHECK(p.GetSemaphoreCounterValue(p.device, semaphore, &value) == VK_SUCCESS && value == 3);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, semaphore, 5};
    CHECK(p.SignalSemaphore(p.device, &signal) == VK_SUCCESS);
  });
  const VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &semaphore, &signaled};
  CHECK(p.WaitSemaphores(p.device, &wait, ~uint64_t{0}) == VK_SUCCESS);
  other.join();
  CHECK(p.WaitForFences(p.device, 1, &fence, VK_TRUE, ~uint64_t{0}) == VK_SUCCESS && p.GetFenceStatus(p.device, fence) == VK_SUCCESS);
  CHECK(out.data[0] == 0x44);
  CHECK(p.GetSemaphoreCounterValue(p.device, semaphore, &value) == VK_SUCCESS && value == 7);
  CHECK(p.ResetFences(p.device, 1, &fence) == VK_SUCCESS && p.GetFenceStatus(p.device, fence) == VK_NOT_READY);
  p.DestroyFence(p.device, fence, nullptr);
  p.DestroySemaphore(p.device, semaphore, nullptr);
  p.destroy(out);
}

}  // namespace

int main() {
  names_are_null_or_there();
  commands_of_the_version_that_is_asked_for();
  commands_of_the_version_are_there();
  what_is_not_there_is_refused_and_named();
  a_triangle_has_the_bits_of_the_core();
  a_subpass_reads_what_the_one_before_drew();
  timestamps_are_not_lost();
  refused_memory_is_a_result();
  events_hold_back_what_follows();
  a_wait_may_come_before_its_signal();
  return finish("test_vulkan_driver");
}
