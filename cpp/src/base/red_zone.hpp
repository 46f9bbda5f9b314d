// base/red_zone.hpp -- bytes that are mapped and nobody's, told to AddressSanitizer; nothing in other builds.
//
// In: memory that was rounded up. Out: an access of what lies behind its object is reported, from C++ and from checked code
// (shader/jit/checked_code.hpp). Source: LLVM, sanitizer/asan_interface.h.
#pragma once

#include <cassert>
#include <cstddef>

#if defined(__has_feature)
#define TILEGPU_HAS_FEATURE(x) __has_feature(x)
#else
#define TILEGPU_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || TILEGPU_HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif

namespace tilegpu {

inline void forbid([[maybe_unused]] void* from, [[maybe_unused]] size_t size_B) {
  assert(from || !size_B);
#if defined(__SANITIZE_ADDRESS__) || TILEGPU_HAS_FEATURE(address_sanitizer)
  __asan_poison_memory_region(from, size_B);
#endif
}

/// Before it is given back: whoever gets those addresses next knows nothing of it.
inline void allow([[maybe_unused]] void* from, [[maybe_unused]] size_t size_B) {
  assert(from || !size_B);
#if defined(__SANITIZE_ADDRESS__) || TILEGPU_HAS_FEATURE(address_sanitizer)
  __asan_unpoison_memory_region(from, size_B);
#endif
}

}  // namespace tilegpu
