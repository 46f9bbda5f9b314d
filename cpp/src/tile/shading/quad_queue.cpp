// tile/shading/quad_queue.cpp -- stage: tile phase, packing. In: waiting quads of one draw, in order. Out: packets of N/4 quads.
//
// With forward pixel kill a quad first waits in a longer queue, in order of all draws, where a later opaque quad whose
// tests were early takes the samples that it covers from those that wait at its place, except from draws with side effects and
// from those that still have tests to come. Source: docs/decisions.md, 8; Arm, "Killing Pixels".
#include "tile/shading/quad_queue.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::tile {

void drain_queue(Worker& w, bool all) {
  assert(w.packets.packet_count == 0 && w.packets.queue_count >= 1 && w.packets.queue_count <= kQueueQuads);
  if (w.packets.shading.deferred) {
    for (uint32_t i = 0; i < w.packets.queue_count; i++) w.vertices.want(w.packets.queue[i].primitive);
    w.vertices.resolve({*w.pass, w.results.counters});
  }
  const auto add = [&](uint32_t i) {
    const WaitingQuad& quad = w.packets.queue[i];
    add_to_packet(w.packets, w.bin, quad.primitive, quad.tile_pixel, quad.x_px, quad.y_px, quad.raster, quad.live);
    w.packets.waiting[quad.tile_pixel >> 4]--;
  };
  uint64_t left = pack(
      w, ~uint64_t{0} >> (kQueueQuads - w.packets.queue_count), all ? 0 : kQueueQuads / 4,
      [&](uint32_t i) { return w.packets.queue[i].tile_pixel; }, add);
  uint32_t kept = 0;
  for (; left; left &= left - 1) w.packets.queue[kept++] = w.packets.queue[std::countr_zero(left)];
  w.packets.queue_count = kept;
}

// -- forward pixel kill --------------------------------------------------------------------------------------------------------

namespace {

// The oldest quads go on to the packing queue, which holds one draw at a time.
void pass_on(Worker& w, uint32_t count) {
  assert(count <= w.kill.end - w.kill.first);
  KillQueue& k = w.kill;
  for (; count; count--) {
    const KillQuad& old = k.quads[k.first++ % k.capacity];
    if (!old.quad.live) continue;
    if (w.packets.bound_draw != old.draw) {
      if (w.packets.queue_count) drain_queue(w, true);
      bind_shading(w, old.draw, old.early, false);
    }
    push_quad(w, old.quad);
  }
}

}  // namespace

void push_kill_quad(Worker& w, const WaitingQuad& quad) {
  assert(w.kill.on && quad.live && w.kill.end - w.kill.first <= w.kill.capacity);
  KillQueue& k = w.kill;
  if (k.end - k.first == k.capacity) pass_on(w, std::max(1u, k.capacity / 4));
  uint32_t& newest = k.newest[quad.tile_pixel >> 2];
  if (k.killer)
    for (uint32_t n = newest; n > k.first;) {
      KillQuad& old = k.quads[(n - 1) % k.capacity];
      if (old.victim && !(old.colors & ~k.colors)) {
        const uint64_t left = old.quad.live & ~quad.live;
        w.results.counters.fragments_killed_by_fpk +=
            static_cast<uint32_t>(std::popcount(covered_pixels(old.quad.live) & ~covered_pixels(left)));
        if constexpr (kTraced) trace::killed_waiting(w, old.quad, left, quad);
        old.quad.live = left;
      }
      n = old.previous;
    }
  k.quads[k.end % k.capacity] = {quad, w.draw.number, newest, w.draw.plan.early, k.victim, k.colors};
  newest = ++k.end;
}

void release_queue(Worker& w) {
  KillQueue& k = w.kill;
  if (k.on && k.end != k.first) {
    pass_on(w, k.end - k.first);
    // Numbers begin anew long before they wrap around.
    if (k.end > 1u << 30) {
      k.first = k.end = 0;
      std::fill(k.newest.begin(), k.newest.end(), 0);
    }
  }
  if (w.packets.queue_count) drain_queue(w, true);
}

}  // namespace tilegpu::tile
