// tests/test_lower.cpp -- shaders through SPIR-V and LLVM at 4, 8 and 16 lanes against scalar C++: arithmetic, control flow, memory.
#include <algorithm>
#include <functional>
#include <random>

#include "lower_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kWidths[] = {4, 8, 16};
using Vec4 = std::array<float, 4>;

/// Random attributes: location 0 floats around zero, location 1 small integers.
std::vector<float> floats(uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<float> v(4 * kBatchStride);
  for (float& x : v) x = std::uniform_real_distribution<float>(-4, 4)(rng);
  return v;
}
std::vector<float> integers(uint32_t seed, int low, int high) {
  std::mt19937 rng(seed);
  std::vector<float> v(4 * kBatchStride);
  for (float& x : v) x = std::bit_cast<float>(static_cast<int32_t>(low + static_cast<int>(rng() % static_cast<uint32_t>(high - low + 1))));
  return v;
}
int32_t as_int(float x) { return std::bit_cast<int32_t>(x); }
uint32_t as_uint(float x) { return std::bit_cast<uint32_t>(x); }

/// body: statements with inputs `vec4 a`, `ivec4 i`, and results `vec4 r`, `ivec4 s`.
std::string kernel(const std::string& body, const std::string& declarations = "") {
  return "#version 450\n" + declarations +
         "layout(location=0) in vec4 a; layout(location=1) in ivec4 i;\n"
         "layout(location=0) out vec4 r; layout(location=1) flat out ivec4 s;\n" +
         (body.find("void main") == std::string::npos ? "void main() { r = vec4(0); s = ivec4(0); gl_Position = vec4(0);\n" + body + "}\n"
                                                      : body);
}

struct Result {
  float r[4];
  int32_t s[4];
};
using Model = std::function<Result(const float* a, const int32_t* i, uint32_t vertex)>;

void compare(const char* name, const std::string& text, const Model& model, const std::vector<float>& a, const std::vector<float>& i,
             float tolerance = 0, const std::function<void(VertexRun&)>& prepare = {}, bool optimized = false) {
  Ptr<ShaderModule> module = shader_of(text, VK_SHADER_STAGE_VERTEX_BIT, optimized);
  if (!module) return;
  // The same, as spirv-opt leaves it; there products and sums meet that did not before.
  if (!optimized) compare(name, text, model, a, i, std::max(tolerance, 1e-5f), prepare, true);
  for (uint32_t lanes : kWidths) {
    VertexRun run;
    run.attributes[0] = a, run.attributes[1] = i;
    if (prepare) prepare(run);
    if (!run.run(*module, lanes, 2)) {
      CHECK_MESSAGE(false, std::string(name) + (optimized ? " (optimised)" : "") + ": " + run.error);
      return;
    }
    for (uint32_t v = 0; v < kBatchStride; ++v) {
      int32_t in[4];
      for (int c = 0; c < 4; ++c) in[c] = as_int(i[4 * v + static_cast<uint32_t>(c)]);
      const Result want = model(&a[4 * v], in, v);
      for (uint32_t c = 0; c < 4; ++c) {
        const float got = run.value(0, c, v);
        const bool same =
            std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(want.r[c]) || (std::isnan(got) && std::isnan(want.r[c])) ||
            std::fabs(got - want.r[c]) <= tolerance * std::max(1.0f, std::fabs(want.r[c])) || (got == 0 && want.r[c] == 0 && tolerance > 0);
        CHECK_MESSAGE(same, std::string(name) + (optimized ? " (optimised)" : "") + " lanes " + std::to_string(lanes) + " vertex " +
                                std::to_string(v) + " r" + std::to_string(c) + " got " + std::to_string(got) + " want " +
                                std::to_string(want.r[c]));
        const auto integer = static_cast<int32_t>(run.bits(1, c, v));
        CHECK_MESSAGE(integer == want.s[c], std::string(name) + (optimized ? " (optimised)" : "") + " lanes " + std::to_string(lanes) +
                                                " vertex " + std::to_string(v) + " s" + std::to_string(c) + " got " +
                                                std::to_string(integer) + " want " + std::to_string(want.s[c]));
      }
    }
  }
}

