// test_copy.cpp -- transfers against naive texel loops: regions of copies at
// random, blits, mipmaps, clears, resolves; their refusals.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "resource/texel_rows.hpp"
#include "transfer/forbidden.hpp"
#include "transfer/regions.hpp"

using namespace tilegpu;
using namespace tilegpu::resource;
using namespace tilegpu::transfer;

namespace {

template <class T>
void expect_error(const Expected<T>& result, const std::string& words) {
  CHECK(!result, "no error, expected '%s'", words.c_str());
  if (!result)
    CHECK(result.error().message.find(words) != std::string::npos, "'%s' does not say '%s'", result.error().message.c_str(), words.c_str());
}

Ptr<Image> make_image(VkFormat format, uint32_t width, uint32_t height, uint32_t levels = 1, uint32_t layers = 1, uint32_t samples = 1,
                      ImageTiling tiling = ImageTiling::linear) {
  ImageCreateInfo info;
  info.format = format;
  info.width_px = width;
  info.height_px = height;
  info.mip_levels = levels;
  info.array_layers = layers;
  info.samples = static_cast<VkSampleCountFlagBits>(samples);
  info.tiling = tiling;
  info.label = "thing";
  auto image = Image::create(info);
  if (!image || !(*image)->ensure_memory()) std::abort();
  return *image;
}

Ptr<Buffer> make_buffer(uint64_t size_B) {
  auto buffer = Buffer::create({size_B, 0, "data"});
  auto memory = DeviceMemory::allocate(size_B);
  if (!buffer || !memory || !(*buffer)->bind(*memory, 0)) std::abort();
  return *buffer;
}

/// As threads would share rows: pieces of odd sizes, the last one first.
const ShareRows kPieces = [](uint32_t rows, const std::function<void(RowRange)>& work) {
  const uint32_t a = rows / 3, b = rows / 3 + rows / 2;
  for (RowRange range : {RowRange{b, rows}, RowRange{a, b}, RowRange{0, a}}) work(range);
};

constexpr VkImageAspectFlags kColor = VK_IMAGE_ASPECT_COLOR_BIT;
VkImageSubresourceLayers layers(VkImageAspectFlags aspects, uint32_t level = 0, uint32_t layer = 0, uint32_t count = 1) {
  return {aspects, level, layer, count};
}
VkImageSubresourceRange all_of(VkImageAspectFlags aspects) { return {aspects, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}; }
VkBufferImageCopy2 buffer_image(uint64_t offset_B, uint32_t row_px, VkImageSubresourceLayers part, VkOffset3D offset, VkExtent3D extent) {
  VkBufferImageCopy2 r{};
  r.bufferOffset = offset_B, r.bufferRowLength = row_px;
  r.imageSubresource = part, r.imageOffset = offset, r.imageExtent = extent;
  return r;
}
VkImageCopy2 image_copy(VkImageSubresourceLayers from, VkOffset3D from_offset, VkImageSubresourceLayers to, VkOffset3D to_offset,
                        VkExtent3D extent) {
  VkImageCopy2 r{};
  r.srcSubresource = from, r.srcOffset = from_offset, r.dstSubresource = to, r.dstOffset = to_offset, r.extent = extent;
  return r;
}
VkImageBlit2 blit(const VkOffset3D from[2], const VkOffset3D to[2]) {
  VkImageBlit2 r{};
  r.srcSubresource = r.dstSubresource = layers(kColor);
  for (int i = 0; i < 2; ++i) r.srcOffsets[i] = from[i], r.dstOffsets[i] = to[i];
  return r;
}
template <class T>
std::span<const T> one(const T& region) {
  return {&region, 1};
}
void clear_color(const Ptr<Image>& image, const VkClearColorValue& value) {
  const VkImageSubresourceRange range = all_of(kColor);
  CHECK(bool(check_clear_color_image(*image, one(range))), "check");
  clear_color_image(*image, value, one(range), kPieces);
}

std::vector<uint8_t> random_bytes(size_t count, std::mt19937& random) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

vk::Texel texel_at(const Image& image, uint32_t level, uint32_t layer, uint32_t s, uint32_t x, uint32_t y,
                   VkImageAspectFlagBits aspect = VK_IMAGE_ASPECT_COLOR_BIT) {
  const TexelRows t = open_texels(image, aspect, level, layer, s);
  return vk::unpack_texel(*vk::find_format(image.info().format), t.rows.at(x, y));
}

vk::Texel random_texel(const vk::FormatInfo& format, std::mt19937& random) {
  vk::Texel texel;
  for (int c = 0; c < 4; ++c) {
    if (format.is_integer())
      texel.u[c] = random() % 120;
    else
      texel.f[c] = static_cast<float>(random() % 1025) / 1024.0f;
  }
  return texel;
}

void fill_random(Image& image, std::mt19937& random) {
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  for (uint32_t level = 0; level < image.info().mip_levels; ++level) {
    for (uint32_t layer = 0; layer < image.info().array_layers; ++layer) {
      for (uint32_t s = 0; s < image.sample_count(); ++s) {
        TexelRows t = open_texels(image, VK_IMAGE_ASPECT_COLOR_BIT, level, layer, s);
        for (uint32_t y = 0; y < t.rows.texel_blocks_y; ++y) {
          for (uint32_t x = 0; x < t.rows.texel_blocks_x; ++x) vk::pack_texel(format, random_texel(format, random), t.rows.at(x, y));
        }
        close_texels(t);
      }
    }
  }
}

/// Buffer to image to image to buffer brings the same bytes, for every aspect
/// and tiling, at odd places.
void copies_round_trip() {
  std::mt19937 random(1);
  struct Case {
    VkFormat format;
    VkImageAspectFlagBits aspect;
    uint32_t buffer_B;
  };
  const Case cases[] = {
      {VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT, 4},       {VK_FORMAT_R8_UINT, VK_IMAGE_ASPECT_COLOR_BIT, 1},
      {VK_FORMAT_R32G32B32A32_SFLOAT, VK_IMAGE_ASPECT_COLOR_BIT, 16}, {VK_FORMAT_D16_UNORM, VK_IMAGE_ASPECT_DEPTH_BIT, 2},
      {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT, 4},   {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT, 1},
      {VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT, 4},    {VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT, 1}};
  for (const Case& c : cases) {
    for (ImageTiling tiling : {ImageTiling::linear, ImageTiling::block_compressed}) {
      const Ptr<Image> a = make_image(c.format, 53, 41, 2, 2, 1, tiling), b = make_image(c.format, 61, 47, 1, 1, 1, tiling);
      const uint32_t row_length = 37, width = 23, height = 19;
      const Ptr<Buffer> in = make_buffer(8192 * 8), out = make_buffer(8192 * 8);
      const std::vector<uint8_t> bytes = random_bytes(8192 * 8, random);
      std::memcpy(in->data(), bytes.data(), bytes.size());
      const VkOffset3D at{2, 1, 0}, middle{17, 9, 0};
      const VkImageSubresourceLayers part = layers(c.aspect, 1, 1), first = layers(c.aspect);
      const VkBufferImageCopy2 up = buffer_image(64, row_length, part, at, {width, height, 1}),
                               down = buffer_image(128, 0, first, middle, {width, height, 1});
      const VkImageCopy2 across = image_copy(part, at, first, middle, {width, height, 1});
      CHECK(bool(check_copy_buffer_to_image(*in, *a, one(up))), "check");
      copy_buffer_to_image(*in, *a, one(up), kPieces);
      CHECK(bool(check_copy_image(*a, *b, one(across))), "check");
      copy_image(*a, *b, one(across), kPieces);
      CHECK(bool(check_copy_image_to_buffer(*b, *out, one(down))), "check");
      copy_image_to_buffer(*b, *out, one(down), kPieces);
      CHECK(b->is_defined(c.aspect, 0, 0), "defined");
      for (uint32_t y = 0; y < height; ++y) {
        for (uint32_t x = 0; x < width; ++x) {
          uint8_t want[16], got[16];
          std::memcpy(want, in->data() + 64 + (y * row_length + x) * c.buffer_B, c.buffer_B);
          if (c.format == VK_FORMAT_D24_UNORM_S8_UINT && c.buffer_B == 4) want[3] = 0;
          std::memcpy(got, out->data() + 128 + (y * width + x) * c.buffer_B, c.buffer_B);
          CHECK(std::memcmp(want, got, c.buffer_B) == 0, "format %d aspect %d (%u, %u)", c.format, c.aspect, x, y);
        }
      }
    }
  }
}

/// D24S8: writing one aspect keeps the other.
void aspects_apart() {
  const Ptr<Image> image = make_image(VK_FORMAT_D24_UNORM_S8_UINT, 20, 20);
  const VkImageSubresourceRange both = all_of(VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT),
                                depth = all_of(VK_IMAGE_ASPECT_DEPTH_BIT);
  clear_depth_stencil_image(*image, {0.25f, 77}, one(both), kPieces);
  clear_depth_stencil_image(*image, {1.0f, 5}, one(depth), kPieces);
  const Ptr<Buffer> out = make_buffer(2000);
  const VkBufferImageCopy2 stencil = buffer_image(0, 0, layers(VK_IMAGE_ASPECT_STENCIL_BIT), {}, {20, 20, 1});
  copy_image_to_buffer(*image, *out, one(stencil), kPieces);
  CHECK(out->data()[399] == 77, "stencil stayed");
  CHECK(texel_at(*image, 0, 0, 0, 19, 19, VK_IMAGE_ASPECT_DEPTH_BIT).f[0] == 1.0f, "depth cleared");
}

double naive_axis(double at, int size, auto value) {
  const double floor = std::floor(at);
  const auto clamp = [&](double v) { return static_cast<uint32_t>(std::clamp<double>(v, 0, size - 1)); };
  const double w = at - floor;
  return value(clamp(floor)) * (1 - w) + value(clamp(floor + 1)) * w;
}

/// Four values of one axis with Catmull-Rom weights, by the specification's matrix.
double naive_cubic_axis(double at, int size, auto value) {
  constexpr double kMatrix[4][4] = {{0, 2, 0, 0}, {-1, 0, 1, 0}, {2, -5, 4, -1}, {-1, 3, -3, 1}};
  const double first = std::floor(at - 1), a = at - std::floor(at);
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const double weight = 0.5 * (kMatrix[0][k] + a * kMatrix[1][k] + a * a * kMatrix[2][k] + a * a * a * kMatrix[3][k]);
    sum += weight * value(static_cast<uint32_t>(std::clamp<double>(first + k, 0, size - 1)));
  }
  return sum;
}

