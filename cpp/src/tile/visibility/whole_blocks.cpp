// tile/visibility/whole_blocks.cpp -- see whole_blocks.hpp.
#include "tile/visibility/whole_blocks.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "tile/depth_stencil/depth_plane.hpp"

namespace tilegpu::TILEGPU_TILE {

namespace {

i32x8 load(const void* words) { return (i32x8)_mm256_loadu_si256(static_cast<const __m256i*>(words)); }
void store(void* words, i32x8 v) { _mm256_storeu_si256(static_cast<__m256i*>(words), (__m256i)v); }

void write_depth(const TileContext& t, const BlockCovers& c, const PrimitiveDepth& p, uint32_t block) {
  assert(block < t.shape.blocks() && t.pass->tile.depth.words == 1);
  const float x = static_cast<float>(t.bin.origin_x_px + t.shape.x_px(block)) + 0.5f;
  const int32_t y_px = t.bin.origin_y_px + t.shape.y_px(block);
  const BlockDepth depth = block_depth(p, x, static_cast<float>(y_px) + 0.5f, static_cast<float>(y_px + 2) + 0.5f, c.unorm, c.scale);
  uint32_t* words = reinterpret_cast<uint32_t*>(t.buffers.memory.data() + t.pass->tile.depth.offset_B) + size_t{block} * 16;
  store(words, depth.upper);
  store(words + 8, depth.lower);
}

}  // namespace

void find_bounds(const TileShape& shape, const TestState& test, DepthBounds& bounds, BlockCovers& covers) {
  assert(test.depth && (shape.samples == 1 || !covers.active));
  const size_t words = size_t{shape.samples} * 16;
  const uint32_t blocks = shape.blocks();
  for (uint32_t first = 0; first < blocks; first += 32) {
    const __m256i marks = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bounds.stale.block + first));
    for (uint32_t left = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(marks, _mm256_setzero_si256()))); left;
         left &= left - 1) {
      const uint32_t block = first + static_cast<uint32_t>(std::countr_zero(left));
      const uint32_t* const depth = test.depth + block * words;
      i32x8 most = load8(depth);
      for (size_t at = 8; at + 8 < words; at += 8) most = maximum(most, load8(depth + at));
      const Ends both = ends(most, load8(depth + words - 8));
      bounds.far[block] = both.most;
      // `far` holds when depth comes nearer, `near` does not: it is known only while the draw keeps it.
      if (covers.active) covers.near[block] = test.near ? both.least : kNearUnknown;  // one sample
    }
  }
  bounds.stale.clear();
}

void begin_covers(const TileContext& t, bool known, uint32_t background, DepthBounds& bounds, BlockCovers& c) {
  assert(t.shape.samples == 1 && bounds.enabled);
  const size_t blocks = size_t{t.shape.blocks()} + 8;  // eight are read at once
  c.active = true;
  c.any = false;
  c.near.assign(blocks, known ? static_cast<int32_t>(background) : kNearUnknown);
  if (known) bounds.reset(static_cast<int32_t>(background));
  c.plane.assign(blocks, 0);
  c.planes.clear();
  depth_encoding(t.pass->tile.depth_format, c.unorm, c.scale);
}

