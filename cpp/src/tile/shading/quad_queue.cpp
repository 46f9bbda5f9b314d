// tile/shading/quad_queue.cpp -- stage: tile phase, packing. In: waiting quads of one draw, in order. Out: packets of N/4 quads.
//
// With forward pixel kill a quad, the group of Arm's articles, first waits in a longer queue, in order of all draws, where a later
// opaque quad whose tests were early kills those at its place whose samples it covers, all of them (or, as an option, takes the samples
// that it covers from any), except of draws with side effects and those that still have tests to come. The latter are pinned: a later
// quad whose tests write, or could be wrong without theirs, waits for those of its block, and so for all in front of them. Nothing else
// empties the queue between draws. What the pre-pass of a bin leaves for its main pass waits there too: what is seen of it, and behind that
// what it draws again, with the moment of the main pass.
// Source: docs/decisions.md, 8 and 356; Arm, "Killing Pixels"; Arm, article on the fragment pre-pass (answers to comments).
#include "tile/shading/quad_queue.hpp"

#include "tile/shading/coarse.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::TILEGPU_TILE {

void drain_queue(const TileContext& t, Packets& p, Results& r, bool all) {
  assert(p.packet_count == 0 && p.queue_count >= 1 && p.queue_count <= kQueueQuads);
  if (p.shading.deferred) {
    for (uint32_t i = 0; i < p.queue_count; i++) p.vertices.want(p.queue[i].primitive);
    p.vertices.resolve({*t.pass, r.counters, p.loops});
  }
  const auto add = [&](uint32_t i) {
    const WaitingQuad& quad = p.queue[i];
    add_to_packet(p, t.bin, quad.primitive, quad.tile_pixel, quad.x_px, quad.y_px, quad.raster, quad.live);
    p.waiting[quad.tile_pixel >> 4]--;
  };
  uint64_t left = pack(
      t, p, r, ~uint64_t{0} >> (kQueueQuads - p.queue_count), all ? 0 : kQueueQuads / 4, [&](uint32_t i) { return p.queue[i].tile_pixel; },
      add);
  uint32_t kept = 0;
  for (; left; left &= left - 1) p.queue[kept++] = p.queue[std::countr_zero(left)];
  p.queue_count = kept;
}

// -- forward pixel kill --------------------------------------------------------------------------------------------------------

namespace {

// The packing queue is empty, and all that left the longer one is shaded.
void drain_passed(const TileContext& t, KillQueue& k, Packets& p, Results& r, uint32_t passed) {
  if (p.queue_count) drain_queue(t, p, r, true);
  k.shaded = passed;
}

// The oldest quads go on to the packing queue, which holds one draw at a time.
void pass_on(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, uint32_t count) {
  assert(count <= k.end - k.first);
  for (; count; count--) {
    const KillQuad& old = k.quads[k.first++ % k.capacity];
    if (!old.quad.live) continue;
    if (p.bound_draw != old.draw) {
      drain_passed(t, k, p, r, k.first - 1);
      ShadeMoment moment;  // d.moment: the same for all draws whose quads wait, but for those that keep their own
      if (!old.seen) moment = d.moment;
      moment.early = old.early;
      if (const KeptDraw* const own = old.own)
        bind_shading(t, {own->state, &own->test, own->replay_ids}, p, r, old.draw, own->moment);
      else
        bind_shading(t, old.draw == d.number ? d.late() : LateTests{}, p, r, old.draw, moment);
    }
    // When their depth is written is a matter of how many quads came, not of how many lanes a packet has.
    if (old.pinned && p.queue_count == kQueueQuads) drain_passed(t, k, p, r, k.first - 1);
    push_quad(t, p, r, old.quad);
  }
}

// All up to quad `number` are shaded.
void shade_up_to(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, uint32_t number) {
  assert(number <= k.end);
  if (number > k.first) pass_on(t, d, k, p, r, number - k.first);
  drain_passed(t, k, p, r, k.first);
}

// At the end of the queue, which has room.
void enqueue(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, KillQuad quad) {
  assert(k.on && quad.quad.live && k.end - k.first <= k.capacity);
  if (k.end - k.first == k.capacity) pass_on(t, d, k, p, r, 1);
  uint32_t& newest = k.newest[quad.quad.tile_pixel >> 2];
  quad.previous = newest;
  k.quads[k.end % k.capacity] = quad;
  newest = ++k.end;
  if (quad.pinned) k.newest_pinned = k.pinned[quad.quad.tile_pixel >> 4] = k.end;
}

// The current draw, kept until the last of its quads is shaded.
const KeptDraw* kept_draw(const CurrentDraw& d, KillQueue& k) {
  assert(k.keeps && d.moment.phase != Phase::pre);
  if (!k.draw) {
    KeptDraw& own = k.draws[k.draw_count++ % k.draws.size()];
    own = {d.state, d.late_test, d.moment, d.replay_ids};
    k.draw = &own;
  }
  return k.draw;
}

}  // namespace

void push_kill_quad(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, const WaitingQuad& quad) {
  if (k.killer)
    for (uint32_t n = k.newest[quad.tile_pixel >> 2]; n > k.first;) {
      KillQuad& old = k.quads[(n - 1) % k.capacity];
      if (old.victim && !(old.colors & ~k.colors) && (k.single_samples || !(old.quad.live & ~quad.live))) {
        const uint64_t left = old.quad.live & ~quad.live;
        r.counters.fragments_killed_by_fpk += static_cast<uint32_t>(std::popcount(covered_pixels(old.quad.live) & ~covered_pixels(left)));
        if constexpr (kTraced) trace::killed_waiting(*t.traced, old.quad, left, quad);
        old.quad.live = left;
      }
      if (old.reads && old.quad.live) break;
      n = old.previous;
    }
  enqueue(t, d, k, p, r,
          {quad, d.number, 0, d.plan.early, k.victim, false, k.reads, k.pins, k.colors, k.keeps ? kept_draw(d, k) : nullptr});
}

void push_seen_quad(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, uint32_t draw,
                    const WaitingQuad& quad) {
  const pipeline::Resolved& resolved = *t.pass->draws[draw].state->resolved;
  enqueue(t, d, k, p, r,
          {quad, draw, 0, EarlyTests::full, !resolved.classification.side_effects, true, false, false,
           static_cast<uint8_t>(resolved.output.written_targets), nullptr});
}

void settle_block(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, uint32_t block) {
  assert(k.on && block < k.pinned.size());
  if (k.pinned[block] > k.shaded) shade_up_to(t, d, k, p, r, k.pinned[block]);
}

void release_queue(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r) {
  if (p.coarse.count) drain_coarse(t, p, r);
  if (k.on) {
    shade_up_to(t, d, k, p, r, k.end);
    if (k.end > 1u << 30) k.begin_numbers();  // long before they wrap around
  } else if (p.queue_count) {
    drain_queue(t, p, r, true);
  }
}

}  // namespace tilegpu::TILEGPU_TILE
