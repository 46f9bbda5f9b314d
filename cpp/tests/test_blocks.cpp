// tests/test_blocks.cpp -- body and epilogue in one function over whole blocks, against the two one after another: the same bits in the
// tile.
#include <array>
#include <functional>
#include <random>

#include "epilogue_fixture.hpp"
#include "lower_fixture.hpp"
#include "shader/ir/format_pack.hpp"
#include "vk/format.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kBlocks = 8;  // in a row
std::mt19937 rng(7);

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Tile = std::unique_ptr<uint8_t, Free>;

constexpr float kSpecial[] = {0.0f, -0.0f, 1.0f, 0.25f, 2.0f, -1.0f, INFINITY, NAN, 1e-40f, -1e-40f, 1.2e-38f, 3e38f};

float random_value(float low, float high) {
  if (rng() % 6 == 0) return kSpecial[rng() % std::size(kSpecial)];
  return std::uniform_real_distribution<float>(low, high)(rng);
}

struct Case {
  const char* name;
  std::string body;
  EpilogueKey epilogue;
};

using Rows = float[3][16 * kBatchStride];
using MakePrimitive = std::function<PrimitiveSetup(Rows& rows)>;

PrimitiveSetup random_primitive(Rows& rows) {
  PrimitiveSetup p{};
  const auto small = [] { return std::uniform_real_distribution<float>(-0.02f, 0.02f)(rng); };
  const bool affine = rng() % 2, constant = rng() % 3 == 0;
  p.anchor_x = 103.5f, p.anchor_y = 37.25f;
  p.q0 = 1, p.qx = affine ? 0 : small(), p.qy = affine ? 0 : small();
  p.i0 = 0.3f, p.ix = small(), p.iy = small();
  p.j0 = 0.4f, p.jx = small(), p.jy = small();
  p.z0 = 0.5f, p.zx = small(), p.zy = small();
  p.w1 = 1, p.w2 = affine ? 1 : 2;
  for (uint32_t row = 0; row < 16; ++row)
    for (int v = 0; v < 3; ++v) rows[v][row * kBatchStride] = constant && v > 0 ? rows[0][row * kBatchStride] : random_value(-0.2f, 1.2f);
  for (int v = 0; v < 3; ++v) p.varying[v] = rows[v];
  p.provoking = rows[0];
  p.primitive_id = 5, p.front_facing = rng() % 2;
  return p;
}

/// The loop without a body is for it.
PrimitiveSetup constant_primitive(Rows& rows) {
  PrimitiveSetup p = random_primitive(rows);
  p.q0 = p.w1 = p.w2 = 1, p.qx = p.qy = 0;
  for (auto& vertex : rows)
    for (uint32_t row = 0; row < 16; ++row) vertex[row * kBatchStride] = 0.9f - 0.05f * static_cast<float>(row);
  return p;
}

/// What the loop without a body is chosen by (shader/lower/blocks.cpp), and what forbids it: one at a time.
std::vector<MakePrimitive> edges() {
  std::vector<MakePrimitive> all;
  const auto add = [&](float value, auto&& change) {
    all.push_back([=](Rows& rows) {
      PrimitiveSetup p = constant_primitive(rows);
      for (auto& vertex : rows)
        for (float& x : vertex) x = value;
      change(p, rows);
      return p;
    });
  };
  for (float value : kSpecial) add(value, [](PrimitiveSetup&, Rows&) {});
  for (float q : {0x1p40f, 0x1p-39f, 0x1p-40f, 0x1p41f, 1e-38f, 3e38f, INFINITY, NAN, -1.0f, 0.0f})
    add(0.3f, [q](PrimitiveSetup& p, Rows&) { p.q0 = q, p.w1 = p.w2 = 1 / q; });
  for (float q : {0.0f, 1e-38f, -1.0f}) add(0.3f, [q](PrimitiveSetup& p, Rows&) { p.q0 = q, p.ix = 0x1p50f; });
  for (float q : {1e-30f, 0.01f, NAN}) add(0.3f, [q](PrimitiveSetup& p, Rows&) { p.qy = q; });
  for (float steep : {0x1p60f, 1e38f, INFINITY, NAN}) {
    add(0.3f, [=](PrimitiveSetup& p, Rows&) { p.ix = steep; });
    add(0.3f, [=](PrimitiveSetup& p, Rows&) { p.jy = -steep; });
    add(0.3f, [=](PrimitiveSetup& p, Rows&) { p.w2 = steep; });
  }
  for (int vertex : {1, 2})
    for (uint32_t row = 0; row < 4; ++row) {
      add(0.3f, [=](PrimitiveSetup&, Rows& rows) { rows[vertex][row * kBatchStride] = 0.30000004f; });
      add(0.0f, [=](PrimitiveSetup&, Rows& rows) { rows[vertex][row * kBatchStride] = -0.0f; });
    }
  return all;
}

