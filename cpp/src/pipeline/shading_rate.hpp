// pipeline/shading_rate.hpp -- whether a draw's fragments may have several pixels, and what forbids it. In: state, traits of the shaders.
// Out: for classification, code and explanations. Source: Vulkan specification, "Fragment Shading Rates"; docs/decisions.md, 428.
#pragma once

#include "shader/compiler.hpp"
#include "tilegpu/state.hpp"
#include "vk/shading_rates.hpp"

namespace tilegpu::pipeline {

/// Whether the state asks for anything but fragments of 1x1 pixels; `last`: the stage that is rasterized.
bool sets_shading_rate(const FixedFunctionState& state, const shader::StageTraits& last);
/// Where it does: why fragments have one pixel all the same, or null. `fragment`: traits of the fragment shader, null where there is none.
const char* shading_rate_obstacle(const FixedFunctionState& state, const shader::StageTraits* fragment);

/// Sizes and operations that there are; of `what`.
Status check_shading_rate(const FragmentShadingRateState& state, const std::string& what);

/// What the pipeline and a primitive together ask for. `primitive`: as the shader wrote it, 0 where it wrote none.
inline vk::FragmentSize size_of_primitive(const FragmentShadingRateState& state, uint32_t primitive, uint32_t samples) {
  return vk::combined_and_clamped(state.combiner_ops[0], vk::fragment_size(state.width_px, state.height_px),
                                  vk::fragment_size_of(primitive), samples);
}
/// The same with a texel of the attachment, 0 where there is none.
inline vk::FragmentSize size_of_fragment(const FragmentShadingRateState& state, const vk::FragmentSize& of_primitive, uint32_t texel,
                                         uint32_t samples) {
  return vk::combined_and_clamped(state.combiner_ops[1], of_primitive, vk::fragment_size_of(texel), samples);
}

}  // namespace tilegpu::pipeline
