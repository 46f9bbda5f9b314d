// icd/physical_device.cpp -- what the device is and can do, answered from the one table (capabilities.hpp).
//
// In: structures to fill. Out: filled. Source: Vulkan specification, "Devices and Queues", "Limits", "Features", "Formats".
#include <algorithm>

#include "base/memory_budget.hpp"
#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

void VKAPI_CALL GetPhysicalDeviceFeatures(VkPhysicalDevice, VkPhysicalDeviceFeatures* pFeatures) {
  fill(*pFeatures, capabilities().features);
}

void VKAPI_CALL GetPhysicalDeviceFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* pFeatures) {
  fill(pFeatures->features, capabilities().features);
  fill(pFeatures->pNext, capabilities().features);
}

void VKAPI_CALL GetPhysicalDeviceProperties(VkPhysicalDevice, VkPhysicalDeviceProperties* pProperties) {
  *pProperties = capabilities().core;
}

namespace {

/// Images have no layouts: a copy of the host's takes any that it may find.
constexpr VkImageLayout kCopyLayouts[] = {
    VK_IMAGE_LAYOUT_GENERAL,
    VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
    VK_IMAGE_LAYOUT_PREINITIALIZED,
    VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL,
    VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL,
    VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ,
    VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
};

void list_layouts(uint32_t& count, VkImageLayout* out) {
  enumerate(static_cast<uint32_t>(std::size(kCopyLayouts)), &count, out,
            [](uint32_t i, VkImageLayout& layout) { layout = kCopyLayouts[i]; });
}

template <class Structure>
void list_copy_layouts(void* next, VkStructureType type) {
  if (auto* out = find_next<Structure>(next, type)) {
    list_layouts(out->copySrcLayoutCount, out->pCopySrcLayouts);
    list_layouts(out->copyDstLayoutCount, out->pCopyDstLayouts);
  }
}

}  // namespace

void VKAPI_CALL GetPhysicalDeviceProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* pProperties) {
  pProperties->properties = capabilities().core;
  fill(pProperties->pNext, capabilities().properties);
  // What the table can't have: lists in the caller's memory.
  list_copy_layouts<VkPhysicalDeviceHostImageCopyProperties>(pProperties->pNext,
                                                             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_PROPERTIES);
  list_copy_layouts<VkPhysicalDeviceVulkan14Properties>(pProperties->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_PROPERTIES);
  using Layers = VkPhysicalDeviceLayeredApiPropertiesListKHR;
  if (auto* layers = find_next<Layers>(pProperties->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LAYERED_API_PROPERTIES_LIST_KHR))
    layers->layeredApiCount = 0;
}

void VKAPI_CALL GetPhysicalDeviceMultisamplePropertiesEXT(VkPhysicalDevice, VkSampleCountFlagBits samples,
                                                          VkMultisamplePropertiesEXT* pMultisampleProperties) {
  const Properties& have = capabilities().properties;
  pMultisampleProperties->maxSampleLocationGridSize =
      have.sampleLocationSampleCounts & samples ? have.maxSampleLocationGridSize : VkExtent2D{0, 0};
}

VkResult VKAPI_CALL GetPhysicalDeviceFragmentShadingRatesKHR(VkPhysicalDevice, uint32_t* pFragmentShadingRateCount,
                                                             VkPhysicalDeviceFragmentShadingRateKHR* pFragmentShadingRates) {
  const std::vector<FragmentShadingRate> rates = fragment_shading_rates();
  return enumerate(static_cast<uint32_t>(rates.size()), pFragmentShadingRateCount, pFragmentShadingRates,
                   [&](uint32_t i, VkPhysicalDeviceFragmentShadingRateKHR& out) {
                     out.sampleCounts = rates[i].sample_counts;
                     out.fragmentSize = {rates[i].width_px, rates[i].height_px};
                   });
}

VkResult VKAPI_CALL GetPhysicalDeviceCooperativeMatrixPropertiesKHR(VkPhysicalDevice, uint32_t* pPropertyCount,
                                                                    VkCooperativeMatrixPropertiesKHR* pProperties) {
  const std::vector<CooperativeMatrixProduct> products = cooperative_matrix_products();
  return enumerate(static_cast<uint32_t>(products.size()), pPropertyCount, pProperties,
                   [&](uint32_t i, VkCooperativeMatrixPropertiesKHR& out) {
                     const CooperativeMatrixProduct& p = products[i];
                     out.MSize = p.m, out.NSize = p.n, out.KSize = p.k;
                     const auto type = [](uint32_t number) { return static_cast<VkComponentTypeKHR>(number); };
                     out.AType = type(p.a), out.BType = type(p.b), out.CType = type(p.c), out.ResultType = type(p.c);
                     out.saturatingAccumulation = p.saturates;
                     out.scope = VK_SCOPE_SUBGROUP_KHR;
                   });
}

