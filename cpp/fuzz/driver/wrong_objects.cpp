// fuzz/driver/wrong_objects.cpp -- objects that Vulkan forbids to make, writes to places that are not there, submissions of what is not
// ready.
//
// In: choices. Out: errors; what is made all the same is destroyed. Source: Vulkan specification, valid usage of the create infos.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "driver/formats.hpp"
#include "driver/wrong.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kFar[] = {33, 1000, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
constexpr VkFormat kNoFormat = static_cast<VkFormat>(9999);

void memory(World& w) {
  VkDeviceMemory made = nullptr;
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 64, 0};
  VkImportMemoryFdInfoKHR from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, -1};
  const auto b = w.pick(w.buffers);
  void* data = nullptr;
  switch (w.c.below(6)) {
    case 0:
      info.memoryTypeIndex = w.c.of(kFar);
      return TILEGPU_WRONG(w, AllocateMemory, w.device, &info, nullptr, &made);
    case 1:
      info.allocationSize = w.c.coin() ? ~uint64_t{0} : uint64_t{1} << 62;
      return TILEGPU_WRONG(w, AllocateMemory, w.device, &info, nullptr, &made);
    case 2: {
      const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
      from.fd = w.c.coin() ? other : -1, info.pNext = &from;
      TILEGPU_WRONG(w, AllocateMemory, w.device, &info, nullptr, &made);
      close(other);  // it is still ours
      return;
    }
    case 3:
      return TILEGPU_WRONG(w, BindBufferMemory, w.device, b->handle, b->memory->handle, w.c.coin() ? ~uint64_t{63} : 0);
    case 4:
      return TILEGPU_WRONG(w, MapMemory, w.device, w.arena->memory->handle, w.c.coin() ? ~uint64_t{0} - 5 : w.arena->memory->size_B + 1,
                           w.c.coin() ? VK_WHOLE_SIZE : 1, 0, &data);
    default: {
      info.memoryTypeIndex = 1;  // lazily allocated
      TILEGPU_MUST(w, AllocateMemory, w.device, &info, nullptr, &made);
      TILEGPU_WRONG(w, MapMemory, w.device, made, 0, VK_WHOLE_SIZE, 0, &data);
      w.vk.FreeMemory(w.device, made, nullptr);
    }
  }
}

void buffers(World& w) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  VkBuffer made = nullptr;
  VkBufferViewCreateInfo view{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  view.buffer = w.arena->handle, view.format = VK_FORMAT_R8G8B8A8_UNORM, view.range = VK_WHOLE_SIZE;
  VkBufferView of = nullptr;
  switch (w.c.below(6)) {
    case 0:
      return TILEGPU_WRONG(w, CreateBuffer, w.device, &info, nullptr, &made);
    case 1:
      info.size = ~uint64_t{0} - w.c.below(3);
      return TILEGPU_WRONG(w, CreateBuffer, w.device, &info, nullptr, &made);
    case 2:
      info.size = 16, info.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
      return TILEGPU_WRONG(w, CreateBuffer, w.device, &info, nullptr, &made);
    case 3:
      view.format = w.c.coin() ? kNoFormat : VK_FORMAT_BC1_RGB_UNORM_BLOCK;
      return TILEGPU_WRONG(w, CreateBufferView, w.device, &view, nullptr, &of);
    case 4:
      view.offset = w.c.coin() ? kArena_B : ~uint64_t{15};
      return TILEGPU_WRONG(w, CreateBufferView, w.device, &view, nullptr, &of);
    default:
      view.offset = 16, view.range = w.c.coin() ? kArena_B : ~uint64_t{7};
      return TILEGPU_WRONG(w, CreateBufferView, w.device, &view, nullptr, &of);
  }
}

