// transfer/copy_buffer.cpp -- copies between buffers, fill and update.
//
// In, out: see transfer.hpp. Source: Vulkan specification, "Copying Data
// Between Buffers", "Filling Buffers", "Updating Buffers".
#include <cstring>
#include <vector>

#include "transfer/regions.hpp"

namespace tilegpu::transfer {
namespace {

// Bytes that count as a row when work is shared: enough that handing them out
// pays.
constexpr uint64_t kRow_B = 4096;

/// Pieces of `size_B` bytes, in rows: work(first byte, bytes).
template <class Work>
void run_bytes(const ShareRows& share, uint64_t size_B, Work work) {
  const uint64_t rows = (size_B + kRow_B - 1) / kRow_B;
  constexpr uint64_t kMostRows = 1u << 31;
  for (uint64_t first = 0; first < rows; first += kMostRows)
    share(static_cast<uint32_t>(std::min(kMostRows, rows - first)), [&](RowRange range) {
      const uint64_t begin_B = (first + range.begin) * kRow_B, end_B = std::min(size_B, (first + range.end) * kRow_B);
      if (begin_B < end_B) work(begin_B, end_B - begin_B);
    });
}

uint64_t fill_size_B(const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  return size_B == VK_WHOLE_SIZE ? (buffer.size_B() - offset_B) & ~3ull : size_B;
}

Status check_words(const char* command, const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  if (Status memory = check_has_memory(command, buffer); !memory) return memory;
  if (offset_B % 4) return field_error(command, "dstOffset", std::to_string(offset_B), "a multiple of 4", "");
  if (offset_B >= buffer.size_B())
    return field_error(command, "dstOffset", std::to_string(offset_B), "less than the buffer's " + std::to_string(buffer.size_B()), "");
  if (size_B == 0 || size_B % 4 || size_B > buffer.size_B() - offset_B)
    return field_error(command, "size", std::to_string(size_B),
                       "a multiple of 4, at most " + std::to_string(buffer.size_B() - offset_B) + " from byte " + std::to_string(offset_B),
                       "");
  return Ok{};
}

}  // namespace

Status check_copy_buffer(const Buffer& source, const Buffer& destination, std::span<const VkBufferCopy2> regions) {
  constexpr const char* kCommand = "copy_buffer";
  if (Status ok = check_regions(kCommand, regions.size()); !ok) return ok;
  for (const Buffer* buffer : {&source, &destination})
    if (Status ok = check_has_memory(kCommand, *buffer); !ok) return ok;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (Status ok = check_bytes(kCommand, i, "src", source, regions[i].srcOffset, regions[i].size); !ok) return ok;
    if (Status ok = check_bytes(kCommand, i, "dst", destination, regions[i].dstOffset, regions[i].size); !ok) return ok;
    if (regions[i].size == 0) return region_error(kCommand, i, "size", "0", "1 or more", "leave the region out");
  }
  if (source.memory() != destination.memory()) return Ok{};
  // No byte is both read and written: sources and destinations in the order of
  // their first bytes.
  struct Bytes {
    MemoryRange range;
    size_t region;
    bool written;
  };
  std::vector<Bytes> all;
  for (size_t i = 0; i < regions.size(); ++i) {
    const uint64_t from_B = source.memory_offset_B() + regions[i].srcOffset, to_B = destination.memory_offset_B() + regions[i].dstOffset;
    all.push_back({{from_B, from_B + regions[i].size}, i, false});
    all.push_back({{to_B, to_B + regions[i].size}, i, true});
  }
  std::sort(all.begin(), all.end(), [](const Bytes& a, const Bytes& b) { return a.range.begin_B < b.range.begin_B; });
  const Bytes* furthest[2] = {};  // of what was read, and of what was written
  for (const Bytes& now : all) {
    const Bytes* other = furthest[!now.written];
    if (other && overlap(other->range, now.range))
      return Error{VK_ERROR_VALIDATION_FAILED_EXT,
                   std::string(kCommand) + ": source and destination overlap in " + object_name("buffer", source.info().label) +
                       " (regions " + std::to_string(other->region) + " and " + std::to_string(now.region) + "); copy in two steps"};
    const Bytes*& mine = furthest[now.written];
    if (!mine || mine->range.end_B < now.range.end_B) mine = &now;
  }
  return Ok{};
}

void copy_buffer(const Buffer& source, const Buffer& destination, std::span<const VkBufferCopy2> regions, const ShareRows& share) {
  for (const VkBufferCopy2& region : regions) {
    assert(region.srcOffset + region.size <= source.size_B() && region.dstOffset + region.size <= destination.size_B());
    run_bytes(share, region.size, [&](uint64_t begin_B, uint64_t size_B) {
      std::memcpy(destination.data() + region.dstOffset + begin_B, source.data() + region.srcOffset + begin_B, size_B);
    });
    mark_written(destination, region.dstOffset, region.size, Writer::transfer);
  }
}

Status check_fill_buffer(const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  if (size_B == VK_WHOLE_SIZE && offset_B < buffer.size_B()) size_B = fill_size_B(buffer, offset_B, size_B);
  return check_words("fill_buffer", buffer, offset_B, size_B);
}

void fill_buffer(const Buffer& buffer, uint64_t offset_B, uint64_t size_B, uint32_t word, const ShareRows& share) {
  size_B = fill_size_B(buffer, offset_B, size_B);
  assert(size_B % 4 == 0 && offset_B % 4 == 0 && size_B <= buffer.size_B() - offset_B);
  run_bytes(share, size_B, [&](uint64_t begin_B, uint64_t piece_B) {
    assert(piece_B % 4 == 0);
    uint8_t* out = buffer.data() + offset_B + begin_B;
    for (uint64_t at = 0; at < piece_B; at += 4) std::memcpy(out + at, &word, 4);
  });
  mark_written(buffer, offset_B, size_B, Writer::transfer);
}

Status check_update_buffer(const Buffer& buffer, uint64_t offset_B, uint64_t size_B) {
  if (size_B > kMostUpdate_B)
    return field_error("update_buffer", "dataSize", std::to_string(size_B), "at most " + std::to_string(kMostUpdate_B),
                       "copy from a buffer instead");
  return check_words("update_buffer", buffer, offset_B, size_B);
}

void update_buffer(const Buffer& buffer, uint64_t offset_B, std::span<const uint8_t> bytes) {
  assert(bytes.size() <= kMostUpdate_B && offset_B + bytes.size() <= buffer.size_B());
  std::memcpy(buffer.data() + offset_B, bytes.data(), bytes.size());
  mark_written(buffer, offset_B, bytes.size(), Writer::transfer);
}

}  // namespace tilegpu::transfer
