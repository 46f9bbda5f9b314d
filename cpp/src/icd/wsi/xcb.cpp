// icd/wsi/xcb.cpp -- pictures to windows of X, through shared memory where the server is on this machine, else by the connection.
//
// In: the program's own connection and window. Out: pictures in the window. libxcb is opened when a surface is: the driver loads without
// it. A round trip after the picture says that the server has read it: no event is put into the program's queue. Nor is an error: Xlib's
// handler would end the program where its window is destroyed meanwhile, so requests are checked ones, and their errors ours. Source: X
// protocol (PutImage, GetGeometry), MIT-SHM.
#include <dlfcn.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "icd/wsi/surface.hpp"

namespace tilegpu::icd {
namespace {

// The parts of libxcb's interface that are needed, as its headers declare them.
struct Cookie {
  unsigned sequence;
};
struct GeometryReply {
  uint8_t response_type, depth;
  uint16_t sequence;
  uint32_t length, root;
  int16_t x, y;
  uint16_t width, height, border_width;
  uint8_t pad[2];
};
struct SetupReply {  // xcb_setup_t up to what is read
  uint8_t status, pad0;
  uint16_t major, minor, length;
  uint32_t release, id_base, id_mask, motion_buffer;
  uint16_t vendor_length, maximum_request_words;
  uint8_t roots, formats, image_byte_order;
};

struct Xcb {
  uint32_t (*generate_id)(xcb_connection_t*);
  int (*flush)(xcb_connection_t*);
  int (*connection_has_error)(xcb_connection_t*);
  const SetupReply* (*get_setup)(xcb_connection_t*);
  uint32_t (*get_maximum_request_length)(xcb_connection_t*);  // in words
  Cookie (*get_geometry)(xcb_connection_t*, uint32_t);
  GeometryReply* (*get_geometry_reply)(xcb_connection_t*, Cookie, void**);
  Cookie (*create_gc_checked)(xcb_connection_t*, uint32_t, uint32_t, uint32_t, const void*);
  Cookie (*free_gc_checked)(xcb_connection_t*, uint32_t);
  Cookie (*put_image_checked)(xcb_connection_t*, uint8_t, uint32_t, uint32_t, uint16_t, uint16_t, int16_t, int16_t, uint8_t, uint8_t,
                              uint32_t, const uint8_t*);
  void* (*request_check)(xcb_connection_t*, Cookie);
  void (*discard_reply)(xcb_connection_t*, unsigned);
  // libxcb-shm; null: it isn't there
  Cookie (*shm_attach_checked)(xcb_connection_t*, uint32_t, uint32_t, uint8_t);
  Cookie (*shm_detach_checked)(xcb_connection_t*, uint32_t);
  Cookie (*shm_query_version)(xcb_connection_t*);
  void* (*shm_query_version_reply)(xcb_connection_t*, Cookie, void**);
  Cookie (*shm_put_image_checked)(xcb_connection_t*, uint32_t, uint32_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t,
                                  int16_t, int16_t, uint8_t, uint8_t, uint8_t, uint32_t, uint32_t);
};

template <class F>
bool find(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(library, name));
  return out != nullptr;
}

// Null and why: libxcb isn't there. Opened once, never closed: windows of the program need it anyway.
const Xcb* xcb(std::string& why) {
  static Xcb functions{};
  static const bool there = [] {
    void* library = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    Xcb& x = functions;
    if (void* shm = dlopen("libxcb-shm.so.0", RTLD_NOW | RTLD_LOCAL)) {
      const bool all =
          find(shm, "xcb_shm_attach_checked", x.shm_attach_checked) && find(shm, "xcb_shm_detach_checked", x.shm_detach_checked) &&
          find(shm, "xcb_shm_query_version", x.shm_query_version) && find(shm, "xcb_shm_query_version_reply", x.shm_query_version_reply) &&
          find(shm, "xcb_shm_put_image_checked", x.shm_put_image_checked);
      if (!all) x.shm_attach_checked = nullptr;
    }
    return find(library, "xcb_generate_id", x.generate_id) && find(library, "xcb_flush", x.flush) &&
           find(library, "xcb_connection_has_error", x.connection_has_error) && find(library, "xcb_get_setup", x.get_setup) &&
           find(library, "xcb_get_maximum_request_length", x.get_maximum_request_length) &&
           find(library, "xcb_get_geometry", x.get_geometry) && find(library, "xcb_get_geometry_reply", x.get_geometry_reply) &&
           find(library, "xcb_create_gc_checked", x.create_gc_checked) && find(library, "xcb_free_gc_checked", x.free_gc_checked) &&
           find(library, "xcb_put_image_checked", x.put_image_checked) && find(library, "xcb_request_check", x.request_check) &&
           find(library, "xcb_discard_reply", x.discard_reply);
  }();
  if (!there) why = "libxcb.so.1 can't be opened; install it (libxcb1)";
  return there ? &functions : nullptr;
}

/// System V shared memory that the server has attached too.
struct Shared {
  uint8_t* data = nullptr;
  size_t size_B = 0;
  uint32_t segment = 0;
};

class XcbWindow : public Window {
 public:
  XcbWindow(const Xcb& x, xcb_connection_t* connection, uint32_t window) : x_(x), connection_(connection), window_(window) {
    gc_ = x_.generate_id(connection_);
    let_go(x_.create_gc_checked(connection_, gc_, window_, 0, nullptr));
    void* version = nullptr;
    if (x_.shm_attach_checked) version = x_.shm_query_version_reply(connection_, x_.shm_query_version(connection_), nullptr);
    shm_ = version != nullptr;
    std::free(version);
  }
  ~XcbWindow() override {
    release();
    if (!x_.connection_has_error(connection_)) {
      let_go(x_.free_gc_checked(connection_, gc_));
      x_.flush(connection_);
    }
  }