namespace {

// The words of a primitive at the corners of eight blocks where it is nearest and farthest.
struct Corners {
  i32x8 near, far;
};
inline Corners corners_of(const TestState& test, const PrimitiveDepth& p, f32x8 left, f32x8 top) {
  const f32x8 right = left + 3.0f, bottom = top + 3.0f;
  const bool grows_x = p.zx >= 0, grows_y = p.zy >= 0;
  const f32x8 near = clamp(depth_term_x(p, grows_x ? left : right) + depth_term_y(p, grows_y ? top : bottom), p.lo, p.hi);
  const f32x8 far = clamp(depth_term_x(p, grows_x ? right : left) + depth_term_y(p, grows_y ? bottom : top), p.lo, p.hi);
  if (test.unorm) return {to_unorm(near, test.unorm_scale), to_unorm(far, test.unorm_scale)};
  return {(i32x8)near, (i32x8)far};
}
// In API order what is equal is hidden with LESS and wins with LESS_OR_EQUAL; in any order neither is known of a whole block.
inline bool hides_equal(const TestState& test) { return test.compare == VK_COMPARE_OP_LESS && !test.any_order; }
inline uint32_t hidden_by(const TestState& test, i32x8 near, i32x8 old_far) {
  return sign_bits(hides_equal(test) ? near >= old_far : near > old_far);
}
inline uint32_t won_by(const TestState& test, i32x8 far, i32x8 old_near, i32x8 old_far) {
  const bool less = test.compare == VK_COMPARE_OP_LESS || test.any_order;
  if (test.unorm) return sign_bits(less ? far < old_near : far <= old_near);
  // As floats, for zeros; and no NaN is there, which no depth is in front of.
  const i32x8 wins = less ? (f32x8)far < (f32x8)old_near : (f32x8)far <= (f32x8)old_near;
  return sign_bits(wins & (old_far <= 0x7f800000));
}
inline bool finite(const PrimitiveDepth& p) { return std::isfinite(p.z0) && std::isfinite(p.zx) && std::isfinite(p.zy); }

// The index of the primitive's plane, plus 1. Its blocks come one after the other.
inline uint32_t plane_of(BlockCovers& c, const PrimitiveDepth& p) {
  assert(p.id);  // it has a number
  if (c.planes.empty() || c.planes.back().id != p.id) c.planes.push_back(p);
  c.any = true;
  return static_cast<uint32_t>(c.planes.size());
}

// Two rows of four words.
inline i32x8 load_rows(const void* words, size_t pitch) {
  const auto* at = static_cast<const int32_t*>(words);
  return (i32x8)_mm256_set_m128i(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + pitch)),
                                 _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
inline void store_rows(void* words, size_t pitch, i32x8 v) {
  auto* at = static_cast<int32_t*>(words);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_castsi256_si128((__m256i)v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at + pitch), _mm256_extracti128_si256((__m256i)v, 1));
}

}  // namespace

CoverSides hold_blocks(const TileContext& t, const TestState& test, BlockCovers& c, const PrimitiveDepth& p, int32_t block_x,
                       int32_t block_y, uint32_t present) {
  assert(test.near && test.far && test.dirty && test.bounded() && present && present <= 0xff);
  if (!finite(p)) return {0, 0};
  const uint32_t first_block = t.shape.block_of(block_x, block_y);
  const float left = static_cast<float>(t.bin.origin_x_px + block_x * 4) + 0.5f;
  const float top = static_cast<float>(t.bin.origin_y_px + block_y * 4) + 0.5f;
  const f32x8 across = {0, 4, 8, 12, 16, 20, 24, 28};
  const auto [near, far] = corners_of(test, p, across + left, f32x8{} + top);
  const i32x8 old_near = load(test.near + first_block), old_far = load(test.far + first_block);
  const uint32_t hidden = hidden_by(test, near, old_far) & present;
  const uint32_t held = won_by(test, far, old_near, old_far) & present & ~hidden;
  if (!held) return {hidden, 0};
  const i32x8 mask = expand8(held);
  const i32x8 plane = i32x8{} + static_cast<int32_t>(plane_of(c, p));
  store(test.near + first_block, select(mask, near, old_near));
  store(test.far + first_block, select(mask, far, old_far));
  store(c.plane.data() + first_block, select(mask, plane, load(c.plane.data() + first_block)));
  uint64_t dirty;
  std::memcpy(&dirty, test.dirty + first_block, 8);
  dirty |= _pdep_u64(held, 0x0101010101010101u);
  std::memcpy(test.dirty + first_block, &dirty, 8);
  return {hidden, held};
}

