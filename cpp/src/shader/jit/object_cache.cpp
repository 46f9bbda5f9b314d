// shader/jit/object_cache.cpp -- the disk cache of compiled objects; see object_cache.hpp. In, out: a key, an object.
#include "shader/jit/object_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>
#include <vector>

#include "base/user_folders.hpp"
#include "base/whole_file.hpp"
#include "base/whole_io.hpp"

namespace tilegpu::shader {
namespace {

constexpr char kMagic[8] = {'T', 'G', 'O', 'B', 'J', '0', '0', '3'};
constexpr uint64_t kMaxEntry_B = 64ull << 20;
constexpr uint64_t kStoresBetweenPrunes = 128;
constexpr uint64_t kMaxDirectory_B = 512ull << 20;  // pruned to half of it, oldest first
constexpr int64_t kUsedEvery_s = 3600;              // how exactly it is known when an entry was used

struct Header {
  char magic[8];
  uint64_t key_B, object_B;
  Authenticator code;  // over what is before it, key, object
};
static_assert(sizeof(Header) == 56 && offsetof(Header, code) == 24);
constexpr size_t kAuthenticated_B = offsetof(Header, code);

uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  h ^= h >> 29;
  h *= 0x9fb21c651e98df25ull;
  return h ^ (h >> 32);
}

/// Keeps the directory bounded: removes what killed processes left, here and beside the key, and the entries that were not used for
/// longest. Looks at every file, so it is not for every start. A file's time is when it was written or, to the hour, used.
void prune(const std::string& directory) {
  remove_old_temporaries(directory, "");
  remove_old_keys();
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
    if (is_temporary(path) || lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
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

std::string_view authenticated(const Header& header) { return {reinterpret_cast<const char*>(&header), kAuthenticated_B}; }

/// The header of a whole file, where its sizes are those of the file.
bool read_header(const std::string& content, Header& header) {
  if (content.size() < sizeof header) return false;
  std::memcpy(&header, content.data(), sizeof header);
  const uint64_t rest_B = content.size() - sizeof header;
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.key_B <= rest_B && header.object_B == rest_B - header.key_B;
}

bool is_name(const std::string& name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() == 32 && std::all_of(name.begin(), name.end(), is_digit);
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
  const std::string base = setting.empty() ? user_folder("XDG_CACHE_HOME", ".cache") : setting;
  if (base.empty()) {
    why_off_ = "the user has no home directory; name a folder: XDG_CACHE_HOME";
    return;
  }
  const std::string path = base + "/objects";
  why_off_ = make_private_folder(path);
  if (!why_off_.empty()) return;
  Expected<SecretKey> secret = user_cache_key();
  if (!secret) {
    why_off_ = secret.error().message;
    return;
  }
  secret_ = *secret;
  directory_ = path;
}

void ObjectCache::note_used(const std::string& name) const {
  std::lock_guard lock(mutex_);
  used_.insert(name);
}

std::vector<std::string> ObjectCache::used() const {
  std::lock_guard lock(mutex_);
  return {used_.begin(), used_.end()};
}

/// A file of the user's, whole, whatever is in it. Nothing is waited for: O_NONBLOCK is for pipes.
bool ObjectCache::read(const std::string& name, std::string& content) const {
  if (directory_.empty()) return false;
  const std::string path = directory_ + "/" + name;
  const int fd = uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
  if (fd < 0) return false;
  struct stat s;
  bool good = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 022) == 0 &&
              static_cast<uint64_t>(s.st_size) >= sizeof(Header) && static_cast<uint64_t>(s.st_size) <= kMaxEntry_B;
  if (good) {
    try {
      content.resize(static_cast<size_t>(s.st_size));  // by one read
      good = read_whole(fd, content.data(), content.size());
    } catch (const std::bad_alloc&) {
      good = false;
    }
  }
  if (good && s.st_mtime + kUsedEvery_s < static_cast<int64_t>(time(nullptr))) futimens(fd, nullptr);  // best effort
  close(fd);
  return good;
}

bool ObjectCache::load(const CacheKey& key, std::string& object) const {
  const std::string name = key.hash.hex();
  std::string content;
  Header header;
  if (!read(name, content) || !read_header(content, header)) return false;
  const std::string_view all(content), key_bytes = all.substr(sizeof header, header.key_B), rest = all.substr(sizeof header);
  if (key_bytes != key.bytes || !same(header.code, authenticate(secret_, {authenticated(header), rest}))) return false;
  content.erase(0, sizeof header + key_bytes.size());
  object = std::move(content);
  note_used(name);
  return !object.empty();
}

void ObjectCache::write(const std::string& name, std::string_view key, std::string_view object) const {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_B = key.size(), header.object_B = object.size();
  header.code = authenticate(secret_, {authenticated(header), key, object});
  // Not flushed: what a power cut leaves of it is not authentic.
  if (write_file(directory_ + "/" + name, {{reinterpret_cast<const char*>(&header), sizeof header}, key, object})) note_used(name);
}

void ObjectCache::store(const CacheKey& key, const std::string& object) const {
  assert(!key.bytes.empty() && !object.empty());
  if (directory_.empty() || sizeof(Header) + key.bytes.size() + object.size() > kMaxEntry_B) return;
  write(key.hash.hex(), key.bytes, object);
  // By the key's hash, so that no process has to count: one store in kStoresBetweenPrunes.
  if (key.hash.low % kStoresBetweenPrunes == 0) prune(directory_);
}

void ObjectCache::remove(const CacheKey& key) const {
  if (directory_.empty()) return;
  const std::string name = key.hash.hex();
  unlink((directory_ + "/" + name).c_str());
  std::lock_guard lock(mutex_);
  used_.erase(name);
}

std::string ObjectCache::export_entry(const std::string& name) const {
  std::string content, object;
  Header header;
  if (!is_name(name) || !read(name, content) || !read_header(content, header)) return "";
  const CacheKey key(content.substr(sizeof header, header.key_B));
  if (key.hash.hex() != name || !load(key, object)) return "";
  const uint64_t key_B = key.bytes.size();
  return std::string(reinterpret_cast<const char*>(&key_B), sizeof key_B) + key.bytes + object;
}

bool ObjectCache::import_entry(const std::string& name, const std::string& entry) const {
  uint64_t key_B = 0;
  if (directory_.empty() || !is_name(name) || entry.size() <= sizeof key_B || entry.size() > kMaxEntry_B - sizeof(Header)) return false;
  std::memcpy(&key_B, entry.data(), sizeof key_B);
  const uint64_t rest_B = entry.size() - sizeof key_B;
  if (key_B == 0 || key_B >= rest_B) return false;
  const CacheKey key(entry.substr(sizeof key_B, key_B));
  if (key.hash.hex() != name) return false;
  store(key, entry.substr(sizeof key_B + key_B));
  std::string kept;
  return load(key, kept);
}

}  // namespace tilegpu::shader