/// One component at (u, v) of the source; none: on an edge either neighbour is right.
std::optional<double> naive_sample(const Image& image, VkFilter filter, double u, double v, int component) {
  const int w = static_cast<int>(image.info().width_px), h = static_cast<int>(image.info().height_px);
  const auto source = [&](uint32_t x, uint32_t y) {
    const vk::Texel t = texel_at(image, 0, 0, 0, x, y);
    return format_of(image).is_integer() ? static_cast<double>(t.u[component]) : static_cast<double>(t.f[component]);
  };
  if (filter == VK_FILTER_CUBIC_EXT)
    return naive_cubic_axis(v - 0.5, h, [&](uint32_t y) { return naive_cubic_axis(u - 0.5, w, [&](uint32_t x) { return source(x, y); }); });
  if (filter != VK_FILTER_NEAREST)
    return naive_axis(v - 0.5, h, [&](uint32_t y) { return naive_axis(u - 0.5, w, [&](uint32_t x) { return source(x, y); }); });
  if (std::fabs(u - std::round(u)) < 1e-9 || std::fabs(v - std::round(v)) < 1e-9) return std::nullopt;
  return source(static_cast<uint32_t>(std::clamp<double>(std::floor(u), 0, w - 1)),
                static_cast<uint32_t>(std::clamp<double>(std::floor(v), 0, h - 1)));
}

