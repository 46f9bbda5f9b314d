// shader/jit/object_cache.hpp -- compiled objects on disk: one file per key, in a directory that only the user can write.
//
// In: a key (every byte that determines the code, the generator's build included) and object bytes. Out: the bytes, or nothing.
// Objects are native code. A directory of another user, or writable by others, is not used. An entry holds its whole key, so a hash
// collision cannot deliver wrong code, and a code over all of it that only who knows the user's secret can make (cache_key.hpp): what is
// truncated, rotten or somebody else's is not there. Source: docs/decisions.md, 41 and 180.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "shader/jit/cache_key.hpp"
#include "tilegpu/fork_mutex.hpp"

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
  void remove(const CacheKey& key) const;
  /// An entry by its file's name, key and object in one, for another machine; "" where there is none that is good.
  std::string export_entry(const std::string& name) const;
  /// What export_entry gave there. False where it is none of this name, or can't be kept. Whoever made it has code run here.
  bool import_entry(const std::string& name, const std::string& entry) const;
  /// "" when off.
  const std::string& directory() const { return directory_; }
  /// Why it is off though it was wanted; "" where it is not.
  const std::string& why_off() const { return why_off_; }
  /// Names of files in the directory that were loaded or stored, for who takes them to another machine.
  std::vector<std::string> used() const;

 private:
  bool read(const std::string& name, std::string& content) const;
  void write(const std::string& name, std::string_view key, std::string_view object) const;
  void note_used(const std::string& name) const;
  std::string directory_, why_off_;
  SecretKey secret_{};
  mutable ForkMutex mutex_;
  mutable std::set<std::string> used_;
};

}  // namespace tilegpu::shader
