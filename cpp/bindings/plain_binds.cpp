// bindings/plain_binds.cpp -- see plain_binds.hpp.
#include "plain_binds.hpp"

#include <pybind11/gil_safe_call_once.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "held.hpp"
#include "tilegpu/format.hpp"

namespace tilegpu::bindings {
namespace {

/// Sets of values that are known of a pipeline; beyond, all are forgotten.
constexpr size_t kMostKnown = 1024;

/// The object, or the two of a pair, which is another tuple each time.
std::pair<PyObject*, PyObject*> identity_of(PyObject* value) {
  const bool pair = PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2;
  return pair ? std::pair(PyTuple_GET_ITEM(value, 0), PyTuple_GET_ITEM(value, 1)) : std::pair(value, static_cast<PyObject*>(nullptr));
}

size_t mixed(size_t hash, const void* name, const std::pair<PyObject*, PyObject*>& value) {
  for (const void* one : {name, static_cast<const void*>(value.first), static_cast<const void*>(value.second)})
    hash = (hash ^ (reinterpret_cast<size_t>(one) >> 4)) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  return hash;
}

bool is_contents(PyObject* value) {
  return PyDict_CheckExact(value) || PyBytes_CheckExact(value) ||
         reinterpret_cast<PyObject*>(Py_TYPE(value)) == reinterpret_cast<PyObject*>(py::detail::npy_api::get().PyArray_Type_);
}

/// What a weak reference is to; null: it is gone.
py::object object_of(const py::object& weak) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* found = nullptr;
  PyWeakref_GetRef(weak.ptr(), &found);
  return py::reinterpret_steal<py::object>(found);
#else
  PyObject* const found = PyWeakref_GetObject(weak.ptr());
  return found == Py_None ? py::object() : py::reinterpret_borrow<py::object>(found);
#endif
}

bool is_defined(const ImageView& view) {
  const ImageViewCreateInfo& info = view.info();
  const Image& image = *info.image;
  const vk::FormatInfo* const format = vk::find_format(image.info().format);
  const VkImageAspectFlagBits aspect = format && format->depth_bits     ? VK_IMAGE_ASPECT_DEPTH_BIT
                                       : format && format->stencil_bits ? VK_IMAGE_ASPECT_STENCIL_BIT
                                                                        : VK_IMAGE_ASPECT_COLOR_BIT;
  for (uint32_t level = info.base_level; level < info.base_level + info.level_count; level++) {
    const bool slices = info.type == VK_IMAGE_VIEW_TYPE_3D;
    const uint32_t first = slices ? 0 : info.base_layer, there = image.layer_count(level);
    const uint32_t end = slices ? there : std::min(there, info.base_layer + info.layer_count);
    for (uint32_t layer = first; layer < end; layer++)
      if (!image.is_defined(aspect, level, layer)) return false;
  }
  return true;
}

/// Found without a lock that a thread could hold which waits for the GIL.
PyObject* use_of_descriptor() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<PyObject*> function;
  return function
      .call_once_and_store_result(
          [] { return py::object(py::module_::import("tilegpu.descriptor_writer").attr("uses_of_descriptor")).release().ptr(); })
      .get_stored();
}

PyObject* matrices() {
  static PyObject* const name = PyUnicode_InternFromString("matrices");
  return name;
}
/// What is another object each time that the kind of a buffer's numbers, or their rows, may have changed.
PyObject* known_numbers() {
  static PyObject* const name = PyUnicode_InternFromString("_known");
  return name;
}

}  // namespace

void PlainBinds::begin(uint32_t needed, std::vector<Block> blocks, std::vector<Ptr<DescriptorSetLayout>> layouts) {
  needed_ = needed, blocks_ = std::move(blocks), layouts_ = std::move(layouts);
  for (Block& block : blocks_) PyUnicode_InternInPlace(&block.name.ptr());  // as those are that stand in programs
}

void PlainBinds::keep(Known known) {
  size_t hash = 0;
  for (Value& value : known.values) {
    PyUnicode_InternInPlace(&value.name.ptr());
    hash = mixed(hash, value.name.ptr(), {value.id, value.second});
  }
  use_of_descriptor();  // here, where nobody holds one of them: other threads may run meanwhile
  if (known_.size() >= kMostKnown) known_.clear();
  // Who drops one of the objects drops what was made of it.
  const py::cpp_function dropped([this, hash](const py::object&) { known_.erase(hash); });
  const auto watched = [&](PyObject* object) { return py::reinterpret_steal<py::object>(PyWeakref_NewRef(object, dropped.ptr())); };
  for (Value& value : known.values) {
    value.weak = watched(value.id);
    if (value.second) value.weak_second = watched(value.second);
    if (!value.weak || (value.second && !value.weak_second)) {
      PyErr_Clear();
      return;  // it can't be watched
    }
  }
  known_[hash] = std::make_unique<Known>(std::move(known));
}

