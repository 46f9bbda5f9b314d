// tests/test_feedback.cpp -- passes that write a level of an image whose other levels their shaders read: what the samplers can reach
// counts, immutable ones and those of other sets too, also of sets that are updated after they were bound.
//
// In: an image of two levels, of which level 1 is the target. Out: level 0's texels in it, with a warning or without; or an error.
// Source: Vulkan specification, "Render Pass Feedback Loop", "LOD Operation and Image Level(s) Selection".
#include <functional>

#include "descriptor_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

const char* const kReads = "reads color0 of this pass, image 'film' (level 1, layer 0)";
const char* const kMayRead =
    "may read color0 of this pass, image 'film' (level 1, layer 0), which its load_op clear writes: its view has other";
const std::string kBody = "r = textureLod(t, vec2((float(x) + 0.5) / 16.0, 0.5), 0.0 * gl_FragCoord.w).x;";  // not a constant
const std::string kApart = "r = textureLod(usampler2D(t, s), vec2((float(x) + 0.5) / 16.0, 0.5), 0.0 * gl_FragCoord.w).x;";

Ptr<Sampler> levels(float min_lod, float max_lod) {
  SamplerCreateInfo info;
  info.mag_filter = info.min_filter = VK_FILTER_NEAREST, info.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
  info.min_lod = min_lod, info.max_lod = max_lod;
  return take(Sampler::create(info));
}

/// Level 1 is as wide as the bench's rows.
struct Film {
  Ptr<Image> image =
      take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = 2 * kWidth_px, .height_px = 2, .mip_levels = 2, .label = "film"}));
  Film() {
    must(image->ensure_memory());
    for (uint32_t y = 0; y < 2; ++y)
      for (uint32_t x = 0; x < 2 * kWidth_px; ++x) {
        const uint32_t texel = 100 + x / 2;
        std::memcpy(image->data() + image->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0).row_pitch_B * y + 4 * x, &texel, 4);
      }
  }
  Ptr<ImageView> view(uint32_t base_level, uint32_t level_count) const {
    return take(ImageView::create({.image = image, .base_level = base_level, .level_count = level_count}));
  }
  RenderingInfo rendering() const {
    RenderingAttachment color;
    color.view = view(1, 1), color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    return {.color = {color}, .label = "pass"};
  }
  bool holds_level_0() const {
    const uint8_t* row = image->data() + image->layout(VK_IMAGE_ASPECT_COLOR_BIT, 1, 0).offset_B;
    for (uint32_t x = 0; x < kWidth_px; ++x) {
      uint32_t texel;
      std::memcpy(&texel, row + 4 * x, 4);
      if (texel != 100 + x) return false;
    }
    return true;
  }
};

/// `meanwhile`: between recording and submission.
Expected<Ptr<Submission>> run(
    const Bench& bench, const Film& film, const std::vector<Ptr<DescriptorSet>>& sets, const std::function<void()>& meanwhile = [] {},
    const std::vector<uint32_t>& offsets_B = {}) {
  auto cb = std::make_shared<CommandBuffer>(bench.device);
  must(cb->begin()), must(cb->begin_rendering(film.rendering()));
  cb->bind_pipeline(bench.pipeline);
  for (uint32_t i = 0; i < sets.size(); ++i) cb->bind_descriptor_set(i, sets[i], offsets_B);
  if (Status ok = cb->draw(3, 1, 0, 0); !ok) return ok.error();
  must(cb->end_rendering()), must(cb->end());
  meanwhile();
  auto submitted = bench.device->submit({{cb}, {}});
  if (submitted) (*submitted)->wait(-1);
  return submitted;
}

/// `warned`: it may be read.
void drawn(Expected<Ptr<Submission>> done, const Film& film, bool warned) {
  if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) return;
  CHECK(film.holds_level_0());
  const std::vector<std::string> lines = (*done)->warnings(0);
  CHECK(lines.size() == (warned ? 1 : 0));
  if (warned && !lines.empty()) CHECK_MESSAGE(lines[0].find(kMayRead) != std::string::npos, lines[0]);
}
void not_drawn(const Expected<Ptr<Submission>>& done) { refused(done ? Status(Ok{}) : Status(done.error()), kReads); }