void run_case(const Case& c, uint32_t lanes, const std::vector<MakePrimitive>& primitives) {
  auto module = shader_of("#version 450\n" + c.body, VK_SHADER_STAGE_FRAGMENT_BIT);
  if (!module) return;
  FragmentKey key;
  key.module = module;
  key.samples = c.epilogue.samples;
  auto layout = varying_layout(*module, {});
  auto table = resource_table(*module, {});
  if (!CHECK(layout && table)) return;
  key.varyings = *layout, key.resources = *table;
  auto body = compile_fragment(jit_of(lanes), key);
  auto epilogue = compile_epilogue(jit_of(lanes), c.epilogue);
  auto traits = analyze(*module, {});
  if (!CHECK(traits)) return;
  auto blocks = compile_blocks(jit_of(lanes), key, *traits, c.epilogue);
  if (!CHECK_MESSAGE(body && epilogue && blocks, std::string(c.name) + (blocks ? "" : ": " + blocks.error().message))) return;

  for (const MakePrimitive& make : primitives) {
    const uint32_t count = std::array{1u, 3u, 5u}[rng() % 3];
    static Rows rows;
    const PrimitiveSetup primitive = make(rows);
    uint8_t push[128];
    for (uint32_t k = 0; k < 32; ++k) {
      const float value = random_value(-0.5f, 1.5f);
      std::memcpy(push + 4 * k, &value, 4);
    }
    auto args = std::make_unique<FragmentArgs>();
    *args = {};
    for (auto& target : args->color)
      for (auto& component : target)
        for (float& lane : component) lane = 0.75f;  // what a shader leaves out
    for (float& k : args->blend_constants) k = random_value(0, 1);
    args->push_constants = push;
    uint8_t uniforms[64];
    for (uint32_t k = 0; k < 16; ++k) {
      const float value = random_value(0, 1);
      std::memcpy(uniforms + 4 * k, &value, 4);
    }
    const BufferDescriptor buffers[4] = {{uniforms, 64}, {uniforms, 64}, {uniforms, 64}, {uniforms, 64}};
    const uint8_t* sets[kSetTables];
    std::fill_n(sets, kSetTables, reinterpret_cast<const uint8_t*>(buffers));
    args->sets = sets;
    args->layer = 3;
    LoopBudget loops;
    loops.iterations = 1 << 20;
    args->loops = &loops;
    for (uint32_t q = 0; q < kMaxQuads; ++q) {
      args->primitive[q] = &primitive;
      args->raster_coverage[q] = args->live_coverage[q] = 0xf;
    }
    args->alive = (1u << lanes) - 1, args->quad_count = lanes / 4, args->uniform_primitive = args->full_block = 1;
    Tile expected[kMaxTargets], actual[kMaxTargets];
    size_t size_B[kMaxTargets] = {};
    for (uint32_t t = 0; t < kMaxTargets; ++t) {
      const auto* f = vk::find_format(c.epilogue.formats[t]);
      if (!f) continue;
      size_B[t] = size_t{kBlocks} * 64 * texel_words(*f) * c.epilogue.samples;
      expected[t].reset(static_cast<uint8_t*>(std::aligned_alloc(64, size_B[t])));
      actual[t].reset(static_cast<uint8_t*>(std::aligned_alloc(64, size_B[t])));
      for (size_t k = 0; k < size_B[t]; ++k) expected[t].get()[k] = static_cast<uint8_t>(rng());
      // Half floats beyond one are rarely canonical texels: small ones are.
      if (f->numeric == vk::Numeric::sfloat)
        for (size_t k = 0; k < size_B[t]; ++k) expected[t].get()[k] &= 0x3b;
      std::memcpy(actual[t].get(), expected[t].get(), size_B[t]);
    }
    const uint32_t first_block = static_cast<uint32_t>(rng()) % (kBlocks - count + 1);
    const int32_t x_px = 96 + static_cast<int32_t>(rng() % 64) * 4, y_px = 32 + static_cast<int32_t>(rng() % 16) * 4;

    for (uint32_t t = 0; t < kMaxTargets; ++t) args->target[t] = expected[t].get();
    for (uint32_t b = 0; b < count; ++b)
      for (uint32_t first = 0; first < 4; first += lanes / 4) {
        for (uint32_t q = 0; q < lanes / 4; ++q) {
          const uint32_t quad = first + q;
          args->x_px[q] = x_px + static_cast<int32_t>(b * 4 + (quad & 1) * 2);
          args->y_px[q] = y_px + static_cast<int32_t>((quad >> 1) * 2);
          args->tile_pixel[q] = (first_block + b) * 16 + quad * 4;
        }
        (*body)(args.get());
        (*epilogue)(args.get());
      }

    for (auto& target : args->color)
      for (auto& component : target)
        for (float& lane : component) lane = 0.75f;
    for (uint32_t t = 0; t < kMaxTargets; ++t) args->target[t] = actual[t].get();
    for (uint32_t first = 0; first < 4; first += lanes / 4)
      (*blocks)(args.get(), first_block * 16 + first * 4, x_px + static_cast<int32_t>(first & 1) * 2,
                y_px + static_cast<int32_t>(first >> 1) * 2, count);
    for (uint32_t t = 0; t < kMaxTargets; ++t)
      if (size_B[t])
        CHECK_MESSAGE(std::memcmp(expected[t].get(), actual[t].get(), size_B[t]) == 0,
                      std::string(c.name) + ", lanes " + std::to_string(lanes) + ", target " + std::to_string(t));
  }
}

