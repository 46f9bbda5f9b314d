// records/records.hpp -- what the geometry phase leaves for the tile phase.
// In: geometry/. Out: for tile/.
// A pass's commands are cut into chunks of consecutive primitives; a chunk is processed by one thread, into its own arenas, so
// that order is chunk number and no lock is needed. A chunk keeps the shaded vertices of its batches, one 64-byte record for
// each triangle that survives culling and clipping, and for each bin that it touches the list of its records there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.hpp"
#include "command/draw.hpp"
#include "tilegpu/stats.hpp"

namespace tilegpu::records {

inline constexpr int kSubpixelBits = 8;
inline constexpr uint32_t kFrontFacing = 1u << 31;
inline constexpr uint32_t kProvokingShift = 29;  // 2 bits: which of the three vertices
inline constexpr uint32_t kDrawMask = (1u << 24) - 1;
inline constexpr uint32_t kRateShift = 25, kRateMask = 0xf;  // 4 bits: the primitive's shading rate, as SPIR-V encodes it
inline constexpr uint32_t kDeferred = 1u << 24;              // deferred vertex shading: the tile phase shades the vertices

/// Everything a triangle is, in one cache line. Edges and planes are set up by the tile phase, for visible bins only.
/// Winding: (x1-x0)*(y2-y0) - (x2-x0)*(y1-y0) > 0 with y down (clockwise on the screen), so that for each directed edge a -> b
/// (0->1, 1->2, 2->0) the function (bx-ax)*(py-ay) - (by-ay)*(px-ax) is positive inside; an edge is a top edge when it is level
/// and runs to the right, a left edge when it runs up. A triangle that came the other way round has vertices 1 and 2 exchanged.
/// Positions stay within 32768 px of the guard band's middle, so that differences fit in 25 bits and products in 50. Zero-area triangles
/// have no record.
struct alignas(64) TriangleRecord {
  int32_t x[3], y[3];   // framebuffer position, 8 subpixel bits, wound so that the area is positive
  float z[3];           // framebuffer depth with bias; neither clamped nor rounded to the format
  float q[3];           // 1/w
  uint32_t vertex[3];   // offset in floats in Chunk::varyings of component 0; component c at + c * kBatchStride. Deferred: gl_VertexIndex
  uint32_t draw_flags;  // kDrawMask: index in the pass's draws; kProvoking, kFrontFacing, kDeferred, kRate
};
static_assert(sizeof(TriangleRecord) == 64);

/// Records of one chunk in one bin: entries[first .. first + count).
struct BinRun {
  uint32_t bin = 0, first = 0, count = 0;
};

/// Deferred records from `first` on, up to the next run, are of this gl_InstanceIndex.
struct DeferredRun {
  uint32_t first = 0, instance = 0;
};

/// Where the stipple of a record that is a line begins (records/line_segment.hpp).
struct LineStart {
  uint32_t record = 0, start = 0;
};

/// What some draws of a chunk did, for queries.
struct StageCounts {
  uint32_t counted = 0;  // DrawCall::counted
  uint64_t vertices = 0, primitives = 0, vertex_invocations = 0, clipped_in = 0, clipped_away = 0;
  uint64_t patches = 0, evaluation_invocations = 0, geometry_invocations = 0, geometry_primitives = 0;
  uint64_t task_invocations = 0, mesh_invocations = 0, mesh_primitives = 0;
  uint64_t generated[4] = {};                     // by stream: what the last stage made
  uint64_t captured[4] = {}, capturable[4] = {};  // by stream: primitives that transform feedback wrote; and that it would have
};

/// Primitives that transform feedback captured of a draw from one stream, one after the other: of each vertex the stream's captured words.
struct CapturedRun {
  uint32_t interval = 0;  // DrawCall::transform_feedback
  uint32_t draw = 0, stream = 0, vertices_of_primitive = 0;
  uint64_t primitives = 0;
  size_t first_word = 0;  // in Chunk::captured_words
};

struct Chunk {
  const command::ClearCall* clear = nullptr;  // set: this chunk is one vkCmdClearAttachments and nothing else
  Arena<TriangleRecord> records;              // arenas: capacity is kept from frame to frame
  Arena<uint32_t> primitive_id;               // beside records, only where a draw of the chunk reads gl_PrimitiveID; else empty
  struct InstanceRun {
    uint32_t first_record, instance;
  };
  std::vector<InstanceRun> instances;  // only where the pass is traced; then primitive_id is there too
  Arena<float> varyings;
  Arena<DeferredRun> deferred_instances;  // sorted by record
  Arena<LineStart> line_starts;           // the same; of stippled lines only
  Arena<uint32_t> entries;                // indices into records, bin by bin
  Arena<BinRun> runs;                     // sorted by bin
  /// Beside entries, from the geometry phase's end on, where low-resolution Z is on: 1, it rejected the record in this bin while binning.
  /// Only passes that are traced still have such entries afterwards; else this is empty then.
  Arena<uint8_t> hidden;
  std::vector<StageCounts> counts;  // only of draws that queries count
  std::vector<CapturedRun> captured;
  Arena<uint32_t> captured_words;
  PassStats stats;
};

/// What a bin is drawn from, in order.
struct BinSegment {
  const Chunk* chunk = nullptr;
  uint32_t first = 0, count = 0;  // in chunk->entries; a clear has count 0
};

struct BinGrid {
  uint32_t width_px = 64, height_px = 64;    // of a bin: powers of two, 4 or more
  uint32_t columns = 0, rows = 0;            // over the tiling area
  int32_t origin_x_px = 0, origin_y_px = 0;  // of bin 0: multiples of its width and height
  uint32_t layers = 1;                       // bins are numbered layer by layer, row by row
  uint32_t tile_across = 1, tile_down = 1;   // bins of a profile's tile, the first one's at the origin
  uint32_t tile_columns() const { return (columns + tile_across - 1) / tile_across; }
  uint32_t tiles_of_layer() const { return tile_columns() * ((rows + tile_down - 1) / tile_down); }
  bool tiles_are_bins() const { return tile_across * tile_down == 1; }
  /// The tile that a bin is of, numbered as bins are.
  size_t tile_of(size_t bin) const {
    if (tiles_are_bins()) return bin;
    const size_t layer = bin / bins_of_layer();
    const auto in_layer = static_cast<uint32_t>(bin % bins_of_layer());
    return layer * tiles_of_layer() + in_layer / columns / tile_down * tile_columns() + in_layer % columns / tile_across;
  }
  uint32_t bins_of_layer() const { return columns * rows; }
  /// Framebuffer coordinates of a bin's first pixel.
  int32_t x_px(uint32_t bin_of_layer) const { return origin_x_px + static_cast<int32_t>(bin_of_layer % columns * width_px); }
  int32_t y_px(uint32_t bin_of_layer) const { return origin_y_px + static_cast<int32_t>(bin_of_layer / columns * height_px); }
  size_t bins() const { return size_t{columns} * rows * layers; }
};

struct BinnedGeometry {
  BinGrid grid;
  std::vector<BinSegment> segments;     // bin by bin
  std::vector<uint32_t> first_segment;  // [bins + 1]
};

}  // namespace tilegpu::records
