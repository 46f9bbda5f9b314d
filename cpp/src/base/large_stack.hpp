// base/large_stack.hpp -- a call on a stack of its own, for code of others that calls itself as deep as its input says.
//
// In: how large, a function. Out: it has run, on a thread of its own where one can be had, which its caller waits for; what it throws is
// thrown here. Pages that are not touched cost nothing. Signals stay the caller's.
#pragma once

#include <cstddef>
#include <functional>

namespace tilegpu {

/// Where so much can't be had, half of it is asked for, and so on; below that of usual threads, and where the address space is limited, so
/// that a stack takes from what the call may need, the caller's own is taken.
void on_large_stack(size_t size_B, const std::function<void()>& call);

}  // namespace tilegpu
