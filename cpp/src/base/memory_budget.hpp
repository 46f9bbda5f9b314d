// base/memory_budget.hpp -- how much memory this process may have, has by all that its devices keep, and could still get.
// In: allocations, the system, TILEGPU_MEMORY_MB. Out: bytes. Source: Vulkan specification, VK_EXT_memory_budget; proc(5), cgroups(7).
//
// The system promises more than it has (memory is committed when it is touched) and ends the process that takes it at its word. So what
// all allocations together have is limited here, and one beyond the limit is an error while nothing is lost.
#pragma once

#include <utility>

#include "tilegpu/types.hpp"

namespace tilegpu {

/// The machine's memory, or the control group's limit where it is less. As it was when it was asked for first.
uint64_t most_memory_B();
/// What the system would give now without swapping, or the control group has left where that is less.
uint64_t free_memory_B();
/// What a process may have: TILEGPU_MEMORY_MB where the environment has it, else seven eighths of most_memory_B(), so that compilers and
/// the program itself have some.
uint64_t memory_limit_B();
/// An error where TILEGPU_MEMORY_MB is no number of megabytes.
Status check_memory_limit();

/// Images and buffers. False, with nothing taken, where all together would be more than the limit.
bool take_memory(uint64_t size_B);
void give_memory_back(uint64_t size_B);
uint64_t allocated_B();

/// All else that grows with what a program does: what passes work with, recordings, descriptor sets, machine code. Under the same limit;
/// false also where one allocation is large (from kAsksSystem_B on) and more than the system would give, since it is about to be touched.
bool take_working_memory(uint64_t size_B);
void give_working_memory_back(uint64_t size_B);
/// Both together.
uint64_t kept_memory_B();
inline constexpr uint64_t kAsksSystem_B = uint64_t{64} << 20;

/// What an object has of working memory beside what it allocates by host_memory.hpp: an estimate of many small blocks.
class MemoryShare {
 public:
  MemoryShare() = default;
  explicit MemoryShare(uint64_t size_B) : size_B_(take_working_memory(size_B) ? size_B : 0) {}
  ~MemoryShare() {
    if (size_B_) give_working_memory_back(size_B_);
  }
  MemoryShare(MemoryShare&& other) noexcept : size_B_(std::exchange(other.size_B_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(size_B_, other.size_B_);
    return *this;
  }
  explicit operator bool() const { return size_B_ != 0; }
  /// "who: 160 bytes are more than the ..."
  static Error refused(const std::string& who, uint64_t size_B);

 private:
  uint64_t size_B_ = 0;
};

/// What working memory could still get.
uint64_t memory_left_B();
/// "1048576 that are left of 67108864 (TILEGPU_MEMORY_MB, or ...)": for messages.
std::string left_text(uint64_t left_B);

}  // namespace tilegpu
