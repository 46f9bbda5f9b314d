// tests/test_slice.cpp -- deferred vertex shading's slice of a vertex shader: the same position to the bit, and none of the other work.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "lower_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

std::filesystem::path g_dump;

struct Text {
  size_t instructions = 0, calls = 0, loads = 0;
  bool fuses = false;  // LLVM may fuse or reorder (what lowering fused on the SPIR-V is an explicit llvm.fma in slice and whole)
};

// The optimised IR of the one function that was compiled since the last call.
Text newest_ir() {
  Text text;
  for (const auto& file : std::filesystem::directory_iterator(g_dump)) {
    const std::string name = file.path().string();
    if (name.ends_with(".after.ll")) {
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with("  ") && !line.starts_with("  br label ")) text.instructions++;  // a jump to what follows is none
        if (line.find(" call ") != std::string::npos) text.calls++;
        if (line.find(" = load ") != std::string::npos) text.loads++;
        for (const char* word : {"fmuladd", " fast ", " contract ", " reassoc "})
          if (line.find(word) != std::string::npos) text.fuses = true;
      }
    }
  }
  for (const auto& file : std::filesystem::directory_iterator(g_dump)) std::filesystem::remove(file.path());
  return text;
}

VertexFunction compile(const ShaderModule& module, uint32_t lanes, uint32_t locations, bool position_only) {
  VertexKey key;
  key.module = Ptr<const ShaderModule>(Ptr<void>(), &module);
  key.position_only = position_only;
  for (uint32_t location = 0; location < 4; ++location) {
    key.bindings.push_back({location, 16, VK_VERTEX_INPUT_RATE_VERTEX});
    key.attributes.push_back({location, location, VK_FORMAT_R32G32B32A32_SFLOAT, 0});
  }
  for (uint32_t location = 0; location < locations; ++location)
    for (uint32_t c = 0; c < 4; ++c) key.varyings.components.push_back({static_cast<uint8_t>(location), static_cast<uint8_t>(c)});
  Expected<ResourceTable> table = resource_table(module, {});
  CHECK(table);
  key.resources = *table;
  auto f = compile_vertex(jit_of(lanes), key);
  CHECK_MESSAGE(f, f ? "" : f.error().message);
  return f ? static_cast<VertexFunction>(*f) : nullptr;
}

constexpr const char* kHead =
    "#version 450\n"
    "layout(location=0) in vec4 a; layout(location=1) in vec4 b; layout(location=2) in vec4 c; layout(location=3) in vec4 d;\n"
    "layout(location=0) out vec4 v0; layout(location=1) out vec4 v1;\n"
    "layout(set=0, binding=0) uniform sampler2D t; layout(set=0, binding=1) readonly buffer S { vec4 s[]; };\n"
    "layout(push_constant) uniform P { mat4 m; };\n"
    "out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; };\n"
    "void main() {\n";

/// Position alone, and what a shader does beside it.
struct Pair {
  const char *position, *rest;
};
constexpr Pair kPairs[] = {
    // Attributes, arithmetic with calls into own polynomials.
    {"gl_Position = m * a; gl_ClipDistance[0] = 1.0; gl_ClipDistance[1] = a.x;", "v0 = sin(b) * exp(c); v1 = normalize(d);"},
    // Textures and buffers.
    {"gl_Position = m * a; gl_ClipDistance[0] = dot(a, a); gl_ClipDistance[1] = 1.0;",
     "v0 = textureLod(t, b.xy, 0.0) + texture(t, c.xy); v1 = s[int(b.x)] + texelFetch(t, ivec2(c.xy), 0);"},
    // Branches and loops.
    {"gl_Position = a * m; gl_ClipDistance[0] = 1.0; gl_ClipDistance[1] = 1.0;",
     "vec4 x = b; for (int i = 0; i < int(c.x); i++) { if (x.y > d.y) x = x * 1.5 + d; else x.zw += s[i].xy; } v0 = x; v1 = b.x > 0.0 ? "
     "textureLod(t, x.xy, x.z) : vec4(0);"},
    // A loop that the position needs.
    {"vec4 p = a; for (int i = 0; i < int(a.w); i++) p = m * p; gl_Position = p; gl_ClipDistance[0] = gl_ClipDistance[1] = 1.0;",
     "v0 = p * b; v1 = vec4(length(p), c.xyz);"},
};

