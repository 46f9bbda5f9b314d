// tests/test_epilogue.cpp -- the epilogue against a scalar model: every attachment format, blending, logic ops, masks, samples, lanes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "epilogue_fixture.hpp"
#include "framebuffer/tile_memory.hpp"
#include "shader/compiler.hpp"
#include "shader/jit/jit.hpp"
#include "vk/format.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;
using framebuffer::tile_word_index;
using tilegpu::test::one_target;

namespace {

constexpr uint32_t kTilePixels = 8 * 8;
std::mt19937 rng(1);

float random_color() {
  static const float special[] = {0.0f,     -0.0f,     1.0f, 0.5f,   -1.0f,      2.0f,     1e30f,    -1e30f,
                                  INFINITY, -INFINITY, NAN,  1e-40f, 0.0031308f, 65504.0f, 65520.0f, 1e-6f};
  if (rng() % 8 == 0) return special[rng() % std::size(special)];
  return std::uniform_real_distribution<float>(-0.2f, 1.2f)(rng);
}

// -- the model --------------------------------------------------------------------------------------------------------------------

struct Model {
  const EpilogueKey& key;
  const FragmentArgs& args;
  std::vector<uint32_t>* tiles;
  uint32_t lanes;

  static float clamp_to(const vk::FormatInfo& f, float x) {
    if (f.numeric == vk::Numeric::unorm || f.numeric == vk::Numeric::srgb) return x > 0 ? (x < 1 ? x : 1) : 0;
    if (f.numeric == vk::Numeric::snorm) return x != x ? 0 : x > -1 ? (x < 1 ? x : 1) : -1;
    return x;
  }

  static float factor(VkBlendFactor factor, int c, const float* s, const float* s1, const float* d, const float* k) {
    auto om = [](float x) { return 1 - x; };  // of what is clamped; 2 where SNORM has -1
    switch (factor) {
      case VK_BLEND_FACTOR_ZERO:
        return 0;
      case VK_BLEND_FACTOR_ONE:
        return 1;
      case VK_BLEND_FACTOR_SRC_COLOR:
        return s[c];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
        return om(s[c]);
      case VK_BLEND_FACTOR_DST_COLOR:
        return d[c];
      case VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
        return om(d[c]);
      case VK_BLEND_FACTOR_SRC_ALPHA:
        return s[3];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
        return om(s[3]);
      case VK_BLEND_FACTOR_DST_ALPHA:
        return d[3];
      case VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
        return om(d[3]);
      case VK_BLEND_FACTOR_CONSTANT_COLOR:
        return k[c];
      case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
        return om(k[c]);
      case VK_BLEND_FACTOR_CONSTANT_ALPHA:
        return k[3];
      case VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
        return om(k[3]);
      case VK_BLEND_FACTOR_SRC_ALPHA_SATURATE:
        return c == 3 ? 1 : (s[3] < om(d[3]) ? s[3] : om(d[3]));
      case VK_BLEND_FACTOR_SRC1_COLOR:
        return s1[c];
      case VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
        return om(s1[c]);
      case VK_BLEND_FACTOR_SRC1_ALPHA:
        return s1[3];
      default:
        return om(s1[3]);
    }
  }

  static float equation(VkBlendOp op, VkBlendFactor sf, VkBlendFactor df, int c, const float* s, const float* s1, const float* d,
                        const float* k) {
    if (op == VK_BLEND_OP_MIN) return s[c] < d[c] ? s[c] : d[c];
    if (op == VK_BLEND_OP_MAX) return s[c] > d[c] ? s[c] : d[c];
    const float a = s[c], fa = factor(sf, c, s, s1, d, k), b = d[c], fb = factor(df, c, s, s1, d, k);
    // ZERO drops its term, ONE keeps the operand, whatever it is.
    const float pa = sf == VK_BLEND_FACTOR_ZERO ? 0 : a * fa, pb = df == VK_BLEND_FACTOR_ZERO ? 0 : b * fb;
    if (op == VK_BLEND_OP_REVERSE_SUBTRACT) {
      if (sf == VK_BLEND_FACTOR_ZERO) return pb;
      return df == VK_BLEND_FACTOR_ZERO ? -pa : std::fma(b, fb, -pa);
    }
    const float sign = op == VK_BLEND_OP_ADD ? 1.0f : -1.0f;
    if (df == VK_BLEND_FACTOR_ZERO) return pa;
    return sf == VK_BLEND_FACTOR_ZERO ? sign * pb : std::fma(a, fa, sign * pb);
  }

