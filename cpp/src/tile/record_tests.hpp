// tile/record_tests.hpp -- stage: tile phase, the early tests of one record. In: covered samples, by block or row of whole blocks. Out:
// what of them passed, handed on (record_route.hpp); depth, stencil and numbers written, or lists and covers brought up to date.
//
// Second part of the CoverageSink (coverage_sink.hpp): low-resolution Z, then bounds of depth (covers among them), then lists or the plain
// buffers, as the draw's plan has it. Source: docs/decisions.md, 6 and 8; Vulkan specification, "Fragment Operations" (early tests).
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>

#include "tile/record_route.hpp"
#include "tile/visibility/sample_lists.hpp"
#include "tile/visibility/whole_blocks.hpp"

namespace tilegpu::TILEGPU_TILE {

inline uint32_t count_pixels(const uint16_t* masks, uint32_t samples) {
  uint32_t any = 0;
  for (uint32_t s = 0; s < samples; s++) any |= masks[s];
  return static_cast<uint32_t>(std::popcount(any));
}

template <bool kCoarse, bool kFaint>
class RecordTests : public RecordRoute<kCoarse, kFaint> {
 protected:
  using Route_ = RecordRoute<kCoarse, kFaint>;
  using Route_::kAll, Route_::number_, Route_::push_block, Route_::push_full_blocks, Route_::record_, Route_::see;
  using Route_::Route_;
  using Route_::seen_, Route_::settle, Route_::setup, Route_::source, Route_::w_;

  void prepare() {
    if (ready_) return;
    ready_ = true;
    set_up_depth(record_, w_.draw.test, depth_);
    depth_.id = number_;
  }
  /// The depth plane was set up with others.
  void set_depth(const TriangleBatch& batch, uint32_t lane) {
    depth_ = batch_depth(batch, lane, number_, record_.draw_flags & records::kFrontFacing ? 0 : 1);
    ready_ = true;
  }

