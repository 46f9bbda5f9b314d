// Input assembly: chunk plans, indices, topologies, restart, vertex reuse, instances, primitive ids.
#include <algorithm>
#include <array>
#include <thread>

#include "geometry/census.hpp"
#include "geometry/index_fetch.hpp"
#include "geometry_fixture.hpp"

using namespace fixture;

namespace {

std::mt19937 rng(1);

uint32_t random_below(uint32_t n) { return static_cast<uint32_t>(rng() % n); }

std::vector<Vec4> random_points(uint32_t count) {
  std::vector<Vec4> points;
  for (uint32_t i = 0; i < count; i++)
    points.push_back(at_px(static_cast<float>(random_below(640)) / 10.0f, static_cast<float>(random_below(640)) / 10.0f));
  return points;
}

bool same_shape(const TriangleRecord& a, const TriangleRecord& b) {
  return !std::memcmp(a.x, b.x, sizeof a.x) && !std::memcmp(a.y, b.y, sizeof a.y) && !std::memcmp(a.z, b.z, sizeof a.z) &&
         !std::memcmp(a.q, b.q, sizeof a.q);
}

// The vertices that a batch store of `limit` would shade, by linear search.
std::vector<uint32_t> simulate_reuse(const std::vector<uint32_t>& indices, uint32_t limit) {
  std::vector<uint32_t> shaded, batch;
  uint32_t primitives = 0;
  for (size_t t = 0; t + 2 < indices.size(); t += 3) {
    std::vector<uint32_t> next = batch;
    for (size_t k = 0; k < 3; k++)
      if (std::find(next.begin(), next.end(), indices[t + k]) == next.end()) next.push_back(indices[t + k]);
    // Chunks and full primitive lists end a batch as well.
    if (next.size() > limit || primitives == 256 || (t / 3) % kChunkPrimitives == 0) {
      shaded.insert(shaded.end(), batch.begin(), batch.end());
      next.clear();
      for (size_t k = 0; k < 3; k++)
        if (std::find(next.begin(), next.end(), indices[t + k]) == next.end()) next.push_back(indices[t + k]);
      primitives = 0;
    }
    batch = next;
    primitives++;
  }
  shaded.insert(shaded.end(), batch.begin(), batch.end());
  return shaded;
}

void test_vertex_reuse_is_what_a_search_finds() {
  for (uint32_t limit : {3u, 7u, 16u, 24u, 32u}) {
    for (int kind = 0; kind < 4; kind++) {
      std::vector<uint32_t> indices;
      const uint32_t triangles = kind == 3 ? 9000 : 700;
      for (uint32_t t = 0; t < triangles; t++) {
        const uint32_t base = kind == 0 ? t / 2 : 0;
        for (uint32_t k = 0; k < 3; k++)
          indices.push_back(kind == 0   ? base + ((t & 1) + k) % 3 + (k == 2 ? 256 : 0)  // a grid, rows 256 apart: the hash's bad case
                            : kind == 1 ? random_below(40)
                            : kind == 2 ? random_below(100000)
                                        : random_below(5));  // few vertices, many triangles
      }
      Scene scene;
      scene.vertex_batch = limit;
      scene.positions = random_points(100);
      std::vector<uint32_t> log;
      shader_config = {};
      shader_config.log = &log;
      scene.draw_indexed(indices);
      scene.run();
      shader_config.log = nullptr;
      CHECK(log == simulate_reuse(indices, limit));
      CHECK(scene.stats().vertices_shaded == log.size());
      CHECK(scene.stats().indices == indices.size());
    }
  }
}

bool draws_lines(VkPrimitiveTopology topology) {
  return topology == VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY || topology == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY;
}

// The triangles or lines of a strip, fan or list, as a list, from the specification's formulas; without adjacent vertices.
std::vector<uint32_t> as_list(VkPrimitiveTopology topology, const std::vector<uint32_t>& v, uint32_t restart, bool restarts) {
  std::vector<uint32_t> list, run;
  const auto flush = [&] {
    const uint32_t n = static_cast<uint32_t>(run.size());
    if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST) {
      for (uint32_t i = 0; i + 2 < n; i += 3) list.insert(list.end(), {run[i], run[i + 1], run[i + 2]});
    } else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP) {
      for (uint32_t i = 0; i + 2 < n; i++) list.insert(list.end(), {run[i], run[i + 1 + i % 2], run[i + 2 - i % 2]});
    } else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN) {
      for (uint32_t i = 0; i + 2 < n; i++) list.insert(list.end(), {run[i + 1], run[i + 2], run[0]});
    } else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY) {
      for (uint32_t i = 0; i + 5 < n; i += 6) list.insert(list.end(), {run[i], run[i + 2], run[i + 4]});
    } else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY) {
      for (uint32_t i = 0; 2 * i + 5 < n; i++) list.insert(list.end(), {run[2 * i], run[2 * (i + 1 + i % 2)], run[2 * (i + 2 - i % 2)]});
    } else {
      CHECK(draws_lines(topology));
      const uint32_t step = topology == VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY ? 4 : 1;
      for (uint32_t i = 0; i + 3 < n; i += step) list.insert(list.end(), {run[i + 1], run[i + 2]});
    }
    run.clear();
  };
  for (uint32_t index : v) {
    if (restarts && index == restart)
      flush();
    else
      run.push_back(index);
  }
  flush();
  return list;
}

