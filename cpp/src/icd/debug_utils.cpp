// icd/debug_utils.cpp -- messages to whoever listens. In: severity, text. Out: calls of messengers, or lines on stderr.
#include "icd/debug_utils.hpp"

#include <cstdio>

#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/shader_pipelines.hpp"
#include "tilegpu/compute.hpp"

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

/// A copy: who is called may make and destroy others.
template <class Listener>
auto infos_of(VkInstance instance, const std::set<Listener*>& listeners) {
  std::vector<decltype(Listener::info)> infos;
  const std::lock_guard guard(instance->lock);
  for (const Listener* listener : listeners) infos.push_back(listener->info);
  return infos;
}

}  // namespace

void CallMessengers::say(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text) const {
  bool heard = false;
  for (auto* s = static_cast<const VkBaseInStructure*>(next); s; s = s->pNext) {
    if (given(s->sType) != VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT) continue;
    call(*reinterpret_cast<const VkDebugUtilsMessengerCreateInfoEXT*>(s), severity, kType, data_of(text));
    heard = true;
  }
  if (!heard) to_stderr(severity, text);
}

void say(VkInstance instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text) {
  if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT)
    if (Explained* const report = Explained::asked()) report->said(severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, text);
  const auto messengers = infos_of(instance, instance->messengers);
  const auto callbacks = infos_of(instance, instance->report_callbacks);
  for (const auto& info : messengers) call(info, severity, kType, data_of(text));
  for (const auto& info : callbacks)
    if (info.flags & report_flags(severity))
      info.pfnCallback(report_flags(severity), VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT, 0, 0, 0, kMessageName, text.c_str(),
                       info.pUserData);
  if (messengers.empty() && callbacks.empty()) to_stderr(severity, text);
}

void say_misuse(VkDevice device, const std::string& text) {
  constexpr size_t kMost = 256;
  {
    const std::lock_guard guard(device->lock);
    if (device->warned.size() >= kMost || !device->warned.insert(text).second) return;
  }
  say(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
      text + " (Vulkan forbids it, or leaves it undefined; it is done all the same)");
}

VkResult fail(VkInstance instance, VkResult result, const std::string& text) {
  assert(result < 0 && !text.empty());  // else the error were silent after all
  say(instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, text);
  return result;
}

VkResult fail(VkDevice device, const Error& error, VkResult otherwise) {
  assert(error.code != VK_SUCCESS);
  const bool vulkans = error.code == VK_ERROR_OUT_OF_HOST_MEMORY || error.code == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                       error.code == VK_ERROR_FORMAT_NOT_SUPPORTED || error.code == VK_ERROR_INVALID_EXTERNAL_HANDLE ||
                       error.code == VK_ERROR_TOO_MANY_OBJECTS;
  return fail(device, vulkans ? error.code : otherwise, error.message);
}

// --- messengers

namespace {

template <class Listener, class Info>
VkResult add(VkInstance instance, std::set<Listener*>& listeners, const Info& info, Listener** out) {
  *out = new Listener{info};
  const std::lock_guard guard(instance->lock);
  listeners.insert(*out);
  return VK_SUCCESS;
}

template <class Listener>
void remove(VkInstance instance, std::set<Listener*>& listeners, Listener* listener) {
  {
    const std::lock_guard guard(instance->lock);
    listeners.erase(listener);
  }
  delete listener;
}

}  // namespace

VkResult VKAPI_CALL CreateDebugUtilsMessengerEXT(VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT* pCreateInfo,
                                                 const VkAllocationCallbacks*, VkDebugUtilsMessengerEXT* pMessenger) {
  return add(instance, instance->messengers, *pCreateInfo, pMessenger);
}

void VKAPI_CALL DestroyDebugUtilsMessengerEXT(VkInstance instance, VkDebugUtilsMessengerEXT messenger, const VkAllocationCallbacks*) {
  remove(instance, instance->messengers, messenger);
}

