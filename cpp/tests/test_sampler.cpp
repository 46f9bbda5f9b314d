// tests/test_sampler.cpp -- sampler functions against a scalar model in double precision, and 4, 8, 16 lanes against each other.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "base/intrinsics.hpp"
#include "check.hpp"
#include "shader/compiler.hpp"
#include "shader/ir/sampler_types.hpp"
#include "shader/jit/jit.hpp"
#include "vk/format.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

std::mt19937 rng(1);

// -- images -----------------------------------------------------------------------------------------------------------------------

/// Bytes that end at a page which nobody may touch, with another one before them: a read outside ends the test.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  GuardedMemory(const GuardedMemory&) = delete;
  ~GuardedMemory() {
    if (mapping_) munmap(mapping_, mapping_B_);
  }
  void resize(size_t size_B) {
    const size_t page_B = 4096, pages = (size_B + page_B - 1) / page_B;
    mapping_B_ = (pages + 2) * page_B, size_B_ = size_B;
    mapping_ = mmap(nullptr, mapping_B_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* first = static_cast<uint8_t*>(mapping_) + page_B;
    CHECK(mapping_ != MAP_FAILED && mprotect(first, pages * page_B, PROT_READ | PROT_WRITE) == 0);
    data_ = first + pages * page_B - size_B;
  }
  uint8_t* data() { return data_; }
  uint8_t* begin() { return data_; }
  uint8_t* end() { return data_ + size_B_; }
  uint8_t& operator[](size_t k) { return data_[k]; }

 private:
  void* mapping_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t mapping_B_ = 0, size_B_ = 0;
};

struct Texture {
  const vk::FormatInfo* format = nullptr;
  bool stencil = false;
  uint32_t texel_B = 4, levels = 1, layers = 1, samples = 1;
  uint32_t width = 1, height = 1;
  bool volume = false;  // layers are slices of level 0
  GuardedMemory memory;
  ImageViewAbi view{};
  SamplerAbi sampler{};
  TextureDescriptor descriptor{};

  Texture(VkFormat f, uint32_t w, uint32_t h, uint32_t levels_, uint32_t layers_, uint32_t samples_ = 1, bool stencil_ = false,
          bool volume_ = false)
      : format(vk::find_format(f)),
        stencil(stencil_),
        levels(levels_),
        layers(layers_),
        samples(samples_),
        width(w),
        height(h),
        volume(volume_) {
    texel_B = format->texel_B;
    if (f == VK_FORMAT_D32_SFLOAT_S8_UINT) texel_B = stencil ? 1 : 4;
    size_t total = 0;
    std::vector<size_t> offsets;
    for (uint32_t l = 0; l < levels; ++l) {
      const uint32_t lw = std::max(1u, w >> l), lh = std::max(1u, h >> l);
      const uint32_t pitch = (lw * texel_B + 15) & ~15u;
      offsets.push_back(total);
      const uint32_t slices = volume ? std::max(1u, layers >> l) : layers;
      view.level[l] = {nullptr, pitch, static_cast<int32_t>(lw), static_cast<int32_t>(lh), volume ? static_cast<int32_t>(slices) : 1};
      view.layer_pitch_B[l] = static_cast<uint64_t>(pitch) * lh * samples;
      view.sample_pitch_B = static_cast<uint64_t>(pitch) * lh;
      total += view.layer_pitch_B[l] * slices;
    }
    memory.resize(total);
    for (auto& b : memory) b = static_cast<uint8_t>(rng());
    if (!stencil && (format->numeric == vk::Numeric::sfloat || format->numeric == vk::Numeric::ufloat)) {
      for (size_t at = 0; at + texel_B <= total; at += texel_B) {  // numbers, not NaN
        vk::Texel t;
        for (float& c : t.f) c = std::uniform_real_distribution<float>(0, 1)(rng);
        if (format->depth_bits) {
          std::memcpy(&memory[at], &t.f[0], 4);
        } else if (f != VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
          vk::pack_texel(*format, t, &memory[at]);
        }
      }
    }
    for (uint32_t l = 0; l < 16; ++l) {
      const uint32_t from = std::min(l, levels - 1);
      view.level[l] = view.level[from];
      view.level[l].data = memory.data() + offsets[from];
      view.layer_pitch_B[l] = view.layer_pitch_B[from];
    }
    view.level_count = static_cast<int32_t>(levels), view.layer_count = volume ? 1 : static_cast<int32_t>(layers),
    view.sample_count = static_cast<int32_t>(samples);
    fill_level_tables(view);
    sampler.min_lod = -1000, sampler.max_lod = 1000;
    descriptor.view = &view, descriptor.sampler = &sampler;
  }

  vk::Texel texel(uint32_t level, uint32_t layer, uint32_t sample, int x, int y) const {
    const ViewLevel& l = view.level[level];
    const uint8_t* at = l.data + layer * view.layer_pitch_B[level] + sample * view.sample_pitch_B + static_cast<size_t>(y) * l.row_pitch_B +
                        static_cast<size_t>(x) * texel_B;
    uint8_t bytes[16] = {};
    std::memcpy(bytes, at, texel_B);
    if (stencil) {
      vk::Texel t{};
      t.u[0] = texel_B == 4 ? bytes[3] : bytes[0], t.u[3] = 1;
      return t;
    }
    vk::Texel t = vk::unpack_texel(*format, bytes);
    if (format->is_depth_stencil()) t.f[1] = t.f[2] = 0, t.f[3] = 1;
    return t;
  }
};

// -- the model --------------------------------------------------------------------------------------------------------------------

struct Request {
  double s = 0, t = 0, r = 0, layer = 0, lod = 0, bias = 0, dref = 0, min_lod = -1000;
  double dx[3] = {}, dy[3] = {};
  int offset_x = 0, offset_y = 0, offset_z = 0;
};

struct Answer {
  double v[4] = {};
  bool unsure = false;  // too near a discontinuity to tell
};

int wrap(VkSamplerAddressMode mode, int i, int n, bool& outside) {
  switch (mode) {
    case VK_SAMPLER_ADDRESS_MODE_REPEAT:
      return ((i % n) + n) % n;
    case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT: {
      const int m = ((i % (2 * n)) + 2 * n) % (2 * n) - n;
      return n - 1 - (m >= 0 ? m : -(1 + m));
    }
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
      outside |= i < 0 || i >= n;
      return std::clamp(i, 0, n - 1);
    case VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE:
      return std::clamp(i >= 0 ? i : -(1 + i), 0, n - 1);
    default:
      return std::clamp(i, 0, n - 1);
  }
}

struct Model {
  const Texture& image;
  const SamplerKey& key;

  bool no_alpha() const { return image.format->is_depth_stencil() || image.format->rgba[3].bits == 0; }
  bool cube() const { return key.dim == VK_IMAGE_VIEW_TYPE_CUBE || key.dim == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY; }
  bool seamless() const { return cube() && !key.sampler.non_seamless_cube_map; }
  bool volume() const { return key.dim == VK_IMAGE_VIEW_TYPE_3D; }
  bool one_d() const { return key.dim == VK_IMAGE_VIEW_TYPE_1D || key.dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY; }

  vk::Texel border() const {
    vk::Texel t{};
    const float* b = image.sampler.border;
    for (int c = 0; c < 4; ++c) {
      const bool present = image.format->is_depth_stencil() ? c == 0 : image.format->rgba[static_cast<size_t>(c)].bits != 0;
      t.f[c] = present ? b[c] : c < 3 ? 0.0f : image.format->is_integer() ? std::bit_cast<float>(1u) : 1.0f;
    }
    return t;
  }

  static void direction(int face, double s, double t, double v[3]) {  // s, t in -1..1
    switch (face) {
      case 0:
        v[0] = 1, v[2] = -s, v[1] = -t;
        break;
      case 1:
        v[0] = -1, v[2] = s, v[1] = -t;
        break;
      case 2:
        v[1] = 1, v[0] = s, v[2] = t;
        break;
      case 3:
        v[1] = -1, v[0] = s, v[2] = -t;
        break;
      case 4:
        v[2] = 1, v[0] = s, v[1] = -t;
        break;
      default:
        v[2] = -1, v[0] = -s, v[1] = -t;
        break;
    }
  }
  static int face_of(const double v[3], double& s, double& t) {
    const double x = std::fabs(v[0]), y = std::fabs(v[1]), z = std::fabs(v[2]);
    if (z >= x && z >= y) {
      s = (v[2] < 0 ? -v[0] : v[0]) / z, t = -v[1] / z;
      return v[2] < 0 ? 5 : 4;
    }
    if (y >= x) {
      s = v[0] / y, t = (v[1] < 0 ? -v[2] : v[2]) / y;
      return v[1] < 0 ? 3 : 2;
    }
    s = (v[0] < 0 ? v[2] : -v[2]) / x, t = -v[1] / x;
    return v[0] < 0 ? 1 : 0;
  }

  void value(uint32_t level, int layer, int x, int y, bool outside, double dref, double out[4]) const {
    const vk::Texel t = outside ? border() : image.texel(level, static_cast<uint32_t>(layer), 0, x, y);
    const bool integer = image.stencil || image.format->is_integer();
    for (int c = 0; c < 4; ++c) out[c] = integer ? static_cast<double>(t.u[c]) : static_cast<double>(t.f[c]);
    if (key.sampler.compare_enable && image.format->depth_bits) {
      double d = dref;
      if (image.format->depth_bits < 32) d = std::clamp(d, 0.0, 1.0);
      const bool pass[8] = {false, d < out[0], d == out[0], d <= out[0], d > out[0], d != out[0], d >= out[0], true};
      out[0] = pass[key.sampler.compare_op], out[1] = out[2] = 0, out[3] = 1;
    }
  }

