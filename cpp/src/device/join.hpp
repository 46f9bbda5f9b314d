// device/join.hpp -- passes out of pieces: draws of secondary command buffers, parts that were suspended and resumed.
//
// In: recorded pieces, const. Out: one pass with all their commands in order. Source: Vulkan specification, "Secondary Command Buffer
// Execution", "Render Pass" (suspending and resuming).
#pragma once

#include "command/recording.hpp"
#include "device/device_state.hpp"
#include "device/pass_targets.hpp"
#include "exec/execution.hpp"

namespace tilegpu::device {

/// The commands of a secondary behind those of an open pass; `active_query` of the pass counts what has no query of its own. What the
/// secondary could not know, the pass's areas, is applied to its states, and `refits`.
void join_secondary(command::Pass& pass, const Ptr<const command::Recording>& secondary, int32_t active_query, const Refits& refits);

/// What is active around a secondary that is executed outside of passes: its own passes and dispatches know nothing of it.
struct ActiveAround {
  std::optional<command::Condition> condition;
  std::optional<command::ActiveQuery> occlusion;
  std::vector<command::ActiveQuery> counting;  // of other types
  bool empty() const { return !condition && !occlusion && counting.empty(); }
};

/// The steps of a recording behind those of the execution, and of the secondaries that it executes; their passes, and their dispatches
/// where there is a condition, become copies with what is active around them. An error where a pass writes its condition.
Status add_steps(const command::Recording& recording, exec::Execution& execution, const ActiveAround& around = {});

/// Passes and dispatches with sets that may be updated after they were bound become copies with what those sets hold now. To be called
/// before the next.
Status take_late_sets(device::DeviceState& device, exec::Execution& execution);

/// Passes among the steps that are suspended become one with those that resume them; waits between them stand before it, timestamps behind
/// it. An error where one is not resumed by the next other command, resumes nothing, or is not begun like the first; where that is
/// tolerated, such a part ends there with all that it has in memory, and what resumes it loads that.
Status join_suspended(const DeviceState& device, exec::Execution& execution);

}  // namespace tilegpu::device
