// tile/coverage_sink.hpp -- stage: tile phase, what becomes of a record's coverage. In: covered samples by window, quad, block or row
// of blocks (coverage.hpp). Out: early tests done (record_tests.hpp); quads in the queue, numbers in the visibility buffer, or nothing more
// (record_route.hpp).
//
// One sink for each record; included by draw_entries.cpp alone, so that the compiler sees coverage, tests and sink at once.
// Source: docs/decisions.md, 8; Vulkan specification, "Fragment Operations" (early tests).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstring>

#include "tile/record_tests.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Where the coverage of one record goes. kCoarse: fragments of several pixels; kFaint: blocks may be passed by for what a texture has.
template <bool kCoarse, bool kFaint>
class BasicCoverageSink : public RecordTests<kCoarse, kFaint> {
  using Tests = RecordTests<kCoarse, kFaint>;
  using Tests::after_tests, Tests::count_hidden, Tests::count_query, Tests::depth_, Tests::expand_cover, Tests::kAll, Tests::list_block;
  using Tests::list_waiting, Tests::lrz_hidden, Tests::number_, Tests::prepare, Tests::push, Tests::push_block, Tests::ready_;
  using Tests::record_, Tests::see, Tests::seen_span, Tests::settle, Tests::settles_, Tests::setup, Tests::single_block, Tests::source;
  using Tests::take, Tests::take_number, Tests::test_span, Tests::together_, Tests::trace_sides, Tests::w_, Tests::wait;

 public:
  /// `number`: in the visibility buffer; 0: the next, given once something of it is seen.
  BasicCoverageSink(Worker& w, const records::TriangleRecord& record, const records::Chunk& chunk, uint32_t number = 0)
      : Tests(w, record, chunk, number) {}

  using Tests::set_depth;
  /// From the record, where there is no batch.
  void set_depth() { prepare(); }