  // Of an occlusion query: samples that passed.
  void count_query(uint32_t samples) {
    if (w_.draw.early_query >= 0) w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += samples;
  }
  void count_query(const uint16_t* masks, uint32_t count) {
    if (w_.draw.early_query >= 0)
      for (uint32_t i = 0; i < count; i++)
        w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += static_cast<uint32_t>(std::popcount(masks[i]));
  }

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
    settle(w_.shape.block_of(block_x, block_y));
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
      count_query(static_cast<uint32_t>(std::popcount(live)));
    }
    if (w_.draw.plan.route == Route::visibility) {
      see(static_cast<uint32_t>(std::popcount(live)));
      return;
    }
    if (w_.draw.plan.route != Route::shade) return;
    const uint16_t covered_mask = static_cast<uint16_t>(covered), live_mask = static_cast<uint16_t>(live);
    if (live == 0xffff)
      push_full_blocks(block, 1);
    else
      push_block(block, block_x * 4, block_y * 4, &covered_mask, &live_mask, 1);
  }

  void count_hidden(uint32_t pixels) {
    w_.results.counters.fragments_early_killed += pixels;
    w_.results.counters.fragments_killed_by_hierarchical_z += pixels;
  }
  // Whole blocks (by bit) that passed and are the primitive's.
  void take(uint32_t blocks) {
    assert(blocks && w_.draw.takes_covers);
    const uint32_t pixels = 16u * static_cast<uint32_t>(std::popcount(blocks));
    see(pixels);
    count_query(pixels);
  }
  void expand_cover(uint32_t block) {
    if (w_.covers.plane[block]) tile::expand_cover(w_, w_.covers, block);
  }

  // -- rows of whole blocks

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
        const CoverSides sides = hold_blocks(w_, w_.draw.test, w_.covers, depth_, block_x + i, block_y, present);
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
  // Whole blocks side by side: tests, and on from there. They are counted as rasterized.
  void test_span(int32_t block_x, int32_t block_y, int32_t count) {
    if (!w_.draw.takes_lists) return test_buffers(block_x, block_y, count);
    if (together_.blocks) {
      for (int32_t i = 0; i < count; i++) wait(block_x + i, block_y, kAll);
      return;
    }
    for (int32_t i = 0; i < count; i++) {
      const uint32_t block = w_.shape.block_of(block_x + i, block_y);
      if (w_.lists.count[block] >= kBlockEntries && w_.lists.count[block] != kInBuffers) expand_list(w_, w_.lists, block);
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
      count_query(live, blocks * w_.shape.samples);
    }
    if (w_.draw.plan.route == Route::visibility) see(passed);
    if (w_.draw.plan.route != Route::shade) return;
    // One sample: each pixel of each block passed, as where nothing is tested.
    if (w_.draw.plan.early == EarlyTests::none || (w_.shape.samples == 1 && passed == 16 * blocks)) return push_full_blocks(first, blocks);
    const auto is_full = [&](uint32_t i) {
      uint32_t all = 0xffff;
      for (uint32_t s = 0; s < w_.shape.samples; s++) all &= live[i * w_.shape.samples + s];
      return all == 0xffff;
    };
    for (uint32_t i = 0, run = 0; i < blocks; i += std::max(run, 1u)) {
      run = 0;
      while (i + run < blocks && is_full(i + run)) run++;
      const int32_t x = (block_x + static_cast<int32_t>(i)) * 4, y = block_y * 4;
      if (run)
        push_full_blocks(first + i, run);
      else
        push_block(first + i, x, y, kAll, live + i * w_.shape.samples, w_.shape.samples);
    }
  }

  // -- blocks that are not whole

  void after_tests(uint32_t block, int32_t x, int32_t y, uint32_t pixels, const uint16_t* covered, const uint16_t* live) {
    const uint32_t passed = count_pixels(live, w_.shape.samples);
    w_.results.counters.fragments_early_killed += pixels - passed;
    if (!passed) return;
    count_query(live, w_.shape.samples);
    if (w_.draw.plan.route == Route::visibility) {
      see(passed);
    } else if (w_.draw.plan.route == Route::shade) {
      push_block(block, x, y, covered, live, w_.shape.samples);
    }
  }

  // -- lists

  void wait(int32_t block_x, int32_t block_y, const uint16_t* masks) {
    if (together_.blocks->count == CoveredBlocks::kMost) list_waiting();
    alignas(32) uint16_t own[kMaxSamples];
    _mm256_store_si256(reinterpret_cast<__m256i*>(own), (__m256i)(load_masks(masks) & w_.lists.all));
    together_.blocks->add(together_.lane, block_x, block_y, own);
  }
  void list_waiting() {
    assert(together_.blocks);
    const ListedBlocks done = insert_blocks(w_, w_.lists, *together_.batch, *together_.blocks, number_, together_.unlisted);
    together_.blocks->count = 0;
    w_.results.counters.fragments_rasterized += done.covered;
    w_.results.counters.fragments_early_killed += done.covered - done.passed;
    w_.results.counters.fragments_killed_by_hierarchical_z += done.hidden;
    seen_ |= done.seen != 0;
  }

  // A block of the list; false: it is in the buffers (now).
  bool list_block(uint32_t block, int32_t block_x, int32_t block_y, SampleMasks covered) {
    if (w_.lists.count[block] >= kBlockEntries) {
      if (w_.lists.count[block] != kInBuffers) expand_list(w_, w_.lists, block);
      return false;
    }
    const uint32_t pixels = static_cast<uint32_t>(std::popcount(pixels_of(covered)));
    if (!pixels) return true;
    w_.results.counters.fragments_rasterized += pixels;
    if constexpr (kTraced) trace::rasterized_block(w_, source(), block, reinterpret_cast<const uint16_t*>(&covered));
    test_list(block, block_x, block_y, covered, pixels);
    return true;
  }
  // `pixels` of it were counted as rasterized.
  void test_list(uint32_t block, int32_t block_x, int32_t block_y, SampleMasks covered, uint32_t pixels) {
    prepare();
    const uint32_t next = static_cast<uint32_t>(w_.lists.planes.size());
    const SampleMasks pass = insert(w_.lists, depth_, listed_ ? next - 1 : next, block, w_.bin.origin_x_px + block_x * 4,
                                    w_.bin.origin_y_px + block_y * 4, covered);
    const uint32_t passed = static_cast<uint32_t>(std::popcount(pixels_of(pass)));
    w_.results.counters.fragments_early_killed += pixels - passed;
    if (passed && !listed_) w_.lists.planes.push_back(depth_);
    if constexpr (kTraced) trace_listed(block, covered, pass);
    if (!passed) return;
    listed_ = true;
    seen_ = true;
    if (w_.draw.early_query >= 0) w_.results.query_samples[static_cast<uint32_t>(w_.draw.early_query)] += count_samples(pass);
  }

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

  PrimitiveDepth depth_;  // once ready_
  struct Together {
    const TriangleBatch* batch = nullptr;
    CoveredBlocks* blocks = nullptr;  // null: each block by itself
    uint32_t lane = 0;
    UnlistedBlocks unlisted;
  } together_;
  bool ready_ = false, listed_ = false;
};

}  // namespace tilegpu::TILEGPU_TILE
