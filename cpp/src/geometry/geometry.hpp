// geometry/geometry.hpp -- the geometry phase: commands in, chunks out.
// In: draws. Out: records::BinnedGeometry.
// plan_chunks cuts the pass's commands (serial, cheap); process_chunk does one chunk (any thread): indices -> batches of unique
// vertices -> vertex shader -> primitives -> clip, cull, snap -> records -> bins; gather_bins joins the chunks' runs (serial).
// Source: seeds, graphics-pipeline-part3-vertex; Vulkan specification, "Drawing Commands", "Fixed-Function Vertex Post-Processing".
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/long_work.hpp"
#include "records/records.hpp"

namespace tilegpu::hsr {
struct VertexDeferral;
}  // namespace tilegpu::hsr

namespace tilegpu::geometry {

using namespace records;  // what this phase makes
using command::PassCommand;

/// Primitives of a chunk, except where strips with primitive restart leave it a little emptier; those of a pass with few, with many.
inline constexpr uint32_t kChunkPrimitives = 4096, kSmallestChunk = 1024, kLargestChunk = 16384;

/// Unique vertices of a batch at most. Beyond kBatchStride, the vertices of a call of the shader, filled triangles with indices alone (see
/// vertex_range.hpp); batches of all else end at that.
inline constexpr uint32_t kMaxVertexBatch = 64;

/// A chunk whose memory is more than this ends behind the batch, patch or workgroup that made it so, and its rest is a chunk of its own.
/// Plans know how many primitives there are, but neither how many bins each is in nor what shaders make of it.
inline constexpr uint64_t kMostChunk_B = uint64_t{32} << 20;
/// What one patch, one primitive or one workgroup may make: it is not cut.
inline constexpr uint64_t kMostOfOne_B = uint64_t{1} << 30;

struct GeometryPass {
  std::span<const command::DrawCall> draws;
  std::span<const PassCommand> commands;
  BinGrid grid;
  uint32_t view_mask = 0;  // layers that are rendered to; 0: all of the grid's
  VkRect2D render_area{};
  uint32_t width_px = 0, height_px = 0;  // of the framebuffer
  bool window = false;                   // the render area is a part of it whose primitives are cut as in the whole
  uint32_t samples = 1;
  uint32_t vertex_batch = 32;                           // unique vertices in a batch, 3..kMaxVertexBatch
  uint32_t vertex_group = 0;                            // vertices of a request to the GPU's cache of vertices; 0: it has none, but batches
  bool vertex_ranges = false;                           // pieces whose indices are dense need no batches (geometry/vertex_range.hpp)
  bool wide = false;                                    // AVX-512 (TILEGPU_WIDE of base/simd.hpp)
  uint32_t chunk_primitives = kChunkPrimitives;         // at most kLargestChunk; less where a small heap must be split finely
  uint32_t draws_a_part = 0;                            // a part of a pass takes no more; 0: any number
  bool traced = false;                                  // chunks say which primitive and instance a record is of
  std::span<const hsr::VertexDeferral> deferral;        // deferred vertex shading, by draw; empty: off
  float deferred_triangle_px2 = 0;                      // bounding box of the largest triangle that is deferred
  bool counts_draws = false;                            // PassStats::draw_vertices, and what is fetched: for models of GPUs
  class VertexCensus* census = nullptr;                 // counts different vertices (geometry/census.hpp), if anybody asks
  uint64_t most_chunk_B = kMostChunk_B;                 // of each
  const std::atomic<bool>* cancelled = &kNotCancelled;  // what is asked now and then: nobody wants the rest
};

/// A piece of one draw: primitives [first_primitive, +primitive_count) of instances [instance, +instance_count). More than one
/// instance only when the piece has all their primitives.
struct ChunkPiece {
  uint32_t draw = 0, instance = 0, first_primitive = 0, primitive_count = 0;
  uint32_t instance_count = 1;
  // Primitive restart only; both relative to DrawCall::first: the index that completes the first primitive, and the one with
  // which its strip, fan or list begins.
  uint32_t restart_index = 0, restart_begin = 0;
  uint32_t restart_skip = 0;  // of a rest: primitives that these two are before the first
};
struct ChunkPlan {
  std::span<const ChunkPiece> pieces;  // empty: a clear
  const command::ClearCall* clear = nullptr;
  bool begins_part = false;  // the draws before it are all that a part of the pass takes
};

/// All chunks of a pass; memory is kept from pass to pass.
class ChunkPlans {
 public:
  ChunkPlans() = default;
  ChunkPlans(const ChunkPlans&) = delete;
  ChunkPlans(ChunkPlans&&) = default;
  ChunkPlans& operator=(ChunkPlans&&) = default;
  size_t size() const { return plans_.size(); }
  const ChunkPlan& operator[](size_t i) const { return plans_[i]; }
  const ChunkPlan* begin() const { return plans_.data(); }
  const ChunkPlan* end() const { return plans_.data() + plans_.size(); }
  /// Primitive restart decided: they hold for these indices only.
  bool read_indices() const { return read_indices_; }

 private:
  friend struct Planner;
  std::vector<ChunkPlan> plans_;
  std::vector<ChunkPiece> pieces_;
  std::vector<size_t> first_piece_;  // of each plan
  bool read_indices_ = false;
};

/// Of passes with many primitives chunks are larger: neighbouring rows of a mesh share more of their vertices then. At least 32 are left.
/// Of passes with few they are smaller, so that threads end together: 16 to 32 are left.
uint32_t chunk_primitives_of(std::span<const command::DrawCall> draws, std::span<const PassCommand> commands);

/// Chunks are cut by primitive count only, never by thread count: the same for any number of threads.
void plan_chunks(const GeometryPass& pass, ChunkPlans& out);

/// Scratch of one thread (batch tags, position arrays, private memory of shaders).
class GeometryWorker {
 public:
  GeometryWorker();
  ~GeometryWorker();
  /// Loops of shaders may go so many times round; what they left of it.
  void begin_pass(uint64_t loop_iterations);
  const shader::LoopBudget& loops() const;
  /// `rest`: what of the plan is left where the chunk is full (kMostChunk_B), else empty. `next`: what this thread does afterwards,
  /// probably; its indices are fetched ahead.
  void process_chunk(const GeometryPass& pass, const ChunkPlan& plan, Chunk& chunk, std::vector<ChunkPiece>& rest,
                     const ChunkPlan* next = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

void gather_bins(const GeometryPass& pass, std::span<const Chunk* const> chunks, BinnedGeometry& out);

}  // namespace tilegpu::geometry
