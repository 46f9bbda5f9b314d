// geometry/index_fetch.cpp -- stage: input assembler. In: index buffer (or none) and topology. Out: for each primitive its three
// vertex indices, in an order that keeps the winding and puts the provoking vertex first (or last, where that provokes).
// Source: Vulkan specification, "Primitive Topologies", "Primitive Restart"; reads outside the buffer give 0 (robustBufferAccess).
#include "geometry/index_fetch.hpp"

#include <cassert>
#include <cstring>

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

// The primitive that `last` completes; its strip or fan began at `begin`.
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
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP: {
      // {v(i), v(i + 1 + i%2), v(i + 2 - i%2)}: provoking are v(i), or v(i + 2) where the last one is.
      const uint32_t a = index(last - 2), b = index(last - 1), c = index(last);
      const bool odd = (last - begin) & 1;
      out[0] = odd && provoking_last ? b : a;
      out[1] = !odd ? b : provoking_last ? a : c;
      out[2] = odd && !provoking_last ? b : c;
      break;
    }
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

template <class Indices>
void fetch_plain(const Indices& index, VkPrimitiveTopology topology, bool provoking_last, const ChunkPiece& piece, uint32_t* out) {
  const uint64_t vertices = vertices_per_primitive(topology);
  const uint64_t step = is_list(topology) ? vertices : 1;
  uint64_t last = piece.first_primitive * step + vertices - 1;
  for (uint32_t i = 0; i < piece.primitive_count; i++, last += step, out += 3) primitive_at(index, topology, provoking_last, last, 0, out);
}

template <class Indices>
void fetch_restarted(const Indices& index, VkPrimitiveTopology topology, bool provoking_last, const ChunkPiece& piece, uint64_t end,
                     uint32_t* out) {
  const uint64_t vertices = vertices_per_primitive(topology);
  const bool list = is_list(topology);
  uint64_t begin = piece.restart_begin;
  assert(begin <= piece.restart_index);
  uint32_t done = 0;
  for (uint64_t last = piece.restart_index; done < piece.primitive_count && last < end; last++) {
    if (index.restart(last)) {
      begin = last + 1;
      continue;
    }
    if (last - begin + 1 < vertices) continue;
    primitive_at(index, topology, provoking_last, last, begin, out);
    out += 3;
    done++;
    if (list) begin = last + 1;
  }
  // The buffer changed since it was scanned: what is missing becomes points without area.
  for (; done < piece.primitive_count; done++, out += 3) out[0] = out[1] = out[2] = 0;
}

}  // namespace

uint32_t vertices_per_primitive(VkPrimitiveTopology topology) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return 1;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return 2;
    default:
      return 3;
  }
}

bool is_list(VkPrimitiveTopology topology) {
  return topology == VK_PRIMITIVE_TOPOLOGY_POINT_LIST || topology == VK_PRIMITIVE_TOPOLOGY_LINE_LIST ||
         topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
}

uint32_t primitives_of(VkPrimitiveTopology topology, uint32_t vertices) {
  switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
      return vertices;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
      return vertices / 2;
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
      return vertices < 2 ? 0 : vertices - 1;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST:
      return vertices / 3;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
      return vertices < 3 ? 0 : vertices - 2;
    default:
      return 0;  // refused when the pipeline is made
  }
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
  const bool restart = uses_restart(draw);
  scratch.resize(size_t{piece.primitive_count} * 3);
  const bool provoking_last = draw.state->rasterization.provoking_vertex_last;
  with_indices(draw, [&](auto index) {
    if (restart)
      fetch_restarted(index, topology, provoking_last, piece, draw.count, scratch.data());
    else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST)
      fetch_plain(index, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, false, piece, scratch.data());
    else
      fetch_plain(index, topology, provoking_last, piece, scratch.data());
  });
  return {reinterpret_cast<const uint8_t*>(scratch.data())};
}

std::vector<ChunkPiece> scan_restart(const command::DrawCall& draw, uint32_t limit) {
  assert(limit > 0 && uses_restart(draw));
  std::vector<ChunkPiece> pieces;
  const VkPrimitiveTopology topology = topology_of(draw);
  if (primitives_of(topology, 3) == 0) return pieces;
  const uint64_t vertices = vertices_per_primitive(topology);
  const bool list = is_list(topology);
  with_indices(draw, [&](auto index) {
    uint64_t begin = 0;
    uint32_t total = 0;
    for (uint64_t last = 0; last < draw.count; last++) {
      if (index.restart(last)) {
        begin = last + 1;
        continue;
      }
      if (last - begin + 1 < vertices) continue;
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
