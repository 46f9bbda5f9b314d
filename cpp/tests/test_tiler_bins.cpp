// Binning: every covered sample's bin lists its triangle, in order, and no other entries than near ones; segments in chunk order.
#include <algorithm>

#include "geometry_fixture.hpp"

using namespace fixture;

namespace {

std::mt19937 rng(3);
float uniform(float low, float high) { return low + (high - low) * static_cast<float>(rng() >> 8) * 0x1p-24f; }

struct Listed {
  const Chunk* chunk;
  uint32_t record;
};
std::vector<Listed> list_of(const BinnedGeometry& bins, size_t bin) {
  std::vector<Listed> list;
  for (uint32_t s = bins.first_segment[bin]; s < bins.first_segment[bin + 1]; s++) {
    const BinSegment& segment = bins.segments[s];
    for (uint32_t i = 0; i < segment.count; i++) list.push_back({segment.chunk, segment.chunk->entries[segment.first + i]});
  }
  return list;
}

void test_bins_are_complete_and_in_order() {
  uint64_t entries = 0, needed = 0;
  for (int round = 0; round < 40; round++) {
    Scene scene;
    shader_config = {};
    scene.samples = 1u << (round % 5);
    // Squares of the host, and tiles of profiles.
    constexpr uint32_t kSizes[][2] = {{64, 64}, {32, 32}, {64, 32}, {32, 16}, {16, 16}, {16, 8}, {8, 8}, {8, 4}, {4, 4}};
    scene.bin_px = kSizes[round % 9][0], scene.bin_height_px = kSizes[round % 9][1];
    const uint32_t width = scene.bin_px, height = scene.bin_height_px;
    scene.width_px = 150;
    scene.height_px = 100;
    for (int i = 0; i < 40; i++) {
      // From a fraction of a pixel to far beyond the picture; many thin ones.
      const float size = std::exp2(uniform(-2, 9)), cx = uniform(-20, 170), cy = uniform(-20, 120), thin = i % 3 ? 1 : 0.02f,
                  turn = uniform(0, 6.28f);
      for (int k = 0; k < 3; k++) {
        const float u = uniform(-size, size), v = uniform(-size, size) * thin;
        scene.positions.push_back(
            at_px(cx + u * std::cos(turn) - v * std::sin(turn), cy + u * std::sin(turn) + v * std::cos(turn), 0.5f, 150, 100));
      }
    }
    scene.draw(60);
    command::ClearCall clear;
    clear.rect = {{40, 10}, {70, 20}};
    PassCommand command;
    command.clear = &clear;
    scene.commands.push_back(command);
    scene.draw(60, 60);
    VkRect2D scissor = {{0, 0}, {150, 100}};
    if (round % 4 == 3) scene.states[0].scissor = scissor = {{35, 0}, {70, 60}};
    scene.run();
    CHECK(scene.chunks.size() == 3 && scene.chunks[1]->clear == &clear);
    CHECK(scene.bins.first_segment.size() == size_t{scene.bins.grid.columns} * scene.bins.grid.rows + 1);

    for (uint32_t by = 0; by < scene.bins.grid.rows; by++) {
      for (uint32_t bx = 0; bx < scene.bins.grid.columns; bx++) {
        const size_t bin = size_t{by} * scene.bins.grid.columns + bx;
        const auto list = list_of(scene.bins, bin);
        entries += list.size();
        // In order: chunks ascend, records ascend.
        for (size_t i = 1; i < list.size(); i++) CHECK(list[i - 1].chunk != list[i].chunk || list[i - 1].record < list[i].record);
        size_t last_chunk = 0;
        bool has_clear = false;
        for (uint32_t s = scene.bins.first_segment[bin]; s < scene.bins.first_segment[bin + 1]; s++) {
          size_t c = 0;
          while (scene.chunks[c].get() != scene.bins.segments[s].chunk) c++;
          CHECK(s == scene.bins.first_segment[bin] || c > last_chunk);
          last_chunk = c;
          if (c == 1) {
            has_clear = true;
            CHECK(scene.bins.segments[s].count == 0);
          }
        }
        const uint32_t x0 = bx * width, y0 = by * height;
        CHECK(has_clear == (x0 < 110 && x0 + width > 40 && y0 < 30 && y0 + height > 10));

        for (const auto& chunk : scene.chunks) {
          for (uint32_t r = 0; r < chunk->records.size(); r++) {
            const TriangleRecord& record = chunk->records[r];
            const VkRect2D cut = (record.draw_flags & kDrawMask) == 0 ? scissor : VkRect2D{{0, 0}, {150, 100}};
            bool covered = false;
            const auto inside = [](uint32_t v, int32_t offset, uint32_t extent) {
              return static_cast<int32_t>(v) >= offset && v < static_cast<uint32_t>(offset) + extent;
            };
            for (uint32_t y = y0; y < std::min(y0 + height, 100u) && !covered; y++)
              for (uint32_t x = x0; x < std::min(x0 + width, 150u) && !covered; x++)
                for (uint32_t s = 0; s < scene.samples && !covered && inside(x, cut.offset.x, cut.extent.width) &&
                                     inside(y, cut.offset.y, cut.extent.height);
                     s++) {
                  const auto location = vk::sample_locations(scene.samples)[s];
                  covered = covers(record, x * 256 + location.x * 16u, y * 256 + location.y * 16u);
                }
            const bool listed =
                std::any_of(list.begin(), list.end(), [&](const Listed& l) { return l.chunk == chunk.get() && l.record == r; });
            CHECK(listed || !covered);
            needed += covered;
          }
        }
      }
    }
  }
  CHECK(needed > 500 && entries < needed + needed / 3);  // few bins in vain
}

// What is left out for having no sample has none: a picture full of tiny triangles, against a brute-force search.
void test_only_triangles_without_samples_are_left_out() {
  for (uint32_t samples : {1u, 2u, 4u, 8u, 16u}) {
    Scene scene;
    shader_config = {};
    scene.samples = samples;
    scene.resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->traits.reads_primitive_id = true;
    const uint32_t count = 3000;
    for (uint32_t i = 0; i < count; i++) {
      const float cx = uniform(0, 64), cy = uniform(0, 64), size = uniform(0.02f, 1.0f);
      // On a coarse grid half of the time, so that samples lie on edges and vertices.
      const auto point = [&](float v) { return i & 1 ? std::round(v * 16) / 16 : v; };
      for (int k = 0; k < 3; k++) scene.positions.push_back(at_px(point(cx + uniform(-size, size)), point(cy + uniform(-size, size))));
    }
    scene.draw(3 * count);
    scene.run();
    std::vector<bool> kept(count);
    for (const auto& chunk : scene.chunks)
      for (uint32_t id : chunk->primitive_id) kept[id] = true;
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < count; i++) {
      if (kept[i]) continue;
      left_out++;
      TriangleRecord r{};
      for (uint32_t k = 0; k < 3; k++) {
        r.x[k] = static_cast<int32_t>(std::lrint(((scene.positions[3 * i + k].x) * 32 + 32) * 256));
        r.y[k] = static_cast<int32_t>(std::lrint(((scene.positions[3 * i + k].y) * 32 + 32) * 256));
      }
      if (area(r) < 0) std::swap(r.x[1], r.x[2]), std::swap(r.y[1], r.y[2]);
      if (area(r) == 0) continue;
      for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
          for (uint32_t s = 0; s < samples; s++) {
            const auto location = vk::sample_locations(samples)[s];
            CHECK(!covers(r, x * 256 + location.x * 16, y * 256 + location.y * 16));
          }
    }
    CHECK(samples > 4 || left_out > count / 10);
  }
}

