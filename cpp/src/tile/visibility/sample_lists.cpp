// tile/visibility/sample_lists.cpp -- see sample_lists.hpp.
#include "tile/visibility/sample_lists.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/simd.hpp"
#include "tile/depth_stencil/depth_plane.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

BlockDepth depth_of(const BlockLists& lists, const PrimitiveDepth& p, uint32_t sample, int32_t x_px, int32_t y_px) {
  const float sample_x = lists.positions[2 * sample], sample_y = lists.positions[2 * sample + 1];
  return block_depth(p, static_cast<float>(x_px) + sample_x, static_cast<float>(y_px) + sample_y, static_cast<float>(y_px + 2) + sample_y,
                     lists.unorm, lists.scale);
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
    const uint32_t wins = sign_bits(now.upper * test.sign < before.upper * test.sign + test.bias) |
                          sign_bits(now.lower * test.sign < before.lower * test.sign + test.bias) << 8;
    masks[s] = static_cast<uint16_t>(masks[s] & wins);
  }
  return load_masks(masks);
}

}  // namespace

uint32_t count_samples(SampleMasks m) {
  uint32_t count = 0;
  for (int i = 0; i < 4; i++) count += static_cast<uint32_t>(std::popcount(reinterpret_cast<const uint64_t*>(&m)[i]));
  return count;
}

void begin_lists(const TileContext& t, uint32_t background, DepthBounds& bounds, BlockLists& lists) {
  assert(t.shape.samples > 1 && t.shape.samples <= kMaxSamples);
  const size_t blocks = t.shape.blocks();
  lists.active = true;
  lists.background = background;
  lists.count.assign(blocks, 0);
  lists.entry_memory.reserve(blocks * kBlockEntries * sizeof(BlockEntry));
  lists.entries = reinterpret_cast<BlockEntry*>(lists.entry_memory.data());
  lists.free_memory.reserve(blocks * sizeof(SampleMasks));
  lists.free = reinterpret_cast<SampleMasks*>(lists.free_memory.data());
  for (uint32_t s = 0; s < 16; s++) lists.all[s] = s < t.shape.samples ? 0xffff : 0;
  std::fill_n(lists.free, blocks, lists.all);
  lists.most.assign(blocks, INT32_MIN);
  lists.planes.clear();
  const tile_io::HostTile& tile = t.pass->tile;
  lists.depth = tile.depth.words ? reinterpret_cast<uint32_t*>(t.buffers.memory.data() + tile.depth.offset_B) : nullptr;
  depth_encoding(tile.depth_format, lists.unorm, lists.scale);
  lists.positions = sample_positions(t.shape.samples);
  lists.samples = t.shape.samples;
  if (lists.depth) bounds.reset(static_cast<int32_t>(background));
}

SampleMasks insert(BlockLists& lists, const PrimitiveDepth& p, uint32_t plane, uint32_t block, int32_t x_px, int32_t y_px,
                   SampleMasks covered) {
  assert(lists.active && lists.count[block] < kBlockEntries);  // a full list is expanded first
  const ListTest test = lists.test;
  DepthRange range{0, 0};
  int32_t nearest = 0, farthest = 0;  // in the order of the test
  if (!test.always) {
    range = depth_range(p, x_px, y_px, lists.unorm, lists.scale);
    nearest = test.sign > 0 ? range.near : -range.far;
    farthest = test.sign > 0 ? range.far : -range.near;
    if (lists.far && nearest - test.bias >= lists.far[block]) return SampleMasks{};
  } else if (lists.depth) {
    range = depth_range(p, x_px, y_px, lists.unorm, lists.scale);
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
    lists.most[block] = most = std::max(lists.most[block], range.far);
    if (lists.far) lists.far[block] = none(free) ? most : std::max(most, static_cast<int32_t>(lists.background));
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
    lists.most[block] = most = std::max(most, range.far);
    if (!none(free)) most = std::max(most, static_cast<int32_t>(lists.background));
    if (lists.far) lists.far[block] = most;
  }
  lists.count[block] = static_cast<uint8_t>(kept);
  return pass;
}