/// Whole images: any scale, mirroring, filter, conversion, in double precision.
void blits() {
  std::mt19937 random(2);
  struct Case {
    VkFormat from, to;
    VkFilter filter;
    double tolerance;  // of the destination's real values
  };
  const Case cases[] = {{VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FILTER_NEAREST, 0},
                        {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FILTER_LINEAR, 1e-6},
                        {VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FILTER_LINEAR, 1e-6},
                        {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FILTER_CUBIC_EXT, 2e-6},
                        {VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FILTER_CUBIC_EXT, 2e-6},
                        {VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_B8G8R8A8_UNORM, VK_FILTER_LINEAR, 0.51 / 255},
                        {VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R5G6B5_UNORM_PACK16, VK_FILTER_NEAREST, 0.51 / 31},
                        {VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R16G16B16A16_UINT, VK_FILTER_NEAREST, 0}};
  for (const Case& c : cases) {
    for (int round = 0; round < 8; ++round) {
      const int w = 1 + static_cast<int>(random() % 30), h = 1 + static_cast<int>(random() % 30), dw = 1 + static_cast<int>(random() % 40),
                dh = 1 + static_cast<int>(random() % 40);
      const Ptr<Image> a = make_image(c.from, static_cast<uint32_t>(w), static_cast<uint32_t>(h)),
                       b = make_image(c.to, static_cast<uint32_t>(dw) + 3, static_cast<uint32_t>(dh) + 2);
      fill_random(*a, random);
      const bool mirror_x = round & 1, mirror_y = round & 2;
      const VkOffset3D from[2] = {{mirror_x ? w : 0, mirror_y ? h : 0, 0}, {mirror_x ? 0 : w, mirror_y ? 0 : h, 1}},
                       to[2] = {{3, 2, 0}, {dw + 3, dh + 2, 1}};
      const VkImageBlit2 region = blit(from, to);
      CHECK(bool(check_blit_image(*a, *b, one(region), c.filter)), "check");
      blit_image(*a, *b, one(region), c.filter, kPieces);
      for (int y = 0; y < dh; ++y) {
        for (int x = 0; x < dw; ++x) {
          double u = (x + 0.5) * w / dw, v = (y + 0.5) * h / dh;
          if (mirror_x) u = w - u;
          if (mirror_y) v = h - v;
          const vk::Texel got = texel_at(*b, 0, 0, 0, static_cast<uint32_t>(x) + 3, static_cast<uint32_t>(y) + 2);
          for (int k = 0; k < 3; ++k) {
            const std::optional<double> want = naive_sample(*a, c.filter, u, v, k);
            if (!want) continue;
            const double value = vk::find_format(c.to)->is_integer() ? got.u[k] : got.f[k];
            CHECK(std::fabs(value - *want) <= c.tolerance + 1e-12, "%d to %d (%d, %d)[%d]: %g, want %g", c.from, c.to, x, y, k, value,
                  *want);
          }
        }
      }
    }
  }
}

/// SCENES.md's chain: (sum + 2) / 4 of integers; and sizes that are odd on the
/// way.
void mipmaps() {
  std::mt19937 random(3);
  const Ptr<Image> even = make_image(VK_FORMAT_R8G8B8A8_UNORM, 64, 32, 7, 2);
  fill_random(*even, random);
  CHECK(bool(check_generate_mipmaps(*even)), "check");
  generate_mipmaps(*even, kPieces);
  for (uint32_t level = 1; level < 6; ++level) {
    const SubresourceLayout l = even->layout(VK_IMAGE_ASPECT_COLOR_BIT, level, 1);
    const Rows in = rows_of(*even, VK_IMAGE_ASPECT_COLOR_BIT, level - 1, 1, 0),
               out = rows_of(*even, VK_IMAGE_ASPECT_COLOR_BIT, level, 1, 0);
    for (uint32_t y = 0; y < l.height_px; ++y) {
      for (uint32_t x = 0; x < l.width_px; ++x) {
        for (uint32_t c = 0; c < 4; ++c) {
          const int sum = in.at(2 * x, 2 * y)[c] + in.at(2 * x + 1, 2 * y)[c] + in.at(2 * x, 2 * y + 1)[c] + in.at(2 * x + 1, 2 * y + 1)[c];
          CHECK(out.at(x, y)[c] == (sum + 2) / 4, "level %u", level);
        }
      }
    }
  }
  for (VkFormat format : {VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8_UINT}) {
    const Ptr<Image> odd = make_image(format, 13, 7, 4);
    clear_color(odd, VkClearColorValue{{0.5f, 0.5f, 0.5f, 0.5f}});
    const vk::Texel before = texel_at(*odd, 0, 0, 0, 0, 0);
    generate_mipmaps(*odd, kPieces);
    CHECK(texel_at(*odd, 3, 0, 0, 0, 0).f[0] == before.f[0], "a constant stays what it is");
  }
}

void clears() {
  const Ptr<Image> image = make_image(VK_FORMAT_R16G16B16A16_SFLOAT, 33, 17, 3, 2, 1);
  clear_color(image, VkClearColorValue{{0.5f, -2.0f, 1000.0f, 1.0f}});
  for (uint32_t level = 0; level < 3; ++level) {
    for (uint32_t layer = 0; layer < 2; ++layer) {
      const SubresourceLayout l = image->layout(VK_IMAGE_ASPECT_COLOR_BIT, level, layer);
      const vk::Texel t = texel_at(*image, level, layer, 0, l.width_px - 1, l.height_px - 1);
      CHECK(t.f[0] == 0.5f && t.f[1] == -2.0f && t.f[2] == 1000.0f, "level %u layer %u", level, layer);
    }
  }
  const Ptr<Image> samples = make_image(VK_FORMAT_R8_UINT, 5, 5, 1, 1, 8);
  VkClearColorValue value{};
  value.uint32[0] = 200;
  clear_color(samples, value);
  // A range leaves what is beside it.
  const VkImageSubresourceRange range = {kColor, 1, 2, 1, 1};
  clear_color_image(*image, VkClearColorValue{{3.0f, 0, 0, 0}}, one(range), kPieces);
  for (uint32_t level = 0; level < 3; ++level)
    for (uint32_t layer = 0; layer < 2; ++layer)
      CHECK(texel_at(*image, level, layer, 0, 0, 0).f[0] == (level >= 1 && layer == 1 ? 3.0f : 0.5f), "level %u layer %u", level, layer);
  CHECK(texel_at(*samples, 0, 0, 7, 4, 4).u[0] == 200, "all samples");
}

