// geometry/tessellator.cpp -- stage: fixed-function tessellation. In: levels of a patch. Out: points of the domain, and the triangles,
// lines or points among them.
//
// Coordinates are integers of 16 fractional bits, so that sums are exact, edges are symmetric bit by bit, and floats hold them exactly.
// A domain of triangles or quads is a ring of outer edges, each with a subdivision of its own, and an inside whose subdivision is that
// of the inner levels; between two rings lies a strip along each edge.
// Source: Vulkan specification, "Tessellation", "Tessellation Invariance"; Direct3D 11.3 functional specification, "Tessellator Stage"
// (coordinates of 16 fractional bits; where in an edge new segments begin, and how they grow). The specification's text gives the first
// inner level of quads to the edges u = 0 and u = 1; its figures and Direct3D give it to the direction of u, as here.
#include "geometry/tessellator.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

namespace tilegpu::geometry {

namespace {

constexpr uint32_t kOne = 1u << 16;

/// Points of an edge, from 0 to kOne; at[i] + at[segments - i] is kOne.
struct Subdivision {
  uint32_t segments = 1;
  uint32_t at[kMaxTessellationLevel + 1] = {0, kOne};
};

// What is no number is clamped to the lowest.
float clamped(float level, TessellationSpacing spacing) {
  const float low = spacing == TessellationSpacing::fractional_even ? 2 : 1;
  const float high = spacing == TessellationSpacing::fractional_odd ? kMaxTessellationLevel - 1 : kMaxTessellationLevel;
  return !(level > low) ? low : level < high ? level : high;
}

uint32_t segments_of(float level, TessellationSpacing spacing) {
  const auto n = static_cast<uint32_t>(std::ceil(level));
  if (spacing == TessellationSpacing::equal) return n;
  return spacing == TessellationSpacing::fractional_even ? n + (n & 1) : n | 1;
}

// Which of an edge's segments is the first of the two short ones that grow as n - 2 segments become n. As levels double, segments of the
// half are split in turn from the end to the middle: `whole` of them there were before, as many as the last power of two and those that
// have been split since.
uint32_t short_segment(uint32_t n) {
  assert(n >= 3);
  const uint32_t whole = n / 2 - 1;
  return whole == 0 ? 0 : 2 * (whole - std::bit_floor(whole)) + 1;
}

// Of a clamped level f, n segments: points move in equal measure from where n - 2 segments of one length have them to where n have, as f
// goes from n - 2 to n. So both short segments are g/n long, g = (f - n + 2)/2, the others (1 - g)/(n - 2) + g/n. How long the short ones
// are, Vulkan leaves open; Direct3D does not, and other devices are alike.
Subdivision subdivide(float level, uint32_t n, TessellationSpacing spacing) {
  assert(n >= 1 && n <= kMaxTessellationLevel);
  Subdivision edge;
  edge.segments = n;
  const bool fractional = spacing != TessellationSpacing::equal && n >= 3;
  constexpr uint64_t kWhole = 2 * kOne;
  // Levels are at most 64: exact in double, and all products fit 45 bits.
  const uint64_t g = fractional ? static_cast<uint64_t>((double{level} - (n - 2)) * kOne + 0.5) : kWhole;
  const uint32_t before = fractional ? short_segment(n) : n;
  const uint64_t fewer = fractional ? n - 2 : 1, all = kWhole * fewer * n;
  assert(g <= kWhole);
  for (uint32_t i = 0; 2 * i <= n; i++) {
    const uint64_t parts = (kWhole - g) * (i <= before ? i : i - 1) * n + g * i * fewer;
    edge.at[i] = static_cast<uint32_t>((parts * kOne + all / 2) / all);
    edge.at[n - i] = kOne - edge.at[i];
  }
  return edge;
}

Subdivision outer_edge(float level, TessellationSpacing spacing) {
  const float f = clamped(level, spacing);
  return subdivide(f, segments_of(f, spacing), spacing);
}

// An inside of one segment has no point to stitch to: its level counts as the next one above 1.
Subdivision inner_edge(float level, TessellationSpacing spacing) {
  const float f = clamped(level, spacing);
  const uint32_t n = segments_of(f, spacing);
  if (n > 1) return subdivide(f, n, spacing);
  return spacing == TessellationSpacing::fractional_odd ? subdivide(1, 3, spacing) : subdivide(2, 2, spacing);
}

/// Points along one edge of a ring: `segments` + 1 of them, `stride` apart, of which the last is `end`; where each lies along the edge.
struct Chain {
  uint32_t first, segments, end;
  int32_t stride;
  const uint32_t* at;
  uint32_t operator[](uint32_t i) const { return i == segments ? end : first + i * static_cast<uint32_t>(stride); }
};

/// Appends to a patch.
struct Maker {
  TessellatedPatch& out;
  bool positive;  // winding in the plane of u and v

