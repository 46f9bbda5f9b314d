// Clipping, culling, viewport transform, depth bias, lines and points, hostile positions.
#include <algorithm>
#include <array>
#include <limits>

#include "geometry_fixture.hpp"

using namespace fixture;

namespace {

std::mt19937 rng(2);
float uniform(float low, float high) { return low + (high - low) * static_cast<float>(rng() >> 8) * 0x1p-24f; }

// Framebuffer positions of a whole picture's samples that the records cover, how often.
bool in_box(const TriangleRecord& r, int32_t x, int32_t y) {
  const auto [x0, x1] = std::minmax({r.x[0], r.x[1], r.x[2]});
  const auto [y0, y1] = std::minmax({r.y[0], r.y[1], r.y[2]});
  return x >= x0 && x < x1 && y >= y0 && y < y1;
}

// `squares`: records are points, whose box is covered.
std::vector<int> coverage(const Scene& scene, bool squares = false) {
  std::vector<int> count(scene.width_px * scene.height_px);
  for (const TriangleRecord& r : scene.records()) {
    const auto low = [&](const int32_t* v) { return std::max(0, std::min({v[0], v[1], v[2]}) >> 8); };
    const auto high = [&](const int32_t* v, uint32_t end) {
      return std::min<int>(static_cast<int>(end) - 1, std::max({v[0], v[1], v[2]}) >> 8);
    };
    for (int y = low(r.y); y <= high(r.y, scene.height_px); y++)
      for (int x = low(r.x); x <= high(r.x, scene.width_px); x++)
        count[static_cast<size_t>(y) * scene.width_px + static_cast<size_t>(x)] +=
            squares ? in_box(r, x * 256 + 128, y * 256 + 128) : covers(r, x * 256 + 128, y * 256 + 128);
  }
  return count;
}

// Where the ray through a pixel meets the plane of a clip-space triangle: barycentrics in homogeneous space (not divided).
bool hit(const Vec4 v[3], double x_ndc, double y_ndc, double bary[3], Vec4* at) {
  // Solve b0*(x0 - X w0) + b1*(..) + b2*(..) = 0 and the same in y: b is a cross product.
  double ex[3], ey[3];
  for (int i = 0; i < 3; i++) {
    ex[i] = v[i].x - x_ndc * v[i].w;
    ey[i] = v[i].y - y_ndc * v[i].w;
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    bary[i] = ex[j] * ey[k] - ex[k] * ey[j];
  }
  const double sum = bary[0] + bary[1] + bary[2];
  if (sum == 0) return false;
  double p[4] = {0, 0, 0, 0};
  for (int i = 0; i < 3; i++) {
    bary[i] /= sum;
    p[0] += bary[i] * v[i].x;
    p[1] += bary[i] * v[i].y;
    p[2] += bary[i] * v[i].z;
    p[3] += bary[i] * v[i].w;
  }
  *at = {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]), static_cast<float>(p[3])};
  return true;
}

