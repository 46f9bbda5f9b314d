// shader/spirv/normalize.hpp -- instructions of extensions that say what an instruction of the core says: the core's in their place.
// In: words of a module that was validated. Out: words. What the compiler is to believe of a value (OpExpectKHR, OpAssumeTrueKHR) is
// left out: bits may not depend on it. An OpPhi that has one pointer by all of its edges is a copy: SPIR-V has no OpPhi of pointers but
// variable ones; its validator takes others too where a module declares these, and spirv-opt writes them (--loop-peeling).
#pragma once

#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

std::vector<uint32_t> normalized(std::vector<uint32_t> words);

}  // namespace tilegpu::shader