EpilogueKey blended(VkFormat format, VkBlendFactor s, VkBlendFactor d, VkBlendFactor sa, VkBlendFactor da, uint32_t samples = 1) {
  EpilogueKey key = one_target(format, samples);
  key.blend[0] = {1, s, d, VK_BLEND_OP_ADD, sa, da, VK_BLEND_OP_ADD, 15};
  return key;
}

EpilogueKey advanced(VkFormat format, VkBlendOp op, AdvancedBlend how, uint32_t samples = 1) {
  EpilogueKey key = one_target(format, samples);
  key.blend[0] = {1, VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ZERO, op, VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ZERO, op, 15};
  key.advanced[0] = how;
  return key;
}

const char* const kColor = "layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { o = c; }";

std::vector<Case> cases() {
  std::vector<Case> all;
  for (VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
                          VK_FORMAT_R5G6B5_UNORM_PACK16, VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_R16G16_UNORM}) {
    all.push_back({"copy", kColor, one_target(format)});
    all.push_back({"over", kColor,
                   blended(format, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_FACTOR_ONE,
                           VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA)});
  }
  all.push_back({"constants", kColor,
                 blended(VK_FORMAT_R8G8B8A8_UNORM, VK_BLEND_FACTOR_CONSTANT_COLOR, VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA,
                         VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE)});
  all.push_back({"first sample", kColor, one_target(VK_FORMAT_R8G8B8A8_UNORM, 4)});
  all.push_back({"first sample, blended", kColor,
                 blended(VK_FORMAT_R16G16B16A16_SFLOAT, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE,
                         VK_BLEND_FACTOR_ZERO, 8)});
  for (VkBlendOp op : {VK_BLEND_OP_SRC_EXT, VK_BLEND_OP_ZERO_EXT, VK_BLEND_OP_DST_EXT, VK_BLEND_OP_SOFTLIGHT_EXT, VK_BLEND_OP_HSL_HUE_EXT,
                       VK_BLEND_OP_PLUS_DARKER_EXT}) {
    all.push_back({"advanced", kColor, advanced(VK_FORMAT_R8G8B8A8_UNORM, op, {})});
    all.push_back({"advanced, not premultiplied", kColor,
                   advanced(VK_FORMAT_R16G16B16A16_SFLOAT, op, {false, false, true, VK_BLEND_OVERLAP_DISJOINT_EXT}, 4)});
  }
  EpilogueKey masked = one_target(VK_FORMAT_R8G8B8A8_UNORM);
  masked.blend[0].colorWriteMask = 5;
  all.push_back({"mask", kColor, masked});
  EpilogueKey logic = one_target(VK_FORMAT_R8G8B8A8_UNORM);
  logic.logic_op_enable = true, logic.logic_op = VK_LOGIC_OP_XOR;
  all.push_back({"logic op", kColor, logic});
  all.push_back({"second source",
                 "layout(location=0) in vec4 c; layout(location=0, index=0) out vec4 o; layout(location=0, index=1) out vec4 p;"
                 "void main() { o = c; p = c.wzyx; }",
                 blended(VK_FORMAT_R8G8B8A8_UNORM, VK_BLEND_FACTOR_SRC1_COLOR, VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA, VK_BLEND_FACTOR_ONE,
                         VK_BLEND_FACTOR_SRC1_ALPHA)});
  all.push_back({"push constants, a branch and derivatives",
                 "layout(push_constant) uniform P { vec4 a; vec4 b; } p; layout(location=0) in vec2 u; layout(location=0) out vec4 o;"
                 "void main() { o = p.a; if (u.x > 0.4) o += p.b * u.y; o.z = fwidth(u.x) * 9.0; }",
                 blended(VK_FORMAT_R8G8B8A8_UNORM, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_FACTOR_ONE,
                         VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA)});
  all.push_back({"place and primitive",
                 "layout(location=0) noperspective in vec2 u; layout(location=1) flat in int k; layout(location=0) out vec4 o;"
                 "void main() { o = gl_FragCoord / 512.0; if (gl_FrontFacing) o.y = u.y + interpolateAtOffset(u.x, vec2(0.25));"
                 "o.w = float(gl_PrimitiveID + (k & 1)) / 9.0; }",
                 one_target(VK_FORMAT_R16G16B16A16_SFLOAT)});
  const char* const loop =
      "layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { vec2 z = c.xy; float n = 0.0;"
      "while (n < 40.0) { z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c.zw * 0.7; n += 1.0; if (dot(z, z) > 4.0) break; }"
      "o = vec4(z * 0.1, n / 40.0, c.w); }";
  all.push_back({"a loop, some packets at once", loop, one_target(VK_FORMAT_R32G32B32A32_SFLOAT)});
  all.push_back({"a loop, blended", loop,
                 blended(VK_FORMAT_R8G8B8A8_UNORM, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_FACTOR_ONE,
                         VK_BLEND_FACTOR_ZERO)});
  // All that packets which go together are split by (shader/ir/split_packets.cpp): masks, integers, doubles, sines of large angles, ways
  // out.
  all.push_back({"a loop of integers",
                 "layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { uint h = uint(c.x * 1e9), n = 0u; vec4 s = c;"
                 "while (n < 30u) { h = (h ^ (h >> 15)) * 739982445u + uint(int(s.y * 1e10)); n += 1u + (h & 1u); s += vec4(h >> 8) / 1e8;"
                 "if (h % 7u == 3u || s.x > 60.0) break; if (h % 5u == 1u) continue; s.w -= float(int(h) / 3) * 1e-9; }"
                 "o = s * 0.05 + float(n); }",
                 one_target(VK_FORMAT_R32G32B32A32_SFLOAT)});
  all.push_back({"a loop of sines, some of large angles",
                 "layout(location=0) in vec4 c; layout(location=0) out vec4 o; float turn(float x) { float s = 0.0;"
                 "for (float k = 0.0; k < 20.0; k += 1.0 + abs(c.z)) { x = x * 9.0 + c.y; s += sin(x) + cos(x * 1e4);"
                 "if (s > 3.0) return s - 9.0; } return s; }"
                 "void main() { o = vec4(turn(c.x), turn(c.w * 1e7), fract(turn(c.y) * c.x), 1.0); if (o.x > 0.5) o.y = tan(o.x * 1e6); }",
                 one_target(VK_FORMAT_R32G32B32A32_SFLOAT)});
  all.push_back({"a loop of doubles and vectors of truth values",
                 "layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { dvec2 z = dvec2(c.xy); bvec4 b = bvec4(false);"
                 "int n = 0; while (n < 25) { z = dvec2(z.x * z.x - z.y, z.y * 1.25lf); b = equal(b, lessThan(vec4(z, c.zw), c.wzyx)); n++;"
                 "if (z.y > 2.0lf || any(b)) { if (z.x < 0.0lf) break; n += 2; } }"
                 "o = vec4(vec2(z), n, mix(c.x, c.y, b.z)); }",
                 one_target(VK_FORMAT_R32G32B32A32_SFLOAT)});
  // What all lanes of a branch replace (shader/ir/unkept_values.cpp).
  std::string replaced = "layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { vec4 s = c;";
  for (int k = 0; k < 40; ++k) replaced += " s = s * c.yzwx + " + std::to_string(k % 3) + ".25;";
  replaced += "if (c.x > 0.3) { s = sqrt(abs(c)) * 0.1; s.x += c.y; } o = s; }";
  for (VkFormat format : {VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R8G8B8A8_UNORM})
    all.push_back({"a value that some lanes replace", replaced, one_target(format)});
  const EpilogueKey over = blended(VK_FORMAT_R8G8B8A8_UNORM, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                                   VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA);
  all.push_back({"beside what is of the primitive",
                 "layout(location=0) in vec3 c; layout(location=1) flat in int k; layout(location=0) out vec4 o;"
                 "void main() { o = vec4(c * float(gl_PrimitiveID), float(k & 255) / 255.0); if (gl_FrontFacing) o.x = 0.25; }",
                 over});
  all.push_back({"an index that is not known",
                 "layout(location=0) in vec2 c[3]; layout(push_constant) uniform P { ivec4 k; } p; layout(location=0) out vec4 o;"
                 "void main() { o = vec4(c[p.k.x & 1], c[2]); }",
                 over});
  all.push_back({"clip distances",
                 "in float gl_ClipDistance[2]; layout(location=0) out vec4 o; void main() { o = vec4(gl_ClipDistance[1]); }",
                 one_target(VK_FORMAT_R16G16B16A16_SFLOAT)});
  all.push_back({"a uniform buffer",
                 "layout(set=0, binding=0) uniform B { vec4 a[4]; } b; layout(location=0) in vec4 c; layout(location=0) out vec4 o;"
                 "void main() { o = c * b.a[1] + b.a[3]; }",
                 over});
  all.push_back({"two colours",
                 "layout(location=0) in vec4 c; layout(location=1) in vec4 d; layout(location=0) out vec4 o; void main() { o = c * d; }",
                 one_target(VK_FORMAT_R8G8B8A8_UNORM)});
  all.push_back({"no input", "layout(location=0) out vec4 o; void main() { o = vec4(1.0, 0.5, 0.25, 1.0); }",
                 one_target(VK_FORMAT_R16G16B16A16_SFLOAT)});
  EpilogueKey several = one_target(VK_FORMAT_R8G8B8A8_UNORM);
  several.formats[2] = VK_FORMAT_R32G32_UINT, several.blend[2].colorWriteMask = 15;
  several.formats[3] = VK_FORMAT_R16G16B16A16_SFLOAT;
  several.blend[3] =
      blended(VK_FORMAT_R16G16B16A16_SFLOAT, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE).blend[0];
  std::string sum = "layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { o = c";
  for (int k = 0; k < 20; ++k) sum += " * c + c";
  all.push_back({"long, which is offered only, and made at once without a crew", sum + "; }", one_target(VK_FORMAT_R8G8B8A8_UNORM)});
  all.push_back(
      {"several targets, a component left out",
       "layout(location=0) in vec4 c; layout(location=0) out vec3 o; layout(location=2) out uvec2 n; layout(location=3) out vec4 h;"
       "void main() { o = c.xyz; n = uvec2(gl_FragCoord.xy); h = c.yzwx; }",
       several});
  return all;
}

