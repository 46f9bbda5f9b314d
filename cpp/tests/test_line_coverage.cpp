// test_line_coverage.cpp -- lines by Bresenham's rule, rectangles, smooth ones, stipples: against oracles that look at each pixel by
// itself. The diamond rule is evaluated for every pixel with exact fractions: the specification's own formula, its e being 2^-20 of a
// subpixel.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "records/coverage_rule.hpp"
#include "records/records.hpp"
#include "tile/coverage/line_coverage.hpp"

using namespace tilegpu;
using records::Line;
using records::LineEnds;
using records::LineKind;
using records::LineRule;

namespace {

using Wide = __int128;
using Pixel = std::pair<int32_t, int32_t>;

// Coordinates in 2^-40 of a subpixel.
constexpr int kFine = 40, kEpsilon = 20;

struct FinePoint {
  Wide x, y;
};
FinePoint perturbed(int32_t x, int32_t y) { return {(Wide{x} << kFine) - (Wide{1} << kEpsilon), (Wide{y} << kFine) - 1}; }

struct Fraction {
  Wide over, under;  // under > 0
};
bool less(const Fraction& a, const Fraction& b) { return a.over * b.under < b.over * a.under; }

// |x - xf| + |y - yf| < 1/2 as four half-planes; of each, the distance to its border: negative inside.
void distances(const FinePoint& p, Pixel f, Wide out[4]) {
  const Wide x = p.x - (Wide{f.first * 256 + 128} << kFine), y = p.y - (Wide{f.second * 256 + 128} << kFine);
  const Wide half = Wide{128} << kFine;
  out[0] = x + y - half, out[1] = x - y - half, out[2] = -x + y - half, out[3] = -x - y - half;
}

bool diamond_rule(const FinePoint& a, const FinePoint& b, Pixel f) {
  Wide at_a[4], at_b[4];
  distances(a, f, at_a), distances(b, f, at_b);
  if (at_b[0] < 0 && at_b[1] < 0 && at_b[2] < 0 && at_b[3] < 0) return false;
  Fraction low{0, 1}, high{1, 1};
  bool low_open = false, high_open = false;
  for (int k = 0; k < 4; k++) {  // at_a + t (at_b - at_a) < 0
    const Wide step = at_b[k] - at_a[k];
    if (step == 0) {
      if (at_a[k] >= 0) return false;
      continue;
    }
    const Fraction t{step > 0 ? -at_a[k] : at_a[k], step > 0 ? step : -step};
    if (step > 0) {
      if (!less(high, t)) high = t, high_open = true;
    } else {
      if (!less(t, low)) low = t, low_open = true;
    }
  }
  return less(low, high) || (!less(high, low) && !low_open && !high_open);
}

// All pixels, with the number of each in order.
std::map<Pixel, uint32_t> oracle(LineEnds e, uint32_t width) {
  const int32_t dx = e.bx - e.ax, dy = e.by - e.ay, shift = static_cast<int32_t>(width - 1) * 128;
  const bool along_x = std::abs(dx) >= std::abs(dy);
  (along_x ? e.ay : e.ax) -= shift;
  (along_x ? e.by : e.bx) -= shift;
  const FinePoint a = perturbed(e.ax, e.ay), b = perturbed(e.bx, e.by);
  std::vector<Pixel> thin;
  for (int32_t y = (std::min(e.ay, e.by) >> 8) - 2; y <= (std::max(e.ay, e.by) >> 8) + 2; y++)
    for (int32_t x = (std::min(e.ax, e.bx) >> 8) - 2; x <= (std::max(e.ax, e.bx) >> 8) + 2; x++)
      if (diamond_rule(a, b, {x, y})) thin.push_back({x, y});
  std::sort(thin.begin(), thin.end(), [&](const Pixel& p, const Pixel& q) {
    const int32_t m = along_x ? p.first - q.first : p.second - q.second;
    return (along_x ? dx : dy) > 0 ? m < 0 : m > 0;
  });
  std::map<Pixel, uint32_t> all;
  for (uint32_t i = 0; i < thin.size(); i++)
    for (uint32_t k = 0; k < width; k++) {
      Pixel p = thin[i];
      (along_x ? p.second : p.first) += static_cast<int32_t>(k);
      CHECK(all.emplace(p, i).second);
    }
  return all;
}

constexpr int32_t kBin = 32;

struct Recorder {
  uint32_t samples;
  int32_t origin_x, origin_y;
  std::map<std::pair<Pixel, uint32_t>, int> hits;
  void block(int32_t block_x, int32_t block_y, const uint16_t* masks) {
    CHECK(block_x >= 0 && block_y >= 0 && block_x < kBin / 4 && block_y < kBin / 4);
    uint32_t any = 0;
    for (uint32_t s = 0; s < samples; s++) any |= masks[s];
    CHECK(any);
    for (uint32_t s = 0; s < samples; s++)
      for (uint32_t p = 0; p < 16; p++)
        if (masks[s] >> p & 1)
          hits[{{origin_x + block_x * 4 + tile::detail::pixel_x(p), origin_y + block_y * 4 + tile::detail::pixel_y(p)}, s}]++;
  }
};

// All bins round the line; each sample once. `rect` cuts every bin.
std::map<std::pair<Pixel, uint32_t>, int> cover(const Line& line, uint32_t samples) {
  std::map<std::pair<Pixel, uint32_t>, int> all;
  const records::LineBox box = records::box_of(line);
  const auto floor_bin = [](int32_t v) { return v >= 0 ? v / kBin * kBin : -((-v + kBin - 1) / kBin) * kBin; };
  for (int32_t y = floor_bin(box.y0); y <= box.y1; y += kBin)
    for (int32_t x = floor_bin(box.x0); x <= box.x1; x += kBin)
      for (const tile::PixelRect& part :
           {tile::PixelRect{0, 0, 13, kBin}, tile::PixelRect{13, 0, kBin, 7}, tile::PixelRect{13, 7, kBin, kBin}}) {
        Recorder recorder{samples, x, y, {}};
        tile::cover_line(line, x, y, part, samples, vk::sample_locations(samples), recorder);
        for (const auto& [at, count] : recorder.hits) {
          all[at] += count;
          const int32_t in_x = at.first.first - x, in_y = at.first.second - y;
          CHECK(in_x >= part.x0 && in_x < part.x1 && in_y >= part.y0 && in_y < part.y1);
        }
      }
  for (const auto& [at, count] : all) CHECK(count == 1);
  // Quads say the same.
  if (box.x1 >= box.x0 && box.x1 - box.x0 < 64 && box.y1 - box.y0 < 64)
    for (int32_t y = (box.y0 & ~1) - 2; y <= box.y1 + 2; y += 2)
      for (int32_t x = (box.x0 & ~1) - 2; x <= box.x1 + 2; x += 2) {
        const uint64_t quad = records::cover_line_quad(line, x, y, samples, vk::sample_locations(samples));
        for (uint32_t s = 0; s < samples; s++)
          for (int32_t p = 0; p < 4; p++)
            CHECK((quad >> (4 * s + static_cast<uint32_t>(p)) & 1) == all.count({{x + (p & 1), y + (p >> 1)}, s}));
      }
  return all;
}

Line bresenham(LineEnds ends, uint32_t width) {
  Line line{ends, {}, 0};
  line.rule.kind = LineKind::bresenham;
  line.rule.width_px = width;
  return line;
}

void check_bresenham(const LineEnds& e, uint32_t width, bool whole) {
  const Line line = bresenham(e, width);
  const std::map<Pixel, uint32_t> expected = oracle(e, width);
  const records::BresenhamSegment segment(e, width);
  std::map<Pixel, uint32_t> got;
  for (uint32_t i = 0; i < segment.count(); i++) {
    const int32_t major = segment.first() + segment.step() * static_cast<int32_t>(i);
    CHECK(segment.before(major) == i);
    for (int32_t k = 0; k < static_cast<int32_t>(width); k++) {
      const int32_t minor = segment.minor(major) + k;
      got[segment.along_x() ? Pixel{major, minor} : Pixel{minor, major}] = i;
    }
  }
  if (!(got == expected)) {
    test::failed("got == expected", __FILE__, __LINE__, "(%d, %d) to (%d, %d), width %u: %zu fragments, not %zu", e.ax, e.ay, e.bx, e.by,
                 width, got.size(), expected.size());
    return;
  }
  test::passed();
  if (!whole) return;
  const auto hits = cover(line, 2);
  CHECK(hits.size() == 2 * expected.size());
  for (const auto& [pixel, number] : expected) CHECK(hits.count({pixel, 0}) && hits.count({pixel, 1}));
  // A stipple that begins anywhere draws those fragments whose bit is set.
  Line stippled = line;
  stippled.rule.stippled = true;
  stippled.rule.pattern = 0x9d31;
  stippled.rule.factor = 3;
  stippled.start = 29;
  const auto some = cover(stippled, 1);
  for (const auto& [pixel, number] : expected) CHECK(some.count({pixel, 0}) == (0x9d31u >> ((29 + number) / 3 % 16) & 1));
  CHECK(records::next_start(stippled) == (29 + segment.count()) % 48);
}

// Ends where the rule has its ties: all places of a coarse grid, and next to them.
void adversarial_ends() {
  const int32_t coarse[] = {0, 64, 128, 192, 256, 320, 384, 448, 512};
  for (int32_t ax : {0, 64, 128, 192})
    for (int32_t ay : {0, 64, 128, 192})
      for (int32_t bx : coarse)
        for (int32_t by : coarse)
          for (int32_t nudge = -1; nudge <= 1; nudge++) {
            check_bresenham({ax, ay, bx + nudge, by}, 1, nudge == 0);
            check_bresenham({bx, by, ax, ay + nudge}, 1, false);
            check_bresenham({ax + nudge, -ay, bx, -by}, 2, false);
            check_bresenham({-bx, by + nudge, -ax, ay}, 3, false);
          }
}

void random_ends() {
  std::mt19937 rng(5);
  const auto between = [&](int32_t a, int32_t b) { return a + static_cast<int32_t>(rng() % static_cast<uint32_t>(b - a + 1)); };
  for (int i = 0; i < 3000; i++) {
    const int32_t reach = i % 5 == 0 ? 200 : 2500, grid = 1 << (i % 9);
    LineEnds e{between(-reach, reach) / grid * grid, between(-reach, reach) / grid * grid, between(-reach, reach) / grid * grid,
               between(-reach, reach) / grid * grid};
    if (i % 7 == 0) e.by = e.ay;
    if (i % 7 == 1) e.bx = e.ax;
    if (i % 7 == 2) e.by = e.ay + (e.bx - e.ax);
    if (i % 7 == 3) e.by = e.ay - (e.bx - e.ax);
    check_bresenham(e, i % 3 == 0 ? static_cast<uint32_t>(between(1, 64)) : 1, i % 8 == 0);
  }
  for (int i = 0; i < 100; i++) {
    const LineEnds far{between(-8388608, 8388608), between(-8388608, 8388608), between(-8388608, 8388608), between(-8388608, 8388608)};
    const records::BresenhamSegment segment(far, 64);
    const int32_t longest = std::max(std::abs(far.bx - far.ax), std::abs(far.by - far.ay));
    CHECK(std::abs(static_cast<int64_t>(segment.count()) * 256 - longest) <= 512);
    for (int k = 0; k < 50 && segment.count(); k++) {  // the centre's distance to the line, along the minor axis: half a pixel at most
      const int32_t major = segment.lowest_major() + between(0, static_cast<int32_t>(segment.count()) - 1);
      const double from = segment.along_x() ? far.ax : far.ay, dm = segment.along_x() ? far.bx - far.ax : far.by - far.ay;
      const double start = (segment.along_x() ? far.ay : far.ax) - 63 * 128, dn = segment.along_x() ? far.by - far.ay : far.bx - far.ax;
      const double exact = start + (major * 256.0 + 128 - from) * dn / dm;
      CHECK(std::fabs(segment.minor(major) * 256.0 + 128 - exact) <= 128.001);
    }
  }
}

// Segments that share their ends, the same axis and direction: no pixel twice, and one in each step of the axis.
void joined_strips() {
  std::mt19937 rng(9);
  for (int i = 0; i < 400; i++) {
    const bool along_x = i & 1, back = i & 2;
    const int32_t grid = i % 3 == 0 ? 128 : i % 3 == 1 ? 64 : 1;
    int32_t x = 0, y = 0;
    std::set<Pixel> drawn;
    std::set<int32_t> steps;
    for (int k = 0; k < 12; k++) {
      const int32_t run = static_cast<int32_t>(rng() % 900) / grid * grid;
      const int32_t rise = run ? (static_cast<int32_t>(rng() % static_cast<uint32_t>(2 * run + 1)) - run) / grid * grid : 0;
      if (run == 0 || (!along_x && std::abs(rise) == run)) continue;
      const int32_t signed_run = back ? -run : run;
      const LineEnds e{x, y, x + (along_x ? signed_run : rise), y + (along_x ? rise : signed_run)};
      const records::BresenhamSegment segment(e, 1);
      CHECK(segment.along_x() == along_x);
      for (uint32_t f = 0; f < segment.count(); f++) {
        const int32_t major = segment.first() + segment.step() * static_cast<int32_t>(f);
        CHECK(drawn.insert({major, segment.minor(major)}).second);
        CHECK(steps.insert(major).second);
      }
      x = e.bx, y = e.by;
    }
    if (!steps.empty()) CHECK(*steps.rbegin() - *steps.begin() + 1 == static_cast<int32_t>(steps.size()));
  }
}

Line rectangle(const LineEnds& ends, double width, LineKind kind) {
  Line line{ends, {}, 0};
  line.rule.kind = kind;
  line.rule.half_px = width / 2;
  return line;
}

// The samples of the two triangles that a plain rectangle is drawn as; the distance of each along the segment decides the stipple.
void rectangles() {
  std::mt19937 rng(21);
  const auto between = [&](int32_t a, int32_t b) { return a + static_cast<int32_t>(rng() % static_cast<uint32_t>(b - a + 1)); };
  uint64_t covered = 0, left_out = 0;
  for (int i = 0; i < 300; i++) {
    LineEnds e{between(-3000, 3000), between(-3000, 3000), between(-3000, 3000), between(-3000, 3000)};
    if (i % 6 == 0) e.by = e.ay;
    if (i % 6 == 1) e.bx = e.ax;
    if (e.ax == e.bx && e.ay == e.by) continue;
    const uint32_t samples = 1u << i % 5;
    const double width = i % 4 == 0 ? 1 : between(1, 3000) / 256.0;
    Line line = rectangle(e, width, LineKind::rectangle);
    const records::LineRectangle shape(line);
    const int32_t nx = shape.side_x(), ny = shape.side_y();
    const double length = std::hypot(e.bx - e.ax, e.by - e.ay);
    CHECK(std::fabs(std::hypot(nx, ny) - width * 128) < 0.75);
    CHECK(std::fabs((double(nx) * (e.bx - e.ax) + double(ny) * (e.by - e.ay)) / length) < 0.75);
    records::TriangleRecord two[2] = {};
    const int32_t x[4] = {e.ax - nx, e.bx - nx, e.bx + nx, e.ax + nx}, y[4] = {e.ay - ny, e.by - ny, e.by + ny, e.ay + ny};
    for (int t = 0; t < 2; t++)
      for (int k = 0; k < 3; k++) {
        const int corner = k == 0 ? 0 : k + t;
        two[t].x[k] = x[corner], two[t].y[k] = y[corner];
      }
    line.rule.stippled = true;
    line.rule.pattern = 0x5b2f;
    line.rule.factor = 1 + static_cast<uint32_t>(i % 3);
    line.start = static_cast<uint32_t>(between(0, static_cast<int32_t>(line.rule.factor * 16 * records::kStippleUnits - 1)));
    Line plain = line;
    plain.rule.stippled = false;
    const auto whole = cover(plain, samples), part = cover(line, samples);
    const records::LineBox box = records::box_of(line);
    for (int32_t py = (box.y0 & ~1) - 2; py <= box.y1 + 2; py += 2)
      for (int32_t px = (box.x0 & ~1) - 2; px <= box.x1 + 2; px += 2) {
        const uint64_t first = records::cover_quad(two[0], {}, px, py, samples), second = records::cover_quad(two[1], {}, px, py, samples);
        CHECK(!(first & second));
        for (uint32_t s = 0; s < samples; s++)
          for (int32_t p = 0; p < 4; p++) {
            const Pixel at{px + (p & 1), py + (p >> 1)};
            const bool inside = (first | second) >> (4 * s + static_cast<uint32_t>(p)) & 1;
            CHECK(inside == (whole.count({at, s}) == 1));
            if (!inside) {
              CHECK(!part.count({at, s}));
              continue;
            }
            const vk::SampleLocation l = vk::sample_locations(samples)[s];
            const long double sx = at.first * 256 + l.x * 16 - e.ax, sy = at.second * 256 + l.y * 16 - e.ay;
            const long double along = (sx * (e.bx - e.ax) + sy * (e.by - e.ay)) / length / 256;
            const long double counter = line.start / static_cast<long double>(records::kStippleUnits) + along;
            if (along < 0 || along * 256 > length || std::fabs(counter - std::round(counter)) < 1e-6L) continue;
            const bool drawn = 0x5b2fu >> (static_cast<uint32_t>(counter) / line.rule.factor % 16) & 1;
            CHECK(drawn == (part.count({at, s}) == 1));
            covered++, left_out += !drawn;
          }
      }
  }
  std::printf("%llu samples in rectangles, %llu of them left out by stipples\n", static_cast<unsigned long long>(covered),
              static_cast<unsigned long long>(left_out));
  CHECK(covered > 50000 && left_out > 10000);
}

// Areas by counting 64 by 64 points of each pixel.
void areas() {
  std::mt19937 rng(33);
  const auto between = [&](int32_t a, int32_t b) { return a + static_cast<int32_t>(rng() % static_cast<uint32_t>(b - a + 1)); };
  double worst = 0;
  for (int i = 0; i < 60; i++) {
    LineEnds e{between(-1500, 1500), between(-1500, 1500), between(-1500, 1500), between(-1500, 1500)};
    if (i % 6 == 0) e.by = e.ay;
    if (e.ax == e.bx && e.ay == e.by) continue;
    Line line = rectangle(e, i % 2 ? 1 : between(64, 2000) / 256.0, LineKind::smooth);
    if (i % 3 == 0) line.rule.stippled = true, line.rule.pattern = 0x36a5, line.start = static_cast<uint32_t>(between(0, 15 << 20));
    const records::LineRectangle shape(line);
    const double dx = e.bx - e.ax, dy = e.by - e.ay, length = std::hypot(dx, dy);
    const auto hits = cover(line, 4);
    double sum = 0;
    const records::LineBox box = records::box_of(line);
    for (int32_t py = box.y0 - 1; py <= box.y1 + 1; py++)
      for (int32_t px = box.x0 - 1; px <= box.x1 + 1; px++) {
        int inside = 0;
        for (int k = 0; k < 64 * 64; k++) {
          const double x = px * 256 + (k % 64) * 4 + 2 - e.ax, y = py * 256 + (k / 64) * 4 + 2 - e.ay;
          const double along = (x * dx + y * dy) / length, across = (y * dx - x * dy) / length;
          if (along < 0 || along > length || std::fabs(across) > line.rule.half_px * 256) continue;
          if (line.rule.stippled && !(0x36a5u >> (static_cast<uint32_t>(line.start / 1048576.0 + along / 256) % 16) & 1)) continue;
          inside++;
        }
        const double got = shape.area(px, py), expected = inside / 4096.0;
        worst = std::max(worst, std::fabs(got - expected));
        for (uint32_t s = 0; s < 4; s++) CHECK((got >= records::kLeastArea) == (hits.count({{px, py}, s}) == 1));
        sum += got;
      }
    if (!line.rule.stippled) CHECK(std::fabs(sum - length / 256 * line.rule.half_px * 2) < 1e-9);  // no pixel is missing
  }
  CHECK(worst < 0.025);
  std::printf("areas differ by %.4f at most from counted points\n", worst);
}

void rules() {
  RasterizationState state;
  CHECK(records::line_rule(state).kind == LineKind::triangles);
  state.line_mode = VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT;
  CHECK(records::line_rule(state).kind == LineKind::rectangle);
  state.line_stipple = true, state.line_stipple_factor = 5, state.line_stipple_pattern = 0x0101;
  const LineRule rule = records::line_rule(state);
  CHECK(rule.kind == LineKind::rectangle && rule.period() == 80);
  CHECK(rule.draws(0) && rule.draws(4) && !rule.draws(5) && rule.draws(40) && !rule.draws(45) && rule.draws(80));
  state.line_mode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT;
  for (const auto& [width, expected] : {std::pair{0.25f, 1u}, {1.49f, 1u}, {1.5f, 2u}, {63.7f, 64u}, {64.0f, 64u}}) {
    state.line_width = width;
    CHECK(records::line_rule(state).width_px == expected);
  }
  // A length that three segments share ends where one segment of it does, to the unit.
  Line line = rectangle({0, 0, 300, 400}, 1, LineKind::rectangle);
  line.rule = rule;
  line.start = 79 * records::kStippleUnits;
  CHECK(records::next_start(line) == static_cast<uint32_t>((79.0 + 500.0 / 256 - 80) * records::kStippleUnits));
}

}  // namespace

int main() {
  adversarial_ends();
  random_ends();
  joined_strips();
  rectangles();
  areas();
  rules();
  return test::finish("test_line_coverage");
}
