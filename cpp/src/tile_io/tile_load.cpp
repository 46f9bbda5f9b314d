// tile_io/tile_load.cpp -- stage: load of one bin. In: the load piece, images. Out: tile memory, ledger.
//
// Clears clear ("don't care" starts at zero), images are read inside the render area and in the border, each as its own operation says;
// targets of clean bins are left alone. Source: docs/decisions.md, 20 (loads), 26 (clean tiles), 27 (spills).
#include <algorithm>
#include <cassert>
#include <span>

#include "tile_io/equal_quads.hpp"
#include "tile_io/tile_targets.hpp"

namespace tilegpu::tile_io {
namespace {

/// One sample of a block-compressed image: every superblock that the boxes touch is decoded once and its parts are copied. Superblocks
/// that touch `read_already` are not counted. Returns the bytes read.
uint64_t load_superblocks(const ImageAccess& image, uint32_t sample, std::span<const Box> boxes, const Box& read_already,
                          const PlaneView& plane) {
  resource::Superblock texels;
  uint64_t read_B = 0;
  const auto size = static_cast<int32_t>(resource::kSuperblock_px);
  Box all;
  for (const Box& box : boxes) {
    if (box.empty()) continue;
    all = all.empty() ? box
                      : Box{std::min(all.min_x, box.min_x), std::min(all.min_y, box.min_y), std::max(all.max_x, box.max_x),
                            std::max(all.max_y, box.max_y)};
  }
  if (all.empty()) return 0;
  for (int32_t y = all.min_y / size; y <= all.max_y / size; ++y) {
    for (int32_t x = all.min_x / size; x <= all.max_x / size; ++x) {
      const Box whole = {x * size, y * size, x * size + size - 1, y * size + size - 1};
      const auto touches = [&](const Box& box) { return !box.empty() && !intersect(box, whole).empty(); };
      if (std::none_of(boxes.begin(), boxes.end(), touches)) continue;
      const auto address =
          resource::superblock_address(image.data, image.layout, sample, static_cast<uint32_t>(x), static_cast<uint32_t>(y));
      const uint64_t block_B = resource::decode_superblock(address.header, address.payload, image.layout.texel_B, texels);
      if (!touches(read_already)) read_B += block_B;
      const RowsView rows = {
          texels.texels, static_cast<size_t>(size) * image.layout.texel_B, image.layout.texel_B, whole.min_x, whole.min_y, image.field};
      for (const Box& box : boxes)
        if (touches(box)) copy_from_rows(rows, intersect(box, whole), plane);
    }
  }
  return read_B;
}

/// The boxes of every sample of the target, from its load view; what lies in `read_already` was counted before.
void load_boxes(const Target& t, const HostTile& tile, const TileRegion& region, const ImageAccess& image, std::span<const Box> boxes,
                const Box& read_already, TrafficCause cause, uint8_t* memory, stats::Ledger& ledger) {
  if (!image.data) return;
  const uint32_t image_samples = t.load->msaa == MsaaCopy::single ? 1 : tile.samples;
  assert(tile.samples >= 1 && image_samples <= tile.samples);
  uint64_t pixels = 0;
  for (const Box& box : boxes) pixels += box.pixels();
  if (pixels == 0) return;
  const uint64_t raw_B = pixels * image.counted_B;
  for (uint32_t s = 0; s < tile.samples; ++s) {
    const uint32_t from = std::min(s, image_samples - 1);
    const PlaneView plane = plane_view(tile, *t.plane, region, memory, s);
    if (!image.blocks) {
      for (const Box& box : boxes)
        if (!box.empty()) copy_from_rows(image.rows(from), box, plane);
      if (s < image_samples) ledger.add(t.index, cause, raw_B);
      continue;
    }
    const uint64_t read_B = load_superblocks(image, from, boxes, read_already, plane);
    if (s >= image_samples) continue;
    ledger.add(t.index, cause, read_B);
    if (read_B < raw_B) ledger.add(t.index, TrafficCause::saved_compression, raw_B - read_B);
  }
}

/// All samples (or the first) of the blocks that the box touches: pixels outside it are loaded afterwards or never used.
void clear_blocks(const Target& t, const HostTile& tile, const TileRegion& region, const Box& box, const ClearWords& clear,
                  bool first_sample, uint8_t* memory) {
  if (box.empty()) return;
  const uint32_t row_blocks = tile.bin_px / kBlock_px;
  assert(t.plane->words > 0);  // the attachment has a plane
  const auto first_row = static_cast<uint32_t>(box.min_y - region.y_px) / kBlock_px,
             last_row = static_cast<uint32_t>(box.max_y - region.y_px) / kBlock_px;
  uint8_t* out = memory + t.plane->offset_B + static_cast<size_t>(first_row) * row_blocks * t.plane->block_B;
  const size_t blocks = static_cast<size_t>(last_row - first_row + 1) * row_blocks;
  const size_t block_samples = first_sample ? 1 : tile.samples;
  __m256i values[4];
  for (uint32_t w = 0; w < t.plane->words; ++w) values[w] = _mm256_set1_epi32(static_cast<int>(clear.words[w]));
  for (size_t b = 0; b < blocks; ++b, out += t.plane->block_B) {
    uint8_t* word = out;
    for (size_t s = 0; s < block_samples; ++s) {
      for (uint32_t w = 0; w < t.plane->words; ++w, word += kWordPlane_B) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(word), values[w]);
        _mm256_store_si256(reinterpret_cast<__m256i*>(word + 32), values[w]);
      }
    }
  }
}

