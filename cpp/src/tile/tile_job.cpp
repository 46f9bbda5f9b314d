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

#include "tile/coverage_sink.hpp"
#include "tile/filtered_tests.hpp"
#include "tile/near_to_far.hpp"
#include "tile/worker.hpp"
#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile {

template <bool kWithTrace>
struct BasicTileWorker<kWithTrace>::State : Worker {};

namespace {

void flush_all(Worker& w) {
  release_queue(w);
  if (!w.visibility.primitives.empty()) flush_visibility(w);
}

}  // namespace

PixelRect draw_rect(const Worker& w, const command::DrawState& state) {
  const auto low = [](int64_t a, int64_t b, int64_t origin) { return static_cast<int32_t>(std::max<int64_t>(std::max(a, b) - origin, 0)); };
  const auto high = [&](int64_t a, int64_t b, int64_t origin) {
    return static_cast<int32_t>(std::clamp<int64_t>(std::min(a, b) - origin, 0, w.shape.bin_px));
  };
  const VkRect2D &s = state.scissor, &r = w.pass->render_area;
  PixelRect rect;
  rect.x0 = low(s.offset.x, r.offset.x, w.bin.origin_x_px);
  rect.y0 = low(s.offset.y, r.offset.y, w.bin.origin_y_px);
  rect.x1 = high(int64_t{s.offset.x} + s.extent.width, int64_t{r.offset.x} + r.extent.width, w.bin.origin_x_px);
  rect.y1 = high(int64_t{s.offset.y} + s.extent.height, int64_t{r.offset.y} + r.extent.height, w.bin.origin_y_px);
  return rect;
}

uint64_t raster_coverage(const Worker& w, uint32_t draw, const records::TriangleRecord& record, int32_t x_px, int32_t y_px) {
  const command::DrawState& state = *w.pass->draws[draw].state;
  const PixelRect rect = draw_rect(w, state);
  uint64_t coverage = cover_quad(record, w.bin.origin_x_px + x_px, w.bin.origin_y_px + y_px, w.shape.samples);
  const uint32_t sample_mask = state.multisample.sample_mask;
  for (uint32_t s = 0; s < w.shape.samples; s++)
    for (int32_t p = 0; p < 4; p++) {
      const int32_t x = x_px + (p & 1), y = y_px + (p >> 1);
      const bool inside = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
      if (!inside || !(sample_mask >> s & 1)) coverage &= ~(uint64_t{1} << (4 * s + static_cast<uint32_t>(p)));
    }
  return coverage;
}

namespace {

// Lists and covers of the bin end with the first draw that they don't serve.
void select_kept_blocks(Worker& w) {
  CurrentDraw& d = w.draw;
  d.takes_lists = w.lists.active && d.plan.lists;
  d.takes_covers = w.covers.active && d.plan.covers;
  if (w.lists.active && !d.takes_lists) expand_lists(w);
  if (!w.covers.active) return;
  if (d.takes_covers) {
    d.test.near = w.covers.near.data();
  } else {
    expand_covers(w);
    if (d.late_test.depth_write) w.covers.forget_near();
  }
}

// What only depends on the state, not on the draw.
void select_state(Worker& w, const command::DrawState& state) {
  CurrentDraw& d = w.draw;
  const tile_io::HostTile& tile = w.pass->tile;
  uint8_t* const memory = w.buffers.memory.data();
  int32_t* const far = w.bounds.enabled ? w.bounds.far.data() : nullptr;
  const TestRules rules = make_test_rules(state, tile);
  d.state = &state;
  d.plan = plan_draw(w.shape.traits, state, rules, w.bin.phase, w.prepass.verdict, w.prepass.opaque_replay);
  d.rect = draw_rect(w, state);
  w.bin.place.cut(d.rect);
  d.late_test = make_test_state(rules, tile, memory, nullptr, nullptr, far);
  if (d.plan.early == EarlyTests::full && d.plan.route == Route::shade)
    d.test = d.late_test;
  else
    d.test = make_test_state(d.plan.rules, tile, memory, d.plan.route == Route::visibility ? w.buffers.ids : nullptr,
                             w.visibility.dirty.data(), far);
  d.test.stale = d.late_test.stale = &w.bounds.stale;
  if (w.bounds.broken) w.bounds.reset(INT32_MAX);
  w.bounds.broken = rules.breaks_far();
  if (w.filter.tile.on()) {
    if (w.filter.broken) w.filter.tile.forget();
    w.filter.broken = rules.breaks_far();
    install_filter(d.test, w.filter.tile);
    d.late_test.filter = &w.filter.tile;
  }
  select_kept_blocks(w);
  d.wide_triangles = d.plan.coverage == Coverage::at_once ? wide_triangles(d.test) : nullptr;
  assert(d.wide_triangles || d.plan.coverage != Coverage::at_once);
}

// What the draw's quads do to those that wait, and may have done to them.
void select_kill(KillQueue& kill, const CurrentDraw& d, Phase phase, bool visibility) {
  const pipeline::Resolved& resolved = *d.state->resolved;
  const pipeline::Classification& c = resolved.classification;
  const bool tested = d.plan.early == EarlyTests::full, reads_tile = resolved.fragment_traits.reads_tile;
  const bool queued = phase == Phase::ordinary && d.plan.route == Route::shade && tested && !reads_tile;
  kill.colors = static_cast<uint8_t>(resolved.written_targets);
  kill.retains = queued && !visibility;
  kill.killer = queued && !c.kills && kill.colors && c.overwritten_colors == kill.colors;
  kill.victim = !c.side_effects && tested;
}

}  // namespace

