// Cost of the geometry phase without the code generator: mesh_1m of shared/peers/SCENES.md with a vertex shader in C++, one
// thread. Prints processor time a triangle: all, the shader alone (called again on the same batches), the rest.
// Build: g++ -std=c++20 -O2 -march=x86-64-v3 with cpp/include, cpp/src and the rooms geometry, tiler, pipeline.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "geometry/census.hpp"

using namespace tilegpu;
using namespace tilegpu::geometry;

namespace {

struct Vertex {
  float position[3], normal[3], uv[2];
};
struct Matrix {
  double m[4][4] = {};
};
Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix r;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) r.m[i][j] += a.m[i][k] * b.m[k][j];
  return r;
}
Matrix rotation(int axis, double angle) {
  Matrix r;
  for (int i = 0; i < 4; i++) r.m[i][i] = 1;
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  r.m[a][a] = r.m[b][b] = std::cos(angle);
  r.m[a][b] = -std::sin(angle);
  r.m[b][a] = std::sin(angle);
  return r;
}

float mvp[16];         // row-major
int shader_calls = 1;  // 2: to find out what one costs

double thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// What the clock really is (virtual machines and their neighbours): a chain of additions takes one cycle each.
double cycles_per_ns() {
  double best = 0;
  for (int round = 0; round < 8; round++) {
    const double start = thread_ns();
    uint64_t x = 1;
    for (int i = 0; i < 1000000; i++) {
      x += static_cast<uint64_t>(i);
      asm volatile("" : "+r"(x));
    }
    best = std::max(best, 1e6 / (thread_ns() - start));
  }
  return best;
}

__attribute__((optimize("O3"), noinline)) void shade_once(shader::VertexArgs* a) {
  const auto* vertices = reinterpret_cast<const Vertex*>(a->bindings[0].data);
  constexpr uint32_t kStride = shader::kBatchStride;
  for (uint32_t v = 0; v < a->count; v++) {
    const Vertex& in = vertices[a->vertex_index[v]];
    for (int r = 0; r < 4; r++)
      a->position[r * kStride + v] =
          mvp[4 * r] * in.position[0] + mvp[4 * r + 1] * in.position[1] + mvp[4 * r + 2] * in.position[2] + mvp[4 * r + 3];
    for (int c = 0; c < 3; c++) a->varyings[c * kStride + v] = in.normal[c];
    for (int c = 0; c < 2; c++) a->varyings[(3 + c) * kStride + v] = in.uv[c];
  }
}
void shade(shader::VertexArgs* a) {
  for (int i = 0; i < shader_calls; i++) shade_once(a);
}

}  // namespace

