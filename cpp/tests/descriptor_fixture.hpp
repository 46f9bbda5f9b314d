// tests/descriptor_fixture.hpp -- a device with a pipeline that reads descriptors, and draws that write what it read, one pixel a result.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::test {

constexpr uint32_t kWidth_px = 16;
constexpr VkDescriptorType kUniform = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, kStorage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                           kTexture = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, kImage = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                           kSampler = VK_DESCRIPTOR_TYPE_SAMPLER, kDynamic = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
constexpr VkDescriptorBindingFlags kPartial = VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT,
                                   kLate = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;

template <class T>
T take(Expected<T> value) {
  if (!CHECK_MESSAGE(value, value ? "" : value.error().message)) std::abort();
  return std::move(*value);
}
inline void must(const Status& status) { CHECK_MESSAGE(status, status ? "" : status.error().message); }
inline void refused(const Status& status, const char* text) {
  if (!CHECK_MESSAGE(!status, std::string("not refused: ") + text)) return;
  CHECK_MESSAGE(status.error().message.find(text) != std::string::npos, status.error().message);
}

inline Ptr<Buffer> buffer(const std::vector<uint32_t>& words) {
  auto made = take(Buffer::create({words.size() * 4, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, "b"}));
  must(made->bind(take(DeviceMemory::allocate(words.size() * 4)), 0));
  std::memcpy(made->data(), words.data(), words.size() * 4);
  return made;
}
inline uint32_t word(const Ptr<Buffer>& of, size_t at) {
  uint32_t w;
  std::memcpy(&w, of->data() + 4 * at, 4);
  return w;
}
inline Descriptor of(Ptr<Buffer> b, uint64_t offset_B = 0, uint64_t range_B = VK_WHOLE_SIZE) {
  return {std::move(b), offset_B, range_B, {}, {}};
}

/// One texel of `value`, as uint.
inline Ptr<ImageView> texel(uint32_t value, uint32_t width_px = 1) {
  auto image = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = width_px, .label = "texel"}));
  must(image->ensure_memory());
  for (uint32_t x = 0; x < width_px; ++x) std::memcpy(image->data() + 4 * x, &value, 4);
  return take(ImageView::create({.image = image}));
}
inline Ptr<Sampler> nearest(float min_lod = 0) {
  SamplerCreateInfo info;
  info.mag_filter = info.min_filter = VK_FILTER_NEAREST, info.mipmap_mode = VK_SAMPLER_MIPMAP_MODE_NEAREST, info.min_lod = min_lod;
  return take(Sampler::create(info));
}

inline Ptr<ShaderModule> module(const std::string& text, VkShaderStageFlagBits stage) {
  return take(ShaderModule::create(take(compile_glsl({"#version 450\n" + text, "test", stage, {}, {}})), "test"));
}

/// A recording within a pass that cleared the target.
inline Ptr<CommandBuffer> begin_pass(const Ptr<Device>& device, const Ptr<Image>& target, const Ptr<Pipeline>& pipeline) {
  auto cb = std::make_shared<CommandBuffer>(device);
  must(cb->begin());
  RenderingAttachment color;
  color.view = take(ImageView::create({.image = target}));
  color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
  must(cb->begin_rendering({.color = {color}, .label = "pass"}));
  cb->bind_pipeline(pipeline);
  return cb;
}

/// Layouts by set number.
using Layouts = std::vector<std::vector<DescriptorBinding>>;

/// A device with a pipeline that writes one uint to each pixel of a row, by `body` of the fragment shader: `r` is the result, `x` the
/// pixel.
struct Bench {
  Ptr<Device> device;
  Ptr<Pipeline> pipeline;
  Ptr<const PipelineLayout> layout;
  Ptr<Image> target;

  Bench(
      const std::string& declarations, const std::string& body, const Layouts& layouts, uint32_t lanes = 8, uint32_t threads = 1,
      VkDescriptorSetLayoutCreateFlags flags = 0, std::function<void(const std::string&)> tolerate = [](const std::string&) {}) {
    // What Vulkan alone forbids goes on: these tests ask what it comes to (test_tolerance.cpp has the rules).
    device = take(Device::create({.threads = threads, .lanes = lanes, .cache_dir = "off", .tolerate = std::move(tolerate)}));
    auto all = std::make_shared<PipelineLayout>();
    for (const auto& bindings : layouts) all->sets.push_back(take(DescriptorSetLayout::create(bindings, flags)));
    all->push_constants_B = 16;
    layout = all;
    pipeline = make(declarations, body);
    target = take(Image::create({.format = VK_FORMAT_R32_UINT, .width_px = kWidth_px, .label = "target"}));
    must(target->ensure_memory());
  }
  Ptr<Pipeline> make(const std::string& declarations, const std::string& body) {
    GraphicsPipelineCreateInfo info;
    const std::string head = declarations + "layout(location=0) out uint r; void main() { int x = int(gl_FragCoord.x); r = 0u; ";
    info.stages = {{module("void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }",
                           VK_SHADER_STAGE_VERTEX_BIT),
                    {}},
                   {module(head + body + "}", VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
    info.color_formats = {VK_FORMAT_R32_UINT};
    info.layout = layout;
    info.label = "p";
    return take(device->create_pipeline(info));
  }
  Ptr<DescriptorSet> set(uint32_t number = 0, uint32_t variable_count = 0) {
    return take(device->create_descriptor_set(layout->sets[number], variable_count));
  }
  Ptr<CommandBuffer> begin() const { return begin_pass(device, target, pipeline); }
  Status submit(const Ptr<CommandBuffer>& cb) {
    auto done = device->submit_and_wait({.command_buffers = {cb}}, {});
    return done ? Status(Ok{}) : Status(done.error());
  }
  std::vector<uint32_t> execute(const Ptr<CommandBuffer>& cb) {
    Status done = submit(cb);
    if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) return std::vector<uint32_t>(kWidth_px, 0xdead);
    std::vector<uint32_t> row(kWidth_px);
    std::memcpy(row.data(), target->data(), 4 * kWidth_px);
    return row;
  }
  std::vector<uint32_t> draw(const std::vector<Ptr<DescriptorSet>>& sets, const std::vector<uint32_t>& offsets_B = {}) {
    auto cb = begin();
    for (uint32_t i = 0; i < sets.size(); ++i) cb->bind_descriptor_set(i, sets[i], i == 0 ? offsets_B : std::vector<uint32_t>{});
    must(cb->draw(3, 1, 0, 0));
    must(cb->end_rendering()), must(cb->end());
    return execute(cb);
  }
};

constexpr uint32_t kAllLanes[] = {4, 8, 16};

}  // namespace tilegpu::test
