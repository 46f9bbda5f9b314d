// tests/test_large_sets.cpp -- sets of many descriptors are looked at once for each of their contents, and every error is still found.
#include "descriptor_fixture.hpp"
#include "device/device_state.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kCount = 1000, kDraws = 50;
const char* const kDeclarations = "layout(set=0, binding=0) uniform usampler2D t[1000]; layout(set=1, binding=0) uniform U { uint k; };";
const char* const kBody = "r = texture(t[k], vec2(0.5)).x;";

Layouts layouts(VkDescriptorBindingFlags flags) {
  return {{{.binding = 0, .type = kTexture, .count = kCount, .flags = kPartial | flags}}, {{.binding = 0, .type = kDynamic}}};
}

struct Large : Bench {
  Ptr<DescriptorSet> textures, offsets;
  Ptr<Sampler> sampler = nearest();

  explicit Large(VkDescriptorBindingFlags flags) : Bench(kDeclarations, kBody, layouts(flags)) {
    textures = set(0), offsets = set(1);
    for (uint32_t i = 0; i < kCount; ++i) must(textures->write(0, i, {.view = texel(i), .sampler = sampler}));
    std::vector<uint32_t> numbers(kDraws * 64);
    for (uint32_t i = 0; i < kDraws; ++i) numbers[64 * i] = 7 * i;
    must(offsets->write(0, 0, of(buffer(numbers), 0, 16)));
  }
  uint64_t checks() const { return device->state().large_sets_checked; }
  /// A draw for each offset; the last one is seen.
  Status record(const Ptr<CommandBuffer>& cb, uint32_t draws = kDraws) {
    cb->bind_descriptor_set(0, textures);
    for (uint32_t i = 0; i < draws; ++i) {
      cb->bind_descriptor_set(1, offsets, {256 * i});
      if (Status ok = cb->draw(3, 1, 0, 0); !ok) return ok;
    }
    return Ok{};
  }
  uint32_t draw_all() {
    auto cb = begin();
    must(record(cb));
    must(cb->end_rendering()), must(cb->end());
    return execute(cb)[3];
  }
};

void test_one_check_for_contents() {
  Large large(0);
  CHECK(large.draw_all() == 7 * (kDraws - 1));
  CHECK(large.checks() == 1);
  CHECK(large.draw_all() == 7 * (kDraws - 1));  // another command buffer, another pass
  CHECK(large.checks() == 1);
  auto other = large.make(kDeclarations, std::string(kBody) + " r++;");  // asks for itself
  std::swap(other, large.pipeline);
  CHECK(large.draw_all() == 7 * (kDraws - 1) + 1);
  CHECK(large.checks() == 2);
  std::swap(other, large.pipeline);
  must(large.textures->write(0, 7 * (kDraws - 1), {.view = texel(12345), .sampler = large.sampler}));
  CHECK(large.draw_all() == 12345);
  CHECK(large.checks() == 3);
}

void test_late_sets_too() {
  Large large(kLate);
  auto cb = large.begin();
  must(large.record(cb));
  must(cb->end_rendering()), must(cb->end());
  CHECK(large.checks() == 0);
  for (int i = 0; i < 3; ++i) CHECK(large.execute(cb)[0] == 7 * (kDraws - 1));
  CHECK(large.checks() == 1);
  must(large.textures->write(0, 7 * (kDraws - 1), {.view = texel(12345), .sampler = large.sampler}));
  CHECK(large.execute(cb)[0] == 12345);
  CHECK(large.checks() == 2);
}

/// Contents that were right and are changed in place, as nobody else holds them. An element that nobody names by a constant may be of
/// another type (it is partially bound), and not of a usage that lets nobody read it.
void test_wrong_views_are_found() {
  for (const VkDescriptorBindingFlags flags : {VkDescriptorBindingFlags{0}, kLate}) {
    Large large(flags);
    if (flags == kLate) {
      CHECK(large.draw_all() == 7 * (kDraws - 1));
    } else {
      auto dropped = large.begin();
      must(large.record(dropped));
    }
    auto line = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = 1, .type = VK_IMAGE_TYPE_1D, .label = "a line"}));
    must(line->ensure_memory());
    must(large.textures->write(
        0, 500, {.view = take(ImageView::create({.image = line, .type = VK_IMAGE_VIEW_TYPE_1D})), .sampler = large.sampler}));
    CHECK(large.draw_all() == 7 * (kDraws - 1));
    auto image = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = 1, .height_px = 1, .usage = VK_IMAGE_USAGE_STORAGE_BIT}));
    must(image->ensure_memory());
    must(large.textures->write(0, 500, {.view = take(ImageView::create({.image = image})), .sampler = large.sampler}));
    auto cb = large.begin();
    Status recorded = large.record(cb);
    if (recorded) must(cb->end_rendering()), must(cb->end());
    refused(recorded ? large.submit(cb) : recorded, "element 500");
    must(large.textures->write(0, 500, {.view = texel(1), .sampler = large.sampler}));
    CHECK(large.draw_all() == 7 * (kDraws - 1));
  }
}