void compare_resolved(const Image& a, const Image& b) {
  const vk::FormatInfo& f = format_of(a);
  const uint32_t samples = a.sample_count();
  for (uint32_t layer = 0; layer < 2; ++layer) {
    for (uint32_t y = 0; y < 9; ++y) {
      for (uint32_t x = 0; x < 35; ++x) {
        const vk::Texel got = texel_at(b, 0, layer, 0, x, y);
        if (f.is_integer()) {
          CHECK(got.u[0] == texel_at(a, 0, layer, 0, x, y).u[0], "integers: sample zero");
          continue;
        }
        for (int c = 0; c < f.component_count; ++c) {
          double mean = 0;
          for (uint32_t s = 0; s < samples; ++s) mean += texel_at(a, 0, layer, s, x, y).f[c] / static_cast<double>(samples);
          // Half a code of the destination around the mean; sRGB by its
          // steepest step.
          const double slack = f.format == VK_FORMAT_R32_SFLOAT   ? 1e-7
                               : f.numeric == vk::Numeric::sfloat ? 5e-4
                               : f.numeric == vk::Numeric::srgb   ? 0.0046
                                                                  : 0.5001 / ((1 << f.rgba[c].bits) - 1);
          CHECK(std::fabs(got.f[c] - mean) <= slack, "%s %u samples: %g, want %g", f.name, samples, got.f[c], mean);
        }
      }
    }
  }
}

void resolves() {
  std::mt19937 random(4);
  for (VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R5G6B5_UNORM_PACK16,
                          VK_FORMAT_R8_UINT, VK_FORMAT_R32_SFLOAT}) {
    for (uint32_t samples : {2u, 4u, 8u, 16u}) {
      for (ImageTiling tiling : {ImageTiling::linear, ImageTiling::block_compressed}) {
        const Ptr<Image> a = make_image(format, 35, 9, 1, 2, samples, tiling),
                         b = make_image(format, 35, 9, 1, 2, 1, samples == 8 ? ImageTiling::block_compressed : ImageTiling::linear);
        fill_random(*a, random);
        VkImageResolve2 region{};
        region.srcSubresource = region.dstSubresource = layers(kColor, 0, 0, 2);
        region.extent = {35, 9, 1};
        CHECK(bool(check_resolve_image(*a, *b, one(region))), "check");
        resolve_image(*a, *b, one(region), kPieces);
        compare_resolved(*a, *b);
      }
    }
  }
}

Ptr<Image> make_shape(VkImageType type, VkFormat format, VkExtent3D size, uint32_t levels, uint32_t layer_count) {
  ImageCreateInfo info;
  info.type = type;
  info.format = format;
  info.width_px = size.width, info.height_px = size.height, info.depth_px = size.depth;
  info.mip_levels = levels;
  info.array_layers = layer_count;
  info.label = "thing";
  auto image = Image::create(info);
  if (!image || !(*image)->ensure_memory()) std::abort();
  return *image;
}

/// Every texel of an aspect of a level, as the bytes that a buffer would have:
/// [slab][y][x].
struct Texels {
  uint32_t width = 0, height = 0, texel_B = 0;
  std::vector<uint8_t> bytes;
  uint8_t* at(uint32_t slab, uint32_t y, uint32_t x) { return bytes.data() + ((size_t{slab} * height + y) * width + x) * texel_B; }
  bool operator==(const Texels&) const = default;
};

Texels texels_of(const Image& image, VkImageAspectFlagBits aspect, uint32_t level) {
  const AspectField field = aspect_field(format_of(image), aspect);
  Texels t = {image.extent(level).width, image.extent(level).height, field.buffer_B, {}};
  t.bytes.resize(size_t{image.layer_count(level)} * t.height * t.width * t.texel_B);
  for (uint32_t slab = 0; slab < image.layer_count(level); ++slab) {
    const TexelRows rows = open_texels(image, aspect, level, slab, 0);
    for (uint32_t y = 0; y < t.height; ++y)
      for (uint32_t x = 0; x < t.width; ++x) {
        uint32_t word = 0;
        if (field.mask) {
          std::memcpy(&word, rows.rows.at(x, y), 4);
          word = (word & field.mask) >> field.shift;
          std::memcpy(t.at(slab, y, x), &word, field.buffer_B);
        } else {
          std::memcpy(t.at(slab, y, x), rows.rows.at(x, y), t.texel_B);
        }
      }
  }
  return t;
}

void fill_bytes(const Image& image, std::mt19937& random) {
  for (uint64_t at = 0; at < image.required_B(); ++at) image.data()[at] = static_cast<uint8_t>(random());
}

uint32_t below(uint32_t limit, std::mt19937& random) { return static_cast<uint32_t>(random() % limit); }

/// A random part of an image: layers of an array, slices of a 3D image; `slabs`
/// is given where the other side has chosen.
struct Part {
  VkImageSubresourceLayers part;
  VkOffset3D offset;
  uint32_t first_slab;
};
Part random_part(const Image& image, VkImageAspectFlags aspects, VkExtent3D extent, uint32_t level, uint32_t slabs, std::mt19937& random) {
  const VkExtent3D size = image.extent(level);
  const uint32_t first = below(image.layer_count(level) - slabs + 1, random);
  const bool is_3d = image.info().type == VK_IMAGE_TYPE_3D;
  return {is_3d ? layers(aspects, level) : layers(aspects, level, first, slabs),
          {static_cast<int32_t>(below(size.width - extent.width + 1, random)),
           static_cast<int32_t>(below(size.height - extent.height + 1, random)), is_3d ? static_cast<int32_t>(first) : 0},
          first};
}

struct Shape {
  VkImageType type;
  VkExtent3D size;
  uint32_t levels, layers;
};
const Shape kShapes[] = {
    {VK_IMAGE_TYPE_2D, {37, 29, 1}, 3, 5}, {VK_IMAGE_TYPE_3D, {33, 21, 9}, 3, 1}, {VK_IMAGE_TYPE_1D, {41, 1, 1}, 2, 6}};

