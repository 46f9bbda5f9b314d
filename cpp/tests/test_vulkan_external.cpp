// tests/test_vulkan_external.cpp -- memory and semaphores that several devices and processes have, by file descriptors: equal bytes on both
// sides, waits that wait, in both directions; descriptors of anything else are refused.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint64_t kSize_B = 4 << 20;  // long enough to fill, that a wait which does not wait is seen
constexpr uint32_t kWords = kSize_B / 4;
constexpr uint32_t kRounds = 30;
constexpr uint32_t kSide_px = 16;
constexpr VkExternalMemoryHandleTypeFlagBits kMemoryFd = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr VkExternalSemaphoreHandleTypeFlagBits kSemaphoreFd = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;

// clang-format off
#define TILEGPU_EXTERNAL(X) X(GetMemoryFdKHR) X(GetMemoryFdPropertiesKHR) X(GetSemaphoreFdKHR) X(ImportSemaphoreFdKHR) X(CmdCopyBuffer) \
  X(GetPhysicalDeviceExternalBufferProperties) X(GetPhysicalDeviceExternalSemaphoreProperties) X(GetPhysicalDeviceImageFormatProperties2)
// clang-format on

struct Sharer : Program {
#define TILEGPU_VK(name) PFN_vk##name name = nullptr;
  TILEGPU_EXTERNAL(TILEGPU_VK)
#undef TILEGPU_VK

  Sharer() {
#define TILEGPU_VK(name) load(name, "vk" #name);
    TILEGPU_EXTERNAL(TILEGPU_VK)
#undef TILEGPU_VK
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, nullptr,
                                                             VK_TRUE};
    remake_device({"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd", "VK_KHR_timeline_semaphore"}, &timeline);
  }

  VkResult allocate(uint64_t size_B, const void* next, VkDeviceMemory& out, uint32_t type = 0) const {
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, next, size_B, type};
    return AllocateMemory(device, &info, nullptr, &out);
  }
  VkDeviceMemory exported(uint64_t size_B, int& fd) const {
    const VkExportMemoryAllocateInfo wanted{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr, kMemoryFd};
    VkDeviceMemory memory = nullptr;
    CHECK(allocate(size_B, &wanted, memory) == VK_SUCCESS);
    const VkMemoryGetFdInfoKHR get{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, memory, kMemoryFd};
    CHECK(GetMemoryFdKHR(device, &get, &fd) == VK_SUCCESS && fd >= 0);
    return memory;
  }
  VkDeviceMemory imported(uint64_t size_B, int fd) const {
    const VkImportMemoryFdInfoKHR from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, kMemoryFd, fd};
    VkDeviceMemory memory = nullptr;
    CHECK(allocate(size_B, &from, memory) == VK_SUCCESS);
    return memory;
  }
  VkBuffer buffer_on(VkDeviceMemory memory) const {
    const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr, kMemoryFd};
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
    info.size = kSize_B, info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer out = nullptr;
    CHECK(CreateBuffer(device, &info, nullptr, &out) == VK_SUCCESS && BindBufferMemory(device, out, memory, 0) == VK_SUCCESS);
    return out;
  }

  VkSemaphore semaphore(bool timeline, bool for_others) const {
    const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                         timeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY, 0};
    const VkExportSemaphoreCreateInfo wanted{VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, &type, kSemaphoreFd};
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, for_others ? static_cast<const void*>(&wanted) : &type};
    VkSemaphore out = nullptr;
    CHECK(CreateSemaphore(device, &info, nullptr, &out) == VK_SUCCESS);
    return out;
  }
  int fd_of(VkSemaphore semaphore) const {
    const VkSemaphoreGetFdInfoKHR get{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, nullptr, semaphore, kSemaphoreFd};
    int fd = -1;
    CHECK(GetSemaphoreFdKHR(device, &get, &fd) == VK_SUCCESS && fd >= 0);
    return fd;
  }
  VkResult import(VkSemaphore semaphore, int fd, VkSemaphoreImportFlags flags = 0) const {
    const VkImportSemaphoreFdInfoKHR info{VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR, nullptr, semaphore, flags, kSemaphoreFd, fd};
    return ImportSemaphoreFdKHR(device, &info);
  }
  VkSemaphore semaphore_from(int fd, bool timeline) const {
    const VkSemaphore out = semaphore(timeline, false);
    CHECK(import(out, fd) == VK_SUCCESS);
    return out;
  }

  /// Commands between a wait and a signal, either of which may be null. Values: of timelines.
  void submit(VkCommandBuffer c, VkSemaphore wait, VkSemaphore signal, uint64_t wait_value = 0, uint64_t signal_value = 0) const {
    const VkTimelineSemaphoreSubmitInfo values{
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, wait ? 1u : 0u, &wait_value, signal ? 1u : 0u, &signal_value};
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
    if (wait) info.waitSemaphoreCount = 1, info.pWaitSemaphores = &wait, info.pWaitDstStageMask = &all;
    if (signal) info.signalSemaphoreCount = 1, info.pSignalSemaphores = &signal;
    if (c) info.commandBufferCount = 1, info.pCommandBuffers = &c;
    CHECK(QueueSubmit(queue, 1, &info, nullptr) == VK_SUCCESS);
  }
  VkCommandBuffer fill(VkBuffer with, uint32_t value) {
    const VkCommandBuffer c = begin();
    CmdFillBuffer(c, with, 0, kSize_B, value);
    CHECK(EndCommandBuffer(c) == VK_SUCCESS);
    return c;
  }
  /// The last word, to a place of its own.
  VkCommandBuffer keep_last(VkBuffer of, VkBuffer kept, uint32_t place) {
    const VkCommandBuffer c = begin();
    const VkBufferCopy region{kSize_B - 4, place * 4, 4};
    CmdCopyBuffer(c, of, kept, 1, &region);
    CHECK(EndCommandBuffer(c) == VK_SUCCESS);
    return c;
  }
};