  bool near_integer(double u) const { return std::fabs(u - std::nearbyint(u)) < 2e-4; }

  /// Of places between texels eight bits are kept, rounded to the nearest (subTexelPrecisionBits); `unsure`: floats may round the other
  /// way.
  double kept(double u, bool& unsure) const {
    const double units = 256 * u + 0.5;
    unsure |= std::fabs(units - std::nearbyint(units)) < 256 * 2e-5;
    return std::floor(units) / 256;
  }

  /// Four texels of a level (or one) with weights, at face-local or plain coordinates. `border`: the layer, a slice, is outside.
  void footprint(uint32_t level, int layer, int face, double s, double t, const Request& q, bool linear, double texels[4][4], double& fx,
                 double& fy, bool& unsure, bool border = false) const {
    const ViewLevel& l = image.view.level[level];
    const bool plain = key.sampler.unnormalized_coordinates;
    double u = plain ? s : s * l.width_px, v = one_d() ? 0.5 : plain ? t : t * l.height_px;
    if (linear) u = kept(u - 0.5, unsure), v = one_d() ? v : kept(v - 0.5, unsure);
    unsure |= !linear && (near_integer(u) || (!one_d() && near_integer(v)));
    u = std::clamp(u, -1e6, 1e6), v = std::clamp(v, -1e6, 1e6);
    const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
    fx = u - i, fy = v - j;
    for (int k = 0; k < (linear ? 4 : 1); ++k) {
      int x = i + (k & 1), y = j + (k >> 1);
      bool outside = border;
      if (seamless()) {
        const int n = l.width_px;
        x = std::clamp(x, linear ? -1 : 0, linear ? n : n - 1), y = std::clamp(y, linear ? -1 : 0, linear ? n : n - 1);
        const bool ox = x < 0 || x >= n, oy = y < 0 || y >= n;
        int f = face;
        if (ox && oy) {
          texels[k][0] = -1e300;  // corner: below
          continue;
        }
        if (ox || oy) {
          double w[3], ns, nt;
          direction(face, (2 * x + 1.0) / n - 1, (2 * y + 1.0) / n - 1, w);
          f = face_of(w, ns, nt);
          x = std::clamp(static_cast<int>(std::floor((ns + 1) / 2 * n)), 0, n - 1),
          y = std::clamp(static_cast<int>(std::floor((nt + 1) / 2 * n)), 0, n - 1);
        }
        value(level, layer * 6 + f, x, y, false, q.dref, texels[k]);
        continue;
      }
      x = wrap(key.sampler.address_u, x + q.offset_x, l.width_px, outside);
      y = one_d() ? 0 : wrap(key.sampler.address_v, y + q.offset_y, l.height_px, outside);
      value(level, cube() ? layer * 6 + face : layer, x, y, outside, q.dref, texels[k]);
    }
    for (int k = 0; linear && seamless() && k < 4; ++k) {
      if (texels[k][0] != -1e300) continue;
      for (int c = 0; c < 4; ++c) {
        double sum = 0;
        for (int o = 0; o < 4; ++o) sum += o == k ? 0 : texels[o][c];
        texels[k][c] = sum / 3;
      }
    }
  }

  static double cubic_weight(int k, double a) {  // Catmull-Rom, by the specification's matrix
    constexpr double kMatrix[4][4] = {{0, 2, 0, 0}, {-1, 0, 1, 0}, {2, -5, 4, -1}, {-1, 3, -3, 1}};
    return 0.5 * (kMatrix[0][k] + a * kMatrix[1][k] + a * a * kMatrix[2][k] + a * a * a * kMatrix[3][k]);
  }

  /// 4, 16 or 64 texels of a level. `layer`: where the view is no 3D one.
  void cubic(uint32_t level, int layer, double s, double t, const Request& q, double out[4], bool& unsure) const {
    const ViewLevel& l = image.view.level[level];
    const bool plain = key.sampler.unnormalized_coordinates;
    const auto between = [&](double texels) { return kept(std::clamp(texels - 0.5, -1e6, 1e6), unsure); };
    const double u = between(plain ? s : s * l.width_px), v = one_d() ? 0 : between(plain ? t : t * l.height_px),
                 w = volume() ? between(q.r * l.depth_px) : 0;
    const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v)), k = static_cast<int>(std::floor(w));
    std::fill_n(out, 4, 0.0);
    for (int z = 0; z < (volume() ? 4 : 1); ++z)
      for (int y = 0; y < (one_d() ? 1 : 4); ++y)
        for (int x = 0; x < 4; ++x) {
          bool outside = false;
          const int at_x = wrap(key.sampler.address_u, i + x - 1 + q.offset_x, l.width_px, outside);
          const int at_y = one_d() ? 0 : wrap(key.sampler.address_v, j + y - 1 + q.offset_y, l.height_px, outside);
          const int of = volume() ? wrap(key.sampler.address_w, k + z - 1 + q.offset_z, l.depth_px, outside) : layer;
          double texel[4];
          value(level, of, at_x, at_y, outside, q.dref, texel);
          const double weight = cubic_weight(x, u - i) * (one_d() ? 1 : cubic_weight(y, v - j)) * (volume() ? cubic_weight(z, w - k) : 1);
          for (int c = 0; c < 4; ++c) out[c] += weight * texel[c];
        }
  }

  void swizzle(double v[4]) const {
    const double in[6] = {v[0], v[1], v[2], v[3], 0, 1};
    if (key.sampler.compare_enable && image.format->depth_bits) return;
    for (int c = 0; c < 4; ++c) {
      switch (key.swizzle[static_cast<size_t>(c)]) {
        case VK_COMPONENT_SWIZZLE_ZERO:
          v[c] = 0;
          break;
        case VK_COMPONENT_SWIZZLE_ONE:
          v[c] = 1;
          break;
        case VK_COMPONENT_SWIZZLE_R:
          v[c] = in[0];
          break;
        case VK_COMPONENT_SWIZZLE_G:
          v[c] = in[1];
          break;
        case VK_COMPONENT_SWIZZLE_B:
          v[c] = in[2];
          break;
        case VK_COMPONENT_SWIZZLE_A:
          v[c] = in[3];
          break;
        default:
          break;
      }
    }
  }

  int layer_of(double layer) const {
    const bool array =
        key.dim == VK_IMAGE_VIEW_TYPE_2D_ARRAY || key.dim == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY || key.dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY;
    const int count = cube() ? image.view.layer_count / 6 : image.view.layer_count;
    return array ? static_cast<int>(std::clamp(std::nearbyint(layer), 0.0, count - 1.0)) : 0;
  }

  /// gradients or explicit LOD.
  Answer sample(const Request& q, bool explicit_lod) const {
    Answer a;
    double s = q.s, t = q.t;
    int face = 0;
    double dsdx = q.dx[0], dtdx = q.dx[1], dsdy = q.dy[0], dtdy = q.dy[1];
    if (cube()) {
      const double v[3] = {q.s, q.t, q.r};
      double fs, ft;
      face = face_of(v, fs, ft);
      s = (fs + 1) / 2, t = (ft + 1) / 2;
      // Numerically, on the same face.
      auto derive = [&](const double* d, double& ds, double& dt) {
        const double h = 1e-6;
        double w[3] = {v[0] + h * d[0], v[1] + h * d[1], v[2] + h * d[2]}, ns, nt;
        a.unsure |= face_of(w, ns, nt) != face;
        ds = ((ns + 1) / 2 - s) / h, dt = ((nt + 1) / 2 - t) / h;
      };
      derive(q.dx, dsdx, dtdx);
      derive(q.dy, dsdy, dtdy);
    }
    const double w = image.view.level[0].width_px, h = one_d() ? 0 : image.view.level[0].height_px;
    const double depth = volume() ? image.view.level[0].depth_px : 0;
    const double rho = std::max(std::hypot(dsdx * w, dtdx * h, q.dx[2] * depth), std::hypot(dsdy * w, dtdy * h, q.dy[2] * depth));
    double lambda = explicit_lod ? q.lod : rho > 0 ? std::log2(rho) : -200;
    lambda += std::clamp(static_cast<double>(image.sampler.mip_lod_bias) + (explicit_lod ? 0 : q.bias), -16.0, 16.0);
    const double least = std::max(static_cast<double>(image.sampler.min_lod), q.min_lod);
    lambda = std::min(std::max(lambda, least), static_cast<double>(image.sampler.max_lod));  // where they cross, max_lod
    if (key.sampler.unnormalized_coordinates) lambda = 0;
    const bool differ = key.sampler.mag_filter != key.sampler.min_filter;
    a.unsure |= differ && std::fabs(lambda) < 1e-3;
    const bool integer = image.stencil || image.format->is_integer();
    const VkFilter filter = lambda <= 0 ? key.sampler.mag_filter : key.sampler.min_filter;
    const bool is_cubic = !integer && filter == VK_FILTER_CUBIC_EXT && !cube();
    const bool linear = !integer && filter != VK_FILTER_NEAREST;
    double d = std::clamp(lambda, 0.0, image.view.level_count - 1.0);
    if (key.min_lod) d = std::max(d, static_cast<double>(image.view.min_lod));
    uint32_t first, second;
    double fraction = 0;
    if (key.sampler.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_LINEAR && !integer) {
      first = static_cast<uint32_t>(std::floor(d)), second = std::min(first + 1, static_cast<uint32_t>(image.view.level_count - 1)),
      fraction = d - first;
    } else {
      a.unsure |= near_integer(d + 0.5) && d > 0;
      first = second = static_cast<uint32_t>(std::max(0.0, std::ceil(d + 0.5) - 1));
    }
    const int layer = layer_of(q.layer);
    double level_value[2][4];
    for (int k = 0; k < 2; ++k) {
      const uint32_t level = k ? second : first;
      if (is_cubic) {
        cubic(level, layer, s, t, q, level_value[k], a.unsure);
        continue;
      }
      const int slices = image.view.level[level].depth_px;
      double z = volume() ? std::clamp(q.r * slices - (linear ? 0.5 : 0), -1e6, 1e6) : 0;
      if (volume() && linear) z = kept(z, a.unsure);
      a.unsure |= volume() && !linear && near_integer(z);
      for (int c = 0; c < 4; ++c) level_value[k][c] = 0;
      for (int slice = 0; slice < (volume() && linear ? 2 : 1); ++slice) {
        bool outside = false;
        const int of =
            volume() ? wrap(key.sampler.address_w, static_cast<int>(std::floor(z)) + slice + q.offset_z, slices, outside) : layer;
        const double fz = z - std::floor(z), weight = !volume() || !linear ? 1 : slice ? fz : 1 - fz;
        double texels[4][4] = {}, fx, fy;
        footprint(level, of, face, s, t, q, linear, texels, fx, fy, a.unsure, outside);
        for (int c = 0; c < 4; ++c) {
          level_value[k][c] += weight * (linear ? (texels[0][c] * (1 - fx) + texels[1][c] * fx) * (1 - fy) +
                                                      (texels[2][c] * (1 - fx) + texels[3][c] * fx) * fy
                                                : texels[0][c]);
        }
      }
    }
    for (int c = 0; c < 4; ++c) a.v[c] = level_value[0][c] * (1 - fraction) + level_value[1][c] * fraction;
    swizzle(a.v);
    return a;
  }

  Answer gather(const Request& q, int component) const {
    Answer a;
    double s = q.s, t = q.t;
    int face = 0;
    if (cube()) {
      const double v[3] = {q.s, q.t, q.r};
      double fs, ft;
      face = face_of(v, fs, ft);
      s = (fs + 1) / 2, t = (ft + 1) / 2;
    }
    const double w = image.view.level[0].width_px, h = image.view.level[0].height_px;
    const bool plain = key.sampler.unnormalized_coordinates;
    constexpr double kLess = 0.5 - 1.0 / 512;
    a.unsure = near_integer((plain ? s : s * w) - kLess) || near_integer((plain ? t : t * h) - kLess);
    double texels[4][4] = {}, fx, fy;
    footprint(0, layer_of(q.layer), face, s, t, q, true, texels, fx, fy, a.unsure);
    const int order[4] = {2, 3, 1, 0};
    for (int k = 0; k < 4; ++k) {
      if (key.min_lod && image.view.min_lod >= 1) std::copy_n(std::begin({0.0, 0.0, 0.0, no_alpha() ? 1.0 : 0.0}), 4, texels[order[k]]);
      swizzle(texels[order[k]]);
      a.v[k] = texels[order[k]][component];
    }
    return a;
  }
};

