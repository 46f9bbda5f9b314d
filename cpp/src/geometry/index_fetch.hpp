// geometry/index_fetch.hpp -- what comes before vertices: cutting draws into chunks, and the indices of a piece's primitives.
#pragma once

#include "base/arena.hpp"
#include "geometry/geometry.hpp"

namespace tilegpu::geometry {

/// Three vertex indices for each primitive (lines and points repeat the last), vertex offset not yet added. `bytes` may be
/// unaligned: it may be the index buffer itself.
struct IndexTriples {
  const uint8_t* bytes = nullptr;
};

/// Primitives of one instance, restart aside.
uint32_t primitives_of(VkPrimitiveTopology topology, uint32_t vertices);
uint32_t vertices_per_primitive(VkPrimitiveTopology topology);
bool is_list(VkPrimitiveTopology topology);
bool uses_restart(const command::DrawCall& draw);
/// Where the triples are in the index buffer as such; null: they are not.
IndexTriples indices_in_place(const command::DrawCall& draw, const ChunkPiece& piece);
/// `scratch` holds the triples where they are not in the buffer as such.
IndexTriples fetch_indices(const command::DrawCall& draw, const ChunkPiece& piece, Arena<uint32_t>& scratch);
/// One index; outside the buffer: 0.
uint32_t read_index(const command::DrawState& state, uint64_t position);

/// Where a piece of at most `limit` primitives begins; the order of a draw with primitive restart.
std::vector<ChunkPiece> scan_restart(const command::DrawCall& draw, uint32_t limit);

/// Of an instance, those of incomplete primitives too; indices that restart are none.
uint64_t assembled_vertices(const command::DrawCall& draw);

}  // namespace tilegpu::geometry
