// test_copy.cpp -- transfers against naive texel loops: copies, blits, mipmaps, clears, resolves; and their refusals.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "resource/texel_rows.hpp"
#include "transfer/transfer.hpp"

using namespace tilegpu;
using namespace tilegpu::resource;
using namespace tilegpu::transfer;

namespace {

int failures = 0;
#define CHECK(condition, ...)                                       \
  do {                                                              \
    if (!(condition)) {                                             \
      if (++failures <= 30) {                                       \
        std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
        std::printf(__VA_ARGS__);                                   \
        std::printf("\n");                                          \
      }                                                             \
    }                                                               \
  } while (false)

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

void fill_random(Image& image, std::mt19937& random) {
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  for (uint32_t level = 0; level < image.info().mip_levels; ++level) {
    for (uint32_t layer = 0; layer < image.info().array_layers; ++layer) {
      for (uint32_t s = 0; s < image.sample_count(); ++s) {
        TexelRows t = open_texels(image, VK_IMAGE_ASPECT_COLOR_BIT, level, layer, s);
        for (uint32_t y = 0; y < t.rows.height_px; ++y) {
          for (uint32_t x = 0; x < t.rows.width_px; ++x) {
            vk::Texel texel;
            for (int c = 0; c < 4; ++c) {
              if (format.is_integer()) {
                texel.u[c] = random() % 120;
              } else {
                texel.f[c] = static_cast<float>(random() % 1025) / 1024.0f;
              }
            }
            vk::pack_texel(format, texel, t.rows.at(x, y));
          }
        }
        close_texels(t);
      }
    }
  }
}

/// Buffer to image to image to buffer brings the same bytes, for every aspect and tiling, at odd places.
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
      const ImageRegion to{c.aspect, 1, 1, 2, 1}, middle{c.aspect, 0, 0, 17, 9};
      CHECK(bool(check_copy_buffer_to_image(*in, 64, row_length, *a, to, width, height)), "check");
      copy_buffer_to_image(*in, 64, row_length, *a, to, width, height);
      CHECK(bool(check_copy_image(*a, to, *b, middle, width, height)), "check");
      // In two pieces, as threads would.
      copy_image(*a, to, *b, middle, width, height, {0, 7});
      copy_image(*a, to, *b, middle, width, height, {7, ~0u});
      CHECK(bool(check_copy_image_to_buffer(*b, middle, width, height, *out, 128, 0)), "check");
      copy_image_to_buffer(*b, middle, width, height, *out, 128, 0);
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
  clear_depth_stencil_image(*image, {0.25f, 77}, VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
  clear_depth_stencil_image(*image, {1.0f, 5}, VK_IMAGE_ASPECT_DEPTH_BIT);
  const Ptr<Buffer> out = make_buffer(2000);
  copy_image_to_buffer(*image, {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 0, 0, 0}, 20, 20, *out, 0, 0);
  CHECK(out->data()[399] == 77, "stencil stayed");
  CHECK(texel_at(*image, 0, 0, 0, 19, 19, VK_IMAGE_ASPECT_DEPTH_BIT).f[0] == 1.0f, "depth cleared");
}

double naive_axis(double at, int size, auto value) {
  const double floor = std::floor(at);
  const auto clamp = [&](double v) { return static_cast<uint32_t>(std::clamp<double>(v, 0, size - 1)); };
  const double w = at - floor;
  return value(clamp(floor)) * (1 - w) + value(clamp(floor + 1)) * w;
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
      CHECK(bool(check_blit_image(*a, 0, 0, from, *b, 0, 0, to, c.filter)), "check");
      blit_image(*a, 0, 0, from, *b, 0, 0, to, c.filter, {0, 5});
      blit_image(*a, 0, 0, from, *b, 0, 0, to, c.filter, {5, ~0u});
      for (int y = 0; y < dh; ++y) {
        for (int x = 0; x < dw; ++x) {
          double u = (x + 0.5) * w / dw, v = (y + 0.5) * h / dh;
          if (mirror_x) u = w - u;
          if (mirror_y) v = h - v;
          const vk::Texel got = texel_at(*b, 0, 0, 0, static_cast<uint32_t>(x) + 3, static_cast<uint32_t>(y) + 2);
          for (int k = 0; k < 3; ++k) {
            const auto source = [&](uint32_t sx, uint32_t sy) {
              const vk::Texel t = texel_at(*a, 0, 0, 0, sx, sy);
              return vk::find_format(c.from)->is_integer() ? static_cast<double>(t.u[k]) : static_cast<double>(t.f[k]);
            };
            double want;
            if (c.filter == VK_FILTER_NEAREST) {
              if (std::fabs(u - std::round(u)) < 1e-9 || std::fabs(v - std::round(v)) < 1e-9)
                continue;  // on an edge either neighbour is right
              want = source(static_cast<uint32_t>(std::clamp<double>(std::floor(u), 0, w - 1)),
                            static_cast<uint32_t>(std::clamp<double>(std::floor(v), 0, h - 1)));
            } else {
              want =
                  naive_axis(v - 0.5, h, [&](uint32_t sy) { return naive_axis(u - 0.5, w, [&](uint32_t sx) { return source(sx, sy); }); });
            }
            const double value = vk::find_format(c.to)->is_integer() ? got.u[k] : got.f[k];
            CHECK(std::fabs(value - want) <= c.tolerance + 1e-12, "%d to %d (%d, %d)[%d]: %g, want %g", c.from, c.to, x, y, k, value, want);
          }
        }
      }
    }
  }
}