  static uint64_t logic(VkLogicOp op, uint64_t s, uint64_t d) {
    // Vulkan numbers them by their truth tables: bit 3 is the result of (0, 0), bit 0 that of (1, 1).
    uint64_t r = 0;
    for (int b = 0; b < 64; ++b) {
      const uint64_t row = (s >> b & 1) * 2 + (d >> b & 1);
      r |= (static_cast<uint64_t>(op) >> (3 - row) & 1) << b;
    }
    return r;
  }

  void write_pixel(uint32_t t, uint32_t pixel, uint32_t sample, uint32_t lane) {
    const vk::FormatInfo& f = *vk::find_format(key.formats[t]);
    const auto& blend = key.blend[t];
    const uint32_t words = f.texel_B <= 4 ? 1 : f.texel_B / 4;
    uint32_t* tile = tiles[t].data();
    uint32_t old[4] = {}, now[4] = {};
    for (uint32_t w = 0; w < words; ++w) old[w] = tile[tile_word_index(pixel, sample, w, key.samples, words)];
    const vk::Texel destination = vk::unpack_texel(f, reinterpret_cast<const uint8_t*>(old));
    vk::Texel color;
    for (int c = 0; c < 4; ++c) color.f[c] = args.color[t][c][lane];
    if (key.alpha_to_one && !f.is_integer()) color.f[3] = 1;
    if (blend.blendEnable && !key.logic_op_enable && f.blend) {
      float s[4], s1[4], k[4];
      for (int c = 0; c < 4; ++c) {
        s[c] = clamp_to(f, color.f[c]), s1[c] = clamp_to(f, args.color_source1[c][lane]), k[c] = clamp_to(f, args.blend_constants[c]);
      }
      if (key.alpha_to_one) s1[3] = 1;
      for (int c = 0; c < 4; ++c) {
        color.f[c] = c < 3 ? equation(blend.colorBlendOp, blend.srcColorBlendFactor, blend.dstColorBlendFactor, c, s, s1, destination.f, k)
                           : equation(blend.alphaBlendOp, blend.srcAlphaBlendFactor, blend.dstAlphaBlendFactor, c, s, s1, destination.f, k);
      }
    }
    vk::pack_texel(f, color, reinterpret_cast<uint8_t*>(now));
    for (uint32_t w = 0; w < words; ++w) {
      uint32_t mask = 0, all = 0;
      for (int c = 0; c < 4; ++c) {
        const auto component = f.rgba[c];
        if (!component.bits || component.shift / 32u != w) continue;
        const uint32_t bits = (component.bits == 32 ? ~0u : (1u << component.bits) - 1) << (component.shift & 31);
        all |= bits;
        if (blend.colorWriteMask >> c & 1) mask |= bits;
      }
      uint32_t value = now[w];
      const bool logical = f.is_integer() || f.numeric == vk::Numeric::unorm || f.numeric == vk::Numeric::snorm;
      if (key.logic_op_enable && logical) value = static_cast<uint32_t>(logic(key.logic_op, now[w], old[w])) & all;
      tile[tile_word_index(pixel, sample, w, key.samples, words)] = (value & mask) | (old[w] & ~mask);
    }
  }

