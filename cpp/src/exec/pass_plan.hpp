// exec/pass_plan.hpp -- stage: execution of a render pass, what follows from its commands alone and is kept for the next execution.
//
// In: PassRecord. Out: its PassPlan: draws with indirect ones read, commands in API order, chunks.
#pragma once

#include <span>
#include <vector>

#include "exec/pass_record.hpp"

namespace tilegpu::exec {

/// The draws of this execution, with indirect ones read now: their buffers may have been written by earlier work.
std::span<const DrawCall> plan_draws(PassRecord& pass);
/// The rest of the plan; indices that restart primitives may have been written since they were looked at.
const geometry::ChunkPlans& plan_geometry(PassPlan& plan, const geometry::GeometryPass& pass);
/// Indirect draws stand behind the others in the execution's list; for people, draws are numbered in the order of commands.
std::vector<uint32_t> draw_numbers(std::span<const command::PassCommand> commands, size_t draws);

}  // namespace tilegpu::exec
