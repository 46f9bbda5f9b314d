// bindings/held.hpp -- the core's objects behind those of Python, for calls that every draw makes: without pybind11's conversions, which
// take longer than the call.
//
// In: any object of Python. Out: the core's object, or null where it is of another class. Functions that are called so are CPython's own
// (METH_FASTCALL); they throw nothing (set_exception()).
#pragma once

#include "bindings.hpp"

namespace tilegpu::bindings {

/// The class of Python that is bound to T itself; never released.
template <class T>
PyTypeObject* class_of() {
  static auto* const type = reinterpret_cast<PyTypeObject*>(py::type::of<T>().release().ptr());
  return type;
}

/// Of a class that is bound with Ptr; null: it is of another class.
template <class T>
const Ptr<T>* held(PyObject* object) {
  if (Py_TYPE(object) != class_of<T>()) return nullptr;
  return &reinterpret_cast<py::detail::instance*>(object)->get_value_and_holder().template holder<Ptr<T>>();
}

/// The object itself; the caller knows its class.
template <class T>
T& value_of(PyObject* object) {
  assert(Py_TYPE(object) == class_of<T>());
  return *static_cast<T*>(reinterpret_cast<py::detail::instance*>(object)->get_value_and_holder().value_ptr());
}

using Fast = PyObject* (*)(PyObject* self, PyObject* const* given, Py_ssize_t count);

/// A method by CPython's own convention. `definition` lives as long as the process.
inline void add_method(py::handle type, PyMethodDef* definition) {
  PyObject* method = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), definition);
  if (!method) throw py::error_already_set();
  py::setattr(type, definition->ml_name, py::reinterpret_steal<py::object>(method));
}

/// Sets Python's exception for the one that is in flight; returns null.
PyObject* set_exception();

}  // namespace tilegpu::bindings
