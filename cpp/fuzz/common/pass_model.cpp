// fuzz/common/pass_model.cpp -- see pass_model.hpp.
#include "common/pass_model.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "common/compare_op.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr int kSubpixels = 256;

// "standardSampleLocations".
constexpr int kPlaces1[1][2] = {{8, 8}};
constexpr int kPlaces2[2][2] = {{12, 12}, {4, 4}};
constexpr int kPlaces4[4][2] = {{6, 2}, {14, 6}, {2, 10}, {10, 14}};
constexpr int kPlaces8[8][2] = {{9, 5}, {7, 11}, {13, 9}, {5, 3}, {3, 13}, {1, 7}, {11, 15}, {15, 1}};
constexpr int kPlaces16[16][2] = {{9, 9},  {7, 5}, {5, 10}, {12, 7}, {3, 6}, {10, 13}, {13, 11}, {11, 3},
                                  {6, 14}, {8, 1}, {4, 2},  {2, 12}, {0, 8}, {15, 4},  {14, 15}, {1, 0}};

uint32_t stencil_after(VkStencilOp op, uint32_t old, uint32_t reference) {
  switch (op) {
    case VK_STENCIL_OP_ZERO:
      return 0;
    case VK_STENCIL_OP_REPLACE:
      return reference & 255;
    case VK_STENCIL_OP_INCREMENT_AND_CLAMP:
      return std::min(old + 1, 255u);
    case VK_STENCIL_OP_DECREMENT_AND_CLAMP:
      return old ? old - 1 : 0;
    case VK_STENCIL_OP_INVERT:
      return ~old & 255;
    case VK_STENCIL_OP_INCREMENT_AND_WRAP:
      return (old + 1) & 255;
    case VK_STENCIL_OP_DECREMENT_AND_WRAP:
      return (old - 1) & 255;
    default:
      return old;
  }
}

/// The table of "Blend Factors"; `c`: the component.
double factor_of(VkBlendFactor f, size_t c, const Color& s, const Color& d, const Color& k) {
  switch (f) {
    case VK_BLEND_FACTOR_ZERO:
      return 0;
    case VK_BLEND_FACTOR_SRC_COLOR:
      return s[c];
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
      return 1 - s[c];
    case VK_BLEND_FACTOR_DST_COLOR:
      return d[c];
    case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
      return 1 - d[c];
    case VK_BLEND_FACTOR_SRC_ALPHA:
      return s[3];
    case VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
      return 1 - s[3];
    case VK_BLEND_FACTOR_DST_ALPHA:
      return d[3];
    case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
      return 1 - d[3];
    case VK_BLEND_FACTOR_CONSTANT_COLOR:
      return k[c];
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
      return 1 - k[c];
    case VK_BLEND_FACTOR_CONSTANT_ALPHA:
      return k[3];
    case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
      return 1 - k[3];
    case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE:
      return c == 3 ? 1 : std::min(s[3], 1 - d[3]);
    default:
      return 1;
  }
}

double blended(VkBlendOp op, double s, double sf, double d, double df) {
  switch (op) {
    case VK_BLEND_OP_SUBTRACT:
      return s * sf - d * df;
    case VK_BLEND_OP_REVERSE_SUBTRACT:
      return d * df - s * sf;
    case VK_BLEND_OP_MIN:
      return std::min(s, d);
    case VK_BLEND_OP_MAX:
      return std::max(s, d);
    default:
      return s * sf + d * df;
  }
}

/// By the operation's truth table: what comes of (source, destination) = (0, 0), (0, 1), (1, 0), (1, 1).
uint32_t logical(VkLogicOp op, uint32_t s, uint32_t d) {
  constexpr uint8_t kTruth[16] = {0b0000, 0b1000, 0b0100, 0b1100, 0b0010, 0b1010, 0b0110, 0b1110,
                                  0b0001, 0b1001, 0b0101, 0b1101, 0b0011, 0b1011, 0b0111, 0b1111};
  uint32_t out = 0;
  for (int k = 0; k < 4; k++)
    if (kTruth[op] >> k & 1) out |= (k & 2 ? s : ~s) & (k & 1 ? d : ~d);
  return out;
}

}  // namespace