// One fills, the other reads, by turns, everything submitted at once: each wait is for the signal of its own round.
void two_devices_take_turns() {
  for (const bool timeline : {false, true}) {
    Sharer a, b;
    int memory_fd = -1;
    const VkBuffer written = a.buffer_on(a.exported(kSize_B, memory_fd));
    const VkBuffer read = b.buffer_on(b.imported(kSize_B, memory_fd));
    const VkSemaphore full = a.semaphore(timeline, true), empty = a.semaphore(timeline, true);
    const VkSemaphore full_b = b.semaphore_from(a.fd_of(full), timeline), empty_b = b.semaphore_from(a.fd_of(empty), timeline);
    const auto kept = b.buffer(kRounds * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    for (uint32_t i = 0; i < kRounds; ++i) {
      const auto reads = [&] { b.submit(b.keep_last(read, kept.buffer, i), full_b, empty_b, i + 1, i + 1); };
      if (timeline) reads();  // to wait for what nobody has submitted yet is a timeline's right
      a.submit(a.fill(written, 100 + i), i ? empty : nullptr, full, i, i + 1);
      if (!timeline) reads();
    }
    CHECK(b.QueueWaitIdle(b.queue) == VK_SUCCESS && a.QueueWaitIdle(a.queue) == VK_SUCCESS);
    for (uint32_t i = 0; i < kRounds; ++i) CHECK(reinterpret_cast<const uint32_t*>(kept.data)[i] == 100 + i);
    for (const std::string& text : a.said) CHECK_MESSAGE(false, text);
    for (const std::string& text : b.said) CHECK_MESSAGE(false, text);
  }
}

// A picture that one device draws is the other's, with no copy and no layout that a program must know.
void an_image_is_shared() {
  Sharer a, b;
  VkExternalMemoryImageCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, nullptr, kMemoryFd};
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, &external};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_R8G8B8A8_UNORM, info.extent = {kSide_px, kSide_px, 1};
  info.mipLevels = info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  VkImage drawn = nullptr, seen = nullptr;
  CHECK(a.CreateImage(a.device, &info, nullptr, &drawn) == VK_SUCCESS && b.CreateImage(b.device, &info, nullptr, &seen) == VK_SUCCESS);
  VkMemoryRequirements needs{};
  a.GetImageMemoryRequirements(a.device, drawn, &needs);
  int fd = -1;
  CHECK(a.BindImageMemory(a.device, drawn, a.exported(needs.size, fd), 0) == VK_SUCCESS);
  CHECK(b.BindImageMemory(b.device, seen, b.imported(needs.size, fd), 0) == VK_SUCCESS);
  const VkRenderPass pass = a.one_subpass();
  VkImageViewCreateInfo view_info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view_info.image = drawn, view_info.viewType = VK_IMAGE_VIEW_TYPE_2D, view_info.format = info.format;
  view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView view = nullptr;
  CHECK(a.CreateImageView(a.device, &view_info, nullptr, &view) == VK_SUCCESS);
  const VkFramebuffer framebuffer = a.framebuffer(pass, {view}, kSide_px);
  const auto out = b.buffer(kSide_px * kSide_px * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (const float red : {0.2F, 1.0F}) {  // twice: nothing that was known of the picture is kept
    const VkClearValue clear{{{red, 0.4F, 0.6F, 1.0F}}};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = {{0, 0}, {kSide_px, kSide_px}};
    begin.clearValueCount = 1, begin.pClearValues = &clear;
    const VkCommandBuffer c = a.begin();
    a.CmdBeginRenderPass(c, &begin, VK_SUBPASS_CONTENTS_INLINE);
    a.CmdEndRenderPass(c);
    a.run(c);
    const VkCommandBuffer copy = b.begin();
    const VkBufferImageCopy region{0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {0, 0, 0}, {kSide_px, kSide_px, 1}};
    b.CmdCopyImageToBuffer(copy, seen, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out.buffer, 1, &region);
    b.run(copy);
    const uint8_t want[4] = {static_cast<uint8_t>(red * 255 + 0.5F), 102, 153, 255};
    for (uint32_t i = 0; i < kSide_px * kSide_px; ++i) CHECK(std::memcmp(out.data + 4 * i, want, 4) == 0);
  }
  for (const std::string& text : b.said) CHECK_MESSAGE(false, text);
}

