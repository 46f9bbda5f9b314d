// base/host_memory.hpp -- working memory (of passes, recordings, descriptor sets), and what happens when there is none left.
// In: a size, and for what. Out: memory that counts (base/memory_budget.hpp), or OutOfMemory, then an Error.
// Inside the core a refusal travels as OutOfMemory (a std::bad_alloc that says what was wanted) from wherever it happens to the
// executor of the pass, on any thread; there it becomes an Error. Nothing on a hot path has to ask, and no exception leaves the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu {

struct OutOfMemory : std::bad_alloc {
  enum class By : uint8_t { system, process, one };  // who refused it: a limit of the process's, or of one primitive's
  const char* wanted;                                // "tile memory"; a literal
  size_t size_B;
  By by;
  uint64_t most_B;  // what was left of the process's limit, or the limit
  OutOfMemory(const char* what, size_t bytes, By who = By::system, uint64_t most = 0)
      : wanted(what), size_B(bytes), by(who), most_B(most) {}
  const char* what() const noexcept override { return wanted; }
};

inline constexpr std::align_val_t kHostAlign{64};

/// 64-byte aligned, undefined contents; throws OutOfMemory.
void* allocate_host(size_t size_B, const char* wanted);
/// `size_B` as it was allocated; null is nothing.
void free_host(void* memory, size_t size_B);

struct FreeHost {
  size_t size_B = 0;
  void operator()(uint8_t* memory) const { free_host(memory, size_B); }
};
using HostBytes = std::unique_ptr<uint8_t, FreeHost>;
inline HostBytes host_bytes(size_t size_B, const char* wanted) {
  return {static_cast<uint8_t*>(allocate_host(size_B, wanted)), FreeHost{size_B}};
}

/// The same for what is recorded, aligned as operator new does.
void* allocate_recorded(size_t size_B);
void free_recorded(void* memory, size_t size_B);

/// For containers whose size is the program's: their memory counts, and OutOfMemory says "what is recorded".
template <class T>
struct HostAllocator {
  using value_type = T;
  HostAllocator() = default;
  template <class U>
  HostAllocator(const HostAllocator<U>&) {}
  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(allocate_recorded(count * sizeof(T)));
  }
  void deallocate(T* memory, size_t count) { free_recorded(memory, count * sizeof(T)); }
  bool operator==(const HostAllocator&) const = default;
};
template <class T>
using HostVector = std::vector<T, HostAllocator<T>>;
template <class T>
using HostDeque = std::deque<T, HostAllocator<T>>;

/// To be called first on every thread of the core: what the C++ runtime keeps for each thread that throws is made at its first use,
/// and where there is no memory for it then, glibc ends the process.
void prepare_thread();

/// LLVM and glslang end the process when memory runs out under them: a compile asks first whether the system could give this much,
/// several times what the largest shaders take.
inline constexpr size_t kCompileMemory_B = size_t{64} << 20;
Status check_compile_memory(const std::string& who);
/// check_compile_memory says yes from now on: this process has a limit of its own, may end where it is reached, and says so.
void expect_memory_limit();

/// "the system refused 160 bytes for tile memory", or "160 bytes for tile memory are more than the 96 that are left of ..."; or what a
/// plain std::bad_alloc tells: "the system refused memory for `otherwise`".
std::string refused_text(const std::bad_alloc& error, const char* otherwise);

}  // namespace tilegpu
