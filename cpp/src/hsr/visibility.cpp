// hsr/visibility.cpp -- stage: tile phase, the host's hidden-surface removal. In: the visibility buffer: for each sample the
// number of the opaque primitive that is seen there. Out: those primitives shaded, each sample once; the buffer cleared.
//
// Opaque draws without side effects only write depth and their number when they are rasterized. Here each touched block's
// numbers are gathered into quads, sorted by draw (packets share push constants and descriptors) and packed. Every sample
// belongs to one quad, so the order cannot matter. Source: architecture, decision 8; Burns and Hunt, "The Visibility Buffer".
#include <cassert>
#include <cstring>

#include "raster/worker.hpp"

namespace tilegpu::hsr {

namespace {

using raster::VisibleQuad;
using raster::Worker;

constexpr uint32_t kWholeBlock = 0x80000000u;  // mark in VisibleQuad::tile_pixel: all samples of all 16 pixels

// Quads of one place: a primitive each.
void gather_place(Worker& w, uint32_t* ids, uint32_t tile_pixel) {
  if (w.samples == 1) {
    const raster::i32x4 numbers = raster::load4(ids);
    uint32_t left = ~raster::sign_bits(numbers == 0) & 0xf;
    while (left) {
      const uint32_t id = ids[std::countr_zero(left)];
      const uint32_t same = raster::sign_bits(numbers == static_cast<int32_t>(id));
      w.gathered.push_back({id, tile_pixel, same});
      left &= ~same;
    }
    return;
  }
  uint64_t left = 0;
  for (uint32_t s = 0; s < w.samples; s++) left |= static_cast<uint64_t>(~raster::sign_bits(raster::load4(ids + 16 * s) == 0) & 0xf) << 4 * s;
  while (left) {
    const int at = std::countr_zero(left);
    const uint32_t id = ids[16 * (at >> 2) + (at & 3)];
    uint64_t same = 0;
    for (uint32_t s = static_cast<uint32_t>(at >> 2); s < w.samples; s++)
      same |= static_cast<uint64_t>(raster::sign_bits(raster::load4(ids + 16 * s) == static_cast<int32_t>(id))) << 4 * s;
    w.gathered.push_back({id, tile_pixel, same});
    left &= ~same;
  }
}

void gather_block(Worker& w, uint32_t block) {
  uint32_t* ids = w.ids + size_t{block} * w.samples * 16;
  const uint32_t vectors = w.samples * 2;
  const raster::i32x8 first = raster::i32x8{} + static_cast<int32_t>(ids[0]);
  raster::i32x8 differs{};
  for (uint32_t i = 0; i < vectors; i++) differs |= raster::load8(ids + 8 * i) ^ first;
  if (!raster::sign_bits(differs != 0)) {
    if (ids[0]) w.gathered.push_back({ids[0], block * 16 | kWholeBlock, 0});
  } else {
    for (uint32_t q = 0; q < 4; q++) gather_place(w, ids + 4 * q, block * 16 + 4 * q);
  }
  for (uint32_t i = 0; i < vectors; i++) raster::store(ids + 8 * i, raster::i32x8{});
}

// Stable, by draw; the result is in w.gathered.
void sort_by_draw(Worker& w) {
  const size_t slots = w.visible_draws.size();
  w.slot_first.assign(slots + 1, 0);
  for (const VisibleQuad& quad : w.gathered) w.slot_first[w.visible[quad.id - 1].draw_slot + 1]++;
  for (size_t i = 0; i < slots; i++) w.slot_first[i + 1] += w.slot_first[i];
  w.sorted.resize(w.gathered.size());
  for (const VisibleQuad& quad : w.gathered) w.sorted[w.slot_first[w.visible[quad.id - 1].draw_slot]++] = quad;
  std::swap(w.gathered, w.sorted);
}

// Setups of the primitives that are seen, eight at a time.
void set_up_gathered(Worker& w) {
  const geometry::TriangleRecord* records[raster::kBatch];
  shader::PrimitiveSetup* setups[raster::kBatch];
  uint32_t count = 0;
  for (const VisibleQuad& quad : w.gathered) {
    raster::VisiblePrimitive& primitive = w.visible[quad.id - 1];
    if (primitive.setup) continue;
    shader::PrimitiveSetup* setup = w.setups.allocate();
    raster::set_up_references(*primitive.record, *primitive.chunk, w.test, quad.id, *setup);
    primitive.setup = setup;
    records[count] = primitive.record;
    setups[count++] = setup;
    if (count == raster::kBatch) {
      raster::set_up_planes(records, setups);
      count = 0;
    }
  }
  if (!count) return;
  for (uint32_t i = count; i < raster::kBatch; i++) {
    records[i] = records[0];
    setups[i] = &w.unused_setup;
  }
  raster::set_up_planes(records, setups);
}

}  // namespace

void flush_visibility(Worker& w) {
  assert(w.queue_count == 0);
  w.gathered.clear();
  for (size_t i = 0; i < w.dirty.size(); i += 8) {  // 64 blocks or more: bins are 32 px wide at least
    uint64_t bytes;
    std::memcpy(&bytes, &w.dirty[i], 8);
    if (!bytes) continue;
    std::memset(&w.dirty[i], 0, 8);
    for (; bytes; bytes &= bytes - 1) gather_block(w, static_cast<uint32_t>(i) + static_cast<uint32_t>(std::countr_zero(bytes) >> 3));
  }
  set_up_gathered(w);
  if (w.visible_draws.size() > 1) sort_by_draw(w);

  uint32_t slot = ~0u;
  bool per_quad_coverage = false;
  for (const VisibleQuad& quad : w.gathered) {
    raster::VisiblePrimitive& primitive = w.visible[quad.id - 1];
    if (primitive.draw_slot != slot) {
      if (w.queue_count) raster::drain_queue(w, true);
      slot = primitive.draw_slot;
      raster::bind_shading(w, w.visible_draws[slot], raster::EarlyTests::full, true);
      per_quad_coverage = w.shading.full_raster;
    }
    const uint32_t tile_pixel = quad.tile_pixel & ~kWholeBlock, block = tile_pixel >> 4;
    const uint32_t x = block % w.blocks_per_row * 4, y = block / w.blocks_per_row * 4;
    if (quad.tile_pixel & kWholeBlock) {
      raster::shade_block(w, primitive.setup, block, static_cast<int32_t>(x), static_cast<int32_t>(y));
      continue;
    }
    const uint32_t quad_x = x + (tile_pixel >> 1 & 2), quad_y = y + (tile_pixel >> 2 & 2);
    uint64_t covered = quad.live;
    if (per_quad_coverage) covered = raster::raster_coverage(w, w.visible_draws[slot], *primitive.record, static_cast<int32_t>(quad_x), static_cast<int32_t>(quad_y));
    raster::push_quad(w, {primitive.setup, tile_pixel, static_cast<uint16_t>(quad_x), static_cast<uint16_t>(quad_y), covered, quad.live});
  }
  if (w.queue_count) raster::drain_queue(w, true);
  w.visible.clear();
  w.visible_draws.clear();
  w.setups.reset();
}

}  // namespace tilegpu::hsr
