// tile/coverage_sink.hpp -- stage: tile phase, what becomes of a record's coverage. In: covered samples by window, quad, block or row
// of blocks (coverage.hpp). Out: early tests done; quads in the queue, numbers in the visibility buffer, or nothing more.
//
// One sink for each record; included by draw_entries.cpp alone, so that the compiler sees coverage, tests and sink at once.
// Source: docs/decisions.md, 8; Vulkan specification, "Fragment Operations" (early tests).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstring>

#include "tile/shading/numbers.hpp"
#include "tile/shading/quad_queue.hpp"
#include "tile/visibility/sample_lists.hpp"
#include "tile/visibility/whole_blocks.hpp"
#include "tile/worker/worker.hpp"

namespace tilegpu::tile {

inline uint32_t count_pixels(const uint16_t* masks, uint32_t samples) {
  uint32_t any = 0;
  for (uint32_t s = 0; s < samples; s++) any |= masks[s];
  return static_cast<uint32_t>(std::popcount(any));
}

/// Where the coverage of one record goes.
class CoverageSink {
 public:
  /// `number`: in the visibility buffer; 0: the next, given once something of it is seen.
  CoverageSink(Worker& w, const records::TriangleRecord& record, const records::Chunk& chunk, uint32_t number = 0)
      : w_(w),
        record_(record),
        chunk_(chunk),
        number_(number ? number : static_cast<uint32_t>(w.visibility.primitives.size()) + 1),
        numbered_(number) {
    if (w.bin.phase != Phase::main || !w.prepass.opaque_replay) return;
    uint32_t& next = w.prepass.replay_next;
    if (next < w.visibility.primitives.size() && w.visibility.primitives[next].record == &record) id_ = ++next;
  }

  /// The depth plane was set up with others.
  void set_depth(const TriangleBatch& batch, uint32_t lane) {
    depth_ = batch_depth(batch, lane, number_, record_.draw_flags & records::kFrontFacing ? 0 : 1);
    ready_ = true;
  }

