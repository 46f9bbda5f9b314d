// test_rectangle_half.cpp -- halves of upright rectangles: which triangles are, that both have the setup of the rectangle to the bit, and
// which two are drawn as one (records/rectangle_half.hpp).
#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "check.hpp"
#include "records/primitive_setup.hpp"

using namespace tilegpu;
using namespace tilegpu::records;

namespace {

constexpr uint32_t kComponents = 4, kStride = shader::kBatchStride;
std::mt19937 rng(7);

float number(float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(rng); }

/// Corners of a rectangle, in the order of Corner: component 0 along x, 1 along y, 2 the same everywhere, 3 flat.
struct Rectangle {
  int32_t x[2], y[2];
  float input[kComponents][4];
  float q, z;
};

Rectangle random_rectangle() {
  Rectangle r;
  r.x[0] = static_cast<int32_t>(rng() % 40000) - 20000, r.x[1] = r.x[0] + 2048 + static_cast<int32_t>(rng() % 30000);
  r.y[0] = static_cast<int32_t>(rng() % 40000) - 20000, r.y[1] = r.y[0] + 2048 + static_cast<int32_t>(rng() % 30000);
  const float along_x[2] = {number(-3, 3), number(-3, 3)}, along_y[2] = {number(-3, 3), number(-3, 3)};
  const float same = number(-9, 9), tag = number(1, 2);
  for (uint32_t k = 0; k < 4; k++)
    r.input[0][k] = along_x[k & 1], r.input[1][k] = along_y[k >> 1], r.input[2][k] = same, r.input[3][k] = tag;
  r.q = number(0.1f, 4), r.z = number(0, 1);
  return r;
}

/// The half without one corner, from any of its vertices on; wound as records are.
TriangleRecord half(const Rectangle& r, uint32_t without, uint32_t turn, Chunk& chunk) {
  constexpr uint32_t kClockwise[4] = {kUpperLeft, kUpperRight, kLowerRight, kLowerLeft};
  uint32_t corners[3], count = 0;
  for (uint32_t corner : kClockwise)
    if (corner != without) corners[count++] = corner;
  std::rotate(corners, corners + turn, corners + 3);
  TriangleRecord record{};
  for (uint32_t k = 0; k < 3; k++) {
    const uint32_t corner = corners[k];
    record.x[k] = r.x[corner & 1], record.y[k] = r.y[corner >> 1], record.z[k] = r.z, record.q[k] = r.q;
    const auto at = static_cast<uint32_t>(chunk.varyings.size());
    float* words = chunk.varyings.extend(kComponents * kStride);
    for (uint32_t c = 0; c < kComponents; c++) words[c * kStride] = r.input[c][corner];
    record.vertex[k] = at;
  }
  return record;
}

std::vector<shader::VaryingComponent> components() {
  std::vector<shader::VaryingComponent> made(kComponents);
  for (uint32_t c = 0; c < kComponents; c++) made[c].component = c;
  made[3].interpolation = shader::Interpolation::flat;
  return made;
}

bool same_planes(const shader::PrimitiveSetup& a, const shader::PrimitiveSetup& b) {
  return std::memcmp(&a, &b, offsetof(shader::PrimitiveSetup, varying)) == 0;
}

/// Every half, from every vertex on: the planes of all are equal, and so are the corners.
void halves_have_one_setup() {
  for (int i = 0; i < 400; i++) {
    const Rectangle r = random_rectangle();
    Chunk chunk;
    shader::PrimitiveSetup first{};
    for (uint32_t without = 0; without < 4; without++)
      for (uint32_t turn = 0; turn < 3; turn++) {
        chunk.records.clear();
        *chunk.records.extend(1) = half(r, without, turn, chunk);
        const TriangleRecord& record = chunk.records[0];
        RectangleHalf found;
        CHECK(half_of(record, found) && found.missing == without);
        CHECK(found.x0 == r.x[0] && found.x1 == r.x[1] && found.y0 == r.y[0] && found.y1 == r.y[1]);
        shader::PrimitiveSetup setup{};
        set_up_primitive(record, chunk, {}, 0, true, setup);
        CHECK(setup.upright == 1 && setup.completes == (without == kLowerRight ? 0 : without + 1));
        if (without == 0 && turn == 0) first = setup;
        CHECK(same_planes(first, setup) && setup.q0 == r.q && setup.z0 == r.z && setup.zx == 0 && setup.qy == 0);
        for (size_t c = 0; c < kComponents; c++) {
          float corner[3];
          for (uint32_t k = 0; k < 3; k++) corner[k] = setup.varying[k][c * kStride];
          if (setup.completes) corner[without] = complete(corner, without);
          for (uint32_t k = 0; k < 3; k++) CHECK(std::bit_cast<uint32_t>(corner[k]) == std::bit_cast<uint32_t>(r.input[c][k]));
        }
      }
  }
}

/// Below 64 pixels there is none.
void small_rectangles() {
  Chunk chunk;
  Rectangle r = random_rectangle();
  RectangleHalf found;
  for (int32_t height : {2047, 2048})
    for (uint32_t without = 0; without < 4; without++) {
      r.x[1] = r.x[0] + 2048, r.y[1] = r.y[0] + height;
      CHECK(half_of(half(r, without, 0, chunk), found) == (height == 2048));
    }
}

/// An input that grows along both axes has at the missing corner what makes it affine.
void corners_are_affine() {
  for (uint32_t missing = 0; missing < 3; missing++) {
    const float all[4] = {3, 8, -4, 1};  // 8 + -4 - 3
    float corner[3] = {all[0], all[1], all[2]};
    corner[missing] = all[kLowerRight];
    CHECK(complete(corner, missing) == all[missing]);
  }
}

/// What is no half: another shape, depth, or 1/w.
void other_triangles() {
  Chunk chunk;
  for (int i = 0; i < 400; i++) {
    const Rectangle r = random_rectangle();
    const TriangleRecord right = half(r, static_cast<uint32_t>(i) & 3, rng() % 3, chunk);
    RectangleHalf found;
    CHECK(half_of(right, found));
    const uint32_t v = rng() % 3;
    TriangleRecord other = right;
    other.z[v] = std::nextafter(other.z[v], 2.0f);
    CHECK(!half_of(other, found));
    other = right;
    other.q[v] = std::nextafter(other.q[v], 9.0f);
    CHECK(!half_of(other, found));
    other = right;
    for (int32_t k = 0; k < 3; k++) other.x[k] += 40000 * k;  // leans
    CHECK(!half_of(other, found));
  }
}

void which_two_are_one() {
  const std::vector<shader::VaryingComponent> inputs = components();
  for (int i = 0; i < 400; i++) {
    const Rectangle r = random_rectangle();
    Chunk chunk;
    const auto without = static_cast<uint32_t>(i) & 3;
    const TriangleRecord a = half(r, without, rng() % 3, chunk), b = half(r, 3 - without, rng() % 3, chunk);
    RectangleHalf found;
    CHECK(is_rectangle(a, b, chunk, inputs, found) && found.missing == without);
    CHECK(!is_rectangle(a, a, chunk, inputs, found));
    CHECK(!is_rectangle(a, half(r, without ^ 1, 0, chunk), chunk, inputs, found));
    // Any value of the second half that is another one keeps them apart, a flat one where it provokes.
    for (uint32_t c = 0; c < kComponents; c++)
      for (uint32_t vertex = 0; vertex < 3; vertex++) {
        Chunk changed;
        const TriangleRecord first = half(r, without, 0, changed), second = half(r, 3 - without, 1, changed);
        float& value = changed.varyings.data()[second.vertex[vertex] + c * kStride];
        value = value * 2 + 1;
        CHECK(is_rectangle(first, second, changed, inputs, found) == (c == 3 && vertex != 0));
      }
    TriangleRecord other = b;
    other.draw_flags ^= kFrontFacing;
    CHECK(!is_rectangle(a, other, chunk, inputs, found));
    other = b, other.draw_flags ^= 1;
    CHECK(!is_rectangle(a, other, chunk, inputs, found));
    other = b;
    for (int32_t& x : other.x) x += 256;
    CHECK(!is_rectangle(a, other, chunk, inputs, found));
  }
}

}  // namespace

int main() {
  halves_have_one_setup();
  small_rectangles();
  corners_are_affine();
  other_triangles();
  which_two_are_one();
  return tilegpu::test::finish("test_rectangle_half");
}
