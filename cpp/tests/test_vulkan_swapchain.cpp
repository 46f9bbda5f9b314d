// tests/test_vulkan_swapchain.cpp -- swapchains without a window: images in turn, presented pictures as files, a chain that replaces
// another.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kWidth_px = 20, kHeight_px = 12;

struct Chain {
  Program p;
  VkIcdSurfaceHeadless headless{{VK_ICD_WSI_PLATFORM_HEADLESS}};
  VkSurfaceKHR surface = reinterpret_cast<VkSurfaceKHR>(&headless);
  PFN_vkCreateSwapchainKHR create = nullptr;
  PFN_vkDestroySwapchainKHR destroy = nullptr;
  PFN_vkGetSwapchainImagesKHR images_of = nullptr;
  PFN_vkAcquireNextImageKHR acquire = nullptr;
  PFN_vkQueuePresentKHR present = nullptr;
  PFN_vkCmdClearColorImage clear = nullptr;
  PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR capabilities = nullptr;

  Chain() {
    p.load(create, "vkCreateSwapchainKHR");
    p.load(destroy, "vkDestroySwapchainKHR");
    p.load(images_of, "vkGetSwapchainImagesKHR");
    p.load(acquire, "vkAcquireNextImageKHR");
    p.load(present, "vkQueuePresentKHR");
    p.load(clear, "vkCmdClearColorImage");
    p.load(capabilities, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
  }

  VkSwapchainKHR make(VkFormat format, VkPresentModeKHR mode, VkSwapchainKHR old = nullptr) {
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = surface, info.minImageCount = 3, info.imageFormat = format, info.imageExtent = {kWidth_px, kHeight_px};
    info.imageArrayLayers = 1, info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.presentMode = mode, info.oldSwapchain = old;
    VkSwapchainKHR out = nullptr;
    CHECK(create(p.device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }

  /// Clears the next image and presents it.
  VkResult frame(VkSwapchainKHR chain, VkClearColorValue color) {
    uint32_t index = 0, count = 8;
    VkImage images[8];
    const VkResult got = acquire(p.device, chain, ~uint64_t{0}, nullptr, nullptr, &index);
    if (got != VK_SUCCESS) return got;
    CHECK(images_of(p.device, chain, &count, images) == VK_SUCCESS && index < count);
    const VkCommandBuffer c = p.begin();
    const VkImageSubresourceRange range{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    clear(c, images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &color, 1, &range);
    CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1, submit.pCommandBuffers = &c;
    CHECK(p.QueueSubmit(p.queue, 1, &submit, nullptr) == VK_SUCCESS);
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    info.swapchainCount = 1, info.pSwapchains = &chain, info.pImageIndices = &index;
    return present(p.queue, &info);
  }
};

uint32_t word(const std::vector<uint8_t>& bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

/// The first pixel of a picture that the driver wrote: signature, IHDR, one IDAT.
std::vector<uint8_t> first_pixel(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!CHECK_MESSAGE(bytes.size() > 60, path.string())) return {};
  CHECK(word(bytes, 16) == kWidth_px && word(bytes, 20) == kHeight_px);
  std::vector<uint8_t> rows((kWidth_px * 4 + 1) * kHeight_px);
  uLongf size_B = rows.size();
  CHECK(uncompress(rows.data(), &size_B, bytes.data() + 41, word(bytes, 33)) == Z_OK && size_B == rows.size());
  return {rows.begin() + 1, rows.begin() + 5};
}

void pictures_come_in_order() {
  const auto folder = std::filesystem::temp_directory_path() / ("tilegpu_present_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  setenv("TILEGPU_PRESENT_DIR", folder.c_str(), 1);
  {
    Chain c;
    VkSurfaceCapabilitiesKHR at{};
    CHECK(c.capabilities(c.p.physical_device, c.surface, &at) == VK_SUCCESS && at.currentExtent.width == 0xffffffff &&
          at.minImageCount == 2);
    const VkSwapchainKHR first = c.make(VK_FORMAT_B8G8R8A8_UNORM, VK_PRESENT_MODE_FIFO_KHR);
    for (int i = 0; i < 7; ++i) CHECK(c.frame(first, {{static_cast<float>(i) / 10, 0.2F, 1, 1}}) == VK_SUCCESS);
    // The new chain takes the surface; images of the old one that are not acquired can't be any more.
    const VkSwapchainKHR second = c.make(VK_FORMAT_R8G8B8A8_UNORM, VK_PRESENT_MODE_IMMEDIATE_KHR, first);
    CHECK(c.frame(first, {{1, 1, 1, 1}}) == VK_ERROR_OUT_OF_DATE_KHR);
    c.destroy(c.p.device, first, nullptr);
    CHECK(c.frame(second, {{0.8F, 0.2F, 1, 1}}) == VK_SUCCESS);
    CHECK(c.p.QueueWaitIdle(c.p.queue) == VK_SUCCESS);
    uint32_t index = 0;
    for (int i = 0; i < 3; ++i) CHECK(c.acquire(c.p.device, second, 2'000'000'000, nullptr, nullptr, &index) == VK_SUCCESS);
    CHECK(c.acquire(c.p.device, second, 0, nullptr, nullptr, &index) == VK_NOT_READY);
    CHECK(c.acquire(c.p.device, second, 1'000'000, nullptr, nullptr, &index) == VK_TIMEOUT);
    c.destroy(c.p.device, second, nullptr);
  }
  std::vector<std::filesystem::path> pictures;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) pictures.push_back(entry.path());
  std::sort(pictures.begin(), pictures.end());
  CHECK_MESSAGE(pictures.size() == 8, std::to_string(pictures.size()));
  for (size_t i = 0; i + 1 < pictures.size(); ++i) {
    const auto red = static_cast<uint8_t>(std::lround(static_cast<float>(i) / 10 * 255));
    CHECK(first_pixel(pictures[i]) == (std::vector<uint8_t>{red, 51, 255, 255}));
  }
  CHECK(first_pixel(pictures.back()) == (std::vector<uint8_t>{204, 51, 255, 255}));
  std::filesystem::remove_all(folder);
}

}  // namespace

int main() {
  pictures_come_in_order();
  return finish("test_vulkan_swapchain");
}
