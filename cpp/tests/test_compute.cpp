// tests/test_compute.cpp -- dispatches as commands: what they find bound, bases, indirect ones, captures, limits; equal words.
#include <cstring>
#include <numeric>

#include <unistd.h>

#include "check.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;

namespace {

// Each workgroup adds up its part by halves, through shared memory; then every invocation writes who it was and the sum.
const char* kSum = R"(#version 450
layout(local_size_x_id = 0) in;
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { uint values[]; };
layout(set = 0, binding = 1) buffer Out { uvec2 sums[]; };
layout(push_constant) uniform Push { uint factor; };
shared uint part[1024];
void halve(uint step, uint i) {
  barrier();
  if (i < step) part[i] += part[i + step];
}
void main() {
  uint i = gl_LocalInvocationIndex, n = gl_WorkGroupSize.x;
  part[i] = values[gl_GlobalInvocationID.x] * factor;
  for (uint step = n / 2; step > 0; step /= 2) halve(step, i);
  barrier();
  sums[gl_GlobalInvocationID.x] = uvec2(gl_WorkGroupID.x * 65536 + gl_NumWorkGroups.x, part[0]);
})";

bool says(const Status& status, const char* part) {
  return CHECK(!status) && CHECK_MESSAGE(status.error().message.find(part) != std::string::npos, status.error().message);
}

struct Setup {
  Ptr<Device> device;
  Ptr<ComputePipeline> pipeline;
  Ptr<Buffer> in, out, indirect;
  Ptr<DescriptorSet> set;
  static constexpr uint32_t kCount = 4096;

  explicit Setup(uint32_t lanes = 0, uint32_t threads = 0, uint32_t size = 256) {
    DeviceCreateInfo info;
    info.lanes = lanes, info.threads = threads, info.cache_dir = "off";
    device = *Device::create(info);
    auto made = pipeline_of(kSum, {{0, size}});
    if (!CHECK_MESSAGE(made, made ? "" : made.error().message)) return;
    pipeline = *made;
    in = buffer(kCount * 4), out = buffer(kCount * 8), indirect = buffer(64);
    std::iota(words(*in), words(*in) + kCount, 1u);
    set = *device->create_descriptor_set(pipeline->info().layout->sets[0]);
    CHECK(set->write(0, 0, {.buffer = in}));
    CHECK(set->write(1, 0, {.buffer = out}));
  }
  Expected<Ptr<ComputePipeline>> pipeline_of(const char* text, std::vector<std::pair<uint32_t, uint64_t>> constants = {}) const {
    auto words = compile_glsl({text, "test.comp", VK_SHADER_STAGE_COMPUTE_BIT, {}, {}});
    if (!words) return words.error();
    auto module = ShaderModule::create(*words, "test");
    if (!module) return module.error();
    return device->create_pipeline(ComputePipelineCreateInfo{{*module, std::move(constants)}, nullptr, "p"});
  }
  static uint32_t* words(const Buffer& b) { return reinterpret_cast<uint32_t*>(b.data()); }
  static Ptr<Buffer> buffer(uint64_t size_B) {
    constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                          VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
    Ptr<Buffer> b = *Buffer::create({.size_B = size_B, .usage = kUsage, .label = "b"});
    CHECK(b->bind(*DeviceMemory::allocate(size_B), 0));
    return b;
  }
  void bind(CommandBuffer& cb, uint32_t factor) const {
    cb.bind_pipeline(pipeline);
    cb.bind_descriptor_set(0, set, {}, VK_PIPELINE_BIND_POINT_COMPUTE);
    CHECK(cb.push_constants(0, &factor, 4));
  }
  template <class Record>
  Expected<Ptr<Submission>> run(Record record) const {
    auto cb = std::make_shared<CommandBuffer>(device);
    CHECK(cb->begin());
    record(*cb);
    Status ended = cb->end();
    if (!CHECK_MESSAGE(ended, ended ? "" : ended.error().message)) return ended.error();
    return device->submit_and_wait({{cb}, {}}, {});
  }
  /// Of groups [first, end) of `size` invocations.
  void check_sums(uint32_t size, uint32_t first, uint32_t end, uint32_t groups, uint32_t factor) const {
    for (uint32_t g = first; g < end; g++) {
      uint32_t sum = 0;
      for (uint32_t i = 0; i < size; i++) sum += (g * size + i + 1) * factor;
      for (uint32_t i = 0; i < size; i++) {
        const uint32_t* at = words(*out) + 2 * (g * size + i);
        if (!CHECK_MESSAGE(at[0] == g * 65536 + groups && at[1] == sum, "group " + std::to_string(g) + " invocation " + std::to_string(i) +
                                                                            ": " + std::to_string(at[0]) + ", " + std::to_string(at[1]) +
                                                                            " for " + std::to_string(sum)))
          return;
      }
    }
  }
};

