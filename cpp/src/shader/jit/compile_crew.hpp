// shader/jit/compile_crew.hpp -- several functions compiled at once.
//
// In: tasks that ask a Jit for functions. Out: the first error in the tasks' order, or none. The caller takes the tasks in order; only
// when one has to be compiled (it is neither in memory nor on disk) do other threads take tasks too, so that a warm cache pays for none.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// At most `threads` tasks at once, the caller's included. Put the longest first. All tasks have ended at the return.
Status run_compiles(uint32_t threads, const std::vector<std::function<Status()>>& tasks);

/// False once who waits for this thread's compiles wants no more of them: Ctrl-C (tilegpu/compiler.hpp, set_compile_goes_on). It stays so
/// until run_compiles returns, on all of its threads. To be asked without a lock of one's own.
bool compile_goes_on();
/// While it lives, this thread's compiles go on until `stop` is set, by who waits for them elsewhere.
class StopsCompiles {
 public:
  explicit StopsCompiles(std::atomic<bool>& stop);
  ~StopsCompiles();
  StopsCompiles(const StopsCompiles&) = delete;

 private:
  std::atomic<bool>* outer_;
};
/// How often who waits for another thread's compile asks that.
inline constexpr std::chrono::milliseconds kAskMeanwhile{20};
/// What a compile is that ended for that. It says nothing about what was compiled: who waits for the same compiles it himself.
Error compile_interrupted(const std::string& what);
bool is_interrupted(const Error& error);

/// What this thread calls (once) before its next compile; called by the Jit.
void before_compile();

}  // namespace tilegpu::shader