  void run() {
    for (uint32_t t = 0; t < kMaxTargets; ++t) {
      if (key.formats[t] == VK_FORMAT_UNDEFINED) continue;
      for (uint32_t s = 0; s < key.samples; ++s) {
        if (key.per_sample && s != args.sample_index) continue;
        for (uint32_t lane = 0; lane < args.quad_count * 4; ++lane) {
          if ((args.alive >> lane & 1) && (args.live_coverage[lane / 4] >> (4 * s + lane % 4) & 1))
            write_pixel(t, args.tile_pixel[lane / 4] + lane % 4, s, lane);
        }
      }
    }
  }
};

// -- random packets ---------------------------------------------------------------------------------------------------------------

enum class Shape { full, all_live, partial };

void fill_args(FragmentArgs& args, uint32_t lanes, uint32_t samples, Shape shape, bool distinct, bool integers) {
  const uint32_t quads = lanes / 4;
  for (auto& target : args.color) {
    for (auto& component : target) {
      for (float& lane : component) lane = integers ? std::bit_cast<float>(static_cast<uint32_t>(rng() >> (rng() % 32))) : random_color();
    }
  }
  for (auto& component : args.color_source1) {
    for (float& lane : component) lane = random_color();
  }
  for (float& k : args.blend_constants) k = random_color();
  args.quad_count = shape == Shape::partial ? 1 + rng() % quads : quads;
  args.full_block = shape == Shape::full;
  const uint32_t first = static_cast<uint32_t>(rng()) % (kTilePixels / lanes) * lanes;
  uint32_t order[kTilePixels / 4];
  for (uint32_t k = 0; k < kTilePixels / 4; ++k) order[k] = k * 4;
  std::shuffle(order, order + kTilePixels / 4, rng);
  for (uint32_t q = 0; q < kMaxQuads; ++q) {
    args.tile_pixel[q] = shape == Shape::full ? first + 4 * q : distinct ? order[q] : static_cast<uint32_t>(rng()) % 4 * 4;
    args.live_coverage[q] =
        shape == Shape::partial ? (static_cast<uint64_t>(rng()) << 32 | rng()) & (static_cast<uint64_t>(rng()) << 32 | rng()) : ~0ull;
    if (q >= quads || q >= args.quad_count) args.tile_pixel[q] = 0x7fffffff;  // must not be touched
  }
  args.alive = 0;
  for (uint32_t lane = 0; lane < kMaxLanes; ++lane) args.alive |= shape == Shape::partial && rng() % 4 == 0 ? 0 : 1u << lane;
  args.sample_index = static_cast<uint32_t>(rng()) % samples;
}

bool run_case(Jit& jit, const EpilogueKey& key, Shape shape, const char* what) {
  auto function = compile_epilogue(jit, key);
  if (!CHECK_MESSAGE(function, what + std::string(": ") + (function ? "" : function.error().message))) return false;
  bool reads = false, integers = false;
  for (uint32_t t = 0; t < kMaxTargets; ++t) {
    if (const auto* f = vk::find_format(key.formats[t])) integers |= f->is_integer();
    reads |= key.blend[t].blendEnable;
  }
  std::vector<uint32_t> expected[kMaxTargets], actual[kMaxTargets];
  alignas(64) static FragmentArgs args;
  fill_args(args, jit.lanes(), key.samples, shape, reads, integers);
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> memory[kMaxTargets];
  for (uint32_t t = 0; t < kMaxTargets; ++t) {
    const auto* f = vk::find_format(key.formats[t]);
    if (!f) continue;
    const uint32_t words = f->texel_B <= 4 ? 1 : f->texel_B / 4, size = kTilePixels * key.samples * words;
    memory[t].reset(static_cast<uint8_t*>(std::aligned_alloc(64, size * 4)));
    expected[t].resize(size);
    for (uint32_t k = 0; k < size; ++k)
      expected[t][k] = f->texel_B < 4 ? static_cast<uint32_t>(rng()) & ((1u << (f->texel_B * 8)) - 1) : static_cast<uint32_t>(rng());
    if (f->numeric == vk::Numeric::sfloat) {
      // Tile memory holds what was packed: canonical texels.
      for (uint32_t p = 0; p < kTilePixels; ++p) {
        for (uint32_t s = 0; s < key.samples; ++s) {
          vk::Texel texel;
          for (float& c : texel.f) c = random_color();
          uint32_t packed[4] = {};
          vk::pack_texel(*f, texel, reinterpret_cast<uint8_t*>(packed));
          for (uint32_t w = 0; w < words; ++w) expected[t][tile_word_index(p, s, w, key.samples, words)] = packed[w];
        }
      }
    }
    std::memcpy(memory[t].get(), expected[t].data(), size * 4);
    args.target[t] = memory[t].get();
  }
  Model{key, args, expected, jit.lanes()}.run();
  (*function)(&args);
  for (uint32_t t = 0; t < kMaxTargets; ++t) {
    if (!memory[t]) continue;
    const auto* words = reinterpret_cast<const uint32_t*>(memory[t].get());
    for (size_t k = 0; k < expected[t].size(); ++k) {
      if (words[k] == expected[t][k]) continue;
      char text[200];
      std::snprintf(text, sizeof text, "%s %s lanes %u target %u word %zu: %08x, expected %08x", what,
                    vk::find_format(key.formats[t])->name, jit.lanes(), t, k, words[k], expected[t][k]);
      CHECK_MESSAGE(false, text);
      return false;
    }
    CHECK(true);
  }
  return true;
}

std::vector<VkFormat> attachment_formats() {
  std::vector<VkFormat> formats;
  for (uint32_t f = 1; f < 200; ++f) {
    if (const auto* info = vk::find_format(static_cast<VkFormat>(f)); info && info->color_attachment) formats.push_back(info->format);
  }
  for (VkFormat f : {VK_FORMAT_A4R4G4B4_UNORM_PACK16, VK_FORMAT_A4B4G4R4_UNORM_PACK16}) {
    if (const auto* info = vk::find_format(f); info && info->color_attachment) formats.push_back(f);
  }
  return formats;
}

void test_formats(Jit& jit) {
  uint32_t turn = 0;
  for (VkFormat format : attachment_formats()) {
    // All formats on 8 lanes; 4 and 16 take every fourth.
    if (jit.lanes() != 8 && ++turn % 4 != jit.lanes() / 8) continue;
    EpilogueKey key = one_target(format);
    for (Shape shape : {Shape::full, Shape::all_live, Shape::partial, Shape::partial}) run_case(jit, key, shape, "opaque");
    for (int k = 0; k < 8; ++k) run_case(jit, key, Shape::full, "opaque");
    key.blend[0].colorWriteMask = 5;
    for (Shape shape : {Shape::full, Shape::partial}) run_case(jit, key, shape, "mask");
  }
}

void test_blending(Jit& jit) {
  const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM,
                              VK_FORMAT_R8G8B8A8_SNORM,
                              VK_FORMAT_B8G8R8A8_SRGB,
                              VK_FORMAT_R16G16B16A16_SFLOAT,
                              VK_FORMAT_R32G32B32A32_SFLOAT,
                              VK_FORMAT_R5G6B5_UNORM_PACK16,
                              VK_FORMAT_A2B10G10R10_UNORM_PACK32,
                              VK_FORMAT_R16G16_UNORM,
                              VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                              VK_FORMAT_R8_UNORM};
  auto random_factor = [&] { return static_cast<VkBlendFactor>(rng() % (VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1)); };
  auto random_op = [&] { return static_cast<VkBlendOp>(rng() % 5); };
  for (VkFormat format : formats) {
    for (int k = 0; k < (jit.lanes() == 8 ? 12 : 4); ++k) {
      EpilogueKey key = one_target(format, k % 4 == 3 ? 4 : 1);
      auto& b = key.blend[0];
      b.blendEnable = 1;
      b.srcColorBlendFactor = k ? random_factor() : VK_BLEND_FACTOR_SRC_ALPHA,
      b.dstColorBlendFactor = k ? random_factor() : VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
      b.srcAlphaBlendFactor = k ? random_factor() : VK_BLEND_FACTOR_ONE,
      b.dstAlphaBlendFactor = k ? random_factor() : VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
      b.colorBlendOp = k ? random_op() : VK_BLEND_OP_ADD, b.alphaBlendOp = k ? random_op() : VK_BLEND_OP_ADD;
      if (k % 5 == 4) b.colorWriteMask = static_cast<uint32_t>(rng()) & 15;
      key.alpha_to_one = k == 6;
      char what[100];
      std::snprintf(what, sizeof what, "blend %d*s %d %d*d, %d %d %d", b.srcColorBlendFactor, b.colorBlendOp, b.dstColorBlendFactor,
                    b.srcAlphaBlendFactor, b.alphaBlendOp, b.dstAlphaBlendFactor);
      for (Shape shape : {Shape::full, Shape::all_live, Shape::partial, Shape::full, Shape::partial}) run_case(jit, key, shape, what);
    }
  }
}

