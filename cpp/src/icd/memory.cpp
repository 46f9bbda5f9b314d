// icd/memory.cpp -- device memory: allocated, imported, mapped, bound to buffers and images.
//
// In: Vulkan's structures. Out: the core's memory (pages of the host; type 0), or none yet (type 1, lazily allocated).
// Source: Vulkan specification, "Device Memory", "External Memory", "Resource Memory Association".
#include <unistd.h>

#include <algorithm>

#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"
#include "resource/host_pages.hpp"
#include "vk/ycbcr.hpp"

namespace tilegpu::icd {

namespace {

constexpr VkExternalMemoryHandleTypeFlags kShared = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr VkExternalMemoryHandleTypeFlags kOfHost = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

Error unknown_handle(const std::string& field, uint32_t type) {
  return {VK_ERROR_INVALID_EXTERNAL_HANDLE, "memory: " + field + " is " + std::to_string(type) + "; memory is shared as OPAQUE_FD (1)"};
}

Error unknown_pointer(const std::string& field, uint32_t type) {
  return {VK_ERROR_INVALID_EXTERNAL_HANDLE, "memory: " + field + " is " + std::to_string(type) +
                                                "; pointers are imported as HOST_ALLOCATION (" + std::to_string(kOfHost) + ")"};
}

/// Null: not the host's memory.
const VkImportMemoryHostPointerInfoEXT* host_import(const VkMemoryAllocateInfo& info) {
  using Import = VkImportMemoryHostPointerInfoEXT;
  const auto* from = find_next<Import>(info.pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  return from && given(from->handleType) != 0 ? from : nullptr;
}

/// As the chain asks: of this device alone, for others too, of others, or the host's.
Expected<tilegpu::Ptr<tilegpu::DeviceMemory>> allocate(const VkMemoryAllocateInfo& info) {
  if (const auto* from = find_next<VkImportMemoryFdInfoKHR>(info.pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
      from && given(from->handleType) != 0) {
    if (given(from->handleType) != kShared) return unknown_handle("VkImportMemoryFdInfoKHR::handleType", given(from->handleType));
    auto memory = tilegpu::DeviceMemory::import_fd(from->fd, info.allocationSize);
    if (memory) close(from->fd);  // it was given to us
    return memory;
  }
  const auto* wanted = find_next<VkExportMemoryAllocateInfo>(info.pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
  if (const auto* from = host_import(info)) {
    if (given(from->handleType) != kOfHost) return unknown_pointer("VkImportMemoryHostPointerInfoEXT::handleType", given(from->handleType));
    if (wanted && wanted->handleTypes)
      return unknown_handle("VkExportMemoryAllocateInfo::handleTypes, of memory of the host's,", wanted->handleTypes);
    return tilegpu::DeviceMemory::import_host(from->pHostPointer, info.allocationSize);
  }
  if (!wanted || !wanted->handleTypes) return tilegpu::DeviceMemory::allocate(info.allocationSize);
  if (wanted->handleTypes != kShared) return unknown_handle("VkExportMemoryAllocateInfo::handleTypes", wanted->handleTypes);
  return tilegpu::DeviceMemory::allocate_shared(info.allocationSize);
}

bool is_external(const VkMemoryAllocateInfo& info) {
  const auto* from = find_next<VkImportMemoryFdInfoKHR>(info.pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
  const auto* wanted = find_next<VkExportMemoryAllocateInfo>(info.pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
  return (from && given(from->handleType) != 0) || (wanted && wanted->handleTypes) || host_import(info);
}

}  // namespace

VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* pAllocateInfo, const VkAllocationCallbacks*,
                                   VkDeviceMemory* pMemory) {
  const uint64_t size_B = pAllocateInfo->allocationSize;
  if (pAllocateInfo->memoryTypeIndex >= capabilities().memory.memoryTypeCount)
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT,
                "memory: memoryTypeIndex is " + std::to_string(pAllocateInfo->memoryTypeIndex) + "; there are types 0 and 1");
  if (pAllocateInfo->memoryTypeIndex == kTypeLazy && is_external(*pAllocateInfo))
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT, "memory: type 1 is lazily allocated and can't be shared; use type 0");
  auto memory = std::make_unique<VkDeviceMemory_T>();
  memory->size_B = size_B;
  if (host_import(*pAllocateInfo)) {  // it is no heap's
    auto core = allocate(*pAllocateInfo);
    if (!core) return fail(device, core.error(), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    memory->core = *core;
  } else if (pAllocateInfo->memoryTypeIndex == kTypeHost) {
    memory->of_heap_B = size_B;
    const uint64_t heap_B = capabilities().memory.memoryHeaps[kHeap].size;
    if (size_B > heap_B || device->allocated_B.fetch_add(size_B) + size_B > heap_B) {
      if (size_B <= heap_B) device->allocated_B -= size_B;
      return fail(device, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                  "memory: " + std::to_string(size_B) + " bytes are more than the heap has left (" + std::to_string(heap_B) + " in all)");
    }
    auto core = allocate(*pAllocateInfo);
    if (!core) {
      device->allocated_B -= size_B;
      return fail(device, core.error(), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    memory->core = *core;
  }
  assert((memory->core == nullptr) == (pAllocateInfo->memoryTypeIndex == kTypeLazy));
  *pMemory = memory.release();
  return VK_SUCCESS;
}

void VKAPI_CALL FreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks*) {
  if (!memory) return;
  assert(device->allocated_B >= memory->of_heap_B);
  device->allocated_B -= memory->of_heap_B;
  discard(device, memory);
}

VkResult VKAPI_CALL GetMemoryFdKHR(VkDevice device, const VkMemoryGetFdInfoKHR* pGetFdInfo, int* pFd) {
  if (given(pGetFdInfo->handleType) != kShared)
    return fail(device, unknown_handle("VkMemoryGetFdInfoKHR::handleType", given(pGetFdInfo->handleType)));
  const auto& memory = pGetFdInfo->memory->core;
  if (!memory) return fail(device, VK_ERROR_VALIDATION_FAILED_EXT, "memory: type 1 is lazily allocated and can't be shared; use type 0");
  auto fd = memory->export_fd();
  if (!fd) return fail(device, fd.error());
  *pFd = *fd;
  return VK_SUCCESS;
}

// Opaque descriptors have no properties: the specification forbids to ask for them.
VkResult VKAPI_CALL GetMemoryFdPropertiesKHR(VkDevice device, VkExternalMemoryHandleTypeFlagBits handleType, int,
                                             VkMemoryFdPropertiesKHR* pMemoryFdProperties) {
  pMemoryFdProperties->memoryTypeBits = 0;
  return fail(device, unknown_handle("handleType of vkGetMemoryFdPropertiesKHR", handleType));
}

VkResult VKAPI_CALL GetMemoryHostPointerPropertiesEXT(VkDevice device, VkExternalMemoryHandleTypeFlagBits handleType,
                                                      const void* pHostPointer, VkMemoryHostPointerPropertiesEXT* out) {
  out->memoryTypeBits = 0;
  if (handleType != kOfHost) return fail(device, unknown_pointer("handleType of vkGetMemoryHostPointerPropertiesEXT", handleType));
  if (reinterpret_cast<uintptr_t>(pHostPointer) % tilegpu::DeviceMemory::host_alignment_B())
    return fail(device, VK_ERROR_INVALID_EXTERNAL_HANDLE,
                "memory: pHostPointer of vkGetMemoryHostPointerPropertiesEXT must be a multiple of minImportedHostPointerAlignment, " +
                    std::to_string(tilegpu::DeviceMemory::host_alignment_B()));
  const auto begin = reinterpret_cast<uintptr_t>(pHostPointer);
  if (!tilegpu::resource::find_pages(begin, begin + tilegpu::DeviceMemory::host_alignment_B()).writable)
    return fail(device, VK_ERROR_INVALID_EXTERNAL_HANDLE,
                "memory: pHostPointer of vkGetMemoryHostPointerPropertiesEXT is no memory of this process that can be read and written");
  out->memoryTypeBits = 1u << kTypeHost;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags,
                              void** ppData) {
  if (!memory->core) return fail(device, VK_ERROR_MEMORY_MAP_FAILED, "memory: type 1 is lazily allocated and can't be mapped; use type 0");
  auto mapped = memory->core->map(offset, size);
  if (!mapped) return fail(device, mapped.error(), VK_ERROR_MEMORY_MAP_FAILED);
  *ppData = *mapped;
  return VK_SUCCESS;
}

void VKAPI_CALL UnmapMemory(VkDevice, VkDeviceMemory memory) {
  if (memory->core) memory->core->unmap();
}

VkResult VKAPI_CALL MapMemory2(VkDevice device, const VkMemoryMapInfo* pMemoryMapInfo, void** ppData) {
  return MapMemory(device, pMemoryMapInfo->memory, pMemoryMapInfo->offset, pMemoryMapInfo->size, pMemoryMapInfo->flags, ppData);
}

VkResult VKAPI_CALL UnmapMemory2(VkDevice device, const VkMemoryUnmapInfo* pMemoryUnmapInfo) {
  UnmapMemory(device, pMemoryUnmapInfo->memory);
  return VK_SUCCESS;
}

// All memory is coherent.
VkResult VKAPI_CALL FlushMappedMemoryRanges(VkDevice, uint32_t, const VkMappedMemoryRange*) { return VK_SUCCESS; }
VkResult VKAPI_CALL InvalidateMappedMemoryRanges(VkDevice, uint32_t, const VkMappedMemoryRange*) { return VK_SUCCESS; }

// One memory is as near as the other: nothing is moved by priority.
void VKAPI_CALL SetDeviceMemoryPriorityEXT(VkDevice, VkDeviceMemory, float) {}

void VKAPI_CALL GetDeviceMemoryCommitment(VkDevice, VkDeviceMemory memory, VkDeviceSize* pCommittedMemoryInBytes) {
  *pCommittedMemoryInBytes = memory->core ? memory->size_B : 0;
}

uint64_t VKAPI_CALL GetDeviceMemoryOpaqueCaptureAddress(VkDevice, const VkDeviceMemoryOpaqueCaptureAddressInfo*) { return 0; }

// --- requirements

namespace {

constexpr uint32_t kAlignment_B = 64;

VkMemoryRequirements buffer_requirements(uint64_t size_B) {
  return {(size_B + kAlignment_B - 1) & ~uint64_t{kAlignment_B - 1}, kAlignment_B, 1u << kTypeHost};
}

VkMemoryRequirements image_requirements(const tilegpu::Image& image) {
  static_assert((kAlignment_B & (kAlignment_B - 1)) == 0);
  VkMemoryRequirements out{std::max<uint64_t>(image.required_B(), kAlignment_B), kAlignment_B, 1u << kTypeHost};
  if (image.info().usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) out.memoryTypeBits |= 1u << kTypeLazy;
  return out;
}

/// `aspect`: of a disjoint image, a plane's; 0: of the image as a whole.
VkMemoryRequirements part_requirements(const tilegpu::Image& image, VkImageAspectFlags aspect) {
  const int plane = vk::plane_number(aspect);
  const bool there = plane >= 0 && static_cast<size_t>(plane) < image.planes().size();
  return image_requirements(there && image.is_disjoint() ? *image.planes()[static_cast<size_t>(plane)] : image);
}

void fill_requirements(const VkMemoryRequirements& requirements, bool lazy, VkMemoryRequirements2& out) {
  out.memoryRequirements = requirements;
  if (auto* dedicated = find_next<VkMemoryDedicatedRequirements>(out.pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS)) {
    dedicated->prefersDedicatedAllocation = lazy;
    dedicated->requiresDedicatedAllocation = VK_FALSE;
  }
}

VkResult bind_buffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, uint64_t offset_B) {
  if (!memory->core)
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT,
                "buffer: lazily allocated memory (type 1) is for transient attachments; use type 0");
  const Status ok = buffer->core->bind(memory->core, offset_B);
  return ok ? VK_SUCCESS : fail(device, ok.error(), VK_ERROR_VALIDATION_FAILED_EXT);
}

/// `aspect`: of a disjoint image, a plane's; 0: of the image as a whole.
VkResult bind_image(VkDevice device, VkImage image, VkImageAspectFlags aspect, VkDeviceMemory memory, uint64_t offset_B) {
  if (!memory->core) return VK_SUCCESS;  // transient: the core finds memory when a pass spills
  const int plane = vk::plane_number(aspect);
  if (aspect && plane < 0)
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT, "image: planeAspect is " + std::to_string(aspect) + ", which is no plane");
  const Status ok =
      plane < 0 ? image->core->bind(memory->core, offset_B) : image->core->bind_plane(static_cast<uint32_t>(plane), memory->core, offset_B);
  return ok ? VK_SUCCESS : fail(device, ok.error(), VK_ERROR_VALIDATION_FAILED_EXT);
}

}  // namespace

void VKAPI_CALL GetBufferMemoryRequirements(VkDevice, VkBuffer buffer, VkMemoryRequirements* pMemoryRequirements) {
  *pMemoryRequirements = buffer_requirements(buffer->core->size_B());
}

void VKAPI_CALL GetBufferMemoryRequirements2(VkDevice, const VkBufferMemoryRequirementsInfo2* pInfo, VkMemoryRequirements2* out) {
  fill_requirements(buffer_requirements(pInfo->buffer->core->size_B()), false, *out);
}

void VKAPI_CALL GetDeviceBufferMemoryRequirements(VkDevice, const VkDeviceBufferMemoryRequirements* pInfo, VkMemoryRequirements2* out) {
  fill_requirements(buffer_requirements(pInfo->pCreateInfo->size), false, *out);
}

void VKAPI_CALL GetImageMemoryRequirements(VkDevice, VkImage image, VkMemoryRequirements* pMemoryRequirements) {
  *pMemoryRequirements = image_requirements(*image->core);
}

void VKAPI_CALL GetImageMemoryRequirements2(VkDevice, const VkImageMemoryRequirementsInfo2* pInfo, VkMemoryRequirements2* out) {
  const auto& info = pInfo->image->core->info();
  using Plane = VkImagePlaneMemoryRequirementsInfo;
  const auto* plane = find_next<Plane>(pInfo->pNext, VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO);
  fill_requirements(part_requirements(*pInfo->image->core, plane ? given(plane->planeAspect) : 0),
                    info.usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT, *out);
}

void VKAPI_CALL GetDeviceImageMemoryRequirements(VkDevice device, const VkDeviceImageMemoryRequirements* pInfo,
                                                 VkMemoryRequirements2* out) {
  VkImage image = nullptr;
  if (CreateImage(device, pInfo->pCreateInfo, nullptr, &image) != VK_SUCCESS) {
    fill_requirements({0, kAlignment_B, 0}, false, *out);
    return;
  }
  fill_requirements(part_requirements(*image->core, given(pInfo->planeAspect)), false, *out);
  DestroyImage(device, image, nullptr);
}

void VKAPI_CALL GetImageSparseMemoryRequirements(VkDevice, VkImage, uint32_t* pCount, VkSparseImageMemoryRequirements*) { *pCount = 0; }
void VKAPI_CALL GetImageSparseMemoryRequirements2(VkDevice, const VkImageSparseMemoryRequirementsInfo2*, uint32_t* pCount,
                                                  VkSparseImageMemoryRequirements2*) {
  *pCount = 0;
}
void VKAPI_CALL GetDeviceImageSparseMemoryRequirements(VkDevice, const VkDeviceImageMemoryRequirements*, uint32_t* pCount,
                                                       VkSparseImageMemoryRequirements2*) {
  *pCount = 0;
}

// --- binding

VkResult VKAPI_CALL BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize memoryOffset) {
  return bind_buffer(device, buffer, memory, memoryOffset);
}

VkResult VKAPI_CALL BindImageMemory(VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize memoryOffset) {
  return bind_image(device, image, 0, memory, memoryOffset);
}

// All of them are tried; the first error is the result, and each has its own where that is asked for.
template <class Info, class Bind>
static VkResult bind_each(const Info* infos, uint32_t count, Bind bind) {
  VkResult first = VK_SUCCESS;
  for (uint32_t i = 0; i < count; ++i) {
    const VkResult r = bind(infos[i]);
    if (const auto* status = find_next<VkBindMemoryStatus>(infos[i].pNext, VK_STRUCTURE_TYPE_BIND_MEMORY_STATUS)) *status->pResult = r;
    if (first == VK_SUCCESS) first = r;
  }
  return first;
}

VkResult VKAPI_CALL BindBufferMemory2(VkDevice device, uint32_t bindInfoCount, const VkBindBufferMemoryInfo* pBindInfos) {
  return bind_each(pBindInfos, bindInfoCount,
                   [&](const auto& info) { return bind_buffer(device, info.buffer, info.memory, info.memoryOffset); });
}

VkResult VKAPI_CALL BindImageMemory2(VkDevice device, uint32_t bindInfoCount, const VkBindImageMemoryInfo* pBindInfos) {
  using Plane = VkBindImagePlaneMemoryInfo;
  return bind_each(pBindInfos, bindInfoCount, [&](const auto& info) {
    const auto* plane = find_next<Plane>(info.pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO);
    return bind_image(device, info.image, plane ? given(plane->planeAspect) : 0, info.memory, info.memoryOffset);
  });
}

}  // namespace tilegpu::icd