void images(World& w) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_R8G8B8A8_UNORM, info.extent = {8, 8, 1}, info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT, info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  VkImage made = nullptr;
  switch (w.c.below(11)) {
    case 0:
      info.extent.width = w.c.coin() ? 0 : w.c.of(kFar) | 65536;
      break;
    case 1:
      info.extent.depth = w.c.coin() ? 0 : 2;
      break;
    case 2:
      info.mipLevels = w.c.coin() ? 0 : w.c.of(kFar);
      break;
    case 3:
      info.arrayLayers = w.c.coin() ? 0 : w.c.of(kFar) | 4096;
      break;
    case 4:
      info.samples = static_cast<VkSampleCountFlagBits>(w.c.coin() ? 3 : 64);
      break;
    case 5:
      info.format = kNoFormat;
      break;
    case 6:
      info.imageType = static_cast<VkImageType>(w.c.coin() ? 0 : 77);
      break;
    case 7:
      info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT, info.extent.width = w.c.coin() ? 8 : 7, info.arrayLayers = 5;
      break;
    case 8:
      info.flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
      break;
    case 9:
      info.format = VK_FORMAT_BC7_UNORM_BLOCK, info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
      break;
    default:
      info.samples = VK_SAMPLE_COUNT_4_BIT, info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, info.mipLevels = 2;
      break;
  }
  TILEGPU_WRONG(w, CreateImage, w.device, &info, nullptr, &made);
}

void views(World& w) {
  const auto i = w.pick(w.images, [](const ImageModel& m) { return !m.of_swapchain; });
  if (!i) return;
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  info.image = i->handle, info.viewType = VK_IMAGE_VIEW_TYPE_2D, info.format = i->info.format;
  info.subresourceRange = {aspects_of(*i->format), 0, 1, 0, 1};
  VkImageView made = nullptr;
  switch (w.c.below(7)) {
    case 0:
      info.subresourceRange.baseMipLevel = w.c.of(kFar);
      break;
    case 1:
      info.subresourceRange.levelCount = w.c.coin() ? 0 : w.c.of(kFar) - 1;
      break;
    case 2:
      info.subresourceRange.baseArrayLayer = w.c.of(kFar);
      break;
    case 3:
      info.subresourceRange.layerCount = w.c.coin() ? 0 : w.c.of(kFar) - 1;
      break;
    case 4:
      info.format = kNoFormat;
      break;
    case 5:
      info.subresourceRange.aspectMask = w.c.of(kFar);
      break;
    default:
      info.viewType = static_cast<VkImageViewType>(w.c.of(kFar));
      break;
  }
  TILEGPU_WRONG(w, CreateImageView, w.device, &info, nullptr, &made);
}

void samplers(World& w) {
  const uint32_t far = w.c.of(kFar);
  const float odd = w.c.coin() ? std::numeric_limits<float>::quiet_NaN() : -1e30f;
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  VkSampler made = nullptr;
  switch (w.c.below(7)) {
    case 0:
      info.magFilter = static_cast<VkFilter>(far);
      break;
    case 1:
      info.addressModeV = static_cast<VkSamplerAddressMode>(far);
      break;
    case 2:
      info.borderColor = static_cast<VkBorderColor>(far), info.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
      break;
    case 3:
      info.compareEnable = VK_TRUE, info.compareOp = static_cast<VkCompareOp>(far);
      break;
    case 4:
      info.anisotropyEnable = VK_TRUE, info.maxAnisotropy = odd;
      break;
    case 5:
      info.mipLodBias = odd, info.minLod = 5, info.maxLod = w.c.coin() ? 1 : odd;
      break;
    default:
      info.mipmapMode = static_cast<VkSamplerMipmapMode>(far);
      break;
  }
  const VkResult r = w.vk.CreateSampler(w.device, &info, nullptr, &made);
  w.wrong("CreateSampler", r, true);
  if (r == VK_SUCCESS) w.vk.DestroySampler(w.device, made, nullptr);
}

