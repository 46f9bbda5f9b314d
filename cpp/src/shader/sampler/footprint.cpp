// shader/sampler/footprint.cpp -- see footprint.hpp. Of a cube's filter that reaches over an edge the texels of its own face are taken.
#include "shader/sampler/footprint.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "shader/ir/sampler_types.hpp"
#include "shader/sampler/internal.hpp"
#include "vk/format.hpp"

namespace tilegpu::shader {
namespace {

// The arguments of one lane.
struct Lane {
  const TexelCall& call;
  uint32_t lane;
  float number(uint32_t argument) const { return std::bit_cast<float>(call.lanes[argument][lane]); }
  int32_t integer(uint32_t argument) const { return static_cast<int32_t>(call.lanes[argument][lane]); }
  int32_t scalar(uint32_t argument) const { return static_cast<int32_t>(call.scalar[argument]); }
};

// NaN: low.
float clamped(float v, float low, float high) { return std::min(v > low ? v : low, high); }

struct Place {
  float at[3] = {}, dx[3] = {}, dy[3] = {};
  int32_t offset[3] = {};
  float layer = 0;
  uint32_t face = 0;
};

struct Levels {
  int32_t first = 0, second = -1;
  LevelFilter filter = LevelFilter::nearest;
};

class Footprint {
 public:
  Footprint(const TracedTexture& texture, VisitLine visit, void* context)
      : texture_(texture), view_(*texture.view), sampler_(texture.key.sampler), visit_(visit), context_(context) {
    const vk::FormatInfo& format = *vk::find_format(texture.key.format);
    const VkImageViewType dim = texture.key.dim;
    integer_ = format.is_integer() || texture.key.aspect == VK_IMAGE_ASPECT_STENCIL_BIT;
    one_dimensional_ = dim == VK_IMAGE_VIEW_TYPE_1D || dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY;
    cube_ = dim == VK_IMAGE_VIEW_TYPE_CUBE || dim == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    volume_ = dim == VK_IMAGE_VIEW_TYPE_3D;
    array_ = dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY || dim == VK_IMAGE_VIEW_TYPE_2D_ARRAY || dim == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    last_level_ = std::max(view_.level_count, 1) - 1;
  }

  void begin_lane(uint32_t lane) { lane_ = lane, least_ = -HUGE_VALF; }
  void gradient(const Lane& l) {
    using namespace gradient_arg;
    Place p = place(l, {s, t, r}, layer);
    const uint32_t along_x[3] = {dsdx, dtdx, drdx}, along_y[3] = {dsdy, dtdy, drdy};
    for (uint32_t k = 0; k < axes(); k++) p.dx[k] = l.number(along_x[k]), p.dy[k] = l.number(along_y[k]);
    if (!cube_) p.offset[0] = l.scalar(offset_x), p.offset[1] = l.scalar(offset_y), p.offset[2] = volume_ ? l.scalar(offset_z) : 0;
    along(p, l.number(bias));
  }
  void min_lod(const Lane& l) {
    least_ = l.number(min_lod_arg::min_lod);
    gradient(l);
  }
  void implicit(const Lane& l) {
    using namespace implicit_arg;
    Place p = place(l, {s, t, t}, layer);  // of 1D and 2D views alone
    p.offset[0] = l.scalar(offset_x), p.offset[1] = l.scalar(offset_y);
    if (!anisotropic()) return sample(p, lod_of(l.number(rho2), 0));
    // One number says nothing of the direction: the coordinates of the quad do.
    const Lane first{l.call, l.lane & ~3u}, right{l.call, (l.lane & ~3u) + 1}, below{l.call, (l.lane & ~3u) + 2};
    for (uint32_t k = 0; k < axes(); k++) {
      p.dx[k] = right.number(s + k) - first.number(s + k);
      p.dy[k] = below.number(s + k) - first.number(s + k);
    }
    along(p, 0);
  }
  void lod(const Lane& l) {
    using namespace lod_arg;
    Place p = place(l, {s, t, r}, layer);
    if (!cube_) p.offset[0] = l.scalar(offset_x), p.offset[1] = l.scalar(offset_y), p.offset[2] = volume_ ? l.scalar(offset_z) : 0;
    choose_face(p);
    sample(p, l.number(lod_arg::lod) + clamped(texture_.sampler->mip_lod_bias, -kMaxLodBias, kMaxLodBias));
  }
  void gather(const Lane& l) {
    using namespace gather_arg;
    Place p = place(l, {s, t, r}, layer);
    if (!cube_) p.offset[0] = l.integer(offset_x), p.offset[1] = l.integer(offset_y);
    choose_face(p);
    if (!texture_.key.min_lod || view_.min_level == 0) level(p, 0, LevelFilter::linear);
  }
  void fetch(const Lane& l) {
    using namespace fetch_arg;
    const int32_t at_level = texture_.key.multisampled ? 0 : l.integer(fetch_arg::lod);
    const int32_t first_level = texture_.key.min_lod && !texture_.key.multisampled ? view_.min_level : 0;
    if (at_level < first_level || at_level > last_level_) return;
    const ViewLevel& of = view_.level[at_level];
    const int32_t at_x = l.integer(x), at_y = one_dimensional_ ? 0 : l.integer(y);
    const int32_t slice = array_ || cube_ || volume_ ? l.integer(layer) : 0,
                  number = texture_.key.multisampled ? l.integer(fetch_arg::sample) : 0;
    const int32_t slices = volume_ ? of.depth_px : std::max(view_.layer_count, 1);
    if (at_x < 0 || at_x >= of.width_px || at_y < 0 || at_y >= of.height_px || slice < 0 || slice >= slices) return;
    if (number < 0 || number >= std::max(view_.sample_count, 1)) return;
    line(at_level, slice * std::max(view_.sample_count, 1) + number, at_x, at_y);
  }

