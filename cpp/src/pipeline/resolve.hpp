// pipeline/resolve.hpp -- a program and a state become what a draw runs: code, traits, classification. Resolved once, kept by the device.
//
// In: Program, GraphicsState. Out: Resolved. Two states that lead to the same code and the same classification have one key; whatever
// fixed functions read while a draw runs (culling, comparisons, masks' values, viewports) is not in it.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <mutex>

#include "pipeline/program.hpp"
#include "pipeline/resolved.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::shader {
class Jit;
}

namespace tilegpu::pipeline {

/// Checks the state, classifies, compiles what is not there yet by up to `threads` threads.
Expected<Ptr<const Resolved>> resolve(shader::Jit& jit, const Ptr<const Program>& program, const GraphicsState& state, uint32_t threads);

/// All that resolve() looks at, as bytes.
std::string resolve_key(const Program& program, const GraphicsState& state);

/// What a device resolved lately. Who asks for the same at once waits for one compile; who asks for something else does not.
class ResolveCache {
 public:
  explicit ResolveCache(size_t most = 4096) : most_(most) { assert(most > 0); }
  Expected<Ptr<const Resolved>> find(shader::Jit& jit, const Ptr<const Program>& program, const GraphicsState& state, uint32_t threads);
  /// How often something new was resolved.
  uint64_t misses() const;
  size_t size() const;

 private:
  struct Entry {
    std::mutex compiling;
    Ptr<const Resolved> resolved;                 // null until then, and where it failed
    const uint32_t made_in_fork = fork_number();  // a child by fork makes its own, where its parent's thread may be about it
    std::atomic<bool> known{false};               // there is `resolved`
  };
  struct Place {
    std::shared_ptr<Entry> entry;
    std::list<const std::string*>::iterator used;
  };
  const size_t most_;
  mutable ForkMutex mutex_;
  std::map<std::string, Place> entries_;
  std::list<const std::string*> by_use_;  // the latest first
  uint64_t misses_ = 0;
};

}  // namespace tilegpu::pipeline
