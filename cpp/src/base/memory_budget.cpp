// base/memory_budget.cpp -- see memory_budget.hpp. In: allocations, files of the system, the environment. Out: bytes.
#include "base/memory_budget.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/field_error.hpp"

namespace tilegpu {
namespace {

std::atomic<uint64_t> g_allocated_B = 0;  // by images and buffers
std::atomic<uint64_t> g_kept_B = 0;       // by them and all else: what the limit is of

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
  std::string limit, usage;
};

/// This process's of version 2 and of version 1, and all that they lie in: the least limit counts. A container shows its own as the root.
std::vector<ControlGroup> control_groups() {
  std::vector<ControlGroup> groups;
  const auto add = [&](const std::string& folder, const char* limit, const char* usage) {
    groups.push_back({folder + limit, folder + usage});
  };
  const auto add_all = [&](std::string path, const std::string& root, const char* limit, const char* usage) {
    for (; !path.empty() && path != "/"; path.resize(path.rfind('/'))) add(root + path, limit, usage);
    add(root, limit, usage);
  };
  std::string of_2, of_1;
  if (FILE* const file = std::fopen("/proc/self/cgroup", "re")) {
    char line[4096];
    while (std::fgets(line, sizeof line, file)) {
      const std::string_view text(line, std::strcspn(line, "\n"));  // "4:memory:/path", or "0::/path"
      const size_t first = text.find(':'), second = first == text.npos ? first : text.find(':', first + 1);
      if (second == text.npos || text.size() < second + 2 || text[second + 1] != '/') continue;
      const std::string_view controllers = text.substr(first + 1, second - first - 1);
      if (controllers.empty()) of_2 = text.substr(second + 1);
      if (("," + std::string(controllers) + ",").find(",memory,") != std::string::npos) of_1 = text.substr(second + 1);
    }
    std::fclose(file);
  }
  add_all(of_2, "/sys/fs/cgroup", "/memory.max", "/memory.current");
  add_all(of_1, "/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes");
  return groups;
}

uint64_t find_most_memory_B() {
  uint64_t most_B = number_in("/proc/meminfo", "MemTotal: %llu", uint64_t{1} << 22) << 10;
  for (const ControlGroup& group : control_groups())
    if (const uint64_t limit_B = number_in(group.limit.c_str(), "%llu", 0)) most_B = std::min(most_B, limit_B);
  assert(most_B > 0);
  return most_B;
}

/// 0: it says nothing, or nothing that is a number of megabytes.
uint64_t limit_of_environment_B() {
  const char* const text = std::getenv("TILEGPU_MEMORY_MB");
  if (!text || *text < '0' || *text > '9') return 0;
  char* end = nullptr;
  errno = 0;
  const unsigned long long megabytes = std::strtoull(text, &end, 10);
  return *end || errno || megabytes > UINT64_MAX >> 20 ? 0 : uint64_t{megabytes} << 20;
}

}  // namespace

uint64_t most_memory_B() {
  static const uint64_t most_B = find_most_memory_B();
  return most_B;
}

uint64_t memory_limit_B() {
  static const uint64_t limit_B = [] {
    const uint64_t given_B = limit_of_environment_B();
    return given_B ? given_B : most_memory_B() / 8 * 7;
  }();
  return limit_B;
}

Status check_memory_limit() {
  const char* const text = std::getenv("TILEGPU_MEMORY_MB");
  if (!text || !*text || limit_of_environment_B()) return Ok{};
  return field_error("environment", "TILEGPU_MEMORY_MB", text, "a number of megabytes from 1 on", "set it to one, or unset it");
}

uint64_t free_memory_B() {
  uint64_t free_B = number_in("/proc/meminfo", "MemAvailable: %llu", uint64_t{1} << 22) << 10;
  for (const ControlGroup& group : control_groups())
    if (const uint64_t limit_B = number_in(group.limit.c_str(), "%llu", 0))
      free_B = std::min(free_B, limit_B - std::min(limit_B, number_in(group.usage.c_str(), "%llu", 0)));
  return free_B;
}

namespace {

bool take(uint64_t size_B) {
  const uint64_t limit_B = memory_limit_B();
  uint64_t before_B = g_kept_B.load(std::memory_order_relaxed);
  do {
    if (size_B > limit_B || before_B > limit_B - size_B) return false;
  } while (!g_kept_B.compare_exchange_weak(before_B, before_B + size_B, std::memory_order_relaxed));
  return true;
}

}  // namespace

bool take_memory(uint64_t size_B) {
  if (!take(size_B)) return false;
  g_allocated_B.fetch_add(size_B, std::memory_order_relaxed);
  return true;
}
void give_memory_back(uint64_t size_B) {
  [[maybe_unused]] const uint64_t before_B = g_allocated_B.fetch_sub(size_B, std::memory_order_relaxed);
  assert(before_B >= size_B);
  give_working_memory_back(size_B);
}
uint64_t allocated_B() { return g_allocated_B; }

bool take_working_memory(uint64_t size_B) { return (size_B < kAsksSystem_B || size_B <= free_memory_B()) && take(size_B); }
void give_working_memory_back(uint64_t size_B) {
  [[maybe_unused]] const uint64_t before_B = g_kept_B.fetch_sub(size_B, std::memory_order_relaxed);
  assert(before_B >= size_B);
}
uint64_t kept_memory_B() { return g_kept_B; }

Error MemoryShare::refused(const std::string& who, uint64_t size_B) {
  return {VK_ERROR_OUT_OF_HOST_MEMORY, who + ": some " + std::to_string(size_B) + " bytes are more than the " + left_text(memory_left_B())};
}

uint64_t memory_left_B() {
  const uint64_t limit_B = memory_limit_B();
  return std::min(limit_B - std::min<uint64_t>(limit_B, g_kept_B), free_memory_B());
}

std::string left_text(uint64_t left_B) {
  return std::to_string(left_B) + " bytes that this process has left of " + std::to_string(memory_limit_B()) +
         " (TILEGPU_MEMORY_MB, or seven eighths of what the machine or the control group has; or less, where others have it)";
}

}  // namespace tilegpu
