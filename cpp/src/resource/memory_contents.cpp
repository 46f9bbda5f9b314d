// resource/memory_contents.cpp -- see memory_contents.hpp.
//
// In: ranges and who wrote them. Out: spans of equal knowledge, few: neighbours that know the same are one span.
#include "resource/memory_contents.hpp"

#include <algorithm>
#include <iterator>

#include "resource/image_layout.hpp"

namespace tilegpu::resource {
namespace {

// More than twice the rows of the highest image: parts of an image of which the rest is undefined. Only copies to ever other places of a
// buffer come so far.
constexpr size_t kMostSpans = 1 << 16;

constexpr const char* kNeverWritten = "nothing was stored, copied or cleared to it since it was created";

}  // namespace

/// A span begins at `at_B` if one was across it.
void MemoryContents::cut(uint64_t at_B) {
  auto at = spans_.upper_bound(at_B);
  if (at == spans_.begin()) return;
  --at;
  if (at->first == at_B || at->second.end_B <= at_B) return;
  spans_.emplace(at_B, at->second);
  at->second.end_B = at_B;
}

/// Neighbours that know the same, in the range and at its ends, become one.
void MemoryContents::join(MemoryRange range) {
  auto at = spans_.lower_bound(range.begin_B);
  if (at != spans_.begin()) --at;
  while (at != spans_.end() && at->first <= range.end_B) {
    const auto next = std::next(at);
    if (next == spans_.end()) return;
    const Span &a = at->second, &b = next->second;
    if (a.end_B != next->first || a.field[0] != b.field[0] || a.field[1] != b.field[1]) {
      at = next;
      continue;
    }
    at->second.end_B = b.end_B;
    spans_.erase(next);
  }
}

/// Too many spans: pairs become one that is as young as the younger and defined where either is. Versions never lie; only a message
/// about undefined bytes may be missing.
void MemoryContents::bound_spans() {
  if (spans_.size() <= kMostSpans) return;
  for (auto at = spans_.begin(); at != spans_.end(); ++at) {
    const auto next = std::next(at);
    if (next == spans_.end()) return;
    for (int f = 0; f < 2; ++f) {
      Field &a = at->second.field[f], &b = next->second.field[f];
      if (a.writer == Writer::none || (a.discarded && b.writer != Writer::none)) a.writer = b.writer, a.discarded = b.discarded;
      a.version = std::max(a.version, b.version);
    }
    at->second.end_B = next->second.end_B;
    spans_.erase(next);
  }
}

template <class Change>
void MemoryContents::change(MemoryRange range, uint8_t fields, Change to) {
  assert(fields && fields <= kAllFields);
  if (range.empty()) return;
  cut(range.begin_B);
  cut(range.end_B);
  // Spans in the range, and new ones in its gaps.
  uint64_t at_B = range.begin_B;
  while (at_B < range.end_B) {
    auto at = spans_.lower_bound(at_B);
    if (at == spans_.end() || at->first > at_B) {
      Span gap;
      gap.end_B = at == spans_.end() ? range.end_B : std::min(range.end_B, at->first);
      at = spans_.emplace(at_B, gap).first;
    }
    assert(at->second.end_B > at_B && at->second.end_B <= range.end_B);
    for (int f = 0; f < 2; ++f)
      if (fields >> f & 1) to(at->second.field[f]);
    at_B = at->second.end_B;
  }
  join(range);
  bound_spans();
}

template <class Visit>
void MemoryContents::visit(MemoryRange range, uint8_t fields, Visit each) const {
  auto at = spans_.upper_bound(range.begin_B);
  if (at != spans_.begin()) --at;
  for (; at != spans_.end() && at->first < range.end_B; ++at) {
    if (at->second.end_B <= range.begin_B) continue;
    for (int f = 0; f < 2; ++f)
      if (fields >> f & 1) each(at->second.field[f]);
  }
}

void MemoryContents::forget_signatures(MemoryRange range, const BlockSignatures* kept) {
  std::erase_if(signatures_, [&](const auto& s) { return s.get() != kept && overlap(s->range, range); });
}

bool MemoryContents::is_mapped(MemoryRange range) const {
  return std::any_of(mapped_.begin(), mapped_.end(), [&](const MemoryRange& m) { return overlap(m, range); });
}

void MemoryContents::write(MemoryRange range, uint8_t fields, Writer writer, const BlockSignatures* kept) {
  assert(writer != Writer::none);
  std::lock_guard lock(mutex_);
  const Field now = {++newest_, writer, nullptr};
  change(range, fields, [&](Field& field) { field = now; });
  forget_signatures(range, kept);
}

/// A reason why bytes there are undefined; null: there is none.
const std::string* MemoryContents::discarded(MemoryRange range, uint8_t fields) const {
  const std::string* found = nullptr;
  if (shared_) return found;
  visit(range, fields, [&](const Field& field) {
    if (field.discarded) found = field.discarded.get();
  });
  return found;
}

bool MemoryContents::was_written(MemoryRange range, uint8_t fields) const {
  bool written = is_mapped(range);  // the host may have written
  visit(range, fields, [&](const Field& field) { written |= field.writer != Writer::none; });
  return written;
}

void MemoryContents::write_rows(const MemoryRows& rows, uint8_t fields, Writer writer, const BlockSignatures* kept) {
  assert(writer != Writer::none && rows.rows > 0 && rows.row_B <= rows.pitch_B);
  std::lock_guard lock(mutex_);
  const Field now = {++newest_, writer, nullptr};
  const auto set = [&](Field& field) { field = now; };
  // Row by row only where that makes a difference: few passes and copies meet what was discarded.
  if (discarded(rows.bounds(), fields))
    for (uint32_t i = 0; i < rows.rows; ++i) change(rows.row(i), fields, set);
  else
    change(rows.bounds(), fields, set);
  forget_signatures(rows.bounds(), kept);
}

void MemoryContents::write_some(MemoryRange range, uint8_t fields, Writer writer) {
  assert(writer != Writer::none);
  std::lock_guard lock(mutex_);
  ++newest_;
  change(range, fields, [&](Field& field) {
    field.version = newest_;
    if (!field.discarded) field.writer = writer;
  });
  forget_signatures(range, nullptr);
}

void MemoryContents::touch(MemoryRange range, uint8_t fields, const BlockSignatures* kept) {
  std::lock_guard lock(mutex_);
  ++newest_;
  change(range, fields, [&](Field& field) { field.version = newest_; });
  forget_signatures(range, kept);
}

void MemoryContents::discard(MemoryRange range, uint8_t fields, const std::string& reason) {
  assert(!reason.empty());
  std::lock_guard lock(mutex_);
  const Field now = {++newest_, Writer::none, std::make_shared<const std::string>(reason)};
  change(range, fields, [&](Field& field) { field = now; });
}

void MemoryContents::discard_rows(const MemoryRows& rows, uint8_t fields, const std::string& reason) {
  assert(!reason.empty() && rows.rows > 0 && rows.row_B <= rows.pitch_B);
  std::lock_guard lock(mutex_);
  const Field now = {++newest_, Writer::none, std::make_shared<const std::string>(reason)};
  for (uint32_t i = 0; i < rows.rows; ++i) change(rows.row(i), fields, [&](Field& field) { field = now; });
}

void MemoryContents::map(MemoryRange range) {
  if (range.empty()) return;
  std::lock_guard lock(mutex_);
  // One range for all that touch it: mapping the same bytes again adds nothing.
  std::erase_if(mapped_, [&](const MemoryRange& m) {
    const bool meets = m.begin_B <= range.end_B && range.begin_B <= m.end_B;
    if (meets) range = {std::min(m.begin_B, range.begin_B), std::max(m.end_B, range.end_B)};
    return meets;
  });
  mapped_.push_back(range);
  ++newest_;
}

void MemoryContents::share() {
  std::lock_guard lock(mutex_);
  assert(spans_.empty() && mapped_.empty());
  shared_ = true;
  mapped_.push_back({0, ~uint64_t{0}});
}

void MemoryContents::unmap() {
  std::lock_guard lock(mutex_);
  ++newest_;
  if (shared_) return;  // the others go on
  // What the host wrote last is younger than what was derived before, and is there.
  for (const MemoryRange& range : mapped_) {
    change(range, kAllFields, [&](Field& field) {
      field.version = newest_;
      if (field.writer == Writer::none && !field.discarded) field.writer = Writer::host;
    });
    forget_signatures(range, nullptr);
  }
  mapped_.clear();
}

std::string MemoryContents::why_undefined(MemoryRange range, uint8_t fields) const {
  std::lock_guard lock(mutex_);
  if (const std::string* why = discarded(range, fields)) return *why;
  return was_written(range, fields) ? "" : kNeverWritten;
}

std::string MemoryContents::why_undefined_rows(const MemoryRows& rows, MemoryRange all, uint8_t fields) const {
  assert(rows.rows > 0 && all.begin_B <= rows.first_B && rows.bounds().end_B <= all.end_B);
  std::lock_guard lock(mutex_);
  if (discarded(rows.bounds(), fields))
    for (uint32_t i = 0; i < rows.rows; ++i)
      if (const std::string* why = discarded(rows.row(i), fields)) return *why;
  return was_written(all, fields) ? "" : kNeverWritten;
}

uint64_t MemoryContents::version(MemoryRange range, uint8_t fields) {
  std::lock_guard lock(mutex_);
  if (is_mapped(range)) return ++newest_;
  uint64_t version = 0;
  visit(range, fields, [&](const Field& field) { version = std::max(version, field.version); });
  return version;
}

std::shared_ptr<BlockSignatures> MemoryContents::signatures(const BlockSignatures& shape) {
  assert(!shape.range.empty() && shape.width_px && shape.height_px && shape.layers);
  std::lock_guard lock(mutex_);
  if (is_mapped(shape.range)) forget_signatures(shape.range, nullptr);  // the host may have written since they were taken
  for (const auto& s : signatures_)
    if (s->range == shape.range && s->width_px == shape.width_px && s->height_px == shape.height_px && s->layers == shape.layers &&
        s->texel_B == shape.texel_B)
      return s;
  auto made = std::make_shared<BlockSignatures>(shape);
  made->of_block.assign(size_t{(shape.width_px + 15) / 16} * ((shape.height_px + 15) / 16) * shape.layers, 0);
  signatures_.push_back(made);
  return made;
}

bool MemoryContents::has_signatures(MemoryRange range) const {
  std::lock_guard lock(mutex_);
  return std::any_of(signatures_.begin(), signatures_.end(), [&](const auto& s) { return s->range == range; });
}

void MemoryContents::adopt(const MemoryContents& other, uint64_t offset_B) {
  assert(this != &other);
  std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [begin_B, span] : other.spans_)
    for (uint8_t f = 0; f < 2; ++f) {
      Field field = span.field[f];
      field.version = ++newest_;
      change({begin_B + offset_B, span.end_B + offset_B}, static_cast<uint8_t>(1 << f), [&](Field& to) { to = field; });
    }
}

