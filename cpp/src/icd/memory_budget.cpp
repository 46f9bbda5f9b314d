// icd/memory_budget.cpp -- see memory_budget.hpp. In: allocations, files of the system. Out: bytes.
#include "icd/memory_budget.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdio>

namespace tilegpu::icd {
namespace {

std::atomic<uint64_t> g_allocated_B = 0;

/// The number of the first line that fits; `otherwise` where there is none, as where a limit is "max".
uint64_t number_in(const char* path, const char* line_format, uint64_t otherwise) {
  FILE* const file = std::fopen(path, "re");
  if (!file) return otherwise;
  char line[256];
  unsigned long long number = 0;
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file)) found = std::sscanf(line, line_format, &number) == 1;
  std::fclose(file);
  return found ? number : otherwise;
}

struct ControlGroup {
  const char *limit, *usage;
};
/// Of version 2, and of version 1.
constexpr ControlGroup kGroups[] = {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                                    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};

}  // namespace

uint64_t most_memory_B() {
  uint64_t most_B = number_in("/proc/meminfo", "MemTotal: %llu", uint64_t{1} << 22) << 10;
  for (const ControlGroup& group : kGroups)
    if (const uint64_t limit_B = number_in(group.limit, "%llu", 0)) most_B = std::min(most_B, limit_B);
  assert(most_B > 0);
  return most_B;
}

uint64_t free_memory_B() {
  uint64_t free_B = number_in("/proc/meminfo", "MemAvailable: %llu", uint64_t{1} << 22) << 10;
  for (const ControlGroup& group : kGroups)
    if (const uint64_t limit_B = number_in(group.limit, "%llu", 0))
      free_B = std::min(free_B, limit_B - std::min(limit_B, number_in(group.usage, "%llu", 0)));
  return free_B;
}

void note_allocated(uint64_t size_B) { g_allocated_B += size_B; }
void note_freed(uint64_t size_B) {
  assert(g_allocated_B >= size_B);
  g_allocated_B -= size_B;
}
uint64_t allocated_B() { return g_allocated_B; }

}  // namespace tilegpu::icd
