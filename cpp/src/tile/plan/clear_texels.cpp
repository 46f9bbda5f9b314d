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
/// Of one thread; passes that ask about more textures get no answers about the others.
constexpr size_t kMostKept_B = size_t{16} << 20;

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

  /// Texels of `texel_B` bytes, whose byte `place` is asked.
  void read(const shader::ViewLevel& level, uint32_t texel_B, uint32_t place) {
    for (int32_t y = 0; y < height_; y++) {
      uint64_t* const row = row_of(y + kOutside);
      const uint8_t* const texels = level.data + static_cast<size_t>(y) * level.row_pitch_B + place;
      for (int32_t x = 0; x < width_; x++)
        row[(x + kOutside) >> 6] |= uint64_t{texels[static_cast<size_t>(x) * texel_B] != 0} << ((x + kOutside) & 63);
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

/// For each size of squares a plane: whether a square that begins at a texel has one that shows.
void read_texels(const shader::ImageViewAbi& view, uint32_t component, TexelMap& map) {
  const uint32_t texel_B = texel_B_of(view), place = code_byte(view, component) - 1;
  assert(view.level_count >= 1 && view.level_count <= static_cast<int32_t>(map.levels.size()) && place < texel_B);
  std::vector<size_t> first_B;
  for (int32_t k = 0; k < view.level_count; k++) {
    ClearLevel& level = map.levels[static_cast<size_t>(k)];
    level.width = view.level[k].width_px, level.height = view.level[k].height_px;
    Plane plane(level.width, level.height);
    level.pitch_B = static_cast<uint32_t>(plane.pitch_B());
    plane.read(view.level[k], texel_B, place);
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
}

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

const TexelMap& ClearTexels::map_of(const shader::ImageViewAbi& view, uint32_t component) {
  for (const auto& map : maps_)
    if (map->view == &view && map->component == component) return *map;
  auto map = std::make_unique<TexelMap>();
  map->view = &view, map->component = component;
  read_texels(view, component, *map);
  return *maps_.emplace_back(std::move(map));
}

FaintDraw ClearTexels::of(const command::DrawCall& draw, const records::CoverageRule& rule) {
  const std::optional<pipeline::FaintTexture>& faint = draw.state->resolved->faint;
  if (!faint || !draw.state->sets || draw.counted || draw.query >= 0 || pass_->samples > 1 || !rule.plain() || !stays()) return {};
  const auto& combined = *reinterpret_cast<const shader::CombinedDescriptor*>(draw.state->sets[faint->set] + faint->offset_B);
  if (!combined.texture || !combined.texture->sampler) return {};
  const shader::ImageViewAbi& view = *combined.texture->view;
  const shader::SamplerAbi& sampler = *combined.texture->sampler;
  if (!code_byte(view, faint->component) || view.level_count < 1 || view.min_lod != 0) return {};
  // Two texels on each axis, of levels by derivatives alone; beyond edges there may be a border.
  if (!sampler.takes_two_texels) return {};
  for (const float border : sampler.border)
    if (border != 0) return {};
  if (sampler.mip_lod_bias != 0 || !(sampler.min_lod <= 0) || !(sampler.max_lod >= 0)) return {};
  if (texels_of(view) > std::min(kMostTexels, kTexelsOfVertex * draw.count * draw.instance_count)) return {};
  size_t kept_B = 0;
  for (const auto& map : maps_) kept_B += map->bits.size();
  if (kept_B > kMostKept_B) return {};
  FaintDraw of;
  of.map = &map_of(view, faint->component);
  const auto last = static_cast<float>(view.level_count - 1), most = std::min(sampler.max_lod, last);
  of.lowest = static_cast<int32_t>(std::floor(most)), of.highest = static_cast<int32_t>(std::ceil(most));
  of.rows = faint->rows;
  return of;
}

FaintBlocks::FaintBlocks(const FaintDraw& draw, const records::TriangleRecord& record, const shader::PrimitiveSetup& setup) : draw_(&draw) {
  if (setup.qx != 0 || setup.qy != 0 || !(setup.q0 > 0)) return;  // with perspective coordinates go other ways
  const double w = 1.0 / setup.q0, ax = setup.anchor_x, ay = setup.anchor_y;
  const auto [low_x, high_x] = std::minmax({record.x[0], record.x[1], record.x[2]});
  const auto [low_y, high_y] = std::minmax({record.y[0], record.y[1], record.y[2]});
  x_px_ = low_x >> 8, y_px_ = low_y >> 8;
  // As far as pixels of the primitive's blocks lie from the anchor, and from that pixel.
  const double far_x = (high_x - low_x) / 256.0 + 8, far_y = (high_y - low_y) / 256.0 + 8;
  const double size[2] = {static_cast<double>(draw.map->levels[0].width), static_cast<double>(draw.map->levels[0].height)};
  double dx[2], dy[2], unsure[2], at[2], extent[2], least[2], most[2];
  for (size_t axis = 0; axis < 2; axis++) {
    const auto value = [&](uint32_t vertex) {
      return static_cast<double>(setup.varying[vertex][size_t{draw.rows[axis]} * shader::kBatchStride]);
    };
    const double v0 = value(0), v1 = value(1), v2 = value(2), d1 = (v1 - v0) * w, d2 = (v2 - v0) * w;
    dx[axis] = d1 * setup.ix + d2 * setup.jx, dy[axis] = d1 * setup.iy + d2 * setup.jy;
    // Interpolation, the sampler, and what follows here round some dozen times to 24 bits, each time what is no larger than this sum.
    const double sum = std::fabs(v0) + std::fabs(d1) * (std::fabs(setup.ix) * far_x + std::fabs(setup.iy) * far_y) +
                       std::fabs(d2) * (std::fabs(setup.jx) * far_x + std::fabs(setup.jy) * far_y) + 1;
    unsure[axis] = sum * 0x1p-19;
    if (!(unsure[axis] * size[axis] < 0.25)) return;  // no number, too
    at[axis] = v0 + dx[axis] * (x_px_ + 0.5 - ax) + dy[axis] * (y_px_ + 0.5 - ay) +
               3 * (std::min(dx[axis], 0.0) + std::min(dy[axis], 0.0)) - unsure[axis];
    extent[axis] = 3 * (std::fabs(dx[axis]) + std::fabs(dy[axis])) + 2 * unsure[axis];
    least[axis] = std::min({v0, v1, v2}) - unsure[axis], most[axis] = std::max({v0, v1, v2}) + unsure[axis];
  }
  // Texels of level 0 from pixel to pixel, squared, along the longer derivative; each is a difference of two coordinates.
  const auto squared = [&](const double* d) { return d[0] * size[0] * (d[0] * size[0]) + d[1] * size[1] * (d[1] * size[1]); };
  const double rho = std::sqrt(std::max(squared(dx), squared(dy))), off = 4 * (unsure[0] * size[0] + unsure[1] * size[1]) + rho * 1e-3;
  if (!(rho < 0x1p20)) return;
  const auto log2_of = [](double v) {
    return static_cast<int32_t>(std::bit_cast<uint64_t>(v) >> 52) - 1023;
  };  // rounded down; of 1 or more
  const int32_t lowest = rho - off >= 1 ? log2_of(rho - off) : 0, highest = rho + off > 1 ? log2_of(rho + off) + 1 : 0;
  const int32_t level[2] = {std::min(lowest, draw.lowest), std::min(highest, draw.highest)};
  if (level[1] - level[0] > 1) return;  // between two pairs of levels
  // Half a texel back to the first one's centre, and to the next one; fixed-point places of samplers are rounded to 1/65536 of a texel.
  constexpr double kBeside = 0.5 + 1.0 / 256;
  int32_t* const kept[2] = {&first_level_, &last_level_};
  for (size_t k = 0; k < 2; k++) {
    const ClearLevel& of = draw.map->levels[static_cast<size_t>(level[k])];
    const double texels[2] = {static_cast<double>(of.width), static_cast<double>(of.height)};
    int32_t side = 0;
    for (size_t axis = 0; axis < 2; axis++) {
      const double first = std::floor(least[axis] * texels[axis] - kBeside), last = std::floor(most[axis] * texels[axis] + kBeside);
      if (!(first >= -kOutside && last < texels[axis] + kOutside)) return;
      side = std::max(side, static_cast<int32_t>(extent[axis] * texels[axis] + 2 * kBeside) + 2);
      const size_t lane = 2 * k + axis;
      const double begin = kOutside - kBeside;  // planes begin beyond the edge
      at_[lane] = static_cast<float>(at[axis] * texels[axis] + begin);
      dx_[lane] = static_cast<float>(dx[axis] * texels[axis]), dy_[lane] = static_cast<float>(dy[axis] * texels[axis]);
      least_[lane] = static_cast<float>(least[axis] * texels[axis] + begin),
      most_[lane] = static_cast<float>(most[axis] * texels[axis] + begin);
    }
    const uint32_t square = square_for(side);
    if (square == kNone) return;
    *kept[k] = level[k] | static_cast<int32_t>(square << 8);
  }
  sure_ = true;
}

bool FaintBlocks::shows(int32_t x_px, int32_t y_px) const {
  if (!sure_) return true;
  const f32x4 places = at_ + dx_ * static_cast<float>(x_px - x_px_) + dy_ * static_cast<float>(y_px - y_px_);
  const f32x4 within = (f32x4)_mm_min_ps(_mm_max_ps((__m128)places, (__m128)least_), (__m128)most_);
  const i32x4 first = __builtin_convertvector(within, i32x4);  // none is below 0
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
  return any(last_level_, first[2], first[3]) | any(first_level_, first[0], first[1]);
}

}  // namespace tilegpu::tile
