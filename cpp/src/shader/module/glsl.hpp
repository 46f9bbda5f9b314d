// shader/module/glsl.hpp -- GLSL of a process that has another working folder.
//
// In: GlslSource, that folder. Out: as tilegpu::compile_glsl.
#pragma once

#include <string>
#include <vector>

#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

/// Files with relative names are those of `folder`; "": there are none.
Expected<std::vector<uint32_t>> compile_glsl_in(const std::string& folder, const GlslSource& source, std::vector<ShaderMessage>* messages);

}  // namespace tilegpu::shader
