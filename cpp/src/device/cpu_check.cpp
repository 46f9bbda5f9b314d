// device/cpu_check.cpp -- the first thing that runs: is this CPU at least x86-64-v3?
// In: what CPUID says. Out: the name of a feature that lacks, or null.
// Compiled for plain x86-64, and free of library code that the linker could take from a unit compiled for v3, so that an older
// CPU gets a sentence instead of an illegal instruction.
#include "tilegpu/cpu.hpp"

namespace tilegpu {

#if !defined(__x86_64__)
const char* missing_cpu_feature() { return nullptr; }  // Armv8.0-A has all that the core uses
#else
const char* missing_cpu_feature() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return "AVX2";
  if (!__builtin_cpu_supports("fma")) return "FMA";
  if (!__builtin_cpu_supports("bmi")) return "BMI1";
  if (!__builtin_cpu_supports("bmi2")) return "BMI2";
  if (!__builtin_cpu_supports("f16c")) return "F16C";
  if (!__builtin_cpu_supports("popcnt")) return "POPCNT";
  return nullptr;
}
#endif

}  // namespace tilegpu
