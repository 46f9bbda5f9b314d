// raster/tile_job.cpp -- stage: tile phase, the job of one bin. In: the bin's segments. Out: tile memory, counters.
//
// Each record is covered, tested early where its draw allows that, and goes one of three ways: nothing more (depth only), the
// visibility buffer (opaque draws: shaded at the flush, once), or the quad queue. A change of draw empties the queue; a draw
// that needs to see the colours below it, and a clear, flush the visibility buffer first.
// Source: architecture, "The way of the data", decision 8; Vulkan specification, "Rasterization Order".
#include "raster/tile_job.hpp"
#include "hsr/explain.hpp"

#include <cassert>
#include <cstring>

#include "framebuffer/equal_quads.hpp"
#include "raster/filtered_tests.hpp"
#include "raster/worker.hpp"

namespace tilegpu::raster {

struct TileWorker::State : Worker {};

namespace {

void flush_all(Worker& w) {
  release_queue(w);
  if (!w.visible.empty()) hsr::flush_visibility(w);
}

// May a failed early test be trusted while quads of the same draw, which will write depth later, still wait? Only where each
// write makes the test harder to pass.
bool kills_early(const TestState& test) {
  if (test.stencil_test || test.bounds_test) return false;
  if (!test.depth_test) return false;
  switch (test.compare) {
    case VK_COMPARE_OP_LESS:
    case VK_COMPARE_OP_LESS_OR_EQUAL:
    case VK_COMPARE_OP_GREATER:
    case VK_COMPARE_OP_GREATER_OR_EQUAL:
      return true;
    default:
      return !test.depth_write;
  }
}

}  // namespace

PixelRect draw_rect(const Worker& w, const exec::DrawState& state) {
  const auto low = [](int64_t a, int64_t b, int64_t origin) { return static_cast<int32_t>(std::max<int64_t>(std::max(a, b) - origin, 0)); };
  const auto high = [&](int64_t a, int64_t b, int64_t origin) {
    return static_cast<int32_t>(std::clamp<int64_t>(std::min(a, b) - origin, 0, w.bin_px));
  };
  const VkRect2D &s = state.scissor, &r = w.pass->render_area;
  PixelRect rect;
  rect.x0 = low(s.offset.x, r.offset.x, w.origin_x_px);
  rect.y0 = low(s.offset.y, r.offset.y, w.origin_y_px);
  rect.x1 = high(int64_t{s.offset.x} + s.extent.width, int64_t{r.offset.x} + r.extent.width, w.origin_x_px);
  rect.y1 = high(int64_t{s.offset.y} + s.extent.height, int64_t{r.offset.y} + r.extent.height, w.origin_y_px);
  return rect;
}

uint64_t raster_coverage(const Worker& w, uint32_t draw, const geometry::TriangleRecord& record, int32_t x_px, int32_t y_px) {
  const exec::DrawState& state = *w.pass->draws[draw].state;
  const PixelRect rect = draw_rect(w, state);
  uint64_t coverage = cover_quad(record, w.origin_x_px + x_px, w.origin_y_px + y_px, w.samples);
  const uint32_t sample_mask = state.pipeline->info().multisample.sample_mask;
  for (uint32_t s = 0; s < w.samples; s++)
    for (int32_t p = 0; p < 4; p++) {
      const int32_t x = x_px + (p & 1), y = y_px + (p >> 1);
      const bool inside = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
      if (!inside || !(sample_mask >> s & 1)) coverage &= ~(uint64_t{1} << (4 * s + static_cast<uint32_t>(p)));
    }
  return coverage;
}

namespace {

// What only depends on the state, not on the draw.
void select_state(Worker& w, const exec::DrawState& state) {
  const GraphicsPipelineCreateInfo& info = state.pipeline->info();
  const pipeline::Compiled& compiled = state.pipeline->compiled();
  const pipeline::Classification& c = compiled.classification;
  w.state = &state;
  w.rect = draw_rect(w, state);
  int32_t* far = w.hierarchical_z ? w.far.data() : nullptr;
  w.late_test = make_test_state(info, state, w.pass->tile, w.memory.data(), nullptr, nullptr, far, true);
  if (w.far_broken) std::fill(w.far.begin(), w.far.end(), INT32_MAX);
  w.far_broken = w.late_test.breaks_far();
  w.one_by_one = c.pins_order;
  const hsr::Verdict& verdict = w.prepass.verdict;
  w.late_needed = w.late_test.depth_test || w.late_test.stencil_test || w.late_test.bounds_test;
  if (!compiled.fragment || (c.early_test && c.early_write))
    w.early = EarlyTests::full;
  else
    w.early = c.early_test && kills_early(w.late_test) ? EarlyTests::kill : EarlyTests::none;
  w.route = compiled.fragment ? Route::shade : Route::nothing;
  if (w.phase == Phase::pre) {
    if (!c.needs_slice || !compiled.fragment) {
      w.early = EarlyTests::full;
      w.route = verdict.opaque ? Route::visibility : Route::nothing;
    }
  } else if (w.phase == Phase::main) {
    if (c.side_effects && (w.prepass.opaque_replay || verdict.writes_zs))
      w.early = EarlyTests::none;  // depth is final, every fragment runs
  } else if (w.route == Route::shade && !hsr::visibility_obstacle(info, compiled, w.hidden_surface_removal))
    w.route = Route::visibility;
  w.test = w.early == EarlyTests::full && w.route == Route::shade
               ? w.late_test
               : make_test_state(info, state, w.pass->tile, w.memory.data(), w.route == Route::visibility ? w.ids : nullptr, w.dirty.data(),
                                 far, w.early == EarlyTests::full);
  if (w.filter.on()) {
    if (w.filter_broken) w.filter.forget();
    w.filter_broken = breaks_filter(w.late_test);
    install_filter(w.test, w.filter);
    w.late_test.filter = &w.filter;
  }
  w.list_draw = false;
  if (w.lists.active) {
    w.list_draw = w.route == Route::visibility && w.early == EarlyTests::full && hsr::serves(w.test, w.list_test);
    if (!w.list_draw) hsr::expand_lists(w);
  }
  w.sample_mask = 0;
  for (uint32_t s = 0; s < w.samples; s++)
    if (info.multisample.sample_mask >> s & 1) w.sample_mask |= uint64_t{0xf} << 4 * s;
  w.masks_samples = w.sample_mask != w.all_samples;
}

void select_draw(Worker& w, uint32_t draw) {
  if (!w.kill.retains) release_queue(w);
  const exec::DrawCall& call = w.pass->draws[draw];
  w.draw = draw;
  if (call.state != w.state || w.phase != Phase::ordinary) select_state(w, *call.state);
  w.early_query = w.early == EarlyTests::full && w.phase != Phase::main ? call.query : -1;
  const pipeline::Compiled& compiled = w.state->pipeline->compiled();
  const pipeline::Classification& c = compiled.classification;
  if (w.kill.on) {
    KillQueue& kill = w.kill;
    const uint8_t colors = static_cast<uint8_t>(compiled.written_targets);
    kill.retains = w.phase == Phase::ordinary && !w.hidden_surface_removal && w.route == Route::shade && w.early == EarlyTests::full &&
                   !compiled.fragment_traits.reads_tile;
    if (!kill.retains) release_queue(w);
    kill.colors = colors;
    kill.killer = w.route == Route::shade && w.early == EarlyTests::full && !c.kills && !compiled.fragment_traits.reads_tile &&
                  w.phase == Phase::ordinary && colors && c.overwritten_colors == colors;
    kill.victim = !c.side_effects && w.early == EarlyTests::full;
  }
  hsr::lrz_select_draw(w.lrz, draw);
  if (w.route == Route::shade) {
    if (w.phase == Phase::ordinary && !w.visible.empty() && (c.reads_tile || (c.writes_color && !c.opaque))) hsr::flush_visibility(w);
    if (w.kill.on && w.phase != Phase::pre) {
      if (w.kill.first == w.kill.end && !w.queue_count) w.setups.reset();
    } else {
      w.setups.reset();
      bind_shading(w, draw, w.early, false);
    }
  }
}

uint32_t count_pixels(const uint16_t* masks, uint32_t samples) {
  uint32_t any = 0;
  for (uint32_t s = 0; s < samples; s++) any |= masks[s];
  return static_cast<uint32_t>(std::popcount(any));
}

/// Where the coverage of one record goes.
class RecordSink {
 public:
  RecordSink(Worker& w, const geometry::TriangleRecord& record, const geometry::Chunk& chunk) : w_(w), record_(record), chunk_(chunk) {
    if (w.phase != Phase::main || !w.prepass.opaque_replay) return;
    uint32_t& next = w.prepass.replay_next;
    if (next < w.visible.size() && w.visible[next].record == &record) id_ = ++next;
  }