std::span<const int[2]> sample_places(uint32_t samples) {
  switch (samples) {
    case 2:
      return kPlaces2;
    case 4:
      return kPlaces4;
    case 8:
      return kPlaces8;
    case 16:
      return kPlaces16;
    default:
      return kPlaces1;
  }
}

/// A primitive in the framebuffer.
struct PassModel::Placed {
  /// "Basic Polygon Rasterization": with perspective, at a pixel's centre, whether that is covered or not. Below 0: floats make of it what
  /// they like. `slack`: how far they may be off.
  Color smooth(double px, double py, double& slack) const {
    const auto at = [&](int k, double& ax, double& ay) { ax = static_cast<double>(x[k]) / 256, ay = static_cast<double>(y[k]) / 256; };
    double x0, y0, x1, y1, x2, y2;
    at(0, x0, y0), at(1, x1, y1), at(2, x2, y2);
    const double whole = (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0),
                 size = std::max({std::abs(x1 - x0), std::abs(y1 - y0), std::abs(x2 - x0), std::abs(y2 - y0), 1.0});
    double l[3];
    l[1] = ((px - x0) * (y2 - y0) - (py - y0) * (x2 - x0)) / whole, l[2] = ((x1 - x0) * (py - y0) - (y1 - y0) * (px - x0)) / whole;
    l[0] = 1 - l[1] - l[2];
    double sum = 0;
    Color out{};
    for (size_t k = 0; k < 3; k++) {
      sum += l[k] * q[k];
      for (size_t c = 0; c < 4; c++) out[c] += l[k] * q[k] * corner[k][c];
    }
    for (double& v : out) v /= sum;
    // A thin triangle's coordinates change quickly, as does a quotient whose divisor is small.
    slack = 4e-6 * (1 + size * size / std::abs(whole)) * 16 / std::min(sum, 1.0);
    if (!(sum > 0.1) || slack > 0.01 || std::max({l[0], l[1], l[2]}) > 2) slack = -1;
    return out;
  }
  int64_t x[3], y[3];  // subpixels
  double z[3], bias = 0, z_slack = 0, zx = 0, zy = 0;
  double least = 0, most = 1;  // what depth is clamped to
  bool front = true, point = false;
  Color color{}, corner[3] = {};
  double q[3] = {1, 1, 1};
  uint32_t number = 0;
  bool covers(int64_t px, int64_t py) const {
    if (point) return px >= x[0] && px < x[1] && py >= y[0] && py < y[1];
    for (int k = 0; k < 3; k++) {
      const int n = (k + 1) % 3;
      const int64_t dx = x[n] - x[k], dy = y[n] - y[k], edge = dx * (py - y[k]) - dy * (px - x[k]);
      // Clockwise on the screen: a top edge runs to the right, a left edge up.
      if (edge < 0 || (edge == 0 && !(dy < 0 || (dy == 0 && dx > 0)))) return false;
    }
    return true;
  }
};

PassModel::PassModel(uint32_t width, uint32_t height, uint32_t layers, uint32_t samples, std::span<const char* const> colors,
                     const char* depth)
    : width_(width), height_(height), layers_(layers), sample_count_(samples), samples_(size_t{width} * height * layers * samples) {
  for (const char* name : colors) colors_.emplace_back(name, false);
  const std::string name = depth ? depth : "";
  if (name.find("d16") != std::string::npos) depth_bits_ = 16;
  if (name.find("d24") != std::string::npos) depth_bits_ = 24;
  if (name.find("d32") != std::string::npos) depth_bits_ = 32;
  has_stencil_ = name.find("s8") != std::string::npos;
  assert(colors_.size() <= 2);
}

template <class F>
void PassModel::each(const VkRect2D& area, F&& f) {
  for (uint32_t layer = 0; layer < layers_; layer++)
    for (uint32_t y = 0; y < area.extent.height; y++)
      for (uint32_t x = 0; x < area.extent.width; x++) {
        const size_t first = index(layer, static_cast<uint32_t>(area.offset.x) + x, static_cast<uint32_t>(area.offset.y) + y);
        assert(first + sample_count_ <= samples_.size());
        for (uint32_t s = 0; s < sample_count_; s++) f(samples_[first + s]);
      }
}

