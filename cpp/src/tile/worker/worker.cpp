// tile/worker/worker.cpp -- see worker.hpp.
#include "tile/worker/variant.hpp"

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

PixelRect draw_rect(const TileContext& t, const command::DrawState& state) {
  const auto low = [](int64_t a, int64_t b, int64_t origin) { return static_cast<int32_t>(std::max<int64_t>(std::max(a, b) - origin, 0)); };
  const auto high = [&](int64_t a, int64_t b, int64_t origin) {
    return static_cast<int32_t>(std::clamp<int64_t>(std::min(a, b) - origin, 0, t.shape.bin_px));
  };
  const VkRect2D &s = state.scissor, &r = t.pass->render_area;
  PixelRect rect;
  rect.x0 = low(s.offset.x, r.offset.x, t.bin.origin_x_px);
  rect.y0 = low(s.offset.y, r.offset.y, t.bin.origin_y_px);
  rect.x1 = high(int64_t{s.offset.x} + s.extent.width, int64_t{r.offset.x} + r.extent.width, t.bin.origin_x_px);
  rect.y1 = high(int64_t{s.offset.y} + s.extent.height, int64_t{r.offset.y} + r.extent.height, t.bin.origin_y_px);
  assert(rect.x1 <= static_cast<int32_t>(t.shape.bin_px) && rect.y1 <= static_cast<int32_t>(t.shape.bin_px));  // x0, y0: beyond, if empty
  return rect;
}

uint64_t raster_coverage(const TileContext& t, uint32_t draw, const records::TriangleRecord& record, int32_t x_px, int32_t y_px) {
  assert(draw < t.pass->draws.size() && !((x_px | y_px) & 1));  // a quad
  const command::DrawState& state = *t.pass->draws[draw].state;
  const PixelRect rect = draw_rect(t, state);
  uint64_t coverage = cover_quad(record, t.bin.origin_x_px + x_px, t.bin.origin_y_px + y_px, t.shape.samples);
  const uint32_t sample_mask = state.multisample.sample_mask;
  for (uint32_t s = 0; s < t.shape.samples; s++)
    for (int32_t p = 0; p < 4; p++) {
      const int32_t x = x_px + (p & 1), y = y_px + (p >> 1);
      const bool inside = x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
      if (!inside || !(sample_mask >> s & 1)) coverage &= ~(uint64_t{1} << (4 * s + static_cast<uint32_t>(p)));
    }
  return coverage;
}

}  // namespace tilegpu::TILEGPU_TILE
