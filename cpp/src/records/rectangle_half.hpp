// records/rectangle_half.hpp -- stage: setup. In: a triangle that is half of an upright rectangle, as interfaces, letters and pictures are
// drawn by two of. Out: the rectangle's corners, from which the triangle is interpolated; whether two triangles are its halves.
//
// Such a triangle's legs lie along the axes, its vertices have one depth and one 1/w, and the rectangle has 64 pixels at least. Each input
// is interpolated from the rectangle's upper left, upper right and lower left corner. The one of them that the triangle may lack is what an
// affine input has there: of an input that is the same along a leg, another vertex's value, to the bit. So both halves of a rectangle give
// the bits that one primitive over all of it would, and the tile phase may draw them as one (tile/batch_setups.hpp). Decided by the
// triangle alone. Source: Vulkan specification, "Basic Polygon Rasterization" (interpolation); docs/decisions.md, 569.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <span>

#include "records/records.hpp"
#include "shader/compiler.hpp"

namespace tilegpu::records {

/// Draws whose halves are: those that are shaded in order whatever removes hidden surfaces. Of opaque ones nothing would be gained.
inline bool takes_corners(const pipeline::Classification& c) { return !c.opaque; }

/// Of the rectangle, in subpixels squared: 64 pixels. What is smaller has a window of its own, and is drawn sooner than looked at.
inline constexpr int64_t kLeastRectangle = 64 << (2 * kSubpixelBits);

enum Corner : uint32_t { kUpperLeft, kUpperRight, kLowerLeft, kLowerRight };

struct RectangleHalf {
  /// By corner: the record's vertex at kUpperLeft, kUpperRight and kLowerLeft; that of kLowerRight in place of the one that is missing.
  uint32_t vertex[3];
  uint32_t missing;  // kLowerRight: none
  int32_t x0, y0, x1, y1;
};

/// False: it is none.
bool half_of(const TriangleRecord& record, RectangleHalf& out);

/// Whether half_of may find something: what nearly no triangle of a scene in perspective has.
inline bool may_be_half(const TriangleRecord& r) {
  const auto same = [](const float* v) {
    const auto bits = [](float f) { return std::bit_cast<uint32_t>(f); };
    return bits(v[0]) == bits(v[1]) && bits(v[1]) == bits(v[2]);
  };
  const auto pair = [](const int32_t* v) { return v[0] == v[1] || v[1] == v[2] || v[2] == v[0]; };
  if (!(same(r.q) && same(r.z) && pair(r.x) && pair(r.y))) return false;
  const int64_t area = (int64_t{r.x[1]} - r.x[0]) * (int64_t{r.y[2]} - r.y[0]) - (int64_t{r.x[2]} - r.x[0]) * (int64_t{r.y[1]} - r.y[0]);
  return area >= kLeastRectangle;
}

/// Of what may be a half: all three corners are there, in the order that planes want them. Other triangles' setup is right for it.
inline bool begins_upper_left(const TriangleRecord& r) { return r.x[0] == r.x[2] && r.y[0] == r.y[1] && r.x[0] < r.x[1]; }

/// What an affine input has at the corner that is missing: from the diagonal's ends, and the corner between them that is there.
inline float complete(float end0, float end1, float between) {
  const auto bits = [](float f) { return std::bit_cast<uint32_t>(f); };
  if (bits(between) == bits(end0)) return end1;
  if (bits(between) == bits(end1)) return end0;
  return (end0 - between) + end1;
}

/// The same of what lies as RectangleHalf::vertex says.
inline float complete(const float by_corner[3], uint32_t missing) {
  assert(missing < kLowerRight);
  // The opposite of the upper left corner is the lower right one, which lies in its place.
  constexpr uint32_t kEnds[3][2] = {{kUpperRight, kLowerLeft}, {kUpperLeft, kUpperRight}, {kUpperLeft, kLowerLeft}};
  constexpr uint32_t kBetween[3] = {kUpperLeft, kLowerLeft, kUpperRight};
  return complete(by_corner[kEnds[missing][0]], by_corner[kEnds[missing][1]], by_corner[kBetween[missing]]);
}

/// Whether both are halves of one rectangle, with one face and shading rate, and what is interpolated has the same values at the three
/// corners, what is flat at the provoking vertices. Vertices are in chunk.varyings, with these components. `out`: of `a`.
bool is_rectangle(const TriangleRecord& a, const TriangleRecord& b, const Chunk& chunk,
                  std::span<const shader::VaryingComponent> components, RectangleHalf& out);

}  // namespace tilegpu::records