void PassModel::clear_color(uint32_t target, const VkClearValue& value, const VkRect2D& area) {
  const TexelModel& format = colors_[target];
  Color color{};
  uint32_t all = 0;
  for (uint32_t k = 0; k < 4; k++) {
    bool unsure = false;
    const double given = !format.is_integer() ? static_cast<double>(value.color.float32[k]) : static_cast<double>(value.color.int32[k]);
    color[k] = format.code_of(k, given, unsure), all |= uint32_t{unsure} << k;
  }
  each(area, [&](ModelSample& s) { s.color[target] = color, s.slack[target] = 0, s.unsure[target] = static_cast<uint8_t>(all); });
}

void PassModel::clear_depth(float depth, const VkRect2D& area) {
  double slack = 0;
  const double code = depth_code(depth, slack);
  each(area, [&](ModelSample& s) { s.depth = code, s.depth_slack = slack; });
}

void PassModel::clear_stencil(uint32_t stencil, const VkRect2D& area) {
  each(area, [&](ModelSample& s) { s.stencil = stencil & 255; });
}

double PassModel::depth_code(double z, double& slack) const {
  if (depth_bits_ == 32) return z;
  const double scaled = std::clamp(z, 0.0, 1.0) * depth_most(), code = std::nearbyint(scaled);
  slack = slack > 0 ? std::ceil(slack * depth_most()) + 1 : 0;
  return code;
}

/// "Primitive Topologies": corners in an order that keeps the winding, and which one provokes.
void PassModel::draw(const ModelDraw& draw, const VkRect2D& area) {
  std::vector<uint32_t> order = draw.indices;
  if (order.empty())
    for (uint32_t k = 0; k < draw.vertices.size(); k++) order.push_back(k);
  const GraphicsState& state = *draw.state;
  const bool last = state.rasterization.provoking_vertex_last, restarts = !draw.indices.empty() && state.primitive_restart;
  for (uint32_t layer = 0; layer < layers_; layer++) {
    size_t begin = 0;
    for (size_t end = 0; end <= order.size(); end++) {
      if (end < order.size() && !(restarts && order[end] == ~0u)) continue;
      const std::span<const uint32_t> strip(order.data() + begin, end - begin);
      begin = end + 1;
      const auto vertex = [&](size_t k) { return &draw.vertices[strip[k]]; };
      const auto make = [&](size_t a, size_t b, size_t c, size_t provoking) {
        primitive(draw, {{vertex(a), vertex(b), vertex(c)}, vertex(provoking), 0}, area, layer);
      };
      const size_t count = strip.size();
      switch (state.topology) {
        case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
          for (size_t k = 0; k < count; k++) make(k, k, k, k);
          break;
        case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST:
          for (size_t k = 0; k + 3 <= count; k += 3) make(k, k + 1, k + 2, last ? k + 2 : k);
          break;
        case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
          for (size_t k = 0; k + 3 <= count; k++) make(k, k % 2 ? k + 2 : k + 1, k % 2 ? k + 1 : k + 2, last ? k + 2 : k);
          break;
        default:
          for (size_t k = 0; k + 3 <= count; k++) make(k + 1, k + 2, 0, last ? k + 2 : k + 1);
      }
    }
  }
}

