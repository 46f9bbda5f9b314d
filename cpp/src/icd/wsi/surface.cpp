// icd/wsi/surface.cpp -- surfaces: made and destroyed, which queries they answer, and how.
//
// In: windows' handles, VkSurfaceKHR. Out: VkIcdSurface structures, capabilities, formats, modes.
// Source: Vulkan specification, "WSI Surface", "Surface Queries"; Vulkan-Loader, LoaderDriverInterface.md, "Handling KHR Surface Objects".
#include "icd/wsi/surface.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

namespace {

/// The structure that loaders made once, so that surfaces of theirs and of ours are read alike.
template <typename Surface>
VkResult make_surface(const Surface& surface, VkSurfaceKHR* out) {
  static_assert(std::is_trivially_destructible_v<Surface>);
  void* made = ::operator new(sizeof(Surface), std::nothrow);
  if (!made) return VK_ERROR_OUT_OF_HOST_MEMORY;
  *out = reinterpret_cast<VkSurfaceKHR>(new (made) Surface(surface));
  return VK_SUCCESS;
}

}  // namespace

VkResult VKAPI_CALL CreateXcbSurfaceKHR(VkInstance, const VkXcbSurfaceCreateInfoKHR* pCreateInfo, const VkAllocationCallbacks*,
                                        VkSurfaceKHR* pSurface) {
  return make_surface(XcbSurface{{VK_ICD_WSI_PLATFORM_XCB}, pCreateInfo->connection, pCreateInfo->window}, pSurface);
}

VkResult VKAPI_CALL CreateXlibSurfaceKHR(VkInstance, const VkXlibSurfaceCreateInfoKHR* pCreateInfo, const VkAllocationCallbacks*,
                                         VkSurfaceKHR* pSurface) {
  return make_surface(XlibSurface{{VK_ICD_WSI_PLATFORM_XLIB}, pCreateInfo->dpy, pCreateInfo->window}, pSurface);
}

VkResult VKAPI_CALL CreateWaylandSurfaceKHR(VkInstance, const VkWaylandSurfaceCreateInfoKHR* pCreateInfo, const VkAllocationCallbacks*,
                                            VkSurfaceKHR* pSurface) {
  return make_surface(WaylandSurface{{VK_ICD_WSI_PLATFORM_WAYLAND}, pCreateInfo->display, pCreateInfo->surface}, pSurface);
}

VkResult VKAPI_CALL CreateHeadlessSurfaceEXT(VkInstance, const VkHeadlessSurfaceCreateInfoEXT*, const VkAllocationCallbacks*,
                                             VkSurfaceKHR* pSurface) {
  return make_surface(VkIcdSurfaceBase{VK_ICD_WSI_PLATFORM_HEADLESS}, pSurface);
}

void VKAPI_CALL DestroySurfaceKHR(VkInstance, VkSurfaceKHR surface, const VkAllocationCallbacks*) {
  ::operator delete(reinterpret_cast<void*>(surface));
}

std::unique_ptr<Window> open_window(VkSurfaceKHR surface, std::string& why) {
  const auto* base = reinterpret_cast<const VkIcdSurfaceBase*>(surface);
  switch (given(base->platform)) {
    case VK_ICD_WSI_PLATFORM_XCB:
      return open_xcb(*reinterpret_cast<const XcbSurface*>(base), why);
    case VK_ICD_WSI_PLATFORM_XLIB:
      return open_xlib(*reinterpret_cast<const XlibSurface*>(base), why);
    case VK_ICD_WSI_PLATFORM_WAYLAND:
      return open_wayland(*reinterpret_cast<const WaylandSurface*>(base), why);
    case VK_ICD_WSI_PLATFORM_HEADLESS:
      return open_headless();
    default:
      why = "surfaces of platform " + std::to_string(given(base->platform)) +
            " are not there; there are XCB, Xlib, Wayland and headless ones";
      return nullptr;
  }
}

