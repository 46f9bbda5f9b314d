// pipeline/coming_code.hpp -- code that pipelines have begun to make, and must be there before they draw or dispatch.
//
// In: what resolve() and create_compute_pipeline() leave to the compiler's threads. Out: it is there, or the error, under the pipeline's
// name. Source: docs/decisions.md, 362.
#pragma once

#include <algorithm>
#include <cassert>
#include <string>
#include <vector>

#include "shader_abi/code.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::shader {
class Jit;
}

namespace tilegpu::pipeline {

struct ComingCode {
  struct Function {
    const shader::CodeSlot* slot;
    const char* what;  // for messages: which of the pipeline's shaders
  };
  std::string label;  // the pipeline's
  std::vector<Function> functions;

  template <class F>
  void add(const shader::Code<F>& code, const char* what) {
    assert(what);
    const shader::CodeSlot* slot = code.slot();
    if (slot && !slot->address.load()) functions.push_back({slot, what});
  }
  bool is_there() const {
    return std::all_of(functions.begin(), functions.end(), [](const Function& f) { return f.slot->address.load() != nullptr; });
  }
};

/// Makes what nobody has begun to make, of all of them, and waits for the rest. In their order: the first error.
Status finish(shader::Jit& jit, const std::vector<const ComingCode*>& coming);

}  // namespace tilegpu::pipeline