void PassModel::primitive(const ModelDraw& draw, const Primitive& p, const VkRect2D& area, uint32_t layer) {
  const GraphicsState& state = *draw.state;
  const RasterizationState& raster = state.rasterization;
  Placed t;
  const VkViewport& v = draw.viewport;
  bool outside = false;
  for (int k = 0; k < 3; k++) {
    const float* at = p.corner[k]->position;
    const double q = t.q[k] = 1.0 / at[3];
    t.x[k] = static_cast<int64_t>(std::nearbyint((v.x + (at[0] * q + 1) * 0.5 * v.width) * kSubpixels));
    t.y[k] = static_cast<int64_t>(std::nearbyint((v.y + (at[1] * q + 1) * 0.5 * v.height) * kSubpixels));
    t.z[k] = v.minDepth + at[2] * q * (v.maxDepth - v.minDepth);
    for (size_t c = 0; c < 4; c++) t.corner[k][c] = p.corner[k]->color[layer ? (c + 1) % 4 : c];
    outside |= at[2] < 0 || at[2] * q > 1;  // then all three are: such primitives are flat
  }
  if (outside && raster.clips_depth()) return;
  t.point = state.topology == VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
  const int64_t area_2 = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.y[1] - t.y[0]) * (t.x[2] - t.x[0]);
  if (t.point) {
    const auto half = static_cast<int64_t>(std::nearbyint((1 + 3 * static_cast<double>(p.corner[0]->color[1])) * kSubpixels / 2));
    t.x[1] = t.x[0] + half, t.y[1] = t.y[0] + half, t.x[0] -= half, t.y[0] -= half;
  } else {
    if (area_2 == 0) return;
    t.front = (area_2 > 0) == (raster.front_face == VK_FRONT_FACE_CLOCKWISE);
    if (raster.cull_mode & (t.front ? VK_CULL_MODE_FRONT_BIT : VK_CULL_MODE_BACK_BIT)) return;
    const double unit = 1.0 / kSubpixels, dx1 = static_cast<double>(t.x[1] - t.x[0]) * unit,
                 dy1 = static_cast<double>(t.y[1] - t.y[0]) * unit;
    const double dx2 = static_cast<double>(t.x[2] - t.x[0]) * unit, dy2 = static_cast<double>(t.y[2] - t.y[0]) * unit;
    const double dz1 = t.z[1] - t.z[0], dz2 = t.z[2] - t.z[0], whole = dx1 * dy2 - dx2 * dy1;
    t.zx = (dz1 * dy2 - dz2 * dy1) / whole, t.zy = (dz2 * dx1 - dz1 * dx2) / whole;
    if (t.zx != 0 || t.zy != 0) t.z_slack = 0x1p-21 + (std::abs(t.zx) + std::abs(t.zy)) * 0x1p-15;
    if (area_2 < 0) std::swap(t.x[1], t.x[2]), std::swap(t.y[1], t.y[2]), std::swap(t.q[1], t.q[2]), std::swap(t.corner[1], t.corner[2]);
  }
  if (raster.depth_bias_enable && !t.point && depth_bits_) {
    double r = std::ldexp(1.0, -static_cast<int>(depth_bits_));
    const double greatest = std::max({std::abs(t.z[0]), std::abs(t.z[1]), std::abs(t.z[2])});
    const DepthBiasRepresentation of = raster.depth_bias_representation;
    if (of == DepthBiasRepresentation::floating)
      r = 1;
    else if (depth_bits_ == 32 && of == DepthBiasRepresentation::least_representable_value_force_unorm)
      r = 0x1p-23;
    else if (depth_bits_ == 32)
      r = greatest > 0 ? std::ldexp(1.0, static_cast<int>(std::floor(std::log2(greatest))) - 23) : 0;
    const double slope = std::max(std::abs(t.zx), std::abs(t.zy));
    t.bias = raster.depth_bias_constant * r + slope * raster.depth_bias_slope;
    if (raster.depth_bias_clamp > 0) t.bias = std::min(t.bias, static_cast<double>(raster.depth_bias_clamp));
    if (raster.depth_bias_clamp < 0) t.bias = std::max(t.bias, static_cast<double>(raster.depth_bias_clamp));
    t.z_slack += slope > 0 ? 0x1p-20 * (1 + slope) : raster.depth_bias_clamp != 0 || depth_bits_ == 32 ? 0x1p-23 : 0;
  }
  if (raster.depth_clamp) t.least = std::min(v.minDepth, v.maxDepth), t.most = std::max(v.minDepth, v.maxDepth);
  if (raster.depth_clamp && raster.depth_clamp_user) t.least = raster.min_depth_clamp, t.most = raster.max_depth_clamp;
  for (size_t k = 0; k < 4; k++) t.color[k] = p.provoking->color[layer ? (k + 1) % 4 : k];
  t.number = static_cast<uint32_t>(t.color[0] * 64);
  const VkRect2D& s = draw.scissor;
  const auto low = [](int32_t a, int32_t b, int64_t c) { return std::max({a, b, static_cast<int32_t>(c / kSubpixels) - 1}); };
  const auto high = [](int64_t a, int64_t b, int64_t c) { return static_cast<int32_t>(std::min({a, b, c / kSubpixels + 2})); };
  const auto bounds = [&](const int64_t* at) { return std::minmax({at[0], at[1], t.point ? at[1] : at[2]}); };
  const auto [left, right] = bounds(t.x);
  const auto [top, bottom] = bounds(t.y);
  const int32_t x1 = high(int64_t{s.offset.x} + s.extent.width, int64_t{area.offset.x} + area.extent.width, right);
  const int32_t y1 = high(int64_t{s.offset.y} + s.extent.height, int64_t{area.offset.y} + area.extent.height, bottom);
  for (int32_t y = low(s.offset.y, area.offset.y, top); y < y1; y++)
    for (int32_t x = low(s.offset.x, area.offset.x, left); x < x1; x++)
      fragment(draw, t, static_cast<uint32_t>(x), static_cast<uint32_t>(y), layer);
}

