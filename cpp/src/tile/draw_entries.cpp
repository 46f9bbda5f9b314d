// tile/draw_entries.cpp -- see draw_entries.hpp.
//
// Each record is covered, tested early where its draw allows that, and goes one of three ways: nothing more (depth only), the
// visibility buffer (opaque draws: shaded at the flush, once), or the quad queue. A change of draw empties the queue; a draw
// that needs to see the colours below it flushes the visibility buffer first.
// Source: docs/architecture.md, "The way of the data"; docs/decisions.md, 8; Vulkan specification, "Rasterization Order".
#include "tile/worker/variant.hpp"

#include "tile/draw_entries.hpp"

#include <algorithm>
#include <cassert>

#include "base/prefetch.hpp"
#include "tile/batch_setups.hpp"
#include "tile/coverage/discard_rectangles.hpp"
#include "tile/coverage/line_coverage.hpp"
#include "tile/coverage/ruled_coverage.hpp"
#include "tile/coverage_sink.hpp"
#include "tile/depth_stencil/filtered_tests.hpp"
#include "tile/prepass.hpp"
#include "tile/shading/quad_queue.hpp"
#include "tile/visibility/visibility.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

// Lists and covers of the bin end with the first draw that they don't serve.
void select_kept_blocks(const TileContext& t, CurrentDraw& d, BlockLists& lists, BlockCovers& covers) {
  d.takes_lists = lists.active && d.plan.lists;
  d.takes_covers = covers.active && d.plan.covers;
  if (d.takes_lists) {
    lists.test = d.plan.list;
    lists.far = d.test.far;
  } else if (lists.active) {
    expand_lists(t, lists);
  }
  if (!covers.active) return;
  if (d.takes_covers) {
    d.test.near = covers.near.data();
  } else {
    expand_covers(t, covers);
    if (d.late_test.depth_write) covers.forget_near();
  }
}

// Whether bounds follow what is written after shading, too. They hold without it, as depth only comes nearer; but then nothing that lies
// behind alpha-tested leaves is hidden by more than its own pixels' tests. A modelled GPU's counts, and traces, have bounds of early tests.
bool follows_late_writes(const TileContext& t, bool queued) {
  const PassTraits& traits = t.shape.traits;
  return !kTraced && t.bin.phase == Phase::ordinary && !queued && !traits.exact_kills && !traits.filtered;
}

// The tests before and after shading, as planned; bounds and filter end where depth may grow.
void select_tests(const TileContext& t, const TestRules& rules, bool queued, CurrentDraw& d, DepthBounds& bounds, BinFilter& filter) {
  const tile_io::HostTile& tile = t.pass->tile;
  uint8_t* const memory = t.buffers.memory.data();
  int32_t* const far = bounds.enabled ? bounds.far.data() : nullptr;
  d.late_test = make_test_state(rules, tile, memory, nullptr, nullptr, far);
  if (d.plan.early == EarlyTests::full && d.plan.route == Route::shade)
    d.test = d.late_test;
  else
    d.test = make_test_state(d.plan.rules, tile, memory, d.plan.route == Route::visibility ? t.buffers.ids : nullptr, t.buffers.dirty, far);
  d.test.positions = d.late_test.positions = positions_of(t, *d.state);
  d.test.window_far = bounds.window_far.data();
  d.test.stale = d.late_test.stale = &bounds.stale;
  d.follows_late = follows_late_writes(t, queued);
  if (!d.follows_late) d.late_test.far = nullptr;
  if (bounds.broken) bounds.reset(INT32_MAX);
  bounds.broken = rules.breaks_far();
  if (!filter.tile.on()) return;
  if (filter.broken) filter.tile.forget();
  filter.broken = filter.tile.reverse() ? rules.breaks_near() : rules.breaks_far();
  install_filter(d.test, filter.tile);
  d.late_test.filter = &filter.tile;
}

// What only depends on the state, not on the draw.
void select_state(Worker& w, const command::DrawState& state) {
  CurrentDraw& d = w.draw;
  const StatePlan& planned = plan_of(w, w.plans, state);
  const TestRules& rules = planned.rules;
  d.state = &state;
  // Between the phases of a pre-pass the draw's verdict counts too.
  d.plan = w.bin.phase == Phase::ordinary
               ? planned.plan
               : plan_draw(w.shape.traits, state, rules, w.bin.phase, w.prepass.verdict, w.prepass.opaque_replay);
  d.rect = draw_rect(w, state);
  w.bin.place.cut(d.rect);
  select_tests(w, rules, w.kill.on, d, w.bounds, w.filter);
  select_kept_blocks(w, d, w.lists, w.covers);
  d.wide_triangles = d.plan.coverage == Coverage::at_once ? wide_triangles(d.test) : nullptr;
  assert(d.wide_triangles || d.plan.coverage != Coverage::at_once);
}