template <class T>
void check_topology(VkPrimitiveTopology topology, bool restart, uint32_t count, uint32_t instances = 1) {
  std::vector<T> indices;
  std::vector<uint32_t> wide;
  const uint32_t points = sizeof(T) == 1 ? 200 : 250;
  const T marker = static_cast<T>(~T{0});
  for (uint32_t i = 0; i < count; i++) {
    indices.push_back(restart && random_below(count > 5000 ? 3000 : 6) == 0 ? marker : static_cast<T>(random_below(points)));
    wide.push_back(indices.back());
  }
  Scene a, b;
  a.positions = b.positions = random_points(points);
  shader_config = {};
  a.resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->traits.reads_primitive_id =
      b.resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->traits.reads_primitive_id = true;
  a.info.topology = topology;
  a.info.primitive_restart = restart;
  if (draws_lines(topology)) b.info.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
  a.draw_indexed(indices, instances);
  a.run();
  b.draw_indexed(as_list(topology, wide, marker, restart), instances);
  b.run();
  const auto ra = a.records(), rb = b.records();
  CHECK(ra.size() == rb.size());
  CHECK(a.stats().primitives_in == b.stats().primitives_in);
  for (size_t i = 0; i < std::min(ra.size(), rb.size()); i++) {
    CHECK(same_shape(ra[i], rb[i]));
    CHECK(ra[i].draw_flags == rb[i].draw_flags);
  }
  std::vector<uint32_t> ia, ib;
  for (const auto& chunk : a.chunks) ia.insert(ia.end(), chunk->primitive_id.begin(), chunk->primitive_id.end());
  for (const auto& chunk : b.chunks) ib.insert(ib.end(), chunk->primitive_id.begin(), chunk->primitive_id.end());
  CHECK(ia == ib && ia.size() == ra.size());
}

void test_strips_fans_and_restart_are_lists() {
  for (auto topology : {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
                        VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY,
                        VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY, VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY}) {
    for (bool restart : {false, true}) {
      for (uint32_t count : {0u, 1u, 2u, 3u, 5u, 300u, 13000u}) {
        check_topology<uint8_t>(topology, restart, count);
        check_topology<uint16_t>(topology, restart, count);
        check_topology<uint32_t>(topology, restart, count);
        check_topology<uint16_t>(topology, restart, count, 3);
      }
    }
  }
}