void copy_blue_first(const Picture& picture, uint32_t first, uint32_t end, uint8_t* out) {
  assert(first <= end && end <= picture.height_px && picture.row_pitch_B >= uint64_t{picture.width_px} * 4);
  for (uint32_t y = first; y < end; ++y, out += size_t{picture.width_px} * 4) {
    const uint8_t* row = picture.data + y * picture.row_pitch_B;
    if (picture.blue_first) {
      std::memcpy(out, row, size_t{picture.width_px} * 4);
      continue;
    }
    for (size_t i = 0; i < size_t{picture.width_px} * 4; i += 4)
      out[i] = row[i + 2], out[i + 1] = row[i + 1], out[i + 2] = row[i], out[i + 3] = row[i + 3];
  }
}

namespace {

constexpr VkFormat kFormats[] = {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB};
constexpr VkPresentModeKHR kModes[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
                                       VK_PRESENT_MODE_FIFO_LATEST_READY_EXT};
constexpr uint32_t kAnyExtent = 0xffffffff;

}  // namespace

bool is_presentable(VkFormat format) { return std::find(std::begin(kFormats), std::end(kFormats), format) != std::end(kFormats); }

namespace {

VkResult capabilities_of(VkPhysicalDevice physical_device, VkSurfaceKHR surface, VkSurfaceCapabilitiesKHR& out) {
  std::string why;
  const std::unique_ptr<Window> window = open_window(surface, why);
  if (!window) return fail(physical_device->instance, VK_ERROR_SURFACE_LOST_KHR, "surface: " + why);
  const uint32_t most_px = capabilities().core.limits.maxImageDimension2D;
  out = {};
  out.minImageCount = 2;
  out.maxImageCount = 0;  // as many as memory holds
  const std::optional<VkExtent2D> extent = window->extent();
  out.currentExtent = extent ? *extent : VkExtent2D{kAnyExtent, kAnyExtent};
  out.minImageExtent = extent ? *extent : VkExtent2D{1, 1};
  out.maxImageExtent = extent ? *extent : VkExtent2D{most_px, most_px};
  out.maxImageArrayLayers = 1;
  out.supportedTransforms = out.currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR;
  out.supportedCompositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
  out.supportedUsageFlags = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                            VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  return VK_SUCCESS;
}

}  // namespace

bool is_present_mode(VkPresentModeKHR mode) { return std::find(std::begin(kModes), std::end(kModes), mode) != std::end(kModes); }

VkResult VKAPI_CALL GetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice, uint32_t, VkSurfaceKHR surface, VkBool32* pSupported) {
  const VkIcdWsiPlatform platform = reinterpret_cast<const VkIcdSurfaceBase*>(surface)->platform;
  *pSupported = platform == VK_ICD_WSI_PLATFORM_XCB || platform == VK_ICD_WSI_PLATFORM_XLIB || platform == VK_ICD_WSI_PLATFORM_WAYLAND ||
                platform == VK_ICD_WSI_PLATFORM_HEADLESS;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice physicalDevice, VkSurfaceKHR surface,
                                                            VkSurfaceCapabilitiesKHR* pSurfaceCapabilities) {
  return capabilities_of(physicalDevice, surface, *pSurfaceCapabilities);
}

