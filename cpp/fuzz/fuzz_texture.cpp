// fuzz/fuzz_texture.cpp -- fuzzer: textures of every format and view through every kind of sampling, beside a model of one sample.
//
// In: bytes that choose a format, an image, a view, a sampler, two ways to sample; the rest of them is texels, or begins random numbers
// that the texels and 512 places are made of. Wrong is: a sample that is not what `common/sampling_model` says within its tolerance, other
// bits at another number of lanes or by optimised code, a sampling that one device alone refuses. Compressed texels are as vk/ decodes
// them, which tests/test_compressed_formats.py asks; Y'CbCr conversions are asked by tests/test_ycbcr.py.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

#include "common/bench.hpp"
#include "common/sampling_model.hpp"
#include "common/sampling_shader.hpp"
#include "tilegpu/format.hpp"
#include "vk/format.hpp"

using namespace tilegpu;
using fuzz::kSampleCount;
using fuzz::SampleKind;
using fuzz::SampleOp;

namespace {

constexpr size_t kMost_B = 4096;
constexpr uint32_t kKinds = 2;  // of a case
/// A float's random bits are mostly very great or small: of most images they are numbers near 1.
enum class Texels : uint8_t { as_given, random, near_one };

bool is_cube(VkImageViewType type) { return type == VK_IMAGE_VIEW_TYPE_CUBE || type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY; }
bool is_line(VkImageViewType type) { return type == VK_IMAGE_VIEW_TYPE_1D || type == VK_IMAGE_VIEW_TYPE_1D_ARRAY; }

SamplerCreateInfo sampler_info(fuzz::Choices& c, const vk::FormatInfo& format, bool integer) {
  SamplerCreateInfo s;
  const uint8_t flags = c.byte();
  const bool linear = format.linear_filter && !integer;
  s.mag_filter = linear && flags & 1 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  s.min_filter = linear && flags & 2 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  s.mipmap_mode = linear && flags & 4 ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
  const uint32_t kind = flags >> 3 & 7;
  if (kind == 5 && linear && format.filters_cubic()) s.mag_filter = VK_FILTER_CUBIC_EXT;
  if ((kind == 5 || kind == 6) && linear && format.filters_cubic()) s.min_filter = VK_FILTER_CUBIC_EXT;
  s.reduction_mode = static_cast<VkSamplerReductionMode>(kind == 7 && linear ? c.below(3) : 0);
  s.max_anisotropy = (flags & 192) == 192 && linear && kind != 5 && kind != 6 ? 1 + c.unit() * 15 : 1;
  const auto mode = [&] { return static_cast<VkSamplerAddressMode>(c.below(5)); };
  s.address_u = mode(), s.address_v = mode(), s.address_w = mode();
  s.non_seamless_cube_map = s.address_w & 1;  // which cubes don't ask for
  if (c.coin()) s.mip_lod_bias = c.unit() * 4 - 2, s.min_lod = c.unit() * 2, s.max_lod = s.min_lod + c.unit() * 3;
  if (linear && c.seldom(4)) {  // as most are, and as code of their own is there for
    s.mag_filter = s.min_filter = VK_FILTER_LINEAR, s.max_anisotropy = 1;
    s.reduction_mode = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    for (VkSamplerAddressMode* m : {&s.address_u, &s.address_v})
      if (*m == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) *m = VK_SAMPLER_ADDRESS_MODE_REPEAT;
  }
  s.border_color = static_cast<VkBorderColor>(c.below(3) * 2 + (integer ? 1 : 0));
  if (c.seldom(3)) {
    s.border_color = integer ? VK_BORDER_COLOR_INT_CUSTOM_EXT : VK_BORDER_COLOR_FLOAT_CUSTOM_EXT;
    for (uint32_t k = 0; k < 4; k++)
      integer ? void(s.custom_border_color.uint32[k] = c.below(2)) : void(s.custom_border_color.float32[k] = c.unit());
  }
  return s;
}

struct Case {
  const vk::FormatInfo* format = nullptr;
  bool stencil = false, compares = false;
  ImageCreateInfo image;
  ImageViewCreateInfo view;
  SamplerCreateInfo sampler;
  SampleKind kinds[kKinds];
  Texels texels = Texels::random;
  uint32_t lanes = 4, seed = 0;
  std::string_view bytes;

