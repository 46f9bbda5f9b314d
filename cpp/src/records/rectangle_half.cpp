// records/rectangle_half.cpp -- see rectangle_half.hpp.
#include "records/rectangle_half.hpp"

#include <algorithm>

#include "shader_abi/abi.hpp"

namespace tilegpu::records {

bool half_of(const TriangleRecord& r, RectangleHalf& out) {
  if (!may_be_half(r)) return false;
  // Without area there is no record, so that one pair of vertices shares x, another one y, and the vertex in both is the right angle's.
  const auto alone = [](const int32_t* v) { return v[0] == v[1] ? 2u : v[1] == v[2] ? 0u : 1u; };  // the vertex that is not of the pair
  const uint32_t apart_x = alone(r.x), apart_y = alone(r.y);
  assert(apart_x != apart_y);
  const uint32_t corner = 3 - apart_x - apart_y, next = corner == 2 ? 0 : corner + 1, last = corner == 0 ? 2 : corner - 1;
  out.x0 = std::min(r.x[corner], r.x[apart_x]), out.x1 = std::max(r.x[corner], r.x[apart_x]);
  out.y0 = std::min(r.y[corner], r.y[apart_y]), out.y1 = std::max(r.y[corner], r.y[apart_y]);
  // Clockwise on the screen: after the upper left corner comes the upper right one.
  const bool left = r.x[corner] == out.x0, upper = r.y[corner] == out.y0;
  const auto set = [&](uint32_t upper_left, uint32_t upper_right, uint32_t lower_left, uint32_t missing) {
    out.vertex[kUpperLeft] = upper_left, out.vertex[kUpperRight] = upper_right, out.vertex[kLowerLeft] = lower_left;
    out.missing = missing;
  };
  if (left && upper)
    set(corner, next, last, kLowerRight);
  else if (upper)
    set(last, corner, next, kLowerLeft);
  else if (left)
    set(next, last, corner, kUpperRight);
  else
    set(corner, last, next, kUpperLeft);
  return true;
}

bool is_rectangle(const TriangleRecord& a, const TriangleRecord& b, const Chunk& chunk,
                  std::span<const shader::VaryingComponent> components, RectangleHalf& out) {
  constexpr uint32_t kAlike = kFrontFacing | kRateMask << kRateShift | kDeferred | kDrawMask;
  const auto bits = [](float f) { return std::bit_cast<uint32_t>(f); };
  RectangleHalf other;
  if (bits(a.q[0]) != bits(b.q[0]) || bits(a.z[0]) != bits(b.z[0]) || (a.draw_flags ^ b.draw_flags) & kAlike) return false;
  if (!half_of(a, out) || !half_of(b, other)) return false;
  if (out.x0 != other.x0 || out.x1 != other.x1 || out.y0 != other.y0 || out.y1 != other.y1) return false;
  // Opposite corners are missing: of `none` and the upper left one, and of the two others.
  if (out.missing + other.missing != kLowerRight) return false;
  assert(!(a.draw_flags & kDeferred) && (a.draw_flags >> kProvokingShift & 3) != 3);
  const float* row = chunk.varyings.data();
  const auto corners = [&](const TriangleRecord& r, const RectangleHalf& half, float* of) {
    for (uint32_t k = 0; k < 3; k++) of[k] = row[r.vertex[half.vertex[k]]];
    if (half.missing != kLowerRight) of[half.missing] = complete(of, half.missing);
  };
  for (const shader::VaryingComponent& component : components) {
    if (component.interpolation == shader::Interpolation::flat) {
      const auto provoking = [&](const TriangleRecord& r) { return bits(row[r.vertex[r.draw_flags >> kProvokingShift & 3]]); };
      if (provoking(a) != provoking(b)) return false;
    } else {
      float first[3], second[3];
      corners(a, out, first), corners(b, other, second);
      for (uint32_t k = 0; k < 3; k++)
        if (bits(first[k]) != bits(second[k])) return false;
    }
    row += shader::kBatchStride;
  }
  return true;
}

}  // namespace tilegpu::records