bool reads_depth_or_stencil(const pipeline::Resolved& resolved) {
  return std::ranges::any_of(resolved.inputs, [](const shader::InputSource& input) {
    return input.target == shader::kInputDepth || input.target == shader::kInputStencil;
  });
}

// Whether quads stay in the kill queue when the next draw comes: the visibility buffer's flush knows nothing of it.
bool waits_across_draws(const Bin& bin, const Visibility& v) {
  return !v.enabled && (bin.phase == Phase::ordinary || (bin.phase == Phase::main && v.queued));
}

// What the draw's quads do to those that wait, and may have done to them. `settled`: the pre-pass did its tests.
void select_kill(KillQueue& kill, const CurrentDraw& d, Phase phase, bool across_draws, bool settled, bool filtered) {
  assert(kill.on && (!across_draws || phase != Phase::pre) && (!settled || phase == Phase::main));
  const pipeline::Resolved& resolved = *d.state->resolved;
  const pipeline::Classification& c = resolved.classification;
  const TestRules& rules = d.late_test;
  const bool tested = d.plan.early == EarlyTests::full, shades = d.plan.route == Route::shade;
  kill.draw = nullptr;
  kill.colors = static_cast<uint8_t>(resolved.output.written_targets);
  kill.reads = shades && c.reads_inputs;
  kill.pins = across_draws && shades && ((!tested && !settled) || reads_depth_or_stencil(resolved));
  kill.keeps = kill.pins || (across_draws && shades && phase == Phase::main);
  kill.retains = across_draws && !(kill.pins && filtered);  // a filter learns what is written in order
  kill.killer = phase == Phase::ordinary && shades && tested && kill.colors && c.opaque && !c.kills;
  kill.victim = !c.side_effects && tested && !kill.pins;
  // A test that only kills and is repeated may come too early, where what waits can only make it harder.
  if (!kill.any_pinned()) kill.shrink = kill.grow = false;
  // In the main phase of a pre-pass depth and stencil are final: nothing that waits changes them.
  kill.settles =
      phase == Phase::ordinary &&
      (tested || (d.plan.early == EarlyTests::kill && !(rules.nearer_wins() && !kill.grow) && !(rules.farther_wins() && !kill.shrink)));
  if (kill.pins) kill.shrink |= rules.breaks_near(), kill.grow |= rules.breaks_far();
}

}  // namespace

// Low-resolution Z's feedback, before a draw that it is tested against. Not while depth lies in lists or covers.
static void learn_depth(Worker& w, uint32_t draw) {
  if (w.bin.phase != Phase::ordinary || !lrz_wants_feedback(w.lrz, draw)) return;
  release_queue(w, w.draw, w.kill, w.packets, w.results);
  if (w.lists.active || (w.covers.active && w.covers.any)) return;
  w.results.counters.lrz_feedback_texels +=
      lrz_learn(w.lrz, draw, w.pass->tile, w.buffers.memory.data(), w.bin.origin_x_px, w.bin.origin_y_px);
}

