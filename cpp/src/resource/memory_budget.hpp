// resource/memory_budget.hpp -- how much memory this process may have, has by images and buffers of all its devices, and could still get.
// In: allocations, the system, TILEGPU_MEMORY_MB. Out: bytes. Source: Vulkan specification, VK_EXT_memory_budget; proc(5), cgroups(7).
//
// The system promises more than it has (memory is committed when it is touched) and ends the process that takes it at its word. So what
// all allocations together have is limited here, and one beyond the limit is an error while nothing is lost.
#pragma once

#include "tilegpu/types.hpp"

namespace tilegpu::resource {

/// The machine's memory, or the control group's limit where it is less. As it was when it was asked for first.
uint64_t most_memory_B();
/// What the system would give now without swapping, or the control group has left where that is less.
uint64_t free_memory_B();
/// What images and buffers may have together: TILEGPU_MEMORY_MB where the environment has it, else seven eighths of most_memory_B(), so
/// that code, passes and the program itself have some.
uint64_t memory_limit_B();
/// An error where TILEGPU_MEMORY_MB is no number of megabytes.
Status check_memory_limit();

/// False, with nothing taken, where that would be more than the limit.
bool take_memory(uint64_t size_B);
void give_memory_back(uint64_t size_B);
uint64_t allocated_B();

}  // namespace tilegpu::resource
