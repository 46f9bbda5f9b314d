// icd/wanted.hpp -- what the environment asks the driver to say of itself: version, type, extensions.
//
// In: TILEGPU_VULKAN, TILEGPU_VULKAN_TYPE, TILEGPU_VULKAN_WITH, TILEGPU_VULKAN_WITHOUT. Out: Vulkan's words for them. None changes what is
// drawn. Why a type, and why with or without an extension: docs/vulkan.md. Source: Vulkan specification, VkPhysicalDeviceProperties,
// "Extended Functionality".
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

#include "icd/generated/extensions.hpp"

namespace tilegpu::icd {

/// VK_API_VERSION_1_1 unless TILEGPU_VULKAN asks for another; what is not understood is said on stderr.
[[nodiscard]] uint32_t wanted_version();

/// VK_PHYSICAL_DEVICE_TYPE_CPU, which it is, unless TILEGPU_VULKAN_TYPE asks for another for the sake of programs that leave those out.
[[nodiscard]] VkPhysicalDeviceType wanted_type();

/// Extensions that are not listed, and refused where they are enabled: those that TILEGPU_VULKAN_WITHOUT names, and a few that
/// TILEGPU_VULKAN_WITH does not name. A name that no extension has is said on stderr.
[[nodiscard]] ExtensionSet unwanted_extensions();

}  // namespace tilegpu::icd
