// icd/device_fault.cpp -- VK_EXT_device_fault: why a device was lost, in the words that the program heard.
//
// In: a device that is lost. Out: a description. There are no addresses and no vendor's codes: what ends a device is an error of its work
// (a loop without end, indirect work beyond all bounds, memory that ran out), which has words.
// Source: Vulkan specification, "Device Fault Diagnostics".
#include <cstring>

#include "icd/generated/commands.hpp"
#include "icd/objects.hpp"

namespace tilegpu::icd {

VkResult VKAPI_CALL GetDeviceFaultInfoEXT(VkDevice device, VkDeviceFaultCountsEXT* pFaultCounts, VkDeviceFaultInfoEXT* pFaultInfo) {
  assert(device && pFaultCounts);
  pFaultCounts->addressInfoCount = pFaultCounts->vendorInfoCount = 0;
  pFaultCounts->vendorBinarySize = 0;
  if (!pFaultInfo) return VK_SUCCESS;
  const std::lock_guard guard(device->lock);
  const std::string text = device->fault.empty() ? "the device is not lost" : device->fault;
  const size_t size_B = std::min(text.size(), sizeof pFaultInfo->description - 1);
  std::memcpy(pFaultInfo->description, text.data(), size_B);
  pFaultInfo->description[size_B] = 0;
  return VK_SUCCESS;
}

}  // namespace tilegpu::icd
