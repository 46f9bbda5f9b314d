// tests/test_module_record.cpp -- what the disk cache keeps of a module: the same facts and the same code without parsing, and bytes of
// strangers.
#include <random>

#include "check.hpp"
#include "shader/module/module_record.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

const char* kVertex = R"(#version 450
layout(constant_id = 3) const uint kTurns = 2;
layout(set = 0, binding = 0) uniform Camera { mat4 view; layout(row_major) mat3 turn; vec4 planes[2]; } camera;
layout(location = 0) in vec3 position;
layout(location = 1) in mat2x3 normal;
layout(location = 0) out vec2 uv;
layout(location = 2) flat out uvec3 which;
out float gl_ClipDistance[2];
void main() {
  gl_Position = camera.view * vec4(camera.turn * position, 1.0);
  gl_ClipDistance[0] = dot(camera.planes[0], gl_Position), gl_ClipDistance[1] = 1.0;
  uv = normal[0].xy + normal[1].yz, which = uvec3(gl_InstanceIndex);
  for (uint k = 0; k < kTurns; ++k) uv = uv.yx + position.x;
})";

const char* kFragment = R"(#version 450
layout(constant_id = 7) const bool kDiscard = true;
layout(constant_id = 8) const float kScale = 0.5;
layout(set = 1, binding = 0) uniform sampler2D maps[3];
layout(set = 1, binding = 1) uniform texture2D picture;
layout(set = 1, binding = 2) uniform sampler nearest;
layout(set = 1, binding = 4, std430) buffer Counter { uint count; vec2 seen[]; };
layout(input_attachment_index = 1, set = 2, binding = 0) uniform subpassInput before;
layout(push_constant) uniform Push { layout(offset = 16) vec4 tint; int mode; };
layout(location = 0) centroid in vec2 uv;
layout(location = 2) flat in uvec3 which;
layout(location = 0) out vec4 color;
layout(location = 2) out uvec2 ids;
void main() {
  if (kDiscard && uv.x < kScale) discard;
  atomicAdd(count, 1u);
  seen[which.x & 3u] = uv;
  color = tint * texture(maps[1], uv) + textureLod(sampler2D(picture, nearest), uv, 1.0) + subpassLoad(before) + fwidth(uv).xyxy;
  ids = which.yz + uint(mode);
  gl_FragDepth = uv.y;
})";

std::vector<uint32_t> words_of(const char* text, VkShaderStageFlagBits stage) {
  GlslSource source;
  source.text = text;
  source.stage = stage;
  auto words = compile_glsl(source);
  CHECK_MESSAGE(words, words ? "" : words.error().message);
  return words ? *words : std::vector<uint32_t>{};
}

/// Everything that pipelines ask of a module.
void ask(const ShaderModule& module) {
  const bool fragment = module.reflection().stage == VK_SHADER_STAGE_FRAGMENT_BIT;
  for (const Specialization& specialization : {Specialization{}, Specialization{{3, 5}, {7, 0}}}) {
    CHECK(analyze(module, specialization));
    if (fragment) CHECK(varying_layout(module, specialization));
  }
  CHECK(resource_table(module, {}));
}

std::string record_of(const ShaderModule& module) { return write_record(module.reflection(), module.facts()); }

void test_round_trip() {
  for (const auto& [text, stage] : {std::pair{kVertex, VK_SHADER_STAGE_VERTEX_BIT}, std::pair{kFragment, VK_SHADER_STAGE_FRAGMENT_BIT}}) {
    const std::vector<uint32_t> words = words_of(text, stage);
    auto fresh = ShaderModule::create(words, "test");
    if (!CHECK_MESSAGE(fresh, fresh ? "" : fresh.error().message)) return;
    const std::string bare = record_of(**fresh);
    CHECK(!(*fresh)->facts().grown);
    ask(**fresh);
    CHECK((*fresh)->facts().grown);
    const std::string full = record_of(**fresh);
    CHECK(full.size() > bare.size());

    // From the full record nothing is asked anew; from the bare one all, and the answers are the same.
    for (const std::string& record : {full, bare}) {
      const Ptr<ShaderModule> known = *ShaderModule::from_record(std::vector<uint32_t>(words), "test", record);
      if (!CHECK(known)) return;
      CHECK(known->reflection() == (*fresh)->reflection() && record_of(*known) == record);
      ask(*known);
      CHECK(known->facts().grown == (record == bare));
      CHECK(record_of(*known) == full);
      const ModuleFacts &have = known->facts(), &wanted = (*fresh)->facts();
      CHECK(have.traits == wanted.traits && have.varyings == wanted.varyings && have.resources == wanted.resources);
      CHECK(known->parse() && known->module().words == words);
    }
  }
}

/// The same key, and the same address from the Jit's memory; and machine code from a module that was not parsed before.
void test_same_code() {
  const std::vector<uint32_t> words = words_of(kVertex, VK_SHADER_STAGE_VERTEX_BIT);
  auto fresh = ShaderModule::create(words, "test");
  if (!CHECK(fresh)) return;
  ask(**fresh);
  const std::string record = record_of(**fresh);
  const auto compile = [&](Jit& jit, Ptr<const ShaderModule> module) {
    VertexKey key;
    key.resources = *resource_table(*module, {});
    key.varyings.components = {{0, 0}, {0, 1}};
    key.bindings = {{0, 36, VK_VERTEX_INPUT_RATE_VERTEX}};
    for (uint32_t k = 0; k < 3; ++k) key.attributes.push_back({k, 0, VK_FORMAT_R32G32B32_SFLOAT, 12 * k});
    key.module = std::move(module);
    return compile_vertex(jit, key);
  };
  JitCreateInfo info;
  info.cache_dir = "off";
  auto jit = Jit::create(info), other = Jit::create(info);
  if (!CHECK(jit && other)) return;
  const Ptr<ShaderModule> known = *ShaderModule::from_record(std::vector<uint32_t>(words), "test", record);
  if (!CHECK(known)) return;
  auto first = compile(**jit, *fresh), second = compile(**jit, known), third = compile(**other, known);
  CHECK(first && second && third);
  CHECK(first->identity() == second->identity() && first->identity() != third->identity());
}

void test_broken_records() {
  const std::vector<uint32_t> words = words_of(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT);
  auto fresh = ShaderModule::create(words, "test");
  if (!CHECK(fresh)) return;
  ask(**fresh);
  const std::string record = record_of(**fresh);
  for (size_t size_B = 0; size_B < record.size(); ++size_B)
    CHECK(!*ShaderModule::from_record(std::vector<uint32_t>(words), "cut", record.substr(0, size_B)));
  CHECK(!*ShaderModule::from_record(std::vector<uint32_t>(words), "longer", record + '\0'));
  CHECK(!*ShaderModule::from_record({1, 2, 3, 4, 5}, "no words", record));

  std::mt19937 random(7);
  uint32_t taken = 0;
  for (uint32_t k = 0; k < 20000; ++k) {
    std::string changed = record;
    for (uint32_t n = random() % 4 + 1; n; --n) changed[random() % changed.size()] = static_cast<char>(random());
    const Ptr<ShaderModule> module = *ShaderModule::from_record(std::vector<uint32_t>(words), "changed", changed);
    if (!module) continue;
    ++taken;  // numbers that may have any value
    CHECK(record_of(*module).size() <= record.size() + 64);
  }
  CHECK(taken > 0 && taken < 20000);
}

}  // namespace

int main() {
  test_round_trip();
  test_same_code();
  test_broken_records();
  return tilegpu::test::finish("test_module_record");
}
