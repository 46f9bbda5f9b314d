// tests/test_descriptor_attack.cpp -- random sets against a model: what every draw sees, whatever is written, pushed, copied and freed
// between recordings, submitted from two threads, in parts of one pass, in secondary command buffers, and from a file.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

#include "capture/file.hpp"
#include "check.hpp"
#include "tilegpu/capture.hpp"
#include "tilegpu/device.hpp"

using namespace tilegpu;

namespace {

constexpr uint32_t kWidth_px = 16, kRows = 12;
constexpr VkDescriptorBindingFlags kPartial = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT,
                                   kLate = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
constexpr uint32_t kUniforms = 3, kStorages = 2, kDynamics = 2, kTextures = 4, kImages = 3, kSamplers = 2, kLateTextures = 2;

template <class T>
T take(Expected<T> value) {
  if (!CHECK_MESSAGE(value, value ? "" : value.error().message)) std::abort();
  return std::move(*value);
}
void must(const Status& status) { CHECK_MESSAGE(status, status ? "" : status.error().message); }

struct Random {
  std::mt19937 engine;
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine() % n); }
};

/// Four words, in a buffer that nobody else names.
Ptr<Buffer> buffer(const std::array<uint32_t, 4>& words) {
  auto made = take(Buffer::create({16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, "b"}));
  must(made->bind(take(DeviceMemory::allocate(16)), 0));
  std::memcpy(made->data(), words.data(), 16);
  return made;
}
Ptr<ImageView> texel(uint32_t value) {
  auto image = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = 1, .label = "texel"}));
  must(image->ensure_memory());
  std::memcpy(image->data(), &value, 4);
  return take(ImageView::create({.image = image}));
}
Ptr<Sampler> sampler(uint32_t kind) {
  SamplerCreateInfo info;
  info.mag_filter = info.min_filter = VK_FILTER_NEAREST, info.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
  info.min_lod = static_cast<float>(kind) * 0.125f;
  return take(Sampler::create(info));
}

const char* kDeclarations = R"(#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set=0, binding=0) uniform U { uint a; } u[3];
layout(set=0, binding=1) readonly buffer S { uint v[]; } s[2];
layout(set=0, binding=2) uniform D { uint d; } d[2];
layout(set=0, binding=3) uniform usampler2D t[4];
layout(set=0, binding=4) uniform utexture2D i[3];
layout(set=0, binding=5) uniform sampler m[2];
layout(set=0, binding=6) uniform C { uvec4 c; };
layout(set=1, binding=0) uniform V { uint late; };
layout(set=1, binding=1) uniform usampler2D l[2];
layout(set=2, binding=0) uniform P { uint pushed; };
layout(set=2, binding=1) readonly buffer Q { uint q[]; };
layout(push_constant) uniform N { uint n; };
uint r;
void mix_in(uint v) { r = r * 31u + v; }
)";
const char* kFragment = R"(layout(location=0) flat in uint of_vertex; layout(location=0) out uint o;
void main() {
  uint x = uint(gl_FragCoord.x);
  r = of_vertex;
  mix_in(u[nonuniformEXT(x % 3u)].a);
  mix_in(u[n].a);
  mix_in(s[n & 1u].v[x & 7u]);
  mix_in(s[nonuniformEXT(x & 1u)].v[0] + uint(s[n & 1u].v.length()));
  mix_in(d[0].d);
  mix_in(d[nonuniformEXT(x)].d);
  mix_in(texture(t[nonuniformEXT(x & 3u)], vec2(0.5)).x);
  mix_in(textureLod(usampler2D(i[nonuniformEXT(x % 3u)], m[nonuniformEXT(x & 1u)]), vec2(0.5), 0.0).x);
  mix_in(textureLod(usampler2D(i[n], m[n & 1u]), vec2(0.5), 0.0).x);
  mix_in(c.x + c.w);
  mix_in(late);
  mix_in(texelFetch(l[n & 1u], ivec2(0), 0).x);
  mix_in(pushed);
  mix_in(q[x & 1u]);
  o = r;
}
)";
const char* kVertex = R"(layout(location=0) flat out uint of_vertex;
void main() {
  r = 0u;
  mix_in(u[n].a);
  mix_in(d[1].d);
  mix_in(textureLod(t[nonuniformEXT(gl_VertexIndex * 0 + int(n & 3u))], vec2(0.5), 0.0).x);
  mix_in(textureLod(usampler2D(i[n], m[1]), vec2(0.5), 0.0).x);
  mix_in(c.y + late + pushed);
  mix_in(q[0] + uint(textureSize(l[1], 0).x));
  of_vertex = r;
  gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1);
}
)";

