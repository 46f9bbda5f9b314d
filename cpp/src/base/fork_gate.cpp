// base/fork_gate.cpp -- see fork_gate.hpp.
#include "base/fork_gate.hpp"

#include <pthread.h>

#include <cassert>
#include <new>

namespace tilegpu {

std::shared_mutex& fork_gate() {
  static std::shared_mutex* const gate = new std::shared_mutex;  // never destroyed: threads may outlive static objects
  assert(gate);
  return *gate;
}

namespace {

/// As the library is loaded: handlers that are asked for later are called before, and wait for tasks, which may hold the gate.
[[gnu::constructor]] void prepare_forks() {
  // The child's thread has another number than who locked it, and could not unlock: all who waited are the parent's.
  pthread_atfork([] { fork_gate().lock(); }, [] { fork_gate().unlock(); }, [] { new (&fork_gate()) std::shared_mutex; });
}

}  // namespace

}  // namespace tilegpu
