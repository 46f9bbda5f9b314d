// tile/visibility/whole_blocks.cpp -- see whole_blocks.hpp.
#include "tile/visibility/whole_blocks.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "tile/depth_stencil/depth_plane.hpp"

namespace tilegpu::tile {

namespace {

i32x8 load(const void* words) { return (i32x8)_mm256_loadu_si256(static_cast<const __m256i*>(words)); }
void store(void* words, i32x8 v) { _mm256_storeu_si256(static_cast<__m256i*>(words), (__m256i)v); }

void write_depth(Worker& w, const PrimitiveDepth& p, uint32_t block) {
  assert(block < w.shape.blocks() && w.pass->tile.depth.words == 1);
  const float x = static_cast<float>(w.bin.origin_x_px + static_cast<int32_t>(block & (w.shape.blocks_per_row - 1)) * 4) + 0.5f;
  const int32_t y_px = w.bin.origin_y_px + static_cast<int32_t>(block >> w.shape.row_shift) * 4;
  const BlockDepth depth =
      block_depth(p, x, static_cast<float>(y_px) + 0.5f, static_cast<float>(y_px + 2) + 0.5f, w.draw.test.unorm, w.draw.test.unorm_scale);
  uint32_t* words = reinterpret_cast<uint32_t*>(w.buffers.memory.data() + w.pass->tile.depth.offset_B) + size_t{block} * 16;
  store(words, depth.upper);
  store(words + 8, depth.lower);
}

}  // namespace

void refresh_bounds(Worker& w) {
  if (!w.bounds.stale.any) return;
  const framebuffer::TilePlane& plane = w.pass->tile.depth;
  const uint32_t* words = reinterpret_cast<const uint32_t*>(w.buffers.memory.data() + plane.offset_B);
  const uint32_t blocks = w.shape.blocks();
  for (uint32_t first = 0; first < blocks; first += 32) {
    const __m256i marks = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w.bounds.stale.block + first));
    for (uint32_t left = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(marks, _mm256_setzero_si256()))); left;
         left &= left - 1) {
      const uint32_t block = first + static_cast<uint32_t>(std::countr_zero(left));
      const Ends both = ends(load8(words + size_t{block} * 16), load8(words + size_t{block} * 16 + 8));
      w.bounds.far[block] = both.most;
      // `far` holds when depth comes nearer, `near` does not: it is known only while the draw keeps it.
      if (w.covers.active) w.covers.near[block] = w.draw.test.near ? both.least : kNearUnknown;
    }
  }
  w.bounds.stale.clear();
}

