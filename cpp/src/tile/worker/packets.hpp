// tile/worker/packets.hpp -- quads on their way to the shader: those that wait, the packet that is filled, the plan and code of the draw
// that they are of; and, with forward pixel kill, those that wait before them. In: quads that passed. Out: for room tile/shading.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "pipeline/resolved.hpp"
#include "records/line_segment.hpp"
#include "shader_abi/abi.hpp"
#include "tile/depth_stencil/depth_stencil.hpp"
#include "tile/plan/kept_plans.hpp"
#include "tile/plan/pass_context.hpp"
#include "tile/worker/vertex_store.hpp"
#include "vk/shading_rates.hpp"

namespace tilegpu::tile {

inline constexpr uint32_t kQueueQuads = 64;  // waiting at most; one bit each in a word

/// Of smooth lines, whose fragments ask how much of a pixel is covered.
struct LineSetup : shader::PrimitiveSetup {
  records::LineRectangle rectangle;
};

/// Setups with stable addresses until reset.
class SetupArena {
 public:
  LineSetup* allocate_line() {
    const size_t part = lines_used_ / kPart;
    if (part == line_parts_.size()) line_parts_.push_back(std::make_unique<LineSetup[]>(kPart));
    return &line_parts_[part][lines_used_++ % kPart];
  }
  shader::PrimitiveSetup* allocate() {
    const size_t part = used_ / kPart;
    if (part == parts_.size()) parts_.push_back(std::make_unique<shader::PrimitiveSetup[]>(kPart));
    return &parts_[part][used_++ % kPart];
  }
  uint32_t number() const { return static_cast<uint32_t>(used()); }
  void reset() { used_ = lines_used_ = 0; }
  size_t used() const { return used_ + lines_used_; }

 private:
  static constexpr size_t kPart = 256;
  std::vector<std::unique_ptr<shader::PrimitiveSetup[]>> parts_;
  std::vector<std::unique_ptr<LineSetup[]>> line_parts_;
  size_t used_ = 0, lines_used_ = 0;
};

struct WaitingQuad {
  const shader::PrimitiveSetup* primitive;
  uint32_t tile_pixel;
  uint16_t x_px, y_px;  // in the bin
  uint64_t raster, live;
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
  bool late_depth = false;                    // with `late`: nothing but masks and a plain depth test decides
  bool late_block = false;                    // with `late`: a block of one primitive is tested at once
  const TestState* late_test = nullptr;       // with `late`
  uint32_t replay_ids = 0;                    // with Keeps::not_overdrawn: numbers above are of later primitives
};

/// Four coarse fragments of one primitive: what it covers and what passed of the quads of pixels that they are, row by row, bit 4*s + p
/// being pixel p, sample s.
struct CoarseQuad {
  static constexpr uint32_t kMostQuads = vk::kMaxFragmentSize_px * vk::kMaxFragmentSize_px;
  const shader::PrimitiveSetup* primitive;
  uint16_t x_px, y_px;  // in the bin, of the first pixel
  vk::FragmentSize size;
  // Of which quads of pixels there are such samples (a bit for each), and which; of the others nothing is filled in.
  uint16_t covered_quads, live_quads;
  uint16_t raster[kMostQuads], live[kMostQuads];
};
static_assert(4 * vk::kMaxShadingRateSamples <= 16);

/// Fragments of several pixels on their way to the shader.
struct CoarsePackets {
  static constexpr uint32_t kMostWaiting = 32;
  // Of the record that is covered now: a mask for each sample of each block, all zero between two records.
  std::vector<uint16_t> covered, live;
  std::vector<uint32_t> touched;  // blocks with some
  std::vector<CoarseQuad> queue;
  uint32_t count = 0;  // that wait, in order
  std::unique_ptr<shader::FragmentArgs> args;
  // Of the packet of pixels that takes the results: the lane that a pixel's fragment has among the coarse ones; with traces, which pixels
  // stand for their fragment (a bit for each lane).
  uint32_t lane_of[shader::kMaxLanes] = {};
  uint32_t leaders = 0;
  bool spreads = false;  // such a packet is finished now

  void begin_draw(size_t words) {
    if (covered.size() >= words && args) return;
    covered.resize(words), live.resize(words);
    queue.resize(kMostWaiting);
    if (args) return;
    args = std::make_unique<shader::FragmentArgs>();
  }
};

/// Quads that wait to be shaded, and the packet that is filled.
struct Packets {
  std::array<WaitingQuad, kQueueQuads> queue;
  uint32_t queue_count = 0;
  uint32_t packet_count = 0;                                // quads in the open packet
  const shader::PrimitiveSetup* block_primitive = nullptr;  // args hold a whole block of it, but for the place
  std::vector<uint8_t> waiting;                             // per block: quads in the queue
  SetupArena setups;
  VertexStore vertices;  // of those of `setups` that come without: deferred vertex shading, corners
  Shading shading;
  KeptPlans<ShadePlan, ShadeMoment> plans;  // of this part of the pass
  uint32_t bound_draw = ~0u;                // that `shading` is of
  shader::FragmentArgs args;
  CoarsePackets coarse;
  AlignedBuffer scratch;  // the shader's private memory
  shader::LoopBudget loops;

