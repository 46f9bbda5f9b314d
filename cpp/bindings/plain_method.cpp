// bindings/plain_method.cpp -- rp.draw as users call it: a method in C around the one of Python. And the same, without a way of its own,
// around what each frame calls.
//
// In: the call's arguments, as CPython has them. Out: the draw, recorded; where it is not plain, the call of the function in Python, with
// the very same arguments; where it is not even a call of that, of another one, which says so. A function of Python with sixteen arguments
// that calls this one takes as long as all the rest of a draw.
#include "plain_method.hpp"

#include <structmember.h>

#include <algorithm>
#include <cstddef>

#include "held.hpp"

namespace tilegpu::bindings {
namespace {

struct PlainMethod {
  PyObject_HEAD;
  vectorcallfunc call;
  PyObject *function, *explained, *dictionary;
};

/// In the order of Argument.
constexpr std::array<const char*, kArguments> kNames = {
    "pipeline",        "vertices",  "indices",       "instances",      "bind",     "sets",    "push",
    "first",           "count",     "vertex_offset", "first_instance", "viewport", "scissor", "stencil_reference",
    "blend_constants", "depth_bias"};
constexpr Py_ssize_t kMostByPlace = 2;

struct Interned {
  std::array<PyObject*, kArguments> names;
  PyObject *quick, *zero, *one;
};
const Interned& interned() {
  static const Interned all = [] {
    Interned made{};
    for (size_t i = 0; i < kArguments; i++) made.names[i] = PyUnicode_InternFromString(kNames[i]);
    made.quick = PyUnicode_InternFromString("_quick");
    made.zero = PyLong_FromLong(0), made.one = PyLong_FromLong(1);
    return made;
  }();
  return all;
}

/// False: a name that there is not, one that is given twice, more by place than there is, no pipeline.
bool take(PyObject* const* arguments, Py_ssize_t count, PyObject* names, PyObject** given) {
  const Interned& known = interned();
  if (count > kMostByPlace) return false;
  std::fill_n(given, static_cast<size_t>(kArguments), Py_None);
  given[kInstances] = known.one;
  given[kFirst] = given[kVertexOffset] = given[kFirstInstance] = known.zero;
  for (Py_ssize_t i = 0; i < count; i++) given[i] = arguments[i];
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
    const auto found = std::find(known.names.begin() + count, known.names.end(), PyTuple_GET_ITEM(names, i));
    if (found == known.names.end()) return false;
    given[found - known.names.begin()] = arguments[count + i];
  }
  return given[kPipeline] != Py_None;
}

/// What records the pass's plain draws: in its dictionary while it is open, which is asked at once, because classes that say what a wrong
/// name might have been take several times as long to find a right one.
PyObject* quick_of(PyObject* pass) {
  PyObject* const name = interned().quick;
  if (PyObject* const own = PyObject_GenericGetDict(pass, nullptr)) {
    PyObject* const found = PyDict_Check(own) ? PyDict_GetItemWithError(own, name) : nullptr;
    Py_XINCREF(found);
    Py_DECREF(own);
    if (found) return found;
  }
  PyErr_Clear();
  return PyObject_GetAttr(pass, name);
}

PyObject* call(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* names) {
  const auto* const method = reinterpret_cast<PlainMethod*>(self);
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  PyObject* given[kArguments];
  if (count >= 1) {
    if (!take(arguments + 1, count - 1, names, given)) return PyObject_Vectorcall(method->explained, arguments, flags, names);
    PyObject* const quick = quick_of(arguments[0]);
    if (!quick) return nullptr;
    const int drawn = draw_plainly(quick, given);
    Py_DECREF(quick);
    if (drawn < 0) return nullptr;
    if (drawn) Py_RETURN_NONE;
  }
  return PyObject_Vectorcall(method->function, arguments, flags, names);
}

/// The function itself. What Python refuses as it is called, not something in it, goes to the other one, which says what its arguments are.
PyObject* call_explained(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* names) {
  const auto* const method = reinterpret_cast<PlainMethod*>(self);
  PyObject* const done = PyObject_Vectorcall(method->function, arguments, flags, names);
  if (done || !PyErr_ExceptionMatches(PyExc_TypeError)) return done;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (trace) {
    PyErr_Restore(type, value, trace);
    return nullptr;
  }
  Py_XDECREF(type), Py_XDECREF(value);
  return PyObject_Vectorcall(method->explained, arguments, flags, names);
}

template <vectorcallfunc kCall>
PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *function = nullptr, *explained = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &function, &explained)) return nullptr;
  auto* const made = reinterpret_cast<PlainMethod*>(type->tp_alloc(type, 0));
  if (!made) return nullptr;
  made->call = kCall;
  Py_INCREF(function), Py_INCREF(explained);
  made->function = function, made->explained = explained;
  return reinterpret_cast<PyObject*>(made);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  if (object && object != Py_None) return PyMethod_New(self, object);
  Py_INCREF(self);
  return self;
}

void drop(PyObject* self) {
  auto* const method = reinterpret_cast<PlainMethod*>(self);
  PyTypeObject* const type = Py_TYPE(self);
  Py_CLEAR(method->function);
  Py_CLEAR(method->explained);
  Py_CLEAR(method->dictionary);
  type->tp_free(self);
  Py_DECREF(type);
}

template <vectorcallfunc kCall>
void bind_method(py::module_& m, const char* name, const char* full_name) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(PlainMethod, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(PlainMethod, dictionary), READONLY, nullptr},
      {},
  };
  static PyGetSetDef attributes[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      {},
  };
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(make<kCall>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes},
      {},
  };
  static PyType_Spec spec = {full_name, sizeof(PlainMethod), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  PyObject* const type = PyType_FromSpec(&spec);
  if (!type) throw py::error_already_set();
  m.attr(name) = py::reinterpret_steal<py::object>(type);
}

}  // namespace

void bind_plain_method(py::module_& m) {
  bind_method<call>(m, "PlainMethod", "tilegpu._core.PlainMethod");
  bind_method<call_explained>(m, "ExplainedMethod", "tilegpu._core.ExplainedMethod");
}

}  // namespace tilegpu::bindings