// -- calling generated code -------------------------------------------------------------------------------------------------------

/// Arrays of every argument; a generated trampoline loads them, calls the sampler function, stores the four results.
struct alignas(64) Arguments {
  float v[16][kMaxLanes];
  uint32_t scalar[4];
};
using Trampoline = void (*)(const TextureDescriptor*, const Arguments*, float (*out)[kMaxLanes]);

Trampoline make_trampoline(Jit& jit, const char* name, Type (*type)(const Ir&), size_t slot) {
  CodeKey key("test_sampler_trampoline");
  key.add_bytes(name, std::strlen(name));
  auto f = jit.function(key, [&](LLVMModuleRef module, const char* symbol) -> Status {
    Ir ir(module, jit.lanes());
    Type parameters[3] = {ir.ptr, ir.ptr, ir.ptr};
    Value fn = ir.function(symbol, LLVMFunctionType(ir.void_type, parameters, 3, 0));
    ir.at(ir.block(fn, "entry"));
    Type callee = type(ir);
    std::vector<Type> types(LLVMCountParamTypes(callee));
    LLVMGetParamTypes(callee, types.data());
    std::vector<Value> arguments = {LLVMGetParam(fn, 0)};
    uint32_t vectors = 0, scalars = 0;
    for (size_t k = 1; k < types.size(); ++k) {
      const bool vector = LLVMGetTypeKind(types[k]) == LLVMVectorTypeKind;
      const size_t at = vector ? sizeof(float) * kMaxLanes * vectors++ : offsetof(Arguments, scalar) + 4 * scalars++;
      arguments.push_back(ir.field(types[k], LLVMGetParam(fn, 1), at, 4));
    }
    Value result = call_sampler(ir, callee, slot, arguments.data(), static_cast<uint32_t>(arguments.size()), false);
    for (uint32_t c = 0; c < 4; ++c)
      ir.store(ir.extract_value(result, c), ir.offset(LLVMGetParam(fn, 2), c * sizeof(float) * kMaxLanes), 4);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  });
  if (!CHECK_MESSAGE(f, f ? "" : f.error().message)) return nullptr;
  return reinterpret_cast<Trampoline>((*f)->address.load());
}

struct Lab {
  std::unique_ptr<Jit> jit;
  Trampoline gradient, lod, fetch, gather, implicit, min_lod;
};
std::vector<Lab> all_labs;  // 8, 4, 16 lanes; 16 with AVX-512 and gathers where the CPU has them
size_t lab_count = 3;       // in use: where 8 lanes alone must do, 1

bool make_labs() {
  for (uint32_t lanes : {8u, 4u, 16u}) {
    const bool wide = lanes == 16 && has_wide_vectors();
    setenv("TILEGPU_GATHERS", "1", 1);
    auto jit = Jit::create({lanes, wide ? "x86-64-v4" : "baseline", "off"});
    unsetenv("TILEGPU_GATHERS");
    if (!CHECK(jit)) return false;
    Lab lab;
    lab.jit = std::move(*jit);
    lab.gradient = make_trampoline(*lab.jit, "gradient", sample_gradient_type, offsetof(TextureDescriptor, sample_gradient));
    lab.lod = make_trampoline(*lab.jit, "lod", sample_lod_type, offsetof(TextureDescriptor, sample_lod));
    lab.fetch = make_trampoline(*lab.jit, "fetch", fetch_type, offsetof(TextureDescriptor, fetch));
    lab.gather = make_trampoline(*lab.jit, "gather", gather_type, offsetof(TextureDescriptor, gather));
    lab.implicit = make_trampoline(*lab.jit, "implicit", sample_implicit_type, offsetof(TextureDescriptor, sample_implicit));
    lab.min_lod = make_trampoline(*lab.jit, "min_lod", sample_min_lod_type, offsetof(TextureDescriptor, sample_min_lod));
    if (!lab.min_lod || !lab.gradient || !lab.lod || !lab.fetch || !lab.gather || !lab.implicit) return false;
    all_labs.push_back(std::move(lab));
  }
  return true;
}

enum class Op { gradient, lod, gather, min_lod };

/// sample_implicit gives the bits of sample_gradient without a bias. `a`: of sample_gradient.
void check_implicit(Lab& lab, const SamplerKey& key, Texture& image, Arguments a) {
  using namespace gradient_arg;
  const uint32_t lanes = lab.jit->lanes();
  auto functions = compile_sampler(*lab.jit, key, kUseImplicit);
  if (!CHECK_MESSAGE(functions, functions ? "" : functions.error().message)) return;
  image.descriptor.sample_implicit = functions->implicit;
  Arguments b{};
  for (uint32_t l = 0; l < lanes; ++l) {
    const auto of = [&](uint32_t parameter) { return a.v[parameter - 1][l]; };
    a.v[bias - 1][l] = 0;
    const auto squared = [&](float ds, float dt) {
      const float u = ds * image.view.width_f,
                  v = key.dim == VK_IMAGE_VIEW_TYPE_1D || key.dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY ? 0 : dt * image.view.height_f;
      return std::fma(u, u, v * v);
    };
    b.v[implicit_arg::s - 1][l] = of(s), b.v[implicit_arg::t - 1][l] = of(t);
    b.v[implicit_arg::dref - 1][l] = of(dref), b.v[implicit_arg::layer - 1][l] = of(layer);
    const float x = squared(of(dsdx), of(dtdx)), y = squared(of(dsdy), of(dtdy)), longer = x > y ? x : y;
    b.v[implicit_arg::rho2 - 1][l] = longer > 0 ? longer : 0;
  }
  std::copy(std::begin(a.scalar), std::end(a.scalar), std::begin(b.scalar));
  float want[4][kMaxLanes], have[4][kMaxLanes];
  lab.gradient(&image.descriptor, &a, want), lab.implicit(&image.descriptor, &b, have);
  for (int c = 0; c < 4; ++c) CHECK(std::memcmp(want[c], have[c], lanes * sizeof(float)) == 0);
}

