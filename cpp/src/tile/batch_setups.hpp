// tile/batch_setups.hpp -- stage: tile phase, setup of the records of a batch that are shaded in order. In: up to kBatch records of one
// draw. Out: their PrimitiveSetups; and which two of them are one rectangle.
//
// Included by draw_entries.cpp alone. Source: docs/decisions.md, 562 and 569; Vulkan specification, "Basic Polygon Rasterization".
#pragma once

#include <bit>
#include <cassert>

#include "records/rectangle_half.hpp"
#include "tile/record_route.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Setups of a batch's records, made together: they are shaded in order, so that nearly all will be wanted. Of few, or where a setup has
/// more to it, none: each is made when it is wanted.
class BatchSetups {
 public:
  BatchSetups(Worker& w, const records::TriangleRecord* const* batch, const records::Chunk& chunk, uint32_t count, uint32_t wanted) {
    constexpr int kFewest = 3;
    if (kTraced || w.kill.on || w.draw.plan.route != Route::shade || w.draw.plan.smooth_lines || w.bin.phase != Phase::ordinary) return;
    if (std::popcount(wanted) < kFewest) return;
    make(w, batch, chunk, count);
  }
  /// Of a record that is drawn now; null: none was made.
  const shader::PrimitiveSetup* take(Worker& w, uint32_t k) const {
    assert(k < kBatch);
    if (of_[k]) w.packets.vertices.complete(*w.pass, *of_[k]);
    return of_[k];
  }

 private:
  __attribute__((noinline)) void make(Worker& w, const records::TriangleRecord* const* batch, const records::Chunk& chunk, uint32_t count) {
    Packets& p = w.packets;
    make_room_for_setups(w);
    const records::Chunk* chunks[kBatch];
    uint32_t orders[kBatch];
    shader::PrimitiveSetup unused, *out[kBatch];
    for (uint32_t k = 0; k < kBatch; k++) {
      out[k] = k < count ? of_[k] = p.setups.allocate() : &unused;
      chunks[k] = &chunk;
      orders[k] = p.setups.number();
    }
    const uint32_t corners = records::takes_corners(w.draw.state->resolved->classification) ? ~0u : 0;
    set_up_primitives(batch, chunks, orders, w.draw.test.range_lo, w.draw.test.range_hi, corners, out);
  }

  shader::PrimitiveSetup* of_[kBatch] = {};
};

/// Whether two halves of a rectangle that follow each other are one primitive: nothing tells which half a pixel is of, whether its
/// neighbours are covered, nor what they hold by then.
inline bool joins_halves(const Worker& w) {
  const CurrentDraw& d = w.draw;
  if (kTraced || w.shape.samples != 1 || w.bin.phase != Phase::ordinary || w.kill.on || w.lrz.now || w.filter.tile.on()) return false;
  if (d.plan.route != Route::shade || d.coverage != Coverage::each || d.plan.one_by_one || w.packets.shading.deferred) return false;
  const pipeline::Resolved& resolved = *d.state->resolved;
  const pipeline::Classification& c = resolved.classification;
  const shader::StageTraits& fragment = resolved.traits(VK_SHADER_STAGE_FRAGMENT_BIT);
  return records::takes_corners(c) && !c.side_effects && !c.reads_inputs && !fragment.reads_helper && !fragment.reads_sample_mask &&
         !fragment.reads_primitive_id;
}

/// Records of a batch that are one rectangle with the next one each.
struct Rectangles {
  uint32_t first = 0;  // bit k: of k and k + 1
  PixelRect box[kBatch];

  /// `inside`: those that the bin sees something of.
  Rectangles(const Worker& w, const records::TriangleRecord* const* batch, const records::Chunk& chunk, uint32_t count, uint32_t inside) {
    if (!w.draw.joins_halves) return;
    const std::vector<shader::VaryingComponent>& inputs = w.draw.state->resolved->varyings.components;
    for (uint32_t k = 0; k + 1 < count; k++) {
      if ((inside >> k & 3) != 3 || !may_be_half(*batch[k])) continue;
      records::RectangleHalf half;
      if (!is_rectangle(*batch[k], *batch[k + 1], chunk, inputs, half)) continue;
      // Pixels whose centre lies inside, or on the upper or left edge.
      const auto from = [](int32_t subpixels, int32_t origin_px) { return ((subpixels + 127) >> 8) - origin_px; };
      const int32_t x_px = w.bin.origin_x_px, y_px = w.bin.origin_y_px;
      const PixelRect& rect = w.draw.rect;
      box[k] = {std::max(rect.x0, from(half.x0, x_px)), std::max(rect.y0, from(half.y0, y_px)), std::min(rect.x1, from(half.x1, x_px)),
                std::min(rect.y1, from(half.y1, y_px))};
      first |= 1u << k++;
    }
  }
};

}  // namespace tilegpu::TILEGPU_TILE