/// SCENES.md's chain: (sum + 2) / 4 of integers; and sizes that are odd on the way.
void mipmaps() {
  std::mt19937 random(3);
  const Ptr<Image> even = make_image(VK_FORMAT_R8G8B8A8_UNORM, 64, 32, 7, 2);
  fill_random(*even, random);
  CHECK(bool(check_generate_mipmaps(*even)), "check");
  generate_mipmaps(*even);
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
    clear_color_image(*odd, VkClearColorValue{{0.5f, 0.5f, 0.5f, 0.5f}});
    const vk::Texel before = texel_at(*odd, 0, 0, 0, 0, 0);
    generate_mipmaps(*odd);
    CHECK(texel_at(*odd, 3, 0, 0, 0, 0).f[0] == before.f[0], "a constant stays what it is");
  }
}

void clears() {
  const Ptr<Image> image = make_image(VK_FORMAT_R16G16B16A16_SFLOAT, 33, 17, 3, 2, 1);
  CHECK(bool(check_clear_color_image(*image)), "check");
  clear_color_image(*image, VkClearColorValue{{0.5f, -2.0f, 1000.0f, 1.0f}});
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
  clear_color_image(*samples, value);
  CHECK(texel_at(*samples, 0, 0, 7, 4, 4).u[0] == 200, "all samples");
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
        CHECK(bool(check_resolve_image(*a, *b)), "check");
        resolve_image(*a, *b, {0, 4});
        resolve_image(*a, *b, {4, ~0u});
        const vk::FormatInfo& f = *vk::find_format(format);
        for (uint32_t layer = 0; layer < 2; ++layer) {
          for (uint32_t y = 0; y < 9; ++y) {
            for (uint32_t x = 0; x < 35; ++x) {
              const vk::Texel got = texel_at(*b, 0, layer, 0, x, y);
              if (f.is_integer()) {
                CHECK(got.u[0] == texel_at(*a, 0, layer, 0, x, y).u[0], "integers: sample zero");
                continue;
              }
              for (int c = 0; c < f.component_count; ++c) {
                double mean = 0;
                for (uint32_t s = 0; s < samples; ++s) mean += texel_at(*a, 0, layer, s, x, y).f[c] / static_cast<double>(samples);
                // Half a code of the destination around the mean; sRGB by its steepest step.
                const double slack = format == VK_FORMAT_R32_SFLOAT     ? 1e-7
                                     : f.numeric == vk::Numeric::sfloat ? 5e-4
                                     : f.numeric == vk::Numeric::srgb   ? 0.0046
                                                                        : 0.5001 / ((1 << f.rgba[c].bits) - 1);
                CHECK(std::fabs(got.f[c] - mean) <= slack, "%s %u samples: %g, want %g", f.name, samples, got.f[c], mean);
              }
            }
          }
        }
      }
    }
  }
}

