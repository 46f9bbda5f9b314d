// tests/test_vulkan_host_copy.cpp -- VK_EXT_host_image_copy: what the host copies is what copies of a queue give, byte for byte: regions
// with pitches, levels, layers, slices, compressed blocks, depth and stencil; what is wrong is refused and changes nothing.
#include <random>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

struct Copies : Program {
  PFN_vkCopyMemoryToImage to_image = nullptr;
  PFN_vkCopyImageToMemory to_memory = nullptr;
  PFN_vkCopyImageToImage between = nullptr;
  PFN_vkTransitionImageLayout transition = nullptr;
  PFN_vkGetImageSubresourceLayout2 layout2 = nullptr;
  PFN_vkCmdCopyBufferToImage from_buffer = nullptr;

  Copies() {
    VkPhysicalDeviceHostImageCopyFeatures features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES, nullptr, VK_TRUE};
    remake_device({"VK_EXT_host_image_copy", "VK_KHR_copy_commands2", "VK_KHR_format_feature_flags2"}, &features);
    load(to_image, "vkCopyMemoryToImageEXT"), load(to_memory, "vkCopyImageToMemoryEXT"), load(between, "vkCopyImageToImageEXT");
    load(transition, "vkTransitionImageLayoutEXT"), load(layout2, "vkGetImageSubresourceLayout2EXT");
    load(from_buffer, "vkCmdCopyBufferToImage");
  }
};

struct Kind {
  VkFormat format;
  VkImageType type;
  VkExtent3D extent;
  uint32_t levels, layers, texel_B, block_px;
  VkImageAspectFlagBits aspect;
};

constexpr Kind kKinds[] = {
    {VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, {19, 13, 1}, 3, 4, 4, 1, VK_IMAGE_ASPECT_COLOR_BIT},
    {VK_FORMAT_R16_SFLOAT, VK_IMAGE_TYPE_1D, {37, 1, 1}, 2, 3, 2, 1, VK_IMAGE_ASPECT_COLOR_BIT},
    {VK_FORMAT_R32G32B32A32_UINT, VK_IMAGE_TYPE_3D, {9, 7, 6}, 2, 1, 16, 1, VK_IMAGE_ASPECT_COLOR_BIT},
    {VK_FORMAT_BC3_UNORM_BLOCK, VK_IMAGE_TYPE_2D, {22, 18, 1}, 3, 2, 16, 4, VK_IMAGE_ASPECT_COLOR_BIT},
    {VK_FORMAT_D32_SFLOAT, VK_IMAGE_TYPE_2D, {15, 11, 1}, 1, 2, 4, 1, VK_IMAGE_ASPECT_DEPTH_BIT},
    {VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D, {15, 11, 1}, 1, 2, 4, 1, VK_IMAGE_ASPECT_DEPTH_BIT},
    {VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D, {15, 11, 1}, 1, 2, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_IMAGE_TYPE_2D, {15, 11, 1}, 1, 2, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT},
};

VkImage make_image(Copies& p, const Kind& kind, VkDeviceMemory& memory) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = kind.type, info.format = kind.format, info.extent = kind.extent;
  info.mipLevels = kind.levels, info.arrayLayers = kind.layers, info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_HOST_TRANSFER_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkImage image = nullptr;
  CHECK(p.CreateImage(p.device, &info, nullptr, &image) == VK_SUCCESS);
  VkMemoryRequirements needs;
  p.GetImageMemoryRequirements(p.device, image, &needs);
  memory = p.allocate(needs.size);
  CHECK(p.BindImageMemory(p.device, image, memory, 0) == VK_SUCCESS);
  return image;
}

struct Region {
  VkImageSubresourceLayers part;
  VkOffset3D offset;
  VkExtent3D extent;
  uint32_t row_px, height_px;
  uint64_t size_B;
};

uint32_t below(std::mt19937& random, uint32_t limit) { return random() % limit; }

/// Anywhere, whole blocks; `pitch`: with gaps between rows and slices.
Region random_region(const Kind& kind, std::mt19937& random, bool pitch) {
  Region r{};
  const uint32_t level = below(random, kind.levels), n = kind.block_px;
  const auto side = [&](uint32_t whole) { return std::max(1U, whole >> level); };
  const uint32_t w = side(kind.extent.width), h = side(kind.extent.height), d = side(kind.extent.depth);
  r.part = {static_cast<VkImageAspectFlags>(kind.aspect), level, below(random, kind.layers), 0};
  r.part.layerCount = 1 + below(random, kind.layers - r.part.baseArrayLayer);
  r.offset = {static_cast<int32_t>(below(random, (w + n - 1) / n) * n), static_cast<int32_t>(below(random, (h + n - 1) / n) * n),
              static_cast<int32_t>(below(random, d))};
  const auto rest = [&](uint32_t whole, int32_t from) {
    const uint32_t left = whole - static_cast<uint32_t>(from), blocks = 1 + below(random, (left + n - 1) / n);
    return std::min(left, blocks * n);
  };
  r.extent = {rest(w, r.offset.x), rest(h, r.offset.y), 1 + below(random, d - static_cast<uint32_t>(r.offset.z))};
  const auto blocks = [&](uint32_t px) { return (px + n - 1) / n; };
  if (pitch) r.row_px = (blocks(r.extent.width) + 1) * n, r.height_px = (blocks(r.extent.height) + 2) * n;
  const uint64_t row_B = uint64_t{blocks(pitch ? r.row_px : r.extent.width)} * kind.texel_B;
  r.size_B = row_B * blocks(pitch ? r.height_px : r.extent.height) * std::max(r.part.layerCount, r.extent.depth);
  return r;
}