namespace {

/// "Discard Rectangles Test".
bool is_discarded(const DiscardRectangleState& state, uint32_t x, uint32_t y) {
  if (!state.enable) return false;
  bool in_some = false;
  for (uint32_t k = 0; k < state.rectangles.size() && (!state.count || k < state.count); k++) {
    const VkRect2D& r = state.rectangles[k];
    const auto left = static_cast<uint32_t>(r.offset.x), top = static_cast<uint32_t>(r.offset.y);
    if (x >= left && x - left < r.extent.width && y >= top && y - top < r.extent.height) in_some = true;
  }
  return state.mode == VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT ? in_some : !in_some;
}

}  // namespace

void PassModel::fragment(const ModelDraw& draw, const Placed& t, uint32_t x, uint32_t y, uint32_t layer) {
  assert(x < width_ && y < height_ && layer < layers_);
  const GraphicsState& state = *draw.state;
  if (is_discarded(state.discard_rectangles, x, y)) return;
  const auto places = sample_places(sample_count_);
  uint32_t covered = 0;
  for (uint32_t s = 0; s < sample_count_; s++)
    if (t.covers(int64_t{x} * kSubpixels + places[s][0] * 16, int64_t{y} * kSubpixels + places[s][1] * 16)) covered |= 1u << s;
  covered &= state.multisample.sample_mask;
  if (!covered) return;
  uint32_t kept = ~0u;
  const bool holes = draw.fragment == Fragment::holes || draw.fragment == Fragment::early_holes;
  if (holes && (x ^ y) & 2) kept = 0;
  if (draw.fragment == Fragment::mask) kept = t.number * 5 + 3;
  Color source = t.color;
  double slack = 0;
  if (draw.fragment == Fragment::smooth && !t.point) source = t.smooth(x + 0.5, y + 0.5, slack);
  if (draw.fragment == Fragment::facing && !t.front) std::reverse(source.begin(), source.end());
  if (state.multisample.alpha_to_coverage) kept &= (1u << static_cast<uint32_t>(std::clamp(source[3], 0.0, 1.0) * sample_count_ + 0.5)) - 1;
  const bool early = draw.fragment == Fragment::early_holes;
  for (uint32_t s = 0; s < sample_count_; s++) {
    if (!(covered & (early ? ~0u : kept) & 1u << s)) continue;
    ModelSample& sample = samples_[index(layer, x, y) + s];
    const bool known = !sample.unknown;
    const bool pass = tests(draw, t, sample, x + places[s][0] / 16.0, y + places[s][1] / 16.0);
    if (draw.counted_unknown) *draw.counted_unknown |= sample.unknown;
    if (sample.unknown && known) continue;
    if (pass && draw.counted) ++*draw.counted;
    if (!pass || !(kept & 1u << s)) continue;
    Color own = source;
    if (draw.fragment == Fragment::sample_number) own[0] = s / 16.0;
    blend(draw, sample, own, slack);
  }
}