void test_logic_ops(Jit& jit) {
  for (VkFormat format :
       {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16_UINT, VK_FORMAT_R32G32_SINT, VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R32_SFLOAT}) {
    for (uint32_t op = jit.lanes() == 8 ? 0 : jit.lanes() / 4; op < 16; op += jit.lanes() == 8 ? 1 : 5) {
      EpilogueKey key = one_target(format);
      key.logic_op_enable = true, key.logic_op = static_cast<VkLogicOp>(op);
      key.blend[0].blendEnable = op & 1;  // ignored
      if (op == 5) key.blend[0].colorWriteMask = 6;
      for (Shape shape : {Shape::full, Shape::partial}) run_case(jit, key, shape, "logic op");
    }
  }
}

void test_samples(Jit& jit) {
  for (uint32_t samples : {2u, 4u, 8u, 16u}) {
    for (bool per_sample : {false, true}) {
      for (VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT}) {
        EpilogueKey key = one_target(format, samples);
        key.per_sample = per_sample;
        for (Shape shape : {Shape::full, Shape::all_live, Shape::partial, Shape::partial}) run_case(jit, key, shape, "samples");
      }
    }
  }
}

void test_many_targets(Jit& jit) {
  EpilogueKey key;
  key.samples = 2;
  key.formats = {VK_FORMAT_R8G8B8A8_UNORM,      VK_FORMAT_UNDEFINED,     VK_FORMAT_R16G16B16A16_SFLOAT,     VK_FORMAT_R8_UNORM,
                 VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_R5G6B5_UNORM_PACK16};
  for (auto& b : key.blend) b.colorWriteMask = 15;
  key.blend[7].colorWriteMask = 0;
  key.blend[3].blendEnable = 1, key.blend[3].srcColorBlendFactor = key.blend[3].dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
  for (Shape shape : {Shape::full, Shape::all_live, Shape::partial, Shape::partial}) run_case(jit, key, shape, "targets");
}

