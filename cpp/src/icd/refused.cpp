// icd/refused.cpp -- commands of Vulkan's versions whose feature the device does not have.
//
// In: calls that a program may not make. Out: what is missing, said; no object, address 0. They are found by name all the same, as the
// specification wants of every command of a version, and programs ask for all of them before they look at features (Dawn).
// Source: Vulkan specification, "Command Function Pointers", "Sampler Y'CBCR Conversion".
#include "icd/command_buffer.hpp"
#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

VkResult VKAPI_CALL CreateSamplerYcbcrConversion(VkDevice device, const VkSamplerYcbcrConversionCreateInfo*, const VkAllocationCallbacks*,
                                                 VkSamplerYcbcrConversion* pYcbcrConversion) {
  *pYcbcrConversion = VK_NULL_HANDLE;
  return fail(device, VK_ERROR_FEATURE_NOT_PRESENT, "vkCreateSamplerYcbcrConversion: samplerYcbcrConversion is not there");
}
void VKAPI_CALL DestroySamplerYcbcrConversion(VkDevice, VkSamplerYcbcrConversion, const VkAllocationCallbacks*) {}  // there is none

VkDeviceAddress VKAPI_CALL GetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo*) {
  (void)fail(device, VK_ERROR_FEATURE_NOT_PRESENT, "vkGetBufferDeviceAddress: bufferDeviceAddress is not there");
  return 0;
}
uint64_t VKAPI_CALL GetBufferOpaqueCaptureAddress(VkDevice device, const VkBufferDeviceAddressInfo*) {
  (void)fail(device, VK_ERROR_FEATURE_NOT_PRESENT, "vkGetBufferOpaqueCaptureAddress: bufferDeviceAddressCaptureReplay is not there");
  return 0;
}

}  // namespace tilegpu::icd
