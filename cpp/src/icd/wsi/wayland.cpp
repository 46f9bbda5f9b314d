// icd/wsi/wayland.cpp -- pictures to surfaces of Wayland, through memory that the compositor maps (wl_shm).
//
// In: the program's own display and surface. Out: pictures on the surface, each copied once into a buffer that the compositor has given
// back. Events are read from a queue of our own: the program's sees none of them. libwayland-client is opened when a surface is.
// Source: Wayland protocol specification, wl_shm, wl_surface, wl_buffer (numbers of requests are their order there).
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "icd/wsi/surface.hpp"

// As libwayland declares them (wayland-client-core.h, wayland-util.h); the stable part of its ABI.
struct wl_interface;
struct wl_proxy;
struct wl_event_queue;
union wl_argument {
  int32_t i;
  uint32_t u;
  const char* s;
  wl_proxy* o;
  uint32_t n;
  int32_t h;
};

namespace tilegpu::icd {
namespace {

struct Wayland {
  wl_event_queue* (*create_queue)(wl_display*);
  void (*queue_destroy)(wl_event_queue*);
  wl_proxy* (*create_wrapper)(void*);
  void (*wrapper_destroy)(void*);
  void (*set_queue)(wl_proxy*, wl_event_queue*);
  int (*add_listener)(wl_proxy*, void (**)(), void*);
  wl_proxy* (*marshal_constructor)(wl_proxy*, uint32_t, wl_argument*, const wl_interface*, uint32_t);
  void (*marshal)(wl_proxy*, uint32_t, wl_argument*);
  void (*proxy_destroy)(wl_proxy*);
  uint32_t (*get_version)(wl_proxy*);
  int (*roundtrip)(wl_display*, wl_event_queue*);
  int (*dispatch_pending)(wl_display*, wl_event_queue*);
  int (*prepare_read)(wl_display*, wl_event_queue*);
  int (*read_events)(wl_display*);
  void (*cancel_read)(wl_display*);
  int (*flush)(wl_display*);
  int (*get_fd)(wl_display*);
  int (*get_error)(wl_display*);
  const wl_interface *registry, *shm, *shm_pool, *buffer;
};

template <class F>
bool find(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(library, name));
  return out != nullptr;
}

const Wayland* wayland(std::string& why) {
  static Wayland w{};
  static const bool there = [] {
    void* l = dlopen("libwayland-client.so.0", RTLD_NOW | RTLD_LOCAL);
    return l && find(l, "wl_display_create_queue", w.create_queue) && find(l, "wl_event_queue_destroy", w.queue_destroy) &&
           find(l, "wl_proxy_create_wrapper", w.create_wrapper) && find(l, "wl_proxy_wrapper_destroy", w.wrapper_destroy) &&
           find(l, "wl_proxy_set_queue", w.set_queue) && find(l, "wl_proxy_add_listener", w.add_listener) &&
           find(l, "wl_proxy_marshal_array_constructor_versioned", w.marshal_constructor) && find(l, "wl_proxy_marshal_array", w.marshal) &&
           find(l, "wl_proxy_destroy", w.proxy_destroy) && find(l, "wl_proxy_get_version", w.get_version) &&
           find(l, "wl_display_roundtrip_queue", w.roundtrip) && find(l, "wl_display_dispatch_queue_pending", w.dispatch_pending) &&
           find(l, "wl_display_prepare_read_queue", w.prepare_read) && find(l, "wl_display_read_events", w.read_events) &&
           find(l, "wl_display_cancel_read", w.cancel_read) && find(l, "wl_display_flush", w.flush) &&
           find(l, "wl_display_get_fd", w.get_fd) && find(l, "wl_display_get_error", w.get_error) &&
           find(l, "wl_registry_interface", w.registry) && find(l, "wl_shm_interface", w.shm) &&
           find(l, "wl_shm_pool_interface", w.shm_pool) && find(l, "wl_buffer_interface", w.buffer);
  }();
  if (!there) why = "libwayland-client.so.0 can't be opened; install it (libwayland-client0)";
  return there ? &w : nullptr;
}

enum Request : uint32_t {
  kDisplayGetRegistry = 1,
  kRegistryBind = 0,
  kShmCreatePool = 0,
  kPoolCreateBuffer = 0,
  kPoolDestroy = 1,
  kBufferDestroy = 0,
  kSurfaceAttach = 1,
  kSurfaceDamage = 2,
  kSurfaceCommit = 6,
  kSurfaceDamageBuffer = 9,  // from version 4 on
};
constexpr uint32_t kFormatXrgb8888 = 1;  // blue first in memory
constexpr int kLongestWait_ms = 2000;    // for a buffer to come back: a compositor that keeps all of them is not answering

/// One picture in memory that both have mapped.
struct Shared {
  wl_proxy* buffer = nullptr;
  uint8_t* data = nullptr;
  size_t size_B = 0;
  VkExtent2D extent = {};
  bool shown = false;  // the compositor has it
};

class WaylandWindow : public Window {
 public:
  WaylandWindow(const Wayland& w, wl_display* display) : w_(w), display_(display) {}
  WaylandWindow(const WaylandWindow&) = delete;
  WaylandWindow& operator=(const WaylandWindow&) = delete;
  ~WaylandWindow() override {
    if (!queue_) return;
    for (Shared& s : buffers_) release(s);
    for (wl_proxy* const proxy : {shm_, registry_})
      if (proxy) w_.proxy_destroy(proxy);
    if (out_) w_.wrapper_destroy(out_);
    w_.flush(display_);
    w_.queue_destroy(queue_);
  }

