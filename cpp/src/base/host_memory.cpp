// base/host_memory.cpp -- see host_memory.hpp.
#include "base/host_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cassert>
#include <exception>

#include "base/memory_budget.hpp"

namespace tilegpu {
namespace {

std::atomic<bool> limit_expected{false};

/// What `allocate` gives, counted.
template <class Allocate>
void* counted(size_t size_B, const char* wanted, Allocate allocate) {
  assert(wanted);
  if (!take_working_memory(size_B)) throw OutOfMemory(wanted, size_B, OutOfMemory::By::process, memory_left_B());
  void* const memory = allocate();
  if (memory) return memory;
  give_working_memory_back(size_B);
  throw OutOfMemory(wanted, size_B);
}

}  // namespace

void* allocate_host(size_t size_B, const char* wanted) {
  return counted(size_B, wanted, [&] { return ::operator new(size_B, kHostAlign, std::nothrow); });
}

void free_host(void* memory, size_t size_B) {
  if (!memory) return;
  ::operator delete(memory, kHostAlign);
  give_working_memory_back(size_B);
}

void* allocate_recorded(size_t size_B) {
  return counted(size_B, "what is recorded", [&] { return ::operator new(size_B, std::nothrow); });
}

void free_recorded(void* memory, size_t size_B) {
  ::operator delete(memory);
  give_working_memory_back(size_B);
}

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
  const auto* known = dynamic_cast<const OutOfMemory*>(&error);
  if (!known) return std::string("the system refused memory for ") + otherwise;
  const std::string what = std::to_string(known->size_B) + " bytes for " + known->wanted;
  if (known->by == OutOfMemory::By::system) return "the system refused " + what;
  if (known->by == OutOfMemory::By::one) return what + " are more than " + std::to_string(known->most_B) + ", which is the limit";
  return what + " are more than the " + left_text(known->most_B);
}

}  // namespace tilegpu