void select_draw(Worker& w, uint32_t draw) {
  assert(draw < w.pass->draws.size());
  if (!w.kill.retains) release_queue(w);
  const command::DrawCall& call = w.pass->draws[draw];
  CurrentDraw& d = w.draw;
  d.number = draw;
  if (call.state != d.state || w.bin.phase != Phase::ordinary) select_state(w, *call.state);
  d.early_query = d.plan.early == EarlyTests::full && w.bin.phase != Phase::main ? call.query : -1;
  if (w.kill.on) {
    const bool retained = w.kill.retains;
    select_kill(w.kill, d, w.bin.phase, w.visibility.enabled);
    if (retained && !w.kill.retains) release_queue(w);
  }
  lrz_select_draw(w.lrz, draw);
  if (d.plan.route != Route::shade) return;
  const pipeline::Classification& c = d.state->resolved->classification;
  if (w.bin.phase == Phase::ordinary && !w.visibility.primitives.empty() && (c.reads_tile || (c.writes_color && !c.opaque)))
    flush_visibility(w);
  if (w.kill.on && w.bin.phase != Phase::pre) {
    if (w.kill.first == w.kill.end && !w.packets.queue_count) w.packets.setups.reset();
    return;
  }
  w.packets.setups.reset();
  w.vertices.reset_if_large();
  bind_shading(w, draw, d.plan.early, false);
}

