// icd/generated/entry_points.hpp -- what is known of a command.
//
// Made by scripts/generate_icd.py from the Vulkan registry, header version 309; not edited by hand.
#pragma once

#include <vulkan/vulkan_core.h>

#include "icd/generated/extensions.hpp"

namespace tilegpu::icd {

/// What the first parameter is; `global` commands have none of these.
enum class Level : uint8_t { global, instance, physical_device, device };

struct EntryPoint {
  const char* name;
  Level level;
  uint32_t version;             ///< of Vulkan; 0: of extensions alone
  ExtensionSet extensions;      ///< any of these
  PFN_vkVoidFunction function;  ///< null: not implemented
};

}  // namespace tilegpu::icd