void test_float_arithmetic() {
  compare(
      "add", kernel("r = vec4(a.x + a.y, a.x - a.y, a.x * a.y, a.x / a.y);"),
      [](const float* a, const int32_t*, uint32_t) { return Result{{a[0] + a[1], a[0] - a[1], a[0] * a[1], a[0] / a[1]}, {}}; }, floats(1),
      integers(1, 0, 9));
  compare(
      "fused", kernel("r.x = a.x * a.y + a.z; r.y = a.x * a.y - a.z; r.z = a.z - a.x * a.y; precise float p = a.x * a.y + a.z; r.w = p;"),
      [](const float* a, const int32_t*, uint32_t) {
        return Result{{std::fma(a[0], a[1], a[2]), std::fma(a[0], a[1], -a[2]), std::fma(-a[0], a[1], a[2]), a[0] * a[1] + a[2]}, {}};
      },
      floats(2), integers(1, 0, 9));
  compare(
      "dot", kernel("r.x = dot(a, a.wzyx); r.y = dot(a.xy, a.zw); mat2 m = mat2(a); r.zw = m * a.xy;"),
      [](const float* a, const int32_t*, uint32_t) {
        Result x{};
        x.r[0] = std::fma(a[3], a[0], std::fma(a[2], a[1], std::fma(a[1], a[2], a[0] * a[3])));
        x.r[1] = std::fma(a[1], a[3], a[0] * a[2]);
        x.r[2] = std::fma(a[2], a[1], a[0] * a[0]);
        x.r[3] = std::fma(a[3], a[1], a[1] * a[0]);
        return x;
      },
      floats(3), integers(1, 0, 9));
  compare(
      "rounding",
      kernel("r = vec4(floor(a.x), ceil(a.y), trunc(a.z), roundEven(a.w)); s = ivec4(a * 1e9); if (i.x == 3) s = ivec4(vec4(sqrt(-1.0 - "
             "a.x * a.x)));"),
      [](const float* a, const int32_t* i, uint32_t) {
        Result x{{std::floor(a[0]), std::ceil(a[1]), std::trunc(a[2]), std::nearbyint(a[3])}, {}};
        for (int c = 0; c < 4; ++c) {
          const float f = a[c] * 1e9f;
          x.s[c] = i[0] == 3 ? 0 : f >= 2147483648.0f ? INT32_MAX : f < -2147483648.0f ? INT32_MIN : static_cast<int32_t>(f);
        }
        return x;
      },
      floats(4), integers(2, 0, 5));
  compare(
      "glsl",
      kernel("r = vec4(mix(a.x, a.y, 0.25), clamp(a.x, -1.0, 1.0), smoothstep(-2.0, 2.0, a.y), step(a.x, a.y)); s = ivec4(sign(a)); s.w = "
             "int(isnan(a.x / 0.0));"),
      [](const float* a, const int32_t*, uint32_t) {
        const float t = std::min(std::max((a[1] + 2) / 4, 0.0f), 1.0f);
        return Result{{a[0] * 0.75f + a[1] * 0.25f, std::min(std::max(a[0], -1.0f), 1.0f), t * t * (3 - 2 * t), a[1] < a[0] ? 0.0f : 1.0f},
                      {a[0] > 0 ? 1 : -1, a[1] > 0 ? 1 : -1, a[2] > 0 ? 1 : -1, 0}};
      },
      floats(5), integers(2, 0, 5), 1e-6f);
  compare(
      "transcendental", kernel("r = vec4(sin(a.x), exp2(a.y), pow(abs(a.z), 1.5), atan(a.x, a.w));"),
      [](const float* a, const int32_t*, uint32_t) {
        return Result{{std::sin(a[0]), std::exp2(a[1]), std::pow(std::fabs(a[2]), 1.5f), std::atan2(a[0], a[3])}, {}};
      },
      floats(6), integers(2, 0, 5), 2e-6f);
  compare(
      "vectors", kernel("r.xyz = cross(a.xyz, a.yzw); r.w = length(a); vec3 n = normalize(a.xyz); r.w += dot(n, n);"),
      [](const float* a, const int32_t*, uint32_t) {
        return Result{{a[1] * a[3] - a[2] * a[2], a[2] * a[1] - a[0] * a[3], a[0] * a[2] - a[1] * a[1],
                       std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]) + 1},
                      {}};
      },
      floats(7), integers(2, 0, 5), 1e-5f);
  compare(
      "matrices",
      kernel(
          "mat3 m = mat3(a.xyz, a.yzw, vec3(1, 2, a.x)); mat3 p = m * inverse(m); r = vec4(p[0][0], p[1][0], p[2][2], "
          "determinant(mat2(a)));"
          "mat3 t = transpose(m); s.x = int(t[0][1] == m[1][0]); mat2x3 o = outerProduct(a.xyz, a.xy); s.y = int(o[1][2] == a.z * a.y);"),
      [](const float* a, const int32_t*, uint32_t) { return Result{{1, 0, 1, a[0] * a[3] - a[2] * a[1]}, {1, 1, 0, 0}}; }, floats(8),
      integers(2, 0, 5), 5e-2f);
  compare(
      "frexp", kernel("int e; r.x = frexp(a.x, e); s.x = e; float w; r.y = modf(a.y, w); r.z = w; r.w = ldexp(a.w, i.x);"),
      [](const float* a, const int32_t* i, uint32_t) {
        Result x{};
        float w;
        x.r[0] = std::frexp(a[0], &x.s[0]), x.r[1] = std::modf(a[1], &w), x.r[2] = w, x.r[3] = std::ldexp(a[3], i[0]);
        return x;
      },
      floats(9), integers(3, -9, 9));
  compare(
      "pack",
      kernel("uint h = packHalf2x16(a.xy); r.xy = unpackHalf2x16(h) - a.xy; s.x = int(packUnorm4x8(vec4(0, 0.5, 1, 2))); s.y = "
             "int(packSnorm2x16(vec2(-1, 1)));"
             "r.zw = unpackUnorm4x8(0x80ff0001u).zw;"),
      [](const float*, const int32_t*, uint32_t) {
        return Result{{0, 0, 1, 128.0f / 255}, {static_cast<int32_t>(0xffff8000u), static_cast<int32_t>(0x7fff8001u), 0, 0}};
      },
      floats(9), integers(3, -9, 9), 2e-3f);
}

