// tests/test_recordings_at_once.cpp -- one recording submitted many times at once, called from two primaries, captured, replayed by another
// process: each submission has inputs of its own and copies all that it made to a buffer of its own; each is compared.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "check.hpp"
#include "tilegpu/capture.hpp"
#include "tilegpu/event.hpp"
#include "tilegpu/long_work.hpp"

using namespace tilegpu;

namespace {

// From a seed: an indirect draw, and the corners of triangles that cross each other.
const char* kCompute = R"(#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Params { uint seed; };
layout(set = 0, binding = 1) buffer Work { uint draw[4]; vec4 corners[]; };
void main() {
  uint i = gl_GlobalInvocationID.x, h = (i + 1) * 2654435761u ^ seed * 40503u;
  h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
  corners[i] = vec4(vec3(h & 1023, h >> 10 & 1023, h >> 20 & 1023) / vec3(512, 512, 1024) - vec3(1, 1, 0), 1);
  if (i < 4) draw[i] = uint[](60, 1 + seed % 3, 0, 0)[i];
})";
const char* kVertex = R"(#version 450
layout(location = 0) in vec4 corner;
layout(push_constant) uniform Push { float turn; };
layout(location = 0) out vec2 v_uv;
void main() {
  gl_Position = vec4(corner.xy + vec2(turn + 0.3 * gl_InstanceIndex, -turn), corner.zw);
  v_uv = corner.yz;
})";
const char* kFragment = R"(#version 450
layout(set = 0, binding = 0) uniform Params { uint seed; };
layout(set = 0, binding = 1) uniform sampler2D image;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(texture(image, v_uv).rgb, 0.3 + float(seed % 7) / 16); })";

constexpr uint32_t kWidth_px = 120, kHeight_px = 90, kPixels_B = kWidth_px * kHeight_px * 4;
constexpr uint32_t kCorners = 96, kWork_B = 16 + kCorners * 16, kCopy_B = 2 * kPixels_B + kWork_B;
constexpr uint32_t kSeeds = 6, kRounds = 12;
using Bytes = std::vector<uint8_t>;  // of one execution: colours, depth, what the dispatch wrote

template <class T>
T take(Expected<T> result) {
  if (!result) std::fprintf(stderr, "%s\n", result.error().message.c_str()), std::abort();
  return std::move(*result);
}
bool must(const Status& status) { return CHECK_MESSAGE(status, status ? "" : status.error().message); }

Ptr<ShaderModule> module(const char* text, VkShaderStageFlagBits stage) {
  return take(ShaderModule::create(take(compile_glsl({text, "test.glsl", stage, {}, {}})), "test"));
}
Ptr<Buffer> buffer(uint64_t size_B, const char* label) {
  auto made = take(Buffer::create({.size_B = size_B, .label = label}));
  must(made->bind(take(DeviceMemory::allocate(size_B)), 0));
  return made;
}
Ptr<Image> image(VkFormat format, uint32_t width_px, uint32_t height_px, VkImageUsageFlags usage) {
  auto made = take(Image::create({.format = format, .width_px = width_px, .height_px = height_px, .usage = usage, .label = "image"}));
  must(made->ensure_memory());
  return made;
}

struct Target {
  Ptr<Image> color = image(VK_FORMAT_R8G8B8A8_UNORM, kWidth_px, kHeight_px, 0);
  Ptr<Image> depth =
      image(VK_FORMAT_D32_SFLOAT, kWidth_px, kHeight_px, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
};

struct Scene {
  Ptr<Device> device;
  Ptr<Pipeline> pipeline;
  Ptr<ComputePipeline> compute;
  Ptr<Buffer> params = buffer(16, "params"), work = buffer(kWork_B, "work");
  Ptr<Image> texels = image(VK_FORMAT_R8G8B8A8_UNORM, 8, 8, 0);
  Ptr<DescriptorSet> set, compute_set;
  Ptr<CommandBuffer> dispatches, draws;  // secondary: outside of passes, inside
  Target targets[2];
  Ptr<CommandBuffer> primaries[2];  // to each target, and both call both

