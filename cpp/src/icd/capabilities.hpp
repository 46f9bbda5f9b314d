// icd/capabilities.hpp -- the one table of what the driver has: version, extensions, features, limits, queues, memory, formats.
// In: nothing. Out: tables.
// What is listed works; what is not is refused where it would be created. Source: Vulkan specification, "Limits", "Features", "Formats".
#pragma once

#include <vector>

#include "icd/entry_points.hpp"
#include "icd/generated/features.hpp"
#include "icd/generated/properties.hpp"

namespace tilegpu::icd {

inline constexpr uint32_t kSubgroupSize = 4;

inline constexpr uint32_t kHeap = 0;
/// Memory types, in Vulkan's order: all that a type has, another that comes before it does not have.
inline constexpr uint32_t kTypeLazy = 1;  ///< for transient attachments: committed when a pass spills
inline constexpr uint32_t kTypeHost = 0;  ///< everything else

struct Capabilities {
  uint32_t api_version;  ///< VK_API_VERSION_1_1, or what TILEGPU_VULKAN asks for
  ExtensionSet extensions;
  Features features;
  VkPhysicalDeviceProperties core;
  Properties properties;
  VkQueueFamilyProperties queue_family;
  VkPhysicalDeviceMemoryProperties memory;
};

/// The same for the life of the process.
const Capabilities& capabilities();

/// What a format can do as an image or in a buffer; 0: not known.
VkFormatFeatureFlags2 image_features(VkFormat format);
VkFormatFeatureFlags2 buffer_features(VkFormat format);
/// Of all aspects: that of stencil may be given apart, in the chain (VK_EXT_separate_stencil_usage).
VkImageUsageFlags all_usage(VkImageUsageFlags usage, const void* next);
/// vkGetPhysicalDeviceImageFormatProperties2 but for external memory.
VkResult image_limits(const VkPhysicalDeviceImageFormatInfo2& info, VkImageFormatProperties& out);
/// Answers VkImageCompressionPropertiesEXT, where it is asked for: no image is compressed, whatever its creation let the driver do.
void say_uncompressed(void* next);

}  // namespace tilegpu::icd
