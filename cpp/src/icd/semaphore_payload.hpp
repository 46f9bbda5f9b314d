// icd/semaphore_payload.hpp -- the state of a semaphore that other devices and processes have too, in a page that they share.
//
// In: signals and waits of any of them. Out: numbers. A timeline's is its value; a binary semaphore's state is two counts, of signals and
// of waits, so that the n-th wait is for the n-th signal.
// Source: Vulkan specification, "Importing Semaphore Payloads" (reference transference); futex(2).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "base/sealed_file.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::icd {

class SemaphorePayload {
 public:
  static Expected<std::shared_ptr<SemaphorePayload>> create(bool timeline, uint64_t value);
  /// Of a descriptor that export_fd gave, here or elsewhere; it stays the caller's.
  static Expected<std::shared_ptr<SemaphorePayload>> import_fd(int fd, bool timeline);
  ~SemaphorePayload();
  SemaphorePayload(const SemaphorePayload&) = delete;
  SemaphorePayload& operator=(const SemaphorePayload&) = delete;

  /// A new descriptor; the caller closes it.
  Expected<int> export_fd() const { return file_->export_fd(); }
  /// What was reached.
  uint64_t value() const;
  /// Binary: the number of the next signal that is submitted, and that of the signal that the next wait is for.
  uint64_t announce();
  uint64_t expect();
  /// Reached, if it wasn't; wakes who waits.
  void signal(uint64_t value);
  /// Until the value is at least `wanted`, or the time is over.
  void wait(uint64_t wanted, std::chrono::milliseconds most) const;

 private:
  struct Page;
  SemaphorePayload() = default;
  static Expected<std::shared_ptr<SemaphorePayload>> map(std::shared_ptr<SealedFile> file);
  std::shared_ptr<SealedFile> file_;
  Page* page_ = nullptr;
};

}  // namespace tilegpu::icd
