// bindings/init.cpp -- the module's init function: the CPU is checked before any code that was compiled for x86-64-v3 runs.
//
// Compiled for plain x86-64 and free of templates, so that the linker can't replace a function of it by one of another unit.
#include <Python.h>

#include "tilegpu/cpu.hpp"

namespace {
/// The library has done the same for itself: its constructors come before these.
__attribute__((constructor(101))) void check_first() {
  if (tilegpu::missing_cpu_feature()) tilegpu::skip_constructors(reinterpret_cast<const void*>(&check_first));
}
}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): CPython looks for PyInit_ and the module's name, which is _core
extern "C" PyObject* PyInit__core_impl();

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__core() {
  if (const char* missing = tilegpu::missing_cpu_feature()) {
    PyErr_Format(PyExc_ImportError,
                 "tilegpu needs an x86-64-v3 CPU (AVX2, FMA, BMI, F16C: Intel since Haswell 2013, AMD since Zen 2017); this one has no %s",
                 missing);
    return nullptr;
  }
  return PyInit__core_impl();
}
// NOLINTEND(bugprone-reserved-identifier)