  /// A small triangle, one sample.
  void window(const TriangleBatch& batch, uint32_t lane) {
    assert(w_.shape.samples == 1 && (batch.small >> lane & 1));
    uint32_t covered = BatchEdges(batch, lane).covered(0, 0);
    const int32_t x = batch.window_x[lane], y = batch.window_y[lane];
    if (batch.cut >> lane & 1) covered &= detail::rect_bits(w_.draw.rect, x, y);
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
    if (w_.draw.plan.early != EarlyTests::none) {
      live = w_.draw.test.functions.window(w_.draw.test, batch, lane, number_, record_.draw_flags & records::kFrontFacing ? 0 : 1,
                                           tile_pixels, w_.bin.origin_x_px + x, w_.bin.origin_y_px + y, covered);
      if constexpr (kTraced)
        for (uint32_t q = 0; q < 4; q++) trace::tested(w_, source(), tile_pixels[q], covered >> 4 * q & 0xf, live >> 4 * q & 0xf);
      w_.results.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(covered & ~live));
      if (w_.draw.early_query >= 0)
        w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += static_cast<uint32_t>(std::popcount(live));
      if (!live) return;
    }
    if (w_.draw.plan.route == Route::visibility) {
      see(live);
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
  void list_together(const TriangleBatch& batch, uint32_t lane, CoveredBlocks& blocks, DrawBlock draw, void* context) {
    assert(w_.draw.takes_lists && ready_);
    together_ = {&batch, &blocks, lane, draw, context};
    blocks.count = 0;
    blocks.words = std::max(w_.shape.samples, 4u);
  }
  bool takes_parts() const { return together_.blocks && w_.shape.wide; }
  void window_parts(const int32_t* at, const int32_t* x_step, const int32_t* y_step, const int32_t (*samples)[kMaxSamples],
                    uint32_t edge_count, int32_t block_x, int32_t block_y, uint32_t part) {
    assert(together_.blocks && edge_count <= 3);
    WindowEdges edges{};
    for (uint32_t k = 0; k < edge_count; k++) {
      edges.at[k] = at[k];
      edges.x_step[k] = x_step[k];
      edges.y_step[k] = y_step[k];
      std::memcpy(edges.samples[k], samples[k], sizeof(int32_t) * w_.shape.samples);
    }
    if (together_.blocks->count + 16 > CoveredBlocks::kMost) list_waiting();
    cover_window_wide(edges, part, w_.shape.samples, together_.lane, block_x, block_y, w_.bin.place, *together_.blocks);
  }

  void quad(int32_t x, int32_t y, uint64_t coverage) {
    coverage &= w_.draw.plan.sample_mask;
    if (!coverage) return;
    const uint32_t pixels = covered_pixels(coverage);
    w_.results.counters.fragments_rasterized += static_cast<uint32_t>(std::popcount(pixels));
    const uint32_t block = w_.shape.block_of(x >> 2, y >> 2);
    if constexpr (kTraced) trace::rasterized(w_, source(), block * 16 + static_cast<uint32_t>((y & 2) * 4 + (x & 2) * 2), coverage);
    if (w_.draw.takes_lists && list_quad(block, x, y, coverage)) return;
    if (w_.covers.any) expand_cover(block);
    const uint32_t tile_pixel = block * 16 + static_cast<uint32_t>((y & 2) * 4 + (x & 2) * 2);
    uint64_t live = coverage;
    if (w_.draw.plan.early != EarlyTests::none) {
      prepare();
      live = w_.draw.test.functions.quad(w_.draw.test, depth_, tile_pixel, w_.bin.origin_x_px + x, w_.bin.origin_y_px + y, coverage);
      if constexpr (kTraced) trace::tested(w_, source(), tile_pixel, coverage, live);
      w_.results.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(pixels & ~covered_pixels(live)));
      if (w_.draw.early_query >= 0)
        w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += static_cast<uint32_t>(std::popcount(live));
      if (!live) return;
    }
    if (w_.draw.plan.route == Route::visibility) {
      see(covered_pixels(live));
    } else if (w_.draw.plan.route == Route::shade) {
      push({setup(), tile_pixel, static_cast<uint16_t>(x), static_cast<uint16_t>(y), coverage, live});
    }
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
      push_block(block, block_x * 4, block_y * 4, masks, masks);
      return;
    }
    prepare();
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
  /// returns which of the latter are hidden: only counted, by hidden_part, not drawn.
  uint32_t window_blocks(int32_t block_x, int32_t block_y, uint32_t full, uint32_t part) {
    uint32_t hidden = 0;
    if (prefers_windows()) {
      prepare();
      if constexpr (kTraced)
        detail::each_run(full, [&](int32_t x, int32_t y, int32_t run) {
          for (int32_t i = 0; i < run; i++) trace::rasterized_block(w_, source(), w_.shape.block_of(block_x + x + i, block_y + y), kAll);
        });
      const CoverSides sides = cover_window(w_, depth_, held_, w_.shape.block_of(block_x, block_y), w_.bin.origin_x_px + block_x * 4,
                                            w_.bin.origin_y_px + block_y * 4, full, part);
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

  // What low-resolution Z left of a row of whole blocks.
  void seen_span(int32_t block_x, int32_t block_y, int32_t count) {
    const bool waits = together_.blocks;  // what is not hidden is counted when it is listed
    if (!waits) w_.results.counters.fragments_rasterized += 16u * static_cast<uint32_t>(count);
    if constexpr (kTraced)
      for (int32_t i = 0; i < count; i++) trace::rasterized_block(w_, source(), w_.shape.block_of(block_x + i, block_y), kAll);
    if (w_.draw.plan.early == EarlyTests::none || !w_.draw.test.far) {
      test_span(block_x, block_y, count);
      return;
    }
    prepare();
    for (int32_t i = 0; i < count; i += 8) {
      const int32_t n = std::min(count - i, 8);
      const uint32_t present = (1u << n) - 1, first_block = w_.shape.block_of(block_x + i, block_y);
      const int32_t x_px = w_.bin.origin_x_px + (block_x + i) * 4, y_px = w_.bin.origin_y_px + block_y * 4;
      uint32_t hidden, held = 0;
      if (w_.draw.takes_covers) {
        const CoverSides sides = hold_blocks(w_, depth_, held_, first_block, x_px, y_px, present);
        hidden = sides.hidden;
        held = sides.held;
        if (held) take(held);
      } else {
        hidden = present & hidden_blocks(w_.draw.test, depth_, first_block, x_px, y_px);
      }
      if (waits) w_.results.counters.fragments_rasterized += 16u * static_cast<uint32_t>(std::popcount(hidden));
      count_hidden(16u * static_cast<uint32_t>(std::popcount(hidden)));
      if constexpr (kTraced) trace_sides(block_x + i, block_y, 8, hidden, held);
      for (uint32_t left = present & ~hidden & ~held; left;) {
        const int32_t first = std::countr_zero(left), run = std::countr_one(left >> first);
        left &= ~(((1u << run) - 1) << first);
        test_span(block_x + i + first, block_y, run);
      }
    }
  }

  bool seen() const { return seen_; }
  /// After the last of its samples.
  void finish() {
    if (together_.blocks) list_waiting();
    if (!seen_ || numbered_) return;
    w_.visibility.primitives.push_back({&record_, &chunk_, nullptr, visible_slot(w_.visibility, draw_of(record_))});
  }

 private:
  static constexpr uint16_t kAll[kMaxSamples] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                                 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff};

  // Blocks (of up to eight side by side, by bit) that low-resolution Z hides; only where it is tested.
  uint32_t lrz_hidden(int32_t block_x, int32_t block_y, uint32_t present) {
    const uint32_t hidden = present & lrz_hidden_blocks(w_.lrz, depth_, w_.shape.samples, w_.shape.block_of(block_x, block_y),
                                                        w_.bin.origin_x_px + block_x * 4, w_.bin.origin_y_px + block_y * 4);
    w_.results.counters.lrz_blocks_rejected += static_cast<uint32_t>(std::popcount(hidden));
    if constexpr (kTraced)
      for (uint32_t left = hidden; left; left &= left - 1) trace::lrz_block(w_, source(), block_x + std::countr_zero(left), block_y);
    return hidden;
  }

  // A block with one sample.
  void single_block(int32_t block_x, int32_t block_y, uint32_t covered) {
    assert(w_.shape.samples == 1 && covered <= 0xffff);
    if (w_.draw.plan.masks_samples) return;
    if (w_.lrz.now) {
      prepare();
      if (lrz_hidden(block_x, block_y, 1)) return;
    }
    w_.results.counters.fragments_rasterized += static_cast<uint32_t>(std::popcount(covered));
    const uint32_t block = w_.shape.block_of(block_x, block_y);
    const uint16_t covered_now = static_cast<uint16_t>(covered);
    if constexpr (kTraced) trace::rasterized_block(w_, source(), block, &covered_now);
    uint32_t live = covered;
    if (w_.covers.any) expand_cover(block);
    if (w_.draw.plan.early != EarlyTests::none) {
      prepare();
      live = w_.draw.test.functions.single(w_.draw.test, depth_, block, w_.bin.origin_x_px + block_x * 4, w_.bin.origin_y_px + block_y * 4,
                                           covered);
      w_.results.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(covered & ~live));
      if constexpr (kTraced) {
        const uint16_t live_now = static_cast<uint16_t>(live);
        trace::tested_block(w_, source(), block, &covered_now, &live_now);
      }
      if (!live) return;
      if (w_.draw.early_query >= 0)
        w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += static_cast<uint32_t>(std::popcount(live));
    }
    if (w_.draw.plan.route == Route::visibility) {
      see(live);
      return;
    }
    if (w_.draw.plan.route != Route::shade) return;
    const uint16_t covered_mask = static_cast<uint16_t>(covered), live_mask = static_cast<uint16_t>(live);
    if (live == 0xffff)
      push_full_blocks(block, 1, block_x * 4, block_y * 4);
    else
      push_block(block, block_x * 4, block_y * 4, &covered_mask, &live_mask);
  }