 private:
  /// Its coordinates, of as many axes as the view has, and its layer, by where they stand among the arguments.
  Place place(const Lane& l, const uint32_t (&from)[3], uint32_t layer) const {
    Place p;
    for (uint32_t k = 0; k < axes(); k++) p.at[k] = l.number(from[k]);
    if (array_) p.layer = l.number(layer);
    return p;
  }
  uint32_t axes() const { return cube_ || volume_ ? 3 : one_dimensional_ ? 1 : 2; }
  LevelFilter filter_of(VkFilter filter) const {
    if (integer_ || filter == VK_FILTER_NEAREST) return LevelFilter::nearest;
    return filter == VK_FILTER_CUBIC_EXT && !cube_ ? LevelFilter::cubic : LevelFilter::linear;
  }
  bool anisotropic() const {
    return sampler_.max_anisotropy > 1 && filter_of(sampler_.min_filter) != LevelFilter::cubic && !integer_ &&
           !sampler_.unnormalized_coordinates;
  }
  bool mips_linear() const {
    return !integer_ && sampler_.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_LINEAR && !sampler_.unnormalized_coordinates;
  }

  float lod_of(float rho_squared, float bias) const {
    const float sum = clamped(bias + texture_.sampler->mip_lod_bias, -kMaxLodBias, kMaxLodBias);
    return rho_squared > 0 ? 0.5f * std::log2(rho_squared) + sum : -127 + sum;
  }

  Levels choose(float lambda) const {
    if (sampler_.unnormalized_coordinates) lambda = 0;
    const float least = least_ > texture_.sampler->min_lod ? least_ : texture_.sampler->min_lod;  // NaN: the sampler's
    const float low = std::max(least, 0.0f);
    const float high = std::min(std::max(texture_.sampler->max_lod, 0.0f), static_cast<float>(last_level_));
    float d = clamped(lambda, low, high);
    if (texture_.key.min_lod) d = std::max(d, view_.min_lod);
    Levels levels;
    levels.filter = filter_of(clamped(lambda, least, texture_.sampler->max_lod) <= 0 ? sampler_.mag_filter : sampler_.min_filter);
    if (mips_linear()) {
      levels.first = static_cast<int32_t>(d);
      if (d > static_cast<float>(levels.first)) levels.second = std::min(levels.first + 1, last_level_);
    } else {
      levels.first = static_cast<int32_t>(std::max(std::ceil(d + 0.5f) - 1, 0.0f));
    }
    return levels;
  }

