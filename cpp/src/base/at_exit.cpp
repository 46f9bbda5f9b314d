// base/at_exit.cpp -- see at_exit.hpp.
#include "base/at_exit.hpp"

#include <cassert>

extern "C" {

extern void* __dso_handle;  // NOLINT(bugprone-reserved-identifier): the linker's name of this library
// NOLINTBEGIN(bugprone-reserved-identifier): names that --wrap makes
int __real___cxa_atexit(void (*destroy)(void*), void* object, void* library);
int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"

namespace tilegpu {

void at_exit(void (*call)()) {
  assert(call);
  (void)__real___cxa_atexit([](void* function) { reinterpret_cast<void (*)()>(function)(); }, reinterpret_cast<void*>(call),
                            static_cast<void*>(&__dso_handle));
}

}  // namespace tilegpu