void test_integer_arithmetic() {
  compare(
      "integers",
      kernel("s = ivec4(i.x / i.y, i.x % i.y, i.x * i.y, i.x - i.y); if (i.y == 0) s.xy = ivec2(0); if (i.x < 0 || i.y < 0) s.y = 0;"),
      [](const float*, const int32_t* i, uint32_t) {
        return Result{{}, {i[1] ? i[0] / i[1] : 0, i[1] && i[0] >= 0 && i[1] >= 0 ? i[0] % i[1] : 0, i[0] * i[1], i[0] - i[1]}};
      },
      floats(1), integers(11, -7, 7));
  compare(
      "bits",
      kernel("s = ivec4(bitCount(i.x), findLSB(i.y), findMSB(i.z), bitfieldReverse(i.w)); r.x = uintBitsToFloat(uint(i.x) ^ 0x3f800000u);"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        x.s[0] = __builtin_popcount(static_cast<uint32_t>(i[0]));
        x.s[1] = i[1] ? __builtin_ctz(static_cast<uint32_t>(i[1])) : -1;
        const uint32_t m = static_cast<uint32_t>(i[2] < 0 ? ~i[2] : i[2]);
        x.s[2] = m ? 31 - __builtin_clz(m) : -1;
        uint32_t reversed = 0;
        for (int b = 0; b < 32; ++b) reversed |= ((static_cast<uint32_t>(i[3]) >> b) & 1) << (31 - b);
        x.s[3] = static_cast<int32_t>(reversed);
        x.r[0] = std::bit_cast<float>(static_cast<uint32_t>(i[0]) ^ 0x3f800000u);
        return x;
      },
      floats(1), integers(12, -100, 100));
  compare(
      "shifts",
      kernel("s = ivec4(i.x << (i.y & 31), i.x >> (i.y & 31), int(uint(i.x) >> uint(i.y & 31)), bitfieldExtract(i.x, i.y & 7, i.z & 15));"
             "r.x = intBitsToFloat(bitfieldInsert(i.x, i.w, i.y & 7, i.z & 15));"),
      [](const float*, const int32_t* i, uint32_t) {
        const int n = i[1] & 31, offset = i[1] & 7, count = i[2] & 15;
        const auto u = static_cast<uint32_t>(i[0]);
        int32_t field = count ? static_cast<int32_t>(u << (32 - offset - count)) >> (32 - count) : 0;
        const uint32_t mask = ((1u << count) - 1) << offset;
        return Result{{std::bit_cast<float>((u & ~mask) | ((static_cast<uint32_t>(i[3]) << offset) & mask))},
                      {static_cast<int32_t>(u << n), i[0] >> n, static_cast<int32_t>(u >> n), field}};
      },
      floats(1), integers(13, -100000, 100000));
  compare(
      "carry",
      kernel("uint c, l, h; s.x = int(uaddCarry(uint(i.x), 0xfffffff0u, c)); s.y = int(c); umulExtended(uint(i.x), uint(i.y), h, l); s.z = "
             "int(h); s.w = int(l);"),
      [](const float*, const int32_t* i, uint32_t) {
        const uint32_t x = static_cast<uint32_t>(i[0]), sum = x + 0xfffffff0u;
        const uint64_t p = static_cast<uint64_t>(x) * static_cast<uint32_t>(i[1]);
        return Result{{}, {static_cast<int32_t>(sum), sum < x, static_cast<int32_t>(p >> 32), static_cast<int32_t>(p)}};
      },
      floats(1), integers(14, -60, 60));
  compare(
      "unsigned conversion", kernel("s = ivec4(uvec4(a * 2e9)); r.x = float(uint(i.x));"),
      [](const float* a, const int32_t* i, uint32_t) {
        Result x{};
        for (int c = 0; c < 4; ++c) {
          const float f = a[c] * 2e9f;
          x.s[c] = static_cast<int32_t>(!(f > 0) ? 0u : f >= 4294967296.0f ? ~0u : static_cast<uint32_t>(f));
        }
        x.r[0] = static_cast<float>(static_cast<uint32_t>(i[0]));
        return x;
      },
      floats(15), integers(15, -60, 60));
}

