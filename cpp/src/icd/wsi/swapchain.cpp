// icd/wsi/swapchain.cpp -- swapchains: images that are drawn to, acquired and presented in turn.
//
// In: VkSwapchainCreateInfoKHR, presented images. Out: pictures in a window, copied once, by a thread of the swapchain that waits until
// they are drawn: vkQueuePresentKHR returns at once. Images come back in the order of presentation; MAILBOX drops pictures that a later one
// overtakes; FIFO keeps 60 pictures a second where there is no screen to keep it.
// Source: Vulkan specification, "WSI Swapchain".
#include <algorithm>

#include "icd/debug_utils.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/sync.hpp"
#include "icd/wsi/surface.hpp"

using Clock = std::chrono::steady_clock;

struct VkSwapchainKHR_T {
  VkDevice device = nullptr;
  std::unique_ptr<tilegpu::icd::Window> window;
  VkExtent2D extent = {};
  VkPresentModeKHR mode = VK_PRESENT_MODE_FIFO_KHR;
  bool blue_first = true;
  std::vector<std::unique_ptr<VkImage_T>> images;

  struct Presented {
    uint32_t image;
    std::shared_ptr<tilegpu::icd::Fence> drawn;  ///< null: the device was lost
    uint64_t id = 0;                             ///< VK_KHR_present_id; 0: none
    VkPresentModeKHR mode = VK_PRESENT_MODE_FIFO_KHR;
    std::optional<VkPresentModeKHR> other_mode = {};         ///< of the swapchain from here on
    std::vector<std::shared_ptr<tilegpu::icd::Fence>> done;  ///< signaled behind it
  };
  std::mutex lock;
  std::condition_variable changed;
  std::deque<uint32_t> free;    ///< to be acquired, in order
  std::set<uint32_t> acquired;  ///< the program's, until they are presented
  std::deque<Presented> queue;  ///< to be shown
  uint64_t shown_id = 0;        ///< the last that was seen, or that a later one overtook
  VkResult state = VK_SUCCESS;  ///< SUBOPTIMAL, OUT_OF_DATE or SURFACE_LOST once it is
  bool ending = false, retired = false;
  std::thread presenting;
};