int main(int argc, char** argv) {
  const bool shuffled = argc > 1 && !std::strcmp(argv[1], "shuffled");
  const int nu = 1000, nv = 500;
  std::vector<Vertex> vertices;
  std::vector<uint32_t> indices;
  for (int j = 0; j <= nv; j++)
    for (int i = 0; i <= nu; i++) {
      const double th = M_PI * j / nv, ph = 2 * M_PI * i / nu, r = 1 + 0.05 * std::sin(12 * ph) * std::sin(10 * th);
      const double d[3] = {std::sin(th) * std::cos(ph), std::cos(th), std::sin(th) * std::sin(ph)};
      Vertex v{};
      for (int k = 0; k < 3; k++) v.position[k] = static_cast<float>(r * d[k]), v.normal[k] = static_cast<float>(d[k]);
      v.uv[0] = static_cast<float>(i) / nu;
      v.uv[1] = static_cast<float>(j) / nv;
      vertices.push_back(v);
    }
  for (uint32_t j = 0; j < nv; j++)
    for (uint32_t i = 0; i < nu; i++) {
      const uint32_t a = j * (nu + 1) + i, b = a + 1, c = a + nu + 1, d = c + 1;
      indices.insert(indices.end(), {a, b, c, b, d, c});
    }
  if (shuffled) {  // triangles in random order within groups of 64: reuse, bins and facing are hard to predict
    std::mt19937 rng(1);
    for (size_t g = 0; g + 64 * 3 <= indices.size(); g += 64 * 3)
      for (size_t i = 63; i > 0; i--) {
        const size_t k = rng() % (i + 1);
        for (int n = 0; n < 3; n++) std::swap(indices[g + 3 * i + n], indices[g + 3 * k + n]);
      }
  }
  Matrix projection;
  const double t = 1 / std::tan(M_PI / 8), n = 0.5, f = 10;
  projection.m[0][0] = t / (16.0 / 9);
  projection.m[1][1] = -t;
  projection.m[2][2] = f / (n - f);
  projection.m[2][3] = n * f / (n - f);
  projection.m[3][2] = -1;
  Matrix translation;
  for (int i = 0; i < 4; i++) translation.m[i][i] = 1;
  translation.m[2][3] = -2.85;
  const Matrix m = multiply(projection, multiply(translation, multiply(rotation(0, 0.5), rotation(1, 0.3))));
  for (int i = 0; i < 16; i++) mvp[i] = static_cast<float>(m.m[i / 4][i % 4]);

  GraphicsPipelineCreateInfo info;
  info.vertex_bindings = {{0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX}};
  info.rasterization.cull_mode = VK_CULL_MODE_BACK_BIT;
  auto compiled = std::make_unique<pipeline::Compiled>();
  compiled->vertex = shade;
  compiled->varyings.components.resize(5);
  command::DrawState state;
  state.pipeline = std::make_shared<Pipeline>(info, std::move(compiled));
  state.vertex_bindings[0] = {reinterpret_cast<const uint8_t*>(vertices.data()), vertices.size() * sizeof(Vertex)};
  state.index_data = reinterpret_cast<const uint8_t*>(indices.data());
  state.index_size_B = indices.size() * 4;
  state.viewport = {0, 0, 1920, 1080, 0, 1};
  state.scissor = {{0, 0}, {1920, 1080}};
  command::DrawCall draw;
  draw.state = &state;
  draw.indexed = true;
  draw.count = static_cast<uint32_t>(indices.size());
  PassCommand command;
  GeometryPass pass;
  pass.draws = {&draw, 1};
  pass.commands = {&command, 1};
  pass.grid = {64, 30, 17, 0, 0};
  pass.render_area = {{0, 0}, {1920, 1080}};

  VertexCensus census;
  pass.census = &census;
  GeometryWorker worker;
  std::vector<Chunk> chunks;
  std::vector<const Chunk*> pointers;
  BinnedGeometry bins;
  uint64_t unique = 0;
  const double triangles = static_cast<double>(indices.size() / 3);
  double best[3] = {1e9, 1e9, 1e9}, best_plan = 1e9, best_gather = 1e9;  // best[n]: with n shader calls a batch
  for (int frame = 0; frame < 40; frame++) {
    shader_calls = 1 + (frame & 1);
    const double t0 = thread_ns();
    const auto plans = plan_chunks(pass);
    census.begin(pass);
    const double t1 = thread_ns();
    chunks.resize(plans.size());
    for (size_t i = 0; i < plans.size(); i++) worker.process_chunk(pass, plans[i], chunks[i]);
    const double t2 = thread_ns();
    pointers.clear();
    for (const Chunk& chunk : chunks) pointers.push_back(&chunk);
    gather_bins(pass, pointers, bins);
    if (pass.census) unique = census.count(pass);
    const double t3 = thread_ns();
    best[shader_calls] = std::min(best[shader_calls], (t2 - t1) / triangles);
    best_plan = std::min(best_plan, (t1 - t0) / triangles);
    best_gather = std::min(best_gather, (t3 - t2) / triangles);
  }
  uint64_t shaded = 0, records = 0, entries = 0, batches = 0, heap_B = 0;
  for (const Chunk& chunk : chunks) {
    shaded += chunk.stats.vertices_shaded;
    batches += chunk.stats.vertex_batches;
    records += chunk.records.size();
    entries += chunk.entries.size();
    heap_B += chunk.stats.tiler_heap_B;
  }
  const double shader = best[2] - best[1];
  const double clock = cycles_per_ns();
  std::printf("ns a triangle: all %.1f, shader %.1f, rest %.1f (%.0f cycles at %.2f GHz); plan %.2f, gather %.2f\n", best[1], shader,
              best[1] - shader, (best[1] - shader) * clock, clock, best_plan, best_gather);
  std::printf("vertices shaded %lu of %lu in %lu batches, records %lu, entries %lu, heap %.1f MB\n", shaded, unique, batches, records,
              entries, static_cast<double>(heap_B) / 1e6);
  return 0;
}