  /// The depth plane was set up with others.
  void set_depth(const TriangleBatch& batch, uint32_t lane) {
    depth_ = batch_depth(batch, lane, static_cast<uint32_t>(w_.visible.size()) + 1, record_.draw_flags & geometry::kFrontFacing ? 0 : 1);
    ready_ = true;
  }

  /// A small triangle, one sample.
  void window(const TriangleBatch& batch, uint32_t lane) {
    uint32_t covered = BatchEdges(batch, lane).covered(0, 0);
    const int32_t x = batch.window_x[lane], y = batch.window_y[lane];
    if (batch.cut >> lane & 1) covered &= detail::rect_bits(w_.rect, x, y);
    if (!covered || w_.masks_samples) return;
    w_.counters.fragments_rasterized += static_cast<uint32_t>(std::popcount(covered));
    const uint32_t column0 = static_cast<uint32_t>((x >> 2) * 16 + (x & 2) * 2),
                   column1 = static_cast<uint32_t>(((x + 2) >> 2) * 16 + ((x + 2) & 2) * 2);
    const uint32_t pitch = w_.blocks_per_row * 16;
    const uint32_t row0 = static_cast<uint32_t>(y >> 2) * pitch + static_cast<uint32_t>(y & 2) * 4;
    const uint32_t row1 = static_cast<uint32_t>((y + 2) >> 2) * pitch + static_cast<uint32_t>((y + 2) & 2) * 4;
    const uint32_t tile_pixels[4] = {row0 + column0, row0 + column1, row1 + column0, row1 + column1};
    uint32_t live = covered;
    if (w_.early != EarlyTests::none) {
      live = w_.test.functions.window(w_.test, batch, lane, static_cast<uint32_t>(w_.visible.size()) + 1,
                                      record_.draw_flags & geometry::kFrontFacing ? 0 : 1, tile_pixels, w_.origin_x_px + x,
                                      w_.origin_y_px + y, covered);
      w_.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(covered & ~live));
      if (w_.early_query >= 0) w_.query_samples[static_cast<uint32_t>(w_.early_query)] += static_cast<uint32_t>(std::popcount(live));
      if (!live) return;
    }
    if (w_.route == Route::visibility) {
      see(live);
    } else if (w_.route == Route::shade) {
      for (uint32_t q = 0; q < 4; q++)
        if (const uint32_t bits = live >> 4 * q & 0xf)
          push({setup(), tile_pixels[q], static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
                static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), covered >> 4 * q & 0xf, bits});
    }
  }

