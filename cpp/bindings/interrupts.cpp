// bindings/interrupts.cpp -- see interrupts.hpp. In: signals, calls that take long. Out: what the core asks of the front end meanwhile.
#include "interrupts.hpp"

#include <atomic>
#include <csignal>

#include "tilegpu/compiler.hpp"
#include "tilegpu/long_work.hpp"

namespace tilegpu::bindings {
namespace {

/// The only thread that hears of signals; in a child by fork it is the one that forked.
std::atomic<unsigned long> main_thread{0};
/// Of the module _signal, whose functions are C: that of the module signal is Python, and running it would run handlers. Never released.
PyObject *getsignal = nullptr, *default_handler = nullptr;

void hear_of_main_thread() { main_thread = PyThread_get_thread_ident(); }

/// Other threads of Python run while a call takes long: null where this thread has not got the GIL.
void* release_gil() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
void take_gil(void* held) {
  if (held) restore_thread(static_cast<PyThreadState*>(held));
}

}  // namespace

bool ctrl_c_pends() {
  if (PyThread_get_thread_ident() != main_thread.load() || !Py_IsInitialized()) return false;
  py::gil_scoped_acquire acquire;
  PyObject* handler = PyObject_CallFunction(getsignal, "i", SIGINT);
  if (!handler) PyErr_Clear();
  Py_XDECREF(handler);
  if (handler != default_handler || !PyOS_InterruptOccurred()) return false;
  PyErr_SetInterrupt();  // asking took it away
  return true;
}

void bind_interrupts(py::module_&) {
  const py::module_ signals = py::module_::import("_signal");
  getsignal = signals.attr("getsignal").cast<py::object>().release().ptr();
  default_handler = signals.attr("default_int_handler").cast<py::object>().release().ptr();
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") = py::cpp_function(hear_of_main_thread));
  set_long_work({release_gil, take_gil});
  set_compile_goes_on([] { return !ctrl_c_pends(); });
  // Nothing compiles in the background while the process takes its static objects down.
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    set_long_work({});
    set_compile_goes_on(nullptr);
    ReleasedGil release;
    end_background_compiles();
  }));
}

}  // namespace tilegpu::bindings