// Random triangles across all planes: a pixel is covered exactly where the ray through it meets the triangle inside the planes
// (pixels close to a border of the shape are left out), and interpolated varyings and depth are those of the point that is met.
void test_clipping_keeps_what_is_inside() {
  int compared = 0, covered = 0;
  for (int round = 0; round < 240; round++) {
    Scene scene;
    scene.varyings(4);
    const int mode = round % 4;  // 0: near/far; 1: depth clamp; 2: clip distance; 3: viewport smaller than the scissor
    if (mode == 1) scene.info.rasterization.depth_clamp = true;
    shader_config.distances = mode == 2 ? 1 : 0;
    scene.resolved.stages.find(VK_SHADER_STAGE_VERTEX_BIT)->traits.clip_distances = shader_config.distances;
    Vec4 v[3];
    float clip[3];
    for (int i = 0; i < 3; i++) {
      v[i] = {uniform(-3, 3), uniform(-3, 3), uniform(-1.5f, 2.5f), uniform(mode == 3 ? 0.3f : -1.0f, 2)};
      clip[i] = uniform(-1, 1);
      scene.positions.push_back(v[i]);
      scene.distances.push_back({clip[i], 0, 0, 0});
    }
    scene.draw(3);
    if (mode == 3) scene.states.back().viewport = {16, 8, 32, 40, 0, 1};
    const VkViewport vp = scene.states.back().viewport;
    scene.run();
    const std::vector<int> count = coverage(scene);
    const auto inside_at = [&](double px, double py, double bary[3], Vec4* at) {
      if (mode == 3 && (px < vp.x || px >= vp.x + vp.width || py < vp.y || py >= vp.y + vp.height)) return false;
      if (!hit(v, (px - vp.x) / (vp.width * 0.5) - 1, (py - vp.y) / (vp.height * 0.5) - 1, bary, at)) return false;
      if (bary[0] < 0 || bary[1] < 0 || bary[2] < 0 || at->w <= 0) return false;
      if (mode != 1 && (at->z < 0 || at->z > at->w)) return false;
      return mode != 2 || bary[0] * clip[0] + bary[1] * clip[1] + bary[2] * clip[2] >= 0;
    };
    for (int y = 0; y < 64; y++) {
      for (int x = 0; x < 64; x++) {
        double bary[3], ignored[3];
        Vec4 at, other;
        const bool inside = inside_at(x + 0.5, y + 0.5, bary, &at);
        bool border = false;
        for (int k = 0; k < 8; k++) {
          const int column = k % 3 - 1, row = k / 3 - 1;
          for (const double away : {0.05, 0.013})
            border |= inside != inside_at(x + 0.5 + away * column, y + 0.5 + away * row, ignored, &other);
        }
        if (border) continue;
        compared++;
        CHECK(count[static_cast<size_t>(y * 64 + x)] == (inside ? 1 : 0));
        if (!inside) continue;
        covered++;
        for (const auto& chunk : scene.chunks) {
          for (const TriangleRecord& r : chunk->records) {
            if (!covers(r, x * 256 + 128, y * 256 + 128)) continue;
            const double a = static_cast<double>(area(r));
            if (a < 256.0 * 256.0 * 4) continue;  // slivers amplify the snapping of their vertices
            const double l1 = edge(r, 2, 0, x * 256 + 128, y * 256 + 128) / a, l2 = edge(r, 0, 1, x * 256 + 128, y * 256 + 128) / a;
            const double l0 = 1 - l1 - l2;
            const double q = l0 * r.q[0] + l1 * r.q[1] + l2 * r.q[2];
            const double exact[4] = {at.x, at.y, at.z, at.w};
            for (uint32_t c = 0; c < 4; c++) {
              double value = 0;
              const double l[3] = {l0, l1, l2};
              for (int i = 0; i < 3; i++) value += l[i] * r.q[i] * static_cast<double>(chunk->varyings[r.vertex[i] + c * 32]);
              value /= q;
              // Snapping moves vertices by 1/512 px; where 1/w changes quickly over a pixel, that is visible.
              double change = 0;
              for (int k = 0; k < 3; k++)
                for (int m = 0; m < 3; m++) change = std::max(change, std::fabs(double{r.q[k]} / r.q[m]));
              CHECK(std::fabs(value - exact[c]) < 0.05 * (1 + std::fabs(exact[c])) * std::max(1.0, change / 4) || change > 100);
            }
          }
        }
      }
    }
  }
  shader_config.distances = 0;
  CHECK(compared > 200000 && covered > 20000);
}