void test_strips_without_indices() {
  for (auto topology : {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN}) {
    Scene a, b;
    a.positions = b.positions = random_points(600);
    shader_config = {};
    a.info.topology = topology;
    a.draw(500, 30);
    a.run();
    std::vector<uint32_t> sequence;
    for (uint32_t i = 0; i < 500; i++) sequence.push_back(30 + i);
    b.draw_indexed(as_list(topology, sequence, ~0u, false));
    b.run();
    const auto ra = a.records(), rb = b.records();
    CHECK(ra.size() == rb.size() && ra.size() > 150);
    for (size_t i = 0; i < std::min(ra.size(), rb.size()); i++) CHECK(same_shape(ra[i], rb[i]));
  }
}

// Whatever the order of vertices, the record's provoking vertex is the specification's.
void test_provoking_vertex() {
  for (auto topology : {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN}) {
    for (bool last : {false, true}) {
      Scene scene;
      scene.info.topology = topology;
      scene.info.rasterization.provoking_vertex_last = last;
      scene.resolved.stages.find(VK_SHADER_STAGE_FRAGMENT_BIT)->traits.reads_primitive_id = true;
      scene.varyings(4, {shader::Interpolation::flat});
      scene.positions = random_points(90);
      scene.draw(90);
      scene.run();
      for (const auto& chunk : scene.chunks) {
        for (size_t i = 0; i < chunk->records.size(); i++) {
          const TriangleRecord& r = chunk->records[i];
          const uint32_t p = chunk->primitive_id[i];
          const uint32_t expected = topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST    ? 3 * p + (last ? 2 : 0)
                                    : topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP ? p + (last ? 2 : 0)
                                                                                       : p + (last ? 2 : 1);
          const uint32_t provoking = r.draw_flags >> kProvokingShift & 3;
          CHECK(provoking < 3);
          CHECK(chunk->varyings[r.vertex[provoking]] == scene.positions[expected].x);
          CHECK(chunk->varyings[r.vertex[provoking] + shader::kBatchStride] == scene.positions[expected].y);
          CHECK(area(r) > 0);
        }
      }
    }
  }
}

void test_indices_outside_the_buffer_are_zero() {
  Scene scene;
  scene.positions = {at_px(1, 1), at_px(60, 1), at_px(1, 60)};
  shader_config = {};
  std::vector<uint32_t> log;
  shader_config.log = &log;
  auto& call = scene.draw_indexed(std::vector<uint16_t>{1, 2});
  call.count = 9;  // triangles (1 2 0) (0 0 0) (0 0 0)
  scene.run();
  CHECK(scene.records().size() == 1);
  CHECK((log == std::vector<uint32_t>{1, 2, 0}));
  log.clear();
  call.first = 0xfffffff0u;
  call.vertex_offset = -7;  // wraps: index 0 becomes vertex -7
  scene.run();
  CHECK((log == std::vector<uint32_t>{0xfffffff9u}));
  log.clear();
  scene.states.back().index_data = nullptr;
  scene.run();
  CHECK((log == std::vector<uint32_t>{0xfffffff9u}));
  shader_config.log = nullptr;
}

void test_vertex_offset_and_instances() {
  Scene scene;
  scene.positions = random_points(20);
  scene.positions[11] = at_px(1, 1);
  scene.positions[12] = at_px(1, 9);
  scene.positions[13] = at_px(9, 1);
  shader_config = {};
  auto& call = scene.draw_indexed(std::vector<uint32_t>{1, 2, 3}, 10000);
  call.vertex_offset = 10;
  call.first_instance = 0;
  scene.run();
  // Instance i is moved by i * 32 px: only the first two are on the screen.
  CHECK(scene.records().size() == 2);
  CHECK(scene.stats().primitives_in == 10000 && scene.stats().primitives_culled == 9998);
  CHECK(scene.records()[1].x[0] - scene.records()[0].x[0] == 32 * 256);
  CHECK(scene.plans.size() == 3);
  CHECK(scene.plans[0].pieces.size() == 1 && scene.plans[0].pieces[0].instance_count == kChunkPrimitives);
}

