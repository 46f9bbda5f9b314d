// tile/worker.hpp -- the state of one thread in the tile phase, a plain struct for each stage: shape, buffers, the bin, the current draw,
// packets, pre-pass, kill queue, visibility, lists and covers, bounds, filter, results. The stages are free functions on them; those that
// need several take the Worker. Everything allocated is kept from bin to bin.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <memory>
#include <vector>

#include "tile/variant.hpp"

#include "base/aligned_buffer.hpp"
#include "base/simd.hpp"
#include "hsr/prepass_rules.hpp"
#include "records/primitive_setup.hpp"
#include "tile/batch_setup.hpp"
#include "tile/batch_tests.hpp"
#include "tile/coverage.hpp"
#include "tile/depth_stencil.hpp"
#include "tile/fragment_trace.hpp"
#include "tile/lrz_test.hpp"
#include "tile/pixel_groups.hpp"
#include "tile/plan.hpp"
#include "tile/quad_strata.hpp"
#include "tile/sample_lists.hpp"
#include "tile/tile_job.hpp"
#include "tile/vertex_store.hpp"
#include "tile/whole_blocks.hpp"

namespace tilegpu::tile {

inline constexpr uint32_t kQueueQuads = 64;    // waiting at most; one bit each in a word
inline constexpr uint32_t kWorthBatching = 3;  // records that are set up together
inline constexpr uint32_t kPassedOver = 16;
inline constexpr uint32_t kMaxVisible = 1u << 16;  // primitives in the visibility buffer before it is flushed

/// Setups with stable addresses until reset.
class SetupArena {
 public:
  shader::PrimitiveSetup* allocate() {
    const size_t part = used_ / kPart;
    if (part == parts_.size()) parts_.push_back(std::make_unique<shader::PrimitiveSetup[]>(kPart));
    return &parts_[part][used_++ % kPart];
  }
  void reset() { used_ = 0; }
  size_t used() const { return used_; }