  void count_hidden(uint32_t pixels) {
    w_.results.counters.fragments_early_killed += pixels;
    w_.results.counters.fragments_killed_by_hierarchical_z += pixels;
  }
  // Whole blocks (by bit) that passed and are the primitive's.
  void take(uint32_t blocks) {
    assert(blocks && w_.draw.takes_covers);
    const uint32_t pixels = 16u * static_cast<uint32_t>(std::popcount(blocks));
    seen_ = true;
    w_.prepass.recorded += pixels;
    if (w_.draw.early_query >= 0) w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += pixels;
  }
  void expand_cover(uint32_t block) {
    if (w_.covers.plane[block]) tile::expand_cover(w_, block);
  }

  void wait(int32_t block_x, int32_t block_y, const uint16_t* masks) {
    if (together_.blocks->count == CoveredBlocks::kMost) list_waiting();
    alignas(32) uint16_t own[kMaxSamples];
    _mm256_store_si256(reinterpret_cast<__m256i*>(own), (__m256i)(load_masks(masks) & w_.lists.all));
    together_.blocks->add(together_.lane, block_x, block_y, own);
  }
  void list_waiting() {
    assert(together_.blocks);
    const ListedBlocks done = insert_blocks(w_, *together_.batch, *together_.blocks, number_, together_.draw, together_.context);
    together_.blocks->count = 0;
    w_.results.counters.fragments_rasterized += done.covered;
    w_.results.counters.fragments_early_killed += done.covered - done.passed;
    w_.results.counters.fragments_killed_by_hierarchical_z += done.hidden;
    seen_ |= done.seen != 0;
  }

