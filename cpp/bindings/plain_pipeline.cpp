// bindings/plain_pipeline.cpp -- see plain_pipeline.hpp; and what passes ask that are begun thousands of times a second.
#include "plain_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "slots.hpp"

namespace tilegpu::bindings {
namespace {

using Block = std::tuple<py::str, uint32_t, uint32_t, py::object, bool>;  // name, set, binding, floats, whether it has one member
using Given = std::tuple<py::str, py::object, uint32_t, uint32_t, std::vector<std::string>>;  // name, value, set, binding, attributes

/// Weakly where it can be.
py::object watched(py::object object) {
  PyObject* const weak = PyWeakref_NewRef(object.ptr(), nullptr);
  if (weak) return py::reinterpret_steal<py::object>(weak);
  PyErr_Clear();
  return object;
}

/// What the general way bound: values, the sets that it made, what of them was used how, views that shaders may read.
void keep_bound(PlainPipeline& pipeline, const std::vector<Given>& values, std::vector<std::pair<uint32_t, Ptr<DescriptorSet>>> sets,
                const std::vector<std::tuple<py::object, py::object, py::object>>& uses, std::vector<Ptr<ImageView>> views,
                const py::list& buffers) {
  PlainBinds::Known known;
  for (const auto& [name, value, set, binding, attributes] : values) {
    const bool pair = PyTuple_CheckExact(value.ptr()) && PyTuple_GET_SIZE(value.ptr()) == 2;
    PyObject *const first = pair ? PyTuple_GET_ITEM(value.ptr(), 0) : value.ptr(), *const second =
                                                                                       pair ? PyTuple_GET_ITEM(value.ptr(), 1) : nullptr;
    PlainBinds::Value& one = known.values.emplace_back(PlainBinds::Value{name, first, second, {}, {}, set, binding, {}});
    for (const std::string& attribute : attributes)
      one.attributes.emplace_back(PyUnicode_InternFromString(attribute.c_str()), watched(value.attr(attribute.c_str())));
  }
  known.sets = std::move(sets), known.views = std::move(views);
  for (const auto& [slot, thing, view] : uses) known.uses.push_back({slot, watched(thing), view});
  for (const PlainBinds::Use& use : known.uses)
    if (!PyWeakref_Check(use.weak.ptr())) return;
  for (const py::handle buffer : buffers)
    known.buffers.emplace_back(watched(py::reinterpret_borrow<py::object>(buffer)), buffer.attr("_known"));
  pipeline.binds->keep(std::move(known));
}

PlainPipeline pipeline_of(Ptr<Pipeline> core, const py::object& dtype, const py::object& array_dtype, std::vector<py::ssize_t> row_shape,
                          uint32_t stride_B, uint32_t alignment_B, uint32_t row_B, std::pair<uint32_t, uint32_t> primitive, bool restarts,
                          uint32_t push_B, const py::object& floats, uint32_t needed, const std::vector<Block>& blocks,
                          std::vector<Ptr<DescriptorSetLayout>> layouts) {
  if (push_B > kMaxPushConstants_B) throw py::value_error("push constants are too long");
  PlainPipeline p;
  p.core = std::move(core);
  p.has_vertices = !dtype.is_none();
  p.dtype = dtype, p.array_dtype = array_dtype;
  p.row_shape = std::move(row_shape);
  p.has_fields = p.has_vertices && !dtype.attr("names").is_none();
  p.stride_B = stride_B, p.alignment_B = std::max(1u, alignment_B), p.row_B = row_B;
  p.step = std::max(1u, primitive.first), p.least = primitive.second;
  p.restarts = restarts;
  p.push_B = push_B;
  p.floats = floats;
  p.block = floats.is_none() ? nullptr : floats.cast<const FloatBlock*>();
  if (p.block && p.block->size_B() != push_B) p.block = nullptr;
  std::vector<PlainBinds::Block> all;
  for (const auto& [name, set, binding, of, one_member] : blocks)
    if (set < layouts.size() && layouts[set]) all.push_back({name, set, binding, of, of.cast<const FloatBlock*>(), one_member});
  p.binds->begin(needed, std::move(all), std::move(layouts));
  return p;
}

/// Tuples of floats with the same bits: equal ones may differ in the sign of 0.
bool same_floats(const py::object& a, const py::object& b) {
  if (!PyTuple_CheckExact(a.ptr()) || !PyTuple_CheckExact(b.ptr()) || PyTuple_GET_SIZE(a.ptr()) != PyTuple_GET_SIZE(b.ptr())) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a.ptr()); i++) {
    PyObject *const x = PyTuple_GET_ITEM(a.ptr(), i), *const y = PyTuple_GET_ITEM(b.ptr(), i);
    if (!PyFloat_CheckExact(x) || !PyFloat_CheckExact(y)) return false;
    const double of_x = PyFloat_AS_DOUBLE(x), of_y = PyFloat_AS_DOUBLE(y);
    if (std::memcmp(&of_x, &of_y, sizeof of_x) != 0) return false;
  }
  return true;
}

/// Slots of a class, which functions of Python read and write.
struct Slots {
  PyTypeObject* of;  // lives as long as the process, as what knows it does
  std::vector<Slot> slots;
};
const Slots& slots_of(PyObject* capsule) { return *static_cast<const Slots*>(PyCapsule_GetPointer(capsule, nullptr)); }