/// Regions at random between images of every type: like a loop over texels,
/// region after region; nothing else changes.
void random_copies() {
  std::mt19937 random(11);
  const struct {
    VkFormat from, to;
    VkImageAspectFlags aspects;
  } formats[] = {{VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_SFLOAT, kColor},
                 {VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16_SFLOAT, kColor},
                 {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT, kColor},
                 {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT},
                 {VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT}};
  for (const auto& f : formats)
    for (const Shape& a : kShapes)
      for (const Shape& b : kShapes) {
        const Ptr<Image> from = make_shape(a.type, f.from, a.size, a.levels, a.layers),
                         to = make_shape(b.type, f.to, b.size, b.levels, b.layers);
        fill_bytes(*from, random);
        fill_bytes(*to, random);
        std::vector<VkImageCopy2> regions;
        struct Level {
          VkImageAspectFlagBits aspect;
          uint32_t level;
          Texels want;
        };
        std::vector<Level> want;
        for_each_aspect(format_aspects(format_of(*to)), [&](VkImageAspectFlagBits aspect) {
          for (uint32_t level = 0; level < b.levels; ++level) want.push_back({aspect, level, texels_of(*to, aspect, level)});
        });
        for (int i = 0; i < 4; ++i) {
          const uint32_t la = below(a.levels, random), lb = below(b.levels, random);
          const VkExtent3D p = from->extent(la), q = to->extent(lb);
          const uint32_t slabs = 1 + below(std::min(from->layer_count(la), to->layer_count(lb)), random);
          VkExtent3D extent = {1 + below(std::min(p.width, q.width), random), 1 + below(std::min(p.height, q.height), random), 1};
          if (a.type == VK_IMAGE_TYPE_3D || b.type == VK_IMAGE_TYPE_3D) extent.depth = slabs;
          const Part s = random_part(*from, f.aspects, extent, la, slabs, random),
                     d = random_part(*to, f.aspects, extent, lb, slabs, random);
          regions.push_back(image_copy(s.part, s.offset, d.part, d.offset, extent));
          for (Level& level : want) {
            if (level.level != lb || !(f.aspects & level.aspect)) continue;
            Texels in = texels_of(*from, level.aspect, la);
            for (uint32_t slab = 0; slab < slabs; ++slab)
              for (uint32_t y = 0; y < extent.height; ++y)
                for (uint32_t x = 0; x < extent.width; ++x)
                  std::memcpy(
                      level.want.at(d.first_slab + slab, static_cast<uint32_t>(d.offset.y) + y, static_cast<uint32_t>(d.offset.x) + x),
                      in.at(s.first_slab + slab, static_cast<uint32_t>(s.offset.y) + y, static_cast<uint32_t>(s.offset.x) + x), in.texel_B);
          }
        }
        const Status ok = check_copy_image(*from, *to, regions);
        CHECK(bool(ok), "%s", ok ? "" : ok.error().message.c_str());
        if (!ok) continue;
        copy_image(*from, *to, regions, kPieces);
        for (const Level& level : want)
          CHECK(texels_of(*to, level.aspect, level.level) == level.want, "%d to %d, types %d and %d, aspect %d, level %u", f.from, f.to,
                a.type, b.type, level.aspect, level.level);
      }
}

/// The same between buffers and images, with padded rows and slices.
void random_buffer_copies() {
  std::mt19937 random(12);
  const struct {
    VkFormat format;
    VkImageAspectFlagBits aspect;
  } formats[] = {{VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT},
                 {VK_FORMAT_R8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT},
                 {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT},
                 {VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT}};
  for (const auto& f : formats)
    for (const Shape& shape : kShapes)
      for (int round = 0; round < 6; ++round) {
        const Ptr<Image> image = make_shape(shape.type, f.format, shape.size, shape.levels, shape.layers);
        fill_bytes(*image, random);
        const Ptr<Buffer> buffer = make_buffer(1 << 18), out = make_buffer(1 << 18);
        const std::vector<uint8_t> bytes = random_bytes(1 << 18, random);
        std::memcpy(buffer->data(), bytes.data(), bytes.size());
        const uint32_t level = below(shape.levels, random), slabs = 1 + below(image->layer_count(level), random);
        const VkExtent3D size = image->extent(level);
        const VkExtent3D extent = {1 + below(size.width, random), 1 + below(size.height, random),
                                   shape.type == VK_IMAGE_TYPE_3D ? slabs : 1};
        const Part part = random_part(*image, f.aspect, extent, level, slabs, random);
        VkBufferImageCopy2 region = buffer_image(below(100, random) * 4, extent.width + below(5, random), part.part, part.offset, extent);
        region.bufferImageHeight = round & 1 ? extent.height + below(4, random) : 0;
        Texels want = texels_of(*image, f.aspect, level);
        const uint32_t rows = region.bufferImageHeight ? region.bufferImageHeight : extent.height;
        const auto in_buffer = [&](uint32_t slab, uint32_t y, uint32_t x) {
          return region.bufferOffset + ((size_t{slab} * rows + y) * region.bufferRowLength + x) * want.texel_B;
        };
        const auto each = [&](auto visit) {
          for (uint32_t slab = 0; slab < slabs; ++slab)
            for (uint32_t y = 0; y < extent.height; ++y)
              for (uint32_t x = 0; x < extent.width; ++x)
                visit(in_buffer(slab, y, x),
                      want.at(part.first_slab + slab, static_cast<uint32_t>(part.offset.y) + y, static_cast<uint32_t>(part.offset.x) + x));
        };
        each([&](size_t at, uint8_t* texel) { std::memcpy(texel, bytes.data() + at, want.texel_B); });
        const Status ok = check_copy_buffer_to_image(*buffer, *image, one(region));
        CHECK(bool(ok), "%s", ok ? "" : ok.error().message.c_str());
        if (!ok) continue;
        copy_buffer_to_image(*buffer, *image, one(region), kPieces);
        CHECK(texels_of(*image, f.aspect, level) == want, "format %d type %d", f.format, shape.type);
        CHECK(bool(check_copy_image_to_buffer(*image, *out, one(region))), "back");
        copy_image_to_buffer(*image, *out, one(region), kPieces);
        each([&](size_t at, uint8_t* texel) { CHECK(std::memcmp(out->data() + at, texel, want.texel_B) == 0, "byte %zu", at); });
        CHECK(std::count(out->data(), out->data() + out->size_B(), 0) >=
                  static_cast<int64_t>(out->size_B() - size_t{slabs} * extent.height * extent.width * want.texel_B),
              "nothing else is written");
      }
}

