// icd/physical_device.cpp -- what the device is and can do, answered from the one table (capabilities.hpp).
//
// In: structures to fill. Out: filled. Source: Vulkan specification, "Devices and Queues", "Limits", "Features", "Formats".
#include "icd/generated/commands.hpp"
#include "icd/objects.hpp"

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

void VKAPI_CALL GetPhysicalDeviceProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* pProperties) {
  pProperties->properties = capabilities().core;
  fill(pProperties->pNext, capabilities().properties);
}

void VKAPI_CALL GetPhysicalDeviceMultisamplePropertiesEXT(VkPhysicalDevice, VkSampleCountFlagBits samples,
                                                          VkMultisamplePropertiesEXT* pMultisampleProperties) {
  const Properties& have = capabilities().properties;
  pMultisampleProperties->maxSampleLocationGridSize =
      have.sampleLocationSampleCounts & samples ? have.maxSampleLocationGridSize : VkExtent2D{0, 0};
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
      all->priorityCount = 1, all->priorities[0] = VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
  });
}

void VKAPI_CALL GetPhysicalDeviceMemoryProperties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* pMemoryProperties) {
  *pMemoryProperties = capabilities().memory;
}

void VKAPI_CALL GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties2* pMemoryProperties) {
  pMemoryProperties->memoryProperties = capabilities().memory;
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
}

namespace {

/// What goes in and out of the driver as a descriptor: whole memory, opaque.
VkExternalMemoryProperties shared_memory(VkExternalMemoryHandleTypeFlagBits type) {
  constexpr VkExternalMemoryHandleTypeFlags kOpaque = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  if (type != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) return {};
  return {VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, kOpaque, kOpaque};
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
  if (external && external->handleType != 0) {
    if (external->handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) {
      pImageFormatProperties->imageFormatProperties = {};
      return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    if (auto* out =
            find_next<VkExternalImageFormatProperties>(pImageFormatProperties->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES))
      out->externalMemoryProperties = shared_memory(external->handleType);
  }
  using Conversion = VkSamplerYcbcrConversionImageFormatProperties;
  if (auto* conversion =
          find_next<Conversion>(pImageFormatProperties->pNext, VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_IMAGE_FORMAT_PROPERTIES))
    conversion->combinedImageSamplerDescriptorCount = 1;  // planes lie behind one descriptor
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
  pExternalBufferProperties->externalMemoryProperties = shared_memory(pInfo->handleType);
}

void VKAPI_CALL GetPhysicalDeviceExternalFenceProperties(VkPhysicalDevice, const VkPhysicalDeviceExternalFenceInfo*,
                                                         VkExternalFenceProperties* out) {
  out->exportFromImportedHandleTypes = out->compatibleHandleTypes = out->externalFenceFeatures = 0;
}

// Binary ones and timelines alike.
void VKAPI_CALL GetPhysicalDeviceExternalSemaphoreProperties(VkPhysicalDevice, const VkPhysicalDeviceExternalSemaphoreInfo* pInfo,
                                                             VkExternalSemaphoreProperties* out) {
  const bool shared = pInfo->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  out->exportFromImportedHandleTypes = out->compatibleHandleTypes = shared ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT : 0;
  out->externalSemaphoreFeatures = shared ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT : 0;
}

VkResult VKAPI_CALL GetPhysicalDeviceToolProperties(VkPhysicalDevice, uint32_t* pToolCount, VkPhysicalDeviceToolProperties*) {
  *pToolCount = 0;
  return VK_SUCCESS;
}

}  // namespace tilegpu::icd
