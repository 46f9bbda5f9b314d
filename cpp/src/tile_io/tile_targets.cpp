// tile_io/tile_targets.cpp -- targets, areas and images of a bin; the host's tile; clean bins.
//
// In: the pieces. Out: see tile_targets.hpp and tile_io.hpp. Source of the clean-tile rule: docs/decisions.md, 26.
#include "tile_io/tile_targets.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "tile_io/equal_quads.hpp"

namespace tilegpu::tile_io {
namespace {

/// Reads other targets than its own: then no target of the pass may be skipped alone.
bool has_cross_resolve(const Framebuffer& f) {
  const auto crosses = [](const ResolveTarget& r, ResolveOp own) {
    const auto side = [&](const ResolveSide& s) { return s.op != ResolveOp::none && s.op != ResolveOp::image && s.op != own; };
    return side(r.in_bounds) || side(r.border);
  };
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i) {
    if (crosses(f.resolve.rts[i], resolve_rt(i))) return true;
  }
  return crosses(f.resolve.z, ResolveOp::z) || crosses(f.resolve.s, ResolveOp::s);
}

bool active_alone(const LoadTarget& load, const StoreTarget& store, const StoreTarget& resolved) {
  const bool leaves = store.store || resolved.store;
  return (load.always && load.in_bounds != LoadOp::none && leaves) || (store.store && store.always) || (resolved.store && resolved.always);
}

struct Pieces {
  const LoadTarget* load;
  const StoreTarget* store;
  const StoreTarget* resolved;
  const ResolveTarget* resolve;
};

Pieces pieces_at(const Framebuffer& f, uint32_t index, Part part) {
  const Load& load = load_of(f, part);
  const Store& store = store_of(f, part);
  if (index < kMaxColorAttachments) return {&load.rts[index], &store.rts[index], &store.resolved_rts[index], &f.resolve.rts[index]};
  if (index == kDepthTarget) return {&load.z, &store.z, &store.resolved_z, &f.resolve.z};
  return {&load.s, &store.s, &store.resolved_s, &f.resolve.s};
}

}  // namespace

Target target_at(const Framebuffer& f, const HostTile& tile, uint32_t index, Part part) {
  assert(index < kTargets);
  const Pieces p = pieces_at(f, index, part);
  if (index < kMaxColorAttachments) {
    return {index,
            p.load,
            p.store,
            p.resolved,
            p.resolve,
            &tile.color[index],
            &tile.resolved_color[index],
            tile.color_format[index],
            VK_IMAGE_ASPECT_COLOR_BIT};
  }
  if (index == kDepthTarget) {
    return {index, p.load, p.store, p.resolved, p.resolve, &tile.depth, &tile.resolved_depth, tile.depth_format, VK_IMAGE_ASPECT_DEPTH_BIT};
  }
  return {index,
          p.load,
          p.store,
          p.resolved,
          p.resolve,
          &tile.stencil,
          &tile.resolved_stencil,
          tile.stencil_format,
          VK_IMAGE_ASPECT_STENCIL_BIT};
}

bool is_active(const Framebuffer& f, const Target& t, const TileRegion& region, Part part) {
  if (region.has_primitives || active_alone(*t.load, *t.store, *t.resolved)) return true;
  if (!resolves_in(part) || !has_cross_resolve(f)) return false;
  return !tile_is_clean(f, region, part);
}

bool tile_is_clean(const Framebuffer& f, const TileRegion& region, Part part) {
  if (region.has_primitives) return false;
  for (uint32_t i = 0; i < kTargets; ++i) {
    const Pieces p = pieces_at(f, i, part);
    if (active_alone(*p.load, *p.store, *p.resolved)) return false;
  }
  return true;
}

bool stores_clear_value(const Framebuffer& f, const Target& t, const TileRegion& region) {
  return !region.has_primitives && t.load->in_bounds == LoadOp::clear && t.load->border == LoadOp::none && !t.load->fills_border &&
         t.resolve->in_bounds.op == ResolveOp::none && t.resolve->border.op == ResolveOp::none && t.resolved_plane->words == 0 &&
         !has_cross_resolve(f);  // which reads the tile
}