/// A buffer as its descriptor names it; no words: null.
struct Words {
  std::array<uint32_t, 4> all{};
  uint32_t offset_B = 0, range_B = 0;
  uint32_t at(uint32_t word, uint32_t dynamic_B = 0) const {
    const uint64_t from = uint64_t{offset_B} + dynamic_B + 4 * uint64_t{word}, begin = uint64_t{offset_B} + dynamic_B;
    return 4 * uint64_t{word} + 4 <= range_B && begin < 16 && from + 4 <= 16 ? all[from / 4] : 0;
  }
  uint32_t length() const { return range_B / 4; }
};

struct Texture {
  uint32_t value = 0;
};

/// What sets hold, in plain values.
struct Model {
  Words u[kUniforms], s[kStorages], d[kDynamics];
  uint32_t t[kTextures] = {}, i[kImages] = {};
  bool m[kSamplers] = {};
  std::array<uint32_t, 4> c{};
  uint32_t dynamic_B[kDynamics] = {};
  Words pushed, q;
};
struct LateModel {
  Words v;
  uint32_t l[kLateTextures] = {};
};

uint32_t expected(const Model& o, const LateModel& late, uint32_t n, uint32_t x) {
  uint32_t r = 0;
  const auto mix_in = [&](uint32_t v) { r = r * 31 + v; };
  const auto image = [&](uint32_t i, uint32_t m) { return o.m[m] ? o.i[i] : 0; };
  const uint32_t n3 = std::min(n, kUniforms - 1);
  mix_in(o.u[n3].at(0));
  mix_in(o.d[1].at(0, o.dynamic_B[1]));
  mix_in(o.t[n & 3]);
  mix_in(image(n3, 1));
  mix_in(o.c[1] + late.v.at(0) + o.pushed.at(0));
  mix_in(o.q.at(0) + (late.l[1] ? 1 : 0));
  mix_in(o.u[x % 3].at(0));
  mix_in(o.u[n3].at(0));
  mix_in(o.s[n & 1].at(x & 7));
  mix_in(o.s[x & 1].at(0) + o.s[n & 1].length());
  mix_in(o.d[0].at(0, o.dynamic_B[0]));
  const uint32_t k = std::min(x, kDynamics - 1);
  mix_in(o.d[k].at(0, o.dynamic_B[k]));
  mix_in(o.t[x & 3]);
  mix_in(image(x % 3, x & 1));
  mix_in(image(n3, n & 1));
  mix_in(o.c[0] + o.c[3]);
  mix_in(late.v.at(0));
  mix_in(late.l[n & 1]);
  mix_in(o.pushed.at(0));
  mix_in(o.q.at(x & 1));
  return r;
}

struct Bench {
  Ptr<Device> device;
  Ptr<Pipeline> pipeline;
  Ptr<const PipelineLayout> layout;

