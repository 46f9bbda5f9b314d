// base/fork_gate.hpp -- locks of what a child by fork goes on using. In: a lock that is held for moments, never while something is waited
// for. Out: nobody forks meanwhile, so that the child finds it free, and what it guards whole.
//
// Most of what is locked belongs to a device or a queue, and a child has its own. Modules of shaders are kept by their text, for all
// devices of the process and of its children. Source: fork(2), pthread_atfork(3).
#pragma once

#include <mutex>
#include <shared_mutex>

namespace tilegpu {

/// Locked by fork, shared by all who hold a lock of that kind.
std::shared_mutex& fork_gate();

/// A mutex, and no fork while it is held.
class LockedAgainstFork {
 public:
  explicit LockedAgainstFork(std::mutex& mutex) : no_fork_(fork_gate()), lock_(mutex) {}

 private:
  std::shared_lock<std::shared_mutex> no_fork_;
  std::lock_guard<std::mutex> lock_;
};

}  // namespace tilegpu