// A sheet of triangles that goes through the camera, far beyond the guard band and through near: no sample twice, none missing.
void test_shared_edges_are_cut_at_the_same_point() {
  int full = 0;
  uint64_t clipped = 0;
  for (int round = 0; round < 60; round++) {
    Scene scene;
    scene.width_px = scene.height_px = 128;
    shader_config = {};
    const int n = 12;
    const float size = round % 3 == 0 ? 1e5f : round % 3 == 1 ? 3.0f : 60.0f;
    const float tilt = uniform(-1, 1), height = uniform(0.05f, 1);
    std::vector<uint32_t> indices;
    for (int j = 0; j <= n; j++) {
      for (int i = 0; i <= n; i++) {
        const bool inner = i > 0 && j > 0 && i < n && j < n;
        const float u = (static_cast<float>(i) / n * 2 - 1 + (inner ? uniform(-0.03f, 0.03f) : 0)) * size;
        const float v = (static_cast<float>(j) / n * 2 - 1 + (inner ? uniform(-0.03f, 0.03f) : 0)) * size;
        // A plane below the camera, which looks along v; near 0.01, far 1e6.
        const float depth = v, near = 0.01f, far = 1e6f;
        scene.positions.push_back({u, height + tilt * u * 0.1f, far / (far - near) * (depth - near), depth});
      }
    }
    for (uint32_t j = 0; j < n; j++)
      for (uint32_t i = 0; i < n; i++) {
        const uint32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
        if (rng() & 1)
          indices.insert(indices.end(), {a, b, c, b, d, c});
        else
          indices.insert(indices.end(), {a, b, d, a, d, c});
      }
    scene.draw_indexed(indices);
    scene.run();
    clipped += scene.stats().primitives_clipped;
    const std::vector<int> count = coverage(scene);
    for (int y = 0; y < 128; y++) {
      for (int x = 0; x < 128; x++) {
        const int c = count[static_cast<size_t>(y) * 128 + static_cast<size_t>(x)];
        // The plane's point under this pixel: y = height + tilt * 0.1 * x lies at depth d. At the horizon snapping turns triangles
        // over, so only what is near is compared.
        const double X = (x + 0.5) / 64 - 1, Y = (y + 0.5) / 64 - 1;
        const double d = height / (Y - tilt * 0.1 * X);
        const double margin = 0.03 * size;
        if (d > 0.011 && d < 50) CHECK(c <= 1);
        if (d > -50 && d < 0) CHECK(c == 0);
        if (d > 0.011 && d < size - margin && std::fabs(X * d) < size - margin && d < 50) {
          CHECK(c == 1);
          full++;
        }
      }
    }
  }
  CHECK(full > 20000 && clipped > 200);
}

// Two triangles that run along their common edge in opposite directions get the very same new vertices on it.
void test_cuts_do_not_depend_on_direction() {
  int cuts = 0;
  for (int round = 0; round < 4000; round++) {
    std::vector<std::array<float, 9>> on_edge[2];
    Vec4 v[4];
    for (Vec4& p : v) p = {uniform(-3, 3), uniform(-3, 3), uniform(-1.5f, 2.5f), uniform(-1, 2)};
    if (round % 2) v[0].x *= 1e6f;  // outside the guard band
    for (int side = 0; side < 2; side++) {
      Scene scene;
      scene.varyings(5);
      scene.info.rasterization.depth_clamp = round % 3 == 0;
      if (side == 0)
        scene.positions = {v[0], v[1], v[2]};
      else
        scene.positions = {v[3], v[1], v[0]};
      // Varying 4 is 0 on the common edge.
      for (const Vec4& p : scene.positions)
        scene.distances.push_back({0, 0, 0, std::memcmp(&p, &v[0], sizeof p) != 0 && std::memcmp(&p, &v[1], sizeof p) != 0 ? 1.0f : 0.0f});
      scene.draw(3);
      scene.width_px = scene.height_px = 16384;
      scene.states.back().viewport = {0, 0, 16384, 16384, 0, 1};
      scene.states.back().scissor = {{0, 0}, {16384, 16384}};
      scene.run();
      for (const auto& chunk : scene.chunks)
        for (const TriangleRecord& r : chunk->records)
          for (int i = 0; i < 3; i++) {
            std::array<float, 9> key = {static_cast<float>(r.x[i]), static_cast<float>(r.y[i]), r.z[i], r.q[i]};
            for (uint32_t c = 0; c < 5; c++) key[4 + c] = chunk->varyings[r.vertex[i] + c * 32];
            if (key[8] == 0) on_edge[side].push_back(key);
          }
    }
    // What is left of the common edge has two ends; parts without a pixel may hide one of them on either side.
    auto ends = on_edge[0];
    ends.insert(ends.end(), on_edge[1].begin(), on_edge[1].end());
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    CHECK(ends.size() <= 2);
    cuts += ends.size() == 2 && !on_edge[0].empty() && !on_edge[1].empty();
  }
  CHECK(cuts > 500);
}