  Bench(uint32_t lanes, uint32_t threads, const char* profile) {
    device = take(Device::create(
        {.profile = profile, .threads = threads, .lanes = lanes, .cache_dir = "off", .tolerate = [](const std::string&) {}}));
    auto all = std::make_shared<PipelineLayout>();
    all->sets.push_back(take(DescriptorSetLayout::create(
        {{.binding = 0, .type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, .count = kUniforms, .flags = kPartial},
         {.binding = 1, .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .count = kStorages, .flags = kPartial},
         {.binding = 2, .type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, .count = kDynamics, .flags = kPartial},
         {.binding = 3, .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .count = kTextures, .flags = kPartial},
         {.binding = 4, .type = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, .count = kImages, .flags = kPartial},
         {.binding = 5, .type = VK_DESCRIPTOR_TYPE_SAMPLER, .count = kSamplers, .flags = kPartial},
         {.binding = 6, .type = VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, .count = 16, .flags = kPartial}})));
    all->sets.push_back(take(DescriptorSetLayout::create(
        {{.binding = 0, .type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, .flags = kPartial | kLate},
         {.binding = 1, .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .count = kLateTextures, .flags = kPartial | kLate}})));
    all->sets.push_back(take(DescriptorSetLayout::create({{.binding = 0, .type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, .flags = kPartial},
                                                          {.binding = 1, .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .flags = kPartial}},
                                                         VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR)));
    all->push_constants_B = 4;
    layout = all;
    GraphicsPipelineCreateInfo info;
    const auto module = [](const std::string& text, VkShaderStageFlagBits stage) {
      return take(ShaderModule::create(take(compile_glsl({text, "test", stage, {}, {}})), "test"));
    };
    info.stages = {{module(std::string(kDeclarations) + kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}},
                   {module(std::string(kDeclarations) + kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
    info.color_formats = {VK_FORMAT_R32_UINT};
    info.layout = layout;
    info.label = "p";
    pipeline = take(device->create_pipeline(info));
  }
};

/// The sets of a thread that records, and what they hold.
struct Sets {
  Bench& bench;
  Random& random;
  Ptr<DescriptorSet> set, spare;
  Model model, spare_model;  // of the spare: what copies may bring

  Sets(Bench& of, Random& numbers) : bench(of), random(numbers) {
    set = take(bench.device->create_descriptor_set(bench.layout->sets[0]));
    spare = take(bench.device->create_descriptor_set(bench.layout->sets[0]));
  }
  std::array<uint32_t, 4> words() {
    std::array<uint32_t, 4> w;
    for (uint32_t& word : w) word = random.below(1000000);
    return w;
  }
  /// The buffer's own reference is let go of at once. A range of 0 bytes, and what begins at the buffer's end, are there too.
  Descriptor of_words(Words& model_words) {
    if (random.below(4) == 0) {
      model_words = {};
      return {};
    }
    model_words.all = words();
    model_words.offset_B = 4 * random.below(5);
    model_words.range_B = 4 * random.below((16 - model_words.offset_B) / 4 + 1);
    Descriptor d{buffer(model_words.all), model_words.offset_B, model_words.range_B, {}, {}};
    if (random.below(3) == 0) d.range_B = VK_WHOLE_SIZE, model_words.range_B = 16 - model_words.offset_B;
    return d;
  }
  Descriptor of_texture(uint32_t& value, bool with_sampler) {
    value = random.below(4) ? 1 + random.below(1000000) : 0;
    Descriptor d;
    if (value) d.view = texel(value);
    if (with_sampler && (value || random.below(2))) d.sampler = sampler(random.below(3));
    return d;
  }
  void write_one() {
    uint32_t e;
    switch (random.below(9)) {
      case 0:
        e = random.below(kUniforms), must(set->write(0, e, of_words(model.u[e])));
        break;
      case 1:
        e = random.below(kStorages), must(set->write(1, e, of_words(model.s[e])));
        break;
      case 2:
        e = random.below(kDynamics), must(set->write(2, e, of_words(model.d[e])));
        break;
      case 3:
        e = random.below(kTextures), must(set->write(3, e, of_texture(model.t[e], true)));
        break;
      case 4:
        e = random.below(kImages), must(set->write(4, e, of_texture(model.i[e], false)));
        break;
      case 5:
        e = random.below(kSamplers), must(set->write(5, e, {.sampler = sampler(random.below(5))})), model.m[e] = true;
        break;
      case 6: {
        const auto w = words();
        const uint32_t first = random.below(4), count = random.below(5 - first);
        for (uint32_t k = first; k < first + count; ++k) model.c[k] = w[k];
        must(set->write_inline(6, 4 * first, w.data() + first, 4 * count));
        break;
      }
      case 7:  // a copy from the other set, which was this one before
        must(set->copy(*spare, 0, 0, 0, 1, 2)), model.u[1] = spare_model.u[0], model.u[2] = spare_model.u[1];
        must(set->copy(*spare, 3, 1, 3, 0, 3));
        for (uint32_t k = 0; k < 3; ++k) model.t[k] = spare_model.t[k + 1];
        must(set->copy(*set, 4, 0, 4, 1, 2));  // of itself: what it held before
        model.i[2] = model.i[1], model.i[1] = model.i[0];
        must(set->copy(*spare, 6, 4, 6, 8, 8)), model.c[2] = spare_model.c[1], model.c[3] = spare_model.c[2];
        break;
      default:
        std::swap(set, spare), std::swap(model.u, spare_model.u), std::swap(model.s, spare_model.s), std::swap(model.d, spare_model.d);
        std::swap(model.t, spare_model.t), std::swap(model.i, spare_model.i), std::swap(model.m, spare_model.m);
        std::swap(model.c, spare_model.c);
    }
  }
  /// Also what is bound and pushed for the next draw.
  void bind(CommandBuffer& cb) {
    constexpr uint32_t kOffsets_B[] = {0, 4, 8, 12, 16, 64, 0x7ffffffc, 0x80000000, 0xfffffff0, 0xfffffffc};
    for (uint32_t& offset_B : model.dynamic_B) offset_B = kOffsets_B[random.below(std::size(kOffsets_B))];
    cb.bind_descriptor_set(0, set, {model.dynamic_B, model.dynamic_B + kDynamics});
    if (random.below(2)) must(cb.push_descriptor(bench.layout, 2, 0, 0, of_words(model.pushed)));
    if (random.below(2)) must(cb.push_descriptor(bench.layout, 2, 1, 0, of_words(model.q)));
  }
};

struct Recorded {
  Ptr<Image> target;
  std::vector<Ptr<CommandBuffer>> buffers;  // to be submitted together
  struct Draw {
    Model model;
    uint32_t n = 0;
  };
  std::vector<Draw> draws;  // one a row

  uint32_t wrong(const LateModel& late, const uint8_t* pixels) const {
    uint32_t count = 0;
    for (uint32_t y = 0; y < draws.size(); ++y)
      for (uint32_t x = 0; x < kWidth_px; ++x) {
        uint32_t found;
        std::memcpy(&found, pixels + target->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0).row_pitch_B * y + 4 * x, 4);
        count += found != expected(draws[y].model, late, draws[y].n, x);
      }
    return count;
  }
};

enum class Way { plain, parts, secondary };

/// Rows [first, end) of draws into an open pass, with writes between them.
void record_rows(Recorded& r, Sets& sets, const Ptr<DescriptorSet>& late, CommandBuffer& cb, uint32_t first, uint32_t end) {
  cb.bind_pipeline(sets.bench.pipeline);
  cb.bind_descriptor_set(1, late);
  sets.model.pushed = sets.model.q = {};
  must(cb.push_descriptor(sets.bench.layout, 2, 0, 0, {}));
  must(cb.push_descriptor(sets.bench.layout, 2, 1, 0, {}));
  for (uint32_t y = first; y < end; ++y) {
    for (uint32_t k = sets.random.below(6); k > 0; --k) sets.write_one();
    sets.bind(cb);
    const uint32_t kIndices[] = {0, 1, 2, 3, 77, 0x7fffffff};
    const uint32_t n = kIndices[sets.random.below(6)];
    must(cb.push_constants(0, &n, 4));
    cb.set_scissor({{0, static_cast<int32_t>(y)}, {kWidth_px, 1}});
    must(cb.draw(3, 1, 0, 0));
    r.draws.push_back({sets.model, n});
  }
}

Recorded record(Sets& sets, const Ptr<DescriptorSet>& late, Way way) {
  Bench& bench = sets.bench;
  Recorded r;
  r.target = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = kWidth_px, .height_px = kRows, .label = "target"}));
  must(r.target->ensure_memory());
  RenderingAttachment color;
  color.view = take(ImageView::create({.image = r.target}));
  color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  const auto begin = [&](VkRenderingFlags flags) {
    auto cb = std::make_shared<CommandBuffer>(bench.device);
    must(cb->begin());
    RenderingInfo info{.color = {color}, .label = "pass"};
    info.flags = flags;
    must(cb->begin_rendering(info));
    r.buffers.push_back(cb);
    return cb;
  };
  const auto end = [](const Ptr<CommandBuffer>& cb) { must(cb->end_rendering()), must(cb->end()); };
  if (way == Way::plain) {
    auto cb = begin(0);
    record_rows(r, sets, late, *cb, 0, kRows);
    end(cb);
  } else if (way == Way::parts) {
    for (uint32_t part = 0; part < 3; ++part) {
      VkRenderingFlags flags = 0;
      if (part > 0) flags |= VK_RENDERING_RESUMING_BIT;
      if (part < 2) flags |= VK_RENDERING_SUSPENDING_BIT;
      auto cb = begin(flags);
      record_rows(r, sets, late, *cb, kRows / 3 * part, kRows / 3 * (part + 1));
      end(cb);
    }
  } else {
    auto inner = std::make_shared<CommandBuffer>(bench.device, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    must(inner->begin({.color_formats = {VK_FORMAT_R32_UINT}, .label = "part"}));
    record_rows(r, sets, late, *inner, 0, kRows / 2);
    must(inner->end());
    auto cb = begin(0);
    must(cb->execute_commands({inner}));
    inner.reset();
    record_rows(r, sets, late, *cb, kRows / 2, kRows);
    end(cb);
  }
  return r;
}

