// tile_io/tile_store.cpp -- stage: store of one bin. In: tile memory, the store piece. Out: images, ledger.
//
// All samples, or reduced to one on the way out (folded resolves), to linear rows or superblocks. Linear images are written inside the
// render area only; block-compressed ones in whole superblocks of the tiling area, whose border was loaded. Source: docs/decisions.md,
// 22, 24.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "tile_io/equal_quads.hpp"
#include "tile_io/tile_targets.hpp"

namespace tilegpu::tile_io {
namespace {

/// From here on whole lines are written past the caches: a line written in a bin is not read again soon, and fetching it first costs
/// half of the store's time (measured at 1920x1080 RGBA8: 0.45 to 0.8 ms instead of 0.9 to 1.2).
constexpr uint64_t kStreamFrom_B = 4ull << 20;

struct StoreJob {
  const Layout& layout;
  const Target& t;
  const HostTile& tile;
  const TileRegion& region;
  const BinAreas& areas;
  uint8_t* memory;
  const StoreTarget& store;
  const TilePlane& plane;  // the target's, or its plane of resolved values
  uint32_t plane_samples;
  TrafficCause cause;
  const ClearWords* clear;  // not null: the whole box is this value
};

uint64_t border_pixels(const BinAreas& areas) { return areas.tiling.pixels() - areas.inside.pixels(); }

/// Superblocks of one sample. Pixels of the superblock beyond the framebuffer keep their value.
uint64_t store_superblocks(const StoreJob& job, const ImageAccess& image, uint32_t sample, const PlaneView& plane,
                           const resolve::Reducer* reducer) {
  resource::Superblock texels;
  uint64_t written_B = 0;
  const auto size = static_cast<int32_t>(resource::kSuperblock_px);
  const Box& box = job.areas.tiling;
  for (int32_t y = box.min_y / size; y <= box.max_y / size; ++y) {
    for (int32_t x = box.min_x / size; x <= box.max_x / size; ++x) {
      const auto address =
          resource::superblock_address(image.data, image.layout, sample, static_cast<uint32_t>(x), static_cast<uint32_t>(y));
      const Box whole = {x * size, y * size, x * size + size - 1, y * size + size - 1};
      const RowsView rows = {
          texels.texels, static_cast<size_t>(size) * image.layout.texel_B, image.layout.texel_B, whole.min_x, whole.min_y, image.field};
      const Box part = intersect(box, whole);
      // The other aspect of an interleaved texel, and pixels of an image larger than the framebuffer, come from memory.
      if (image.field.mask || !(part == whole)) resource::decode_superblock(address.header, address.payload, image.layout.texel_B, texels);
      if (job.clear) {
        fill_rows(rows, part, job.clear->words, false);
      } else {
        copy_to_rows(plane, part, reducer, false, rows);
      }
      written_B += resource::encode_superblock(texels, image.layout.texel_B, address.header, address.payload);
    }
  }
  return written_B;
}

/// Quick and with every bit of the input in every bit of the result; never 0, which means unknown.
uint64_t signature(const uint8_t* bytes, size_t size_B) {
  assert(size_B % 8 == 0);
  uint64_t hash = 0x9e3779b97f4a7c15ull;
  for (size_t at = 0; at < size_B; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  }
  return hash ? hash : 1;
}

/// Whole 16x16 blocks whose signature is the last one's, confirmed by their bytes, stay where they are. Returns the bytes not written.
uint64_t store_changed_blocks(const StoreJob& job, const ImageAccess& image, const PlaneView& plane, const resolve::Reducer* reducer) {
  resource::Superblock texels;
  uint64_t saved_B = 0;
  const auto size = static_cast<int32_t>(resource::kSuperblock_px);
  const Box& box = job.areas.inside;
  const uint32_t texel_B = image.layout.texel_B, columns = (image.layout.width_px + 15) / 16,
                 rows_of_blocks = (image.layout.height_px + 15) / 16;
  const RowsView target = image.rows(0);
  const std::span<uint64_t> signatures = job.tile.signatures;
  const size_t layer_first = static_cast<size_t>(job.store.view->info().base_layer + job.region.layer) * columns * rows_of_blocks;
  for (int32_t y = box.min_y / size; y <= box.max_y / size; ++y) {
    for (int32_t x = box.min_x / size; x <= box.max_x / size; ++x) {
      const size_t index = layer_first + static_cast<size_t>(y) * columns + static_cast<size_t>(x);
      const Box block = {x * size, y * size, std::min((x + 1) * size, static_cast<int32_t>(image.layout.width_px)) - 1,
                         std::min((y + 1) * size, static_cast<int32_t>(image.layout.height_px)) - 1};
      const Box part = intersect(box, block);
      const RowsView rows = {texels.texels, static_cast<size_t>(size) * texel_B, texel_B, block.min_x, block.min_y, {}};
      const size_t row_B = static_cast<size_t>(part.width_px()) * texel_B;
      if (!(part == block) || index >= signatures.size()) {
        if (index < signatures.size()) signatures[index] = 0;
        if (job.clear) {
          fill_rows(target, part, job.clear->words, false);
        } else {
          copy_to_rows(plane, part, reducer, false, target);
        }
        continue;
      }
      if (row_B < rows.pitch_B) std::memset(texels.texels, 0, sizeof texels.texels);  // blocks at the image's edge
      if (job.clear) {
        fill_rows(rows, part, job.clear->words, false);
      } else {
        copy_to_rows(plane, part, reducer, false, rows);
      }
      const uint64_t now = signature(texels.texels, part.height_px() * rows.pitch_B);
      bool same = now == signatures[index];
      for (int32_t row = part.min_y; same && row <= part.max_y; ++row)
        same = std::memcmp(target.at(part.min_x, row), rows.at(part.min_x, row), row_B) == 0;
      if (same) {
        saved_B += part.pixels() * texel_B;
        continue;
      }
      signatures[index] = now;
      for (int32_t row = part.min_y; row <= part.max_y; ++row) std::memcpy(target.at(part.min_x, row), rows.at(part.min_x, row), row_B);
    }
  }
  return saved_B;
}

void store_target(const StoreJob& job, stats::Ledger& ledger) {
  assert(job.store.view);
  const ImageAccess image = image_access(job.layout, *job.store.view, job.t.aspect, job.region.layer);
  if (!image.data || job.areas.tiling.empty()) return;
  const bool all = job.store.msaa == MsaaCopy::all;
  const uint32_t count = all ? job.plane_samples : 1;
  const resolve::Reducer reducer =
      tile_reducer(job.t.format, job.t.aspect, all ? MsaaCopy::sample_zero : job.store.msaa, job.plane_samples);
  const resolve::Reducer* reduce = reducer.kind == resolve::ReduceKind::copy ? nullptr : &reducer;
  for (uint32_t s = 0; s < count; ++s) {
    // Colour planes with all samples may keep them once.
    const bool once = job.t.aspect == VK_IMAGE_ASPECT_COLOR_BIT && &job.plane == job.t.plane;
    const PlaneView plane = job.clear ? PlaneView{}  // nothing is in the tile
                            : once    ? color_view(job.tile, job.plane, job.region, job.memory, s)
                                      : plane_view(job.tile, job.plane, job.region, job.memory, s);
    if (!image.blocks) {
      const Box& box = job.areas.inside;
      if (box.empty()) continue;
      if (job.store.eliminate) {
        const uint64_t saved_B = store_changed_blocks(job, image, plane, reduce);
        ledger.add(job.t.index, job.cause, box.pixels() * image.counted_B - saved_B);
        ledger.add(job.t.index, TrafficCause::saved_transaction_elimination, saved_B);
        continue;
      }
      const bool stream = job.store.view->image()->required_B() >= kStreamFrom_B;
      if (job.clear) {
        fill_rows(image.rows(s), box, job.clear->words, stream);
      } else {
        copy_to_rows(plane, box, reduce, stream, image.rows(s));
      }
      ledger.add(job.t.index, job.cause, box.pixels() * image.counted_B);
      continue;
    }
    const uint64_t border_B = border_pixels(job.areas) * image.counted_B, raw_B = job.areas.tiling.pixels() * image.counted_B;
    const uint64_t written_B = store_superblocks(job, image, s, plane, reduce);
    // The border's share of what was written.
    const uint64_t border_written_B = written_B * border_B / raw_B;
    ledger.add(job.t.index, job.cause, written_B - border_written_B);
    ledger.add(job.t.index, TrafficCause::border_store, border_written_B);
    if (written_B < raw_B) ledger.add(job.t.index, TrafficCause::saved_compression, raw_B - written_B);
  }
}

/// What nothing covers of a target that begins with "don't care" is zero in every bin: results depend on no tiles. Hardware leaves such a
/// bin alone, so nothing is counted.
void zero_clean(const Framebuffer& f, const Target& t, const HostTile& tile, const TileRegion& region, const BinAreas& areas) {
  if (!t.present() || !t.load->zeroes || !t.store->store) return;
  assert(!region.has_primitives && t.load->in_bounds == LoadOp::none);
  const BinAreas inside = {areas.inside, areas.inside, {}};
  const ClearWords zero{};
  stats::Ledger nobodys;
  store_target({f.layout, t, tile, region, inside, nullptr, *t.store, *t.plane, tile.samples, TrafficCause::store, &zero}, nobodys);
}

/// Whether samples of a quad that is kept once are read one by one, or change when they are reduced.
bool reads_equal_samples(const Target& t, const StoreTarget& store, uint32_t samples) {
  if (!store.store || t.aspect != VK_IMAGE_ASPECT_COLOR_BIT) return false;
  if (store.msaa == MsaaCopy::all) return samples > 1;
  const resolve::Reducer reducer = tile_reducer(t.format, t.aspect, store.msaa, samples);
  return reducer.kind != resolve::ReduceKind::copy && !resolve::keeps_equal(reducer);
}

/// What loading and storing this target's share of a clean bin would have moved.
uint64_t skipped_bytes(const Layout& layout, const Target& t, const HostTile& tile, const BinAreas& areas) {
  uint64_t bytes = 0;
  const auto texel_B = [&](const ImageView& view) { return image_access(layout, view, t.aspect, 0).counted_B; };
  if (t.load->in_bounds == LoadOp::image && t.load->view->image()->data()) {
    bytes += areas.inside.pixels() * texel_B(*t.load->view) * (t.load->msaa == MsaaCopy::all ? tile.samples : 1);
  }
  if (t.store->store) bytes += areas.inside.pixels() * texel_B(*t.store->view) * (t.store->msaa == MsaaCopy::all ? tile.samples : 1);
  if (t.resolved->store) bytes += areas.inside.pixels() * texel_B(*t.resolved->view);
  return bytes;
}

}  // namespace

uint32_t averaged_colors(const Framebuffer& f, const HostTile& tile, Part part) {
  uint32_t averaged = 0;
  for (uint32_t i = 0; i < kTargets; ++i) {
    if (!is_present(tile, i)) continue;
    const Target t = target_at(f, tile, i, part);
    if (t.resolve->in_bounds.op != ResolveOp::none || t.resolve->border.op != ResolveOp::none) return 0;
    if (t.aspect != VK_IMAGE_ASPECT_COLOR_BIT) continue;
    if (t.store->store) return 0;
    if (!t.resolved->store) continue;
    const resolve::Reducer reducer = tile_reducer(t.format, t.aspect, t.resolved->msaa, tile.samples);
    if (reducer.kind != resolve::ReduceKind::unorm8 || reducer.mode != resolve::ReduceMode::average || t.plane->words != 1) return 0;
    averaged |= 1u << i;
  }
  return averaged;
}

void store_tile(const Framebuffer& f, const HostTile& tile, const TileRegion& region, uint8_t* memory, stats::Ledger& ledger, Part part) {
  const BinAreas areas = bin_areas(f.layout, tile, region);
  const bool spills = part == Part::first || part == Part::middle;
  bool settles = false;
  for (uint32_t i = 0; i < kTargets && region.columns == 1 && tile.equal_quads_B; ++i) {
    if (!is_present(tile, i)) continue;
    const Target t = target_at(f, tile, i, part);
    settles |= reads_equal_samples(t, *t.store, tile.samples) || reads_equal_samples(t, *t.resolved, tile.samples);
  }
  if (settles) settle_quads(tile, memory);
  for (uint32_t i = 0; i < kTargets; ++i) {
    if (!is_present(tile, i)) continue;
    const Target t = target_at(f, tile, i, part);
    if (!is_active(f, t, region, part)) {
      ledger.add(i, TrafficCause::saved_clean_tile, skipped_bytes(f.layout, t, tile, areas));
      zero_clean(f, t, tile, region, areas);
      continue;
    }
    ClearWords clear;
    const bool direct = stores_clear_value(f, t, region);
    if (direct) clear = clear_words(t.format, t.aspect, t.load->clear);
    const ClearWords* value = direct ? &clear : nullptr;
    if (t.store->store) {
      store_target({f.layout, t, tile, region, areas, memory, *t.store, *t.plane, tile.samples,
                    spills ? TrafficCause::spill_store : TrafficCause::store, value},
                   ledger);
    }
    if (t.resolved->store) {
      const bool own = t.resolved_plane->words != 0;
      store_target({f.layout, t, tile, region, areas, memory, *t.resolved, own ? *t.resolved_plane : *t.plane, own ? 1 : tile.samples,
                    TrafficCause::resolve, value},
                   ledger);
    }
  }
  _mm_sfence();  // streamed lines are visible before the bin counts as done
}

void skip_clean_tile(const Framebuffer& f, const HostTile& tile, const TileRegion& region, stats::Ledger& ledger, Part part) {
  const BinAreas areas = bin_areas(f.layout, tile, region);
  for (uint32_t i = 0; i < kTargets; ++i) {
    const Target t = target_at(f, tile, i, part);
    if (!t.present()) continue;
    ledger.add(i, TrafficCause::saved_clean_tile, skipped_bytes(f.layout, t, tile, areas));
    zero_clean(f, t, tile, region, areas);
  }
  _mm_sfence();
}

}  // namespace tilegpu::tile_io