void test_census_counts_different_vertices() {
  Scene scene;
  shader_config = {};
  scene.positions = random_points(5000);
  scene.info.vertex_bindings = {{0, sizeof(Vec4), VK_VERTEX_INPUT_RATE_VERTEX}};
  std::vector<uint32_t> indices;
  for (int i = 0; i < 30000; i++) indices.push_back(random_below(3000) * 2);  // some lie outside: one vertex together
  std::vector<bool> seen(5002);
  for (uint32_t i : indices) seen[std::min(i, 5001u)] = true;
  const auto expected = static_cast<uint64_t>(std::count(seen.begin(), seen.end(), true));
  scene.draw_indexed(indices).vertex_offset = -3;
  scene.draw_indexed(std::vector<uint8_t>{0, 1, 2, 0, 2, 3}, 50);
  scene.draw(10);
  scene.info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  scene.draw(10, 0, 3);
  GeometryPass pass = scene.pass();
  VertexCensus census;
  pass.census = &census;
  for (int frame = 0; frame < 2; frame++) {
    CensusLayout layout;
    lay_out_census(pass, layout);
    census.begin(layout, on_this_thread);
    GeometryWorker worker;
    std::vector<ChunkPiece> rest;
    Chunk chunk;
    ChunkPlans plans;
    plan_chunks(pass, plans);
    for (const ChunkPlan& plan : plans) worker.process_chunk(pass, plan, chunk, rest);
    CHECK(census.count(on_this_thread) == expected + 4 * 50 + 9 + 30);
  }
}

void test_plan() {
  Scene scene;
  shader_config = {};
  scene.positions = random_points(10);
  for (int i = 0; i < 1000; i++) scene.draw(6);
  command::ClearCall clear;
  clear.rect = {{0, 0}, {64, 64}};
  PassCommand command;
  command.clear = &clear;
  scene.commands.push_back(command);
  scene.draw(30000);
  scene.draw(0);
  scene.draw(9999, 0, 3);
  ChunkPlans plans;
  plan_chunks(scene.pass(), plans);
  uint64_t primitives = 0;
  std::vector<uint64_t> next(scene.draws.size());  // primitives of each draw come in order and completely
  for (const auto& plan : plans) {
    if (plan.clear) {
      CHECK(plan.pieces.empty());
      CHECK(primitives == 2000);
      continue;
    }
    uint64_t here = 0;
    for (const auto& piece : plan.pieces) {
      const uint64_t of_instance = scene.draws[piece.draw].count / 3;
      CHECK(next[piece.draw] == piece.instance * of_instance + piece.first_primitive);
      CHECK(piece.instance_count == 1 || (piece.first_primitive == 0 && piece.primitive_count == of_instance));
      next[piece.draw] += uint64_t{piece.primitive_count} * piece.instance_count;
      here += uint64_t{piece.primitive_count} * piece.instance_count;
    }
    CHECK(here > 0 && here <= kChunkPrimitives);
    primitives += here;
  }
  CHECK(primitives == 2000 + 10000 + 9999);
  for (size_t i = 0; i < next.size(); i++) CHECK(next[i] == uint64_t{scene.draws[i].count / 3} * scene.draws[i].instance_count);

  for (const auto& [primitives, most] :
       {std::array{0u, 1024u}, {1000u, 1024u}, {20000u, 1024u}, {32768u, 2048u}, {65535u, 2048u}, {65536u, 4096u}}) {
    Scene few;
    few.draw(3 * primitives);
    CHECK(chunk_primitives_of(few.draws, few.commands) == most);
  }
  for (const auto& [primitives, instances, most] :
       {std::array{262143u, 1u, 4096u}, {131072u, 2u, 8192u}, {1000u, 1000u, 16384u}, {100000000u, 1u, kLargestChunk}}) {
    Scene many;
    many.draw(3 * primitives, 0, instances);
    CHECK(chunk_primitives_of(many.draws, many.commands) == most);
    if (primitives > 1000000) continue;
    GeometryPass pass = many.pass();
    pass.chunk_primitives = most;
    plan_chunks(pass, plans);
    CHECK(plans.size() >= 32);
  }
}

