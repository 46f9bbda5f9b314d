// device/cpu_check.cpp -- the first thing that runs: is this CPU at least x86-64-v3?
// In: what CPUID says. Out: the name of a feature that lacks, or null; where one lacks, no constructor of the library runs.
// Compiled for plain x86-64, and free of library code that the linker could take from a unit compiled for v3, so that an older
// CPU gets a sentence instead of an illegal instruction.
//
// Static objects of units that were compiled for v3 are constructed by such code when the library is loaded, before anybody can ask. The
// loader takes one entry of DT_INIT_ARRAY after the other from memory, and the first is ours: it replaces those behind it. Source: System V
// ABI, "Initialization and Termination Functions"; glibc's call_init.
#include "tilegpu/cpu.hpp"

#if defined(__x86_64__)
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tilegpu {

#if !defined(__x86_64__)
const char* missing_cpu_feature() { return nullptr; }  // Armv8.0-A has all that the core uses
bool skip_constructors(const void*) { return false; }
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

namespace {

void no_constructor() {}

__attribute__((constructor(101))) void check_first() {
  if (missing_cpu_feature()) skip_constructors(reinterpret_cast<const void*>(&no_constructor));
}

}  // namespace

bool skip_constructors(const void* inside) {
  Dl_info unused;
  link_map* library = nullptr;
  if (!dladdr1(inside, &unused, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) || !library) return false;
  ElfW(Addr) table = 0, size_B = 0;
  for (const ElfW(Dyn)* entry = library->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT_ARRAY) table = library->l_addr + entry->d_un.d_ptr;
    if (entry->d_tag == DT_INIT_ARRAYSZ) size_B = entry->d_un.d_val;
  }
  const ElfW(Addr) page_B = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE)), first = table & ~(page_B - 1), end = table + size_B;
  // It is read-only after relocation (-z relro).
  if (!table || mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE)) return false;
  for (ElfW(Addr) at = table; at < end; at += sizeof(ElfW(Addr))) *reinterpret_cast<void (**)()>(at) = no_constructor;
  return true;
}
#endif

}  // namespace tilegpu
