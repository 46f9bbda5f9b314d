// base/sealed_file.cpp -- see sealed_file.hpp.
// In: sizes and descriptors. Out: sealed files.
#include "base/sealed_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <string>

namespace tilegpu {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

Error no_descriptor(const char* what) {
  return {VK_ERROR_TOO_MANY_OBJECTS, std::string(what) + ": the process has no file descriptors left; close some"};
}

}  // namespace

Expected<std::shared_ptr<SealedFile>> SealedFile::create(const char* what, uint64_t size_B) {
  assert(what && size_B);
  const int fd = memfd_create("tilegpu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return no_descriptor(what);
  std::shared_ptr<SealedFile> file(new SealedFile(what, fd, size_B));
  if (ftruncate(fd, static_cast<off_t>(size_B)) != 0 || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 std::string(what) + ": the system refused " + std::to_string(size_B) + " bytes of shared memory; close other programs"};
  }
  return file;
}

Expected<std::shared_ptr<SealedFile>> SealedFile::import_fd(const char* what, int fd) {
  assert(what);
  struct stat state = {};
  const int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(fd, &state) != 0) return std::shared_ptr<SealedFile>();
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return no_descriptor(what);
  return std::shared_ptr<SealedFile>(new SealedFile(what, own, static_cast<uint64_t>(state.st_size)));
}

SealedFile::~SealedFile() { close(fd_); }

Expected<int> SealedFile::export_fd() const {
  assert(fd_ >= 0);
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return no_descriptor(what_);
  return fd;
}

}  // namespace tilegpu
