// bindings/gil.hpp -- Python's lock while the core works. In: a thread that has it, and a scope that needs it not. Out: other threads of
// Python run meanwhile; at the end of the scope the thread has it again, or, where Python has ended by then, hangs until the process ends.
//
// CPython up to 3.13 ends a daemon thread that asks for the lock once Py_FinalizeEx has begun: by pthread_exit, which unwinds its frames,
// and where one of these may not be unwound (destructors, pybind11's dispatcher, which catches everything) the process aborts. From 3.14 on
// such a thread hangs, for that reason; here it does with all of them. Source: CPython's documentation, "Cautions regarding runtime
// finalization"; gh-87135.
#pragma once

#include <pybind11/pybind11.h>

#include <cassert>
#include <chrono>
#include <thread>

namespace tilegpu::bindings {

/// Takes the lock again. A thread that Python ends here unwinds this frame first, and gets no further.
inline void restore_thread(PyThreadState* state) {
  assert(state);
  struct HangsIfUnwound {
    bool back = false;
    ~HangsIfUnwound() {
      while (!back) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  } hangs;
  PyEval_RestoreThread(state);
  hangs.back = true;
}

/// For the scope, as py::gil_scoped_release; of a thread that has the lock.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() { restore_thread(state_); }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace tilegpu::bindings
