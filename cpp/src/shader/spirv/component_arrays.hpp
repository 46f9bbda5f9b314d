// shader/spirv/component_arrays.hpp -- components of a location that arrays of arrays begin at, which SPIRV-Tools 2023.1 refuses.
//
// The validator looks through one array, so that an array for each vertex, of arrays, is no "scalar or vector" to it
// (VUID-StandaloneSpirv-Component-04924). In: words; a Module. Out: words without such decorations, as far as they are right; an error
// about what that hides, or nothing.
// Source: Vulkan specification, "Standalone SPIR-V Validation", "Location and Component Assignment".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// The words without Component on variables that are arrays of arrays of scalars or vectors, where what is decorated stays within its
/// location; such a variable has locations of its own there, because others may share its. Others are left to the validator.
std::vector<uint32_t> without_array_components(const std::vector<uint32_t>& words);
/// What that hides: empty, or which place of an input or output two variables have.
std::string check_shared_places(const Module& module, const Constants& constants);

}  // namespace tilegpu::shader
