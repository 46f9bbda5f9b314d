// base/host_memory.hpp -- working memory of a pass, and what happens when the system has none left.
// In: a size that the system refused, and for what. Out: OutOfMemory, then an Error.
// Inside the core a refusal travels as OutOfMemory (a std::bad_alloc that says what was wanted) from wherever it happens to the
// executor of the pass, on any thread; there it becomes an Error. Nothing on a hot path has to ask, and no exception leaves the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu {

struct OutOfMemory : std::bad_alloc {
  const char* wanted;  // "tile memory"; a literal
  size_t size_B;
  OutOfMemory(const char* what, size_t bytes) : wanted(what), size_B(bytes) {}
  const char* what() const noexcept override { return wanted; }
};

inline constexpr std::align_val_t kHostAlign{64};

/// 64-byte aligned, undefined contents; throws OutOfMemory.
inline void* allocate_host(size_t size_B, const char* wanted) {
  void* memory = ::operator new(size_B, kHostAlign, std::nothrow);
  if (!memory) throw OutOfMemory(wanted, size_B);
  return memory;
}
inline void free_host(void* memory) { ::operator delete(memory, kHostAlign); }

/// To be called first on every thread of the core: what the C++ runtime keeps for each thread that throws is made at its first use,
/// and where there is no memory for it then, glibc ends the process.
void prepare_thread();

/// LLVM and glslang end the process when memory runs out under them: a compile asks first whether the system could give this much,
/// several times what the largest shaders take.
inline constexpr size_t kCompileMemory_B = size_t{64} << 20;
Status check_compile_memory(const std::string& who);
/// check_compile_memory says yes from now on: this process has a limit of its own, may end where it is reached, and says so.
void expect_memory_limit();

/// "160 bytes for tile memory", or what a plain std::bad_alloc tells: "memory for `otherwise`".
std::string refused_text(const std::bad_alloc& error, const char* otherwise);

}  // namespace tilegpu