  uint32_t points() const { return static_cast<uint32_t>(out.u.size()); }
  void point(uint32_t u, uint32_t v, uint32_t w) {
    assert(u <= kOne && v <= kOne && w <= kOne);
    constexpr float kUnit = 1.0f / kOne;
    out.u.push_back(static_cast<float>(u) * kUnit);
    out.v.push_back(static_cast<float>(v) * kUnit);
    out.w.push_back(static_cast<float>(w) * kUnit);
  }
  /// Positive area is given.
  void triangle(uint32_t a, uint32_t b, uint32_t c) {
    if (!positive) std::swap(b, c);
    out.indices.insert(out.indices.end(), {a, b, c});
  }

  // The strip between an outer chain and the one on its left. Both are followed together, by where the middles of their segments are: of
  // the two diagonals that is the shorter one. Where they are equally long it runs towards the middle of the edge, as those at corners do.
  void stitch(const Chain& outer, const Chain& inner) {
    uint32_t i = 0, j = 0;
    while (i < outer.segments || j < inner.segments) {
      bool along_outer = j == inner.segments;
      if (!along_outer && i < outer.segments) {
        const uint32_t a = outer.at[i] + outer.at[i + 1], b = inner.at[j] + inner.at[j + 1];
        along_outer = a < b || (a == b && a > kOne);
      }
      if (along_outer) {
        triangle(outer[i], outer[i + 1], inner[j]);
        i++;
      } else {
        triangle(inner[j], outer[i], inner[j + 1]);
        j++;
      }
    }
  }
};

// --- triangles: corners (0,0,1), (1,0,0), (0,1,0); its edges in this order are v = 0, w = 0, u = 0

constexpr uint32_t kTriangleOuter[3] = {1, 2, 0};

/// A ring of concentric triangles: its three edges, of which each begins where the one before ends.
struct TriangleRing {
  Chain edge[3];
};

// Ring k of the inside's subdivision, or k = 0 and the outer edges. Lines through points k of the temporary subdivision at t, perpendicular
// to their edges, meet 2t/3 from both: there a ring has its corners. Its points lie on the perpendiculars of theirs, and keep the distance
// along the edge that these have from t. Rounding down keeps rings inside each other; an even inset has a middle.
TriangleRing make_ring(Maker& make, uint32_t k, const Subdivision* const edges[3]) {
  TriangleRing ring;
  const uint32_t first = make.points();
  for (uint32_t e = 0; e < 3; e++) {
    const Subdivision& along = *edges[e];
    const uint32_t n = along.segments, inset = along.at[k] / 3 * 2;
    assert(n > 2 * k);
    ring.edge[e] = {make.points(), n - 2 * k, first, 1, along.at + k};
    for (uint32_t i = k; i < n - k; i++) {  // the last one is the next edge's
      const uint32_t from_corner = inset + along.at[std::min(i, n - i)] - along.at[k];
      const uint32_t end = 2 * i == n ? (kOne - inset) / 2 : 2 * i < n ? from_corner : kOne - inset - from_corner;
      const uint32_t begin = kOne - inset - end;
      if (e == 0)
        make.point(end, inset, begin);
      else if (e == 1)
        make.point(begin, end, inset);
      else
        make.point(inset, begin, end);
    }
  }
  for (uint32_t e = 0; e < 2; e++) ring.edge[e].end = ring.edge[e + 1].first;
  return ring;
}

void tessellate_triangle(Maker& make, const TessellationModes& modes, const TessellationLevels& levels) {
  Subdivision outer[3];
  bool whole = segments_of(clamped(levels.inner[0], modes.spacing), modes.spacing) == 1;
  for (uint32_t e = 0; e < 3; e++) {
    outer[e] = outer_edge(levels.outer[kTriangleOuter[e]], modes.spacing);
    whole = whole && outer[e].segments == 1;
  }
  const Subdivision* const outer_edges[3] = {&outer[0], &outer[1], &outer[2]};
  TriangleRing ring = make_ring(make, 0, outer_edges);
  if (whole) return make.triangle(0, 1, 2);

  const Subdivision inner = inner_edge(levels.inner[0], modes.spacing);
  const Subdivision* const inner_edges[3] = {&inner, &inner, &inner};
  const uint32_t n = inner.segments;
  for (uint32_t k = 1; 2 * k <= n; k++) {
    TriangleRing next;
    if (2 * k == n) {  // the ring is a point
      const uint32_t center = make.points();
      make.point(kOne / 3, kOne / 3, kOne - 2 * (kOne / 3));
      for (Chain& edge : next.edge) edge = {center, 0, center, 0, inner.at + k};
    } else {
      next = make_ring(make, k, inner_edges);
    }
    for (uint32_t e = 0; e < 3; e++) make.stitch(ring.edge[e], next.edge[e]);
    ring = next;
  }
  if (n & 1) make.triangle(ring.edge[0].first, ring.edge[1].first, ring.edge[2].first);
}

// --- quads: corners (0,0), (1,0), (1,1), (0,1); its edges in this order are v = 0, u = 1, v = 1, u = 0

constexpr uint32_t kQuadOuter[4] = {1, 2, 3, 0};

void make_outer_quad(Maker& make, const Subdivision outer[4], Chain edges[4]) {
  for (uint32_t e = 0; e < 4; e++) {
    const uint32_t n = outer[e].segments;
    edges[e] = {make.points(), n, 0, 1, outer[e].at};
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t at = outer[e].at[i];
      if (e == 0)
        make.point(at, 0, 0);
      else if (e == 1)
        make.point(kOne, at, 0);
      else if (e == 2)
        make.point(kOne - at, kOne, 0);
      else
        make.point(0, kOne - at, 0);
    }
  }
  for (uint32_t e = 0; e < 4; e++) edges[e].end = edges[(e + 1) % 4].first;
}

void tessellate_quad(Maker& make, const TessellationModes& modes, const TessellationLevels& levels) {
  Subdivision outer[4];
  bool whole = true;
  for (const float level : levels.inner) whole = whole && segments_of(clamped(level, modes.spacing), modes.spacing) == 1;
  for (uint32_t e = 0; e < 4; e++) {
    outer[e] = outer_edge(levels.outer[kQuadOuter[e]], modes.spacing);
    whole = whole && outer[e].segments == 1;
  }
  Chain outer_edges[4];
  make_outer_quad(make, outer, outer_edges);
  if (whole) {
    make.triangle(0, 1, 3);
    return make.triangle(3, 1, 2);
  }

  const Subdivision along_u = inner_edge(levels.inner[0], modes.spacing), along_v = inner_edge(levels.inner[1], modes.spacing);
  const uint32_t m = along_u.segments, n = along_v.segments, columns = m - 1, rows = n - 1, first = make.points();
  for (uint32_t j = 1; j < n; j++)
    for (uint32_t i = 1; i < m; i++) make.point(along_u.at[i], along_v.at[j], 0);
  const uint32_t corner[4] = {first, first + columns - 1, first + rows * columns - 1, first + (rows - 1) * columns};
  for (uint32_t e = 0; e < 4; e++) {
    const Subdivision& along = e & 1 ? along_v : along_u;
    const int32_t step = e & 1 ? static_cast<int32_t>(columns) : 1;
    make.stitch(outer_edges[e], {corner[e], along.segments - 2, corner[(e + 1) % 4], e < 2 ? step : -step, along.at + 1});
  }
  // Diagonals as on the edges: in each quarter they run towards the middle, so that rings keep their corners; between quarters as a ring's
  // edges have them in the middle, and in the middle of all as in a quad of two triangles.
  for (uint32_t j = 1; j + 1 < n; j++)
    for (uint32_t i = 1; i + 1 < m; i++) {
      const uint32_t a = first + (j - 1) * columns + i - 1, b = a + 1, c = b + columns, d = a + columns;
      const uint32_t across = along_u.at[i] + along_u.at[i + 1], down = along_v.at[j] + along_v.at[j + 1];
      if (down != kOne && (across == kOne || (across < kOne) == (down < kOne))) {
        make.triangle(a, b, c);
        make.triangle(a, c, d);
      } else {
        make.triangle(a, b, d);
        make.triangle(d, b, c);
      }
    }
}

// --- isolines: outer level 0 is how many lines, whatever the spacing; outer level 1 subdivides each

void tessellate_isolines(Maker& make, const TessellationModes& modes, const TessellationLevels& levels) {
  const Subdivision lines = outer_edge(levels.outer[0], TessellationSpacing::equal), along = outer_edge(levels.outer[1], modes.spacing);
  for (uint32_t j = 0; j < lines.segments; j++) {  // none at v = 1
    for (uint32_t i = 0; i <= along.segments; i++) {
      if (i) make.out.indices.insert(make.out.indices.end(), {make.points() - 1, make.points(), make.points()});
      make.point(along.at[i], lines.at[j], 0);
    }
  }
}

bool same(const TessellationModes& a, const TessellationModes& b) {
  return a.domain == b.domain && a.spacing == b.spacing && a.clockwise == b.clockwise && a.points == b.points &&
         a.lower_left_origin == b.lower_left_origin;
}

}  // namespace