 private:
  static constexpr size_t kPart = 256;
  std::vector<std::unique_ptr<shader::PrimitiveSetup[]>> parts_;
  size_t used_ = 0;
};

struct WaitingQuad {
  const shader::PrimitiveSetup* primitive;
  uint32_t tile_pixel;
  uint16_t x_px, y_px;  // in the bin
  uint64_t raster, live;
};

/// A primitive that wrote its number into the visibility buffer.
struct VisiblePrimitive {
  const records::TriangleRecord* record;
  const records::Chunk* chunk;
  const shader::PrimitiveSetup* setup;  // made when its first quad is gathered
  uint32_t draw_slot;
};

/// The shade plan of the draw whose quads are packed now, with its code.
struct Shading : ShadePlan {
  const command::DrawState* state = nullptr;  // planned for this one at this moment; null: not in this bin yet
  ShadeMoment moment;
  const pipeline::Resolved* resolved = nullptr;
  shader::FragmentFunction fragment = nullptr, epilogue = nullptr;
  shader::FragmentFunction pixels = nullptr;  // both in one, for pixel packets; null: quads
  shader::BlocksFunction blocks = nullptr;    // both in one; null: block by block
  const shader::CodeSlot* wanted = nullptr;   // code that whole blocks could use, if it were there
  bool simple = false;                        // is_simple(): outputs go straight to the epilogue
  int32_t query = -1;                         // counted after shading
};

/// Entries of a draw that the main phase rasterizes again.
struct Replay {
  const records::BinSegment* segment;
  uint32_t first, count, draw;
  uint32_t ids;             // primitives recorded before it
  bool rasterized, opaque;  // rasterized: in the pre-pass too
};
struct PrepassStopCount {
  uint32_t draw;
  hsr::Verdict verdict;
  uint64_t tiles;
};

/// The fragment pre-pass of the bin.
struct PrePass {
  bool enabled = false;
  hsr::TileHistory history;
  hsr::Verdict verdict;  // pre: of the current draw
  bool skips = false;    // pre: nothing to find out about the current draw
  bool replays_draw = false;
  std::vector<Replay> replays;
  uint32_t replay_ids = 0, replay_next = 0;  // main
  bool opaque_replay = false;
  uint64_t recorded = 0;  // fragments
  std::vector<PrepassStopCount> stops;
  uint64_t tiles = 0;
};

/// Forward pixel kill: quads in order, waiting before the packing queue.
struct KillQuad {
  WaitingQuad quad;
  uint32_t draw, previous;  // previous: older quad at the same place, as in newest
  EarlyTests early;
  bool victim;
  uint8_t colors;
};
struct KillQueue {
  bool on = false;
  bool killer = false, victim = false, retains = false;  // of the current draw
  uint8_t colors = 0;
  uint32_t capacity = 64, first = 0, end = 0;  // numbers of quads, from 1 on; quad n is at [n % capacity]
  std::vector<KillQuad> quads;
  std::vector<uint32_t> newest;  // by place: number of the newest waiting quad; at most `first`: none
};

// -- what a worker is made of: a struct for each stage, so that a function's arguments say what it may touch

/// Sizes of the pass's bins and packets.
struct TileShape {
  uint32_t bin_px = 0, blocks_per_row = 0, row_shift = 0, samples = 1, quads_per_packet = 2;
  uint64_t all_samples = 0xf;  // coverage of a whole quad
  bool wide = false;           // AVX-512
  PassTraits traits;
  uint32_t blocks() const { return blocks_per_row * blocks_per_row; }
  uint32_t block_of(int32_t block_x, int32_t block_y) const {
    return static_cast<uint32_t>(block_y) * blocks_per_row + static_cast<uint32_t>(block_x);
  }
};

/// What tests and shaders write to.
struct TileBuffers {
  AlignedBuffer memory, ids_memory, scratch;
  uint32_t* ids = nullptr;   // the visibility buffer's plane: a number for each sample
  uint8_t* equal = nullptr;  // tile_io/equal_quads.hpp; null: every sample is always there
};

/// The bin that is drawn.
struct Bin {
  int32_t origin_x_px = 0, origin_y_px = 0;
  BinPlace place{};
  Phase phase = Phase::ordinary;
  bool last_flush = false;  // nothing is drawn in the bin any more
};

/// The draw whose primitives are tested.
struct CurrentDraw {
  uint32_t number = ~0u;
  const command::DrawState* state = nullptr;
  TilePlan plan;
  PixelRect rect;
  TestState test, late_test;
  int32_t early_query = -1;
  WideTriangles wide_triangles = nullptr;  // of `test`, for Coverage::at_once; else null
  bool takes_lists = false;                // its plan has lists, and so has the bin
  bool takes_covers = false;               // the same of covers
};

/// Quads that wait to be shaded, and the packet that is filled.
struct Packets {
  std::array<WaitingQuad, kQueueQuads> queue;
  uint32_t queue_count = 0;
  uint32_t packet_count = 0;                                // quads in the open packet
  const shader::PrimitiveSetup* block_primitive = nullptr;  // args hold a whole block of it, but for the place
  std::vector<uint8_t> waiting;                             // per block: quads in the queue
  SetupArena setups;
  Shading shading;
  uint32_t bound_draw = ~0u;  // that `shading` is of
  shader::FragmentArgs args;
};

/// The host's hidden-surface removal: primitives that have numbers, and what a flush gathers of them.
struct Visibility {
  bool enabled = false;
  std::vector<VisiblePrimitive> primitives;  // id - 1
  std::vector<uint32_t> draws;               // by slot
  std::vector<uint8_t> dirty;                // 1 for each block with a number; and eight more
  // A flush:
  Arena<uint32_t> dirty_blocks;  // that are gathered
  QuadStrata strata;
  PixelGroups groups;  // in place of quads
  Arena<VisibleQuad> gathered, sorted;
  std::vector<uint8_t> seen;  // of `primitives`: 1 where a quad or pixel was gathered
  std::vector<uint32_t> slot_first;
  std::array<const VisibleQuad*, kPassedOver> passed_over{};  // gathered quads that wait for another packet
  shader::PrimitiveSetup unused_setup;                        // where the lanes of an incomplete batch write
};

/// Hierarchical depth.
struct DepthBounds {
  bool enabled = false;
  int32_t block_limit = 0;          // extent in subpixels below which triangles of the bin go block by block
  std::vector<int32_t> far;         // per block, INT32_MAX: unknown; see hidden_blocks
  StaleBounds stale;                // of far and BlockCovers::near
  std::vector<int32_t> window_far;  // one sample, per window of 16x16 pixels: not below any of them
  bool broken = false;              // the current draw may make depth grow: the bounds end with it

