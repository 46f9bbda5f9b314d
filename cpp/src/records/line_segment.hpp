// records/line_segment.hpp -- what of a line segment is drawn, by Vulkan's rules for lines: Bresenham's (diamond exit), rectangles, smooth
// rectangles, each with a stipple. Pure functions of the ends in framebuffer coordinates, 8 subpixel bits.
// In: a segment, the draw's rule, where the stipple begins. Out: fragments in order; samples; areas of pixels; where the next segment
// begins.
//
// Bresenham: all in integers, the specification's perturbation (x - e, y - e^2) included, by the side to which it decides a tie.
// Rectangles: edges in integers, half the width across them rounded to 1/256 px; lengths and areas in double, where only IEEE's exact
// operations occur. Source: Vulkan specification, "Bresenham Line Segment Rasterization", "Basic Line Segment Rasterization", "Line
// Stipple", "Smooth Lines".
#pragma once

#include <cstdint>

#include "tilegpu/state.hpp"
#include "vk/sample_locations.hpp"

namespace tilegpu::records {

struct Chunk;
struct TriangleRecord;

enum class LineKind : uint8_t {
  triangles,  // two records, as polygons are
  bresenham,
  rectangle,  // by samples
  smooth,     // by areas
};

/// How a draw's lines become fragments.
struct LineRule {
  LineKind kind = LineKind::triangles;
  bool stippled = false;
  uint16_t pattern = 0xffff;
  uint32_t factor = 1;    // fragments or pixels of length for each bit of the pattern
  uint32_t width_px = 1;  // Bresenham
  double half_px = 0.5;   // else

  bool draws(uint32_t counter) const { return pattern >> (counter / factor & 15) & 1; }
  uint32_t period() const { return 16 * factor; }

  bool operator==(const LineRule&) const = default;
};
/// Of lines with this state, by any topology or polygon mode.
LineRule line_rule(const RasterizationState& state);

struct LineEnds {
  int32_t ax, ay, bx, by;  // 1/256 px, within +-32768 px

  bool operator==(const LineEnds&) const = default;
};

/// Of the running length of rectangles: where a stipple begins and ends.
inline constexpr uint32_t kStippleUnits = 1u << 20;  // a pixel

/// A segment with all that its coverage depends on. `start`: of the stipple, counted fragments or length in kStippleUnits, within a period.
struct Line {
  LineEnds ends;
  LineRule rule;
  uint32_t start = 0;
};
/// Of a record that is a segment; its start is looked up in the chunk.
Line line_of(const TriangleRecord& record, const Chunk& chunk, const LineRule& rule);
/// Where the next segment of the strip begins.
uint32_t next_start(const Line& line);

/// Pixels that may be touched, inclusive; none: x1 < x0.
struct LineBox {
  int32_t x0 = 0, y0 = 0, x1 = -1, y1 = -1;
};
LineBox box_of(const Line& line);

/// The fragments of a segment in order, one for each pixel of the major axis: pixels `first`, `first + step`, ... `count` of them.
class BresenhamSegment {
 public:
  BresenhamSegment(const LineEnds& ends, uint32_t width_px);
  bool along_x() const { return along_x_; }
  uint32_t count() const { return count_; }
  int32_t first() const { return first_; }
  int32_t step() const { return step_; }
  int32_t lowest_major() const { return step_ > 0 ? first_ : first_ - static_cast<int32_t>(count_) + 1; }
  int32_t highest_major() const { return lowest_major() + static_cast<int32_t>(count_) - 1; }
  /// How many fragments lie before the one at `major`.
  uint32_t before(int32_t major) const { return static_cast<uint32_t>(step_ > 0 ? major - first_ : first_ - major); }
  /// The least of the `width_px` pixels of the minor axis.
  int32_t minor(int32_t major) const {
    const int64_t at = minor_at_ * run_ + (int64_t{major} * 256 + 128 - major_at_) * rise_, whole = run_ * 256;
    const int64_t floor = at >= 0 ? at / whole : -((-at + whole - 1) / whole);
    // On the border of two pixels the perturbation decides.
    return static_cast<int32_t>(ties_up_ || floor * whole != at ? floor : floor - 1);
  }

 private:
  int64_t major_at_, minor_at_;  // where it starts, moved by half the width
  int64_t run_, rise_;           // run is positive
  int32_t first_ = 0, step_ = 1;
  uint32_t count_ = 0;
  bool along_x_, ties_up_;
};

/// The rectangle round a segment. Its length is not 0.
class LineRectangle {
 public:
  LineRectangle() = default;
  explicit LineRectangle(const Line& line);
  /// Half the width, across the segment to its positive side; 1/256 px.
  int32_t side_x() const { return side_x_; }
  int32_t side_y() const { return side_y_; }
  double length_px() const { return length_px_; }
  /// A sample at (x, y), 1/256 px; the stipple too.
  bool covers(int32_t x, int32_t y) const;
  /// How much of a pixel is covered; the stipple too.
  double area(int32_t x_px, int32_t y_px) const;
  /// Nothing of the square is covered; false: something may be.
  bool misses(int32_t x_px, int32_t y_px, int32_t size_px) const;

 private:
  struct Point {
    double along, across;  // px, from the first end
  };
  struct Edge {
    int64_t at_origin, per_x, per_y;  // not negative inside, the top-left rule included
  };
  Point project(int64_t x, int64_t y) const;
  double part(const Point* corners, double from, double to) const;

  Line line_;
  int32_t dx_ = 0, dy_ = 0, side_x_ = 0, side_y_ = 0;
  double length_ = 0, length_px_ = 0, start_px_ = 0;
  double unit_x_ = 0, unit_y_ = 0;  // its direction
  Edge edges_[4] = {};
};

/// Half the width across a segment of this direction, 1/256 px; (0, 0): there is none.
void line_side(int32_t dx, int32_t dy, double half_px, int32_t* side_x, int32_t* side_y);

/// Area below which a smooth line leaves a pixel alone.
inline constexpr double kLeastArea = 0x1p-16;

/// Covered samples of one quad (framebuffer pixel of its corner): bit 4 * sample + pixel. `at`: of the samples.
uint64_t cover_line_quad(const Line& line, int32_t x_px, int32_t y_px, uint32_t samples, const vk::SampleLocation* at);

}  // namespace tilegpu::records