void test_nothing_is_cut_within_the_guard_band() {
  Scene scene;
  shader_config = {};
  scene.width_px = scene.height_px = 16384;
  scene.bin_px = 64;
  scene.positions = {at_px(-32700, -32700, 0.5f, 16384, 16384), at_px(32700, -32700, 0.5f, 16384, 16384),
                     at_px(-32700, 32700, 0.5f, 16384, 16384)};
  scene.draw(3);
  scene.run();
  CHECK(scene.stats().primitives_clipped == 0 && scene.records().size() == 1);
  CHECK(scene.records()[0].x[0] == -32700 * 256 && scene.records()[0].y[0] == -32700 * 256);
  scene.positions[1] = at_px(40000, -32700, 0.5f, 16384, 16384);
  scene.run();
  CHECK(scene.stats().primitives_clipped == 1 && scene.records().size() == 2);
  for (const auto& r : scene.records())
    for (int i = 0; i < 3; i++) CHECK(std::abs(r.x[i]) <= 32768 * 256 && std::abs(r.y[i]) <= 32768 * 256);
}

void test_culling_and_facing() {
  for (bool clockwise : {false, true}) {
    for (auto front : {VK_FRONT_FACE_COUNTER_CLOCKWISE, VK_FRONT_FACE_CLOCKWISE}) {
      for (VkCullModeFlags mode : {0u, 1u, 2u, 3u}) {
        for (bool cut : {false, true}) {
          for (bool flipped : {false, true}) {
            Scene scene;
            shader_config = {};
            scene.info.rasterization.front_face = front;
            scene.info.rasterization.cull_mode = mode;
            // On the screen: right, then down: clockwise.
            scene.positions = {at_px(8, 8), at_px(56, 8), at_px(56, 56)};
            if (cut) scene.positions[1].z = -0.5f;
            if (!clockwise) std::swap(scene.positions[1], scene.positions[2]);
            scene.draw(3);
            if (flipped) scene.states.back().viewport = {0, 64, 64, -64, 0, 1};
            scene.run();
            const bool looks_clockwise = clockwise != flipped;
            const bool is_front = looks_clockwise == (front == VK_FRONT_FACE_CLOCKWISE);
            const bool culled = mode & (is_front ? VK_CULL_MODE_FRONT_BIT : VK_CULL_MODE_BACK_BIT);
            CHECK(scene.records().empty() == culled);
            CHECK(scene.stats().primitives_culled == (culled ? 1 : 0));
            CHECK(scene.stats().primitives_clipped == (cut && !culled ? 1 : 0));
            for (const auto& r : scene.records()) {
              CHECK(area(r) > 0);
              CHECK(((r.draw_flags & kFrontFacing) != 0) == is_front);
            }
          }
        }
      }
    }
  }
}

void test_viewport_transform() {
  Scene scene;
  shader_config = {};
  scene.positions = {{-1, -1, 0.25f, 1}, {2, -2, 1, 2}, {1, 1, 0, 1}};
  scene.draw(3);
  scene.states.back().viewport = {10, 50, 20, -40, 0.75f, 0.25f};
  scene.run();
  CHECK(scene.records().size() == 1);
  const TriangleRecord r = scene.records()[0];
  int found = 0;
  for (int i = 0; i < 3; i++) {
    if (r.x[i] == 10 * 256 && r.y[i] == 50 * 256) found |= (r.z[i] == 0.625f && r.q[i] == 1.0f) ? 1 : 0;
    if (r.x[i] == 30 * 256 && r.y[i] == 50 * 256) found |= (r.z[i] == 0.5f && r.q[i] == 0.5f) ? 2 : 0;
    if (r.x[i] == 30 * 256 && r.y[i] == 10 * 256) found |= (r.z[i] == 0.75f && r.q[i] == 1.0f) ? 4 : 0;
  }
  CHECK(found == 7);
}

