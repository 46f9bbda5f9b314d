// stats/ledger.hpp -- the plain per-worker structs in which work is counted where it happens; merged at the end of the pass.
#pragma once

#include <array>
#include <cstdint>

#include "tilegpu/stats.hpp"

namespace tilegpu::stats {

inline constexpr uint32_t kLedgerAttachments = 10;  // colour 0..7, depth, stencil
inline constexpr uint32_t kLedgerDepth = 8, kLedgerStencil = 9;

struct Ledger {
  uint64_t bytes[kLedgerAttachments][static_cast<size_t>(TrafficCause::count)] = {};
  void add(uint32_t attachment, TrafficCause cause, uint64_t count_B) { bytes[attachment][static_cast<size_t>(cause)] += count_B; }
};

/// Counters of the tile phase. Names as in PassStats.
struct FragmentCounters {
  uint64_t fragments_rasterized = 0, fragments_early_killed = 0, fragments_shaded = 0, fragments_discarded = 0, fragments_late_killed = 0;
  uint64_t helper_lanes = 0, idle_lanes = 0, packets = 0, samples_written = 0;
};

}  // namespace tilegpu::stats