MemoryRange range_of(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, uint32_t base_layer, uint32_t layer_count) {
  assert(layer_count > 0);
  const SubresourceLayout first = image.layout(aspect, level, base_layer);
  const uint64_t begin_B = image.memory_offset_B() + first.offset_B;
  return {begin_B, begin_B + first.size_B * layer_count};
}

uint8_t fields_of(const Image& image, VkImageAspectFlagBits aspect) {
  if (image.info().format != VK_FORMAT_D24_UNORM_S8_UINT) return kAllFields;
  return aspect == VK_IMAGE_ASPECT_STENCIL_BIT ? kHighField : kLowField;
}

namespace {

/// Calls one of them for the bytes of a box: whole(range) where it is a range; rows(rows) for each layer and sample; else some(range).
template <class Whole, class InRows, class Some>
void for_each_piece(const Image& image, VkImageAspectFlagBits aspect, const ImageBox& box, Whole whole, InRows rows, Some some) {
  const VkExtent3D level = image.extent(box.level);
  assert(box.width_px > 0 && box.x + box.width_px <= level.width && box.height_px > 0 && box.y + box.height_px <= level.height);
  const MemoryRange all = range_of(image, aspect, box.level, box.base_layer, box.layer_count);
  const bool full_rows = box.width_px == level.width, to_the_edge = box.x + box.width_px == level.width;
  if (full_rows && box.height_px == level.height) return whole(all);
  if (image.info().tiling != ImageTiling::linear) return some(all);
  // In texel blocks, of which an edge may cut the last ones.
  const vk::FormatInfo& format = *vk::find_format(image.info().format);
  const uint32_t column = box.x / format.block_width_px, row = box.y / format.block_height_px,
                 columns = format.blocks_x(box.x + box.width_px) - column, row_count = format.blocks_y(box.y + box.height_px) - row;
  for (uint32_t layer = box.base_layer; layer < box.base_layer + box.layer_count; ++layer) {
    const SubresourceLayout layout = image.layout(aspect, box.level, layer);
    for (uint32_t s = 0; s < image.sample_count(); ++s) {
      const uint64_t first_B = image.memory_offset_B() + layout.offset_B + layout.sample_pitch_B * s + layout.row_pitch_B * row;
      const uint64_t x_B = uint64_t{column} * layout.texel_B;
      // The last texels of rows have what lies behind them up to the next row.
      const uint64_t row_B = to_the_edge ? layout.row_pitch_B - x_B : uint64_t{columns} * layout.texel_B;
      if (full_rows)
        whole(MemoryRange{first_B, first_B + layout.row_pitch_B * row_count});
      else
        rows(MemoryRows{first_B + x_B, row_B, layout.row_pitch_B, row_count});
    }
  }
}

}  // namespace

