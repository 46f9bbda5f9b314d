// test_memory_contents.cpp -- what is known of bytes: against a plain table by byte, for random writers; images and buffers on one memory.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "resource/memory_contents.hpp"
#include "transfer/transfer.hpp"

using namespace tilegpu;
using namespace tilegpu::resource;

namespace {

template <class T>
T must(Expected<T> result) {
  if (!result) {
    std::printf("%s\n", result.error().message.c_str());
    std::abort();
  }
  return *result;
}

constexpr uint64_t kSize_B = 200;

/// One byte's field as the definition says it.
struct Known {
  uint64_t change = 0;  // number of the last change; 0: none
  bool written = false;
  std::string discarded;
};

void like_a_table_of_bytes() {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    MemoryContents contents;
    std::vector<Known> table(kSize_B * 2);
    // Versions that were asked for, and when.
    struct Asked {
      MemoryRange range;
      uint8_t fields;
      uint64_t version, change;
    };
    std::vector<Asked> asked;
    for (uint64_t change = 1; change < 60; ++change) {
      const auto a = random() % kSize_B, b = random() % (kSize_B + 1);
      const MemoryRange range = {std::min<uint64_t>(a, b), std::max<uint64_t>(a, b)};
      const auto fields = static_cast<uint8_t>(1 + random() % 3);
      const auto what = random() % 4;
      const std::string reason = "change " + std::to_string(change);
      // Every other change is of rows: parts of the range, with gaps.
      MemoryRows rows = {range.begin_B, range.end_B - range.begin_B, range.end_B - range.begin_B, 1};
      if (random() % 2 && rows.row_B >= 8) {
        rows.rows = 2 + static_cast<uint32_t>(random() % 3);
        rows.pitch_B = rows.row_B / rows.rows, rows.row_B = 1 + random() % rows.pitch_B;
        if (what == 1) contents.discard_rows(rows, fields, reason);
        if (what > 1) contents.write_rows(rows, fields, Writer::transfer);
        if (what == 0) contents.write_some(range, fields, Writer::transfer);
      } else {
        if (what == 0) contents.touch(range, fields);
        if (what == 1) contents.discard(range, fields, reason);
        if (what > 1) contents.write(range, fields, Writer::transfer);
      }
      const bool some = what == 0 && rows.rows > 1;
      bool lost = false;  // a write of rows takes the gaps with it where nothing was discarded
      for (uint64_t at = rows.first_B; !range.empty() && at < rows.bounds().end_B; ++at)
        for (uint64_t f = 0; f < 2; ++f) lost |= (fields >> f & 1) && !table[at * 2 + f].discarded.empty();
      for (uint64_t at = range.begin_B; at < range.end_B; ++at)
        for (uint64_t f = 0; f < 2; ++f) {
          if (!(fields >> f & 1)) continue;
          const uint64_t in = at - range.begin_B;
          const bool in_row = in / rows.pitch_B < rows.rows && in % rows.pitch_B < rows.row_B;
          if (what && !in_row && (what == 1 || lost || at >= rows.bounds().end_B)) continue;
          if (some) {
            table[at * 2 + f].change = change;
            table[at * 2 + f].written |= table[at * 2 + f].discarded.empty();
            continue;
          }
          Known& k = table[at * 2 + f];
          k.change = change;
          if (what) k.written = what > 1, k.discarded = what == 1 ? reason : "";
        }
      const auto newest_in = [&](MemoryRange r, uint8_t mask, std::string* discarded, bool* written) {
        uint64_t newest = 0;
        for (uint64_t at = r.begin_B; at < r.end_B; ++at)
          for (uint64_t f = 0; f < 2; ++f) {
            if (!(mask >> f & 1)) continue;
            const Known& k = table[at * 2 + f];
            newest = std::max(newest, k.change);
            if (discarded && !k.discarded.empty()) *discarded = k.discarded;
            if (written) *written |= k.written;
          }
        return newest;
      };
      const auto c = random() % kSize_B, d = random() % kSize_B;
      const MemoryRange asked_range = {std::min<uint64_t>(c, d), std::max<uint64_t>(c, d) + 1};
      const auto mask = static_cast<uint8_t>(1 + random() % 3);
      std::string discarded;
      bool written = false;
      const uint64_t newest = newest_in(asked_range, mask, &discarded, &written);
      const std::string why = contents.why_undefined(asked_range, mask);
      CHECK(why.empty() == (discarded.empty() && written), "round %d, change %d: '%s'", round, int(change), why.c_str());
      if (!discarded.empty()) CHECK(why.starts_with("change "), "'%s' is no reason that was given", why.c_str());
      asked.push_back({asked_range, mask, contents.version(asked_range, mask), newest});
      for (const Asked& before : asked) {
        const bool changed = newest_in(before.range, before.fields, nullptr, nullptr) != before.change;
        CHECK((contents.version(before.range, before.fields) != before.version) == changed, "round %d, change %d: version", round,
              int(change));
      }
    }
  }
}