  // A direction becomes a face and coordinates in it, derivatives too.
  void choose_face(Place& p) const {
    if (!cube_) return;
    const float* v = p.at;
    const float ax = std::fabs(v[0]), ay = std::fabs(v[1]), az = std::fabs(v[2]);
    p.face = az >= ax && az >= ay ? (v[2] < 0 ? 5 : 4) : ay >= ax ? (v[1] < 0 ? 3 : 2) : (v[0] < 0 ? 1 : 0);
    const auto project = [&](const float* of, float out[3]) {  // sc, tc, rc
      out[2] = of[p.face / 2];
      out[0] = (p.face == 0 || p.face == 5 ? -1.0f : 1.0f) * (p.face < 2 ? of[2] : of[0]);
      out[1] = (p.face == 2 ? 1.0f : -1.0f) * (p.face == 2 || p.face == 3 ? of[2] : of[1]);
    };
    float c[3], dx[3], dy[3];
    project(p.at, c), project(p.dx, dx), project(p.dy, dy);
    const float major = std::fabs(c[2]), sign = c[2] < 0 ? -1.0f : 1.0f;
    for (uint32_t k = 0; k < 2; k++) {
      p.at[k] = 0.5f * c[k] / major + 0.5f;
      p.dx[k] = 0.5f / major * (dx[k] - c[k] / major * sign * dx[2]);
      p.dy[k] = 0.5f / major * (dy[k] - c[k] / major * sign * dy[2]);
    }
  }

  float length_squared(const float d[3]) const {
    const float u = d[0] * view_.width_f, v = one_dimensional_ ? 0 : d[1] * view_.height_f,
                w = volume_ ? d[2] * static_cast<float>(view_.level[0].depth_px) : 0;
    const float sum = u * u + v * v + w * w;
    return sum > 0 ? sum : 0;
  }

  // With derivatives: one sample, or several along the longer one.
  void along(const Place& p, float bias) {
    Place on = p;
    choose_face(on);
    const float x2 = length_squared(on.dx), y2 = length_squared(on.dy), longer = std::max(x2, y2), shorter = std::min(x2, y2);
    if (!anisotropic()) return sample(on, lod_of(longer, bias));
    const float ratio = clamped(std::sqrt(longer / shorter), 1, texture_.sampler->max_anisotropy);
    const float lambda = lod_of(longer / (ratio * ratio), bias), count = std::ceil(ratio);
    for (float i = 1; i <= count; i++) {
      Place at = p;
      for (uint32_t k = 0; k < axes(); k++) at.at[k] += (x2 > y2 ? p.dx : p.dy)[k] * (i / (count + 1) - 0.5f);
      choose_face(at);
      sample(at, lambda);
    }
  }

  void sample(const Place& p, float lambda) {
    const Levels levels = choose(lambda);
    level(p, levels.first, levels.filter);
    if (levels.second >= 0) level(p, levels.second, levels.filter);
  }

  struct Indices {
    int32_t at[4];
    uint32_t count = 0;  // those outside of the border are not read
  };
  static int32_t mirrored(int32_t i, int32_t period) { return std::min(i, period - 1 - i); }
  Indices indices(VkSamplerAddressMode mode, float coordinate, int32_t size, int32_t offset, LevelFilter filter) const {
    const bool unnormalized = sampler_.unnormalized_coordinates, mirrors = mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT && !unnormalized;
    const bool repeats = !unnormalized && (mode == VK_SAMPLER_ADDRESS_MODE_REPEAT || mirrors);
    if (repeats) {
      const float folded = mirrors ? coordinate - 2 * std::floor(coordinate * 0.5f) : coordinate - std::floor(coordinate);
      coordinate = folded > 0 ? folded : 0;
    }
    float u =
        (unnormalized ? coordinate : coordinate * static_cast<float>(size)) - (filter == LevelFilter::nearest ? 0 : kHalfLessRounding);
    u = clamped(u, -kFarTexel, kFarTexel);
    const auto low = static_cast<int32_t>(std::floor(u));
    Indices out;
    const int32_t first = filter == LevelFilter::cubic ? -1 : 0, last = filter == LevelFilter::nearest  ? 0
                                                                        : filter == LevelFilter::linear ? 1
                                                                                                        : 2;
    for (int32_t k = first; k <= last; k++) {
      int32_t i = low + k + std::clamp(offset, -kMostOffset, kMostOffset);
      if (repeats) {
        const int32_t period = mirrors ? 2 * size : size;
        i = (i % period + period) % period;
        if (mirrors) i = mirrored(i, period);
      } else if (mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) {
        if (i < 0 || i >= size) continue;
      } else {
        if (mode == VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE && i < 0) i = -1 - i;
        i = std::clamp(i, 0, size - 1);
      }
      if (out.count == 0 || out.at[out.count - 1] != i) out.at[out.count++] = i;
    }
    return out;
  }

