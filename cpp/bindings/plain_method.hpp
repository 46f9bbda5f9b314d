// bindings/plain_method.hpp -- a method that is tried in one call first. See plain_method.cpp.
#pragma once

#include "bindings.hpp"

namespace tilegpu::bindings {

/// The arguments of rp.draw.
enum Argument {
  kPipeline,
  kVertices,
  kIndices,
  kInstances,
  kBind,
  kSets,
  kPush,
  kFirst,
  kCount,
  kVertexOffset,
  kFirstInstance,
  kViewport,
  kScissor,
  kStencilReference,
  kBlendConstants,
  kDepthBias,
  kArguments
};

/// 1: the draw is recorded; 0: nothing was done; -1: an exception is set. `of`: the pass's PlainDraws, or anything else.
int draw_plainly(PyObject* of, PyObject* const* given);

}  // namespace tilegpu::bindings
