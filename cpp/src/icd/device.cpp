// icd/device.cpp -- logical devices and their queue; private data.
//
// In: VkDeviceCreateInfo, and TILEGPU_PROFILE, TILEGPU_THREADS, TILEGPU_LANES, TILEGPU_BIN. Out: VkDevice over one device of the core.
// Source: Vulkan specification, "Devices and Queues", "Private Data".
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include <unistd.h>

#include "base/at_exit.hpp"
#include "icd/debug_utils.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/shader_pipelines.hpp"
#include "icd/sync.hpp"

namespace tilegpu::icd {
namespace {

const char* given(const char* text) { return text ? text : ""; }

DeviceCreateInfo core_info() {
  DeviceCreateInfo info;
  info.indirect_budget = ~uint64_t{0};  // Vulkan has no such limit
  if (const char* profile = given(std::getenv("TILEGPU_PROFILE")); *profile) info.profile = profile;
  info.threads = static_cast<uint32_t>(std::strtoul(given(std::getenv("TILEGPU_THREADS")), nullptr, 10));
  info.lanes = static_cast<uint32_t>(std::strtoul(given(std::getenv("TILEGPU_LANES")), nullptr, 10));
  info.bin_px = static_cast<uint32_t>(std::strtoul(given(std::getenv("TILEGPU_BIN")), nullptr, 10));
  info.jit_target = given(std::getenv("TILEGPU_JIT_TARGET"));
  return info;
}

// What Vulkan forbids and is done all the same: programs that layers never saw go on as they did. Said once each, of the first ones.
std::function<void(const std::string&)> warn_of_misuse(VkInstance instance) {
  struct Said {
    std::mutex lock;
    std::set<std::string> texts;
  };
  constexpr size_t kMost = 256;
  return [instance, said = std::make_shared<Said>()](const std::string& text) {
    {
      const std::lock_guard guard(said->lock);
      if (said->texts.size() >= kMost || !said->texts.insert(text).second) return;
    }
    say(instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        text + " (Vulkan forbids it, or leaves it undefined; it is done all the same)");
  };
}

std::string joined(const MissingFeatures& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

VkResult wanted_extensions(VkInstance instance, const VkDeviceCreateInfo& info, ExtensionSet& out) {
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i) {
    const Extension e = find_extension(info.ppEnabledExtensionNames[i]);
    if (e == Extension::count || !capabilities().extensions.has(e))
      return fail(instance, VK_ERROR_EXTENSION_NOT_PRESENT,
                  std::string("device: extension ") + info.ppEnabledExtensionNames[i] + " is not there; vulkaninfo lists those that are");
    out.add(e);
  }
  return VK_SUCCESS;
}

VkResult wanted_features(VkInstance instance, const VkDeviceCreateInfo& info, Features& out) {
  MissingFeatures missing;
  if (info.pEnabledFeatures) enable(*info.pEnabledFeatures, capabilities().features, out, missing);
  if (const auto* all = find_next<VkPhysicalDeviceFeatures2>(info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2))
    enable(all->features, capabilities().features, out, missing);
  enable(info.pNext, capabilities().features, out, missing);
  if (missing.empty()) return VK_SUCCESS;
  return fail(instance, VK_ERROR_FEATURE_NOT_PRESENT,
              "device: not there: " + joined(missing) + "; vkGetPhysicalDeviceFeatures2 says what is");
}

// Devices that a program leaves behind when it ends: what they execute must end before static objects do.
struct Living {
  const int process = getpid();
  std::mutex lock;
  std::set<VkDevice> devices;
};
Living& living() {
  static Living* const all = [] {
    at_exit([] {
      if (getpid() != living().process) return;  // a child's: they run in the parent
      const std::lock_guard guard(living().lock);
      for (const VkDevice device : living().devices) device->core->cancel(), device->core->wait_idle();
    });
    return new Living;  // never destroyed: threads may outlive static objects
  }();
  return *all;
}

// Of objects that a program leaves behind: they would look at the device once it is gone.
void end_threads(VkDevice device) {
  std::map<const void*, std::function<void()>> threads;
  {
    const std::lock_guard guard(device->lock);
    threads.swap(device->threads);
  }
  for (const auto& [object, end] : threads) end();
}

}  // namespace

VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physicalDevice, const VkDeviceCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                 VkDevice* pDevice) {
  const VkInstance instance = physicalDevice->instance;
  assert(instance && &instance->physical_device == physicalDevice);
  auto device = std::make_unique<VkDevice_T>();
  device->instance = instance;
  if (const VkResult r = wanted_extensions(instance, *pCreateInfo, device->extensions); r != VK_SUCCESS) return r;
  if (const VkResult r = wanted_features(instance, *pCreateInfo, device->features); r != VK_SUCCESS) return r;
  for (uint32_t i = 0; i < pCreateInfo->queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo& queue = pCreateInfo->pQueueCreateInfos[i];
    using Priority = VkDeviceQueueGlobalPriorityCreateInfoKHR;
    const auto* priority = find_next<Priority>(queue.pNext, VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR);
    // One queue has nobody to stand back for: low is as medium.
    if (priority && given(priority->globalPriority) != VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR &&
        given(priority->globalPriority) != VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR)
      return fail(instance, VK_ERROR_NOT_PERMITTED_KHR,
                  "device: globalPriority is " + std::to_string(given(priority->globalPriority)) +
                      "; VK_QUEUE_GLOBAL_PRIORITY_LOW and _MEDIUM are there");
    if (queue.queueFamilyIndex != 0 || queue.queueCount > 1)
      return fail(instance, VK_ERROR_INITIALIZATION_FAILED,
                  "device: pQueueCreateInfos[" + std::to_string(i) + "] asks for " + std::to_string(queue.queueCount) +
                      " queues of family " + std::to_string(queue.queueFamilyIndex) + "; there is one, of family 0");
  }
  DeviceCreateInfo info = core_info();
  info.tolerate = device->tolerate = warn_of_misuse(instance);
  info.unrestricted_depth = device->extensions.has(Extension::EXT_depth_range_unrestricted);
  info.vertex_attribute_robustness = device->features.vertexAttributeRobustness;
  info.legacy_vertex_attributes = device->features.legacyVertexAttributes;
  info.unused_attachments = device->features.dynamicRenderingUnusedAttachments;
  auto core = tilegpu::Device::create(info);
  if (!core) return fail(instance, VK_ERROR_INITIALIZATION_FAILED, core.error().message);
  device->core = *core;
  device->shader_pipelines = std::make_shared<ShaderPipelines>();
  device->queue.device = device.get();
  const std::lock_guard guard(living().lock);
  *pDevice = device.release();
  living().devices.insert(*pDevice);
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDevice(VkDevice device, const VkAllocationCallbacks*) {
  if (!device) return;
  end_threads(device);
  end_queue(&device->queue);
  device->core->wait_idle();
  if (Explained* const explained = Explained::asked()) explained->write();
  {
    const std::lock_guard guard(living().lock);
    living().devices.erase(device);
  }
  delete device;
}

void VKAPI_CALL GetDeviceQueue(VkDevice device, uint32_t, uint32_t, VkQueue* pQueue) { *pQueue = &device->queue; }
void VKAPI_CALL GetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2* pQueueInfo, VkQueue* pQueue) {
  *pQueue = pQueueInfo->flags ? nullptr : &device->queue;  // no queue was created with flags
}

