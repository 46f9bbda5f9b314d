// base/host_memory.cpp -- see host_memory.hpp.
#include "base/host_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cassert>
#include <exception>

namespace tilegpu {
namespace {

std::atomic<bool> limit_expected{false};

}  // namespace

void prepare_thread() {
  volatile int touched = std::uncaught_exceptions();
  (void)touched;
}

Status check_compile_memory(const std::string& who) {
  assert(!who.empty());
  if (limit_expected.load()) return Ok{};
  void* address = mmap(nullptr, kCompileMemory_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 who + " needs up to " + std::to_string(kCompileMemory_B) +
                     " bytes to compile, and the system refuses them; free images or give the process more memory"};
  munmap(address, kCompileMemory_B);
  return Ok{};
}

void expect_memory_limit() { limit_expected = true; }

std::string refused_text(const std::bad_alloc& error, const char* otherwise) {
  assert(otherwise);
  if (const auto* known = dynamic_cast<const OutOfMemory*>(&error)) return std::to_string(known->size_B) + " bytes for " + known->wanted;
  return std::string("memory for ") + otherwise;
}

}  // namespace tilegpu
