// base/prefetch.hpp -- asking for a cache line that is used soon. In: any address. Out: nothing.
//
// GCC takes a function that does nothing but __builtin_prefetch for one without effect, and removes the calls of it together with what
// they ask for (12.2 does, lambdas included): so the builtin stands here alone, beside an instruction that is none and must stay.
#pragma once

#include <cstdint>

namespace tilegpu {

namespace detail {
inline void stay() { asm volatile(""); }
}  // namespace detail

/// To be read. The address need not be valid.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  detail::stay();
}
inline void prefetch(uintptr_t address) { prefetch(reinterpret_cast<const void*>(address)); }
/// To be read later: not into the first cache.
inline void prefetch_outside(const void* address) {
  __builtin_prefetch(address, 0, 2);
  detail::stay();
}
/// To be written.
inline void prefetch_to_write(const void* address) {
  __builtin_prefetch(address, 1);
  detail::stay();
}

}  // namespace tilegpu
