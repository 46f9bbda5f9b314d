// tile/worker/worker.cpp -- see worker.hpp.
#include "tile/worker/variant.hpp"

#include "tile/worker/worker.hpp"

#include <cstring>

#include "tile_io/equal_quads.hpp"

namespace tilegpu::TILEGPU_TILE {

void TileShape::begin_pass(const PassContext& pass) {
  assert(std::has_single_bit(pass.tile.bin_px) && pass.tile.bin_px >= 32 && pass.tile.bin_px / 4 <= BinPlace::kMostBlocks);
  assert(std::has_single_bit(pass.samples) && pass.samples <= kMaxSamples && pass.samples == pass.tile.samples);
  assert(pass.lanes == 4 || pass.lanes == 8 || pass.lanes == 16);
  assert(pass.tile.width_px <= pass.tile.bin_px && pass.tile.height_px <= pass.tile.bin_px);
  bin_px = pass.tile.bin_px;
  width_px = pass.tile.width_px, height_px = pass.tile.height_px;
  blocks_per_row = bin_px / 4;
  row_shift = static_cast<uint32_t>(std::countr_zero(blocks_per_row));
  samples = pass.samples;
  quads_per_packet = pass.lanes / 4;
  wide = wide_vectors(pass.lanes);
  positions = sample_positions(pass.samples);
  all_samples = samples == 16 ? ~uint64_t{0} : (uint64_t{1} << 4 * samples) - 1;
}

void TileBuffers::begin_pass(const PassContext& pass, const TileShape& shape) {
  memory.reserve(std::max<uint32_t>(pass.tile.size_B, 64));
  equal = tile_io::equal_quads(pass.tile, memory.data());
  const size_t blocks = shape.blocks();
  dirty_memory.reserve(blocks + 8);  // eight are written at once
  dirty = dirty_memory.data();
  std::memset(dirty, 0, blocks + 8);
  ids = nullptr;
  if (!pass.hsr.visibility_buffer && !pass.hsr.pre_pass) return;
  const size_t size_B = blocks * shape.samples * 64;
  ids_memory.reserve(size_B);
  ids = reinterpret_cast<uint32_t*>(ids_memory.data());
  std::memset(ids, 0, size_B);  // and every flush leaves it zero
}

void Bin::begin_bin(const records::BinGrid& grid, uint32_t bin, const TileShape& shape) {
  assert(bin < grid.bins() && grid.width_px == shape.width_px && grid.height_px == shape.height_px);
  layer = bin / grid.bins_of_layer();
  const uint32_t in_layer = bin % grid.bins_of_layer();
  origin_x_px = grid.x_px(in_layer);
  origin_y_px = grid.y_px(in_layer);
  place.place(origin_x_px, origin_y_px, shape.blocks_per_row);
  phase = Phase::ordinary;
  last_flush = false;
}

void Results::begin_pass(const PassContext& pass, const TileShape& shape) {
  counters = {};
  ledger = {};
  query_samples.assign(pass.query_count, 0);
  counted_fragments.assign(pass.counted + 1, 0);
  counted = 0;
  pass_masks.resize(size_t{shape.blocks_per_row} * shape.samples);
}

PixelRect draw_rect(const TileContext& t, const command::DrawState& state) {
  const auto low = [](int64_t a, int64_t b, int64_t origin) { return static_cast<int32_t>(std::max<int64_t>(std::max(a, b) - origin, 0)); };
  const auto high = [](int64_t a, int64_t b, int64_t origin, uint32_t size_px) {
    return static_cast<int32_t>(std::clamp<int64_t>(std::min(a, b) - origin, 0, size_px));
  };
  const VkRect2D &s = state.scissor, &r = t.pass->render_area;
  PixelRect rect;
  rect.x0 = low(s.offset.x, r.offset.x, t.bin.origin_x_px);
  rect.y0 = low(s.offset.y, r.offset.y, t.bin.origin_y_px);
  rect.x1 = high(int64_t{s.offset.x} + s.extent.width, int64_t{r.offset.x} + r.extent.width, t.bin.origin_x_px, t.shape.width_px);
  rect.y1 = high(int64_t{s.offset.y} + s.extent.height, int64_t{r.offset.y} + r.extent.height, t.bin.origin_y_px, t.shape.height_px);
  return rect;
}

uint64_t raster_coverage(const TileContext& t, uint32_t draw, const records::TriangleRecord& record, const records::Chunk& chunk,
                         int32_t x_px, int32_t y_px) {
  assert(draw < t.pass->draws.size() && !((x_px | y_px) & 1));  // a quad
  const command::DrawState& state = *t.pass->draws[draw].state;
  const PixelRect rect = draw_rect(t, state);
  const records::CoverageRule rule = records::coverage_rule(state);
  const int32_t x_of_area_px = t.bin.origin_x_px + x_px, y_of_area_px = t.bin.origin_y_px + y_px;
  uint64_t coverage = rule.lines() ? cover_line_quad(line_of(record, chunk, rule.line), x_of_area_px, y_of_area_px, t.shape.samples,
                                                     rule.places(t.shape.samples))
                                   : cover_quad(record, rule, x_of_area_px, y_of_area_px, t.shape.samples);
  const uint32_t sample_mask = state.multisample.sample_mask;
  for (uint32_t s = 0; s < t.shape.samples; s++)
    for (int32_t p = 0; p < 4; p++) {
      const int32_t x = x_px + (p & 1), y = y_px + (p >> 1);
      const bool inside = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1 &&
                          (!rule.discard || rule.discard->draws(t.bin.origin_x_px + x, t.bin.origin_y_px + y));
      if (!inside || !(sample_mask >> s & 1)) coverage &= ~(uint64_t{1} << (4 * s + static_cast<uint32_t>(p)));
    }
  return coverage;
}

}  // namespace tilegpu::TILEGPU_TILE