  /// The round trip is made for each query of a surface too: programs that draw before they have read that their window is configured
  /// (vkcube 1.3.239) count on it, since other drivers make one.
  bool connect(wl_surface* surface, std::string& why) {
    assert(!queue_);
    why = "the connection to the Wayland compositor is lost";
    queue_ = w_.create_queue(display_);
    if (!queue_) return false;
    out_ = static_cast<wl_proxy*>(w_.create_wrapper(surface));
    auto* const display = static_cast<wl_proxy*>(w_.create_wrapper(display_));
    if (!out_ || !display) return false;
    w_.set_queue(display, queue_);
    wl_argument made{.o = nullptr};
    registry_ = w_.marshal_constructor(display, kDisplayGetRegistry, &made, w_.registry, 1);
    w_.wrapper_destroy(display);
    if (!registry_) return false;
    static void (*listener[])() = {reinterpret_cast<void (*)()>(&WaylandWindow::global),
                                   reinterpret_cast<void (*)()>(&WaylandWindow::removed)};
    w_.add_listener(registry_, listener, this);
    if (w_.roundtrip(display_, queue_) < 0) return false;
    why = "the Wayland compositor has no wl_shm: it can't show what is not drawn by its own GPU";
    return shm_ != nullptr;
  }

  std::optional<VkExtent2D> extent() override { return std::nullopt; }  // a surface has the size of what is attached

  VkResult present(const Picture& picture) override {
    if (w_.get_error(display_) != 0) return VK_ERROR_SURFACE_LOST_KHR;
    Shared* const to = free_buffer();
    if (!to) return w_.get_error(display_) == 0 ? VK_SUCCESS : VK_ERROR_SURFACE_LOST_KHR;  // hidden: nobody would see it
    if (!reserve(*to, {picture.width_px, picture.height_px})) return VK_ERROR_OUT_OF_HOST_MEMORY;
    copy_blue_first(picture, 0, picture.height_px, to->data);
    std::array<wl_argument, 3> attach = {{{.o = to->buffer}, {.i = 0}, {.i = 0}}};
    w_.marshal(out_, kSurfaceAttach, attach.data());
    std::array<wl_argument, 4> all = {{{.i = 0}, {.i = 0}, {.i = INT32_MAX}, {.i = INT32_MAX}}};
    w_.marshal(out_, w_.get_version(out_) >= 4 ? kSurfaceDamageBuffer : kSurfaceDamage, all.data());
    w_.marshal(out_, kSurfaceCommit, nullptr);
    to->shown = true;
    w_.flush(display_);
    return w_.get_error(display_) == 0 ? VK_SUCCESS : VK_ERROR_SURFACE_LOST_KHR;
  }

 private:
  static void global(void* self, wl_proxy* registry, uint32_t name, const char* interface, uint32_t) {
    auto& window = *static_cast<WaylandWindow*>(self);
    if (window.shm_ || std::strcmp(interface, "wl_shm") != 0) return;
    std::array<wl_argument, 4> bind = {{{.u = name}, {.s = interface}, {.u = 1}, {.o = nullptr}}};
    window.shm_ = window.w_.marshal_constructor(registry, kRegistryBind, bind.data(), window.w_.shm, 1);
    static void (*listener[])() = {reinterpret_cast<void (*)()>(&WaylandWindow::format)};
    if (window.shm_) window.w_.add_listener(window.shm_, listener, nullptr);
  }
  static void removed(void*, wl_proxy*, uint32_t) {}
  static void format(void*, wl_proxy*, uint32_t) {}  // XRGB8888 is always there
  static void released(void* self, wl_proxy*) { static_cast<Shared*>(self)->shown = false; }