namespace tilegpu::icd {
namespace {

constexpr auto kPace = std::chrono::nanoseconds(1'000'000'000 / 60);

// Unless the swapchain ends while nobody has submitted what the drawing waits for.
void wait_until_drawn(VkSwapchainKHR chain, Fence& drawn) {
  while (wait_for(chain->device, drawn, Clock::now() + std::chrono::milliseconds(100)) == VK_TIMEOUT) {
    const std::scoped_lock guard(chain->lock, drawn.lock);
    if (chain->ending && !drawn.pending) return;
  }
}

// VkSwapchainPresentFenceInfoEXT: nothing of the picture is read any more.
void signal(VkDevice device, const std::vector<std::shared_ptr<Fence>>& fences) {
  for (const std::shared_ptr<Fence>& fence : fences) {
    const std::lock_guard guard(fence->lock);
    fence->signaled = true;
  }
  if (!fences.empty()) device->timeline_moved.notify_all();
}

// A picture that is not shown: who waits for it waits for the one that overtook it.
void overtake(VkSwapchainKHR chain, VkSwapchainKHR_T::Presented overtaken, VkSwapchainKHR_T::Presented& by) {
  assert(overtaken.image != by.image);
  chain->free.push_back(overtaken.image);
  by.id = std::max(by.id, overtaken.id);
  by.done.insert(by.done.begin(), overtaken.done.begin(), overtaken.done.end());
}

// FIFO_LATEST_READY, at the end of a period: of what follows in the queue the last that is drawn already.
void take_latest_ready(VkSwapchainKHR chain, VkSwapchainKHR_T::Presented& now) {
  for (;;) {
    std::shared_ptr<Fence> drawn;
    {
      const std::lock_guard guard(chain->lock);
      if (chain->queue.empty() || chain->queue.front().mode != VK_PRESENT_MODE_FIFO_LATEST_READY_EXT) return;
      drawn = chain->queue.front().drawn;
    }
    // Nobody else takes from the queue, so that its front stays.
    if (drawn && wait_for(chain->device, *drawn, Clock::now()) == VK_TIMEOUT) return;
    const std::lock_guard guard(chain->lock);
    VkSwapchainKHR_T::Presented later = std::move(chain->queue.front());
    chain->queue.pop_front();
    overtake(chain, std::move(now), later);
    now = std::move(later);
    chain->changed.notify_all();
  }
}

void show(VkSwapchainKHR chain) {
  auto next = Clock::now();
  std::unique_lock guard(chain->lock);
  for (;;) {
    chain->changed.wait(guard, [&] { return chain->ending || !chain->queue.empty(); });
    if (chain->queue.empty()) return;  // ending; what was presented before was shown
    while (chain->queue.front().mode == VK_PRESENT_MODE_MAILBOX_KHR && chain->queue.size() > 1) {
      const VkSwapchainKHR_T::Presented overtaken = std::move(chain->queue.front());
      chain->queue.pop_front();
      overtake(chain, overtaken, chain->queue.front());
    }
    VkSwapchainKHR_T::Presented now = std::move(chain->queue.front());
    chain->queue.pop_front();
    guard.unlock();
    if (now.drawn) wait_until_drawn(chain, *now.drawn);
    const bool latest = now.mode == VK_PRESENT_MODE_FIFO_LATEST_READY_EXT;
    if ((latest || now.mode == VK_PRESENT_MODE_FIFO_KHR) && chain->window->has_pace()) {
      std::this_thread::sleep_until(next);
      next = std::max(next + kPace, Clock::now());
    }
    if (latest) take_latest_ready(chain, now);
    assert(now.image < chain->images.size());
    const tilegpu::Image& image = *chain->images[now.image]->core;
    assert(image.data());
    const SubresourceLayout at = image.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
    const VkResult shown =
        chain->window->present({image.data() + at.offset_B, at.row_pitch_B, chain->extent.width, chain->extent.height, chain->blue_first});
    guard.lock();
    if (shown != VK_SUCCESS || chain->state == VK_SUBOPTIMAL_KHR) chain->state = shown;
    if (shown >= 0) chain->shown_id = std::max(chain->shown_id, now.id);
    signal(chain->device, now.done);
    chain->free.push_back(now.image);
    chain->changed.notify_all();
  }
}

VkResult make_images(VkDevice device, const VkSwapchainCreateInfoKHR& info, VkSwapchainKHR_T& chain) {
  tilegpu::ImageCreateInfo image_info;
  image_info.label = "swapchain";
  image_info.format = given(info.imageFormat);
  image_info.width_px = info.imageExtent.width, image_info.height_px = info.imageExtent.height;
  image_info.usage = info.imageUsage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  if (info.flags & VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR) image_info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
  for (uint32_t i = 0; i < std::max(2U, info.minImageCount); ++i) {
    auto core = tilegpu::Image::create(image_info);
    if (!core) return fail(device, core.error(), VK_ERROR_INITIALIZATION_FAILED);
    if (const Status ok = (*core)->ensure_memory(); !ok) return fail(device, ok.error(), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    chain.images.push_back(std::make_unique<VkImage_T>(VkImage_T{*core, VK_IMAGE_TILING_OPTIMAL}));
    chain.free.push_back(i);
  }
  return VK_SUCCESS;
}

void signal(VkSemaphore semaphore, VkFence fence) {
  // Of one that is the device's alone nothing need be known: the image is free when it is given, and the queue keeps its order.
  if (const auto payload = semaphore ? current(semaphore)->payload : nullptr) payload->signal(payload->announce());
  if (!fence) return;
  const std::lock_guard guard(fence->shared->lock);
  fence->shared->signaled = true;
}

void end(VkSwapchainKHR swapchain) {
  {
    const std::lock_guard guard(swapchain->lock);
    swapchain->ending = true;
  }
  swapchain->changed.notify_all();
  assert(swapchain->presenting.joinable());
  swapchain->presenting.join();
  assert(swapchain->queue.empty());  // what was presented was shown
  delete swapchain;
}

// What the chain of a present says of one swapchain: its number, another mode from here on, a fence.
VkSwapchainKHR_T::Presented picture_of(const VkPresentInfoKHR& info, uint32_t i, const std::shared_ptr<Fence>& drawn) {
  VkSwapchainKHR_T::Presented out{info.pImageIndices[i], drawn};
  const auto* ids = find_next<VkPresentIdKHR>(info.pNext, VK_STRUCTURE_TYPE_PRESENT_ID_KHR);
  if (ids && ids->pPresentIds && i < ids->swapchainCount) out.id = ids->pPresentIds[i];
  using Modes = VkSwapchainPresentModeInfoEXT;
  const auto* modes = find_next<Modes>(info.pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODE_INFO_EXT);
  if (modes && i < modes->swapchainCount) out.other_mode = given(modes->pPresentModes[i]);
  using Fences = VkSwapchainPresentFenceInfoEXT;
  const auto* fences = find_next<Fences>(info.pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT);
  if (fences && i < fences->swapchainCount && fences->pFences[i]) out.done.push_back(fences->pFences[i]->shared);
  return out;
}

std::string no_mode(VkPresentModeKHR mode) {
  return std::to_string(mode) + ", which is not there; vkGetPhysicalDeviceSurfacePresentModesKHR says what is";
}

// To its thread, which shows it once it is drawn.
VkResult present(VkSwapchainKHR chain, VkSwapchainKHR_T::Presented picture) {
  const uint32_t image = picture.image;
  if (picture.other_mode && !is_present_mode(*picture.other_mode))
    return fail(chain->device, VK_ERROR_VALIDATION_FAILED_EXT, "vkQueuePresentKHR: the present mode is " + no_mode(*picture.other_mode));
  {
    const std::lock_guard guard(chain->lock);
    if (chain->acquired.erase(image)) {
      picture.mode = chain->mode = picture.other_mode.value_or(chain->mode);
      chain->queue.push_back(std::move(picture));
      chain->changed.notify_all();
      return chain->state;
    }
  }
  return fail(
      chain->device, VK_ERROR_VALIDATION_FAILED_EXT,
      "vkQueuePresentKHR: image " + std::to_string(image) + " is not acquired; the swapchain has " + std::to_string(chain->images.size()));
}

}  // namespace

VkResult VKAPI_CALL CreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR* pCreateInfo, const VkAllocationCallbacks*,
                                       VkSwapchainKHR* pSwapchain) {
  if (pCreateInfo->oldSwapchain) {
    const std::lock_guard guard(pCreateInfo->oldSwapchain->lock);
    pCreateInfo->oldSwapchain->retired = true;
    pCreateInfo->oldSwapchain->changed.notify_all();
  }
  auto chain = std::make_unique<VkSwapchainKHR_T>();
  std::string why;
  chain->window = open_window(pCreateInfo->surface, why);
  if (!chain->window) return fail(device, VK_ERROR_SURFACE_LOST_KHR, "swapchain: " + why);
  if (!is_presentable(given(pCreateInfo->imageFormat)))
    return fail(device, VK_ERROR_INITIALIZATION_FAILED,
                "swapchain: imageFormat is " + format_name(given(pCreateInfo->imageFormat)) +
                    ", which can't be presented; vkGetPhysicalDeviceSurfaceFormatsKHR says what can");
  if (given(pCreateInfo->imageColorSpace) != VK_COLOR_SPACE_SRGB_NONLINEAR_KHR)
    return fail(device, VK_ERROR_INITIALIZATION_FAILED,
                "swapchain: imageColorSpace is " + std::to_string(given(pCreateInfo->imageColorSpace)) +
                    "; windows get sRGB's numbers (VK_COLOR_SPACE_SRGB_NONLINEAR_KHR), as vkGetPhysicalDeviceSurfaceFormatsKHR says");
  if (!is_present_mode(given(pCreateInfo->presentMode)))
    return fail(device, VK_ERROR_INITIALIZATION_FAILED, "swapchain: presentMode is " + no_mode(given(pCreateInfo->presentMode)));
  if (pCreateInfo->imageArrayLayers != 1) return fail(device, VK_ERROR_INITIALIZATION_FAILED, "swapchain: imageArrayLayers must be 1");
  using Scaling = VkSwapchainPresentScalingCreateInfoEXT;
  if (const auto* scaling = find_next<Scaling>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_SCALING_CREATE_INFO_EXT);
      scaling && scaling->scalingBehavior)
    return fail(device, VK_ERROR_INITIALIZATION_FAILED,
                "swapchain: scalingBehavior is " + std::to_string(scaling->scalingBehavior) +
                    "; nothing is scaled here, as VkSurfacePresentScalingCapabilitiesEXT says: make it 0");
  chain->device = device;
  chain->extent = pCreateInfo->imageExtent;
  chain->mode = given(pCreateInfo->presentMode);
  chain->blue_first =
      given(pCreateInfo->imageFormat) == VK_FORMAT_B8G8R8A8_UNORM || given(pCreateInfo->imageFormat) == VK_FORMAT_B8G8R8A8_SRGB;
  if (const VkResult r = make_images(device, *pCreateInfo, *chain); r != VK_SUCCESS) return r;
  *pSwapchain = chain.release();
  (*pSwapchain)->presenting = std::thread(show, *pSwapchain);
  const std::lock_guard guard(device->lock);
  device->threads[*pSwapchain] = [made = *pSwapchain] { end(made); };
  return VK_SUCCESS;
}

void VKAPI_CALL DestroySwapchainKHR(VkDevice device, VkSwapchainKHR swapchain, const VkAllocationCallbacks*) {
  if (!swapchain) return;
  {
    const std::lock_guard guard(device->lock);
    device->threads.erase(swapchain);
  }
  for (const auto& image : swapchain->images) forget(device, number_of(image.get()));
  forget(device, number_of(swapchain));
  end(swapchain);
}

VkResult VKAPI_CALL GetSwapchainImagesKHR(VkDevice, VkSwapchainKHR swapchain, uint32_t* pSwapchainImageCount, VkImage* pSwapchainImages) {
  return enumerate(static_cast<uint32_t>(swapchain->images.size()), pSwapchainImageCount, pSwapchainImages,
                   [&](uint32_t i, VkImage& out) { out = swapchain->images[i].get(); });
}

VkResult VKAPI_CALL AcquireNextImageKHR(VkDevice device, VkSwapchainKHR swapchain, uint64_t timeout, VkSemaphore semaphore, VkFence fence,
                                        uint32_t* pImageIndex) {
  if (device->lost) return VK_ERROR_DEVICE_LOST;
  std::unique_lock guard(swapchain->lock);
  const auto ready = [&] { return !swapchain->free.empty() || swapchain->retired || swapchain->state < 0; };
  if (!ready() && timeout == 0) return VK_NOT_READY;
  if (!swapchain->changed.wait_until(guard, deadline_of(timeout), ready)) return VK_TIMEOUT;
  if (swapchain->state < 0) return swapchain->state;
  if (swapchain->retired) return VK_ERROR_OUT_OF_DATE_KHR;
  assert(!swapchain->free.empty());
  *pImageIndex = swapchain->free.front();
  swapchain->free.pop_front();
  swapchain->acquired.insert(*pImageIndex);
  signal(semaphore, fence);
  return swapchain->state;
}

VkResult VKAPI_CALL AcquireNextImage2KHR(VkDevice device, const VkAcquireNextImageInfoKHR* info, uint32_t* pImageIndex) {
  return AcquireNextImageKHR(device, info->swapchain, info->timeout, info->semaphore, info->fence, pImageIndex);
}

VkResult VKAPI_CALL ReleaseSwapchainImagesEXT(VkDevice device, const VkReleaseSwapchainImagesInfoEXT* info) {
  VkSwapchainKHR const chain = info->swapchain;
  {
    const std::lock_guard guard(chain->lock);
    const uint32_t *const first = info->pImageIndices, *const end = first + info->imageIndexCount;
    const bool all = std::all_of(first, end, [&](uint32_t image) { return chain->acquired.count(image) != 0; });
    for (const uint32_t* image = first; all && image != end; ++image)
      if (chain->acquired.erase(*image)) chain->free.push_back(*image);
    chain->changed.notify_all();
    if (all) return chain->state < 0 ? chain->state : VK_SUCCESS;
  }
  return fail(device, VK_ERROR_VALIDATION_FAILED_EXT, "vkReleaseSwapchainImagesEXT: an image is not acquired; none was released");
}

VkResult VKAPI_CALL QueuePresentKHR(VkQueue queue, const VkPresentInfoKHR* pPresentInfo) {
  // Behind all that was submitted, the semaphores' batches among it, and behind what others signal.
  Batch batch;
  for (uint32_t i = 0; i < pPresentInfo->waitSemaphoreCount; ++i) batch.waits.emplace_back(waited(pPresentInfo->pWaitSemaphores[i]), 0);
  auto drawn = batch.fence = std::make_shared<Fence>();
  if (submit(queue, std::move(batch)) != VK_SUCCESS) drawn = nullptr;
  if (Explained* const explained = Explained::asked()) explained->presented();
  VkResult result = queue->device->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
  for (uint32_t i = 0; i < pPresentInfo->swapchainCount; ++i) {
    const VkResult one = present(pPresentInfo->pSwapchains[i], picture_of(*pPresentInfo, i, drawn));
    if (pPresentInfo->pResults) pPresentInfo->pResults[i] = one;
    if (result >= 0 && one != VK_SUCCESS) result = one;
  }
  return result;
}

// Of a display's brightness and primaries, which windows of sRGB have no use for.
void VKAPI_CALL SetHdrMetadataEXT(VkDevice, uint32_t, const VkSwapchainKHR*, const VkHdrMetadataEXT*) {}

// VK_KHR_present_wait: a picture is seen once the window has taken it.
VkResult VKAPI_CALL WaitForPresentKHR(VkDevice device, VkSwapchainKHR swapchain, uint64_t presentId, uint64_t timeout) {
  const Clock::time_point deadline = deadline_of(timeout);
  std::unique_lock guard(swapchain->lock);
  const auto ready = [&] { return swapchain->shown_id >= presentId || swapchain->state < 0; };
  while (!ready()) {
    if (device->lost) return VK_ERROR_DEVICE_LOST;  // whose end wakes nobody here
    if (Clock::now() >= deadline) return VK_TIMEOUT;
    swapchain->changed.wait_until(guard, std::min(deadline, Clock::now() + std::chrono::milliseconds(10)), ready);
  }
  return swapchain->shown_id >= presentId ? VK_SUCCESS : swapchain->state;
}

VkResult VKAPI_CALL GetDeviceGroupPresentCapabilitiesKHR(VkDevice, VkDeviceGroupPresentCapabilitiesKHR* out) {
  std::fill(std::begin(out->presentMask), std::end(out->presentMask), 0U);
  out->presentMask[0] = 1;
  out->modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetDeviceGroupSurfacePresentModesKHR(VkDevice, VkSurfaceKHR, VkDeviceGroupPresentModeFlagsKHR* pModes) {
  *pModes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
  return VK_SUCCESS;
}

}  // namespace tilegpu::icd