void every_width_and_thread_count() {
  for (uint32_t lanes : {4u, 8u, 16u})
    for (uint32_t threads : {1u, 2u})
      for (uint32_t size : {1u, 16u, 64u, 1024u}) {
        const Setup s(lanes, threads, size);
        if (!s.pipeline) return;
        CHECK((s.pipeline->workgroup_size() == std::array{size, 1u, 1u}));
        auto done = s.run([&](CommandBuffer& cb) {
          s.bind(cb, 3);
          CHECK(cb.dispatch(Setup::kCount / size, 1, 1));
        });
        if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) return;
        s.check_sums(size, 0, Setup::kCount / size, Setup::kCount / size, 3);
        const DispatchStats& stats = (*done)->dispatch_stats(0);
        CHECK((*done)->dispatch_count() == 1 && (*done)->dispatch_label(0) == "p" && stats.invocations == Setup::kCount);
        CHECK(stats.shared_memory_B == 4096 && (stats.waiting_memory_B > 0) == (size > stats.lanes));
      }
}

void bases_and_indirect() {
  const Setup s;
  auto done = s.run([&](CommandBuffer& cb) {
    s.bind(cb, 1);
    CHECK(cb.dispatch_base(2, 0, 0, 3, 1, 1));
  });
  CHECK(done);
  s.check_sums(256, 2, 5, 3, 1);
  CHECK(Setup::words(*s.out)[0] == 0 && Setup::words(*s.out)[2 * 256 * 5] == 0);

  const uint32_t groups[3] = {7, 1, 1}, many[3] = {70000, 1, 1};
  std::memcpy(Setup::words(*s.indirect) + 1, groups, sizeof groups);
  const auto from_4 = [&](CommandBuffer& cb) {
    s.bind(cb, 5);
    CHECK(cb.dispatch_indirect(s.indirect, 4));
  };
  done = s.run(from_4);
  CHECK(done && (*done)->dispatch_stats(0).workgroups[0] == 7);
  s.check_sums(256, 0, 7, 7, 5);
  std::memcpy(Setup::words(*s.indirect) + 1, many, sizeof many);
  done = s.run(from_4);
  CHECK(!done && done.error().message.find("asks for 70000 workgroups in x") != std::string::npos);
  // A dispatch sees what one before it wrote to the indirect buffer.
  std::memcpy(Setup::words(*s.indirect) + 1, groups, sizeof groups);
  done = s.run([&](CommandBuffer& cb) {
    s.bind(cb, 2);
    CHECK(cb.fill_buffer(s.indirect, 4, 4, 16));
    CHECK(cb.dispatch_indirect(s.indirect, 4));
  });
  CHECK(done);
  s.check_sums(256, 0, 16, 16, 2);
}