/// Where the anchor is no number interpolation gives none; who still gets the vertices' colour has not interpolated. Quick code, which is
/// for the first packets, has no second loop.
void test_constant_colors_are_not_interpolated() {
  const char* code = std::getenv("TILEGPU_CODE");
  const bool quick = code && !std::strcmp(code, "quick");
  for (const char* input : {"", "flat ", "noperspective "}) {
    if (quick && std::strcmp(input, "flat ") != 0) continue;
    auto module = shader_of(std::string("#version 450\nlayout(location=0) ") + input + "in vec4 c; layout(location=0) out vec4 o;" +
                                "void main() { o = c * 2.0; }",
                            VK_SHADER_STAGE_FRAGMENT_BIT);
    if (!module) return;
    FragmentKey key;
    key.module = module;
    auto layout = varying_layout(*module, {});
    auto traits = analyze(*module, {});
    if (!CHECK(layout && traits)) return;
    key.varyings = *layout;
    for (uint32_t lanes : {4u, 8u, 16u}) {
      auto blocks = compile_blocks(jit_of(lanes), key, *traits, one_target(VK_FORMAT_R32G32B32A32_SFLOAT));
      if (!CHECK(blocks)) return;
      static Rows rows;
      PrimitiveSetup primitive = constant_primitive(rows);
      primitive.anchor_x = NAN;
      for (auto& vertex : rows)
        for (uint32_t row = 0; row < 4; ++row) vertex[row * kBatchStride] = 0.25f * static_cast<float>(row + 1);
      auto args = std::make_unique<FragmentArgs>();
      *args = {};
      args->primitive[0] = &primitive;
      alignas(64) float tile[2 * 64] = {};
      args->target[0] = reinterpret_cast<uint8_t*>(tile);
      (*blocks)(args.get(), 0, 0, 0, 1);
      for (uint32_t c = 0; c < 4; ++c)
        for (uint32_t lane = 0; lane < lanes; ++lane) CHECK(tile[c * 16 + lane] == 0.5f * static_cast<float>(c + 1));
    }
  }
}

