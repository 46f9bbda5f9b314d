// hsr/depth_filter.cpp -- see depth_filter.hpp.
#include "hsr/depth_filter.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace tilegpu::hsr {

namespace {

// Of FP and SP, as a share of their sum: the position is right.
constexpr double kSmallDifference = 1.0 / 16;

int32_t depth_word(double depth, double scale) {
  if (scale > 0) return static_cast<int32_t>(std::nearbyint(depth * scale));
  return static_cast<int32_t>(std::bit_cast<uint32_t>(static_cast<float>(depth)));
}

}  // namespace

FilterPlanes make_filter_planes(DepthFilter mode, const FilterPlacing& placing, double scale) {
  assert(placing.position <= kFilterSteps && placing.spacing >= 1 && placing.spacing <= kMostFilterSpacing);
  FilterPlanes planes;
  planes.mirror = placing.reverse ? ~0 : 0;
  const double t = static_cast<double>(placing.position) / kFilterSteps;
  const double spacing = static_cast<double>(placing.spacing) / kFilterSpacings;
  // More planes lie around the position, so that the crossing of FP and SP stays at the most rejections.
  std::array<double, 3> at{};
  switch (mode) {
    case DepthFilter::off:
      return planes;
    case DepthFilter::one_plane:
      planes.count = 1;
      at = {t};
      break;
    case DepthFilter::two_plane:
      planes.count = 2;
      at = {t - spacing / 2, t + spacing / 2};
      break;
    case DepthFilter::three_plane:
      planes.count = 3;
      at = {t - spacing, t, t + spacing};
      break;
    case DepthFilter::two_plane_skip:
      planes.count = 3;
      planes.skips_reads = true;
      at = {t - spacing / 2, t + spacing / 2, 1.0};
      break;
  }
  // Of reverse Z near is depth 1: the plane at t from there, in mirrored words.
  const auto word = [&](double from_near) {
    const double depth = std::clamp(from_near, 0.0, 1.0);
    return planes.mirrored(depth_word(placing.reverse ? 1 - depth : depth, scale));
  };
  for (uint32_t k = 0; k < planes.count; k++) planes.word[k] = word(at[k]);
  planes.position = word(t);
  return planes;
}

void FilterCounters::add(const FilterCounters& other) {
  front += other.front;
  survived += other.survived;
  rejected += other.rejected;
  failed += other.failed;
  reads_skipped += other.reads_skipped;
  lines += other.lines;
}

void TileFilter::begin_pass(const FilterPlanes& planes, uint32_t samples, uint32_t bin_px) {
  assert(planes.count <= planes.word.size() && samples >= 1 && bin_px % kFilterLine_px == 0);
  planes_ = planes;
  samples_ = samples;
  blocks_per_row_ = bin_px / 4;
  counters = {};
  if (!on()) return;
  level_.resize(size_t{bin_px} * bin_px * samples);
  touched_.resize(size_t{bin_px / kFilterLine_px} * (bin_px / kFilterLine_px));
}

void TileFilter::begin_bin(bool holds_far) {
  if (!on()) return;
  std::fill(touched_.begin(), touched_.end(), uint8_t{0});
  if (holds_far)
    std::fill(level_.begin(), level_.end(), uint8_t{0});
  else
    forget();
}

void TileFilter::forget() { std::fill(level_.begin(), level_.end(), planes_.skips_reads ? uint8_t{1} : uint8_t{0}); }

void TileFilter::touch(size_t word) {
  const size_t block = word / (size_t{16} * samples_);
  const size_t line = (block / blocks_per_row_ / 2) * (blocks_per_row_ / 2) + block % blocks_per_row_ / 2;
  assert(line < touched_.size());
  counters.lines += !touched_[line];
  touched_[line] = 1;
}

uint32_t TileFilter::admit(size_t word, const int32_t* now, uint32_t covered, uint32_t& sure) {
  touch(word);
  uint32_t admitted = 0;
  sure = 0;
  const uint32_t lowest = planes_.skips_reads ? 2 : 1;  // the far plane rejects nothing: level 1 only says that depth was written
  for (uint32_t p = 0; p < 4; p++) {
    if (!(covered >> p & 1)) continue;
    const uint32_t level = level_[word + p];
    assert(level <= planes_.count);
    const int32_t depth = planes_.mirrored(now[p]);
    const bool front = depth < planes_.position;
    counters.front += front;
    if (level >= lowest && depth >= planes_.word[planes_.count - level]) {
      // In front of the position and yet rejected, by a nearer plane: it counts as rejected alone.
      counters.front -= front;
      counters.rejected++;
      continue;
    }
    counters.survived += !front;
    admitted |= 1u << p;
    if (planes_.skips_reads && level == 0 && depth < planes_.word[2]) sure |= 1u << p;
  }
  counters.reads_skipped += static_cast<uint32_t>(std::popcount(sure));
  return admitted;
}

void TileFilter::raise(size_t word, const int32_t* now, uint32_t written) {
  assert(on() && word + 4 <= level_.size());
  for (uint32_t p = 0; p < 4; p++) {
    if (!(written >> p & 1)) continue;
    const int32_t depth = planes_.mirrored(now[p]);
    uint8_t level = 0;
    for (uint32_t k = 0; k < planes_.count; k++) level = static_cast<uint8_t>(level + (depth < planes_.word[k]));
    level_[word + p] = std::max(level_[word + p], level);
  }
}

void FilterPosition::adapt_by_leading_ones(const FilterCounters& frame) {
  const uint64_t sum = frame.front + frame.survived;
  if (sum == 0) return;
  const bool too_far = frame.front > frame.survived;
  const uint64_t difference = too_far ? frame.front - frame.survived : frame.survived - frame.front;
  if (difference == 0) return;  // no leading one
  // The difference is 2^-apart of the sum, or up to twice that.
  const int apart = std::bit_width(sum) - std::bit_width(difference);
  const int32_t steps = apart < 32 ? static_cast<int32_t>((kFilterSteps / 4) >> apart) : 0;
  const int32_t moved = static_cast<int32_t>(position) + (too_far ? -steps : steps);
  position = static_cast<uint32_t>(std::clamp<int32_t>(moved, 1, kFilterSteps - 1));
}

void FilterPosition::adapt(const FilterCounters& frame) {
  const double sum = static_cast<double>(frame.front + frame.survived);
  if (sum == 0) return;
  const double difference = (static_cast<double>(frame.front) - static_cast<double>(frame.survived)) / sum;
  double move = -difference * (kFilterSteps / 2.0);
  // Both curves are monotone, so that two frames at different positions show the slope.
  const int32_t way = static_cast<int32_t>(position) - static_cast<int32_t>(last_position);
  const double rise = difference - last_difference;
  if (last_position && way * rise > 0) move = -difference * way / rise;
  constexpr double kMost = kFilterSteps / 4.0;
  int32_t steps = std::abs(difference) < kSmallDifference ? 0 : static_cast<int32_t>(std::nearbyint(std::clamp(move, -kMost, kMost)));
  const double passed = sum / (sum + static_cast<double>(frame.rejected));
  // The crossing is between this position and the last one: the better of the two, for good.
  if (std::abs(steps) == 1 && position + static_cast<uint32_t>(steps) == last_position && passed <= last_passed) steps = 0;
  if (steps == 0) return;  // and what was learned elsewhere is kept
  last_position = position;
  last_difference = difference;
  last_passed = passed;
  position = static_cast<uint32_t>(std::clamp<int32_t>(static_cast<int32_t>(position) + steps, 1, kFilterSteps - 1));
  assert(position >= 1 && position < kFilterSteps);
}

}  // namespace tilegpu::hsr
