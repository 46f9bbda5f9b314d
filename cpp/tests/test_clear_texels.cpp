// tests/test_clear_texels.cpp -- blocks of which a texture has nothing, for random triangles in perspective: each texel that a filter could
// take in a block that is passed by is looked at, by coordinates and levels found in double precision; and ranges of values, against
// values.
#include "tile/plan/clear_texels.hpp"

#include <cmath>
#include <cstring>
#include <random>

#include "check.hpp"
#include "records/primitive_setup.hpp"
#include "shader/lower/value_range.hpp"

using namespace tilegpu;

namespace {

using Random = std::mt19937;
double uniform(Random& random, double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(random); }
int32_t whole(Random& random, int32_t lo, int32_t hi) { return std::uniform_int_distribution<int32_t>(lo, hi)(random); }

/// One byte a texel, mostly 0, with spots of any code.
struct Texture {
  std::vector<std::vector<uint8_t>> texels;
  shader::ImageViewAbi view{};

  Texture(Random& random, int32_t width, int32_t height, int32_t levels) {
    for (int32_t k = 0; k < levels; k++) {
      const int32_t w = std::max(width >> k, 1), h = std::max(height >> k, 1);
      std::vector<uint8_t>& level = texels.emplace_back(static_cast<size_t>(w) * static_cast<size_t>(h));
      for (int32_t spots = whole(random, 0, 3); spots > 0; spots--) {
        const int32_t x = whole(random, 0, w - 1), y = whole(random, 0, h - 1), side = whole(random, 1, std::max(w / 4, 1));
        const auto code = static_cast<uint8_t>(whole(random, 0, 255));
        for (int32_t j = y; j < std::min(y + side, h); j++)
          for (int32_t i = x; i < std::min(x + side, w); i++) level[static_cast<size_t>(j * w + i)] = code;
      }
      view.level[k] = {level.data(), static_cast<uint32_t>(w), w, h, 1};
    }
    view.level_count = levels, view.layer_count = view.sample_count = 1;
    view.code_bytes = 1 | 1 << 16;
  }
  /// At a place beyond the edges both what clamping and what repeating find.
  uint32_t code(int32_t level, int32_t x, int32_t y) const {
    const shader::ViewLevel& of = view.level[level];
    const auto at = [&](int32_t column, int32_t row) { return uint32_t{of.data[row * of.width_px + column]}; };
    const auto wrapped = [](int32_t v, int32_t size) { return (v % size + size) % size; };
    return std::max(at(std::clamp(x, 0, of.width_px - 1), std::clamp(y, 0, of.height_px - 1)),
                    at(wrapped(x, of.width_px), wrapped(y, of.height_px)));
  }
};

struct Triangle {
  records::TriangleRecord record{};
  shader::PrimitiveSetup setup{};
  float varyings[3 * shader::kBatchStride] = {};  // u, v

