// icd/host_image_copy.cpp -- VK_EXT_host_image_copy: copies that the calling thread does.
//
// In: Vulkan's structures. Out: the core's copies of the same names. Images have no layouts, and host memory that is copied as it is
// (VK_HOST_IMAGE_COPY_MEMCPY) has the order of all other copies, without gaps.
// Source: Vulkan specification, "Copying Data Between Images and Memory", "Host Image Layout Transitions".
#include "tilegpu/host_copy.hpp"

#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {
namespace {

/// Of VkMemoryToImageCopy and VkImageToMemoryCopy.
template <class Region>
std::vector<HostRegion> regions_of(const Region* regions, uint32_t count) {
  assert(regions || count == 0);
  std::vector<HostRegion> out;
  for (uint32_t i = 0; i < count; ++i) {
    const Region& r = regions[i];
    out.push_back({const_cast<void*>(static_cast<const void*>(r.pHostPointer)), r.memoryRowLength, r.memoryImageHeight, r.imageSubresource,
                   r.imageOffset, r.imageExtent});
  }
  return out;
}

VkResult result_of(VkDevice device, const Status& status) {
  return status ? VK_SUCCESS : fail(device, status.error(), VK_ERROR_VALIDATION_FAILED_EXT);
}

}  // namespace

VkResult VKAPI_CALL CopyMemoryToImage(VkDevice device, const VkCopyMemoryToImageInfo* info) {
  return result_of(device, copy_memory_to_image(*info->dstImage->core, regions_of(info->pRegions, info->regionCount)));
}

VkResult VKAPI_CALL CopyImageToMemory(VkDevice device, const VkCopyImageToMemoryInfo* info) {
  return result_of(device, copy_image_to_memory(*info->srcImage->core, regions_of(info->pRegions, info->regionCount)));
}

VkResult VKAPI_CALL CopyImageToImage(VkDevice device, const VkCopyImageToImageInfo* info) {
  return result_of(device, copy_image_to_image(*info->srcImage->core, *info->dstImage->core, {info->pRegions, info->regionCount}));
}

VkResult VKAPI_CALL TransitionImageLayout(VkDevice, uint32_t, const VkHostImageLayoutTransitionInfo*) { return VK_SUCCESS; }

}  // namespace tilegpu::icd