bool PlainBinds::take_contents(PyObject* name, PyObject* value, Bound& out) const {
  for (const Block& block : blocks_) {
    if (block.name.ptr() != name) continue;
    if (out.count == Bound::kMost) return false;
    for (size_t i = 0; i < out.count; i++)
      if (out.contents[i].block->set == block.set && out.contents[i].block->binding == block.binding) return false;
    Bound::Contents& contents = out.contents[out.count++];
    contents.block = &block;
    contents.size_B = block.floats->size_B(), contents.bytes = nullptr;
    if (PyBytes_CheckExact(value)) {
      if (PyBytes_GET_SIZE(value) < static_cast<Py_ssize_t>(contents.size_B) || PyBytes_GET_SIZE(value) > INT32_MAX) return false;
      contents.bytes = PyBytes_AS_STRING(value), contents.size_B = static_cast<uint32_t>(PyBytes_GET_SIZE(value));
      return true;
    }
    std::memset(contents.packed, 0, contents.size_B);
    if (PyDict_CheckExact(value)) return block.floats->pack(value, contents.packed);
    return block.one_member && block.floats->pack_only(value, contents.packed);
  }
  return false;
}

PlainBinds::Known* PlainBinds::find(PyObject* bind, size_t stable) {
  size_t hash = 0;
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(bind, &at, &name, &value);)
    if (!is_contents(value)) hash = mixed(hash, name, identity_of(value));
  const auto found = known_.find(hash);
  if (found == known_.end() || found->second->values.size() != stable) return nullptr;
  size_t i = 0;
  for (Py_ssize_t at = 0; PyDict_Next(bind, &at, &name, &value);) {
    if (is_contents(value)) continue;
    const Value& known = found->second->values[i++];
    const auto [first, second] = identity_of(value);
    if (known.name.ptr() != name || known.id != first || known.second != second || object_of(known.weak).ptr() != first) return nullptr;
    if (second && object_of(known.weak_second).ptr() != second) return nullptr;
  }
  return found->second.get();
}

bool PlainBinds::is_as_it_was(const Known& known) {
  for (const Value& value : known.values)
    for (const auto& [name, was] : value.attributes) {
      const auto is = py::reinterpret_steal<py::object>(PyObject_GetAttr(value.id, name));
      if (!is) PyErr_Clear();
      // Held weakly, where it can be: what they are made of goes with them.
      if (!is || !is.is(PyWeakref_Check(was.ptr()) ? object_of(was) : was)) return false;
    }
  for (const auto& [weak, held] : known.buffers) {
    const py::object buffer = object_of(weak);
    const auto list = py::reinterpret_steal<py::object>(buffer ? PyObject_GetAttr(buffer.ptr(), matrices()) : nullptr);
    const auto is = py::reinterpret_steal<py::object>(list ? PyObject_GetAttr(buffer.ptr(), known_numbers()) : nullptr);
    if (!is || !is.is(held) || !PyList_CheckExact(list.ptr()) || PyList_GET_SIZE(list.ptr())) {
      PyErr_Clear();
      return false;
    }
  }
  for (const Use& use : known.uses)
    if (!object_of(use.weak)) return false;
  return std::all_of(known.views.begin(), known.views.end(), [](const Ptr<ImageView>& view) { return is_defined(*view); });
}

bool PlainBinds::take(PyObject* bind, uint64_t pass, Bound& out) {
  const Py_ssize_t given = bind == Py_None ? 0 : PyDict_GET_SIZE(bind);
  if (given != static_cast<Py_ssize_t>(needed_)) return false;  // some are missing, or not used
  if (!given) return true;
  size_t stable = 0;
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(bind, &at, &name, &value);) {
    if (!is_contents(value)) {
      stable++;
    } else if (!take_contents(name, value, out)) {
      return false;
    }
  }
  if (!stable) return true;
  out.known = find(bind, stable);
  if (!out.known) return false;
  for (const Value& known : out.known->values)
    for (size_t i = 0; i < out.count; i++)
      if (known.set == out.contents[i].block->set && known.binding == out.contents[i].block->binding) return false;
  return out.known->pass == pass || is_as_it_was(*out.known);
}

void PlainBinds::note(Known& known, uint64_t pass, py::list notes) {
  if (std::exchange(known.pass, pass) == pass) return;
  for (const Use& use : known.uses) {
    py::object thing = py::reinterpret_borrow<py::object>(object_of(use.weak));
    if (!use.view.is_none()) thing = use.view.attr("of")(thing);
    notes.append(py::make_tuple(py::handle(use_of_descriptor()), py::make_tuple(use.slot, thing)));
  }
}

void PlainBinds::record(const Bound& bound, CommandBuffer& recorder, Device& device, ArgumentArena* arena, Sets& now) const {
  Sets wanted;
  if (bound.known)
    for (const auto& [number, set] : bound.known->sets) wanted[number] = set;
  uint32_t own = 0;  // a bit for each set that is made for this draw
  for (size_t i = 0; i < bound.count; i++) {
    const Bound::Contents& contents = bound.contents[i];
    const uint32_t number = contents.block->set;
    if (!(own >> number & 1)) {
      own |= 1u << number;
      const Ptr<DescriptorSet> from = std::exchange(wanted[number], unwrap(device.create_descriptor_set(layouts_[number])));
      if (from)
        for (const Value& value : bound.known->values)
          if (value.set == number) unwrap(wanted[number]->copy(*from, value.binding, 0, value.binding, 0, 1));
    }
    const void* const bytes = contents.bytes ? contents.bytes : contents.packed;
    unwrap(wanted[number]->write(contents.block->binding, 0, {arena->upload(bytes, contents.size_B), 0, contents.size_B, {}, {}, {}}));
  }
  for (uint32_t number = 0; number < kMaxDescriptorSets; number++) {
    if (!wanted[number] || wanted[number] == now[number]) continue;
    recorder.bind_descriptor_set(number, wanted[number]);
    now[number] = std::move(wanted[number]);
  }
}

}  // namespace tilegpu::bindings
