// hsr/depth_filter.hpp -- the adaptive depth filter: one or two bits a sample that say in front of which planes something lies.
//
// In: the depth words of samples that are about to be tested. Out: those that are certainly hidden, and those whose depth need not
// be read; counters, and from them the planes' position in the next frame. Nothing here changes a bit of the image: a sample is
// only rejected where the stored depth is in front of a plane (strictly) and the new one on it or behind it.
// Reverse Z (GREATER, near is depth 1) is the same in mirrored words: all bits turned, the order of signed integers turns.
// Source: Yu and Kim, "An Adaptive Spatial Filter for Early Depth Test": section 2 (planes, skipped reads), section 3 (position).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilegpu/hidden_surface_removal.hpp"

namespace tilegpu::hsr {

/// The position is a multiple of 1 / kFilterSteps of the depth range, 1 .. kFilterSteps - 1.
inline constexpr uint32_t kFilterSteps = 16;
inline constexpr uint32_t kFilterStart = kFilterSteps / 2;
/// Neighbouring planes are 1 to kMostFilterSpacing times 1 / kFilterSpacings of the depth range apart.
inline constexpr uint32_t kFilterSpacings = 64, kFilterSpacing = 8, kMostFilterSpacing = 16;
/// What the paper moves in one transfer: the bits of 64 pixels.
inline constexpr uint32_t kFilterLine_px = 8;

/// Planes of one frame, as depth words of the attachment (signed integers compare as depths do), of reverse Z mirrored: smaller is nearer.
struct FilterPlanes {
  uint32_t count = 0;                // 1 to 3; 0: no filter
  std::array<int32_t, 3> word = {};  // near to far; with `skips_reads` the last is the far plane
  int32_t position = 0;              // the word of the position itself: what counts as in front (FP) or behind (SP, RP)
  int32_t mirror = 0;                // all ones: reverse Z
  bool skips_reads = false;
  int32_t mirrored(int32_t depth_word) const { return depth_word ^ mirror; }
  bool reverse() const { return mirror != 0; }
};
/// Where planes lie. The position is counted from near, whatever depth near is.
struct FilterPlacing {
  uint32_t position = kFilterStart;   // in 1 / kFilterSteps
  uint32_t spacing = kFilterSpacing;  // of neighbouring planes, in 1 / kFilterSpacings
  bool reverse = false;               // near is depth 1
};
/// `scale`: 65535, 16777215, or 0 for float depth.
FilterPlanes make_filter_planes(DepthFilter mode, const FilterPlacing& placing, double scale);

/// Sums over a pass; at one sample a pixel a sample is a fragment.
struct FilterCounters {
  uint64_t front = 0;          // FP: in front of the position
  uint64_t survived = 0;       // SP: behind it, not rejected
  uint64_t rejected = 0;       // RP
  uint64_t failed = 0;         // not rejected, but failed the full depth test
  uint64_t reads_skipped = 0;  // passed without a look at the stored depth
  uint64_t lines = 0;          // lines of the filter that were touched, a bin at a time
  void add(const FilterCounters& other);
};

/// The bits of one bin, a byte for each sample, in the order of the tile's depth plane.
class TileFilter {
 public:
  void begin_pass(const FilterPlanes& planes, uint32_t samples, uint32_t bin_px);
  /// Before a bin. `holds_far`: every sample's depth is the far plane's (cleared to 1, of reverse Z to 0).
  void begin_bin(bool holds_far);
  bool reverse() const { return planes_.reverse(); }
  /// Something may have moved depth away from near: nothing is known any more.
  void forget();
  bool on() const { return planes_.count != 0; }

  /// Of four samples, depth words `now`, bits `covered`: those that may pass. `sure`: those that pass for certain (where the
  /// comparison is LESS or LESS_OR_EQUAL, of reverse Z GREATER or GREATER_OR_EQUAL), without a look at the stored depth.
  uint32_t admit(size_t word, const int32_t* now, uint32_t covered, uint32_t& sure);
  /// These samples have been written with `now`.
  void raise(size_t word, const int32_t* now, uint32_t written);
  void count_failed(uint32_t samples) { counters.failed += samples; }

  FilterCounters counters;

 private:
  void touch(size_t word);

  FilterPlanes planes_;
  uint32_t samples_ = 1, blocks_per_row_ = 8;
  std::vector<uint8_t> level_;    // n planes: n - level is the nearest plane that the stored depth is in front of; 0: none
  std::vector<uint8_t> touched_;  // per line
};

/// The position of the next frame: towards the crossing of FP and SP (equation 4 of the paper: there most is rejected), at most a quarter
/// of the range at once. Either by the secant through the last two frames, or as the paper's hardware may do it.
struct FilterPosition {
  uint32_t position = kFilterStart;
  uint32_t last_position = 0;  // 0: no frame yet
  double last_difference = 0;  // (FP - SP) / (FP + SP) there
  double last_passed = 1;      // (FP + SP) of all, there
  void adapt(const FilterCounters& frame);
  /// Two counters (FP, SP), a subtractor, an adder, leading-one detectors and a shifter: how many binary places the difference is below
  /// the sum shifts a quarter of the range to the right: 4, 2, 1 or 0 steps. Nothing is remembered. (The paper names counters and
  /// detectors, not how they are put together.)
  void adapt_by_leading_ones(const FilterCounters& frame);
};

}  // namespace tilegpu::hsr
