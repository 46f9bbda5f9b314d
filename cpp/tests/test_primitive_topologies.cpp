// Primitives with all their vertices, of every topology, against the specification's formulas ("Primitive Topologies").
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "geometry/index_fetch.hpp"

using namespace tilegpu;
using namespace tilegpu::geometry;

namespace {

std::mt19937 rng(11);
uint32_t random_below(uint32_t n) { return static_cast<uint32_t>(rng() % n); }

using Primitive = std::vector<uint32_t>;
using Primitives = std::vector<Primitive>;

constexpr VkPrimitiveTopology kTopologies[] = {VK_PRIMITIVE_TOPOLOGY_POINT_LIST,
                                               VK_PRIMITIVE_TOPOLOGY_LINE_LIST,
                                               VK_PRIMITIVE_TOPOLOGY_LINE_STRIP,
                                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
                                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
                                               VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY,
                                               VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY,
                                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY,
                                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY,
                                               VK_PRIMITIVE_TOPOLOGY_PATCH_LIST};

// p(i) of n primitives, as positions in the strip, fan or list; the specification's own words.
Primitive formula(VkPrimitiveTopology topology, uint32_t patch, uint32_t i, uint32_t n) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return {i};
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
      return {2 * i, 2 * i + 1};
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return {i, i + 1};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST:
      return {3 * i, 3 * i + 1, 3 * i + 2};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
      return {i, i + 1 + i % 2, i + 2 - i % 2};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      return {i + 1, i + 2, 0};
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
      return {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
      return {i, i + 1, i + 2, i + 3};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
      return {6 * i, 6 * i + 1, 6 * i + 2, 6 * i + 3, 6 * i + 4, 6 * i + 5};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY: {
      const uint32_t v = 2 * i;
      if (n == 1) return {0, 1, 2, 5, 4, 3};
      if (i == 0) return {v, v + 1, v + 2, v + 6, v + 4, v + 3};
      if (i < n - 1 && i % 2 == 1) return {v, v + 3, v + 4, v + 6, v + 2, v - 2};
      if (i < n - 1) return {v, v - 2, v + 2, v + 6, v + 4, v + 3};
      if (i % 2 == 1) return {v, v + 3, v + 4, v + 5, v + 2, v - 2};
      return {v, v - 2, v + 2, v + 5, v + 4, v + 3};
    }
    default: {
      Primitive p(patch);
      for (uint32_t k = 0; k < patch; k++) p[k] = patch * i + k;
      return p;
    }
  }
}

uint32_t count_formula(VkPrimitiveTopology topology, uint32_t patch, uint32_t vertices) {
  const auto above = [&](uint32_t least) { return vertices > least ? vertices - least : 0; };
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return vertices;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
      return vertices / 2;
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return above(1);
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST:
      return vertices / 3;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      return above(2);
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
      return vertices / 4;
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
      return above(3);
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
      return vertices / 6;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY:
      return above(4) / 2;
    default:
      return vertices / patch;
  }
}

/// Of a primitive, without adjacent vertices.
Primitive own_vertices(VkPrimitiveTopology topology, const Primitive& p) {
  if (topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST || p.size() < 4) return p;
  if (p.size() == 4) return {p[1], p[2]};
  return {p[0], p[2], p[4]};
}

/// The primitives of what `restart` parts, vertices looked up.
Primitives expected_primitives(VkPrimitiveTopology topology, uint32_t patch, const std::vector<uint32_t>& indices, bool restarts,
                               uint32_t restart) {
  Primitives all;
  std::vector<uint32_t> run;
  const auto flush = [&] {
    const uint32_t n = count_formula(topology, patch, static_cast<uint32_t>(run.size()));
    for (uint32_t i = 0; i < n; i++) {
      Primitive p = formula(topology, patch, i, n);
      for (uint32_t& v : p) v = run[v];
      all.push_back(p);
    }
    run.clear();
  };
  for (uint32_t index : indices) {
    if (restarts && index == restart)
      flush();
    else
      run.push_back(index);
  }
  flush();
  return all;
}

struct Draw {
  command::DrawState state;
  command::DrawCall call;
  std::vector<uint8_t> memory;

