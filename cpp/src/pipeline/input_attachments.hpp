// pipeline/input_attachments.hpp -- which plane of the tile each input attachment of the fragment shader reads.
// In: variables. Out: InputSources, and the textures that some of them are.
#pragma once

#include <functional>
#include <string>

#include "pipeline/resolved.hpp"

namespace tilegpu::pipeline {

/// One source for each element of each input attachment, by (variable, element). Error: an index that no attachment has, a numeric
/// type that does not fit; of a tile image, whose bits it gives then, where `tolerate` does not take it.
Expected<std::vector<shader::InputSource>> input_sources(const GraphicsPipelineCreateInfo& info, const shader::StageTraits& fragment,
                                                         const std::function<void(const std::string&)>& tolerate);
/// Whether those of the shader's input attachments that the tile has are of as many samples as the state.
Status check_input_samples(const Program& program, uint32_t samples);
/// The descriptors of those that are read from memory: as textures of which texels are fetched.
void add_inputs_in_memory(const std::vector<shader::InputSource>& sources, const shader::StageTraits& fragment,
                          shader::ResourceTable& table);

}  // namespace tilegpu::pipeline
