// geometry/bin_records.cpp -- stage: binning, end of the geometry phase. In: records and their bounding boxes. Out: for each bin the
// chunk's records there, in order. Source: Pineda, "A Parallel Algorithm for Polygon Rasterization" (edge functions); bins are
// rejected by the corner that lies farthest inside each edge.
#include "geometry/bin_records.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tilegpu::geometry {

using records::BinRun;
using records::Chunk;
using records::TriangleRecord;

void Binner::begin(const records::BinGrid& grid) {
  assert(std::has_single_bit(grid.width_px) && std::has_single_bit(grid.height_px));
  grid_ = grid;
  shift_x_ = static_cast<uint32_t>(std::countr_zero(grid.width_px));
  shift_y_ = static_cast<uint32_t>(std::countr_zero(grid.height_px));
  first_bin_ = 0;
  last_bin_ = ~0u;
  spans_.clear();
  const size_t bins = grid.bins();
  if (count_.size() < bins) {
    count_.resize(bins);
    std::memset(count_.data(), 0, bins * sizeof(uint32_t));
    touched_.resize((bins + 63) / 64);
    std::memset(touched_.data(), 0, touched_.size() * sizeof(uint64_t));
  }
}

void Binner::add_box(uint32_t record, const TriangleRecord& t, int32_t x0, int32_t x1, int32_t y0, int32_t y1) {
  assert(0 <= x0 && x0 <= x1 && x1 < static_cast<int32_t>(grid_.columns));
  assert(0 <= y0 && y0 <= y1 && y1 < static_cast<int32_t>(grid_.rows));
  last_bin_ = ~0u;
  const uint32_t columns = grid_.columns;
  if (x0 == x1 || y0 == y1) {
    // The triangle passes through every row (or column) of its box.
    if (y0 == y1) {
      spans_.push_back(
          {record, 1, first_bin_ + static_cast<uint32_t>(y0) * columns + static_cast<uint32_t>(x0), static_cast<uint32_t>(x1 - x0 + 1)});
    } else {
      for (int32_t y = y0; y <= y1; y++)
        spans_.push_back({record, 1, first_bin_ + static_cast<uint32_t>(y) * columns + static_cast<uint32_t>(x0), 1});
    }
    return;
  }
  // Edge function of a -> b at the sample point of a bin that lies farthest inside; a step of one bin adds a constant.
  const int64_t across = int64_t{grid_.width_px} << records::kSubpixelBits, down = int64_t{grid_.height_px} << records::kSubpixelBits;
  const int64_t low_x = (int64_t{grid_.origin_x_px} << 8) + x0 * across + first_sample_;
  const int64_t low_y = (int64_t{grid_.origin_y_px} << 8) + y0 * down + first_sample_;
  const int64_t beyond = last_sample_ - first_sample_ - 256;  // from the first sample point of the next bin to the last one of this
  int64_t row[3], step_x[3], step_y[3];
  for (int i = 0; i < 3; i++) {
    const int j = i == 2 ? 0 : i + 1;
    const int64_t dx = int64_t{t.x[j]} - t.x[i], dy = int64_t{t.y[j]} - t.y[i];
    const int64_t px = low_x + (dy < 0 ? across + beyond : 0), py = low_y + (dx > 0 ? down + beyond : 0);
    row[i] = dx * (py - t.y[i]) - dy * (px - t.x[i]);
    step_x[i] = -dy * across;
    step_y[i] = dx * down;
  }
  for (int32_t y = y0; y <= y1; y++) {
    int64_t e0 = row[0], e1 = row[1], e2 = row[2];
    const auto inside = [&] { return (e0 | e1 | e2) >= 0; };
    const auto advance = [&] { e0 += step_x[0], e1 += step_x[1], e2 += step_x[2]; };
    // Three half-planes cut a row of bins in one interval.
    int32_t first = x0;
    while (first <= x1 && !inside()) first++, advance();
    int32_t end = first;
    while (end <= x1 && inside()) end++, advance();
    if (end > first)
      spans_.push_back(
          {record, 1, first_bin_ + static_cast<uint32_t>(y) * columns + static_cast<uint32_t>(first), static_cast<uint32_t>(end - first)});
    for (int i = 0; i < 3; i++) row[i] += step_y[i];
  }
}

// Where tiles are several bins: a record is once in each that one of its bins lies in. Its spans follow one another, row by row; a sliver
// may leave bins out between two rows, and never comes back to them.
uint64_t Binner::count_in_tiles() const {
  uint64_t total = 0;
  uint32_t record = ~0u, row = 0, first = 0, last = 0;
  for (const BinSpan& span : spans_) {
    total += span.record_count;
    if (span.record_count > 1) continue;
    const uint32_t in_layer = span.bin % grid_.bins_of_layer(), column = in_layer % grid_.columns;
    const uint32_t now = in_layer / grid_.columns / grid_.tile_down, low = column / grid_.tile_across,
                   high = (column + span.bin_count - 1) / grid_.tile_across;
    if (span.record == record && now == row) {
      const uint32_t both_first = std::max(first, low), both_end = std::min(last, high) + 1;
      total += high - low + 1;
      total -= (both_end > both_first ? both_end - both_first : 0) + 1;  // had already, and the span's one from above
      first = std::min(first, low), last = std::max(last, high);
    } else {
      record = span.record, row = now, first = low, last = high;
      total += last - first;
    }
  }
  return total;
}

uint64_t Binner::finish(Chunk& chunk) {
  chunk.runs.clear();
  const uint64_t in_tiles = grid_.tiles_are_bins() ? 0 : count_in_tiles();
  uint32_t* count = count_.data();
  uint64_t* touched = touched_.data();
  uint32_t low = ~0u, high = 0;
  for (const BinSpan& span : spans_) {
    assert(span.bin + span.bin_count <= count_.size());
    for (uint32_t bin = span.bin; bin < span.bin + span.bin_count; bin++) {
      if (count[bin] == 0) touched[bin >> 6] |= 1ull << (bin & 63);
      count[bin] += span.record_count;
    }
    low = span.bin < low ? span.bin : low;
    high = span.bin + span.bin_count > high ? span.bin + span.bin_count : high;
  }
  uint32_t total = 0;
  if (low < high) {
    for (uint32_t word = low >> 6; word <= (high - 1) >> 6; word++) {
      for (uint64_t bits = touched[word]; bits; bits &= bits - 1) {
        const uint32_t bin = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        chunk.runs.push_back({bin, total, count[bin]});
        const uint32_t here = count[bin];
        count[bin] = total;
        total += here;
      }
      touched[word] = 0;
    }
  }
  chunk.entries.resize(total);
  uint32_t* entries = chunk.entries.data();
  for (const BinSpan& span : spans_) {
    if (span.bin_count == 1) {
      const uint32_t at = count[span.bin];
      count[span.bin] = at + span.record_count;
      for (uint32_t i = 0; i < span.record_count; i++) entries[at + i] = span.record + i;
    } else {
      for (uint32_t bin = span.bin; bin < span.bin + span.bin_count; bin++) entries[count[bin]++] = span.record;
    }
  }
  for (const BinRun& run : chunk.runs) count[run.bin] = 0;
  spans_.clear();
  last_bin_ = ~0u;
  return grid_.tiles_are_bins() ? total : in_tiles;
}

}  // namespace tilegpu::geometry
