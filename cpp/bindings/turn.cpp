// bindings/turn.cpp -- see turn.hpp.
#include "turn.hpp"

#include "held.hpp"

namespace tilegpu::bindings {

bool Turn::take_at_once() {
  if (owner_ || !PyThread_acquire_lock(lock_, NOWAIT_LOCK)) return false;
  owner_ = PyThread_get_thread_ident();
  return true;
}

bool Turn::take() {
  if (!PyThread_acquire_lock(lock_, NOWAIT_LOCK)) {
    for (;;) {
      PyLockStatus status;
      {
        const ReleasedGil released;
        status = PyThread_acquire_lock_timed(lock_, -1, 1);
      }
      if (status == PY_LOCK_ACQUIRED) break;
      if (PyErr_CheckSignals() != 0) return false;
    }
  }
  owner_ = PyThread_get_thread_ident();
  return true;
}

PyObject* enter(Turn& turn) {
  if (turn.is_own()) {
    PyErr_SetString(PyExc_RuntimeError, "a turn within a turn");
    return nullptr;
  }
  if (!turn.take()) return nullptr;
  turn.plain = false;
  Py_RETURN_NONE;
}

void bind_turn(py::module_& m) {
  py::class_<Turn> turn(m, "Turn");
  turn.def(py::init<>());
  add_turn(turn, [](PyObject* self) -> Turn& { return value_of<Turn>(self); });
}

}  // namespace tilegpu::bindings
