// fuzz/driver/answers.cpp -- what the driver says of itself and of objects: the old questions beside the new ones, which must agree, and
// those that few programs ask.
//
// In: choices. Out: nothing that stays. Source: Vulkan specification, "Devices and Queues", "Formats", "Capabilities", "Window System
// Integration", "Debugging".
#include <algorithm>
#include <cstring>

#include "driver/formats.hpp"
#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

template <class Old, class New>
void agree(World& w, const char* what, const Old& a, const New& b) {
  static_assert(std::is_same_v<Old, New>);
  if (std::memcmp(&a, &b, sizeof a) != 0) w.fail(std::string(what) + " is not what its newer command says");
}

void of_device(World& w) {
  VkPhysicalDeviceFeatures features{};
  VkPhysicalDeviceFeatures2 features2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  w.vk.GetPhysicalDeviceFeatures(w.gpu, &features), w.vk.GetPhysicalDeviceFeatures2(w.gpu, &features2);
  agree(w, "vkGetPhysicalDeviceFeatures", features, features2.features);
  VkPhysicalDeviceMemoryProperties memory{};
  VkPhysicalDeviceMemoryProperties2 memory2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, nullptr, {}};
  w.vk.GetPhysicalDeviceMemoryProperties(w.gpu, &memory), w.vk.GetPhysicalDeviceMemoryProperties2(w.gpu, &memory2);
  if (memory.memoryTypeCount != memory2.memoryProperties.memoryTypeCount || memory.memoryHeaps[0].size == 0)
    w.fail("vkGetPhysicalDeviceMemoryProperties is not what its newer command says");
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceProperties2 properties2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  w.vk.GetPhysicalDeviceProperties(w.gpu, &properties), w.vk.GetPhysicalDeviceProperties2(w.gpu, &properties2);
  if (std::memcmp(properties.pipelineCacheUUID, properties2.properties.pipelineCacheUUID, VK_UUID_SIZE) != 0)
    w.fail("vkGetPhysicalDeviceProperties is not what its newer command says");
  uint32_t families = 1, groups = 1, tools = 0, layers = 0, version = 0;
  VkQueueFamilyProperties family{};
  w.vk.GetPhysicalDeviceQueueFamilyProperties(w.gpu, &families, &family);
  VkPhysicalDeviceGroupProperties group{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES};
  TILEGPU_MUST(w, EnumeratePhysicalDeviceGroups, w.instance, &groups, &group);
  if (groups != 1 || group.physicalDevices[0] != w.gpu) w.fail("the group of the device is not itself");
  TILEGPU_MUST(w, GetPhysicalDeviceToolProperties, w.gpu, &tools, nullptr);
  TILEGPU_MUST(w, EnumerateDeviceLayerProperties, w.gpu, &layers, nullptr);
  TILEGPU_MUST(w, EnumerateInstanceVersion, &version);
  VkPeerMemoryFeatureFlags peers = 0;
  w.vk.GetDeviceGroupPeerMemoryFeatures(w.device, 0, 0, 0, &peers);
  VkDeviceQueueInfo2 asked{VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2};
  VkQueue queue = nullptr;
  w.vk.GetDeviceQueue2(w.device, &asked, &queue);
  if (queue != w.queue) w.fail("vkGetDeviceQueue2 gives another queue");
}

