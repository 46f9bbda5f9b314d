// tests/test_out_of_memory.cpp -- the system refuses the n-th allocation of a pass, for every n: an error or the right picture, and the
// device goes on. operator new of this program is the refusing system.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "check.hpp"
#include "descriptor/set_memory.hpp"
#include "tilegpu/device.hpp"

using namespace tilegpu;

#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // new and delete of this file belong together, inlined or not

namespace {

std::atomic<int64_t> allowed{-1};  // allocations until one is refused; negative: no limit

bool refused() {
  if (allowed.load(std::memory_order_relaxed) < 0) return false;
  return allowed.fetch_sub(1, std::memory_order_relaxed) == 0;
}
void* take(size_t size_B, size_t align_B) {
  if (refused()) return nullptr;
  const size_t rounded_B = (std::max<size_t>(size_B, 1) + align_B - 1) / align_B * align_B;
  return align_B > 16 ? std::aligned_alloc(align_B, rounded_B) : std::malloc(rounded_B);
}

}  // namespace

void* operator new(size_t size_B) {
  void* memory = take(size_B, 16);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size_B) { return ::operator new(size_B); }
void* operator new(size_t size_B, std::align_val_t align) {
  void* memory = take(size_B, static_cast<size_t>(align));
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size_B, std::align_val_t align) { return ::operator new(size_B, align); }
void* operator new(size_t size_B, std::align_val_t align, const std::nothrow_t&) noexcept {
  return take(size_B, static_cast<size_t>(align));
}
void* operator new(size_t size_B, const std::nothrow_t&) noexcept { return take(size_B, 16); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

const char* kVertex = R"(#version 450
layout(location = 0) out vec3 v_color;
void main() {
  float a = float(gl_VertexIndex) * 2.3999632, r = float(gl_VertexIndex % 97) / 90.0;
  gl_Position = vec4(r * fract(a) * 2.0 - 1.0, r * fract(a * 1.7) * 2.0 - 1.0, fract(a * 0.3), 1.0);
  v_color = vec3(fract(a), r, 0.5);
})";
const char* kFragment = R"(#version 450
layout(location = 0) in vec3 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 0.5); })";

constexpr uint32_t kWidth_px = 200, kHeight_px = 130;

Ptr<ShaderModule> module(const char* text, VkShaderStageFlagBits stage) {
  auto words = compile_glsl({text, "test.glsl", stage, {}, {}});
  return *ShaderModule::create(*words, "test");
}

Ptr<ImageView> target(VkFormat format, VkImageUsageFlags usage) {
  auto image = Image::create({.format = format, .width_px = kWidth_px, .height_px = kHeight_px, .usage = usage, .label = "image"});
  CHECK(image && (*image)->ensure_memory());
  return *ImageView::create({.image = *image});
}

