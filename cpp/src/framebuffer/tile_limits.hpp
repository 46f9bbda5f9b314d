// framebuffer/tile_limits.hpp -- which of a tile buffer's two budgets, colour's or depth's, limits the tile. In: a layout with its budgets.
// Out: pixels by each. Source: Mesa's arithmetic, as docs/decisions.md, 21, states it.
#pragma once

#include <cstdint>

#include "framebuffer/layout.hpp"

namespace tilegpu::framebuffer {

inline constexpr uint32_t kTileDepthBytes = 4;  // a sample, also without a depth attachment; stencil is free

struct TileLimits {
  uint32_t color_B = 0, depth_B = 0;    // of a pixel
  uint32_t color_px = 0, depth_px = 0;  // that its budget has room for
};

TileLimits tile_limits(const Layout& layout);

}  // namespace tilegpu::framebuffer