  // A block of the list; false: it is in the buffers (now).
  bool list_block(uint32_t block, int32_t block_x, int32_t block_y, SampleMasks covered) {
    if (w_.lists.count[block] >= kBlockEntries) {
      if (w_.lists.count[block] != kInBuffers) expand_list(w_, block);
      return false;
    }
    const uint32_t pixels = static_cast<uint32_t>(std::popcount(pixels_of(covered)));
    if (!pixels) return true;
    w_.results.counters.fragments_rasterized += pixels;
    if constexpr (kTraced) trace::rasterized_block(w_, source(), block, reinterpret_cast<const uint16_t*>(&covered));
    test_list(block, block_x, block_y, covered, pixels);
    return true;
  }
  bool list_quad(uint32_t block, int32_t x, int32_t y, uint64_t coverage) {
    if (w_.lists.count[block] >= kBlockEntries) {
      if (w_.lists.count[block] != kInBuffers) expand_list(w_, block);
      return false;
    }
    const int32_t shift = (y & 2) * 4 + (x & 2) * 2;
    SampleMasks covered{};
    for (uint32_t s = 0; s < w_.shape.samples; s++) covered[s] = static_cast<uint16_t>((coverage >> 4 * s & 0xf) << shift);
    test_list(block, x >> 2, y >> 2, covered, static_cast<uint32_t>(std::popcount(covered_pixels(coverage))));
    return true;
  }
  // `pixels` of it were counted as rasterized.
  void test_list(uint32_t block, int32_t block_x, int32_t block_y, SampleMasks covered, uint32_t pixels) {
    prepare();
    const uint32_t next = static_cast<uint32_t>(w_.lists.planes.size());
    const SampleMasks pass =
        insert(w_, depth_, listed_ ? next - 1 : next, block, w_.bin.origin_x_px + block_x * 4, w_.bin.origin_y_px + block_y * 4, covered);
    const uint32_t passed = static_cast<uint32_t>(std::popcount(pixels_of(pass)));
    w_.results.counters.fragments_early_killed += pixels - passed;
    if (passed && !listed_) w_.lists.planes.push_back(depth_);
    if constexpr (kTraced) trace_listed(block, covered, pass);
    if (!passed) return;
    listed_ = true;
    seen_ = true;
    if (w_.draw.early_query >= 0) w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += count_samples(pass);
  }

