// tests/vulkan_fixture.hpp -- a program on the driver without the loader: commands by vkGetInstanceProcAddr, an instance that keeps what
// is said, a device, memory, images.
#pragma once

#include <vulkan/vk_icd.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::test {

// The commands that tests call; TILEGPU_VK(CmdDraw) is a pointer `CmdDraw`.
// clang-format off
#define TILEGPU_VK_COMMANDS(X) \
  X(CreateInstance) X(DestroyInstance) X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties) X(GetPhysicalDeviceFeatures) \
  X(CreateDevice) X(DestroyDevice) X(GetDeviceProcAddr) X(GetDeviceQueue) X(CreateDebugUtilsMessengerEXT) \
  X(DestroyDebugUtilsMessengerEXT) X(AllocateMemory) X(FreeMemory) X(MapMemory) X(UnmapMemory) X(CreateBuffer) X(DestroyBuffer) \
  X(GetBufferMemoryRequirements) X(BindBufferMemory) X(CreateImage) X(DestroyImage) X(GetImageMemoryRequirements) \
  X(BindImageMemory) X(CreateImageView) X(DestroyImageView) X(CreateBufferView) X(DestroyBufferView) \
  X(GetPhysicalDeviceFormatProperties) X(CreateDescriptorUpdateTemplate) X(DestroyDescriptorUpdateTemplate) X(UpdateDescriptorSetWithTemplate) X(CreateSampler) X(DestroySampler) X(CreateRenderPass) \
  X(DestroyRenderPass) X(CreateFramebuffer) X(DestroyFramebuffer) X(CreateShaderModule) X(DestroyShaderModule) \
  X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout) X(CreatePipelineLayout) X(DestroyPipelineLayout) \
  X(CreateGraphicsPipelines) X(DestroyPipeline) X(CreateDescriptorPool) X(DestroyDescriptorPool) X(AllocateDescriptorSets) \
  X(UpdateDescriptorSets) X(CreateCommandPool) X(DestroyCommandPool) X(AllocateCommandBuffers) X(BeginCommandBuffer) \
  X(EndCommandBuffer) X(CmdBeginRenderPass) X(CmdNextSubpass) X(CmdEndRenderPass) X(CmdExecuteCommands) X(CmdClearAttachments) X(CmdClearColorImage) X(CmdBindPipeline) X(CmdSetViewport) \
  X(CmdSetScissor) X(CmdPushConstants) X(CmdBindDescriptorSets) X(CmdBindVertexBuffers) X(CmdDraw) X(CmdCopyImageToBuffer) \
  X(CmdPipelineBarrier) X(CmdFillBuffer) X(CreateComputePipelines) X(CmdDispatch) X(CmdDispatchBase) X(CmdDispatchIndirect) X(QueueSubmit) X(QueueWaitIdle) X(DeviceWaitIdle) X(CreateFence) \
  X(DestroyFence) X(WaitForFences) X(GetFenceStatus) X(ResetFences) X(CreateSemaphore) X(DestroySemaphore) X(SignalSemaphore) \
  X(WaitSemaphores) X(GetSemaphoreCounterValue) X(CreateEvent) X(DestroyEvent) X(GetEventStatus) X(SetEvent) X(ResetEvent) \
  X(CmdSetEvent) X(CmdResetEvent) X(CmdWaitEvents) X(CreateQueryPool) X(DestroyQueryPool) X(CmdResetQueryPool) X(CmdBeginQuery) \
  X(CmdBeginDebugUtilsLabelEXT) X(CmdEndDebugUtilsLabelEXT) X(SetDebugUtilsObjectNameEXT) X(CmdEndQuery) X(CmdWriteTimestamp) X(GetQueryPoolResults)
// clang-format on