/// Sixteen requests through every lane count; `out[lab][request][component]`.
bool call(const SamplerKey& key, Texture& image, Op op, const Request requests[16], int component, float out[3][16][4]) {
  fill_lod_limits(image.sampler);
  for (size_t n = 0; n < lab_count; ++n) {
    Lab& lab = all_labs[n];
    const uint16_t use = op == Op::gradient ? kUseGradient : op == Op::lod ? kUseLod : op == Op::min_lod ? kUseMinLod : kUseGather;
    auto functions = compile_sampler(*lab.jit, key, use);
    if (!CHECK_MESSAGE(functions, functions ? "" : functions.error().message)) return false;
    image.descriptor.sample_gradient = functions->gradient, image.descriptor.sample_lod = functions->lod,
    image.descriptor.gather = functions->gather, image.descriptor.sample_min_lod = functions->min_lod;
    const uint32_t lanes = lab.jit->lanes();
    for (uint32_t base = 0; base < 16; base += lanes) {
      Arguments a{};
      float result[4][kMaxLanes];
      for (uint32_t l = 0; l < lanes; ++l) {
        const Request& q = requests[base + l];
        auto put = [&](uint32_t parameter, double v) { a.v[parameter - 1][l] = static_cast<float>(v); };
        if (op == Op::gradient || op == Op::min_lod) {
          using namespace gradient_arg;
          a.v[drdy][l] = static_cast<float>(q.min_lod);  // the vector behind it
          put(s, q.s), put(t, q.t), put(r, q.r), put(dsdx, q.dx[0]), put(dtdx, q.dx[1]), put(drdx, q.dx[2]), put(dsdy, q.dy[0]),
              put(dtdy, q.dy[1]), put(drdy, q.dy[2]);
          put(bias, q.bias), put(dref, q.dref), put(layer, q.layer);
        } else if (op == Op::lod) {
          put(lod_arg::s, q.s), put(lod_arg::t, q.t), put(lod_arg::r, q.r), put(lod_arg::lod, q.lod), put(lod_arg::dref, q.dref),
              put(lod_arg::layer, q.layer);
        } else {
          put(gather_arg::s, q.s), put(gather_arg::t, q.t), put(gather_arg::r, q.r), put(gather_arg::dref, q.dref),
              put(gather_arg::layer, q.layer);
          a.v[gather_arg::offset_x - 1][l] = std::bit_cast<float>(q.offset_x),
                                     a.v[gather_arg::offset_y - 1][l] = std::bit_cast<float>(q.offset_y);
        }
      }
      const uint32_t mask = (1u << lanes) - 1;
      if (op == Op::gather) {
        a.scalar[0] = static_cast<uint32_t>(component), a.scalar[1] = mask;
      } else {
        a.scalar[0] = static_cast<uint32_t>(requests[0].offset_x), a.scalar[1] = static_cast<uint32_t>(requests[0].offset_y),
        a.scalar[2] = mask, a.scalar[3] = static_cast<uint32_t>(requests[0].offset_z);
      }
      const Trampoline function = op == Op::gradient  ? lab.gradient
                                  : op == Op::lod     ? lab.lod
                                  : op == Op::min_lod ? lab.min_lod
                                                      : lab.gather;
      function(&image.descriptor, &a, result);
      for (uint32_t l = 0; l < lanes; ++l) {
        for (int c = 0; c < 4; ++c) out[n][base + l][c] = result[c][l];
      }
      if (op == Op::gather) continue;
      if (op == Op::gradient && key.dim != VK_IMAGE_VIEW_TYPE_CUBE && key.dim != VK_IMAGE_VIEW_TYPE_CUBE_ARRAY &&
          key.dim != VK_IMAGE_VIEW_TYPE_3D)
        check_implicit(lab, key, image, a);
      a.scalar[2] = mask | kWithoutAlpha;
      float without[4][kMaxLanes];
      function(&image.descriptor, &a, without);
      for (int c = 0; c < 3; ++c) CHECK(std::memcmp(without[c], result[c], lanes * sizeof(float)) == 0);
    }
  }
  return true;
}

Request random_request(Op op, bool cube, float span) {
  auto uniform = [&](float a, float b) { return static_cast<double>(std::uniform_real_distribution<float>(a, b)(rng)); };
  Request q;
  q.s = uniform(-span, span), q.t = uniform(-span, span), q.r = uniform(-span, span);
  q.layer = uniform(-1, 5), q.lod = uniform(-2, 6), q.bias = rng() % 2 ? uniform(-1, 1) : 0, q.dref = uniform(-0.1f, 1.1f);
  const float scale = std::exp2(static_cast<float>(uniform(-9, -1)));
  for (int k = 0; k < 3; ++k) q.dx[k] = uniform(-scale, scale), q.dy[k] = uniform(-scale, scale);
  if (op == Op::gather) q.offset_x = static_cast<int>(rng() % 40) - 20, q.offset_y = static_cast<int>(rng() % 40) - 20;
  if (cube && rng() % 3 == 0) q.s = q.t * (1 + uniform(-0.02f, 0.02f)) * (rng() % 2 ? 1 : -1);  // near edges
  if (cube && rng() % 6 == 0) q.s = q.t * (1 + uniform(-0.02f, 0.02f)), q.r = q.t * (1 + uniform(-0.02f, 0.02f));
  if (cube) q.offset_x = q.offset_y = 0;
  // What the code sees is float.
  for (double* v : {&q.s, &q.t, &q.r, &q.layer, &q.lod, &q.bias, &q.dref}) *v = static_cast<float>(*v);
  return q;
}

void check(const char* what, const SamplerKey& key, Texture& image, Op op, const Request requests[16]) {
  const int component = static_cast<int>(rng() % (key.sampler.compare_enable ? 1 : 4));
  static float out[3][16][4];
  if (!call(key, image, op, requests, component, out)) return;
  if (lab_count == 3) {
    CHECK_MESSAGE(std::memcmp(out[0], out[1], sizeof out[0]) == 0 && std::memcmp(out[0], out[2], sizeof out[0]) == 0,
                  std::string(what) + " differs between lane counts");
  }
  const Model model{image, key};
  const bool integer = image.stencil || image.format->is_integer();
  for (int k = 0; k < 16; ++k) {
    const Answer want = op == Op::gather ? model.gather(requests[k], component) : model.sample(requests[k], op == Op::lod);
    if (want.unsure) continue;
    for (int c = 0; c < (key.sampler.compare_enable && op != Op::gather ? 1 : 4); ++c) {
      const double got = integer ? static_cast<double>(std::bit_cast<uint32_t>(out[0][k][c])) : static_cast<double>(out[0][k][c]);
      const double tolerance = integer ? 0 : 2e-4 * std::max(1.0, std::fabs(want.v[c]));
      if (std::fabs(got - want.v[c]) <= tolerance) continue;
      char text[400];
      std::snprintf(text, sizeof text, "%s %s dim %d op %d request %d component %d: %g, expected %g (s %g t %g r %g lod %g)", what,
                    image.format->name, key.dim, static_cast<int>(op), k, c, got, want.v[c], requests[k].s, requests[k].t, requests[k].r,
                    requests[k].lod);
      CHECK_MESSAGE(false, text);
      return;
    }
  }
  CHECK(true);
}

void run(const char* what, SamplerKey key, Texture& image, Op op, float span = 2.5f, bool offsets = false, int rounds = 3) {
  if (!test::tries_next()) return;
  key.has_sampler = true;
  const bool cube = key.dim == VK_IMAGE_VIEW_TYPE_CUBE || key.dim == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
  for (int n = 0; n < rounds; ++n) {
    Request requests[16];
    for (Request& q : requests) q = random_request(op, cube, span);
    for (Request& q : requests) {
      if (op != Op::gather) q.offset_x = offsets ? requests[0].offset_x : 0, q.offset_y = offsets ? requests[0].offset_y : 0;
      if (n != 1) continue;  // one round with one LOD for all
      q.lod = requests[0].lod;
      std::copy_n(requests[0].dx, 3, q.dx);
      std::copy_n(requests[0].dy, 3, q.dy);
    }
    if (offsets && op != Op::gather) {
      const int ox = static_cast<int>(rng() % 17) - 8, oy = static_cast<int>(rng() % 17) - 8;
      const int oz = static_cast<int>(rng() % 17) - 8;
      for (Request& q : requests) q.offset_x = ox, q.offset_y = oy, q.offset_z = oz;
    }
    check(what, key, image, op, requests);
  }
}

SamplerKey basic(VkFormat format, VkImageViewType dim = VK_IMAGE_VIEW_TYPE_2D) {
  SamplerKey key;
  key.format = format, key.dim = dim;
  return key;
}

// -- tests ------------------------------------------------------------------------------------------------------------------------

void test_formats() {
  for (uint32_t f = 1; f < 200; ++f) {
    const auto* info = vk::find_format(static_cast<VkFormat>(f));
    if (!info || !info->sampled || info->is_compressed()) continue;  // tests/test_compressed_formats.py
    for (bool stencil : {false, true}) {
      if (info->is_depth_stencil() ? (stencil ? !info->stencil_bits : !info->depth_bits) : stencil) continue;
      lab_count = f % 5 == 2 ? 3 : 1;
      Texture image(info->format, 13, 9, 3, 1, 1, stencil);
      SamplerKey key = basic(info->format);
      if (info->is_depth_stencil()) key.aspect = stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_DEPTH_BIT;
      run("format", key, image, Op::lod, 1.5f, false, 2);
    }
  }
  lab_count = 3;
}

