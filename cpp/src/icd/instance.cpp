// icd/instance.cpp -- instances, and the one physical device of each.
//
// In: VkInstanceCreateInfo. Out: VkInstance, or an error that says what is not there. Source: Vulkan specification, "Initialization".
#include <cstring>

#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

VkResult VKAPI_CALL EnumerateInstanceVersion(uint32_t* pApiVersion) {
  *pApiVersion = capabilities().core.apiVersion;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL EnumerateInstanceLayerProperties(uint32_t* pPropertyCount, VkLayerProperties* pProperties) {
  return enumerate(0, pPropertyCount, pProperties, [](uint32_t, VkLayerProperties&) {});
}

static VkResult list_extensions(bool of_instance, uint32_t* count, VkExtensionProperties* out) {
  std::vector<const ExtensionName*> names;
  for (size_t i = 0; i < std::size(kExtensionNames); ++i)
    if (kExtensionNames[i].instance == of_instance && capabilities().extensions.has(static_cast<Extension>(i)))
      names.push_back(&kExtensionNames[i]);
  return enumerate(static_cast<uint32_t>(names.size()), count, out, [&](uint32_t i, VkExtensionProperties& p) {
    p = {};
    assert(std::strlen(names[i]->name) < sizeof p.extensionName);
    std::strncpy(p.extensionName, names[i]->name, sizeof p.extensionName - 1);
    p.specVersion = names[i]->spec_version;
  });
}

VkResult VKAPI_CALL EnumerateInstanceExtensionProperties(const char* pLayerName, uint32_t* pPropertyCount,
                                                         VkExtensionProperties* pProperties) {
  if (pLayerName) return VK_ERROR_LAYER_NOT_PRESENT;
  return list_extensions(true, pPropertyCount, pProperties);
}

VkResult VKAPI_CALL EnumerateDeviceExtensionProperties(VkPhysicalDevice, const char* pLayerName, uint32_t* pPropertyCount,
                                                       VkExtensionProperties* pProperties) {
  if (pLayerName) return VK_ERROR_LAYER_NOT_PRESENT;
  return list_extensions(false, pPropertyCount, pProperties);
}

VkResult VKAPI_CALL EnumerateDeviceLayerProperties(VkPhysicalDevice, uint32_t* pPropertyCount, VkLayerProperties* pProperties) {
  return enumerate(0, pPropertyCount, pProperties, [](uint32_t, VkLayerProperties&) {});
}

VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* pCreateInfo, const VkAllocationCallbacks*, VkInstance* pInstance) {
  const CallMessengers messengers(pCreateInfo->pNext);
  if (Status ok = check_cpu(); !ok) {
    messengers.say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, ok.error().message);
    return VK_ERROR_INCOMPATIBLE_DRIVER;
  }
  ExtensionSet extensions;
  for (uint32_t i = 0; i < pCreateInfo->enabledExtensionCount; ++i) {
    const Extension e = find_extension(pCreateInfo->ppEnabledExtensionNames[i]);
    // Surface extensions are the loader's: what it does not know it asks the driver for.
    if (e == Extension::count || !capabilities().extensions.has(e)) {
      messengers.say(
          VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
          std::string("instance: extension ") + pCreateInfo->ppEnabledExtensionNames[i] + " is not there; vulkaninfo lists those that are");
      return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    extensions.add(e);
  }
  auto* instance = new VkInstance_T;
  instance->extensions = extensions;
  if (pCreateInfo->pApplicationInfo && pCreateInfo->pApplicationInfo->apiVersion)
    instance->api_version = pCreateInfo->pApplicationInfo->apiVersion;
  instance->physical_device.instance = instance;
  *pInstance = instance;
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyInstance(VkInstance instance, const VkAllocationCallbacks*) {
  if (!instance) return;
  for (const VkDebugUtilsMessengerEXT m : instance->messengers) delete m;
  for (const VkDebugReportCallbackEXT c : instance->report_callbacks) delete c;
  delete instance;
}

VkResult VKAPI_CALL EnumeratePhysicalDevices(VkInstance instance, uint32_t* pPhysicalDeviceCount, VkPhysicalDevice* pPhysicalDevices) {
  assert(instance->physical_device.instance == instance);
  return enumerate(1, pPhysicalDeviceCount, pPhysicalDevices, [&](uint32_t, VkPhysicalDevice& out) { out = &instance->physical_device; });
}

VkResult VKAPI_CALL EnumeratePhysicalDeviceGroups(VkInstance instance, uint32_t* pPhysicalDeviceGroupCount,
                                                  VkPhysicalDeviceGroupProperties* pPhysicalDeviceGroupProperties) {
  return enumerate(1, pPhysicalDeviceGroupCount, pPhysicalDeviceGroupProperties, [&](uint32_t, VkPhysicalDeviceGroupProperties& out) {
    out.physicalDeviceCount = 1;
    out.physicalDevices[0] = &instance->physical_device;
    out.subsetAllocation = VK_FALSE;
  });
}

}  // namespace tilegpu::icd