  std::optional<VkExtent2D> extent() override {
    const std::unique_ptr<GeometryReply, decltype(&std::free)> at(geometry(), &std::free);
    return at ? VkExtent2D{at->width, at->height} : VkExtent2D{0, 0};
  }

  VkResult present(const Picture& picture) override {
    const std::unique_ptr<GeometryReply, decltype(&std::free)> at(geometry(), &std::free);
    if (!at) return VK_ERROR_SURFACE_LOST_KHR;
    const size_t size_B = size_t{picture.width_px} * picture.height_px * 4;
    if (shm_ && reserve(size_B)) {
      assert(x_.shm_put_image_checked && shared_.data && shared_.size_B >= size_B);
      copy_blue_first(picture, 0, picture.height_px, shared_.data);
      const auto width = static_cast<uint16_t>(picture.width_px), height = static_cast<uint16_t>(picture.height_px);
      put_.push_back(x_.shm_put_image_checked(connection_, window_, gc_, width, height, 0, 0, width, height, 0, 0, at->depth, kZPixmap, 0,
                                              shared_.segment, 0));
    } else {
      put_in_slices(picture, at->depth);
    }
    std::free(geometry());  // the server has done what came before when it answers
    if (!all_put()) return VK_ERROR_SURFACE_LOST_KHR;
    return at->width == picture.width_px && at->height == picture.height_px ? VK_SUCCESS : VK_SUBOPTIMAL_KHR;
  }

 private:
  static constexpr uint8_t kZPixmap = 2;

  /// Nobody hears of an error of this request.
  void let_go(Cookie request) { x_.discard_reply(connection_, request.sequence); }

  /// Whether the server has taken all requests that put pixels; it has answered a later one.
  bool all_put() {
    bool all = true;
    for (const Cookie& request : put_) {
      void* error = x_.request_check(connection_, request);
      all &= error == nullptr;
      std::free(error);
    }
    put_.clear();
    return all;
  }

  GeometryReply* geometry() {
    if (x_.connection_has_error(connection_)) return nullptr;
    void* error = nullptr;
    GeometryReply* reply = x_.get_geometry_reply(connection_, x_.get_geometry(connection_, window_), &error);
    std::free(error);
    return reply;
  }

  bool reserve(size_t size_B) {
    if (shared_.size_B >= size_B) return true;
    release();
    const int id = shmget(IPC_PRIVATE, size_B, IPC_CREAT | 0600);
    if (id < 0) return shm_ = false;
    void* data = shmat(id, nullptr, 0);
    if (data == reinterpret_cast<void*>(-1)) {
      shmctl(id, IPC_RMID, nullptr);
      return shm_ = false;
    }
    const uint32_t segment = x_.generate_id(connection_);
    void* error = x_.request_check(connection_, x_.shm_attach_checked(connection_, segment, static_cast<uint32_t>(id), 1));
    shmctl(id, IPC_RMID, nullptr);  // it lives until both have let go
    if (error) {                    // a server on another machine, or in another container
      std::free(error);
      shmdt(data);
      return shm_ = false;
    }
    shared_ = {static_cast<uint8_t*>(data), size_B, segment};
    return true;
  }

  void release() {
    if (!shared_.data) return;
    if (!x_.connection_has_error(connection_)) let_go(x_.shm_detach_checked(connection_, shared_.segment));
    shmdt(shared_.data);
    shared_ = {};
  }

  void put_in_slices(const Picture& picture, uint8_t depth) {
    const size_t row_B = size_t{picture.width_px} * 4;
    const size_t limit_B = size_t{x_.get_maximum_request_length(connection_)} * 4 - 64;
    const auto rows = static_cast<uint32_t>(std::max<size_t>(1, limit_B / row_B));
    std::vector<uint8_t> slice(rows * row_B);
    for (uint32_t y = 0; y < picture.height_px; y += rows) {
      const uint32_t end = std::min(picture.height_px, y + rows);
      copy_blue_first(picture, y, end, slice.data());
      put_.push_back(x_.put_image_checked(connection_, kZPixmap, window_, gc_, static_cast<uint16_t>(picture.width_px),
                                          static_cast<uint16_t>(end - y), 0, static_cast<int16_t>(y), 0, depth,
                                          static_cast<uint32_t>((end - y) * row_B), slice.data()));
    }
  }

  const Xcb& x_;
  xcb_connection_t* connection_;
  uint32_t window_, gc_ = 0;
  bool shm_ = false;
  Shared shared_;
  std::vector<Cookie> put_;  // of one picture
};

}  // namespace

std::unique_ptr<Window> open_xcb(const XcbSurface& surface, std::string& why) {
  const Xcb* functions = xcb(why);
  if (!functions) return nullptr;
  return std::make_unique<XcbWindow>(*functions, surface.connection, surface.window);
}

std::unique_ptr<Window> open_xlib(const XlibSurface& surface, std::string& why) {
  static void* const library = dlopen("libX11-xcb.so.1", RTLD_NOW | RTLD_LOCAL);
  xcb_connection_t* (*connection_of)(Display*) = nullptr;
  if (!library || !find(library, "XGetXCBConnection", connection_of)) {
    why = "libX11-xcb.so.1 can't be opened; install it (libx11-xcb1)";
    return nullptr;
  }
  const Xcb* functions = xcb(why);
  if (!functions) return nullptr;
  return std::make_unique<XcbWindow>(*functions, connection_of(surface.display), static_cast<uint32_t>(surface.window));
}

}  // namespace tilegpu::icd
