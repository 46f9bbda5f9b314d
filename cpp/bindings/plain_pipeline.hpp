// bindings/plain_pipeline.hpp -- what of a pipeline draws ask whose arguments are plain.
//
// In: what the front end found out of a pipeline and its shaders, once. Out: for plain_draws.cpp.
#pragma once

#include "plain_binds.hpp"

namespace tilegpu::bindings {

/// What draws ask of a pipeline; made by Python where it is plain.
struct PlainPipeline {
  Ptr<Pipeline> core;
  bool has_vertices = false;                          // one binding, of a dtype
  py::object dtype, array_dtype;                      // of it; of arrays that are taken as they are, None: none are
  std::vector<py::ssize_t> row_shape;                 // of such arrays without fields
  bool has_fields = false;                            // such arrays may have any shape
  uint32_t stride_B = 0, alignment_B = 1, row_B = 0;  // of the binding; of an array's row
  uint32_t step = 1, least = 1;                       // by which a draw is cut into primitives, the fewest that make one
  bool restarts = false;
  uint32_t push_B = 0;
  py::object floats;  // keeps the next
  const FloatBlock* block = nullptr;
  std::unique_ptr<PlainBinds> binds = std::make_unique<PlainBinds>();  // stays where it is
  std::vector<std::pair<py::object, py::object>> fitting;              // dtypes and row shapes of buffers that fit too
};

}  // namespace tilegpu::bindings
