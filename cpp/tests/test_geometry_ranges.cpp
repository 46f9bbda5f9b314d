// Ranges of dense indices and batches wider than a block against batches, culling by AVX-512 against vectors of eight, and what is culled
// against every sample.
#include <algorithm>
#include <set>

#include "base/simd.hpp"
#include "geometry/census.hpp"
#include "geometry_fixture.hpp"

using namespace fixture;

namespace {

std::mt19937 rng(3);
uint32_t random_below(uint32_t n) { return static_cast<uint32_t>(rng() % n); }
float uniform(float low, float high) { return low + (high - low) * static_cast<float>(rng() >> 8) * 0x1p-24f; }
bool has_wide() { return wide_vectors(16); }

// A mesh of small triangles: neighbouring vertices lie near each other, few indices are left out, some vertices beyond a plane.
void make_mesh(Scene& scene, std::vector<uint32_t>& indices, uint32_t triangles, bool cut) {
  float x = 20, y = 20;
  for (uint32_t i = 0; i < triangles + 40; i++) {
    x = std::clamp(x + uniform(-3, 3), -10.0f, 74.0f);
    y = std::clamp(y + uniform(-3, 3), -10.0f, 74.0f);
    Vec4 p = at_px(x, y, uniform(0, 1));
    if (cut && random_below(20) == 0) p.z = uniform(-1, 2);
    const float w = uniform(0.5f, 2);
    scene.positions.push_back({p.x * w, p.y * w, p.z * w, cut && random_below(50) == 0 ? -w : w});
  }
  for (uint32_t i = 0; i < triangles; i++)
    for (uint32_t k = 0; k < 3; k++) indices.push_back(random_below(300) == 0 ? i / 2 : i / 2 + random_below(9));
}

// memcmp may not be given the null pointers of empty vectors.
bool same_bytes(const void* a, const void* b, size_t size_B) { return size_B == 0 || !std::memcmp(a, b, size_B); }

void check_same(const Scene& a, const Scene& b, uint32_t components) {
  CHECK(a.chunks.size() == b.chunks.size());
  for (size_t i = 0; i < std::min(a.chunks.size(), b.chunks.size()); i++) {
    const Chunk &p = *a.chunks[i], &q = *b.chunks[i];
    CHECK(p.records.size() == q.records.size() && p.primitive_id.size() == q.primitive_id.size());
    CHECK(p.entries.size() == q.entries.size() && same_bytes(p.entries.data(), q.entries.data(), p.entries.size() * 4));
    CHECK(p.runs.size() == q.runs.size() && same_bytes(p.runs.data(), q.runs.data(), p.runs.size() * sizeof(BinRun)));
    CHECK(same_bytes(p.primitive_id.data(), q.primitive_id.data(), p.primitive_id.size() * 4));
    CHECK(p.stats.primitives_in == q.stats.primitives_in && p.stats.primitives_culled == q.stats.primitives_culled &&
          p.stats.primitives_clipped == q.stats.primitives_clipped && p.stats.indices == q.stats.indices);
    for (size_t r = 0; r < std::min(p.records.size(), q.records.size()); r++) {
      const TriangleRecord &s = p.records[r], &t = q.records[r];
      CHECK(!std::memcmp(&s, &t, offsetof(TriangleRecord, vertex)) && s.draw_flags == t.draw_flags);
      for (int v = 0; v < 3; v++)
        for (uint32_t c = 0; c < components; c++)
          CHECK(!std::memcmp(&p.varyings[s.vertex[v] + c * 32], &q.varyings[t.vertex[v] + c * 32], 4));
    }
  }
}

// Vertices that batches of so many different ones shade in three instances; instances and chunks cut them.
uint64_t shaded_in_batches(const std::vector<uint32_t>& indices, uint32_t limit) {
  uint64_t shaded = 0;
  std::set<uint32_t> batch;
  const size_t triangles = indices.size() / 3;
  for (size_t i = 0; i < 3 * triangles; i++) {
    const auto corners = indices.begin() + static_cast<ptrdiff_t>(i % triangles * 3);
    std::set<uint32_t> with = batch;
    with.insert(corners, corners + 3);
    if (with.size() > limit || i % kChunkPrimitives == 0 || i % triangles == 0) {
      shaded += batch.size();
      batch = {corners, corners + 3};
    } else {
      batch = std::move(with);
    }
  }
  return shaded + batch.size();
}

void test_ranges_give_what_batches_give() {
  for (uint32_t round = 0; round < 24; round++) {
    const bool cut = round & 1, wide_index = round & 2;
    std::vector<uint32_t> indices;
    Scene batches;
    batches.varyings(5, {shader::Interpolation::smooth, shader::Interpolation::flat});
    batches.samples = round % 3 == 2 ? 4 : 1;
    batches.resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->traits.reads_primitive_id = round & 4;
    batches.info.rasterization.cull_mode = round % 5 == 4 ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_NONE;
    batches.info.rasterization.provoking_vertex_last = round % 7 == 6;
    make_mesh(batches, indices, round < 4 ? 10000 : 17 + random_below(800), cut);
    for (uint32_t& i : indices) i += 7;
    const auto run = [&](bool ranges, bool wide, uint32_t vertex_batch = 32) {
      Scene scene;
      scene.positions = batches.positions;
      scene.samples = batches.samples;
      scene.info = batches.info;
      scene.resolved = batches.resolved;
      scene.vertex_ranges = ranges;
      scene.vertex_batch = vertex_batch;
      scene.wide = wide;
      if (wide_index)
        scene.draw_indexed(indices, 3).vertex_offset = -7;
      else
        scene.draw_indexed(std::vector<uint16_t>(indices.begin(), indices.end()), 3).vertex_offset = -7;
      scene.run();
      return scene;
    };
    const Scene reference = run(false, false), ranges = run(true, false);
    CHECK(reference.records().size() > 10);
    CHECK(!cut || reference.stats().primitives_clipped > 0);
    check_same(reference, ranges, 5);
    CHECK(ranges.stats().vertices_shaded < reference.stats().vertices_shaded);
    for (const uint32_t vertex_batch : {33u, 48u, 64u}) {
      const Scene batched = run(false, has_wide() && round % 4 < 2, vertex_batch);
      check_same(reference, batched, 5);
      CHECK(batched.stats().vertices_shaded == shaded_in_batches(indices, vertex_batch));
    }
    CHECK(reference.stats().vertices_shaded == shaded_in_batches(indices, 32));
    if (!has_wide()) continue;
    check_same(reference, run(false, true), 5);
    const Scene both = run(true, true);
    check_same(reference, both, 5);
    CHECK(both.stats().vertices_shaded == ranges.stats().vertices_shaded && both.stats().tiler_heap_B == ranges.stats().tiler_heap_B);
  }
}

// In each chunk every vertex that is named once, and no other; the census counts them.
void test_what_is_named_is_shaded_once() {
  Scene scene;
  scene.vertex_ranges = true;
  scene.info.vertex_bindings = {{0, sizeof(Vec4), VK_VERTEX_INPUT_RATE_VERTEX}};
  std::vector<uint32_t> indices, log;
  shader_config = {};
  shader_config.log = &log;
  make_mesh(scene, indices, 9000, false);
  for (uint32_t& i : indices) i += i / 20;  // every 21st is not named
  scene.draw_indexed(indices);
  scene.run();
  shader_config.log = nullptr;
  uint64_t expected = 0;
  for (size_t first = 0; first < indices.size(); first += size_t{3} * kChunkPrimitives)
    expected += std::set<uint32_t>(indices.begin() + static_cast<ptrdiff_t>(first),
                                   indices.begin() + static_cast<ptrdiff_t>(std::min(first + 3 * kChunkPrimitives, indices.size())))
                    .size();
  CHECK(scene.stats().vertices_shaded == expected);
  const std::set<uint32_t> named(indices.begin(), indices.end()), shaded(log.begin(), log.end());
  CHECK(named == shaded);

  GeometryPass pass = scene.pass();
  VertexCensus census;
  pass.census = &census;
  CensusLayout layout;
  lay_out_census(pass, layout);
  census.begin(layout, on_this_thread);
  GeometryWorker worker;
  std::vector<ChunkPiece> rest;
  Chunk chunk;
  ChunkPlans plans;
  plan_chunks(pass, plans);
  for (const ChunkPlan& plan : plans) worker.process_chunk(pass, plan, chunk, rest);
  CHECK(census.count(on_this_thread) == named.size());
}

// Indices that are far apart are no range: batches, as ever.
void test_sparse_indices_are_batches() {
  Scene a, b;
  a.positions.resize(5000, at_px(1, 1));
  b.positions = a.positions;
  b.vertex_ranges = true;
  shader_config = {};
  std::vector<uint32_t> indices;
  for (int i = 0; i < 3000; i++) indices.push_back(random_below(5000));
  a.draw_indexed(indices);
  b.draw_indexed(indices);
  a.run();
  b.run();
  CHECK(a.stats().vertices_shaded == b.stats().vertices_shaded && a.stats().vertex_batches == b.stats().vertex_batches);
}

// Small triangles, either winding: one without a record covers no sample; one whose box holds up to 2x2 samples has a record only if it
// covers one of them.
void test_triangles_between_the_samples() {
  int kept = 0, between = 0;
  for (const bool wide : {false, true}) {
    if (wide && !has_wide()) continue;
    for (int round = 0; round < 40; round++) {
      Scene scene;
      scene.wide = wide;
      shader_config = {};
      scene.resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->traits.reads_primitive_id = true;
      std::vector<std::array<int, 6>> corners;  // in subpixels
      for (int t = 0; t < 500; t++) {
        const int x = 512 + static_cast<int>(random_below(14000)), y = 512 + static_cast<int>(random_below(14000));
        const uint32_t reach = 1 + random_below(900);
        std::array<int, 6> at;
        for (int k = 0; k < 3; k++) {
          // On the grid of samples now and then, so that edges run through them.
          at[2 * k] = x + static_cast<int>(random_below(reach)), at[2 * k + 1] = y + static_cast<int>(random_below(reach));
          if (random_below(3) == 0) at[2 * k] = (at[2 * k] & ~255) + 128;
          if (random_below(3) == 0) at[2 * k + 1] = (at[2 * k + 1] & ~255) + 128;
          scene.positions.push_back(at_px(static_cast<float>(at[2 * k]) / 256, static_cast<float>(at[2 * k + 1]) / 256));
        }
        corners.push_back(at);
      }
      scene.draw(1500);
      scene.run();
      const Chunk& chunk = *scene.chunks[0];
      size_t next = 0;
      for (uint32_t t = 0; t < 500; t++) {
        const std::array<int, 6>& at = corners[t];
        TriangleRecord r{};
        for (int k = 0; k < 3; k++) r.x[k] = at[2 * k], r.y[k] = at[2 * k + 1];
        if (area(r) < 0) std::swap(r.x[1], r.x[2]), std::swap(r.y[1], r.y[2]);
        const auto first = [](const int32_t* v) { return (std::min({v[0], v[1], v[2]}) + 127) >> 8; };
        const auto last = [](const int32_t* v) { return (std::max({v[0], v[1], v[2]}) - 129) >> 8; };
        bool covered = false;
        for (int y = first(r.y); y <= last(r.y) + 1; y++)
          for (int x = first(r.x); x <= last(r.x) + 1; x++) covered |= area(r) != 0 && covers(r, x * 256 + 128, y * 256 + 128);
        const bool few = last(r.x) - first(r.x) <= 1 && last(r.y) - first(r.y) <= 1;
        const bool record = next < chunk.records.size() && chunk.primitive_id[next] == t;
        next += record;
        CHECK(record || !covered);
        if (few) CHECK(record == covered);
        kept += few && record;
        between += few && !record && first(r.x) <= last(r.x) && first(r.y) <= last(r.y);
      }
      CHECK(next == chunk.records.size());
    }
  }
  CHECK(kept > 3000 && between > 1000);
}

}  // namespace

int main() {
  test_ranges_give_what_batches_give();
  test_what_is_named_is_shaded_once();
  test_sparse_indices_are_batches();
  test_triangles_between_the_samples();
  return tilegpu::test::finish("geometry_ranges");
}
