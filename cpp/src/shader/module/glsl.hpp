// shader/module/glsl.hpp -- GLSL in this process, of one that may have another working folder; and what is too large to be compiled so.
//
// In: GlslSource, that folder. Out: how large it is; as tilegpu::compile_glsl.
#pragma once

#include <string>
#include <vector>

#include "shader/module/glsl_size.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

/// Files with relative names are those of `folder`; "": there are none. Those that are included are read, and read again as it is compiled.
GlslSize measure_glsl_in(const std::string& folder, const GlslSource& source);
/// Whether glslang may take more than about a second or 300 MB, in which nothing interrupts it.
bool is_large(const GlslSource& source, const GlslSize& size);
Expected<std::vector<uint32_t>> compile_glsl_in(const std::string& folder, const GlslSource& source, const GlslSize& size,
                                                std::vector<ShaderMessage>* messages);

}  // namespace tilegpu::shader