void test_immutable_samplers() {
  struct Case {
    float min_lod, max_lod;
    bool reads_0, reads_1;
  };
  for (const Case& c : {Case{0, 0, true, false}, Case{0, VK_LOD_CLAMP_NONE, true, true}, Case{1, 1, false, true}})
    for (const bool combined : {true, false}) {
      const auto sampler = levels(c.min_lod, c.max_lod);
      const Bench bench = combined
                              ? Bench("layout(set=0, binding=0) uniform usampler2D t;", kBody,
                                      {{{.binding = 0, .type = kTexture, .immutable_samplers = {sampler}}}}, 8, 1, 0, nullptr)
                              : Bench("layout(set=0, binding=0) uniform utexture2D t; layout(set=0, binding=1) uniform sampler s;", kApart,
                                      {{{.binding = 0, .type = kImage}, {.binding = 1, .type = kSampler, .immutable_samplers = {sampler}}}},
                                      8, 1, 0, nullptr);
      const Film film;
      auto set = take(bench.device->create_descriptor_set(bench.layout->sets[0], 0));
      must(set->write(0, 0, {.view = film.view(0, 2), .sampler = {}}));
      const auto done = run(bench, film, {set});
      c.reads_0 ? drawn(done, film, c.reads_1) : not_drawn(done);
    }
}

/// An image of one set meets the samplers of another: what any of them can reach.
void test_samplers_of_another_set() {
  const Bench bench("layout(set=0, binding=0) uniform utexture2D t; layout(set=1, binding=0) uniform sampler s[2];",
                    "r = textureLod(usampler2D(t, s[x / 16]), vec2((float(x) + 0.5) / 16.0, 0.5), 0.0).x;",
                    {{{.binding = 0, .type = kImage}}, {{.binding = 0, .type = kSampler, .count = 2}}}, 8, 1, 0, nullptr);
  const Film film;
  const auto make = [&](uint32_t number) { return take(bench.device->create_descriptor_set(bench.layout->sets[number], 0)); };
  auto image = make(0);
  must(image->write(0, 0, {.view = film.view(0, 2), .sampler = {}}));
  const auto with = [&](Ptr<Sampler> first, Ptr<Sampler> second) {
    auto samplers = make(1);
    must(samplers->write(0, 0, {.sampler = std::move(first)})), must(samplers->write(0, 1, {.sampler = std::move(second)}));
    return run(bench, film, {image, samplers});
  };
  drawn(with(levels(0, 0), levels(0, 0.25f)), film, false);
  drawn(with(levels(0, 0), levels(1, 1)), film, true);
  not_drawn(with(levels(1, 1), levels(1, 9)));
}

/// Of a set that is written after the draw was recorded, what it holds then.
void test_late_sets() {
  const Bench bench("layout(set=0, binding=0) uniform usampler2D t;", kBody, {{{.binding = 0, .type = kTexture, .flags = kLate}}}, 8, 1, 0,
                    nullptr);
  const Film film;
  auto set = take(bench.device->create_descriptor_set(bench.layout->sets[0], 0));
  const auto write = [&](uint32_t base_level, uint32_t level_count) {
    must(set->write(0, 0, {.view = film.view(base_level, level_count), .sampler = levels(0, VK_LOD_CLAMP_NONE)}));
  };
  write(1, 1);
  drawn(run(bench, film, {set}, [&] { write(0, 2); }), film, true);
  drawn(run(bench, film, {set}, [&] { write(0, 1); }), film, false);
  not_drawn(run(bench, film, {set}, [&] { write(1, 1); }));
}

/// Buffers on the target: code that always runs reads it, or one that may, or one that never does, which names no element either.
void test_conditions_of_buffers() {
  struct Case {
    const char* body;
    const char* said;  // null: nothing
    bool refused;
  };
  const char* const kDoubt = ": under a condition; if it does, the values are undefined";
  for (const Case& c : {Case{"r = v[0];", kReads, true}, Case{"for (int i = 0; i < 2; i++) r += v[i];", kReads, true},
                        Case{"atomicAdd(v[0], 1u);", kReads, true}, Case{"uint w = v.length(); r = w;", kDoubt, false},
                        Case{"if (x > 99) r = v[0];", kDoubt, false}, Case{"if (x > 99) discard; r = v[0];", kDoubt, false},
                        Case{"if (x > 99) v[0] = 5u;", kDoubt, false}, Case{"if (false) r = v[0];", nullptr, false}})
    for (const VkDescriptorType type : {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC}) {
      const Bench bench("layout(set=0, binding=0) buffer B { uint v[]; };", c.body, {{{.binding = 0, .type = type}}});
      const Film film;
      const auto level = film.image->layout(VK_IMAGE_ASPECT_COLOR_BIT, 1, 0);
      auto rows = take(Buffer::create({.size_B = level.offset_B + 4 * kWidth_px, .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT}));
      must(rows->bind(film.image->memory(), 0));
      auto set = take(bench.device->create_descriptor_set(bench.layout->sets[0], 0));
      must(set->write(0, 0, of(rows, level.offset_B, 4 * kWidth_px)));
      const bool dynamic = type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
      auto done = run(bench, film, {set}, [] {}, std::vector<uint32_t>(dynamic));
      if (c.refused) {
        not_drawn(done);
        continue;
      }
      if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) continue;
      const std::vector<std::string> lines = (*done)->warnings(0);
      CHECK_MESSAGE(lines.size() == (c.said ? 1 : 0), c.body);
      if (c.said && !lines.empty()) CHECK_MESSAGE(lines[0].ends_with(c.said), lines[0]);
    }
}

