// tests/test_lower_fragment.cpp -- fragment shaders at 4, 8 and 16 lanes against scalar C++: interpolation, derivatives, discard, outputs.
#include <algorithm>

#include "lower_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kWidths[] = {4, 8, 16};

std::string text_of(double x) { return std::to_string(x); }
bool near(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance * std::max(1.0, std::fabs(want)); }

Ptr<ShaderModule> fragment(const std::string& body) { return shader_of("#version 450\n" + body, VK_SHADER_STAGE_FRAGMENT_BIT); }

template <class Prepare, class Check>
void each_width(const Ptr<ShaderModule>& module, Prepare&& prepare, Check&& check) {
  if (!module) return;
  for (uint32_t lanes : kWidths) {
    for (bool mixed : {false, true}) {
      auto run = std::make_unique<FragmentRun>();
      run->mixed = mixed;
      prepare(*run);
      if (!run->run(*module, lanes)) {
        CHECK_MESSAGE(false, run->error);
        return;
      }
      for (uint32_t lane = 0; lane < lanes; ++lane) check(*run, lane, FragmentRun::lane_x(lane), FragmentRun::lane_y(lane));
    }
  }
}

void test_interpolation() {
  auto module = fragment(
      "layout(location=0) in vec2 a; layout(location=1) noperspective in float b; layout(location=2) flat in ivec2 c; layout(location=0) "
      "out vec4 r; layout(location=1) out ivec4 s;"
      "layout(location=2) out vec4 t; layout(location=3) out vec4 u;\n"
      "void main() { r = vec4(a, b, float(gl_PrimitiveID)); s = ivec4(c, gl_FrontFacing ? 1 : 0, gl_SampleMaskIn[0]); t = gl_FragCoord; u "
      "= vec4(dFdx(a.x), dFdy(a.x), fwidth(b), dFdxFine(a.y)); }\n");
  const auto prepare = [](FragmentRun& run) {
    const float vertex[3][5] = {{1, -2, 3}, {5, 8, -1}, {-3, 4, 2}};
    for (int v = 0; v < 3; ++v) {
      for (int k = 0; k < 3; ++k) run.vertex[v][k] = vertex[v][k];
      run.vertex[v][3] = std::bit_cast<float>(10 + v), run.vertex[v][4] = std::bit_cast<float>(-20 - v);
    }
    run.weight[1] = 2, run.weight[2] = 4;
  };
  const auto at = [](double x, double y, double v0, double v1, double v2, bool perspective) {
    const double l1 = x / 64, l2 = y / 64, l0 = 1 - l1 - l2;
    if (!perspective) return l0 * v0 + l1 * v1 + l2 * v2;
    const double q0 = l0, q1 = l1 / 2, q2 = l2 / 4;
    return (q0 * v0 + q1 * v1 + q2 * v2) / (q0 + q1 + q2);
  };
  each_width(module, prepare, [&](const FragmentRun& run, uint32_t lane, int32_t px, int32_t py) {
    const double x = px + 0.5, y = py + 0.5;
    CHECK_MESSAGE(near(run.out(0, 0, lane), at(x, y, 1, 5, -3, true), 2e-6), text_of(run.out(0, 0, lane)));
    CHECK(near(run.out(0, 1, lane), at(x, y, -2, 8, 4, true), 2e-6));
    CHECK(near(run.out(0, 2, lane), at(x, y, 3, -1, 2, false), 2e-6));
    CHECK(run.out(0, 3, lane) == 7);
    CHECK(run.out_bits(1, 0, lane) == 10 && run.out_bits(1, 1, lane) == static_cast<uint32_t>(-20) && run.out_bits(1, 2, lane) == 1 &&
          run.out_bits(1, 3, lane) == 1);
    CHECK(run.out(2, 0, lane) == static_cast<float>(x) && run.out(2, 1, lane) == static_cast<float>(y));
    CHECK(near(run.out(2, 2, lane), 0.25 + 0.001 * (x - 2.5) + 0.002 * (y - 3.5), 1e-6));
    CHECK(near(run.out(2, 3, lane), 1 - x / 64 - y / 64 + x / 128 + y / 256, 1e-6));
    const double x0 = (px & ~1) + 0.5, y0 = (py & ~1) + 0.5;
    CHECK_MESSAGE(near(run.out(3, 0, lane), at(x0 + 1, y0, 1, 5, -3, true) - at(x0, y0, 1, 5, -3, true), 1e-5),
                  text_of(run.out(3, 0, lane)));
    CHECK(near(run.out(3, 1, lane), at(x0, y0 + 1, 1, 5, -3, true) - at(x0, y0, 1, 5, -3, true), 1e-5));
    CHECK(near(run.out(3, 2, lane), std::fabs(-4.0 / 64) + std::fabs(-1.0 / 64), 1e-5));
    CHECK(near(run.out(3, 3, lane), at(x0 + 1, y, -2, 8, 4, true) - at(x0, y, -2, 8, 4, true), 1e-5));
  });
}