  bool is_integer() const { return stencil || format->is_integer(); }
  const char* prefix() const {
    return stencil || format->numeric == vk::Numeric::uint ? "u" : format->numeric == vk::Numeric::sint ? "i" : "";
  }

  /// False: there is no such case.
  bool read(fuzz::Choices c) {
    static const auto* const formats = [] {
      auto* const all = new std::vector<const vk::FormatInfo*>;
      for (const vk::FormatInfo& f : vk::all_formats())
        if (f.sampled && !f.needs_conversion()) all->insert(all->end(), f.is_compressed() ? 1 : 2, &f);
      return all;
    }();
    constexpr VkFormat kUsual[] = {VK_FORMAT_R8G8B8A8_UNORM,      VK_FORMAT_R8G8B8A8_UNORM,
                                   VK_FORMAT_B8G8R8A8_UNORM,      VK_FORMAT_R8G8B8A8_SRGB,
                                   VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
                                   VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R8_UNORM,
                                   VK_FORMAT_D32_SFLOAT,          VK_FORMAT_D16_UNORM};
    const uint32_t number = c.half();
    format = number & 0x8000 ? vk::find_format(c.of(kUsual)) : (*formats)[number % formats->size()];
    lanes = 4u << c.below(3);
    stencil = format->stencil_bits && (!format->depth_bits || c.coin());
    compares = format->depth_bits && !stencil && c.coin();
    view.type = static_cast<VkImageViewType>(c.below(7));
    constexpr VkImageViewType kTypes[] = {VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_VIEW_TYPE_3D};
    if (c.coin()) view.type = c.of(kTypes);
    if (compares && view.type == VK_IMAGE_VIEW_TYPE_3D) view.type = VK_IMAGE_VIEW_TYPE_2D;
    size(c);
    sampler = sampler_info(c, *format, is_integer());
    sampler.compare_enable = compares;
    if (compares)
      sampler.compare_op = static_cast<VkCompareOp>(c.below(8)), sampler.reduction_mode = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    if (c.seldom(3))
      for (VkComponentSwizzle* s : {&view.swizzle.r, &view.swizzle.g, &view.swizzle.b, &view.swizzle.a})
        *s = static_cast<VkComponentSwizzle>(c.below(7));
    if (c.seldom(5)) view.min_lod = static_cast<float>(view.base_level) + c.unit() * 2;
    for (SampleKind& kind : kinds) {
      kind = {
          static_cast<SampleOp>(c.below(static_cast<uint32_t>(SampleOp::count))), view.type, prefix(), compares, c.below(4), c.below(4)};
      if (!fuzz::is_possible(kind)) kind.op = SampleOp::implicit;
    }
    if (kinds[0].op == kinds[1].op) kinds[1].op = SampleOp::implicit;
    unnormalized(c);
    texels = static_cast<Texels>(std::min(c.below(8), 2u));
    seed = c.word();
    bytes = c.rest();
    side_by_side();
    return true;
  }

  /// Several look-ups of one level with a filter, as passes over whole pictures have: code of its own is there for them. By the seed, so
  /// that other cases stay what they were.
  void side_by_side() {
    if (seed % 4 != 1 || view.type != VK_IMAGE_VIEW_TYPE_2D || !format->linear_filter || is_integer() || compares) return;
    if (sampler.unnormalized_coordinates) return;
    sampler.mag_filter = sampler.min_filter = seed % 32 == 1 ? VK_FILTER_NEAREST : VK_FILTER_LINEAR, sampler.max_anisotropy = 1;
    sampler.reduction_mode = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    for (VkSamplerAddressMode* m : {&sampler.address_u, &sampler.address_v})
      if (*m == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) *m = VK_SAMPLER_ADDRESS_MODE_REPEAT;
    view.level_count = 1;
    kinds[0].op = SampleOp::implicit, kinds[0].together = true;
    if (kinds[1].op == SampleOp::implicit) kinds[1].op = SampleOp::lod;
  }