  /// A triangle of some blocks, not small, one sample; the depth plane is set.
  __attribute__((noinline)) void blocks(const TriangleBatch& batch, uint32_t lane) {
    const BatchEdges edges(batch, lane);
    const bool cut = batch.cut >> lane & 1;
    const int32_t x0 = batch.window_x[lane], y0 = batch.window_y[lane], x1 = batch.end_x[lane], y1 = batch.end_y[lane];
    for (int32_t y = y0; y < y1; y += 4)
      for (int32_t x = x0; x < x1; x += 4) {
        uint32_t covered = edges.covered((x - x0) * 256, (y - y0) * 256);
        if (cut) covered &= detail::rect_bits(w_.rect, x, y);
        if (covered) single_block(x >> 2, y >> 2, covered);
      }
  }

  /// The same with more samples.
  __attribute__((noinline)) void blocks_of_samples(const TriangleBatch& batch, uint32_t lane) {
    const bool cut = batch.cut >> lane & 1;
    const int32_t x0 = batch.window_x[lane], y0 = batch.window_y[lane], x1 = batch.end_x[lane], y1 = batch.end_y[lane];
    const SampleEdges edges(batch, lane, w_.samples);
    i32x4 row = edges.corner;
    for (int32_t y = y0; y < y1; y += 4, row += edges.step_y) {
      i32x4 corner = row;
      for (int32_t x = x0; x < x1; x += 4, corner += edges.step_x) {
        if (sign_bits(corner + edges.most) & 7) continue;  // all of the block is outside an edge
        const uint32_t allowed = cut ? detail::rect_bits(w_.rect, x, y) : 0xffff;
        alignas(32) uint16_t masks[kMaxSamples] = {};
        if (edges.cover(corner, w_.samples, allowed * 0x10001u, masks)) block(x >> 2, y >> 2, masks);
      }
    }
  }