namespace {

// Masks of a block. 4 samples: a general register; 8 and 16: a vector, where as many general registers would not be left for the loop.
struct Words4 {
  uint64_t at;
  SampleMasks as_masks() const { return (SampleMasks)_mm256_setr_epi64x(static_cast<int64_t>(at), 0, 0, 0); }
  uint32_t pixels() const {
    const uint64_t any = at | at >> 32;
    return static_cast<uint32_t>(any | any >> 16) & 0xffff;
  }
  bool lies_in(const Words4& other) const { return (at & ~other.at) == 0; }
  Words4 without(const Words4& part) const { return {at ^ part.at}; }
  bool any() const { return at != 0; }
};
struct Words8 {
  __m128i at;
  SampleMasks as_masks() const { return (SampleMasks)_mm256_zextsi128_si256(at); }
  uint32_t pixels() const {
    const uint64_t any = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_or_si128(at, _mm_unpackhi_epi64(at, at))));
    return Words4{any}.pixels();
  }
  bool lies_in(const Words8& other) const { return _mm_testc_si128(other.at, at); }
  Words8 without(const Words8& part) const { return {_mm_xor_si128(at, part.at)}; }
  bool any() const { return !_mm_testz_si128(at, at); }
};
struct Words16 {
  SampleMasks at;
  SampleMasks as_masks() const { return at; }
  uint32_t pixels() const { return pixels_of(at); }
  bool lies_in(const Words16& other) const { return _mm256_testc_si256((__m256i)other.at, (__m256i)at); }
  Words16 without(const Words16& part) const { return {at ^ part.at}; }
  bool any() const { return !none(at); }
};

// Of each block, as depth_range.
struct Ranges {
  alignas(64) int32_t near[CoveredBlocks::kMost + 16], far[CoveredBlocks::kMost + 16];
};

void find_ranges(const BlockLists& lists, const Bin& bin, const TriangleBatch& b, const CoveredBlocks& blocks, Ranges& out) {
  for (uint32_t i = 0; i < blocks.count; i++) {
    const DepthRange range = depth_range(batch_depth(b, blocks.lane[i], 0, 0), bin.origin_x_px + blocks.x[i] * 4,
                                         bin.origin_y_px + blocks.y[i] * 4, lists.unorm, lists.scale);
    out.near[i] = range.near;
    out.far[i] = range.far;
  }
}

#if TILEGPU_HAS_WIDE
TILEGPU_WIDE void find_ranges_wide(const BlockLists&, const Bin& bin, const TriangleBatch& b, const CoveredBlocks& blocks, Ranges& out) {
  const auto of_lanes = [](const float* values) TILEGPU_WIDE { return _mm512_castps256_ps512(_mm256_load_ps(values)); };
  const __m512 z0 = of_lanes(b.z0), zx = of_lanes(b.zx), zy = of_lanes(b.zy), anchor_x = of_lanes(b.anchor_x),
               anchor_y = of_lanes(b.anchor_y), lo = of_lanes(b.lo), hi = of_lanes(b.hi);
  constexpr int kNotFinite = 0x99;  // NaN, infinity
  const uint32_t wild =
      _mm512_fpclass_ps_mask(z0, kNotFinite) | _mm512_fpclass_ps_mask(zx, kNotFinite) | _mm512_fpclass_ps_mask(zy, kNotFinite);
  const auto bytes = [](const uint8_t* at)
                         TILEGPU_WIDE { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))); };
  const __m512 zero = _mm512_setzero_ps(), four = _mm512_set1_ps(4);
  for (uint32_t i = 0; i < blocks.count; i += 16) {
    const __m512i lane = bytes(blocks.lane + i);
    const auto own = [&](__m512 v) TILEGPU_WIDE { return _mm512_permutexvar_ps(lane, v); };
    const auto pixel = [&](const uint8_t* at, int32_t origin_px) TILEGPU_WIDE {
      return _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(bytes(at), 2), _mm512_set1_epi32(origin_px)));
    };
    const __m512 x = pixel(blocks.x + i, bin.origin_x_px), y = pixel(blocks.y + i, bin.origin_y_px);
    const __m512 slope_x = own(zx), slope_y = own(zy), from_x = own(anchor_x), from_y = own(anchor_y), first = own(z0), least = own(lo),
                 most = own(hi);
    const __mmask16 rises_x = _mm512_cmp_ps_mask(slope_x, zero, _CMP_GE_OQ), rises_y = _mm512_cmp_ps_mask(slope_y, zero, _CMP_GE_OQ);
    const auto at = [&](__mmask16 on_x, __mmask16 on_y) TILEGPU_WIDE {
      const __m512 px = _mm512_mask_add_ps(x, on_x, x, four), py = _mm512_mask_add_ps(y, on_y, y, four);
      const __m512 z = _mm512_add_ps(_mm512_add_ps(first, _mm512_mul_ps(slope_x, _mm512_sub_ps(px, from_x))),
                                     _mm512_mul_ps(slope_y, _mm512_sub_ps(py, from_y)));
      return _mm512_min_ps(_mm512_max_ps(z, least), most);
    };
    __m512 near = at(static_cast<__mmask16>(~rises_x), static_cast<__mmask16>(~rises_y)), far = at(rises_x, rises_y);
    if (wild) [[unlikely]] {
      const __mmask16 mine =
          _mm512_test_epi32_mask(_mm512_sllv_epi32(_mm512_set1_epi32(1), lane), _mm512_set1_epi32(static_cast<int>(wild)));
      near = _mm512_mask_mov_ps(near, mine, least);
      far = _mm512_mask_mov_ps(far, mine, most);
    }
    _mm512_store_ps(out.near + i, near);
    _mm512_store_ps(out.far + i, far);
  }
}
#else
constexpr auto find_ranges_wide = find_ranges;
#endif

