// base/sealed_file.hpp -- a file in memory that processes share by a descriptor, and that nobody can shrink under those who mapped it.
//
// In: a size, or a descriptor from elsewhere. Out: a file that is of this kind, closed with its owner. Source: memfd_create(2),
// fcntl(2) ("File Sealing"); Vulkan specification, "External Memory", "Importing Semaphore Payloads" (opaque descriptors).
#pragma once

#include <cstdint>
#include <memory>

#include "tilegpu/types.hpp"

namespace tilegpu {

class SealedFile {
 public:
  /// `what` begins the messages: "device memory".
  static Expected<std::shared_ptr<SealedFile>> create(const char* what, uint64_t size_B);
  /// Null: the descriptor is of no such file. It stays the caller's.
  static Expected<std::shared_ptr<SealedFile>> import_fd(const char* what, int fd);
  ~SealedFile();
  SealedFile(const SealedFile&) = delete;
  SealedFile& operator=(const SealedFile&) = delete;

  int fd() const { return fd_; }
  uint64_t size_B() const { return size_B_; }
  /// A new descriptor; the caller closes it.
  Expected<int> export_fd() const;

 private:
  SealedFile(const char* what, int fd, uint64_t size_B) : what_(what), fd_(fd), size_B_(size_B) {}
  const char* what_;
  int fd_;
  uint64_t size_B_;
};

}  // namespace tilegpu
