// icd/loader.cpp -- the three functions that the Khronos loader finds in libtilegpu.so.
//
// In: names of commands. Out: their addresses. Source: Vulkan-Loader, LoaderDriverInterface.md, interface version 7; Vulkan
// specification, "Command Function Pointers" (which names give null).
#include <algorithm>
#include <cstring>

#include "icd/entry_points.hpp"
#include "icd/generated/commands.hpp"
#include "icd/objects.hpp"
#include "tilegpu/api.hpp"
#include "tilegpu/cpu.hpp"

namespace tilegpu::icd {
namespace {

constexpr uint32_t kInterfaceVersion = 7;
constexpr uint32_t kLeastInterfaceVersion = 5;  // below it the loader takes every driver for Vulkan 1.0

PFN_vkVoidFunction of_device(VkDevice device, const char* name) {
  const EntryPoint* row = find_entry_point(name);
  if (!row || row->level != Level::device) return nullptr;
  // "Device-level commands which are part of the core version specified by apiVersion when creating the instance will always return a valid
  // function pointer", whatever the device's version: programs that ask for 1.3 call by these names what they enabled as extensions. With
  // VK_KHR_maintenance5 there are none of versions behind the one that was asked for.
  const uint32_t wanted = device->instance->api_version;
  const uint32_t version = device->features.maintenance5 ? wanted : std::max(capabilities().api_version, wanted);
  const bool core = row->version && row->version <= version;
  return core || row->extensions.any_of(device->extensions) || row->extensions.any_of(device->instance->extensions) ? row->function
                                                                                                                    : nullptr;
}

bool offered(const EntryPoint& row) {
  return (row.version && row.version <= capabilities().api_version) || row.extensions.any_of(capabilities().extensions);
}

}  // namespace

PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* pName) {
  if (std::strncmp(pName, "vk_icd", 6) == 0) {
    if (std::strcmp(pName, "vk_icdNegotiateLoaderICDInterfaceVersion") == 0)
      return reinterpret_cast<PFN_vkVoidFunction>(vk_icdNegotiateLoaderICDInterfaceVersion);
    if (std::strcmp(pName, "vk_icdGetPhysicalDeviceProcAddr") == 0)
      return reinterpret_cast<PFN_vkVoidFunction>(vk_icdGetPhysicalDeviceProcAddr);
    return nullptr;
  }
  const EntryPoint* row = find_entry_point(pName);
  if (!row) return nullptr;
  if (row->level == Level::global) return row->function;
  return instance && offered(*row) ? row->function : nullptr;
}

PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char* pName) { return of_device(device, pName); }

}  // namespace tilegpu::icd

extern "C" {

TILEGPU_API VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* pVersion) {
  if (tilegpu::missing_cpu_feature()) return VK_ERROR_INCOMPATIBLE_DRIVER;  // the program goes on with other drivers
  if (*pVersion < tilegpu::icd::kLeastInterfaceVersion) return VK_ERROR_INCOMPATIBLE_DRIVER;
  if (*pVersion > tilegpu::icd::kInterfaceVersion) *pVersion = tilegpu::icd::kInterfaceVersion;
  return VK_SUCCESS;
}

TILEGPU_API VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance, const char* pName) {
  return tilegpu::icd::GetInstanceProcAddr(instance, pName);
}

TILEGPU_API VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance, const char* pName) {
  const auto* row = tilegpu::icd::find_entry_point(pName);
  return row && row->level == tilegpu::icd::Level::physical_device && tilegpu::icd::offered(*row) ? row->function : nullptr;
}
}