void mapped_bytes_have_no_version_twice() {
  MemoryContents contents;
  contents.write({0, 100}, kAllFields, Writer::pass);
  const uint64_t before = contents.version({0, 50}, kAllFields), beside = contents.version({60, 100}, kAllFields);
  contents.map({40, 50});
  const uint64_t first = contents.version({0, 50}, kAllFields);
  CHECK(first != before && contents.version({0, 50}, kAllFields) != first, "mapped");
  CHECK(contents.version({60, 100}, kAllFields) == beside, "bytes beside are not");
  contents.unmap();
  const uint64_t after = contents.version({0, 50}, kAllFields);
  CHECK(after != before && after != first && contents.version({0, 50}, kAllFields) == after, "what the host wrote last counts once");
  MemoryContents fresh;
  CHECK(!fresh.why_undefined({0, 4}, kAllFields).empty(), "never written");
  fresh.map({0, 4});
  CHECK(fresh.why_undefined({0, 4}, kAllFields).empty(), "the host may have written");
  fresh.unmap();
  CHECK(fresh.why_undefined({0, 4}, kAllFields).empty() && !fresh.why_undefined({4, 8}, kAllFields).empty(), "and that stays");
}

void signatures_are_forgotten() {
  MemoryContents contents;
  BlockSignatures shape;
  shape.range = {64, 4160}, shape.width_px = shape.height_px = 32, shape.layers = 1, shape.texel_B = 4;
  const auto mine = contents.signatures(shape);
  CHECK(mine->of_block.size() == 4 && contents.signatures(shape) == mine, "the same again");
  contents.write({64, 4160}, kAllFields, Writer::pass, mine.get());
  CHECK(contents.has_signatures(shape.range), "the writer keeps its own");
  contents.write({0, 64}, kAllFields, Writer::transfer);
  CHECK(contents.has_signatures(shape.range), "bytes beside");
  contents.touch({4159, 5000}, kAllFields);
  CHECK(!contents.has_signatures(shape.range), "another writer");
  CHECK(contents.signatures(shape) != mine, "made anew");
  shape.width_px = 16, shape.height_px = 64;
  CHECK(contents.signatures(shape)->of_block.size() == 4, "of another image on these bytes");
  contents.map({shape.range.begin_B, shape.range.begin_B + 1});
  const auto seen = contents.signatures(shape);
  contents.touch(shape.range, kAllFields, seen.get());
  CHECK(contents.signatures(shape) != seen, "the host may write at any time");
}

/// Ever other places: knowledge stays bounded, versions stay true.
void spans_are_bounded() {
  MemoryContents contents;
  for (uint64_t i = 0; i < 80000; ++i) contents.write({i * 8, i * 8 + 4}, kAllFields, Writer::transfer);
  uint64_t last = contents.version({0, 640000}, kAllFields);
  for (uint64_t i = 0; i < 80000; i += 3989) {
    contents.write({i * 8, i * 8 + 4}, kAllFields, Writer::transfer);
    CHECK(contents.version({i * 8 + 1, i * 8 + 2}, kAllFields) > last, "a write is seen");
    last = contents.version({0, 640000}, kAllFields);
  }
}

Ptr<Image> image_on(const Ptr<DeviceMemory>& memory, VkFormat format, uint32_t size_px, uint32_t levels, uint32_t layers) {
  ImageCreateInfo info;
  info.format = format;
  info.width_px = info.height_px = size_px;
  info.mip_levels = levels;
  info.array_layers = layers;
  const Ptr<Image> image = must(Image::create(info));
  must(image->bind(memory, 64));
  return image;
}