VkResult VKAPI_CALL GetPhysicalDeviceSurfaceCapabilities2KHR(VkPhysicalDevice physicalDevice,
                                                             const VkPhysicalDeviceSurfaceInfo2KHR* pSurfaceInfo,
                                                             VkSurfaceCapabilities2KHR* pSurfaceCapabilities) {
  const VkResult result = capabilities_of(physicalDevice, pSurfaceInfo->surface, pSurfaceCapabilities->surfaceCapabilities);
  if (result != VK_SUCCESS) return result;
  // VK_EXT_surface_maintenance1: no picture is scaled, and a swapchain may go from any mode to any other.
  const VkSurfaceCapabilitiesKHR& at = pSurfaceCapabilities->surfaceCapabilities;
  using Scaling = VkSurfacePresentScalingCapabilitiesEXT;
  if (auto* scaling = find_next<Scaling>(pSurfaceCapabilities->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT)) {
    scaling->supportedPresentScaling = scaling->supportedPresentGravityX = scaling->supportedPresentGravityY = 0;
    scaling->minScaledImageExtent = at.minImageExtent, scaling->maxScaledImageExtent = at.maxImageExtent;
  }
  using Modes = VkSurfacePresentModeCompatibilityEXT;
  if (auto* modes = find_next<Modes>(pSurfaceCapabilities->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT)) {
    const auto* of = find_next<VkSurfacePresentModeEXT>(pSurfaceInfo->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT);
    std::vector<VkPresentModeKHR> all(std::begin(kModes), std::end(kModes));
    if (of)
      std::stable_partition(all.begin(), all.end(), [&](VkPresentModeKHR mode) { return mode == given(of->presentMode); });  // it first
    const uint32_t count = static_cast<uint32_t>(all.size());
    modes->presentModeCount = modes->pPresentModes ? std::min(modes->presentModeCount, count) : count;
    for (uint32_t i = 0; modes->pPresentModes && i < modes->presentModeCount; ++i) modes->pPresentModes[i] = all[i];
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetPhysicalDeviceSurfaceFormatsKHR(VkPhysicalDevice, VkSurfaceKHR, uint32_t* pSurfaceFormatCount,
                                                       VkSurfaceFormatKHR* pSurfaceFormats) {
  assert(std::all_of(std::begin(kFormats), std::end(kFormats),
                     [](VkFormat format) { return (image_features(format) & VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT) != 0; }));
  return enumerate(std::size(kFormats), pSurfaceFormatCount, pSurfaceFormats,
                   [](uint32_t i, VkSurfaceFormatKHR& out) { out = {kFormats[i], VK_COLOR_SPACE_SRGB_NONLINEAR_KHR}; });
}

VkResult VKAPI_CALL GetPhysicalDeviceSurfaceFormats2KHR(VkPhysicalDevice, const VkPhysicalDeviceSurfaceInfo2KHR*,
                                                        uint32_t* pSurfaceFormatCount, VkSurfaceFormat2KHR* pSurfaceFormats) {
  return enumerate(std::size(kFormats), pSurfaceFormatCount, pSurfaceFormats,
                   [](uint32_t i, VkSurfaceFormat2KHR& out) { out.surfaceFormat = {kFormats[i], VK_COLOR_SPACE_SRGB_NONLINEAR_KHR}; });
}

VkResult VKAPI_CALL GetPhysicalDeviceSurfacePresentModesKHR(VkPhysicalDevice, VkSurfaceKHR, uint32_t* pPresentModeCount,
                                                            VkPresentModeKHR* pPresentModes) {
  return enumerate(std::size(kModes), pPresentModeCount, pPresentModes, [](uint32_t i, VkPresentModeKHR& out) { out = kModes[i]; });
}

VkResult VKAPI_CALL GetPhysicalDevicePresentRectanglesKHR(VkPhysicalDevice physicalDevice, VkSurfaceKHR surface, uint32_t* pRectCount,
                                                          VkRect2D* pRects) {
  VkSurfaceCapabilitiesKHR at{};
  const VkResult result = capabilities_of(physicalDevice, surface, at);
  if (result != VK_SUCCESS) return result;
  return enumerate(1, pRectCount, pRects, [&](uint32_t, VkRect2D& out) { out = {{0, 0}, at.currentExtent}; });
}

VkBool32 VKAPI_CALL GetPhysicalDeviceXcbPresentationSupportKHR(VkPhysicalDevice, uint32_t, xcb_connection_t*, xcb_visualid_t) {
  return VK_TRUE;
}
VkBool32 VKAPI_CALL GetPhysicalDeviceWaylandPresentationSupportKHR(VkPhysicalDevice, uint32_t, wl_display*) { return VK_TRUE; }
VkBool32 VKAPI_CALL GetPhysicalDeviceXlibPresentationSupportKHR(VkPhysicalDevice, uint32_t, Display*, VisualID) { return VK_TRUE; }

}  // namespace tilegpu::icd
