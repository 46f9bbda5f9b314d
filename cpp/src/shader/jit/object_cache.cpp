// shader/jit/object_cache.cpp -- the disk cache of compiled objects; see object_cache.hpp. In, out: a key, an object.
#include "shader/jit/object_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tilegpu::shader {
namespace {

constexpr char kMagic[8] = {'T', 'G', 'O', 'B', 'J', '0', '0', '2'};
constexpr uint64_t kMaxEntry_B = 64ull << 20;
constexpr uint64_t kStoresBetweenPrunes = 128;
constexpr uint64_t kMaxDirectory_B = 512ull << 20;  // pruned to half of it, oldest first

struct Header {
  char magic[8];
  uint64_t key_B, object_B;
  uint64_t checksum_low, checksum_high;  // of key, then object
};

uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  h ^= h >> 29;
  h *= 0x9fb21c651e98df25ull;
  return h ^ (h >> 32);
}

bool make_private_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat s;
  return lstat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 022) == 0;
}

void make_parents(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) mkdir(path.substr(0, at).c_str(), 0700);
}

std::string user_cache_directory() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && xdg[0] == '/') return std::string(xdg) + "/tilegpu";
  if (const char* home = std::getenv("HOME"); home && home[0] == '/') return std::string(home) + "/.cache/tilegpu";
  passwd entry, *found = nullptr;
  char buffer[4096];
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found && found->pw_dir)
    return std::string(found->pw_dir) + "/.cache/tilegpu";
  return "";
}

/// Keeps the directory bounded: removes the least recently written entries. Looks at every file, so it is not for every start.
void prune(const std::string& directory) {
  struct Entry {
    int64_t time_s;
    uint64_t size_B;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total_B = 0;
  DIR* dir = opendir(directory.c_str());
  if (!dir) return;
  while (const dirent* e = readdir(dir)) {
    std::string path = directory + "/" + e->d_name;
    struct stat s;
    if (lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    entries.push_back({static_cast<int64_t>(s.st_mtime), static_cast<uint64_t>(s.st_size), path});
    total_B += static_cast<uint64_t>(s.st_size);
  }
  closedir(dir);
  if (total_B <= kMaxDirectory_B) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time_s < b.time_s; });
  for (const Entry& e : entries) {
    if (total_B <= kMaxDirectory_B / 2) break;
    if (unlink(e.path.c_str()) == 0) total_B -= e.size_B;
  }
}

bool read_all(int fd, void* data, size_t size_B) {
  auto* at = static_cast<char*>(data);
  while (size_B) {
    const ssize_t n = read(fd, at, size_B);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    assert(static_cast<size_t>(n) <= size_B);
    at += n, size_B -= static_cast<size_t>(n);
  }
  return true;
}

bool write_all(int fd, const void* data, size_t size_B) {
  const auto* at = static_cast<const char*>(data);
  while (size_B) {
    const ssize_t n = write(fd, at, size_B);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    assert(static_cast<size_t>(n) <= size_B);
    at += n, size_B -= static_cast<size_t>(n);
  }
  return true;
}

Hash128 checksum(const CacheKey& key, const std::string& object) {
  const Hash128 a = key.hash, b = hash128(object.data(), object.size());
  return {mix(a.low + 3 * b.low), mix(a.high + 5 * b.high)};
}

}  // namespace

std::string Hash128::hex() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high), static_cast<unsigned long long>(low));
  return text;
}