void test_samples() {
  auto module = fragment(
      "layout(location=0) centroid in float a; layout(location=1) in float b; layout(location=0) out vec4 r; layout(location=1) out ivec4 "
      "s;\n"
      "void main() { r = vec4(a, b, interpolateAtOffset(b, vec2(0.25, -0.25)), interpolateAtSample(b, 2)); s.x = gl_SampleMaskIn[0]; s.y = "
      "floatBitsToInt(interpolateAtCentroid(b)); }\n");
  const std::vector<float> positions = {0.375f, 0.125f, 0.875f, 0.375f, 0.125f, 0.625f, 0.625f, 0.875f};
  for (uint32_t mask : {0xfu, 0xau, 0x4u, 0x0u}) {
    uint64_t coverage = 0;
    for (uint32_t s = 0; s < 4; ++s) coverage |= (mask >> s & 1 ? 0xfull : 0) << (4 * s);
    each_width(
        module,
        [&](FragmentRun& run) {
          run.samples = 4, run.sample_positions = positions, run.coverage = coverage;
          run.vertex[1][0] = run.vertex[1][1] = 64, run.vertex[2][0] = run.vertex[2][1] = 6400;  // x + 100 y
        },
        [&](const FragmentRun& run, uint32_t lane, int32_t px, int32_t py) {
          const auto value = [&](double dx, double dy) { return px + dx + 100 * (py + dy); };
          const uint32_t first = mask == 0xf || mask == 0 ? 4 : static_cast<uint32_t>(__builtin_ctz(mask));
          const double want = first == 4 ? value(0.5, 0.5) : value(positions[2 * first], positions[2 * first + 1]);
          CHECK_MESSAGE(near(run.out(0, 0, lane), want, 1e-5), text_of(run.out(0, 0, lane)) + " want " + text_of(want));
          CHECK(near(run.out(0, 1, lane), value(0.5, 0.5), 1e-5));
          CHECK(near(run.out(0, 2, lane), value(0.75, 0.25), 1e-5));
          CHECK(near(run.out(0, 3, lane), value(0.125, 0.625), 1e-5));
          CHECK(run.out_bits(1, 0, lane) == mask);
          CHECK(near(run.out(1, 1, lane), want, 1e-5));
        });
  }
  auto by_sample = fragment(
      "layout(location=0) in float a; layout(location=0) out vec4 r; void main() { r = vec4(a, gl_SamplePosition, gl_SampleID); }\n");
  each_width(
      by_sample,
      [&](FragmentRun& run) {
        run.samples = 4, run.per_sample = true, run.sample_index = 2, run.sample_positions = positions, run.vertex[1][0] = 64;
      },
      [&](const FragmentRun& run, uint32_t lane, int32_t px, int32_t) {
        CHECK(near(run.out(0, 0, lane), px + 0.125, 1e-6));
        CHECK(run.out(0, 1, lane) == 0.125f && run.out(0, 2, lane) == 0.625f && run.out(0, 3, lane) == 2);
      });
}

void test_discard() {
  auto module = fragment(
      "layout(set=0, binding=0) buffer B { uint n[64]; } b; layout(location=0) out vec4 r; layout(location=1) out vec4 s;\n"
      "void f(int k) { if (k == 3) discard; }\n"
      "void main() { int x = int(gl_FragCoord.x); float v = float(x * x); if (x == 6) discard; r.x = dFdx(v); r.y = float(x);"
      "for (int k = 0; k < 8; ++k) { if (k == x) f(x - 6); r.z += 1.0; if (k + 1 == x) break; } atomicAdd(b.n[x & 63], 1u); b.n[32 + (x & "
      "31)] = uint(x); s.x = gl_HelperInvocation ? 1.0 : 0.0; }\n");
  if (!module) return;
  for (uint32_t lanes : kWidths) {
    auto run = std::make_unique<FragmentRun>();
    TestBuffer b(64);
    run->buffers = {b.descriptor()};
    run->alive = ~2u;  // lane 1 (x 5) is a helper
    if (!run->run(*module, lanes)) return void(CHECK_MESSAGE(false, run->error));
    uint32_t counts[64] = {};
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const int x = FragmentRun::lane_x(lane);
      const bool helper = lane == 1;
      // k == x is reached only where k + 1 == x did not leave before: never for x > 0.
      const bool dead = x == 6;
      CHECK_MESSAGE(((run->args.alive >> lane & 1) != 0) == !(helper || dead), "alive of lane " + std::to_string(lane));
      if (!dead && !helper) counts[x]++, counts[32 + x] = static_cast<uint32_t>(x);
      const int even = x & ~1;
      CHECK_MESSAGE(run->out(0, 0, lane) == static_cast<float>((even + 1) * (even + 1) - even * even),
                    "derivative " + text_of(run->out(0, 0, lane)));
      CHECK(run->out(0, 1, lane) == static_cast<float>(x));
      if (!dead) CHECK(run->out(0, 2, lane) == static_cast<float>(std::min(x, 8)));
      CHECK(run->out(1, 0, lane) == (helper || dead ? 1.0f : 0.0f));  // read as Volatile, as GLSL for SPIR-V 1.6 does: what it is by now
    }
    for (uint32_t k = 0; k < 64; ++k)
      CHECK_MESSAGE(b.data()[k] == counts[k],
                    "word " + std::to_string(k) + " is " + std::to_string(b.data()[k]) + " want " + std::to_string(counts[k]));
    CHECK(b.guards_untouched());
  }
  auto demote = fragment(
      "#extension GL_EXT_demote_to_helper_invocation : require\nlayout(location=0) out vec4 r;\n"
      "void main() { float v = gl_FragCoord.x * 2.0; if (int(gl_FragCoord.x) == 4) demote; r = vec4(dFdx(v), helperInvocationEXT() ? 1.0 : "
      "0.0, 0, 0); while (int(gl_FragCoord.x) == 5) discard; }\n");
  each_width(
      demote, [](FragmentRun&) {},
      [](const FragmentRun& run, uint32_t lane, int32_t px, int32_t) {
        CHECK(run.out(0, 0, lane) == 2 && run.out(0, 1, lane) == (px == 4 ? 1.0f : 0.0f));
        CHECK(((run.args.alive >> lane & 1) != 0) == (px != 4 && px != 5));
      });
}

