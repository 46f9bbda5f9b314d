// pipeline/shading_rate.cpp -- see shading_rate.hpp.
#include "pipeline/shading_rate.hpp"

#include <algorithm>

#include "tilegpu/device_info.hpp"

namespace tilegpu {

std::vector<FragmentShadingRate> fragment_shading_rates() {
  std::vector<FragmentShadingRate> rates;
  for (const vk::ShadingRateRow& row : vk::shading_rates()) rates.push_back({row.size.width_px(), row.size.height_px(), row.sample_counts});
  return rates;
}

}  // namespace tilegpu

namespace tilegpu::pipeline {

bool sets_shading_rate(const FixedFunctionState& state, const shader::StageTraits& last) {
  constexpr auto kKeep = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR, kMin = VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MIN_KHR;
  const FragmentShadingRateState& rate = state.shading_rate;
  const bool of_primitives = last.writes_shading_rate && rate.combiner_ops[0] != kKeep;
  const vk::FragmentSize known = size_of_primitive(rate, 0, 1);
  if (of_primitives) return rate.combiner_ops[0] != kMin || rate.width_px * rate.height_px != 1 || rate.combiner_ops[1] != kKeep;
  if (known.is_one_pixel() && rate.combiner_ops[1] == kMin) return false;
  return !known.is_one_pixel() || rate.combiner_ops[1] != kKeep;
}

const char* shading_rate_obstacle(const FixedFunctionState& state, const shader::StageTraits* fragment) {
  if (!fragment) return "nothing is shaded";
  const MultisampleState& m = state.multisample;
  if (m.sample_shading) return "sampleShadingEnable: each sample is shaded";
  if (fragment->per_sample) return "the fragment shader asks for its sample (gl_SampleID, gl_SamplePosition, sample inputs)";
  if (static_cast<uint32_t>(m.samples) > vk::kMaxShadingRateSamples)
    return "more than 4 samples, for which 1x1 is the only fragment size (maxFragmentShadingRateRasterizationSamples)";
  if (state.rasterization.conservative_mode != VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT)
    return "conservative rasterization (fragmentShadingRateWithConservativeRasterization is false)";
  if (m.sample_locations_enable) return "sample locations of its own (fragmentShadingRateWithCustomSampleLocations is false)";
  const auto is_tile_image = [](const shader::InputAttachment& input) { return input.tile_image; };
  if (std::any_of(fragment->input_attachments.begin(), fragment->input_attachments.end(), is_tile_image))
    return "the fragment shader reads tile images, for which 1x1 is the only fragment size";
  if (fragment->interlocked)
    return "the fragment shader's invocations wait for each other (fragmentShadingRateWithFragmentShaderInterlock is false)";
  return nullptr;
}

Status check_shading_rate(const FragmentShadingRateState& state, const std::string& what) {
  const auto error = [&](const std::string& text) { return Error{VK_ERROR_VALIDATION_FAILED_EXT, what + ": " + text}; };
  const auto is_side = [](uint32_t px) { return px == 1 || px == 2 || px == 4; };
  if (!is_side(state.width_px) || !is_side(state.height_px))
    return error("fragmentSize is " + std::to_string(state.width_px) + "x" + std::to_string(state.height_px) +
                 "; each side must be 1, 2 or 4 pixels (maxFragmentSize is 4x4)");
  for (size_t i = 0; i < 2; i++)
    if (static_cast<uint32_t>(state.combiner_ops[i]) > VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MUL_KHR)
      return error("combinerOps[" + std::to_string(i) + "] is number " + std::to_string(state.combiner_ops[i]) +
                   "; allowed are KEEP, REPLACE, MIN, MAX and MUL");
  return Ok{};
}

}  // namespace tilegpu::pipeline
