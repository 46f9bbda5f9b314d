// tile_io/tile_resolve.cpp -- see tile_resolve.hpp. Source: docs/decisions.md, 20, 25.
#include "tile_io/tile_resolve.hpp"

#include <bit>
#include <cassert>
#include <cstring>

#include "tile_io/equal_quads.hpp"
#include "tile_io/tile_targets.hpp"

namespace tilegpu::tile_io {
namespace {

struct BlockWords {
  alignas(64) uint32_t words[4][kPixelsPerBlock];
};

bool resolves(const Target& t) { return t.resolve->in_bounds.op != ResolveOp::none || t.resolve->border.op != ResolveOp::none; }

uint32_t source_index(ResolveOp op) {
  assert(op != ResolveOp::none && op != ResolveOp::image);  // a plane of the tile
  if (op == ResolveOp::z) return kDepthTarget;
  if (op == ResolveOp::s) return kStencilTarget;
  return static_cast<uint32_t>(op) - static_cast<uint32_t>(ResolveOp::rt0);
}

vk::Texel read_words(VkFormat format, VkImageAspectFlagBits aspect, const BlockWords& block, uint32_t p) {
  const vk::FormatInfo& info = *vk::find_format(format);
  vk::Texel texel{};
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
    texel.u[0] = block.words[0][p];
  } else if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
    texel.f[0] = info.depth_bits == 32 ? std::bit_cast<float>(block.words[0][p]) : vk::unorm_to_depth(block.words[0][p], info.depth_bits);
  } else {
    uint32_t words[4];
    for (int w = 0; w < 4; ++w) words[w] = block.words[w][p];
    texel = vk::unpack_texel(info, reinterpret_cast<const uint8_t*>(words));
  }
  return texel;
}

ClearWords to_words(VkFormat format, VkImageAspectFlagBits aspect, const vk::Texel& texel) {
  VkClearValue value{};
  if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
    value.depthStencil.stencil = texel.u[0];
  } else if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
    value.depthStencil.depth = texel.f[0];
  } else {
    std::memcpy(&value.color, &texel, sizeof texel);
  }
  return clear_words(format, aspect, value);
}

/// The pixels of a block from another target (or the own one), samples reduced.
BlockWords read_target(const Target& from, const HostTile& tile, const TileRegion& region, uint32_t column, uint32_t row, MsaaCopy copy,
                       uint8_t* memory) {
  BlockWords out{};
  const PlaneView plane = plane_view(tile, *from.plane, region, memory, 0);
  const resolve::Reducer reducer = tile_reducer(from.format, from.aspect, copy, tile.samples);
  const size_t size_B = static_cast<size_t>(plane.words) * kWordPlane_B;
  resolve::reduce(reducer, plane.block(column, row), size_B, size_B, reinterpret_cast<uint8_t*>(out.words));
  return out;
}

/// The pixels of `part`, a piece of one block, from the resolve image.
BlockWords read_image(const Layout& layout, const Target& t, const TileRegion& region, const Box& part, MsaaCopy copy) {
  assert(t.resolve->view);
  BlockWords out{};
  const ImageAccess image = image_access(layout, *t.resolve->view, t.aspect, region.layer);
  if (!image.data) return out;
  // A bin of one block at the part's place serves as the plane.
  const uint32_t words = t.plane->words;
  const uint32_t samples = copy == MsaaCopy::single ? 1 : t.resolve->view->image()->sample_count();
  alignas(64) uint8_t sampled[16 * 4 * kWordPlane_B] = {};
  const int32_t x = part.min_x & ~3, y = part.min_y & ~3;
  const auto size = static_cast<int32_t>(resource::kSuperblock_px);
  for (uint32_t s = 0; s < samples; ++s) {
    const PlaneView plane = {sampled + s * words * kWordPlane_B, words * kWordPlane_B, words, kBlock_px, x, y};
    if (!image.blocks) {
      copy_from_rows(image.rows(s), part, plane);
      continue;
    }
    resource::Superblock texels;
    const auto column = static_cast<uint32_t>(x / size), row = static_cast<uint32_t>(y / size);
    const auto address = resource::superblock_address(image.data, image.layout, s, column, row);
    resource::decode_superblock(address.header, address.payload, image.layout.texel_B, texels);
    const RowsView rows = {texels.texels,        static_cast<size_t>(size) * image.layout.texel_B,
                           image.layout.texel_B, x / size * size,
                           y / size * size,      image.field};
    copy_from_rows(rows, part, plane);
  }
  const resolve::Reducer reducer = tile_reducer(t.format, t.aspect, samples == 1 ? MsaaCopy::sample_zero : copy, samples);
  resolve::reduce(reducer, sampled, words * kWordPlane_B, words * kWordPlane_B, reinterpret_cast<uint8_t*>(out.words));
  return out;
}

