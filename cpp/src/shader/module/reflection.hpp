// shader/module/reflection.hpp -- the interface of a parsed module, by name, for front ends and pipeline layouts.
// In: a Module. Out: Reflection.
#pragma once

#include "shader/spirv/module.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

/// Inputs, outputs, descriptors, push constants and specialisation constants; array lengths as `constants` have them.
Expected<Reflection> reflect(const Module& module, Constants constants);

}  // namespace tilegpu::shader
