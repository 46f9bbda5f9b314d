// tilegpu/compiler_process.hpp -- all of the program tilegpu-compiler, which devices with isolate_compiler start; nobody else calls this.
// In: a socket. Out: answers.
#pragma once

#include "tilegpu/api.hpp"

namespace tilegpu {

/// `main` of that program: answers what comes over its socket until the other end is gone.
TILEGPU_API int run_compiler_process(int count, const char* const* arguments);

}  // namespace tilegpu