bool stores_clear_values(const Framebuffer& f, const HostTile& tile, Part part) {
  TileRegion region;
  region.has_primitives = false;
  if (tile_is_clean(f, region, part)) return false;
  const auto by_rows = [](const StoreTarget& s) {
    return !s.store || (!s.eliminate && s.view->image()->info().tiling != ImageTiling::block_compressed);
  };
  for (uint32_t i = 0; i < kTargets; ++i) {
    if (!is_present(tile, i)) continue;
    const Target t = target_at(f, tile, i, part);
    if (!is_active(f, t, region, part)) {
      if (t.load->zeroes && !by_rows(*t.store)) return false;
      continue;
    }
    if (!stores_clear_value(f, t, region) || !by_rows(*t.store) || !by_rows(*t.resolved)) return false;
  }
  return true;
}

BinAreas bin_areas(const Layout& layout, const HostTile& tile, const TileRegion& region) {
  assert(region.columns >= 1 && tile.width_px <= tile.bin_px && tile.height_px <= tile.bin_px);
  const Box bin = {region.x_px, region.y_px, region.x_px + static_cast<int32_t>(tile.width_px * region.columns) - 1,
                   region.y_px + static_cast<int32_t>(tile.height_px) - 1};
  BinAreas areas;
  areas.tiling = intersect(bin, layout.tiling_area_px);
  areas.inside = intersect(bin, layout.render_area_px);
  const Box &t = areas.tiling, &i = areas.inside;
  if (i.empty()) {
    areas.border[0] = t;
  } else {
    areas.border[0] = {t.min_x, t.min_y, t.max_x, i.min_y - 1};
    areas.border[1] = {t.min_x, i.max_y + 1, t.max_x, t.max_y};
    areas.border[2] = {t.min_x, i.min_y, i.min_x - 1, i.max_y};
    areas.border[3] = {i.max_x + 1, i.min_y, t.max_x, i.max_y};
  }
  return areas;
}

ImageAccess image_access(const Layout& layout, const ImageView& view, VkImageAspectFlagBits aspect, uint32_t layer) {
  assert(layer < view.info().layer_count);
  const Image& image = *view.image();
  ImageAccess access;
  access.data = image.data();
  access.layout = image.layout(aspect, view.info().base_level, view.info().base_layer + layer);
  access.blocks = image.info().tiling == ImageTiling::block_compressed;
  access.counted_B = access.layout.texel_B;
  access.x_px = layout.window_px.min_x, access.y_px = layout.window_px.min_y;
  if (image.info().format == VK_FORMAT_D24_UNORM_S8_UINT) {
    const bool depth = aspect == VK_IMAGE_ASPECT_DEPTH_BIT;
    access.field = depth ? WordField{0x00ffffffu, 0} : WordField{0xff000000u, 24};
    access.counted_B = depth ? 3 : 1;
  }
  return access;
}

PlaneView plane_view(const HostTile& tile, const TilePlane& plane, const TileRegion& region, uint8_t* memory, uint32_t sample) {
  assert(sample < tile.samples && plane.offset_B % 64 == 0);
  return {.data = memory + plane.offset_B + static_cast<size_t>(sample) * plane.words * kWordPlane_B,
          .block_B = plane.block_B,
          .words = plane.words,
          .bin_px = tile.bin_px,
          .x_px = region.x_px,
          .y_px = region.y_px,
          .wide = tile.wide};
}

PlaneView color_view(const HostTile& tile, const TilePlane& plane, const TileRegion& region, uint8_t* memory, uint32_t sample) {
  PlaneView view = plane_view(tile, plane, region, memory, sample);
  view.equal = equal_quads(tile, memory);
  view.to_first_B = static_cast<size_t>(sample) * plane.words * kWordPlane_B;
  return view;
}

ClearWords clear_words(VkFormat format, VkImageAspectFlagBits aspect, const VkClearValue& value) {
  ClearWords out{};
  const vk::FormatInfo& info = *vk::find_format(format);
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
    out.words[0] = value.depthStencil.stencil & 0xff;
  } else if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
    const float depth = value.depthStencil.depth;  // floats: as it was recorded, limited or not
    out.words[0] = info.depth_bits == 32 ? std::bit_cast<uint32_t>(depth)
                                         : vk::depth_to_unorm(depth > 0 ? std::min(depth, 1.0f) : 0.0f, info.depth_bits);
  } else {
    vk::Texel texel;
    std::memcpy(&texel, &value.color, sizeof texel);
    vk::pack_texel(info, texel, reinterpret_cast<uint8_t*>(out.words));
  }
  return out;
}

