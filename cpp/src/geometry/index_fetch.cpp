// geometry/index_fetch.cpp -- stage: input assembler. In: index buffer (or none) and topology. Out: for each primitive its three
// vertex indices, in an order that keeps the winding and puts the provoking vertex first (or last, where that provokes); or all of its
// vertices, with adjacent ones and patches' control points.
// Source: Vulkan specification, "Primitive Topologies", "Primitive Restart"; reads outside the buffer give 0 (robustBufferAccess).
#include "geometry/index_fetch.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "records/line_segment.hpp"

namespace tilegpu::geometry {

namespace {

template <class T>
struct IndexView {
  using Type = T;
  const uint8_t* data;
  uint64_t count;  // whole indices in the buffer
  uint64_t first;  // of the draw
  static constexpr T kRestart = static_cast<T>(~T{0});
  uint32_t operator()(uint64_t position) const {
    const uint64_t i = first + position;
    if (i >= count) return 0;
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }
  bool restart(uint64_t position) const {
    const uint64_t i = first + position;
    if (i >= count) return false;
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value == kRestart;
  }
};

// vkCmdDraw: the vertices themselves.
struct Sequence {
  using Type = void;
  uint32_t first;
  uint32_t operator()(uint64_t position) const { return first + static_cast<uint32_t>(position); }
  bool restart(uint64_t) const { return false; }
};

template <class F>
decltype(auto) with_indices(const command::DrawCall& draw, F&& f) {
  const command::DrawState& state = *draw.state;
  const uint64_t size_B = state.index_data ? state.index_size_B : 0;
  if (!draw.indexed) return f(Sequence{draw.first});
  switch (state.index_type) {
    case VK_INDEX_TYPE_UINT8_EXT:
      return f(IndexView<uint8_t>{state.index_data, size_B, draw.first});
    case VK_INDEX_TYPE_UINT16:
      return f(IndexView<uint16_t>{state.index_data, size_B / 2, draw.first});
    default:
      return f(IndexView<uint32_t>{state.index_data, size_B / 4, draw.first});
  }
}

VkPrimitiveTopology topology_of(const command::DrawCall& draw) { return draw.state->topology; }

constexpr PrimitiveShape shape_of(VkPrimitiveTopology topology, uint32_t patch_control_points) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return {1, 1};
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
      return {2, 2};
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return {2, 1};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST:
      return {3, 3};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      return {3, 1};
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
      return {4, 4};
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
      return {4, 1};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
      return {6, 6};
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY:
      return {6, 2};
    case VK_PRIMITIVE_TOPOLOGY_PATCH_LIST:
      return {patch_control_points, patch_control_points};
    default:
      return {};  // refused when the pipeline is made
  }
}

// The primitive that `last` completes, without adjacent vertices; its strip or fan began at `begin`.
template <class Indices>
inline void primitive_at(const Indices& index, VkPrimitiveTopology topology, bool provoking_last, uint64_t last, uint64_t begin,
                         uint32_t* out) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      out[0] = out[1] = out[2] = index(last);
      break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      out[0] = index(last - 1);
      out[1] = out[2] = index(last);
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
      strip_triangle(index(last - 2), index(last - 1), index(last), (last - begin) & 1, provoking_last, out);
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN: {
      // {v(i + 1), v(i + 2), v(0)}
      const uint32_t hub = index(begin), a = index(last - 1), b = index(last);
      out[0] = provoking_last ? hub : a;
      out[1] = provoking_last ? a : b;
      out[2] = provoking_last ? b : hub;
      break;
    }
    default:
      out[0] = index(last - 2);
      out[1] = index(last - 1);
      out[2] = index(last);
  }
}

