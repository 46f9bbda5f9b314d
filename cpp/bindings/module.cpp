// bindings/module.cpp -- tilegpu._core: everything of cpp/include/tilegpu for Python. Entered through init.cpp.
#include "bindings.hpp"

namespace tilegpu::bindings {
namespace {

py::object refusing(const char* said) {
  return py::cpp_function([said](const py::args&, const py::kwargs&) -> py::object { throw py::type_error(said); });
}

PyTypeObject* base_of_all() { return reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base); }

/// pybind11's, under a name of its own: Python then lets nobody make objects of these classes by the base's __new__.
extern "C" PyObject* make_empty(PyTypeObject* type, PyObject* args, PyObject* named) { return base_of_all()->tp_new(type, args, named); }

/// What would give an object of which nothing exists, and whose first use reads what there is not: `cls.__new__(cls)`, and Python's own way
/// to pickle and copy, which calls it. Calling a class goes by the slot and not by the name, and is as it was.
void refuse_empty_objects(const py::module_& m) {
  const py::object unmade = refusing("tilegpu._core: objects are made by calling their class, or handed out by the core, not by __new__"),
                   unsent = refusing("tilegpu._core: objects are of this process, and can't be pickled or copied");
  for (const auto& [name, value] : py::dict(m.attr("__dict__"))) {
    if (!py::isinstance<py::type>(value)) continue;
    auto* const type = reinterpret_cast<PyTypeObject*>(value.ptr());
    if (type == base_of_all() || !PyType_IsSubtype(type, base_of_all())) continue;
    for (const char* method : {"__reduce__", "__reduce_ex__"}) py::setattr(value, method, unsent);
    type->tp_new = &make_empty;
    if (PyDict_SetItemString(type->tp_dict, "__new__", py::staticmethod(unmade).ptr()) != 0) throw py::error_already_set();
    PyType_Modified(type);
  }
}

}  // namespace
}  // namespace tilegpu::bindings

PYBIND11_MODULE(_core_impl, m) {
  using namespace tilegpu::bindings;
  m.doc() = "tilegpu's core, near 1:1; use the tilegpu package instead.";
  bind_errors(m);
  bind_enums(m);
  bind_shader(m);
  bind_resource(m);
  bind_pipeline(m);
  bind_vertex(m);
  bind_stats(m);
  bind_command(m);
  bind_state(m);
  bind_push(m);
  bind_turn(m);
  bind_argument_arena(m);
  bind_plain_pipeline(m);
  bind_plain_draws(m);
  bind_plain_method(m);
  bind_device(m);
  bind_format(m);
  bind_capture(m);
  bind_compute(m);
  refuse_empty_objects(m);
}
