// tile/record_route.hpp -- stage: tile phase, where a record's samples go once their early tests are done. In: samples that passed, by
// quad, block or row of whole blocks. Out: quads in the queue or whole blocks shaded, or its number in the visibility buffer; the record's
// place among the visible primitives.
//
// First part of the CoverageSink (coverage_sink.hpp). kCoarse: of draws whose fragments may have several pixels; their samples are gathered
// until all of the record's are there (shading/coarse.hpp). kFaint: of
// draws of which a texture may have nothing in a block (plan/clear_texels.hpp). Source: docs/decisions.md, 8; Vulkan specification,
// "Rasterization Order".
#pragma once

#include <bit>
#include <cassert>
#include <optional>
#include <type_traits>

#include "tile/shading/coarse.hpp"
#include "tile/shading/numbers.hpp"
#include "tile/shading/quad_queue.hpp"
#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Setups of quads that no longer wait are given back now and then: where no quads wait but those of the packing queue, so often that all
/// of them stay in the first cache; else so that a bin with a million primitives needs no more.
inline void make_room_for_setups(Worker& w) {
  constexpr uint32_t kMostInOrder = 192;  // of 128 bytes
  const uint32_t most = !kTraced && w.bin.phase == Phase::ordinary && !w.kill.on ? kMostInOrder : kMaxVisible;
  if (w.packets.setups.used() < most) return;
  release_queue(w, w.draw, w.kill, w.packets, w.results);
  w.packets.setups.reset();
  w.packets.vertices.reset_if_large();
}

template <bool kCoarse, bool kFaint>
class RecordRoute {
 public:
  bool seen() const { return seen_; }
  /// Its setup was made with others; or null.
  void take_setup(const shader::PrimitiveSetup* setup) { setup_ = setup; }

