// tile/plan/clear_texels.cpp -- see clear_texels.hpp.
#include "tile/plan/clear_texels.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/simd.hpp"

namespace tilegpu::tile {

namespace {

/// Texels beyond an edge, as which texels at either edge may stand, by the address mode.
constexpr int32_t kOutside = 2;
/// Squares of texels that are asked together, of so many on a side; each is at most twice the one before.
constexpr int32_t kSquares[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24};
/// Reading a texel is a small part of shading what each vertex stands for.
constexpr uint64_t kTexelsOfVertex = 128;
constexpr uint64_t kMostTexels = uint64_t{1} << 18;
/// Of one pass, some 14 MB of bits for each thread; there is no answer about textures beyond. A level has words at its edges.
constexpr uint64_t kMostKeptTexels = uint64_t{8} << 20, kTexelsOfLevel = 512;

uint32_t code_byte(const shader::ImageViewAbi& view, uint32_t component) { return view.code_bytes >> 4 * component & 0xf; }
uint32_t texel_B_of(const shader::ImageViewAbi& view) { return view.code_bytes >> 16; }

uint64_t texels_of(const shader::ImageViewAbi& view) {
  uint64_t texels = 0;
  for (int32_t level = 0; level < view.level_count; level++)
    texels += static_cast<uint64_t>(view.level[level].width_px) * static_cast<uint64_t>(view.level[level].height_px);
  return texels;
}

/// A level's rows with those beyond its edges, as words of bits.
class Plane {
 public:
  Plane(int32_t width, int32_t height)
      : width_(width), height_(height), pitch_(static_cast<size_t>(width + 2 * kOutside) / 64 + 1), words_(pitch_ * rows()) {}
  size_t rows() const { return static_cast<size_t>(height_ + 2 * kOutside); }
  size_t size_B() const { return words_.size() * 8; }
  size_t pitch_B() const { return pitch_ * 8; }
  const uint64_t* data() const { return words_.data(); }

  /// Texels of `texel_B` bytes, whose byte `place` is asked: which are more than `most`.
  void read(const shader::ViewLevel& level, uint32_t texel_B, uint32_t place, uint32_t most) {
    for (int32_t y = 0; y < height_; y++) {
      uint64_t* const row = row_of(y + kOutside);
      const uint8_t* const texels = level.data + static_cast<size_t>(y) * level.row_pitch_B + place;
      for (int32_t x = 0; x < width_; x++)
        row[(x + kOutside) >> 6] |= uint64_t{texels[static_cast<size_t>(x) * texel_B] > most} << ((x + kOutside) & 63);
      bool edge = false;
      each_edge(width_, [&](int32_t x) { edge |= row[x >> 6] >> (x & 63) & 1; });
      for (int32_t k = 0; edge && k < kOutside; k++) set(row, k), set(row, width_ + kOutside + k);
    }
    each_edge(height_, [&](int32_t y) {
      for (int32_t k = 0; k < kOutside; k++) join(row_of(k), row_of(y)), join(row_of(height_ + kOutside + k), row_of(y));
    });
  }
  /// From squares that begin at each texel to those that reach so many further, which is no more than they have.
  void grow(int32_t further) {
    for (size_t y = 0; y < rows(); y++) {
      uint64_t* const row = words_.data() + y * pitch_;
      for (size_t k = 0; k < pitch_; k++) row[k] |= row[k] >> further | (k + 1 < pitch_ ? row[k + 1] << (64 - further) : 0);
    }
    for (size_t y = 0; y + static_cast<size_t>(further) < rows(); y++)
      join(words_.data() + y * pitch_, words_.data() + (y + static_cast<size_t>(further)) * pitch_);
  }

