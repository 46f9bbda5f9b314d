// hsr/concurrent_binning.cpp -- see concurrent_binning.hpp.
#include "hsr/concurrent_binning.hpp"

#include <cassert>

#include "hsr/lrz_state.hpp"

namespace tilegpu::hsr {

const char* concurrent_binning_obstacle(const BinningFacts& pass, const BinnedBefore& before) {
  assert(before.any || !before.wrote_memory);
  if (pass.generation < kLrzBidirectional) return "before A7xx one processor bins and renders";
  if (pass.sysmem) return "nothing is binned in sysmem";
  if (!before.any) return "no pass is rendered before it";
  if (pass.loads_low_resolution_z) return "it loads depth, whose low-resolution Z the pass before may still change";
  if (pass.captures) return "transform feedback goes on from one pass to the next";
  if (before.wrote_memory) return "shaders of the pass before write memory that its vertices may read";
  return "";
}

}  // namespace tilegpu::hsr