void select_draw(Worker& w, uint32_t draw) {
  assert(draw < w.pass->draws.size());
  const auto release = [&] { release_queue(w, w.draw, w.kill, w.packets, w.results); };
  if (!w.kill.retains) release();
  learn_depth(w, draw);
  const command::DrawCall& call = w.pass->draws[draw];
  CurrentDraw& d = w.draw;
  d.number = draw;
  if (call.state != d.state || w.bin.phase != Phase::ordinary) select_state(w, *call.state);
  d.early_query = d.plan.early == EarlyTests::full && w.bin.phase != Phase::main ? call.query : -1;
  if (w.kill.on && d.plan.coverage == Coverage::coarse) {
    // Its quads do not wait among those that may be killed: what does is shaded first, and what comes after it begins anew.
    release();
    w.kill.retains = w.kill.killer = w.kill.victim = w.kill.reads = w.kill.pins = w.kill.keeps = w.kill.settles = false;
    w.kill.draw = nullptr;
  } else if (w.kill.on) {
    const bool across_draws = waits_across_draws(w.bin, w.visibility);
    const bool settled = w.bin.phase == Phase::main && (w.prepass.opaque_replay || w.prepass.verdict.writes_zs);
    if (!across_draws) release();
    select_kill(w.kill, d, w.bin.phase, across_draws, settled, w.filter.tile.on());
    // Bounds are found where all depth is written: here, and later of blocks that were written before shading, and so settled, since.
    if (w.kill.pins) refresh_bounds(w.shape, d.test, w.bounds, w.covers);
  }
  w.faint.map = nullptr;
  d.joins_halves = false;
  lrz_select_draw(w.lrz, draw);
  d.coverage = coverage_of_draw(d.plan, {d.early_query >= 0, w.lrz.now != nullptr});
  if (d.plan.route != Route::shade) return;
  const pipeline::Classification& c = d.state->resolved->classification;
  if (w.bin.phase == Phase::ordinary && !w.visibility.primitives.empty() && (c.reads_tile || (c.writes_color && !c.opaque)))
    flush_visibility(w);
  d.moment = moment_of(w.bin, w.visibility, w.prepass, d.plan);
  d.replay_ids = w.prepass.replay_ids;
  if (w.kill.on && w.bin.phase != Phase::pre && d.plan.coverage != Coverage::coarse) {
    if (w.kill.first == w.kill.end && !w.packets.queue_count) w.packets.setups.reset(), w.packets.vertices.reset_if_large();
    return;
  }
  w.packets.setups.reset();
  w.packets.vertices.reset_if_large();
  bind_shading(w, d.late(), w.packets, w.results, draw, d.moment);
  d.joins_halves = joins_halves(w);
  // Its fragments go straight from the tests to the shader. Nothing but colours comes of them, or nothing where the shader ends them.
  const std::optional<pipeline::FaintTexture>& faint = d.state->resolved->faint;
  const bool straight = !kTraced && w.bin.phase == Phase::ordinary && !w.kill.on && !w.packets.shading.deferred;
  // The answer is kept by state and vertices: what else decides is asked here.
  if (straight && faint && !call.counted && call.query < 0 && (faint->ends || w.packets.shading.simple))
    w.faint = w.faints.of(*d.state, uint64_t{call.count} * call.instance_count, [&] { return w.clear_texels.of(call, d.plan.rule); });
}

