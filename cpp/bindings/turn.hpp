// bindings/turn.hpp -- who records: commands of one pass, one at a time, of whichever thread.
//
// In: `with turn:` around a command that takes several of the core's. Out: no other thread's comes between. Entered and left in C, as
// Python's own locks are: an exception between any two steps of the interpreter leaves it free.
#pragma once

#include "held.hpp"

namespace tilegpu::bindings {

class Turn {
 public:
  Turn() : lock_(PyThread_allocate_lock()) {
    if (!lock_) throw std::bad_alloc();
  }
  ~Turn() { PyThread_free_lock(lock_); }
  Turn(const Turn&) = delete;

  /// Waits for other threads, without the GIL meanwhile. False: an exception is set (Ctrl-C).
  bool take();
  /// False: somebody has it, maybe this thread.
  bool take_at_once();
  void leave() {
    owner_ = 0;
    PyThread_release_lock(lock_);
  }
  bool is_own() const { return owner_ == PyThread_get_thread_ident(); }

  /// The next draw may be recorded in one call, as nothing of the pass is unusual: no state that a draw would have to set back, nothing
  /// that was written by a draw, nothing captured. Every command that goes the general way takes it back; a draw gives it again.
  bool plain = false;

 private:
  PyThread_type_lock lock_;
  unsigned long owner_ = 0;  // written with the GIL
};

/// `with`: Python's exception, or None.
PyObject* enter(Turn& turn);

/// Makes a class one that commands are recorded with: `of(self)` is its turn.
template <class Of>
void add_turn(py::handle type, Of) {
  static PyMethodDef methods[] = {
      {"__enter__", [](PyObject* self, PyObject*) -> PyObject* { return enter(Of{}(self)); }, METH_NOARGS, nullptr},
      {"__exit__",
       reinterpret_cast<PyCFunction>(
           reinterpret_cast<void (*)()>(static_cast<Fast>([](PyObject* self, PyObject* const*, Py_ssize_t) -> PyObject* {
             Of{}(self).leave();
             Py_RETURN_NONE;
           }))),
       METH_FASTCALL, nullptr},
      {"_is_owned", [](PyObject* self, PyObject*) -> PyObject* { return PyBool_FromLong(Of{}(self).is_own()); }, METH_NOARGS, nullptr},
  };
  for (PyMethodDef& method : methods) add_method(type, &method);
}

}  // namespace tilegpu::bindings
