// fuzz/fuzz_cache.cpp -- fuzzer: files of the disk cache, as they lie there and as what is behind their authentication.
//
// In: a byte that says which reader, then what it reads: a file as it lies in the folder; an object of machine code behind a good
// authenticator (looked at and placed, never called); which of the fuzzer's own modules, and what of its record is changed, so that cases
// stay what they are when records do not; an entry from another machine. Wrong is: anything but "not there", an error or a value, an entry
// or a record of the fuzzer's own that is not what was stored.
#include <sys/stat.h>

#include <cstdlib>

#include "common/bench.hpp"
#include "shader/jit/code_memory.hpp"
#include "shader/jit/object_cache.hpp"
#include "shader/jit/object_file.hpp"
#include "shader/module/module_record.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

const ObjectCache& cache() {
  static const auto* const made = [] {
    setenv("TILEGPU_CACHE_KEY", (fuzz::scratch_folder() + "/key").c_str(), 1);
    const auto* const c = new ObjectCache(fuzz::scratch_folder() + "/cache");
    if (c->directory().empty()) fuzz::finding("no cache: " + c->why_off());
    return c;
  }();
  return *made;
}
const CacheKey& own_key() {
  static const auto* const key = new CacheKey("fuzzed");
  return *key;
}

/// As anybody who may write there leaves it: nothing of it is to come out.
void read_file(std::string_view bytes) {
  const std::string path = cache().directory() + "/" + own_key().hash.hex();
  fuzz::write_bytes(path, bytes);
  chmod(path.c_str(), 0600);
  std::string object;
  if (cache().load(own_key(), object)) fuzz::finding("a forged entry was taken for a good one");
  if (!cache().export_entry(own_key().hash.hex()).empty()) fuzz::finding("a forged entry was exported");
}

void read_object(std::string_view bytes) {
  if (bytes.empty()) return;
  cache().store(own_key(), std::string(bytes));
  std::string object;
  if (!cache().load(own_key(), object) || object != bytes) fuzz::finding("what was stored is not what is loaded");
  Expected<std::string> foreign = foreign_symbol(object);
  if (!foreign || !foreign->empty()) return;
  CodeMemory memory;
  (void)memory.place(object, "tg_fuzzed");
  add_to_perf_map(object, 0, "tg_fuzzed", "kind");
}

const char* const kModules[] = {R"(#version 450
struct Inner { int a; vec2 b; };
layout(location = 0) in vec4 position;
layout(set = 1, binding = 3) uniform Block { mat4 turn; vec4 rows[3]; Inner inner[2]; };
layout(push_constant) uniform Push { vec2 shift; };
layout(constant_id = 4) const int COUNT = 3;
layout(location = 0) out vec4 v_color;
layout(location = 1) flat out uint v_number;
void main() {
  gl_Position = turn * position + vec4(shift, 0.0, 0.0) + rows[COUNT % 3];
  v_color = rows[1], v_number = uint(inner[1].a) + gl_InstanceIndex;
})",
                                R"(#version 450
layout(location = 0) in vec4 v_color;
layout(location = 1) flat in uint v_number;
layout(set = 0, binding = 0) uniform sampler2D one;
layout(set = 0, binding = 1) uniform texture2D many[4];
layout(set = 0, binding = 5) uniform sampler filters;
layout(set = 2, binding = 0) buffer Data { uint count; vec4 values[]; } data;
layout(constant_id = 7) const bool KEEP = true;
layout(location = 0) out vec4 o_color;
layout(location = 2) out uint o_number;
void main() {
  if (!KEEP && v_color.a < 0.5) discard;
  o_color = texture(one, v_color.xy) + texture(sampler2D(many[v_number & 3u], filters), v_color.zw) + dFdx(v_color);
  o_number = atomicAdd(data.count, 1u);
})",
                                R"(#version 450
