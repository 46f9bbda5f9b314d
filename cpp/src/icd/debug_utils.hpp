// icd/debug_utils.hpp -- what the driver says: through VK_EXT_debug_utils and VK_EXT_debug_report, and to stderr where nobody listens.
// In: messages. Out: the program's callbacks, or stderr.
// Source: Vulkan specification, "Debugging"; an error is never silent.
#pragma once

#include <string>

#include "icd/objects.hpp"

namespace tilegpu::icd {

/// Messengers of vkCreateInstance's own pNext chain: they live as long as the call.
struct CallMessengers {
  explicit CallMessengers(const void* next) : next(next) {}
  const void* next;
  void say(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text) const;
};

void say(VkInstance instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity, const std::string& text);

/// A warning: what Vulkan forbids and is done all the same. Once each, of the first ones.
void say_misuse(VkDevice device, const std::string& text);

/// An error: said, and given back.
VkResult fail(VkInstance instance, VkResult result, const std::string& text);
inline VkResult fail(VkDevice device, VkResult result, const std::string& text) { return fail(device->instance, result, text); }
/// Of the core. Its codes that Vulkan has no place for here become VK_ERROR_UNKNOWN... `otherwise`.
VkResult fail(VkDevice device, const Error& error, VkResult otherwise = VK_ERROR_UNKNOWN);

}  // namespace tilegpu::icd
