// tile/tile_job.cpp -- stage: tile phase, the job of one bin. In: the bin's segments. Out: tile memory, counters.
//
// Each record is covered, tested early where its draw allows that, and goes one of three ways: nothing more (depth only), the
// visibility buffer (opaque draws: shaded at the flush, once), or the quad queue. A change of draw empties the queue; a draw
// that needs to see the colours below it, and a clear, flush the visibility buffer first.
// Source: docs/architecture.md, "The way of the data"; docs/decisions.md, 8; Vulkan specification, "Rasterization Order".
#include "tile/variant.hpp"

#include "hsr/explain.hpp"
#include "tile/tile_job.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "tile/filtered_tests.hpp"
#include "tile/near_to_far.hpp"
#include "tile/record_sink.hpp"
#include "tile/worker.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile {

template <bool kWithTrace>
struct BasicTileWorker<kWithTrace>::State : Worker {};

namespace {

void flush_all(Worker& w) {
  release_queue(w);
  if (!w.visible.empty()) flush_visibility(w);
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

PixelRect draw_rect(const Worker& w, const command::DrawState& state) {
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

uint64_t raster_coverage(const Worker& w, uint32_t draw, const records::TriangleRecord& record, int32_t x_px, int32_t y_px) {
  const command::DrawState& state = *w.pass->draws[draw].state;
  const PixelRect rect = draw_rect(w, state);
  uint64_t coverage = cover_quad(record, w.origin_x_px + x_px, w.origin_y_px + y_px, w.samples);
  const uint32_t sample_mask = state.multisample.sample_mask;
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
void select_state(Worker& w, const command::DrawState& state) {
  const pipeline::Resolved& resolved = *state.resolved;
  const pipeline::Classification& c = resolved.classification;
  w.state = &state;
  w.rect = draw_rect(w, state);
  int32_t* far = w.hierarchical_z ? w.far.data() : nullptr;
  w.late_test = make_test_state(state, w.pass->tile, w.memory.data(), nullptr, nullptr, far, true);
  if (w.far_broken) reset_far(w, INT32_MAX);
  w.far_broken = w.late_test.breaks_far();
  w.one_by_one = c.pins_order;
  const hsr::Verdict& verdict = w.prepass.verdict;
  w.late_needed = w.late_test.depth_test || w.late_test.stencil_test || w.late_test.bounds_test;
  if (!resolved.fragment || (c.early_test && c.early_write))
    w.early = EarlyTests::full;
  else
    w.early = c.early_test && kills_early(w.late_test) ? EarlyTests::kill : EarlyTests::none;
  w.route = resolved.fragment ? Route::shade : Route::nothing;
  if (w.phase == Phase::pre) {
    if (!c.needs_slice || !resolved.fragment) {
      w.early = EarlyTests::full;
      w.route = verdict.opaque ? Route::visibility : Route::nothing;
    }
  } else if (w.phase == Phase::main) {
    if (c.side_effects && (w.prepass.opaque_replay || verdict.writes_zs))
      w.early = EarlyTests::none;  // depth is final, every fragment runs
  } else if (w.route == Route::shade && !hsr::visibility_obstacle(state, w.hidden_surface_removal))
    w.route = Route::visibility;
  w.test = w.early == EarlyTests::full && w.route == Route::shade
               ? w.late_test
               : make_test_state(state, w.pass->tile, w.memory.data(), w.route == Route::visibility ? w.ids : nullptr, w.dirty.data(),
                                 far, w.early == EarlyTests::full);
  w.test.stale = w.late_test.stale = &w.stale;
  if (w.filter.on()) {
    if (w.filter_broken) w.filter.forget();
    w.filter_broken = breaks_filter(w.late_test);
    install_filter(w.test, w.filter);
    w.late_test.filter = &w.filter;
  }
  w.list_draw = false;
  if (w.lists.active) {
    w.list_draw = w.route == Route::visibility && w.early == EarlyTests::full && serves(w.test, w.list_test);
    if (!w.list_draw) expand_lists(w);
  }
  if (w.covers.active) {
    w.cover_draw = w.phase == Phase::ordinary && w.route == Route::visibility && w.early == EarlyTests::full && covers_serve(w.test);
    if (w.cover_draw) {
      w.test.near = w.covers.near.data();
    } else {
      expand_covers(w);
      if (w.late_test.depth_write) forget_near(w);
    }
  }
  w.sample_mask = 0;
  for (uint32_t s = 0; s < w.samples; s++)
    if (state.multisample.sample_mask >> s & 1) w.sample_mask |= uint64_t{0xf} << 4 * s;
  w.masks_samples = w.sample_mask != w.all_samples;
  w.place.cut(w.rect);
  const bool wide = !kTraced && w.wide && w.route == Route::visibility && w.early == EarlyTests::full && !w.masks_samples;
  w.wide_triangles = wide ? wide_triangles(w.test) : nullptr;
}

}  // namespace

void select_draw(Worker& w, uint32_t draw) {
  if (!w.kill.retains) release_queue(w);
  const command::DrawCall& call = w.pass->draws[draw];
  w.draw = draw;
  if (call.state != w.state || w.phase != Phase::ordinary) select_state(w, *call.state);
  w.early_query = w.early == EarlyTests::full && w.phase != Phase::main ? call.query : -1;
  const pipeline::Resolved& resolved = *w.state->resolved;
  const pipeline::Classification& c = resolved.classification;
  if (w.kill.on) {
    KillQueue& kill = w.kill;
    const uint8_t colors = static_cast<uint8_t>(resolved.written_targets);
    kill.retains = w.phase == Phase::ordinary && !w.hidden_surface_removal && w.route == Route::shade && w.early == EarlyTests::full &&
                   !resolved.fragment_traits.reads_tile;
    if (!kill.retains) release_queue(w);
    kill.colors = colors;
    kill.killer = w.route == Route::shade && w.early == EarlyTests::full && !c.kills && !resolved.fragment_traits.reads_tile &&
                  w.phase == Phase::ordinary && colors && c.overwritten_colors == colors;
    kill.victim = !c.side_effects && w.early == EarlyTests::full;
  }
  lrz_select_draw(w.lrz, draw);
  if (w.route == Route::shade) {
    if (w.phase == Phase::ordinary && !w.visible.empty() && (c.reads_tile || (c.writes_color && !c.opaque))) flush_visibility(w);
    if (w.kill.on && w.phase != Phase::pre) {
      if (w.kill.first == w.kill.end && !w.queue_count) w.setups.reset();
    } else {
      w.setups.reset();
      w.vertices.reset_if_large();
      bind_shading(w, draw, w.early, false);
    }
  }
}

namespace {

// The main phase draws these entries again.
void note_replay(Worker& w, const records::BinSegment& segment, uint32_t first, uint32_t count) {
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

// A block of a run that has no list.
struct RunRecords {
  const records::TriangleRecord* const* records;
  const records::Chunk* chunk;
};
bool draw_unlisted(Worker& w, const TriangleBatch& batch, const CoveredBlocks& blocks, uint32_t i, uint32_t number, void* context) {
  const RunRecords& run = *static_cast<const RunRecords*>(context);
  const uint32_t lane = blocks.lane[i];
  RecordSink sink(w, *run.records[lane], *run.chunk, number);
  sink.set_depth(batch, lane);
  sink.block(blocks.x[i], blocks.y[i], blocks.masks_of(i));
  return sink.seen();
}

bool lists_blocks(const Worker& w) { return w.list_draw && !w.masks_samples && w.early_query < 0 && !w.lrz.now; }

// Of the triangles `left` of a batch the first ones, as far as the blocks of all of them can be tested in one go. Returns the others.
uint32_t draw_run(Worker& w, const records::TriangleRecord* const* records, const records::Chunk& chunk, const TriangleBatch& batch,
                  uint32_t left) {
  if (w.lrz.now || !(w.wide_triangles || lists_blocks(w))) return left;
  const uint32_t others = left & ~(batch.medium | batch.small);
  const uint32_t run = left & ((others & (0u - others)) - 1);
  if (!run) return left;
  const uint32_t first_number = static_cast<uint32_t>(w.visible.size()) + 1;
  uint32_t covered, passed, seen;
  if (w.samples == 1) {
    const BlockCovers& covers = w.covers;
    const TestedBlocks done = w.wide_triangles(w.test, batch, run, first_number, w.place, {&w, covers.any ? covers.plane.data() : nullptr});
    covered = done.covered, passed = done.passed, seen = done.seen;
    w.prepass.recorded += passed;
    if (w.early_query >= 0) w.query_samples[static_cast<uint32_t>(w.early_query)] += passed;
  } else {
    CoveredBlocks& blocks = *w.waiting_blocks;
    (w.wide ? cover_blocks_wide : cover_blocks)(batch, run, w.samples, w.place, blocks);
    RunRecords context{records, &chunk};
    const ListedBlocks done = insert_blocks(w, batch, blocks, first_number, draw_unlisted, &context);
    covered = done.covered, passed = done.passed, seen = done.seen;
    w.counters.fragments_killed_by_hierarchical_z += done.hidden;
  }
  w.counters.fragments_rasterized += covered;
  w.counters.fragments_early_killed += covered - passed;
  for (; seen; seen &= seen - 1) {
    const records::TriangleRecord* const record = records[std::countr_zero(seen)];
    w.visible.push_back({record, &chunk, nullptr, visible_slot(w, draw_of(*record))});
  }
  return left & ~run;
}

// Covers and tests up to kBatch records of the current draw; kNumbered: `numbers` are theirs in the visibility buffer already.
template <bool kNumbered>
inline void draw_batch(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                       uint32_t count) {
  const auto sink_of = [&](uint32_t k) { return RecordSink(w, *batch[k], *chunks[kNumbered ? k : 0], kNumbered ? numbers[k] : 0); };
  if (count < kWorthBatching) {
    for (uint32_t k = 0; k < count; k++) {
      refresh_bounds(w);
      RecordSink sink = sink_of(k);
      cover_triangle(*batch[k], w.origin_x_px, w.origin_y_px, w.rect, w.samples, sink);
      sink.finish();
      if (w.one_by_one) release_queue(w);
    }
    return;
  }
  std::fill(batch + count, batch + kBatch, batch[0]);
  TriangleBatch setup;
  prepare_batch(batch, count, w.origin_x_px, w.origin_y_px, w.rect, w.samples, w.block_limit, w.test.range_lo, w.test.range_hi, setup);
  [[maybe_unused]] const bool waits = w.samples > 1 && lists_blocks(w);
  [[maybe_unused]] RunRecords context{batch, chunks[0]};
  for (uint32_t left = ((1u << count) - 1) & ~setup.outside; left; left &= left - 1) {
    if constexpr (!kTraced && !kNumbered) {
      left = draw_run(w, batch, *chunks[0], setup, left);
      if (!left) break;
    }
    const uint32_t k = static_cast<uint32_t>(std::countr_zero(left));
    RecordSink sink = sink_of(k);
    if (setup.small >> k & 1) {
      sink.window(setup, k);
    } else if (setup.medium >> k & 1) {
      sink.set_depth(setup, k);
      if (w.samples == 1)
        sink.blocks(setup, k);
      else
        sink.blocks_of_samples(setup, k);
    } else {
      refresh_bounds(w);
      sink.set_depth(setup, k);
      if constexpr (!kTraced && !kNumbered)
        if (waits) sink.list_together(setup, k, *w.waiting_blocks, draw_unlisted, &context);
      cover_triangle(*batch[k], w.origin_x_px, w.origin_y_px, w.rect, w.samples, sink);
    }
    sink.finish();
    if (w.one_by_one) release_queue(w);
  }
}

}  // namespace

#ifndef TILEGPU_TRACED
void draw_any_order(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                    uint32_t count) {
  draw_batch<true>(w, batch, chunks, numbers, count);
}
#endif

namespace {

// Whether records of other draws with the same state may stand in a batch with those of the current one: nothing but their numbers is kept.
bool joins_draws(const Worker& w) {
  return w.phase == Phase::ordinary && w.route == Route::visibility && w.early == EarlyTests::full && w.early_query < 0 && !w.one_by_one &&
         !w.kill.on && !w.pass->lrz;
}
bool joins(const Worker& w, uint32_t draw) { return w.pass->draws[draw].state == w.state && w.pass->draws[draw].query < 0; }

}  // namespace

uint32_t draw_entries(Worker& w, const records::BinSegment& segment, uint32_t from, uint32_t to) {
  const records::Chunk& chunk = *segment.chunk;
  const uint32_t* entries = chunk.entries.data() + segment.first;
  const records::TriangleRecord* records = chunk.records.data();
  for (uint32_t i = from; i < to;) {
    // Up to eight records of one draw, or of draws that may stand together.
    const records::TriangleRecord* batch[kBatch];
    batch[0] = &records[entries[i]];
    const uint32_t draw = draw_of(*batch[0]);
    if (draw != w.draw && w.phase == Phase::ordinary) select_draw(w, draw);
    const uint32_t most = std::min(to - i, kBatch);
    const bool several = joins_draws(w);
    uint32_t count = 1, last = draw;
    for (; count < most; count++) {
      batch[count] = &records[entries[i + count]];
      const uint32_t next = draw_of(*batch[count]);
      if (next != last && !(several && joins(w, next))) break;
      last = next;
    }
    if (several) w.draw = last;
    if (w.phase == Phase::pre) {
      if (w.visible.size() + kBatch > kMaxVisible) return i;
      if (draw != w.draw) {
        if (!enter_prepass_draw(w, draw)) return i;
        if (w.prepass.skips) {
          release_queue(w);
          w.draw = draw;
          w.state = nullptr;
        }
      }
    }
    i += count;
    for (uint32_t k = 0; k < kBatch && i + k < to; k++) __builtin_prefetch(&records[entries[i + k]]);
    if (draw != w.draw && w.phase != Phase::ordinary) select_draw(w, draw);
    if (w.phase == Phase::pre) {
      if (w.prepass.replays_draw) note_replay(w, segment, i - count, count);
      if (w.prepass.skips) continue;
    }
    if (w.phase == Phase::ordinary && w.visible.size() + kBatch > kMaxVisible && w.route == Route::visibility) flush_visibility(w);

    if (w.lrz.now) {
      uint32_t kept = 0;
      for (uint32_t k = 0; k < count; k++) {
        batch[kept] = batch[k];
        const bool hides = lrz_hides(w.lrz, *batch[k], w.test, w.origin_x_px, w.origin_y_px, w.rect);
        if constexpr (kTraced)
          if (hides) trace::lrz_primitive(w, {batch[k], &chunk});
        kept += !hides;
      }
      w.counters.lrz_primitives_tested += count;
      w.counters.lrz_primitives_rejected += count - kept;
      count = kept;
      if (!count) continue;
    }

    const records::Chunk* const only = &chunk;
    draw_batch<false>(w, batch, &only, nullptr, count);
  }
  return to;
}

namespace {

// The rest of a segment from entry `at` on; and those that follow, as far as they may change places with it. `i` moves to the last one.
void draw_rest(Worker& w, uint32_t& i, uint32_t at, uint32_t end, [[maybe_unused]] bool& any_order) {
  const std::vector<records::BinSegment>& segments = w.pass->geometry->segments;
  if constexpr (!kTraced) {  // what is traced happens in API order
    while (any_order && i < end && !segments[i].chunk->clear) {
      const records::BinSegment& segment = segments[i];
      if (at == segment.count) {
        i++;
        at = 0;
      } else if (!draw_near_to_far(w, i, at, end, any_order) && any_order) {
        // A draw that stays in its place.
        uint32_t to = at + 1;
        while (to < segment.count && draw_of(record_of(segment, to)) == draw_of(record_of(segment, at))) to++;
        draw_entries(w, segment, at, to);
        at = to;
      }
    }
  }
  if (i < end && !segments[i].chunk->clear)
    draw_entries(w, segments[i], at, segments[i].count);
  else
    i--;
}

}  // namespace

template <bool kWithTrace>
BasicTileWorker<kWithTrace>::BasicTileWorker() : state_(std::make_unique<State>()) {
  std::memset(&state_->args, 0, sizeof state_->args);
}
template <bool kWithTrace>
BasicTileWorker<kWithTrace>::~BasicTileWorker() = default;
template <bool kWithTrace>
BasicTileWorker<kWithTrace>::BasicTileWorker(BasicTileWorker&&) noexcept = default;

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::begin_pass(const PassContext& pass) {
  Worker& w = *state_;
  w.pass = &pass;
  w.bin_px = pass.tile.bin_px;
  w.blocks_per_row = w.bin_px / 4;
  w.row_shift = static_cast<uint32_t>(std::countr_zero(w.blocks_per_row));
  w.samples = pass.samples;
  w.quads_per_packet = pass.lanes / 4;
  w.wide = wide_vectors(pass.lanes);
  w.all_samples = w.samples == 16 ? ~uint64_t{0} : (uint64_t{1} << 4 * w.samples) - 1;
  w.memory.reserve(std::max<uint32_t>(pass.tile.size_B, 64));
  w.counters = {};
  w.ledger = {};
  w.query_samples.assign(pass.query_count, 0);
#ifdef TILEGPU_TRACED
  w.trace = {};
  w.trace.pass = pass.trace;
#endif
  w.hidden_surface_removal = pass.hsr.visibility_buffer;
  const size_t blocks = size_t{w.blocks_per_row} * w.blocks_per_row;
  w.waiting.assign(blocks, 0);
  w.dirty.assign(blocks + 8, 0);  // eight are written at once
  w.pass_masks.resize(size_t{w.blocks_per_row} * w.samples);
  w.hierarchical_z = pass.hsr.hierarchical_z;
  w.far.resize(blocks + 8);  // eight are read at once
  w.window_far.resize(blocks / 16);
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
  w.equal = tile_io::equal_quads(pass.tile, w.memory.data());
}

namespace {

// What the next segments begin with is on its way while this one is drawn.
void prefetch_segments(const records::BinnedGeometry& binned, uint32_t now, uint32_t end) {
  const auto entries = [](const records::BinSegment& segment) { return segment.chunk->entries.data() + segment.first; };
  if (now + 2 < end) __builtin_prefetch(entries(binned.segments[now + 2]));
  if (now + 1 >= end) return;
  const records::BinSegment& next = binned.segments[now + 1];
  for (uint32_t k = 0; k < std::min(next.count, kBatch); k++) __builtin_prefetch(&record_of(next, k));
}

}  // namespace

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::run(const PassContext& pass, uint32_t bin) {
  Worker& w = *state_;
  w.pass = &pass;
  const uint32_t mxcsr = _mm_getcsr();
  _mm_setcsr(0x1f80);  // round to nearest even, denormals kept, no traps: whatever the thread's owner set
  const records::BinnedGeometry& binned = *pass.geometry;
  const records::BinGrid& grid = binned.grid;
  assert(grid.bin_px == w.bin_px);
  w.origin_x_px = grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px);
  w.origin_y_px = grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px);
  w.place.place(w.origin_x_px, w.origin_y_px, w.blocks_per_row);
  w.draw = w.bound_draw = ~0u;  // how quads are shaded depends on what the bin's visibility buffer holds
  w.state = nullptr;
  w.far_broken = w.filter_broken = false;
  w.filter.begin_bin(pass.depth_holds_far);
  lrz_begin_bin(w.lrz, pass.lrz, w.origin_x_px, w.origin_y_px, w.bin_px);
  reset_far(w, INT32_MAX);
  w.last_flush = false;
  w.block_limit = w.samples > 1 ? detail::kSmallTriangle : detail::kSmallInDeepBins;  // one sample: near_to_far.cpp may raise it
  if (!pass.deferral.empty()) w.vertices.reset();
  w.lists.active = w.list_draw = w.covers.active = w.covers.any = w.cover_draw = false;
  if (pass.block_lists) begin_lists(w, pass.depth_background);
  if (pass.block_covers) begin_covers(w, pass.depth_known, pass.depth_background);
  if constexpr (kTraced) trace::begin_bin(w, bin);
  bool may_start = w.prepass.enabled, any_order = !kTraced && begin_any_order(w);
  const uint32_t end = binned.first_segment[bin + 1];
  for (uint32_t i = binned.first_segment[bin]; i < end; i++) {
    const records::BinSegment& segment = binned.segments[i];
    prefetch_segments(binned, i, end);
    if (const command::ClearCall* clear = segment.chunk->clear) {
      flush_all(w);
      expand_lists(w);
      w.draw = ~0u;
      w.state = nullptr;
      reset_far(w, INT32_MAX);
      w.filter_broken = false;
      any_order = !kTraced && begin_any_order(w);
      if (w.covers.active) forget_near(w);
      if (w.filter.on()) w.filter.forget();
      tile_io::TileRegion region;
      region.x_px = w.origin_x_px;
      region.y_px = w.origin_y_px;
      region.layer = pass.layer;
      if constexpr (kTraced) trace::cleared(w, *clear);
      tile_io::clear_in_tile(pass.tile, region, clear->attachment, clear->aspects, clear->value, clear->rect, w.memory.data());
    } else {
      // Clears before the first draw come before the pre-pass; one after it ends it.
      uint32_t at = 0;
      while (may_start) may_start = run_prepass(w, i, at, end);
      if (i == end) break;
      const records::BinSegment& rest = binned.segments[i];
      if (rest.chunk->clear)
        i--;
      else
        draw_rest(w, i, at, end, any_order);
    }
  }
  w.last_flush = true;
  flush_all(w);
  if (pass.keeps_depth) expand_lists(w);
  if constexpr (kTraced) trace::end_bin(w, bin);
  _mm_setcsr(mxcsr);
}

template <bool kWithTrace>
uint8_t* BasicTileWorker<kWithTrace>::memory() {
  return state_->memory.data();
}
template <bool kWithTrace>
stats::FragmentCounters& BasicTileWorker<kWithTrace>::counters() {
  return state_->counters;
}
template <bool kWithTrace>
const hsr::FilterCounters& BasicTileWorker<kWithTrace>::filter_counters() const {
  return state_->filter.counters;
}
template <bool kWithTrace>
stats::Ledger& BasicTileWorker<kWithTrace>::ledger() {
  return state_->ledger;
}
template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::add_prepass_stops(PassStats& stats) const {
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
template <bool kWithTrace>
uint64_t BasicTileWorker<kWithTrace>::query_samples(uint32_t query) const {
  return query < state_->query_samples.size() ? state_->query_samples[query] : 0;
}
template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::add_trace([[maybe_unused]] trace::State& pass, [[maybe_unused]] trace::Covers& covers) const {
#ifdef TILEGPU_TRACED
  state_->trace.add_to(pass, covers);
#endif
}

template class BasicTileWorker<kTraced>;

}  // namespace tilegpu::tile
