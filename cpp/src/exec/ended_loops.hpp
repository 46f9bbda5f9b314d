// exec/ended_loops.hpp -- loops that were ended because they went round too often: which one, in words.
// In: what the workers' code left in their LoopBudget. Out: the error of the pass or dispatch. A GPU's driver would give up by time,
// which is no result. Source: decision 111.
#pragma once

#include <string>

#include "pipeline/program.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::exec {

struct PassRun;

/// Iterations of all loops of one vector of lanes. A thread notices that it shall stop only between vectors, so they are as many as take
/// seconds; kernels may be one long loop, and get more.
inline constexpr uint64_t kPassLoopIterations = uint64_t{1} << 24, kDispatchLoopIterations = uint64_t{1} << 26;
/// Vertices of the indirect draws of a pass, or invocations of an indirect dispatch: what nobody has looked at is held to seconds.
inline constexpr uint64_t kIndirectBudget = uint64_t{1} << 28;

/// "the loop at a.frag:12 of the fragment shader was ended: its loops went round more than 16777216 times".
std::string ended_loop_text(const shader::LoopBudget& loops, const ShaderModule* module, uint64_t iterations);
/// An error where some loop of the pass was ended: of the first draw among those that workers name.
Status ended_loops(PassRun& run);

}  // namespace tilegpu::exec
