// tests/test_tolerance.cpp -- what Vulkan forbids though its outcome is plain: an error, or done and said on a device that tolerates it;
// and a capture of what was tolerated is replayed by any device.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "check.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;

namespace {

constexpr uint32_t kSide_px = 8;

template <class T>
T take(Expected<T> value) {
  CHECK_MESSAGE(value, value ? "" : value.error().message);
  return value ? *value : T{};
}

Ptr<Buffer> buffer(uint64_t size_B, VkBufferUsageFlags usage) {
  auto made = take(Buffer::create({size_B, usage, "b"}));
  CHECK(made->bind(take(DeviceMemory::allocate(size_B)), 0));
  return made;
}

Ptr<Image> image(VkFormat format, VkSampleCountFlagBits samples, VkImageUsageFlags usage, const char* label) {
  auto made = take(
      Image::create({.format = format, .width_px = kSide_px, .height_px = kSide_px, .samples = samples, .usage = usage, .label = label}));
  CHECK(made->ensure_memory());
  return made;
}

/// A pass that keeps the least of each pixel's samples, which no Vulkan has, and clears beyond its area; a copy of its result whose buffer
/// nobody made for it, off the texels' grid.
struct Misuse {
  Ptr<Device> device;
  Ptr<Image> many = image(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_4_BIT, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, "many");
  Ptr<Image> one = image(VK_FORMAT_R8G8B8A8_UNORM, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, "one");
  Ptr<Buffer> out = buffer(4 * kSide_px * kSide_px + 2, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  Ptr<CommandBuffer> cb;

  Status record() {
    cb = std::make_shared<CommandBuffer>(device);
    CHECK(cb->begin());
    RenderingAttachment color;
    color.view = take(ImageView::create({.image = many}));
    color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR, color.clear.color = {{1, 1, 1, 1}};
    color.resolve_view = take(ImageView::create({.image = one}));
    color.resolve_mode = VK_RESOLVE_MODE_MIN_BIT;
    if (Status ok = cb->begin_rendering({.color = {color}, .label = "pass"}); !ok) return ok;
    const VkClearValue half{.color = {{0, 0, 1, 1}}};
    if (Status ok = cb->clear_attachment(0, VK_IMAGE_ASPECT_COLOR_BIT, half, {{4, 0}, {100, 100}}); !ok) return ok;
    if (Status ok = cb->end_rendering(); !ok) return ok;
    VkBufferImageCopy2 region{VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
    region.bufferOffset = 2, region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {kSide_px, kSide_px, 1};
    if (Status ok = cb->copy_image_to_buffer(one, out, {&region, 1}); !ok) return ok;
    return cb->end();
  }
  void run(const std::vector<Ptr<CommandBuffer>>& commands) const {
    auto submission = take(device->submit({commands, {}}));
    submission->wait(-1);
    CHECK(!submission->error());
  }
  bool is_right(const uint8_t* texels) const {
    for (uint32_t i = 0; i < kSide_px * kSide_px; i++) {
      const uint8_t left[4] = {255, 255, 255, 255}, right[4] = {0, 0, 255, 255};
      if (std::memcmp(texels + 4 * i, i % kSide_px < 4 ? left : right, 4) != 0) return false;
    }
    return true;
  }
};

bool says(const Status& status, const char* part) { return !status && status.error().message.find(part) != std::string::npos; }

void forbidden_things_are_errors() {
  Misuse m{take(Device::create({.threads = 1, .cache_dir = "off"}))};
  CHECK(says(m.record(), "pass 'pass': color0.resolve_mode is min, allowed is average"));
  auto cb = std::make_shared<CommandBuffer>(m.device);
  CHECK(cb->begin());
  CHECK(says(cb->fill_buffer(m.out, 0, VK_WHOLE_SIZE, 7), "fill_buffer: usage of buffer 'b' is one without transfer_dst"));
  const uint8_t bytes[4] = {};
  CHECK(says(cb->update_buffer(m.out, 0, bytes), "update_buffer: usage of buffer 'b' is one without transfer_dst"));
  auto queries = std::make_shared<QueryPool>(QueryType::occlusion, 1);
  CHECK(says(cb->copy_query_pool_results(queries, 0, 1, m.out, 0, 4, 0), "copy_query_pool_results: usage of buffer 'b'"));
  CHECK(says(cb->begin_conditional_rendering({m.out, 0}), "one without conditional_rendering"));
  CHECK(says(cb->dispatch_indirect(m.out, 0), "dispatch_indirect: usage of buffer 'b' is one without indirect_buffer"));
}

void tolerant_devices_do_them_and_say_so() {
  std::vector<std::string> said;
  DeviceCreateInfo info{.threads = 1, .cache_dir = "off"};
  info.tolerate = [&](const std::string& text) { said.push_back(text); };
  Misuse m{take(Device::create(info))};
  const Status ok = m.record();
  if (!CHECK_MESSAGE(ok, ok ? "" : ok.error().message)) return;
  m.run({m.cb});
  CHECK(m.is_right(m.out->data() + 2));
  const auto heard = [&](const char* part) {
    return std::any_of(said.begin(), said.end(), [&](const std::string& text) { return text.find(part) != std::string::npos; });
  };
  CHECK(said.size() == 5 && heard("resolve_mode is min") && heard("rect of clear_attachment is 100x100 px at (4, 0)"));
  CHECK(heard("image 'one' is one without transfer_src") && heard("buffer 'b' is one without transfer_dst") && heard("bufferOffset is 2"));

  // What was recorded is replayed without a word, by devices that would not record it.
  const auto path = std::filesystem::temp_directory_path() / "tilegpu_test_tolerance.tgcap";
  CHECK(save_capture(m.device, {m.cb}, path));
  Misuse strict{take(Device::create({.threads = 1, .cache_dir = "off"}))};
  auto capture = load_capture(strict.device, path);
  std::filesystem::remove(path);
  if (!CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) return;
  strict.run(capture->command_buffers);
  const Image& picture = *capture->pictures.at(0)->image();
  std::vector<uint8_t> texels;
  for (uint32_t y = 0; y < kSide_px; y++) {
    const SubresourceLayout layout = picture.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
    const uint8_t* row = picture.data() + layout.offset_B + y * layout.row_pitch_B;
    texels.insert(texels.end(), row, row + 4 * kSide_px);
  }
  CHECK(m.is_right(texels.data()));
  CHECK(says(strict.record(), "resolve_mode is min"));  // of its own it records as before
}

}  // namespace

int main() {
  forbidden_things_are_errors();
  tolerant_devices_do_them_and_say_so();
  return test::finish("test_tolerance");
}
