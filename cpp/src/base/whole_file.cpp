// base/whole_file.cpp -- see whole_file.hpp.
#include "base/whole_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "base/whole_io.hpp"

namespace tilegpu {
namespace {

constexpr int64_t kOld_s = 600;
constexpr std::string_view kTemporary = ".tmp";

/// A limit of the process on files' sizes (RLIMIT_FSIZE) ends it by a signal unless it is blocked.
class BlockFileSizeSignal {
 public:
  BlockFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~BlockFileSizeSignal() {
    const int because = errno;
    const timespec at_once{};
    if (!was_pending_) uninterrupted([&] { return sigtimedwait(&signal_, nullptr, &at_once); });
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = because;
  }
  BlockFileSizeSignal(const BlockFileSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

/// Not every kernel, file system and filter of system calls has RENAME_NOREPLACE, and they say so by different errors (ENOSYS, EINVAL,
/// EPERM): then the name is looked at, and of processes that come there at the same time the last one's file stays.
bool rename_to(const char* from, const char* to, bool replaces) {
  if (!replaces) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
    if (errno == EEXIST) return false;
    struct stat s;
    if (lstat(to, &s) == 0) {
      errno = EEXIST;
      return false;
    }
  }
  return rename(from, to) == 0;
}

}  // namespace

std::string random_name() {
  uint64_t words[2];
  // Without random numbers a name that is taken makes O_EXCL fail, no more.
  if (!random_bytes(words, sizeof words)) words[0] = static_cast<uint64_t>(getpid()), words[1] = reinterpret_cast<uintptr_t>(words);
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(words[0]), static_cast<unsigned long long>(words[1]));
  return text;
}

bool write_file(const std::string& path, std::initializer_list<std::string_view> parts, const WholeFile& how) {
  assert(!path.empty());
  const std::string temporary = path + "." + random_name() + std::string(kTemporary);
  const BlockFileSizeSignal blocked;
  const int fd = uninterrupted([&] { return open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, how.mode); });
  if (fd < 0) return false;
  bool good = how.masked || fchmod(fd, how.mode) == 0;
  good = good && std::all_of(parts.begin(), parts.end(), [fd](std::string_view part) { return write_whole(fd, part.data(), part.size()); });
  good = good && (!how.flushes || uninterrupted([fd] { return fsync(fd); }) == 0);
  int because = errno;
  if (close(fd) != 0 && errno != EINTR) {  // Linux has closed it by then
    if (good) because = errno;
    good = false;
  }
  if (good && rename_to(temporary.c_str(), path.c_str(), how.replaces)) return true;
  if (good) because = errno;
  unlink(temporary.c_str());
  errno = because;
  return false;
}

bool is_temporary(std::string_view name) { return name.ends_with(kTemporary); }

void remove_old_temporaries(const std::string& folder, std::string_view begin) {
  DIR* entries = opendir(folder.c_str());
  if (!entries) return;
  while (const dirent* e = readdir(entries)) {
    const std::string_view name = e->d_name;
    const std::string path = folder + "/" + e->d_name;
    struct stat s;
    if (!name.starts_with(begin) || !is_temporary(name) || lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (std::time(nullptr) - s.st_mtime > kOld_s) unlink(path.c_str());
  }
  closedir(entries);
}

}  // namespace tilegpu
