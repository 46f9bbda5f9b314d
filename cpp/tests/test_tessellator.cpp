// The tessellator against what the Vulkan specification says of it: what is covered, how often, by how many points and in which order.
#include "geometry/tessellator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "check.hpp"

using namespace tilegpu::geometry;

namespace {

using Domain = TessellationDomain;
using Spacing = TessellationSpacing;
constexpr int64_t kOne = 65536;
constexpr Spacing kSpacings[] = {Spacing::equal, Spacing::fractional_even, Spacing::fractional_odd};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

std::mt19937 rng(7);
uint32_t random_below(uint32_t n) { return static_cast<uint32_t>(rng() % n); }

using Point = std::array<int64_t, 3>;   // u, v, w in 1/65536
using Triangle = std::array<Point, 3>;  // sorted

// "Tessellator Spacing", by search: the smallest number of segments that is allowed and not below the clamped level.
int segments_of(float level, Spacing spacing) {
  const int first = spacing == Spacing::fractional_even ? 2 : 1, step = spacing == Spacing::equal ? 1 : 2;
  const int last = spacing == Spacing::fractional_odd ? 63 : 64;
  int n = first;
  while (n < last && static_cast<float>(n) < level) n += step;
  return n;
}
// Where 1 becomes 1 + epsilon.
int inner_segments_of(float level, Spacing spacing) {
  const int n = segments_of(level, spacing);
  return n > 1 ? n : spacing == Spacing::fractional_odd ? 3 : 2;
}

TessellatedPatch made(const TessellationModes& modes, const TessellationLevels& levels) {
  TessellatedPatch patch;
  tessellate(modes, levels, patch);
  return patch;
}

std::vector<Point> points_of(const TessellatedPatch& patch) {
  std::vector<Point> points;
  for (size_t i = 0; i < patch.u.size(); i++) {
    const float c[3] = {patch.u[i], patch.v[i], patch.w[i]};
    Point p;
    for (int k = 0; k < 3; k++) {
      p[k] = static_cast<int64_t>(c[k] * 65536.0f);
      CHECK(c[k] >= 0 && c[k] <= 1 && static_cast<float>(p[k]) == c[k] * 65536.0f && 1.0f - (1.0f - c[k]) == c[k]);
    }
    points.push_back(p);
  }
  return points;
}

// The specification's a, times two to the power of 32.
int64_t area_of(const Point& a, const Point& b, const Point& c) {
  return a[0] * b[1] - b[0] * a[1] + b[0] * c[1] - c[0] * b[1] + c[0] * a[1] - a[0] * c[1];
}

int sides_of(Domain domain) { return domain == Domain::quads ? 4 : 3; }
// Outer level i is of u = 0, v = 0, then w = 0 or u = 1 and v = 1.
bool on_side(Domain domain, int side, const Point& p) {
  if (side < 2) return p[static_cast<size_t>(side)] == 0;
  return domain == Domain::triangles ? p[2] == 0 : p[static_cast<size_t>(side - 2)] == kOne;
}
// Along the side; for triangles as in rule 3.
int64_t along_side(Domain domain, int side, const Point& p) {
  if (domain == Domain::triangles) return side == 0 ? p[1] : p[0];
  return side & 1 ? p[0] : p[1];
}

// Points on a side that edges without a neighbour lead to; of an outer level that is 1 in all but name two sides may lie on each other.
std::vector<int64_t> side_points(Domain domain, int side, const std::vector<Point>& points, const std::set<uint32_t>& boundary) {
  std::vector<int64_t> at;
  for (uint32_t i : boundary)
    if (on_side(domain, side, points[i])) at.push_back(along_side(domain, side, points[i]));
  std::sort(at.begin(), at.end());
  return at;
}

struct Checked {
  std::vector<Point> points;
  std::set<uint32_t> boundary;
};

// Everything that must hold of any patch of triangles or quads.
Checked check_filled(const TessellationModes& modes, const TessellationLevels& levels, const TessellatedPatch& patch) {
  Checked result{points_of(patch), {}};
  const std::vector<Point>& points = result.points;
  const Domain domain = modes.domain;
  const bool positive = modes.lower_left_origin ? !modes.clockwise : modes.clockwise;
  int64_t sum = 0;
  bool used_all = true, in_range = true, same_sign = true;
  std::vector<bool> used(points.size());
  std::vector<uint64_t> edges;
  for (size_t t = 0; t < patch.indices.size(); t += 3) {
    const uint32_t* i = &patch.indices[t];
    for (int k = 0; k < 3; k++) {
      in_range = in_range && i[k] < points.size();
      if (!in_range) break;
      used[i[k]] = true;
      edges.push_back(uint64_t{i[k]} << 32 | i[(k + 1) % 3]);
    }
    if (!CHECK(in_range)) return result;
    const int64_t area = area_of(points[i[0]], points[i[1]], points[i[2]]) * (positive ? 1 : -1);
    same_sign = same_sign && (modes.spacing == Spacing::equal ? area > 0 : area >= 0);
    sum += area;
  }
  CHECK(same_sign);
  CHECK(sum == (domain == Domain::quads ? 2 : 1) * kOne * kOne);
  for (bool u : used) used_all = used_all && u;
  CHECK(used_all);

  // Each edge once in each direction, or on the boundary.
  std::sort(edges.begin(), edges.end());
  CHECK(std::adjacent_find(edges.begin(), edges.end()) == edges.end());
  int64_t boundary_edges = 0;
  bool on_sides = true;
  for (uint64_t e : edges) {
    const auto a = static_cast<uint32_t>(e >> 32), b = static_cast<uint32_t>(e);
    if (std::binary_search(edges.begin(), edges.end(), uint64_t{b} << 32 | a)) continue;
    boundary_edges++;
    result.boundary.insert(a);
    bool on = false;
    for (int s = 0; s < sides_of(domain); s++) on = on || (on_side(domain, s, points[a]) && on_side(domain, s, points[b]));
    on_sides = on_sides && on;
  }
  CHECK(on_sides);
  int64_t outer = 0;
  for (int s = 0; s < sides_of(domain); s++) outer += segments_of(levels.outer[s], modes.spacing);
  CHECK(boundary_edges == outer && static_cast<int64_t>(result.boundary.size()) == outer);
  // Euler: a disk.
  CHECK(static_cast<int64_t>(patch.indices.size() / 3) == 2 * static_cast<int64_t>(points.size()) - 2 - outer);

  for (const Point& p : points)
    if (p[2] != (domain == Domain::triangles ? kOne - p[0] - p[1] : 0)) CHECK(!"w");

  int64_t inside = 0;  // points, from the description of rings and grids
  bool whole = outer == sides_of(domain);
  const int n0 = inner_segments_of(levels.inner[0], modes.spacing), n1 = inner_segments_of(levels.inner[1], modes.spacing);
  whole = whole && segments_of(levels.inner[0], modes.spacing) == 1;
  if (domain == Domain::quads) {
    whole = whole && segments_of(levels.inner[1], modes.spacing) == 1;
    inside = (n0 - 1) * (n1 - 1);
  } else {
    for (int k = n0 - 2; k >= 0; k -= 2) inside += k ? 3 * k : 1;
  }
  CHECK(static_cast<int64_t>(points.size()) == outer + (whole ? 0 : inside));
  return result;
}

void test_one_triangle_and_one_pair() {
  for (Spacing spacing : {Spacing::equal, Spacing::fractional_odd}) {
    const TessellationLevels one{{1, 1, 1, 1}, {1, 1}};
    const TessellatedPatch triangle = made({Domain::triangles, spacing, true}, one);
    CHECK(triangle.indices.size() == 3);
    const auto points = points_of(triangle);
    CHECK((std::set<Point>(points.begin(), points.end()) == std::set<Point>{{0, 0, kOne}, {kOne, 0, 0}, {0, kOne, 0}}));
    const TessellatedPatch pair = made({Domain::quads, spacing, true}, one);
    CHECK(pair.indices.size() == 6 && pair.u.size() == 4);
    check_filled({Domain::quads, spacing, true}, one, pair);
    // Levels below one are one; those that don't count change nothing.
    const TessellatedPatch less = made({Domain::triangles, spacing, true}, {{0.25f, 1e-40f, 0.5f, -3}, {-1, 60}});
    CHECK(less.indices == triangle.indices && less.u == triangle.u && less.v == triangle.v && less.w == triangle.w);
  }
  CHECK(made({Domain::triangles, Spacing::fractional_even}, {{1, 1, 1, 1}, {1, 1}}).u.size() == 7);  // two segments everywhere
}

void test_counts_of_equal_levels() {
  for (int n = 1; n <= 64; n++) {
    const auto f = static_cast<float>(n);
    const TessellationLevels levels{{f, f, f, f}, {f, f}};
    const size_t s = static_cast<size_t>(n);
    for (Spacing spacing : kSpacings) {
      if (spacing != Spacing::equal && (n & 1) != (spacing == Spacing::fractional_odd)) continue;
      const TessellatedPatch quad = made({Domain::quads, spacing}, levels);
      CHECK(quad.indices.size() == 3 * 2 * s * s && quad.u.size() == (s + 1) * (s + 1));
      const TessellatedPatch triangle = made({Domain::triangles, spacing}, levels);
      // Strips between rings of n, n - 2, ... segments on each of three edges.
      size_t triangles = s & 1 ? 1 : 0, points = s & 1 ? 0 : 1;
      for (size_t k = s; k >= 2; k -= 2) triangles += 3 * (k + k - 2), points += 3 * k;
      if (s & 1) points += 3;
      CHECK(triangle.indices.size() == 3 * triangles && triangle.u.size() == points);
      const TessellatedPatch lines = made({Domain::isolines, spacing}, levels);
      CHECK(lines.indices.size() == 3 * s * s && lines.u.size() == s * (s + 1));
      // A level without fraction is spaced equally, bit by bit.
      CHECK(quad.u == made({Domain::quads, Spacing::equal}, levels).u && triangle.v == made({Domain::triangles, Spacing::equal}, levels).v);
    }
  }
  // The specification's figures: inner levels (4, 2), a line of three points; (7, 4), ten rectangles inside.
  for (const auto& [m, n, points, rectangles] : {std::array{4, 2, 3, 0}, {2, 4, 3, 0}, {7, 4, 18, 10}}) {
    const TessellationLevels levels{{1, 1, 1, 1}, {static_cast<float>(m), static_cast<float>(n)}};
    const TessellatedPatch quad = made({Domain::quads, Spacing::equal}, levels);
    CHECK(quad.u.size() == static_cast<size_t>(4 + points));
    size_t inside = 0;
    std::set<int64_t> columns, rows;
    const auto p = points_of(quad);
    const auto inner = [&](uint32_t i) { return p[i][0] % kOne && p[i][1] % kOne; };
    for (uint32_t i = 0; i < p.size(); i++)
      if (inner(i)) columns.insert(p[i][0]), rows.insert(p[i][1]);
    CHECK(columns.size() == static_cast<size_t>(m - 1) && rows.size() == static_cast<size_t>(n - 1));  // the first level is u's
    for (size_t t = 0; t < quad.indices.size(); t += 3)
      inside += inner(quad.indices[t]) && inner(quad.indices[t + 1]) && inner(quad.indices[t + 2]);
    CHECK(inside == static_cast<size_t>(2 * rectangles));
  }
}

// Inner points where the specification's construction has them, in exact fractions: rings of triangles lie 2/3 t from the edges.
void test_places_of_equal_spacing() {
  for (int n = 2; n <= 64; n++) {
    const auto f = static_cast<float>(n);
    std::vector<std::array<double, 3>> expected;
    for (int k = 0; 2 * k < n; k++)
      for (int i = k; i < n - k; i++) {
        const double inset = 2.0 / 3 * k / n, end = double(i) / n - inset / 2, begin = 1 - inset - end;
        expected.push_back({end, inset, begin});
        expected.push_back({begin, end, inset});
        expected.push_back({inset, begin, end});
      }
    if (n % 2 == 0) expected.push_back({1.0 / 3, 1.0 / 3, 1.0 / 3});
    const TessellatedPatch patch = made({Domain::triangles, Spacing::equal}, {{f, f, f, 1}, {f, 1}});
    if (!CHECK(patch.u.size() == expected.size())) continue;
    double worst = 0;
    for (size_t i = 0; i < patch.u.size(); i++) {
      double nearest = 1;
      for (const auto& e : expected)
        nearest = std::min(nearest, std::max({std::abs(patch.u[i] - e[0]), std::abs(patch.v[i] - e[1]), std::abs(patch.w[i] - e[2])}));
      worst = std::max(worst, nearest);
    }
    CHECK(worst < 3.5 / 65536);
    const TessellatedPatch quad = made({Domain::quads, Spacing::equal}, {{f, f, f, f}, {f, f}});
    for (size_t i = 0; i < quad.u.size(); i++) {
      const double u = double{quad.u[i]} * n, v = double{quad.v[i]} * n;
      worst = std::max({worst, std::abs(u - std::round(u)) / n, std::abs(v - std::round(v)) / n});
    }
    CHECK(worst < 3.5 / 65536);
  }
}

// Of an edge: n - 2 segments of one length, two of another that isn't larger, in mirrored places; their ratio falls with n - f.
void check_edge(const std::vector<int64_t>& at, float level, Spacing spacing, double* ratio) {
  const int n = segments_of(level, spacing);
  if (!CHECK(at.size() == static_cast<size_t>(n + 1), "%zu points at level %g", at.size(), double{level})) return;
  std::vector<int64_t> lengths;
  for (size_t i = 0; i + 1 < at.size(); i++) lengths.push_back(at[i + 1] - at[i]);
  for (size_t i = 0; i < at.size(); i++) CHECK(at[i] == kOne - at[at.size() - 1 - i]);
  CHECK(at.front() == 0 && at.back() == kOne);
  *ratio = 1;
  std::sort(lengths.begin(), lengths.end());
  if (spacing == Spacing::equal || n < 3) {
    CHECK(lengths.back() - lengths.front() <= 2);
    return;
  }
  CHECK(lengths[0] >= 0 && lengths[1] - lengths[0] <= 2 && lengths.back() - lengths[2] <= 2 && lengths[1] <= lengths[2] + 1);
  *ratio = double(lengths[0]) / double(lengths.back());
  // As Direct3D has them: what has grown of them, of a full one.
  const double grown = (std::clamp(double{level}, n == 3 ? 1.0 : 2.0, double(n)) - (n - 2)) / 2;
  CHECK(std::abs(double(lengths[0]) - grown / n * double(kOne)) <= 2);
}

// Diagonals where neither is shorter, of an odd number of segments: alike on the four edges of each ring, and as the one of a quad of two
// triangles in the middle. Other devices have them so, and lines show them.
void test_diagonals_in_the_middle() {
  for (int n = 3; n <= 9; n += 2)
    for (Spacing spacing : {Spacing::equal, Spacing::fractional_odd}) {
      const auto f = static_cast<float>(n) - (spacing == Spacing::equal ? 0.0f : 0.75f);
      const TessellatedPatch patch = made({Domain::quads, spacing}, {{f, f, f, f}, {f, f}});
      const auto points = points_of(patch);
      std::set<int64_t> coordinates;
      for (const Point& p : points) coordinates.insert(p[0]);
      const std::vector<int64_t> at(coordinates.begin(), coordinates.end());
      if (!CHECK(at.size() == static_cast<size_t>(n + 1))) continue;
      std::set<std::array<int64_t, 4>> edges;
      for (size_t t = 0; t < patch.indices.size(); t += 3)
        for (size_t k = 0; k < 3; k++) {
          const Point &a = points[patch.indices[t + k]], &b = points[patch.indices[t + (k + 1) % 3]];
          edges.insert({a[0], a[1], b[0], b[1]}), edges.insert({b[0], b[1], a[0], a[1]});
        }
      const auto joined = [&](int u0, int v0, int u1, int v1) {
        const auto of = [&](int i) { return at[static_cast<size_t>(i)]; };
        return edges.count({of(u0), of(v0), of(u1), of(v1)}) == 1;
      };
      const int half = n / 2;
      CHECK(joined(half + 1, half, half, half + 1));
      for (int k = 0; k < half; k++) {
        CHECK(joined(half, k, half + 1, k + 1) && joined(n - k, half, n - k - 1, half + 1));
        CHECK(joined(half + 1, n - k, half, n - k - 1) && joined(k, half + 1, k + 1, half));
      }
    }
}

void test_edges_depend_on_their_level_only() {
  for (Spacing spacing : kSpacings) {
    double last_ratio = 0;
    int last_n = 0;
    for (float level = 1; level <= 64; level += 0.25f) {
      double ratio = 1;
      std::vector<int64_t> first;
      for (Domain domain : {Domain::triangles, Domain::quads}) {
        const auto other = [&] { return 1 + static_cast<float>(random_below(2000)) / 100; };
        for (int side = 0; side < sides_of(domain); side++) {
          TessellationLevels levels{{other(), other(), other(), other()}, {std::max(other(), 2.0f), std::max(other(), 2.0f)}};
          levels.outer[side] = level;
          const TessellationModes modes{domain, spacing};
          const TessellatedPatch patch = made(modes, levels);
          // Inner points may lie on an edge as well: the boundary's are those that edges without a neighbour join.
          const Checked checked = check_filled(modes, levels, patch);
          const auto at = side_points(domain, side, checked.points, checked.boundary);
          check_edge(at, level, spacing, &ratio);
          if (first.empty()) first = at;
          CHECK(at == first);
        }
      }
      const TessellatedPatch lines = made({Domain::isolines, spacing}, {{1, level}, {}});
      std::vector<int64_t> along;
      for (const Point& p : points_of(lines)) along.push_back(p[0]);
      CHECK(along == first);
      const int n = segments_of(level, spacing);
      CHECK(n != last_n || ratio > last_ratio || spacing == Spacing::equal || level <= 2 || level > 63);
      if (static_cast<float>(n) == level) CHECK(ratio > 0.99);
      last_ratio = ratio, last_n = n;
    }
  }
}

// Fractional levels: no point jumps, and new ones come out of old ones.
void test_points_move_continuously() {
  const auto farthest = [](const std::vector<Point>& from, const std::vector<Point>& to) {
    int64_t most = 0;
    for (const Point& a : from) {
      int64_t nearest = kOne;
      for (const Point& b : to)
        nearest = std::min(nearest, std::max({std::abs(a[0] - b[0]), std::abs(a[1] - b[1]), std::abs(a[2] - b[2])}));
      most = std::max(most, nearest);
    }
    return most;
  };
  for (Spacing spacing : {Spacing::fractional_even, Spacing::fractional_odd}) {
    std::vector<Point> last;
    for (float level = 1; level <= 63.5f; level += 1.0f / 128) {
      auto points = points_of(made({Domain::isolines, spacing}, {{1, level}, {}}));
      if (!last.empty()) CHECK(std::max(farthest(points, last), farthest(last, points)) <= kOne / 128);
      last = std::move(points);
    }
    for (Domain domain : {Domain::triangles, Domain::quads}) {
      last.clear();
      for (float level = 1; level <= 9.5f; level += 1.0f / 32) {
        auto points = points_of(made({domain, spacing}, {{level, level, level, level}, {level, level}}));
        if (!last.empty()) CHECK(std::max(farthest(points, last), farthest(last, points)) <= kOne / 32);
        last = std::move(points);
      }
    }
  }
}

float random_level() {
  switch (random_below(10)) {
    case 0:
      return 1;
    case 1:
      return static_cast<float>(1 + random_below(64));
    case 2:
      return std::nextafter(static_cast<float>(1 + random_below(64)), 100.0f);
    case 3:
      return std::nextafter(static_cast<float>(1 + random_below(64)), 0.0f);
    case 4:
      return 1 + static_cast<float>(random_below(400)) / 65536.0f;
    case 5:
      return random_below(2) ? kInfinity : 1e30f;
    default:
      return static_cast<float>(random_below(random_below(3) ? 8000 : 70000)) / 1000 + 0.001f;
  }
}

void test_any_levels_fill_the_domain() {
  TessellatedPatch kept;  // from patch to patch
  for (int round = 0; round < 2000; round++) {
    const TessellationModes modes{round & 1 ? Domain::quads : Domain::triangles, kSpacings[random_below(3)], random_below(2) == 0, false,
                                  random_below(2) == 0};
    TessellationLevels levels;
    for (float& level : levels.outer) level = random_level();
    for (float& level : levels.inner) level = random_level();
    if (random_below(20) == 0) levels.inner[random_below(2)] = random_below(2) ? kNan : -kInfinity;
    if (random_below(3)) {  // mostly small: this is to be quick
      for (float& level : levels.outer) level = std::min(level, 9.0f);
      for (float& level : levels.inner) level = level < 9 ? level : 8.5f;
    }
    tessellate(modes, levels, kept);
    check_filled(modes, levels, kept);
    const TessellatedPatch fresh = made(modes, levels);
    CHECK(fresh.u == kept.u && fresh.v == kept.v && fresh.w == kept.w && fresh.indices == kept.indices);
    tessellate(modes, levels, kept);
    CHECK(fresh.u == kept.u && fresh.indices == kept.indices);
    // Each mode counts, with the levels of before.
    for (int field = 0; field < 5; field++) {
      TessellationModes changed = modes;
      if (field == 0) changed.domain = Domain::isolines;
      if (field == 1) changed.spacing = modes.spacing == Spacing::equal ? Spacing::fractional_odd : Spacing::equal;
      if (field == 2) changed.clockwise = !modes.clockwise;
      if (field == 3) changed.points = true;
      if (field == 4) changed.lower_left_origin = !modes.lower_left_origin;
      TessellatedPatch again = fresh;
      tessellate(changed, levels, again);
      const TessellatedPatch direct = made(changed, levels);
      CHECK(again.u == direct.u && again.indices == direct.indices);
      CHECK(field == 0 || field == 1 || again.indices != fresh.indices);
    }
    // One point for each in point mode; the other winding has the same triangles (rule 5).
    TessellationModes other = modes;
    other.points = true;
    const TessellatedPatch points = made(other, levels);
    CHECK(points.u == fresh.u && points.v == fresh.v && points.w == fresh.w && points.indices.size() == 3 * fresh.u.size());
    for (uint32_t i = 0; i < points.indices.size(); i++) CHECK(points.indices[i] == i / 3);
    other = modes;
    other.clockwise = !modes.clockwise;
    const TessellatedPatch turned = made(other, levels);
    CHECK(turned.u == fresh.u && turned.v == fresh.v && turned.indices.size() == fresh.indices.size());
    for (size_t i = 0; i < fresh.indices.size(); i++) {
      const size_t first = i / 3 * 3;
      CHECK(std::count(&turned.indices[first], &turned.indices[first] + 3, fresh.indices[i]) == 1);
    }
    other.lower_left_origin = !modes.lower_left_origin;
    CHECK(made(other, levels).indices == fresh.indices);
  }
}

// Rules 6 and 7: triangles without a point on an outer edge depend on the inner levels only, those beside an edge on its level too.
void test_inside_does_not_depend_on_outer_levels() {
  for (int round = 0; round < 100; round++) {
    const TessellationModes modes{round & 1 ? Domain::quads : Domain::triangles, kSpacings[random_below(3)]};
    const auto level = [] { return 1.1f + static_cast<float>(random_below(120)) / 10; };
    TessellationLevels levels{{level(), level(), level(), level()}, {level(), level()}};
    const auto triangles = [&](int side) {  // those that touch it with an edge, or (-1) the inside
      const TessellatedPatch patch = made(modes, levels);
      const auto points = points_of(patch);
      std::multiset<Triangle> found;
      for (size_t t = 0; t < patch.indices.size(); t += 3) {
        Triangle triangle;
        int on = 0, on_any = 0;
        for (size_t k = 0; k < 3; k++) {
          triangle[k] = points[patch.indices[t + k]];
          on += side >= 0 && on_side(modes.domain, side, triangle[k]);
          for (int s = 0; s < sides_of(modes.domain); s++) on_any += on_side(modes.domain, s, triangle[k]);
        }
        std::sort(triangle.begin(), triangle.end());
        if (side < 0 ? on_any == 0 : on >= 2) found.insert(triangle);
      }
      return found;
    };
    const int side = static_cast<int>(random_below(static_cast<uint32_t>(sides_of(modes.domain))));
    const auto inside = triangles(-1), beside = triangles(side);
    CHECK(!beside.empty());
    for (int s = 0; s < 4; s++)
      if (s != side) levels.outer[s] = level();
    CHECK(triangles(side) == beside && triangles(-1) == inside);
    levels.outer[side] = level();
    CHECK(triangles(-1) == inside);
  }
}

// Each corner of a ring is joined to that of the next ring, so that what is the same along a ring stays so: rings keep their corners.
// Vulkan leaves it open; its conformance tests compare pictures of it.
void test_rings_of_quads_keep_their_corners() {
  for (int round = 0; round < 200; round++) {
    const int m = 2 + static_cast<int>(random_below(20)), n = 2 + static_cast<int>(random_below(20));
    const auto along_u = static_cast<float>(m), along_v = static_cast<float>(n);
    const TessellatedPatch patch = made({Domain::quads}, {{along_v, along_u, along_v, along_u}, {along_u, along_v}});
    std::set<std::array<Point, 2>> edges;
    const std::vector<Point> points = points_of(patch);
    for (size_t i = 0; i < patch.indices.size(); i += 3)
      for (size_t k = 0; k < 3; k++) {
        const Point &a = points[patch.indices[i + k]], &b = points[patch.indices[i + (k + 1) % 3]];
        edges.insert({a, b}), edges.insert({b, a});
      }
    const auto at = [](int i, int of, bool far) { return std::lround(65536.0 * (far ? of - i : i) / of); };
    for (int k = 0; 2 * (k + 1) <= std::min(m, n); k++)
      for (int corner = 0; corner < 4; corner++) {
        const Point outer{at(k, m, corner & 1), at(k, n, corner & 2), 0}, inner{at(k + 1, m, corner & 1), at(k + 1, n, corner & 2), 0};
        CHECK(edges.count({outer, inner}), "%d x %d, ring %d, corner %d", m, n, k, corner);
      }
  }
}

void test_inner_level_one() {
  for (Domain domain : {Domain::triangles, Domain::quads}) {
    for (int side = 0; side < sides_of(domain); side++) {
      TessellationLevels levels{{1, 1, 1, 1}, {1, 1}};
      levels.outer[side] = 5;
      const auto equal = check_filled({domain, Spacing::equal}, levels, made({domain, Spacing::equal}, levels));
      CHECK(equal.points.size() == (domain == Domain::quads ? 8u : 7u) + 1);  // one point in the middle
      const auto odd = check_filled({domain, Spacing::fractional_odd}, levels, made({domain, Spacing::fractional_odd}, levels));
      CHECK(odd.points.size() == (domain == Domain::quads ? 8u + 4 : 7u + 3));
    }
  }
  // One level of two: the other one's grid is kept.
  const TessellationLevels levels{{1, 1, 1, 1}, {1, 5}};
  CHECK(check_filled({Domain::quads, Spacing::equal}, levels, made({Domain::quads, Spacing::equal}, levels)).points.size() == 4 + 4);
}

void test_isolines() {
  for (Spacing spacing : kSpacings) {
    for (int round = 0; round < 200; round++) {
      TessellationLevels levels{{random_level(), random_level(), -1, kNan}, {kNan, -5}};
      const TessellatedPatch patch = made({Domain::isolines, spacing}, levels);
      const int lines = segments_of(levels.outer[0], Spacing::equal), segments = segments_of(levels.outer[1], spacing);
      CHECK(patch.u.size() == static_cast<size_t>(lines * (segments + 1)) &&
            patch.indices.size() == static_cast<size_t>(3 * lines * segments));
      std::map<int64_t, int64_t> length;  // by v
      const auto points = points_of(patch);
      for (size_t i = 0; i < patch.indices.size(); i += 3) {
        const Point &a = points[patch.indices[i]], &b = points[patch.indices[i + 1]];
        CHECK(patch.indices[i + 1] == patch.indices[i + 2] && a[1] == b[1] && a[0] <= b[0] && a[2] == 0 && b[2] == 0);
        length[a[1]] += b[0] - a[0];
      }
      CHECK(length.size() == static_cast<size_t>(lines));
      int line = 0;
      for (const auto& [v, sum] : length) {
        CHECK(sum == kOne && std::abs(static_cast<double>(v) / kOne - static_cast<double>(line) / lines) < 1.0 / kOne && v < kOne);
        CHECK(v == 0 || length.count(kOne - v));  // rule 3
        line++;
      }
      const TessellatedPatch as_points = made({Domain::isolines, spacing, false, true}, levels);
      CHECK(as_points.u == patch.u && as_points.indices.size() == 3 * patch.u.size());
    }
  }
}

void test_discarded_patches() {
  for (Domain domain : {Domain::triangles, Domain::quads, Domain::isolines}) {
    const int relevant = domain == Domain::quads ? 4 : domain == Domain::triangles ? 3 : 2;
    for (float bad : {0.0f, -0.0f, -1.0f, kNan, -kNan, -kInfinity}) {
      for (int i = 0; i < 4; i++) {
        TessellationLevels levels{{3, 3, 3, 3}, {3, 3}};
        TessellatedPatch patch = made({domain, Spacing::equal}, levels);
        const auto before = patch.indices;
        levels.outer[i] = bad;
        tessellate({domain, Spacing::equal}, levels, patch);
        CHECK(i < relevant ? patch.u.empty() && patch.v.empty() && patch.w.empty() && patch.indices.empty() : patch.indices == before);
      }
      TessellationLevels levels{{3, 3, 3, 3}, {bad, bad}};
      CHECK(!made({domain, Spacing::equal}, levels).indices.empty());
    }
  }
  const TessellationLevels huge{{kInfinity, 1e38f, 65, 64.001f}, {kInfinity, 1e38f}}, most{{64, 64, 64, 64}, {64, 64}};
  for (Spacing spacing : kSpacings)
    for (Domain domain : {Domain::triangles, Domain::quads, Domain::isolines})
      CHECK(made({domain, spacing}, huge).u == made({domain, spacing}, most).u);
  CHECK(made({Domain::quads, Spacing::fractional_odd}, huge).u.size() == 64 * 64);
}

}  // namespace

int main() {
  test_one_triangle_and_one_pair();
  test_counts_of_equal_levels();
  test_places_of_equal_spacing();
  test_edges_depend_on_their_level_only();
  test_diagonals_in_the_middle();
  test_points_move_continuously();
  test_any_levels_fill_the_domain();
  test_inside_does_not_depend_on_outer_levels();
  test_rings_of_quads_keep_their_corners();
  test_inner_level_one();
  test_isolines();
  test_discarded_patches();
  return tilegpu::test::finish("tessellator");
}
