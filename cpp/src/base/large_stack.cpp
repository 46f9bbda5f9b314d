// base/large_stack.cpp -- see large_stack.hpp. Source: pthread_attr_setstacksize(3).
#include "base/large_stack.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <cassert>
#include <exception>

namespace tilegpu {
namespace {

constexpr size_t kUsual_B = 8u << 20;

struct Call {
  const std::function<void()>& call;
  std::exception_ptr thrown;
  static void* run(void* self) {
    auto& c = *static_cast<Call*>(self);
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

}  // namespace

void on_large_stack(size_t size_B, const std::function<void()>& call) {
  assert(call && size_B);
  Call c{call, nullptr};
  sigset_t all, before;
  sigfillset(&all);
  for (; size_B > kUsual_B && !is_address_space_limited(); size_B /= 2) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) break;
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited
    const bool began =
        !pthread_attr_setstacksize(&attributes, size_B) && !pthread_create(&thread, &attributes, Call::run, static_cast<void*>(&c));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (!began) continue;
    pthread_join(thread, nullptr);
    if (c.thrown) std::rethrow_exception(c.thrown);
    return;
  }
  call();
}

}  // namespace tilegpu