  void quad(int32_t x, int32_t y, uint64_t coverage) {
    coverage &= w_.sample_mask;
    if (!coverage) return;
    const uint32_t pixels = covered_pixels(coverage);
    w_.counters.fragments_rasterized += static_cast<uint32_t>(std::popcount(pixels));
    const uint32_t block = w_.block_of(x >> 2, y >> 2);
    if (w_.list_draw && list_quad(block, x, y, coverage)) return;
    const uint32_t tile_pixel = block * 16 + static_cast<uint32_t>((y & 2) * 4 + (x & 2) * 2);
    uint64_t live = coverage;
    if (w_.early != EarlyTests::none) {
      prepare();
      live = w_.test.functions.quad(w_.test, depth_, tile_pixel, w_.origin_x_px + x, w_.origin_y_px + y, coverage);
      w_.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(pixels & ~covered_pixels(live)));
      if (w_.early_query >= 0) w_.query_samples[static_cast<uint32_t>(w_.early_query)] += static_cast<uint32_t>(std::popcount(live));
      if (!live) return;
    }
    if (w_.route == Route::visibility) {
      see(covered_pixels(live));
    } else if (w_.route == Route::shade) {
      push({setup(), tile_pixel, static_cast<uint16_t>(x), static_cast<uint16_t>(y), coverage, live});
    }
  }

  void block(int32_t block_x, int32_t block_y, const uint16_t* masks) {
    if (w_.samples == 1) {
      single_block(block_x, block_y, masks[0]);
      return;
    }
    if (w_.lrz.now) {
      prepare();
      if (lrz_hidden(block_x, block_y, 1)) return;
    }
    uint16_t limited[kMaxSamples] = {};
    if (w_.masks_samples) {
      for (uint32_t s = 0; s < w_.samples; s++) limited[s] = w_.sample_mask >> 4 * s & 1 ? masks[s] : 0;
      masks = limited;
    }
    const uint32_t block = w_.block_of(block_x, block_y);
    if (w_.list_draw && list_block(block, block_x, block_y, hsr::load_masks(masks) & w_.lists.all)) return;
    const uint32_t pixels = count_pixels(masks, w_.samples);
    if (!pixels) return;
    w_.counters.fragments_rasterized += pixels;
    if (w_.early == EarlyTests::none) {
      push_block(block, block_x * 4, block_y * 4, masks, masks);
      return;
    }
    prepare();
    uint16_t live[kMaxSamples];
    w_.test.functions.block(w_.test, depth_, block, w_.origin_x_px + block_x * 4, w_.origin_y_px + block_y * 4, masks, live);
    after_tests(block, block_x * 4, block_y * 4, pixels, masks, live);
  }

  void full_span(int32_t block_x, int32_t block_y, int32_t count) {
    if (w_.masks_samples) {
      uint16_t all[kMaxSamples] = {};
      std::fill_n(all, w_.samples, uint16_t{0xffff});
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

  // What low-resolution Z left of a row of whole blocks.
  void seen_span(int32_t block_x, int32_t block_y, int32_t count) {
    w_.counters.fragments_rasterized += 16u * static_cast<uint32_t>(count);
    if (w_.early == EarlyTests::none || !w_.test.far) {
      test_span(block_x, block_y, count);
      return;
    }
    prepare();
    for (int32_t i = 0; i < count; i += 8) {
      const int32_t n = std::min(count - i, 8);
      const uint32_t present = (1u << n) - 1;
      const uint32_t hidden = present & hidden_blocks(w_.test, depth_, w_.block_of(block_x + i, block_y),
                                                      w_.origin_x_px + (block_x + i) * 4, w_.origin_y_px + block_y * 4);
      w_.counters.fragments_early_killed += 16u * static_cast<uint32_t>(std::popcount(hidden));
      w_.counters.fragments_killed_by_hierarchical_z += 16u * static_cast<uint32_t>(std::popcount(hidden));
      for (uint32_t left = present & ~hidden; left;) {
        const int32_t first = std::countr_zero(left), run = std::countr_one(left >> first);
        left &= ~(((1u << run) - 1) << first);
        test_span(block_x + i + first, block_y, run);
      }
    }
  }

  /// After the last of its samples.
  void finish() {
    if (!seen_) return;
    if (w_.visible_draws.empty() || w_.visible_draws.back() != w_.draw) w_.visible_draws.push_back(w_.draw);
    w_.visible.push_back({&record_, &chunk_, nullptr, static_cast<uint32_t>(w_.visible_draws.size() - 1)});
  }

 private:
  static constexpr uint16_t kAll[kMaxSamples] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                                 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff};

  // Blocks (of up to eight side by side, by bit) that low-resolution Z hides; only where it is tested.
  uint32_t lrz_hidden(int32_t block_x, int32_t block_y, uint32_t present) {
    const uint32_t hidden = present & hsr::lrz_hidden_blocks(w_.lrz, depth_, w_.samples, w_.block_of(block_x, block_y),
                                                             w_.origin_x_px + block_x * 4, w_.origin_y_px + block_y * 4);
    w_.counters.lrz_blocks_rejected += static_cast<uint32_t>(std::popcount(hidden));
    return hidden;
  }

  // A block with one sample.
  void single_block(int32_t block_x, int32_t block_y, uint32_t covered) {
    if (w_.masks_samples) return;
    if (w_.lrz.now) {
      prepare();
      if (lrz_hidden(block_x, block_y, 1)) return;
    }
    w_.counters.fragments_rasterized += static_cast<uint32_t>(std::popcount(covered));
    const uint32_t block = w_.block_of(block_x, block_y);
    uint32_t live = covered;
    if (w_.early != EarlyTests::none) {
      prepare();
      live = w_.test.functions.single(w_.test, depth_, block, w_.origin_x_px + block_x * 4, w_.origin_y_px + block_y * 4, covered);
      w_.counters.fragments_early_killed += static_cast<uint32_t>(std::popcount(covered & ~live));
      if (!live) return;
      if (w_.early_query >= 0) w_.query_samples[static_cast<uint32_t>(w_.early_query)] += static_cast<uint32_t>(std::popcount(live));
    }
    if (w_.route == Route::visibility) {
      see(live);
      return;
    }
    if (w_.route != Route::shade) return;
    const uint16_t covered_mask = static_cast<uint16_t>(covered), live_mask = static_cast<uint16_t>(live);
    if (live == 0xffff)
      push_full_block(block, block_x * 4, block_y * 4);
    else
      push_block(block, block_x * 4, block_y * 4, &covered_mask, &live_mask);
  }

  // A block of the list; false: it is in the buffers (now).
  bool list_block(uint32_t block, int32_t block_x, int32_t block_y, hsr::SampleMasks covered) {
    if (w_.lists.count[block] >= hsr::kBlockEntries) {
      if (w_.lists.count[block] != hsr::kInBuffers) hsr::expand_list(w_, block);
      return false;
    }
    const uint32_t pixels = static_cast<uint32_t>(std::popcount(hsr::pixels_of(covered)));
    if (!pixels) return true;
    w_.counters.fragments_rasterized += pixels;
    test_list(block, block_x, block_y, covered, pixels);
    return true;
  }
  bool list_quad(uint32_t block, int32_t x, int32_t y, uint64_t coverage) {
    if (w_.lists.count[block] >= hsr::kBlockEntries) {
      if (w_.lists.count[block] != hsr::kInBuffers) hsr::expand_list(w_, block);
      return false;
    }
    const int32_t shift = (y & 2) * 4 + (x & 2) * 2;
    hsr::SampleMasks covered{};
    for (uint32_t s = 0; s < w_.samples; s++) covered[s] = static_cast<uint16_t>((coverage >> 4 * s & 0xf) << shift);
    test_list(block, x >> 2, y >> 2, covered, static_cast<uint32_t>(std::popcount(covered_pixels(coverage))));
    return true;
  }
  // `pixels` of it were counted as rasterized.
  void test_list(uint32_t block, int32_t block_x, int32_t block_y, hsr::SampleMasks covered, uint32_t pixels) {
    prepare();
    const uint32_t next = static_cast<uint32_t>(w_.lists.planes.size());
    const hsr::SampleMasks pass =
        hsr::insert(w_, depth_, listed_ ? next - 1 : next, block, w_.origin_x_px + block_x * 4, w_.origin_y_px + block_y * 4, covered);
    const uint32_t passed = static_cast<uint32_t>(std::popcount(hsr::pixels_of(pass)));
    w_.counters.fragments_early_killed += pixels - passed;
    if (!passed) return;
    if (!listed_) w_.lists.planes.push_back(depth_);
    listed_ = true;
    seen_ = true;
    if (w_.early_query >= 0) w_.query_samples[static_cast<uint32_t>(w_.early_query)] += hsr::count_samples(pass);
  }

  // Whole blocks side by side: tests, and on from there. They are counted as rasterized.
  void test_span(int32_t block_x, int32_t block_y, int32_t count) {
    if (!w_.list_draw) return test_buffers(block_x, block_y, count);
    for (int32_t i = 0; i < count; i++) {
      const uint32_t block = w_.block_of(block_x + i, block_y);
      if (w_.lists.count[block] >= hsr::kBlockEntries && w_.lists.count[block] != hsr::kInBuffers) hsr::expand_list(w_, block);
      if (w_.lists.count[block] == hsr::kInBuffers)
        test_buffers(block_x + i, block_y, 1);
      else
        test_list(block, block_x + i, block_y, w_.lists.all, 16);
    }
  }
  void test_buffers(int32_t block_x, int32_t block_y, int32_t count) {
    const uint32_t first = w_.block_of(block_x, block_y), blocks = static_cast<uint32_t>(count);
    uint16_t* live = w_.pass_masks.data();
    uint32_t passed = 16 * blocks;
    if (w_.early != EarlyTests::none) {
      prepare();
      passed = w_.test.functions.span(w_.test, depth_, first, blocks, w_.origin_x_px + block_x * 4, w_.origin_y_px + block_y * 4, live);
      w_.counters.fragments_early_killed += 16 * blocks - passed;
      if (!passed) return;
      if (w_.early_query >= 0)
        for (uint32_t i = 0; i < blocks * w_.samples; i++)
          w_.query_samples[static_cast<uint32_t>(w_.early_query)] += static_cast<uint32_t>(std::popcount(live[i]));
    } else {
      std::fill_n(live, blocks * w_.samples, uint16_t{0xffff});
    }
    if (w_.route == Route::visibility) {
      seen_ = true;
      w_.prepass.recorded += passed;
    }
    if (w_.route != Route::shade) return;
    for (uint32_t i = 0; i < blocks; i++, live += w_.samples) {
      uint32_t all = 0xffff;
      for (uint32_t s = 0; s < w_.samples; s++) all &= live[s];
      const int32_t x = (block_x + static_cast<int32_t>(i)) * 4, y = block_y * 4;
      if (all == 0xffff)
        push_full_block(first + i, x, y);
      else
        push_block(first + i, x, y, kAll, live);
    }
  }

  void prepare() {
    if (ready_) return;
    ready_ = true;
    set_up_depth(record_, w_.test, depth_);
    depth_.id = static_cast<uint32_t>(w_.visible.size()) + 1;
  }
  const shader::PrimitiveSetup* setup() {
    if (!setup_) {
      // Setups of quads that no longer wait are given back now and then, so that a bin with a million primitives needs no more.
      if (w_.setups.used() >= kMaxVisible) {
        release_queue(w_);
        w_.setups.reset();
      }
      shader::PrimitiveSetup* setup = w_.setups.allocate();
      set_up_primitive(record_, chunk_, w_.test, static_cast<uint32_t>(w_.setups.used()), *setup);
      if (w_.phase == Phase::pre) setup->order = static_cast<uint32_t>(w_.visible.size()) + 1;
      if (w_.phase == Phase::main) setup->order = id_;
      setup_ = setup;
    }
    return setup_;
  }

  void after_tests(uint32_t block, int32_t x, int32_t y, uint32_t pixels, const uint16_t* covered, const uint16_t* live) {
    const uint32_t passed = count_pixels(live, w_.samples);
    w_.counters.fragments_early_killed += pixels - passed;
    if (!passed) return;
    if (w_.early_query >= 0)
      for (uint32_t s = 0; s < w_.samples; s++)
        w_.query_samples[static_cast<uint32_t>(w_.early_query)] += static_cast<uint32_t>(std::popcount(live[s]));
    if (w_.route == Route::visibility) {
      seen_ = true;
      w_.prepass.recorded += passed;
    } else if (w_.route == Route::shade) {
      push_block(block, x, y, covered, live);
    }
  }

  void push_block(uint32_t block, int32_t x, int32_t y, const uint16_t* covered, const uint16_t* live) {
    for (uint32_t q = 0; q < 4; q++) {
      const uint64_t bits = gather_quad(live, w_.samples, q);
      if (!bits) continue;
      const uint64_t raster = covered == live ? bits : gather_quad(covered, w_.samples, q);
      push({setup(), block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
            static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), raster, bits});
    }
  }

  void push_full_block(uint32_t block, int32_t x, int32_t y) {
    const shader::PrimitiveSetup* primitive = setup();
    if (w_.phase == Phase::pre) seen_ = w_.prepass.verdict.opaque;
    if (!w_.waiting[block] && !w_.kill.on && w_.phase != Phase::main) {
      shade_block(w_, primitive, block, x, y);
      return;
    }
    for (uint32_t q = 0; q < 4; q++)  // behind the quads that wait there
      push({primitive, block * 16 + q * 4, static_cast<uint16_t>(x + static_cast<int32_t>(q & 1) * 2),
            static_cast<uint16_t>(y + static_cast<int32_t>(q >> 1) * 2), w_.all_samples, w_.all_samples});
  }

  // Its number is in the ids now.
  void see(uint32_t pixels) {
    seen_ = true;
    w_.prepass.recorded += static_cast<uint32_t>(std::popcount(pixels));
  }

  void push(WaitingQuad quad) {
    if (w_.phase == Phase::pre) {
      seen_ = w_.prepass.verdict.opaque;
    } else if (w_.phase == Phase::main && !w_.state->pipeline->compiled().classification.side_effects) {
      const uint64_t hidden = hsr::overdrawn_samples(w_, quad.tile_pixel, quad.live, w_.prepass.replay_ids);
      w_.counters.fragments_killed_by_prepass +=
          static_cast<uint32_t>(std::popcount(covered_pixels(quad.live) & ~covered_pixels(quad.live & ~hidden)));
      quad.live &= ~hidden;
      if (!quad.live) return;
    }
    emit_quad(w_, quad);
  }

  Worker& w_;
  const geometry::TriangleRecord& record_;
  const geometry::Chunk& chunk_;
  PrimitiveDepth depth_;  // once ready_
  const shader::PrimitiveSetup* setup_ = nullptr;
  bool ready_ = false, seen_ = false, listed_ = false;
  uint32_t id_ = 0;  // main phase: in the ids; 0: nothing of it is seen
};