void test_branches() {
  compare(
      "if",
      kernel("if (a.x > 0.0) { r.x = a.y; s.x = 1; } else { r.x = a.z; s.x = 2; } if (i.x > 2) if (i.y > 2) s.y = 5; else s.y = 6; s.z = "
             "a.x > 1.0 && a.y > 0.0 ? 3 : 4;"),
      [](const float* a, const int32_t* i, uint32_t) {
        return Result{{a[0] > 0 ? a[1] : a[2]}, {a[0] > 0 ? 1 : 2, i[0] > 2 ? (i[1] > 2 ? 5 : 6) : 0, a[0] > 1 && a[1] > 0 ? 3 : 4, 0}};
      },
      floats(21), integers(21, 0, 5));
  compare(
      "switch",
      kernel(
          "switch (i.x) { case 0: s.x = 10; break; case 1: s.x = 11; case 2: s.x += 5; if (i.y > 3) break; s.y = 7; break; case 5: s.y = "
          "9; default: s.x += 100; }"
          "switch (gl_InstanceIndex) { case 3: s.z = i.x > 2 ? 1 : 2; case 4: if (i.y > 2) break; s.z += 10; break; default: s.z = -1; }"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        switch (i[0]) {
          case 0:
            x.s[0] = 10;
            break;
          case 1:
            x.s[0] = 11;
            [[fallthrough]];
          case 2:
            x.s[0] += 5;
            if (i[1] > 3) break;
            x.s[1] = 7;
            break;
          case 5:
            x.s[1] = 9;
            [[fallthrough]];
          default:
            x.s[0] += 100;
        }
        x.s[2] = i[0] > 2 ? 1 : 2;
        if (!(i[1] > 2)) x.s[2] += 10;
        return x;
      },
      floats(21), integers(24, 0, 6), 0, [](VertexRun& run) { run.instance_index = 3; });
}

void test_loops() {
  compare(
      "loop",
      kernel("for (int k = 0; k < i.x; ++k) { if (k == i.y) continue; if (k == i.z) break; s.x += k; s.y++; } int n = 0; do { n += 2; } "
             "while (n < i.w); s.z = n;"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        for (int k = 0; k < i[0]; ++k) {
          if (k == i[1]) continue;
          if (k == i[2]) break;
          x.s[0] += k, x.s[1]++;
        }
        int n = 0;
        do {
          n += 2;
        } while (n < i[3]);
        x.s[2] = n;
        return x;
      },
      floats(21), integers(22, 0, 9));
  compare(
      "nested",
      kernel("for (int k = 0; k < 6; ++k) { for (int j = k; j < i.x; ++j) { if (j == i.y) break; if ((j & 1) == 0) continue; s.x += j * k; "
             "for (int q = 0; q < 3; ++q) { if (q == i.z) break; s.y++; } } if (k == i.w) break; s.z += k; }"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        for (int k = 0; k < 6; ++k) {
          for (int j = k; j < i[0]; ++j) {
            if (j == i[1]) break;
            if ((j & 1) == 0) continue;
            x.s[0] += j * k;
            for (int q = 0; q < 3; ++q) {
              if (q == i[2]) break;
              x.s[1]++;
            }
          }
          if (k == i[3]) break;
          x.s[2] += k;
        }
        return x;
      },
      floats(21), integers(23, 0, 9));
  compare(
      "switch in loop",
      kernel("for (int k = 0; k < i.x; ++k) { switch (k & 3) { case 0: s.x++; continue; case 1: if (i.y == k) break; s.y++; break; case 2: "
             "s.z += k; } s.w++; }"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        for (int k = 0; k < i[0]; ++k) {
          switch (k & 3) {
            case 0:
              x.s[0]++;
              continue;
            case 1:
              if (i[1] == k) break;
              x.s[1]++;
              break;
            case 2:
              x.s[2] += k;
              break;
            default:
              break;
          }
          x.s[3]++;
        }
        return x;
      },
      floats(21), integers(25, 0, 9));
  // Variables that live across iterations of a divergent branch, and uniform counters under it.
  compare(
      "uniform under divergence",
      kernel("int t = 0; for (int k = 0; k < 4; ++k) { if (((i.x >> k) & 1) != 0) { int u = 0; for (int j = 0; j < 3; ++j) { u += j + k; "
             "t++; } s.x += u; } } s.y = t;"
             "int last = -1; for (int j = 0; ; ++j) { if (j >= i.y) break; last = j; } s.z = last;"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        for (int k = 0; k < 4; ++k)
          if ((i[0] >> k) & 1) {
            for (int j = 0; j < 3; ++j) x.s[0] += j + k, x.s[1]++;
          }
        x.s[2] = i[1] - 1;
        return x;
      },
      floats(21), integers(28, 0, 15));
}

