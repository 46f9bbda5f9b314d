// bindings/bindings.hpp -- what the binding files share: errors of the core to Python exceptions, one function per topic.
//
// The bindings are near 1:1 over cpp/include/tilegpu; enumerations cross as integers, their names are in enum_tables.cpp and
// python/tilegpu/enums.py. Validation is the core's and the front end's; what of the front end is here for its speed says so
// (argument_arena.cpp, bind_push.cpp, bind_vertex.cpp, plain_binds.cpp, plain_draws.cpp, plain_method.cpp, plain_pipeline.cpp, turn.cpp).
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "gil.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::bindings {

namespace py = pybind11;

/// Carries an Error from the core to the translator, which raises the class of tilegpu.errors that suits the code.
struct CoreError {
  Error error;
};

template <class T>
T unwrap(Expected<T> result) {
  if (!result) throw CoreError{result.error()};
  return std::move(*result);
}
inline void unwrap(const Status& status) {
  if (!status) throw CoreError{status.error()};
}

/// Names and messages may quote what strangers wrote: bytes that are no UTF-8 become U+FFFD.
inline py::str text(const std::string& bytes) {
  PyObject* object = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

/// As os.fsdecode: what os.fsencode makes bytes of the system's again.
inline py::str path_text(const std::string& bytes) {
  PyObject* object = PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

/// Sets by number; those that are null are what the shaders use of them, and so is everything where there are none.
inline Ptr<const PipelineLayout> shared_layout(const std::vector<Ptr<DescriptorSetLayout>>& sets) {
  if (sets.empty()) return nullptr;
  return std::make_shared<PipelineLayout>(PipelineLayout{{sets.begin(), sets.end()}, 0, true});
}

inline VkRect2D rect_of(const std::array<int64_t, 4>& r) {
  return {{static_cast<int32_t>(r[0]), static_cast<int32_t>(r[1])}, {static_cast<uint32_t>(r[2]), static_cast<uint32_t>(r[3])}};
}

/// Places of samples as Vulkan hands them, a pixel by a pixel.
struct SampleLocationsInfo {
  std::vector<VkSampleLocationEXT> places;
  VkSampleLocationsInfoEXT info{VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT, nullptr, {}, {1, 1}, 0, nullptr};
  explicit SampleLocationsInfo(const std::vector<std::array<float, 2>>& given) {
    for (const auto& [x, y] : given) places.push_back({x, y});
    info.sampleLocationsCount = static_cast<uint32_t>(places.size());
    info.sampleLocationsPerPixel = static_cast<VkSampleCountFlagBits>(places.size());
    info.pSampleLocations = places.data();
  }
  SampleLocationsInfo(const SampleLocationsInfo&) = delete;
};

void bind_errors(py::module_& m);
void bind_enums(py::module_& m);
void bind_shader(py::module_& m);
void bind_resource(py::module_& m);
void bind_pixels(py::class_<Image, Ptr<Image>>& image);
void bind_pipeline(py::module_& m);
void bind_compute(py::module_& m);
void bind_vertex(py::module_& m);
void bind_command(py::module_& m);
void bind_state(py::module_& m);
void bind_push(py::module_& m);
void bind_turn(py::module_& m);
void bind_argument_arena(py::module_& m);
void bind_plain_pipeline(py::module_& m);
void bind_plain_draws(py::module_& m);
void bind_plain_method(py::module_& m);
void bind_stats(py::module_& m);
void bind_device(py::module_& m);
void bind_submission(py::module_& m, py::class_<Device, Ptr<Device>>& device);
void bind_format(py::module_& m);
void bind_capture(py::module_& m);

/// Submission::tile_trace as a list of dictionaries (bind_stats.cpp).
py::list tile_trace(const std::vector<TileTrace>& trace, const PassStats& stats);
/// Submission::fragment_trace as a dictionary (bind_trace.cpp); None without one.
py::object fragment_trace(const PassTrace* trace);

}  // namespace tilegpu::bindings
