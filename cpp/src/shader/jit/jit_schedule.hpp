// shader/jit/jit_schedule.hpp -- which of LLVM's instruction schedulers a function gets. See jit_schedule.cpp. In: a function. Out: a name.
#pragma once

namespace tilegpu::shader {

/// A function with this attribute (a string attribute) has long independent chains, which are to be taken by turns.
inline constexpr const char* kWideSchedule = "tilegpu-wide-schedule";

/// Once for the process, before the first function is compiled.
void install_schedulers();

}  // namespace tilegpu::shader