  void size(fuzz::Choices& c) {
    const bool cube = is_cube(view.type), array = view.type >= VK_IMAGE_VIEW_TYPE_1D_ARRAY, volume = view.type == VK_IMAGE_VIEW_TYPE_3D;
    constexpr uint32_t kSizes[] = {8, 16, 1, 5, 13, 32, 3, 24};
    image.format = format->format, image.label = "texture", image.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    image.width_px = c.of(kSizes), image.height_px = cube ? image.width_px : c.of(kSizes);
    if (is_line(view.type)) image.height_px = 1, image.type = VK_IMAGE_TYPE_1D;
    if (volume) image.type = VK_IMAGE_TYPE_3D, image.depth_px = 1 + c.below(9);
    if (cube) image.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    uint32_t most = 1;
    while (std::max({image.width_px, image.height_px, image.depth_px}) >> most) most++;
    image.mip_levels = 1 + c.below(most);
    if (c.seldom(3)) view.base_level = c.below(image.mip_levels);
    const uint32_t layers = array ? 1 + c.below(3) : 1, before = volume ? 0 : c.seldom(3);
    view.base_layer = before, view.layer_count = layers * (cube ? 6 : 1), image.array_layers = before + view.layer_count;
    view.level_count = c.seldom(3) ? 1 : VK_REMAINING_MIP_LEVELS;
    if (format->is_depth_stencil()) view.aspects = stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_DEPTH_BIT;
  }

