// shader/spirv/normalize.hpp -- instructions of extensions that say what an instruction of the core says: the core's in their place.
// In: words of a module that was validated. Out: words. What the compiler is to believe of a value (OpExpectKHR, OpAssumeTrueKHR) is
// left out: bits may not depend on it.
#pragma once

#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

std::vector<uint32_t> normalized(std::vector<uint32_t> words);

}  // namespace tilegpu::shader
