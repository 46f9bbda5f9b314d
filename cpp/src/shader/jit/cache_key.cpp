// shader/jit/cache_key.cpp -- see cache_key.hpp. In: the user's folders. Out: the key, codes over bytes.
#include "shader/jit/cache_key.hpp"

#include <fcntl.h>
#include <llvm-c/blake3.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tilegpu::shader {
namespace {

constexpr int kAttempts = 8;  // of processes that make the key at once, one is first

/// False: the kernel gives none (older than 3.17, or forbidden).
bool random_bytes(void* data, size_t size_B) {
  auto* at = static_cast<uint8_t*>(data);
  while (size_B) {
    const ssize_t n = getrandom(at, size_B, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, size_B -= static_cast<size_t>(n);
  }
  return true;
}

enum class Found : uint8_t { good, missing, damaged, foreign };

/// Damaged: the user's own file, but of another size, or readable by others, so that it has to be made anew.
Found read_key(const std::string& path, SecretKey& key) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT ? Found::missing : Found::foreign;
  struct stat s;
  Found found = Found::foreign;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid()) {
    ssize_t n;
    do n = read(fd, key.data(), key.size());
    while (n < 0 && errno == EINTR);
    const bool whole = n == static_cast<ssize_t>(key.size()) && s.st_size == n;
    // A second name may be one that others chose, of a file whose bytes they know.
    found = whole && (s.st_mode & 077) == 0 && s.st_nlink == 1 ? Found::good : Found::damaged;
  }
  close(fd);
  return found;
}

/// Under a name of its own, then renamed: whoever finds the file finds all of it. An existing file stays, unless it is to be replaced.
bool write_key(const std::string& path, bool replace) {
  SecretKey fresh;
  if (!random_bytes(fresh.data(), fresh.size())) return false;
  const std::string temporary = path + "." + random_name() + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  ssize_t n;
  do n = write(fd, fresh.data(), fresh.size());
  while (n < 0 && errno == EINTR);
  const bool good = n == static_cast<ssize_t>(fresh.size()) && fsync(fd) == 0;
  close(fd);
  if (good && renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), replace ? 0 : RENAME_NOREPLACE) == 0) return true;
  // A file system without RENAME_NOREPLACE: the last of those who make it at once is the one that stays.
  if (good && errno == EINVAL && rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int because = errno;
  unlink(temporary.c_str());
  errno = because;
  return good && because == EEXIST;
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

std::string user_directory(const char* named, const char* below_home) {
  assert(below_home);
  if (named && named[0] == '/') return named;
  if (const char* home = secure_getenv("HOME"); home && home[0] == '/') return std::string(home) + "/" + below_home;
  passwd entry, *found = nullptr;
  char buffer[4096];
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found && found->pw_dir && found->pw_dir[0] == '/')
    return std::string(found->pw_dir) + "/" + below_home;
  return "";
}

std::string make_private_directory(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) mkdir(path.substr(0, at).c_str(), 0700);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return path + " can't be made: " + std::strerror(errno);
  struct stat s;
  if (lstat(path.c_str(), &s) != 0) return path + " can't be looked at: " + std::strerror(errno);
  if (!S_ISDIR(s.st_mode)) return path + " is no folder (a link to one is not followed)";
  if (s.st_uid != geteuid()) return path + " belongs to another user";
  if (s.st_mode & 022) return path + " can be written by others; chmod go-w it";
  return "";
}

Expected<SecretKey> user_cache_key() {
  std::string path;
  if (const char* named = secure_getenv("TILEGPU_CACHE_KEY"); named && *named) {
    path = named;
  } else {
    const std::string state = user_directory(secure_getenv("XDG_STATE_HOME"), ".local/state");
    if (state.empty()) return Error{VK_ERROR_UNKNOWN, "the user has no home directory; name a file for the cache's key: TILEGPU_CACHE_KEY"};
    const std::string directory = state + "/tilegpu";
    if (std::string wrong = make_private_directory(directory); !wrong.empty()) return Error{VK_ERROR_UNKNOWN, wrong};
    path = directory + "/cache.key";
  }
  SecretKey key;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Found found = read_key(path, key);
    if (found == Found::good) return key;
    if (found == Found::foreign) return Error{VK_ERROR_UNKNOWN, path + " is no file of the user's own; remove it"};
    if (!write_key(path, found == Found::damaged)) return Error{VK_ERROR_UNKNOWN, path + " can't be written: " + std::strerror(errno)};
  }
  return Error{VK_ERROR_UNKNOWN, path + " is never what was written to it"};
}

Authenticator authenticate(const SecretKey& key, std::initializer_list<std::string_view> parts) {
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init_keyed(&hasher, key.data());
  for (const std::string_view part : parts) llvm_blake3_hasher_update(&hasher, part.data(), part.size());
  Authenticator code;
  static_assert(std::tuple_size_v<SecretKey> == LLVM_BLAKE3_KEY_LEN && std::tuple_size_v<Authenticator> == LLVM_BLAKE3_OUT_LEN);
  llvm_blake3_hasher_finalize(&hasher, code.data(), code.size());
  return code;
}

bool same(const Authenticator& a, const Authenticator& b) {
  uint32_t differs = 0;
  for (size_t k = 0; k < a.size(); ++k) differs |= static_cast<uint32_t>(a[k] ^ b[k]);
  return differs == 0;
}

}  // namespace tilegpu::shader