  void set_up() {
    const records::Barycentrics b = records::make_barycentrics(record);
    const float q0 = record.q[b.v0], q1 = record.q[b.v1], q2 = record.q[b.v2];
    setup.anchor_x = static_cast<float>(record.x[b.v0]) / 256, setup.anchor_y = static_cast<float>(record.y[b.v0]) / 256;
    setup.q0 = q0, setup.qx = (q1 - q0) * b.l1x + (q2 - q0) * b.l2x, setup.qy = (q1 - q0) * b.l1y + (q2 - q0) * b.l2y;
    setup.ix = q1 * b.l1x, setup.iy = q1 * b.l1y, setup.jx = q2 * b.l2x, setup.jy = q2 * b.l2y;
    setup.varying[0] = varyings + b.v0, setup.varying[1] = varyings + b.v1, setup.varying[2] = varyings + b.v2;
  }
  double q(double x, double y) const { return setup.q0 + setup.qx * (x - setup.anchor_x) + setup.qy * (y - setup.anchor_y); }
  double coordinate(uint32_t axis, double x, double y) const {
    const auto value = [&](uint32_t k) { return static_cast<double>(setup.varying[k][axis * shader::kBatchStride]); };
    const double dx = x - setup.anchor_x, dy = y - setup.anchor_y;
    const double i = setup.ix * dx + setup.iy * dy, j = setup.jx * dx + setup.jy * dy;
    return value(0) + (i * (value(1) - value(0)) + j * (value(2) - value(0))) / q(x, y);
  }
  bool holds(double x, double y) const {
    int signs = 0;
    for (int k = 0; k < 3; k++) {
      const int n = (k + 1) % 3;
      const double ax = record.x[k] / 256.0, ay = record.y[k] / 256.0, bx = record.x[n] / 256.0, by = record.y[n] / 256.0;
      signs += ((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0) ? 1 : -1;
    }
    return signs == 3 || signs == -3;
  }
};

/// The largest code that a filter at the pixel could take, of either level; `rho`: also what rounding makes of it.
uint32_t largest_code(const Texture& texture, const Triangle& t, double x, double y) {
  const auto size = [&](uint32_t axis, int32_t k) {
    return static_cast<double>(axis ? texture.view.level[k].height_px : texture.view.level[k].width_px);
  };
  // The quad's pixels, of which two make a derivative.
  const double qx = std::floor(x / 2) * 2 + 0.5, qy = std::floor(y / 2) * 2 + 0.5;
  double along[2] = {0, 0};
  for (uint32_t axis = 0; axis < 2; axis++) {
    const double n = size(axis, 0);
    along[0] += std::pow((t.coordinate(axis, qx + 1, y) - t.coordinate(axis, qx, y)) * n, 2);
    along[1] += std::pow((t.coordinate(axis, x, qy + 1) - t.coordinate(axis, x, qy)) * n, 2);
  }
  const double lod = std::clamp(0.5 * std::log2(std::max({along[0], along[1], 1e-30})), 0.0, texture.view.level_count - 1.0);
  uint32_t most = 0;
  for (int32_t k = static_cast<int32_t>(std::floor(lod)); k <= static_cast<int32_t>(std::ceil(lod)); k++) {
    const auto column = static_cast<int32_t>(std::floor(t.coordinate(0, x, y) * size(0, k) - 0.5));
    const auto row = static_cast<int32_t>(std::floor(t.coordinate(1, x, y) * size(1, k) - 0.5));
    for (int32_t j = 0; j < 2; j++)
      for (int32_t i = 0; i < 2; i++) most = std::max(most, texture.code(k, column + i, row + j));
  }
  return most;
}

Triangle random_triangle(Random& random, bool perspective) {
  Triangle t;
  const double size = std::exp(uniform(random, 1.5, 5.5));
  for (int k = 0; k < 3; k++) {
    t.record.x[k] = static_cast<int32_t>(uniform(random, 300, 300 + size) * 256);
    t.record.y[k] = static_cast<int32_t>(uniform(random, 300, 300 + size) * 256);
    t.record.q[k] = static_cast<float>(perspective ? uniform(random, 0.6, 1.4) * (whole(random, 0, 3) ? 1 : uniform(random, 0.3, 3)) : 0.5);
    t.varyings[k] = static_cast<float>(uniform(random, -0.1, 1.1));
    t.varyings[shader::kBatchStride + k] = static_cast<float>(uniform(random, 0, 1));
  }
  if (whole(random, 0, 3) == 0)
    for (float& v : t.varyings) v *= 4;
  t.set_up();
  return t;
}

/// How many blocks with pixels of the primitive there are, have nothing, and are passed by.
struct Count {
  int blocks = 0, empty = 0, passed_by = 0;
};

void compare(Random& random, double beyond_px, Count& count) {
  const Texture texture(random, 1 << whole(random, 0, 7), 1 << whole(random, 0, 7), whole(random, 1, 8) < 3 ? 1 : whole(random, 1, 8));
  const uint32_t most = whole(random, 0, 1) ? 0 : static_cast<uint32_t>(whole(random, 0, 254));
  const auto map = tile::read_texels(texture.view, 0, most);
  tile::FaintDraw draw;
  draw.map = map.get(), draw.highest = texture.view.level_count - 1, draw.lowest = draw.highest, draw.rows = {0, 1};
  draw.beyond_px = beyond_px;
  const Triangle t = random_triangle(random, whole(random, 0, 3) != 0);
  const auto& r = t.record;
  const int64_t area = int64_t{r.x[1] - r.x[0]} * (r.y[2] - r.y[0]) - int64_t{r.x[2] - r.x[0]} * (r.y[1] - r.y[0]);
  if (std::abs(area) < 65536) return;
  const tile::FaintBlocks blocks(draw, t.record, t.setup);
  for (int32_t y = 296; y < 600; y += 4)
    for (int32_t x = 296; x < 600; x += 4) {
      uint32_t largest = 0;
      bool any = false;
      for (int32_t k = 0; k < 16; k++) {
        const double px = x + k % 4 + 0.5, py = y + k / 4 + 0.5;
        bool counts = t.holds(px, py);
        for (int32_t n = 0; beyond_px > 0 && n < 4; n++)
          counts |= t.holds(px + (n % 2 ? beyond_px : -beyond_px), py + (n / 2 ? beyond_px : -beyond_px));
        if (!counts || !(t.q(px, py) > 0)) continue;
        any = true;
        largest = std::max(largest, largest_code(texture, t, px, py));
      }
      if (!any) continue;
      count.blocks++, count.empty += largest <= most;
      if (blocks.shows(x, y)) continue;
      count.passed_by++;
      CHECK(largest <= most, "block %d %d: code %u, most %u", x, y, largest, most);
    }
}

void test_blocks() {
  for (const double beyond_px : {0.0, 1.0}) {
    Random random(7);
    Count count;
    for (int k = 0; k < 1500; k++) compare(random, beyond_px, count);
    std::printf("beyond %g: %d blocks, %d have nothing, %d passed by\n", beyond_px, count.blocks, count.empty, count.passed_by);
    CHECK(count.empty > count.blocks / 4 && count.passed_by > count.empty / 4);
  }
}

// What is no number, and what lies behind the viewer, is never sure.
void test_odd_triangles() {
  Random random(11);
  const Texture texture(random, 16, 16, 1);
  const Texture* const kept = &texture;
  const auto map = tile::read_texels(kept->view, 0, 254);
  tile::FaintDraw draw;
  draw.map = map.get(), draw.rows = {0, 1};
  const float odd[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 1e-30f};
  for (const float v : odd)
    for (int where = 0; where < 3; where++) {
      Triangle t;
      const int32_t x[3] = {0, 4096, 0}, y[3] = {0, 0, 4096};
      for (int k = 0; k < 3; k++) t.record.x[k] = x[k], t.record.y[k] = y[k], t.record.q[k] = 1;
      (where == 2 ? t.record.q[1] : t.varyings[where * static_cast<int>(shader::kBatchStride)]) = v;
      t.set_up();
      const bool harmless = where < 2 && v == 1e-30f;
      CHECK(tile::FaintBlocks(draw, t.record, t.setup).shows(0, 0) != harmless, "%g at %d", static_cast<double>(v), where);
    }
}

// Values of a random expression lie in its range.
void test_ranges() {
  using namespace shader;
  Random random(3);
  struct Term {
    float value;
    Range range;
  };
  int known = 0;
  for (int round = 0; round < 20000; round++) {
    std::vector<Term> terms;
    for (int k = 0; k < 3; k++) {
      const double lo = whole(random, 0, 2) ? uniform(random, -2, 2) : 0, hi = lo + (whole(random, 0, 2) ? uniform(random, 0, 1) : 0);
      const auto low = static_cast<float>(lo), high = std::max(static_cast<float>(hi), low);
      terms.push_back({std::clamp(static_cast<float>(uniform(random, lo, hi)), low, high), between(low, high)});
    }
    for (int k = 0; k < 6; k++) {
      const auto any = [&]() -> const Term& {
        return terms[static_cast<size_t>(whole(random, 0, static_cast<int32_t>(terms.size()) - 1))];
      };
      const Term a = any(), b = any(), c = any();
      const float x = a.value, y = b.value;
      const auto cubic = [](float e0, float e1, float v) {
        const float t = std::min(std::max((v - e0) / (e1 - e0), 0.0f), 1.0f);
        return t * t * (3.0f - 2.0f * t);
      };
      switch (whole(random, 0, 10)) {
        case 0:
          terms.push_back({x + y, sum(a.range, b.range)});
          break;
        case 1:
          terms.push_back({x - y, difference(a.range, b.range)});
          break;
        case 2:
          terms.push_back({x * y, product(a.range, b.range)});
          break;
        case 3:
          terms.push_back({x / y, quotient(a.range, b.range)});
          break;
        case 4:
          terms.push_back({std::min(x, y), least(a.range, b.range)});
          break;
        case 5:
          terms.push_back({std::max(x, y), greatest(a.range, b.range)});
          break;
        case 6:
          terms.push_back({std::fabs(x), magnitude(a.range)});
          break;
        case 7:
          terms.push_back({-x, negated(a.range)});
          break;
        case 8:
          terms.push_back({x < y ? 1.0f : 0.0f, less(a.range, b.range)});
          break;
        case 9:
          terms.push_back({cubic(c.value, y, x), smooth_step(c.range, b.range, a.range)});
          break;
        default:
          terms.push_back({x < y ? 0.0f : 1.0f, negation(less(a.range, b.range))});
          break;
      }
    }
    for (const Term& t : terms) {
      if (!t.range.known) continue;
      known++;
      CHECK(t.value >= t.range.lo && t.value <= t.range.hi, "%g in %g to %g", static_cast<double>(t.value), t.range.lo, t.range.hi);
    }
  }
  CHECK(known > 100000);
  CHECK(!quotient(between(1, 1), between(0, 1)).known && !product(between(0, 0), Range{}).known);
  CHECK(product(between(0, 0), between(-5, 7)) == between(0, 0) && !sum(between(1e30, 1e30), between(1e30, 1e30)).known);
  CHECK(is_false(conjunction(Range{}, truth(false))) && !conjunction(Range{}, truth(true)).known &&
        is_true(disjunction(truth(true), Range{})));
  CHECK(slope(between(0, 0)) == between(0, 0) && !less(between(0, 1), between(1, 2)).known && is_false(less(between(1, 2), between(0, 1))));
}

}  // namespace

int main() {
  test_blocks();
  test_odd_triangles();
  test_ranges();
  return tilegpu::test::finish("test_clear_texels");
}