/// What one side of a target's resolve gives for a part of a block.
BlockWords resolve_part(const Framebuffer& f, const Target& t, const HostTile& tile, const TileRegion& region, const ResolveSide& side,
                        const Box& part, uint32_t column, uint32_t row, uint8_t* memory) {
  if (side.op == ResolveOp::image) return read_image(f.layout, t, region, part, side.msaa);
  const Target from = target_at(f, tile, source_index(side.op), Part::normal);
  if (!from.present()) return BlockWords{};
  BlockWords block = read_target(from, tile, region, column, row, side.msaa, memory);
  if (from.format == t.format && from.aspect == t.aspect) return block;
  BlockWords out{};
  for (uint32_t p = 0; p < kPixelsPerBlock; ++p) {
    const ClearWords words = to_words(t.format, t.aspect, read_words(from.format, from.aspect, block, p));
    for (int w = 0; w < 4; ++w) out.words[w][p] = words.words[w];
  }
  return out;
}

void write_part(const Target& t, const HostTile& tile, const TileRegion& region, uint32_t column, uint32_t row, uint32_t pixels,
                const BlockWords& block, uint8_t* memory) {
  const bool own = t.resolved_plane->words != 0;
  const PlaneView plane = plane_view(tile, own ? *t.resolved_plane : *t.plane, region, memory, 0);
  uint8_t* out = plane.block(column, row);
  for (uint32_t s = 0; s < (own ? 1 : tile.samples); ++s) {
    for (uint32_t w = 0; w < plane.words; ++w, out += kWordPlane_B) {
      for (uint32_t p = 0; p < kPixelsPerBlock; ++p) {
        if (pixels >> p & 1) std::memcpy(out + 4 * p, &block.words[w][p], 4);
      }
    }
  }
}

uint32_t pixels_of(const Box& block, const Box& part) {
  assert(block.contains(part));
  uint32_t mask = 0;
  for (int32_t y = part.min_y; y <= part.max_y; ++y) {
    for (int32_t x = part.min_x; x <= part.max_x; ++x) {
      mask |= 1u << tile_pixel_index(static_cast<uint32_t>(x - block.min_x), static_cast<uint32_t>(y - block.min_y), kBlock_px);
    }
  }
  return mask;
}

struct Pending {
  BlockWords block;
  uint32_t pixels;
  uint32_t target;
};

}  // namespace

void resolve_tile(const Framebuffer& f, const HostTile& tile, const TileRegion& region, uint8_t* memory, stats::Ledger& ledger, Part part) {
  if (!resolves_in(part)) return;
  Target targets[kTargets];
  uint32_t count = 0;
  for (uint32_t i = 0; i < kTargets; ++i) {
    if (!is_present(tile, i)) continue;
    const Target t = target_at(f, tile, i, part);
    if (resolves(t) && is_active(f, t, region, part)) targets[count++] = t;
  }
  if (count == 0) return;
  expand_quads(tile, memory);
  const BinAreas areas = bin_areas(f.layout, tile, region);
  for (uint32_t row = 0; row < tile.height_px / kBlock_px; ++row) {
    for (uint32_t column = 0; column < tile.width_px / kBlock_px; ++column) {
      const int32_t x = region.x_px + static_cast<int32_t>(column * kBlock_px), y = region.y_px + static_cast<int32_t>(row * kBlock_px);
      const Box whole = {x, y, x + 3, y + 3};
      if (intersect(whole, areas.tiling).empty()) continue;
      // At most inside and four border boxes of each target.
      Pending pending[kTargets * 5];
      uint32_t waiting = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const Target& t = targets[i];
        const auto side = [&](const ResolveSide& s, const Box& area) {
          const Box box = intersect(whole, area);
          if (s.op == ResolveOp::none || box.empty()) return;
          pending[waiting++] = {resolve_part(f, t, tile, region, s, box, column, row, memory), pixels_of(whole, box), i};
          if (s.op == ResolveOp::image && &s == &t.resolve->border) {
            const ImageAccess image = image_access(f.layout, *t.resolve->view, t.aspect, region.layer);
            ledger.add(t.index, TrafficCause::border_load, box.pixels() * image.counted_B);
          }
        };
        side(t.resolve->in_bounds, areas.inside);
        for (const Box& area : areas.border) side(t.resolve->border, area);
      }
      for (uint32_t i = 0; i < waiting; ++i) {
        write_part(targets[pending[i].target], tile, region, column, row, pending[i].pixels, pending[i].block, memory);
      }
    }
  }
}

}  // namespace tilegpu::tile_io
