// tilegpu/cpu.hpp -- which feature of x86-64-v3 this CPU lacks. In: CPUID. Out: its name.
// A header of its own, without any other: who asks is compiled for plain x86-64 and must take no code from units compiled for more.
#pragma once

#include "tilegpu/api.hpp"

namespace tilegpu {

/// Null when it lacks none; else no device can be made.
TILEGPU_API const char* missing_cpu_feature();

/// For a library that is compiled for more than its CPU may have, from a constructor of the first priority (101): those behind it don't
/// run, and who loaded it may still ask what lacks. `inside`: an address in that library. False: its table of constructors can't be
/// written.
TILEGPU_API bool skip_constructors(const void* inside);

}  // namespace tilegpu