void test_address_modes() {
  for (auto [w, h] : {std::pair{16u, 8u}, {5u, 7u}, {1u, 1u}, {3u, 2u}}) {
    for (int mode = 0; mode < 5; ++mode) {
      lab_count = mode % 3 == 0 ? 3 : 1;
      Texture image(VK_FORMAT_R8G8B8A8_UNORM, w, h, w > 4 ? 3 : 1, 1);
      image.sampler.border[0] = 1, image.sampler.border[3] = 1;
      SamplerKey key = basic(image.format->format);
      key.sampler.address_u = static_cast<VkSamplerAddressMode>(mode),
      key.sampler.address_v = static_cast<VkSamplerAddressMode>((mode + w) % 5);
      run("address linear", key, image, Op::gradient);
      run("address offset", key, image, Op::lod, 4, true);
      run("address gather", key, image, Op::gather, 4);
      key.sampler.mag_filter = key.sampler.min_filter = VK_FILTER_NEAREST, key.sampler.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
      run("address nearest", key, image, Op::gradient, 4, true);
      run("address far", key, image, Op::lod, 3000);
    }
  }
}

void test_filters_and_lods() {
  lab_count = 3;
  Texture image(VK_FORMAT_R8G8B8A8_UNORM, 64, 32, 6, 1);
  for (int k = 0; k < 8; ++k) {
    SamplerKey key = basic(image.format->format);
    key.sampler.mag_filter = static_cast<VkFilter>(k & 1), key.sampler.min_filter = static_cast<VkFilter>(k >> 1 & 1);
    key.sampler.mipmap_mode = static_cast<VkSamplerMipmapMode>(k >> 2);
    run("filters", key, image, Op::gradient);
    image.sampler.mip_lod_bias = 0.7f, image.sampler.min_lod = 0.4f, image.sampler.max_lod = 3.3f;
    run("lod limits", key, image, Op::gradient);
    run("lod limits", key, image, Op::lod);
    image.sampler.mip_lod_bias = 0, image.sampler.min_lod = -1000, image.sampler.max_lod = 1000;
  }
  SamplerKey plain = basic(image.format->format);
  plain.sampler.unnormalized_coordinates = true, plain.sampler.address_u = plain.sampler.address_v = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  run("unnormalised", plain, image, Op::lod, 80);
  SamplerKey swizzled = basic(image.format->format);
  swizzled.swizzle = {VK_COMPONENT_SWIZZLE_B, VK_COMPONENT_SWIZZLE_ONE, VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_R};
  run("swizzle", swizzled, image, Op::lod);
  run("swizzle", swizzled, image, Op::gather);
}

/// Sums of 8-bit codes to the bit, from the rule at the head of shader/sampler/fixed.cpp.
float fixed_component_of(const Texture& image, VkSamplerAddressMode mode, const Request& q, uint32_t component) {
  const float d = std::clamp(static_cast<float>(q.lod), 0.0f, static_cast<float>(image.levels - 1));
  const int scaled = static_cast<int>(d * 32768), first = scaled >> 15, of_second = scaled & 32767;
  auto position = [&](double coordinate, int size) {
    const float c = static_cast<float>(coordinate), scale = 65536.0f * static_cast<float>(size);
    if (mode != VK_SAMPLER_ADDRESS_MODE_REPEAT) return static_cast<int>(std::floor(std::fma(c, scale, -32640.0f))) & ~255;
    const float middle = c - 0.5f, m = middle - std::nearbyint(middle);
    return static_cast<int>(std::floor(std::fma(m, scale, 32768.0f * static_cast<float>(size) - 32640))) & ~255;
  };
  int sum = 0, weights = 0;
  for (int k = 0; k < 2; ++k) {
    const auto level = static_cast<uint32_t>(std::min(first + k, static_cast<int>(image.levels) - 1));
    const ViewLevel& l = image.view.level[level];
    const int all = k ? of_second : 32767 - of_second, u = position(q.s, l.width_px), v = position(q.t, l.height_px);
    const int right = all * (u & 0xffff) >> 16, column[2] = {all - right, right};
    for (int corner = 0; corner < 4; ++corner) {
      const int w = column[corner & 1], lower = static_cast<int>(static_cast<int64_t>(w) * (v & 0xffff) >> 16);
      bool outside = false;
      const int x = wrap(mode, (u >> 16) + (corner & 1), l.width_px, outside),
                y = wrap(mode, (v >> 16) + (corner >> 1), l.height_px, outside);
      const int weight = corner >> 1 ? lower : w - lower;
      weights += weight;
      sum += weight * l.data[static_cast<size_t>(y) * l.row_pitch_B + static_cast<size_t>(x) * 4 + component];
    }
  }
  CHECK(weights == 32767);
  const auto whole = static_cast<float>(1.0 / (255 * 32767)), rest = static_cast<float>(1.0 / (255 * 32767) - static_cast<double>(whole));
  return std::fma(static_cast<float>(sum), whole, static_cast<float>(sum) * rest);
}

void test_fixed_rule() {
  lab_count = 3;
  for (auto [w, h] : {std::pair{64u, 32u}, {13u, 21u}, {1u, 2u}}) {
    for (VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM}) {
      Texture image(format, w, h, w == 64 ? 6 : w == 13 ? 3 : 1, 1);
      for (VkSamplerAddressMode mode :
           {VK_SAMPLER_ADDRESS_MODE_REPEAT, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE}) {
        SamplerKey key = basic(format);
        key.has_sampler = true, key.sampler.address_u = key.sampler.address_v = mode;
        for (int n = 0; n < 40; ++n) {
          Request requests[16];
          for (Request& q : requests) {
            q = random_request(Op::lod, false, n % 4 ? 1.5f : 90.0f);
            // Texel centres and borders, whole levels; with small coordinates all lanes lie inside.
            if (n % 3 == 0) q.s = std::nearbyint(q.s * 128) / 128, q.t = std::nearbyint(q.t * 128) / 128, q.lod = std::nearbyint(q.lod);
            if (n % 5 == 0) q.s = 0.3 + 0.001 * q.s, q.t = 0.4 + 0.001 * q.t;
            q.s = static_cast<float>(q.s), q.t = static_cast<float>(q.t);
          }
          static float out[3][16][4];
          if (!call(key, image, Op::lod, requests, 0, out)) return;
          bool good = true;
          for (int k = 0; k < 16; ++k) {
            for (uint32_t component = 0; component < 4; ++component) {
              const uint32_t byte = format == VK_FORMAT_B8G8R8A8_UNORM && component != 3 ? 2 - component : component;
              const float want = fixed_component_of(image, mode, requests[k], byte);
              for (auto& lab : out) good &= std::bit_cast<uint32_t>(lab[k][component]) == std::bit_cast<uint32_t>(want);
            }
          }
          CHECK_MESSAGE(good, "filter by integers, mode " + std::to_string(mode));
        }
      }
    }
  }
}

/// rgba16f to the bit: four texels whose halves became floats, mixed by a + w * (b - a), where w is 0 and that is no number, by a.
/// Infinities, NaN and the least numbers are among them; one of them may not reach another lane or component.
void test_halves() {
  lab_count = 3;
  for (auto [w, h] : {std::pair{64u, 32u}, {13u, 21u}, {1u, 2u}}) {
    Texture image(VK_FORMAT_R16G16B16A16_SFLOAT, w, h, 1, 1);
    SamplerKey key = basic(image.format->format);
    key.has_sampler = true;
    for (int n = 0; n < 60; ++n) {
      key.one_level = n % 2;
      constexpr uint16_t kSpecial[] = {0x7c00, 0xfc00, 0x7e01, 0xfe00, 0x7c01, 0x0001, 0x83ff, 0x8000, 0x7bff};
      if (n % 3 == 1)
        for (int k = 0; k < 2; ++k) std::memcpy(image.memory.data() + rng() % (w * h * 4) * 2, &kSpecial[rng() % 9], 2);
      const auto mode = n % 4 < 2 ? VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE : VK_SAMPLER_ADDRESS_MODE_REPEAT;
      key.sampler.address_u = key.sampler.address_v = mode;
      Request requests[16];
      for (Request& q : requests) {
        q = random_request(Op::lod, false, 1.5f);
        if (n % 5) q.s = 0.3 + 0.1 * q.s / 1.5, q.t = 0.4 + 0.1 * q.t / 1.5;
        q.s = static_cast<float>(q.s), q.t = static_cast<float>(q.t), q.lod = 0;
      }
      static float out[3][16][4];
      if (!call(key, image, Op::lod, requests, 0, out)) return;
      bool good = std::memcmp(out[0], out[1], sizeof out[0]) == 0 && std::memcmp(out[0], out[2], sizeof out[0]) == 0;
      for (int k = 0; k < 16; ++k) {
        float weight[2];
        int low[2];
        for (int axis = 0; axis < 2; ++axis) {
          float c = static_cast<float>(axis ? requests[k].t : requests[k].s);
          if (mode == VK_SAMPLER_ADDRESS_MODE_REPEAT) c -= std::floor(c);
          const float u = std::fma(c, static_cast<float>(axis ? h : w), -0.5f + 1.0f / 512);
          low[axis] = static_cast<int>(std::floor(u)), weight[axis] = std::floor(256 * (u - std::floor(u))) / 256;
        }
        const auto texel = [&](int dx, int dy) {
          bool outside = false;
          const int x = wrap(mode, low[0] + dx, static_cast<int>(w), outside), y = wrap(mode, low[1] + dy, static_cast<int>(h), outside);
          return image.texel(0, 0, 0, x, y);
        };
        const vk::Texel corners[4] = {texel(0, 0), texel(1, 0), texel(0, 1), texel(1, 1)};
        for (int c = 0; c < 4; ++c) {
          const auto mix = [](float a, float b, float by) {
            const float sum = std::fma(b - a, by, a);
            return std::isnan(sum) && by == 0 ? a : sum;
          };
          const float want =
              mix(mix(corners[0].f[c], corners[1].f[c], weight[0]), mix(corners[2].f[c], corners[3].f[c], weight[0]), weight[1]);
          const float have = out[0][k][c];
          good &= std::isnan(want) ? std::isnan(have) : std::bit_cast<uint32_t>(want) == std::bit_cast<uint32_t>(have);
        }
      }
      CHECK_MESSAGE(good, "filter of halves, mode " + std::to_string(mode) + ", round " + std::to_string(n));
    }
  }
}

