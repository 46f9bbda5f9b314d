// shader/lower/reach.hpp -- which code of a specialised stage runs: never, maybe, or whenever the stage does.
//
// In: the Module, its constants. Out: for each instruction what is known before anything runs.
// Branches by constants take one way; a loop that counts from a constant to a constant is known to run once. All else is maybe.
// Source: SPIR-V specification 1.6, section 2.11 "Structured Control Flow" (its graph, without back edges, has a topological order).
#pragma once

#include <vector>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

enum class Runs : uint8_t { never, maybe, always };

/// By number in Module::instructions; what stands in no function that is called never runs.
using Reach = std::vector<Runs>;

/// `always`: by each invocation of the stage that neither is stuck in a loop before nor meets OpUnreachable.
Reach find_reach(const Module& module, const Constants& constants);

}  // namespace tilegpu::shader