void test_outputs() {
  auto module = fragment(
      "layout(location=0) in vec4 a; layout(location=0) out vec4 r; layout(location=2) out uvec4 s; layout(location=3) out float t[2];\n"
      "void main() { if (a.x > 8.0) discard; r = vec4(1, 2, 3, a.x); s = uvec4(5u, 6u, 7u, 8u); t[0] = 4.0; t[1] = 5.0; gl_FragDepth = a.x "
      "* 0.5; gl_SampleMask[0] = int(a.x); }\n");
  if (!module) return;
  Expected<StageTraits> traits = analyze(*module, {});
  CHECK(traits && traits->discards && traits->writes_depth && traits->writes_sample_mask && traits->outputs_written == 0x1d &&
        !traits->loops);
  CHECK(traits && traits->output_base[2] == ReflectedType::Base::u32);
  for (bool coverage_only : {false, true}) {
    each_width(
        module,
        [&](FragmentRun& run) {
          run.vertex[1][0] = 64, run.coverage_only = coverage_only, run.coverage_needs_alpha = true;  // a.x = x + 0.5
        },
        [&](const FragmentRun& run, uint32_t lane, int32_t px, int32_t) {
          CHECK(run.layout.components.size() == 1);
          const double x = px + 0.5;
          CHECK(((run.args.alive >> lane & 1) != 0) == !(x > 8));
          CHECK(near(run.out(0, 3, lane), x, 1e-5) && near(run.args.depth[lane], x / 2, 1e-5) &&
                run.args.sample_mask_out[lane] == static_cast<uint32_t>(px));
          CHECK(run.out(0, 0, lane) == (coverage_only ? 0.0f : 1.0f) && run.out_bits(2, 3, lane) == (coverage_only ? 0u : 8u) &&
                run.out(4, 0, lane) == (coverage_only ? 0.0f : 5.0f));
        });
  }
}

/// Stands in for sampler functions: reached through the descriptor, in C++ only by memory. Queries need none.
void test_queries() {
  auto module = fragment(
      "#extension GL_EXT_samplerless_texture_functions : require\n#extension GL_EXT_nonuniform_qualifier : require\nlayout(set=0, "
      "binding=0) uniform sampler2DArray t[2]; layout(set=0, binding=3) uniform texture2D u; layout(location=0) out ivec4 r; "
      "layout(location=1) out ivec4 s;\n"
      "void main() { int x = int(gl_FragCoord.x); r.xyz = textureSize(t[1], x & 3); r.w = textureQueryLevels(t[0]); s.xy = textureSize(u, "
      "1); }\n");
  if (!module) return;
  Expected<ResourceTable> table = resource_table(*module, {});
  CHECK(table && table->textures.size() == 2 && table->textures[0].image_count + table->textures[1].image_count == 3);
  ImageViewAbi view[3] = {};
  for (int k = 0; k < 3; ++k) {
    for (int level = 0; level < 3; ++level) view[k].level[level].width_px = (64 >> level) + k, view[k].level[level].height_px = 32 >> level;
    view[k].level_count = 3 - k / 2, view[k].layer_count = 5 + k;
  }
  each_width(
      module,
      [&](FragmentRun& run) {
        for (int k = 0; k < 3; ++k) run.textures.push_back({&view[k], nullptr, nullptr, nullptr, nullptr, nullptr});
      },
      [&](const FragmentRun& run, uint32_t lane, int32_t px, int32_t) {
        const int level = px & 3;
        CHECK(run.out_bits(0, 0, lane) == (level < 3 ? static_cast<uint32_t>((64 >> level) + 1) : 0));
        CHECK(run.out_bits(0, 1, lane) == (level < 3 ? 32u >> level : 0) && run.out_bits(0, 2, lane) == 6 && run.out_bits(0, 3, lane) == 3);
        CHECK(run.out_bits(1, 0, lane) == 34 && run.out_bits(1, 1, lane) == 16);
      });
}

}  // namespace

int main() {
  test_interpolation();
  test_samples();
  test_discard();
  test_outputs();
  test_queries();
  return finish("test_lower_fragment");
}