CoverSides cover_window(const TileContext& t, const TestState& test, BlockCovers& c, const PrimitiveDepth& p, int32_t block_x,
                        int32_t block_y, uint32_t full, uint32_t part) {
  assert(t.shape.samples == 1 && test.far && test.window_far && !(full & part));
  assert(((block_x | block_y) & 3) == 0);  // bounds of windows are of whole ones
  if (!finite(p)) return {0, 0};
  const uint32_t pitch = t.shape.blocks_per_row, first_block = t.shape.block_of(block_x, block_y);
  int32_t& bound = test.window_far[(static_cast<uint32_t>(block_y) * pitch >> 4) + (static_cast<uint32_t>(block_x) >> 2)];
  const float left = static_cast<float>(t.bin.origin_x_px + block_x * 4) + 0.5f;
  const float top = static_cast<float>(t.bin.origin_y_px + block_y * 4) + 0.5f;
  {
    const f32x4 x = f32x4{} + (p.zx >= 0 ? left : left + 15.0f), y = f32x4{} + (p.zy >= 0 ? top : top + 15.0f);
    const f32x4 z = clamp(depth_term_x(p, x) + depth_term_y(p, y), p.lo, p.hi);
    const int32_t near = (test.unorm ? to_unorm(z, test.unorm_scale) : (i32x4)z)[0];
    if (hides_equal(test) ? near >= bound : near > bound) return {full | part, 0};
  }
  const f32x8 across = {0, 4, 8, 12, 0, 4, 8, 12}, down = {0, 0, 0, 0, 4, 4, 4, 4};
  // Both halves are decided before anything is written: the places in memory are then known once.
  int32_t* const far_at = test.far + first_block;
  const Corners upper = corners_of(test, p, across + left, down + top), lower = corners_of(test, p, across + left, down + (top + 8.0f));
  const i32x8 upper_far = load_rows(far_at, pitch), lower_far = load_rows(far_at + 2 * pitch, pitch);
  CoverSides sides{hidden_by(test, upper.near, upper_far) | hidden_by(test, lower.near, lower_far) << 8, 0};
  i32x8 most = maximum(upper_far, lower_far);
  if (test.near) {
    int32_t* const near_at = test.near + first_block;
    const i32x8 upper_near = load_rows(near_at, pitch), lower_near = load_rows(near_at + 2 * pitch, pitch);
    sides.held =
        (won_by(test, upper.far, upper_near, upper_far) | won_by(test, lower.far, lower_near, lower_far) << 8) & full & ~sides.hidden;
    if (sides.held) {
      const i32x8 plane = i32x8{} + static_cast<int32_t>(plane_of(c, p));
      uint32_t* const plane_at = c.plane.data() + first_block;
      uint8_t* const dirty_at = test.dirty + first_block;
      const i32x8 first = expand8(sides.held & 0xff), second = expand8(sides.held >> 8);
      const i32x8 now_upper = select(first, upper.far, upper_far), now_lower = select(second, lower.far, lower_far);
      store_rows(near_at, pitch, select(first, upper.near, upper_near));
      store_rows(near_at + 2 * pitch, pitch, select(second, lower.near, lower_near));
      store_rows(far_at, pitch, now_upper);
      store_rows(far_at + 2 * pitch, pitch, now_lower);
      store_rows(plane_at, pitch, select(first, plane, load_rows(plane_at, pitch)));
      store_rows(plane_at + 2 * pitch, pitch, select(second, plane, load_rows(plane_at + 2 * pitch, pitch)));
      const uint64_t bytes[2] = {_pdep_u64(sides.held & 0xff, 0x0101010101010101u), _pdep_u64(sides.held >> 8, 0x0101010101010101u)};
      for (uint32_t row = 0; row < 4; row++) {
        uint32_t dirty;
        std::memcpy(&dirty, dirty_at + row * pitch, 4);
        dirty |= static_cast<uint32_t>(bytes[row >> 1] >> 32 * (row & 1));
        std::memcpy(dirty_at + row * pitch, &dirty, 4);
      }
      most = maximum(now_upper, now_lower);
    }
  }
  bound = largest(most);
  sides.hidden &= full | part;
  return sides;
}

void expand_cover(const TileContext& t, BlockCovers& c, uint32_t block) {
  assert(c.plane[block] && c.plane[block] <= c.planes.size());
  const PrimitiveDepth& p = c.planes[c.plane[block] - 1];
  c.plane[block] = 0;
  write_depth(t, c, p, block);
  uint32_t* ids = t.buffers.ids + size_t{block} * 16;
  const i32x8 number = i32x8{} + static_cast<int32_t>(p.id);
  store(ids, number);
  store(ids + 8, number);
}

void expand_covers(const TileContext& t, BlockCovers& c) {
  if (!c.any) return;
  c.any = false;
  for (uint32_t block = 0; block < c.plane.size(); block++)
    if (c.plane[block]) expand_cover(t, c, block);
}

uint32_t release_cover(const TileContext& t, BlockCovers& c, uint32_t block) {
  const uint32_t plane = c.plane[block];
  if (!plane) return 0;
  assert(plane <= c.planes.size());
  c.plane[block] = 0;
  const PrimitiveDepth& p = c.planes[plane - 1];
  if (!t.bin.last_flush || t.pass->keeps_depth) write_depth(t, c, p, block);
  uint32_t* ids = t.buffers.ids + size_t{block} * 16;  // of what it covered
  store(ids, i32x8{});
  store(ids + 8, i32x8{});
  return p.id;
}

}  // namespace tilegpu::TILEGPU_TILE