void replay(const Bench& bench, const Recorded& r, const LateModel& late, uint32_t lanes) {
  const std::string path = "test_descriptor_attack.tgcap";
  must(save_capture(bench.device, r.buffers, path));
  auto other = take(Device::create({.threads = 2, .lanes = lanes, .cache_dir = "off", .tolerate = [](const std::string&) {}}));
  auto capture = load_capture(other, path);
  std::remove(path.c_str());
  if (!CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) return;
  auto done = other->submit_and_wait({.command_buffers = capture->command_buffers}, {});
  if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) return;
  CHECK(r.wrong(late, capture->pictures[0]->image()->data()) == 0);
}

// Every word of a file may be another: an error, or something that could be drawn.
void attack_files(const Bench& bench, const Recorded& r, Random& random) {
  const std::string path = "test_descriptor_attack.tgcap";
  must(save_capture(bench.device, r.buffers, path));
  const capture::File file = take(capture::read_file(path));
  uint32_t refused = 0;
  for (uint32_t round = 0; round < 120; ++round) {
    std::vector<uint8_t> payload = file.payload;
    for (uint32_t k = 1 + random.below(3); k > 0; --k) {
      const uint32_t values[] = {0, 1, 2, 7, 0x7fffffff, 0xffffffff, random.below(1u << 31)};
      std::memcpy(&payload[random.below(static_cast<uint32_t>(payload.size() / 4)) * 4], &values[random.below(7)], 4);
    }
    must(capture::write_file(path, file.profile, payload));
    refused += !load_capture(bench.device, path);  // what is not is not run: it may draw for hours
  }
  std::remove(path.c_str());
  CHECK_MESSAGE(refused > 20 && refused < 120, std::to_string(refused));
}

