// icd/memory.hpp -- how much memory this process has allocated by all of its devices, and how much the machine has left.
// In: nothing. Out: bytes. Source: Vulkan specification, VK_EXT_memory_budget.
#pragma once

#include <cstdint>

namespace tilegpu::icd {

uint64_t allocated_B();
/// What the system would give without swapping (MemAvailable of proc(5)); of a control group with a limit, what that leaves.
uint64_t free_memory_B();

}  // namespace tilegpu::icd
