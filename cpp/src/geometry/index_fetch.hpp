// geometry/index_fetch.hpp -- what comes before vertices: cutting draws into chunks, and the indices of a piece's primitives.
// In: draws. Out: pieces; index triples.
#pragma once

#include "base/arena.hpp"
#include "geometry/geometry.hpp"

namespace tilegpu::geometry {

/// The piece that a rest is of, as far as it went before it.
inline ChunkPiece with_skipped(ChunkPiece piece) {
  assert(piece.restart_skip <= piece.first_primitive);
  piece.first_primitive -= piece.restart_skip, piece.primitive_count += piece.restart_skip;
  return piece;
}

/// Three vertex indices for each primitive (lines and points repeat the last), vertex offset not yet added. `bytes` may be
/// unaligned: it may be the index buffer itself.
struct IndexTriples {
  const uint8_t* bytes = nullptr;
};

/// How vertices make primitives: how many one has, adjacent ones too, and how many further on the next one begins.
struct PrimitiveShape {
  uint32_t vertices = 0, step = 0;
  /// Nothing is shared: each primitive begins where the one before ends.
  bool list() const { return step == vertices; }
};
/// All 0: there is no such topology, and nothing is drawn.
PrimitiveShape shape_of(const command::DrawState& state);
/// Primitives of one instance, restart aside.
inline uint32_t primitives_of(const PrimitiveShape& shape, uint32_t vertices) {
  if (vertices < shape.vertices || shape.vertices == 0) return 0;
  return shape.step == 1 ? vertices - shape.vertices + 1 : (vertices - shape.vertices) / shape.step + 1;
}
/// The i-th triangle of a strip, of vertices a, b, c: {v(i), v(i + 1 + i%2), v(i + 2 - i%2)}. Provoking are v(i), or v(i + 2) where the
/// last one is.
inline void strip_triangle(uint32_t a, uint32_t b, uint32_t c, bool odd, bool provoking_last, uint32_t* out) {
  out[0] = odd && provoking_last ? b : a;
  out[1] = !odd ? b : provoking_last ? a : c;
  out[2] = odd && !provoking_last ? b : c;
}
bool uses_restart(const command::DrawCall& draw);
/// Where the triples are in the index buffer as such; null: they are not.
IndexTriples indices_in_place(const command::DrawCall& draw, const ChunkPiece& piece);
/// `scratch` holds the triples where they are not in the buffer as such. Adjacent vertices are left out; patches have no triples.
IndexTriples fetch_indices(const command::DrawCall& draw, const ChunkPiece& piece, Arena<uint32_t>& scratch);
/// All vertices of each primitive of a piece, in the order in which gl_in has them; a patch's are its control points. Returns how many a
/// primitive has: `out` holds so many words for each. `provoking_last`: of strips and fans each primitive is turned, as triples are, so
/// that the last of its own (not adjacent) vertices provokes.
uint32_t fetch_primitives(const command::DrawCall& draw, const ChunkPiece& piece, bool provoking_last, Arena<uint32_t>& out);
/// Strips whose stipple runs on from line to line, by state: lines of strips that nothing is made of before they are assembled.
bool runs_stipple(const command::DrawState& state);
/// Of each primitive of such a piece: 1 where its strip begins.
void find_strip_starts(const command::DrawCall& draw, const ChunkPiece& piece, std::vector<uint8_t>& out);
/// One index; outside the buffer: 0.
uint32_t read_index(const command::DrawState& state, uint64_t position);

/// Where a piece of at most `limit` primitives begins; the order of a draw with primitive restart.
std::vector<ChunkPiece> scan_restart(const command::DrawCall& draw, uint32_t limit);

/// Of an instance, those of incomplete primitives too; indices that restart are none.
uint64_t assembled_vertices(const command::DrawCall& draw);

}  // namespace tilegpu::geometry