void test_functions() {
  compare(
      "functions",
      kernel("void main() { gl_Position = vec4(0); r = vec4(0); int n = 3; s = ivec4(find(i.x, i.y), twice(i.x), 0, 0); change(n, s.z); "
             "s.w = n; r.x = early(a.x); }",
             "int find(int limit, int wanted) { for (int k = 0; k < 20; ++k) { for (int j = 0; j < 3; ++j) { if (k * 3 + j == wanted) "
             "return k; } if (k > limit) return -1; } return -2; }\n"
             "int twice(int x) { return x + x; }\n"
             "void change(inout int n, out int m) { if (n > 2) { m = n; n = twice(n); return; } m = -1; }\n"
             "float early(float x) { if (x > 1.0) return 1.0; if (x < -1.0) { return -1.0; } else { x *= 2.0; } return x; }\n"),
      [](const float* a, const int32_t* i, uint32_t) {
        const auto find = [](int limit, int wanted) {
          for (int k = 0; k < 20; ++k) {
            for (int j = 0; j < 3; ++j)
              if (k * 3 + j == wanted) return k;
            if (k > limit) return -1;
          }
          return -2;
        };
        return Result{{a[0] > 1 ? 1 : a[0] < -1 ? -1 : a[0] * 2}, {find(i[0], i[1]), 2 * i[0], 3, 6}};
      },
      floats(26), integers(26, 0, 30));
  compare(
      "return in main",
      kernel("s.x = 1; if (i.x > 4) return; s.x = 2; for (int k = 0; k < 9; ++k) { s.y = k; if (k == i.x) return; s.z += k; } s.w = 3;"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{};
        x.s[0] = 1;
        if (i[0] > 4) return x;
        x.s[0] = 2;
        for (int k = 0; k < 9; ++k) {
          x.s[1] = k;
          if (k == i[0]) return x;
          x.s[2] += k;
        }
        x.s[3] = 3;
        return x;
      },
      floats(21), integers(27, 0, 9));
}

// An endless loop ends with the budget; nothing hangs.
void test_endless_loop() {
  Ptr<ShaderModule> endless = shader_of(kernel("while (i.x >= 0) { s.x++; }"), VK_SHADER_STAGE_VERTEX_BIT);
  if (endless) {
    VertexRun run;
    run.attributes[0] = floats(1), run.attributes[1] = integers(1, 0, 3);
    run.loops.iterations = 1000;
    CHECK(run.run(*endless, 8, 2));
    // Who runs out of it is named, once, and leaves nothing for those that follow.
    CHECK(run.loops.spent_stage == VK_SHADER_STAGE_VERTEX_BIT && run.loops.iterations == 0);
  }
}

