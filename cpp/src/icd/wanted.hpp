// icd/wanted.hpp -- what the environment asks the device to say of itself: version and type.
//
// In: TILEGPU_VULKAN, TILEGPU_VULKAN_TYPE. Out: Vulkan's words for them. Neither changes what is drawn. Why a type: docs/vulkan.md.
// Source: Vulkan specification, VkPhysicalDeviceProperties.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace tilegpu::icd {

/// VK_API_VERSION_1_1 unless TILEGPU_VULKAN asks for another; what is not understood is said on stderr.
[[nodiscard]] uint32_t wanted_version();

/// VK_PHYSICAL_DEVICE_TYPE_CPU, which it is, unless TILEGPU_VULKAN_TYPE asks for another for the sake of programs that leave those out.
[[nodiscard]] VkPhysicalDeviceType wanted_type();

}  // namespace tilegpu::icd