// The main phase draws these entries again.
void note_replay(Worker& w, const geometry::BinSegment& segment, uint32_t first, uint32_t count) {
  std::vector<Replay>& replays = w.prepass.replays;
  if (!replays.empty()) {
    Replay& last = replays.back();
    if (last.segment == &segment && last.draw == w.draw && last.first + last.count == first) {
      last.count += count;
      return;
    }
  }
  replays.push_back({&segment, first, count, w.draw, static_cast<uint32_t>(w.visible.size()), !w.prepass.skips, w.prepass.verdict.opaque});
}

}  // namespace

uint32_t draw_entries(Worker& w, const geometry::BinSegment& segment, uint32_t from, uint32_t to) {
  const geometry::Chunk& chunk = *segment.chunk;
  const uint32_t* entries = chunk.entries.data() + segment.first;
  const geometry::TriangleRecord* records = chunk.records.data();
  for (uint32_t i = from; i < to;) {
    // Up to eight records of one draw.
    const geometry::TriangleRecord* batch[kBatch];
    batch[0] = &records[entries[i]];
    const uint32_t draw = batch[0]->draw_flags & geometry::kDrawMask;
    const uint32_t most = std::min(to - i, kBatch);
    uint32_t count = 1;
    for (; count < most; count++) {
      batch[count] = &records[entries[i + count]];
      if ((batch[count]->draw_flags & geometry::kDrawMask) != draw) break;
    }
    if (w.phase == Phase::pre) {
      if (w.visible.size() + kBatch > kMaxVisible) return i;
      if (draw != w.draw) {
        if (!hsr::enter_prepass_draw(w, draw)) return i;
        if (w.prepass.skips) {
          release_queue(w);
          w.draw = draw;
          w.state = nullptr;
        }
      }
    }
    i += count;
    for (uint32_t k = 0; k < kBatch && i + k < to; k++) __builtin_prefetch(&records[entries[i + k]]);
    if (draw != w.draw) select_draw(w, draw);
    if (w.phase == Phase::pre) {
      if (w.prepass.replays_draw) note_replay(w, segment, i - count, count);
      if (w.prepass.skips) continue;
    }
    if (w.phase == Phase::ordinary && w.visible.size() + kBatch > kMaxVisible && w.route == Route::visibility) hsr::flush_visibility(w);

    if (w.lrz.now) {
      uint32_t kept = 0;
      for (uint32_t k = 0; k < count; k++) {
        batch[kept] = batch[k];
        kept += !hsr::lrz_hides(w.lrz, *batch[k], w.test, w.origin_x_px, w.origin_y_px, w.rect);
      }
      w.counters.lrz_primitives_tested += count;
      w.counters.lrz_primitives_rejected += count - kept;
      count = kept;
      if (!count) continue;
    }

    if (count < kWorthBatching) {
      for (uint32_t k = 0; k < count; k++) {
        RecordSink sink(w, *batch[k], chunk);
        cover_triangle(*batch[k], w.origin_x_px, w.origin_y_px, w.rect, w.samples, sink);
        sink.finish();
        if (w.one_by_one) release_queue(w);
      }
      continue;
    }
    std::fill(batch + count, batch + kBatch, batch[0]);
    TriangleBatch setup;
    prepare_batch(batch, count, w.origin_x_px, w.origin_y_px, w.rect, w.samples, w.test.range_lo, w.test.range_hi, setup);
    for (uint32_t left = ((1u << count) - 1) & ~setup.outside; left; left &= left - 1) {
      const uint32_t k = static_cast<uint32_t>(std::countr_zero(left));
      RecordSink sink(w, *batch[k], chunk);
      if (setup.small >> k & 1) {
        sink.window(setup, k);
      } else if (setup.medium >> k & 1) {
        sink.set_depth(setup, k);
        if (w.samples == 1)
          sink.blocks(setup, k);
        else
          sink.blocks_of_samples(setup, k);
      } else {
        sink.set_depth(setup, k);
        cover_triangle(*batch[k], w.origin_x_px, w.origin_y_px, w.rect, w.samples, sink);
      }
      sink.finish();
      if (w.one_by_one) release_queue(w);
    }
  }
  return to;
}