void test_memory() {
  compare(
      "arrays",
      kernel("float t[8]; for (int k = 0; k < 8; ++k) t[k] = a.x * float(k); t[i.x] = a.y; r = vec4(t[i.y], t[i.z], t[3], a[i.x & 3]); "
             "const int q[5] = int[5](5, 4, 3, 2, 1); s.x = q[i.w % 5];"),
      [](const float* a, const int32_t* i, uint32_t) {
        float t[8];
        for (int k = 0; k < 8; ++k) t[k] = a[0] * static_cast<float>(k);
        t[i[0]] = a[1];
        return Result{{t[i[1]], t[i[2]], t[3], a[i[0] & 3]}, {5 - i[3] % 5, 0, 0, 0}};
      },
      floats(31), integers(31, 0, 7));
  compare(
      "divergent array stores",
      kernel("int t[100]; for (int k = 0; k < 100; ++k) t[k] = k; if (a.x > 0.0) { t[i.x] = -1; t[i.y * 9] += 1000; } s = ivec4(t[i.x], "
             "t[i.y * 9], t[i.z], t[99]);"
             "struct S { vec3 v; int n[2]; } x; x.v = a.xyz; x.n[i.x & 1] = 7; x.n[(i.x & 1) ^ 1] = 8; r.xyz = x.v; r.w = float(x.n[0] * "
             "10 + x.n[1]);"),
      [](const float* a, const int32_t* i, uint32_t) {
        int t[100];
        for (int k = 0; k < 100; ++k) t[k] = k;
        if (a[0] > 0) t[i[0]] = -1, t[i[1] * 9] += 1000;
        return Result{{a[0], a[1], a[2], i[0] & 1 ? 87.0f : 78.0f}, {t[i[0]], t[i[1] * 9], t[i[2]], 99}};
      },
      floats(32), integers(32, 0, 9));
  compare(
      "dynamic vectors",
      kernel("vec4 v = a; v[i.x & 3] = 9.0; mat4 m = mat4(a, a * 2.0, a * 3.0, a * 4.0); r = vec4(v[i.y & 3], m[i.x & 3][i.y & 3], v[1], "
             "m[2][i.z & 3]);"),
      [](const float* a, const int32_t* i, uint32_t) {
        float v[4] = {a[0], a[1], a[2], a[3]};
        v[i[0] & 3] = 9;
        return Result{{v[i[1] & 3], a[i[1] & 3] * static_cast<float>((i[0] & 3) + 1), v[1], a[i[2] & 3] * 3}, {}};
      },
      floats(33), integers(33, 0, 9));
  compare(
      "specialisation",
      kernel("s.x = N * 2; float t[N + 1]; t[N] = a.x; r.x = t[i.x + N]; s.y = B ? 1 : 0; r.y = F; for (int k = 0; k < N; ++k) s.z += k;",
             "layout(constant_id=3) const int N = 4; layout(constant_id=4) const bool B = false; layout(constant_id=5) const float F = "
             "1.5;\n"),
      [](const float* a, const int32_t* i, uint32_t) { return Result{{i[0] >= 0 ? a[0] : 0, 2.5f}, {14, 1, 21, 0}}; }, floats(34),
      integers(34, 0, 9), 0, [](VertexRun& run) { run.specialization = {{3, 7}, {4, 1}, {5, std::bit_cast<uint32_t>(2.5f)}}; });
  compare(
      "push constants",
      kernel("s = ivec4(p.n[i.x], p.m[1], 0, 0); r = p.mat[i.y & 1]; ",
             "layout(push_constant) uniform P { mat2x4 mat; int n[4]; ivec2 m; } p;\n"),
      [](const float*, const int32_t* i, uint32_t) {
        Result x{{}, {i[0] < 4 ? 100 + i[0] : 0, 105, 0, 0}};
        if (i[0] >= 4 && i[0] < 56) x.s[0] = i[0] < 6 ? 100 + i[0] : 0;
        for (int c = 0; c < 4; ++c) x.r[c] = static_cast<float>(10 * (i[1] & 1) + c);
        return x;
      },
      floats(35), integers(35, 0, 20), 0,
      [](VertexRun& run) {
        float f[8] = {0, 1, 2, 3, 10, 11, 12, 13};
        std::memcpy(run.push.data(), f, 32);
        for (int k = 0; k < 6; ++k) reinterpret_cast<int*>(run.push.data() + 32)[k] = 100 + k;
      });
}

