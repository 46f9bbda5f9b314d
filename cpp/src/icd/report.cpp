// icd/report.cpp -- messages to whoever listens. In: severity, text. Out: calls of messengers, or lines on stderr.
#include "icd/report.hpp"

#include <cstdio>

#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {
namespace {

constexpr const char* kMessageName = "tilegpu";
constexpr VkDebugUtilsMessageTypeFlagsEXT kType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;

void call(const VkDebugUtilsMessengerCreateInfoEXT& info, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
          VkDebugUtilsMessageTypeFlagsEXT type, const VkDebugUtilsMessengerCallbackDataEXT& data) {
  if (info.messageSeverity & severity && info.messageType & type) info.pfnUserCallback(severity, type, &data, info.pUserData);
}

VkDebugUtilsMessengerCallbackDataEXT data_of(const std::string& text) {
  VkDebugUtilsMessengerCallbackDataEXT data{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT};
  data.pMessageIdName = kMessageName;
  data.pMessage = text.c_str();
  return data;
}

VkDebugReportFlagsEXT report_flags(VkDebugUtilsMessageSeverityFlagBitsEXT severity) {
  if (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) return VK_DEBUG_REPORT_ERROR_BIT_EXT;
  if (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) return VK_DEBUG_REPORT_WARNING_BIT_EXT;
  return VK_DEBUG_REPORT_INFORMATION_BIT_EXT;
}

void to_stderr(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text) {
  if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) std::fprintf(stderr, "tilegpu: %s\n", text.c_str());
}

}  // namespace

void CallMessengers::say(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text) const {
  bool heard = false;
  for (auto* s = static_cast<const VkBaseInStructure*>(next); s; s = s->pNext) {
    if (s->sType != VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT) continue;
    call(*reinterpret_cast<const VkDebugUtilsMessengerCreateInfoEXT*>(s), severity, kType, data_of(text));
    heard = true;
  }
  if (!heard) to_stderr(severity, text);
}

void say(VkInstance instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text) {
  std::vector<VkDebugUtilsMessengerCreateInfoEXT> messengers;
  std::vector<VkDebugReportCallbackCreateInfoEXT> callbacks;
  {
    const std::lock_guard guard(instance->lock);
    for (const VkDebugUtilsMessengerEXT m : instance->messengers) messengers.push_back(m->info);
    for (const VkDebugReportCallbackEXT c : instance->report_callbacks) callbacks.push_back(c->info);
  }
  for (const auto& info : messengers) call(info, severity, kType, data_of(text));
  for (const auto& info : callbacks)
    if (info.flags & report_flags(severity))
      info.pfnCallback(report_flags(severity), VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT, 0, 0, 0, kMessageName, text.c_str(),
                       info.pUserData);
  if (messengers.empty() && callbacks.empty()) to_stderr(severity, text);
}

VkResult fail(VkInstance instance, VkResult result, const std::string& text) {
  assert(result < 0 && !text.empty());  // else the error were silent after all
  say(instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, text);
  return result;
}

VkResult fail(VkDevice device, const Error& error, VkResult otherwise) {
  assert(error.code != VK_SUCCESS);
  const bool vulkans = error.code == VK_ERROR_OUT_OF_HOST_MEMORY || error.code == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                       error.code == VK_ERROR_FORMAT_NOT_SUPPORTED;
  return fail(device, vulkans ? error.code : otherwise, error.message);
}

// --- messengers