  /// One that the compositor does not have. Null: it keeps all of them, or the connection is gone.
  Shared* free_buffer() {
    for (int waited_ms = 0;; waited_ms += 10) {
      w_.dispatch_pending(display_, queue_);
      for (Shared& s : buffers_)
        if (!s.shown) return &s;
      if (waited_ms >= kLongestWait_ms || !wait_for_events(10)) return nullptr;
    }
  }

  bool wait_for_events(int timeout_ms) {
    while (w_.prepare_read(display_, queue_) != 0)
      if (w_.dispatch_pending(display_, queue_) < 0) return false;
    w_.flush(display_);
    pollfd at{w_.get_fd(display_), POLLIN, 0};
    if (poll(&at, 1, timeout_ms) <= 0) {
      w_.cancel_read(display_);
      return w_.get_error(display_) == 0;
    }
    return w_.read_events(display_) == 0;
  }

  bool reserve(Shared& s, VkExtent2D extent) {
    assert(!s.shown && shm_);
    if (s.buffer && s.extent.width == extent.width && s.extent.height == extent.height) return true;
    release(s);
    const size_t size_B = size_t{extent.width} * extent.height * 4;
    if (size_B > INT32_MAX) return false;
    const int file = memfd_create("tilegpu-window", MFD_CLOEXEC);
    if (file < 0) return false;
    void* const data =
        ftruncate(file, static_cast<off_t>(size_B)) == 0 ? mmap(nullptr, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (data != MAP_FAILED) {
      s.data = static_cast<uint8_t*>(data), s.size_B = size_B, s.extent = extent;
      s.buffer = make_buffer(file, size_B, extent);
      static void (*listener[])() = {reinterpret_cast<void (*)()>(&WaylandWindow::released)};
      if (s.buffer) w_.add_listener(s.buffer, listener, &s);
    }
    close(file);
    return s.buffer != nullptr;
  }

  wl_proxy* make_buffer(int file, size_t size_B, VkExtent2D extent) {
    std::array<wl_argument, 3> pool_of = {{{.o = nullptr}, {.h = file}, {.i = static_cast<int32_t>(size_B)}}};
    wl_proxy* const pool = w_.marshal_constructor(shm_, kShmCreatePool, pool_of.data(), w_.shm_pool, 1);
    if (!pool) return nullptr;
    const auto width = static_cast<int32_t>(extent.width), height = static_cast<int32_t>(extent.height);
    std::array<wl_argument, 6> buffer_of = {
        {{.o = nullptr}, {.i = 0}, {.i = width}, {.i = height}, {.i = width * 4}, {.u = kFormatXrgb8888}}};
    wl_proxy* const buffer = w_.marshal_constructor(pool, kPoolCreateBuffer, buffer_of.data(), w_.buffer, 1);
    w_.marshal(pool, kPoolDestroy, nullptr);  // its memory lives as long as the buffer
    w_.proxy_destroy(pool);
    return buffer;
  }

  void release(Shared& s) {
    if (s.buffer) {
      w_.marshal(s.buffer, kBufferDestroy, nullptr);
      w_.proxy_destroy(s.buffer);
    }
    if (s.data) munmap(s.data, s.size_B);  // the compositor has a mapping of its own
    s = {};
  }

  const Wayland& w_;
  wl_display* display_;
  wl_event_queue* queue_ = nullptr;
  wl_proxy *out_ = nullptr, *registry_ = nullptr, *shm_ = nullptr;
  std::array<Shared, 3> buffers_;  // one on the screen, one on its way there, one to draw to
};

}  // namespace

std::unique_ptr<Window> open_wayland(const WaylandSurface& surface, std::string& why) {
  const Wayland* functions = wayland(why);
  if (!functions) return nullptr;
  auto window = std::make_unique<WaylandWindow>(*functions, surface.display);
  return window->connect(surface.surface, why) ? std::move(window) : nullptr;
}

}  // namespace tilegpu::icd
