// tile/prepass.cpp -- stage: tile phase, the fragment pre-pass. In: a bin's segments. Out: tile memory, up to the first draw that is not
// compatible in this bin.
//
// Pre-pass: compatible draws in order, up to known coverage. Depth and stencil are written, and for each sample the number of the
// opaque primitive that is seen there (the plane of the visibility buffer); draws that are not opaque are skipped, or only counted
// where an occlusion query is active. Main pass: no opaque sample depends
// on anything below it, and a draw that is not opaque survives only where it is newer than what is seen; so all opaque samples are shaded
// first, gathered from the ids without a second rasterization, each once, then the others in order, against the final depth and stencil.
// Draws with side effects are never victims: they are drawn again, all fragments run, and only what is owned is written. All of it goes
// through forward pixel kill's queue, if that is on, the visibility buffer is not, and a draw follows: it may still kill what waits. Then
// drawing goes on as ever.
// Source: Arm, "Hidden Surface Removal in Immortalis-G925: The Fragment Prepass"; rules: prepass_rules.hpp.
#include <cassert>
#include <cstring>

#include "tile/prepass.hpp"

#include "tile/draw_entries.hpp"
#include "tile/shading/quad_queue.hpp"
#include "tile/visibility/visibility.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

void note_stop(PrePass& p, uint32_t draw, const hsr::Verdict& verdict) {
  for (PrepassStopCount& stop : p.stops)
    if (stop.draw == draw && stop.verdict.reason == verdict.reason && stop.verdict.because_of == verdict.because_of) {
      stop.tiles++;
      return;
    }
  p.stops.push_back({draw, verdict, 1});
}

// Draws that are not opaque, and those with side effects, in order. Where they wait, nothing is released between them.
void replay(Worker& w) {
  assert(w.bin.phase == Phase::main);
  PrePass& p = w.prepass;
  const auto release = [&] {
    if (!w.visibility.queued) release_queue(w, w.draw, w.kill, w.packets, w.results);
  };
  for (const Replay& r : p.replays) {
    release();
    const pipeline::Resolved& resolved = *w.pass->draws[r.draw].state->resolved;
    p.verdict = {};
    p.verdict.writes_zs = resolved.output.written_targets >> shader::kInputDepth & 3;
    p.opaque_replay = r.opaque;
    p.replay_ids = p.replay_next = r.ids;
    w.draw.number = ~0u;
    if (!w.visibility.queued) w.packets.bound_draw = ~0u;
    // What the pre-pass counted is not counted again.
    const auto rasterized = w.results.counters.fragments_rasterized, killed = w.results.counters.fragments_early_killed,
               by_blocks = w.results.counters.fragments_killed_by_hierarchical_z;
    if constexpr (kTraced) trace::mute(w, r.rasterized);
    draw_entries(w, *r.segment, r.first, r.first + r.count);
    release();
    if constexpr (kTraced) trace::mute(w, false);
    if (r.rasterized) {
      w.results.counters.fragments_rasterized = rasterized;
      w.results.counters.fragments_early_killed = killed;
      w.results.counters.fragments_killed_by_hierarchical_z = by_blocks;
    }
  }
}

// What is seen, then what is drawn again. Leaves the bin in its ordinary phase; true: what waits in the kill queue may stay there.
bool run_main_phase(Worker& w) {
  assert(w.bin.phase == Phase::main);
  PrePass& p = w.prepass;
  Visibility& v = w.visibility;
  v.queued = p.stopped && w.kill.on && !v.enabled;
  w.packets.bound_draw = ~0u;  // not as the pre-pass bound it, which ran slices
  w.kill.retains = v.queued;
  if (!v.primitives.empty()) flush_visibility(w);
  if (!p.replays.empty()) {
    replay(w);
    p.keeps_ids = v.queued;
    if (!v.queued) {
      forget_numbers(w);
      w.packets.setups.reset();
    }
    p.replays.clear();
    forget_primitives(v);
  }
  w.bin.phase = Phase::ordinary;
  w.draw.forget();
  const bool waits = v.queued;
  v.queued = false;
  return waits;
}

}  // namespace

void forget_numbers(Worker& w) {
  std::memset(w.buffers.ids, 0, size_t{w.shape.blocks()} * w.shape.samples * 64);
  w.prepass.keeps_ids = false;
}

void leave_prepass_draw(Worker& w) {
  assert(w.bin.phase == Phase::pre);
  release_queue(w, w.draw, w.kill, w.packets, w.results);
  if (w.prepass.runs_all) w.results.recorded = w.prepass.recorded;
  w.prepass.runs_all = false;
}

bool enter_prepass_draw(const PassContext& pass, PrePass& p, uint32_t draw) {
  assert(p.enabled && draw < pass.draws.size());
  const command::DrawCall& call = pass.draws[draw];
  const hsr::Verdict verdict = judge(*call.state, draw, call.query >= 0, p.history);
  if (!verdict.compatible) {
    note_stop(p, draw, verdict);
    return false;
  }
  p.verdict = verdict;
  p.replays_draw = hsr::draws_again(*call.state, verdict);
  p.skips = hsr::skips(verdict, call.query >= 0);
  p.runs_all = call.state->resolved->classification.side_effects;
  p.census.enter(draw, p.skips, call.state->resolved->classification.needs_slice);
  return true;
}

bool run_prepass(Worker& w, uint32_t& segment, uint32_t& at, uint32_t end) {
  assert(w.bin.phase == Phase::ordinary && w.buffers.ids && segment < end);
  assert(w.visibility.primitives.empty());  // it begins where nothing waits
  PrePass& p = w.prepass;
  const std::vector<records::BinSegment>& segments = w.pass->geometry->segments;
  p.history = {};
  p.replays.clear();
  p.stopped = p.runs_all = false;
  assert(!p.keeps_ids && !w.visibility.queued);
  w.results.recorded = 0;
  p.tiles++;
  w.bin.phase = Phase::pre;
  w.draw.forget();
  bool full = false;
  const uint32_t first_segment = segment, first_entry = at;
  p.census.begin_prepass();
  while (segment < end) {
    const records::BinSegment& now = segments[segment];
    if (now.chunk->clear) {
      hsr::Verdict verdict;
      verdict.rule = hsr::kClearRule;
      verdict.reason = "a clear inside the pass";
      note_stop(p, w.draw.number, verdict);
      break;
    }
    const uint32_t reached = draw_entries(w, now, at, now.count);
    if (reached < now.count) {
      at = reached;
      full = w.visibility.primitives.size() + kBatch > kMaxVisible;
      p.stopped = !full;
      break;
    }
    at = 0;
    segment++;
  }
  leave_prepass_draw(w);
  for (uint32_t i = first_segment; p.census.on() && i <= segment && i < end; i++)
    p.census.pass_over(segments[i], i == first_segment ? first_entry : 0, i == segment ? at : segments[i].count);

  w.bin.phase = Phase::main;
  if (run_main_phase(w)) return false;
  release_queue(w, w.draw, w.kill, w.packets, w.results);
  w.packets.bound_draw = ~0u;
  return full;
}

}  // namespace tilegpu::TILEGPU_TILE