/// The parts of a suspended pass: each reads, and both are one pass.
void test_parts_of_one_pass() {
  const Bench bench("layout(set=0, binding=0) uniform usampler2D t;", kBody, {{{.binding = 0, .type = kTexture}}}, 8, 1, 0, nullptr);
  for (const bool all : {true, false}) {
    const Film film;
    auto set = take(bench.device->create_descriptor_set(bench.layout->sets[0], 0));
    must(set->write(0, 0, {.view = all ? film.view(0, 2) : film.view(1, 1), .sampler = levels(0, VK_LOD_CLAMP_NONE)}));
    auto cb = std::make_shared<CommandBuffer>(bench.device);
    RenderingInfo info = film.rendering();
    must(cb->begin());
    for (const VkRenderingFlags flags : {VK_RENDERING_SUSPENDING_BIT, VK_RENDERING_RESUMING_BIT}) {
      info.flags = flags;
      must(cb->begin_rendering(info));
      cb->bind_pipeline(bench.pipeline), cb->bind_descriptor_set(0, set);
      const Status ok = cb->draw(3, 1, 0, 0);
      all ? must(ok) : refused(ok, kReads);
      if (!ok) break;
      must(cb->end_rendering());
    }
    if (!all) continue;
    must(cb->end());
    auto submitted = bench.device->submit({{cb}, {}});
    if (submitted) (*submitted)->wait(-1);
    drawn(submitted, film, true);
  }
}

/// What a device that tolerates it comes to, and what the pipeline may announce: each fragment reads what was there before the pass, or at
/// the last barrier, where the pass is split and says so. What is read as a buffer stays refused.
void test_loops() {
  constexpr const char* kSquare = "r = texelFetch(t, ivec2(x, 0), 0).x * 3u + 1u;";
  const Film film;
  for (const bool announced : {true, false}) {
    std::vector<std::string> told;
    Bench bench("layout(set=0, binding=0) uniform usampler2D t;", kSquare, {{{.binding = 0, .type = kTexture}}}, 8, 2, 0,
                [&](const std::string& text) { told.push_back(text); });
    if (announced) {
      GraphicsPipelineCreateInfo info = bench.pipeline->info();
      info.feedback_loops = VK_IMAGE_ASPECT_COLOR_BIT;
      bench.pipeline = take(bench.device->create_pipeline(info));
    }
    auto set = take(bench.device->create_descriptor_set(bench.layout->sets[0], 0));
    must(set->write(0, 0, {.view = film.view(1, 1), .sampler = levels(0, 0)}));
    auto cb = std::make_shared<CommandBuffer>(bench.device);
    must(cb->begin()), must(cb->begin_rendering(film.rendering()));
    cb->bind_pipeline(bench.pipeline), cb->bind_descriptor_set(0, set);
    for (int i = 0; i < 3; ++i) cb->pipeline_barrier(), must(cb->draw(3, 1, 0, 0));
    must(cb->end_rendering()), must(cb->end());
    auto done = take(bench.device->submit({{cb}, {}}));
    done->wait(-1);
    CHECK(done->pass_count() == 4 && done->pass_label(0) == "pass" && done->pass_label(3) == "pass (behind a barrier)");
    CHECK(done->lint(0).empty());
    const std::string expected =
        "pipeline 'p' reads what was drawn before a barrier, so that the pass goes on here: the part before stored all "
        "that it had, and this one loads it, 64 B; an input attachment is read in the tile";
    if (CHECK(done->lint(1).size() == 1)) CHECK_MESSAGE(done->lint(1)[0] == expected, done->lint(1)[0]);
    CHECK(told.empty() == announced);
    if (!announced && !told.empty()) CHECK_MESSAGE(told[0].find(kReads) != std::string::npos, told[0]);
    const uint8_t* row = film.image->data() + film.image->layout(VK_IMAGE_ASPECT_COLOR_BIT, 1, 0).offset_B;
    for (uint32_t x = 0; x < kWidth_px; ++x) {
      uint32_t texel;
      std::memcpy(&texel, row + 4 * x, 4);
      CHECK(texel == 13);  // of 0: 1, 4, 13
    }
  }
}

}  // namespace

int main() {
  test_loops();
  test_immutable_samplers();
  test_samplers_of_another_set();
  test_late_sets();
  test_conditions_of_buffers();
  test_parts_of_one_pass();
  return tilegpu::test::finish("test_feedback");
}