/// Blocks of pixels that go in step with texels, at centres along both axes, one or none, by views of one level: the bits of the same
/// places in a view of which more may be asked, where four texels are always filtered, and of narrower packets.
void test_steps() {
  lab_count = 3;
  for (const VkFormat format :
       {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8_UNORM, VK_FORMAT_R16_SFLOAT,
        VK_FORMAT_R8G8_SNORM, VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_R32_SFLOAT,
        VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_D32_SFLOAT}) {
    for (auto [w, h] : {std::pair{64, 32}, {20, 12}, {12, 4}}) {
      Texture image(format, static_cast<uint32_t>(w), static_cast<uint32_t>(h), 1, 1);
      for (int n = 0; n < 48; ++n) {
        constexpr uint16_t kSpecial[] = {0x7c00, 0xfc00, 0x7e01, 0xfe00, 0x7c01, 0x0001, 0x83ff, 0x8000, 0x7bff};
        if (n >= 12 && image.format->numeric == vk::Numeric::sfloat)
          for (int k = 0; k < w * h / 2; ++k)
            std::memcpy(image.memory.data() + rng() % (static_cast<size_t>(w * h) * image.format->texel_B / 2) * 2,
                        &kSpecial[n % 4 == 3 ? 7 : rng() % 9], 2);
        SamplerKey key = basic(format);
        key.has_sampler = true, key.sampler.address_u = key.sampler.address_v = static_cast<VkSamplerAddressMode>(rng() % 4);
        key.sampler.compare_enable = format == VK_FORMAT_D32_SFLOAT && n % 2, key.sampler.compare_op = VK_COMPARE_OP_LESS;
        const int x = static_cast<int>(rng() % static_cast<uint32_t>(w)) - 2, y = static_cast<int>(rng() % static_cast<uint32_t>(h)) - 2;
        const auto between = [&](bool centre) { return centre ? 0.0 : n % 3 ? (rng() % 256) / 256.0 : 0.5; };
        const double fx = between(n & 1), fy = between(n & 2), step_x = n % 7 == 6 ? 2 : 1, step_y = n % 11 == 10 ? 0.5 : 1;
        Request requests[16];
        for (int lane = 0; lane < 16; ++lane) {
          Request& q = requests[lane] = random_request(Op::lod, false, 1);
          const int column = (lane >> 2 & 1) * 2 + (lane & 1), row = (lane >> 3 & 1) * 2 + (lane >> 1 & 1);
          q.s = static_cast<float>((x + column * step_x + 0.5 + fx) / w), q.t = static_cast<float>((y + row * step_y + 0.5 + fy) / h);
          if (n % 13 == 12 && lane == 9) q.s += 0.5;
          if (n == 47) q.s = lane % 2 ? NAN : INFINITY;
          q.lod = 0, q.offset_x = n % 5 == 4 ? 1 : 0, q.offset_y = n % 10 == 9 ? -2 : 0;
          q.dref = requests[0].dref;
        }
        static float out[2][3][16][4];
        for (int k = 0; k < 2; ++k) {
          key.one_level = k;
          if (!call(key, image, Op::lod, requests, 0, out[k])) return;
        }
        bool good = true;
        for (int k = 1; k < 6; ++k) good &= std::memcmp(out[0][0], out[k / 3][k % 3], sizeof out[0][0]) == 0;
        CHECK_MESSAGE(good, std::string("in step, ") + image.format->name + ", round " + std::to_string(n));
      }
    }
  }
}

/// Packets of which all lanes, or all but one, are magnified; and the limits that forbid to say so by the derivatives alone.
void test_magnified() {
  lab_count = 3;
  for (uint32_t levels : {6u, 1u}) {
    Texture image(VK_FORMAT_R8G8B8A8_UNORM, 64, 32, levels, 1);
    SamplerKey key = basic(image.format->format);
    key.has_sampler = true;
    for (int n = 0; n < 160; ++n) {
      image.sampler.mip_lod_bias = n % 4 == 1 ? 0.3f : n % 4 == 2 ? -0.3f : 0.0f;
      image.sampler.min_lod = n % 5 == 4 ? 0.25f : -1000.0f, image.sampler.max_lod = n % 7 == 6 ? 0.0f : 1000.0f;
      Request requests[16];
      for (Request& q : requests) {
        q = random_request(Op::gradient, false, 2);
        const bool small = n % 3 || &q != &requests[5];
        const double rho = std::uniform_real_distribution<double>(0.7, small ? 1.0 : 1.5)(rng) + (n % 6 == 0 ? 0.1 : 0);
        q.dx[0] = rho / 64, q.dx[1] = q.dx[2] = q.dy[0] = q.dy[2] = 0, q.dy[1] = 0.5 * rho / 32;
        q.bias = n % 8 == 7 ? q.bias : n % 8 == 3 ? -0.2 : 0;
      }
      check("magnified", key, image, Op::gradient, requests);
    }
  }
}

void test_dimensions() {
  struct Case {
    VkImageViewType dim;
    uint32_t w, h, layers;
  };
  for (const Case& c :
       {Case{VK_IMAGE_VIEW_TYPE_1D, 17, 1, 1}, Case{VK_IMAGE_VIEW_TYPE_1D_ARRAY, 16, 1, 4}, Case{VK_IMAGE_VIEW_TYPE_2D_ARRAY, 12, 20, 5},
        Case{VK_IMAGE_VIEW_TYPE_CUBE, 8, 8, 6}, Case{VK_IMAGE_VIEW_TYPE_CUBE, 1, 1, 6}, Case{VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, 16, 16, 18}}) {
    Texture image(VK_FORMAT_R8G8B8A8_UNORM, c.w, c.h, c.w > 1 ? 3 : 1, c.layers);
    SamplerKey key = basic(image.format->format, c.dim);
    for (int filter = 0; filter < 2; ++filter) {
      key.sampler.mag_filter = key.sampler.min_filter = static_cast<VkFilter>(filter);
      run("dimension", key, image, Op::lod, 2, false, 8);
      run("dimension", key, image, Op::gradient, 2, false, 8);
    }
    if (c.h > 1) run("dimension", key, image, Op::gather, 2, false, 6);
  }
}

/// Faces as images by themselves: every address mode at their edges, of words, wide texels, integers and what is compared.
void test_non_seamless_cubes() {
  for (auto [side, layers] : {std::array{8u, 6u}, {1u, 6u}, {5u, 12u}}) {
    for (int mode = 0; mode < 5; ++mode) {
      for (VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R16_UINT, VK_FORMAT_D16_UNORM}) {
        Texture image(format, side, side, side > 4 ? 2 : 1, layers);
        SamplerKey key = basic(format, layers > 6 ? VK_IMAGE_VIEW_TYPE_CUBE_ARRAY : VK_IMAGE_VIEW_TYPE_CUBE);
        key.sampler.non_seamless_cube_map = true;
        key.sampler.address_u = static_cast<VkSamplerAddressMode>(mode);
        key.sampler.address_v = static_cast<VkSamplerAddressMode>((mode + side) % 5);
        if (image.format->is_integer()) key.sampler.border_color = VK_BORDER_COLOR_INT_TRANSPARENT_BLACK;
        if (!image.format->is_integer()) image.sampler.border[0] = 1;
        if (image.format->depth_bits) {
          key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
          key.sampler.compare_enable = true, key.sampler.compare_op = VK_COMPARE_OP_LESS_OR_EQUAL;
        }
        run("non-seamless cube", key, image, Op::lod, 2, false, 4);
        run("non-seamless cube", key, image, Op::gather, 2, false, 2);
        key.sampler.mag_filter = key.sampler.min_filter = VK_FILTER_NEAREST;
        run("non-seamless cube", key, image, Op::gradient, 2, false, 2);
      }
    }
  }
}