  // Whole blocks side by side: tests, and on from there. They are counted as rasterized.
  void test_span(int32_t block_x, int32_t block_y, int32_t count) {
    if (!w_.draw.takes_lists) return test_buffers(block_x, block_y, count);
    if (together_.blocks) {
      for (int32_t i = 0; i < count; i++) wait(block_x + i, block_y, kAll);
      return;
    }
    for (int32_t i = 0; i < count; i++) {
      const uint32_t block = w_.shape.block_of(block_x + i, block_y);
      if (w_.lists.count[block] >= kBlockEntries && w_.lists.count[block] != kInBuffers) expand_list(w_, block);
      if (w_.lists.count[block] == kInBuffers)
        test_buffers(block_x + i, block_y, 1);
      else
        test_list(block, block_x + i, block_y, w_.lists.all, 16);
    }
  }
  void test_buffers(int32_t block_x, int32_t block_y, int32_t count) {
    const uint32_t first = w_.shape.block_of(block_x, block_y), blocks = static_cast<uint32_t>(count);
    uint16_t* live = w_.results.pass_masks.data();
    uint32_t passed = 16 * blocks;
    if (w_.covers.any)
      for (uint32_t i = 0; i < blocks; i++) expand_cover(first + i);
    if (w_.draw.plan.early != EarlyTests::none) {
      prepare();
      passed = w_.draw.test.functions.span(w_.draw.test, depth_, first, blocks, w_.bin.origin_x_px + block_x * 4,
                                           w_.bin.origin_y_px + block_y * 4, live);
      w_.results.counters.fragments_early_killed += 16 * blocks - passed;
      if constexpr (kTraced)
        for (uint32_t i = 0; i < blocks; i++) trace::tested_block(w_, source(), first + i, kAll, live + i * w_.shape.samples);
      if (!passed) return;
      if (w_.draw.early_query >= 0)
        for (uint32_t i = 0; i < blocks * w_.shape.samples; i++)
          w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += static_cast<uint32_t>(std::popcount(live[i]));
    }
    if (w_.draw.plan.route == Route::visibility) {
      seen_ = true;
      w_.prepass.recorded += passed;
    }
    if (w_.draw.plan.route != Route::shade) return;
    // One sample: each pixel of each block passed, as where nothing is tested.
    if (w_.draw.plan.early == EarlyTests::none || (w_.shape.samples == 1 && passed == 16 * blocks))
      return push_full_blocks(first, blocks, block_x * 4, block_y * 4);
    const auto is_full = [&](uint32_t i) {
      uint32_t all = 0xffff;
      for (uint32_t s = 0; s < w_.shape.samples; s++) all &= live[i * w_.shape.samples + s];
      return all == 0xffff;
    };
    for (uint32_t i = 0; i < blocks;) {
      uint32_t run = 0;
      while (i + run < blocks && is_full(i + run)) run++;
      const int32_t x = (block_x + static_cast<int32_t>(i)) * 4, y = block_y * 4;
      if (run)
        push_full_blocks(first + i, run, x, y);
      else
        push_block(first + i, x, y, kAll, live + i * w_.shape.samples);
      i += std::max(run, 1u);
    }
  }

  void prepare() {
    if (ready_) return;
    ready_ = true;
    set_up_depth(record_, w_.draw.test, depth_);
    depth_.id = number_;
  }
  const shader::PrimitiveSetup* setup() {
    if (!setup_) {
      // Setups of quads that no longer wait are given back now and then, so that a bin with a million primitives needs no more.
      if (w_.packets.setups.used() >= kMaxVisible) {
        release_queue(w_);
        w_.packets.setups.reset();
        w_.vertices.reset_if_large();
      }
      shader::PrimitiveSetup* setup = w_.packets.setups.allocate();
      set_up_primitive(record_, chunk_, w_.draw.test, static_cast<uint32_t>(w_.packets.setups.used()), *setup);
      if (w_.bin.phase == Phase::pre) setup->order = static_cast<uint32_t>(w_.visibility.primitives.size()) + 1;
      if (w_.bin.phase == Phase::main) setup->order = id_;
      setup_ = setup;
      if constexpr (kTraced) trace::set_up(w_, setup, source());
    }
    return setup_;
  }