// A grid whose origin is not 0 (render area), and a render area that cuts.
void test_grid_with_origin() {
  Scene scene;
  shader_config = {};
  scene.width_px = scene.height_px = 256;
  scene.positions = {at_px(0, 0, 0.5f, 256, 256), at_px(256, 0, 0.5f, 256, 256), at_px(0, 256, 0.5f, 256, 256)};
  scene.draw(3);
  GeometryPass pass = scene.pass();
  pass.render_area = {{70, 100}, {40, 50}};
  pass.grid = {32, 32, 2, 2, 64, 96};
  ChunkPlans plans;
  plan_chunks(pass, plans);
  Chunk chunk;
  GeometryWorker worker;
  std::vector<ChunkPiece> rest;
  worker.process_chunk(pass, plans[0], chunk, rest);
  CHECK(chunk.runs.size() == 4 && chunk.entries.size() == 4);
  pass.render_area = {{64, 96}, {20, 20}};
  worker.process_chunk(pass, plans[0], chunk, rest);
  CHECK(chunk.runs.size() == 1 && chunk.runs[0].bin == 0);
  pass.render_area = {{0, 0}, {0, 0}};
  worker.process_chunk(pass, plans[0], chunk, rest);
  CHECK(chunk.runs.empty() && chunk.records.empty());
}