std::string why_undefined(const Image& image, const ImageBox& box) {
  std::string why;
  for_each_aspect(box.aspects, [&](VkImageAspectFlagBits aspect) {
    const MemoryContents& contents = image.contents();
    const uint8_t fields = fields_of(image, aspect);
    // Layer by layer: one that was never written is undefined, whatever is beside it.
    ImageBox one = box;
    one.layer_count = 1;
    for (; one.base_layer < box.base_layer + box.layer_count; ++one.base_layer) {
      const MemoryRange all = range_of(image, aspect, box.level, one.base_layer, 1);
      const auto ask = [&](const MemoryRows& rows) {
        if (why.empty()) why = contents.why_undefined_rows(rows, all, fields);
      };
      const auto ask_range = [&](MemoryRange range) { ask({range.begin_B, range.end_B - range.begin_B, range.end_B - range.begin_B, 1}); };
      for_each_piece(image, aspect, one, ask_range, ask, ask_range);
    }
  });
  return why;
}

void mark_box_written(const Image& image, const ImageBox& box, Writer writer, const BlockSignatures* kept) {
  for_each_aspect(box.aspects, [&](VkImageAspectFlagBits aspect) {
    MemoryContents& contents = image.contents();
    const uint8_t fields = fields_of(image, aspect);
    for_each_piece(
        image, aspect, box, [&](MemoryRange range) { contents.write(range, fields, writer, kept); },
        [&](const MemoryRows& rows) { contents.write_rows(rows, fields, writer, kept); },
        [&](MemoryRange range) { contents.write_some(range, fields, writer); });
  });
}

