// hsr/explain.cpp -- see explain.hpp. Source: Vulkan specification, "Early Fragment Test"; architecture, decision 8.
#include "hsr/explain.hpp"

namespace tilegpu::hsr {

const char* early_test_obstacle(const GraphicsPipelineCreateInfo& info, const pipeline::Compiled& compiled) {
  const pipeline::Classification& c = compiled.classification;
  const shader::StageTraits& traits = compiled.fragment_traits;
  if (!compiled.fragment || (c.early_test && c.early_write)) return nullptr;
  if (traits.writes_depth) return "the fragment shader writes gl_FragDepth: tests come after shading";
  if (traits.writes_stencil) return "the fragment shader writes the stencil value: tests come after shading";
  if (c.side_effects)
    return "the fragment shader writes memory and does not ask for early_fragment_tests: even fragments that fail must run";
  if (traits.reads_tile && !c.early_write && !traits.discards && !traits.writes_sample_mask && !info.multisample.alpha_to_coverage)
    return "the fragment shader reads the depth or stencil that the draw writes: written after shading";
  if (traits.discards) return "the fragment shader discards: tested early, written after shading";
  if (traits.writes_sample_mask) return "the fragment shader writes gl_SampleMask: tested early, written after shading";
  if (info.multisample.alpha_to_coverage) return "alpha to coverage: tested early, written after shading";
  return "the fragment shader changes coverage: tested early, written after shading";
}

const char* visibility_obstacle(const GraphicsPipelineCreateInfo& info, const pipeline::Compiled& compiled, bool enabled) {
  const pipeline::Classification& c = compiled.classification;
  const shader::StageTraits& traits = compiled.fragment_traits;
  if (!enabled) return "switched off (hsr)";
  if (!compiled.fragment) return "nothing is shaded";
  if (const char* obstacle = early_test_obstacle(info, compiled)) return obstacle;
  if (c.side_effects) return "the fragment shader writes memory: every fragment that passes must run";
  if (traits.reads_tile) return "the fragment shader reads the tile (input attachment)";
  if (c.reads_tile) return "reads the tile: blending, a logic op or a write mask keeps part of the old colour";
  if (!compiled.epilogue || !c.writes_color) return "no colour is written";
  if (!c.opaque) return "does not write every colour attachment: what is below shows in the others";
  if (traits.discards || traits.writes_sample_mask || info.multisample.alpha_to_coverage) return "the fragment shader changes coverage";
  if (traits.reads_helper) return "the fragment shader asks for helper lanes";
  return nullptr;
}

}  // namespace tilegpu::hsr
