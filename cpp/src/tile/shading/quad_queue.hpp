// tile/shading/quad_queue.hpp -- stage: tile phase, quads that wait in order: for a full packet, or, with forward pixel kill, for a later
// opaque quad that hides them. In: quads of the current draw. Out: packets (shade.hpp).
#pragma once

#include "tile/shading/shade.hpp"

namespace tilegpu::tile {

/// Shades waiting quads: all of them, or until few enough wait that a packet may not fill.
void drain_queue(Worker& w, bool all);
inline void push_quad(Worker& w, const WaitingQuad& quad) {
  assert(quad.live && (quad.live & ~quad.raster) == 0);
  if (w.packets.queue_count == kQueueQuads) drain_queue(w, false);
  w.packets.queue[w.packets.queue_count++] = quad;
  w.packets.waiting[quad.tile_pixel >> 4]++;
}

/// Everything that waits, of all draws, is shaded.
void release_queue(Worker& w);
/// Forward pixel kill: the quad waits; where its draw is a killer, what waits behind it is not shaded any more.
void push_kill_quad(Worker& w, const WaitingQuad& quad);
inline void emit_quad(Worker& w, const WaitingQuad& quad) {
  if (w.kill.on && w.bin.phase != Phase::pre)
    push_kill_quad(w, quad);
  else
    push_quad(w, quad);
}

}  // namespace tilegpu::tile
