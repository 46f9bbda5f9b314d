// bindings/errors.cpp -- Error values of the core become exceptions of tilegpu.errors, which chooses the class by the code.
#include "held.hpp"

namespace tilegpu::bindings {
namespace {

const char* result_name(VkResult code) {
  switch (code) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
      return "VK_ERROR_FORMAT_NOT_SUPPORTED";
    case VK_ERROR_VALIDATION_FAILED_EXT:
      return "VK_ERROR_VALIDATION_FAILED_EXT";
    case VK_ERROR_INVALID_SHADER_NV:
      return "VK_ERROR_INVALID_SHADER_NV";
    default:
      return "VK_ERROR_UNKNOWN";
  }
}

void raise(const Error& error) {
  if (PyErr_CheckSignals() != 0) return;  // what ended the call may have been Ctrl-C, which says so itself
  const py::object exception = py::module_::import("tilegpu.errors").attr("from_core")(result_name(error.code), text(error.message));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

PyObject* set_exception() {
  try {
    throw;
  } catch (const CoreError& e) {
    raise(e.error);
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    raise({VK_ERROR_OUT_OF_HOST_MEMORY, "the system refused memory for this call"});
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

void bind_errors(py::module_&) {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 takes a function of this type
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const CoreError& e) {
      raise(e.error);
    } catch (const std::bad_alloc&) {
      raise({VK_ERROR_OUT_OF_HOST_MEMORY, "the system refused memory for this call"});
    }
  });
}

}  // namespace tilegpu::bindings
