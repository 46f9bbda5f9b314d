// shader/lower/faint_samples.hpp -- which look-ups of textures decide alone whether a fragment is seen at all.
//
// In: a Module and its constants. Out: of each such look-up the texture, where its coordinate comes from, and either which components of
// colour 0 are products of one of its components, so that they are 0, or no number, where that is 0; or how much a component may be so
// that the fragment is discarded, or has no alpha, whatever else is: by the ranges of values (value_range.hpp). One function, of
// which the way is known up to there. Source: IEEE 754 (0 times a number is 0, times infinity no number); SPIR-V specification 1.6,
// section 3.32.
#pragma once

#include <vector>

#include "shader/module/module_facts.hpp"

namespace tilegpu::shader {

std::vector<FaintSample> find_faint_samples(const Module& m, const Constants& constants);

}  // namespace tilegpu::shader