void test_refused() {
  const auto suits = [](const std::string& body) {
    auto module = shader_of("#version 450\n" + body, VK_SHADER_STAGE_FRAGMENT_BIT);
    if (!module) return true;
    FragmentKey key;
    key.module = module;
    auto traits = analyze(*module, {});
    return CHECK(traits) && suits_blocks(key, *traits);
  };
  CHECK(suits(kColor));
  CHECK(!suits("layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { if (c.x > 0.5) discard; o = c; }"));
  CHECK(!suits("layout(location=0) in vec4 c; layout(location=0) out vec4 o; void main() { gl_FragDepth = c.x; o = c; }"));
  CHECK(suits("layout(set=0, binding=0) uniform sampler2D t; layout(location=0) out vec4 o; void main() { o = texture(t, vec2(0)); }"));
  CHECK(!suits("layout(location=0) out vec4 o; void main() { o = vec4(float(gl_HelperInvocation)); }"));
  // Loops that nobody can count: some packets at once where nothing but arithmetic is in them.
  const std::string loop = "layout(location=0) flat in int n; layout(location=0) out vec4 o; ";
  CHECK(suits(loop + "void main() { o = vec4(0); for (int k = 0; k < n; ++k) o = o * 0.5 + 1.0; }"));
  CHECK(!suits(loop + "layout(set=0, binding=0) uniform sampler2D t;"
                      "void main() { o = vec4(0); for (int k = 0; k < n; ++k) o += textureLod(t, o.xy, 0); }"));
  CHECK(!suits("layout(location=0) sample in vec4 c; layout(location=0) out vec4 o; void main() { o = c; }"));
}

}  // namespace