void test_cull_distance() {
  Scene scene;
  shader_config.components = 0;
  shader_config.distances = 2;
  scene.resolved.stages.find(VK_SHADER_STAGE_VERTEX_BIT)->traits.cull_distances = 2;
  scene.positions = {at_px(8, 8), at_px(56, 8), at_px(56, 56)};
  scene.distances = {{-1, 1, 0, 0}, {-1, -1, 0, 0}, {-1, 1, 0, 0}};
  scene.draw(3);
  scene.run();
  CHECK(scene.records().empty());
  scene.distances[2].x = 0;
  scene.run();
  CHECK(scene.records().size() == 1 && scene.stats().primitives_clipped == 0);
  shader_config.distances = 0;
}

void test_depth_bias() {
  const auto z_of = [](VkFormat format, float constant, float slope, float clamp, float dzdx) {
    Scene scene;
    shader_config = {};
    scene.info.depth_format = format;
    scene.info.rasterization.depth_bias_enable = true;
    scene.info.rasterization.depth_bias_constant = constant;
    scene.info.rasterization.depth_bias_slope = slope;
    scene.info.rasterization.depth_bias_clamp = clamp;
    scene.positions = {at_px(0, 0, 0.5f), at_px(32, 0, 0.5f + 32 * dzdx), at_px(0, 32, 0.5f)};
    scene.draw(3);
    scene.run();
    CHECK(scene.records().size() == 1);
    return scene.records()[0].z[0];
  };
  CHECK(z_of(VK_FORMAT_D16_UNORM, 3, 0, 0, 0) == 0.5f + 3 * 0x1p-16f);
  CHECK(z_of(VK_FORMAT_X8_D24_UNORM_PACK32, 3, 0, 0, 0) == 0.5f + 3 * 0x1p-24f);
  CHECK(z_of(VK_FORMAT_D32_SFLOAT, 1024, 0, 0, 0) == 0.5f + 1024 * 0x1p-24f);  // the largest exponent is -1
  CHECK(z_of(VK_FORMAT_D32_SFLOAT, 0, 2, 0, 0x1p-8f) == 0.5f + 0x1p-7f);
  CHECK(z_of(VK_FORMAT_D16_UNORM, 0, -2, 0, 0x1p-8f) == 0.5f - 0x1p-7f);
  CHECK(z_of(VK_FORMAT_D16_UNORM, 0, 2, 0x1p-10f, 0x1p-8f) == 0.5f + 0x1p-10f);
  CHECK(z_of(VK_FORMAT_D16_UNORM, 0, -2, -0x1p-10f, 0x1p-8f) == 0.5f - 0x1p-10f);
  CHECK(z_of(VK_FORMAT_UNDEFINED, 1000, 2, 0, 0x1p-8f) == 0.5f);
}