void test_buffers() {
  const char* text =
      "#version 450\n"
      "layout(location=0) in vec4 a; layout(location=1) in ivec4 i; layout(location=0) out vec4 r; layout(location=1) flat out ivec4 s;\n"
      "layout(set=0, binding=0) uniform U { vec4 v[4]; layout(row_major) mat3 m; float last; } u;\n"
      "layout(set=0, binding=1) buffer B { uint count; uint data[]; } b;\n"
      "layout(set=0, binding=2) uniform A { vec4 x; } many[3];\n"
      "void main() { gl_Position = vec4(0); r = u.v[i.x]; r.w = (u.m * vec3(1, 2, 3)).y + u.last; s.x = b.data.length(); s.y = "
      "int(b.data[i.y]); "
      "b.data[i.z] = uint(gl_VertexIndex) + 1u; if (i.w > 4) atomicAdd(b.count, 2u); s.z = int(many[i.x & 3].x.y); s.w = int(many[1].x.z); "
      "}\n";
  Ptr<ShaderModule> module = shader_of(text, VK_SHADER_STAGE_VERTEX_BIT);
  if (!module) return;
  for (uint32_t lanes : kWidths) {
    for (bool small : {false, true}) {
      TestBuffer u(29), b(33), m0(4), m1(4), m2(4);
      for (uint32_t k = 0; k < 29; ++k) u.data()[k] = std::bit_cast<uint32_t>(static_cast<float>(k));
      for (uint32_t k = 0; k < 33; ++k) b.data()[k] = 1000 + k;
      b.data()[0] = 0;
      for (uint32_t k = 0; k < 4; ++k) {
        m0.data()[k] = std::bit_cast<uint32_t>(10.0f + static_cast<float>(k));
        m1.data()[k] = std::bit_cast<uint32_t>(20.0f + static_cast<float>(k)),
        m2.data()[k] = std::bit_cast<uint32_t>(30.0f + static_cast<float>(k));
      }
      VertexRun run;
      run.attributes[0] = floats(41), run.attributes[1] = integers(41, 0, 9);
      auto& index = run.attributes[1];
      for (uint32_t v = 0; v < kBatchStride; ++v)
        index[4 * v + 1] = std::bit_cast<float>(static_cast<int32_t>(v % 3 == 0   ? -5
                                                                     : v % 3 == 1 ? static_cast<int>(v)
                                                                                  : 1000000 + static_cast<int>(v)));
      for (uint32_t v = 0; v < kBatchStride; ++v)
        index[4 * v + 2] = std::bit_cast<float>(v < 8     ? static_cast<int32_t>(v) + 10
                                                : v == 9  ? INT32_MIN
                                                : v == 10 ? INT32_MAX
                                                          : 40 + static_cast<int32_t>(v));
      run.buffers = {u.descriptor(), b.descriptor(), m0.descriptor(), m1.descriptor(), m2.descriptor()};
      if (small) run.buffers[0].size_B = 24, run.count = 13;
      if (!run.run(*module, lanes, 2)) {
        CHECK_MESSAGE(false, run.error);
        return;
      }
      uint32_t adds = 0;
      for (uint32_t v = 0; v < run.count; ++v) {
        const int ix = as_int(index[4 * v]), iy = as_int(index[4 * v + 1]);
        adds += as_int(index[4 * v + 3]) > 4;
        for (uint32_t c = 0; c < 3; ++c) {
          const uint32_t word = static_cast<uint32_t>(ix) * 4 + c;
          const float want = word < (small ? 6u : 29u) ? static_cast<float>(word) : 0.0f;
          CHECK_MESSAGE(run.value(0, c, v) == want, "uniform " + std::to_string(word) + " got " + std::to_string(run.value(0, c, v)));
        }
        // row 1 of m: words 20, 21, 22; last: word 28 (row-major rows are 16 bytes apart from word 16 on, 12 words)
        const float w = small ? 0.0f : 20.0f + 2 * 21.0f + 3 * 22.0f + 28.0f;
        CHECK_MESSAGE(run.value(0, 3, v) == w, "row-major got " + std::to_string(run.value(0, 3, v)) + " want " + std::to_string(w));
        CHECK(run.bits(1, 0, v) == 32);
        const uint32_t read = iy >= 0 && iy < 32 ? (iy >= 10 && iy < 18 ? run.bits(1, 1, v) : 1001 + static_cast<uint32_t>(iy)) : 0;
        CHECK_MESSAGE(run.bits(1, 1, v) == read, "data[" + std::to_string(iy) + "] got " + std::to_string(run.bits(1, 1, v)));
        CHECK(static_cast<int>(run.bits(1, 2, v)) == 11 + 10 * std::min(ix & 3, 2));
        CHECK(run.bits(1, 3, v) == 22);
      }
      CHECK_MESSAGE(b.data()[0] == 2 * adds, "atomic adds " + std::to_string(b.data()[0]) + " want " + std::to_string(2 * adds));
      for (uint32_t v = 0; v < 8; ++v) CHECK(b.data()[1 + 10 + v] == v + 1);
      for (uint32_t k = 20; k < 33; ++k) CHECK(b.data()[k] == 1000 + k);
      CHECK(u.guards_untouched() && b.guards_untouched());
    }
  }
}