  Draw(VkPrimitiveTopology topology, uint32_t patch, bool restart) {
    state.topology = topology;
    state.patch_control_points = patch;
    state.primitive_restart = restart;
    call.state = &state;
  }
  Draw(const Draw&) = delete;
  /// Every index above what the type holds is cut, the one that restarts too.
  void index(const std::vector<uint32_t>& indices, uint32_t size_B) {
    memory.resize(indices.size() * size_B + 1);
    for (size_t i = 0; i < indices.size(); i++) std::memcpy(memory.data() + i * size_B, &indices[i], size_B);
    state.index_data = memory.data();
    state.index_size_B = indices.size() * size_B;
    state.index_type = size_B == 1 ? VK_INDEX_TYPE_UINT8_EXT : size_B == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32;
    call.indexed = true;
    call.count = static_cast<uint32_t>(indices.size());
  }
  /// In pieces of at most `limit`.
  std::vector<ChunkPiece> pieces(uint32_t limit) const {
    if (uses_restart(call)) return scan_restart(call, limit);
    std::vector<ChunkPiece> all;
    const uint32_t count = primitives_of(shape_of(state), call.count);
    for (uint32_t first = 0; first < count; first += limit) {
      ChunkPiece piece;
      piece.first_primitive = first;
      piece.primitive_count = std::min(limit, count - first);
      all.push_back(piece);
    }
    return all;
  }
};

Primitives fetched(const Draw& draw, uint32_t limit, bool provoking_last) {
  Primitives all;
  Arena<uint32_t> words;
  for (const ChunkPiece& piece : draw.pieces(limit)) {
    CHECK(piece.first_primitive == all.size() && piece.primitive_count >= 1 && piece.primitive_count <= limit);
    const uint32_t vertices = fetch_primitives(draw.call, piece, provoking_last, words);
    CHECK(words.size() == size_t{vertices} * piece.primitive_count && vertices == shape_of(draw.state).vertices);
    for (uint32_t i = 0; i < piece.primitive_count; i++)
      all.emplace_back(words.begin() + size_t{i} * vertices, words.begin() + size_t{i + 1} * vertices);
  }
  return all;
}

Primitives fetched_triples(const Draw& draw, uint32_t limit) {
  Primitives all;
  Arena<uint32_t> words;
  for (const ChunkPiece& piece : draw.pieces(limit)) {
    const IndexTriples triples = fetch_indices(draw.call, piece, words);
    for (uint32_t i = 0; i < piece.primitive_count; i++) {
      Primitive p(3);
      std::memcpy(p.data(), triples.bytes + size_t{i} * 12, 12);
      all.push_back(p);
    }
  }
  return all;
}

void check_draw(const Draw& draw, const Primitives& expected) {
  const VkPrimitiveTopology topology = draw.state.topology;
  for (uint32_t limit : {1u, 2u, 3u, 7u, kLargestChunk}) {
    CHECK(fetched(draw, limit, false) == expected);
    if (topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST) continue;
    const Primitives triples = fetched_triples(draw, limit);
    if (!CHECK(triples.size() == expected.size())) continue;
    for (size_t i = 0; i < triples.size(); i++) {
      Primitive own = own_vertices(topology, expected[i]);
      while (own.size() < 3) own.push_back(own.back());
      CHECK(triples[i] == own);
    }
  }
}

void test_tables() {
  for (VkPrimitiveTopology topology : kTopologies) {
    for (uint32_t patch : {1u, 2u, 3u, 16u, 32u}) {
      if (patch > 1 && topology != VK_PRIMITIVE_TOPOLOGY_PATCH_LIST) continue;
      for (uint32_t count = 0; count < 40; count++) {
        std::vector<uint32_t> sequence(count);
        for (uint32_t i = 0; i < count; i++) sequence[i] = 1000 + i;
        Draw draw(topology, patch, random_below(2) == 0);  // without indices nothing restarts
        draw.call.first = 1000;
        draw.call.count = count;
        CHECK(primitives_of(shape_of(draw.state), count) == count_formula(topology, patch, count));
        check_draw(draw, expected_primitives(topology, patch, sequence, false, 0));
      }
    }
  }
}

// The table that is easiest to get wrong, in numbers: strips of one, two, three and four triangles with adjacency.
void test_triangle_strip_with_adjacency() {
  const auto strip = [](uint32_t vertices, bool provoking_last) {
    Draw draw(VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY, 3, false);
    draw.call.count = vertices;
    return fetched(draw, 2, provoking_last);
  };
  CHECK(strip(5, false).empty());
  for (uint32_t extra : {0u, 1u}) {  // an odd vertex is left over
    CHECK((strip(6 + extra, false) == Primitives{{0, 1, 2, 5, 4, 3}}));
    CHECK((strip(8 + extra, false) == Primitives{{0, 1, 2, 6, 4, 3}, {2, 5, 6, 7, 4, 0}}));
    CHECK((strip(10 + extra, false) == Primitives{{0, 1, 2, 6, 4, 3}, {2, 5, 6, 8, 4, 0}, {4, 2, 6, 9, 8, 7}}));
    CHECK((strip(12 + extra, false) == Primitives{{0, 1, 2, 6, 4, 3}, {2, 5, 6, 8, 4, 0}, {4, 2, 6, 10, 8, 7}, {6, 9, 10, 11, 8, 4}}));
    CHECK((strip(10 + extra, true) == Primitives{{0, 1, 2, 6, 4, 3}, {4, 0, 2, 5, 6, 8}, {4, 2, 6, 9, 8, 7}}));
  }
}