  /// A small triangle, one sample.
  void window(const TriangleBatch& batch, uint32_t lane) {
    uint32_t covered = BatchEdges(batch, lane).covered(0, 0);
    if (batch.cut >> lane & 1) covered &= detail::rect_bits(w_.draw.rect, batch.window_x[lane], batch.window_y[lane]);
    window(batch, lane, covered);
  }
  /// A small square of a batch of squares.
  void square(const TriangleBatch& batch, uint32_t lane) {
    const PixelRect box{batch.from_x[lane], batch.from_y[lane], batch.end_x[lane], batch.end_y[lane]};
    window(batch, lane, detail::rect_bits(box, batch.window_x[lane], batch.window_y[lane]));
  }
  /// What is covered of a window.
  void window(const TriangleBatch& batch, uint32_t lane, uint32_t covered) {
    assert(w_.shape.samples == 1 && (batch.small >> lane & 1));
    const int32_t x = batch.window_x[lane], y = batch.window_y[lane];
    if (!covered || w_.draw.plan.masks_samples) return;
    w_.results.counters.fragments_rasterized += static_cast<uint32_t>(std::popcount(covered));
    const uint32_t column0 = static_cast<uint32_t>((x >> 2) * 16 + (x & 2) * 2),
                   column1 = static_cast<uint32_t>(((x + 2) >> 2) * 16 + ((x + 2) & 2) * 2);
    const uint32_t pitch = w_.shape.blocks_per_row * 16;
    const uint32_t row0 = static_cast<uint32_t>(y >> 2) * pitch + static_cast<uint32_t>(y & 2) * 4;
    const uint32_t row1 = static_cast<uint32_t>((y + 2) >> 2) * pitch + static_cast<uint32_t>((y + 2) & 2) * 4;
    const uint32_t tile_pixels[4] = {row0 + column0, row0 + column1, row1 + column0, row1 + column1};
    if constexpr (kTraced)
      for (uint32_t q = 0; q < 4; q++) trace::rasterized(w_, source(), tile_pixels[q], covered >> 4 * q & 0xf);
    uint32_t live = covered;
    if (w_.covers.any)
      for (uint32_t q = 0; q < 4; q++)
        if (covered >> 4 * q & 0xf) expand_cover(tile_pixels[q] >> 4);
    if (settles_)
      for (uint32_t q = 0; q < 4; q++)
        if (covered >> 4 * q & 0xf) settle(tile_pixels[q] >> 4);
    if (w_.draw.plan.early != EarlyTests::none) {
      live = w_.draw.test.functions.window(w_.draw.test, batch, lane, number_, record_.draw_flags & records::kFrontFacing ? 0 : 1,
                                           tile_pixels, w_.bin.origin_x_px + x, w_.bin.origin_y_px + y, covered);
      if constexpr (kTraced)
        for (uint32_t q = 0; q < 4; q++) trace::tested(w_, source(), tile_pixels[q], covered >> 4 * q & 0xf, live >> 4 * q & 0xf);
      w_.results.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(covered & ~live));
      count_query(static_cast<uint32_t>(std::popcount(live)));
      if (!live) return;
    }
    if (w_.draw.plan.route == Route::visibility) {
      see(static_cast<uint32_t>(std::popcount(live)));
    } else if (kCoarse) {
      assert(w_.draw.plan.route == Route::shade);
      for (uint32_t q = 0; q < 4; q++) {
        const uint32_t place = tile_pixels[q] & 12;
        const auto all = static_cast<uint16_t>((covered >> 4 * q & 0xf) << place),
                   passed = static_cast<uint16_t>((live >> 4 * q & 0xf) << place);
        if (all) gather_block(w_.packets.coarse, tile_pixels[q] >> 4, 1, &all, &passed);
      }
    } else if (w_.draw.plan.route == Route::shade) {
      for (uint32_t q = 0; q < 4; q++)
        if (const uint32_t bits = live >> 4 * q & 0xf)
          push({setup(), tile_pixels[q], static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
                static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), covered >> 4 * q & 0xf, bits});
    }
  }

  /// A triangle of some blocks, not small, one sample; the depth plane is set.
  __attribute__((noinline)) void blocks(const TriangleBatch& batch, uint32_t lane) {
    assert(w_.shape.samples == 1 && ready_ && (batch.medium >> lane & 1));
    if (w_.shape.wide) {
      CoveredOfOne covered;
      cover_one_wide(batch, lane, w_.bin.place, covered);
      for (uint32_t i = 0; i < covered.count; i++) single_block(covered.x[i], covered.y[i], covered.masks[i]);
      return;
    }
    const BatchEdges edges(batch, lane);
    const bool cut = batch.cut >> lane & 1;
    const int32_t x0 = batch.window_x[lane], y0 = batch.window_y[lane], x1 = batch.end_x[lane], y1 = batch.end_y[lane];
    for (int32_t y = y0; y < y1; y += 4)
      for (int32_t x = x0; x < x1; x += 4) {
        uint32_t covered = edges.covered((x - x0) * 256, (y - y0) * 256);
        if (cut) covered &= detail::rect_bits(w_.draw.rect, x, y);
        if (covered) single_block(x >> 2, y >> 2, covered);
      }
  }

  /// The same with more samples.
  __attribute__((noinline)) void blocks_of_samples(const TriangleBatch& batch, uint32_t lane) {
    assert(w_.shape.samples > 1 && ready_ && (batch.medium >> lane & 1));
    CoveredBlocks blocks;
    (w_.shape.wide ? cover_blocks_wide : cover_blocks)(batch, 1u << lane, w_.shape.samples, w_.bin.place, blocks);
    for (uint32_t i = 0; i < blocks.count; i++) block(blocks.x[i], blocks.y[i], blocks.masks_of(i));
  }

  /// A large triangle, several samples, where lists serve: its blocks wait in `blocks` and are listed together.
  void list_together(const TriangleBatch& batch, uint32_t lane, CoveredBlocks& blocks, const UnlistedBlocks& unlisted) {
    assert(w_.draw.takes_lists && ready_);
    together_ = {&batch, &blocks, lane, unlisted};
    blocks.count = 0;
    blocks.words = std::max(w_.shape.samples, 4u);
  }
  void block(int32_t block_x, int32_t block_y, const uint16_t* masks) {
    if (w_.shape.samples == 1) {
      single_block(block_x, block_y, masks[0]);
      return;
    }
    if (together_.blocks) {
      wait(block_x, block_y, masks);
      return;
    }
    settle(w_.shape.block_of(block_x, block_y));
    if (w_.lrz.now) {
      prepare();
      if (lrz_hidden(block_x, block_y, 1)) return;
    }
    uint16_t limited[kMaxSamples] = {};
    if (w_.draw.plan.masks_samples) {
      for (uint32_t s = 0; s < w_.shape.samples; s++) limited[s] = w_.draw.plan.sample_mask >> 4 * s & 1 ? masks[s] : 0;
      masks = limited;
    }
    const uint32_t block = w_.shape.block_of(block_x, block_y);
    if (w_.draw.takes_lists && list_block(block, block_x, block_y, load_masks(masks) & w_.lists.all)) return;
    const uint32_t pixels = count_pixels(masks, w_.shape.samples);
    if (!pixels) return;
    w_.results.counters.fragments_rasterized += pixels;
    if constexpr (kTraced) trace::rasterized_block(w_, source(), block, masks);
    if (w_.draw.plan.early == EarlyTests::none) {
      push_block(block, block_x * 4, block_y * 4, masks, masks, w_.shape.samples);
      return;
    }
    prepare();
    if (w_.draw.follows_late && w_.draw.test.far &&
        hidden_blocks(w_.draw.test, depth_, block, w_.bin.origin_x_px + block_x * 4, w_.bin.origin_y_px + block_y * 4) & 1)
      return count_hidden(pixels);
    uint16_t live[kMaxSamples];
    w_.draw.test.functions.block(w_.draw.test, depth_, block, w_.bin.origin_x_px + block_x * 4, w_.bin.origin_y_px + block_y * 4, masks,
                                 live);
    if constexpr (kTraced) trace::tested_block(w_, source(), block, masks, live);
    after_tests(block, block_x * 4, block_y * 4, pixels, masks, live);
  }

  void full_span(int32_t block_x, int32_t block_y, int32_t count) {
    assert(count > 0 && block_x >= 0 && static_cast<uint32_t>(block_x + count) <= w_.shape.blocks_per_row);
    if (w_.draw.plan.masks_samples) {
      uint16_t all[kMaxSamples] = {};
      std::fill_n(all, w_.shape.samples, uint16_t{0xffff});
      for (int32_t i = 0; i < count; i++) block(block_x + i, block_y, all);
      return;
    }
    if (settles_)
      for (int32_t i = 0; i < count; i++) settle(w_.shape.block_of(block_x + i, block_y));
    if (w_.lrz.now) {
      prepare();
      for (int32_t i = 0; i < count; i += 8) {
        const uint32_t present = (1u << std::min(count - i, 8)) - 1;
        uint32_t left = present & ~lrz_hidden(block_x + i, block_y, present);
        while (left) {
          const int32_t first = std::countr_zero(left), run = std::countr_one(left >> first);
          left &= ~(((1u << run) - 1) << first);
          seen_span(block_x + i + first, block_y, run);
        }
      }
    } else {
      seen_span(block_x, block_y, count);
    }
  }

  /// The blocks of a window of 16x16 pixels that are covered whole, and by part (bit: row-major); one sample. Draws the former;
  /// returns which of the latter are hidden: only counted, by hidden_part, not drawn. Not inline: the traversal around it would spill.
  __attribute__((noinline)) uint32_t window_blocks(int32_t block_x, int32_t block_y, uint32_t full, uint32_t part) {
    uint32_t hidden = 0;
    if (prefers_windows()) {
      prepare();
      if (settles_)
        for (uint32_t left = full | part; left; left &= left - 1)
          settle(w_.shape.block_of(block_x + (std::countr_zero(left) & 3), block_y + (std::countr_zero(left) >> 2)));
      if constexpr (kTraced)
        detail::each_run(full, [&](int32_t x, int32_t y, int32_t run) {
          for (int32_t i = 0; i < run; i++) trace::rasterized_block(w_, source(), w_.shape.block_of(block_x + x + i, block_y + y), kAll);
        });
      const CoverSides sides = cover_window(w_, w_.draw.test, w_.covers, depth_, block_x, block_y, full, part);
      hidden = sides.hidden;
      if (sides.held) take(sides.held);
      w_.results.counters.fragments_rasterized += 16u * static_cast<uint32_t>(std::popcount(full));
      count_hidden(16u * static_cast<uint32_t>(std::popcount(full & hidden)));
      if constexpr (kTraced) trace_sides(block_x, block_y, 4, full & hidden, sides.held);
      detail::each_run(full & ~hidden & ~sides.held, [&](int32_t x, int32_t y, int32_t run) { test_span(block_x + x, block_y + y, run); });
    } else {
      detail::each_run(full, [&](int32_t x, int32_t y, int32_t run) { full_span(block_x + x, block_y + y, run); });
    }
    return hidden & part;
  }
  bool prefers_windows() const {
    return w_.draw.plan.early != EarlyTests::none && w_.draw.test.far && !w_.lrz.now && !w_.draw.plan.masks_samples;
  }
  void hidden_part([[maybe_unused]] int32_t block_x, [[maybe_unused]] int32_t block_y, uint32_t covered) {
    const uint32_t pixels = static_cast<uint32_t>(std::popcount(covered));
    w_.results.counters.fragments_rasterized += pixels;
    count_hidden(pixels);
    if constexpr (kTraced) {
      const uint16_t mask = static_cast<uint16_t>(covered);
      trace::rasterized_block(w_, source(), w_.shape.block_of(block_x, block_y), &mask);
      trace::hierarchical_z(w_, source(), w_.shape.block_of(block_x, block_y), &mask);
    }
  }

  /// After the last of its samples.
  void finish() {
    if constexpr (kCoarse) return finish_coarse();
    if (together_.blocks) list_waiting();
    take_number();
  }

 private:
  void finish_coarse() {
    CoarsePackets& coarse = w_.packets.coarse;
    if (!coarse.touched.empty()) queue_gathered(w_, w_.packets, w_.results, record_, setup());
  }
};
using CoverageSink = BasicCoverageSink<false, false>;

}  // namespace tilegpu::TILEGPU_TILE
