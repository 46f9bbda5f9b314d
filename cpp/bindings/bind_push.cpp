// bindings/bind_push.cpp -- push constants by name, where all members of the block are floats: what every draw of a frame does.
//
// In: see float_block.hpp. Out: the block's bytes, pushed.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "float_block.hpp"

namespace tilegpu::bindings {
namespace {

constexpr long kExactInt = 1 << 24;  // float32 has all integers up to it

bool put(double value, uint8_t* at) {
  if (std::isfinite(value) && std::abs(value) > FLT_MAX) return false;
  const float f = static_cast<float>(value);
  std::memcpy(at, &f, sizeof f);
  return true;
}

bool put_number(PyObject* number, uint8_t* at) {
  if (PyFloat_CheckExact(number)) return put(PyFloat_AS_DOUBLE(number), at);
  if (!PyLong_CheckExact(number)) return false;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(number, &overflow);
  return !overflow && value >= -kExactInt && value <= kExactInt && put(static_cast<double>(value), at);
}

}  // namespace

bool FloatBlock::put_array(const py::array& array, const Floats& m, uint8_t* block) {
  const size_t dimensions = m.shape.size();
  if (static_cast<size_t>(array.ndim()) != dimensions) return false;
  for (size_t d = 0; d < dimensions; d++)
    if (array.shape(static_cast<py::ssize_t>(d)) != m.shape[d]) return false;
  const py::dtype type = array.dtype();
  const bool is_float = type.num() == py::detail::npy_api::NPY_FLOAT_;
  if ((!is_float && type.num() != py::detail::npy_api::NPY_DOUBLE_) || type.byteorder() == '>') return false;
  const auto* from = static_cast<const uint8_t*>(array.data());
  const py::ssize_t rows = dimensions == 2 ? m.shape[0] : 1, columns = dimensions ? m.shape[dimensions - 1] : 1;
  const auto step = [&](size_t d, bool of_array) {
    return d >= dimensions ? 0 : of_array ? array.strides(static_cast<py::ssize_t>(d)) : m.strides_B[d];
  };
  const size_t last = dimensions == 2 ? 1 : 0, first = dimensions == 2 ? 0 : 2;
  for (py::ssize_t r = 0; r < rows; r++)
    for (py::ssize_t c = 0; c < columns; c++) {
      const uint8_t* source = from + r * step(first, true) + c * step(last, true);
      uint8_t* at = block + m.offset_B + r * step(first, false) + c * step(last, false);
      double value;
      if (is_float) {
        std::memcpy(at, source, sizeof(float));
      } else if (std::memcpy(&value, source, sizeof value); !put(value, at)) {
        return false;
      }
    }
  return true;
}

bool FloatBlock::put_member(PyObject* value, const Floats& m, uint8_t* block) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(value)) == reinterpret_cast<PyObject*>(py::detail::npy_api::get().PyArray_Type_))
    return put_array(py::reinterpret_borrow<py::array>(value), m, block);
  if (m.shape.empty()) return put_number(value, block + m.offset_B);
  if (!PyTuple_CheckExact(value) || m.shape.size() != 1 || PyTuple_GET_SIZE(value) != m.shape[0]) return false;
  for (py::ssize_t i = 0; i < m.shape[0]; i++)
    if (!put_number(PyTuple_GET_ITEM(value, i), block + m.offset_B + i * m.strides_B[0])) return false;
  return true;
}

FloatBlock::FloatBlock(uint32_t size_B, const std::vector<Member>& members, uint32_t most_B) : size_B_(size_B) {
  if (size_B > most_B) throw py::value_error("a block of push constants is too long");
  for (const auto& [name, offset_B, shape, strides_B] : members) {
    py::ssize_t end_B = offset_B + sizeof(float);
    for (size_t d = 0; d < shape.size() && d < strides_B.size(); d++) end_B += (shape[d] - 1) * strides_B[d];
    if (shape.size() > 2 || shape.size() != strides_B.size() || end_B > size_B)
      throw py::value_error("member '" + name + "' does not fit its block");
    members_.push_back({py::reinterpret_steal<py::str>(PyUnicode_InternFromString(name.c_str())), offset_B, shape, strides_B});
  }
}