void test_indices_and_restart() {
  for (VkPrimitiveTopology topology : kTopologies) {
    for (int round = 0; round < 60; round++) {
      const uint32_t size_B = 1u << round % 3, patch = 1 + random_below(5), count = random_below(90), rare = 2 + random_below(30);
      const uint32_t marker = size_B == 4 ? ~0u : (1u << 8 * size_B) - 1;
      const bool restart = round / 3 & 1;
      std::vector<uint32_t> indices(count);
      // Where restart isn't enabled the marker is an index as any other.
      for (uint32_t& i : indices) i = random_below(rare) == 0 ? marker : random_below(200);
      Draw draw(topology, patch, restart);
      draw.index(indices, size_B);
      check_draw(draw, expected_primitives(topology, patch, indices, restart, marker));
      CHECK(assembled_vertices(draw.call) ==
            static_cast<uint64_t>(std::count_if(indices.begin(), indices.end(), [&](uint32_t i) { return !restart || i != marker; })));
      // A draw of a part of them, and beyond their end, where indices are 0.
      const uint32_t first = random_below(count + 10);
      draw.call.first = first;
      draw.call.count = random_below(100);
      std::vector<uint32_t> part;
      for (uint32_t i = 0; i < draw.call.count; i++) part.push_back(first + i < count ? indices[first + i] : 0);
      check_draw(draw, expected_primitives(topology, patch, part, restart, marker));
    }
  }
}

// Turned so that the specification's provoking vertex is the last one of its own: the same primitive, in the same winding.
void test_provoking_last() {
  for (VkPrimitiveTopology topology : kTopologies) {
    if (topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST) continue;
    Draw draw(topology, 3, false);
    draw.state.rasterization.provoking_vertex_last = true;
    draw.call.count = 25;
    const Primitives first = fetched(draw, 4, false), last = fetched(draw, 4, true), triples = fetched_triples(draw, 5);
    CHECK(first.size() == last.size() && last.size() == triples.size() && !first.empty());
    for (uint32_t i = 0; i < first.size(); i++) {
      Primitive turned = last[i];
      const Primitive own = own_vertices(topology, turned);
      uint32_t provoking = *std::max_element(own.begin(), own.end());  // v(i + 2) of strips and fans, v(2i + 4) with adjacency
      CHECK(own.back() == provoking);
      CHECK(std::equal(own.begin(), own.end(), triples[i].begin()));
      size_t turns = 0;
      for (; turns < turned.size() && turned != first[i]; turns++) std::rotate(turned.begin(), turned.begin() + 1, turned.end());
      CHECK(turned == first[i]);
    }
  }
}

// The index buffer changes between planning and fetching: what is missing are primitives of vertex 0.
void test_changed_indices() {
  Draw draw(VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY, 3, true);
  draw.index({1, 2, 3, 4, 5, 6}, 2);
  const std::vector<ChunkPiece> pieces = scan_restart(draw.call, 100);
  CHECK(pieces.size() == 1 && pieces[0].primitive_count == 3);
  draw.index({1, 2, 3, 4, 5, 0xffff}, 2);
  Arena<uint32_t> words;
  CHECK(fetch_primitives(draw.call, pieces[0], false, words) == 4 && words.size() == 12);
  CHECK((std::vector<uint32_t>(words.begin(), words.end()) == std::vector<uint32_t>{1, 2, 3, 4, 2, 3, 4, 5, 0, 0, 0, 0}));
}

void test_no_topology_draws_nothing() {
  Draw draw(static_cast<VkPrimitiveTopology>(77), 3, true);
  draw.index({1, 2, 3, 4, 5, 6}, 2);
  CHECK(primitives_of(shape_of(draw.state), 100) == 0 && scan_restart(draw.call, 100).empty());
}

}  // namespace

int main() {
  test_tables();
  test_triangle_strip_with_adjacency();
  test_indices_and_restart();
  test_provoking_last();
  test_changed_indices();
  test_no_topology_draws_nothing();
  return tilegpu::test::finish("primitive_topologies");
}