  void after_tests(uint32_t block, int32_t x, int32_t y, uint32_t pixels, const uint16_t* covered, const uint16_t* live) {
    const uint32_t passed = count_pixels(live, w_.shape.samples);
    w_.results.counters.fragments_early_killed += pixels - passed;
    if (!passed) return;
    if (w_.draw.early_query >= 0)
      for (uint32_t s = 0; s < w_.shape.samples; s++)
        w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += static_cast<uint32_t>(std::popcount(live[s]));
    if (w_.draw.plan.route == Route::visibility) {
      seen_ = true;
      w_.prepass.recorded += passed;
    } else if (w_.draw.plan.route == Route::shade) {
      push_block(block, x, y, covered, live);
    }
  }

  void push_block(uint32_t block, int32_t x, int32_t y, const uint16_t* covered, const uint16_t* live) {
    assert(w_.draw.plan.route == Route::shade);
    for (uint32_t q = 0; q < 4; q++) {
      const uint64_t bits = gather_quad(live, w_.shape.samples, q);
      if (!bits) continue;
      const uint64_t raster = covered == live ? bits : gather_quad(covered, w_.shape.samples, q);
      push({setup(), block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
            static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), raster, bits});
    }
  }

  void push_full_blocks(uint32_t block, uint32_t count, int32_t x, int32_t y) {
    assert(w_.draw.plan.route == Route::shade && count > 0);
    const shader::PrimitiveSetup* primitive = setup();
    if (w_.bin.phase == Phase::pre) seen_ = w_.prepass.verdict.opaque;
    const bool direct = !w_.kill.on && w_.bin.phase != Phase::main;
    for (const uint32_t end = block + count; block < end;) {
      uint32_t run = 0;
      while (direct && block + run < end && !w_.packets.waiting[block + run]) run++;
      if (run) {
        shade_blocks(w_, primitive, block, run, x, y);
      } else {
        for (uint32_t q = 0; q < 4; q++)  // behind the quads that wait there
          push({primitive, block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
                static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), w_.shape.all_samples, w_.shape.all_samples});
        run = 1;
      }
      block += run;
      x += static_cast<int32_t>(run) * 4;
    }
  }

  // Its number is in the ids now.
  void see(uint32_t pixels) {
    seen_ = true;
    w_.prepass.recorded += static_cast<uint32_t>(std::popcount(pixels));
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
    emit_quad(w_, quad);
  }

  trace::Source source() const { return {&record_, &chunk_}; }
  // Whole blocks in rows of `pitch` (bits): hidden by hierarchical Z; held by the primitive.
  void trace_sides(int32_t block_x, int32_t block_y, int32_t pitch, uint32_t hidden, uint32_t held) {
    for (int32_t b = 0; b < 32; b++) {
      const uint32_t block = (hidden | held) >> b & 1 ? w_.shape.block_of(block_x + b % pitch, block_y + b / pitch) : 0;
      if (hidden >> b & 1) trace::hierarchical_z(w_, source(), block, kAll);
      if (held >> b & 1) trace::tested_block(w_, source(), block, kAll, kAll);
    }
  }
  void trace_listed(uint32_t block, const SampleMasks& covered, const SampleMasks& pass) {
    trace::tested_block(w_, source(), block, reinterpret_cast<const uint16_t*>(&covered), reinterpret_cast<const uint16_t*>(&pass));
  }

  Worker& w_;
  const records::TriangleRecord& record_;
  const records::Chunk& chunk_;
  PrimitiveDepth depth_;  // once ready_
  const shader::PrimitiveSetup* setup_ = nullptr;
  struct Together {
    const TriangleBatch* batch = nullptr;
    CoveredBlocks* blocks = nullptr;  // null: each block by itself
    uint32_t lane = 0;
    DrawBlock draw = nullptr;
    void* context = nullptr;
  } together_;
  bool ready_ = false, seen_ = false, listed_ = false, held_ = false;
  const uint32_t number_;
  const bool numbered_;
  uint32_t id_ = 0;  // main phase: in the ids; 0: nothing of it is seen
};

}  // namespace tilegpu::tile