/// "Depth Bounds Test", "Stencil Test", "Depth Test". Whether a sample passes, and what becomes of its depth and stencil.
bool PassModel::tests(const ModelDraw& draw, const Placed& t, ModelSample& sample, double x, double y) {
  const DepthStencilState& d = draw.state->depth_stencil;
  double z = t.z[0], slack = t.z_slack;
  if (t.zx != 0 || t.zy != 0) {
    // From the first corner, which changes of the order left alone.
    z += t.zx * (x - static_cast<double>(t.x[0]) / kSubpixels) + t.zy * (y - static_cast<double>(t.y[0]) / kSubpixels);
  }
  z += t.bias;
  if (draw.fragment == Fragment::depth) z = t.color[0], slack = 0;
  z = std::clamp(z, t.least, t.most);  // "Depth Clamping and Range Adjustment"
  const double code = depth_bits_ ? depth_code(z, slack) : 0;
  if (depth_bits_ && d.depth_bounds_test) {
    const double stored = sample.depth / depth_most(), near = depth_bits_ == 32 ? 0 : 1e-7;
    for (const double bound : {static_cast<double>(d.min_depth_bounds), static_cast<double>(d.max_depth_bounds)})
      sample.unknown |= std::abs(stored - bound) <= near + sample.depth_slack / depth_most() && near + sample.depth_slack > 0;
    if (stored < static_cast<double>(d.min_depth_bounds) || stored > static_cast<double>(d.max_depth_bounds)) return false;
  }
  const VkStencilOpState& face = t.front ? d.front : d.back;
  const bool stencils = has_stencil_ && d.stencil_test, depth = depth_bits_ && d.depth_test;
  const bool stencil_pass = !stencils || passes(face.compareOp, face.reference & face.compareMask & 255, sample.stencil & face.compareMask);
  const bool asked = d.depth_compare != VK_COMPARE_OP_ALWAYS && d.depth_compare != VK_COMPARE_OP_NEVER;
  if (depth && asked && stencil_pass && slack + sample.depth_slack > 0 && std::abs(code - sample.depth) <= slack + sample.depth_slack)
    sample.unknown = true;
  const bool depth_pass = !depth || passes(d.depth_compare, code, sample.depth);
  if (stencils) {
    const VkStencilOp op = !stencil_pass ? face.failOp : !depth_pass ? face.depthFailOp : face.passOp;
    sample.stencil = (sample.stencil & ~face.writeMask) | (stencil_after(op, sample.stencil, face.reference) & face.writeMask & 255);
  }
  if (!stencil_pass || !depth_pass) return false;
  if (depth && d.depth_write) sample.depth = code, sample.depth_slack = slack;
  return true;
}

void PassModel::blend(const ModelDraw& draw, ModelSample& sample, const Color& source, double slack) {
  const GraphicsState& state = *draw.state;
  assert(state.blend.attachments.size() >= colors_.size());
  for (uint32_t target = 0; target < colors_.size(); target++) {
    const TexelModel& format = colors_[target];
    const VkPipelineColorBlendAttachmentState& how = state.blend.attachments[target];
    Color s, d{}, k{};
    for (uint32_t c = 0; c < 4; c++) s[c] = source[(c + target) % 4];  // as the shader has it
    Color& old = sample.color[target];
    const auto limited = [&](double v) { return format.is_fixed() ? std::clamp(v, format.is_signed() ? -1.0 : 0.0, 1.0) : v; };
    if (format.is_integer())
      for (double& v : s) v = std::floor(v * 64);
    else if (state.multisample.alpha_to_one)
      s[3] = 1;
    for (uint32_t c = 0; c < 4 && !format.is_integer(); c++)
      s[c] = limited(s[c]), d[c] = format.bits_of(c) ? format.value_of(c, old[c]) : c == 3, k[c] = limited(state.blend_constants[c]);
    const bool logic = state.blend.logic_op_enable;
    const bool blends = how.blendEnable && !logic && !format.is_integer();
    uint8_t& unknown = sample.unsure[target];
    if (how.colorWriteMask == 15 && !blends && !logic) sample.slack[target] = 0;
    const uint32_t before = unknown;
    for (uint32_t c = 0; c < 4; c++) {
      const uint32_t bits = format.bits_of(c);
      if (!(how.colorWriteMask >> c & 1) || !bits) continue;
      double value = s[c];
      bool unsure = ((blends || logic) && before & (1u << c | 8u)) || (blends && sample.slack[target] > 0);
      if (blends) {
        const bool alpha = c == 3;
        const VkBlendFactor sf = alpha ? how.srcAlphaBlendFactor : how.srcColorBlendFactor;
        const VkBlendFactor df = alpha ? how.dstAlphaBlendFactor : how.dstColorBlendFactor;
        value = blended(alpha ? how.alphaBlendOp : how.colorBlendOp, s[c], limited(factor_of(sf, c, s, d, k)), d[c],
                        limited(factor_of(df, c, s, d, k)));
        if (!format.is_fixed()) unsure |= !(std::abs(value) < 100);  // tolerances are of numbers near 1
      }
      double code = format.code_of(c, value, unsure);
      if (slack != 0) {
        bool tie = false;
        const bool as_float = format.is_float() && bits == 32;
        unsure |= slack < 0 || blends || logic || format.is_integer();
        if (!as_float) unsure |= format.code_of(c, value - slack, tie) != format.code_of(c, value + slack, tie);
      }
      sample.slack[target] = static_cast<float>(std::max(static_cast<double>(sample.slack[target]), slack));
      if (logic && !format.is_float() && !format.is_srgb()) {
        const auto word = [](double v) { return static_cast<uint32_t>(static_cast<int64_t>(v)); };
        const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1, out = logical(state.blend.logic_op, word(code), word(old[c])) & mask;
        code = format.is_signed() && out >> (bits - 1) & 1 ? static_cast<double>(out) - std::ldexp(1.0, static_cast<int>(bits)) : out;
      }
      old[c] = code;
      unknown = static_cast<uint8_t>((unknown & ~(1u << c)) | uint32_t{unsure} << c);
    }
  }
}

