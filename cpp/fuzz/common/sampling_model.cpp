// fuzz/common/sampling_model.cpp -- see sampling_model.hpp.
#include "common/sampling_model.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/compare_op.hpp"

namespace tilegpu::fuzz {
namespace {

/// Of what floats make of coordinates and sums, in terms of their magnitude: a few roundings.
constexpr double kFloat = 0x1p-21;
/// Of weights by integers (8-bit codes): each is off by 2^-14 at most, and two of four may be the same way.
constexpr double kWeight = 0x1p-13;
/// Of the logarithm of derivatives.
constexpr double kLog = 5e-5;

int mirror(int n) { return n >= 0 ? n : -(1 + n); }
int modulo(int i, int n) { return ((i % n) + n) % n; }

/// "Wrapping Operation". `outside`: the border.
int wrapped(VkSamplerAddressMode mode, int i, int n, bool& outside) {
  switch (mode) {
    case VK_SAMPLER_ADDRESS_MODE_REPEAT:
      return modulo(i, n);
    case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT:
      return (n - 1) - mirror(modulo(i, 2 * n) - n);
    case VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE:
      return std::clamp(mirror(i), 0, n - 1);
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
      outside = i < 0 || i >= n;
      return std::clamp(i, 0, n - 1);
    default:
      return std::clamp(i, 0, n - 1);
  }
}

/// Such coordinates and their products with sizes are floats without rounding.
bool is_exact(double coordinate) { return std::abs(coordinate) < 16 && coordinate * 4096 == std::floor(coordinate * 4096); }

/// "Cube Map Face Selection and Transformations": signs and components of sc, tc by face; the third is the major axis.
struct FaceRule {
  int s_axis, s_sign, t_axis, t_sign, r_axis, r_sign;
};
constexpr FaceRule kFaces[6] = {{2, -1, 1, -1, 0, 1}, {2, 1, 1, -1, 0, -1}, {0, 1, 2, 1, 1, 1},
                                {0, 1, 2, -1, 1, -1}, {0, 1, 1, -1, 2, 1},  {0, -1, 1, -1, 2, -1}};

double length(const double v[3]) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

}  // namespace

int SamplingModel::layer_of(double layer) const {
  const int count = v_.levels[0].depth / (is_cube() ? 6 : 1);
  return is_array() ? static_cast<int>(std::clamp(std::nearbyint(layer), 0.0, count - 1.0)) : 0;
}

/// Texture coordinates; of a cube its face's.
SamplingModel::Place SamplingModel::place(const double at[3], bool& unsure) const {
  Place p{{at[0], at[1], at[2]}, 0};
  if (!is_cube()) return p;
  const double x = std::abs(at[0]), y = std::abs(at[1]), z = std::abs(at[2]), most = std::max({x, y, z});
  const int axis = z == most ? 2 : y == most ? 1 : 0;
  for (int k = 0; k < 3; k++) unsure |= k != axis && std::abs(at[k]) != most && std::abs(at[k]) > most * (1 - kFloat);
  unsure |= most < 1e-20;
  p.face = 2 * axis + (at[axis] < 0);
  const FaceRule& rule = kFaces[p.face];
  p.at[0] = (rule.s_sign * at[rule.s_axis] / most + 1) / 2, p.at[1] = (rule.t_sign * at[rule.t_axis] / most + 1) / 2, p.at[2] = 0;
  return p;
}

/// "Scale Factor Operation, LOD Operation and Image Level(s) Selection".
SamplingModel::Levels SamplingModel::levels_of(const SampleRequest& q, bool explicit_lod) const {
  Levels l;
  const double size[3] = {static_cast<double>(v_.levels[0].width), is_line() ? 0.0 : v_.levels[0].height,
                          is_volume() ? v_.levels[0].depth : 0.0};
  double base = q.lod;
  l.slack = explicit_lod ? kFloat * std::max(1.0, std::abs(q.lod)) : kLog;
  if (!explicit_lod) {
    double rho[2], error[2] = {0, 0};
    for (int d = 0; d < 2; d++) {
      const double* by = d ? q.dy : q.dx;
      double scaled[3] = {by[0] * size[0], by[1] * size[1], by[2] * size[2]};
      if (is_cube()) {
        const Place p = place(q.at, l.unsure);  // of the middle, where the footprint's places may be certain
        const FaceRule& rule = kFaces[p.face];
        const double major = std::abs(q.at[rule.r_axis]), dr = rule.r_sign * by[rule.r_axis];
        const double ds = rule.s_sign * by[rule.s_axis], dt = rule.t_sign * by[rule.t_axis];
        scaled[0] = size[0] * 0.5 * (ds - (2 * p.at[0] - 1) * dr) / major,
        scaled[1] = size[1] * 0.5 * (dt - (2 * p.at[1] - 1) * dr) / major;
        scaled[2] = 0;
        error[d] = size[0] * kFloat * (std::abs(ds) + std::abs(dt) + std::abs(dr)) / major;
      }
      rho[d] = length(scaled);
    }
    l.along_x = rho[0] > rho[1];
    const double longer = std::max(rho[0], rho[1]), shorter = std::min(rho[0], rho[1]);
    const bool cubic = s_.min_filter == VK_FILTER_CUBIC_EXT && !is_cube();
    double eta = 1;
    if (s_.max_anisotropy > 1 && !cubic && !v_.is_integer && longer > 0) {
      eta = std::clamp(longer / shorter, 1.0, static_cast<double>(s_.max_anisotropy));
      const double near = 1e-4 + 4 * (error[0] + error[1]) / std::max(shorter, 1e-30);
      l.unsure |= eta != s_.max_anisotropy && std::abs(eta - std::nearbyint(eta)) < eta * near;
      l.unsure |= eta == s_.max_anisotropy && std::abs(longer / shorter - eta) < eta * near;
      l.unsure |= std::ceil(eta) > 1 && longer - shorter < longer * 1e-5;
    }
    l.count = std::ceil(eta);
    base = longer > 0 ? std::log2(longer / eta) : -200;
    l.slack += longer > 0 ? 1.5 * (error[0] + error[1]) / longer : 0;
  }
  const double bias = static_cast<double>(s_.mip_lod_bias) + (explicit_lod ? 0 : q.bias);
  l.lambda = s_.unnormalized_coordinates ? 0 : base + std::clamp(bias, -16.0, 16.0);
  const double least = std::max(static_cast<double>(s_.min_lod), q.least_lod), most = static_cast<double>(s_.max_lod);
  const double clamped = std::min(std::max(l.lambda, least), most);
  l.magnified = clamped <= 0;
  l.unsure |= s_.mag_filter != s_.min_filter && clamped != least && clamped != most && std::abs(clamped) <= l.slack;
  l.d = std::clamp(clamped, 0.0, static_cast<double>(v_.levels.size()) - 1);
  if (v_.least_lod > 0) l.d = std::max(l.d, static_cast<double>(v_.least_lod));
  if (s_.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_LINEAR) {
    l.first = static_cast<int>(std::floor(l.d)), l.fraction = l.d - l.first;
  } else {
    l.first = std::max(0, static_cast<int>(std::ceil(l.d + 0.5)) - 1);
    const double from_half = std::abs(l.d - std::floor(l.d) - 0.5);
    l.unsure |= from_half <= l.slack && !(explicit_lod && from_half == 0 && is_exact(q.lod) && is_exact(bias));
  }
  return l;
}

/// Texels of one axis with their weights: one, two or four. `clamps`: as seamless cubes do, which go over an edge by one texel at most.
std::vector<SamplingModel::Tap> SamplingModel::taps(VkSamplerAddressMode mode, double coordinate, int size, int offset, VkFilter filter,
                                                    bool clamps, bool& unsure) const {
  assert(size >= 1);
  const double scaled = s_.unnormalized_coordinates ? coordinate : coordinate * size;
  double slack = !is_cube() && s_.max_anisotropy <= 1 && is_exact(coordinate) ? 0 : kFloat * (std::abs(scaled) + size);
  unsure |= !(std::abs(scaled) < 1e6) || slack > 0.01;
  if (unsure) return {};
  const bool linear = filter != VK_FILTER_NEAREST;
  double u = scaled - (linear ? 0.5 : 0);
  if (clamps) u = std::clamp(u, linear ? -0.5 : 0.0, linear ? size - 0.5 : size - 0.5);
  // Of a place between texels eight bits are kept, rounded to the nearest; where floats may round the other way, the next one.
  double step = 0;
  if (linear) {
    const double units = 256 * u + 0.5;
    if (std::abs(units - std::nearbyint(units)) <= 256 * slack + (slack > 0 ? 1e-9 : 0)) step = 1.0 / 256;
    u = std::floor(units) / 256, slack = step;
  }
  const int low = static_cast<int>(std::floor(u));
  const double a = u - low;
  const auto tap = [&](int step, double weight) {
    bool outside = false;
    const int i = clamps ? low + step : wrapped(mode, low + step + offset, size, outside);
    return Tap{i, weight, 0, outside};
  };
  if (!linear) {
    unsure |= !clamps || (scaled > 0.5 && scaled < size - 0.5) ? std::abs(scaled - std::nearbyint(scaled)) < slack : false;
    return {tap(0, 1)};
  }
  if (s_.reduction_mode != VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE) unsure |= slack > 0 && (a < slack || a > 1 - slack);
  std::vector<Tap> all;
  if (filter == VK_FILTER_LINEAR) {
    all = {tap(0, 1 - a), tap(1, a)};
  } else {  // "Texel Cubic Filtering", the matrix of Catmull-Rom
    constexpr double kMatrix[4][4] = {{0, 2, 0, 0}, {-1, 0, 1, 0}, {2, -5, 4, -1}, {-1, 3, -3, 1}};
    for (int k = 0; k < 4; k++)
      all.push_back(tap(k - 1, 0.5 * (kMatrix[0][k] + a * (kMatrix[1][k] + a * (kMatrix[2][k] + a * kMatrix[3][k])))));
    slack *= 3;
  }
  // Roundings may ask one texel more, with a weight of next to nothing; of infinity that is something.
  const int last = filter == VK_FILTER_LINEAR ? 1 : 2;
  if (slack > 0 && a < slack) all.push_back(tap(-last, 0));
  if (slack > 0 && a > 1 - slack) all.push_back(tap(last + 1, 0));
  for (Tap& t : all) t.slack = slack;
  return all;
}

/// "Texel Replacement", "Depth Compare Operation".
Color SamplingModel::texel(const ModelLevel& level, int x, int y, int z, bool outside, double dref) const {
  Color c;
  if (outside) {
    const bool custom = s_.border_color == VK_BORDER_COLOR_FLOAT_CUSTOM_EXT || s_.border_color == VK_BORDER_COLOR_INT_CUSTOM_EXT;
    const bool white = s_.border_color == VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE || s_.border_color == VK_BORDER_COLOR_INT_OPAQUE_WHITE;
    const bool clear =
        s_.border_color == VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK || s_.border_color == VK_BORDER_COLOR_INT_TRANSPARENT_BLACK;
    for (size_t k = 0; k < 4; k++) {
      c[k] = k < 3 ? white : !clear;
      if (custom) c[k] = v_.is_integer ? static_cast<double>(s_.custom_border_color.uint32[k]) : s_.custom_border_color.float32[k];
      if (!v_.present[k]) c[k] = k == 3;
    }
  } else {
    assert(x >= 0 && x < level.width && y >= 0 && y < level.height && z >= 0 && z < level.depth);
    c = level.at(x, y, z);
  }
  if (compares_)
    c = {passes(s_.compare_op, v_.is_fixed ? std::clamp(dref, 0.0, 1.0) : dref, static_cast<float>(c[0])) ? 1.0 : 0.0, 0, 0, 1};
  return c;
}

/// "Cube Map Edge Handling": one texel beyond an edge is the one that lies behind it on the cube's surface.
Color SamplingModel::face_texel(const ModelLevel& level, int layer, int face, int x, int y, double dref, bool& corner) const {
  const int n = level.width, centre[2] = {2 * x + 1 - n, 2 * y + 1 - n};
  const bool over[2] = {std::abs(centre[0]) > n, std::abs(centre[1]) > n};
  corner = over[0] && over[1];
  if (corner) return {};
  if (!over[0] && !over[1]) return texel(level, x, y, 6 * layer + face, false, dref);
  // In half texels around the cube's middle: what goes beyond a face's edge goes down behind it.
  const FaceRule& rule = kFaces[face];
  int v[3];
  const auto along = [&](int axis, int sign, int k) { v[axis] = sign * (over[k] ? (centre[k] < 0 ? -n : n) : centre[k]); };
  along(rule.s_axis, rule.s_sign, 0), along(rule.t_axis, rule.t_sign, 1);
  const int beyond = std::max(std::abs(centre[0]), std::abs(centre[1])) - n;
  v[rule.r_axis] = rule.r_sign * (n - beyond);
  for (int other = 0; other < 6; other++) {
    const FaceRule& of = kFaces[other];
    if (v[of.r_axis] != of.r_sign * n) continue;
    return texel(level, (of.s_sign * v[of.s_axis] + n - 1) / 2, (of.t_sign * v[of.t_axis] + n - 1) / 2, 6 * layer + other, false, dref);
  }
  assert(false);
  return {};
}

void SamplingModel::add(Sum& sum, const Color& color, double weight, bool first) const {
  for (size_t k = 0; k < 4; k++) {
    sum.unsure |= !(std::abs(color[k]) < 1e30);
    sum.least[k] = first ? color[k] : std::min(sum.least[k], color[k]), sum.most[k] = first ? color[k] : std::max(sum.most[k], color[k]);
    switch (s_.reduction_mode) {
      case VK_SAMPLER_REDUCTION_MODE_MIN:
        sum.value[k] = sum.least[k];
        break;
      case VK_SAMPLER_REDUCTION_MODE_MAX:
        sum.value[k] = sum.most[k];
        break;
      default:
        sum.value[k] = (first ? 0 : sum.value[k]) + weight * color[k];
    }
  }
}

/// "Texel Filtering" within a level.
SamplingModel::Sum SamplingModel::filtered(const ModelLevel& level, const Place& at, const SampleRequest& q, VkFilter filter) const {
  Sum sum;
  if (v_.is_integer) filter = VK_FILTER_NEAREST;
  if (is_cube() && filter == VK_FILTER_CUBIC_EXT) filter = VK_FILTER_LINEAR;
  const bool flat = is_line(), volume = is_volume(), moves = !is_cube();
  const auto xs = taps(s_.address_u, at.at[0], level.width, moves ? q.offset[0] : 0, filter, seamless(), sum.unsure);
  std::vector<Tap> ys = {{0, 1, 0, false}}, zs = {{0, 1, 0, false}};
  if (!flat) ys = taps(s_.address_v, at.at[1], level.height, moves ? q.offset[1] : 0, filter, seamless(), sum.unsure);
  if (volume) zs = taps(s_.address_w, at.at[2], level.depth, q.offset[2], filter, false, sum.unsure);
  if (sum.unsure) return sum;
  const int layer = layer_of(q.layer);
  struct Read {
    Color color;
    double weight;
    bool corner;
  };
  std::vector<Read> all;
  for (const Tap& z : zs)
    for (const Tap& y : ys)
      for (const Tap& x : xs) {
        Read r{{}, x.weight * y.weight * z.weight, false};
        if (seamless()) {
          r.color = face_texel(level, layer, at.face, x.index, y.index, q.dref, r.corner);
        } else {
          const int slice = volume ? z.index : is_cube() ? 6 * layer + at.face : layer;
          r.color = texel(level, x.index, y.index, slice, x.outside || y.outside || z.outside, q.dref);
        }
        all.push_back(r);
      }
  for (Read& r : all) {
    if (!r.corner) continue;
    for (const Read& other : all)
      if (!other.corner)
        for (size_t k = 0; k < 4; k++) r.color[k] += other.color[k] / 3;
  }
  bool first = true;
  const bool averages = s_.reduction_mode == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  const bool exact = filter == VK_FILTER_LINEAR && xs[0].slack == 0 && ys[0].slack == 0 && zs[0].slack == 0;
  for (const Read& r : all) {
    if ((!averages || exact) && r.weight == 0) continue;  // it takes no part
    add(sum, r.color, r.weight, first), first = false;
  }
  const double slack = xs[0].slack + ys[0].slack + zs[0].slack + (filter == VK_FILTER_NEAREST ? 0 : kWeight);
  for (size_t k = 0; k < 4; k++)
    sum.slack[k] = averages ? slack * (sum.most[k] - sum.least[k]) + kFloat * std::max(std::abs(sum.most[k]), std::abs(sum.least[k])) : 0;
  return sum;
}

/// At one place of a footprint: one level, or two.
SamplingModel::Sum SamplingModel::one(const Place& at, const SampleRequest& q, const Levels& l) const {
  const VkFilter filter = l.magnified ? s_.mag_filter : s_.min_filter;
  const int last = static_cast<int>(v_.levels.size()) - 1;
  Sum sum = filtered(v_.levels[static_cast<size_t>(std::min(l.first, last))], at, q, filter);
  if (s_.mipmap_mode != VK_SAMPLER_MIPMAP_MODE_LINEAR || v_.is_integer || sum.unsure) return sum;
  const Sum next = filtered(v_.levels[static_cast<size_t>(std::min(l.first + 1, last))], at, q, filter);
  const bool averages = s_.reduction_mode == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  if (!averages) {
    sum.unsure |= next.unsure || (l.fraction > 0 && l.fraction < l.slack) || l.fraction > 1 - l.slack;
    sum.unsure |= l.fraction == 0 && l.d > 0 && l.d < last && l.slack > 0;
    for (size_t k = 0; k < 4 && l.fraction > 0; k++)
      sum.value[k] = s_.reduction_mode == VK_SAMPLER_REDUCTION_MODE_MIN ? std::min(sum.value[k], next.value[k])
                                                                        : std::max(sum.value[k], next.value[k]);
    return sum;
  }
  sum.unsure |= next.unsure;
  for (size_t k = 0; k < 4; k++) {
    const double least = std::min(sum.least[k], next.least[k]), most = std::max(sum.most[k], next.most[k]);
    const double magnitude = std::max(std::abs(least), std::abs(most));
    sum.value[k] += l.fraction * (next.value[k] - sum.value[k]);
    sum.slack[k] = std::max(sum.slack[k], next.slack[k]) + (l.slack + kWeight) * (most - least) + kFloat * magnitude;
    sum.least[k] = least, sum.most[k] = most;
  }
  return sum;
}

/// "Component Swizzle".
Color SamplingModel::swizzled(const Color& color) const {
  if (compares_) return color;
  const VkComponentSwizzle by[4] = {v_.swizzle.r, v_.swizzle.g, v_.swizzle.b, v_.swizzle.a};
  Color out = color;
  for (size_t k = 0; k < 4; k++) {
    if (by[k] == VK_COMPONENT_SWIZZLE_ZERO) out[k] = 0;
    if (by[k] == VK_COMPONENT_SWIZZLE_ONE) out[k] = 1;
    if (by[k] >= VK_COMPONENT_SWIZZLE_R) out[k] = color[static_cast<size_t>(by[k] - VK_COMPONENT_SWIZZLE_R)];
  }
  return out;
}

SampleAnswer SamplingModel::sample(const SampleRequest& q, bool explicit_lod) const {
  assert(!v_.levels.empty());
  SampleAnswer answer;
  const Levels levels = levels_of(q, explicit_lod);
  answer.unsure = levels.unsure;
  Color total{};
  // "Texel Anisotropic Filtering": along the longer derivative, the ends left out.
  for (int i = 1; i <= levels.count && !answer.unsure; i++) {
    double at[3];
    const double step = levels.count > 1 || s_.max_anisotropy > 1 ? i / (levels.count + 1) - 0.5 : 0;
    for (int k = 0; k < 3; k++) at[k] = q.at[k] + step * (levels.along_x ? q.dx[k] : q.dy[k]) * (explicit_lod ? 0 : 1);
    const Sum sum = one(place(at, answer.unsure), q, levels);
    answer.unsure |= sum.unsure;
    for (size_t k = 0; k < 4; k++) {
      const bool averages = s_.reduction_mode == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
      const bool less = s_.reduction_mode == VK_SAMPLER_REDUCTION_MODE_MIN;
      total[k] = i == 1     ? sum.value[k]
                 : averages ? total[k] + sum.value[k]
                 : less     ? std::min(total[k], sum.value[k])
                            : std::max(total[k], sum.value[k]);
      if (averages && i == static_cast<int>(levels.count)) total[k] /= levels.count;
      answer.slack[k] = std::max(answer.slack[k], sum.slack[k]);
    }
  }
  answer.value = swizzled(total), answer.slack = compares_ ? answer.slack : swizzled(answer.slack);
  return answer;
}

/// "Texel Gathering": of the view's first level, (i0, j1), (i1, j1), (i1, j0), (i0, j0).
SampleAnswer SamplingModel::gather(const SampleRequest& q) const {
  assert(!v_.levels.empty() && !is_volume() && q.component >= 0 && q.component < 4);
  SampleAnswer answer;
  const ModelLevel& level = v_.levels[0];
  const Place p = place(q.at, answer.unsure);
  const auto xs = taps(s_.address_u, p.at[0], level.width, q.offset[0], VK_FILTER_LINEAR, seamless(), answer.unsure);
  const auto ys = taps(s_.address_v, p.at[1], level.height, q.offset[1], VK_FILTER_LINEAR, seamless(), answer.unsure);
  if (answer.unsure) return answer;
  const auto may_be_others = [](const std::vector<Tap>& of) {
    return of[0].slack > 0 && of[0].slack >= std::min(of[0].weight, of[1].weight);
  };
  answer.unsure |= may_be_others(xs) || may_be_others(ys);
  const int layer = layer_of(q.layer), slice = is_cube() ? 6 * layer + p.face : layer;
  constexpr size_t kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  for (size_t k = 0; k < 4; k++) {
    const Tap &x = xs[kOrder[k][0]], &y = ys[kOrder[k][1]];
    bool corner = false;
    Color color = seamless() ? face_texel(level, layer, p.face, x.index, y.index, q.dref, corner)
                             : texel(level, x.index, y.index, slice, x.outside || y.outside, q.dref);
    answer.unsure |= corner;  // an average of floats, of integers nothing that is said
    if (v_.least_lod >= 1) color = {0, 0, 0, v_.present[3] ? 0.0 : 1.0};
    color = swizzled(color);
    answer.value[k] = color[compares_ ? 0 : static_cast<size_t>(q.component)];
    answer.slack[k] = kFloat * std::abs(answer.value[k]);
  }
  return answer;
}

/// "LOD Query": the level that would be read, and lambda' before its limits.
SampleAnswer SamplingModel::query_lod(const SampleRequest& q) const {
  SampleAnswer answer;
  const Levels l = levels_of(q, false);
  bool unsure = l.unsure;
  (void)place(q.at, unsure);
  const bool linear = s_.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_LINEAR && !v_.is_integer;
  answer.value = {linear ? l.d : l.first, l.lambda, 0, 0};
  answer.slack = {linear ? 2 * l.slack : 0, 2 * l.slack + kFloat * std::abs(l.lambda), 0, 0};
  answer.unsure = unsure || l.lambda < -100;
  return answer;
}

SampleAnswer SamplingModel::fetch(const SampleRequest& q) const {
  SampleAnswer answer;
  const int level = static_cast<int>(q.lod), x = static_cast<int>(q.at[0]), y = is_line() ? 0 : static_cast<int>(q.at[1]);
  const int z = is_volume() ? static_cast<int>(q.at[2]) : is_array() ? static_cast<int>(q.layer) : 0;
  Color color = {0, 0, 0, v_.present[3] ? 0.0 : 1.0};
  if (level >= std::floor(v_.least_lod) && level >= 0 && level < static_cast<int>(v_.levels.size())) {
    const ModelLevel& l = v_.levels[static_cast<size_t>(level)];
    if (x >= 0 && y >= 0 && z >= 0 && x < l.width && y < l.height && z < l.depth) color = l.at(x, y, z);
  }
  answer.value = swizzled(color);
  return answer;
}

}  // namespace tilegpu::fuzz
