// geometry/bin_records.hpp -- which bins a record touches, and the sort of a chunk's records by bin.
// In: records. Out: their numbers by bin.
// While records are made, the binner notes spans (consecutive records in one bin, or one record in consecutive bins of a row);
// finish() turns them by a counting sort into Chunk::entries and Chunk::runs.
#pragma once

#include <cassert>

#include "records/records.hpp"

namespace tilegpu::geometry {

/// Records [record, +record_count) are in each of bins [bin, +bin_count); one of the counts is 1.
struct BinSpan {
  uint32_t record, record_count, bin, bin_count;
};

class Binner {
 public:
  void begin(const records::BinGrid& grid);
  /// Of the next records: where samples lie in a pixel on either axis, in 1/256 px.
  void set_samples(int32_t first_sample, int32_t last_sample) {
    assert(first_sample <= last_sample);
    first_sample_ = first_sample, last_sample_ = last_sample;
  }
  const records::BinGrid& grid() const { return grid_; }
  /// From pixels to columns and to rows of bins.
  uint32_t shift_x() const { return shift_x_; }
  uint32_t shift_y() const { return shift_y_; }
  /// To which the next records go.
  void set_layer(uint32_t layer) {
    assert(layer < grid_.layers);
    first_bin_ = layer * grid_.bins_of_layer();
  }

  /// A record that touches one bin of the layer. Records come in order.
  void add(uint32_t record, uint32_t bin) { add_run(record, 1, bin); }
  /// `count` of them, all in the same bin.
  void add_run(uint32_t record, uint32_t count, uint32_t bin_of_layer) {
    const uint32_t bin = first_bin_ + bin_of_layer;
    // A mesh stays in a bin for long: extend the last span.
    if (bin == last_bin_ && record == next_record_)
      spans_.back().record_count += count;
    else
      spans_.push_back({record, count, bin, 1});
    last_bin_ = bin;
    next_record_ = record + count;
  }
  /// A record whose bounding box touches columns x0..x1 and rows y0..y1 of bins: those that an edge rejects are left out.
  void add_box(uint32_t record, const records::TriangleRecord& triangle, int32_t x0, int32_t x1, int32_t y0, int32_t y1);
  /// A record that touches columns x0..x1 of bins in row y, one call for each of its rows.
  void add_row(uint32_t record, int32_t y, int32_t x0, int32_t x1) {
    assert(0 <= x0 && x0 <= x1 && x1 < static_cast<int32_t>(grid_.columns) && 0 <= y && y < static_cast<int32_t>(grid_.rows));
    last_bin_ = ~0u;
    const uint32_t bin = first_bin_ + static_cast<uint32_t>(y) * grid_.columns + static_cast<uint32_t>(x0);
    spans_.push_back({record, 1, bin, static_cast<uint32_t>(x1 - x0 + 1)});
  }
  /// Of the chunk so far: at least what finish() makes.
  uint64_t most_entries(size_t records) const { return spans_.size() * uint64_t{grid_.columns} + records; }
  /// Returns the records of each tile, added up.
  uint64_t finish(records::Chunk& chunk);

 private:
  uint64_t count_in_tiles() const;
  records::BinGrid grid_;
  uint32_t shift_x_ = 6, shift_y_ = 6;
  int32_t first_sample_ = 128, last_sample_ = 128;
  uint32_t first_bin_ = 0;  // of the layer
  uint32_t last_bin_ = ~0u, next_record_ = 0;
  Arena<BinSpan> spans_;
  Arena<uint32_t> count_;    // one a bin, zero between chunks
  Arena<uint64_t> touched_;  // one bit a bin, zero between chunks
};

}  // namespace tilegpu::geometry
