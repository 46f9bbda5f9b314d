// raster/quad_queue.cpp -- stage: tile phase, packing. In: waiting quads of one draw, in order. Out: packets of N/4 quads.
//
// A packet takes the oldest quad and then the next ones that lie elsewhere: a place occurs once in a packet (the epilogue may
// read all its pixels before it writes), and since every later quad of a taken place is passed over too, the order at a place
// is kept. Source: architecture, decision 8.
#include "raster/worker.hpp"

namespace tilegpu::raster {

void drain_queue(Worker& w, bool all) {
  uint64_t left = w.queue_count == kQueueQuads ? ~uint64_t{0} : (uint64_t{1} << w.queue_count) - 1;
  const uint32_t keep = all ? 0 : kQueueQuads / 4;
  while (static_cast<uint32_t>(std::popcount(left)) > keep) {
    for (uint64_t bits = left; bits && w.packet_count < w.quads_per_packet; bits &= bits - 1) {
      const uint32_t i = static_cast<uint32_t>(std::countr_zero(bits));
      const WaitingQuad& quad = w.queue[i];
      if (packet_holds(w, quad.tile_pixel)) continue;
      add_to_packet(w, quad.primitive, quad.tile_pixel, quad.x_px, quad.y_px, quad.raster, quad.live);
      w.waiting[quad.tile_pixel >> 4]--;
      left &= ~(uint64_t{1} << i);
    }
    shade_packet(w);
  }
  uint32_t kept = 0;
  for (; left; left &= left - 1) w.queue[kept++] = w.queue[std::countr_zero(left)];
  w.queue_count = kept;
}

}  // namespace tilegpu::raster
