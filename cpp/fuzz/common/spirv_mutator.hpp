// fuzz/common/spirv_mutator.hpp -- mutations of a SPIR-V module that know what an instruction is.
//
// In: words. Out: words whose instructions still begin and end where they should, most of them still valid: ids are replaced by ids of the
// same type, arithmetic by arithmetic of the same shape, numbers by numbers that are often wrong. Source: SPIR-V specification 1.6, section
// 2.3 "Physical Layout of a SPIR-V Module", 3.32 "Instructions". spirv-fuzz would do more; no package of Debian's has it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tilegpu::fuzz {

using Random = std::minstd_rand;

/// One to four changes. False: these words are no module, and nothing was changed.
bool mutate_spirv(std::vector<uint32_t>& words, Random& random);

}  // namespace tilegpu::fuzz
