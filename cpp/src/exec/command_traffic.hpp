// exec/command_traffic.hpp -- what commands outside of passes move.
//
// In: a recorded command, which was checked. Out: its bytes. Source: see tilegpu/command_traffic.hpp.
#pragma once

#include <optional>

#include "command/recording.hpp"
#include "tilegpu/command_traffic.hpp"

namespace tilegpu::exec {

/// Nothing: the command moves no texels and no buffer's bytes for a program (passes, dispatches, queries, events).
std::optional<CommandTraffic> traffic_of(const command::Command& command);

}  // namespace tilegpu::exec