/// Slices are interpolated too; a constant volume stays what it is, a ramp in z
/// becomes a ramp.
void blits_of_volumes() {
  const Ptr<Image> from = make_shape(VK_IMAGE_TYPE_3D, VK_FORMAT_R32_SFLOAT, {4, 4, 8}, 1, 1),
                   to = make_shape(VK_IMAGE_TYPE_3D, VK_FORMAT_R32_SFLOAT, {2, 2, 4}, 1, 1);
  for (uint32_t z = 0; z < 8; ++z)
    for (uint32_t y = 0; y < 4; ++y)
      for (uint32_t x = 0; x < 4; ++x) {
        const float value = static_cast<float>(z);
        std::memcpy(rows_of(*from, VK_IMAGE_ASPECT_COLOR_BIT, 0, z, 0).at(x, y), &value, 4);
      }
  const VkOffset3D whole[2] = {{0, 0, 0}, {4, 4, 8}}, half[2] = {{0, 0, 4}, {2, 2, 0}};  // mirrored in z
  const VkImageBlit2 region = blit(whole, half);
  CHECK(bool(check_blit_image(*from, *to, one(region), VK_FILTER_LINEAR)), "check");
  blit_image(*from, *to, one(region), VK_FILTER_LINEAR, kPieces);
  for (uint32_t z = 0; z < 4; ++z)
    CHECK(texel_at(*to, 0, z, 0, 1, 1).f[0] == 2.0f * static_cast<float>(3 - z) + 0.5f, "slice %u: %g", z,
          texel_at(*to, 0, z, 0, 1, 1).f[0]);
  const Ptr<Image> pyramid = make_shape(VK_IMAGE_TYPE_3D, VK_FORMAT_R8G8B8A8_UNORM, {16, 8, 4}, 5, 1);
  clear_color(pyramid, VkClearColorValue{{0.25f, 0.5f, 0.75f, 1.0f}});
  const Texels before = texels_of(*pyramid, VK_IMAGE_ASPECT_COLOR_BIT, 4);
  for (uint32_t level = 1; level < 5; ++level) std::memset(open_texels(*pyramid, VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 0).rows.data, 0, 4);
  generate_mipmaps(*pyramid, kPieces);
  CHECK(texels_of(*pyramid, VK_IMAGE_ASPECT_COLOR_BIT, 4) == before && pyramid->layer_count(1) == 2 && pyramid->layer_count(2) == 1,
        "a chain of volumes");
}

/// All texels of the destination lie at the corner of an empty source; what clamps there is the image's edge.
void blits_of_empty_sources() {
  const Ptr<Image> from = make_image(VK_FORMAT_R32_SFLOAT, 8, 4);
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 8; ++x) {
      const float value = static_cast<float>(10 * y + x);
      std::memcpy(rows_of(*from, VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 0).at(x, y), &value, 4);
    }
  struct Case {
    int32_t x, y;
    VkFilter filter;
    float value;
  };
  for (const Case& c :
       {Case{3, 2, VK_FILTER_NEAREST, 23}, Case{8, 4, VK_FILTER_NEAREST, 37}, Case{3, 2, VK_FILTER_LINEAR, (12 + 13 + 22 + 23) / 4.0f},
        Case{0, 4, VK_FILTER_LINEAR, 30}, Case{0, 4, VK_FILTER_CUBIC_EXT, 30.5625f}}) {
    const Ptr<Image> to = make_image(VK_FORMAT_R32_SFLOAT, 5, 3);
    const VkOffset3D point[2] = {{c.x, c.y, 0}, {c.x, c.y, 1}}, whole[2] = {{0, 3, 0}, {5, 0, 1}};
    const VkImageBlit2 region = blit(point, whole);
    CHECK(check_blit_image(*from, *to, one(region), c.filter), "check");
    blit_image(*from, *to, one(region), c.filter, kPieces);
    for (uint32_t y = 0; y < 3; ++y)
      for (uint32_t x = 0; x < 5; ++x)
        CHECK(texel_at(*to, 0, 0, 0, x, y).f[0] == c.value, "(%d, %d): %g, want %g", c.x, c.y, texel_at(*to, 0, 0, 0, x, y).f[0], c.value);
  }
}

void buffers() {
  const Ptr<Buffer> a = make_buffer(20000), b = make_buffer(20000);
  for (uint64_t i = 0; i < 20000; ++i) a->data()[i] = static_cast<uint8_t>(i * 7);
  VkBufferCopy2 regions[2]{};
  regions[0].srcOffset = 3, regions[0].dstOffset = 9000, regions[0].size = 10001;
  regions[1].srcOffset = 0, regions[1].dstOffset = 8999,
  regions[1].size = 2;  // the later one wins
  CHECK(bool(check_copy_buffer(*a, *b, regions)), "check");
  copy_buffer(*a, *b, regions, kPieces);
  CHECK(b->data()[8999] == a->data()[0] && b->data()[9000] == a->data()[1] && b->data()[19000] == a->data()[10003] && b->data()[19001] == 0,
        "copied");
  CHECK(bool(check_fill_buffer(*b, 8, VK_WHOLE_SIZE)), "check");
  fill_buffer(*b, 8, VK_WHOLE_SIZE, 0x04030201, kPieces);
  CHECK(b->data()[7] == 0 && b->data()[8] == 1 && b->data()[19999] == 4, "filled");
  const uint8_t four[4] = {9, 8, 7, 6};
  CHECK(bool(check_update_buffer(*b, 12, 4)), "check");
  update_buffer(*b, 12, four);
  CHECK(b->data()[11] == 4 && b->data()[12] == 9 && b->data()[15] == 6 && b->data()[16] == 1, "updated");
  expect_error(check_fill_buffer(*b, 6, 4), "fill_buffer: dstOffset is 6, allowed is a multiple of 4");
  expect_error(check_fill_buffer(*b, 20000, VK_WHOLE_SIZE), "less than the buffer's 20000");
  expect_error(check_update_buffer(*b, 0, 65540), "at most 65536");
  regions[0].srcOffset = 0, regions[0].dstOffset = 100, regions[0].size = 50;
  regions[1].srcOffset = 140, regions[1].dstOffset = 300, regions[1].size = 50;
  expect_error(check_copy_buffer(*a, *a, regions), "overlap in buffer 'data' (regions 0 and 1)");
  regions[1].srcOffset = 150;
  CHECK(bool(check_copy_buffer(*a, *a, regions)), "side by side");
}