/// Same key, same packets: 4, 8 and 16 lanes agree with the model above, hence with each other. sRGB near its thresholds, exhaustively.
void test_srgb_thresholds(Jit& jit) {
  auto function = compile_epilogue(jit, one_target(VK_FORMAT_R8G8B8A8_SRGB));
  if (!CHECK(function)) return;
  alignas(64) static FragmentArgs args;
  alignas(64) static uint32_t tile[16];
  fill_args(args, jit.lanes(), 1, Shape::full, true, false);
  for (uint32_t q = 0; q < jit.lanes() / 4; ++q) args.tile_pixel[q] = 4 * q;
  args.target[0] = reinterpret_cast<uint8_t*>(tile);
  std::vector<float> values;
  for (int code = 1; code < 256; ++code) {
    const uint32_t at = std::bit_cast<uint32_t>(vk::kLinearToSrgbThreshold[code]);
    for (int d = -20; d <= 20; ++d) values.push_back(std::bit_cast<float>(at + static_cast<uint32_t>(d)));
  }
  for (uint32_t bits = 0; bits <= 0x3f800000u; bits += 1003) values.push_back(std::bit_cast<float>(bits));
  while (values.size() % jit.lanes()) values.push_back(0);
  uint32_t bad = 0;
  for (size_t k = 0; k < values.size(); k += jit.lanes()) {
    for (uint32_t l = 0; l < jit.lanes(); ++l)
      args.color[0][0][l] = values[k + l], args.color[0][1][l] = 0, args.color[0][2][l] = values[values.size() - 1 - k - l];
    (*function)(&args);
    for (uint32_t l = 0; l < jit.lanes(); ++l) bad += (tile[l] & 255) != vk::linear_to_srgb(values[k + l]);
  }
  CHECK_MESSAGE(bad == 0, std::to_string(bad) + " sRGB codes differ");
}

void test_refusals(Jit& jit) {
  CHECK(!compile_epilogue(jit, one_target(VK_FORMAT_D32_SFLOAT)));
  CHECK(!compile_epilogue(jit, one_target(static_cast<VkFormat>(12345))));
  CHECK(!compile_epilogue(jit, one_target(VK_FORMAT_R8G8B8A8_UNORM, 3)));
  EpilogueKey nothing;
  auto function = compile_epilogue(jit, nothing);
  CHECK(function);
  static FragmentArgs args{};
  if (function) (*function)(&args);
}

}  // namespace

int main() {
  for (uint32_t lanes : {8u, 4u, 16u}) {
    auto jit = Jit::create({lanes, "baseline", "off"});
    if (!CHECK(jit)) return 1;
    test_formats(**jit);
    test_blending(**jit);
    test_logic_ops(**jit);
    test_samples(**jit);
    test_many_targets(**jit);
    test_srgb_thresholds(**jit);
    test_refusals(**jit);
    const CompileStats stats = (*jit)->stats();
    std::printf("lanes %u: %llu functions, %.2f ms each\n", lanes, static_cast<unsigned long long>(stats.functions_compiled),
                stats.compile_ms / static_cast<double>(stats.functions_compiled));
  }
  return test::finish("test_epilogue");
}
