// tilegpu/image_reads.hpp -- which texels of a bound image a shader can read: for warnings of contents that nobody wrote.
// Source: SPIR-V specification, "Image Instructions".
#pragma once

#include <utility>
#include <vector>

#include "tilegpu/shader.hpp"

namespace tilegpu {

/// Of one binding, over everything that the shader might run.
struct ImageReads {
  bool samples = false;           ///< by a level of detail that is known at run time only
  bool samples_constant = false;  ///< by constant ones (textureLod), from least_lod to greatest_lod
  float least_lod = 0, greatest_lod = 0;
  bool gathers = false;         ///< of level 0
  uint32_t fetched_levels = 0;  ///< texelFetch: levels below this one; ~0u: any
  /// imageLoad and atomics, but for loads of what the invocation has stored at the same coordinates before.
  bool loads = false;
  bool stores = false;  ///< imageStore, atomics
};

/// All of it false where sizes and levels alone are asked. The module must be parsed (ShaderModule::parse).
/// `specialization`: the constants of the pipeline that it is of, by id; all others have their defaults.
TILEGPU_API ImageReads image_reads(const ShaderModule& module, uint32_t set, uint32_t binding,
                                   const std::vector<std::pair<uint32_t, uint64_t>>& specialization);

}  // namespace tilegpu
