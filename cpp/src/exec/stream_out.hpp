// exec/stream_out.hpp -- stage: behind the geometry phase. In: what chunks captured, in order. Out: transform feedback's buffers and
// counters. Serial: where a vertex goes depends on all before it. Source: Vulkan specification, "Transform Feedback".
#pragma once

#include "exec/pass_run.hpp"

namespace tilegpu::exec {

/// The primitives of one chunk; chunks come in order. What queries want of them is added to the counts of their draws.
void write_captured(PassRun& run, const records::Chunk& chunk);
/// Intervals that have no more primitives: their counters.
void finish_captured(PassRun& run);

}  // namespace tilegpu::exec
