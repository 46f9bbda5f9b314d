// vk/platforms.hpp -- the types of window systems that Vulkan's headers name; only pointers and numbers, so that no header of theirs is
// needed to build. Their libraries are opened when a window is. In: nothing. Out: names for Vulkan's headers.
#pragma once

#include <cstdint>

extern "C" {
struct xcb_connection_t;
typedef uint32_t xcb_window_t;
typedef uint32_t xcb_visualid_t;
typedef struct _XDisplay Display;  // NOLINT(bugprone-reserved-identifier): Xlib's own name
typedef unsigned long Window;      // NOLINT(google-runtime-int): Xlib's own type
typedef unsigned long VisualID;    // NOLINT(google-runtime-int): Xlib's own type
struct wl_display;
struct wl_surface;
}

#include <vulkan/vulkan_core.h>
#include <vulkan/vulkan_wayland.h>
#include <vulkan/vulkan_xcb.h>
#include <vulkan/vulkan_xlib.h>