void VKAPI_CALL GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice, uint32_t* pQueueFamilyPropertyCount,
                                                       VkQueueFamilyProperties* pQueueFamilyProperties) {
  enumerate(1, pQueueFamilyPropertyCount, pQueueFamilyProperties,
            [](uint32_t, VkQueueFamilyProperties& out) { out = capabilities().queue_family; });
}

void VKAPI_CALL GetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice, uint32_t* pQueueFamilyPropertyCount,
                                                        VkQueueFamilyProperties2* pQueueFamilyProperties) {
  enumerate(1, pQueueFamilyPropertyCount, pQueueFamilyProperties, [](uint32_t, VkQueueFamilyProperties2& out) {
    out.queueFamilyProperties = capabilities().queue_family;
    using Priorities = VkQueueFamilyGlobalPriorityPropertiesKHR;
    if (auto* all = find_next<Priorities>(out.pNext, VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR))
      all->priorityCount = 2, all->priorities[0] = VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR,
      all->priorities[1] = VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
  });
}

void VKAPI_CALL GetPhysicalDeviceMemoryProperties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* pMemoryProperties) {
  *pMemoryProperties = capabilities().memory;
}

void VKAPI_CALL GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties2* pMemoryProperties) {
  pMemoryProperties->memoryProperties = capabilities().memory;
  using Budget = VkPhysicalDeviceMemoryBudgetPropertiesEXT;
  auto* budget = find_next<Budget>(pMemoryProperties->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  if (!budget) return;
  std::fill_n(budget->heapBudget, VK_MAX_MEMORY_HEAPS, VkDeviceSize{0});
  std::fill_n(budget->heapUsage, VK_MAX_MEMORY_HEAPS, VkDeviceSize{0});
  const uint64_t used_B = kept_memory_B();
  budget->heapUsage[kHeap] = used_B;
  budget->heapBudget[kHeap] = std::min(capabilities().memory.memoryHeaps[kHeap].size, used_B + free_memory_B());
}

void VKAPI_CALL GetPhysicalDeviceFormatProperties(VkPhysicalDevice, VkFormat format, VkFormatProperties* pFormatProperties) {
  // The flags of Vulkan 1.0 are the low half of today's.
  const auto image = static_cast<VkFormatFeatureFlags>(image_features(format));
  *pFormatProperties = {image, image, static_cast<VkFormatFeatureFlags>(buffer_features(format))};
}

void VKAPI_CALL GetPhysicalDeviceFormatProperties2(VkPhysicalDevice physicalDevice, VkFormat format,
                                                   VkFormatProperties2* pFormatProperties) {
  GetPhysicalDeviceFormatProperties(physicalDevice, format, &pFormatProperties->formatProperties);
  if (auto* wide = find_next<VkFormatProperties3>(pFormatProperties->pNext, VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3)) {
    wide->linearTilingFeatures = wide->optimalTilingFeatures = image_features(format);
    wide->bufferFeatures = buffer_features(format);
  }
  // Resolves of every format are done in the tile.
  using Resolve = VkSubpassResolvePerformanceQueryEXT;
  if (auto* resolve = find_next<Resolve>(pFormatProperties->pNext, VK_STRUCTURE_TYPE_SUBPASS_RESOLVE_PERFORMANCE_QUERY_EXT))
    resolve->optimal = VK_TRUE;
}

namespace {

/// What goes in and out of the driver as a descriptor: whole memory, opaque. And what comes in as the host's pages.
VkExternalMemoryProperties shared_memory(VkExternalMemoryHandleTypeFlagBits type) {
  if (type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) return {VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, 0, VkFlags{type}};
  constexpr VkExternalMemoryHandleTypeFlags kOpaque = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  if (type != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) return {};
  return {VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, kOpaque, kOpaque};
}

/// Of all view types but cubes.
bool filters_cubic(const VkPhysicalDeviceImageFormatInfo2& info) {
  using View = VkPhysicalDeviceImageViewImageFormatInfoEXT;
  const auto* view = find_next<View>(info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_IMAGE_FORMAT_INFO_EXT);
  const bool cube =
      view && (given(view->imageViewType) == VK_IMAGE_VIEW_TYPE_CUBE || given(view->imageViewType) == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY);
  return view && !cube && image_features(given(info.format)) & VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_CUBIC_BIT;
}

}  // namespace

VkResult VKAPI_CALL GetPhysicalDeviceImageFormatProperties(VkPhysicalDevice, VkFormat format, VkImageType type, VkImageTiling tiling,
                                                           VkImageUsageFlags usage, VkImageCreateFlags flags,
                                                           VkImageFormatProperties* pImageFormatProperties) {
  VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  info.format = format, info.type = type, info.tiling = tiling, info.usage = usage, info.flags = flags;
  return image_limits(info, *pImageFormatProperties);
}

VkResult VKAPI_CALL GetPhysicalDeviceImageFormatProperties2(VkPhysicalDevice, const VkPhysicalDeviceImageFormatInfo2* pImageFormatInfo,
                                                            VkImageFormatProperties2* pImageFormatProperties) {
  using External = VkPhysicalDeviceExternalImageFormatInfo;
  const auto* external = find_next<External>(pImageFormatInfo->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
  if (external && given(external->handleType) != 0) {
    if (!shared_memory(given(external->handleType)).externalMemoryFeatures) {
      pImageFormatProperties->imageFormatProperties = {};
      return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    if (auto* out =
            find_next<VkExternalImageFormatProperties>(pImageFormatProperties->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES))
      out->externalMemoryProperties = shared_memory(given(external->handleType));
  }
  using Conversion = VkSamplerYcbcrConversionImageFormatProperties;
  if (auto* conversion =
          find_next<Conversion>(pImageFormatProperties->pNext, VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_IMAGE_FORMAT_PROPERTIES))
    conversion->combinedImageSamplerDescriptorCount = 1;  // planes lie behind one descriptor
  using Cubic = VkFilterCubicImageViewImageFormatPropertiesEXT;
  if (auto* cubic = find_next<Cubic>(pImageFormatProperties->pNext, VK_STRUCTURE_TYPE_FILTER_CUBIC_IMAGE_VIEW_IMAGE_FORMAT_PROPERTIES_EXT))
    cubic->filterCubic = cubic->filterCubicMinmax = filters_cubic(*pImageFormatInfo);
  say_uncompressed(pImageFormatProperties->pNext);
  using HostCopy = VkHostImageCopyDevicePerformanceQuery;
  if (auto* speed = find_next<HostCopy>(pImageFormatProperties->pNext, VK_STRUCTURE_TYPE_HOST_IMAGE_COPY_DEVICE_PERFORMANCE_QUERY))
    speed->optimalDeviceAccess = speed->identicalMemoryLayout = VK_TRUE;
  return image_limits(*pImageFormatInfo, pImageFormatProperties->imageFormatProperties);
}

void VKAPI_CALL GetPhysicalDeviceSparseImageFormatProperties(VkPhysicalDevice, VkFormat, VkImageType, VkSampleCountFlagBits,
                                                             VkImageUsageFlags, VkImageTiling, uint32_t* pPropertyCount,
                                                             VkSparseImageFormatProperties*) {
  *pPropertyCount = 0;
}

void VKAPI_CALL GetPhysicalDeviceSparseImageFormatProperties2(VkPhysicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2*,
                                                              uint32_t* pPropertyCount, VkSparseImageFormatProperties2*) {
  *pPropertyCount = 0;
}

void VKAPI_CALL GetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice, const VkPhysicalDeviceExternalBufferInfo* pInfo,
                                                          VkExternalBufferProperties* pExternalBufferProperties) {
  pExternalBufferProperties->externalMemoryProperties = shared_memory(given(pInfo->handleType));
}

void VKAPI_CALL GetPhysicalDeviceExternalFenceProperties(VkPhysicalDevice, const VkPhysicalDeviceExternalFenceInfo*,
                                                         VkExternalFenceProperties* out) {
  out->exportFromImportedHandleTypes = out->compatibleHandleTypes = out->externalFenceFeatures = 0;
}

// Binary ones and timelines alike.
void VKAPI_CALL GetPhysicalDeviceExternalSemaphoreProperties(VkPhysicalDevice, const VkPhysicalDeviceExternalSemaphoreInfo* pInfo,
                                                             VkExternalSemaphoreProperties* out) {
  const bool shared = given(pInfo->handleType) == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  out->exportFromImportedHandleTypes = out->compatibleHandleTypes = shared ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT : 0;
  out->externalSemaphoreFeatures = shared ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT : 0;
}

VkResult VKAPI_CALL GetPhysicalDeviceToolProperties(VkPhysicalDevice, uint32_t* pToolCount, VkPhysicalDeviceToolProperties*) {
  *pToolCount = 0;
  return VK_SUCCESS;
}

}  // namespace tilegpu::icd