  explicit Scene(const DeviceCreateInfo& info) : device(take(Device::create(info))) {
    for (uint32_t i = 0; i < 256; i++) texels->data()[i] = static_cast<uint8_t>(i * 37 + i / 5);
    make_pipelines();
    make_sets();
    dispatches = std::make_shared<CommandBuffer>(device, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    must(dispatches->begin());
    dispatches->bind_pipeline(compute);
    dispatches->bind_descriptor_set(0, compute_set, {}, VK_PIPELINE_BIND_POINT_COMPUTE);
    must(dispatches->dispatch(kCorners / 32, 1, 1));
    must(dispatches->end());
    draws = std::make_shared<CommandBuffer>(device, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    must(draws->begin({.color_formats = {VK_FORMAT_R8G8B8A8_UNORM}, .depth_format = VK_FORMAT_D32_SFLOAT, .label = "part"}));
    bind(*draws, 0.0f);
    must(draws->draw_indirect(work, 0, 1, 16));
    must(draws->end());
    for (int t = 0; t < 2; t++) primaries[t] = primary(targets[t]);
  }

  void make_pipelines() {
    GraphicsPipelineCreateInfo info;
    info.stages = {{module(kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}}, {module(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
    info.vertex_bindings = {{0, 16, VK_VERTEX_INPUT_RATE_VERTEX}};
    info.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}};
    info.depth_stencil.depth_test = info.depth_stencil.depth_write = true;
    info.depth_stencil.depth_compare = VK_COMPARE_OP_LESS;
    info.blend.attachments = {{VK_TRUE, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_OP_ADD,
                               VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD, 0xf}};
    info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
    info.depth_format = VK_FORMAT_D32_SFLOAT;
    info.label = "triangles";
    pipeline = take(device->create_pipeline(info));
    compute =
        take(device->create_pipeline(ComputePipelineCreateInfo{{module(kCompute, VK_SHADER_STAGE_COMPUTE_BIT), {}}, nullptr, "corners"}));
  }
  void make_sets() {
    set = take(device->create_descriptor_set(pipeline->info().layout->sets[0]));
    must(set->write(0, 0, {.buffer = params}));
    must(set->write(1, 0, {.view = take(ImageView::create({.image = texels})), .sampler = take(Sampler::create({}))}));
    compute_set = take(device->create_descriptor_set(compute->info().layout->sets[0]));
    must(compute_set->write(0, 0, {.buffer = params}));
    must(compute_set->write(1, 0, {.buffer = work}));
  }
  void bind(CommandBuffer& cb, float turn) const {
    cb.bind_pipeline(pipeline);
    cb.bind_vertex_buffer(0, work, 16);
    cb.bind_descriptor_set(0, set);
    must(cb.push_constants(0, &turn, 4));
    cb.set_scissor({{0, 0}, {kWidth_px, kHeight_px}});
  }
  Ptr<CommandBuffer> primary(const Target& target) const {
    RenderingInfo info{.render_area = {{0, 0}, {kWidth_px, kHeight_px}}, .color = {{}}, .label = "main"};
    for (RenderingAttachment* a : {&info.color[0], &info.depth}) a->load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    info.color[0].view = take(ImageView::create({.image = target.color}));
    info.depth.view = take(ImageView::create({.image = target.depth}));
    info.color[0].clear.color = {{0.2f, 0.4f, 0.6f, 1.0f}};
    info.depth.clear.depthStencil.depth = 1;
    auto cb = std::make_shared<CommandBuffer>(device);
    must(cb->begin());
    must(cb->execute_commands({dispatches}));
    must(cb->begin_rendering(info));
    must(cb->execute_commands({draws}));
    bind(*cb, 0.1f);
    must(cb->draw(9, 1, 60, 0));
    must(cb->end_rendering());
    must(cb->end());
    return cb;
  }

  Ptr<CommandBuffer> seed(uint32_t value) const {
    auto cb = std::make_shared<CommandBuffer>(device);
    must(cb->begin());
    must(cb->update_buffer(params, 0, {reinterpret_cast<const uint8_t*>(&value), 4}));
    must(cb->end());
    return cb;
  }
  // All that an execution made, into `to`.
  Ptr<CommandBuffer> copy(const Target& target, const Ptr<Buffer>& to) const {
    auto cb = std::make_shared<CommandBuffer>(device);
    must(cb->begin());
    VkBufferImageCopy2 region{};
    region.imageExtent = {kWidth_px, kHeight_px, 1};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    must(cb->copy_image_to_buffer(target.color, to, {&region, 1}));
    region.imageSubresource.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT;
    region.bufferOffset = kPixels_B;
    must(cb->copy_image_to_buffer(target.depth, to, {&region, 1}));
    VkBufferCopy2 words{};
    words.dstOffset = 2 * kPixels_B, words.size = kWork_B;
    must(cb->copy_buffer(work, to, {&words, 1}));
    must(cb->end());
    return cb;
  }
};

// One seed after the other, on a device where nothing happens at once.
std::vector<Bytes> right_ones() {
  const Scene s({.threads = 1, .lanes = 4, .cache_dir = "off"});
  std::vector<Bytes> right;
  for (uint32_t i = 0; i < kSeeds; i++) {
    const Ptr<Buffer> to = buffer(kCopy_B, "copy");
    take(s.device->submit_and_wait({{s.seed(i), s.primaries[0], s.copy(s.targets[0], to)}, {}}, {}));
    right.emplace_back(to->data(), to->data() + kCopy_B);
    const float clear = 1;
    const uint8_t* depth = right.back().data() + kPixels_B;
    bool drawn = false;
    for (uint32_t p = 0; p < kPixels_B; p += 4) drawn |= std::memcmp(depth + p, &clear, 4) != 0;
    CHECK(drawn);
    for (uint32_t k = 0; k < i; k++)  // each part tells the seeds apart
      for (uint32_t part = 0; part < 3; part++) {
        const auto from = right[k].begin() + part * kPixels_B, end = part < 2 ? from + kPixels_B : right[k].end();
        CHECK(!std::equal(from, end, right[i].begin() + part * kPixels_B), "seeds %u and %u, part %u", k, i, part);
      }
  }
  return right;
}

// Two threads, each with both primaries and all seeds, nobody waiting for anybody before the end; some submissions hold a recording twice.
void at_once(const Scene& s, const std::vector<Bytes>& right) {
  const auto recordings = {s.dispatches->recording(), s.draws->recording(), s.primaries[0]->recording(), s.primaries[1]->recording()};
  struct Own {
    uint32_t seed;
    Ptr<Buffer> copy;
  };
  std::vector<Own> own[2];
  std::atomic<int> ready = 0, refused = 0, miscounted = 0;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 2; t++)
    threads.emplace_back([&, t] {
      std::vector<std::pair<Ptr<Submission>, size_t>> queued;
      for (ready++; ready < 2;) std::this_thread::yield();
      for (uint32_t i = 0; i < kRounds; i++) {
        SubmitInfo info;
        const uint32_t times = 1 + (i + t) % 2;
        for (uint32_t k = 0; k < times; k++) {
          const uint32_t target = (i / 2 + t) & 1;
          own[t].push_back({(i * 5 + t * 3 + k) % kSeeds, buffer(kCopy_B, "copy")});
          for (Ptr<CommandBuffer> cb : {s.seed(own[t].back().seed), s.primaries[target], s.copy(s.targets[target], own[t].back().copy)})
            info.command_buffers.push_back(std::move(cb));
        }
        auto submitted = s.device->submit(std::move(info));
        if (submitted)
          queued.emplace_back(*submitted, times);
        else
          refused++;
      }
      for (const auto& [submission, times] : queued) {
        submission->wait(-1);
        miscounted += submission->error() || submission->pass_count() != times || submission->dispatch_count() != times;
        for (size_t pass = 0; pass < submission->pass_count(); pass++) miscounted += submission->pass_stats(pass).draws != 2;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 0 && miscounted == 0);
  CHECK(std::ranges::equal(recordings, std::initializer_list{s.dispatches->recording(), s.draws->recording(), s.primaries[0]->recording(),
                                                             s.primaries[1]->recording()}));
  for (uint32_t t = 0; t < 2; t++)
    for (size_t i = 0; i < own[t].size(); i++) {
      const Own& one = own[t][i];
      CHECK(!std::memcmp(one.copy->data(), right[one.seed].data(), kCopy_B), "thread %u, execution %zu, seed %u", t, i, one.seed);
    }
}

// Another process: executes a capture, and writes its picture and what its dispatch wrote.
int replay(const char* path, const char* out) {
  const auto device = take(Device::create({.threads = 1, .lanes = 4, .cache_dir = "off"}));
  const Capture capture = take(load_capture(device, path));
  take(device->submit_and_wait({capture.command_buffers, {}}, {}));
  if (!CHECK(capture.pictures.size() == 1 && capture.buffers.size() == 1 && capture.buffers[0]->size_B() == kWork_B)) return 1;
  std::ofstream file(out, std::ios::binary);
  const Image& picture = *capture.pictures[0]->image();
  const SubresourceLayout layout = picture.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
  for (uint32_t y = 0; y < kHeight_px; y++)
    file.write(reinterpret_cast<const char*>(picture.data() + layout.offset_B + y * layout.row_pitch_B), kWidth_px * 4);
  file.write(reinterpret_cast<const char*>(capture.buffers[0]->data()), kWork_B);
  return file.flush() ? 0 : 1;
}

void captured(const Scene& s, const std::vector<Bytes>& right, const std::string& program) {
  const std::string path = "test_recordings_at_once.tgcap", picture = path + ".rgba";
  for (uint32_t t = 0; t < 2; t++) {
    const uint32_t seed = 4 + t;  // not the one that memory has been left with
    take(s.device->submit_and_wait({{s.seed(t), s.primaries[t]}, {}}, {}));
    must(save_capture(s.device, {s.seed(seed), s.primaries[t]}, path));
    CHECK(std::system((TILEGPU_EMULATOR " '" + program + "' replay " + path + " " + picture).c_str()) == 0);
    std::ifstream file(picture, std::ios::binary);
    const Bytes made{std::istreambuf_iterator<char>(file), {}};
    if (CHECK(made.size() == kPixels_B + kWork_B)) {
      CHECK(!std::memcmp(made.data(), right[seed].data(), kPixels_B));
      CHECK(!std::memcmp(made.data() + kPixels_B, right[seed].data() + 2 * kPixels_B, kWork_B));
    }
    std::remove(path.c_str()), std::remove(picture.c_str());
  }
}

// A submission that is cancelled ends, and nobody else's; the device's cancel() means those that there are, not what comes later.
void cancelled() {
  const Ptr<Device> device = take(Device::create({.threads = 1, .cache_dir = "off"}));
  const auto event = std::make_shared<Event>(), open = std::make_shared<Event>();
  open->set();
  const auto waits = std::make_shared<CommandBuffer>(device), ends = std::make_shared<CommandBuffer>(device);
  must(waits->begin()), must(waits->wait_events({event})), must(waits->end());
  must(ends->begin()), must(ends->wait_events({open})), must(ends->end());
  const auto submit = [&](const Ptr<CommandBuffer>& commands) { return take(device->submit({{commands}, {}})); };
  for (const bool whole : {false, true}) {
    const Ptr<Submission> first = submit(waits), second = submit(ends);
    if (whole)
      device->cancel();
    else
      first->cancel();
    const Ptr<Submission> third = submit(ends);
    CHECK(first->wait(20'000) && first->error() && first->error()->code == VK_ERROR_DEVICE_LOST);
    CHECK(second->wait(20'000) && (second->error() != nullptr) == whole);
    CHECK(third->wait(20'000) && !third->error());
  }
  bool asked = false;
  const auto goes_on = [&] { return !(asked = true); };
  CHECK(!device->submit_and_wait({{waits}, {}}, goes_on) && asked);
  take(device->submit_and_wait({{ends}, {}}, {}));
}

std::atomic<int> long_works{0};

// The front end's calls are made around the first draw with a state, and around nothing else that is recorded.
void long_work() {
  set_long_work({[]() -> void* { return &long_works; }, [](void* held) { long_works += held == &long_works; }});
  for (const char* profile : {"host", "immortalis-g925"}) {
    const Scene s({.profile = profile, .threads = 2, .cache_dir = "off"});
    CHECK(long_works.exchange(0) > 0);
    for (const Target& target : s.targets) (void)s.primary(target);
    CHECK(long_works == 0);
  }
  set_long_work({});
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && std::string(arguments[1]) == "replay") return replay(arguments[2], arguments[3]);
  const std::vector<Bytes> right = right_ones();
  for (const char* profile : {"host", "immortalis-g925"}) {
    const Scene s({.profile = profile, .threads = 2, .cache_dir = "off"});
    at_once(s, right);
    captured(s, right, arguments[0]);
  }
  cancelled();
  long_work();
  return test::finish("test_recordings_at_once");
}
