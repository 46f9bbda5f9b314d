// shader/jit/compiler_pool.hpp -- compilers in processes of their own, for devices that ask for it (tilegpu/compiler.hpp,
// isolate_compiler), for GLSL and for large modules (device/shaders_apart.cpp).
//
// In: requests (compile_request.hpp). Out: answers, or an error where the process crashed, wanted too much memory, took too long, or was
// interrupted: all of that ends the process and not this one, and the next request starts another. As many processes as requests at once;
// of those that have nothing to do two wait, and end with the pool. Source: docs/decisions.md, 181 and 200.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::shader {

struct PoolLimits {
  // Of one request. The largest shader that is taken (100,000 scalar instructions) wants a fraction of either.
  double processor_s = 60;
  uint64_t memory_B = 1ull << 30;                          // beyond what a process has that did nothing yet
  const char* time_name = "the device's compile_timeout";  // for messages
  const char* memory_name = "the device's compile_memory";
};

// A small shader takes 27 MiB, one of 100,000 instructions ten times as much.
inline constexpr uint64_t kLeastCompilerMemory_B = 32ull << 20;
/// For who says nothing: as above, but no more memory than this process may have (base/memory_budget.hpp).
PoolLimits usual_limits();

class CompilerPool {
 public:
  /// An error where the program is not beside the library.
  static Expected<std::unique_ptr<CompilerPool>> create(const PoolLimits& limits);
  /// An error where no process can be started now. One that can waits for the next request.
  Status start();
  /// `what` begins the messages: "shader 'a.frag'". From any thread. `no_process`, where it is given: whether an error is that of start().
  Expected<std::string> ask(const std::string& what, const std::string& request, bool* no_process = nullptr);
  const std::string& program() const { return program_; }
  /// Once a process has found that none of them can serve: a library is missing, or they are of another build.
  bool is_useless() const { return useless_; }

 private:
  struct Taken {
    std::unique_ptr<ChildProcess> process;
    bool has_served = false;
  };
  Expected<Taken> take(bool fresh);  // a new one, or, if there is one, one that waits
  void give(Taken taken);
  Error failed(ChildProcess& process, ChildProcess::Outcome outcome, const std::string& what) const;
  Error ended(const ChildProcess::Ending& how, const std::string& what) const;

  std::string program_;
  PoolLimits limits_;
  mutable std::atomic<bool> useless_{false};
  ForkMutex mutex_;
  std::vector<Taken> idle_;
};

}  // namespace tilegpu::shader
