// base/fork_mutex.cpp -- see fork_mutex.hpp.
#include "tilegpu/fork_mutex.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cassert>
#include <new>

namespace tilegpu {

/// All that there are, of either kind, each in a list of its own.
struct ForkList {
  std::mutex mutex;
  ForkMutex* mutexes = nullptr;
  ForkCondition* conditions = nullptr;

  template <class Kind>
  void enter(Kind*& first, Kind* one) {
    const std::lock_guard lock(mutex);
    one->after_ = first;
    if (first) first->before_ = one;
    first = one;
  }
  template <class Kind>
  void leave(Kind*& first, Kind* one) {
    const std::lock_guard lock(mutex);
    assert(one->before_ || first == one);
    (one->before_ ? one->before_->after_ : first) = one->after_;
    if (one->after_) one->after_->before_ = one->before_;
  }
  /// All, or none: who has one may wait for another, or for the list to make one, so nothing is waited for with one in the hand.
  bool take_all() {
    mutex.lock();
    for (ForkMutex* one = mutexes; one; one = one->after_) {
      if (one->try_lock()) continue;
      for (ForkMutex* taken = mutexes; taken != one; taken = taken->after_) taken->unlock();
      mutex.unlock();
      return false;
    }
    return true;
  }
  void give_all() {
    for (ForkMutex* one = mutexes; one; one = one->after_) one->unlock();
    mutex.unlock();
  }
  void forget_waiting() {
    for (ForkCondition* one = conditions; one; one = one->after_) new (static_cast<std::condition_variable*>(one)) std::condition_variable;
  }
};

namespace {

ForkList& list() {
  static ForkList* const all = new ForkList;  // never destroyed: threads may outlive static objects
  return *all;
}

std::atomic<uint32_t> forks{0};

void prepare() {
  while (!list().take_all()) sched_yield();
}
void parent() { list().give_all(); }
void child() {
  forks.fetch_add(1, std::memory_order_relaxed);
  list().forget_waiting();
  list().give_all();
}

/// As the library is loaded: handlers that are asked for later are called before, and wait for tasks, which take these locks.
[[gnu::constructor]] void ask_for_handlers() { pthread_atfork(prepare, parent, child); }

}  // namespace

ForkMutex::ForkMutex() { list().enter(list().mutexes, this); }
ForkMutex::~ForkMutex() { list().leave(list().mutexes, this); }
ForkCondition::ForkCondition() { list().enter(list().conditions, this); }
ForkCondition::~ForkCondition() { list().leave(list().conditions, this); }

uint32_t fork_number() { return forks.load(std::memory_order_relaxed); }

}  // namespace tilegpu
