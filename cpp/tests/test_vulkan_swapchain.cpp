// tests/test_vulkan_swapchain.cpp -- swapchains without a window: images in turn, presented pictures as files, a chain that replaces
// another.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

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

  /// Clears the next image and presents it. `after`: a timeline; the commands wait until it is 1.
  VkResult frame(VkSwapchainKHR chain, VkClearColorValue color, VkSemaphore after = nullptr, uint64_t id = 0, const void* next = nullptr) {
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
    const uint64_t one = 1;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 1, &one, 0, nullptr};
    if (after) submit.pNext = &values, submit.waitSemaphoreCount = 1, submit.pWaitSemaphores = &after, submit.pWaitDstStageMask = &stage;
    CHECK(p.QueueSubmit(p.queue, 1, &submit, nullptr) == VK_SUCCESS);
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    info.swapchainCount = 1, info.pSwapchains = &chain, info.pImageIndices = &index;
    const VkPresentIdKHR ids{VK_STRUCTURE_TYPE_PRESENT_ID_KHR, next, 1, &id};
    info.pNext = id ? &ids : next;
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

/// Where presented pictures go, for as long as it is there.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tilegpu_present_" + std::to_string(getpid()));
  Folder() {
    std::filesystem::create_directory(path);
    setenv("TILEGPU_PRESENT_DIR", path.c_str(), 1);
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  /// In the order of their presentation.
  std::vector<std::filesystem::path> pictures() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path)) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
};

void pictures_come_in_order() {
  const Folder folder;
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
  const std::vector<std::filesystem::path> pictures = folder.pictures();
  CHECK_MESSAGE(pictures.size() == 8, std::to_string(pictures.size()));
  for (size_t i = 0; i + 1 < pictures.size(); ++i) {
    const auto red = static_cast<uint8_t>(std::lround(static_cast<float>(i) / 10 * 255));
    CHECK(first_pixel(pictures[i]) == (std::vector<uint8_t>{red, 51, 255, 255}));
  }
  CHECK(first_pixel(pictures.back()) == (std::vector<uint8_t>{204, 51, 255, 255}));
}

// What is presented is what its commands draw, however late they begin; and a batch behind them, which waits for nothing, doesn't pass
// them.
void pictures_wait_for_their_batch() {
  const Folder folder;
  {
    Chain c;
    const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 0};
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    VkSemaphore gate = nullptr;
    CHECK(c.p.CreateSemaphore(c.p.device, &info, nullptr, &gate) == VK_SUCCESS);
    const VkSwapchainKHR chain = c.make(VK_FORMAT_R8G8B8A8_UNORM, VK_PRESENT_MODE_FIFO_KHR);
    CHECK(c.frame(chain, {{1, 0, 0, 1}}, gate) == VK_SUCCESS);
    CHECK(c.frame(chain, {{0, 1, 0, 1}}) == VK_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_MESSAGE(folder.pictures().empty(), std::to_string(folder.pictures().size()));
    const VkSemaphoreSignalInfo open{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, gate, 1};
    CHECK(c.p.SignalSemaphore(c.p.device, &open) == VK_SUCCESS);
    CHECK(c.p.DeviceWaitIdle(c.p.device) == VK_SUCCESS);
    c.destroy(c.p.device, chain, nullptr);
    c.p.DestroySemaphore(c.p.device, gate, nullptr);
  }
  const std::vector<std::filesystem::path> pictures = folder.pictures();
  if (!CHECK_MESSAGE(pictures.size() == 2, std::to_string(pictures.size()))) return;
  CHECK(first_pixel(pictures[0]) == (std::vector<uint8_t>{255, 0, 0, 255}));
  CHECK(first_pixel(pictures[1]) == (std::vector<uint8_t>{0, 255, 0, 255}));
}

