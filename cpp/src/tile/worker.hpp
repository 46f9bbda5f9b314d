// tile/worker.hpp -- the state of one thread in the tile phase: tile buffer, the current draw, waiting quads, the visibility
// buffer, arenas. A plain struct; the stages are free functions on it. Everything allocated is kept from bin to bin.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "tile/variant.hpp"

#include "base/aligned_buffer.hpp"
#include "base/simd.hpp"
#include "hsr/prepass_rules.hpp"
#include "records/primitive_setup.hpp"
#include "tile/block_cover.hpp"
#include "tile/block_list.hpp"
#include "tile/coverage.hpp"
#include "tile/depth_stencil.hpp"
#include "tile/fragment_trace.hpp"
#include "tile/lrz_test.hpp"
#include "tile/pixel_groups.hpp"
#include "tile/quad_strata.hpp"
#include "tile/setup_batch.hpp"
#include "tile/tile_job.hpp"
#include "tile/vertex_store.hpp"
#include "tile/wide_tests.hpp"

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

enum class EarlyTests : uint8_t { none, kill, full };  // kill: no write; the test is repeated, with writes, after shading
enum class Route : uint8_t { nothing, visibility, shade };
/// pre: tests, ids, no colours; main: what the pre-pass could not shade from the ids, in order. See tile/prepass.cpp.
enum class Phase : uint8_t { ordinary, pre, main };
/// main phase, what is left of a quad once the shader ran: nothing more to find out; samples that its primitive owns; samples
/// that no later primitive owns; nothing (only side effects).
enum class Keeps : uint8_t { all, owned, not_overdrawn, none };

/// How quads are shaded: everything that is constant for a draw.
struct Shading {
  const pipeline::Resolved* resolved = nullptr;
  shader::FragmentFunction fragment = nullptr, epilogue = nullptr;
  shader::FragmentFunction pixels = nullptr;  // both in one, for pixel packets; null: quads
  shader::BlocksFunction blocks = nullptr;    // both in one; null: block by block
  const shader::CodeSlot* wanted = nullptr;   // code that whole blocks could use, if it were there
  bool simple = false;                        // the body's outputs go straight to the epilogue
  bool discards = false, late = false, sample_mask_out = false, alpha_to_coverage = false, per_sample = false;
  bool shader_depth = false, shader_stencil = false;
  bool clears_ids = false;   // what is written hides older primitives of the visibility buffer
  bool checks_once = false;  // quads of the packet may be kept once
  bool keeps_once = false;   // quads all of whose samples are written alike keep one (equal_quads.hpp) ...
  bool replaces = false;     // ... even where they were different before: nothing of the old colours stays
  bool full_raster = false;  // the shader asks for the primitive's true coverage
  bool slice = false;        // pre-pass: only coverage is wanted
  bool writes_ids = false;   // pre-pass: what passes is recorded
  bool deferred = false;     // vertices of its primitives may not be shaded yet
  Keeps keeps = Keeps::all;
  int32_t query = -1;  // counted after shading
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

struct Worker {
  // -- the pass
  const PassContext* pass = nullptr;
  AlignedBuffer memory, ids_memory, scratch;
  stats::FragmentCounters counters;
  stats::Ledger ledger;
  std::vector<uint64_t> query_samples;
  uint32_t bin_px = 0, blocks_per_row = 0, row_shift = 0, samples = 1, quads_per_packet = 2;
  uint64_t all_samples = 0xf;  // coverage of a whole quad
  bool wide = false;           // AVX-512
  uint8_t* equal = nullptr;    // tile_io/equal_quads.hpp; null: every sample is always there

  // -- the bin
  int32_t origin_x_px = 0, origin_y_px = 0;

