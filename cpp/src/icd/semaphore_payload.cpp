// icd/semaphore_payload.cpp -- see semaphore_payload.hpp. The page is a sealed file in memory: nobody can take it away from who mapped it.
#include "icd/semaphore_payload.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <climits>
#include <ctime>

namespace tilegpu::icd {

struct SemaphorePayload::Page {
  uint64_t magic;
  uint64_t timeline;  // 1, or 0: binary
  std::atomic<uint64_t> value, announced, expected;
  std::atomic<uint32_t> moved;  // with every signal: what waits sleeps on it
};

namespace {

constexpr uint64_t kMagic = 0x6d6573757067'6c74;
constexpr off_t kFile_B = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

Error no_descriptor() { return {VK_ERROR_TOO_MANY_OBJECTS, "semaphore: the process has no file descriptors left; close some"}; }

Error not_ours(int fd, const char* what) {
  return {VK_ERROR_INVALID_EXTERNAL_HANDLE,
          "semaphore: descriptor " + std::to_string(fd) + " is no " + what + " semaphore of tilegpu; import what vkGetSemaphoreFdKHR gave"};
}

}  // namespace

Expected<std::shared_ptr<SemaphorePayload>> SemaphorePayload::map(int fd) {
  std::shared_ptr<SemaphorePayload> out(new SemaphorePayload());
  out->fd_ = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (out->fd_ < 0) return no_descriptor();
  void* page = mmap(nullptr, kFile_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "semaphore: the system refused a page"};
  out->page_ = static_cast<Page*>(page);
  return out;
}

Expected<std::shared_ptr<SemaphorePayload>> SemaphorePayload::create(bool timeline, uint64_t value) {
  assert(timeline || value == 0);
  const int fd = memfd_create("tilegpu semaphore", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return no_descriptor();
  Expected<std::shared_ptr<SemaphorePayload>> out = Error{VK_ERROR_OUT_OF_HOST_MEMORY, "semaphore: the system refused a page"};
  if (ftruncate(fd, kFile_B) == 0 && fcntl(fd, F_ADD_SEALS, kSeals) == 0) out = map(fd);
  close(fd);
  if (!out) return out;
  Page& page = *(*out)->page_;
  page.timeline = timeline;
  page.value = value;
  page.magic = kMagic;
  return out;
}

Expected<std::shared_ptr<SemaphorePayload>> SemaphorePayload::import_fd(int fd, bool timeline) {
  const char* const what = timeline ? "timeline" : "binary";
  struct stat file = {};
  const int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(fd, &file) != 0 || file.st_size != kFile_B) return not_ours(fd, what);
  auto out = map(fd);
  if (out && ((*out)->page_->magic != kMagic || (*out)->page_->timeline != (timeline ? 1 : 0))) return not_ours(fd, what);
  return out;
}

SemaphorePayload::~SemaphorePayload() {
  if (page_) munmap(page_, kFile_B);
  if (fd_ >= 0) close(fd_);
}

Expected<int> SemaphorePayload::export_fd() const {
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return no_descriptor();
  return fd;
}

uint64_t SemaphorePayload::value() const { return page_->value.load(); }
uint64_t SemaphorePayload::announce() { return page_->announced.fetch_add(1) + 1; }
uint64_t SemaphorePayload::expect() { return page_->expected.fetch_add(1) + 1; }

void SemaphorePayload::signal(uint64_t value) {
  uint64_t now = page_->value.load();
  while (now < value && !page_->value.compare_exchange_weak(now, value)) {
  }
  page_->moved.fetch_add(1);
  (void)syscall(SYS_futex, &page_->moved, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SemaphorePayload::wait(uint64_t wanted, std::chrono::milliseconds most) const {
  assert(most.count() >= 0);
  const auto end = std::chrono::steady_clock::now() + most;
  for (;;) {
    const uint32_t moved = page_->moved.load();  // before the value: a signal in between ends the sleep at once
    if (value() >= wanted) return;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return;
    const timespec time = {left / 1000000000, left % 1000000000};
    (void)syscall(SYS_futex, &page_->moved, FUTEX_WAIT, moved, &time, nullptr, 0);
  }
}

}  // namespace tilegpu::icd