void layouts(World& w) {
  const uint32_t far = w.c.of(kFar);
  VkDescriptorSetLayoutBinding bindings[] = {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr},
                                             {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL, nullptr}};
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 2, bindings};
  const VkPushConstantRange range{VK_SHADER_STAGE_ALL, w.c.coin() ? far : 0, w.c.coin() ? far | 4096 : 100000};
  std::vector<VkDescriptorSetLayout> many(100, w.set_layout);
  VkPipelineLayoutCreateInfo pipeline{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkDescriptorSetLayout made = nullptr;
  VkPipelineLayout of = nullptr;
  switch (w.c.below(5)) {
    case 0:
      bindings[1].binding = 0;
      break;
    case 1:
      bindings[1].descriptorType = static_cast<VkDescriptorType>(far);
      break;
    case 2:
      bindings[0].descriptorCount = far | 0x40000000, bindings[1].descriptorCount = far | 0x40000000;
      break;
    case 3:
      pipeline.pushConstantRangeCount = 1, pipeline.pPushConstantRanges = &range;
      return TILEGPU_WRONG(w, CreatePipelineLayout, w.device, &pipeline, nullptr, &of);
    default:
      pipeline.setLayoutCount = 100, pipeline.pSetLayouts = many.data();
      return TILEGPU_WRONG(w, CreatePipelineLayout, w.device, &pipeline, nullptr, &of);
  }
  VkDescriptorSetLayoutSupport support{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT};
  w.vk.GetDescriptorSetLayoutSupport(w.device, &info, &support);
  const VkResult r = w.vk.CreateDescriptorSetLayout(w.device, &info, nullptr, &made);
  w.wrong("CreateDescriptorSetLayout", r, support.supported);
  if (r == VK_SUCCESS) w.vk.DestroyDescriptorSetLayout(w.device, made, nullptr);
}

/// Writes and copies that lie elsewhere: nothing is written.
void writes(World& w) {
  const VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, w.set_pool, 1, &w.set_layout};
  VkDescriptorSet set = nullptr;
  TILEGPU_MUST(w, AllocateDescriptorSets, w.device, &allocate, &set);
  w.sets.push_back(set);
  const uint32_t far = w.c.of(kFar);
  constexpr uint64_t kOffsets[] = {0, kCounters_B, ~uint64_t{0}, 3};
  const VkDescriptorBufferInfo bytes{w.counters->handle, w.c.of(kOffsets), w.c.coin() ? VK_WHOLE_SIZE : far};
  const VkDescriptorImageInfo image{nullptr, w.texture->handle, VK_IMAGE_LAYOUT_GENERAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set, write.dstBinding = w.c.coin() ? w.c.below(9) : far, write.dstArrayElement = w.c.coin() ? 0 : far,
  write.descriptorCount = 1;
  write.descriptorType = static_cast<VkDescriptorType>(w.c.below(11));
  write.pBufferInfo = &bytes, write.pImageInfo = &image, write.pTexelBufferView = &w.texels;
  w.vk.UpdateDescriptorSets(w.device, 1, &write, 0, nullptr);
  VkWriteDescriptorSetInlineUniformBlock block{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK, nullptr, 16, &bytes};
  write.pNext = &block, write.descriptorType = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, write.dstArrayElement = w.c.coin() ? 8 : far;
  w.vk.UpdateDescriptorSets(w.device, 1, &write, 0, nullptr);
  VkCopyDescriptorSet copy{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET};
  copy.srcSet = copy.dstSet = set, copy.srcBinding = w.c.below(9), copy.dstBinding = w.c.coin() ? w.c.below(9) : far;
  copy.srcArrayElement = w.c.coin() ? 0 : far, copy.dstArrayElement = w.c.coin() ? 0 : far, copy.descriptorCount = w.c.coin() ? 1 : far;
  w.vk.UpdateDescriptorSets(w.device, 0, nullptr, 1, &copy);
}

