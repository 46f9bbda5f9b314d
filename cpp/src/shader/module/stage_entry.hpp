// shader/module/stage_entry.hpp -- entry points of one name that are of different stages, as SPIR-V allows them.
//
// In: words of a module, a name, a stage. Out: words without those of the name that are of other stages, and their execution modes. Who
// names an entry point without a stage gets the first. Source: SPIR-V specification, 2.16.1 "Universal Validation Rules" (names are unique
// by execution model), OpEntryPoint, OpExecutionMode.
#pragma once

#include <vulkan/vulkan_core.h>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilegpu::shader {

/// Nothing changes where the stage has no entry point of this name, or the name is of one alone; nor of words that are no module.
void keep_entry_of_stage(std::vector<uint32_t>& words, std::string_view name, VkShaderStageFlagBits stage);

}  // namespace tilegpu::shader
