// shader/module/module_size.hpp -- whether a module is so large that SPIRV-Tools may take long to validate it.
//
// In: words, of which nothing is known yet. Out: an answer in time that is linear in them. Source: measured, with SPIRV-Tools 2023.1 of
// Debian 12, modules of each kind that grow (docs/reliability.md, "Large shaders").
#pragma once

#include <cstdint>
#include <vector>

namespace tilegpu::shader {

/// Whether the validator may take more than some 0.3 s: of all that was tried only what is looked at here did.
bool is_large(const std::vector<uint32_t>& words);

}  // namespace tilegpu::shader
