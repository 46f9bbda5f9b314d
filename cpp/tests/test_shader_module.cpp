// tests/test_shader_module.cpp -- GLSL and SPIR-V in, reflection out, descriptor sets: without Python and without a device.
#include "check.hpp"
#include "tilegpu/pipeline.hpp"

#include <spirv/unified1/spirv.hpp>

using namespace tilegpu;

namespace {

const char* kFragment = R"(#version 450
struct Light { vec3 direction; float power; };
layout(set = 0, binding = 1) uniform Scene { mat4 view; layout(row_major) mat3 turn; Light lights[2]; float last; } scene;
layout(set = 1, binding = 3, std430) readonly buffer Items { uint count; vec2 items[]; };
layout(set = 0, binding = 0) uniform sampler2D maps[3];
layout(set = 0, binding = 2) uniform Unused { vec4 never; };
layout(push_constant) uniform Push { layout(offset = 16) vec4 tint; };
layout(constant_id = 7) const int kTaps = -3;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
  color = tint * texture(maps[1], uv) * scene.view[0][0] * scene.turn[1][1] * scene.lights[1].power + float(kTaps) + items[count].xyxy + scene.last;
})";

Expected<Ptr<ShaderModule>> make(const char* text, VkShaderStageFlagBits stage) {
  GlslSource source;
  source.text = text;
  source.file = "test.glsl";
  source.stage = stage;
  auto words = compile_glsl(source);
  if (!words) return words.error();
  return ShaderModule::create(*words, "test");
}

void test_reflection() {
  auto module = make(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT);
  if (!CHECK_MESSAGE(module, module ? "" : module.error().message)) return;
  const Reflection& r = (*module)->reflection();
  CHECK(r.stage == VK_SHADER_STAGE_FRAGMENT_BIT && r.entry_point == "main");
  CHECK(r.inputs.size() == 1 && r.inputs[0].name == "uv" && r.inputs[0].location == 1 && r.inputs[0].type.rows == 2);
  CHECK(r.outputs.size() == 1 && r.outputs[0].name == "color");
  CHECK(r.bindings.size() == 4);
  const ReflectedBinding &maps = r.bindings[0], &scene = r.bindings[1], &unused = r.bindings[2], &items = r.bindings[3];
  CHECK(maps.name == "maps" && maps.count == 3 && maps.descriptor == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER && maps.used);
  CHECK(scene.name == "scene" && scene.block_name == "Scene" && scene.descriptor == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
  CHECK(!unused.used && unused.name == "Unused");
  CHECK(items.set == 1 && items.binding == 3 && items.descriptor == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER && items.readonly);
  const auto& members = scene.type.members;
  CHECK(members.size() == 4);
  CHECK(members[0].offset_B == 0 && members[0].type.kind == ReflectedType::Kind::matrix && members[0].type.matrix_stride_B == 16 &&
        !members[0].type.row_major);
  CHECK(members[1].offset_B == 64 && members[1].type.row_major && members[1].type.size_B == 48);
  CHECK(members[2].offset_B == 112 && members[2].type.array_length == 2 && members[2].type.array_stride_B == 16);
  CHECK(members[2].type.members[0].type.members[1].name == "power" && members[2].type.members[0].type.members[1].offset_B == 12);
  CHECK(members[3].offset_B == 144 && scene.type.size_B == 148);
  CHECK(items.type.members[1].type.array_length == 0 && items.type.members[1].type.array_stride_B == 8 &&
        items.type.members[1].offset_B == 8);
  CHECK(r.has_push_constants && r.push_constants.type.members[0].offset_B == 16 && r.push_constants.type.size_B == 32);
  CHECK(r.constants.size() == 1 && r.constants[0].name == "kTaps" && r.constants[0].constant_id == 7 &&
        r.constants[0].default_bits == static_cast<uint32_t>(-3));
}

void test_all_errors_of_a_compile() {
  GlslSource source;
  source.text = "#version 450\nvoid main() {\n  a = 1;\n  b = 2;\n}\n";
  source.file = "x.vert";
  std::vector<ShaderMessage> messages;
  auto words = compile_glsl(source, &messages);
  CHECK(!words && messages.size() == 2);
  CHECK(messages[0].file == "x.vert" && messages[0].line == 3 && messages[0].source_line == "  a = 1;");
  CHECK(messages[1].line == 4 && messages[1].text == "'b' : undeclared identifier");
  CHECK(!words && words.error().code == VK_ERROR_INVALID_SHADER_NV);
}

void test_words_of_strangers() {
  GlslSource source;
  source.text = "#version 450\nvoid main() { gl_Position = vec4(1); }";
  const std::vector<uint32_t> good = *compile_glsl(source);
  CHECK(ShaderModule::create(good, "good"));
  std::vector<uint32_t> swapped = good;
  for (uint32_t& word : swapped) word = __builtin_bswap32(word);
  CHECK(ShaderModule::create(swapped, "swapped"));
  for (size_t count = 0; count < good.size(); ++count)
    CHECK(!ShaderModule::create({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(count)}, "truncated"));
  CHECK(!ShaderModule::create(std::vector<uint32_t>(64, 0xdeadbeefu), "magic"));
  CHECK(!ShaderModule::create(good, "entry point", "nowhere"));
}

/// Compilers that are newer than the validator have languages whose numbers it does not know (Slang's is 11).
void test_any_source_language() {
  GlslSource source;
  source.text = "#version 450\nvoid main() { gl_Position = vec4(1); }";
  const std::vector<uint32_t> good = *compile_glsl(source);
  constexpr size_t kHeader_words = 5;
  size_t at = kHeader_words;
  while (at < good.size() && (good[at] & spv::OpCodeMask) != spv::OpSource) at += good[at] >> spv::WordCountShift;
  if (!CHECK(at + 2 < good.size())) return;
  for (const uint32_t language : {0u, 11u, 12u, ~0u}) {
    std::vector<uint32_t> words = good;
    words[at + 1] = language;
    auto module = ShaderModule::create(words, "language");
    CHECK_MESSAGE(module, module ? "" : module.error().message);
    words[at] = 1u << spv::WordCountShift | spv::OpSource;  // what is left of it is no instruction
    CHECK(!ShaderModule::create(words, "no language"));
  }
}

}  // namespace

int main() {
  test_reflection();
  test_all_errors_of_a_compile();
  test_words_of_strangers();
  test_any_source_language();
  return tilegpu::test::finish("test_shader_module");
}