namespace {

// The main phase draws these entries again.
void note_replay(PrePass& p, uint32_t draw, size_t primitives, const records::BinSegment& segment, uint32_t first, uint32_t count) {
  assert(count);
  std::vector<Replay>& replays = p.replays;
  if (!replays.empty()) {
    Replay& last = replays.back();
    if (last.segment == &segment && last.draw == draw && last.first + last.count == first) {
      last.count += count;
      return;
    }
  }
  replays.push_back({&segment, first, count, draw, static_cast<uint32_t>(primitives), !p.skips, p.verdict.opaque});
}

// A block of a run that has no list.
struct RunRecords {
  Worker& worker;
  const records::TriangleRecord* const* records;
  const records::Chunk* chunk;
};
bool draw_unlisted(void* context, const TriangleBatch& batch, const CoveredBlocks& blocks, uint32_t i, uint32_t number) {
  const RunRecords& run = *static_cast<const RunRecords*>(context);
  const uint32_t lane = blocks.lane[i];
  CoverageSink sink(run.worker, *run.records[lane], *run.chunk, number);
  sink.set_depth(batch, lane);
  sink.block(blocks.x[i], blocks.y[i], blocks.masks_of(i));
  return sink.seen();
}

bool lists_blocks(const CurrentDraw& d) { return d.takes_lists && d.coverage == Coverage::listed; }

// Of the triangles `left` of a batch the first ones, as far as the blocks of all of them can be tested in one go. Returns the others.
uint32_t draw_run(Worker& w, const records::TriangleRecord* const* records, const records::Chunk& chunk, const TriangleBatch& batch,
                  uint32_t left) {
  if (!(w.draw.coverage == Coverage::at_once || lists_blocks(w.draw)) || w.kill.any_pinned()) return left;
  const uint32_t others = left & ~(batch.medium | batch.small);
  const uint32_t run = left & ((others & (0u - others)) - 1);
  if (!run) return left;
  const uint32_t first_number = static_cast<uint32_t>(w.visibility.primitives.size()) + 1;
  uint32_t covered, passed, seen;
  if (w.shape.samples == 1) {
    const auto expand = [](void* worker, uint32_t block) {
      Worker& own = *static_cast<Worker*>(worker);
      expand_cover(own, own.covers, block);
    };
    const HeldBlocks held{w.covers.any ? w.covers.plane.data() : nullptr, expand, &w};
    const TestedBlocks done = w.draw.wide_triangles(w.draw.test, batch, run, first_number, w.bin.place, held);
    covered = done.covered, passed = done.passed, seen = done.seen;
    w.results.recorded += passed;
    if (w.draw.early_query >= 0) w.results.query_samples[static_cast<uint32_t>(w.draw.early_query)] += passed;
  } else {
    CoveredBlocks& blocks = *w.waiting_blocks;
    (w.shape.wide ? cover_blocks_wide : cover_blocks)(batch, run, w.shape.samples, w.bin.place, blocks);
    RunRecords context{w, records, &chunk};
    const ListedBlocks done = insert_blocks(w, w.lists, batch, blocks, first_number, {draw_unlisted, &context});
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

// The samples that a record covers by its draw's own rule.
template <class Sink>
void cover_record(Worker& w, const records::TriangleRecord& record, const records::Chunk& chunk, Sink& sink) {
  const records::CoverageRule& rule = w.draw.plan.rule;
  const uint32_t samples = w.shape.samples;
  const int32_t x_px = w.bin.origin_x_px, y_px = w.bin.origin_y_px;
  const auto cover = [&](auto& into) {
    if (rule.lines())
      cover_line(line_of(record, chunk, rule.line), x_px, y_px, w.draw.rect, samples, rule.places(samples), into);
    else
      cover_ruled(record, rule, x_px, y_px, w.draw.rect, samples, into);
  };
  if (!rule.discard) return cover(sink);
  OutsideDiscarded<Sink> outside(sink, *rule.discard, x_px, y_px, samples);
  cover(outside);
}

// Records of a draw with a rule of its own, one after the other. Not inline: what all other draws do stays as it is.
template <bool kNumbered>
__attribute__((noinline)) void draw_ruled(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks,
                                          const uint32_t* numbers, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    const records::Chunk& chunk = *chunks[kNumbered ? k : 0];
    CoverageSink sink(w, *batch[k], chunk, kNumbered ? numbers[k] : 0);
    refresh_bounds(w.shape, w.draw.test, w.bounds, w.covers);
    sink.set_depth();
    cover_record(w, *batch[k], chunk, sink);
    sink.finish();
    if (w.draw.plan.one_by_one && !w.kill.pins) release_queue(w, w.draw, w.kill, w.packets, w.results);
  }
}

// Squares of points whose small ones are found together.
bool takes_squares(const TileContext& t, const CurrentDraw& d, const LrzBin& lrz, const BinFilter& filter) {
  const records::CoverageRule& rule = d.plan.rule;
  return !kTraced && d.coverage == Coverage::ruled && rule.kind == records::CoverageKind::square && !rule.discard && !rule.lines() &&
         t.shape.samples == 1 && t.bin.phase == Phase::ordinary && !lrz.now && !filter.tile.on();
}
__attribute__((noinline)) void draw_squares(Worker& w, const records::TriangleRecord** batch, const records::Chunk& chunk, uint32_t count) {
  TriangleBatch squares;
  prepare_squares(batch, count, w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, w.bounds.block_limit, w.draw.test.range_lo,
                  w.draw.test.range_hi, squares);
  uint32_t left = ((1u << count) - 1) & ~squares.outside;
  const BatchSetups setups(w, batch, chunk, count, left);
  for (; left; left &= left - 1) {
    const uint32_t k = static_cast<uint32_t>(std::countr_zero(left));
    CoverageSink sink(w, *batch[k], chunk, 0);
    sink.take_setup(setups.take(w, k));
    if (squares.small >> k & 1) {
      sink.square(squares, k);
    } else {
      refresh_bounds(w.shape, w.draw.test, w.bounds, w.covers);
      sink.set_depth(squares, k);
      cover_record(w, *batch[k], chunk, sink);
    }
    sink.finish();
    if (w.draw.plan.one_by_one && !w.kill.pins) release_queue(w, w.draw, w.kill, w.packets, w.results);
  }
}

// The same of a draw whose fragments may have several pixels.
void cover_coarse(Worker& w, const records::TriangleRecord** batch, const records::Chunk& chunk, uint32_t count) {
  assert(!w.draw.plan.rule.plain());
  for (uint32_t k = 0; k < count; k++) {
    BasicCoverageSink<true, false> sink(w, *batch[k], chunk);
    refresh_bounds(w.shape, w.draw.test, w.bounds, w.covers);
    sink.set_depth();
    cover_record(w, *batch[k], chunk, sink);
    sink.finish();
    if (w.draw.plan.one_by_one) release_queue(w, w.draw, w.kill, w.packets, w.results);
  }
}

// By whichever rule; `batch` is filled up to kBatch.
__attribute__((noinline)) void draw_coarse(Worker& w, const records::TriangleRecord** batch, const records::Chunk& chunk, uint32_t count) {
  const uint32_t samples = w.shape.samples;
  assert(w.bin.phase == Phase::ordinary);  // a pre-pass ends before it
  w.packets.coarse.begin_draw(w.shape.blocks() * samples);
  if (!w.draw.plan.rule.plain()) return cover_coarse(w, batch, chunk, count);
  TriangleBatch setup;
  prepare_batch(batch, count, w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, samples, w.bounds.block_limit, w.draw.test.range_lo,
                w.draw.test.range_hi, setup);
  for (uint32_t left = ((1u << count) - 1) & ~setup.outside; left; left &= left - 1) {
    const uint32_t k = static_cast<uint32_t>(std::countr_zero(left));
    BasicCoverageSink<true, false> sink(w, *batch[k], chunk);
    if (setup.small >> k & 1) {
      sink.window(setup, k);
    } else {
      const bool medium = setup.medium >> k & 1;
      if (!medium) refresh_bounds(w.shape, w.draw.test, w.bounds, w.covers);
      sink.set_depth(setup, k);
      if (!medium)
        cover_triangle(*batch[k], w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, samples, sink);
      else if (samples == 1)
        sink.blocks(setup, k);
      else
        sink.blocks_of_samples(setup, k);
    }
    sink.finish();
    if (w.draw.plan.one_by_one) release_queue(w, w.draw, w.kill, w.packets, w.results);
  }
}

// Covers and tests up to kBatch records of the current draw; kNumbered: `numbers` are theirs in the visibility buffer already.
// kFaint: some of their blocks may show nothing.
template <bool kNumbered, bool kFaint = false>
inline void draw_batch(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                       uint32_t count) {
  assert(count >= 1 && count <= kBatch);
  using Sink = BasicCoverageSink<false, kFaint>;
  const auto sink_of = [&](uint32_t k) { return Sink(w, *batch[k], *chunks[kNumbered ? k : 0], kNumbered ? numbers[k] : 0); };
  std::fill(batch + count, batch + kBatch, batch[0]);
  if (w.draw.coverage >= Coverage::ruled) {
    if (w.draw.coverage == Coverage::coarse) return draw_coarse(w, batch, *chunks[0], count);
    if constexpr (!kNumbered && !kFaint)
      if (takes_squares(w, w.draw, w.lrz, w.filter)) return draw_squares(w, batch, *chunks[0], count);
    return draw_ruled<kNumbered>(w, batch, chunks, numbers, count);
  }
  TriangleBatch setup;
  prepare_batch(batch, count, w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, w.shape.samples, w.bounds.block_limit,
                w.draw.test.range_lo, w.draw.test.range_hi, setup);
  [[maybe_unused]] const bool waits = w.shape.samples > 1 && lists_blocks(w.draw);
  [[maybe_unused]] RunRecords context{w, batch, chunks[0]};
  const uint32_t inside = ((1u << count) - 1) & ~setup.outside;
  const BatchSetups setups(w, batch, *chunks[0], kNumbered ? 0 : count, kNumbered ? 0 : inside);
  const Rectangles rectangles(w, batch, *chunks[0], kNumbered ? 0 : count, inside);
  for (uint32_t left = inside; left; left &= left - 1) {
    if constexpr (!kTraced && !kNumbered) {
      left = draw_run(w, batch, *chunks[0], setup, left);
      if (!left) break;
    }
    const uint32_t k = static_cast<uint32_t>(std::countr_zero(left));
    Sink sink = sink_of(k);
    sink.take_setup(setups.take(w, k));
    if (rectangles.first >> k & 1) {
      left &= ~(2u << k);
      refresh_bounds(w.shape, w.draw.test, w.bounds, w.covers);
      sink.set_depth(setup, k);
      if (!rectangles.box[k].empty()) detail::fill_rect(rectangles.box[k], 1, sink);
    } else if (setup.small >> k & 1) {
      sink.window(setup, k);
    } else if (setup.medium >> k & 1) {
      sink.set_depth(setup, k);
      if (w.shape.samples == 1)
        sink.blocks(setup, k);
      else
        sink.blocks_of_samples(setup, k);
    } else {
      refresh_bounds(w.shape, w.draw.test, w.bounds, w.covers);
      sink.set_depth(setup, k);
      if constexpr (!kTraced && !kNumbered)
        if (waits) sink.list_together(setup, k, *w.waiting_blocks, {draw_unlisted, &context});
      cover_triangle(*batch[k], w.bin.origin_x_px, w.bin.origin_y_px, w.draw.rect, w.shape.samples, sink);
    }
    sink.finish();
    if (w.draw.plan.one_by_one && !w.kill.pins) release_queue(w, w.draw, w.kill, w.packets, w.results);
  }
}

}  // namespace

// Apart, so that what all other draws do stays as it is.
static __attribute__((noinline)) void draw_faint(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks,
                                                 uint32_t count) {
  draw_batch<false, !kTraced>(w, batch, chunks, nullptr, count);
}

#ifndef TILEGPU_TRACED
void draw_any_order(Worker& w, const records::TriangleRecord** batch, const records::Chunk* const* chunks, const uint32_t* numbers,
                    uint32_t count) {
  draw_batch<true>(w, batch, chunks, numbers, count);
}
#endif

namespace {

// Whether records of other draws with the same state may stand in a batch with those of the current one: nothing but their numbers is kept.
bool joins_draws(const TileContext& t, const CurrentDraw& d, const KillQueue& kill) {
  return t.bin.phase == Phase::ordinary && d.plan.route == Route::visibility && d.plan.early == EarlyTests::full && d.early_query < 0 &&
         !d.plan.one_by_one && !kill.on && !t.shape.traits.lrz;
}
bool joins(const PassContext& pass, const CurrentDraw& d, uint32_t draw) {
  return pass.draws[draw].state == d.state && pass.draws[draw].query < 0 && pass.draws[draw].counted == pass.draws[d.number].counted;
}

// What comes before a draw's entries. False: the phase ends with the entry before.
bool enter_draw(Worker& w, uint32_t draw) {
  if (w.bin.phase == Phase::pre) {
    if (w.visibility.primitives.size() + kBatch > kMaxVisible) return false;
    if (draw == w.draw.number) return true;
    leave_prepass_draw(w);
    if (!enter_prepass_draw(*w.pass, w.prepass, draw)) return false;
    w.prepass.recorded = w.results.recorded;
    if (w.prepass.skips) {
      release_queue(w, w.draw, w.kill, w.packets, w.results);
      w.draw.forget();
      w.draw.number = draw;
      return true;
    }
  }
  if (draw != w.draw.number) select_draw(w, draw);
  return true;
}

// Up to eight records of the current draw, or of draws that may stand together, from the first of `left` entries on. Returns how many.
uint32_t take_batch(Worker& w, const records::TriangleRecord* records, const uint32_t* entries, uint32_t left,
                    const records::TriangleRecord** batch) {
  const uint32_t most = std::min(left, kBatch);
  const bool several = joins_draws(w, w.draw, w.kill);
  batch[0] = &records[entries[0]];
  uint32_t count = 1, last = draw_of(*batch[0]);
  for (; count < most; count++) {
    batch[count] = &records[entries[count]];
    const uint32_t next = draw_of(*batch[count]);
    if (next != last && !(several && joins(*w.pass, w.draw, next))) break;
    last = next;
  }
  if (several) w.draw.number = last;
  return count;
}

// Those that binning did not reject, in a pass that is traced. Returns how many.
uint32_t leave_rejected_out(Worker& w, const records::Chunk& chunk, const uint8_t* hidden, const records::TriangleRecord** batch,
                            uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++) {
    batch[kept] = batch[k];
    if constexpr (kTraced)
      if (hidden[k]) trace::lrz_primitive(w, {batch[k], &chunk});
    kept += !hidden[k];
  }
  return kept;
}

// Those that low-resolution Z does not hide, which stay in order. Returns how many.
uint32_t leave_hidden_out(Worker& w, const records::Chunk& chunk, const records::TriangleRecord** batch, uint32_t count) {
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
  return kept;
}

}  // namespace