/// 3D: eight texels, the third axis with modes, offsets and sizes of its own.
void test_volumes() {
  lab_count = 3;
  for (auto [w, h, depth] : {std::array{16u, 8u, 12u}, {5u, 7u, 3u}, {1u, 1u, 1u}, {3u, 2u, 9u}}) {
    for (int mode = 0; mode < 5; ++mode) {
      for (VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8_UNORM, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R16_UINT}) {
        Texture image(format, w, h, w > 4 ? 3 : 1, depth, 1, false, true);
        image.sampler.border[0] = 1, image.sampler.border[3] = 1;
        SamplerKey key = basic(format, VK_IMAGE_VIEW_TYPE_3D);
        key.sampler.address_u = static_cast<VkSamplerAddressMode>((mode + 2) % 5);
        key.sampler.address_v = static_cast<VkSamplerAddressMode>((mode + w) % 5);
        key.sampler.address_w = static_cast<VkSamplerAddressMode>(mode);
        if (image.format->is_integer()) key.sampler.border_color = VK_BORDER_COLOR_INT_TRANSPARENT_BLACK;
        if (image.format->is_integer()) std::fill_n(image.sampler.border, 4, 0.0f);
        run("volume linear", key, image, Op::gradient, 2.5f, false, 4);
        run("volume offset", key, image, Op::lod, 4, true);
        key.sampler.mag_filter = VK_FILTER_NEAREST;
        run("volume mixed", key, image, Op::gradient);
        key.sampler.min_filter = VK_FILTER_NEAREST, key.sampler.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
        run("volume nearest", key, image, Op::gradient, 4, true);
        run("volume far", key, image, Op::lod, 3000);
      }
    }
  }
  lab_count = 1;
  for (uint32_t f = 1; f < 200; ++f) {
    const auto* info = vk::find_format(static_cast<VkFormat>(f));
    if (!info || !info->sampled || info->is_depth_stencil() || info->is_compressed()) continue;
    Texture image(info->format, 6, 5, 2, 4, 1, false, true);
    run("volume format", basic(info->format, VK_IMAGE_VIEW_TYPE_3D), image, Op::lod, 1.5f, false, 2);
  }
  lab_count = 3;
}

/// Sixteen texels of every format, four and sixty-four of some; with every address mode, offsets, border, comparison, sizes of one texel.
void test_cubic() {
  const auto both = [](SamplerKey& key, VkFilter mag, VkFilter min) { key.sampler.mag_filter = mag, key.sampler.min_filter = min; };
  for (uint32_t f = 1; f < 200; ++f) {
    const auto* info = vk::find_format(static_cast<VkFormat>(f));
    if (!info || !info->sampled || info->is_compressed() || (info->is_depth_stencil() && !info->depth_bits)) continue;
    lab_count = f % 5 == 2 ? 3 : 1;
    Texture image(info->format, 13, 9, 3, 1);
    SamplerKey key = basic(info->format);
    if (info->is_depth_stencil()) key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
    both(key, VK_FILTER_CUBIC_EXT, VK_FILTER_CUBIC_EXT);
    run("cubic format", key, image, Op::lod, 1.5f, false, 2);
  }
  lab_count = 3;
  for (auto [w, h, depth] : {std::array{16u, 8u, 12u}, {5u, 7u, 3u}, {1u, 1u, 1u}, {3u, 2u, 9u}}) {
    for (int mode = 0; mode < 5; ++mode) {
      Texture image(VK_FORMAT_R8G8B8A8_UNORM, w, h, w > 4 ? 3 : 1, 1),
          volume(VK_FORMAT_R16_UNORM, w, h, w > 4 ? 3 : 1, depth, 1, false, true);
      Texture line(VK_FORMAT_R32G32B32A32_SFLOAT, w, 1, w > 4 ? 3 : 1, 4);
      for (Texture* texture : {&image, &volume, &line}) {
        texture->sampler.border[0] = 1, texture->sampler.border[3] = 1;
        SamplerKey key = basic(texture->format->format, texture == &volume  ? VK_IMAGE_VIEW_TYPE_3D
                                                        : texture == &image ? VK_IMAGE_VIEW_TYPE_2D
                                                                            : VK_IMAGE_VIEW_TYPE_1D_ARRAY);
        key.sampler.address_u = static_cast<VkSamplerAddressMode>(mode);
        key.sampler.address_v = static_cast<VkSamplerAddressMode>((mode + w) % 5);
        key.sampler.address_w = static_cast<VkSamplerAddressMode>((mode + 2) % 5);
        both(key, VK_FILTER_CUBIC_EXT, VK_FILTER_CUBIC_EXT);
        run("cubic", key, *texture, Op::gradient, 2.5f, false, 2);
        run("cubic offset", key, *texture, Op::lod, 4, true, 2);
        run("cubic far", key, *texture, Op::lod, 3000, false, 1);
        both(key, VK_FILTER_CUBIC_EXT, mode % 2 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST);
        run("cubic magnified", key, *texture, Op::gradient, 2.5f, false, 2);
        both(key, mode % 2 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST, VK_FILTER_CUBIC_EXT);
        key.sampler.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
        run("cubic minified", key, *texture, Op::gradient, 2.5f, false, 2);
      }
    }
  }
  Texture shadow(VK_FORMAT_D32_SFLOAT, 16, 16, 4, 1);
  SamplerKey key = basic(VK_FORMAT_D32_SFLOAT);
  key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT, key.sampler.compare_enable = true, key.sampler.compare_op = VK_COMPARE_OP_LESS;
  both(key, VK_FILTER_CUBIC_EXT, VK_FILTER_CUBIC_EXT);
  run("cubic compare", key, shadow, Op::lod, 2);
  Texture cube(VK_FORMAT_R8G8B8A8_UNORM, 8, 8, 3, 6);
  SamplerKey of_cube = basic(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_VIEW_TYPE_CUBE);
  both(of_cube, VK_FILTER_CUBIC_EXT, VK_FILTER_CUBIC_EXT);
  run("cubic cube is linear", of_cube, cube, Op::lod, 2);
  SamplerKey plain = basic(VK_FORMAT_R8G8B8A8_UNORM);
  plain.sampler.unnormalized_coordinates = true, plain.sampler.address_u = plain.sampler.address_v = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  both(plain, VK_FILTER_CUBIC_EXT, VK_FILTER_CUBIC_EXT);
  Texture image(VK_FORMAT_R8G8B8A8_UNORM, 64, 32, 1, 1);
  run("cubic unnormalised", plain, image, Op::lod, 80);
}

/// The least LOD of a shader's operand, and of a view: of every kind of filter, whether fixed-point or not, in groups or by lane.
void test_min_lod() {
  lab_count = 3;
  for (VkFormat format :
       {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R5G6B5_UNORM_PACK16}) {
    for (VkImageViewType dim : {VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_3D, VK_IMAGE_VIEW_TYPE_CUBE}) {
      const bool volume = dim == VK_IMAGE_VIEW_TYPE_3D;
      Texture image(format, 32, 32, 6, volume ? 16 : dim == VK_IMAGE_VIEW_TYPE_CUBE ? 6 : 1, 1, false, volume);
      for (float of_view : {0.0f, 0.3f, 1.0f, 2.6f, 5.0f}) {
        for (int filters = 0; filters < 4; ++filters) {
          if (!test::tries_next()) continue;
          SamplerKey key = basic(format, dim);
          key.has_sampler = true, key.min_lod = of_view > 0;
          image.view.min_lod = of_view, image.view.min_level = static_cast<int32_t>(of_view);
          key.sampler.min_filter = VK_FILTER_LINEAR, key.sampler.mag_filter = filters & 1 ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
          key.sampler.mipmap_mode = filters & 2 ? VK_SAMPLER_MIPMAP_MODE_NEAREST : VK_SAMPLER_MIPMAP_MODE_LINEAR;
          image.sampler.min_lod = filters == 3 ? 0.7f : -1000.0f, image.sampler.mip_lod_bias = filters == 2 ? 0.4f : 0.0f;
          run("least lod of a view", key, image, Op::lod, 2, false, 2);
          run("least lod of a view", key, image, Op::gradient, 2, false, 2);
          if (!volume) run("least lod of a view", key, image, Op::gather, 2, false, 1);
          for (int n = 0; n < 4; ++n) {
            Request requests[16];
            for (Request& q : requests) {
              q = random_request(Op::gradient, dim == VK_IMAGE_VIEW_TYPE_CUBE, 2);
              q.min_lod = static_cast<float>(std::uniform_real_distribution<double>(-1, n == 3 ? 0.9 : 6)(rng));
              if (n == 2)
                for (int k = 0; k < 3; ++k) q.dx[k] = q.dy[k] = 0.001;
            }
            check("least lod of a shader", key, image, Op::min_lod, requests);
          }
        }
      }
    }
  }
}

void test_compare() {
  for (VkFormat f : {VK_FORMAT_D16_UNORM, VK_FORMAT_D32_SFLOAT, VK_FORMAT_D24_UNORM_S8_UINT}) {
    Texture image(f, 16, 16, 4, 6);
    for (int op = 0; op < 8; ++op) {
      lab_count = op == 3 ? 3 : 1;
      SamplerKey key = basic(f);
      key.aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
      key.sampler.compare_enable = true, key.sampler.compare_op = static_cast<VkCompareOp>(op);
      run("compare", key, image, Op::lod, 2, false, 2);
      if (op == 3) {
        run("compare", key, image, Op::gather, 2);
        key.sampler.address_u = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
        image.sampler.border[0] = 1;
        run("compare border", key, image, Op::gradient, 2);
        key.dim = VK_IMAGE_VIEW_TYPE_CUBE;
        run("compare cube", key, image, Op::lod, 2);
      }
    }
  }
}