void refusals() {
  const Ptr<Image> image = make_image(VK_FORMAT_R8G8B8A8_UNORM, 16, 16), many = make_image(VK_FORMAT_R8G8B8A8_UNORM, 16, 16, 1, 1, 4),
                   depth = make_image(VK_FORMAT_D32_SFLOAT, 16, 16);
  const Ptr<Image> wide = make_image(VK_FORMAT_R16G16B16A16_SFLOAT, 16, 16), integer = make_image(VK_FORMAT_R8G8B8A8_UINT, 16, 16);
  const Ptr<Buffer> buffer = make_buffer(1024);
  const ImageRegion origin{};
  expect_error(check_copy_buffer(*buffer, *buffer, 0, 1000, 100), "within its 1024 bytes");
  expect_error(check_copy_buffer(*buffer, *buffer, 0, 50, 100), "overlap");
  expect_error(check_copy_buffer(*buffer, *buffer, ~0ull, 0, 100), "range");
  expect_error(check_copy_buffer_to_image(*buffer, 4, 0, *image, origin, 16, 16), "1024 bytes from byte 4");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 8, *image, origin, 16, 2), "row_length_px is 8");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 0, *image, origin, 17, 1), "within the level's 16x16 px");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 0, *image, origin, 0, 1), "0x1 px");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 0, *image, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, -1, 0}, 1, 1), "at (-1, 0)");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 0, *image, {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0, 0, 0}, 1, 1), "aspect");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 0, *image, {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 0, 0}, 1, 1), "level is 1");
  expect_error(check_copy_buffer_to_image(*buffer, 0, 0, *image, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 0}, 1, 1), "layer is 1");
  expect_error(check_copy_image_to_buffer(*many, origin, 1, 1, *buffer, 0, 0), "resolve it first");
  expect_error(check_copy_image(*image, origin, *wide, origin, 1, 1), "same texel size");
  expect_error(check_copy_image(*image, origin, *many, origin, 1, 1), "use resolve_image");
  expect_error(check_copy_image(*image, origin, *image, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 3, 3}, 8, 8), "overlap");
  const VkOffset3D all[2] = {{0, 0, 0}, {16, 16, 1}}, out[2] = {{0, 0, 0}, {17, 16, 1}}, flat[2] = {{4, 0, 0}, {4, 16, 1}};
  expect_error(check_blit_image(*image, 0, 0, all, *integer, 0, 0, all, VK_FILTER_NEAREST), "same kind");
  expect_error(check_blit_image(*integer, 0, 0, all, *integer, 0, 0, all, VK_FILTER_LINEAR), "not interpolated");
  expect_error(check_blit_image(*image, 0, 0, out, *wide, 0, 0, all, VK_FILTER_LINEAR), "(17, 16)");
  expect_error(check_blit_image(*image, 0, 0, flat, *wide, 0, 0, all, VK_FILTER_LINEAR), "different corners");
  expect_error(check_blit_image(*image, 0, 0, all, *image, 0, 0, all, VK_FILTER_LINEAR), "overlap");
  expect_error(check_resolve_image(*image, *image), "use copy_image");
  expect_error(check_resolve_image(*many, *wide), "as the source");
  expect_error(check_clear_color_image(*depth), "clear_depth_stencil_image");
  expect_error(check_clear_depth_stencil_image(*depth, VK_IMAGE_ASPECT_STENCIL_BIT), "aspects");
  expect_error(check_generate_mipmaps(*depth), "colour format");
  ImageCreateInfo info;
  info.format = VK_FORMAT_R8_UNORM;
  const Ptr<Image> bare = *Image::create(info);
  expect_error(check_clear_color_image(*bare), "has no memory");
}

}  // namespace

int main() {
  copies_round_trip();
  aspects_apart();
  blits();
  mipmaps();
  clears();
  resolves();
  refusals();
  std::printf(failures ? "test_copy: %d failures\n" : "test_copy: ok\n", failures);
  return failures != 0;
}
