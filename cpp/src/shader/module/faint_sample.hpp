// shader/module/faint_sample.hpp -- a look-up of a texture that decides alone whether a fragment is seen.
// In: a module (lower/faint_samples.cpp). Out: for pipelines, which know what the look-up's texture and blending are.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

/// Of a 2D texture at an interpolated coordinate: where its component is 0, the components `colors` (bits) of the colour at location 0 are
/// 0, or no numbers.
struct FaintSample {
  uint32_t set = 0, binding = 0;               // of a combined descriptor
  std::array<uint32_t, 2> location{}, word{};  // of the inputs that the coordinate is, by axis
  uint32_t component = 0, colors = 0;
  bool operator==(const FaintSample&) const = default;
};
struct FaintSamples {
  std::vector<FaintSample> list;
};

/// Of a fragment shader; found once, and kept on disk with the module's other facts.
Expected<FaintSamples> faint_samples(const ShaderModule& module, const std::vector<std::pair<uint32_t, uint64_t>>& specialization);

}  // namespace tilegpu::shader
