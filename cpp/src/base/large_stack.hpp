// base/large_stack.hpp -- a call on a stack of its own, for code of others that calls itself as deep as its input says.
//
// In: how large, a function. Out: it has run, on a thread of its own where one can be had, which its caller waits for; what it throws is
// thrown here. Pages that are not touched cost nothing. Signals stay the caller's, but for those that the call itself causes (SIGSEGV).
#pragma once

#include <cstddef>
#include <functional>

namespace tilegpu {

/// Where so much can't be had, half of it is asked for, and so on; below that of usual threads the caller's own is taken. Where the address
/// space is limited (RLIMIT_AS), a stack takes from what the call may need: it is of 64 MiB at most. Within such a call another one stays
/// on its stack.
void on_large_stack(size_t size_B, const std::function<void()>& call);
/// On a thread whose stack has so much. False: there is none to be had, and nothing was called.
bool on_stack_of(size_t size_B, const std::function<void()>& call);
/// What is left of the calling thread's stack; 0 where that is not known, as on a stack that a program made itself.
size_t stack_left_B();

}  // namespace tilegpu