void test_hostile_positions() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0,     -0.0f,  1,      -1,  0.5f, 1e-45f, 1e-38f,      3e38f,    -3e38f,
                          1e20f, -1e20f, 1e-20f, inf, -inf, nan,    16777216.0f, 32768.0f, -32767.0f};
  for (int round = 0; round < 30000; round++) {
    static Scene scene;
    if (round % 3000 == 0) {
      scene.draws.clear();
      scene.commands.clear();
      scene.states.clear();
      scene.samples = 1u << (round / 3000 % 5);
      scene.varyings(2);
      scene.info.rasterization.depth_clamp = round / 3000 % 2;
      scene.info.rasterization.polygon_mode = round / 3000 % 3 == 2 ? VK_POLYGON_MODE_LINE : VK_POLYGON_MODE_FILL;
      scene.resolved.stages.find(VK_SHADER_STAGE_VERTEX_BIT)->traits.clip_distances = shader_config.distances = round / 3000 % 4;
      scene.draw(30);
      if (round / 3000 % 4 == 3) scene.states.back().viewport = {20, 20, 10, 10, 0, 1};
    }
    scene.positions.clear();
    scene.distances.clear();
    const auto pick = [&] { return rng() % 4 ? uniform(-2, 2) : values[rng() % std::size(values)]; };
    for (int i = 0; i < 30; i++) scene.positions.push_back({pick(), pick(), pick(), pick()});
    for (int i = 0; i < 30; i++) scene.distances.push_back({pick(), pick(), pick(), pick()});
    scene.run();
    for (const auto& chunk : scene.chunks) {
      for (const TriangleRecord& r : chunk->records) {
        CHECK(area(r) > 0);
        for (int i = 0; i < 3; i++) {
          CHECK(std::abs(r.x[i]) <= 32800 * 256 && std::abs(r.y[i]) <= 32800 * 256);
          CHECK(std::isfinite(r.z[i]) && std::isfinite(r.q[i]) && r.q[i] > 0);
          CHECK(r.vertex[i] + shader::kBatchStride < chunk->varyings.size());
        }
      }
    }
  }
  // One bad vertex removes its primitive and no other.
  for (float bad : {inf, -inf, nan}) {
    for (int component = 0; component < 4; component++) {
      Scene scene;
      shader_config = {};
      scene.positions = {at_px(8, 8), at_px(56, 8), at_px(56, 56), at_px(8, 56)};
      (&scene.positions[3].x)[component] = bad;
      scene.draw_indexed(std::vector<uint32_t>{0, 1, 2, 0, 2, 3});
      scene.run();
      CHECK(scene.records().size() == 1);
    }
  }
  // A viewport of NaN or without size draws nothing, and does no harm.
  for (const VkViewport& viewport : {VkViewport{nan, 0, 64, 64, 0, 1}, VkViewport{0, 0, inf, 64, 0, 1}, VkViewport{0, 0, 0, 0, 0, 1},
                                     VkViewport{0, 0, 64, 64, nan, 1}}) {
    Scene scene;
    scene.positions = {at_px(8, 8), at_px(56, 8), at_px(56, 56)};
    scene.draw(3);
    scene.states.back().viewport = viewport;
    scene.run();
    CHECK(scene.records().empty());
  }
}

void test_provoking_vertex_of_cut_triangles() {
  for (bool last : {false, true}) {
    for (int round = 0; round < 300; round++) {
      Scene scene;
      scene.info.rasterization.provoking_vertex_last = last;
      scene.varyings(2, {shader::Interpolation::flat, shader::Interpolation::smooth});
      for (int i = 0; i < 3; i++) scene.positions.push_back({uniform(-1, 1), uniform(-1, 1), uniform(-1, 2), 1});
      scene.draw(3);
      scene.run();
      for (const auto& chunk : scene.chunks)
        for (const TriangleRecord& r : chunk->records)
          CHECK(chunk->varyings[r.vertex[r.draw_flags >> kProvokingShift & 3]] == scene.positions[last ? 2 : 0].x);
    }
  }
}