void of_formats(World& w) {
  const auto format = static_cast<VkFormat>(w.c.below(185));
  const auto type = static_cast<VkImageType>(w.c.below(3));
  const auto tiling = static_cast<VkImageTiling>(w.c.below(2));
  const VkImageUsageFlags usage = 1 + w.c.below(255);
  const VkImageCreateFlags flags = w.c.byte();
  VkFormatProperties properties{};
  VkFormatProperties2 properties2{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};
  w.vk.GetPhysicalDeviceFormatProperties(w.gpu, format, &properties), w.vk.GetPhysicalDeviceFormatProperties2(w.gpu, format, &properties2);
  agree(w, "vkGetPhysicalDeviceFormatProperties", properties, properties2.formatProperties);
  VkImageFormatProperties limits{};
  VkImageFormatProperties2 limits2{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  const VkPhysicalDeviceImageFormatInfo2 asked{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, nullptr, format, type, tiling, usage, flags};
  const VkResult a = w.vk.GetPhysicalDeviceImageFormatProperties(w.gpu, format, type, tiling, usage, flags, &limits);
  const VkResult b = w.vk.GetPhysicalDeviceImageFormatProperties2(w.gpu, &asked, &limits2);
  if (a != b || (a == VK_SUCCESS && limits.maxArrayLayers != limits2.imageFormatProperties.maxArrayLayers))
    w.fail("vkGetPhysicalDeviceImageFormatProperties is not what its newer command says");
  uint32_t count = 0;
  w.vk.GetPhysicalDeviceSparseImageFormatProperties(w.gpu, format, type, VK_SAMPLE_COUNT_1_BIT, usage, tiling, &count, nullptr);
  VkPhysicalDeviceSparseImageFormatInfo2 sparse{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SPARSE_IMAGE_FORMAT_INFO_2};
  sparse.format = format, sparse.type = type, sparse.tiling = tiling, sparse.usage = usage, sparse.samples = VK_SAMPLE_COUNT_1_BIT;
  w.vk.GetPhysicalDeviceSparseImageFormatProperties2(w.gpu, &sparse, &count, nullptr);
  VkPhysicalDeviceExternalBufferInfo buffer{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  buffer.usage = usage, buffer.handleType = static_cast<VkExternalMemoryHandleTypeFlagBits>(1 << w.c.below(14));
  VkExternalBufferProperties buffers{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  w.vk.GetPhysicalDeviceExternalBufferProperties(w.gpu, &buffer, &buffers);
  const VkPhysicalDeviceExternalFenceInfo fence{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO, nullptr,
                                                static_cast<VkExternalFenceHandleTypeFlagBits>(1 << w.c.below(4))};
  VkExternalFenceProperties fences{VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
  w.vk.GetPhysicalDeviceExternalFenceProperties(w.gpu, &fence, &fences);
  const VkPhysicalDeviceExternalSemaphoreInfo semaphore{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO, nullptr,
                                                        static_cast<VkExternalSemaphoreHandleTypeFlagBits>(1 << w.c.below(5))};
  VkExternalSemaphoreProperties semaphores{VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  w.vk.GetPhysicalDeviceExternalSemaphoreProperties(w.gpu, &semaphore, &semaphores);
  VkMultisamplePropertiesEXT grid{VK_STRUCTURE_TYPE_MULTISAMPLE_PROPERTIES_EXT};
  w.vk.GetPhysicalDeviceMultisamplePropertiesEXT(w.gpu, static_cast<VkSampleCountFlagBits>(1 << w.c.below(7)), &grid);
}

/// Lists, with room for all of them and for fewer.
void of_lists(World& w) {
  uint32_t count = 0, few = w.c.below(3);
  TILEGPU_MUST(w, GetPhysicalDeviceFragmentShadingRatesKHR, w.gpu, &count, nullptr);
  std::vector<VkPhysicalDeviceFragmentShadingRateKHR> rates(count, {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_KHR});
  const uint32_t all = count;
  few = std::min(few, count);
  const VkResult r = w.vk.GetPhysicalDeviceFragmentShadingRatesKHR(w.gpu, &few, rates.data());
  if (r != (few < all ? VK_INCOMPLETE : VK_SUCCESS)) w.fail("vkGetPhysicalDeviceFragmentShadingRatesKHR: " + std::to_string(r));
  TILEGPU_MUST(w, GetPhysicalDeviceCalibrateableTimeDomainsKHR, w.gpu, &count, nullptr);
  std::vector<VkTimeDomainKHR> domains(count);
  TILEGPU_MUST(w, GetPhysicalDeviceCalibrateableTimeDomainsKHR, w.gpu, &count, domains.data());
  std::vector<VkCalibratedTimestampInfoKHR> times;
  for (const VkTimeDomainKHR domain : domains) times.push_back({VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_KHR, nullptr, domain});
  std::vector<uint64_t> now(count);
  uint64_t deviation = 0;
  TILEGPU_MUST(w, GetCalibratedTimestampsKHR, w.device, count, times.data(), now.data(), &deviation);
  if (std::find(now.begin(), now.end(), 0) != now.end()) w.fail("vkGetCalibratedTimestampsKHR says nothing of a clock");
  uint32_t layers = 0;
  TILEGPU_MUST(w, EnumerateInstanceLayerProperties, &layers, nullptr);
  VkDeviceFaultCountsEXT faults{VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
  (void)w.vk.GetDeviceFaultInfoEXT(w.device, &faults, nullptr);
}

void of_objects(World& w) {
  const auto buffer = w.pick(w.buffers);
  VkMemoryRequirements needs{};
  w.vk.GetBufferMemoryRequirements(w.device, buffer->handle, &needs);
  if (needs.size < buffer->size_B) w.fail("a buffer's memory is smaller than it");
  const VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, buffer->handle};
  (void)w.vk.GetBufferOpaqueCaptureAddress(w.device, &address);
  if (const auto memory = w.pick(w.memories)) {
    const VkDeviceMemoryOpaqueCaptureAddressInfo of{VK_STRUCTURE_TYPE_DEVICE_MEMORY_OPAQUE_CAPTURE_ADDRESS_INFO, nullptr, memory->handle};
    (void)w.vk.GetDeviceMemoryOpaqueCaptureAddress(w.device, &of);
  }
  const auto image = w.pick(w.images, [](const ImageModel& i) { return !i.of_swapchain; });
  if (!image) return;
  uint32_t count = 0;
  w.vk.GetImageMemoryRequirements(w.device, image->handle, &needs);
  w.vk.GetImageSparseMemoryRequirements(w.device, image->handle, &count, nullptr);
  const VkImageSparseMemoryRequirementsInfo2 sparse{VK_STRUCTURE_TYPE_IMAGE_SPARSE_MEMORY_REQUIREMENTS_INFO_2, nullptr, image->handle};
  w.vk.GetImageSparseMemoryRequirements2(w.device, &sparse, &count, nullptr);
  const VkDeviceImageMemoryRequirements device{VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS, nullptr, &image->info,
                                               VK_IMAGE_ASPECT_PLANE_0_BIT};
  w.vk.GetDeviceImageSparseMemoryRequirements(w.device, &device, &count, nullptr);
  const VkImageSubresource part{first_aspect(*image->format), w.c.below(image->info.mipLevels), w.c.below(image->info.arrayLayers)};
  VkSubresourceLayout layout{};
  w.vk.GetImageSubresourceLayout(w.device, image->handle, &part, &layout);
  const VkImageSubresource2 part2{VK_STRUCTURE_TYPE_IMAGE_SUBRESOURCE_2, nullptr, part};
  const VkDeviceImageSubresourceInfo asked{VK_STRUCTURE_TYPE_DEVICE_IMAGE_SUBRESOURCE_INFO, nullptr, &image->info, &part2};
  VkSubresourceLayout2 layout2{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2};
  w.vk.GetDeviceImageSubresourceLayout(w.device, &asked, &layout2);
  if (layout.rowPitch != layout2.subresourceLayout.rowPitch || layout.offset != layout2.subresourceLayout.offset)
    w.fail("an image's layout is not what the device says of such");
  VkExtent2D grain{};
  if (!w.render_passes.empty()) w.vk.GetRenderAreaGranularity(w.device, w.render_passes[0], &grain);
  VkRenderingAreaInfo area{VK_STRUCTURE_TYPE_RENDERING_AREA_INFO};
  w.vk.GetRenderingAreaGranularity(w.device, &area, &grain);
  if (!grain.width || !grain.height) w.fail("the granularity of areas is 0");
}

void of_surfaces(World& w) {
  const auto chain = w.pick(w.swapchains, [](const SwapchainModel& s) { return s.surface; });
  if (!chain) return;
  VkBool32 presents = VK_FALSE;
  TILEGPU_MUST(w, GetPhysicalDeviceSurfaceSupportKHR, w.gpu, 0, chain->surface, &presents);
  if (!presents) w.fail("a queue that presented does not");
  VkPhysicalDeviceSurfaceInfo2KHR info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SURFACE_INFO_2_KHR, nullptr, chain->surface};
  const VkSurfacePresentModeEXT mode{VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT, nullptr,
                                     w.c.coin() ? VK_PRESENT_MODE_FIFO_KHR : VK_PRESENT_MODE_MAILBOX_KHR};
  if (w.c.coin()) info.pNext = &mode;
  VkPresentModeKHR modes[8];
  VkSurfacePresentModeCompatibilityEXT fitting{VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT, nullptr, w.c.below(9), modes};
  VkSurfaceCapabilities2KHR can{VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR, &fitting, {}};
  TILEGPU_MUST(w, GetPhysicalDeviceSurfaceCapabilities2KHR, w.gpu, &info, &can);
  uint32_t count = 0;
  TILEGPU_MUST(w, GetPhysicalDeviceSurfaceFormats2KHR, w.gpu, &info, &count, nullptr);
  uint32_t formats = 0;
  TILEGPU_MUST(w, GetPhysicalDeviceSurfaceFormatsKHR, w.gpu, chain->surface, &formats, nullptr);
  if (formats != count) w.fail("a surface has other formats by the older command");
  VkSurfaceCapabilitiesKHR older{};
  TILEGPU_MUST(w, GetPhysicalDeviceSurfaceCapabilitiesKHR, w.gpu, chain->surface, &older);
  TILEGPU_MUST(w, GetPhysicalDeviceSurfacePresentModesKHR, w.gpu, chain->surface, &count, nullptr);
  count = std::min(count, w.c.below(9));
  (void)w.vk.GetPhysicalDeviceSurfacePresentModesKHR(w.gpu, chain->surface, &count, modes);
  VkDeviceGroupPresentCapabilitiesKHR groups{VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_CAPABILITIES_KHR};
  TILEGPU_MUST(w, GetDeviceGroupPresentCapabilitiesKHR, w.device, &groups);
  VkDeviceGroupPresentModeFlagsKHR flags = 0;
  TILEGPU_MUST(w, GetDeviceGroupSurfacePresentModesKHR, w.device, chain->surface, &flags);
  TILEGPU_MUST(w, GetPhysicalDevicePresentRectanglesKHR, w.gpu, chain->surface, &count, nullptr);
  const VkHdrMetadataEXT metadata{VK_STRUCTURE_TYPE_HDR_METADATA_EXT};
  if (!chain->retired) w.vk.SetHdrMetadataEXT(w.device, 1, &chain->handle, &metadata);
  if (!chain->retired) (void)TILEGPU_CHECKED(w, WaitForPresentKHR, w.device, chain->handle, 1, w.c.below(1000));
  if (chain->acquired.empty()) return;
  const uint32_t index = chain->acquired.back();
  const VkReleaseSwapchainImagesInfoEXT release{VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT, nullptr, chain->handle, 1, &index};
  w.submit(), w.wait_idle();
  if (w.lost) return;
  TILEGPU_MUST(w, ReleaseSwapchainImagesEXT, w.device, &release);
  chain->acquired.pop_back();
}

VkBool32 VKAPI_PTR hear_report(VkDebugReportFlagsEXT, VkDebugReportObjectTypeEXT, uint64_t, size_t, int32_t, const char*, const char*,
                               void* heard) {
  *static_cast<bool*>(heard) = true;
  return VK_FALSE;
}

void of_reports(World& w) {
  bool heard = false;
  VkDebugReportCallbackCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT};
  info.flags = VK_DEBUG_REPORT_INFORMATION_BIT_EXT, info.pfnCallback = hear_report, info.pUserData = &heard;
  VkDebugReportCallbackEXT callback = nullptr;
  TILEGPU_MUST(w, CreateDebugReportCallbackEXT, w.instance, &info, nullptr, &callback);
  w.vk.DebugReportMessageEXT(w.instance, VK_DEBUG_REPORT_INFORMATION_BIT_EXT, VK_DEBUG_REPORT_OBJECT_TYPE_BUFFER_EXT, 1, 2, 3, "fuzzer",
                             "a message of the program's own");
  w.vk.DestroyDebugReportCallbackEXT(w.instance, callback, nullptr);
  if (!heard) w.fail("a message of the program's own was not heard");
  VkMemoryHostPointerPropertiesEXT host{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  (void)w.vk.GetMemoryHostPointerPropertiesEXT(w.device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, w.arena->data(), &host);
  VkMemoryFdPropertiesKHR file{VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
  (void)w.vk.GetMemoryFdPropertiesKHR(w.device, static_cast<VkExternalMemoryHandleTypeFlagBits>(1 << w.c.below(31)), -1, &file);
  uint32_t count = 0;
  TILEGPU_MUST(w, GetPhysicalDeviceCooperativeMatrixPropertiesKHR, w.gpu, &count, nullptr);
  TILEGPU_MUST(w, EnumerateInstanceExtensionProperties, nullptr, &count, nullptr);
  if (!w.vk.GetDeviceProcAddr(w.device, "vkCmdDraw") || w.vk.GetDeviceProcAddr(w.device, "vkNoSuchCommand"))
    w.fail("vkGetDeviceProcAddr does not know what is a command");
  const VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, nullptr, w.arena->memory->handle, 0, VK_WHOLE_SIZE};
  TILEGPU_MUST(w, FlushMappedMemoryRanges, w.device, 1, &range);
  TILEGPU_MUST(w, InvalidateMappedMemoryRanges, w.device, 1, &range);
  if (const auto image = w.pick(w.images, [](const ImageModel& i) { return !i.of_swapchain; })) {
    const VkDeviceImageMemoryRequirements asked{VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS, nullptr, &image->info,
                                                VK_IMAGE_ASPECT_PLANE_0_BIT};
    VkMemoryRequirements2 needs{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    w.vk.GetDeviceImageMemoryRequirements(w.device, &asked, &needs);
  }
}

void of_tools(World& w) {
  const VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "a label of the queue", {}};
  if (w.c.coin()) w.vk.QueueBeginDebugUtilsLabelEXT(w.queue, &label);
  w.vk.QueueInsertDebugUtilsLabelEXT(w.queue, &label), w.vk.QueueEndDebugUtilsLabelEXT(w.queue);
  w.vk.CmdInsertDebugUtilsLabelEXT(w.commands().handle, &label);
  const VkDebugUtilsObjectTagInfoEXT tag{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_TAG_INFO_EXT,
                                         nullptr,
                                         VK_OBJECT_TYPE_BUFFER,
                                         reinterpret_cast<uint64_t>(w.arena->handle),
                                         1,
                                         3,
                                         "tag"};
  TILEGPU_MUST(w, SetDebugUtilsObjectTagEXT, w.device, &tag);
  VkDebugUtilsMessengerCallbackDataEXT data{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT};
  data.pMessage = "a message of the program's own";
  w.vk.SubmitDebugUtilsMessageEXT(w.instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT, VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT,
                                  &data);
  const VkBindSparseInfo none{VK_STRUCTURE_TYPE_BIND_SPARSE_INFO};
  if (w.c.coin())
    TILEGPU_WRONG(w, QueueBindSparse, w.queue, 1, &none, nullptr);
  else
    (void)TILEGPU_CHECKED(w, QueueBindSparse, w.queue, 0, nullptr, nullptr);
}

}  // namespace

void World::step_answers() {
  using Question = void (*)(World&);
  constexpr Question kAll[] = {of_device, of_formats, of_lists, of_objects, of_surfaces, of_tools, of_reports};
  c.of(kAll)(*this);
}

}  // namespace tilegpu::fuzz
