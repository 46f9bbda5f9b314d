// stats/ledger.hpp -- plain per-worker structs. In: work, counted where it happens. Out: merged at the end of the pass.
#pragma once

#include <array>
#include <cstdint>

#include "tilegpu/stats.hpp"

namespace tilegpu::stats {

inline constexpr uint32_t kLedgerAttachments = 10;  // colour 0..7, depth, stencil
inline constexpr uint32_t kLedgerDepth = 8, kLedgerStencil = 9;

#ifdef TILEGPU_NO_LEDGER
inline constexpr bool kCounting = false;  // for benchmarks/ledger_cost.py: what the same work costs uncounted
#else
inline constexpr bool kCounting = true;
#endif

/// A sum; compiled away, with what only it needs, where nothing is counted.
class Count {
 public:
  void operator+=(uint64_t more) {
    if constexpr (kCounting) sum_ += more;
  }
  void operator++(int) { *this += 1; }
  operator uint64_t() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

struct Ledger {
  uint64_t bytes[kLedgerAttachments][static_cast<size_t>(TrafficCause::count)] = {};
  void add(uint32_t attachment, TrafficCause cause, uint64_t count_B) {
    if constexpr (kCounting) bytes[attachment][static_cast<size_t>(cause)] += count_B;
  }
};

/// Counters of the tile phase. Names as in PassStats.
struct FragmentCounters {
  Count fragments_rasterized, fragments_early_killed, fragments_shaded, fragments_discarded, fragments_late_killed;
  Count lrz_primitives_tested, lrz_primitives_rejected, lrz_blocks_rejected, lrz_feedback_texels;
  Count helper_lanes, idle_lanes, packets, samples_written;
  Count primitives_culled_by_prepass, fragments_killed_by_prepass, fragments_killed_by_fpk;
  Count fragments_killed_by_hierarchical_z, sliced_invocations, vertices_shaded_in_tiles;
  Count coarse_fragments, coarse_pixels;
};

}  // namespace tilegpu::stats
