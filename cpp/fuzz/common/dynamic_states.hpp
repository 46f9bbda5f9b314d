// fuzz/common/dynamic_states.hpp -- a pipeline's state said by commands: the picture is the same whoever says it.
//
// In: a pipeline's state, bits that choose some of it. Out: a pipeline that leaves them open and holds something else in their place, and
// the commands that say them. Source: Vulkan specification, "Dynamic State", "Extended Dynamic State 3".
#pragma once

#include "tilegpu/command.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::fuzz {

/// The chosen states become dynamic ones of `info`, which forgets what it had of them. Bits beyond the last state are not read.
void leave_open(uint64_t chosen, GraphicsPipelineCreateInfo& info);
/// What `info` leaves open, as `wanted` has it.
Status say_open(CommandBuffer& cb, const GraphicsPipelineCreateInfo& info, const GraphicsState& wanted);

}  // namespace tilegpu::fuzz