  // -- the current draw
  uint32_t draw = ~0u;
  const command::DrawState* state = nullptr;
  EarlyTests early = EarlyTests::none;
  Route route = Route::nothing;
  int32_t early_query = -1;
  PixelRect rect;
  uint64_t sample_mask = 0;  // static sample mask, for every pixel of a quad
  bool masks_samples = false;
  bool one_by_one = false;   // each primitive is shaded before the next is tested (Classification::pins_order)
  bool late_needed = false;  // there is something to test after shading
  TestState test, late_test;
  WideTriangles wide_triangles = nullptr;  // of `test`, where the draw goes to the visibility buffer; else null
  BinPlace place{};
  std::unique_ptr<CoveredBlocks> waiting_blocks = std::make_unique<CoveredBlocks>();  // of a batch
  Shading shading;                                                                    // of the draw whose quads are packed now

  // -- waiting quads
  std::array<WaitingQuad, kQueueQuads> queue;
  uint32_t queue_count = 0;
  uint32_t packet_count = 0;                                // quads in the open packet
  const shader::PrimitiveSetup* block_primitive = nullptr;  // args hold a whole block of it, but for the place
  std::vector<uint8_t> waiting;                             // per block: quads in the queue
  SetupArena setups;

  Phase phase = Phase::ordinary;
  PrePass prepass;
  KillQueue kill;
  uint32_t bound_draw = ~0u;  // that Worker::shading is of

  // -- hidden-surface removal
  bool hidden_surface_removal = false;
  uint32_t* ids = nullptr;
  std::vector<VisiblePrimitive> visible;  // id - 1
  std::vector<uint32_t> visible_draws;    // by slot
  std::vector<uint8_t> dirty;             // 1 for each block with a number; and eight more
  Arena<uint32_t> dirty_blocks;           // that are gathered
  QuadStrata strata;
  PixelGroups groups;  // in place of quads
  Arena<VisibleQuad> gathered, sorted;
  std::vector<uint8_t> seen;  // of `visible`, at a flush: 1 where a quad or pixel was gathered
  std::vector<uint32_t> slot_first;
  std::array<const VisibleQuad*, kPassedOver> passed_over{};  // gathered quads that wait for another packet
  shader::PrimitiveSetup unused_setup;                        // where the lanes of an incomplete batch write

  // -- several samples: what is seen of a block as a list of primitives
  BlockLists lists;
  ListTest list_test;       // of the current draw ...
  bool list_draw = false;   // ... if lists serve it
  bool last_flush = false;  // nothing is drawn in the bin any more

  // -- one sample: blocks that one primitive holds
  BlockCovers covers;
  bool cover_draw = false;  // the current draw may take blocks

  // -- hierarchical depth
  bool hierarchical_z = false;
  int32_t block_limit = 0;          // extent in subpixels below which triangles of the bin go block by block
  std::vector<int32_t> far;         // per block, INT32_MAX: unknown; see hidden_blocks
  StaleBounds stale;                // of far and covers.near
  std::vector<int32_t> window_far;  // one sample, per window of 16x16 pixels: not below any of them
  bool far_broken = false;          // the current draw may make depth grow: the bounds end with it

  // -- the adaptive depth filter
  hsr::TileFilter filter;
  bool filter_broken = false;  // the same for what it knows

  LrzBin lrz;
  VertexStore vertices;  // deferred vertex shading

  // -- results of tests over a row of blocks
  std::vector<uint16_t> pass_masks;
  shader::FragmentArgs args;
#ifdef TILEGPU_TRACED
  trace::WorkerTrace trace;
#endif