layout(local_size_x_id = 1, local_size_y = 2) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D image;
layout(set = 0, binding = 1) uniform samplerBuffer texels;
layout(set = 0, binding = 2) buffer Data { uint data[]; };
shared uint part[64];
void main() {
  part[gl_LocalInvocationIndex] = imageLoad(image, ivec2(gl_GlobalInvocationID.xy)).x;
  barrier();
  data[gl_GlobalInvocationID.x] = part[63u - gl_LocalInvocationIndex] + uint(texelFetch(texels, 3).x);
})"};
constexpr VkShaderStageFlagBits kStages[] = {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_FRAGMENT_BIT, VK_SHADER_STAGE_COMPUTE_BIT};

/// With the facts that pipelines find out.
const std::vector<Ptr<ShaderModule>>& modules() {
  static const auto* const made = [] {
    auto* const all = new std::vector<Ptr<ShaderModule>>;
    for (size_t k = 0; k < std::size(kModules); ++k) all->push_back(fuzz::own_shader(kModules[k], kStages[k]));
    DeviceCreateInfo info;
    info.threads = 1, info.lanes = 4;
    const Ptr<Device> device = fuzz::device(info, fuzz::Code::quick);
    GraphicsPipelineCreateInfo graphics;
    graphics.stages = {{(*all)[0], {{4, 2}}}, {(*all)[1], {}}};
    graphics.vertex_bindings = {{{0, 16, VK_VERTEX_INPUT_RATE_VERTEX}, 1}};
    graphics.vertex_attributes = {{0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0}};
    graphics.color_formats = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_UNDEFINED, VK_FORMAT_R32_UINT};
    for (int k = 0; k < 3; ++k) graphics.blend.attachments.push_back({.colorWriteMask = 15});
    fuzz::take(device->create_pipeline(graphics), "the pipeline of the fuzzer's modules");
    ComputePipelineCreateInfo compute;
    compute.stage = {(*all)[2], {{1, 4}}};
    fuzz::take(device->create_pipeline(compute), "the kernel of the fuzzer's modules");
    return all;
  }();
  return *made;
}

/// Which module, how often its record is changed, where and to what; where the next byte is odd, the record ends early.
void read_changed_record(fuzz::Choices c) {
  const Ptr<ShaderModule>& own = modules()[c.below(static_cast<uint32_t>(std::size(kModules)))];
  std::string record = write_record(own->reflection(), own->facts());
  const std::string written = record;
  const uint32_t changes = c.below(5);
  for (uint32_t k = 0; k < changes; ++k) {
    const size_t at = c.half() % record.size(), width = c.coin() ? 1 : 4;
    const uint32_t value = c.coin() ? c.byte() : c.word();
    std::memcpy(record.data() + at, &value, std::min(width, record.size() - at));
  }
  if (changes && c.coin()) record.resize(c.half() % record.size());
  std::vector<uint32_t> words = own->words();
  const Ptr<ShaderModule> module = fuzz::take(ShaderModule::from_record(std::move(words), "fuzzed", record), "a record");
  if (!changes && (!module || module->reflection() != own->reflection() || write_record(module->reflection(), module->facts()) != written))
    fuzz::finding("a module of its own record is another one");
  if (!module) return;
  // What is written of it again is read again.
  Reflection reflection;
  ModuleFacts facts;
  if (!read_record(write_record(module->reflection(), module->facts()), reflection, facts) || reflection != module->reflection())
    fuzz::finding("a record that is not read as it was written");
  if (module->parse()) (void)module->place_of(1);
}

void read_entry(std::string_view bytes) {
  if (!cache().import_entry(own_key().hash.hex(), std::string(bytes))) return;
  const std::string back = cache().export_entry(own_key().hash.hex());
  if (back != bytes) fuzz::finding("an entry that is exported otherwise than it was imported");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  fuzz::Choices choices(data, size_B);
  switch (choices.byte() % 4) {
    case 0:
      read_file(choices.rest());
      break;
    case 1:
      read_object(choices.rest());
      break;
    case 2:
      read_changed_record(choices);
      break;
    default:
      read_entry(choices.rest());
      break;
  }
  return 0;
}