void attack(uint32_t seed, uint32_t lanes, const char* profile) {
  Bench bench(lanes, 2, profile);
  Random random{std::mt19937(seed)};
  auto late = take(bench.device->create_descriptor_set(bench.layout->sets[1]));
  LateModel late_model;
  std::vector<Recorded> all;
  {
    Sets sets(bench, random);
    for (uint32_t k = 0; k < 9; ++k) {
      all.push_back(record(sets, late, static_cast<Way>(k % 3)));
      for (uint32_t w = 0; w < 5; ++w) sets.write_one();
    }
    const auto write_late = [&] {
      must(late->write(0, 0, sets.of_words(late_model.v)));
      for (uint32_t e = 0; e < kLateTextures; ++e) must(late->write(1, e, sets.of_texture(late_model.l[e], true)));
    };
    for (uint32_t round = 0; round < 3; ++round) {
      write_late();
      // Two threads submit, a third records and writes to the same sets.
      std::atomic<uint32_t> wrong{0}, next{0};
      const auto submit = [&] {
        for (uint32_t k = next++; k < all.size(); k = next++) {
          auto done = bench.device->submit_and_wait({.command_buffers = all[k].buffers}, {});
          wrong += done ? all[k].wrong(late_model, all[k].target->data()) : 1000;
        }
      };
      std::thread first(submit), second(submit);
      Recorded more = record(sets, late, Way::plain);
      first.join(), second.join();
      CHECK_MESSAGE(wrong == 0, "seed " + std::to_string(seed) + ": " + std::to_string(wrong));
      all.push_back(std::move(more));
    }
  }
  // The sets of the recordings are gone.
  for (size_t k = 0; k < 3; ++k) replay(bench, all[k], late_model, lanes == 8 ? 16 : 8);
  if (lanes == 8) attack_files(bench, all[seed % 3], random);
}

}  // namespace

int main() {
  uint32_t seed = 1;
  for (uint32_t lanes : {4u, 8u, 16u}) attack(seed++, lanes, "host");
  attack(seed++, 8, "immortalis-g925");  // defers vertices
  return tilegpu::test::finish("test_descriptor_attack");
}