void errors_come_when_it_is_recorded() {
  const Setup s;
  CommandBuffer cb(s.device);
  says(cb.dispatch(1, 1, 1), "dispatch: the command buffer's state is initial");
  CHECK(cb.begin());
  says(cb.dispatch(1, 1, 1), "dispatch without a compute pipeline");
  cb.bind_pipeline(s.pipeline);
  says(cb.dispatch(1, 1, 1), "'In' (set 0, binding 0) is used by the shader, but nothing is bound there");
  cb.bind_descriptor_set(0, s.set);  // of draws
  says(cb.dispatch(1, 1, 1), "nothing is bound there");
  s.bind(cb, 1);
  says(cb.dispatch(65536, 1, 1), "the workgroups in x end at 65536; at most 65535");
  says(cb.dispatch_base(0, 0, 65535, 1, 1, 1), "the workgroups in z end at 65536");
  says(cb.dispatch_indirect(s.indirect, 56), "ends behind buffer 'b', which has 64 bytes");
  says(cb.dispatch_indirect(s.indirect, 2), "multiple of 4");
  says(cb.dispatch_indirect(nullptr, 0), "null");
  CHECK(cb.dispatch(0, 1, 1));
  const auto refused = [&](const char* text, std::vector<std::pair<uint32_t, uint64_t>> constants, const char* part) {
    auto made = s.pipeline_of(text, std::move(constants));
    CHECK(!made && CHECK_MESSAGE(made.error().message.find(part) != std::string::npos, made.error().message));
  };
  refused(kSum, {{0, 1025}}, "the workgroup's size is 1025 x 1 x 1; each side has at least 1 and at most 1024");
  refused(kSum, {{0, 0}}, "the workgroup's size is 0 x 1 x 1");
  refused("#version 450\nlayout(local_size_x = 64, local_size_y = 64) in; void main() {}", {}, "4096 invocations; at most 1024");
  refused("#version 450\nlayout(local_size_x = 1) in; shared uint a[16385]; void main() { a[gl_WorkGroupID.x] = 1; }", {},
          "shared variables take 65600 bytes; at most 65536");
}

void captures_have_dispatches() {
  const Setup s;
  auto cb = std::make_shared<CommandBuffer>(s.device);
  CHECK(cb->begin());
  s.bind(*cb, 3);
  CHECK(cb->dispatch_base(1, 0, 0, 4, 1, 1));
  CHECK(cb->fill_buffer(s.indirect, 0, 12, 1));
  CHECK(cb->dispatch_indirect(s.indirect, 0));
  Setup::words(*s.indirect)[8] = 0;
  for (const bool inverted : {false, true}) {
    CHECK(cb->begin_conditional_rendering({s.indirect, 32}, inverted));
    CHECK(cb->dispatch(2, 1, 1));
    CHECK(cb->end_conditional_rendering());
  }
  CHECK(cb->end());
  const std::string path = "/tmp/tilegpu_test_compute_" + std::to_string(getpid()) + ".tgc";
  Status saved = save_capture(s.device, {cb}, path);
  CHECK_MESSAGE(saved, saved ? "" : saved.error().message);
  auto loaded = load_capture(s.device, path);
  if (!CHECK_MESSAGE(loaded, loaded ? "" : loaded.error().message)) return;
  const std::string again = path + "2";
  CHECK(save_capture(s.device, loaded->command_buffers, again));
  const auto bytes = [](const std::string& file) {
    std::string all;
    if (FILE* f = std::fopen(file.c_str(), "rb")) {
      char block[4096];
      for (size_t n = 0; (n = std::fread(block, 1, sizeof block, f)) > 0;) all.append(block, n);
      std::fclose(f);
    }
    return all;
  };
  CHECK(bytes(path) == bytes(again) && bytes(path).size() > 1000);
  auto done = s.device->submit_and_wait({loaded->command_buffers, {}}, {});
  CHECK(done && (*done)->dispatch_count() == 4 && (*done)->dispatch_stats(0).workgroups[0] == 4);
  CHECK(done && (*done)->dispatch_stats(1).invocations == 256);
  CHECK(done && (*done)->dispatch_stats(2).invocations == 0 && (*done)->dispatch_stats(3).invocations == 512);
  std::remove(path.c_str()), std::remove(again.c_str());
}

