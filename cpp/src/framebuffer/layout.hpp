// framebuffer/layout.hpp -- first of the five pieces: what tile memory holds, and where the pass works. Nothing about image views.
//
// In: formats, samples, areas, profile. Out: tile size and allocation. Source: PanVK's framebuffer abstraction
// (rules: docs/decisions.md, 20 to 22).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "framebuffer/profile.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::framebuffer {

/// A rectangle of pixels; max is inclusive. Empty when max < min.
struct Box {
  int32_t min_x = 0, min_y = 0, max_x = -1, max_y = -1;
  bool empty() const { return max_x < min_x || max_y < min_y; }
  uint32_t width_px() const { return empty() ? 0 : static_cast<uint32_t>(max_x - min_x + 1); }
  uint32_t height_px() const { return empty() ? 0 : static_cast<uint32_t>(max_y - min_y + 1); }
  uint64_t pixels() const { return static_cast<uint64_t>(width_px()) * height_px(); }
  bool operator==(const Box&) const = default;
  bool contains(const Box& o) const { return o.min_x >= min_x && o.min_y >= min_y && o.max_x <= max_x && o.max_y <= max_y; }
};

inline Box intersect(const Box& a, const Box& b) {
  return {std::max(a.min_x, b.min_x), std::max(a.min_y, b.min_y), std::min(a.max_x, b.max_x), std::min(a.max_y, b.max_y)};
}

/// Grown to multiples of (x_px, y_px), powers of two. Corners are not negative.
inline Box align(const Box& box, int32_t x_px, int32_t y_px) {
  return {box.min_x & ~(x_px - 1), box.min_y & ~(y_px - 1), ((box.max_x + x_px) & ~(x_px - 1)) - 1, ((box.max_y + y_px) & ~(y_px - 1)) - 1};
}

struct Layout {
  uint32_t width_px = 0, height_px = 0;  // of the framebuffer: smallest extent of the attachments; without any: the render area's end
  Box window_px;                         // what of it the attachments hold; all of it but for RenderingInfo::window
  Box render_area_px;                    // "in bounds" is in here
  Box tiling_area_px;                    // grown to what stored images need (block-compressed: 16x16), cut with the framebuffer
  uint32_t sample_count = 1;
  uint32_t layer_count = 1;
  uint32_t view_mask = 0;  // layers that are rendered to; 0: all
  uint32_t rt_count = 0;
  std::array<VkFormat, kMaxColorAttachments> rt_formats{};  // UNDEFINED: unused
  VkFormat z_format = VK_FORMAT_UNDEFINED, s_format = VK_FORMAT_UNDEFINED;
  bool unrestricted_depth = false;  // floats of any range
  uint32_t pls_size_B = 0;          // pixel local storage a sample; overlaps the colour
  // Tile memory of the profile.
  uint32_t tile_rt_budget_B = 0, tile_z_budget_B = 0;
  uint32_t tile_size_px = 0, tile_width_px = 0, tile_height_px = 0;  // powers of two, but in GMEM
  uint32_t tile_rt_alloc_B = 0;
  std::array<uint32_t, kMaxColorAttachments> rt_offset_B{};  // unused: the end of the allocation
  bool fits_gmem = true;         // else the pass is rendered without tiles, as Mesa's driver does; those here are the least
  bool pipelining_lost = false;  // the allocation needs the half that the next tile would use
  const Profile* profile = nullptr;

  bool has_border() const { return !(tiling_area_px == render_area_px); }
  bool fully_covered() const { return render_area_px == window_px; }
  bool is_window() const {
    return window_px.min_x != 0 || window_px.min_y != 0 || window_px.width_px() != width_px || window_px.height_px() != height_px;
  }
};

/// Bytes that a sample of this format takes in the profile's tile buffer: blendable fixed point 4, others their size's power of two.
uint32_t tile_bytes(VkFormat format);
/// Fills the tile memory part of the layout from its formats, samples and profile. Error: the profile's tile buffer cannot hold it.
Status choose_tile_size(Layout& layout, const std::string& pass_label);
/// Side of the host's bins for this layout: 64 where a bin fits half of L2, else 32.
uint32_t host_bin_px(const Layout& layout, uint32_t l2_B);
/// Of this machine; TILEGPU_CACHE_B says another, so that two machines can be held against one another on one.
uint32_t machine_l2_B();

}  // namespace tilegpu::framebuffer
