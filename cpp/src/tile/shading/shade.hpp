// tile/shading/shade.hpp -- stage: tile phase, packets and their shading. In: quads of one draw, or whole blocks. Out: tile memory, late
// tests and counts included. Source: docs/decisions.md, 8.
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// How quads of a draw with this plan are shaded now, when they come from the queue.
inline ShadeMoment moment_of(const Bin& bin, const Visibility& v, const PrePass& prepass, const TilePlan& plan) {
  ShadeMoment moment;
  moment.early = plan.early;
  moment.phase = bin.phase;
  moment.ids_below = !v.primitives.empty();
  moment.opaque = prepass.verdict.opaque;
  moment.opaque_replay = prepass.opaque_replay;
  moment.late = plan.late;
  return moment;
}
/// Points the packet and Packets::shading at a draw. `moment`: but for what is the draw's own (a query, deferred vertices).
void bind_shading(const TileContext& t, const LateTests& tests, Packets& p, Results& r, uint32_t draw, ShadeMoment moment);
/// Fragments that were shaded since the last call are those of the draw that was bound.
void attribute_fragments(Results& r, uint32_t counted);
/// Puts a quad into the open packet; its place is not there yet. A full packet must be shaded before the next one.
inline void add_to_packet(Packets& p, const Bin& bin, const shader::PrimitiveSetup* primitive, uint32_t tile_pixel, int32_t x_px,
                          int32_t y_px, uint64_t raster, uint64_t live) {
  assert(p.packet_count < shader::kMaxQuads && (live & ~raster) == 0);
  shader::FragmentArgs& args = p.args;
  const uint32_t q = p.packet_count++;
  p.block_primitive = nullptr;
  args.primitive[q] = primitive;
  args.x_px[q] = bin.origin_x_px + x_px;
  args.y_px[q] = bin.origin_y_px + y_px;
  args.tile_pixel[q] = tile_pixel;
  args.raster_coverage[q] = raster;
  args.live_coverage[q] = live;
}
inline bool packet_holds(const Packets& p, uint32_t tile_pixel) {
  bool held = false;
  for (uint32_t q = 0; q < p.packet_count; q++) held |= p.args.tile_pixel[q] == tile_pixel;
  return held;
}
/// Shades the open packet (one quad or more) and closes it.
void shade_packet(const TileContext& t, Packets& p, Results& r);
/// What follows the body, where the outputs of the packet's first `count` quads are in its args already.
void finish_shaded(const TileContext& t, Packets& p, Results& r, uint32_t count);
/// Shades a packet that lies elsewhere.
void run_body(const TileContext& t, const Packets& p, shader::FragmentArgs& args);
/// The packer: of up to 64 quads of one draw that wait (bit: which) until at most `keep` are left, which it returns. A packet takes the
/// oldest one and then the next ones that lie elsewhere: a place occurs once in a packet, since the epilogue may read all its pixels before
/// it writes, and as every later quad of a taken place is passed over too, the order at a place is kept. place(i): the quad's tile pixel;
/// add(i): puts it into the open packet.
template <class Place, class Add>
[[gnu::always_inline]] inline uint64_t pack(const TileContext& t, Packets& p, Results& r, uint64_t waiting, uint32_t keep, Place&& place,
                                            Add&& add) {
  assert(p.packet_count == 0);
  while (static_cast<uint32_t>(std::popcount(waiting)) > keep) {
    for (uint64_t bits = waiting; bits && p.packet_count < t.shape.quads_per_packet; bits &= bits - 1) {
      const uint32_t i = static_cast<uint32_t>(std::countr_zero(bits));
      if (packet_holds(p, place(i))) continue;
      add(i);
      waiting &= ~(uint64_t{1} << i);
    }
    shade_packet(t, p, r);
  }
  return waiting;
}
/// Quads of one packet of 16 lanes, all of the draw that is bound, at places of their own: shaded without the open packet, which is empty.
/// Their primitives are set up; raster coverage is the live one.
inline constexpr uint32_t kGatheredQuads = 4;
void shade_gathered(const TileContext& t, const Visibility& v, Packets& p, Results& r, const VisibleQuad* quads);
inline bool apart(const VisibleQuad* quads) {
  const i32x4 places = {static_cast<int32_t>(quads[0].tile_pixel), static_cast<int32_t>(quads[1].tile_pixel),
                        static_cast<int32_t>(quads[2].tile_pixel), static_cast<int32_t>(quads[3].tile_pixel)};
  const i32x4 turned = (i32x4)_mm_shuffle_epi32((__m128i)places, 0x39), opposite = (i32x4)_mm_shuffle_epi32((__m128i)places, 0x4e);
  return !sign_bits((places == turned) | (places == opposite));
}
/// Shades part of a block of one primitive at once, where nothing waits for any of its places. One sample, packets of 16 lanes; masks of
/// the block's pixels in tile order, some of quad 0 among those that are live.
void shade_part(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive, uint32_t block, uint32_t covered,
                uint32_t live);
/// Shades whole blocks of one primitive, side by side, all samples of which are live.
void shade_blocks(const TileContext& t, Packets& p, Results& r, const shader::PrimitiveSetup* primitive, uint32_t block, uint32_t count);

}  // namespace tilegpu::TILEGPU_TILE