// Chunks by different workers in any order give the same bytes; worker scratch leaves no trace.
void test_chunks_do_not_depend_on_workers() {
  Scene scene;
  scene.varyings(5);
  scene.samples = 4;
  scene.positions = random_points(3000);
  for (auto& p : scene.positions) p.z = static_cast<float>(random_below(300)) / 100.0f - 1;  // some are cut
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < 60000; i++) indices.push_back(std::min(2999u, i / 20 + random_below(12)));
  scene.draw_indexed(indices);
  scene.draw(2997);
  scene.run();
  const GeometryPass pass = scene.pass();
  std::vector<Chunk> other(scene.plans.size());
  std::vector<std::thread> threads;
  for (uint32_t worker = 0; worker < 2; worker++)
    threads.emplace_back([&, worker] {
      GeometryWorker w;
      std::vector<ChunkPiece> rest;
      for (size_t i = other.size(); i-- > 0;)
        if (i % 2 == worker) w.process_chunk(pass, scene.plans[i], other[i], rest);
    });
  for (auto& thread : threads) thread.join();
  CHECK(scene.plans.size() > 4);
  for (size_t i = 0; i < other.size(); i++) {
    const Chunk &a = *scene.chunks[i], &b = other[i];
    CHECK(a.records.size() == b.records.size() && a.entries.size() == b.entries.size() && a.runs.size() == b.runs.size());
    CHECK(!std::memcmp(a.records.data(), b.records.data(), a.records.size() * sizeof(TriangleRecord)));
    CHECK(!std::memcmp(a.entries.data(), b.entries.data(), a.entries.size() * 4));
    CHECK(!std::memcmp(a.runs.data(), b.runs.data(), a.runs.size() * sizeof(BinRun)));
    CHECK(a.stats.tiler_heap_B == b.stats.tiler_heap_B && a.stats.vertices_shaded == b.stats.vertices_shaded);
    for (size_t r = 0; r < a.records.size(); r++)
      for (int v = 0; v < 3; v++)
        for (uint32_t c = 0; c < 5; c++)
          CHECK(!std::memcmp(&a.varyings[a.records[r].vertex[v] + c * 32], &b.varyings[b.records[r].vertex[v] + c * 32], 4));
  }
}

// The same triangles in one draw or in one draw each: the same records.
void test_records_do_not_depend_on_chunks() {
  Scene one, many;
  one.positions = random_points(300);
  for (auto& p : one.positions) {
    p.z = static_cast<float>(random_below(300)) / 100.0f - 1;
    p.w = 0.2f + static_cast<float>(random_below(100)) / 50.0f;
  }
  many.positions = one.positions;
  one.varyings(4);
  many.varyings(4);
  one.draw(300);
  one.run();
  for (uint32_t i = 0; i < 100; i++) many.draw(3, 3 * i);
  many.run();
  const auto a = one.records(), b = many.records();
  CHECK(a.size() == b.size() && a.size() > 60);
  for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    CHECK(same_shape(a[i], b[i]));
    for (int v = 0; v < 3; v++)
      for (uint32_t c = 0; c < 4; c++)
        CHECK(one.chunks[0]->varyings[a[i].vertex[v] + c * 32] == many.chunks[0]->varyings[b[i].vertex[v] + c * 32]);
  }
}

}  // namespace

int main() {
  test_vertex_reuse_is_what_a_search_finds();
  test_strips_fans_and_restart_are_lists();
  test_strips_without_indices();
  test_provoking_vertex();
  test_indices_outside_the_buffer_are_zero();
  test_vertex_offset_and_instances();
  test_census_counts_different_vertices();
  test_plan();
  test_chunks_do_not_depend_on_workers();
  test_records_do_not_depend_on_chunks();
  return tilegpu::test::finish("geometry_assembly");
}