bool FloatBlock::pack(PyObject* fields, uint8_t* block) const {
  if (PyDict_Size(fields) != static_cast<py::ssize_t>(members_.size())) return false;
  for (const Floats& m : members_) {
    PyObject* value = PyDict_GetItemWithError(fields, m.name.ptr());
    if (!value) {
      if (PyErr_Occurred()) throw py::error_already_set();
      return false;
    }
    if (!put_member(value, m, block)) return false;
  }
  return true;
}

namespace {

// Shape and strides of a member; false: it is not made of floats.
bool float_member(const ReflectedType& type, std::vector<py::ssize_t>& shape, std::vector<py::ssize_t>& strides_B) {
  const ReflectedType* inner = &type;
  for (; inner->kind == ReflectedType::Kind::array && inner->members.size() == 1; inner = &inner->members[0].type) {
    if (inner->array_length == 0) return false;
    shape.push_back(inner->array_length), strides_B.push_back(inner->array_stride_B);
  }
  if (inner->base != ReflectedType::Base::f32) return false;
  if (inner->kind == ReflectedType::Kind::vector) {
    shape.push_back(inner->rows), strides_B.push_back(sizeof(float));
  } else if (inner->kind == ReflectedType::Kind::matrix) {
    const auto step_B = static_cast<py::ssize_t>(inner->matrix_stride_B), one_B = static_cast<py::ssize_t>(sizeof(float));
    shape.insert(shape.end(), {inner->rows, inner->columns});
    strides_B.insert(strides_B.end(), {inner->row_major ? step_B : one_B, inner->row_major ? one_B : step_B});
  } else if (inner->kind != ReflectedType::Kind::scalar) {
    return false;
  }
  return shape.size() <= 2;
}

}  // namespace

std::unique_ptr<FloatBlock> FloatBlock::of(const std::vector<const Reflection*>& stages) {
  const ReflectedType* block = nullptr;
  for (const Reflection* stage : stages) {
    if (!stage->has_push_constants) continue;
    if (block && *block != stage->push_constants.type) return nullptr;
    block = &stage->push_constants.type;
  }
  if (!block || block->size_B > kMaxPushConstants_B) return nullptr;
  std::vector<Member> members;
  for (size_t i = 0; i < block->members.size(); i++) {
    const ReflectedType::Member& m = block->members[i];
    auto& [name, offset_B, shape, strides_B] = members.emplace_back();
    name = m.name.empty() ? "_" + std::to_string(i) : m.name;
    offset_B = m.offset_B;
    const bool twice = std::any_of(members.begin(), members.end() - 1, [&](const Member& other) { return std::get<0>(other) == name; });
    if (twice || !float_member(m.type, shape, strides_B)) return nullptr;
  }
  try {
    return std::make_unique<FloatBlock>(block->size_B, members);
  } catch (const py::value_error&) {
    return nullptr;  // the general way says what is wrong
  }
}

void bind_push(py::module_& m) {
  // A name means the same place in both stages; a stage without push constants agrees with all.
  m.def(
      "same_push_constants",
      [](const Reflection& a, const Reflection& b) {
        return !a.has_push_constants || !b.has_push_constants || a.push_constants.type == b.push_constants.type;
      },
      py::arg("vertex"), py::arg("fragment"));
  py::class_<FloatBlock>(m, "FloatBlock")
      .def(py::init<uint32_t, const std::vector<FloatBlock::Member>&, uint32_t>(), py::arg("size_B"), py::arg("members"),
           py::arg("most_B") = kMaxPushConstants_B)
      .def_static("of", &FloatBlock::of, py::arg("stages"))
      .def(
          "push",  // false: nothing is pushed, the general way is to be gone
          [](const FloatBlock& floats, CommandBuffer& commands, const py::dict& fields) {
            alignas(16) uint8_t block[kMaxPushConstants_B] = {};
            if (floats.size_B() > sizeof block || !floats.pack(fields.ptr(), block)) return false;
            unwrap(commands.push_constants(0, block, floats.size_B()));
            return true;
          },
          py::arg("commands"), py::arg("fields"));
}

}  // namespace tilegpu::bindings
