// exec/render_mode.hpp -- profiles with GMEM: rendering tile by tile there, or at once in memory (sysmem).
//
// In: a recorded pass; how many samples passed its tests, this time or when it ran last. Out: the bytes that Mesa's autotuner compares.
// They are its estimate and nobody's measurement: caches and compression are not in it.
// Source: Mesa, Turnip's autotuner (tu_autotune, bandwidth of render passes and of draws); docs/decisions.md, 151.
#pragma once

#include <span>

#include "command/pass.hpp"

namespace tilegpu::exec {

struct RenderBandwidth {
  uint64_t gmem_B = 0, sysmem_B = 0;
  bool prefers_sysmem() const { return sysmem_B <= gmem_B; }
};

/// `draws`: those that are executed.
RenderBandwidth render_bandwidth(const command::Pass& pass, std::span<const command::DrawCall> draws, uint64_t samples_passed);
/// Where nothing is known of the pass: few draws without multisampling are rendered in memory.
bool prefers_sysmem_unseen(const command::Pass& pass, size_t draws);
/// By which executions of the same pass are known to one another.
std::string render_key(const command::Pass& pass);

}  // namespace tilegpu::exec
