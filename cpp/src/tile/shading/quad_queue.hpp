// tile/shading/quad_queue.hpp -- stage: tile phase, quads that wait in order: for a full packet, or, with forward pixel kill, for a later
// opaque quad that hides them. In: quads of the current draw. Out: packets (shade.hpp).
#pragma once

#include "tile/shading/shade.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Shades waiting quads: all of them, or until few enough wait that a packet may not fill.
void drain_queue(const TileContext& t, Packets& p, Results& r, bool all);
inline void push_quad(const TileContext& t, Packets& p, Results& r, const WaitingQuad& quad) {
  assert(quad.live && (quad.live & ~quad.raster) == 0);
  if (p.queue_count == kQueueQuads) drain_queue(t, p, r, false);
  p.queue[p.queue_count++] = quad;
  p.waiting[quad.tile_pixel >> 4]++;
}

/// Everything that waits, of all draws up to the current one, is shaded.
void release_queue(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r);
/// Forward pixel kill: the quad waits; where its draw, which is the current one, is a killer, what waits behind it is not shaded any more.
void push_kill_quad(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, const WaitingQuad& quad);
/// Before a test of the current draw: pinned quads of the block are shaded, and all that wait in front of them.
void settle_block(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, uint32_t block);
/// The same of what is seen when the pre-pass of a bin ends, of any draw: it kills nothing, since no two lie at one place.
void push_seen_quad(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, uint32_t draw,
                    const WaitingQuad& quad);
inline void emit_quad(const TileContext& t, const CurrentDraw& d, KillQueue& k, Packets& p, Results& r, const WaitingQuad& quad) {
  if (k.on && t.bin.phase != Phase::pre)
    push_kill_quad(t, d, k, p, r, quad);
  else
    push_quad(t, p, r, quad);
}

}  // namespace tilegpu::TILEGPU_TILE