void begin_covers(Worker& w, bool known, uint32_t background) {
  assert(w.shape.samples == 1 && w.bounds.enabled);
  BlockCovers& c = w.covers;
  const size_t blocks = size_t{w.shape.blocks_per_row} * w.shape.blocks_per_row + 8;  // eight are read at once
  c.active = true;
  c.any = false;
  c.near.assign(blocks, known ? static_cast<int32_t>(background) : kNearUnknown);
  if (known) w.bounds.reset(static_cast<int32_t>(background));
  c.plane.assign(blocks, 0);
  c.planes.clear();
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

// The index of the primitive's plane, plus 1.
inline uint32_t plane_of(BlockCovers& c, const PrimitiveDepth& p, bool& listed) {
  if (!listed) c.planes.push_back(p);
  listed = true;
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

CoverSides hold_blocks(Worker& w, const PrimitiveDepth& p, bool& listed, uint32_t first_block, int32_t x_px, int32_t y_px,
                       uint32_t present) {
  assert(w.draw.takes_covers && w.draw.test.bounded() && present && present <= 0xff);
  if (!finite(p)) return {0, 0};
  BlockCovers& c = w.covers;
  const f32x8 block_x = {0, 4, 8, 12, 16, 20, 24, 28};
  const auto [near, far] =
      corners_of(w.draw.test, p, block_x + (static_cast<float>(x_px) + 0.5f), f32x8{} + (static_cast<float>(y_px) + 0.5f));
  const i32x8 old_near = load(c.near.data() + first_block), old_far = load(w.bounds.far.data() + first_block);
  const uint32_t hidden = hidden_by(w.draw.test, near, old_far) & present;
  const uint32_t held = won_by(w.draw.test, far, old_near, old_far) & present & ~hidden;
  if (!held) return {hidden, 0};
  const i32x8 mask = expand8(held);
  const i32x8 plane = i32x8{} + static_cast<int32_t>(plane_of(c, p, listed));
  store(c.near.data() + first_block, select(mask, near, old_near));
  store(w.bounds.far.data() + first_block, select(mask, far, old_far));
  store(c.plane.data() + first_block, select(mask, plane, load(c.plane.data() + first_block)));
  uint64_t dirty;
  std::memcpy(&dirty, &w.visibility.dirty[first_block], 8);
  dirty |= _pdep_u64(held, 0x0101010101010101u);
  std::memcpy(&w.visibility.dirty[first_block], &dirty, 8);
  return {hidden, held};
}

CoverSides cover_window(Worker& w, const PrimitiveDepth& p, bool& listed, uint32_t first_block, int32_t x_px, int32_t y_px, uint32_t full,
                        uint32_t part) {
  assert(w.shape.samples == 1 && w.draw.test.far && !(full & part));
  assert((first_block & 3) == 0);  // bounds of windows are of whole ones
  if (!finite(p)) return {0, 0};
  const TestState& test = w.draw.test;
  const uint32_t pitch = w.shape.blocks_per_row;
  int32_t& bound = w.bounds.window_far[((first_block >> w.shape.row_shift) >> 2) * (pitch >> 2) + ((first_block & (pitch - 1)) >> 2)];
  const float left = static_cast<float>(x_px) + 0.5f, top = static_cast<float>(y_px) + 0.5f;
  {
    const f32x4 x = f32x4{} + (p.zx >= 0 ? left : left + 15.0f), y = f32x4{} + (p.zy >= 0 ? top : top + 15.0f);
    const f32x4 z = clamp(depth_term_x(p, x) + depth_term_y(p, y), p.lo, p.hi);
    const int32_t near = (test.unorm ? to_unorm(z, test.unorm_scale) : (i32x4)z)[0];
    if (hides_equal(test) ? near >= bound : near > bound) return {full | part, 0};
  }
  BlockCovers& c = w.covers;
  const f32x8 across = {0, 4, 8, 12, 0, 4, 8, 12}, down = {0, 0, 0, 0, 4, 4, 4, 4};
  // Both halves are decided before anything is written: the places in memory are then known once.
  int32_t* const far_at = w.bounds.far.data() + first_block;
  const Corners upper = corners_of(test, p, across + left, down + top), lower = corners_of(test, p, across + left, down + (top + 8.0f));
  const i32x8 upper_far = load_rows(far_at, pitch), lower_far = load_rows(far_at + 2 * pitch, pitch);
  CoverSides sides{hidden_by(test, upper.near, upper_far) | hidden_by(test, lower.near, lower_far) << 8, 0};
  i32x8 most = maximum(upper_far, lower_far);
  if (w.draw.takes_covers) {
    int32_t* const near_at = c.near.data() + first_block;
    const i32x8 upper_near = load_rows(near_at, pitch), lower_near = load_rows(near_at + 2 * pitch, pitch);
    sides.held =
        (won_by(test, upper.far, upper_near, upper_far) | won_by(test, lower.far, lower_near, lower_far) << 8) & full & ~sides.hidden;
    if (sides.held) {
      const i32x8 plane = i32x8{} + static_cast<int32_t>(plane_of(c, p, listed));
      uint32_t* const plane_at = c.plane.data() + first_block;
      uint8_t* const dirty_at = w.visibility.dirty.data() + first_block;
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

void expand_cover(Worker& w, uint32_t block) {
  assert(w.covers.plane[block] && w.covers.plane[block] <= w.covers.planes.size());
  const PrimitiveDepth& p = w.covers.planes[w.covers.plane[block] - 1];
  w.covers.plane[block] = 0;
  write_depth(w, p, block);
  uint32_t* ids = w.buffers.ids + size_t{block} * 16;
  const i32x8 number = i32x8{} + static_cast<int32_t>(p.id);
  store(ids, number);
  store(ids + 8, number);
}

void expand_covers(Worker& w) {
  if (!w.covers.any) return;
  w.covers.any = false;
  for (uint32_t block = 0; block < w.covers.plane.size(); block++)
    if (w.covers.plane[block]) expand_cover(w, block);
}

uint32_t release_cover(Worker& w, uint32_t block) {
  const uint32_t plane = w.covers.plane[block];
  if (!plane) return 0;
  assert(plane <= w.covers.planes.size());
  w.covers.plane[block] = 0;
  const PrimitiveDepth& p = w.covers.planes[plane - 1];
  if (!w.bin.last_flush || w.pass->keeps_depth) write_depth(w, p, block);
  uint32_t* ids = w.buffers.ids + size_t{block} * 16;  // of what it covered
  store(ids, i32x8{});
  store(ids + 8, i32x8{});
  return p.id;
}

}  // namespace tilegpu::tile
