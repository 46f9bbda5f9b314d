// tilegpu/cpu.hpp -- which feature of x86-64-v3 this CPU lacks. In: CPUID. Out: its name.
// A header of its own, without any other: who asks is compiled for plain x86-64 and must take no code from units compiled for more.
#pragma once

#include "tilegpu/api.hpp"

namespace tilegpu {

/// Null when it lacks none; else no device can be made.
TILEGPU_API const char* missing_cpu_feature();

}  // namespace tilegpu