/// Every sample of the boxes' pixels, one by one: borders are thin, and rarely filled.
void fill_boxes(const Target& t, const HostTile& tile, const TileRegion& region, std::span<const Box> boxes, const ClearWords& value,
                uint8_t* memory) {
  for (uint32_t s = 0; s < tile.samples; ++s) {
    const PlaneView plane = plane_view(tile, *t.plane, region, memory, s);
    for (const Box& box : boxes) {
      for (int32_t y = box.min_y; y <= box.max_y; ++y) {
        for (int32_t x = box.min_x; x <= box.max_x; ++x) {
          const auto column = static_cast<uint32_t>(x - region.x_px), row = static_cast<uint32_t>(y - region.y_px);
          uint8_t* word = plane.block(column / kBlock_px, row / kBlock_px) +
                          size_t{4} * framebuffer::tile_pixel_index(column % kBlock_px, row % kBlock_px, kBlock_px);
          for (uint32_t w = 0; w < plane.words; ++w, word += kWordPlane_B) std::memcpy(word, &value.words[w], 4);
        }
      }
    }
  }
}

/// No colour comes from an image with more than one value for a pixel.
bool loads_equal_samples(const Framebuffer& f, const HostTile& tile, Part part) {
  if (!tile.equal_quads_B) return false;
  for (uint32_t i = 0; i < kMaxColorAttachments; ++i) {
    const Target t = target_at(f, tile, i, part);
    if (!t.present()) continue;
    if (t.load->in_bounds == LoadOp::image || t.load->border == LoadOp::image) return false;
  }
  return true;
}

}  // namespace

DeferredDepth defers_depth(const Framebuffer& f, const HostTile& tile, Part part) {
  DeferredDepth out;
  const Target t = target_at(f, tile, kDepthTarget, part);
  out.possible = !t.present() || (t.load->in_bounds != LoadOp::image && t.load->border != LoadOp::image && !t.load->fills_border);
  out.kept = t.present();
  if (!t.present() || !out.possible) return out;
  if (t.load->in_bounds == LoadOp::clear) out.background = clear_words(t.format, t.aspect, t.load->clear).words[0];
  const auto reads = [](const ResolveTarget& r) { return r.in_bounds.op == ResolveOp::z || r.border.op == ResolveOp::z; };
  out.kept = t.store->store || t.resolved->store || t.resolve->in_bounds.op != ResolveOp::none || t.resolve->border.op != ResolveOp::none ||
             reads(f.resolve.s) || std::any_of(f.resolve.rts.begin(), f.resolve.rts.end(), reads);
  return out;
}

void load_tile(const Framebuffer& f, const HostTile& tile, const TileRegion& region, uint8_t* memory, stats::Ledger& ledger, Part part) {
  const BinAreas areas = bin_areas(f.layout, tile, region);
  const bool spilled = part == Part::middle || part == Part::last;
  const bool once = loads_equal_samples(f, tile, part);
  if (uint8_t* equal = equal_quads(tile, memory)) {
    std::memset(equal, once ? 0xf : 0, static_cast<size_t>(tile.bin_px / kBlock_px) * (tile.bin_px / kBlock_px));
  }
  for (uint32_t i = 0; i < kTargets; ++i) {
    if (!is_present(tile, i)) continue;
    const Target t = target_at(f, tile, i, part);
    if (!is_active(f, t, region, part)) continue;
    if (i == kDepthTarget && !region.clears_depth) continue;
    const bool first = once && i < kMaxColorAttachments;
    if (t.load->in_bounds == LoadOp::clear && !stores_clear_value(f, t, region)) {
      clear_blocks(t, tile, region, areas.inside, clear_words(t.format, t.aspect, t.load->clear), first, memory);
    }
    // Undefined is not random: what another bin left in this worker's buffer would make pictures depend on threads.
    if (t.load->in_bounds == LoadOp::none) clear_blocks(t, tile, region, areas.inside, ClearWords{}, first, memory);
    if (t.load->fills_border) {
      const ClearWords value = t.load->border == LoadOp::clear ? clear_words(t.format, t.aspect, t.load->clear) : ClearWords{};
      fill_boxes(t, tile, region, areas.border, value, memory);
    }
    if (t.load->in_bounds != LoadOp::image && t.load->border != LoadOp::image) continue;
    const ImageAccess image = image_access(f.layout, *t.load->view, t.aspect, region.layer);
    if (t.load->in_bounds == LoadOp::image) {
      load_boxes(t, tile, region, image, {&areas.inside, 1}, Box{}, spilled ? TrafficCause::spill_load : TrafficCause::load, memory,
                 ledger);
    }
    if (t.load->border == LoadOp::image && f.layout.has_border()) {
      const Box already = t.load->in_bounds == LoadOp::image ? areas.inside : Box{};
      load_boxes(t, tile, region, image, areas.border, already, TrafficCause::border_load, memory, ledger);
    }
  }
}

}  // namespace tilegpu::tile_io