// Hosts signal and wait too; what is imported temporarily is gone after one wait.
void hosts_and_temporary_imports() {
  Sharer a, b;
  const VkSemaphore mine = a.semaphore(true, true), other = b.semaphore_from(a.fd_of(mine), true);
  const uint64_t five = 5, six = 6;
  VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  wait.semaphoreCount = 1, wait.pSemaphores = &other, wait.pValues = &five;
  CHECK(b.WaitSemaphores(b.device, &wait, 1000000) == VK_TIMEOUT);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, mine, 5};
    CHECK(a.SignalSemaphore(a.device, &signal) == VK_SUCCESS);
  });
  CHECK(b.WaitSemaphores(b.device, &wait, ~uint64_t{0}) == VK_SUCCESS);
  later.join();
  uint64_t value = 0;
  CHECK(b.GetSemaphoreCounterValue(b.device, other, &value) == VK_SUCCESS && value == 5);
  b.submit(nullptr, other, other, 5, 6);  // no commands: still an order
  wait.pSemaphores = &mine, wait.pValues = &six;
  CHECK(a.WaitSemaphores(a.device, &wait, ~uint64_t{0}) == VK_SUCCESS);

  const VkSemaphore signaled = a.semaphore(false, true), plain = b.semaphore(false, true);
  a.submit(nullptr, nullptr, signaled);
  CHECK(a.QueueWaitIdle(a.queue) == VK_SUCCESS);
  CHECK(b.import(plain, a.fd_of(signaled), VK_SEMAPHORE_IMPORT_TEMPORARY_BIT) == VK_SUCCESS);
  b.submit(nullptr, plain, nullptr);
  b.submit(nullptr, nullptr, plain);  // its own again
  b.submit(nullptr, plain, nullptr);
  CHECK(b.QueueWaitIdle(b.queue) == VK_SUCCESS);
}

// --- another process

constexpr int kDescriptors = 3;

void send(int socket, const int (&fds)[kDescriptors]) {
  char byte = 0, control[CMSG_SPACE(sizeof fds)] = {};
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds, sizeof fds);
  CHECK(sendmsg(socket, &message, 0) == 1);
}

