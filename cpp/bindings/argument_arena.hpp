// bindings/argument_arena.hpp -- memory for arrays that are arguments of draws: chunks that are used again by later passes of a device.
//
// In: bytes. Out: a buffer with a copy. A part of the front end (tilegpu.arena) that is here for its speed.
#pragma once

#include <mutex>

#include "bindings.hpp"

namespace tilegpu::bindings {

/// Chunks that nobody reads any more, of a device.
class ArgumentChunks {
 public:
  static constexpr uint64_t kChunk_B = 1 << 20;
  struct Chunk {
    Ptr<DeviceMemory> memory;
    uint8_t* data = nullptr;
  };
  /// `usage`: every way to use a buffer, as an argument is used as the draw says.
  explicit ArgumentChunks(VkBufferUsageFlags usage) : usage_(usage) {}
  VkBufferUsageFlags usage() const { return usage_; }
  Chunk take();
  void give(std::vector<Chunk>&& chunks);

 private:
  static constexpr size_t kMostKept = 64;
  const VkBufferUsageFlags usage_;
  std::mutex mutex_;
  std::vector<Chunk> free_;
};

/// Whoever may execute what reads the buffers holds the arena: without it their memory is used again.
class ArgumentArena {
 public:
  explicit ArgumentArena(Ptr<ArgumentChunks> chunks) : free_(std::move(chunks)) {}
  ~ArgumentArena() { free_->give(std::move(chunks_)); }
  ArgumentArena(const ArgumentArena&) = delete;
  /// A buffer of exactly so many bytes (at least one) with a copy of them.
  Ptr<Buffer> upload(const void* bytes, uint64_t size_B);

 private:
  const Ptr<ArgumentChunks> free_;
  std::vector<ArgumentChunks::Chunk> chunks_;
  uint64_t used_B_ = ArgumentChunks::kChunk_B;
};

}  // namespace tilegpu::bindings