// The same of a topology with adjacency.
template <class Indices>
inline void adjacent_primitive_at(const Indices& index, VkPrimitiveTopology topology, bool provoking_last, uint64_t last, uint64_t begin,
                                  uint32_t* out) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
      out[0] = index(last - 2);
      out[1] = out[2] = index(last - 1);
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
      out[0] = index(last - 5);
      out[1] = index(last - 3);
      out[2] = index(last - 1);
      break;
    default:
      strip_triangle(index(last - 5), index(last - 3), index(last - 1), (last - 5 - begin) & 2, provoking_last, out);
      break;
  }
}

// A triangle of a strip with adjacency: v(2i), v(2i + 2), v(2i + 4) and what lies behind its edges: a vertex of the triangle before, of
// the one after, and v(2i + 3). At the strip's ends there is no such triangle but a vertex of its own: v(1), v(2i + 5).
template <class Indices>
inline void adjacent_strip_triangle(const Indices& index, bool restarts, bool provoking_last, uint64_t last, uint64_t begin, uint64_t end,
                                    uint32_t* out) {
  const uint64_t v = last - 5;
  const bool odd = (v - begin) & 2;
  const bool is_last = last + 2 >= end || (restarts && (index.restart(last + 1) || index.restart(last + 2)));
  const uint32_t before = index(v == begin ? v + 1 : v - 2), after = index(is_last ? last : last + 1);
  const uint32_t a = index(v), b = index(v + 2), c = index(v + 4), beside = index(v + 3);
  const uint32_t even_order[6] = {a, before, b, after, c, beside}, odd_order[6] = {a, beside, c, after, b, before},
                 turned[6] = {b, before, a, beside, c, after};
  std::memcpy(out, !odd ? even_order : provoking_last ? turned : odd_order, sizeof even_order);
}

// The primitive that `last` completes, with all its vertices; `end`: of the draw.
template <class Indices>
inline void whole_primitive_at(const Indices& index, VkPrimitiveTopology topology, uint32_t vertices, bool restarts, bool provoking_last,
                               uint64_t last, uint64_t begin, uint64_t end, uint32_t* out) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      primitive_at(index, topology, provoking_last, last, begin, out);
      break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY:
      adjacent_strip_triangle(index, restarts, provoking_last, last, begin, end, out);
      break;
    default:
      for (uint32_t k = 0; k < vertices; k++) out[k] = index(last + 1 - vertices + k);
  }
}

// Whether the index at `last` completes a primitive of what began at `begin`, where no primitive of a list is before it.
template <bool pairs>  // its step may be 2
inline bool completes(const PrimitiveShape& shape, uint64_t last, uint64_t begin) {
  const uint64_t count = last - begin + 1;
  return count >= shape.vertices && (!pairs || shape.step != 2 || (count - shape.vertices) % 2 == 0);
}

/// Makes the triples of a piece.
template <bool adjacent>
struct Triples {
  VkPrimitiveTopology topology;
  bool provoking_last;
  template <class Indices>
  void operator()(const Indices& index, uint64_t last, uint64_t begin, uint32_t* out) const {
    if constexpr (adjacent)
      adjacent_primitive_at(index, topology, provoking_last, last, begin, out);
    else
      primitive_at(index, topology, provoking_last, last, begin, out);
  }
  uint32_t words() const { return 3; }
};

/// Makes its primitives with all their vertices.
struct WholePrimitives {
  VkPrimitiveTopology topology;
  bool provoking_last, restarts;
  uint32_t vertices;
  uint64_t end;
  template <class Indices>
  void operator()(const Indices& index, uint64_t last, uint64_t begin, uint32_t* out) const {
    whole_primitive_at(index, topology, vertices, restarts, provoking_last, last, begin, end, out);
  }
  uint32_t words() const { return vertices; }
};

/// Marks those with which a strip begins.
struct StripStarts {
  uint32_t vertices;
  template <class Indices>
  void operator()(const Indices&, uint64_t last, uint64_t begin, uint32_t* out) const {
    *out = last + 1 - begin == vertices;
  }
  uint32_t words() const { return 1; }
};