TileWorker::TileWorker() : state_(std::make_unique<State>()) { std::memset(&state_->args, 0, sizeof state_->args); }
TileWorker::~TileWorker() = default;
TileWorker::TileWorker(TileWorker&&) noexcept = default;

void TileWorker::begin_pass(const PassContext& pass) {
  Worker& w = *state_;
  w.pass = &pass;
  w.bin_px = pass.tile.bin_px;
  w.blocks_per_row = w.bin_px / 4;
  w.row_shift = static_cast<uint32_t>(std::countr_zero(w.blocks_per_row));
  w.samples = pass.samples;
  w.quads_per_packet = pass.lanes / 4;
  w.all_samples = w.samples == 16 ? ~uint64_t{0} : (uint64_t{1} << 4 * w.samples) - 1;
  w.memory.reserve(std::max<uint32_t>(pass.tile.size_B, 64));
  w.counters = {};
  w.ledger = {};
  w.query_samples.assign(pass.query_count, 0);
  w.hidden_surface_removal = pass.hsr.visibility_buffer;
  const size_t blocks = size_t{w.blocks_per_row} * w.blocks_per_row;
  w.waiting.assign(blocks, 0);
  w.dirty.assign(blocks, 0);
  w.pass_masks.resize(size_t{w.blocks_per_row} * w.samples);
  w.hierarchical_z = pass.hsr.hierarchical_z;
  w.far.resize(blocks + 8);  // eight are read at once
  w.filter.begin_pass(pass.filter_planes, w.samples, w.bin_px);
  w.prepass.enabled = pass.hsr.pre_pass;
  w.prepass.stops.clear();
  w.prepass.tiles = 0;
  w.phase = Phase::ordinary;
  w.kill.on = pass.hsr.forward_pixel_kill;
  w.kill.retains = false;
  if (w.kill.on) {
    w.kill.capacity = std::max(1u, pass.fpk_quads);
    w.kill.quads.resize(w.kill.capacity);
    w.kill.newest.assign(blocks * 4, 0);
    w.kill.first = w.kill.end = 0;
  }
  w.bound_draw = ~0u;
  w.ids = nullptr;
  if (w.hidden_surface_removal || w.prepass.enabled) {
    const size_t size_B = blocks * w.samples * 64;
    w.ids_memory.reserve(size_B);
    w.ids = reinterpret_cast<uint32_t*>(w.ids_memory.data());
    std::memset(w.ids, 0, size_B);  // and every flush leaves it zero
  }
  w.queue_count = 0;
  w.visible.clear();
  w.visible_draws.clear();
  shader::FragmentArgs& args = w.args;
  for (uint32_t t = 0; t < shader::kMaxTargets; t++)
    args.target[t] = pass.tile.color[t].words ? w.memory.data() + pass.tile.color[t].offset_B : nullptr;
  args.tile_depth = pass.tile.depth.words ? w.memory.data() + pass.tile.depth.offset_B : nullptr;
  args.tile_stencil = pass.tile.stencil.words ? w.memory.data() + pass.tile.stencil.offset_B : nullptr;
  args.sample_positions = sample_positions(w.samples);
  const VkRect2D& area = pass.render_area;
  args.area_x0_px = area.offset.x;
  args.area_y0_px = area.offset.y;
  args.area_x1_px = area.offset.x + static_cast<int32_t>(area.extent.width);
  args.area_y1_px = area.offset.y + static_cast<int32_t>(area.extent.height);
  w.equal = framebuffer::equal_quads(pass.tile, w.memory.data());
}

