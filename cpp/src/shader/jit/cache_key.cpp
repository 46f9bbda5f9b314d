// shader/jit/cache_key.cpp -- see cache_key.hpp. In: the user's folders. Out: the key, codes over bytes.
#include "shader/jit/cache_key.hpp"

#include <fcntl.h>
#include <llvm-c/blake3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/user_folders.hpp"
#include "base/whole_file.hpp"
#include "base/whole_io.hpp"

namespace tilegpu::shader {
namespace {

constexpr int kAttempts = 8;  // of processes that make the key at once, one is first

enum class Found : uint8_t { good, missing, damaged, foreign, unreadable };

/// Damaged: the user's own file, but of another size, or readable by others, so that it has to be made anew. Unreadable: errno says why;
/// another time it may be read (too many open files, no memory), so that it is neither removed nor replaced.
Found read_key(const std::string& path, SecretKey& key) {
  const int fd = uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
  // A link, a socket.
  if (fd < 0) return errno == ENOENT ? Found::missing : errno == ELOOP || errno == ENXIO ? Found::foreign : Found::unreadable;
  struct stat s;
  Found found = Found::unreadable;
  if (fstat(fd, &s) == 0) {
    found = Found::foreign;
    if (S_ISREG(s.st_mode) && s.st_uid == geteuid()) {
      const bool whole = read_whole(fd, key.data(), key.size());
      // A second name may be one that others chose, of a file whose bytes they know.
      const bool good = whole && static_cast<uint64_t>(s.st_size) == key.size() && (s.st_mode & 077) == 0 && s.st_nlink == 1;
      found = good ? Found::good : !whole && errno ? Found::unreadable : Found::damaged;
    }
  }
  const int because = errno;
  close(fd);
  errno = because;
  return found;
}

/// An existing file stays, unless it is to be replaced. False: errno says why.
bool write_key(const std::string& path, bool replace) {
  SecretKey fresh;
  if (!random_bytes(fresh.data(), fresh.size())) return false;
  return write_file(path, {{reinterpret_cast<const char*>(fresh.data()), fresh.size()}}, {replace, true}) || (!replace && errno == EEXIST);
}

/// Where it is, by the environment. An error: nowhere.
Expected<std::string> path_of_key(bool make_folder) {
  if (const char* named = secure_getenv("TILEGPU_CACHE_KEY"); named && *named) return std::string(named);
  const std::string folder = user_folder("XDG_STATE_HOME", ".local/state");
  if (folder.empty()) return Error{VK_ERROR_UNKNOWN, "the user has no home directory; name a file for the cache's key: TILEGPU_CACHE_KEY"};
  if (make_folder)
    if (std::string wrong = make_private_folder(folder); !wrong.empty()) return Error{VK_ERROR_UNKNOWN, wrong};
  return folder + "/cache.key";
}

}  // namespace

Expected<SecretKey> user_cache_key() {
  Expected<std::string> path = path_of_key(true);
  if (!path) return path.error();
  const auto wrong = [&](const char* what, int because = 0) {
    return Error{VK_ERROR_UNKNOWN, "the cache's key " + *path + what + (because ? std::strerror(because) : "")};
  };
  SecretKey key;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Found found = read_key(*path, key);
    if (found == Found::good) return key;
    if (found == Found::foreign) return wrong(" is no file of the user's own; remove it");
    if (found == Found::unreadable) return wrong(" can't be read: ", errno);
    if (!write_key(*path, found == Found::damaged)) return wrong(" can't be written: ", errno);
    remove_old_keys();
  }
  return wrong(" is never what was written to it");
}

void remove_old_keys() {
  Expected<std::string> path = path_of_key(false);
  if (!path) return;
  const size_t slash = path->rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path->substr(0, slash);
  remove_old_temporaries(folder, path->substr(slash == std::string::npos ? 0 : slash + 1) + ".");
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