/// An instance and a device, and what the driver said.
struct Program {
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_VK_COMMANDS(TILEGPU_VK)
#undef TILEGPU_VK
  VkInstance instance = nullptr;
  VkPhysicalDevice physical_device = nullptr;
  VkDevice device = nullptr;
  VkQueue queue = nullptr;
  VkCommandPool pool = nullptr;
  std::vector<VkDescriptorPool> set_pools;
  std::vector<std::string> said, told;  // warnings and errors; the rest

  static VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT,
                                  const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) {
    const bool loud = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
    (loud ? static_cast<Program*>(self)->said : static_cast<Program*>(self)->told).emplace_back(data->pMessage);
    return VK_FALSE;
  }

  Program() {
    uint32_t version = 7;
    CHECK(vk_icdNegotiateLoaderICDInterfaceVersion(&version) == VK_SUCCESS && version == 7);
    load(CreateInstance, "vkCreateInstance");
    VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    messenger.messageSeverity = 0x1111, messenger.messageType = 7;
    messenger.pfnUserCallback = hear, messenger.pUserData = this;
    const char* extensions[] = {"VK_EXT_debug_utils", "VK_KHR_get_physical_device_properties2"};
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pNext = &messenger, info.pApplicationInfo = &application;
    info.enabledExtensionCount = 2, info.ppEnabledExtensionNames = extensions;
    CHECK(CreateInstance(&info, nullptr, &instance) == VK_SUCCESS);
#define TILEGPU_VK(name) load(name, "vk" #name);
    TILEGPU_VK_COMMANDS(TILEGPU_VK)
#undef TILEGPU_VK
    VkDebugUtilsMessengerEXT made = nullptr;
    CHECK(CreateDebugUtilsMessengerEXT(instance, &messenger, nullptr, &made) == VK_SUCCESS);
    uint32_t one = 1;
    CHECK(EnumeratePhysicalDevices(instance, &one, &physical_device) == VK_SUCCESS && one == 1);
    make_device();
  }
  Program(const Program&) = delete;
  ~Program() {
    destroy_device();
    DestroyInstance(instance, nullptr);
  }

  template <class F>
  void load(F& function, const char* name) {
    // Timelines are an extension of 1.1.
    auto found = vk_icdGetInstanceProcAddr(instance, name);
    if (!found) found = vk_icdGetInstanceProcAddr(instance, (std::string(name) + "KHR").c_str());
    function = reinterpret_cast<F>(found);
    CHECK_MESSAGE(function || !instance, name);
  }

  void make_device() {
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, nullptr,
                                                             VK_TRUE};
    make_device({"VK_KHR_timeline_semaphore"}, &timeline);
  }
  void destroy_device() {
    for (const VkDescriptorPool sets : set_pools) DestroyDescriptorPool(device, sets, nullptr);
    set_pools.clear();
    DestroyCommandPool(device, pool, nullptr);
    DestroyDevice(device, nullptr);
  }
  /// In place of the one that there is.
  void remake_device(const std::vector<const char*>& extensions, const void* features) {
    destroy_device();
    make_device(extensions, features);
  }
  void make_device(const std::vector<const char*>& extensions, const void* features) {
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueCount = 1, queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, features};
    info.queueCreateInfoCount = 1, info.pQueueCreateInfos = &queues;
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size()), info.ppEnabledExtensionNames = extensions.data();
    CHECK(CreateDevice(physical_device, &info, nullptr, &device) == VK_SUCCESS);
    GetDeviceQueue(device, 0, 0, &queue);
    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    CHECK(CreateCommandPool(device, &pool_info, nullptr, &pool) == VK_SUCCESS);
  }

  bool heard(const char* part) const {
    for (const std::string& text : said)
      if (text.find(part) != std::string::npos) return true;
    return false;
  }

  VkDeviceMemory allocate(uint64_t size_B, uint32_t type = 0) {
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, size_B, type};
    VkDeviceMemory memory = nullptr;
    CHECK(AllocateMemory(device, &info, nullptr, &memory) == VK_SUCCESS);
    return memory;
  }

  struct MappedBuffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint8_t* data;
  };
  MappedBuffer buffer(uint64_t size_B, VkBufferUsageFlags usage) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size_B, info.usage = usage;
    MappedBuffer out{};
    CHECK(CreateBuffer(device, &info, nullptr, &out.buffer) == VK_SUCCESS);
    VkMemoryRequirements needs;
    GetBufferMemoryRequirements(device, out.buffer, &needs);
    out.memory = allocate(needs.size);
    CHECK(BindBufferMemory(device, out.buffer, out.memory, 0) == VK_SUCCESS);
    CHECK(MapMemory(device, out.memory, 0, VK_WHOLE_SIZE, 0, reinterpret_cast<void**>(&out.data)) == VK_SUCCESS);
    return out;
  }
  void destroy(const MappedBuffer& b) {
    DestroyBuffer(device, b.buffer, nullptr);
    FreeMemory(device, b.memory, nullptr);
  }

  struct BoundImage {
    VkImage image;
    VkImageView view;
    VkDeviceMemory memory;
  };
  BoundImage image(VkFormat format, uint32_t width_px, uint32_t height_px, VkImageUsageFlags usage, bool lazy = false,
                   VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D, info.format = format, info.extent = {width_px, height_px, 1};
    info.mipLevels = info.arrayLayers = 1, info.samples = samples, info.usage = usage;
    BoundImage out{};
    CHECK(CreateImage(device, &info, nullptr, &out.image) == VK_SUCCESS);
    VkMemoryRequirements needs;
    GetImageMemoryRequirements(device, out.image, &needs);
    CHECK(!lazy || needs.memoryTypeBits & 2);
    out.memory = allocate(needs.size, lazy ? 1 : 0);
    CHECK(BindImageMemory(device, out.image, out.memory, 0) == VK_SUCCESS);
    VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = out.image, view.viewType = VK_IMAGE_VIEW_TYPE_2D, view.format = format;
    const auto aspect = format == VK_FORMAT_S8_UINT                           ? VK_IMAGE_ASPECT_STENCIL_BIT
                        : usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                              : VK_IMAGE_ASPECT_COLOR_BIT;
    view.subresourceRange = {static_cast<VkImageAspectFlags>(aspect), 0, 1, 0, 1};
    CHECK(CreateImageView(device, &view, nullptr, &out.view) == VK_SUCCESS);
    return out;
  }
  void destroy(const BoundImage& i) {
    DestroyImageView(device, i.view, nullptr);
    DestroyImage(device, i.image, nullptr);
    FreeMemory(device, i.memory, nullptr);
  }

  /// One colour, cleared and stored.
  VkRenderPass one_subpass(VkFormat format = VK_FORMAT_R8G8B8A8_UNORM) {
    VkAttachmentDescription color{};
    color.format = format, color.samples = VK_SAMPLE_COUNT_1_BIT;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    color.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1, subpass.pColorAttachments = &reference;
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = 1, info.pAttachments = &color, info.subpassCount = 1, info.pSubpasses = &subpass;
    VkRenderPass out = nullptr;
    CHECK(CreateRenderPass(device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }
  VkFramebuffer framebuffer(VkRenderPass pass, const std::vector<VkImageView>& views, uint32_t side_px) {
    VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    info.renderPass = pass, info.attachmentCount = static_cast<uint32_t>(views.size()), info.pAttachments = views.data();
    info.width = info.height = side_px, info.layers = 1;
    VkFramebuffer out = nullptr;
    CHECK(CreateFramebuffer(device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }

  VkShaderModule shader(const char* text, VkShaderStageFlagBits stage) {
    GlslSource source;
    source.text = text, source.stage = stage;
    auto words = compile_glsl(source);
    if (!CHECK(words)) return nullptr;
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, words->size() * 4, words->data()};
    VkShaderModule module = nullptr;
    CHECK(CreateShaderModule(device, &info, nullptr, &module) == VK_SUCCESS);
    return module;
  }

  VkDescriptorSetLayout set_layout(const std::vector<VkDescriptorSetLayoutBinding>& bindings, VkDescriptorSetLayoutCreateFlags flags = 0) {
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, flags,
                                         static_cast<uint32_t>(bindings.size()), bindings.data()};
    VkDescriptorSetLayout out = nullptr;
    CHECK(CreateDescriptorSetLayout(device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }
  VkPipelineLayout pipeline_layout(const std::vector<VkDescriptorSetLayout>& sets, const std::vector<VkPushConstantRange>& ranges = {},
                                   VkPipelineLayoutCreateFlags flags = 0) {
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, flags};
    info.setLayoutCount = static_cast<uint32_t>(sets.size()), info.pSetLayouts = sets.data();
    info.pushConstantRangeCount = static_cast<uint32_t>(ranges.size()), info.pPushConstantRanges = ranges.data();
    VkPipelineLayout out = nullptr;
    CHECK(CreatePipelineLayout(device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }
  /// From a pool of its own, which ends with the device.
  VkDescriptorSet descriptor_set(VkDescriptorSetLayout layout) {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_SAMPLER, 1};  // pools never run out here
    VkDescriptorPoolCreateInfo pools{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, 1, 1, &size};
    CHECK(CreateDescriptorPool(device, &pools, nullptr, &set_pools.emplace_back()) == VK_SUCCESS);
    VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, set_pools.back(), 1, &layout};
    VkDescriptorSet out = nullptr;
    CHECK(AllocateDescriptorSets(device, &info, &out) == VK_SUCCESS);
    return out;
  }

  VkPipeline compute_pipeline(const char* text, VkPipelineLayout layout) {
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    const VkShaderModule module = shader(text, VK_SHADER_STAGE_COMPUTE_BIT);
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", nullptr};
    info.layout = layout;
    VkPipeline out = nullptr;
    CHECK(CreateComputePipelines(device, nullptr, 1, &info, nullptr, &out) == VK_SUCCESS);
    DestroyShaderModule(device, module, nullptr);
    return out;
  }

  VkCommandBuffer begin() {
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands = nullptr;
    CHECK(AllocateCommandBuffers(device, &info, &commands) == VK_SUCCESS);
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(BeginCommandBuffer(commands, &begin) == VK_SUCCESS);
    return commands;
  }
  void run(VkCommandBuffer commands) {
    CHECK(EndCommandBuffer(commands) == VK_SUCCESS);
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1, info.pCommandBuffers = &commands;
    CHECK(QueueSubmit(queue, 1, &info, nullptr) == VK_SUCCESS);
    CHECK(QueueWaitIdle(queue) == VK_SUCCESS);
  }
  /// Runs the commands, and behind them a copy of level 0 to the buffer; what the driver said stays in `said`.
  void run_and_copy(VkCommandBuffer commands, const BoundImage& from, uint32_t side_px, VkBuffer to) {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {side_px, side_px, 1};
    CmdCopyImageToBuffer(commands, from.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to, 1, &region);
    run(commands);
  }
  /// The same; what the driver said is a failure.
  void run_and_read(VkCommandBuffer commands, const BoundImage& from, uint32_t side_px, VkBuffer to) {
    run_and_copy(commands, from, side_px, to);
    for (const std::string& text : said) CHECK_MESSAGE(false, text);
    said.clear();
  }
};

/// A pipeline with dynamic viewport and scissor, and nothing else that is not the default; `change` has the last word.
inline VkPipeline make_pipeline(
    Program& p, const char* vertex, const char* fragment, VkPipelineLayout layout, VkRenderPass pass, uint32_t subpass,
    const std::function<void(VkGraphicsPipelineCreateInfo&)>& change = [](VkGraphicsPipelineCreateInfo&) {}) {
  VkPipelineShaderStageCreateInfo stages[2] = {{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO},
                                               {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO}};
  stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT, stages[0].module = p.shader(vertex, VK_SHADER_STAGE_VERTEX_BIT), stages[0].pName = "main";
  stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT, stages[1].module = p.shader(fragment, VK_SHADER_STAGE_FRAGMENT_BIT),
  stages[1].pName = "main";
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  depth.depthTestEnable = VK_TRUE;  // the pass has no depth: Vulkan ignores it
  VkPipelineColorBlendAttachmentState blend{};
  blend.colorWriteMask = 15;
  VkPipelineColorBlendStateCreateInfo blending{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blending.attachmentCount = 1, blending.pAttachments = &blend;
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 2, states};
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = 2, info.pStages = stages;
  info.pVertexInputState = &input, info.pInputAssemblyState = &assembly, info.pViewportState = &viewport;
  info.pRasterizationState = &raster, info.pMultisampleState = &samples, info.pDepthStencilState = &depth;
  info.pColorBlendState = &blending, info.pDynamicState = &dynamic;
  info.layout = layout, info.renderPass = pass, info.subpass = subpass;
  change(info);
  VkPipeline out = nullptr;
  CHECK_MESSAGE(p.CreateGraphicsPipelines(p.device, nullptr, 1, &info, nullptr, &out) == VK_SUCCESS, p.said.empty() ? "" : p.said.back());
  for (const auto& stage : stages) p.DestroyShaderModule(p.device, stage.module, nullptr);
  return out;
}

/// A device with dynamic rendering and what `extensions` and `features` add, and a buffer for one square picture.
struct RenderingScene {
  Program p;
  PFN_vkCmdBeginRendering begin_rendering = nullptr;
  PFN_vkCmdEndRendering end_rendering = nullptr;
  VkRect2D area{};
  Program::MappedBuffer out{};

  RenderingScene(uint32_t side_px, uint32_t texel_B, std::vector<const char*> extensions, void* features)
      : area{{0, 0}, {side_px, side_px}} {
    const VkPhysicalDeviceDynamicRenderingFeatures dynamic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES, features, VK_TRUE};
    extensions.push_back("VK_KHR_dynamic_rendering");
    p.remake_device(extensions, &dynamic);
    p.load(begin_rendering, "vkCmdBeginRendering"), p.load(end_rendering, "vkCmdEndRendering");
    out = p.buffer(uint64_t{side_px} * side_px * texel_B, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  }

  /// Cleared to zeros.
  static VkRenderingAttachmentInfo attachment(VkImageView view, VkAttachmentStoreOp store, VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL) {
    VkRenderingAttachmentInfo info{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    info.imageView = view, info.imageLayout = layout;
    info.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, info.storeOp = store;
    return info;
  }
  void begin(VkCommandBuffer c, const std::vector<VkRenderingAttachmentInfo>& colors,
             const VkRenderingAttachmentInfo* depth_stencil = nullptr) {
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = area, info.layerCount = 1;
    info.colorAttachmentCount = static_cast<uint32_t>(colors.size()), info.pColorAttachments = colors.data();
    info.pDepthAttachment = info.pStencilAttachment = depth_stencil;
    begin_rendering(c, &info);
  }
  /// The pipeline, the whole picture as its viewport and its scissor.
  void bind(VkCommandBuffer c, VkPipeline pipeline) {
    const VkViewport viewport{0, 0, static_cast<float>(area.extent.width), static_cast<float>(area.extent.height), 0, 1};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    p.CmdSetViewport(c, 0, 1, &viewport), p.CmdSetScissor(c, 0, 1, &area);
  }
  /// What a fragment shader reads of the pixel is what was written before.
  void barrier(VkCommandBuffer c, VkAccessFlags read) {
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, read};
    p.CmdPipelineBarrier(c, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                         VK_DEPENDENCY_BY_REGION_BIT, 1, &memory, 0, nullptr, 0, nullptr);
  }
};

}  // namespace tilegpu::test