void shaders(World& w) {
  constexpr uint32_t kWords[] = {0x07230203, 0x00010000, 0, 20, 0, 0x00020011, 1, 0xffffffff, 0x0003000e, 0, 1};
  const VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, 4 * w.c.below(12), kWords};
  VkComputePipelineCreateInfo pipeline{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  pipeline.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT, pipeline.stage.pName = w.c.coin() ? "main" : "";
  pipeline.layout = w.layout;
  VkPipeline made = nullptr;
  TILEGPU_MUST(w, CreateShaderModule, w.device, &info, nullptr, &pipeline.stage.module);
  TILEGPU_WRONG(w, CreateComputePipelines, w.device, nullptr, 1, &pipeline, nullptr, &made);
  w.vk.DestroyShaderModule(w.device, pipeline.stage.module, nullptr);
  VkGraphicsPipelineCreateInfo graphics{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  const auto library = w.pick(w.pipelines);
  const VkPipeline no_library = library ? library->handle : nullptr;
  const VkPipelineLibraryCreateInfoKHR libraries{VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, nullptr, 1,
                                                 w.c.coin() && !w.libraries.empty() ? &w.libraries[0] : &no_library};
  if (w.c.coin()) graphics.pNext = &libraries;
  graphics.layout = w.layout;
  if (!w.render_passes.empty() && w.c.coin()) graphics.renderPass = w.render_passes[0], graphics.subpass = w.c.of(kFar);
  TILEGPU_WRONG(w, CreateGraphicsPipelines, w.device, nullptr, 1, &graphics, nullptr, &made);
}

void render_passes(World& w) {
  const uint32_t far = w.c.of(kFar);
  VkAttachmentDescription color{};
  color.format = VK_FORMAT_R8G8B8A8_UNORM, color.samples = VK_SAMPLE_COUNT_1_BIT;
  VkAttachmentReference references[9], resolves[9];
  for (int i = 0; i < 9; ++i) references[i] = {0, VK_IMAGE_LAYOUT_GENERAL}, resolves[i] = {0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpasses[2]{};
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 1, info.pAttachments = &color, info.subpassCount = 2, info.pSubpasses = subpasses;
  for (auto& s : subpasses) s.colorAttachmentCount = 1, s.pColorAttachments = references;
  const VkSubpassDependency dependency{far, w.c.coin() ? far : 1, far, far, far, far, w.c.coin() ? 1 : far};
  const VkRenderPassMultiviewCreateInfo masks{
      VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO, nullptr, 1, &far, 0, nullptr, 0, nullptr};
  bool tolerated = true;
  switch (w.c.below(8)) {
    case 0:
      references[0].attachment = far, tolerated = far == VK_ATTACHMENT_UNUSED;
      break;
    case 1:
      color.format = kNoFormat, tolerated = false;
      break;
    case 2:
      subpasses[1].colorAttachmentCount = 9;
      break;
    case 3:
      info.dependencyCount = 1, info.pDependencies = &dependency;
      break;
    case 4:
      subpasses[0].pResolveAttachments = resolves;
      break;
    case 5:
      subpasses[1].pDepthStencilAttachment = references;
      break;
    case 6:
      info.pNext = &masks;
      break;
    default:
      color.samples = static_cast<VkSampleCountFlagBits>(far), color.loadOp = static_cast<VkAttachmentLoadOp>(far);
      break;
  }
  VkRenderPass made = nullptr;
  const VkResult r = w.vk.CreateRenderPass(w.device, &info, nullptr, &made);
  w.wrong("CreateRenderPass", r, tolerated);
  if (r == VK_SUCCESS) w.render_passes.push_back(made);  // and begun by wrong commands
}

void others(World& w) {
  const uint32_t far = w.c.of(kFar);
  uint64_t data[4];
  const auto q = w.pick(w.queries);
  const auto s = w.pick(w.semaphores);
  const auto chain = w.pick(w.swapchains);
  VkQueryPoolCreateInfo pool{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  VkQueryPool made = nullptr;
  switch (w.c.below(6)) {
    case 0:
      pool.queryType = static_cast<VkQueryType>(far), pool.queryCount = 1;
      return TILEGPU_WRONG(w, CreateQueryPool, w.device, &pool, nullptr, &made);
    case 1:
      if (q) TILEGPU_WRONG(w, GetQueryPoolResults, w.device, q->handle, far, 1, sizeof data, data, 8, VK_QUERY_RESULT_64_BIT);
      if (q) w.vk.ResetQueryPool(w.device, q->handle, w.c.coin() ? 0 : far, far);
      return;
    case 2:
      if (q) TILEGPU_WRONG(w, GetQueryPoolResults, w.device, q->handle, 0, q->count, 4, data, 8, VK_QUERY_RESULT_64_BIT);
      return;
    case 3: {
      const VkImportSemaphoreFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,  nullptr, s ? s->handle : nullptr, 0,
                                              VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, -1};
      if (s) TILEGPU_WRONG(w, ImportSemaphoreFdKHR, w.device, &import);
      return;
    }
    case 4: {
      VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
      const VkHeadlessSurfaceCreateInfoEXT headless{VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
      TILEGPU_MUST(w, CreateHeadlessSurfaceEXT, w.instance, &headless, nullptr, &info.surface);
      info.imageFormat = w.c.coin() ? VK_FORMAT_B8G8R8A8_UNORM : w.c.coin() ? VK_FORMAT_R8_UNORM : kNoFormat, info.minImageCount = 2;
      const bool sizes = info.imageFormat == VK_FORMAT_B8G8R8A8_UNORM;
      info.imageExtent = {sizes ? far | 65536 : 4, sizes && w.c.coin() ? 0U : 4U}, info.imageArrayLayers = 1;
      info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
      VkSwapchainKHR none = nullptr;
      TILEGPU_WRONG(w, CreateSwapchainKHR, w.device, &info, nullptr, &none);
      w.vk.DestroySurfaceKHR(w.instance, info.surface, nullptr);
      return;
    }
    default: {
      if (!chain) return;
      VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
      // Beyond all images, or one that is not acquired.
      uint32_t index = far;
      for (uint32_t i = 0; i < chain->images.size() && w.c.coin(); ++i)
        if (std::find(chain->acquired.begin(), chain->acquired.end(), i) == chain->acquired.end()) index = i;
      info.swapchainCount = 1, info.pSwapchains = &chain->handle, info.pImageIndices = &index;
      TILEGPU_WRONG(w, QueuePresentKHR, w.queue, &info);
    }
  }
}

void devices(World& w) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueCount = 1, queues.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1, info.pQueueCreateInfos = &queues;
  const char* none = "VK_EXT_that_is_not_there";
  VkPhysicalDeviceFeatures features{};
  VkDevice made = nullptr;
  switch (w.c.below(4)) {
    case 0:
      info.enabledExtensionCount = 1, info.ppEnabledExtensionNames = &none;
      break;
    case 1:
      features.sparseBinding = VK_TRUE, info.pEnabledFeatures = &features;
      break;
    case 2:
      queues.queueFamilyIndex = w.c.of(kFar);
      break;
    default:
      queues.queueCount = 2;
      break;
  }
  TILEGPU_WRONG(w, CreateDevice, w.gpu, &info, nullptr, &made);
}

void host_copies(World& w) {
  const auto i = w.pick(w.images, [](const ImageModel& m) { return m.info.usage & VK_IMAGE_USAGE_HOST_TRANSFER_BIT && !m.of_swapchain; });
  if (!i) return;
  w.wait_idle();
  if (w.lost) return;
  uint8_t bytes[64]{};
  VkMemoryToImageCopy region{VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY};
  region.pHostPointer = bytes, region.imageSubresource = {first_aspect(*i->format), 0, 0, 1}, region.imageExtent = {1, 1, 1};
  switch (w.c.below(5)) {
    case 0:
      region.imageSubresource.mipLevel = w.c.of(kFar);
      break;
    case 1:
      region.imageSubresource.baseArrayLayer = w.c.of(kFar);
      break;
    case 2:
      region.imageOffset.x = w.c.coin() ? -1 : 1000;
      break;
    case 3:
      region.imageExtent.height = w.c.coin() ? 0 : w.c.of(kFar) | 65536;
      break;
    default:
      region.imageSubresource.aspectMask = w.c.coin() ? 0 : w.c.of(kFar);
      break;
  }
  const VkCopyMemoryToImageInfo info{
      VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO, nullptr, 0, i->handle, VK_IMAGE_LAYOUT_GENERAL, 1, &region};
  TILEGPU_WRONG(w, CopyMemoryToImage, w.device, &info);
}

}  // namespace

void wrong_object(World& w) {
  using Wrong = void (*)(World&);
  constexpr Wrong kAll[] = {memory, buffers, images,        views,  samplers, layouts, writes,
                            writes, shaders, render_passes, others, others,   devices, host_copies};
  w.c.of(kAll)(w);
}

// The device is lost by it, which every later call says, at once.
void wrong_submission(World& w) {
  w.submit();
  w.wait_idle();
  if (w.lost) return;
  w.tainted = true;
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, w.pool,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  VkCommandBuffer b = nullptr;
  TILEGPU_MUST(w, AllocateCommandBuffers, w.device, &allocate, &b);
  w.recorded.push_back(b);
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  if (w.c.coin()) TILEGPU_MUST(w, BeginCommandBuffer, b, &begin);
  VkFence fence = nullptr;
  const VkFenceCreateInfo unsignalled{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  TILEGPU_MUST(w, CreateFence, w.device, &unsignalled, nullptr, &fence);
  const auto timeline = w.pick(w.semaphores, [](const SemaphoreModel& s) { return s.timeline; });
  VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  const uint64_t value = timeline ? timeline->value + 1 : 0;
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
  info.commandBufferCount = 1, info.pCommandBuffers = &b;
  const bool later = timeline && w.c.coin();  // what waits is submitted by a thread of the queue
  if (later) {
    values.waitSemaphoreValueCount = info.waitSemaphoreCount = 1, values.pWaitSemaphoreValues = &value;
    info.pWaitSemaphores = &timeline->handle, info.pWaitDstStageMask = &stage;
  }
  const VkResult r = w.vk.QueueSubmit(w.queue, 1, &info, fence);
  if (r > 0 || (r == VK_SUCCESS && !later))
    w.fail("vkQueueSubmit gave " + std::to_string(r) + " for a command buffer that is not executable");
  w.lost = true;
  if (later) {
    const VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, timeline->handle, value};
    (void)w.vk.SignalSemaphore(w.device, &signal);
  }
  const auto must_lose = [&](const char* command, VkResult result) {
    if (result != VK_ERROR_DEVICE_LOST) w.fail(std::string(command) + " gave " + std::to_string(result) + " on a device that is lost");
  };
  must_lose("vkWaitForFences", w.vk.WaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
  must_lose("vkQueueWaitIdle", w.vk.QueueWaitIdle(w.queue));
  must_lose("vkGetFenceStatus", w.vk.GetFenceStatus(w.device, fence));
  const VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, timeline ? &timeline->handle : nullptr, &value};
  if (timeline && !later) must_lose("vkWaitSemaphores", w.vk.WaitSemaphores(w.device, &wait, UINT64_MAX));
  w.vk.DestroyFence(w.device, fence, nullptr);
}

void World::step_wrong() {
  const uint32_t what = c.below(64);
  if (what == 63) return wrong_submission(*this);
  if (what % 4 == 3) return wrong_state(*this);
  if (what % 2)
    wrong_object(*this);
  else
    wrong_command(*this);
}

}  // namespace tilegpu::fuzz