struct Scene {
  Ptr<Device> device;
  Ptr<Pipeline> pipeline;
  Ptr<ImageView> color = target(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
  Ptr<ImageView> depth = target(VK_FORMAT_D32_SFLOAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);

  std::vector<uint8_t> pixels() const {
    const SubresourceLayout layout = color->image()->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
    const uint8_t* first = color->image()->data() + layout.offset_B;
    return {first, first + layout.row_pitch_B * kHeight_px};
  }
  void paint(uint8_t value) const {
    const SubresourceLayout layout = color->image()->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
    std::memset(color->image()->data() + layout.offset_B, value, layout.row_pitch_B * kHeight_px);
  }
};

Scene make_scene(uint32_t threads) {
  Scene s;
  s.device = *Device::create({.threads = threads, .lanes = 8, .cache_dir = "off"});
  GraphicsPipelineCreateInfo info;
  info.stages = {{module(kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}}, {module(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
  info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
  info.depth_format = VK_FORMAT_D32_SFLOAT;
  info.depth_stencil.depth_test = info.depth_stencil.depth_write = true;
  info.depth_stencil.depth_compare = VK_COMPARE_OP_LESS;
  info.label = "triangles";
  auto pipeline = s.device->create_pipeline(info);
  if (CHECK_MESSAGE(pipeline, pipeline ? "" : pipeline.error().message)) s.pipeline = *pipeline;
  s.device->wait_compiles();  // the crew takes memory too
  return s;
}

// The error of the submission or of its pass, or an empty message. `grants` allocations are granted from the submission on.
Error draw(const Scene& s, int64_t grants) {
  RenderingAttachment color, depth;
  color.view = s.color, depth.view = s.depth;
  color.load_op = depth.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  color.clear.color = {{0.2f, 0.4f, 0.6f, 1.0f}};
  depth.clear.depthStencil.depth = 1.0f;
  auto cb = std::make_shared<CommandBuffer>(s.device);
  CHECK(cb->begin());
  CHECK(cb->begin_rendering({.color = {color}, .depth = depth, .label = "main"}));
  cb->bind_pipeline(s.pipeline);
  CHECK(cb->draw(3 * 5000, 1, 0, 0));  // two chunks
  CHECK(cb->end_rendering());
  CHECK(cb->end());
  std::vector<Ptr<CommandBuffer>> list = {cb};
  allowed = grants;
  auto submission = s.device->submit({std::move(list), {}});
  if (submission) (*submission)->wait(-1);
  allowed = -1;
  if (!submission) return submission.error();
  const Error* error = (*submission)->error();
  return error ? *error : Error{VK_SUCCESS, ""};
}

void every_refusal_is_an_error(uint32_t threads) {
  const Scene s = make_scene(threads);
  if (!s.pipeline) return;
  s.paint(0x5a);  // what pads the rows stays
  CHECK(draw(s, -1).message.empty());
  const auto right = s.pixels();
  const std::vector<uint8_t> before(right.size(), 0x5a);
  uint32_t named = 0, tiles = 0;
  for (int64_t grants = 0; grants < 20000; grants++) {
    // Another device has no arenas yet; after an error this one has none either.
    s.paint(0x5a);
    const Error error = draw(s, grants);
    const auto now = s.pixels();
    if (error.message.empty()) {
      CHECK(now == right);
      if (grants == 0) continue;  // everything was kept from the pass before
      break;
    }
    CHECK_MESSAGE(error.code == VK_ERROR_OUT_OF_DEVICE_MEMORY || error.code == VK_ERROR_OUT_OF_HOST_MEMORY, error.message);
    CHECK_MESSAGE(error.message.find("refused") != std::string::npos, error.message);
    named += error.message.find("pass 'main': the system refused") != std::string::npos;
    bool stored = false;
    for (size_t i = 0; i < now.size(); i += 4) {
      const bool kept = std::memcmp(&now[i], &before[i], 4) == 0;
      stored = stored || !kept;
      if (!CHECK(kept || std::memcmp(&now[i], &right[i], 4) == 0)) break;
    }
    tiles += stored;
  }
  std::printf("%u threads: %u refusals in the pass, %u of them after a tile was stored\n", threads, named, tiles);
  CHECK(named > 20);
  CHECK(draw(s, -1).message.empty());
  CHECK(s.pixels() == right);
}

// A set that a recording holds goes on with a copy; where there is no memory for that, nor for what it will name, it holds what it held.
void refused_writes_change_nothing() {
  const auto device = *Device::create({.threads = 1, .lanes = 8, .cache_dir = "off"});
  const auto layout = *DescriptorSetLayout::create({{.binding = 0, .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .count = 3},
                                                    {.binding = 1, .type = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE}});
  uint32_t refusals = 0;
  for (uint32_t kind = 0; kind < 3; kind++) {
    const auto set = *device->create_descriptor_set(layout), other = *device->create_descriptor_set(layout);
    const auto texture = [&](float min_lod) -> Descriptor {
      return {{}, 0, 0, target(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_SAMPLED_BIT), *Sampler::create({.min_lod = min_lod})};
    };
    for (uint32_t i = 0; i < 3; i++) CHECK(set->write(0, i, texture(0)) && other->write(0, i, texture(1)));
    const Descriptor made = texture(0.5f);
    bool done = false;
    for (int64_t grants = 0; grants < 1000 && !done; grants++) {
      const auto held = set->memory();
      const uint64_t version = set->version();
      allowed = grants;
      const Status status = kind == 0   ? set->write(0, 1, made)
                            : kind == 1 ? set->write(1, 0, {.view = made.view})
                                        : set->copy(*other, 0, 0, 0, 1, 2);
      allowed = -1;
      done = static_cast<bool>(status);
      if (done) continue;
      refusals++;
      CHECK_MESSAGE(status.error().code == VK_ERROR_OUT_OF_HOST_MEMORY && status.error().message.find("refused") != std::string::npos,
                    status.error().message);
      const auto now = set->memory();
      CHECK(set->version() == version && std::memcmp(now->data(), held->data(), layout->size_B(0)) == 0);
      for (size_t k = 0; k < held->elements.size(); k++)
        CHECK(now->elements[k].view == held->elements[k].view && now->elements[k].sampler == held->elements[k].sampler);
    }
    CHECK(done);
  }
  std::printf("%u refusals of writes to sets\n", refusals);
  CHECK(refusals > 10);
}

// A refusal while commands are recorded is the call's error; the command buffer is begun again, and what it records then is right.
void recording_is_refused_whole() {
  const Scene s = make_scene(1);
  if (!s.pipeline) return;
  CHECK(draw(s, -1).message.empty());
  const auto right = s.pixels();
  RenderingAttachment color, depth;
  color.view = s.color, depth.view = s.depth;
  color.load_op = depth.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  color.clear.color = {{0.2f, 0.4f, 0.6f, 1.0f}};
  depth.clear.depthStencil.depth = 1.0f;
  const RenderingInfo info{.color = {color}, .depth = depth, .label = "main"};
  const auto buffer = *Buffer::create({.size_B = 64, .label = "b"});
  CHECK(buffer->bind(*DeviceMemory::allocate(64), 0));
  const auto queries = std::make_shared<QueryPool>(QueryType::occlusion, 1);
  const auto secondary = std::make_shared<CommandBuffer>(s.device, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  CHECK(secondary->begin() && secondary->fill_buffer(buffer, 0, 64, 1) && secondary->end());
  const auto cb = std::make_shared<CommandBuffer>(s.device);
  const std::vector<Ptr<CommandBuffer>> secondaries = {secondary};
  const std::vector<uint8_t> bytes(64, 2);
  const auto record = [&](CommandBuffer& to) -> Status {
    Status ok = to.begin();
    if (ok) ok = to.update_buffer(buffer, 0, bytes);
    if (ok) ok = to.execute_commands(secondaries);
    if (ok) ok = to.begin_query(queries, 0, true);
    if (ok) ok = to.begin_rendering(info);
    if (ok) ok = to.clear_attachment(0, VK_IMAGE_ASPECT_COLOR_BIT, color.clear, kWholeRenderArea);  // to what it was cleared to
    to.bind_pipeline(s.pipeline);
    if (ok) ok = to.draw(3 * 5000, 1, 0, 0);
    if (ok) ok = to.end_rendering();
    if (ok) ok = to.end_query(queries, 0);
    return ok ? to.end() : ok;
  };
  uint32_t refusals = 0;
  bool done = false;
  for (int64_t grants = 0; grants < 1000 && !done; grants++) {
    allowed = grants;
    const Status status = record(*cb);
    allowed = -1;
    done = static_cast<bool>(status);
    if (done) break;
    refusals++;
    CHECK_MESSAGE(status.error().code == VK_ERROR_OUT_OF_HOST_MEMORY && status.error().message.find("refused") != std::string::npos,
                  status.error().message);
    CHECK(cb->state() != CommandBufferState::executable);
  }
  CHECK(done && refusals > 20);
  std::printf("%u refusals of recorded commands\n", refusals);
  s.paint(0);
  auto submitted = s.device->submit_and_wait({{cb}, {}}, {});
  CHECK_MESSAGE(submitted, submitted ? "" : submitted.error().message);
  CHECK(s.pixels() == right && queries->available[0]);
}

}  // namespace

int main() {
  recording_is_refused_whole();
  refused_writes_change_nothing();
  every_refusal_is_an_error(1);
  every_refusal_is_an_error(3);
  return test::finish("out_of_memory");
}
