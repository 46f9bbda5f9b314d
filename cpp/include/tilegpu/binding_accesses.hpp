// tilegpu/binding_accesses.hpp -- what a shader does with the memory of each binding: for warnings of draws of one pass that depend on
// each other. Source: SPIR-V specification, "Memory Instructions".
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tilegpu/shader.hpp"

namespace tilegpu {

/// Of one binding, over everything that the shader might run.
struct BindingAccess {
  bool reads = false;    ///< loads, fetches, samples
  bool writes = false;   ///< stores
  bool atomics = false;  ///< of any kind; they neither read nor write here
};

/// By (set, binding), those that are accessed. The module must be parsed (ShaderModule::parse).
TILEGPU_API std::map<std::pair<uint32_t, uint32_t>, BindingAccess> binding_accesses(
    const ShaderModule& module, const std::vector<std::pair<uint32_t, uint64_t>>& specialization);

}  // namespace tilegpu