void VKAPI_CALL GetDeviceGroupPeerMemoryFeatures(VkDevice, uint32_t, uint32_t, uint32_t, VkPeerMemoryFeatureFlags* out) {
  *out = VK_PEER_MEMORY_FEATURE_COPY_SRC_BIT | VK_PEER_MEMORY_FEATURE_COPY_DST_BIT | VK_PEER_MEMORY_FEATURE_GENERIC_SRC_BIT |
         VK_PEER_MEMORY_FEATURE_GENERIC_DST_BIT;
}

// --- private data

VkResult VKAPI_CALL CreatePrivateDataSlot(VkDevice, const VkPrivateDataSlotCreateInfo*, const VkAllocationCallbacks*,
                                          VkPrivateDataSlot* out) {
  static std::atomic<uint64_t> next = 1;
  *out = new VkPrivateDataSlot_T{next++};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyPrivateDataSlot(VkDevice device, VkPrivateDataSlot slot, const VkAllocationCallbacks*) {
  if (!slot) return;
  {
    const std::lock_guard guard(device->lock);
    auto& data = device->private_data;
    data.erase(data.lower_bound({slot->number, 0}), data.upper_bound({slot->number, ~uint64_t{0}}));
  }
  discard(device, slot);
}

void forget(VkDevice device, uint64_t object) {
  const std::lock_guard guard(device->lock);
  auto& data = device->private_data;
  for (auto at = data.begin(); at != data.end();) {
    const uint64_t slot = at->first.first;
    data.erase({slot, object});
    at = data.lower_bound({slot + 1, 0});
  }
}

VkResult VKAPI_CALL SetPrivateData(VkDevice device, VkObjectType, uint64_t objectHandle, VkPrivateDataSlot slot, uint64_t data) {
  const std::lock_guard guard(device->lock);
  device->private_data[{slot->number, objectHandle}] = data;
  return VK_SUCCESS;
}

void VKAPI_CALL GetPrivateData(VkDevice device, VkObjectType, uint64_t objectHandle, VkPrivateDataSlot slot, uint64_t* pData) {
  const std::lock_guard guard(device->lock);
  const auto found = device->private_data.find({slot->number, objectHandle});
  *pData = found == device->private_data.end() ? 0 : found->second;
}

}  // namespace tilegpu::icd