void TileWorker::run(const PassContext& pass, uint32_t bin) {
  Worker& w = *state_;
  w.pass = &pass;
  const uint32_t mxcsr = _mm_getcsr();
  _mm_setcsr(0x1f80);  // round to nearest even, denormals kept, no traps: whatever the thread's owner set
  const geometry::BinnedGeometry& binned = *pass.geometry;
  const geometry::BinGrid& grid = binned.grid;
  assert(grid.bin_px == w.bin_px);
  w.origin_x_px = grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px);
  w.origin_y_px = grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px);
  w.draw = ~0u;
  w.state = nullptr;
  w.far_broken = w.filter_broken = false;
  w.filter.begin_bin(pass.depth_holds_far);
  hsr::lrz_begin_bin(w.lrz, pass.lrz, w.origin_x_px, w.origin_y_px, w.bin_px);
  std::fill(w.far.begin(), w.far.end(), INT32_MAX);
  w.last_flush = false;
  w.lists.active = w.list_draw = false;
  if (pass.block_lists) hsr::begin_lists(w, pass.depth_background);
  bool may_start = w.prepass.enabled;
  const uint32_t end = binned.first_segment[bin + 1];
  for (uint32_t i = binned.first_segment[bin]; i < end; i++) {
    const geometry::BinSegment& segment = binned.segments[i];
    if (const exec::ClearCall* clear = segment.chunk->clear) {
      flush_all(w);
      hsr::expand_lists(w);
      w.draw = ~0u;
      w.state = nullptr;
      std::fill(w.far.begin(), w.far.end(), INT32_MAX);
      w.filter_broken = false;
      if (w.filter.on()) w.filter.forget();
      framebuffer::TileRegion region;
      region.x_px = w.origin_x_px;
      region.y_px = w.origin_y_px;
      region.layer = pass.layer;
      framebuffer::clear_in_tile(pass.tile, region, clear->attachment, clear->aspects, clear->value, clear->rect, w.memory.data());
    } else {
      // Clears before the first draw come before the pre-pass; one after it ends it.
      uint32_t at = 0;
      while (may_start) may_start = hsr::run_prepass(w, i, at, end);
      if (i == end) break;
      const geometry::BinSegment& rest = binned.segments[i];
      if (rest.chunk->clear)
        i--;
      else
        draw_entries(w, rest, at, rest.count);
    }
  }
  w.last_flush = true;
  flush_all(w);
  if (pass.keeps_depth) hsr::expand_lists(w);
  _mm_setcsr(mxcsr);
}

