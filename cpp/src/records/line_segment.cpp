// records/line_segment.cpp -- see line_segment.hpp.
#include "records/line_segment.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "records/records.hpp"

namespace tilegpu::records {

LineRule line_rule(const RasterizationState& state) {
  LineRule rule;
  rule.stippled = state.line_stipple;
  const float width = state.allowed_line_width_px();
  rule.half_px = static_cast<double>(width) * 0.5;
  rule.width_px = std::max(1u, static_cast<uint32_t>(width + 0.5f));
  switch (state.line_mode) {
    case VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT:
      rule.kind = LineKind::bresenham;
      break;
    case VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT:
      rule.kind = LineKind::smooth;
      break;
    case VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT:
      rule.kind = LineKind::rectangle;
      break;
    default:  // lines that are not strict have no stipple
      rule.stippled = false;
  }
  if (rule.stippled) {
    assert(state.line_stipple_factor >= 1 && state.line_stipple_factor <= kMaxLineStippleFactor);
    rule.pattern = state.line_stipple_pattern;
    rule.factor = state.line_stipple_factor;
  }
  return rule;
}

Line line_of(const TriangleRecord& record, const Chunk& chunk, const LineRule& rule) {
  Line line{{record.x[0], record.y[0], record.x[1], record.y[1]}, rule, 0};
  if (!rule.stippled) return line;
  const auto index = static_cast<uint32_t>(&record - chunk.records.data());
  assert(index < chunk.records.size());
  const auto at = std::lower_bound(chunk.line_starts.begin(), chunk.line_starts.end(), index,
                                   [](const LineStart& start, uint32_t wanted) { return start.record < wanted; });
  assert(at != chunk.line_starts.end() && at->record == index);
  line.start = at->start;
  return line;
}

// -- Bresenham

namespace {

// The pixel whose square an end lies in once it is perturbed, and whether its diamond holds it.
struct EndPixel {
  int32_t x, y;
  bool inside;
};
EndPixel pixel_of_end(int32_t x, int32_t y) {
  EndPixel end{(x - 1) >> 8, (y - 1) >> 8, false};
  const int32_t dx = x - (end.x * 256 + 128), dy = y - (end.y * 256 + 128), sum = std::abs(dx) + std::abs(dy);
  end.inside = sum < 128 || (sum == 128 && dx > 0);
  return end;
}

}  // namespace

BresenhamSegment::BresenhamSegment(const LineEnds& ends, uint32_t width_px) {
  assert(width_px >= 1 && width_px <= 64);
  const int32_t dx = ends.bx - ends.ax, dy = ends.by - ends.ay, shift = static_cast<int32_t>(width_px - 1) * 128;
  along_x_ = std::abs(dx) >= std::abs(dy);
  const int32_t ax = ends.ax - (along_x_ ? 0 : shift), ay = ends.ay - (along_x_ ? shift : 0);
  const EndPixel a = pixel_of_end(ax, ay), b = pixel_of_end(ax + dx, ay + dy);
  const int32_t run = along_x_ ? dx : dy, rise = along_x_ ? dy : dx;
  const int32_t from = along_x_ ? ax : ay, to = from + run;
  major_at_ = from, minor_at_ = along_x_ ? ay : ax;
  run_ = std::abs(run), rise_ = run < 0 ? -rise : rise;
  ties_up_ = along_x_ && rise_ > 0;
  if (run == 0) {
    run_ = 1;
    return;
  }
  // Of the pixels whose centre lies between the ends each has a fragment. Before them the first end may leave a diamond that it is in; the
  // last one is left out where the second end stays in its diamond. At a centre itself the perturbed end lies before it.
  step_ = run > 0 ? 1 : -1;
  int32_t last;
  if (run > 0) {
    first_ = (from + 127) >> 8;
    last = (to - 129) >> 8;
  } else {
    first_ = (from - 129) >> 8;
    last = (to + 127) >> 8;
  }
  const int32_t a_major = along_x_ ? a.x : a.y, b_major = along_x_ ? b.x : b.y;
  if (a.inside && a_major == first_ - step_) first_ -= step_;
  if (b.inside && b_major == last) last -= step_;
  const int32_t pixels = (last - first_) * step_ + 1;
  count_ = pixels > 0 ? static_cast<uint32_t>(pixels) : 0;
}

// -- rectangles

void line_side(int32_t dx, int32_t dy, double half_px, int32_t* side_x, int32_t* side_y) {
  *side_x = *side_y = 0;
  if (dx == 0 && dy == 0) return;
  const double length = std::sqrt(static_cast<double>(int64_t{dx} * dx + int64_t{dy} * dy));
  *side_x = static_cast<int32_t>(std::lrint(-static_cast<double>(dy) * half_px * 256.0 / length));
  *side_y = static_cast<int32_t>(std::lrint(static_cast<double>(dx) * half_px * 256.0 / length));
}

LineRectangle::LineRectangle(const Line& line)
    : line_(line), dx_(line.ends.bx - line.ends.ax), dy_(line.ends.by - line.ends.ay), start_px_(line.start * (1.0 / kStippleUnits)) {
  assert(dx_ || dy_);
  length_ = std::sqrt(static_cast<double>(int64_t{dx_} * dx_ + int64_t{dy_} * dy_));
  length_px_ = length_ * (1.0 / 256);
  unit_x_ = dx_ / length_, unit_y_ = dy_ / length_;
  line_side(dx_, dy_, line.rule.half_px, &side_x_, &side_y_);
  const LineEnds& e = line.ends;
  const int64_t to_x[4] = {dx_, 2 * side_x_, -dx_, -2 * side_x_}, to_y[4] = {dy_, 2 * side_y_, -dy_, -2 * side_y_};
  const int64_t at_x[4] = {int64_t{e.ax} - side_x_, int64_t{e.bx} - side_x_, int64_t{e.bx} + side_x_, int64_t{e.ax} + side_x_};
  const int64_t at_y[4] = {int64_t{e.ay} - side_y_, int64_t{e.by} - side_y_, int64_t{e.by} + side_y_, int64_t{e.ay} + side_y_};
  for (int k = 0; k < 4; k++) {
    const bool top_left = to_y[k] < 0 || (to_y[k] == 0 && to_x[k] > 0);
    edges_[k] = {to_y[k] * at_x[k] - to_x[k] * at_y[k] - !top_left, -to_y[k], to_x[k]};
  }
}

LineRectangle::Point LineRectangle::project(int64_t x, int64_t y) const {
  x -= line_.ends.ax, y -= line_.ends.ay;
  const double scale = length_ * 256.0;
  return {static_cast<double>(x * dx_ + y * dy_) / scale, static_cast<double>(y * dx_ - x * dy_) / scale};
}

bool LineRectangle::covers(int32_t x, int32_t y) const {
  int64_t least = 0;
  for (const Edge& edge : edges_) least |= edge.at_origin + edge.per_x * x + edge.per_y * y;
  if (least < 0) return false;
  if (!line_.rule.stippled) return true;
  // Its ends are rounded: a sample may lie a little before the first.
  const double along = std::clamp(project(x, y).along, 0.0, length_px_);
  return line_.rule.draws(static_cast<uint32_t>(start_px_ + along));
}

// Of a square between two places of the segment.
double LineRectangle::part(const Point* corners, double from, double to) const {
  constexpr int kMost = 8;  // each of four edges adds one
  Point buffers[2][kMost + 1];
  Point *polygon = buffers[0], *next = buffers[1];
  int count = 4;
  std::copy_n(corners, 4, polygon);
  const double half = line_.rule.half_px;
  const auto cut = [&](auto&& distance) {
    bool cuts = false;
    for (int i = 0; i < count; i++) cuts |= !(distance(polygon[i]) >= 0);
    if (!cuts) return;
    int kept = 0;
    for (int i = 0; i < count; i++) {
      const Point &p = polygon[i], &q = polygon[i + 1 == count ? 0 : i + 1];
      const double dp = distance(p), dq = distance(q);
      if (dp >= 0 && kept < kMost) next[kept++] = p;
      if ((dp >= 0) != (dq >= 0) && kept < kMost) {
        const double t = dp / (dp - dq);
        next[kept++] = {p.along + (q.along - p.along) * t, p.across + (q.across - p.across) * t};
      }
    }
    std::swap(polygon, next);
    count = kept;
  };
  cut([&](const Point& p) { return p.along - from; });
  cut([&](const Point& p) { return to - p.along; });
  cut([&](const Point& p) { return p.across + half; });
  cut([&](const Point& p) { return half - p.across; });
  double twice = 0;
  for (int i = 1; i + 1 < count; i++) {
    const Point &o = polygon[0], &p = polygon[i], &q = polygon[i + 1];
    twice += (p.along - o.along) * (q.across - o.across) - (q.along - o.along) * (p.across - o.across);
  }
  return twice * 0.5;
}

double LineRectangle::area(int32_t x_px, int32_t y_px) const {
  const Point centre = project(int64_t{x_px} * 256 + 128, int64_t{y_px} * 256 + 128);
  const double half = line_.rule.half_px, reach = (std::fabs(unit_x_) + std::fabs(unit_y_)) * 0.5;  // of the square, along either axis
  if (std::fabs(centre.across) >= half + reach || centre.along <= -reach || centre.along >= length_px_ + reach) return 0;
  const bool inside = std::fabs(centre.across) <= half - reach && centre.along >= reach && centre.along <= length_px_ - reach;
  if (inside && !line_.rule.stippled) return 1;
  const double more = (unit_x_ + unit_y_) * 0.5, less = (unit_x_ - unit_y_) * 0.5;
  const Point corners[4] = {{centre.along - more, centre.across - less},
                            {centre.along + less, centre.across - more},
                            {centre.along + more, centre.across + less},
                            {centre.along - less, centre.across + more}};
  double area = 0;
  if (!line_.rule.stippled) {
    area = part(corners, 0, length_px_);
  } else {
    const double from = std::max(centre.along - reach, 0.0), to = std::min(centre.along + reach, length_px_);
    if (from >= to) return 0;
    const auto first = static_cast<uint32_t>(start_px_ + from), last = static_cast<uint32_t>(start_px_ + to);
    for (uint32_t unit = first; unit <= last; unit++)
      if (line_.rule.draws(unit)) area += part(corners, std::max(from, unit - start_px_), std::min(to, unit + 1 - start_px_));
  }
  return std::clamp(area, 0.0, 1.0);
}

bool LineRectangle::misses(int32_t x_px, int32_t y_px, int32_t size_px) const {
  const int64_t x = int64_t{x_px} * 256 + size_px * 128, y = int64_t{y_px} * 256 + size_px * 128;
  const Point centre = project(x, y);
  const double reach = size_px * 0.75 + 1;  // more than half the diagonal, and what rounding moves the edges
  return std::fabs(centre.across) > line_.rule.half_px + reach || centre.along < -reach || centre.along > length_px_ + reach;
}

// -- both

uint32_t next_start(const Line& line) {
  const LineEnds& e = line.ends;
  if (line.rule.kind == LineKind::bresenham) return (line.start + BresenhamSegment(e, line.rule.width_px).count()) % line.rule.period();
  const int64_t dx = int64_t{e.bx} - e.ax, dy = int64_t{e.by} - e.ay;
  const double length = std::sqrt(static_cast<double>(dx * dx + dy * dy));
  const uint64_t units = static_cast<uint64_t>(std::llrint(length * (kStippleUnits / 256.0)));
  return static_cast<uint32_t>((line.start + units) % (uint64_t{line.rule.period()} * kStippleUnits));
}

LineBox box_of(const Line& line) {
  const LineEnds& e = line.ends;
  if (line.rule.kind == LineKind::bresenham) {
    const BresenhamSegment segment(e, line.rule.width_px);
    if (segment.count() == 0) return {};
    const int32_t low = segment.lowest_major(), high = segment.highest_major();
    const int32_t at_low = segment.minor(low), at_high = segment.minor(high);
    const int32_t least = std::min(at_low, at_high), most = std::max(at_low, at_high) + static_cast<int32_t>(line.rule.width_px) - 1;
    return segment.along_x() ? LineBox{low, least, high, most} : LineBox{least, low, most, high};
  }
  int32_t side_x, side_y;
  line_side(e.bx - e.ax, e.by - e.ay, line.rule.half_px, &side_x, &side_y);
  if (e.ax == e.bx && e.ay == e.by) return {};
  // A unit more than the corners, which are rounded.
  const int32_t reach_x = std::abs(side_x) + 1, reach_y = std::abs(side_y) + 1;
  return {(std::min(e.ax, e.bx) - reach_x) >> 8, (std::min(e.ay, e.by) - reach_y) >> 8, (std::max(e.ax, e.bx) + reach_x) >> 8,
          (std::max(e.ay, e.by) + reach_y) >> 8};
}

uint64_t cover_line_quad(const Line& line, int32_t x_px, int32_t y_px, uint32_t samples, const vk::SampleLocation* at) {
  assert(samples >= 1 && samples <= 16 && at);
  uint64_t coverage = 0;
  const uint64_t all = (samples == 16 ? ~uint64_t{0} : (uint64_t{1} << 4 * samples) - 1) & 0x1111111111111111ull;
  if (line.rule.kind == LineKind::bresenham) {
    const BresenhamSegment segment(line.ends, line.rule.width_px);
    for (int32_t p = 0; p < 4; p++) {
      const int32_t x = x_px + (p & 1), y = y_px + (p >> 1), major = segment.along_x() ? x : y, minor = segment.along_x() ? y : x;
      if (!segment.count() || major < segment.lowest_major() || major > segment.highest_major()) continue;
      const int32_t above = minor - segment.minor(major);
      if (above < 0 || above >= static_cast<int32_t>(line.rule.width_px)) continue;
      if (line.rule.draws(line.start + segment.before(major))) coverage |= all << p;
    }
    return coverage;
  }
  if (line.ends.ax == line.ends.bx && line.ends.ay == line.ends.by) return 0;
  const LineRectangle rectangle(line);
  for (int32_t p = 0; p < 4; p++) {
    const int32_t x = x_px + (p & 1), y = y_px + (p >> 1);
    if (line.rule.kind == LineKind::smooth) {
      if (rectangle.area(x, y) >= kLeastArea) coverage |= all << p;
      continue;
    }
    for (uint32_t s = 0; s < samples; s++)
      coverage |= static_cast<uint64_t>(rectangle.covers(x * 256 + at[s].x * 16, y * 256 + at[s].y * 16))
                  << (4 * s + static_cast<uint32_t>(p));
  }
  return coverage;
}

}  // namespace tilegpu::records