  /// They begin anew: nothing is known (INT32_MAX), or all is `depth`.
  void reset(int32_t depth) {
    std::fill(far.begin(), far.end(), depth);
    std::fill(window_far.begin(), window_far.end(), depth);
    stale.clear();
  }
};

/// The adaptive depth filter.
struct BinFilter {
  hsr::TileFilter tile;
  bool broken = false;  // the current draw may make depth grow: what it knows ends with it
};

/// What is counted, and results of tests on their way.
struct Results {
  stats::FragmentCounters counters;
  stats::Ledger ledger;
  std::vector<uint64_t> query_samples;
  std::vector<uint16_t> pass_masks;  // of tests over a row of blocks
};

struct Worker {
  const PassContext* pass = nullptr;
  TileShape shape;
  TileBuffers buffers;
  Bin bin;
  CurrentDraw draw;
  Packets packets;
  PrePass prepass;
  KillQueue kill;
  Visibility visibility;
  BlockLists lists;    // several samples: what is seen of a block as a list of primitives
  BlockCovers covers;  // one sample: blocks that one primitive holds
  std::unique_ptr<CoveredBlocks> waiting_blocks = std::make_unique<CoveredBlocks>();  // of a batch
  DepthBounds bounds;
  BinFilter filter;
  LrzBin lrz;
  VertexStore vertices;  // deferred vertex shading
  Results results;
#ifdef TILEGPU_TRACED
  trace::WorkerTrace trace;
#endif
};

/// Entry of a bin's segment; the draw that it is of.
inline const records::TriangleRecord& record_of(const records::BinSegment& segment, uint32_t entry) {
  return segment.chunk->records.data()[segment.chunk->entries.data()[segment.first + entry]];
}
inline uint32_t draw_of(const records::TriangleRecord& record) { return record.draw_flags & records::kDrawMask; }
/// Of the next primitive in the visibility buffer, which is of this draw.
inline uint32_t visible_slot(Visibility& v, uint32_t draw) {
  if (v.draws.empty() || v.draws.back() != draw) v.draws.push_back(draw);
  return static_cast<uint32_t>(v.draws.size() - 1);
}

// -- tile_job.cpp
/// Where a draw with this state may write in the bin.
PixelRect draw_rect(const Worker& w, const command::DrawState& state);
/// Makes a draw the current one: its tests, where its fragments go.
void select_draw(Worker& w, uint32_t draw);
/// Up to kBatch records that have their numbers in the visibility buffer already; w.draw.test is that of any order (near_to_far.hpp).
void draw_any_order(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                    uint32_t count);
/// Draws entries [from, to) of a segment. Pre-pass: stops at the first that it cannot hold. Returns where it stopped.
uint32_t draw_entries(Worker& w, const records::BinSegment& segment, uint32_t from, uint32_t to);
/// What a primitive covers of a quad (bin coordinates), as the plain path would have recorded it.
uint64_t raster_coverage(const Worker& w, uint32_t draw, const records::TriangleRecord& record, int32_t x_px, int32_t y_px);

// -- shade.cpp
/// Points the packet and Packets::shading at a draw. `early`: tests that happened before; `from_ids`: quads come from the visibility
/// buffer.
void bind_shading(Worker& w, uint32_t draw, EarlyTests early, bool from_ids);
/// Puts a quad into the open packet; its place is not there yet. A full packet must be shaded before the next one.
inline void add_to_packet(Packets& p, const Bin& bin, const shader::PrimitiveSetup* primitive, uint32_t tile_pixel, int32_t x_px,
                          int32_t y_px, uint64_t raster, uint64_t live) {
  assert(p.packet_count < shader::kMaxQuads && (live & ~raster) == 0);
  shader::FragmentArgs& args = p.args;
  const uint32_t q = p.packet_count++;
  p.block_primitive = nullptr;
  args.primitive[q] = primitive;
  args.x_px[q] = bin.origin_x_px + x_px;
  args.y_px[q] = bin.origin_y_px + y_px;
  args.tile_pixel[q] = tile_pixel;
  args.raster_coverage[q] = raster;
  args.live_coverage[q] = live;
}
inline bool packet_holds(const Packets& p, uint32_t tile_pixel) {
  bool held = false;
  for (uint32_t q = 0; q < p.packet_count; q++) held |= p.args.tile_pixel[q] == tile_pixel;
  return held;
}
/// Shades the open packet (one quad or more) and closes it.
void shade_packet(Worker& w);
/// Quads of one packet of 16 lanes, all of the draw that is bound, at places of their own: shaded without the open packet, which is empty.
/// Their primitives are set up; raster coverage is the live one.
inline constexpr uint32_t kGatheredQuads = 4;
void shade_gathered(Worker& w, const VisibleQuad* quads);
inline bool apart(const VisibleQuad* quads) {
  const i32x4 places = {static_cast<int32_t>(quads[0].tile_pixel), static_cast<int32_t>(quads[1].tile_pixel),
                        static_cast<int32_t>(quads[2].tile_pixel), static_cast<int32_t>(quads[3].tile_pixel)};
  const i32x4 turned = (i32x4)_mm_shuffle_epi32((__m128i)places, 0x39), opposite = (i32x4)_mm_shuffle_epi32((__m128i)places, 0x4e);
  return !sign_bits((places == turned) | (places == opposite));
}
/// Shades whole blocks of one primitive, side by side, all samples of which are live; (x_px, y_px): the first one's place in the bin.
void shade_blocks(Worker& w, const shader::PrimitiveSetup* primitive, uint32_t block, uint32_t count, int32_t x_px, int32_t y_px);

// -- quad_queue.cpp
/// Shades waiting quads: all of them, or until few enough wait that a packet may not fill.
void drain_queue(Worker& w, bool all);
inline void push_quad(Worker& w, const WaitingQuad& quad) {
  assert(quad.live && (quad.live & ~quad.raster) == 0);
  if (w.packets.queue_count == kQueueQuads) drain_queue(w, false);
  w.packets.queue[w.packets.queue_count++] = quad;
  w.packets.waiting[quad.tile_pixel >> 4]++;
}

/// Everything that waits, of all draws, is shaded.
void release_queue(Worker& w);
/// Forward pixel kill: the quad waits; where its draw is a killer, what waits behind it is not shaded any more.
void push_kill_quad(Worker& w, const WaitingQuad& quad);
inline void emit_quad(Worker& w, const WaitingQuad& quad) {
  if (w.kill.on && w.bin.phase != Phase::pre)
    push_kill_quad(w, quad);
  else
    push_quad(w, quad);
}

}  // namespace tilegpu::tile

namespace tilegpu::tile {

/// Samples of a quad whose visible primitive is `id`; whose visible primitive came after the first `count`. `ids`: the plane of numbers.
uint64_t owned_samples(const uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t id);
uint64_t overdrawn_samples(const uint32_t* ids, uint32_t samples, uint32_t tile_pixel, uint64_t live, uint32_t count);

/// Pre-pass and main pass from entry `at` of segment `segment` on; both move to where ordinary drawing goes on. True: there the
/// next pre-pass may begin (this one was full), false: nothing more in this bin is compatible.
bool run_prepass(Worker& w, uint32_t& segment, uint32_t& at, uint32_t end);
/// The next draw of the pre-pass; false: it ends here.
bool enter_prepass_draw(Worker& w, uint32_t draw);

/// Shades what the visibility buffer holds and clears it. The queue is empty; afterwards Packets::shading is another draw's.
void flush_visibility(Worker& w);

}  // namespace tilegpu::tile
