// pipeline/input_attachments.hpp -- which plane of the tile each input attachment of the fragment shader reads.
// In: variables. Out: InputSources.
#pragma once

#include "pipeline/resolved.hpp"

namespace tilegpu::pipeline {

/// One source for each element of each input attachment, by (variable, element). Error: an index that no attachment has, a numeric
/// type that does not fit.
Expected<std::vector<shader::InputSource>> input_sources(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment);
/// Whether the shader's input attachments are of as many samples as the state.
Status check_input_samples(const shader::StageTraits& fragment, uint32_t samples);

}  // namespace tilegpu::pipeline