template <class Indices, class Make>
[[gnu::always_inline]] inline void fetch_plain(const Indices& index, PrimitiveShape shape, const Make make, const ChunkPiece& piece,
                                               uint32_t* out) {
  uint64_t last = uint64_t{piece.first_primitive} * shape.step + shape.vertices - 1;
  for (uint32_t left = piece.primitive_count; left > 0; left--, last += shape.step, out += make.words()) make(index, last, 0, out);
}

template <bool pairs, class Indices, class Make>
[[gnu::always_inline]] inline void fetch_restarted(const Indices& index, PrimitiveShape shape, const Make make, const ChunkPiece& piece,
                                                   uint64_t end, uint32_t* out) {
  const bool list = shape.list();
  uint64_t begin = piece.restart_begin;
  assert(begin <= piece.restart_index);
  uint32_t done = 0;
  for (uint64_t last = piece.restart_index; done < piece.primitive_count && last < end; last++) {
    if (index.restart(last)) {
      begin = last + 1;
      continue;
    }
    if (!completes<pairs>(shape, last, begin)) continue;
    make(index, last, begin, out);
    out += make.words();
    done++;
    if (list) begin = last + 1;
  }
  // The buffer changed since it was scanned: what is missing becomes points without area.
  std::memset(out, 0, size_t{piece.primitive_count - done} * make.words() * sizeof *out);
}

template <bool pairs, class Indices>
[[gnu::always_inline]] inline void scan(const Indices& index, PrimitiveShape shape, uint32_t count, uint32_t limit,
                                        std::vector<ChunkPiece>& pieces) {
  const bool list = shape.list();
  uint64_t begin = 0;
  uint32_t total = 0;
  for (uint64_t last = 0; last < count; last++) {
    if (index.restart(last)) {
      begin = last + 1;
      continue;
    }
    if (!completes<pairs>(shape, last, begin)) continue;
    if (pieces.empty() || pieces.back().primitive_count == limit) {
      ChunkPiece piece;
      piece.first_primitive = total;
      piece.restart_index = static_cast<uint32_t>(last);
      piece.restart_begin = static_cast<uint32_t>(begin);
      pieces.push_back(piece);
    }
    pieces.back().primitive_count++;
    total++;
    if (list) begin = last + 1;
  }
}

}  // namespace

PrimitiveShape shape_of(const command::DrawState& state) {
  if (state.resolved && state.resolved->primitives.meshes) return {1, 1};  // workgroups
  return shape_of(state.topology, state.patch_control_points);
}

bool uses_restart(const command::DrawCall& draw) { return draw.indexed && draw.state->primitive_restart; }

uint32_t read_index(const command::DrawState& state, uint64_t position) {
  command::DrawCall draw;
  draw.state = &state;
  draw.indexed = true;
  return with_indices(draw, [&](auto index) { return index(position); });
}

IndexTriples indices_in_place(const command::DrawCall& draw, const ChunkPiece& piece) {
  const command::DrawState& state = *draw.state;
  if (!draw.indexed || uses_restart(draw) || topology_of(draw) != VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST ||
      state.index_type != VK_INDEX_TYPE_UINT32 || !state.index_data)
    return {};
  const uint64_t begin = uint64_t{draw.first} + uint64_t{piece.first_primitive} * 3;
  if (begin + uint64_t{piece.primitive_count} * 3 > state.index_size_B / 4) return {};
  return {state.index_data + begin * 4};
}

