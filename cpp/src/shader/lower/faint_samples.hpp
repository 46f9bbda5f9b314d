// shader/lower/faint_samples.hpp -- which look-ups of textures decide alone whether a fragment is seen at all.
//
// In: a Module. Out: of each such look-up the texture, where its coordinate comes from, and which components of colour 0 are products of
// one of its components, so that they are 0, or no number, where that is 0. Straight code alone: one block, no calls. Source: IEEE 754 (0
// times a number is 0, times infinity no number); SPIR-V specification 1.6, section 3.32.
#pragma once

#include <vector>

#include "shader/module/module_facts.hpp"

namespace tilegpu::shader {

std::vector<FaintSample> find_faint_samples(const Module& m);

}  // namespace tilegpu::shader