namespace {

// What is read of a segment's entries soon: records of the two batches that come next; of the first of these, whose records are here, the
// varyings of their first vertices, where quads are shaded in order. (Those of the others lie beside them most often; a flush fetches its
// own.)
class FetchAhead {
 public:
  FetchAhead(const records::Chunk& chunk, const uint32_t* entries, uint32_t from, uint32_t to)
      : records_(chunk.records.data()),
        varyings_(reinterpret_cast<uintptr_t>(chunk.varyings.data())),
        entries_(entries),
        to_(to),
        record_(from),
        vertex_(from) {}

  /// Entries before `next` are read. `draw`: the current one, as those that come most often are.
  void from(uint32_t next, const CurrentDraw& draw) {
    const uint32_t records_end = std::min(next + 2 * kBatch, to_), vertices_end = std::min(next + kBatch, to_);
    for (; record_ < records_end; record_++) prefetch(&records_[entries_[record_]]);
    if (!draw.state || draw.plan.route != Route::shade) return;
    const uintptr_t rows = std::min<uintptr_t>(draw.state->resolved->varyings.components.size(), kMostRows);
    for (vertex_ = std::max(vertex_, next); vertex_ < vertices_end; vertex_++) {
      const uintptr_t vertex = varyings_ + sizeof(float) * records_[entries_[vertex_]].vertex[0];
      for (uintptr_t row = 0; row < rows; row++) prefetch(vertex + row * kRow_B);
    }
  }