IndexTriples fetch_indices(const command::DrawCall& draw, const ChunkPiece& piece, Arena<uint32_t>& scratch) {
  assert(piece.primitive_count > 0 && piece.primitive_count <= kLargestChunk);
  if (const IndexTriples there = indices_in_place(draw, piece); there.bytes) return there;
  const VkPrimitiveTopology topology = topology_of(draw);
  assert(topology != VK_PRIMITIVE_TOPOLOGY_PATCH_LIST);
  const PrimitiveShape shape = shape_of(*draw.state);
  const bool restart = uses_restart(draw), adjacent = topology >= VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY;
  scratch.resize(size_t{piece.primitive_count} * 3);
  const bool provoking_last = draw.state->rasterization.provoking_vertex_last;
  with_indices(draw, [&](auto index) {
    if (restart && adjacent)
      fetch_restarted<true>(index, shape, Triples<true>{topology, provoking_last}, piece, draw.count, scratch.data());
    else if (restart)
      fetch_restarted<false>(index, shape, Triples<false>{topology, provoking_last}, piece, draw.count, scratch.data());
    else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST)
      fetch_plain(index, PrimitiveShape{3, 3}, Triples<false>{VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, false}, piece, scratch.data());
    else if (adjacent)
      fetch_plain(index, shape, Triples<true>{topology, provoking_last}, piece, scratch.data());
    else
      fetch_plain(index, shape, Triples<false>{topology, provoking_last}, piece, scratch.data());
  });
  return {reinterpret_cast<const uint8_t*>(scratch.data())};
}

uint32_t fetch_primitives(const command::DrawCall& draw, const ChunkPiece& piece, bool provoking_last, Arena<uint32_t>& out) {
  assert(piece.primitive_count > 0 && piece.primitive_count <= kLargestChunk);
  const PrimitiveShape shape = shape_of(*draw.state);
  assert(shape.vertices > 0);
  out.resize(size_t{piece.primitive_count} * shape.vertices);
  const bool restarts = uses_restart(draw);
  const WholePrimitives make{topology_of(draw), provoking_last, restarts, shape.vertices, draw.count};
  with_indices(draw, [&](auto index) {
    if (restarts)
      fetch_restarted<true>(index, shape, make, piece, draw.count, out.data());
    else
      fetch_plain(index, shape, make, piece, out.data());
  });
  return shape.vertices;
}

bool runs_stipple(const command::DrawState& state) {
  if (state.resolved->primitives.meshes) return false;
  if (state.topology != VK_PRIMITIVE_TOPOLOGY_LINE_STRIP && state.topology != VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY) return false;
  return !state.resolved->primitives.makes_primitives && line_rule(state.rasterization).stippled;
}

void find_strip_starts(const command::DrawCall& draw, const ChunkPiece& piece, std::vector<uint8_t>& out) {
  assert(runs_stipple(*draw.state));
  out.assign(piece.primitive_count, 0);
  if (!uses_restart(draw)) {
    out[0] = piece.first_primitive == 0;
    return;
  }
  const PrimitiveShape shape = shape_of(*draw.state);
  std::vector<uint32_t> starts(piece.primitive_count);
  with_indices(draw,
               [&](auto index) { fetch_restarted<true>(index, shape, StripStarts{shape.vertices}, piece, draw.count, starts.data()); });
  std::copy(starts.begin(), starts.end(), out.begin());
}

std::vector<ChunkPiece> scan_restart(const command::DrawCall& draw, uint32_t limit) {
  assert(limit > 0 && uses_restart(draw));
  std::vector<ChunkPiece> pieces;
  const PrimitiveShape shape = shape_of(*draw.state);
  if (shape.vertices == 0) return pieces;
  with_indices(draw, [&](auto index) {
    if (shape.step == 2 && !shape.list())
      scan<true>(index, shape, draw.count, limit, pieces);
    else
      scan<false>(index, shape, draw.count, limit, pieces);
  });
  return pieces;
}

uint64_t assembled_vertices(const command::DrawCall& draw) {
  if (!uses_restart(draw)) return draw.count;
  uint64_t vertices = 0;
  with_indices(draw, [&](auto index) {
    for (uint64_t i = 0; i < draw.count; i++) vertices += !index.restart(i);
  });
  return vertices;
}

}  // namespace tilegpu::geometry