/// What lies in an object's slots: a tuple, None of objects of other classes, also derived ones, and where a slot is empty.
PyObject* read_slots(PyObject* self, PyObject* object) {
  const Slots& reader = slots_of(self);
  if (Py_TYPE(object) != reader.of) Py_RETURN_NONE;
  PyObject* const found = PyTuple_New(static_cast<Py_ssize_t>(reader.slots.size()));
  if (!found) return nullptr;
  for (size_t i = 0; i < reader.slots.size(); i++) {
    PyObject* const value = reader.slots[i].of(object);
    if (!value) {
      Py_DECREF(found);
      Py_RETURN_NONE;
    }
    Py_INCREF(value);
    PyTuple_SET_ITEM(found, static_cast<Py_ssize_t>(i), value);
  }
  return found;
}

/// The object, and a value for each slot; also of derived classes.
PyObject* write_slots(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  const Slots& writer = slots_of(self);
  if (count != static_cast<Py_ssize_t>(writer.slots.size()) + 1 || !PyObject_TypeCheck(given[0], writer.of)) {
    PyErr_SetString(PyExc_TypeError, "slots: it takes an object of the class and a value for each name");
    return nullptr;
  }
  for (size_t i = 0; i < writer.slots.size(); i++) writer.slots[i].set(given[0], given[i + 1]);
  Py_RETURN_NONE;
}

py::object function_of_slots(PyMethodDef* definition, const py::type& of, const py::tuple& names) {
  auto slots = std::make_unique<Slots>();
  slots->of = reinterpret_cast<PyTypeObject*>(of.inc_ref().ptr());
  for (const py::handle name : names) slots->slots.emplace_back(slots->of, name.ptr());
  const auto capsule = py::reinterpret_steal<py::object>(PyCapsule_New(slots.release(), nullptr, nullptr));
  PyObject* const made = capsule ? PyCFunction_New(definition, capsule.ptr()) : nullptr;
  if (!made) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}
/// vars(thing), without a look for an attribute of that name.
PyObject* dict_of(PyObject*, PyObject* thing) { return PyObject_GenericGetDict(thing, nullptr); }

py::object slot_reader(const py::type& of, const py::tuple& names) {
  static PyMethodDef definition{"slot_reader", read_slots, METH_O, nullptr};
  return function_of_slots(&definition, of, names);
}
py::object slot_writer(const py::type& of, const py::tuple& names) {
  static PyMethodDef definition{"slot_writer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(write_slots)), METH_FASTCALL,
                                nullptr};
  return function_of_slots(&definition, of, names);
}

/// The first place outside of the package that called, as tilegpu.errors.users_place finds it: (code, offset in it, globals). Which line
/// that is takes longer to find than all the rest, and is asked only where something is to be said. `package`: what the names of its files
/// begin with.
py::tuple users_line(const py::str& package) {
  py::object frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  if (!frame) throw std::runtime_error("no frame of Python called");
  py::object code;
  for (;;) {
    auto* const now = reinterpret_cast<PyFrameObject*>(frame.ptr());
    code = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(now)));
    PyObject* const file = reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename;
    if (PyUnicode_Tailmatch(file, package.ptr(), 0, PY_SSIZE_T_MAX, -1) != 1) break;
    PyFrameObject* const back = PyFrame_GetBack(now);
    if (!back) break;
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(back));
  }
#if PY_VERSION_HEX >= 0x030b0000
  auto* const found = reinterpret_cast<PyFrameObject*>(frame.ptr());
  return py::make_tuple(code, PyFrame_GetLasti(found), py::reinterpret_steal<py::object>(PyFrame_GetGlobals(found)));
#else
  return py::make_tuple(code, frame.attr("f_lasti"), frame.attr("f_globals"));
#endif
}

}  // namespace

void bind_plain_pipeline(py::module_& m) {
  m.def("users_line", &users_line, py::arg("package"));
  static PyMethodDef of_dictionaries{"dict_of", dict_of, METH_O, nullptr};
  PyObject* const made = PyCFunction_New(&of_dictionaries, nullptr);
  if (!made) throw py::error_already_set();
  m.attr("dict_of") = py::reinterpret_steal<py::object>(made);
  m.def("slot_reader", &slot_reader, py::arg("cls"), py::arg("names"));
  m.def("slot_writer", &slot_writer, py::arg("cls"), py::arg("names"));
  m.def("same_floats", &same_floats, py::arg("a"), py::arg("b"));
  py::class_<PlainPipeline>(m, "PlainPipeline")
      .def(py::init(&pipeline_of), py::arg("core").none(false), py::arg("dtype"), py::arg("array_dtype"), py::arg("row_shape"),
           py::arg("stride_B"), py::arg("alignment_B"), py::arg("row_B"), py::arg("primitive"), py::arg("restarts"), py::arg("push_B"),
           py::arg("floats"), py::arg("needed"), py::arg("blocks"), py::arg("layouts"))
      .def("keep_bound", &keep_bound, py::arg("values"), py::arg("sets"), py::arg("uses"), py::arg("views"), py::arg("buffers"))
      .def(
          "fits",  // buffers of another type that were looked at: some, as each is asked
          [](PlainPipeline& p, const py::object& dtype, const py::object& row_shape) {
            constexpr size_t kMost = 8;
            const auto same = [&](const auto& known) { return known.first.is(dtype) && known.second.equal(row_shape); };
            if (p.fitting.size() < kMost && std::none_of(p.fitting.begin(), p.fitting.end(), same))
              p.fitting.emplace_back(dtype, row_shape);
          },
          py::arg("dtype"), py::arg("row_shape"));
}

}  // namespace tilegpu::bindings