 private:
  static constexpr uintptr_t kRow_B = sizeof(float) * shader::kBatchStride, kMostRows = 8;

  const records::TriangleRecord* records_;
  uintptr_t varyings_;
  const uint32_t* entries_;
  uint32_t to_, record_, vertex_;  // entries from there on have not been asked for
};

}  // namespace

uint32_t draw_entries(Worker& w, const records::BinSegment& segment, uint32_t from, uint32_t to) {
  assert(from <= to && to <= segment.count);
  const records::Chunk& chunk = *segment.chunk;
  const uint32_t* entries = chunk.entries.data() + segment.first;
  const records::TriangleRecord* records = chunk.records.data();
  constexpr uint32_t kBetweenLooks = 1024;
  FetchAhead ahead(chunk, entries, from, to);
  ahead.from(from, w.draw);
  for (uint32_t i = from, look = from + kBetweenLooks; i < to;) {
    if (i >= look) {
      if (is_cancelled(*w.pass->cancelled)) return to;  // nobody wants the rest
      look = i + kBetweenLooks;
    }
    if (!enter_draw(w, draw_of(records[entries[i]]))) return i;
    const records::TriangleRecord* batch[kBatch];
    const uint32_t taken = take_batch(w, records, entries + i, to - i, batch), first = i;
    i += taken;
    ahead.from(i, w.draw);
    if (w.bin.phase == Phase::pre) {
      if (w.prepass.replays_draw) note_replay(w.prepass, w.draw.number, w.visibility.primitives.size(), segment, first, taken);
      if (w.prepass.skips) continue;
    }
    if (w.bin.phase == Phase::ordinary && w.visibility.primitives.size() + kBatch > kMaxVisible && w.draw.plan.route == Route::visibility)
      flush_visibility(w);
    uint32_t count = taken;
    if constexpr (kTraced)
      if (!chunk.hidden.empty()) count = leave_rejected_out(w, chunk, chunk.hidden.data() + segment.first + first, batch, taken);
    if (w.lrz.now) count = leave_hidden_out(w, chunk, batch, count);
    const records::Chunk* const only = &chunk;
    if (!count) continue;
    if (kTraced || !w.faint.map)
      draw_batch<false>(w, batch, &only, nullptr, count);
    else
      draw_faint(w, batch, &only, count);
    if (w.bin.phase == Phase::ordinary) lrz_note_feedback(w.lrz, w.draw.number);
  }
  return to;
}

}  // namespace tilegpu::TILEGPU_TILE