  void level(const Place& p, int32_t number, LevelFilter filter) {
    const ViewLevel& of = view_.level[number];
    const bool seamless = cube_ && !sampler_.non_seamless_cube_map;
    const VkSamplerAddressMode u = seamless ? VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE : sampler_.address_u,
                               v = seamless ? VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE : sampler_.address_v;
    const Indices x = indices(u, p.at[0], of.width_px, p.offset[0], filter);
    Indices y = {{}, 1}, z = {{}, 1};
    if (!one_dimensional_) y = indices(v, p.at[1], of.height_px, p.offset[1], filter);
    if (volume_) z = indices(sampler_.address_w, p.at[2], of.depth_px, p.offset[2], filter);
    int32_t layer = 0;
    if (array_) {
      const float last = static_cast<float>(std::max(view_.layer_count / (cube_ ? 6 : 1), 1) - 1);
      layer = static_cast<int32_t>(clamped(std::nearbyint(p.layer), 0, last));
    }
    if (cube_) layer = 6 * layer + static_cast<int32_t>(p.face);
    for (uint32_t k = 0; k < z.count; k++)
      for (uint32_t j = 0; j < y.count; j++)
        for (uint32_t i = 0; i < x.count; i++) line(number, layer + z.at[k], x.at[i], y.at[j]);
  }

  void line(int32_t level, int32_t slice, int32_t x, int32_t y) {
    const uint64_t of_level = static_cast<uint32_t>(level) + texture_.first_level,
                   of_slice = static_cast<uint32_t>(slice) + texture_.first_layer;
    visit(of_level, of_slice, x, y, texture_.line);
    // Chroma is read with luma; its planes, of images without levels, count as levels.
    for (uint32_t k = 0; k < 2 && view_.plane[k]; k++) {
      const ViewLevel &plane = view_.plane[k]->level[0], &own = view_.level[0];
      visit(of_level + k + 1, of_slice, x * plane.width_px / own.width_px, y * plane.height_px / own.height_px, texture_.plane_line[k]);
    }
  }
  void visit(uint64_t level, uint64_t slice, int32_t x, int32_t y, const TracedTexture::Line& size) {
    const uint64_t column = static_cast<uint32_t>(x) / size.width_px, row = static_cast<uint32_t>(y) / size.height_px;
    // A texel buffer is one row of up to 2^27 texels.
    const uint64_t place = one_dimensional_ ? column : row << 14 | column;
    visit_(context_, lane_, uint64_t{texture_.image} << kLineImageShift | level << 48 | (slice & 0xfffff) << 28 | place);
  }

  const TracedTexture& texture_;
  const ImageViewAbi& view_;
  const SamplerCreateInfo& sampler_;
  VisitLine visit_;
  void* context_;
  bool integer_ = false, one_dimensional_ = false, cube_ = false, volume_ = false, array_ = false;
  int32_t last_level_ = 0;
  uint32_t lane_ = 0;
  float least_ = -HUGE_VALF;  // the shader's least LOD
};

}  // namespace

TracedTexture::Line line_of(VkFormat of, VkImageAspectFlagBits aspect, VkImageViewType dim) {
  const vk::FormatInfo& format = *vk::find_format(of);
  uint32_t texel_B = format.texel_B;
  if (format.depth_bits == 32 && format.stencil_bits) texel_B = aspect == VK_IMAGE_ASPECT_STENCIL_BIT ? 1 : 4;  // they lie apart
  const uint32_t bits = static_cast<uint32_t>(std::bit_width(std::max(1u, kTextureLine_B / std::max(1u, texel_B)))) - 1;
  const bool row = dim == VK_IMAGE_VIEW_TYPE_1D || dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY;
  return {uint32_t{format.block_width_px} << (row ? bits : (bits + 1) / 2), uint32_t{format.block_height_px} << (row ? 0 : bits / 2)};
}

void each_line(const TracedTexture& texture, const TracedOperation& operation, const TexelCall& call, VisitLine visit, void* context) {
  const TextureUse use = operation.use;
  assert(call.lane_count <= kMaxLanes && (texture.sampler || use == kUseFetch));
  Footprint footprint(texture, visit, context);
  for (uint32_t left = call.scalar[operation.mask] & ((1u << call.lane_count) - 1); left; left &= left - 1) {
    const Lane lane{call, static_cast<uint32_t>(std::countr_zero(left))};
    footprint.begin_lane(lane.lane);
    if (use == kUseGradient)
      footprint.gradient(lane);
    else if (use == kUseMinLod)
      footprint.min_lod(lane);
    else if (use == kUseLod)
      footprint.lod(lane);
    else if (use == kUseFetch)
      footprint.fetch(lane);
    else if (use == kUseGather)
      footprint.gather(lane);
    else
      footprint.implicit(lane);
  }
}

}  // namespace tilegpu::shader
