// test_resource.cpp -- memory, buffers, images, views, samplers: layouts, sizes at the limits, every refusal, the form for code.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>

#include "check.hpp"
#include "resource/block_compression.hpp"
#include "resource/view_abi.hpp"
#include "tilegpu/resource.hpp"

using namespace tilegpu;

namespace {

ImageCreateInfo image_info(VkFormat format, uint32_t width, uint32_t height) {
  ImageCreateInfo info;
  info.format = format;
  info.width_px = width;
  info.height_px = height;
  info.label = "albedo";
  return info;
}

Ptr<Image> make(const ImageCreateInfo& info) {
  auto image = Image::create(info);
  if (!image) {
    std::printf("%s\n", image.error().message.c_str());
    std::exit(1);
  }
  return *image;
}

template <class T>
void expect_error(const Expected<T>& result, const std::string& words) {
  CHECK(!result, "no error, expected '%s'", words.c_str());
  if (!result)
    CHECK(result.error().message.find(words) != std::string::npos, "'%s' does not say '%s'", result.error().message.c_str(), words.c_str());
}

void memory_and_buffers() {
  expect_error(DeviceMemory::allocate(0), "size_B is 0");
  expect_error(DeviceMemory::allocate(~0ull), "bytes that this process has left of");
  auto memory = DeviceMemory::allocate(5000);
  CHECK(memory && reinterpret_cast<uintptr_t>(*(*memory)->map()) % 4096 == 0 && (*(*memory)->map())[4999] == 0, "zeroed pages");
  expect_error((*memory)->map(5000), "offset_B of map is 5000, allowed is 0 to 4999");
  expect_error((*memory)->map(10, 4991), "size_B of map is 4991, allowed is 1 to 4990");
  auto large = DeviceMemory::allocate(64ull << 20);
  CHECK(large && reinterpret_cast<uintptr_t>(*(*large)->map()) % (2 << 20) == 0, "large memory is aligned to huge pages");
  expect_error(Buffer::create({0, 0, "vertices"}), "buffer 'vertices': size_B is 0");
  auto buffer = Buffer::create({4000, 0, "vertices"});
  CHECK(buffer && !(*buffer)->data(), "unbound");
  expect_error((*buffer)->bind(nullptr, 0), "memory is null");
  expect_error((*buffer)->bind(*memory, 32), "a multiple of 64");
  expect_error((*buffer)->bind(*memory, 1024), "at most the memory's 5000");
  expect_error((*buffer)->bind(*memory, ~0ull << 6), "offset_B + size_B");
  CHECK(bool((*buffer)->bind(*memory, 64)), "binds");
  CHECK((*buffer)->data() == *(*memory)->map(64, 1), "address");
  expect_error((*buffer)->bind(*memory, 0), "bound already");
}

void refusals_of_images() {
  expect_error(Image::create(image_info(VK_FORMAT_UNDEFINED, 4, 4)), "image 'albedo': format");
  expect_error(Image::create(image_info(VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG, 4, 4)), "format");
  expect_error(Image::create(image_info(VK_FORMAT_R8G8B8_UNORM, 4, 4)), "vertex buffers");
  for (auto [w, h] : {std::pair{0u, 4u}, {4u, 0u}, {16385u, 1u}, {1u, ~0u}})
    expect_error(Image::create(image_info(VK_FORMAT_R8_UNORM, w, h)), "1 to 16384 px");
  ImageCreateInfo info = image_info(VK_FORMAT_R8G8B8A8_UNORM, 16, 8);
  info.mip_levels = 6;
  expect_error(Image::create(info), "mip_levels is 6, allowed is 1 to 5");
  info.mip_levels = 0;
  expect_error(Image::create(info), "mip_levels is 0");
  info.mip_levels = 1;
  info.array_layers = 0;
  expect_error(Image::create(info), "array_layers is 0");
  info.array_layers = 1;
  info.samples = static_cast<VkSampleCountFlagBits>(3);
  expect_error(Image::create(info), "samples is 3");
  info.samples = static_cast<VkSampleCountFlagBits>(32);
  expect_error(Image::create(info), "samples is 32");
  info.samples = VK_SAMPLE_COUNT_4_BIT;
  info.mip_levels = 2;
  expect_error(Image::create(info), "1 with 4 samples");
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.width_px = info.height_px = 16384, info.array_layers = 8, info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  expect_error(Image::create(info), "at most 8589672448 B with mip levels");
  info.mip_levels = 1;
  CHECK(Image::create(info), "8 GiB of one level");
  info.width_px = info.height_px = 16, info.array_layers = 1;
  info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
  expect_error(Image::create(info), "depth_stencil_attachment with format r8g8b8a8_unorm");
  info.usage = VK_IMAGE_USAGE_STORAGE_BIT;
  CHECK(Image::create(info), "a storage image");
  info.format = VK_FORMAT_R8G8B8A8_SRGB;
  expect_error(Image::create(info), "storage with format r8g8b8a8_srgb");
  info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
  CHECK(Image::create(info), "views of it without sRGB are storage images");
  info.format = VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  CHECK(Image::create(info), "views of it as r32_uint are attachments");
  info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
  expect_error(Image::create(info), "color_attachment with format e5b9g9r9_ufloat_pack32");
  info.flags = 0, info.usage = VK_IMAGE_USAGE_STORAGE_BIT;
  info.format = VK_FORMAT_R8G8B8A8_UNORM, info.tiling = ImageTiling::block_compressed;
  expect_error(Image::create(info), "storage with format r8g8b8a8_unorm");
  info.tiling = ImageTiling::linear;
  info.usage = VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  expect_error(Image::create(info), "transient");
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  info.tiling = ImageTiling::block_compressed;
  expect_error(Image::create(info), "copy to a linear image");
  info = image_info(VK_FORMAT_R8G8B8A8_UNORM, 16, 8);
  info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
  info.array_layers = 6;
  expect_error(Image::create(info), "a square with at least 6 layers");
}

/// No two subresources overlap, all lie inside, every start is aligned.
void layouts_do_not_overlap() {
  for (VkFormat format : {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_D32_SFLOAT_S8_UINT,
                          VK_FORMAT_D24_UNORM_S8_UINT}) {
    for (uint32_t samples : {1u, 4u}) {
      for (ImageTiling tiling : {ImageTiling::linear, ImageTiling::block_compressed}) {
        ImageCreateInfo info = image_info(format, 37, 21);
        info.samples = static_cast<VkSampleCountFlagBits>(samples);
        info.mip_levels = samples == 1 ? 6 : 1;
        info.array_layers = 3;
        info.tiling = tiling;
        const Ptr<Image> image = make(info);
        std::set<std::pair<uint64_t, uint64_t>> ranges;
        std::vector<VkImageAspectFlagBits> aspects = {VK_IMAGE_ASPECT_COLOR_BIT};
        if (format == VK_FORMAT_D32_SFLOAT_S8_UINT) aspects = {VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT};
        for (VkImageAspectFlagBits aspect : aspects) {
          for (uint32_t level = 0; level < info.mip_levels; ++level) {
            for (uint32_t layer = 0; layer < 3; ++layer) {
              const SubresourceLayout l = image->layout(aspect, level, layer);
              CHECK(l.offset_B % 64 == 0 && l.row_pitch_B % l.texel_B == 0, "alignment");
              CHECK(l.width_px == std::max(1u, 37u >> level) && l.height_px == std::max(1u, 21u >> level), "extent");
              CHECK(l.size_B == l.sample_pitch_B * samples, "size");
              if (tiling == ImageTiling::linear)
                CHECK(l.sample_pitch_B >= l.row_pitch_B * l.height_px && l.row_pitch_B >= l.width_px * l.texel_B, "rows");
              ranges.insert({l.offset_B, l.offset_B + l.size_B});
            }
          }
        }
        CHECK(ranges.size() == aspects.size() * info.mip_levels * 3, "distinct");
        uint64_t end = 0;
        for (const auto& [from, to] : ranges) {
          CHECK(from >= end, "overlap");
          end = to;
        }
        CHECK(end <= image->required_B(), "inside");
      }
    }
  }
}

void largest_images() {
  // 64 GiB of address space at most is asked for by its size alone; nothing is touched.
  ImageCreateInfo info = image_info(VK_FORMAT_R32G32B32A32_SFLOAT, 16384, 16384);
  info.samples = VK_SAMPLE_COUNT_16_BIT;
  info.array_layers = 2048;
  const Ptr<Image> huge = make(info);
  CHECK(huge->required_B() == 16384ull * 16384 * 16 * 16 * 2048, "no overflow: %llu", static_cast<unsigned long long>(huge->required_B()));
  expect_error(huge->ensure_memory(), "image 'albedo'");
  const Ptr<Image> wide = make(image_info(VK_FORMAT_R8G8B8A8_UNORM, 16384, 16384));
  CHECK(bool(wide->ensure_memory()), "1 GiB, not touched");
  const SubresourceLayout l = wide->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  wide->data()[l.offset_B + l.row_pitch_B * 16383 + 16383 * 4 + 3] = 7;
  CHECK(bool(make(image_info(VK_FORMAT_R8_UNORM, 1, 1))->ensure_memory()), "one pixel");
}

void views() {
  ImageCreateInfo info = image_info(VK_FORMAT_R8G8B8A8_UNORM, 32, 32);
  info.mip_levels = 6;
  info.array_layers = 8;
  const Ptr<Image> image = make(info);
  ImageViewCreateInfo v;
  expect_error(ImageView::create(v), "image is null");
  v.image = image;
  expect_error(ImageView::create(v), "with 8 layers");
  v.type = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  auto all = ImageView::create(v);
  CHECK(all && (*all)->info().level_count == 6 && (*all)->info().layer_count == 8 && (*all)->info().format == info.format &&
            (*all)->info().aspects == VK_IMAGE_ASPECT_COLOR_BIT,
        "defaults are filled in");
  v.format = VK_FORMAT_R8G8B8A8_SRGB;
  CHECK(bool(ImageView::create(v)), "another format of the same size");
  v.format = VK_FORMAT_R16_SFLOAT;
  expect_error(ImageView::create(v), "any format of 4 bytes");
  v.format = VK_FORMAT_UNDEFINED;
  v.base_level = 6;
  expect_error(ImageView::create(v), "base_level is 6, allowed is 0 to 5");
  v.base_level = 4;
  v.level_count = 3;
  expect_error(ImageView::create(v), "level_count is 3");
  v.level_count = 2;
  v.base_layer = 8;
  expect_error(ImageView::create(v), "base_layer is 8");
  v.base_layer = 2;
  v.layer_count = 7;
  expect_error(ImageView::create(v), "layer_count is 7");
  v.layer_count = 6;
  v.type = VK_IMAGE_VIEW_TYPE_CUBE;
  expect_error(ImageView::create(v), "cube_compatible");
  v.type = VK_IMAGE_VIEW_TYPE_3D;
  expect_error(ImageView::create(v), "type");
  v.type = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
  v.aspects = VK_IMAGE_ASPECT_DEPTH_BIT;
  expect_error(ImageView::create(v), "aspects");
  v.aspects = 0;
  v.swizzle.g = static_cast<VkComponentSwizzle>(99);
  expect_error(ImageView::create(v), "swizzle");
  v.swizzle = {};

  CHECK(bool(image->ensure_memory()), "memory");
  shader::ImageViewAbi abi;
  resource::fill_view_abi(**ImageView::create(v), abi);
  const SubresourceLayout level4 = image->layout(VK_IMAGE_ASPECT_COLOR_BIT, 4, 2);
  CHECK(abi.level_count == 2 && abi.layer_count == 6 && abi.sample_count == 1, "counts");
  CHECK(abi.level[0].data == image->data() + level4.offset_B && abi.level[0].width_px == 2 && abi.layer_pitch_B[0] == level4.size_B,
        "level 0 of the view");
  CHECK(abi.level[1].width_px == 1 && abi.level[15].data == abi.level[1].data, "levels beyond the last repeat it");
}

void null_views_are_safe() {
  shader::ImageViewAbi abi;
  resource::fill_null_view_abi(abi);
  CHECK(abi.level[0].data && abi.level[0].width_px == 1 && abi.level[15].data[63] == 0 && abi.layer_count == 1, "null view");
  ImageViewCreateInfo v;
  v.image = make(image_info(VK_FORMAT_R8G8B8A8_UNORM, 32, 32));
  resource::fill_view_abi(**ImageView::create(v), abi);
  CHECK(abi.level[0].width_px == 1 && abi.level[0].data[0] == 0, "a view without memory is the null view");
}

void samplers() {
  SamplerCreateInfo info;
  CHECK(bool(Sampler::create(info)), "defaults");
  info.mag_filter = static_cast<VkFilter>(2);
  expect_error(Sampler::create(info), "nearest, linear or cubic");
  info.mag_filter = VK_FILTER_CUBIC_EXT;
  CHECK(bool(Sampler::create(info)), "cubic");
  info.max_anisotropy = 2;
  expect_error(Sampler::create(info), "1 with a cubic filter");
  info = {};
  info.mip_lod_bias = NAN;
  expect_error(Sampler::create(info), "mip_lod_bias");
  info = {};
  info.min_lod = NAN;
  expect_error(Sampler::create(info), "min_lod");
  info = {};
  info.address_v = static_cast<VkSamplerAddressMode>(9);
  expect_error(Sampler::create(info), "address mode");
  info = {};
  info.border_color = VK_BORDER_COLOR_FLOAT_CUSTOM_EXT;
  CHECK(Sampler::create(info), "a border colour of one's own");
  info.border_color = static_cast<VkBorderColor>(77);
  expect_error(Sampler::create(info), "border_color");
  info = {};
  info.unnormalized_coordinates = true;
  expect_error(Sampler::create(info), "unnormalized_coordinates");
  info = {};
  info.border_color = VK_BORDER_COLOR_INT_OPAQUE_WHITE;
  info.min_lod = 1;
  shader::SamplerAbi abi;
  resource::fill_sampler_abi((*Sampler::create(info))->info(), true, *vk::find_format(VK_FORMAT_R8G8B8A8_UINT), abi);
  uint32_t one;
  std::memcpy(&one, &abi.border[0], 4);
  CHECK(one == 1 && abi.min_lod == 1, "integer white is 1");
  info.border_color = VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
  resource::fill_sampler_abi((*Sampler::create(info))->info(), false, *vk::find_format(VK_FORMAT_R8G8B8A8_UNORM), abi);
  CHECK(abi.border[0] == 0 && abi.border[3] == 1, "opaque black");
}

/// Any texels survive; solid ones cost a header; a broken header or payload decodes to something without leaving its slot.
void superblocks() {
  std::mt19937 random(5);
  for (uint32_t texel_B : {1u, 2u, 4u, 8u, 16u}) {
    std::vector<uint8_t> payload(256 * texel_B), header(32);
    for (int round = 0; round < 200; ++round) {
      resource::Superblock in{}, out{};
      const uint32_t spread = 1u << random() % 9;
      for (uint32_t i = 0; i < 256 * texel_B; ++i) in.texels[i] = static_cast<uint8_t>(round == 0 ? i % texel_B : 40 + random() % spread);
      const uint32_t written = resource::encode_superblock(in, texel_B, header.data(), payload.data());
      const uint32_t read = resource::decode_superblock(header.data(), payload.data(), texel_B, out);
      CHECK(written == read && std::memcmp(in.texels, out.texels, 256 * texel_B) == 0, "texel %u B, spread %u", texel_B, spread);
      CHECK(written <= header.size() + 256 * texel_B, "never more than raw");
      if (round == 0) CHECK(written == (texel_B > 8 ? 32u : 16u), "solid: header only");
      for (uint8_t& b : header) b = static_cast<uint8_t>(random());
      for (uint8_t& b : payload) b = static_cast<uint8_t>(random());
      (void)resource::decode_superblock(header.data(), payload.data(), texel_B, out);
    }
  }
  resource::Superblock zeros;
  const uint8_t header[32] = {};
  (void)resource::decode_superblock(header, header, 4, zeros);
  CHECK(zeros.texels[1023] == 0, "fresh memory is an image of zeros");
}

}  // namespace

int main() {
  memory_and_buffers();
  refusals_of_images();
  layouts_do_not_overlap();
  largest_images();
  views();
  null_views_are_safe();
  samplers();
  superblocks();
  return test::finish("test_resource");
}