// What a mutable descriptor may be and is comes back: the same sums, and another capture of the same bytes.
void captures_have_mutable_descriptors() {
  const Setup s;
  DescriptorBinding mutables{0, VK_DESCRIPTOR_TYPE_MUTABLE_EXT, 2, VK_SHADER_STAGE_COMPUTE_BIT};
  mutables.mutable_types = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
  auto layout = DescriptorSetLayout::create({mutables, {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT}});
  if (!CHECK_MESSAGE(layout, layout ? "" : layout.error().message)) return;
  auto of_pipeline = std::make_shared<PipelineLayout>();
  of_pipeline->sets = {*layout}, of_pipeline->push_constants_B = 4;
  auto words = compile_glsl({kSum, "test.comp", VK_SHADER_STAGE_COMPUTE_BIT, {}, {}});
  auto pipeline =
      s.device->create_pipeline(ComputePipelineCreateInfo{{*ShaderModule::create(*words, "test"), {{0, 256}}}, of_pipeline, "p"});
  if (!CHECK_MESSAGE(pipeline, pipeline ? "" : pipeline.error().message)) return;
  const auto set = *s.device->create_descriptor_set(*layout);
  CHECK(set->write(0, 0, {.buffer = s.in, .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}));
  CHECK(set->write(1, 0, {.buffer = s.out}));
  auto cb = std::make_shared<CommandBuffer>(s.device);
  CHECK(cb->begin());
  cb->bind_pipeline(*pipeline);
  cb->bind_descriptor_set(0, set, {}, VK_PIPELINE_BIND_POINT_COMPUTE);
  const uint32_t factor = 3;
  CHECK(cb->push_constants(0, &factor, 4) && cb->dispatch(4, 1, 1) && cb->end());
  const std::string path = "/tmp/tilegpu_test_compute_" + std::to_string(getpid()) + ".tgc";
  CHECK(save_capture(s.device, {cb}, path));
  auto loaded = load_capture(s.device, path);
  std::remove(path.c_str());
  if (!CHECK_MESSAGE(loaded, loaded ? "" : loaded.error().message)) return;
  CHECK(s.device->submit_and_wait({loaded->command_buffers, {}}, {}));
  if (!CHECK(loaded->buffers.size() == 1)) return;
  CHECK(s.device->submit_and_wait({{cb}, {}}, {}));
  s.check_sums(256, 0, 4, 4, 3);
  CHECK(!std::memcmp(loaded->buffers[0]->data(), s.out->data(), size_t{4} * 256 * 8));
}

// Barriers that not all invocations reach, loops without an end, indices far outside: none hangs, crashes or writes elsewhere.
void hostile_shaders() {
  const Setup s(0, 2);
  const auto run = [&](const char* text, uint32_t groups) -> Expected<Ptr<Submission>> {
    auto pipeline = s.pipeline_of(text);
    if (!CHECK_MESSAGE(pipeline, pipeline ? "" : pipeline.error().message)) return pipeline.error();
    Ptr<DescriptorSet> set = *s.device->create_descriptor_set((*pipeline)->info().layout->sets[0]);
    CHECK(set->write(0, 0, {.buffer = s.out}));
    return s.run([&](CommandBuffer& cb) {
      cb.bind_pipeline(*pipeline);
      cb.bind_descriptor_set(0, set, {}, VK_PIPELINE_BIND_POINT_COMPUTE);
      CHECK(cb.dispatch(groups, 1, 1));
    });
  };
  const std::string head = "#version 450\nlayout(local_size_x = 128) in; layout(binding = 0) buffer B { uint b[]; };\n";
  CHECK(run((head + "void main() { uint i = gl_LocalInvocationIndex; if (i % 3 == 0) barrier(); for (uint k = 0; k < i; k++) barrier();"
                    " b[i] = i; }")
                .c_str(),
            3));
  CHECK(Setup::words(*s.out)[127] == 127);
  auto endless = run((head + "void main() { while (b[0] != 12345u) b[1] = b[1] + 1u; }").c_str(), 65535);
  CHECK(!endless && CHECK_MESSAGE(endless.error().message.find("its loops went round more than 67108864 times") != std::string::npos,
                                  endless.error().message));
  std::vector<uint32_t> before(Setup::words(*s.in), Setup::words(*s.in) + Setup::kCount);
  CHECK(run((head + "shared uint a[100]; void main() { uint i = gl_GlobalInvocationID.x; a[i * 77777u] = i; a[-int(i)] = i; barrier();"
                    " b[i * 65536u + 0xfffffff0u] = a[i << 20]; b[i * 0x40000001u] += a[0x80000000u + i]; atomicAdd(a[i * 4097u], 1u);"
                    " atomicAdd(b[i * 123457u], 1u); }")
                .c_str(),
            64));
  CHECK(std::memcmp(before.data(), Setup::words(*s.in), before.size() * 4) == 0);
}

}  // namespace

int main() {
  every_width_and_thread_count();
  bases_and_indirect();
  errors_come_when_it_is_recorded();
  captures_have_dispatches();
  captures_have_mutable_descriptors();
  hostile_shaders();
  return test::finish("test_compute");
}