void tessellate(const TessellationModes& modes, const TessellationLevels& levels, TessellatedPatch& out) {
  // Bits, not values: the same NaN is the same.
  if (out.made && same(modes, out.modes) && !std::memcmp(&levels, &out.levels, sizeof levels)) return;
  out.made = true;
  out.modes = modes;
  out.levels = levels;
  out.u.clear();
  out.v.clear();
  out.w.clear();
  out.indices.clear();
  const uint32_t relevant = modes.domain == TessellationDomain::quads ? 4 : modes.domain == TessellationDomain::triangles ? 3 : 2;
  for (uint32_t i = 0; i < relevant; i++)
    if (!(levels.outer[i] > 0)) return;

  // With the origin at the upper left, v points down: what has positive area in u and v is clockwise.
  Maker make{out, modes.clockwise != modes.lower_left_origin};
  if (modes.domain == TessellationDomain::triangles)
    tessellate_triangle(make, modes, levels);
  else if (modes.domain == TessellationDomain::quads)
    tessellate_quad(make, modes, levels);
  else
    tessellate_isolines(make, modes, levels);
  if (!modes.points) return;
  out.indices.clear();
  for (uint32_t i = 0; i < make.points(); i++) out.indices.insert(out.indices.end(), {i, i, i});
}

}  // namespace tilegpu::geometry
