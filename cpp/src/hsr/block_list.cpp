// hsr/block_list.cpp -- see block_list.hpp.
#include "hsr/block_list.hpp"

#include <algorithm>

#include "raster/worker.hpp"

namespace tilegpu::hsr {

namespace {

using raster::BlockDepth;
using raster::i32x8;
using raster::PrimitiveDepth;
using raster::Worker;

BlockDepth depth_of(const BlockLists& lists, const PrimitiveDepth& p, uint32_t sample, int32_t x_px, int32_t y_px) {
  const float sample_x = lists.positions[2 * sample], sample_y = lists.positions[2 * sample + 1];
  return raster::block_depth(p, static_cast<float>(x_px) + sample_x, static_cast<float>(y_px) + sample_y,
                             static_cast<float>(y_px + 2) + sample_y, lists.unorm, lists.scale);
}

/// Of `overlap`, the samples where the new primitive passes against the old one (null: the background).
SampleMasks compare(const BlockLists& lists, const ListTest& test, const PrimitiveDepth& p, const PrimitiveDepth* old, int32_t x_px,
                    int32_t y_px, SampleMasks overlap) {
  alignas(32) uint16_t masks[16];
  _mm256_store_si256(reinterpret_cast<__m256i*>(masks), (__m256i)overlap);
  for (uint32_t s = 0; s < lists.samples; s++) {
    if (!masks[s]) continue;
    const BlockDepth now = depth_of(lists, p, s, x_px, y_px);
    BlockDepth before{i32x8{} + static_cast<int32_t>(lists.background), i32x8{} + static_cast<int32_t>(lists.background)};
    if (old) before = depth_of(lists, *old, s, x_px, y_px);
    const uint32_t wins = raster::sign_bits(now.upper * test.sign < before.upper * test.sign + test.bias) |
                          raster::sign_bits(now.lower * test.sign < before.lower * test.sign + test.bias) << 8;
    masks[s] = static_cast<uint16_t>(masks[s] & wins);
  }
  return load_masks(masks);
}

}  // namespace

#ifndef TILEGPU_TRACED
uint32_t count_samples(SampleMasks m) {
  uint32_t count = 0;
  for (int i = 0; i < 4; i++) count += static_cast<uint32_t>(std::popcount(reinterpret_cast<const uint64_t*>(&m)[i]));
  return count;
}
#endif

#ifndef TILEGPU_TRACED
bool serves(const raster::TestState& test, ListTest& out) {
  out = {};
  if (test.stencil_test || test.bounds_test) return false;
  if (!test.depth) return true;
  if (!test.depth_test || !test.depth_write) return false;
  out.always = test.compare == VK_COMPARE_OP_ALWAYS;
  out.sign = test.compare == VK_COMPARE_OP_GREATER || test.compare == VK_COMPARE_OP_GREATER_OR_EQUAL ? -1 : 1;
  out.bias = test.compare == VK_COMPARE_OP_LESS_OR_EQUAL || test.compare == VK_COMPARE_OP_GREATER_OR_EQUAL ? 1 : 0;
  return out.always || test.compare == VK_COMPARE_OP_LESS || test.compare == VK_COMPARE_OP_GREATER || out.bias;
}
#endif

void begin_lists(Worker& w, uint32_t background) {
  BlockLists& lists = w.lists;
  const size_t blocks = size_t{w.blocks_per_row} * w.blocks_per_row;
  lists.active = true;
  lists.background = background;
  lists.count.assign(blocks, 0);
  lists.entry_memory.reserve(blocks * kBlockEntries * sizeof(BlockEntry));
  lists.entries = reinterpret_cast<BlockEntry*>(lists.entry_memory.data());
  lists.free_memory.reserve(blocks * sizeof(SampleMasks));
  lists.free = reinterpret_cast<SampleMasks*>(lists.free_memory.data());
  for (uint32_t s = 0; s < 16; s++) lists.all[s] = s < w.samples ? 0xffff : 0;
  std::fill_n(lists.free, blocks, lists.all);
  lists.planes.clear();
  const framebuffer::HostTile& tile = w.pass->tile;
  lists.depth = tile.depth.words ? reinterpret_cast<uint32_t*>(w.memory.data() + tile.depth.offset_B) : nullptr;
  raster::depth_encoding(tile.depth_format, lists.unorm, lists.scale);
  lists.positions = raster::sample_positions(w.samples);
  lists.samples = w.samples;
}

SampleMasks insert(Worker& w, const PrimitiveDepth& p, uint32_t plane, uint32_t block, int32_t x_px, int32_t y_px, SampleMasks covered) {
  BlockLists& lists = w.lists;
  const ListTest test = w.list_test;
  raster::DepthRange range{0, 0};
  int32_t nearest = 0, farthest = 0;  // in the order of the test
  if (!test.always) {
    range = raster::depth_range(p, x_px, y_px, lists.unorm, lists.scale);
    nearest = test.sign > 0 ? range.near : -range.far;
    farthest = test.sign > 0 ? range.far : -range.near;
    if (w.test.far && nearest - test.bias >= w.far[block]) return SampleMasks{};
  } else if (lists.depth) {
    range = raster::depth_range(p, x_px, y_px, lists.unorm, lists.scale);
  }
  SampleMasks pass = covered;
  BlockEntry* list = lists.entries + size_t{block} * kBlockEntries;
  uint32_t count = lists.count[block], kept = 0;
  int32_t most = INT32_MIN;
  const SampleMasks taken = covered & ~lists.free[block];
  const bool before_background = test.always || farthest < static_cast<int32_t>(lists.background) * test.sign + test.bias;
  if (none(taken) && before_background) {
    // Neighbours of a mesh do not overlap: only the background is there.
    const SampleMasks free = lists.free[block] & ~covered;
    lists.free[block] = free;
    list[count] = {covered, p.id, plane, range.near, range.far};
    lists.count[block] = static_cast<uint8_t>(count + 1);
    if (w.test.far) {
      for (uint32_t i = 0; i <= count; i++) most = std::max(most, list[i].far);
      if (!none(free)) most = std::max(most, static_cast<int32_t>(lists.background));
      w.far[block] = most;
    }
    return covered;
  }
  for (uint32_t i = 0; i < count; i++) {
    BlockEntry& entry = list[i];
    const SampleMasks overlap = pass & entry.masks;
    if (!none(overlap)) {
      const int32_t entry_near = test.sign > 0 ? entry.near : -entry.far, entry_far = test.sign > 0 ? entry.far : -entry.near;
      SampleMasks wins = overlap;
      if (!test.always && farthest >= entry_near + test.bias) {
        if (nearest >= entry_far + test.bias)
          wins = SampleMasks{};
        else
          wins = compare(lists, test, p, &lists.planes[entry.plane], x_px, y_px, overlap);
        pass &= ~(overlap ^ wins);
      }
      entry.masks &= ~wins;
      if (none(entry.masks)) continue;
    }
    most = std::max(most, entry.far);
    if (kept != i) list[kept] = entry;
    kept++;
  }
  SampleMasks& free = lists.free[block];
  const SampleMasks overlap = pass & free;
  if (!none(overlap)) {
    const int32_t background = static_cast<int32_t>(lists.background) * test.sign;
    SampleMasks wins = overlap;
    if (!test.always && farthest >= background + test.bias) {
      wins = nearest >= background + test.bias ? SampleMasks{} : compare(lists, test, p, nullptr, x_px, y_px, overlap);
      pass &= ~(overlap ^ wins);
    }
    free &= ~wins;
  }
  if (!none(pass)) {
    list[kept++] = {pass, p.id, plane, range.near, range.far};
    most = std::max(most, range.far);
    if (!none(free)) most = std::max(most, static_cast<int32_t>(lists.background));
    if (w.test.far) w.far[block] = most;
  }
  lists.count[block] = static_cast<uint8_t>(kept);
  return pass;
}

void expand_list(Worker& w, uint32_t block) {
  BlockLists& lists = w.lists;
  const uint32_t count = lists.count[block];
  lists.count[block] = kInBuffers;
  const BlockEntry* list = lists.entries + size_t{block} * kBlockEntries;
  const int32_t x_px = w.origin_x_px + static_cast<int32_t>(block & (w.blocks_per_row - 1)) * 4;
  const int32_t y_px = w.origin_y_px + static_cast<int32_t>(block >> w.row_shift) * 4;
  uint32_t* depth = lists.depth ? lists.depth + size_t{block} * lists.samples * 16 : nullptr;
  uint32_t* ids = w.ids + size_t{block} * lists.samples * 16;  // zero where no primitive was seen
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count; i++) seen |= list[i].id;
  if (seen) w.dirty[block] = 1;
  for (uint32_t s = 0; s < lists.samples; s++) {
    BlockDepth now{i32x8{} + static_cast<int32_t>(lists.background), i32x8{} + static_cast<int32_t>(lists.background)};
    i32x8 numbers[2] = {};
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t mask = reinterpret_cast<const uint16_t*>(&list[i].masks)[s];
      if (!mask) continue;
      const i32x8 upper = raster::expand8(mask & 0xff), lower = raster::expand8(mask >> 8);
      if (depth) {
        const BlockDepth own = depth_of(lists, lists.planes[list[i].plane], s, x_px, y_px);
        now.upper = raster::select(upper, own.upper, now.upper);
        now.lower = raster::select(lower, own.lower, now.lower);
      }
      const i32x8 id = i32x8{} + static_cast<int32_t>(list[i].id);
      numbers[0] = raster::select(upper, id, numbers[0]);
      numbers[1] = raster::select(lower, id, numbers[1]);
    }
    if (depth) {
      raster::store(depth + 16 * s, now.upper);
      raster::store(depth + 16 * s + 8, now.lower);
    }
    if (!seen) continue;
    raster::store(ids + 16 * s, numbers[0]);
    raster::store(ids + 16 * s + 8, numbers[1]);
  }
}

void expand_lists(Worker& w) {
  if (!w.lists.active) return;
  w.lists.active = false;
  for (uint32_t block = 0; block < w.lists.count.size(); block++)
    if (w.lists.count[block] != kInBuffers) expand_list(w, block);
}

}  // namespace tilegpu::hsr