// One image is written by the host, one by the queue; both are read both ways.
void test_kind(Copies& p, const Kind& kind, uint32_t seed) {
  std::mt19937 random(seed);
  VkDeviceMemory memory[2];
  const VkImage host = make_image(p, kind, memory[0]), queue = make_image(p, kind, memory[1]);
  for (int round = 0; round < 12; ++round) {
    const Region r = random_region(kind, random, round % 2);
    const auto from = p.buffer(r.size_B, VK_BUFFER_USAGE_TRANSFER_SRC_BIT), to = p.buffer(r.size_B, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    for (uint64_t i = 0; i < r.size_B; ++i) from.data[i] = static_cast<uint8_t>(random());
    if (kind.aspect == VK_IMAGE_ASPECT_DEPTH_BIT)  // values that a depth can have: numbers of 24 bits, floats below 1
      for (uint64_t i = 3; i < r.size_B; i += 4) from.data[i] = kind.format == VK_FORMAT_D32_SFLOAT ? 0x3e : 0;
    VkMemoryToImageCopy write{
        VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY, nullptr, from.data, r.row_px, r.height_px, r.part, r.offset, r.extent};
    VkCopyMemoryToImageInfo put{VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO, nullptr, 0, host, VK_IMAGE_LAYOUT_GENERAL, 1, &write};
    CHECK(p.to_image(p.device, &put) == VK_SUCCESS);
    const VkBufferImageCopy region{0, r.row_px, r.height_px, r.part, r.offset, r.extent};
    VkCommandBuffer c = p.begin();
    p.from_buffer(c, from.buffer, queue, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    p.CmdCopyImageToBuffer(c, host, VK_IMAGE_LAYOUT_GENERAL, to.buffer, 1, &region);
    p.run(c);
    std::vector<uint8_t> read(r.size_B), untouched(to.data, to.data + r.size_B);
    VkImageToMemoryCopy get{
        VK_STRUCTURE_TYPE_IMAGE_TO_MEMORY_COPY, nullptr, read.data(), r.row_px, r.height_px, r.part, r.offset, r.extent};
    VkCopyImageToMemoryInfo out{VK_STRUCTURE_TYPE_COPY_IMAGE_TO_MEMORY_INFO, nullptr, 0, queue, VK_IMAGE_LAYOUT_GENERAL, 1, &get};
    CHECK(p.to_memory(p.device, &out) == VK_SUCCESS);
    CHECK(read == untouched);
    p.destroy(from), p.destroy(to);
  }
  // A whole level as it is, and from image to image.
  VkImageSubresource2 part{VK_STRUCTURE_TYPE_IMAGE_SUBRESOURCE_2, nullptr, {static_cast<VkImageAspectFlags>(kind.aspect), 0, 0}};
  VkSubresourceHostMemcpySize size{VK_STRUCTURE_TYPE_SUBRESOURCE_HOST_MEMCPY_SIZE};
  VkSubresourceLayout2 layout{VK_STRUCTURE_TYPE_SUBRESOURCE_LAYOUT_2, &size};
  p.layout2(p.device, host, &part, &layout);
  const auto blocks = [&](uint32_t px) { return uint64_t{(px + kind.block_px - 1) / kind.block_px}; };
  CHECK(size.size == blocks(kind.extent.width) * blocks(kind.extent.height) * kind.extent.depth * kind.texel_B);
  const VkImageSubresourceLayers all{static_cast<VkImageAspectFlags>(kind.aspect), 0, 0, kind.layers};
  std::vector<uint8_t> a(size.size * kind.layers, 1), b(size.size * kind.layers, 2);
  VkImageCopy2 copy{VK_STRUCTURE_TYPE_IMAGE_COPY_2, nullptr, all, {}, all, {}, kind.extent};
  VkCopyImageToImageInfo info{VK_STRUCTURE_TYPE_COPY_IMAGE_TO_IMAGE_INFO,
                              nullptr,
                              VK_HOST_IMAGE_COPY_MEMCPY,
                              host,
                              VK_IMAGE_LAYOUT_GENERAL,
                              queue,
                              VK_IMAGE_LAYOUT_GENERAL,
                              1,
                              &copy};
  CHECK(p.between(p.device, &info) == VK_SUCCESS);
  for (const auto& [image, bytes] : {std::pair(host, &a), std::pair(queue, &b)}) {
    VkImageToMemoryCopy get{VK_STRUCTURE_TYPE_IMAGE_TO_MEMORY_COPY, nullptr, bytes->data(), 0, 0, all, {}, kind.extent};
    VkCopyImageToMemoryInfo out{
        VK_STRUCTURE_TYPE_COPY_IMAGE_TO_MEMORY_INFO, nullptr, VK_HOST_IMAGE_COPY_MEMCPY, image, VK_IMAGE_LAYOUT_GENERAL, 1, &get};
    CHECK(p.to_memory(p.device, &out) == VK_SUCCESS);
  }
  CHECK(a == b);
  for (const VkImage image : {host, queue}) p.DestroyImage(p.device, image, nullptr);
  for (const VkDeviceMemory m : memory) p.FreeMemory(p.device, m, nullptr);
}

// A region outside, a null pointer: an error by name, and the right region before it is not copied.
void test_refused(Copies& p) {
  VkDeviceMemory memory;
  const VkImage image = make_image(p, kKinds[0], memory);
  std::vector<uint8_t> bytes(4096, 7), read(4096, 9);
  const VkImageSubresourceLayers part{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  VkMemoryToImageCopy regions[2] = {{VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY, nullptr, bytes.data(), 0, 0, part, {}, {4, 4, 1}},
                                    {VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY, nullptr, bytes.data(), 0, 0, part, {16, 0, 0}, {4, 4, 1}}};
  VkCopyMemoryToImageInfo put{VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO, nullptr, 0, image, VK_IMAGE_LAYOUT_GENERAL, 2, regions};
  CHECK(p.to_image(p.device, &put) != VK_SUCCESS);
  CHECK(p.heard("copy_memory_to_image, region 1"));
  regions[1].pHostPointer = nullptr;
  CHECK(p.to_image(p.device, &put) != VK_SUCCESS);
  CHECK(p.heard("pHostPointer is null"));
  VkImageToMemoryCopy get{VK_STRUCTURE_TYPE_IMAGE_TO_MEMORY_COPY, nullptr, read.data(), 0, 0, part, {}, {4, 4, 1}};
  VkCopyImageToMemoryInfo out{VK_STRUCTURE_TYPE_COPY_IMAGE_TO_MEMORY_INFO, nullptr, 0, image, VK_IMAGE_LAYOUT_GENERAL, 1, &get};
  CHECK(p.to_memory(p.device, &out) == VK_SUCCESS);
  for (int i = 0; i < 64; ++i) CHECK(read[static_cast<size_t>(i)] == 0);
  CHECK(read[64] == 9);
  p.DestroyImage(p.device, image, nullptr);
  p.FreeMemory(p.device, memory, nullptr);
}

// What the device says of itself.
void test_properties(Copies& p) {
  PFN_vkGetPhysicalDeviceProperties2 properties2 = nullptr;
  PFN_vkGetPhysicalDeviceImageFormatProperties2 formats2 = nullptr;
  p.load(properties2, "vkGetPhysicalDeviceProperties2"), p.load(formats2, "vkGetPhysicalDeviceImageFormatProperties2");
  VkPhysicalDeviceHostImageCopyProperties have{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_PROPERTIES};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &have};
  properties2(p.physical_device, &all);
  CHECK(have.copySrcLayoutCount > 4 && have.copyDstLayoutCount == have.copySrcLayoutCount && have.identicalMemoryTypeRequirements);
  std::vector<VkImageLayout> layouts(have.copySrcLayoutCount);
  have.pCopySrcLayouts = layouts.data(), have.copyDstLayoutCount = 1, have.pCopyDstLayouts = nullptr;
  properties2(p.physical_device, &all);
  CHECK(layouts[0] == VK_IMAGE_LAYOUT_GENERAL && have.copyDstLayoutCount == have.copySrcLayoutCount);
  VkHostImageCopyDevicePerformanceQuery speed{VK_STRUCTURE_TYPE_HOST_IMAGE_COPY_DEVICE_PERFORMANCE_QUERY};
  VkImageFormatProperties2 out{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &speed};
  VkPhysicalDeviceImageFormatInfo2 info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  info.format = VK_FORMAT_R8G8B8A8_UNORM, info.type = VK_IMAGE_TYPE_2D, info.usage = VK_IMAGE_USAGE_HOST_TRANSFER_BIT;
  CHECK(formats2(p.physical_device, &info, &out) == VK_SUCCESS && speed.optimalDeviceAccess && speed.identicalMemoryLayout);
  VkHostImageLayoutTransitionInfo change{VK_STRUCTURE_TYPE_HOST_IMAGE_LAYOUT_TRANSITION_INFO};
  CHECK(p.transition(p.device, 1, &change) == VK_SUCCESS);
}

}  // namespace

int main() {
  Copies p;
  uint32_t seed = 1;
  for (const Kind& kind : kKinds)
    for (int i = 0; i < 4; ++i) test_kind(p, kind, seed++);
  for (const std::string& text : p.said) CHECK_MESSAGE(false, text);
  test_refused(p);
  test_properties(p);
  return finish("test_vulkan_host_copy");
}