void test_vertex_fetch() {
  const char* text =
      "#version 450\nlayout(location=0) in vec4 a; layout(location=2) in vec4 b; layout(location=3) in uvec4 c; layout(location=4) in vec2 "
      "d; layout(location=5) in ivec3 e;\n"
      "layout(location=0) out vec4 r; layout(location=1) out vec4 s; layout(location=2) flat out uvec4 t; layout(location=3) flat out "
      "ivec3 w; out float gl_ClipDistance[2];\n"
      "void main() { gl_Position = a; r = a; s = b + vec4(d, 0, 0); t = c; w = e; gl_ClipDistance[0] = a.x; gl_ClipDistance[1] = "
      "float(gl_VertexIndex + gl_InstanceIndex); }\n";
  Ptr<ShaderModule> module = shader_of(text, VK_SHADER_STAGE_VERTEX_BIT);
  if (!module) return;
  for (uint32_t lanes : kWidths) {
    VertexKey key;
    key.module = module;
    for (uint8_t n = 0; n < 4; ++n) {
      for (uint8_t c = 0; c < 4; ++c) key.varyings.components.push_back({n, c});
    }
    key.bindings = {{0, 20, VK_VERTEX_INPUT_RATE_VERTEX}, {1, 8, VK_VERTEX_INPUT_RATE_INSTANCE}};
    key.attributes = {{0, 0, VK_FORMAT_R32G32B32_SFLOAT, 0},
                      {2, 0, VK_FORMAT_R8G8B8A8_UNORM, 12},
                      {3, 0, VK_FORMAT_R16G16_UINT, 16},
                      {4, 1, VK_FORMAT_R16G16_SNORM, 4},
                      {5, 0, VK_FORMAT_R32G32B32_SINT, 8}};
    auto f = compile_vertex(jit_of(lanes), key);
    if (!f) {
      CHECK_MESSAGE(false, f.error().message);
      return;
    }
    constexpr uint32_t kStored = 20;  // vertices in the buffer, but for 2 bytes
    std::vector<uint8_t> data(kStored * 20 - 2), instances(40);
    std::mt19937 rng(5);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(rng());
    for (uint8_t& byte : instances) byte = static_cast<uint8_t>(rng());
    for (uint32_t v = 0; v < kStored; ++v) {
      for (uint32_t c = 0; c < 3; ++c) {
        const float x = static_cast<float>(v * 10 + c);
        std::memcpy(&data[v * 20 + 4 * c], &x, 4);
      }
    }
    VertexBinding bindings[2] = {{data.data(), data.size()}, {instances.data(), instances.size()}};
    uint32_t index[32];
    for (uint32_t k = 0; k < 32; ++k) index[k] = k == 30 ? 0xffffffffu : k;
    std::vector<float> varyings(16 * 32), position(4 * 32), clip(2 * 32);
    LoopBudget loops{100};
    VertexArgs args{};
    args.bindings = bindings, args.vertex_index = index, args.count = 32, args.instance_index = 3, args.loops = &loops;
    args.position = position.data(), args.varyings = varyings.data(), args.clip_distance = clip.data();
    std::vector<float> point_size(kBatchStride);
    args.point_size = point_size.data();
    std::vector<uint8_t> scratch(4096), push(256);
    args.scratch = scratch.data(), args.push_constants = push.data();
    (*f)(&args);
    for (uint32_t v = 0; v < 32; ++v) {
      const bool in = v < kStored && index[v] < kStored;
      for (uint32_t c = 0; c < 3; ++c) CHECK(varyings[c * 32 + v] == (in ? static_cast<float>(v * 10 + c) : 0.0f));
      CHECK(varyings[3 * 32 + v] == 1.0f);
      CHECK(position[v] == varyings[v] && clip[v] == varyings[v]);
      CHECK(clip[32 + v] == static_cast<float>(static_cast<int32_t>(index[v] + 3)));
      int16_t d[2];
      std::memcpy(d, &instances[3 * 8 + 4], 4);
      for (uint32_t c = 0; c < 4; ++c) {
        const float b = in ? static_cast<float>(data[v * 20 + 12 + c]) / 255.0f : 0.0f;
        const float e = c < 2 ? std::max(static_cast<float>(d[c]) / 32767.0f, -1.0f) : 0.0f;
        CHECK_MESSAGE(varyings[(4 + c) * 32 + v] == b + e, "unorm " + std::to_string(varyings[(4 + c) * 32 + v]));
      }
      uint16_t t[2] = {};
      const bool whole = in && v + 1 < kStored;  // the last vertex lacks two bytes
      if (whole) std::memcpy(t, &data[v * 20 + 16], 4);
      CHECK(as_uint(varyings[8 * 32 + v]) == t[0] && as_uint(varyings[9 * 32 + v]) == t[1]);
      for (uint32_t c = 0; c < 3; ++c) {
        uint32_t word = 0;
        if (whole) std::memcpy(&word, &data[v * 20 + 8 + 4 * c], 4);
        CHECK(as_uint(varyings[(12 + c) * 32 + v]) == word);
      }
      CHECK(as_uint(varyings[10 * 32 + v]) == 0 && as_uint(varyings[11 * 32 + v]) == 1);
    }
  }
}

}  // namespace

int main() {
  test_float_arithmetic();
  test_integer_arithmetic();
  test_branches();
  test_loops();
  test_functions();
  test_endless_loop();
  test_memory();
  test_buffers();
  test_vertex_fetch();
  return finish("test_lower");
}
