// shader/epilogue/keeps_below.hpp -- which sources leave the targets of a fragment as they are. In: EpilogueKey. Out: bits of components.
#pragma once

#include "shader/compiler.hpp"

namespace tilegpu::shader {

/// Components of the colour at location 0: where all of these are 0 or less, or no numbers, no target changes. 0: no such.
uint32_t keeps_targets_below(const EpilogueKey& key);

}  // namespace tilegpu::shader
