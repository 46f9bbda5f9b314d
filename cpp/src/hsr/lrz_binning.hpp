// hsr/lrz_binning.hpp -- low-resolution Z while binning: records in the order of drawing, each tested against what those before it wrote.
//
// In: a record and a rectangle of whole texels that no other thread works on. Out: whether the record can leave nothing there that is seen;
// the buffer, moved by those that may. What is rejected need not be written: it lies behind every texel that it covers, so that the buffer
// is that of all records when the last one was there, whoever came first.
// Source: lrz.rst ("rejects LRZ-tile wide contributions to boost binning performance").
#pragma once

#include "hsr/lrz_pass.hpp"

namespace tilegpu::hsr {

/// Pixels, ends left out.
struct LrzRect {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// The record lies strictly behind each texel of its bounding box in the rectangle. Only of draws that are tested.
bool lrz_rejects(const LrzBinDraw& draw, const records::TriangleRecord& record, const LrzRect& rect);
/// Moves the rectangle's texels that it covers. Only of draws that write.
void lrz_write(const LrzBinDraw& draw, const records::TriangleRecord& record, const LrzRect& rect);

}  // namespace tilegpu::hsr
