// pipeline/input_attachments.hpp -- which plane of the tile each input attachment of the fragment shader reads.
#pragma once

#include "pipeline/resolved.hpp"

namespace tilegpu::pipeline {

/// One source for each element of each input attachment, by (variable, element). Error: an index that no attachment has, a numeric
/// type or a sample count that does not fit.
Expected<std::vector<shader::InputSource>> input_sources(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment);

}  // namespace tilegpu::pipeline
