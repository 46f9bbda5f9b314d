// bindings/slots.hpp -- attributes that lie in slots (__slots__) of classes of the front end, read where they lie.
//
// In: a class and names; objects of exactly that class. Out: what is there. Classes that say what a wrong name might have been
// (__getattr__) take some 400 instructions to find a right one; this takes three.
#pragma once

#include <structmember.h>

#include <cassert>
#include <stdexcept>

#include "bindings.hpp"

namespace tilegpu::bindings {

class Slot {
 public:
  Slot(PyTypeObject* of, PyObject* name) {
    const auto member = py::reinterpret_steal<py::object>(PyObject_GetAttr(reinterpret_cast<PyObject*>(of), name));
    if (!member) throw py::error_already_set();
    if (Py_TYPE(member.ptr()) != &PyMemberDescr_Type) throw std::invalid_argument("slots: an attribute of the class has no slot");
    const PyMemberDef* const definition = reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member;
    if (definition->type != T_OBJECT_EX) throw std::invalid_argument("slots: an attribute of the class holds no object");
    offset_B_ = definition->offset;
  }
  Slot(PyTypeObject* of, const char* name) : Slot(of, py::str(name).ptr()) {}
  /// Borrowed; null where it is not set. The object is exactly of the class.
  PyObject* of(PyObject* object) const { return place(object); }
  /// What was there before is dropped.
  void set(PyObject* object, PyObject* value) const {
    PyObject* const before = place(object);
    Py_INCREF(value);
    place(object) = value;
    Py_XDECREF(before);
  }

 private:
  PyObject*& place(PyObject* object) const { return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset_B_); }
  Py_ssize_t offset_B_ = 0;
};

}  // namespace tilegpu::bindings