uint8_t* TileWorker::memory() { return state_->memory.data(); }
stats::FragmentCounters& TileWorker::counters() { return state_->counters; }
const hsr::FilterCounters& TileWorker::filter_counters() const { return state_->filter.counters; }
stats::Ledger& TileWorker::ledger() { return state_->ledger; }
void TileWorker::add_prepass_stops(PassStats& stats) const {
  stats.prepass_tiles += state_->prepass.tiles;
  for (const PrepassStopCount& stop : state_->prepass.stops) {
    const hsr::Verdict& v = stop.verdict;
    std::string reason = v.reason;
    if (v.line && !v.line->empty()) reason += " (" + *v.line + ")";
    const auto same = [&](const PrepassStop& other) {
      return other.draw == stop.draw && other.rule == v.rule && other.reason == reason && other.because_of == v.because_of;
    };
    const auto found = std::find_if(stats.prepass_stops.begin(), stats.prepass_stops.end(), same);
    if (found != stats.prepass_stops.end())
      found->tiles += stop.tiles;
    else
      stats.prepass_stops.push_back({stop.draw, v.rule, std::move(reason), v.because_of, stop.tiles});
  }
}
uint64_t TileWorker::query_samples(uint32_t query) const { return query < state_->query_samples.size() ? state_->query_samples[query] : 0; }

}  // namespace tilegpu::raster
