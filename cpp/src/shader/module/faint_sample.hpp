// shader/module/faint_sample.hpp -- a look-up of a texture that decides alone whether a fragment is seen.
// In: a module (lower/faint_samples.cpp). Out: for pipelines, which know what the look-up's texture and blending are.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

/// What comes of a fragment where a component of a look-up is little enough.
enum class Faint : uint8_t {
  colors,    // the components `colors` (bits) of the colour at location 0 are 0, or no numbers
  no_alpha,  // the alpha of the colour at location 0 is below kNoAlpha
  gone,      // the shader discards it
};
/// Of up to 16 samples alpha to coverage keeps none then.
inline constexpr double kNoAlpha = 0.49 / 16;

/// Of a 2D texture at an interpolated coordinate: what comes of it where all texels that are filtered have a component of `most` 255ths at
/// most; 0 but where `becomes` is no_alpha or gone.
struct FaintSample {
  uint32_t set = 0, binding = 0;               // of a combined descriptor
  std::array<uint32_t, 2> location{}, word{};  // of the inputs that the coordinate is, by axis
  uint8_t component = 0, colors = 0, most = 0;
  Faint becomes = Faint::colors;
  bool neighbours = false;  // it must be so in all of the quad
  bool operator==(const FaintSample&) const = default;
};
struct FaintSamples {
  std::vector<FaintSample> list;
};

/// Of a fragment shader; found once, and kept on disk with the module's other facts.
Expected<FaintSamples> faint_samples(const ShaderModule& module, const std::vector<std::pair<uint32_t, uint64_t>>& specialization);

}  // namespace tilegpu::shader
