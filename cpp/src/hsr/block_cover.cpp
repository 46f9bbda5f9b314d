// hsr/block_cover.cpp -- see block_cover.hpp.
#include "hsr/block_cover.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "raster/depth_plane.hpp"
#include "raster/worker.hpp"

namespace tilegpu::hsr {

namespace {

using raster::f32x8;
using raster::i32x8;
using raster::PrimitiveDepth;
using raster::Worker;

i32x8 load(const void* words) { return (i32x8)_mm256_loadu_si256(static_cast<const __m256i*>(words)); }
void store(void* words, i32x8 v) { _mm256_storeu_si256(static_cast<__m256i*>(words), (__m256i)v); }

void write_depth(Worker& w, const PrimitiveDepth& p, uint32_t block) {
  const float x = static_cast<float>(w.origin_x_px + static_cast<int32_t>(block & (w.blocks_per_row - 1)) * 4) + 0.5f;
  const int32_t y_px = w.origin_y_px + static_cast<int32_t>(block >> w.row_shift) * 4;
  const raster::BlockDepth depth =
      raster::block_depth(p, x, static_cast<float>(y_px) + 0.5f, static_cast<float>(y_px + 2) + 0.5f, w.test.unorm, w.test.unorm_scale);
  uint32_t* words = reinterpret_cast<uint32_t*>(w.memory.data() + w.pass->tile.depth.offset_B) + size_t{block} * 16;
  raster::store(words, depth.upper);
  raster::store(words + 8, depth.lower);
}

}  // namespace

void begin_covers(Worker& w, bool known, uint32_t background) {
  BlockCovers& c = w.covers;
  const size_t blocks = size_t{w.blocks_per_row} * w.blocks_per_row + 8;  // eight are read at once
  c.active = true;
  c.any = false;
  c.near.assign(blocks, known ? static_cast<int32_t>(background) : kNearUnknown);
  if (known) std::fill(w.far.begin(), w.far.end(), static_cast<int32_t>(background));
  c.plane.assign(blocks, 0);
  c.planes.clear();
}

bool covers_serve(const raster::TestState& test) {
  const bool less = test.compare == VK_COMPARE_OP_LESS || test.compare == VK_COMPARE_OP_LESS_OR_EQUAL;
  return less && test.far && test.ids && test.depth_write && !test.stencil_test && !test.bounds_test;
}

CoverSides cover_blocks(Worker& w, const PrimitiveDepth& p, bool& listed, uint32_t first_block, int32_t x_px, int32_t y_px,
                        uint32_t present) {
  if (!std::isfinite(p.z0) || !std::isfinite(p.zx) || !std::isfinite(p.zy)) return {0, 0};
  BlockCovers& c = w.covers;
  const raster::TestState& test = w.test;
  // The sample points with the least and the greatest depth.
  const f32x8 block_x = {0, 4, 8, 12, 16, 20, 24, 28};
  const f32x8 left = block_x + (static_cast<float>(x_px) + 0.5f), right = left + 3.0f;
  const float top = static_cast<float>(y_px) + 0.5f, bottom = top + 3.0f;
  const bool grows_x = p.zx >= 0, grows_y = p.zy >= 0;
  const f32x8 near_z = raster::clamp(depth_term_x(p, grows_x ? left : right) + depth_term_y(p, grows_y ? top : bottom), p.lo, p.hi);
  const f32x8 far_z = raster::clamp(depth_term_x(p, grows_x ? right : left) + depth_term_y(p, grows_y ? bottom : top), p.lo, p.hi);
  const i32x8 near = test.unorm ? raster::to_unorm(near_z, test.unorm_scale) : (i32x8)near_z;
  const i32x8 far = test.unorm ? raster::to_unorm(far_z, test.unorm_scale) : (i32x8)far_z;
  const i32x8 old_near = load(c.near.data() + first_block), old_far = load(w.far.data() + first_block);
  const bool less = test.compare == VK_COMPARE_OP_LESS;
  const uint32_t hidden = raster::sign_bits(less ? near >= old_far : near > old_far) & present;
  i32x8 wins;
  if (test.unorm)
    wins = less ? far < old_near : far <= old_near;
  else  // as floats, for zeros; and no NaN is there, which no depth is in front of
    wins = (less ? far_z < (f32x8)old_near : far_z <= (f32x8)old_near) & (old_far <= 0x7f800000);
  const uint32_t held = raster::sign_bits(wins) & present & ~hidden;
  if (!held) return {hidden, 0};
  if (!listed) {
    c.planes.push_back(p);
    listed = true;
  }
  const i32x8 mask = raster::expand8(held);
  const i32x8 plane = i32x8{} + static_cast<int32_t>(c.planes.size());
  store(c.near.data() + first_block, raster::select(mask, near, old_near));
  store(w.far.data() + first_block, raster::select(mask, far, old_far));
  store(c.plane.data() + first_block, raster::select(mask, plane, load(c.plane.data() + first_block)));
  uint64_t dirty;
  std::memcpy(&dirty, &w.dirty[first_block], 8);
  dirty |= _pdep_u64(held, 0x0101010101010101u);
  std::memcpy(&w.dirty[first_block], &dirty, 8);
  c.any = true;
  return {hidden, held};
}

void expand_cover(Worker& w, uint32_t block) {
  const PrimitiveDepth& p = w.covers.planes[w.covers.plane[block] - 1];
  w.covers.plane[block] = 0;
  write_depth(w, p, block);
  uint32_t* ids = w.ids + size_t{block} * 16;
  const i32x8 number = i32x8{} + static_cast<int32_t>(p.id);
  raster::store(ids, number);
  raster::store(ids + 8, number);
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
  w.covers.plane[block] = 0;
  const PrimitiveDepth& p = w.covers.planes[plane - 1];
  if (!w.last_flush || w.pass->keeps_depth) write_depth(w, p, block);
  uint32_t* ids = w.ids + size_t{block} * 16;  // of what it covered
  raster::store(ids, i32x8{});
  raster::store(ids + 8, i32x8{});
  return p.id;
}

void forget_near(Worker& w) { std::fill(w.covers.near.begin(), w.covers.near.end(), kNearUnknown); }

}  // namespace tilegpu::hsr