// Lines of one pixel: one pixel in each column (row) that they cross, flat values and facing right.
void test_lines() {
  for (int round = 0; round < 200; round++) {
    Scene scene;
    scene.info.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
    scene.varyings(1, {shader::Interpolation::flat});
    scene.info.rasterization.provoking_vertex_last = round & 1;
    const float x0 = uniform(1, 63), y0 = uniform(1, 63), x1 = uniform(1, 63), y1 = uniform(1, 63);
    scene.positions = {at_px(x0, y0), at_px(x1, y1)};
    scene.draw(2);
    scene.run();
    const auto count = coverage(scene);
    const bool along_x = std::fabs(x1 - x0) >= std::fabs(y1 - y0);
    for (int i = 0; i < 64; i++) {
      int in_line = 0;
      for (int j = 0; j < 64; j++) in_line += count[static_cast<size_t>(along_x ? j * 64 + i : i * 64 + j)];
      const float center = static_cast<float>(i) + 0.5f, low = along_x ? std::min(x0, x1) : std::min(y0, y1),
                  high = along_x ? std::max(x0, x1) : std::max(y0, y1);
      if (center > low + 0.01f && center < high - 0.01f) CHECK(in_line == 1);
      if (center < low - 0.01f || center > high + 0.01f) CHECK(in_line == 0);
    }
    for (const auto& chunk : scene.chunks)
      for (const TriangleRecord& r : chunk->records) {
        CHECK(r.draw_flags & kFrontFacing);
        CHECK(chunk->varyings[r.vertex[r.draw_flags >> kProvokingShift & 3]] == scene.positions[round & 1].x);
      }
  }
  // A line from behind the camera is cut, not mirrored.
  Scene scene;
  scene.varyings(4);
  scene.info.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
  scene.positions = {{0, 0, 0.5f, 1}, {0.5f, 0, -1, -1}};
  scene.draw(2);
  scene.run();
  CHECK(scene.stats().primitives_clipped == 1 && !scene.records().empty());
  for (const TriangleRecord& r : scene.records())
    for (int i = 0; i < 3; i++) CHECK(r.x[i] >= 32 * 256 && r.q[i] > 0);
}

void test_points_and_wireframe() {
  Scene points;
  shader_config = {};
  points.info.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
  for (int i = 0; i < 40; i++) points.positions.push_back(at_px(static_cast<float>(i) + 0.5f, static_cast<float>(i) + 0.3f));
  points.draw(40);
  points.run();
  const auto dots = coverage(points, true);
  CHECK(points.records().size() == 40);
  for (int y = 0; y < 64; y++)
    for (int x = 0; x < 64; x++) CHECK(dots[static_cast<size_t>(y * 64 + x)] == (x == y && x < 40));

  Scene wire;
  wire.info.rasterization.polygon_mode = VK_POLYGON_MODE_LINE;
  wire.info.rasterization.cull_mode = VK_CULL_MODE_BACK_BIT;
  wire.info.rasterization.front_face = VK_FRONT_FACE_CLOCKWISE;
  wire.varyings(1, {shader::Interpolation::flat});
  wire.positions = {at_px(8.5f, 8.5f), at_px(56.5f, 8.5f), at_px(56.5f, 56.5f)};
  wire.draw(3);
  wire.draw_indexed(std::vector<uint8_t>{0, 2, 1});  // away: culled
  wire.run();
  const auto lines = coverage(wire);
  CHECK(lines[30 * 64 + 30] == 1 && lines[8 * 64 + 30] == 1 && lines[30 * 64 + 56] == 1);
  CHECK(lines[20 * 64 + 40] == 0 && lines[40 * 64 + 20] == 0);
  CHECK(wire.records().size() == 6 && wire.stats().primitives_culled == 1);
  for (const auto& chunk : wire.chunks)
    for (const TriangleRecord& r : chunk->records)
      CHECK(chunk->varyings[r.vertex[r.draw_flags >> kProvokingShift & 3]] == wire.positions[0].x);
}

}  // namespace

int main() {
  test_clipping_keeps_what_is_inside();
  test_shared_edges_are_cut_at_the_same_point();
  test_cuts_do_not_depend_on_direction();
  test_nothing_is_cut_within_the_guard_band();
  test_culling_and_facing();
  test_viewport_transform();
  test_cull_distance();
  test_depth_bias();
  test_hostile_positions();
  test_provoking_vertex_of_cut_triangles();
  test_lines();
  test_points_and_wireframe();
  return tilegpu::test::finish("geometry_clip");
}