// Pixels that pass. Apart, for the registers of the loop.
__attribute__((noinline)) uint32_t insert_again(const TileContext& t, BlockLists& lists, const TriangleBatch& batch,
                                                const CoveredBlocks& blocks, uint32_t i, uint32_t number, uint32_t first_plane,
                                                SampleMasks covered) {
  const uint32_t lane = blocks.lane[i];
  const SampleMasks pass =
      insert(lists, batch_depth(batch, lane, number, 0), first_plane + lane, t.shape.block_of(blocks.x[i], blocks.y[i]),
             t.bin.origin_x_px + blocks.x[i] * 4, t.bin.origin_y_px + blocks.y[i] * 4, covered);
  return static_cast<uint32_t>(std::popcount(pixels_of(pass)));
}

template <class Words>
ListedBlocks insert_words(const TileContext& t, BlockLists& lists, const TriangleBatch& batch, const CoveredBlocks& blocks,
                          uint32_t first_number, const UnlistedBlocks& unlisted) {
  if (!blocks.count) return {0, 0, 0, 0};
  const ListTest test = lists.test;
  const bool bounded = !test.always && lists.far;
  const int32_t clear_depth = static_cast<int32_t>(lists.background), background = clear_depth * test.sign + test.bias;
  Ranges ranges;
  (t.shape.wide && !lists.unorm ? find_ranges_wide : find_ranges)(lists, t.bin, batch, blocks, ranges);
  // Planes of all lanes, in any case: whether one is seen is hard to foretell.
  const uint32_t first_lane = blocks.lane[0], last_lane = blocks.lane[blocks.count - 1];
  const uint32_t first_plane = static_cast<uint32_t>(lists.planes.size()) - first_lane;
  for (uint32_t lane = first_lane; lane <= last_lane; lane++) lists.planes.push_back(batch_depth(batch, lane, 0, 0));
  const bool keeps_far = lists.far != nullptr;
  const uint32_t row_shift = t.shape.row_shift;
  uint8_t* const counts = lists.count.data();
  int32_t* const bounds = lists.far;
  int32_t* const mosts = lists.most.data();
  BlockEntry* const entries = lists.entries;
  SampleMasks* const frees = lists.free;
  uint32_t all_covered = 0, hidden = 0, lost = 0, seen = 0;
  for (uint32_t i = 0; i < blocks.count; i++) {
    const uint32_t lane = blocks.lane[i], block = static_cast<uint32_t>(blocks.y[i]) << row_shift | blocks.x[i], listed = counts[block];
    const uint32_t number = first_number + static_cast<uint32_t>(std::popcount(seen & ((1u << lane) - 1)));
    if (listed >= kBlockEntries) [[unlikely]] {
      seen |= uint32_t{unlisted.draw(unlisted.context, batch, blocks, i, number)} << lane;
      continue;
    }
    Words covered;
    std::memcpy(&covered, blocks.masks_of(i), sizeof covered);
    const uint32_t pixels = static_cast<uint32_t>(std::popcount(covered.pixels()));
    all_covered += pixels;
    const int32_t near = ranges.near[i], far = ranges.far[i];
    const int32_t nearest = test.sign > 0 ? near : -far, farthest = test.sign > 0 ? far : -near;
    if (bounded && nearest - test.bias >= bounds[block]) {
      hidden += pixels;
      continue;
    }
    Words& free = *reinterpret_cast<Words*>(frees + block);
    if (!covered.lies_in(free) || !(test.always || farthest < background)) {
      const uint32_t passed = insert_again(t, lists, batch, blocks, i, number, first_plane, covered.as_masks());
      lost += pixels - passed;
      seen |= uint32_t{passed != 0} << lane;
      continue;
    }
    // As `insert` does it: only the background is there.
    const Words left = free.without(covered);
    free = left;
    entries[size_t{block} * kBlockEntries + listed] = {covered.as_masks(), number, first_plane + lane, near, far};
    counts[block] = static_cast<uint8_t>(listed + 1);
    seen |= 1u << lane;
    const int32_t most = std::max(mosts[block], far);
    mosts[block] = most;
    if (keeps_far) bounds[block] = std::max(most, left.any() ? clear_depth : INT32_MIN);
  }
  return {all_covered, all_covered - hidden - lost, hidden, seen};
}

}  // namespace

