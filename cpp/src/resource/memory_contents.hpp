// resource/memory_contents.hpp -- what is known of the bytes of a DeviceMemory: who wrote them, what made them undefined, what was derived.
//
// In: every writer says which bytes it writes (passes, transfers, shaders' buffers, the host). Out: answers for images and buffers that
// lie there, so that two of them on the same bytes can't contradict each other. Kept by range of offsets; asked and told for each pass and
// subresource, never for each tile. Calls may come from any thread.
// Source: Vulkan specification, "Memory Aliasing", "Host Access to Device Memory Objects".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/resource.hpp"

namespace tilegpu::resource {

enum class Writer : uint8_t { none, pass, transfer, shader, host };

/// Bytes [begin_B, end_B) of a memory.
struct MemoryRange {
  uint64_t begin_B = 0, end_B = 0;
  bool empty() const { return begin_B >= end_B; }
  bool operator==(const MemoryRange&) const = default;
};
inline bool overlap(const MemoryRange& a, const MemoryRange& b) { return a.begin_B < b.end_B && b.begin_B < a.end_B; }

/// Rows of bytes: a part of an image's level that has none of its rows whole.
struct MemoryRows {
  uint64_t first_B = 0, row_B = 0, pitch_B = 0;
  uint32_t rows = 0;
  MemoryRange row(uint32_t i) const { return {first_B + i * pitch_B, first_B + i * pitch_B + row_B}; }
  MemoryRange bounds() const { return {first_B, row(rows - 1).end_B}; }
};

/// Parts of 32-bit words that are written apart: D24S8's depth is the low field, its stencil the high one. Everything else is both.
inline constexpr uint8_t kLowField = 1, kHighField = 2, kAllFields = 3;

/// Transaction elimination: a signature of each 16x16-pixel block of each layer as it was last stored; 0: unknown.
struct BlockSignatures {
  MemoryRange range;
  uint32_t width_px = 0, height_px = 0, layers = 0, texel_B = 0;
  std::vector<uint64_t> of_block;
};

class MemoryContents {
 public:
  /// These bytes have other values from now on, and are defined. Signatures that overlap are dropped, but for `kept`: the writer's own.
  void write(MemoryRange range, uint8_t fields, Writer writer, const BlockSignatures* kept = nullptr);
  void write_rows(const MemoryRows& rows, uint8_t fields, Writer writer, const BlockSignatures* kept = nullptr);
  /// Some of these bytes have, it isn't known which: what was discarded stays undefined.
  void write_some(MemoryRange range, uint8_t fields, Writer writer);
  /// These bytes may change from now on: as `write`, but they are as defined as they were.
  void touch(MemoryRange range, uint8_t fields, const BlockSignatures* kept = nullptr);
  /// Nobody may rely on these bytes any more; `reason` says why.
  void discard(MemoryRange range, uint8_t fields, const std::string& reason);
  void discard_rows(const MemoryRows& rows, uint8_t fields, const std::string& reason);
  /// From now on the host may write these bytes at any time: nothing derived from them is kept.
  void map(MemoryRange range);
  void unmap();
  /// Others write too, and are never seen: all bytes are mapped for ever, and none undefined.
  void share();

  /// "": somebody wrote there, and nothing there was discarded since. What was never written beside it is zero.
  std::string why_undefined(MemoryRange range, uint8_t fields) const;
  /// Of some rows of `all`: nothing in the rows was discarded, and somebody wrote anywhere in all.
  std::string why_undefined_rows(const MemoryRows& rows, MemoryRange all, uint8_t fields) const;
  /// Another number whenever the bytes may have changed. Mapped bytes never have the same number twice.
  uint64_t version(MemoryRange range, uint8_t fields);
  /// Of images of this size at exactly this range; made empty (all unknown) if there are none.
  std::shared_ptr<BlockSignatures> signatures(const BlockSignatures& shape);
  bool has_signatures(MemoryRange range) const;
  /// What `other` says of [0, ...) is true from `offset_B` on: an image that had no memory got some.
  void adopt(const MemoryContents& other, uint64_t offset_B);

 private:
  struct Field {
    uint64_t version = 0;  // 0: never written
    Writer writer = Writer::none;
    std::shared_ptr<const std::string> discarded;  // why the bytes are undefined; null: they are not
    bool operator==(const Field&) const = default;
  };
  struct Span {
    uint64_t end_B = 0;
    Field field[2];
  };
  using Spans = std::map<uint64_t, Span>;  // by begin, apart

  template <class Change>
  void change(MemoryRange range, uint8_t fields, Change to);
  template <class Visit>
  void visit(MemoryRange range, uint8_t fields, Visit each) const;
  void cut(uint64_t at_B);
  void join(MemoryRange range);
  void bound_spans();
  bool is_mapped(MemoryRange range) const;
  const std::string* discarded(MemoryRange range, uint8_t fields) const;
  bool was_written(MemoryRange range, uint8_t fields) const;
  void forget_signatures(MemoryRange range, const BlockSignatures* kept);

  mutable ForkMutex mutex_;
  uint64_t newest_ = 0;
  Spans spans_;
  std::vector<MemoryRange> mapped_;
  bool shared_ = false;
  std::vector<std::shared_ptr<BlockSignatures>> signatures_;
};

/// The bytes of some layers of a level of an image in its memory; without memory: from its own first byte.
MemoryRange range_of(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, uint32_t base_layer, uint32_t layer_count);
uint8_t fields_of(const Image& image, VkImageAspectFlagBits aspect);
/// Calls `each(aspect)` for each of a mask.
template <class Each>
void for_each_aspect(VkImageAspectFlags aspects, Each each) {
  for (VkImageAspectFlagBits aspect : {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT})
    if (aspects & aspect) each(aspect);
}
/// Calls `each(aspect, range)` for each aspect and level; counts are resolved (no VK_REMAINING).
template <class Each>
void for_each_range(const Image& image, const VkImageSubresourceRange& part, Each each) {
  for_each_aspect(part.aspectMask, [&](VkImageAspectFlagBits aspect) {
    for (uint32_t i = 0; i < part.levelCount; ++i)
      each(aspect, range_of(image, aspect, part.baseMipLevel + i, part.baseArrayLayer, part.layerCount));
  });
}

/// A rectangle of some layers or slices of one level, all samples.
struct ImageBox {
  VkImageAspectFlags aspects = 0;
  uint32_t level = 0, base_layer = 0, layer_count = 1;
  uint32_t x = 0, y = 0, width_px = 0, height_px = 0;
};

std::string why_undefined(const Image& image, const ImageBox& box);
void mark_box_written(const Image& image, const ImageBox& box, Writer writer, const BlockSignatures* kept = nullptr);
/// Of a block-compressed level the whole, where a part of it is meant: its bytes belong to no rows.
void mark_box_discarded(const Image& image, const ImageBox& box, const std::string& reason);
void mark_written(const Image& image, const VkImageSubresourceRange& part, Writer writer, const BlockSignatures* kept = nullptr);
void mark_touched(const Image& image, const VkImageSubresourceRange& part, const BlockSignatures* kept = nullptr);
void mark_discarded(const Image& image, const VkImageSubresourceRange& part, const std::string& reason);
/// What a storage image is of a view: the first level, all layers or slices.
void mark_level_written(const ImageView& view, Writer writer);
void mark_written(const Buffer& buffer, uint64_t offset_B, uint64_t size_B, Writer writer);
uint64_t content_version(const Image& image, const VkImageSubresourceRange& part);

}  // namespace tilegpu::resource
