// icd/conditional.hpp -- conditional rendering around the begin and the end of passes. In: a command buffer. Out: the core's condition.
// Source: Vulkan specification, "Conditional Rendering".
#pragma once

#include "icd/objects.hpp"

namespace tilegpu::icd {

/// Before a pass of the core begins or ends, and after that: what was begun outside of passes.
void suspend_condition(VkCommandBuffer commands);
void resume_condition(VkCommandBuffer commands);

}  // namespace tilegpu::icd
