// hsr/concurrent_binning.hpp -- may a pass be binned while the one before it is rendered?
// In: what the pass does, and what the one before did. Out: why not, or "". Of the hardware, whichever techniques are on.
// Source: lrz.rst, "A7XX": from there on a processor of its own bins.
#pragma once

#include <cstdint>

namespace tilegpu::hsr {

/// What a device's last pass was to the next one.
struct BinnedBefore {
  bool any = false, wrote_memory = false;
};

struct BinningFacts {
  uint32_t generation = 0;                       // 0: the GPU has no pass over all geometry before its tiles
  bool sysmem = false;                           // nothing is binned
  bool loads_low_resolution_z = false;           // depth, and with it what the pass before writes while it is rendered
  bool captures = false, writes_memory = false;  // by transform feedback, by shaders
};

/// Never null.
const char* concurrent_binning_obstacle(const BinningFacts& pass, const BinnedBefore& before);

}  // namespace tilegpu::hsr
