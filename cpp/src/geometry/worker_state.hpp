// geometry/worker_state.hpp -- what one thread of the geometry phase has, and what it knows of the piece at hand; process.cpp,
// primitive_stages.cpp and mesh_stages.cpp are its steps. In: a chunk. Out: for its steps.
#pragma once

#include "geometry/draw_setup.hpp"
#include "geometry/index_fetch.hpp"
#include "geometry/primitive_scratch.hpp"
#include "geometry/vertex_batch.hpp"
#include "geometry/vertex_fetch.hpp"
#include "geometry/vertex_range.hpp"

namespace tilegpu::geometry {

// What stays the same for a piece: primitives of one draw, over some instances.
struct Piece {
  const GeometryPass& pass;
  const ChunkPiece& piece;
  const command::DrawCall& call;
  Output& out;
  Chunk& chunk;
  PassStats& stats;
  shader::VertexFunction shade, position;  // position: deferred vertex shading; else null
  size_t varying_floats;                   // of a block
  uint32_t limit;                          // vertices of a batch
  uint32_t vertex_offset;
  bool draws;     // else shaders only write memory, or are captured
  bool captures;  // by transform feedback
  bool chooses;   // layer, viewport, number or shading rate of each primitive
  bool sequence;  // vertices in order, three each
  IndexTriples triples;
  shader::VertexArgs& args;      // the worker's
  uint32_t primitives_done = 0;  // where it stopped: of the instance at hand
  bool stopped = false;          // the chunk is full, or nobody wants the rest
};

/// What a state says of each of its pieces.
struct StateTraits {
  bool stages = false;          // tessellation, geometry, task or mesh shaders
  bool draws = false;           // else shaders only write memory, or are captured
  bool has_effect = false;      // without anybody who counts or captures
  bool chooses = false;         // see Piece
  bool sequences = false;       // without indices vertices come in order, three each
  bool distances = false;       // clip or cull distances
  bool only_triangles = false;  // filled ones that are nothing else, if they have indices and are not captured
  bool usual = false;           // filled triangles, and nobody looks on
  uint32_t limit = 0;           // vertices of a batch
};

struct GeometryWorker::State {
  TagStore tags;
  VertexCache cache;  // of the piece at hand, where the GPU has one
  Batch batch;
  VertexRange range;
  DrawSetup draw;
  StateTraits common;             // of its state
  shader::VertexArgs args;        // of the piece at hand
  std::vector<DrawSetup> others;  // of a draw with several viewports: that of each but the first, in use as draws come to need them
  Binner binner;
  Arena<uint32_t> indices;
  std::vector<uint8_t> strip_starts;  // of each primitive of the piece, where a stipple runs through strips; else empty
  VertexRange::Ahead ahead;           // of the next chunk
  Arena<uint8_t> scratch;
  shader::LoopBudget loops;
  alignas(64) float no_varyings[kBatchStride];
  VertexFetch fetched;                      // where draws are counted
  std::vector<ChunkPiece>* rest = nullptr;  // of the chunk, where it is full
  bool stopped = false;                     // it is
  size_t next_look = 0;                     // records of the chunk at which its memory is looked at again
  uint64_t unfinished = 0;                  // of the last piece: primitives that went there
  uint32_t whole_instances_left = 0;        // the same: instances of which all is there
  PrimitiveScratch primitives;              // of draws with tessellation or geometry shaders
  MeshScratch meshes;

  void begin_stipple(const command::DrawCall& call, const ChunkPiece& piece);
  void process_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out);
  void draw_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out);
  IndexTriples fetch_triples(const command::DrawCall& call, const ChunkPiece& piece);
  bool has_effect(const command::DrawCall& call) const;
  bool draws_anything() const;
  Piece fetch_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out);
  bool only_triangles(const Piece& p) const;
  bool takes_wide_batches(Piece& p);
  void draw_wide_batches(Piece& p, uint32_t instance);
  template <class Step>
  void each_instance(Piece& p, const Step& step);
  uint64_t made_B(const Chunk& chunk) const;
  bool stops(Piece& p, uint32_t done);
  bool stops_if_full(Piece& p, uint32_t done);
  bool stops_stages(Piece& p, uint32_t done);
  void check_room(const Piece& p) const;
  void leave_rest(const Piece& p, uint32_t instances_begun);
  void note_vertices(const GeometryPass& pass, const ChunkPiece& piece, Output& out);
  void count_piece(const GeometryPass& pass, const ChunkPiece& piece, Output& out);

 private:
  void begin_state(const GeometryPass& pass, const command::DrawState& state, Output& out);
  // One function to the compiler: a piece may be one triangle of ten thousand draws.
  void begin_piece(Piece& p);
  bool takes_range(const Piece& p);
  void draw_range(Piece& p);
  bool is_usual(const Piece& p) const { return common.usual && !p.position && !p.captures; }
  template <bool kUsual>
  void draw_batches(Piece& p, uint32_t instance);
  uint32_t fill_batch(const Piece& p, uint32_t done);
  void ask_cache(const Piece& p, uint32_t done);
  void note_fetches(const Piece& p);
  void shade_whole(Piece& p, size_t varyings_before);
  bool draw_positions(Piece& p, size_t records_before, size_t varyings_before);
  void assemble(Piece& p);
  void assemble_runs(Piece& p);
  const DrawSetup& setup_of(const Piece& p, uint32_t viewport);
  void place_varyings(Piece& p, size_t varyings_before);
  struct Before;
  Before begin_batch(Piece& p);
  void end_batch(Piece& p, const Before& before);

  // primitive_stages.cpp: what tessellation and geometry shaders make of a piece, and what is captured.
  void begin_primitives(Piece& p);
  void draw_primitives(Piece& p);
  void shade_vertices(Piece& p);
  void run_control(Piece& p, uint32_t first_slot, uint32_t primitive);
  void tessellate_patch(Piece& p, uint32_t first_slot, uint32_t primitive);
  void evaluate(Piece& p, const uint32_t* at, uint32_t count, float* varyings);
  void draw_domain(Piece& p, uint32_t primitive);
  void shade_domain(Piece& p);
  void run_geometry(Piece& p, const StageVertices& from, const uint32_t* slots, uint32_t step, const uint32_t* ids, uint32_t count);
  void collect_primitives(Piece& p, uint32_t count);
  void draw_made(Piece& p);
  void capture(Piece& p, uint32_t stream, const StageVertices& from, const uint32_t* slots, uint32_t vertices);
  void capture_batch(Piece& p);
  records::CapturedRun& captured_run(Piece& p, uint32_t stream, uint32_t vertices);

  // mesh_stages.cpp: what comes of workgroups of task and mesh shaders.
  void begin_meshes();
  void draw_meshes(Piece& p);
  void run_workgroup(Piece& p, const pipeline::ResolvedStage& stage, const std::array<uint32_t, 3>& groups, uint64_t at, uint8_t* memory,
                     shader::ComputeArgs& args);
  void run_mesh(Piece& p, const std::array<uint32_t, 3>& groups, uint64_t at, uint32_t drawn_as);
  void collect_mesh(Piece& p, uint32_t vertices, uint32_t primitives);
  void draw_mesh(Piece& p, uint32_t workgroup);
  void take_words(const shader::InterfaceWord& word, uint8_t* to) const;
};

/// A batch in the making: what of the chunk was there before it.
struct GeometryWorker::State::Before {
  size_t varyings, records;
  uint32_t shared;
};

}  // namespace tilegpu::geometry