/// Vulkan has no copy of several samples to a buffer; the driver, which some programs ask all the same, gives the first of each texel.
void first_samples() {
  const Ptr<Image> many = make_image(VK_FORMAT_R32_UINT, 5, 3, 1, 2, 4);
  for (uint32_t layer = 0; layer < 2; layer++)
    for (uint32_t sample = 0; sample < 4; sample++) {
      const resource::Rows rows = resource::rows_of(*many, VK_IMAGE_ASPECT_COLOR_BIT, 0, layer, sample);
      for (uint32_t y = 0; y < 3; y++)
        for (uint32_t x = 0; x < 5; x++) {
          const uint32_t texel = 1000 * layer + 100 * sample + 10 * y + x;
          std::memcpy(rows.at(x, y), &texel, sizeof texel);
        }
    }
  const Ptr<Buffer> out = make_buffer(2 * 3 * 5 * 4);
  const VkBufferImageCopy2 region = buffer_image(0, 0, layers(kColor, 0, 0, 2), {0, 0, 0}, {5, 3, 1});
  CHECK(bool(check_copy_image_to_buffer(*many, *out, one(region))));
  copy_image_to_buffer(*many, *out, one(region), kPieces);
  for (uint32_t i = 0; i < 30; i++) {
    uint32_t texel = 0;
    std::memcpy(&texel, out->data() + 4 * size_t{i}, sizeof texel);
    CHECK(texel == 1000 * (i / 15) + 10 * (i % 15 / 5) + i % 5);
  }
}

/// Images, views and buffers that share memory: overlaps are found by bytes.
void overlaps_of_memory() {
  const auto memory = *DeviceMemory::allocate(1 << 16);
  const auto image_at = [&](uint64_t offset_B, VkFormat format) {
    ImageCreateInfo info;
    info.format = format;
    info.width_px = info.height_px = 32;
    info.label = "thing";
    const Ptr<Image> image = *Image::create(info);
    if (!image->bind(memory, offset_B)) std::abort();
    return image;
  };
  const Ptr<Image> a = image_at(0, VK_FORMAT_R8G8B8A8_UNORM), b = image_at(2048,
                                                                           VK_FORMAT_R32_UINT);  // b begins in a's row 16
  const VkImageCopy2 apart = image_copy(layers(kColor), {0, 0, 0}, layers(kColor), {0, 0, 0}, {32, 16, 1}),
                     meet_ = image_copy(layers(kColor), {0, 0, 0}, layers(kColor), {0, 0, 0}, {32, 17, 1});
  CHECK(bool(check_copy_image(*a, *b, one(apart))), "rows 0 to 15");
  expect_error(check_copy_image(*a, *b, one(meet_)), "overlap in image 'thing'");
  const auto buffer = *Buffer::create({4096, 0, "data"});
  if (!buffer->bind(memory, 0)) std::abort();
  const VkBufferImageCopy2 down = buffer_image(2048, 0, layers(kColor), {0, 0, 0}, {32, 1, 1}),
                           same = buffer_image(0, 0, layers(kColor), {0, 0, 0}, {32, 1, 1});
  CHECK(bool(check_copy_image_to_buffer(*a, *buffer, one(down))), "another row");
  expect_error(check_copy_image_to_buffer(*a, *buffer, one(same)), "overlap in their memory");
}

