// tile/coverage/discard_rectangles.hpp -- stage: tile phase, coverage: what discard rectangles leave of it. In: a record's covered samples,
// as coverage.hpp hands them to a sink, the rectangles of the draw, the bin's corner. Out: the samples of pixels that are drawn, handed on.
//
// The test is the first of all that are made of a fragment, and knows pixels alone: whole blocks stay whole or vanish, a block that an edge
// of a rectangle cuts loses the same pixels of each sample. Source: Vulkan specification, "Discard Rectangles Test".
#pragma once

#include "tile/coverage/coverage.hpp"
#include "tilegpu/state.hpp"

namespace tilegpu::tile {

/// A sink before another one.
template <class Sink>
class OutsideDiscarded {
 public:
  OutsideDiscarded(Sink& sink, const DiscardRectangleState& discard, int32_t origin_x_px, int32_t origin_y_px, uint32_t samples)
      : sink_(sink), samples_(samples), inclusive_(discard.mode == VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT) {
    assert(discard.acts() && samples >= 1 && samples <= kMaxSamples);
    for (uint32_t i = 0; i < discard.used(); i++) {
      const VkRect2D& r = discard.rectangles[i];
      const auto of_bin = [](int64_t at, int32_t origin) { return static_cast<int32_t>(std::clamp<int64_t>(at - origin, 0, kFar_px)); };
      const PixelRect rect{of_bin(r.offset.x, origin_x_px), of_bin(r.offset.y, origin_y_px),
                           of_bin(int64_t{r.offset.x} + r.extent.width, origin_x_px),
                           of_bin(int64_t{r.offset.y} + r.extent.height, origin_y_px)};
      if (!rect.empty()) rects_[count_++] = rect;
    }
  }

  void full_span(int32_t block_x, int32_t block_y, int32_t count) {
    for (int32_t i = 0; i < count;) {
      int32_t run = 0;
      uint32_t drawn = 0;
      while (i + run < count && (drawn = drawn_of(block_x + i + run, block_y)) == 0xffff) run++;
      if (run) sink_.full_span(block_x + i, block_y, run);
      i += run;
      if (i == count) return;
      if (drawn) {
        uint16_t masks[kMaxSamples] = {};
        std::fill_n(masks, samples_, static_cast<uint16_t>(drawn));
        sink_.block(block_x + i, block_y, masks);
      }
      i++;
    }
  }
  void block(int32_t block_x, int32_t block_y, const uint16_t* masks) {
    const uint32_t drawn = drawn_of(block_x, block_y);
    uint16_t left[kMaxSamples] = {};
    uint32_t some = 0;
    for (uint32_t s = 0; s < samples_; s++) some |= left[s] = static_cast<uint16_t>(masks[s] & drawn);
    if (some) sink_.block(block_x, block_y, left);
  }
  bool prefers_windows() const { return false; }
  uint32_t window_blocks(int32_t block_x, int32_t block_y, uint32_t full, uint32_t) {
    detail::each_run(full, [&](int32_t x, int32_t y, int32_t count) { full_span(block_x + x, block_y + y, count); });
    return 0;
  }
  void hidden_part(int32_t, int32_t, uint32_t) { assert(!"no block was hidden"); }

 private:
  static constexpr int32_t kFar_px = 1 << 20;  // beyond any bin

  uint32_t drawn_of(int32_t block_x, int32_t block_y) const {
    uint32_t inside = 0;
    for (uint32_t i = 0; i < count_; i++) inside |= detail::rect_bits(rects_[i], block_x * 4, block_y * 4);
    return inclusive_ ? inside : inside ^ 0xffff;
  }

  Sink& sink_;
  const uint32_t samples_;
  const bool inclusive_;
  uint32_t count_ = 0;
  PixelRect rects_[kMaxDiscardRectangles];
};

}  // namespace tilegpu::tile
