// base/at_exit.hpp -- the end of the process, while threads of the library still work.
// In: what is to be done at the end of the process. Out: it is done then, and nothing else.
// Programs end without a word: code may be compiled in the background, a pass may run. So no static object of libtilegpu, LLVM's among
// them, is ever destroyed: the link sends all requests for that (__cxa_atexit) to a function that does nothing (CMakeLists.txt,
// --wrap). What must be done at the end is asked for here. Source: Itanium C++ ABI, 3.3.6 (runtime API for termination).
#pragma once

namespace tilegpu {

/// Calls `call` when the process ends or the library is unloaded; the last one first.
void at_exit(void (*call)());

}  // namespace tilegpu