// What others share is never undefined, and never has a number twice, whoever unmaps it.
void shared_memory() {
  MemoryContents contents;
  contents.share();
  CHECK(contents.why_undefined({0, 16}, kAllFields).empty(), "others may have written");
  contents.discard({0, 16}, kAllFields, "dont_care");
  contents.unmap();
  CHECK(contents.why_undefined({4, 8}, kAllFields).empty(), "and may again");
  const uint64_t version = contents.version({0, 16}, kAllFields);
  CHECK(contents.version({0, 16}, kAllFields) != version, "at any time");

  const auto first = must(DeviceMemory::allocate_shared(10000));
  const int fd = must(first->export_fd());
  const auto second = must(DeviceMemory::import_fd(fd, 10000));
  CHECK(fcntl(fd, F_GETFD) >= 0, "the descriptor stays its owner's");
  must(first->map())[9999] = 7;
  CHECK(must(second->map())[9999] == 7 && must(second->map()) != must(first->map()), "the same bytes at two places");
  CHECK(must(second->map())[0] == 0, "zeroed");
  CHECK(DeviceMemory::import_fd(fd, 20000).error().code == VK_ERROR_INVALID_EXTERNAL_HANDLE, "more than there is");
  CHECK(ftruncate(fd, 0) != 0, "nobody takes bytes away");
  close(fd);
  const int other = open("/dev/zero", O_RDWR | O_CLOEXEC);
  CHECK(DeviceMemory::import_fd(other, 100).error().code == VK_ERROR_INVALID_EXTERNAL_HANDLE, "a file of somebody");
  close(other);
  CHECK(!DeviceMemory::import_fd(-1, 100) && !must(DeviceMemory::allocate(64))->export_fd(), "nothing to share");
}

void images_on_one_memory() {
  const auto memory = must(DeviceMemory::allocate(1 << 20));
  const auto depth = image_on(memory, VK_FORMAT_D32_SFLOAT, 64, 3, 2), color = image_on(memory, VK_FORMAT_R8G8B8A8_UNORM, 64, 3, 2);
  const VkImageSubresourceRange one = {VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1, 1, 1};
  const uint64_t before = content_version(*depth, one);
  CHECK(!depth->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1), "nothing yet");
  mark_written(*color, {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1}, Writer::pass);
  mark_written(*color, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 2}, Writer::pass);
  CHECK(content_version(*depth, one) == before && !depth->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1), "other levels and layers");
  CHECK(depth->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 1, 0) && depth->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1), "these were written");
  mark_written(*color, {VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 1, 1}, Writer::pass);
  CHECK(content_version(*depth, one) != before && depth->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1), "written through the other image");
  mark_discarded(*depth, one, "gone");
  CHECK(color->why_undefined(VK_IMAGE_ASPECT_COLOR_BIT, 1, 1) == "gone" && color->is_defined(VK_IMAGE_ASPECT_COLOR_BIT, 1, 0), "for both");
  const auto buffer = must(Buffer::create({1 << 20, 0, "all"}));
  must(buffer->bind(memory, 0));
  mark_written(*buffer, 0, buffer->size_B(), Writer::shader);
  CHECK(depth->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1), "a buffer over it");
}

void interleaved_aspects() {
  const auto memory = must(DeviceMemory::allocate(1 << 20));
  const auto image = image_on(memory, VK_FORMAT_D24_UNORM_S8_UINT, 16, 1, 1);
  const VkImageSubresourceRange depth = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1, 0, 1}, stencil = {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1, 0, 1};
  mark_written(*image, depth, Writer::pass);
  CHECK(image->is_defined(VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0) && !image->is_defined(VK_IMAGE_ASPECT_STENCIL_BIT, 0, 0), "depth alone");
  const uint64_t version = content_version(*image, depth);
  mark_written(*image, stencil, Writer::pass);
  CHECK(content_version(*image, depth) == version, "stencil in the same words leaves depth alone");
}

void an_image_gets_memory() {
  ImageCreateInfo info;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.width_px = info.height_px = 8;
  const Ptr<Image> image = must(Image::create(info));
  mark_discarded(*image, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}, "was dont_care");
  must(image->bind(must(DeviceMemory::allocate(4096)), 128));
  CHECK(image->why_undefined(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0) == "was dont_care", "what was known without memory");
}

}  // namespace

int main() {
  like_a_table_of_bytes();
  mapped_bytes_have_no_version_twice();
  signatures_are_forgotten();
  spans_are_bounded();
  shared_memory();
  images_on_one_memory();
  interleaved_aspects();
  an_image_gets_memory();
  return test::finish("test_memory_contents");
}
