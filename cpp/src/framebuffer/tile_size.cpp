// framebuffer/tile_size.cpp -- the layout's tile: bytes a pixel against the profile's tile buffer.
//
// In: formats, samples, profile. Out: tile size, allocation, offsets, or an error that names the limit. Source: Mesa's arithmetic as
// docs/decisions.md, 21 and 141 state it, Arm's thresholds are of the article in 29.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>

#include "base/field_error.hpp"
#include "framebuffer/tile_limits.hpp"
#include "vk/format.hpp"

namespace tilegpu::framebuffer {
namespace {

constexpr uint32_t kMinTile_px = 16;
constexpr uint32_t kAllocAlignment_B = 1024;
constexpr uint32_t kDefaultL2_B = 512 * 1024;

uint32_t ceil_log2(uint32_t value) { return value <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(value - 1)); }

/// Square, or twice as wide as high.
void set_shape(Layout& layout, uint32_t tile_px) {
  assert(std::has_single_bit(tile_px));
  const uint32_t log2_px = static_cast<uint32_t>(std::bit_width(tile_px)) - 1;
  layout.tile_size_px = tile_px;
  layout.tile_width_px = 1u << ((log2_px + 1) / 2);
  layout.tile_height_px = 1u << (log2_px / 2);
  assert(layout.tile_width_px * layout.tile_height_px == tile_px);
}

uint32_t host_word_bytes(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  return info && info->texel_B ? std::max<uint32_t>(4, info->texel_B) : 0;
}

/// Bytes of a pixel in GMEM: every image with its own texels; depth and stencil of one image once.
uint32_t gmem_pixel_B(const Layout& layout) {
  const auto texel_B = [](VkFormat format) { return format == VK_FORMAT_UNDEFINED ? 0u : uint32_t{vk::find_format(format)->texel_B}; };
  uint32_t sample_B = texel_B(layout.z_format);
  if (layout.s_format != layout.z_format) sample_B += texel_B(layout.s_format);
  for (uint32_t i = 0; i < layout.rt_count; ++i) sample_B += texel_B(layout.rt_formats[i]);
  return std::max(1u, sample_B) * layout.sample_count;
}

/// As few tiles as GMEM allows, of these the squarest; rows of tiles are then made equally high.
void choose_gmem_tile(Layout& layout, uint32_t pixels) {
  const Gmem& gmem = layout.profile->gmem;
  const auto up = [](uint32_t value, uint32_t to) { return (value + to - 1) / to * to; };
  const auto tiles = [](uint32_t size, uint32_t tile) { return (size + tile - 1) / tile; };
  const uint32_t most_x = std::min(gmem.most_x_px, up(layout.width_px, gmem.align_x_px)),
                 most_y = std::min(gmem.most_y_px, up(layout.height_px, gmem.align_y_px));
  uint64_t fewest = ~uint64_t{0};
  int64_t least_off_square = 0;
  for (uint32_t width = gmem.align_x_px; width <= most_x; width += gmem.align_x_px) {
    uint32_t height = std::min(pixels / width, most_y) / gmem.align_y_px * gmem.align_y_px;
    if (!height) continue;
    const uint32_t rows = tiles(layout.height_px, height);
    height = up(tiles(layout.height_px, rows), gmem.align_y_px);
    const uint64_t count = uint64_t{tiles(layout.width_px, width)} * rows;
    const int64_t off_square = std::abs(int64_t{width} - height);
    if (count > fewest || (count == fewest && off_square >= least_off_square)) continue;
    fewest = count, least_off_square = off_square;
    layout.tile_width_px = width, layout.tile_height_px = height;
  }
  layout.tile_size_px = layout.tile_width_px * layout.tile_height_px;
}

void choose_in_gmem(Layout& layout) {
  const Gmem& gmem = layout.profile->gmem;
  const uint32_t pixel_B = gmem_pixel_B(layout);
  layout.tile_rt_budget_B = layout.tile_z_budget_B = gmem.size_B;
  choose_gmem_tile(layout, gmem.size_B / pixel_B);
  layout.fits_gmem = layout.tile_size_px != 0;
  if (!layout.fits_gmem) {
    layout.tile_width_px = gmem.align_x_px, layout.tile_height_px = gmem.align_y_px;
    layout.tile_size_px = layout.tile_width_px * layout.tile_height_px;
  }
  layout.tile_rt_alloc_B = pixel_B * layout.tile_size_px;
}

}  // namespace

uint32_t machine_l2_B() {
  static const uint32_t size_B = [] {
    const char* given = std::getenv("TILEGPU_CACHE_B");
    const long value = given ? std::strtol(given, nullptr, 10) : sysconf(_SC_LEVEL2_CACHE_SIZE);
    return value > 0 ? static_cast<uint32_t>(value) : kDefaultL2_B;
  }();
  return size_B;
}