VkResult VKAPI_CALL CreateDebugUtilsMessengerEXT(VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT* pCreateInfo,
                                                 const VkAllocationCallbacks*, VkDebugUtilsMessengerEXT* pMessenger) {
  *pMessenger = new VkDebugUtilsMessengerEXT_T{*pCreateInfo};
  const std::lock_guard guard(instance->lock);
  instance->messengers.insert(*pMessenger);
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDebugUtilsMessengerEXT(VkInstance instance, VkDebugUtilsMessengerEXT messenger, const VkAllocationCallbacks*) {
  {
    const std::lock_guard guard(instance->lock);
    instance->messengers.erase(messenger);
  }
  delete messenger;
}

void VKAPI_CALL SubmitDebugUtilsMessageEXT(VkInstance instance, VkDebugUtilsMessageSeverityFlagBitsEXT messageSeverity,
                                           VkDebugUtilsMessageTypeFlagsEXT messageTypes,
                                           const VkDebugUtilsMessengerCallbackDataEXT* pCallbackData) {
  std::vector<VkDebugUtilsMessengerCreateInfoEXT> messengers;
  {
    const std::lock_guard guard(instance->lock);
    for (const VkDebugUtilsMessengerEXT m : instance->messengers) messengers.push_back(m->info);
  }
  for (const auto& info : messengers) call(info, messageSeverity, messageTypes, *pCallbackData);
}

VkResult VKAPI_CALL CreateDebugReportCallbackEXT(VkInstance instance, const VkDebugReportCallbackCreateInfoEXT* pCreateInfo,
                                                 const VkAllocationCallbacks*, VkDebugReportCallbackEXT* pCallback) {
  *pCallback = new VkDebugReportCallbackEXT_T{*pCreateInfo};
  const std::lock_guard guard(instance->lock);
  instance->report_callbacks.insert(*pCallback);
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDebugReportCallbackEXT(VkInstance instance, VkDebugReportCallbackEXT callback, const VkAllocationCallbacks*) {
  {
    const std::lock_guard guard(instance->lock);
    instance->report_callbacks.erase(callback);
  }
  delete callback;
}

void VKAPI_CALL DebugReportMessageEXT(VkInstance instance, VkDebugReportFlagsEXT flags, VkDebugReportObjectTypeEXT objectType,
                                      uint64_t object, size_t location, int32_t messageCode, const char* pLayerPrefix,
                                      const char* pMessage) {
  std::vector<VkDebugReportCallbackCreateInfoEXT> callbacks;
  {
    const std::lock_guard guard(instance->lock);
    for (const VkDebugReportCallbackEXT c : instance->report_callbacks) callbacks.push_back(c->info);
  }
  for (const auto& info : callbacks)
    if (info.flags & flags) info.pfnCallback(flags, objectType, object, location, messageCode, pLayerPrefix, pMessage, info.pUserData);
}

// --- names

// What the core calls an object that reports name.
static std::string label_of(const VkDebugUtilsObjectNameInfoEXT& info) {
  const uint64_t handle = info.objectHandle;
  if (info.objectType == VK_OBJECT_TYPE_PIPELINE) {
    const auto* pipeline = reinterpret_cast<const VkPipeline_T*>(handle);
    return pipeline->core ? pipeline->core->info().label : "";
  }
  if (info.objectType == VK_OBJECT_TYPE_IMAGE) return reinterpret_cast<const VkImage_T*>(handle)->core->info().label;
  if (info.objectType == VK_OBJECT_TYPE_BUFFER) return reinterpret_cast<const VkBuffer_T*>(handle)->core->info().label;
  return {};
}

VkResult VKAPI_CALL SetDebugUtilsObjectNameEXT(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* pNameInfo) {
  const std::string name = pNameInfo->pObjectName ? pNameInfo->pObjectName : "";
  if (Explained* const explained = Explained::asked()) explained->named(label_of(*pNameInfo), name);
  const std::lock_guard guard(device->lock);
  if (name.empty())
    device->names.erase(pNameInfo->objectHandle);
  else
    device->names[pNameInfo->objectHandle] = name;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL SetDebugUtilsObjectTagEXT(VkDevice, const VkDebugUtilsObjectTagInfoEXT*) { return VK_SUCCESS; }
void VKAPI_CALL QueueBeginDebugUtilsLabelEXT(VkQueue, const VkDebugUtilsLabelEXT*) {}
void VKAPI_CALL QueueEndDebugUtilsLabelEXT(VkQueue) {}
void VKAPI_CALL QueueInsertDebugUtilsLabelEXT(VkQueue, const VkDebugUtilsLabelEXT*) {}

}  // namespace tilegpu::icd