 protected:
  static constexpr uint16_t kAll[kMaxSamples] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                                 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff};

  /// `number`: in the visibility buffer; 0: the next, given once something of it is seen.
  RecordRoute(Worker& w, const records::TriangleRecord& record, const records::Chunk& chunk, uint32_t number)
      : w_(w),
        record_(record),
        chunk_(chunk),
        number_(number ? number : static_cast<uint32_t>(w.visibility.primitives.size()) + 1),
        numbered_(number),
        settles_(w.kill.settles && w.kill.any_pinned()) {
    if (w.bin.phase != Phase::main || !w.prepass.opaque_replay) return;
    uint32_t& next = w.prepass.replay_next;
    if (next < w.visibility.primitives.size() && w.visibility.primitives[next].record == &record) id_ = ++next;
  }

  // After the last of its samples: it has its number.
  void take_number() {
    if (!seen_ || numbered_) return;
    assert(w_.visibility.primitives.size() + 1 == number_);
    w_.visibility.primitives.push_back({&record_, &chunk_, nullptr, visible_slot(w_.visibility, draw_of(record_))});
  }

  const shader::PrimitiveSetup* setup() {
    if (!setup_) {
      make_room_for_setups(w_);
      shader::PrimitiveSetup* setup = w_.draw.plan.smooth_lines ? line_setup() : w_.packets.setups.allocate();
      const bool corners = records::takes_corners(w_.draw.state->resolved->classification);
      set_up_primitive(record_, chunk_, w_.draw.test, static_cast<uint32_t>(w_.packets.setups.used()), corners, *setup);
      if (w_.bin.phase == Phase::pre) setup->order = static_cast<uint32_t>(w_.visibility.primitives.size()) + 1;
      if (w_.bin.phase == Phase::main) setup->order = id_;
      w_.packets.vertices.complete(*w_.pass, *setup);
      setup_ = setup;
      if constexpr (kTraced) trace::set_up(w_, setup, source());
    }
    return setup_;
  }

  // With the segment that it is of.
  shader::PrimitiveSetup* line_setup() {
    LineSetup* const setup = w_.packets.setups.allocate_line();
    setup->rectangle = records::LineRectangle(records::line_of(record_, chunk_, w_.draw.plan.rule.line));
    return setup;
  }

  void push_block(uint32_t block, int32_t x, int32_t y, const uint16_t* covered, const uint16_t* live, uint32_t samples) {
    assert(samples == w_.shape.samples);
    assert(w_.draw.plan.route == Route::shade);
    if constexpr (kCoarse) return gather_block(w_.packets.coarse, block, samples, covered, live);
    if constexpr (kFaint)
      if (passes_by(x, y)) return;
    if (samples == 1 && w_.bin.phase == Phase::ordinary && !w_.kill.on) return queue_block(block, x, y, covered[0], live[0]);
    for (uint32_t q = 0; q < 4; q++) {
      const uint64_t bits = gather_quad(live, samples, q);
      if (!bits) continue;
      const uint64_t raster = covered == live ? bits : gather_quad(covered, samples, q);
      push({setup(), block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
            static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), raster, bits});
    }
  }

  // The same as push for each quad, where each goes to the packing queue.
  void queue_block(uint32_t block, int32_t x, int32_t y, uint32_t covered, uint32_t live) {
    const shader::PrimitiveSetup* const primitive = setup();
    Packets& p = w_.packets;
    assert((live & ~covered) == 0 && goes_straight(w_.shape.traits, w_.bin.phase));
    // Of nearly a whole block the queue would make packets of the same quads.
    const uint32_t quads = (live | live >> 1 | live >> 2 | live >> 3) & 0x1111;
    if (!kTraced && std::popcount(quads) >= 3 && quads & 1 && !p.waiting[block] && w_.shape.quads_per_packet == shader::kMaxQuads) {
      shade_part(w_, p, w_.results, primitive, block, covered, live);
      return;
    }
    for (uint32_t q = 0; q < 4; q++) {
      const uint32_t bits = live >> 4 * q & 0xf;
      if (!bits) continue;
      push_quad(w_, p, w_.results,
                {primitive, block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
                 static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), covered >> 4 * q & 0xf, bits});
    }
  }

  void push_full_blocks(uint32_t block, uint32_t count) {
    assert(w_.draw.plan.route == Route::shade && count > 0);
    if constexpr (kCoarse) {
      for (uint32_t i = 0; i < count; i++) gather_block(w_.packets.coarse, block + i, w_.shape.samples, kAll, kAll);
      return;
    }
    if constexpr (kFaint) return push_seen_blocks(block, count);
    push_whole_blocks(block, count);
  }

  // Those that show something, run by run.
  void push_seen_blocks(uint32_t block, uint32_t count) {
    for (const uint32_t end = block + count; block < end; block++) {
      uint32_t run = 0;
      while (block + run < end && !passes_by(w_.shape.x_px(block + run), w_.shape.y_px(block + run))) run++;
      if (run) push_whole_blocks(block, run);
      block += run;
    }
  }

  // Whether nothing is seen of the primitive in the block with this pixel of the bin as its first.
  bool passes_by(int32_t x_px, int32_t y_px) {
    if (!faint_) [[unlikely]]
      faint_.emplace(w_.faint, record_, *setup());
    return !faint_->shows(w_.bin.origin_x_px + x_px, w_.bin.origin_y_px + y_px);
  }

  void push_whole_blocks(uint32_t block, uint32_t count) {
    const shader::PrimitiveSetup* primitive = setup();
    if (w_.bin.phase == Phase::pre) seen_ = w_.prepass.verdict.opaque;
    const bool direct = goes_straight(w_.shape.traits, w_.bin.phase);
    for (const uint32_t end = block + count; block < end;) {
      uint32_t run = 0;
      while (direct && block + run < end && !w_.packets.waiting[block + run]) run++;
      if (run) {
        shade_blocks(w_, w_.packets, w_.results, primitive, block, run);
      } else {
        const int32_t x = w_.shape.x_px(block), y = w_.shape.y_px(block);
        for (uint32_t q = 0; q < 4; q++)  // behind the quads that wait there
          push({primitive, block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
                static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), w_.shape.all_samples, w_.shape.all_samples});
        run = 1;
      }
      block += run;
    }
  }

  // Before a test in the block. Quads that the record itself pins are of other blocks.
  void settle(uint32_t block) {
    if (settles_) settle_block(w_, w_.draw, w_.kill, w_.packets, w_.results, block);
  }

  // Its number is in the ids now, at so many pixels.
  void see(uint32_t pixels) {
    assert(w_.draw.plan.route == Route::visibility);
    seen_ = true;
    w_.results.recorded += pixels;
  }

  void push(WaitingQuad quad) {
    if (w_.bin.phase == Phase::pre) {
      seen_ = w_.prepass.verdict.opaque;
    } else if (w_.bin.phase == Phase::main && !w_.draw.state->resolved->classification.side_effects) {
      const uint64_t hidden = overdrawn_samples(w_.buffers.ids, w_.shape.samples, quad.tile_pixel, quad.live, w_.prepass.replay_ids);
      w_.results.counters.fragments_killed_by_prepass +=
          static_cast<uint32_t>(std::popcount(covered_pixels(quad.live) & ~covered_pixels(quad.live & ~hidden)));
      if constexpr (kTraced) trace::killed_main_pass(w_, source(), quad.tile_pixel, quad.live, hidden);
      quad.live &= ~hidden;
      if (!quad.live) return;
    }
    emit_quad(w_, w_.draw, w_.kill, w_.packets, w_.results, quad);
  }

  trace::Source source() const { return {&record_, &chunk_}; }

  Worker& w_;
  const records::TriangleRecord& record_;
  const records::Chunk& chunk_;
  const shader::PrimitiveSetup* setup_ = nullptr;
  bool seen_ = false;
  const uint32_t number_;
  const bool numbered_;
  const bool settles_;  // its tests wait for pinned quads
  uint32_t id_ = 0;     // main phase: in the ids; 0: nothing of it is seen
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<kFaint, std::optional<FaintBlocks>, Nothing> faint_;
};

}  // namespace tilegpu::TILEGPU_TILE