int main() {
  std::vector<MakePrimitive> few(3, random_primitive);
  few.insert(few.end(), 2, constant_primitive);
  for (uint32_t row : {0u, 5u}) {
    few.emplace_back([row](Rows& rows) {
      const PrimitiveSetup p = constant_primitive(rows);
      rows[2][row * kBatchStride] = 0.5f;
      return p;
    });
  }
  const std::vector<MakePrimitive> special = edges();
  for (const Case& c : cases())
    for (uint32_t lanes : {4u, 8u, 16u}) run_case(c, lanes, few);
  const std::vector<Case> all = cases();
  for (size_t k : {0u, 1u, 6u, 7u})  // copies and blending, with formats that round and such that do not
    for (uint32_t lanes : {8u, 16u}) run_case(all[k], lanes, special);
  for (const char* body : {"layout(push_constant) uniform P { vec4 a; } p; layout(location=0) out vec4 o; void main() { o = p.a; }",
                           "layout(location=0) flat in vec4 c; layout(location=0) out vec4 o; void main() { o = c.wzyx; }",
                           "layout(location=0) noperspective in vec4 c; layout(location=0) out vec4 o; void main() { o = c + dFdx(c); }"})
    for (uint32_t lanes : {4u, 8u, 16u}) run_case({body, body, all[1].epilogue}, lanes, special);
  test_constant_colors_are_not_interpolated();
  test_refused();
  return finish("test_blocks");
}