  /// Coordinates in texels, and what Vulkan asks of a sampler of those.
  void unnormalized(fuzz::Choices& c) {
    if (!c.seldom(8) || compares || (view.type != VK_IMAGE_VIEW_TYPE_2D && view.type != VK_IMAGE_VIEW_TYPE_1D)) return;
    SamplerCreateInfo& s = sampler;
    s.unnormalized_coordinates = true, s.min_filter = s.mag_filter, s.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST, s.max_anisotropy = 1;
    s.min_lod = s.max_lod = 0, s.mip_lod_bias = 0;
    for (VkSamplerAddressMode* mode : {&s.address_u, &s.address_v})
      *mode = *mode & 1 ? VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER : VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    view.level_count = 1, view.min_lod = 0;
    kinds[0].op = SampleOp::implicit, kinds[1].op = SampleOp::lod;
  }
};

// -- the image, and what the model knows of it

void fill(const Case& of, std::mt19937& random, uint8_t* to, uint64_t size_B) {
  if (of.texels == Texels::as_given && !of.bytes.empty()) {
    for (uint64_t k = 0; k < size_B; k++) to[k] = static_cast<uint8_t>(of.bytes[k % of.bytes.size()]);
    return;
  }
  const bool floats = of.format->numeric == vk::Numeric::sfloat && !of.format->is_compressed() && of.texels == Texels::near_one;
  const uint32_t bits = of.format->is_depth_stencil() ? of.format->depth_bits : of.format->rgba[0].bits;
  for (uint64_t k = 0; k + 4 <= size_B; k += 4) {
    uint32_t word = static_cast<uint32_t>(random());
    if (floats && bits == 16) word &= 0xbfffbfff;
    if (floats && bits == 32) {  // few different ones, so that depths are met exactly
      const float value = static_cast<float>(word % 64) / 63.0f * (of.format->is_depth_stencil() || word & 64 ? 1.0f : -2.0f);
      std::memcpy(&word, &value, 4);
    }
    std::memcpy(to + k, &word, 4);
  }
}

Ptr<ImageView> view_of(const Case& of, std::mt19937& random) {
  Expected<Ptr<Image>> image = Image::create(of.image);
  if (!image) return nullptr;
  fuzz::take((*image)->ensure_memory(), "memory of a texture");
  fill(of, random, (*image)->data(), (*image)->required_B());
  ImageViewCreateInfo view = of.view;
  view.image = *image;
  Expected<Ptr<ImageView>> made = ImageView::create(view);
  return made ? *made : nullptr;
}

fuzz::ModelView model_of(const Case& of, const Image& image) {
  const ImageViewCreateInfo& view = of.view;
  assert(image.data() && of.format);
  fuzz::ModelView m;
  m.type = view.type, m.swizzle = view.swizzle, m.least_lod = std::max(0.0f, view.min_lod - static_cast<float>(view.base_level));
  m.is_integer = of.is_integer(), m.is_depth = of.format->depth_bits && !of.stencil;
  const bool knows = fuzz::TexelModel::knows(of.format->name);
  const fuzz::TexelModel texel(knows ? of.format->name : "r8_unorm", of.stencil);
  m.is_fixed = m.is_depth && !texel.is_float();
  for (size_t k = 0; k < 4; k++) m.present[k] = knows ? texel.present()[k] : of.format->rgba[k].bits != 0;
  const uint32_t last = view.level_count == 1 ? view.base_level + 1 : of.image.mip_levels;
  for (uint32_t level = view.base_level; level < last; level++) {
    fuzz::ModelLevel& l = m.levels.emplace_back();
    const bool volume = view.type == VK_IMAGE_VIEW_TYPE_3D;
    const auto reduced = [&](uint32_t size) { return static_cast<int>(std::max(1u, size >> level)); };
    l.width = reduced(of.image.width_px), l.height = reduced(of.image.height_px);
    l.depth = volume ? reduced(of.image.depth_px) : static_cast<int>(view.layer_count);
    const auto aspect = static_cast<VkImageAspectFlagBits>(view.aspects ? view.aspects : VkImageAspectFlags{VK_IMAGE_ASPECT_COLOR_BIT});
    std::vector<vk::Texel> row(static_cast<size_t>(l.width));
    for (int z = 0; z < l.depth; z++)
      for (int y = 0; y < l.height; y++) {
        const SubresourceLayout layout = image.layout(aspect, level, static_cast<uint32_t>(z) + view.base_layer);
        const uint8_t* const at = image.data() + layout.offset_B;
        if (!knows)
          vk::unpack_image_row(*of.format, at, layout.row_pitch_B, static_cast<uint32_t>(y), static_cast<uint32_t>(l.width), row.data());
        for (int x = 0; x < l.width; x++) {
          const vk::Texel& t = row[static_cast<size_t>(x)];
          l.texels.push_back(knows ? texel.read(at + static_cast<size_t>(y) * layout.row_pitch_B + static_cast<size_t>(x) * texel.size_B())
                                   : fuzz::Color{t.f[0], t.f[1], t.f[2], t.f[3]});
        }
      }
  }
  return m;
}

// -- places

/// One quad of pixels: places in steps of 2^-14, so that differences between pixels are exact.
void make_quad(const Case& of, const SampleKind& kind, const fuzz::ModelView& m, std::mt19937& random, fuzz::SampleInput* const pixels[4]) {
  const auto unit = [&] { return static_cast<float>(random() % (1u << 20)) / static_cast<float>(1u << 20); };
  const auto grid = [](float v) { return std::nearbyint(v * 16384) / 16384; };
  const auto levels = static_cast<float>(m.levels.size());
  const uint32_t style = random() % 8;
  const float scale = of.sampler.unnormalized_coordinates ? static_cast<float>(m.levels[0].width) : 1;
  const float step = std::exp2(-unit() * 12 + 1), thin = style & 1 ? 0.1f + 0.4f * unit() : 1;
  float base[3], dx[3], dy[3];
  for (int k = 0; k < 3; k++) {
    base[k] = grid(is_cube(m.type) ? 2 * unit() - 1 : (style == 7 ? 40 : 4) * unit() - (style == 7 ? 20 : 1.5f)) * scale;
    dx[k] = grid((2 * unit() - 1) * step), dy[k] = grid((2 * unit() - 1) * step * thin);
  }
  if (style == 2) dx[1] = dx[2] = dy[0] = dy[2] = 0;
  if (style == 3) std::fill_n(dx, 3, 0.0f), std::fill_n(dy, 3, 0.0f);
  if (style == 4 && is_cube(m.type)) base[1] = base[0] * (random() & 1 ? 0.984375f : -0.984375f);
  if (style >= 5 && is_cube(m.type))
    base[2] = (random() & 1 ? 1.0f : -1.0f), base[0] *= style == 6 ? 0.5f : 1, base[1] = base[0] * (random() & 1 ? 1 : -1);
  const bool by_quad = kind.op == SampleOp::implicit || kind.op == SampleOp::biased || kind.op == SampleOp::query_lod;
  for (int n = 0; n < 4; n++) {
    fuzz::SampleInput& p = *pixels[n];
    for (int k = 0; k < 3; k++) {
      p.at[k] = base[k] + static_cast<float>(n & 1) * dx[k] + static_cast<float>(n >> 1) * dy[k];
      if (!by_quad && style == 6 && !is_cube(m.type)) p.at[k] = static_cast<float>(static_cast<int>(random() % 80) - 24) / 32 * scale;
      p.dx[k] = dx[k], p.dy[k] = dy[k], p.offset[k] = static_cast<int>(random() % 40) - 20;
    }
    p.layer = (static_cast<float>(m.levels[0].depth) + 2) * unit() - 1;
    p.lod = random() % 3 ? unit() * (levels + 3) - 2 : static_cast<float>(static_cast<int>(random() % 20) - 4) / 2;
    if (kind.op == SampleOp::biased) p.lod = unit() * 4 - 2;
    p.dref = unit() * 1.2f - 0.1f, p.least_lod = unit() * (levels + 1) - 1;
    const fuzz::ModelLevel& level = m.levels[random() % m.levels.size()];
    if (of.compares && random() & 1) p.dref = static_cast<float>(level.texels[random() % level.texels.size()][0]);
    if (kind.op != SampleOp::fetch && kind.op != SampleOp::size) continue;
    const int sizes[3] = {level.width, level.height, level.depth};
    for (int k = 0; k < 3; k++) p.at[k] = static_cast<float>(random() % static_cast<uint32_t>(sizes[k] + 2)) - (random() % 8 ? 0.0f : 1.0f);
    p.layer = static_cast<float>(static_cast<int>(random() % static_cast<uint32_t>(level.depth + 1))),
    p.lod = static_cast<float>(random() % m.levels.size());
    if (kind.op == SampleOp::fetch && random() % 16 == 0) p.lod = static_cast<float>(static_cast<int>(random() % 8) - 2);
  }
}

/// A block of 4x4 pixels whose places lie in rows and columns, as those of a pass over a picture do: at centres of texels, between them or
/// anywhere, so many texels apart. All else stays as it is.
void align_block(const Case& of, const SampleKind& kind, const fuzz::ModelView& m, std::mt19937& random, fuzz::SampleInput* block) {
  constexpr float kSteps[] = {1, 1, 1, 0.5f, 2, 0.75f, 0, -1, 7 / 3.0f, 2.5f}, kWithin[] = {0.5f, 0.5f, 0, 0.25f};
  const fuzz::ModelLevel& level = m.levels[random() % 4 ? 0 : random() % m.levels.size()];
  const int sizes[2] = {level.width, level.height};
  const bool fetches = kind.op == SampleOp::fetch;
  const auto pixel = [&](uint32_t x, uint32_t y) -> fuzz::SampleInput& { return block[y * fuzz::kSamplesWide + x]; };
  for (int k = 0; k < 2; k++) {
    const float step = kSteps[random() % std::size(kSteps)], within = kWithin[random() % std::size(kWithin)];
    const float first = static_cast<float>(static_cast<int>(random() % static_cast<uint32_t>(sizes[k] + 4)) - 3);
    const float divisor = of.sampler.unnormalized_coordinates ? 1 : static_cast<float>(sizes[k]);
    for (uint32_t n = 0; n < 16; n++) {
      const float texel = first + step * static_cast<float>(k ? n / 4 : n % 4);
      pixel(n % 4, n / 4).at[k] = fetches ? std::floor(texel) : (texel + within) / divisor;
    }
  }
  for (uint32_t n = 0; n < 16; n++) {
    fuzz::SampleInput& p = pixel(n % 4, n / 4);
    p.lod = fetches ? static_cast<float>(&level - m.levels.data()) : p.lod;
    for (int k = 0; k < 3; k++) p.offset[k] = pixel(0, 0).offset[k];
    if (fetches || n % 4 % 2 || n / 4 % 2) continue;
    for (int k = 0; k < 2; k++) {  // of a quad, as the shader finds it
      const float dx = pixel(n % 4 + 1, n / 4).at[k] - p.at[k], dy = pixel(n % 4, n / 4 + 1).at[k] - p.at[k];
      for (uint32_t q = 0; q < 4; q++) {
        fuzz::SampleInput& of_quad = pixel(n % 4 + q % 2, n / 4 + q / 2);
        of_quad.dx[k] = dx, of_quad.dy[k] = dy, of_quad.dx[2] = of_quad.dy[2] = 0;
      }
    }
  }
}

std::vector<fuzz::SampleInput> places(const Case& of, const SampleKind& kind, const fuzz::ModelView& m, std::mt19937& random) {
  assert(!m.levels.empty() && fuzz::kSamplesWide % 2 == 0);
  std::vector<fuzz::SampleInput> all(kSampleCount);
  for (uint32_t y = 0; y < fuzz::kSamplesHigh; y += 2)
    for (uint32_t x = 0; x < fuzz::kSamplesWide; x += 2) {
      fuzz::SampleInput* const at = &all[y * fuzz::kSamplesWide + x];
      fuzz::SampleInput* const quad[4] = {at, at + 1, at + fuzz::kSamplesWide, at + fuzz::kSamplesWide + 1};
      make_quad(of, kind, m, random, quad);
    }
  const bool flat = m.type == VK_IMAGE_VIEW_TYPE_2D || m.type == VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  for (uint32_t block = 0; flat && kind.op != SampleOp::size && block < kSampleCount / 16; block++)
    if (random() % 2)
      align_block(of, kind, m, random, &all[block * 4 / fuzz::kSamplesWide * 4 * fuzz::kSamplesWide + block * 4 % fuzz::kSamplesWide]);
  // Anything: of a place, its derivatives and numbers, whatever the bits.
  for (size_t k = 0; k < std::min<size_t>(of.bytes.size() / 48, 8); k++) std::memcpy(&all[k * 5], of.bytes.data() + k * 48, 48);
  return all;
}

// -- one device

struct Drawn {
  bool ran = false;
  std::string refused;
  std::vector<uint8_t> pixels;
};

Drawn draw(const Ptr<Device>& device, const Case& of, const SampleKind& kind, const Ptr<ImageView>& texture,
           const std::vector<fuzz::SampleInput>& input) {
  assert(device && texture && input.size() == kSampleCount);
  Drawn result;
  GraphicsPipelineCreateInfo info;
  const std::string prefix = kind.prefix;
  const Ptr<ShaderModule> fragment = fuzz::own_shader(fuzz::sampling_text(kind), VK_SHADER_STAGE_FRAGMENT_BIT);
  const Ptr<ShaderModule> vertex = fuzz::own_shader(
      "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }",
      VK_SHADER_STAGE_VERTEX_BIT);
  if (!fragment || !vertex) fuzz::finding("a shader of the fuzzer's own does not compile: " + fuzz::sampling_text(kind));
  info.label = "sample", info.stages = {{vertex, {}}, {fragment, {}}};
  info.color_formats = {prefix == "u"   ? VK_FORMAT_R32G32B32A32_UINT
                        : prefix == "i" ? VK_FORMAT_R32G32B32A32_SINT
                                        : VK_FORMAT_R32G32B32A32_SFLOAT};
  const Ptr<Pipeline> pipeline = fuzz::take(device->create_pipeline(info), "a pipeline");
  const Ptr<DescriptorSet> set = fuzz::take(device->create_descriptor_set(pipeline->info().layout->sets[0]), "a set");
  Expected<Ptr<Sampler>> sampler = Sampler::create(of.sampler);
  if (!sampler) return result.refused = sampler.error().message, result;
  Descriptor t, coordinates;
  t.view = texture, t.sampler = *sampler;
  Status ok = set->write(0, 0, t);
  coordinates.buffer = fuzz::patterned_buffer(kSampleCount * sizeof(fuzz::SampleInput), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  std::memcpy(coordinates.buffer->data(), input.data(), input.size() * sizeof(fuzz::SampleInput));
  if (ok) ok = set->write(1, 0, coordinates);
  RenderingInfo pass;
  pass.label = "sample";
  RenderingAttachment& a = pass.color.emplace_back();
  a.view = fuzz::target(info.color_formats[0], VK_SAMPLE_COUNT_1_BIT, fuzz::kSamplesWide, fuzz::kSamplesHigh);
  a.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  auto cb = std::make_shared<CommandBuffer>(device);
  if (ok) ok = cb->begin();
  if (ok) ok = cb->begin_rendering(pass);
  if (ok) {
    cb->bind_pipeline(pipeline), cb->bind_descriptor_set(0, set);
    ok = cb->draw(3, 1, 0, 0);
  }
  if (ok) ok = cb->end_rendering();
  if (ok) ok = cb->end();
  if (!ok) return result.refused = ok.error().message, result;
  auto done = device->submit_and_wait({{cb}, {}}, {});
  if (!done) return result.refused = done.error().message, result;
  result.ran = true;
  fuzz::append(result.pixels, *a.view->image());
  return result;
}

// -- the model beside it

fuzz::SampleRequest request_of(const SampleKind& kind, const fuzz::SampleInput& p) {
  fuzz::SampleRequest q;
  for (int k = 0; k < 3; k++) q.at[k] = p.at[k], q.dx[k] = p.dx[k], q.dy[k] = p.dy[k];
  q.layer = p.layer, q.dref = p.dref, q.component = static_cast<int>(kind.component), q.lod = p.lod;
  if (kind.op == SampleOp::biased) q.bias = p.lod;
  if (kind.op == SampleOp::clamped) q.least_lod = p.least_lod;
  if (kind.op == SampleOp::gather_offset) q.offset[0] = p.offset[0], q.offset[1] = p.offset[1];
  if (kind.op == SampleOp::offset_lod || kind.op == SampleOp::offset_gradient) std::copy_n(fuzz::kOffsets[kind.offset], 3, q.offset);
  return q;
}

fuzz::SampleAnswer answer_of(const fuzz::SamplingModel& model, const fuzz::ModelView& view, const SampleKind& kind,
                             const fuzz::SampleRequest& q) {
  switch (kind.op) {
    case SampleOp::gather:
    case SampleOp::gather_offset:
      return model.gather(q);
    case SampleOp::query_lod:
      return model.query_lod(q);
    case SampleOp::fetch:
      return model.fetch(q);
    case SampleOp::size: {
      const auto levels = static_cast<double>(view.levels.size());
      const auto level = static_cast<size_t>(std::clamp(q.lod, 0.0, levels - 1));
      const fuzz::ModelLevel& l = view.levels[level];
      fuzz::SampleAnswer a;
      a.unsure = q.lod <= -1 || q.lod >= levels;
      a.value = {static_cast<double>(view.levels.size()), static_cast<double>(l.width), 0, 0};
      size_t next = 2;
      if (!model.is_line()) a.value[next++] = l.height;
      if (model.is_volume() || model.is_array()) a.value[next] = model.is_cube() ? l.depth / 6 : l.depth;
      return a;
    }
    default:
      return model.sample(q, kind.op == SampleOp::lod || kind.op == SampleOp::offset_lod);
  }
}

bool is_finite(const fuzz::SampleInput& p) {
  bool fine = std::abs(p.layer) < 1e9f && std::abs(p.lod) < 1e6f && std::isfinite(p.dref);
  for (int k = 0; k < 3; k++) fine &= std::abs(p.at[k]) < 1e6f && std::abs(p.dx[k]) < 1e6f && std::abs(p.dy[k]) < 1e6f;
  return fine;
}

/// What is to be known of a sample that is wrong.
std::string described(const Case& of, const SampleKind& kind, const fuzz::SampleInput& p) {
  const SamplerCreateInfo& s = of.sampler;
  char text[768];
  std::snprintf(
      text, sizeof text,
      "%s, %ux%ux%u, %u levels from %u (least %g), view type %d, operation %d; filters %d %d %d, modes %d %d %d, LOD %g to %g + %g, "
      "anisotropy %g, reduction %d, border %d, compare %d; at (%.9g, %.9g, %.9g), layer %g, lod %.9g, reference %.9g, dx (%g, %g, "
      "%g), dy (%g, %g, %g)",
      of.format->name, of.image.width_px, of.image.height_px, of.image.depth_px, of.image.mip_levels, of.view.base_level, of.view.min_lod,
      of.view.type, static_cast<int>(kind.op), s.mag_filter, s.min_filter, s.mipmap_mode, s.address_u, s.address_v, s.address_w, s.min_lod,
      s.max_lod, s.mip_lod_bias, s.max_anisotropy, s.reduction_mode, s.border_color, s.compare_enable ? s.compare_op : -1, p.at[0], p.at[1],
      p.at[2], p.layer, p.lod, p.dref, p.dx[0], p.dx[1], p.dx[2], p.dy[0], p.dy[1], p.dy[2]);
  return text;
}

void check(const Case& of, const SampleKind& kind, const fuzz::ModelView& view, const std::vector<fuzz::SampleInput>& input,
           const std::vector<uint8_t>& pixels) {
  const fuzz::SamplingModel model(view, of.sampler, of.compares);
  assert(pixels.size() >= kSampleCount * 16 && input.size() == kSampleCount);
  const bool by_quad = kind.op == SampleOp::implicit || kind.op == SampleOp::biased || kind.op == SampleOp::query_lod;
  const bool floats = *kind.prefix == 0;
  const double decoded = of.format->numeric == vk::Numeric::srgb ? 2e-5 : 0;  // of the polynomial
  for (size_t n = 0; n < kSampleCount; n++) {
    const fuzz::SampleInput& p = input[n];
    // Beside a pixel of any bits there are no derivatives that are known.
    if (!is_finite(p) || (by_quad && n / fuzz::kSamplesWide < 2 && of.bytes.size() >= 48)) continue;
    const fuzz::SampleRequest q = request_of(kind, p);
    const fuzz::SampleAnswer want = answer_of(model, view, kind, q);
    if (want.unsure) continue;
    for (size_t k = 0; k < (of.compares && kind.op != SampleOp::gather && kind.op != SampleOp::gather_offset ? 1 : 4); k++) {
      uint32_t word = 0;
      std::memcpy(&word, &pixels[n * 16 + k * 4], 4);
      float value = 0;
      std::memcpy(&value, &word, 4);
      const double got = floats ? value : *kind.prefix == 'u' ? static_cast<double>(word) : static_cast<double>(static_cast<int32_t>(word));
      const bool exact = of.is_integer() && kind.op != SampleOp::query_lod;
      const double slack = exact ? 0 : want.slack[k] + decoded + std::abs(want.value[k]) * 1e-6;
      if (!floats && !exact) continue;  // of an integer texture: what a query makes of fractions
      if (std::abs(got - want.value[k]) <= slack || (floats && std::isnan(want.value[k]) && std::isnan(got)) || got == want.value[k])
        continue;
      char text[256];
      std::snprintf(text, sizeof text, "component %zu is %.9g, not %.9g (within %.3g), pixel %zu, %u lanes: ", k, got, want.value[k], slack,
                    n, of.lanes);
      fuzz::finding(text + described(of, kind, p));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B || size_B < 16) return -1;
  Case of;
  if (!of.read({data, size_B})) return -1;
  std::mt19937 random(of.seed);
  const Ptr<ImageView> texture = view_of(of, random);
  if (!texture) return 0;
  const fuzz::ModelView view = model_of(of, *texture->image());
  const uint64_t hash = fuzz::hash_of(data, size_B);
  for (const SampleKind& kind : of.kinds) {
    const bool optimises = hash % 8 == 0 || kind.together, twice = hash % 4 == 0 || kind.together;  // only optimised code joins look-ups
    const std::vector<fuzz::SampleInput> input = places(of, kind, view, random);
    DeviceCreateInfo info;
    info.threads = 1, info.lanes = of.lanes;
    const Drawn one = draw(fuzz::device(info, fuzz::Code::quick), of, kind, texture, input);
    if (one.ran) check(of, kind, view, input, one.pixels);
    if (!twice) continue;
    info.lanes = optimises ? 16 : of.lanes == 4 ? 8 : 4;  // what reads by rows is optimised code of 16 lanes
    const Drawn two = draw(fuzz::device(info, optimises ? fuzz::Code::optimised : fuzz::Code::quick), of, kind, texture, input);
    if (one.ran != two.ran) fuzz::finding("sampled at one number of lanes alone: " + one.refused + two.refused);
    if (const std::string text = fuzz::difference(one.pixels, two.pixels); !text.empty())
      fuzz::finding(std::string(of.format->name) + ": other lanes" + (optimises ? " (optimised)" : "") + " differ: " + text);
  }
  return 0;
}