/// Of levels, layers and places in and outside of it.
void fetch_at_random(const SamplerKey& key, Texture& image, uint32_t layers, uint32_t samples, bool one_d) {
  for (Lab& lab : all_labs) {
    auto functions = compile_sampler(*lab.jit, key, kUseFetch);
    if (!CHECK(functions)) return;
    image.descriptor.fetch = functions->fetch;
    image.descriptor.sampler = nullptr;
    const uint32_t lanes = lab.jit->lanes();
    for (int n = 0; n < 60; ++n) {
      Arguments a{};
      float result[4][kMaxLanes];
      int x[16], y[16], layer[16], level[16], sample[16];
      for (uint32_t l = 0; l < lanes; ++l) {
        x[l] = static_cast<int>(rng() % 14) - 2, y[l] = one_d ? 0 : static_cast<int>(rng() % 9) - 2,
        layer[l] = static_cast<int>(rng() % 4) - (rng() % 8 == 0), level[l] = static_cast<int>(rng() % 4),
        sample[l] = static_cast<int>(rng() % 9);
        if (layers == 1) layer[l] = 0;
        if (samples == 1) sample[l] = 0;
        if (key.multisampled) level[l] = 0;
        if (n % 8 == 7) x[l] = static_cast<int>(rng()), level[l] = static_cast<int>(rng());
        using namespace fetch_arg;
        a.v[fetch_arg::x - 1][l] = std::bit_cast<float>(x[l]), a.v[fetch_arg::y - 1][l] = std::bit_cast<float>(y[l]),
                           a.v[fetch_arg::layer - 1][l] = std::bit_cast<float>(layer[l]);
        a.v[fetch_arg::lod - 1][l] = std::bit_cast<float>(level[l]), a.v[fetch_arg::sample - 1][l] = std::bit_cast<float>(sample[l]);
      }
      a.scalar[0] = (1u << lanes) - 1;
      lab.fetch(&image.descriptor, &a, result);
      bool good = true;
      for (uint32_t l = 0; l < lanes; ++l) {
        vk::Texel want{};
        const bool valid = (!key.min_lod || level[l] >= image.view.min_level) &&
                           (key.multisampled || (level[l] >= 0 && level[l] < image.view.level_count)) && layer[l] >= 0 &&
                           layer[l] < image.view.layer_count && sample[l] >= 0 && sample[l] < image.view.sample_count;
        const ViewLevel& lv = image.view.level[valid && !key.multisampled ? level[l] : 0];
        if (valid && x[l] >= 0 && x[l] < lv.width_px && y[l] >= 0 && y[l] < lv.height_px) {
          want = image.texel(key.multisampled ? 0 : static_cast<uint32_t>(level[l]), static_cast<uint32_t>(layer[l]),
                             static_cast<uint32_t>(sample[l]), x[l], y[l]);
        } else if (image.format->rgba[3].bits == 0) {
          image.format->is_integer() ? static_cast<void>(want.u[3] = 1) : static_cast<void>(want.f[3] = 1);
        }
        for (int k = 0; k < 4; ++k) good &= std::bit_cast<uint32_t>(result[k][l]) == want.u[k];
      }
      CHECK_MESSAGE(good, std::string("fetch ") + image.format->name);
    }
  }
}

void test_fetch() {
  lab_count = 3;
  struct Case {
    VkFormat format;
    VkImageViewType dim;
    uint32_t layers, samples;
  };
  for (const Case& c :
       {Case{VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_VIEW_TYPE_2D, 1, 1}, Case{VK_FORMAT_R16G16_UINT, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 3, 1},
        Case{VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_VIEW_TYPE_2D, 1, 4}, Case{VK_FORMAT_R32G32B32A32_SINT, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 2, 8},
        Case{VK_FORMAT_R5G6B5_UNORM_PACK16, VK_IMAGE_VIEW_TYPE_1D, 1, 1}}) {
    const bool one_d = c.dim == VK_IMAGE_VIEW_TYPE_1D;
    Texture image(c.format, 11, one_d ? 1 : 6, c.samples > 1 ? 1 : 3, c.layers, c.samples);
    SamplerKey key = basic(c.format, c.dim);
    key.multisampled = c.samples > 1;
    for (const float least : {0.0f, 0.5f, 1.5f}) {
      key.min_lod = least > 0 && !key.multisampled;
      image.view.min_lod = least, image.view.min_level = static_cast<int32_t>(least);
      fetch_at_random(key, image, c.layers, c.samples, one_d);
    }
  }
}
/// NaN, infinity, huge and negative everything: no read outside (the guard pages say so), results within the texels' range.
void test_robustness() {
  const float odd[] = {NAN, INFINITY, -INFINITY,   3e38f,  -3e38f,      1e-44f, -1e-44f, -0.0f,
                       1,   0,        16777216.0f, -1e-9f, 0.99999994f, 1e9f,   -1e9f,   4294967296.0f};
  for (VkImageViewType dim : {VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_IMAGE_VIEW_TYPE_3D, VK_IMAGE_VIEW_TYPE_CUBE,
                              VK_IMAGE_VIEW_TYPE_CUBE_ARRAY}) {
    for (int mode = 0; mode < 5; ++mode) {
      const bool cube = dim == VK_IMAGE_VIEW_TYPE_CUBE || dim == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
      const bool volume = dim == VK_IMAGE_VIEW_TYPE_3D;
      Texture image(VK_FORMAT_R8G8B8A8_UNORM, 7, 7, 3, dim == VK_IMAGE_VIEW_TYPE_2D ? 1 : 12, 1, false, volume);
      SamplerKey key = basic(image.format->format, dim);
      key.has_sampler = true;
      key.sampler.non_seamless_cube_map = cube && mode;
      key.sampler.address_u = key.sampler.address_v = key.sampler.address_w = static_cast<VkSamplerAddressMode>(mode);
      for (Op op : {Op::gradient, Op::lod, Op::gather}) {
        if (volume && op == Op::gather) continue;
        for (VkFilter filter : {VK_FILTER_NEAREST, VK_FILTER_LINEAR, VK_FILTER_CUBIC_EXT}) {
          if (!test::tries_next()) continue;
          key.sampler.mag_filter = key.sampler.min_filter = filter;
          for (int n = 0; n < 10; ++n) {
            Request requests[16];
            for (Request& q : requests) {
              q.s = odd[rng() % 16], q.t = odd[rng() % 16], q.r = odd[rng() % 16], q.layer = odd[rng() % 16], q.lod = odd[rng() % 16],
              q.bias = odd[rng() % 16];
              for (int k = 0; k < 3; ++k) q.dx[k] = odd[rng() % 16], q.dy[k] = odd[rng() % 16];
              q.offset_x = n % 2 ? static_cast<int>(rng()) : 0, q.offset_y = n % 3 ? static_cast<int>(rng()) : 0;
              q.offset_z = n % 5 ? static_cast<int>(rng()) : 0;
            }
            static float out[3][16][4];
            if (!call(key, image, op, requests, static_cast<int>(rng() % 4), out)) return;
            bool good = true;
            for (const auto& request : out[0]) {
              for (float v : request) good &= filter == VK_FILTER_CUBIC_EXT ? std::fabs(v) < 8 : v >= 0 && v <= 1.00001f;
            }
            CHECK_MESSAGE(good, "odd coordinates");
            CHECK(std::memcmp(out[0], out[1], sizeof out[0]) == 0 && std::memcmp(out[0], out[2], sizeof out[0]) == 0);
          }
        }
      }
    }
  }
}

/// A constant image is that constant to the bit, whatever the filter.
void test_constant() {
  for (int code : {0, 1, 51, 127, 200, 254, 255}) {
    Texture image(VK_FORMAT_R8G8B8A8_UNORM, 16, 16, 5, 1);
    std::fill(image.memory.begin(), image.memory.end(), static_cast<uint8_t>(code));
    SamplerKey key = basic(image.format->format);
    key.has_sampler = true;
    for (VkFilter filter : {VK_FILTER_LINEAR, VK_FILTER_CUBIC_EXT}) {
      key.sampler.mag_filter = key.sampler.min_filter = filter;
      Request requests[16];
      for (Request& q : requests) q = random_request(Op::gradient, false, 2);
      static float out[3][16][4];
      if (!call(key, image, Op::gradient, requests, 0, out)) return;
      bool good = true;
      for (const auto& request : out[0]) {
        for (float v : request) good &= v == static_cast<float>(code) / 255.0f;
      }
      CHECK_MESSAGE(good, "constant " + std::to_string(code));
    }
  }
}

void test_refusals() {
  Jit& jit = *all_labs[0].jit;
  CHECK(!compile_sampler(jit, basic(VK_FORMAT_UNDEFINED), kUseFetch));
  CHECK(!compile_sampler(jit, basic(VK_FORMAT_R8G8B8A8_UNORM), kUseGradient));  // no sampler
  SamplerKey volume = basic(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_VIEW_TYPE_3D);
  CHECK(compile_sampler(jit, volume, kUseFetch | kUseStore));
  CHECK(!compile_sampler(jit, volume, kUseAddress));  // no whole word
  CHECK(!compile_sampler(jit, basic(VK_FORMAT_R8G8B8A8_SRGB), kUseStore));
  volume.has_sampler = true;
  CHECK(!compile_sampler(jit, volume, kUseGather));
}

}  // namespace

int main() {
  if (!make_labs()) return 1;
  test_constant();
  test_formats();
  test_address_modes();
  test_filters_and_lods();
  test_magnified();
  test_fixed_rule();
  test_halves();
  test_steps();
  test_dimensions();
  test_non_seamless_cubes();
  test_volumes();
  test_cubic();
  test_min_lod();
  test_compare();
  test_fetch();
  test_robustness();
  test_refusals();
  for (Lab& lab : all_labs) {
    const CompileStats stats = lab.jit->stats();
    std::printf("lanes %u: %llu functions, %.2f ms each\n", lab.jit->lanes(), static_cast<unsigned long long>(stats.functions_compiled),
                stats.compile_ms / static_cast<double>(stats.functions_compiled));
  }
  return test::finish("test_sampler");
}