Hash128 hash128(const void* data, size_t size_B) {
  // Stripes of 64 bytes, eight chains of one wide multiplication each: a chain at a time would wait for itself. Each half of the result
  // has seen all words. Keys are compared in full, so that strength against collisions on purpose is not needed.
  constexpr uint64_t kOdd[8] = {0x9e3779b97f4a7c15ull, 0xc2b2ae3d27d4eb4full, 0x165667b19e3779f9ull, 0xff51afd7ed558ccdull,
                                0xd6e8feb86659fd93ull, 0x9fb21c651e98df25ull, 0xa0761d6478bd642full, 0xe7037ed1a0b428dbull};
  const auto multiply = [](uint64_t x, uint64_t y) {
    const auto product = static_cast<unsigned __int128>(x) * y;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t low[4], high[4];
  for (int k = 0; k < 4; ++k) low[k] = kOdd[k] ^ size_B, high[k] = kOdd[k + 4] + size_B;
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t at = 0; at < size_B; at += 64) {
    uint64_t word[8] = {};
    std::memcpy(word, bytes + at, std::min<size_t>(64, size_B - at));
    for (int k = 0; k < 4; ++k) {
      low[k] = multiply(low[k] ^ word[2 * k], word[2 * k + 1] ^ kOdd[k + 4]);
      high[k] = multiply(high[k] ^ word[2 * k + 1], word[2 * k] ^ kOdd[k]);
    }
  }
  const auto join = [](const uint64_t* h) { return mix(mix(mix(mix(h[0]) ^ h[1]) ^ h[2]) ^ h[3]); };
  const Hash128 both{join(low), join(high)};
  return {mix(both.low ^ (both.high >> 17)), mix(both.high + both.low)};
}

ObjectCache::ObjectCache(const std::string& setting) {
  if (setting == "off") return;
  const std::string base = setting.empty() ? user_cache_directory() : setting;
  if (base.empty()) return;
  const std::string path = base + "/objects";
  make_parents(path);
  if (!make_private_directory(path)) return;
  directory_ = path;
}

std::string ObjectCache::path_of(const CacheKey& key) const { return directory_ + "/" + key.hash.hex(); }

bool ObjectCache::note_used(const CacheKey& key) const {
  std::lock_guard lock(mutex_);
  used_.insert(key.hash.hex());
  return true;
}

std::vector<std::string> ObjectCache::used() const {
  std::lock_guard lock(mutex_);
  return {used_.begin(), used_.end()};
}

bool ObjectCache::load(const CacheKey& key, std::string& object) const {
  if (directory_.empty()) return false;
  const int fd = open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  Header header;
  std::string file;
  struct stat s;
  bool good = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
              static_cast<uint64_t>(s.st_size) >= sizeof header + key.bytes.size() &&
              static_cast<uint64_t>(s.st_size) <= sizeof header + key.bytes.size() + kMaxEntry_B;
  if (good) {
    file.resize(static_cast<size_t>(s.st_size));  // whole, by one read
    good = read_all(fd, file.data(), file.size());
  }
  close(fd);
  if (!good) return false;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key_B != key.bytes.size() ||
      header.object_B != file.size() - sizeof header - key.bytes.size() || file.compare(sizeof header, key.bytes.size(), key.bytes) != 0)
    return false;
  object.assign(file, sizeof header + key.bytes.size());
  const Hash128 sum = checksum(key, object);
  return sum.low == header.checksum_low && sum.high == header.checksum_high && note_used(key);
}

void ObjectCache::store(const CacheKey& key, const std::string& object) const {
  assert(!key.bytes.empty() && !object.empty());
  if (directory_.empty() || object.size() > kMaxEntry_B) return;
  static std::atomic<uint64_t> serial{0};
  const std::string path = path_of(key);
  const std::string temporary = path + "." + std::to_string(getpid()) + "." + std::to_string(serial++) + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_B = key.bytes.size(), header.object_B = object.size();
  const Hash128 sum = checksum(key, object);
  header.checksum_low = sum.low, header.checksum_high = sum.high;
  const bool good = write_all(fd, &header, sizeof header) && write_all(fd, key.bytes.data(), key.bytes.size()) &&
                    write_all(fd, object.data(), object.size());
  if (close(fd) != 0 || !good || rename(temporary.c_str(), path.c_str()) != 0)
    unlink(temporary.c_str());
  else
    note_used(key);
  // By the key's hash, so that no process has to count: one store in kStoresBetweenPrunes.
  if (key.hash.low % kStoresBetweenPrunes == 0) prune(directory_);
}

}  // namespace tilegpu::shader
