// shader/jit/object_cache.hpp -- compiled objects on disk: one file per key, in a directory that only the user can write.
//
// In: a key (every byte that determines the code, the generator's build included) and object bytes. Out: the bytes, or nothing.
// An entry holds its whole key, so a hash collision cannot deliver wrong code; a checksum finds truncation and rot. Objects are native
// code: a directory of another user, or writable by others, is not used. Source: docs/decisions.md, 41.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tilegpu::shader {

struct Hash128 {
  uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
  std::string hex() const;
};
Hash128 hash128(const void* data, size_t size_B);

/// Keys hold whole shaders: the hash is made once, and a key is handed on, not copied.
struct CacheKey {
  explicit CacheKey(std::string key_bytes) : bytes(std::move(key_bytes)), hash(hash128(bytes.data(), bytes.size())) {}
  const std::string bytes;
  const Hash128 hash;
};
using CacheKeyPtr = std::shared_ptr<const CacheKey>;
struct HashOfKey {
  size_t operator()(const CacheKeyPtr& key) const { return key->hash.low; }
};
struct SameKey {
  bool operator()(const CacheKeyPtr& a, const CacheKeyPtr& b) const { return a->hash == b->hash && a->bytes == b->bytes; }
};

class ObjectCache {
 public:
  /// `setting`: "" for the user's cache directory, "off" for none, else a directory (made if missing).
  explicit ObjectCache(const std::string& setting);
  /// False when there is no valid entry.
  bool load(const CacheKey& key, std::string& object) const;
  /// Best effort: a full disk is no error. Written under a temporary name, then renamed.
  void store(const CacheKey& key, const std::string& object) const;
  /// "" when off.
  const std::string& directory() const { return directory_; }
  /// Names of files in the directory that were loaded or stored, for who takes them to another machine.
  std::vector<std::string> used() const;

 private:
  std::string path_of(const CacheKey& key) const;
  bool note_used(const CacheKey& key) const;
  std::string directory_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> used_;
};

}  // namespace tilegpu::shader