  uint32_t block_of(int32_t block_x, int32_t block_y) const {
    return static_cast<uint32_t>(block_y) * blocks_per_row + static_cast<uint32_t>(block_x);
  }
};

/// Entry of a bin's segment; the draw that it is of.
inline const records::TriangleRecord& record_of(const records::BinSegment& segment, uint32_t entry) {
  return segment.chunk->records.data()[segment.chunk->entries.data()[segment.first + entry]];
}
inline uint32_t draw_of(const records::TriangleRecord& record) { return record.draw_flags & records::kDrawMask; }
/// Of the next primitive in the visibility buffer, which is of this draw.
inline uint32_t visible_slot(Worker& w, uint32_t draw) {
  if (w.visible_draws.empty() || w.visible_draws.back() != draw) w.visible_draws.push_back(draw);
  return static_cast<uint32_t>(w.visible_draws.size() - 1);
}

// -- tile_job.cpp
/// Where a draw with this state may write in the bin.
PixelRect draw_rect(const Worker& w, const command::DrawState& state);
/// Makes a draw the current one: its tests, where its fragments go.
void select_draw(Worker& w, uint32_t draw);
/// Up to kBatch records that have their numbers in the visibility buffer already; w.test is that of any order (near_to_far.hpp).
void draw_any_order(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                    uint32_t count);
/// Draws entries [from, to) of a segment. Pre-pass: stops at the first that it cannot hold. Returns where it stopped.
uint32_t draw_entries(Worker& w, const records::BinSegment& segment, uint32_t from, uint32_t to);
/// What a primitive covers of a quad (bin coordinates), as the plain path would have recorded it.
uint64_t raster_coverage(const Worker& w, uint32_t draw, const records::TriangleRecord& record, int32_t x_px, int32_t y_px);

// -- shade.cpp
/// Points the packet and Worker::shading at a draw. `early`: tests that happened before; `from_ids`: quads come from the visibility buffer.
void bind_shading(Worker& w, uint32_t draw, EarlyTests early, bool from_ids);
/// Puts a quad into the open packet; its place is not there yet. A full packet must be shaded before the next one.
inline void add_to_packet(Worker& w, const shader::PrimitiveSetup* primitive, uint32_t tile_pixel, int32_t x_px, int32_t y_px,
                          uint64_t raster, uint64_t live) {
  shader::FragmentArgs& args = w.args;
  const uint32_t q = w.packet_count++;
  w.block_primitive = nullptr;
  args.primitive[q] = primitive;
  args.x_px[q] = w.origin_x_px + x_px;
  args.y_px[q] = w.origin_y_px + y_px;
  args.tile_pixel[q] = tile_pixel;
  args.raster_coverage[q] = raster;
  args.live_coverage[q] = live;
}
inline bool packet_holds(const Worker& w, uint32_t tile_pixel) {
  bool held = false;
  for (uint32_t q = 0; q < w.packet_count; q++) held |= w.args.tile_pixel[q] == tile_pixel;
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
  if (w.queue_count == kQueueQuads) drain_queue(w, false);
  w.queue[w.queue_count++] = quad;
  w.waiting[quad.tile_pixel >> 4]++;
}

/// Everything that waits, of all draws, is shaded.
void release_queue(Worker& w);
/// Forward pixel kill: the quad waits; where its draw is a killer, what waits behind it is not shaded any more.
void push_kill_quad(Worker& w, const WaitingQuad& quad);
inline void emit_quad(Worker& w, const WaitingQuad& quad) {
  if (w.kill.on && w.phase != Phase::pre)
    push_kill_quad(w, quad);
  else
    push_quad(w, quad);
}

}  // namespace tilegpu::tile

namespace tilegpu::tile {

/// Samples of a quad whose visible primitive is `id`; whose visible primitive came after the first `ids`.
uint64_t owned_samples(const Worker& w, uint32_t tile_pixel, uint64_t live, uint32_t id);
uint64_t overdrawn_samples(const Worker& w, uint32_t tile_pixel, uint64_t live, uint32_t ids);

/// Pre-pass and main pass from entry `at` of segment `segment` on; both move to where ordinary drawing goes on. True: there the
/// next pre-pass may begin (this one was full), false: nothing more in this bin is compatible.
bool run_prepass(Worker& w, uint32_t& segment, uint32_t& at, uint32_t end);
/// The next draw of the pre-pass; false: it ends here.
bool enter_prepass_draw(Worker& w, uint32_t draw);

/// Shades what the visibility buffer holds and clears it. The queue is empty; afterwards Worker::shading is another draw's.
void flush_visibility(Worker& w);

}  // namespace tilegpu::tile
