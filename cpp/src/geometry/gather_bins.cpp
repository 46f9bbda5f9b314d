// geometry/gather_bins.cpp -- stage: between the phases. In: the chunks' runs. Out: for each bin its segments in chunk order, which is
// the order of drawing; clears stand among them in the bins that they touch.
#include "geometry/geometry.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::geometry {

namespace {

struct BinBox {
  uint32_t x0 = 1, x1 = 0, y0 = 1, y1 = 0;  // inclusive; empty when x1 < x0
};

BinBox bins_of(const VkRect2D& rect, const VkRect2D& area, const BinGrid& grid) {
  const auto cut = [&](int64_t a0, int64_t a1, int64_t b0, int64_t b1, int64_t origin, uint32_t count, uint32_t bin_px, uint32_t* first,
                       uint32_t* last) {
    int64_t low = a0 > b0 ? a0 : b0, high = a1 < b1 ? a1 : b1;
    low = (low > origin ? low : origin) - origin;
    high -= origin;
    const int64_t end = int64_t{count} * bin_px;
    if (high > end) high = end;
    if (low >= high) return false;
    *first = static_cast<uint32_t>(low / bin_px);
    *last = static_cast<uint32_t>((high - 1) / bin_px);
    return true;
  };
  BinBox box;
  const bool x = cut(rect.offset.x, int64_t{rect.offset.x} + rect.extent.width, area.offset.x, int64_t{area.offset.x} + area.extent.width,
                     grid.origin_x_px, grid.columns, grid.width_px, &box.x0, &box.x1);
  const bool y = cut(rect.offset.y, int64_t{rect.offset.y} + rect.extent.height, area.offset.y, int64_t{area.offset.y} + area.extent.height,
                     grid.origin_y_px, grid.rows, grid.height_px, &box.y0, &box.y1);
  return x && y ? box : BinBox{};
}

struct LayerRange {
  uint32_t first, end;
};

LayerRange layers_of(const command::ClearCall& clear, uint32_t layers) {
  const uint32_t first = std::min(clear.base_layer, layers);
  return {first, first + std::min(clear.layer_count, layers - first)};
}

bool renders(const GeometryPass& pass, uint32_t layer) { return !pass.view_mask || pass.view_mask >> layer & 1; }

}  // namespace

void gather_bins(const GeometryPass& pass, std::span<const Chunk* const> chunks, BinnedGeometry& out) {
  const BinGrid& grid = pass.grid;
  const size_t bins = grid.bins();
  out.grid = grid;
  out.first_segment.assign(bins + 1, 0);
  const auto each_segment = [&](auto&& f) {
    for (const Chunk* chunk : chunks) {
      if (chunk->clear) {
        const BinBox box = bins_of(chunk->clear->rect, pass.render_area, grid);
        if (box.x1 < box.x0) continue;
        const auto [first, end] = layers_of(*chunk->clear, grid.layers);
        for (uint32_t layer = first; layer < end; layer++)
          for (uint32_t y = box.y0; y <= box.y1 && renders(pass, layer); y++)
            for (uint32_t x = box.x0; x <= box.x1; x++) f(layer * grid.bins_of_layer() + y * grid.columns + x, BinSegment{chunk, 0, 0});
      } else {
        for (const BinRun& run : chunk->runs) f(run.bin, BinSegment{chunk, run.first, run.count});
      }
    }
  };
  uint32_t* first = out.first_segment.data();
  each_segment([&](uint32_t bin, const BinSegment&) { first[bin + 1]++; });
  for (size_t i = 0; i < bins; i++) first[i + 1] += first[i];
  out.segments.resize(first[bins]);
  // first[bin] serves as the cursor and ends where the next bin begins; then it is moved back by one bin.
  BinSegment* segments = out.segments.data();
  each_segment([&](uint32_t bin, const BinSegment& segment) { segments[first[bin]++] = segment; });
  assert(bins == 0 || first[bins - 1] == out.segments.size());  // every segment found its place
  for (size_t i = bins; i > 0; i--) first[i] = first[i - 1];
  first[0] = 0;
}

}  // namespace tilegpu::geometry