void mark_box_discarded(const Image& image, const ImageBox& box, const std::string& reason) {
  for_each_aspect(box.aspects, [&](VkImageAspectFlagBits aspect) {
    MemoryContents& contents = image.contents();
    const uint8_t fields = fields_of(image, aspect);
    const auto lose = [&](MemoryRange range) { contents.discard(range, fields, reason); };
    for_each_piece(image, aspect, box, lose, [&](const MemoryRows& rows) { contents.discard_rows(rows, fields, reason); }, lose);
  });
}

void mark_written(const Image& image, const VkImageSubresourceRange& part, Writer writer, const BlockSignatures* kept) {
  for_each_range(image, part, [&](VkImageAspectFlagBits aspect, MemoryRange range) {
    image.contents().write(range, fields_of(image, aspect), writer, kept);
  });
}

void mark_touched(const Image& image, const VkImageSubresourceRange& part, const BlockSignatures* kept) {
  for_each_range(image, part,
                 [&](VkImageAspectFlagBits aspect, MemoryRange range) { image.contents().touch(range, fields_of(image, aspect), kept); });
}

void mark_discarded(const Image& image, const VkImageSubresourceRange& part, const std::string& reason) {
  for_each_range(image, part, [&](VkImageAspectFlagBits aspect, MemoryRange range) {
    image.contents().discard(range, fields_of(image, aspect), reason);
  });
}

void mark_written(const Buffer& buffer, uint64_t offset_B, uint64_t size_B, Writer writer) {
  assert(buffer.data() && offset_B + size_B <= buffer.size_B());
  const uint64_t begin_B = buffer.memory_offset_B() + offset_B;
  buffer.memory()->contents().write({begin_B, begin_B + size_B}, kAllFields, writer);
}

void mark_level_written(const ImageView& view, Writer writer) {
  const ImageViewCreateInfo& info = view.info();
  const Image& image = *info.image;
  const uint32_t layers = info.type == VK_IMAGE_VIEW_TYPE_3D ? image.layer_count(info.base_level) : info.layer_count;
  const MemoryRange range = range_of(image, VK_IMAGE_ASPECT_COLOR_BIT, info.base_level, info.base_layer, layers);
  image.contents().write(range, kAllFields, writer);
}

uint64_t content_version(const Image& image, const VkImageSubresourceRange& part) {
  uint64_t version = 0;
  for_each_range(image, part, [&](VkImageAspectFlagBits aspect, MemoryRange range) {
    version = std::max(version, image.contents().version(range, fields_of(image, aspect)));
  });
  return version;
}

}  // namespace tilegpu::resource
