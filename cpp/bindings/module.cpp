// bindings/module.cpp -- tilegpu._core: everything of cpp/include/tilegpu for Python. Entered through init.cpp.
#include "bindings.hpp"

namespace tilegpu::bindings {
namespace {

py::object refusing(const char* said) {
  return py::cpp_function([said](const py::args&, const py::kwargs&) -> py::object { throw py::type_error(said); });
}

/// What would give an object of which nothing exists, and whose first use reads what there is not: `cls.__new__(cls)` of a class without
/// a constructor (objects that the core hands out are not made by it), and Python's own way to pickle and copy, which calls it.
void refuse_empty_objects(const py::module_& m) {
  const py::object unmade = refusing("tilegpu._core: an object of this class is handed out by the core, and not made"),
                   unsent = refusing("tilegpu._core: objects are of this process, and can't be pickled or copied");
  for (const auto& [name, value] : py::dict(m.attr("__dict__"))) {
    if (!py::isinstance<py::type>(value)) continue;
    const auto name_of_type = [](py::handle of) { return std::string(py::str(py::type::handle_of(of).attr("__name__"))); };
    if (name_of_type(value) != "pybind11_type") continue;
    for (const char* method : {"__reduce__", "__reduce_ex__"}) py::setattr(value, method, unsent);
    if (name_of_type(value.attr("__dict__")["__init__"]) != "wrapper_descriptor") continue;  // a constructor of its own
    py::setattr(value, "__new__", py::staticmethod(unmade));
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