/// What was seen by one pass says nothing of another, whose target it is. The index is no constant: a warning, which names the element.
void test_feedback_is_asked_by_each_pass() {
  Large large(0);
  auto first = large.target, second = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = kWidth_px, .label = "second"}));
  must(second->ensure_memory());
  must(large.textures->write(0, 999, {.view = take(ImageView::create({.image = second})), .sampler = large.sampler}));
  CHECK(large.draw_all() == 7 * (kDraws - 1));
  auto cb = large.begin();  // two passes of one command buffer
  must(large.record(cb));
  must(cb->end_rendering());
  const auto warned = [](const Submission& done, size_t pass) {
    const auto lines = done.warnings(pass);
    return lines.size() == 1 && lines[0].find("element 999) may read color0 of this pass") != std::string::npos;
  };
  RenderingAttachment color;
  color.view = take(ImageView::create({.image = second}));
  color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  must(cb->begin_rendering({.color = {color}, .label = "pass"}));
  must(large.record(cb));
  must(cb->end_rendering()), must(cb->end());
  auto submitted = take(large.device->submit({{cb}, {}}));
  submitted->wait(-1);
  CHECK(submitted->warnings(0).empty() && warned(*submitted, 1));

  // As part of a pass that it does not know.
  auto part = std::make_shared<CommandBuffer>(large.device, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  must(part->begin({.color_formats = {VK_FORMAT_R32_UINT}, .label = "part"}));
  part->bind_pipeline(large.pipeline);
  must(large.record(part));
  must(part->end());
  large.target = first;
  cb = large.begin();
  must(cb->execute_commands({part}));
  must(cb->end_rendering()), must(cb->end());
  CHECK(large.execute(cb)[0] == 7 * (kDraws - 1));
  large.target = second;
  cb = large.begin();
  must(cb->execute_commands({part}));
  must(cb->end_rendering()), must(cb->end());
  submitted = take(large.device->submit({{cb}, {}}));
  submitted->wait(-1);
  CHECK(warned(*submitted, 0));
  CHECK(large.checks() == 1);
}

/// Images of one set with samplers of another.
void test_samplers_of_another_set() {
  Bench bench("layout(set=0, binding=0) uniform utexture2D t[1000]; layout(set=1, binding=0) uniform sampler s;",
              "r = texture(usampler2D(t[x], s), vec2(0.5)).x;",
              {{{.binding = 0, .type = kImage, .count = kCount}}, {{.binding = 0, .type = kSampler}}});
  auto textures = bench.set(0);
  for (uint32_t i = 0; i < kCount; ++i) must(textures->write(0, i, {.view = texel(i + 1), .sampler = {}}));
  for (uint32_t i = 0; i < 4; ++i) {
    auto sampler = bench.set(1);
    must(sampler->write(0, 0, {.sampler = nearest(static_cast<float>(i))}));
    for (uint32_t again = 0; again < 2; ++again) {
      const std::vector<uint32_t> row = bench.draw({textures, sampler});
      for (uint32_t x = 0; x < kWidth_px; ++x) CHECK(row[x] == x + 1);
    }
    CHECK(bench.device->state().large_sets_checked == i + 1);
  }
  // The images change in place, the samplers do not.
  auto fresh = bench.set(0), sampler = bench.set(1);
  for (uint32_t i = 0; i < kCount; ++i) must(fresh->write(0, i, {.view = texel(i), .sampler = {}}));
  must(sampler->write(0, 0, {.sampler = nearest()}));
  const auto record = [&] {
    auto cb = bench.begin();
    cb->bind_descriptor_set(0, fresh), cb->bind_descriptor_set(1, sampler);
    return cb->draw(3, 1, 0, 0);
  };
  must(record());
  auto image = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = 1, .height_px = 1, .usage = VK_IMAGE_USAGE_STORAGE_BIT}));
  must(image->ensure_memory());
  must(fresh->write(0, 500, {.view = take(ImageView::create({.image = image})), .sampler = {}}));
  refused(record(), "element 500");
}

}  // namespace

int main() {
  test_one_check_for_contents();
  test_late_sets_too();
  test_wrong_views_are_found();
  test_feedback_is_asked_by_each_pass();
  test_samplers_of_another_set();
  return tilegpu::test::finish("test_large_sets");
}