Color PassModel::average(uint32_t target, uint32_t layer, uint32_t x, uint32_t y, uint32_t& unsure) const {
  const TexelModel& format = colors_[target];
  Color sum{};
  for (uint32_t s = 0; s < sample_count_; s++) {
    const ModelSample& sample = at(layer, x, y, s);
    unsure |= sample.unknown ? 15 : sample.unsure[target];
    for (uint32_t c = 0; c < 4; c++) {
      double code = sample.color[target][c];
      if (format.is_fixed() && format.is_signed()) code = std::max(code, 1 - std::ldexp(1.0, static_cast<int>(format.bits_of(c)) - 1));
      sum[c] += format.is_srgb() && c < 3 ? format.value_of(c, code) : code;
    }
  }
  for (uint32_t c = 0; c < 4; c++) {
    sum[c] /= sample_count_;
    const bool values = !format.is_fixed() || (format.is_srgb() && c < 3);
    bool tie = false;
    sum[c] = values ? format.code_of(c, sum[c], tie) : std::nearbyint(sum[c]);  // codes: to nearest even
    unsure |= uint32_t{tie} << c;
  }
  return sum;
}

std::string flat_vertex_text(Fragment fragment, bool views) {
  return std::string("#version 450\n") + (views ? "#extension GL_EXT_multiview : require\n" : "") +
         "layout(location = 0) in vec4 position;\nlayout(location = 1) in vec4 color;\nlayout(location = 0) " +
         (fragment == Fragment::smooth ? "" : "flat ") +
         "out vec4 v;\n"
         "void main() { gl_Position = position; gl_PointSize = 1.0 + 3.0 * color.y; v = " +
         (views ? "gl_ViewIndex != 0 ? color.yzwx : color" : "color") + "; }";
}

std::string flat_fragment_text(Fragment fragment, std::span<const char* const> colors) {
  const char* const kDoes[] = {"",
                               "if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 2) != 0) discard;",
                               "gl_FragDepth = v.x;",
                               "gl_SampleMask[0] = int(v.NUMBER * 64.0) * 5 + 3;",
                               "if (!gl_FrontFacing) c = c.wzyx;",
                               "if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 2) != 0) discard;",
                               "c.x = float(gl_SampleID) / 16.0;",
                               ""};
  assert(fragment < Fragment::count);
  std::string text = "#version 450\n", writes;
  if (fragment == Fragment::early_holes) text += "layout(early_fragment_tests) in;\n";
  text += std::string("layout(location = 0) ") + (fragment == Fragment::smooth ? "" : "flat ") + "in vec4 v;\n";
  for (size_t k = 0; k < colors.size(); k++) {
    const TexelModel format(colors[k], false);
    const std::string prefix = !format.is_integer() ? "" : format.is_signed() ? "i" : "u", number = std::to_string(k);
    text += "layout(location = " + number + ") out " + prefix + "vec4 o" + number + ";\n";
    const std::string turned = k ? "c.yzwx" : "c";
    writes += "  o" + number + " = " + (prefix.empty() ? turned : prefix + "vec4(" + turned + " * 64.0)") + ";\n";
  }
  std::string does = kDoes[static_cast<size_t>(fragment)];
  if (const size_t at = does.find("NUMBER"); at != std::string::npos) does.replace(at, 6, "x");
  return text + "void main() {\n  vec4 c = v;\n  " + does + "\n" + writes + "}";
}

}  // namespace tilegpu::fuzz
