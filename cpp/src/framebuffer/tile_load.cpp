// framebuffer/tile_load.cpp -- stage: load of one bin. In: the load piece, images. Out: tile memory, ledger.
//
// Clears clear ("don't care" starts at zero), images are read inside the render area and in the border, each as its own operation says;
// targets of clean bins are left alone. Source: mesa_study.md 1.1 (loads), 1.7 (clean tiles), 1.8 (spills).
#include "framebuffer/tile_targets.hpp"

namespace tilegpu::framebuffer {
namespace {

/// One sample of a block-compressed image: every superblock that the box touches is decoded and its part copied.
uint64_t load_superblocks(const ImageAccess& image, uint32_t sample, const Box& box, const PlaneView& plane) {
  resource::Superblock texels;
  uint64_t read_B = 0;
  const auto size = static_cast<int32_t>(resource::kSuperblock_px);
  for (int32_t y = box.min_y / size; y <= box.max_y / size; ++y) {
    for (int32_t x = box.min_x / size; x <= box.max_x / size; ++x) {
      const auto address =
          resource::superblock_address(image.data, image.layout, sample, static_cast<uint32_t>(x), static_cast<uint32_t>(y));
      read_B += resource::decode_superblock(address.header, address.payload, image.layout.texel_B, texels);
      const Box whole = {x * size, y * size, x * size + size - 1, y * size + size - 1};
      const RowsView rows = {
          texels.texels, static_cast<size_t>(size) * image.layout.texel_B, image.layout.texel_B, whole.min_x, whole.min_y, image.field};
      copy_from_rows(rows, intersect(box, whole), plane);
    }
  }
  return read_B;
}

/// The box of every sample of the target, from its load view.
void load_box(const Target& t, const HostTile& tile, const TileRegion& region, const ImageAccess& image, const Box& box, TrafficCause cause,
              uint8_t* memory, stats::Ledger& ledger) {
  if (box.empty() || !image.data) return;
  const uint32_t image_samples = t.load->msaa == MsaaCopy::single ? 1 : tile.samples;
  for (uint32_t s = 0; s < tile.samples; ++s) {
    const uint32_t from = std::min(s, image_samples - 1);
    const PlaneView plane = plane_view(tile, *t.plane, region, memory, s);
    if (!image.blocks) {
      copy_from_rows(image.rows(from), box, plane);
      if (s < image_samples) ledger.add(t.index, cause, box.pixels() * image.counted_B);
      continue;
    }
    const uint64_t raw_B = box.pixels() * image.counted_B, read_B = load_superblocks(image, from, box, plane);
    if (s >= image_samples) continue;
    ledger.add(t.index, cause, read_B);
    if (read_B < raw_B) ledger.add(t.index, TrafficCause::saved_compression, raw_B - read_B);
  }
}

/// All samples of the blocks that the box touches: pixels outside it are loaded afterwards or never used.
void clear_blocks(const Target& t, const HostTile& tile, const TileRegion& region, const Box& box, const ClearWords& clear,
                  uint8_t* memory) {
  if (box.empty()) return;
  const uint32_t row_blocks = tile.bin_px / kBlock_px;
  const auto first_row = static_cast<uint32_t>(box.min_y - region.y_px) / kBlock_px,
             last_row = static_cast<uint32_t>(box.max_y - region.y_px) / kBlock_px;
  uint8_t* out = memory + t.plane->offset_B + static_cast<size_t>(first_row) * row_blocks * t.plane->block_B;
  const size_t word_planes = static_cast<size_t>(last_row - first_row + 1) * row_blocks * tile.samples;
  __m256i values[4];
  for (uint32_t w = 0; w < t.plane->words; ++w) values[w] = _mm256_set1_epi32(static_cast<int>(clear.words[w]));
  for (size_t i = 0; i < word_planes; ++i) {
    for (uint32_t w = 0; w < t.plane->words; ++w, out += kWordPlane_B) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(out), values[w]);
      _mm256_store_si256(reinterpret_cast<__m256i*>(out + 32), values[w]);
    }
  }
}

}  // namespace

void load_tile(const Framebuffer& f, const HostTile& tile, const TileRegion& region, uint8_t* memory, stats::Ledger& ledger, Part part) {
  const BinAreas areas = bin_areas(f.layout, tile.bin_px, region);
  const bool spilled = part == Part::middle || part == Part::last;
  for (uint32_t i = 0; i < kTargets; ++i) {
    const Target t = target_at(f, tile, i, part);
    if (!t.present() || !is_active(f, t, region, part)) continue;
    if (t.load->in_bounds == LoadOp::clear && !stores_clear_value(t, region)) {
      clear_blocks(t, tile, region, areas.inside, clear_words(t.format, t.aspect, t.load->clear), memory);
    }
    // Undefined is not random: what another bin left in this worker's buffer would make pictures depend on threads.
    if (t.load->in_bounds == LoadOp::none) clear_blocks(t, tile, region, areas.inside, ClearWords{}, memory);
    if (t.load->in_bounds != LoadOp::image && t.load->border != LoadOp::image) continue;
    const ImageAccess image = image_access(*t.load->view, t.aspect, region.layer);
    if (t.load->in_bounds == LoadOp::image) {
      load_box(t, tile, region, image, areas.inside, spilled ? TrafficCause::spill_load : TrafficCause::load, memory, ledger);
    }
    if (t.load->border == LoadOp::image && f.layout.has_border()) {
      for (const Box& box : areas.border) load_box(t, tile, region, image, box, TrafficCause::border_load, memory, ledger);
    }
  }
}

}  // namespace tilegpu::framebuffer
