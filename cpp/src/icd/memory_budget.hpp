// icd/memory_budget.hpp -- how much memory this process may have, has by all of its devices, and could still get.
// In: allocations, the system. Out: bytes. Source: Vulkan specification, VK_EXT_memory_budget; proc(5), cgroups(7).
#pragma once

#include <cstdint>

namespace tilegpu::icd {

/// The machine's memory, or the control group's limit where it is less.
uint64_t most_memory_B();
/// What the system would give now without swapping, or the control group has left where that is less.
uint64_t free_memory_B();

void note_allocated(uint64_t size_B);
void note_freed(uint64_t size_B);
uint64_t allocated_B();

}  // namespace tilegpu::icd