namespace {

// The main phase draws these entries again.
void note_replay(Worker& w, const records::BinSegment& segment, uint32_t first, uint32_t count) {
  assert(w.bin.phase == Phase::pre && count);
  std::vector<Replay>& replays = w.prepass.replays;
  if (!replays.empty()) {
    Replay& last = replays.back();
    if (last.segment == &segment && last.draw == w.draw.number && last.first + last.count == first) {
      last.count += count;
      return;
    }
  }
  replays.push_back({&segment, first, count, w.draw.number, static_cast<uint32_t>(w.visibility.primitives.size()), !w.prepass.skips,
                     w.prepass.verdict.opaque});
}

// A block of a run that has no list.
struct RunRecords {
  const records::TriangleRecord* const* records;
  const records::Chunk* chunk;
};
bool draw_unlisted(Worker& w, const TriangleBatch& batch, const CoveredBlocks& blocks, uint32_t i, uint32_t number, void* context) {
  const RunRecords& run = *static_cast<const RunRecords*>(context);
  const uint32_t lane = blocks.lane[i];
  CoverageSink sink(w, *run.records[lane], *run.chunk, number);
  sink.set_depth(batch, lane);
  sink.block(blocks.x[i], blocks.y[i], blocks.masks_of(i));
  return sink.seen();
}

bool lists_blocks(const Worker& w) {
  return w.draw.takes_lists && w.draw.plan.coverage == Coverage::listed && w.draw.early_query < 0 && !w.lrz.now;
}

// Of the triangles `left` of a batch the first ones, as far as the blocks of all of them can be tested in one go. Returns the others.
uint32_t draw_run(Worker& w, const records::TriangleRecord* const* records, const records::Chunk& chunk, const TriangleBatch& batch,
                  uint32_t left) {
  if (w.lrz.now || !(w.draw.wide_triangles || lists_blocks(w))) return left;
  const uint32_t others = left & ~(batch.medium | batch.small);
  const uint32_t run = left & ((others & (0u - others)) - 1);
  if (!run) return left;
  const uint32_t first_number = static_cast<uint32_t>(w.visibility.primitives.size()) + 1;
  uint32_t covered, passed, seen;
  if (w.shape.samples == 1) {
    const BlockCovers& covers = w.covers;
    const TestedBlocks done =
        w.draw.wide_triangles(w.draw.test, batch, run, first_number, w.bin.place, {&w, covers.any ? covers.plane.data() : nullptr});
    covered = done.covered, passed = done.passed, seen = done.seen;
    w.prepass.recorded += passed;
    if (w.draw.early_query >= 0) w.results.query_samples[static_cast<uint32_t>(w.draw.early_query)] += passed;
  } else {
    CoveredBlocks& blocks = *w.waiting_blocks;
    (w.shape.wide ? cover_blocks_wide : cover_blocks)(batch, run, w.shape.samples, w.bin.place, blocks);
    RunRecords context{records, &chunk};
    const ListedBlocks done = insert_blocks(w, batch, blocks, first_number, draw_unlisted, &context);
    covered = done.covered, passed = done.passed, seen = done.seen;
    w.results.counters.fragments_killed_by_hierarchical_z += done.hidden;
  }
  w.results.counters.fragments_rasterized += covered;
  w.results.counters.fragments_early_killed += covered - passed;
  for (; seen; seen &= seen - 1) {
    const records::TriangleRecord* const record = records[std::countr_zero(seen)];
    w.visibility.primitives.push_back({record, &chunk, nullptr, visible_slot(w.visibility, draw_of(*record))});
  }
  return left & ~run;
}

// Covers and tests up to kBatch records of the current draw; kNumbered: `numbers` are theirs in the visibility buffer already.
template <bool kNumbered>
inline void draw_batch(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                       uint32_t count) {
  assert(count >= 1 && count <= kBatch);
  const auto sink_of = [&](uint32_t k) { return CoverageSink(w, *batch[k], *chunks[kNumbered ? k : 0], kNumbered ? numbers[k] : 0); };
  if (count < kWorthBatching) {
    for (uint32_t k = 0; k < count; k++) {
      refresh_bounds(w);
      CoverageSink sink = sink_of(k);
      cover_triangle(*batch[k], w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, w.shape.samples, sink);
      sink.finish();
      if (w.draw.plan.one_by_one) release_queue(w);
    }
    return;
  }
  std::fill(batch + count, batch + kBatch, batch[0]);
  TriangleBatch setup;
  prepare_batch(batch, count, w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, w.shape.samples, w.bounds.block_limit,
                w.draw.test.range_lo, w.draw.test.range_hi, setup);
  [[maybe_unused]] const bool waits = w.shape.samples > 1 && lists_blocks(w);
  [[maybe_unused]] RunRecords context{batch, chunks[0]};
  for (uint32_t left = ((1u << count) - 1) & ~setup.outside; left; left &= left - 1) {
    if constexpr (!kTraced && !kNumbered) {
      left = draw_run(w, batch, *chunks[0], setup, left);
      if (!left) break;
    }
    const uint32_t k = static_cast<uint32_t>(std::countr_zero(left));
    CoverageSink sink = sink_of(k);
    if (setup.small >> k & 1) {
      sink.window(setup, k);
    } else if (setup.medium >> k & 1) {
      sink.set_depth(setup, k);
      if (w.shape.samples == 1)
        sink.blocks(setup, k);
      else
        sink.blocks_of_samples(setup, k);
    } else {
      refresh_bounds(w);
      sink.set_depth(setup, k);
      if constexpr (!kTraced && !kNumbered)
        if (waits) sink.list_together(setup, k, *w.waiting_blocks, draw_unlisted, &context);
      cover_triangle(*batch[k], w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, w.shape.samples, sink);
    }
    sink.finish();
    if (w.draw.plan.one_by_one) release_queue(w);
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
  return w.bin.phase == Phase::ordinary && w.draw.plan.route == Route::visibility && w.draw.plan.early == EarlyTests::full &&
         w.draw.early_query < 0 && !w.draw.plan.one_by_one && !w.kill.on && !w.pass->lrz;
}
bool joins(const Worker& w, uint32_t draw) { return w.pass->draws[draw].state == w.draw.state && w.pass->draws[draw].query < 0; }

}  // namespace

uint32_t draw_entries(Worker& w, const records::BinSegment& segment, uint32_t from, uint32_t to) {
  assert(from <= to && to <= segment.count);
  const records::Chunk& chunk = *segment.chunk;
  const uint32_t* entries = chunk.entries.data() + segment.first;
  const records::TriangleRecord* records = chunk.records.data();
  for (uint32_t i = from; i < to;) {
    // Up to eight records of one draw, or of draws that may stand together.
    const records::TriangleRecord* batch[kBatch];
    batch[0] = &records[entries[i]];
    const uint32_t draw = draw_of(*batch[0]);
    if (draw != w.draw.number && w.bin.phase == Phase::ordinary) select_draw(w, draw);
    const uint32_t most = std::min(to - i, kBatch);
    const bool several = joins_draws(w);
    uint32_t count = 1, last = draw;
    for (; count < most; count++) {
      batch[count] = &records[entries[i + count]];
      const uint32_t next = draw_of(*batch[count]);
      if (next != last && !(several && joins(w, next))) break;
      last = next;
    }
    if (several) w.draw.number = last;
    if (w.bin.phase == Phase::pre) {
      if (w.visibility.primitives.size() + kBatch > kMaxVisible) return i;
      if (draw != w.draw.number) {
        if (!enter_prepass_draw(w, draw)) return i;
        if (w.prepass.skips) {
          release_queue(w);
          w.draw.number = draw;
          w.draw.state = nullptr;
        }
      }
    }
    i += count;
    for (uint32_t k = 0; k < kBatch && i + k < to; k++) __builtin_prefetch(&records[entries[i + k]]);
    if (draw != w.draw.number && w.bin.phase != Phase::ordinary) select_draw(w, draw);
    if (w.bin.phase == Phase::pre) {
      if (w.prepass.replays_draw) note_replay(w, segment, i - count, count);
      if (w.prepass.skips) continue;
    }
    if (w.bin.phase == Phase::ordinary && w.visibility.primitives.size() + kBatch > kMaxVisible && w.draw.plan.route == Route::visibility)
      flush_visibility(w);

    if (w.lrz.now) {
      uint32_t kept = 0;
      for (uint32_t k = 0; k < count; k++) {
        batch[kept] = batch[k];
        const bool hides = lrz_hides(w.lrz, *batch[k], w.draw.test, w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect);
        if constexpr (kTraced)
          if (hides) trace::lrz_primitive(w, {batch[k], &chunk});
        kept += !hides;
      }
      w.results.counters.lrz_primitives_tested += count;
      w.results.counters.lrz_primitives_rejected += count - kept;
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
  std::memset(&state_->packets.args, 0, sizeof state_->packets.args);
}
template <bool kWithTrace>
BasicTileWorker<kWithTrace>::~BasicTileWorker() = default;
template <bool kWithTrace>
BasicTileWorker<kWithTrace>::BasicTileWorker(BasicTileWorker&&) noexcept = default;

template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::begin_pass(const PassContext& pass) {
  assert(std::has_single_bit(pass.tile.bin_px) && pass.tile.bin_px >= 32 && pass.tile.bin_px / 4 <= BinPlace::kMostBlocks);
  assert(std::has_single_bit(pass.samples) && pass.samples <= kMaxSamples && pass.samples == pass.tile.samples);
  assert(pass.lanes == 4 || pass.lanes == 8 || pass.lanes == 16);
  Worker& w = *state_;
  w.pass = &pass;
  w.shape.bin_px = pass.tile.bin_px;
  w.shape.blocks_per_row = w.shape.bin_px / 4;
  w.shape.row_shift = static_cast<uint32_t>(std::countr_zero(w.shape.blocks_per_row));
  w.shape.samples = pass.samples;
  w.shape.quads_per_packet = pass.lanes / 4;
  w.shape.wide = wide_vectors(pass.lanes);
  w.shape.all_samples = w.shape.samples == 16 ? ~uint64_t{0} : (uint64_t{1} << 4 * w.shape.samples) - 1;
  w.buffers.memory.reserve(std::max<uint32_t>(pass.tile.size_B, 64));
  w.results.counters = {};
  w.results.ledger = {};
  w.results.query_samples.assign(pass.query_count, 0);
#ifdef TILEGPU_TRACED
  w.trace = {};
  w.trace.pass = pass.trace;
#endif
  w.visibility.enabled = pass.hsr.visibility_buffer;
  const size_t blocks = w.shape.blocks();
  w.packets.waiting.assign(blocks, 0);
  w.visibility.dirty.assign(blocks + 8, 0);  // eight are written at once
  w.results.pass_masks.resize(size_t{w.shape.blocks_per_row} * w.shape.samples);
  w.bounds.enabled = pass.hsr.hierarchical_z;
  w.bounds.far.resize(blocks + 8);  // eight are read at once
  w.bounds.window_far.resize(blocks / 16);
  w.filter.tile.begin_pass(pass.filter_planes, w.shape.samples, w.shape.bin_px);
  w.prepass.enabled = pass.hsr.pre_pass;
  w.prepass.stops.clear();
  w.prepass.tiles = 0;
  w.bin.phase = Phase::ordinary;
  w.kill.on = pass.hsr.forward_pixel_kill;
  w.kill.retains = false;
  if (w.kill.on) {
    w.kill.capacity = std::max(1u, pass.fpk_quads);
    w.kill.quads.resize(w.kill.capacity);
    w.kill.newest.assign(blocks * 4, 0);
    w.kill.first = w.kill.end = 0;
  }
  w.packets.bound_draw = ~0u;
  w.buffers.ids = nullptr;
  if (w.visibility.enabled || w.prepass.enabled) {
    const size_t size_B = blocks * w.shape.samples * 64;
    w.buffers.ids_memory.reserve(size_B);
    w.buffers.ids = reinterpret_cast<uint32_t*>(w.buffers.ids_memory.data());
    std::memset(w.buffers.ids, 0, size_B);  // and every flush leaves it zero
  }
  w.packets.queue_count = 0;
  w.visibility.primitives.clear();
  w.visibility.draws.clear();
  shader::FragmentArgs& args = w.packets.args;
  for (uint32_t t = 0; t < shader::kMaxTargets; t++)
    args.target[t] = pass.tile.color[t].words ? w.buffers.memory.data() + pass.tile.color[t].offset_B : nullptr;
  args.tile_depth = pass.tile.depth.words ? w.buffers.memory.data() + pass.tile.depth.offset_B : nullptr;
  args.tile_stencil = pass.tile.stencil.words ? w.buffers.memory.data() + pass.tile.stencil.offset_B : nullptr;
  args.sample_positions = sample_positions(w.shape.samples);
  const VkRect2D& area = pass.render_area;
  args.area_x0_px = area.offset.x;
  args.area_y0_px = area.offset.y;
  args.area_x1_px = area.offset.x + static_cast<int32_t>(area.extent.width);
  args.area_y1_px = area.offset.y + static_cast<int32_t>(area.extent.height);
  w.buffers.equal = tile_io::equal_quads(pass.tile, w.buffers.memory.data());
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
  assert(grid.bin_px == w.shape.bin_px);
  w.bin.origin_x_px = grid.origin_x_px + static_cast<int32_t>(bin % grid.columns * grid.bin_px);
  w.bin.origin_y_px = grid.origin_y_px + static_cast<int32_t>(bin / grid.columns * grid.bin_px);
  w.bin.place.place(w.bin.origin_x_px, w.bin.origin_y_px, w.shape.blocks_per_row);
  w.draw.number = w.packets.bound_draw = ~0u;  // how quads are shaded depends on what the bin's visibility buffer holds
  w.draw.state = nullptr;
  w.bounds.broken = w.filter.broken = false;
  w.shape.traits = traits_of(pass, kTraced);
  w.packets.shading.state = nullptr;  // code that was compiled since is taken from here on
  w.filter.tile.begin_bin(pass.depth_holds_far);
  lrz_begin_bin(w.lrz, pass.lrz, w.bin.origin_x_px, w.bin.origin_y_px, w.shape.bin_px);
  w.bounds.reset(INT32_MAX);
  w.bin.last_flush = false;
  w.bounds.block_limit =
      w.shape.samples > 1 ? detail::kSmallTriangle : detail::kSmallInDeepBins;  // one sample: near_to_far.cpp may raise it
  if (!pass.deferral.empty()) w.vertices.reset();
  w.lists.active = w.draw.takes_lists = w.covers.active = w.covers.any = w.draw.takes_covers = false;
  if (pass.keeps.lists) begin_lists(w, pass.depth_background);
  if (pass.keeps.covers) begin_covers(w, pass.depth_known, pass.depth_background);
  if constexpr (kTraced) trace::begin_bin(w, bin);
  bool may_start = w.prepass.enabled, any_order = !kTraced && begin_any_order(w);
  const uint32_t end = binned.first_segment[bin + 1];
  for (uint32_t i = binned.first_segment[bin]; i < end; i++) {
    const records::BinSegment& segment = binned.segments[i];
    prefetch_segments(binned, i, end);
    if (const command::ClearCall* clear = segment.chunk->clear) {
      flush_all(w);
      expand_lists(w);
      w.draw.number = ~0u;
      w.draw.state = nullptr;
      w.bounds.reset(INT32_MAX);
      w.filter.broken = false;
      any_order = !kTraced && begin_any_order(w);
      if (w.covers.active) w.covers.forget_near();
      if (w.filter.tile.on()) w.filter.tile.forget();
      tile_io::TileRegion region;
      region.x_px = w.bin.origin_x_px;
      region.y_px = w.bin.origin_y_px;
      region.layer = pass.layer;
      if constexpr (kTraced) trace::cleared(w, *clear);
      tile_io::clear_in_tile(pass.tile, region, clear->attachment, clear->aspects, clear->value, clear->rect, w.buffers.memory.data());
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
  w.bin.last_flush = true;
  flush_all(w);
  assert(w.packets.queue_count == 0 && w.visibility.primitives.empty());
  if (pass.keeps_depth) expand_lists(w);
  if constexpr (kTraced) trace::end_bin(w, bin);
  _mm_setcsr(mxcsr);
}

template <bool kWithTrace>
uint8_t* BasicTileWorker<kWithTrace>::memory() {
  return state_->buffers.memory.data();
}
template <bool kWithTrace>
stats::FragmentCounters& BasicTileWorker<kWithTrace>::counters() {
  return state_->results.counters;
}
template <bool kWithTrace>
const hsr::FilterCounters& BasicTileWorker<kWithTrace>::filter_counters() const {
  return state_->filter.tile.counters;
}
template <bool kWithTrace>
stats::Ledger& BasicTileWorker<kWithTrace>::ledger() {
  return state_->results.ledger;
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
  return query < state_->results.query_samples.size() ? state_->results.query_samples[query] : 0;
}
template <bool kWithTrace>
void BasicTileWorker<kWithTrace>::add_trace([[maybe_unused]] trace::State& pass, [[maybe_unused]] trace::Covers& covers) const {
#ifdef TILEGPU_TRACED
  state_->trace.add_to(pass, covers);
#endif
}

template class BasicTileWorker<kTraced>;

}  // namespace tilegpu::tile
