// base/large_stack.cpp -- see large_stack.hpp. Source: pthread_attr_setstacksize(3).
#include "base/large_stack.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cassert>
#include <exception>

#include "base/host_memory.hpp"

namespace tilegpu {
namespace {

constexpr size_t kUsual_B = 8u << 20, kOfLimited_B = 64u << 20;

thread_local bool is_large = false;

struct Call {
  const std::function<void()>& call;
  std::exception_ptr thrown;
  static void* run(void* self) {
    auto& c = *static_cast<Call*>(self);
    prepare_thread();
    is_large = true;
    try {
      c.call();
    } catch (...) {
      c.thrown = std::current_exception();
    }
    return nullptr;
  }
};

bool is_address_space_limited() {
  rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

// What a thread gets for what it does itself. Blocked, they end the process whatever handlers it has.
sigset_t all_but_own() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) sigdelset(&signals, own);
  return signals;
}

}  // namespace

bool on_stack_of(size_t size_B, const std::function<void()>& call) {
  assert(call && size_B);
  Call c{call, nullptr};
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes)) return false;
  const sigset_t others = all_but_own();
  sigset_t before;
  pthread_t thread;
  pthread_sigmask(SIG_BLOCK, &others, &before);  // inherited
  const bool began =
      !pthread_attr_setstacksize(&attributes, size_B) && !pthread_create(&thread, &attributes, Call::run, static_cast<void*>(&c));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!began) return false;
  pthread_join(thread, nullptr);
  if (c.thrown) std::rethrow_exception(c.thrown);
  return true;
}

void on_large_stack(size_t size_B, const std::function<void()>& call) {
  assert(call && size_B);
  if (is_large) return call();
  if (is_address_space_limited()) size_B = std::min(size_B, kOfLimited_B);
  for (; size_B > kUsual_B; size_B /= 2)
    if (on_stack_of(size_B, call)) return;
  call();
}

size_t stack_left_B() {
  struct Bounds {
    uintptr_t lowest = 0, end = 0;
  };
  static thread_local const Bounds bounds = [] {
    Bounds b;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes)) return b;
    void* lowest = nullptr;
    size_t size_B = 0;
    if (!pthread_attr_getstack(&attributes, &lowest, &size_B)) b = {reinterpret_cast<uintptr_t>(lowest), size_B};
    pthread_attr_destroy(&attributes);
    b.end += b.lowest;
    return b;
  }();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > bounds.lowest && here < bounds.end ? here - bounds.lowest : 0;
}

}  // namespace tilegpu
