// device/compiler_requests.hpp -- GLSL and modules by a compiler in a process of its own; what both ends of its socket have to know of
// them.
//
// In: GLSL, or words of SPIR-V. Out: words; a module that the other process has validated, parsed and reflected. Objects of machine code
// are shader/jit/compile_request.hpp's.
#pragma once

#include <string>
#include <vector>

#include "base/message.hpp"
#include "shader/jit/compiler_pool.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu::device {

/// As tilegpu::compile_glsl. `no_process`: CompilerPool::ask's.
Expected<std::vector<uint32_t>> compile_elsewhere(shader::CompilerPool& compilers, const GlslSource& source,
                                                  std::vector<ShaderMessage>* messages, bool* no_process = nullptr);
/// As ShaderModule::create.
Expected<Ptr<ShaderModule>> create_elsewhere(shader::CompilerPool& compilers, std::vector<uint32_t>&& words, std::string label,
                                             const std::string& entry_point, bool* no_process = nullptr);

/// In the other process, behind the request's kind.
std::string answer_glsl_request(MessageReader& request);
std::string answer_module_request(MessageReader& request);

}  // namespace tilegpu::device