void refusals() {
  const Ptr<Image> image = make_image(VK_FORMAT_R8G8B8A8_UNORM, 16, 16), many = make_image(VK_FORMAT_R8G8B8A8_UNORM, 16, 16, 1, 1, 4),
                   depth = make_image(VK_FORMAT_D32_SFLOAT, 16, 16);
  const Ptr<Image> wide = make_image(VK_FORMAT_R16G16B16A16_SFLOAT, 16, 16), integer = make_image(VK_FORMAT_R8G8B8A8_UINT, 16, 16);
  const Ptr<Buffer> buffer = make_buffer(1024);
  VkBufferCopy2 bytes{};
  bytes.dstOffset = 1000, bytes.size = 100;
  expect_error(check_copy_buffer(*buffer, *buffer, one(bytes)),
               "copy_buffer: regions[0].dst bytes of buffer 'data' is 100 "
               "bytes from byte 1000, allowed is within its 1024 bytes");
  bytes.dstOffset = 50;
  expect_error(check_copy_buffer(*buffer, *buffer, one(bytes)), "overlap");
  bytes.srcOffset = ~0ull;
  expect_error(check_copy_buffer(*buffer, *buffer, one(bytes)), "src bytes");
  expect_error(check_copy_buffer(*buffer, *buffer, {}), "regionCount is 0");
  const auto up = [&](const Ptr<Image>& to, const VkBufferImageCopy2& region) {
    return check_copy_buffer_to_image(*buffer, *to, one(region));
  };
  const VkImageSubresourceLayers first = layers(kColor);
  expect_error(up(image, buffer_image(4, 0, first, {}, {16, 16, 1})), "1024 bytes from byte 4");
  expect_error(up(image, buffer_image(0, 8, first, {}, {16, 2, 1})), "copy_buffer_to_image: regions[0].bufferRowLength is 8");
  expect_error(up(image, buffer_image(0, 0, first, {}, {17, 1, 1})), "within the level's 16x16x1 px");
  expect_error(up(image, buffer_image(0, 0, first, {}, {0, 1, 1})), "0x1x1 px");
  expect_error(up(image, buffer_image(0, 0, first, {-1, 0, 0}, {1, 1, 1})), "at (-1, 0, 0)");
  expect_error(up(image, buffer_image(0, 0, first, {0, 0, 1}, {1, 1, 1})),
               "imageOffset.z of image 'thing' is 1, allowed is 0 where the "
               "image is not 3d");
  expect_error(up(image, buffer_image(0, 0, first, {}, {1, 1, 2})), "imageExtent.depth is 2");
  expect_error(up(image, buffer_image(0, 0, layers(VK_IMAGE_ASPECT_DEPTH_BIT), {}, {1, 1, 1})), "imageSubresource.aspectMask");
  expect_error(up(image, buffer_image(0, 0, layers(kColor, 1), {}, {1, 1, 1})), "imageSubresource.mipLevel of image 'thing' is 1");
  expect_error(up(image, buffer_image(0, 0, layers(kColor, 0, 1), {}, {1, 1, 1})), "baseArrayLayer of image 'thing' is 1");
  expect_error(up(image, buffer_image(0, 0, layers(kColor, 0, 0, 2), {}, {1, 1, 1})), "layerCount of image 'thing' is 2");
  const VkBufferImageCopy2 pixel = buffer_image(0, 0, first, {}, {1, 1, 1});
  expect_error(check_one_sample("copy_image_to_buffer", *many), "image 'thing'.samples is 4, allowed is 1; resolve it first");
  expect_error(up(many, pixel), "copy_buffer_to_image: image 'thing'.samples is 4, allowed is 1");
  const VkImageCopy2 texel = image_copy(first, {}, first, {}, {1, 1, 1});
  expect_error(check_copy_image(*image, *wide, one(texel)), "same texel size");
  expect_error(check_copy_image(*image, *many, one(texel)), "use resolve_image");
  const VkImageCopy2 two[2] = {texel, image_copy(first, {}, first, {3, 3, 0}, {8, 8, 1})};
  expect_error(check_copy_image(*image, *image, two),
               "the source of regions[0] and the destination of regions[0] "
               "overlap in image 'thing'");
  const Ptr<Image> volume = make_shape(VK_IMAGE_TYPE_3D, VK_FORMAT_R8G8B8A8_UNORM, {16, 16, 4}, 1, 1);
  const VkImageCopy2 slices = image_copy(first, {}, first, {0, 0, 1}, {8, 8, 2});
  expect_error(check_copy_image(*image, *volume, one(slices)), "regions[0].extent.depth is 2, allowed is 1 as the source's layers");
  const VkImageCopy2 beyond = image_copy(first, {}, first, {0, 0, 4}, {8, 8, 1});
  expect_error(check_copy_image(*image, *volume, one(beyond)), "within the level's 16x16x4 px");
  const VkOffset3D all[2] = {{0, 0, 0}, {16, 16, 1}}, out[2] = {{0, 0, 0}, {17, 16, 1}}, flat[2] = {{4, 0, 0}, {4, 16, 1}};
  const VkImageBlit2 whole = blit(all, all), outside = blit(out, all), empty = blit(flat, all);
  expect_error(check_blit_image(*image, *integer, one(whole), VK_FILTER_NEAREST), "same kind");
  expect_error(check_blit_image(*integer, *integer, one(whole), VK_FILTER_LINEAR), "not interpolated");
  expect_error(check_blit_image(*integer, *integer, one(whole), VK_FILTER_CUBIC_EXT), "not interpolated");
  expect_error(check_blit_image(*image, *wide, one(whole), static_cast<VkFilter>(2)), "nearest, linear or cubic");
  expect_error(check_blit_image(*image, *wide, one(outside), VK_FILTER_LINEAR), "(17, 16, 1)");
  CHECK(check_blit_image(*image, *wide, one(empty), VK_FILTER_LINEAR), "regions may be empty");
  const VkOffset3D no_depth[2] = {{0, 0, 1}, {16, 16, 1}};
  const VkImageBlit2 beside = blit(no_depth, all), nothing = blit(all, flat), itself = blit(flat, flat);
  expect_error(check_blit_image(*image, *wide, one(beside), VK_FILTER_LINEAR), "z is 0 and 1 where the image is not 3d");
  CHECK(blits_nothing(nothing) && !blits_nothing(empty) && check_blit_image(*image, *image, one(itself), VK_FILTER_NEAREST), "nothing");
  expect_error(check_blit_image(*image, *image, one(empty), VK_FILTER_NEAREST), "overlap");
  expect_error(check_blit_image(*image, *image, one(whole), VK_FILTER_LINEAR), "overlap");
  VkImageResolve2 resolve{};
  resolve.srcSubresource = resolve.dstSubresource = first;
  resolve.extent = {16, 16, 1};
  expect_error(check_resolve_image(*image, *image, one(resolve)), "use copy_image");
  expect_error(check_resolve_image(*many, *wide, one(resolve)), "as the source");
  resolve.dstOffset.x = 1;
  expect_error(check_resolve_image(*many, *image, one(resolve)),
               "resolve_image: regions[0].dstOffset and extent of image "
               "'thing' is 16x16x1 px at (1, 0, 0)");
  const VkImageSubresourceRange color = all_of(kColor), stencil = all_of(VK_IMAGE_ASPECT_STENCIL_BIT), level = {kColor, 1, 1, 0, 1};
  expect_error(check_clear_color_image(*depth, one(color)), "clear_depth_stencil_image");
  expect_error(check_clear_color_image(*image, one(level)), "ranges[0].levels and layers of image 'thing' is 1 levels from 1");
  expect_error(check_clear_depth_stencil_image(*depth, one(stencil)), "aspectMask");
  expect_error(check_generate_mipmaps(*depth), "colour format");
  ImageCreateInfo info;
  info.format = VK_FORMAT_R8_UNORM;
  const Ptr<Image> bare = *Image::create(info);
  expect_error(check_clear_color_image(*bare, one(color)), "has no memory");
}

// 2^31 - 4 texels of 16 bytes by 2^29 + 1 rows are 2^64 - 64 bytes: layer 1 would lie in front of the buffer, and the end within it.
void pitches_beyond_64_bits() {
  const Ptr<Image> image = make_image(VK_FORMAT_R32G32B32A32_UINT, 16, 4, 1, 2);
  const Ptr<Buffer> buffer = make_buffer(4096);
  VkBufferImageCopy2 region = buffer_image(0, (1u << 31) - 4, layers(kColor, 0, 0, 2), {}, {8, 1, 1});
  region.bufferImageHeight = (1u << 29) + 1;
  expect_error(check_copy_buffer_to_image(*buffer, *image, {&region, 1}), "make the buffer larger or copy less");
  expect_error(check_copy_image_to_buffer(*image, *buffer, {&region, 1}), "make the buffer larger or copy less");
  region.bufferRowLength = region.bufferImageHeight = UINT32_MAX;
  expect_error(check_copy_buffer_to_image(*buffer, *image, {&region, 1}), "make the buffer larger or copy less");
  region.imageSubresource.layerCount = 1;  // one layer: nothing lies behind it
  CHECK(check_copy_buffer_to_image(*buffer, *image, {&region, 1}));
}

}  // namespace

int main() {
  pitches_beyond_64_bits();
  random_copies();
  random_buffer_copies();
  blits_of_volumes();
  blits_of_empty_sources();
  buffers();
  overlaps_of_memory();
  first_samples();
  copies_round_trip();
  aspects_apart();
  blits();
  mipmaps();
  clears();
  resolves();
  refusals();
  return test::finish("test_copy");
}