// Triangles in 16,384 bins each (of the second instance in half of them): a plan's chunk of them would be a gigabyte. It ends where it is
// full, and its rest is all that lacks.
void test_a_full_chunk_leaves_a_rest(uint32_t instances, bool indexed) {
  Scene scene;
  shader_config = {};
  constexpr uint32_t kTriangles = 4096;
  scene.width_px = scene.height_px = 4096;
  scene.positions = {at_px(0, 0, 0.5f, 4096, 4096), at_px(8192, 0, 0.5f, 4096, 4096), at_px(0, 8192, 0.5f, 4096, 4096)};
  const uint32_t of_each = kTriangles / instances;
  if (indexed) {
    std::vector<uint32_t> indices(of_each * 3);
    for (uint32_t i = 0; i < indices.size(); i++) indices[i] = i % 3;
    scene.vertex_ranges = true;
    scene.draw_indexed(indices, instances);
  } else {
    while (scene.positions.size() < of_each * 3) scene.positions.push_back(scene.positions[scene.positions.size() - 3]);
    scene.draw(of_each * 3, 0, instances);
  }
  shader_config = {};
  const GeometryPass pass = scene.pass();
  ChunkPlans plans;
  plan_chunks(pass, plans);
  GeometryWorker worker;
  Chunk chunk;
  size_t records = 0, chunks = 0;
  uint64_t primitives = 0, most_B = 0;
  for (const ChunkPlan& plan : plans) {
    std::vector<ChunkPiece> rest(plan.pieces.begin(), plan.pieces.end()), pieces;
    for (; !rest.empty(); chunks++) {
      pieces.swap(rest);
      worker.process_chunk(pass, {pieces, nullptr, false}, chunk, rest);
      CHECK(chunk.records.size() > 0, "a chunk makes some progress");
      if (chunk.records.empty()) return;
      records += chunk.records.size(), primitives += chunk.stats.primitives_in;
      most_B = std::max<uint64_t>(most_B, chunk.stats.peak_arena_B);
    }
  }
  CHECK(records == kTriangles && primitives == kTriangles, "%zu records of %llu primitives", records,
        static_cast<unsigned long long>(primitives));
  CHECK(chunks > plans.size() && most_B < kMostChunk_B + (uint64_t{20} << 20), "%zu chunks, at most %llu bytes", chunks,
        static_cast<unsigned long long>(most_B));
}

}  // namespace

int main() {
  for (const uint32_t instances : {1u, 2u})
    for (const bool indexed : {false, true}) test_a_full_chunk_leaves_a_rest(instances, indexed);
  test_bins_are_complete_and_in_order();
  test_only_triangles_without_samples_are_left_out();
  test_grid_with_origin();
  return tilegpu::test::finish("tiler_bins");
}