 private:
  uint64_t* row_of(int32_t y) { return words_.data() + static_cast<size_t>(y) * pitch_; }
  static void set(uint64_t* row, int32_t x) { row[x >> 6] |= uint64_t{1} << (x & 63); }
  void join(uint64_t* row, const uint64_t* other) const {
    for (size_t k = 0; k < pitch_; k++) row[k] |= other[k];
  }
  /// Of `size` texels the first and the last ones, as which one beyond the edges may stand.
  template <class F>
  static void each_edge(int32_t size, F&& f) {
    for (int32_t k = 0; k < size; k++)
      if (k <= kOutside || k >= size - 1 - kOutside) f(k + kOutside);
  }
  int32_t width_, height_;
  size_t pitch_;
  std::vector<uint64_t> words_;
};

/// Of the square for `texels` of them on a side; kNone: there is none.
constexpr uint32_t kNone = ~0u;
uint32_t square_for(int32_t texels) {
  for (uint32_t k = 0; k < std::size(kSquares); k++)
    if (kSquares[k] >= texels) return k;
  return kNone;
}

bool writes_memory(const pipeline::Resolved& resolved) {
  for (size_t k = 0; k < resolved.stages.size(); k++)
    if (resolved.stages[k].traits.writes_memory) return true;
  return false;
}

}  // namespace

// For each size of squares a plane: whether a square that begins at a texel has one that shows.
std::unique_ptr<TexelMap> read_texels(const shader::ImageViewAbi& view, uint32_t component, uint32_t most) {
  auto made = std::make_unique<TexelMap>();
  TexelMap& map = *made;
  map.view = &view, map.component = component, map.most = most;
  const uint32_t texel_B = texel_B_of(view), place = code_byte(view, map.component) - 1;
  assert(view.level_count >= 1 && view.level_count <= static_cast<int32_t>(map.levels.size()) && place < texel_B);
  std::vector<size_t> first_B;
  for (int32_t k = 0; k < view.level_count; k++) {
    ClearLevel& level = map.levels[static_cast<size_t>(k)];
    level.width = view.level[k].width_px, level.height = view.level[k].height_px;
    Plane plane(level.width, level.height);
    level.pitch_B = static_cast<uint32_t>(plane.pitch_B());
    plane.read(view.level[k], texel_B, place, map.most);
    first_B.push_back(map.bits.size());
    int32_t side = 1;
    for (const int32_t next : kSquares) {
      plane.grow(next - side);
      side = next;
      const auto* const bytes = reinterpret_cast<const uint8_t*>(plane.data());
      map.bits.insert(map.bits.end(), bytes, bytes + plane.size_B());
    }
  }
  for (size_t k = 0; k < first_B.size(); k++) map.levels[k].rows = map.bits.data() + first_B[k];
  return made;
}

// Unless a shader of the pass writes memory. A model of a GPU counts what that shades; off, to compare, with compress_samples.
bool ClearTexels::stays() {
  if (asked_) return stays_;
  asked_ = true;
  stays_ = pass_->compress_samples && !pass_->counts_draws;
  const command::DrawState* seen = nullptr;
  for (const command::DrawCall& draw : pass_->draws) {
    if (!stays_) break;
    if (draw.state != seen) stays_ = !writes_memory(*draw.state->resolved);
    seen = draw.state;
  }
  return stays_;
}

/// A draw's texture of which something is known, if it has one.
const shader::ImageViewAbi* faint_view(const command::DrawCall& draw) {
  const std::optional<pipeline::FaintTexture>& faint = draw.state->resolved->faint;
  if (!faint || !draw.state->sets || !draw.state->sets[faint->set] || !draw.count || !draw.instance_count) return nullptr;
  const auto& combined = *reinterpret_cast<const shader::CombinedDescriptor*>(draw.state->sets[faint->set] + faint->offset_B);
  if (!combined.texture || !combined.texture->sampler) return nullptr;
  const shader::ImageViewAbi& view = *combined.texture->view;
  const bool is_known = code_byte(view, faint->component) && view.level_count >= 1 && view.min_lod == 0;
  return is_known && texels_of(view) <= std::min(kMostTexels, kTexelsOfVertex * draw.count * draw.instance_count) ? &view : nullptr;
}

// In the order of the pass's draws, whichever of them this thread has: what is shaded must not depend on who draws what.
bool ClearTexels::is_kept(const shader::ImageViewAbi& view) {
  if (!chosen_) {
    chosen_ = true;
    uint64_t texels = 0;
    for (const command::DrawCall& draw : pass_->draws) {
      const shader::ImageViewAbi* const one = faint_view(draw);
      if (!one || kept_.contains(one)) continue;
      texels += texels_of(*one) + kTexelsOfLevel * static_cast<uint64_t>(one->level_count);
      if (texels > kMostKeptTexels) break;
      kept_.insert(one);
    }
  }
  return kept_.contains(&view);
}

const TexelMap& ClearTexels::map_of(const shader::ImageViewAbi& view, uint32_t component, uint32_t most) {
  for (const auto& map : maps_)
    if (map->view == &view && map->component == component && map->most == most) return *map;
  return *maps_.emplace_back(read_texels(view, component, most));
}

FaintDraw ClearTexels::of(const command::DrawCall& draw, const records::CoverageRule& rule) {
  const std::optional<pipeline::FaintTexture>& faint = draw.state->resolved->faint;
  assert(!draw.counted && draw.query < 0);
  if (!faint || !draw.state->sets || !rule.plain() || !stays()) return {};
  const shader::ImageViewAbi* const found = faint_view(draw);
  if (!found) return {};
  const shader::ImageViewAbi& view = *found;
  const auto& combined = *reinterpret_cast<const shader::CombinedDescriptor*>(draw.state->sets[faint->set] + faint->offset_B);
  const shader::SamplerAbi& sampler = *combined.texture->sampler;
  // Two texels on each axis, of levels by derivatives alone; beyond edges there may be a border.
  if (!sampler.takes_two_texels) return {};
  for (const float border : sampler.border)
    if (border != 0) return {};
  if (sampler.mip_lod_bias != 0 || !(sampler.min_lod <= 0) || !(sampler.max_lod >= 0)) return {};
  if (!is_kept(view)) return {};
  FaintDraw of;
  of.map = &map_of(view, faint->component, faint->most);
  const auto last = static_cast<float>(view.level_count - 1), most = std::min(sampler.max_lod, last);
  of.lowest = static_cast<int32_t>(std::floor(most)), of.highest = static_cast<int32_t>(std::ceil(most));
  of.rows = faint->rows;
  // A sample of a pixel is covered half a pixel from its centre; a neighbour of the quad lies a pixel from that.
  of.beyond_px = (pass_->samples > 1 ? 1 : 0) + (faint->neighbours ? 1 : 0);
  return of;
}

namespace {

struct Bounds {
  double lo, hi;
};
double largest(const Bounds& b) { return std::max(-b.lo, b.hi); }
double smallest(const Bounds& b) { return std::max({b.lo, -b.hi, 0.0}); }

/// Of a + b * [at.lo, at.hi], times a positive factor between two.
Bounds scaled(double a, double b, const Bounds& at, const Bounds& factor) {
  assert(at.lo <= at.hi && factor.lo > 0 && factor.lo <= factor.hi);
  const double u = a + b * at.lo, v = a + b * at.hi, lo = std::min(u, v), hi = std::max(u, v);
  return {lo * (lo < 0 ? factor.hi : factor.lo), hi * (hi < 0 ? factor.lo : factor.hi)};
}

}  // namespace

/// Of a primitive's blocks, by axis of the texture, in coordinates.
struct FaintBlocks::Footprint {
  double v0[2], from[2], x[2], y[2];  // v0 + (from + x * X + y * Y) / q; q is 1 where it is constant
  double low[2], extent[2];           // a block's least coordinate less its first pixel's; how far it reaches from there
  double least[2], most[2];           // of all pixels that count
  double rho_lo, rho_hi;              // texels of level 0 from pixel to pixel along the longer derivative
};

/// False: too little is known.
bool FaintBlocks::find_footprint(Footprint& of, const records::TriangleRecord& record, const shader::PrimitiveSetup& setup) {
  const auto [low_x, high_x] = std::minmax({record.x[0], record.x[1], record.x[2]});
  const auto [low_y, high_y] = std::minmax({record.y[0], record.y[1], record.y[2]});
  x_px_ = low_x >> 8, y_px_ = low_y >> 8;
  // Pixels of the primitive's blocks, from the anchor.
  constexpr double kBlock_px = 8;
  const double ax = setup.anchor_x, ay = setup.anchor_y;
  const Bounds box_x{low_x / 256.0 - ax - kBlock_px, high_x / 256.0 - ax + kBlock_px};
  const Bounds box_y{low_y / 256.0 - ay - kBlock_px, high_y / 256.0 - ay + kBlock_px};
  const double far_x = largest(box_x), far_y = largest(box_y);
  const double q0 = setup.q0, qx = setup.qx, qy = setup.qy;
  const Bounds q{q0 + std::min(qx * box_x.lo, qx * box_x.hi) + std::min(qy * box_y.lo, qy * box_y.hi),
                 q0 + std::max(qx * box_x.lo, qx * box_x.hi) + std::max(qy * box_y.lo, qy * box_y.hi)};
  // By how much its rounding grows where it is least.
  constexpr double kSteepest = 32;
  const double steep = (std::fabs(q0) + std::fabs(qx) * far_x + std::fabs(qy) * far_y) / q.lo;
  if (!(q.lo > 0 && steep <= kSteepest)) return false;
  perspective_ = qx != 0 || qy != 0;
  const double px = x_px_ + 0.5 - ax, py = y_px_ + 0.5 - ay, most_w = 1 / q.lo;
  Bounds squared_w{0, most_w * most_w};  // of w = 1/q
  if (perspective_) {
    q_ = static_cast<float>(q0 + qx * px + qy * py), q_x_ = static_cast<float>(qx), q_y_ = static_cast<float>(qy);
    squared_w.lo = 1 / (q.hi * q.hi);
  }
  const double factor = perspective_ ? 1 : most_w, grows = perspective_ ? most_w * (1 + steep) : most_w;
  const double size[2] = {static_cast<double>(draw_->map->levels[0].width), static_cast<double>(draw_->map->levels[0].height)};
  double unsure_texels = 0, lo_x = 0, lo_y = 0, hi_x = 0, hi_y = 0;
  for (size_t axis = 0; axis < 2; axis++) {
    const auto value = [&](uint32_t vertex) {
      return static_cast<double>(setup.varying[vertex][size_t{draw_->rows[axis]} * shader::kBatchStride]);
    };
    const double v0 = value(0), v1 = value(1), v2 = value(2), d1 = v1 - v0, d2 = v2 - v0;
    const double x = d1 * setup.ix + d2 * setup.jx, y = d1 * setup.iy + d2 * setup.jy;
    // Along a row of pixels the derivative's numerator is the same, and so along a column.
    const double bend = x * qy - y * qx;
    const Bounds dx = perspective_ ? scaled(x * q0, bend, box_y, squared_w) : Bounds{x * factor, x * factor};
    const Bounds dy = perspective_ ? scaled(y * q0, -bend, box_x, squared_w) : Bounds{y * factor, y * factor};
    // Interpolation, the sampler, and what follows here round some dozen times to 24 bits, each time what is no larger than this sum.
    const double sum = std::fabs(v0) + 1 +
                       (std::fabs(d1) * (std::fabs(setup.ix) * far_x + std::fabs(setup.iy) * far_y) +
                        std::fabs(d2) * (std::fabs(setup.jx) * far_x + std::fabs(setup.jy) * far_y)) *
                           grows;
    const double unsure = sum * 0x1p-19;
    if (!(unsure * size[axis] < 0.25)) return false;  // no number, too
    of.v0[axis] = v0, of.x[axis] = x * factor, of.y[axis] = y * factor;
    of.from[axis] = of.x[axis] * px + of.y[axis] * py;
    const double back = 3 * (std::min(dx.lo, 0.0) + std::min(dy.lo, 0.0)), on = 3 * (std::max(dx.hi, 0.0) + std::max(dy.hi, 0.0));
    of.low[axis] = back - unsure, of.extent[axis] = on - back + 2 * unsure;
    const double beyond = draw_->beyond_px * (largest(dx) + largest(dy)) + unsure;
    const double v3 = setup.upright ? v1 + d2 : v0;  // at the rectangle's fourth corner
    of.least[axis] = std::min({v0, v1, v2, v3}) - beyond, of.most[axis] = std::max({v0, v1, v2, v3}) + beyond;
    const auto squared = [&](double d) { return d * size[axis] * (d * size[axis]); };
    if (perspective_) lo_x += squared(smallest(dx)), lo_y += squared(smallest(dy));
    hi_x += squared(largest(dx)), hi_y += squared(largest(dy));
    unsure_texels += unsure * size[axis];
  }
  // Each derivative is a difference of two coordinates.
  const double most = std::sqrt(std::max(hi_x, hi_y)), off = 4 * unsure_texels + most * 1e-3;
  of.rho_lo = (perspective_ ? std::sqrt(std::max(lo_x, lo_y)) : most) - off, of.rho_hi = most + off;
  return of.rho_hi < 0x1p20;
}

FaintBlocks::FaintBlocks(const FaintDraw& draw, const records::TriangleRecord& record, const shader::PrimitiveSetup& setup) : draw_(&draw) {
  Footprint footprint;
  if (!find_footprint(footprint, record, setup)) return;
  const auto log2_of = [](double v) {
    return static_cast<int32_t>(std::bit_cast<uint64_t>(v) >> 52) - 1023;
  };  // rounded down; of 1 or more
  const int32_t lowest = std::min(footprint.rho_lo >= 1 ? log2_of(footprint.rho_lo) : 0, draw.lowest);
  const int32_t highest = std::min(footprint.rho_hi > 1 ? log2_of(footprint.rho_hi) + 1 : 0, draw.highest);
  assert(lowest <= highest);
  const int32_t pairs = (highest - lowest) / 2 + 1;
  if (pairs > static_cast<int32_t>(levels_.size())) return;
  for (int32_t k = 0; k < pairs; k++)
    if (!fill(levels_[static_cast<size_t>(k)], footprint, lowest + 2 * k, std::min(lowest + 2 * k + 1, highest))) return;
  pairs_ = static_cast<uint32_t>(pairs);
  plain_ = pairs_ == 1 && !perspective_ && !levels_[0].ends;
}

/// False: no square is large enough.
bool FaintBlocks::fill(Levels& of, const Footprint& footprint, int32_t first, int32_t last) const {
  // Half a texel back to the first one's centre, and to the next one; of places between texels samplers keep the nearest 1/256.
  constexpr double kBeside = 0.5 + 1.0 / 256, kBegin = kOutside - kBeside;  // planes begin beyond the edge
  constexpr float kNoLimit = 0x1p24f;
  assert(first >= 0 && first <= last && last < static_cast<int32_t>(draw_->map->levels.size()));
  const int32_t level[2] = {first, last};
  int32_t* const kept[2] = {&of.first, &of.last};
  of.ends = false;
  for (size_t k = 0; k < 2; k++) {
    const ClearLevel& map = draw_->map->levels[static_cast<size_t>(level[k])];
    const double texels[2] = {static_cast<double>(map.width), static_cast<double>(map.height)};
    int32_t side = 0;
    for (size_t axis = 0; axis < 2; axis++)
      side = std::max(side, static_cast<int32_t>(std::min(footprint.extent[axis] * texels[axis], 1e6) + 2 * kBeside) + 2);
    const uint32_t square = square_for(side);
    if (square == kNone) return false;
    for (size_t axis = 0; axis < 2; axis++) {
      const size_t lane = 2 * k + axis;
      const auto scaled = [&](double v) { return static_cast<float>(v * texels[axis]); };
      const auto place = [&](double v) { return static_cast<float>(std::clamp(v * texels[axis] + kBegin, -0x1p22, 0x1p22)); };
      const double at = footprint.v0[axis] + footprint.low[axis];
      of.at[lane] = static_cast<float>((perspective_ ? at : at + footprint.from[axis]) * texels[axis] + kBegin);
      of.from[lane] = scaled(footprint.from[axis]), of.x[lane] = scaled(footprint.x[axis]), of.y[lane] = scaled(footprint.y[axis]);
      of.least[lane] = place(footprint.least[axis]), of.most[lane] = place(footprint.most[axis]);
      const bool within = std::floor(footprint.most[axis] * texels[axis] + kBeside) < texels[axis] + kOutside;
      of.limit[lane] = within ? kNoLimit : static_cast<float>(texels[axis] + 2 * kOutside - kSquares[square]);
      of.ends |= !within || of.least[lane] < 0;
    }
    *kept[k] = level[k] | static_cast<int32_t>(square << 8);
  }
  return true;
}

inline bool FaintBlocks::shows_at(const Levels& of, f32x4 places) const {
  const i32x4 first = __builtin_convertvector(places, i32x4);  // none is below 0
  const auto any = [&](int32_t kept, int32_t x, int32_t y) -> uint32_t {
    const ClearLevel& level = draw_->map->levels[kept & 0xff];
    const auto rows = static_cast<uint32_t>(level.height + 2 * kOutside);
    assert(x >= 0 && y >= 0 && static_cast<uint32_t>(y) < rows && x < level.width + 2 * kOutside);
    return level.rows[size_t{level.pitch_B} * (static_cast<uint32_t>(kept >> 8) * rows + static_cast<uint32_t>(y)) +
                      static_cast<size_t>(x >> 3)] >>
               (x & 7) &
           1;
  };
  // Both without a branch between them: which block shows something is hard to foretell.
  return any(of.last, first[2], first[3]) | any(of.first, first[0], first[1]);
}

static f32x4 limited(f32x4 places, f32x4 least, f32x4 most) {
  return (f32x4)_mm_min_ps(_mm_max_ps((__m128)places, (__m128)least), (__m128)most);
}

bool FaintBlocks::shows(int32_t x_px, int32_t y_px) const {
  const auto x = static_cast<float>(x_px - x_px_), y = static_cast<float>(y_px - y_px_);
  const Levels& of = levels_[0];
  return plain_ ? shows_at(of, limited(of.at + of.x * x + of.y * y, of.least, of.most)) : shows_otherwise(x, y);
}

bool FaintBlocks::shows_otherwise(float x_px, float y_px) const {
  if (!pairs_) return true;
  const float w = perspective_ ? 1 / (q_ + q_x_ * x_px + q_y_ * y_px) : 1;
  for (uint32_t k = 0; k < pairs_; k++) {
    const Levels& of = levels_[k];
    const f32x4 on = of.x * x_px + of.y * y_px;
    const f32x4 within = limited(perspective_ ? of.at + (of.from + on) * w : of.at + on, of.least, of.most);
    if (of.ends && sign_bits((within < 0) | (within > of.limit))) return true;  // which texels these are is not known
    if (shows_at(of, within)) return true;
  }
  return false;
}

}  // namespace tilegpu::tile
