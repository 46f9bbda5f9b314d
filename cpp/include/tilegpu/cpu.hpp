// device/cpu_check.hpp -- which feature of x86-64-v3 this CPU lacks; null when it lacks none. In: CPUID. Out: its name.
#pragma once

#include "tilegpu/api.hpp"

namespace tilegpu::device {

TILEGPU_API const char* missing_cpu_feature();

}  // namespace tilegpu::device