/// Formats that no surface lists, images that are not the program's: they would be read as what they are not.
void what_is_presented_is_looked_at() {
  const Folder folder;
  Chain c;
  for (const VkFormat format : {VK_FORMAT_R8_UNORM, VK_FORMAT_D32_SFLOAT, VK_FORMAT_UNDEFINED}) {
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = c.surface, info.minImageCount = 2, info.imageFormat = format, info.imageExtent = {kWidth_px, kHeight_px};
    info.imageArrayLayers = 1, info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    VkSwapchainKHR none = nullptr;
    CHECK(c.create(c.p.device, &info, nullptr, &none) == VK_ERROR_INITIALIZATION_FAILED && !none && c.p.heard("can't be presented"));
  }
  for (const VkColorSpaceKHR space : {VK_COLOR_SPACE_HDR10_ST2084_EXT, VK_COLOR_SPACE_DISPLAY_P3_NONLINEAR_EXT}) {
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = c.surface, info.minImageCount = 2, info.imageFormat = VK_FORMAT_R8G8B8A8_UNORM, info.imageColorSpace = space;
    info.imageExtent = {kWidth_px, kHeight_px}, info.imageArrayLayers = 1, info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    VkSwapchainKHR none = nullptr;
    CHECK(c.create(c.p.device, &info, nullptr, &none) == VK_ERROR_INITIALIZATION_FAILED && !none && c.p.heard("imageColorSpace is"));
  }
  const VkSwapchainKHR chain = c.make(VK_FORMAT_R8G8B8A8_UNORM, VK_PRESENT_MODE_FIFO_KHR);
  uint32_t index = 0;
  CHECK(c.acquire(c.p.device, chain, ~uint64_t{0}, nullptr, nullptr, &index) == VK_SUCCESS);
  VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  VkResult one = VK_SUCCESS;
  info.swapchainCount = 1, info.pSwapchains = &chain, info.pImageIndices = &index, info.pResults = &one;
  for (const uint32_t wrong : {7U, 0xffffffffU, (index + 1) % 3}) {
    c.p.said.clear();
    const uint32_t right = std::exchange(index, wrong);
    CHECK(c.present(c.p.queue, &info) != VK_SUCCESS && one < 0 && c.p.heard("is not acquired; the swapchain has 3"));
    index = right;
  }
  CHECK(c.present(c.p.queue, &info) == VK_SUCCESS);
  CHECK(c.present(c.p.queue, &info) != VK_SUCCESS);  // it is no longer the program's
  c.destroy(c.p.device, chain, nullptr);
}

size_t count_threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

/// Vulkan wants it destroyed before: its thread must not look at a device that is gone.
void a_device_ends_with_its_swapchains() {
  const Folder folder;
  {
    const Chain none;
  }
  const size_t before = count_threads();
  {
    Chain c;
    const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 0};
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    VkSemaphore never = nullptr;
    CHECK(c.p.CreateSemaphore(c.p.device, &info, nullptr, &never) == VK_SUCCESS);
    CHECK(c.frame(c.make(VK_FORMAT_R8G8B8A8_UNORM, VK_PRESENT_MODE_FIFO_KHR), {{1, 0, 0, 1}}, never) == VK_SUCCESS);
    c.p.DestroySemaphore(c.p.device, never, nullptr);
  }
  CHECK_MESSAGE(count_threads() == before, std::to_string(count_threads()) + " threads, " + std::to_string(before) + " before");
}

// VK_KHR_present_id, VK_KHR_present_wait: who waits for a picture waits until it is seen, by FIFO each, by MAILBOX and
// FIFO_LATEST_READY it or a later one; for
// one that nobody draws yet as long as they wish; a number that nobody presented is never reached.
void presents_are_waited_for() {
  Chain c;
  VkPhysicalDevicePresentWaitFeaturesKHR waits{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR, nullptr, VK_TRUE};
  VkPhysicalDevicePresentIdFeaturesKHR ids{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR, &waits, VK_TRUE};
  const VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, &ids, VK_TRUE};
  c.p.remake_device({"VK_KHR_swapchain", "VK_KHR_present_id", "VK_KHR_present_wait", "VK_KHR_timeline_semaphore"}, &timeline);
  PFN_vkWaitForPresentKHR wait = nullptr;
  PFN_vkSignalSemaphoreKHR signal = nullptr;
  c.p.load(wait, "vkWaitForPresentKHR"), c.p.load(signal, "vkSignalSemaphoreKHR");
  constexpr uint64_t kLong_ns = 10'000'000'000, kShort_ns = 20'000'000;
  const Folder folder;
  for (const VkPresentModeKHR mode : {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_FIFO_LATEST_READY_EXT}) {
    const VkSwapchainKHR chain = c.make(VK_FORMAT_R8G8B8A8_UNORM, mode);
    CHECK(wait(c.p.device, chain, 1, 0) == VK_TIMEOUT && wait(c.p.device, chain, 0, 0) == VK_SUCCESS);
    const size_t before = folder.pictures().size();
    for (uint64_t id = 10; id <= 50; id += 10) CHECK(c.frame(chain, {{1, 0, 0, 1}}, nullptr, id) == VK_SUCCESS);
    CHECK(wait(c.p.device, chain, 35, kLong_ns) == VK_SUCCESS);  // that of 40
    if (mode == VK_PRESENT_MODE_FIFO_KHR) CHECK(folder.pictures().size() >= before + 4);
    CHECK(wait(c.p.device, chain, 50, kLong_ns) == VK_SUCCESS && wait(c.p.device, chain, 10, 0) == VK_SUCCESS);
    CHECK(c.frame(chain, {{0, 1, 0, 1}}) == VK_SUCCESS);  // without a number
    CHECK(wait(c.p.device, chain, 51, kShort_ns) == VK_TIMEOUT);
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 0};
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    VkSemaphore late = nullptr;
    CHECK(c.p.CreateSemaphore(c.p.device, &info, nullptr, &late) == VK_SUCCESS);
    CHECK(c.frame(chain, {{0, 0, 1, 1}}, late, 60) == VK_SUCCESS);
    CHECK(wait(c.p.device, chain, 60, kShort_ns) == VK_TIMEOUT);  // it isn't drawn
    const VkSemaphoreSignalInfo now{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, late, 1};
    CHECK(signal(c.p.device, &now) == VK_SUCCESS && wait(c.p.device, chain, 60, kLong_ns) == VK_SUCCESS);
    CHECK(c.p.QueueWaitIdle(c.p.queue) == VK_SUCCESS);
    c.destroy(c.p.device, chain, nullptr), c.p.DestroySemaphore(c.p.device, late, nullptr);
  }
}