resolve::Reducer tile_reducer(VkFormat format, VkImageAspectFlagBits aspect, MsaaCopy copy, uint32_t samples) {
  assert(vk::find_format(format));
  return resolve::make_reducer(*vk::find_format(format), aspect, resolve::mode_of(copy), samples, true);
}

HostTile make_host_tile(const Framebuffer& f, uint32_t forced_bin_px, uint32_t l2_B, bool keep_once) {
  HostTile tile;
  const Layout& layout = f.layout;
  tile.samples = layout.sample_count;
  if (has_tiles(*layout.profile)) {
    // Tiles are multiples of powers of two, by which bins are numbered; GMEM's are cut into the largest squares and halves that divide
    // them.
    const auto part = [](uint32_t tile_px) { return std::min(tile_px & (~tile_px + 1), kMostTile_px); };
    tile.width_px = part(layout.tile_width_px), tile.height_px = part(layout.tile_height_px);
    tile.bin_px = std::max(kLeastBin_px, std::max(tile.width_px, tile.height_px));
  } else if (layout.profile->tile_model == framebuffer::TileModel::immediate) {
    // Which blocks hierarchical depth finds hidden depends on how the bins cut triangles: the same everywhere, so that counts are.
    tile.width_px = tile.height_px = tile.bin_px = kMostTile_px;
  } else {
    tile.width_px = tile.height_px = tile.bin_px = forced_bin_px ? forced_bin_px : host_bin_px(layout, l2_B);
  }
  const uint32_t blocks = (tile.bin_px / kBlock_px) * (tile.bin_px / kBlock_px);
  const auto add_plane = [&](TilePlane& plane, uint32_t words, uint32_t samples) {
    plane.offset_B = tile.size_B;
    plane.words = words;
    plane.block_B = samples * words * kWordPlane_B;
    tile.size_B += plane.block_B * blocks;
  };
  const auto color_words = [](VkFormat format) { return std::max(1u, vk::find_format(format)->texel_B / 4u); };
  for (uint32_t i = 0; i < layout.rt_count; ++i) {
    if (layout.rt_formats[i] == VK_FORMAT_UNDEFINED) continue;
    tile.color_format[i] = layout.rt_formats[i];
    add_plane(tile.color[i], color_words(layout.rt_formats[i]), tile.samples);
  }
  if (layout.z_format != VK_FORMAT_UNDEFINED) {
    tile.depth_format = layout.z_format;
    tile.unrestricted_depth = layout.unrestricted_depth;
    add_plane(tile.depth, 1, tile.samples);
  }
  if (layout.s_format != VK_FORMAT_UNDEFINED) {
    tile.stencil_format = layout.s_format;
    add_plane(tile.stencil, 1, tile.samples);
  }
  const auto wants_plane = [](const ResolveTarget& r) {
    return r.own_plane && (r.in_bounds.op != ResolveOp::none || r.border.op != ResolveOp::none);
  };
  for (uint32_t i = 0; i < layout.rt_count; ++i) {
    if (tile.color[i].words && wants_plane(f.resolve.rts[i])) add_plane(tile.resolved_color[i], tile.color[i].words, 1);
  }
  if (tile.depth.words && wants_plane(f.resolve.z)) add_plane(tile.resolved_depth, 1, 1);
  if (tile.stencil.words && wants_plane(f.resolve.s)) add_plane(tile.resolved_stencil, 1, 1);
  const bool has_color = std::any_of(tile.color.begin(), tile.color.end(), [](const TilePlane& p) { return p.words != 0; });
  if (keep_once && tile.samples > 1 && has_color) {
    tile.equal_quads_B = tile.size_B;
    tile.size_B += (blocks + 63) & ~63u;
  }
  return tile;
}

}  // namespace tilegpu::tile_io
