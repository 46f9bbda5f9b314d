// icd/wsi/surface.hpp -- where a swapchain's pictures go: a window of X or Wayland, or nowhere but a folder.
// In: a window's handle and a picture. Out: it is shown.
// Surfaces are the VkIcdSurface structures that loaders know: older loaders make them where a driver makes none, that of 2026 asks the
// driver, and says that nothing can be presented where it makes none. A Window is what the driver needs of one; each window system has
// its file, and opens its own libraries when a window is asked for, so that the driver needs none to load.
// Source: Vulkan specification, "Window System Integration"; Vulkan-Loader, LoaderDriverInterface.md, "Handling KHR Surface Objects".
#pragma once

#include "icd/objects.hpp"

#include <memory>
#include <optional>
#include <string>

namespace tilegpu::icd {

// As vk_icd.h has them, which wants the headers of X and Wayland for them.
struct XcbSurface {
  VkIcdSurfaceBase base;
  xcb_connection_t* connection;
  xcb_window_t window;
};
struct WaylandSurface {
  VkIcdSurfaceBase base;
  wl_display* display;
  wl_surface* surface;
};
struct XlibSurface {
  VkIcdSurfaceBase base;
  ::Display* display;
  ::Window window;
};

/// A finished picture: rows of 4 bytes a pixel.
struct Picture {
  const uint8_t* data;
  uint64_t row_pitch_B;
  uint32_t width_px, height_px;
  bool blue_first;  ///< B, G, R, A in memory; else R, G, B, A
};

/// One of those that vkGetPhysicalDeviceSurfaceFormatsKHR lists: 4 bytes a pixel.
bool is_presentable(VkFormat format);
/// One of those that vkGetPhysicalDeviceSurfacePresentModesKHR lists.
bool is_present_mode(VkPresentModeKHR mode);

/// Rows [first, end) to `out` without gaps, blue first: what X and Wayland take.
void copy_blue_first(const Picture& picture, uint32_t first, uint32_t end, uint8_t* out);

class Window {
 public:
  virtual ~Window() = default;
  /// Of the window now; none: the swapchain decides.
  virtual std::optional<VkExtent2D> extent() = 0;
  /// Copies the picture to where it is seen; returns when it is no longer read. OUT_OF_DATE where the window has another size,
  /// SURFACE_LOST where it is gone.
  virtual VkResult present(const Picture& picture) = 0;
  /// Whether FIFO is to keep the pace of a screen.
  virtual bool has_pace() const { return true; }
};

/// Null and why, where the window system can't be reached.
std::unique_ptr<Window> open_xcb(const XcbSurface& surface, std::string& why);
std::unique_ptr<Window> open_xlib(const XlibSurface& surface, std::string& why);
std::unique_ptr<Window> open_wayland(const WaylandSurface& surface, std::string& why);
std::unique_ptr<Window> open_headless();

/// Any of these.
std::unique_ptr<Window> open_window(VkSurfaceKHR surface, std::string& why);

}  // namespace tilegpu::icd