// VK_EXT_swapchain_maintenance1: fences that presents signal, in order and also those of pictures that others overtake; a mode of each
// present; images that are given back.
void presents_signal_fences() {
  Chain c;
  const VkPhysicalDeviceSwapchainMaintenance1FeaturesEXT feature{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT,
                                                                 nullptr, VK_TRUE};
  c.p.remake_device({"VK_KHR_swapchain", "VK_EXT_swapchain_maintenance1"}, &feature);
  PFN_vkReleaseSwapchainImagesEXT release = nullptr;
  c.p.load(release, "vkReleaseSwapchainImagesEXT");
  const Folder folder;
  std::vector<VkFence> fences(8);
  for (VkFence& fence : fences) {
    const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK(c.p.CreateFence(c.p.device, &info, nullptr, &fence) == VK_SUCCESS);
  }
  const VkSwapchainKHR chain = c.make(VK_FORMAT_R8G8B8A8_UNORM, VK_PRESENT_MODE_MAILBOX_KHR);
  for (uint32_t i = 0; i < fences.size(); ++i) {  // the last four one after the other
    const VkPresentModeKHR mode = i < 2   ? VK_PRESENT_MODE_MAILBOX_KHR
                                  : i < 4 ? VK_PRESENT_MODE_FIFO_LATEST_READY_EXT
                                          : VK_PRESENT_MODE_FIFO_KHR;
    const VkSwapchainPresentModeInfoEXT modes{VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODE_INFO_EXT, nullptr, 1, &mode};
    const VkSwapchainPresentFenceInfoEXT signals{VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT, &modes, 1, &fences[i]};
    CHECK(c.frame(chain, {{1, 0, 0, 1}}, nullptr, 0, &signals) == VK_SUCCESS);
  }
  CHECK(c.p.WaitForFences(c.p.device, 1, &fences.back(), VK_TRUE, 10'000'000'000) == VK_SUCCESS);
  for (const VkFence fence : fences) CHECK(c.p.GetFenceStatus(c.p.device, fence) == VK_SUCCESS);
  CHECK(folder.pictures().size() >= 4);  // those of FIFO each; of the others perhaps none
  // Given back, it comes again.
  uint32_t images[3] = {};
  for (uint32_t& image : images) CHECK(c.acquire(c.p.device, chain, ~uint64_t{0}, nullptr, nullptr, &image) == VK_SUCCESS);
  uint32_t none = 0;
  CHECK(c.acquire(c.p.device, chain, 0, nullptr, nullptr, &none) == VK_NOT_READY);
  VkReleaseSwapchainImagesInfoEXT info{VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT, nullptr, chain, 2, images};
  CHECK(release(c.p.device, &info) == VK_SUCCESS);
  CHECK(c.acquire(c.p.device, chain, 0, nullptr, nullptr, &none) == VK_SUCCESS && none == images[0]);
  CHECK(release(c.p.device, &info) == VK_ERROR_VALIDATION_FAILED_EXT && c.p.heard("not acquired"));
  for (const VkFence fence : fences) c.p.DestroyFence(c.p.device, fence, nullptr);
  c.destroy(c.p.device, chain, nullptr);
  const VkSwapchainPresentScalingCreateInfoEXT stretched{VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_SCALING_CREATE_INFO_EXT, nullptr,
                                                         VK_PRESENT_SCALING_STRETCH_BIT_EXT};
  VkSwapchainCreateInfoKHR wrong{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR, &stretched, 0, c.surface, 3, VK_FORMAT_R8G8B8A8_UNORM};
  wrong.imageExtent = {kWidth_px, kHeight_px}, wrong.imageArrayLayers = 1, wrong.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  VkSwapchainKHR out = nullptr;
  CHECK(c.create(c.p.device, &wrong, nullptr, &out) == VK_ERROR_INITIALIZATION_FAILED && c.p.heard("scalingBehavior"));
}

// VK_EXT_surface_maintenance1: all modes go together, none is scaled.
void surfaces_say_which_modes_go_together() {
  Chain c;
  PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR query = nullptr;
  c.p.load(query, "vkGetPhysicalDeviceSurfaceCapabilities2KHR");
  constexpr VkPresentModeKHR kAll[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
                                       VK_PRESENT_MODE_FIFO_LATEST_READY_EXT};
  for (const VkPresentModeKHR mode : kAll) {
    VkSurfacePresentModeEXT of{VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT, nullptr, mode};
    const VkPhysicalDeviceSurfaceInfo2KHR info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SURFACE_INFO_2_KHR, &of, c.surface};
    VkPresentModeKHR modes[4] = {};
    VkSurfacePresentModeCompatibilityEXT together{VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT};
    VkSurfacePresentScalingCapabilitiesEXT scaling{VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT, &together, 7, 7, 7};
    VkSurfaceCapabilities2KHR out{VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR, &scaling};
    CHECK(query(c.p.physical_device, &info, &out) == VK_SUCCESS && together.presentModeCount == 4);
    CHECK(scaling.supportedPresentScaling == 0 && scaling.supportedPresentGravityX == 0 && scaling.supportedPresentGravityY == 0);
    CHECK(scaling.minScaledImageExtent.width == 1 && scaling.maxScaledImageExtent.width == out.surfaceCapabilities.maxImageExtent.width);
    together.pPresentModes = modes;
    CHECK(query(c.p.physical_device, &info, &out) == VK_SUCCESS && together.presentModeCount == 4 && modes[0] == mode);
    together.presentModeCount = 1, modes[0] = VK_PRESENT_MODE_MAX_ENUM_KHR;
    CHECK(query(c.p.physical_device, &info, &out) == VK_SUCCESS && together.presentModeCount == 1 && modes[0] == mode);
  }
}

// A mode that no surface lists, and numbers that are no mode: refused, and the picture is the program's as before.
void modes_that_are_not_there_are_refused() {
  Chain c;
  for (const uint32_t number : {uint32_t{VK_PRESENT_MODE_FIFO_RELAXED_KHR}, 0x7fffffffU, 0xffffffffU}) {
    const auto mode = static_cast<VkPresentModeKHR>(number);
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = c.surface, info.minImageCount = 3, info.imageFormat = VK_FORMAT_B8G8R8A8_UNORM;
    info.imageExtent = {kWidth_px, kHeight_px}, info.imageArrayLayers = 1, info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.presentMode = mode;
    VkSwapchainKHR out = nullptr;
    CHECK(c.create(c.p.device, &info, nullptr, &out) == VK_ERROR_INITIALIZATION_FAILED && !out && c.p.heard("presentMode is"));
    const VkSwapchainKHR chain = c.make(VK_FORMAT_B8G8R8A8_UNORM, VK_PRESENT_MODE_FIFO_KHR);
    const VkSwapchainPresentModeInfoEXT modes{VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODE_INFO_EXT, nullptr, 1, &mode};
    CHECK(c.frame(chain, {{1, 0, 0, 1}}, nullptr, 0, &modes) == VK_ERROR_VALIDATION_FAILED_EXT && c.p.heard("present mode is"));
    CHECK(c.frame(chain, {{0, 1, 0, 1}}) == VK_SUCCESS);  // as it was
    c.destroy(c.p.device, chain, nullptr);
  }
}

}  // namespace

int main() {
  pictures_come_in_order();
  pictures_wait_for_their_batch();
  what_is_presented_is_looked_at();
  presents_are_waited_for();
  presents_signal_fences();
  surfaces_say_which_modes_go_together();
  modes_that_are_not_there_are_refused();
  a_device_ends_with_its_swapchains();
  return finish("test_vulkan_swapchain");
}
