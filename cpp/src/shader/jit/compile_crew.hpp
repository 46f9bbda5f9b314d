// shader/jit/compile_crew.hpp -- several functions compiled at once.
//
// In: tasks that ask a Jit for functions. Out: the first error in the tasks' order, or none. The caller takes the tasks in order; only
// when one has to be compiled (it is neither in memory nor on disk) do other threads take tasks too, so that a warm cache pays for none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// At most `threads` tasks at once, the caller's included. Put the longest first. All tasks have ended at the return.
Status run_compiles(uint32_t threads, const std::vector<std::function<Status()>>& tasks);

/// False once who waits for this thread's compiles wants no more of them (base/long_work.hpp): Ctrl-C. It stays so until run_compiles
/// returns, on all of its threads.
bool compile_goes_on();

/// What this thread calls (once) before its next compile; called by the Jit.
void before_compile();

}  // namespace tilegpu::shader
