// icd/semaphore_payload.cpp -- see semaphore_payload.hpp.
#include "icd/semaphore_payload.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
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
constexpr uint64_t kFile_B = 4096;
constexpr const char* kName = "semaphore";
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

Error not_ours(int fd, const char* what) {
  return {VK_ERROR_INVALID_EXTERNAL_HANDLE, "semaphore: descriptor " + std::to_string(fd) + " is of no " + what +
                                                " semaphore of tilegpu; import what vkGetSemaphoreFdKHR gave"};
}

}  // namespace

Expected<std::shared_ptr<SemaphorePayload>> SemaphorePayload::map(std::shared_ptr<SealedFile> file) {
  assert(file && file->size_B() == kFile_B);
  std::shared_ptr<SemaphorePayload> out(new SemaphorePayload());
  void* page = mmap(nullptr, kFile_B, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd(), 0);
  if (page == MAP_FAILED) return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "semaphore: the system refused a page"};
  out->page_ = static_cast<Page*>(page);
  out->file_ = std::move(file);
  return out;
}

Expected<std::shared_ptr<SemaphorePayload>> SemaphorePayload::create(bool timeline, uint64_t value) {
  assert(timeline || value == 0);
  auto file = SealedFile::create(kName, kFile_B);
  if (!file) return file.error();
  auto out = map(std::move(*file));
  if (!out) return out;
  Page& page = *(*out)->page_;
  page.timeline = timeline;
  page.value = value;
  page.magic = kMagic;
  return out;
}

Expected<std::shared_ptr<SemaphorePayload>> SemaphorePayload::import_fd(int fd, bool timeline) {
  const char* const what = timeline ? "timeline" : "binary";
  auto file = SealedFile::import_fd(kName, fd);
  if (!file) return file.error();
  if (!*file || (*file)->size_B() != kFile_B) return not_ours(fd, what);
  auto out = map(std::move(*file));
  if (out && ((*out)->page_->magic != kMagic || (*out)->page_->timeline != (timeline ? 1 : 0))) return not_ours(fd, what);
  return out;
}

SemaphorePayload::~SemaphorePayload() {
  if (page_) munmap(page_, kFile_B);
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