  /// `memory`: of the tile.
  void begin_pass(const PassContext& pass, uint32_t blocks, uint8_t* memory) {
    waiting.assign(blocks, 0);
    queue_count = 0;
    bound_draw = ~0u;
    const auto plane = [&](const auto& p) { return p.words ? memory + p.offset_B : nullptr; };
    for (uint32_t t = 0; t < shader::kMaxTargets; t++) args.target[t] = plane(pass.tile.color[t]);
    args.tile_depth = plane(pass.tile.depth);
    args.tile_stencil = plane(pass.tile.stencil);
    args.sample_positions = sample_positions(pass.samples);
    loops = {pass.loop_iterations};
    args.loops = &loops;
    const VkRect2D& area = pass.render_area;
    args.area_x0_px = area.offset.x;
    args.area_y0_px = area.offset.y;
    args.area_x1_px = area.offset.x + static_cast<int32_t>(area.extent.width);
    args.area_y1_px = area.offset.y + static_cast<int32_t>(area.extent.height);
  }
  void begin_bin() {
    bound_draw = ~0u;         // how quads are shaded depends on what the bin's visibility buffer holds
    shading.state = nullptr;  // code that was compiled since is taken from here on
    vertices.reset();
  }
};

/// The tests after shading that a draw's quads are shaded with, if they have any.
struct LateTests {
  const command::DrawState* state = nullptr;
  const TestState* test = nullptr;
  uint32_t replay_ids = 0;  // main phase: primitives that the pre-pass recorded before it
};
/// A draw whose quads wait for tests, or for a moment, of their own: they are shaded when another one is the current draw.
struct KeptDraw {
  const command::DrawState* state = nullptr;
  TestState test;
  ShadeMoment moment;
  uint32_t replay_ids = 0;
};

/// Forward pixel kill: quads in order, waiting before the packing queue.
struct KillQuad {
  WaitingQuad quad;
  uint32_t draw, previous;  // previous: older quad at the same place, as in newest
  EarlyTests early;
  bool victim, seen;  // seen: at the end of the bin's pre-pass, by which the current draw is not bound
  bool reads;         // the tile's colours: what lies behind is seen through it
  bool pinned;        // it writes, or looks at, depth or stencil when it is shaded
  uint8_t colors;
  const KeptDraw* own;  // what it is shaded with; null: with what the current draw has
};
struct KillQueue {
  bool on = false, single_samples = false;
  // Of the current draw. retains: what waits may stay when the next one comes. pins: its quads write, or look at, depth or stencil when
  // they are shaded. keeps: they are shaded as draws of the ordinary phase are not, or with tests. settles: its tests before shading must
  // not go past a pinned quad (settle_block).
  bool killer = false, victim = false, retains = false, reads = false, pins = false, keeps = false, settles = false;
  uint8_t colors = 0;
  uint32_t capacity = 64, first = 0, end = 0;  // numbers of quads, from 1 on; quad n is at [n % capacity]
  std::vector<KillQuad> quads;
  std::vector<uint32_t> newest;            // by place: number of the newest waiting quad; at most `first`: none
  std::vector<uint32_t> pinned;            // by block: the same of pinned quads
  uint32_t newest_pinned = 0, shaded = 0;  // of all blocks; all quads up to this number are shaded, those behind may be packed
  bool shrink = false, grow = false;       // depth may, by pinned quads
  std::vector<KeptDraw> draws;             // a ring: those with waiting quads that have one
  uint32_t draw_count = 0;
  const KeptDraw* draw = nullptr;  // the current one, if it is one of them

  void begin_pass(const PassContext& pass, uint32_t blocks) {
    on = pass.hsr.forward_pixel_kill;
    single_samples = pass.hsr.kill_single_samples;
    retains = pins = keeps = settles = false;
    newest_pinned = shaded = 0;
    if (!on) return;
    capacity = std::max(1u, pass.fpk_quads);
    quads.resize(capacity);
    // Each of them has one waiting or packed quad at least, but for the one that comes.
    draws.resize(size_t{capacity} + kQueueQuads + 2);
    newest.resize(size_t{blocks} * 4);
    pinned.resize(blocks);
    begin_numbers();
  }
  void begin_numbers() {
    first = end = newest_pinned = shaded = 0;
    std::fill(newest.begin(), newest.end(), 0);
    std::fill(pinned.begin(), pinned.end(), 0);
  }
  bool any_pinned() const { return newest_pinned > shaded; }
};

}  // namespace tilegpu::tile