// The slice of the whole is what a compiler makes of a shader that never did more.
void test_golden() {
  for (const Pair& pair : kPairs) {
    auto whole = shader_of(std::string(kHead) + pair.position + pair.rest + "}", VK_SHADER_STAGE_VERTEX_BIT);
    auto alone = shader_of(std::string(kHead) + pair.position + "}", VK_SHADER_STAGE_VERTEX_BIT);
    if (!whole || !alone) return;
    for (uint32_t lanes : {4u, 8u, 16u}) {
      newest_ir();
      compile(*alone, lanes, 0, true);
      const Text want = newest_ir();
      compile(*whole, lanes, 2, true);
      const Text slice = newest_ir();
      compile(*whole, lanes, 2, false);
      const Text full = newest_ir();
      CHECK(want.instructions > 20 && !slice.fuses && !full.fuses);
      CHECK_MESSAGE(slice.instructions == want.instructions && slice.calls == want.calls && slice.loads == want.loads,
                    std::string(pair.rest) + " lanes " + std::to_string(lanes) + ": " + std::to_string(slice.instructions) +
                        " instructions, " + std::to_string(slice.calls) + " calls, " + std::to_string(slice.loads) + " loads; alone " +
                        std::to_string(want.instructions) + ", " + std::to_string(want.calls) + ", " + std::to_string(want.loads));
      // In quick code the whole one's attributes come by calls into the core.
      const char* code = std::getenv("TILEGPU_CODE");
      if (!code || std::strcmp(code, "quick") != 0) CHECK(slice.instructions < full.instructions);
    }
  }
}

// Positions and distances of slice and whole, bit for bit, over numbers that round differently in another order; nothing else is written.
void test_bits() {
  const char* text =
      "#version 450\n"
      "layout(location=0) in vec4 a; layout(location=1) in vec4 b; layout(location=0) out vec4 v;\n"
      "out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[1]; float gl_CullDistance[1]; };\n"
      "void main() { vec4 x = a; mat4 m = mat4(a, b, a.wzyx, b.yxwz);\n"
      "for (int i = 0; i < 3; i++) { x = m * x + b; if (x.x > 1.0) x *= inversesqrt(dot(x, x)); else x += sin(b); }\n"
      "v = x * b + a; gl_Position = m * x + v.wzyx; gl_ClipDistance[0] = dot(v, x); gl_CullDistance[0] = dot(x, b); v += m * v; }";
  for (bool optimized : {false, true}) {
    auto module = shader_of(text, VK_SHADER_STAGE_VERTEX_BIT, optimized);
    if (!module) return;
    std::mt19937 random(7);
    std::uniform_real_distribution<float> numbers(-2, 2);
    std::vector<float> attributes[2];
    for (auto& list : attributes)
      for (uint32_t k = 0; k < 4 * kBatchStride; ++k) list.push_back(numbers(random));
    attributes[0][5] = std::numeric_limits<float>::infinity();
    std::vector<uint32_t> first;
    for (uint32_t lanes : {4u, 8u, 16u})
      for (bool position_only : {false, true}) {
        VertexFunction f = compile(*module, lanes, 1, position_only);
        if (!f) return;
        VertexBinding bindings[16] = {};
        for (int k = 0; k < 2; ++k) bindings[k] = {reinterpret_cast<const uint8_t*>(attributes[k].data()), attributes[k].size() * 4};
        uint32_t index[kBatchStride];
        for (uint32_t k = 0; k < kBatchStride; ++k) index[k] = k;
        std::vector<float> position(4 * kBatchStride), varyings(4 * kBatchStride, -77.0f), clip(2 * kBatchStride);
        LoopBudget loops{1000};
        VertexArgs args{};
        args.bindings = bindings, args.vertex_index = index, args.count = kBatchStride, args.loops = &loops;
        args.position = position.data(), args.varyings = position_only ? nullptr : varyings.data(), args.clip_distance = clip.data();
        f(&args);
        std::vector<uint32_t> bits;
        for (float x : position) bits.push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
        for (float x : clip) bits.push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
        if (first.empty()) first = bits;
        CHECK(bits == first);
        if (!position_only) CHECK(std::find(varyings.begin(), varyings.end(), -77.0f) == varyings.end());
      }
  }
}

}  // namespace

int main() {
  g_dump = std::filesystem::temp_directory_path() / ("tilegpu_slice_" + std::to_string(getpid()));
  std::filesystem::create_directories(g_dump);
  setenv("TILEGPU_DUMP", g_dump.c_str(), 1);
  test_golden();
  test_bits();
  std::filesystem::remove_all(g_dump);
  return finish("slice");
}