void VKAPI_CALL SubmitDebugUtilsMessageEXT(VkInstance instance, VkDebugUtilsMessageSeverityFlagBitsEXT messageSeverity,
                                           VkDebugUtilsMessageTypeFlagsEXT messageTypes,
                                           const VkDebugUtilsMessengerCallbackDataEXT* pCallbackData) {
  for (const auto& info : infos_of(instance, instance->messengers)) call(info, messageSeverity, messageTypes, *pCallbackData);
}

VkResult VKAPI_CALL CreateDebugReportCallbackEXT(VkInstance instance, const VkDebugReportCallbackCreateInfoEXT* pCreateInfo,
                                                 const VkAllocationCallbacks*, VkDebugReportCallbackEXT* pCallback) {
  return add(instance, instance->report_callbacks, *pCreateInfo, pCallback);
}

void VKAPI_CALL DestroyDebugReportCallbackEXT(VkInstance instance, VkDebugReportCallbackEXT callback, const VkAllocationCallbacks*) {
  remove(instance, instance->report_callbacks, callback);
}

void VKAPI_CALL DebugReportMessageEXT(VkInstance instance, VkDebugReportFlagsEXT flags, VkDebugReportObjectTypeEXT objectType,
                                      uint64_t object, size_t location, int32_t messageCode, const char* pLayerPrefix,
                                      const char* pMessage) {
  for (const auto& info : infos_of(instance, instance->report_callbacks))
    if (info.flags & flags) info.pfnCallback(flags, objectType, object, location, messageCode, pLayerPrefix, pMessage, info.pUserData);
}

// --- names

// What the core calls an object that reports name.
static std::string label_of(const VkDebugUtilsObjectNameInfoEXT& info) {
  const uint64_t handle = info.objectHandle;
  if (given(info.objectType) == VK_OBJECT_TYPE_PIPELINE) {
    const auto* pipeline = reinterpret_cast<const VkPipeline_T*>(handle);
    if (pipeline->library) return pipeline->library->info.label;
    return pipeline->core ? pipeline->core->info().label : pipeline->compute->info().label;
  }
  if (given(info.objectType) == VK_OBJECT_TYPE_SHADER_EXT) return reinterpret_cast<const VkShaderEXT_T*>(handle)->shared->label;
  if (given(info.objectType) == VK_OBJECT_TYPE_IMAGE) return reinterpret_cast<const VkImage_T*>(handle)->core->info().label;
  if (given(info.objectType) == VK_OBJECT_TYPE_BUFFER) return reinterpret_cast<const VkBuffer_T*>(handle)->core->info().label;
  return {};
}

VkResult VKAPI_CALL SetDebugUtilsObjectNameEXT(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* pNameInfo) {
  const std::string name = pNameInfo->pObjectName ? pNameInfo->pObjectName : "";
  if (given(pNameInfo->objectType) == VK_OBJECT_TYPE_RENDER_PASS) reinterpret_cast<VkRenderPass_T*>(pNameInfo->objectHandle)->name = name;
  if (given(pNameInfo->objectType) == VK_OBJECT_TYPE_SHADER_EXT)
    device->shader_pipelines->name(*reinterpret_cast<VkShaderEXT_T*>(pNameInfo->objectHandle)->shared, name);
  if (Explained* const explained = Explained::asked()) explained->named(label_of(*pNameInfo), name);
  return VK_SUCCESS;
}

VkResult VKAPI_CALL SetDebugUtilsObjectTagEXT(VkDevice, const VkDebugUtilsObjectTagInfoEXT*) { return VK_SUCCESS; }
void VKAPI_CALL QueueBeginDebugUtilsLabelEXT(VkQueue, const VkDebugUtilsLabelEXT*) {}
void VKAPI_CALL QueueEndDebugUtilsLabelEXT(VkQueue) {}
void VKAPI_CALL QueueInsertDebugUtilsLabelEXT(VkQueue, const VkDebugUtilsLabelEXT*) {}

}  // namespace tilegpu::icd
