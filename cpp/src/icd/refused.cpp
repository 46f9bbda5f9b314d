// icd/refused.cpp -- commands of Vulkan's versions whose feature the device does not have.
//
// In: calls that a program may not make. Out: what is missing, said; no object. They are found by name all the same, as the
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

}  // namespace tilegpu::icd