void receive(int socket, int (&fds)[kDescriptors]) {
  char byte = 0, control[CMSG_SPACE(sizeof fds)] = {};
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
  CHECK(recvmsg(socket, &message, 0) == 1);
  std::memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fds);
}

// Adds one word to each word of what the parent filled, when it is full.
int child(int socket) {
  int fds[kDescriptors] = {-1, -1, -1};
  receive(socket, fds);
  Sharer p;
  const VkDeviceMemory memory = p.imported(kSize_B, fds[0]);
  const VkSemaphore full = p.semaphore_from(fds[1], false), done = p.semaphore_from(fds[2], true);
  void* words = nullptr;
  CHECK(p.MapMemory(p.device, memory, 0, kSize_B, 0, &words) == VK_SUCCESS);
  p.submit(nullptr, full, nullptr);
  CHECK(p.QueueWaitIdle(p.queue) == VK_SUCCESS);
  for (uint32_t i = 0; i < kWords; ++i) static_cast<uint32_t*>(words)[i] += i;
  p.UnmapMemory(p.device, memory);
  const VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, done, 7};
  CHECK(p.SignalSemaphore(p.device, &signal) == VK_SUCCESS);
  return finish("test_vulkan_external, the other process");
}

void another_process(int socket, pid_t other) {
  Sharer p;
  int fds[kDescriptors] = {-1, -1, -1};
  const VkDeviceMemory memory = p.exported(kSize_B, fds[0]);
  const VkSemaphore full = p.semaphore(false, true), done = p.semaphore(true, true);
  fds[1] = p.fd_of(full), fds[2] = p.fd_of(done);
  send(socket, fds);
  for (const int fd : fds) close(fd);
  const VkBuffer buffer = p.buffer_on(memory);
  p.submit(p.fill(buffer, 1000), nullptr, full);
  const auto kept = p.buffer(4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  p.submit(p.keep_last(buffer, kept.buffer, 0), done, nullptr, 7, 0);
  CHECK(p.QueueWaitIdle(p.queue) == VK_SUCCESS);
  CHECK(*reinterpret_cast<const uint32_t*>(kept.data) == 1000 + kWords - 1);
  int status = -1;
  CHECK(waitpid(other, &status, 0) == other && status == 0);
}

// --- what is listed, and what is refused

void one_kind_of_descriptor() {
  Sharer p;
  VkPhysicalDeviceExternalBufferInfo buffer{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, nullptr, 0,
                                            VK_BUFFER_USAGE_TRANSFER_SRC_BIT, kMemoryFd};
  VkExternalBufferProperties buffers{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  p.GetPhysicalDeviceExternalBufferProperties(p.physical_device, &buffer, &buffers);
  CHECK(buffers.externalMemoryProperties.compatibleHandleTypes == kMemoryFd);
  buffer.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  p.GetPhysicalDeviceExternalBufferProperties(p.physical_device, &buffer, &buffers);
  CHECK(buffers.externalMemoryProperties.externalMemoryFeatures == 0);
  VkPhysicalDeviceExternalImageFormatInfo external{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, nullptr, kMemoryFd};
  VkPhysicalDeviceImageFormatInfo2 image{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2, &external};
  image.format = VK_FORMAT_R8G8B8A8_UNORM, image.type = VK_IMAGE_TYPE_2D, image.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  VkExternalImageFormatProperties shared{VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
  VkImageFormatProperties2 properties{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, &shared, {}};
  CHECK(p.GetPhysicalDeviceImageFormatProperties2(p.physical_device, &image, &properties) == VK_SUCCESS);
  CHECK(shared.externalMemoryProperties.externalMemoryFeatures ==
        (VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT));
  external.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  CHECK(p.GetPhysicalDeviceImageFormatProperties2(p.physical_device, &image, &properties) == VK_ERROR_FORMAT_NOT_SUPPORTED);
  VkPhysicalDeviceExternalSemaphoreInfo semaphore{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO, nullptr, kSemaphoreFd};
  VkExternalSemaphoreProperties semaphores{VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  p.GetPhysicalDeviceExternalSemaphoreProperties(p.physical_device, &semaphore, &semaphores);
  CHECK(semaphores.compatibleHandleTypes == kSemaphoreFd && semaphores.externalSemaphoreFeatures);
  semaphore.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
  p.GetPhysicalDeviceExternalSemaphoreProperties(p.physical_device, &semaphore, &semaphores);
  CHECK(semaphores.externalSemaphoreFeatures == 0);
}

void wrong_descriptors_are_refused() {
  Sharer p;
  VkDeviceMemory memory = nullptr;
  const auto refused = [&](VkResult result, VkResult want, const char* what) {
    CHECK_MESSAGE(result == want && p.heard(what), std::string(what) + "; heard: " + (p.said.empty() ? "nothing" : p.said.back()));
    p.said.clear();
  };
  int fd = -1;
  const VkDeviceMemory shared = p.exported(4096, fd);
  VkImportMemoryFdInfoKHR from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, nullptr, kMemoryFd, fd};
  refused(p.allocate(1 << 20, &from, memory), VK_ERROR_INVALID_EXTERNAL_HANDLE, "at most the 4096 bytes");
  refused(p.allocate(4096, &from, memory, 1), VK_ERROR_VALIDATION_FAILED_EXT, "lazily allocated and can't be shared");
  CHECK(fcntl(fd, F_GETFD) >= 0);  // what was not taken is still the program's
  close(fd);
  from.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  refused(p.allocate(4096, &from, memory), VK_ERROR_INVALID_EXTERNAL_HANDLE, "a descriptor that tilegpu exported");
  close(from.fd);
  from.fd = -1;
  refused(p.allocate(4096, &from, memory), VK_ERROR_INVALID_EXTERNAL_HANDLE, "a descriptor that tilegpu exported");
  from.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  refused(p.allocate(4096, &from, memory), VK_ERROR_INVALID_EXTERNAL_HANDLE, "shared as OPAQUE_FD");
  CHECK(p.allocate(4096, nullptr, memory) == VK_SUCCESS);
  VkMemoryGetFdInfoKHR get{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, memory, kMemoryFd};
  CHECK(p.GetMemoryFdKHR(p.device, &get, &fd) != VK_SUCCESS && p.heard("it isn't shared"));
  get.memory = shared, get.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  CHECK(p.GetMemoryFdKHR(p.device, &get, &fd) != VK_SUCCESS);
  VkMemoryFdPropertiesKHR properties{VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
  CHECK(p.GetMemoryFdPropertiesKHR(p.device, kMemoryFd, 0, &properties) == VK_ERROR_INVALID_EXTERNAL_HANDLE);

  const VkSemaphore binary = p.semaphore(false, true), timeline = p.semaphore(true, true), own = p.semaphore(false, false);
  const int timeline_fd = p.fd_of(timeline);
  refused(p.import(binary, timeline_fd), VK_ERROR_INVALID_EXTERNAL_HANDLE, "is of no binary semaphore");
  int memory_fd = -1;
  p.exported(4096, memory_fd);
  refused(p.import(binary, memory_fd), VK_ERROR_INVALID_EXTERNAL_HANDLE, "is of no binary semaphore");
  refused(p.import(timeline, -1), VK_ERROR_INVALID_EXTERNAL_HANDLE, "is of no timeline semaphore");
  for (const int one : {timeline_fd, memory_fd}) close(one);
  const VkSemaphoreGetFdInfoKHR get_semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, nullptr, own, kSemaphoreFd};
  CHECK(p.GetSemaphoreFdKHR(p.device, &get_semaphore, &fd) != VK_SUCCESS && p.heard("VkExportSemaphoreCreateInfo"));
}

}  // namespace

int main() {
  // The other process begins before this one has threads.
  int sockets[2] = {-1, -1};
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  const pid_t other = fork();
  if (other == 0) return child(sockets[1]);
  another_process(sockets[0], other);
  two_devices_take_turns();
  an_image_is_shared();
  hosts_and_temporary_imports();
  one_kind_of_descriptor();
  wrong_descriptors_are_refused();
  return finish("test_vulkan_external");
}
