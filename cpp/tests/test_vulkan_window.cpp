// tests/test_vulkan_window.cpp -- windows of X that go while pictures come: presenting says so, and Xlib's error handler, which would end
// the program, hears nothing. On an Xvfb of its own; without Xvfb or libX11 nothing is asked, which is said.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "icd/wsi/surface.hpp"
#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;
using icd::XlibSurface;

namespace {

constexpr uint32_t kSide_px = 64;

/// What is needed of libX11, as its header declares it.
struct X11 {
  Display* (*open)(const char*);
  int (*close)(Display*);
  unsigned long (*root)(Display*);
  unsigned long (*create)(Display*, unsigned long, int, int, unsigned, unsigned, unsigned, unsigned long, unsigned long);
  int (*destroy)(Display*, unsigned long);
  int (*map)(Display*, unsigned long);
  int (*sync)(Display*, int);
  int (*threads)();
  int (*(*on_error)(int (*)(Display*, void*)))(Display*, void*);

  bool load() {
    void* library = dlopen("libX11.so.6", RTLD_NOW);
    const auto find = [&](auto& out, const char* name) {
      return library && (out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(dlsym(library, name)));
    };
    return find(open, "XOpenDisplay") && find(close, "XCloseDisplay") && find(root, "XDefaultRootWindow") &&
           find(create, "XCreateSimpleWindow") && find(destroy, "XDestroyWindow") && find(map, "XMapWindow") && find(sync, "XSync") &&
           find(threads, "XInitThreads") && find(on_error, "XSetErrorHandler");
  }
};

/// A server of its own, whose name it tells through a pipe.
struct Server {
  pid_t pid = 0;
  std::string name;

  Server() {
    int ends[2];
    if (pipe(ends) != 0) return;
    const std::string to = std::to_string(ends[1]);
    const char* words[] = {"Xvfb", "-displayfd", to.c_str(), "-screen", "0", "320x240x24", nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, words[0], &actions, nullptr, const_cast<char**>(words), environ) != 0) pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char digit = 0;
    while (pid && read(ends[0], &digit, 1) == 1 && digit != '\n') name += digit;
    close(ends[0]);
    name = name.empty() ? name : ":" + name;
  }
  Server(const Server&) = delete;
  ~Server() {
    if (!pid) return;
    kill(pid, SIGTERM);
    waitpid(pid, nullptr, 0);
  }
};

std::atomic<int> g_errors = 0;

int heard(Display*, void*) { return ++g_errors; }

struct Chain {
  Program& p;
  XlibSurface surface{{VK_ICD_WSI_PLATFORM_XLIB}, nullptr, 0};
  VkSwapchainKHR chain = nullptr;
  PFN_vkCreateSwapchainKHR create = nullptr;
  PFN_vkDestroySwapchainKHR destroy = nullptr;
  PFN_vkAcquireNextImageKHR acquire = nullptr;
  PFN_vkQueuePresentKHR present = nullptr;

  Chain(Program& program, Display* display, unsigned long window) : p(program) {
    p.load(create, "vkCreateSwapchainKHR");
    p.load(destroy, "vkDestroySwapchainKHR");
    p.load(acquire, "vkAcquireNextImageKHR");
    p.load(present, "vkQueuePresentKHR");
    surface.display = display, surface.window = window;
  }
  ~Chain() { destroy(p.device, chain, nullptr); }

  VkResult make() {
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = reinterpret_cast<VkSurfaceKHR>(&surface);
    info.minImageCount = 2, info.imageFormat = VK_FORMAT_B8G8R8A8_UNORM, info.imageExtent = {kSide_px, kSide_px};
    info.imageArrayLayers = 1, info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
    return create(p.device, &info, nullptr, &chain);
  }

  VkResult frame() {
    uint32_t index = 0;
    if (const VkResult got = acquire(p.device, chain, ~uint64_t{0}, nullptr, nullptr, &index); got < 0) return got;
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    info.swapchainCount = 1, info.pSwapchains = &chain, info.pImageIndices = &index;
    return present(p.queue, &info);
  }
};

unsigned long a_window(const X11& x, Display* display) {
  const unsigned long window = x.create(display, x.root(display), 0, 0, kSide_px, kSide_px, 0, 0, 0);
  x.map(display, window);
  x.sync(display, 0);
  return window;
}

/// A swapchain of a window that has gone.
void gone_before(const X11& x, Display* display, Program& p) {
  const unsigned long window = a_window(x, display);
  x.destroy(display, window);
  x.sync(display, 0);
  Chain c(p, display, window);
  VkResult last = c.make();
  for (int frames = 0; frames < 100 && last >= 0; ++frames) last = c.frame();
  CHECK(last == VK_ERROR_SURFACE_LOST_KHR);
}

/// Somebody else destroys windows at all times of their pictures.
void gone_meanwhile(const X11& x, Display* display, Display* other, Program& p) {
  int lost = 0;
  for (int round = 0; round < 60; ++round) {
    const unsigned long window = a_window(x, display);
    Chain c(p, display, window);
    CHECK(c.make() == VK_SUCCESS);
    std::thread destroys([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(37 * round));
      x.destroy(other, window);
      x.sync(other, 0);
    });
    VkResult last = VK_SUCCESS;
    for (int frames = 0; frames < 5000 && last >= 0; ++frames) last = c.frame();
    destroys.join();
    lost += last == VK_ERROR_SURFACE_LOST_KHR;
    CHECK(last == VK_ERROR_SURFACE_LOST_KHR || last == VK_ERROR_OUT_OF_DATE_KHR);
  }
  CHECK(lost > 0);
}

}  // namespace

int main() {
  X11 x{};
  if (!x.load()) {
    std::printf("no libX11 here: nothing was asked\n");
    return finish("test_vulkan_window");
  }
  const Server server;
  if (server.name.empty()) {
    std::printf("no Xvfb here: nothing was asked\n");
    return finish("test_vulkan_window");
  }
  x.threads();
  x.on_error(heard);
  Display *display = x.open(server.name.c_str()), *other = x.open(server.name.c_str());
  if (CHECK(display && other)) {
    Program p;
    gone_before(x, display, p);
    gone_meanwhile(x, display, other, p);
    x.sync(display, 0);
    x.close(display);
    x.close(other);
  }
  CHECK_MESSAGE(g_errors == 0, std::to_string(g_errors) + " errors came to Xlib's handler");
  return finish("test_vulkan_window");
}