uint32_t tile_bytes(VkFormat format) {
  const vk::FormatInfo* info = vk::find_format(format);
  if (!info) return 0;
  const bool fixed_point = info->numeric == vk::Numeric::unorm || info->numeric == vk::Numeric::srgb;
  // Blendable fixed point is held unpacked; 16 bits a component are raw to the blender.
  if (fixed_point && info->rgba[0].bits <= 10) return 4;
  return std::bit_ceil(static_cast<uint32_t>(info->texel_B));
}

uint32_t host_bin_px(const Layout& layout, uint32_t l2_B) {
  assert(layout.rt_count <= kMaxColorAttachments && layout.sample_count >= 1);
  uint64_t sample_B = 0;
  for (uint32_t i = 0; i < layout.rt_count; ++i) sample_B += host_word_bytes(layout.rt_formats[i]);
  sample_B += layout.z_format != VK_FORMAT_UNDEFINED ? 4 : 0;
  sample_B += layout.s_format != VK_FORMAT_UNDEFINED ? 4 : 0;
  const uint64_t pixel_B = sample_B * layout.sample_count;
  return pixel_B * 64 * 64 <= l2_B / 2 ? 64 : 32;
}

TileLimits tile_limits(const Layout& layout) {
  TileLimits limits;
  for (uint32_t i = 0; i < layout.rt_count; ++i) limits.color_B += tile_bytes(layout.rt_formats[i]);
  limits.color_B = std::max(limits.color_B, layout.pls_size_B) * layout.sample_count;
  limits.depth_B = kTileDepthBytes * layout.sample_count;
  limits.color_px = layout.tile_rt_budget_B >> ceil_log2(limits.color_B);
  limits.depth_px = layout.tile_z_budget_B >> ceil_log2(limits.depth_B);
  return limits;
}

Status choose_tile_size(Layout& layout, const std::string& pass_label) {
  const Profile& profile = *layout.profile;
  assert(layout.sample_count >= 1 && layout.rt_count <= kMaxColorAttachments);
  if (profile.tile_model == TileModel::gmem) {
    choose_in_gmem(layout);
    return Ok{};
  }
  if (profile.tile_model == TileModel::immediate) return Ok{};  // no tile, no tile memory
  uint32_t rt_B = 0;
  for (uint32_t i = 0; i < layout.rt_count; ++i) rt_B += tile_bytes(layout.rt_formats[i]);
  rt_B = std::max(rt_B, layout.pls_size_B);
  const uint32_t rt_pixel_B = rt_B * layout.sample_count;
  if (profile.tile_model == TileModel::host) {
    const uint32_t side_px = host_bin_px(layout, machine_l2_B());
    layout.tile_rt_budget_B = layout.tile_z_budget_B = machine_l2_B() / 2;
    set_shape(layout, side_px * side_px);
  } else {
    layout.tile_rt_budget_B = profile.tile_rt_B / profile.budget_divisor;
    layout.tile_z_budget_B = profile.tile_z_B / profile.budget_divisor;
    const TileLimits limits = tile_limits(layout);
    uint32_t tile_px = std::min(limits.color_px, limits.depth_px);
    if (tile_px < kMinTile_px && profile.budget_divisor > 1) tile_px *= 2;
    tile_px = std::min(tile_px, profile.max_tile_px);
    if (tile_px < kMinTile_px) {
      return field_error(object_name("pass", pass_label), "colour in tile memory", std::to_string(rt_pixel_B) + " bytes a pixel",
                         "at most " + std::to_string(profile.tile_rt_B / kMinTile_px) + " on profile " + profile.name +
                             " (a tile buffer of " + std::to_string(profile.tile_rt_B) + " bytes for 4x4 pixels)",
                         "use fewer samples, fewer attachments or smaller formats");
    }
    set_shape(layout, tile_px);
  }
  layout.tile_rt_alloc_B = (rt_pixel_B * layout.tile_size_px + kAllocAlignment_B - 1) / kAllocAlignment_B * kAllocAlignment_B;
  layout.pipelining_lost =
      profile.tile_model == TileModel::buffer && profile.budget_divisor > 1 && layout.tile_rt_alloc_B > layout.tile_rt_budget_B;
  uint32_t offset_B = 0;
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i) {
    const bool used = i < layout.rt_count && layout.rt_formats[i] != VK_FORMAT_UNDEFINED;
    layout.rt_offset_B[i] = used ? offset_B : layout.tile_rt_alloc_B;
    if (used) offset_B += tile_bytes(layout.rt_formats[i]) * layout.tile_size_px * layout.sample_count;
    assert(offset_B <= layout.tile_rt_alloc_B);
  }
  return Ok{};
}

}  // namespace tilegpu::framebuffer
