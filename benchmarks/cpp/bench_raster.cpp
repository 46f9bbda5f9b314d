// bench_raster.cpp -- cycles of the tile phase without shading: tiny triangles, covered blocks that pass, blocks that fail.
//
// Build: g++ with the flags of CMakeLists.txt, linked with the core; the shader and the epilogue are empty functions, so that
// only rasterization, tests, packing and the calls are measured. Prints time-stamp-counter cycles.
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "tile/tile_job.hpp"

using namespace tilegpu;

namespace {

const char* only = nullptr;
void empty_function(shader::FragmentArgs*) {}

struct Bench {
  uint32_t bin_px = 64, samples = 1, lanes = 8;
  bool hsr = true, blends = false, depth_only = false;
  VkCompareOp compare = VK_COMPARE_OP_LESS;
};

records::TriangleRecord triangle(float x0, float y0, float x1, float y1, float x2, float y2, float z) {
  records::TriangleRecord r{};
  const float xs[3] = {x0, x1, x2}, ys[3] = {y0, y1, y2};
  for (int k = 0; k < 3; k++) {
    r.x[k] = static_cast<int32_t>(xs[k] * 256);
    r.y[k] = static_cast<int32_t>(ys[k] * 256);
    r.z[k] = z;
    r.q[k] = 1;
  }
  r.draw_flags = records::kFrontFacing;
  return r;
}

// Cycles of drawing all records once in one bin; the best of some rounds.
double measure(const Bench& b, const std::vector<records::TriangleRecord>& records, stats::FragmentCounters& counters) {
  GraphicsPipelineCreateInfo info;
  info.depth_stencil.depth_test = info.depth_stencil.depth_write = true;
  info.depth_stencil.depth_compare = b.compare;
  info.multisample.samples = static_cast<VkSampleCountFlagBits>(b.samples);
  auto compiled = std::make_unique<pipeline::Compiled>();
  compiled->samples = b.samples;
  compiled->classification.writes_color = true;
  compiled->classification.opaque = !b.blends;
  compiled->classification.reads_tile = b.blends;
  compiled->fragment = b.depth_only ? nullptr : empty_function;
  compiled->epilogue = b.depth_only ? nullptr : empty_function;
  command::DrawState state;
  state.pipeline = std::make_shared<Pipeline>(std::move(info), std::move(compiled));
  state.scissor = {{0, 0}, {4096, 4096}};
  command::DrawCall draw;
  draw.state = &state;
  alignas(16) uint8_t push[256] = {};
  draw.push_constants = push;
  records::Chunk chunk;
  for (const records::TriangleRecord& r : records) {
    chunk.entries.push_back(static_cast<uint32_t>(chunk.records.size()));
    chunk.records.push_back(r);
  }
  chunk.varyings.resize(64);
  records::BinnedGeometry binned;
  binned.grid = {b.bin_px, 1, 1, 0, 0};
  binned.segments.push_back({&chunk, 0, static_cast<uint32_t>(records.size())});
  binned.first_segment = {0, 1};
  tile::PassContext pass;
  pass.draws = {&draw, 1};
  pass.geometry = &binned;
  pass.samples = b.samples;
  pass.lanes = b.lanes;
  pass.render_area = {{0, 0}, {4096, 4096}};
  pass.hsr.visibility_buffer = b.hsr;
  pass.tile.bin_px = b.bin_px;
  pass.tile.samples = b.samples;
  const uint32_t plane_B = b.bin_px * b.bin_px * b.samples * 4;
  pass.tile.color[0] = {0, 1, b.samples * 64};
  pass.tile.depth = {plane_B, 1, b.samples * 64};
  pass.tile.depth_format = VK_FORMAT_D32_SFLOAT;
  pass.tile.size_B = 2 * plane_B;
  tile::TileWorker worker;
  double best = 1e30;
  for (int round = 0; round < 400; round++) {
    worker.begin_pass(pass);
    float* depth = reinterpret_cast<float*>(worker.memory() + plane_B);
    std::fill_n(depth, plane_B / 4, 1.0f);
    const uint64_t start = __rdtsc();
    worker.run(pass, 0);
    best = std::min(best, static_cast<double>(__rdtsc() - start));
  }
  counters = worker.counters();
  return best;
}

void report(const char* what, const Bench& b, const std::vector<records::TriangleRecord>& records, double units, const char* unit) {
  stats::FragmentCounters c;
  if (only && !std::strstr(what, only)) return;
  const double cycles = measure(b, records, c);
  std::printf("%-44s %u spp, hsr %d: %8.1f cycles per %s (%.2f px per triangle, %llu shaded, %llu packets)\n", what, b.samples, b.hsr,
              cycles / units, unit, static_cast<double>(c.fragments_rasterized) / static_cast<double>(records.size()),
              static_cast<unsigned long long>(c.fragments_shaded), static_cast<unsigned long long>(c.packets));
}

}  // namespace

int main(int argc, char** argv) {
  only = argc > 1 ? argv[1] : nullptr;  // a part of the name
  std::mt19937 rng(1);
  const auto uniform = [&](float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(rng); };
  // A grid mesh with cells of `cell` pixels: two triangles each.
  const auto mesh = [&](float cell) {
    std::vector<records::TriangleRecord> records;
    for (float y = 0; y + cell <= 64; y += cell)
      for (float x = 0; x + cell <= 64; x += cell) {
        const float z = uniform(0.1f, 0.9f), j = cell * 0.2f;
        records.push_back(triangle(x, y, x + cell, y + j, x, y + cell, z));
        records.push_back(triangle(x + cell, y + j, x + cell, y + cell, x, y + cell, z));
      }
    return records;
  };
  const auto layers = [&](int count, float z0, float dz) {
    std::vector<records::TriangleRecord> records;
    for (int i = 0; i < count; i++) {
      const float z = z0 + dz * static_cast<float>(i);
      records.push_back(triangle(-10, -10, 300, -10, -10, 300, z));
    }
    return records;
  };
  for (bool hsr : {false, true}) {
    Bench b;
    b.hsr = hsr;
    for (float cell : {1.0f, 1.8f, 4.0f, 9.0f}) {
      const auto records = mesh(cell);
      char name[64];
      std::snprintf(name, sizeof name, "mesh, cells of %.1f px", static_cast<double>(cell));
      report(name, b, records, static_cast<double>(records.size()), "triangle");
    }
    report("16 layers, all pass", b, layers(16, 0.9f, -0.05f), 16 * 256, "block");
    report("16 layers, one passes", b, layers(16, 0.1f, 0.05f), 16 * 256, "block");
    b.samples = 4;
    report("16 layers, all pass", b, layers(16, 0.9f, -0.05f), 16 * 256, "block");
    report("16 layers, one passes", b, layers(16, 0.1f, 0.05f), 16 * 256, "block");
    report("mesh, cells of 1.8 px", b, mesh(1.8f), static_cast<double>(mesh(1.8f).size()), "triangle");
    report("mesh, cells of 9 px", b, mesh(9), static_cast<double>(mesh(9).size()), "triangle");
  }
  Bench b;
  b.depth_only = true;
  for (float cell : {1.0f, 1.8f, 4.0f, 9.0f}) {
    const auto records = mesh(cell);
    report("depth only mesh", b, records, static_cast<double>(records.size()), "triangle");
  }
  b.depth_only = false;
  b.blends = true;
  report("16 blended layers, depth test", b, layers(16, 0.9f, -0.05f), 16 * 256, "block");
  return 0;
}
