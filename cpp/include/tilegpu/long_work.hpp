// tilegpu/long_work.hpp -- what a front end does while a call takes long that is short otherwise.
// In: two functions. Out: they are called around it, on the thread of the call.
// Recording a draw takes microseconds, but for the first one with a state, for which code is compiled. Who holds a lock that all of its
// threads want, as interpreters do, gives it up meanwhile.
#pragma once

#include "tilegpu/api.hpp"

namespace tilegpu {

struct LongWorkCalls {
  void* (*begin)() = nullptr;    ///< on whatever thread begins; its result is what `end` gets
  void (*end)(void*) = nullptr;  ///< on the same thread; the core holds no lock then, and may hold some when it calls `begin`
};
/// For the whole process, in place of those of before; both null (at first): nothing is called. Calls of other threads for the command
/// buffer whose call takes long wait for its end.
TILEGPU_API void set_long_work(const LongWorkCalls& calls);

}  // namespace tilegpu