ListedBlocks insert_blocks(const TileContext& t, BlockLists& lists, const TriangleBatch& batch, const CoveredBlocks& blocks,
                           uint32_t first_number, const UnlistedBlocks& unlisted) {
  assert(lists.active && blocks.count <= CoveredBlocks::kMost);
  const auto insert_all = t.shape.samples <= 4 ? insert_words<Words4> : t.shape.samples == 8 ? insert_words<Words8> : insert_words<Words16>;
  return insert_all(t, lists, batch, blocks, first_number, unlisted);
}

void expand_list(const TileContext& t, BlockLists& lists, uint32_t block) {
  assert(lists.count[block] <= kBlockEntries);  // not in the buffers yet
  const uint32_t count = lists.count[block];
  lists.count[block] = kInBuffers;
  const BlockEntry* list = lists.entries + size_t{block} * kBlockEntries;
  const int32_t x_px = t.bin.origin_x_px + t.shape.x_px(block), y_px = t.bin.origin_y_px + t.shape.y_px(block);
  uint32_t* depth = lists.depth ? lists.depth + size_t{block} * lists.samples * 16 : nullptr;
  uint32_t* ids = t.buffers.ids + size_t{block} * lists.samples * 16;  // zero where no primitive was seen
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count; i++) seen |= list[i].id;
  if (seen) t.buffers.dirty[block] = 1;
  for (uint32_t s = 0; s < lists.samples; s++) {
    BlockDepth now{i32x8{} + static_cast<int32_t>(lists.background), i32x8{} + static_cast<int32_t>(lists.background)};
    i32x8 numbers[2] = {};
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t mask = reinterpret_cast<const uint16_t*>(&list[i].masks)[s];
      if (!mask) continue;
      const i32x8 upper = expand8(mask & 0xff), lower = expand8(mask >> 8);
      if (depth) {
        const BlockDepth own = depth_of(lists, lists.planes[list[i].plane], s, x_px, y_px);
        now.upper = select(upper, own.upper, now.upper);
        now.lower = select(lower, own.lower, now.lower);
      }
      const i32x8 id = i32x8{} + static_cast<int32_t>(list[i].id);
      numbers[0] = select(upper, id, numbers[0]);
      numbers[1] = select(lower, id, numbers[1]);
    }
    if (depth) {
      store(depth + 16 * s, now.upper);
      store(depth + 16 * s + 8, now.lower);
    }
    if (!seen) continue;
    store(ids + 16 * s, numbers[0]);
    store(ids + 16 * s + 8, numbers[1]);
  }
}

void expand_lists(const TileContext& t, BlockLists& lists) {
  if (!lists.active) return;
  lists.active = false;
  for (uint32_t block = 0; block < lists.count.size(); block++)
    if (lists.count[block] != kInBuffers) expand_list(t, lists, block);
}

}  // namespace tilegpu::TILEGPU_TILE
